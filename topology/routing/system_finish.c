/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_finish.c - numbers, names, adjacency and routes of a complete system.
 *   th_system_name_links* -> th_system_finish
 * finish = check and number the accelerators, name the links, sort them by node, prepare the routes
 * (types.c), check that all nodes are connected (connected.c). If finish fails, the system can only
 * be freed. Its time is linear in nodes plus links. */
#include <config.h>
#include "topology/routing/connected.h"
#include "topology/routing/route.h"
#include "topology/system.h"

#include "base/alloc.h"

/* ---- accelerators and hosts ---- */

static int check_accel(const th_system *s, const th_node *n, th_error *err)
{
    const th_accel *a = &n->a;
    if (a->n_designs < 1)
        return th_error_set(err, "TOPO-0009", "system \"%s\": accelerator \"%s\" has no design",
                            s->name, n->name);
    if (a->dram_bytes < 1 || a->dram_bits_per_s < 1 || a->dram_burst_bytes < 1 ||
        a->dram_latency_ps < 0)
        return th_error_set(
            err, "TOPO-0010",
            "system \"%s\": accelerator \"%s\": capacity, bandwidth and burst of the DRAM "
            "must be greater than 0, its latency at least 0",
            s->name, n->name);
    if (a->vector_hz < 1 || a->vector_elements_per_cycle < 1)
        return th_error_set(
            err, "TOPO-0011",
            "system \"%s\": accelerator \"%s\": clock and elements per cycle of the vector "
            "unit must be greater than 0",
            s->name, n->name);
    return 0;
}

static int number_nodes(th_system *s, th_error *err)
{
    s->accel_node = th_memory_take(&s->memory, (size_t)s->n_nodes, sizeof *s->accel_node);
    s->host_node = th_memory_take(&s->memory, (size_t)s->n_nodes, sizeof *s->host_node);
    if (!s->accel_node || !s->host_node)
        return th_error_no_memory(err);
    for (int i = 0; i < s->n_nodes; i++) {
        th_node *n = &s->nodes[i];
        if (n->kind == TH_NODE_HOST)
            s->host_node[s->n_hosts++] = i;
        if (n->kind != TH_NODE_ACCEL)
            continue;
        if (check_accel(s, n, err) < 0)
            return -1;
        n->accel = s->n_accels;
        s->accel_node[s->n_accels++] = i;
    }
    if (s->n_accels == 0)
        return th_error_set(err, "TOPO-0012",
                            "system \"%s\": no accelerator: must have at least one", s->name);
    return 0;
}

/* ---- links by node ---- */

/* The node that lists a link, or -1: dead links and segments are in no list. */
static int end_of(const th_link *l, bool by_from)
{
    if (l->is_dead)
        return -1;
    return by_from ? l->from : l->to;
}

/* Counting sort of the links by their node: links[start[i] .. start[i + 1]) are those of node i. */
static int sort_links(th_system *s, bool by_from, int32_t **start, int32_t **links)
{
    *start = th_memory_take(&s->memory, (size_t)s->n_nodes + 2, sizeof **start);
    *links = th_memory_take(&s->memory, (size_t)s->n_links, sizeof **links);
    if (!*start || !*links)
        return -1;
    int32_t *next = *start + 1; /* where the next link of i goes; ends as start[i + 1] */
    for (int l = 0; l < s->n_links; l++)
        if (end_of(&s->links[l], by_from) >= 0)
            next[end_of(&s->links[l], by_from) + 1]++;
    for (int i = 0; i < s->n_nodes; i++)
        next[i + 1] += next[i];
    for (int l = 0; l < s->n_links; l++)
        if (end_of(&s->links[l], by_from) >= 0)
            (*links)[next[end_of(&s->links[l], by_from)]++] = l;
    return 0;
}

static int number_ports(th_system *s)
{
    th_adjacency *a = &s->adjacency;
    int32_t *least = th_alloc_zero((size_t)s->n_media + 1, sizeof *least); /* its first link, + 1 */
    a->out_port = th_memory_take(&s->memory, (size_t)s->n_links + 1, sizeof *a->out_port);
    for (int node = 0; node < s->n_nodes && least && a->out_port; node++) {
        int32_t n = 0, begin = a->out_start[node], end = a->out_start[node + 1];
        for (int32_t i = begin; i < end; i++)
            least[s->links[a->out_links[i]].medium] = 0;
        for (int32_t i = begin; i < end; i++) {
            int link = a->out_links[i], medium = s->links[link].medium;
            a->out_port[link] = least[medium] ? a->out_port[least[medium] - 1] : n++;
            least[medium] = least[medium] ? least[medium] : link + 1;
        }
    }
    bool failed = !least || !a->out_port;
    th_free(least);
    return failed ? -1 : 0;
}

static int make_adjacency(th_system *s, th_error *err)
{
    if (sort_links(s, true, &s->adjacency.out_start, &s->adjacency.out_links) == 0 &&
        sort_links(s, false, &s->adjacency.in_start, &s->adjacency.in_links) == 0 &&
        number_ports(s) == 0)
        return 0;
    return th_error_no_memory(err);
}

int th_system_finish(th_system *s, th_error *err)
{
    if (number_nodes(s, err) < 0 || th_system_name_links(s, err) < 0 ||
        make_adjacency(s, err) < 0 || th_route_prepare(s, err) < 0)
        return -1;
    return th_check_connected(s, err);
}
