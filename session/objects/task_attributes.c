/* SPDX-License-Identifier: GPL-3.0-or-later */
/* task_attributes.c - the attributes of tasks, and their descriptions in reports. */
#include <config.h>
#include <string.h>
#include "session/objects/class_attributes.h"
#include "sim/collective/bound.h"

static const char *task_state(int i)
{
    static const char *const names[] = {"waiting", "ready", "running", "done", NULL};
    return names[i];
}

/* ---- of the program ---- */

static const th_task *task_of(const th_session *s, int task)
{
    return &th_session_program(s)->tasks[task];
}

/* Absent where the node is none. */
static th_quantity node_name(th_session *s, int32_t node)
{
    return node >= 0 ? th_object_name_text(s, TH_CLASS_NODE, node) : th_absent(TH_KIND_TEXT);
}

static th_quantity layer(th_session *s, int index, const th_attribute *a)
{
    int32_t layer = task_of(s, index)->layer;
    return layer >= 0 ? th_object_name_text(s, TH_CLASS_LAYER, layer) : th_absent(a->kind);
}

static th_quantity job(th_session *s, int index, const th_attribute *a)
{
    const th_program *p = th_session_program(s);
    int32_t job = th_program_job_of(p, index);
    return job >= 0 ? th_text(p->jobs[job].name) : th_absent(a->kind);
}

static th_quantity bytes(th_session *s, int index, const th_attribute *a)
{
    const th_task *t = task_of(s, index);
    bool has_size = t->kind == TH_TASK_TRANSFER || t->kind == TH_TASK_COLLECTIVE;
    return has_size ? th_bytes(t->bytes) : th_absent(a->kind);
}

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

/* Of a task of a step that is for a micro-batch; else NULL. */
static const th_step_place *place_of(const th_session *s, int task)
{
    const th_training_step *step = step_of(s);
    return step && step->place_of[task].micro_batch >= 0 ? &step->place_of[task] : NULL;
}

static const char *purpose_name(int i)
{
    return th_step_task_names[i];
}

static const char *pass_name(int i)
{
    static const char *const names[] = {[TH_PIPELINE_FORWARD] = "forward",
                                        [TH_PIPELINE_BACKWARD] = "backward",
                                        [TH_PIPELINE_WEIGHTS] = "weights",
                                        NULL};
    return names[i];
}

static th_quantity model_layer(th_session *s, int index, const th_attribute *a)
{
    const th_step_place *at = place_of(s, index);
    if (!at)
        return th_absent(a->kind);
    th_strbuf *out = &s->text.scratch;
    th_strbuf_clear(out);
    if (at->layer < 0)
        th_strbuf_add(out, at->layer == TH_LAYER_EMBEDDING_STEP ? "embedding" : "output");
    else
        th_strbuf_printf(out, "%d", (int)at->layer);
    return th_text(out->text);
}

TH_GETTER(purpose, th_text(step_of(s) ? purpose_name(step_of(s)->task[index]) : NULL))
TH_GETTER(pass, th_text(place_of(s, index) ? pass_name(place_of(s, index)->pass) : NULL))
TH_GETTER(micro_batch,
          place_of(s, index) ? th_count(place_of(s, index)->micro_batch) : th_absent(a->kind))

static th_quantity what(th_session *s, int index, const th_attribute *a)
{
    (void)a;
    th_strbuf_clear(&s->text.scratch);
    th_task_describe(s, task_of(s, index), &s->text.scratch);
    return th_text(s->text.scratch.text);
}

TH_GETTER(name, th_object_name_text(s, TH_CLASS_TASK, index))
TH_GETTER(of_task, th_attribute_at(a, task_of(s, index)))
TH_GETTER(kind, th_text(th_task_kind_name(task_of(s, index)->kind)))
TH_GETTER(node, node_name(s, task_of(s, index)->node))
TH_GETTER(peer,
          node_name(s, task_of(s, index)->kind == TH_TASK_TRANSFER ? task_of(s, index)->peer : -1))

/* ---- of the run ---- */

TH_GETTER(of_times,
          th_attribute_at(a,
                          s->simulation ? &th_machine_times(s->simulation->machine)[index] : NULL))
