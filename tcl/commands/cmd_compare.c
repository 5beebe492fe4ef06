/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_compare.c - report_compare, report_diff: saved runs side by side, and the differences of
 * two. */
#include <config.h>
#include "session/objects/figures.h"
#include "tcl/command.h"
#include "tcl/report_call.h"

#define GROUP "compare"

/* ---- report_compare ---- */

enum { COMPARE_METRICS = REPORT_N_OPTIONS, COMPARE_RELATIVE_TO, COMPARE_OF };

static const char *const classes[] = {"run", "layers", "accels", "links", NULL};

static const th_option compare_options[] = {
    TABLE_OPTIONS,
    [COMPARE_METRICS] =
        {"-metrics", TH_OPTION_TEXT, "{METRIC ...}",
         "Figures to print, of those that saved_runs has (query -tables); default: latency "
         "throughput batch_throughput link_utilization accel_utilization energy, "
         "batch_throughput only where a batch has more than one sample, energy only where the "
         "system has energy costs.",
         .choice = th_run_figure_name, .least = 1, .most = 6},
    [COMPARE_RELATIVE_TO] = {"-relative_to", TH_OPTION_TEXT, "RUNS",
                             "Adds the change against each of these runs."},
    [COMPARE_OF] = {"-of", TH_OPTION_CHOICE, "CLASS",
                    "Of what: run (default), layers, accels or links: a row for each of them and "
                    "run, and the figures that saved_layers, saved_accels, saved_links have.",
                    .names = classes},
    {.name = NULL},
};

/* ---- report_diff ---- */

enum { DIFF_FIGURES = REPORT_LIMIT + 1 };

static const th_option diff_options[] = {
    RECORD_OPTIONS,
    [REPORT_LIMIT] = {"-limit", TH_OPTION_INTEGER, "N",
                      "Maximum number of rows of each table (in text 10).", 1, INT64_MAX},
    [DIFF_FIGURES] = {"-figures", TH_OPTION_TEXT, "NAMES",
                      "These figures of the run, layers, accelerators and links, or all that saved "
                      "runs keep as numbers; default: the main ones.",
                      .least = 1, .most = TH_MANY},
    {.name = NULL},
};

const th_command th_compare_commands[] = {
    {"report_compare", GROUP, "RUNS", 1, 1, compare_options, "print saved runs side by side",
     "The head has once what all runs share, then what differs. Where systems or workloads differ, "
     "it names each with a digest of its content, since different inputs may have one name; csv "
     "and json have both digests of every run. Precisions are named where runs differ in them. Of "
     "more than six runs it tells of the one that the "
     "others are held against and five: of the least latency, or the first by -sort_by.",
     .run = th_lib_run, .is_report = true},
    {"report_diff", GROUP, "RUN RUN", 2, 2, diff_options, "print where two saved runs differ",
     "The inputs of both runs (system, workload, mapping, network ..., with digests of their "
     "content), and their results: totals, layers, accelerators, links, matched by name. Only what "
     "differs has a row: both values, the difference (second less first), and that over the first. "
     "Times come before bytes and joules, the largest difference first. Layers have the time "
     "during which they were active. csv and json have ps, bytes, J.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
