/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models drawn at random: equations of any number of inputs against a count by hand, every
 * operator on any inputs, and shapes that the file states. */
#include <config.h>
#define ONNX_MODEL_FILE "test_onnx_random.tmp.onnx"
#include "tests/unit/draw.h"
#include "tests/unit/onnx_model.h"
#include "tests/unit/workload_help.h"
#include "workloads/onnx/op.h"

/* ---- equations ------------------------------------------------------------------------------- */

/* One node Einsum of inputs "a", "b", ... with these extents ("-" in front: weights). */
static int64_t einsum_macs(const char *equation, const char *const *dims, int n)
{
    char inputs[2 * WORDS + 1] = "", attributes[200];
    th_onnx_notes notes;
    th_error e;
    begin(NULL);
    for (int i = 0; i < n; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        snprintf(inputs + 2 * i, 3, "%s ", name);
        if (dims[i][0] == '-')
            weights(name, dims[i] + 1);
        else
            input(name, 1, dims[i]);
    }
    snprintf(attributes, sizeof attributes, "equation=%s", equation);
    node("Einsum", inputs, "y", attributes);
    th_workload *w = read_y(false, &notes, &e);
    TAP_ASSERT_TEXT(e.text, "");
    if (!w)
        return -1;
    CU_ASSERT_EQUAL(notes.left_out.n + notes.n_copied, 0);
    int64_t macs = macs_of(w);
    th_workload_free(w);
    return macs;
}

#define EINSUM(equation, ...)                                                                      \
    einsum_macs(equation, (const char *const[]){__VA_ARGS__},                                      \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* From left to right; sums over an axis of one input come before its product. */
TEST(equations_are_products_from_left_to_right)
{
    CU_ASSERT_EQUAL(EINSUM("bij,bjk,bkl->bil", "2,4,8", "2,8,16", "2,16,3"),
                    2 * 4 * 8 * 16 + 2 * 4 * 16 * 3);
    TAP_ASSERT_TEXT(shape_of_y, "2,4,3");
    CU_ASSERT_EQUAL(EINSUM("ij,jk,kl,lm->im", "2,3", "-3,5", "-5,7", "7,11"),
                    2 * 3 * 5 + 2 * 5 * 7 + 2 * 7 * 11);
    CU_ASSERT_EQUAL(EINSUM("ij,jk->k", "64,8", "8,16"), 8 * 16); /* rows are summed before */
    CU_ASSERT_EQUAL(EINSUM("ij,kl->jl", "4,8", "16,3"), 8 * 3);  /* on both sides */
    CU_ASSERT_EQUAL(EINSUM("ij,jk,k->", "4,8", "8,16", "16"), 8 * 16 + 16);
    CU_ASSERT_EQUAL(EINSUM("ij,ij->ij", "4,8", "4,8"), 4 * 8);
    CU_ASSERT_EQUAL(EINSUM("i,j->ij", "4", "8"), 4 * 8);
    CU_ASSERT_EQUAL(EINSUM("iij,jk->ik", "4,4,8", "8,3"), 4 * 8 * 3); /* of the diagonal */
    CU_ASSERT_EQUAL(EINSUM("...ij,...jk->...ik", "2,3,4,8", "3,8,5"), 2 * 3 * 4 * 8 * 5);
    TAP_ASSERT_TEXT(shape_of_y, "2,3,4,5");
    CU_ASSERT_EQUAL(EINSUM("bij,bjk->bik", "6,4,8", "1,8,5"), 6 * 4 * 8 * 5);
    CU_ASSERT_EQUAL(EINSUM("ij,jk->ik", "4,1", "8,5"), 4 * 5); /* of the sum over j */
    CU_ASSERT_EQUAL(EINSUM("a,ab,abc,abcd->d", "2", "2,3", "2,3,5", "2,3,5,7"),
                    2 * 3 + 2 * 3 * 5 + 2 * 3 * 5 * 7);
    CU_ASSERT_EQUAL(EINSUM("ij->ji", "4,8"), 0);
    TAP_ASSERT_TEXT(shape_of_y, "8,4");
    CU_ASSERT_EQUAL(EINSUM("ii->", "4,4"), 0);
    CU_ASSERT_EQUAL(EINSUM("cba", "2,3,5"), 0);
    TAP_ASSERT_TEXT(shape_of_y, "5,3,2");
}

TEST(equations_that_are_none_are_refused)
{
    static const char *const bad[] = {"ij,jk->iz", "ij,jk->ii",  "ij,jk->i.k", "ij,jk-",  "ij,jk->",
                                      "ij,kj->ik", "ij,jk,k->i", "ijj,jk->k",  "i1,jk->i"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char attributes[64];
        th_error e;
        begin("4,8");
        weights("w", "8,5");
        snprintf(attributes, sizeof attributes, "equation=%s", bad[i]);
        node("Einsum", "x w", "y", attributes);
        auto_workload *w = read_y(false, NULL, &e);
        bool is_good = strcmp(bad[i], "ij,jk->") == 0; /* the sum of all */
        TAP_ASSERT_TEXT(e.id, is_good ? "" : "WORK-0146");
    }
}

enum { LETTERS = 6, TERMS = 4, ALL = 4 };

typedef struct {
    int n, extent[LETTERS];
    int letters[TERMS][ALL], rank[TERMS]; /* which axes the inputs have, in their order */
    bool is_thin[TERMS][ALL];             /* it has an extent of 1 and is broadcast */
    bool is_weight[TERMS];
    int out[LETTERS], n_out;
} drawn;

static void shuffle(gsl_rng *r, int *list, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = draw(r, 0, i), kept = list[i];
        list[i] = list[k];
        list[k] = kept;
    }
}

