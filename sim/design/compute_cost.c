/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute_cost.c - the compute-cost cache.
 *   new -> (lookup | get)* -> free
 *   lookup: find -> compute -> add, with the lock, unless another thread has added it
 * Invariants: two costs differ in (memory class, design, shard); the address and the value of a
 * cost never change. Accelerators with equal memories and vector units form one class and share
 * costs. */
#include <config.h>

#include "sim/design/compute_cost.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/shared_map.h"
#include "sim/design/clock.h"
#include "sim/pipeline/attention.h"

typedef struct {
    const th_design_type *type;
    th_design_config config;
} configured;

/* Chunk c holds twice as many costs as chunk c - 1, so growing never moves a cost. */
enum { FIRST_CHUNK_LOG2 = 6, N_CHUNKS = 31 - FIRST_CHUNK_LOG2 };

struct th_compute_cost_cache {
    const th_system *system;
    configured *designs;
    int32_t
        *class_of; /* by accelerator: the first accelerator with the same memory and vector unit */
    th_shared_map *known; /* th_compute_cost by key */
    pthread_mutex_t lock;
    th_compute_cost *chunk[N_CHUNKS];
    th_memory memory; /* of designs, classes and chunks */
    int32_t n;
};

typedef struct {
    int32_t memory_class, design;
    th_shard shard;
} cost_key;

static bool same_memory(const th_accel *a, const th_accel *b)
{
    return a->dram_bits_per_s == b->dram_bits_per_s && a->dram_latency_ps == b->dram_latency_ps &&
           a->dram_burst_bytes == b->dram_burst_bytes && a->dram_channels == b->dram_channels &&
           a->dram_interleave_bytes == b->dram_interleave_bytes &&
           memcmp(&a->dram_efficiency, &b->dram_efficiency, sizeof a->dram_efficiency) == 0 &&
           a->vector_hz == b->vector_hz &&
           a->vector_elements_per_cycle == b->vector_elements_per_cycle &&
           a->vector_exp_operations == b->vector_exp_operations &&
           a->vector_buffer_bytes == b->vector_buffer_bytes &&
           a->concat_is_free == b->concat_is_free;
}

static void find_classes(th_compute_cost_cache *cache)
{
    const th_system *s = cache->system;
    for (int a = 0; a < s->n_accels; a++) {
        cache->class_of[a] = a;
        for (int b = 0; b < a; b++) {
            if (same_memory(&s->nodes[s->accel_node[a]].a, &s->nodes[s->accel_node[b]].a)) {
                cache->class_of[a] = cache->class_of[b];
                break;
            }
        }
    }
}

th_compute_cost_cache *th_compute_cost_cache_new(const th_system *s, th_error *err)
{
    th_compute_cost_cache *cache = th_alloc_zero(1, sizeof *cache);
    if (!cache)
        goto fail;
    pthread_mutex_init(&cache->lock, NULL);
    cache->system = s;
    cache->designs =
        th_memory_take(&cache->memory, (size_t)s->n_designs + 1, sizeof *cache->designs);
    cache->class_of =
        th_memory_take(&cache->memory, (size_t)s->n_accels + 1, sizeof *cache->class_of);
    cache->known = th_shared_map_new();
    if (cache->memory.is_out || !cache->known)
        goto fail;
    for (int i = 0; i < s->n_designs; i++) {
        if (th_design_configure(&s->designs[i], &cache->designs[i].type, &cache->designs[i].config,
                                err)) {
            th_compute_cost_cache_free(cache);
            return NULL;
        }
    }
    find_classes(cache);
    return cache;
fail:
    th_error_no_memory(err);
    th_compute_cost_cache_free(cache);
    return NULL;
}

void th_compute_cost_cache_free(th_compute_cost_cache *cache)
{
    if (!cache)
        return;
    for (int i = 0; cache->designs && i < cache->system->n_designs; i++)
        th_design_release(cache->designs[i].type, &cache->designs[i].config);
    th_shared_map_free(cache->known);
    th_memory_free(&cache->memory);
    pthread_mutex_destroy(&cache->lock);
    th_free(cache);
}

