/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_switch.c - switches that add what comes in and send the sum to many (NVLink SHARP, SHARP: R.
 * Graham et al., COMHPC 2016).
 *
 * Ranks send up a tree of switches with `reduces` set, each of which adds what comes from below and
 * sends one sum on; the root sends the result down, and each switch copies it to all below. A rank
 * sends S and receives S, whatever n. With one tree, k chunks of c = S / k, equal links, h links
 * between a rank and the root:
 *   all_reduce          2 h (latency + c / bw) + (k - 1) (latency + c / bw)
 *   broadcast, reduce   the same
 * which goes to max(S / bw_out, S / bw_in) for many chunks on several trees or short latencies.
 * reduce_scatter sends all up and down to each rank its piece only; all_gather sends up one's
 * piece, and down to each all that it lacks. Several equally good roots (in_switch_trees.c) share
 * the data.
 *
 * Participants: the ranks, then for each tree its switches and one more for each of their outputs,
 * on the same node: what a switch hands to an output takes no time, and outputs send side by side.
 * Lanes: of a rank one per tree; of a switch 0 upwards, 1 downwards; of an output 0. Ports: of a
 * switch, in from below by chunk, as every child sends each chunk once, and from above `chunks`; of
 * a rank, in by tree; a rank's trees share the port of the medium that they begin on.
 * Not modelled: limits on buffers, groups and element types of real switches; the time of adding.
 * */
#include <config.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/in_switch.h"
#include "sim/collective/ports.h"

#include <string.h>

enum { UP, DOWN, N_SWITCH_LANES };

/* What the machine needs, and the ports of ranks. */
typedef struct in_switch {
    th_switch_trees t;
    int32_t *port; /* per rank and tree */
} in_switch;

/* Whose pieces a message has: positions first .. end - 1 of the tree's order, or all others. */
typedef struct share {
    int32_t first, end;
    bool is_rest;
} share;

static const th_switch_part *part_of(const th_expansion *x, int32_t p)
{
    const in_switch *w = x->data;
    return &w->t.part[p - x->collective->n_ranks];
}

/* Positions of what is at and below a participant. */
static share below(const th_expansion *x, int32_t tree, int32_t p)
{
    const in_switch *w = x->data;
    int32_t n = x->collective->n_ranks;
    if (p >= n)
        return (share){part_of(x, p)->first, part_of(x, p)->end, false};
    int32_t at = w->t.position[(int64_t)tree * n + p];
    return (share){at, at + 1, false};
}

static bool has_root(const th_expansion *x, int32_t tree, int32_t p)
{
    const th_collective *c = x->collective;
    const in_switch *w = x->data;
    share s = below(x, tree, p);
    int32_t at = w->t.position[(int64_t)tree * c->n_ranks + c->root];
    return at >= s.first && at < s.end;
}

static bool sends_up(const th_expansion *x, int32_t tree, int32_t p)
{
    return x->collective->kind != TH_BROADCAST || has_root(x, tree, p);
}

/* Does an output lead to anyone who needs the result? */
static bool is_used(const th_expansion *x, const th_switch_part *output)
{
    if (x->collective->kind == TH_REDUCE)
        return has_root(x, output->tree, output->child);
    if (x->collective->kind == TH_BROADCAST)
        return output->end - output->first > 1 || !has_root(x, output->tree, output->child);
    return true;
}

/* --- data ------------------------------------------------------------------------------------- */

static bool by_pieces(const th_collective *c)
{
    return c->kind == TH_REDUCE_SCATTER || c->kind == TH_ALL_GATHER;
}

/* Range i of chunk j in a tree: part of the vector, or of the pieces of the ranks of a share. */
static bool share_range(const th_expansion *x, int32_t tree, int64_t j, const share *s, int32_t i,
                        th_range *out)
{
    const th_collective *c = x->collective;
    const in_switch *w = x->data;
    int64_t parts = (int64_t)w->t.n_trees * w->t.chunks, part = (int64_t)tree * w->t.chunks + j;
    int32_t n = c->n_ranks, size = s->end - s->first, at = s->first + i;
    if (!by_pieces(c)) {
        *out =
            c->kind == TH_BARRIER ? (th_range){0, 0} : th_pieces(c->bytes, part, part + 1, parts);
        return i == 0;
    }
    if (i >= (s->is_rest ? n - size : size))
        return false;
    if (s->is_rest)
        at = i < s->first ? i : i + size;
    int32_t rank = w->t.order[(int64_t)tree * n + at];
    *out = th_part(th_pieces(c->bytes, rank, rank + 1, n), part, parts);
    return true;
}

