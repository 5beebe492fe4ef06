/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fault_loss.c - how much of their time transfers lose to faults of links.
 *
 *   (set | detour | begin | at | end)* -> clear -> ...
 *
 * While a medium has the part f of its bandwidth, it loses 1 - f of the time: with the whole one,
 * flows that it limits would carry in f dt what they carry in dt, if they kept their shares. A flow
 * loses what its bottleneck loses. A detour whose narrowest link has the part g < 1 of the
 * bandwidth of the own route's loses 1 - g of the time, too, and a transfer that starts on it loses
 * the latency that it adds. Sharing is no loss, also that on a detour. The sum may exceed what the
 * transfer takes longer than alone, where another link would limit it next; the reader of fault_ps
 * takes the lesser of both.
 *
 * As a virtual time, the loss of a medium is a count of which flows keep differences: lost of a
 * flow is that of its bottleneck less an offset, and that of a transfer begins when it joins.
 * Nothing is kept before the first fault, when all counts are 0. */
#include <config.h>

#include "sim/network/fluid/fluid.h"

#include <math.h>

#include "topology/routing/route.h"

/* Of one medium, in ps: lost at since, and what it loses per ps from then on. */
struct th_medium_loss {
    double lost, share;
    th_time since;
};

static int prepare(th_fluid *f)
{
    if (!f->loss)
        f->loss = th_alloc_zero((size_t)f->n_media + 1, sizeof *f->loss);
    return f->loss ? 0 : -1;
}

int th_fault_loss_set(th_fluid *f, int32_t medium, double bytes_per_s, th_time now)
{
    double all = (double)f->head.system->media[medium].bits_per_s / 8.0;
    if (!f->loss && bytes_per_s == all)
        return 0;
    if (prepare(f))
        return -1;
    struct th_medium_loss *l = &f->loss[medium];
    l->lost += l->share * (double)(now - l->since);
    l->since = now;
    l->share = 1 - bytes_per_s / all;
    return 0;
}

double th_fault_loss_at(const th_fluid *f, const th_fluid_flow *w, int32_t medium, th_time now)
{
    const struct th_medium_loss *l = &f->loss[medium];
    return l->lost + l->share * (double)(now - l->since) + w->detour_loss * (double)now;
}

/* Its route without faults; where there is none, that which it has. */
static th_route_summary own_route(const th_fluid *f, const th_fluid_flow *w)
{
    th_route_summary own;
    if (th_route_summarize(f->head.system, w->src, w->dst, &own) < 0)
        own = (th_route_summary){.latency_ps = w->route.latency_ps,
                                 .bits_per_s = w->route.bits_per_s};
    return own;
}

int th_fault_loss_detour(th_fluid *f, th_fluid_flow *w)
{
    double share = (double)w->route.bits_per_s / (double)own_route(f, w).bits_per_s;
    w->detour_loss = share < 1 ? 1 - share : 0;
    return prepare(f);
}

void th_fault_loss_begin(const th_fluid *f, const th_fluid_flow *w, th_fluid_transfer *t)
{
    if (f->head.detours.n_avoided > 0)
        t->lost = (double)(own_route(f, w).latency_ps - w->route.latency_ps);
}

th_time th_fault_loss_end(const th_fluid *f, const th_fluid_flow *w, const th_fluid_transfer *t,
                          th_time now)
{
    double lost = 0;
    int32_t medium = w->sharing == TH_FLUID_UNCONTENDED ? w->narrowest : w->bottleneck;
    if (t->padded > 0 && w->route.n_links > 0 && medium >= 0) {
        lost = w->lost + th_fault_loss_at(f, w, medium, now);
        if (w->sharing == TH_FLUID_UNCONTENDED)
            lost -= th_fault_loss_at(f, w, medium, w->since);
    }
    lost -= t->lost;
    return lost > 0 ? (th_time)llround(lost) : 0;
}

void th_fault_loss_clear(th_fluid *f)
{
    th_free(f->loss);
    f->loss = NULL;
}
