/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_schedule.c - the table of pipeline schedules: one row is a rule that lists the
 * operations of a stage.
 *   th_pipeline_make -> check of the row -> fill, stage by stage -> th_pipeline_check
 *
 * p stages, v chunks per stage, m micro-batches, i the stage, from 0.
 *   gpipe        all forward operations, then all backward ones (Huang et al., 2019)
 *   1f1b         p - 1 - i forward, then forward and backward in turn (Narayanan et al., 2021)
 *   interleaved  1f1b over v chunks, in groups of p micro-batches: 2 (p - 1 - i) + (v - 1) p
 *                forward, then in turn (the same, section 2.2)
 *   zb_h1        1f1b with B alone; the W of micro-batch j follows the B of micro-batch j + i
 *                (Qi et al., arXiv 2401.10241)
 *   zb_h2        2 (p - 1 - i) forward, then in turn; the W of j follows the B of j + 2 i (the
 *                same: twice the activations of 1f1b, no bubble where F = B = W)
 *   zbv          two chunks that turn at the last stage (the same, section 6), in the order of
 *                PyTorch's ScheduleZBVZeroBubble
 *   dualpipe_v   two chunks that turn at the last stage; forward and backward of different micro-
 *                batches as pairs (DeepSeek-V3, arXiv 2412.19437, section 3.2.1, cut in half: the
 *                order of dualpipev.py of deepseek-ai/DualPipe, one copy of the weights)
 * The bubble with equal stages and free transfers is (p - 1) / (m + p - 1) for gpipe and 1f1b, and
 * (p - 1) / (v m + p - 1) for interleaved; of dualpipe_v (p - 1) (FB + B - 3 W) of a chunk's times,
 * FB that of a pair, B with W. */
#include <config.h>
#include "training/pipeline_schedule.h"
#include <assert.h>
#include <string.h>
#include "base/min_max.h"
#include "base/alloc.h"

struct th_pipeline_list {
    th_pipeline_op *ops;
    int32_t n, capacity;
};

static void add(th_pipeline_list *l, th_pipeline_kind kind, int32_t chunk, int32_t micro_batch)
{
    assert(l->n < l->capacity);
    l->ops[l->n++] = (th_pipeline_op){micro_batch, (int16_t)chunk, (int16_t)kind};
}

/* ---- one chunk per stage ---- */

static void fill_gpipe(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out)
{
    (void)stage;
    for (int32_t j = 0; j < n->micro_batches; j++)
        add(out, TH_PIPELINE_FORWARD, 0, j);
    for (int32_t j = 0; j < n->micro_batches; j++)
        add(out, TH_PIPELINE_BACKWARD, 0, j);
}

/* warm_up forward operations, then forward and backward in turn; and the W of a micro-batch behind
 * the B of the delay-th one after it (delay < 0: there is no W). */
static void fill_in_turn(const th_pipeline_shape *n, int32_t warm_up, int32_t delay,
                         th_pipeline_list *out)
{
    int32_t forward = 0, weights = delay < 0 ? n->micro_batches : 0;
    for (; forward < th_min(warm_up, n->micro_batches); forward++)
        add(out, TH_PIPELINE_FORWARD, 0, forward);
    for (int32_t j = 0; j < n->micro_batches; j++) {
        if (forward < n->micro_batches)
            add(out, TH_PIPELINE_FORWARD, 0, forward++);
        add(out, TH_PIPELINE_BACKWARD, 0, j);
        if (delay >= 0 && j >= delay)
            add(out, TH_PIPELINE_WEIGHTS, 0, weights++);
    }
    while (weights < n->micro_batches)
        add(out, TH_PIPELINE_WEIGHTS, 0, weights++);
}

static void fill_1f1b(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out)
{
    fill_in_turn(n, n->stages - 1 - stage, -1, out);
}

static void fill_zb_h1(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out)
{
    fill_in_turn(n, n->stages - 1 - stage, stage, out);
}

static void fill_zb_h2(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out)
{
    fill_in_turn(n, 2 * (n->stages - 1 - stage), 2 * stage, out);
}

