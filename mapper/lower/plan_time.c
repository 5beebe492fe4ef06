/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_time.c - estimated times of layers and edges, each alone in the system. Initial mappings
 * and baselines choose by them; results never contain them. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"
#include "topology/routing/route.h"

/* --- routes --- */

/* Routes between up to so many nodes are kept in a table by pair, which makes searches on a fat
 * tree of 64 accelerators 1.8 times as quick; in larger systems they are computed again each time.
 * The table of so many takes 100 MB where all pairs are used. */
enum { KEPT_NODES_MAX = 2048 };

/* Appends the media of the route to those kept. NULL: memory is out. */
static const th_plan_route *compute_route(th_plans *p, int from, int to, th_plan_route *out)
{
    const th_system *s = p->system;
    int links[TH_ROUTE_MAX], n = th_route(s, from, to, links);
    *out = (th_plan_route){.first = (int32_t)p->routes.n_media};
    if (n == TH_NO_MEMORY ||
        (n > 0 && th_grow(&p->routes.media, &p->routes.media_capacity,
                          p->routes.n_media + (size_t)n, sizeof *p->routes.media)))
        return NULL;
    for (int i = 0; i < n; i++) {
        p->routes.media[p->routes.n_media++] = s->links[links[i]].medium;
        out->latency_ps += s->links[links[i]].latency_ps;
    }
    out->n = n > 0 ? n : 0;
    out->is_known = true;
    return out;
}

/* Valid until the next call or, where routes are kept, as long as the plans. NULL: memory is
 * out. */
static const th_plan_route *find_route(th_plans *p, int from, int to)
{
    size_t nodes = (size_t)p->system->n_nodes;
    if (p->system->n_nodes > KEPT_NODES_MAX) {
        p->routes.n_media = 0;
        return compute_route(p, from, to, &p->routes.last);
    }
    if (!p->routes.by_pair &&
        !(p->routes.by_pair = th_alloc_zero(nodes * nodes, sizeof *p->routes.by_pair)))
        return NULL;
    th_plan_route *kept = &p->routes.by_pair[(size_t)from * nodes + (size_t)to];
    return kept->is_known ? kept : compute_route(p, from, to, kept);
}

/* --- traffic --- */

typedef struct {
    th_plans *plans;
    th_time busiest, latency; /* most of any medium, longest of any route */
    bool failed;              /* memory ran out */
} traffic;

static void begin(traffic *t, th_plans *p)
{
    *t = (traffic){.plans = p};
    memset(p->routes.medium_ps, 0, (size_t)p->system->n_media * sizeof *p->routes.medium_ps);
}

static void carry(traffic *t, int from, int to, int64_t bytes)
{
    const th_system *s = t->plans->system;
    const th_plan_route *route = find_route(t->plans, from, to);
    t->failed |= !route;
    for (int32_t i = 0; route && i < route->n; i++) {
        int32_t medium = t->plans->routes.media[route->first + i];
        th_time *busy = &t->plans->routes.medium_ps[medium];
        *busy += th_duration_ps(bytes, s->media[medium].bits_per_s);
        t->busiest = *busy > t->busiest ? *busy : t->busiest;
    }
    if (route && route->latency_ps > t->latency)
        t->latency = route->latency_ps;
}

th_time th_plans_edge_time(th_plans *p, const th_edge_plan *e, th_error *err)
{
    traffic t;
    if (p->system->transfers_serially)
        return th_plan_serial_edge_time(p, e, err);
    begin(&t, p);
    for (int d = 0; d < e->n; d++)
        carry(&t, e->deliveries[d].from_node, e->deliveries[d].to_node, e->deliveries[d].bytes);
    return t.failed ? th_error_no_memory(err) : t.busiest + t.latency;
}

/* --- a tensor for its first reader --- */

static int64_t elements_in_common(const th_box *a, const th_box *b)
{
    int64_t n = 1;
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        int32_t extent = th_lesser(a->hi[d], b->hi[d]) - th_greater(a->lo[d], b->lo[d]);
        n *= th_greater(extent, 0);
    }
    return n;
}

/* Positions of the producer hold disjoint boxes, so what each of them sends is what its box and the
 * reader's have in common; but for the reader's own, of its accelerator, which it need not be sent.
 */
static void carry_made(traffic *t, const th_placed *producer, const th_layer_plan *made,
                       const th_box *need, int32_t accel)
{
    const th_system *s = t->plans->system;
    th_precision precision =
        t->plans->workload->layers[producer->layer].precision[TH_TENSOR_OUTPUT];
    for (int q = 0; q < made->n; q++) {
        int64_t elements = elements_in_common(&made->at[q].held, need);
        const int32_t from = producer->set->accels[q % made->n_accels];
        if (elements > 0 && from != accel)
            carry(t, s->accel_node[from], s->accel_node[accel],
                  th_tensor_bytes(elements, precision));
    }
}

static void carry_external(traffic *t, const th_placed *reader, const th_box *need, int32_t accel)
{
    const int host = t->plans->facts.host_of[accel];
    th_precision precision = t->plans->workload->layers[reader->layer].precision[TH_TENSOR_INPUT];
    if (host >= 0 && !th_box_is_empty(need))
        carry(t, host, t->plans->system->accel_node[accel],
              th_tensor_bytes(th_box_elements(need), precision));
}

