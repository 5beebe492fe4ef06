/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models drawn at random with loops, scans and branches: layer by layer those of the same
 * nodes written out. */
#include <config.h>
#define ONNX_MODEL_FILE "test_onnx_unrolled.tmp.onnx"
#include "tests/unit/draw.h"
#include "tests/unit/onnx_model.h"
#include "tests/unit/workload_help.h"

enum { STEPS = 6, ROWS = 4, WIDTH = 6 };

/* A step from one tensor of 4 x 6 to the next. */
typedef enum {
    PRODUCT,
    BIAS,
    RELU,
    SUM_OUTER,  /* plus a tensor from outside */
    RELU_OUTER, /* a function of one from outside, then a sum */
    SQUARE,
    NORM,
    GEMM, /* a product with a sum that is a tensor */
    ATTENTION,
    N_KINDS
} step;

typedef struct {
    step steps[STEPS];
    int n;
} drawn;

static drawn draw_steps(gsl_rng *r)
{
    drawn d = {.n = draw(r, 1, STEPS)};
    for (int i = 0; i < d.n; i++)
        d.steps[i] = (step)draw(r, 0, N_KINDS - 1);
    return d;
}

static ThOnnx__Node *of_two(const char *op, const char *a, const char *b, const char *to,
                            const char *attributes)
{
    char both[80];
    snprintf(both, sizeof both, "%s %s", a, b);
    return node(op, both, to, attributes);
}

static void add_step(step s, const char *from, const char *to, const char *outer)
{
    char inner[40], more[80];
    snprintf(inner, sizeof inner, "%s_", to);
    snprintf(more, sizeof more, "%s square %s", from, outer);
    switch (s) {
    case PRODUCT:
        of_two("MatMul", from, "square", to, "");
        break;
    case BIAS:
        of_two("Add", from, "row", to, "");
        break;
    case RELU:
        node("Relu", from, to, "");
        break;
    case SUM_OUTER:
        of_two("Add", from, outer, to, "");
        break;
    case RELU_OUTER:
        node("Relu", outer, inner, "");
        of_two("Add", from, inner, to, "");
        break;
    case SQUARE:
        of_two("Mul", from, from, to, "");
        break;
    case NORM:
        of_two("SkipLayerNormalization", from, outer, to, "");
        break;
    case GEMM:
        node("Gemm", more, to, "");
        break;
    case ATTENTION:
        node("Unsqueeze", from, inner, "axes=0,");
        snprintf(more, sizeof more, "%s_a", inner);
        of_two("Attention", inner, "wide", more, "num_heads=2");
        node("Squeeze", more, to, "axes=0,");
        break;
    case N_KINDS:
        break;
    }
}

/* The steps from one name to another; the names between have the tag. */
static void add_steps(const drawn *d, const char *from, const char *to, const char *outer,
                      const char *tag)
{
    char here[24], next[24];
    snprintf(here, sizeof here, "%s", from);
    for (int i = 0; i < d->n; i++) {
        snprintf(next, sizeof next, i + 1 < d->n ? "%s_%s%d" : "%s", i + 1 < d->n ? "t" : to, tag,
                 i);
        add_step(d->steps[i], here, next, outer);
        memcpy(here, next, sizeof here);
    }
}

/* Before the steps: a tensor that the first of them may join, and one from outside. */
static void begin_steps(void)
{
    begin("4,6");
    weights("square", "6,6");
    weights("wide", "6,18");
    weights("row", "6");
    integers("yes", "1", false);
    integers("no", "0", false);
    node("MatMul", "x square", "h", "");
    node("MatMul", "x square", "e", "");
}

/* All that the layers of two workloads are, but their names. */
static bool are_equal(const th_workload *a, const th_workload *b)
{
    bool is_good = a && b && a->n_layers == b->n_layers && a->batch == b->batch;
    for (int i = 0; is_good && i < a->n_layers; i++) {
        const th_layer *x = &a->layers[i], *y = &b->layers[i];
        is_good = x->kind == y->kind && x->function == y->function && x->groups == y->groups &&
                  memcmp(x->dim, y->dim, sizeof x->dim) == 0 && x->has_bias == y->has_bias &&
                  x->has_norm == y->has_norm && x->tied_to == y->tied_to &&
                  x->n_inputs == y->n_inputs && th_layer_parameters(x) == th_layer_parameters(y);
        for (int k = 0; is_good && k < x->n_inputs; k++)
            is_good = x->inputs[k] == y->inputs[k];
    }
    return is_good;
}

