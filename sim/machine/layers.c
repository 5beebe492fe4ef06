/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layers.c - the results of each layer of the workload, collected while a machine runs.
 *
 *   load -> { start -> [computed] -> end }* ; copy -> add_running* -> finish for a result
 *
 * Only with options.per_layer. The statistics of a task are added when it ends, because an expanded
 * task takes longer than its collapsed time. A layer is active as long as any of its tasks runs, so
 * in a stream of inputs the time in which its accelerators run other layers does not count; a
 * transfer counts for the layer whose input it carries. Roofline: Williams, Waterman, Patterson,
 * CACM 52(4), 2009. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/machine/machine_state.h"

/* --- load ------------------------------------------------------------------------------------- */

static int32_t layers_of(const th_program *p)
{
    int32_t n = 0;
    for (int32_t t = 0; t < p->n_tasks; t++)
        if (p->tasks[t].layer >= n)
            n = p->tasks[t].layer + 1;
    return n;
}

/* Counts the tasks of each layer, and links its compute tasks: next[t] is another one of t's layer,
 * -1 the last. */
static void link_tasks(th_machine *m, int32_t *first, int32_t *next)
{
    const th_program *p = m->program;
    for (int32_t l = 0; l < m->layers.n; l++)
        first[l] = -1;
    for (int32_t t = p->n_tasks - 1; t >= 0; t--) {
        const th_task *k = &p->tasks[t];
        if (k->layer >= 0)
            m->layers.states[k->layer].sum.n_open++;
        if (k->kind != TH_TASK_COMPUTE || k->layer < 0)
            continue;
        next[t] = first[k->layer];
        first[k->layer] = t;
    }
}

/* The accelerators that compute for each layer; mark: per accelerator, the last layer that counted
 * it. */
static void count_accels(th_machine *m, const int32_t *first, const int32_t *next, int32_t *mark)
{
    for (int a = 0; a < m->system->n_accels; a++)
        mark[a] = -1;
    for (int32_t l = 0; l < m->layers.n; l++) {
        for (int32_t t = first[l]; t >= 0; t = next[t]) {
            int accel = m->system->nodes[m->program->tasks[t].node].accel;
            m->layers.states[l].sum.n_accels += mark[accel] != l;
            mark[accel] = l;
        }
    }
}

int th_layers_load(th_machine *m)
{
    const th_program *p = m->program;
    size_t n = (size_t)layers_of(p);
    th_memory scratch = {NULL, false};
    m->layers.n = 0;
    int32_t *first = th_memory_take(&scratch, n + 1, sizeof *first);
    int32_t *next = th_memory_take(&scratch, (size_t)p->n_tasks + 1, sizeof *next);
    int32_t *mark = th_memory_take(&scratch, (size_t)m->system->n_accels + 1, sizeof *mark);
    bool failed = scratch.is_out ||
                  th_grow(&m->layers.states, &m->layers.capacity, n + 1, sizeof *m->layers.states);
    if (!failed) {
        m->layers.n = (int32_t)n;
        for (size_t l = 0; l < n; l++)
            m->layers.states[l] = (th_layer_state){.sum = {.start_ps = -1, .end_ps = -1}};
        link_tasks(m, first, next);
        count_accels(m, first, next, mark);
    }
    th_memory_free(&scratch);
    return failed ? -1 : 0;
}

/* --- while it runs ---------------------------------------------------------------------------- */

static th_layer_state *layer_of(th_machine *m, int32_t task)
{
    int32_t layer = m->program->tasks[task].layer;
    return layer >= 0 ? &m->layers.states[layer] : NULL;
}

void th_layers_start(th_machine *m, int32_t task)
{
    th_layer_state *l = layer_of(m, task);
    if (!l)
        return;
    if (l->sum.start_ps < 0)
        l->sum.start_ps = m->now;
    if (l->n_running++ == 0)
        l->since = m->now;
}

void th_layers_end(th_machine *m, int32_t task)
{
    th_layer_state *l = layer_of(m, task);
    if (!l)
        return;
    l->sum.end_ps = m->now;
    l->sum.n_open--;
    if (--l->n_running == 0)
        l->sum.active_ps += m->now - l->since;
}

