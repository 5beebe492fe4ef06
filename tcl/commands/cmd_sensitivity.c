/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_sensitivity.c - report_sensitivity: the gain from more bandwidth, clock or memory, one
 * property at a time (lib/what_if.tcl). */
#include <config.h>
#include "session/what_if/what_if.h"
#include "tcl/report_call.h"

enum { BY = REPORT_N_OPTIONS, OF, PROPERTIES, GROUP_BY, REMAP };

static const th_option sensitivity_options[] = {
    TABLE_OPTIONS,
    [BY] = {"-by", TH_OPTION_PERCENT, "PERCENT",
            "How much more bandwidth, clock or memory, and less latency (10%); less than 0: the "
            "other way.",
            .low = -1, .high = 9, .range = TH_ABOVE},
    [OF] = {"-of", TH_OPTION_OBJECT, "OBJECTS", "Only these links and accelerators.", .least = 1,
            .most = TH_MANY, .classes = TH_BIT(TH_CLASS_LINK) | TH_BIT(TH_CLASS_ACCEL)},
    [PROPERTIES] = {"-properties", TH_OPTION_CHOICE, "{PROPERTY ...}",
                    "What changes: of links bandwidth and latency, the rest of accelerators; "
                    "memory, their capacity, with -remap. All but the latencies when left out.",
                    .names = th_what_if_names, .least = 1, .most = TH_MANY},
    [GROUP_BY] = {"-group", TH_OPTION_CHOICE, "GROUPS",
                  "What changes together: nothing, links (accelerators) of equal properties, or "
                  "all of them.",
                  .names = TH_NAMES("each", "class", "all")},
    [REMAP] = {"-remap", TH_OPTION_INTEGER, "N",
               "The workload is mapped anew for the baseline and for each change: a search of N "
               "evaluations that starts from the mapping, with the algorithm and objective that "
               "found it.",
               1, INT32_MAX},
    {.name = NULL},
};

const th_command th_sensitivity_commands[] = {
    {"report_sensitivity", "compare", "", 0, 0, sensitivity_options,
     "print what more bandwidth, clock or memory would gain",
     "The run is simulated from time 0 to its end with one property changed at a time, on as many "
     "threads as set_threads says; no result depends on their number. Gain: makespan of the "
     "baseline less this one; change: this makespan / the baseline's - 1. The largest gain comes "
     "first, in text twenty of them, without -limit. The mapping stays, except with -remap, and an "
     "answer is blind where the mapping uses none of the objects; all "
     "else follows from the new value, as if the system file had it, except that designs shared "
     "with other accelerators keep the tiles of their old clock: with -group all, tiles are chosen "
     "anew. Links that share a medium change together. Faults of inject_fault happen in every run. "
     "The present run, if there is one, stays where it is; without one, the options of "
     "map_workload hold.",
     .run = th_lib_run, .is_report = true, .not_while_running = true,
     .after_interrupt = "nothing was changed", .needs_every_rank = true},
    {.name = NULL},
};
