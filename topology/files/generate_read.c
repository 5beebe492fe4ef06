/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate_read.c - the group "topology" of a system file: a generator and its options.
 *   th_read_topology (by system_read.c, before the accelerators)
 * bandwidth and latency are one value or a list of values. The dims of a composition are groups {
 * type; size; bandwidth; latency; }; a key that one of them omits must be given for the whole
 * topology. */
#include <config.h>
#include "topology/files/system_reader.h"

#include "topology/files/system_fields.h"
#include "topology/generate/generate.h"

enum { LARGEST_DIM = TH_MAX_ACCELS };

static const th_topology_type *type_named(th_system_reader *r, const th_config_node *n)
{
    const char *name, *names[32];
    size_t count = 0;
    if (th_config_string(n, "type", true, &name, &r->error) < 0)
        return NULL;
    const th_topology_type *type = th_topology_find(name);
    if (type)
        return type;
    for (; th_topology_types[count] && count < sizeof names / sizeof names[0]; count++)
        names[count] = th_topology_types[count]->name;
    th_reader_unknown(r, "TOPO-0043", th_config_member(n, "type"),
                      &(th_valid_names){"topology", names, count});
    return NULL;
}

/* ---- dims ---- */

/* A dimension of a composition; its bandwidth and latency are read with those of all. */
static int read_shape_dim(th_system_reader *r, const th_config_node *n, int d,
                          th_topology_options *o)
{
    static const char *const keys[] = {"type", "size", "bandwidth", "latency", NULL};
    const char *type;
    int64_t size = 0;
    if (th_reader_group(r, n, "a dimension of a composition") < 0 ||
        th_config_check_keys(n, keys, &r->error) < 0 ||
        th_config_string(n, "type", true, &type, &r->error) < 0 ||
        th_config_int(n, "size", true, (th_int_range){1, LARGEST_DIM}, &size, &r->error) < 0)
        return -1;
    if (!th_topology_dim_kind_find(type, &o->kinds[d]))
        return th_reader_unknown(
            r, "TOPO-0084", th_config_member(n, "type"),
            &(th_valid_names){"kind of dimension", th_topology_dim_kind_names, 4});
    o->dims[d] = (int)size;
    return 0;
}

static int read_dims(th_system_reader *r, const th_config_node *n, bool is_composition,
                     th_topology_options *o)
{
    const th_config_node *list;
    if (th_reader_list(r, n, "dims", 1, 0, &list) < 0)
        return -1;
    o->n_dims = th_config_count(list);
    if (o->n_dims > TH_MAX_DIMS)
        return th_reader_error(r, list, "TOPO-0044", "key \"dims\": at most %d dimensions",
                               TH_MAX_DIMS);
    for (int d = 0; d < o->n_dims; d++) {
        const th_config_node *dim = th_config_at(list, d);
        int64_t extent = 0;
        if (is_composition ? read_shape_dim(r, dim, d, o) < 0
                           : th_config_as_int(dim, 1, LARGEST_DIM, &extent, &r->error) < 0)
            return -1;
        if (!is_composition)
            o->dims[d] = (int)extent;
    }
    return 0;
}

/* ---- bandwidths and latencies: one value or a list of them ---- */

typedef int as_quantity(const th_config_node *n, int64_t *out, th_error *err);

/* g.key into values[TH_MAX_DIMS]: how many there were (0: no such key), or -1. */
static int read_values(th_system_reader *r, const th_config_node *g, const char *key,
                       as_quantity *as, int64_t *values)
{
    const th_config_node *n = th_config_member(g, key);
    if (!n)
        return 0;
    if (th_config_kind_of(n) != TH_CONFIG_LIST)
        return as(n, values, &r->error) < 0 ? -1 : 1;
    int count = th_config_count(n);
    if (count < 1 || count > TH_MAX_DIMS)
        return th_reader_error(r, n, "TOPO-0083",
                               "key \"%s\": must be one value, or a list of 1 to %d", key,
                               TH_MAX_DIMS);
    for (int i = 0; i < count; i++)
        if (as(th_config_at(n, i), &values[i], &r->error) < 0)
            return -1;
    return count;
}

/* The keys of that name which the dimensions of a composition have. */
static int n_own_values(const th_config_node *dims, const char *key)
{
    int n = 0;
    for (int d = 0; d < th_config_count(dims); d++)
        n += th_config_kind_of(th_config_at(dims, d)) == TH_CONFIG_GROUP &&
             th_config_member(th_config_at(dims, d), key);
    return n;
}

/* The value of each dimension; where it has none, the common value (n_values, as read). */
static int read_own_values(th_system_reader *r, const th_config_node *dims, const char *key,
                           as_quantity *as, int64_t *values, int n_values)
{
    int count = th_config_count(dims);
    for (int d = count - 1; d >= 0; d--) { /* downwards: values[0] may hold for all */
        const th_config_node *dim = th_config_at(dims, d), *own = th_config_member(dim, key);
        const char *missing;
        if (own ? as(own, &values[d], &r->error) < 0
                : n_values == 0 && th_config_string(dim, key, true, &missing, &r->error) < 0)
            return -1;
        if (!own && n_values == 1)
            values[d] = values[0];
    }
    return count;
}

/* How many values there are in the end, or -1. */
static int read_list(th_system_reader *r, const th_config_node *n, const char *key, as_quantity *as,
                     int64_t *values)
{
    const th_config_node *dims = th_config_member(n, "dims");
    const char *missing;
    int n_values = read_values(r, n, key, as, values), n_own = n_own_values(dims, key);
    bool fits = n_values <= 1 || n_values == th_config_count(dims);
    if (n_values >= 0 && n_own > 0 && fits)
        return read_own_values(r, dims, key, as, values, n_values);
    if (n_values == 0 && th_config_string(n, key, true, &missing, &r->error) < 0)
        return -1;
    return n_values;
}

static int read_cables(th_system_reader *r, const th_config_node *n, th_topology_options *o)
{
    o->n_bandwidths = read_list(r, n, "bandwidth", th_config_as_bandwidth, o->bits_per_s);
    if (o->n_bandwidths < 0)
        return -1;
    o->n_latencies = read_list(r, n, "latency", th_config_as_time, o->latency_ps);
    return o->n_latencies < 0 ? -1 : 0;
}

/* ---- the group ---- */

int th_read_topology(th_system_reader *r, const th_config_node *n)
{
    th_topology_options o = {.host_latency_ps = -1, .with_host = th_config_member(n, "host")};
    if (th_fields_read(th_topology_fields, n, &o, &r->error) < 0)
        return -1;
    const th_topology_type *type = type_named(r, n);
    if (!type || read_dims(r, n, type->takes & TH_TAKES_KINDS, &o) < 0 ||
        read_cables(r, n, &o) < 0 ||
        th_fields_read_group(th_generated_host_fields, n, "host", false, &o, &r->error) < 0)
        return -1;
    o.has_island_options = th_config_member(n, "island") || th_config_member(n, "nics");
    return th_topology_generate(r->s, type, &o, &r->error) < 0 ? th_reader_at(r, n) : 0;
}
