/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/random_net.h"

random_shape shape_of_tensor(const th_workload *w, int tensor)
{
    if (tensor < 0)
        return (random_shape){w->input_c, w->input_h, w->input_w, w->precision};
    const th_layer *l = &w->layers[tensor];
    return (random_shape){l->dim[TH_DIM_K], l->dim[TH_DIM_H], l->dim[TH_DIM_W],
                          l->precision[TH_TENSOR_OUTPUT]};
}

/* --- layers ----------------------------------------------------------------------------------- */

/* Output channels: where the input has as many rows as channels, every layer has as many. */
static int32_t random_channels(gsl_rng *r, const th_workload *w)
{
    bool are_equal = w->input_c == w->input_h && w->input_c > 1;
    return are_equal ? w->input_c : (int32_t)pick(r, 1, RANDOM_CHANNELS_MAX);
}

static double random_density(gsl_rng *r)
{
    return pick(r, 0, 2) ? 1 : (double)pick(r, 1, 19) / 20;
}

static th_layer blank_layer(gsl_rng *r, const th_workload *w, random_shape in, int32_t *inputs)
{
    th_precision weights = (th_precision)pick(r, 0, TH_N_PRECISIONS - 1),
                 output =
                     pick(r, 0, 1) ? in.precision : (th_precision)pick(r, 0, TH_N_PRECISIONS - 1);
    th_layer l = th_layer_over(TH_LAYER_ELEMENTWISE, w->batch, in.c, in.h, in.w, in.precision);
    l.function = TH_FUNCTION_RELU;
    l.precision[TH_TENSOR_WEIGHT] = weights;
    l.precision[TH_TENSOR_OUTPUT] = output;
    for (int t = 0; t < TH_N_TENSORS; t++)
        l.density[t] = random_density(r);
    l.inputs = inputs;
    l.n_inputs = 1;
    return l;
}

static void set_kind(th_layer *l, th_layer_kind kind)
{
    l->kind = kind;
    l->function = TH_FUNCTION_NONE;
}

/* Kernel, stride, padding and dilation along one axis; returns the extent of the output. Outputs
 * that read nothing but padding may happen, and inputs that nobody reads. */
static int32_t random_axis(gsl_rng *r, int32_t in, int32_t *kernel, int32_t *stride, int32_t *pad,
                           int32_t *dilation)
{
    for (;;) {
        *kernel = (int32_t)pick(r, 1, 3);
        *stride = (int32_t)pick(r, 1, 3);
        *pad = (int32_t)pick(r, 0, 2);
        *dilation = (int32_t)pick(r, 1, 2);
        int32_t room = in + *pad + (int32_t)pick(r, 0, 2) - (*kernel - 1) * *dilation - 1;
        if (room >= 0 && room / *stride < RANDOM_EXTENT_MAX)
            return room / *stride + 1;
    }
}

static void random_window(gsl_rng *r, th_layer *l)
{
    l->dim[TH_DIM_H] =
        random_axis(r, l->in_h, &l->dim[TH_DIM_R], &l->stride_h, &l->pad_top, &l->dilation_h);
    l->dim[TH_DIM_W] =
        random_axis(r, l->in_w, &l->dim[TH_DIM_S], &l->stride_w, &l->pad_left, &l->dilation_w);
}

/* The same with up - 1 zeros between inputs, and stride 1. */
static int32_t random_up_axis(gsl_rng *r, int32_t in, int32_t *kernel, int32_t *up, int32_t *pad,
                              int32_t *dilation)
{
    for (;;) {
        *kernel = (int32_t)pick(r, 1, 4);
        *up = (int32_t)pick(r, 1, 3);
        *pad = (int32_t)pick(r, 0, 3);
        *dilation = (int32_t)pick(r, 1, 2);
        int32_t room =
            (in - 1) * *up + 1 + *pad + (int32_t)pick(r, 0, 3) - (*kernel - 1) * *dilation;
        if (room >= 1)
            return room < RANDOM_EXTENT_MAX ? room : RANDOM_EXTENT_MAX;
    }
}

static void random_up_window(gsl_rng *r, th_layer *l)
{
    l->dim[TH_DIM_H] =
        random_up_axis(r, l->in_h, &l->dim[TH_DIM_R], &l->up_h, &l->pad_top, &l->dilation_h);
    l->dim[TH_DIM_W] =
        random_up_axis(r, l->in_w, &l->dim[TH_DIM_S], &l->up_w, &l->pad_left, &l->dilation_w);
}

