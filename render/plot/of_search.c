/* SPDX-License-Identifier: GPL-3.0-or-later */
/* of_search.c - convergence of a search: each improvement over evaluations, and the lower bound. */
#include <config.h>
#include <math.h>
#include "session/goal.h"
#include "render/plot/plots.h"
#include "render/text/report_scale.h"
#include "session/sections/sections.h"

enum { LOG_FROM = 200 }; /* evaluations: the first of them decide most */

static void add_found(th_plot *p, const th_search_record *f, double unit)
{
    double best = 0;
    th_plot_series_begin(p, "best so far", TH_JOIN_STEPS);
    for (size_t i = 0; i < f->n_improvements; i++) {
        int64_t at = f->improvements[i].evaluation;
        th_quantity value = th_goal_quantity(&f->goal, &f->improvements[i].metrics);
        best = th_quantity_number(&value, 0) / unit;
        th_plot_point_add(p, at > 0 ? (double)at : 1, best, NULL);
    }
    if (f->evaluations > f->found_at && f->n_improvements > 0)
        th_plot_point_add(p, (double)f->evaluations, best, NULL);
}

th_plot *th_plot_of_search(th_session *s, th_error *err)
{
    const th_search_record *f = &s->search;
    double bound = 0, unit, for_all;
    if (!f->type || f->n_improvements == 0) {
        th_error_set(err, "TCL-0374", "there is nothing to draw: map_workload searches first");
        return NULL;
    }
    th_plot *p =
        th_search_record_bound(s, &bound, &for_all, err) == 0 ? th_plot_new(TH_PLOT_LINE) : NULL;
    if (!p)
        return NULL;
    th_quantity first = th_goal_quantity(&f->goal, &f->improvements[0].metrics);
    const char *name = th_kind_unit(first.kind, th_quantity_number(&first, 0), &unit);
    char objective[200];
    th_goal_describe(&f->goal, objective, sizeof objective);
    p->x = (th_plot_axis){"evaluations", f->evaluations >= LOG_FROM};
    p->y.label = th_plot_text(p, *name != '\0' ? "best %s [%s]" : "best %s%s", objective, name);
    p->what = th_plot_text(p, "%s over evaluations", p->y.label);
    add_found(p, f, unit);
    if (bound > 0 && first.kind == TH_KIND_TIME) {
        th_plot_series_begin(p, "lower bound", TH_JOIN_LEVEL);
        th_plot_point_add(p, 0, bound / unit, NULL);
    }
    return p;
}
