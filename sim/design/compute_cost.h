/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute_cost.h - the compute-cost cache: the time of a shard on a design when no other task uses
 * the accelerator's DRAM.
 *
 * That time depends on (design, shard, memory) only. lookup computes it once, by simulating the
 * pipeline that an expanded task simulates (sim/pipeline/pipeline.h).
 *
 * Several threads may call lookup at once; finding a known cost takes no lock. Costs are numbered
 * in the order of their first lookups, so with several threads no result may depend on the numbers.
 */
#ifndef TH_SIM_DESIGN_COMPUTE_COST_H
#define TH_SIM_DESIGN_COMPUTE_COST_H
#include "sim/design/design.h"
#include "sim/design/script_memo.h"
#include "sim/pipeline/pipeline.h"

/* What a cost is the cost of. */
typedef enum { TH_COST_SHARD, TH_COST_FIXED } th_cost_kind;

/* Work of an accelerator that takes a fixed time and leaves its DRAM alone. A key: plain, without
 * padding. */
typedef struct th_fixed_work {
    int64_t duration_ps; /* > 0, at the clock of the system */
    int64_t steady_ps;   /* the part of it that follows no clock */
    int64_t operations;  /* 0: unknown */
    int64_t bytes;       /* that it reads and writes in its DRAM */
    int64_t waiting_ps;  /* the part that only waits, which messages beside it cost nothing */
} th_fixed_work;

typedef struct th_compute_cost {
    int32_t kind; /* th_cost_kind; without a shard, the fields of it say nothing */
    th_shard shard;
    int32_t design;      /* index in the system; -1: the vector unit */
    th_fixed_work fixed; /* of kind TH_COST_FIXED */
    th_schedule schedule;
    th_schedule_totals total;  /* sums over the steps of the schedule */
    int64_t vector_operations; /* 0 on an array */
    th_port port;
    th_time collapsed_ps;
    th_pipeline_stats collapsed; /* of the collapsed task as a whole */
    th_host_times host; /* host time before the first and after the last shard of an input */
    int32_t number;     /* the number of this cost */
} th_compute_cost;

typedef struct th_compute_cost_cache th_compute_cost_cache;

/* Serves the designs and memories of one system, which must outlive the cache. NULL on failure. */
th_compute_cost_cache *th_compute_cost_cache_new(const th_system *s, th_error *err);
void th_compute_cost_cache_free(th_compute_cost_cache *cache);

/* Connects the script designs of the system with their procedures; NULL: no scripts. The scripts
 * must outlive cache. Before the first lookup. 0, or -1 if a procedure does not exist. */
int th_compute_cost_set_scripts(th_compute_cost_cache *cache, th_script_memo *scripts,
                                th_error *err);
/* True if any design calls a procedure. */
bool th_compute_cost_uses_scripts(const th_compute_cost_cache *cache);
/* True if any design needs time of the host. */
bool th_compute_cost_uses_hosts(const th_compute_cost_cache *cache);

/* The cost of a shard on accelerator accel configured with design (an index in system.designs).
 * Layers without multiply-accumulates run on the vector unit, unless the design runs all layers.
 * Returns the number of the cost, or -1. */
int32_t th_compute_cost_lookup(th_compute_cost_cache *cache, int accel, int design,
                               const th_shard *shard, th_error *err);
/* Returns the number of the cost, or -1. */
int32_t th_compute_cost_lookup_fixed(th_compute_cost_cache *cache, const th_fixed_work *w,
                                     th_error *err);
/* th_compute_cost_lookup as a new cost, with the next number, which no lookup finds. */
int32_t th_compute_cost_append(th_compute_cost_cache *cache, int accel, int design,
                               const th_shard *shard, th_error *err);
/* What the cost of that number is with the clocks of the accelerator, of its arrays and its vector
 * unit, times clock: that of a system with such clocks. Of work whose time is given or measured,
 * but for steady_ps, the part that its operations at the peak limit follows the clock, the part
 * that its bytes at the bandwidth of the DRAM limit does not; all does where neither is known.
 * 0, or -1 with *out undefined. */
int th_compute_cost_at_clock(const th_compute_cost_cache *cache, int accel, int32_t number,
                             double clock, th_compute_cost *out, th_error *err);
/* The peak of an accelerator under its first design, on products of 16 bits (a multiply-accumulate
 * is two operations; of learned times that of the data sheet), and the bandwidth of its DRAM. 0, or
 * -1: the design has no peak. */
/* Of the first design of an accelerator; what it points to lasts as long as the cache. */
th_design_device th_compute_cost_device(const th_compute_cost_cache *cache, int accel);
int th_compute_cost_roofline(const th_compute_cost_cache *cache, int accel,
                             double *operations_per_s, double *bytes_per_s, th_error *err);
/* An accelerator configured with a design, at clock times the clocks of the system. */
typedef struct th_compute_unit {
    int accel, design;
    double clock;
} th_compute_unit;
/* The schedule of a shard, and the memory port of an accelerator. Neither is cached. 0 or -1. */
int th_compute_cost_schedule(const th_compute_cost_cache *cache, int accel, int design,
                             const th_shard *shard, th_schedule *out, th_error *err);
int th_compute_cost_schedule_at(const th_compute_cost_cache *cache, th_compute_unit unit,
                                const th_shard *shard, th_schedule *out, th_error *err);
th_port th_compute_cost_port(const th_compute_cost_cache *cache, int accel);
/* A lower bound of the sum of the cycles of all parts of a shard, for any partitioning, on
 * accelerator accel with design, at the clock *hz; INFINITY if the design can run no part. False if
 * the design gives no bound. */
bool th_compute_cost_min_cycles(const th_compute_cost_cache *cache, int accel, int design,
                                const th_shard *shard, double *cycles, int64_t *hz);
bool th_compute_cost_min_cycles_at(const th_compute_cost_cache *cache, th_compute_unit unit,
                                   const th_shard *shard, double *cycles, int64_t *hz);
const th_compute_cost *th_compute_cost_get(const th_compute_cost_cache *cache,
                                           int32_t number); /* the address never changes */
int32_t th_compute_cost_count(th_compute_cost_cache *cache);
/* The class of an accelerator; accelerators with equal memories and vector units have equal
 * classes. */
int32_t th_compute_cost_memory_class(const th_compute_cost_cache *cache, int accel);
/* The energies of the design (an index in the system). */
const th_design_energy *th_compute_cost_energy(const th_compute_cost_cache *cache, int32_t design);

#endif
