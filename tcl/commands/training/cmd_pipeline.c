/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_pipeline.c - pipeline schedules as programs: add_pipeline, report_pipeline. */
#include <config.h>
#include "base/alloc.h"
#include "training/pipeline_program.h"
#include "session/objects/objects.h"
#include "session/sections/sections.h"
#include "tcl/command.h"
#include "tcl/commands/training/plan_options.h"
#include "tcl/program_options.h"
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"

/* ---- add_pipeline ---- */

enum {
    PIPELINE_SCHEDULE,
    PIPELINE_STAGES,
    PIPELINE_CHUNKS,
    PIPELINE_MICRO_BATCHES,
    PIPELINE_FORWARD,
    PIPELINE_BACKWARD,
    PIPELINE_WEIGHTS,
    PIPELINE_TRANSFER,
    PIPELINE_BYTES,
    PIPELINE_ACCELS
};

static const th_option pipeline_options[] = {
    [PIPELINE_SCHEDULE] =
        {"-schedule", TH_OPTION_FILE, "NAME",
         "gpipe, 1f1b, interleaved, zb_h1, zb_h2, zbv, dualpipe_v, or a file with a line of "
         "operations per stage (docs/formats.md).",
         .choice = th_plan_schedule_name, .required = true},
    [PIPELINE_STAGES] = {"-stages", TH_OPTION_INTEGER, "N",
                         "Stages, on as many accelerators (all of them; of a file its lines).", 1,
                         TH_STAGES_MAX},
    [PIPELINE_CHUNKS] = {"-chunks", TH_OPTION_INTEGER, "N",
                         "Chunks of the model per stage (1; zbv, dualpipe_v: 2).", 1,
                         TH_CHUNKS_MAX_OF_STAGE},
    [PIPELINE_MICRO_BATCHES] = {"-micro_batches", TH_OPTION_INTEGER, "N",
                                "Micro-batches of a step (of a file its own).", 1,
                                TH_MICRO_BATCHES_MAX},
    [PIPELINE_FORWARD] = {"-forward", TH_OPTION_TIME, "TIME",
                          "Forward time of a micro-batch on one chunk.", .minimum = 1,
                          .required = true},
    [PIPELINE_BACKWARD] = {"-backward", TH_OPTION_TIME, "TIME",
                           "Backward time, for the gradients of the inputs.", .minimum = 1,
                           .required = true},
    [PIPELINE_WEIGHTS] = {"-weights", TH_OPTION_TIME, "TIME",
                          "Backward time, for the gradients of the weights (0); schedules that do "
                          "not split the backward operation run both as one."},
    [PIPELINE_TRANSFER] = {"-transfer", TH_OPTION_TIME, "TIME",
                           "Time of a message between stages; it occupies no stage and no link "
                           "(0)."},
    [PIPELINE_BYTES] = {"-bytes", TH_OPTION_BYTES, "SIZE",
                        "Instead of -transfer: bytes of a message, over the network.",
                        .maximum = TH_HAND_BUILT_BYTES_MAX, .without = "-transfer"},
    [PIPELINE_ACCELS] = {"-accels", TH_OPTION_NODE, "ACCELS",
                         "The accelerator of each stage (0, 1, 2 ...).", .most = TH_MANY,
                         .classes = TH_BIT(TH_CLASS_ACCEL), .is_distinct = true},
    {.name = NULL},
};

static int make_of_row(th_call *c, const th_pipeline_type *type, th_pipeline_schedule *out)
{
    th_pipeline_shape shape = {
        .stages = (int32_t)th_call_number(c, PIPELINE_STAGES, c->session->system->n_accels),
        .chunks = (int32_t)th_call_number(c, PIPELINE_CHUNKS, type->is_v ? 2 : 1),
        .micro_batches = (int32_t)th_call_number(c, PIPELINE_MICRO_BATCHES, 0)};
    if (shape.micro_batches == 0)
        return th_error_set(&c->err, "TCL-0900", "-micro_batches N: is required with -schedule %s",
                            type->name);
    return th_pipeline_make(type, &shape, out, &c->err);
}

/* A number that a file has, and that the call repeats. */
static int check_repeated(th_call *c, int option, int32_t of_file)
{
    int64_t n = th_call_number(c, option, of_file);
    if (n == of_file)
        return 0;
    return th_error_set(&c->err, "TCL-0901", "%s %d: the schedule of the file has %d",
                        pipeline_options[option].name, (int)n, (int)of_file);
}

static int read_schedule(th_call *c, th_pipeline_schedule *out)
{
    if (th_pipeline_read(c->option[PIPELINE_SCHEDULE].path, out, &c->err) != 0)
        return -1;
    if (check_repeated(c, PIPELINE_STAGES, out->shape.stages) == 0 &&
        check_repeated(c, PIPELINE_CHUNKS, out->shape.chunks) == 0 &&
        check_repeated(c, PIPELINE_MICRO_BATCHES, out->shape.micro_batches) == 0)
        return 0;
    th_pipeline_clear(out);
    return -1;
}

