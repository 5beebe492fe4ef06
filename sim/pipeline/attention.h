/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.h - an attention as its two products and the softmax between them, and their schedules
 * as one.
 *   th_attention_shards -> a schedule of each part -> th_attention_schedule */
#ifndef TH_SIM_PIPELINE_ATTENTION_H
#define TH_SIM_PIPELINE_ATTENTION_H
#include "sim/pipeline/schedule.h"

typedef enum {
    TH_ATTENTION_SCORES,
    TH_ATTENTION_SOFTMAX,
    TH_ATTENTION_CONTEXT,
    TH_N_ATTENTION_PARTS
} th_attention_part;

/* Scores and context: a product of two inputs for each head; the softmax: over each head's keys. */
void th_attention_shards(const th_shard *attention, th_shard parts[TH_N_ATTENTION_PARTS]);

/* overlaps: the softmax runs on a unit of its own beside the array, else after it. */
void th_attention_schedule(const th_shard *attention, const th_schedule parts[TH_N_ATTENTION_PARTS],
                           bool overlaps, th_schedule *out);

#endif
