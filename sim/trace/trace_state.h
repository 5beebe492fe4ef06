/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_state.h - private to sim/trace: the state of an open trace, and the interface of a writer.
 *
 * trace.c opens and closes; notify.c has the functions that the machine calls; ticks.c decides when
 * values are written; changes.c writes those that have changed; signals.c stores which signals are
 * traced and their current values; lanes.c places spans on lanes; out.c buffers the file. A writer
 * is one file and one row of the table in trace.c: one that shows signals has `value`, one that
 * shows spans has `span_begin` and `span_end`. */
#ifndef TH_SIM_TRACE_TRACE_STATE_H
#define TH_SIM_TRACE_TRACE_STATE_H
#include <stdbool.h>
#include <string.h>
#include "sim/trace/trace.h"

enum { TH_OUT_BLOCK = 1 << 18, TH_OUT_SPARE = 4096, TH_ID_BYTES = 8 };
#define TH_BIT(signal) (1u << (signal))

/* ---- tiles ----------------------------------------------------------------------------------- */

/* The traced state of a pipeline in one word: buffer fill, array state, moving engines. 0: no task.
 */
typedef uint16_t th_tile_state;
enum {
    TH_TILE_FILL = 0xff,
    TH_TILE_ARRAY = 0xf00,
    TH_TILE_ARRAY_SHIFT = 8,
    TH_TILE_MOVING_SHIFT = 12
};
static inline th_tile_state th_tile_state_of(const th_tiles *t)
{
    return (th_tile_state)((uint32_t)t->fill | (uint32_t)t->array << TH_TILE_ARRAY_SHIFT |
                           t->moving << TH_TILE_MOVING_SHIFT);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Bytes that are not yet in the file. They are written in whole blocks at multiples of the block
 * size, which takes a third to a half of the time of other writes. */
typedef struct th_out {
    int file;  /* descriptor */
    int error; /* errno of the first write that failed; 0: none has */
    size_t n;
    char text[TH_OUT_BLOCK + TH_OUT_SPARE];
} th_out;

void th_out_flush(th_out *o); /* all of it: before the file ends */
void th_out_write_block(th_out *o);
/* Room for TH_OUT_SPARE bytes; the caller adds to n how many it has used. */
static inline char *th_out_reserve(th_out *o)
{
    if (o->n >= TH_OUT_BLOCK)
        th_out_write_block(o);
    return &o->text[o->n];
}
static inline void th_out_char(th_out *o, char c)
{
    *th_out_reserve(o) = c;
    o->n++;
}
void th_out_long_text(th_out *o, const void *bytes, size_t n); /* n may exceed TH_OUT_SPARE */
/* Inline, so that copies of a constant length become a few stores. */
static inline void th_out_bytes(th_out *o, const void *bytes, size_t n)
{
    if (n > TH_OUT_SPARE) {
        th_out_long_text(o, bytes, n);
        return;
    }
    memcpy(th_out_reserve(o), bytes, n);
    o->n += n;
}
static inline void th_out_text(th_out *o, const char *text)
{
    th_out_bytes(o, text, strlen(text));
}
void th_out_number(th_out *o, int64_t number); /* decimal */
void th_out_json(th_out *o, const char *text); /* a JSON string with its quotes */

/* ---- what is traced -------------------------------------------------------------------------- */

/* One signal of one object. */
typedef struct th_variable {
    int32_t object;       /* see th_trace.n_nodes */
    int32_t signal;       /* th_signal */
    int64_t value;        /* written last */
    int64_t before;       /* the one before it, 0 at first */
    char id[TH_ID_BYTES]; /* vcd */
    int32_t id_length;
} th_variable;

/* The present state of an object. */
typedef struct th_traced {
    int32_t first;              /* of its variables */
    unsigned signals;           /* bits of those traced; 0: it is not */
    unsigned written;           /* bits of those that the writer uses */
    unsigned changed;           /* bits of those that may have another value than written */
    bool is_listed;             /* in th_trace.changed */
    int8_t place[TH_N_SIGNALS]; /* of the variable of a traced signal, after first */
    int32_t task, n_queued;     /* accelerator */
    int32_t sending, receiving;
    int32_t flows;  /* link */
    int32_t health; /* th_health */
    th_tile_state tiles;
    th_tile_state tile_bits; /* those of traced signals */
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
    int64_t bytes;
    int32_t from, to; /* nodes; -1 */
    int64_t arrow;    /* unique to the two ends of a transfer */
} th_span;

/* ---- writers --------------------------------------------------------------------------------- */

/* All functions but begin may be NULL. */
struct th_trace_type {
    const char *name;
    th_time finest_ps;                       /* resolution */
    void (*begin)(th_trace *t, th_time now); /* objects and signals are known, values are set */
    void (*tick)(th_trace *t, th_time now);  /* before the values of a tick */
    void (*value)(th_trace *t, th_variable *v, th_time now); /* v->value is new */
    void (*span_begin)(th_trace *t, th_time now, const th_span *s);
    void (*span_end)(th_trace *t, th_time now, const th_span *s);
    void (*task)(th_trace *t, th_time now, bool starts, int32_t number, const th_task *task);
    void (*end)(th_trace *t, th_time now);
    int (*write_beside)(const th_trace *t, th_error *err); /* another file, at the end */
    /* timeline.h, which gives `value` and says which variables are written; NULL: all are. */
    const struct th_timeline_type *timeline;
};

/* vcd.c: white space ends a name, and viewers split scopes at full stops. */
static inline char th_vcd_letter(char c)
{
    return c <= ' ' || c == '.' ? '_' : c;
}

/* gtkw.c: NAME.gtkw for NAME.vcd, unless there is one that Tharsis has not written. */
int th_gtkw_write(const th_trace *t, th_error *err);

extern const th_trace_type th_trace_csv, th_trace_vcd, th_trace_perfetto, th_trace_chrome;

/* ---- an open trace --------------------------------------------------------------------------- */

typedef struct th_trace_clock {
    th_time now;  /* of the last event, in [tick, next) */
    th_time tick; /* multiple of the resolution */
    th_time next; /* tick */
} th_trace_clock;

typedef struct th_trace_status {
    bool is_chosen;  /* th_trace_add was called */
    bool has_events; /* of this run */
    bool may_fail;   /* this run has faults */
    bool has_begun;  /* the window has, and the file's head is written */
    bool is_over;    /* the window is */
    bool is_out_of_memory;
} th_trace_status;

/* Objects are nodes (accelerators among them), then links. */
struct th_trace {
    th_observer observer; /* first: notify functions cast it */
    const th_trace_type *type;
    const th_system *system;
    const th_workload *workload; /* NULL: none */
    const th_program *program;
    char *path;
    th_trace_options options;
    th_trace_status is;
    th_trace_clock at;
    th_traced *objects;
    int32_t n_objects, n_nodes;
    th_variable *variables;
    int32_t n_variables;
    size_t variable_capacity;
    int32_t *changed; /* objects with changes since the last tick */
    int32_t n_changed;
    int64_t n_arrows;
    struct th_lanes *lanes; /* NULL: the writer shows no spans */
    void *writer_data;      /* th_free'd at the end */
    th_out out;
};

/* trace.c: the machine runs p from time 0; what was written is dropped. */
void th_trace_restart(th_trace *t, const th_program *p);
extern const th_observer_type th_trace_observer_type; /* notify.c */

/* ticks.c */
/* signals.c: what a task works for: its layer, or, in a program of several jobs, its job; -1: none.
 * Its name; NULL: unknown. */
int32_t th_trace_layer_of(const th_trace *t, int32_t task);
const char *th_trace_layer_name(const th_trace *t, int32_t layer);

static inline th_time th_trace_tick_of(const th_trace *t, th_time at)
{
    return t->options.resolution_ps == 1 ? at : at - at % t->options.resolution_ps;
}
void th_trace_reset(th_trace *t); /* to the start of a run */
/* An event happens at now: writes all that happened at earlier ticks. */
void th_trace_event(th_trace *t, th_time now);
void th_trace_finish(th_trace *t); /* writes the rest, and the end of the file */

/* changes.c: change: these signals (bits) of an object may have changed; set_tiles: the tiles of an
 * accelerator; write_changes: writes the variables that have changed at the tick; drop_changes
 * marks the current values as written. */
void th_trace_change(th_trace *t, int32_t object, unsigned signals);
void th_trace_set_tiles(th_trace *t, int32_t accel, th_tile_state tiles);
void th_trace_write_changes(th_trace *t);
void th_trace_drop_changes(th_trace *t);

/* signals.c */
void th_trace_choose_all(th_trace *t);    /* all objects, all signals but those inside tasks */
int th_trace_make_variables(th_trace *t); /* 0, or -1: memory is out */
int64_t th_value_of(const th_trace *t, const th_variable *v);        /* present value */
const char *th_traced_class_name(const th_trace *t, int32_t object); /* "accel" */
const char *th_traced_name(const th_trace *t, int32_t object);       /* "3" */
/* The value of a variable as a text where it is one, else NULL. */
const char *th_value_text(const th_trace *t, const th_variable *v);
bool th_signal_is_text(th_signal s);
bool th_signal_is_bit(th_signal s);

/* lanes.c: the running spans. acquire returns a lane, or -1: memory is out. release fills *s with
 * the span that started, or returns false if there is none. open: the i-th running span, or false.
 */
typedef struct th_lanes th_lanes;
th_lanes *th_lanes_new(int32_t n_objects);
void th_lanes_free(th_lanes *l);
void th_lanes_reset(th_lanes *l);
int32_t th_lanes_acquire(th_lanes *l, const th_span *s);
bool th_lanes_release(th_lanes *l, int32_t kind, int32_t number, th_span *s);
bool th_lanes_open(const th_lanes *l, size_t i, th_span *s);

#endif
