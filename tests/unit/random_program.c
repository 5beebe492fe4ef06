/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random_program.c - see random_program.h. */
#include <config.h>
#include "tests/unit/random_program.h"
#include "tests/unit/tap.h"

world new_world(uint64_t seed, int64_t dram_bits_per_s)
{
    world w = {.system = shipped_system("f1_16xlarge_energy"),
               .random = th_random_stream(seed, "machine", 0)};
    for (int a = 0; dram_bits_per_s && a < w.system->n_accels; a++)
        w.system->nodes[w.system->accel_node[a]].a.dram_bits_per_s = dram_bits_per_s;
    w.costs = th_compute_cost_cache_new(w.system, NULL);
    for (int i = 0; i < 24; i++) {
        th_shard s = conv_shard(1, (int)pick(w.random, 1, 150), (int)pick(w.random, 1, 100),
                                (int)pick(w.random, 1, 30), (int)pick(w.random, 1, 30),
                                (int)pick(w.random, 1, 3));
        s.adds_to_output = pick(w.random, 0, 3) == 0;
        if (pick(w.random, 0, 3) == 0)
            s.kind = TH_LAYER_POOL;
        if (s.kind == TH_LAYER_POOL)
            s.dim[TH_DIM_C] = s.dim[TH_DIM_K];
        int32_t number = th_compute_cost_lookup(w.costs, (int)pick(w.random, 0, 7),
                                                (int)pick(w.random, 0, 2), &s, NULL);
        CU_ASSERT_TRUE(number >= 0);
    }
    w.n_works = th_compute_cost_count(w.costs);
    return w;
}

void free_world(world *w)
{
    th_program_free(w->program);
    th_compute_cost_cache_free(w->costs);
    th_system_free(w->system);
    gsl_rng_free(w->random);
}

int32_t edges[EDGES_MAX][2];
int n_edges;

static void add_random_task(world *w, int inputs)
{
    gsl_rng *r = w->random;
    th_task t = {.kind = (int32_t)pick(r, 0, 20) == 0 ? TH_TASK_HOST
                         : pick(r, 0, 1)              ? TH_TASK_COMPUTE
                                                      : TH_TASK_TRANSFER,
                 .layer = w->program->n_tasks % 7 - 1,
                 .input = (int32_t)pick(r, 0, inputs - 1),
                 .compute_cost = (int32_t)pick(r, 0, w->n_works - 1),
                 .node = w->system->accel_node[pick(r, 0, w->system->n_accels - 1)],
                 .peer = -1};
    if (t.kind == TH_TASK_TRANSFER) {
        t.node = (int32_t)pick(r, 0, w->system->n_nodes - 1);
        t.peer = (t.node + 1 + (int32_t)pick(r, 0, w->system->n_nodes - 2)) % w->system->n_nodes;
        t.bytes = pick(r, 1, pick(r, 0, 1) ? 3000000 : 100000);
    }
    if (t.kind == TH_TASK_COMPUTE)
        t.layer = w->program->n_tasks % 6;
    if (t.kind == TH_TASK_HOST) {
        t.node = w->system->n_hosts > 0 && pick(r, 0, 1)
                     ? w->system->host_node[pick(r, 0, w->system->n_hosts - 1)]
                     : -1;
        t.slowdown = 0; /* where the others have a number */
        t.release_ps = pick(r, 0, 3000000000);
        t.delay_ps = t.node >= 0 ? pick(r, 0, 300000000) : 0;
    }
    int32_t number = th_program_add(w->program, &t, NULL);
    for (int n = (int)pick(r, 0, 3); number > 0 && n > 0; n--) {
        edges[n_edges][0] = number;
        edges[n_edges++][1] = (int32_t)pick(r, number > 25 ? number - 25 : 0, number - 1);
    }
}

void random_program(world *w, int n)
{
    int inputs = (int)pick(w->random, 1, 5);
    th_program_free(w->program);
    w->program = th_program_new(NULL);
    n_edges = 0;
    for (int i = 0; i < n; i++)
        add_random_task(w, inputs);
    for (int i = 0; i < n_edges; i++)
        th_program_depend(w->program, edges[i][0], edges[i][1], NULL);
    th_program_finish(w->program, NULL);
}
