/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simulation.c - see simulation.h. */
#include <config.h>
#include "session/simulation.h"
#include <stdio.h>
#include <unistd.h>
#include "base/strbuf.h"
#include "base/alloc.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/energy.h"
#include "base/interrupt.h"
#include "training/plan_step.h"
#include "training/lower_step.h"

const th_compute_cost_cache *th_simulation_costs(const th_simulation *s)
{
    return s->lower ? th_lower_costs(s->lower) : s->costs;
}

th_run_options th_run_options_of_mappings(const th_system *s, const th_run_options *o)
{
    th_run_options of_mappings = *o;
    th_network_of_mappings(s, &of_mappings.network, &of_mappings.network_options);
    return of_mappings;
}

th_run_options th_simulation_ran(const th_simulation *sim)
{
    return sim->lower ? th_run_options_of_mappings(sim->system, &sim->options) : sim->options;
}

/* A machine under the program at its time 0. NULL on failure. */
static th_machine *new_machine(const th_simulation *sim, th_error *err)
{
    const th_run_options ran = th_simulation_ran(sim);
    th_machine_options options = {.network = ran.network,
                                  .network_options = ran.network_options,
                                  .per_layer = true,
                                  .choices = sim->choices,
                                  .is_interrupted = th_interrupt_is_pending};
    th_machine *m = th_machine_new(sim->system, th_simulation_costs(sim), &options, err);
    if (m && th_machine_load(m, sim->program, err) == 0)
        return m;
    th_machine_free(m);
    return NULL;
}

/* Frees sim on failure. */
static th_simulation *load(th_simulation *sim, const th_system *s, th_error *err)
{
    sim->system = s;
    sim->machine = new_machine(sim, err);
    if (sim->machine)
        return sim;
    th_simulation_free(sim);
    return NULL;
}

static th_simulation *new_simulation(const th_run_options *o, th_error *err)
{
    th_simulation *sim = th_alloc_zero(1, sizeof *sim);
    if (!sim)
        th_error_no_memory(err);
    if (sim) {
        sim->options = *o;
        sim->choices = o->choices;
        sim->options.choices = NULL;
    }
    return sim;
}

static th_program *new_program(th_error *err)
{
    th_program *p = th_program_new(err);
    if (p)
        th_program_ask(p, th_interrupt_is_pending);
    return p;
}

/* ---- does a long stream fit? ---- */

/* Bytes per task and dependency in program and machine, at least: arrays grow beyond that. */
static double bytes_of(double n_tasks, double n_dependencies)
{
    enum {
        STARTS = 3 /* of successors, predecessors, waiting */,
        ENDS = 3 /* edge from and to, successor */
    };
    return n_tasks * (double)(sizeof(th_task) + sizeof(th_task_result) + STARTS * sizeof(int32_t)) +
           n_dependencies * (double)(ENDS * sizeof(int32_t));
}

/* The tasks of one input tell how many all have, before minutes go into making them. */
static int check_size(th_simulation *sim, const th_mapping *m, th_error *err)
{
    enum { LONG_STREAM = 1000 };
    th_stream one = sim->options.stream;
    double n = one.n_inputs,
           memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char needed[64], there[64];
    if (one.n_inputs < LONG_STREAM)
        return 0;
    one.n_inputs = 1;
    if (th_lower_program(sim->lower, m, &one, sim->lowered, err) != 0)
        return -1;
    double n_tasks = n * sim->lowered->n_tasks,
           bytes = bytes_of(n_tasks, n * (double)sim->lowered->n_dependencies);
    if (n_tasks > INT32_MAX)
        return th_error_set(err, "TCL-0107", "%.0f inputs are %.0f tasks: must be less than 2^31",
                            n, n_tasks);
    if (bytes <= memory)
        return 0;
    return th_error_set(err, "TCL-0108",
                        "%.0f inputs are %.0f tasks, which take %s of memory at least: there is %s",
                        n, n_tasks, th_format_bytes((int64_t)bytes, needed, sizeof needed),
                        th_format_bytes((int64_t)memory, there, sizeof there));
}

