/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_pipeline_schedule.c - orders by hand, bubbles by closed forms, and what is refused. */
#include <config.h>
#include "base/alloc.h"
#include "training/pipeline_program.h"
#include "training/pipeline_schedule.h"
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"

static th_pipeline_schedule made(const char *name, int32_t p, int32_t v, int32_t m)
{
    th_pipeline_schedule s = {.ops = NULL};
    th_error err = {.id = ""};
    CU_ASSERT_EQUAL(
        th_pipeline_make(th_pipeline_find(name), &(th_pipeline_shape){p, v, m}, &s, &err), 0);
    TAP_ASSERT_TEXT(err.id, "");
    return s;
}

/* "F0 F1 B0 ...", chunks behind a point unless there is one alone. */
static const char *order_of(const th_pipeline_schedule *s, int32_t stage, char *out, size_t size)
{
    size_t n = 0;
    for (int32_t i = 0; i < s->n_ops; i++) {
        const th_pipeline_op *op = &s->ops[stage * s->n_ops + i];
        n += (size_t)snprintf(out + n, size - n, "%s%c%d", i ? " " : "",
                              th_pipeline_letter(op->kind), (int)op->micro_batch);
        if (s->shape.chunks > 1)
            n += (size_t)snprintf(out + n, size - n, ".%d", op->chunk);
    }
    return out;
}

static void assert_order(const char *name, th_pipeline_shape n, int32_t stage, const char *expected)
{
    char text[1000];
    th_pipeline_schedule s = made(name, n.stages, n.chunks, n.micro_batches);
    TAP_ASSERT_TEXT(order_of(&s, stage, text, sizeof text), expected);
    th_pipeline_clear(&s);
}

TEST(orders_by_hand)
{
    assert_order("gpipe", (th_pipeline_shape){2, 1, 3}, 1, "F0 F1 F2 B0 B1 B2");
    assert_order("1f1b", (th_pipeline_shape){3, 1, 4}, 0, "F0 F1 F2 B0 F3 B1 B2 B3");
    assert_order("1f1b", (th_pipeline_shape){3, 1, 4}, 2, "F0 B0 F1 B1 F2 B2 F3 B3");
    assert_order("zb_h1", (th_pipeline_shape){3, 1, 3}, 1, "F0 F1 B0 F2 B1 W0 B2 W1 W2");
    assert_order("zb_h2", (th_pipeline_shape){2, 1, 3}, 0, "F0 F1 F2 B0 W0 B1 W1 B2 W2");
    assert_order("interleaved", (th_pipeline_shape){2, 2, 2}, 1,
                 "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0");
    assert_order("zbv", (th_pipeline_shape){2, 2, 3}, 1,
                 "F0.0 F0.1 F1.0 F1.1 B0.1 W0.1 F2.0 B0.0 W0.0 F2.1 B1.1 W1.1 B1.0 B2.1 B2.0 W1.0 "
                 "W2.1 W2.0");
}

/* ---- bubbles ---- */

/* The time at which the last task of a program without contention ends: each starts when its last
 * predecessor has ended. Tasks are in an order of execution. */
static th_time makespan(th_program *p)
{
    th_error err;
    th_time *end = th_alloc_zero((size_t)p->n_tasks, sizeof *end), last = 0;
    CU_ASSERT_EQUAL(th_program_finish(p, &err), 0);
    for (int32_t t = 0; t < p->n_tasks; t++) {
        const th_task *task = &p->tasks[t];
        end[t] += task->kind == TH_TASK_COMPUTE ? p->works[task->compute_cost].duration_ps
                                                : task->delay_ps;
        for (int32_t k = p->successor_start[t]; k < p->successor_start[t + 1]; k++)
            if (end[p->successors[k]] < end[t])
                end[p->successors[k]] = end[t];
        last = end[t] > last ? end[t] : last;
    }
    th_free(end);
    return last;
}

typedef struct op_times {
    th_time forward, backward, weights, transfer;
} op_times;

static th_time time_of(const char *name, th_pipeline_shape n, op_times t)
{
    th_error err;
    int32_t node[64], steps = n.stages * n.chunks;
    th_time duration[3 * 64];
    th_pipeline_schedule s = made(name, n.stages, n.chunks, n.micro_batches);
    auto_program *p = th_program_new(&err);
    th_program_clear(p);
    for (int32_t i = 0; i < n.stages; i++)
        node[i] = i;
    for (int32_t i = 0; i < steps; i++) {
        duration[i] = t.forward;
        duration[steps + i] = t.backward;
        duration[2 * steps + i] = t.weights;
    }
    th_pipeline_work w = {
        .node = node, .duration_ps = duration, .bytes = -1, .transfer_ps = t.transfer};
    CU_ASSERT_EQUAL(th_pipeline_lower(&s, &w, NULL, p, NULL, &err), 0);
    th_time end = makespan(p);
    th_pipeline_clear(&s);
    return end;
}

