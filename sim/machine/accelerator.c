/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accelerator.c - the accelerators of a machine: which task runs, in which mode (collapsed,
 * expanded or stepped), and when it ends.
 *
 *   start -> settle -> (event | settle)* -> the task ends
 *
 * A task is collapsed (one end event, from its compute cost) as long as no flow uses its DRAM. When
 * a flow uses it, the task expands: its end then follows from the demand history
 * (accelerator_history.c). While flows could saturate the DRAM (network.is_contended), or where an
 * observer watches it, the pipeline is stepped event by event instead. When contention ends, the
 * rest of the task is expanded again, but its end is not cached. Advancing a pipeline to a time
 * changes no result, so all modes give the same times; tests compare them. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/machine/accelerator_state.h"

int th_accel_set_event(th_machine *m, th_accel_state *a, th_time at, uint32_t kind, th_error *err)
{
    if (a->event != TH_NO_EVENT && a->event_kind == kind) {
        th_events_reschedule(m->events, a->event, at);
        return 0;
    }
    if (a->event != TH_NO_EVENT)
        th_events_cancel(m->events, a->event);
    a->event_kind = kind;
    a->event = th_events_push(m->events, &(th_event){at, TH_PRIORITY_COMPUTE_END,
                                                     (uint32_t)th_accel_number(m, a), 0, kind});
    return a->event == TH_NO_EVENT ? th_error_no_memory(err) : 0;
}

void th_accel_start_pipeline(const th_machine *m, const th_accel_state *a, th_pipeline *p,
                             const th_pipeline_options *o)
{
    const th_compute_cost *w = th_accel_cost(m, a);
    th_pipeline_start(p, &w->schedule, &w->port, o);
}

void th_accel_catch_up(const th_machine *m, const th_accel_state *a, th_pipeline *p)
{
    const th_compute_cost *w = th_accel_cost(m, a);
    if (a->mode == TH_ACCEL_COLLAPSED)
        th_accel_start_pipeline(m, a, p, &(th_pipeline_options){.skip = true});
    else if (a->mode == TH_ACCEL_EXPANDED)
        th_history_apply(m, a, p, a->history.n_applied);
    th_pipeline_advance(p, &w->schedule, &w->port, m->now - a->started);
}

static void drop_event(th_machine *m, th_accel_state *a)
{
    if (a->event != TH_NO_EVENT)
        th_events_cancel(m->events, a->event);
    a->event = TH_NO_EVENT;
}

/* How much longer its task takes at the present clock than at that of the system. */
static th_time clock_delay(const th_machine *m, const th_accel_state *a)
{
    int32_t cost = m->program->tasks[a->task].compute_cost;
    th_time delay =
        th_accel_cost(m, a)->collapsed_ps - th_compute_cost_get(m->costs, cost)->collapsed_ps;
    return delay > 0 ? delay : 0;
}

static void add_fault_time(th_machine *m, int32_t task, th_time lost)
{
    m->tasks.fault_times[task] = th_time_add(m->tasks.fault_times[task], lost);
}

/* The share of its full rate that messages beside its tasks leave it. */
static double rate_of(const th_accel_state *a)
{
    static const double LEAST = 0.05; /* many messages take turns */
    return fmax(1 - a->slowdown, LEAST);
}

/* Brings owed_ps to the present time: a running task falls behind, a delayed one catches up. */
static void count_owed(const th_machine *m, th_accel_state *a)
{
    const double since = (double)(m->now - a->owed_at), rate = rate_of(a);
    a->owed_at = m->now;
    if (a->task >= 0 && a->mode != TH_ACCEL_FAILED && since > 0)
        a->owed_ps += a->mode == TH_ACCEL_DELAYED ? -since * rate : since * (1 - rate);
}

/* How long it takes to do what it owes. */
static th_time delay_of(const th_accel_state *a)
{
    const double rate = rate_of(a);
    return (th_time)fmax(0, rate == 1 ? round(a->owed_ps) : ceil(a->owed_ps / rate));
}

void th_accelerator_slow(th_machine *m, int accel, double share, int sign)
{
    th_accel_state *a = &m->accels[accel];
    count_owed(m, a);
    a->n_beside += sign;
    a->slowdown = a->n_beside > 0 ? a->slowdown + sign * share : 0;
    if (a->mode == TH_ACCEL_DELAYED)
        th_events_reschedule(m->events, a->event, th_time_add(m->now, delay_of(a)));
}

