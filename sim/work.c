/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.c - the memo of folded tasks.
 *   new -> (intern | get)* -> free
 * Invariant: two works differ in (memory class, design, shard). Accelerators with equal memory and
 * vector unit are one class, so alike accelerators share their works. */
#include <config.h>

#include "sim/work.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

typedef struct {
    const th_design_type *type;
    th_design_config config;
} configured;

struct th_works {
    const th_system *system;
    configured *designs;
    int32_t
        *class_of; /* by accelerator: the first accelerator with the same memory and vector unit */
    th_map *numbers;
    th_work *works;
    size_t n, capacity;
};

typedef struct {
    int32_t memory_class, design;
    th_shard shard;
} work_key;

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

static void find_classes(th_works *w)
{
    const th_system *s = w->system;
    for (int a = 0; a < s->n_accels; a++) {
        w->class_of[a] = a;
        for (int b = 0; b < a; b++) {
            if (same_memory(&s->nodes[s->accel_node[a]].a, &s->nodes[s->accel_node[b]].a)) {
                w->class_of[a] = w->class_of[b];
                break;
            }
        }
    }
}

th_works *th_works_new(const th_system *s, th_error *err)
{
    th_works *w = th_alloc_zero(1, sizeof *w);
    if (!w)
        goto fail;
    w->system = s;
    w->designs = th_alloc_zero((size_t)s->n_designs + 1, sizeof *w->designs);
    w->class_of = th_alloc_zero((size_t)s->n_accels + 1, sizeof *w->class_of);
    w->numbers = th_map_new();
    if (!w->designs || !w->class_of || !w->numbers)
        goto fail;
    for (int i = 0; i < s->n_designs; i++) {
        if (th_design_configure(&s->designs[i], &w->designs[i].type, &w->designs[i].config, err)) {
            th_works_free(w);
            return NULL;
        }
    }
    find_classes(w);
    return w;
fail:
    th_error_no_memory(err);
    th_works_free(w);
    return NULL;
}

void th_works_free(th_works *w)
{
    if (!w)
        return;
    for (int i = 0; w->designs && i < w->system->n_designs; i++)
        th_design_release(w->designs[i].type, &w->designs[i].config);
    th_free(w->designs);
    th_free(w->class_of);
    th_map_free(w->numbers);
    th_free(w->works);
    th_free(w);
}

int th_works_set_scripts(th_works *w, th_script_memo *scripts, th_error *err)
{
    for (int i = 0; i < w->system->n_designs; i++)
        if (th_script_connect(w->designs[i].type, &w->designs[i].config, scripts, err))
            return -1;
    return 0;
}

bool th_works_scripts_are_current(const th_works *w)
{
    for (int i = 0; i < w->system->n_designs; i++)
        if (!th_script_is_current(w->designs[i].type, &w->designs[i].config))
            return false;
    return true;
}

static bool runs_on_array(const th_shard *s)
{
    return s->kind == TH_LAYER_CONV || s->kind == TH_LAYER_FC || s->kind == TH_LAYER_MATMUL ||
           s->kind == TH_LAYER_LSTM || s->kind == TH_LAYER_GRU;
}

/* What comes the weights' way is another task's output, or is picked by one. */
static bool weights_follow_inputs(const th_shard *s)
{
    return s->kind == TH_LAYER_EMBEDDING || th_shard_multiplies_activations(s);
}

int th_works_schedule(const th_works *w, int accel, int design, const th_shard *shard,
                      th_schedule *out, th_port *port, th_error *err)
{
    const th_accel *a = &w->system->nodes[w->system->accel_node[accel]].a;
    if ((int64_t)shard->dim[TH_DIM_B] * shard->groups > INT32_MAX)
        return th_error_set(err, "SIM-0009",
                            "a shard of %d images in %d groups: must be %d at most together",
                            (int)shard->dim[TH_DIM_B], (int)shard->groups, INT32_MAX);
    *port = th_port_of(a);
    if (design >= 0 && runs_on_array(shard))
        return th_design_schedule(w->designs[design].type, &w->designs[design].config, shard, port,
                                  out, err);
    th_vector_schedule(a, shard, out);
    return 0;
}

