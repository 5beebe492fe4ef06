/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_write.c - writes a system as text.
 *   th_system_write: head -> designs -> accelerators -> topology, or hosts, switches and links ->
 *   segments -> dead links -> routes -> routing
 * A generated system is written as the options of its generator, because its routing needs the
 * dimensions or levels, which a list of links does not contain. */
#include <config.h>
#include "topology/files/system_write.h"

#include "base/files/config_write.h"
#include "topology/files/astra.h"
#include "topology/files/system_fields.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"

#include <math.h>
#include <string.h>

/* ---- designs ---- */

typedef struct writer {
    const th_system *s;
    th_strbuf *out;
    th_param_text *text;
    void *context;
} writer;

static void put_param(const writer *w, const th_design_block *d, const th_param *p)
{
    const char *text = p->text;
    th_strbuf_printf(w->out, " %s = ", p->key);
    switch (p->kind) {
    case TH_PARAM_NUMBER:
        th_config_put_number(w->out, p->number);
        break;
    case TH_PARAM_BOOL:
        th_strbuf_add(w->out, p->number != 0 ? "true" : "false");
        break;
    case TH_PARAM_TEXT:
        if (w->text && !(text = w->text(w->context, d, p)))
            w->out->failed = true;
        else
            th_config_put_text(w->out, text);
        break;
    }
    th_strbuf_add(w->out, ";");
}

static void put_designs(const writer *w)
{
    th_strbuf_add(w->out, "designs = (\n");
    for (int i = 0; i < w->s->n_designs; i++) {
        const th_design_block *d = &w->s->designs[i];
        th_strbuf_add(w->out, "    { name = ");
        th_config_put_text(w->out, d->name);
        th_strbuf_printf(w->out, "; type = \"%s\";", d->type);
        for (int j = 0; j < d->n_params; j++)
            put_param(w, d, &d->params[j]);
        th_strbuf_add(w->out, i + 1 < w->s->n_designs ? " },\n" : " }\n");
    }
    th_strbuf_add(w->out, ");\n");
}

/* ---- accelerators ---- */

/* Groups on one line. */
static const th_fields_form inside = {" ", ";", false};

/* All that accelerators of one entry have in common. */
static void put_accel(th_strbuf *out, const th_system *s, const th_node *n)
{
    if (n->group != 0)
        th_strbuf_printf(out, " group = %d;", n->group);
    th_fields_write(th_accel_fields, &n->a, inside, out);
    th_strbuf_add(out, "\n      dram = {");
    th_fields_write(th_dram_fields, &n->a, inside, out);
    th_strbuf_add(out, " };\n      vector = {");
    th_fields_write(th_vector_fields, &n->a, inside, out);
    th_strbuf_add(out, " };\n      designs = [");
    for (int i = 0; i < n->a.n_designs; i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        th_config_put_text(out, s->designs[n->a.designs[i]].name);
    }
    th_strbuf_add(out, "]; }");
}

/* Neighbours with equal properties are one entry, by name; those of a generator, by number. */
static void put_entry(const writer *w, int first, int last, const char *common)
{
    const th_system *s = w->s;
    th_strbuf_add(w->out, first > 0 ? ",\n    {" : "    {");
    if (s->generator) {
        th_strbuf_printf(w->out, " count = %d;", last - first + 1);
    } else {
        th_strbuf_add(w->out, " names = [");
        for (int a = first; a <= last; a++) {
            th_strbuf_add(w->out, a > first ? ", " : "");
            th_config_put_text(w->out, s->nodes[s->accel_node[a]].name);
        }
        th_strbuf_add(w->out, "];");
    }
    th_strbuf_add(w->out, common);
}

static void put_accels(const writer *w)
{
    const th_system *s = w->s;
    th_strbuf common = TH_STRBUF_INIT, next = TH_STRBUF_INIT;
    int first = 0;
    th_strbuf_add(w->out, "accelerators = (\n");
    put_accel(&common, s, &s->nodes[s->accel_node[0]]);
    for (int a = 1; a < s->n_accels && !common.failed; a++) {
        th_strbuf_clear(&next);
        put_accel(&next, s, &s->nodes[s->accel_node[a]]);
        if (next.failed || strcmp(next.text, common.text) == 0)
            continue;
        put_entry(w, first, a - 1, common.text);
        first = a;
        th_strbuf swap = common;
        common = next;
        next = swap;
    }
    w->out->failed |= common.failed || next.failed;
    if (!common.failed)
        put_entry(w, first, s->n_accels - 1, common.text);
    th_strbuf_add(w->out, "\n);\n");
    th_strbuf_clear(&common);
    th_strbuf_clear(&next);
}

/* ---- a generator and its options ---- */