static int32_t random_divisor(gsl_rng *r, int32_t of)
{
    int32_t d;
    do
        d = (int32_t)pick(r, 1, of);
    while (of % d != 0);
    return d;
}

static void random_sparsity(gsl_rng *r, th_layer *l)
{
    if (pick(r, 0, 3) > 0)
        return;
    l->density[TH_TENSOR_WEIGHT] = 1;
    l->sparse_m = (int32_t)pick(r, 1, 9);
    l->sparse_n = (int32_t)pick(r, 1, l->sparse_m);
}

static void random_conv(gsl_rng *r, th_layer *l)
{
    set_kind(l, TH_LAYER_CONV);
    if (pick(r, 0, 3) == 0)
        random_up_window(r, l);
    else
        random_window(r, l);
    if (pick(r, 0, 2) == 0)
        l->groups = random_divisor(r, l->dim[TH_DIM_C]);
    l->dim[TH_DIM_K] = l->groups * (int32_t)pick(r, 1, RANDOM_CHANNELS_MAX / l->groups);
    l->has_bias = pick(r, 0, 1);
    random_sparsity(r, l);
}

static void random_fc(gsl_rng *r, const th_workload *w, th_layer *l)
{
    set_kind(l, TH_LAYER_FC);
    l->dim[TH_DIM_R] = l->in_h;
    l->dim[TH_DIM_S] = l->in_w;
    l->dim[TH_DIM_H] = l->dim[TH_DIM_W] = 1;
    l->dim[TH_DIM_K] = random_channels(r, w);
    random_sparsity(r, l);
}

/* Two to four tensors of the same shape, the first one again among them. */
static void random_sum(gsl_rng *r, const th_workload *w, th_layer *l)
{
    random_shape own = shape_of_tensor(w, l->inputs[0]);
    l->function = pick(r, 0, 1) ? TH_FUNCTION_ADD : TH_FUNCTION_MUL;
    for (int wanted = (int)pick(r, 2, RANDOM_INPUTS_MAX); l->n_inputs < wanted;) {
        int32_t t = (int32_t)pick(r, -1, w->n_layers - 1);
        random_shape other = shape_of_tensor(w, t);
        bool same = other.c == own.c && other.h == own.h && other.w == own.w &&
                    other.precision == own.precision;
        l->inputs[l->n_inputs++] = same ? t : l->inputs[0];
    }
}

/* Tensors of the same height and width one after the other; stays as it is where there is no room
 * for two. */
static void random_concat(gsl_rng *r, const th_workload *w, th_layer *l, int32_t *channels)
{
    random_shape own = shape_of_tensor(w, l->inputs[0]);
    int32_t sum = channels[0] = own.c;
    for (int tries = 0; tries < 8 && l->n_inputs < RANDOM_INPUTS_MAX; tries++) {
        int32_t t = (int32_t)pick(r, -1, w->n_layers - 1);
        random_shape other = shape_of_tensor(w, t);
        if (other.h != own.h || other.w != own.w || other.precision != own.precision ||
            sum + other.c > RANDOM_CHANNELS_MAX)
            continue;
        channels[l->n_inputs] = other.c;
        l->inputs[l->n_inputs++] = t;
        sum += other.c;
    }
    if (l->n_inputs == 1)
        return;
    set_kind(l, TH_LAYER_CONCAT);
    l->input_channels = channels;
    l->dim[TH_DIM_K] = l->dim[TH_DIM_C] = sum;
}

static void random_slice(gsl_rng *r, th_layer *l)
{
    set_kind(l, TH_LAYER_SLICE);
    l->dim[TH_DIM_K] = (int32_t)pick(r, 1, l->dim[TH_DIM_C]);
    l->first_channel = (int32_t)pick(r, 0, l->dim[TH_DIM_C] - l->dim[TH_DIM_K]);
}

static void random_by_pixel(gsl_rng *r, th_layer *l)
{
    static const th_function norms[] = {TH_FUNCTION_BATCH_NORM, TH_FUNCTION_LAYER_NORM,
                                        TH_FUNCTION_RMS_NORM};
    switch (pick(r, 0, 2)) {
    case 0:
        set_kind(l, TH_LAYER_SOFTMAX);
        l->groups = random_divisor(r, l->dim[TH_DIM_C]);
        break;
    case 1:
        l->kind = TH_LAYER_NORM;
        l->function = norms[pick(r, 0, 2)];
        break;
    default:
        l->function = (th_function)pick(r, TH_FUNCTION_RELU, TH_FUNCTION_SILU);
    }
}

