/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_custom.c - see trace_custom.h.
 *   read the algorithm -> (for each rank: count -> old nodes -> nodes of the algorithm)
 * The node of a collective stays, as the end of its algorithm, which takes no time: what waited for
 * it still does. The algorithm's nodes follow behind all others, collective by collective; those
 * that wait for nothing in it wait for what the collective waited for. Their tags lie above the
 * trace's own. As in ASTRA-sim messages have the bytes of the algorithm, whatever the collective's
 * are. */
#include <config.h>
#include "workloads/trace/trace_custom.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "workloads/trace/trace_read.h"

/* A rank of the trace, on its way to the one that replaces it. */
typedef struct making {
    const th_trace *trace, *by;
    const th_trace_rank *old;
    th_trace_rank made;
    int32_t rank, kind;
    int32_t
        *start; /* by old node: of a collective that is replaced, the first node of its algorithm;
                       else 0 */
    uint32_t first_tag;
    size_t n_deps, dep_capacity, n_names;
} making;

static bool is_replaced(const th_trace_node *n, int32_t kind)
{
    return n->kind == TH_TRACE_COLLECTIVE && n->collective == kind;
}

/* The position of a rank among those of a collective, and how many they are. */
static int32_t position(const th_trace *t, const th_trace_node *n, int32_t rank, int32_t *n_members)
{
    const th_trace_group *g = n->group >= 0 ? &t->groups[n->group] : NULL;
    int32_t at = rank;
    *n_members = g ? g->n_members : t->n_ranks;
    for (int32_t i = 0; g && i < g->n_members; i++)
        if (g->members[i] == rank)
            at = i;
    return at;
}

static const th_trace_rank *algorithm_of(const making *m, const th_trace_node *n)
{
    int32_t n_members;
    return &m->by->ranks[position(m->trace, n, m->rank, &n_members)];
}

/* ---- dependencies ---- */

static int add_dep(making *m, int32_t at, int32_t dep, th_error *err)
{
    if (m->n_deps >= INT32_MAX / 4 ||
        th_grow(&m->made.deps, &m->dep_capacity, m->n_deps + 1, sizeof *m->made.deps))
        return th_error_no_memory(err);
    m->made.deps[m->n_deps++] = dep;
    m->made.nodes[at].n_deps++;
    return 0;
}

/* A collective ends with the nodes of its algorithm that none of it waits for. 0 or -1. */
static int add_ends(making *m, int32_t collective, th_error *err)
{
    const th_trace_rank *a = algorithm_of(m, &m->old->nodes[collective]);
    bool *has_next = th_alloc_zero((size_t)a->n_nodes + 1, sizeof *has_next);
    int status = has_next ? 0 : th_error_no_memory(err);
    for (int32_t i = 0; status == 0 && i < a->n_nodes; i++)
        for (int32_t k = 0; k < a->nodes[i].n_deps; k++)
            has_next[a->deps[a->nodes[i].first_dep + k]] = true;
    for (int32_t i = 0; status == 0 && i < a->n_nodes; i++)
        if (!has_next[i])
            status = add_dep(m, collective, m->start[collective] + i, err);
    th_free(has_next);
    return status;
}

/* ---- nodes ---- */

/* What a node waited for before. 0 or -1. */
static int add_old_deps(making *m, int32_t at, const th_trace_node *old, th_error *err)
{
    for (int32_t k = 0; k < old->n_deps; k++)
        if (add_dep(m, at, m->old->deps[old->first_dep + k], err))
            return -1;
    return 0;
}

static int add_old(making *m, int32_t i, th_error *err)
{
    th_trace_node *n = &m->made.nodes[i];
    *n = m->old->nodes[i];
    n->first_dep = (int32_t)m->n_deps;
    n->n_deps = 0;
    if (m->start[i] == 0)
        return add_old_deps(m, i, &m->old->nodes[i], err);
    n->kind = TH_TRACE_INVALID;
    n->is_part = true;
    n->n_far = 0;
    return add_ends(m, i, err);
}

/* The node of an algorithm, for a collective that was the old node. 0 or -1. */
static int add_part(making *m, int32_t at, const th_trace_node *old, const th_trace_rank *a,
                    int32_t i, th_error *err)
{
    const th_trace_node *from = &a->nodes[i];
    th_trace_node *n = &m->made.nodes[at];
    *n = *from;
    n->id = m->made.nodes[at - 1].id + 1;
    n->is_part = true;
    n->is_on_host |= n->kind == TH_TRACE_COMPUTE; /* it is a delay */
    n->name = old->name;
    n->tag += m->first_tag;
    if (n->peer >= 0 && old->group >= 0)
        n->peer = m->trace->groups[old->group].members[n->peer];
    n->first_dep = (int32_t)m->n_deps;
    n->n_deps = 0;
    for (int32_t k = 0; k < from->n_deps; k++)
        if (add_dep(m, at, at - i + a->deps[from->first_dep + k], err))
            return -1;
    if (from->n_deps > 0)
        return 0;
    n->release_ps = old->release_ps;
    n->first_far = old->first_far;
    n->n_far = old->n_far;
    return add_old_deps(m, at, old, err);
}

/* ---- a rank ---- */

static int check(const making *m, const th_trace_node *n, th_error *err)
{
    int32_t n_members;
    position(m->trace, n, m->rank, &n_members);
    if (n_members == m->by->n_ranks)
        return 0;
    return th_error_set(
        err, "WORK-0963", "%s.%d.et: node %" PRIu64 ": %s of %d ranks: %s has files of %d",
        m->trace->prefix, (int)m->rank, n->id, th_trace_collective_name((uint64_t)m->kind),
        (int)n_members, m->by->prefix, (int)m->by->n_ranks);
}

