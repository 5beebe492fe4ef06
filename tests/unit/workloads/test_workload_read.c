/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "workloads/workload_read.h"
#include "base/alloc.h"
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"

#define HEAD "name = \"net\"; batch = 2; input = { channels = 3; height = 13; width = 9; };\n"

/* The layers, written from line 2 on. */
static th_workload *read_layers(const char *layers, th_error *err)
{
    auto_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text, HEAD "layers = ( %s );\n", layers);
    return th_workload_read_text(text.text, "net.cfg", 0, err);
}

/* ---- what is read ---- */

/* Kernel 3 x 2, stride 2 x 3, padding (2, 1, 2, 1), dilation 2 x 1 over 13 x 9:
 *   H = floor((13 + 4 - 2 * 2 - 1) / 2) + 1 = 7,   W = floor((9 + 2 - 1 - 1) / 3) + 1 = 4. */
TEST(reads_every_key_of_a_conv)
{
    th_error e = {"", ""};
    auto_workload *w =
        read_layers("{ name = \"a\"; type = \"conv\"; outputs = 6; kernel = [3, 2];"
                    " stride = [2, 3]; padding = [2, 1, 2, 1]; dilation = [2, 1]; groups = 3;"
                    " norm = true; bias = true; in_channels = 3; height = 7; width = 4; }",
                    &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    static const int32_t expected[TH_N_DIMS] = {2, 6, 3, 7, 4, 3, 2};
    const th_layer *l = &w->layers[0];
    for (int d = 0; d < TH_N_DIMS; d++)
        CU_ASSERT_EQUAL(l->dim[d], expected[d]);
    CU_ASSERT_TRUE(l->in_h == 13 && l->in_w == 9 && l->stride_h == 2 && l->stride_w == 3);
    CU_ASSERT_TRUE(l->pad_top == 2 && l->pad_left == 1 && l->dilation_h == 2 && l->dilation_w == 1);
    CU_ASSERT_TRUE(l->groups == 3 && l->has_norm && l->has_bias && l->line == 2 &&
                   l->precision[TH_TENSOR_INPUT] == TH_FP16);
    CU_ASSERT_EQUAL(th_layer_parameters(l), 6 * 1 * 6 + 6 + 12);
}

TEST(fills_in_what_is_not_said)
{
    auto_workload *w =
        read_layers("{ name = \"a\"; type = \"conv\"; outputs = 5; },"
                    "{ name = \"b\"; type = \"conv\"; outputs = 5; kernel = 3; norm = true; },"
                    "{ name = \"p\"; type = \"max_pool\"; kernel = 2; },"
                    "{ name = \"m\"; type = \"mean_pool\"; },"
                    "{ name = \"f\"; type = \"fc\"; outputs = 7; }",
                    NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    CU_ASSERT_TRUE(w->layers[0].has_bias && !w->layers[1].has_bias && w->layers[4].has_bias);
    CU_ASSERT_EQUAL(w->layers[1].dim[TH_DIM_H], 11);
    CU_ASSERT_EQUAL(w->layers[2].dim[TH_DIM_H], 5); /* floor(11 / 2): stride as the kernel */
    CU_ASSERT_EQUAL(w->layers[2].dim[TH_DIM_W], 3);
    CU_ASSERT_TRUE(w->layers[3].is_mean_pool && !w->layers[2].is_mean_pool);
    CU_ASSERT_EQUAL(w->layers[3].dim[TH_DIM_R], 5); /* the whole input */
    CU_ASSERT_EQUAL(w->layers[3].dim[TH_DIM_H], 1);
    CU_ASSERT_EQUAL(th_layer_parameters(&w->layers[4]), 5 * 7 + 7);
}

/* Written back to front, and with all ways to name inputs. */
TEST(reads_a_graph_in_any_order)
{
    th_error e = {"", ""};
    auto_workload *w = read_layers(
        "{ name = \"sum\"; type = \"add\"; inputs = (\"left\", \"right\"); outputs = 4; },\n"
        "{ name = \"left\"; type = \"conv\"; inputs = \"input\"; outputs = 4; },\n"
        "{ name = \"right\"; type = \"conv\"; inputs = [\"input\"]; outputs = 4; },\n"
        "{ name = \"r\"; type = \"relu\"; inputs = \"sum\"; },\n"
        "{ name = \"n\"; type = \"norm\"; }",
        &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    TAP_ASSERT_TEXT(w->layers[2].name, "sum");
    CU_ASSERT_EQUAL(w->layers[2].line, 2);
    CU_ASSERT_EQUAL(w->layers[4].inputs[0], 3);
    CU_ASSERT_EQUAL(th_layer_parameters(&w->layers[4]), 8);
}

/* 13 rows x 3 inner x 8 columns, batch 2 or 5. */
TEST(reads_a_matmul)
{
    static const char text[] =
        "input = { channels = 3; height = 13; width = 1; }; batch = 2;"
        "layers = ( { name = \"q\"; type = \"matmul\"; columns = 8; rows = 13; inner = 3; } );";
    auto_workload *w = th_workload_read_text(text, "some/where/block.v2.cfg", 5, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    TAP_ASSERT_TEXT(w->name, "block.v2");
    CU_ASSERT_EQUAL(w->batch, 5);
    CU_ASSERT_EQUAL(th_layer_macs(&w->layers[0]), 5 * 13 * 3 * 8);
    CU_ASSERT_EQUAL(th_layer_parameters(&w->layers[0]), 24);
}

/* ---- the models that are shipped ---- */

static th_workload *read_model(const char *name)
{
    char path[4096];
    th_error e = {"", ""};
    const char *root = getenv("srcdir");
    snprintf(path, sizeof path, "%s/workloads/models/%s.cfg", root ? root : ".", name);
    th_workload *w = th_workload_read(path, 0, &e);
    TAP_ASSERT_TEXT(e.text, "");
    return w;
}

TEST(models_hold_the_published_totals)
{
    static const struct {
        const char *name;
        int n_layers;
        int64_t parameters, macs;
    } models[] = {
        {"alexnet", 11, 61100840, 714188480},      {"vgg16", 21, 138357544, 15470264320},
        {"resnet34", 55, 21797672, 3663761408},    {"resnet101", 140, 44549160, 7801405440},
        {"wrn50_2", 72, 68883240, 11398021120},    {"resnet18", 31, 11689512, 1814073344},
        {"mobilenet_v2", 64, 3504872, 300774272},  {"vgg16_conv", 21, 138357544, 15470264320},
        {"alexnet_one", 11, 62378344, 1135256096},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        auto_workload *w = read_model(models[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(w);
        TAP_ASSERT_TEXT(w->name, models[i].name);
        CU_ASSERT_EQUAL(w->n_layers, models[i].n_layers);
        CU_ASSERT_EQUAL(parameters_of(w), models[i].parameters);
        CU_ASSERT_EQUAL(th_workload_macs(w), models[i].macs);
        CU_ASSERT_EQUAL(w->n_outputs, 1);
        CU_ASSERT_EQUAL(w->layers[w->outputs[0]].dim[TH_DIM_K], 1000);
    }
}

/* LeCun et al., 1998: 60,000 parameters. c3 has the 900 weights that their table I leaves out, and
 * the last layer 850; their pools have 44. Of their 340,908 connections, 7,880 are those of pools
 * and 6,508 biases; c3 has 900 x 100 more. */
TEST(lenet_holds_its_totals)
{
    auto_workload *w = read_model("lenet");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    CU_ASSERT_EQUAL(parameters_of(w), 60000 + 900 + 850 - 44);
    CU_ASSERT_EQUAL(th_workload_macs(w), 340908 - 7880 - 6508 + 90000);
}

/* As published, where the last layer has the weights of the words' table: 12 h^2 + 13 h in each
 * layer of width h, words and positions of h, and a norm. BERT base 109,482,240 and 2 classes. */
TEST(transformers_hold_the_published_parameters)
{
    static const struct {
        const char *name;
        int64_t parameters;
    } models[] = {{"gpt2_large", 774030080},
                  {"opt_13", 1315758080},
                  {"gpt3_xl", 24ll * (12 * 2048 + 13) * 2048 + (50257 + 2048 + 2) * 2048},
                  {"bert_base", 109482240 + 2 * 768 + 2}};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        auto_workload *w = read_model(models[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(w);
        CU_ASSERT_EQUAL(parameters_of(w), models[i].parameters);
    }
}

/* gpt2_block: 768 (2304 + 768 + 2 * 3072) weights per block meet 1024 words, and twice 1024^2
 * products of 768 channels; 124,439,808 parameters of GPT-2 small = 12 blocks + (50257 + 1024 + 2)
 * * 768. lstm_lm: 700 words meet 2 * 4 * 650 * 1300 and 650 * 10000 weights. unet: 7,763,041
 * parameters are those of Buda's program; every level of it is summed here again, in its own words.
 */
TEST(models_of_other_kinds_hold_their_totals)
{
    int64_t unet = 0, side = 256, c = 3;
    for (int64_t k = 32; k <= 512; k *= 2, side /= 2) {
        unet += 9 * side * side * (c * k + k * k);
        c = k;
    }
    for (int64_t k = 256; k >= 32; k /= 2) /* up from half the side; two inputs of k channels */
        unet += 4 * (2 * k) * k * (8192 / k / 2) * (8192 / k / 2) +
                27 * k * k * (8192 / k) * (8192 / k);
    unet += 256 * 256 * 32;
    const struct {
        const char *name;
        int64_t parameters, macs;
    } models[] = {
        {"gpt2_block", (124439808 - 51283 * 768) / 12, 1024ll * 7077888 + 2ll * 1048576 * 768},
        {"lstm_lm", 19780400, 700ll * (6760000 + 6500000)},
        {"unet", 7763041, unet},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        auto_workload *w = read_model(models[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(w);
        CU_ASSERT_EQUAL(parameters_of(w), models[i].parameters);
        CU_ASSERT_EQUAL(th_workload_macs(w), models[i].macs);
        CU_ASSERT_EQUAL(w->n_outputs, 1);
    }
}

/* conv1, pool1, then blocks of c1, c2 and a sum with what entered the block, or with its
 * projection. */
TEST(residual_sums_join_the_right_layers)
{
    auto_workload *w = read_model("resnet34");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    const th_layer *first = &w->layers[th_workload_find(w, "l1.0.add")];
    const th_layer *projected = &w->layers[th_workload_find(w, "l2.0.add")];
    TAP_ASSERT_TEXT(w->layers[first->inputs[0]].name, "l1.0.c2");
    TAP_ASSERT_TEXT(w->layers[first->inputs[1]].name, "pool1");
    TAP_ASSERT_TEXT(w->layers[projected->inputs[1]].name, "l2.0.down");
    TAP_ASSERT_TEXT(w->layers[w->layers[projected->inputs[1]].inputs[0]].name, "l1.2.add");
}

/* One line of a layer list:
 * name,type,Cin,Cout,K,stride,pad,groups,Hin,Win,Hout,Wout,weights,bias,macs. The list flattens the
 * input of a fully connected layer, so its Cin is not ours; the rest agrees. */
static int agrees_with_line(const th_workload *w, const char *line)
{
    char name[64], type[16];
    long long n[13];
    if (sscanf(line,
               "%63[^,],%15[^,],%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld",
               name, type, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9],
               &n[10], &n[11], &n[12]) != 15)
        return 0;
    int found = th_workload_find(w, name);
    if (found < 0)
        return 0;
    const th_layer *l = &w->layers[found];
    return strcmp(th_layer_type_name(l), type) == 0 && l->dim[TH_DIM_K] == n[1] &&
           l->dim[TH_DIM_H] == n[8] && l->dim[TH_DIM_W] == n[9] && th_layer_weights(l) == n[10] &&
           (l->has_bias ? l->dim[TH_DIM_K] : 0) == n[11] && th_layer_macs(l) == n[12];
}

/* Every line of the list agrees, and the model has no further layer with weights. */
static void compare_with_list(const char *folder, const char *list, const char *model)
{
    char path[4096], line[512];
    snprintf(path, sizeof path, "%s/layers/%s.csv", folder, list);
    FILE *file = fopen(path, "r");
    auto_workload *w = read_model(model);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    int n_lines = 0, n_weighted = 0;
    CU_ASSERT_PTR_NOT_NULL(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        n_lines++;
        if (!agrees_with_line(w, line))
            TAP_ASSERT_TEXT(line, model);
    }
    for (int l = 0; l < w->n_layers; l++)
        n_weighted += th_layer_has_weights(&w->layers[l]);
    CU_ASSERT_EQUAL(n_lines, n_weighted);
    fclose(file);
}

TEST(models_agree_with_the_reference_layers)
{
    const char *folder = getenv("THARSIS_REFERENCE");
    if (!folder || !folder[0]) {
        tap_skip("THARSIS_REFERENCE is not set");
        return;
    }
    compare_with_list(folder, "alexnet_torchvision", "alexnet");
    compare_with_list(folder, "vgg16", "vgg16");
    compare_with_list(folder, "resnet34", "resnet34");
    compare_with_list(folder, "resnet101", "resnet101");
    compare_with_list(folder, "wide_resnet50_2", "wrn50_2");
}

/* ---- messages ---- */

#define A "{ name = \"a\"; type = \"conv\"; outputs = 4; "

static int read_refused(const char *layers, th_error *e)
{
    th_workload *w = read_layers(layers, e);
    th_workload_free(w);
    return w ? 0 : -1;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"layers", read_refused}, {NULL, NULL}};
    assert_refusals("workloads/workload_read.refused", readers);
}

TEST(refuses_a_bad_head)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_workload_read_text("layers = ();", "net.cfg", 0, &e));
    TAP_ASSERT_TEXT(e.text, "net.cfg:1: the file: has no key \"input\"");
    CU_ASSERT_PTR_NULL(th_workload_read_text("input = { channels = 3; height = 13; }; layers = ();",
                                             "net.cfg", 0, &e));
    TAP_ASSERT_TEXT(e.text, "net.cfg:1: key \"input\": has no key \"width\"");
    CU_ASSERT_PTR_NULL(th_workload_read_text("batch = 0; layers = ();", "net.cfg", 0, &e));
    TAP_ASSERT_TEXT(e.text, "net.cfg:1: key \"batch\": must be from 1 to 268435456, not 0");
    CU_ASSERT_PTR_NULL(th_workload_read("/nowhere/net.cfg", 0, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0031");
}

/* ---- memory ---- */

/* Reads the layers with every allocation failing once; the last, undisturbed reading must end as
 * told. */
static void fail_every_allocation(const char *layers, int succeeds)
{
    int64_t live = th_alloc_live();
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text, HEAD "layers = ( %s );\n", layers);
    int64_t k = 0, calls;
    th_workload *w;
    do {
        th_error e = {"", ""};
        calls = th_alloc_calls();
        th_alloc_fail_at(++k);
        w = th_workload_read_text(text.text, "net.cfg", 0, &e);
        calls = th_alloc_calls() - calls;
        CU_ASSERT_EQUAL(w == NULL, e.id[0] != '\0');
        if (w && calls >= k)
            CU_FAIL("a failed allocation was overlooked");
        th_workload_free(w);
        CU_ASSERT_EQUAL(th_alloc_live(), live + 1); /* the text */
    } while (calls >= k && k < 10000);
    th_alloc_fail_at(0);
    th_strbuf_clear(&text);
    CU_ASSERT_TRUE(k > 10);
    CU_ASSERT_EQUAL(w != NULL, succeeds);
}

TEST(survives_every_failing_allocation)
{
    fail_every_allocation(A "norm = true; },\n{ name = \"b\"; type = \"conv\"; outputs = 4; },\n"
                            "{ name = \"s\"; type = \"add\"; inputs = [\"a\", \"b\"]; }",
                          1);
    fail_every_allocation(A "}, { name = \"b\"; type = \"relu\"; inputs = \"c\"; }", 0);
    fail_every_allocation(A "inputs = \"b\"; }, { name = \"b\"; type = \"relu\"; }", 0);
}

TAP_MAIN("workload_read")