static void draw_equation(gsl_rng *r, drawn *d)
{
    unsigned present = 0;
    *d = (drawn){.n = draw(r, 1, TERMS)};
    for (int i = 0; i < LETTERS; i++)
        d->extent[i] = draw(r, 1, 5);
    for (int i = 0; i < d->n; i++) {
        d->is_weight[i] = i > 0 && draw(r, 0, 2) == 0;
        d->rank[i] = draw(r, 1, ALL);
        for (int k = 0; k < d->rank[i]; k++) {
            int letter = d->letters[i][k] = draw(r, 0, LETTERS - 1);
            if (draw(r, 0, 3) > 0 || d->extent[letter] == 1)
                present |= 1u << letter;
            else
                d->is_thin[i][k] = true;
            for (int j = 0; j < k; j++) /* a diagonal is as long in both directions */
                if (d->letters[i][j] == letter)
                    d->is_thin[i][k] = d->is_thin[i][j];
        }
    }
    for (int i = 0; i < LETTERS; i++)
        if (present >> i & 1 && draw(r, 0, 1))
            d->out[d->n_out++] = i;
    shuffle(r, d->out, d->n_out);
}

/* Letters whose axis has its whole length somewhere in this input. */
static unsigned letters_of(const drawn *d, int i)
{
    unsigned set = 0;
    for (int k = 0; k < d->rank[i]; k++)
        if (!d->is_thin[i][k])
            set |= 1u << d->letters[i][k];
    return set;
}

static int64_t size_of(const drawn *d, unsigned letters)
{
    int64_t n = 1;
    for (int i = 0; i < LETTERS; i++)
        n *= letters >> i & 1 ? d->extent[i] : 1;
    return n;
}

/* Products from left to right; products of weights are no work of the model's. */
static int64_t counted(const drawn *d)
{
    unsigned all = letters_of(d, 0), needed = 0;
    int64_t macs = 0;
    for (int i = 1; i < d->n; i++) {
        unsigned next = letters_of(d, i);
        needed = 0;
        for (int k = 0; k < d->n_out; k++)
            needed |= 1u << d->out[k];
        for (int k = i + 1; k < d->n; k++)
            needed |= letters_of(d, k);
        unsigned kept = (all & (next | needed)) | (next & (all | needed));
        macs += size_of(d, kept);
        all = kept & needed;
    }
    return macs;
}

