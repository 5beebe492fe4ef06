/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections_run.c - what there is to say about a run. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "sim/critical_path.h"
#include "tcl/objects.h"
#include "tcl/sections.h"

static double share(th_time part, th_time whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* ---- summary ---- */

static int64_t dram_bytes(const th_result *result)
{
    int64_t sum = 0;
    for (int a = 0; a < result->n_accels; a++)
        sum += th_stats_read(&result->accels[a].did) + result->accels[a].did.moved_bytes[TH_ENGINE_OUTPUT];
    return sum;
}

static int32_t inputs_done(const th_result *result)
{
    int32_t n = 0;
    for (int32_t i = 0; i < result->n_inputs; i++)
        n += result->input_end_ps[i] >= 0;
    return n;
}

/* The columns, of which the last is the energy: left out where nothing is known of it. */
static const th_column *with_energy(th_report *r, const th_column *columns, int n, bool has_energy)
{
    th_column *out = th_report_columns(r, n);
    for (int c = 0; out != NULL && c < n; c++)
        out[c] = columns[c];
    if (out != NULL)
        out[has_energy ? n : n - 1] = (th_column){NULL, NULL, TH_KIND_TEXT};
    return out;
}

/* What of a summary holds for a made program. */
static int summarize_program(th_session *s, const th_result *x, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"state", "state", TH_KIND_TEXT},
        {"makespan", "makespan", TH_KIND_TIME},
        {"tasks", "tasks", TH_KIND_COUNT},
        {"tasks_done", "tasks done", TH_KIND_COUNT},
        {"link_utilization", "used links busy", TH_KIND_SHARE},
        {"network", "moved over the network", TH_KIND_BYTES},
        {"events", "events", TH_KIND_COUNT},
        {"energy", "energy", TH_KIND_ENERGY},
    };
    th_quantity cells[] = {
        th_text(x->is_done ? "done" : "stopped"),
        th_ps(x->elapsed_ps),
        th_count(x->n_tasks),
        th_count(th_machine_tasks_done(s->simulation->machine)),
        th_share(th_result_link_utilization(x)),
        th_bytes(x->moved_bytes),
        th_count(x->n_events),
        th_joules(th_result_energy_j(x)),
    };
    const th_column *shown =
        with_energy(r, columns, sizeof columns / sizeof *columns, x->has_energy);
    if (shown == NULL)
        return th_error_no_memory(err);
    th_table_row(th_report_record(r, "summary", NULL, shown), cells);
    return 0;
}

int th_section_summary(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"state", "state", TH_KIND_TEXT},
        {"makespan", "makespan", TH_KIND_TIME},
        {"latency", "latency", TH_KIND_TIME},
        {"throughput", "throughput, inputs", TH_KIND_RATE},
        {"inputs_done", "inputs done", TH_KIND_COUNT},
        {"macs", "multiply-accumulates", TH_KIND_COUNT},
        {"achieved_macs", "achieved, MACs", TH_KIND_RATE},
        {"accel_utilization", "accelerators busy", TH_KIND_SHARE},
        {"link_utilization", "used links busy", TH_KIND_SHARE},
        {"network", "moved over the network", TH_KIND_BYTES},
        {"dram", "moved to and from DRAM", TH_KIND_BYTES},
        {"tasks", "tasks", TH_KIND_COUNT},
        {"events", "events", TH_KIND_COUNT},
        {"unfoldings", "unfoldings", TH_KIND_COUNT},
        {"energy", "energy", TH_KIND_ENERGY},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (x == NULL)
        return -1;
    if (s->made != NULL)
        return summarize_program(s, x, r, err);
    int32_t done = inputs_done(x);
    int64_t macs = th_workload_macs(s->workload) * done;
    bool has_time = x->elapsed_ps > 0 && done > 0;
    th_quantity cells[] = {
        th_text(x->is_done ? "done" : "stopped"),
        th_ps(x->elapsed_ps),
        done > 0 ? th_ps(th_simulation_latency(s->simulation, x)) : th_absent(TH_KIND_TIME),
        x->is_done ? th_rate(th_result_throughput(x)) : th_absent(TH_KIND_RATE),
        th_count(done),
        th_count(macs),
        has_time ? th_rate((double)macs * (double)TH_PS_PER_S / (double)x->elapsed_ps)
                 : th_absent(TH_KIND_RATE),
        th_share(th_result_accel_utilization(x)),
        th_share(th_result_link_utilization(x)),
        th_bytes(x->moved_bytes),
        th_bytes(dram_bytes(x)),
        th_count(x->n_tasks),
        th_count(x->n_events),
        th_count(x->n_unfolded),
        th_joules(th_result_energy_j(x)),
    };
    const th_column *shown =
        with_energy(r, columns, sizeof columns / sizeof *columns, x->has_energy);
    if (shown == NULL)
        return th_error_no_memory(err);
    th_table_row(th_report_record(r, "summary", NULL, shown), cells);
    return s->workload->n_models > 0 ? th_section_models(s, r, err) : 0;
}

/* ---- accelerators ---- */

