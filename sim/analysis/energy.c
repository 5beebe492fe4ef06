/* SPDX-License-Identifier: GPL-3.0-or-later */
/* energy.c - the energy of a run, from its operations and the energies of the system's designs.
 *   th_energy_of_run: designs_of_accels -> add_tasks -> { add_accel } -> the run
 *
 *   task         MACs mac_energy + operations vector_energy + bytes on chip buffer_energy
 *                + DRAM bytes dram_energy;  bytes on chip: reads and writes of the array, and
 *                transfers between buffers and DRAM
 *   transfer     bytes dram_energy of the sender and of the receiver + bytes links link_energy
 *   accelerator  its tasks, DRAM bytes of its transfers, static_power elapsed
 *   run          accelerators + links
 * Source and limits: docs/models/energy.md. An accelerator has the energies of the design that it
 * is configured with (its first one, if it computes nothing), also for its vector unit and DRAM. A
 * task counts once it has ended; static power and DRAM bytes count continuously. A layer has its
 * tasks, their transfers, and static power while one of its tasks runs; the rest of the run is idle
 * accelerators, what failures cut short, and collectives. Sums are computed in program order
 * of the tasks, so they do not depend on how the run was executed. */
#include <config.h>

#include "base/alloc.h"
#include "sim/analysis/energy.h"
#include "topology/routing/route.h"

typedef struct {
    const th_energy_source *of;
    th_result *r;
    const th_design_energy **of_accel;
} account;

bool th_energy_is_known(const th_system *s, const th_compute_cost_cache *costs)
{
    bool known = s->link_energy.j_per_byte > 0;
    for (int d = 0; costs && d < s->n_designs; d++)
        known |= th_compute_cost_energy(costs, d)->is_known;
    return known;
}

/* The design that each accelerator is configured with, or could be. */
static void designs_of_accels(const account *a)
{
    static const th_design_energy nothing;
    const th_energy_source *m = a->of;
    for (int i = 0; i < m->system->n_accels; i++) {
        const th_accel *x = &m->system->nodes[m->system->accel_node[i]].a;
        bool has_design = m->costs && x->n_designs > 0;
        a->of_accel[i] = has_design ? th_compute_cost_energy(m->costs, x->designs[0]) : &nothing;
    }
    for (int32_t t = m->program->n_tasks - 1; t >= 0; t--) {
        const th_task *k = &m->program->tasks[t];
        int32_t design = k->kind == TH_TASK_COMPUTE
                             ? th_compute_cost_get(m->costs, k->compute_cost)->design
                             : -1;
        if (design >= 0)
            a->of_accel[m->system->nodes[k->node].accel] = th_compute_cost_energy(m->costs, design);
    }
}

/* --- tasks ------------------------------------------------------------------------------------ */

static double bytes_of(const th_shard *s, th_tensor tensor, int64_t elements)
{
    return (double)elements * th_precision_bits((th_precision)s->precision[tensor]) / 8;
}

static double bytes_on_chip(const th_compute_cost *w)
{
    const th_accesses *x = &w->schedule.accesses;
    const th_schedule_totals *t = &w->total;
    return bytes_of(&w->shard, TH_TENSOR_INPUT, x->input_reads) +
           bytes_of(&w->shard, TH_TENSOR_WEIGHT, x->weight_reads) +
           bytes_of(&w->shard, TH_TENSOR_OUTPUT, x->partial_reads) +
           bytes_of(&w->shard, TH_TENSOR_OUTPUT, x->output_writes) +
           (double)(t->input_bytes + t->weight_bytes + t->partial_bytes + t->output_bytes);
}

static double dram_bytes(const th_pipeline_stats *stats)
{
    return (double)th_stats_read(stats) + (double)stats->moved_bytes[TH_ENGINE_OUTPUT];
}

/* The energy of a compute without static power. */
static th_energy energy_of_compute(const th_compute_cost *w, const th_design_energy *e)
{
    int64_t macs = w->design >= 0 ? th_shard_macs(&w->shard) : 0;
    return (th_energy){.mac_j = (double)macs * e->mac_j[th_shard_mac_precision(&w->shard)],
                       .vector_j = (double)w->vector_operations * e->vector_j,
                       .buffer_j = bytes_on_chip(w) * e->buffer_j_per_byte,
                       .dram_j = dram_bytes(&w->collapsed) * e->dram_j_per_byte};
}

static void add_to_layer(const account *a, int32_t layer, const th_energy *e)
{
    if (layer >= 0 && layer < a->r->n_layers)
        th_energy_add(&a->r->layers[layer].energy, e);
}