/* What participant p sends: ranks and switches upwards (lane UP, or a rank's), outputs down. */
static share share_of(const th_expansion *x, int32_t tree, int32_t p, bool is_up)
{
    const th_collective *c = x->collective;
    share s = below(x, tree, p);
    if (c->kind == TH_REDUCE_SCATTER && is_up)
        return (share){0, c->n_ranks, false};
    s.is_rest = c->kind == TH_ALL_GATHER && !is_up;
    return s;
}

static th_range sum_of(const th_expansion *x, int32_t tree, int64_t j, const share *s)
{
    const th_collective *c = x->collective;
    const in_switch *w = x->data;
    int64_t parts = (int64_t)c->n_ranks * w->t.n_trees * w->t.chunks;
    int32_t size = s->end - s->first;
    th_range sum = {0, 0}, next;
    if (by_pieces(c) && c->bytes % parts == 0)
        return (th_range){0, c->bytes / parts * (s->is_rest ? c->n_ranks - size : size)};
    for (int32_t i = 0; share_range(x, tree, j, s, i, &next); i++) {
        sum.first = i == 0 ? next.first : sum.first;
        sum.bytes += next.bytes;
    }
    return sum;
}

/* --- life ------------------------------------------------------------------------------------- */

static int32_t switch_of(const th_expansion *x, int32_t p, int32_t tree)
{
    const in_switch *w = x->data;
    return p < x->collective->n_ranks ? w->t.above[(int64_t)tree * x->collective->n_ranks + p] : -1;
}

static void release(th_expansion *x)
{
    in_switch *w = x->data;
    if (!w)
        return;
    th_switch_trees_clear(&w->t);
    th_free(w->port);
    th_free(w);
}

