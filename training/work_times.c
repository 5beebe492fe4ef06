/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work_times.c - see work_times.h. */
#include <config.h>
#include <math.h>
#include "predictor/law/law.h"
#include "training/work_times.h"

static const double S_PER_MS = 1e-3;

th_op_precision th_wide_precision(const th_work_context *c)
{
    return th_step_precisions[c->p->precision].wide;
}

typedef double of_device(const th_work_context *c, const th_training_device *d, const void *what);

/* Of one device, or of the slowest or fastest of several. */
static double over_devices(const th_work_context *c, of_device *ms, const void *what)
{
    const th_training_device *d = &c->device;
    double all = d->is_fastest ? INFINITY : 0;
    if (d->kinds == 0)
        return S_PER_MS * ms(c, d, what);
    for (int32_t k = 0; k < c->devices.n; k++)
        if (d->kinds & 1u << k) {
            const double one = ms(c, &c->devices.of[k], what);
            all = d->is_fastest ? fmin(all, one) : fmax(all, one);
        }
    return S_PER_MS * all;
}

/* At the clock that a long step keeps. */
static double slowed(const th_work_context *c, const th_training_device *d, double ms)
{
    return d->keeps_clock ? ms : ms / (d->clock * c->numbers.of[TH_NUMBER_CLOCK]);
}

static double product_ms(const th_work_context *c, const th_training_device *d, const void *what)
{
    const th_product *x = what;
    return slowed(
        c, d, th_law_product_ms(&d->gpu, x->precision, x->members, x->rows, x->inner, x->columns));
}

double th_product_s(const th_work_context *c, const th_product *x)
{
    return over_devices(c, product_ms, x);
}

typedef struct {
    const th_op *op;
    th_phase phase;
} attention;

static double attention_ms(const th_work_context *c, const th_training_device *d, const void *what)
{
    const attention *x = what;
    return slowed(c, d, th_law_sheet_ms(x->op, x->phase, &d->gpu));
}

static double attention_s(const th_work_context *c, const th_op *op, bool is_backward)
{
    const attention x = {op, is_backward ? TH_PHASE_BACKWARD : TH_PHASE_EXECUTION};
    return over_devices(c, attention_ms, &x) / c->numbers.of[TH_NUMBER_ATTENTION];
}

double th_attention_besides_s(const th_work_context *c, double rows, double operations)
{
    const th_product of = {th_wide_precision(c), 1, rows, operations / 2 / rows / c->t->hidden,
                           c->t->hidden};
    return operations > 0 ? th_product_s(c, &of) / c->numbers.of[TH_NUMBER_ATTENTION] : 0;
}

double th_fused_attention_s(const th_work_context *c, const th_transformer_kind *k, double keys,
                            bool is_portable, bool is_backward)
{
    const th_parallel_plan *p = c->p;
    const int32_t width = (int32_t)ceil(th_kind_head_width(c->t, k));
    const int32_t heads = (int32_t)ceil((double)k->heads / p->n.tensor);
    const int32_t shared = (int32_t)ceil((double)k->kv_heads / p->n.tensor);
    const th_op op = {TH_OP_ATTENTION,
                      {[TH_OP_BATCH] = p->batch.micro_batch,
                       [TH_OP_ROWS] = (int32_t)ceil((double)p->batch.sequence / p->n.context),
                       [TH_OP_KEYS] = (int32_t)ceil(keys),
                       [TH_OP_HEADS] = heads,
                       [TH_OP_KV_HEADS] = shared,
                       [TH_OP_CHANNELS_IN] = width,
                       [TH_OP_CHANNELS_OUT] = width,
                       [TH_OP_PRECISION] = (int32_t)th_wide_precision(c),
                       [TH_OP_KERNEL] = is_portable ? TH_KERNEL_FLASH2 : TH_KERNEL_BEST}};
    return heads > 0 && keys > 0 ? attention_s(c, &op, is_backward) : 0;
}

typedef struct {
    th_op_kind kind;
    double bytes;
} stream;

static double stream_ms(const th_work_context *c, const th_training_device *d, const void *what)
{
    (void)c;
    const stream *x = what;
    return th_law_stream_ms(&d->gpu, x->kind, x->bytes);
}

double th_pass_s(const th_work_context *c, th_op_kind kind, double bytes)
{
    return over_devices(c, stream_ms, &(stream){kind, bytes});
}
