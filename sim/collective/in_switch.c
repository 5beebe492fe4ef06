/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_switch.c - in-network reduction: switches add messages and multicast the sum (NVLink SHARP;
 * SHARP: R. Graham et al., COMHPC 2016).
 *
 * Ranks send up a tree of switches with `reduces` set. Each switch adds the messages from below and
 * sends one sum up; the root sends the result down, and each switch copies it to all its children.
 * A rank sends S and receives S, for any n. With one tree, k chunks of c = S / k, equal links, h
 * links between a rank and the root:
 *   all_reduce          2 h (latency + c / bw) + (k - 1) (latency + c / bw)
 *   broadcast, reduce   the same
 * which approaches max(S / bw_out, S / bw_in) for many chunks on several trees or short latencies.
 * reduce_scatter sends all data up and each rank's piece down to it; all_gather sends the rank's
 * piece up, and all other pieces down to it. Several equally good roots (in_switch_trees.c) share
 * the data.
 *
 * Participants: the ranks, then for each tree its switches and their outputs. An output is on the
 * node of its switch, so a message from the switch takes no time, and outputs send in parallel.
 * Threads: of a rank one per tree; of a switch 0 upwards, 1 downwards; of an output 0. Ports: of a
 * switch, in from below by chunk, as every child sends each chunk once, and from above `chunks`; of
 * a rank, in by tree; out by first medium (ports.c).
 * A switch with a reduction rate R or latency l has an adder, one more participant on its node: it
 * takes the chunks of all children together, one after the other in bytes / R, keeps each for l
 * (several at once), and sends the sum on: to the parent, or at the root to the outputs. With one
 * switch, n ranks, k chunks of c = S / k:
 *   all_reduce   2 (latency + c / bw) + (k - 1) max(latency + c / bw, n c / R) + n c / R + l
 * Not modelled: limits on buffers, groups and element types of real switches. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/in_switch.h"
#include "sim/collective/ports.h"

#include <string.h>

enum { UP, DOWN, N_SWITCH_THREADS };
enum { ADDS, SENDS }; /* threads of an adder */

typedef struct in_switch {
    th_switch_trees t;
    int32_t *port;  /* per rank and tree */
    int32_t *adder; /* per part: the participant that adds for it; -1: none */
    int32_t *adds;  /* per adder: the participant for which it adds */
    int32_t n_adders;
} in_switch;

/* The ranks whose pieces a message has: positions first .. end - 1 of the tree's order, or all
 * others. */
typedef struct share {
    int32_t first, end;
    bool is_rest;
} share;

/* The participant of the switch for which p adds, or p itself. */
static int32_t own_switch(const th_collective_schedule *cs, int32_t p)
{
    const in_switch *w = cs->data;
    int32_t first = cs->collective->n_ranks + w->t.n_parts;
    return p >= first ? w->adds[p - first] : p;
}

/* The adder of a switch; -1: it has none. */
static int32_t adder_of(const th_collective_schedule *cs, int32_t p)
{
    const in_switch *w = cs->data;
    return w->n_adders > 0 ? w->adder[p - cs->collective->n_ranks] : -1;
}

static const th_switch_part *part_of(const th_collective_schedule *cs, int32_t p)
{
    const in_switch *w = cs->data;
    return &w->t.part[p - cs->collective->n_ranks];
}

/* Positions of the ranks at and below a participant. */
static share below(const th_collective_schedule *cs, int32_t tree, int32_t p)
{
    const in_switch *w = cs->data;
    int32_t n = cs->collective->n_ranks;
    if (p >= n)
        return (share){part_of(cs, p)->first, part_of(cs, p)->end, false};
    int32_t at = w->t.position[(int64_t)tree * n + p];
    return (share){at, at + 1, false};
}

static bool has_root(const th_collective_schedule *cs, int32_t tree, int32_t p)
{
    const th_collective *c = cs->collective;
    const in_switch *w = cs->data;
    share s = below(cs, tree, p);
    int32_t at = w->t.position[(int64_t)tree * c->n_ranks + c->root];
    return at >= s.first && at < s.end;
}

static bool sends_up(const th_collective_schedule *cs, int32_t tree, int32_t p)
{
    return cs->collective->kind != TH_BROADCAST || has_root(cs, tree, p);
}

