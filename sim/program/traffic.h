/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic.h - synthetic traffic: patterns of destinations x a process of arrivals, as transfers
 * with release times in a program.
 *   th_traffic_find_pattern -> th_traffic_add(program, system, options), before th_program_finish
 * A table: one pattern is one row. */
#ifndef TH_SIM_PROGRAM_TRAFFIC_H
#define TH_SIM_PROGRAM_TRAFFIC_H
#include "base/error.h"
#include "base/random.h"
#include "sim/program/program.h"
#include "topology/system.h"

/* The nodes that send: the accelerators, 0 .. n - 1, along each dimension of the system if its
 * dimensions contain exactly the accelerators; otherwise along one dimension of n. */
typedef struct th_traffic_nodes {
    int n;
    int dims[TH_MAX_DIMS];
    int n_dims;
    int bits; /* n == 1 << bits; -1: n is no power of two */
    int side; /* n == side x side; -1: n is no square */
    int hot;
    double hot_share;
} th_traffic_nodes;

typedef struct th_traffic_pattern {
    const char *name;
    const char *synopsis;
    const char *wants; /* "a power of two", or NULL: any number of accelerators from two on */
    bool (*can)(const th_traffic_nodes *t); /* NULL: always */
    /* The destination of the k-th message of node `from`; `from` itself: it sends none. r is its
     * own random stream. */
    int (*next)(const th_traffic_nodes *t, int from, int64_t k, gsl_rng *r);
} th_traffic_pattern;

extern const th_traffic_pattern *const th_traffic_patterns[];        /* ends in NULL */
const th_traffic_pattern *th_traffic_find_pattern(const char *name); /* NULL: unknown */

typedef enum {
    TH_TRAFFIC_BERNOULLI, /* each cycle, a node starts a message with a fixed probability */
    TH_TRAFFIC_POISSON    /* times between messages are exponential */
} th_traffic_process;

typedef struct th_traffic_options {
    const th_traffic_pattern *pattern; /* NULL: uniform */
    th_traffic_process process;
    double bytes_per_s;    /* mean rate of each node; > 0 */
    int64_t message_bytes; /* >= 1 */
    th_time cycle_ps;      /* Bernoulli: > 0; at most one message per cycle */
    th_time start_ps;      /* >= 0 */
    th_time duration_ps;   /* > 0: messages are released in [start, start + duration) */
    th_time delay_ps;      /* >= 0, before the first byte of each message: overhead */
    int hotspot;           /* hotspot: the accelerator */
    double hotspot_share;  /* hotspot: fraction of the messages that go there, in (0, 1] */
    uint64_t seed;
    bool (*is_interrupted)(void); /* polled; true: stop. NULL: never */
} th_traffic_options;

/* Adds a transfer per message, ordered by release, then sender, then receiver. The messages of a
 * node depend on (options, its number, the number of nodes) only. Returns their number, or -1 (the
 * program is unchanged). */
int64_t th_traffic_add(th_program *p, const th_system *s, const th_traffic_options *o,
                       th_error *err);

#endif