static int prepare(th_expansion *x, th_error *err)
{
    const th_collective *c = x->collective;
    in_switch *w = th_alloc_zero(1, sizeof *w);
    if (!w)
        return th_error_no_memory(err);
    x->data = w;
    if (th_switch_trees_init(&w->t, x, err))
        return -1;
    w->t.chunks = c->kind == TH_BARRIER ? 1 : th_chunks_used(c);
    x->n_participants = c->n_ranks + w->t.n_parts;
    x->node = th_alloc_array((size_t)x->n_participants, sizeof *x->node);
    if (!x->node)
        return th_error_no_memory(err);
    memcpy(x->node, c->rank_node, (size_t)c->n_ranks * sizeof *x->node);
    memcpy(x->node + c->n_ranks, w->t.node, (size_t)w->t.n_parts * sizeof *x->node);
    x->n_lanes = w->t.n_trees > N_SWITCH_LANES ? w->t.n_trees : N_SWITCH_LANES;
    x->n_ports = w->t.n_trees > w->t.chunks ? w->t.n_trees : w->t.chunks + 1;
    w->port = th_ports_by_medium(x, w->t.n_trees, switch_of, err);
    return w->port ? 0 : -1;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool adds(const th_collective *c)
{
    return c->kind == TH_ALL_REDUCE || c->kind == TH_REDUCE || c->kind == TH_REDUCE_SCATTER;
}

static bool go_up(const th_expansion *x, int32_t p, int32_t tree, int64_t j, th_action *out)
{
    const in_switch *w = x->data;
    int32_t n = x->collective->n_ranks,
            above = p < n ? switch_of(x, p, tree) : part_of(x, p)->parent;
    if (above < 0 || j >= w->t.chunks || !sends_up(x, tree, p))
        return false;
    if (p >= n) {
        out->wait_port = (int32_t)j;
        out->wait_count = x->collective->kind == TH_BROADCAST ? 1 : part_of(x, p)->n_outputs;
    }
    share s = share_of(x, tree, p, true);
    th_action_send(out, p < n ? w->port[p * w->t.n_trees + tree] : 0, above, (int32_t)j,
                   sum_of(x, tree, j, &s));
    out->reduces = adds(x->collective);
    return true;
}

/* A switch hands every chunk, once it is complete or has come from above, to its outputs. */
static bool hand_out(const th_expansion *x, int32_t p, int64_t step, th_action *out)
{
    const in_switch *w = x->data;
    const th_switch_part *own = part_of(x, p);
    int64_t j = step / own->n_outputs;
    int32_t output = own->first_output + (int32_t)(step % own->n_outputs);
    if (j >= w->t.chunks)
        return false;
    if (own->parent >= 0) {
        out->wait_port = w->t.chunks;
        out->wait_count = (int32_t)j + 1;
    } else {
        out->wait_port = (int32_t)j;
        out->wait_count = x->collective->kind == TH_BROADCAST ? 1 : own->n_outputs;
    }
    if (!is_used(x, part_of(x, output)))
        return true;
    share s = share_of(x, own->tree, output, false);
    th_action_send(out, 1, output, 0, sum_of(x, own->tree, j, &s));
    return true;
}

static bool go_down(const th_expansion *x, int32_t p, int64_t j, th_action *out)
{
    const in_switch *w = x->data;
    const th_switch_part *own = part_of(x, p);
    if (j >= w->t.chunks || !is_used(x, own))
        return false;
    out->wait_port = 0;
    out->wait_count = (int32_t)j + 1;
    share s = share_of(x, own->tree, p, false);
    th_action_send(out, 0, own->child,
                   own->child < x->collective->n_ranks ? own->tree : w->t.chunks,
                   sum_of(x, own->tree, j, &s));
    return true;
}

/* A switch above whose result nobody below needs hands nothing out. */
static bool is_reached(const th_expansion *x, int32_t p)
{
    const th_switch_part *own = part_of(x, p);
    if (own->parent < 0)
        return true;
    if (x->collective->kind == TH_REDUCE)
        return has_root(x, own->tree, p);
    if (x->collective->kind == TH_BROADCAST)
        return own->end - own->first > 1 || !has_root(x, own->tree, p);
    return true;
}

static bool action(const th_expansion *x, int32_t participant, int32_t lane, int64_t step,
                   th_action *out)
{
    const th_collective *c = x->collective;
    const in_switch *w = x->data;
    *out = TH_ACTION_NONE;
    if (c->n_ranks == 1)
        return false;
    if (participant < c->n_ranks)
        return lane < w->t.n_trees && go_up(x, participant, lane, step, out);
    if (part_of(x, participant)->child >= 0)
        return lane == 0 && go_down(x, participant, step, out);
    if (lane == UP)
        return go_up(x, participant, part_of(x, participant)->tree, step, out);
    return lane == DOWN && is_reached(x, participant) && hand_out(x, participant, step, out);
}

static bool range(const th_expansion *x, int32_t participant, int32_t lane, int64_t step, int32_t i,
                  th_range *out)
{
    int32_t n = x->collective->n_ranks;
    if (participant < n) {
        share s = share_of(x, lane, participant, true);
        return share_range(x, lane, step, &s, i, out);
    }
    const th_switch_part *own = part_of(x, participant);
    bool is_output = own->child >= 0, is_up = !is_output && lane == UP;
    int64_t j = is_output || is_up ? step : step / own->n_outputs;
    int32_t of =
        is_output || is_up ? participant : own->first_output + (int32_t)(step % own->n_outputs);
    share s = share_of(x, own->tree, of, is_up);
    return share_range(x, own->tree, j, &s, i, out);
}

const th_algorithm th_algorithm_in_switch = {
    .name = "in_switch",
    .synopsis = "switches add and copy (NVLS, SHARP)",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_REDUCE_SCATTER | 1u << TH_ALL_GATHER |
             1u << TH_BROADCAST | 1u << TH_REDUCE | 1u << TH_BARRIER,
    .prepare = prepare,
    .action = action,
    .release = release,
    .range = range,
};
