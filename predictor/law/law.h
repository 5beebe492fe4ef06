/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law.h - the additive time law: what an operation costs, as a sum of terms with weights >= 0.
 *
 *   ms(op, gpu) = sum of weight[i] * amount_i(op, gpu)
 * An amount is the time that a part of the work takes at the data sheet's peak (bytes / bandwidth,
 * operations / peak), or one for what the host does; so a weight is 1 / efficiency, and comparable
 * between devices. Weights are fitted by non-negative least squares on the relative error
 * (law_fit.c). Which terms there are, and why: docs/models/time_law.md. */
#ifndef TH_PREDICTOR_LAW_LAW_H
#define TH_PREDICTOR_LAW_LAW_H
#include <stdbool.h>
#include <stdint.h>

#include "predictor/data/gpu.h"
#include "predictor/op/op.h"

enum { TH_TERMS_MAX = 128, TH_TERM_NAME_MAX = 32, TH_SHARES_MAX = 48 };

/* What an amount is counted in. */
typedef enum {
    TH_TERM_HOST,     /* calls, 1 ms each */
    TH_TERM_STEP,     /* what the device does one after the other, 1 ms each */
    TH_TERM_TRANSFER, /* bytes between host and device, at 10 GB/s */
    TH_TERM_MEMORY,   /* bytes at the device's bandwidth */
    TH_TERM_LAYOUT,   /* likewise, and a change of the tensor's layout is in it */
    TH_TERM_PASS, /* likewise, of a tensor that is read and written back by a kernel of its own */
    TH_TERM_COMPUTE, /* operations at the device's peak */
    TH_TERM_SLOWED,  /* likewise: what a clock that falls in long runs adds to them */
    TH_N_TERM_CLASSES
} th_term_class;

typedef struct th_terms {
    int n;
    double amount[TH_TERMS_MAX]; /* ms */
    /* Not bytes: these may alias the counters, which would be read again for each term. */
    int16_t class[TH_TERMS_MAX]; /* th_term_class; 0 of terms that were left out */
    int16_t
        share[TH_TERMS_MAX]; /* terms that a feature sums up: features.h; 0 .. TH_SHARES_MAX - 1 */
    int n_shares;
    int n_places, place[TH_TERMS_MAX]; /* of the amounts that are not 0, in their order */
    th_op_sizes sizes;                 /* of the operation */
    char (*name)[TH_TERM_NAME_MAX];    /* NULL: not wanted */
    const double *ms_per;              /* private: by class */
    int now;                           /* private: the share that new terms are counted to */
} th_terms;

/* Fills *out; the number and order of the terms depend on kind and phase alone. names: NULL, or
 * room for TH_TERMS_MAX. */
void th_law_terms(const th_op *op, th_phase phase, const th_gpu *gpu,
                  char (*names)[TH_TERM_NAME_MAX], th_terms *out);

static inline double th_law_ms(const th_terms *t, const double *weight)
{
    double ms = 0;
    for (int i = 0; i < t->n_places; i++)
        ms += t->amount[t->place[i]] * weight[t->place[i]];
    return ms;
}

/* What fits n rows best by relative error: amounts by row and term (n x n_terms), times in ms. Rows
 * that no law can know (outliers) count less from pass to pass. 0, or -1: memory is out. */
int th_law_fit(const double *amounts, const double *ms, size_t n, int n_terms, double *weight);

/* Has more operations than its memory and its power feed? Cards of one slot and 70 W (P4, T4, L4)
 * and those with doubled single-precision units: their data sheets say above 24 operations per
 * byte, while those that reach their peak in long runs say up to 24 (1080 Ti 23.4, P1000 23.6,
 * V100 15.7, A100 12.5, H100 19.5). */
static inline double th_gpu_balance(const th_gpu *gpu)
{
    return gpu->x[TH_GPU_PEAK] / gpu->x[TH_GPU_BANDWIDTH];
}

static inline bool th_law_is_starved(const th_gpu *gpu)
{
    static const double OPERATIONS_PER_BYTE = 24;
    return th_gpu_balance(gpu) > OPERATIONS_PER_BYTE;
}

/* Private to the laws. */
static inline void th_terms_share(th_terms *t)
{
    t->now = t->n_shares++;
}

void th_terms_name(th_terms *t, int i, const char *name, int a, int b, int c);

/* Adds a term to the share begun last. */
static inline void th_terms_add(th_terms *t, th_term_class class, double amount, const char *name,
                                int a, int b, int c)
{
    int i = t->n++;
    t->amount[i] = amount * t->ms_per[class];
    t->class[i] = (int16_t) class;
    t->share[i] = (int16_t)t->now;
    t->place[t->n_places] = i;
    t->n_places += amount != 0;
    if (t->name)
        th_terms_name(t, i, name, a, b, c);
}

/* Leaves out n terms whose amounts are 0. false: somebody wants to know their names. */
static inline bool th_terms_skip(th_terms *t, int n)
{
    if (t->name)
        return false;
    t->n += n;
    return true;
}

/* The least whole number that is not below x >= 0, without a call. */
static inline double th_law_ceil(double x)
{
    static const double EXACT = 0x1p52;
    if (!(x < EXACT))
        return x;
    double below = (double)(int64_t)x;
    return below < x ? below + 1 : below;
}

void th_law_conv(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t);
void th_law_pooling(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t);
void th_law_matrix(const th_op *op, th_phase phase, const th_gpu *gpu,
                   th_terms *t); /* dense, matmul */
void th_law_rows(const th_op *op, th_phase phase, const th_gpu *gpu,
                 th_terms *t); /* elementwise, norm, softmax */

#endif
