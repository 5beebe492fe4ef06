/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fusing layers: what it leaves of a workload, and memory that runs out. (Patterns are tested in
 * tests/tcl/workload/fuse.test.) */
#include <config.h>
#include "workloads/fuse/fuse.h"
#include "base/strbuf.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/draw.h"
#include "tests/unit/tap.h"
#include "workloads/workload_read.h"

/* An attention of 2 heads, with a scale that something else reads, too, and a gated pair. */
static const char text[] =
    "batch = 2; input = { channels = 8; height = 5; width = 1; };\n"
    "layers = (\n"
    "{ name = \"q\"; type = \"matmul\"; columns = 8; },\n"
    "{ name = \"k\"; type = \"matmul\"; inputs = \"input\"; columns = 8; },\n"
    "{ name = \"v\"; type = \"matmul\"; inputs = \"input\"; columns = 12; },\n"
    "{ name = \"qs\"; type = \"scale\"; inputs = \"q\"; },\n"
    "{ name = \"s\"; type = \"matmul\"; inputs = [\"qs\", \"k\"]; heads = 2; transposed = true; "
    "},\n"
    "{ name = \"p\"; type = \"softmax\"; heads = 2; },\n"
    "{ name = \"c\"; type = \"matmul\"; inputs = [\"p\", \"v\"]; heads = 2; },\n"
    "{ name = \"g\"; type = \"silu\"; },\n"
    "{ name = \"m\"; type = \"mul\"; inputs = [\"g\", \"v\"]; },\n"
    "{ name = \"t\"; type = \"tanh\"; inputs = \"qs\"; }\n"
    ");\n";

