/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.c - lower bounds on the makespan, from lower bounds on single layers.
 *
 *   find: bounds of all layers (bounds_layer.c) -> heads and tails (the graph) -> the four
 *     bounds (the cut: bounds_cut.c; heterogeneous accelerators: bounds_price.c) -> what they do
 *     not cover (bounds_unknown.c)
 *
 * head[l]: no task of layer l starts earlier after the release of its pass. end[l]: no part of its
 * output exists earlier. tail[l]: the least time from the end of any task of it to the end of the
 * pass. Over any set of layers, makespan >= least head + work / rate + least tail (the bound of J.
 * Carlier, "The one-machine sequencing problem", EJOR 1982, for all machines together); work is
 * accelerator time, or bytes of DRAM. The proofs are in docs/models/bounds.md. */
#include <config.h>

#include "base/min_max.h"
#include "mapper/evaluate/bounds_chain.h"
#include "mapper/evaluate/bounds_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "mapper/lower/plan_state.h"
#include "topology/routing/route.h"

const char *th_limit_name(th_limit l)
{
    switch (l) {
    case TH_LIMIT_COMPUTE:
        return "compute";
    case TH_LIMIT_MEMORY:
        return "memory";
    case TH_LIMIT_CUT:
        return "cut";
    case TH_LIMIT_PATH:
        return "critical path";
    case TH_N_LIMITS:
        break;
    }
    return NULL;
}

/* --- floors of the layers --- */

static void take_lesser(th_layer_floor *a, const th_layer_floor *b)
{
    for (int out = 0; out < 2; out++)
        a->shortest[out] = fmin(a->shortest[out], b->shortest[out]);
    a->is_by_rate |= b->is_by_rate;
    if (a->unknown == TH_UNKNOWN_NONE) {
        a->unknown = b->unknown;
        a->unknown_design = b->unknown_design;
    }
}

static int find_floor(th_bound_finder *f, int layer, th_error *err)
{
    const th_stream *s = &f->problem->stream;
    int32_t small = f->workload->batch / s->micro_batches,
            n_large = f->workload->batch % s->micro_batches;
    int n_classes = f->floors.n_classes;
    double n = s->n_inputs, n_small = s->micro_batches - n_large,
           *whole = &f->whole[layer * n_classes],
           *whole_large = &f->whole[f->workload->n_layers * n_classes];
    th_layer_floor large = {.occupied = 0}, *least = &f->floor[layer];
    if (th_floors_layer(&f->floors, layer, small, least, whole, err) ||
        (n_large > 0 && th_floors_layer(&f->floors, layer, small + 1, &large, whole_large, err)))
        return -1;
    f->work[layer] = n * (n_small * least->occupied + n_large * large.occupied);
    f->bytes[layer] = n * (n_small * least->dram_bytes + n_large * large.dram_bytes);
    for (int k = 0; k < n_classes; k++)
        whole[k] = n * (n_small * whole[k] + (n_large > 0 ? n_large * whole_large[k] : 0));
    if (n_large > 0)
        take_lesser(least, &large);
    return 0;
}

/* Has it neither external inputs nor outputs to the host? Then its bounds depend on its shape
 * alone. */
static bool is_inner(const th_workload *w, int layer)
{
    for (int i = 0; i < w->layers[layer].n_inputs; i++)
        if (w->layers[layer].inputs[i] == TH_EXTERNAL_INPUT)
            return false;
    return !th_bound_is_output(w, layer);
}

/* Does the mapping of the scope give both the same set and strategy? */
static bool has_same_sharding(const th_mapping *m, int a, int b)
{
    return !m ||
           (m->set_of[a] == m->set_of[b] && th_strategy_equal(&m->strategy[a], &m->strategy[b]));
}

/* The first inner layer of the same shape. */
static int first_equivalent(const th_bound_finder *f, const th_plans *plans, int layer)
{
    const th_workload *w = f->workload;
    const th_mapping *m = f->floors.any_cuts ? f->floors.scope.mapping : NULL;
    int l = 0;
    while (l < layer && (th_plans_shape_class(plans, l) != th_plans_shape_class(plans, layer) ||
                         !is_inner(w, l) || !is_inner(w, layer) || !has_same_sharding(m, l, layer)))
        l++;
    return l;
}

