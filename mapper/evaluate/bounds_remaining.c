/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_remaining.c - a lower bound on the time from a layer, with given set and strategy, to the
 * end of its pass.
 *
 *   after: kept value | the first reader: every set and strategy that it may have -> their
 *     bounds after each position -> the least
 *
 * The first reader of a layer runs on any set; what both have keeps its design. For each of its
 * placements, a position that receives data of position r begins no sooner
 * than that transfer ends, takes its longest path, and is followed by the remaining time of its own
 * layer. The bound after r is the greatest of these over the reader's positions, and the least over
 * all placements. Later readers may get their data from the first, so they are ignored; where the
 * pairs of placements exceed PAIRS_MAX, or accelerators ACCELS_MAX, all readers are. A task takes
 * at least the time of bounds_task.c, a transfer the latency of its route plus its bytes over the
 * slowest link, whatever else the program has. It holds for sets in the order of the system, equal
 * shares, no chunks. docs/models/bounds.md. Invariant: value[n_accels i ..] is of placement i. */
#include <config.h>

#include "mapper/evaluate/bounds_remaining.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mapper/evaluate/bounds_task.h"
#include "mapper/lower/plan_state.h"
#include "mapper/strategies.h"
#include "topology/routing/route.h"

/* --- the longest path through the tasks of one layer, each task alone --- */

typedef struct longest_path {
    const th_problem *problem;
    th_plans *plans;
    int32_t batch;       /* of the first pass */
    double *begin;       /* by position: when it has its inputs; -INFINITY: ignored */
    double *end, *piece; /* scratch: by position; by position and phase */
    size_t piece_capacity;
    double *task; /* by compute cost; negative: not computed yet */
    size_t n_tasks, task_capacity;
    bool has_links; /* transfers take their links' time */
} longest_path;

static int path_init(longest_path *p, const th_problem *problem, th_error *err)
{
    size_t accels = (size_t)problem->system->n_accels + 1;
    const th_network_type *network = problem->network ? problem->network : th_network_types[0];
    *p = (longest_path){.problem = problem,
                        .batch = problem->workload->batch / problem->stream.micro_batches,
                        .has_links = strncmp(network->name, "astra", 5) != 0};
    p->begin = th_alloc_zero(accels, sizeof *p->begin);
    p->end = th_alloc_zero(accels, sizeof *p->end);
    if (!p->begin || !p->end)
        return th_error_no_memory(err);
    p->plans = th_plans_new(problem->system, problem->workload, err);
    return p->plans ? 0 : -1;
}

static void path_clear(longest_path *p)
{
    th_plans_free(p->plans);
    th_free(p->begin);
    th_free(p->end);
    th_free(p->piece);
    th_free(p->task);
}

/* --- single tasks --- */

/* 0 or -1: out of memory. */
static int task_ps(longest_path *x, int32_t number, double *ps)
{
    const size_t at = (size_t)number;
    if (th_grow(&x->task, &x->task_capacity, at + 1, sizeof *x->task))
        return -1;
    while (x->n_tasks < at + 1)
        x->task[x->n_tasks++] = -1;
    if (x->task[at] < 0) {
        const th_compute_cost *w = th_compute_cost_get(th_plans_costs(x->plans), number);
        x->task[at] = th_task_least_ps(&w->schedule, &w->port);
    }
    *ps = x->task[at];
    return 0;
}

static int node_of(const longest_path *x, const th_placed *at, int r)
{
    return x->problem->system->accel_node[at->set->accels[r]];
}

/* Of bytes from node to node. 0 or -1: out of memory. */
static int path_travel(const longest_path *x, int from, int to, int64_t bytes, double *ps)
{
    static const double ROUNDING_PS = 1e-3; /* of a transfer, sim/kernel/fluid_time.h */
    th_route_summary r;
    *ps = 0;
    if (!x->has_links || from == to)
        return 0;
    if (th_route_summarize(x->problem->system, from, to, &r) < 0)
        return -1;
    double moves = r.bits_per_s == TH_UNLIMITED
                       ? 0
                       : (double)bytes * 8 * (double)TH_PS_PER_S / (double)r.bits_per_s;
    *ps = (double)r.latency_ps + fmax(moves - ROUNDING_PS, 0);
    return 0;
}

