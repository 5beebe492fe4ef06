/* SPDX-License-Identifier: GPL-3.0-or-later */
/* faults.c - the faults of a run: what, from when to when, and which tasks they delayed.
 *   intervals -> effects of those that are listed, in one pass over the tasks -> rows */
#include <config.h>
#include "base/alloc.h"
#include "base/interrupt.h"
#include "session/sections/sections.h"
#include "session/fault_intervals.h"
#include "session/property_event_list.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/time_breakdown.h"
#include "topology/routing/route.h"

/* Of the tasks that ran on the object of a fault while it lasted. */
typedef struct th_fault_effect {
    int64_t n_tasks, n_delayed;
    th_time lost_ps, path_ps; /* of all of them; of those on the critical path */
} th_fault_effect;

typedef struct th_fault_list {
    th_session *session;
    const th_result *result;
    th_fault_intervals faults;
    th_fault_effect *effects; /* by fault */
    bool *is_on_path;         /* by task */
    int n;                    /* that are listed, the first ones */
} th_fault_list;

static int mark_path(th_fault_list *x, th_error *err)
{
    th_path_entry *path;
    int n = th_critical_path(x->result, &path, err);
    for (int i = 0; i < n; i++)
        x->is_on_path[path[i].task] = true;
    if (n >= 0)
        th_free(path);
    return n < 0 ? -1 : 0;
}

/* What faults of links, lower clocks and jitter added to a task that has ended. */
static int find_loss(const th_fault_list *x, int32_t task, th_time *lost, th_error *err)
{
    const th_simulation *sim = x->session->simulation;
    th_time part[TH_N_PARTS];
    *lost = 0;
    if (x->result->tasks[task].end_ps < 0)
        return 0;
    if (th_time_breakdown(
            &(th_run_view){x->session->system, th_simulation_costs(sim), sim->program, x->result},
            task, part, err) != 0)
        return -1;
    *lost = part[TH_PART_FAULTS] + part[TH_PART_SLOWDOWN];
    return 0;
}

/* The task ran from start to end on this object of the index of faults. */
static void count_on(th_fault_list *x, int32_t object, int32_t task, th_time end, th_time lost)
{
    const th_fault_intervals *f = &x->faults;
    for (int32_t k = f->first[object]; k < f->first[object + 1]; k++) {
        int32_t i = f->by_object[k];
        if (i >= x->n || f->all[i].from >= end)
            return;
        if (f->all[i].to <= x->result->tasks[task].start_ps)
            continue;
        th_fault_effect *e = &x->effects[i];
        e->n_tasks++;
        e->n_delayed += lost > 0;
        e->lost_ps = th_time_add(e->lost_ps, lost);
        e->path_ps = th_time_add(e->path_ps, x->is_on_path[task] ? lost : 0);
    }
}

static int count_transfer(th_fault_list *x, int32_t task, th_time end, th_time lost, th_error *err)
{
    const th_system *s = x->session->system;
    const th_task *t = &x->session->simulation->program->tasks[task];
    int links[TH_ROUTE_MAX], n = th_route(s, t->node, t->peer, links);
    for (int i = 0; i < n; i++) {
        bool is_again = false; /* both directions of a half-duplex cable */
        for (int k = 0; k < i; k++)
            is_again |= s->links[links[k]].medium == s->links[links[i]].medium;
        if (!is_again)
            count_on(x, s->links[links[i]].medium, task, end, lost);
    }
    return n == TH_NO_MEMORY ? th_error_no_memory(err) : 0;
}

static int count_task(th_fault_list *x, int32_t task, th_error *err)
{
    const th_system *s = x->session->system;
    const th_task *t = &x->session->simulation->program->tasks[task];
    const th_task_result *r = &x->result->tasks[task];
    th_time end = r->end_ps >= 0 ? r->end_ps : x->result->elapsed_ps, lost;
    if (r->start_ps < 0 || (t->kind != TH_TASK_COMPUTE && t->kind != TH_TASK_TRANSFER))
        return 0;
    if (find_loss(x, task, &lost, err) != 0)
        return -1;
    if (t->kind == TH_TASK_TRANSFER)
        return count_transfer(x, task, end, lost, err);
    count_on(x, s->n_media + s->nodes[t->node].accel, task, end, lost);
    return 0;
}

