/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system.c - the tables of a system, until it is finished.
 *   new -> (add_* | connect | set_accel | copy_accel)* -> finish -> find* -> free
 * Invariants: accel_node[nodes[i].accel] == i for accelerators; links are named once finish is
 * done; an array of n elements has room for the next power of two, so no capacity is stored.
 * Finishing: routing/system_finish.c. */
#include <config.h>
#include "topology/system.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A million nodes take a quarter of a GiB. */
enum { MAX_NODES = 1 << 20 };
/* Far beyond any real system. The latencies of TH_ROUTE_MAX links together fit into th_time. */
static const int64_t max_bits_per_s = 1000000000000000;
static const th_time max_latency_ps = 1000 * TH_PS_PER_S;

/* Room for one more behind n elements of the array that *array_pointer points to. */
static int grow(void *array_pointer, int n, size_t size)
{
    void *array;
    if ((n & (n - 1)) != 0)
        return 0;
    memcpy(&array, array_pointer, sizeof array);
    array = th_realloc_array(array, n ? 2 * (size_t)n : 1, size);
    if (!array)
        return -1;
    memcpy(array_pointer, &array, sizeof array);
    return 0;
}

/* ---- life ---- */

/* Names stand in the heads of reports and of files that are read again: one line, and not
 * nothing. */
static bool is_line(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return name[0] != '\0' && strlen(name) <= TH_NAME_BYTES_MAX;
}

th_system *th_system_new(const char *name, th_error *err)
{
    if (!is_line(name)) {
        th_error_set(err, "TOPO-0017", "a system's name must be one line of text, at most %d bytes",
                     (int)TH_NAME_BYTES_MAX);
        return NULL;
    }
    th_system *s = th_alloc_zero(1, sizeof *s);
    if (s)
        s->max_links = TH_LINKS_DEFAULT_MAX;
    if (s && (s->name = th_alloc_string(name)) && (s->names.text = th_arena_new()) &&
        (s->names.nodes = th_map_new()) && (s->names.links = th_map_new()))
        return s;
    th_system_free(s);
    th_error_no_memory(err);
    return NULL;
}

void th_system_free(th_system *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->n_nodes; i++)
        th_free(s->nodes[i].a.designs);
    for (int i = 0; i < s->n_designs; i++)
        th_free(s->designs[i].params);
    th_free(s->nodes);
    th_free(s->media);
    th_free(s->links);
    th_free(s->designs);
    if (s->routes.release)
        s->routes.release(s);
    th_memory_free(&s->memory);
    th_map_free(s->names.nodes);
    th_map_free(s->names.links);
    th_arena_free(s->names.text);
    th_free(s->name);
    th_free(s);
}

/* ---- nodes, media, links ---- */

/* Names become object names (accel/NAME, link/FROM_TO) in scripts: letters, digits and _ - . :
 * only. */
static bool is_good_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:";
    return name[0] != '\0' && name[strspn(name, allowed)] == '\0';
}

int th_system_add_node(th_system *s, const char *name, th_node_kind kind, int group, th_error *err)
{
    if (!is_good_name(name))
        return th_error_set(
            err, "TOPO-0001",
            "node \"%s\": a name must be made of letters, digits and _ - . :", name);
    if (th_system_find_node(s, name) >= 0)
        return th_error_set(err, "TOPO-0002",
                            "node \"%s\": the name is taken; names must be unique", name);
    if (s->n_nodes >= MAX_NODES)
        return th_error_set(err, "TOPO-0003", "node \"%s\": a system has at most %d nodes", name,
                            MAX_NODES);
    const char *copy = th_arena_string(s->names.text, name);
    if (!copy || grow(&s->nodes, s->n_nodes, sizeof *s->nodes) < 0)
        return th_error_no_memory(err);
    s->nodes[s->n_nodes] =
        (th_node){.name = copy, .kind = kind, .group = group, .forwards = true, .accel = -1};
    if (th_map_put(s->names.nodes, name, strlen(name), s->n_nodes))
        return th_error_no_memory(err);
    return s->n_nodes++;
}

int th_system_add_medium(th_system *s, int64_t bits_per_s, th_error *err)
{
    if (bits_per_s < 1 || bits_per_s > max_bits_per_s)
        return th_error_set(err, "TOPO-0004",
                            "a bandwidth of %lld bits/s: must be from 1 bit/s to 1 Pbit/s",
                            (long long)bits_per_s);
    if (grow(&s->media, s->n_media, sizeof *s->media) < 0)
        return th_error_no_memory(err);
    s->media[s->n_media] = (th_medium){.bits_per_s = bits_per_s};
    return s->n_media++;
}

