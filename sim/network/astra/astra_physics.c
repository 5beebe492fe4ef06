/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_physics.c - how long collectives take in ASTRA-sim's analytical networks.
 *
 *   message     astra_message.c: t of one message of m bytes
 *   phase       T = (steps + 1) endpoint_delay + steps t + [N - 1 if it reduces] 3 floor(m / mem)
 *               ring: steps = 2 (N - 1) all-reduce, N - 1 reduce-scatter and all-gather,
 *               N (N - 1) / 2 all-to-all; m = size / N, for an all-gather size
 *               direct, all N - 1 messages at once, to the farthest takes t:
 *               T = (rounds + 1) endpoint_delay + rounds t + [if it reduces] 3 floor(m / mem),
 *               rounds = 2 all-reduce, else 1; congestion-aware, they leave through one link to the
 *               switch one behind the other: t = (N - 2) floor(m / bw) + 2 floor(latency + m / bw)
 *   collective  chunks of max(size / splits, accelerators) bytes (an all-gather's are not raised),
 *               as many as size needs. Each goes through its phases, one dimension each; a
 *               dimension takes chunks in the order in which they come, active_chunks at a time
 *               (chunk_pipeline.c)
 *
 * with bw = GB/s 2^30 / 1e9 bytes/ns. Everything is floored where it is printed, and double
 * arithmetic is done in the printed order, so that results agree to the nanosecond. Source: the
 * recorded results, and ASTRA-sim's published behaviour; docs/models/astra.md says what of this is
 * held against results.
 *
 * Not modelled, and refused: other implementations; direct where messages of one round differ in
 * time and a second follows (all-reduce on a ring, or through an aware switch), on an aware ring,
 * and with several chunks that share aware links. */
#include <config.h>

#include "sim/network/astra/astra_physics.h"

#include "sim/network/astra/astra_message.h"
#include "sim/network/astra/chunk_pipeline.h"

enum { MEMORY_PASSES = 3 };      /* to reduce: two reads, one write */
enum { MAX_MESSAGES = 1 << 24 }; /* followed one by one: some seconds */

/* ---- phases ---- */

typedef struct {
    th_astra_route route;
    th_astra_collective kind;
    bool is_aware;
    int64_t bytes; /* what a rank holds before the next phase */
} plan;

static int64_t steps_of(th_astra_collective kind, int64_t n)
{
    switch (kind) {
    case TH_ASTRA_ALL_REDUCE:
        return 2 * (n - 1);
    case TH_ASTRA_ALL_TO_ALL: /* the piece for the k-th next goes k steps round the ring */
        return n * (n - 1) / 2;
    case TH_ASTRA_REDUCE_SCATTER:
    case TH_ASTRA_ALL_GATHER:
    case TH_ASTRA_N_COLLECTIVES:
        break;
    }
    return n - 1;
}

/* Of N - 1 messages that set out together, the last is there. */
static int64_t direct_ns(const th_astra_dim *dim, bool is_aware, int64_t message)
{
    if (is_aware && dim->kind == TH_TOPOLOGY_DIM_SWITCH)
        return th_astra_add(
            th_astra_multiply(dim->size - 2, th_astra_serialization_ns(dim, message)),
            th_astra_multiply(2, th_astra_hop_ns(dim, message)));
    return th_astra_message_ns(dim, is_aware, 0, dim->size / 2, message);
}

/* One chunk alone: steps messages of t one after the other, n_reductions of those behind each
 * other. */
static int64_t alone_ns(const th_astra *a, const th_astra_phase *ph, int64_t t,
                        int64_t n_reductions)
{
    return th_astra_add(th_astra_add(th_astra_multiply(ph->steps + 1, a->endpoint_delay_ns),
                                     th_astra_multiply(ph->steps, t)),
                        th_astra_multiply(n_reductions, ph->reduce_ns));
}

static void add_phase(plan *p, th_astra_collective kind, int d)
{
    const th_astra *a = p->route.a;
    const th_astra_dim *dim = &a->dims[d];
    bool reduces = kind == TH_ASTRA_ALL_REDUCE || kind == TH_ASTRA_REDUCE_SCATTER;
    th_astra_phase ph = {.dim = d, .n_reduced = reduces ? dim->size - 1 : 0};
    ph.bytes = kind == TH_ASTRA_ALL_GATHER ? p->bytes : p->bytes / dim->size;
    ph.reduce_ns = MEMORY_PASSES * th_astra_floor((double)ph.bytes / a->local_mem_gb_per_s);
    if (dim->implementation[p->kind] == TH_ASTRA_DIRECT) {
        ph.steps = kind == TH_ASTRA_ALL_REDUCE ? 2 : 1;
        ph.ns = alone_ns(a, &ph, direct_ns(dim, p->is_aware, ph.bytes), reduces);
    } else {
        ph.steps = steps_of(kind, dim->size);
        ph.ns =
            alone_ns(a, &ph, th_astra_message_ns(dim, p->is_aware, 0, 1, ph.bytes), ph.n_reduced);
    }
    p->route.phase[p->route.n_phases++] = ph;
    if (kind == TH_ASTRA_REDUCE_SCATTER)
        p->bytes /= dim->size;
    if (kind == TH_ASTRA_ALL_GATHER)
        p->bytes = th_astra_multiply(p->bytes, dim->size);
}

/* All-reduce over dimensions, localBWAware: later dimensions see the smaller pieces. */
static void plan_local_bw_aware(plan *p)
{
    int last = p->route.a->n_dims - 1;
    for (int d = 0; d < last; d++)
        add_phase(p, TH_ASTRA_REDUCE_SCATTER, d);
    add_phase(p, TH_ASTRA_ALL_REDUCE, last);
    for (int d = last - 1; d >= 0; d--)
        add_phase(p, TH_ASTRA_ALL_GATHER, d);
}

static void plan_phases(plan *p, th_astra_collective kind)
{
    int n = p->route.a->n_dims;
    if (kind == TH_ASTRA_ALL_REDUCE && p->route.a->is_local_bw_aware)
        plan_local_bw_aware(p);
    else if (kind == TH_ASTRA_ALL_GATHER)
        for (int d = n - 1; d >= 0; d--)
            add_phase(p, kind, d);
    else
        for (int d = 0; d < n; d++)
            add_phase(p, kind, d);
}

/* One chunk after the other, without a pipeline: one chunk, or one dimension with one place. */
static int64_t queue_up(const plan *p, int64_t n_chunks)
{
    int64_t ns = 0;
    for (int i = 0; i < p->route.n_phases; i++)
        ns = th_astra_add(ns, p->route.phase[i].ns);
    return th_astra_multiply(n_chunks, ns);
}

/* ---- collectives ---- */

/* Messages of a round of direct that arrive at different times start the next round piecemeal. */
static bool is_known(const th_astra *a, bool is_aware, th_astra_collective kind, int d)
{
    th_topology_dim_kind links = a->dims[d].kind;
    if (a->dims[d].implementation[kind] == TH_ASTRA_RING)
        return true;
    if (a->dims[d].implementation[kind] != TH_ASTRA_DIRECT || a->dims[d].window[kind] > 0 ||
        (is_aware && links == TH_TOPOLOGY_DIM_RING))
        return false;
    bool has_two_rounds =
        kind == TH_ASTRA_ALL_REDUCE && (d + 1 == a->n_dims || !a->is_local_bw_aware);
    return !has_two_rounds || links == TH_TOPOLOGY_DIM_FULL ||
           (links == TH_TOPOLOGY_DIM_SWITCH && !is_aware);
}

static int check_implementation(const th_astra *a, bool is_aware, th_astra_collective kind,
                                th_error *err)
{
    for (int d = 0; d < a->n_dims; d++) {
        if (is_known(a, is_aware, kind, d))
            continue;
        return th_error_set(err, "NET-0031",
                            "%s is %s in dimension %d of system.json: %s does not know it on these "
                            "links (ring it does)",
                            th_astra_collective_keys[kind],
                            th_astra_implementation_names[a->dims[d].implementation[kind]], d,
                            is_aware ? "astra_aware" : "astra_unaware");
    }
    return 0;
}

int th_astra_cut_into_chunks(const th_astra *a, th_astra_collective kind, int64_t bytes,
                             int64_t *chunk, int64_t *n_chunks, th_error *err)
{
    int64_t n_accels = 1;
    for (int d = 0; d < a->n_dims; d++)
        n_accels *= a->dims[d].size;
    *chunk = bytes / a->splits;
    *n_chunks = a->splits;
    if (kind != TH_ASTRA_ALL_GATHER && *chunk < n_accels)
        *chunk = n_accels;
    else if (*chunk > 0)
        *n_chunks = bytes / *chunk + (bytes % *chunk != 0);
    if (*chunk == 0)
        return th_error_set(err, "NET-0034",
                            "an all_gather of %lld bytes from each rank cannot be cut into "
                            "preferred-dataset-splits %lld",
                            (long long)bytes, (long long)a->splits);
    return 0;
}

/* Several chunks of a dimension on the same links are followed message by message. */
static int check_sharing(const plan *p, int64_t n_chunks, th_error *err)
{
    int64_t n_messages = 0;
    for (int i = 0; i < p->route.n_phases; i++) {
        const th_astra_phase *ph = &p->route.phase[i];
        n_messages = th_astra_add(n_messages, th_astra_multiply(n_chunks, ph->steps));
        if (p->route.a->dims[ph->dim].implementation[p->kind] != TH_ASTRA_RING)
            return th_error_set(err, "NET-0033",
                                "direct in dimension %d of system.json: astra_aware does not know "
                                "it with active-chunks-per-dimension %lld (1 it does)",
                                ph->dim, (long long)p->route.a->active_chunks);
    }
    if (n_messages > MAX_MESSAGES)
        return th_error_set(err, "NET-0036",
                            "active-chunks-per-dimension %lld: astra_aware would follow %lld "
                            "messages of one collective, at most %d are possible",
                            (long long)p->route.a->active_chunks, (long long)n_messages,
                            MAX_MESSAGES);
    return 0;
}

int th_astra_collective_ns(const th_astra *a, bool is_aware, th_astra_collective kind,
                           int64_t bytes, int64_t *ns, th_error *err)
{
    plan p = {.route.a = a, .kind = kind, .is_aware = is_aware};
    int64_t n_chunks;
    if (check_implementation(a, is_aware, kind, err) < 0 ||
        th_astra_cut_into_chunks(a, kind, bytes, &p.bytes, &n_chunks, err) < 0)
        return -1;
    plan_phases(&p, kind);
    if (n_chunks == 1 || (a->n_dims == 1 && a->active_chunks == 1)) {
        *ns = queue_up(&p, n_chunks);
        return 0;
    }
    p.route.shares_links = is_aware && a->active_chunks > 1;
    if (p.route.shares_links && check_sharing(&p, n_chunks, err) < 0)
        return -1;
    return th_astra_pipeline_ns(&p.route, (int32_t)n_chunks, ns, err);
}
