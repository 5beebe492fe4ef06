/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_layer.c - lower bounds on one layer: enumerates all ways to split it and the tasks of
 * each.
 *
 *   init -> layer: { strategy by strategy { position by position { task by task } } } -> clear
 *
 * Tasks: bounds_task.c. Layers with more tasks than TASKS_MAX (on large
 * systems), and all layers where cuts need not be even (sets with shares), are bounded by peak
 * rates alone: bounds_rate.c.
 * Tasks of single shards: bounds_shard.c. Proofs: docs/models/bounds.md. */
#include <config.h>

#include "mapper/evaluate/bounds_layer.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/evaluate/bounds_task.h"
#include "mapper/lower/plan_state.h"
#include "mapper/strategies.h"
#include "sim/design/script_memo.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

enum {
    TASKS_MAX = 200000
}; /* tasks of all strategies of a layer that are enumerated, a fraction of a second */

/* --- life --- */

static bool same_designs(const th_accel *a, const th_accel *b)
{
    return a->n_designs == b->n_designs &&
           memcmp(a->designs, b->designs, (size_t)a->n_designs * sizeof *a->designs) == 0;
}

static void find_classes(th_floors *f)
{
    const th_system *s = f->system;
    for (int a = 0; a < s->n_accels; a++) {
        int c = 0;
        while (c < f->n_classes &&
               (th_compute_cost_memory_class(f->costs, a) !=
                    th_compute_cost_memory_class(f->costs, f->first_of[c]) ||
                !same_designs(&s->nodes[s->accel_node[a]].a, th_floors_accel(f, c)) ||
                (f->scope.clock && f->scope.clock[a] != th_floors_clock(f, c))))
            c++;
        if (c == f->n_classes)
            f->first_of[f->n_classes++] = a;
        f->class_of[a] = c;
        f->size_of[c]++;
    }
}

/* Lowers the route's bandwidth to that of its slowest link in the run. 0; or -1: memory is out. */
static int narrow(const th_floors *f, int from, int to, th_route_summary *r)
{
    int links[TH_ROUTE_MAX], n = f->scope.bandwidth ? th_route(f->system, from, to, links) : 0;
    for (int i = 0; i < n; i++) {
        int32_t medium = f->system->links[links[i]].medium;
        double bits = (double)f->system->media[medium].bits_per_s * f->scope.bandwidth[medium];
        r->bits_per_s = bits < (double)r->bits_per_s ? (int64_t)ceil(bits) : r->bits_per_s;
    }
    return n < 0 ? -1 : 0;
}

static void improve_path(th_host_path *w, const th_route_summary *r, bool has_stripes)
{
    double ps_per_byte = has_stripes ? 0 : 8 * (double)TH_PS_PER_S / (double)r->bits_per_s;
    if (!w->exists || (double)r->latency_ps < w->latency)
        w->latency = (double)r->latency_ps;
    if (!w->exists || ps_per_byte < w->ps_per_byte)
        w->ps_per_byte = ps_per_byte;
    w->exists = true;
}

/* The fastest between any accelerator and its host. 0 or -1. */
static int find_host_paths(th_floors *f, const th_plans *plans)
{
    const th_system *s = f->system;
    th_route_summary r;
    for (int a = 0; a < s->n_accels; a++) {
        int host = th_plans_host_of(plans, a);
        if (host < 0)
            continue;
        int there = th_route_summarize(s, host, s->accel_node[a], &r);
        if (there == 0 && (there = narrow(f, host, s->accel_node[a], &r)) == 0)
            improve_path(&f->in, &r, th_has_stripes(s));
        int back = there == 0 ? th_route_summarize(s, s->accel_node[a], host, &r) : 0;
        if (back == 0 && (back = narrow(f, s->accel_node[a], host, &r)) == 0)
            improve_path(&f->out, &r, th_has_stripes(s));
        if (there < 0 || back < 0)
            return -1;
    }
    return 0;
}

/* Do accelerators differ in what searches distinguish: designs and memories, not clocks of a
 * run? */
static bool is_heterogeneous(const th_floors *f)
{
    const th_system *s = f->system;
    for (int a = 1; a < s->n_accels; a++)
        if (th_compute_cost_memory_class(f->costs, a) !=
                th_compute_cost_memory_class(f->costs, 0) ||
            !same_designs(&s->nodes[s->accel_node[a]].a, &s->nodes[s->accel_node[0]].a))
            return true;
    return false;
}

