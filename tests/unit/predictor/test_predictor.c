/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "base/map.h"
#include "base/random.h"
#include "predictor/model/calibration.h"
#include "predictor/model/calibration_sum.h"
#include "predictor/model/predictor.h"
#include "predictor/op/make_op.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/predict_help.h"

enum { ROWS = 400 };

static th_gpus gpus;
static th_measurements *all;
static size_t rows[2 * ROWS];

/* What these GPUs take, of all the law knows: a call, the weights at half the bandwidth, and the
 * output's way to the host at 10 GB/s. */
static double truth(const th_op *op, const th_gpu *gpu)
{
    return 0.25 + 2 * th_op_weight_bytes(op) / (gpu->x[TH_GPU_BANDWIDTH] * 1e6) +
           th_op_output_bytes(op) / 1e7;
}

static void measure(void)
{
    auto_rng *rng = th_random_stream(11, "predictor", 0);
    char *text = th_alloc_zero(1, 1 << 20), *at = text;
    at += sprintf(at, "row_id,batchsize,dim_input,dim_output,activation_fct,time_median_small,"
                      "time_median_large\n");
    for (int i = 0; i < ROWS; i++) {
        th_op op = {TH_OP_DENSE,
                    {[TH_OP_BATCH] = 1 + (int32_t)th_random_below(rng, 64),
                     [TH_OP_CHANNELS_IN] = 1 + (int32_t)th_random_below(rng, 4096),
                     [TH_OP_CHANNELS_OUT] = 1 + (int32_t)th_random_below(rng, 4096)}};
        at +=
            sprintf(at, "%d,%d,%d,%d,0,%.9g,%.9g\n", i, op.x[TH_OP_BATCH], op.x[TH_OP_CHANNELS_IN],
                    op.x[TH_OP_CHANNELS_OUT], truth(&op, &gpus.gpu[0]), truth(&op, &gpus.gpu[1]));
    }
    auto_file f = write_text("dense.csv", text);
    th_measurement_source source = {.path = f.path};
    all = th_measurements_new();
    if (!all || th_measurements_read(all, &source, &gpus, NULL))
        abort();
    for (size_t i = 0; i < 2 * ROWS; i++)
        rows[i] = i;
    th_free(text);
}

