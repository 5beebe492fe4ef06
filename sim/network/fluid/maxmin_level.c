/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin_level.c - the fair level of a link, and a lower bound of it.
 *
 *   (least_level -> find_fair)*, then the link gets that level (maxmin.c) or is queued at it
 *
 * With the rates r of its flows as they are, the fair level of a link of capacity C is the x with
 *   sum over its flows of min(level, x) / w = C, an infinite level for flows bottlenecked here
 * The left side is concave in x, so for any set T of flows (C - sum of r outside T) / (sum of 1 / w
 * in T) is at most x. Finding x takes all flows of the link; the bounds take none and tell which
 * link comes first, so that find_fair is called for few. Sums of rates and of 1 / w are exact: a
 * level follows from the flows alone, whatever order they were added in and whatever level the link
 * had before. */
#include <config.h>

#include <math.h>

#include "sim/network/fluid/maxmin_state.h"

/* Flows on link k that are above a level and bottlenecked elsewhere, without unpredictable
 * branches. */
static size_t count_above(const th_maxmin *m, const th_maxmin_link *k, double limit)
{
    const double *level = m->level;
    const int32_t *bottleneck = m->bottleneck;
    const th_maxmin_entry *end = k->entry + k->n;
    size_t n = 0;
    for (const th_maxmin_entry *e = k->entry + k->n_bottlenecked; e < end; e++)
        n += level[bottleneck[e->flow]] > limit;
    return n;
}

/* Adds to rates and *shares those of flows above a level that are bottlenecked elsewhere. */
static __int128 add_above(const th_maxmin *m, const th_maxmin_link *k, double limit, __int128 rates,
                          __int128 *shares)
{
    for (size_t i = (size_t)k->n_bottlenecked; i < k->n; i++) {
        int32_t flow = k->entry[i].flow;
        if (m->level[m->bottleneck[flow]] <= limit)
            continue;
        *shares += th_maxmin_shares(&m->flow[flow]);
        rates += th_maxmin_total(m, &m->flow[flow]);
    }
    return rates;
}

/* Starts with the bottlenecked flows, then takes those above x and computes x again, until the set
 * stays: a few steps. */
double th_maxmin_find_fair(th_maxmin *m, int32_t l, size_t *n_above)
{
    const th_maxmin_link *k = &m->link[l];
    bool is_bottleneck = k->n_bottlenecked > 0;
    __int128 left = m->residual[l]; /* by the others */
    for (int32_t i = 0; i < k->n_bottlenecked; i++)
        left += th_maxmin_total(m, &m->flow[k->entry[i].flow]);
    double x = is_bottleneck ? th_maxmin_amount(m, left) / k->own : -1;
    size_t n = 0, before = 0;
    bool none_above = is_bottleneck && x >= m->level[l] && k->new_shares == 0 &&
                      !(m->mark[l] & TH_LINK_EXCEEDED); /* above the level it had */
    for (size_t round = 0; !none_above; round++) {
        double limit = x > 0 ? x * TH_MAXMIN_CLOSE : x;
        m->work.n_read += (int64_t)k->n;
        n = count_above(m, k, limit);
        if (n == before || (round > 1 && n > before))
            break; /* from the second on there are ever fewer */
        before = n;
        __int128 shares = k->own_shares;
        __int128 rates = add_above(m, k, limit, left, &shares);
        x = th_maxmin_amount(m, rates) / th_maxmin_share(shares);
    }
    *n_above = n;
    return x > 0 ? x : 0;
}

/* Of the bottlenecked flows and those that have no bottleneck yet, else of all of them. */
double th_maxmin_least_level(const th_maxmin *m, int32_t l, double residual)
{
    const th_maxmin_link *k = &m->link[l];
    double shares = k->own + (k->new_shares > 0 ? th_maxmin_share(k->new_shares) : 0);
    if (shares == 0)
        return m->capacity[l] / th_maxmin_share(k->shares);
    return (residual + (k->own > 0 ? m->level[l] * k->own : 0)) / shares;
}
