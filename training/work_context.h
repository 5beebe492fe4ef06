/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work_context.h - what the work of a step depends on. */
#ifndef TH_TRAINING_WORK_CONTEXT_H
#define TH_TRAINING_WORK_CONTEXT_H
#include "training/parallel_plan.h"
#include "training/training_device.h"
#include "training/training_numbers.h"

typedef struct th_work_context {
    const th_transformer *t;
    const th_parallel_plan *p;
    th_training_device device;
    th_training_devices devices;
    th_training_numbers numbers;
    struct th_collective_memo *memo; /* of plans on the same system; NULL: none */
} th_work_context;

#endif
