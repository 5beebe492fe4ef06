/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script_memo.h - what the procedures of script designs (script.c) answered, once per distinct
 * shard.
 *
 *   new -> (digest -> find*, by every th_compute_cost_cache, find from any thread)* -> clear* ->
 *   free
 *   a batch on several threads: defer(true) -> find* -> fill -> find* ... -> defer(false)
 *
 * The simulator knows no interpreter: a provider answers, in the thread that owns it. Outside
 * batches find asks it at once. While answers are deferred, find notes what is missing and fails as
 * "needed"; when the threads are through, their owner lets fill ask for all that was noted, and
 * does again what could not be done. One memo serves all th_compute_cost_cache of a session; a
 * shard is asked for once. */
#ifndef TH_SIM_DESIGN_SCRIPT_MEMO_H
#define TH_SIM_DESIGN_SCRIPT_MEMO_H
#include "sim/design/design.h"

/* The numbers of an answer. */
typedef enum {
    TH_SCRIPT_CYCLES,
    TH_SCRIPT_TILES,
    TH_SCRIPT_INPUT_BYTES,
    TH_SCRIPT_WEIGHT_BYTES,
    TH_SCRIPT_OUTPUT_BYTES,
    TH_SCRIPT_MACS_PER_CYCLE,
    TH_SCRIPT_N_NUMBERS
} th_script_number;

typedef struct th_script_field {
    const char *name;
    bool required, is_whole;
    double minimum, maximum;
} th_script_field;
extern const th_script_field th_script_fields[TH_SCRIPT_N_NUMBERS];

enum { TH_SCRIPT_VARIANT_MAX = 40, TH_SCRIPT_REFUSAL_MAX = 120 };

/* What a procedure said; th_script_check holds it against the table of fields. */
typedef struct th_script_answer {
    bool has[TH_SCRIPT_N_NUMBERS];
    double number[TH_SCRIPT_N_NUMBERS];
    char variant[TH_SCRIPT_VARIANT_MAX]; /* how the design runs the shard; "": as always */
    char cannot[TH_SCRIPT_REFUSAL_MAX];  /* why it cannot run the shard, no numbers then; "": it can
                                          */
} th_script_answer;

typedef struct th_script_question {
    const th_design_block *block; /* its further keys are the procedure's parameters */
    const char *procedure;
    th_time limit_ps; /* that answering may take, in real time */
    const th_shard
        *shard; /* adds_to_output is 0: partial sums are the pipeline's affair; so is has_bias */
} th_script_question;

typedef struct th_script_provider {
    void *context;
    /* A digest of what the procedure does: an answer holds for one digest. 0 or -1. */
    int (*identify)(void *context, const char *procedure, uint64_t *digest, th_error *err);
    /* 0 or -1; err says what was wrong, not where. */
    int (*answer)(void *context, const th_script_question *q, th_script_answer *out, th_error *err);
} th_script_provider;

typedef struct th_script_memo th_script_memo;

th_script_memo *th_script_memo_new(const th_script_provider *p, th_error *err);
void th_script_memo_clear(
    th_script_memo *m); /* no schedule made from it may be left; accepts NULL */
void th_script_memo_free(th_script_memo *m);           /* accepts NULL */
int64_t th_script_memo_count(const th_script_memo *m); /* answers held */

/* The digest under which answers to a block's questions are kept: of the procedure and of its
 * parameters. In the provider's thread. 0, or -1 where there is no such procedure. */
int th_script_memo_digest(th_script_memo *m, const th_design_block *block, const char *procedure,
                          uint64_t *digest, th_error *err);
/* The answer to a question; valid until clear. NULL on failure, or when the design cannot run it.
 */
const th_script_answer *th_script_memo_find(th_script_memo *m, uint64_t digest,
                                            const th_script_question *q, th_error *err);

/* Both accept NULL, and then do nothing. fill asks in an order that depends on the questions alone
 * and stops at the first failure, which the next find of that question returns. 0 or -1. */
void th_script_memo_defer(th_script_memo *m,
                          bool deferred); /* false forgets what was not answered */
int th_script_memo_fill(th_script_memo *m, th_error *err);
/* Did a find fail only because the answer is not there yet? */
bool th_script_is_needed(const th_error *err);
/* Did something fail because of a procedure: an answer that is needed, or a wrong one? Not where it
 * answered that it cannot run the shard. */
bool th_script_is_cause(const th_error *err);

/* Is the answer complete and in range? 0 or -1. */
int th_script_check(const th_script_answer *a, th_error *err);

/* script.c: for configurations of script designs; others are left alone. */

/* Makes c ask m; the procedure must exist. In the provider's thread. 0 or -1. */
int th_script_connect(const th_design_type *type, th_design_config *c, th_script_memo *m,
                      th_error *err);
bool th_script_is_asked(const th_design_type *type); /* are its schedules made of answers? */
/* Is the procedure the one that c was connected with? False too where it is gone. */
bool th_script_is_current(const th_design_type *type, const th_design_config *c);
/* Is the key one of the design's own, not a parameter? */
bool th_script_is_own_key(const char *key);
/* Bytes of a tensor of the shard, once: what an answer leaves out. */
int64_t th_script_tensor_bytes(const th_shard *s, th_tensor tensor);

#endif
