/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_read.c - a system from a libconfig file.
 *   th_read_designs -> th_read_topology -> th_read_accels -> hosts, switches, links -> finish
 * With a topology the generator makes all nodes and links, and the accelerator entries only
 * describe its accelerators; without one, every node and link is written down.
 * Every message starts with FILE:LINE of the element it is about; what th_system_* reports is given
 * the position of the element that was being added. Designs and accelerators: accel_read.c;
 * topologies: generate_read.c. */
#include <config.h>
#include "topology/system_read.h"

#include "base/alloc.h"
#include "base/names.h"
#include "topology/system_reader.h"

#include <string.h>

/* ---- hosts and switches: "NAME", or { name = "NAME"; forwards = false; } ---- */

static int read_other_node(th_system_reader *r, const th_config_node *n, th_node_kind kind)
{
    static const char *const keys[] = {"name", "forwards", NULL};
    const char *name = NULL;
    bool forwards = true;
    if (th_config_kind_of(n) == TH_CONFIG_STRING) {
        if (th_config_as_string(n, &name, &r->error) < 0)
            return -1;
    } else if (th_reader_group(r, n, "a host or switch") < 0 ||
               th_config_check_keys(n, keys, &r->error) < 0 ||
               th_config_string(n, "name", true, &name, &r->error) < 0 ||
               th_config_bool(n, "forwards", false, &forwards, &r->error) < 0) {
        return -1;
    }
    int node = th_system_add_node(r->s, name, kind, 0, &r->error);
    if (node < 0)
        return th_reader_at(r, n);
    r->s->nodes[node].forwards = forwards;
    return 0;
}

static int read_host(th_system_reader *r, const th_config_node *n)
{
    return read_other_node(r, n, TH_NODE_HOST);
}

static int read_switch(th_system_reader *r, const th_config_node *n)
{
    return read_other_node(r, n, TH_NODE_SWITCH);
}

/* ---- links ---- */

static int node_named(th_system_reader *r, const th_config_node *n, int *out)
{
    const char *name;
    if (th_config_as_string(n, &name, &r->error) < 0)
        return -1;
    *out = th_system_find_node(r->s, name);
    if (*out >= 0)
        return 0;
    const char **names = th_alloc_array((size_t)r->s->n_nodes, sizeof *names);
    if (!names)
        return th_error_no_memory(&r->error);
    for (int i = 0; i < r->s->n_nodes; i++)
        names[i] = r->s->nodes[i].name;
    th_reader_unknown(r, "TOPO-0030", n, "node", name,
                   th_name_nearest(name, names, (size_t)r->s->n_nodes));
    th_free(names);
    return -1;
}

/* Bandwidth, latency and duplex of one kind of cable. */
typedef struct cable {
    int64_t bits_per_s;
    th_time latency_ps;
    bool is_full_duplex;
} cable;

static int read_cable(th_system_reader *r, const th_config_node *n, cable *out)
{
    if (th_config_bandwidth(n, "bandwidth", true, &out->bits_per_s, &r->error) < 0 ||
        th_config_time(n, "latency", true, &out->latency_ps, &r->error) < 0)
        return -1;
    return th_reader_duplex(r, n, &out->is_full_duplex);
}

static int connect(th_system_reader *r, const th_config_node *n, int a, int b, const cable *c)
{
    if (th_system_connect(r->s, a, b, c->bits_per_s, c->latency_ps, c->is_full_duplex, &r->error) <
        0)
        return th_reader_at(r, n);
    return 0;
}

/* The nodes of a list of names, to be freed; NULL on failure. */
static int *nodes_named(th_system_reader *r, const th_config_node *list)
{
    int *nodes = th_alloc_array((size_t)th_config_count(list), sizeof *nodes);
    if (!nodes) {
        th_error_no_memory(&r->error);
        return NULL;
    }
    for (int i = 0; i < th_config_count(list); i++)
        if (node_named(r, th_config_at(list, i), &nodes[i]) < 0) {
            th_free(nodes);
            return NULL;
        }
    return nodes;
}

/* A cable between any two of the list. */
static int connect_all_pairs(th_system_reader *r, const th_config_node *list, const cable *c)
{
    int status = 0, count = th_config_count(list);
    int *nodes = nodes_named(r, list);
    if (!nodes)
        return -1;
    for (int i = 0; i < count && status == 0; i++)
        for (int j = i + 1; j < count && status == 0; j++)
            status = connect(r, list, nodes[i], nodes[j], c);
    th_free(nodes);
    return status;
}

