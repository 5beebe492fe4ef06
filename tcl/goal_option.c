/* SPDX-License-Identifier: GPL-3.0-or-later */
/* goal_option.c - "-objective" of map_workload: list -> one term | weights | front. */
#include <config.h>
#include "tcl/goal_option.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include <string.h>

static const double WEIGHT_MAX = 1e9;

/* The number of a term's name, or -1 with the names in c->err. */
static int term_of(th_call *c, Tcl_Obj *word)
{
    const char *names[TH_N_TERMS + 1], *name = Tcl_GetString(word);
    for (int i = 0; i <= TH_N_TERMS; i++) {
        names[i] = th_objective_name(i);
        if (names[i] && strcmp(name, names[i]) == 0)
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
            return th_error_set(
                &c->err, "TCL-0252",
                "-objective: the weight of %s is \"%.40s\": must be a number > 0, at most %g",
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
    return th_error_set(&c->err, "TCL-0253",
                        "-objective: must be a name, names and weights in turn, or two names or "
                        "more for a Pareto front");
}

int th_goal_parse(th_call *c, int option, th_goal *out)
{
    const th_value *v = &c->option[option];
    return v->word ? take_words(c, v->words, v->n, out) : 0;
}
