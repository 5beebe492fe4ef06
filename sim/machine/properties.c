/* SPDX-License-Identifier: GPL-3.0-or-later */
/* properties.c - the property events of a machine, see property_event.h. A property event is an
 * event of priority PROPERTY whose object is its index in m->properties.events; an event at the
 * current time is applied at once. Tasks at a changed clock have compute costs of their own, those
 * of a system with that clock.
 * add -> at its time: apply: take_place -> in_force -> change */
#include <config.h>

#include "sim/machine/machine_state.h"

#include <string.h>

#include "base/alloc.h"
#include "base/elementary.h"
#include "base/map.h"
#include "base/units.h"

static int32_t medium_of(const th_machine *m, int link)
{
    return m->system->links[link].medium;
}

double th_machine_property_factor(const th_machine *m, th_property_kind kind, int object)
{
    if (kind == TH_PROPERTY_JITTER)
        return m->properties.jitter ? m->properties.jitter[object].share : 0;
    const double *of = kind == TH_PROPERTY_BANDWIDTH ? m->properties.medium_factor
                                                     : m->properties.frequency_factor;
    return of ? of[kind == TH_PROPERTY_BANDWIDTH ? medium_of(m, object) : object] : 1;
}

/* n factors of 1, where there are none yet. */
static int make_factors(th_machine *m, double **of, int n)
{
    if (*of)
        return 0;
    *of = th_memory_take(&m->memory, (size_t)n + 1, sizeof **of);
    for (int i = 0; *of && i < n; i++)
        (*of)[i] = 1;
    return *of ? 0 : -1;
}

/* Media, or accelerators. */
static int places(const th_machine *m, int32_t kind)
{
    return th_property_is_of_link(kind) ? m->system->n_media : m->system->n_accels;
}

static void clear_states(th_machine *m, int32_t kind)
{
    for (int i = 0; m->properties.states[kind] && i < places(m, kind); i++)
        m->properties.states[kind][i] = (th_property_state){-1, -1};
}

static int make_states(th_machine *m, int32_t kind)
{
    th_property_state **of = &m->properties.states[kind];
    if (*of)
        return 0;
    *of = th_memory_take(&m->memory, (size_t)places(m, kind) + 1, sizeof **of);
    clear_states(m, kind);
    return *of ? 0 : -1;
}

static int make_jitter(th_machine *m)
{
    if (!m->properties.jitter)
        m->properties.jitter = th_memory_take(&m->memory, (size_t)m->system->n_accels + 1,
                                              sizeof *m->properties.jitter);
    return m->properties.jitter ? 0 : -1;
}

static int list_links_of_media(th_machine *m)
{
    th_machine_properties *p = &m->properties;
    if (p->next_link)
        return 0;
    if (!p->first_link)
        p->first_link =
            th_memory_take(&m->memory, (size_t)m->system->n_media + 1, sizeof *p->first_link);
    p->next_link = th_memory_take(&m->memory, (size_t)m->system->n_links + 1, sizeof *p->next_link);
    if (!p->first_link || !p->next_link)
        return -1;
    for (int i = 0; i < m->system->n_media; i++)
        p->first_link[i] = -1;
    for (int l = m->system->n_links - 1; l >= 0; l--) {
        p->next_link[l] = p->first_link[medium_of(m, l)];
        p->first_link[medium_of(m, l)] = l;
    }
    return 0;
}

int th_property_event_check(const th_system *s, const th_network_type *network,
                            const th_property_event *c, th_error *err)
{
    if (!th_property_is_of_link(c->kind))
        return 0;
    if (!network->set_bandwidth)
        return th_error_set(
            err, "SIM-0221",
            "the %s network keeps its bandwidths: only fluid can change them in a run",
            network->name);
    char most[32];
    int64_t system_says = s->media[s->links[c->object].medium].bits_per_s;
    if (c->factor > 1)
        return th_error_set(
            err, "SIM-0222",
            "link/%s: a bandwidth in a run must be at most what the system says, %s",
            s->links[c->object].name, th_format_bandwidth(system_says, most, sizeof most));
    return 0;
}

