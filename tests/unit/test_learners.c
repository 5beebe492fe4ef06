/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/random.h"
#include "predictor/model/jobs.h"
#include "predictor/model/layer_model.h"
#include "predictor/learners/panel.h"
#include "predictor/regress/predictor_text.h"
#include "tests/unit/predict_help.h"

enum { ROWS = 600, OTHER = 2 };
static th_gpus gpus;
static th_op op[ROWS];
static th_layer_model model = {.kind = TH_OP_DENSE, .phase = TH_PHASE_CALL};
static double *weight; /* of a law of calls alone */

/* Dense layers of many sizes, every other one on the second GPU. */
static void make_ops(void)
{
    gsl_rng *rng = th_random_stream(21, "learners", 0);
    for (int i = 0; i < ROWS; i++) {
        op[i] = (th_op){.kind = TH_OP_DENSE};
        op[i].x[TH_OP_BATCH] = 1 + (int32_t)exp(6 * th_random_unit(rng));
        op[i].x[TH_OP_CHANNELS_IN] = 1 + (int32_t)exp(8 * th_random_unit(rng));
        op[i].x[TH_OP_CHANNELS_OUT] = 1 + (int32_t)exp(8 * th_random_unit(rng));
        op[i].x[TH_OP_BIAS] = (int32_t)th_random_below(rng, 2);
    }
    gsl_rng_free(rng);
    th_layer_model_count(&model);
    weight = th_alloc_zero((size_t)model.n_terms, sizeof *weight);
    weight[0] = 1;
}

static double roof(const th_op *o, const th_gpu *gpu)
{
    double bytes = th_op_input_bytes(o) + th_op_weight_bytes(o) + th_op_output_bytes(o);
    return 0.05 + fmax(th_op_flops(o) / (0.5 * gpu->x[TH_GPU_PEAK] * 1e6),
                       bytes / (0.25 * gpu->x[TH_GPU_BANDWIDTH] * 1e6));
}

/* 3 / peak batch^0.5 in^0.8, a quarter more with a bias. */
static double power(const th_op *o, const th_gpu *gpu)
{
    return 3e4 / gpu->x[TH_GPU_PEAK] * pow(o->x[TH_OP_BATCH], 0.5) *
           pow(o->x[TH_OP_CHANNELS_IN], 0.8) * (1 + 0.25 * o->x[TH_OP_BIAS]);
}

static th_lesson make_lesson(bool is_known, double (*truth)(const th_op *, const th_gpu *))
{
    th_lesson l = {.n_devices = OTHER, .is_known = is_known};
    th_sights *s = &l.sights;
    s->n_features = model.n_features;
    s->n_plain = model.n_plain;
    s->row = th_alloc_array(ROWS, sizeof *s->row);
    s->x = th_alloc_array(ROWS, (size_t)s->n_features * sizeof *s->x);
    s->plain = th_alloc_array(ROWS, (size_t)s->n_plain * sizeof *s->plain);
    l.ms = th_alloc_array(ROWS, sizeof *l.ms);
    for (; s->n < ROWS; s->n++) {
        size_t i = s->n;
        const th_gpu *gpu = &gpus.gpu[i % 2];
        th_layer_model_look(&model, &op[i], gpu, is_known ? (int)(i % 2) : OTHER, weight,
                            TH_SEES_FEATURES | TH_SEES_PLAIN, &s->row[i],
                            s->x + i * (size_t)s->n_features, s->plain + i * (size_t)s->n_plain);
        l.ms[i] = truth(&op[i], gpu);
    }
    return l;
}

static void clear_lesson(th_lesson *l)
{
    th_free(l->sights.row);
    th_free(l->sights.x);
    th_free(l->sights.plain);
    th_free(l->ms);
}

/* The mean relative error of what was learned, where it was learned; and that what is written is
 * read. */
