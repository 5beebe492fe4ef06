/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random_program.h - random programs of computes, transfers and tasks of hosts on eight FPGAs.
 *   new -> random_program* -> free */
#ifndef TH_TESTS_UNIT_RANDOM_PROGRAM_H
#define TH_TESTS_UNIT_RANDOM_PROGRAM_H
#include "sim/program/program.h"
#include "sim/design/compute_cost.h"
#include "tests/unit/sim_help.h"

typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    int n_works;
    gsl_rng *random;
    th_program *program;
} world;

/* dram_bits_per_s: of every accelerator; 0: as the system says. */
world new_world(uint64_t seed, int64_t dram_bits_per_s);
void free_world(world *w);
#define auto_world __attribute__((cleanup(free_world))) world /* auto.h */

/* Of n tasks (at most TASKS_MAX), in the place of the one before. The edges (after, before) are
 * kept, and added in an order of their own. */
enum { TASKS_MAX = 400, EDGES_MAX = 1200 };
extern int32_t edges[EDGES_MAX][2];
extern int n_edges;
void random_program(world *w, int n);

#endif