int th_compute_cost_set_scripts(th_compute_cost_cache *cache, th_script_memo *scripts,
                                th_error *err)
{
    for (int i = 0; i < cache->system->n_designs; i++)
        if (th_script_connect(cache->designs[i].type, &cache->designs[i].config, scripts, err))
            return -1;
    return 0;
}

bool th_compute_cost_uses_scripts(const th_compute_cost_cache *cache)
{
    bool any = false;
    for (int i = 0; i < cache->system->n_designs; i++)
        any |= th_script_is_asked(cache->designs[i].type);
    return any;
}

bool th_compute_cost_uses_hosts(const th_compute_cost_cache *cache)
{
    bool any = false;
    for (int i = 0; i < cache->system->n_designs; i++)
        any |= !!cache->designs[i].type->host;
    return any;
}

/* False: the shard runs on the vector unit. */
static bool runs_on_design(const th_compute_cost_cache *cache, int design, const th_shard *s)
{
    return design >= 0 && (th_shard_is_for_arrays(s) || cache->designs[design].type->runs_all);
}

static const th_accel *accel_of(const th_compute_cost_cache *cache, int accel)
{
    return &cache->system->nodes[cache->system->accel_node[accel]].a;
}

th_port th_compute_cost_port(const th_compute_cost_cache *cache, int accel)
{
    return th_port_of(accel_of(cache, accel));
}

/* --- schedules -------------------------------------------------------------------------------- */

static int schedule_on(const th_compute_cost_cache *cache, th_compute_unit u, const th_shard *shard,
                       th_schedule *out, th_error *err)
{
    if ((int64_t)shard->dim[TH_DIM_B] * shard->groups > INT32_MAX)
        return th_error_set(err, "SIM-0009",
                            "a shard of %d images in %d groups: must be %d at most together",
                            (int)shard->dim[TH_DIM_B], (int)shard->groups, INT32_MAX);
    const th_port port = th_compute_cost_port(cache, u.accel);
    if (!runs_on_design(cache, u.design, shard)) {
        const th_accel a = th_accel_at_clock(accel_of(cache, u.accel), u.clock);
        th_vector_schedule(&a, shard, out);
        return 0;
    }
    const th_design_type *type = cache->designs[u.design].type;
    const th_design_config config =
        th_design_at_clock(type, &cache->designs[u.design].config, u.clock);
    if (th_design_schedule(type, &config, shard, &port, out, err))
        return -1;
    if (u.clock != 1 && type->is_measured)
        th_measured_at_clock(type, &config, accel_of(cache, u.accel), shard, u.clock, out);
    return 0;
}

/* The softmax runs on the vector unit, beside the array; where the design runs all, after it. */
static int schedule_attention(const th_compute_cost_cache *cache, th_compute_unit u,
                              const th_shard *shard, th_schedule *out, th_error *err)
{
    th_shard parts[TH_N_ATTENTION_PARTS];
    th_schedule schedules[TH_N_ATTENTION_PARTS];
    th_attention_shards(shard, parts);
    for (int i = 0; i < TH_N_ATTENTION_PARTS; i++)
        if (schedule_on(cache, u, &parts[i], &schedules[i], err))
            return -1;
    th_attention_schedule(shard, schedules, !cache->designs[u.design].type->runs_all, out);
    return 0;
}

int th_compute_cost_schedule_at(const th_compute_cost_cache *cache, th_compute_unit u,
                                const th_shard *shard, th_schedule *out, th_error *err)
{
    if (shard->kind == TH_LAYER_ATTENTION && runs_on_design(cache, u.design, shard) &&
        !(cache->designs[u.design].type->kinds >> TH_LAYER_ATTENTION & 1u))
        return schedule_attention(cache, u, shard, out, err);
    return schedule_on(cache, u, shard, out, err);
}

int th_compute_cost_schedule(const th_compute_cost_cache *cache, int accel, int design,
                             const th_shard *shard, th_schedule *out, th_error *err)
{
    return th_compute_cost_schedule_at(cache, (th_compute_unit){accel, design, 1}, shard, out, err);
}