static int connect_star(th_system_reader *r, const th_config_node *n, const cable *c)
{
    const th_config_node *leaves;
    int center, leaf;
    if (node_named(r, th_config_member(n, "center"), &center) < 0 ||
        th_reader_list(r, n, "leaves", 1, 0, &leaves) < 0)
        return -1;
    for (int i = 0; i < th_config_count(leaves); i++)
        if (node_named(r, th_config_at(leaves, i), &leaf) < 0 ||
            connect(r, leaves, leaf, center, c) < 0)
            return -1;
    return 0;
}

static int read_link(th_system_reader *r, const th_config_node *n)
{
    static const char *const keys[] = {"between",   "all_pairs", "center", "leaves",
                                       "bandwidth", "latency",   "duplex", NULL};
    const th_config_node *list;
    cable c;
    if (th_reader_group(r, n, "a link") < 0 || th_config_check_keys(n, keys, &r->error) < 0 ||
        read_cable(r, n, &c) < 0)
        return -1;
    bool is_pair = th_config_member(n, "between"), is_clique = th_config_member(n, "all_pairs");
    bool is_star = th_config_member(n, "center");
    if (is_pair + is_clique + is_star != 1 || (!is_star && th_config_member(n, "leaves")))
        return th_error_set(&r->error, "TOPO-0042",
                            "%s:%d: a link has one of the keys between = [A, B], "
                            "all_pairs = [...], center = C with leaves = [...]",
                            th_config_file(n), th_config_line(n));
    if (is_star)
        return connect_star(r, n, &c);
    if (th_reader_list(r, n, is_pair ? "between" : "all_pairs", 2, is_pair ? 2 : 0, &list) < 0)
        return -1;
    return connect_all_pairs(r, list, &c);
}

/* ---- the file ---- */

static int read_nodes(th_system_reader *r)
{
    static const char *const by_hand[] = {"links", "hosts", "switches"};
    const th_config_node *topology = NULL;
    if (th_config_child(r->root, "topology", false, TH_CONFIG_GROUP, &topology, &r->error) < 0)
        return -1;
    r->is_generated = topology != NULL;
    for (int i = 0; topology && i < 3; i++) {
        const th_config_node *n = th_config_member(r->root, by_hand[i]);
        if (n)
            return th_error_set(&r->error, "TOPO-0045",
                                "%s:%d: key \"%s\": a file has either a topology or "
                                "links, hosts and switches",
                                th_config_file(n), th_config_line(n), by_hand[i]);
    }
    if (topology && th_read_topology(r, topology) < 0)
        return -1;
    return th_read_accels(r);
}

/* The element that a message of th_system_finish is about, as far as that can be told. */
static const th_config_node *main_part(const th_config_node *root)
{
    const th_config_node *n = th_config_member(root, "links");
    return n ? n : th_config_member(root, "accelerators");
}

static int read_system(th_system_reader *r)
{
    static const char *const keys[] = {"name",     "designs", "accelerators", "hosts",
                                       "switches", "links",   "topology",     NULL};
    const char *name = NULL;
    if (th_config_check_keys(r->root, keys, &r->error) < 0 ||
        th_config_string(r->root, "name", true, &name, &r->error) < 0)
        return -1;
    r->s = th_system_new(name, &r->error);
    if (!r->s)
        return th_reader_at(r, r->root);
    if (th_read_designs(r) < 0 || read_nodes(r) < 0 ||
        th_reader_for_each(r, "hosts", read_host) < 0 ||
        th_reader_for_each(r, "switches", read_switch) < 0 ||
        th_reader_for_each(r, "links", read_link) < 0)
        return -1;
    return th_system_finish(r->s, &r->error) < 0 ? th_reader_at(r, main_part(r->root)) : 0;
}

/* Closes c in any case. */
static th_system *read_config(th_config *c, th_error *err)
{
    if (!c)
        return NULL;
    th_system_reader r = {.root = th_config_root(c), .error = {"", ""}};
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
    return read_config(th_config_open(path, err), err);
}

th_system *th_system_read_text(const char *text, const char *name, th_error *err)
{
    return read_config(th_config_open_text(text, name, err), err);
}
