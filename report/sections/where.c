/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.c - the state of a run between two events: what each accelerator does, what is ready, and
 * what waits for what.
 *
 * The next task of an accelerator is the first in program order that has not started. Programs list
 * successors alone, so what it waits for is found by a look at every dependency: the first
 * predecessor, in program order, that has not ended. */
#include <config.h>
#include "base/alloc.h"
#include "report/objects/objects.h"
#include "report/sections/sections.h"

/* The next task of each accelerator, and what it waits for; -1: none. */
typedef struct th_nexts {
    int32_t *task, *waits_for, *n_waits;
} th_nexts;

static void free_nexts(th_nexts *x)
{
    th_free(x->task);
    th_free(x->waits_for);
    th_free(x->n_waits);
}

static bool has_started(const th_simulation *sim, int32_t task)
{
    return th_machine_times(sim->machine)[task].start_ps >= 0;
}

static bool has_ended(const th_simulation *sim, int32_t task)
{
    return th_machine_times(sim->machine)[task].end_ps >= 0;
}

static int accel_of(const th_session *s, const th_task *t)
{
    return t->kind == TH_TASK_COMPUTE ? s->system->nodes[t->node].accel : -1;
}

static void find_next_tasks(const th_session *s, const th_nexts *x)
{
    const th_program *p = s->simulation->program;
    for (int a = 0; a < s->system->n_accels; a++)
        x->task[a] = x->waits_for[a] = -1;
    for (int32_t t = p->n_tasks; t-- > 0;) {
        int accel = accel_of(s, &p->tasks[t]);
        if (accel >= 0 && !has_started(s->simulation, t))
            x->task[accel] = t;
    }
}

static void find_predecessors(const th_session *s, const th_nexts *x)
{
    const th_program *p = s->simulation->program;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        if (has_ended(s->simulation, t))
            continue;
        for (int32_t i = p->successor_start[t]; i < p->successor_start[t + 1]; i++) {
            int accel = accel_of(s, &p->tasks[p->successors[i]]);
            if (accel < 0 || x->task[accel] != p->successors[i])
                continue;
            if (x->n_waits[accel]++ == 0)
                x->waits_for[accel] = t;
        }
    }
}

static int find_nexts(const th_session *s, th_nexts *x, th_error *err)
{
    size_t n = (size_t)s->system->n_accels + 1;
    x->task = th_alloc_array(n, sizeof *x->task);
    x->waits_for = th_alloc_array(n, sizeof *x->waits_for);
    x->n_waits = th_alloc_zero(n, sizeof *x->n_waits);
    if (!x->task || !x->waits_for || !x->n_waits)
        return th_error_no_memory(err);
    find_next_tasks(s, x);
    find_predecessors(s, x);
    return 0;
}

/* ---- accelerators ---- */

static const char *state_name(th_task_state state)
{
    static const char *const names[] = {"waiting", "ready", "running", "done"};
    return names[state];
}

/* "conv1: 3 -> 4, running". */
static th_quantity describe(th_session *s, int32_t task, th_strbuf *out)
{
    if (task < 0)
        return th_absent(TH_KIND_TEXT);
    th_task_describe(s, &s->simulation->program->tasks[task], out);
    th_strbuf_printf(out, ", %s", state_name(th_machine_task_state(s->simulation->machine, task)));
    return th_text(out->text);
}

static th_quantity task_or_absent(int32_t task)
{
    return task >= 0 ? th_count(task) : th_absent(TH_KIND_COUNT);
}

/* What it does: the cells up to the number of tiles. */
static void describe_present(th_session *s, int a, th_quantity *cells)
{
    const th_simulation *sim = s->simulation;
    int32_t task = th_machine_running(sim->machine, a);
    th_tiles tiles = th_machine_tiles(sim->machine, a);
    const th_task *t = task >= 0 ? &sim->program->tasks[task] : NULL;
    bool has_layer = t && t->layer >= 0 && s->workload;
    *cells++ = th_text(s->system->nodes[s->system->accel_node[a]].name);
    *cells++ = th_text(th_accel_state_now(s, a));
    *cells++ = t ? th_text(th_array_state_name(tiles.array)) : th_absent(TH_KIND_TEXT);
    *cells++ = task_or_absent(task);
    *cells++ = has_layer ? th_text(s->workload->layers[t->layer].name) : th_absent(TH_KIND_TEXT);
    *cells++ = t ? th_ps(th_machine_times(sim->machine)[task].start_ps) : th_absent(TH_KIND_TIME);
    *cells++ = t ? th_count(tiles.done) : th_absent(TH_KIND_COUNT);
    *cells++ =
        t ? th_count(th_compute_cost_get(th_simulation_costs(sim), t->compute_cost)->total.n_steps)
          : th_absent(TH_KIND_COUNT);
}

static void add_accel(th_session *s, th_table *table, const th_nexts *x, int a)
{
    enum { PRESENT = 8 };
    th_strbuf text = TH_STRBUF_INIT;
    th_quantity cells[PRESENT + 5];
    bool waits = x->waits_for[a] >= 0;
    describe_present(s, a, cells);
    cells[PRESENT] = th_count(th_machine_waiting(s->simulation->machine, a));
    cells[PRESENT + 1] = task_or_absent(x->task[a]);
    cells[PRESENT + 2] = task_or_absent(x->waits_for[a]);
    cells[PRESENT + 3] = waits ? th_count(x->n_waits[a] - 1) : th_absent(TH_KIND_COUNT);
    cells[PRESENT + 4] = describe(s, x->waits_for[a], &text);
    th_table_row(table, cells);
    th_strbuf_clear(&text);
}

