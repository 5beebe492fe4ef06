/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice_system.c - see advice_system.h. A system of listed links is copied with more in its
 * tables; one of a generator is generated anew. */
#include <config.h>
#include "report/what_if/advice_system.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "report/what_if/what_if.h"

/* ---- generated systems ---- */

static int copy_designs(th_system *s, const th_system *from, th_error *err)
{
    for (int d = 0; d < from->n_designs; d++) {
        const th_design_block *b = &from->designs[d];
        if (th_system_add_design(s, b->name, b->type, b->file, b->line, err) < 0)
            return -1;
        for (int p = 0; p < b->n_params; p++)
            if (th_system_add_param(s, d, &b->params[p], err) < 0)
                return -1;
    }
    return 0;
}

static int copy_energy(th_system *s, const th_system *from, th_error *err)
{
    s->link_energy.j_per_byte = from->link_energy.j_per_byte;
    if (from->link_energy.source &&
        !(s->link_energy.source = th_alloc_string(from->link_energy.source)))
        return th_error_no_memory(err);
    return 0;
}

/* Accelerators beyond those of from are like its accelerator more. */
static th_system *generate(const th_system *from, const th_topology_type *type,
                           const th_topology_options *o, int32_t more, th_error *err)
{
    bool keeps_groups = !from->generator || from->generator->type != type;
    th_system *s = th_system_new(from->name, err);
    if (!s || th_topology_generate(s, type, o, err) != 0 || copy_designs(s, from, err) != 0 ||
        copy_energy(s, from, err) != 0)
        goto fail;
    for (int i = 0; i < s->n_nodes && s->nodes[i].kind == TH_NODE_ACCEL; i++) {
        int32_t like = i < from->n_accels ? i : more;
        if (th_system_copy_accel(s, i, from, like, err) != 0)
            goto fail;
        if (keeps_groups)
            s->nodes[i].group = from->nodes[from->accel_node[like]].group;
    }
    if (!keeps_groups)
        s->routing = from->routing;
    if (th_system_finish(s, err) == 0)
        return s;

fail:
    th_system_free(s);
    return NULL;
}

th_system *th_system_with_topology(const th_system *s, const th_topology_type *type,
                                   const th_topology_options *o, th_error *err)
{
    return generate(s, type, o, 0, err);
}

/* One side longer by one: the smallest system that is larger, the last side where several are. */
static th_system *grow(const th_system *s, int32_t like, th_error *err)
{
    th_system *best = NULL;
    for (int d = s->generator->options.n_dims - 1; d >= 0; d--) {
        th_topology_options o = s->generator->options;
        o.dims[d]++;
        th_system *larger = generate(s, s->generator->type, &o, like, err);
        bool is_better = larger && larger->n_accels > s->n_accels &&
                         (!best || larger->n_accels < best->n_accels);
        th_system_free(is_better ? best : larger);
        if (is_better)
            best = larger;
    }
    return best;
}

/* ---- systems of listed links ---- */

/* Tables of a system with room for more; the rest is the original's. */
typedef struct more_tables {
    th_system shallow;
    int32_t *new_medium; /* by medium: its copy, 0: none yet */
} more_tables;

static int begin_tables(more_tables *t, const th_system *s, int n_links, th_error *err)
{
    size_t links = (size_t)s->n_links + (size_t)n_links,
           media = (size_t)s->n_media + (size_t)n_links;
    t->shallow = *s;
    t->shallow.nodes = th_alloc_array((size_t)s->n_nodes + 1, sizeof *s->nodes);
    t->shallow.links = th_alloc_array(links + 1, sizeof *s->links);
    t->shallow.media = th_alloc_array(media + 1, sizeof *s->media);
    t->new_medium = th_alloc_zero((size_t)s->n_media + 1, sizeof *t->new_medium);
    if (!t->shallow.nodes || !t->shallow.links || !t->shallow.media || !t->new_medium)
        return th_error_no_memory(err);
    memcpy(t->shallow.nodes, s->nodes, (size_t)s->n_nodes * sizeof *s->nodes);
    if (s->n_links > 0)
        memcpy(t->shallow.links, s->links, (size_t)s->n_links * sizeof *s->links);
    if (s->n_media > 0)
        memcpy(t->shallow.media, s->media, (size_t)s->n_media * sizeof *s->media);
    return 0;
}

