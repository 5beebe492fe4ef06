/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accel_attributes.c - the attributes of accelerators: of the system, the mapping, and the run. */
#include <config.h>
#include "report/objects/class_attributes.h"

enum {
    ACCEL_NAME,
    ACCEL_STATE,
    ACCEL_TASK,
    ACCEL_LAYER,
    ACCEL_QUEUE_DEPTH,
    ACCEL_BUFFER_FILL,
    ACCEL_TILES_DONE,
    ACCEL_TILES,
    ACCEL_ARRAY,
    ACCEL_DESIGN,
    ACCEL_DESIGNS,
    ACCEL_GROUP,
    ACCEL_CLOCK,
    ACCEL_DRAM_BYTES,
    ACCEL_DRAM_BANDWIDTH,
    ACCEL_MTBF,
    ACCEL_BUSY,
    ACCEL_STALLED,
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
    ACCEL_RECEIVED,
    ACCEL_WEIGHTS,
    ACCEL_PEAK,
    ACCEL_PEAK_AT,
    ACCEL_PEAK_LAYER,
    ACCEL_MAC_ENERGY
};

enum { STATE_IDLE, STATE_COMPUTING, STATE_DEAD };

static const char *accel_state(int i)
{
    static const char *const names[] = {"idle", "computing", "dead", NULL};
    return names[i];
}

const char *th_accel_state_now(const th_session *s, int accel)
{
    const th_machine *m = s->simulation ? s->simulation->machine : NULL;
    if (m && th_machine_is_dead(m, accel))
        return accel_state(STATE_DEAD);
    return accel_state(m && th_machine_running(m, accel) >= 0 ? STATE_COMPUTING : STATE_IDLE);
}

static const char *array_state(int i)
{
    return i <= TH_ARRAY_STALLS_OUTPUT ? th_array_state_name(i) : NULL;
}

