/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.c - the inputs of a run (stream.h). */
#include <config.h>

#include "mapper/lower/stream.h"

const th_stream th_stream_single = {1, 0, 1, 0};

int th_stream_check(const th_stream *s, const th_workload *w, th_error *err)
{
    if (s->n_inputs >= 1 && s->micro_batches >= 1 && s->micro_batches <= w->batch &&
        s->n_inputs <= INT32_MAX / s->micro_batches)
        return 0;
    return th_error_set(
        err, "MAP-0021",
        "%d inputs in %d micro-batches of a batch of %d: must be at least one input, "
        "1 .. batch micro-batches, and less than 2^31 in all",
        (int)s->n_inputs, (int)s->micro_batches, (int)w->batch);
}