static void end_tables(more_tables *t)
{
    th_free(t->shallow.nodes);
    th_free(t->shallow.links);
    th_free(t->shallow.media);
    th_free(t->new_medium);
}

/* A link like this one, between other nodes, on a medium of its own: with its way back, if that
 * shares the original's. */
static void add_link_like(more_tables *t, int l, int from, int to)
{
    th_system *s = &t->shallow;
    th_link made = s->links[l];
    int32_t medium = made.medium;
    if (t->new_medium[medium] == 0) {
        s->media[s->n_media] = s->media[medium];
        t->new_medium[medium] = s->n_media++;
    }
    made.from = from;
    made.to = to;
    made.medium = t->new_medium[medium];
    made.name = NULL;
    s->links[s->n_links++] = made;
}

/* Forgets which media were copied: what follows is another cable. */
static void next_cable(more_tables *t, const th_system *s)
{
    memset(t->new_medium, 0, ((size_t)s->n_media + 1) * sizeof *t->new_medium);
}

/* A link between the node and the new one, like its first link to another accelerator. */
static void add_link_to_twin(more_tables *t, const th_system *s, int node, int twin)
{
    for (int l = 0; l < s->n_links; l++) {
        int other = s->links[l].to;
        if (s->links[l].from != node || other < 0 || s->nodes[other].accel < 0)
            continue;
        next_cable(t, s);
        add_link_like(t, l, node, twin);
        for (int back = 0; back < s->n_links; back++)
            if (s->links[back].from == other && s->links[back].to == node) {
                add_link_like(t, back, twin, node);
                return;
            }
        return;
    }
}

/* "new", or "new1" ...: a name that no node has. */
static void free_name(const th_system *s, char *out, size_t size)
{
    snprintf(out, size, "new");
    for (int i = 1; th_system_find_node(s, out) >= 0; i++)
        snprintf(out, size, "new%d", i);
}

static th_system *with_twin(const th_system *s, int32_t accel, th_error *err)
{
    char name[32];
    more_tables t;
    th_system *made = NULL;
    int node = s->accel_node[accel], twin = s->n_nodes;
    if (begin_tables(&t, s, s->n_links + 2, err) == 0) {
        free_name(s, name, sizeof name);
        t.shallow.nodes[twin] = s->nodes[node];
        t.shallow.nodes[twin].name = name;
        t.shallow.n_nodes++;
        for (int l = 0; l < s->n_links; l++)
            if (s->links[l].from == node)
                add_link_like(&t, l, twin, s->links[l].to);
            else if (s->links[l].to == node)
                add_link_like(&t, l, s->links[l].from, twin);
        add_link_to_twin(&t, s, node, twin);
        made = th_what_if_rebuild(&t.shallow, err);
    }
    end_tables(&t);
    return made;
}

/* A link that is dead, or a route that is given, does not tell what a larger system has. */
static bool has_exceptions(const th_system *s)
{
    th_explicit_route route;
    bool any = s->astra || th_system_explicit_route(s, 0, &route);
    for (int l = 0; l < s->n_links && !any; l++)
        any = s->links[l].is_dead || s->links[l].from < 0;
    return any;
}

th_system *th_system_with_more(const th_system *s, int32_t accel, th_error *err)
{
    if (has_exceptions(s) || (!s->generator && s->n_dims > 0))
        return NULL;
    return s->generator ? grow(s, accel, err) : with_twin(s, accel, err);
}

/* ---- designs ---- */

