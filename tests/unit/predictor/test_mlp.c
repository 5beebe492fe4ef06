/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "base/random.h"
#include "predictor/regress/mlp.h"
#include "tests/unit/tap.h"

/* Inputs 3 and 5 with means 1, 2 and scales 0.5, 1 are 1 and 3. Hidden: 1 + 2 1 - 3 = 0, -> 0;
 * 0.5 + 1 + 3 = 4.5. Output: 7 - 2 x 4.5 = -2. */
TEST(a_perceptron_by_hand)
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
static const th_mlp_options options = {.hidden = {16, 16},
                                       .steps = 2000,
                                       .batch = 64,
                                       .learning_rate = 5e-3,
                                       .huber_slope = 0.5,
                                       .seed = 9};

/* |x0| + x1 / 2, and an input that never changes. */
typedef struct {
    float *x, *y;
    size_t n;
} rows;

static void make_rows(rows *l)
{
    auto_rng *rng = th_random_stream(6, "mlp", 0);
    *l = (rows){th_alloc_array(ROWS * WIDTH, sizeof *l->x), th_alloc_array(ROWS, sizeof *l->y),
                ROWS};
    if (!l->x || !l->y)
        CU_FAIL_FATAL("memory");
    for (int i = 0; i < ROWS; i++) {
        float a = (float)(2 * th_random_unit(rng) - 1), b = (float)th_random_unit(rng);
        memcpy(l->x + (size_t)i * WIDTH, (float[]){a, b, 4}, WIDTH * sizeof(float));
        l->y[i] = fabsf(a) + b / 2;
    }
}

static void clear_rows(rows *l)
{
    th_free(l->x);
    th_free(l->y);
}

TEST(learns_and_repeats)
{
    rows l;
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
    clear_rows(&l);
}

/* Off by 3 at slope 4: 16 (sqrt(1 + 9/16) - 1) = 4, and its derivative 3 / 1.25. */
TEST(losses_by_hand)
{
    double derivative;
    CU_ASSERT_DOUBLE_EQUAL(th_mlp_loss(-3, 4, &derivative), 4, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(derivative, -2.4, 1e-12);
}

/* A hidden layer of 37 units, 32 of which go at once: each is rectified, and weighs 1 and -1 in
 * turn. */
TEST(wide_layers_by_hand)
{
    enum { UNITS = 37 };
    static const int sizes[] = {2, UNITS, 1};
    static const float x[] = {3, -5};
    auto_mlp m;
    double expected = 0;
    CU_ASSERT_EQUAL_FATAL(th_mlp_init(&m, sizes, 2), 0);
    m.scale[0] = m.scale[1] = 1;
    for (int j = 0; j < UNITS; j++) {
        m.weight[0][j] = (float)(j % 5);
        m.weight[0][UNITS + j] = (float)(j % 3);
        m.bias[0][j] = (float)j / 4;
        m.weight[1][j] = j % 2 ? -1 : 1;
        expected += (j % 2 ? -1 : 1) * fmax(0, 3 * (j % 5) - 5 * (j % 3) + j / 4.0);
    }
    CU_ASSERT_EQUAL(th_mlp_run(&m, x), expected);
}

TAP_MAIN("mlp")
