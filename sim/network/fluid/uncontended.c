/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uncontended.c - flows that are alone on all media of their route: most, where a network has been
 * mapped.
 *
 *   init -> reset -> (enter | settle_entered | mingle | leave)* -> clear
 *
 * Such a flow has all of its narrowest medium, so nothing need be solved: it keeps its rate and its
 * end to itself until it leaves, or until somebody else enters one of its media, somebody changes
 * one, or a DRAM at one of its ends is coupled. Then it mingles: solver and clocks get to know it
 * as if it had been there since it entered, so that no end depends on who was alone when (to the
 * last bit: the same products and quotients as in virtual_time.c). Invariants: alone[m] = slot for
 * exactly the media of flows that are TH_FLUID_ALONE, and n_on[m] is 1 there; n_on counts every hop
 * of every flow that is not TH_FLUID_OUTSIDE. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "sim/kernel/fluid_time.h"
#include "sim/network/fluid/fluid.h"

/* --- life ------------------------------------------------------------------------------------- */

int th_fluid_alone_init(th_fluid *f, const th_system *s)
{
    size_t media = (size_t)s->n_media + 1;
    f->n_on = th_alloc_zero(media, sizeof *f->n_on);
    f->alone = th_alloc_zero(media, sizeof *f->alone);
    return f->n_on && f->alone ? 0 : -1;
}

void th_fluid_alone_clear(th_fluid *f)
{
    th_free(f->n_on);
    th_free(f->alone);
    th_free(f->entered.item);
}

void th_fluid_alone_reset(th_fluid *f)
{
    f->entered.n = 0;
    for (int m = 0; m < f->head.system->n_media; m++) {
        f->n_on[m] = 0;
        f->alone[m] = -1;
    }
}

/* --- the media of a route --------------------------------------------------------------------- */

static int32_t medium_of(const th_fluid *f, const th_fluid_flow *w, int32_t hop)
{
    const int32_t *link = &f->routes.links.item[w->route.first];
    return w->route.is_kept ? link[w->route.n_links + hop]
                            : f->head.system->links[link[hop]].medium;
}

static void set_alone(th_fluid *f, const th_fluid_flow *w, int32_t slot)
{
    for (int32_t i = 0; i < w->route.n_links; i++)
        f->alone[medium_of(f, w, i)] = slot;
}

/* The narrowest of its media, if it is alone on all of them, and they carry something; else -1. */
static int32_t find_narrowest(const th_fluid *f, const th_fluid_flow *w)
{
    int32_t narrowest = -1;
    double least = 0;
    if (f->solves_alone)
        return -1;
    if (f->any_shared && (th_fluid_draws_on_coupled(f, w, 0) || th_fluid_draws_on_coupled(f, w, 1)))
        return -1;
    for (int32_t i = 0; i < w->route.n_links; i++) {
        int32_t m = medium_of(f, w, i);
        double capacity = f->shares->link[m].capacity;
        if (f->n_on[m] > 1 || !(capacity > 0))
            return -1;
        if (narrowest < 0 || capacity < least) {
            narrowest = m;
            least = capacity;
        }
    }
    return narrowest;
}

/* --- flows come and go ------------------------------------------------------------------------ */

int th_fluid_enter(th_fluid *f, int32_t slot)
{
    th_fluid_flow *w = &f->flows[slot];
    w->sharing = TH_FLUID_ENTERED;
    for (int32_t i = 0; i < w->route.n_links; i++)
        f->n_on[medium_of(f, w, i)]++;
    return th_fluid_add(&f->entered, slot);
}

void th_fluid_leave(th_fluid *f, int32_t slot)
{
    const th_fluid_flow *w = &f->flows[slot];
    for (int32_t i = 0; i < w->route.n_links; i++) {
        int32_t m = medium_of(f, w, i);
        f->n_on[m]--;
        f->alone[m] = -1;
    }
}

static int begin_alone(th_fluid *f, th_events *q, int32_t slot, int32_t narrowest, th_time now,
                       th_time end)
{
    th_fluid_flow *w = &f->flows[slot];
    w->sharing = TH_FLUID_ALONE;
    w->narrowest = narrowest;
    w->rate = f->shares->link[narrowest].capacity;
    w->since = now;
    w->finish = w->left;
    w->end = th_fluid_post_end(f, q, slot, end);
    w->end_time = end;
    set_alone(f, w, slot);
    th_fluid_tell_rate(f, slot);
    return w->end == TH_NO_EVENT ? -1 : 0;
}

/* When it ends, if it remains alone. */
static th_time end_of(const th_fluid *f, const th_fluid_flow *w, int32_t narrowest, th_time now)
{
    double level = f->shares->link[narrowest].capacity / (1 / w->weight);
    return th_fluid_end_time(w->left, level, now);
}

int th_fluid_mingle(th_fluid *f, int32_t slot)
{
    th_fluid_flow *w = &f->flows[slot];
    int32_t n;
    const int32_t *media = th_fluid_media_of(f, w, &n);
    set_alone(f, w, -1);
    w->sharing = TH_FLUID_AMONG;
    if (!media || th_maxmin_add_alone(f->shares, slot, w->weight, media, n))
        return -1;
    return th_fluid_join_since(f, slot, w->narrowest, f->shares->level[w->narrowest]);
}

static int share(th_fluid *f, int32_t slot)
{
    const th_fluid_flow *w = &f->flows[slot];
    for (int32_t i = 0; i < w->route.n_links; i++) {
        int32_t other = f->alone[medium_of(f, w, i)];
        if (other >= 0 && th_fluid_mingle(f, other))
            return -1;
    }
    return th_fluid_share(f, slot);
}

/* One that would not end within simulated time is left to the clocks, which post no event then. */
static int settle(th_fluid *f, th_events *q, int32_t slot, th_time now)
{
    const th_fluid_flow *w = &f->flows[slot];
    int32_t narrowest = find_narrowest(f, w);
    th_time end = narrowest >= 0 ? end_of(f, w, narrowest, now) : TH_TIME_MAX;
    return end < TH_TIME_MAX ? begin_alone(f, q, slot, narrowest, now, end) : share(f, slot);
}

int th_fluid_settle_entered(th_fluid *f, th_events *q, th_time now)
{
    for (size_t i = 0; i < f->entered.n; i++)
        if (settle(f, q, f->entered.item[i], now))
            return -1;
    f->entered.n = 0;
    return 0;
}