/* Each product at the rate of its own, for the scores that are not hidden. */
static bool attention_min_cycles(const th_compute_cost_cache *cache, th_compute_unit u,
                                 const th_shard *shard, double *cycles, int64_t *hz)
{
    th_shard parts[TH_N_ATTENTION_PARTS];
    double scores = 0, context = 0;
    th_attention_shards(shard, parts);
    if (!th_compute_cost_min_cycles_at(cache, u, &parts[TH_ATTENTION_SCORES], &scores, hz) ||
        !th_compute_cost_min_cycles_at(cache, u, &parts[TH_ATTENTION_CONTEXT], &context, hz))
        return false;
    *cycles = (scores + context) * (double)shard->scores /
              ((double)shard->dim[TH_DIM_H] * shard->dim[TH_DIM_R]);
    return true;
}

/* A measured time grows at a lower clock by nothing at least, and shrinks at most by the factor. */
bool th_compute_cost_min_cycles_at(const th_compute_cost_cache *cache, th_compute_unit u,
                                   const th_shard *shard, double *cycles, int64_t *hz)
{
    th_design_peak peak;
    if (shard->kind == TH_LAYER_ATTENTION && runs_on_design(cache, u.design, shard))
        return attention_min_cycles(cache, u, shard, cycles, hz);
    if (!runs_on_design(cache, u.design, shard)) {
        const th_accel a = th_accel_at_clock(accel_of(cache, u.accel), u.clock);
        *cycles = (double)th_vector_operations(&a, shard) / (double)a.vector_elements_per_cycle;
        *hz = a.vector_hz;
        return true;
    }
    const th_design_type *type = cache->designs[u.design].type;
    const th_design_config config =
        th_design_at_clock(type, &cache->designs[u.design].config, u.clock);
    if (!th_design_peak_of(type, &config, shard, &peak))
        return false;
    *cycles = peak.macs_per_cycle > 0 ? th_canonical_macs(shard) / peak.macs_per_cycle : INFINITY;
    *hz = type->is_measured && u.clock > 1 ? th_scaled_hz(peak.hz, u.clock) : peak.hz;
    return true;
}

bool th_compute_cost_min_cycles(const th_compute_cost_cache *cache, int accel, int design,
                                const th_shard *shard, double *cycles, int64_t *hz)
{
    return th_compute_cost_min_cycles_at(cache, (th_compute_unit){accel, design, 1}, shard, cycles,
                                         hz);
}

/* The time and the statistics of the pipeline. */
static void collapse(th_compute_cost *out)
{
    th_pipeline p;
    th_pipeline_start(&p, &out->schedule, &out->port, &(th_pipeline_options){.skip = true});
    out->total = th_schedule_sum(&out->schedule);
    out->collapsed_ps = th_pipeline_finish(&p, &out->schedule, &out->port);
    out->collapsed = p.stats;
}

static int compute(const th_compute_cost_cache *cache, th_compute_unit u, const th_shard *shard,
                   th_compute_cost *out, th_error *err)
{
    *out = (th_compute_cost){
        .shard = *shard, .design = u.design, .port = th_compute_cost_port(cache, u.accel)};
    if (th_compute_cost_schedule_at(cache, u, shard, &out->schedule, err))
        return -1;
    if (shard->adds_to_output)
        out->schedule.reads_sums = true;
    if (u.design >= 0 && cache->designs[u.design].type->host)
        cache->designs[u.design].type->host(&cache->designs[u.design].config, shard, &out->host);
    out->vector_operations =
        u.design < 0 ? th_vector_operations(accel_of(cache, u.accel), shard) : 0;
    collapse(out);
    if (out->collapsed_ps == TH_TIME_MAX)
        return th_error_set(err, "SIM-0110",
                            "accel/%s: a shard that reads %lld bytes and computes %lld cycles at "
                            "%lld Hz must end within 2^63 ps (106 days), where simulated time ends",
                            cache->system->nodes[cache->system->accel_node[u.accel]].name,
                            (long long)(out->total.input_bytes + out->total.weight_bytes),
                            (long long)out->total.cycles, (long long)out->schedule.hz);
    return 0;
}

