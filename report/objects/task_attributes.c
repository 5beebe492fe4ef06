/* SPDX-License-Identifier: GPL-3.0-or-later */
/* task_attributes.c - the attributes of tasks, and their descriptions in reports. */
#include <config.h>
#include <stddef.h>
#include <string.h>
#include "report/objects/class_attributes.h"
#include "sim/collective/bound.h"

static const char *task_state(int i)
{
    static const char *const names[] = {"waiting", "ready", "running", "done", NULL};
    return names[i];
}

/* ---- its times ---- */

/* NULL: the program has not been lowered. */
static const th_task_result *times_of(const th_session *s, int index)
{
    return s->simulation ? &th_machine_times(s->simulation->machine)[index] : NULL;
}

static th_quantity state(th_session *s, int index, const th_attribute *a)
{
    (void)a;
    return th_text(task_state(s->simulation
                                  ? (int)th_machine_task_state(s->simulation->machine, index)
                                  : TH_TASK_WAITING));
}

static th_quantity when(th_session *s, int index, const th_attribute *a)
{
    th_quantity q = th_attribute_field(a, times_of(s, index));
    return q.is_absent ? q : th_ps_or_absent(q.whole);
}

static th_quantity duration(th_session *s, int index, const th_attribute *a)
{
    const th_task_result *t = times_of(s, index);
    return t && t->end_ps >= 0 ? th_ps(t->end_ps - t->start_ps) : th_absent(a->kind);
}

static th_quantity cause(th_session *s, int index, const th_attribute *a)
{
    const th_task_result *t = times_of(s, index);
    return t && t->cause >= 0 ? th_count(t->cause) : th_absent(a->kind);
}

