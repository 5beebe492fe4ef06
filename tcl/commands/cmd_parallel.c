/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_parallel.c - parallel_plan: a step of training as a program; report_training. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "report/sections/sections.h"
#include "tcl/command.h"
#include "tcl/report_call.h"
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
    PLAN_ZERO_GROUP,
    PLAN_SEQUENCE_PARALLEL,
    PLAN_MICRO_BATCH,
    PLAN_GLOBAL_BATCH,
    PLAN_SCHEDULE,
    PLAN_LAYOUT,
    PLAN_OVERLAP,
    PLAN_ORDER,
    PLAN_KERNELS,
    PLAN_ATTENTION,
    PLAN_GRADIENTS,
    PLAN_FROZEN,
    PLAN_NUMBERS,
    PLAN_IGNORE_MEMORY
};

static const char *schedule_name(int i)
{
    return th_pipeline_types[i].name;
}

static const char *layout_name(int i)
{
    static const char *const names[] = {"layers", "with_embedding", NULL};
    return names[i];
}

static const char *kernels_name(int i)
{
    static const char *const names[] = {"fused", "eager", NULL};
    return names[i];
}

static const char *attention_name(int i)
{
    static const char *const names[] = {"fused", "portable", "unfused", NULL};
    return names[i];
}

static const char *gradients_name(int i)
{
    static const char *const names[] = {"fp32", "16bit", NULL};
    return names[i];
}

#define DEGREE(NAME, HELP)                                                                         \
    {                                                                                              \
        NAME, TH_OPTION_INTEGER, "N", HELP, 1, 1 << 16                                             \
    }

static const th_option plan_options[] = {
    [PLAN_TENSOR] = DEGREE("-tensor", "Ranks that share every product (1)."),
    [PLAN_PIPELINE] = DEGREE("-pipeline", "Stages (1)."),
    [PLAN_VIRTUAL] = DEGREE("-virtual", "Chunks of layers per stage (1; zbv: 2)."),
    [PLAN_CONTEXT] = DEGREE("-context", "Ranks that share every sequence (1)."),
    [PLAN_EXPERT] = DEGREE("-expert", "Ranks of a stage over which experts are spread (1)."),
    [PLAN_EXPERT_TENSOR] = DEGREE("-expert_tensor", "Ranks that share every expert (1)."),
    [PLAN_DATA] = DEGREE("-data", "Replicas of the model (what the accelerators allow)."),
    [PLAN_ZERO] = {"-zero", TH_OPTION_INTEGER, "N",
                   "What is sharded over data and context: 0 nothing (the default), 1 states of "
                   "the optimizer, 2 also gradients, 3 also weights.",
                   0, 3},
    [PLAN_ZERO_GROUP] = DEGREE("-zero_group", "Sharded over so many ranks (all of them)."),
    [PLAN_SEQUENCE_PARALLEL] = {"-sequence_parallel", TH_OPTION_FLAG, NULL,
                                "Activations outside of products are split over tensor ranks too."},
    [PLAN_MICRO_BATCH] = DEGREE("-micro_batch", "Sequences of a micro-batch of a replica (1)."),
    [PLAN_GLOBAL_BATCH] = {"-global_batch", TH_OPTION_INTEGER, "N", "Sequences of a step.", 1,
                           1 << 24, .required = true},
    [PLAN_SCHEDULE] = {"-schedule", TH_OPTION_TEXT, "NAME",
                       "Pipeline schedule, or a file with one (1f1b; with -virtual interleaved).",
                       .choice = schedule_name},
    [PLAN_LAYOUT] = {"-layout", TH_OPTION_CHOICE, "WHAT",
                     "What is cut into equal chunks: layers (the default), or embedding and output "
                     "layer as one layer each too.",
                     .choice = layout_name},
    [PLAN_OVERLAP] = {"-overlap", TH_OPTION_TEXT, "LIST",
                      "Which messages overlap computation: data, tensor (none). Those of context "
                      "and pipeline do."},
    [PLAN_ORDER] = {"-order", TH_OPTION_TEXT, "LIST",
                    "Ranks onto accelerators, neighbours first ({tensor context data pipeline})."},
    [PLAN_KERNELS] = {"-kernels", TH_OPTION_CHOICE, "KIND",
                      "fused (the default), or eager: every elementwise operation is a pass over "
                      "memory.",
                      .choice = kernels_name},
    [PLAN_ATTENTION] =
        {"-attention", TH_OPTION_CHOICE, "KIND",
         "fused (the default): the vendor's kernels; portable: FlashAttention or Triton; "
         "unfused: scores are written to memory.",
         .choice = attention_name},
    [PLAN_GRADIENTS] = {"-gradients", TH_OPTION_CHOICE, "P",
                        "Gradients are added in fp32 (the default) or 16bit.",
                        .choice = gradients_name},
    [PLAN_FROZEN] = {"-frozen", TH_OPTION_FLAG, NULL,
                     "Weights are frozen, and small adapters trained (LoRA)."},
    [PLAN_NUMBERS] = {"-numbers", TH_OPTION_TEXT, "{NAME X ...}",
                      "Other fitted numbers than the shipped ones (docs/models/training.md)."},
    [PLAN_IGNORE_MEMORY] = {"-ignore_memory", TH_OPTION_FLAG, NULL,
                            "Simulates what does not fit into memory too."},
    {.name = NULL},
};