static int find_floors(th_bound_finder *f, th_error *err)
{
    th_plans *plans = th_plans_new(f->system, f->workload, err);
    int failed = plans ? 0 : -1;
    int n = f->floors.n_classes;
    for (int l = 0; !failed && l < f->workload->n_layers; l++) {
        if (f->floors.scope.is_interrupted && f->floors.scope.is_interrupted()) {
            failed = th_error_interrupted(err, "no bound is known");
            break;
        }
        int same = f->same[l] = first_equivalent(f, plans, l);
        if (same == l) {
            failed = find_floor(f, l, err);
        } else {
            f->floor[l] = f->floor[same];
            f->work[l] = f->work[same];
            f->bytes[l] = f->bytes[same];
            memcpy(&f->whole[l * n], &f->whole[same * n], (size_t)n * sizeof *f->whole);
        }
    }
    th_plans_free(plans);
    return failed;
}

/* --- tails --- */

/* A layer that reads all of another one follows every task of it. 0, or -1: memory is out. */
static int find_tails(th_bound_finder *f)
{
    const th_workload *w = f->workload;
    for (int l = w->n_layers - 1; l >= 0; l--) {
        f->tail[l] = th_bound_is_output(w, l) && f->floors.out.exists ? f->floors.out.latency : 0;
        for (int32_t i = w->consumer_start[l]; i < w->consumer_start[l + 1]; i++) {
            const th_layer *c = &w->layers[w->consumers[i]];
            for (int j = 0; j < c->n_inputs; j++) {
                int64_t read = c->inputs[j] == l ? th_bound_elements_read(c, j) : 0;
                if (read < 0)
                    return -1;
                if (read == th_layer_output_elements(&w->layers[l]))
                    f->tail[l] = fmax(f->tail[l], th_bound_remaining_ps(f, w->consumers[i]));
            }
        }
    }
    return 0;
}

static void sort_by_tail(th_bound_finder *f)
{
    for (int l = 0; l < f->workload->n_layers; l++) {
        int at = l;
        for (; at > 0 && f->tail[f->order[at - 1]] < f->tail[l]; at--)
            f->order[at] = f->order[at - 1];
        f->order[at] = l;
    }
}

/* --- compute, memory --- */

/* Layers between two times: those whose head and tail are no less, which all run between head and
 * makespan - tail. */
typedef struct {
    double head, tail;
} window;

/* The maximum over all heads h and tails t of h + (work of the layers with head >= h and tail >=
 * t) / rate + t. *n: the number of these layers; *at (or NULL): h and t. */
static double rate_bound(const th_bound_finder *f, const double *amount, double rate, int *n,
                         window *at)
{
    double most = 0;
    for (int first = 0; first < f->workload->n_layers; first++) {
        double head = f->head[first], sum = 0;
        int count = 0;
        for (int i = 0; i < f->workload->n_layers; i++) {
            int l = f->order[i];
            if (f->head[l] < head)
                continue;
            sum += amount[l];
            count++;
            if (head + sum / rate + f->tail[l] > most) {
                most = head + sum / rate + f->tail[l];
                *n = count;
                if (at)
                    *at = (window){head, f->tail[l]};
            }
        }
    }
    return most;
}

/* For heterogeneous accelerators: by prices, and layer by layer by the rate of all of them
 * together. *n: layers that count. 0 or -1: memory is out. */
static int heterogeneous_bound(const th_bound_finder *f, double *ps, int *n)
{
    int n_layers = f->workload->n_layers, count = 0;
    double *price = th_alloc_zero((size_t)(f->floors.n_classes + n_layers) + 1, sizeof *price),
           *cost = price ? price + f->floors.n_classes : NULL;
    if (!price || th_bound_find_prices(f, price)) {
        th_free(price);
        return -1;
    }
    for (int l = 0; l < n_layers; l++)
        cost[l] = th_bound_priced(f, price, l);
    double most = rate_bound(f, cost, 1, &count, NULL);
    for (int l = 0; l < n_layers; l++) {
        double alone = th_bound_shared(f, l);
        if (alone > 0 && f->head[l] + alone + f->tail[l] > most) {
            most = f->head[l] + alone + f->tail[l];
            count = 1;
        }
    }
    if (most > *ps) {
        *ps = most;
        *n = count;
    }
    th_free(price);
    return 0;
}

