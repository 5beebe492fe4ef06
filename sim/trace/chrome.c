/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome.c - trace events in JSON, for chrome://tracing, ui.perfetto.dev and their kin.
 *
 * The format is that of "Trace Event Format" (Google, 2016): B and E begin and end a span, C is the
 * new value of a counter, s and f are the ends of an arrow, M names things. Objects are processes,
 * tracks threads. Times are microseconds, with six decimals. */
#include <config.h>

#include "sim/trace/timeline.h"

/* Tracks of an object are sorted by their numbers, which are short, for they are said in every
 * line: a hundred of each kind of span, then those of signals, then the next hundred of each kind.
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
static inline void write_key(th_out *o, const char *key, int64_t value)
{
    th_out_text(o, key);
    th_out_number(o, value);
}

static inline void write_text(th_out *o, const char *key, const char *value)
{
    th_out_text(o, key);
    th_out_char(o, '"');
    th_out_json(o, value);
    th_out_char(o, '"');
}

/* Of a process; of a track of it. */
static void begin_event(th_trace *t, char phase, int32_t object)
{
    char head[] = ",\n{\"ph\":\"?\"";
    th_out *o = &t->out;
    head[sizeof head - 3] = phase;
    th_out_bytes(o, head, sizeof head - 1);
    write_key(o, ",\"pid\":", process_of(t, object));
}

static void begin_event_of(th_trace *t, char phase, int32_t object, int32_t track)
{
    begin_event(t, phase, object);
    write_key(&t->out, ",\"tid\":", track);
}

static void write_time(th_trace *t, th_time now)
{
    th_out_text(&t->out, ",\"ts\":");
    th_out_stamp(&t->out, th_trace_stamp(t, now));
}

static void end_event(th_trace *t)
{
    th_out_char(&t->out, '}');
}

static void name_it(th_trace *t, const char *what, int32_t object, int32_t track, const char *class,
                    const char *name)
{
    begin_event_of(t, 'M', object, track);
    write_text(&t->out, ",\"name\":", what);
    th_out_text(&t->out, ",\"args\":{\"name\":\"");
    th_out_json(&t->out, class);
    th_out_json(&t->out, name);
    th_out_text(&t->out, "\"}}");
}

/* ---- signals --------------------------------------------------------------------------------- */

static void end_state(th_trace *t, const th_variable *v, th_time now)
{
    begin_event_of(t, 'E', v->object, FIRST_SIGNAL_TRACK + v->signal);
    write_time(t, now);
    end_event(t);
}

/* A span is open where the value is not 0. */
static void show_state(th_trace *t, const th_variable *v, th_time now)
{
    const char *text = th_value_text(t, v);
    if (v->before != 0)
        end_state(t, v, now);
    if (v->value == 0)
        return;
    begin_event_of(t, 'B', v->object, FIRST_SIGNAL_TRACK + v->signal);
    write_time(t, now);
    write_text(&t->out, ",\"name\":", text ? text : th_signal_name(v->signal));
    end_event(t);
}

static void show_counter(th_trace *t, const th_variable *v, th_time now)
{
    begin_event(t, 'C', v->object);
    write_time(t, now);
    write_text(&t->out, ",\"name\":", th_signal_name(v->signal));
    th_out_text(&t->out, ",\"args\":{\"n\":");
    th_out_number(&t->out, v->value);
    th_out_text(&t->out, "}}");
}

static void value(th_trace *t, th_variable *v, th_time now)
{
    switch (th_timeline_shown_as(t, v)) {
    case TH_SHOWN_NOT:
        break;
    case TH_SHOWN_AS_SPANS:
        show_state(t, v, now);
        break;
    case TH_SHOWN_AS_COUNTER:
        show_counter(t, v, now);
        break;
    }
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void declare(th_trace *t, const th_span *s)
{
    int32_t lane;
    while ((lane = th_timeline_undeclared(t, s)) >= 0)
        name_it(t, "thread_name", s->object, track_of(&(th_span){.kind = s->kind, .lane = lane}),
                "", th_span_kind_name(s->kind));
}

/* What is said of spans again and again, but for times and numbers, are phrases. */
typedef enum {
    SAID_OF_TASK,
    SAID_OF_MESSAGE,
    SAID_OF_SENDER,
    SAID_OF_RECEIVER,
    SAID_AT_ARROW,
    SAID_AT_END
} said;

static void write_head(th_trace *t, char phase, th_time now, const th_span *s)
{
    begin_event_of(t, phase, s->object, track_of(s));
    write_time(t, now);
}

/* Up to the number. Names of collectives are not those of a layer, and differ. */
static void write_beginning(th_trace *t, th_time now, const th_span *s)
{
    said what = s->task >= 0 ? SAID_OF_TASK : SAID_OF_MESSAGE;
    uint64_t key = s->kind == TH_SPAN_COLLECTIVE ? 0 : th_timeline_key((int)what, s, s->layer);
    if (th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, now), key))
        return;
    th_phrases_listen(&t->out);
    write_head(t, 'B', now, s);
    write_text(&t->out, ",\"name\":", s->name);
    th_out_text(&t->out, what == SAID_OF_TASK ? ",\"args\":{\"task\":" : ",\"args\":{\"message\":");
    th_phrases_learn(t->phrases, &t->out, key);
}

