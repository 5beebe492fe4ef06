/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuse.c - see fuse.h: one pattern after the other, each of which makes a new workload.
 *   new_plan -> the pattern on every layer, the last one first -> rebuild */
#include <config.h>
#include "workloads/fuse/fuse.h"

#include <string.h>

#include "base/alloc.h"
#include "workloads/fuse/plan.h"

static void free_plan(th_fuse_plan *p)
{
    for (int l = 0; p->made && l < p->w->n_layers; l++) {
        th_free(p->made[l].inputs);
        th_free(p->made[l].input_shapes);
    }
    th_free(p->is_fused);
    th_free(p->is_gone);
    th_free(p->stands_for);
    th_free(p->made);
}

static int new_plan(th_fuse_plan *p, const th_workload *w)
{
    size_t n = (size_t)w->n_layers;
    *p = (th_fuse_plan){.w = w,
                        .is_fused = th_alloc_zero(n, sizeof *p->is_fused),
                        .is_gone = th_alloc_zero(n, sizeof *p->is_gone),
                        .stands_for = th_alloc_zero(n, sizeof *p->stands_for),
                        .made = th_alloc_zero(n, sizeof *p->made)};
    if (!p->is_fused || !p->is_gone || !p->stands_for || !p->made)
        return -1;
    for (int l = 0; l < w->n_layers; l++)
        p->stands_for[l] = l;
    return 0;
}

/* An input of the old workload, as a layer of the new one. */
static int32_t renumbered(const th_fuse_plan *p, const int32_t *number, int32_t input)
{
    while (input != TH_EXTERNAL_INPUT && p->stands_for[input] != input)
        input = p->stands_for[input];
    return input == TH_EXTERNAL_INPUT ? TH_EXTERNAL_INPUT : number[input];
}

static int add_layers(const th_fuse_plan *p, th_workload *out, int32_t *number, th_error *err)
{
    for (int i = 0; i < p->w->n_layers; i++) {
        if (p->is_gone[i])
            continue;
        const th_layer *from = p->made[i].name ? &p->made[i] : &p->w->layers[i];
        th_layer l = *from;
        int32_t *inputs = th_alloc_array((size_t)l.n_inputs, sizeof *inputs);
        if (!inputs)
            return th_error_no_memory(err);
        for (int k = 0; k < l.n_inputs; k++)
            inputs[k] = renumbered(p, number, from->inputs[k]);
        l.inputs = inputs;
        number[i] = th_workload_add_layer(out, &l, err);
        th_free(inputs);
        if (number[i] < 0)
            return -1;
    }
    return 0;
}

static th_workload *rebuild(const th_fuse_plan *p, th_error *err)
{
    const th_workload *w = p->w;
    const th_workload_input input = {w->batch, w->input_c, w->input_h, w->input_w, w->precision};
    th_workload *out = th_workload_new(w->name, w->file, &input, err);
    int32_t *number = th_alloc_array((size_t)w->n_layers, sizeof *number);
    if (!out || !number) {
        th_free(number);
        th_workload_free(out);
        th_error_no_memory(err);
        return NULL;
    }
    out->density = w->density;
    out->has_own_inputs = w->has_own_inputs;
    out->has_free_shapes = w->has_free_shapes;
    int failed = add_layers(p, out, number, err);
    for (int i = 0; !failed && i < out->n_layers; i++) /* no pattern removes weights */
        if (out->layers[i].tied_to > 0)
            out->layers[i].tied_to = 1 + number[out->layers[i].tied_to - 1];
    failed = failed || th_workload_finish(out, err);
    th_free(number);
    if (!failed)
        return out;
    th_workload_free(out);
    return NULL;
}

/* The workload that a pattern makes of *now, in its place; NULL stands for w itself. A pattern that
 * matches nothing leaves *now, unless must_copy. 0 or -1. */
static int apply(const th_workload *w, th_workload **now, th_fuse_pattern *pattern, bool must_copy,
                 th_error *err)
{
    th_fuse_plan p;
    const th_workload *from = *now ? *now : w;
    th_workload *out = NULL;
    bool has_memory = new_plan(&p, from) == 0, is_needed;
    for (int l = from->n_layers - 1; has_memory && l >= 0; l--)
        if (!p.is_fused[l])
            pattern(&p, l);
    has_memory &= !p.has_no_memory;
    is_needed = p.n_matches > 0 || (must_copy && !*now);
    if (has_memory && is_needed)
        out = rebuild(&p, err);
    free_plan(&p);
    if (!has_memory)
        return th_error_no_memory(err);
    if (!is_needed)
        return 0;
    th_workload_free(*now);
    *now = out;
    return out ? 0 : -1;
}

th_workload *th_workload_fuse(const th_workload *w, th_error *err)
{
    static th_fuse_pattern *const patterns[] = {th_fuse_norm,          th_fuse_activation,
                                                th_fuse_into_producer, th_fuse_gate,
                                                th_fuse_rotary,        th_fuse_attention};
    th_workload *now = NULL;
    const size_t n = sizeof patterns / sizeof *patterns;
    for (size_t i = 0; i < n; i++)
        if (apply(w, &now, patterns[i], i == n - 1, err)) {
            th_workload_free(now);
            return NULL;
        }
    return now;
}
