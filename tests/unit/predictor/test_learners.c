/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "base/random.h"
#include "base/jobs.h"
#include "predictor/model/layer_model.h"
#include "predictor/learners/ensemble.h"
#include "predictor/regress/predictor_text.h"
#include "tests/unit/predict_help.h"

enum { ROWS = 600 };
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

/* 3 / peak batch^0.5 in^0.8, a quarter more with a bias. */
static double power(const th_op *o, const th_gpu *gpu)
{
    return 3e4 / gpu->x[TH_GPU_PEAK] * pow(o->x[TH_OP_BATCH], 0.5) *
           pow(o->x[TH_OP_CHANNELS_IN], 0.8) * (1 + 0.25 * o->x[TH_OP_BIAS]);
}

static th_training_set make_set(void)
{
    th_training_set t = {.ms = th_alloc_array(ROWS, sizeof *t.ms)};
    th_samples *s = &t.samples;
    s->n_features = model.n_features;
    s->law_ms = th_alloc_array(ROWS, sizeof *s->law_ms);
    s->x = th_alloc_array(ROWS, (size_t)s->n_features * sizeof *s->x);
    for (; s->n < ROWS; s->n++) {
        size_t i = s->n;
        const th_gpu *gpu = &gpus.gpu[i % 2];
        s->law_ms[i] =
            th_layer_model_sample(&model, &op[i], gpu, weight, s->x + i * (size_t)s->n_features);
        t.ms[i] = power(&op[i], gpu);
    }
    return t;
}

static void clear_set(th_training_set *t)
{
    th_free(t->samples.law_ms);
    th_free(t->samples.x);
    th_free(t->ms);
}

/* The mean relative training error; and the text of the learner predicts the same. */
static double error_of(const th_learner_type *type, const th_training_set *t,
                       const th_hyper_parameters *h)
{
    static double predicted[ROWS], again[ROWS];
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    void *state = NULL, *back = NULL;
    double sum = 0;
    CU_ASSERT_EQUAL_FATAL(th_learner_train(type, t, h, &state, &e), 0);
    th_learner_run(type, state, &t->samples, predicted);
    for (int i = 0; i < ROWS; i++)
        sum += fabs(exp(predicted[i]) / t->ms[i] - 1);
    th_text_io writer = {.out = &text};
    CU_ASSERT_EQUAL_FATAL(th_learner_text(type, &writer, t->samples.n_features, &state), 0);
    th_text_io reader = {.path = "text", .rest = text.text, .err = &e};
    CU_ASSERT_EQUAL_FATAL(th_learner_text(type, &reader, t->samples.n_features, &back), 0);
    CU_ASSERT(!reader.rest || *reader.rest == '\0');
    th_learner_run(type, back, &t->samples, again);
    CU_ASSERT_EQUAL(memcmp(predicted, again, sizeof predicted), 0);
    th_strbuf_clear(&text);
    th_learner_clear(type, state);
    th_learner_clear(type, back);
    return sum / ROWS;
}

/* A law of one call predicts 1 ms for everything; the other learners fit its residuals. */
TEST(residuals_are_learned)
{
    th_training_set t = make_set();
    th_hyper_parameters h = th_train_defaults.seen;
    h.trees = (th_boost_options){.rounds = 60,
                                 .depth = 5,
                                 .learning_rate = 0.2,
                                 .huber_slope = 2,
                                 .min_child_weight = 2,
                                 .subsample = 1,
                                 .colsample = 1};
    h.mlp.steps = 600;
    h.mlp.batch = 64;
    double law = error_of(&th_learner_law, &t, &h);
    CU_ASSERT(error_of(&th_learner_law_perceptron, &t, &h) < 0.2 * law);
    if (th_boost_is_available())
        CU_ASSERT(error_of(&th_learner_law_boosting, &t, &h) < 0.2 * law);
    clear_set(&t);
}

/* The law is 1/4 too high in logarithms, law_boosting 3/4 too low, law_perceptron useless: the law
 * is added three times as often. */
