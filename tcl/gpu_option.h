/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_option.h - the GPU that an option names. */
#ifndef TH_TCL_GPU_OPTION_H
#define TH_TCL_GPU_OPTION_H
#include "session/gpu_models.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"

/* Descriptions of GPUs that come with Tharsis, read when first asked for. 0 or -1. */
int th_gpu_option_need_gpus(th_session *s, th_error *err);
/* The GPU of that name, as described or as the predictor (may be NULL) knows it. NULL with near
 * misses; option names the option in the message. */
const th_gpu *th_gpu_option_find(th_session *s, const char *option, const char *name,
                                 th_error *err);
/* Words of an option: kinds of layers, phases; NULL behind the last. */
const char *th_gpu_option_kind(int i);
const char *th_gpu_option_phase(int i);
/* Warns that no measurements are behind times of the operation's kind and width: once for a
 * predictor and a kind, as a script asks for hundreds. */
void th_gpu_option_warn_of_sheet(th_call *c, const th_op *op, th_phase phase);

/* Says that a smaller batch is predicted to take longer, which it does on no GPU, where that is by
 * more than the model's error. */
void th_gpu_option_warn_of_fewer(th_call *c, int32_t fewer, th_time longer, int32_t batch,
                                 th_time time);

#endif