/* Does anyone below a switch, or behind an output, need the result? */
static bool is_needed(const th_collective_schedule *cs, int32_t p)
{
    const th_switch_part *own = part_of(cs, p);
    if (cs->collective->kind == TH_REDUCE)
        return has_root(cs, own->tree, p);
    return cs->collective->kind != TH_BROADCAST || own->end - own->first > 1 ||
           !has_root(cs, own->tree, p);
}

/* --- data ------------------------------------------------------------------------------------- */

static bool by_pieces(const th_collective *c)
{
    return c->kind == TH_REDUCE_SCATTER || c->kind == TH_ALL_GATHER;
}

/* Range i of chunk j in a tree: part of the vector, or of the pieces of the ranks of a share. */
static bool share_range(const th_collective_schedule *cs, int32_t tree, int64_t j, const share *s,
                        int32_t i, th_range *out)
{
    const th_collective *c = cs->collective;
    const in_switch *w = cs->data;
    int64_t parts = (int64_t)w->t.n_trees * w->t.chunks, part = (int64_t)tree * w->t.chunks + j;
    int32_t n = c->n_ranks, size = s->end - s->first, at = s->first + i;
    if (!by_pieces(c)) {
        *out = c->kind == TH_BARRIER ? (th_range){0, 0}
                                     : th_range_pieces(c->bytes, part, part + 1, parts);
        return i == 0;
    }
    if (i >= (s->is_rest ? n - size : size))
        return false;
    if (s->is_rest)
        at = i < s->first ? i : i + size;
    int32_t rank = w->t.order[(int64_t)tree * n + at];
    *out = th_range_part(th_range_pieces(c->bytes, rank, rank + 1, n), part, parts);
    return true;
}

/* The data that participant p sends: ranks and switches up, outputs down. */
static share share_of(const th_collective_schedule *cs, int32_t tree, int32_t p, bool is_up)
{
    const th_collective *c = cs->collective;
    share s = below(cs, tree, p);
    if (c->kind == TH_REDUCE_SCATTER && is_up)
        return (share){0, c->n_ranks, false};
    s.is_rest = c->kind == TH_ALL_GATHER && !is_up;
    return s;
}

static th_range sum_of(const th_collective_schedule *cs, int32_t tree, int64_t j, const share *s)
{
    const th_collective *c = cs->collective;
    const in_switch *w = cs->data;
    int64_t parts = (int64_t)c->n_ranks * w->t.n_trees * w->t.chunks;
    int32_t size = s->end - s->first;
    th_range sum = {0, 0}, next;
    if (by_pieces(c) && c->bytes % parts == 0)
        return (th_range){0, c->bytes / parts * (s->is_rest ? c->n_ranks - size : size)};
    for (int32_t i = 0; share_range(cs, tree, j, s, i, &next); i++)
        th_range_add(&sum, next);
    return sum;
}

/* --- life ------------------------------------------------------------------------------------- */

static int32_t switch_of(const th_collective_schedule *cs, int32_t p, int32_t tree)
{
    const in_switch *w = cs->data;
    return p < cs->collective->n_ranks ? w->t.above[(int64_t)tree * cs->collective->n_ranks + p]
                                       : -1;
}

static bool adds(const th_collective *c)
{
    return c->kind == TH_ALL_REDUCE || c->kind == TH_REDUCE || c->kind == TH_REDUCE_SCATTER;
}

/* An adder for every switch whose sums take time. 0 or -1. */
static int find_adders(in_switch *w, th_collective_schedule *cs, th_error *err)
{
    int32_t n = cs->collective->n_ranks;
    w->adder = th_memory_take(&cs->memory, (size_t)w->t.n_parts + 1, sizeof *w->adder);
    w->adds = th_memory_take(&cs->memory, (size_t)w->t.n_parts + 1, sizeof *w->adds);
    if (!w->adder || !w->adds)
        return th_error_no_memory(err);
    for (int32_t i = 0; i < w->t.n_parts; i++) {
        const th_node *node = &cs->system->nodes[w->t.node[i]];
        bool takes_time = node->reduction_bits_per_s > 0 || node->reduction_latency_ps > 0;
        w->adder[i] = -1;
        if (!adds(cs->collective) || w->t.part[i].child >= 0 || !takes_time)
            continue;
        w->adder[i] = n + w->t.n_parts + w->n_adders;
        w->adds[w->n_adders++] = n + i;
    }
    return 0;
}

