/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dram_links.c - which links join a DRAM to the network, where messages could be limited by it.
 *
 *   count -> (fill by packet.c) -> (from | to)* -> clear
 * A DRAM is narrow if all that leads into and out of its node together is wider. Its links are, in
 * this order: one from it and one to it, for terminals, or for segments that begin or end an
 * explicit route; without terminals one from it to each link out of the node, and one to it from
 * each link into the node. */
#include <config.h>

#include "sim/network/packet/packet.h"

static bool is_narrow(const th_system *s, int node, int64_t terminal_bits_per_s)
{
    if (s->nodes[node].kind != TH_NODE_ACCEL || s->nodes[node].a.dram_bits_per_s == TH_UNLIMITED)
        return false;
    if (terminal_bits_per_s > 0)
        return s->nodes[node].a.dram_bits_per_s / 2 < terminal_bits_per_s;
    if (s->routes.explicit) /* segments may bring more */
        return true;
    return s->nodes[node].a.dram_bits_per_s < th_network_node_rates(s, node).all;
}

int32_t th_dram_links_of(const th_packet_network *p, int node)
{
    const th_adjacency *a = &p->head.system->adjacency;
    if (p->drams.first[node] < 0)
        return 0;
    if (p->options.has_terminals)
        return 2;
    return 2 + a->out_start[node + 1] - a->out_start[node] + a->in_start[node + 1] -
           a->in_start[node];
}

int th_dram_links_count(th_packet_network *p, int64_t terminal_bits_per_s)
{
    const th_system *s = p->head.system;
    p->drams = (th_packet_drams){0};
    p->drams.first =
        th_memory_take(&p->head.memory, (size_t)s->n_nodes + 1, sizeof *p->drams.first);
    if (!p->drams.first)
        return -1;
    for (int node = 0; node < s->n_nodes; node++) {
        bool is_there = is_narrow(s, node, terminal_bits_per_s);
        p->drams.first[node] = is_there ? p->drams.n_links : -1;
        p->drams.n_links += th_dram_links_of(p, node);
        p->drams.n_media += is_there;
    }
    return 0;
}

static int32_t place_of(const int *links, int from, int to, int link)
{
    for (int i = from; i < to; i++)
        if (links[i] == link)
            return i - from;
    return -1;
}

int32_t th_dram_link_from(const th_packet_network *p, int node, int link)
{
    const th_adjacency *a = &p->head.system->adjacency;
    int32_t first = p->fabric.first_dram_link + p->drams.first[node], i = -1;
    if (p->drams.first[node] < 0)
        return -1;
    if (!p->options.has_terminals)
        i = place_of(a->out_links, a->out_start[node], a->out_start[node + 1], link);
    return i < 0 ? first : first + 2 + i;
}

int32_t th_dram_link_to(const th_packet_network *p, int node, int link)
{
    const th_adjacency *a = &p->head.system->adjacency;
    int32_t first = p->fabric.first_dram_link + p->drams.first[node], i = -1;
    if (p->drams.first[node] < 0)
        return -1;
    if (!p->options.has_terminals)
        i = place_of(a->in_links, a->in_start[node], a->in_start[node + 1], link);
    return i < 0 ? first + 1 : first + 2 + a->out_start[node + 1] - a->out_start[node] + i;
}
