/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_question.h - private to the closed forms: a design with its keys, and the layer it is
 * asked for. */
#ifndef TH_TESTS_UNIT_DESIGN_QUESTION_H
#define TH_TESTS_UNIT_DESIGN_QUESTION_H
#include "sim/design/tiles.h"
#include "tests/unit/design_help.h"

/* What is asked for. */
typedef struct {
    const th_design_type *type;
    const th_design_config *config;
    const th_shard *s;
} question;

static inline int key_index(const question *q, const char *key)
{
    int i = 0;
    while (q->type->keys[i].name && strcmp(q->type->keys[i].name, key) != 0)
        i++;
    CU_ASSERT_PTR_NOT_NULL_FATAL(q->type->keys[i].name);
    return i;
}

static inline double number(const question *q, const char *key)
{
    return q->config->value[key_index(q, key)];
}

static inline int64_t whole(const question *q, const char *key)
{
    return (int64_t)number(q, key);
}

/* False: the design cannot run it. */
static inline bool scheduled(const question *q, th_schedule *out)
{
    th_error ignored;
    return q->type->schedule(q->config, q->s, &fast_memory, out, &ignored) == 0;
}

static const char *const ports[] = {"input_port", "weight_port", "output_port"};

/* Cycles that elements of a tensor take through their port; 0: no port. */
static inline double port_cycles(const question *q, th_tensor tensor, int64_t elements)
{
    double port = number(q, ports[tensor]);
    double bits = th_precision_bits((th_precision)q->s->precision[tensor]);
    return port > 0 ? 8 * (double)th_shard_bytes(q->s, tensor, elements) / bits / port : 0;
}

static inline int64_t kernel_of(const th_shard *s)
{
    return (int64_t)s->dim[TH_DIM_R] * s->dim[TH_DIM_S];
}

/* nest_forms.c: designs whose steps differ. Cycles; NAN where the form does not hold. */
double winograd_form(const question *q);
double gemv_form(const question *q);
double script_form(const question *q);

#endif
