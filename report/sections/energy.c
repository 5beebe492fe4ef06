/* SPDX-License-Identifier: GPL-3.0-or-later */
/* energy.c - the energy of a run, by component and by object. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "report/sections/sections.h"

static void add_row(th_table *t, const char *name, const th_energy *e, bool is_total)
{
    th_quantity cells[] = {
        th_text(name),          th_joules(e->mac_j),         th_joules(e->vector_j),
        th_joules(e->buffer_j), th_joules(e->dram_j),        th_joules(e->static_j),
        th_joules(e->link_j),   th_joules(th_energy_sum(e)),
    };
    (is_total ? th_table_total : th_table_row)(t, cells);
}

/* A difference of sums may be off by their rounding. */
static double rest_of(double whole, double part)
{
    return whole - part > whole * 1e-12 ? whole - part : 0;
}

static void add_layers(const th_session *s, th_table *t, const th_result *x)
{
    th_energy sum = {0}, rest;
    for (int l = 0; l < x->n_layers; l++) {
        add_row(t, s->workload->layers[l].name, &x->layers[l].energy, false);
        th_energy_add(&sum, &x->layers[l].energy);
    }
    rest = (th_energy){
        rest_of(x->energy.mac_j, sum.mac_j),       rest_of(x->energy.vector_j, sum.vector_j),
        rest_of(x->energy.buffer_j, sum.buffer_j), rest_of(x->energy.dram_j, sum.dram_j),
        rest_of(x->energy.static_j, sum.static_j), rest_of(x->energy.link_j, sum.link_j)};
    add_row(t, "(rest)", &rest, false);
}

static void add_accels(const th_session *s, th_table *t, const th_result *x)
{
    for (int a = 0; a < x->n_accels; a++)
        add_row(t, s->system->nodes[s->system->accel_node[a]].name, &x->accels[a].energy, false);
    add_row(t, "(links)", &(th_energy){.link_j = x->energy.link_j}, false);
}

/* Each source once, after a label on the first line. */
static void add_source(th_report *r, const char *source, bool *is_first)
{
    if (!source)
        return;
    for (int i = 0; i < r->n_head; i++)
        if (r->head[i].is_line && r->head[i].value.text && /* NULL: memory was out */
            strcmp(r->head[i].value.text, source) == 0)
            return;
    th_report_head_line(r, *is_first ? "costs" : "", source);
    *is_first = false;
}

static void add_sources(const th_session *s, th_report *r)
{
    bool is_first = true;
    for (int d = 0; d < s->system->n_designs; d++) {
        const th_design_block *b = &s->system->designs[d];
        for (int p = 0; p < b->n_params; p++)
            if (strcmp(b->params[p].key, "energy_source") == 0)
                add_source(r, b->params[p].text, &is_first);
    }
    add_source(r, s->system->link_energy.source, &is_first);
}

int th_section_energy(th_session *s, th_report *r, bool by_layer, th_error *err)
{
    static const th_column of_layers[] = {
        {"layer", "layer", TH_KIND_TEXT},     {"mac", "MACs", TH_KIND_ENERGY},
        {"vector", "vector", TH_KIND_ENERGY}, {"buffer", "buffers", TH_KIND_ENERGY},
        {"dram", "DRAM", TH_KIND_ENERGY},     {"static", "static", TH_KIND_ENERGY},
        {"links", "links", TH_KIND_ENERGY},   {"energy", "sum", TH_KIND_ENERGY},
        {NULL, NULL, TH_KIND_TEXT},
    };
    static const th_column of_accels[] = {
        {"accel", "accelerator", TH_KIND_TEXT},
        {"mac", "MACs", TH_KIND_ENERGY},
        {"vector", "vector", TH_KIND_ENERGY},
        {"buffer", "buffers", TH_KIND_ENERGY},
        {"dram", "DRAM", TH_KIND_ENERGY},
        {"static", "static", TH_KIND_ENERGY},
        {"links", "links", TH_KIND_ENERGY},
        {"energy", "sum", TH_KIND_ENERGY},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    add_sources(s, r);
    th_table *t = th_report_table(r, "energy", NULL, by_layer ? of_layers : of_accels);
    (by_layer ? add_layers : add_accels)(s, t, x);
    add_row(t, "sum", &x->energy, true);
    if (by_layer)
        th_table_note(t, "layer",
                      "(rest): energy of no layer: idle accelerators, what failures cut short, "
                      "collectives");
    return 0;
}
