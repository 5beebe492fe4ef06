/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models: what is said about files and nodes that become nothing. */
#include <config.h>
#define ONNX_MODEL_FILE "test_onnx_refuse.tmp.onnx"
#include "tests/unit/no_memory.h"
#include "tests/unit/onnx_model.h"
#include "tests/unit/refused.h"

/* ---- what is refused ------------------------------------------------------------------------- */

TEST(bad_files_are_refused)
{
    th_error e = {"", ""};
    write_file("no model", 8);
    CU_ASSERT_PTR_NULL(read_at(0, -1, &e));
    TAP_ASSERT_TEXT(
        e.text, "test_onnx_refuse.tmp.onnx: must be an ONNX model: a graph of nodes in protobuf");
    unlink(path);
    CU_ASSERT_PTR_NULL(read_at(0, -1, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0031");
    begin("1,1,1,1");
    expect("WORK-0080", "must be an ONNX model: a graph of nodes in protobuf");
    begin("1,-2");
    m.dimension[0][1].has_dim_value = true;
    node("Relu", "x", "y", "");
    expect("WORK-0105", "input \"x\": axis 1 is -2 long: must be from 1 to 268435456");
    begin("1,0,8,8");
    node("Relu", "x", "y", "");
    expect("WORK-0106", "input \"x\": axis 1 has no length: needs -dim {x.1 N}");
    m.dimension[0][1].has_dim_value = true;
    expect("WORK-0945", "input \"x\": axis 1 is 0 long, and nothing is left to compute: needs -dim "
                        "{x.1 N}");
    m.dimension[0][1].has_dim_value = false;
    m.dimension[0][1].dim_param = (char *)"features";
    expect("WORK-0106", "input \"x\": axis 1 has no length: needs -dim {features N}");
    begin("1,2");
    m.type[0].tensor_type = NULL;
    node("Relu", "x", "y", "");
    expect("WORK-0107", "input \"x\": must be a tensor with a shape");
    begin("1,2");
    m.shape[0].n_dim = 13;
    ThOnnx__Dimension *many[13];
    for (int i = 0; i < 13; i++)
        many[i] = &m.dimension[0][0];
    m.shape[0].dim = many;
    node("Relu", "x", "y", "");
    expect("WORK-0108", "input \"x\": 13 axes: must be at most 12");
    begin("1,2,268435456,2,2");
    node("Relu", "x", "y", "");
    expect("WORK-0110", "input \"x\": more than 268435456 channels, rows or columns");
    begin("1,2");
    int64_t extents[13] = {0};
    weights("w", "1");
    m.tensor[0].n_dims = 13;
    m.tensor[0].dims = extents;
    node("Relu", "x", "y", "");
    expect("WORK-0112", "initializer \"w\": 13 axes: must be at most 12");
    begin("1,2");
    weights("w", "1");
    weights("w", "1");
    node("Relu", "x", "y", "");
    expect("WORK-0113", "initializer \"w\": another tensor has the name");
}

TEST(graphs_that_are_none_are_refused)
{
    begin("1,2");
    node("Add", "x c", "a", "");
    node("Relu", "a", "b", "");
    node("Neg", "b", "c", "");
    expect("WORK-0119",
           "node \"b\" (Relu of ai.onnx): it lies on a cycle: it reads what \"a\" makes");
    begin("1,2");
    node("Relu", "x", "a", "");
    node("Neg", "x", "a", "");
    expect("WORK-0083", "node \"a\" (Neg of ai.onnx): output 1 \"a\": another tensor has the name");
    begin("2,3");
    integers("one", "1,-1", false);
    node("Reshape", "x one", "a", "");
    weights("w", "6,4");
    node("MatMul", "a w", "b", "");
    th_error e = {"", ""};
    write_model();
    CU_ASSERT_PTR_NULL(read_at(3, -1, &e));
    TAP_ASSERT_TEXT(e.id, "WORK-0111");
    unlink(path);
}

static void output(const char *name)
{
    static ThOnnx__Value value, *values[] = {&value};
    th_onnx__value__init(&value);
    value.name = keep(name, strlen(name));
    m.graph.output = values;
    m.graph.n_output = 1;
}

TEST(outputs_that_nothing_makes_are_refused)
{
    begin("1,2");
    node("Relu", "x", "y", "");
    output("z");
    expect("WORK-0708", "output \"z\": no node makes it");
    begin("1,4,8");
    weights("k", "1,4,8");
    node("MultiHeadAttention", "x k k", "y all_k all_v scores more", "num_heads=2");
    output("more");
    expect("WORK-0709", "node \"y\" (MultiHeadAttention of ai.onnx): output 5 \"more\": the rule "
                        "has 4 outputs");
}

/* An error names the node of the file, not those that stand for it, and where its cause may lie. */
TEST(errors_name_the_cause)
{
    th_onnx_notes notes;
    th_error e = {"", ""};
    begin("1,64,128");
    weights("w", "128,10");
    node("Mean_of", "x", "m", "")->domain = keep("acme", 4);
    node("Gemm", "m w", "y", "");
    CU_ASSERT_PTR_NULL(read_noting(&notes, &e));
    TAP_ASSERT_TEXT(
        e.text, "test_onnx_refuse.tmp.onnx: node \"y\" (Gemm of ai.onnx): the first input has 8192 "
                "columns, the second 128 rows; the cause may be that Mean_of of acme, which makes "
                "\"m\", is read as a copy, and the file states no whole shape");
    stated("m", "1,128");
    e = (th_error){"", ""};
    th_workload *w = read_noting(&notes, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_FATAL(w && w->n_layers == 2);
    CU_ASSERT_EQUAL(th_layer_macs(&w->layers[1]), 10 * 128);
    CU_ASSERT_TRUE(notes.n_copied == 1 && notes.copied[0].n == 1 && notes.guessed.n == 0);
    TAP_ASSERT_TEXT(notes.copied[0].first, "Mean_of of acme");
    th_workload_free(w);
    begin("2,3");
    weights("w", "4,5");
    node("Relu", "x", "a", "");
    stated("a", "2,4");
    node("MatMul", "a w", "y", "");
    expect("WORK-0103",
           "node \"y\" (MatMul of ai.onnx): the first input has 3 columns, the second 4 "
           "rows; the cause may be what the file states: axis 1 of \"a\" of 4 (3 as Relu "
           "of ai.onnx makes it)");
    begin("2,3");
    weights("w", "4,5,6");
    node("QGemm", "x - - w", "y", "");
    expect("WORK-0089", "node \"y\" (QGemm of ai.onnx): must have inputs of two axes");
}

/* One node, as OPERATOR|inputs|attributes, of an image "x" of 4 x 8 x 8, a vector "v", weights "w"
 * and integers "n". */
static int read_node(const char *text, th_error *e)
{
    char op[40], inputs[80] = "", attributes[80] = "";
    sscanf(text, "%39[^|]|%79[^|]|%79[^|]", op, inputs, attributes);
    begin("1,4,8,8");
    weights("w", "4,4,3,3");
    weights("w2", "9,9");
    weights("w5", "5,2,3,3");
    integers("n", "1,5,-1", false);
    integers("one", "1,1,1,-1", false);
    integers("true", "1", false);
    integers("huge", "4503599627370496,4,8,8", false);
    node("Flatten", "x", "v", "");
    integers("wide", "1,8,4,8", false);
    integers("tall", "268435456,4,8,8", false);
    node("Reshape", "x wide", "t", "");
    node("GlobalMaxPool", "first", "pixel", "");
    node("Gather", "x zero", "first", "axis=1");
    integers("zero", "0", false);
    integers("parts", "3", false);
    integers("rows", "4,8,8", false);
    node("Reshape", "x rows", "line", "");
    integers("many", "1,1,1,1,1,1,1,1,1,1,1,1,1", false);
    node(op, inputs, "y", attributes);
    write_model();
    auto_workload *w = read_at(0, -1, e);
    unlink(path);
    return w ? 0 : -1;
}

TEST(bad_nodes_are_refused)
{
    static const refusing_reader readers[] = {{"node", read_node}, {NULL, NULL}};
    assert_refusals("workloads/onnx.refused", readers);
}

/* A chain of branches, each the only node of the one around it. */
static void nest_branches(ThOnnx__Graph *graphs, ThOnnx__Node *nodes, ThOnnx__Attribute *a, int n)
{
    static char *inputs[] = {(char *)"true"}, *outputs[] = {(char *)"y"};
    static ThOnnx__Node *node_lists[80];
    static ThOnnx__Attribute *attribute_lists[80];
    for (int i = 0; i < n; i++) {
        th_onnx__graph__init(&graphs[i]);
        th_onnx__node__init(&nodes[i]);
        th_onnx__attribute__init(&a[i]);
        node_lists[i] = &nodes[i];
        attribute_lists[i] = &a[i];
        graphs[i].node = &node_lists[i];
        graphs[i].n_node = 1;
        nodes[i].op_type = (char *)"If";
        nodes[i].input = inputs;
        nodes[i].output = outputs;
        nodes[i].n_input = nodes[i].n_output = 1;
        nodes[i].attribute = &attribute_lists[i];
        nodes[i].n_attribute = i + 1 < n;
        a[i].name = (char *)"then_branch";
        a[i].g = i + 1 < n ? &graphs[i + 1] : NULL;
    }
}

TEST(deep_branches_are_refused)
{
    static ThOnnx__Graph graphs[80];
    static ThOnnx__Node nodes[80];
    static ThOnnx__Attribute a[80];
    begin("1,2");
    integers("true", "1", false);
    nest_branches(graphs, nodes, a, 40);
    m.nodes[m.graph.n_node++] = &nodes[0];
    expect("WORK-0116", "node \"y\" (If of ai.onnx): branches or functions deeper than 32 levels");
    nest_branches(graphs, nodes, a, 80);
    expect("WORK-0088", "graphs inside graphs: at most 64 levels are read");
    nest_branches(graphs, nodes, a, 2);
    nodes[1].op_type = (char *)"Not";
    ThOnnx__Value result, *results[] = {&result};
    th_onnx__value__init(&result);
    result.name = (char *)"z";
    graphs[1].output = results;
    graphs[1].n_output = 1;
    expect("WORK-0115", "node \"y\" (If of ai.onnx): \"z\", which it returns, is not there");
}

static int read_again(const void *unused, th_error *e)
{
    (void)unused;
    th_workload *w = read_at(0, -1, e);
    th_workload_free(w);
    return w ? 0 : -1;
}

TEST(any_allocation_may_fail)
{
    begin("1,4,8,8");
    weights("w", "4,4,3,3");
    node("Conv", "x w", "a", "");
    node("Concat", "a a", "b", "");
    weights("v", "8,5");
    node("Einsum", "x v x", "c", "equation=abcd,de,abcd->ae");
    stated("c", "1,5");
    write_model();
    CU_ASSERT_TRUE(fail_each_allocation(read_again, NULL) > 10);
    unlink(path);
}

TAP_MAIN("onnx_refuse")
