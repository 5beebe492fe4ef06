/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law.h - the additive time law: the time of an operation as a sum of terms with weights >= 0.
 *
 *   ms(op, gpu) = sum of weight[i] * amount_i(op, gpu)
 * An amount is the time of a part of the work at the peak of the data sheet (bytes / bandwidth,
 * operations / peak), or 1 for the work of the host; so a weight is 1 / efficiency, and comparable
 * between devices. Weights are fitted by non-negative least squares on the relative error
 * (law_fit.c). docs/models/time_law.md lists the terms and their reasons. */
#ifndef TH_PREDICTOR_LAW_LAW_H
#define TH_PREDICTOR_LAW_LAW_H
#include <stdbool.h>
#include <stdint.h>

#include "predictor/data/gpu.h"
#include "predictor/op/op.h"

enum { TH_TERMS_MAX = 128, TH_TERM_NAME_MAX = 32, TH_TERM_GROUPS_MAX = 48 };

/* What an amount is counted in. */
typedef enum {
    TH_TERM_HOST,      /* calls, 1 ms each */
    TH_TERM_STEP,      /* serial steps on the device, 1 ms each */
    TH_TERM_TRANSFER,  /* bytes between host and device, at 10 GB/s */
    TH_TERM_MEMORY,    /* bytes at the device's bandwidth */
    TH_TERM_LAYOUT,    /* likewise; includes a change of the tensor's layout */
    TH_TERM_PASS,      /* likewise; a kernel of its own reads the tensor and writes it back */
    TH_TERM_COMPUTE,   /* operations at the device's peak */
    TH_TERM_THROTTLED, /* likewise: what a clock throttled in long runs adds to them */
    TH_N_TERM_CLASSES
} th_term_class;

typedef struct th_terms {
    int n;
    double amount[TH_TERMS_MAX]; /* ms */
    int16_t class[TH_TERMS_MAX]; /* th_term_class; 0 of terms that were left out */
    int16_t group[TH_TERMS_MAX]; /* whose share of the law is one feature: features.h */
    int n_groups;
    int n_active, active[TH_TERMS_MAX]; /* the terms whose amounts are not 0, in their order */
    th_op_sizes sizes;                  /* of the operation */
    double sheet_ms;                    /* private: th_law_sheet_ms */
    char (*name)[TH_TERM_NAME_MAX];     /* NULL: not wanted */
    const double *ms_per;               /* private: by class */
    int current_group;                  /* private: of new terms */
} th_terms;

/* Fills *out; the number and order of the terms depend on kind and phase alone. names: NULL, or
 * room for TH_TERMS_MAX. */
void th_law_terms(const th_op *op, th_phase phase, const th_gpu *gpu,
                  char (*names)[TH_TERM_NAME_MAX], th_terms *out);

/* ms by the data sheet alone, without any measurement: products, attention, memory-bound
 * operations, of any precision; a convolution as the product of its windows, and pooling, at less
 * than single precision. 0: no law covers it. */
double th_law_sheet_ms(const th_op *op, th_phase phase, const th_gpu *gpu);

/* ms below which no kernel gets on that device: operations at the peak of the data sheet (of a
 * convolution of single precision, whose kernel is no point, the quarter that F(4 x 4, 3 x 3)
 * leaves: Lavin and Gray, 2016), and operands and results, less what the cache holds, at the
 * memory's bandwidth. 0 of phases that run no kernel. */
double th_law_least_ms(const th_op *op, th_phase phase, const th_gpu *gpu);

static inline double th_law_ms(const th_terms *t, const double *weight)
{
    double ms = 0;
    for (int i = 0; i < t->n_active; i++)
        ms += t->amount[t->active[i]] * weight[t->active[i]];
    return ms;
}

/* The same by class of terms, into part[TH_N_TERM_CLASSES]. */
double th_law_parts(const th_terms *t, const double *weight, double *part);

/* ms by the data sheet of a product (matmul) whose members have rows[] rows each, of which
 * op->x[TH_OP_ROWS] is about the mean. */
double th_law_grouped_ms(const th_op *op, const int32_t *rows, const th_gpu *gpu);

/* The same without the kernel's start and the cast of the first factor. */
double th_law_grouped_work_ms(const th_op *op, const int32_t *rows, const th_gpu *gpu);

/* ms by the data sheet of members products of rows x inner by inner x columns, whose operands are
 * there in the precision. */
double th_law_product_ms(const th_gpu *gpu, th_op_precision precision, double members, double rows,
                         double inner, double columns);

/* Has it few large cores of one clock (TPUs), not a boost clock that power and heat lower? */
bool th_law_keeps_clock(const th_gpu *gpu);

/* ms of streaming so many bytes from memory and to it, far more than a cache holds, as
 * operations of a kind do that is bound by memory. */
double th_law_stream_ms(const th_gpu *gpu, th_op_kind kind, double bytes);

/* The time of unequal members over that of as many equal ones, which op holds (op/members.h): of a
 * product by its tiles; of attention, whose blocks take the mean, by the longest sequence alone
 * where that takes longer. */
