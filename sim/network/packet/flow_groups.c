/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_groups.c - groups of long flows, see groups.h: formed by union and find over the media of
 * the routes of the loose flows.
 *   init -> (enter | join | form | leave)* -> reset -> ... -> clear
 *
 * Cost: forming touches the routes of the loose flows. It waits until as many packets have been
 * sent over links as those routes have links, so that a network whose flows change faster than
 * groups are of use pays little for them. */
#include <config.h>

#include "base/alloc.h"
#include "sim/network/packet/packet.h"

int th_flow_groups_init(th_flow_groups *g, size_t n_media, bool is_off)
{
    *g = (th_flow_groups){.is_off = is_off, .first_unused = -1};
    g->group_of = th_alloc_array(n_media + 1, sizeof *g->group_of);
    g->owner = th_alloc_array(n_media + 1, sizeof *g->owner);
    g->n_outside = th_alloc_array(n_media + 1, sizeof *g->n_outside);
    return g->group_of && g->owner && g->n_outside ? 0 : -1;
}

void th_flow_groups_reset(th_flow_groups *g, size_t n_media)
{
    for (size_t m = 0; m < n_media; m++) {
        g->group_of[m] = -1;
        g->n_outside[m] = 0;
    }
    g->first_unused = -1;
    for (size_t i = 0; i < g->n_groups; i++) {
        g->groups[i]->is_formed = g->groups[i]->is_suspended = false;
        g->groups[i]->next_unused = g->first_unused;
        g->first_unused = (int32_t)i;
    }
    g->n_loose = g->n_long = g->n_marked = 0;
    g->loose_hops = g->n_sent = g->scans = 0;
    g->n_suspended = 0;
}

void th_flow_group_forget(th_flow_group *g)
{
    g->history = (th_interval_history){0};
    g->period = 0;
    g->caution = 1;
}

static void free_group(th_flow_group *g)
{
    th_free(g->flows);
    th_free(g->media);
    th_free(g->begin.state.item);
    th_free(g->begin.totals.item);
    th_free(g->end.state.item);
    th_free(g->end.totals.item);
    th_free(g->events);
    th_free(g);
}

void th_flow_groups_clear(th_flow_groups *g)
{
    for (size_t i = 0; i < g->n_groups; i++)
        free_group(g->groups[i]);
    th_free(g->groups);
    th_free(g->group_of);
    th_free(g->owner);
    th_free(g->n_outside);
    th_free(g->loose);
    th_free(g->parent);
    th_free(g->marked);
}

static int32_t medium_of_hop(const th_packet_network *p, const th_packet_flow *f, int32_t i)
{
    return p->fabric.links[th_hop_link(p->traffic.hops.item[f->first_hop + i])].medium;
}

void th_flow_groups_enter(th_packet_network *p, int32_t flow)
{
    const th_packet_flow *f = &p->traffic.flows[flow];
    for (int32_t i = 0; i < f->n_hops; i++)
        p->groups.n_outside[medium_of_hop(p, f, i)]++;
}

static void stop_being_outside(th_packet_network *p, const th_packet_flow *f)
{
    for (int32_t i = 0; i < f->n_hops; i++)
        p->groups.n_outside[medium_of_hop(p, f, i)]--;
}

/* loose has room for all long flows. */
static void loosen(th_packet_network *p, int32_t flow)
{
    th_flow_groups *g = &p->groups;
    th_packet_flow *f = &p->traffic.flows[flow];
    f->group = TH_GROUP_LOOSE;
    f->place = (int32_t)g->n_loose;
    g->loose[g->n_loose++] = flow;
    g->loose_hops += f->n_hops;
}

static void dissolve(th_packet_network *p, th_flow_group *g)
{
    for (size_t i = 0; i < g->n_media; i++)
        p->groups.group_of[g->media[i]] = -1;
    for (size_t i = 0; i < g->n_flows; i++)
        loosen(p, g->flows[i]);
    g->is_formed = false;
    g->next_unused = p->groups.first_unused;
    p->groups.first_unused = g->number;
}

int th_flow_groups_join(th_packet_network *p, int32_t flow)
{
    th_flow_groups *g = &p->groups;
    const th_packet_flow *f = &p->traffic.flows[flow];
    if (th_grow(&g->loose, &g->loose_room, g->n_long + 1, sizeof *g->loose))
        return -1;
    for (int32_t i = 0; i < f->n_hops; i++) {
        int32_t group = g->group_of[medium_of_hop(p, f, i)];
        if (group >= 0)
            dissolve(p, g->groups[group]);
    }
    stop_being_outside(p, f);
    loosen(p, flow);
    g->n_long++;
    return 0;
}

