/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_parallel.c - parallel_plan: a step of training as a program; report_training. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "session/sections/sections.h"
#include "tcl/command.h"
#include "tcl/commands/training/plan_options.h"
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"
#include "training/plan_stages.h"

enum { PLAN_ZERO_GROUP = PLAN_N_SHARED, PLAN_STAGES, PLAN_SHARES, PLAN_IGNORE_MEMORY, PLAN_MERGE };

const char *th_plan_schedule_name(int i)
{
    return th_pipeline_types[i].name;
}

const char *th_plan_fitted_name(int i)
{
    return i < TH_N_NUMBERS ? th_number_meanings[i].name : NULL;
}

#define DEGREE(NAME, HELP)                                                                         \
    {                                                                                              \
        NAME, TH_OPTION_INTEGER, "N", HELP, 1, 1 << 16                                             \
    }

static const th_option plan_options[] = {
    [PLAN_TENSOR] = DEGREE("-tensor", "Ranks that share every product (1)."),
    [PLAN_PIPELINE] = DEGREE("-pipeline", "Stages (1)."),
    [PLAN_VIRTUAL] = DEGREE("-virtual", "Chunks of layers per stage (1; zbv, dualpipe_v: 2)."),
    [PLAN_CONTEXT] = DEGREE("-context", "Ranks that share every sequence (1)."),
    [PLAN_EXPERT] = DEGREE("-expert", "Ranks of a stage over which experts are spread (1)."),
    [PLAN_EXPERT_TENSOR] = DEGREE("-expert_tensor", "Ranks that share every expert (1)."),
    [PLAN_DATA] = DEGREE("-data", "Replicas of the model (what the accelerators allow)."),
    [PLAN_ZERO] = {"-zero", TH_OPTION_INTEGER, "N",
                   "What is sharded over data and context: 0 nothing (the default), 1 states of "
                   "the optimizer, 2 also gradients, 3 also weights.",
                   0, 3},
    [PLAN_SEQUENCE_PARALLEL] = {"-sequence_parallel", TH_OPTION_FLAG, NULL,
                                "Activations outside of products are split over tensor ranks too."},
    [PLAN_MICRO_BATCH] = DEGREE("-micro_batch", "Sequences of a micro-batch of a replica (1)."),
    [PLAN_RECOMPUTE] = {"-recompute", TH_OPTION_CHOICE, "WHAT",
                        "What the backward operation computes again: none, selective, needed or "
                        "full, as of create_transformer (what that says).",
                        .names = th_plan_recompute_names},
    [PLAN_SCHEDULE] = {"-schedule", TH_OPTION_FILE, "NAME",
                       "Pipeline schedule, or a file with one (1f1b; with -virtual interleaved).",
                       .choice = th_plan_schedule_name},
    TH_PLAN_SHARED_OPTIONS,
    [PLAN_ZERO_GROUP] = DEGREE("-zero_group", "Sharded over so many ranks (all of them)."),
    [PLAN_STAGES] =
        {"-stages", TH_OPTION_TEXT, "LIST", .least = 1, .most = TH_MANY,
         .help = "Of each stage LAYERS, LAYERS@BLOCK or LAYERS@BLOCK+AGAIN: its layers, whose "
                 "accelerators it has, layers computed again (all are equal)."},
    [PLAN_SHARES] = {"-shares", TH_OPTION_INTEGER, "{N ...}",
                     "Micro-batches of replicas: as many of them take the first number, the "
                     "second, and so on (all take as many).",
                     1, TH_MICRO_BATCHES_MAX, .least = 1, .most = TH_SHARES_MAX},
    [PLAN_IGNORE_MEMORY] = {"-ignore_memory", TH_OPTION_FLAG, NULL,
                            "Simulates what does not fit into memory too."},
    [PLAN_MERGE] =
        {"-merge", TH_OPTION_INTEGER, "0|1",
         "1: one rank stands for all of its stage, and messages take what they take by "
         "themselves; 0: every rank, with live messages, which make a step up to 10 % longer "
         "where they meet on links (1). Compare steps of the same -merge.",
         0, 1},
    {.name = NULL},
};

/* ---- options ---- */

/* 0: not given. */
static int32_t degree(const th_call *c, int option)
{
    return (int32_t)th_call_number(c, option, 0);
}

