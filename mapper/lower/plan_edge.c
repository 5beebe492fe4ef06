/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_edge.c - the transfers that bring a tensor from the set that made it to a set that reads
 * it.
 *
 * A position must receive what it needs, minus what its own accelerator made, minus what arrived
 * there for an earlier consumer of the same tensor, or for an earlier chunk. Positions of the
 * producer hold disjoint boxes, so each missing element has exactly one sender; everything that one
 * position sends to another is one transfer. The host nearest to the receiver (th_plans_host_of)
 * holds the external input; without a host the input is everywhere. A tensor is transferred in its
 * producer's precision (the external input in the reader's), dense whatever its density, rounded up
 * to whole bytes. External inputs of which each layer has its own (has_own_inputs) are not shared
 * between layers. A layer that reads one tensor as several inputs is several consumers; the later
 * ones reuse what was delivered to the earlier. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"

typedef struct {
    th_box *box;
    size_t n, capacity;
} boxes;

static int add_box(boxes *b, const th_box *box)
{
    if (th_grow(&b->box, &b->capacity, b->n + 1, sizeof *b->box))
        return -1;
    b->box[b->n++] = *box;
    return 0;
}

/* Moves the parts of all boxes that lie in cut to taken (unless NULL). */
static int take(boxes *from, const th_box *cut, boxes *taken)
{
    size_t n = from->n, kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!th_box_meets(&from->box[i], cut)) { /* as most do */
            if (kept != i)
                from->box[kept] = from->box[i];
            kept++;
            continue;
        }
        th_box whole = from->box[i], common = th_box_intersect(&whole, cut),
               rest[2 * TH_TENSOR_DIMS];
        if (taken && add_box(taken, &common))
            return -1;
        int pieces = th_box_subtract(&whole, &common, rest);
        for (int j = 0; j < pieces; j++)
            if (add_box(from, &rest[j])) /* appended after the first n; moved down below */
                return -1;
    }
    if (kept < n && from->n > n)
        memmove(from->box + kept, from->box + n, (from->n - n) * sizeof *from->box);
    from->n = kept + (from->n - n);
    return 0;
}

typedef struct {
    th_plans *plans;
    const th_edge_ends *ends;
    const th_placed *consumer; /* the last one */
    boxes lacked, out;         /* scratch; boxes of the deliveries so far */
    th_delivery *deliveries;
    size_t n, capacity;
    th_reuse *reuses;
    size_t n_reuses, reuse_capacity;
    int32_t *first_of, *first_local_of, *first_reuse_of;
    int32_t *locals;
    size_t n_locals, local_capacity;
    int32_t *made_at; /* by accelerator: the producer's position there; -1: none */
} maker;

/* The latest delivery from the same sender to an earlier chunk of position r; -1: none. */
static int32_t before_of(const maker *k, int from, int r)
{
    const int n = k->ends->reads->n_accels;
    for (int earlier = r - n; earlier >= 0; earlier -= n)
        for (int32_t d = k->first_of[earlier]; d < k->first_of[earlier + 1]; d++)
            if (k->deliveries[d].from == from)
                return d;
    return -1;
}

static int add_delivery(maker *k, int from, int from_node, int r, int to_node, size_t first_box)
{
    const th_workload *w = k->plans->workload;
    const th_layer *reader = &w->layers[k->consumer->layer];
    th_precision precision = k->ends->producer
                                 ? w->layers[k->ends->producer->layer].precision[TH_TENSOR_OUTPUT]
                                 : reader->precision[TH_TENSOR_INPUT];
    int64_t elements = 0;
    for (size_t i = first_box; i < k->out.n; i++)
        elements += th_box_elements(&k->out.box[i]);
    if (elements == 0)
        return 0;
    if (th_grow(&k->deliveries, &k->capacity, k->n + 1, sizeof *k->deliveries))
        return -1;
    k->deliveries[k->n++] = (th_delivery){.from = from,
                                          .from_node = from_node,
                                          .to_node = to_node,
                                          .to = r,
                                          .bytes = th_tensor_bytes(elements, precision),
                                          .first_box = (int32_t)first_box,
                                          .n_boxes = (int32_t)(k->out.n - first_box),
                                          .after = before_of(k, from, r)};
    return 0;
}