/* Its task runs from now on, from the beginning, at the present clock; settle decides how. */
static int start_task(th_machine *m, th_accel_state *a, th_error *err)
{
    const int accel = th_accel_number(m, a);
    double factor = m->properties.frequency_factor ? m->properties.frequency_factor[accel] : 1;
    a->scaled = -1;
    if (factor != 1 && (a->scaled = th_clock_scaled_cost(
                            m, accel, m->program->tasks[a->task].compute_cost, factor, err)) < 0)
        return -1;
    if (a->scaled >= 0)
        add_fault_time(m, a->task, clock_delay(m, a));
    a->started = a->owed_at = m->now;
    a->owed_ps = 0;
    a->mode = TH_ACCEL_STARTING;
    a->was_contended = false;
    a->stretch = th_jitter_stretch(m, accel, a->task);
    m->settle.started[m->settle.n_started++] = accel;
    return 0;
}

int th_accelerator_start(th_machine *m, int accel, th_error *err)
{
    th_accel_state *a = &m->accels[accel];
    if (!th_accelerator_is_free(a) || a->ready.n == 0)
        return 0;
    a->task = th_ready_queue_take(&a->ready);
    if (start_task(m, a, err))
        return -1;
    th_task_result *t = &m->tasks.times[a->task];
    th_machine_task_starts(m, a->task, t->ready_ps < m->now ? a->last_task : t->cause);
    return 0;
}

/* What it has done of its task is lost, but counts: the time, and the bytes of whole requests. */
static void keep_stats(th_machine *m, th_accel_state *a)
{
    th_pipeline_stats lost = th_accelerator_running(m, th_accel_number(m, a));
    th_stats_add(&a->sum.stats, &lost);
    if (m->layers.n > 0 && a->task >= 0)
        th_layers_lost(m, a->task, &lost);
}

static int demand_nothing(th_machine *m, const th_accel_state *a, th_error *err)
{
    static const double nothing[TH_N_ENGINES];
    if (th_accel_is_contended(m, a) &&
        m->network->type->demand(m->network, th_accel_number(m, a), 0, nothing))
        return th_network_failed(m->network, err);
    return 0;
}

int th_accelerator_fail(th_machine *m, int accel, th_error *err)
{
    th_accel_state *a = &m->accels[accel];
    keep_stats(m, a);
    drop_event(m, a);
    if (a->task >= 0)
        TH_NOTIFY(m->observers, task_stops, m->now, a->task);
    a->mode = TH_ACCEL_FAILED;
    for (size_t i = 0; i < m->settle.n_started; i++) /* its task may have started at this time */
        if (m->settle.started[i] == accel)
            m->settle.started[i--] = m->settle.started[--m->settle.n_started];
    return demand_nothing(m, a, err);
}

int th_accelerator_repair(th_machine *m, int accel, th_error *err)
{
    th_accel_state *a = &m->accels[accel];
    if (a->task >= 0) {
        TH_NOTIFY(m->observers, task_again, m->now, a->task);
        m->tasks.fault_times[a->task] = m->now - m->tasks.times[a->task].start_ps;
        return start_task(m, a, err);
    }
    a->mode = TH_ACCEL_IDLE;
    return a->ready.n > 0 && th_ready_queue_add(&m->startable_accels, accel)
               ? th_error_no_memory(err)
               : 0;
}

/* --- beginning a task ------------------------------------------------------------------------- */

static void set_rates_stale(th_machine *m, th_accel_state *a)
{
    if (a->rates_are_stale)
        return;
    a->rates_are_stale = true;
    m->settle.stale[m->settle.n_stale++] = th_accel_number(m, a);
}

static int report_demand(th_machine *m, th_accel_state *a, th_error *err)
{
    double cap[TH_N_ENGINES];
    for (int e = 0; e < TH_N_ENGINES; e++)
        cap[e] = th_pipeline_cap(a->pipeline, (th_engine_kind)e);
    set_rates_stale(m, a);
    if (m->network->type->demand(m->network, th_accel_number(m, a), th_pipeline_demand(a->pipeline),
                                 cap))
        return th_network_failed(m->network, err);
    return 0;
}

/* Posts the next event of its pipeline; a task without cycles and bytes is done at once. */
static int post_step(th_machine *m, th_accel_state *a, th_error *err)
{
    th_time next = a->pipeline->done ? a->pipeline->now : th_pipeline_next(a->pipeline);
    return th_accel_set_event(m, a, th_time_add(a->started, next), TH_PIPELINE_STEPS, err);
}