/* From now on the tasks keep what faults cost them. 0 or -1. */
static int begin_fault_times(th_machine *m)
{
    if (m->tasks.has_fault_times)
        return 0;
    size_t n = (size_t)m->program->n_tasks + 1;
    if (th_grow(&m->tasks.fault_times, &m->tasks.fault_capacity, n, sizeof *m->tasks.fault_times))
        return -1;
    memset(m->tasks.fault_times, 0, n * sizeof *m->tasks.fault_times);
    m->tasks.has_fault_times = true;
    return 0;
}

int th_machine_add_property_event(th_machine *m, const th_property_event *c, th_error *err)
{
    if (th_property_event_check(m->system, m->network->type, c, err))
        return -1;
    if (make_factors(m, &m->properties.medium_factor, m->system->n_media) ||
        make_factors(m, &m->properties.frequency_factor, m->system->n_accels) ||
        (c->kind == TH_PROPERTY_JITTER && make_jitter(m)) || make_states(m, c->kind) ||
        (th_property_is_of_link(c->kind) && list_links_of_media(m)) || begin_fault_times(m) ||
        th_grow(&m->properties.events, &m->properties.capacity, m->properties.n_events + 1,
                sizeof *m->properties.events) ||
        th_grow(&m->properties.next_fault, &m->properties.next_capacity, m->properties.n_events + 1,
                sizeof *m->properties.next_fault))
        return th_error_no_memory(err);
    m->properties.events[m->properties.n_events] = *c;
    TH_NOTIFY(m->observers, may_fail, m->now);
    if (c->at <= m->now) {
        m->properties.n_events++;
        return th_property_event_apply(m, (int32_t)m->properties.n_events - 1, err);
    }
    th_event e = {c->at, TH_PRIORITY_PROPERTY, (uint32_t)m->properties.n_events, 0, 0};
    if (th_events_push(m->events, &e) == TH_NO_EVENT)
        return th_error_no_memory(err);
    m->properties.n_events++;
    return 0;
}

/* --- health ----------------------------------------------------------------------------------- */

static th_health health_of_link(const th_machine *m, int link)
{
    double factor = m->properties.medium_factor[medium_of(m, link)];
    if (factor == 0)
        return th_detours_crosses(&m->network->detours, m->system, &link, 1) ? TH_HEALTH_AVOIDED
                                                                             : TH_HEALTH_DOWN;
    return factor < 1 ? TH_HEALTH_DEGRADED : TH_HEALTH_UP;
}

static th_health health_of_accel(const th_machine *m, int accel)
{
    double factor = m->properties.frequency_factor[accel];
    bool has_jitter = m->properties.jitter && m->properties.jitter[accel].share > 0;
    if (factor == 0)
        return TH_HEALTH_DEAD;
    return factor < 1 || has_jitter ? TH_HEALTH_SLOW : factor > 1 ? TH_HEALTH_FAST : TH_HEALTH_UP;
}

/* Of the accelerator, or of all links of the medium, after a property event. */
static void notify_health(const th_machine *m, const th_property_event *c)
{
    if (!m->observers)
        return;
    if (!th_property_is_of_link(c->kind)) {
        TH_NOTIFY(m->observers, health, m->now, false, c->object, health_of_accel(m, c->object));
        return;
    }
    for (int l = m->properties.first_link[medium_of(m, c->object)]; l >= 0;
         l = m->properties.next_link[l])
        TH_NOTIFY(m->observers, health, m->now, true, l, health_of_link(m, l));
}

