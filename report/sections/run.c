/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run.c - the summary of a run, and the figures of accelerators. */
#include <config.h>
#include <string.h>
#include "report/objects/figures.h"
#include "report/sections/sections.h"

/* ---- summary ---- */

/* A figure of th_figures_of_run, and its heading in text. */
typedef struct line {
    const char *figure, *title;
    bool if_known; /* left out where it is absent */
} line;

static int find(const char *figure)
{
    int i = 0;
    while (strcmp(th_figures_of_run.attributes[i].name, figure) != 0)
        i++;
    return i;
}

/* A record of these figures. NULL: memory is out. */
static th_table *add_summary(th_session *s, th_report *r, const line *lines, int n)
{
    th_quantity all[TH_FIGURES_MAX], cells[TH_FIGURES_MAX];
    th_column *columns = th_report_columns(r, n);
    int k = 0;
    if (!columns)
        return NULL;
    th_figures_of_run.row(s, 0, all);
    if (s->text.scratch.failed)
        return th_strbuf_clear(&s->text.scratch), NULL;
    for (int i = 0; i < n; i++) {
        int figure = find(lines[i].figure);
        const th_attribute *a = &th_figures_of_run.attributes[figure];
        if (lines[i].if_known && all[figure].is_absent)
            continue;
        columns[k] = (th_column){a->name, lines[i].title, a->kind};
        cells[k++] = all[figure];
    }
    columns[k] = (th_column){NULL, NULL, TH_KIND_TEXT};
    th_table *t = th_report_record(r, "summary", NULL, columns);
    th_table_row(t, cells);
    return t;
}

/* What of a summary holds for a hand-built program. */
static int summarize_program(th_session *s, th_report *r, th_error *err)
{
    static const line lines[] = {
        {"state", "state"},
        {"makespan", "makespan"},
        {"tasks", "tasks"},
        {"tasks_done", "tasks done"},
        {"link_utilization", "used links busy", .if_known = true},
        {"network", "moved over the network", .if_known = true},
        {"events", "events"},
        {"energy", "energy", .if_known = true},
    };
    return add_summary(s, r, lines, sizeof lines / sizeof *lines) ? 0 : th_error_no_memory(err);
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
    const line lines[] = {
        {"state", "state"},
        {"makespan", "makespan"},
        {"latency", "latency"},
        {"throughput", "throughput, samples"},
        {"batch_throughput",
         !s->hand_built && th_workload_samples(s->workload) > 1 ? "throughput, batches" : NULL},
        {"inputs_done", "inputs done"},
        {"macs", "multiply-accumulates"},
        {"achieved_macs", "achieved, MACs"},
        {"accel_utilization", "accelerators busy"},
        {"link_utilization", "used links busy"},
        {"network", "moved over the network"},
        {"dram", "moved to and from DRAM"},
        {"tasks", "tasks"},
        {"events", "events"},
        {"expansions", "expansions"},
        {"energy", "energy", .if_known = true},
    };
    if (!th_simulation_result(s->simulation, err))
        return -1;
    if (s->hand_built)
        return summarize_program(s, r, err);
    th_table *t = add_summary(s, r, lines, sizeof lines / sizeof *lines);
    if (!t)
        return th_error_no_memory(err);
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
