/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate.h - regular systems from a few parameters. A table: one generator is one row.
 *   th_topology_find -> th_topology_create, or (a reader) th_topology_generate and then the
 *   accelerators */
#ifndef TH_TOPOLOGY_GENERATE_GENERATE_H
#define TH_TOPOLOGY_GENERATE_GENERATE_H
#include "topology/system.h"

enum { TH_MAX_ACCELS = 65536 }; /* that a generator makes */

typedef struct th_topology_options {
    int dims[TH_MAX_DIMS]; /* meaning depends on the generator: {n} for ring, {x y} for mesh ... */
    th_topology_dim_kind
        kinds[TH_MAX_DIMS]; /* composition: how each dimension is joined; not read by others */
    int n_dims;
    /* Of the cables of each dimension, or of each level from the leaves up. At most one: the first
     * value holds for all. */
    int64_t bits_per_s[TH_MAX_DIMS];
    th_time latency_ps[TH_MAX_DIMS];
    int n_bandwidths, n_latencies;
    double oversubscription; /* links down per link up of a switch; 0: default, as 1 */
    bool has_island_options; /* one of the next two options was given, even with its default */
    /* the accelerators of an island are fully connected, not connected by a switch */
    bool has_full_islands;
    bool has_island_nics;         /* one cable to the fabric per island, not per accelerator */
    bool switches_reduce;         /* all switches */
    bool islands_only_forward;    /* switches of islands do not reduce, as they do by default */
    int64_t reduction_bits_per_s; /* of the switches that reduce (th_node); 0: not said */
    th_time reduction_latency_ps; /* 0: not said */
    bool half_duplex;
    int max_links;           /* of th_topology_create: refuses more; 0: TH_LINKS_DEFAULT_MAX */
    bool with_host;          /* one host "host", joined to every accelerator by its own cable */
    int64_t host_bits_per_s; /* 0: as bits_per_s[0] */
    th_time host_latency_ps; /* -1: as latency_ps[0] */
    double cost, host_cost;  /* of a cable; of one to the host; 0: unknown */
    /* Mean times between failures of each cable, switch and host; 0: unknown. */
    int64_t link_mtbf_us, switch_mtbf_us, host_mtbf_us;
} th_topology_options;

/* Options that only some topologies have. */
enum {
    TH_TAKES_KINDS = 1, /* a dimension is a kind and a size */
    TH_TAKES_OVERSUBSCRIPTION = 2,
    TH_TAKES_ISLANDS = 4, /* has_full_islands, has_island_nics */
    TH_HAS_HOSTS = 8      /* of its own: with_host is refused */
};

typedef struct th_topology_type {
    const char *name;
    const char *synopsis; /* "ring N", "mesh X Y ...", "tree ARITY DEPTH" */
    int min_dims, max_dims;
    unsigned takes; /* of TH_TAKES_..., what others would ignore is refused */
    /* The number of different cables (1 .. TH_MAX_DIMS); checks that dims are within their limits.
     */
    int (*n_cables)(const th_topology_options *o);
    /* Adds nodes and links to an unfinished, empty system: accelerators first, then switches. */
    int (*generate)(th_system *s, const th_topology_options *o, th_error *err);
} th_topology_type;

/* parts.c: the table, which ends in NULL. find: NULL: unknown. */
extern const th_topology_type *const th_topology_types[];
const th_topology_type *th_topology_find(const char *name);
/* "switch" is another name of "star": the same systems, which are written as stars. */
const th_topology_type *th_topology_canonical(const th_topology_type *type);

/* The generator of a system and its options, for writers of the system. */
typedef struct th_generator_spec {
    const th_topology_type *type;
    th_topology_options options;
    bool is_changed; /* links have another bandwidth or latency than the options say */
} th_generator_spec;

/* The dimension of a composition called so: line, ring, fully_connected or switch. NULL: unknown;
 * the names end in NULL and are in the order of th_topology_dim_kind. */
extern const char *const th_topology_dim_kind_names[];
const char *th_topology_dim_kind_find(const char *name, th_topology_dim_kind *out);

/* Checks the options against the row, and adds its nodes and links to s, and the host if requested.
 * Accelerator nodes have no properties: the caller sets them. 0, or -1 (s can only be freed). */
int th_topology_generate(th_system *s, const th_topology_type *type, const th_topology_options *o,
                         th_error *err);

/* A whole system: generate, give every accelerator the properties of accelerator 0 of prototype,
 * finish. NULL on failure. */
th_system *th_topology_create(const char *name, const th_topology_type *type,
                              const th_topology_options *o, const th_system *prototype,
                              th_error *err);
#endif
