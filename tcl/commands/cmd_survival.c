/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_survival.c - report_survival: what the mapping loses by any one failure
 * (lib/survival.tcl). */
#include <config.h>
#include "tcl/report_call.h"

const th_command th_survival_commands[] = {
    {"report_survival", "map", "", 0, 0, th_table_options,
     "print what the mapping loses by any one failure",
     "For each accelerator and each link of the system that fails for good, the run with the best "
     "repair, by simulation. An accelerator: a spare one takes its place; or the others of its set "
     "take its part; or another set takes the layers of its set; what does not fit in memory is no "
     "repair. A link, on the fluid network: transfers go round it. Loss: by how much the objective "
     "of map_workload, else the latency, grows; deadlines bind the run without failure alone. "
     "map_workload -survive 1 searches for mappings that survive every failure. See "
     "docs/models/survival.md.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
