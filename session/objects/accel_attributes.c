/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accel_attributes.c - the attributes of accelerators: of the system, the mapping, and the run. */
#include <config.h>
#include "session/objects/class_attributes.h"

enum { STATE_IDLE, STATE_COMPUTING, STATE_DEAD };

static const char *accel_state(int i)
{
    static const char *const names[] = {"idle", "computing", "dead", NULL};
    return names[i];
}

static const char *state_now(const th_session *s, int accel)
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

static const th_node *node_of(const th_session *s, int accel)
{
    return &s->system->nodes[s->system->accel_node[accel]];
}

TH_GETTER(of_node, th_attribute_at(a, node_of(s, index)))
TH_GETTER(mtbf, th_mtbf_hours(node_of(s, index)->a.mtbf_us))
TH_GETTER(clock_factor, th_factor(th_property_factor_of(s, TH_PROPERTY_FREQUENCY, index)))

static const char *design_of(const th_session *s, int accel)
{
    th_place place = th_mapping_find(s->mapping, accel);
    if (place.set < 0)
        return NULL;
    return s->system->designs[th_set_design(&s->mapping->sets[place.set], place.at, s->system)]
        .name;
}

static th_quantity designs(th_session *s, int index, const th_attribute *attribute)
{
    const th_accel *a = &node_of(s, index)->a;
    (void)attribute;
    th_strbuf_clear(&s->text.scratch);
    for (int i = 0; i < a->n_designs; i++)
        th_strbuf_printf(&s->text.scratch, "%s%s", i > 0 ? " " : "",
                         s->system->designs[a->designs[i]].name);
    return th_text(s->text.scratch.text);
}

TH_GETTER(design, th_text(design_of(s, index)))

/* ---- its present state ---- */

/* The task that it computes; -1: none. */
static int32_t task_of(const th_session *s, int accel)
{
    return s->simulation ? th_machine_running(s->simulation->machine, accel) : -1;
}

static th_quantity layer(th_session *s, int index, const th_attribute *a)
{
    int32_t task = task_of(s, index);
    int32_t layer = task >= 0 ? s->simulation->program->tasks[task].layer : -1;
    return layer >= 0 ? th_object_name_text(s, TH_CLASS_LAYER, layer) : th_absent(a->kind);
}

static th_quantity tiles(th_session *s, int index, const th_attribute *a)
{
    int32_t task = task_of(s, index);
    if (task < 0)
        return th_absent(a->kind);
    int32_t cost = s->simulation->program->tasks[task].compute_cost;
    return th_count(th_compute_cost_get(th_simulation_costs(s->simulation), cost)->total.n_steps);
}

static th_tiles tiles_of(const th_session *s, int accel)
{
    return th_machine_tiles(s->simulation->machine, accel);
}

TH_GETTER(state, th_text(state_now(s, index)))
TH_GETTER(task, task_of(s, index) >= 0 ? th_count(task_of(s, index)) : th_absent(TH_KIND_COUNT))
TH_GETTER(queue_depth, s->simulation ? th_count(th_machine_waiting(s->simulation->machine, index))
                                     : th_absent(TH_KIND_COUNT))
TH_GETTER(buffer_fill, s->simulation ? th_count(tiles_of(s, index).fill) : th_absent(TH_KIND_COUNT))
TH_GETTER(tiles_done,
          task_of(s, index) >= 0 ? th_count(tiles_of(s, index).done) : th_absent(TH_KIND_COUNT))
TH_GETTER(array, th_text(s->simulation ? th_array_state_name(tiles_of(s, index).array) : NULL))

/* ---- the run ---- */

static th_quantity of_run(th_session *s, int index, const th_attribute *a)
{
    if (!s->simulation)
        return th_absent(a->kind);
    const th_accel_result now = th_machine_accel(s->simulation->machine, index);
    return th_attribute_at(a, &now);
}

