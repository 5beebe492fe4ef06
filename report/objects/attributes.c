/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attributes.c - what is known of an object: one table and one function per class.
 * Figures of a run are absent as long as nothing is lowered. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "report/objects/layer_attributes.h"
#include "report/objects/objects.h"

/* The figures of the present run, NULL without one or when memory is out. */
static const th_result *figures(th_session *s)
{
    return s->simulation ? th_simulation_result(s->simulation, NULL) : NULL;
}

static double share(th_time part, th_time whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static th_quantity name_of(th_session *s, th_class class, int32_t index)
{
    return th_text(th_object_short_name(s, (th_object){class, index}));
}

/* ---- accel ---- */

enum {
    ACCEL_NAME,
    ACCEL_STATE,
    ACCEL_TASK,
    ACCEL_LAYER,
    ACCEL_QUEUE_DEPTH,
    ACCEL_BUFFER_FILL,
    ACCEL_ARRAY,
    ACCEL_DESIGN,
    ACCEL_DESIGNS,
    ACCEL_GROUP,
    ACCEL_CLOCK,
    ACCEL_DRAM_BYTES,
    ACCEL_DRAM_BANDWIDTH,
    ACCEL_BUSY,
    ACCEL_STALL_IN,
    ACCEL_STALL_INPUT,
    ACCEL_STALL_WEIGHT,
    ACCEL_STALL_PARTIAL,
    ACCEL_STALL_OUT,
    ACCEL_IDLE,
    ACCEL_UTILIZATION,
    ACCEL_TASKS,
    ACCEL_DRAM_READ,
    ACCEL_DRAM_WRITTEN,
    ACCEL_ENERGY,
    ACCEL_SENT,
    ACCEL_RECEIVED
};

static const char *accel_state(int i)
{
    static const char *const names[] = {"idle", "computing", NULL};
    return names[i];
}

static const char *array_state(int i)
{
    return i <= TH_ARRAY_STALLS_OUTPUT ? th_array_state_name(i) : NULL;
}

static const th_attribute accel_attributes[] = {
    [ACCEL_NAME] = {"name", TH_KIND_TEXT, "the part after accel/"},
    [ACCEL_STATE] = {"state", TH_KIND_TEXT, "idle or computing", accel_state},
    [ACCEL_TASK] = {"task", TH_KIND_COUNT, "number of the task that it computes"},
    [ACCEL_LAYER] = {"layer", TH_KIND_TEXT, "layer of that task"},
    [ACCEL_QUEUE_DEPTH] = {"queue_depth", TH_KIND_COUNT, "tasks that wait for it"},
    [ACCEL_BUFFER_FILL] = {"buffer_fill", TH_KIND_COUNT,
                           "tiles in its buffers: operands not used up, outputs not stored"},
    [ACCEL_ARRAY] = {"array", TH_KIND_TEXT, "idle, computing, stalled_input, ... stalled_output",
                     array_state},
    [ACCEL_DESIGN] = {"design", TH_KIND_TEXT, "design that the mapping gives it"},
    [ACCEL_DESIGNS] = {"designs", TH_KIND_TEXT, "designs that it can take"},
    [ACCEL_GROUP] = {"group", TH_KIND_COUNT, "its island in the system file"},
    [ACCEL_CLOCK] = {"clock", TH_KIND_FACTOR,
                     "its clock now, as a factor of what the system says (x0.5)"},
    [ACCEL_DRAM_BYTES] = {"dram_bytes", TH_KIND_BYTES, "capacity of its memory"},
    [ACCEL_DRAM_BANDWIDTH] = {"dram_bandwidth", TH_KIND_BANDWIDTH, "bandwidth of its memory"},
    [ACCEL_BUSY] = {"busy", TH_KIND_TIME, "time computing"},
    [ACCEL_STALL_IN] = {"stall_in", TH_KIND_TIME, "time waiting for operands"},
    [ACCEL_STALL_INPUT] = {"stall_input", TH_KIND_TIME, "of that, for inputs"},
    [ACCEL_STALL_WEIGHT] = {"stall_weight", TH_KIND_TIME, "for weights, inputs being there"},
    [ACCEL_STALL_PARTIAL] = {"stall_partial", TH_KIND_TIME,
                             "for partial sums, the others being there"},
    [ACCEL_STALL_OUT] = {"stall_out", TH_KIND_TIME, "time waiting for room for outputs"},
    [ACCEL_IDLE] = {"idle", TH_KIND_TIME, "time without a task"},
    [ACCEL_UTILIZATION] = {"utilization", TH_KIND_SHARE, "busy / elapsed"},
    [ACCEL_TASKS] = {"tasks", TH_KIND_COUNT, "tasks computed"},
    [ACCEL_DRAM_READ] = {"dram_read", TH_KIND_BYTES, "read from its memory by its own engines"},
    [ACCEL_DRAM_WRITTEN] = {"dram_written", TH_KIND_BYTES,
                            "written to its memory by its own engines"},
    [ACCEL_ENERGY] = {"energy", TH_KIND_ENERGY, "taken, where the system says what things cost"},
    [ACCEL_SENT] = {"sent", TH_KIND_BYTES, "sent over the network"},
    [ACCEL_RECEIVED] = {"received", TH_KIND_BYTES, "received over the network"},
    {NULL, TH_KIND_TEXT, NULL},
};

static const char *design_of(const th_session *s, int accel)
{
    for (int k = 0; s->mapping && k < s->mapping->n_sets; k++)
        for (int i = 0; i < s->mapping->sets[k].n_accels; i++)
            if (s->mapping->sets[k].accels[i] == accel)
                return s->system->designs[th_set_design(&s->mapping->sets[k], i, s->system)].name;
    return NULL;
}

static th_quantity designs_of(th_session *s, const th_accel *a)
{
    th_strbuf_clear(&s->text.scratch);
    for (int i = 0; i < a->n_designs; i++)
        th_strbuf_printf(&s->text.scratch, "%s%s", i > 0 ? " " : "",
                         s->system->designs[a->designs[i]].name);
    return th_text(s->text.scratch.text);
}

/* What set_property and inject_fault have made of an object. */
static double factor_of(const th_session *s, th_property_kind kind, int index)
{
    return s->simulation ? th_machine_property_factor(s->simulation->machine, kind, index) : 1;
}

/* What accelerator a is doing. */
static th_quantity accel_now(th_session *s, int a, int attribute)
{
    int32_t task = s->simulation ? th_machine_running(s->simulation->machine, a) : -1;
    if (attribute == ACCEL_STATE)
        return th_text(accel_state(task >= 0));
    if (attribute == ACCEL_TASK)
        return task >= 0 ? th_count(task) : th_absent(TH_KIND_COUNT);
    int32_t layer = task >= 0 ? s->simulation->program->tasks[task].layer : -1;
    return layer >= 0 ? name_of(s, TH_CLASS_LAYER, layer) : th_absent(TH_KIND_TEXT);
}

/* What its array and its buffers are doing. */
static th_quantity accel_inside(th_session *s, int a, int attribute)
{
    if (!s->simulation)
        return th_absent(accel_attributes[attribute].kind);
    if (attribute == ACCEL_QUEUE_DEPTH)
        return th_count(th_machine_waiting(s->simulation->machine, a));
    th_tiles tiles = th_machine_tiles(s->simulation->machine, a);
    return attribute == ACCEL_ARRAY ? th_text(th_array_state_name(tiles.array))
                                    : th_count(tiles.fill);
}

static th_quantity accel_energy(th_session *s, int index)
{
    const th_result *r = figures(s);
    return r && r->has_energy ? th_joules(th_energy_sum(&r->accels[index].energy))
                              : th_absent(TH_KIND_ENERGY);
}

static th_quantity accel_figure(th_session *s, int index, int attribute)
{
    if (!s->simulation)
        return th_absent(accel_attributes[attribute].kind);
    const th_accel_result one = th_machine_accel(s->simulation->machine, index), *a = &one;
    switch (attribute) {
    case ACCEL_BUSY:
        return th_ps(a->did.busy_ps);
    case ACCEL_STALL_IN:
        return th_ps(th_stats_stall_in(&a->did));
    case ACCEL_STALL_INPUT:
    case ACCEL_STALL_WEIGHT:
    case ACCEL_STALL_PARTIAL:
        return th_ps(a->did.stall_ps[attribute - ACCEL_STALL_INPUT + TH_ENGINE_INPUT]);
    case ACCEL_STALL_OUT:
        return th_ps(a->did.stall_ps[TH_ENGINE_OUTPUT]);
    case ACCEL_IDLE:
        return th_ps(a->idle_ps);
    case ACCEL_UTILIZATION:
        return th_share(share(a->did.busy_ps, th_machine_elapsed(s->simulation->machine)));
    case ACCEL_TASKS:
        return th_count(a->n_tasks);
    case ACCEL_DRAM_READ:
        return th_bytes(th_stats_read(&a->did));
    case ACCEL_DRAM_WRITTEN:
        return th_bytes(a->did.moved_bytes[TH_ENGINE_OUTPUT]);
    case ACCEL_ENERGY:
        return accel_energy(s, index);
    case ACCEL_SENT:
        return th_bytes(a->sent_bytes);
    default:
        return th_bytes(a->received_bytes);
    }
}

static th_quantity accel_value(th_session *s, int index, int attribute)
{
    const th_node *node = &s->system->nodes[s->system->accel_node[index]];
    switch (attribute) {
    case ACCEL_NAME:
        return th_text(node->name);
    case ACCEL_STATE:
    case ACCEL_TASK:
    case ACCEL_LAYER:
        return accel_now(s, index, attribute);
    case ACCEL_QUEUE_DEPTH:
    case ACCEL_BUFFER_FILL:
    case ACCEL_ARRAY:
        return accel_inside(s, index, attribute);
    case ACCEL_DESIGN:
        return th_text(design_of(s, index));
    case ACCEL_DESIGNS:
        return designs_of(s, &node->a);
    case ACCEL_GROUP:
        return th_count(node->group);
    case ACCEL_CLOCK:
        return th_factor(factor_of(s, TH_PROPERTY_FREQUENCY, index));
    case ACCEL_DRAM_BYTES:
        return th_bytes(node->a.dram_bytes);
    case ACCEL_DRAM_BANDWIDTH:
        return th_bandwidth(node->a.dram_bits_per_s);
    default:
        return accel_figure(s, index, attribute);
    }
}

/* ---- link ---- */

enum {
    LINK_NAME,
    LINK_FROM,
    LINK_TO,
    LINK_BANDWIDTH,
    LINK_LATENCY,
    LINK_FLOWS,
    LINK_QUEUE_DEPTH,
    LINK_MOST_FLOWS,
    LINK_MEAN_FLOWS,
    LINK_BYTES,
    LINK_BUSY,
    LINK_UTILIZATION
};

static const th_attribute link_attributes[] = {
    [LINK_NAME] = {"name", TH_KIND_TEXT, "the part after link/"},
    [LINK_FROM] = {"from", TH_KIND_TEXT, "node that it leaves"},
    [LINK_TO] = {"to", TH_KIND_TEXT, "node that it reaches"},
    [LINK_BANDWIDTH] = {"bandwidth", TH_KIND_BANDWIDTH, "of its medium, now"},
    [LINK_LATENCY] = {"latency", TH_KIND_TIME, "of the first bit"},
    [LINK_FLOWS] = {"flows", TH_KIND_COUNT, "transfers on it now"},
    [LINK_QUEUE_DEPTH] = {"queue_depth", TH_KIND_COUNT,
                          "transfers that share it, beyond the first"},
    [LINK_MOST_FLOWS] = {"max_flows", TH_KIND_COUNT, "the most transfers on it at once"},
    [LINK_MEAN_FLOWS] = {"mean_flows", TH_KIND_MEAN, "transfers on it while it was busy"},
    [LINK_BYTES] = {"bytes", TH_KIND_BYTES, "carried by transfers that have ended"},
    [LINK_BUSY] = {"busy", TH_KIND_TIME, "time with a transfer on it"},
    [LINK_UTILIZATION] = {"utilization", TH_KIND_SHARE, "busy / elapsed"},
    {NULL, TH_KIND_TEXT, NULL},
};

static th_quantity link_figure(th_session *s, int index, int attribute)
{
    if (!s->simulation)
        return th_absent(link_attributes[attribute].kind);
    const th_link_result l = th_machine_link(s->simulation->machine, index);
    int32_t flows = th_machine_link_flows(s->simulation->machine, index);
    switch (attribute) {
    case LINK_FLOWS:
        return th_count(flows);
    case LINK_QUEUE_DEPTH:
        return th_count(flows > 0 ? flows - 1 : 0);
    case LINK_MOST_FLOWS:
        return th_count(l.most_flows);
    case LINK_MEAN_FLOWS:
        return th_mean(share(l.flow_ps, l.busy_ps));
    case LINK_BYTES:
        return th_bytes(l.bytes);
    case LINK_BUSY:
        return th_ps(l.busy_ps);
    default:
        return th_share(share(l.busy_ps, th_machine_elapsed(s->simulation->machine)));
    }
}

static th_quantity link_value(th_session *s, int index, int attribute)
{
    const th_link *l = &s->system->links[index];
    switch (attribute) {
    case LINK_NAME:
        return th_text(l->name);
    case LINK_FROM:
        return th_text(th_system_node_name(s->system, l->from));
    case LINK_TO:
        return th_text(th_system_node_name(s->system, l->to));
    case LINK_BANDWIDTH:
        return th_bandwidth((int64_t)((double)s->system->media[l->medium].bits_per_s *
                                          factor_of(s, TH_PROPERTY_BANDWIDTH, index) +
                                      0.5));
    case LINK_LATENCY:
        return th_ps(l->latency_ps);
    default:
        return link_figure(s, index, attribute);
    }
}

/* ---- node ---- */

enum { NODE_NAME, NODE_KIND, NODE_GROUP, NODE_FORWARDS };

static const char *node_kind(int i)
{
    static const char *const names[] = {"accelerator", "host", "switch", NULL};
    return names[i];
}

static const th_attribute node_attributes[] = {
    [NODE_NAME] = {"name", TH_KIND_TEXT, "the part after node/"},
    [NODE_KIND] = {"kind", TH_KIND_TEXT, "accelerator, host or switch", node_kind},
    [NODE_GROUP] = {"group", TH_KIND_COUNT, "its island in the system file"},
    [NODE_FORWARDS] = {"forwards", TH_KIND_COUNT, "1 if routes may pass through it"},
    {NULL, TH_KIND_TEXT, NULL},
};

static th_quantity node_value(th_session *s, int index, int attribute)
{
    const th_node *n = &s->system->nodes[index];
    switch (attribute) {
    case NODE_NAME:
        return th_text(n->name);
    case NODE_KIND:
        return th_text(node_kind((int)n->kind));
    case NODE_GROUP:
        return th_count(n->group);
    default:
        return th_count(n->forwards);
    }
}

/* ---- task ---- */

enum {
    TASK_NAME,
    TASK_KIND,
    TASK_STATE,
    TASK_LAYER,
    TASK_NODE,
    TASK_PEER,
    TASK_COLLECTIVE,
    TASK_ALGORITHM,
    TASK_RANKS,
    TASK_BYTES,
    TASK_INPUT,
    TASK_READY,
    TASK_START,
    TASK_END,
    TASK_DURATION,
    TASK_CAUSE,
    TASK_SLACK,
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

static const th_attribute task_attributes[] = {
    [TASK_NAME] = {"name", TH_KIND_TEXT, "the part after task/"},
    [TASK_KIND] = {"kind", TH_KIND_TEXT, "compute, transfer, host or collective",
                   th_task_kind_name},
    [TASK_STATE] = {"state", TH_KIND_TEXT, "waiting, ready, running or done", task_state},
    [TASK_LAYER] = {"layer", TH_KIND_TEXT, "layer that it belongs to"},
    [TASK_NODE] = {"node", TH_KIND_TEXT, "where it runs, or the sender"},
    [TASK_PEER] = {"peer", TH_KIND_TEXT, "the receiver of a transfer"},
    [TASK_COLLECTIVE] = {"collective", TH_KIND_TEXT, "which collective operation it is"},
    [TASK_ALGORITHM] = {"algorithm", TH_KIND_TEXT, "how that is done"},
    [TASK_RANKS] = {"ranks", TH_KIND_COUNT, "members of its group"},
    [TASK_BYTES] = {"bytes", TH_KIND_BYTES, "size of a transfer or collective"},
    [TASK_INPUT] = {"input", TH_KIND_COUNT, "which input of the stream it works for"},
    [TASK_READY] = {"ready", TH_KIND_TIME, "when the last task that it waited for ended"},
    [TASK_START] = {"start", TH_KIND_TIME, "when it started"},
    [TASK_END] = {"end", TH_KIND_TIME, "when it ended"},
    [TASK_DURATION] = {"duration", TH_KIND_TIME, "from its start to its end"},
    [TASK_CAUSE] = {"cause", TH_KIND_COUNT, "the task whose end let it start"},
    [TASK_SLACK] = {"slack", TH_KIND_TIME,
                    "how much later it could have ended, of a run that is done"},
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
        return th_absent(task_attributes[attribute].kind);
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

static th_quantity collective_value(th_session *s, const th_task *t, int attribute)
{
    if (t->kind != TH_TASK_COLLECTIVE)
        return th_absent(task_attributes[attribute].kind);
    const th_collective *c = th_session_collective(s, t->collective);
    if (attribute == TASK_COLLECTIVE)
        return th_text(th_collective_names[c->kind]);
    if (attribute == TASK_RANKS)
        return th_count(c->n_ranks);
    return th_text(c->algorithm ? c->algorithm->name : "auto");
}

static th_quantity task_value(th_session *s, int index, int attribute)
{
    const th_task *t = &th_session_program(s)->tasks[index];
    bool is_transfer = t->kind == TH_TASK_TRANSFER;
    switch (attribute) {
    case TASK_NAME:
        return name_of(s, TH_CLASS_TASK, index);
    case TASK_KIND:
        return th_text(th_task_kind_name(t->kind));
    case TASK_STATE:
        return th_text(task_state(s->simulation
                                      ? (int)th_machine_task_state(s->simulation->machine, index)
                                      : TH_TASK_WAITING));
    case TASK_LAYER:
        return t->layer >= 0 ? name_of(s, TH_CLASS_LAYER, t->layer) : th_absent(TH_KIND_TEXT);
    case TASK_NODE:
        return t->node >= 0 ? name_of(s, TH_CLASS_NODE, t->node) : th_absent(TH_KIND_TEXT);
    case TASK_PEER:
        return is_transfer ? name_of(s, TH_CLASS_NODE, t->peer) : th_absent(TH_KIND_TEXT);
    case TASK_BYTES:
        return is_transfer || t->kind == TH_TASK_COLLECTIVE ? th_bytes(t->bytes)
                                                            : th_absent(TH_KIND_BYTES);
    case TASK_COLLECTIVE:
    case TASK_ALGORITHM:
    case TASK_RANKS:
        return collective_value(s, t, attribute);
    case TASK_INPUT:
        return th_count(t->input);
    default:
        return task_figure(s, index, attribute);
    }
}

/* ---- what can change them ---- */

enum {
    ANY_TASK = 1u << TH_RECORD_TASK_START | 1u << TH_RECORD_TASK_END,
    ANYTHING = ANY_TASK | 1u << TH_RECORD_LINK
};

static unsigned accel_changes(int attribute)
{
    switch (attribute) {
    case ACCEL_NAME:
    case ACCEL_DESIGN:
    case ACCEL_DESIGNS:
    case ACCEL_GROUP:
    case ACCEL_CLOCK:
    case ACCEL_DRAM_BYTES:
    case ACCEL_DRAM_BANDWIDTH:
        return 0;
    case ACCEL_STATE:
    case ACCEL_TASK:
    case ACCEL_LAYER:
    case ACCEL_TASKS:
        return ANY_TASK;
    case ACCEL_QUEUE_DEPTH:
        return ANY_TASK | 1u << TH_RECORD_QUEUED;
    case ACCEL_BUFFER_FILL:
    case ACCEL_ARRAY:
        return ANY_TASK | 1u << TH_RECORD_TILES;
    default:
        return ANYTHING;
    }
}

unsigned th_attribute_changes(th_class class, int attribute)
{
    switch (class) {
    case TH_CLASS_ACCEL:
        return accel_changes(attribute);
    case TH_CLASS_LINK:
        return attribute >= LINK_FLOWS ? 1u << TH_RECORD_LINK : 0;
    case TH_CLASS_LAYER:
        return ANYTHING;
    case TH_CLASS_TASK:
        return attribute == TASK_STATE || attribute >= TASK_READY
                   ? ANY_TASK | 1u << TH_RECORD_QUEUED
                   : 0;
    case TH_CLASS_NODE:
    case TH_N_CLASSES:
        break;
    }
    return 0;
}

/* ---- all classes ---- */

static const struct {
    const th_attribute *attributes;
    th_quantity (*value)(th_session *s, int index, int attribute);
} classes[TH_N_CLASSES] = {
    [TH_CLASS_ACCEL] = {accel_attributes, accel_value},
    [TH_CLASS_LINK] = {link_attributes, link_value},
    [TH_CLASS_NODE] = {node_attributes, node_value},
    [TH_CLASS_LAYER] = {th_layer_attributes, th_layer_attribute},
    [TH_CLASS_TASK] = {task_attributes, task_value},
};

const th_attribute *th_attributes_of(th_class class)
{
    return classes[class].attributes;
}

int th_attribute_find(th_class class, const char *name, th_error *err)
{
    enum { ATTRIBUTES_MAX = 64 };
    const char *names[ATTRIBUTES_MAX + 1];
    int k = 0;
    for (; k < ATTRIBUTES_MAX && classes[class].attributes[k].name; k++) {
        names[k] = classes[class].attributes[k].name;
        if (strcmp(names[k], name) == 0)
            return k;
    }
    names[k] = NULL;
    th_error_unknown(err, "TCL-0046", "attribute", name, names);
    return -1;
}

int th_attribute_get(th_session *s, th_object o, int attribute, th_quantity *out, th_error *err)
{
    *out = classes[o.class].value(s, o.index, attribute);
    if (s->text.scratch.failed) {
        th_strbuf_clear(&s->text.scratch);
        return th_error_no_memory(err);
    }
    return 0;
}

/* "all_reduce of 8 by ring, 1GiB" */
static void describe_collective(const th_collective *c, th_strbuf *out)
{
    char bytes[64];
    th_strbuf_printf(out, "%s of %d by %s, %s", th_collective_names[c->kind], (int)c->n_ranks,
                     c->algorithm ? c->algorithm->name : "auto",
                     th_format_bytes(c->bytes, bytes, sizeof bytes));
}

void th_task_describe(const th_session *s, const th_task *t, th_strbuf *out)
{
    const char *layer = s->hand_built   ? ""
                        : t->layer >= 0 ? s->workload->layers[t->layer].name
                                        : "input";
    const char *colon = s->hand_built ? "" : ": ";
    switch ((th_task_kind)t->kind) {
    case TH_TASK_COMPUTE:
        th_strbuf_printf(out, "%s on accel/%s", layer, s->system->nodes[t->node].name);
        break;
    case TH_TASK_TRANSFER:
        th_strbuf_printf(out, "%s%s%s -> %s", layer, colon, s->system->nodes[t->node].name,
                         s->system->nodes[t->peer].name);
        break;
    case TH_TASK_HOST:
        if (t->node >= 0)
            th_strbuf_printf(out, "%s%s%s at work", layer, colon, s->system->nodes[t->node].name);
        else
            th_strbuf_printf(out, "input %d arrives", (int)t->input);
        break;
    case TH_TASK_COLLECTIVE:
        describe_collective(th_session_collective(s, t->collective), out);
        break;
    }
}