/* A task that is stepped only because it is or was watched counts if it would have been expanded
 * anyway. */
static void count_expansion(th_machine *m, th_accel_state *a, double demand)
{
    bool would_expand = th_accel_is_contended(m, a) || (demand != 0 && !a->was_contended);
    if (a->observed.is_counted || !would_expand)
        return;
    a->observed.is_counted = true;
    m->counts.expansions++;
}

static int begin_stepping(th_machine *m, th_accel_state *a, th_error *err)
{
    a->mode = TH_ACCEL_STEPPED;
    a->observed.is_counted = false;
    a->was_contended = th_accel_is_contended(m, a);
    if (a->was_contended) {
        count_expansion(m, a, 0);
        th_accel_start_pipeline(m, a, a->pipeline,
                                &(th_pipeline_options){.rates_from_outside = true});
        th_accel_report_tiles(m, a);
        return report_demand(m, a, err);
    }
    double demand = th_network_dram_demand(m->network, th_accel_number(m, a));
    count_expansion(m, a, demand);
    th_accel_start_pipeline(m, a, a->pipeline,
                            &(th_pipeline_options){.demand_bytes_per_s = demand});
    th_accel_report_tiles(m, a);
    return post_step(m, a, err);
}

static int collapse(th_machine *m, th_accel_state *a, th_error *err)
{
    a->mode = TH_ACCEL_COLLAPSED;
    return th_accel_set_event(m, a, th_time_add(a->started, th_accel_cost(m, a)->collapsed_ps),
                              TH_COMPUTE_ENDS, err);
}

static int begin(th_machine *m, th_accel_state *a, th_error *err)
{
    double demand = th_network_dram_demand(m->network, th_accel_number(m, a));
    if (a->observed.is_watched)
        return begin_stepping(m, a, err);
    if (demand != 0)
        return th_history_expand(m, a, demand, err);
    return collapse(m, a, err);
}

int th_accelerator_resume(th_machine *m, int32_t task, const th_in_flight *f, th_error *err)
{
    th_accel_state *a = &m->accels[m->system->nodes[m->program->tasks[task].node].accel];
    a->task = task;
    a->started = f->started_ps;
    if (f->n_demands == 0)
        return collapse(m, a, err);
    a->mode = TH_ACCEL_EXPANDED;
    th_history_begin(m, a);
    for (size_t i = 0; i < f->n_demands; i++)
        if (th_history_add(a, f->demands[i]))
            return th_error_no_memory(err);
    return th_history_schedule_completion(m, a, err);
}

/* --- events ----------------------------------------------------------------------------------- */

static int log_run(th_machine *m, const th_accel_state *a)
{
    size_t n = a->mode == TH_ACCEL_EXPANDED ? a->history.n : 0;
    if (th_grow(&m->run_log.demands, &m->run_log.demand_capacity, m->run_log.n_demands + n + 1,
                sizeof *m->run_log.demands))
        return -1;
    m->run_log.runs[a->task] = (th_logged_run){a->started, m->run_log.n_demands, n};
    if (n > 0)
        memcpy(&m->run_log.demands[m->run_log.n_demands], a->history.change,
               n * sizeof *m->run_log.demands);
    m->run_log.n_demands += n;
    return 0;
}

static int end_task(th_machine *m, th_accel_state *a, const th_pipeline_stats *stats, th_error *err)
{
    int32_t task = a->task;
    th_stats_add(&a->sum.stats, stats);
    a->sum.n_tasks++;
    if (m->layers.n > 0)
        th_layers_computed(m, task, stats);
    if (m->run_log.is_on && log_run(m, a))
        return th_error_no_memory(err);
    a->mode = TH_ACCEL_IDLE;
    a->last_task = task;
    a->task = -1;
    if (a->ready.n > 0 && th_ready_queue_add(&m->startable_accels, th_accel_number(m, a)))
        return th_error_no_memory(err);
    return th_machine_task_ends(m, task, err);
}

/* Its task would end now. With jitter, or after messages beside it, it ends later, and the
 * accelerator counts as busy until then; it moves no data. */
