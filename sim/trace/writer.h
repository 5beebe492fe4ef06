/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writer.h - private to the trace writers: what an open trace holds, and what a writer does.
 *
 * A writer is one file and one row of the table in trace.c. All its functions but begin, stamp and
 * end may be NULL: a writer that shows signals takes `value`, one that shows spans of time takes
 * `span_*`. */
#ifndef TH_SIM_TRACE_WRITER_H
#define TH_SIM_TRACE_WRITER_H
#include <stdbool.h>
#include <string.h>
#include "sim/trace/stamps.h"
#include "sim/trace/tile_streams.h"
#include "sim/trace/trace.h"

enum { TH_OUT_BLOCK = 1 << 18, TH_OUT_ROOM = 4096, TH_ID_BYTES = 8, TH_STAMPS_MAX = 16 };

/* What is still to go to the file. It goes there in whole blocks, each of which begins where a page
 * of the file does: the kernel takes twice to three times as long for others, and somewhat longer
 * for more and smaller ones. */
typedef struct th_out {
    int file;  /* descriptor */
    int error; /* errno of the first write that failed; 0: none has */
    size_t n;
    bool is_heard; /* phrases.h: all that is heard, from here on, is still here, and these are the
                      stamps in it */
    size_t heard_from;
    int32_t n_stamps;
    size_t stamp[TH_STAMPS_MAX]; /* where they begin */
    char text[TH_OUT_BLOCK + TH_OUT_ROOM];
} th_out;

void th_out_flush(th_out *o); /* all of it: before the file ends */
void th_out_put_block(th_out *o);
/* Room for TH_OUT_ROOM bytes; who writes there adds to n how many they were. */
static inline char *th_out_room(th_out *o)
{
    if (o->n >= TH_OUT_BLOCK)
        th_out_put_block(o);
    return &o->text[o->n];
}
static inline void th_out_char(th_out *o, char c)
{
    *th_out_room(o) = c;
    o->n++;
}
void th_out_many(th_out *o, const void *bytes, size_t n); /* more than TH_OUT_ROOM, too */
/* Here, so that what the compiler knows the length of becomes a few stores. */
static inline void th_out_bytes(th_out *o, const void *bytes, size_t n)
{
    if (n > TH_OUT_ROOM) {
        th_out_many(o, bytes, n);
        return;
    }
    memcpy(th_out_room(o), bytes, n);
    o->n += n;
}
static inline void th_out_text(th_out *o, const char *text)
{
    th_out_bytes(o, text, strlen(text));
}
void th_out_number(th_out *o, int64_t number); /* decimal */
void th_out_note_stamp(th_out *o);             /* for phrases.c */
static inline void th_out_stamp(th_out *o, const th_stamp *s)
{
    th_stamp_put(s, th_out_room(o));
    if (o->is_heard)
        th_out_note_stamp(o);
    o->n += (size_t)s->n;
}
size_t
th_put_digits(char *to,
              uint64_t number); /* how many there are, at most 20; seven bytes behind are lost */
/* As a JSON string without quotes. */
void th_out_json(th_out *o, const char *text);

/* stamps.c. The writer's stamp of a time; what it counts, in ps. */
void th_stamp_set(const th_trace *t, th_stamp *s, th_time at);
th_time th_trace_stamp_unit(const th_trace *t);
/* Is the stamp of a time that is not before that of *s as long as it? */
bool th_stamp_is_as_long(const th_trace *t, const th_stamp *s, th_time at);

/* One signal of one object. */
typedef struct th_variable {
    int32_t object;       /* see th_trace.n_nodes */
    int32_t signal;       /* th_signal */
    int64_t value;        /* that was written last */
    int64_t before;       /* and the one before it, 0 at first */
    char id[TH_ID_BYTES]; /* of the writer, with its length */
    int32_t id_length;
    int32_t track; /* of the writer */
} th_variable;

/* What is known of an object now. */
typedef struct th_traced {
    int32_t first; /* of its variables */
    unsigned signals,
        shown; /* bits; of all, 0: not traced; of those that the writer does something with */
    int32_t task, n_waiting; /* accelerator */
    int32_t sending, receiving;
    int32_t flows, written_flows;   /* link: now, and as they were written last */
    unsigned changed;               /* signals whose values may have; 0: not on the list */
    int8_t place[TH_N_SIGNALS];     /* of the variable of a signal that is traced, after first */
    th_tile_state tiles, written;   /* now; what of it was written last, tile_bits of it */
    th_tile_state tile_bits;        /* that are traced */
    th_time tiles_at, tiles_before; /* of the last change of tiles, and of the one before it */
} th_traced;