double th_law_unequal(const th_op *op, const int32_t *member, th_phase phase, const th_gpu *gpu);

/* What fits n rows best by relative error: amounts by row and term (n x n_terms), times in ms. Rows
 * that no law can know (outliers) count less from pass to pass. 0, or -1: memory is out. */
int th_law_fit(const double *amounts, const double *ms, size_t n, int n_terms, double *weight);

/* Machine balance: operations per byte at the data sheet's peaks. */
static inline double th_gpu_balance(const th_gpu *gpu)
{
    return gpu->x[TH_GPU_PEAK] / gpu->x[TH_GPU_BANDWIDTH];
}

/* Does the GPU lower its clock in long runs? Cards above 24 operations per byte do: those of one
 * slot and 70 W (P4, T4, L4) and those with doubled single-precision units. Cards up to 24 reach
 * their peak in long runs (1080 Ti 23.4, P1000 23.6, V100 15.7, A100 12.5, H100 19.5). */
static inline bool th_gpu_throttles(const th_gpu *gpu)
{
    static const double OPERATIONS_PER_BYTE = 24;
    return th_gpu_balance(gpu) > OPERATIONS_PER_BYTE;
}

/* Private to the laws. */
typedef struct th_product_shape {
    double members, rows, inner, columns; /* rows: of a member, where all are equal */
    const int32_t *unequal;               /* rows of each member; NULL: all are equal */
} th_product_shape;

/* Of a convolution: windows times filters. */
static inline th_product_shape th_product_shape_of(const th_op *op)
{
    if (op->kind == TH_OP_CONV)
        return (th_product_shape){1, (double)op->x[TH_OP_BATCH] * th_op_out_h(op) * th_op_out_w(op),
                                  (double)op->x[TH_OP_CHANNELS_IN] * op->x[TH_OP_KERNEL_H] *
                                      op->x[TH_OP_KERNEL_W],
                                  op->x[TH_OP_CHANNELS_OUT], NULL};
    bool is_dense = op->kind == TH_OP_DENSE;
    return (th_product_shape){is_dense ? 1 : op->x[TH_OP_BATCH],
                              is_dense ? op->x[TH_OP_BATCH] : op->x[TH_OP_ROWS],
                              op->x[TH_OP_CHANNELS_IN], op->x[TH_OP_CHANNELS_OUT], NULL};
}

static inline void th_terms_begin_group(th_terms *t)
{
    t->current_group = t->n_groups++;
}

void th_terms_name(th_terms *t, int i, const char *name, int a, int b);

/* Adds a term to the group begun last. */
static inline void th_terms_add(th_terms *t, th_term_class class, double amount, const char *name,
                                int a, int b)
{
    int i = t->n++;
    t->amount[i] = amount * t->ms_per[class];
    t->class[i] = (int16_t) class;
    t->group[i] = (int16_t)t->current_group;
    t->active[t->n_active] = i;
    t->n_active += amount != 0;
    if (t->name)
        th_terms_name(t, i, name, a, b);
}

/* A term that is a group of its own. */
static inline void th_terms_one(th_terms *t, th_term_class class, double amount, const char *name)
{
    th_terms_begin_group(t);
    th_terms_add(t, class, amount, name, 0, 0);
}

/* Of a step: the call of each optimizer, and what it moves of the weights. */
void th_terms_optimizers(th_terms *t, const th_op *op, th_phase phase, double weights);

/* Leaves out n terms whose amounts are 0. false: their names are wanted. */
static inline bool th_terms_skip(th_terms *t, int n)
{
    if (t->name)
        return false;
    for (int i = 0; i < n; i++, t->n++) {
        t->amount[t->n] = 0;
        t->class[t->n] = 0;
    }
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

void th_law_conv(const th_op *op, th_phase phase, th_terms *t);
void th_law_pooling(const th_op *op, th_terms *t);
void th_law_matrix(const th_op *op, th_phase phase, const th_gpu *gpu,
                   th_terms *t); /* dense, matmul */
/* elementwise, norm, softmax ... of single precision */
void th_law_rows(const th_op *op, const th_gpu *gpu, th_terms *t);
void th_law_product(const th_op *op, const th_gpu *gpu, th_terms *t); /* on tensor cores */
void th_law_passes(const th_op *op, const th_gpu *gpu, th_terms *t);  /* narrow rows */
/* Fitted weights of narrow elementwise operations: those of functions that were not measured, all
 * of whose weights are 0, become those of the data sheet's law. */
void th_law_passes_complete(double *weight);
void th_law_experts(const th_op *op, const th_gpu *gpu, th_terms *t);
void th_law_attention(const th_op *op, th_phase phase, const th_gpu *gpu, th_terms *t);

/* 0, or -1: the attention names a kernel that the GPU's tensor cores cannot run. */
int th_law_check_kernel(const th_op *op, const th_gpu *gpu, th_error *err);

#endif