static th_predictor *train_by(int learner, int threads)
{
    th_train_options o = th_train_defaults;
    th_error e = {"", ""};
    o.learner = learner;
    o.threads = threads;
    o.seen.trees.rounds = o.unseen.trees.rounds = 5;
    o.seen.mlp.steps = o.unseen.mlp.steps = 20;
    th_predictor *p = th_predictor_train(all, rows, 2 * ROWS, &o, &e);
    if (!p)
        printf("# %s\n", e.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    return p;
}

static th_predictor *train(void)
{
    return train_by(TH_CHOICE_AUTO, 1);
}

static th_op dense(int32_t batch, int32_t in, int32_t out)
{
    return (th_op){TH_OP_DENSE,
                   {[TH_OP_BATCH] = batch, [TH_OP_CHANNELS_IN] = in, [TH_OP_CHANNELS_OUT] = out}};
}

/* Weights per device: 0.25 ms, 2, and 1. So a third GPU is known as well. */
TEST(the_law_is_found_again)
{
    th_gpu third = gpus.gpu[0];
    th_op op = dense(33, 3000, 2000);
    auto_predictor *p = train();
    const th_layer_model *m = th_predictor_find(p, TH_OP_DENSE, TH_PHASE_CALL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    snprintf(third.name, sizeof third.name, "third");
    third.x[TH_GPU_BANDWIDTH] = 400;
    const th_gpu *each[] = {&gpus.gpu[0], &gpus.gpu[1], &third};
    for (int i = 0; i < 3; i++)
        CU_ASSERT_DOUBLE_EQUAL(th_layer_model_predict(m, &op, each[i]) / truth(&op, each[i]), 1,
                               0.01);
    CU_ASSERT(th_layer_model_has_seen(m, each[0]) && !th_layer_model_has_seen(m, each[2]));
    CU_ASSERT_PTR_NULL(th_predictor_find(p, TH_OP_CONV, TH_PHASE_CALL));
    CU_ASSERT_PTR_NULL(th_predictor_gpu(p, "third"));
    CU_ASSERT_PTR_NOT_NULL(th_predictor_gpu(p, "large"));
}

TEST(says_what_lies_outside)
{
    char text[200] = "";
    th_gpu faster = gpus.gpu[1];
    th_op inside = dense(8, 1000, 1000), outside = dense(8, 1000, 5000);
    auto_predictor *p = train();
    const th_layer_model *m = &p->model[0];
    CU_ASSERT(!th_layer_model_is_outside(m, &inside, &gpus.gpu[0], text, sizeof text));
    CU_ASSERT(th_layer_model_is_outside(m, &outside, &gpus.gpu[0], text, sizeof text));
    CU_ASSERT(strstr(text, "channels_out 5000: training had ") == text);
    snprintf(faster.name, sizeof faster.name, "faster");
    CU_ASSERT(!th_layer_model_is_outside(m, &inside, &faster, text, sizeof text));
    faster.x[TH_GPU_SMS] = 132;
    CU_ASSERT(th_layer_model_is_outside(m, &inside, &faster, text, sizeof text));
    TAP_ASSERT_TEXT(text, "sms 132 of faster: training had 10 to 80");
}

TEST(is_evaluated_per_device)
{
    th_accuracy *a = NULL;
    th_error e = {"", ""};
    auto_predictor *p = train();
    int n = th_predictor_evaluate(p, all, rows, 2 * ROWS, &a, &e);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT(a[0].device == 0 && a[1].device == 1 && a[2].device == -1);
    CU_ASSERT(a[0].n == ROWS && a[2].n == 2 * ROWS);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT(a[i].mape < 0.01 && a[i].median <= a[i].p95 && a[i].r2 > 0.999);
        CU_ASSERT(a[i].rmse_ms > 0 && a[i].rmse_ms < 0.1);
    }
    th_free(a);
    CU_ASSERT_EQUAL(th_predictor_evaluate(p, all, rows, 0, &a, &e), 0);
    th_free(a);
}

/* Measurements of a GPU that training did not have: half as fast at everything, and 0.5 ms of host
 * more. */
static double truth_elsewhere(const th_op *op, const th_gpu *gpu)
{
    return 0.5 + 2 * truth(op, gpu);
}

/* `dense` rows of the new GPU, each of another size. */
static th_measurements *measure_elsewhere(int n, th_gpu *gpu)
{
    char text[4000], *at = text;
    auto_gpus known = two_gpus();
    th_error e = {"", ""};
    *gpu = known.gpu[1];
    snprintf(known.gpu[1].name, sizeof known.gpu[1].name, "elsewhere");
    snprintf(gpu->name, sizeof gpu->name, "elsewhere");
    at += sprintf(at, "kind,device,phase,batch,channels_in,channels_out,time_ms\n");
    for (int i = 0; i < n; i++) {
        th_op op = dense(1 + 7 * i % 64, 1 + i * 631 % 4096, 1 + i * 1733 % 4096);
        at += sprintf(at, "dense,elsewhere,call,%d,%d,%d,%.9g\n", op.x[TH_OP_BATCH],
                      op.x[TH_OP_CHANNELS_IN], op.x[TH_OP_CHANNELS_OUT], truth_elsewhere(&op, gpu));
    }
    auto_file f = write_text("few.csv", text);
    th_measurement_source source = {.path = f.path};
    th_measurements *few = th_measurements_new();
    if (!few || th_measurements_read(few, &source, &known, &e))
        CU_FAIL_FATAL("measurements");
    return few;
}

static double error_elsewhere(const th_layer_model *m, const th_gpu *gpu)
{
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        th_op op = dense(1 + i % 64, 40 * (i + 1), 4040 - 40 * i);
        sum += fabs(th_layer_model_predict(m, &op, gpu) / truth_elsewhere(&op, gpu) - 1);
    }
    return sum / 100;
}

static th_strbuf text_of(const th_predictor *p);

