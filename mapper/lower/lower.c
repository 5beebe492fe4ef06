/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower.c - lowers a mapping to a program.
 *
 *   new -> program* -> free
 *   inside: place layers -> plan layers and edges -> check memory -> emit one pass per micro-batch
 *
 * emit.c makes the tasks of a pass. Invariant: between two calls only kept plans, capacities and
 * the peaks of the last mapping remain. */
#include <config.h>

#include "mapper/lower/lower.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/emit.h"
#include "mapper/lower/footprint.h"
#include "mapper/lower/lower_serial.h"
#include "mapper/lower/lower_state.h"

/* --- life --- */

static bool share_tensor(const th_lower *l, const th_edge *a, const th_edge *b)
{
    const th_workload *w = l->workload;
    return a->tensor == b->tensor && (a->tensor >= 0 || th_workload_part_of(w, a->consumer, 0) ==
                                                            th_workload_part_of(w, b->consumer, 0));
}

/* Edges are ordered by consumer, so those that share a tensor are adjacent. */
static void find_sharers(th_lower *l, int32_t n)
{
    for (int32_t e = 0; e < n; e++)
        l->graph.edges[e].first =
            e > 0 && share_tensor(l, &l->graph.edges[e - 1], &l->graph.edges[e])
                ? l->graph.edges[e - 1].first
                : e;
    for (int32_t e = n - 1; e >= 0; e--)
        l->graph.edges[e].last_reader =
            e + 1 < n && l->graph.edges[e + 1].first == l->graph.edges[e].first
                ? l->graph.edges[e + 1].last_reader
                : l->graph.edges[e].consumer;
}

/* An output stays until it has left for the host. */
static int32_t last_of_model(const th_lower *l, int layer)
{
    th_model part = th_workload_part(l->workload, th_workload_part_of(l->workload, layer, 0));
    return part.first_layer + part.n_layers - 1;
}

/* Counts the edges of each tensor, and finds the last layer that reads it. Returns their number. */
static int32_t count_edges(th_lower *l)
{
    const th_workload *w = l->workload;
    int32_t n = 0, *start = l->graph.edge_start;
    for (int c = 0; c < w->n_layers; c++) {
        l->graph.first_input[c] = n;
        n += w->layers[c].n_inputs;
        for (int i = 0; i < w->layers[c].n_inputs; i++) {
            start[w->layers[c].inputs[i] + 2]++;
            l->graph.last_use[w->layers[c].inputs[i] + 1] = c;
        }
    }
    for (int t = 0; t < w->n_layers; t++)
        if (start[t + 2] == 0)
            l->graph.last_use[t + 1] = last_of_model(l, t);
    for (int t = -1; t < w->n_layers; t++)
        start[t + 2] += start[t + 1];
    return n;
}

/* Edges of the graph, by tensor: the external input first, then the layers' outputs in order. */
static int list_edges(th_lower *l)
{
    const th_workload *w = l->workload;
    size_t n = (size_t)count_edges(l), tensors = (size_t)w->n_layers + 1;
    int32_t *next = th_alloc_array(tensors, sizeof *next); /* edge, by tensor + 1 */
    l->graph.edges = th_alloc_zero(n + 1, sizeof *l->graph.edges);
    l->planned.consumers = th_alloc_zero(n + 1, sizeof *l->planned.consumers);
    l->graph.input_edge = th_alloc_zero(n + 1, sizeof *l->graph.input_edge);
    if (!next || !l->graph.edges || !l->planned.consumers || !l->graph.input_edge) {
        th_free(next);
        return -1;
    }
    memcpy(next, l->graph.edge_start, tensors * sizeof *next);
    for (int c = 0; c < w->n_layers; c++)
        for (int i = 0; i < w->layers[c].n_inputs; i++) {
            int32_t tensor = w->layers[c].inputs[i], e = next[tensor + 1]++;
            l->graph.edges[e] = (th_edge){.tensor = tensor, .consumer = c, .input = i};
            l->graph.input_edge[l->graph.first_input[c] + i] = e;
        }
    th_free(next);
    find_sharers(l, (int32_t)n);
    return 0;
}

