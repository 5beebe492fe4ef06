/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_read.c - see node_read.h. An attribute is found by its name; any kind of integer serves
 * where an integer is wanted, and a flag as well. Attributes that no rule names are passed
 * over. */
#include <config.h>
#include "workloads/trace/node_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int th_trace_node_error(const th_trace_reader *r, uint64_t id, th_error *err, const char *format,
                        ...)
{
    char text[300];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    return th_error_set(err, "WORK-0301", "%s: node %" PRIu64 ": %s", r->path, id, text);
}

const ThTraceMessage__Attribute *th_trace_attribute(const ThTraceMessage__Node *m, const char *name)
{
    for (size_t i = 0; i < m->n_attributes; i++)
        if (strcmp(m->attributes[i]->name, name) == 0)
            return m->attributes[i];
    return NULL;
}

/* False: no integer, or one that an int64 cannot hold. */
static bool integer_of(const ThTraceMessage__Attribute *a, int64_t *out)
{
    switch (a->value_case) {
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_INT32:
        *out = a->as_int32;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_INT64:
        *out = a->as_int64;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_UINT32:
        *out = a->as_uint32;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_UINT64:
        *out = (int64_t)a->as_uint64;
        return *out >= 0;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_SINT32:
        *out = a->as_sint32;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_SINT64:
        *out = a->as_sint64;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_FIXED32:
        *out = a->as_fixed32;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_FIXED64:
        *out = (int64_t)a->as_fixed64;
        return *out >= 0;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_SFIXED32:
        *out = a->as_sfixed32;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_SFIXED64:
        *out = a->as_sfixed64;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_FLAG:
        *out = a->as_flag;
        return true;
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE__NOT_SET:
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_NUMBERS:
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_FLAGS:
    case TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_TEXT:
    default: /* protobuf-c's own largest value */
        return false;
    }
}

typedef struct bounds {
    int64_t minimum, maximum;
    bool is_required;
} bounds;

/* *out is left as it is where the attribute is absent. 0 or -1. */
static int read_integer(const th_trace_reader *r, const ThTraceMessage__Node *m, const char *name,
                        bounds b, int64_t *out, th_error *err)
{
    const ThTraceMessage__Attribute *a = th_trace_attribute(m, name);
    int64_t value = 0;
    if (!a && b.is_required)
        return th_trace_node_error(r, m->id, err, "attribute %s is missing", name);
    if (!a)
        return 0;
    if (!integer_of(a, &value) || value < b.minimum || value > b.maximum)
        return th_trace_node_error(r, m->id, err,
                                   "attribute %s: must be an integer from %" PRId64 " to %" PRId64,
                                   name, b.minimum, b.maximum);
    *out = value;
    return 0;
}

static const int64_t largest_bytes = INT64_C(1) << 52;        /* a double counts them exactly */
static const int64_t largest_us = INT64_C(1000) * 1000000000; /* 11 days: fits picoseconds */
static const int64_t largest_ps = INT64_C(1) << 60;

/* What only Tharsis writes, of messages. */
static int read_delay(const th_trace_reader *r, const ThTraceMessage__Node *m, th_trace_node *out,
                      th_error *err)
{
    return read_integer(r, m, "tharsis_delay_ps", (bounds){0, largest_ps, false}, &out->delay_ps,
                        err) ||
                   read_integer(r, m, "tharsis_bytes", (bounds){0, largest_bytes, false},
                                &out->exact_bytes, err)
               ? -1
               : 0;
}

static int read_work(const th_trace_reader *r, const ThTraceMessage__Node *m, th_trace_node *out,
                     th_error *err)
{
    bool moves = out->kind == TH_TRACE_LOAD || out->kind == TH_TRACE_STORE;
    out->has_operations = th_trace_attribute(m, "num_ops");
    out->has_bytes = th_trace_attribute(m, "tensor_size");
    return read_integer(r, m, "num_ops", (bounds){0, INT64_MAX, false}, &out->operations, err) ||
                   read_integer(r, m, "tensor_size", (bounds){0, largest_bytes, moves}, &out->bytes,
                                err) ||
                   (moves && read_delay(r, m, out, err))
               ? -1
               : 0;
}

static int read_message(const th_trace_reader *r, const ThTraceMessage__Node *m, th_trace_node *out,
                        th_error *err)
{
    bool sends = out->kind == TH_TRACE_SEND;
    int64_t peer = -1, self = r->rank, tag = 0;
    bounds a_rank = {0, r->trace->n_ranks - 1, true}, own = {r->rank, r->rank, false};
    if (read_integer(r, m, sends ? "comm_dst" : "comm_src", a_rank, &peer, err) ||
        read_integer(r, m, sends ? "comm_src" : "comm_dst", own, &self, err) ||
        read_integer(r, m, "comm_tag", (bounds){0, UINT32_MAX, true}, &tag, err) ||
        read_integer(r, m, "comm_size", (bounds){1, largest_bytes, true}, &out->bytes, err) ||
        read_delay(r, m, out, err))
        return -1;
    if (peer == r->rank)
        return th_trace_node_error(r, m->id, err,
                                   "a message from rank %d to itself: must be to another rank",
                                   (int)r->rank);
    out->peer = (int32_t)peer;
    out->tag = (uint32_t)tag;
    return 0;
}

