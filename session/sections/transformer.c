/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transformer.c - the language model: its parameters and operations, and those of its kinds of
 * layers. */
#include <config.h>
#include <string.h>
#include "session/sections/sections.h"

/* All but the experts that a token does not pass, as authors of models count them. */
static int64_t active_parameters(const th_transformer *t)
{
    int64_t n = th_transformer_parameters(t);
    for (int32_t i = 0; i < t->layers; i++)
        if (th_transformer_is_sparse(t, i))
            n -= (t->experts.n - t->experts.top_k) * th_ffn_weights(t, t->experts.ffn);
    return n;
}

static void add_model(th_report *r, const th_session_model *m)
{
    static const th_column columns[] = {
        {"model", "model", TH_KIND_TEXT},
        {"parameters", "parameters", TH_KIND_COUNT},
        {"active_parameters", "of these active", TH_KIND_COUNT},
        {"active", "weights that a token passes", TH_KIND_COUNT},
        {"layers", "layers", TH_KIND_COUNT},
        {"hidden", "width", TH_KIND_COUNT},
        {"sequence", "tokens of a sequence", TH_KIND_COUNT},
        {"operations", "operations of training per token", TH_KIND_NUMBER},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_transformer *t = &m->shape;
    double operations = th_transformer_operations(t, m->sequence, !t->is_encoder);
    th_quantity cells[] = {th_text(m->name),
                           th_count(th_transformer_parameters(t)),
                           th_count(active_parameters(t)),
                           th_count(th_transformer_active_weights(t)),
                           th_count(t->layers),
                           th_count(t->hidden),
                           th_count(m->sequence),
                           th_number(operations)};
    th_table_row(th_report_record(r, "transformer", NULL, columns), cells);
}

/* Without kinds: layers of experts, and others. */
static bool are_alike(const th_transformer *t, const th_transformer_kind *a,
                      const th_transformer_kind *b)
{
    return t->n_kinds > 0 ? strcmp(a->name, b->name) == 0
                          : a->experts == b->experts && a->window == b->window;
}

static void add_kind(th_table *table, const th_session_model *m, int32_t first)
{
    const th_transformer *t = &m->shape;
    const th_transformer_kind k = th_transformer_layer(t, first);
    const char *name = k.name[0]   ? t->kinds[t->pattern[first % t->n_pattern]].name
                       : k.experts ? "experts"
                                   : "dense";
    int64_t n = 0, other = (int64_t)(th_kind_other_operations(&k, m->sequence) + 0.5);
    for (int32_t i = first; i < t->layers; i++) {
        const th_transformer_kind each = th_transformer_layer(t, i);
        n += are_alike(t, &k, &each);
    }
    double keys = k.heads > 0 ? th_transformer_keys(t, first, m->sequence) : 0;
    th_table_row(table, (th_quantity[]){th_text(name), th_count(n),
                                        th_count(th_transformer_layer_parameters(t, first)),
                                        th_count(th_kind_active_weights(t, &k)), th_mean(keys),
                                        th_count(other), th_bytes(k.bytes)});
}

int th_section_transformer(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"kind", "kind of layer", TH_KIND_TEXT},
        {"layers", "layers", TH_KIND_COUNT},
        {"parameters", "parameters", TH_KIND_COUNT},
        {"active", "weights that a token passes", TH_KIND_COUNT},
        {"keys", "keys of a query", TH_KIND_MEAN},
        {"operations", "other operations", TH_KIND_COUNT},
        {"bytes", "other bytes", TH_KIND_BYTES},
        {NULL, NULL, TH_KIND_TEXT},
    };
    (void)err;
    const th_transformer *t = &s->model.shape;
    add_model(r, &s->model);
    th_table *table = th_report_table(r, "transformer_layers", NULL, columns);
    int32_t first[TH_TRANSFORMER_KINDS_MAX], n = 0; /* of each kind */
    for (int32_t i = 0; i < t->layers; i++) {
        const th_transformer_kind k = th_transformer_layer(t, i);
        int32_t j = 0;
        for (; j < n; j++) {
            const th_transformer_kind before = th_transformer_layer(t, first[j]);
            if (are_alike(t, &k, &before))
                break;
        }
        if (j < n)
            continue;
        first[n++] = i;
        add_kind(table, &s->model, i);
    }
    return 0;
}