static int allocate(th_lower *l)
{
    size_t layers = (size_t)l->workload->n_layers + 2, accels = (size_t)l->system->n_accels;
    l->planned.placed = th_alloc_zero(layers, sizeof *l->planned.placed);
    l->planned.layer_plan = th_alloc_zero(layers, sizeof *l->planned.layer_plan);
    l->emission.first_final = th_alloc_zero(layers, sizeof *l->emission.first_final);
    l->graph.edge_start = th_alloc_zero(layers, sizeof *l->graph.edge_start);
    l->graph.last_use = th_alloc_zero(layers, sizeof *l->graph.last_use);
    l->graph.first_input = th_alloc_zero(layers, sizeof *l->graph.first_input);
    l->memory.peak_bytes = th_alloc_zero(accels, sizeof *l->memory.peak_bytes);
    l->memory.weight_bytes = th_alloc_zero(accels, sizeof *l->memory.weight_bytes);
    l->memory.peak_layer = th_alloc_zero(accels, sizeof *l->memory.peak_layer);
    l->passes.in_flight =
        th_alloc_zero((size_t)th_workload_parts(l->workload), sizeof *l->passes.in_flight);
    l->emission.launched = th_alloc_zero(accels + 1, sizeof *l->emission.launched);
    l->emission.launch_task = th_alloc_zero(accels + 1, sizeof *l->emission.launch_task);
    return l->emission.launched && l->emission.launch_task && l->passes.in_flight &&
                   l->planned.placed && l->planned.layer_plan && l->emission.first_final &&
                   l->graph.edge_start && l->graph.last_use && l->graph.first_input &&
                   l->memory.peak_bytes && l->memory.weight_bytes && l->memory.peak_layer
               ? 0
               : -1;
}

/* Takes the plans over, also on failure. */
static th_lower *new_lower(const th_system *s, const th_workload *w, th_plans *plans, th_error *err)
{
    th_lower *l = th_alloc_zero(1, sizeof *l);
    if (!l) {
        th_error_no_memory(err);
        th_plans_free(plans);
        return NULL;
    }
    l->system = s;
    l->workload = w;
    l->plans = plans;
    if (allocate(l) == 0 && list_edges(l) == 0)
        return l;
    th_error_no_memory(err);
    th_lower_free(l);
    return NULL;
}

th_lower *th_lower_new(const th_system *s, const th_workload *w, th_error *err)
{
    if (w->has_free_shapes && !s->transfers_serially) {
        th_error_set(err, "WORK-0072",
                     "workload \"%s\": has free shapes, which only a system with transfers = "
                     "\"serial\" runs",
                     w->name);
        return NULL;
    }
    if ((int64_t)w->n_layers * s->n_accels > INT32_MAX) {
        th_error_set(err, "MAP-0121",
                     "workload \"%s\" on \"%s\": %d layers on %d accelerators: must be %d at most "
                     "multiplied",
                     w->name, s->name, (int)w->n_layers, (int)s->n_accels, INT32_MAX);
        return NULL;
    }
    th_plans *plans = th_plans_new(s, w, err);
    return plans ? new_lower(s, w, plans, err) : NULL;
}

th_lower *th_lower_share(const th_lower *l, th_error *err)
{
    th_plans *plans = th_plans_share(l->plans, err);
    return plans ? new_lower(l->system, l->workload, plans, err) : NULL;
}

void th_lower_set_interrupt_check(th_lower *l, bool (*is_interrupted)(void))
{
    l->is_interrupted = is_interrupted;
}

static void free_graph(th_lower_graph *g)
{
    th_free(g->edges);
    th_free(g->edge_start);
    th_free(g->last_use);
    th_free(g->input_edge);
    th_free(g->first_input);
}