static int allocate(th_floors *f, th_error *err)
{
    size_t n = (size_t)f->system->n_accels + 1;
    f->class_of = th_alloc_zero(n, sizeof *f->class_of);
    f->first_of = th_alloc_zero(n, sizeof *f->first_of);
    f->size_of = th_alloc_zero(n, sizeof *f->size_of);
    f->speed = th_alloc_zero(n, sizeof *f->speed);
    f->numbers = th_map_new();
    return f->class_of && f->first_of && f->size_of && f->speed && f->numbers
               ? 0
               : th_error_no_memory(err);
}

int th_floors_init(th_floors *f, const th_problem *p, const th_bounds_scope *scope, th_error *err)
{
    *f = (th_floors){.system = p->system, .workload = p->workload, .scope = *scope};
    if (p->system->transfers_serially)
        f->scope.chunks = 0; /* there are none */
    f->costs = th_compute_cost_cache_new(f->system, err);
    if (!f->costs || allocate(f, err))
        return -1;
    f->any_cuts =
        scope->cuts == TH_CUTS_ANY || (scope->cuts == TH_CUTS_OF_SEARCHES && is_heterogeneous(f));
    if (p->scripts && th_compute_cost_set_scripts(f->costs, p->scripts, NULL) == 0)
        f->calls_scripts = true;
    find_classes(f);
    th_plans *plans = th_plans_new(f->system, f->workload, err);
    int failed = !plans ? -1 : find_host_paths(f, plans) ? th_error_no_memory(err) : 0;
    th_plans_free(plans);
    return failed;
}

void th_floors_clear(th_floors *f)
{
    th_compute_cost_cache_free(f->costs);
    th_free(f->class_of);
    th_free(f->first_of);
    th_free(f->size_of);
    th_free(f->speed);
    th_map_free(f->numbers);
    th_free(f->tasks);
    th_free(f->task_ps);
}

double th_floors_speed(const th_floors *f)
{
    double sum = 0;
    for (int a = 0; a < f->system->n_accels; a++)
        sum += f->n_classes == 1 ? 1 : f->speed[f->class_of[a]];
    return sum;
}

/* --- layers --- */

typedef struct {
    th_floors *floors;
    const th_layer *layer;
    int32_t batch;
    bool is_output;
    double *whole; /* th_floors_layer */
    double all;    /* iterations of its loops */
    th_layer_floor *out;
} maker;

static double bytes_of(const th_box *box, th_precision p)
{
    return (double)th_tensor_bytes(th_box_elements(box), p);
}

/* A position of a strategy, or one of its chunks (0 without chunks). */
typedef struct {
    const th_strategy *strategy;
    int position, chunk;
    th_loop_box loops; /* of the chunk, all phases */
} piece;

/* Of a set of n; pieces are numbered chunk by chunk. */
static piece piece_of(const maker *k, const th_strategy *s, int n, int i)
{
    piece x = {s, i % n, i / n, {{0}, {0}}};
    x.loops = th_shard_chunk_loops(k->layer, k->batch, s, NULL, x.position, x.chunk);
    return x;
}

static double departure_of(const maker *k, const piece *x)
{
    const th_host_path *out = &k->floors->out;
    if (!k->is_output || !out->exists)
        return 0;
    th_box held = th_shard_held(k->layer, k->batch, x->strategy, NULL, x->position, x->chunk);
    double bytes = bytes_of(&held, k->layer->precision[TH_TENSOR_OUTPUT]);
    return bytes > 0 ? out->latency + bytes * out->ps_per_byte : 0;
}

/* Iterations of its loops, but for hidden scores: those of shards add up to the layer's. */
static double amount_of(const th_layer *l, const th_loop_box *loops)
{
    double volume = 1;
    for (int d = 0; d < TH_N_DIMS; d++)
        volume *= d == TH_DIM_H && l->kind == TH_LAYER_ATTENTION
                      ? (double)th_layer_scores(l, loops->lo[d], loops->hi[d])
                      : loops->hi[d] - loops->lo[d];
    return volume;
}

/* Lowers whole: the time of the layer cut into shards like this one is the shard's time times
 * their number. */
