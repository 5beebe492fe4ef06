/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_events.c - see property_events.h. */
#include <config.h>
#include "session/property_events.h"
#include "base/alloc.h"

th_run_position th_run_position_of(const th_simulation *sim)
{
    return (th_run_position){th_machine_events(sim->machine), th_machine_now(sim->machine),
                             sim->is_time_complete};
}

int th_run_to_position(th_simulation *sim, th_run_position p, th_error *err)
{
    th_machine *m = sim->machine;
    th_stop stop = TH_STOP_UNTIL;
    if (p.is_time_complete)
        stop = th_machine_run_until(m, p.now, err);
    else if (p.events > th_machine_events(m))
        stop = th_machine_step(m, p.events - th_machine_events(m), err);
    th_simulation_changed(sim);
    sim->is_time_complete = p.is_time_complete;
    if (stop == TH_STOP_INTERRUPTED)
        return th_error_interrupted(err, "the position was not reached");
    return stop == TH_STOP_ERROR ? -1 : 0;
}

int th_property_events_begin(th_session *s, th_time *now, th_error *err)
{
    bool may_wait = s->hand_built && !s->hand_built->trace;
    int failed = !s->simulation && may_wait      ? th_session_need_program(s, err)
                 : th_session_simulation(s, err) ? 0
                                                 : -1;
    *now = s->simulation ? th_machine_now(s->simulation->machine) : 0;
    return failed;
}

double th_property_events_without_faults(const th_session *s, const th_property_event *of)
{
    if (s->simulation)
        return th_machine_property_without_faults(s->simulation->machine,
                                                  (th_property_kind)of->kind, of->object);
    const th_link *links = s->system->links;
    for (size_t i = s->events.n; i-- > s->events.n_kept;) {
        const th_property_event *c = &s->events.all[i].event;
        if (c->role == TH_PROPERTY_SET && c->kind == of->kind &&
            (th_property_is_of_link(c->kind) ? links[c->object].medium == links[of->object].medium
                                             : c->object == of->object))
            return c->factor;
    }
    return th_property_unchanged(of->kind);
}

int th_property_events_add(th_session *s, const th_property_event *c, size_t n, bool is_fault,
                           th_error *err)
{
    th_time now;
    if (th_property_events_begin(s, &now, err) != 0)
        return -1;
    th_simulation *sim = s->simulation;
    const th_network_type *network = sim ? sim->options.network : s->defaults.network;
    for (size_t i = 0; i < n; i++)
        if (th_property_event_check(s->system, network, &c[i], err) != 0)
            return -1;
    if (th_grow(&s->events.all, &s->events.capacity, s->events.n + n, sizeof *s->events.all) != 0)
        return th_error_no_memory(err);
    for (size_t i = 0; i < n && !sim; i++)
        s->events.all[s->events.n++] = (th_applied_event){.event = c[i], .is_fault = is_fault};
    s->run_is_due |= !sim;
    for (size_t i = 0; i < n && sim; i++) {
        th_applied_event applied = {c[i], th_run_position_of(sim), is_fault};
        if (th_machine_add_property_event(sim->machine, &c[i], err) != 0) {
            s->events.n -= i;
            if (i > 0) /* the machine has some of them, and cannot give them back */
                th_session_drop_run(s);
            return -1;
        }
        s->events.all[s->events.n++] = applied;
        th_simulation_changed(sim);
    }
    return 0;
}

bool th_property_events_reroute(const th_session *s)
{
    for (size_t i = 0; i < s->events.n; i++)
        if (s->events.all[i].event.kind == TH_PROPERTY_ROUTE)
            return true;
    return false;
}

void th_property_events_discard(th_session *s)
{
    size_t n = s->events.n_kept;
    for (size_t i = n; i < s->events.n; i++) {
        if (!s->events.all[i].is_fault)
            continue;
        th_applied_event c = s->events.all[i];
        c.applied_at = (th_run_position){0, 0, false};
        if (c.event.role == TH_PROPERTY_REPAIR) /* nothing is set in the next run */
            c.event.factor = th_property_unchanged(c.event.kind);
        s->events.all[n++] = c;
    }
    s->events.n = s->events.n_kept = n;
    s->run_is_due = false;
}