TEST(a_few_rows_calibrate)
{
    th_error e = {"", ""};
    th_gpu gpu;
    auto_predictor *p = train();
    auto_measurements *few = measure_elsewhere(20, &gpu), *fewer = measure_elsewhere(7, &gpu);
    th_op op = dense(33, 3000, 2000);
    double known = th_layer_model_predict(&p->model[0], &op, &gpus.gpu[0]);
    CU_ASSERT(error_elsewhere(&p->model[0], &gpu) > 0.4);
    CU_ASSERT_EQUAL(th_predictor_calibrate(p, few, &e), 0);
    CU_ASSERT(error_elsewhere(&p->model[0], &gpu) < 0.06);
    CU_ASSERT_EQUAL(th_layer_model_predict(&p->model[0], &op, &gpus.gpu[0]), known);
    CU_ASSERT(!th_layer_model_has_seen(&p->model[0], &gpu));
    CU_ASSERT_PTR_NOT_NULL(th_predictor_gpu(p, "elsewhere"));
    auto_strbuf a = text_of(p);
    auto_file f = write_text("p.model", a.text);
    auto_predictor *back = th_predictor_read(f.path, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(th_layer_model_predict(&back->model[0], &op, &gpu),
                    th_layer_model_predict(&p->model[0], &op, &gpu));
    CU_ASSERT_EQUAL(th_predictor_calibrate(p, fewer, &e), -1);
    TAP_ASSERT_TEXT(e.text,
                    "calibration, dense, call on elsewhere: must have 8 rows or more, has 7");
    few->row[0].op.kind = TH_OP_NORM;
    few->n_rows = 1;
    CU_ASSERT_EQUAL(th_predictor_calibrate(p, few, &e), -1);
    TAP_ASSERT_TEXT(e.text, "calibration: must have rows of a kind and phase of the predictor");
}

/* 0.3 ms and twice the second of three regressors, none of the part: found again, but for the
 * ridge. */
TEST(a_sum_is_found_again)
{
    enum { N = 20, VOICES = 3, ADDENDS = 4 };
    double said[ADDENDS * N], ms[N], least = 1;
    th_regressor regressor[ADDENDS] = {
        {0, false, -1, 0}, {1, false, -1, 0}, {1, true, -1, 0}, {0, false, TH_TERM_MEMORY, 0}};
    const th_regressors regressors = {said, regressor, ADDENDS, VOICES};
    th_calibration_sum sum;
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < ADDENDS; k++)
            said[k * N + i] = 0.1 + (double)(th_hash_word(k, i) % 1000) / 1000;
        ms[i] = i == 7 ? 40 : 0.3 + 2 * said[N + i];
    }
    CU_ASSERT_EQUAL_FATAL(th_calibration_sum_fit(&regressors, ms, N, &sum), 0);
    CU_ASSERT_EQUAL(sum.n, ADDENDS);
    for (size_t i = 0; i < N; i++) {
        double off = fabs(th_calibration_sum_at(&sum, said, N, i) / ms[i] - 1);
        CU_ASSERT(i == 7 ? off > 0.9 : off < 0.1);
        least = fmin(least, off);
    }
    CU_ASSERT(least < 0.01);
    CU_ASSERT(sum.regressor[1].device == 1 && fabs(sum.regressor[1].weight - 2) < 0.2);
    CU_ASSERT(sum.regressor[3].part == TH_TERM_MEMORY && sum.regressor[3].weight < 0.1);
}

/* The GPU equals a device of training in all but name, so nothing is corrected; but every other row
 * was disturbed, by 2.5 or 1 / 2.5. What is said afterwards must hardly be further off where
 * nothing was disturbed. */
TEST(rows_that_mislead_change_little)
{
    th_error e = {"", ""};
    th_gpu gpu;
    auto_predictor *p = train();
    auto_measurements *few = measure_elsewhere(20, &gpu);
    double before = 0, after = 0;
    for (size_t i = 0; i < few->n_rows; i++)
        few->row[i].ms = truth(&few->row[i].op, &gpu) * (i % 4 == 1 ? 2.5 : i % 4 == 3 ? 0.4 : 1);
    for (int calibrated = 0; calibrated < 2; calibrated++) {
        for (int i = 0; i < 100; i++) {
            th_op op = dense(1 + i % 64, 40 * (i + 1), 4040 - 40 * i);
            double error =
                fabs(th_layer_model_predict(&p->model[0], &op, &gpu) / truth(&op, &gpu) - 1);
            *(calibrated ? &after : &before) += error / 100;
        }
        if (!calibrated)
            CU_ASSERT_EQUAL(th_predictor_calibrate(p, few, &e), 0);
    }
    CU_ASSERT(before < 0.02);
    CU_ASSERT(after < before + 0.02);
}

