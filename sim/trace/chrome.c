/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome.c - trace events in JSON, for chrome://tracing and ui.perfetto.dev.
 *
 * The format is that of "Trace Event Format" (Google, 2016): B and E begin and end a span, C is the
 * new value of a counter, s and f are the ends of an arrow, M names things. Objects are processes,
 * tracks threads. Times are microseconds, with six decimals. */
#include <config.h>

#include "base/strbuf.h"
#include "sim/trace/timeline.h"

/* Viewers sort the tracks of an object by their numbers. These are kept short, as every line has
 * one: a hundred of each kind of span, then those of signals, then the next hundred of each kind.
 */
enum {
    LANES_OF_A_KIND = 100,
    FIRST_SIGNAL_TRACK = TH_N_SPAN_KINDS * LANES_OF_A_KIND,
    TRACKS = FIRST_SIGNAL_TRACK + LANES_OF_A_KIND
};

static int32_t track_of(const th_span *s)
{
    return s->lane / LANES_OF_A_KIND * TRACKS + s->kind * LANES_OF_A_KIND +
           s->lane % LANES_OF_A_KIND;
}

static int32_t process_of(const th_trace *t, int32_t object)
{
    return 1 + (object >= 0 ? object : t->n_objects);
}

/* key: with its comma, quotes and colon. */
static void write_key(th_out *o, const char *key, int64_t value)
{
    th_out_text(o, key);
    th_out_number(o, value);
}

static void write_text(th_out *o, const char *key, const char *value)
{
    th_out_text(o, key);
    th_out_json(o, value);
}

static void begin_event(th_trace *t, char phase, int32_t object)
{
    th_out_text(&t->out, ",\n{\"ph\":\"");
    th_out_char(&t->out, phase);
    write_key(&t->out, "\",\"pid\":", process_of(t, object));
}

static void begin_track_event(th_trace *t, char phase, int32_t object, int32_t track)
{
    begin_event(t, phase, object);
    write_key(&t->out, ",\"tid\":", track);
}

/* Microseconds with six decimals. */
static void write_time(th_trace *t, th_time now)
{
    enum { DECIMALS = 6, PS_PER_US = 1000000 };
    char decimals[DECIMALS];
    int64_t left = now % PS_PER_US;
    for (int i = DECIMALS; i-- > 0; left /= 10)
        decimals[i] = (char)('0' + left % 10);
    write_key(&t->out, ",\"ts\":", now / PS_PER_US);
    th_out_char(&t->out, '.');
    th_out_bytes(&t->out, decimals, sizeof decimals);
}

static void end_event(th_trace *t)
{
    th_out_char(&t->out, '}');
}

static void write_metadata(th_trace *t, const char *what, int32_t object, int32_t track,
                           const char *name)
{
    begin_track_event(t, 'M', object, track);
    write_text(&t->out, ",\"name\":", what);
    write_text(&t->out, ",\"args\":{\"name\":", name);
    th_out_text(&t->out, "}}");
}

/* ---- signals --------------------------------------------------------------------------------- */

static void slice(th_trace *t, const th_variable *v, th_time now, const char *name)
{
    begin_track_event(t, name ? 'B' : 'E', v->object, FIRST_SIGNAL_TRACK + v->signal);
    write_time(t, now);
    if (name)
        write_text(&t->out, ",\"name\":", name);
    end_event(t);
}

static void count(th_trace *t, const th_variable *v, th_time now)
{
    begin_event(t, 'C', v->object);
    write_time(t, now);
    write_text(&t->out, ",\"name\":", th_signal_name(v->signal));
    write_key(&t->out, ",\"args\":{\"n\":", v->value);
    th_out_text(&t->out, "}}");
}

static void declare_signal(th_trace *t, const th_variable *v, bool is_counter)
{
    if (!is_counter)
        write_metadata(t, "thread_name", v->object, FIRST_SIGNAL_TRACK + v->signal,
                       th_signal_name(v->signal));
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void declare(th_trace *t, const th_span *s)
{
    int32_t lane;
    while ((lane = th_timeline_undeclared(t, s)) >= 0)
        write_metadata(t, "thread_name", s->object,
                       track_of(&(th_span){.kind = s->kind, .lane = lane}),
                       th_span_kind_name(s->kind));
}

/* One end of the arrow between the two ends of a transfer. */
static void write_arrow(th_trace *t, char phase, th_time now, const th_span *s)
{
    begin_track_event(t, phase, s->object, track_of(s));
    write_time(t, now);
    th_out_text(&t->out, ",\"cat\":\"transfer\",\"name\":\"transfer\"");
    if (phase == 'f')
        th_out_text(&t->out, ",\"bp\":\"e\"");
    write_key(&t->out, ",\"id\":", s->arrow);
    end_event(t);
}

static void span_begin(th_trace *t, th_time now, const th_span *s)
{
    declare(t, s);
    begin_track_event(t, 'B', s->object, track_of(s));
    write_time(t, now);
    write_text(&t->out, ",\"name\":", s->name);
    write_key(&t->out,
              s->task >= 0 ? ",\"args\":{\"task\":" : ",\"args\":{\"message\":", s->number);
    if (s->kind != TH_SPAN_COMPUTE && s->kind != TH_SPAN_HOST)
        write_key(&t->out, ",\"bytes\":", s->bytes);
    if (s->kind == TH_SPAN_RECEIVE)
        write_text(&t->out, ",\"from\":", t->system->nodes[s->from].name);
    if (s->kind == TH_SPAN_SEND)
        write_text(&t->out, ",\"to\":", t->system->nodes[s->to].name);
    th_out_text(&t->out, "}}");
    if (s->kind == TH_SPAN_SEND)
        write_arrow(t, 's', now, s);
}

static void span_end(th_trace *t, th_time now, const th_span *s)
{
    if (s->kind == TH_SPAN_RECEIVE)
        write_arrow(t, 'f', now, s);
    begin_track_event(t, 'E', s->object, track_of(s));
    write_time(t, now);
    end_event(t);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void name_object(th_trace *t, int32_t object)
{
    th_strbuf name = TH_STRBUF_INIT;
    th_strbuf_printf(&name, "%s/%s", th_traced_class_name(t, object), th_traced_name(t, object));
    write_metadata(t, "process_name", object, 0, name.text ? name.text : "");
    th_strbuf_clear(&name);
}

static void begin(th_trace *t, th_time now)
{
    th_out_text(&t->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":");
    th_out_number(&t->out, process_of(t, -1));
    th_out_text(&t->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"collectives\"}}");
    th_timeline_begin(t, now);
}

static void end(th_trace *t, th_time now)
{
    th_timeline_end(t, now);
    th_out_text(&t->out, "\n]}\n");
}

static const struct th_timeline_type timeline = {name_object, declare_signal, slice, count};
const th_trace_type th_trace_chrome = {.name = "chrome",
                                       .finest_ps = 1,
                                       .begin = begin,
                                       .value = th_timeline_value,
                                       .span_begin = span_begin,
                                       .span_end = span_end,
                                       .end = end,
                                       .timeline = &timeline};