/* ---- the accelerators ---- */

static int find_accels(th_call *c, int32_t stages, int32_t *node)
{
    const th_system *s = c->session->system;
    const th_value *accels = &c->option[PIPELINE_ACCELS];
    if (accels->word && accels->n != stages)
        return th_error_set(&c->err, "TCL-0903", "-accels: must be a list of %d accelerators",
                            (int)stages);
    if (stages > s->n_accels)
        return th_error_set(&c->err, "TCL-0906",
                            "-stages %d: the system has %d accelerators: must be at most as many",
                            (int)stages, s->n_accels);
    for (int32_t i = 0; i < stages; i++)
        node[i] = accels->word ? accels->indices[i] : s->accel_node[i];
    return 0;
}

/* ---- the tasks ---- */

static void fill_durations(const th_call *c, const th_pipeline_schedule *s, th_time *duration)
{
    th_time weights = th_call_number(c, PIPELINE_WEIGHTS, 0);
    th_time of_kind[TH_PIPELINE_N_KINDS] = {
        [TH_PIPELINE_FORWARD] = th_call_number(c, PIPELINE_FORWARD, 0),
        [TH_PIPELINE_BACKWARD] = th_call_number(c, PIPELINE_BACKWARD, 0),
        [TH_PIPELINE_WEIGHTS] = weights};
    if (!s->splits_backward)
        of_kind[TH_PIPELINE_BACKWARD] += weights;
    int32_t steps = s->shape.stages * s->shape.chunks;
    for (int kind = 0; kind < TH_PIPELINE_N_KINDS; kind++)
        for (int32_t i = 0; i < steps; i++)
            duration[kind * steps + i] = of_kind[kind];
}

static int check_times(th_call *c, const th_pipeline_schedule *s)
{
    if (!s->splits_backward || th_call_number(c, PIPELINE_WEIGHTS, 0) > 0)
        return 0;
    return th_error_set(&c->err, "TCL-0907", "-weights: must be more than 0");
}

static int lower(th_call *c, const th_pipeline_schedule *s)
{
    size_t steps = (size_t)s->shape.stages * (size_t)s->shape.chunks;
    int32_t *node = th_alloc_array((size_t)s->shape.stages, sizeof *node);
    th_time *duration = th_alloc_array(TH_PIPELINE_N_KINDS * steps, sizeof *duration);
    int status = node && duration ? 0 : th_error_no_memory(&c->err);
    if (status == 0)
        status = check_times(c, s) || find_accels(c, s->shape.stages, node) ? -1 : 0;
    if (status == 0) {
        th_program *p = c->session->hand_built->program;
        th_program_mark before = th_program_mark_of(p);
        th_pipeline_work work = {.node = node,
                                 .duration_ps = duration,
                                 .bytes = th_call_number(c, PIPELINE_BYTES, -1),
                                 .transfer_ps = th_call_number(c, PIPELINE_TRANSFER, 0)};
        fill_durations(c, s, duration);
        status = th_pipeline_lower(s, &work, NULL, p, NULL, &c->err);
        if (status)
            th_program_cut(p, before);
        else
            Tcl_SetObjResult(c->interp, Tcl_NewWideIntObj(p->n_tasks - before.n_tasks));
    }
    th_free(node);
    th_free(duration);
    return status;
}

static int run_add_pipeline(th_call *c)
{
    th_pipeline_schedule schedule;
    const th_value *of = &c->option[PIPELINE_SCHEDULE];
    if (of->is_name ? make_of_row(c, &th_pipeline_types[of->number], &schedule)
                    : read_schedule(c, &schedule))
        return -1;
    int status = lower(c, &schedule);
    th_pipeline_clear(&schedule);
    return status;
}

const th_command th_pipeline_commands[] = {
    {"add_pipeline", "training", "", 0, 0, pipeline_options,
     "add a pipeline schedule to the program",
     "The operations of a stage run on its accelerator in the order of the schedule; messages "
     "delay the next stage and occupy no accelerator. Numbers that do not fit the schedule, and "
     "orders that deadlock, are refused. Returns how many tasks were added.",
     .run = run_add_pipeline, .needs = {th_session_open_hand_built}, .not_while_running = true},
    {"report_pipeline", "training", "", 0, 0, th_table_options,
     "print the pipeline bubble of every accelerator",
     "The cost of the pipeline is the longest time from the first start to the last end on an "
     "accelerator; the bubble is the part of the cost in which the accelerator computes nothing. "
     "The last line has the mean over the accelerators.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
