/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_advice.c - report_advice: what to buy (lib/advice.tcl). */
#include <config.h>
#include "tcl/report_call.h"

enum { EVALUATIONS = REPORT_N_OPTIONS, SEED, CHANGES, COSTS, PAIRS, BUDGET };

static const th_option advice_options[] = {
    TABLE_OPTIONS,
    [EVALUATIONS] = {"-evaluations", TH_OPTION_INTEGER, "N",
                     "Budget of the search on each system, the present one included (500).", 1,
                     INT32_MAX},
    [SEED] = {"-seed", TH_OPTION_INTEGER, "N",
              "Seed of these searches; default: that of the search that found the mapping.", 0,
              INT64_MAX},
    [CHANGES] = {"-changes", TH_OPTION_CHOICE, "{CHANGE ...}",
                 "What may change; all when left out.",
                 .names = TH_NAMES("accelerator", "bandwidth", "dram_bandwidth", "clock", "memory",
                                   "design", "topology"),
                 .least = 1, .most = TH_MANY},
    [COSTS] = {"-costs", TH_OPTION_NUMBER, "{CHANGE COST ...}",
               "Costs of changes that the system file does not know, per accelerator: of "
               "dram_bandwidth, clock, memory, design (0 is allowed).",
               .names = TH_NAMES("dram_bandwidth", "clock", "memory", "design"), .high = 1e15,
               .most = TH_MANY, .is_pairs = true},
    [PAIRS] = {"-pairs", TH_OPTION_INTEGER, "N",
               "Then tries each two of the N changes that gain most alone, together (0); one "
               "topology is among them at most.",
               0, 16},
    [BUDGET] = {"-budget", TH_OPTION_NUMBER, "COST",
                "Only what is known to cost at most this: changes and pairs.", .high = 1e15},
    {.name = NULL},
};

const th_command th_advice_commands[] = {
    {"report_advice", "compare", "", 0, 0, advice_options,
     "print what is worth buying, by gain per cost",
     "Systems with one thing more or another one are each mapped anew by a search of -evaluations "
     "that starts from the mapping, with the algorithm and objective that found it, and simulated: "
     "one more accelerator of each kind (with copies of the links of the last of its kind and a "
     "link to it; of a topology, what its next larger size has), twice the bandwidth of links with "
     "equal properties, twice the bandwidth and capacity of DRAM and twice the clock of each kind, "
     "another design of the system for accelerators of a kind, and another topology with the same "
     "cables or with the same bandwidth in all cables together. The present system is mapped anew "
     "as well: it is the baseline. Costs are those of the system file (twice the bandwidth of a "
     "cable costs another one); clock, memory and designs cost what -costs says. First stands "
     "what gains and costs nothing, then the most gain per cost, then gains of unknown cost, then "
     "what gains nothing. Injected faults do not happen. Works on as many threads as set_threads "
     "says; no result depends on their number.",
     .run = th_lib_run, .is_report = true, .not_while_running = true,
     .after_interrupt = "nothing was changed"},
    {.name = NULL},
};
