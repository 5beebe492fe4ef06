/* SPDX-License-Identifier: GPL-3.0-or-later */
/* signals.h - between trace.c, which opens and closes, and signals.c, which knows what is traced. */
#ifndef TH_SIM_TRACE_SIGNALS_H
#define TH_SIM_TRACE_SIGNALS_H
#include "sim/trace/writer.h"

/* Nothing has happened, at time 0. */
void th_trace_reset_signals(th_trace *t);
/* Something happens at now: the values of the instant before are written if that is over. */
void th_trace_hear(th_trace *t, th_time now);
void th_trace_go_on(th_trace *t, th_time now);
/* What is left is written, and the writer ends. */
void th_trace_finish(th_trace *t);

#endif
