/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_write.c - see node_write.h. Each node becomes a message, packed behind its length.
 * Attributes of Tharsis are written where they say more than the format's own. */
#include <config.h>
#include "workloads/trace/node_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "workloads/trace/trace.pb-c.h"

enum { MOST_ATTRIBUTES = 24, GROUP_BYTES = 24 };

/* A node's message in the making, and the room for its parts. */
typedef struct node_message {
    ThTraceMessage__Node node;
    ThTraceMessage__Attribute attributes[MOST_ATTRIBUTES], *list[MOST_ATTRIBUTES];
    ThTraceMessage__Numbers far;
    ThTraceMessage__Bools dims;
    protobuf_c_boolean flags[TH_TRACE_MAX_DIMS];
    char group[GROUP_BYTES];
} node_message;

/* What the parts of a node are packed from, made larger as needed. */
typedef struct scratch {
    uint64_t *deps;
    int64_t *far;
    size_t dep_capacity, far_capacity;
} scratch;

/* ---- attributes ---- */

static ThTraceMessage__Attribute *add(node_message *m, const char *name)
{
    ThTraceMessage__Attribute *a = &m->attributes[m->node.n_attributes];
    th_trace_message__attribute__init(a);
    a->name = (char *)(uintptr_t)name;
    m->list[m->node.n_attributes++] = a;
    return a;
}

static void add_number(node_message *m, const char *name, int64_t value)
{
    ThTraceMessage__Attribute *a = add(m, name);
    a->value_case = TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_INT64;
    a->as_int64 = value;
}

static void add_number_but(node_message *m, const char *name, int64_t value, int64_t usual)
{
    if (value != usual)
        add_number(m, name, value);
}

static void add_flag(node_message *m, const char *name, bool value)
{
    ThTraceMessage__Attribute *a = add(m, name);
    a->value_case = TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_FLAG;
    a->as_flag = value;
}

static void add_text(node_message *m, const char *name, const char *text)
{
    if (!text)
        return;
    ThTraceMessage__Attribute *a = add(m, name);
    a->value_case = TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_TEXT;
    a->as_text = (char *)(uintptr_t)text;
}

static void add_dims(node_message *m, const th_trace_node *n)
{
    if (n->n_dims == TH_TRACE_ALL_DIMS)
        return;
    ThTraceMessage__Attribute *a = add(m, "involved_dim");
    th_trace_message__bools__init(&m->dims);
    for (int d = 0; d < n->n_dims; d++)
        m->flags[d] = n->dims >> d & 1;
    m->dims.n_values = (size_t)n->n_dims;
    m->dims.values = m->flags;
    a->value_case = TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_FLAGS;
    a->as_flags = &m->dims;
}

static void add_kind(node_message *m, const th_trace *t, int32_t rank, const th_trace_node *n)
{
    switch ((th_trace_kind)n->kind) {
    case TH_TRACE_COMPUTE:
    case TH_TRACE_LOAD:
    case TH_TRACE_STORE:
        if (n->has_operations)
            add_number(m, "num_ops", n->operations);
        if (n->has_bytes || n->kind != TH_TRACE_COMPUTE)
            add_number(m, "tensor_size", n->bytes);
        break;
    case TH_TRACE_SEND:
    case TH_TRACE_RECEIVE:
        add_number(m, "comm_src", n->kind == TH_TRACE_SEND ? rank : n->peer);
        add_number(m, "comm_dst", n->kind == TH_TRACE_SEND ? n->peer : rank);
        add_number(m, "comm_tag", n->tag);
        add_number(m, "comm_size", n->bytes);
        break;
    case TH_TRACE_COLLECTIVE:
        add_number(m, "comm_type", n->collective);
        add_number(m, "comm_size", n->bytes);
        if (n->group >= 0) {
            snprintf(m->group, sizeof m->group, "%" PRId64, t->groups[n->group].number);
            add_text(m, "pg_name", m->group);
        }
        add_dims(m, n);
        break;
    case TH_TRACE_INVALID:
    case TH_TRACE_METADATA:
    case TH_TRACE_N_KINDS:
        break;
    }
}

