/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script_answers.h - a procedure of a script design that answers anything, without Tcl. */
#ifndef TH_TESTS_UNIT_SCRIPT_ANSWERS_H
#define TH_TESTS_UNIT_SCRIPT_ANSWERS_H
#include "sim/design/script_memo.h"
#include "tests/unit/auto.h"
#include "tests/unit/sim_help.h"

static inline int any_procedure(const char *text, const char *procedure, th_error *err)
{
    (void)text;
    (void)procedure;
    (void)err;
    return 0;
}

/* Any numbers, the same for the same shard; some bytes are left out, so each tensor moves once. */
static inline int answer_anything(void *context, const char *text, const th_script_question *q,
                                  th_script_answer *out, th_error *err)
{
    static const int bytes[] = {TH_SCRIPT_INPUT_BYTES, TH_SCRIPT_WEIGHT_BYTES,
                                TH_SCRIPT_OUTPUT_BYTES};
    uint64_t seed = th_hash(q->shard, sizeof *q->shard, 1);
    auto_rng *r = th_random_stream(seed, "answers", 0);
    (void)context;
    (void)text;
    (void)err;
    out->number[TH_SCRIPT_TILES] = (double)pick(r, 1, 300);
    out->number[TH_SCRIPT_CYCLES] = (double)pick(r, 300, 300000);
    out->has[TH_SCRIPT_CYCLES] = out->has[TH_SCRIPT_TILES] = true;
    for (int i = 0; i < TH_N_TENSORS; i++) {
        out->number[bytes[i]] = (double)pick(r, 0, 5000000);
        out->has[bytes[i]] = pick(r, 0, 1);
    }
    return 0;
}

#endif
