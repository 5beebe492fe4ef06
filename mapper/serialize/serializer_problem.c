/* SPDX-License-Identifier: GPL-3.0-or-later */
/* serializer_problem.c - workloads, and the streams, networks and goals of a problem, as bytes. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/serialize/serializer.h"

/* --- layers --- */

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_layer) == 192 && sizeof(th_workload) == 120, "see layer() and head()");
_Static_assert(sizeof(th_model) == 56, "see model()");
/* Ranks need neither constraints nor scripts. */
_Static_assert(sizeof(th_problem) == 216 && sizeof(th_goal) == 72, "see th_serializer_goal");
#endif

static void numbers(th_serializer *w, int32_t *x, int n)
{
    for (int i = 0; i < n; i++) {
        int copy = x[i]; /* what is written is not touched */
        th_serializer_int(w, &copy);
        if (th_serializer_is_reading(w))
            x[i] = copy;
    }
}

static void small(th_serializer *w, int x, int n, uint8_t *out)
{
    *out = (uint8_t)x;
    th_serializer_byte(w, out);
    if (*out >= n) {
        w->failed = true;
        *out = 0;
    }
}

static void kinds(th_serializer *w, th_layer *l)
{
    uint8_t x;
    small(w, l->kind, TH_LAYER_ATTENTION + 1, &x);
    l->kind = (th_layer_kind)x;
    small(w, l->function, TH_FUNCTION_RMS_NORM + 1, &x);
    l->function = (th_function)x;
    for (int t = 0; t < TH_N_TENSORS; t++) {
        small(w, l->precision[t], TH_N_PRECISIONS, &x);
        l->precision[t] = (th_precision)x;
        th_serializer_double(w, &l->density[t]);
    }
}

/* All but the lists of inputs. */
static void layer(th_serializer *w, th_layer *l)
{
    int32_t *const one[] = {&l->in_h,     &l->in_w,     &l->stride_h,      &l->stride_w,
                            &l->pad_top,  &l->pad_left, &l->dilation_h,    &l->dilation_w,
                            &l->up_h,     &l->up_w,     &l->groups,        &l->vocabulary,
                            &l->sparse_n, &l->sparse_m, &l->first_channel, &l->causal_rows,
                            &l->window,   &l->tied_to};
    th_serializer_text(w, (const char **)&l->name);
    kinds(w, l);
    numbers(w, l->dim, TH_N_DIMS);
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        th_serializer_int(w, one[i]);
    th_serializer_bool(w, &l->is_mean_pool);
    th_serializer_bool(w, &l->has_bias);
    th_serializer_bool(w, &l->has_norm);
    th_serializer_bool(w, &l->is_transposed);
    if (!w->skips_locations)
        th_serializer_int(w, &l->line);
    th_serializer_count(w, &l->n_inputs, INT32_MAX);
    w->failed |= !l->name || l->tied_to < 0;
}

static void model(th_serializer *w, th_model *m, int n_layers)
{
    uint8_t precision;
    th_serializer_text(w, (const char **)&m->name);
    th_serializer_count(w, &m->first_layer, n_layers);
    th_serializer_count(w, &m->n_layers, n_layers);
    th_serializer_int(w, &m->input_c);
    th_serializer_int(w, &m->input_h);
    th_serializer_int(w, &m->input_w);
    small(w, m->precision, TH_N_PRECISIONS, &precision);
    m->precision = (th_precision)precision;
    th_serializer_bool(w, &m->has_own_inputs);
    th_serializer_int64(w, &m->arrival_ps);
    th_serializer_int64(w, &m->deadline_ps);
    w->failed |= !m->name;
}

static void head(th_serializer *w, th_workload *net)
{
    uint8_t precision;
    th_serializer_text(w, (const char **)&net->name);
    if (!w->skips_locations)
        th_serializer_text(w, (const char **)&net->file);
    th_serializer_int(w, &net->batch);
    th_serializer_int(w, &net->input_c);
    th_serializer_int(w, &net->input_h);
    th_serializer_int(w, &net->input_w);
    small(w, net->precision, TH_N_PRECISIONS, &precision);
    net->precision = (th_precision)precision;
    th_serializer_double(w, &net->density);
    th_serializer_bool(w, &net->has_own_inputs);
    th_serializer_bool(w, &net->has_free_shapes);
    th_serializer_count(w, &net->n_layers, INT32_MAX);
    th_serializer_count(w, &net->n_models, net->n_layers);
    w->failed |= !net->name;
}

static void inputs(th_serializer *w, th_layer *l, bool has_channels, bool has_shapes)
{
    numbers(w, l->inputs, l->n_inputs);
    th_serializer_bool(w, &has_shapes);
    if (has_shapes)
        numbers(w, l->input_shapes, 3 * l->n_inputs);
    else
        l->input_shapes = NULL;
    th_serializer_bool(w, &has_channels);
    if (has_channels)
        numbers(w, l->input_channels, l->n_inputs);
    else
        l->input_channels = NULL;
}

void th_serializer_write_workload(th_serializer *w, const th_workload *net)
{
    th_workload copy = *net; /* shallow, to be read from */
    head(w, &copy);
    for (int i = 0; i < net->n_models; i++) {
        th_model m = net->models[i];
        model(w, &m, net->n_layers);
    }
    for (int i = 0; i < net->n_layers; i++) {
        th_layer l = net->layers[i];
        layer(w, &l);
        inputs(w, &l, l.input_channels, l.input_shapes);
    }
}

