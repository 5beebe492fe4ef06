/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every kind of layer, drawn at random, against a walk over the elements that its part of the loop
 * nest touches, by the equations at the top of workloads/layer.h; and what each may be cut
 * along. */
#include <config.h>
#include "workloads/layer.h"
#include "tests/unit/draw.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"

/* ---- the walk ---- */

enum { LARGEST = 24 };

/* Which elements of one image of an input are touched: by channel, row, column. */
typedef struct touched {
    th_box box;
    int64_t n;
    bool seen[LARGEST][LARGEST][LARGEST];
} touched;

static void touch(touched *t, int b, int c, int h, int w)
{
    const int at[TH_TENSOR_DIMS] = {b, c, h, w};
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        if (t->n == 0 || at[d] < t->box.lo[d])
            t->box.lo[d] = at[d];
        if (t->n == 0 || at[d] + 1 > t->box.hi[d])
            t->box.hi[d] = at[d] + 1;
    }
    if (!t->seen[c][h][w])
        t->n++;
    t->seen[c][h][w] = true;
}

/* Row y of the input with its zeros, as a row of the input; -1: padding or a zero. */
static int real_row(int y, int up, int size)
{
    return y >= 0 && y % up == 0 && y / up < size ? y / up : -1;
}

/* Along an axis in which the input has another extent, all of it. */
static void touch_shaped(touched *t, const th_layer *l, int input, const int32_t i[TH_N_DIMS])
{
    const int32_t *shape = l->input_shapes + 3 * input, *d = l->dim;
    for (int c = 0; c < shape[0]; c++)
        for (int h = 0; h < shape[1]; h++)
            for (int w = 0; w < shape[2]; w++)
                if ((shape[0] != d[TH_DIM_K] || c == i[TH_DIM_K]) &&
                    (shape[1] != d[TH_DIM_H] || h == i[TH_DIM_H]) &&
                    (shape[2] != d[TH_DIM_W] || w == i[TH_DIM_W]))
                    touch(t, i[TH_DIM_B], c, h, w);
}

/* Does row h of an attention see this key? Row h is token h % n of the last n tokens. */
static bool sees(const th_layer *l, int h, int key)
{
    int n = l->causal_rows, own = n > 0 ? l->dim[TH_DIM_R] - n + h % n : 0;
    return n == 0 || (key <= own && (l->window == 0 || key > own - l->window));
}

/* Query head `group` reads the keys and values that it shares with its neighbours; a mask is read
 * whole, but for the rows of other queries. */
static void touch_attention(touched *t, const th_layer *l, int input, const int32_t i[TH_N_DIMS])
{
    const int32_t *shape = l->input_shapes + 3 * input;
    int width = l->dim[TH_DIM_C] / l->groups, out = l->dim[TH_DIM_K] / l->groups;
    int head = i[TH_DIM_K] / out, key_head = head / (l->groups / th_layer_key_heads(l));
    int channel = i[TH_DIM_C] % width, row = i[TH_DIM_R];
    if (input == 0)
        touch(t, i[TH_DIM_B], head * width + channel, i[TH_DIM_H], 0);
    else if (input == 1 && sees(l, i[TH_DIM_H], row))
        touch(t, i[TH_DIM_B], key_head * width + channel, row, 0);
    else if (input == 2 && sees(l, i[TH_DIM_H], row))
        touch(t, i[TH_DIM_B], key_head * out + i[TH_DIM_K] % out, row, 0);
    for (int c = 0; input == 3 && c < shape[0]; c++)
        for (int h = 0; h < shape[1]; h++)
            for (int w = 0; w < shape[2]; w++)
                if (shape[1] != l->dim[TH_DIM_H] || h == i[TH_DIM_H])
                    touch(t, i[TH_DIM_B], c, h, w);
}

/* Rows and columns of a matmul: of the first input, else of the second. */
static void touch_matmul(touched *t, const th_layer *l, int input, const int32_t i[TH_N_DIMS])
{
    int k_per_group = l->dim[TH_DIM_K] / l->groups, c_per_group = l->dim[TH_DIM_C] / l->groups;
    int k = i[TH_DIM_K], c = i[TH_DIM_C];
    if (c / c_per_group != k / k_per_group)
        return;
    if (input == 0)
        touch(t, i[TH_DIM_B], c, i[TH_DIM_H], 0);
    else if (l->is_transposed)
        touch(t, i[TH_DIM_B], c, k % k_per_group, 0);
    else
        touch(t, i[TH_DIM_B], k, c % c_per_group, 0);
}

