/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin_state.h - private to the solver: what maxmin.c, maxmin_level.c and
 * maxmin_fill.c share. */
#ifndef TH_SIM_NETWORK_FLUID_MAXMIN_STATE_H
#define TH_SIM_NETWORK_FLUID_MAXMIN_STATE_H
#include <string.h>
#include "sim/kernel/double_double.h"
#include "sim/network/fluid/maxmin.h"

/* Marks of a link: it is in work.touched; a flow on it has got a rate above its level; it is the
 * bottleneck of a flow; its fair level has been computed, and nothing on it has changed since. */
enum {
    TH_LINK_TOUCHED = 1,
    TH_LINK_EXCEEDED = 2,
    TH_LINK_IS_BOTTLENECK = 4,
    TH_LINK_FAIR_EXACT = 8
};

/* A level above another by less than this is not above it. */
#define TH_MAXMIN_CLOSE (1 + 0x1p-44)

/* maxmin_level.c. bottlenecked_shares: the sum of count / w of the flows bottlenecked at a link,
 * rounded once. find_fair: the level at which these flows and those above it fill link l, into
 * fair and n_above. least_level: a lower bound of that, at little cost; residual is
 * what the link has left. */
double th_maxmin_bottlenecked_shares(const th_maxmin *m, const th_maxmin_link *k);
void th_maxmin_find_fair(th_maxmin *m, int32_t l);
double th_maxmin_least_level(const th_maxmin *m, int32_t l, double residual);

/* Levels, rates and bottlenecks of all flows that are there, from nothing. */
void th_maxmin_fill(th_maxmin *m);

/* The flow of the entry at a place of a link is bottlenecked there from now on; those entries come
 * first. */
void th_maxmin_bottleneck_here(th_maxmin *m, int32_t link, int32_t place);
void th_maxmin_push(th_maxmin *m, int32_t link, double level);
int32_t th_maxmin_pop(th_maxmin *m, double *level);

/* rate >= 0 in units of 2^m->grid.unit, towards 0. */
static inline __int128 th_maxmin_fixed(const th_maxmin *m, double rate)
{
    enum { MANTISSA_BITS = 52, BIAS = 1023 };
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    int exponent = (int)(bits >> MANTISSA_BITS);
    int shift = exponent - BIAS - MANTISSA_BITS - m->grid.unit;
    uint64_t mantissa = (bits & (((uint64_t)1 << MANTISSA_BITS) - 1)) | (uint64_t)1
                                                                            << MANTISSA_BITS;
    if (exponent == 0 || shift <= -64) /* 0 and what is next to nothing */
        return 0;
    return shift < 0 ? (__int128)(mantissa >> -shift) : (__int128)mantissa << shift;
}

/* What all that a flow stands for have at that rate. */
static inline __int128 th_maxmin_fixed_sum(const th_maxmin *m, const th_maxmin_flow *w, double rate)
{
    return th_maxmin_fixed(m, rate) * w->count;
}

static inline double th_maxmin_shares(const th_maxmin_flow *w)
{
    return w->share * w->count;
}

/* The inverse of fixed. */
static inline double th_maxmin_amount(const th_maxmin *m, __int128 fixed)
{
    return (double)fixed * m->grid.scale;
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