static int add_accels(th_session *s, th_report *r, int64_t limit, th_error *err)
{
    static const th_column columns[] = {
        {"accelerator", "accel", TH_KIND_TEXT}, {"state", "state", TH_KIND_TEXT},
        {"array", "array", TH_KIND_TEXT},       {"task", "task", TH_KIND_COUNT},
        {"layer", "layer", TH_KIND_TEXT},       {"since", "since", TH_KIND_TIME},
        {"tiles_done", "tiles", TH_KIND_COUNT}, {"tiles", "of", TH_KIND_COUNT},
        {"ready", "ready", TH_KIND_COUNT},      {"next", "next", TH_KIND_COUNT},
        {"waits_for", "after", TH_KIND_COUNT},  {"waits_for_others", "+", TH_KIND_COUNT},
        {"waits_for_what", NULL, TH_KIND_TEXT}, {NULL, NULL, TH_KIND_TEXT},
    };
    th_nexts x = {NULL, NULL, NULL};
    int failed = find_nexts(s, &x, err);
    th_table *t = th_report_table(r, "accelerators", "Accelerators", columns);
    th_table_note(t, "array", "array: what its array does of the task");
    th_table_note(t, "since", "since: start of the task");
    th_table_note(t, "tiles_done tiles", "tiles: computed, of all");
    th_table_note(t, "ready", "ready: tasks that could start now");
    th_table_note(t, "next", "next: the first task in program order that has not started");
    th_table_note(t, "waits_for waits_for_others",
                  "after: the first unfinished task that this waits for, and + how many more");
    for (int a = 0; !failed && a < s->system->n_accels; a++)
        add_accel(s, t, &x, a);
    th_table_limit(t, limit);
    free_nexts(&x);
    return failed;
}

/* ---- tasks ---- */

static void add_counts(const th_session *s, th_report *r)
{
    static const th_column columns[] = {
        {"done", "done", TH_KIND_COUNT},   {"running", "running", TH_KIND_COUNT},
        {"ready", "ready", TH_KIND_COUNT}, {"waiting", "waiting", TH_KIND_COUNT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    int64_t n[TH_TASK_DONE + 1] = {0};
    for (int32_t t = 0; t < s->simulation->program->n_tasks; t++)
        n[th_machine_task_state(s->simulation->machine, t)]++;
    th_table *table = th_report_record(r, "tasks", "Tasks", columns);
    th_table_row(table, (th_quantity[]){th_count(n[TH_TASK_DONE]), th_count(n[TH_TASK_RUNNING]),
                                        th_count(n[TH_TASK_READY]), th_count(n[TH_TASK_WAITING])});
}

static bool is_in_flight(const th_simulation *sim, int32_t task)
{
    return sim->program->tasks[task].kind != TH_TASK_COMPUTE &&
           th_machine_task_state(sim->machine, task) == TH_TASK_RUNNING;
}

static bool has_in_flight(const th_simulation *sim)
{
    for (int32_t t = 0; t < sim->program->n_tasks; t++)
        if (is_in_flight(sim, t))
            return true;
    return false;
}

/* Running tasks that are not on accelerators. */
static void add_in_flight(th_session *s, th_report *r, bool omits_empty, int64_t limit)
{
    static const th_column columns[] = {
        {"task", "task", TH_KIND_COUNT},  {"kind", "kind", TH_KIND_TEXT},
        {"since", "since", TH_KIND_TIME}, {"bytes", "bytes", TH_KIND_BYTES},
        {"what", "what", TH_KIND_TEXT},   {NULL, NULL, TH_KIND_TEXT},
    };
    const th_simulation *sim = s->simulation;
    if (omits_empty && !has_in_flight(s->simulation))
        return;
    th_table *table = th_report_table(r, "in_flight", "In flight", columns);
    for (int32_t i = 0; i < sim->program->n_tasks; i++) {
        const th_task *t = &sim->program->tasks[i];
        if (!is_in_flight(sim, i))
            continue;
        th_strbuf what = TH_STRBUF_INIT;
        bool has_bytes = t->kind == TH_TASK_TRANSFER || t->kind == TH_TASK_COLLECTIVE;
        th_task_describe(s, t, &what);
        th_table_row(table,
                     (th_quantity[]){th_count(i), th_text(th_task_kind_name(t->kind)),
                                     th_ps(th_machine_times(sim->machine)[i].start_ps),
                                     has_bytes ? th_bytes(t->bytes) : th_absent(TH_KIND_BYTES),
                                     th_text(what.text)});
        th_strbuf_clear(&what);
    }
    th_table_limit(table, limit);
}

int th_section_where(th_session *s, th_report *r, bool omits_empty, int64_t limit, th_error *err)
{
    if (add_accels(s, r, limit, err) != 0)
        return -1;
    add_counts(s, r);
    add_in_flight(s, r, omits_empty, limit);
    return 0;
}
