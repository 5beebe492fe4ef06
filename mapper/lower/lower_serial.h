/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_serial.h - lowering onto a system whose transfers are serial (docs/models/h2h.md).
 *   new -> check -> emit_pass* -> free; or new -> list -> free */
#ifndef TH_MAPPER_LOWER_SERIAL_H
#define TH_MAPPER_LOWER_SERIAL_H
#include "mapper/lower/lower_state.h"

typedef struct th_serial th_serial;

/* Behind th_lower_plan of the largest batch: queues, and which weights stay. NULL on failure. */
th_serial *th_serial_new(th_lower *l, const th_mapping *m, th_error *err);
void th_serial_free(th_serial *s); /* accepts NULL */
/* Fills l->memory. 0, or -1: an accelerator has too little of it. */
int th_serial_check(const th_serial *s, th_error *err);
/* As th_emit_pass. */
int th_serial_emit_pass(th_serial *s, const th_stream *stream, int32_t pass, th_error *err);
/* What fills an accelerator at its peak. */
void th_serial_list(const th_serial *s, int accel, th_memory_peak *out);

#endif