static void free_planned(th_lower_planned *p)
{
    th_free(p->set_id);
    th_free(p->members_id);
    th_free(p->placed);
    th_free(p->layer_plan);
    th_free(p->consumers);
}

static void free_memory(th_lower_memory *m)
{
    th_free(m->peak_bytes);
    th_free(m->weight_bytes);
    th_free(m->peak_layer);
    th_free(m->changes);
}

static void free_passes(th_lower_passes *p)
{
    th_free(p->in_flight);
    th_free(p->end);
    th_free(p->end_start);
    th_free(p->start);
}

static void free_emission(th_lower_emission *e)
{
    th_free(e->launched);
    th_free(e->launch_task);
    th_free(e->first_final);
    th_free(e->final);
    th_free(e->needs);
    th_free(e->first_need);
    th_free(e->kept);
    th_free(e->arrivals);
    th_free(e->phase_task);
}

void th_lower_free(th_lower *l)
{
    if (!l)
        return;
    th_plans_free(l->plans);
    free_graph(&l->graph);
    free_planned(&l->planned);
    free_memory(&l->memory);
    free_passes(&l->passes);
    free_emission(&l->emission);
    th_free(l);
}

const th_compute_cost_cache *th_lower_costs(const th_lower *l)
{
    return th_plans_costs(l->plans);
}

th_plans *th_lower_plans(th_lower *l)
{
    return l->plans;
}

const int64_t *th_lower_peak_bytes(const th_lower *l)
{
    return l->memory.peak_bytes;
}

const int64_t *th_lower_weight_bytes(const th_lower *l)
{
    return l->memory.weight_bytes;
}

/* --- passes --- */

/* Of every part, and the most of any of them; -1: memory is out. */
static int32_t find_in_flight(th_lower *l, const th_mapping *m, const th_stream *stream)
{
    int64_t passes = (int64_t)stream->n_inputs * stream->micro_batches;
    int32_t most = 0;
    for (int i = 0; i < th_workload_parts(l->workload); i++) {
        th_model part = th_workload_part(l->workload, i);
        int32_t n = stream->in_flight > 0
                        ? stream->in_flight
                        : th_mapping_sets_at_once(m, part.first_layer, part.n_layers);
        if (n < 0)
            return -1;
        most = n > most ? n : most;
        l->passes.in_flight[i] = n < passes ? n : (int32_t)passes;
    }
    return most;
}

static int32_t batch_of(const th_lower *l, const th_stream *stream, int32_t pass)
{
    int64_t i = pass % stream->micro_batches, b = l->workload->batch, n = stream->micro_batches;
    return (int32_t)((i + 1) * b / n - i * b / n);
}

/* The largest micro-batch, for which memory is checked; later micro-batches are never smaller than
 * the first. */
static int32_t largest_batch(const th_lower *l, const th_stream *stream)
{
    return (l->workload->batch + stream->micro_batches - 1) / stream->micro_batches;
}

/* Strategies that split the batch must leave every micro-batch something. */
static int check_stream(const th_lower *l, const th_mapping *m, const th_stream *stream,
                        th_error *err)
{
    if (th_stream_check(stream, l->workload, err))
        return -1;
    int32_t smallest = l->workload->batch / stream->micro_batches;
    for (int i = 0; stream->micro_batches > 1 && i < m->n_layers; i++)
        if (th_strategy_check(&m->strategy[i], &l->workload->layers[i], smallest,
                              m->sets[m->set_of[i]].n_accels, "micro-batches: ", err))
            return -1;
    return 0;
}

