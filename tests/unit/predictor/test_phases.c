/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "predictor/model/phases.h"
#include "tests/unit/learned_help.h"

static bool near(double got, double expected)
{
    return fabs(got / expected - 1) < 0.03;
}

/* Large enough that every part is in the time: 64 x 2000 to 1900 on the small GPU (100 GB/s) moves
 * 0.512 + 15.2 + 0.4864 MB: 0.16198 ms; 0.25 ms are the host's, 0.04864 ms the output's way at 10
 * GB/s. */
TEST(a_call_is_split_by_its_law)
{
    const th_op_kind kind = TH_OP_DENSE;
    const th_phase phase = TH_PHASE_CALL;
    auto_gpus gpus = two_gpus();
    auto_predictor *p = learned_new(&kind, &phase, 1);
    th_op op = {TH_OP_DENSE,
                {[TH_OP_BATCH] = 64, [TH_OP_CHANNELS_IN] = 2000, [TH_OP_CHANNELS_OUT] = 1900}};
    th_phases x;
    CU_ASSERT_EQUAL_FATAL(th_phases_predict(p, &op, &gpus.gpu[0], &x, NULL), 0);
    CU_ASSERT_TRUE(x.is_estimated && !x.is_by_rule && x.layout_ms == 0);
    CU_ASSERT_TRUE(near(x.launch_ms, 0.25));
    CU_ASSERT_TRUE(near(x.execution_ms + x.return_ms, 0.16198 + 0.04864));
    CU_ASSERT_DOUBLE_EQUAL(th_phases_sum(&x),
                           th_layer_model_predict(&p->model[0], &op, &gpus.gpu[0]), 1e-12);
}

/* Executions were measured apart, so they go before those of calls. */
TEST(what_was_measured_is_no_fit)
{
    auto_gpus gpus = two_gpus();
    auto_predictor *p = learned_some();
    th_op op = {TH_OP_DENSE,
                {[TH_OP_BATCH] = 16, [TH_OP_CHANNELS_IN] = 2000, [TH_OP_CHANNELS_OUT] = 1900}};
    th_phases x;
    CU_ASSERT_EQUAL_FATAL(th_phases_predict(p, &op, &gpus.gpu[0], &x, NULL), 0);
    CU_ASSERT_TRUE(near(x.execution_ms, 0.154496));
    CU_ASSERT_TRUE(x.is_estimated && near(x.launch_ms, 0.25)); /* of the call */
    CU_ASSERT_EQUAL(th_phases_model(p, TH_OP_DENSE, &gpus.gpu[0])->phase, TH_PHASE_EXECUTION);
    CU_ASSERT_EQUAL(th_phases_model(p, TH_OP_CONV, &gpus.gpu[0])->phase, TH_PHASE_CALL);
    op.kind = TH_OP_MATMUL;
    op.x[TH_OP_ROWS] = 7;
    CU_ASSERT_EQUAL_FATAL(th_phases_predict(p, &op, &gpus.gpu[0], &x, NULL), 0);
    CU_ASSERT_TRUE(!x.is_estimated && x.launch_ms == 0 && x.return_ms == 0);
}

/* Launch and input, kernels, and the output's way, each timed by itself: nothing is a fit. */
TEST(phases_that_were_measured_are_taken)
{
    const th_op_kind kinds[] = {TH_OP_DENSE, TH_OP_DENSE, TH_OP_DENSE};
    const th_phase phases[] = {TH_PHASE_EXECUTION, TH_PHASE_PRE, TH_PHASE_POST};
    auto_gpus gpus = two_gpus();
    auto_predictor *p = learned_new(kinds, phases, 3);
    th_op op = {TH_OP_DENSE,
                {[TH_OP_BATCH] = 16, [TH_OP_CHANNELS_IN] = 2000, [TH_OP_CHANNELS_OUT] = 1900}};
    th_phases x;
    CU_ASSERT_EQUAL_FATAL(th_phases_predict(p, &op, &gpus.gpu[0], &x, NULL), 0);
    CU_ASSERT_TRUE(!x.is_estimated && x.layout_ms == 0 && x.send_ms == 0);
    CU_ASSERT_EQUAL(
        x.launch_ms,
        th_layer_model_predict(th_predictor_find(p, TH_OP_DENSE, TH_PHASE_PRE), &op, &gpus.gpu[0]));
    CU_ASSERT_EQUAL(x.return_ms,
                    th_layer_model_predict(th_predictor_find(p, TH_OP_DENSE, TH_PHASE_POST), &op,
                                           &gpus.gpu[0]));
    CU_ASSERT_TRUE(near(x.execution_ms, 0.154496));
}