/* --- layers over columns (W = 1) -------------------------------------------------------------- */

/* Does tensor t fit as the second factor, and in which groups? The layer's K and groups are set. */
static bool fits_as_factor(gsl_rng *r, th_layer *l, random_shape t, bool transposed)
{
    int32_t c = l->dim[TH_DIM_C], groups = random_divisor(r, c);
    if (t.w != 1 || t.precision != l->precision[TH_TENSOR_INPUT])
        return false;
    int32_t k = transposed ? groups * t.h : t.c;
    if (transposed ? t.c != c : t.h != c / groups)
        return false;
    if (k % groups != 0 || k > RANDOM_CHANNELS_MAX)
        return false;
    l->groups = groups;
    l->dim[TH_DIM_K] = k;
    return true;
}

static void random_product(gsl_rng *r, const th_workload *w, th_layer *l)
{
    for (int tries = 0; tries < 24 && l->n_inputs == 1; tries++) {
        int32_t t = (int32_t)pick(r, -1, w->n_layers - 1);
        l->is_transposed = pick(r, 0, 1);
        if (!fits_as_factor(r, l, shape_of_tensor(w, t), l->is_transposed))
            continue;
        set_kind(l, TH_LAYER_MATMUL);
        l->inputs[l->n_inputs++] = t;
        l->precision[TH_TENSOR_WEIGHT] = l->precision[TH_TENSOR_INPUT];
    }
    if (l->n_inputs == 1)
        l->is_transposed = false;
}

/* Keys and values of a query, in these tensors; false: they do not fit. The heads are set. */
static bool fit_as_keys(th_layer *l, random_shape keys, random_shape values)
{
    int32_t width = l->dim[TH_DIM_C] / l->groups, key_heads = keys.c / width;
    if (keys.w != 1 || values.w != 1 || keys.h != values.h || keys.c % width != 0 ||
        key_heads == 0 || l->groups % key_heads != 0 || values.c % key_heads != 0 ||
        keys.precision != l->precision[TH_TENSOR_INPUT] || values.precision != keys.precision ||
        values.c / key_heads * l->groups > RANDOM_CHANNELS_MAX)
        return false;
    l->dim[TH_DIM_K] = values.c / key_heads * l->groups;
    l->dim[TH_DIM_R] = keys.h;
    return true;
}

/* The rows are those of one or more heads, each of the last tokens. */
static void random_mask(gsl_rng *r, th_layer *l)
{
    int32_t tokens = random_divisor(r, l->dim[TH_DIM_H]);
    if (tokens > l->dim[TH_DIM_R] || pick(r, 0, 2) == 0)
        return;
    l->causal_rows = tokens;
    l->window = (int32_t)(pick(r, 0, 1) * pick(r, 1, RANDOM_EXTENT_MAX));
}

/* Stays as it is where no keys and values are found. */
static void random_attention(gsl_rng *r, const th_workload *w, th_layer *l, int32_t *shapes)
{
    for (int tries = 0; tries < 24 && l->n_inputs == 1; tries++) {
        int32_t k = (int32_t)pick(r, -1, w->n_layers - 1),
                v = (int32_t)pick(r, -1, w->n_layers - 1);
        l->groups = random_divisor(r, l->dim[TH_DIM_C]);
        if (!fit_as_keys(l, shape_of_tensor(w, k), shape_of_tensor(w, v)))
            continue;
        set_kind(l, TH_LAYER_ATTENTION);
        l->inputs[l->n_inputs++] = k;
        l->inputs[l->n_inputs++] = v;
        l->precision[TH_TENSOR_WEIGHT] = l->precision[TH_TENSOR_INPUT];
        random_mask(r, l);
        for (int i = 0; i < l->n_inputs; i++) {
            random_shape s = shape_of_tensor(w, l->inputs[i]);
            memcpy(shapes + 3 * i, (int32_t[]){s.c, s.h, s.w}, 3 * sizeof *shapes);
        }
        l->input_shapes = shapes;
    }
    if (l->n_inputs == 1)
        l->groups = 1;
}