static void add_compute(const account *a, const th_task *k, const th_task_result *t)
{
    int accel = a->of->system->nodes[k->node].accel;
    const th_design_energy *e = a->of_accel[accel];
    th_energy x = {0}, *sum = &a->r->accels[accel].energy;
    if (t->end_ps >= 0)
        x = energy_of_compute(th_compute_cost_get(a->of->costs, k->compute_cost), e);
    sum->mac_j += x.mac_j;
    sum->vector_j += x.vector_j;
    sum->buffer_j += x.buffer_j;
    th_time until = t->end_ps >= 0 ? t->end_ps : a->r->elapsed_ps;
    x.static_j = e->static_w * (double)(until - t->start_ps) / (double)TH_PS_PER_S;
    add_to_layer(a, k->layer, &x);
}

static double dram_j_at(const account *a, int32_t node)
{
    int accel = a->of->system->nodes[node].accel;
    return accel >= 0 ? a->of_accel[accel]->dram_j_per_byte : 0;
}

/* For layers only: totals of transfers come from the bytes of accelerators and links. */
static void add_transfer(const account *a, const th_task *k, const th_task_result *t)
{
    int links[TH_ROUTE_MAX];
    double per_link = a->of->system->link_energy.j_per_byte, n = 0;
    if (t->end_ps < 0 || k->layer < 0 || k->layer >= a->r->n_layers)
        return;
    if (per_link > 0)
        n = th_route(a->of->system, k->node, k->peer, links);
    add_to_layer(
        a, k->layer,
        &(th_energy){.dram_j = (double)k->bytes * (dram_j_at(a, k->node) + dram_j_at(a, k->peer)),
                     .link_j = n > 0 ? (double)k->bytes * n * per_link : 0});
}

static void add_tasks(const account *a)
{
    const th_program *p = a->of->program;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        const th_task_result *x = &a->r->tasks[t];
        if (x->start_ps >= 0 && p->tasks[t].kind == TH_TASK_COMPUTE)
            add_compute(a, &p->tasks[t], x);
        else if (p->tasks[t].kind == TH_TASK_TRANSFER)
            add_transfer(a, &p->tasks[t], x);
    }
}

/* --- accelerators and the run ----------------------------------------------------------------- */

static void add_accel(const account *a, int accel)
{
    th_accel_result *x = &a->r->accels[accel];
    const th_design_energy *e = a->of_accel[accel];
    double bytes = dram_bytes(&x->stats) + (double)x->sent_bytes + (double)x->received_bytes;
    x->energy.dram_j = bytes * e->dram_j_per_byte;
    x->energy.static_j = e->static_w * (double)a->r->elapsed_ps / (double)TH_PS_PER_S;
    th_energy_add(&a->r->energy, &x->energy);
}

int th_energy_of_run(const th_energy_source *of, th_result *r, th_error *err)
{
    r->has_energy = th_energy_is_known(of->system, of->costs);
    if (!r->has_energy)
        return 0;
    account a = {of, r, th_alloc_array((size_t)r->n_accels + 1, sizeof *a.of_accel)};
    if (!a.of_accel)
        return th_error_no_memory(err);
    designs_of_accels(&a);
    add_tasks(&a);
    for (int i = 0; i < r->n_accels; i++)
        add_accel(&a, i);
    for (int l = 0; l < r->n_links; l++)
        r->energy.link_j += (double)r->links[l].bytes * of->system->link_energy.j_per_byte;
    th_free(a.of_accel);
    return 0;
}

/* A lower bound of the energy of a task, without discarded weights. */
static double least_of(const account *a, const th_task *k)
{
    int links[TH_ROUTE_MAX];
    double per_link = a->of->system->link_energy.j_per_byte;
    if (k->kind == TH_TASK_TRANSFER)
        return (double)k->bytes *
               (dram_j_at(a, k->node) + dram_j_at(a, k->peer) +
                (per_link > 0 ? per_link * th_route(a->of->system, k->node, k->peer, links) : 0));
    if (k->kind != TH_TASK_COMPUTE)
        return 0;
    th_energy e = energy_of_compute(th_compute_cost_get(a->of->costs, k->compute_cost),
                                    a->of_accel[a->of->system->nodes[k->node].accel]);
    return th_energy_sum(&e);
}

int th_energy_least(const th_energy_source *of, double *dynamic_j, double *static_w, th_error *err)
{
    int n = of->system->n_accels;
    account a = {of, NULL, th_alloc_array((size_t)n + 1, sizeof *a.of_accel)};
    *dynamic_j = *static_w = 0;
    if (!a.of_accel)
        return th_error_no_memory(err);
    designs_of_accels(&a);
    for (int32_t t = 0; t < of->program->n_tasks; t++)
        *dynamic_j += least_of(&a, &of->program->tasks[t]);
    for (int i = 0; i < n; i++)
        *static_w += a.of_accel[i]->static_w;
    th_free(a.of_accel);
    return 0;
}
