/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attributes.c - attributes by class: those of links and nodes, and the table of all classes. */
#include <config.h>
#include <stddef.h>
#include <string.h>
#include "base/names.h"
#include "report/objects/class_attributes.h"

const th_result *th_run_result(th_session *s)
{
    const th_result *r = s->simulation ? th_simulation_result(s->simulation, NULL) : NULL;
    s->text.scratch.failed |= s->simulation && !r; /* memory is out */
    return r;
}

th_quantity th_attribute_field(const th_attribute *a, const void *result)
{
    return result ? (th_quantity){.kind = a->kind,
                                  .whole = *(const int64_t *)((const char *)result + a->at)}
                  : th_absent(a->kind);
}

th_quantity th_energy_part(const th_result *r, const th_energy *e, int part)
{
    if (!r || !r->has_energy || !e)
        return th_absent(TH_KIND_ENERGY);
    const double all[TH_N_ENERGY_ATTRIBUTES + 1] = {
        e->mac_j, e->vector_j, e->buffer_j, e->dram_j, e->static_j, e->link_j, th_energy_sum(e)};
    return th_joules(all[part]);
}

th_quantity th_object_name_text(th_session *s, th_class class, int32_t index)
{
    return th_text(th_object_short_name(s, (th_object){class, index}));
}

double th_property_factor_of(const th_session *s, th_property_kind kind, int index)
{
    return s->simulation ? th_machine_property_factor(s->simulation->machine, kind, index) : 1;
}

th_quantity th_mtbf_hours(int64_t mtbf_us)
{
    const double us_per_h = 3.6e9;
    return mtbf_us > 0 ? th_number((double)mtbf_us / us_per_h) : th_absent(TH_KIND_NUMBER);
}

/* ---- link ---- */

enum { LINK_NAME, LINK_FROM, LINK_TO, LINK_BANDWIDTH, LINK_LATENCY, LINK_MTBF, LINK_NOMINAL };

static th_quantity link_of_system(th_session *s, int index, const th_attribute *a)
{
    const th_link *l = &s->system->links[index];
    const th_medium *m = &s->system->media[l->medium];
    switch (a->at) {
    case LINK_NAME:
        return th_text(l->name);
    case LINK_FROM:
        return th_text(th_system_node_name(s->system, l->from));
    case LINK_TO:
        return th_text(th_system_node_name(s->system, l->to));
    case LINK_BANDWIDTH:
        return th_bandwidth((int64_t)((double)m->bits_per_s *
                                          th_property_factor_of(s, TH_PROPERTY_BANDWIDTH, index) +
                                      0.5));
    case LINK_LATENCY:
        return th_ps(l->latency_ps);
    case LINK_MTBF:
        return th_mtbf_hours(m->mtbf_us);
    default:
        return th_bandwidth(m->bits_per_s);
    }
}

/* Over its medium, of both directions where these share one. */
static int64_t medium_bytes(const th_session *s, int index)
{
    const th_system *system = s->system;
    const th_machine *m = s->simulation->machine;
    int64_t bytes = 0;
    if (system->n_media == system->n_links) /* each has its own */
        return th_machine_link(m, index).bytes;
    for (int l = 0; l < system->n_links; l++)
        if (system->links[l].medium == system->links[index].medium)
            bytes += th_machine_link(m, l).bytes;
    return bytes;
}

static double load_of(const th_session *s, int index)
{
    const th_medium *m = &s->system->media[s->system->links[index].medium];
    const double *known =
        s->simulation->result_is_fresh ? th_simulation_loads(s->simulation, NULL) : NULL;
    return known ? known[index]
                 : th_medium_load(m, medium_bytes(s, index),
                                  th_machine_elapsed(s->simulation->machine));
}

static th_quantity link_field(th_session *s, int index, const th_attribute *a)
{
    if (!s->simulation)
        return th_absent(a->kind);
    const th_link_result l = th_machine_link(s->simulation->machine, index);
    return th_attribute_field(a, &l);
}

