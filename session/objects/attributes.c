/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attributes.c - attributes by class: those of links and nodes, and the table of all classes. */
#include <config.h>
#include <string.h>
#include "base/names.h"
#include "session/objects/class_attributes.h"

const th_result *th_run_result(th_session *s)
{
    const th_result *r = s->simulation ? th_simulation_result(s->simulation, NULL) : NULL;
    s->text.scratch.failed |= s->simulation && !r; /* memory is out */
    return r;
}

th_quantity th_attribute_at(const th_attribute *a, const void *structure)
{
    th_quantity q = th_absent(a->kind);
    if (!structure)
        return q;
    const void *place = (const char *)structure + a->at;
    int32_t narrow;
    if (a->kind == TH_KIND_TEXT)
        memcpy(&q.text, place, sizeof q.text);
    else if (th_kind_is_real(a->kind))
        memcpy(&q.real, place, sizeof q.real);
    else if (a->size == sizeof q.whole)
        memcpy(&q.whole, place, sizeof q.whole);
    else {
        memcpy(&narrow, place, sizeof narrow);
        q.whole = narrow;
    }
    q.is_absent = a->kind == TH_KIND_TEXT ? !q.text : q.whole < 0;
    return q;
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

TH_GETTER(of_link, th_attribute_at(a, &s->system->links[index]))
TH_GETTER(of_medium, th_attribute_at(a, &s->system->media[s->system->links[index].medium]))
TH_GETTER(link_from, th_text(th_system_node_name(s->system, s->system->links[index].from)))
TH_GETTER(link_to, th_text(th_system_node_name(s->system, s->system->links[index].to)))
TH_GETTER(link_mtbf, th_mtbf_hours(s->system->media[s->system->links[index].medium].mtbf_us))

static th_quantity link_bandwidth(th_session *s, int index, const th_attribute *a)
{
    double nominal = (double)of_medium(s, index, a).whole;
    return th_bandwidth(
        (int64_t)(nominal * th_property_factor_of(s, TH_PROPERTY_BANDWIDTH, index) + 0.5));
}

/* What the machine counts for a link, and what follows from it. */
typedef struct link_figures {
    th_link_result counted;
    int64_t flows, queue_depth, max_queue; /* now, now, and at most */
    double mean_flows, mean_queue, utilization, load;
} link_figures;

static th_quantity of_run(th_session *s, int index, const th_attribute *a)
{
    if (!s->simulation)
        return th_absent(a->kind);
    const th_machine *m = s->simulation->machine;
    const th_link_result l = th_machine_link(m, index);
    int64_t flows = th_machine_link_flows(m, index);
    double elapsed = (double)th_machine_elapsed(m);
    bool needs_load = a->at == offsetof(link_figures, load); /* which looks at other links */
    const link_figures all = {
        .counted = l,
        .flows = flows,
        .queue_depth = flows > 0 ? flows - 1 : 0,
        .max_queue = l.peak_flows > 0 ? l.peak_flows - 1 : 0,
        .mean_flows = th_ratio((double)l.flow_ps, (double)l.busy_ps),
        .mean_queue = th_ratio((double)(l.flow_ps - l.busy_ps), elapsed),
        .utilization = th_ratio((double)l.busy_ps, elapsed),
        .load = needs_load ? load_of(s, index) : 0,
    };
    return th_attribute_at(a, &all);
}

#define INPUT(getter)  .of = TH_OF_INPUT, .get = getter
#define LINK(member)   .get = of_link, TH_AT(th_link, member)
#define MEDIUM(getter) .get = getter, TH_AT(th_medium, bits_per_s)
#define RUN(member)    .get = of_run, TH_AT(link_figures, member), .changes = 1u << TH_RECORD_LINK
#define DETAIL(member) .is_detail = true, RUN(member)
#define NOW(member)    .of = TH_OF_MOMENT, RUN(member)
const th_attribute th_link_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after link/", .heading = "link", LINK(name)},
    {"from", TH_KIND_TEXT, "node that it leaves", INPUT(link_from)},
    {"to", TH_KIND_TEXT, "node that it reaches", INPUT(link_to)},
    {"bandwidth", TH_KIND_BANDWIDTH, "of its medium, now", .of = TH_OF_MOMENT,
     MEDIUM(link_bandwidth)},
    {"latency", TH_KIND_TIME, "of the first bit", .of = TH_OF_INPUT, LINK(latency_ps)},
    {"mtbf_h", TH_KIND_NUMBER, "mean hours between failures of its cable", INPUT(link_mtbf)},
    {"flows", TH_KIND_COUNT, "transfers on it now", NOW(flows)},
    {"queue_depth", TH_KIND_COUNT, "transfers that share it, beyond the first", NOW(queue_depth)},
    {"max_flows", TH_KIND_COUNT, "most flows at one time", .heading = "peak flows",
     DETAIL(counted.peak_flows)},
    {"mean_flows", TH_KIND_MEAN, "mean number of flows while busy", .heading = "flows",
     DETAIL(mean_flows)},
    {"bytes", TH_KIND_BYTES, "bytes carried", .heading = "carried", RUN(counted.bytes)},
    {"busy", TH_KIND_TIME, "time with a transfer on it", RUN(counted.busy_ps)},
    {"utilization", TH_KIND_SHARE, "time with at least one flow / elapsed time", .heading = "busy",
     DETAIL(utilization)},
    {"nominal_bandwidth", TH_KIND_BANDWIDTH, "bandwidth of one direction", .heading = "bandwidth",
     .of = TH_OF_INPUT, MEDIUM(of_medium)},
    {"load", TH_KIND_SHARE, "bytes carried / (bandwidth x elapsed time)", DETAIL(load)},
    {"mean_queue", TH_KIND_MEAN, "mean number of flows beyond the first, over the elapsed time",
     .heading = "queue", DETAIL(mean_queue)},
    {"max_queue", TH_KIND_COUNT, "most flows beyond the first", DETAIL(max_queue)},
    {.name = NULL},
};

/* ---- node ---- */

static const char *node_kind(int i)
{
    static const char *const names[] = {"accelerator", "host", "switch", NULL};
    return names[i];
}

TH_GETTER(of_node, th_attribute_at(a, &s->system->nodes[index]))
TH_GETTER(node_kind_of, th_text(node_kind((int)s->system->nodes[index].kind)))
TH_GETTER(node_forwards, th_count(s->system->nodes[index].forwards))
TH_GETTER(node_mtbf,
          th_mtbf_hours(s->system->nodes[index].accel >= 0 ? s->system->nodes[index].a.mtbf_us
                                                           : s->system->nodes[index].mtbf_us))

const th_attribute th_node_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after node/", .get = of_node, TH_AT(th_node, name)},
    {"kind", TH_KIND_TEXT, "accelerator, host or switch", node_kind, INPUT(node_kind_of)},
    {"group", TH_KIND_COUNT, "its island in the system file", INPUT(of_node),
     TH_AT(th_node, group)},
    {"forwards", TH_KIND_COUNT, "1 if routes may pass through it", INPUT(node_forwards)},
    {"mtbf_h", TH_KIND_NUMBER, "mean hours between its failures", INPUT(node_mtbf)},
    {.name = NULL},
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