static int place_participants(in_switch *w, th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    int32_t n = c->n_ranks + w->t.n_parts;
    cs->n_participants = n + w->n_adders;
    cs->node = th_memory_take(&cs->memory, (size_t)cs->n_participants, sizeof *cs->node);
    if (!cs->node)
        return th_error_no_memory(err);
    memcpy(cs->node, c->rank_node, (size_t)c->n_ranks * sizeof *cs->node);
    memcpy(cs->node + c->n_ranks, w->t.node, (size_t)w->t.n_parts * sizeof *cs->node);
    for (int32_t i = 0; i < w->n_adders; i++)
        cs->node[n + i] = cs->node[w->adds[i]];
    return 0;
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    in_switch *w = th_memory_take(&cs->memory, 1, sizeof *w);
    if (!w)
        return th_error_no_memory(err);
    cs->data = w;
    if (th_switch_trees_init(&w->t, cs, err))
        return -1;
    w->t.chunks = c->kind == TH_BARRIER ? 1 : th_chunks_used(c);
    if (find_adders(w, cs, err) || place_participants(w, cs, err))
        return -1;
    cs->n_threads = w->t.n_trees > N_SWITCH_THREADS ? w->t.n_trees : N_SWITCH_THREADS;
    cs->n_ports = w->t.n_trees > w->t.chunks ? w->t.n_trees : w->t.chunks + 1;
    w->port = th_ports_by_medium(cs, w->t.n_trees, switch_of, err);
    return w->port ? 0 : -1;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* A chunk of a switch with an adder goes there, and takes the time of its sums. */
static void give_to_adder(const th_collective_schedule *cs, int32_t p, int32_t adder,
                          th_collective_step *out)
{
    const th_node *node = &cs->system->nodes[cs->node[p]];
    __int128 in = (__int128)out->bytes * part_of(cs, p)->n_outputs * 8 * TH_PS_PER_S;
    out->send_port = 0;
    out->to = adder;
    out->to_port = 0;
    out->reduces = false;
    if (node->reduction_bits_per_s > 0) {
        in /= node->reduction_bits_per_s;
        out->work_ps = in < TH_TIME_MAX / 4 ? (th_time)in : TH_TIME_MAX / 4;
    }
}

/* The adder keeps a chunk for the latency, each at a port of its own, then sends it on. */
static bool add_up(const th_collective_schedule *cs, int32_t p, int32_t thread, int64_t j,
                   th_collective_step *out)
{
    const in_switch *w = cs->data;
    int32_t of = own_switch(cs, p), parent = part_of(cs, of)->parent;
    if (j >= w->t.chunks || thread > SENDS)
        return false;
    share s = share_of(cs, part_of(cs, of)->tree, of, true);
    th_range sum = sum_of(cs, part_of(cs, of)->tree, j, &s);
    if (thread == ADDS) {
        out->wait_port = 0;
        out->wait_count = (int32_t)j + 1;
        th_collective_step_send(out, (int32_t)j, p, (int32_t)j + 1, sum);
        out->work_ps = cs->system->nodes[cs->node[p]].reduction_latency_ps;
        return true;
    }
    out->wait_port = (int32_t)j + 1;
    out->wait_count = 1;
    th_collective_step_send(out, w->t.chunks, parent >= 0 ? parent : of,
                            parent >= 0 ? (int32_t)j : w->t.chunks, sum);
    out->reduces = parent >= 0;
    return true;
}

static bool go_up(const th_collective_schedule *cs, int32_t p, int32_t tree, int64_t j,
                  th_collective_step *out)
{
    const in_switch *w = cs->data;
    int32_t n = cs->collective->n_ranks, adder = p < n ? -1 : adder_of(cs, p),
            above = p < n ? switch_of(cs, p, tree) : part_of(cs, p)->parent;
    if ((above < 0 && adder < 0) || j >= w->t.chunks || !sends_up(cs, tree, p))
        return false;
    if (p >= n) {
        out->wait_port = (int32_t)j;
        out->wait_count = cs->collective->kind == TH_BROADCAST ? 1 : part_of(cs, p)->n_outputs;
    }
    share s = share_of(cs, tree, p, true);
    th_collective_step_send(out, p < n ? w->port[p * w->t.n_trees + tree] : 0, above, (int32_t)j,
                            sum_of(cs, tree, j, &s));
    out->reduces = adds(cs->collective);
    if (adder >= 0)
        give_to_adder(cs, p, adder, out);
    return true;
}

/* A switch sends every chunk, once it is complete or has come from above, to its outputs. */
static bool send_to_outputs(const th_collective_schedule *cs, int32_t p, int64_t step,
                            th_collective_step *out)
{
    const in_switch *w = cs->data;
    const th_switch_part *own = part_of(cs, p);
    int64_t j = step / own->n_outputs;
    int32_t output = own->first_output + (int32_t)(step % own->n_outputs);
    if (j >= w->t.chunks)
        return false;
    if (own->parent >= 0 || adder_of(cs, p) >= 0) {
        out->wait_port = w->t.chunks;
        out->wait_count = (int32_t)j + 1;
    } else {
        out->wait_port = (int32_t)j;
        out->wait_count = cs->collective->kind == TH_BROADCAST ? 1 : own->n_outputs;
    }
    if (!is_needed(cs, output))
        return true;
    share s = share_of(cs, own->tree, output, false);
    th_collective_step_send(out, 1, output, 0, sum_of(cs, own->tree, j, &s));
    return true;
}

static bool go_down(const th_collective_schedule *cs, int32_t p, int64_t j, th_collective_step *out)
{
    const in_switch *w = cs->data;
    const th_switch_part *own = part_of(cs, p);
    if (j >= w->t.chunks || !is_needed(cs, p))
        return false;
    out->wait_port = 0;
    out->wait_count = (int32_t)j + 1;
    share s = share_of(cs, own->tree, p, false);
    th_collective_step_send(out, 0, own->child,
                            own->child < cs->collective->n_ranks ? own->tree : w->t.chunks,
                            sum_of(cs, own->tree, j, &s));
    return true;
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const th_collective *c = cs->collective;
    const in_switch *w = cs->data;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (c->n_ranks == 1)
        return false;
    if (participant < c->n_ranks)
        return thread < w->t.n_trees && go_up(cs, participant, thread, step, out);
    if (own_switch(cs, participant) != participant)
        return add_up(cs, participant, thread, step, out);
    if (part_of(cs, participant)->child >= 0)
        return thread == 0 && go_down(cs, participant, step, out);
    if (thread == UP)
        return go_up(cs, participant, part_of(cs, participant)->tree, step, out);
    bool is_root = part_of(cs, participant)->parent < 0;
    return thread == DOWN && (is_root || is_needed(cs, participant)) &&
           send_to_outputs(cs, participant, step, out);
}

static bool range(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                  int64_t step, int32_t i, th_range *out)
{
    int32_t n = cs->collective->n_ranks;
    if (participant < n) {
        share s = share_of(cs, thread, participant, true);
        return share_range(cs, thread, step, &s, i, out);
    }
    if (own_switch(cs, participant) != participant) {
        participant = own_switch(cs, participant);
        thread = UP;
    }
    const th_switch_part *own = part_of(cs, participant);
    bool is_output = own->child >= 0, is_up = !is_output && thread == UP;
    int64_t j = is_output || is_up ? step : step / own->n_outputs;
    int32_t of =
        is_output || is_up ? participant : own->first_output + (int32_t)(step % own->n_outputs);
    share s = share_of(cs, own->tree, of, is_up);
    return share_range(cs, own->tree, j, &s, i, out);
}

const th_algorithm th_algorithm_in_switch = {
    .name = "in_switch",
    .synopsis = "switches add and copy (NVLS, SHARP)",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_REDUCE_SCATTER | 1u << TH_ALL_GATHER |
             1u << TH_BROADCAST | 1u << TH_REDUCE | 1u << TH_BARRIER,
    .prepare = prepare,
    .get_step = get_step,
    .range = range,
};