/* One step of the loop nest; a kind that sums without a loop of its own walks its channels here. */
static void walk_step(const th_layer *l, int input, const int32_t i[TH_N_DIMS], touched *t)
{
    int b = i[TH_DIM_B], k = i[TH_DIM_K], c = i[TH_DIM_C], h = i[TH_DIM_H], w = i[TH_DIM_W],
        before = 0;
    int k_per_group = l->dim[TH_DIM_K] / l->groups, c_per_group = l->dim[TH_DIM_C] / l->groups;
    int group = k / k_per_group;
    int y = real_row(h * l->stride_h - l->pad_top + i[TH_DIM_R] * l->dilation_h, l->up_h, l->in_h);
    int x = real_row(w * l->stride_w - l->pad_left + i[TH_DIM_S] * l->dilation_w, l->up_w, l->in_w);
    switch (l->kind) {
    case TH_LAYER_CONV:
    case TH_LAYER_FC:
        if (y >= 0 && x >= 0 && c / c_per_group == group)
            touch(t, b, c, y, x);
        break;
    case TH_LAYER_MATMUL:
        touch_matmul(t, l, input, i);
        break;
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
        for (int step = 0; step <= h; step++)
            touch(t, b, c, step, 0);
        break;
    case TH_LAYER_EMBEDDING:
        touch(t, b, 0, h, 0);
        break;
    case TH_LAYER_POOL:
        if (y >= 0 && x >= 0)
            touch(t, b, k, y, x);
        break;
    case TH_LAYER_ELEMENTWISE:
        if (l->input_shapes)
            touch_shaped(t, l, input, i);
        else
            touch(t, b, k, h, w);
        break;
    case TH_LAYER_NORM:
        touch(t, b, l->function == TH_FUNCTION_BATCH_NORM ? k : c, h, w);
        break;
    case TH_LAYER_SOFTMAX:
        if (c / c_per_group == group)
            touch(t, b, c, h, w);
        break;
    case TH_LAYER_CONCAT:
        for (int p = 0; p < input; p++)
            before += l->input_channels[p];
        if (k >= before && k < before + l->input_channels[input])
            touch(t, b, k - before, h, w);
        break;
    case TH_LAYER_SLICE:
        touch(t, b, l->first_channel + k, h, w);
        break;
    case TH_LAYER_ATTENTION:
        touch_attention(t, l, input, i);
        break;
    }
}

static void walk(const th_layer *l, int input, const th_loop_box *part, touched *t)
{
    int32_t i[TH_N_DIMS];
    memset(t, 0, sizeof *t);
    memcpy(i, part->lo, sizeof i);
    for (int d = TH_N_DIMS - 1; d >= 0;) {
        walk_step(l, input, i, t);
        for (d = TH_N_DIMS - 1; d >= 0 && ++i[d] == part->hi[d]; d--)
            i[d] = part->lo[d];
    }
}

/* ---- layers of every kind ---- */

typedef struct drawn {
    th_layer l;
    int32_t parts[3], shapes[12];
} drawn;

static void set_dims(th_layer *l, int k, int c, int h, int w)
{
    l->dim[TH_DIM_K] = k;
    l->dim[TH_DIM_C] = c;
    l->dim[TH_DIM_H] = l->in_h = h;
    l->dim[TH_DIM_W] = l->in_w = w;
}

/* A window with any padding, cropping too: the geometry does not ask where H and W come from. */
static void draw_window(gsl_rng *r, th_layer *l)
{
    l->dim[TH_DIM_R] = draw(r, 1, 4);
    l->dim[TH_DIM_S] = draw(r, 1, 4);
    l->in_h = draw(r, 1, 7);
    l->in_w = draw(r, 1, 7);
    l->pad_top = draw(r, 0, 4);
    l->pad_left = draw(r, 0, 4);
    l->dilation_h = draw(r, 1, 3);
    l->dilation_w = draw(r, 1, 3);
    if (l->kind == TH_LAYER_CONV && draw(r, 0, 1)) {
        l->up_h = draw(r, 1, 4);
        l->up_w = draw(r, 1, 4);
    } else {
        l->stride_h = draw(r, 1, 3);
        l->stride_w = draw(r, 1, 3);
    }
}