int th_section_accels(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"accel", "accelerator", TH_KIND_TEXT},
        {"utilization", "busy", TH_KIND_SHARE},
        {"busy", "busy", TH_KIND_TIME},
        {"stall_in", "stall in", TH_KIND_TIME},
        {"stall_out", "stall out", TH_KIND_TIME},
        {"idle", "idle", TH_KIND_TIME},
        {"tasks", "tasks", TH_KIND_COUNT},
        {"sent", "sent", TH_KIND_BYTES},
        {"stall_input", NULL, TH_KIND_TIME},
        {"stall_weight", NULL, TH_KIND_TIME},
        {"stall_partial", NULL, TH_KIND_TIME},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (x == NULL)
        return -1;
    th_table *t = th_report_table(r, "accelerators", "Utilization", columns);
    for (int a = 0; a < x->n_accels; a++) {
        const th_accel_result *f = &x->accels[a];
        th_table_row(t, (th_quantity[]){th_text(s->system->nodes[s->system->accel_node[a]].name),
                                        th_share(share(f->did.busy_ps, x->elapsed_ps)),
                                        th_ps(f->did.busy_ps), th_ps(th_stats_stall_in(&f->did)),
                                        th_ps(f->did.stall_ps[TH_ENGINE_OUTPUT]), th_ps(f->idle_ps),
                                        th_count(f->n_tasks), th_bytes(f->sent_bytes),
                                        th_ps(f->did.stall_ps[TH_ENGINE_INPUT]),
                                        th_ps(f->did.stall_ps[TH_ENGINE_WEIGHT]),
                                        th_ps(f->did.stall_ps[TH_ENGINE_PARTIAL])});
    }
    return 0;
}

/* ---- critical path ---- */

static th_time span_of(const th_path_entry *e)
{
    return e->wait_ps + e->end_ps - e->start_ps;
}

static int by_span(const void *a, const void *b)
{
    th_time x = *(const th_time *)a, y = *(const th_time *)b;
    return (x < y) - (x > y);
}

/* The span that an entry must have to be among the limit longest; -1: all are. */
static th_time threshold(const th_path_entry *path, int n, int64_t limit)
{
    if (limit <= 0 || limit >= n)
        return -1;
    th_time *spans = th_alloc_array((size_t)n, sizeof *spans), result = -1;
    if (spans == NULL)
        return -1;
    for (int i = 0; i < n; i++)
        spans[i] = span_of(&path[i]);
    qsort(spans, (size_t)n, sizeof *spans, by_span);
    result = spans[limit - 1];
    th_free(spans);
    return result;
}

/* Entries that stand together in one line. */
static void add_folded(th_table *t, const th_path_entry *path, int n)
{
    char what[60];
    th_time wait = 0, duration = 0;
    for (int i = 0; i < n; i++) {
        wait += path[i].wait_ps;
        duration += path[i].end_ps - path[i].start_ps;
    }
    snprintf(what, sizeof what, "(%d shorter task%s)", n, n == 1 ? "" : "s");
    if (n > 0)
        th_table_row(t, (th_quantity[]){th_ps(path[0].start_ps), th_ps(wait), th_ps(duration),
                                        th_absent(TH_KIND_COUNT), th_absent(TH_KIND_TEXT),
                                        th_text(what)});
}

static void add_entry(th_session *s, th_table *t, const th_path_entry *e)
{
    const th_task *task = &s->simulation->program->tasks[e->task];
    th_strbuf what = TH_STRBUF_INIT;
    th_task_describe(s, task, &what);
    th_table_row(t, (th_quantity[]){th_ps(e->start_ps), th_ps(e->wait_ps),
                                    th_ps(e->end_ps - e->start_ps), th_count(e->task),
                                    th_text(th_task_kind_name(task->kind)), th_text(what.text)});
    th_strbuf_clear(&what);
}

static void add_path(th_session *s, th_table *t, const th_path_entry *path, int n, int64_t limit)
{
    th_time least = threshold(path, n, limit), sum_wait = 0, sum = 0;
    int folded = 0;
    int64_t shown = 0;
    for (int i = 0; i < n; i++) {
        sum_wait += path[i].wait_ps;
        sum += path[i].end_ps - path[i].start_ps;
        if (least >= 0 && (span_of(&path[i]) < least || shown == limit)) {
            folded++;
            continue;
        }
        add_folded(t, &path[i - folded], folded);
        add_entry(s, t, &path[i]);
        folded = 0;
        shown++;
    }
    add_folded(t, &path[n - folded], folded);
    char makespan[100], time[64];
    snprintf(makespan, sizeof makespan, "wait + duration = %s",
             th_format_time(sum_wait + sum, time, sizeof time));
    th_table_total(t, (th_quantity[]){th_absent(TH_KIND_TIME), th_ps(sum_wait), th_ps(sum),
                                      th_absent(TH_KIND_COUNT), th_text("sum"), th_text(makespan)});
}

int th_section_path(th_session *s, th_report *r, int64_t limit, th_error *err)
{
    static const th_column columns[] = {
        {"start", "start", TH_KIND_TIME},
        {"wait", "wait", TH_KIND_TIME},
        {"duration", "duration", TH_KIND_TIME},
        {"task", "task", TH_KIND_COUNT},
        {"kind", "kind", TH_KIND_TEXT},
        {"what", "what", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_path_entry *path;
    const th_result *x = th_simulation_result(s->simulation, err);
    int n = x != NULL ? th_critical_path(x, &path, err) : -1;
    if (n < 0)
        return -1;
    add_path(s, th_report_table(r, "critical_path", "Critical path", columns), path, n, limit);
    th_free(path);
    return 0;
}
