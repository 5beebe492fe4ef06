/* SPDX-License-Identifier: GPL-3.0-or-later */
/* survival.c - see survival.h. */
#include <config.h>
#include "report/sections/survival.h"
#include <math.h>
#include "mapper/search/survival.h"
#include "report/session/goal.h"

static th_quantity name_of(const th_session *s, th_report *r, const th_failure_case *c)
{
    const char *name = c->is_link ? s->system->links[c->object].name
                                  : s->system->nodes[s->system->accel_node[c->object]].name;
    return th_text(th_report_printf(r, "%s/%s", c->is_link ? "link" : "accel", name));
}

/* What took the part of the object. */
static th_quantity taker_of(const th_session *s, th_report *r, const th_failure_case *c)
{
    switch ((th_repair_kind)c->repair) {
    case TH_REPAIR_SPARE:
        return th_text(
            th_report_printf(r, "accel/%s", s->system->nodes[s->system->accel_node[c->to]].name));
    case TH_REPAIR_RESHARD:
        return th_text(th_report_printf(r, "%d of its set", c->to));
    case TH_REPAIR_MOVE:
        return th_text(th_report_printf(r, "set %d", c->to));
    case TH_REPAIR_DETOUR:
        return th_text("other links");
    case TH_REPAIR_UNUSED:
    case TH_REPAIR_NONE:
        break;
    }
    return th_text(NULL);
}

static th_quantity loss_of(double loss)
{
    return isfinite(loss) ? th_change(loss) : th_absent(TH_KIND_CHANGE);
}

static th_quantity value_of(const th_goal *g, const th_failure_case *c)
{
    return c->repair == TH_REPAIR_NONE ? th_absent(th_goal_column(g).kind)
                                       : th_goal_quantity(g, &c->metrics);
}

static int add_figures(const th_session *s, th_report *r, const th_goal *g, const th_survival *x,
                       th_error *err)
{
    const th_kind kind = th_goal_column(g).kind;
    const th_column columns[] = {
        {"survives", "survives any one failure", TH_KIND_TEXT},
        {"before", "without failure", kind},
        {"worst_after", "after the worst", kind},
        {"worst_loss", "loss then", TH_KIND_CHANGE},
        {"worst", "the worst", TH_KIND_TEXT},
        {"mean_loss", "mean loss", TH_KIND_CHANGE},
        {"failures", "failures", TH_KIND_COUNT},
        {"not_survived", "not survived", TH_KIND_COUNT},
        {"runs", "runs", TH_KIND_COUNT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    enum { N = sizeof columns / sizeof *columns };
    th_column *kept = th_report_columns(r, N - 1);
    if (!kept)
        return th_error_no_memory(err);
    for (int i = 0; i < N; i++)
        kept[i] = columns[i];
    const th_failure_case *worst = &x->all[x->worst];
    th_table_row(th_report_record(r, "survival", NULL, kept),
                 (th_quantity[]){
                     th_text(x->n_lost == 0 ? "yes" : "no"),
                     th_goal_quantity(g, &x->before.metrics),
                     value_of(g, worst),
                     loss_of(worst->loss),
                     name_of(s, r, worst),
                     loss_of(x->mean_loss),
                     th_count(x->n),
                     th_count(x->n_lost),
                     th_count(x->n_evaluations),
                 });
    return 0;
}

static th_table *add_failures(const th_session *s, th_report *r, const th_goal *g,
                              const th_survival *x)
{
    const th_column of_goal = th_goal_column(g);
    const th_column columns[] = {
        {"object", "fails", TH_KIND_TEXT}, {"repair", "repair", TH_KIND_TEXT},
        {"by", "by", TH_KIND_TEXT},        {"after", "after it", of_goal.kind},
        {"loss", "loss", TH_KIND_CHANGE},  {NULL, NULL, TH_KIND_TEXT},
    };
    enum { N = sizeof columns / sizeof *columns };
    th_column *kept = th_report_columns(r, N - 1);
    if (!kept)
        return NULL;
    for (int i = 0; i < N; i++)
        kept[i] = columns[i];
    th_table *t = th_report_table(r, "failures", NULL, kept);
    for (int i = 0; i < x->n; i++) {
        const th_failure_case *c = &x->all[i];
        th_table_row(t, (th_quantity[]){name_of(s, r, c), th_text(th_repair_kind_names[c->repair]),
                                        taker_of(s, r, c), value_of(g, c), loss_of(c->loss)});
    }
    return t;
}

int th_section_survival(th_session *s, th_report *r, th_table **failures, th_error *err)
{
    th_problem problem = {
        .system = s->system,
        .workload = s->workload,
        .stream = s->defaults.stream,
        .network = s->defaults.network,
        .network_options = s->defaults.network_options,
        .scripts = s->scripts,
    };
    th_survival x;
    char text[160];
    if (s->search.type && s->search.goal.n_front == 0)
        problem.goal = s->search.goal;
    problem.goal.deadline_ps = 0;
    th_survivor *v = th_survivor_new(&problem, err);
    int failed = v ? th_survival_find(v, s->mapping, &x, err) : -1;
    th_survivor_free(v);
    if (failed)
        return -1;
    th_report_head_line(r, "objective", th_goal_describe(&problem.goal, text, sizeof text));
    if (s->events.n > 0)
        th_report_head_line(r, "faults", "those of inject_fault and set_property do not count");
    if (!x.has_links)
        th_report_head_line(r, "links", "do not fail: only fluid can change them in a run");
    failed = add_figures(s, r, &problem.goal, &x, err);
    *failures = failed ? NULL : add_failures(s, r, &problem.goal, &x);
    th_survival_clear(&x);
    return failed || !*failures ? th_error_no_memory(err) : 0;
}
