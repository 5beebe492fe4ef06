/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_transition.c - the estimated time of a tensor's transfers from its producer to its first
 * reader, without a plan of either.
 *
 *   boxes that the producer's positions hold, kept -> per position of the reader: what it needs ->
 *     the transfers of what is held elsewhere -> the busiest medium and the longest latency
 *
 * Positions hold disjoint boxes, which nearly always form a grid: each is an interval along every
 * dimension. The boxes that meet what a reader needs are those whose intervals do, and finding them
 * takes as long as there are such boxes, not as there are positions. The time is that of
 * th_plans_edge_time for a plan of the edge. */
#include <config.h>

#include <stdlib.h>

#include "base/min_max.h"
#include "base/alloc.h"
#include "mapper/lower/plan_state.h"

typedef struct {
    int32_t lo, hi;
} interval;

typedef struct {
    int32_t n;
    interval *at; /* ascending, disjoint */
} intervals;

struct th_plan_held {
    int32_t n, n_accels; /* as of th_layer_plan, of one copy */
    int32_t copies;
    int64_t largest; /* elements of the largest box */
    intervals along[TH_TENSOR_DIMS];
    /* positions by the numbers of their intervals, the last dimension fastest, -1 where there is
     * none; NULL: the boxes form no grid */
    int32_t *cell;
    th_box *box; /* then: by position */
};

/* --- grids --- */

/* The first interval that ends above lo. */
static int32_t first_above(const intervals *x, int32_t lo)
{
    int32_t first = 0, end = x->n;
    while (first < end) {
        int32_t middle = first + (end - first) / 2;
        if (x->at[middle].hi > lo)
            end = middle;
        else
            first = middle + 1;
    }
    return first;
}

static int by_lo(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return x->lo != y->lo ? (x->lo > y->lo) - (x->lo < y->lo) : (x->hi > y->hi) - (x->hi < y->hi);
}

static bool is_along(const intervals *x, int32_t i, const th_box *box, int d)
{
    return i < x->n && x->at[i].lo == box->lo[d] && x->at[i].hi == box->hi[d];
}

/* The box's number among the intervals so far, their number where it is not among them. From one
 * position to the next, coordinates stay as they are, or grow by one, or begin anew. */
static int32_t find(const intervals *x, int32_t last, const th_box *box, int d)
{
    int32_t i = 0;
    if (is_along(x, last, box, d))
        return last;
    if (is_along(x, last + 1, box, d))
        return last + 1;
    while (i < x->n && !is_along(x, i, box, d))
        i++;
    return i;
}

/* The intervals of n boxes along d, into out->at, which has room for n. False: some overlap. */
static bool list_intervals(const th_box *box, int32_t n, int d, intervals *out)
{
    bool is_ascending = true;
    out->n = 0;
    for (int32_t q = 0, last = 0; q < n; q++) {
        if (th_box_is_empty(&box[q]))
            continue;
        last = find(out, last, &box[q], d);
        if (last < out->n)
            continue;
        out->at[out->n++] = (interval){box[q].lo[d], box[q].hi[d]};
        is_ascending &= last == 0 || out->at[last].lo > out->at[last - 1].lo;
    }
    if (!is_ascending)
        qsort(out->at, (size_t)out->n, sizeof *out->at, by_lo);
    for (int32_t i = 1; i < out->n; i++)
        if (out->at[i].lo < out->at[i - 1].hi)
            return false;
    return true;
}

static int64_t cell_of(const th_plan_held *h, const th_box *box)
{
    int64_t cell = 0;
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        cell = cell * h->along[d].n + first_above(&h->along[d], box->lo[d]);
    return cell;
}

/* Fills the cells unless two boxes would be in one. 0 or -1. */
static int fill_cells(th_plans *p, th_plan_held *h, const th_box *box, int64_t n_cells)
{
    int32_t *cell = th_plans_alloc(p, (size_t)n_cells, sizeof *cell);
    if (!cell)
        return -1;
    for (int64_t i = 0; i < n_cells; i++)
        cell[i] = -1;
    for (int32_t q = 0; q < h->n; q++) {
        if (th_box_is_empty(&box[q]))
            continue;
        int32_t *at = &cell[cell_of(h, &box[q])];
        if (*at >= 0)
            return 0;
        *at = q;
    }
    h->cell = cell;
    return 0;
}