/* What any chunk of the producer made there. */
static int take_own(maker *k, int accel)
{
    const th_layer_plan *made = k->ends->made;
    const size_t before = k->out.n;
    for (int32_t q = k->ends->producer ? k->made_at[accel] : -1; q >= 0 && q < made->n;
         q += made->n_accels) {
        if (take(&k->lacked, &made->at[q].held, &k->out))
            return -1;
        if (k->out.n == before)
            continue;
        k->out.n = before; /* only its number mattered */
        if (th_grow(&k->locals, &k->local_capacity, k->n_locals + 1, sizeof *k->locals))
            return -1;
        k->locals[k->n_locals++] = q;
    }
    return 0;
}

/* An accelerator is in a set once at most. */
static int find_made_at(maker *k)
{
    int n = k->plans->system->n_accels;
    k->made_at = th_alloc_array((size_t)n + 1, sizeof *k->made_at);
    if (!k->made_at)
        return -1;
    for (int a = 0; a < n; a++)
        k->made_at[a] = -1;
    for (int q = 0; k->ends->producer && q < k->ends->made->n_accels; q++)
        k->made_at[k->ends->producer->set->accels[q]] = q;
    return 0;
}

/* What came to the accelerator by a delivery, which is number d of the ordinal-th consumer's edge.
 */
static int take_delivered(maker *k, int r, int ordinal, int32_t d)
{
    const bool is_same_edge = ordinal == k->ends->n - 1;
    const th_delivery *came =
        is_same_edge ? &k->deliveries[d] : &k->ends->earlier[ordinal]->deliveries[d];
    const size_t before = k->out.n;
    for (int b = came->first_box; b < came->first_box + came->n_boxes; b++) {
        const th_box box = is_same_edge ? k->out.box[b] : k->ends->earlier[ordinal]->boxes[b];
        if (take(&k->lacked, &box, &k->out))
            return -1;
    }
    if (k->out.n == before)
        return 0;
    k->out.n = before;
    if (th_grow(&k->reuses, &k->reuse_capacity, k->n_reuses + 1, sizeof *k->reuses))
        return -1;
    k->reuses[k->n_reuses++] = (th_reuse){r, ordinal, d};
    return 0;
}

static int take_from_earlier(maker *k, int node, int r)
{
    for (int e = 0; e < k->ends->n_earlier; e++)
        for (int32_t d = 0; d < k->ends->earlier[e]->n; d++)
            if (k->ends->earlier[e]->deliveries[d].to_node == node && take_delivered(k, r, e, d))
                return -1;
    return 0;
}

static int take_from_chunks(maker *k, int r)
{
    const int n = k->ends->reads->n_accels;
    for (int earlier = r % n; earlier < r; earlier += n)
        for (int32_t d = k->first_of[earlier]; d < k->first_of[earlier + 1]; d++)
            if (take_delivered(k, r, k->ends->n - 1, d))
                return -1;
    return 0;
}

/* From one copy: that of the accelerator itself, else of several all in turn. */
static int take_from_producer(maker *k, int accel, int r)
{
    const th_system *s = k->plans->system;
    const th_layer_plan *made = k->ends->made;
    const int place = k->made_at[accel] >= 0 ? k->made_at[accel] : r % k->ends->reads->n_accels;
    for (int q = place % made->copies; q < made->n && k->lacked.n > 0; q += made->copies) {
        size_t before = k->out.n;
        int from = k->ends->producer->set->accels[q % made->n_accels];
        if (from == accel)
            continue;
        if (take(&k->lacked, &made->at[q].held, &k->out) ||
            add_delivery(k, q, s->accel_node[from], r, s->accel_node[accel], before))
            return -1;
    }
    return 0;
}