/* One step that computes for so many picoseconds and moves nothing. */
static void compute_fixed(const th_fixed_work *w, th_compute_cost *out)
{
    *out = (th_compute_cost){.kind = TH_COST_FIXED, .design = -1, .fixed = *w};
    out->shard.kind = TH_LAYER_ELEMENTWISE;
    out->port = (th_port){.bits_per_s = TH_UNLIMITED, .burst_bytes = 1, .channels = 1};
    th_schedule *s = &out->schedule;
    *s = (th_schedule){
        .hz = TH_PS_PER_S, .slots_in = 1, .slots_out = 1, .variant = "fixed duration"};
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        s->count[loop] = 1;
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++)
        s->step[mask].cycles = w->duration_ps;
    out->vector_operations = w->operations;
    collapse(out);
}

/* --- the cache -------------------------------------------------------------------------------- */

/* The address of a cost. Chunk c begins with number 2^c * F - F, where F is the size of the first
 * chunk. */
static th_compute_cost *cost_at(const th_compute_cost_cache *cache, int32_t number)
{
    uint32_t at = (uint32_t)number + (1u << FIRST_CHUNK_LOG2);
    int log2 = 31 - __builtin_clz(at);
    return &cache->chunk[log2 - FIRST_CHUNK_LOG2][at - (1u << log2)];
}

/* The address of the next cost. The caller holds the lock. NULL: out of memory. */
static th_compute_cost *next_cost(th_compute_cost_cache *cache)
{
    uint32_t at = (uint32_t)cache->n + (1u << FIRST_CHUNK_LOG2);
    int log2 = 31 - __builtin_clz(at), c = log2 - FIRST_CHUNK_LOG2;
    if (!cache->chunk[c])
        cache->chunk[c] =
            th_memory_take(&cache->memory, (size_t)1 << log2, sizeof(th_compute_cost));
    return cache->chunk[c] ? cost_at(cache, cache->n) : NULL;
}

/* Adds a cost under a key, unless another thread has; NULL: as a new one that no lookup finds. Its
 * number, or -1. */
static int32_t add(th_compute_cost_cache *cache, const void *key, size_t bytes,
                   const th_compute_cost *computed, th_error *err)
{
    pthread_mutex_lock(&cache->lock);
    const th_compute_cost *added = key ? th_shared_map_find(cache->known, key, bytes) : NULL;
    th_compute_cost *place = added ? NULL : next_cost(cache);
    if (place) {
        *place = *computed;
        place->number = cache->n;
        added = key ? th_shared_map_add(cache->known, key, bytes, place) : place;
        cache->n += !!added;
    }
    pthread_mutex_unlock(&cache->lock);
    return added ? added->number : th_error_no_memory(err);
}

int32_t th_compute_cost_lookup_fixed(th_compute_cost_cache *cache, const th_fixed_work *w,
                                     th_error *err)
{
    const th_compute_cost *known = th_shared_map_find(cache->known, w, sizeof *w);
    th_compute_cost computed;
    if (known)
        return known->number;
    compute_fixed(w, &computed);
    return add(cache, w, sizeof *w, &computed, err);
}

int32_t th_compute_cost_lookup(th_compute_cost_cache *cache, int accel, int design,
                               const th_shard *shard, th_error *err)
{
    cost_key key;
    th_compute_cost computed;
    memset(&key, 0, sizeof key);
    key.memory_class = cache->class_of[accel];
    key.design = runs_on_design(cache, design, shard) ? design : -1;
    key.shard = *shard;
    const th_compute_cost *known = th_shared_map_find(cache->known, &key, sizeof key);
    if (known)
        return known->number;
    if (compute(cache, (th_compute_unit){accel, key.design, 1}, shard, &computed, err))
        return -1;
    return add(cache, &key, sizeof key, &computed, err);
}

int32_t th_compute_cost_append(th_compute_cost_cache *cache, int accel, int design,
                               const th_shard *shard, th_error *err)
{
    th_compute_cost computed;
    return compute(cache, (th_compute_unit){accel, design, 1}, shard, &computed, err)
               ? -1
               : add(cache, NULL, 0, &computed, err);
}

const th_compute_cost *th_compute_cost_get(const th_compute_cost_cache *cache, int32_t number)
{
    return cost_at(cache, number);
}

