/* SPDX-License-Identifier: GPL-3.0-or-later */
/* periods.c - skips periods in which a group of long flows repeats itself.
 *
 *   sent, for each packet over a link -> end_step: find -> begin_state -> compare -> suspend
 *   resume: the group continues, k periods later
 *
 * Long flows that share links soon send in a pattern: each period T every flow sends the same
 * number of packets, at the same times from the period's begin on. If the state of a group, with
 * times relative to now, is the same at the ends of two time steps, all that follows the second is
 * what followed the first, T later, until a flow runs out of whole packets, or another flow takes
 * one of the group's media. So the group is suspended: its pending events are taken out. To
 * continue after k periods, all its times are shifted by k T, and what grows in a period (packets
 * sent and delivered, statistics of links) grows k times. The result is the one of all packets,
 * exactly.
 *
 * How a period is found: intervals begin whenever a packet of one flow, the marker, is injected.
 * Each has a hash of what was sent when. When the last hashes repeat, the states at the ends of
 * two presumed periods are compared in full. Each failure doubles the caution, the repetitions
 * required before the next attempt.
 *
 * Costs: a hash per packet and link; at most TH_PERIOD_INTERVALS comparisons per packet of a
 * marker; scans of the pending events, of which SCANS_PER_PACKET may be looked at for each packet
 * over a link. Observers see every packet, so with them nothing is skipped. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/network/packet/packet.h"

enum { SCANS_PER_PACKET = 8, CAUTION_MAX = 256, LEAST_PERIODS = 2 };

static void put(th_words *w, int64_t x)
{
    if (w->has_failed || th_grow(&w->item, &w->room, w->n + 1, sizeof *w->item)) {
        w->has_failed = true;
        return;
    }
    w->item[w->n++] = x;
}

static int64_t from_now(th_time t, th_time now)
{
    return t > now ? t - now : 0;
}

static th_time period_ps(const th_flow_group *g)
{
    return g->end.at - g->begin.at;
}

/* Of those that a suspended group skips. */
static int64_t periods_until(const th_flow_group *g, th_time until)
{
    int64_t k = until > g->end.at ? (until - g->end.at) / period_ps(g) : 0;
    return k < g->most ? k : g->most;
}

/* --- intervals -------------------------------------------------------------------------------- */

/* Packets in flight, of each flow: with backlogs that still grow, no interval repeats another. */
static uint64_t hash_in_flight(const th_packet_network *p, const th_flow_group *g, uint64_t hash)
{
    for (size_t i = 0; i < g->n_flows; i++) {
        const th_packet_flow *f = &p->traffic.flows[g->flows[i]];
        hash = th_hash_word(hash, (uint64_t)(f->n_undelivered - f->n_to_send));
    }
    return hash;
}

static void end_interval(const th_packet_network *p, th_flow_group *g, th_time now)
{
    th_interval_history *h = &g->history;
    uint64_t hash = hash_in_flight(p, g, h->hash);
    int64_t n = h->n < TH_PERIOD_INTERVALS ? h->n : TH_PERIOD_INTERVALS;
    for (int64_t m = 1; m <= n; m++)
        h->repeats[m] =
            h->past[(h->n - m) & (TH_PERIOD_INTERVALS - 1)] == hash ? h->repeats[m] + 1 : 0;
    h->past[h->n++ & (TH_PERIOD_INTERVALS - 1)] = hash;
    h->hash = 0;
    h->since = now;
}

void th_periods_sent(th_packet_network *p, const th_packet_grant *c, int32_t flow, th_time now)
{
    th_flow_groups *all = &p->groups;
    th_flow_group *g = all->groups[all->group_of[p->fabric.links[c->link].medium]];
    all->scans += SCANS_PER_PACKET;
    uint64_t what = (uint64_t)c->requester << 32 ^ (uint32_t)c->buffer;
    g->history.hash = th_hash_word(g->history.hash ^ what, (uint64_t)(now - g->history.since));
    if (flow != g->marker || !th_packet_is_injection(p, c->requester))
        return;
    end_interval(p, g, now);
    all->marked[all->n_marked++] = g->number;
}

