/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layers.c - the attributes of layers as a table, with their sums. */
#include <config.h>
#include "base/alloc.h"
#include "report/objects/objects.h"
#include "report/sections/sections.h"

#include <string.h>

/* Columns have the names of attributes; the first is the layer's name. */
static const struct {
    const char *attribute, *title;
    bool is_summed;
} columns[] = {
    {"name", "layer", false},
    {"start", "start", false},
    {"end", NULL, false},
    {"active", "active", false},
    {"busy", "busy", true},
    {"stall_input", "input", true},
    {"stall_weight", "weight", true},
    {"stall_partial", NULL, true},
    {"stall_output", "output", true},
    {"idle", "idle", true},
    {"kind", "kind", false}, /* the second block in text begins here */
    {"variant", NULL, false},
    {"n_accels", "accels", false},
    {"tasks", NULL, true},
    {"busy_cycles", NULL, true},
    {"macs_done", NULL, true},
    {"operations", NULL, true},
    {"utilization", "of peak", false},
    {"bound", "bound", false},
    {"roofline", "x roofline", false},
    {"dram_input", NULL, true},
    {"dram_weight", NULL, true},
    {"dram_partial", NULL, true},
    {"dram_read", "DRAM read", true},
    {"dram_written", "written", true},
    {"input_reads", NULL, true},
    {"weight_reads", NULL, true},
    {"partial_reads", NULL, true},
    {"output_writes", NULL, true},
    {"energy", NULL, true},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static int attribute_of(int column)
{
    return th_attribute_find(TH_CLASS_LAYER, columns[column].attribute, NULL);
}

static int column_of(const char *attribute)
{
    int c = 0;
    while (strcmp(columns[c].attribute, attribute) != 0)
        c++;
    return c;
}

static th_column *make_columns(th_report *r)
{
    th_column *out = th_report_columns(r, N_COLUMNS);
    for (int c = 0; out && c < N_COLUMNS; c++)
        out[c] = (th_column){c == 0 ? "layer" : columns[c].attribute, columns[c].title,
                             th_attributes_of(TH_CLASS_LAYER)[attribute_of(c)].kind};
    if (out)
        out[N_COLUMNS] = (th_column){NULL, NULL, TH_KIND_TEXT};
    return out;
}

static void add_to_sum(th_quantity *sum, const th_quantity *value)
{
    if (value->is_absent)
        return;
    sum->is_absent = false;
    sum->whole = th_bytes_add(sum->whole, value->whole);
    sum->real += value->real;
}

/* The row of a layer; its figures are added to the sums. */
static int add_row(th_session *s, th_table *t, int layer, th_quantity *sums, th_error *err)
{
    th_quantity cells[N_COLUMNS];
    for (int c = 0; c < N_COLUMNS; c++) {
        if (th_attribute_get(s, (th_object){TH_CLASS_LAYER, layer}, attribute_of(c), &cells[c],
                             err) != 0)
            return -1;
        if (columns[c].is_summed)
            add_to_sum(&sums[c], &cells[c]);
    }
    th_table_row(t, cells);
    return 0;
}

/* In text, stalls on partial sums have a column where there are any, so that busy and stalls add up
 * to active there too; it takes the place of idle where nobody idles. */
static void show_what_there_is(th_column *shown, const th_quantity *sums)
{
    int partial = column_of("stall_partial"), idle = column_of("idle");
    if (sums[partial].whole == 0)
        return;
    shown[partial].title = "partial";
    if (sums[idle].whole == 0)
        shown[idle].title = NULL;
}

int th_section_layer_figures(th_session *s, th_report *r, th_error *err)
{
    th_quantity sums[N_COLUMNS];
    th_column *shown = make_columns(r);
    if (!shown || !th_simulation_result(s->simulation, err))
        return shown ? -1 : th_error_no_memory(err);
    th_table *t = th_report_table(r, "layer_figures", "Layers: time on their accelerators", shown);
    th_table_break(t, "kind");
    th_table_note(t, "active", "active: time with a task of the layer under way");
    th_table_note(
        t, "busy stall_input stall_weight stall_partial stall_output idle",
        "busy, stalls on input, weight and output, and idle: summed over its accelerators");
    th_table_note(t, "utilization",
                  "of peak: MACs, of those that the arrays could have done while active");
    th_table_note(t, "bound", "bound: what took longest");
    th_table_note(t, "roofline",
                  "x roofline: active, as a multiple of max(MACs / peak, DRAM bytes / bandwidth)");
    for (int c = 0; c < N_COLUMNS; c++)
        sums[c] = th_absent(shown[c].kind);
    sums[0] = th_text("sum");
    for (int l = 0; l < s->workload->n_layers; l++)
        if (add_row(s, t, l, sums, err) != 0)
            return -1;
    show_what_there_is(shown, sums);
    th_table_total(t, sums);
    return 0;
}
