/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uncontended.c - flows that share no medium of their route with another flow: most flows of a
 * mapped network.
 *
 *   init -> reset -> (enter | settle_entered | enter_solver | leave)*
 *
 * An uncontended flow has the whole capacity of its narrowest medium, so its rate and end follow
 * without the solver. It stays out of the solver until it leaves, another flow enters one of its
 * media, the capacity of one changes, or a DRAM at one of its ends becomes contended. The flow is
 * then inserted into the solver and the virtual times with the state it would have had, to the last
 * bit (the same products and quotients as in virtual_time.c), so no end depends on which flows were
 * uncontended when. Invariants: slot[m] is its slot for exactly the media of flows that are
 * TH_FLUID_UNCONTENDED, and n_on[m] is 1 there; n_on counts every hop of every transfer that has
 * entered. */
#include <config.h>

#include <string.h>

#include "sim/kernel/fluid_time.h"
#include "sim/network/fluid/fluid.h"

/* --- life ------------------------------------------------------------------------------------- */

int th_uncontended_init(th_fluid *f, const th_system *s)
{
    size_t media = (size_t)s->n_media + 1;
    f->uncontended.n_on = th_memory_take(&f->head.memory, media, sizeof *f->uncontended.n_on);
    f->uncontended.slot = th_memory_take(&f->head.memory, media, sizeof *f->uncontended.slot);
    return f->uncontended.n_on && f->uncontended.slot ? 0 : -1;
}

void th_uncontended_reset(th_fluid *f)
{
    f->uncontended.entered.n = 0;
    for (int m = 0; m < f->head.system->n_media; m++) {
        f->uncontended.n_on[m] = 0;
        f->uncontended.slot[m] = -1;
    }
}

/* --- the media of a route --------------------------------------------------------------------- */

static int32_t medium_of(const th_fluid *f, const th_fluid_flow *w, int32_t hop)
{
    return f->head.system->links[f->routes.links.item[w->route.first + hop]].medium;
}

static void set_uncontended(th_fluid *f, const th_fluid_flow *w, int32_t slot)
{
    for (int32_t i = 0; i < w->route.n_links; i++)
        f->uncontended.slot[medium_of(f, w, i)] = slot;
}

/* The narrowest of its media if the flow is alone on all of them and all have capacity; else -1. */
static int32_t find_narrowest(const th_fluid *f, const th_fluid_flow *w)
{
    int32_t narrowest = -1;
    double least = 0;
    if (f->uncontended.is_disabled)
        return -1;
    if (f->dram.any_shared &&
        (th_fluid_uses_contended_dram(f, w, 0) || th_fluid_uses_contended_dram(f, w, 1)))
        return -1;
    for (int32_t i = 0; i < w->route.n_links; i++) {
        int32_t m = medium_of(f, w, i);
        double capacity = f->shares->capacity[m];
        if (f->uncontended.n_on[m] > 1 || !(capacity > 0))
            return -1;
        if (narrowest < 0 || capacity < least) {
            narrowest = m;
            least = capacity;
        }
    }
    return narrowest;
}

/* --- flows enter and leave -------------------------------------------------------------------- */

int th_fluid_enter(th_fluid *f, int32_t transfer)
{
    const th_fluid_flow *w = &f->flows[f->transfers[transfer].flow];
    for (int32_t i = 0; i < w->route.n_links; i++)
        f->uncontended.n_on[medium_of(f, w, i)]++;
    return th_fluid_add(&f->uncontended.entered, transfer);
}

void th_fluid_leave(th_fluid *f, const th_fluid_flow *w)
{
    for (int32_t i = 0; i < w->route.n_links; i++) {
        int32_t m = medium_of(f, w, i);
        f->uncontended.n_on[m]--;
        f->uncontended.slot[m] = -1;
    }
}

static int begin_uncontended(th_fluid *f, th_events *q, int32_t slot, int32_t narrowest,
                             th_time now, th_time end)
{
    th_fluid_flow *w = &f->flows[slot];
    w->sharing = TH_FLUID_UNCONTENDED;
    w->narrowest = narrowest;
    w->rate = f->shares->capacity[narrowest];
    w->since = now;
    w->end = th_fluid_post_end(f, q, w->first, end);
    w->end_time = end;
    set_uncontended(f, w, slot);
    th_fluid_mark_rate_changed(f, slot);
    return w->end == TH_NO_EVENT ? -1 : 0;
}

/* When it ends, if it stays uncontended. */
static th_time end_of(const th_fluid *f, const th_fluid_flow *w, int32_t narrowest, th_time now)
{
    double level = f->shares->capacity[narrowest] / (1 / w->weight);
    const th_fluid_transfer *t = &f->transfers[w->first];
    th_time end = th_fluid_end_time(t->finish, level, now);
    return end > t->earliest ? end : t->earliest;
}

int th_fluid_enter_solver(th_fluid *f, int32_t slot)
{
    th_fluid_flow *w = &f->flows[slot];
    int32_t n;
    const int32_t *media = th_fluid_media_of(f, w, &n);
    set_uncontended(f, w, -1);
    w->sharing = TH_FLUID_IN_SOLVER;
    if (!media || th_maxmin_add_uncontended(f->shares, slot, w->weight, media, n))
        return -1;
    return th_virtual_time_add_since(f, slot, w->narrowest, f->shares->level[w->narrowest]);
}

int th_fluid_share_media(th_fluid *f, int32_t slot)
{
    const th_fluid_flow *w = &f->flows[slot];
    for (int32_t i = 0; i < w->route.n_links; i++) {
        int32_t other = f->uncontended.slot[medium_of(f, w, i)];
        if (other >= 0 && th_fluid_enter_solver(f, other))
            return -1;
    }
    return th_fluid_share(f, slot);
}

/* The first transfer of flow slot. One that would end beyond simulated time goes to the virtual
 * times, which post no event then. */
static int begin(th_fluid *f, th_events *q, int32_t slot, th_time now)
{
    const th_fluid_flow *w = &f->flows[slot];
    if (th_fluid_arrive(f, slot))
        return -1;
    int32_t narrowest = find_narrowest(f, w);
    th_time end = narrowest >= 0 ? end_of(f, w, narrowest, now) : TH_TIME_MAX;
    return end < TH_TIME_MAX ? begin_uncontended(f, q, slot, narrowest, now, end)
                             : th_fluid_share_media(f, slot);
}

static int settle(th_fluid *f, th_events *q, int32_t transfer, th_time now)
{
    int32_t slot = f->transfers[transfer].flow;
    th_fluid_flow *w = &f->flows[slot];
    if (w->sharing == TH_FLUID_UNCONTENDED && th_fluid_enter_solver(f, slot))
        return -1;
    if (w->n_sharing == 0) {
        w->offset = (th_double_double){0, 0};
        w->lost = 0;
    }
    th_virtual_time_join(f, slot, transfer, now);
    if (++w->n_sharing == 1)
        return begin(f, q, slot, now);
    th_maxmin_set_count(f->shares, slot, w->n_sharing);
    th_fluid_mark_rate_changed(f, slot);
    return 0;
}

int th_fluid_settle_entered(th_fluid *f, th_events *q, th_time now)
{
    for (size_t i = 0; i < f->uncontended.entered.n; i++)
        if (settle(f, q, f->uncontended.entered.item[i], now))
            return -1;
    f->uncontended.entered.n = 0;
    return 0;
}
