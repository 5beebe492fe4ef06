/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_serial.h - lowering onto a system whose transfers are serial (docs/models/h2h.md). */
#ifndef TH_MAPPER_LOWER_SERIAL_H
#define TH_MAPPER_LOWER_SERIAL_H
#include "mapper/lower/lower_state.h"

/* Adds all passes of a placed mapping to l->program, and fills l->weight_bytes and l->peak_bytes.
 * The layers of l are placed. 0 or -1. */
int th_lower_serial(th_lower *l, const th_mapping *m, const th_stream *stream, th_error *err);

/* Behind th_lower_plan: what fills an accelerator at its peak. 0, or -1; *out is the caller's
 * either way. */
int th_lower_serial_held(th_lower *l, const th_mapping *m, const th_stream *stream, int accel,
                         th_memory_peak *out, th_error *err);

#endif