static int add_link(th_system *s, const th_link *link, th_error *err)
{
    const char *from = th_system_node_name(s, link->from), *to = th_system_node_name(s, link->to);
    assert(link->medium >= 0 && link->medium < s->n_media);
    if (link->latency_ps < 0 || link->latency_ps > max_latency_ps)
        return th_error_set(err, "TOPO-0006",
                            "link from \"%s\" to \"%s\": latency must be from 0 to 1000s", from,
                            to);
    if (s->n_links >= s->max_links)
        return th_error_set(err, "TOPO-0016",
                            "link from \"%s\" to \"%s\": a system has at most %d links, unless "
                            "-max_links allows more (%d at most)",
                            from, to, s->max_links, TH_LINKS_MAX);
    if (grow(&s->links, s->n_links, sizeof *s->links) < 0)
        return th_error_no_memory(err);
    s->links[s->n_links] = *link;
    return s->n_links++;
}

int th_system_add_link(th_system *s, int from, int to, int medium, th_time latency_ps,
                       th_error *err)
{
    assert(from >= 0 && from < s->n_nodes && to >= 0 && to < s->n_nodes);
    if (from == to)
        return th_error_set(err, "TOPO-0005", "node \"%s\" is linked to itself: must be two nodes",
                            s->nodes[from].name);
    const th_link link = {.from = from, .to = to, .medium = medium, .latency_ps = latency_ps};
    return add_link(s, &link, err);
}

/* The free one of NAME.1, NAME.2 ... for a name that is taken. suffixes holds the next one to try,
 * by name: else many parallel links would try all before them. NULL: memory is out. */
static const char *with_suffix(th_system *s, const char *name, th_map *suffixes)
{
    size_t length = strlen(name), room = length + sizeof ".2147483647";
    char *longer = th_arena_alloc(s->names.text, room);
    int64_t suffix = 1;
    if (!longer)
        return NULL;
    th_map_get(suffixes, name, length, &suffix);
    do
        snprintf(longer, room, "%s.%d", name, (int)suffix++);
    while (th_system_find_link(s, longer) >= 0);
    return th_map_put(suffixes, name, length, suffix) < 0 ? NULL : longer;
}

/* FROM_TO where that is free, else with a suffix. NULL: memory is out. */
static const char *name_of_ends(th_system *s, const th_link *l, th_map *suffixes)
{
    const char *from = s->nodes[l->from].name, *to = s->nodes[l->to].name;
    size_t room = strlen(from) + strlen(to) + sizeof "_";
    char *name = th_arena_alloc(s->names.text, room);
    if (!name)
        return NULL;
    snprintf(name, room, "%s_%s", from, to);
    return th_system_find_link(s, name) < 0 ? name : with_suffix(s, name, suffixes);
}

/* A segment has its name already. */
static int name_link(th_system *s, int link, th_map *suffixes)
{
    th_link *l = &s->links[link];
    if (l->from >= 0)
        l->name = name_of_ends(s, l, suffixes);
    if (!l->name)
        return -1;
    return th_map_put(s->names.links, l->name, strlen(l->name), link);
}

int th_system_name_links(th_system *s, th_error *err)
{
    th_map *suffixes = th_map_new();
    int status = suffixes ? 0 : -1;
    while (status == 0 && s->names.n_links < s->n_links) {
        status = name_link(s, s->names.n_links, suffixes);
        s->names.n_links += status == 0;
    }
    th_map_free(suffixes);
    return status < 0 ? th_error_no_memory(err) : 0;
}

int th_system_add_segment(th_system *s, const char *name, int medium, th_time latency_ps,
                          th_error *err)
{
    if (!is_good_name(name))
        return th_error_set(
            err, "TOPO-0050",
            "segment \"%s\": a name must be made of letters, digits and _ - . :", name);
    if (th_system_name_links(s, err) < 0)
        return -1;
    if (th_system_find_link(s, name) >= 0)
        return th_error_set(err, "TOPO-0051",
                            "segment \"%s\": the name is taken; names must be unique among links "
                            "and segments",
                            name);
    th_link link = {.from = -1,
                    .to = -1,
                    .medium = medium,
                    .latency_ps = latency_ps,
                    .name = th_arena_string(s->names.text, name)};
    if (!link.name)
        return th_error_no_memory(err);
    int segment = add_link(s, &link, err);
    if (segment >= 0 && th_system_name_links(s, err) < 0) {
        s->n_links--;
        return -1;
    }
    return segment;
}

int th_system_add_cable(th_system *s, int a, int b, th_cable cable, th_error *err)
{
    int n_media = s->n_media, n_links = s->n_links;
    int there = th_system_add_medium(s, cable.bits_per_s[0], err), back = there;
    if (there >= 0 && cable.is_full_duplex)
        back = th_system_add_medium(s, cable.bits_per_s[1], err);
    for (int m = there; m >= 0 && m <= back; m++) {
        s->media[m].cost = cable.is_full_duplex ? cable.cost / 2 : cable.cost;
        s->media[m].mtbf_us = cable.mtbf_us;
    }
    int first = back >= 0 ? th_system_add_link(s, a, b, there, cable.latency_ps[0], err) : -1;
    if (first >= 0 && th_system_add_link(s, b, a, back, cable.latency_ps[1], err) >= 0) {
        s->links[first].is_dead = s->links[first + 1].is_dead = cable.is_dead;
        return first;
    }
    s->n_media = n_media;
    s->n_links = n_links;
    return -1;
}

