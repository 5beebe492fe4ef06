/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections_search.c - how a mapping was found. */
#include <config.h>
#include "mapper/due.h"
#include "tcl/goal.h"
#include "tcl/sections.h"

/* A cell of a search that drew random numbers and had a budget; absent of baselines and files. */
static th_quantity if_searched(const th_searched *f, th_quantity q)
{
    return f->type == NULL || f->type->is_baseline ? th_absent(q.kind) : q;
}

/* A cell of anything that map_workload found. */
static th_quantity if_found(const th_searched *f, th_quantity q)
{
    return f->type == NULL ? th_absent(q.kind) : q;
}

static const char *sets_of(const th_searched *f)
{
    if (f->type == NULL || f->type->is_baseline)
        return NULL;
    return f->inside_groups ? "inside groups" : "free";
}

int th_section_search(th_session *s, th_report *r, th_error *err)
{
    static const th_column first[] = {
        {"algorithm", "algorithm", TH_KIND_TEXT},
        {"objective", "objective", TH_KIND_TEXT},
        {"sets", "sets", TH_KIND_TEXT},
        {"seed", "seed", TH_KIND_COUNT},
        {"evaluations", "evaluations", TH_KIND_COUNT},
        {"infeasible", "infeasible", TH_KIND_COUNT},
        {"stopped", "stopped by the bound", TH_KIND_COUNT},
        {"remembered", "answered from memory", TH_KIND_COUNT},
        {"found_at", "best found at evaluation", TH_KIND_COUNT},
        {"deadline", "deadline", TH_KIND_TIME},
        {"lateness", "late by", TH_KIND_TIME},
    };
    enum { N_FIRST = sizeof first / sizeof *first };
    const th_searched *f = &s->searched;
    const th_metrics *m = &f->fitness.metrics;
    bool has_deadline = f->goal.deadline_ps > 0 ||
                        (f->type != NULL && th_due_has_deadlines(s->workload));
    char objective[200];
    th_column *columns = th_report_columns(r, N_FIRST + 1);
    if (columns == NULL)
        return th_error_no_memory(err);
    for (int i = 0; i < N_FIRST; i++)
        columns[i] = first[i];
    columns[N_FIRST] = th_goal_column(&f->goal);
    columns[N_FIRST + 1] = (th_column){NULL, NULL, TH_KIND_TEXT};
    th_goal_describe(&f->goal, objective, sizeof objective);
    th_quantity cells[] = {
        th_text(f->type != NULL ? f->type->name : "file"),
        if_found(f, th_text(objective)),
        th_text(sets_of(f)),
        if_searched(f, th_count((int64_t)f->seed)),
        th_count(f->evaluations),
        th_count(f->infeasible),
        th_count(f->stopped),
        th_count(f->remembered),
        th_count(f->found_at),
        f->goal.deadline_ps > 0 ? th_ps(f->goal.deadline_ps) : th_absent(TH_KIND_TIME),
        has_deadline ? th_ps(m->lateness_ps) : th_absent(TH_KIND_TIME),
        if_found(f, th_goal_quantity(&f->goal, m)),
    };
    th_table_row(th_report_record(r, "search", NULL, columns), cells);
    return 0;
}
