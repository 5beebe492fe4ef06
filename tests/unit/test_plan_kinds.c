/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plan_kinds.c - plans of layers with unlike inputs, and what makes two layers unlike. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/lower/plan.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

#define RING(N)                                                                                    \
    "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [" N             \
                                            "]; bandwidth = \"8Gbps\"; latency = \"100ns\"; host " \
                                            "= { bandwidth = \"2Gbps\"; latency = "                \
                                            "\"300ns\"; }; };"

static th_layer layer_of(th_layer_kind kind, int k, int c, int h, int32_t *inputs, int n_inputs)
{
    th_layer l = th_layer_over(kind, 2, c, h, 1, TH_FP16);
    l.name = "x";
    l.dim[TH_DIM_K] = k;
    l.inputs = inputs;
    l.n_inputs = n_inputs;
    return l;
}

static th_system *sys;
static th_workload *net;
static th_plans *plans;

/* A workload of batch 2 on 4 channels of h rows, in int4. */
static void begin(int h)
{
    sys = system_of(RING("4"));
    net = th_workload_new("n", NULL, &(th_workload_input){2, 4, h, 1, TH_INT4}, NULL);
}

static void add(const char *name, th_layer l)
{
    char own[8];
    snprintf(own, sizeof own, "%s", name);
    l.name = own;
    CU_ASSERT_EQUAL_FATAL(th_workload_add_layer(net, &l, NULL), net->n_layers - 1);
}

static void finish(void)
{
    th_error e = {"", ""};
    if (th_workload_finish(net, &e) || !(plans = th_plans_new(sys, net, &e)))
        bail_out(&e);
}

static void tear_down(void)
{
    th_plans_free(plans);
    th_workload_free(net);
    th_system_free(sys);
}

static th_placed place(int layer, int input, const th_set *set, const char *strategy)
{
    th_placed at;
    th_strategy s = strategy_of(strategy);
    CU_ASSERT_EQUAL(th_plans_place(plans, layer, set, &s, &at, NULL), 0);
    at.input = input;
    return at;
}

/* --- classes ---------------------------------------------------------------------------------- */

/* Layers that differ from the first in one thing each. Only classes are asked for, so they need not
 * make sense. */
static void everything_that_matters_makes_a_class(void)
{
    enum { N = 33 };
    int32_t two[] = {1, 3}, other[] = {3, 1};
    th_layer l[N];
    for (int i = 0; i < N; i++)
        l[i] = layer_of(TH_LAYER_CONV, 4, 4, 5, NULL, 1);
    for (int d = TH_DIM_K; d < TH_N_DIMS; d++)
        l[d].dim[d]++;
    int32_t *const numbers[] = {
        &l[7].in_h,      &l[8].in_w,        &l[9].stride_h,       &l[10].stride_w,
        &l[11].pad_top,  &l[12].pad_left,   &l[13].up_h,          &l[14].up_w,
        &l[15].groups,   &l[16].dilation_h, &l[17].n_inputs,      &l[18].sparse_n,
        &l[19].sparse_m, &l[20].vocabulary, &l[21].first_channel, &l[22].dilation_w};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ++*numbers[i];
    for (int t = 0; t < TH_N_TENSORS; t++) {
        l[23 + t].precision[t] = TH_INT8;
        l[26 + t].density[t] = 0.5;
    }
    l[29].has_bias = true;
    l[30].has_norm = true;
    l[31].is_transposed = true;
    l[32].function = TH_FUNCTION_MUL;
    th_workload w = {.name = "n", .batch = 2, .layers = l, .n_layers = N};
    sys = system_of(RING("4"));
    plans = th_plans_new(sys, &w, NULL);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            CU_ASSERT_TRUE(th_plans_shape_class(plans, i) != th_plans_shape_class(plans, j));
    th_plans_free(plans);
    w.n_layers = 4;
    for (int i = 0; i < 4; i++)
        l[i] = layer_of(TH_LAYER_CONCAT, 4, 4, 5, NULL, 2);
    l[0].input_channels = l[2].input_channels = l[3].input_channels = two;
    l[1].input_channels = other;
    l[3].kind = TH_LAYER_ELEMENTWISE;
    plans = th_plans_new(sys, &w, NULL);
    CU_ASSERT_TRUE(th_plans_shape_class(plans, 0) == th_plans_shape_class(plans, 2));
    CU_ASSERT_TRUE(th_plans_shape_class(plans, 0) != th_plans_shape_class(plans, 1));
    CU_ASSERT_TRUE(th_plans_shape_class(plans, 1) != th_plans_shape_class(plans, 3));
    th_plans_free(plans);
    th_system_free(sys);
}

/* --- counts ----------------------------------------------------------------------------------- */

