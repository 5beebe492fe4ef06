/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid.c - concurrent transfers share links max-min fairly.
 *
 *   create -> reset -> (start -> event ENTERS -> event ENDS | demand)*, settle before time goes on
 *   -> destroy
 *
 * A flow enters the sharing after its delay and the latency of its route (as in SimGrid's CM02),
 * uses every medium of its route, and leaves when its bytes are through, rounded up to a
 * picosecond. maxmin.c computes rates, virtual_time.c ends. A message without bytes or without
 * links takes its latencies and shares nothing.
 *
 * Transfers from one node to another have one route, one weight and one rate: they are one flow of
 * the solver (flows.c). The machine's queue holds one event for each transfer that has not entered
 * yet, and one for each medium that is a bottleneck: the first end there, under the number of that
 * transfer.
 *
 * DRAM: flows use the DRAM at both ends. While that can limit them (is_contended;
 * dram_contention.c), the DRAM is one more medium and the engines of the accelerator are flows too,
 * each behind a medium of its own (its port). While it cannot, flows are solved without it and
 * their sum is reported (dram_demand).
 *
 * Media are numbered: the system's, then, where flows could saturate some DRAM, one DRAM per
 * accelerator and one port per engine. Flows
 * live in slots: the engines first, then those of transfers, whose slots are reused. Not modelled:
 * packets, buffers, protocol overhead. */
#include <config.h>

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/network/fluid/fluid.h"
#include "sim/pipeline/schedule.h"
#include "topology/routing/stripe.h"

typedef th_fluid fluid;
typedef th_fluid_flow flow;

/* --- life ------------------------------------------------------------------------------------- */

static void clear_demand(fluid *f)
{
    for (int a = 0; f->demand.at_accel && a < f->head.system->n_accels; a++)
        th_free(f->demand.at_accel[a].item);
}

static void destroy(th_network *n)
{
    fluid *f = (fluid *)n;
    if (!f)
        return;
    clear_demand(f);
    th_virtual_times_clear(f);
    th_fault_loss_clear(f);
    th_free(f->uncontended.entered.item);
    th_network_head_clear(n);
    th_routes_clear(&f->routes);
    th_maxmin_free(f->shares);
    th_free(f->transfers);
    th_free(f->flows);
    th_free(f->by_nodes);
    th_free(f->media.item);
    th_free(f);
}

static int32_t dram_medium(const fluid *f, int accel)
{
    return f->head.system->n_media + accel;
}

static int32_t port_medium(const fluid *f, int32_t engine)
{
    return f->head.system->n_media + f->head.system->n_accels + engine;
}

static double dram_capacity(const th_system *s, int accel)
{
    return (double)s->nodes[s->accel_node[accel]].a.dram_bits_per_s / 8.0;
}

static int create_shares(fluid *f, const th_system *s)
{
    double greatest = 0;
    for (int m = 0; m < s->n_media; m++)
        greatest = fmax(greatest, (double)s->media[m].bits_per_s / 8.0);
    for (int a = 0; a < s->n_accels; a++)
        greatest = fmax(greatest, dram_capacity(s, a));
    f->shares = th_maxmin_new(f->n_media, greatest);
    if (!f->shares)
        return -1;
    for (int m = 0; m < s->n_media; m++)
        th_maxmin_set_capacity(f->shares, m, (double)s->media[m].bits_per_s / 8.0);
    for (int a = 0; f->dram.any_shared && a < s->n_accels; a++)
        th_maxmin_set_capacity(f->shares, dram_medium(f, a), dram_capacity(s, a));
    return 0;
}

static int init_demand(fluid *f, const th_system *s)
{
    th_fluid_demand *d = &f->demand;
    size_t accels = (size_t)s->n_accels + 1;
    d->at_accel = th_memory_take(&f->head.memory, accels, sizeof *d->at_accel);
    d->is_stale = th_memory_take(&f->head.memory, accels, sizeof *d->is_stale);
    d->is_pending = th_memory_take(&f->head.memory, accels, sizeof *d->is_pending);
    d->pending = th_memory_take(&f->head.memory, accels, sizeof *d->pending);
    return f->head.memory.is_out ? -1 : 0;
}

static int create_parts(fluid *f, const th_system *s)
{
    if (th_network_head_init(&f->head, &th_network_fluid, s) || th_dram_contention_init(f, s) ||
        th_routes_init(&f->routes))
        return -1;
    f->n_engines = f->dram.any_shared ? s->n_accels * TH_N_ENGINES : 0;
    f->n_media = s->n_media + (f->dram.any_shared ? s->n_accels + f->n_engines : 0);
    bool failed = th_fluid_flows_init(f) || init_demand(f, s) || th_virtual_times_init(f) ||
                  th_uncontended_init(f, s) || create_shares(f, s);
    return failed ? -1 : 0;
}

static th_network *create(const th_system *s, const th_network_options *o, th_error *err)
{
    fluid *f = th_alloc_zero(1, sizeof *f);
    if (f && !create_parts(f, s)) {
        f->weigh_by_latency = o->weigh_by_latency;
        f->has_weights = o->weigh_by_latency || th_has_stripes(s);
        f->uncontended.is_disabled = o->solves_uncontended;
        return &f->head;
    }
    th_error_no_memory(err);
    destroy((th_network *)f);
    return NULL;
}

static void reset_demand(fluid *f)
{
    for (int a = 0; a < f->head.system->n_accels; a++) {
        f->demand.at_accel[a].n = 0;
        f->demand.is_pending[a] = f->demand.is_stale[a] = false;
    }
    f->demand.n_pending = 0;
}

static void reset(th_network *n)
{
    fluid *f = (fluid *)n;
    th_network_head_reset(n);
    th_routes_reset(&f->routes);
    th_maxmin_reset(f->shares);
    th_virtual_times_reset(f);
    th_fault_loss_clear(f);
    th_dram_contention_reset(f);
    th_uncontended_reset(f);
    reset_demand(f);
    th_fluid_flows_reset(f);
}

/* --- media of a flow -------------------------------------------------------------------------- */

static const int32_t *links_of(const fluid *f, const flow *w)
{
    return &f->routes.links.item[w->route.first];
}

bool th_fluid_uses_contended_dram(const fluid *f, const flow *w, int end)
{
    return w->accel[end] >= 0 && f->head.is_contended[w->accel[end]];
}

const int32_t *th_fluid_media_of(fluid *f, const flow *w, int32_t *n)
{
    const int32_t *link = links_of(f, w);
    f->media.n = 0;
    for (int32_t i = 0; i < w->route.n_links; i++)
        if (th_fluid_add(&f->media, f->head.system->links[link[i]].medium))
            return NULL;
    for (int end = 0; end < 2; end++)
        if (th_fluid_uses_contended_dram(f, w, end) &&
            th_fluid_add(&f->media, dram_medium(f, w->accel[end])))
            return NULL;
    *n = (int32_t)f->media.n;
    return f->media.item;
}

/* --- DRAM demand ------------------------------------------------------------------------------ */

static void touch(fluid *f, int accel)
{
    if (accel < 0)
        return;
    f->demand.is_stale[accel] = true;
    if (!f->demand.is_pending[accel])
        f->demand.pending[f->demand.n_pending++] = accel;
    f->demand.is_pending[accel] = true;
}

int th_fluid_arrive(fluid *f, int32_t slot)
{
    flow *w = &f->flows[slot];
    for (int end = 0; end < 2; end++) {
        th_fluid_list *there = w->accel[end] >= 0 ? &f->demand.at_accel[w->accel[end]] : NULL;
        if (!there)
            continue;
        w->at[end] = (int32_t)there->n;
        if (th_fluid_add(there, slot << 1 | end))
            return -1;
        touch(f, w->accel[end]);
    }
    return 0;
}

static void depart(fluid *f, const flow *w)
{
    for (int end = 0; end < 2; end++) {
        if (w->accel[end] < 0)
            continue;
        th_fluid_list *there = &f->demand.at_accel[w->accel[end]];
        int32_t last = there->item[--there->n];
        there->item[w->at[end]] = last;
        f->flows[last >> 1].at[last & 1] = w->at[end];
        touch(f, w->accel[end]);
    }
}

static double rate_of(const fluid *f, int32_t slot)
{
    switch ((th_fluid_state)f->flows[slot].sharing) {
    case TH_FLUID_OUTSIDE:
        return 0;
    case TH_FLUID_UNCONTENDED:
        return f->flows[slot].rate;
    case TH_FLUID_IN_SOLVER:
        return f->flows[slot].n_sharing * f->shares->flow[slot].rate;
    }
    return 0;
}

static double dram_demand(th_network *n, int accel)
{
    fluid *f = (fluid *)n;
    if (f->demand.is_stale[accel]) {
        const th_fluid_list *there = &f->demand.at_accel[accel];
        double sum = 0;
        for (size_t i = 0; i < there->n; i++)
            sum += rate_of(f, there->item[i] >> 1);
        n->accel_dram_demand[accel] = sum;
        f->demand.is_stale[accel] = false;
    }
    return n->accel_dram_demand[accel];
}

static void set_bandwidth(th_network *n, int32_t medium, double bytes_per_s, th_time now)
{
    fluid *f = (fluid *)n;
    bool is_uncontended = f->uncontended.slot[medium] >= 0;
    if ((is_uncontended && th_fluid_enter_solver(f, f->uncontended.slot[medium])) ||
        th_fault_loss_set(f, medium, bytes_per_s, now))
        n->has_failed = true;
    else
        th_maxmin_set_capacity(f->shares, medium, bytes_per_s);
}

static void remove_engine(fluid *f, int32_t slot)
{
    th_maxmin_remove(f->shares, slot);
    th_virtual_time_remove(f, slot, 0); /* it never ends, so no time counts */
}

static int add_engine(fluid *f, int32_t slot)
{
    const int32_t media[] = {port_medium(f, slot), dram_medium(f, slot / TH_N_ENGINES)};
    return th_maxmin_add(f->shares, slot, f->flows[slot].weight, media, 2);
}

/* With weights an engine counts as the flow of the greatest weight at its DRAM: it gets
 * no more than any flow, as dram_contention.c needs, and no less than the least of them. */
static int weigh_engines(fluid *f, int32_t accel)
{
    const th_fluid_list *there = &f->demand.at_accel[accel];
    double weight = there->n > 0 ? 0 : 1;
    for (size_t i = 0; i < there->n; i++)
        weight = fmax(weight, f->flows[there->item[i] >> 1].weight);
    for (int32_t slot = accel * TH_N_ENGINES; slot < (accel + 1) * TH_N_ENGINES; slot++) {
        bool is_there = f->flows[slot].sharing == TH_FLUID_IN_SOLVER;
        if (f->flows[slot].weight == weight)
            continue;
        f->flows[slot].weight = weight;
        if (is_there)
            remove_engine(f, slot);
        if (is_there && add_engine(f, slot))
            return -1;
    }
    return 0;
}

static int weigh_all_engines(fluid *f)
{
    for (int32_t i = 0; i < f->demand.n_pending; i++)
        if (weigh_engines(f, f->demand.pending[i]))
            return -1;
    return 0;
}

static int demand(th_network *n, int accel, unsigned mask, const double *port_bytes_per_s)
{
    fluid *f = (fluid *)n;
    for (int e = 0; e < TH_N_ENGINES; e++) {
        int32_t slot = accel * TH_N_ENGINES + e;
        bool wanted = mask >> e & 1u, has = f->flows[slot].sharing == TH_FLUID_IN_SOLVER;
        th_maxmin_set_capacity(f->shares, port_medium(f, slot), port_bytes_per_s[e]);
        f->flows[slot].sharing = wanted ? TH_FLUID_IN_SOLVER : TH_FLUID_OUTSIDE;
        if (has && !wanted) {
            remove_engine(f, slot);
            f->head.engine_rate[slot] = 0;
        }
        if (wanted && !has && add_engine(f, slot))
            return -1;
    }
    return 0;
}

/* --- flows come and go ------------------------------------------------------------------------ */

/* Whether it would end within simulated time if it were uncontended. */
static int check_end(fluid *f, const th_message *t, th_time now, const th_flow_route *route)
{
    th_time last = th_duration_ps(th_message_padded(t), route->bits_per_s);
    return th_network_end(&f->head, t, now, th_time_add(route->latency_ps, last)) < 0 ? -1 : 0;
}

static int start(th_network *n, th_events *q, th_time now, int32_t number, const th_message *t)
{
    fluid *f = (fluid *)n;
    int32_t slot = th_slots_take(&f->transfer_slots, &f->transfers, sizeof *f->transfers);
    int32_t of = slot < 0 ? -1 : th_fluid_flow_take(f, t);
    if (of < 0)
        return -1;
    const flow *w = &f->flows[of];
    const int64_t padded = th_message_padded(t);
    if (padded > w->route.bits_per_s && check_end(f, t, now, &w->route) < 0)
        return -1; /* shorter than 8 s, uncontended, it does: no division of 128 bits */
    f->transfers[slot] = (th_fluid_transfer){
        .number = number,
        .flow = of,
        .bytes = t->bytes,
        .padded = padded,
        .finish = th_dd_product((double)padded * w->weight, (double)TH_PS_PER_S)};
    if (f->loss)
        th_fault_loss_begin(f, w, &f->transfers[slot]);
    for (int32_t i = 0; i < w->route.n_links; i++)
        th_network_link_enter(n, links_of(f, w)[i], now);
    th_time at = th_time_add(th_time_add(now, t->delay_ps), w->route.latency_ps);
    if (padded == 0 || w->route.n_links == 0)
        return th_fluid_post_end(f, q, slot, at) == TH_NO_EVENT ? -1 : 0;
    th_event e = {at, TH_PRIORITY_START, (uint32_t)number, 0,
                  th_flow_argument(slot, TH_FLOW_ENTERS)};
    return th_events_push(q, &e) == TH_NO_EVENT ? -1 : 0;
}

int th_fluid_share(fluid *f, int32_t slot)
{
    flow *w = &f->flows[slot];
    int32_t n;
    const int32_t *media = th_fluid_media_of(f, w, &n);
    w->sharing = TH_FLUID_IN_SOLVER;
    if (!media || th_maxmin_add(f->shares, slot, w->weight, media, n))
        return -1;
    if (w->n_sharing > 1)
        th_maxmin_set_count(f->shares, slot, w->n_sharing);
    return 0;
}

static int enter(fluid *f, int32_t transfer)
{
    th_dram_contention_use(f, &f->flows[f->transfers[transfer].flow], 1);
    return th_fluid_enter(f, transfer);
}

/* The first transfer of flow slot no longer shares its media. */
static int stop_sharing(fluid *f, th_events *q, int32_t slot, th_time now)
{
    flow *w = &f->flows[slot];
    bool was_in_solver = w->sharing == TH_FLUID_IN_SOLVER;
    th_dram_contention_use(f, w, -1);
    th_fluid_leave(f, w);
    th_fluid_mark_rate_changed(f, slot);
    if (--w->n_sharing == 0) {
        depart(f, w);
        w->sharing = TH_FLUID_OUTSIDE;
    }
    if (!was_in_solver) {
        th_fluid_pop_first(f, w);
        return 0;
    }
    if (w->n_sharing == 0)
        th_maxmin_remove(f->shares, slot);
    else
        th_maxmin_set_count(f->shares, slot, w->n_sharing);
    return th_virtual_time_end_first(f, q, slot, now);
}

static int leave(fluid *f, th_events *q, int32_t transfer, th_time now)
{
    th_fluid_transfer *t = &f->transfers[transfer];
    int32_t slot = t->flow;
    const flow *w = &f->flows[slot];
    for (int32_t i = 0; i < w->route.n_links; i++)
        th_network_link_leave(&f->head, links_of(f, w)[i], now, t->bytes);
    if (f->loss)
        f->head.fault_ps = th_fault_loss_end(f, w, t, now);
    if (t->padded > 0 && w->route.n_links > 0 && stop_sharing(f, q, slot, now))
        return -1;
    th_fluid_flow_give(f, slot);
    th_slots_give(&f->transfer_slots, t, transfer);
    return 0;
}

static bool event(th_network *n, th_events *q, th_time now, const th_event *e)
{
    fluid *f = (fluid *)n;
    int32_t slot = th_flow_slot(e);
    bool ends = (e->argument & 1u) == TH_FLOW_ENDS;
    n->has_failed |= (ends ? leave(f, q, slot, now) : enter(f, slot)) != 0;
    return ends;
}

/* --- settling --------------------------------------------------------------------------------- */

void th_fluid_mark_rate_changed(fluid *f, int32_t slot)
{
    const flow *w = &f->flows[slot];
    if (slot < f->n_engines) {
        f->head.engine_rate[slot] = f->shares->flow[slot].rate;
        touch(f, slot / TH_N_ENGINES);
        return;
    }
    touch(f, w->accel[0]);
    touch(f, w->accel[1]);
}

static void update_virtual_times(fluid *f, th_time now)
{
    for (int32_t i = 0; i < f->shares->changes.n_links; i++) {
        int32_t m = f->shares->changes.link[i];
        th_virtual_time *c = &f->time.of_medium[m];
        if (c->level == f->shares->level[m])
            continue;
        th_virtual_time_update(f, m, now, f->shares->level[m]);
        for (size_t k = 0; k < c->n; k++)
            th_fluid_mark_rate_changed(f, c->flow[k]);
    }
}

static int move_flows(fluid *f, th_time now)
{
    const th_maxmin *m = f->shares;
    for (size_t i = 0; i < m->changes.n_flows; i++)
        th_virtual_time_remove(f, m->changes.flow[i], now);
    for (size_t i = 0; i < m->changes.n_flows; i++) {
        if (th_virtual_time_add(f, m->changes.flow[i], m->bottleneck[m->changes.flow[i]], now))
            return -1;
        th_fluid_mark_rate_changed(f, m->changes.flow[i]);
    }
    return 0;
}

static void publish_touched(fluid *f)
{
    for (int32_t i = 0; i < f->demand.n_pending; i++) {
        f->head.touched[i] = f->demand.pending[i];
        f->demand.is_pending[f->demand.pending[i]] = false;
    }
    f->head.n_touched = f->demand.n_pending;
    f->demand.n_pending = 0;
}

/* Nothing has changed since the last settle, as in most time steps. */
static bool is_settled(const fluid *f)
{
    return !th_maxmin_has_changed(f->shares) && f->time.n_stale == 0 && f->demand.n_pending == 0 &&
           f->uncontended.entered.n == 0;
}

static int solve(fluid *f, th_time now)
{
    th_maxmin_solve(f->shares);
    update_virtual_times(f, now);
    if (move_flows(f, now))
        return -1;
    th_maxmin_clear_changes(f->shares);
    return 0;
}

static int settle(th_network *n, th_events *q, th_time now)
{
    fluid *f = (fluid *)n;
    n->n_touched = 0;
    if (n->has_failed)
        return -1;
    if (is_settled(f))
        return 0;
    if (th_fluid_settle_entered(f, q, now))
        return -1;
    if (f->has_weights && f->dram.any_shared && weigh_all_engines(f))
        return -1;
    if (th_maxmin_has_changed(f->shares) && solve(f, now))
        return -1;
    publish_touched(f);
    return f->time.n_stale > 0 ? th_virtual_times_post_ends(f, q, now) : 0;
}

const th_network_type th_network_fluid = {
    .name = "fluid",
    .synopsis = "max-min fair sharing of links",
    .is_memoryless = true,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .start = start,
    .event = event,
    .settle = settle,
    .demand = demand,
    .update_contention = th_dram_contention_update,
    .dram_demand = dram_demand,
    .together = th_fluid_together,
    .set_bandwidth = set_bandwidth,
    .avoid = th_fluid_avoid,
    .transfer_on = th_fluid_transfer_on,
};
