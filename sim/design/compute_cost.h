/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute_cost.h - the compute-cost cache: what a shard takes on a design when nobody else
 * touches its DRAM.
 *
 * The collapsed time depends on (design, shard, memory) alone, so it is computed once, by running
 * the very pipeline that an expanded task runs (sim/pipeline/pipeline.h).
 *
 * Several threads may ask at once: what is known is found without a lock. Numbers are in the order
 * in which works came, so with several threads nothing but lookups may depend on them. */
#ifndef TH_SIM_DESIGN_COMPUTE_COST_H
#define TH_SIM_DESIGN_COMPUTE_COST_H
#include "sim/design/design.h"
#include "sim/design/script_memo.h"
#include "sim/pipeline/pipeline.h"

typedef struct th_compute_cost {
    th_shard shard;
    int32_t design; /* index in the system; -1: the vector unit */
    th_schedule schedule;
    th_schedule_totals total;  /* of it */
    int64_t vector_operations; /* 0 on an array */
    th_port port;
    th_time collapsed_ps;
    th_pipeline_stats collapsed; /* of the whole task */
    th_prefetch_plan prefetch;   /* weights that may come before it starts */
    th_host_times host; /* what the host does before and after it, where it is the first or last */
    int32_t number;     /* its own */
} th_compute_cost;

typedef struct th_compute_cost_cache th_compute_cost_cache;

/* For the designs and memories of one system, which must outlive it. NULL on failure. */
th_compute_cost_cache *th_compute_cost_cache_new(const th_system *s, th_error *err);
void th_compute_cost_cache_free(th_compute_cost_cache *w);

/* Who answers for the script designs of the system; must outlive w. In the thread of the memo's
 * provider, before the first intern. 0, or -1 where a procedure does not exist. NULL: nobody does.
 */
int th_compute_cost_set_scripts(th_compute_cost_cache *w, th_script_memo *scripts, th_error *err);
/* Is any of its designs one that asks a procedure? */
bool th_compute_cost_uses_scripts(const th_compute_cost_cache *w);
/* Does any of its designs have something for the host to do? */
bool th_compute_cost_uses_hosts(const th_compute_cost_cache *w);
/* Are the procedures of the script designs still those that answered? In that same thread. */
bool th_compute_cost_scripts_are_current(const th_compute_cost_cache *w);

/* The work of a shard on accelerator accel configured with design (an index in system.designs;
 * layers without multiply-accumulates go to the vector unit, unless it runs all). Returns its
 * number or -1; th_script_is_needed(err) where a script's answer is not there yet. */
int32_t th_compute_cost_lookup(th_compute_cost_cache *w, int accel, int design,
                               const th_shard *shard, th_error *err);
/* A compute task that moves bytes over an accelerator's own way to the rest of the system, in and
 * then out, and does nothing else (systems whose transfers are serial). Returns its number or -1.
 */
typedef struct th_moves {
    int64_t in_bytes, out_bytes;
    int64_t in_bits_per_s, out_bits_per_s;
    th_time latency_ps; /* before the first byte, each way that has bytes */
} th_moves;
int32_t th_compute_cost_lookup_moves(th_compute_cost_cache *w, const th_moves *moves,
                                     th_error *err);
/* The schedule alone of such a work, and the memory that it meets; nothing is kept. 0 or -1. */
int th_compute_cost_schedule(const th_compute_cost_cache *w, int accel, int design,
                             const th_shard *shard, th_schedule *out, th_port *port, th_error *err);
/* Cycles, of a clock of *hz, that all of a shard takes at least on accelerator accel with
 * design, summed over its parts, however it is cut; INFINITY: no part can run. False: none are
 * known of the design. */
bool th_compute_cost_min_cycles(const th_compute_cost_cache *w, int accel, int design,
                                const th_shard *shard, double *cycles, int64_t *hz);
const th_compute_cost *th_compute_cost_get(const th_compute_cost_cache *w,
                                           int32_t number); /* stays where it is */
int32_t th_compute_cost_count(th_compute_cost_cache *w);
/* Equal for accelerators with equal memories and vector units. */
int32_t th_compute_cost_memory_class(const th_compute_cost_cache *w, int accel);
/* Does a design (an index in the system) run all layers, and its accelerator's vector unit none? */
bool th_compute_cost_runs_all(const th_compute_cost_cache *w, int32_t design);
/* What a design (an index in the system) says of its energy. */
const th_design_energy *th_compute_cost_energy(const th_compute_cost_cache *w, int32_t design);

#endif
