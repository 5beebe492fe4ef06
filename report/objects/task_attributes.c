/* SPDX-License-Identifier: GPL-3.0-or-later */
/* task_attributes.c - the attributes of tasks, and their descriptions in reports. */
#include <config.h>
#include <string.h>
#include "report/objects/class_attributes.h"
#include "sim/collective/bound.h"

enum {
    TASK_NAME,
    TASK_KIND,
    TASK_STATE,
    TASK_LAYER,
    TASK_JOB,
    TASK_NODE,
    TASK_PEER,
    TASK_COLLECTIVE,
    TASK_ALGORITHM,
    TASK_RANKS,
    TASK_BYTES,
    TASK_INPUT,
    TASK_PARTS,
    TASK_WHAT,
    TASK_READY,
    TASK_START,
    TASK_END,
    TASK_DURATION,
    TASK_CAUSE,
    TASK_SLACK,
    TASK_CHUNKS, /* of collectives, as those that follow */
    TASK_ALGORITHM_BANDWIDTH,
    TASK_BUS_BANDWIDTH,
    TASK_BOUND,
    TASK_OVER_BOUND,
};

const char *th_task_kind_name(int32_t kind)
{
    static const char *const names[] = {"compute", "transfer", "host", "collective", NULL};
    return names[kind];
}

static const char *task_state(int i)
{
    static const char *const names[] = {"waiting", "ready", "running", "done", NULL};
    return names[i];
}

const th_attribute th_task_attributes[] = {
    [TASK_NAME] = {"name", TH_KIND_TEXT, "the part after task/"},
    [TASK_KIND] = {"kind", TH_KIND_TEXT, "compute, transfer, host or collective",
                   th_task_kind_name},
    [TASK_STATE] = {"state", TH_KIND_TEXT, "waiting, ready, running or done", task_state},
    [TASK_LAYER] = {"layer", TH_KIND_TEXT, "layer that it belongs to"},
    [TASK_JOB] = {"job", TH_KIND_TEXT, "job that it belongs to"},
    [TASK_NODE] = {"node", TH_KIND_TEXT, "where it runs, or the sender"},
    [TASK_PEER] = {"peer", TH_KIND_TEXT, "the receiver of a transfer"},
    [TASK_COLLECTIVE] = {"collective", TH_KIND_TEXT, "all-reduce, all-gather, ..."},
    [TASK_ALGORITHM] = {"algorithm", TH_KIND_TEXT, "algorithm that was used"},
    [TASK_RANKS] = {"ranks", TH_KIND_COUNT, "accelerators that take part"},
    [TASK_BYTES] = {"bytes", TH_KIND_BYTES, "size of a transfer or collective"},
    [TASK_INPUT] = {"input", TH_KIND_COUNT, "which input of the stream it works for"},
    [TASK_PARTS] = {"parts", TH_KIND_TEXT,
                    "what its kernels do, of a computation of a step of training"},
    [TASK_WHAT] = {"what", TH_KIND_TEXT, "layer and place"},
    [TASK_READY] = {"ready", TH_KIND_TIME, "when the last task that it waited for ended"},
    [TASK_START] = {"start", TH_KIND_TIME, "when it started"},
    [TASK_END] = {"end", TH_KIND_TIME, "when it ended"},
    [TASK_DURATION] = {"duration", TH_KIND_TIME, "from its start to its end"},
    [TASK_CAUSE] = {"cause", TH_KIND_COUNT, "the task whose end let it start"},
    [TASK_SLACK] = {"slack", TH_KIND_TIME,
                    "how much later it could have ended, of a run that is done"},
    [TASK_CHUNKS] = {"chunks", TH_KIND_COUNT, "pieces that a collective cuts its buffer into"},
    [TASK_ALGORITHM_BANDWIDTH] = {"algorithm_bandwidth", TH_KIND_BANDWIDTH, "size / time",
                                  .heading = "algbw"},
    [TASK_BUS_BANDWIDTH] =
        {"bus_bandwidth", TH_KIND_BANDWIDTH,
         "algbw x the share of the size that each rank sends at least; to be held against "
         "nccl-tests only where the links have the rates that messages reach",
         .heading = "busbw"},
    [TASK_BOUND] = {"bound", TH_KIND_TIME, "lower bound of the collective, its group alone"},
    [TASK_OVER_BOUND] = {"over_bound", TH_KIND_CHANGE, "time / lower bound of the group alone - 1"},
    {NULL, TH_KIND_TEXT, NULL},
};