static th_workload *read_text(void)
{
    th_error e = {"", ""};
    th_workload *w = th_workload_read_text(text, "net", 0, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    return w;
}

TEST(what_something_else_reads_stays)
{
    static const char *const names[] = {"q", "k", "v", "qs", "c", "m", "t"};
    th_error e = {"", ""};
    auto_workload *w = read_text(), *fused = th_workload_fuse(w, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fused);
    CU_ASSERT_EQUAL_FATAL(fused->n_layers, 7);
    for (int l = 0; l < fused->n_layers; l++)
        TAP_ASSERT_TEXT(fused->layers[l].name, names[l]);
    const th_layer *a = &fused->layers[4], *m = &fused->layers[5];
    CU_ASSERT_EQUAL(a->kind, TH_LAYER_ATTENTION);
    CU_ASSERT_EQUAL(a->inputs[0], 3); /* qs, for t reads it */
    CU_ASSERT_EQUAL(th_layer_macs(a), 2 * 5 * 5 * (8 + 12));
    CU_ASSERT_EQUAL(m->function, TH_FUNCTION_GATE);
    CU_ASSERT_EQUAL(m->inputs[0], 4);
    CU_ASSERT_EQUAL(m->inputs[1], 2);
    CU_ASSERT_EQUAL(th_workload_macs(fused), th_workload_macs(w));
    CU_ASSERT_EQUAL(fused->batch, 2);
}

static int fuse(const void *w, th_error *e)
{
    th_workload *fused = th_workload_fuse(w, e);
    th_workload_free(fused);
    return fused ? 0 : -1;
}

TEST(any_allocation_may_fail)
{
    auto_workload *w = read_text();
    CU_ASSERT_TRUE(fail_each_allocation(fuse, w) > 20);
}

/* ---- random graphs ---- */

enum { TENSORS_MAX = 40 };

/* The text of a workload; tensors are its input (0) and its layers, all of width 1. */
typedef struct {
    th_strbuf text;
    int channels[TENSORS_MAX], rows[TENSORS_MAX], n;
} graph;

static void name_of(int tensor, char out[8])
{
    snprintf(out, 8, tensor == 0 ? "input" : "t%d", tensor);
}

/* A layer of some other tensors, of which there may be one, with these keys; its number. */
static int put(graph *g, const char *type, const char *keys, int a, int b, int channels, int rows)
{
    char first[8], second[8];
    name_of(a, first);
    name_of(b, second);
    th_strbuf_printf(&g->text, "%s{ name = \"t%d\"; type = \"%s\"; inputs = [\"%s\"",
                     g->n > 1 ? ", " : "", g->n, type, first);
    if (b >= 0)
        th_strbuf_printf(&g->text, ", \"%s\"", second);
    th_strbuf_printf(&g->text, "]; %s }\n", keys);
    g->channels[g->n] = channels;
    g->rows[g->n] = rows;
    return g->n++;
}

static int put_like(graph *g, const char *type, int a, int b)
{
    return put(g, type, "", a, b, g->channels[a], g->rows[a]);
}

/* Any tensor, the last ones more often; of the channels and rows of another where one has them. */
static int any(gsl_rng *r, const graph *g, int like)
{
    int t = draw(r, 0, 1) ? draw(r, g->n > 4 ? g->n - 4 : 0, g->n - 1) : draw(r, 0, g->n - 1);
    if (like < 0)
        return t;
    bool is_like = g->channels[t] == g->channels[like] && g->rows[t] == g->rows[like];
    return is_like ? t : like;
}

/* Passes over a tensor, or none. */
static int put_passes(gsl_rng *r, graph *g, int t)
{
    static const char *const unary[] = {"scale",   "shift", "power",   "relu",
                                        "sigmoid", "tanh",  "dropout", "copy"};
    static const char *const binary[] = {"add", "mul"};
    for (int n = draw(r, 0, 2); n > 0; n--)
        t = draw(r, 0, 3) ? put_like(g, unary[draw(r, 0, 7)], t, -1)
                          : put_like(g, binary[draw(r, 0, 1)], t, any(r, g, t));
    return t;
}

static int put_columns(graph *g, int t, int columns)
{
    char keys[40];
    snprintf(keys, sizeof keys, "columns = %d;", columns);
    return put(g, "matmul", keys, t, -1, columns, g->rows[t]);
}

/* A copy, sometimes with channels and rows swapped. */
static int put_copy(gsl_rng *r, graph *g, int t)
{
    char keys[60];
    int c = g->channels[t], h = g->rows[t];
    if (draw(r, 0, 1))
        return put_like(g, "copy", t, -1);
    snprintf(keys, sizeof keys, "outputs = %d; height = %d;", h, c);
    return put(g, "copy", keys, t, -1, h, c);
}

static int maybe_copy(gsl_rng *r, graph *g, int t)
{
    int made = draw(r, 0, 1) ? put_copy(r, g, t) : t;
    return g->channels[made] == g->channels[t] ? made : t;
}

/* Scores, softmax and context of any three tensors that fit, among passes. */
static int put_attention(gsl_rng *r, graph *g)
{
    char keys[60];
    int q = any(r, g, -1), k = maybe_copy(r, g, any(r, g, q)), v = maybe_copy(r, g, any(r, g, q));
    int c = g->channels[q], h = g->rows[k], heads = c % 2 == 0 && draw(r, 0, 1) ? 2 : 1;
    q = maybe_copy(r, g, q);
    if (g->channels[k] != c || g->channels[v] != c || g->rows[v] != h)
        return q;
    snprintf(keys, sizeof keys, "heads = %d; transposed = true;", heads);
    int s = put_passes(r, g, put(g, "matmul", keys, q, k, heads * h, g->rows[q]));
    snprintf(keys, sizeof keys, "heads = %d;", heads);
    s = put_passes(r, g, put(g, "softmax", keys, s, -1, g->channels[s], g->rows[s]));
    return put(g, "matmul", keys, s, v, c, g->rows[q]);
}

/* x less its mean, over the root of the mean of its squares; the mean may be that of another. */
static int put_norm(gsl_rng *r, graph *g)
{
    int x = any(r, g, -1), h = g->rows[x], c = g->channels[x];
    int mean = put(g, "reduce", "outputs = 1;", any(r, g, x), -1, 1, h);
    int less = put(g, "shift", "", x, mean, c, h);
    int square = draw(r, 0, 1) ? put_like(g, "mul", less, less) : put_like(g, "power", less, -1);
    int root = put(g, "reduce", "outputs = 1;", draw(r, 0, 1) ? square : any(r, g, x), -1, 1, h);
    root = put_like(g, "power", root, -1);
    return put_like(g, "scale", put(g, "scale", "", any(r, g, less), root, c, h), -1);
}

static void put_any(gsl_rng *r, graph *g, int n_columns)
{
    int t = any(r, g, -1), activated;
    switch (draw(r, 0, 6)) {
    case 0:
        put_columns(g, t, n_columns);
        break;
    case 1:
        put_copy(r, g, t);
        break;
    case 2:
        activated = put_like(g, draw(r, 0, 1) ? "silu" : "sigmoid", t, -1);
        put_like(g, "mul", activated, any(r, g, t));
        break;
    case 3:
        put_norm(r, g);
        break;
    case 4:
        put_passes(r, g, t);
        break;
    default:
        put_passes(r, g, put_attention(r, g));
    }
}

/* With as many channels as rows, or any numbers. */
static th_workload *draw_graph(gsl_rng *r)
{
    graph g = {.text = TH_STRBUF_INIT, .n = 1};
    th_error e = {"", ""};
    bool is_equal = draw(r, 0, 1);
    int rows = draw(r, 1, 4), columns = is_equal ? rows : 2 * draw(r, 1, 4);
    g.channels[0] = columns;
    g.rows[0] = rows;
    th_strbuf_printf(&g.text, "batch = 1; input = { channels = %d; height = %d; width = 1; };\n",
                     columns, rows);
    th_strbuf_add(&g.text, "layers = (");
    put_columns(&g, 0, columns);
    for (int n = draw(r, 1, 4); n > 0 && g.n < TENSORS_MAX - 12; n--)
        put_any(r, &g, columns);
    th_strbuf_add(&g.text, ");\n");
    th_workload *w = th_workload_read_text(g.text.text, "net", 0, &e);
    TAP_ASSERT_TEXT(e.text, "");
    th_strbuf_clear(&g.text);
    return w;
}

/* What is fused reads what is still there, and multiplies as often. */
TEST(random_graphs_keep_their_multiply_accumulates)
{
    enum { GRAPHS = 4000 };
    auto_rng *r = th_random_stream(3, "fuse", 0);
    int n_wrong = 0, n_attentions = 0, n_norms = 0, n_gates = 0;
    for (int i = 0; i < GRAPHS; i++) {
        th_error e = {"", ""};
        auto_workload *w = draw_graph(r);
        CU_ASSERT_PTR_NOT_NULL_FATAL(w);
        auto_workload *fused = th_workload_fuse(w, &e);
        bool is_wrong = !fused || th_workload_macs(fused) != th_workload_macs(w);
        if (is_wrong && n_wrong++ == 0)
            printf("# graph %d: %s\n", i, fused ? "other multiply-accumulates" : e.text);
        for (int l = 0; fused && l < fused->n_layers; l++) {
            n_attentions += fused->layers[l].kind == TH_LAYER_ATTENTION;
            n_norms += fused->layers[l].kind == TH_LAYER_NORM;
            n_gates += fused->layers[l].function == TH_FUNCTION_GATE;
        }
    }
    printf("# %d attentions, %d norms, %d gates\n", n_attentions, n_norms, n_gates);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_attentions > 300 && n_norms > 100 && n_gates > 300);
}

TAP_MAIN("fuse")