/* One value, or a list of them, one for each dimension or level. */
static void put_values(th_strbuf *out, const char *key, const int64_t *values, int n,
                       void (*put)(th_strbuf *out, int64_t value))
{
    th_strbuf_printf(out, n > 1 ? " %s = [" : " %s = ", key);
    for (int i = 0; i < (n > 1 ? n : 1); i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        put(out, values[i]);
    }
    th_strbuf_add(out, n > 1 ? "];" : ";");
}

static void put_dims(th_strbuf *out, const th_topology_type *type, const th_topology_options *o)
{
    bool has_kinds = type->takes & TH_TAKES_KINDS;
    th_strbuf_add(out, has_kinds ? " dims = (" : " dims = [");
    for (int d = 0; d < o->n_dims; d++) {
        th_strbuf_add(out, d > 0 ? ", " : "");
        if (has_kinds)
            th_strbuf_printf(out, "{ type = \"%s\"; size = %d; }",
                             th_topology_dim_kind_names[o->kinds[d]], o->dims[d]);
        else
            th_strbuf_printf(out, "%d", o->dims[d]);
    }
    th_strbuf_add(out, has_kinds ? ");" : "];");
}

static void put_generator(th_strbuf *out, const th_generator_spec *spec)
{
    const th_topology_options *o = &spec->options;
    th_strbuf_printf(out, "topology = {\n    type = \"%s\";", spec->type->name);
    put_dims(out, spec->type, o);
    th_strbuf_add(out, "\n   ");
    put_values(out, "bandwidth", o->bits_per_s, o->n_bandwidths, th_config_put_bandwidth);
    put_values(out, "latency", o->latency_ps, o->n_latencies, th_config_put_time);
    th_fields_write(th_topology_fields, o, (th_fields_form){" ", ";", o->has_island_options}, out);
    if (o->with_host) {
        th_strbuf_add(out, "\n    host = {");
        th_fields_write(th_generated_host_fields, o, inside, out);
        th_strbuf_add(out, " };");
    }
    th_strbuf_add(out, "\n};\n");
}

static void put_astra(th_strbuf *out, const th_astra *a)
{
    th_strbuf_add(out, "astra = {");
    th_fields_write(th_astra_fields, a, inside, out);
    for (int d = 0; d < a->n_dims; d++) {
        th_strbuf_add(out, d > 0 ? ",\n        {" : "\n    dims = (\n        {");
        th_fields_write(th_astra_dim_fields, &a->dims[d], inside, out);
        th_strbuf_add(out, " }");
    }
    th_strbuf_add(out, " );\n};\n");
}

/* ---- nodes and links by hand ---- */

/* Hosts, or switches: a name, or a group where there is more to say. */
static void put_others(th_strbuf *out, const th_system *s, th_node_kind kind, const char *key)
{
    int n = 0;
    for (int i = 0; i < s->n_nodes; i++) {
        const th_node *node = &s->nodes[i];
        if (node->kind != kind)
            continue;
        if (n++ > 0)
            th_strbuf_add(out, ", ");
        else
            th_strbuf_printf(out, "%s = ( ", key);
        bool is_group = !node->forwards || node->reduces || node->mtbf_us > 0;
        if (is_group)
            th_strbuf_add(out, "{ name = ");
        th_config_put_text(out, node->name);
        if (!is_group)
            continue;
        th_strbuf_add(out, ";");
        th_fields_write(th_switch_fields, node, inside, out);
        th_strbuf_add(out, " }");
    }
    if (n > 0)
        th_strbuf_add(out, " );\n");
}

static void put_cable(th_strbuf *out, const th_system *s, const th_link *there, const th_link *back)
{
    const th_medium *m = &s->media[there->medium];
    int64_t rates[] = {m->bits_per_s, s->media[back->medium].bits_per_s};
    int64_t latencies[] = {there->latency_ps, back->latency_ps};
    const char *ends[] = {s->nodes[there->from].name, s->nodes[there->to].name};
    bool is_half = there->medium == back->medium;
    th_strbuf_add(out, "    { between = ");
    th_config_put_names(out, ends, 2);
    th_strbuf_add(out, ";");
    put_values(out, "bandwidth", rates, rates[0] == rates[1] ? 1 : 2, th_config_put_bandwidth);
    put_values(out, "latency", latencies, latencies[0] == latencies[1] ? 1 : 2, th_config_put_time);
    const th_cable cable = {.is_full_duplex = !is_half,
                            .cost = is_half ? m->cost : m->cost + s->media[back->medium].cost,
                            .mtbf_us = m->mtbf_us};
    th_fields_write(th_link_fields, &cable, inside, out);
    th_strbuf_add(out, " }");
}