/* 0.16198 ms of bytes: a step's rest beside what its law calls the host's. */
TEST(a_step_is_launch_and_execution)
{
    const th_op_kind kind = TH_OP_DENSE;
    const th_phase phase = TH_PHASE_STEP;
    auto_gpus gpus = two_gpus();
    auto_predictor *p = learned_new(&kind, &phase, 1);
    th_op op = {TH_OP_DENSE,
                {[TH_OP_BATCH] = 64, [TH_OP_CHANNELS_IN] = 2000, [TH_OP_CHANNELS_OUT] = 1900}};
    th_phases x;
    CU_ASSERT_EQUAL_FATAL(th_phases_step(p, &op, &gpus.gpu[0], &x), 0);
    CU_ASSERT_TRUE(x.return_ms == 0 && x.layout_ms == 0);
    CU_ASSERT_DOUBLE_EQUAL(x.launch_ms + x.execution_ms,
                           th_layer_model_predict(&p->model[0], &op, &gpus.gpu[0]), 1e-12);
}

TEST(a_bias_that_was_never_there_changes_nothing)
{
    auto_gpus gpus = two_gpus();
    auto_predictor *p = learned_some();
    th_op op = {TH_OP_DENSE,
                {[TH_OP_BATCH] = 8, [TH_OP_CHANNELS_IN] = 20, [TH_OP_CHANNELS_OUT] = 30}};
    th_phases with, without;
    CU_ASSERT_EQUAL_FATAL(th_phases_predict(p, &op, &gpus.gpu[1], &without, NULL), 0);
    op.x[TH_OP_BIAS] = 1;
    CU_ASSERT_EQUAL_FATAL(th_phases_predict(p, &op, &gpus.gpu[1], &with, NULL), 0);
    CU_ASSERT_EQUAL(with.execution_ms, without.execution_ms);
}

/* An add of 500,000 numbers reads 4 MB and writes 2 at 100 GB/s: 0.06 ms. */
TEST(kinds_without_a_model)
{
    const th_op_kind kind = TH_OP_MATMUL;
    const th_phase phase = TH_PHASE_EXECUTION;
    auto_gpus gpus = two_gpus();
    th_error e = {"", ""};
    auto_predictor *p = learned_new(&kind, &phase, 1);
    th_op add = {TH_OP_ELEMENTWISE, {[TH_OP_BATCH] = 500, [TH_OP_CHANNELS_IN] = 1000}};
    th_op dense = {TH_OP_DENSE,
                   {[TH_OP_BATCH] = 8, [TH_OP_CHANNELS_IN] = 20, [TH_OP_CHANNELS_OUT] = 30}};
    th_phases x;
    CU_ASSERT_EQUAL_FATAL(th_phases_predict(p, &add, &gpus.gpu[0], &x, &e), 0);
    CU_ASSERT_TRUE(x.is_by_rule && fabs(x.execution_ms - 0.06) < 1e-12);
    CU_ASSERT_EQUAL(th_phases_predict(p, &dense, &gpus.gpu[0], &x, &e), -1);
    TAP_ASSERT_TEXT(e.text,
                    "dense: the predictor must have a model of its execution or call; it has "
                    "matmul execution");
    CU_ASSERT_EQUAL(th_phases_step(p, &dense, &gpus.gpu[0], &x), -1);
    CU_ASSERT_TRUE(th_phases_ps(0.06) == 60000000 && th_phases_ps(-1) == 0);
}

TAP_MAIN("phases")
