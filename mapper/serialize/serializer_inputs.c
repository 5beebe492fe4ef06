/* SPDX-License-Identifier: GPL-3.0-or-later */
/* serializer_inputs.c - everything that fitness depends on of systems and workloads, as bytes of
 * which digests are made: not where it came from. Checkpoints hold these digests, so what is added
 * here must add no bytes where it is not used. */
#include <config.h>

#include <string.h>

#include "mapper/serialize/serializer.h"
#include "topology/files/astra.h"
#include "topology/files/system_fields.h"
#include "topology/routing/route.h"

/* ---- values ---- */

static void put_byte(th_serializer *w, int x)
{
    uint8_t byte = (uint8_t)x;
    th_serializer_byte(w, &byte);
}

static void put_int(th_serializer *w, int32_t x)
{
    th_serializer_int(w, &x);
}

static void put_count(th_serializer *w, int32_t x)
{
    th_serializer_count(w, &x, INT32_MAX);
}

static void put_int64(th_serializer *w, int64_t x)
{
    th_serializer_int64(w, &x);
}

static void put_double(th_serializer *w, double x)
{
    th_serializer_double(w, &x);
}

static void put_text(th_serializer *w, const char *text)
{
    th_serializer_text(w, &text);
}

static void put_ints(th_serializer *w, const int32_t *x, int n)
{
    for (int i = 0; i < n; i++)
        put_int(w, x[i]);
}

/* Those that base/files/fields.h knows. */
static void put_fields(th_serializer *w, const th_field *fields, const void *base)
{
    for (const th_field *f = fields; f->key; f++) {
        const char *at = (const char *)base + f->offset;
        int64_t bytes = 0;
        if (f->kind == TH_FIELD_OWN ||
            (f->flags & TH_FIELD_IF_KNOWN && th_field_is_absent(f, base)))
            continue;
        memcpy(&bytes, at, f->size);
        if (f->size == sizeof bytes)
            put_int64(w, bytes);
        else if (f->size == sizeof(int32_t))
            put_int(w, *(const int32_t *)at);
        else
            put_byte(w, *(const bool *)at);
    }
}

/* ---- systems ---- */

static void put_designs(th_serializer *w, const th_system *s)
{
    put_count(w, s->n_designs);
    for (int i = 0; i < s->n_designs; i++) {
        const th_design_block *d = &s->designs[i];
        put_text(w, d->name);
        put_text(w, d->type);
        put_count(w, d->n_params);
        for (int j = 0; j < d->n_params; j++) {
            put_text(w, d->params[j].key);
            put_byte(w, d->params[j].kind);
            put_double(w, d->params[j].number);
            put_text(w, d->params[j].text);
        }
    }
}

static void put_accel(th_serializer *w, const th_accel *a)
{
    put_fields(w, th_dram_fields, a);
    put_count(w, a->dram_efficiency.n);
    for (int i = 0; i < a->dram_efficiency.n; i++) {
        put_int64(w, a->dram_efficiency.run_bytes[i]);
        put_double(w, a->dram_efficiency.share[i]);
    }
    put_fields(w, th_vector_fields, a);
    put_fields(w, th_accel_fields, a);
    put_count(w, a->n_designs);
    put_ints(w, a->designs, a->n_designs);
}

static void put_nodes(th_serializer *w, const th_system *s)
{
    put_count(w, s->n_nodes);
    for (int i = 0; i < s->n_nodes; i++) {
        const th_node *n = &s->nodes[i];
        put_text(w, n->name);
        put_byte(w, n->kind);
        put_int(w, n->group);
        put_fields(w, th_switch_fields, n);
        put_int(w, n->level);
        put_int(w, n->leaf_first);
        put_int(w, n->n_leaves);
        if (n->kind == TH_NODE_ACCEL)
            put_accel(w, &n->a);
    }
}

static void put_links(th_serializer *w, const th_system *s)
{
    put_count(w, s->n_media);
    for (int i = 0; i < s->n_media; i++) {
        put_int64(w, s->media[i].bits_per_s);
        if (s->media[i].cost != 0)
            put_double(w, s->media[i].cost);
        if (s->media[i].mtbf_us != 0)
            put_int64(w, s->media[i].mtbf_us);
    }
    put_count(w, s->n_links);
    for (int i = 0; i < s->n_links; i++) {
        const th_link *l = &s->links[i];
        put_int(w, l->from);
        put_int(w, l->to);
        put_int(w, l->medium);
        put_int64(w, l->latency_ps);
        put_byte(w, l->is_dead);
        put_text(w, l->from < 0 ? l->name : NULL); /* th_system_finish names the others */
    }
}