TH_GETTER(state, th_text(task_state(s->simulation
                                        ? (int)th_machine_task_state(s->simulation->machine, index)
                                        : TH_TASK_WAITING)))

/* -1: it has not ended. */
static th_time duration_of(const th_session *s, int task)
{
    if (!s->simulation)
        return -1;
    const th_task_result *t = &th_machine_times(s->simulation->machine)[task];
    return t->end_ps >= 0 ? t->end_ps - t->start_ps : -1;
}

TH_GETTER(duration, th_ps_or_absent(duration_of(s, index)))

static th_quantity slack(th_session *s, int index, const th_attribute *a)
{
    th_error err;
    if (!s->simulation || !th_machine_is_done(s->simulation->machine))
        return th_absent(a->kind);
    const th_time *slacks = th_simulation_slacks(s->simulation, &err);
    s->text.scratch.failed |= !slacks; /* memory is out */
    return slacks ? th_ps(slacks[index]) : th_absent(a->kind);
}

static th_quantity path_time(th_session *s, int index, const th_attribute *a)
{
    th_error err;
    if (!s->simulation)
        return th_absent(a->kind);
    const th_time *times = th_simulation_path_times(s->simulation, &err);
    s->text.scratch.failed |= !times; /* memory is out */
    return th_ps_or_absent(times ? times[index] : -1);
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
    const th_network_type *network = s->simulation ? s->simulation->options.network : NULL;
    bool has_contention = s->simulation && (!network || strcmp(network->name, "ideal") != 0);
    if (has_contention && th_collective_bound(c, s->system, &bound_ps, &err) != 0)
        s->text.scratch.failed = true; /* memory is out */
    return bound_ps;
}

/* NULL: the task is none. */
static const th_collective *collective_of(const th_session *s, int task)
{
    const th_task *t = task_of(s, task);
    return t->kind == TH_TASK_COLLECTIVE ? th_session_collective(s, t->collective) : NULL;
}

/* A getter that is an expression of the collective c, where the task is one. */
#define OF_COLLECTIVE(name, value)                                                                 \
    static th_quantity name(th_session *s, int index, const th_attribute *a)                       \
    {                                                                                              \
        const th_collective *c = collective_of(s, index);                                          \
        return c ? (value) : th_absent(a->kind);                                                   \
    }
OF_COLLECTIVE(collective, th_text(th_collective_names[c->kind]))
OF_COLLECTIVE(algorithm, th_text(c->algorithm ? c->algorithm->name : "auto"))
OF_COLLECTIVE(ranks, th_count(c->n_ranks))
OF_COLLECTIVE(chunks, s->simulation ? th_count(c->chunks) : th_absent(TH_KIND_COUNT))
OF_COLLECTIVE(algorithm_bandwidth, bandwidth_of((double)c->bytes, duration_of(s, index)))
OF_COLLECTIVE(bus_bandwidth, bandwidth_of((c->pair_bytes ? 0 : bus_factor(c)) * (double)c->bytes,
                                          duration_of(s, index)))
OF_COLLECTIVE(bound, th_ps_or_absent(bound_of(s, c)))
OF_COLLECTIVE(over_bound, over_bound_of(duration_of(s, index), bound_of(s, c)))

/* ---- all of them ---- */