static int read_layer(th_serializer *w, th_workload *net, int n_layers, th_error *err)
{
    th_layer l = {0};
    layer(w, &l);
    bool is_short = w->failed || l.n_inputs > w->end - w->at;
    int32_t *lists = is_short ? NULL : th_alloc_zero((size_t)l.n_inputs + 1, 5 * sizeof *lists);
    if (!lists) {
        w->failed |= is_short;
        return is_short ? -1 : th_error_no_memory(err);
    }
    l.inputs = lists;
    l.input_channels = lists + l.n_inputs;
    l.input_shapes = lists + 2 * (size_t)l.n_inputs;
    inputs(w, &l, false, false);
    for (int i = 0; i < l.n_inputs; i++)
        w->failed |= lists[i] < TH_EXTERNAL_INPUT || lists[i] >= n_layers;
    w->failed |= l.tied_to > n_layers;
    int failed = w->failed || th_workload_add_layer(net, &l, err) < 0 ? -1 : 0;
    th_free(lists);
    return failed;
}

/* Models take the layers in turn. */
static int read_models(th_serializer *w, th_workload *net, int n, int n_layers, th_error *err)
{
    int32_t next = 0;
    w->failed |= n > w->end - w->at;
    if (w->failed)
        return -1;
    if (n > 0 && !(net->models = th_alloc_zero((size_t)n, sizeof *net->models)))
        return th_error_no_memory(err);
    for (int i = 0; i < n; i++) {
        th_model m = {0};
        model(w, &m, n_layers);
        w->failed |= m.first_layer != next || m.n_layers < 1;
        next += m.n_layers;
        if (w->failed)
            return -1;
        if (!(m.name = th_alloc_string(m.name)))
            return th_error_no_memory(err);
        net->models[net->n_models++] = m;
    }
    w->failed |= n > 0 && next != n_layers;
    return w->failed ? -1 : 0;
}

static int read_layers(th_serializer *w, th_workload *net, int n, th_error *err)
{
    for (int i = 0; i < n; i++)
        if (read_layer(w, net, n, err))
            return -1;
    return th_workload_finish(net, err);
}

static th_workload *parse_workload(th_serializer *w, th_error *err)
{
    th_workload h = {0};
    head(w, &h);
    if (w->failed)
        return NULL;
    th_workload *net = th_workload_new(
        h.name, h.file, &(th_workload_input){h.batch, h.input_c, h.input_h, h.input_w, h.precision},
        err);
    if (!net)
        return NULL;
    net->density = h.density;
    net->has_own_inputs = h.has_own_inputs;
    net->has_free_shapes = h.has_free_shapes;
    if (read_models(w, net, h.n_models, h.n_layers, err) == 0 &&
        read_layers(w, net, h.n_layers, err) == 0)
        return net;
    th_workload_free(net);
    return NULL;
}

th_workload *th_serializer_read_workload(th_serializer *w, th_error *err)
{
    th_error reason = {"", ""};
    th_workload *net = parse_workload(w, &reason);
    if (net)
        return net;
    if (reason.id[0])
        th_error_set(err, reason.id, "%s", reason.text);
    else
        th_error_set(err, "MAP-0101", "serialised workload: truncated or damaged");
    return NULL;
}

/* --- the rest of a problem --- */

void th_serializer_stream(th_serializer *w, th_stream *s)
{
    th_serializer_int(w, &s->n_inputs);
    th_serializer_int64(w, &s->interval_ps);
    th_serializer_int(w, &s->micro_batches);
    th_serializer_int(w, &s->in_flight);
}

void th_serializer_network(th_serializer *w, const th_network_type **type, th_network_options *o)
{
    const char *name = *type ? (*type)->name : NULL;
    th_serializer_text(w, &name);
    *type = name ? th_network_find(name) : NULL;
    w->failed |= name && !*type;
    th_serializer_bool(w, &o->weigh_by_latency);
    th_serializer_int64(w, &o->packet_bytes);
    th_serializer_int64(w, &o->buffer_bytes);
    th_serializer_int(w, &o->n_virtual_channels);
    th_serializer_int64(w, &o->credit_delay_ps);
    th_serializer_int64(w, &o->router_delay_ps);
    th_serializer_int64(w, &o->terminal_bits_per_s);
    th_serializer_int(w, &o->n_crossbar_inputs);
    th_serializer_int64(w, &o->allocation_cycle_ps);
    th_serializer_bool(w, &o->may_deadlock);
}

static void objective(th_serializer *w, th_objective *o)
{
    uint8_t x;
    small(w, *o, TH_OBJECTIVE_WEIGHTED + 1, &x);
    *o = (th_objective)x;
}

void th_serializer_goal(th_serializer *w, th_goal *g)
{
    objective(w, &g->objective);
    for (int i = 0; i < TH_N_TERMS; i++)
        th_serializer_double(w, &g->weight[i]);
    th_serializer_count(w, &g->n_front, TH_FRONT_MAX);
    for (int i = 0; i < g->n_front; i++)
        objective(w, &g->front[i]);
    th_serializer_int64(w, &g->deadline_ps);
}