/* ---- options ---- */

static int32_t degree(const th_call *c, int option, int32_t otherwise)
{
    return (int32_t)th_call_number(c, option, otherwise);
}

static void parse_degrees(const th_call *c, th_degrees *n)
{
    *n = (th_degrees){.tensor = degree(c, PLAN_TENSOR, 1),
                      .pipeline = degree(c, PLAN_PIPELINE, 1),
                      .context = degree(c, PLAN_CONTEXT, 1),
                      .expert = degree(c, PLAN_EXPERT, 1),
                      .expert_tensor = degree(c, PLAN_EXPERT_TENSOR, 1),
                      .zero = degree(c, PLAN_ZERO, 0)};
    int64_t others = (int64_t)n->tensor * n->pipeline * n->context;
    int64_t rest = c->session->system->n_accels / others;
    n->data = degree(c, PLAN_DATA, rest > 0 ? (int32_t)rest : 1);
    int64_t all = (int64_t)n->data * n->context;
    n->zero_group = degree(c, PLAN_ZERO_GROUP, all < INT32_MAX ? (int32_t)all : INT32_MAX);
}

/* The position of a word in a list of names that ends in NULL; -1: it is none of them. */
static int position(const char *const *names, const char *word)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return -1;
}

static int parse_order(th_call *c, th_parallel_plan *p)
{
    Tcl_Obj **words;
    Tcl_Size n;
    for (int i = 0; i < TH_N_AXES; i++)
        p->order[i] = i;
    if (!th_call_has(c, PLAN_ORDER))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[PLAN_ORDER].word, &n, &words) != TCL_OK ||
        n != TH_N_AXES)
        return th_error_set(&c->err, "TCL-0920",
                            "-order \"%.100s\": a list of tensor, context, "
                            "data and pipeline was expected",
                            th_call_text(c, PLAN_ORDER, ""));
    for (int i = 0; i < TH_N_AXES; i++) {
        p->order[i] = position(th_axis_names, Tcl_GetString(words[i]));
        if (p->order[i] < 0)
            return th_error_unknown(&c->err, "TCL-0921", "-order", Tcl_GetString(words[i]),
                                    th_axis_names);
    }
    return 0;
}

static int parse_overlap(th_call *c, th_parallel_plan *p)
{
    static const char *const names[] = {"data", "tensor", NULL};
    Tcl_Obj **words;
    Tcl_Size n = 0;
    if (th_call_has(c, PLAN_OVERLAP) &&
        Tcl_ListObjGetElements(c->interp, c->option[PLAN_OVERLAP].word, &n, &words) != TCL_OK)
        return -1;
    for (Tcl_Size i = 0; i < n; i++) {
        int at = position(names, Tcl_GetString(words[i]));
        if (at < 0)
            return th_error_unknown(&c->err, "TCL-0922", "-overlap", Tcl_GetString(words[i]),
                                    names);
        p->overlaps_data |= at == 0;
        p->overlaps_tensor |= at == 1;
    }
    return 0;
}

static int parse_numbers(th_call *c, th_training_numbers *out)
{
    const char *names[TH_N_NUMBERS + 1] = {NULL};
    Tcl_Obj **words;
    Tcl_Size n = 0;
    *out = th_training_numbers_shipped();
    for (int i = 0; i < TH_N_NUMBERS; i++)
        names[i] = th_number_meanings[i].name;
    if (th_call_has(c, PLAN_NUMBERS) &&
        (Tcl_ListObjGetElements(NULL, c->option[PLAN_NUMBERS].word, &n, &words) != TCL_OK ||
         n % 2 != 0))
        return th_error_set(&c->err, "TCL-0923", "-numbers \"%.100s\": a list of names and numbers",
                            th_call_text(c, PLAN_NUMBERS, ""));
    for (Tcl_Size i = 0; i < n; i += 2) {
        int at = position(names, Tcl_GetString(words[i]));
        double x;
        if (at < 0)
            return th_error_unknown(&c->err, "TCL-0924", "-numbers", Tcl_GetString(words[i]),
                                    names);
        if (Tcl_GetDoubleFromObj(NULL, words[i + 1], &x) != TCL_OK || !(x >= 0) || x > 1e3)
            return th_error_set(&c->err, "TCL-0925", "-numbers %s \"%s\": a number from 0 to 1000",
                                names[at], Tcl_GetString(words[i + 1]));
        out->of[at] = x;
    }
    return 0;
}