/* The flags of dimensions. 0 or -1. */
static int read_dims(const th_trace_reader *r, const ThTraceMessage__Node *m, th_trace_node *out,
                     th_error *err)
{
    const ThTraceMessage__Attribute *a = th_trace_attribute(m, "involved_dim");
    out->n_dims = TH_TRACE_ALL_DIMS;
    if (!a)
        return 0;
    if (a->value_case != TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_FLAGS ||
        a->as_flags->n_values > TH_TRACE_MAX_DIMS)
        return th_trace_node_error(r, m->id, err,
                                   "attribute involved_dim: must be a list of at most %d flags, "
                                   "one for each dimension",
                                   TH_TRACE_MAX_DIMS);
    out->n_dims = (int8_t)a->as_flags->n_values;
    for (int8_t d = 0; d < out->n_dims; d++)
        if (a->as_flags->values[d])
            out->dims = (uint16_t)(out->dims | 1u << d);
    return 0;
}

/* "", "0" and none: all ranks. 0 or -1. */
static int read_group(const th_trace_reader *r, const ThTraceMessage__Node *m, int64_t *group,
                      th_error *err)
{
    const ThTraceMessage__Attribute *a = th_trace_attribute(m, "pg_name");
    *group = 0;
    if (!a)
        return 0;
    bool is_text = a->value_case == TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_TEXT && a->as_text;
    size_t n = is_text ? strlen(a->as_text) : 0;
    if (!is_text || n > 9 || strspn(a->as_text, "0123456789") != n)
        return th_trace_node_error(r, m->id, err,
                                   "attribute pg_name: must be the decimal number of "
                                   "a group, as a text of at most 9 digits");
    *group = n > 0 ? atol(a->as_text) : 0;
    return 0;
}

static int read_collective(const th_trace_reader *r, const ThTraceMessage__Node *m,
                           th_trace_node *out, int64_t *group, th_error *err)
{
    int64_t kind = -1, chunks = 1, root = 0;
    const ThTraceMessage__Attribute *type = th_trace_attribute(m, "comm_type");
    if (r->trace->is_lenient && (!type || (integer_of(type, &kind) && kind >= 0 &&
                                           !th_trace_collective_name((uint64_t)kind)))) {
        out->kind = TH_TRACE_COMPUTE;
        out->is_on_host = true; /* it occupies nothing that is modelled */
        r->trace->n_measured++;
        return 0;
    }
    if (read_integer(r, m, "comm_type", (bounds){0, UINT8_MAX, true}, &kind, err) ||
        read_integer(r, m, "comm_size", (bounds){1, largest_bytes, true}, &out->bytes, err) ||
        read_integer(r, m, "tharsis_chunks", (bounds){0, INT32_MAX, false}, &chunks, err) ||
        read_integer(r, m, "tharsis_root", (bounds){0, r->trace->n_ranks - 1, false}, &root, err) ||
        read_delay(r, m, out, err) || read_dims(r, m, out, err) || read_group(r, m, group, err))
        return -1;
    out->chunks = (int32_t)chunks;
    out->root = (int32_t)root;
    if (!th_trace_collective_name((uint64_t)kind))
        return th_trace_node_error(
            r, m->id, err,
            "comm_type %d: must be 0 (all_reduce), 2 (all_gather), 5 (broadcast), 6 (all_to_all) "
            "or 7 (reduce_scatter)",
            (int)kind);
    out->collective = (uint8_t)kind;
    return 0;
}

int th_trace_read_node(const th_trace_reader *r, const ThTraceMessage__Node *m, th_trace_node *out,
                       int64_t *group, th_error *err)
{
    int64_t on_host = 0;
    *group = 0;
    *out = TH_TRACE_NODE(m->id);
    if (m->type >= TH_TRACE_N_KINDS)
        return th_trace_node_error(r, m->id, err, "type %" PRIu64 ": must be 0 to %d", m->type,
                                   TH_TRACE_N_KINDS - 1);
    if (m->duration_us > (uint64_t)largest_us)
        return th_trace_node_error(r, m->id, err, "duration_micros: must be at most %" PRId64,
                                   largest_us);
    out->kind = (uint8_t)m->type;
    out->duration_us = (int64_t)m->duration_us;
    if (read_integer(r, m, "is_cpu_op", (bounds){0, 1, false}, &on_host, err) ||
        read_integer(r, m, "tharsis_duration_ps", (bounds){0, largest_ps, false}, &out->duration_ps,
                     err) ||
        read_integer(r, m, "tharsis_release_ps", (bounds){0, largest_ps, false}, &out->release_ps,
                     err))
        return -1;
    out->is_on_host = on_host;
    if (on_host && out->kind >= TH_TRACE_SEND && out->kind <= TH_TRACE_COLLECTIVE) {
        out->kind = TH_TRACE_COMPUTE; /* what ASTRA-sim makes of it */
        r->trace->n_host++;
    }
    switch ((th_trace_kind)out->kind) {
    case TH_TRACE_LOAD:
    case TH_TRACE_STORE:
    case TH_TRACE_COMPUTE:
        return read_work(r, m, out, err);
    case TH_TRACE_SEND:
    case TH_TRACE_RECEIVE:
        return read_message(r, m, out, err);
    case TH_TRACE_COLLECTIVE:
        return read_collective(r, m, out, group, err);
    case TH_TRACE_INVALID:
    case TH_TRACE_METADATA:
    case TH_TRACE_N_KINDS:
        break;
    }
    return 0;
}
