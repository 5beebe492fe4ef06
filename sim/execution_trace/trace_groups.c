/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_groups.c - see trace_groups.h.
 *   meet: all sends are numbered within their key -> all receives take theirs -> collectives */
#include <config.h>
#include "sim/execution_trace/trace_groups.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "topology/files/astra.h"

/* Keys of maps: plain, without padding. */
typedef struct message_key {
    int64_t bytes, number; /* the number-th of its kind */
    int32_t from, to;
    uint32_t tag;
    int32_t is_count; /* 1: the value is how many there are */
} message_key;

typedef struct group_key {
    int64_t number;
    int32_t group;
    int32_t dims, base; /* of a group of dimensions: which, and its lowest rank */
    int32_t rank;       /* >= 0: the value is how many collectives the rank has had */
} group_key;

typedef struct meeter {
    const th_trace *trace;
    const th_system *system;
    th_trace_meetings *out;
    th_map *map;
} meeter;

/* The value of a counter in the map, which counts on. -1: memory is out. */
static int64_t count(th_map *map, const void *key, size_t n)
{
    int64_t so_far = 0;
    th_map_get(map, key, n, &so_far);
    return th_map_put(map, key, n, so_far + 1) ? -1 : so_far;
}

/* ---- messages ---- */

static message_key key_of(const th_trace_node *n, int32_t rank)
{
    bool sends = n->kind == TH_TRACE_SEND;
    return (message_key){.bytes = n->bytes,
                         .from = sends ? rank : n->peer,
                         .to = sends ? n->peer : rank,
                         .tag = n->tag,
                         .is_count = sends ? 1 : 2};
}

static int meet_message(meeter *m, int32_t rank, int32_t node, th_error *err)
{
    const th_trace_node *n = &m->trace->ranks[rank].nodes[node];
    message_key key = key_of(n, rank);
    int64_t number = count(m->map, &key, sizeof key), send;
    key.is_count = 0;
    key.number = number;
    if (number < 0 || (n->kind == TH_TRACE_SEND && th_map_put(m->map, &key, sizeof key, node)))
        return th_error_no_memory(err);
    if (n->kind == TH_TRACE_RECEIVE && th_map_get(m->map, &key, sizeof key, &send)) {
        m->out->partner[m->trace->ranks[rank].first + node] = (int32_t)send;
        m->out->partner[m->trace->ranks[n->peer].first + send] = node;
    }
    return 0;
}

static int meet_messages(meeter *m, th_trace_kind kind, th_error *err)
{
    for (int32_t rank = 0; rank < m->trace->n_ranks; rank++)
        for (int32_t i = 0; i < m->trace->ranks[rank].n_nodes; i++)
            if (m->trace->ranks[rank].nodes[i].kind == kind && meet_message(m, rank, i, err))
                return -1;
    return 0;
}

/* ---- collectives ---- */

static int32_t *new_list(meeter *m, int32_t n)
{
    th_trace_meetings *o = m->out;
    int32_t *list = th_alloc_array((size_t)n + 1, sizeof *list);
    if (!list ||
        th_grow(&o->member_lists, &o->list_capacity, o->n_lists + 1, sizeof *o->member_lists)) {
        th_free(list);
        return NULL;
    }
    o->member_lists[o->n_lists++] = list;
    return list;
}

/* The dimensions that take part, where not all of them do; 0: all. -1: the system has none. */
static int dims_of(const meeter *m, int32_t rank, const th_trace_node *n, th_error *err)
{
    const th_astra *a = m->system->astra;
    int n_dims = n->n_dims, all;
    if (n->group >= 0 || n_dims == TH_TRACE_ALL_DIMS)
        return 0;
    n_dims = a ? a->n_dims : n_dims;
    all = (1 << n_dims) - 1;
    if ((n->dims & all) == all)
        return 0;
    if (a && n->n_dims >= a->n_dims && (n->dims & all) != 0)
        return n->dims & all;
    return th_error_set(
        err, "MAP-0303",
        "%s.%d.et: node %" PRIu64
        ": attribute involved_dim: must name at least one of the %d dimensions of the system",
        m->trace->prefix, (int)rank, n->id, a ? a->n_dims : 0);
}

/* The lowest rank of those that differ from this one in the dimensions alone. */
static int32_t base_of(const th_astra *a, int dims, int32_t rank)
{
    int32_t base = 0, stride = 1;
    for (int d = 0; d < a->n_dims; d++) {
        if (!(dims >> d & 1))
            base += rank / stride % a->dims[d].size * stride;
        stride *= a->dims[d].size;
    }
    return base;
}

static int list_dims(meeter *m, int dims, int32_t base, th_trace_meeting *out)
{
    const th_astra *a = m->system->astra;
    int32_t n = 1, stride = 1, size = 1, *list;
    for (int d = 0; d < a->n_dims; d++)
        n *= dims >> d & 1 ? a->dims[d].size : 1;
    if (!(list = new_list(m, n)))
        return -1;
    list[0] = base;
    for (int d = 0; d < a->n_dims; d++) {
        if (dims >> d & 1) {
            for (int32_t i = size; i < size * a->dims[d].size; i++)
                list[i] = list[i - size] + stride;
            size *= a->dims[d].size;
        }
        stride *= a->dims[d].size;
    }
    out->members = list;
    out->n_members = n;
    return 0;
}