static void random_column_layer(gsl_rng *r, const th_workload *w, th_layer *l, int32_t *shapes)
{
    static const th_layer_kind gates[] = {TH_LAYER_LSTM, TH_LAYER_GRU, TH_LAYER_RNN};
    if (l->dim[TH_DIM_C] == 1 && pick(r, 0, 1)) {
        set_kind(l, TH_LAYER_EMBEDDING);
        l->vocabulary = (int32_t)pick(r, 1, 50);
        l->dim[TH_DIM_K] = random_channels(r, w);
        return;
    }
    switch (pick(r, 0, 6)) {
    case 0:
        set_kind(l, TH_LAYER_MATMUL);
        l->dim[TH_DIM_K] = random_channels(r, w);
        random_sparsity(r, l);
        break;
    case 1:
        set_kind(l, gates[pick(r, 0, 2)]);
        l->dim[TH_DIM_K] = random_channels(r, w);
        break;
    case 2:
    case 3:
        random_attention(r, w, l, shapes);
        break;
    default:
        random_product(r, w, l);
    }
}

static void add_random_layer(gsl_rng *r, th_workload *w)
{
    char name[16];
    int32_t channels[RANDOM_INPUTS_MAX], shapes[3 * RANDOM_INPUTS_MAX],
        inputs[RANDOM_INPUTS_MAX] = {
            (int32_t)pick(r, pick(r, 0, 1) ? w->n_layers - 1 : -1, w->n_layers - 1)};
    th_layer l = blank_layer(r, w, shape_of_tensor(w, inputs[0]), inputs);
    int kind = (int)pick(r, 0, l.in_w == 1 ? 15 : 9);
    if (kind >= 10)
        random_column_layer(r, w, &l, shapes);
    else if (kind >= 6)
        random_conv(r, &l);
    else if (kind == 5)
        random_fc(r, w, &l);
    else if (kind == 4)
        random_by_pixel(r, &l);
    else if (kind == 3)
        random_slice(r, &l);
    else if (kind == 2)
        random_concat(r, w, &l, channels);
    else if (kind == 1)
        random_sum(r, w, &l);
    else {
        set_kind(&l, TH_LAYER_POOL);
        random_window(r, &l);
    }
    snprintf(name, sizeof name, "l%d", w->n_layers);
    l.name = name;
    th_workload_add_layer(w, &l, NULL);
}

th_workload *random_workload(gsl_rng *r)
{
    th_error e = {"", ""};
    int32_t width = pick(r, 0, 1) ? (int32_t)pick(r, 1, RANDOM_EXTENT_MAX) : 1;
    th_workload_input input = {(int32_t)pick(r, 1, RANDOM_BATCH_MAX), (int32_t)pick(r, 1, 6),
                               (int32_t)pick(r, 1, RANDOM_EXTENT_MAX), width,
                               (th_precision)pick(r, 0, TH_N_PRECISIONS - 1)};
    if (pick(r, 0, 1)) {
        input.batch = input.c = input.h = (int32_t)pick(r, 2, RANDOM_BATCH_MAX);
        input.w = width > 1 ? input.c : 1;
    }
    th_workload *w = th_workload_new("random", NULL, &input, &e);
    for (int n = (int)pick(r, 1, RANDOM_LAYERS_MAX); n > 0; n--)
        add_random_layer(r, w);
    if (th_workload_finish(w, &e))
        bail_out(&e);
    return w;
}

/* --- mappings and streams --------------------------------------------------------------------- */

/* has_more: maybe chunks, maybe copies */
static bool random_strategy(gsl_rng *r, const th_layer *l, int32_t batch, int n, bool has_more,
                            th_strategy *out)
{
    static const int primes[] = {2, 3, 5, 7};
    for (int tries = 0; tries < 40; tries++) {
        int copies = 1;
        *out = th_strategy_single;
        for (int left = n, i = 0; left > 1;) {
            if (left % primes[i] != 0) {
                i++;
                continue;
            }
            int d = (int)pick(r, 0, has_more ? TH_N_DIMS : TH_N_DIMS - 1);
            *(d < TH_N_DIMS ? &out->split[d] : &copies) *= primes[i];
            left /= primes[i];
        }
        th_strategy_set_copies(out, copies);
        if (pick(r, 0, 1))
            out->rotate = (int32_t)pick(r, 0, TH_DIM_W);
        else if (has_more && pick(r, 0, 1))
            th_strategy_set_chunks(out, (int32_t)pick(r, 2, 4), (int32_t)pick(r, 0, TH_DIM_W));
        if (th_strategy_fits(out, l, batch, n))
            return true;
    }
    return false;
}