/* 1 .. 100 hundredths below what is predicted: a tenth and nine tenths lie at -0.901 and -0.109;
 * then the same for longer times, twice as far. */
TEST(quantiles_by_hand)
{
    enum { N = 100 };
    double predicted[2 * N], measured[2 * N], low, high;
    th_residual_quantiles s;
    for (int i = 0; i < N; i++) {
        predicted[i] = 0.001 * i;
        measured[i] = predicted[i] + (i % 2 ? 0.01 : -0.01) * (i + 1);
        predicted[N + i] = 5 + 0.001 * i;
        measured[N + i] = predicted[N + i] - 0.01 * (i + 1);
    }
    CU_ASSERT_EQUAL(th_residual_quantiles_fit(&s, predicted + N, measured + N, 79), 0);
    CU_ASSERT_EQUAL(s.n_bins, 1);
    th_residual_quantiles_at(&s, 0, &low, &high);
    CU_ASSERT_DOUBLE_EQUAL(low, -0.01 * (79 - 7.8), 1e-9);
    CU_ASSERT_EQUAL(high, -0.0);
    CU_ASSERT_EQUAL(th_residual_quantiles_fit(&s, predicted, measured, 2 * N), 0);
    CU_ASSERT_EQUAL(s.n_bins, 5);
    CU_ASSERT_EQUAL(s.bin[1].ln_ms, predicted[79]);
    for (int i = 0; i < N; i++) {
        predicted[i] = 0;
        measured[i] = i % 2 == 0 ? 0.3 : -0.1;
    }
    CU_ASSERT_EQUAL(th_residual_quantiles_fit(&s, predicted, measured, 79), 0);
    CU_ASSERT(s.bin[0].low == -0.1 && s.bin[0].high == 0.3);
    CU_ASSERT_EQUAL(th_residual_quantiles_fit(&s, predicted, measured, 0), 0);
    th_residual_quantiles_at(&s, 0, &low, &high);
    CU_ASSERT(high == log(2) && low == -high);
}

/* Operations that differ in rows and keys alone are of one family. */
TEST(families)
{
    th_families f = {.n = 0};
    th_op a = th_op_product(10, 20, 30, TH_PRECISION_FP16),
          more = th_op_product(99, 20, 30, TH_PRECISION_BF16),
          wider = th_op_product(10, 20, 31, TH_PRECISION_FP16);
    CU_ASSERT_EQUAL(th_family_of(&a), th_family_of(&more));
    CU_ASSERT_NOT_EQUAL(th_family_of(&a), th_family_of(&wider));
    static const uint64_t some[] = {7, 3, UINT64_MAX, 3, 5, 7};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        CU_ASSERT_EQUAL(th_families_add(&f, some[i]), 0);
    CU_ASSERT_EQUAL(f.n, 4);
    CU_ASSERT(th_families_find(&f, 3) == 0 && th_families_find(&f, 7) == 2 &&
              th_families_find(&f, UINT64_MAX) == 3 && th_families_find(&f, 4) == -1);
    for (uint64_t i = 100; i < 100 + 2 * TH_FAMILIES_MAX; i++)
        CU_ASSERT_EQUAL(th_families_add(&f, i), 0);
    CU_ASSERT_EQUAL(f.n, TH_FAMILIES_MAX + 1);
    th_families_clear(&f);
}

/* Times that stray by a factor of exp(+-0.3), evenly: of other rows four in five lie in the
 * interval. */
static double strayed(int i, const th_op *op, const th_gpu *gpu)
{
    return truth(op, gpu) * exp(0.6 * (th_hash_word(5, (uint64_t)i) % 1000 / 999.0 - 0.5));
}