void th_flow_groups_leave(th_packet_network *p, int32_t flow)
{
    th_flow_groups *g = &p->groups;
    const th_packet_flow *f = &p->traffic.flows[flow];
    if (f->group == TH_GROUP_NONE) {
        stop_being_outside(p, f);
        return;
    }
    if (f->group >= 0)
        dissolve(p, g->groups[f->group]);
    int32_t last = g->loose[--g->n_loose];
    g->loose[f->place] = last;
    p->traffic.flows[last].place = f->place;
    g->loose_hops -= f->n_hops;
    g->n_long--;
}

/* --- forming ---------------------------------------------------------------------------------- */

static int32_t find(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Unites loose flows that share a medium. */
static void unite(th_packet_network *p)
{
    th_flow_groups *g = &p->groups;
    for (size_t i = 0; i < g->n_loose; i++) {
        const th_packet_flow *f = &p->traffic.flows[g->loose[i]];
        g->parent[i] = (int32_t)i;
        for (int32_t h = 0; h < f->n_hops; h++)
            g->owner[medium_of_hop(p, f, h)] = (int32_t)i;
    }
    for (size_t i = 0; i < g->n_loose; i++) {
        const th_packet_flow *f = &p->traffic.flows[g->loose[i]];
        for (int32_t h = 0; h < f->n_hops; h++)
            g->parent[find(g->parent, (int32_t)i)] =
                find(g->parent, g->owner[medium_of_hop(p, f, h)]);
    }
}

/* One more group, unused; 0, or -1: memory is out. */
static int add_group(th_flow_groups *g)
{
    if (th_grow(&g->groups, &g->room, g->n_groups + 1, sizeof(th_flow_group *)) ||
        th_grow(&g->marked, &g->marked_room, g->n_groups + 1, sizeof *g->marked))
        return -1;
    th_flow_group *new = th_alloc_zero(1, sizeof *new);
    if (!new)
        return -1;
    new->number = (int32_t)g->n_groups;
    new->next_unused = g->first_unused;
    g->first_unused = new->number;
    g->groups[g->n_groups++] = new;
    return 0;
}

/* A group without flows; NULL: memory is out. */
static th_flow_group *take_group(th_flow_groups *g, int32_t marker)
{
    if (g->first_unused < 0 && add_group(g))
        return NULL;
    th_flow_group *taken = g->groups[g->first_unused];
    g->first_unused = taken->next_unused;
    taken->n_flows = taken->n_media = 0;
    taken->is_formed = true;
    taken->has_run_out = false;
    taken->marker = marker;
    th_flow_group_forget(taken);
    return taken;
}

static int add_flow(th_packet_network *p, th_flow_group *g, int32_t flow)
{
    th_packet_flow *f = &p->traffic.flows[flow];
    if (th_grow(&g->flows, &g->flow_room, g->n_flows + 1, sizeof *g->flows) ||
        th_grow(&g->media, &g->media_room, g->n_media + (size_t)f->n_hops, sizeof *g->media))
        return -1;
    g->flows[g->n_flows++] = flow;
    f->group = g->number;
    for (int32_t i = 0; i < f->n_hops; i++) {
        int32_t m = medium_of_hop(p, f, i);
        if (p->groups.group_of[m] != g->number)
            g->media[g->n_media++] = m;
        p->groups.group_of[m] = g->number;
    }
    return 0;
}

int th_flow_groups_form(th_packet_network *p)
{
    th_flow_groups *g = &p->groups;
    if (th_grow(&g->parent, &g->parent_room, g->n_loose, sizeof *g->parent))
        return -1;
    unite(p);
    for (size_t i = 0; i < g->n_loose; i++) { /* the groups, each at the place of its root */
        if (find(g->parent, (int32_t)i) != (int32_t)i)
            continue;
        th_flow_group *new = take_group(g, g->loose[i]);
        if (!new)
            return -1;
        p->traffic.flows[g->loose[i]].group = new->number;
    }
    for (size_t i = 0; i < g->n_loose; i++) {
        int32_t root = g->loose[find(g->parent, (int32_t)i)];
        if (add_flow(p, g->groups[p->traffic.flows[root].group], g->loose[i]))
            return -1;
    }
    g->n_loose = 0;
    g->loose_hops = 0;
    g->n_sent = 0;
    return 0;
}
