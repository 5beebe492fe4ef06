/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_replay.c - see trace_replay.h.
 *   check -> all ranks issue what is ready at 0 -> events, until none is left */
#include <config.h>
#include "sim/astra/trace_replay.h"

#include <string.h>

#include "sim/astra/trace_replay_state.h"

static void free_state(th_replay_state *s)
{
    th_events_free(s->events);
    th_wire_free(s);
    th_units_free(s);
    th_free(s->calls.items);
    th_free(s->buckets.items);
    th_free(s->packets.items);
    th_free(s->bundles.items);
    th_free(s->chunks.items);
    th_free(s->first_node);
    th_free(s->queues);
}

static int make_state(th_replay_state *s)
{
    size_t n = (size_t)s->n_ranks, n_queues = n * (size_t)s->n_dims;
    s->events = th_events_new();
    s->first_node = th_alloc_array(n, sizeof *s->first_node);
    s->queues = th_alloc_array(n_queues, sizeof *s->queues);
    s->out.nodes = th_alloc_array((size_t)s->trace->n_nodes + 1, sizeof *s->out.nodes);
    s->out.ranks = th_alloc_array(n, sizeof *s->out.ranks);
    if (!s->events || !s->first_node || !s->queues || !s->out.nodes || !s->out.ranks)
        return -1;
    for (size_t i = 0; i < n_queues; i++)
        s->queues[i] = (th_dim_queue){-1, -1, 0};
    for (int64_t i = 0; i < s->trace->n_nodes; i++)
        s->out.nodes[i] = (th_astra_node_times){-1, -1};
    int64_t first = 0;
    for (size_t i = 0; i < n; i++) {
        s->first_node[i] = first;
        first += s->trace->ranks[i].n_nodes;
        s->out.ranks[i] = (th_astra_rank_times){-1, 0};
    }
    return th_wire_new(s) || th_units_new(s) ? -1 : 0;
}

/* ---- what can be replayed ---- */

static int check_implementations(const th_astra *a, th_error *err)
{
    for (int k = 0; k < TH_ASTRA_N_COLLECTIVES; k++)
        for (int d = 0; d < a->n_dims; d++) {
            int way = a->dims[d].implementation[k];
            if (way == TH_ASTRA_NONE || way == TH_ASTRA_DOUBLE_BINARY_TREE)
                return th_error_set(err, "SIM-0302",
                                    "%s is %s in dimension %d: a trace is replayed with ring, "
                                    "direct, halvingDoubling or those over all dimensions",
                                    th_astra_collective_keys[k], th_astra_implementation_names[way],
                                    d);
        }
    return 0;
}

static int check(const th_replay_state *s, const th_system *system, th_error *err)
{
    if (s->n_ranks != system->n_accels)
        return th_error_set(err, "SIM-0303",
                            "%s: a trace of %d ranks on a system of %d accelerators: as many were "
                            "expected",
                            s->trace->prefix, (int)s->trace->n_ranks, system->n_accels);
    if (s->is_aware && s->n_dims > 1)
        return th_error_set(err, "SIM-0304",
                            "%s: ASTRA-sim's congestion-aware network has one dimension, this "
                            "system has %d: astra_unaware can run it",
                            s->trace->prefix, (int)s->n_dims);
    if (s->has_roofline && s->astra->peak_tflops == 0)
        return th_error_set(err, "SIM-0306",
                            "%s: the roofline needs peak-perf in system.json, more than 0",
                            s->trace->prefix);
    return check_implementations(s->astra, err) || th_units_check(s, err) ? -1 : 0;
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

int th_astra_replay_run(const th_astra_replay_options *o, th_astra_replay *out, th_error *err)
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
    th_replay_state s = {.trace = o->trace,
                         .astra = a,
                         .is_aware = o->is_aware,
                         .has_roofline = o->roofline == TH_ROOFLINE_OF_SYSTEM
                                             ? a->has_roofline
                                             : o->roofline == TH_ROOFLINE_ON,
                         .n_ranks = o->trace->n_ranks,
                         .n_dims = a->n_dims};
    int status = check(&s, o->system, err);
    if (status == 0)
        status = make_state(&s) ? th_error_no_memory(err) : run(&s, o->is_interrupted, err);
    free_state(&s);
    if (status == 0)
        *out = s.out;
    else
        th_astra_replay_clear(&s.out);
    return status;
}

void th_astra_replay_clear(th_astra_replay *r)
{
    th_free(r->nodes);
    th_free(r->ranks);
    *r = (th_astra_replay){.n_events = 0};
}