/* What the format has no word for. */
static void add_own(node_message *m, const th_trace_rank *r, const th_trace_node *n)
{
    add_number_but(m, "tharsis_duration_ps", n->duration_ps, -1);
    add_number_but(m, "tharsis_release_ps", n->release_ps, 0);
    add_number_but(m, "tharsis_delay_ps", n->delay_ps, 0);
    add_number_but(m, "tharsis_bytes", n->exact_bytes, -1);
    add_number_but(m, "tharsis_chunks", n->chunks, 1);
    add_number_but(m, "tharsis_root", n->root, 0);
    add_text(m, "tharsis_algorithm", th_trace_text(r, n->algorithm));
    add_text(m, "tharsis_node", th_trace_text(r, n->place));
}

/* ---- nodes ---- */

static int add_deps(node_message *m, const th_trace *t, const th_trace_rank *r,
                    const th_trace_node *n, scratch *s)
{
    size_t n_deps = (size_t)n->n_deps, n_far = (size_t)n->n_far;
    if (th_grow(&s->deps, &s->dep_capacity, n_deps, sizeof *s->deps) ||
        th_grow(&s->far, &s->far_capacity, 2 * n_far, sizeof *s->far))
        return -1;
    for (size_t i = 0; i < n_deps; i++)
        s->deps[i] = r->nodes[r->deps[(size_t)n->first_dep + i]].id;
    m->node.n_data = n_deps;
    m->node.data = s->deps;
    for (size_t i = 0; i < n_far; i++) {
        th_trace_far far = r->far[(size_t)n->first_far + i];
        s->far[2 * i] = far.rank;
        s->far[2 * i + 1] = (int64_t)t->ranks[far.rank].nodes[far.node].id;
    }
    if (n_far > 0) {
        ThTraceMessage__Attribute *a = add(m, "tharsis_after");
        th_trace_message__numbers__init(&m->far);
        m->far.n_values = 2 * n_far;
        m->far.values = s->far;
        a->value_case = TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_NUMBERS;
        a->as_numbers = &m->far;
    }
    return 0;
}

static void add_length(th_strbuf *out, size_t n)
{
    enum { LOW = 0x7f, MORE = 0x80, BITS = 7 };
    for (; n > LOW; n >>= BITS)
        th_strbuf_add_bytes(out, &(char){(char)((n & LOW) | MORE)}, 1);
    th_strbuf_add_bytes(out, &(char){(char)n}, 1);
}

/* packed: of at least n bytes, kept between nodes. */
static int add_record(th_strbuf *out, const ProtobufCMessage *message, uint8_t **packed,
                      size_t *capacity)
{
    size_t n = protobuf_c_message_get_packed_size(message);
    if (th_grow(packed, capacity, n + 1, 1))
        return -1;
    protobuf_c_message_pack(message, *packed);
    add_length(out, n);
    th_strbuf_add_bytes(out, *packed, n);
    return out->failed ? -1 : 0;
}

static int fill(node_message *m, const th_trace *t, int32_t rank, int32_t node, scratch *s)
{
    const th_trace_rank *r = &t->ranks[rank];
    const th_trace_node *n = &r->nodes[node];
    char *name = (char *)(uintptr_t)th_trace_node_name(r, n);
    th_trace_message__node__init(&m->node);
    m->node.id = n->id;
    m->node.name = (ProtobufCBinaryData){strlen(name), (uint8_t *)name};
    m->node.type = n->kind;
    m->node.duration_us = (uint64_t)n->duration_us;
    m->node.attributes = m->list;
    if (n->kind == TH_TRACE_COMPUTE || n->is_on_host)
        add_flag(m, "is_cpu_op", n->is_on_host);
    add_kind(m, t, rank, n);
    add_own(m, r, n);
    return add_deps(m, t, r, n, s);
}

int th_trace_pack_rank(const th_trace *t, int32_t rank, th_strbuf *out, th_error *err)
{
    static char version[] = "0.0.4";
    ThTraceMessage__Metadata head = TH_TRACE_MESSAGE__METADATA__INIT;
    node_message m;
    scratch s = {.deps = NULL};
    uint8_t *packed = NULL;
    size_t capacity = 0;
    head.version = (ProtobufCBinaryData){sizeof version - 1, (uint8_t *)version};
    int status = add_record(out, &head.base, &packed, &capacity);
    for (int32_t i = 0; status == 0 && i < t->ranks[rank].n_nodes; i++)
        status =
            fill(&m, t, rank, i, &s) || add_record(out, &m.node.base, &packed, &capacity) ? -1 : 0;
    th_free(packed);
    th_free(s.deps);
    th_free(s.far);
    return status ? th_error_no_memory(err) : 0;
}