static void parse_degrees(const th_call *c, th_degrees *n)
{
    *n = (th_degrees){.tensor = degree(c, PLAN_TENSOR),
                      .pipeline = degree(c, PLAN_PIPELINE),
                      .chunks = degree(c, PLAN_VIRTUAL),
                      .context = degree(c, PLAN_CONTEXT),
                      .expert = degree(c, PLAN_EXPERT),
                      .expert_tensor = degree(c, PLAN_EXPERT_TENSOR),
                      .data = degree(c, PLAN_DATA),
                      .zero = degree(c, PLAN_ZERO),
                      .zero_group = degree(c, PLAN_ZERO_GROUP)};
}

/* The words of a list option, at most so many of them. */
static int words_of(const th_call *c, int option, const char **words, int most)
{
    const th_value *list = &c->option[option];
    for (int i = 0; i < list->n && i < most; i++)
        words[i] = Tcl_GetString(list->words[i]);
    return list->n;
}

static int parse_order(th_call *c, th_parallel_plan *p)
{
    const char *names[TH_N_AXES + 1];
    const int n = words_of(c, PLAN_ORDER, names, TH_N_AXES + 1);
    return th_plan_set_order(p, names, n, &c->err);
}

/* Each part by its own option, else as the software has it. */
static void take_software(const th_call *c, th_parallel_plan *p)
{
    static const th_software otherwise = {.has_fused_kernels = true};
    const th_software *s = th_call_has(c, PLAN_SOFTWARE)
                               ? &th_softwares[(int)th_call_number(c, PLAN_SOFTWARE, 0)]
                               : &otherwise;
    p->has_fused_kernels = th_call_number(c, PLAN_KERNELS, !s->has_fused_kernels) == 0;
    p->attention = (th_attention)th_call_number(c, PLAN_ATTENTION, s->attention);
    p->launch = (th_launch)th_call_number(c, PLAN_LAUNCH, s->launch);
    if (th_call_has(c, PLAN_OVERLAP))
        return;
    p->overlaps_data = s->overlaps_data;
    p->overlaps_tensor = s->overlaps_tensor;
    p->overlaps_pipeline = s->overlaps_pipeline;
}

static void take_overlap(const th_call *c, th_parallel_plan *p)
{
    for (int i = 0; i < c->option[PLAN_OVERLAP].n; i++) {
        p->overlaps_data |= c->option[PLAN_OVERLAP].numbers[i] == 0;
        p->overlaps_tensor |= c->option[PLAN_OVERLAP].numbers[i] == 1;
        p->overlaps_pipeline |= c->option[PLAN_OVERLAP].numbers[i] == 2;
    }
}

static void take_numbers(const th_call *c, th_training_numbers *out)
{
    *out = th_training_numbers_shipped();
    for (int i = 0; i < c->option[PLAN_NUMBERS].n; i++)
        out->of[c->option[PLAN_NUMBERS].indices[i]] = c->option[PLAN_NUMBERS].reals[i];
}

/* What the model says of a plan. */
static th_parallel_plan plan_of_model(const th_session_model *m)
{
    return (th_parallel_plan){.batch = {.sequence = m->sequence},
                              .recompute = m->recompute,
                              .precision = m->precision,
                              .expert_skew = m->expert_skew};
}

int th_call_parse_plan(th_call *c, th_plan_file *f)
{
    th_parallel_plan *p = &f->plan;
    *p = plan_of_model(&c->session->model);
    f->merges = true;
    p->batch.global_batch = degree(c, PLAN_GLOBAL_BATCH);
    p->layout = (th_plan_layout)th_call_number(c, PLAN_LAYOUT, 0);
    p->exchanges_by_node = th_call_number(c, PLAN_EXPERT_EXCHANGE, 0) == 1;
    p->frozen_weights = th_call_has(c, PLAN_FROZEN);
    p->gradient_bytes = th_call_number(c, PLAN_GRADIENTS, 0) == 0 ? 4 : 2;
    take_software(c, p);
    take_overlap(c, p);
    take_numbers(c, &f->numbers);
    return parse_order(c, p);
}