TEST(intervals_hold_four_in_five)
{
    th_measurements *m = all;
    int inside = 0;
    for (size_t i = 0; i < m->n_rows; i++)
        m->row[i].ms = strayed((int)i, &m->row[i].op, &m->device[m->row[i].device]);
    auto_predictor *p = train();
    for (int i = 0; i < 1000; i++) {
        th_op op = dense(1 + i % 64, 1 + i * 631 % 4096, 1 + i * 1733 % 4096);
        const th_gpu *gpu = &gpus.gpu[i % 2];
        double ms = strayed(5000 + i, &op, gpu);
        th_estimate e = th_layer_model_estimate(&p->model[0], &op, gpu);
        CU_ASSERT(e.low_ms <= e.ms && e.ms <= e.high_ms);
        inside += ms >= e.low_ms && ms <= e.high_ms;
    }
    CU_ASSERT(inside > 740 && inside < 880);
    th_op near = dense(8, 4000, 4000), far = dense(8, 4000, 400000);
    th_estimate a = th_layer_model_estimate(&p->model[0], &near, &gpus.gpu[0]),
                b = th_layer_model_estimate(&p->model[0], &far, &gpus.gpu[0]);
    double wide = log(b.high_ms / b.low_ms) / log(a.high_ms / a.low_ms);
    CU_ASSERT(wide > 1.5 && wide < 3); /* twice as wide as a bin of the training data, no wider */
    for (size_t i = 0; i < m->n_rows; i++)
        m->row[i].ms = truth(&m->row[i].op, &m->device[m->row[i].device]);
}

static th_strbuf text_of(const th_predictor *p)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_predictor_write(p, &text);
    CU_ASSERT(!text.failed);
    return text;
}