enum {
    LINK_FLOWS,
    LINK_QUEUE_DEPTH,
    LINK_MOST_FLOWS,
    LINK_MEAN_FLOWS,
    LINK_UTILIZATION,
    LINK_LOAD,
    LINK_MEAN_QUEUE,
    LINK_MAX_QUEUE
};

static th_quantity link_figure(th_session *s, int index, const th_attribute *a)
{
    if (!s->simulation)
        return th_absent(a->kind);
    const th_link_result l = th_machine_link(s->simulation->machine, index);
    int32_t flows = th_machine_link_flows(s->simulation->machine, index);
    th_time elapsed = th_machine_elapsed(s->simulation->machine);
    switch (a->at) {
    case LINK_FLOWS:
        return th_count(flows);
    case LINK_QUEUE_DEPTH:
        return th_count(flows > 0 ? flows - 1 : 0);
    case LINK_MOST_FLOWS:
        return th_count(l.peak_flows);
    case LINK_MEAN_FLOWS:
        return th_mean(th_ratio(l.flow_ps, l.busy_ps));
    case LINK_LOAD:
        return th_share(load_of(s, index));
    case LINK_MEAN_QUEUE:
        return th_mean(th_ratio((double)(l.flow_ps - l.busy_ps), (double)elapsed));
    case LINK_MAX_QUEUE:
        return th_count(l.peak_flows > 0 ? l.peak_flows - 1 : 0);
    default:
        return th_share(th_ratio(l.busy_ps, elapsed));
    }
}

#define LINK(which) .get = link_figure, .at = which, .changes = 1u << TH_RECORD_LINK
#define FIELD(name)                                                                                \
    .get = link_field, .at = (int)offsetof(th_link_result, name), .changes = 1u << TH_RECORD_LINK

const th_attribute th_link_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after link/", .heading = "link", .get = link_of_system,
     .at = LINK_NAME},
    {"from", TH_KIND_TEXT, "node that it leaves", .of = TH_OF_INPUT, .get = link_of_system,
     .at = LINK_FROM},
    {"to", TH_KIND_TEXT, "node that it reaches", .of = TH_OF_INPUT, .get = link_of_system,
     .at = LINK_TO},
    {"bandwidth", TH_KIND_BANDWIDTH, "of its medium, now", .of = TH_OF_MOMENT,
     .get = link_of_system, .at = LINK_BANDWIDTH},
    {"latency", TH_KIND_TIME, "of the first bit", .of = TH_OF_INPUT, .get = link_of_system,
     .at = LINK_LATENCY},
    {"mtbf_h", TH_KIND_NUMBER, "mean hours between failures of its cable", .of = TH_OF_INPUT,
     .get = link_of_system, .at = LINK_MTBF},
    {"flows", TH_KIND_COUNT, "transfers on it now", .of = TH_OF_MOMENT, LINK(LINK_FLOWS)},
    {"queue_depth", TH_KIND_COUNT, "transfers that share it, beyond the first", .of = TH_OF_MOMENT,
     LINK(LINK_QUEUE_DEPTH)},
    {"max_flows", TH_KIND_COUNT, "most flows at one time", .heading = "peak flows",
     .is_detail = true, LINK(LINK_MOST_FLOWS)},
    {"mean_flows", TH_KIND_MEAN, "mean number of flows while busy", .heading = "flows",
     .is_detail = true, LINK(LINK_MEAN_FLOWS)},
    {"bytes", TH_KIND_BYTES, "bytes carried", .heading = "carried", FIELD(bytes)},
    {"busy", TH_KIND_TIME, "time with a transfer on it", FIELD(busy_ps)},
    {"utilization", TH_KIND_SHARE, "time with at least one flow / elapsed time", .heading = "busy",
     .is_detail = true, LINK(LINK_UTILIZATION)},
    {"nominal_bandwidth", TH_KIND_BANDWIDTH, "bandwidth of one direction", .heading = "bandwidth",
     .of = TH_OF_INPUT, .get = link_of_system, .at = LINK_NOMINAL},
    {"load", TH_KIND_SHARE, "bytes carried / (bandwidth x elapsed time)", .is_detail = true,
     LINK(LINK_LOAD)},
    {"mean_queue", TH_KIND_MEAN, "mean number of flows beyond the first, over the elapsed time",
     .heading = "queue", .is_detail = true, LINK(LINK_MEAN_QUEUE)},
    {"max_queue", TH_KIND_COUNT, "most flows beyond the first", .is_detail = true,
     LINK(LINK_MAX_QUEUE)},
    {NULL, TH_KIND_TEXT, NULL},
};

