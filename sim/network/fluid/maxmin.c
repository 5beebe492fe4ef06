/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin.c - weighted max-min fairness, repaired from level to level where something has changed.
 *
 *   new -> (add | remove | set_capacity)* -> solve -> ... -> free
 *
 * The allocation is that of progressive filling (D. Bertsekas, R. Gallager, "Data Networks", 1992,
 * section 6.5.2): a flow's bottleneck is full, and no flow there has a higher level. These two
 * conditions make it unique, so it can be repaired: a link that is not full though it has flows of
 * its own gives them more; one that is too full gives less, to its own and to those from links of
 * a higher level, which become its own. Either is done in the order of levels, at the lower of
 * the old and the new, for what is changed at a level only changes what lies above it (the theory
 * of bottleneck structures: J. Ros-Giralt et al., "On the bottleneck structure of
 * congestion-controlled networks", 2019). So a flow that comes or goes costs what its change
 * reaches, not the component.
 *
 * What a link has left is an integer of 128 bits, on a grid so fine that sums of rates are exact:
 * nothing piles up, however long flows come and go, and no order of adding matters.
 *
 * Invariant after solve, for each link: it is full if it has flows of its own, and not too full
 * else; each of its flows has a level of at most its own, but for CLOSE. Should repairing not come
 * to rest (levels that are equal but for rounding can chase each other), all is filled from
 * nothing: maxmin_fill.c. */
#include <config.h>

#include "sim/network/fluid/maxmin.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/network/fluid/maxmin_state.h"

/* A link is full when what it has left is below this part of what its own flows have (without any,
 * of its capacity), for their rates are rounded. */
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
    m->link = th_alloc_zero(n, sizeof *m->link);
    m->residual = th_alloc_zero(n, sizeof *m->residual);
    m->mark = th_alloc_zero(n, sizeof *m->mark);
    m->increased = th_alloc_zero(n, sizeof *m->increased);
    m->level = th_alloc_zero(n, sizeof *m->level);
    m->dirty = th_alloc_array(n, sizeof *m->dirty);
    m->touched = th_alloc_array(n, sizeof *m->touched);
    m->heap = th_alloc_array(n, sizeof *m->heap);
    m->changed = th_alloc_array(n, sizeof *m->changed);
    th_blocks_init(&m->hops);
    if (!m->link || !m->residual || !m->mark || !m->increased || !m->level || !m->dirty ||
        !m->touched || !m->heap || !m->changed) {
        th_maxmin_free(m);
        return NULL;
    }
    m->unit = (greatest > 0 ? ilogb(greatest) : 0) + 1 - GRID_BITS;
    m->scale = ldexp(1.0, m->unit);
    th_maxmin_reset(m);
    return m;
}

void th_maxmin_free(th_maxmin *m)
{
    if (!m)
        return;
    for (int32_t l = 0; m->link && l < m->n_links; l++)
        th_free(m->link[l].entry);
    th_free(m->link);
    th_free(m->residual);
    th_free(m->mark);
    th_free(m->increased);
    th_free(m->level);
    th_free(m->flow);
    th_free(m->bottleneck);
    th_blocks_clear(&m->hops);
    th_free(m->live);
    th_free(m->added);
    th_free(m->dirty);
    th_free(m->touched);
    th_free(m->heap);
    th_free(m->changed);
    th_free(m->moved);
    th_free(m);
}

void th_maxmin_reset(th_maxmin *m)
{
    for (int32_t l = 0; l <= m->n_links; l++) {
        th_maxmin_link *k = &m->link[l];
        *k = (th_maxmin_link){.entry = k->entry,
                              .room = k->room,
                              .capacity = k->capacity,
                              .tolerance = th_maxmin_fixed(m, k->capacity * FULL),
                              .place = -1};
        m->residual[l] = th_maxmin_fixed(m, k->capacity);
        m->mark[l] = 0;
        m->level[l] = INFINITY;
    }
    th_blocks_reset(&m->hops);
    m->n_live = m->n_added = m->n_moved = 0;
    m->n_dirty = m->n_touched = m->n_heap = m->n_changed = 0;
    m->stamp = 0;
    m->has_weights = false;
}

/* --- flows come and go ------------------------------------------------------------------------ */

static void mark_dirty(th_maxmin *m, int32_t l)
{
    if (m->link[l].is_dirty)
        return;
    m->link[l].is_dirty = true;
    m->dirty[m->n_dirty++] = l;
}