th_system *th_system_with_design(const th_system *s, const int32_t *accels, int n, int design,
                                 th_error *err)
{
    int *designs = th_alloc_array((size_t)n * ((size_t)s->n_designs + 1), sizeof *designs),
        *next = designs;
    th_node *nodes = th_alloc_array((size_t)s->n_nodes, sizeof *nodes);
    th_system *made = NULL, shallow = *s;
    if (designs && nodes) {
        memcpy(nodes, s->nodes, (size_t)s->n_nodes * sizeof *nodes);
        for (int i = 0; i < n; i++) {
            th_accel *a = &nodes[s->accel_node[accels[i]]].a;
            int kept = a->n_designs > 1 ? a->n_designs : 0;
            memcpy(next, a->designs, (size_t)kept * sizeof *next);
            next[kept] = design;
            a->designs = next;
            a->n_designs = kept + 1;
            next += kept + 1;
        }
        shallow.nodes = nodes;
        made = th_what_if_rebuild(&shallow, err);
    } else {
        th_error_no_memory(err);
    }
    th_free(designs);
    th_free(nodes);
    return made;
}

/* ---- the links between accelerators and switches ---- */

static bool is_host(const th_system *s, int node)
{
    return node >= 0 && s->nodes[node].kind == TH_NODE_HOST;
}

/* One host with equal cables to all accelerators, and to nothing else. */
static bool read_host(const th_system *s, th_fabric *f)
{
    int n = 0;
    if (s->n_hosts != 1)
        return s->n_hosts == 0;
    f->has_host = true;
    for (int l = 0; l < s->n_links; l++) {
        const th_link *x = &s->links[l];
        const th_medium *m = &s->media[x->medium];
        if (!is_host(s, x->from) && !is_host(s, x->to))
            continue;
        int other = is_host(s, x->from) ? x->to : x->from;
        if (n++ == 0) {
            f->host_bits_per_s = m->bits_per_s;
            f->host_latency_ps = x->latency_ps;
            f->host_cost = 2 * m->cost;
        }
        if (s->nodes[other].accel < 0 || m->bits_per_s != f->host_bits_per_s ||
            x->latency_ps != f->host_latency_ps)
            return false;
    }
    return n == 2 * s->n_accels;
}

static bool is_like(const th_system *s, const th_link *a, const th_link *b)
{
    const th_medium *x = &s->media[a->medium], *y = &s->media[b->medium];
    return x->bits_per_s == y->bits_per_s && x->cost == y->cost && a->latency_ps == b->latency_ps;
}

static bool is_fabric(const th_system *s, const th_link *l)
{
    return l->from >= 0 && !is_host(s, l->from) && !is_host(s, l->to);
}

/* Counts the kinds of links; the most frequent one, the first among equals, gives the cable. */
static void read_cables(const th_system *s, th_fabric *f)
{
    enum { KINDS_MAX = 16 };
    const th_link *kinds[KINDS_MAX], *cable = NULL;
    int n[KINDS_MAX] = {0}, n_kinds = 0, n_links = 0, most = 0;
    for (int l = 0; l < s->n_links && n_kinds < KINDS_MAX; l++) {
        const th_link *x = &s->links[l];
        int k = 0;
        if (!is_fabric(s, x))
            continue;
        while (k < n_kinds && !is_like(s, x, kinds[k]))
            k++;
        if (k == n_kinds)
            kinds[n_kinds++] = x;
        n[k]++;
        n_links++;
        f->bits_per_s += (double)s->media[x->medium].bits_per_s;
    }
    for (int k = 0; k < n_kinds; k++)
        if (n[k] > most) {
            most = n[k];
            cable = kinds[k];
        }
    f->is_plain = cable && n_links % 2 == 0 && n_kinds < KINDS_MAX;
    f->n_cables = n_links / 2;
    if (!f->is_plain)
        return;
    f->cable_bits_per_s = s->media[cable->medium].bits_per_s;
    f->cable_latency_ps = cable->latency_ps;
    f->cable_cost = 2 * s->media[cable->medium].cost;
}

th_fabric th_fabric_of(const th_system *s)
{
    th_fabric f = {.n_cables = 0};
    f.is_plain = !has_exceptions(s) && !s->transfers_serially && s->n_media == s->n_links &&
                 read_host(s, &f);
    if (f.is_plain)
        read_cables(s, &f);
    return f;
}

double th_system_cost(const th_system *s)
{
    double sum = 0;
    for (int a = 0; a < s->n_accels; a++)
        sum += s->nodes[s->accel_node[a]].a.cost;
    for (int m = 0; m < s->n_media; m++)
        sum += s->media[m].cost;
    return sum;
}