/* The extents of every letter are those of some input, or 1 where all are thin. */
static void settle(drawn *d)
{
    unsigned seen = 0;
    for (int i = 0; i < d->n; i++)
        seen |= letters_of(d, i);
    for (int i = 0; i < LETTERS; i++)
        d->extent[i] = seen >> i & 1 ? d->extent[i] : 1;
}

static void write_terms(const drawn *d, char *equation, char (*dims)[64])
{
    size_t n = 0;
    for (int i = 0; i < d->n; i++) {
        size_t used = (size_t)snprintf(dims[i], 64, "%s", d->is_weight[i] ? "-" : "");
        equation[n] = ',';
        n += i > 0;
        for (int k = 0; k < d->rank[i]; k++) {
            int extent = d->is_thin[i][k] ? 1 : d->extent[d->letters[i][k]];
            used += (size_t)snprintf(dims[i] + used, 64 - used, "%s%d", k ? "," : "", extent);
            equation[n++] = (char)("aZbYcX"[d->letters[i][k]]);
        }
    }
    equation[n++] = '-';
    equation[n++] = '>';
    for (int k = 0; k < d->n_out; k++)
        equation[n++] = "aZbYcX"[d->out[k]];
    equation[n] = '\0';
}

TEST(random_equations_have_the_operations_of_a_count)
{
    auto_rng *r = th_random_stream(1, "equations", 0);
    int several = 0;
    for (int i = 0; i < 400; i++) {
        drawn d;
        char equation[64], dims[TERMS][64], expected[128] = "";
        const char *list[TERMS] = {dims[0], dims[1], dims[2], dims[3]};
        draw_equation(r, &d);
        settle(&d);
        write_terms(&d, equation, dims);
        int64_t macs = einsum_macs(equation, list, d.n), right = counted(&d);
        for (int k = 0; k < d.n_out; k++)
            snprintf(expected + strlen(expected), 16, "%s%d", k ? "," : "", d.extent[d.out[k]]);
        TAP_ASSERT_TEXT(shape_of_y, expected);
        CU_ASSERT_EQUAL(macs, right);
        if (macs != right)
            printf("# %s of %s | %s | %s | %s: %lld, not %lld\n", equation, dims[0],
                   d.n > 1 ? dims[1] : "", d.n > 2 ? dims[2] : "", d.n > 3 ? dims[3] : "",
                   (long long)macs, (long long)right);
        several += d.n > 2 && macs > 0;
    }
    CU_ASSERT(several > 100);
}

/* ---- every operator -------------------------------------------------------------------------- */

