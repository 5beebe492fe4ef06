/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work_times.c - see work_times.h. */
#include <config.h>
#include <math.h>
#include "predictor/law/law.h"
#include "training/work_times.h"

static const double S_PER_MS = 1e-3;

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

double th_attention_s(const th_work_context *c, const th_op *op, bool is_backward)
{
    const attention x = {op, is_backward ? TH_PHASE_BACKWARD : TH_PHASE_EXECUTION};
    return over_devices(c, attention_ms, &x) / c->numbers.of[TH_NUMBER_ATTENTION];
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