/* Fills h's grid where the boxes form one. scratch: for as many intervals. 0 or -1. */
static int make_grid(th_plans *p, th_plan_held *h, const th_box *box, interval *scratch)
{
    int64_t n_cells = 1;
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        intervals found = {0, scratch};
        if (!list_intervals(box, h->n, d, &found))
            return 0;
        h->along[d] = (intervals){found.n, th_plans_alloc(p, (size_t)found.n, sizeof *found.at)};
        if (!h->along[d].at)
            return -1;
        for (int32_t i = 0; i < found.n; i++)
            h->along[d].at[i] = found.at[i];
        n_cells *= found.n;
        if (n_cells == 0 || n_cells > 2 * (int64_t)h->n)
            return 0;
    }
    return fill_cells(p, h, box, n_cells);
}

static int keep_boxes(th_plans *p, th_plan_held *h, const th_box *box)
{
    h->box = th_plans_alloc(p, (size_t)h->n, sizeof *h->box);
    for (int32_t q = 0; h->box && q < h->n; q++)
        h->box[q] = box[q];
    return h->box ? 0 : -1;
}

/* NULL: memory is out. */
static th_plan_held *make_held(th_plans *p, const th_placed *at, int32_t batch)
{
    const th_layer *l = &p->workload->layers[at->layer];
    const int32_t copies = th_shard_copies(&at->strategy), n_accels = at->set->n_accels / copies,
                  n = n_accels * th_shard_chunks(&at->strategy);
    th_plan_held *h = th_plans_alloc(p, 1, sizeof *h);
    th_box *box = th_alloc_array((size_t)n, sizeof *box);
    interval *scratch = th_alloc_array((size_t)n, sizeof *scratch);
    int failed = h && box && scratch ? 0 : -1;
    if (!failed)
        *h = (th_plan_held){.n = n, .n_accels = n_accels, .copies = copies};
    for (int32_t q = 0; !failed && q < n; q++) {
        box[q] = th_shard_held(l, batch, &at->strategy, at->set->shares, q % n_accels * copies,
                               q / n_accels);
        const int64_t elements = th_box_elements(&box[q]);
        h->largest = elements > h->largest ? elements : h->largest;
    }
    if (!failed)
        failed = make_grid(p, h, box, scratch);
    if (!failed && !h->cell)
        failed = keep_boxes(p, h, box);
    th_free(box);
    th_free(scratch);
    return failed ? NULL : h;
}

static const th_plan_held *held_of(th_plans *p, const th_placed *at, int32_t batch)
{
    const th_plan_key key = th_plan_key_of(p, at, at->members_id, batch);
    const th_plan_held *known = th_shared_map_find(p->memo.held, &key, sizeof key);
    th_plan_held *made = known ? NULL : make_held(p, at, batch);
    return made ? th_shared_map_add(p->memo.held, &key, sizeof key, made) : known;
}

/* --- one reader --- */

/* A position of the reader, and what it needs. */
typedef struct {
    th_plan_traffic traffic;
    const th_placed *producer;
    const th_plan_held *held;
    th_precision precision;
    th_box need;
    int32_t accel, copy; /* the producer's that sends to it (plan_edge.c) */
    int32_t chunk;       /* of the producer; -1: all */
} receiver;

static int64_t overlap(const interval *x, const th_box *need, int d)
{
    return th_max(th_min(x->hi, need->hi[d]) - th_max(x->lo, need->lo[d]), 0);
}

/* Its own accelerator need not send. */
static void carry_from(receiver *k, int32_t q, int64_t elements)
{
    const th_system *s = k->traffic.plans->system;
    const int32_t place = q % k->held->n_accels * k->held->copies + k->copy,
                  from = k->producer->set->accels[place];
    if (from != k->accel && (k->chunk < 0 || k->chunk == q / k->held->n_accels))
        th_plan_carry(&k->traffic, s->accel_node[from], s->accel_node[k->accel],
                      th_tensor_bytes(elements, k->precision));
}

/* From dimension d on, of the cells that share their intervals up to there; elements: of the need
 * along those. */
