/* SPDX-License-Identifier: GPL-3.0-or-later */
/* goal.c - see goal.h.
 *   parse: list -> one term | weights | front */
#include <config.h>
#include "report/session/goal.h"
#include <stdio.h>
#include <string.h>

/* ---- from words ---- */

static const double WEIGHT_MAX = 1e9;

/* The number of a term's name, or -1 with the names in c->err. */
static int term_of(th_call *c, Tcl_Obj *word)
{
    const char *names[TH_N_TERMS + 1], *name = Tcl_GetString(word);
    for (int i = 0; i <= TH_N_TERMS; i++) {
        names[i] = th_objective_name(i);
        if (names[i] != NULL && strcmp(name, names[i]) == 0)
            return i;
    }
    return th_error_unknown(&c->err, "TCL-0250", "-objective", name, names);
}

static int given_twice(th_call *c, int term)
{
    return th_error_set(&c->err, "TCL-0251", "-objective: names %s twice", th_objective_name(term));
}

static int take_weights(th_call *c, Tcl_Obj **word, int n, th_goal *out)
{
    out->objective = TH_OBJECTIVE_WEIGHTED;
    for (int i = 0; i + 1 < n; i += 2) {
        double weight;
        int term = term_of(c, word[i]);
        if (term < 0)
            return -1;
        if (out->weight[term] > 0)
            return given_twice(c, term);
        if (Tcl_GetDoubleFromObj(NULL, word[i + 1], &weight) != TCL_OK || !(weight > 0) ||
            weight > WEIGHT_MAX)
            return th_error_set(&c->err, "TCL-0252",
                                "-objective: the weight of %s is \"%.40s\": must be a number > 0, "
                                "at most %g",
                                th_objective_name(term), Tcl_GetString(word[i + 1]), WEIGHT_MAX);
        out->weight[term] = weight;
    }
    return 0;
}

static int take_front(th_call *c, Tcl_Obj **word, int n, th_goal *out)
{
    for (int i = 0; i < n; i++) {
        int term = term_of(c, word[i]);
        if (term < 0)
            return -1;
        for (int k = 0; k < out->n_front; k++)
            if (out->front[k] == (th_objective)term)
                return given_twice(c, term);
        out->front[out->n_front++] = (th_objective)term;
    }
    out->objective = out->front[0];
    return 0;
}

static bool is_number(Tcl_Obj *word)
{
    double ignored;
    return Tcl_GetDoubleFromObj(NULL, word, &ignored) == TCL_OK;
}

static int take_words(th_call *c, Tcl_Obj **word, int n, th_goal *out)
{
    bool is_front = n > 0 && strcmp(Tcl_GetString(word[0]), "pareto") == 0;
    if (n == 1 && !is_front) {
        int term = term_of(c, word[0]);
        out->objective = term < 0 ? TH_OBJECTIVE_LATENCY : (th_objective)term;
        return term < 0 ? -1 : 0;
    }
    if (n > 0 && n % 2 == 0 && is_number(word[1]))
        return take_weights(c, word, n, out);
    word += is_front;
    n -= is_front;
    if (n >= 2)
        return take_front(c, word, n, out);
    return th_error_set(
        &c->err, "TCL-0253",
        "-objective: must be a name, names and weights in turn, or two names or more "
        "for a Pareto front");
}

int th_goal_parse(th_call *c, int option, th_goal *out)
{
    Tcl_Obj **word;
    Tcl_Size n;
    if (!th_call_has(c, option))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[option].word, &n, &word) != TCL_OK)
        return th_error_set(&c->err, "TCL-0262",
                            "-objective \"%.40s\": must be a list: a name, names and weights in "
                            "turn, or pareto and names",
                            th_call_text(c, option, ""));
    return take_words(c, word, (int)n, out);
}

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
    snprintf(out, size, "%s", text.text != NULL ? text.text : "");
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
