/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perfetto.c - track events in protobuf, for ui.perfetto.dev and trace_processor.
 *
 * The numbers of fields are those of perfetto's protos/perfetto/trace: trace.proto,
 * trace_packet.proto and
 * track_event/{track_event,track_descriptor,counter_descriptor,debug_annotation}.proto. A file is a
 * sequence of packets, each with a time in ns and either the description of a track or an event on
 * one. The wire format is protobuf's: a key (field << 3 | type), then a varint, eight bytes, or a
 * length and that number of bytes. */
#include <config.h>

#include "sim/trace/timeline.h"

#include <stdio.h>

typedef enum { VARINT = 0, FIXED64 = 1, BYTES = 2 } wire_type;

enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_FLOW = 47,
    EVENT_LAST_OF_FLOW = 48,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    ANNOTATION_INTEGER = 4,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 }; /* TrackEvent.Type */
enum { THE_SEQUENCE = 1, STATE_CLEARED = 1, PS_PER_NS = 1000 };

/* A message under construction: all parts of it are bounded, and texts are cut. */
enum { MESSAGE_BYTES = 1024, TEXT_BYTES = 200 };
typedef struct {
    size_t n;
    unsigned char bytes[MESSAGE_BYTES];
} message;

/* Clears n only: the bytes are many. */
static void begin_message(message *m)
{
    m->n = 0;
}

static size_t varint_bytes(uint64_t value)
{
    enum { HIGHEST = 63, GROUP = 7 };
    return (size_t)(HIGHEST - __builtin_clzll(value | 1)) / GROUP + 1;
}

static void put_varint(message *m, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        m->bytes[m->n++] = (unsigned char)(value | 0x80);
    m->bytes[m->n++] = (unsigned char)value;
}

static void put_number(message *m, unsigned field, int64_t value)
{
    put_varint(m, field << 3 | VARINT);
    put_varint(m, (uint64_t)value);
}

static void put_fixed(message *m, unsigned field, uint64_t value)
{
    put_varint(m, field << 3 | FIXED64);
    for (int i = 0; i < 8; i++, value >>= 8)
        m->bytes[m->n++] = (unsigned char)value;
}

static void put_bytes(message *m, unsigned field, const void *bytes, size_t n)
{
    put_varint(m, field << 3 | BYTES);
    put_varint(m, n);
    memcpy(&m->bytes[m->n], bytes, n);
    m->n += n;
}

static size_t text_bytes(const char *text)
{
    size_t n = strlen(text);
    return n < TEXT_BYTES ? n : TEXT_BYTES;
}

static void put_text(message *m, unsigned field, const char *text)
{
    put_bytes(m, field, text, text_bytes(text));
}

static void put_message(message *m, unsigned field, const message *inner)
{
    put_bytes(m, field, inner->bytes, inner->n);
}

static void write_packet(th_trace *t, const message *packet)
{
    message head;
    begin_message(&head);
    put_varint(&head, TRACE_PACKET << 3 | BYTES);
    put_varint(&head, packet->n);
    th_out_bytes(&t->out, head.bytes, head.n);
    th_out_bytes(&t->out, packet->bytes, packet->n);
}

/* ---- tracks: unique numbers from 1 on  ----------------------------------------- */

enum {
    LANES_OF_A_KIND = 1 << 20,
    SIGNAL_TRACKS = 8 * LANES_OF_A_KIND,
    TRACKS_OF_AN_OBJECT = 1 << 24
};

static int64_t group_of(const th_trace *t, int32_t object)
{
    return (int64_t)(1 + (object >= 0 ? object : t->n_objects)) * TRACKS_OF_AN_OBJECT;
}

static int64_t span_track(const th_trace *t, const th_span *s)
{
    return group_of(t, s->object) + 1 + (int64_t)s->kind * LANES_OF_A_KIND + s->lane;
}

static int64_t signal_track(const th_trace *t, const th_variable *v)
{
    return group_of(t, v->object) + SIGNAL_TRACKS + v->signal;
}

