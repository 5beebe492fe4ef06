/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload.c - a graph of layers: made, summed. workload_finish.c sorts and links it.
 *   new -> add_layer* -> sort -> finish -> (find | macs | parameters)* -> free */
#include <config.h>
#include "workloads/workload.h"

#include "base/alloc.h"

#include <string.h>

/* ---- making ---- */

static bool is_extent(int32_t n)
{
    return n >= 1 && n <= TH_LARGEST_EXTENT;
}

static int check_input(const th_workload *w, th_error *err)
{
    if (is_extent(w->batch) && is_extent(w->input_c) && is_extent(w->input_h) &&
        is_extent(w->input_w))
        return 0;
    return th_error_set(err, "WORK-0001",
                        "%s: batch %d, input %d x %d x %d: extents must be from 1 to %d",
                        w->file ? w->file : w->name, (int)w->batch, (int)w->input_c,
                        (int)w->input_h, (int)w->input_w, TH_LARGEST_EXTENT);
}

th_workload *th_workload_new(const char *name, const char *file, const th_workload_input *input,
                             th_error *err)
{
    th_workload *workload = th_alloc_zero(1, sizeof *workload);
    if (!workload)
        goto no_memory;
    *workload = (th_workload){.batch = input->batch,
                              .input_c = input->c,
                              .input_h = input->h,
                              .input_w = input->w,
                              .precision = input->precision,
                              .density = 1};
    workload->name = th_alloc_string(name);
    if (!workload->name)
        goto no_memory;
    if (file && !(workload->file = th_alloc_string(file)))
        goto no_memory;
    if (check_input(workload, err) == 0)
        return workload;
    th_workload_free(workload);
    return NULL;

no_memory:
    th_workload_free(workload);
    th_error_no_memory(err);
    return NULL;
}

/* Room for one more behind n elements. The capacity is not stored: it is the power of two >= n. */
static int grow_layers(th_workload *w)
{
    int n = w->n_layers;
    if ((n & (n - 1)) != 0)
        return 0;
    th_layer *grown = th_realloc_array(w->layers, n ? 2 * (size_t)n : 1, sizeof *grown);
    if (!grown)
        return -1;
    w->layers = grown;
    return 0;
}

static void layer_clear(th_layer *l)
{
    th_free(l->name);
    th_free(l->inputs);
    th_free(l->input_channels);
    th_free(l->input_shapes);
}

/* n numbers copied; *out is NULL for none. 0 or -1. */
static int copy_numbers(const int32_t *from, int32_t n, int32_t **out)
{
    *out = NULL;
    if (!from || n <= 0)
        return 0;
    *out = th_alloc_array((size_t)n, sizeof **out);
    if (!*out)
        return -1;
    memcpy(*out, from, (size_t)n * sizeof **out);
    return 0;
}

int th_workload_add_layer(th_workload *w, const th_layer *l, th_error *err)
{
    th_layer copy = *l;
    copy.name = th_alloc_string(l->name);
    int status = copy_numbers(l->inputs, l->n_inputs, &copy.inputs);
    int other = copy_numbers(l->input_channels, l->n_inputs, &copy.input_channels);
    int shapes = copy_numbers(l->input_shapes, 3 * l->n_inputs, &copy.input_shapes);
    if (!copy.name || status < 0 || other < 0 || shapes < 0 || grow_layers(w) < 0) {
        layer_clear(&copy);
        return th_error_no_memory(err);
    }
    w->layers[w->n_layers] = copy;
    return w->n_layers++;
}

void th_workload_free(th_workload *w)
{
    if (!w)
        return;
    for (int l = 0; l < w->n_layers; l++)
        layer_clear(&w->layers[l]);
    for (int i = 0; i < w->n_models; i++)
        th_free(w->models[i].name);
    th_free(w->models);
    th_free(w->layers);
    th_free(w->consumer_start);
    th_free(w->consumers);
    th_free(w->outputs);
    th_free(w->file);
    th_free(w->name);
    th_free(w);
}

/* ---- asking ---- */

void th_workload_set_precision(th_workload *w, th_precision p)
{
    w->precision = p;
    for (int l = 0; l < w->n_layers; l++)
        for (int t = 0; t < TH_N_TENSORS; t++)
            w->layers[l].precision[t] = p;
    for (int i = 0; i < w->n_models; i++)
        w->models[i].precision = p;
}

int th_workload_find(const th_workload *w, const char *layer_name)
{
    for (int l = 0; l < w->n_layers; l++)
        if (strcmp(w->layers[l].name, layer_name) == 0)
            return l;
    return -1;
}

int th_workload_parts(const th_workload *w)
{
    return w->n_models > 0 ? w->n_models : 1;
}

th_model th_workload_part(const th_workload *w, int i)
{
    if (w->n_models > 0)
        return w->models[i];
    return (th_model){.name = w->name,
                      .n_layers = w->n_layers,
                      .input_c = w->input_c,
                      .input_h = w->input_h,
                      .input_w = w->input_w,
                      .density = w->density,
                      .precision = w->precision,
                      .has_own_inputs = w->has_own_inputs};
}

int th_workload_part_of(const th_workload *w, int layer, int hint)
{
    for (int i = hint; i < w->n_models; i++)
        if (layer >= w->models[i].first_layer &&
            layer < w->models[i].first_layer + w->models[i].n_layers)
            return i;
    return hint > 0 ? th_workload_part_of(w, layer, 0) : 0;
}

int64_t th_workload_samples(const th_workload *w)
{
    return (int64_t)th_workload_parts(w) * w->batch; /* of which all networks have one */
}

int64_t th_workload_macs(const th_workload *w)
{
    int64_t sum = 0;
    for (int l = 0; l < w->n_layers; l++)
        sum += th_layer_macs(&w->layers[l]);
    return sum;
}