const th_attribute th_accel_attributes[] = {
    [ACCEL_NAME] = {"name", TH_KIND_TEXT, "the part after accel/", .heading = "accelerator"},
    [ACCEL_STATE] = {"state", TH_KIND_TEXT,
                     "idle, computing (also while its array is stalled), "
                     "or dead after a fault",
                     accel_state, .of = TH_OF_MOMENT},
    [ACCEL_TASK] = {"task", TH_KIND_COUNT, "number of the task that it computes", .of = TH_OF_MOMENT},
    [ACCEL_LAYER] = {"layer", TH_KIND_TEXT, "layer of that task", .of = TH_OF_MOMENT},
    [ACCEL_QUEUE_DEPTH] = {"queue_depth", TH_KIND_COUNT, "tasks that wait for it",
                           .heading = "ready", .of = TH_OF_MOMENT},
    [ACCEL_BUFFER_FILL] = {"buffer_fill", TH_KIND_COUNT,
                           "tiles in its buffers: operands not used up, outputs not stored", .of = TH_OF_MOMENT},
    [ACCEL_TILES_DONE] = {"tiles_done", TH_KIND_COUNT, "tiles of its task that are computed",
                          .heading = "tiles", .of = TH_OF_MOMENT},
    [ACCEL_TILES] = {"tiles", TH_KIND_COUNT, "tiles of its task", .heading = "of", .of = TH_OF_MOMENT},
    [ACCEL_ARRAY] = {"array", TH_KIND_TEXT, "idle, computing, stalled_input, ... stalled_output",
                     array_state, .of = TH_OF_MOMENT},
    [ACCEL_DESIGN] = {"design", TH_KIND_TEXT, "design that the mapping gives it", .of = TH_OF_INPUT},
    [ACCEL_DESIGNS] = {"designs", TH_KIND_TEXT, "designs that it can take", .of = TH_OF_INPUT},
    [ACCEL_GROUP] = {"group", TH_KIND_COUNT, "its island in the system file", .of = TH_OF_INPUT},
    [ACCEL_CLOCK] = {"clock", TH_KIND_FACTOR,
                     "its clock now, as a factor of what the system says (x0.5)", .of = TH_OF_MOMENT},
    [ACCEL_DRAM_BYTES] = {"dram_bytes", TH_KIND_BYTES, "memory for weights and tensors",
                          .heading = "capacity", .of = TH_OF_INPUT},
    [ACCEL_DRAM_BANDWIDTH] = {"dram_bandwidth", TH_KIND_BANDWIDTH, "bandwidth of its memory", .of = TH_OF_INPUT},
    [ACCEL_MTBF] = {"mtbf_h", TH_KIND_NUMBER, "mean hours between its failures", .of = TH_OF_INPUT},
    [ACCEL_BUSY] = {"busy", TH_KIND_TIME, "time in which the array works"},
    [ACCEL_STALLED] = {"stalled", TH_KIND_TIME, "waiting for operands, or for room for outputs"},
    [ACCEL_STALL_IN] = {"stall_in", TH_KIND_TIME,
                        "time in which the array waits for operands from DRAM", .is_detail = true},
    [ACCEL_STALL_INPUT] = {"stall_input", TH_KIND_TIME, "of that, for inputs", .is_detail = true},
    [ACCEL_STALL_WEIGHT] = {"stall_weight", TH_KIND_TIME, "for weights, inputs being there", .is_detail = true},
    [ACCEL_STALL_PARTIAL] = {"stall_partial", TH_KIND_TIME,
                             "for partial sums, the others being there", .is_detail = true},
    [ACCEL_STALL_OUT] = {"stall_out", TH_KIND_TIME,
                         "time in which the array waits for room to store outputs", .is_detail = true},
    [ACCEL_IDLE] = {"idle", TH_KIND_TIME, "time without a task"},
    [ACCEL_UTILIZATION] = {"utilization", TH_KIND_SHARE, "busy / elapsed time", .heading = "busy", .is_detail = true},
    [ACCEL_TASKS] = {"tasks", TH_KIND_COUNT, "tasks that ran on the accelerator", .is_detail = true},
    [ACCEL_DRAM_READ] = {"dram_read", TH_KIND_BYTES, "read from its memory by its own engines", .is_detail = true},
    [ACCEL_DRAM_WRITTEN] = {"dram_written", TH_KIND_BYTES,
                            "written to its memory by its own engines", .is_detail = true},
    [ACCEL_ENERGY] = {"energy", TH_KIND_ENERGY, "taken, where the system says what things cost"},
    [ACCEL_SENT] = {"sent", TH_KIND_BYTES, "bytes that it sent over the network"},
    [ACCEL_RECEIVED] = {"received", TH_KIND_BYTES, "received over the network", .is_detail = true},
    [ACCEL_WEIGHTS] = {"weights", TH_KIND_BYTES, "bytes of resident weights", .is_detail = true},
    [ACCEL_PEAK] = {"peak", TH_KIND_BYTES, "most bytes held at one time", .is_detail = true},
    [ACCEL_PEAK_AT] = {"peak_at", TH_KIND_TIME, "when the run reached the peak", .is_detail = true},
    [ACCEL_PEAK_LAYER] = {"peak_layer", TH_KIND_TEXT, "layer in which the peak lies",
                          .heading = "in layer", .is_detail = true},
    [ACCEL_MAC_ENERGY] = TH_ENERGY_ATTRIBUTES,
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

/* The present state of accelerator a. */
static th_quantity accel_now(th_session *s, int a, int attribute)
{
    int32_t task = s->simulation ? th_machine_running(s->simulation->machine, a) : -1;
    if (attribute == ACCEL_STATE)
        return th_text(th_accel_state_now(s, a));
    if (attribute == ACCEL_TASK)
        return task >= 0 ? th_count(task) : th_absent(TH_KIND_COUNT);
    int32_t layer = task >= 0 ? s->simulation->program->tasks[task].layer : -1;
    return layer >= 0 ? th_object_name_text(s, TH_CLASS_LAYER, layer) : th_absent(TH_KIND_TEXT);
}

/* The present state of its array and buffers. */
static th_quantity accel_inside(th_session *s, int a, int attribute)
{
    if (!s->simulation)
        return th_absent(th_accel_attributes[attribute].kind);
    if (attribute == ACCEL_QUEUE_DEPTH)
        return th_count(th_machine_waiting(s->simulation->machine, a));
    int32_t task = th_machine_running(s->simulation->machine, a);
    bool is_of_task = attribute == ACCEL_TILES_DONE || attribute == ACCEL_TILES;
    if (is_of_task && task < 0)
        return th_absent(TH_KIND_COUNT);
    if (attribute == ACCEL_TILES) {
        int32_t cost = s->simulation->program->tasks[task].compute_cost;
        return th_count(
            th_compute_cost_get(th_simulation_costs(s->simulation), cost)->total.n_steps);
    }
    th_tiles tiles = th_machine_tiles(s->simulation->machine, a);
    if (is_of_task)
        return th_count(tiles.done);
    return attribute == ACCEL_ARRAY ? th_text(th_array_state_name(tiles.array))
                                    : th_count(tiles.fill);
}

static th_quantity accel_energy(th_session *s, int index)
{
    const th_result *r = th_run_result(s);
    return r && r->has_energy ? th_joules(th_energy_sum(&r->accels[index].energy))
                              : th_absent(TH_KIND_ENERGY);
}

static th_quantity accel_figure(th_session *s, int index, int attribute)
{
    if (!s->simulation)
        return th_absent(th_accel_attributes[attribute].kind);
    const th_accel_result one = th_machine_accel(s->simulation->machine, index), *a = &one;
    switch (attribute) {
    case ACCEL_BUSY:
        return th_ps(a->stats.busy_ps);
    case ACCEL_STALLED:
        return th_ps(th_stats_occupied(&a->stats) - a->stats.busy_ps);
    case ACCEL_STALL_IN:
        return th_ps(th_stats_stall_in(&a->stats));
    case ACCEL_STALL_INPUT:
    case ACCEL_STALL_WEIGHT:
    case ACCEL_STALL_PARTIAL:
        return th_ps(a->stats.stall_ps[attribute - ACCEL_STALL_INPUT + TH_ENGINE_INPUT]);
    case ACCEL_STALL_OUT:
        return th_ps(a->stats.stall_ps[TH_ENGINE_OUTPUT]);
    case ACCEL_IDLE:
        return th_ps(a->idle_ps);
    case ACCEL_UTILIZATION:
        return th_share(th_ratio(a->stats.busy_ps, th_machine_elapsed(s->simulation->machine)));
    case ACCEL_TASKS:
        return th_count(a->n_tasks);
    case ACCEL_DRAM_READ:
        return th_bytes(th_stats_read(&a->stats));
    case ACCEL_DRAM_WRITTEN:
        return th_bytes(a->stats.moved_bytes[TH_ENGINE_OUTPUT]);
    case ACCEL_ENERGY:
        return accel_energy(s, index);
    case ACCEL_SENT:
        return th_bytes(a->sent_bytes);
    case ACCEL_RECEIVED:
        return th_bytes(a->received_bytes);
    default: {
        const th_result *r = th_run_result(s);
        return th_energy_part(r, r ? &r->accels[index].energy : NULL, attribute - ACCEL_MAC_ENERGY);
    }
    }
}

/* When the layer of the peak began on the accelerator in its pass; -1: not yet. */
static th_time reached_at(const th_session *s, int accel, const th_peak_place *p)
{
    const th_simulation *sim = s->simulation;
    const th_task_result *times = th_machine_times(sim->machine);
    int node = s->system->accel_node[accel];
    th_time first = -1;
    for (int32_t t = p->first_task; t < p->end_task; t++) {
        const th_task *task = &sim->program->tasks[t];
        bool is_there =
            task->node == node || (task->kind == TH_TASK_TRANSFER && task->peer == node);
        if (is_there && task->layer == p->layer && times[t].start_ps >= 0 &&
            (first < 0 || times[t].start_ps < first))
            first = times[t].start_ps;
    }
    return first;
}

/* Of a mapping that has been lowered. */
static th_quantity accel_memory(th_session *s, int index, int attribute)
{
    th_peak_place p;
    th_quantity none = th_absent(th_accel_attributes[attribute].kind);
    if (!s->simulation || !s->simulation->lower)
        return none;
    if (attribute == ACCEL_WEIGHTS)
        return th_bytes(th_lower_weight_bytes(s->simulation->lower)[index]);
    if (attribute == ACCEL_PEAK)
        return th_bytes(th_lower_peak_bytes(s->simulation->lower)[index]);
    if (!th_lower_peak_of(s->simulation->lower, index, &p))
        return none;
    return attribute == ACCEL_PEAK_AT ? th_ps_or_absent(reached_at(s, index, &p))
                                      : th_text(s->workload->layers[p.layer].name);
}

th_quantity th_accel_attribute(th_session *s, int index, int attribute)
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
    case ACCEL_TILES_DONE:
    case ACCEL_TILES:
    case ACCEL_ARRAY:
        return accel_inside(s, index, attribute);
    case ACCEL_DESIGN:
        return th_text(design_of(s, index));
    case ACCEL_DESIGNS:
        return designs_of(s, &node->a);
    case ACCEL_GROUP:
        return th_count(node->group);
    case ACCEL_CLOCK:
        return th_factor(th_property_factor_of(s, TH_PROPERTY_FREQUENCY, index));
    case ACCEL_DRAM_BYTES:
        return th_bytes(node->a.dram_bytes);
    case ACCEL_DRAM_BANDWIDTH:
        return th_bandwidth(node->a.dram_bits_per_s);
    case ACCEL_MTBF:
        return th_mtbf_hours(node->a.mtbf_us);
    case ACCEL_WEIGHTS:
    case ACCEL_PEAK:
    case ACCEL_PEAK_AT:
    case ACCEL_PEAK_LAYER:
        return accel_memory(s, index, attribute);
    default:
        return accel_figure(s, index, attribute);
    }
}

