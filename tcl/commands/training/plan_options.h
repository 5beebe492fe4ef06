/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_options.h - what parallel_plan and search_plan share: options that say how the software is
 * and what a step does, by the same places in the tables of both.
 *   parse_shared -> (the degrees) -> make */
#ifndef TH_TCL_COMMANDS_PLAN_OPTIONS_H
#define TH_TCL_COMMANDS_PLAN_OPTIONS_H
#include "tcl/command.h"
#include "tcl/tcl_session.h"

enum {
    PLAN_TENSOR,
    PLAN_PIPELINE,
    PLAN_VIRTUAL,
    PLAN_CONTEXT,
    PLAN_EXPERT,
    PLAN_EXPERT_TENSOR,
    PLAN_DATA,
    PLAN_ZERO,
    PLAN_SEQUENCE_PARALLEL,
    PLAN_MICRO_BATCH,
    PLAN_RECOMPUTE,
    PLAN_SCHEDULE,
    PLAN_GLOBAL_BATCH, /* the first of those that are shared */
    PLAN_LAYOUT,
    PLAN_OVERLAP,
    PLAN_ORDER,
    PLAN_EXPERT_EXCHANGE,
    PLAN_KERNELS,
    PLAN_ATTENTION,
    PLAN_LAUNCH,
    PLAN_SOFTWARE,
    PLAN_GRADIENTS,
    PLAN_FROZEN,
    PLAN_NUMBERS,
    PLAN_N_SHARED
};

const char *th_plan_fitted_name(int i); /* of a number; NULL after the last */
const char *th_plan_schedule_name(int i);

/* clang-format off */
#define TH_PLAN_SHARED_OPTIONS                                                                     \
    [PLAN_GLOBAL_BATCH] = {"-global_batch", TH_OPTION_INTEGER, "N", "Sequences of a step.", 1,     \
                           1 << 24, .required = true},                                             \
    [PLAN_LAYOUT] = {"-layout", TH_OPTION_CHOICE, "WHAT",                                          \
                     "What is cut into equal chunks: layers (the default), or embedding and "      \
                     "output "                                                                     \
                     "layer as one layer each too; uneven: the last chunks have one layer less "   \
                     "where the layers do not divide.",                                            \
                     .names = th_plan_layout_names},                                               \
    [PLAN_OVERLAP] =                                                                               \
        {"-overlap", TH_OPTION_CHOICE, "LIST", .names = th_plan_overlap_names, .most = TH_MANY,    \
         .help = "Which messages overlap computation: data, tensor, pipeline (none). Those of "    \
                 "context do. A stage whose pipeline messages do not waits for what it "           \
                 "sends and receives."},                                                           \
    [PLAN_ORDER] =                                                                                 \
        {"-order", TH_OPTION_TEXT, "LIST", .least = 1, .most = TH_N_AXES + 1,                      \
         .help =                                                                                   \
             "Ranks onto accelerators, neighbours first ({tensor context expert data pipeline}). " \
             "Ranks of experts are neighbours, or far apart where expert is behind data."},        \
    [PLAN_EXPERT_EXCHANGE] =                                                                       \
        {"-expert_exchange", TH_OPTION_CHOICE, "HOW",                                              \
         "Tokens go to their experts direct (the default), from rank to rank, or by_node: to "     \
         "another node once, while the ranks of a node pass on what has come.",                    \
         .names = th_plan_exchange_names},                                                         \
    [PLAN_KERNELS] = {"-kernels", TH_OPTION_CHOICE, "KIND",                                        \
                      "fused (the default), or eager: every elementwise operation is a pass over " \
                      "memory.",                                                                   \
                      .names = th_plan_kernel_names},                                              \
    [PLAN_ATTENTION] =                                                                             \
        {"-attention", TH_OPTION_CHOICE, "KIND",                                                   \
         "fused (the default): the vendor's kernels; portable: FlashAttention or Triton; "         \
         "unfused: scores are written to memory; fused_softmax: they are, and one kernel masks "   \
         "and "                                                                                    \
         "normalizes them where it takes their shape.",                                            \
         .names = th_plan_attention_names},                                                        \
    [PLAN_LAUNCH] =                                                                                \
        {"-launch", TH_OPTION_CHOICE, "HOW",                                                       \
         "How the host launches kernels: one by one from python or from compiled code, or as a "   \
         "graph, in host_python, host_kernel or host_graph of -numbers each; auto (the default): " \
         "eager kernels from Python, fused ones from compiled code.",                              \
         .names = th_plan_launch_names},                                                           \
    [PLAN_SOFTWARE] = {"-software", TH_OPTION_CHOICE, "YEAR",                                      \
                       "Releases of a year, for what is not said of -kernels, -attention, "        \
                       "-launch and -overlap, in this order: 2022 eager, fused_softmax, python, "  \
                       "none; 2024 fused, portable, compiled, {data}; 2026 fused, fused, graph, "  \
                       "{data tensor pipeline} (docs/models/training.md says why).",               \
                       .names = th_software_names},                                                \
    [PLAN_GRADIENTS] = {"-gradients", TH_OPTION_CHOICE, "P",                                       \
                        "Gradients are added in fp32 (the default) or 16bit.",                     \
                        .names = th_plan_gradient_names},                                          \
    [PLAN_FROZEN] = {"-frozen", TH_OPTION_FLAG, NULL,                                              \
                     "Weights are frozen, and small adapters trained (LoRA)."},                    \
    [PLAN_NUMBERS] = {"-numbers", TH_OPTION_NUMBER, "{NAME X ...}",                                \
                  .choice = th_plan_fitted_name,                                                   \
                      .high = TH_NUMBER_MAX, .most = TH_MANY, .is_pairs = true,                    \
                      .help =                                                                      \
                          "Other fitted numbers than the shipped ones (docs/models/training.md)."}
/* clang-format on */

int th_call_need_model(th_call *c); /* 0, or -1: create_transformer was not called */
/* What these options and the model say of a plan and its numbers. 0 or -1. */
int th_call_parse_plan(th_call *c, th_plan_file *f);
/* Are the accelerators known to do the products of the plan? *out: what work is on them. 0 or
 * -1. */
int th_call_plan_work(th_call *c, const th_plan_file *f, th_work_context *out);
/* The step under the plan becomes the session's program, which takes over f. 0 or -1. */
int th_call_make_plan(th_call *c, th_plan_file *f);

#endif
