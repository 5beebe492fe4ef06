/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_survival.c - report_survival: what the mapping loses by any one failure
 * (lib/survival.tcl). */
#include <config.h>
#include "tcl/report_call.h"

const th_command th_survival_commands[] = {
    {"report_survival", "map", "", 0, 0, th_table_options,
     "print what the mapping loses by any single failure",
     "For each accelerator and each link that might fail for good, simulates the run with the best "
     "repair. For an accelerator, a spare takes its place, the others of its set share its part, "
     "or another set takes the layers of its set; what does not fit into memory is no repair. "
     "Round a link, transfers take another route (on the fluid network). The loss is the growth of "
     "the objective of map_workload, or of the latency; deadlines bind only the run without "
     "failure. map_workload -survive 1 searches for mappings that survive every failure. See "
     "docs/models/survival.md.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
