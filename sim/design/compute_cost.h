/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute_cost.h - the compute-cost cache: the time of a shard on a design without other users of
 * its DRAM.
 *
 * The collapsed time depends on (design, shard, memory) only, so it is computed once, by running
 * the pipeline that an expanded task runs (sim/pipeline/pipeline.h).
 *
 * Several threads may call lookup at once; known costs are found without a lock. Numbers are in the
 * order of first lookups, so with several threads no result may depend on them. */
#ifndef TH_SIM_DESIGN_COMPUTE_COST_H
#define TH_SIM_DESIGN_COMPUTE_COST_H
#include "sim/design/design.h"
#include "sim/design/script_memo.h"
#include "sim/pipeline/pipeline.h"

typedef struct th_compute_cost {
    th_shard shard;
    int32_t design; /* index in the system; -1: the vector unit */
    th_schedule schedule;
    th_schedule_totals total;  /* of the schedule */
    int64_t vector_operations; /* 0 on an array */
    th_port port;
    th_time collapsed_ps;
    th_pipeline_stats collapsed; /* of the whole task */
    th_prefetch_plan prefetch;   /* weights that may be loaded before it starts */
    th_host_times host; /* what the host does before and after it, where it is the first or last */
    int32_t number;     /* its own */
} th_compute_cost;

typedef struct th_compute_cost_cache th_compute_cost_cache;

/* For the designs and memories of one system, which must outlive it. NULL on failure. */
th_compute_cost_cache *th_compute_cost_cache_new(const th_system *s, th_error *err);
void th_compute_cost_cache_free(th_compute_cost_cache *w);

/* Connects the script designs of the system with their procedures; scripts must outlive w; NULL:
 * none. In the thread of the provider, before the first lookup. 0, or -1: a procedure does not
 * exist. */
int th_compute_cost_set_scripts(th_compute_cost_cache *w, th_script_memo *scripts, th_error *err);
/* Does any of its designs call a procedure? */
bool th_compute_cost_uses_scripts(const th_compute_cost_cache *w);
/* Does any of its designs need time of the host? */
bool th_compute_cost_uses_hosts(const th_compute_cost_cache *w);
/* Are the procedures of the script designs unchanged? In the thread of the provider. */
bool th_compute_cost_scripts_are_current(const th_compute_cost_cache *w);

/* The cost of a shard on accelerator accel configured with design (an index in system.designs;
 * layers without multiply-accumulates run on the vector unit, unless the design runs all). Returns
 * its number or -1; th_script_is_needed(err) if a script's answer is still missing. */
int32_t th_compute_cost_lookup(th_compute_cost_cache *w, int accel, int design,
                               const th_shard *shard, th_error *err);
/* A compute task that only moves bytes over an accelerator's own link, in and then out (systems
 * whose transfers are serial). Returns its number or -1. */
typedef struct th_moves {
    int64_t in_bytes, out_bytes;
    int64_t in_bits_per_s, out_bits_per_s;
    th_time latency_ps; /* before the first byte, in each direction that has bytes */
} th_moves;
int32_t th_compute_cost_lookup_moves(th_compute_cost_cache *w, const th_moves *moves,
                                     th_error *err);
/* The schedule of a shard, and the memory of an accelerator; nothing is cached. 0 or -1. */
int th_compute_cost_schedule(const th_compute_cost_cache *w, int accel, int design,
                             const th_shard *shard, th_schedule *out, th_error *err);
th_port th_compute_cost_port(const th_compute_cost_cache *w, int accel);
/* A lower bound of the cycles, of a clock of *hz, of a shard on accelerator accel with design,
 * summed over its parts, for any partitioning; INFINITY: no part can run. False: the design gives
 * none. */
bool th_compute_cost_min_cycles(const th_compute_cost_cache *w, int accel, int design,
                                const th_shard *shard, double *cycles, int64_t *hz);
const th_compute_cost *th_compute_cost_get(const th_compute_cost_cache *w,
                                           int32_t number); /* never moves */
int32_t th_compute_cost_count(th_compute_cost_cache *w);
/* Equal for accelerators with equal memories and vector units. */
int32_t th_compute_cost_memory_class(const th_compute_cost_cache *w, int accel);
/* Does a design (an index in the system) run all layers, so that the vector unit runs none? */
bool th_compute_cost_runs_all(const th_compute_cost_cache *w, int32_t design);
/* The energies of a design (an index in the system). */
const th_design_energy *th_compute_cost_energy(const th_compute_cost_cache *w, int32_t design);

#endif
