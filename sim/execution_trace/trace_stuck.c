/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_stuck.c - see trace_stuck.h. A node that is ready but never done says what it waits for: a
 * message, or a rank in its collective. A rank that has nodes left, none of them ready, has a cycle
 * of dependencies. */
#include <config.h>
#include "sim/execution_trace/trace_stuck.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "sim/execution_trace/trace_groups.h"

enum { MAX_ITEMS = 5 };

typedef struct th_trace_explainer {
    const th_trace *trace;
    const th_task_result *times;
    th_trace_meetings meetings;
    th_strbuf text;
    int n_items;
} explainer;

static const th_trace_node *node_of(const explainer *x, int32_t rank, int32_t node)
{
    return &x->trace->ranks[rank].nodes[node];
}

static bool is_done(const explainer *x, int32_t rank, int32_t node)
{
    return x->times[x->trace->ranks[rank].first + node].end_ps >= 0;
}

static bool is_ready(const explainer *x, int32_t rank, int32_t node)
{
    const th_trace_rank *r = &x->trace->ranks[rank];
    const th_trace_node *n = &r->nodes[node];
    for (int32_t k = n->first_dep; k < n->first_dep + n->n_deps; k++)
        if (!is_done(x, rank, r->deps[k]))
            return false;
    for (int32_t k = n->first_far; k < n->first_far + n->n_far; k++)
        if (!is_done(x, r->far[k].rank, r->far[k].node))
            return false;
    return true;
}

/* True: there is room for this item, and "rank 3: node 7" is written. */
static bool begin_item(explainer *x, int32_t rank, const th_trace_node *n)
{
    if (x->n_items++ >= MAX_ITEMS)
        return false;
    th_strbuf_printf(&x->text, "%srank %d: node %" PRIu64, x->n_items > 1 ? "; " : "", (int)rank,
                     n->id);
    return true;
}

/* ---- messages ---- */

static void explain_receive(explainer *x, int32_t rank, int32_t node)
{
    const th_trace_node *n = node_of(x, rank, node);
    int32_t send = x->meetings.partner[x->trace->ranks[rank].first + node];
    if (!begin_item(x, rank, n))
        return;
    th_strbuf_printf(&x->text, " waits for tag %u (%" PRId64 " bytes) from rank %d, ",
                     (unsigned)n->tag, n->bytes, (int)n->peer);
    if (send < 0)
        th_strbuf_add(&x->text, "which never sends it");
    else
        th_strbuf_printf(&x->text, "whose node %" PRIu64 " does not get to send it",
                         node_of(x, n->peer, send)->id);
}

static void explain_send(explainer *x, int32_t rank, int32_t node)
{
    const th_trace_node *n = node_of(x, rank, node);
    if (begin_item(x, rank, n))
        th_strbuf_printf(&x->text,
                         " sends tag %u (%" PRId64 " bytes) to rank %d, which never receives it",
                         (unsigned)n->tag, n->bytes, (int)n->peer);
}

/* ---- collectives ---- */

static void name_collective(explainer *x, const th_trace_node *n)
{
    th_strbuf_printf(&x->text, " (%s of %" PRId64 " bytes", th_trace_collective_name(n->collective),
                     n->bytes);
    if (n->group >= 0)
        th_strbuf_printf(&x->text, ", group %" PRId64, x->trace->groups[n->group].number);
    th_strbuf_add(&x->text, ")");
}

/* The first member whose node is not that of the collective, or is not done. */
static void explain_collective(explainer *x, int32_t rank, int32_t node)
{
    const th_trace_node *n = node_of(x, rank, node);
    const th_trace_meeting *m =
        &x->meetings.all[x->meetings.meeting_of[x->trace->ranks[rank].first + node]];
    if (!begin_item(x, rank, n))
        return;
    name_collective(x, n);
    for (int32_t i = 0; i < m->n_members; i++) {
        int32_t other = m->members[i];
        const th_trace_node *its = m->nodes[i] >= 0 ? node_of(x, other, m->nodes[i]) : NULL;
        if (!its) {
            th_strbuf_printf(&x->text, " waits for rank %d, which never joins it", (int)other);
            return;
        }
        if (its->collective != n->collective || its->bytes != n->bytes) {
            th_strbuf_printf(&x->text, " meets another one on rank %d, node %" PRIu64, (int)other,
                             its->id);
            name_collective(x, its);
            return;
        }
    }
    for (int32_t i = 0; i < m->n_members; i++)
        if (m->members[i] != rank && !is_ready(x, m->members[i], m->nodes[i])) {
            th_strbuf_printf(&x->text,
                             " waits for rank %d, which does not get to its node %" PRIu64,
                             (int)m->members[i], node_of(x, m->members[i], m->nodes[i])->id);
            return;
        }
    th_strbuf_add(&x->text, " never ends");
}

/* ---- cycles ---- */

