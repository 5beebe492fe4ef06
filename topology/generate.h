/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate.h - regular systems from a few numbers. A table: one generator is one row. */
#ifndef TH_TOPOLOGY_GENERATE_H
#define TH_TOPOLOGY_GENERATE_H
#include "topology/system.h"

typedef struct th_topology_options {
    int dims[8];                 /* what they mean is the generator's: {n} for ring, {x y} for mesh ... */
    int n_dims;
    int64_t bits_per_s;          /* of every link */
    th_time latency_ps;          /* of every link */
    bool half_duplex;
    bool with_host;              /* one host "host", joined to every accelerator by its own link */
    int64_t host_bits_per_s;     /* 0: as bits_per_s */
    th_time host_latency_ps;     /* -1: as latency_ps */
} th_topology_options;

typedef struct th_topology_type {
    const char *name;            /* ring mesh torus fully_connected star tree */
    const char *synopsis;        /* "ring N", "mesh X Y ...", "tree ARITY DEPTH" */
    /* Adds nodes and links to an unfinished, empty system. Accelerator nodes are left without
     * properties: the caller sets them. */
    int (*generate)(th_system *s, const th_topology_options *o, th_error *err);
} th_topology_type;

extern const th_topology_type *const th_topology_types[];   /* ends in NULL */
const th_topology_type *th_topology_find(const char *name); /* NULL: unknown */

/* A whole system: generate, give every accelerator the properties of accelerator 0 of prototype,
 * finish. NULL on failure. */
th_system *th_topology_create(const char *name, const th_topology_type *type, const th_topology_options *o,
                              const th_system *prototype, th_error *err);
#endif