/* --- the state of a group --------------------------------------------------------------------- */

static int32_t medium_of_event(const th_packet_network *p, const th_packet_event *e)
{
    switch ((th_packet_event_kind)e->kind) {
    case TH_PACKET_HEAD_ARRIVES:
        return p->fabric.links[th_packet_link_of(p, p->traffic.packets[e->object].buffer)].medium;
    case TH_PACKET_TAIL_LEAVES:
        return p->fabric.links[e->object].medium;
    case TH_PACKET_CREDIT:
    case TH_PACKET_READY:
        return p->fabric.links[th_packet_link_of(p, e->object)].medium;
    case TH_PACKET_RETRY:
        return e->object;
    case TH_PACKET_INJECT:
    case TH_PACKET_RESUME:
        break;
    }
    return -1;
}

/* Does e change the state of g? The last packet of a flow that has ended may still leave one of its
 * buffers, over a medium outside. */
static bool belongs_to(const th_packet_network *p, const th_flow_group *g, const th_packet_event *e)
{
    int32_t medium = medium_of_event(p, e);
    if (medium < 0 || p->groups.group_of[medium] == g->number)
        return medium >= 0;
    int32_t read = p->fabric.media[medium].buffer_read;
    return e->kind == TH_PACKET_TAIL_LEAVES && read >= 0 &&
           p->groups.group_of[p->fabric.links[th_packet_link_of(p, read)].medium] == g->number;
}

static int keep_event(const th_packet_network *p, th_flow_group *g, const th_packet_event *e,
                      th_time in)
{
    if (th_grow(&g->events, &g->event_room, g->n_events + 1, sizeof *g->events))
        return -1;
    int32_t place =
        e->kind == TH_PACKET_HEAD_ARRIVES ? p->traffic.packets[e->object].buffer : e->object;
    g->events[g->n_events++] = (th_group_event){in, e->kind, place, e->bytes, e->object};
    return 0;
}

/* The pending events of a group, into g->events; takes: out of the network's. 0 or -1. */
static int collect_events(th_packet_network *p, th_flow_group *g, th_time now, bool takes)
{
    th_packet_events *q = &p->events;
    g->n_events = 0;
    for (size_t i = 0; i < q->n_heap; i++) {
        th_time in = q->heap[i].time - now;
        int32_t *at = &q->steps[q->heap[i].step].first;
        while (*at >= 0) {
            th_packet_event *e = &q->events[*at];
            bool is_own = belongs_to(p, g, e);
            if (is_own && keep_event(p, g, e, in))
                return -1;
            if (is_own && takes) {
                int32_t taken = *at;
                *at = e->next;
                th_packet_events_give_back(q, taken);
            } else {
                at = &e->next;
            }
        }
    }
    return 0;
}

