/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_replay.c - see trace_replay.h.
 *   check -> all ranks issue what is ready at 0 -> events, until none is left
 * A collective of all accelerators is a trace of one node, whose one rank stands for all. */
#include <config.h>
#include "sim/network/astra/trace_replay.h"

#include <string.h>

#include "sim/network/astra/trace_replay_state.h"

static void free_state(th_replay_state *s)
{
    th_events_free(s->events);
    th_wire_free(s);
    th_units_free(s);
    th_pool *const pools[] = {&s->calls,   &s->buckets, &s->matches, &s->messages, &s->receives,
                              &s->packets, &s->bundles, &s->chunks,  &s->accesses};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        th_free(pools[i]->items);
    th_free(s->queues);
}

static int make_state(th_replay_state *s)
{
    size_t n = (size_t)s->n_ranks, n_queues = n * (size_t)s->n_dims;
    s->events = th_events_new();
    s->queues = th_alloc_zero(n_queues, sizeof *s->queues);
    s->out.nodes = th_alloc_array((size_t)s->trace->n_nodes + 1, sizeof *s->out.nodes);
    s->out.ranks = th_alloc_array(n, sizeof *s->out.ranks);
    if (!s->events || !s->queues || !s->out.nodes || !s->out.ranks)
        return -1;
    for (int64_t i = 0; i < s->trace->n_nodes; i++)
        s->out.nodes[i] = (th_astra_node_times){-1, -1};
    for (size_t i = 0; i < n; i++)
        s->out.ranks[i] = (th_astra_rank_times){-1, 0};
    return th_wire_new(s) || th_units_new(s) ? -1 : 0;
}

/* ---- what can be replayed ---- */

static int check_implementation(const th_astra *a, th_astra_collective kind, th_error *err)
{
    for (int d = 0; d < a->n_dims; d++) {
        int way = a->dims[d].implementation[kind];
        if (way == TH_ASTRA_NONE || way == TH_ASTRA_DOUBLE_BINARY_TREE)
            return th_error_set(err, "SIM-0302",
                                "%s is %s in dimension %d: must be ring, direct, halvingDoubling "
                                "or one of those over all dimensions",
                                th_astra_collective_keys[kind], th_astra_implementation_names[way],
                                d);
    }
    return 0;
}

static int check(const th_replay_state *s, th_error *err)
{
    if (s->n_ranks != s->n_accels)
        return th_error_set(
            err, "SIM-0303",
            "%s: a trace of %d ranks on a system of %d accelerators: must be as many",
            s->trace->prefix, (int)s->trace->n_ranks, (int)s->n_accels);
    if (s->is_aware && s->n_dims > 1)
        return th_error_set(err, "SIM-0304",
                            "%s: ASTRA-sim's congestion-aware network has one dimension, this "
                            "system has %d: astra_unaware can run it",
                            s->trace->prefix, (int)s->n_dims);
    if (s->has_roofline && s->astra->peak_tflops == 0)
        return th_error_set(err, "SIM-0306",
                            "%s: the roofline needs peak-perf in system.json, more than 0",
                            s->trace->prefix);
    for (int k = 0; k < TH_ASTRA_N_COLLECTIVES; k++)
        if (check_implementation(s->astra, (th_astra_collective)k, err))
            return -1;
    return th_units_check(s, err);
}

/* Where ranks of a collective do not do the same at the same time, NULL: nowhere. */
static const char *asymmetry(const th_astra *a, const th_astra_dim *dim, bool is_aware, int way)
{
    bool is_halving = way == TH_ASTRA_HALVING_DOUBLING || way == TH_ASTRA_ONE_HALVING_DOUBLING;
    if (way >= TH_ASTRA_ONE_RING && a->n_dims > 1)
        return "over several dimensions";
    if (is_halving && (dim->size & (dim->size - 1)) != 0)
        return "of a size that is no power of two";
    return is_halving && is_aware && dim->kind == TH_TOPOLOGY_DIM_RING ? "on these links" : NULL;
}

static int check_symmetry(const th_astra *a, bool is_aware, th_astra_collective kind, th_error *err)
{
    for (int d = 0; d < a->n_dims; d++) {
        int way = a->dims[d].implementation[kind];
        const char *where = asymmetry(a, &a->dims[d], is_aware, way);
        if (where)
            return th_error_set(err, "NET-0031",
                                "%s is %s in dimension %d: %s does not know it %s (ring it does)",
                                th_astra_collective_keys[kind], th_astra_implementation_names[way],
                                d, is_aware ? "astra_aware" : "astra_unaware", where);
    }
    return 0;
}

/* ---- events ---- */

