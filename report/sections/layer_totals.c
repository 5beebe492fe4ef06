/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_totals.c - what the layers of each kind hold and compute: of the workload, not of a run. */
#include <config.h>
#include "report/sections/sections.h"
#include "workloads/workload.h"

#include <string.h>

typedef struct {
    int64_t layers, parameters, macs, activations;
} totals;

static void add(totals *t, const th_layer *l)
{
    t->layers++;
    t->parameters += th_layer_parameters(l);
    t->macs += th_layer_macs(l);
    t->activations += th_layer_output_elements(l);
}

static void put(th_table *t, const char *kind, const totals *x, bool is_sum)
{
    const th_quantity cells[] = {th_text(kind), th_count(x->layers), th_count(x->parameters),
                                 th_count(x->macs), th_count(x->activations)};
    if (is_sum)
        th_table_total(t, cells);
    else
        th_table_row(t, cells);
}

/* Is the layer the first of its kind? */
static bool is_first(const th_workload *w, int layer)
{
    const char *kind = th_layer_type_name(&w->layers[layer]);
    for (int i = 0; i < layer; i++)
        if (strcmp(th_layer_type_name(&w->layers[i]), kind) == 0)
            return false;
    return true;
}

int th_section_layer_totals(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"kind", "kind", TH_KIND_TEXT},
        {"layers", "layers", TH_KIND_COUNT},
        {"parameters", "parameters", TH_KIND_COUNT},
        {"macs", "MACs", TH_KIND_COUNT},
        {"activations", "activations", TH_KIND_COUNT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_workload *w = s->workload;
    th_table *t = th_report_table(r, "layer_totals", "Layers by kind", columns);
    totals all = {0};
    (void)err;
    th_table_note(t, "macs", "MACs: multiply-accumulates of one batch");
    th_table_note(t, "activations", "activations: elements of the outputs of one batch");
    for (int i = 0; i < w->n_layers; i++) {
        totals kind = {0};
        if (!is_first(w, i))
            continue;
        for (int k = i; k < w->n_layers; k++)
            if (strcmp(th_layer_type_name(&w->layers[k]), th_layer_type_name(&w->layers[i])) == 0)
                add(&kind, &w->layers[k]);
        put(t, th_layer_type_name(&w->layers[i]), &kind, false);
        all.layers += kind.layers;
        all.parameters += kind.parameters;
        all.macs += kind.macs;
        all.activations += kind.activations;
    }
    put(t, "sum", &all, true);
    return 0;
}