typedef enum {
    TH_SPAN_COMPUTE,
    TH_SPAN_HOST,
    TH_SPAN_SEND,
    TH_SPAN_RECEIVE,
    TH_SPAN_COLLECTIVE,
    TH_N_SPAN_KINDS
} th_span_kind;

/* A task, or one end of a transfer or message, on a lane: spans of one lane never overlap. */
typedef struct th_span {
    int32_t kind;   /* th_span_kind */
    int32_t object; /* node that it is shown at; -1: none, of a collective */
    int32_t lane;
    int32_t number; /* task or flow; the same for both ends of a transfer */
    int32_t task;   /* -1: a message of a collective */
    const char *name;
    int32_t layer; /* whose name that is; -1: it is the name of what happens */
    int64_t bytes;
    int32_t from, to; /* nodes; -1 */
    int64_t arrow;    /* both ends of a transfer, and no others, have this number */
} th_span;

struct th_trace_type {
    const char *name;
    th_time finest_ps;                       /* of its times */
    void (*begin)(th_trace *t, th_time now); /* objects and signals are known, values are set */
    bool tells_time;                         /* by its stamp, before the values of a tick */
    bool (*shows)(const th_trace *t, const th_variable *v);  /* NULL: it shows all */
    void (*value)(th_trace *t, th_variable *v, th_time now); /* v->value is new */
    /* How it writes times. What else it says of a value of tiles depends on the variable, its value
     * and the one before alone. */
    th_stamp_form stamp;
    void (*span_begins)(th_trace *t, th_time now, const th_span *s);
    void (*span_ends)(th_trace *t, th_time now, const th_span *s);
    void (*task)(th_trace *t, th_time now, bool starts, int32_t number, const th_task *task);
    void (*end)(th_trace *t, th_time now);
};

/* Objects are nodes (accelerators among them), then links. */
struct th_trace {
    th_observer observer; /* first: notify functions cast it */
    const th_trace_type *type;
    const th_system *system;
    const th_workload *workload;
    const th_program *program;
    char *path;
    th_trace_options options;
    bool is_chosen; /* something was added */
    bool is_told;   /* something has happened */
    bool has_begun; /* the writer has been told to begin */
    bool is_over;   /* past until */
    bool is_out_of_memory;
    th_time now, next; /* of what is told: now in [tick, next) */
    th_time tick;      /* multiple of the resolution */
    th_traced *objects;
    int32_t n_objects, n_nodes;
    th_variable *variables;
    int32_t n_variables;
    size_t variable_room;
    int32_t *changed; /* objects whose values may have */
    int32_t n_changed;
    int64_t n_arrows;
    struct th_lanes *lanes;         /* lanes.c */
    th_tile_streams *streams;       /* awake while the window is open */
    struct th_phrases *phrases;     /* phrases.c: of changes of tiles */
    struct th_stretches *stretches; /* stretches.c: of those phrases, one after the other */
    th_stamp stamp;
    void *own; /* of the writer; th_free'd at the end */
    th_out out;
};

/* The multiple of the resolution that a time belongs to. */
static inline th_time th_trace_tick_of(const th_trace *t, th_time at)
{
    return t->options.resolution_ps == 1 ? at : at - at % t->options.resolution_ps;
}

/* Names of an object: "accel", "3" and so on. */
const char *th_traced_class_name(const th_trace *t, int32_t object);
const char *th_traced_name(const th_trace *t, int32_t object);
/* The value of a variable as a text where it is one, else NULL. */
const char *th_value_text(const th_trace *t, const th_variable *v);
bool th_signal_is_text(th_signal s);
bool th_signal_is_bit(th_signal s);

typedef struct th_phrases th_phrases;
typedef struct th_stretches th_stretches;
/* The writer's stamp of a time. */
const th_stamp *th_trace_new_stamp(th_trace *t, th_time now);
static inline const th_stamp *th_trace_stamp(th_trace *t, th_time now)
{
    return t->stamp.at == now ? &t->stamp : th_trace_new_stamp(t, now);
}

/* lanes.c: which spans are under way where. 0, or -1: memory is out. */
typedef struct th_lanes th_lanes;
th_lanes *th_lanes_new(int32_t n_objects);
void th_lanes_free(th_lanes *l);
void th_lanes_reset(th_lanes *l);
/* A span of this kind at an object begins; its lane, or -1: memory is out. */
int32_t th_lanes_take(th_lanes *l, const th_span *s);
/* ... ends: fills *s with what began, or returns false when none did. */
bool th_lanes_give(th_lanes *l, int32_t kind, int32_t number, th_span *s);
/* The i-th span that is under way; false: there are no more. */
bool th_lanes_open(const th_lanes *l, size_t i, th_span *s);

extern const th_trace_type th_trace_csv, th_trace_vcd, th_trace_perfetto, th_trace_chrome;

#endif
