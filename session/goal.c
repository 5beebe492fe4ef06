/* SPDX-License-Identifier: GPL-3.0-or-later */
/* goal.c - see goal.h. */
#include <config.h>
#include "session/goal.h"
#include <stdio.h>
#include <string.h>

/* ---- for people ---- */

char *th_goal_describe(const th_goal *g, char *out, size_t size)
{
    th_strbuf text = TH_STRBUF_INIT;
    if (g->objective == TH_OBJECTIVE_WEIGHTED) {
        for (int i = 0; i < TH_N_TERMS; i++)
            if (g->weight[i] > 0)
                th_strbuf_printf(&text, "%s%s %g", text.length > 0 ? " " : "", th_objective_name(i),
                                 g->weight[i]);
    } else if (g->n_front > 0) {
        th_strbuf_add(&text, "pareto");
        for (int i = 0; i < g->n_front; i++)
            th_strbuf_printf(&text, " %s", th_objective_name((int)g->front[i]));
    } else {
        th_strbuf_add(&text, th_objective_name((int)g->objective));
    }
    snprintf(out, size, "%s", text.text ? text.text : "");
    th_strbuf_clear(&text);
    return out;
}

static char *format_value(const th_goal *g, const th_metrics *m, char *out, size_t size)
{
    double value = th_goal_value(g, m);
    switch (g->objective) {
    case TH_OBJECTIVE_LATENCY:
    case TH_OBJECTIVE_THROUGHPUT:
        return th_format_time((th_time)value, out, size);
    case TH_OBJECTIVE_ENERGY:
        return th_format_energy(value, out, size);
    case TH_OBJECTIVE_EDP:
        snprintf(out, size, "%.6gJs", value);
        return out;
    case TH_OBJECTIVE_WEIGHTED:
        break;
    }
    snprintf(out, size, "%.6g", value);
    return out;
}

char *th_goal_format(const th_goal *g, const th_metrics *m, char *out, size_t size)
{
    char value[64], late[64];
    format_value(g, m, value, sizeof value);
    if (m->lateness_ps > 0)
        snprintf(out, size, "%s, %s late", value,
                 th_format_time(m->lateness_ps, late, sizeof late));
    else
        snprintf(out, size, "%s", value);
    return out;
}

th_column th_goal_column(const th_goal *g)
{
    switch (g->objective) {
    case TH_OBJECTIVE_LATENCY:
    case TH_OBJECTIVE_THROUGHPUT:
        return (th_column){"best", "best", TH_KIND_TIME};
    case TH_OBJECTIVE_ENERGY:
        return (th_column){"best", "best", TH_KIND_ENERGY};
    case TH_OBJECTIVE_EDP:
        return (th_column){"best_js", "best, J s", TH_KIND_NUMBER};
    case TH_OBJECTIVE_WEIGHTED:
        break;
    }
    return (th_column){"best", "best, weighted", TH_KIND_NUMBER};
}

th_quantity th_goal_quantity(const th_goal *g, const th_metrics *m)
{
    double value = th_goal_value(g, m);
    th_column column = th_goal_column(g);
    return column.kind == TH_KIND_TIME     ? th_ps((th_time)value)
           : column.kind == TH_KIND_ENERGY ? th_joules(value)
                                           : th_number(value);
}

th_column th_objective_column(th_objective o)
{
    static const th_column columns[TH_N_TERMS] = {
        [TH_OBJECTIVE_LATENCY] = {"makespan", "makespan", TH_KIND_TIME},
        [TH_OBJECTIVE_THROUGHPUT] = {"interval", "time between batches", TH_KIND_TIME},
        [TH_OBJECTIVE_ENERGY] = {"energy", "energy", TH_KIND_ENERGY},
        [TH_OBJECTIVE_EDP] = {"edp_js", "EDP, J s", TH_KIND_NUMBER},
    };
    return columns[o];
}

th_quantity th_objective_quantity(th_objective o, const th_metrics *m)
{
    return th_goal_quantity(&(th_goal){.objective = o}, m);
}

/* ---- throughput, which a search minimises as the time between batches ---- */

bool th_goal_has_throughput(const th_goal *g)
{
    if (g->objective == TH_OBJECTIVE_WEIGHTED)
        return g->weight[TH_OBJECTIVE_THROUGHPUT] > 0;
    for (int i = 0; i < g->n_front; i++)
        if (g->front[i] == TH_OBJECTIVE_THROUGHPUT)
            return true;
    return g->objective == TH_OBJECTIVE_THROUGHPUT;
}

void th_goal_rate_columns(const th_goal *g, int64_t samples, th_column *out)
{
    bool is_shown = th_goal_has_throughput(g);
    out[0] = (th_column){"throughput", is_shown ? "throughput, samples" : NULL, TH_KIND_RATE};
    out[1] = (th_column){"batch_throughput", is_shown && samples > 1 ? "throughput, batches" : NULL,
                         TH_KIND_RATE};
}

void th_goal_rates(const th_goal *g, int64_t samples, const th_metrics *m, th_quantity *out)
{
    bool is_known = th_goal_has_throughput(g) && m->interval_ps > 0;
    double batches = is_known ? (double)TH_PS_PER_S / (double)m->interval_ps : 0;
    out[0] = is_known ? th_rate((double)samples * batches) : th_absent(TH_KIND_RATE);
    out[1] = is_known ? th_rate(batches) : th_absent(TH_KIND_RATE);
}