/* Stops when the time is more than enough: both terms only grow from position to position. */
static th_time time_to_readers(th_plans *p, const th_placed *producer, const th_placed *reader,
                               int32_t batch, th_time enough, th_error *err)
{
    traffic t;
    const th_layer_plan *reads = th_plans_layer(p, reader, batch, err), *made = NULL;
    if (!reads || (producer && !(made = th_plans_layer(p, producer, batch, err))))
        return -1;
    begin(&t, p);
    for (int r = 0; r < reads->n && t.busiest + t.latency <= enough; r++) {
        const th_box *need = &reads->at[r].need[reader->input];
        const int32_t accel = reader->set->accels[r % reads->n_accels];
        if (producer)
            carry_made(&t, producer, made, need, accel);
        else
            carry_external(&t, reader, need, accel);
    }
    return t.failed ? th_error_no_memory(err) : t.busiest + t.latency;
}

th_time th_plans_transition_time(th_plans *p, const th_placed *producer, const th_placed *reader,
                                 int32_t batch, th_time enough, th_error *err)
{
    if (!p->system->transfers_serially)
        return time_to_readers(p, producer, reader, batch, enough, err);
    const th_edge_plan *e = th_plans_edge(p, producer, reader, 1, batch, err);
    return e ? th_plans_edge_time(p, e, err) : -1;
}

/* --- layers --- */

static int node_of(const th_plans *p, const th_placed *at, int r)
{
    return p->system->accel_node[at->set->accels[r % at->set->n_accels]];
}

/* -1: memory is out. */
static th_time phase_time(th_plans *p, const th_placed *at, const th_layer_plan *plan, int phase)
{
    traffic t;
    th_time longest = 0;
    begin(&t, p);
    for (int r = 0; r < plan->n; r++) {
        const int32_t *cost = phase > 0 ? plan->cost_adding : plan->cost;
        th_time own = th_compute_cost_get(p->costs, cost[r * plan->phases + phase])->collapsed_ps;
        longest = own > longest ? own : longest;
        if (phase + 1 < plan->phases) /* the next piece travels meanwhile */
            carry(&t, node_of(p, at, plan->at[r].ring_from), node_of(p, at, r),
                  plan->piece_bytes[r * plan->phases + phase + 1]);
    }
    th_time travel = t.busiest + t.latency;
    if (t.failed)
        return -1;
    return travel > longest ? travel : longest;
}

/* -1: memory is out. */
static th_time reduction_time(th_plans *p, const th_placed *at, const th_layer_plan *plan)
{
    traffic t;
    th_time longest = 0;
    begin(&t, p);
    for (int r = 0; r < plan->n; r++) {
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *x = &plan->sends[plan->at[r].first_send + i];
            carry(&t, node_of(p, at, r), node_of(p, at, x->to), x->bytes);
        }
        th_time own = plan->at[r].reduce_cost < 0
                          ? 0
                          : th_compute_cost_get(p->costs, plan->at[r].reduce_cost)->collapsed_ps;
        longest = own > longest ? own : longest;
    }
    return t.failed ? -1 : t.busiest + t.latency + longest;
}

th_time th_plans_layer_time(th_plans *p, const th_placed *at, const th_layer_plan *plan,
                            th_error *err)
{
    if (p->system->transfers_serially)
        return th_plan_serial_layer_time(p, at, plan, err);
    th_time sum = reduction_time(p, at, plan);
    for (int phase = 0; phase < plan->phases && sum >= 0; phase++) {
        th_time time = phase_time(p, at, plan, phase);
        sum = time < 0 ? -1 : sum + time;
    }
    return sum < 0 ? th_error_no_memory(err) : sum;
}

/* --- a bound --- */

/* The collapsed time of position r's part in these loops, partial sums added or not; TH_TIME_MAX:
 * its design cannot run it. -1: error. */
static th_time part_time(th_plans *p, const th_placed *at, int r, const th_loop_box *loops,
                         bool adds_to_output, th_error *err)
{
    th_error reason = {"", ""};
    const th_layer *l = &p->workload->layers[at->layer];
    th_shard shard = th_plan_shard(l, loops);
    shard.adds_to_output = adds_to_output;
    int32_t cost = th_compute_cost_lookup(p->costs, at->set->accels[r],
                                          th_set_design(at->set, r, p->system), &shard, &reason);
    if (cost >= 0)
        return th_compute_cost_get(p->costs, cost)->collapsed_ps;
    if (!th_plans_is_fatal(&reason))
        return TH_TIME_MAX;
    return th_error_is_no_memory(&reason)
               ? th_error_no_memory(err)
               : th_error_set(err, reason.id, "layer \"%s\": %s", l->name, reason.text);
}

th_time th_plans_layer_bound(th_plans *p, const th_placed *at, int32_t batch, th_error *err)
{
    const th_layer *l = &p->workload->layers[at->layer];
    const th_strategy *s = &at->strategy;
    const int r = at->set->n_accels - 1, phases = th_shard_phases(l, s);
    th_time sum = 0;
    if (p->system->transfers_serially || s->chunks > 0)
        return 0;
    for (int phase = 0; phase < phases; phase++) {
        th_loop_box loops = th_shard_phase_loops(l, batch, s, at->set->shares, r, phase);
        th_time own = part_time(p, at, r, &loops, phase > 0 && s->rotate == TH_DIM_C, err);
        if (own < 0 || own == TH_TIME_MAX)
            return own;
        sum += own;
    }
    return sum;
}
