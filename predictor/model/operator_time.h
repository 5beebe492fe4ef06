/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operator_time.h - the time of one operation on a GPU, with its uncertainty: the question that
 * training steps, serving and users ask.
 *
 *   th_operator_time t;
 *   th_operator op = {th_op_product(4096, 8192, 28672, TH_PRECISION_BF16), TH_PHASE_EXECUTION};
 *   th_operator_predict(&t, predictor, &op, gpu, &err)      -> t.ms, t.low_ms, t.high_ms
 *
 * make_op.h has the kernels of a transformer's layer; of most, TH_PHASE_BACKWARD is asked, too.
 * By the predictor's model of the kind, phase and width where there is one; else by the law of the
 * data sheet (law.h: sheet_ms), which covers products, attention and memory-bound operations on
 * every device. A backward phase without a model follows from forward operations:
 *   products    gradients of both factors: two products of the same size
 *   attention   the law of its own
 *   rows        twice the passes of forward; an embedding the same */
#ifndef TH_PREDICTOR_MODEL_OPERATOR_TIME_H
#define TH_PREDICTOR_MODEL_OPERATOR_TIME_H
#include "predictor/model/predictor.h"
#include "predictor/op/make_op.h"

typedef struct th_operator {
    th_op op;
    th_phase phase;      /* execution (forward) or backward, kernels alone; others need a model */
    const int32_t *rows; /* of a matmul whose op.x[TH_OP_BATCH] members have unequal rows (a mixture
                            of experts): of each, 0 or more; op.x[TH_OP_ROWS] is about their mean.
                            Of attention: the keys of each sequence. NULL: all are equal */
} th_operator;

typedef struct th_operator_time {
    double ms, low_ms, high_ms;  /* 10 and 90 % of measurements lie below the last two */
    const th_layer_model *model; /* NULL: the data sheet's law */
    th_origin origin;
} th_operator_time;

/* p: NULL for the data sheet alone. 0; or -1: the device lacks the precision (err names
 * those that it has), or the operation has neither a model nor a law. */
int th_operator_predict(th_operator_time *out, const th_predictor *p, const th_operator *o,
                        const th_gpu *gpu, th_error *err);

#endif
