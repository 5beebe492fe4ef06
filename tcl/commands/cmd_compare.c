/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_compare.c - report_compare, report_diff: saved runs side by side, and the differences of
 * two. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "tcl/report_call.h"
#include "report/session/saved_run.h"
#include "report/sections/sections.h"

#define GROUP "report"

/* ---- report_compare ---- */

enum { COMPARE_METRICS = REPORT_N_OPTIONS, COMPARE_RELATIVE_TO };

static const char *metric_name(int i)
{
    return th_metric_names[i];
}

static const th_option compare_options[] = {
    TABLE_OPTIONS,
    [COMPARE_METRICS] =
        {"-metrics", TH_OPTION_TEXT, "{METRIC ...}",
         "Figures to print, out of latency throughput batch_throughput link_utilization "
         "accel_utilization energy; default: all, batch_throughput only where a batch has more "
         "than one sample. Energy is - for systems without energy costs.",
         .choice = metric_name},
    [COMPARE_RELATIVE_TO] = {"-relative_to", TH_OPTION_TEXT, "RUNS",
                             "Adds the change against each of these runs."},
    {.name = NULL},
};

static int parse_metric(th_call *c, Tcl_Obj *word, int *out)
{
    for (int m = 0; m < TH_N_METRICS; m++)
        if (strcmp(th_metric_names[m], Tcl_GetString(word)) == 0) {
            *out = m;
            return 0;
        }
    return th_error_unknown(&c->err, "TCL-0120", "-metrics", Tcl_GetString(word), th_metric_names);
}

/* Hand-built programs have no throughput, and keep no accelerator busy. */
static bool any_computes(const th_runs *runs)
{
    for (int i = 0; i < runs->n; i++)
        if (!runs->all[i]->program)
            return true;
    return false;
}

static bool any_energy(const th_runs *runs)
{
    for (int i = 0; i < runs->n; i++)
        if (runs->all[i]->has_energy)
            return true;
    return false;
}

/* Else batches per second say what samples per second do. */
static bool any_batch(const th_runs *runs)
{
    for (int i = 0; i < runs->n; i++)
        if (runs->all[i]->samples > 1)
            return true;
    return false;
}

static bool is_standard_metric(int m, const th_runs *runs)
{
    if (m == TH_METRIC_BATCH_THROUGHPUT)
        return any_batch(runs);
    if (m == TH_METRIC_THROUGHPUT || m == TH_METRIC_ACCELS)
        return any_computes(runs);
    return m != TH_METRIC_ENERGY || any_energy(runs);
}

static int parse_metrics(th_call *c, const th_runs *runs, int *metrics, int *n_metrics)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (!th_call_has(c, COMPARE_METRICS)) {
        for (int m = 0; m < TH_N_METRICS; m++)
            if (is_standard_metric(m, runs))
                metrics[(*n_metrics)++] = m;
        return 0;
    }
    if (Tcl_ListObjGetElements(NULL, c->option[COMPARE_METRICS].word, &n, &words) != TCL_OK ||
        n < 1 || n > TH_N_METRICS)
        return th_error_set(&c->err, "TCL-0121",
                            "-metrics \"%s\": must be a list of 1 to %d metrics",
                            th_call_text(c, COMPARE_METRICS, ""), TH_N_METRICS);
    for (*n_metrics = 0; *n_metrics < n; ++*n_metrics)
        if (parse_metric(c, words[*n_metrics], &metrics[*n_metrics]) != 0)
            return -1;
    return 0;
}

static int compare(th_call *c, const th_runs *runs, const th_runs *relative_to)
{
    int metrics[TH_N_METRICS], n_metrics = 0;
    if (parse_metrics(c, runs, metrics, &n_metrics) != 0)
        return -1;
    if (1 + n_metrics * (1 + relative_to->n) + 1 + TH_RUN_INPUTS > TH_COLUMNS_MAX)
        return th_error_set(&c->err, "TCL-0123",
                            "more than %d columns: fewer -metrics, or -relative_to fewer runs",
                            TH_COLUMNS_MAX);
    th_report *r = th_report_new("compare", "Comparison");
    if (!r)
        return th_error_no_memory(&c->err);
    th_section_saved_head(r, runs->all, runs->n);
    if (relative_to->n > 0) {
        th_report_head_line(r, "relative to", th_call_text(c, COMPARE_RELATIVE_TO, ""));
        th_report_head_field(r, "relative_to", th_text(th_call_text(c, COMPARE_RELATIVE_TO, "")));
    }
    int failed = th_section_runs(r, runs, metrics, n_metrics, relative_to, &c->err);
    if (!failed && th_report_format(c) == TH_FORMAT_JSON)
        failed = th_section_saved(r, runs->all, runs->n, &c->err);
    return th_report_finish(c, r, failed, r->first);
}

static int run_report_compare(th_call *c)
{
    th_runs runs = {NULL, 0}, relative_to = {NULL, 0};
    int failed = th_saved_runs_parse(c->session, c->words[0], &runs, &c->err);
    if (!failed && runs.n == 0)
        failed = th_error_set(&c->err, "TCL-0124", "no runs: save_run NAME first, then name them");
    if (!failed && th_call_has(c, COMPARE_RELATIVE_TO))
        failed = th_saved_runs_parse(c->session, c->option[COMPARE_RELATIVE_TO].word, &relative_to,
                                     &c->err);
    if (!failed)
        failed = compare(c, &runs, &relative_to);
    th_free(relative_to.all);
    th_free(runs.all);
    return failed;
}

/* ---- report_diff ---- */

enum { DIFF_IN_TEXT = 10 }; /* rows of a table without -limit */

static const th_option diff_options[] = {
    RECORD_OPTIONS,
    [REPORT_LIMIT] = {"-limit", TH_OPTION_INTEGER, "N",
                      "Maximum number of rows of each table (in text 10).", 1, INT64_MAX},
    {.name = NULL},
};

static int run_report_diff(th_call *c)
{
    th_saved_run *pair[2];
    for (int i = 0; i < 2; i++)
        if (!(pair[i] = th_saved_run_find(c->session, th_call_word(c, i), &c->err)))
            return -1;
    th_report *r = th_report_new("diff", "Differences");
    if (!r)
        return th_error_no_memory(&c->err);
    th_section_saved_head(r, pair, 2);
    th_report_head_field(r, "a", th_text(pair[0]->name));
    th_report_head_field(r, "b", th_text(pair[1]->name));
    bool is_text = th_report_format(c) == TH_FORMAT_TEXT;
    th_diff_options o = {is_text, th_call_number(c, REPORT_LIMIT, is_text ? DIFF_IN_TEXT : 0)};
    return th_report_finish(c, r, th_section_diff(r, pair[0], pair[1], &o, &c->err), NULL);
}

const th_command th_compare_commands[] = {
    {"report_compare", GROUP, "RUNS", 1, 1, compare_options, "print saved runs side by side",
     "The head names what was run. Where systems or workloads differ, it names each with a digest "
     "of its content, since different inputs may have one name; csv and json have both digests of "
     "every run.",
     .run = run_report_compare, .is_report = true},
    {"report_diff", GROUP, "RUN RUN", 2, 2, diff_options, "print where two saved runs differ",
     "The inputs of both runs (system, workload, mapping, network ..., with digests of their "
     "content), and their results: totals, layers, accelerators, links, matched by name. Only what "
     "differs has a row: both values, the difference (second less first), and that over the first. "
     "Times come before bytes and joules, the largest difference first. Layers have the time "
     "during which they were active. csv and json have ps, bytes, J.",
     .run = run_report_diff, .is_report = true},
    {.name = NULL},
};