/* The first node of each collective's algorithm; *n: how many nodes there are. 0 or -1. */
static int place(making *m, int64_t *n, th_error *err)
{
    *n = m->old->n_nodes;
    for (int32_t i = 0; i < m->old->n_nodes; i++) {
        const th_trace_node *node = &m->old->nodes[i];
        if (!is_replaced(node, m->kind))
            continue;
        if (check(m, node, err) != 0)
            return -1;
        m->start[i] = (int32_t)*n;
        *n += algorithm_of(m, node)->n_nodes;
        if (*n >= INT32_MAX / 4)
            return th_error_no_memory(err);
    }
    return 0;
}

static int fill(making *m, th_error *err)
{
    int32_t at = m->old->n_nodes;
    for (int32_t i = 0; i < m->old->n_nodes; i++)
        if (add_old(m, i, err) != 0)
            return -1;
    for (int32_t i = 0; i < m->old->n_nodes; i++) {
        if (m->start[i] == 0)
            continue;
        const th_trace_rank *a = algorithm_of(m, &m->old->nodes[i]);
        for (int32_t k = 0; k < a->n_nodes; k++, at++)
            if (add_part(m, at, &m->old->nodes[i], a, k, err) != 0)
                return -1;
    }
    m->made.n_nodes = at;
    return 0;
}

static int replace(making *m, th_error *err)
{
    int64_t n;
    m->start = th_alloc_zero((size_t)m->old->n_nodes + 1, sizeof *m->start);
    if (!m->start)
        return th_error_no_memory(err);
    int status = place(m, &n, err);
    if (status == 0)
        m->made.nodes = th_alloc_array((size_t)n + 1, sizeof *m->made.nodes);
    if (status == 0 && !m->made.nodes)
        status = th_error_no_memory(err);
    if (status == 0)
        status = fill(m, err);
    th_free(m->start);
    return status;
}

/* ---- all ranks ---- */

static int check_parts(const th_trace *by, th_error *err)
{
    for (int32_t rank = 0; rank < by->n_ranks; rank++) {
        if (by->ranks[rank].n_nodes == 0)
            return th_error_set(err, "WORK-0966", "%s.%d.et: no nodes: must have at least one",
                                by->prefix, (int)rank);
        for (int32_t i = 0; i < by->ranks[rank].n_nodes; i++) {
            const th_trace_node *n = &by->ranks[rank].nodes[i];
            if (n->kind < TH_TRACE_COMPUTE || n->kind > TH_TRACE_RECEIVE)
                return th_error_set(err, "WORK-0964",
                                    "%s.%d.et: node %" PRIu64 ": type %d: a custom collective is "
                                    "made of computations (4), sends (5) and receives (6)",
                                    by->prefix, (int)rank, n->id, (int)n->kind);
        }
    }
    return 0;
}

/* Of all messages; -1: there are none. */
static int64_t largest_tag(const th_trace *t)
{
    int64_t most = -1;
    for (int32_t rank = 0; rank < t->n_ranks; rank++)
        for (int32_t i = 0; i < t->ranks[rank].n_nodes; i++) {
            const th_trace_node *n = &t->ranks[rank].nodes[i];
            bool is_message = n->kind == TH_TRACE_SEND || n->kind == TH_TRACE_RECEIVE;
            most = is_message && n->tag > most ? n->tag : most;
        }
    return most;
}

static int replace_all(th_trace *t, const th_trace *by, int32_t kind, th_error *err)
{
    int64_t first_tag = largest_tag(t) + 1;
    uint64_t last_id = 0;
    for (int32_t rank = 0; rank < t->n_ranks; rank++) {
        const th_trace_rank *r = &t->ranks[rank];
        last_id = r->n_nodes > 0 && r->nodes[r->n_nodes - 1].id > last_id
                      ? r->nodes[r->n_nodes - 1].id
                      : last_id;
    }
    if (check_parts(by, err) != 0)
        return -1;
    if (first_tag + largest_tag(by) > UINT32_MAX || last_id > INT64_MAX)
        return th_error_set(err, "WORK-0965",
                            "%s: ids and tags leave no room for those of %s: ids must be below "
                            "2^63, tags in sum below 2^32",
                            t->prefix, by->prefix);
    t->n_nodes = 0;
    for (int32_t rank = 0; rank < t->n_ranks; rank++) {
        th_trace_rank *r = &t->ranks[rank];
        making m = {.trace = t,
                    .by = by,
                    .old = r,
                    .made = *r,
                    .rank = rank,
                    .kind = kind,
                    .first_tag = (uint32_t)first_tag};
        m.made.deps = NULL;
        m.made.nodes = NULL;
        int status = replace(&m, err);
        if (status != 0) {
            th_free(m.made.nodes);
            th_free(m.made.deps);
            return -1;
        }
        th_free(r->nodes);
        th_free(r->deps);
        *r = m.made;
        r->first = (int32_t)t->n_nodes;
        t->n_nodes += r->n_nodes;
    }
    return 0;
}

int th_trace_use_custom(th_trace *t, th_trace_collective kind, const char *prefix, th_error *err)
{
    int64_t n = 0;
    for (int32_t rank = 0; rank < t->n_ranks; rank++)
        for (int32_t i = 0; i < t->ranks[rank].n_nodes; i++)
            n += is_replaced(&t->ranks[rank].nodes[i], (int32_t)kind);
    if (n == 0)
        return 0;
    th_trace *by = th_trace_read(&(th_trace_files){.prefix = prefix}, err);
    int status = by ? replace_all(t, by, (int32_t)kind, err) : -1;
    t->n_custom += n;
    th_trace_free(by);
    return status;
}
