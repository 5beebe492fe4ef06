/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/random.h"
#include "predictor/mlp.h"
#include "predictor/residual.h"
#include "tests/unit/tap.h"

/* Inputs 3 and 5 with means 1, 2 and scales 0.5, 1 are 1 and 3. Hidden: 1 + 2 1 - 3 = 0, -> 0;
 * 0.5 + 1 + 3 = 4.5. Output: 7 - 2 x 4.5 = -2. */
static void a_perceptron_by_hand(void)
{
    static const int sizes[] = {2, 2, 1};
    static const float x[] = {3, 5};
    th_mlp m;
    CU_ASSERT_EQUAL_FATAL(th_mlp_init(&m, sizes, 2), 0);
    memcpy(m.mean, (float[]){1, 2}, 2 * sizeof(float));
    memcpy(m.scale, (float[]){0.5f, 1}, 2 * sizeof(float));
    memcpy(m.weight[0], (float[]){2, 1, -1, 1}, 4 * sizeof(float));
    memcpy(m.bias[0], (float[]){1, 0.5f}, 2 * sizeof(float));
    memcpy(m.weight[1], (float[]){100, -2}, 2 * sizeof(float));
    m.bias[1][0] = 7;
    CU_ASSERT_EQUAL(th_mlp_run(&m, x), -2);
    th_mlp_clear(&m);
    CU_ASSERT_EQUAL(th_mlp_run(&m, x), 0);
}

enum { ROWS = 2000, WIDTH = 3 };
static const th_mlp_options options = {
    .hidden = {16, 16}, .steps = 2000, .batch = 64, .rate = 5e-3, .slope = 0.5, .seed = 9};

/* |x0| + x1 / 2, and an input that never changes. */
static void make_rows(th_lesson *l)
{
    gsl_rng *rng = th_random_stream(6, "mlp", 0);
    if (th_lesson_init(l, ROWS, WIDTH))
        CU_FAIL_FATAL("memory");
    for (int i = 0; i < ROWS; i++) {
        float a = (float)(2 * th_random_unit(rng) - 1), b = (float)th_random_unit(rng);
        memcpy(l->x + (size_t)i * WIDTH, (float[]){a, b, 4}, WIDTH * sizeof(float));
        l->y[i] = fabsf(a) + b / 2;
    }
    gsl_rng_free(rng);
}

static void learns_and_repeats(void)
{
    th_lesson l;
    th_mlp m, again;
    make_rows(&l);
    CU_ASSERT_EQUAL_FATAL(th_mlp_train(l.x, l.y, l.n, WIDTH, &options, &m), 0);
    CU_ASSERT_EQUAL_FATAL(th_mlp_train(l.x, l.y, l.n, WIDTH, &options, &again), 0);
    double off = 0;
    for (int i = 0; i < ROWS; i++) {
        double got = th_mlp_run(&m, l.x + i * WIDTH);
        CU_ASSERT_EQUAL(got, th_mlp_run(&again, l.x + i * WIDTH));
        off += fabs(got - (double)l.y[i]) / ROWS;
    }
    CU_ASSERT(off < 0.03); /* a constant is off by 0.25 */
    th_mlp_clear(&m);
    th_mlp_clear(&again);
    th_lesson_clear(&l);
}

/* Trees that say 1 and a perceptron that says 3: right is 1.5, so three quarters and one. */
static void shares_are_weighed(void)
{
    th_residual r = {.trees = {.n = 1}, .mlp = {.n_layers = 1}};
    th_verdict v[] = {{1, 3, 1.5}, {2, -6, 0}, {-1, -3, -1.5}};
    th_residual_weigh(&r, v, 3);
    CU_ASSERT_EQUAL(r.tree_share, 0.75);
    CU_ASSERT_EQUAL(r.mlp_share, 0.25);
    v[0].y = v[1].y = v[2].y = 0;
    th_residual_weigh(&r, v, 3);
    CU_ASSERT(r.tree_share == 0 && r.mlp_share == 0);
}

static void no_memory(void)
{
    th_lesson l;
    make_rows(&l);
    th_mlp_options o = options;
    o.steps = 1;
    int64_t live = th_alloc_live();
    for (int k = 1; k < 60; k++) {
        th_mlp m;
        th_alloc_fail_at(k);
        if (th_mlp_train(l.x, l.y, l.n, WIDTH, &o, &m) == 0)
            th_mlp_clear(&m);
        th_alloc_fail_at(0);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    th_lesson_clear(&l);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(a_perceptron_by_hand),
        TAP(learns_and_repeats),
        TAP(shares_are_weighed),
        TAP(no_memory),
        TAP_END,
    };
    return tap_main("mlp", tests, argc, argv);
}
