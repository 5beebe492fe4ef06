/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_contention.c - the table of contention on the critical path. */
#include <config.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/time_breakdown.h"
#include "session/sections/contention.h"
#include "session/objects/objects.h"
#include "session/sections/sections.h"

static int add_row(th_session *s, th_contention *f, th_table *t, int32_t task,
                   th_time contention_ps, th_error *err)
{
    enum { TASK, WHAT, TIME, CONTENDER, N_CELLS = CONTENDER + TH_CONTENDER_CELLS };
    th_quantity cells[N_CELLS];
    th_contender h;
    th_strbuf what = TH_STRBUF_INIT, at = TH_STRBUF_INIT, by = TH_STRBUF_INIT;
    if (th_contention_find(f, task, &h, err) != 0)
        return -1;
    th_task_describe(s, &s->simulation->program->tasks[task], &what);
    cells[TASK] = th_count(task);
    cells[WHAT] = th_text(what.text);
    cells[TIME] = th_ps(contention_ps);
    th_contender_cells(s, &h, &at, &by, cells + CONTENDER);
    th_table_row(t, cells);
    th_strbuf_clear(&what);
    th_strbuf_clear(&at);
    th_strbuf_clear(&by);
    return 0;
}

typedef struct delayed_task {
    th_time ps;
    int32_t task;
} delayed_task;

static int longest_first(const void *a, const void *b)
{
    const delayed_task *x = a, *y = b;
    if (x->ps != y->ps)
        return x->ps > y->ps ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* Tasks of the path that contention delayed, the longest first: returns how many, or -1. */
static int list_delayed(th_session *s, const th_result *r, delayed_task **list, th_error *err)
{
    th_path_entry *path;
    th_time part[TH_N_PARTS];
    int n = th_critical_path(r, &path, err), n_delayed = 0, failed = 0;
    if (n < 0)
        return -1;
    *list = th_alloc_array((size_t)n + 1, sizeof **list);
    if (!*list)
        failed = th_error_no_memory(err);
    for (int i = 0; !failed && i < n; i++) {
        failed = th_time_breakdown(&(th_run_view){s->system, th_simulation_costs(s->simulation),
                                                  s->simulation->program, r},
                                   path[i].task, part, err);
        if (!failed && part[TH_PART_CONTENTION] > 0)
            (*list)[n_delayed++] = (delayed_task){part[TH_PART_CONTENTION], path[i].task};
    }
    th_free(path);
    if (!failed)
        qsort(*list, (size_t)n_delayed, sizeof **list, longest_first);
    else
        th_free(*list);
    return failed ? -1 : n_delayed;
}

int th_section_contention(th_session *s, th_report *r, int64_t limit, th_error *err)
{
    static const th_column columns[] = {
        {"task", "task", TH_KIND_COUNT},
        {"what", "what", TH_KIND_TEXT},
        {"contention", "delay", TH_KIND_TIME},
        {"at", "at", TH_KIND_TEXT},
        {"by", "by task", TH_KIND_COUNT},
        {"by_what", "what that is", TH_KIND_TEXT},
        {"overlap", NULL, TH_KIND_TIME},
        {"others", "others", TH_KIND_COUNT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *result = th_simulation_result(s->simulation, err);
    delayed_task *list = NULL;
    int n = result ? list_delayed(s, result, &list, err) : -1;
    if (n <= 0) {
        if (n == 0)
            th_free(list);
        return n;
    }
    th_contention *f = th_contention_new(s, result, err);
    th_table *t =
        f ? th_report_table(r, "contention", "Contention on the critical path", columns) : NULL;
    th_table_note(t, "contention", "delay: beyond the uncontended time on its links and DRAM");
    th_table_note(t, "at", "at: the resource");
    th_table_note(t, "by", "by task: the task that occupied it longest during this task");
    th_table_note(t, "others", "others: the number of further tasks");
    int failed = f ? 0 : -1;
    for (int i = 0; !failed && i < n && (limit <= 0 || i < limit); i++)
        failed = add_row(s, f, t, list[i].task, list[i].ps, err);
    if (!failed && limit > 0 && limit < n)
        th_table_hide(t, n - limit);
    th_contention_free(f);
    th_free(list);
    return failed;
}