/* --- a layer --- */

static void later(double *time, double than)
{
    *time = fmax(*time, than);
}

/* When the piece of phase p is at position r (emit.c: emit_arrival). */
static int find_piece(longest_path *x, const th_placed *at, const th_layer_plan *plan, int r, int p)
{
    int phases = plan->phases, from = plan->at[r].ring_from;
    double travel, *here = &x->piece[r * phases + p];
    int64_t bytes = plan->piece_bytes[r * phases + p];
    *here = 0;
    if (bytes == 0)
        return 0;
    if (path_travel(x, node_of(x, at, from), node_of(x, at, r), bytes, &travel))
        return -1;
    double ready = p == 1 ? fmax(x->begin[r], x->begin[from]) : x->piece[from * phases + p - 1];
    *here = ready + travel;
    return 0;
}

/* All phases of all positions: x->end. */
static int run_phases(longest_path *x, const th_placed *at, const th_layer_plan *plan)
{
    if (th_grow(&x->piece, &x->piece_capacity, (size_t)plan->n * (size_t)plan->phases + 1,
                sizeof *x->piece))
        return -1;
    for (int r = 0; r < plan->n; r++)
        x->end[r] = x->begin[r];
    for (int p = 0; p < plan->phases; p++) {
        const int32_t *cost = p > 0 ? plan->cost_adding : plan->cost;
        for (int r = 0; p > 0 && r < plan->n; r++)
            if (find_piece(x, at, plan, r, p))
                return -1;
        for (int r = 0; r < plan->n; r++) {
            double takes;
            if (task_ps(x, cost[r * plan->phases + p], &takes))
                return -1;
            if (p > 0)
                later(&x->end[r], x->piece[r * plan->phases + p]);
            x->end[r] += takes;
        }
    }
    return 0;
}

/* When the parts of the output are there: after the exchange of partial sums, if there is one. */
static int exchange_sums(longest_path *x, const th_placed *at, const th_layer_plan *plan,
                         double *final)
{
    for (int r = 0; r < plan->n; r++)
        final[r] = x->end[r];
    for (int r = 0; r < plan->n; r++) {
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *v = &plan->sends[plan->at[r].first_send + i];
            double travel;
            if (path_travel(x, node_of(x, at, r), node_of(x, at, v->to), v->bytes, &travel))
                return -1;
            later(&final[v->to], x->end[r] + travel);
        }
    }
    for (int r = 0; r < plan->n; r++) {
        double takes = 0;
        if (plan->at[r].reduce_cost >= 0 && task_ps(x, plan->at[r].reduce_cost, &takes))
            return -1;
        final[r] += takes;
    }
    return 0;
}

/* When each position holds its part of the layer's output, given begin[]. 0 or -1. */
static int path_run(longest_path *x, const th_placed *at, const th_layer_plan *plan, double *final)
{
    return run_phases(x, at, plan) || exchange_sums(x, at, plan, final) ? -1 : 0;
}

/* The transfer of position r's part to the host, where the layer is an output. 0 or -1. */
static int path_departure(const longest_path *x, const th_placed *at, const th_layer_plan *plan,
                          int r, double *ps)
{
    const th_workload *w = x->problem->workload;
    int host = th_plans_host_of(x->plans, at->set->accels[r]);
    int64_t bytes = th_tensor_bytes(th_box_elements(&plan->at[r].held),
                                    w->layers[at->layer].precision[TH_TENSOR_OUTPUT]);
    *ps = 0;
    if (w->consumer_start[at->layer] < w->consumer_start[at->layer + 1] || host < 0 || bytes == 0)
        return 0;
    return path_travel(x, node_of(x, at, r), host, bytes, ps);
}

/* --- placements --- */

enum { ACCELS_MAX = 16, PLANS_MAX = 64 * 1024 * 1024 };
static const double PAIRS_MAX = 2e6; /* pairs of placements of a layer and its reader, all layers */