static int parse_plan(th_call *c, th_plan_file *f)
{
    th_parallel_plan *p = &f->plan;
    if (th_call_parse_plan(c, f))
        return -1;
    f->ignores_memory = th_call_has(c, PLAN_IGNORE_MEMORY);
    f->merges = th_call_number(c, PLAN_MERGE, 1) != 0;
    p->batch.micro_batch = degree(c, PLAN_MICRO_BATCH);
    p->sequence_parallel = th_call_has(c, PLAN_SEQUENCE_PARALLEL);
    p->recompute = (th_recompute)th_call_number(c, PLAN_RECOMPUTE, p->recompute);
    parse_degrees(c, &p->n);
    const char *words[TH_OWN_STAGES_MAX];
    const int n = words_of(c, PLAN_STAGES, words, TH_OWN_STAGES_MAX);
    if (th_plan_set_stages(p, words, n, &c->err))
        return -1;
    if (n > 0 && !th_call_has(c, PLAN_PIPELINE))
        p->n.pipeline = n;
    p->n_shares = c->option[PLAN_SHARES].n;
    for (int i = 0; i < p->n_shares; i++)
        p->shares[i] = (int32_t)c->option[PLAN_SHARES].numbers[i];
    return (th_call_has(c, PLAN_SCHEDULE) &&
            th_plan_file_set_schedule(f, th_call_text(c, PLAN_SCHEDULE, ""), &c->err))
               ? -1
               : 0;
}

/* ---- the program ---- */

/* Adds the options that make the numbers of a schedule. */
static int name_options(th_error *err)
{
    size_t n = strlen(err->text);
    snprintf(
        err->text + n, sizeof err->text - n,
        " (chunks are -virtual, micro-batches -shares, or -global_batch / (-micro_batch x -data))");
    return -1;
}

static int make_schedules(const th_parallel_plan *p, th_plan_schedules *all, th_error *err)
{
    th_pipeline_shape shape = {p->n.pipeline, p->n.chunks, th_plan_micro_batches(p)};
    th_pipeline_schedule *out = all->of;
    if (p->schedule)
        return th_plan_schedules_make(all, p, err) ? name_options(err) : 0;
    if (p->n_shares > 0)
        return th_error_set(err, "TCL-3124",
                            "-shares: -schedule %s has one number of micro-batches: must be a "
                            "schedule of the table",
                            p->schedule_file);
    if (th_pipeline_read(p->schedule_file, out, err))
        return -1;
    all->n = 1;
    if (memcmp(&out->shape, &shape, sizeof shape) == 0)
        return 0;
    th_error_set(err, "TCL-0926",
                 "-schedule %s: %d stages, %d chunks and %d micro-batches: the plan has %d, %d and "
                 "%d",
                 p->schedule_file, (int)out->shape.stages, (int)out->shape.chunks,
                 (int)out->shape.micro_batches, (int)shape.stages, (int)shape.chunks,
                 (int)shape.micro_batches);
    th_plan_schedules_clear(all);
    return -1;
}

int th_call_need_model(th_call *c)
{
    if (c->session->model.name[0])
        return 0;
    return th_error_set(&c->err, "TCL-0927", "no language model: create_transformer makes one");
}

/* 16 bits of any kind stand for each other. */
static bool has_precision(const th_gpu *g, const th_step_precision *p)
{
    return p->products == TH_PRECISION_BF16 || p->products == TH_PRECISION_FP16 ||
           th_gpu_peak(g, p->products) > 0;
}

/* Is the model's precision one that products of all accelerators have? */
static int check_precision(th_call *c, const th_work_context *w)
{
    const th_step_precision *wanted = &th_step_precisions[w->p->precision];
    int32_t k = 0;
    while (k < w->devices.n && has_precision(&w->devices.of[k].gpu, wanted))
        k++;
    if (k == w->devices.n)
        return 0;
    th_strbuf has = TH_STRBUF_INIT;
    for (const th_step_precision *p = th_step_precisions; p->name; p++)
        if (has_precision(&w->devices.of[k].gpu, p))
            th_strbuf_printf(&has, "%s%s", p == th_step_precisions ? "" : ", ", p->name);
    th_error_set(&c->err, "TCL-0960",
                 "create_transformer -precision %s: an accelerator has no such products: must be "
                 "one of %s",
                 wanted->name, has.text ? has.text : "bf16");
    th_strbuf_clear(&has);
    return -1;
}

