/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice_system.c - see advice_system.h. A system of listed links is copied with more in its
 * tables; one of a generator is generated anew. */
#include <config.h>
#include "session/what_if/advice_system.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "session/what_if/what_if.h"
#include "topology/files/system_copy.h"

/* ---- generated systems ---- */

/* Accelerators beyond those of from are like its accelerator more. */
static th_system *generate(const th_system *from, const th_topology_type *type,
                           const th_topology_options *o, int32_t more, th_error *err)
{
    bool keeps_groups = !from->generator || from->generator->type != type;
    th_system *s = th_system_new(from->name, err);
    if (!s || th_topology_generate(s, type, o, err) != 0 ||
        th_system_copy_designs(s, from, err) != 0 || th_system_copy_settings(s, from, err) != 0)
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

/* A link like this one, between other nodes, on a medium of its own: with its way back, if that
 * shares the original's. medium: the copy of the last cable, -1: none yet. 0 or -1. */
static int add_link_like(th_system *made, const th_system *s, int l, int from, int to,
                         int32_t *medium, th_error *err)
{
    const th_link *like = &s->links[l];
    if (*medium < 0) {
        *medium = th_system_add_medium(made, s->media[like->medium].bits_per_s, err);
        if (*medium >= 0)
            made->media[*medium] = s->media[like->medium];
    }
    return *medium < 0 || th_system_add_link(made, from, to, *medium, like->latency_ps, err) < 0
               ? -1
               : 0;
}

/* Links of the new node like all of this one; links that share a medium share its copy. 0 or -1. */
static int add_links_of(th_system *made, const th_system *s, int node, int twin, th_error *err)
{
    int32_t *copies = th_alloc_array((size_t)s->n_media + 1, sizeof *copies);
    int failed = copies ? 0 : th_error_no_memory(err);
    for (int m = 0; copies && m < s->n_media; m++)
        copies[m] = -1;
    for (int l = 0; l < s->n_links && !failed; l++) {
        const th_link *x = &s->links[l];
        if (x->from == node || x->to == node)
            failed = add_link_like(made, s, l, x->from == node ? twin : x->from,
                                   x->from == node ? x->to : twin, &copies[x->medium], err);
    }
    th_free(copies);
    return failed;
}

/* A link between the node and the new one, like its first link to another accelerator. 0 or -1. */
static int add_link_to_twin(th_system *made, const th_system *s, int node, int twin, th_error *err)
{
    for (int l = 0; l < s->n_links; l++) {
        const int other = s->links[l].to;
        int32_t medium = -1, medium_back = -1;
        if (s->links[l].from != node || other < 0 || s->nodes[other].accel < 0)
            continue;
        if (add_link_like(made, s, l, node, twin, &medium, err) != 0)
            return -1;
        for (int back = 0; back < s->n_links; back++)
            if (s->links[back].from == other && s->links[back].to == node)
                return add_link_like(
                    made, s, back, twin, node,
                    s->links[back].medium == s->links[l].medium ? &medium : &medium_back, err);
        return 0;
    }
    return 0;
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
    const int node = s->accel_node[accel], twin = s->n_nodes;
    const th_node *like = &s->nodes[node];
    th_system *made = th_system_copy(s, err);
    if (!made)
        return NULL;
    free_name(s, name, sizeof name);
    int failed = th_system_add_node(made, name, like->kind, like->group, err) < 0 ||
                 th_system_set_accel(made, twin, &like->a, err) != 0;
    if (!failed) {
        made->nodes[twin].forwards = like->forwards;
        made->nodes[twin].level = like->level;
        made->nodes[twin].leaf_first = like->leaf_first;
        made->nodes[twin].n_leaves = like->n_leaves;
        failed = add_links_of(made, s, node, twin, err) != 0 ||
                 add_link_to_twin(made, s, node, twin, err) != 0;
    }
    return th_what_if_finish(made, failed, err);
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
    th_system *made = th_system_copy(s, err);
    int *designs = th_alloc_array((size_t)s->n_designs + 1, sizeof *designs);
    int failed = designs ? 0 : th_error_no_memory(err);
    for (int i = 0; made && !failed && i < n; i++) {
        const int node = s->accel_node[accels[i]];
        th_accel a = s->nodes[node].a;
        int kept = a.n_designs > 1 ? a.n_designs : 0;
        memcpy(designs, a.designs, (size_t)kept * sizeof *designs);
        designs[kept] = design;
        a.designs = designs;
        a.n_designs = kept + 1;
        failed = th_system_set_accel(made, node, &a, err);
    }
    th_free(designs);
    return th_what_if_finish(made, failed, err);
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