typedef struct {
    th_set set;
    uint32_t members;
} candidate_set;

typedef struct {
    int n;
    th_strategy *item;
} strategies;

struct th_remaining_time {
    const th_problem *problem;
    longest_path path;
    int n_accels;
    candidate_set *sets; /* every set with every design */
    size_t n_sets, set_capacity;
    strategies *listed; /* by layer and size */
    bool is_known;      /* few enough pairs of placements */
    th_map *numbers;
    double *value;
    size_t n_values, value_capacity;
    double *final; /* scratch, by position */
};

/* --- life --- */

static int add_set(th_remaining_time *x, uint32_t members, int32_t design)
{
    if (th_grow(&x->sets, &x->set_capacity, x->n_sets + 1, sizeof *x->sets))
        return -1;
    th_set set = {.design = design, .accels = th_alloc_zero((size_t)x->n_accels, sizeof(int32_t))};
    if (!set.accels)
        return -1;
    for (int32_t a = 0; a < x->n_accels; a++)
        if (members >> a & 1u)
            set.accels[set.n_accels++] = a;
    x->sets[x->n_sets++] = (candidate_set){set, members};
    return 0;
}

/* With each design that all members can take, or else each its own. */
static int add_sets(th_remaining_time *x, uint32_t members)
{
    const th_system *s = x->problem->system;
    size_t first = x->n_sets;
    if (add_set(x, members, TH_DESIGN_OWN))
        return -1;
    for (int32_t d = 0; d < s->n_designs; d++) {
        if (!th_set_supports_design(s, &x->sets[first].set, d))
            continue;
        if (x->sets[first].set.design == TH_DESIGN_OWN)
            x->sets[first].set.design = d;
        else if (add_set(x, members, d))
            return -1;
    }
    return 0;
}

static strategies *listed(const th_remaining_time *x, int layer, int size)
{
    return &x->listed[layer * (x->n_accels + 1) + size];
}

static int list_placements(th_remaining_time *x)
{
    const th_workload *w = x->problem->workload;
    int32_t batch = x->path.batch;
    double pairs = 0;
    for (uint32_t m = 1; m < 1u << x->n_accels; m++)
        if (add_sets(x, m))
            return -1;
    for (int l = 0; l < w->n_layers; l++) {
        double placements = 0;
        for (int n = 1; n <= x->n_accels; n++) {
            strategies *all = listed(x, l, n);
            all->n = th_strategies_list(&w->layers[l], batch, n, &all->item);
            if (all->n < 0)
                return -1;
        }
        for (size_t c = 0; c < x->n_sets; c++)
            placements += listed(x, l, x->sets[c].set.n_accels)->n;
        pairs += placements * placements;
    }
    x->is_known = pairs <= PAIRS_MAX;
    return 0;
}

static int allocate(th_remaining_time *x)
{
    size_t accels = (size_t)x->n_accels + 1;
    x->listed = th_alloc_zero(accels * (size_t)x->problem->workload->n_layers, sizeof *x->listed);
    x->final = th_alloc_zero(accels, sizeof *x->final);
    x->numbers = th_map_new();
    return x->listed && x->final && x->numbers ? 0 : -1;
}

th_remaining_time *th_remaining_time_new(const th_problem *p, th_error *err)
{
    th_remaining_time *x = th_alloc_zero(1, sizeof *x);
    if (!x) {
        th_error_no_memory(err);
        return NULL;
    }
    x->problem = p;
    x->n_accels = p->system->n_accels;
    if (path_init(&x->path, p, err) == 0) {
        if (allocate(x) == 0 && (x->n_accels > ACCELS_MAX || list_placements(x) == 0))
            return x;
        th_error_no_memory(err);
    }
    th_remaining_time_free(x);
    return NULL;
}

void th_remaining_time_free(th_remaining_time *x)
{
    if (!x)
        return;
    path_clear(&x->path);
    for (size_t i = 0; i < x->n_sets; i++)
        th_free(x->sets[i].set.accels);
    for (int i = 0; x->listed && i < (x->n_accels + 1) * x->problem->workload->n_layers; i++)
        th_free(x->listed[i].item);
    th_free(x->sets);
    th_free(x->listed);
    th_map_free(x->numbers);
    th_free(x->value);
    th_free(x->final);
    th_free(x);
}

