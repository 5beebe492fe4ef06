/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.c - the summary of a run, and the figures of accelerators. */
#include <config.h>
#include <string.h>
#include "report/objects/objects.h"
#include "report/sections/sections.h"

/* ---- summary ---- */

static int64_t dram_bytes(const th_result *result)
{
    int64_t sum = 0;
    for (int a = 0; a < result->n_accels; a++)
        sum += th_stats_read(&result->accels[a].stats) +
               result->accels[a].stats.moved_bytes[TH_ENGINE_OUTPUT];
    return sum;
}

static int32_t inputs_done(const th_result *result)
{
    int32_t n = 0;
    for (int32_t i = 0; i < result->n_inputs; i++)
        n += result->input_end_ps[i] >= 0;
    return n;
}

/* The last of n columns is the energy, left out if unknown. NULL: memory is out. */
static th_table *add_summary(th_report *r, const th_column *columns, int n, bool has_energy)
{
    th_column *shown = th_report_columns(r, n);
    if (!shown)
        return NULL;
    for (int c = 0; c < n; c++)
        shown[c] = columns[c];
    shown[has_energy ? n : n - 1] = (th_column){NULL, NULL, TH_KIND_TEXT};
    return th_report_record(r, "summary", NULL, shown);
}

/* What of a summary holds for a hand-built program. Where one rank stands for others, its messages
 * are on no link. */
static int summarize_program(th_session *s, const th_result *x, th_report *r, th_error *err)
{
    enum { LINKS = 4, BEHIND_LINKS = 6, ALL = 8 }; /* columns */
    th_column columns[] = {
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
    int n = ALL;
    if (s->hand_built->step && s->hand_built->step->is_merged) {
        n -= BEHIND_LINKS - LINKS;
        memmove(&columns[LINKS], &columns[BEHIND_LINKS], (ALL - BEHIND_LINKS) * sizeof *columns);
        memmove(&cells[LINKS], &cells[BEHIND_LINKS], (ALL - BEHIND_LINKS) * sizeof *cells);
    }
    th_table *t = add_summary(r, columns, n, x->has_energy);
    th_table_row(t, cells);
    return t ? 0 : th_error_no_memory(err);
}

static void note_means(const th_session *s, th_table *t)
{
    th_table_note(t, "latency",
                  s->simulation->options.stream.n_inputs > 1
                      ? "latency: from the arrival of an input to its end, the wait behind earlier "
                        "inputs included; mean over the inputs"
                      : "latency: mean over the inputs");
    th_table_note(t, "link_utilization",
                  "used links busy: mean over the links that carried something");
    th_table_note(t, "expansions",
                  "expansions: computes simulated tile by tile, since transfers shared their DRAM");
}

int th_section_summary(th_session *s, th_report *r, th_error *err)
{
    int64_t samples = s->hand_built ? 0 : th_workload_samples(s->workload);
    const th_column columns[] = {
        {"state", "state", TH_KIND_TEXT},
        {"makespan", "makespan", TH_KIND_TIME},
        {"latency", "latency", TH_KIND_TIME},
        {"throughput", "throughput, samples", TH_KIND_RATE},
        {"batch_throughput", samples > 1 ? "throughput, batches" : NULL, TH_KIND_RATE},
        {"inputs_done", "inputs done", TH_KIND_COUNT},
        {"macs", "multiply-accumulates", TH_KIND_COUNT},
        {"achieved_macs", "achieved, MACs", TH_KIND_RATE},
        {"accel_utilization", "accelerators busy", TH_KIND_SHARE},
        {"link_utilization", "used links busy", TH_KIND_SHARE},
        {"network", "moved over the network", TH_KIND_BYTES},
        {"dram", "moved to and from DRAM", TH_KIND_BYTES},
        {"tasks", "tasks", TH_KIND_COUNT},
        {"events", "events", TH_KIND_COUNT},
        {"expansions", "expansions", TH_KIND_COUNT},
        {"energy", "energy", TH_KIND_ENERGY},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    if (s->hand_built)
        return summarize_program(s, x, r, err);
    int32_t done = inputs_done(x);
    int64_t macs = th_workload_macs(s->workload) * done;
    bool has_time = x->elapsed_ps > 0 && done > 0;
    double batches = th_result_throughput(x);
    th_quantity cells[] = {
        th_text(x->is_done ? "done" : "stopped"),
        th_ps(x->elapsed_ps),
        done > 0 ? th_ps(th_simulation_latency(s->simulation, x)) : th_absent(TH_KIND_TIME),
        x->is_done ? th_rate((double)samples * batches) : th_absent(TH_KIND_RATE),
        x->is_done ? th_rate(batches) : th_absent(TH_KIND_RATE),
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
        th_count(x->n_expanded),
        th_joules(th_result_energy_j(x)),
    };
    th_table *t = add_summary(r, columns, sizeof columns / sizeof *columns, x->has_energy);
    if (!t)
        return th_error_no_memory(err);
    th_table_row(t, cells);
    note_means(s, t);
    return s->workload->n_models > 0 ? th_section_models(s, r, err) : 0;
}

/* ---- accelerators ---- */

int th_section_accels(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"accel", "accelerator", TH_KIND_TEXT},   {"utilization", "busy", TH_KIND_SHARE},
        {"busy", "busy", TH_KIND_TIME},           {"stall_in", "stall in", TH_KIND_TIME},
        {"stall_out", "stall out", TH_KIND_TIME}, {"idle", "idle", TH_KIND_TIME},
        {"tasks", "tasks", TH_KIND_COUNT},        {"sent", "sent", TH_KIND_BYTES},
        {"stall_input", NULL, TH_KIND_TIME},      {"stall_weight", NULL, TH_KIND_TIME},
        {"stall_partial", NULL, TH_KIND_TIME},    {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    th_table *t = th_report_table(r, "accelerators", "Utilization", columns);
    th_table_note(t, "stall_in", "stall in: waiting for operands from DRAM");
    th_table_note(t, "stall_out", "stall out: waiting for room to store outputs");
    th_table_note(t, "busy", "busy, both stalls and idle add up to the elapsed time");
    for (int a = 0; a < x->n_accels; a++) {
        const th_accel_result *f = &x->accels[a];
        th_table_row(t,
                     (th_quantity[]){th_text(s->system->nodes[s->system->accel_node[a]].name),
                                     th_share(th_ratio(f->stats.busy_ps, x->elapsed_ps)),
                                     th_ps(f->stats.busy_ps), th_ps(th_stats_stall_in(&f->stats)),
                                     th_ps(f->stats.stall_ps[TH_ENGINE_OUTPUT]), th_ps(f->idle_ps),
                                     th_count(f->n_tasks), th_bytes(f->sent_bytes),
                                     th_ps(f->stats.stall_ps[TH_ENGINE_INPUT]),
                                     th_ps(f->stats.stall_ps[TH_ENGINE_WEIGHT]),
                                     th_ps(f->stats.stall_ps[TH_ENGINE_PARTIAL])});
    }
    return 0;
}