/* Multiply-accumulates of all parts of layer 0. */
static int64_t macs_of_parts(const th_set *set, const char *strategy)
{
    const th_placed at = place(0, 0, set, strategy);
    const th_layer_plan *plan = th_plans_layer(plans, &at, 2, NULL);
    int64_t sum = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(plan);
    for (int i = 0; i < plan->n * plan->phases; i++)
        sum += th_shard_macs(&th_compute_cost_get(th_plans_costs(plans), plan->work[i])->shard);
    return sum;
}

/* Up 2, kernel 3 x 1, 5 rows to 11, 4 channels to 6, 2 images: 2 * 4 * 6 * 15 = 720 products, 48
 * for each of the 5 * 3 pairs of rows. Of the 15, H in 4 pieces that end at rows 2, 5, 8 and 11 has
 * 30/11 = 2, 4, 4, 5. */
static void parts_of_a_transposed_conv_add_up_to_the_layer(void)
{
    static const char *const strategies[] = {"H4",       "K2 H2",    "C2 R2",
                                             "H2 K2 rH", "K2 H2 rC", "H3 B1"};
    static const int pairs[] = {2, 4, 4, 5};
    int32_t in[] = {-1}, accels[] = {0, 1, 2, 3};
    begin(5);
    th_layer l = layer_of(TH_LAYER_CONV, 6, 4, 11, in, 1);
    l.precision[TH_TENSOR_INPUT] = TH_INT4;
    l.dim[TH_DIM_R] = 3;
    l.in_h = 5;
    l.up_h = 2;
    l.pad_top = 2;
    add("up", l);
    finish();
    CU_ASSERT_EQUAL(th_layer_macs(&net->layers[0]), 720);
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        th_set s = {0, strategies[i][1] == '3' ? 3 : 4, accels};
        CU_ASSERT_EQUAL(macs_of_parts(&s, strategies[i]), 720);
    }
    th_set four = {0, 4, accels};
    const th_placed at = place(0, 0, &four, "H4");
    const th_layer_plan *plan = th_plans_layer(plans, &at, 2, NULL);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(
            th_shard_macs(&th_compute_cost_get(th_plans_costs(plans), plan->work[i])->shard),
            48 * pairs[i]);
    tear_down();
}

/* --- edges ------------------------------------------------------------------------------------ */

/* x: 4 channels of 3 rows, 2 images, int4, from the host. c joins x and x. K2 on accelerators 0 and
 * 1: 0 needs the first input alone, 1 the second: 2 * 4 * 3 half bytes each. */
static void a_position_gets_only_the_input_it_needs(void)
{
    int32_t twice[] = {-1, -1}, channels[] = {4, 4}, accels[] = {0, 1};
    begin(3);
    th_layer c = layer_of(TH_LAYER_CONCAT, 8, 8, 3, twice, 2);
    c.input_channels = channels;
    c.precision[TH_TENSOR_INPUT] = TH_INT4;
    add("c", c);
    finish();
    th_set s = {0, 2, accels};
    const th_placed both[] = {place(0, 0, &s, "K2"), place(0, 1, &s, "K2")};
    const th_edge_plan *first = th_plans_edge(plans, NULL, both, 1, 2, NULL),
                       *second = th_plans_edge(plans, NULL, both, 2, 2, NULL);
    CU_ASSERT_TRUE(first->n == 1 && first->deliveries[0].to == 0 &&
                   first->deliveries[0].bytes == 12);
    CU_ASSERT_TRUE(second->n == 1 && second->deliveries[0].to == 1 &&
                   second->deliveries[0].bytes == 12);
    CU_ASSERT_TRUE(second->n_reuses == 0);
    tear_down();
}

/* x times x transposed, 4 channels of 6 rows, H2: position 0 needs rows 0 .. 2 as the first input
 * (2 * 4 * 3 half bytes) and all six as the second: rows 3 .. 5 come, the others are reused. */