static th_quantity slack_of(th_session *s, int index)
{
    th_error err;
    if (!th_machine_is_done(s->simulation->machine))
        return th_absent(TH_KIND_TIME);
    const th_time *slacks = th_simulation_slacks(s->simulation, &err);
    s->text.scratch.failed |= !slacks; /* memory is out */
    return slacks ? th_ps(slacks[index]) : th_absent(TH_KIND_TIME);
}

static th_quantity task_figure(th_session *s, int index, int attribute)
{
    if (!s->simulation)
        return th_absent(th_task_attributes[attribute].kind);
    const th_task_result *t = &th_machine_times(s->simulation->machine)[index];
    switch (attribute) {
    case TASK_READY:
        return th_ps_or_absent(t->ready_ps);
    case TASK_START:
        return th_ps_or_absent(t->start_ps);
    case TASK_END:
        return th_ps_or_absent(t->end_ps);
    case TASK_DURATION:
        return t->end_ps >= 0 ? th_ps(t->end_ps - t->start_ps) : th_absent(TH_KIND_TIME);
    case TASK_SLACK:
        return slack_of(s, index);
    default:
        return t->cause >= 0 ? th_count(t->cause) : th_absent(TH_KIND_COUNT);
    }
}

/* ---- collectives ----
 * Algorithm bandwidth is S / t. Bus bandwidth is that times the fraction of S that every rank must
 * send over its links at least, so that it is comparable with the bandwidth of links for any number
 * of ranks; the factors are those of nccl-tests (NVIDIA, doc/PERFORMANCE.md). With in-switch
 * reduction, or more than one link per rank, it may exceed the bandwidth of a link. The bound is
 * that of sim/collective/bound.h, for the group alone on the system; there is none on a network
 * without contention. */