static void put_one_direction(th_strbuf *out, const th_system *s, const th_link *l)
{
    th_strbuf_add(out, "    { from = ");
    th_config_put_text(out, s->nodes[l->from].name);
    th_strbuf_add(out, "; to = ");
    th_config_put_text(out, s->nodes[l->to].name);
    th_strbuf_add(out, ";");
    put_values(out, "bandwidth", &s->media[l->medium].bits_per_s, 1, th_config_put_bandwidth);
    put_values(out, "latency", &l->latency_ps, 1, th_config_put_time);
    const th_medium *m = &s->media[l->medium];
    th_fields_write(th_link_fields,
                    &(th_cable){.is_full_duplex = true, .cost = m->cost, .mtbf_us = m->mtbf_us},
                    inside, out);
    th_strbuf_add(out, " }");
}

static void put_links(th_strbuf *out, const th_system *s)
{
    for (int i = 0; i < s->n_links && s->links[i].from >= 0; i++) {
        const th_link *l = &s->links[i];
        th_strbuf_add(out, i > 0 ? ",\n" : "links = (\n");
        if (th_system_cable_links(s, i) == 2)
            put_cable(out, s, l, &s->links[++i]);
        else
            put_one_direction(out, s, l);
    }
    if (s->n_links > 0 && s->links[0].from >= 0)
        th_strbuf_add(out, "\n);\n");
}

/* ---- routes ---- */

static void put_segments(th_strbuf *out, const th_system *s)
{
    const char *before = "segments = (\n";
    for (int i = 0; i < s->n_links; i++) {
        const th_link *l = &s->links[i];
        if (l->from >= 0)
            continue;
        th_strbuf_printf(out, "%s    { name = ", before);
        th_config_put_text(out, l->name);
        th_strbuf_add(out, ";");
        put_values(out, "bandwidth", &s->media[l->medium].bits_per_s, 1, th_config_put_bandwidth);
        put_values(out, "latency", &l->latency_ps, 1, th_config_put_time);
        th_strbuf_add(out, " }");
        before = ",\n";
    }
    th_strbuf_add(out, before[0] == ',' ? "\n);\n" : "");
}

static void put_dead_links(th_strbuf *out, const th_system *s)
{
    const char *before = "dead_links = [";
    for (int i = 0; i < s->n_links; i++)
        if (s->links[i].is_dead) {
            th_strbuf_add(out, before);
            th_config_put_text(out, s->links[i].name);
            before = ", ";
        }
    th_strbuf_add(out, before[0] == ',' ? "];\n" : "");
}

static void put_routes(th_strbuf *out, const th_system *s)
{
    th_explicit_route r;
    for (int i = 0; th_system_explicit_route(s, i, &r); i++) {
        th_strbuf_add(out, i > 0 ? ",\n    { from = " : "routes = (\n    { from = ");
        th_config_put_text(out, s->nodes[r.from].name);
        th_strbuf_add(out, "; to = ");
        th_config_put_text(out, s->nodes[r.to].name);
        th_strbuf_add(out, "; links = [");
        for (int j = 0; j < r.n_links; j++) {
            th_strbuf_add(out, j > 0 ? ", " : "");
            th_config_put_text(out, s->links[r.links[j]].name);
        }
        th_strbuf_add(out, "]; }");
    }
    th_strbuf_add(out, th_system_explicit_route(s, 0, &r) ? "\n);\n" : "");
}

/* ---- the file ---- */

static void put_head(th_strbuf *out, const th_system *s)
{
    th_strbuf_add(out, "name = ");
    th_config_put_text(out, s->name);
    th_strbuf_add(out, ";\n");
    if (s->link_energy.source) {
        th_strbuf_printf(out, "link_energy = \"%lldaJ\";\nlink_energy_source = ",
                         llround(s->link_energy.j_per_byte / TH_J_PER_AJ));
        th_config_put_text(out, s->link_energy.source);
        th_strbuf_add(out, ";\n");
    }
    th_fields_write(th_system_fields, s, (th_fields_form){"", ";\n", s->transfers_serially}, out);
}

int th_system_write(const th_system *s, th_param_text *text, void *context, th_strbuf *out,
                    th_error *err)
{
    const writer w = {s, out, text, context};
    put_head(out, s);
    put_designs(&w);
    put_accels(&w);
    if (s->generator) {
        put_generator(out, s->generator);
    } else {
        put_others(out, s, TH_NODE_HOST, "hosts");
        put_others(out, s, TH_NODE_SWITCH, "switches");
        put_links(out, s);
    }
    put_segments(out, s);
    if (s->astra)
        put_astra(out, s->astra);
    put_dead_links(out, s);
    put_routes(out, s);
    th_strbuf_printf(out, "routing = \"%s\";\n", s->routing->name);
    return out->failed ? th_error_no_memory(err) : 0;
}