/* Vendors' accelerators and precisions without a measured run; what a user designed has none. */
static void warn_of_unmeasured(const th_call *c, const th_work_context *w)
{
    const th_training_device *d = th_plan_unmeasured_device(w);
    const char *precision = th_step_precisions[w->p->precision].name;
    th_strbuf said = TH_STRBUF_INIT;
    if (!d->is_known || th_generation_has_steps(d->generation, precision))
        return;
    th_generation_describe(d->generation, precision, &said);
    th_warn(c, "TCL-3035", "%s: %s: the error of this one is not known", d->gpu.name,
            said.text ? said.text : "");
    th_strbuf_clear(&said);
}

int th_call_plan_work(th_call *c, const th_plan_file *f, th_work_context *out)
{
    const th_session *s = c->session;
    *out = (th_work_context){.t = &s->model.shape, .p = &f->plan, .numbers = f->numbers};
    if (th_training_devices_of(s->system, &out->devices, &c->err))
        return -1;
    out->device = out->devices.of[0];
    return check_precision(c, out);
}

int th_call_make_plan(th_call *c, th_plan_file *f)
{
    th_session *s = c->session;
    th_plan_schedules schedules;
    th_work_context work;
    if (th_plan_file_fill(f, s->system->n_accels, &c->err) ||
        th_plan_check(&f->plan, &s->model.shape, s->system->n_accels, &c->err) ||
        th_call_plan_work(c, f, &work) || make_schedules(&f->plan, &schedules, &c->err))
        return -1;
    if (f->plan.exchanges_by_node)
        f->plan.experts_on_node = th_plan_experts_on_node(s->system, &f->plan);
    th_hand_built *made = NULL;
    const int full = f->ignores_memory ? 0 : th_plan_memory_check(&work, schedules.of, &c->err);
    if (full > 0)
        th_warn(c, "TCL-1520", "%s%s", c->err.text,
                strcmp(c->command->name, "search_plan") == 0
                    ? "; -memory 100% takes plans that fit by the estimate"
                    : "");
    if (full >= 0)
        warn_of_unmeasured(c, &work);
    if (full >= 0)
        made = th_hand_built_of_step(s->model.name, s->system, &work, schedules.of, f, &c->err);
    th_plan_schedules_clear(&schedules);
    if (!made)
        return -1;
    th_session_set_hand_built(s, made);
    return 0;
}

static int run_parallel_plan(th_call *c)
{
    th_plan_file f = {.schedule_file = NULL};
    if (th_call_need_model(c) || parse_plan(c, &f) || th_call_make_plan(c, &f)) {
        th_plan_file_clear(&f);
        return -1;
    }
    th_call_return_text(c, c->session->model.name);
    return 0;
}

int th_call_read_plan(th_call *c, const char *path)
{
    th_plan_file f = {.plan = plan_of_model(&c->session->model)};
    if (th_call_need_model(c) || th_plan_file_read(path, &f, &c->err))
        return -1;
    if (th_call_make_plan(c, &f) == 0)
        return 0;
    th_plan_file_clear(&f);
    return -1;
}

/* ---- report_training ---- */

enum { TRAINING_PARTS = REPORT_N_OPTIONS, TRAINING_BY };

static const th_option training_options[] = {
    TABLE_OPTIONS,
    [TRAINING_PARTS] = {"-parts", TH_OPTION_FLAG, NULL,
                        "Also what the kernels of that stage do: products, attention, norms ..."},
    [TRAINING_BY] = {"-by", TH_OPTION_CHOICE, "WHAT",
                     "A row for each stage, in place of the one that ends last.",
                     .names = TH_NAMES("stage")},
    {.name = NULL},
};

const th_command th_parallel_commands[] = {
    {"parallel_plan", "training", "", 0, 0, plan_options,
     "plan a training step: tensor, pipeline, data ranks",
     "The training step becomes the program. Needs a system and a model of create_transformer. "
     "Ranks that do the same at the same time are simulated once. A plan that does not divide the "
     "model, does not use the accelerators, or does not fit into memory is refused, with the "
     "number to change. Returns the name of the model.",
     .run = run_parallel_plan, .needs = {th_session_need_system, th_session_need_no_trace},
     .not_while_running = true},
    {"report_training", "training", "", 0, 0, training_options,
     "print step time, utilization and exposed messages",
     "Of the stage that ends last; exposed communication is the time in which its accelerator "
     "waits for messages of each kind. Computation, optimizer, bubble and exposed messages add up "
     "to the step. Tells the precision, the parts of -software that are on, and which measured "
     "steps of this generation of accelerators the model is held against. -limit and "
     "-sort_by are for the rows of -by and -parts.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