/* ---- node ---- */

enum { NODE_NAME, NODE_KIND, NODE_GROUP, NODE_FORWARDS, NODE_MTBF };

static const char *node_kind(int i)
{
    static const char *const names[] = {"accelerator", "host", "switch", NULL};
    return names[i];
}

static th_quantity node_value(th_session *s, int index, const th_attribute *a)
{
    const th_node *n = &s->system->nodes[index];
    switch (a->at) {
    case NODE_NAME:
        return th_text(n->name);
    case NODE_KIND:
        return th_text(node_kind((int)n->kind));
    case NODE_GROUP:
        return th_count(n->group);
    case NODE_MTBF:
        return th_mtbf_hours(n->accel >= 0 ? n->a.mtbf_us : n->mtbf_us);
    default:
        return th_count(n->forwards);
    }
}

const th_attribute th_node_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after node/", .get = node_value, .at = NODE_NAME},
    {"kind", TH_KIND_TEXT, "accelerator, host or switch", node_kind, .of = TH_OF_INPUT,
     .get = node_value, .at = NODE_KIND},
    {"group", TH_KIND_COUNT, "its island in the system file", .of = TH_OF_INPUT, .get = node_value,
     .at = NODE_GROUP},
    {"forwards", TH_KIND_COUNT, "1 if routes may pass through it", .of = TH_OF_INPUT,
     .get = node_value, .at = NODE_FORWARDS},
    {"mtbf_h", TH_KIND_NUMBER, "mean hours between its failures", .of = TH_OF_INPUT,
     .get = node_value, .at = NODE_MTBF},
    {NULL, TH_KIND_TEXT, NULL},
};

/* ---- all classes ---- */

static const th_attribute *const classes[TH_N_CLASSES] = {
    [TH_CLASS_ACCEL] = th_accel_attributes, [TH_CLASS_LINK] = th_link_attributes,
    [TH_CLASS_NODE] = th_node_attributes,   [TH_CLASS_LAYER] = th_layer_attributes,
    [TH_CLASS_TASK] = th_task_attributes,
};

const th_attribute *th_attributes_of(th_class class)
{
    return classes[class];
}

int th_attribute_find(th_class class, const char *name, th_error *err)
{
    enum { ATTRIBUTES_MAX = 64 };
    const char *names[ATTRIBUTES_MAX + 1];
    int k = 0;
    for (; k < ATTRIBUTES_MAX && classes[class][k].name; k++) {
        names[k] = classes[class][k].name;
        if (strcmp(names[k], name) == 0)
            return k;
    }
    names[k] = NULL;
    th_error_unknown(err, "TCL-0046", "attribute", name, names);
    return -1;
}

int th_attribute_get(th_session *s, th_object o, int attribute, th_quantity *out, th_error *err)
{
    const th_attribute *a = &classes[o.class][attribute];
    *out = a->get(s, o.index, a);
    if (s->text.scratch.failed) {
        th_strbuf_clear(&s->text.scratch);
        return th_error_no_memory(err);
    }
    return 0;
}

unsigned th_attribute_changes(th_class class, int attribute)
{
    return class == TH_CLASS_LAYER ? TH_RECORDS_OF_ANY : classes[class][attribute].changes;
}