static int fill_work(const th_works *w, int accel, int design, const th_shard *shard, th_work *out,
                     th_error *err)
{
    const th_accel *a = &w->system->nodes[w->system->accel_node[accel]].a;
    *out = (th_work){.shard = *shard, .design = design}; /* what lies there is anything */
    if (th_works_schedule(w, accel, design, shard, &out->schedule, &out->port, err))
        return -1;
    if (shard->adds_to_output)
        out->schedule.reads_sums = true;
    if (!weights_follow_inputs(shard))
        out->ahead = th_ahead_plan_of(&out->schedule, &out->port);
    out->total = th_schedule_sum(&out->schedule);
    out->vector_operations = design < 0 ? th_vector_operations(a, shard) : 0;
    th_pipeline p;
    th_pipeline_start(&p, &out->schedule, &out->port, 0, true);
    out->folded_ps = th_pipeline_finish(&p, &out->schedule, &out->port);
    out->folded = p.stats;
    if (out->folded_ps == TH_TIME_MAX)
        return th_error_set(err, "SIM-0110",
                            "accel/%s: a shard that reads %lld bytes and computes %lld cycles at "
                            "%lld Hz must end within 2^63 ps (106 days), where simulated time ends",
                            w->system->nodes[w->system->accel_node[accel]].name,
                            (long long)(out->total.input_bytes + out->total.weight_bytes),
                            (long long)out->total.cycles, (long long)out->schedule.hz);
    return 0;
}

/* One step, in and out, on ports of those bandwidths; the memory behind them never limits. */
static int fill_moves(const th_moves *x, th_work *out, th_error *err)
{
    enum { PS_HZ_EXPONENT = 12 }; /* a clock whose cycle is a picosecond; no cycle is computed */
    int64_t hz = 1;
    for (int i = 0; i < PS_HZ_EXPONENT; i++)
        hz *= 10;
    *out = (th_work){.design = -1};
    out->shard.kind = TH_LAYER_ELEMENTWISE;
    out->port = (th_port){.bits_per_s = TH_UNLIMITED, .latency_ps = x->latency_ps,
                          .burst_bytes = 1, .channels = 1};
    th_schedule *s = &out->schedule;
    *s = (th_schedule){.hz = hz, .slots_in = 1, .slots_out = 1, .variant = "transfer"};
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        s->count[loop] = 1;
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        s->step[mask].input_bytes = x->in_bytes;
        s->output_bytes[mask & (TH_N_STORE_KINDS - 1)] = x->out_bytes;
    }
    s->port_bits_per_s[TH_ENGINE_INPUT] = x->in_bits_per_s;
    s->port_bits_per_s[TH_ENGINE_OUTPUT] = x->out_bits_per_s;
    out->total = th_schedule_sum(s);
    th_pipeline p;
    th_pipeline_start(&p, s, &out->port, 0, true);
    out->folded_ps = th_pipeline_finish(&p, s, &out->port);
    out->folded = p.stats;
    if (out->folded_ps < TH_TIME_MAX)
        return 0;
    return th_error_set(err, "SIM-0190",
                        "%lld bytes in and %lld bytes out at %lld and %lld bits per second must be "
                        "through within 2^63 ps (106 days), where simulated time ends",
                        (long long)x->in_bytes, (long long)x->out_bytes,
                        (long long)x->in_bits_per_s, (long long)x->out_bits_per_s);
}

int32_t th_works_intern_moves(th_works *w, const th_moves *moves, th_error *err)
{
    int64_t number;
    if (th_map_get(w->numbers, moves, sizeof *moves, &number))
        return (int32_t)number;
    if (th_grow(&w->works, &w->capacity, w->n + 1, sizeof *w->works))
        return th_error_no_memory(err);
    if (fill_moves(moves, &w->works[w->n], err))
        return -1;
    if (th_map_put(w->numbers, moves, sizeof *moves, (int64_t)w->n))
        return th_error_no_memory(err);
    return (int32_t)w->n++;
}

int32_t th_works_intern(th_works *w, int accel, int design, const th_shard *shard, th_error *err)
{
    int64_t number;
    work_key key;
    memset(&key, 0, sizeof key);
    key.memory_class = w->class_of[accel];
    key.design = runs_on_array(shard) ? design : -1;
    key.shard = *shard;
    if (th_map_get(w->numbers, &key, sizeof key, &number))
        return (int32_t)number;
    if (th_grow(&w->works, &w->capacity, w->n + 1, sizeof *w->works))
        return th_error_no_memory(err);
    if (fill_work(w, accel, key.design, shard, &w->works[w->n], err))
        return -1;
    if (th_map_put(w->numbers, &key, sizeof key, (int64_t)w->n))
        return th_error_no_memory(err);
    return (int32_t)w->n++;
}

const th_work *th_works_get(const th_works *w, int32_t number)
{
    return &w->works[number];
}

int32_t th_works_count(const th_works *w)
{
    return (int32_t)w->n;
}

int32_t th_works_memory_class(const th_works *w, int accel)
{
    return w->class_of[accel];
}

const th_design_energy *th_works_energy(const th_works *w, int32_t design)
{
    return &w->designs[design].config.energy;
}