static void carry_cells(receiver *k, int d, int64_t cell, int64_t elements)
{
    const intervals *x = &k->held->along[d];
    int32_t i = first_above(x, k->need.lo[d]);
    for (; i < x->n && x->at[i].lo < k->need.hi[d]; i++) {
        const int64_t all = elements * overlap(&x->at[i], &k->need, d), at = cell * x->n + i;
        if (d + 1 < TH_TENSOR_DIMS)
            carry_cells(k, d + 1, at, all);
        else if (k->held->cell[at] >= 0)
            carry_from(k, k->held->cell[at], all);
    }
}

static void carry_made(receiver *k)
{
    if (th_box_is_empty(&k->need))
        return;
    if (k->held->cell) {
        carry_cells(k, 0, 0, 1);
        return;
    }
    for (int32_t q = 0; q < k->held->n; q++) {
        th_box common = th_box_intersect(&k->held->box[q], &k->need);
        if (!th_box_is_empty(&common))
            carry_from(k, q, th_box_elements(&common));
    }
}

static void carry_external(receiver *k)
{
    const th_plans *p = k->traffic.plans;
    const int host = p->facts.host_of[k->accel];
    if (host >= 0 && !th_box_is_empty(&k->need))
        th_plan_carry(&k->traffic, host, p->system->accel_node[k->accel],
                      th_tensor_bytes(th_box_elements(&k->need), k->precision));
}

/* What a grid's producer must send to the reader takes at least this, whoever sends it: all that it
 * needs but for what its own accelerator made. */
static th_time bound_of(const receiver *k)
{
    int64_t elements = 1;
    if (!k->held || !k->held->cell || th_box_is_empty(&k->need))
        return 0;
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        const intervals *x = &k->held->along[d];
        const interval all = {x->at[0].lo, x->at[x->n - 1].hi};
        elements *= overlap(&all, &k->need, d);
    }
    elements -= k->held->largest * (k->held->n / k->held->n_accels);
    const th_plans *p = k->traffic.plans;
    return elements > 0 ? th_plan_time_in(p, p->system->accel_node[k->accel],
                                          th_tensor_bytes(elements, k->precision))
                        : 0;
}

/* --- all readers --- */

/* Position r of the reader; its own copy, where it has one, else all in turn. */
static void choose_copy(receiver *k, int32_t r)
{
    if (!k->held || k->held->copies == 1)
        return;
    const int32_t own = th_set_place(k->producer->set, k->accel);
    k->copy = (own >= 0 ? own : r) % k->held->copies;
}

/* 0, or -1: memory is out. */
static int begin(receiver *k, th_plans *p, const th_placed *producer, const th_placed *to,
                 int32_t batch)
{
    *k = (receiver){.producer = producer,
                    .precision = p->workload->layers[to->layer].precision[TH_TENSOR_INPUT],
                    .chunk = -1};
    th_plan_traffic_begin(&k->traffic, p);
    if (!producer)
        return 0;
    k->precision = p->workload->layers[producer->layer].precision[TH_TENSOR_OUTPUT];
    k->held = held_of(p, producer, batch);
    return k->held ? 0 : -1;
}

static void carry(receiver *k)
{
    if (k->producer)
        carry_made(k);
    else
        carry_external(k);
}

static th_time time_of(const receiver *k, th_time bound)
{
    const th_time busiest = k->traffic.busiest > bound ? k->traffic.busiest : bound;
    return th_time_add(busiest, k->traffic.latency);
}

/* Stops when the time is more than enough: both terms only grow from position to position. */
static th_time time_to_readers(th_plans *p, const th_placed *producer, const th_placed *to,
                               int32_t batch, th_time enough, th_error *err)
{
    const th_layer *l = &p->workload->layers[to->layer];
    const int32_t n = to->set->n_accels * th_shard_chunks(&to->strategy);
    th_time bound = 0;
    receiver k;
    if (begin(&k, p, producer, to, batch))
        return th_error_no_memory(err);
    for (int32_t r = 0; r < n && time_of(&k, bound) <= enough; r++) {
        k.accel = to->set->accels[r % to->set->n_accels];
        choose_copy(&k, r % to->set->n_accels);
        k.need = th_plan_need(l, batch, to, r, to->input);
        bound = bound_of(&k);
        if (time_of(&k, bound) > enough)
            break;
        carry(&k);
    }
    return k.traffic.failed ? th_error_no_memory(err) : time_of(&k, bound);
}