/* Extents that fit many operators: few different ones, so that axes are often equal. */
static void draw_dims(gsl_rng *r, char *out, size_t size)
{
    int rank = draw(r, 1, 4);
    size_t n = 0;
    for (int i = 0; i < rank; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%d", i ? "," : "", draw(r, 0, 2) ? 4 : 2);
}

/* None, or up to three, each a number or a list. */
static void draw_attributes(gsl_rng *r, char *out, size_t size)
{
    static const char *const names[] = {
        "axis",        "axes",      "group",     "strides", "pads",   "kernel_shape",
        "dilations",   "perm",      "keepdims",  "to",      "transA", "transB",
        "hidden_size", "blocksize", "num_heads", "K",       "N",      "split",
        "batch_dims",  "ceil_mode", "onesided",  "layout",  "shape",  "num_outputs"};
    size_t n = 0;
    out[0] = '\0';
    for (int i = draw(r, -2, 3); i > 0; i--) {
        n += (size_t)snprintf(out + n, size - n, "%s=%d",
                              names[draw(r, 0, sizeof names / sizeof *names - 1)], draw(r, -1, 4));
        for (int k = draw(r, 0, 1) * draw(r, 1, 3); k > 0; k--)
            n += (size_t)snprintf(out + n, size - n, ",%d", draw(r, -1, 3));
        n += (size_t)snprintf(out + n, size - n, " ");
    }
}

/* One node of one to four inputs: it is refused by name, or whatever it leaves out is told. */
static void check_operator(gsl_rng *r, const th_onnx_operator *o, int *read, int *refusals)
{
    char inputs[80] = "x0 ", start[160], attributes[160];
    int n = draw(r, 1, 4);
    th_onnx_notes notes;
    th_error e;
    begin(NULL);
    for (int i = 0; i < n; i++) {
        char name[16], dims[32];
        snprintf(name, sizeof name, "x%d", i);
        draw_dims(r, dims, sizeof dims);
        if (i > 0)
            strcat(strcat(inputs, name), " ");
        if (i == 0 || draw(r, 0, 1))
            input(name, 1, dims);
        else if (draw(r, 0, 2))
            weights(name, dims);
        else
            integers(name, "1,2", false);
    }
    draw_attributes(r, attributes, sizeof attributes);
    ThOnnx__Node *made = node(o->name, inputs, "y", attributes);
    node("Neg", "x0", "z", ""); /* a layer, also beside views */
    if (o->is_microsoft)
        made->domain = keep("com.microsoft", 13);
    snprintf(start, sizeof start, "%s: node \"y\" (%s of %s): ", path, o->name,
             o->is_microsoft ? "com.microsoft" : "ai.onnx");
    auto_workload *w = read_y(false, &notes, &e);
    if (w) {
        bool has_work = o->class != TH_ONNX_PRODUCT || macs_of(w) > 0 || notes.n_copied > 0 ||
                        w->n_layers == 1 || strstr(shape_of_y, "0");
        CU_ASSERT_TRUE(has_work);
        if (!has_work)
            printf("# %s of %s %s: no operations\n", o->name, inputs, attributes);
        ++*read;
    } else {
        CU_ASSERT_EQUAL(strncmp(e.text, start, strlen(start)), 0);
        if (strncmp(e.text, start, strlen(start)) != 0)
            printf("# %s %s: %s\n", o->name, attributes, e.text);
        ++*refusals;
    }
}

TEST(any_operator_on_any_inputs_is_read_whole_or_refused_by_name)
{
    auto_rng *r = th_random_stream(1, "operators", 0);
    int read = 0, refusals = 0;
    for (int i = 0; th_onnx_operator_at(i); i++)
        for (int k = 0; k < 40; k++)
            check_operator(r, th_onnx_operator_at(i), &read, &refusals);
    CU_ASSERT(read > 2000 && refusals > 2000);
}

/* ---- stated shapes --------------------------------------------------------------------------- */

enum { STEPS = 6 };

/* A chain of nodes from "x" to "y", of which those in the mask have no rule; all shapes are stated,
 * that of the node `wrong` with one extent more. The multiply-accumulates. */
static int64_t make_chain(gsl_rng *r, unsigned unknown, int wrong)
{
    int rows = draw(r, 2, 9), columns = draw(r, 2, 9);
    int64_t macs = 0;
    char from[16] = "x", to[16], dims[32], weight[16], both[40];
    snprintf(dims, sizeof dims, "%d,%d", rows, columns);
    begin(dims);
    for (int i = 0; i < STEPS; i++) {
        int next = draw(r, 2, 9);
        bool is_unknown = unknown >> i & 1, is_product = is_unknown || draw(r, 0, 1);
        snprintf(to, sizeof to, "%s%.0d", i + 1 < STEPS ? "t" : "y", i + 1 < STEPS ? i + 1 : 0);
        snprintf(weight, sizeof weight, "w%d", i);
        snprintf(dims, sizeof dims, "%d,%d", columns, next);
        if (is_product)
            weights(weight, dims);
        snprintf(both, sizeof both, "%s %s", from, weight);
        ThOnnx__Node *n = is_product ? node(is_unknown ? "Mix" : "MatMul", both, to, "")
                                     : node("Relu", from, to, "");
        if (is_unknown)
            n->domain = keep("acme", 4);
        else if (is_product)
            macs += (int64_t)rows * columns * next;
        columns = is_product ? next : columns;
        snprintf(dims, sizeof dims, "%d,%d", rows, columns + (wrong == i));
        stated(to, dims);
        memcpy(from, to, sizeof from);
    }
    return macs;
}

/* What follows an operator without a rule has the shapes that the file states; that is told. */
TEST(copies_have_the_shapes_that_the_file_states)
{
    auto_rng *r = th_random_stream(1, "chains", 0);
    for (int i = 0; i < 200; i++) {
        unsigned unknown = (unsigned)draw(r, 0, (1 << STEPS) - 1);
        th_onnx_notes notes;
        th_error e;
        int64_t macs = make_chain(r, unknown, -1);
        int copies = 0;
        for (int k = 0; k < STEPS; k++)
            copies += unknown >> k & 1;
        auto_workload *w = read_y(true, &notes, &e);
        TAP_ASSERT_TEXT(e.text, "");
        CU_ASSERT_FATAL(w != NULL);
        CU_ASSERT_EQUAL(macs_of(w), macs);
        CU_ASSERT_EQUAL(notes.n_copied, copies);
        CU_ASSERT_EQUAL(notes.copied[0].n, copies);
        TAP_ASSERT_TEXT(notes.copied[0].first, copies ? "Mix of acme" : "");
        CU_ASSERT_TRUE(notes.guessed.n == 0 && notes.contradicted.n == 0 && notes.left_out.n == 0);
    }
}

/* A shape that is not what the rule makes is told, and the rule's holds. */
TEST(stated_shapes_that_are_not_so_are_told)
{
    auto_rng *r = th_random_stream(1, "contradictions", 0);
    for (int i = 0; i < 100; i++) {
        th_onnx_notes notes;
        th_error e;
        int wrong = draw(r, 0, STEPS - 1);
        char start[32];
        int64_t macs = make_chain(r, 0, wrong);
        snprintf(start, sizeof start, "axis 1 of \"%s%.0d\" of ", wrong + 1 < STEPS ? "t" : "y",
                 wrong + 1 < STEPS ? wrong + 1 : 0);
        auto_workload *w = read_y(false, &notes, &e);
        TAP_ASSERT_TEXT(e.text, "");
        CU_ASSERT_FATAL(w != NULL);
        CU_ASSERT_EQUAL(macs_of(w), macs);
        CU_ASSERT_EQUAL(notes.contradicted.n, 1);
        CU_ASSERT_EQUAL(strncmp(notes.contradicted.first, start, strlen(start)), 0);
    }
}

/* An open axis of a stated shape is the input's; that is a guess. A mask is read by no layer. */
TEST(what_is_guessed_or_left_out_is_told)
{
    th_onnx_notes notes;
    th_error e;
    begin("3,5,7");
    node("Mix", "x", "y", "");
    stated("y", "0,11");
    auto_workload *w = read_y(true, &notes, &e);
    TAP_ASSERT_TEXT(shape_of_y, "3,11");
    CU_ASSERT_TRUE(w && notes.guessed.n == 1);
    th_workload_free(w);
    begin("1,4,8");
    input("mask", 1, "1,4");
    weights("k", "1,4,8");
    node("MultiHeadAttention", "x k k - mask", "y", "num_heads=2");
    w = read_y(false, &notes, &e);
    CU_ASSERT_TRUE(w && notes.left_out.n == 1);
    TAP_ASSERT_TEXT(notes.left_out.first,
                    "input 5 \"mask\" of node \"y\" (MultiHeadAttention of ai.onnx)");
    th_workload_free(w);
    begin("1,4,8,8"); /* what FusedConv adds, and Gemm, is read */
    input("z", 1, "1,4,8,8");
    weights("w", "4,4,1,1");
    node("FusedConv", "x w - z", "y", "");
    w = read_y(false, &notes, &e);
    CU_ASSERT_FATAL(w && notes.left_out.n == 0);
    CU_ASSERT_TRUE(macs_of(w) == 4 * 4 * 64 && w->n_layers == 4);
    th_workload_free(w);
    begin("3,4,2");
    input("c", 1, "3,5");
    weights("w", "8,5");
    node("Gemm", "x w c", "y", "");
    w = read_y(false, &notes, &e);
    CU_ASSERT_FATAL(w && notes.left_out.n == 0);
    CU_ASSERT_EQUAL(macs_of(w), 3 * 8 * 5);
}

TAP_MAIN("onnx_random")