static int parse_plan(th_call *c, th_parallel_plan *p)
{
    const th_session_model *m = &c->session->model;
    *p = (th_parallel_plan){.batch = {.sequence = m->sequence,
                                      .micro_batch = degree(c, PLAN_MICRO_BATCH, 1),
                                      .global_batch = degree(c, PLAN_GLOBAL_BATCH, 1)},
                            .recompute = m->recompute,
                            .precision = m->precision,
                            .sequence_parallel = th_call_has(c, PLAN_SEQUENCE_PARALLEL),
                            .embedding_is_layer = th_call_number(c, PLAN_LAYOUT, 0) == 1,
                            .has_fused_kernels = th_call_number(c, PLAN_KERNELS, 0) == 0,
                            .attention = (th_attention)th_call_number(c, PLAN_ATTENTION, 0),
                            .frozen_weights = th_call_has(c, PLAN_FROZEN),
                            .gradient_bytes = th_call_number(c, PLAN_GRADIENTS, 0) == 0 ? 4 : 2,
                            .expert_skew = m->expert_skew};
    parse_degrees(c, &p->n);
    const char *schedule =
        th_call_text(c, PLAN_SCHEDULE, degree(c, PLAN_VIRTUAL, 1) > 1 ? "interleaved" : "1f1b");
    p->schedule = th_pipeline_find(schedule);
    p->schedule_file = p->schedule ? NULL : schedule;
    p->n.chunks = degree(c, PLAN_VIRTUAL, p->schedule && p->schedule->is_v ? 2 : 1);
    return parse_order(c, p) || parse_overlap(c, p) ? -1 : 0;
}

/* ---- the program ---- */

static int make_schedule(const th_parallel_plan *p, th_pipeline_schedule *out, th_error *err)
{
    th_pipeline_shape shape = {p->n.pipeline, p->n.chunks, th_plan_micro_batches(p)};
    if (p->schedule)
        return th_pipeline_make(p->schedule, &shape, out, err);
    if (th_pipeline_read(p->schedule_file, out, err))
        return -1;
    if (memcmp(&out->shape, &shape, sizeof shape) == 0)
        return 0;
    th_error_set(err, "TCL-0926",
                 "-schedule %s: %d stages, %d chunks and %d micro-batches: the plan has %d, %d and "
                 "%d",
                 p->schedule_file, (int)out->shape.stages, (int)out->shape.chunks,
                 (int)out->shape.micro_batches, (int)shape.stages, (int)shape.chunks,
                 (int)shape.micro_batches);
    th_pipeline_clear(out);
    return -1;
}

static int need_model(th_call *c)
{
    if (th_session_need_system(c->session, &c->err) != 0 ||
        th_session_need_no_trace(c->session, &c->err) != 0)
        return -1;
    if (c->session->model.name[0])
        return 0;
    return th_error_set(&c->err, "TCL-0927", "no language model: create_transformer makes one");
}

static int run_parallel_plan(th_call *c)
{
    th_session *s = c->session;
    th_parallel_plan plan;
    th_pipeline_schedule schedule;
    th_work_context work = {.t = &s->model.shape, .p = &plan};
    if (need_model(c) || parse_plan(c, &plan) || parse_numbers(c, &work.numbers) ||
        th_plan_check(&plan, &s->model.shape, s->system->n_accels, &c->err) ||
        th_training_device_of(s->system, &work.device, &c->err) ||
        make_schedule(&plan, &schedule, &c->err))
        return -1;
    th_hand_built *made = NULL;
    if (th_call_has(c, PLAN_IGNORE_MEMORY) || !th_plan_memory_check(&work, &schedule, &c->err))
        made = th_hand_built_of_step(s->model.name, s->system, &work, &schedule, &c->err);
    th_pipeline_clear(&schedule);
    if (!made)
        return -1;
    th_session_set_hand_built(s, made);
    th_call_return_text(c, made->name);
    return 0;
}

/* ---- report_training ---- */

static const th_option record_options[] = {RECORD_OPTIONS, {.name = NULL}};

static int run_report_training(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (!s->hand_built || !s->hand_built->step)
        return th_error_set(&c->err, "TCL-0928",
                            "what ran is no step of training: parallel_plan "
                            "makes one");
    return th_report_run(c, "training", "Training step", th_section_training, false);
}

const th_command th_parallel_commands[] = {
    {"parallel_plan", "program", "", 0, 0, plan_options,
     "make a step of training under a plan the program",
     "Needs a system and create_transformer. Ranks that do the same at the same time are simulated "
     "once. What does not divide, fit or suffice is refused, with the number to change. Returns "
     "the name of the model.",
     .run = run_parallel_plan, .not_while_running = true},
    {"report_training", "report", "", 0, 0, record_options,
     "print step time, utilization and exposed messages",
     "Of the stage that ends last; exposed communication is the time in which its accelerator "
     "waits for messages of each kind.",
     .run = run_report_training, .is_report = true},
    {.name = NULL},
};