static int take_from_host(maker *k, int accel, int r)
{
    int host = k->plans->facts.host_of[accel];
    size_t before = k->out.n;
    if (host < 0)
        return 0;
    for (size_t i = 0; i < k->lacked.n; i++)
        if (add_box(&k->out, &k->lacked.box[i]))
            return -1;
    return add_delivery(k, -1, host, r, k->plans->system->accel_node[accel], before);
}

static int plan_position(maker *k, int r)
{
    const th_box *need = &k->ends->reads->at[r].need[k->consumer->input];
    int accel = k->consumer->set->accels[r % k->ends->reads->n_accels];
    k->first_local_of[r] = (int32_t)k->n_locals;
    k->first_of[r] = (int32_t)k->n;
    k->first_reuse_of[r] = (int32_t)k->n_reuses;
    k->lacked.n = 0;
    if (!th_box_is_empty(need) && add_box(&k->lacked, need))
        return -1;
    if (take_own(k, accel) || take_from_earlier(k, k->plans->system->accel_node[accel], r) ||
        take_from_chunks(k, r))
        return -1;
    return k->ends->producer ? take_from_producer(k, accel, r) : take_from_host(k, accel, r);
}

static int plan_positions(maker *k)
{
    k->first_of = th_plans_alloc(k->plans, (size_t)k->ends->reads->n + 1, sizeof *k->first_of);
    k->first_local_of =
        th_plans_alloc(k->plans, (size_t)k->ends->reads->n + 1, sizeof *k->first_local_of);
    k->first_reuse_of =
        th_plans_alloc(k->plans, (size_t)k->ends->reads->n + 1, sizeof *k->first_reuse_of);
    if (!k->first_of || !k->first_local_of || !k->first_reuse_of || find_made_at(k))
        return -1;
    for (int r = 0; r < k->ends->reads->n; r++)
        if (plan_position(k, r))
            return -1;
    k->first_of[k->ends->reads->n] = (int32_t)k->n;
    k->first_reuse_of[k->ends->reads->n] = (int32_t)k->n_reuses;
    k->first_local_of[k->ends->reads->n] = (int32_t)k->n_locals;
    return 0;
}

/* The finished plan, in the arena. */
static th_edge_plan *keep(maker *k)
{
    th_edge_plan *e = th_plans_alloc(k->plans, 1, sizeof *e);
    if (!e)
        return NULL;
    *e = (th_edge_plan){.n = (int32_t)k->n,
                        .n_reuses = (int32_t)k->n_reuses,
                        .first_of = k->first_of,
                        .first_reuse_of = k->first_reuse_of,
                        .first_local_of = k->first_local_of};
    e->deliveries = th_plans_alloc(k->plans, k->n, sizeof *e->deliveries);
    e->boxes = th_plans_alloc(k->plans, k->out.n, sizeof *e->boxes);
    e->reuses = th_plans_alloc(k->plans, k->n_reuses, sizeof *e->reuses);
    e->locals = th_plans_alloc(k->plans, k->n_locals, sizeof *e->locals);
    if (!e->deliveries || !e->boxes || !e->reuses || !e->locals)
        return NULL;
    if (k->n > 0)
        memcpy(e->deliveries, k->deliveries, k->n * sizeof *e->deliveries);
    if (k->out.n > 0)
        memcpy(e->boxes, k->out.box, k->out.n * sizeof *e->boxes);
    if (k->n_locals > 0)
        memcpy(e->locals, k->locals, k->n_locals * sizeof *e->locals);
    if (k->n_reuses > 0)
        memcpy(e->reuses, k->reuses, k->n_reuses * sizeof *e->reuses);
    return e;
}

th_edge_plan *th_plan_make_edge(th_plans *p, const th_edge_ends *ends, th_error *err)
{
    maker k = {.plans = p, .ends = ends, .consumer = &ends->consumers[ends->n - 1]};
    th_edge_plan *plan = plan_positions(&k) ? NULL : keep(&k);
    if (!plan)
        th_error_no_memory(err);
    th_free(k.lacked.box);
    th_free(k.out.box);
    th_free(k.deliveries);
    th_free(k.reuses);
    th_free(k.locals);
    th_free(k.made_at);
    return plan;
}