static int end_or_delay(th_machine *m, th_accel_state *a, const th_pipeline_stats *stats,
                        th_error *err)
{
    const th_time jitter = (th_time)llround((double)(m->now - a->started) * a->stretch);
    count_owed(m, a);
    a->owed_ps = fmax(0, a->owed_ps - (double)th_accel_cost(m, a)->fixed.waiting_ps);
    a->owed_ps += (double)jitter;
    const th_time extra = delay_of(a);
    if (extra == 0)
        return end_task(m, a, stats, err);
    a->stats_at_end = *stats;
    if (jitter > 0)
        add_fault_time(m, a->task, jitter);
    a->mode = TH_ACCEL_DELAYED;
    if (demand_nothing(m, a, err))
        return -1;
    return th_accel_set_event(m, a, th_time_add(m->now, extra), TH_COMPUTE_ENDS, err);
}

static int step(th_machine *m, th_accel_state *a, th_error *err)
{
    const th_compute_cost *w = th_accel_cost(m, a);
    th_pipeline_advance(a->pipeline, &w->schedule, &w->port, m->now - a->started);
    th_accel_report_tiles(m, a);
    if (th_accel_is_contended(m, a) && report_demand(m, a, err))
        return -1;
    if (a->pipeline->done)
        return end_or_delay(m, a, &a->pipeline->stats, err);
    return th_accel_is_contended(m, a) ? 0 : post_step(m, a, err);
}

int th_accelerator_event(th_machine *m, const th_event *e, th_error *err)
{
    th_accel_state *a = &m->accels[e->object];
    a->event = TH_NO_EVENT;
    if (e->argument == TH_PIPELINE_STEPS)
        return step(m, a, err);
    if (e->argument == TH_COMPUTE_MAY_END)
        return th_history_find_completion(m, a, err);
    bool is_collapsed = a->mode == TH_ACCEL_COLLAPSED;
    if (a->mode == TH_ACCEL_DELAYED) {
        const th_pipeline_stats all = th_accelerator_running(m, th_accel_number(m, a));
        return end_task(m, a, &all, err);
    }
    return end_or_delay(m, a, is_collapsed ? &th_accel_cost(m, a)->collapsed : &a->stats_at_end,
                        err);
}

/* --- settling --------------------------------------------------------------------------------- */

static int apply_rates(th_machine *m, th_accel_state *a, th_error *err)
{
    const double *rate = &m->network->engine_rate[th_accel_number(m, a) * TH_N_ENGINES];
    const th_compute_cost *w = th_accel_cost(m, a);
    th_pipeline_advance(a->pipeline, &w->schedule, &w->port, m->now - a->started);
    unsigned moving = th_pipeline_demand(a->pipeline);
    for (int e = 0; e < TH_N_ENGINES; e++)
        if (moving >> e & 1u)
            th_pipeline_set_rate(a->pipeline, (th_engine_kind)e, rate[e]);
    return post_step(m, a, err);
}

static int update_demand_of_stepped(th_machine *m, th_accel_state *a, double demand, th_error *err)
{
    const th_compute_cost *w = th_accel_cost(m, a);
    if (th_accel_is_contended(m, a)) {
        set_rates_stale(m, a);
        return 0;
    }
    th_pipeline_advance(a->pipeline, &w->schedule, &w->port, m->now - a->started);
    count_expansion(m, a, demand);
    th_pipeline_set_demand(a->pipeline, &w->port, demand);
    return post_step(m, a, err);
}

static int update_demand(th_machine *m, th_accel_state *a, th_error *err)
{
    if (a->mode == TH_ACCEL_IDLE || a->mode == TH_ACCEL_STARTING)
        return 0;
    double demand = th_network_dram_demand(m->network, th_accel_number(m, a));
    switch ((th_accel_mode)a->mode) {
    case TH_ACCEL_IDLE:
    case TH_ACCEL_STARTING:
    case TH_ACCEL_FAILED:
    case TH_ACCEL_DELAYED:
        return 0;
    case TH_ACCEL_COLLAPSED:
        return demand == 0 ? 0 : th_history_expand(m, a, demand, err);
    case TH_ACCEL_EXPANDED:
        return demand == a->history.change[a->history.n - 1].bytes_per_s
                   ? 0
                   : th_history_change(m, a, demand, err);
    case TH_ACCEL_STEPPED:
        return update_demand_of_stepped(m, a, demand, err);
    }
    return 0;
}

