/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluate.c - fitness of a mapping: lower it, replay the program, compute the objective.
 *   new -> (share) -> (run | shard_time | trim)* -> free
 * The program and the machine are reused from one mapping to the next; caches make that fast and
 * change no result. Evaluators that share caches have a lowering, a program and a machine of their
 * own. */
#include <config.h>

#include "mapper/evaluate/evaluate.h"

#include <math.h>

#include "base/alloc.h"
#include "mapper/evaluate/deadline.h"
#include "sim/analysis/energy.h"

struct th_evaluator {
    th_problem problem;
    th_lower *lower;
    th_program *program;
    th_machine *machine;
    th_completion_cache *completions; /* of computes; shared */
    bool owns_completions;
    th_time *model_end;    /* scratch; NULL: no model has a deadline */
    th_segments *segments; /* NULL: all programs are replayed whole */
};

static int allocate_scratch(th_evaluator *e, th_error *err)
{
    const th_workload *w = e->problem.workload;
    if (!th_deadline_exists(w))
        return 0;
    e->model_end = th_alloc_array((size_t)w->n_models * (size_t)e->problem.stream.n_inputs,
                                  sizeof *e->model_end);
    return e->model_end ? 0 : th_error_no_memory(err);
}

static int check_goal(const th_evaluator *e, th_error *err)
{
    if (!th_goal_needs_energy(&e->problem.goal) ||
        th_energy_is_known(e->problem.system, th_lower_costs(e->lower)))
        return 0;
    return th_error_set(
        err, "MAP-0113",
        "the objective needs energy, and the system \"%s\" does not say what things "
        "cost: mac_energy, dram_energy, static_power ... of its designs, or link_energy",
        e->problem.system->name);
}

/* A single pass of which the makespan is all that counts. */
static bool can_use_segments(const th_evaluator *e)
{
    const th_problem *p = &e->problem;
    bool is_single = p->stream.n_inputs == 1 && p->stream.micro_batches == 1;
    return is_single && !p->system->transfers_serially && p->workload->n_models == 0 &&
           !th_goal_needs_energy(&p->goal) && th_segments_supported(p->workload, e->machine);
}

static int make_segments(th_evaluator *e, const th_evaluator *of, th_error *err)
{
    if (!can_use_segments(e))
        return 0;
    e->segments = of ? th_segments_share(of->segments, e->lower, e->program, e->machine)
                     : th_segments_new(e->lower, e->program, e->machine, TH_SEGMENTS_LIMIT);
    return e->segments ? 0 : th_error_no_memory(err);
}

/* A new lowering, or one that shares with that of `of`. */
static int make_lower(th_evaluator *e, const th_evaluator *of, th_error *err)
{
    const th_problem *p = &e->problem;
    e->lower = of ? th_lower_share(of->lower, err) : th_lower_new(p->system, p->workload, err);
    if (!e->lower)
        return -1;
    return of ? 0
              : th_compute_cost_set_scripts(th_plans_costs(th_lower_plans(e->lower)), p->scripts,
                                            err);
}

static int make_completions(th_evaluator *e, const th_evaluator *of, th_error *err)
{
    e->owns_completions = !of;
    e->completions = of ? of->completions : th_completion_cache_new(TH_COMPLETION_CACHE_MAX);
    if (!e->completions)
        return th_error_no_memory(err);
    if (of)
        th_completion_cache_share(e->completions);
    return 0;
}

static int make_machine(th_evaluator *e, th_error *err)
{
    th_machine_options options = {.network = e->problem.network,
                                  .network_options = e->problem.network_options,
                                  .completions = e->completions};
    th_network_of_mappings(e->problem.system, &options.network, &options.network_options);
    e->machine = th_machine_new(e->problem.system, th_lower_costs(e->lower), &options, err);
    return e->machine ? 0 : -1;
}

/* of: the evaluator whose caches it shares; NULL: none. */
static th_evaluator *new_evaluator(const th_problem *p, const th_evaluator *of, th_error *err)
{
    th_evaluator *e = th_alloc_zero(1, sizeof *e);
    if (!e) {
        th_error_no_memory(err);
        return NULL;
    }
    e->problem = *p;
    if (make_lower(e, of, err) == 0 && (e->program = th_program_new(err)) &&
        make_completions(e, of, err) == 0 && make_machine(e, err) == 0 && check_goal(e, err) == 0 &&
        allocate_scratch(e, err) == 0 && make_segments(e, of, err) == 0)
        return e;
    th_evaluator_free(e);
    return NULL;
}

th_evaluator *th_evaluator_new(const th_problem *p, th_error *err)
{
    return th_stream_check(&p->stream, p->workload, err) ? NULL : new_evaluator(p, NULL, err);
}

th_evaluator *th_evaluator_share(th_evaluator *e, th_error *err)
{
    return new_evaluator(&e->problem, e, err);
}