/* ---- interleaved ---- */

static int check_interleaved(const th_pipeline_shape *n, th_error *err)
{
    int32_t p = n->stages, m = n->micro_batches;
    if (m % p == 0)
        return 0;
    return th_error_set(
        err, "MAP-0400",
        "interleaved: %d micro-batches: must be a multiple of the %d stages, such as %d", (int)m,
        (int)p, (int)((m / p + 1) * p));
}

/* The k-th forward or backward operation of a stage: p micro-batches of one chunk, then of the
 * next. */
static void add_interleaved(const th_pipeline_shape *n, th_pipeline_kind kind, int32_t k,
                            th_pipeline_list *out)
{
    int32_t p = n->stages, group = p * n->chunks, chunk = k % group / p;
    if (kind == TH_PIPELINE_BACKWARD)
        chunk = n->chunks - 1 - chunk;
    add(out, kind, chunk, k / group * p + k % p);
}

static void fill_interleaved(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out)
{
    int32_t all = n->micro_batches * n->chunks, forward = 0;
    int32_t warm_up = 2 * (n->stages - 1 - stage) + (n->chunks - 1) * n->stages;
    for (; forward < th_min(warm_up, all); forward++)
        add_interleaved(n, TH_PIPELINE_FORWARD, forward, out);
    for (int32_t k = 0; k < all; k++) {
        if (forward < all)
            add_interleaved(n, TH_PIPELINE_FORWARD, forward++, out);
        add_interleaved(n, TH_PIPELINE_BACKWARD, k, out);
    }
}

/* ---- zbv ---- */

static int check_least(const char *id, const char *name, const th_pipeline_shape *n, int32_t least,
                       th_error *err)
{
    if (n->micro_batches >= least)
        return 0;
    return th_error_set(err, id, "%s: %d micro-batches on %d stages: must be at least %d", name,
                        (int)n->micro_batches, (int)n->stages, (int)least);
}

static int check_zbv(const th_pipeline_shape *n, th_error *err)
{
    return check_least("MAP-0401", "zbv", n, 2 * n->stages - 1, err);
}

static int check_dualpipe_v(const th_pipeline_shape *n, th_error *err)
{
    return check_least("MAP-0480", "dualpipe_v", n, 2 * n->stages, err);
}

/* What was added so far, by kind and chunk; the next micro-batch of each. */
typedef struct zbv_counts {
    th_pipeline_list *out;
    int32_t n[TH_PIPELINE_N_KINDS][2];
} zbv_counts;

static void add_next(zbv_counts *c, th_pipeline_kind kind, int32_t chunk)
{
    add(c->out, kind, chunk, c->n[kind][chunk]++);
}

static void add_b_and_w(zbv_counts *c, int32_t chunk)
{
    add_next(c, TH_PIPELINE_BACKWARD, chunk);
    add_next(c, TH_PIPELINE_WEIGHTS, chunk);
}

static void fill_zbv(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out)
{
    zbv_counts c = {.out = out};
    int32_t left = n->stages - stage, m = n->micro_batches;
    for (int32_t k = 0; k < 2 * left - 1; k++)
        add_next(&c, TH_PIPELINE_FORWARD, 0);
    for (int32_t k = 0; k < stage; k++) {
        add_next(&c, TH_PIPELINE_FORWARD, 1);
        add_next(&c, TH_PIPELINE_FORWARD, 0);
    }
    for (int32_t k = 0; k < left; k++) {
        add_next(&c, TH_PIPELINE_FORWARD, 1);
        add_b_and_w(&c, 1);
    }
    while (c.n[TH_PIPELINE_FORWARD][1] < m) { /* the steady state */
        if (c.n[TH_PIPELINE_FORWARD][0] < m)
            add_next(&c, TH_PIPELINE_FORWARD, 0);
        add_b_and_w(&c, 0);
        add_next(&c, TH_PIPELINE_FORWARD, 1);
        add_b_and_w(&c, 1);
    }
    for (int32_t k = 0; k < stage; k++) {
        add_next(&c, TH_PIPELINE_BACKWARD, 0);
        add_next(&c, TH_PIPELINE_BACKWARD, 1);
    }
    for (int32_t k = 0; k < left; k++)
        add_b_and_w(&c, 0);
    for (int32_t chunk = 1; chunk >= 0; chunk--)
        while (c.n[TH_PIPELINE_WEIGHTS][chunk] < m)
            add_next(&c, TH_PIPELINE_WEIGHTS, chunk);
}