/* "; arrays 85 %, DRAM 15 %": of the accelerators' time between head and tail; nothing where
 * that of a layer is not known. */
static void describe_time(const th_bound_finder *f, window at, char *out, size_t size)
{
    double sum = 0, computing = 0;
    for (int l = 0; l < f->workload->n_layers; l++) {
        if (f->head[l] < at.head || f->tail[l] < at.tail)
            continue;
        if (f->floor[l].computing == 0)
            return;
        sum += f->work[l];
        computing += f->work[l] * f->floor[l].computing;
    }
    if (sum > 0)
        snprintf(out, size, "; arrays %.0f %%, DRAM %.0f %%", computing / sum * 100,
                 (1 - computing / sum) * 100);
}

static int find_compute(th_bound_finder *f)
{
    th_bounds *b = f->out;
    double rate = th_floors_speed(&f->floors);
    int n = 0, unknown = 0, n_accels = f->system->n_accels;
    window at = {0};
    for (int l = 0; l < f->workload->n_layers; l++)
        unknown +=
            f->floor[l].unknown != TH_UNKNOWN_NONE && f->floor[l].unknown != TH_UNKNOWN_PARTIAL;
    double ps = rate > 0 ? rate_bound(f, f->work, rate, &n, &at) : 0;
    if (f->floors.n_classes > 1 && heterogeneous_bound(f, &ps, &n))
        return -1;
    b->makespan_ps[TH_LIMIT_COMPUTE] = th_bound_round_up_ps(ps);
    char *why = b->why[TH_LIMIT_COMPUTE];
    char share[60] = "";
    describe_time(f, at, share, sizeof share);
    int length = snprintf(why, sizeof b->why[0], "%d of %d layers on %d accelerator%s%s", n,
                          f->workload->n_layers, n_accels, n_accels == 1 ? "" : "s", share);
    if (unknown > 0)
        snprintf(why + length, sizeof b->why[0] - (size_t)length, "; %d unknown", unknown);
    return 0;
}

static void find_memory(th_bound_finder *f)
{
    th_bounds *b = f->out;
    double bytes_per_ps = 0, sum = 0;
    int n = 0;
    char text[40];
    for (int a = 0; a < f->system->n_accels; a++) {
        const th_accel *x = &f->system->nodes[f->system->accel_node[a]].a;
        bytes_per_ps += x->dram_bits_per_s == TH_UNLIMITED
                            ? INFINITY
                            : (double)x->dram_bits_per_s / 8 / (double)TH_PS_PER_S;
    }
    for (int l = 0; l < f->workload->n_layers; l++)
        sum += f->bytes[l];
    double ps = isinf(bytes_per_ps) ? 0 : rate_bound(f, f->bytes, bytes_per_ps, &n, NULL);
    b->makespan_ps[TH_LIMIT_MEMORY] = th_bound_round_up_ps(ps);
    snprintf(b->why[TH_LIMIT_MEMORY], sizeof b->why[0], "%s through %d DRAMs",
             th_format_bytes((int64_t)fmin(ceil(sum), 0x1p62), text, sizeof text),
             f->system->n_accels);
}

/* --- all --- */

static int allocate(th_bound_finder *f, th_error *err)
{
    size_t n = (size_t)f->workload->n_layers + 1;
    f->floor = th_alloc_zero(n, sizeof *f->floor);
    f->work = th_alloc_zero(n, sizeof *f->work);
    f->whole = th_alloc_zero(n * (size_t)f->floors.n_classes, sizeof *f->whole);
    f->bytes = th_alloc_zero(n, sizeof *f->bytes);
    f->head = th_alloc_zero(n, sizeof *f->head);
    f->end = th_alloc_zero(n, sizeof *f->end);
    f->tail = th_alloc_zero(n, sizeof *f->tail);
    f->same = th_alloc_zero(n, sizeof *f->same);
    f->order = th_alloc_zero(n, sizeof *f->order);
    return f->floor && f->work && f->whole && f->bytes && f->head && f->end && f->tail && f->same &&
                   f->order
               ? 0
               : th_error_no_memory(err);
}

