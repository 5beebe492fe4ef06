/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefix_remaining.c - a lower bound on the time from a layer, with given set and strategy, to the
 * end of its pass.
 *
 *   after: kept value | the first reader: every set and strategy that it may have -> their
 *     bounds after each position -> the least
 *
 * The first reader of a layer runs on the same set with the same design, or on a set without
 * common members. For each of its placements, a position that receives data of position r begins
 * no sooner than that transfer ends, takes the time of prefix_path.c, and is followed by the
 * remaining time of its own layer, found recursively. The bound after r is the greatest of these
 * over the reader's positions, and the least over all placements. The edge into a tensor's first
 * reader depends on these two placements alone; later readers may get their data from it, so they
 * are ignored; so is a reader with several inputs on the vector unit, as its strategy may follow
 * another input. Where the pairs of placements exceed PAIRS_MAX, or accelerators ACCELS_MAX, only
 * the tail is used. docs/models/exhaustive.md. Invariant: value[n_accels i ..] belongs to the
 * placement with number i. */
#include <config.h>

#include "mapper/search/algorithms/prefix_remaining.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mapper/search/algorithms/prefix_path.h"
#include "mapper/search/partition/sets.h"
#include "mapper/strategies.h"

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
    const double *tail;
    th_path path;
    int n_accels;
    candidate_set *sets; /* every set with every design */
    size_t n_sets, set_capacity;
    strategies *listed; /* by layer and size; of the vector unit: none */
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
        for (int n = 1; n <= x->n_accels && th_layer_has_macs(&w->layers[l]); n++) {
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

th_remaining_time *th_remaining_time_new(const th_problem *p, const double *tail, th_error *err)
{
    th_remaining_time *x = th_alloc_zero(1, sizeof *x);
    if (!x) {
        th_error_no_memory(err);
        return NULL;
    }
    x->problem = p;
    x->tail = tail;
    x->n_accels = p->system->n_accels;
    if (th_path_init(&x->path, p, err) == 0) {
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
    th_path_clear(&x->path);
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
        if (th_path_travel(&x->path, v->from_node, v->to_node, v->bytes, &travel))
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
    if (th_path_run(&x->path, &p->at, plan, x->final))
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

/* On the vector unit, a layer of one input follows its producer on that set and has no strategy on
 * another. */
static int try_set(th_remaining_time *x, const query *q, const candidate_set *c, bool is_same,
                   th_error *err)
{
    const th_layer *reader = &x->problem->workload->layers[q->reader];
    const strategies *all = listed(x, q->reader, c->set.n_accels);
    th_strategy follows;
    int status = 0;
    if (!th_layer_has_macs(reader)) {
        if (!th_strategy_follow(&follows, reader, x->path.batch, c->set.n_accels,
                                is_same ? &q->at.strategy : NULL))
            return 0;
        return try_placement(x, q, &c->set, &follows, err) < 0 ? -1 : 0;
    }
    for (int i = 0; status >= 0 && i < all->n; i++)
        status = try_placement(x, q, &c->set, &all->item[i], err);
    return status < 0 ? -1 : 0;
}

static int try_all_placements(th_remaining_time *x, const query *q, th_error *err)
{
    uint32_t own = members_of(q->at.set);
    for (size_t i = 0; i < x->n_sets; i++) {
        const candidate_set *c = &x->sets[i];
        bool is_same = c->members == own && c->set.design == q->at.set->design;
        if ((is_same || (c->members & own) == 0) && try_set(x, q, c, is_same, err))
            return -1;
    }
    return 0;
}

/* The first reader of a layer, if its placement and the layer's determine the transfers of the
 * tensor. */
static bool find_reader(const th_remaining_time *x, int layer, query *q)
{
    const th_workload *w = x->problem->workload;
    if (!x->is_known || w->consumer_start[layer] == w->consumer_start[layer + 1])
        return false;
    q->reader = w->n_layers;
    for (int32_t i = w->consumer_start[layer]; i < w->consumer_start[layer + 1]; i++)
        q->reader = w->consumers[i] < q->reader ? w->consumers[i] : q->reader;
    const th_layer *l = &w->layers[q->reader];
    for (q->input = 0; l->inputs[q->input] != layer; q->input++)
        ;
    return th_layer_has_macs(l) || l->n_inputs == 1;
}

static void set_all(th_remaining_time *x, size_t number, double ps)
{
    for (int r = 0; r < x->n_accels; r++)
        x->value[number * (size_t)x->n_accels + (size_t)r] = ps;
}

/* The bound whatever the reader does: the tail, and the transfer to the host. */
static int add_tail(th_remaining_time *x, const query *q, th_error *err)
{
    th_error reason = {"", ""};
    const th_layer_plan *plan = th_plans_layer(x->path.plans, &q->at, x->path.batch, &reason);
    if (!plan)
        return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 0;
    for (int r = 0; r < plan->n; r++) {
        double leaves, *rest = &x->value[q->number * (size_t)x->n_accels + (size_t)r];
        if (th_path_departure(&x->path, &q->at, plan, r, &leaves))
            return th_error_no_memory(err);
        if (*rest == INFINITY) /* no placement can run */
            *rest = 0;
        *rest = fmax(*rest, fmax(x->tail[q->at.layer], leaves));
    }
    return 0;
}

static int answer(th_remaining_time *x, query *q, th_error *err)
{
    bool is_found = find_reader(x, q->at.layer, q);
    set_all(x, q->number, is_found ? INFINITY : 0);
    if (is_found && try_all_placements(x, q, err))
        return -1;
    return add_tail(x, q, err);
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
