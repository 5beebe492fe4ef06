/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_read.c - a system from a libconfig file.
 *   read_designs -> (read_topology | read_hosts, read_switches) -> read_accels -> read_links -> finish
 * With a topology the generator makes all nodes and links, and the accelerator entries only describe
 * its accelerators; without one, every node and link is written down.
 * Every message starts with FILE:LINE of the element it is about; what th_system_* reports is given the
 * position of the element that was being added. Keys of designs are kept as they are: sim/design/ knows
 * which ones a type has. */
#include <config.h>
#include "topology/system_read.h"

#include "base/alloc.h"
#include "base/config_read.h"
#include "base/names.h"
#include "topology/generate.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST_COUNT = 16384, LARGEST_GROUP = 1 << 20, LARGEST_VECTOR = 1 << 24 };

typedef struct reader {
    th_system *s;
    const th_config_node *root;
    bool is_generated;      /* nodes and links come from a topology */
    int n_described;        /* accelerators that entries described so far */
    th_error error;
} reader;

/* ---- messages ---- */

/* Puts FILE:LINE of n in front of what th_system_* reported. */
static int at(reader *r, const th_config_node *n)
{
    th_error inner = r->error;
    return th_error_set(&r->error, inner.id, "%s:%d: %s", th_config_file(n), th_config_line(n), inner.text);
}