/* A product that fills any array. */
static th_shard large_product(void)
{
    enum { EXTENT = 4096 };
    th_shard s = {.kind = TH_LAYER_MATMUL,
                  .groups = 1,
                  .in_h = EXTENT,
                  .in_w = 1,
                  .stride_h = 1,
                  .stride_w = 1,
                  .dilation_h = 1,
                  .dilation_w = 1,
                  .up_h = 1,
                  .up_w = 1,
                  .n_operands = 1};
    for (int d = 0; d < TH_N_DIMS; d++)
        s.dim[d] = 1;
    s.dim[TH_DIM_K] = s.dim[TH_DIM_C] = s.dim[TH_DIM_H] = EXTENT;
    for (int t = 0; t < TH_N_TENSORS; t++) {
        s.precision[t] = TH_FP16;
        s.density_ppm[t] = 1000000;
    }
    return s;
}

th_design_device th_compute_cost_device(const th_compute_cost_cache *cache, int accel)
{
    const th_accel *a = accel_of(cache, accel);
    const configured *d = a->n_designs > 0 ? &cache->designs[a->designs[0]] : NULL;
    return d && d->type->device ? d->type->device(&d->config) : (th_design_device){.is_core = true};
}

int th_compute_cost_roofline(const th_compute_cost_cache *cache, int accel,
                             double *operations_per_s, double *bytes_per_s, th_error *err)
{
    enum { OPERATIONS_PER_MAC = 2, BITS_PER_BYTE = 8 };
    const th_accel *a = accel_of(cache, accel);
    th_shard product = large_product();
    double cycles = INFINITY;
    int64_t hz = 0;
    const configured *d = a->n_designs > 0 ? &cache->designs[a->designs[0]] : NULL;
    *bytes_per_s = (double)a->dram_bits_per_s / BITS_PER_BYTE;
    if (d && d->type->sheet_peak) {
        *operations_per_s = d->type->sheet_peak(&d->config, TH_FP16);
        return 0;
    }
    bool is_known =
        d && th_compute_cost_min_cycles(cache, accel, a->designs[0], &product, &cycles, &hz);
    if (!is_known || !(cycles > 0) || isinf(cycles))
        return th_error_set(err, "SIM-0307",
                            "accelerator %d: design \"%s\" has no peak: must be of a type that has "
                            "one, or durations be given",
                            accel, d ? cache->system->designs[a->designs[0]].name : "");
    *operations_per_s = OPERATIONS_PER_MAC * (double)th_shard_macs(&product) * (double)hz / cycles;
    return 0;
}

/* Fixed work at another clock: its seconds at the peak and at the bandwidth of an accelerator. */
static void fixed_at_clock(const th_compute_cost_cache *cache, int accel, double clock,
                           const th_fixed_work *w, th_compute_cost *out)
{
    double operations_per_s, bytes_per_s, compute = 0;
    th_fixed_work scaled = *w;
    bool is_known =
        th_compute_cost_roofline(cache, accel, &operations_per_s, &bytes_per_s, NULL) == 0;
    if (is_known)
        compute = (double)w->operations / operations_per_s;
    double memory = is_known ? th_dram_seconds(accel_of(cache, accel), (double)w->bytes) : 0;
    scaled.duration_ps = th_time_add(
        w->steady_ps, th_ps_at_clock(w->duration_ps - w->steady_ps, compute, memory, clock));
    compute_fixed(&scaled, out);
}

int th_compute_cost_at_clock(const th_compute_cost_cache *cache, int accel, int32_t number,
                             double clock, th_compute_cost *out, th_error *err)
{
    const th_compute_cost *w = th_compute_cost_get(cache, number);
    switch ((th_cost_kind)w->kind) {
    case TH_COST_FIXED:
        fixed_at_clock(cache, accel, clock, &w->fixed, out);
        break;
    case TH_COST_SHARD:
        if (compute(cache, (th_compute_unit){accel, w->design, clock}, &w->shard, out, err))
            return -1;
        break;
    }
    out->number = number;
    return 0;
}

int32_t th_compute_cost_count(th_compute_cost_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    int32_t n = cache->n;
    pthread_mutex_unlock(&cache->lock);
    return n;
}

int32_t th_compute_cost_memory_class(const th_compute_cost_cache *cache, int accel)
{
    return cache->class_of[accel];
}

const th_design_energy *th_compute_cost_energy(const th_compute_cost_cache *cache, int32_t design)
{
    return &cache->designs[design].config.energy;
}