/* ---- dualpipe_v ---- */

/* The W of the oldest B that has none. */
static void add_waiting_weights(zbv_counts *c, int32_t *waiting, int32_t *n_waiting)
{
    add_next(c, TH_PIPELINE_WEIGHTS, waiting[0]);
    for (int32_t i = 1; i < *n_waiting; i++)
        waiting[i - 1] = waiting[i];
    --*n_waiting;
}

static void add_forward_and_backward(zbv_counts *c, int32_t chunk)
{
    add_next(c, TH_PIPELINE_FORWARD, chunk);
    add_b_and_w(c, 1 - chunk);
}

/* The last backward operations: half of those of step 6 leave their W for later. */
static void drain_dualpipe_v(zbv_counts *c, int32_t stage, int32_t left)
{
    int32_t waiting[TH_STAGES_MAX + 1], n_waiting = 0, half = (stage + 1) / 2;
    for (int32_t k = 0; k < stage + 1; k++)
        for (int32_t chunk = 1; chunk >= 0; chunk--) {
            bool waits = k > half || (k == half && (stage % 2 == 1 || chunk == 0));
            add_next(c, TH_PIPELINE_BACKWARD, chunk);
            if (waits)
                waiting[n_waiting++] = chunk;
            else
                add_next(c, TH_PIPELINE_WEIGHTS, chunk);
        }
    for (int32_t k = 0; k < left; k++) {
        add_waiting_weights(c, waiting, &n_waiting);
        add_next(c, TH_PIPELINE_BACKWARD, 0);
        waiting[n_waiting++] = 0;
    }
    while (n_waiting > 0)
        add_waiting_weights(c, waiting, &n_waiting);
}

static void fill_dualpipe_v(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out)
{
    zbv_counts c = {.out = out};
    int32_t left = n->stages - stage - 1;
    for (int32_t k = 0; k < 2 * left; k++)
        add_next(&c, TH_PIPELINE_FORWARD, 0);
    for (int32_t k = 0; k < stage + 1; k++) {
        add_next(&c, TH_PIPELINE_FORWARD, 0);
        add_next(&c, TH_PIPELINE_FORWARD, 1);
    }
    for (int32_t k = 0; k < left; k++) {
        add_b_and_w(&c, 1);
        add_next(&c, TH_PIPELINE_FORWARD, 1);
    }
    for (int32_t k = 0; k < n->micro_batches - 2 * n->stages + stage + 1; k++) {
        add_forward_and_backward(&c, 0);
        add_forward_and_backward(&c, 1);
    }
    for (int32_t k = 0; k < left; k++) {
        add_b_and_w(&c, 1);
        add_forward_and_backward(&c, 1);
    }
    drain_dualpipe_v(&c, stage, left);
}

bool th_pipeline_opens_pair(const th_pipeline_schedule *s, int32_t i)
{
    return s->has_pairs && s->ops[i].kind == TH_PIPELINE_FORWARD && (i + 1) % s->n_ops != 0 &&
           s->ops[i + 1].kind == TH_PIPELINE_BACKWARD && s->ops[i + 1].chunk != s->ops[i].chunk;
}

/* ---- the table ---- */