void th_health_report(const th_machine *m, th_observer *o)
{
    if (m->properties.n_events == 0 || !o->type->may_fail)
        return;
    o->type->may_fail(o, m->now);
    for (int a = 0; a < m->system->n_accels; a++)
        if (health_of_accel(m, a) != TH_HEALTH_UP)
            o->type->health(o, m->now, false, a, health_of_accel(m, a));
    for (int l = 0; l < m->system->n_links; l++)
        if (health_of_link(m, l) != TH_HEALTH_UP)
            o->type->health(o, m->now, true, l, health_of_link(m, l));
}

/* --- which event is in force ------------------------------------------------------------------ */

static th_property_state *state_of(const th_machine *m, int32_t kind, int object)
{
    th_property_state *all = m->properties.states[kind];
    return all ? &all[th_property_is_of_link(kind) ? medium_of(m, object) : object] : NULL;
}

/* False: it ends a fault that had ended before, when the property was set. */
static bool take_place(th_machine *m, int32_t number)
{
    const th_property_event *c = &m->properties.events[number];
    th_property_state *s = state_of(m, c->kind, c->object);
    int32_t *next = m->properties.next_fault;
    if (c->role == TH_PROPERTY_SET) {
        *s = (th_property_state){.set_by = number, .fault = -1};
        return true;
    }
    if (c->role == TH_PROPERTY_FAULT) {
        next[number] = s->fault;
        s->fault = number;
        return true;
    }
    int32_t *f = &s->fault;
    while (*f >= 0 && *f != number - 1)
        f = &next[*f];
    bool lasts = *f >= 0;
    if (lasts)
        *f = next[*f];
    return lasts;
}

static bool is_stricter(const th_property_event *a, const th_property_event *b)
{
    return a->kind == TH_PROPERTY_JITTER ? a->factor > b->factor : a->factor < b->factor;
}

/* For the object of this event: the strictest fault, else what was set, else the system's value. */
static th_property_event in_force(const th_machine *m, const th_property_event *c)
{
    const th_property_event *all = m->properties.events;
    const th_property_state *s = state_of(m, c->kind, c->object);
    th_property_event value = *c;
    int32_t which = s->fault >= 0 ? s->fault : s->set_by;
    for (int32_t f = s->fault; f >= 0; f = m->properties.next_fault[f])
        if (is_stricter(&all[f], &all[which]))
            which = f;
    value.factor = which >= 0 ? all[which].factor : th_property_unchanged(c->kind);
    value.seed = which >= 0 ? all[which].seed : 0;
    return value;
}

double th_machine_property_without_faults(const th_machine *m, th_property_kind kind, int object)
{
    const th_property_state *s = state_of(m, (int32_t)kind, object);
    return s && s->set_by >= 0 ? m->properties.events[s->set_by].factor
                               : th_property_unchanged((int32_t)kind);
}

th_time th_property_fails_since(const th_machine *m, th_property_kind kind, int object)
{
    const th_property_event *all = m->properties.events;
    const th_property_state *s = state_of(m, (int32_t)kind, object);
    bool is_set = s->set_by >= 0 && all[s->set_by].factor == 0;
    th_time at = is_set ? all[s->set_by].at : TH_TIME_MAX;
    for (int32_t f = s->fault; f >= 0; f = m->properties.next_fault[f])
        if (all[f].factor == 0 && all[f].at < at)
            at = all[f].at;
    return at;
}

static int change(th_machine *m, const th_property_event *c, th_error *err)
{
    m->settle.is_done = false;
    if (c->kind == TH_PROPERTY_JITTER) {
        m->properties.jitter[c->object] = (th_jitter){c->factor, c->seed};
        return 0;
    }
    if (c->kind == TH_PROPERTY_FREQUENCY) {
        const double before = m->properties.frequency_factor[c->object];
        m->properties.frequency_factor[c->object] = c->factor;
        if (before > 0)
            return c->factor > 0 ? 0 : th_accelerator_fail(m, c->object, err);
        return c->factor > 0 ? th_accelerator_repair(m, c->object, err) : 0;
    }
    int32_t medium = medium_of(m, c->object);
    if (c->kind == TH_PROPERTY_ROUTE)
        return m->network->type->avoid(m->network, m->events, medium, c->factor == 0, m->now)
                   ? th_network_failed(m->network, err)
                   : 0;
    m->properties.medium_factor[medium] = c->factor;
    m->network->type->set_bandwidth(
        m->network, medium, (double)m->system->media[medium].bits_per_s / 8.0 * c->factor, m->now);
    return 0;
}

