/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.c - metrics computed from the times of a run. */
#include <config.h>

#include "sim/program/result.h"

#include <math.h>

#include "base/alloc.h"
#include "base/sort_by_time.h"

void th_result_clear(th_result *r)
{
    th_free(r->accels);
    th_free(r->links);
    th_free(r->tasks);
    th_free(r->fault_ps);
    th_free(r->layers);
    th_free(r->input_end_ps);
    *r = (th_result){0};
}

int th_tasks_by_start(const th_result *r, int32_t **order, int32_t *n)
{
    size_t tasks = (size_t)r->n_tasks + 1;
    th_timed *begun = th_alloc_array(tasks, sizeof *begun),
             *scratch = th_alloc_array(tasks, sizeof *scratch);
    *order = th_alloc_array(tasks, sizeof **order);
    *n = 0;
    bool is_there = begun && scratch && *order;
    if (is_there) {
        for (int32_t t = 0; t < r->n_tasks; t++)
            if (r->tasks[t].start_ps >= 0)
                begun[(*n)++] = (th_timed){r->tasks[t].start_ps, t};
        th_sort_by_time(begun, (size_t)*n, scratch);
        for (int32_t i = 0; i < *n; i++)
            (*order)[i] = begun[i].number;
    } else {
        th_free(*order);
        *order = NULL;
    }
    th_free(begun);
    th_free(scratch);
    return is_there ? 0 : -1;
}

int32_t th_throughput_counted(int32_t n, int32_t wave)
{
    int32_t half = n - n / 2, whole = wave > 1 ? half / wave * wave : half;
    return whole > 0 ? whole : n;
}

double th_energy_sum(const th_energy *e)
{
    return e->mac_j + e->vector_j + e->buffer_j + e->dram_j + e->static_j + e->link_j;
}

void th_energy_add(th_energy *sum, const th_energy *e)
{
    sum->mac_j += e->mac_j;
    sum->vector_j += e->vector_j;
    sum->buffer_j += e->buffer_j;
    sum->dram_j += e->dram_j;
    sum->static_j += e->static_j;
    sum->link_j += e->link_j;
}

double th_result_energy_j(const th_result *r)
{
    return th_energy_sum(&r->energy);
}

double th_result_throughput(const th_result *r)
{
    int32_t n = r->n_inputs, counted = th_throughput_counted(n, r->wave);
    th_time last = n > 0 ? r->input_end_ps[n - 1] : 0;
    th_time since = counted < n ? r->input_end_ps[n - counted - 1] : 0;
    return last > since ? counted * (double)TH_PS_PER_S / (double)(last - since) : 0;
}

double th_result_link_utilization(const th_result *r)
{
    double sum = 0;
    int n = 0;
    for (int l = 0; l < r->n_links; l++) {
        sum += (double)r->links[l].busy_ps;
        n += r->links[l].busy_ps > 0;
    }
    return n > 0 && r->elapsed_ps > 0 ? sum / n / (double)r->elapsed_ps : 0;
}

double th_result_accel_utilization(const th_result *r)
{
    double sum = 0;
    for (int a = 0; a < r->n_accels; a++)
        sum += (double)r->accels[a].stats.busy_ps;
    return r->n_accels > 0 && r->elapsed_ps > 0 ? sum / r->n_accels / (double)r->elapsed_ps : 0;
}

/* --- layers ----------------------------------------------------------------------------------- */

th_bound th_layer_bound(const th_layer_result *l)
{
    const double spent[] = {
        [TH_BOUND_COMPUTE] = th_seconds(l->stats.busy_ps),
        [TH_BOUND_MEMORY] = l->memory_s,
        [TH_BOUND_INPUT_PORT] = l->port_s[TH_ENGINE_INPUT],
        [TH_BOUND_WEIGHT_PORT] = l->port_s[TH_ENGINE_WEIGHT],
        [TH_BOUND_PARTIAL_PORT] = l->port_s[TH_ENGINE_PARTIAL],
        [TH_BOUND_OUTPUT_PORT] = l->port_s[TH_ENGINE_OUTPUT],
        [TH_BOUND_WAITING] = th_seconds(l->idle_ps),
    };
    th_bound most = TH_BOUND_NONE;
    for (int b = TH_BOUND_COMPUTE; b <= TH_BOUND_WAITING; b++)
        if (spent[b] > (most == TH_BOUND_NONE ? 0 : spent[most]))
            most = (th_bound)b;
    return most;
}

const char *th_bound_name(th_bound b)
{
    static const char *const names[] = {"none",        "compute",      "memory",      "input port",
                                        "weight port", "partial port", "output port", "waiting"};
    return names[b];
}

double th_layer_roofline_s(const th_layer_result *l)
{
    double all = l->compute_s > l->memory_s ? l->compute_s : l->memory_s;
    return l->n_accels > 0 ? all / l->n_accels : 0;
}

double th_layer_roofline_distance(const th_layer_result *l)
{
    double least = th_layer_roofline_s(l);
    return least > 0 ? th_seconds(l->active_ps) / least : 0;
}

double th_layer_utilization(const th_layer_result *l)
{
    double at_hand = th_seconds(l->active_ps) * l->n_accels;
    return l->macs > 0 && isfinite(l->peak_s) && at_hand > 0 ? l->peak_s / at_hand : -1;
}