static void lower_whole(maker *k, int64_t number, double amount)
{
    const double *ps = &k->floors->task_ps[number * k->floors->n_classes];
    for (int c = 0; amount > 0 && c < k->floors->n_classes; c++)
        k->whole[c] = fmin(k->whole[c], ps[c] * (k->all / amount));
}

/* Of one of its phases. */
static th_loop_box loops_of(const maker *k, const piece *x, int phase)
{
    return x->strategy->rotate == TH_NO_ROTATION
               ? x->loops
               : th_shard_phase_loops(k->layer, k->batch, x->strategy, NULL, x->position, phase);
}

/* Of the tasks of a position or chunk, or of all of them. */
typedef struct {
    double occupied, computing, dram_bytes;
} task_sums;

/* Adds its tasks. 0; 1: no accelerator can run one of them; -1: memory is out. */
static int add_tasks(maker *k, const piece *x, task_sums *sums)
{
    int phases = th_shard_phases(k->layer, x->strategy);
    for (int phase = 0; phase < phases; phase++) {
        th_loop_box loops = loops_of(k, x, phase);
        th_shard shard = th_plan_shard(k->layer, &loops);
        int64_t number = th_floors_number(k->floors, &shard);
        if (number < 0)
            return -1;
        const struct th_task_floor *t = &k->floors->tasks[number];
        lower_whole(k, number, amount_of(k->layer, &loops));
        if (t->occupied == INFINITY)
            return 1;
        if (t->unknown != TH_UNKNOWN_NONE) {
            k->out->unknown = t->unknown;
            k->out->unknown_design = t->unknown_design;
        }
        sums->occupied += t->occupied;
        sums->computing += t->computing;
        sums->dram_bytes += t->dram_bytes;
    }
    return 0;
}

/* One way to split the layer. 0; 1: no accelerator can run it; -1: memory is out. */
static int add_strategy(maker *k, const th_strategy *s, int n)
{
    th_layer_floor found = *k->out;
    task_sums all = {0};
    for (int i = 0; i < n * th_shard_chunks(s); i++) {
        task_sums own = {0};
        const piece x = piece_of(k, s, n, i);
        int status = add_tasks(k, &x, &own);
        if (status != 0)
            return status;
        all.occupied += own.occupied;
        all.computing += own.computing;
        all.dram_bytes += own.dram_bytes;
        found.shortest[0] = fmin(found.shortest[0], own.occupied);
        found.shortest[1] = fmin(found.shortest[1], own.occupied + departure_of(k, &x));
    }
    found.unknown = k->out->unknown;
    found.unknown_design = k->out->unknown_design;
    if (all.occupied < found.occupied) {
        found.occupied = all.occupied;
        found.computing = all.computing / all.occupied;
    }
    found.dram_bytes = fmin(found.dram_bytes, all.dram_bytes);
    *k->out = found;
    return 0;
}

/* Tasks of a split in all chunks that it can have, for sets of n. */
static int64_t count_chunks(const maker *k, th_strategy s, int n)
{
    int64_t sum = 0;
    for (int d = 0; s.rotate == TH_NO_ROTATION && d < TH_N_DIMS; d++)
        for (int chunks = 2; chunks <= k->floors->scope.chunks; chunks++) {
            th_strategy_set_chunks(&s, chunks, d);
            sum += th_strategy_fits(&s, k->layer, k->batch, n) ? (int64_t)n * chunks : 0;
        }
    return sum;
}

/* Tasks of all strategies of sets of n, added to *n_tasks. 0 or -1. */
static int count_tasks(const maker *k, int n, int64_t *n_tasks)
{
    th_strategy *list = NULL;
    int count = th_strategies_list_all(k->layer, k->batch, n, &list);
    for (int i = 0; i < count; i++)
        *n_tasks += n * th_shard_phases(k->layer, &list[i]) + count_chunks(k, list[i], n);
    th_free(list);
    return count < 0 ? -1 : 0;
}

/* The same split in all chunks that it can have. As add_strategy. */
static int add_chunked(maker *k, th_strategy s, int n)
{
    int status = 0;
    for (int d = 0; status >= 0 && s.rotate == TH_NO_ROTATION && d < TH_N_DIMS; d++)
        for (int chunks = 2; status >= 0 && chunks <= k->floors->scope.chunks; chunks++) {
            th_strategy_set_chunks(&s, chunks, d);
            if (th_strategy_fits(&s, k->layer, k->batch, n))
                status = add_strategy(k, &s, n);
        }
    return status;
}