static void print_layers(const char *what, const th_workload *w)
{
    printf("# %s:", what);
    for (int i = 0; w && i < w->n_layers; i++)
        printf(" %s(%s%s%s)", w->layers[i].name, th_layer_type_name(&w->layers[i]),
               w->layers[i].has_bias ? " bias" : "", w->layers[i].tied_to ? " tied" : "");
    printf("\n");
}

static th_workload *read_again(void)
{
    th_error e;
    th_workload *w = read_y(false, NULL, &e);
    TAP_ASSERT_TEXT(e.text, "");
    return w;
}

/* Whether what was drawn is the same as its nodes written out. */
static void compare(th_workload *a, th_workload *b, const drawn *d, const char *what, int n)
{
    bool is_good = are_equal(a, b);
    CU_ASSERT_TRUE(is_good);
    if (!is_good) {
        printf("# %s %d:", what, n);
        for (int i = 0; i < d->n; i++)
            printf(" %d", d->steps[i]);
        printf("\n");
        print_layers("read", a);
        print_layers("written out", b);
    }
    th_workload_free(a);
    th_workload_free(b);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void make_loop(const drawn *d, int rounds, bool collects)
{
    char count[12];
    begin_steps();
    snprintf(count, sizeof count, "%d", rounds);
    integers("count", count, true);
    size_t first = m.graph.n_node;
    node("Identity", "goes", "went", "");
    add_steps(d, "from", "to", "e", "");
    ThOnnx__Graph *g = body(first, "i goes from", collects ? "went to to" : "went to");
    give_body(node("Loop", "count yes h", collects ? "last y" : "y", ""), "body", g);
    node("Neg", collects ? "last" : "y", "z", "");
    node("Abs", "y", "v", "");
}

static void write_loop(const drawn *d, int rounds, bool collects)
{
    char from[24] = "h", to[24], tag[24], parts[80] = "";
    begin_steps();
    for (int i = 0; i < rounds; i++) {
        snprintf(to, sizeof to, i + 1 < rounds || collects ? "r%d" : "y", i);
        snprintf(tag, sizeof tag, "%d_", i);
        add_steps(d, from, to, "e", tag);
        memcpy(from, to, sizeof from);
    }
    for (int i = 0; i < rounds && collects; i++) {
        char row[24], at[24];
        snprintf(row, sizeof row, "r%d", i);
        snprintf(at, sizeof at, "u%d", i);
        node("Unsqueeze", row, at, "axes=0,");
        strcat(strcat(parts, at), " ");
    }
    if (collects)
        node("Concat", parts, "y", "axis=0");
    node("Neg", from, "z", "");
    node("Abs", "y", "v", "");
}

TEST(a_loop_is_its_body_written_out)
{
    auto_rng *r = th_random_stream(1, "loops", 0);
    for (int i = 0; i < 200; i++) {
        drawn d = draw_steps(r);
        int rounds = draw(r, 1, 4);
        bool collects = draw(r, 0, 1);
        char shape[32];
        make_loop(&d, rounds, collects);
        th_workload *a = read_again();
        snprintf(shape, sizeof shape, collects ? "%d,4,6" : "4,6", rounds);
        TAP_ASSERT_TEXT(shape_of_y, shape);
        write_loop(&d, rounds, collects);
        compare(a, read_again(), &d, "loop", rounds);
    }
}

TEST(a_loop_of_no_rounds_hands_on_what_it_has)
{
    drawn d = {.n = 1, .steps = {PRODUCT}};
    make_loop(&d, 0, true);
    m.graph.n_node -= 2; /* the readers of what it makes */
    th_workload *w = read_again();
    CU_ASSERT_TRUE(w && w->n_layers == 2 && macs_of(w) == 2 * ROWS * WIDTH * WIDTH);
    TAP_ASSERT_TEXT(shape_of_y, "0");
    th_workload_free(w);
}

/* Until a condition that is computed from the number of the round; what is carried grows. */
TEST(a_loop_ends_with_its_condition)
{
    begin("4,6");
    integers("three", "3", false);
    integers("yes", "1", false);
    size_t first = m.graph.n_node;
    node("Less", "i three", "went", "");
    node("Concat", "from x", "to", "axis=0");
    ThOnnx__Graph *g = body(first, "i goes from", "went to");
    give_body(node("Loop", "- yes x", "y", ""), "body", g);
    node("Relu", "y", "z", "");
    th_workload *w = read_again();
    TAP_ASSERT_TEXT(shape_of_y, "20,6"); /* rounds 0, 1, 2 and 3 */
    th_workload_free(w);
}

TEST(loops_that_depend_on_the_data_are_refused)
{
    drawn d = {.n = 1, .steps = {RELU}};
    make_loop(&d, 2, false);
    input("n", 7, "1");
    m.graph.node[2]->input[0] = keep("n", 1);
    expect("WORK-0946", "node \"y\" (Loop of ai.onnx): its count of rounds is not known without "
                        "running the model, or -value {n ...}");
    make_loop(&d, 2, false);
    m.body[0].node[0]->op_type = keep("Not", 3);
    m.body[0].node[0]->input[0] = keep("b", 1);
    input("b", 9, "1");
    expect("WORK-0946", "node \"y\" (Loop of ai.onnx): its condition after a round is not known "
                        "without running the model, or -value {b ...}");
    make_loop(&d, 200000, false);
    expect("WORK-0152",
           "node \"to\" (Relu of ai.onnx): it is behind 100020 nodes and outputs, with "
           "those of functions, branches and loops: must be at most so many in a "
           "graph of 5 nodes");
}

/* ---- scans ----------------------------------------------------------------------------------- */

static void make_scan(const drawn *d, bool is_backward)
{
    begin_steps();
    input("rows", 1, "3,4,6");
    size_t first = m.graph.n_node;
    node("Add", "from part", "start", "");
    add_steps(d, "start", "to", "e", "");
    ThOnnx__Graph *g = body(first, "from part", "to to");
    give_body(node("Scan", "h rows", "last y",
                   is_backward ? "num_scan_inputs=1 scan_input_directions=1, "
                                 "scan_output_directions=1,"
                               : "num_scan_inputs=1"),
              "body", g);
    node("Abs", "y", "v", "");
}

static void write_scan(const drawn *d, bool is_backward)
{
    char from[24] = "h", parts[80] = "";
    begin_steps();
    input("rows", 1, "3,4,6");
    for (int i = 0; i < 3; i++) {
        char at[24], part[24], number[24];
        snprintf(at, sizeof at, "at%d", i);
        snprintf(part, sizeof part, "part%d", i);
        snprintf(number, sizeof number, "%d", is_backward ? 2 - i : i);
        integers(at, number, false);
        m.tensor[m.graph.n_initializer - 1].n_dims = 0;
        of_two("Gather", "rows", at, part, "axis=0");
    }
    for (int i = 0; i < 3; i++) {
        char start[24], to[24], part[24], tag[24];
        snprintf(start, sizeof start, "start%d", i);
        snprintf(part, sizeof part, "part%d", i);
        snprintf(to, sizeof to, "r%d", i);
        snprintf(tag, sizeof tag, "%d_", i);
        of_two("Add", from, part, start, "");
        add_steps(d, start, to, "e", tag);
        memcpy(from, to, sizeof from);
    }
    for (int i = 0; i < 3; i++) {
        char row[24], at[24];
        snprintf(row, sizeof row, "r%d", is_backward ? 2 - i : i);
        snprintf(at, sizeof at, "u%d", i);
        node("Unsqueeze", row, at, "axes=0,");
        strcat(strcat(parts, at), " ");
    }
    node("Concat", parts, "y", "axis=0");
    node("Abs", "y", "v", "");
}

TEST(a_scan_is_its_body_written_out)
{
    auto_rng *r = th_random_stream(1, "scans", 0);
    for (int i = 0; i < 100; i++) {
        drawn d = draw_steps(r);
        d.n = d.n > 4 ? 4 : d.n;
        bool is_backward = draw(r, 0, 1);
        make_scan(&d, is_backward);
        th_workload *a = read_again();
        TAP_ASSERT_TEXT(shape_of_y, "3,4,6");
        write_scan(&d, is_backward);
        compare(a, read_again(), &d, "scan", is_backward);
    }
}

/* ---- branches and functions ------------------------------------------------------------------ */

TEST(a_branch_is_its_nodes_in_the_place_of_the_if)
{
    auto_rng *r = th_random_stream(1, "branches", 0);
    for (int i = 0; i < 200; i++) {
        drawn d = draw_steps(r), other = draw_steps(r);
        bool is_then = draw(r, 0, 1);
        begin_steps();
        size_t first = m.graph.n_node;
        add_steps(is_then ? &d : &other, "h", "a", "e", "a");
        ThOnnx__Graph *then = body(first, "", "a");
        add_steps(is_then ? &other : &d, "h", "b", "e", "b");
        ThOnnx__Graph *otherwise = body(first, "", "b");
        ThOnnx__Node *n = node("If", is_then ? "yes" : "no", "y", "");
        give_body(n, "then_branch", then);
        give_body(n, "else_branch", otherwise);
        th_workload *a = read_again();
        begin_steps();
        add_steps(&d, "h", "y", "e", "a");
        compare(a, read_again(), &d, "if", is_then);
    }
}

TAP_MAIN("onnx_unrolled")