const th_pipeline_type th_pipeline_types[] = {
    {"gpipe", "all forward, then all backward", false, false, 1, 1, NULL, fill_gpipe},
    {"1f1b", "one forward, one backward", false, false, 1, 1, NULL, fill_1f1b},
    {"interleaved", "1f1b over several chunks per stage", false, false, 2, TH_CHUNKS_MAX_OF_STAGE,
     check_interleaved, fill_interleaved},
    {"zb_h1", "1f1b with weight gradients later", true, false, 1, 1, NULL, fill_zb_h1},
    {"zb_h2", "the same with twice the activations", true, false, 1, 1, NULL, fill_zb_h2},
    {"zbv", "two chunks that turn at the last stage", true, true, 2, 2, check_zbv, fill_zbv},
    {"dualpipe_v", "the same, messages of one micro-batch beside computation of another", true,
     true, 2, 2, check_dualpipe_v, fill_dualpipe_v, .has_pairs = true},
    {.name = NULL},
};

const th_pipeline_type *th_pipeline_find(const char *name)
{
    for (const th_pipeline_type *t = th_pipeline_types; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

static int check_chunks(const th_pipeline_type *t, const th_pipeline_shape *n, th_error *err)
{
    if (n->chunks >= t->min_chunks && n->chunks <= t->max_chunks)
        return 0;
    if (t->min_chunks == t->max_chunks)
        return th_error_set(err, "MAP-0402", "%s: %d chunks per stage: must be %d", t->name,
                            (int)n->chunks, t->min_chunks);
    return th_error_set(err, "MAP-0403", "%s: %d chunks per stage: must be %d to %d", t->name,
                        (int)n->chunks, t->min_chunks, t->max_chunks);
}

static int check_size(const th_pipeline_shape *n, int64_t n_ops, th_error *err)
{
    if (n_ops * n->stages <= INT32_MAX / 4)
        return 0;
    return th_error_set(err, "MAP-0404",
                        "%d stages, %d chunks, %d micro-batches: more than %d operations",
                        (int)n->stages, (int)n->chunks, (int)n->micro_batches, INT32_MAX / 4);
}

int th_pipeline_make(const th_pipeline_type *t, const th_pipeline_shape *n,
                     th_pipeline_schedule *out, th_error *err)
{
    int64_t n_ops = (int64_t)n->chunks * n->micro_batches * (t->splits_backward ? 3 : 2);
    if (check_chunks(t, n, err) || check_size(n, n_ops, err) || (t->check && t->check(n, err)))
        return -1;
    *out = (th_pipeline_schedule){.shape = *n,
                                  .splits_backward = t->splits_backward,
                                  .is_v = t->is_v,
                                  .has_pairs = t->has_pairs,
                                  .n_ops = (int32_t)n_ops};
    out->ops = th_alloc_array((size_t)n_ops * (size_t)n->stages, sizeof *out->ops);
    if (!out->ops)
        return th_error_no_memory(err);
    for (int32_t stage = 0; stage < n->stages; stage++) {
        th_pipeline_list list = {out->ops + (int64_t)stage * n_ops, 0, (int32_t)n_ops};
        t->fill(n, stage, &list);
        assert(list.n == list.capacity);
    }
    if (th_pipeline_check(out, t->name, err) == 0)
        return 0;
    th_pipeline_clear(out);
    return -1;
}

void th_pipeline_clear(th_pipeline_schedule *s)
{
    th_free(s->ops);
    th_free(s->order);
    *s = (th_pipeline_schedule){.ops = NULL};
}

int32_t th_pipeline_step(const th_pipeline_schedule *s, int32_t stage, int32_t chunk)
{
    int32_t p = s->shape.stages;
    return chunk * p + (s->is_v && chunk % 2 == 1 ? p - 1 - stage : stage);
}

int32_t th_pipeline_stage_of(const th_pipeline_schedule *s, int32_t step)
{
    int32_t p = s->shape.stages, at = step % p;
    return s->is_v && step / p % 2 == 1 ? p - 1 - at : at;
}

size_t th_pipeline_number(const th_pipeline_schedule *s, int kind, int32_t step,
                          int32_t micro_batch)
{
    size_t steps = (size_t)s->shape.stages * (size_t)s->shape.chunks;
    return ((size_t)kind * steps + (size_t)step) * (size_t)s->shape.micro_batches +
           (size_t)micro_batch;
}

char th_pipeline_letter(int kind)
{
    return "FBW"[kind];
}
