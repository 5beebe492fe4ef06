/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_view.c - see study_view.h. */
#include <config.h>
#include "tcl/core/study_view.h"
#include "base/arena.h"
#include "tcl/core/lib_report.h"

static const char *keep(th_study_view *v, Tcl_Obj *text)
{
    return th_report_keep(v->report, Tcl_GetString(text));
}

static void *room(th_study_view *v, int n, size_t size)
{
    return th_arena_alloc(v->report->arena, (size_t)n * size + 1);
}

/* {NAME VALUES ...} */
static int take_parameters(th_study_view *v, Tcl_Obj *list)
{
    Tcl_Obj **word, **value;
    int n = th_lib_elements(list, -1, &word) / 2;
    v->study.parameters = room(v, n, sizeof *v->study.parameters);
    for (int i = 0; v->study.parameters && i < n; i++) {
        int n_values = th_lib_elements(word[2 * i + 1], -1, &value);
        const char **values = n_values >= 0 ? room(v, n_values, sizeof *values) : NULL;
        if (!values)
            return -1;
        for (int k = 0; k < n_values; k++)
            values[k] = keep(v, value[k]);
        v->study.parameters[v->study.n_parameters++] =
            (th_study_parameter){keep(v, word[2 * i]), values, n_values};
    }
    return v->study.parameters ? 0 : -1;
}

static int take_metrics(th_study_view *v, Tcl_Obj *list)
{
    Tcl_Obj **word;
    int n = th_lib_elements(list, -1, &word);
    v->study.metrics = n >= 0 ? room(v, n, sizeof *v->study.metrics) : NULL;
    for (int i = 0; v->study.metrics && i < n; i++)
        v->study.metrics[v->study.n_metrics++] = (th_study_metric){keep(v, word[i])};
    return v->study.metrics ? 0 : -1;
}

/* REPORT NAME SCRIPT PARAMETERS METRICS */
static int take_all(th_call *c, th_study_view *v, Tcl_Obj *result)
{
    Tcl_Obj **word;
    if (th_lib_elements(result, 5, &word) < 0)
        return th_lib_fault(c, "study_view");
    v->report = th_lib_make_report(c, word[0], false);
    if (!v->report)
        return -1;
    v->study.name = keep(v, word[1]);
    v->study.script = keep(v, word[2]);
    return take_parameters(v, word[3]) != 0 || take_metrics(v, word[4]) != 0
               ? th_error_no_memory(&c->err)
               : 0;
}

int th_study_view_make(th_call *c, const char *name, th_study_view *out)
{
    Tcl_Obj *word = Tcl_NewStringObj(name, -1);
    *out = (th_study_view){.report = NULL};
    if (th_lib_call(c, "study_view", 1, &word) != 0)
        return -1;
    Tcl_Obj *result = Tcl_GetObjResult(c->interp);
    Tcl_IncrRefCount(result);
    Tcl_ResetResult(c->interp);
    int failed = take_all(c, out, result);
    Tcl_DecrRefCount(result);
    return failed;
}