th_simulation *th_simulation_new(const th_system *s, const th_workload *w, const th_mapping *m,
                                 th_script_memo *scripts, const th_run_options *o, th_error *err)
{
    th_simulation *sim = new_simulation(o, err);
    if (!sim)
        return NULL;
    sim->lower = th_lower_new(s, w, err);
    if (sim->lower)
        th_lower_set_interrupt_check(sim->lower, th_interrupt_is_pending);
    if (!sim->lower ||
        th_compute_cost_set_scripts(th_plans_costs(th_lower_plans(sim->lower)), scripts, err) !=
            0 ||
        !(sim->lowered = new_program(err)) || check_size(sim, m, err) != 0 ||
        th_lower_program(sim->lower, m, &o->stream, sim->lowered, err) != 0) {
        th_simulation_free(sim);
        return NULL;
    }
    sim->program = sim->lowered;
    return load(sim, s, err);
}

th_simulation *th_simulation_of_program(const th_system *s, th_program *p, const th_run_options *o,
                                        th_error *err)
{
    return th_program_finish(p, err) == 0 ? th_simulation_of_finished(s, p, o, err) : NULL;
}

th_simulation *th_simulation_of_finished(const th_system *s, const th_program *p,
                                         const th_run_options *o, th_error *err)
{
    th_simulation *sim = new_simulation(o, err);
    if (!sim)
        return NULL;
    if (!(sim->costs = th_compute_cost_cache_new(s, err)) ||
        th_program_look_up_works(p, sim->costs, err) != 0) {
        th_simulation_free(sim);
        return NULL;
    }
    sim->program = p;
    return load(sim, s, err);
}

th_simulation *th_simulation_of_trace(const th_lower_trace_options *t, const th_run_options *o,
                                      th_error *err)
{
    bool is_replayed = o->network->replay_trace;
    th_program *p = new_program(err);
    th_astra_rank_times *ranks =
        is_replayed ? th_alloc_array((size_t)t->trace->n_ranks, sizeof *ranks) : NULL;
    th_simulation *sim = NULL;
    int status = !p             ? -1
                 : !is_replayed ? th_lower_trace(t, p, err)
                 : !ranks       ? th_error_no_memory(err)
                                : th_lower_trace_replay(t, o->network, p, ranks, err);
    if (status == 0)
        sim = th_simulation_of_program(t->system, p, o, err);
    if (!sim) {
        th_free(ranks);
        th_program_free(p);
        return NULL;
    }
    sim->lowered = p;
    sim->ranks = ranks;
    return sim;
}

void th_simulation_free(th_simulation *s)
{
    if (!s)
        return;
    th_simulation_changed(s);
    th_result_clear(&s->result);
    th_free(s->ranks);
    th_machine_free(s->machine);
    th_program_free(s->lowered);
    th_lower_free(s->lower);
    th_compute_cost_cache_free(s->costs);
    th_free(s);
}

bool th_simulation_calls_scripts(const th_simulation *s)
{
    return s->lower && th_compute_cost_uses_scripts(th_lower_costs(s->lower));
}

/* Is the same program loaded again before anybody can have pressed Ctrl-C? A machine remembers what
 * it has chosen for collectives, but for schedules, which it forgets, and not for any number of
 * them. */
static bool loads_at_once(const th_program *p)
{
    enum { TASKS_AT_ONCE = 1 << 20, COLLECTIVES_AT_ONCE = 512 };
    bool at_once = p->n_tasks <= TASKS_AT_ONCE && p->n_collectives <= COLLECTIVES_AT_ONCE;
    for (int32_t i = 0; at_once && i < p->n_collectives; i++)
        at_once = !p->collectives[i].schedule;
    return at_once;
}

int th_simulation_restart(th_simulation *s, th_error *err)
{
    if (loads_at_once(s->program)) {
        if (th_machine_load(s->machine, s->program, err) != 0)
            return -1;
    } else {
        th_machine *fresh = new_machine(s, err);
        if (!fresh)
            return -1;
        th_machine_free(s->machine);
        s->machine = fresh;
    }
    s->has_begun = s->is_time_complete = false;
    th_simulation_changed(s);
    return 0;
}

const th_collective *th_simulation_collective(const th_simulation *s, int32_t number)
{
    const th_collective *running = th_machine_collective(s->machine, number);
    return running ? running : &s->program->collectives[number];
}