static void draw_concat(gsl_rng *r, drawn *d)
{
    int sum = 0;
    d->l.n_inputs = 3;
    d->l.input_channels = d->parts;
    for (int i = 0; i < 3; i++)
        sum += d->parts[i] = draw(r, 1, 4);
    set_dims(&d->l, sum, sum, draw(r, 1, 4), draw(r, 1, 4));
}

/* A copy of two inputs, some of whose extents are the output's. */
static void draw_shapes(gsl_rng *r, drawn *d)
{
    d->l.function = TH_FUNCTION_COPY;
    d->l.input_shapes = d->shapes;
    for (int i = 0; i < 6; i++)
        d->shapes[i] = draw(r, 1, 5);
}

static void draw_attention(gsl_rng *r, drawn *d)
{
    th_layer *l = &d->l;
    int key_heads = draw(r, 1, 2), width = draw(r, 1, 3), out = draw(r, 1, 3), h = draw(r, 1, 5),
        keys = draw(r, 1, 5);
    const int32_t shapes[] = {
        0, h, 1, key_heads * width, keys, 1, key_heads * out, keys, 1, draw(r, 1, 4), draw(r, 1, 5),
        2};
    l->groups = key_heads * draw(r, 1, 3);
    set_dims(l, l->groups * out, l->groups * width, h, 1);
    l->dim[TH_DIM_R] = keys;
    l->n_inputs = 4;
    memcpy(d->shapes, shapes, sizeof shapes);
    d->shapes[0] = l->dim[TH_DIM_C];
    l->input_shapes = d->shapes;
    int n = draw(r, 1, 5);
    if (h % n != 0 || n > keys)
        return;
    l->causal_rows = n;
    l->window = draw(r, 0, 5);
}

static void draw_shape(gsl_rng *r, drawn *d)
{
    th_layer *l = &d->l;
    int n = draw(r, 1, 6), groups = draw(r, 1, 4), h = draw(r, 1, 5), w = draw(r, 1, 5);
    switch (l->kind) {
    case TH_LAYER_CONV:
        l->groups = draw(r, 0, 1) ? groups : 1;
        set_dims(l, l->groups * draw(r, 1, 3), l->groups * draw(r, 1, 3), h, w);
        draw_window(r, l);
        return;
    case TH_LAYER_FC:
        set_dims(l, n, draw(r, 1, 5), 1, 1);
        l->dim[TH_DIM_R] = l->in_h = h;
        l->dim[TH_DIM_S] = l->in_w = w;
        return;
    case TH_LAYER_MATMUL:
        l->n_inputs = 2;
        l->is_transposed = draw(r, 0, 1);
        l->groups = draw(r, 0, 1) ? groups : 1;
        set_dims(l, l->groups * draw(r, 1, 5), l->groups * draw(r, 1, 3), h, 1);
        return;
    case TH_LAYER_LSTM:
    case TH_LAYER_GRU:
    case TH_LAYER_RNN:
        set_dims(l, n, draw(r, 1, 5), h, 1);
        return;
    case TH_LAYER_EMBEDDING:
        set_dims(l, n, 1, h, 1);
        return;
    case TH_LAYER_POOL:
        set_dims(l, n, n, h, w);
        draw_window(r, l);
        return;
    case TH_LAYER_NORM:
        l->function = (th_function)draw(r, TH_FUNCTION_BATCH_NORM, TH_FUNCTION_RMS_NORM);
        set_dims(l, n, n, h, w);
        return;
    case TH_LAYER_ELEMENTWISE:
        l->function = TH_FUNCTION_MUL;
        l->n_inputs = 2;
        set_dims(l, n, n, h, w);
        if (draw(r, 0, 1))
            draw_shapes(r, d);
        return;
    case TH_LAYER_SOFTMAX:
        l->groups = groups;
        set_dims(l, groups * n, groups * n, h, w);
        return;
    case TH_LAYER_CONCAT:
        draw_concat(r, d);
        return;
    case TH_LAYER_SLICE:
        l->first_channel = draw(r, 0, 3);
        set_dims(l, n, l->first_channel + n + draw(r, 0, 3), h, w);
        return;
    case TH_LAYER_ATTENTION:
        draw_attention(r, d);
        return;
    }
}

