/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c - the layers of a workload and the tensors between them, in the language of Graphviz.
 * Layers with multiply-accumulates are filled; a label has the name, the type and the output. */
#include <config.h>
#include "render/plot/plots.h"

#include <string.h>

static void put_text(th_strbuf *out, const char *text)
{
    th_strbuf_add(out, "\"");
    for (; *text; text++)
        if (*text == '\n')
            th_strbuf_add(out, "\\n");
        else
            th_strbuf_printf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    th_strbuf_add(out, "\"");
}

static void put_layer(th_strbuf *out, const th_layer *l, int number)
{
    const int32_t *d = l->dim;
    th_strbuf label = TH_STRBUF_INIT;
    th_strbuf_printf(&label, "%s\n%s %d x %d x %d", l->name, th_layer_type_name(l),
                     (int)d[TH_DIM_K], (int)d[TH_DIM_H], (int)d[TH_DIM_W]);
    th_strbuf_printf(out, "    l%d [label=", number);
    put_text(out, label.text ? label.text : "");
    th_strbuf_add(out, th_layer_has_macs(l) ? ", style=filled];\n" : "];\n");
    out->failed |= label.failed;
    th_strbuf_clear(&label);
}

static void put_edges(th_strbuf *out, const th_workload *w, int layer)
{
    const th_layer *l = &w->layers[layer];
    for (int i = 0; i < l->n_inputs; i++)
        if (l->inputs[i] == TH_EXTERNAL_INPUT)
            th_strbuf_printf(out, "    input -> l%d;\n", layer);
        else
            th_strbuf_printf(out, "    l%d -> l%d;\n", (int)l->inputs[i], layer);
}

/* In the language of Graphviz. */
static void graph_of_workload(const th_workload *w, th_strbuf *out)
{
    th_strbuf_add(out, "digraph ");
    put_text(out, w->name);
    th_strbuf_add(out, " {\n    node [shape=box, fontname=\"sans-serif\", fontsize=10, "
                       "fillcolor=\"#cfe0f4\"];\n    input [shape=ellipse];\n");
    for (int i = 0; i < w->n_layers; i++)
        put_layer(out, &w->layers[i], i);
    for (int i = 0; i < w->n_layers; i++)
        put_edges(out, w, i);
    th_strbuf_add(out, "}\n");
}

int th_graph_draw(const th_workload *w, const char *path, th_strbuf *out, th_error *err)
{
    static const char *const formats[] = {"svg", "png", "pdf", "dot"};
    const char *dot = strrchr(path, '.');
    th_strbuf script = TH_STRBUF_INIT;
    int as = 0, failed = 0;
    while (as < 4 && (!dot || strcmp(dot + 1, formats[as]) != 0))
        as++;
    if (as == 4)
        return th_error_set(err, "TCL-0620", "%s: -of graph: must end in .svg, .png, .pdf or .dot",
                            path);
    graph_of_workload(w, as == 3 ? out : &script);
    if (out->failed || script.failed)
        failed = th_error_no_memory(err);
    else if (as < 3)
        failed = th_dot_run(formats[as], script.text, out, err);
    th_strbuf_clear(&script);
    return failed;
}