static void handle(th_replay_state *s, const th_event *e)
{
    int32_t index = (int32_t)(e->argument & TH_AT_INDEX_MASK);
    s->now_ns = e->time;
    s->out.n_events++;
    switch ((th_at_kind)(e->argument >> TH_AT_KIND_SHIFT)) {
    case TH_AT_CALLS:
        th_clock_calls(s, index);
        break;
    case TH_AT_ARRIVAL:
        th_wire_arrival(s, index);
        break;
    case TH_AT_LINK:
        th_wire_link_free(s, index);
        break;
    case TH_AT_RECEIVE:
        th_wire_deliver(s, index);
        break;
    case TH_AT_N_KINDS:
        break;
    }
}

static int run(th_replay_state *s, bool (*is_interrupted)(void), th_error *err)
{
    enum { EVENTS_BETWEEN = 1 << 16 };
    th_event e;
    for (int32_t i = 0; i < s->n_ranks && !s->failed; i++)
        th_units_fire(s, i);
    while (!s->failed && th_events_pop(s->events, &e)) {
        handle(s, &e);
        if (is_interrupted && s->out.n_events % EVENTS_BETWEEN == 0 && is_interrupted())
            return th_error_interrupted(err, "the trace was not replayed");
    }
    if (s->failed && s->error.id[0] != '\0') {
        *err = s->error;
        return -1;
    }
    return s->failed ? th_error_no_memory(err) : 0;
}

/* Frees the state, or gives its results away. */
static int run_all(th_replay_state *s, bool (*is_interrupted)(void), th_astra_replay *out,
                   th_error *err)
{
    int status = make_state(s) ? th_error_no_memory(err) : run(s, is_interrupted, err);
    free_state(s);
    if (status == 0)
        *out = s->out;
    else
        th_astra_replay_clear(&s->out);
    return status;
}

static th_replay_state state_of(const th_trace *t, const th_system *system, bool is_aware)
{
    return (th_replay_state){.trace = t,
                             .astra = system->astra,
                             .is_aware = is_aware,
                             .n_ranks = t->n_ranks,
                             .n_accels = system->n_accels,
                             .n_dims = system->astra->n_dims,
                             .calls = TH_POOL(th_pending_call),
                             .buckets = TH_POOL(th_bucket),
                             .matches = TH_POOL(th_wire_match),
                             .messages = TH_POOL(th_wire_message),
                             .receives = TH_POOL(th_wire_receive),
                             .packets = TH_POOL(th_packet),
                             .bundles = TH_POOL(th_bundle),
                             .chunks = TH_POOL(th_chunk),
                             .accesses = TH_POOL(th_memory_access)};
}

int th_astra_replay_run(const th_astra_replay_options *o, bool is_aware, th_astra_replay *out,
                        th_error *err)
{
    const th_astra *a = o->system->astra;
    th_error ignored;
    err = err ? err : &ignored;
    *out = (th_astra_replay){.n_events = 0};
    if (!a)
        return th_error_set(err, "SIM-0305",
                            "%s: astra_aware and astra_unaware need the system of ASTRA-sim's "
                            "files: read_system -format astra",
                            o->trace->prefix);
    th_replay_state s = state_of(o->trace, o->system, is_aware);
    s.has_roofline =
        o->roofline == TH_ROOFLINE_OF_SYSTEM ? a->has_roofline : o->roofline == TH_ROOFLINE_ON;
    return check(&s, err) ? -1 : run_all(&s, o->is_interrupted, out, err);
}

int th_astra_collective_ns(const th_system *system, bool is_aware, th_trace_collective kind,
                           int64_t bytes, int64_t *ns, th_error *err)
{
    th_trace_node node = TH_TRACE_NODE(0);
    node.kind = TH_TRACE_COLLECTIVE;
    node.collective = kind;
    node.bytes = bytes;
    th_trace_rank rank = {.nodes = &node, .n_nodes = 1};
    th_trace trace = {.ranks = &rank, .n_ranks = 1, .n_nodes = 1};
    th_astra_collective ours = th_chunks_kind(&node);
    th_replay_state s = state_of(&trace, system, is_aware);
    th_astra_replay replay;
    s.is_one_for_all = true;
    if (check_implementation(s.astra, ours, err) || check_symmetry(s.astra, is_aware, ours, err) ||
        run_all(&s, NULL, &replay, err))
        return -1;
    *ns = replay.ranks[0].finish_ns;
    th_astra_replay_clear(&replay);
    return 0;
}

void th_astra_replay_clear(th_astra_replay *r)
{
    th_free(r->nodes);
    th_free(r->ranks);
    *r = (th_astra_replay){.n_events = 0};
}