/* 'WHAT "name" is unknown: did you mean "near"?' */
static int report_unknown(reader *r, const char *id, const th_config_node *n, const char *what,
                          const char *name, const char *near)
{
    return th_error_set(&r->error, id, "%s:%d: unknown %s \"%s\"%s%s%s", th_config_file(n), th_config_line(n),
                        what, name, near ? ": did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* ---- small readers ---- */

static int node_named(reader *r, const th_config_node *n, int *out)
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
    report_unknown(r, "TOPO-0030", n, "node", name,
                   th_name_nearest(name, names, (size_t)r->s->n_nodes));
    th_free(names);
    return -1;
}

static int design_named(reader *r, const th_config_node *n, int *out)
{
    const char *name;
    if (th_config_as_string(n, &name, &r->error) < 0)
        return -1;
    *out = th_system_find_design(r->s, name);
    if (*out >= 0)
        return 0;
    const char **names = th_alloc_array((size_t)r->s->n_designs, sizeof *names);
    if (!names)
        return th_error_no_memory(&r->error);
    for (int i = 0; i < r->s->n_designs; i++)
        names[i] = r->s->designs[i].name;
    report_unknown(r, "TOPO-0031", n, "design", name,
                   th_name_nearest(name, names, (size_t)r->s->n_designs));
    th_free(names);
    return -1;
}

/* A list of at least min elements (and at most max, when that is not 0). */
static int read_list(reader *r, const th_config_node *g, const char *key, int min, int max,
                     const th_config_node **out)
{
    if (th_config_child(g, key, true, TH_CONFIG_LIST, out, &r->error) < 0)
        return -1;
    int count = th_config_count(*out);
    if (count >= min && (max == 0 || count <= max))
        return 0;
    return th_error_set(&r->error, "TOPO-0032", "%s:%d: key \"%s\": has %d elements: %s %d expected",
                        th_config_file(*out), th_config_line(*out), key, count,
                        max ? "exactly" : "at least", min);
}

/* A size that must not be 0. */
static int read_size(reader *r, const th_config_node *g, const char *key, bool required, int64_t *out)
{
    if (th_config_bytes(g, key, required, out, &r->error) < 0)
        return -1;
    const th_config_node *n = th_config_member(g, key);
    if (!n || *out > 0)
        return 0;
    return th_error_set(&r->error, "TOPO-0033", "%s:%d: key \"%s\": must be greater than 0",
                        th_config_file(n), th_config_line(n), key);
}

/* Bandwidth, latency and duplex of one kind of cable. */
typedef struct cable {
    int64_t bits_per_s;
    th_time latency_ps;
    bool is_full_duplex;
} cable;

static int read_cable(reader *r, const th_config_node *n, cable *out)
{
    const char *duplex = "full";
    if (th_config_bandwidth(n, "bandwidth", true, &out->bits_per_s, &r->error) < 0 ||
        th_config_time(n, "latency", true, &out->latency_ps, &r->error) < 0 ||
        th_config_string(n, "duplex", false, &duplex, &r->error) < 0)
        return -1;
    out->is_full_duplex = strcmp(duplex, "full") == 0;
    if (out->is_full_duplex || strcmp(duplex, "half") == 0)
        return 0;
    return th_error_set(&r->error, "TOPO-0034", "%s:%d: key \"duplex\": must be \"full\" or \"half\", not "
                        "\"%s\"", th_config_file(n), th_config_line(th_config_member(n, "duplex")), duplex);
}

/* Calls read for every element of the optional list key. */
static int for_each(reader *r, const char *key, int (*read)(reader *r, const th_config_node *n))
{
    const th_config_node *list = NULL;
    if (th_config_child(r->root, key, false, TH_CONFIG_LIST, &list, &r->error) < 0)
        return -1;
    for (int i = 0; list && i < th_config_count(list); i++)
        if (read(r, th_config_at(list, i)) < 0)
            return -1;
    return 0;
}

static int expect_group(reader *r, const th_config_node *n, const char *what)
{
    if (th_config_kind_of(n) == TH_CONFIG_GROUP)
        return 0;
    return th_error_set(&r->error, "TOPO-0035", "%s:%d: %s must be a group: { key = value; ... }",
                        th_config_file(n), th_config_line(n), what);
}

/* ---- designs ---- */

/* A scalar key, typed, as the file has it. */
static int read_param(reader *r, int design, const th_config_node *n)
{
    th_param p = {.key = (char *)th_config_key(n), .line = th_config_line(n)};
    const char *text;
    bool flag;
    switch (th_config_kind_of(n)) {
    case TH_CONFIG_INT:
    case TH_CONFIG_FLOAT:
        p.kind = TH_PARAM_NUMBER;
        if (th_config_as_double(n, &p.number, &r->error) < 0)
            return -1;
        break;
    case TH_CONFIG_BOOL:
        p.kind = TH_PARAM_BOOL;
        if (th_config_as_bool(n, &flag, &r->error) < 0)
            return -1;
        p.number = flag ? 1 : 0;
        break;
    case TH_CONFIG_STRING:
        p.kind = TH_PARAM_TEXT;
        if (th_config_as_string(n, &text, &r->error) < 0)
            return -1;
        p.text = (char *)text;
        break;
    case TH_CONFIG_GROUP:
    case TH_CONFIG_LIST:
        return th_error_set(&r->error, "TOPO-0036", "%s:%d: key \"%s\" of a design: must be a number, a text, "
                            "true or false", th_config_file(n), p.line, p.key);
    }
    return th_system_add_param(r->s, design, &p, &r->error);
}

static int read_design(reader *r, const th_config_node *n)
{
    const char *name, *type;
    if (expect_group(r, n, "a design") < 0 ||
        th_config_string(n, "name", true, &name, &r->error) < 0 ||
        th_config_string(n, "type", true, &type, &r->error) < 0)
        return -1;
    int design = th_system_add_design(r->s, name, type, th_config_file(n), th_config_line(n), &r->error);
    if (design < 0)
        return at(r, n);
    for (int i = 0; i < th_config_count(n); i++) {
        const th_config_node *member = th_config_at(n, i);
        const char *key = th_config_key(member);
        if (strcmp(key, "name") != 0 && strcmp(key, "type") != 0 && read_param(r, design, member) < 0)
            return -1;
    }
    return 0;
}

/* ---- accelerators ---- */

static int read_dram(reader *r, const th_config_node *g, th_accel *a)
{
    static const char *const keys[] = {"capacity", "bandwidth", "latency", "burst", NULL};
    const th_config_node *n = NULL;
    a->dram_burst_bytes = 1;
    if (th_config_child(g, "dram", true, TH_CONFIG_GROUP, &n, &r->error) < 0 ||
        th_config_check_keys(n, keys, &r->error) < 0 ||
        read_size(r, n, "capacity", true, &a->dram_bytes) < 0 ||
        th_config_bandwidth(n, "bandwidth", true, &a->dram_bits_per_s, &r->error) < 0 ||
        th_config_time(n, "latency", false, &a->dram_latency_ps, &r->error) < 0)
        return -1;
    return read_size(r, n, "burst", false, &a->dram_burst_bytes);
}

static int read_vector(reader *r, const th_config_node *g, th_accel *a)
{
    static const char *const keys[] = {"clock", "elements_per_cycle", NULL};
    const th_config_node *n = NULL;
    if (th_config_child(g, "vector", true, TH_CONFIG_GROUP, &n, &r->error) < 0 ||
        th_config_check_keys(n, keys, &r->error) < 0 ||
        th_config_frequency(n, "clock", true, &a->vector_hz, &r->error) < 0)
        return -1;
    return th_config_int(n, "elements_per_cycle", true, 1, LARGEST_VECTOR, &a->vector_elements_per_cycle,
                         &r->error);
}

/* Fills a->designs, which the caller frees. */
static int read_design_names(reader *r, const th_config_node *g, th_accel *a)
{
    const th_config_node *list;
    if (read_list(r, g, "designs", 1, 0, &list) < 0)
        return -1;
    a->n_designs = th_config_count(list);
    a->designs = th_alloc_array((size_t)a->n_designs, sizeof *a->designs);
    if (!a->designs)
        return th_error_no_memory(&r->error);
    for (int i = 0; i < a->n_designs; i++) {
        if (design_named(r, th_config_at(list, i), &a->designs[i]) < 0)
            return -1;
        for (int j = 0; j < i; j++)
            if (a->designs[j] == a->designs[i])
                return th_error_set(&r->error, "TOPO-0037", "%s:%d: design \"%s\" is listed twice",
                                    th_config_file(list), th_config_line(list),
                                    r->s->designs[a->designs[i]].name);
    }
    return 0;
}

typedef struct accel_entry {
    const th_config_node *n;
    th_accel accel;
    int64_t group, count;
    bool has_group, has_count;
} accel_entry;

static int add_accel(reader *r, const accel_entry *e, const char *name)
{
    int node = th_system_add_node(r->s, name, TH_NODE_ACCEL, (int)e->group, &r->error);
    if (node < 0 || th_system_set_accel(r->s, node, &e->accel, &r->error) < 0)
        return at(r, e->n);
    r->n_described++;
    return 0;
}

/* names = [...], name = "...", or count = N (default 1): numbered on from those before. */
static int add_accels(reader *r, const accel_entry *e)
{
    const th_config_node *names = NULL;
    const char *name = NULL;
    if (th_config_child(e->n, "names", false, TH_CONFIG_LIST, &names, &r->error) < 0 ||
        th_config_string(e->n, "name", false, &name, &r->error) < 0)
        return -1;
    if ((names != NULL) + (name != NULL) + e->has_count > 1)
        return th_error_set(&r->error, "TOPO-0038", "%s:%d: an accelerator entry has one of the keys name, "
                            "names, count", th_config_file(e->n), th_config_line(e->n));
    if (name)
        return add_accel(r, e, name);
    int count = names ? th_config_count(names) : (int)e->count;
    for (int i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", r->n_described);
        name = number;
        if ((names && th_config_as_string(th_config_at(names, i), &name, &r->error) < 0) ||
            add_accel(r, e, name) < 0)
            return -1;
    }
    return 0;
}

static int n_generated(const reader *r)
{
    int n = 0;  /* generators add their accelerators first */
    while (n < r->s->n_nodes && r->s->nodes[n].kind == TH_NODE_ACCEL)
        n++;
    return n;
}

/* The next count of the generated accelerators; all, when a single entry without a count describes them. */
static int describe_generated(reader *r, const accel_entry *e)
{
    int n = n_generated(r);
    bool is_only_entry = th_config_count(th_config_member(r->root, "accelerators")) == 1;
    int64_t count = is_only_entry && !e->has_count ? n : e->count;
    if (th_config_member(e->n, "name") || th_config_member(e->n, "names"))
        return th_error_set(&r->error, "TOPO-0039", "%s:%d: the topology names its accelerators; an entry has "
                            "at most a count", th_config_file(e->n), th_config_line(e->n));
    if (r->n_described + count > n)
        return th_error_set(&r->error, "TOPO-0040", "%s:%d: %lld accelerators described, but the topology has "
                            "%d", th_config_file(e->n), th_config_line(e->n),
                            (long long)(r->n_described + count), n);
    for (int64_t i = 0; i < count; i++) {
        int node = r->n_described++;
        if (th_system_set_accel(r->s, node, &e->accel, &r->error) < 0)
            return -1;
        if (e->has_group)
            r->s->nodes[node].group = (int)e->group;
    }
    return 0;
}

static int read_accel_entry(reader *r, accel_entry *e)
{
    static const char *const keys[] = {"name", "names", "count", "group", "dram", "vector", "designs", NULL};
    if (expect_group(r, e->n, "an accelerator") < 0 || th_config_check_keys(e->n, keys, &r->error) < 0 ||
        th_config_int(e->n, "count", false, 1, LARGEST_COUNT, &e->count, &r->error) < 0 ||
        th_config_int(e->n, "group", false, 0, LARGEST_GROUP, &e->group, &r->error) < 0 ||
        read_dram(r, e->n, &e->accel) < 0 || read_vector(r, e->n, &e->accel) < 0)
        return -1;
    e->has_count = th_config_member(e->n, "count") != NULL;
    e->has_group = th_config_member(e->n, "group") != NULL;
    return read_design_names(r, e->n, &e->accel);
}

static int read_accel(reader *r, const th_config_node *n)
{
    accel_entry e = {.n = n, .count = 1};
    int status = read_accel_entry(r, &e);
    if (status == 0)
        status = r->is_generated ? describe_generated(r, &e) : add_accels(r, &e);
    th_free(e.accel.designs);
    return status;
}

static int read_accels(reader *r)
{
    const th_config_node *list;
    if (read_list(r, r->root, "accelerators", 1, 0, &list) < 0 ||
        for_each(r, "accelerators", read_accel) < 0)
        return -1;
    if (!r->is_generated || r->n_described == n_generated(r))
        return 0;
    return th_error_set(&r->error, "TOPO-0041", "%s:%d: %d accelerators described, but the topology has %d",
                        th_config_file(list), th_config_line(list), r->n_described, n_generated(r));
}

/* ---- hosts and switches: "NAME", or { name = "NAME"; forwards = false; } ---- */

static int read_other_node(reader *r, const th_config_node *n, th_node_kind kind)
{
    static const char *const keys[] = {"name", "forwards", NULL};
    const char *name = NULL;
    bool forwards = true;
    if (th_config_kind_of(n) == TH_CONFIG_STRING) {
        if (th_config_as_string(n, &name, &r->error) < 0)
            return -1;
    } else if (expect_group(r, n, "a host or switch") < 0 ||
               th_config_check_keys(n, keys, &r->error) < 0 ||
               th_config_string(n, "name", true, &name, &r->error) < 0 ||
               th_config_bool(n, "forwards", false, &forwards, &r->error) < 0) {
        return -1;
    }
    int node = th_system_add_node(r->s, name, kind, 0, &r->error);
    if (node < 0)
        return at(r, n);
    r->s->nodes[node].forwards = forwards;
    return 0;
}

static int read_host(reader *r, const th_config_node *n)
{
    return read_other_node(r, n, TH_NODE_HOST);
}

static int read_switch(reader *r, const th_config_node *n)
{
    return read_other_node(r, n, TH_NODE_SWITCH);
}

/* ---- links ---- */

static int connect(reader *r, const th_config_node *n, int a, int b, const cable *c)
{
    if (th_system_connect(r->s, a, b, c->bits_per_s, c->latency_ps, c->is_full_duplex, &r->error) < 0)
        return at(r, n);
    return 0;
}

/* The nodes of a list of names, to be freed; NULL on failure. */
static int *nodes_named(reader *r, const th_config_node *list)
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
static int connect_all_pairs(reader *r, const th_config_node *list, const cable *c)
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

static int connect_star(reader *r, const th_config_node *n, const cable *c)
{
    const th_config_node *leaves;
    int center, leaf;
    if (node_named(r, th_config_member(n, "center"), &center) < 0 ||
        read_list(r, n, "leaves", 1, 0, &leaves) < 0)
        return -1;
    for (int i = 0; i < th_config_count(leaves); i++)
        if (node_named(r, th_config_at(leaves, i), &leaf) < 0 || connect(r, leaves, leaf, center, c) < 0)
            return -1;
    return 0;
}

static int read_link(reader *r, const th_config_node *n)
{
    static const char *const keys[] = {"between", "all_pairs", "center", "leaves", "bandwidth", "latency",
                                       "duplex", NULL};
    const th_config_node *list;
    cable c;
    if (expect_group(r, n, "a link") < 0 || th_config_check_keys(n, keys, &r->error) < 0 ||
        read_cable(r, n, &c) < 0)
        return -1;
    bool is_pair = th_config_member(n, "between"), is_clique = th_config_member(n, "all_pairs");
    bool is_star = th_config_member(n, "center");
    if (is_pair + is_clique + is_star != 1 || (!is_star && th_config_member(n, "leaves")))
        return th_error_set(&r->error, "TOPO-0042", "%s:%d: a link has one of the keys between = [A, B], "
                            "all_pairs = [...], center = C with leaves = [...]", th_config_file(n),
                            th_config_line(n));
    if (is_star)
        return connect_star(r, n, &c);
    if (read_list(r, n, is_pair ? "between" : "all_pairs", 2, is_pair ? 2 : 0, &list) < 0)
        return -1;
    return connect_all_pairs(r, list, &c);
}

/* ---- a generated topology ---- */

static const th_topology_type *type_named(reader *r, const th_config_node *n)
{
    const char *name, *names[16];
    size_t count = 0;
    if (th_config_string(n, "type", true, &name, &r->error) < 0)
        return NULL;
    const th_topology_type *type = th_topology_find(name);
    if (type)
        return type;
    for (; th_topology_types[count] && count < sizeof names / sizeof names[0]; count++)
        names[count] = th_topology_types[count]->name;
    report_unknown(r, "TOPO-0043", th_config_member(n, "type"), "topology", name,
                   th_name_nearest(name, names, count));
    return NULL;
}

static int read_dims(reader *r, const th_config_node *n, th_topology_options *o)
{
    enum { MAX_DIMS = sizeof o->dims / sizeof o->dims[0] };
    const th_config_node *list;
    if (read_list(r, n, "dims", 1, 0, &list) < 0)
        return -1;
    o->n_dims = th_config_count(list);
    if (o->n_dims > MAX_DIMS)
        return th_error_set(&r->error, "TOPO-0044", "%s:%d: key \"dims\": at most %d dimensions",
                            th_config_file(list), th_config_line(list), MAX_DIMS);
    for (int i = 0; i < o->n_dims; i++) {
        int64_t extent = 0;
        if (th_config_as_int(th_config_at(list, i), 1, LARGEST_COUNT, &extent, &r->error) < 0)
            return -1;
        o->dims[i] = (int)extent;
    }
    return 0;
}

static int read_generated_host(reader *r, const th_config_node *n, th_topology_options *o)
{
    static const char *const keys[] = {"bandwidth", "latency", NULL};
    const th_config_node *host = NULL;
    if (th_config_child(n, "host", false, TH_CONFIG_GROUP, &host, &r->error) < 0)
        return -1;
    if (!host)
        return 0;
    o->with_host = true;
    if (th_config_check_keys(host, keys, &r->error) < 0 ||
        th_config_bandwidth(host, "bandwidth", false, &o->host_bits_per_s, &r->error) < 0)
        return -1;
    return th_config_time(host, "latency", false, &o->host_latency_ps, &r->error);
}

static int read_topology(reader *r, const th_config_node *n)
{
    static const char *const keys[] = {"type", "dims", "bandwidth", "latency", "duplex", "host", NULL};
    th_topology_options o = {.host_latency_ps = -1};
    cable c;
    if (th_config_check_keys(n, keys, &r->error) < 0)
        return -1;
    const th_topology_type *type = type_named(r, n);
    if (!type || read_dims(r, n, &o) < 0 || read_cable(r, n, &c) < 0 || read_generated_host(r, n, &o) < 0)
        return -1;
    o.bits_per_s = c.bits_per_s;
    o.latency_ps = c.latency_ps;
    o.half_duplex = !c.is_full_duplex;
    return type->generate(r->s, &o, &r->error) < 0 ? at(r, n) : 0;
}

/* ---- the file ---- */

static int read_nodes(reader *r)
{
    static const char *const by_hand[] = {"links", "hosts", "switches"};
    const th_config_node *topology = NULL;
    if (th_config_child(r->root, "topology", false, TH_CONFIG_GROUP, &topology, &r->error) < 0)
        return -1;
    r->is_generated = topology != NULL;
    for (int i = 0; topology && i < 3; i++) {
        const th_config_node *n = th_config_member(r->root, by_hand[i]);
        if (n)
            return th_error_set(&r->error, "TOPO-0045", "%s:%d: key \"%s\": a file has either a topology or "
                                "links, hosts and switches", th_config_file(n), th_config_line(n), by_hand[i]);
    }
    if (topology && read_topology(r, topology) < 0)
        return -1;
    return read_accels(r);
}

/* The element that a message of th_system_finish is about, as far as that can be told. */
static const th_config_node *main_part(const th_config_node *root)
{
    const th_config_node *n = th_config_member(root, "links");
    return n ? n : th_config_member(root, "accelerators");
}

static int read_system(reader *r)
{
    static const char *const keys[] = {"name", "designs", "accelerators", "hosts", "switches", "links",
                                       "topology", NULL};
    const char *name = NULL;
    if (th_config_check_keys(r->root, keys, &r->error) < 0 ||
        th_config_string(r->root, "name", true, &name, &r->error) < 0)
        return -1;
    r->s = th_system_new(name, &r->error);
    if (!r->s || for_each(r, "designs", read_design) < 0 || read_nodes(r) < 0 ||
        for_each(r, "hosts", read_host) < 0 || for_each(r, "switches", read_switch) < 0 ||
        for_each(r, "links", read_link) < 0)
        return -1;
    return th_system_finish(r->s, &r->error) < 0 ? at(r, main_part(r->root)) : 0;
}

/* Closes c in any case. */
static th_system *read_config(th_config *c, th_error *err)
{
    if (!c)
        return NULL;
    reader r = {.root = th_config_root(c), .error = {"", ""}};
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
