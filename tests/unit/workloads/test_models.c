/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_models.c - several networks as one workload. */
#include <config.h>
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"
#include "workloads/models.h"

/* Two layers; and three, of which two read the input. */
#define ONE                                                                                        \
    "name = \"one\"; input = { channels = 6; height = 10; width = 10; }; layers = ( "              \
    "{ name = \"a\"; type = \"conv\"; outputs = 6; kernel = 3; padding = 1; },"                    \
    "{ name = \"b\"; type = \"conv\"; outputs = 5; kernel = 3; padding = 1; } );"
#define TWO                                                                                        \
    "name = \"two\"; precision = \"int8\"; input = { channels = 3; height = 8; width = 4; }; "     \
    "layers = ( { name = \"a\"; type = \"conv\"; outputs = 2; kernel = 1; },"                      \
    "{ name = \"b\"; type = \"conv\"; outputs = 2; kernel = 1; inputs = [\"input\"]; },"           \
    "{ name = \"s\"; type = \"add\"; inputs = [\"a\", \"b\"]; } );"

static th_workload *joined(const char *first, const char *second, const th_model_options *o,
                           th_error *err)
{
    auto_workload *a = workload_of(first), *b = workload_of(second);
    return th_models_join(a, b, o, err);
}

TEST(layers_keep_their_order_under_new_names)
{
    th_error e = {"", ""};
    auto_workload *w = joined(ONE, TWO, &(th_model_options){"x", 5, 70}, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    static const char *const names[] = {"one/a", "one/b", "x/a", "x/b", "x/s"};
    CU_ASSERT_EQUAL_FATAL(w->n_layers, 5);
    for (int l = 0; l < 5; l++)
        TAP_ASSERT_TEXT(w->layers[l].name, names[l]);
    CU_ASSERT_TRUE(w->layers[1].inputs[0] == 0 && w->layers[4].inputs[0] == 2 &&
                   w->layers[4].inputs[1] == 3);
    CU_ASSERT_TRUE(w->n_outputs == 2 && w->outputs[0] == 1 && w->outputs[1] == 4);
    TAP_ASSERT_TEXT(w->name, "one+x");
}

TEST(models_keep_their_inputs)
{
    auto_workload *w = joined(ONE, TWO, &(th_model_options){"x", 5, 70}, NULL);
    CU_ASSERT_EQUAL_FATAL(th_workload_parts(w), 2);
    th_model a = th_workload_part(w, 0), b = th_workload_part(w, 1);
    CU_ASSERT_TRUE(a.first_layer == 0 && a.n_layers == 2 && a.input_h == 10 && a.input_c == 6);
    CU_ASSERT_TRUE(b.first_layer == 2 && b.n_layers == 3 && b.input_h == 8 && b.input_w == 4);
    CU_ASSERT_TRUE(a.precision == TH_FP16 && b.precision == TH_INT8);
    CU_ASSERT_TRUE(a.arrival_ps == 0 && a.deadline_ps == 0 && b.arrival_ps == 5 &&
                   b.deadline_ps == 70);
    for (int hint = 0; hint < 2; hint++)
        for (int l = 0; l < 5; l++)
            CU_ASSERT_EQUAL(th_workload_part_of(w, l, hint), l >= 2);
}

/* A third one; and a first one that is renamed. */
TEST(models_join_models)
{
    auto_workload *one = workload_of(ONE), *two = workload_of(TWO);
    auto_workload *first = th_models_join(NULL, one, &(th_model_options){"p", 1, 2}, NULL);
    auto_workload *second = th_models_join(first, two, &(th_model_options){NULL, 3, 0}, NULL);
    auto_workload *third = th_models_join(second, one, &(th_model_options){"q", 4, 0}, NULL);
    TAP_ASSERT_TEXT(third->name, "p+two+q");
    TAP_ASSERT_TEXT(third->layers[0].name, "p/a");
    TAP_ASSERT_TEXT(third->layers[6].name, "q/b");
    CU_ASSERT_TRUE(third->n_models == 3 && third->models[0].deadline_ps == 2 &&
                   third->models[1].arrival_ps == 3 && third->models[2].first_layer == 5);
    CU_ASSERT_EQUAL(th_workload_samples(third), 3 * one->batch);
    CU_ASSERT_EQUAL(th_workload_macs(third), 2 * th_workload_macs(one) + th_workload_macs(two));
}

TEST(alone_a_workload_is_one_part)
{
    auto_workload *w = workload_of(TWO);
    th_model part = th_workload_part(w, 0);
    CU_ASSERT_TRUE(th_workload_parts(w) == 1 && part.n_layers == 3 && part.first_layer == 0);
    CU_ASSERT_TRUE(part.input_c == 3 && part.arrival_ps == 0 && part.deadline_ps == 0);
    CU_ASSERT_EQUAL(th_workload_part_of(w, 2, 0), 0);
}

static void assert_refused(const char *second, const char *name, const char *id, const char *text)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(joined(ONE, second, &(th_model_options){name, 0, 0}, &e));
    TAP_ASSERT_ERROR(e, id, text);
}

TEST(what_cannot_be_joined)
{
    assert_refused(TWO, "x/y", "WORK-0075",
                   "model \"x/y\": its name must not be empty or have a \"/\"");
    assert_refused(TWO, "", "WORK-0075", "model \"\": its name must not be empty or have a \"/\"");
    assert_refused(TWO, "one", "WORK-0077", "model \"one\": the workload has one of this name");
    assert_refused("batch = 4; " TWO, "x", "WORK-0076",
                   "model \"x\": a batch of 4, and the workload has 1: all models have one batch");
}

TAP_MAIN("models")