/* serial: of a system with serial transfers, else NULL. */
static int emit_all(th_lower *l, const th_mapping *m, th_serial *serial, const th_stream *stream,
                    th_error *err)
{
    int32_t passes = stream->n_inputs * stream->micro_batches, planned = largest_batch(l, stream);
    size_t ends = (size_t)passes * (size_t)th_workload_parts(l->workload);
    if (th_grow(&l->passes.end_start, &l->passes.end_start_capacity, ends + 1,
                sizeof *l->passes.end_start) ||
        th_grow(&l->passes.start, &l->passes.start_capacity, (size_t)passes + 1,
                sizeof *l->passes.start))
        return th_error_no_memory(err);
    l->passes.end_start[0] = 0;
    l->passes.n_ends = 0;
    for (int32_t pass = 0; pass < passes; pass++) {
        int32_t batch = batch_of(l, stream, pass);
        if (batch != planned && th_lower_plan(l, m, 0, l->workload->n_layers - 1, batch, err))
            return -1;
        planned = batch;
        if (th_lower_begin_pass(l, pass, err) ||
            (serial ? th_serial_emit_pass(serial, stream, pass, err)
                    : th_emit_pass(l, stream, pass, err)))
            return -1;
    }
    l->passes.start[passes] = l->emission.program->n_tasks;
    return 0;
}

/* Tasks of all passes; the largest batch is planned. */
static int fill(th_lower *l, const th_mapping *m, const th_stream *stream, th_error *err)
{
    if (!l->system->transfers_serially)
        return th_footprint_check(l, m, err) || emit_all(l, m, NULL, stream, err) ? -1 : 0;
    th_serial *serial = th_serial_new(l, m, err);
    int failed =
        !serial || th_serial_check(serial, err) || emit_all(l, m, serial, stream, err) ? -1 : 0;
    th_serial_free(serial);
    return failed;
}

/* --- what fills memory --- */

bool th_lower_peak_of(const th_lower *l, int accel, th_peak_place *out)
{
    int32_t layer = l->memory.peak_layer[accel];
    if (layer < 0)
        return false;
    bool alone = l->system->transfers_serially; /* a pass after the other, in each accelerator */
    int32_t pass = alone ? 0 : l->passes.in_flight[th_workload_part_of(l->workload, layer, 0)] - 1;
    *out = (th_peak_place){layer, l->passes.start[pass], l->passes.start[pass + 1]};
    return true;
}

int th_lower_held(th_lower *l, const th_mapping *m, const th_stream *stream, int accel,
                  th_memory_peak *out, th_error *err)
{
    *out = (th_memory_peak){.held = NULL};
    if (th_lower_number_sets(l, m, err) ||
        th_lower_plan(l, m, 0, l->workload->n_layers - 1, largest_batch(l, stream), err))
        return -1;
    int failed = 0;
    if (l->system->transfers_serially) {
        th_serial *serial = th_serial_new(l, m, err);
        if (serial)
            th_serial_list(serial, accel, out);
        failed = !serial ? -1 : out->failed ? th_error_no_memory(err) : 0;
        th_serial_free(serial);
    } else if (th_footprint_list(l, m, accel, out)) {
        failed = th_error_no_memory(err);
    }
    if (failed)
        th_memory_peak_clear(out);
    return failed;
}

void th_memory_peak_clear(th_memory_peak *p)
{
    th_free(p->held);
    *p = (th_memory_peak){.held = NULL};
}

const char *th_held_name(int32_t kind)
{
    static const char *const names[] = {"weights", "input", "output", "buffer"};
    return names[kind];
}

int th_lower_program(th_lower *l, const th_mapping *m, const th_stream *stream, th_program *program,
                     th_error *err)
{
    int32_t in_flight = find_in_flight(l, m, stream);
    th_program_clear(program);
    if (in_flight < 0)
        return th_error_no_memory(err);
    th_lower_begin(l);
    l->emission.program = program;
    if (check_stream(l, m, stream, err) || th_lower_number_sets(l, m, err) ||
        th_lower_plan(l, m, 0, l->workload->n_layers - 1, largest_batch(l, stream), err) ||
        fill(l, m, stream, err) || th_program_finish(program, err)) {
        th_program_clear(program);
        return -1;
    }
    program->wave = (in_flight + stream->micro_batches - 1) / stream->micro_batches;
    return 0;
}