void th_simulation_changed(th_simulation *s)
{
    s->result_is_fresh = false;
    if (s->messages)
        th_free(s->messages->all);
    th_free(s->messages);
    th_free(s->stage_times);
    th_free(s->path_times);
    th_free(s->slacks);
    th_free(s->loads);
    s->stage_times = NULL;
    s->path_times = NULL;
    s->slacks = NULL;
    s->loads = NULL;
    s->messages = NULL;
}

double th_simulation_step_j(const th_simulation *s, double seconds)
{
    const th_accel *first = &s->system->nodes[s->system->accel_node[0]].a;
    const th_design_energy *e = th_compute_cost_energy(th_simulation_costs(s), first->designs[0]);
    return th_step_joules(e, &s->step->model, &s->step->plan, seconds);
}

/* Tasks of a step have times alone: what they multiply is spread over its ranks at the end. */
static void add_step_energy(const th_simulation *s, th_result *r)
{
    const th_parallel_plan *p = &s->step->plan;
    double each = th_simulation_step_j(s, 0) / s->step->n_ranks;
    for (int32_t stage = 0; stage < p->n.pipeline; stage++)
        for (int32_t rank = 0; rank < th_plan_stage_ranks(p); rank++) {
            r->accels[th_plan_accel(p, stage, rank)].energy.mac_j += each;
            r->energy.mac_j += each;
        }
}

const th_result *th_simulation_result(th_simulation *s, th_error *err)
{
    if (s->result_is_fresh)
        return &s->result;
    th_result_clear(&s->result);
    if (th_machine_result(s->machine, &s->result, err) != 0)
        return NULL;
    if (th_energy_of_run(&(th_energy_source){s->system, th_simulation_costs(s), s->program},
                         &s->result, err) != 0)
        return NULL;
    if (s->step && s->result.has_energy && s->result.is_done)
        add_step_energy(s, &s->result);
    s->result_is_fresh = true;
    return &s->result;
}

const th_time *th_simulation_slacks(th_simulation *s, th_error *err)
{
    const th_result *r = th_simulation_result(s, err);
    if (!r || s->slacks)
        return r ? s->slacks : NULL;
    th_time *slacks = th_alloc_array((size_t)r->n_tasks + 1, sizeof *slacks);
    if (!slacks) {
        th_error_no_memory(err);
        return NULL;
    }
    if (th_slacks(s->program, r, slacks, err) != 0) {
        th_free(slacks);
        return NULL;
    }
    return s->slacks = slacks;
}

const th_time *th_simulation_path_times(th_simulation *s, th_error *err)
{
    const th_result *r = th_simulation_result(s, err);
    if (!r || s->path_times)
        return r ? s->path_times : NULL;
    th_path_entry *path = NULL;
    int n = th_critical_path(r, &path, err);
    th_time *times = n < 0 ? NULL : th_alloc_array((size_t)r->n_tasks + 1, sizeof *times);
    if (n >= 0 && !times)
        th_error_no_memory(err);
    for (int32_t t = 0; times && t < r->n_tasks; t++)
        times[t] = -1;
    for (int i = 0; times && i < n; i++)
        times[path[i].task] = path[i].wait_ps + path[i].end_ps - path[i].start_ps;
    th_free(path);
    return s->path_times = times;
}

double th_medium_load(const th_medium *m, int64_t bytes, th_time elapsed_ps)
{
    double bits = (double)m->bits_per_s * (double)elapsed_ps / (double)TH_PS_PER_S;
    return bits > 0 ? 8 * (double)bytes / bits : 0;
}

const double *th_simulation_loads(th_simulation *s, th_error *err)
{
    const th_system *y = s->system;
    const th_result *r = th_simulation_result(s, err);
    if (!r || s->loads)
        return r ? s->loads : NULL;
    int64_t *bytes = th_alloc_zero((size_t)y->n_media + 1, sizeof *bytes);
    s->loads = th_alloc_array((size_t)y->n_links + 1, sizeof *s->loads);
    if (!bytes || !s->loads) {
        th_error_no_memory(err);
        th_free(s->loads);
        s->loads = NULL;
    }
    for (int l = 0; s->loads && l < y->n_links; l++)
        bytes[y->links[l].medium] += r->links[l].bytes;
    for (int l = 0; s->loads && l < y->n_links; l++)
        s->loads[l] =
            th_medium_load(&y->media[y->links[l].medium], bytes[y->links[l].medium], r->elapsed_ps);
    th_free(bytes);
    return s->loads;
}