static void draw_layer(gsl_rng *r, th_layer_kind kind, drawn *d)
{
    *d = (drawn){.l = {.kind = kind,
                       .dim = {2, 1, 1, 1, 1, 1, 1},
                       .stride_h = 1,
                       .stride_w = 1,
                       .dilation_h = 1,
                       .dilation_w = 1,
                       .up_h = 1,
                       .up_w = 1,
                       .groups = 1,
                       .n_inputs = 1}};
    draw_shape(r, d);
}

/* A loop that no strategy may cut stays whole, and so do the sums of grouped layers and the heads
 * of an attention. */
static th_loop_box draw_part(gsl_rng *r, const th_layer *l)
{
    th_loop_box part = th_layer_loops(l);
    for (int d = 0; d < TH_N_DIMS; d++) {
        bool is_window = (l->kind == TH_LAYER_POOL || l->kind == TH_LAYER_ATTENTION) &&
                         (d == TH_DIM_R || d == TH_DIM_S);
        bool is_whole = d == TH_DIM_C && !th_layer_can_split(l, TH_DIM_C, 2);
        if (is_window || is_whole)
            continue;
        part.lo[d] = draw(r, 0, l->dim[d] - 1);
        part.hi[d] = draw(r, part.lo[d] + 1, l->dim[d]);
    }
    int head = l->dim[TH_DIM_K] / l->groups;
    if (l->kind == TH_LAYER_ATTENTION) {
        part.lo[TH_DIM_K] = part.lo[TH_DIM_K] / head * head;
        part.hi[TH_DIM_K] = (part.hi[TH_DIM_K] - 1) / head * head + head;
    }
    return part;
}

/* The part's boxes, and the whole layer's inside the tensors. */
static bool agrees_with_walk(const th_layer *l, const th_loop_box *part)
{
    touched t;
    for (int i = 0; i < l->n_inputs; i++) {
        th_box got = th_layer_input_of(l, i, part), whole = th_layer_input_box(l, i);
        walk(l, i, part, &t);
        if (t.n == 0 ? !th_box_is_empty(&got) : !th_box_equal(&got, &t.box))
            return false;
        if (!contains(&whole, &got))
            return false;
    }
    return true;
}

TEST(reads_what_a_walk_over_elements_reads)
{
    auto_rng *r = th_random_stream(11, "layer kinds", 0);
    for (int kind = TH_LAYER_CONV; kind <= TH_LAYER_ATTENTION; kind++) {
        int n_wrong = 0;
        for (int i = 0; i < 2000; i++) {
            drawn d;
            draw_layer(r, (th_layer_kind)kind, &d);
            th_loop_box part = draw_part(r, &d.l);
            n_wrong += !agrees_with_walk(&d.l, &part);
        }
        CU_ASSERT_EQUAL(n_wrong, 0);
        if (n_wrong)
            CU_assertImplementation(CU_FALSE, (unsigned)kind, "kind (line) differs", __FILE__, "",
                                    CU_FALSE);
    }
}

/* But for halos and strides, all of an input is read by all of the loops. */
TEST(whole_loops_read_whole_inputs)
{
    auto_rng *r = th_random_stream(12, "layer kinds", 0);
    for (int kind = TH_LAYER_CONV; kind <= TH_LAYER_ATTENTION; kind++) {
        if (kind == TH_LAYER_CONV || kind == TH_LAYER_POOL || kind == TH_LAYER_SLICE)
            continue;
        for (int i = 0; i < 100; i++) {
            drawn d;
            draw_layer(r, (th_layer_kind)kind, &d);
            th_loop_box all = th_layer_loops(&d.l);
            for (int input = 0; input < d.l.n_inputs && d.l.window == 0; input++) {
                th_box got = th_layer_input_of(&d.l, input, &all);
                th_box whole = th_layer_input_box(&d.l, input);
                CU_ASSERT_TRUE(th_box_equal(&got, &whole));
            }
        }
    }
}