void th_evaluator_free(th_evaluator *e)
{
    if (!e)
        return;
    th_free(e->model_end);
    th_segments_free(e->segments);
    th_machine_free(e->machine);
    if (e->owns_completions)
        th_completion_cache_free(e->completions);
    th_program_free(e->program);
    th_lower_free(e->lower);
    th_free(e);
}

bool th_evaluator_is_full(const th_evaluator *e)
{
    return th_segments_are_full(e->segments) ||
           th_plans_held_bytes(th_lower_plans(e->lower)) > TH_PLANS_LIMIT;
}

void th_evaluator_trim(th_evaluator *e)
{
    if (e->segments)
        th_segments_trim(e->segments);
    th_plans_trim(th_lower_plans(e->lower), TH_PLANS_LIMIT);
    th_completion_cache_trim(e->completions);
}

th_segment_counts th_evaluator_segments(const th_evaluator *e)
{
    return th_segments_counts(e->segments);
}

th_lower *th_evaluator_lower(th_evaluator *e)
{
    return e->lower;
}

const th_problem *th_evaluator_problem(const th_evaluator *e)
{
    return &e->problem;
}

/* Time between inputs in the steady state, as th_result_throughput has it. */
static th_time time_per_input(const th_evaluator *e)
{
    int32_t n = e->problem.stream.n_inputs;
    int32_t counted = th_throughput_counted(n, e->program->wave);
    th_time since = counted < n ? th_machine_input_end(e->machine, n - counted - 1) : 0;
    return (th_machine_input_end(e->machine, n - 1) - since) / counted;
}

/* Of a run that has ended; m already has the lateness of models and the energy. */
static void set_fitness(const th_evaluator *e, th_metrics m, th_fitness *fitness)
{
    const th_goal *g = &e->problem.goal;
    if (g->deadline_ps > 0 && m.latency_ps > g->deadline_ps)
        m.lateness_ps += m.latency_ps - g->deadline_ps;
    fitness->fit = TH_FIT;
    fitness->metrics = m;
    fitness->value = th_goal_fitness(g, &m);
}

static th_energy_source energy_source(const th_evaluator *e)
{
    return (th_energy_source){e->problem.system, th_lower_costs(e->lower), e->program};
}

static int measure_energy(const th_evaluator *e, double *joules, th_error *err)
{
    th_energy_source of = energy_source(e);
    th_result r;
    if (th_machine_result(e->machine, &r, err))
        return -1;
    int failed = th_energy_of_run(&of, &r, err);
    *joules = th_result_energy_j(&r);
    th_result_clear(&r);
    return failed;
}

static int measure(th_evaluator *e, th_fitness *fitness, th_error *err)
{
    th_metrics m = {.latency_ps = th_machine_now(e->machine), .interval_ps = time_per_input(e)};
    if (e->model_end) {
        const th_workload *w = e->problem.workload;
        th_deadline_model_ends(w, e->program, th_machine_times(e->machine), e->model_end);
        m.lateness_ps = th_deadline_lateness(w, &e->problem.stream, e->model_end);
    }
    if (th_goal_needs_energy(&e->problem.goal) && measure_energy(e, &m.energy_j, err))
        return -1;
    set_fitness(e, m, fitness);
    return 0;
}

/* The makespan at which a run of the program that is loaded is stopped. */
static int stop_at(th_evaluator *e, double bound, th_time *stop, th_error *err)
{
    const th_problem *p = &e->problem;
    th_energy_floor floor = {0, 0};
    th_energy_source of = energy_source(e);
    if (isfinite(bound) && th_goal_needs_energy(&p->goal) &&
        th_energy_least(&of, &floor.dynamic_j, &floor.static_w, err))
        return -1;
    *stop = th_goal_stop(&p->goal, bound, p->stream.n_inputs == 1, &floor);
    return 0;
}

/* A mapping whose transfers would take longer than any run is not feasible. */
static int replay(th_evaluator *e, double bound, th_fitness *fitness, th_error *err)
{
    th_error why = {"", ""};
    th_time stop;
    if (th_machine_load(e->machine, e->program, err) || stop_at(e, bound, &stop, err))
        return -1;
    const th_stop ended = th_machine_run_bounded(e->machine, stop, &why);
    fitness->work += e->program->n_tasks + th_machine_events(e->machine);
    switch (ended) {
    case TH_STOP_DONE:
        return measure(e, fitness, err);
    case TH_STOP_BOUND:
    case TH_STOP_UNTIL:
    case TH_STOP_INTERRUPTED: /* these machines have neither interrupts nor observers */
    case TH_STOP_OBSERVER:
        fitness->fit = TH_FIT_STOPPED;
        return 0;
    case TH_STOP_ERROR:
        break;
    }
    return th_network_is_too_slow(&why) ? 0 : th_error_set(err, why.id, "%s", why.text);
}