void th_maxmin_set_capacity(th_maxmin *m, int32_t l, double capacity)
{
    double most = ldexp(1.0, m->unit + GRID_BITS + HEADROOM_BITS);
    th_maxmin_link *k = &m->link[l];
    capacity = capacity < most ? capacity : most;
    if (capacity == k->capacity)
        return;
    m->residual[l] += th_maxmin_fixed(m, capacity) - th_maxmin_fixed(m, k->capacity);
    k->tolerance = th_maxmin_fixed(m, capacity * FULL);
    k->capacity = capacity;
    mark_dirty(m, l);
}

/* All that add may need, so that nothing after it fails. */
static int make_room(th_maxmin *m, int32_t flow, const int32_t *links, int32_t n)
{
    if (th_grow(&m->flow, &m->flow_room, (size_t)flow + 1, sizeof *m->flow) ||
        th_grow(&m->bottleneck, &m->bottleneck_room, (size_t)flow + 1, sizeof *m->bottleneck) ||
        th_grow(&m->live, &m->live_room, m->n_live + 1, sizeof *m->live) ||
        th_grow(&m->added, &m->added_room, m->n_added + 1, sizeof *m->added) ||
        th_grow(&m->moved, &m->moved_room, m->n_live + 1, sizeof *m->moved))
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
    m->flow[flow] = (th_maxmin_flow){
        .share = 1 / weight, .first = first, .n_hops = n, .live = (int32_t)m->n_live};
    m->bottleneck[flow] = m->n_links;
    m->has_weights |= weight != 1;
    for (int32_t i = 0; i < n; i++) {
        th_maxmin_link *k = &m->link[links[i]];
        m->hops.item[first + i] = links[i];
        m->hops.item[first + n + i] = (int32_t)k->n;
        k->entry[k->n++] = (th_maxmin_entry){flow, i};
        k->n_new++;
    }
    m->live[m->n_live++] = flow;
    m->added[m->n_added++] = flow;
    return 0;
}

/* Gives flow, which is alone everywhere, all of its narrowest link; returns that. */
static int32_t place_alone(th_maxmin *m, int32_t flow)
{
    th_maxmin_flow *w = &m->flow[flow];
    const int32_t *hop = &m->hops.item[w->first];
    int32_t least = hop[0];
    for (int32_t i = 1; i < w->n_hops; i++)
        if (m->link[hop[i]].capacity < m->link[least].capacity)
            least = hop[i];
    w->rate = m->link[least].capacity;
    __int128 fixed = th_maxmin_fixed(m, w->rate);
    for (int32_t i = 0; i < w->n_hops; i++) {
        m->residual[hop[i]] -= fixed;
        m->link[hop[i]].n_new = 0;
    }
    m->bottleneck[flow] = least;
    m->link[least].n_bottlenecked = 1;
    m->link[least].bottlenecked_shares = w->share;
    m->mark[least] |= TH_LINK_OWNS;
    m->level[least] = w->rate / w->share;
    return least;
}