int th_property_event_apply(th_machine *m, int32_t number, th_error *err)
{
    if (!take_place(m, number))
        return 0;
    th_property_event c = in_force(m, &m->properties.events[number]);
    int failed = change(m, &c, err);
    if (!failed)
        notify_health(m, &c);
    return failed;
}

int th_machine_awaited_link(const th_machine *m)
{
    for (int l = 0; m->properties.medium_factor && l < m->system->n_links; l++)
        if (m->properties.medium_factor[medium_of(m, l)] == 0 && m->network->link_flows[l] > 0)
            return l;
    return -1;
}

void th_property_events_reset(th_machine *m)
{
    m->properties.n_events = 0;
    for (int32_t k = 0; k < TH_PROPERTY_KINDS; k++)
        clear_states(m, k);
    m->tasks.has_fault_times = false;
    for (int i = 0; m->properties.medium_factor && i < m->system->n_media; i++) {
        if (m->properties.medium_factor[i] != 1)
            m->network->type->set_bandwidth(m->network, i,
                                            (double)m->system->media[i].bits_per_s / 8.0, 0);
        m->properties.medium_factor[i] = 1;
    }
    for (int i = 0; m->properties.frequency_factor && i < m->system->n_accels; i++)
        m->properties.frequency_factor[i] = 1;
    if (m->properties.jitter)
        memset(m->properties.jitter, 0, (size_t)m->system->n_accels * sizeof *m->properties.jitter);
}

void th_property_events_free(th_machine *m)
{
    th_free(m->properties.events);
    th_free(m->properties.next_fault);
    th_free(m->properties.scaled);
}

/* --- jitter ----------------------------------------------------------------------------------- */

/* Hashed from the seed and the number of the task, so that no draw depends on the order of the
 * events. */
double th_jitter_stretch(const th_machine *m, int accel, int32_t task)
{
    const th_jitter *j = m->properties.jitter ? &m->properties.jitter[accel] : NULL;
    if (!j || j->share == 0)
        return 0;
    const uint64_t bits = th_hash_word(th_hash_word(j->seed, (uint64_t)task), j->seed);
    return j->share * -th_log(ldexp((double)((bits >> 11) + 1), -53)); /* in (0, 1] */
}

/* --- compute costs at other clocks ------------------------------------------------------------ */

int32_t th_clock_scaled_cost(th_machine *m, int accel, int32_t cost, double factor, th_error *err)
{
    th_machine_properties *x = &m->properties;
    const int32_t class = th_compute_cost_memory_class(m->costs, accel);
    for (size_t i = 0; i < x->n_scaled; i++)
        if (x->scaled[i]->cost.number == cost && x->scaled[i]->class == class &&
            x->scaled[i]->factor == factor)
            return (int32_t)i;
    if (th_grow(&x->scaled, &x->scaled_capacity, x->n_scaled + 1, sizeof *x->scaled))
        return th_error_no_memory(err);
    th_scaled_cost *s = th_memory_take(&m->memory, 1, sizeof *s);
    if (!s)
        return th_error_no_memory(err);
    *s = (th_scaled_cost){.class = class, .factor = factor};
    if (th_compute_cost_at_clock(m->costs, accel, cost, factor, &s->cost, err))
        return -1;
    x->scaled[x->n_scaled] = s;
    return (int32_t)x->n_scaled++;
}