static void declare(th_trace *t, int64_t track, int64_t parent, const char *name, bool is_counter)
{
    message descriptor, packet;
    begin_message(&descriptor);
    begin_message(&packet);
    put_number(&descriptor, TRACK_UUID, track);
    put_text(&descriptor, TRACK_NAME, name);
    if (parent > 0)
        put_number(&descriptor, TRACK_PARENT, parent);
    if (is_counter)
        put_bytes(&descriptor, TRACK_COUNTER, "", 0);
    put_number(&packet, PACKET_SEQUENCE, THE_SEQUENCE);
    put_message(&packet, PACKET_TRACK, &descriptor);
    write_packet(t, &packet);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void begin_event(message *event, int64_t track, int type)
{
    begin_message(event);
    put_number(event, EVENT_TYPE, type);
    put_number(event, EVENT_TRACK, track);
}

static void write_event(th_trace *t, th_time now, const message *event)
{
    message packet;
    begin_message(&packet);
    put_number(&packet, PACKET_TIMESTAMP, now / PS_PER_NS);
    put_number(&packet, PACKET_SEQUENCE, THE_SEQUENCE);
    put_message(&packet, PACKET_EVENT, event);
    write_packet(t, &packet);
}

/* The length comes first: of the name and of the value, with their keys. */
static inline void begin_annotation(message *event, const char *name, size_t n_value)
{
    size_t n_name = strlen(name);
    put_varint(event, EVENT_ANNOTATION << 3 | BYTES);
    put_varint(event, 1 + varint_bytes(n_name) + n_name + n_value);
    put_bytes(event, ANNOTATION_NAME, name, n_name);
}

static inline void annotate_number(message *event, const char *name, int64_t value)
{
    begin_annotation(event, name, 1 + varint_bytes((uint64_t)value));
    put_number(event, ANNOTATION_INTEGER, value);
}

static inline void annotate_text(message *event, const char *name, const char *value)
{
    size_t n = text_bytes(value);
    begin_annotation(event, name, 1 + varint_bytes(n) + n);
    put_bytes(event, ANNOTATION_TEXT, value, n);
}

static void slice(th_trace *t, const th_variable *v, th_time now, const char *name)
{
    message event;
    begin_event(&event, signal_track(t, v), name ? SLICE_BEGIN : SLICE_END);
    if (name)
        put_text(&event, EVENT_NAME, name);
    write_event(t, now, &event);
}

static void count(th_trace *t, const th_variable *v, th_time now)
{
    message event;
    begin_event(&event, signal_track(t, v), COUNTER);
    put_number(&event, EVENT_COUNTER, v->value);
    write_event(t, now, &event);
}

static void span_begin(th_trace *t, th_time now, const th_span *s)
{
    int32_t lane;
    while ((lane = th_timeline_undeclared(t, s)) >= 0)
        declare(t, span_track(t, &(th_span){.kind = s->kind, .object = s->object, .lane = lane}),
                group_of(t, s->object), th_span_kind_name(s->kind), false);
    message event;
    begin_event(&event, span_track(t, s), SLICE_BEGIN);
    put_text(&event, EVENT_NAME, s->name);
    annotate_number(&event, s->task >= 0 ? "task" : "message", s->number);
    if (s->kind != TH_SPAN_COMPUTE && s->kind != TH_SPAN_HOST)
        annotate_number(&event, "bytes", s->bytes);
    if (s->kind == TH_SPAN_SEND) {
        annotate_text(&event, "to", t->system->nodes[s->to].name);
        put_fixed(&event, EVENT_FLOW, (uint64_t)s->arrow);
    }
    if (s->kind == TH_SPAN_RECEIVE) {
        annotate_text(&event, "from", t->system->nodes[s->from].name);
        put_fixed(&event, EVENT_LAST_OF_FLOW, (uint64_t)s->arrow);
    }
    write_event(t, now, &event);
}

static void span_end(th_trace *t, th_time now, const th_span *s)
{
    message event;
    begin_event(&event, span_track(t, s), SLICE_END);
    write_event(t, now, &event);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void declare_object(th_trace *t, int32_t object)
{
    char name[TEXT_BYTES];
    snprintf(name, sizeof name, "%s/%s", th_traced_class_name(t, object),
             th_traced_name(t, object));
    declare(t, group_of(t, object), 0, name, false);
}

static void declare_signal(th_trace *t, const th_variable *v, bool is_counter)
{
    declare(t, signal_track(t, v), group_of(t, v->object), th_signal_name(v->signal), is_counter);
}

static void begin(th_trace *t, th_time now)
{
    message first;
    begin_message(&first);
    put_number(&first, PACKET_SEQUENCE, THE_SEQUENCE);
    put_number(&first, PACKET_FLAGS, STATE_CLEARED);
    write_packet(t, &first);
    declare(t, group_of(t, -1), 0, "collectives", false);
    th_timeline_begin(t, now);
}

static const struct th_timeline_type timeline = {declare_object, declare_signal, slice, count};
const th_trace_type th_trace_perfetto = {.name = "perfetto",
                                         .finest_ps = PS_PER_NS,
                                         .begin = begin,
                                         .value = th_timeline_value,
                                         .span_begin = span_begin,
                                         .span_end = span_end,
                                         .end = th_timeline_end,
                                         .timeline = &timeline};