/* (m + p - 1) (F + B) for gpipe and 1f1b; interleaved with chunks of (F + B) / v:
 * (v m + p - 1) (F + B) / v. */
TEST(bubbles_of_closed_form)
{
    const op_times t = {7, 13, 0, 0};
    CU_ASSERT_EQUAL(time_of("gpipe", (th_pipeline_shape){4, 1, 6}, t), (6 + 3) * 20);
    CU_ASSERT_EQUAL(time_of("1f1b", (th_pipeline_shape){4, 1, 6}, t), (6 + 3) * 20);
    CU_ASSERT_EQUAL(time_of("1f1b", (th_pipeline_shape){5, 1, 3}, t), (3 + 4) * 20);
    CU_ASSERT_EQUAL(time_of("interleaved", (th_pipeline_shape){4, 2, 8}, t), (16 + 3) * 20);
    CU_ASSERT_EQUAL(time_of("interleaved", (th_pipeline_shape){3, 4, 9}, t), (36 + 2) * 20);
}

/* With F = B = W the last stage of zb_h2 and zbv begins p - 1 forward operations late and computes
 * without a gap; zb_h1 has a bubble of (p - 1) (F + B - W) (arXiv 2401.10241, section 2). */
TEST(zero_bubbles)
{
    const op_times t = {5, 5, 5, 0};
    CU_ASSERT_EQUAL(time_of("zb_h2", (th_pipeline_shape){4, 1, 9}, t), 9 * 15 + 3 * 5);
    CU_ASSERT_EQUAL(time_of("zbv", (th_pipeline_shape){4, 2, 8}, t), 8 * 30 + 3 * 5);
    CU_ASSERT_EQUAL(time_of("zb_h1", (th_pipeline_shape){4, 1, 9}, t), 9 * 15 + 3 * 5);
}

/* When all of a schedule is done on an accelerator each, without messages; the operations of a pair
 * (and the W behind it) begin and end together, as DualPipe's authors count them. */
static th_time time_in_pairs(const th_pipeline_schedule *s, op_times t)
{
    const th_time of_kind[] = {t.forward, t.backward, t.weights};
    int32_t steps = s->shape.stages * s->shape.chunks;
    size_t n = th_pipeline_number(s, TH_PIPELINE_N_KINDS, 0, 0);
    th_time *end = th_alloc_zero(n, sizeof *end), *at = th_alloc_zero(64, sizeof *at), last = 0;
    for (int32_t k = 0; k < s->shape.stages * s->n_ops; k++) {
        int32_t i = s->order[k], stage = i / s->n_ops, n_ops = 1;
        bool is_inside = i % s->n_ops > 0 && th_pipeline_opens_pair(s, i - 1);
        is_inside |= i % s->n_ops > 1 && th_pipeline_opens_pair(s, i - 2);
        if (th_pipeline_opens_pair(s, i) || is_inside)
            n_ops = 3;
        int32_t first = !is_inside ? i : th_pipeline_opens_pair(s, i - 1) ? i - 1 : i - 2;
        th_time start = at[stage], length = 0;
        for (int32_t m = first; m < first + n_ops; m++) {
            const th_pipeline_op *op = &s->ops[m];
            int32_t step = th_pipeline_step(s, stage, op->chunk), to = step;
            int kind = op->kind;
            length += of_kind[kind];
            if (kind == TH_PIPELINE_FORWARD)
                to--;
            else if (kind == TH_PIPELINE_BACKWARD && step == steps - 1)
                kind = TH_PIPELINE_FORWARD;
            else if (kind == TH_PIPELINE_BACKWARD)
                to++;
            else
                continue;
            if (to >= 0 && end[th_pipeline_number(s, kind, to, op->micro_batch)] > start)
                start = end[th_pipeline_number(s, kind, to, op->micro_batch)];
        }
        const th_pipeline_op *op = &s->ops[i];
        th_time done = start + length;
        end[th_pipeline_number(s, op->kind, th_pipeline_step(s, stage, op->chunk),
                               op->micro_batch)] = done;
        if (i == first + n_ops - 1)
            at[stage] = done;
        last = done > last ? done : last;
    }
    th_free(end);
    th_free(at);
    return last;
}

/* (PP / 2 - 1) (FB + B - 3 W) of PP stages of the model, two on each of p accelerators, where B has
 * its W and a pair takes what its operations take: (p - 1) (F + 2 B' - W), B' without W (arXiv
 * 2412.19437, table 2): so it is where F <= B' = W. What the forward operation of a pair
 * makes is there before the pair ends, so that the bubble of ours is smaller. */