/* A getter that is an expression of the present result x. */
#define OF_RUN(name, value)                                                                        \
    static th_quantity name(th_session *s, int index, const th_attribute *a)                       \
    {                                                                                              \
        if (!s->simulation)                                                                        \
            return th_absent(a->kind);                                                             \
        const th_accel_result x = th_machine_accel(s->simulation->machine, index);                 \
        return value;                                                                              \
    }
OF_RUN(stalled, th_ps(th_stats_occupied(&x.stats) - x.stats.busy_ps))
OF_RUN(stall_in, th_ps(th_stats_stall_in(&x.stats)))
OF_RUN(dram_read, th_bytes(th_stats_read(&x.stats)))
OF_RUN(utilization, th_share(th_ratio((double)x.stats.busy_ps,
                                      (double)th_machine_elapsed(s->simulation->machine))))

/* The machine counts no energy: its result does. */
static th_quantity energy(th_session *s, int index, const th_attribute *a)
{
    const th_result *r = th_run_result(s);
    return th_energy_part(r, r ? &r->accels[index].energy : NULL, a->at);
}

/* ---- memory, of a mapping that has been lowered ---- */

static const th_lower *lower_of(const th_session *s)
{
    return s->simulation ? s->simulation->lower : NULL;
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

static bool find_peak(const th_session *s, int accel, th_peak_place *p)
{
    return lower_of(s) && th_lower_peak_of(lower_of(s), accel, p);
}

TH_GETTER(weights, lower_of(s) ? th_bytes(th_lower_weight_bytes(lower_of(s))[index])
                               : th_absent(TH_KIND_BYTES))
TH_GETTER(peak, lower_of(s) ? th_bytes(th_lower_peak_bytes(lower_of(s))[index])
                            : th_absent(TH_KIND_BYTES))

static th_quantity peak_at(th_session *s, int index, const th_attribute *a)
{
    th_peak_place p;
    (void)a;
    return th_ps_or_absent(find_peak(s, index, &p) ? reached_at(s, index, &p) : -1);
}

static th_quantity peak_layer(th_session *s, int index, const th_attribute *a)
{
    th_peak_place p;
    (void)a;
    return th_text(find_peak(s, index, &p) ? s->workload->layers[p.layer].name : NULL);
}

/* ---- all of them ---- */

#define INPUT(getter) .of = TH_OF_INPUT, .get = getter
#define NODE(member)  INPUT(of_node), TH_AT(th_node, member)
#define NOW(getter, records)                                                                       \
    .of = TH_OF_MOMENT, .get = getter, .changes = TH_RECORDS_OF_TASKS | (records)
#define RUN(getter)     .get = getter, .changes = TH_RECORDS_OF_ANY
#define RESULT(member)  RUN(of_run), TH_AT(th_accel_result, member)
#define DETAIL(getter)  .is_detail = true, RUN(getter)
#define DETAILS(member) .is_detail = true, RESULT(member)
enum {
    QUEUED = 1u << TH_RECORD_QUEUED,
    TILES = 1u << TH_RECORD_TILES,
    HEALTH = 1u << TH_RECORD_HEALTH
};
const th_attribute th_accel_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after accel/", .heading = "accelerator", .get = of_node,
     TH_AT(th_node, name)},
    {"state", TH_KIND_TEXT,
     "idle, computing (also while its array is stalled), "
     "or dead after a fault",
     accel_state, NOW(state, HEALTH)},
    {"task", TH_KIND_COUNT, "number of the task that it computes", NOW(task, 0)},
    {"layer", TH_KIND_TEXT, "layer of that task", NOW(layer, 0)},
    {"queue_depth", TH_KIND_COUNT, "tasks that wait for it", .heading = "ready",
     NOW(queue_depth, QUEUED)},
    {"buffer_fill", TH_KIND_COUNT, "tiles in its buffers: operands not used up, outputs not stored",
     NOW(buffer_fill, TILES)},
    {"tiles_done", TH_KIND_COUNT, "tiles of its task that are computed", .heading = "tiles",
     NOW(tiles_done, TILES)},
    {"tiles", TH_KIND_COUNT, "tiles of its task", .heading = "of", NOW(tiles, 0)},
    {"array", TH_KIND_TEXT, "idle, computing, stalled_input, ... stalled_output", array_state,
     NOW(array, TILES)},
    {"design", TH_KIND_TEXT, "design that the mapping gives it", INPUT(design)},
    {"designs", TH_KIND_TEXT, "designs that it can take", INPUT(designs)},
    {"group", TH_KIND_COUNT, "its island in the system file", NODE(group)},
    {"clock", TH_KIND_FACTOR, "its clock now, as a factor of what the system says (x0.5)",
     .of = TH_OF_MOMENT, .get = clock_factor},
    {"dram_bytes", TH_KIND_BYTES, "memory for weights and tensors", .heading = "capacity",
     NODE(a.dram_bytes)},
    {"dram_bandwidth", TH_KIND_BYTE_RATE, "bandwidth of its memory", NODE(a.dram_bits_per_s)},
    {"mtbf_h", TH_KIND_NUMBER, "mean hours between its failures", INPUT(mtbf)},
    {"busy", TH_KIND_TIME, "time in which the array works", RESULT(stats.busy_ps)},
    {"stalled", TH_KIND_TIME, "waiting for operands, or for room for outputs", RUN(stalled)},
    {"stall_in", TH_KIND_TIME, "time in which the array waits for operands from DRAM",
     DETAIL(stall_in)},
    {"stall_input", TH_KIND_TIME, "of that, for inputs", DETAILS(stats.stall_ps[TH_ENGINE_INPUT])},
    {"stall_weight", TH_KIND_TIME, "for weights, inputs being there",
     DETAILS(stats.stall_ps[TH_ENGINE_WEIGHT])},
    {"stall_partial", TH_KIND_TIME, "for partial sums, the others being there",
     DETAILS(stats.stall_ps[TH_ENGINE_PARTIAL])},
    {"stall_out", TH_KIND_TIME, "time in which the array waits for room to store outputs",
     DETAILS(stats.stall_ps[TH_ENGINE_OUTPUT])},
    {"idle", TH_KIND_TIME, "time without a task", RESULT(idle_ps)},
    {"utilization", TH_KIND_SHARE, "busy / elapsed time", .heading = "busy", DETAIL(utilization)},
    {"tasks", TH_KIND_COUNT, "tasks that ran on the accelerator", .is_detail = true, .get = of_run,
     TH_AT(th_accel_result, n_tasks), .changes = TH_RECORDS_OF_TASKS},
    {"dram_read", TH_KIND_BYTES, "read from its memory by its own engines", DETAIL(dram_read)},
    {"dram_written", TH_KIND_BYTES, "written to its memory by its own engines",
     DETAILS(stats.moved_bytes[TH_ENGINE_OUTPUT])},
    {"energy", TH_KIND_ENERGY, "taken, where the system says what things cost", RUN(energy),
     .at = TH_ENERGY_SUM},
    {"sent", TH_KIND_BYTES, "bytes that it sent over the network", RESULT(sent_bytes)},
    {"received", TH_KIND_BYTES, "received over the network", DETAILS(received_bytes)},
    {"weights", TH_KIND_BYTES, "bytes of resident weights", .is_detail = true, .get = weights},
    {"peak", TH_KIND_BYTES, "most bytes held at one time", .is_detail = true, .get = peak},
    {"peak_at", TH_KIND_TIME, "when the run reached the peak", DETAIL(peak_at)},
    {"peak_layer", TH_KIND_TEXT, "layer in which the peak lies", .heading = "in layer",
     .is_detail = true, .get = peak_layer},
    TH_ENERGY_ATTRIBUTES(energy),
    {.name = NULL},
};