int th_maxmin_add_uncontended(th_maxmin *m, int32_t flow, double weight, const int32_t *links,
                              int32_t n)
{
    if (th_maxmin_add(m, flow, weight, links, n))
        return -1;
    m->n_added--;
    place_alone(m, flow);
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

static void forget_fresh(th_maxmin *m, int32_t flow)
{
    size_t i = 0;
    while (m->added[i] != flow)
        i++;
    m->added[i] = m->added[--m->n_added];
}

static void forget_move(th_maxmin *m, int32_t flow)
{
    size_t i = 0;
    while (m->moved[i] != flow)
        i++;
    m->moved[i] = m->moved[--m->n_moved];
}

void th_maxmin_own(th_maxmin *m, int32_t l, int32_t place, double share)
{
    swap_entries(m, l, place, m->link[l].n_bottlenecked++);
    m->link[l].bottlenecked_shares += share;
    m->mark[l] |= TH_LINK_OWNS;
}

/* The entry at a place of a link is no longer one of its own. */
static void disown(th_maxmin *m, int32_t l, int32_t place, double share)
{
    th_maxmin_link *k = &m->link[l];
    swap_entries(m, l, place, --k->n_bottlenecked);
    k->bottlenecked_shares -= share;
    if (k->n_bottlenecked > 0)
        return;
    k->bottlenecked_shares = 0;
    m->mark[l] &= (uint8_t)~TH_LINK_OWNS;
    th_maxmin_note_change(m, l);
    m->level[l] = INFINITY;
}

void th_maxmin_remove(th_maxmin *m, int32_t flow)
{
    th_maxmin_flow *w = &m->flow[flow];
    int32_t bottleneck = m->bottleneck[flow];
    __int128 fixed = th_maxmin_fixed(m, w->rate);
    for (int32_t i = 0; i < w->n_hops; i++) {
        const int32_t l = m->hops.item[w->first + i],
                      *place = &m->hops.item[w->first + w->n_hops + i];
        m->residual[l] += fixed;
        if (bottleneck == m->n_links)
            m->link[l].n_new--;
        else if (bottleneck == l)
            disown(m, l, *place, w->share);
        swap_entries(m, l, *place, (int32_t)--m->link[l].n);
    }
    for (int32_t i = 0; i < w->n_hops; i++)
        if (m->link[m->hops.item[w->first + i]].n_bottlenecked > 0)
            mark_dirty(m, m->hops.item[w->first + i]);
    if (bottleneck == m->n_links)
        forget_fresh(m, flow);
    th_blocks_give(&m->hops, w->first, 2 * w->n_hops);
    int32_t last = m->live[--m->n_live];
    m->live[w->live] = last;
    m->flow[last].live = w->live;
    if (w->is_moved)
        forget_move(m, flow);
}

/* --- the links to be looked at, by level ------------------------------------------------------ */

typedef struct th_maxmin_key key;

static bool comes_before(const key *a, const key *b)
{
    return a->level < b->level || (a->level == b->level && a->link < b->link);
}

static void put(th_maxmin *m, int32_t i, key k)
{
    m->heap[i] = k;
    m->link[k.link].place = i;
}

static void sift_up(th_maxmin *m, int32_t i, key k)
{
    for (; i > 0 && comes_before(&k, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        put(m, i, m->heap[(i - 1) / 2]);
    put(m, i, k);
}

/* Puts link l in, or takes it forward; a later level than it has is not taken over. */
void th_maxmin_push(th_maxmin *m, int32_t l, double level)
{
    int32_t i = m->link[l].place;
    if (i < 0)
        i = m->n_heap++;
    else if (m->heap[i].level <= level)
        return;
    sift_up(m, i, (key){level, l});
}

int32_t th_maxmin_pop(th_maxmin *m, double *level)
{
    key first = m->heap[0], last = m->heap[--m->n_heap];
    int32_t i = 0;
    for (int32_t c = 1; c < m->n_heap; c = 2 * i + 1) {
        if (c + 1 < m->n_heap && comes_before(&m->heap[c + 1], &m->heap[c]))
            c++;
        if (!comes_before(&m->heap[c], &last))
            break;
        put(m, i, m->heap[c]);
        i = c;
    }
    if (m->n_heap > 0)
        put(m, i, last);
    m->link[first.link].place = -1;
    *level = first.level;
    return first.link;
}

/* --- repair ----------------------------------------------------------------------------------- */

/* Whether link l breaks a condition; then *level is a lower bound of the level at which it does,
 * when all below `reached` is right: the lower of the level that it has and its fair one. */
static bool is_wrong(const th_maxmin *m, int32_t l, double reached, double *level)
{
    const th_maxmin_link *k = &m->link[l];
    bool is_asked = k->n_new > 0 || (m->mark[l] & TH_LINK_PASSED);
    if (!is_asked && k->n_bottlenecked == 0 && m->residual[l] >= -k->tolerance)
        return false;
    double rest = th_maxmin_amount(m, m->residual[l]);
    if (!is_asked && k->n_bottlenecked > 0 &&
        fabs(rest) <= m->level[l] * k->bottlenecked_shares * FULL)
        return false;
    double x = th_maxmin_least_level(m, l, rest);
    x = x < m->level[l] ? x : m->level[l];
    *level = x > reached ? x : reached;
    return true;
}

/* Whether a flow of another bottleneck would become l's own at level x. */
static bool is_above(const th_maxmin *m, int32_t bottleneck, double x)
{
    return m->level[bottleneck] > x * TH_MAXMIN_CLOSE;
}

/* Flow becomes link l's own. */
static void move(th_maxmin *m, int32_t flow, int32_t l)
{
    const th_maxmin_flow *w = &m->flow[flow];
    int32_t from = m->bottleneck[flow];
    for (int32_t i = 0; i < w->n_hops; i++) {
        int32_t o = m->hops.item[w->first + i];
        int32_t place = m->hops.item[w->first + w->n_hops + i];
        if (o == l)
            th_maxmin_own(m, o, place, w->share);
        else if (o == from)
            disown(m, o, place, w->share);
        m->link[o].n_new -= from == m->n_links;
    }
    m->bottleneck[flow] = l;
    th_maxmin_note_move(m, flow);
}

/* The change of a flow's rate: by more, to level x where it grows and else 0, of which so much
 * counts as risen. */
typedef struct {
    __int128 more;
    double x, risen;
} growth;

static void touch_hops(th_maxmin *m, const th_maxmin_flow *w, growth g)
{
    /* None of these overlaps another, which the compiler cannot know. */
    const int32_t *restrict hop = &m->hops.item[w->first], *restrict end = hop + w->n_hops;
    const double *restrict level = m->level;
    __int128 *restrict rest = m->residual;
    uint8_t *restrict mark = m->mark;
    double *restrict risen = m->increased;
    int32_t *restrict hot = m->touched;
    int32_t n_touched = m->n_touched;
    for (; hop < end; hop++) {
        int32_t o = *hop;
        uint8_t now = mark[o];
        rest[o] -= g.more;
        risen[o] += g.risen;
        hot[n_touched] = o;
        n_touched += !(now & TH_LINK_HOT);
        mark[o] =
            (uint8_t)(now | TH_LINK_HOT | (g.x > level[o] * TH_MAXMIN_CLOSE ? TH_LINK_PASSED : 0));
    }
    m->n_touched = n_touched;
}

/* Flow gets its rate at level x. A flow that comes by several times is changed once. */
static void give_rate(th_maxmin *m, int32_t flow, double x)
{
    th_maxmin_flow *w = &m->flow[flow];
    if (w->seen == m->stamp)
        return;
    w->seen = m->stamp;
    double rate = x * w->share;
    __int128 more = th_maxmin_fixed(m, rate) - th_maxmin_fixed(m, w->rate);
    bool is_new = m->bottleneck[flow] == m->n_links; /* it was above every level */
    touch_hops(m, w, (growth){more, more > 0 ? x : 0, more > 0 && !is_new ? rate - w->rate : 0});
    w->rate = rate;
}

/* The same for link l's own flows, where no flow has a weight: all of them change by the same. */
static void give_own_rates(th_maxmin *m, int32_t l, double x)
{
    const th_maxmin_link *k = &m->link[l];
    if (k->n_bottlenecked == 0) /* then x may be infinite */
        return;
    __int128 more = th_maxmin_fixed(m, x) - th_maxmin_fixed(m, m->level[l]);
    const growth g = {more, more > 0 ? x : 0, more > 0 ? x - m->level[l] : 0};
    for (int32_t i = 0; i < k->n_bottlenecked; i++)
        __builtin_prefetch(&m->flow[k->entry[i].flow], 1);
    for (int32_t i = 0; i < k->n_bottlenecked; i++) {
        th_maxmin_flow *w = &m->flow[k->entry[i].flow];
        if (i + 1 < k->n_bottlenecked)
            __builtin_prefetch(&m->hops.item[m->flow[k->entry[i + 1].flow].first]);
        if (w->seen == m->stamp)
            continue;
        w->seen = m->stamp;
        w->rate = x;
        touch_hops(m, w, g);
    }
}

/* Link l gets level x: its own flows and those above it get their rates. */
static void give_level(th_maxmin *m, int32_t l, double x, size_t n_above)
{
    th_maxmin_link *k = &m->link[l];
    m->stamp++;
    if (!m->has_weights)
        give_own_rates(m, l, x);
    for (int32_t i = 0; m->has_weights && i < k->n_bottlenecked; i++)
        give_rate(m, k->entry[i].flow, x);
    for (size_t i = (size_t)k->n_bottlenecked; n_above > 0 && i < k->n; i++) {
        int32_t flow = k->entry[i].flow;
        if (m->bottleneck[flow] == l || !is_above(m, m->bottleneck[flow], x))
            continue;
        give_rate(m, flow, x);
        move(m, flow, l);
    }
    m->mark[l] &= (uint8_t) ~(TH_LINK_PASSED | TH_LINK_KNOWN | TH_LINK_EXACT);
    k->bottlenecked_shares = th_maxmin_own_shares(m, k);
    if (k->n_bottlenecked == 0) /* too full by rounding alone */
        return;
    th_maxmin_note_change(m, l);
    m->level[l] = x;
}

/* Most links that a round touches have room and no flows of their own: nothing more is read of
 * them.
 * (None has new flows: those are placed before a flow that has a rate changes it.) */
static void look_at_hot(th_maxmin *m, double reached)
{
    double level;
    for (int32_t i = 0; i < m->n_touched; i++) {
        int32_t l = m->touched[i];
        m->mark[l] &= (uint8_t) ~(TH_LINK_HOT | TH_LINK_EXACT);
        bool is_asked = m->mark[l] & (TH_LINK_PASSED | TH_LINK_OWNS);
        if ((is_asked || m->residual[l] < 0) && is_wrong(m, l, reached, &level))
            th_maxmin_push(m, l, level);
    }
    m->n_touched = 0;
}

/* False: it does not come to rest. */
static bool repair(th_maxmin *m)
{
    int64_t steps_left = 1000 + 8 * (int64_t)m->n_links;
    while (m->n_heap > 0) {
        double reached, bound;
        int32_t l = th_maxmin_pop(m, &reached);
        if (!is_wrong(m, l, reached, &bound)) {
            m->mark[l] &= (uint8_t) ~(TH_LINK_KNOWN | TH_LINK_EXACT);
            continue;
        }
        if (steps_left-- == 0)
            return false;
        if (!(m->mark[l] & TH_LINK_EXACT))
            th_maxmin_find_fair(m, l);
        double x = m->link[l].fair;
        if (x > reached && x < m->level[l] && m->n_heap > 0 && m->heap[0].level < x) {
            th_maxmin_push(m, l, x);
            continue;
        }
        give_level(m, l, x, m->link[l].n_above);
        look_at_hot(m, reached);
    }
    return true;
}

/* --- solving ---------------------------------------------------------------------------------- */

/* A flow that is alone everywhere has all of its narrowest link. */
static bool take_alone(th_maxmin *m, int32_t flow)
{
    const th_maxmin_flow *w = &m->flow[flow];
    for (int32_t i = 0; i < w->n_hops; i++)
        if (m->link[m->hops.item[w->first + i]].n > 1)
            return false;
    th_maxmin_note_change(m, place_alone(m, flow));
    th_maxmin_note_move(m, flow);
    return true;
}

/* Those that remain to be placed come first in fresh. */
static void place_those_alone(th_maxmin *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_added; i++)
        if (!take_alone(m, m->added[i]))
            m->added[n++] = m->added[i];
    m->n_added = n;
}

static void look_at_dirty(th_maxmin *m)
{
    double level;
    for (int32_t i = 0; i < m->n_dirty; i++)
        if (is_wrong(m, m->dirty[i], 0, &level))
            th_maxmin_push(m, m->dirty[i], level);
    for (size_t i = 0; i < m->n_added; i++) {
        const th_maxmin_flow *w = &m->flow[m->added[i]];
        for (int32_t h = 0; h < w->n_hops; h++) {
            int32_t l = m->hops.item[w->first + h];
            bool is_in = m->link[l].place >= 0; /* at the level that it would be put in at again */
            if (!is_in && is_wrong(m, l, 0, &level))
                th_maxmin_push(m, l, level);
        }
    }
}

void th_maxmin_clear_changes(th_maxmin *m)
{
    for (size_t i = 0; i < m->n_moved; i++)
        m->flow[m->moved[i]].is_moved = false;
    for (int32_t i = 0; i < m->n_changed; i++)
        m->link[m->changed[i]].is_changed = false;
    m->n_moved = 0;
    m->n_changed = 0;
}

void th_maxmin_solve(th_maxmin *m)
{
    place_those_alone(m);
    look_at_dirty(m);
    if (!repair(m))
        th_maxmin_fill(m);
    for (int32_t i = 0; i < m->n_dirty; i++)
        m->link[m->dirty[i]].is_dirty = false;
    m->n_dirty = 0;
    m->n_added = 0;
}