/* --- one placement of the reader --- */

/* What position r of a layer has to do with its reader: travel into begin[] of the path. Does
 * anybody read of it? -1: out of memory. */
static int begin_after(th_remaining_time *x, const th_edge_plan *edge, int r, int n)
{
    bool any = false;
    for (int to = 0; to < n; to++)
        x->path.begin[to] = edge->first_local_of[to] < edge->first_local_of[to + 1] &&
                                    edge->locals[edge->first_local_of[to]] == r
                                ? 0
                                : -INFINITY;
    for (int32_t d = 0; d < edge->n; d++) {
        const th_delivery *v = &edge->deliveries[d];
        double travel;
        if (v->from != r)
            continue;
        if (path_travel(&x->path, v->from_node, v->to_node, v->bytes, &travel))
            return -1;
        x->path.begin[v->to] = fmax(x->path.begin[v->to], travel);
    }
    for (int to = 0; to < n; to++)
        any |= x->path.begin[to] >= 0;
    return any;
}

/* The most of what the positions of the reader take after position r, with what follows them. */
typedef struct {
    th_placed at;
    const th_layer_plan *plan;
    const th_edge_plan *edge; /* into it */
    size_t number;
} placed_reader;

static int time_after(th_remaining_time *x, const placed_reader *p, int r, double *most)
{
    const th_layer_plan *plan = p->plan;
    int reads = begin_after(x, p->edge, r, plan->n);
    *most = 0;
    if (reads <= 0)
        return reads;
    if (path_run(&x->path, &p->at, plan, x->final))
        return -1;
    const double *rest = &x->value[p->number * (size_t)x->n_accels];
    for (int to = 0; to < plan->n; to++) {
        bool holds = !th_box_is_empty(&plan->at[to].held);
        *most = fmax(*most, x->final[to] + (holds ? rest[to] : 0));
    }
    return 0;
}

typedef struct {
    th_placed at;  /* the layer */
    size_t number; /* of it */
    int reader, input;
} query;

static int number_of(th_remaining_time *x, int layer, const th_set *set, const th_strategy *s,
                     size_t *number, th_error *err);

/* 0, with the least over the placements so far in value[]; 1: the reader cannot run so; -1. */
static int try_placement(th_remaining_time *x, const query *q, const th_set *set,
                         const th_strategy *s, th_error *err)
{
    th_error reason = {"", ""};
    th_placed reader;
    size_t number;
    if (number_of(x, q->reader, set, s, &number, err))
        return -1;
    th_plans_trim(x->path.plans, PLANS_MAX);
    if (th_plans_place(x->path.plans, q->reader, set, s, &reader, err))
        return -1;
    reader.input = q->input;
    const th_layer_plan *plan = th_plans_layer(x->path.plans, &reader, x->path.batch, &reason);
    const th_edge_plan *edge =
        plan ? th_plans_edge(x->path.plans, &q->at, &reader, 1, x->path.batch, &reason) : NULL;
    if (!edge)
        return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 1;
    const placed_reader placed = {reader, plan, edge, number};
    for (int r = 0; r < q->at.set->n_accels; r++) {
        double most, *least = &x->value[q->number * (size_t)x->n_accels + (size_t)r];
        if (time_after(x, &placed, r, &most))
            return th_error_no_memory(err);
        *least = fmin(*least, most);
    }
    return 0;
}

/* --- all placements --- */

static uint32_t members_of(const th_set *set)
{
    uint32_t members = 0;
    for (int i = 0; i < set->n_accels; i++)
        members |= 1u << set->accels[i];
    return members;
}

static int try_set(th_remaining_time *x, const query *q, const candidate_set *c, th_error *err)
{
    const strategies *all = listed(x, q->reader, c->set.n_accels);
    int status = 0;
    for (int i = 0; status >= 0 && i < all->n; i++)
        status = try_placement(x, q, &c->set, &all->item[i], err);
    return status < 0 ? -1 : 0;
}

