/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emit.h - private to lowering: the tasks of one pass. */
#ifndef TH_MAPPER_EMIT_H
#define TH_MAPPER_EMIT_H
#include "mapper/lower_state.h"

/* Adds the tasks of a pass to l->program. The plans of its batch are in l; passes come in order. 0 or
 * -1. */
int th_emit_pass(th_lower *l, const th_stream *stream, int32_t pass, th_error *err);

#endif