static void add_accesses(th_accesses *sum, const th_accesses *a)
{
    sum->input_reads = th_bytes_add(sum->input_reads, a->input_reads);
    sum->weight_reads = th_bytes_add(sum->weight_reads, a->weight_reads);
    sum->partial_reads = th_bytes_add(sum->partial_reads, a->partial_reads);
    sum->output_writes = th_bytes_add(sum->output_writes, a->output_writes);
}

static void add_array_work(th_layer_result *l, const th_compute_cost *w)
{
    int64_t macs = th_shard_macs(&w->shard);
    double cycles_s = (double)w->total.cycles / (double)w->schedule.hz;
    double peak_s = w->schedule.macs_per_cycle > 0
                        ? (double)macs / (w->schedule.macs_per_cycle * (double)w->schedule.hz)
                        : INFINITY;
    l->macs = th_bytes_add(l->macs, macs);
    l->array_cycles = th_bytes_add(l->array_cycles, w->total.cycles);
    l->peak_s += peak_s;
    l->compute_s += isfinite(peak_s) ? peak_s : cycles_s;
    l->variant = w->schedule.variant;
}

static void add_vector_work(th_layer_result *l, const th_compute_cost *w)
{
    l->vector_operations = th_bytes_add(l->vector_operations, w->vector_operations);
    l->vector_cycles = th_bytes_add(l->vector_cycles, w->total.cycles);
    l->compute_s += (double)w->total.cycles / (double)w->schedule.hz;
}

static double seconds_through(int64_t bytes, int64_t bits_per_s)
{
    bool is_limit = bits_per_s > 0 && bits_per_s < TH_UNLIMITED;
    return is_limit ? (double)bytes * 8 / (double)bits_per_s : 0;
}

static void add_moved(th_layer_result *l, const th_compute_cost *w, const th_pipeline_stats *stats)
{
    th_stats_add(&l->stats, stats);
    for (int e = 0; e < TH_N_ENGINES; e++) {
        l->memory_s += seconds_through(stats->moved_bytes[e], w->port.bits_per_s);
        l->port_s[e] += seconds_through(stats->moved_bytes[e], w->schedule.port_bits_per_s[e]);
    }
}

void th_layers_lost(th_machine *m, int32_t task, const th_pipeline_stats *stats)
{
    th_layer_state *state = layer_of(m, task);
    if (state)
        add_moved(&state->sum, th_compute_cost_get(m->costs, m->program->tasks[task].compute_cost),
                  stats);
}

void th_layers_computed(th_machine *m, int32_t task, const th_pipeline_stats *stats)
{
    th_layer_state *state = layer_of(m, task);
    if (!state)
        return;
    th_layer_result *l = &state->sum;
    const th_compute_cost *w = th_compute_cost_get(m->costs, m->program->tasks[task].compute_cost);
    l->n_tasks++;
    add_accesses(&l->accesses, &w->schedule.accesses);
    if (w->design < 0)
        add_vector_work(l, w);
    else
        add_array_work(l, w);
    add_moved(l, w, stats);
}

/* --- results ---------------------------------------------------------------------------------- */

void th_layers_copy(const th_machine *m, th_layer_result *out)
{
    for (int32_t i = 0; i < m->layers.n; i++) {
        const th_layer_state *l = &m->layers.states[i];
        out[i] = l->sum;
        if (l->n_running > 0)
            out[i].active_ps += m->now - l->since;
    }
}

void th_layers_add_running(const th_machine *m, int32_t task, const th_pipeline_stats *stats,
                           th_layer_result *out)
{
    int32_t layer = m->layers.n > 0 && task >= 0 ? m->program->tasks[task].layer : -1;
    if (layer >= 0)
        th_stats_add(&out[layer].stats, stats);
}

void th_layers_finish(th_layer_result *layers, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        layers[i].idle_ps =
            layers[i].n_accels * layers[i].active_ps - th_stats_occupied(&layers[i].stats);
}
