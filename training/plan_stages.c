/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_stages.c - see plan_stages.h. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/min_max.h"
#include "sim/design/compute_cost.h"
#include "training/plan_stages.h"

/* ---- words ---- */

int th_plan_set_stages(th_parallel_plan *p, const char *const *words, int n, th_error *err)
{
    p->n_own = n;
    for (int i = 0; i < n && i < TH_OWN_STAGES_MAX; i++) {
        int layers = 0, block = i, again = 0, used = 0;
        const char *rest = words[i];
        if (sscanf(rest, "%5d%n", &layers, &used) == 1)
            rest += used;
        if (*rest == '@' && sscanf(rest, "@%5d%n", &block, &used) == 1)
            rest += used;
        if (*rest == '+' && sscanf(rest, "+%5d%n", &again, &used) == 1)
            rest += used;
        if (*rest || layers < 1 || layers > INT16_MAX || block < 0 || block >= n || again < 0 ||
            again > layers)
            return th_error_set(
                err, "MAP-0790",
                "-stages %s: must be LAYERS, LAYERS@BLOCK or "
                "LAYERS@BLOCK+RECOMPUTED, with a block below the stages, %d, and at most all "
                "layers recomputed",
                words[i], n);
        p->own[i] = (th_own_stage){(int16_t)layers, (int16_t)block, (int16_t)again};
    }
    if (n <= TH_OWN_STAGES_MAX)
        return 0;
    return th_error_set(err, "MAP-0791", "-stages: %d stages: must be at most %d", n,
                        TH_OWN_STAGES_MAX);
}

void th_plan_stage_word(const th_parallel_plan *p, int32_t i, char *out, size_t size)
{
    const th_own_stage *s = &p->own[i];
    int at = snprintf(out, size, "%d", s->layers);
    if (s->block != i || s->again > 0)
        at += snprintf(out + at, size - (size_t)at, "@%d", s->block);
    if (s->again > 0)
        snprintf(out + at, size - (size_t)at, "+%d", s->again);
}

/* ---- devices ---- */

static const th_accel *accel_of(const th_system *s, int32_t accel)
{
    return &s->nodes[s->accel_node[accel]].a;
}

static bool are_like(const th_accel *a, const th_accel *b)
{
    return a->designs[0] == b->designs[0] && a->dram_bytes == b->dram_bytes &&
           a->dram_bits_per_s == b->dram_bits_per_s;
}

/* The index, or n. */
static int32_t kind_of(const th_training_devices *d, const th_system *s, int32_t accel)
{
    int32_t k = 0;
    while (k < d->n && !are_like(accel_of(s, accel), accel_of(s, d->accel[k])))
        k++;
    return k;
}

int th_training_devices_of(const th_system *s, th_training_devices *out, th_error *err)
{
    th_compute_cost_cache *costs = th_compute_cost_cache_new(s, err);
    int status = costs ? 0 : -1;
    *out = (th_training_devices){.system = s};
    for (int32_t i = 0; status == 0 && i < s->n_accels; i++) {
        const th_accel *a = accel_of(s, i);
        const int32_t k = kind_of(out, s, i);
        if (k < out->n)
            continue;
        if (k == TH_DEVICE_KINDS_MAX) {
            status = th_error_set(err, "MAP-0792",
                                  "the system has more than %d kinds of accelerators: a step of "
                                  "training takes no more",
                                  TH_DEVICE_KINDS_MAX);
            break;
        }
        th_training_device *d = &out->of[k];
        out->accel[out->n++] = i;
        *d = (th_training_device){.memory_bytes = a->dram_bytes};
        status = th_compute_cost_roofline(costs, i, &d->operations_per_s, &d->bytes_per_s, err);
        if (status == 0)
            status = th_training_device_find(d, s->designs[a->designs[0]].name,
                                             th_compute_cost_device(costs, i), err);
    }
    th_compute_cost_cache_free(costs);
    return status;
}

th_training_device th_training_fastest(const th_work_context *c)
{
    th_training_device best = c->device;
    if (c->devices.n < 2)
        return best;
    best.kinds = (1u << c->devices.n) - 1;
    best.is_fastest = true;
    for (int32_t k = 0; k < c->devices.n; k++)
        best.memory_bytes = th_max(best.memory_bytes, c->devices.of[k].memory_bytes);
    return best;
}

th_training_device th_stage_device(const th_work_context *c, int32_t stage, int32_t share)
{
    const th_training_devices *d = &c->devices;
    th_training_device all = c->device;
    if (d->n < 2)
        return all;
    all.kinds = 0;
    all.is_fastest = false;
    for (int32_t rank = 0; rank < th_plan_stage_ranks(c->p) && all.kinds + 1 < 1u << d->n; rank++) {
        if (share >= 0 && th_plan_share_of(c->p, rank) != share)
            continue;
        const int32_t k = kind_of(d, d->system, th_plan_accel(c->p, stage, rank));
        const int64_t bytes = d->of[k].memory_bytes;
        all.memory_bytes = all.kinds ? th_min(all.memory_bytes, bytes) : bytes;
        all.kinds |= 1u << k;
    }
    return all;
}

const th_training_device *th_plan_unmeasured_device(const th_work_context *c)
{
    const char *precision = th_step_precisions[c->p->precision].name;
    for (int32_t k = 0; k < c->devices.n; k++)
        if (!th_generation_has_steps(c->devices.of[k].generation, precision))
            return &c->devices.of[k];
    return &c->device;
}

double th_plan_operations_per_s(const th_work_context *c)
{
    const int32_t n = th_plan_stage_ranks(c->p);
    double sum = 0;
    if (c->devices.n < 2)
        return c->device.operations_per_s;
    for (int32_t i = 0; i < n * c->p->n.pipeline; i++)
        sum += c->devices
                   .of[kind_of(&c->devices, c->devices.system, th_plan_accel(c->p, i / n, i % n))]
                   .operations_per_s;
    return sum / (n * c->p->n.pipeline);
}

/* ---- stages ---- */

bool th_plan_recomputes(const th_parallel_plan *p, const th_transformer *t, int32_t stage,
                        int32_t layer)
{
    return p->n_own > 0 && layer >= 0 &&
           layer < th_plan_layers(p, t, stage).first + p->own[stage].again;
}

th_parallel_plan th_plan_seen_from(const th_parallel_plan *p, int32_t stage)
{
    th_parallel_plan seen = *p;
    const int32_t n = seen.n_own = p->n.pipeline;
    for (int32_t i = 0; i < n && i < TH_OWN_STAGES_MAX; i++) {
        const int32_t from = (stage + i) % n;
        seen.own[i].block = (int16_t)(p->n_own > 0 ? p->own[from].block : from);
    }
    return seen;
}

bool th_plan_has_views(const th_parallel_plan *p, const th_system *s)
{
    bool differs = false;
    for (int32_t i = 0; i < p->n_own; i++)
        differs |= p->own[i].block != i;
    for (int32_t i = 1; i < s->n_accels && !differs; i++)
        differs = !are_like(accel_of(s, 0), accel_of(s, i));
    return differs && p->n.pipeline <= TH_OWN_STAGES_MAX;
}