static void put_routes(th_serializer *w, const th_system *s)
{
    th_explicit_route r;
    int n = 0;
    while (th_system_explicit_route(s, n, &r))
        n++;
    put_count(w, n);
    for (int i = 0; th_system_explicit_route(s, i, &r); i++) {
        put_int(w, r.from);
        put_int(w, r.to);
        put_count(w, r.n_links);
        put_ints(w, r.links, r.n_links);
    }
}

void th_serializer_write_system(th_serializer *w, const th_system *s)
{
    put_text(w, s->name);
    put_text(w, s->routing->name);
    put_text(w, s->link_energy.source);
    put_count(w, s->n_dims);
    for (int i = 0; i < s->n_dims; i++) {
        put_int(w, s->dims[i].kind);
        put_int(w, s->dims[i].size);
    }
    put_double(w, s->link_energy.j_per_byte);
    put_byte(w, s->transfers_serially);
    put_double(w, s->weight_memory);
    put_int64(w, s->collective_start_ps);
    if (s->stripes_from > 0)
        put_int64(w, s->stripes_from);
    put_designs(w, s);
    put_nodes(w, s);
    put_links(w, s);
    put_routes(w, s);
    put_byte(w, !!s->astra);
    if (!s->astra)
        return;
    put_fields(w, th_astra_fields, s->astra);
    for (int d = 0; d < s->astra->n_dims; d++)
        put_fields(w, th_astra_dim_fields, &s->astra->dims[d]);
}

/* ---- workloads ---- */

static void put_model(th_serializer *w, const th_model *m)
{
    put_text(w, m->name);
    put_count(w, m->first_layer);
    put_count(w, m->n_layers);
    put_int(w, m->input_c);
    put_int(w, m->input_h);
    put_int(w, m->input_w);
    put_byte(w, m->precision);
    put_byte(w, m->has_own_inputs);
    put_int64(w, m->arrival_ps);
    put_int64(w, m->deadline_ps);
}

static void put_layer(th_serializer *w, const th_layer *l)
{
    const int32_t numbers[] = {
        l->in_h,       l->in_w,       l->stride_h,      l->stride_w,    l->pad_top, l->pad_left,
        l->dilation_h, l->dilation_w, l->up_h,          l->up_w,        l->groups,  l->vocabulary,
        l->sparse_n,   l->sparse_m,   l->first_channel, l->causal_rows, l->window,  l->tied_to};
    put_text(w, l->name);
    put_byte(w, l->kind);
    put_byte(w, l->function);
    for (int t = 0; t < TH_N_TENSORS; t++) {
        put_byte(w, l->precision[t]);
        put_double(w, l->density[t]);
    }
    put_ints(w, l->dim, TH_N_DIMS);
    put_ints(w, numbers, sizeof numbers / sizeof *numbers);
    put_byte(w, l->is_mean_pool);
    put_byte(w, l->has_bias);
    put_byte(w, l->has_norm);
    put_byte(w, l->is_transposed);
    put_count(w, l->n_inputs);
    put_ints(w, l->inputs, l->n_inputs);
    put_byte(w, !!l->input_shapes);
    put_ints(w, l->input_shapes, l->input_shapes ? 3 * l->n_inputs : 0);
    put_byte(w, !!l->input_channels);
    put_ints(w, l->input_channels, l->input_channels ? l->n_inputs : 0);
}

void th_serializer_write_workload(th_serializer *w, const th_workload *net)
{
    put_text(w, net->name);
    put_int(w, net->batch);
    put_int(w, net->input_c);
    put_int(w, net->input_h);
    put_int(w, net->input_w);
    put_byte(w, net->precision);
    put_double(w, net->density);
    put_byte(w, net->has_own_inputs);
    put_byte(w, net->has_free_shapes);
    put_count(w, net->n_layers);
    put_count(w, net->n_models);
    for (int i = 0; i < net->n_models; i++)
        put_model(w, &net->models[i]);
    for (int i = 0; i < net->n_layers; i++)
        put_layer(w, &net->layers[i]);
}