/* Do accelerators that both sets have keep their design? */
static bool may_follow(const th_remaining_time *x, const th_set *own, const th_set *next)
{
    bool may = true;
    for (int r = 0; r < own->n_accels; r++) {
        int32_t at = th_set_place(next, own->accels[r]);
        may &= at < 0 || th_set_design(own, r, x->problem->system) ==
                             th_set_design(next, at, x->problem->system);
    }
    return may;
}

static int try_all_placements(th_remaining_time *x, const query *q, th_error *err)
{
    for (size_t i = 0; i < x->n_sets; i++)
        if (may_follow(x, q->at.set, &x->sets[i].set) && try_set(x, q, &x->sets[i], err))
            return -1;
    return 0;
}

/* The first reader of a layer, if there is one. */
static bool find_reader(const th_remaining_time *x, int layer, query *q)
{
    const th_workload *w = x->problem->workload;
    if (!x->is_known || w->consumer_start[layer] == w->consumer_start[layer + 1])
        return false;
    q->reader = w->n_layers;
    for (int32_t i = w->consumer_start[layer]; i < w->consumer_start[layer + 1]; i++)
        q->reader = w->consumers[i] < q->reader ? w->consumers[i] : q->reader;
    for (q->input = 0; w->layers[q->reader].inputs[q->input] != layer; q->input++)
        ;
    return true;
}

static void set_all(th_remaining_time *x, size_t number, double ps)
{
    for (int r = 0; r < x->n_accels; r++)
        x->value[number * (size_t)x->n_accels + (size_t)r] = ps;
}

/* The bound whatever the reader does: the transfer to the host. */
static int add_departure(th_remaining_time *x, const query *q, th_error *err)
{
    th_error reason = {"", ""};
    const th_layer_plan *plan = th_plans_layer(x->path.plans, &q->at, x->path.batch, &reason);
    if (!plan)
        return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 0;
    for (int r = 0; r < plan->n; r++) {
        double leaves, *rest = &x->value[q->number * (size_t)x->n_accels + (size_t)r];
        if (path_departure(&x->path, &q->at, plan, r, &leaves))
            return th_error_no_memory(err);
        if (*rest == INFINITY) /* no placement can run */
            *rest = 0;
        *rest = fmax(*rest, leaves);
    }
    return 0;
}

static int answer(th_remaining_time *x, query *q, th_error *err)
{
    bool is_found = find_reader(x, q->at.layer, q);
    set_all(x, q->number, is_found ? INFINITY : 0);
    if (is_found && try_all_placements(x, q, err))
        return -1;
    return add_departure(x, q, err);
}

/* The number of a placement, whose rest is found where it is new. 0 or -1. */
static int number_of(th_remaining_time *x, int layer, const th_set *set, const th_strategy *s,
                     size_t *number, th_error *err)
{
    int32_t key[3 + TH_STRATEGY_WORDS] = {layer, (int32_t)members_of(set), set->design};
    int64_t known;
    memcpy(&key[3], s, sizeof *s);
    if (th_map_get(x->numbers, key, sizeof key, &known)) {
        *number = (size_t)known;
        return 0;
    }
    *number = x->n_values;
    if (th_grow(&x->value, &x->value_capacity, (x->n_values + 1) * (size_t)x->n_accels,
                sizeof *x->value) ||
        th_map_put(x->numbers, key, sizeof key, (int64_t)x->n_values))
        return th_error_no_memory(err);
    x->n_values++;
    query q = {.number = *number};
    if (th_plans_place(x->path.plans, layer, set, s, &q.at, err))
        return -1;
    return answer(x, &q, err);
}

int th_remaining_time_after(th_remaining_time *x, int layer, const th_set *set,
                            const th_strategy *s, const double **rest, th_error *err)
{
    size_t number;
    if (number_of(x, layer, set, s, &number, err))
        return -1;
    *rest = &x->value[number * (size_t)x->n_accels];
    return 0;
}