/* Flows can saturate its DRAM from now on. */
static int enter_contention(th_machine *m, th_accel_state *a, th_error *err)
{
    if (a->mode == TH_ACCEL_IDLE || a->mode == TH_ACCEL_STARTING || a->mode == TH_ACCEL_FAILED ||
        a->mode == TH_ACCEL_DELAYED)
        return 0;
    th_accel_catch_up(m, a, a->pipeline);
    a->mode = TH_ACCEL_STEPPED;
    a->was_contended = true;
    th_pipeline_enter_contention(a->pipeline);
    return report_demand(m, a, err);
}

/* No flow uses its DRAM any more, and the network no longer shares it. */
static int leave_contention(th_machine *m, th_accel_state *a, th_error *err)
{
    if (a->mode != TH_ACCEL_STEPPED)
        return 0;
    const th_port *port = &th_accel_cost(m, a)->port;
    th_accel_catch_up(m, a, a->pipeline);
    bool is_stepped = a->observed.is_watched;
    th_pipeline_leave_contention(a->pipeline, port, !is_stepped);
    if (is_stepped)
        return th_accel_set_event(m, a, th_time_add(a->started, th_pipeline_next(a->pipeline)),
                                  TH_PIPELINE_STEPS, err);
    a->mode = TH_ACCEL_EXPANDED;
    th_history_begin(m, a);
    if (th_history_add(a, (th_demand_change){m->now - a->started, 0}))
        return th_error_no_memory(err);
    a->history.n_applied = a->history.n;
    return th_history_schedule_completion(m, a, err);
}

/* The network has found which DRAMs are contended now. */
static int apply_contention(th_machine *m, th_error *err)
{
    const th_network *n = m->network;
    for (int i = 0; i < n->n_toggled; i++) {
        th_accel_state *a = &m->accels[n->toggled[i]];
        if ((n->is_contended[n->toggled[i]] ? enter_contention : leave_contention)(m, a, err))
            return -1;
    }
    return 0;
}

/* The network has found the demand of its flows on each DRAM. */
static int apply_demands(th_machine *m, th_error *err)
{
    for (int i = 0; i < m->network->n_touched; i++) {
        int accel = m->network->touched[i];
        if (update_demand(m, &m->accels[accel], err))
            return -1;
    }
    return 0;
}

/* Begins the tasks that started at this time: those with a contended DRAM, or the others. */
static int begin_started(th_machine *m, bool contended, th_error *err)
{
    for (size_t i = 0; i < m->settle.n_started; i++) {
        th_accel_state *a = &m->accels[m->settle.started[i]];
        if (th_accel_is_contended(m, a) != contended)
            continue;
        if ((contended ? begin_stepping : begin)(m, a, err))
            return -1;
    }
    return 0;
}

static int apply_all_rates(th_machine *m, th_error *err)
{
    for (size_t i = 0; i < m->settle.n_stale; i++) {
        th_accel_state *a = &m->accels[m->settle.stale[i]];
        a->rates_are_stale = false;
        if (a->mode == TH_ACCEL_STEPPED && th_accel_is_contended(m, a) && apply_rates(m, a, err))
            return -1;
    }
    m->settle.n_stale = 0;
    return 0;
}

int th_accelerators_begin_contended(th_machine *m, bool changed, th_error *err)
{
    if (changed && apply_contention(m, err))
        return -1;
    return begin_started(m, true, err);
}

int th_accelerators_settle(th_machine *m, th_error *err)
{
    if (apply_demands(m, err) || begin_started(m, false, err))
        return -1;
    m->settle.n_started = 0;
    return m->any_shared ? apply_all_rates(m, err) : 0;
}

/* --- watching --------------------------------------------------------------------------------- */

/* A collapsed or expanded task continues step by step. */
static int step_from_now(th_machine *m, th_accel_state *a, th_error *err)
{
    th_accel_catch_up(m, a, a->pipeline);
    a->pipeline->skip = false;
    if (a->pipeline->done) /* its end event is of now */
        return 0;
    a->observed.is_counted = a->mode == TH_ACCEL_EXPANDED;
    a->mode = TH_ACCEL_STEPPED;
    return post_step(m, a, err);
}

int th_accelerator_watch(th_machine *m, int accel, bool is_watched, th_error *err)
{
    th_accel_state *a = &m->accels[accel];
    bool is_running = a->mode == TH_ACCEL_COLLAPSED || a->mode == TH_ACCEL_EXPANDED;
    if (is_watched && !a->observed.is_watched && m->program && is_running &&
        step_from_now(m, a, err))
        return -1;
    a->observed.is_watched = is_watched;
    return 0;
}