#define RUN(getter)   .get = getter, .changes = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_QUEUED
#define TIMES(member) RUN(of_times), TH_AT(th_task_result, member)
const th_attribute th_task_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after task/", .get = name},
    {"kind", TH_KIND_TEXT, "compute, transfer, host or collective", th_task_kind_name, .get = kind},
    {"state", TH_KIND_TEXT, "waiting, ready, running or done", task_state, RUN(state)},
    {"layer", TH_KIND_TEXT, "layer that it belongs to", .get = layer},
    {"job", TH_KIND_TEXT, "job that it belongs to", .get = job},
    {"node", TH_KIND_TEXT, "where it runs, or the sender", .get = node},
    {"peer", TH_KIND_TEXT, "the receiver of a transfer", .get = peer},
    {"collective", TH_KIND_TEXT, "all-reduce, all-gather, ...", .get = collective},
    {"algorithm", TH_KIND_TEXT, "algorithm that was used", .get = algorithm},
    {"ranks", TH_KIND_COUNT, "accelerators that take part", .get = ranks},
    {"bytes", TH_KIND_BYTES, "size of a transfer or collective", .get = bytes},
    {"input", TH_KIND_COUNT, "which input of the stream it works for", .get = of_task,
     TH_AT(th_task, input)},
    {"parts", TH_KIND_TEXT, "what its kernels do, of a computation of a step of training",
     .get = parts},
    {"purpose", TH_KIND_TEXT, "what it is for in a step of training", purpose_name, .get = purpose},
    {"pass", TH_KIND_TEXT, "forward, backward or weights, in a step of training", pass_name,
     .get = pass},
    {"model_layer", TH_KIND_TEXT, "in a step of training: embedding, 0, 1, ..., output",
     .get = model_layer},
    {"micro_batch", TH_KIND_COUNT, "in a step of training, from 0", .get = micro_batch},
    {"what", TH_KIND_TEXT, "layer and place", .get = what},
    {"ready", TH_KIND_TIME, "when the last task that it waited for ended", TIMES(ready_ps)},
    {"start", TH_KIND_TIME, "when it started", TIMES(start_ps)},
    {"end", TH_KIND_TIME, "when it ended", TIMES(end_ps)},
    {"duration", TH_KIND_TIME, "from its start to its end", RUN(duration)},
    {"cause", TH_KIND_COUNT, "the task whose end let it start", TIMES(cause)},
    {"slack", TH_KIND_TIME, "how much later it could have ended, of a run that is done",
     RUN(slack)},
    {"path_time", TH_KIND_TIME, "its wait and duration, of a task of the critical path",
     RUN(path_time)},
    {"chunks", TH_KIND_COUNT, "pieces that a collective cuts its buffer into", RUN(chunks)},
    {"algorithm_bandwidth", TH_KIND_BANDWIDTH, "size / time", .heading = "algbw",
     RUN(algorithm_bandwidth)},
    {"bus_bandwidth", TH_KIND_BANDWIDTH,
     "algbw x the share of the size that each rank sends at least; to be held against "
     "nccl-tests only where the links have the rates that messages reach",
     .heading = "busbw", RUN(bus_bandwidth)},
    {"bound", TH_KIND_TIME, "lower bound of the collective, its group alone", RUN(bound)},
    {"over_bound", TH_KIND_CHANGE, "time / lower bound of the group alone - 1", RUN(over_bound)},
    {.name = NULL},
};

/* ---- in words ---- */

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

/* The node of an execution trace that a task is. A task beyond them is a collective of several
 * ranks: the node of one. NULL: of another program, or without a name. */
const char *th_task_trace_name(const th_session *s, const th_task *t)
{
    const th_trace *trace = s->hand_built ? s->hand_built->trace : NULL;
    const th_program *p = th_session_program(s);
    if (!trace || !p || t < p->tasks || t >= p->tasks + p->n_tasks)
        return NULL;
    int32_t node = (int32_t)(t - p->tasks);
    if (node >= trace->n_nodes)
        node = p->successor_start[node] < p->successor_start[node + 1]
                   ? p->successors[p->successor_start[node]]
                   : INT32_MAX;
    int low = 0, high = node < trace->n_nodes ? trace->n_ranks : 0;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(trace->ranks[middle].first <= node ? &low : &high) = middle;
    }
    const th_trace_rank *rank = &trace->ranks[low];
    const char *name = high > low ? th_trace_node_name(rank, &rank->nodes[node - rank->first]) : "";
    return *name ? name : NULL;
}

static const char *kind_of(const th_session *s, const th_task *t)
{
    return t->kind == TH_TASK_COLLECTIVE
               ? th_collective_names[th_session_collective(s, t->collective)->kind]
               : th_task_kind_name(t->kind);
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
    const char *node = th_task_trace_name(s, t);
    if (node && strcmp(node, kind_of(s, t)) != 0) /* of traces that Tharsis wrote */
        th_strbuf_printf(out, "%.80s: ", node);
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
