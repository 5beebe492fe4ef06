/* SPDX-License-Identifier: GPL-3.0-or-later */
/* property_events.c - see property_events.h. */
#include <config.h>
#include "report/session/property_events.h"
#include "base/alloc.h"

th_position th_position_of(const th_simulation *sim)
{
    return (th_position){th_machine_events(sim->machine), th_machine_now(sim->machine),
                         sim->is_whole};
}

int th_position_reach(th_simulation *sim, th_position p, th_error *err)
{
    th_machine *m = sim->machine;
    th_stop stop = TH_STOP_UNTIL;
    if (p.is_whole)
        stop = th_machine_run_until(m, p.now, err);
    else if (p.events > th_machine_events(m))
        stop = th_machine_step(m, p.events - th_machine_events(m), err);
    th_simulation_changed(sim);
    sim->is_whole = p.is_whole;
    if (stop == TH_STOP_INTERRUPTED)
        return th_error_interrupted(err, "the position was not reached");
    return stop == TH_STOP_ERROR ? -1 : 0;
}

int th_changes_add(th_session *s, const th_property_event *c, size_t n, bool is_fault,
                   th_error *err)
{
    th_simulation *sim = th_session_simulation(s, err);
    if (sim == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (th_machine_check_property_event(sim->machine, &c[i], err) != 0)
            return -1;
    if (th_grow(&s->changes, &s->change_capacity, s->n_changes + n, sizeof *s->changes) != 0)
        return th_error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        th_made_alteration made = {c[i], th_position_of(sim), is_fault};
        if (th_machine_add_property_event(sim->machine, &c[i], err) != 0)
            return -1;
        s->changes[s->n_changes++] = made;
        th_simulation_changed(sim);
    }
    return 0;
}

void th_changes_forget(th_session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_changes; i++) {
        if (!s->changes[i].is_fault)
            continue;
        s->changes[n] = s->changes[i];
        s->changes[n++].made = (th_position){0, 0, false};
    }
    s->n_changes = n;
}

int th_changes_again(th_session *s, th_simulation *sim, th_error *err)
{
    for (size_t i = 0; i < s->n_changes; i++)
        if (s->changes[i].is_fault &&
            th_machine_add_property_event(sim->machine, &s->changes[i].change, err) != 0)
            return -1;
    th_changes_forget(s);
    return 0;
}

int th_changes_follow(const th_session *s, th_simulation *sim, size_t *next, th_time t,
                      th_error *err)
{
    for (; *next < s->n_changes && s->changes[*next].made.now <= t; ++*next)
        if (th_position_reach(sim, s->changes[*next].made, err) != 0 ||
            th_machine_add_property_event(sim->machine, &s->changes[*next].change, err) != 0)
            return -1;
    return th_position_reach(sim, (th_position){0, t, true}, err);
}

/* Before anything else happens at time 0. */
static bool is_at_start(const th_made_alteration *c)
{
    return c->change.at == 0 && c->made.now == 0 && c->made.events == 0 && !c->made.is_whole;
}

static double *factor_of(const th_session *s, const th_made_alteration *c, double *clock,
                         double *bandwidth)
{
    return c->change.kind == TH_PROPERTY_FREQUENCY
               ? &clock[c->change.object]
               : &bandwidth[s->system->links[c->change.object].medium];
}

void th_changes_most(const th_session *s, double *clock, double *bandwidth)
{
    for (int a = 0; a < s->system->n_accels; a++)
        clock[a] = 1;
    for (int m = 0; m < s->system->n_media; m++)
        bandwidth[m] = 1;
    for (size_t i = 0; i < s->n_changes; i++)
        if (is_at_start(&s->changes[i]))
            *factor_of(s, &s->changes[i], clock, bandwidth) = s->changes[i].change.factor;
    for (size_t i = 0; i < s->n_changes; i++) {
        double *most = factor_of(s, &s->changes[i], clock, bandwidth);
        if (!is_at_start(&s->changes[i]) && s->changes[i].change.factor > *most)
            *most = s->changes[i].change.factor;
    }
}

void th_changes_drop(th_session *s)
{
    th_free(s->changes);
    s->changes = NULL;
    s->n_changes = s->change_capacity = 0;
}