int th_system_cable_links(const th_system *s, int link)
{
    const th_link *there = &s->links[link], *back = there + 1;
    return link + 1 < s->n_links && there->from >= 0 && there->from == back->to &&
                   there->to == back->from &&
                   (back->medium == there->medium || back->medium == there->medium + 1)
               ? 2
               : 1;
}

/* ---- designs and accelerators ---- */

int th_system_add_design(th_system *s, const char *name, const char *type, const char *file,
                         int line, th_error *err)
{
    if (!is_good_name(name))
        return th_error_set(
            err, "TOPO-0007",
            "design \"%s\": a name must be made of letters, digits and _ - . :", name);
    if (th_system_find_design(s, name) >= 0)
        return th_error_set(err, "TOPO-0008",
                            "design \"%s\": the name is taken; names must be unique", name);
    th_design_block d = {.name = th_arena_string(s->names.text, name),
                         .type = th_arena_string(s->names.text, type),
                         .file = file ? th_arena_string(s->names.text, file) : NULL,
                         .line = line};
    if (!d.name || !d.type || (file && !d.file) || grow(&s->designs, s->n_designs, sizeof d) < 0)
        return th_error_no_memory(err);
    s->designs[s->n_designs] = d;
    return s->n_designs++;
}

int th_system_add_param(th_system *s, int design, const th_param *param, th_error *err)
{
    th_design_block *d = &s->designs[design];
    th_param copy = *param;
    copy.key = th_arena_string(s->names.text, param->key);
    copy.text = param->text ? th_arena_string(s->names.text, param->text) : NULL;
    if (!copy.key || (param->text && !copy.text) || grow(&d->params, d->n_params, sizeof copy) < 0)
        return th_error_no_memory(err);
    d->params[d->n_params] = copy;
    return d->n_params++;
}

int th_system_set_param(th_system *s, int design, const th_param *param, th_error *err)
{
    th_design_block *d = &s->designs[design];
    int old = 0, last = th_system_add_param(s, design, param, err);
    if (last < 0)
        return -1;
    while (strcmp(d->params[old].key, param->key) != 0)
        old++;
    if (old < last) {
        d->params[old] = d->params[last];
        d->n_params--;
    }
    return old;
}

int th_system_set_accel(th_system *s, int node, const th_accel *a, th_error *err)
{
    th_node *n = &s->nodes[node];
    int *designs = th_alloc_array((size_t)a->n_designs, sizeof *designs);
    if (!designs)
        return th_error_no_memory(err);
    for (int i = 0; i < a->n_designs; i++)
        designs[i] = a->designs[i];
    th_free(n->a.designs);
    n->a = *a;
    n->a.designs = designs;
    n->kind = TH_NODE_ACCEL;
    return 0;
}

int th_system_copy_design(th_system *s, const th_design_block *d, th_error *err)
{
    int design = th_system_find_design(s, d->name);
    if (design >= 0)
        return design;
    design = th_system_add_design(s, d->name, d->type, d->file, d->line, err);
    for (int i = 0; design >= 0 && i < d->n_params; i++)
        if (th_system_add_param(s, design, &d->params[i], err) < 0)
            return -1;
    return design;
}

static void drop_designs(th_system *s, int n_designs)
{
    while (s->n_designs > n_designs)
        th_free(s->designs[--s->n_designs].params);
}

int th_system_copy_accel(th_system *s, int node, const th_system *from, int accel, th_error *err)
{
    int n_designs = s->n_designs;
    th_accel a = from->nodes[from->accel_node[accel]].a;
    int *designs = th_alloc_array((size_t)a.n_designs, sizeof *designs);
    if (!designs)
        return th_error_no_memory(err);
    int status = 0;
    for (int i = 0; i < a.n_designs && status == 0; i++) {
        designs[i] = th_system_copy_design(s, &from->designs[a.designs[i]], err);
        status = designs[i] < 0 ? -1 : 0;
    }
    a.designs = designs;
    if (status == 0)
        status = th_system_set_accel(s, node, &a, err);
    if (status < 0)
        drop_designs(s, n_designs);
    th_free(designs);
    return status;
}

/* ---- look-ups ---- */

const char *th_system_node_name(const th_system *s, int node)
{
    return node < 0 ? "" : s->nodes[node].name;
}

static int find_name(const th_map *names, const char *name)
{
    int64_t index = -1;
    th_map_get(names, name, strlen(name), &index);
    return (int)index;
}

int th_system_find_node(const th_system *s, const char *name)
{
    return find_name(s->names.nodes, name);
}

int th_system_find_link(const th_system *s, const char *name)
{
    return find_name(s->names.links, name);
}

int th_system_find_design(const th_system *s, const char *name)
{
    for (int i = 0; i < s->n_designs; i++)
        if (strcmp(s->designs[i].name, name) == 0)
            return i;
    return -1;
}