th_time th_plans_transition_bound(th_plans *p, const th_placed *producer, const th_placed *to,
                                  int32_t batch, th_error *err)
{
    const int32_t last = to->set->n_accels - 1;
    if (p->system->transfers_serially)
        return 0;
    receiver k;
    if (begin(&k, p, producer, to, batch))
        return th_error_no_memory(err);
    k.accel = to->set->accels[last];
    k.need = th_plan_need(&p->workload->layers[to->layer], batch, to, last, to->input);
    return bound_of(&k);
}

/* --- chunks --- */

/* By chunk and position of the reader, what it needs and no earlier chunk of it: chunks differ
 * along one dimension at most. The caller's; NULL: memory is out. */
static th_box *list_needs(const th_layer *l, const th_placed *to, int32_t batch)
{
    const int32_t n = to->set->n_accels, all = n * th_shard_chunks(&to->strategy);
    th_box *need = th_alloc_array((size_t)all, sizeof *need);
    for (int32_t r = 0; need && r < all; r++)
        need[r] = th_plan_need(l, batch, to, r, to->input);
    for (int32_t r = all - 1; need && r >= n; r--) {
        const th_box before = need[r - n];
        int d = 0;
        while (d < TH_TENSOR_DIMS && need[r].lo[d] == before.lo[d] && need[r].hi[d] == before.hi[d])
            d++;
        if (d == TH_TENSOR_DIMS)
            need[r] = (th_box){{0}, {0}};
        else if (!th_box_is_empty(&before))
            need[r].lo[d] = th_max(need[r].lo[d], before.hi[d]);
    }
    return need;
}

/* Sends what one chunk of the producer made, to chunk after chunk of the reader. Returns until when
 * links are busy. */
static th_time send_chunk(receiver *k, const th_placed *to, const th_box *need, th_time *arrival)
{
    th_time busy = 0;
    for (int32_t i = 0; i < th_shard_chunks(&to->strategy); i++) {
        k->traffic.busiest = k->traffic.latency = 0;
        for (int32_t a = 0; a < to->set->n_accels; a++) {
            k->accel = to->set->accels[a];
            choose_copy(k, a);
            k->need = *need++;
            carry(k);
        }
        arrival[i] = th_max(arrival[i], time_of(k, 0));
        busy = th_max(busy, k->traffic.busiest);
    }
    return busy;
}

/* Partial sums of the producer wait until links are free; later inputs wait for partial sums of the
 * reader. */
th_time th_plans_overlapped_time(th_plans *p, const th_placed *producer, const th_layer_pace *made,
                                 const th_placed *to, const th_layer_pace *own, int32_t batch,
                                 th_error *err)
{
    const int32_t parts = producer ? th_shard_chunks(&producer->strategy) : 1,
                  chunks = th_shard_chunks(&to->strategy);
    th_time arrival[TH_SHARD_CHUNKS_MAX + 1] = {0}, computed = 0, link = 0, delay = 0, sent = 0;
    th_box *need = list_needs(&p->workload->layers[to->layer], to, batch);
    receiver k;
    if (!need || begin(&k, p, producer, to, batch)) {
        th_free(need);
        return th_error_no_memory(err);
    }
    for (k.chunk = 0; k.chunk < parts; k.chunk++) {
        computed += made->work + (k.chunk > 0 ? made->sum : 0);
        link = (made->exchange > 0 ? th_max(computed, link) : computed) + made->exchange;
        k.traffic.ready = link + made->sum;
        link = th_max(link, send_chunk(&k, to, need, arrival));
    }
    th_free(need);
    for (int32_t i = 0; i < chunks; i++) {
        computed = th_max(computed, arrival[i] + delay) + own->work;
        sent = th_max(sent, computed) + own->exchange;
        delay += arrival[i + 1] + delay > computed ? own->exchange : 0;
        computed += own->sum;
    }
    return k.traffic.failed ? th_error_no_memory(err)
                            : th_max(sent + own->sum - made->time - own->time, 0);
}

th_time th_plans_transition_time(th_plans *p, const th_placed *producer, const th_placed *reader,
                                 int32_t batch, th_time enough, th_error *err)
{
    if (!p->system->transfers_serially)
        return time_to_readers(p, producer, reader, batch, enough, err);
    const th_edge_plan *e = th_plans_edge(p, producer, reader, 1, batch, err);
    return e ? th_plans_edge_time(p, e, err) : -1;
}
