/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reroute.c - flows take other routes during a run.
 *
 * The transfers of a flow keep what they have carried: the flow leaves its media and the solver,
 * and shares those of the new route with its virtual time as it is, so each transfer continues
 * behind its last byte. Nothing of the new route's latency is added, and a weight by latency stays
 * that of the first route. The bytes of a link are those that crossed it: at the change, what was
 * carried is booked on the links of the old route. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "sim/network/fluid/fluid.h"

static bool has_route(const th_fluid *f, const th_flow_route *a, const th_flow_route *b)
{
    const int32_t *link = f->routes.links.item;
    return a->n_links == b->n_links &&
           memcmp(&link[a->first], &link[b->first], (size_t)a->n_links * sizeof *link) == 0;
}

/* Its transfers that have left their latency behind, settled or not. */
static int32_t n_entered(const th_fluid *f, int32_t slot)
{
    int32_t n = f->flows[slot].n_sharing;
    for (size_t i = 0; i < f->uncontended.entered.n; i++)
        n += f->transfers[f->uncontended.entered.item[i]].flow == slot;
    return n;
}

/* What a transfer of the flow, which is at no medium, has carried since its route last changed; at
 * least a byte is left. Takes it from its bytes. */
static int64_t take_carried(const th_fluid_flow *w, th_fluid_transfer *t)
{
    double left = th_dd_add(t->finish, w->offset).hi / (w->weight * (double)TH_PS_PER_S);
    int64_t all = t->bytes;
    t->bytes = left >= (double)all ? all : left > 1 ? (int64_t)llround(left) : 1;
    t->earliest = 0; /* the new route may be wider */
    return all - t->bytes;
}

static void leave_links(th_fluid *f, const th_fluid_flow *w, int64_t carried, th_time now)
{
    for (int32_t i = 0; i < w->route.n_links; i++)
        th_network_link_leave(&f->head, f->routes.links.item[w->route.first + i], now, carried);
}

/* All transfers leave the links of their route. 0 or -1. */
static int leave_route(th_fluid *f, const th_fluid_flow *w, th_time now)
{
    th_fluid_list *stack = &f->media;
    stack->n = 0;
    if (w->first >= 0 && th_fluid_add(stack, w->first))
        return -1;
    while (stack->n > 0) { /* the transfers that share media are a heap */
        th_fluid_transfer *t = &f->transfers[stack->item[--stack->n]];
        leave_links(f, w, take_carried(w, t), now);
        if ((t->child >= 0 && th_fluid_add(stack, t->child)) ||
            (t->sibling >= 0 && th_fluid_add(stack, t->sibling)))
            return -1;
    }
    for (int32_t i = w->n_sharing; i < w->n_transfers; i++)
        leave_links(f, w, 0, now);
    return 0;
}

static void enter_route(th_fluid *f, const th_fluid_flow *w, th_time now)
{
    for (int32_t k = 0; k < w->n_transfers; k++)
        for (int32_t i = 0; i < w->route.n_links; i++)
            th_network_link_enter(&f->head, f->routes.links.item[w->route.first + i], now);
}

/* Counts n transfers of the flow on its media: by 1, or by -1. */
static void count_uses(th_fluid *f, const th_fluid_flow *w, int32_t n, int by)
{
    for (int32_t k = 0; k < n; k++) {
        th_dram_contention_use(f, w, by);
        if (by < 0)
            th_fluid_leave(f, w);
        for (int32_t i = 0; by > 0 && i < w->route.n_links; i++) {
            const int32_t link = f->routes.links.item[w->route.first + i];
            f->uncontended.n_on[f->head.system->links[link].medium]++;
        }
    }
}

static int take_route(th_fluid *f, th_events *q, int32_t slot, const th_flow_route *route,
                      th_time now)
{
    th_fluid_flow *w = &f->flows[slot];
    int32_t entered = n_entered(f, slot);
    if (w->sharing == TH_FLUID_UNCONTENDED && th_fluid_enter_solver(f, slot))
        return -1;
    bool is_shared = w->sharing == TH_FLUID_IN_SOLVER;
    if (is_shared) {
        th_maxmin_remove(f->shares, slot);
        th_virtual_time_withdraw(f, q, slot, now);
    }
    if (leave_route(f, w, now))
        return -1;
    count_uses(f, w, entered, -1);
    th_routes_give(&f->routes, &w->route);
    w->route = *route;
    if (th_fault_loss_detour(f, w))
        return -1;
    count_uses(f, w, entered, 1);
    enter_route(f, w, now);
    return is_shared ? th_fluid_share_media(f, slot) : 0;
}

/* The flow takes the route that a new one would take. 0 or -1. */
static int reroute(th_fluid *f, th_events *q, int32_t slot, th_time now)
{
    th_flow_route route;
    const th_fluid_flow *w = &f->flows[slot];
    if (th_routes_take(&f->routes, &f->head, w->src, w->dst, w->stripe, &route))
        return -1;
    if (!has_route(f, &route, &w->route))
        return take_route(f, q, slot, &route, now);
    th_routes_give(&f->routes, &route);
    return 0;
}

int th_fluid_avoid(th_network *n, th_events *q, int32_t medium, bool is_avoided, th_time now)
{
    th_fluid *f = (th_fluid *)n;
    if (th_detours_avoid(&n->detours, n->system, medium, is_avoided))
        return -1;
    for (size_t i = 0; i < f->n_by_nodes; i++)
        for (int32_t slot = f->by_nodes[i]; slot >= 0; slot = f->flows[slot].next)
            if (reroute(f, q, slot, now))
                return -1;
    return 0;
}

bool th_fluid_transfer_on(th_network *n, int link, int *src, int *dst)
{
    const th_fluid *f = (const th_fluid *)n;
    bool found = false;
    for (size_t i = 0; i < f->n_by_nodes; i++)
        for (int32_t slot = f->by_nodes[i]; slot >= 0; slot = f->flows[slot].next) {
            const th_fluid_flow *w = &f->flows[slot];
            bool is_on = false;
            for (int32_t k = 0; k < w->route.n_links; k++)
                is_on |= f->routes.links.item[w->route.first + k] == link;
            if (!is_on || (found && (w->src > *src || (w->src == *src && w->dst > *dst))))
                continue;
            *src = w->src;
            *dst = w->dst;
            found = true;
        }
    return found;
}
