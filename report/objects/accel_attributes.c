/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accel_attributes.c - the attributes of accelerators: of the system, the mapping, and the run. */
#include <config.h>
#include <stddef.h>
#include "report/objects/class_attributes.h"

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

/* ---- of the system and the mapping ---- */

enum { NAME, DESIGN, DESIGNS, GROUP, CLOCK, DRAM_BYTES, DRAM_BANDWIDTH, MTBF };

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

static th_quantity of_system(th_session *s, int index, const th_attribute *a)
{
    const th_node *node = &s->system->nodes[s->system->accel_node[index]];
    switch (a->at) {
    case NAME:
        return th_text(node->name);
    case DESIGN:
        return th_text(design_of(s, index));
    case DESIGNS:
        return designs_of(s, &node->a);
    case GROUP:
        return th_count(node->group);
    case CLOCK:
        return th_factor(th_property_factor_of(s, TH_PROPERTY_FREQUENCY, index));
    case DRAM_BYTES:
        return th_bytes(node->a.dram_bytes);
    case DRAM_BANDWIDTH:
        return th_bandwidth(node->a.dram_bits_per_s);
    default:
        return th_mtbf_hours(node->a.mtbf_us);
    }
}

/* ---- the moment ---- */

static th_quantity state(th_session *s, int index, const th_attribute *a)
{
    (void)a;
    return th_text(th_accel_state_now(s, index));
}

/* What it computes; -1: nothing. */
static int32_t running(const th_session *s, int index)
{
    return s->simulation ? th_machine_running(s->simulation->machine, index) : -1;
}

static th_quantity task(th_session *s, int index, const th_attribute *a)
{
    int32_t t = running(s, index);
    return t >= 0 ? th_count(t) : th_absent(a->kind);
}

static th_quantity layer(th_session *s, int index, const th_attribute *a)
{
    int32_t t = running(s, index), l = t >= 0 ? s->simulation->program->tasks[t].layer : -1;
    return l >= 0 ? th_object_name_text(s, TH_CLASS_LAYER, l) : th_absent(a->kind);
}

static th_quantity queue_depth(th_session *s, int index, const th_attribute *a)
{
    return s->simulation ? th_count(th_machine_waiting(s->simulation->machine, index))
                         : th_absent(a->kind);
}

/* Of its array and buffers. */
enum { FILL, DONE, ALL, ARRAY };

static th_quantity tiles(th_session *s, int index, const th_attribute *a)
{
    int32_t t = running(s, index);
    if (!s->simulation || ((a->at == DONE || a->at == ALL) && t < 0))
        return th_absent(a->kind);
    if (a->at == ALL) {
        int32_t cost = s->simulation->program->tasks[t].compute_cost;
        return th_count(
            th_compute_cost_get(th_simulation_costs(s->simulation), cost)->total.n_steps);
    }
    th_tiles now = th_machine_tiles(s->simulation->machine, index);
    return a->at == ARRAY  ? th_text(th_array_state_name(now.array))
           : a->at == DONE ? th_count(now.done)
                           : th_count(now.fill);
}

/* ---- of the run ---- */

static th_quantity field(th_session *s, int index, const th_attribute *a)
{
    if (!s->simulation)
        return th_absent(a->kind);
    const th_accel_result now = th_machine_accel(s->simulation->machine, index);
    return th_attribute_field(a, &now);
}

/* What no field has. */
enum { STALLED, STALL_IN, TASKS, DRAM_READ, UTILIZATION };

static th_quantity derived(th_session *s, int index, const th_attribute *a)
{
    if (!s->simulation)
        return th_absent(a->kind);
    const th_accel_result now = th_machine_accel(s->simulation->machine, index);
    switch (a->at) {
    case STALLED:
        return th_ps(th_stats_occupied(&now.stats) - now.stats.busy_ps);
    case STALL_IN:
        return th_ps(th_stats_stall_in(&now.stats));
    case TASKS:
        return th_count(now.n_tasks);
    case DRAM_READ:
        return th_bytes(th_stats_read(&now.stats));
    default:
        return th_share(th_ratio(now.stats.busy_ps, th_machine_elapsed(s->simulation->machine)));
    }
}

