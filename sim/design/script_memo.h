/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script_memo.h - caches the answers of the procedures of script designs (script.c), one per
 * distinct shard.
 *
 *   new -> (digest -> find*, by every th_compute_cost_cache, find from any thread)* -> clear* ->
 *   free; a thread that ends: leave
 *
 * The simulator has no interpreter: a provider answers in the thread that asks, with the text of
 * the procedures and nothing else, so that an answer depends on the question alone. One memo serves
 * every th_compute_cost_cache of a session. Two threads that miss the same answer at once may both
 * ask for it. */
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

/* The answer of a procedure; th_script_check checks it against th_script_fields. */
typedef struct th_script_answer {
    bool has[TH_SCRIPT_N_NUMBERS];
    double number[TH_SCRIPT_N_NUMBERS];
    /* How the design runs the shard; "": there is only one way. */
    char variant[TH_SCRIPT_VARIANT_MAX];
    /* Why the design cannot run the shard; there are no numbers then. "": it can. */
    char cannot[TH_SCRIPT_REFUSAL_MAX];
} th_script_answer;

typedef struct th_script_question {
    /* Keys that the design does not define are parameters of the procedure. */
    const th_design_block *block;
    const char *procedure;
    th_time limit_ps; /* of the time to answer, in real time */
    /* adds_to_output and has_bias are 0: the pipeline handles partial sums and biases. */
    const th_shard *shard;
} th_script_question;

typedef struct th_script_memo th_script_memo;

typedef struct th_script_provider {
    void *context;
    /* Calls th_script_memo_set_text with the procedures as they are now, if this is the thread that
     * can tell. NULL: someone else does. 0 or -1. */
    int (*take_text)(void *context, th_script_memo *m, th_error *err);
    /* Has the text such a procedure? 0 or -1. */
    int (*check)(const char *text, const char *procedure, th_error *err);
    /* 0 or -1; err tells the reason, without the design and shard. From any thread. */
    int (*answer)(void *context, const char *text, const th_script_question *q,
                  th_script_answer *out, th_error *err);
    void (*leave)(void); /* the thread asks no more */
} th_script_provider;

th_script_memo *th_script_memo_new(const th_script_provider *p, th_error *err);
/* No schedule made from its answers may be in use. Both accept NULL. */
void th_script_memo_clear(th_script_memo *m);
void th_script_memo_free(th_script_memo *m);

/* The text of the procedures as they are now, the memo's, for set_text elsewhere. NULL: an
 * error. */
const char *th_script_memo_text(th_script_memo *m, th_error *err);
int th_script_memo_set_text(th_script_memo *m, const char *text, th_error *err);

/* Takes over the procedures as they are now and computes the digest of them, of the name of one
 * and of its parameters in the block, under which answers are cached. Procedures do not change
 * while other threads ask. 0, or -1 if the procedure does not exist. */
int th_script_memo_digest(th_script_memo *m, const th_design_block *block, const char *procedure,
                          uint64_t *digest, th_error *err);
/* The answer to a question, valid until clear. NULL on failure, or if the design cannot run the
 * shard. */
const th_script_answer *th_script_memo_find(th_script_memo *m, uint64_t digest,
                                            const th_script_question *q, th_error *err);
/* The calling thread ends. Accepts NULL. */
void th_script_memo_leave(th_script_memo *m);
/* True if a procedure caused the failure: its answer is missing or wrong. False if it answered that
 * it cannot run the shard. */
bool th_script_is_cause(const th_error *err);

/* Checks that the answer is complete and in range. 0 or -1. */
int th_script_check(const th_script_answer *a, th_error *err);

/* script.c: functions for configurations of script designs; they ignore other designs. */

/* Connects c with m; the procedure must exist. 0 or -1. */
int th_script_connect(const th_design_type *type, th_design_config *c, th_script_memo *m,
                      th_error *err);
bool th_script_is_asked(const th_design_type *type); /* true for script designs */
/* True if the design defines the key; false if it is a parameter. */
bool th_script_is_own_key(const char *key);
/* The size of a tensor of the shard in bytes: the default where an answer has none. */
int64_t th_script_tensor_bytes(const th_shard *s, th_tensor tensor);

#endif