static int by_time_and_place(const void *a, const void *b)
{
    const th_group_event *x = a, *y = b;
    if (x->in != y->in)
        return x->in < y->in ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void put_events(th_flow_group *g, th_words *w)
{
    qsort(g->events, g->n_events, sizeof *g->events, by_time_and_place);
    for (size_t i = 0; i < g->n_events; i++) {
        const th_group_event *e = &g->events[i];
        put(w, e->in);
        put(w, (int64_t)e->kind << 32 | (uint32_t)e->bytes);
        put(w, e->place);
    }
}

static void put_buffer(const th_packet_network *p, int32_t buffer, th_time now, th_words *w)
{
    const th_packet_buffer *b = &p->fabric.buffers[buffer];
    put(w, b->free_bytes);
    put(w, from_now(b->ready_at, now));
    put(w, p->requests.link[buffer]);
    for (int32_t k = b->first; k >= 0; k = p->traffic.packets[k].next) {
        const th_packet *packet = &p->traffic.packets[k];
        put(w, (int64_t)packet->flow << 1 | packet->has_arrived);
        put(w, (int64_t)packet->hop << 32 | packet->bytes);
        put(w, from_now(packet->tail, now));
    }
    put(w, -1);
}

static void put_link(const th_packet_network *p, int32_t link, th_time now, th_words *w)
{
    const th_packet_link *l = &p->fabric.links[link];
    int32_t n = p->options.n_crossbar_inputs;
    for (int32_t r = l->first_requester; r >= 0; r = p->requests.next[r])
        put(w, r);
    put(w, -1);
    for (int32_t f = l->first_flow; f >= 0; f = p->traffic.flows[f].next)
        put(w, f);
    put(w, -1);
    put(w, l->next_channel_to_fill << 8 | l->next_channel_to_read);
    for (int32_t i = link * n; i < (link + 1) * n; i++) {
        put(w, from_now(p->fabric.inputs[i].busy_until, now));
        put(w, p->fabric.inputs[i].next_medium);
    }
    if (!th_packet_is_terminal(p, link))
        put(w, p->head.link_flows[link]);
    for (int32_t b = th_packet_first_buffer(p, link); b < th_packet_first_buffer(p, link + 1); b++)
        put_buffer(p, b, now, w);
}

/* What grows: of each flow, and of each link of the system. */
static void put_totals(const th_packet_network *p, const th_flow_group *g, th_time now, th_words *w)
{
    for (size_t i = 0; i < g->n_flows; i++) {
        const th_packet_flow *f = &p->traffic.flows[g->flows[i]];
        put(w, f->n_to_send);
        put(w, f->n_undelivered);
    }
    for (size_t i = 0; i < g->n_media; i++) {
        const th_packet_medium *m = &p->fabric.media[g->media[i]];
        for (int32_t k = m->first_link; k < m->first_link + m->n_links; k++) {
            int32_t l = p->fabric.links_of_media[k];
            if (th_packet_is_terminal(p, l))
                continue;
            put(w, p->head.link_bytes[l]);
            put(w, p->head.link_busy_ps[l] +
                       (p->head.link_flows[l] > 0 ? now - p->head.link_since[l] : 0));
            put(w, (int64_t)p->head.link_flow_ps[l]);
            put(w, p->head.link_since[l]);
        }
    }
}

/* Into *s. 0 or -1. */
static int read_state(th_packet_network *p, th_flow_group *g, th_time now, th_group_state *s)
{
    th_words *w = &s->state;
    s->at = now;
    w->n = s->totals.n = 0;
    w->has_failed = s->totals.has_failed = false;
    if (collect_events(p, g, now, false))
        return -1;
    put_events(g, w);
    for (size_t i = 0; i < g->n_media; i++) {
        const th_packet_medium *m = &p->fabric.media[g->media[i]];
        put(w, from_now(m->busy_until, now));
        put(w, m->busy_until > now ? m->buffer_read : -1);
        put(w, m->next_link);
        for (int32_t k = m->first_link; k < m->first_link + m->n_links; k++)
            put_link(p, p->fabric.links_of_media[k], now, w);
    }
    put_totals(p, g, now, &s->totals);
    return w->has_failed || s->totals.has_failed ? -1 : 0;
}

/* --- suspend ---------------------------------------------------------------------------------- */

/* Periods that all flows can send in whole packets. Afterwards their next packet is still a whole
 * one: the last may be shorter, and fit where a whole one does not. */
static int64_t count_periods(const th_packet_network *p, const th_flow_group *g)
{
    int64_t most = INT64_MAX;
    for (size_t i = 0; i < g->n_flows; i++) {
        const th_packet_flow *f = &p->traffic.flows[g->flows[i]];
        int64_t sent = g->begin.totals.item[2 * i] - g->end.totals.item[2 * i];
        if (sent > 0 && (f->n_to_send - 2) / sent < most)
            most = (f->n_to_send - 2) / sent;
    }
    return most;
}

static int suspend(th_packet_network *p, th_flow_group *g)
{
    g->most = count_periods(p, g);
    if (g->most < LEAST_PERIODS || g->most > (TH_TIME_MAX - g->end.at) / period_ps(g)) {
        g->has_run_out = true;
        return 0;
    }
    if (collect_events(p, g, g->end.at, true))
        return -1;
    g->is_suspended = true;
    p->groups.n_suspended++;
    th_packet_event resume = {-1, TH_PACKET_RESUME, g->number, ++g->n_skips};
    return th_packet_events_post(&p->events, g->end.at + g->most * period_ps(g), &resume);
}

static bool are_equal(const th_words *a, const th_words *b)
{
    return a->n == b->n && memcmp(a->item, b->item, a->n * sizeof *a->item) == 0;
}

/* The shortest presumed period; 0: none. */
static int32_t presume_period(const th_flow_group *g)
{
    for (int32_t m = 1; m <= TH_PERIOD_INTERVALS; m++)
        if (g->history.repeats[m] >= m + g->caution)
            return m;
    return 0;
}

/* Has the presumed period brought the state of its begin back? */
static int compare(th_packet_network *p, th_flow_group *g, th_time now)
{
    g->period = 0;
    if (read_state(p, g, now, &g->end))
        return -1;
    if (are_equal(&g->begin.state, &g->end.state))
        return suspend(p, g);
    g->caution = g->caution < CAUTION_MAX ? 2 * g->caution : CAUTION_MAX;
    return 0;
}

/* Is no flow from outside on the way to or over its media? */
static bool is_closed(const th_packet_network *p, th_flow_group *g)
{
    for (size_t i = 0; i < g->n_media; i++)
        if (p->groups.n_outside[g->media[i]] > 0) {
            g->period = 0;
            return false;
        }
    return true;
}

/* The marker of g has sent a packet in this time step. */
static int examine(th_packet_network *p, th_flow_group *g, th_time now)
{
    const int64_t n_scans = 3 * (int64_t)p->events.n_pending; /* begin, compare, suspend */
    if (!g->is_formed || g->has_run_out || !is_closed(p, g))
        return 0;
    if (g->period > 0 && g->history.repeats[g->period] > 0)
        return --g->left > 0 ? 0 : compare(p, g, now);
    g->period = presume_period(g);
    if (g->period == 0 || p->groups.scans < n_scans) {
        g->period = 0;
        return 0;
    }
    p->groups.scans -= n_scans;
    g->left = g->period;
    return read_state(p, g, now, &g->begin);
}

int th_periods_end_step(th_packet_network *p, th_time now)
{
    th_flow_groups *all = &p->groups;
    if (!p->head.observers)
        for (size_t i = 0; i < all->n_marked; i++)
            if (examine(p, all->groups[all->marked[i]], now))
                return -1;
    all->n_marked = 0;
    return all->n_loose > 0 && all->n_sent >= all->loose_hops ? th_flow_groups_form(p) : 0;
}

/* --- resume ----------------------------------------------------------------------------------- */

static void shift_link(th_packet_network *p, int32_t link, th_time shift_ps)
{
    int32_t n = p->options.n_crossbar_inputs;
    for (int32_t i = link * n; i < (link + 1) * n; i++)
        p->fabric.inputs[i].busy_until += shift_ps;
    for (int32_t b = th_packet_first_buffer(p, link); b < th_packet_first_buffer(p, link + 1);
         b++) {
        p->fabric.buffers[b].ready_at += shift_ps;
        for (int32_t k = p->fabric.buffers[b].first; k >= 0; k = p->traffic.packets[k].next)
            p->traffic.packets[k].tail += shift_ps;
    }
}

/* before, after: the totals of a link at the begin and the end of a period: bytes, busy time up to
 * then, link_flow_ps, link_since. */
static void add_to_link(th_packet_network *p, int32_t l, const int64_t *before,
                        const int64_t *after, int64_t k, th_time shift_ps)
{
    p->head.link_bytes[l] = th_bytes_add(p->head.link_bytes[l], k * (after[0] - before[0]));
    p->head.link_flow_ps[l] +=
        (uint64_t)k * ((uint64_t)after[2] - (uint64_t)before[2]); /* as many enter as leave */
    if (p->head.link_flows[l] > 0 && after[3] == before[3])
        return; /* busy all the time */
    p->head.link_busy_ps[l] += k * (after[1] - before[1]);
    p->head.link_since[l] += shift_ps;
}

/* k periods have passed. */
static void add_periods(th_packet_network *p, const th_flow_group *g, int64_t k)
{
    const int64_t *before = g->begin.totals.item, *after = g->end.totals.item;
    th_time shift_ps = k * period_ps(g);
    for (size_t i = 0; i < g->n_flows; i++, before += 2, after += 2) {
        th_packet_flow *f = &p->traffic.flows[g->flows[i]];
        f->n_to_send += k * (after[0] - before[0]);
        f->bytes_to_send += k * (after[0] - before[0]) * p->options.packet_bytes;
        f->n_undelivered += k * (after[1] - before[1]);
        if (after[1] != before[1])
            f->end += shift_ps;
    }
    for (size_t i = 0; i < g->n_media; i++) {
        th_packet_medium *m = &p->fabric.media[g->media[i]];
        m->busy_until += shift_ps;
        for (int32_t j = m->first_link; j < m->first_link + m->n_links; j++) {
            int32_t l = p->fabric.links_of_media[j];
            shift_link(p, l, shift_ps);
            if (th_packet_is_terminal(p, l))
                continue;
            add_to_link(p, l, before, after, k, shift_ps);
            before += 4;
            after += 4;
        }
    }
}

int th_periods_resume(th_packet_network *p, th_flow_group *g, th_time until)
{
    int64_t k = periods_until(g, until);
    if (k > 0)
        add_periods(p, g, k);
    g->is_suspended = false;
    p->groups.n_suspended--;
    th_flow_group_forget(g);
    for (size_t i = g->n_events; i-- > 0;) { /* so that a step has them in the same order */
        const th_group_event *e = &g->events[i];
        th_packet_event again = {-1, e->kind, e->object, e->bytes};
        if (th_packet_events_post(&p->events, g->end.at + k * period_ps(g) + e->in, &again))
            return -1;
    }
    return 0;
}

int th_periods_end_skip(th_packet_network *p, int32_t group, int32_t n_skips, th_time now)
{
    th_flow_group *g = p->groups.groups[group];
    if (!g->is_suspended || g->n_skips != n_skips)
        return 0; /* it has been resumed before */
    g->has_run_out = true;
    return th_periods_resume(p, g, now);
}

int th_periods_resume_route(th_packet_network *p, int32_t flow, th_time until)
{
    const th_packet_flow *f = &p->traffic.flows[flow];
    int any = 0;
    for (int32_t i = 0; i < f->n_hops; i++) {
        int32_t link = th_hop_link(p->traffic.hops.item[f->first_hop + i]);
        int32_t group = p->groups.group_of[p->fabric.links[link].medium];
        if (group < 0 || !p->groups.groups[group]->is_suspended)
            continue;
        if (th_periods_resume(p, p->groups.groups[group], until))
            return -1;
        any = 1;
    }
    return any;
}

/* A time step at which g has an end of a period, without an effect: the run gets to that time. */
static int visit_end(th_packet_network *p, const th_flow_group *g, th_time until)
{
    const th_packet_event none = {-1, TH_PACKET_RESUME, g->number, -1};
    return th_packet_events_post(&p->events, g->end.at + periods_until(g, until) * period_ps(g),
                                 &none);
}

int th_periods_resume_all(th_packet_network *p, th_time until)
{
    if (p->groups.n_suspended == 0)
        return 0;
    for (size_t i = 0; i < p->groups.n_groups; i++) {
        th_flow_group *g = p->groups.groups[i];
        if (g->is_suspended && (visit_end(p, g, until) || th_periods_resume(p, g, until)))
            return -1;
    }
    return 1;
}
