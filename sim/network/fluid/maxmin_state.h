/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin_state.h - private to the solver: what maxmin.c, maxmin_level.c and
 * maxmin_fill.c share. */
#ifndef TH_SIM_NETWORK_FLUID_MAXMIN_STATE_H
#define TH_SIM_NETWORK_FLUID_MAXMIN_STATE_H
#include <string.h>
#include "sim/network/fluid/maxmin.h"

/* Marks of a link: it is in work.touched; a flow on it has got a rate above its level; it is the
 * bottleneck of a flow. */
enum { TH_LINK_TOUCHED = 1, TH_LINK_EXCEEDED = 2, TH_LINK_IS_BOTTLENECK = 4 };

/* A level above another by less than this is not above it. */
#define TH_MAXMIN_CLOSE (1 + 0x1p-44)

/* maxmin_level.c. find_fair: the level at which the flows bottlenecked at link l and those above it
 * fill the link; *n_above of these are bottlenecked elsewhere. least_level: a lower bound of that,
 * at little cost; residual is what the link has left. */
double th_maxmin_find_fair(th_maxmin *m, int32_t l, size_t *n_above);
double th_maxmin_least_level(const th_maxmin *m, int32_t l, double residual);

/* Levels, rates and bottlenecks of all flows that are there, from nothing. */
void th_maxmin_fill(th_maxmin *m);

/* The flow of the entry at a place of a link is bottlenecked there from now on; those entries come
 * first. */
void th_maxmin_bottleneck_here(th_maxmin *m, int32_t link, int32_t place);
void th_maxmin_push(th_maxmin *m, int32_t link, double level);
int32_t th_maxmin_pop(th_maxmin *m, double *level);

/* value >= 0 in units of 2^unit, towards 0. */
static inline __int128 th_maxmin_units(double value, int unit)
{
    enum { MANTISSA_BITS = 52, BIAS = 1023 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> MANTISSA_BITS);
    int shift = exponent - BIAS - MANTISSA_BITS - unit;
    uint64_t mantissa = (bits & (((uint64_t)1 << MANTISSA_BITS) - 1)) | (uint64_t)1
                                                                            << MANTISSA_BITS;
    if (exponent == 0 || shift <= -64) /* 0 and what is next to nothing */
        return 0;
    return shift < 0 ? (__int128)(mantissa >> -shift) : (__int128)mantissa << shift;
}

static inline __int128 th_maxmin_fixed(const th_maxmin *m, double rate)
{
    return th_maxmin_units(rate, m->grid.unit);
}

/* The rate of all that a flow stands for. */
static inline __int128 th_maxmin_total(const th_maxmin *m, const th_maxmin_flow *w)
{
    return th_maxmin_fixed(m, w->rate) * w->count;
}

/* The inverse of fixed. */
static inline double th_maxmin_amount(const th_maxmin *m, __int128 fixed)
{
    return (double)fixed * m->grid.scale;
}

/* Shares have a grid of their own. They are at most 1e12, that of a weight by a latency of a
 * picosecond, so sums over 2^27 flows do not overflow. */
enum { TH_MAXMIN_SHARE_UNIT = -60 };

/* Of all that a flow stands for. */
static inline __int128 th_maxmin_shares(const th_maxmin_flow *w)
{
    return th_maxmin_units(w->share, TH_MAXMIN_SHARE_UNIT) * w->count;
}

static inline double th_maxmin_share(__int128 shares)
{
    return (double)shares * 0x1p-60;
}

static inline void th_maxmin_set_own(th_maxmin_link *k, __int128 shares)
{
    k->own_shares = shares;
    k->own = th_maxmin_share(shares);
}

static inline void th_maxmin_note_change(th_maxmin *m, int32_t link)
{
    if (m->link[link].is_changed)
        return;
    m->link[link].is_changed = true;
    m->changes.link[m->changes.n_links++] = link;
}

static inline void th_maxmin_note_move(th_maxmin *m, int32_t flow)
{
    if (m->flow[flow].is_moved)
        return;
    m->flow[flow].is_moved = true;
    m->changes.flow[m->changes.n_flows++] = flow;
}

#endif