/* Follows nodes that are not done until one comes again. */
static void explain_cycle(explainer *x, int32_t rank, int32_t node, bool *seen)
{
    const th_trace_rank *r = &x->trace->ranks[rank];
    int32_t at = node, start;
    for (int32_t next = at; !seen[at]; at = next) {
        const th_trace_node *n = &r->nodes[at];
        seen[at] = true;
        for (int32_t k = n->first_dep; k < n->first_dep + n->n_deps; k++)
            if (!is_done(x, rank, r->deps[k])) {
                next = r->deps[k];
                break;
            }
        if (next == at && n->n_deps == 0)
            return; /* it waits for another rank */
    }
    start = at;
    if (!begin_item(x, rank, &r->nodes[start]))
        return;
    for (int i = 0; i == 0 || (at != start && i < MAX_ITEMS); i++) {
        const th_trace_node *n = &r->nodes[at];
        for (int32_t k = n->first_dep; k < n->first_dep + n->n_deps; k++)
            if (!is_done(x, rank, r->deps[k])) {
                at = r->deps[k];
                break;
            }
        th_strbuf_printf(&x->text, "%s node %" PRIu64, i == 0 ? " waits for" : ", that for",
                         r->nodes[at].id);
    }
    th_strbuf_add(&x->text, at == start ? ": a cycle of dependencies" : " ...: a cycle");
}

/* ---- all ---- */

static int explain_rank(explainer *x, int32_t rank, th_error *err)
{
    int32_t n = x->trace->ranks[rank].n_nodes, first_left = -1;
    bool is_any_ready = false;
    for (int32_t i = 0; i < n; i++) {
        int kind = node_of(x, rank, i)->kind;
        if (kind == TH_TRACE_SEND && x->meetings.partner[x->trace->ranks[rank].first + i] < 0)
            explain_send(x, rank, i);
        if (is_done(x, rank, i))
            continue;
        first_left = first_left < 0 ? i : first_left;
        if (!is_ready(x, rank, i))
            continue;
        is_any_ready = true;
        if (kind == TH_TRACE_RECEIVE)
            explain_receive(x, rank, i);
        if (kind == TH_TRACE_COLLECTIVE)
            explain_collective(x, rank, i);
    }
    if (first_left < 0 || is_any_ready)
        return 0;
    bool *seen = th_alloc_zero((size_t)n, sizeof *seen);
    if (!seen)
        return th_error_no_memory(err);
    explain_cycle(x, rank, first_left, seen);
    th_free(seen);
    return 0;
}

static bool has_left(const explainer *x, int32_t rank)
{
    for (int32_t i = 0; i < x->trace->ranks[rank].n_nodes; i++)
        if (!is_done(x, rank, i))
            return true;
    return false;
}

static int finish_text(explainer *x, th_error *err)
{
    if (x->n_items > MAX_ITEMS)
        th_strbuf_printf(&x->text, "; and %d more", x->n_items - MAX_ITEMS);
    return x->text.failed ? th_error_no_memory(err) : 0;
}

th_trace_explainer *th_trace_explainer_new(const th_trace *t, const th_system *s,
                                           const th_task_result *times, th_error *err)
{
    explainer *x = th_alloc_zero(1, sizeof *x);
    if (!x) {
        th_error_no_memory(err);
        return NULL;
    }
    *x = (explainer){.trace = t, .times = times, .text = TH_STRBUF_INIT};
    if (th_trace_meet(t, s, &x->meetings, err)) {
        th_trace_explainer_free(x);
        return NULL;
    }
    return x;
}

void th_trace_explainer_free(th_trace_explainer *x)
{
    if (!x)
        return;
    th_trace_meetings_clear(&x->meetings);
    th_strbuf_clear(&x->text);
    th_free(x);
}

const char *th_trace_explain_rank(th_trace_explainer *x, int32_t rank, th_error *err)
{
    th_strbuf_clear(&x->text);
    x->n_items = 0;
    if (explain_rank(x, rank, err))
        return NULL;
    if (x->n_items == 0 && has_left(x, rank))
        th_strbuf_add(&x->text, "waits for other ranks");
    th_strbuf_add(&x->text, "");
    return finish_text(x, err) ? NULL : x->text.text;
}

int th_trace_explain(th_trace_explainer *x, th_error *why, th_error *err)
{
    bool is_any_left = false;
    th_strbuf_clear(&x->text);
    x->n_items = 0;
    for (int32_t i = 0; i < x->trace->n_ranks; i++) {
        is_any_left |= has_left(x, i);
        if (explain_rank(x, i, err))
            return -1;
    }
    if (x->n_items == 0 && is_any_left)
        th_strbuf_add(&x->text, "nodes are left that are never ready");
    if (finish_text(x, err))
        return -1;
    if (x->text.length == 0)
        return 0;
    th_error_set(why, "MAP-0304", "%s: the trace does not come to its end: %s", x->trace->prefix,
                 x->text.text);
    return 1;
}