static double error_of(const th_learner_type *type, const th_lesson *l, const th_effort *o)
{
    static double said[ROWS], again[ROWS];
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    void *state = NULL, *back = NULL;
    double sum = 0;
    CU_ASSERT_EQUAL_FATAL(type->train(l, o, &state, &e), 0);
    type->run(state, &l->sights, said);
    for (int i = 0; i < ROWS; i++)
        sum += fabs(exp(said[i]) / l->ms[i] - 1);
    type->write(state, &text);
    th_text_reader r = {"text", text.text, 0, &e};
    CU_ASSERT_EQUAL_FATAL(
        type->read(&r, l->n_devices, l->sights.n_features, l->sights.n_plain, &back), 0);
    CU_ASSERT(!r.rest || *r.rest == '\0');
    type->run(back, &l->sights, again);
    CU_ASSERT_EQUAL(memcmp(said, again, sizeof said), 0);
    th_strbuf_clear(&text);
    type->clear(state);
    type->clear(back);
    return sum / ROWS;
}

static void a_roofline_is_found_again(void)
{
    th_lesson known = make_lesson(true, roof), other = make_lesson(false, roof);
    CU_ASSERT(error_of(&th_learner_roofline, &known, NULL) < 1e-3);
    CU_ASSERT(error_of(&th_learner_roofline, &other, NULL) < 1e-3);
    CU_ASSERT(error_of(&th_learner_log_linear, &known, NULL) > 0.1);
    clear_lesson(&known);
    clear_lesson(&other);
}

static void powers_are_found_again(void)
{
    th_lesson known = make_lesson(true, power), other = make_lesson(false, power);
    CU_ASSERT(error_of(&th_learner_log_linear, &known, NULL) < 1e-3);
    CU_ASSERT(error_of(&th_learner_log_linear, &other, NULL) < 1e-3);
    CU_ASSERT(error_of(&th_learner_roofline, &known, NULL) > 0.1);
    clear_lesson(&known);
    clear_lesson(&other);
}

/* A law of one call says 1 ms of everything. Beside it, what the others learn. */
static void the_others_learn(void)
{
    th_lesson l = make_lesson(true, power);
    th_effort o = th_train_defaults.known;
    o.trees = (th_boost_options){.rounds = 60,
                                 .depth = 5,
                                 .rate = 0.2,
                                 .slope = 2,
                                 .least_weight = 2,
                                 .row_share = 1,
                                 .column_share = 1};
    o.mlp.steps = o.perceptron.steps = 600;
    o.mlp.batch = o.perceptron.batch = 64;
    double law = error_of(&th_learner_law, &l, &o);
    CU_ASSERT(error_of(&th_learner_perceptron, &l, &o) < 0.1 * law);
    CU_ASSERT(error_of(&th_learner_law_perceptron, &l, &o) < 0.2 * law);
    if (th_boost_is_there()) {
        CU_ASSERT(error_of(&th_learner_boosting, &l, &o) < 0.2 * law);
        CU_ASSERT(error_of(&th_learner_law_boosting, &l, &o) < 0.2 * law);
    }
    clear_lesson(&l);
}

/* |ln(1 + 3) - ln(1 + 1)| / ln(1 + 3) = 1/2: an absolute error of logarithms, weighted. */
static void the_loss_of_perfnet_by_hand(void)
{
    double derivative, y = log1p(3), answer = log1p(1);
    CU_ASSERT_DOUBLE_EQUAL(th_mlp_loss((answer - y) / y, 0, &derivative), 0.5, 1e-12);
    CU_ASSERT_EQUAL(derivative, -1);
}

/* Two numbers, then two flags: batch, in, out; seconds of operations and bytes; the sheet; bias,
 * relu. */
