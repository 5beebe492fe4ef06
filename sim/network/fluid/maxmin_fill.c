/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin_fill.c - progressive filling from nothing, where repairing does not converge.
 *
 *   open_all -> fix the flows of the link that is full first, again and again
 *
 *   repeat: the link with the least (capacity left / sum of 1 / w of its open flows) gives each of
 *   them that level; they are no longer open
 * (D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2.) A link's level only rises
 * while flows are fixed elsewhere, so a key in the heap is a lower bound that is put right when it
 * comes up. Invariant: new_shares are those of open flows. */
#include <config.h>

#include <math.h>

#include "sim/network/fluid/maxmin_state.h"

static bool is_open(const th_maxmin *m, const th_maxmin_flow *w)
{
    return w->stamp != m->work.stamp;
}

static void open_link(th_maxmin *m, int32_t l)
{
    th_maxmin_link *k = &m->link[l];
    if (m->mark[l] & TH_LINK_TOUCHED)
        return;
    m->mark[l] = TH_LINK_TOUCHED;
    m->work.touched[m->work.n_touched++] = l;
    m->residual[l] = th_maxmin_fixed(m, m->capacity[l]);
    th_maxmin_set_own(k, 0);
    k->n_bottlenecked = 0;
    k->new_shares = k->shares;
    th_maxmin_note_change(m, l);
    m->level[l] = INFINITY;
}

/* Opens all live flows and their links, which are then in touched. */
static void open_all(th_maxmin *m)
{
    for (int32_t i = 0; i < m->work.n_heap; i++)
        m->link[m->work.heap[i].link].place = 0;
    m->work.n_heap = 0;
    m->work.stamp++;
    for (size_t i = 0; i < m->flows.n_live; i++) {
        th_maxmin_flow *w = &m->flow[m->flows.live[i]];
        for (int32_t h = 0; h < w->n_hops; h++)
            open_link(m, m->hops.item[w->first + h]);
    }
}

/* What its open flows would get if it were full now. */
static double open_level(const th_maxmin *m, int32_t l)
{
    const th_maxmin_link *k = &m->link[l];
    double x = th_maxmin_amount(m, m->residual[l]) / th_maxmin_share(k->new_shares);
    return x > 0 ? x : 0;
}

static void fix(th_maxmin *m, int32_t flow, int32_t l, double x)
{
    th_maxmin_flow *w = &m->flow[flow];
    w->stamp = m->work.stamp;
    w->rate = x * w->share;
    __int128 shares = th_maxmin_shares(w), total = th_maxmin_total(m, w);
    for (int32_t i = 0; i < w->n_hops; i++) {
        int32_t o = m->hops.item[w->first + i];
        th_maxmin_link *k = &m->link[o];
        m->residual[o] -= total;
        k->new_shares -= shares;
        if (o == l)
            th_maxmin_bottleneck_here(m, o, m->hops.item[w->first + w->n_hops + i]);
    }
    if (m->bottleneck[flow] != l)
        th_maxmin_note_move(m, flow);
    m->bottleneck[flow] = l;
}

void th_maxmin_fill(th_maxmin *m)
{
    open_all(m);
    for (int32_t i = 0; i < m->work.n_touched; i++) {
        m->mark[m->work.touched[i]] = 0;
        th_maxmin_push(m, m->work.touched[i], open_level(m, m->work.touched[i]));
    }
    m->work.n_touched = 0;
    while (m->work.n_heap > 0) {
        double bound;
        int32_t l = th_maxmin_pop(m, &bound);
        th_maxmin_link *k = &m->link[l];
        if (k->new_shares == 0)
            continue;
        double x = open_level(m, l);
        if (m->work.n_heap > 0 && m->work.heap[0].level < x) {
            th_maxmin_push(m, l, x);
            continue;
        }
        m->level[l] = x;
        for (size_t i = 0; i < k->n; i++)
            if (is_open(m, &m->flow[k->entry[i].flow]))
                fix(m, k->entry[i].flow, l, x);
    }
}