/* The scores of any rows are those that a walk over rows and keys sees, so parts add up to the
 * whole. */
TEST(scores_are_counted_as_a_walk_counts_them)
{
    auto_rng *r = th_random_stream(14, "layer kinds", 0);
    int n_causal = 0, n_windows = 0, n_wrong = 0;
    for (int i = 0; i < 3000; i++) {
        drawn d;
        draw_layer(r, TH_LAYER_ATTENTION, &d);
        int h = d.l.dim[TH_DIM_H], first = draw(r, 0, h - 1), end = draw(r, first + 1, h), sum = 0;
        for (int row = first; row < end; row++)
            for (int key = 0; key < d.l.dim[TH_DIM_R]; key++)
                sum += sees(&d.l, row, key);
        n_causal += d.l.causal_rows > 1;
        n_windows += d.l.window > 0;
        n_wrong += th_layer_scores(&d.l, first, end) != sum;
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_causal > 300 && n_windows > 300);
}

/* ---- what may be cut ---- */

/* Is every piece's box of the second input made of the elements that the piece reads, no others? */
static bool is_exact(const th_layer *l, int n)
{
    touched t;
    for (int i = 0; i < n; i++) {
        th_loop_box part = th_layer_loops(l);
        part.lo[TH_DIM_K] = i * l->dim[TH_DIM_K] / n;
        part.hi[TH_DIM_K] = (i + 1) * l->dim[TH_DIM_K] / n;
        th_box box = th_layer_input_of(l, 1, &part);
        walk(l, 1, &part, &t);
        if (th_box_elements(&box) != t.n * l->dim[TH_DIM_B])
            return false;
    }
    return true;
}