static int find_effects(th_fault_list *x, th_error *err)
{
    int failed = mark_path(x, err);
    for (int32_t t = 0; !failed && t < x->result->n_tasks; t++) {
        failed = count_task(x, t, err);
        if (!failed && th_interrupt_is_pending())
            failed = th_error_interrupted(err, "the faults were not listed");
    }
    return failed;
}

static int add_row(const th_fault_list *x, int i, th_report *r, th_table *t, th_error *err)
{
    const th_fault_interval *f = &x->faults.all[i];
    const th_fault_effect *e = &x->effects[i];
    const char *object = th_property_event_object(x->session->system, &f->event, r->arena),
               *value = th_property_event_value(x->session->system, &f->event, r->arena);
    if (!object || !value)
        return th_error_no_memory(err);
    bool says_more = f->event.factor != 0 && f->event.kind != TH_PROPERTY_ROUTE;
    th_table_row(t, (th_quantity[]){th_text(object), th_text(th_fault_name(&f->event)),
                                    says_more ? th_text(value) : th_absent(TH_KIND_TEXT),
                                    th_ps(f->from),
                                    f->is_over ? th_ps(f->to) : th_absent(TH_KIND_TIME),
                                    th_ps(f->to - f->from), th_count(e->n_tasks),
                                    th_count(e->n_delayed), th_ps(e->lost_ps), th_ps(e->path_ps)});
    return 0;
}

static int add_table(th_fault_list *x, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"object", "object", TH_KIND_TEXT}, {"fault", "fault", TH_KIND_TEXT},
        {"value", "value", TH_KIND_TEXT},   {"from", "from", TH_KIND_TIME},
        {"to", "to", TH_KIND_TIME},         {"length", "length", TH_KIND_TIME},
        {"tasks", "tasks", TH_KIND_COUNT},  {"delayed", "delayed", TH_KIND_COUNT},
        {"lost", "lost", TH_KIND_TIME},     {"path_lost", "on the path", TH_KIND_TIME},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_table *t = th_report_table(r, "faults", "Faults", columns);
    th_table_note(t, "to", "to: none where it lasts at the end of the run");
    th_table_note(t, "tasks",
                  "tasks: transfers and computes that ran on the object meanwhile, without "
                  "messages of collectives");
    th_table_note(
        t, "delayed",
        "delayed: of these, the tasks to which faults of links, lower clocks or jitter added time");
    th_table_note(t, "lost path_lost",
                  "lost: that time, of all of them together, and of those on the critical path");
    th_table_note(t, "tasks delayed lost path_lost",
                  "a task that ran during several faults counts in each of them");
    int failed = 0;
    for (int i = 0; !failed && i < x->n; i++)
        failed = add_row(x, i, r, t, err);
    if (!failed && x->n < x->faults.n)
        th_table_hide(t, x->faults.n - x->n);
    return failed;
}

int th_section_faults(th_session *s, th_report *r, int limit, th_error *err)
{
    th_fault_list x = {.session = s, .result = th_simulation_result(s->simulation, err)};
    if (!x.result)
        return -1;
    if (th_fault_intervals_find(s, x.result->elapsed_ps, &x.faults) != 0)
        return th_error_no_memory(err);
    x.n = limit > 0 && limit < x.faults.n ? limit : x.faults.n;
    x.effects = th_alloc_zero((size_t)x.n + 1, sizeof *x.effects);
    x.is_on_path = th_alloc_zero((size_t)x.result->n_tasks + 1, sizeof *x.is_on_path);
    int failed = !x.effects || !x.is_on_path ? th_error_no_memory(err) : find_effects(&x, err);
    if (!failed)
        failed = add_table(&x, r, err);
    th_fault_intervals_clear(&x.faults);
    th_free(x.effects);
    th_free(x.is_on_path);
    return failed;
}
