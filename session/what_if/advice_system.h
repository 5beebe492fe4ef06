/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice_system.h - systems that differ from one in its parts: more accelerators, other designs,
 * another topology. Accelerators keep their numbers, new ones follow. All return a finished system,
 * owned by the caller, or NULL: it cannot be made, and err says why if memory is out. */
#ifndef TH_SESSION_WHAT_IF_ADVICE_SYSTEM_H
#define TH_SESSION_WHAT_IF_ADVICE_SYSTEM_H
#include "topology/generate/generate.h"

/* Accelerators like this one more: one with copies of its links and a link to it, or, of a
 * generator, what its next larger size has. */
th_system *th_system_with_more(const th_system *s, int32_t accel, th_error *err);

/* These accelerators with a design more, or in the place of their only one. */
th_system *th_system_with_design(const th_system *s, const int32_t *accels, int n, int design,
                                 th_error *err);

/* The links between accelerators and switches: cables, their sum of bandwidths, and the properties
 * that most of them have. is_plain: it can be replaced, as all else is a host with equal cables to
 * every accelerator, or nothing. */
typedef struct th_fabric {
    bool is_plain, has_host;
    int n_cables;
    double bits_per_s; /* of all cables, both directions */
    int64_t cable_bits_per_s;
    th_time cable_latency_ps;
    double cable_cost; /* 0: unknown */
    int64_t host_bits_per_s;
    th_time host_latency_ps;
    double host_cost;
} th_fabric;
th_fabric th_fabric_of(const th_system *s);

/* The accelerators of s in another topology; o: type's options, with dims, cables and host. */
th_system *th_system_with_topology(const th_system *s, const th_topology_type *type,
                                   const th_topology_options *o, th_error *err);

/* The sum of all costs that are known. */
double th_system_cost(const th_system *s);

#endif
