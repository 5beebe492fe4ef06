/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_checks.c - see replay_checks.h. */
#include <config.h>
#include "tests/unit/replay_checks.h"
#include "base/alloc.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/energy.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"

th_result result_of(const world *w, const th_machine *m)
{
    th_result r;
    CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &r, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(
        th_energy_of_run(&(th_energy_source){w->system, w->costs, w->program}, &r, NULL), 0);
    return r;
}

static bool same_energy(const th_energy *a, const th_energy *b)
{
    return a->mac_j == b->mac_j && a->vector_j == b->vector_j && a->buffer_j == b->buffer_j &&
           a->dram_j == b->dram_j && a->static_j == b->static_j && a->link_j == b->link_j;
}

static bool same_accel(const th_accel_result *a, const th_accel_result *b)
{
    return a->stats.busy_ps == b->stats.busy_ps &&
           th_stats_stall_in(&a->stats) == th_stats_stall_in(&b->stats) &&
           a->stats.stall_ps[TH_ENGINE_OUTPUT] == b->stats.stall_ps[TH_ENGINE_OUTPUT] &&
           a->idle_ps == b->idle_ps && th_stats_read(&a->stats) == th_stats_read(&b->stats) &&
           a->stats.moved_bytes[TH_ENGINE_OUTPUT] == b->stats.moved_bytes[TH_ENGINE_OUTPUT] &&
           a->sent_bytes == b->sent_bytes && a->received_bytes == b->received_bytes &&
           a->n_tasks == b->n_tasks && same_energy(&a->energy, &b->energy);
}

static bool same_task(const th_task_result *a, const th_task_result *b)
{
    return a->start_ps == b->start_ps && a->end_ps == b->end_ps && a->ready_ps == b->ready_ps &&
           a->cause == b->cause;
}

static bool same_stats(const th_pipeline_stats *a, const th_pipeline_stats *b)
{
    bool same = a->busy_ps == b->busy_ps;
    for (int e = 0; e < TH_N_ENGINES; e++)
        same &= a->stall_ps[e] == b->stall_ps[e] && a->moved_bytes[e] == b->moved_bytes[e];
    return same;
}

static bool same_layer(const th_layer_result *a, const th_layer_result *b)
{
    bool same = same_stats(&a->stats, &b->stats) && a->n_accels == b->n_accels &&
                a->n_tasks == b->n_tasks && a->start_ps == b->start_ps && a->end_ps == b->end_ps &&
                a->active_ps == b->active_ps && a->idle_ps == b->idle_ps && a->macs == b->macs &&
                a->array_cycles == b->array_cycles && a->vector_cycles == b->vector_cycles &&
                a->vector_operations == b->vector_operations && a->compute_s == b->compute_s &&
                a->memory_s == b->memory_s && same_energy(&a->energy, &b->energy) &&
                a->variant == b->variant &&
                memcmp(&a->accesses, &b->accesses, sizeof a->accesses) == 0;
    for (int e = 0; e < TH_N_ENGINES; e++)
        same &= a->port_s[e] == b->port_s[e];
    return same;
}

/* Everything but the number of expansions. */
int differences(const th_result *a, const th_result *b)
{
    int n = a->elapsed_ps != b->elapsed_ps || a->is_done != b->is_done ||
            a->n_layers != b->n_layers || !same_energy(&a->energy, &b->energy) ||
            a->n_events != b->n_events || a->n_tasks != b->n_tasks || a->n_inputs != b->n_inputs;
    for (int i = 0; i < a->n_accels; i++)
        n += !same_accel(&a->accels[i], &b->accels[i]);
    for (int i = 0; i < a->n_links; i++)
        n += a->links[i].bytes != b->links[i].bytes || a->links[i].busy_ps != b->links[i].busy_ps;
    for (int i = 0; !n && i < a->n_tasks; i++)
        n += !same_task(&a->tasks[i], &b->tasks[i]);
    for (int i = 0; !n && i < a->n_layers; i++)
        n += !same_layer(&a->layers[i], &b->layers[i]);
    for (int i = 0; !n && i < a->n_inputs; i++)
        n += a->input_end_ps[i] != b->input_end_ps[i];
    return n;
}

/* What layers did adds up to what accelerators did; all tasks that compute have a layer here. */
static int layer_breaches(const th_result *r)
{
    int wrong = r->n_layers < 1;
    th_pipeline_stats by_layer = {0}, by_accel = {0};
    int64_t tasks = 0;
    for (int a = 0; a < r->n_accels; a++) {
        th_stats_add(&by_accel, &r->accels[a].stats);
        tasks += r->accels[a].n_tasks;
    }
    for (int i = 0; i < r->n_layers; i++) {
        const th_layer_result *l = &r->layers[i];
        th_stats_add(&by_layer, &l->stats);
        tasks -= l->n_tasks;
        wrong += l->idle_ps < 0 || l->active_ps < 0 || l->active_ps > r->elapsed_ps - l->start_ps ||
                 th_stats_occupied(&l->stats) + l->idle_ps != l->n_accels * l->active_ps;
        wrong += r->is_done && l->active_ps > l->end_ps - l->start_ps;
    }
    return wrong + !same_stats(&by_layer, &by_accel) + (tasks != 0);
}