TEST(written_and_read_is_the_same)
{
    th_error e = {"", ""};
    auto_predictor *p = train(), *q = train();
    auto_strbuf a = text_of(p), b = text_of(q);
    TAP_ASSERT_TEXT(a.text, b.text);
    auto_file f = write_text("p.model", a.text);
    auto_predictor *back = th_predictor_read(f.path, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    auto_strbuf c = text_of(back);
    TAP_ASSERT_TEXT(c.text, a.text);
    th_op op = dense(7, 77, 777);
    CU_ASSERT_EQUAL(th_layer_model_predict(&back->model[0], &op, &gpus.gpu[0]),
                    th_layer_model_predict(&p->model[0], &op, &gpus.gpu[0]));
}

static void assert_refused(const char *text, const char *id, const char *why)
{
    th_error e = {"", ""};
    auto_file f = write_text("p.model", text);
    CU_ASSERT_PTR_NULL(th_predictor_read(f.path, &e));
    const char *at = strstr(e.text, "p.model");
    TAP_ASSERT_TEXT(e.id, id);
    TAP_ASSERT_TEXT(at ? at : e.text, why);
}

TEST(changed_files_are_refused)
{
    static const char changed[] =
        "p.model: its digest is not that of its text: was cut short or changed by hand";
    auto_predictor *p = train();
    auto_strbuf text = text_of(p);
    assert_refused("", "PRED-0081", "p.model: must begin with \"tharsis-predictor VERSION\"");
    assert_refused("tharsis-predictor 99 digest 0\n", "PRED-0082",
                   "p.model: has version 99: must have 10; train it again");
    char *digit = strstr(text.text, "term ") + 5;
    char was = *digit;
    *digit = was == '7' ? '8' : '7';
    assert_refused(text.text, "PRED-0083", changed);
    *digit = was;
    text.text[text.length / 2] = '\0';
    assert_refused(text.text, "PRED-0083", changed);
}

/* A text with a digest of its own: a reader must not trust what it says. */
static void assert_body_refused(const char *body, const char *where)
{
    auto_strbuf text = TH_STRBUF_INIT;
    char why[100];
    th_strbuf_printf(&text, "tharsis-predictor 10 digest %016llx\n%s",
                     (unsigned long long)th_hash(body, strlen(body), 0), body);
    snprintf(why, sizeof why, "p.model:%s: is no line of a predictor", where);
    assert_refused(text.text, "PRED-0080", why);
}

TEST(nonsense_is_refused)
{
#define HEAD "trained 0 rows 1 layers 1\n"
    assert_body_refused("trained 0 rows 1 layers 0\n", "2");
    assert_body_refused(HEAD, "2");
    assert_body_refused(HEAD "layer lstm call single features 1\n", "3");
    assert_body_refused(HEAD "layer dense call single features 1\n", "3");
    assert_body_refused(HEAD "layer norm execution single features 20\ndevices 0\n", "3");
}

static th_predictor *train_on_one(size_t *of_one, size_t *n, th_error *e)
{
    th_train_options o = th_train_defaults;
    *n = 0;
    for (size_t i = 0; i < all->n_rows; i++)
        if (all->row[i].device == 0)
            of_one[(*n)++] = i;
    o.learner = TH_CHOICE_SINGLE + TH_LEARNER_law;
    return th_predictor_train(all, of_one, *n, &o, e);
}

/* No data show how devices differ: the law predicts the others, and how far they are off is known
 * of other kernels, in single precision exp(1.28 * 0.29) either way. */
TEST(one_device_alone)
{
    static size_t of_one[ROWS];
    size_t n;
    th_error e = {"", ""};
    auto_predictor *p = train_on_one(of_one, &n, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    const th_layer_model *m = &p->model[0];
    th_op op = dense(33, 3000, 2000);
    CU_ASSERT(m->unseen.scores.n == 0 && m->seen.scores.n > 0);
    th_estimate known = th_layer_model_estimate(m, &op, &gpus.gpu[0]),
                other = th_layer_model_estimate(m, &op, &gpus.gpu[1]);
    CU_ASSERT_DOUBLE_EQUAL(known.ms / truth(&op, &gpus.gpu[0]), 1, 0.01);
    CU_ASSERT(known.high_ms < 1.01 * known.ms);
    CU_ASSERT_DOUBLE_EQUAL(log(other.high_ms / other.ms), 1.2816 * 0.29, 0.001);
    CU_ASSERT_DOUBLE_EQUAL(log(other.ms / other.low_ms), 1.2816 * 0.29, 0.001);
    all->row[of_one[3]].ms = NAN;
    CU_ASSERT_PTR_NULL(train_on_one(of_one, &n, &e));
    TAP_ASSERT_ERROR(e, "PRED-0092",
                     "measurements: row 4, dense, call on small: time nan: must be above 0");
    all->row[of_one[3]].ms = truth(&all->row[of_one[3]].op, &gpus.gpu[0]);
}

/* Devices whose kernels take longer or shorter by normal factors of 0.29 in logarithms, and whose
 * rows stray as those of the one that was measured. */
TEST(intervals_of_one_device_hold_four_in_five_of_others)
{
    enum { OTHERS = 500, UNIFORMS = 12 };
    static size_t of_one[ROWS];
    size_t n;
    th_error e = {"", ""};
    int inside = 0;
    auto_rng *rng = th_random_stream(3, "devices", 0);
    for (size_t i = 0; i < all->n_rows; i++)
        all->row[i].ms = strayed((int)i, &all->row[i].op, &gpus.gpu[all->row[i].device]);
    auto_predictor *p = train_on_one(of_one, &n, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    for (int d = 0; d < OTHERS; d++) {
        double normal = -UNIFORMS / 2;
        for (int k = 0; k < UNIFORMS; k++)
            normal += th_random_unit(rng);
        for (int i = 0; i < 4; i++) {
            th_op op =
                dense(1 + (4 * d + i) % 64, 1 + (4 * d + i) * 631 % 4096, 1 + d * 173 % 4096);
            th_estimate t = th_layer_model_estimate(&p->model[0], &op, &gpus.gpu[1]);
            double ms = strayed(9000 + 4 * d + i, &op, &gpus.gpu[1]) * exp(0.29 * normal);
            inside += ms >= t.low_ms && ms <= t.high_ms;
        }
    }
    CU_ASSERT(inside > OTHERS * 4 * 0.74 && inside < OTHERS * 4 * 0.88);
    for (size_t i = 0; i < all->n_rows; i++)
        all->row[i].ms = truth(&all->row[i].op, &gpus.gpu[all->row[i].device]);
}

static int train_100(const void *options, th_error *e)
{
    th_predictor *p = th_predictor_train(all, rows, 100, options, e);
    th_predictor_free(p);
    return p ? 0 : -1;
}

TEST(too_few_rows_and_no_memory)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_predictor_train(all, rows, 49, &th_train_defaults, &e));
    TAP_ASSERT_TEXT(e.text, "dense, call: must have 50 rows or more, has 49");
    CU_ASSERT_PTR_NULL(th_predictor_train(all, rows, 0, &th_train_defaults, &e));
    TAP_ASSERT_TEXT(e.id, "PRED-0070");
    th_train_options o = th_train_defaults;
    o.seen.trees.rounds = o.unseen.trees.rounds = 1;
    o.seen.mlp.steps = o.unseen.mlp.steps = 2;
    o.threads = 1;
    CU_ASSERT_TRUE(fail_each_allocation(train_100, &o) > 40);
}

static void make_all(void)
{
    gpus = two_gpus();
    measure();
}

TAP_MAIN_WITH("predictor", make_all)