/* Bytes that each rank must send, as a share of S; 0: not defined. */
static double bus_factor(const th_collective *c)
{
    double n = c->n_ranks, others = (n - 1) / n;
    switch ((th_collective_kind)c->kind) {
    case TH_ALL_REDUCE:
        return 2 * others;
    case TH_ALL_GATHER:
    case TH_REDUCE_SCATTER:
    case TH_ALL_TO_ALL:
    case TH_GATHER:
    case TH_SCATTER:
        return others;
    case TH_BROADCAST:
    case TH_REDUCE:
    case TH_SEND_RECV:
        return n > 1;
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return 0;
}

/* Absent if nothing was moved, or in no time. */
static th_quantity bandwidth_of(double bytes, th_time time_ps)
{
    if (bytes <= 0 || time_ps <= 0)
        return th_absent(TH_KIND_BANDWIDTH);
    return th_bandwidth((int64_t)(8 * bytes * (double)TH_PS_PER_S / (double)time_ps + 0.5));
}

static th_quantity over_bound_of(th_time time_ps, th_time bound_ps)
{
    if (time_ps < 0 || bound_ps <= 0)
        return th_absent(TH_KIND_CHANGE);
    return th_change((double)time_ps / (double)bound_ps - 1);
}

/* -1: there is none. */
static th_time bound_of(th_session *s, const th_collective *c)
{
    th_error err;
    th_time bound_ps = -1;
    const th_network_type *network = s->simulation->options.network;
    bool has_contention = !network || strcmp(network->name, "ideal") != 0;
    if (has_contention && th_collective_bound(c, s->system, &bound_ps, &err) != 0)
        s->text.scratch.failed = true; /* memory is out */
    return bound_ps;
}

static th_quantity collective_figure(th_session *s, int index, int attribute)
{
    const th_task *t = &th_session_program(s)->tasks[index];
    if (t->kind != TH_TASK_COLLECTIVE || !s->simulation)
        return th_absent(th_task_attributes[attribute].kind);
    const th_collective *c = th_session_collective(s, t->collective);
    const th_task_result *when = &th_machine_times(s->simulation->machine)[index];
    th_time time_ps = when->end_ps >= 0 ? when->end_ps - when->start_ps : -1;
    switch (attribute) {
    case TASK_CHUNKS:
        return th_count(c->chunks);
    case TASK_ALGORITHM_BANDWIDTH:
        return bandwidth_of((double)c->bytes, time_ps);
    case TASK_BUS_BANDWIDTH:
        return bandwidth_of((c->pair_bytes ? 0 : bus_factor(c)) * (double)c->bytes, time_ps);
    case TASK_BOUND:
        return th_ps_or_absent(bound_of(s, c));
    default:
        return over_bound_of(time_ps, bound_of(s, c));
    }
}

static th_quantity collective_value(th_session *s, const th_task *t, int attribute)
{
    if (t->kind != TH_TASK_COLLECTIVE)
        return th_absent(th_task_attributes[attribute].kind);
    const th_collective *c = th_session_collective(s, t->collective);
    if (attribute == TASK_COLLECTIVE)
        return th_text(th_collective_names[c->kind]);
    if (attribute == TASK_RANKS)
        return th_count(c->n_ranks);
    return th_text(c->algorithm ? c->algorithm->name : "auto");
}

static th_quantity job_of(const th_session *s, int index)
{
    const th_program *p = th_session_program(s);
    int32_t job = th_program_job_of(p, index);
    return job >= 0 ? th_text(p->jobs[job].name) : th_absent(TH_KIND_TEXT);
}

/* The step of training that the program is; NULL: none. */
static const th_training_step *step_of(const th_session *s)
{
    return s->hand_built && th_session_program(s) ? s->hand_built->step : NULL;
}

static th_quantity parts_of(th_session *s, int index)
{
    const th_training_step *step = step_of(s);
    if (!step || step->work_of[index] < 0)
        return th_absent(TH_KIND_TEXT);
    th_strbuf_clear(&s->text.scratch);
    th_step_work_describe(&step->work[step->work_of[index]], &s->text.scratch);
    return th_text(s->text.scratch.text);
}

th_quantity th_task_attribute(th_session *s, int index, int attribute)
{
    const th_task *t = &th_session_program(s)->tasks[index];
    bool is_transfer = t->kind == TH_TASK_TRANSFER;
    switch (attribute) {
    case TASK_NAME:
        return th_object_name_text(s, TH_CLASS_TASK, index);
    case TASK_KIND:
        return th_text(th_task_kind_name(t->kind));
    case TASK_STATE:
        return th_text(task_state(s->simulation
                                      ? (int)th_machine_task_state(s->simulation->machine, index)
                                      : TH_TASK_WAITING));
    case TASK_LAYER:
        return t->layer >= 0 ? th_object_name_text(s, TH_CLASS_LAYER, t->layer)
                             : th_absent(TH_KIND_TEXT);
    case TASK_JOB:
        return job_of(s, index);
    case TASK_NODE:
        return t->node >= 0 ? th_object_name_text(s, TH_CLASS_NODE, t->node)
                            : th_absent(TH_KIND_TEXT);
    case TASK_PEER:
        return is_transfer ? th_object_name_text(s, TH_CLASS_NODE, t->peer)
                           : th_absent(TH_KIND_TEXT);
    case TASK_BYTES:
        return is_transfer || t->kind == TH_TASK_COLLECTIVE ? th_bytes(t->bytes)
                                                            : th_absent(TH_KIND_BYTES);
    case TASK_COLLECTIVE:
    case TASK_ALGORITHM:
    case TASK_RANKS:
        return collective_value(s, t, attribute);
    case TASK_INPUT:
        return th_count(t->input);
    case TASK_PARTS:
        return parts_of(s, index);
    case TASK_WHAT:
        th_strbuf_clear(&s->text.scratch);
        th_task_describe(s, t, &s->text.scratch);
        return th_text(s->text.scratch.text);
    case TASK_CHUNKS:
    case TASK_ALGORITHM_BANDWIDTH:
    case TASK_BUS_BANDWIDTH:
    case TASK_BOUND:
    case TASK_OVER_BOUND:
        return collective_figure(s, index, attribute);
    default:
        return task_figure(s, index, attribute);
    }
}

unsigned th_task_attribute_changes(int attribute)
{
    return attribute == TASK_STATE || attribute >= TASK_READY
               ? TH_RECORDS_OF_TASKS | 1u << TH_RECORD_QUEUED
               : 0;
}

/* "all_reduce of 8 by ring, 1GiB" */
static void describe_collective(const th_collective *c, th_strbuf *out)
{
    char bytes[64];
    th_strbuf_printf(out, "%s of %d by %s, %s", th_collective_names[c->kind], (int)c->n_ranks,
                     c->algorithm ? c->algorithm->name : "auto",
                     th_format_bytes(c->bytes, bytes, sizeof bytes));
}

/* "A: ", of a task of the program, where there are jobs. */
static void describe_job(const th_session *s, const th_task *t, th_strbuf *out)
{
    const th_program *p = th_session_program(s);
    int32_t job = p && p->n_jobs > 0 ? th_program_job_of(p, (int32_t)(t - p->tasks)) : -1;
    if (job >= 0)
        th_strbuf_printf(out, "%s: ", p->jobs[job].name);
}

/* What a task of a step of training is for; NULL: of another program. */
static const char *purpose_of(const th_session *s, const th_task *t)
{
    const th_training_step *step = step_of(s);
    return step ? th_step_task_names[step->task[t - th_session_program(s)->tasks]] : NULL;
}

static void describe_hand_built(const th_session *s, const th_task *t, th_strbuf *out)
{
    const char *purpose = purpose_of(s, t);
    if (t->kind == TH_TASK_COMPUTE)
        th_strbuf_printf(out, "%s on accel/%s", purpose ? purpose : "compute",
                         s->system->nodes[t->node].name);
    else if (t->kind == TH_TASK_HOST && purpose)
        th_strbuf_printf(out, "%s messages", purpose);
    else if (purpose)
        th_strbuf_printf(out, " (%s)", purpose);
}

void th_task_describe(const th_session *s, const th_task *t, th_strbuf *out)
{
    describe_job(s, t, out);
    const char *layer = s->hand_built   ? ""
                        : t->layer >= 0 ? s->workload->layers[t->layer].name
                                        : "input";
    const char *colon = s->hand_built ? "" : ": ";
    switch ((th_task_kind)t->kind) {
    case TH_TASK_COMPUTE:
        if (s->hand_built)
            describe_hand_built(s, t, out);
        else
            th_strbuf_printf(out, "%s on accel/%s", layer, s->system->nodes[t->node].name);
        break;
    case TH_TASK_TRANSFER:
        th_strbuf_printf(out, "%s%s%s -> %s", layer, colon, s->system->nodes[t->node].name,
                         s->system->nodes[t->peer].name);
        break;
    case TH_TASK_HOST:
        if (t->node >= 0)
            th_strbuf_printf(out, "%s%s%s at work", layer, colon, s->system->nodes[t->node].name);
        else if (purpose_of(s, t))
            describe_hand_built(s, t, out);
        else if (s->hand_built)
            th_strbuf_add(out, "delay");
        else
            th_strbuf_printf(out, "input %d arrives", (int)t->input);
        break;
    case TH_TASK_COLLECTIVE:
        describe_collective(th_session_collective(s, t->collective), out);
        if (s->hand_built)
            describe_hand_built(s, t, out);
        break;
    }
}
