/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maxmin_state.h - private to the solver: what maxmin.c, maxmin_level.c and
 * maxmin_fill.c share. */
#ifndef TH_SIM_NETWORK_FLUID_MAXMIN_STATE_H
#define TH_SIM_NETWORK_FLUID_MAXMIN_STATE_H
#include <string.h>
#include "base/double_double.h"
#include "sim/network/fluid/maxmin.h"

/* Marks of a link: it is in hot; a flow on it has risen past its level; it has flows of its own;
 * its fair level has been worked out, and nothing on it has changed since. */
enum {
    TH_LINK_HOT = 1,
    TH_LINK_PASSED = 2,
    TH_LINK_OWNS = 4,
    TH_LINK_KNOWN = 8,
    TH_LINK_EXACT = 16
};

/* A level above another by less than this is not above it. */
#define TH_MAXMIN_CLOSE (1 + 0x1p-44)

/* maxmin_level.c: the sum of 1 / w of a link's own flows, as it is but for rounding; the level x at
 * which its own flows and those above x fill link l, into fair, fair_shares and n_above; a lower
 * bound of that, at little cost, for what the link has left. */
double th_maxmin_own_shares(const th_maxmin *m, const th_maxmin_link *k);
void th_maxmin_find_fair(th_maxmin *m, int32_t l);
double th_maxmin_least_level(const th_maxmin *m, int32_t l, double rest);

/* Levels, rates and bottlenecks of all flows that are there, from nothing. */
void th_maxmin_fill(th_maxmin *m);

/* The entry at a place of a link is one of its own from now on; own entries come first. */
void th_maxmin_own(th_maxmin *m, int32_t link, int32_t place, double share);
void th_maxmin_push(th_maxmin *m, int32_t link, double level);
int32_t th_maxmin_pop(th_maxmin *m, double *level);

/* rate >= 0 in units of 2^m->unit, towards 0. */
static inline __int128 th_maxmin_fixed(const th_maxmin *m, double rate)
{
    enum { MANTISSA_BITS = 52, BIAS = 1023 };
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    int exponent = (int)(bits >> MANTISSA_BITS);
    int shift = exponent - BIAS - MANTISSA_BITS - m->unit;
    uint64_t mantissa = (bits & (((uint64_t)1 << MANTISSA_BITS) - 1)) | (uint64_t)1
                                                                            << MANTISSA_BITS;
    if (exponent == 0 || shift <= -64) /* 0 and what is next to nothing */
        return 0;
    return shift < 0 ? (__int128)(mantissa >> -shift) : (__int128)mantissa << shift;
}

/* The other way round. */
static inline double th_maxmin_amount(const th_maxmin *m, __int128 fixed)
{
    return (double)fixed * m->scale;
}

static inline void th_maxmin_note_change(th_maxmin *m, int32_t link)
{
    if (m->link[link].is_changed)
        return;
    m->link[link].is_changed = true;
    m->changed[m->n_changed++] = link;
}

static inline void th_maxmin_note_move(th_maxmin *m, int32_t flow)
{
    if (m->flow[flow].is_moved)
        return;
    m->flow[flow].is_moved = true;
    m->moved[m->n_moved++] = flow;
}

#endif