/* Members of all ranks, of a group, or of the ranks along some dimensions. */
static int list_members(meeter *m, const group_key *key, th_trace_meeting *out)
{
    if (key->group >= 0) {
        out->members = m->trace->groups[key->group].members;
        out->n_members = m->trace->groups[key->group].n_members;
        return 0;
    }
    if (key->dims != 0)
        return list_dims(m, key->dims, key->base, out);
    if (m->out->n_lists == 0) { /* the first list is that of all ranks */
        int32_t *list = new_list(m, m->trace->n_ranks);
        for (int32_t i = 0; list && i < m->trace->n_ranks; i++)
            list[i] = i;
    }
    out->members = m->out->n_lists > 0 ? m->out->member_lists[0] : NULL;
    out->n_members = m->trace->n_ranks;
    return out->members ? 0 : -1;
}

static int new_meeting(meeter *m, const group_key *key)
{
    th_trace_meetings *o = m->out;
    th_trace_meeting fresh = {.n_members = 0};
    if (th_grow(&o->all, &o->capacity, (size_t)o->n + 1, sizeof *o->all) ||
        list_members(m, key, &fresh) ||
        !(fresh.nodes = th_alloc_array((size_t)fresh.n_members + 1, sizeof *fresh.nodes)))
        return -1;
    for (int32_t i = 0; i < fresh.n_members; i++)
        fresh.nodes[i] = -1;
    o->all[o->n++] = fresh;
    return th_map_put(m->map, key, sizeof *key, o->n - 1);
}

static int meet_collective(meeter *m, int32_t rank, int32_t node, th_error *err)
{
    const th_trace_node *n = &m->trace->ranks[rank].nodes[node];
    int dims = dims_of(m, rank, n, err);
    if (dims < 0)
        return -1;
    group_key key = {.group = n->group,
                     .dims = dims,
                     .base = dims ? base_of(m->system->astra, dims, rank) : 0,
                     .rank = rank};
    int64_t at;
    key.number = count(m->map, &key, sizeof key);
    key.rank = -1;
    if (key.number < 0 || (!th_map_get(m->map, &key, sizeof key, &at) && new_meeting(m, &key)))
        return th_error_no_memory(err);
    th_map_get(m->map, &key, sizeof key, &at);
    th_trace_meeting *meeting = &m->out->all[at];
    bool is_all = n->group < 0 && dims == 0;
    for (int32_t i = is_all ? rank : 0; i < meeting->n_members; i++)
        if (meeting->members[i] == rank) {
            meeting->nodes[i] = node;
            break;
        }
    m->out->meeting_of[m->trace->ranks[rank].first + node] = (int32_t)at;
    return 0;
}

static bool is_complete(const meeter *m, const th_trace_meeting *meeting)
{
    const th_trace_node *first = NULL;
    for (int32_t i = 0; i < meeting->n_members; i++) {
        if (meeting->nodes[i] < 0)
            return false;
        const th_trace_node *n = &m->trace->ranks[meeting->members[i]].nodes[meeting->nodes[i]];
        first = first ? first : n;
        if (n->collective != first->collective || n->bytes != first->bytes)
            return false;
    }
    return true;
}

static int meet_collectives(meeter *m, th_error *err)
{
    for (int32_t rank = 0; rank < m->trace->n_ranks; rank++)
        for (int32_t i = 0; i < m->trace->ranks[rank].n_nodes; i++)
            if (m->trace->ranks[rank].nodes[i].kind == TH_TRACE_COLLECTIVE &&
                meet_collective(m, rank, i, err))
                return -1;
    for (int32_t i = 0; i < m->out->n; i++)
        m->out->all[i].is_complete = is_complete(m, &m->out->all[i]);
    return 0;
}

/* ---- the whole ---- */

static int begin(meeter *m, th_error *err)
{
    th_trace_meetings *o = m->out;
    size_t n = (size_t)m->trace->n_nodes + 1;
    m->map = th_map_new();
    o->partner = th_alloc_array(n, sizeof *o->partner);
    o->meeting_of = th_alloc_array(n, sizeof *o->meeting_of);
    if (!m->map || !o->partner || !o->meeting_of)
        return th_error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        o->partner[i] = o->meeting_of[i] = -1;
    /* The list of all ranks is the first. */
    th_trace_meeting all;
    return list_members(m, &(group_key){.group = -1}, &all) ? th_error_no_memory(err) : 0;
}

int th_trace_meet(const th_trace *t, const th_system *s, th_trace_meetings *out, th_error *err)
{
    meeter m = {.trace = t, .system = s, .out = out};
    *out = (th_trace_meetings){.n = 0};
    int status = begin(&m, err);
    if (status == 0)
        status = meet_messages(&m, TH_TRACE_SEND, err) ||
                         meet_messages(&m, TH_TRACE_RECEIVE, err) || meet_collectives(&m, err)
                     ? -1
                     : 0;
    th_map_free(m.map);
    return status;
}

void th_trace_meetings_clear(th_trace_meetings *m)
{
    for (int32_t i = 0; i < m->n; i++)
        th_free(m->all[i].nodes);
    for (size_t i = 0; i < m->n_lists; i++)
        th_free(m->member_lists[i]);
    th_free(m->all);
    th_free(m->member_lists);
    th_free(m->partner);
    th_free(m->meeting_of);
}