enum { REMEMBERED = 2 }; /* of so many segments of a search about one is replayed */

/* 1: the whole program must be replayed. */
static int run_segments(th_evaluator *e, const th_mapping *m, double bound, th_fitness *fitness,
                        th_error *err)
{
    th_segments_result r;
    th_time stop;
    if (!e->segments)
        return 1;
    if (stop_at(e, bound, &stop, err) || th_segments_run(e->segments, m, stop, &r, err))
        return -1;
    fitness->work = r.work / REMEMBERED;
    switch (r.outcome) {
    case TH_SEGMENTS_DONE: /* of one input, the interval is the makespan */
        set_fitness(e, (th_metrics){.latency_ps = r.makespan, .interval_ps = r.makespan}, fitness);
        return 0;
    case TH_SEGMENTS_STOPPED:
        fitness->fit = TH_FIT_STOPPED;
        return 0;
    case TH_SEGMENTS_INFEASIBLE:
        return 0;
    case TH_SEGMENTS_FULL_REPLAY:
        break;
    }
    return 1;
}

int th_evaluator_run(th_evaluator *e, const th_mapping *m, double bound, th_fitness *fitness,
                     th_error *err)
{
    th_error reason = {0};
    *fitness = (th_fitness){.fit = TH_FIT_INFEASIBLE, .value = INFINITY};
    int status = run_segments(e, m, bound, fitness, &reason);
    if (status == 0)
        return 0;
    if (status > 0 && th_lower_program(e->lower, m, &e->problem.stream, e->program, &reason) == 0)
        return replay(e, bound, fitness, err);
    if (th_plans_is_fatal(&reason))
        return th_error_set(err, reason.id, "%s", reason.text);
    return 0; /* it does not fit, or cannot run: not a failure of the search */
}

bool th_evaluator_can_lose_links(const th_evaluator *e)
{
    const th_property_event cut = {.kind = TH_PROPERTY_ROUTE, .object = 0};
    const th_system *s = e->problem.system;
    const th_network_type *network = e->problem.network ? e->problem.network : th_network_types[0];
    return s->n_links > 0 && !s->transfers_serially &&
           th_property_event_check(s, network, &cut, NULL) == 0;
}

static int lose_link(th_evaluator *e, int32_t link, th_error *err)
{
    const th_property_event down = {.kind = TH_PROPERTY_BANDWIDTH, .object = link},
                            avoided = {.kind = TH_PROPERTY_ROUTE, .object = link};
    return th_machine_add_property_event(e->machine, &down, err) ||
                   th_machine_add_property_event(e->machine, &avoided, err)
               ? -1
               : 0;
}

int th_evaluator_run_without_link(th_evaluator *e, const th_mapping *m, int32_t link,
                                  th_fitness *fitness, bool *used, th_error *err)
{
    th_error reason = {0};
    *fitness = (th_fitness){.fit = TH_FIT_INFEASIBLE, .value = INFINITY};
    if (th_lower_program(e->lower, m, &e->problem.stream, e->program, &reason))
        return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 0;
    if (th_machine_load(e->machine, e->program, err) || (link >= 0 && lose_link(e, link, err)))
        return -1;
    if (th_machine_run_until(e->machine, TH_TIME_MAX, &reason) != TH_STOP_DONE)
        return th_machine_awaited_link(e->machine) >= 0
                   ? 0
                   : th_error_set(err, reason.id, "%s", reason.text);
    for (int l = 0; used && l < e->problem.system->n_links; l++)
        used[l] = th_machine_link(e->machine, l).bytes > 0;
    return measure(e, fitness, err);
}

void th_evaluator_explain(th_evaluator *e, const th_mapping *m, th_error *reason)
{
    if (th_lower_program(e->lower, m, &e->problem.stream, e->program, reason) == 0 &&
        th_machine_load(e->machine, e->program, reason) == 0)
        th_machine_run_bounded(e->machine, TH_TIME_MAX, reason);
}

th_time th_evaluator_shard_time(th_evaluator *e, const th_set *set, int layer, const th_strategy *s,
                                th_error *err)
{
    th_plans *plans = th_lower_plans(e->lower);
    int32_t batch = e->problem.workload->batch / e->problem.stream.micro_batches;
    th_time longest = 0;
    th_placed at;
    if (th_plans_place(plans, layer, set, s, &at, err))
        return -1;
    const th_layer_plan *plan = th_plans_layer(plans, &at, batch, err);
    if (!plan)
        return -1;
    for (int r = 0; r < plan->n; r++) {
        th_time sum = 0;
        for (int p = 0; p < plan->phases; p++)
            sum +=
                th_compute_cost_get(th_plans_costs(plans),
                                    (p > 0 ? plan->cost_adding : plan->cost)[r * plan->phases + p])
                    ->collapsed_ps;
        longest = sum > longest ? sum : longest;
    }
    return longest;
}