static th_quantity slack(th_session *s, int index, const th_attribute *a)
{
    th_error err;
    if (!s->simulation || !th_machine_is_done(s->simulation->machine))
        return th_absent(a->kind);
    const th_time *slacks = th_simulation_slacks(s->simulation, &err);
    s->text.scratch.failed |= !slacks; /* memory is out */
    return slacks ? th_ps(slacks[index]) : th_absent(a->kind);
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

enum { CHUNKS, ALGORITHM_BANDWIDTH, BUS_BANDWIDTH, BOUND, OVER_BOUND };

static th_quantity collective_figure(th_session *s, int index, const th_attribute *a)
{
    const th_task *t = &th_session_program(s)->tasks[index];
    const th_task_result *when = times_of(s, index);
    if (t->kind != TH_TASK_COLLECTIVE || !when)
        return th_absent(a->kind);
    const th_collective *c = th_session_collective(s, t->collective);
    th_time time_ps = when->end_ps >= 0 ? when->end_ps - when->start_ps : -1;
    switch (a->at) {
    case CHUNKS:
        return th_count(c->chunks);
    case ALGORITHM_BANDWIDTH:
        return bandwidth_of((double)c->bytes, time_ps);
    case BUS_BANDWIDTH:
        return bandwidth_of((c->pair_bytes ? 0 : bus_factor(c)) * (double)c->bytes, time_ps);
    case BOUND:
        return th_ps_or_absent(bound_of(s, c));
    default:
        return over_bound_of(time_ps, bound_of(s, c));
    }
}

enum { COLLECTIVE, ALGORITHM, RANKS };

static th_quantity of_collective(th_session *s, int index, const th_attribute *a)
{
    const th_task *t = &th_session_program(s)->tasks[index];
    if (t->kind != TH_TASK_COLLECTIVE)
        return th_absent(a->kind);
    const th_collective *c = th_session_collective(s, t->collective);
    if (a->at == COLLECTIVE)
        return th_text(th_collective_names[c->kind]);
    if (a->at == RANKS)
        return th_count(c->n_ranks);
    return th_text(c->algorithm ? c->algorithm->name : "auto");
}

/* ---- what it is ---- */

/* The step of training that the program is; NULL: none. */
static const th_training_step *step_of(const th_session *s)
{
    return s->hand_built && th_session_program(s) ? s->hand_built->step : NULL;
}

static th_quantity parts(th_session *s, int index, const th_attribute *a)
{
    const th_training_step *step = step_of(s);
    if (!step || step->work_of[index] < 0)
        return th_absent(a->kind);
    th_strbuf_clear(&s->text.scratch);
    th_step_work_describe(&step->work[step->work_of[index]], &s->text.scratch);
    return th_text(s->text.scratch.text);
}

static th_quantity what(th_session *s, int index, const th_attribute *a)
{
    (void)a;
    th_strbuf_clear(&s->text.scratch);
    th_task_describe(s, &th_session_program(s)->tasks[index], &s->text.scratch);
    return th_text(s->text.scratch.text);
}

static th_quantity name_of(th_session *s, th_class class, int32_t object)
{
    return object >= 0 ? th_object_name_text(s, class, object) : th_absent(TH_KIND_TEXT);
}

enum { NAME, KIND, LAYER, JOB, NODE, PEER, BYTES, INPUT };

static th_quantity of_program(th_session *s, int index, const th_attribute *a)
{
    const th_program *p = th_session_program(s);
    const th_task *t = &p->tasks[index];
    int32_t job;
    switch (a->at) {
    case NAME:
        return th_object_name_text(s, TH_CLASS_TASK, index);
    case KIND:
        return th_text(th_task_kind_name(t->kind));
    case LAYER:
        return name_of(s, TH_CLASS_LAYER, t->layer);
    case JOB:
        job = th_program_job_of(p, index);
        return job >= 0 ? th_text(p->jobs[job].name) : th_absent(a->kind);
    case NODE:
        return name_of(s, TH_CLASS_NODE, t->node);
    case PEER:
        return name_of(s, TH_CLASS_NODE, t->kind == TH_TASK_TRANSFER ? t->peer : -1);
    case BYTES:
        return t->kind == TH_TASK_TRANSFER || t->kind == TH_TASK_COLLECTIVE ? th_bytes(t->bytes)
                                                                            : th_absent(a->kind);
    default:
        return th_count(t->input);
    }
}

#define BY(getter, which)                                                                          \
    .get = getter, .at = which, .changes = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_QUEUED

const th_attribute th_task_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after task/", .get = of_program, .at = NAME},
    {"kind", TH_KIND_TEXT, "compute, transfer, host or collective", th_task_kind_name,
     .get = of_program, .at = KIND},
    {"state", TH_KIND_TEXT, "waiting, ready, running or done", task_state, BY(state, 0)},
    {"layer", TH_KIND_TEXT, "layer that it belongs to", .get = of_program, .at = LAYER},
    {"job", TH_KIND_TEXT, "job that it belongs to", .get = of_program, .at = JOB},
    {"node", TH_KIND_TEXT, "where it runs, or the sender", .get = of_program, .at = NODE},
    {"peer", TH_KIND_TEXT, "the receiver of a transfer", .get = of_program, .at = PEER},
    {"collective", TH_KIND_TEXT, "all-reduce, all-gather, ...", .get = of_collective,
     .at = COLLECTIVE},
    {"algorithm", TH_KIND_TEXT, "algorithm that was used", .get = of_collective, .at = ALGORITHM},
    {"ranks", TH_KIND_COUNT, "accelerators that take part", .get = of_collective, .at = RANKS},
    {"bytes", TH_KIND_BYTES, "size of a transfer or collective", .get = of_program, .at = BYTES},
    {"input", TH_KIND_COUNT, "which input of the stream it works for", .get = of_program,
     .at = INPUT},
    {"parts", TH_KIND_TEXT, "what its kernels do, of a computation of a step of training",
     .get = parts},
    {"what", TH_KIND_TEXT, "layer and place", .get = what},
    {"ready", TH_KIND_TIME, "when the last task that it waited for ended",
     BY(when, (int)offsetof(th_task_result, ready_ps))},
    {"start", TH_KIND_TIME, "when it started", BY(when, (int)offsetof(th_task_result, start_ps))},
    {"end", TH_KIND_TIME, "when it ended", BY(when, (int)offsetof(th_task_result, end_ps))},
    {"duration", TH_KIND_TIME, "from its start to its end", BY(duration, 0)},
    {"cause", TH_KIND_COUNT, "the task whose end let it start", BY(cause, 0)},
    {"slack", TH_KIND_TIME, "how much later it could have ended, of a run that is done",
     BY(slack, 0)},
    {"chunks", TH_KIND_COUNT, "pieces that a collective cuts its buffer into",
     BY(collective_figure, CHUNKS)},
    {"algorithm_bandwidth", TH_KIND_BANDWIDTH, "size / time", .heading = "algbw",
     BY(collective_figure, ALGORITHM_BANDWIDTH)},
    {"bus_bandwidth", TH_KIND_BANDWIDTH,
     "algbw x the share of the size that each rank sends at least; to be held against "
     "nccl-tests only where the links have the rates that messages reach",
     .heading = "busbw", BY(collective_figure, BUS_BANDWIDTH)},
    {"bound", TH_KIND_TIME, "lower bound of the collective, its group alone",
     BY(collective_figure, BOUND)},
    {"over_bound", TH_KIND_CHANGE, "time / lower bound of the group alone - 1",
     BY(collective_figure, OVER_BOUND)},
    {NULL, TH_KIND_TEXT, NULL},
};

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