static void plain_numbers_by_hand(void)
{
    th_op o = {TH_OP_DENSE,
               {[TH_OP_BATCH] = 2,
                [TH_OP_CHANNELS_IN] = 300,
                [TH_OP_CHANNELS_OUT] = 500,
                [TH_OP_BIAS] = 1,
                [TH_OP_ACTIVATION] = TH_ACT_TANH}};
    th_plain p;
    th_plain_fill(&o, &gpus.gpu[0], &p);
    static const float numbers[] = {2,
                                    300,
                                    500,
                                    6e5f / 1.28e12f,
                                    2400 / 1e11f,
                                    6e5f / 1e11f,
                                    4000 / 1e11f,
                                    100,
                                    10,
                                    64,
                                    1000,
                                    1280,
                                    1,
                                    4};
    static const float flags[] = {1, 0, 1, 0};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    CU_ASSERT_EQUAL_FATAL(p.n_numbers, NUMBERS);
    for (int i = 0; i < NUMBERS; i++)
        CU_ASSERT_DOUBLE_EQUAL((double)(p.x[i] / numbers[i]), 1, 1e-5);
    CU_ASSERT_EQUAL(memcmp(p.x + NUMBERS, flags, sizeof flags), 0);
}

/* The law is 1/4 too high in logarithms, log_linear 3/4 too low, the roofline useless: three votes
 * to one. */
static void shares_by_hand(void)
{
    enum { N = 40 };
    double right[N], law[N], linear[N], roofline[N];
    th_panel p;
    th_ballot b = {.right = right, .n = N};
    for (int i = 0; i < N; i++) {
        right[i] = 0.1 * i;
        law[i] = right[i] + 0.25;
        linear[i] = right[i] - 0.75;
        roofline[i] = 5;
    }
    b.said[TH_LEARNER_law] = law;
    CU_ASSERT_DOUBLE_EQUAL(th_panel_choose(&p, &b), exp(0.25) - 1, 1e-12);
    CU_ASSERT(p.n == 1 && p.member[0].share == 1);
    b.said[TH_LEARNER_log_linear] = linear;
    b.said[TH_LEARNER_roofline] = roofline;
    CU_ASSERT_DOUBLE_EQUAL(th_panel_choose(&p, &b), 0, 1e-12);
    CU_ASSERT_EQUAL_FATAL(p.n, 2);
    TAP_ASSERT_TEXT(p.member[0].type->name, "log_linear");
    CU_ASSERT(p.member[0].share == 0.25 && p.member[1].share == 0.75);
    CU_ASSERT_EQUAL(th_ballot_error(&b, TH_LEARNER_boosting), INFINITY);
    b.n = 0;
    th_panel_choose(&p, &b);
    CU_ASSERT_EQUAL_FATAL(p.n, 1);
    TAP_ASSERT_TEXT(p.member[0].type->name, "law");
}

static int square(void *state, int i, th_error *err)
{
    int *out = state;
    out[i] += i * i;
    return i == 70 || i == 90 ? th_error_set(err, "TEST-0001", "piece %d", i) : 0;
}

static void jobs_are_done_once(void)
{
    for (int threads = 0; threads <= 4; threads++) {
        int out[100] = {0};
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_jobs_run(square, out, 70, threads, &e), 0);
        for (int i = 0; i < 100; i++)
            CU_ASSERT_EQUAL(out[i], i < 70 ? i * i : 0);
        CU_ASSERT_EQUAL(th_jobs_run(square, out, 100, threads, &e), -1);
        TAP_ASSERT_TEXT(e.text, "piece 70");
    }
    th_error e = {"", ""};
    int out[100] = {0};
    th_jobs_run(square, out, 100, 1, &e);
    TAP_ASSERT_TEXT(e.text, "piece 70");
    CU_ASSERT(out[70] == 4900 && out[71] == 0);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(a_roofline_is_found_again), TAP(powers_are_found_again),
        TAP(the_others_learn),          TAP(the_loss_of_perfnet_by_hand),
        TAP(plain_numbers_by_hand),     TAP(shares_by_hand),
        TAP(jobs_are_done_once),        TAP_END,
    };
    gpus = two_gpus();
    make_ops();
    int status = tap_main("learners", tests, argc, argv);
    th_free(weight);
    th_gpus_clear(&gpus);
    return status;
}
