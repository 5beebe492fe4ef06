/* SPDX-License-Identifier: GPL-3.0-or-later */
/* topology.c - what the picture of a system is drawn from: name, the numbers of accelerators, nodes
 * and links; dims, the sizes of its dimensions, and isLine, whether the first is a line; of a
 * system that is small enough to be seen:
 *   nodes  kind ("accel" "host" "switch"), name, level, leafFirst, nLeaves, group; of an
 *          accelerator also its busy share, its set (-1: the only one) and its designs: that of its
 *          set, or all it can take
 *   links  from, to (nodes), load; of few links also name, bytes, bits per second */
#include <config.h>
#include <inttypes.h>
#include "base/alloc.h"
#include "render/html/parts.h"
#include "session/sections/sections.h"

enum { NODES_MAX = 2048, LINKS_MAX = 10000, NAMED_LINKS_MAX = 600 };

/* Of those that an accelerator is in the smallest; -1: none. */
static int set_of(const th_mapping *m, int accel)
{
    int set = -1;
    for (int k = 0; m && k < m->n_sets; k++)
        if (th_set_place(&m->sets[k], accel) >= 0 &&
            (set < 0 || m->sets[k].n_accels < m->sets[set].n_accels))
            set = k;
    return set;
}

static void add_designs(const th_session *s, const th_node *n, int set, th_strbuf *out)
{
    const th_set *own = set >= 0 ? &s->mapping->sets[set] : NULL;
    int32_t chosen = own ? th_set_design(own, th_set_place(own, n->accel), s->system) : -1;
    th_strbuf names = TH_STRBUF_INIT;
    for (int i = 0; i < (chosen >= 0 ? 1 : n->a.n_designs); i++)
        th_strbuf_printf(&names, "%s%s", i > 0 ? ", " : "",
                         s->system->designs[chosen >= 0 ? chosen : n->a.designs[i]].name);
    th_strbuf_add(out, ",");
    th_strbuf_add_json(out, names.text ? names.text : "");
    th_strbuf_clear(&names);
}

static void add_nodes(const th_session *s, const th_result *x, th_strbuf *out)
{
    static const char *const kinds[] = {
        [TH_NODE_ACCEL] = "accel", [TH_NODE_HOST] = "host", [TH_NODE_SWITCH] = "switch"};
    th_strbuf_add(out, ",\n\"nodes\":[");
    for (int i = 0; i < s->system->n_nodes; i++) {
        const th_node *n = &s->system->nodes[i];
        th_strbuf_printf(out, "%s[\"%s\",", i > 0 ? "," : "", kinds[n->kind]);
        th_strbuf_add_json(out, n->name);
        th_strbuf_printf(out, ",%d,%d,%d,%d", (int)n->level, (int)n->leaf_first, (int)n->n_leaves,
                         n->group);
        if (n->kind == TH_NODE_ACCEL) {
            int set = set_of(s->mapping, n->accel);
            th_strbuf_printf(
                out, ",%.6g,%d",
                th_ratio((double)x->accels[n->accel].stats.busy_ps, (double)x->elapsed_ps),
                s->mapping && s->mapping->n_sets > 1 ? set : -1);
            add_designs(s, n, set, out);
        }
        th_strbuf_add(out, "]");
    }
    th_strbuf_add(out, "]");
}

/* Those that nodes list: others only explicit routes take. */
static void add_links(const th_system *s, const th_result *x, const double *load, th_strbuf *out)
{
    bool is_first = true;
    th_strbuf_add(out, ",\n\"links\":[");
    for (int i = 0; i < s->n_links; i++) {
        const th_link *l = &s->links[i];
        if (l->from < 0)
            continue;
        th_strbuf_printf(out, "%s[%d,%d,%.6g", is_first ? "" : ",", l->from, l->to, load[i]);
        if (s->n_links <= NAMED_LINKS_MAX) {
            th_strbuf_add(out, ",");
            th_strbuf_add_json(out, l->name);
            th_strbuf_printf(out, ",%" PRId64 ",%" PRId64, x->links[i].bytes,
                             s->media[l->medium].bits_per_s);
        }
        th_strbuf_add(out, "]");
        is_first = false;
    }
    th_strbuf_add(out, "]");
}

int th_html_topology(const th_session *session, const th_result *x, th_strbuf *out, th_error *err)
{
    const th_system *s = session->system;
    th_strbuf_add(out, ",\n\"topology\":{");
    th_html_field(out, "name", s->name);
    th_strbuf_printf(out, ",\"nAccels\":%d,\"nNodes\":%d,\"nLinks\":%d,\"isLine\":%s,\"dims\":[",
                     s->n_accels, s->n_nodes, s->n_links,
                     s->n_dims == 1 && s->dims[0].kind == TH_TOPOLOGY_DIM_LINE ? "true" : "false");
    for (int d = 0; d < s->n_dims; d++)
        th_strbuf_printf(out, "%s%d", d > 0 ? "," : "", (int)s->dims[d].size);
    th_strbuf_add(out, "]");
    if (s->n_nodes <= NODES_MAX && s->n_links <= LINKS_MAX) {
        const double *load = th_simulation_loads(session->simulation, err);
        if (!load)
            return -1;
        add_nodes(session, x, out);
        add_links(s, x, load, out);
    }
    th_strbuf_add(out, "}");
    return 0;
}