static void one_tensor_as_two_inputs_comes_once(void)
{
    int32_t twice[] = {-1, -1}, accels[] = {2, 3};
    begin(6);
    th_layer l = layer_of(TH_LAYER_MATMUL, 6, 4, 6, twice, 2);
    l.is_transposed = true;
    l.precision[TH_TENSOR_INPUT] = l.precision[TH_TENSOR_WEIGHT] = TH_INT4;
    add("p", l);
    finish();
    th_set s = {0, 2, accels};
    const th_placed both[] = {place(0, 0, &s, "H2"), place(0, 1, &s, "H2")};
    const th_layer_plan *plan = th_plans_layer(plans, &both[1], 2, NULL);
    CU_ASSERT_PTR_EQUAL(plan, th_plans_layer(plans, &both[0], 2, NULL));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[0], &(th_box){{0, 0, 3, 0}, {2, 4, 6, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[1], &(th_box){{0, 0, 0, 0}, {2, 4, 6, 1}}));
    CU_ASSERT_TRUE(plan->at[1].weight_bytes == 0);
    const th_edge_plan *first = th_plans_edge(plans, NULL, both, 1, 2, NULL),
                       *second = th_plans_edge(plans, NULL, both, 2, 2, NULL);
    CU_ASSERT_TRUE(first->n == 2 && first->deliveries[0].bytes == 12 &&
                   first->deliveries[1].bytes == 12);
    CU_ASSERT_TRUE(second->n == 2 && second->deliveries[0].bytes == 12 && second->n_reuses == 2);
    CU_ASSERT_TRUE(th_box_equal(&second->boxes[second->deliveries[0].first_box],
                                &(th_box){{0, 0, 3, 0}, {2, 4, 6, 1}}));
    tear_down();
}

/* The first input of a product, 5 rows of 4 channels, rotates along H over K2: one piece of 2 or 3
 * rows at first. All of the second input's columns of K that the position has stay. */
static void the_second_input_stays_while_the_first_rotates(void)
{
    int32_t in[] = {-1}, twice[] = {0, 1}, accels[] = {0, 2};
    begin(5);
    th_layer l = layer_of(TH_LAYER_MATMUL, 4, 4, 5, in, 1), p = l;
    l.precision[TH_TENSOR_INPUT] = TH_INT4;
    p.n_inputs = 2;
    p.inputs = twice;
    p.dim[TH_DIM_K] = 5;
    p.is_transposed = true;
    add("a", l);
    add("b", l);
    add("p", p);
    finish();
    th_set s = {0, 2, accels};
    const th_placed at = place(2, 0, &s, "K2 rH");
    const th_layer_plan *plan = th_plans_layer(plans, &at, 2, NULL);
    CU_ASSERT_TRUE(plan->phases == 2 && plan->rotates_input);
    CU_ASSERT_TRUE(th_box_equal(&plan->at[0].need[0], &(th_box){{0, 0, 0, 0}, {2, 4, 2, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[0], &(th_box){{0, 0, 2, 0}, {2, 4, 5, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[0].need[1], &(th_box){{0, 0, 0, 0}, {2, 4, 2, 1}}));
    CU_ASSERT_TRUE(th_box_equal(&plan->at[1].need[1], &(th_box){{0, 0, 2, 0}, {2, 4, 5, 1}}));
    CU_ASSERT_TRUE(plan->piece_bytes[0] == 2 * 4 * 2 * 2 && plan->piece_bytes[1] == 2 * 4 * 3 * 2);
    tear_down();
}

/* The same product without a rotation. a and b are alike and stand alike, rows 0, 1 and 2 .. 4:
 * what comes from a as the first input, all rows, is not what comes from b as the second, columns
 * of K which are rows of b: none. */
static void alike_producers_of_unlike_inputs_have_edges_of_their_own(void)
{
    int32_t in[] = {-1}, twice[] = {0, 1}, accels[] = {0, 2};
    begin(5);
    th_layer l = layer_of(TH_LAYER_MATMUL, 4, 4, 5, in, 1), p = l;
    l.precision[TH_TENSOR_INPUT] = TH_INT4;
    p.n_inputs = 2;
    p.inputs = twice;
    p.dim[TH_DIM_K] = 5;
    p.is_transposed = true;
    add("a", l);
    add("b", l);
    add("p", p);
    finish();
    th_set s = {0, 2, accels};
    const th_placed a = place(0, 0, &s, "H2"), b = place(1, 0, &s, "H2"),
                    first = place(2, 0, &s, "K2"), second = place(2, 1, &s, "K2");
    const th_edge_plan *from_a = th_plans_edge(plans, &a, &first, 1, 2, NULL),
                       *from_b = th_plans_edge(plans, &b, &second, 1, 2, NULL);
    CU_ASSERT_TRUE(from_a->n == 2 && from_a->deliveries[0].bytes == 2 * 4 * 3 * 2);
    CU_ASSERT_EQUAL(from_b->n, 0);
    tear_down();
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(everything_that_matters_makes_a_class),
        TAP(parts_of_a_transposed_conv_add_up_to_the_layer),
        TAP(a_position_gets_only_the_input_it_needs),
        TAP(one_tensor_as_two_inputs_comes_once),
        TAP(the_second_input_stays_while_the_first_rotates),
        TAP(alike_producers_of_unlike_inputs_have_edges_of_their_own),
        TAP_END,
    };
    return tap_main("plan_kinds", tests, argc, argv);
}
