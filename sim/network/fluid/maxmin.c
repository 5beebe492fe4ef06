/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin.c - weighted max-min fairness, repaired from level to level where something has changed.
 *
 *   new -> (add | remove | set_capacity)* -> solve -> ... -> free
 *
 * The allocation is that of progressive filling (D. Bertsekas, R. Gallager, "Data Networks", 1992,
 * section 6.5.2): a flow's bottleneck is full, and no flow there has a higher level. These two
 * conditions make it unique, so it can be repaired: a bottleneck that is not full raises the level
 * of its flows; a link that is overfull lowers the rates of its bottlenecked flows and of flows
 * from bottlenecks of a higher level, whose bottleneck it becomes. Repairs are made in the order of
 * levels, at the lower of the old and the new level of a link, because a change at one level
 * affects only higher levels (J. Ros-Giralt et al., "On the bottleneck structure of
 * congestion-controlled networks", 2019). So a flow that is added or removed costs what its change
 * reaches, not the whole component.
 *
 * The residual capacity of a link is an integer of 128 bits, on a grid so fine that sums of rates
 * are exact: no error accumulates, and the order of additions does not matter.
 *
 * Invariant after solve, for each link: it is full if it is a bottleneck, and not overfull else;
 * each of its flows has a level of at most the link's, up to CLOSE. Where repairing does not
 * converge (levels that are equal but for rounding can alternate), or reads more than filling would
 * (an all-to-all of 1,024 on a torus: links of one level are repaired one by one, and each change
 * touches the others), maxmin_fill.c computes all shares anew. */
#include <config.h>

#include "sim/network/fluid/maxmin.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/network/fluid/maxmin_state.h"

/* A link is full when its residual is below this part of the rates of its bottlenecked flows (of
 * its capacity if it has none), for rates are rounded. */
static const double FULL = 0x1p-48;

/* --- life ------------------------------------------------------------------------------------- */

/* Bits of the greatest capacity: with rates of 53 bits, those down to 2^-47 of it are exact, and
 * 2^26 times it does not overflow. */
enum { GRID_BITS = 100, HEADROOM_BITS = 20 };

th_maxmin *th_maxmin_new(int32_t n_links, double greatest)
{
    size_t n = (size_t)n_links + 1;
    th_maxmin *m = th_alloc_zero(1, sizeof *m);
    if (!m)
        return NULL;
    m->n_links = n_links;
    m->link = th_memory_take(&m->memory, n, sizeof *m->link);
    m->capacity = th_memory_take(&m->memory, n, sizeof *m->capacity);
    m->residual = th_memory_take(&m->memory, n, sizeof *m->residual);
    m->mark = th_memory_take(&m->memory, n, sizeof *m->mark);
    m->level = th_memory_take(&m->memory, n, sizeof *m->level);
    m->work.dirty = th_memory_take(&m->memory, n, sizeof *m->work.dirty);
    m->work.touched = th_memory_take(&m->memory, n, sizeof *m->work.touched);
    m->work.heap = th_memory_take(&m->memory, n, sizeof *m->work.heap);
    m->changes.link = th_memory_take(&m->memory, n, sizeof *m->changes.link);
    th_blocks_init(&m->hops);
    if (m->memory.is_out) {
        th_maxmin_free(m);
        return NULL;
    }
    m->grid.unit = (greatest > 0 ? ilogb(greatest) : 0) + 1 - GRID_BITS;
    m->grid.scale = ldexp(1.0, m->grid.unit);
    th_maxmin_reset(m);
    return m;
}

void th_maxmin_free(th_maxmin *m)
{
    if (!m)
        return;
    for (int32_t l = 0; m->link && l < m->n_links; l++)
        th_free(m->link[l].entry);
    th_free(m->flow);
    th_free(m->bottleneck);
    th_blocks_clear(&m->hops);
    th_free(m->flows.live);
    th_free(m->flows.added);
    th_free(m->changes.flow);
    th_memory_free(&m->memory);
    th_free(m);
}

void th_maxmin_reset(th_maxmin *m)
{
    for (int32_t l = 0; l <= m->n_links; l++) {
        th_maxmin_link *k = &m->link[l];
        if (k->room > 0)
            *k = (th_maxmin_link){.entry = k->entry, .room = k->room};
        m->residual[l] = th_maxmin_fixed(m, m->capacity[l]);
        m->mark[l] = 0;
        m->level[l] = INFINITY;
    }
    th_blocks_reset(&m->hops);
    m->flows.n_live = m->flows.n_added = m->changes.n_flows = 0;
    m->flows.n_entries = 0;
    m->work.n_dirty = m->work.n_touched = m->work.n_heap = m->changes.n_links = 0;
    m->work.stamp = 0;
}

/* --- adding and removing flows ---------------------------------------------------------------- */

static void mark_dirty(th_maxmin *m, int32_t l)
{
    if (m->link[l].is_dirty)
        return;
    m->link[l].is_dirty = true;
    m->work.dirty[m->work.n_dirty++] = l;
}

void th_maxmin_set_capacity(th_maxmin *m, int32_t l, double capacity)
{
    double most = ldexp(1.0, m->grid.unit + GRID_BITS + HEADROOM_BITS);
    th_maxmin_link *k = &m->link[l];
    capacity = capacity < most ? capacity : most;
    if (capacity == m->capacity[l])
        return;
    m->residual[l] += th_maxmin_fixed(m, capacity) - th_maxmin_fixed(m, m->capacity[l]);
    m->capacity[l] = capacity;
    if (k->room > 0) /* else there is no flow whose rate could change */
        mark_dirty(m, l);
}

/* All that add may need, so that nothing after it fails. */
static int make_room(th_maxmin *m, int32_t flow, const int32_t *links, int32_t n)
{
    if (th_grow(&m->flow, &m->flows.room, (size_t)flow + 1, sizeof *m->flow) ||
        th_grow(&m->bottleneck, &m->flows.bottleneck_room, (size_t)flow + 1,
                sizeof *m->bottleneck) ||
        th_grow(&m->flows.live, &m->flows.live_room, m->flows.n_live + 1, sizeof *m->flows.live) ||
        th_grow(&m->flows.added, &m->flows.added_room, m->flows.n_added + 1,
                sizeof *m->flows.added) ||
        th_grow(&m->changes.flow, &m->changes.flow_room, m->flows.n_live + 1,
                sizeof *m->changes.flow))
        return -1;
    for (int32_t i = 0; i < n; i++) {
        th_maxmin_link *k = &m->link[links[i]];
        if (th_grow(&k->entry, &k->room, k->n + (size_t)n, sizeof *k->entry))
            return -1;
    }
    return 0;
}

int th_maxmin_add(th_maxmin *m, int32_t flow, double weight, const int32_t *links, int32_t n)
{
    int32_t first = make_room(m, flow, links, n) ? -1 : th_blocks_take(&m->hops, 2 * n);
    if (first < 0)
        return -1;
    __int128 shares = th_maxmin_units(1 / weight, TH_MAXMIN_SHARE_UNIT);
    m->flow[flow] = (th_maxmin_flow){.share = th_maxmin_share(shares),
                                     .count = 1,
                                     .first = first,
                                     .n_hops = n,
                                     .live = (int32_t)m->flows.n_live};
    m->bottleneck[flow] = m->n_links;
    for (int32_t i = 0; i < n; i++) {
        th_maxmin_link *k = &m->link[links[i]];
        m->hops.item[first + i] = links[i];
        m->hops.item[first + n + i] = (int32_t)k->n;
        k->entry[k->n++] = (th_maxmin_entry){flow, i};
        k->shares += shares;
        k->new_shares += shares;
    }
    m->flows.n_entries += n;
    m->flows.live[m->flows.n_live++] = flow;
    m->flows.added[m->flows.n_added++] = flow;
    return 0;
}

/* Gives flow, which shares no link, all of its narrowest link. */
static void place_uncontended(th_maxmin *m, int32_t flow)
{
    th_maxmin_flow *w = &m->flow[flow];
    const int32_t *hop = &m->hops.item[w->first];
    int32_t least = hop[0];
    for (int32_t i = 1; i < w->n_hops; i++)
        if (m->capacity[hop[i]] < m->capacity[least])
            least = hop[i];
    w->rate = m->capacity[least];
    __int128 total = th_maxmin_total(m, w);
    for (int32_t i = 0; i < w->n_hops; i++) {
        m->residual[hop[i]] -= total;
        m->link[hop[i]].new_shares = 0;
    }
    m->bottleneck[flow] = least;
    m->link[least].n_bottlenecked = 1;
    th_maxmin_set_own(&m->link[least], m->link[least].shares);
    m->mark[least] |= TH_LINK_IS_BOTTLENECK;
    m->level[least] = w->rate / w->share;
}

int th_maxmin_add_uncontended(th_maxmin *m, int32_t flow, double weight, const int32_t *links,
                              int32_t n)
{
    if (th_maxmin_add(m, flow, weight, links, n))
        return -1;
    m->flows.n_added--;
    place_uncontended(m, flow);
    return 0;
}

static void put_entry(th_maxmin *m, int32_t l, int32_t place, th_maxmin_entry e)
{
    const th_maxmin_flow *w = &m->flow[e.flow];
    m->link[l].entry[place] = e;
    m->hops.item[w->first + w->n_hops + e.hop] = place;
}

static void swap_entries(th_maxmin *m, int32_t l, int32_t a, int32_t b)
{
    if (a == b)
        return;
    th_maxmin_entry e = m->link[l].entry[a];
    put_entry(m, l, a, m->link[l].entry[b]);
    put_entry(m, l, b, e);
}

/* Removes a flow from a list that has it. */
static void drop(int32_t *list, size_t *n, int32_t flow)
{
    size_t i = 0;
    while (list[i] != flow)
        i++;
    list[i] = list[--*n];
}

void th_maxmin_bottleneck_here(th_maxmin *m, int32_t l, int32_t place)
{
    th_maxmin_link *k = &m->link[l];
    th_maxmin_set_own(k, k->own_shares + th_maxmin_shares(&m->flow[k->entry[place].flow]));
    swap_entries(m, l, place, k->n_bottlenecked++);
    m->mark[l] |= TH_LINK_IS_BOTTLENECK;
}

/* The flow of the entry at a place of a link is no longer bottlenecked there. */
static void bottleneck_elsewhere(th_maxmin *m, int32_t l, int32_t place)
{
    th_maxmin_link *k = &m->link[l];
    th_maxmin_set_own(k, k->own_shares - th_maxmin_shares(&m->flow[k->entry[place].flow]));
    swap_entries(m, l, place, --k->n_bottlenecked);
    if (k->n_bottlenecked > 0)
        return;
    m->mark[l] &= (uint8_t)~TH_LINK_IS_BOTTLENECK;
    th_maxmin_note_change(m, l);
    m->level[l] = INFINITY;
}

void th_maxmin_set_count(th_maxmin *m, int32_t flow, int32_t count)
{
    th_maxmin_flow *w = &m->flow[flow];
    int32_t bottleneck = m->bottleneck[flow];
    __int128 shares = -th_maxmin_shares(w), total = -th_maxmin_total(m, w);
    w->count = count;
    total += th_maxmin_total(m, w);
    shares += th_maxmin_shares(w);
    for (int32_t i = 0; i < w->n_hops; i++) {
        int32_t l = m->hops.item[w->first + i];
        th_maxmin_link *k = &m->link[l];
        k->shares += shares;
        k->new_shares += bottleneck == m->n_links ? shares : 0;
        th_maxmin_set_own(k, k->own_shares + (bottleneck == l ? shares : 0));
        m->residual[l] -= total;
        mark_dirty(m, l);
    }
}

void th_maxmin_remove(th_maxmin *m, int32_t flow)
{
    th_maxmin_flow *w = &m->flow[flow];
    int32_t bottleneck = m->bottleneck[flow];
    __int128 shares = th_maxmin_shares(w), total = th_maxmin_total(m, w);
    for (int32_t i = 0; i < w->n_hops; i++) {
        const int32_t l = m->hops.item[w->first + i],
                      *place = &m->hops.item[w->first + w->n_hops + i];
        m->residual[l] += total;
        m->link[l].shares -= shares;
        if (bottleneck == m->n_links)
            m->link[l].new_shares -= shares;
        else if (bottleneck == l)
            bottleneck_elsewhere(m, l, *place);
        swap_entries(m, l, *place, (int32_t)--m->link[l].n);
    }
    for (int32_t i = 0; i < w->n_hops; i++)
        if (m->link[m->hops.item[w->first + i]].n_bottlenecked > 0)
            mark_dirty(m, m->hops.item[w->first + i]);
    if (bottleneck == m->n_links)
        drop(m->flows.added, &m->flows.n_added, flow);
    th_blocks_give(&m->hops, w->first, 2 * w->n_hops);
    m->flows.n_entries -= w->n_hops;
    int32_t last = m->flows.live[--m->flows.n_live];
    m->flows.live[w->live] = last;
    m->flow[last].live = w->live;
    if (w->is_moved)
        drop(m->changes.flow, &m->changes.n_flows, flow);
}

/* --- links to be checked, by level ------------------------------------------------------------ */

static bool comes_before(const th_maxmin_key *a, const th_maxmin_key *b)
{
    return a->level < b->level || (a->level == b->level && a->link < b->link);
}

#define TH_HEAP_ITEM             th_maxmin_key
#define TH_HEAP_OWNER            th_maxmin
#define TH_HEAP_BEFORE(m, a, b)  comes_before(a, b)
#define TH_HEAP_MOVED(m, key, i) ((m)->link[(key)->link].place = (int32_t)(i) + 1)
#include "base/heap.h"

/* Adds link l, or lowers its level. */
void th_maxmin_push(th_maxmin *m, int32_t l, double level)
{
    th_maxmin_key *heap = m->work.heap;
    int32_t i = m->link[l].place - 1;
    if (i < 0)
        i = m->work.n_heap++;
    else if (heap[i].level <= level)
        return;
    th_heap_up(m, heap, (size_t)i, (th_maxmin_key){level, l});
}

int32_t th_maxmin_pop(th_maxmin *m, double *level)
{
    th_maxmin_key first = m->work.heap[0];
    th_heap_remove(m, m->work.heap, (size_t)--m->work.n_heap, 0);
    m->link[first.link].place = 0;
    *level = first.level;
    return first.link;
}

/* --- repair ----------------------------------------------------------------------------------- */

/* Whether link l breaks a condition; then *level is a lower bound of the level at which it does,
 * when all below `reached` is right: the lower of the level that it has and its fair one. */
static bool is_wrong(const th_maxmin *m, int32_t l, double reached, double *level)
{
    const th_maxmin_link *k = &m->link[l];
    bool must_check = k->new_shares > 0 || (m->mark[l] & TH_LINK_EXCEEDED);
    if (!must_check && k->n_bottlenecked == 0 && m->residual[l] >= 0)
        return false;
    double residual = th_maxmin_amount(m, m->residual[l]);
    double used = k->n_bottlenecked > 0 ? m->level[l] * k->own : m->capacity[l];
    if (!must_check && fabs(residual) <= used * FULL)
        return false;
    double x = th_maxmin_least_level(m, l, residual);
    x = x < m->level[l] ? x : m->level[l];
    *level = x > reached ? x : reached;
    return true;
}

/* Whether a flow of that bottleneck would be bottlenecked elsewhere at level x. */
static bool is_above(const th_maxmin *m, int32_t bottleneck, double x)
{
    return m->level[bottleneck] > x * TH_MAXMIN_CLOSE;
}

/* Link l becomes the bottleneck of flow. */
static void move(th_maxmin *m, int32_t flow, int32_t l)
{
    const th_maxmin_flow *w = &m->flow[flow];
    int32_t from = m->bottleneck[flow];
    for (int32_t i = 0; i < w->n_hops; i++) {
        int32_t o = m->hops.item[w->first + i];
        int32_t place = m->hops.item[w->first + w->n_hops + i];
        if (o == l)
            th_maxmin_bottleneck_here(m, o, place);
        else if (o == from)
            bottleneck_elsewhere(m, o, place);
        if (from == m->n_links)
            m->link[o].new_shares -= th_maxmin_shares(w);
    }
    m->bottleneck[flow] = l;
    th_maxmin_note_move(m, flow);
}

/* The total of a flow changes by more; level: that of its rates where they grow, else 0. */
static void touch_hops(th_maxmin *m, const th_maxmin_flow *w, __int128 more, double level)
{
    /* None of these overlaps another, which the compiler cannot know. */
    const int32_t *restrict hop = &m->hops.item[w->first], *restrict end = hop + w->n_hops;
    const double *restrict levels = m->level;
    __int128 *restrict residual = m->residual;
    uint8_t *restrict mark = m->mark;
    int32_t *restrict touched = m->work.touched;
    int32_t n_touched = m->work.n_touched;
    for (; hop < end; hop++) {
        int32_t o = *hop;
        __int128 left = residual[o] -= more;
        uint8_t now = mark[o];
        now |= level > levels[o] * TH_MAXMIN_CLOSE ? TH_LINK_EXCEEDED : 0;
        bool must_check = (now & (TH_LINK_EXCEEDED | TH_LINK_IS_BOTTLENECK)) || left < 0;
        touched[n_touched] = o;
        n_touched += must_check && !(now & TH_LINK_TOUCHED);
        mark[o] = (uint8_t)(now | (must_check ? TH_LINK_TOUCHED : 0));
    }
    m->work.n_touched = n_touched;
}

/* Flow gets its rate at level x, once per round. */
static void set_rate(th_maxmin *m, int32_t flow, double x)
{
    th_maxmin_flow *w = &m->flow[flow];
    if (w->stamp == m->work.stamp)
        return;
    w->stamp = m->work.stamp;
    double rate = x * w->share;
    __int128 more = (th_maxmin_fixed(m, rate) - th_maxmin_fixed(m, w->rate)) * w->count;
    w->rate = rate;
    touch_hops(m, w, more, more > 0 ? x : 0);
}

/* The prefetches make 10,000 flows on a torus 1.5 to 1.6 times as fast (bench network). */
static void set_bottlenecked_rates(th_maxmin *m, int32_t l, double x)
{
    const th_maxmin_link *k = &m->link[l];
    for (int32_t i = 0; i < k->n_bottlenecked; i++)
        __builtin_prefetch(&m->flow[k->entry[i].flow], 1);
    for (int32_t i = 0; i < k->n_bottlenecked; i++) {
        if (i + 1 < k->n_bottlenecked)
            __builtin_prefetch(&m->hops.item[m->flow[k->entry[i + 1].flow].first]);
        set_rate(m, k->entry[i].flow, x);
    }
}

/* Link l gets level x: flows bottlenecked there and flows above x get their rates. */
static void set_level(th_maxmin *m, int32_t l, double x, size_t n_above)
{
    th_maxmin_link *k = &m->link[l];
    m->work.stamp++;
    set_bottlenecked_rates(m, l, x);
    for (size_t i = (size_t)k->n_bottlenecked; n_above > 0 && i < k->n; i++) {
        int32_t flow = k->entry[i].flow;
        if (m->bottleneck[flow] == l || !is_above(m, m->bottleneck[flow], x))
            continue;
        set_rate(m, flow, x);
        move(m, flow, l);
    }
    m->mark[l] &= (uint8_t)~TH_LINK_EXCEEDED;
    if (k->n_bottlenecked == 0) /* overfull by rounding alone */
        return;
    th_maxmin_note_change(m, l);
    m->level[l] = x;
}

/* Most touched links are no bottleneck and not full: nothing more is read of them. None has new
 * flows: those get a rate before a rate changes. */
static void check_touched(th_maxmin *m, double reached)
{
    double level;
    for (int32_t i = 0; i < m->work.n_touched; i++) {
        int32_t l = m->work.touched[i];
        m->mark[l] &= (uint8_t)~TH_LINK_TOUCHED;
        if (is_wrong(m, l, reached, &level))
            th_maxmin_push(m, l, level);
    }
    m->work.n_touched = 0;
}

/* False: it does not converge, or reads more than filling would. */
static bool repair(th_maxmin *m)
{
    enum { READ_BY_FILLING = 4 }; /* per entry of a live flow, about */
    int64_t steps_left = 1000 + 8 * (int64_t)m->n_links;
    m->work.n_read = 0;
    while (m->work.n_heap > 0) {
        double reached, bound;
        int32_t l = th_maxmin_pop(m, &reached);
        if (!is_wrong(m, l, reached, &bound))
            continue;
        if (steps_left-- == 0 || m->work.n_read > READ_BY_FILLING * m->flows.n_entries)
            return false;
        size_t n_above;
        double x = th_maxmin_find_fair(m, l, &n_above);
        if (x > reached && x < m->level[l] && m->work.n_heap > 0 && m->work.heap[0].level < x) {
            th_maxmin_push(m, l, x);
            continue;
        }
        set_level(m, l, x, n_above);
        check_touched(m, reached);
    }
    return true;
}

/* --- solving ---------------------------------------------------------------------------------- */

/* The link of a new flow that seems to be its bottleneck; the others are checked when it gets its
 * rate there. */
static void push_first(th_maxmin *m, const th_maxmin_flow *w)
{
    const int32_t *hop = &m->hops.item[w->first];
    int32_t first = -1;
    double least = INFINITY, level;
    for (int32_t i = 0; i < w->n_hops; i++) {
        is_wrong(m, hop[i], 0, &level);
        if (first < 0 || level < least) {
            first = hop[i];
            least = level;
        }
    }
    th_maxmin_push(m, first, least);
}

static void check_dirty(th_maxmin *m)
{
    double level;
    for (int32_t i = 0; i < m->work.n_dirty; i++)
        if (is_wrong(m, m->work.dirty[i], 0, &level))
            th_maxmin_push(m, m->work.dirty[i], level);
    for (size_t i = 0; i < m->flows.n_added; i++)
        push_first(m, &m->flow[m->flows.added[i]]);
}

void th_maxmin_clear_changes(th_maxmin *m)
{
    for (size_t i = 0; i < m->changes.n_flows; i++)
        m->flow[m->changes.flow[i]].is_moved = false;
    for (int32_t i = 0; i < m->changes.n_links; i++)
        m->link[m->changes.link[i]].is_changed = false;
    m->changes.n_flows = 0;
    m->changes.n_links = 0;
}

void th_maxmin_solve(th_maxmin *m)
{
    check_dirty(m);
    if (!repair(m))
        th_maxmin_fill(m);
    for (int32_t i = 0; i < m->work.n_dirty; i++)
        m->link[m->work.dirty[i]].is_dirty = false;
    m->work.n_dirty = 0;
    m->flows.n_added = 0;
}