int th_property_events_reapply(th_session *s, th_simulation *sim, th_error *err)
{
    for (size_t i = 0; i < s->events.n; i++)
        if ((s->run_is_due || s->events.all[i].is_fault) &&
            th_machine_add_property_event(sim->machine, &s->events.all[i].event, err) != 0)
            return -1;
    return 0;
}

/* Up to the last of the events until t. */
static int apply_until(const th_session *s, th_simulation *sim, size_t *next, th_time t,
                       th_error *err)
{
    for (; *next < s->events.n && s->events.all[*next].applied_at.now <= t; ++*next)
        if (th_run_to_position(sim, s->events.all[*next].applied_at, err) != 0 ||
            th_machine_add_property_event(sim->machine, &s->events.all[*next].event, err) != 0)
            return -1;
    return 0;
}

int th_property_events_replay(const th_session *s, th_simulation *sim, size_t *next, th_time t,
                              th_error *err)
{
    return apply_until(s, sim, next, t, err) != 0
               ? -1
               : th_run_to_position(sim, (th_run_position){0, t, true}, err);
}

int th_property_events_catch_up(const th_session *s, th_simulation *sim, th_error *err)
{
    size_t next = 0;
    return apply_until(s, sim, &next, TH_TIME_MAX, err) != 0
               ? -1
               : th_run_to_position(sim, th_run_position_of(s->simulation), err);
}

/* Before all other events of time 0. */
static bool is_at_start(const th_applied_event *c)
{
    return c->event.at == 0 && c->applied_at.now == 0 && c->applied_at.events == 0 &&
           !c->applied_at.is_time_complete;
}

int th_property_events_repeat(const th_session *s, th_simulation *sim, th_time t, th_error *err)
{
    for (size_t i = 0; i < s->events.n && s->events.all[i].applied_at.now <= t; i++) {
        const th_applied_event *c = &s->events.all[i];
        th_run_position p = {0, c->applied_at.now, true};
        bool is_first = c->applied_at.now == 0 && !c->applied_at.is_time_complete;
        if ((!is_first && th_run_to_position(sim, p, err) != 0) ||
            th_machine_add_property_event(sim->machine, &c->event, err) != 0)
            return -1;
    }
    return th_run_to_position(sim, (th_run_position){0, t, true}, err);
}

static double *factor_of(const th_session *s, const th_applied_event *c, double *clock,
                         double *bandwidth)
{
    return c->event.kind == TH_PROPERTY_FREQUENCY
               ? &clock[c->event.object]
               : &bandwidth[s->system->links[c->event.object].medium];
}

static bool has_factor(const th_applied_event *c)
{
    return c->event.kind == TH_PROPERTY_BANDWIDTH || c->event.kind == TH_PROPERTY_FREQUENCY;
}

void th_property_events_maximum(const th_session *s, double *clock, double *bandwidth)
{
    for (int a = 0; a < s->system->n_accels; a++)
        clock[a] = 1;
    for (int m = 0; m < s->system->n_media; m++)
        bandwidth[m] = 1;
    for (size_t i = 0; i < s->events.n; i++)
        if (has_factor(&s->events.all[i]) && is_at_start(&s->events.all[i]))
            *factor_of(s, &s->events.all[i], clock, bandwidth) = s->events.all[i].event.factor;
    for (size_t i = 0; i < s->events.n; i++) {
        if (!has_factor(&s->events.all[i]))
            continue;
        double *most = factor_of(s, &s->events.all[i], clock, bandwidth);
        if (!is_at_start(&s->events.all[i]) && s->events.all[i].event.factor > *most)
            *most = s->events.all[i].event.factor;
    }
}

void th_property_events_clear(th_session *s)
{
    th_free(s->events.all);
    s->events.all = NULL;
    s->events.n = s->events.n_kept = s->events.capacity = 0;
    s->run_is_due = false;
}