static th_quantity energy(th_session *s, int index, const th_attribute *a)
{
    const th_result *r = th_run_result(s);
    return th_energy_part(r, r ? &r->accels[index].energy : NULL, a->at);
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
enum { WEIGHTS, PEAK, PEAK_AT, PEAK_LAYER };

static th_quantity memory(th_session *s, int index, const th_attribute *a)
{
    th_peak_place p;
    if (!s->simulation || !s->simulation->lower)
        return th_absent(a->kind);
    if (a->at == WEIGHTS)
        return th_bytes(th_lower_weight_bytes(s->simulation->lower)[index]);
    if (a->at == PEAK)
        return th_bytes(th_lower_peak_bytes(s->simulation->lower)[index]);
    if (!th_lower_peak_of(s->simulation->lower, index, &p))
        return th_absent(a->kind);
    return a->at == PEAK_AT ? th_ps_or_absent(reached_at(s, index, &p))
                            : th_text(s->workload->layers[p.layer].name);
}

/* ---- the rows ---- */

#define FIELD(name)                                                                                \
    .get = field, .at = (int)offsetof(th_accel_result, name), .changes = TH_RECORDS_OF_ANY

const th_attribute th_accel_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after accel/", .heading = "accelerator", .get = of_system,
     .at = NAME},
    {"state", TH_KIND_TEXT,
     "idle, computing (also while its array is stalled), "
     "or dead after a fault",
     accel_state, .of = TH_OF_MOMENT, .get = state,
     .changes = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_HEALTH},
    {"task", TH_KIND_COUNT, "number of the task that it computes", .of = TH_OF_MOMENT, .get = task,
     .changes = TH_RECORDS_OF_TASKS},
    {"layer", TH_KIND_TEXT, "layer of that task", .of = TH_OF_MOMENT, .get = layer,
     .changes = TH_RECORDS_OF_TASKS},
    {"queue_depth", TH_KIND_COUNT, "tasks that wait for it", .heading = "ready", .of = TH_OF_MOMENT,
     .get = queue_depth, .changes = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_QUEUED},
    {"buffer_fill", TH_KIND_COUNT, "tiles in its buffers: operands not used up, outputs not stored",
     .of = TH_OF_MOMENT, .get = tiles, .at = FILL,
     .changes = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_TILES},
    {"tiles_done", TH_KIND_COUNT, "tiles of its task that are computed", .heading = "tiles",
     .of = TH_OF_MOMENT, .get = tiles, .at = DONE,
     .changes = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_TILES},
    {"tiles", TH_KIND_COUNT, "tiles of its task", .heading = "of", .of = TH_OF_MOMENT, .get = tiles,
     .at = ALL, .changes = TH_RECORDS_OF_TASKS},
    {"array", TH_KIND_TEXT, "idle, computing, stalled_input, ... stalled_output", array_state,
     .of = TH_OF_MOMENT, .get = tiles, .at = ARRAY,
     .changes = TH_RECORDS_OF_TASKS | 1u << TH_RECORD_TILES},
    {"design", TH_KIND_TEXT, "design that the mapping gives it", .of = TH_OF_INPUT,
     .get = of_system, .at = DESIGN},
    {"designs", TH_KIND_TEXT, "designs that it can take", .of = TH_OF_INPUT, .get = of_system,
     .at = DESIGNS},
    {"group", TH_KIND_COUNT, "its island in the system file", .of = TH_OF_INPUT, .get = of_system,
     .at = GROUP},
    {"clock", TH_KIND_FACTOR, "its clock now, as a factor of what the system says (x0.5)",
     .of = TH_OF_MOMENT, .get = of_system, .at = CLOCK},
    {"dram_bytes", TH_KIND_BYTES, "memory for weights and tensors", .heading = "capacity",
     .of = TH_OF_INPUT, .get = of_system, .at = DRAM_BYTES},
    {"dram_bandwidth", TH_KIND_BANDWIDTH, "bandwidth of its memory", .of = TH_OF_INPUT,
     .get = of_system, .at = DRAM_BANDWIDTH},
    {"mtbf_h", TH_KIND_NUMBER, "mean hours between its failures", .of = TH_OF_INPUT,
     .get = of_system, .at = MTBF},
    {"busy", TH_KIND_TIME, "time in which the array works", FIELD(stats.busy_ps)},
    {"stalled", TH_KIND_TIME, "waiting for operands, or for room for outputs", .get = derived,
     .at = STALLED, .changes = TH_RECORDS_OF_ANY},
    {"stall_in", TH_KIND_TIME, "time in which the array waits for operands from DRAM",
     .is_detail = true, .get = derived, .at = STALL_IN, .changes = TH_RECORDS_OF_ANY},
    {"stall_input", TH_KIND_TIME, "of that, for inputs", .is_detail = true,
     FIELD(stats.stall_ps[TH_ENGINE_INPUT])},
    {"stall_weight", TH_KIND_TIME, "for weights, inputs being there", .is_detail = true,
     FIELD(stats.stall_ps[TH_ENGINE_WEIGHT])},
    {"stall_partial", TH_KIND_TIME, "for partial sums, the others being there", .is_detail = true,
     FIELD(stats.stall_ps[TH_ENGINE_PARTIAL])},
    {"stall_out", TH_KIND_TIME, "time in which the array waits for room to store outputs",
     .is_detail = true, FIELD(stats.stall_ps[TH_ENGINE_OUTPUT])},
    {"idle", TH_KIND_TIME, "time without a task", FIELD(idle_ps)},
    {"utilization", TH_KIND_SHARE, "busy / elapsed time", .heading = "busy", .is_detail = true,
     .get = derived, .at = UTILIZATION, .changes = TH_RECORDS_OF_ANY},
    {"tasks", TH_KIND_COUNT, "tasks that ran on the accelerator", .is_detail = true, .get = derived,
     .at = TASKS, .changes = TH_RECORDS_OF_TASKS},
    {"dram_read", TH_KIND_BYTES, "read from its memory by its own engines", .is_detail = true,
     .get = derived, .at = DRAM_READ, .changes = TH_RECORDS_OF_ANY},
    {"dram_written", TH_KIND_BYTES, "written to its memory by its own engines", .is_detail = true,
     FIELD(stats.moved_bytes[TH_ENGINE_OUTPUT])},
    {"energy", TH_KIND_ENERGY, "taken, where the system says what things cost", .get = energy,
     .at = TH_ENERGY_SUM, .changes = TH_RECORDS_OF_ANY},
    {"sent", TH_KIND_BYTES, "bytes that it sent over the network", FIELD(sent_bytes)},
    {"received", TH_KIND_BYTES, "received over the network", .is_detail = true,
     FIELD(received_bytes)},
    {"weights", TH_KIND_BYTES, "bytes of resident weights", .is_detail = true, .get = memory,
     .at = WEIGHTS},
    {"peak", TH_KIND_BYTES, "most bytes held at one time", .is_detail = true, .get = memory,
     .at = PEAK},
    {"peak_at", TH_KIND_TIME, "when the run reached the peak", .is_detail = true, .get = memory,
     .at = PEAK_AT, .changes = TH_RECORDS_OF_ANY},
    {"peak_layer", TH_KIND_TEXT, "layer in which the peak lies", .heading = "in layer",
     .is_detail = true, .get = memory, .at = PEAK_LAYER},
    TH_ENERGY_ATTRIBUTES(energy),
    {NULL, TH_KIND_TEXT, NULL},
};
