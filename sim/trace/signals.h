/* SPDX-License-Identifier: GPL-3.0-or-later */
/* signals.h - between the files of an open trace: trace.c, which opens and closes, told.c, which
 * the machine tells what happens, ticks.c, which knows when something is to be written, changes.c,
 * which writes what has changed, and signals.c, which knows what is traced and what it is worth. */
#ifndef TH_SIM_TRACE_SIGNALS_H
#define TH_SIM_TRACE_SIGNALS_H
#include "sim/trace/writer.h"

#define TH_BIT(signal) (1u << (signal))

/* signals.c. All objects, with all signals but those inside tasks. */
void th_trace_choose_all(th_trace *t);
int th_trace_make_variables(th_trace *t);                     /* 0, or -1: memory is out */
int64_t th_value_of(const th_trace *t, const th_variable *v); /* now */
int64_t th_tile_value(int32_t signal, th_tile_state tiles);
int64_t th_link_value(int32_t signal, int32_t flows);

/* changes.c. These signals of the object (bits) may have other values; its tiles have this one. */
void th_trace_change(th_trace *t, int32_t object, unsigned signals);
void th_trace_set_tiles(th_trace *t, int32_t accel, th_tile_state tiles);
/* What has changed is written, at the tick; the same where nothing has but these tiles. */
void th_trace_write_changes(th_trace *t);
void th_trace_write_tiles_alone(th_trace *t, int32_t accel, th_tile_state tiles);
/* All variables have the values of now, as if they were written. */
void th_trace_forget_changes(th_trace *t);
/* All variables have the values that were written last. */
void th_trace_settle_values(th_trace *t);

/* trace.c. A run of p begins at time 0: what was written is dropped. */
void th_trace_restart(th_trace *t, const th_program *p);
/* told.c */
extern const th_observer_type th_trace_observer_type;
/* Does a signal inside tasks of accelerator accel count? */
bool th_trace_wants_tiles(const th_trace *t, int accel);

/* ticks.c. Nothing has happened, at time 0. */
void th_trace_reset_signals(th_trace *t);
/* Something happens at now: the values of the instant before are written if that is over. */
void th_trace_hear(th_trace *t, th_time now);
/* What is left is written, and the writer ends. */
void th_trace_finish(th_trace *t);

#endif