/* Which host links the network model bounds. */
static void set_host_paths(th_bound_finder *f)
{
    th_bound_physics how = th_bound_physics_of(f->problem);
    f->floors.in.exists &= how != TH_BOUND_NO_LINKS && how != TH_BOUND_SERIAL;
    f->floors.out.exists &= how != TH_BOUND_NO_LINKS && how != TH_BOUND_SERIAL;
    f->in_ps_per_byte = f->floors.in.ps_per_byte;
    int readings = 0;
    for (int l = 0; l < f->workload->n_layers; l++)
        for (int i = 0; i < f->workload->layers[l].n_inputs; i++)
            readings += f->workload->layers[l].inputs[i] == TH_EXTERNAL_INPUT;
    if (how == TH_BOUND_FREE_LINKS &&
        readings > 1) /* transfers of several readers may overlap fully */
        f->floors.in.ps_per_byte = 0;
}

static void finish(th_bound_finder *f)
{
    th_bounds *b = f->out;
    for (int i = 0; i < TH_N_LIMITS; i++) {
        b->interval_ps[i] = b->makespan_ps[i] / f->problem->stream.n_inputs;
        if (b->makespan_ps[i] > b->makespan_ps[b->largest])
            b->largest = (th_limit)i;
    }
}

static int find(th_bound_finder *f, th_error *err)
{
    set_host_paths(f);
    if (allocate(f, err) || find_floors(f, err))
        return -1;
    if (th_bound_find_chain(f, err))
        return -1;
    if (find_tails(f))
        return th_error_no_memory(err);
    sort_by_tail(f);
    if (find_compute(f))
        return th_error_no_memory(err);
    find_memory(f);
    if (th_bound_find_cut(f, err))
        return -1;
    finish(f);
    return th_bound_list_unknown(f) ? th_error_no_memory(err) : 0;
}

th_cuts th_bounds_cuts_of(const th_mapping *m)
{
    for (int i = 0; i < m->n_sets; i++)
        if (m->sets[i].shares)
            return TH_CUTS_ANY;
    return TH_CUTS_EVEN;
}

int th_bounds_chunks_of(const th_mapping *m)
{
    int most = 1;
    for (int l = 0; l < m->n_layers; l++)
        most = th_max(most, th_shard_chunks(&m->strategy[l]));
    return most;
}

static void clear(th_bound_finder *f)
{
    th_floors_clear(&f->floors);
    th_free(f->floor);
    th_free(f->work);
    th_free(f->whole);
    th_free(f->bytes);
    th_free(f->head);
    th_free(f->end);
    th_free(f->tail);
    th_free(f->same);
    th_free(f->order);
}

int th_bounds_find(const th_problem *p, const th_bounds_scope *scope, th_bounds *out, th_error *err)
{
    th_bound_finder f = {.problem = p, .workload = p->workload, .system = p->system, .out = out};
    *out = (th_bounds){.largest = TH_LIMIT_COMPUTE};
    if (th_stream_check(&p->stream, p->workload, err))
        return -1;
    int failed = th_floors_init(&f.floors, p, scope, err);
    if (!failed)
        failed = find(&f, err);
    clear(&f);
    if (failed)
        th_bounds_clear(out);
    return failed;
}

double th_bounds_value(const th_bounds *b, const th_problem *p)
{
    bool is_sole = p->stream.n_inputs == 1;
    if (p->goal.n_front > 0)
        return 0;
    switch (p->objective) {
    case TH_OBJECTIVE_LATENCY:
        return (double)b->makespan_ps[b->largest];
    case TH_OBJECTIVE_THROUGHPUT:
        return is_sole ? (double)b->makespan_ps[b->largest] : 0;
    case TH_OBJECTIVE_ENERGY:
    case TH_OBJECTIVE_EDP:
    case TH_OBJECTIVE_WEIGHTED:
        break;
    }
    return 0;
}

bool th_bounds_met(double value, double bound)
{
    static const double SLACK = 1e-9;
    return bound > 0 && value <= bound * (1 + SLACK);
}