/* Up to the arrow's number. */
static void write_sending(th_trace *t, th_time now, const th_span *s)
{
    uint64_t key = th_timeline_key(SAID_OF_SENDER, s, s->to);
    if (th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, now), key))
        return;
    th_phrases_listen(&t->out);
    write_text(&t->out, ",\"to\":", t->system->nodes[s->to].name);
    th_out_text(&t->out, "}}");
    write_head(t, 's', now, s);
    th_out_text(&t->out, ",\"cat\":\"transfer\",\"name\":\"transfer\",\"id\":");
    th_phrases_learn(t->phrases, &t->out, key);
}

static void write_receiving(th_trace *t, const th_span *s)
{
    uint64_t key = th_timeline_key(SAID_OF_RECEIVER, s, s->from);
    if (th_phrases_say(t->phrases, &t->out, &t->stamp, key))
        return;
    th_phrases_listen(&t->out);
    write_text(&t->out, ",\"from\":", t->system->nodes[s->from].name);
    th_out_text(&t->out, "}}");
    th_phrases_learn(t->phrases, &t->out, key);
}

static void span_begins(th_trace *t, th_time now, const th_span *s)
{
    declare(t, s);
    write_beginning(t, now, s);
    th_out_number(&t->out, s->number);
    if (s->kind != TH_SPAN_COMPUTE && s->kind != TH_SPAN_HOST)
        write_key(&t->out, ",\"bytes\":", s->bytes);
    if (s->kind == TH_SPAN_RECEIVE) {
        write_receiving(t, s);
    } else if (s->kind == TH_SPAN_SEND) {
        write_sending(t, now, s);
        th_out_number(&t->out, s->arrow);
        end_event(t);
    } else {
        th_out_text(&t->out, "}}");
    }
}

static void write_arrow_head(th_trace *t, th_time now, const th_span *s)
{
    uint64_t key = th_timeline_key(SAID_AT_ARROW, s, 0);
    if (th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, now), key))
        return;
    th_phrases_listen(&t->out);
    write_head(t, 'f', now, s);
    th_out_text(&t->out, ",\"cat\":\"transfer\",\"name\":\"transfer\",\"bp\":\"e\",\"id\":");
    th_phrases_learn(t->phrases, &t->out, key);
}

static void span_ends(th_trace *t, th_time now, const th_span *s)
{
    uint64_t key = th_timeline_key(SAID_AT_END, s, 0);
    if (s->kind == TH_SPAN_RECEIVE) {
        write_arrow_head(t, now, s);
        th_out_number(&t->out, s->arrow);
        end_event(t);
    }
    if (th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, now), key))
        return;
    th_phrases_listen(&t->out);
    write_head(t, 'E', now, s);
    end_event(t);
    th_phrases_learn(t->phrases, &t->out, key);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void name_object(th_trace *t, int32_t object)
{
    const char *class = th_traced_class_name(t, object);
    name_it(t, "process_name", object, 0,
            class[0] == 'a'   ? "accel/"
            : class[0] == 'l' ? "link/"
                              : "node/",
            th_traced_name(t, object));
}

static void begin(th_trace *t, th_time now)
{
    if (th_timeline_begin(t))
        t->is_out_of_memory = true;
    th_out_text(&t->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":");
    th_out_number(&t->out, process_of(t, -1));
    th_out_text(&t->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"collectives\"}}");
    int32_t last = -1;
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        if (v->object != last)
            name_object(t, v->object);
        last = v->object;
        if (th_timeline_shown_as(t, v) == TH_SHOWN_AS_SPANS)
            name_it(t, "thread_name", v->object, FIRST_SIGNAL_TRACK + v->signal, "",
                    th_signal_name(v->signal));
        value(t, v, now);
    }
}

static void end(th_trace *t, th_time now)
{
    for (int32_t i = 0; i < t->n_variables; i++)
        if (t->variables[i].value != 0 &&
            th_timeline_shown_as(t, &t->variables[i]) == TH_SHOWN_AS_SPANS)
            end_state(t, &t->variables[i], now);
    th_out_text(&t->out, "\n]}\n");
}

const th_trace_type th_trace_chrome = {.name = "chrome",
                                       .finest_ps = 1,
                                       .begin = begin,
                                       .shows = th_timeline_shows,
                                       .value = value,
                                       .stamp = {.unit_ps = 1, .behind = '.'},
                                       .span_begins = span_begins,
                                       .span_ends = span_ends,
                                       .end = end};