unsigned th_accel_attribute_changes(int attribute)
{
    switch (attribute) {
    case ACCEL_NAME:
    case ACCEL_DESIGN:
    case ACCEL_DESIGNS:
    case ACCEL_GROUP:
    case ACCEL_CLOCK:
    case ACCEL_DRAM_BYTES:
    case ACCEL_DRAM_BANDWIDTH:
    case ACCEL_MTBF:
    case ACCEL_WEIGHTS:
    case ACCEL_PEAK:
    case ACCEL_PEAK_LAYER:
        return 0;
    case ACCEL_STATE:
        return TH_RECORDS_OF_TASKS | 1u << TH_RECORD_HEALTH;
    case ACCEL_TASK:
    case ACCEL_LAYER:
    case ACCEL_TASKS:
    case ACCEL_TILES:
        return TH_RECORDS_OF_TASKS;
    case ACCEL_QUEUE_DEPTH:
        return TH_RECORDS_OF_TASKS | 1u << TH_RECORD_QUEUED;
    case ACCEL_BUFFER_FILL:
    case ACCEL_TILES_DONE:
    case ACCEL_ARRAY:
        return TH_RECORDS_OF_TASKS | 1u << TH_RECORD_TILES;
    default:
        return TH_RECORDS_OF_ANY;
    }
}