static bool network_options_equal(const th_network_options *a, const th_network_options *b)
{
    return a->weigh_by_latency == b->weigh_by_latency && a->packet_bytes == b->packet_bytes &&
           a->buffer_bytes == b->buffer_bytes && a->n_virtual_channels == b->n_virtual_channels &&
           a->credit_delay_ps == b->credit_delay_ps && a->router_delay_ps == b->router_delay_ps &&
           a->terminal_bits_per_s == b->terminal_bits_per_s &&
           a->n_crossbar_inputs == b->n_crossbar_inputs &&
           a->allocation_cycle_ps == b->allocation_cycle_ps && a->may_deadlock == b->may_deadlock;
}

bool th_run_options_equal(const th_run_options *a, const th_run_options *b)
{
    return a->network == b->network &&
           network_options_equal(&a->network_options, &b->network_options) &&
           a->stream.n_inputs == b->stream.n_inputs &&
           a->stream.interval_ps == b->stream.interval_ps &&
           a->stream.micro_batches == b->stream.micro_batches &&
           a->stream.in_flight == b->stream.in_flight;
}

th_time th_simulation_latency(const th_simulation *s, const th_result *r)
{
    double sum = 0;
    int n = 0;
    for (int32_t i = 0; i < r->n_inputs; i++) {
        if (r->input_end_ps[i] < 0)
            continue;
        sum += (double)(r->input_end_ps[i] - i * s->options.stream.interval_ps);
        n++;
    }
    return n > 0 ? (th_time)(sum / n + 0.5) : 0;
}

static void describe_packet(const th_network_options *o, th_strbuf *out)
{
    char text[64];
    if (o->packet_bytes != 0)
        th_strbuf_printf(out, ", packets of %s",
                         th_format_bytes(o->packet_bytes, text, sizeof text));
    if (o->buffer_bytes != 0)
        th_strbuf_printf(out, ", buffers of %s",
                         th_format_bytes(o->buffer_bytes, text, sizeof text));
    if (o->n_virtual_channels != 0)
        th_strbuf_printf(out, ", %d virtual channels", (int)o->n_virtual_channels);
    if (o->credit_delay_ps != 0)
        th_strbuf_printf(out, ", credit delay %s",
                         th_format_time(o->credit_delay_ps, text, sizeof text));
    if (o->router_delay_ps != 0)
        th_strbuf_printf(out, ", router delay %s",
                         th_format_time(o->router_delay_ps, text, sizeof text));
    if (o->terminal_bits_per_s != 0)
        th_strbuf_printf(out, ", terminals of %s",
                         th_format_bandwidth(o->terminal_bits_per_s, text, sizeof text));
    if (o->n_crossbar_inputs != 0)
        th_strbuf_printf(out, ", %d crossbar inputs", (int)o->n_crossbar_inputs);
    if (o->allocation_cycle_ps != 0)
        th_strbuf_printf(out, ", allocation cycle %s",
                         th_format_time(o->allocation_cycle_ps, text, sizeof text));
    if (o->may_deadlock)
        th_strbuf_add(out, ", deadlock allowed");
}

char *th_network_describe_options(const th_run_options *o, char *out, size_t size)
{
    th_strbuf text = TH_STRBUF_INIT;
    if (o->network == th_network_find("fluid") && o->network_options.weigh_by_latency)
        th_strbuf_add(&text, ", weights latency");
    if (o->network == th_network_find("packet"))
        describe_packet(&o->network_options, &text);
    snprintf(out, size, "%s", text.text ? text.text : "");
    th_strbuf_clear(&text);
    return out;
}

char *th_network_describe(const th_run_options *o, char *out, size_t size)
{
    char options[TH_NETWORK_TEXT_MAX];
    snprintf(out, size, "%s%s", o->network->name,
             th_network_describe_options(o, options, sizeof options));
    return out;
}
