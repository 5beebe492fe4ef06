/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_reliability.c - report_reliability: a training run of days or months with checkpoints and
 * failures. */
#include <config.h>
#include "tcl/report_call.h"

enum {
    RELIABILITY_DURATION = REPORT_N_OPTIONS,
    RELIABILITY_TOKENS,
    RELIABILITY_FAILURES,
    RELIABILITY_STEP,
    RELIABILITY_INTERVAL,
    RELIABILITY_WRITE,
    RELIABILITY_BYTES,
    RELIABILITY_STORAGE,
    RELIABILITY_STALL,
    RELIABILITY_DETECTION,
    RELIABILITY_RESTART,
    RELIABILITY_SPARES,
    RELIABILITY_REPAIR,
    RELIABILITY_RUNS,
    RELIABILITY_SEED
};

static const th_option options[] = {
    TABLE_OPTIONS,
    [RELIABILITY_DURATION] = {"-duration", TH_OPTION_DURATION, "TIME",
                              "Length of the training run: 54d, 2000h.", .range = TH_ABOVE,
                              .required = true, .unless = "-tokens", .without = "-tokens"},
    [RELIABILITY_TOKENS] = {"-tokens", TH_OPTION_NUMBER, "N",
                            "Instead of -duration: until so many tokens (1e12) are trained, in the "
                            "mean of the runs, at the tokens per second of the step that was run.",
                            .low = 1, .high = 1e18},
    [RELIABILITY_FAILURES] =
        {"-failures", TH_OPTION_TEXT, "LIST",
         "Kinds of failures, each {NAME UNITS MTBF ?shape K? ?spare 0|1?}: so many units, each of "
         "which fails every MTBF in the mean, under an exponential or (shape) Weibull law; or "
         "{NAME times FILE}: a file with a time in each line. spare 0: no unit is replaced (of "
         "software). Without it: accelerators, hosts, switches and cables with the mtbf that the "
         "system file states; where it states none, nothing fails."},
    [RELIABILITY_STEP] = {"-step_time", TH_OPTION_DURATION, "TIME",
                          "Time of a step; intervals are whole steps (that of the run, if there is "
                          "one, which must be at its end)."},
    [RELIABILITY_INTERVAL] = {"-checkpoint_interval", TH_OPTION_DURATION, "TIME|young|daly|best",
                              "Training between two checkpoints: a time, or one of the formulas "
                              "(daly).",
                              .range = TH_ABOVE, .names = TH_NAMES("young", "daly", "best")},
    [RELIABILITY_WRITE] = {"-checkpoint_time", TH_OPTION_DURATION, "TIME",
                           "From the start of a checkpoint until it is complete.", .required = true,
                           .unless = "-checkpoint_bytes", .without = "-checkpoint_bytes"},
    [RELIABILITY_BYTES] = {"-checkpoint_bytes", TH_OPTION_BYTES, "SIZE",
                           "Instead of it: what every accelerator writes (weights and "
                           "states in report_memory); the time is simulated on "
                           "the network of the system. A restart then also reads it."},
    [RELIABILITY_STORAGE] = {"-storage", TH_OPTION_NODE, "NODES",
                             "Nodes that checkpoints are written to, in turn (all hosts).",
                             .least = 1, .most = TH_MANY, .with = "-checkpoint_bytes"},
    [RELIABILITY_STALL] = {"-checkpoint_stall", TH_OPTION_DURATION, "TIME",
                           "How long training stops for a checkpoint (until it is complete)."},
    [RELIABILITY_DETECTION] = {"-detection_time", TH_OPTION_DURATION, "TIME",
                               "From a failure until it is noticed (0)."},
    [RELIABILITY_RESTART] = {"-restart_time", TH_OPTION_DURATION, "TIME",
                             "From there until training continues, without waiting for spares and "
                             "reading over the network (0)."},
    [RELIABILITY_SPARES] = {"-spares", TH_OPTION_INTEGER, "N",
                            "Spare units at the start (any number).", 0, INT64_MAX},
    [RELIABILITY_REPAIR] = {"-repair_time", TH_OPTION_DURATION, "TIME",
                            "After it a failed unit is a spare one (never).", .with = "-spares"},
    [RELIABILITY_RUNS] = {"-runs", TH_OPTION_INTEGER, "N",
                          "Simulated runs (100). Failures of all of them together: at most some "
                          "100 million.",
                          1, 1000000},
    [RELIABILITY_SEED] = {"-seed", TH_OPTION_INTEGER, "N", "Of the failures (1).", 0, INT64_MAX},
    {.name = NULL},
};

const th_command th_reliability_commands[] = {
    {"report_reliability", "training", "", 0, 0, options,
     "print the share of months of training that trains",
     "A training run of -duration with checkpoints is simulated -runs times from failure to "
     "failure. A failure loses what was trained since the last complete checkpoint began; it is "
     "noticed, a spare unit is taken or waited for, and the run restarts. The report says which "
     "share of the time trains, where the rest goes, how often the run is interrupted, and which "
     "interval between checkpoints is the best, beside the formulas of Young and Daly. Results "
     "depend on the seed alone. -limit and -sort_by are for the kinds of failures. "
     "See docs/models/reliability.md.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
