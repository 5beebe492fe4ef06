/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_read.c - a system from a libconfig file.
 *   th_read_designs -> th_read_topology -> th_read_accels -> hosts, switches -> th_read_links
 *   -> th_read_routes -> finish
 * With a topology the generator creates all nodes and links, and the accelerator entries only
 * describe its accelerators; without one, the file lists every node and link. Every message starts
 * with FILE:LINE of the element; errors of th_system_* get the position of the element being added.
 * Designs and accelerators: accel_read.c; topologies: generate_read.c; links: link_read.c;
 * segments, dead links, routes: route_read.c; the parameters of ASTRA-sim: astra_read.c. */
#include <config.h>
#include "topology/files/system_read.h"

#include "base/arena.h"
#include "topology/files/system_fields.h"
#include "topology/files/system_reader.h"

#include <string.h>

/* ---- hosts and switches: "NAME", or { name = "NAME"; forwards = false; ... } ---- */

static int read_other_node(th_system_reader *r, const th_config_node *n, th_node_kind kind)
{
    const char *name = NULL;
    bool is_name = th_config_kind_of(n) == TH_CONFIG_STRING;
    if (is_name ? th_config_as_string(n, &name, &r->error) < 0
                : th_reader_group(r, n, "a host or switch") < 0 ||
                      th_config_string(n, "name", true, &name, &r->error) < 0)
        return -1;
    int i = th_system_add_node(r->s, name, kind, 0, &r->error);
    if (i < 0)
        return th_reader_at(r, n);
    th_node *node = &r->s->nodes[i];
    if (!is_name && th_fields_read(kind == TH_NODE_SWITCH ? th_switch_fields : th_host_fields, n,
                                   node, &r->error) < 0)
        return -1;
    if (node->reduces || (node->reduction_bits_per_s == 0 && node->reduction_latency_ps == 0))
        return 0;
    return th_reader_error(r, n, "TOPO-0196",
                           "\"%s\" has a reduction rate or latency: must have reduces = true",
                           name);
}

static int read_host(th_system_reader *r, const th_config_node *n)
{
    return read_other_node(r, n, TH_NODE_HOST);
}

static int read_switch(th_system_reader *r, const th_config_node *n)
{
    return read_other_node(r, n, TH_NODE_SWITCH);
}

/* ---- the file ---- */

static int read_nodes(th_system_reader *r)
{
    static const char *const by_hand[] = {"links", "hosts", "switches"};
    const th_config_node *topology = NULL;
    if (th_config_child(r->root, "topology", false, TH_CONFIG_GROUP, &topology, &r->error) < 0)
        return -1;
    r->is_generated = topology;
    for (int i = 0; topology && i < 3; i++) {
        const th_config_node *n = th_config_member(r->root, by_hand[i]);
        if (n)
            return th_reader_error(r, n, "TOPO-0045",
                                   "key \"%s\": a file has either a topology or "
                                   "links, hosts and switches",
                                   by_hand[i]);
    }
    if (topology && th_read_topology(r, topology) < 0)
        return -1;
    return th_read_accels(r);
}

/* Energy per byte and link, which needs a source. */
static int read_link_energy(th_system_reader *r)
{
    const th_config_node *n = th_config_member(r->root, "link_energy");
    const char *source = NULL;
    int64_t attojoules = 0;
    if (th_config_energy(r->root, "link_energy", false, &attojoules, &r->error) < 0 ||
        th_config_string(r->root, "link_energy_source", false, &source, &r->error) < 0)
        return -1;
    if (!n)
        return 0;
    if (!source)
        return th_reader_error(r, n, "TOPO-0150",
                               "link_energy without link_energy_source: must say where the "
                               "number comes from");
    r->s->link_energy.j_per_byte = (double)attojoules * TH_J_PER_AJ;
    r->s->link_energy.source = th_arena_string(r->s->names.text, source);
    return r->s->link_energy.source ? 0 : th_error_no_memory(&r->error);
}

/* The fraction of memories for weights, which only serial transfers have. */
static int read_weight_memory(th_system_reader *r)
{
    const th_config_node *n = th_config_member(r->root, "weight_memory");
    if (n && !r->s->transfers_serially)
        return th_reader_error(r, n, "TOPO-0191",
                               "weight_memory: must stand beside transfers = \"serial\"");
    if (!n && r->s->transfers_serially)
        r->s->weight_memory = 0.5;
    return 0;
}

/* Of a finished system. */
static int check_transfers(th_system_reader *r)
{
    if (!r->s->transfers_serially || r->s->n_hosts > 0)
        return 0;
    const th_config_node *n = th_config_member(r->root, "transfers");
    return th_reader_error(r, n, "TOPO-0192",
                           "transfers = \"serial\": must have a host, over which accelerators "
                           "reach each other");
}

/* The element that an error of th_system_finish most likely concerns. */
static const th_config_node *main_part(const th_config_node *root)
{
    const th_config_node *n = th_config_member(root, "links");
    return n ? n : th_config_member(root, "accelerators");
}

static int read_system(th_system_reader *r)
{
    const char *name = NULL;
    if (th_fields_check_keys(th_system_fields, r->root, &r->error) < 0 ||
        th_config_string(r->root, "name", true, &name, &r->error) < 0)
        return -1;
    r->s = th_system_new(name, &r->error);
    if (!r->s)
        return th_reader_at(r, r->root);
    r->s->max_links = r->max_links;
    if (th_fields_read(th_system_fields, r->root, r->s, &r->error) < 0 ||
        read_weight_memory(r) < 0 || th_read_designs(r) < 0 || read_nodes(r) < 0 ||
        th_reader_for_each(r, "hosts", read_host) < 0 ||
        th_reader_for_each(r, "switches", read_switch) < 0 || th_read_links(r) < 0 ||
        th_read_routes(r) < 0 || th_read_astra(r) < 0 || read_link_energy(r) < 0)
        return -1;
    if (th_system_finish(r->s, &r->error) < 0)
        return th_reader_at(r, main_part(r->root));
    return check_transfers(r);
}

/* Closes c in any case. */
static th_system *read_config(th_config *c, int max_links, th_error *err)
{
    if (!c)
        return NULL;
    th_system_reader r = {.root = th_config_root(c), .max_links = max_links, .error = {"", ""}};
    if (read_system(&r) < 0) {
        th_system_free(r.s);
        r.s = NULL;
        if (err)
            *err = r.error;
    }
    th_config_close(c);
    return r.s;
}

th_system *th_system_read(const char *path, th_error *err)
{
    return th_system_read_up_to(path, TH_LINKS_DEFAULT_MAX, err);
}

th_system *th_system_read_up_to(const char *path, int max_links, th_error *err)
{
    return read_config(th_config_open(path, err), max_links, err);
}

th_system *th_system_read_text(const char *text, const char *name, th_error *err)
{
    return th_system_read_text_up_to(text, name, TH_LINKS_DEFAULT_MAX, err);
}

th_system *th_system_read_text_up_to(const char *text, const char *name, int max_links,
                                     th_error *err)
{
    return read_config(th_config_open_text(text, name, err), max_links, err);
}
