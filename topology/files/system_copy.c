/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_copy.c - see system_copy.h. A copy has everything that was added, in order;
 * th_system_finish derives the rest again. */
#include <config.h>
#include "topology/files/system_copy.h"

#include "base/arena.h"
#include "topology/files/astra.h"
#include "topology/generate/generate.h"

int th_system_copy_designs(th_system *s, const th_system *from, th_error *err)
{
    for (int d = 0; d < from->n_designs; d++)
        if (th_system_copy_design(s, &from->designs[d], err) < 0)
            return -1;
    return 0;
}

int th_system_copy_settings(th_system *s, const th_system *from, th_error *err)
{
    const char *source = from->link_energy.source;
    s->transfers_serially = from->transfers_serially;
    s->weight_memory = from->weight_memory;
    s->collective_start_ps = from->collective_start_ps;
    s->stripes_from = from->stripes_from;
    s->link_energy.j_per_byte = from->link_energy.j_per_byte;
    return source && !(s->link_energy.source = th_arena_string(s->names.text, source))
               ? th_error_no_memory(err)
               : 0;
}

static int copy_nodes(th_system *s, const th_system *from, th_error *err)
{
    for (int i = 0; i < from->n_nodes; i++) {
        const th_node *n = &from->nodes[i];
        if (th_system_add_node(s, n->name, n->kind, n->group, err) < 0)
            return -1;
        th_node *made = &s->nodes[i];
        const char *name = made->name;
        *made = *n;
        made->name = name;
        made->accel = -1;
        made->a = (th_accel){0};
        if (n->kind == TH_NODE_ACCEL && th_system_set_accel(s, i, &n->a, err) < 0)
            return -1;
    }
    return 0;
}

static int copy_links(th_system *s, const th_system *from, th_error *err)
{
    for (int m = 0; m < from->n_media; m++) {
        if (th_system_add_medium(s, from->media[m].bits_per_s, err) < 0)
            return -1;
        s->media[m] = from->media[m];
    }
    for (int i = 0; i < from->n_links; i++) {
        const th_link *l = &from->links[i];
        if ((l->from < 0
                 ? th_system_add_segment(s, l->name, l->medium, l->latency_ps, err)
                 : th_system_add_link(s, l->from, l->to, l->medium, l->latency_ps, err)) < 0)
            return -1;
        s->links[i].is_dead = l->is_dead;
    }
    th_explicit_route r;
    for (int i = 0; th_system_explicit_route(from, i, &r); i++)
        if (th_system_add_route(s, r.from, r.to, r.links, r.n_links, err) < 0)
            return -1;
    return 0;
}

static int copy_all(th_system *s, const th_system *from, th_error *err)
{
    s->max_links = TH_LINKS_MAX; /* from is within its limit */
    for (s->n_dims = 0; s->n_dims < from->n_dims; s->n_dims++)
        s->dims[s->n_dims] = from->dims[s->n_dims];
    s->routing = from->routing;
    if (from->generator) {
        if (!(s->generator = th_memory_take(&s->memory, 1, sizeof *s->generator)))
            return th_error_no_memory(err);
        *s->generator = *from->generator;
    }
    if (from->astra) {
        if (!(s->astra = th_memory_take(&s->memory, 1, sizeof *s->astra)))
            return th_error_no_memory(err);
        *s->astra = *from->astra;
    }
    return th_system_copy_settings(s, from, err) || th_system_copy_designs(s, from, err) ||
                   copy_nodes(s, from, err) || copy_links(s, from, err)
               ? -1
               : 0;
}

th_system *th_system_copy(const th_system *from, th_error *err)
{
    th_system *s = th_system_new(from->name, err);
    if (s && copy_all(s, from, err) == 0)
        return s;
    th_system_free(s);
    return NULL;
}