TEST(bubble_of_dualpipe_as_published)
{
    static const op_times times[] = {{5, 5, 5, 0}, {5, 6, 6, 0}, {9, 13, 13, 0}};
    static const th_pipeline_shape shapes[] = {{2, 2, 4}, {4, 2, 8}, {4, 2, 13}, {8, 2, 20}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const op_times *t = &times[i];
            const th_pipeline_shape *n = &shapes[k];
            th_pipeline_schedule s = made("dualpipe_v", n->stages, 2, n->micro_batches);
            th_time busy = 2 * n->micro_batches * (t->forward + t->backward + t->weights);
            th_time one = t->forward + 2 * t->backward - t->weights;
            th_time bubble = time_in_pairs(&s, *t) - busy;
            CU_ASSERT_EQUAL(bubble, (n->stages - 1) * one);
            CU_ASSERT_TRUE(time_of("dualpipe_v", *n, *t) < busy + bubble);
            th_pipeline_clear(&s);
        }
}

/* A pair is the F of one chunk and the B of the other. */
TEST(pairs_of_dualpipe)
{
    th_pipeline_schedule s = made("dualpipe_v", 4, 2, 12);
    for (int32_t stage = 0; stage < 4; stage++) {
        int32_t n = 0;
        for (int32_t i = stage * s.n_ops; i < (stage + 1) * s.n_ops; i++)
            n += th_pipeline_opens_pair(&s, i);
        CU_ASSERT_EQUAL(n, 2 * (12 - 8 + stage + 1) + 3 - stage);
    }
    th_pipeline_clear(&s);
    s = made("zbv", 4, 2, 12);
    for (int32_t i = 0; i < 4 * s.n_ops; i++)
        CU_ASSERT_FALSE(th_pipeline_opens_pair(&s, i));
    th_pipeline_clear(&s);
}

/* Two stages, one micro-batch: F, message, F, B, message, B. */
TEST(messages_delay_the_next_stage)
{
    CU_ASSERT_EQUAL(time_of("1f1b", (th_pipeline_shape){2, 1, 1}, (op_times){7, 13, 0, 3}),
                    7 + 3 + 7 + 13 + 3 + 13);
}

/* ---- what is refused ---- */

static const char *refused(const char *name, th_pipeline_shape n, th_error *err)
{
    th_pipeline_schedule s;
    *err = (th_error){.id = ""};
    CU_ASSERT_EQUAL(th_pipeline_make(th_pipeline_find(name), &n, &s, err), -1);
    return err->id;
}

TEST(numbers_that_do_not_fit)
{
    th_error err;
    TAP_ASSERT_TEXT(refused("interleaved", (th_pipeline_shape){4, 2, 6}, &err), "MAP-0400");
    TAP_ASSERT_TEXT(err.text, "interleaved: 6 micro-batches: must be a multiple of the 4 stages, "
                              "such as 8");
    TAP_ASSERT_TEXT(refused("zbv", (th_pipeline_shape){4, 2, 6}, &err), "MAP-0401");
    TAP_ASSERT_TEXT(refused("dualpipe_v", (th_pipeline_shape){4, 2, 7}, &err), "MAP-0480");
    TAP_ASSERT_TEXT(refused("1f1b", (th_pipeline_shape){4, 2, 6}, &err), "MAP-0402");
    TAP_ASSERT_TEXT(refused("interleaved", (th_pipeline_shape){4, 1, 8}, &err), "MAP-0403");
    TAP_ASSERT_TEXT(refused("gpipe", (th_pipeline_shape){1024, 1, 1 << 20}, &err), "MAP-0404");
}

static int read_schedule(const char *text, th_error *e)
{
    const char *path = "test_pipeline_schedule.txt";
    th_pipeline_schedule s;
    FILE *f = fopen(path, "w");
    CU_ASSERT_FATAL(f && fputs(text, f) >= 0 && fclose(f) == 0);
    int status = th_pipeline_read(path, &s, e);
    if (status == 0)
        th_pipeline_clear(&s);
    remove(path);
    return status;
}

TEST(files)
{
    static const refusing_reader readers[] = {{"file", read_schedule}, {NULL, NULL}};
    assert_refusals("training/pipeline_file.refused", readers);
    CU_ASSERT_EQUAL(read_schedule("# two stages\nF0 F1 B0 B1\nF0 B0 F1 B1\n", NULL), 0);
    CU_ASSERT_EQUAL(read_schedule("turns\nF0 F0.1 B0.1 W0.1 B0 W0\n", NULL), 0);
}

TEST(large_files)
{
    th_error err;
    char *text = th_alloc((16 << 20) + 2);
    memset(text, ' ', (16 << 20) + 1);
    text[(16 << 20) + 1] = '\0';
    CU_ASSERT_EQUAL(read_schedule(text, &err), -1);
    TAP_ASSERT_TEXT(err.id, "BASE-0326");
    th_free(text);
}

TAP_MAIN("pipeline_schedule")
