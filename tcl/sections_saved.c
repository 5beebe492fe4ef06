/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections_saved.c - saved runs side by side. */
#include <config.h>
#include "tcl/sections.h"

const char *const th_metric_names[TH_N_METRICS + 1] = {"latency", "throughput", "link_utilization",
                                                       "accel_utilization", NULL};

/* What a metric looks like in a table: itself, and the change against the reference. */
static const struct {
    th_column value, change;
} metric_columns[TH_N_METRICS] = {
    {{"latency", "latency", TH_KIND_TIME}, {"latency_change", "change", TH_KIND_CHANGE}},
    {{"throughput", "throughput", TH_KIND_RATE}, {"throughput_change", "change", TH_KIND_CHANGE}},
    {{"link_utilization", "links busy", TH_KIND_SHARE},
     {"link_utilization_change", "change", TH_KIND_CHANGE}},
    {{"accel_utilization", "accels busy", TH_KIND_SHARE},
     {"accel_utilization_change", "change", TH_KIND_CHANGE}},
};

static th_quantity value_of(const th_saved_run *run, int metric)
{
    switch (metric) {
    case TH_METRIC_LATENCY:
        return th_ps(run->latency_ps);
    case TH_METRIC_THROUGHPUT:
        return th_rate(run->throughput_per_s);
    case TH_METRIC_LINKS:
        return th_share(run->link_utilization);
    default:
        return th_share(run->accel_utilization);
    }
}

static th_quantity change_of(th_quantity value, th_quantity reference)
{
    double a = th_kind_is_real(value.kind) ? value.real : (double)value.whole;
    double b = th_kind_is_real(reference.kind) ? reference.real : (double)reference.whole;
    return b > 0 ? th_change(a / b - 1) : th_absent(TH_KIND_CHANGE);
}

int th_section_runs(th_report *r, th_saved_run *const *runs, int n_runs, const int *metrics,
                    int n_metrics, const th_saved_run *relative_to, th_error *err)
{
    enum { COLUMNS_MAX = 2 + 2 * TH_N_METRICS };
    th_column *columns = th_report_columns(r, COLUMNS_MAX);
    th_quantity cells[COLUMNS_MAX];
    if (columns == NULL)
        return th_error_no_memory(err);
    int n = 0;
    columns[n++] = (th_column){"run", "run", TH_KIND_TEXT};
    for (int k = 0; k < n_metrics; k++) {
        columns[n++] = metric_columns[metrics[k]].value;
        if (relative_to != NULL)
            columns[n++] = metric_columns[metrics[k]].change;
    }
    columns[n] = (th_column){NULL, NULL, TH_KIND_TEXT};
    th_table *t = th_report_table(r, "runs", NULL, columns);
    for (int i = 0; i < n_runs; i++) {
        n = 0;
        cells[n++] = th_text(runs[i]->name);
        for (int k = 0; k < n_metrics; k++) {
            cells[n++] = value_of(runs[i], metrics[k]);
            if (relative_to != NULL)
                cells[n++] =
                    change_of(value_of(runs[i], metrics[k]), value_of(relative_to, metrics[k]));
        }
        th_table_row(t, cells);
    }
    return 0;
}

int th_section_saved(th_report *r, th_saved_run *const *runs, int n_runs, th_error *err)
{
    static const th_column columns[] = {
        {"run", "run", TH_KIND_TEXT},
        {"system", "system", TH_KIND_TEXT},
        {"workload", "workload", TH_KIND_TEXT},
        {"batch", "batch", TH_KIND_COUNT},
        {"mapping", "mapping", TH_KIND_TEXT},
        {"algorithm", "by", TH_KIND_TEXT},
        {"seed", "seed", TH_KIND_COUNT},
        {"network", "network", TH_KIND_TEXT},
        {"inputs", "inputs", TH_KIND_COUNT},
        {"latency", "latency", TH_KIND_TIME},
        {"makespan", "makespan", TH_KIND_TIME},
        {"throughput", "throughput", TH_KIND_RATE},
        {"link_utilization", "links busy", TH_KIND_SHARE},
        {"accel_utilization", "accels busy", TH_KIND_SHARE},
        {"moved", "moved", TH_KIND_BYTES},
        {NULL, NULL, TH_KIND_TEXT},
    };
    (void)err;
    th_table *t = th_report_table(r, "runs", "Saved runs", columns);
    for (int i = 0; i < n_runs; i++) {
        const th_saved_run *x = runs[i];
        th_table_row(
            t, (th_quantity[]){th_text(x->name), th_text(x->system), th_text(x->workload),
                               th_count(x->batch), th_text(x->mapping), th_text(x->algorithm),
                               th_count((int64_t)x->seed), th_text(x->network),
                               th_count(x->n_inputs), th_ps(x->latency_ps), th_ps(x->makespan_ps),
                               th_rate(x->throughput_per_s), th_share(x->link_utilization),
                               th_share(x->accel_utilization), th_bytes(x->network_bytes)});
    }
    return 0;
}