/* Q K^T may be cut along its columns exactly where the boxes of K have no holes. */
TEST(cuts_a_matmul_where_its_boxes_are_exact)
{
    auto_rng *r = th_random_stream(13, "layer kinds", 0);
    int n_wrong = 0, n_allowed = 0, n_refused = 0;
    for (int i = 0; i < 500; i++) {
        drawn d;
        draw_layer(r, TH_LAYER_MATMUL, &d);
        if (d.l.groups == 1)
            continue;
        d.l.is_transposed = true;
        for (int n = 1; n <= d.l.dim[TH_DIM_K]; n++) {
            bool allowed = th_layer_can_split(&d.l, TH_DIM_K, n);
            n_wrong += allowed != is_exact(&d.l, n);
            n_allowed += allowed;
            n_refused += !allowed;
        }
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(n_allowed > 100 && n_refused > 100);
}

/* 6 heads of 4 columns: 2, 3 and 6 pieces are whole heads, 12 lie inside one; 4 pieces (borders 6,
 * 12, 18) and 5 (4, 9, 14, 19) cross one, and so on up to 14. */
TEST(cuts_heads_at_their_borders)
{
    th_layer l = {
        .kind = TH_LAYER_MATMUL, .dim = {1, 24, 18, 5, 1, 1, 1}, .groups = 6, .n_inputs = 2};
    for (int n = 1; n <= 14; n++) {
        bool expected = n == 1 || n == 2 || n == 3 || n == 6 || n == 12;
        CU_ASSERT_EQUAL(th_layer_can_split(&l, TH_DIM_K, n), expected);
    }
    CU_ASSERT_FALSE(th_layer_can_split(&l, TH_DIM_C, 2));
    CU_ASSERT_TRUE(th_layer_can_split(&l, TH_DIM_H, 5));
    l.groups = 1;
    CU_ASSERT_TRUE(th_layer_can_split(&l, TH_DIM_C, 2) && th_layer_can_split(&l, TH_DIM_K, 5));
}

/* What may be cut in two: letters of the dimensions. A softmax of 4 heads may be cut along them. */
TEST(every_kind_says_what_it_may_be_cut_along)
{
    static const struct {
        th_layer_kind kind;
        th_function function;
        int groups;
        const char *dims;
    } cases[] = {
        {TH_LAYER_CONV, TH_FUNCTION_NONE, 1, "BKCHWRS"},
        {TH_LAYER_CONV, TH_FUNCTION_NONE, 4, "BKHWRS"},
        {TH_LAYER_FC, TH_FUNCTION_NONE, 1, "BKCHWRS"},
        {TH_LAYER_MATMUL, TH_FUNCTION_NONE, 1, "BKCHWRS"},
        {TH_LAYER_LSTM, TH_FUNCTION_NONE, 1, "B"},
        {TH_LAYER_GRU, TH_FUNCTION_NONE, 1, "B"},
        {TH_LAYER_RNN, TH_FUNCTION_NONE, 1, "B"},
        {TH_LAYER_EMBEDDING, TH_FUNCTION_NONE, 1, "BKHW"},
        {TH_LAYER_POOL, TH_FUNCTION_NONE, 1, "BKHW"},
        {TH_LAYER_ELEMENTWISE, TH_FUNCTION_ADD, 1, "BKHW"},
        {TH_LAYER_NORM, TH_FUNCTION_BATCH_NORM, 1, "BKHW"},
        {TH_LAYER_NORM, TH_FUNCTION_LAYER_NORM, 1, "BHW"},
        {TH_LAYER_NORM, TH_FUNCTION_RMS_NORM, 1, "BHW"},
        {TH_LAYER_SOFTMAX, TH_FUNCTION_NONE, 1, "BHW"},
        {TH_LAYER_SOFTMAX, TH_FUNCTION_NONE, 4, "BKHW"},
        {TH_LAYER_CONCAT, TH_FUNCTION_NONE, 1, "BKHW"},
        {TH_LAYER_SLICE, TH_FUNCTION_NONE, 1, "BKHW"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        th_layer l = {.kind = cases[i].kind,
                      .function = cases[i].function,
                      .groups = cases[i].groups,
                      .dim = {4, 16, 16, 4, 4, 4, 4},
                      .n_inputs = 1};
        char got[TH_N_DIMS + 1] = "";
        for (int d = 0, n = 0; d < TH_N_DIMS; d++)
            if (th_layer_can_split(&l, (th_dim)d, 2))
                got[n++] = th_dim_letters[d];
        TAP_ASSERT_TEXT(got, cases[i].dims);
        CU_ASSERT_TRUE(th_layer_can_split(&l, TH_DIM_C, 1));
    }
    th_layer softmax = {.kind = TH_LAYER_SOFTMAX, .groups = 4, .dim = {4, 16, 16, 4, 4, 1, 1}};
    CU_ASSERT_FALSE(th_layer_can_split(&softmax, TH_DIM_K, 3) ||
                    th_layer_can_split(&softmax, TH_DIM_K, 8));
}

TEST(recurrences_sum_but_are_not_cut)
{
    th_layer l = {
        .kind = TH_LAYER_LSTM, .dim = {4, 16, 16, 4, 1, 1, 1}, .groups = 1, .n_inputs = 1};
    CU_ASSERT_TRUE(th_layer_has_macs(&l) && th_layer_has_weights(&l));
    CU_ASSERT_FALSE(th_layer_is_reduction(&l, TH_DIM_C) || th_layer_is_channelwise(&l));
}

TEST(names_every_type)
{
    static const char *const kinds[] = {
        "conv",    "fc",      "matmul",  "lstm",   "gru",   "embedding", "max_pool",
        "unknown", "unknown", "softmax", "concat", "slice", "rnn",       "fused_attention"};
    static const char *const functions[] = {"unknown", "add",  "mul",        "relu",    "sigmoid",
                                            "tanh",    "gelu", "silu",       "scale",   "shift",
                                            "power",   "copy", "reduce",     "dropout", "rotary",
                                            "gate",    "norm", "layer_norm", "rms_norm"};
    for (int k = TH_LAYER_CONV; k <= TH_LAYER_ATTENTION; k++)
        TAP_ASSERT_TEXT(th_layer_type_name(&(th_layer){.kind = (th_layer_kind)k}), kinds[k]);
    for (int f = TH_FUNCTION_NONE; f <= TH_FUNCTION_RMS_NORM; f++)
        TAP_ASSERT_TEXT(
            th_layer_type_name(&(th_layer){.kind = TH_LAYER_NORM, .function = (th_function)f}),
            functions[f]);
}

TAP_MAIN("layer_kinds")