static void shuffle(gsl_rng *r, int32_t *item, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)pick(r, 0, i);
        int32_t swap = item[i];
        item[i] = item[j];
        item[j] = swap;
    }
}

/* Some sets leave every accelerator its own design, some share unequally. */
static void random_kind_of_set(gsl_rng *r, const th_system *s, th_set *set)
{
    int32_t shares[RANDOM_ACCELS_MAX];
    set->design = (int32_t)pick(r, 0, s->n_designs - 1);
    if (pick(r, 0, 3) == 0)
        set->design = TH_DESIGN_OWN;
    bool is_extreme = pick(r, 0, 3) == 0;
    for (int i = 0; i < set->n_accels; i++)
        shares[i] = (int32_t)pick(r, 1, is_extreme ? TH_SHARE_MAX : 5);
    if (pick(r, 0, 2) == 0 && th_set_share(set, shares))
        bail_out(&(th_error){"BASE-0001", "out of memory"});
}

/* Sets that may share accelerators, which have one design in all of them. */
static th_mapping *random_sets_over_time(gsl_rng *r, const th_system *s, int n_layers)
{
    int32_t sizes[4], order[RANDOM_ACCELS_MAX];
    int n = (int)pick(r, 2, n_layers < 4 ? n_layers : 4);
    for (int i = 0; i < n; i++)
        sizes[i] = (int32_t)pick(r, 1, s->n_accels);
    th_mapping *m = th_mapping_new(n, sizes, n_layers);
    for (int a = 0; a < s->n_accels; a++)
        order[a] = a;
    for (int i = 0; i < n; i++) {
        shuffle(r, order, s->n_accels);
        random_kind_of_set(r, s, &m->sets[i]);
        m->sets[i].design = m->sets[0].design;
        memcpy(m->sets[i].accels, order, (size_t)sizes[i] * sizeof *order);
    }
    return m;
}

static th_mapping *random_sets(gsl_rng *r, const th_system *s, int n_layers)
{
    if (!s->transfers_serially && n_layers > 1 && pick(r, 0, 2) == 0)
        return random_sets_over_time(r, s, n_layers);
    int32_t sizes[3] = {0}, order[RANDOM_ACCELS_MAX], used = 0;
    int n = 0;
    for (int32_t left = s->n_accels; n < 3 && left > 0; left -= sizes[n++])
        sizes[n] = (int32_t)pick(r, 1, left);
    th_mapping *m = th_mapping_new(n, sizes, n_layers);
    for (int a = 0; a < s->n_accels; a++)
        order[a] = a;
    shuffle(r, order, s->n_accels);
    for (int i = 0; i < n; i++) {
        random_kind_of_set(r, s, &m->sets[i]);
        for (int j = 0; j < sizes[i]; j++)
            m->sets[i].accels[j] = order[used++];
    }
    return m;
}

th_mapping *random_mapping(gsl_rng *r, const th_system *s, const th_workload *w,
                           int32_t smallest_batch)
{
    th_mapping *m = random_sets(r, s, w->n_layers);
    for (int l = 0; l < w->n_layers; l++) {
        int tries = 0;
        do
            m->set_of[l] = (int32_t)pick(r, 0, m->n_sets - 1);
        while (!random_strategy(r, &w->layers[l], smallest_batch, m->sets[m->set_of[l]].n_accels,
                                !s->transfers_serially, &m->strategy[l]) &&
               ++tries < 10);
        if (tries == 10) {
            th_mapping_free(m);
            return NULL;
        }
    }
    return m;
}

th_stream random_stream(gsl_rng *r, const th_workload *w)
{
    th_stream s = th_stream_single;
    if (pick(r, 0, 3) == 0) {
        s.n_inputs = (int32_t)pick(r, 1, 3);
        s.micro_batches = (int32_t)pick(r, 1, w->batch);
        s.interval_ps = pick(r, 0, 2) * 777;
        s.in_flight = (int32_t)pick(r, 0, 3);
    }
    return s;
}

th_time makespan_of(const th_problem *p, const th_mapping *m)
{
    th_error e = {"", ""};
    th_fitness f;
    th_evaluator *v = th_evaluator_new(p, &e);
    if (!v || th_evaluator_run(v, m, INFINITY, &f, &e))
        bail_out(&e);
    th_evaluator_free(v);
    return f.fit == TH_FIT ? f.metrics.latency_ps : -1;
}