/* The run is its accelerators and links; its tasks' layers have no more than that. */
static int energy_breaches(const th_result *r)
{
    double accels = 0, layers = 0, run = th_result_energy_j(r), most = run * (1 + 1e-9);
    for (int a = 0; a < r->n_accels; a++)
        accels += th_energy_sum(&r->accels[a].energy);
    for (int i = 0; i < r->n_layers; i++)
        layers += th_energy_sum(&r->layers[i].energy);
    int wrong = !r->has_energy || accels + r->energy.link_j > most ||
                accels + r->energy.link_j < run * (1 - 1e-9) || layers > most;
    return wrong + (r->is_done && run <= 0);
}

/* What holds for every result. Bytes over links are those of the transfers on their routes. */
int breaches(const world *w, const th_result *r)
{
    int n = 0;
    int64_t sent = 0, received = 0;
    static int64_t on_link[1000];
    memset(on_link, 0, sizeof on_link);
    for (int a = 0; a < r->n_accels; a++) {
        const th_accel_result *x = &r->accels[a];
        n += x->stats.busy_ps + th_stats_stall_in(&x->stats) + x->stats.stall_ps[TH_ENGINE_OUTPUT] +
                     x->idle_ps !=
                 r->elapsed_ps ||
             x->idle_ps < 0 || x->stats.busy_ps < 0 || th_stats_stall_in(&x->stats) < 0 ||
             x->stats.stall_ps[TH_ENGINE_OUTPUT] < 0;
        sent += x->sent_bytes;
        received += x->received_bytes;
    }
    for (int32_t t = 0; t < r->n_tasks; t++) {
        const th_task *k = &w->program->tasks[t];
        int links[TH_ROUTE_MAX];
        if (k->kind != TH_TASK_TRANSFER || r->tasks[t].end_ps < 0)
            continue;
        sent -= w->system->nodes[k->node].accel >= 0 ? k->bytes : 0;
        received -= w->system->nodes[k->peer].accel >= 0 ? k->bytes : 0;
        for (int i = th_route(w->system, k->node, k->peer, links) - 1; i >= 0; i--)
            on_link[links[i]] += k->bytes;
    }
    for (int l = 0; l < r->n_links; l++)
        n += r->links[l].bytes != on_link[l] || r->links[l].busy_ps > r->elapsed_ps;
    return n + (sent != 0) + (received != 0) + layer_breaches(r) + energy_breaches(r);
}

/* Waits and durations, each entry after the one before it, add up to the makespan. */
int path_breaches(const th_result *r)
{
    th_path_entry *path;
    int n = th_critical_path(r, &path, NULL), wrong = n < 0;
    th_time at = 0;
    for (int i = 0; i < n; i++) {
        wrong += path[i].wait_ps < 0 || path[i].start_ps != at + path[i].wait_ps ||
                 path[i].end_ps < path[i].start_ps;
        at += path[i].wait_ps + path[i].end_ps - path[i].start_ps;
    }
    th_free(path);
    return wrong + (at != r->elapsed_ps);
}

/* One that takes its turn: accelerators and hosts run one at a time. */
static bool is_queued(const th_task *k)
{
    return k->kind == TH_TASK_COMPUTE || (k->kind == TH_TASK_HOST && k->node >= 0);
}

/* Tasks start when ready or later, an accelerator or host runs one at a time, an idle one does not
 * wait. */
int order_breaches(const world *w, const th_result *r)
{
    int wrong = 0;
    for (int i = 0; i < n_edges; i++)
        wrong += r->tasks[edges[i][0]].start_ps < r->tasks[edges[i][1]].end_ps;
    for (int32_t t = 0; t < r->n_tasks; t++) {
        const th_task_result *x = &r->tasks[t];
        const th_task *k = &w->program->tasks[t];
        wrong += x->start_ps < x->ready_ps || x->end_ps < x->start_ps;
        wrong += !is_queued(k) && x->start_ps != x->ready_ps;
        wrong += k->kind == TH_TASK_HOST && x->start_ps < k->release_ps;
        if (!is_queued(k))
            continue;
        th_time took = x->end_ps - x->start_ps;
        wrong += k->kind == TH_TASK_HOST
                     ? took != k->delay_ps
                     : took < th_compute_cost_get(w->costs, k->compute_cost)->collapsed_ps;
        bool has_follower = x->start_ps == x->ready_ps; /* else something ended when it started */
        for (int32_t o = 0; o < r->n_tasks; o++) {
            const th_task *other = &w->program->tasks[o];
            if (o == t || !is_queued(other) || other->node != k->node)
                continue;
            wrong += r->tasks[o].start_ps < x->end_ps && x->start_ps < r->tasks[o].end_ps;
            has_follower |= r->tasks[o].end_ps == x->start_ps;
            /* of two that wait, the lower number goes first */
            wrong +=
                o < t && r->tasks[o].ready_ps <= x->start_ps && r->tasks[o].start_ps > x->start_ps;
        }
        wrong += !has_follower;
    }
    return wrong;
}
