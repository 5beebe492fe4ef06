/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate.c - regular systems: checks of the options, the row's generate, the host.
 *   th_topology_create -> th_topology_generate -> the row's generate
 * Every generator adds its accelerators first, named "0", "1", ..., then switches, then the host.
 * Two neighbours are connected by one cable (two links if full duplex), also in a ring of two. The
 * host does not forward: routes between accelerators use the topology only, so the routes of a ring
 * are the same with and without a host. */
#include <config.h>
#include "topology/generate/generate.h"

/* The host with its own cable to each accelerator, if one is wanted. */
static int add_host(th_system *s, const th_topology_options *o, th_error *err)
{
    if (!o->with_host)
        return 0;
    int64_t bits_per_s = o->host_bits_per_s > 0 ? o->host_bits_per_s : o->bits_per_s[0];
    th_time latency_ps = o->host_latency_ps >= 0 ? o->host_latency_ps : o->latency_ps[0];
    int host = th_system_add_node(s, "host", TH_NODE_HOST, 0, err);
    if (host < 0)
        return -1;
    s->nodes[host].forwards = false;
    th_cable cable = th_cable_symmetric(bits_per_s, latency_ps, true);
    cable.cost = o->host_cost;
    for (int i = 0; i < host && s->nodes[i].kind == TH_NODE_ACCEL; i++)
        if (th_system_add_cable(s, i, host, cable, err) < 0)
            return -1;
    return 0;
}

static int check_dims(const th_system *s, const th_topology_type *type,
                      const th_topology_options *o, th_error *err)
{
    if (o->n_dims < type->min_dims || o->n_dims > type->max_dims)
        return th_error_set(err, "TOPO-0020",
                            "system \"%s\": %d dims given, but the topology is: %s", s->name,
                            o->n_dims, type->synopsis);
    for (int d = 0; d < o->n_dims; d++)
        if (o->dims[d] < 1)
            return th_error_set(err, "TOPO-0021",
                                "system \"%s\": dims[%d] = %d: must be at least 1 (%s)", s->name, d,
                                o->dims[d], type->synopsis);
    return 0;
}

/* A list holds one value for all cables, or one for each dimension or level. */
static int check_lists(const th_system *s, const th_topology_type *type,
                       const th_topology_options *o, th_error *err)
{
    const struct {
        const char *what;
        int n;
    } lists[] = {{"bandwidths", o->n_bandwidths}, {"latencies", o->n_latencies}};
    int wanted = type->n_cables(o);
    for (int i = 0; i < 2; i++)
        if (lists[i].n > 1 && lists[i].n != wanted)
            return th_error_set(err, "TOPO-0080",
                                "system \"%s\": %d %s given for %d kind%s of link: one for all or "
                                "one each (%s)",
                                s->name, lists[i].n, lists[i].what, wanted, wanted == 1 ? "" : "s",
                                type->synopsis);
    return 0;
}

/* What a topology would ignore was meant for another one. */
static int check_takes(const th_system *s, const th_topology_type *type,
                       const th_topology_options *o, th_error *err)
{
    const struct {
        const char *what;
        bool is_said;
        unsigned takes;
    } options[] = {{"oversubscription", o->oversubscription > 0, TH_TAKES_OVERSUBSCRIPTION},
                   {"islands", o->has_island_options, TH_TAKES_ISLANDS}};
    for (int i = 0; i < 2; i++)
        if (options[i].is_said && !(type->takes & options[i].takes))
            return th_error_set(err, "TOPO-0088", "system \"%s\": %s has no %s", s->name,
                                type->name, options[i].what);
    if (o->with_host && type->takes & TH_HAS_HOSTS)
        return th_error_set(err, "TOPO-0093", "system \"%s\": %s has hosts of its own", s->name,
                            type->name);
    return 0;
}

static int set_reducing(th_system *s, const th_topology_type *type, const th_topology_options *o,
                        th_error *err)
{
    int n_reducing = 0;
    for (int i = 0; i < s->n_nodes; i++) {
        th_node *node = &s->nodes[i];
        node->reduces |= node->kind == TH_NODE_SWITCH && o->switches_reduce;
        if (!node->reduces)
            continue;
        node->reduction_bits_per_s = o->reduction_bits_per_s;
        node->reduction_latency_ps = o->reduction_latency_ps;
        n_reducing++;
    }
    bool is_said = o->reduction_bits_per_s != 0 || o->reduction_latency_ps != 0;
    if (n_reducing > 0 || (!o->switches_reduce && !is_said))
        return 0;
    if (!o->switches_reduce)
        return th_error_set(err, "TOPO-0195",
                            "system \"%s\": a reduction rate or latency, but no switch reduces: "
                            "must have switches that do",
                            s->name);
    return th_error_set(err, "TOPO-0097", "system \"%s\": %s has no switches that could reduce",
                        s->name, type->name);
}

static int set_generator(th_system *s, const th_topology_type *type, const th_topology_options *o,
                         th_error *err)
{
    s->generator = th_memory_take(&s->memory, 1, sizeof *s->generator);
    if (!s->generator)
        return th_error_no_memory(err);
    *s->generator = (th_generator_spec){th_topology_canonical(type), *o, false};
    return 0;
}

static void set_mtbf(th_system *s, const th_topology_options *o)
{
    for (int m = 0; m < s->n_media; m++)
        s->media[m].mtbf_us = o->link_mtbf_us;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].kind != TH_NODE_ACCEL)
            s->nodes[i].mtbf_us =
                s->nodes[i].kind == TH_NODE_HOST ? o->host_mtbf_us : o->switch_mtbf_us;
}

int th_topology_generate(th_system *s, const th_topology_type *type, const th_topology_options *o,
                         th_error *err)
{
    if (check_dims(s, type, o, err) < 0 || check_lists(s, type, o, err) < 0 ||
        check_takes(s, type, o, err) < 0 || type->generate(s, o, err) < 0 ||
        set_reducing(s, type, o, err) < 0 || set_generator(s, type, o, err) < 0 ||
        add_host(s, o, err) < 0)
        return -1;
    set_mtbf(s, o);
    return 0;
}

th_system *th_topology_create(const char *name, const th_topology_type *type,
                              const th_topology_options *o, const th_system *prototype,
                              th_error *err)
{
    th_system *s = th_system_new(name, err);
    if (s && o->max_links > 0)
        s->max_links = o->max_links;
    if (!s || th_topology_generate(s, type, o, err) < 0)
        goto fail;
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].kind == TH_NODE_ACCEL && th_system_copy_accel(s, i, prototype, 0, err) < 0)
            goto fail;
    if (th_system_finish(s, err) == 0)
        return s;

fail:
    th_system_free(s);
    return NULL;
}
