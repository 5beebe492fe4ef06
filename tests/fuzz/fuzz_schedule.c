/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_schedule.c - the bytes as a schedule of a collective, and as one of a pipeline. Of a
 * pipeline that can be read, the order of execution has every operation once. */
#include <config.h>
#include <stdlib.h>
#include "training/pipeline_schedule.h"
#include "sim/collective/schedule_read.h"
#include "tests/fuzz/target.h"

static void run_collective(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_user_schedule *u = th_user_schedule_read(fuzz_input_file(data, size), &e);
    must_read_or_say(u != NULL, &e);
    for (int32_t i = 0; u && i < u->n_steps; i++) {
        const th_user_schedule_step *s = &u->steps[i], *t = &u->steps[s->match];
        must(t->sends != s->sends && t->match == i && s->peer >= 0 && s->peer < u->n_ranks);
    }
    th_user_schedule_free(u);
}

static void run_pipeline(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_pipeline_schedule s;
    if (th_pipeline_read(fuzz_input_file(data, size), &s, &e) != 0) {
        must_read_or_say(false, &e);
        return;
    }
    int32_t n = s.n_ops * s.shape.stages;
    bool *is_there = calloc((size_t)n + 1, sizeof *is_there);
    must(is_there != NULL);
    for (int32_t i = 0; i < n; i++) {
        must(s.order[i] >= 0 && s.order[i] < n && !is_there[s.order[i]]);
        is_there[s.order[i]] = true;
    }
    free(is_there);
    th_pipeline_clear(&s);
}

const fuzz_target fuzz_collective = {"collective", run_collective, NULL};
const fuzz_target fuzz_pipeline = {"pipeline", run_pipeline, NULL};