TEST(shares_by_hand)
{
    enum { N = 40 };
    double measured[N], law[N], low[N], useless[N];
    th_ensemble p;
    th_fold_predictions b = {.measured = measured, .n = N};
    for (int i = 0; i < N; i++) {
        measured[i] = 0.1 * i;
        law[i] = measured[i] + 0.25;
        low[i] = measured[i] - 0.75;
        useless[i] = 5;
    }
    b.predicted[TH_LEARNER_law] = law;
    CU_ASSERT_DOUBLE_EQUAL(th_ensemble_select(&p, &b), exp(0.25) - 1, 1e-12);
    CU_ASSERT(p.n == 1 && p.member[0].share == 1);
    CU_ASSERT_EQUAL(th_fold_predictions_error(&b, TH_LEARNER_law_boosting), INFINITY);
    b.predicted[TH_LEARNER_law_boosting] = low;
    b.predicted[TH_LEARNER_law_perceptron] = useless;
    CU_ASSERT_DOUBLE_EQUAL(th_ensemble_select(&p, &b), 0, 1e-12);
    CU_ASSERT_EQUAL_FATAL(p.n, 2);
    TAP_ASSERT_TEXT(p.member[0].type->name, "law");
    CU_ASSERT(p.member[0].share == 0.75 && p.member[1].share == 0.25);
    b.n = 0;
    th_ensemble_select(&p, &b);
    CU_ASSERT_EQUAL_FATAL(p.n, 1);
    TAP_ASSERT_TEXT(p.member[0].type->name, "law");
}

static int square(void *state, int i, th_error *err)
{
    int *out = state;
    out[i] += i * i;
    return i == 70 || i == 90 ? th_error_set(err, "TEST-0001", "piece %d", i) : 0;
}

TEST(jobs_are_done_once)
{
    for (int threads = 0; threads <= 4; threads++) {
        int out[100] = {0};
        th_error e = {"", ""};
        CU_ASSERT_EQUAL(th_jobs_run(square, NULL, out, 70, threads, &e), 0);
        for (int i = 0; i < 100; i++)
            CU_ASSERT_EQUAL(out[i], i < 70 ? i * i : 0);
        CU_ASSERT_EQUAL(th_jobs_run(square, NULL, out, 100, threads, &e), -1);
        TAP_ASSERT_TEXT(e.text, "piece 70");
    }
    th_error e = {"", ""};
    int out[100] = {0};
    th_jobs_run(square, NULL, out, 100, 1, &e);
    TAP_ASSERT_TEXT(e.text, "piece 70");
    CU_ASSERT(out[70] == 4900 && out[71] == 0);
}

static int read_ensemble(const char *text, th_error *e)
{
    th_ensemble p = {.n = 0};
    char lines[200]; /* which the reader changes */
    snprintf(lines, sizeof lines, "%s", text);
    th_text_io io = {.path = "text", .rest = lines, .err = e};
    int failed = th_ensemble_text(&io, "seen", model.n_features, &p);
    CU_ASSERT_TRUE(failed || (p.n == 1 && p.member[0].share == 0.5));
    th_ensemble_clear(&p);
    return failed;
}

TEST(texts_that_are_no_ensemble)
{
    static const char *const texts[] = {
        "",
        "ensemble seen\n",
        "ensemble unseen members 1\nmember law share 0.5\n",
        "ensemble seen members 0\n",
        "ensemble seen members 99\nmember law share 0.5\n",
        "ensemble seen members 1\n",
        "ensemble seen members 1\nmember lawless share 0.5\n",
        "ensemble seen members 1\nmember law share nan\n",
        "ensemble seen members 1\nmember law_perceptron share 1\nno perceptron\n"};
    th_error e = {"", ""};
    int64_t live = th_alloc_live();
    CU_ASSERT_EQUAL(read_ensemble("ensemble seen members 1\nmember law share 0.5\n", &e), 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        e = (th_error){"", ""};
        CU_ASSERT_EQUAL(read_ensemble(texts[i], &e), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "text:"));
    }
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

static void make_all(void)
{
    gpus = two_gpus();
    make_ops();
}

TAP_MAIN_WITH("learners", make_all)