/* All strategies of sets of n. 0 or -1. */
static int add_sets_of(maker *k, int n)
{
    th_strategy *list = NULL;
    int count = th_strategies_list_all(k->layer, k->batch, n, &list), status = count < 0 ? -1 : 0;
    for (int i = 0; status >= 0 && i < count; i++)
        if ((status = add_strategy(k, &list[i], n)) >= 0)
            status = add_chunked(k, list[i], n);
    th_free(list);
    return status < 0 ? -1 : 0;
}

/* The shards that the mapping of the scope makes, whatever their sizes. 0 or -1. */
static int add_shards_of_mapping(maker *k, int layer)
{
    const th_mapping *m = k->floors->scope.mapping;
    const th_set *set = &m->sets[m->set_of[layer]];
    const th_strategy *s = &m->strategy[layer];
    const int phases = th_shard_phases(k->layer, s), chunks = th_shard_chunks(s);
    for (int r = 0; r < set->n_accels; r++)
        for (int i = 0; i < phases * chunks; i++) {
            th_loop_box loops =
                chunks > 1 ? th_shard_chunk_loops(k->layer, k->batch, s, set->shares, r, i)
                           : th_shard_phase_loops(k->layer, k->batch, s, set->shares, r, i);
            th_shard shard = th_plan_shard(k->layer, &loops);
            int64_t number = th_floors_number(k->floors, &shard);
            if (number < 0)
                return -1;
            lower_whole(k, number, amount_of(k->layer, &loops));
        }
    return 0;
}

/* Must shards be enumerated: because cuts are even, or because a design has no peak rate? */
static bool needs_shards(const th_floors *f, const th_shard *whole)
{
    bool needs = false;
    for (int c = 0; f->scope.mapping && c < f->n_classes; c++)
        needs |= th_bound_design_without_rate(f, c, whole) >= 0;
    return needs || !f->any_cuts;
}

/* Enumerates all even cuts, if they are not too many. 1: they are; 0 or -1. */
static int add_even_cuts(maker *k)
{
    int64_t n_tasks = 0;
    int failed = 0, n_accels = k->floors->system->n_accels;
    for (int n = 1; !failed && n_tasks <= TASKS_MAX && n <= n_accels; n++)
        failed = count_tasks(k, n, &n_tasks);
    for (int n = 1; !failed && n_tasks <= TASKS_MAX && n <= n_accels; n++)
        failed = add_sets_of(k, n);
    return failed ? -1 : n_tasks > TASKS_MAX;
}

static int find_layer(maker *k, int layer)
{
    th_floors *f = k->floors;
    th_loop_box loops = th_layer_loops(k->layer);
    loops.hi[TH_DIM_B] = k->batch;
    th_shard whole = th_plan_shard(k->layer, &loops);
    k->all = amount_of(k->layer, &loops);
    int status = needs_shards(f, &whole) ? add_even_cuts(k) : 1;
    if (status == 0 && f->any_cuts && f->scope.mapping)
        status = add_shards_of_mapping(k, layer);
    if (status < 0)
        return -1;
    if (f->any_cuts || status == 1)
        th_bound_layer_by_rate(f, &whole, status == 0, k->out, k->whole);
    else if (k->out->occupied == INFINITY) /* no accelerator can run it */
        *k->out = (th_layer_floor){.unknown = TH_UNKNOWN_NO_ACCELERATOR, .unknown_design = -1};
    return 0;
}

int th_floors_layer(th_floors *f, int layer, int32_t batch, th_layer_floor *out, double *whole,
                    th_error *err)
{
    maker k = {.floors = f,
               .layer = &f->workload->layers[layer],
               .batch = batch,
               .is_output = th_bound_is_output(f->workload, layer),
               .whole = whole,
               .out = out};
    for (int c = 0; c < f->n_classes; c++)
        whole[c] = INFINITY;
    *out = (th_layer_floor){.occupied = INFINITY,
                            .dram_bytes = INFINITY,
                            .shortest = {INFINITY, INFINITY},
                            .unknown_design = -1};
    int failed = find_layer(&k, layer);
    if (f->was_interrupted)
        return th_error_interrupted(err, "bounds are not known");
    return failed ? th_error_no_memory(err) : 0;
}
