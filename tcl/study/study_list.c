/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_list.c - see study_list.h. */
#include <config.h>
#include "tcl/study/study_list.h"
#include "tcl/safe_interp.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "report/interrupt.h"
#include "base/names.h"
#include <string.h>
#include "base/alloc.h"
#include "tcl/study/study_metric.h"
#include "tcl/study/study_point.h"

typedef struct {
    char *name, *path;
    bool is_own;
} known;

struct th_studies {
    known *all;
    size_t n, capacity;
};

/* ---- the session's studies ---- */

const char *th_studies_name(const th_session *s, size_t i)
{
    return th_tcl_of(s)->studies && i < th_tcl_of(s)->studies->n
               ? th_tcl_of(s)->studies->all[i].name
               : NULL;
}

void th_studies_free(th_studies *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++) {
        th_free(all->all[i].name);
        th_free(all->all[i].path);
    }
    th_free(all->all);
    th_free(all);
}

static known *find(const th_studies *all, const char *name)
{
    for (size_t i = 0; all && i < all->n; i++)
        if (strcmp(all->all[i].name, name) == 0)
            return &all->all[i];
    return NULL;
}

int th_studies_add(th_session *s, const char *name, const char *path, bool is_own, th_error *err)
{
    if (!th_tcl_of(s)->studies &&
        !(th_tcl_of(s)->studies = th_alloc_zero(1, sizeof *th_tcl_of(s)->studies)))
        return th_error_no_memory(err);
    th_studies *all = th_tcl_of(s)->studies;
    known *old = find(all, name), fresh = {th_alloc_string(name), th_alloc_string(path), is_own};
    if (!fresh.name || !fresh.path ||
        (!old && th_grow(&all->all, &all->capacity, all->n + 1, sizeof *all->all) != 0)) {
        th_free(fresh.name);
        th_free(fresh.path);
        return th_error_no_memory(err);
    }
    if (!old) {
        old = &all->all[all->n++];
    } else {
        th_free(old->name);
        th_free(old->path);
    }
    *old = fresh;
    return 0;
}

bool th_studies_is_own(const th_session *s, const char *name)
{
    const known *k = find(th_tcl_of(s)->studies, name);
    return k && k->is_own;
}

static void unknown_study(const th_studies *all, const char *name, th_error *err)
{
    if (!all || all->n == 0) {
        th_error_set(err, "STUDY-0050",
                     "study \"%s\": there is none yet: create_study or read_study first", name);
        return;
    }
    const char **names = th_alloc_array(all->n + 1, sizeof *names);
    if (!names) {
        th_error_no_memory(err);
        return;
    }
    for (size_t i = 0; i < all->n; i++)
        names[i] = all->all[i].name;
    names[all->n] = NULL;
    th_error_unknown(err, "STUDY-0051", "study", name, names);
    th_free(names);
}

th_store *th_studies_open(th_session *s, const char *name, th_error *err)
{
    const known *k = find(th_tcl_of(s)->studies, name);
    if (!k) {
        unknown_study(th_tcl_of(s)->studies, name, err);
        return NULL;
    }
    return th_store_open(k->path, th_interrupt_is_pending, err);
}

/* ---- words of create_study ---- */

static int list_of(const char *option, Tcl_Obj *word, Tcl_Obj ***elements, Tcl_Size *n,
                   th_error *err)
{
    if (Tcl_ListObjGetElements(NULL, word, n, elements) == TCL_OK)
        return 0;
    return th_error_set(err, "STUDY-0052", "%s \"%.80s\": must be a list", option,
                        Tcl_GetString(word));
}

static int add_parameter(th_study *s, Tcl_Obj *name, Tcl_Obj *values, th_error *err)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (list_of("-parameters", values, &words, &n, err) != 0)
        return -1;
    if (n > TH_STUDY_CELLS_MAX)
        return th_error_set(err, "STUDY-0053", "parameter \"%s\": has more than %d values",
                            Tcl_GetString(name), (int)TH_STUDY_CELLS_MAX);
    const char **texts = th_alloc_array((size_t)n + 1, sizeof *texts);
    if (!texts)
        return th_error_no_memory(err);
    for (Tcl_Size i = 0; i < n; i++)
        texts[i] = Tcl_GetString(words[i]);
    int failed = th_study_add_parameter(s, Tcl_GetString(name), texts, (int32_t)n, err);
    th_free(texts);
    return failed;
}

static int add_parameters(th_study *s, Tcl_Obj *word, th_error *err)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (list_of("-parameters", word, &words, &n, err) != 0)
        return -1;
    if (n % 2 != 0)
        return th_error_set(err, "STUDY-0054",
                            "-parameters: must be a list {NAME VALUES NAME VALUES ...}; the last "
                            "NAME \"%.60s\" has no values",
                            Tcl_GetString(words[n - 1]));
    for (Tcl_Size i = 0; i < n; i += 2)
        if (add_parameter(s, words[i], words[i + 1], err) != 0)
            return -1;
    return 0;
}

static int join_group(th_study *s, Tcl_Obj *group, th_error *err)
{
    Tcl_Obj **names;
    Tcl_Size n;
    if (list_of("-zip", group, &names, &n, err) != 0)
        return -1;
    if (n < 2)
        return th_error_set(
            err, "STUDY-0055",
            "-zip \"%.80s\": must be two parameters at least, or a list of such lists",
            Tcl_GetString(group));
    for (Tcl_Size i = 1; i < n; i++)
        if (th_study_join(s, Tcl_GetString(names[0]), Tcl_GetString(names[i]), err) != 0)
            return -1;
    return 0;
}

/* {a b}, or {{a b} {c d}}. */
static int join_groups(th_study *s, Tcl_Obj *word, th_error *err)
{
    Tcl_Obj **groups, **names;
    Tcl_Size n, n_names = 1;
    if (!word)
        return 0;
    if (list_of("-zip", word, &groups, &n, err) != 0 ||
        (n > 0 && list_of("-zip", groups[0], &names, &n_names, err) != 0))
        return -1;
    if (n_names < 2)
        return join_group(s, word, err);
    for (Tcl_Size i = 0; i < n; i++)
        if (join_group(s, groups[i], err) != 0)
            return -1;
    return 0;
}

/* NAME, or {NAME KIND}. */
static int add_metrics(th_study *s, Tcl_Obj *word, th_error *err)
{
    Tcl_Obj **all, **parts;
    Tcl_Size n, n_parts;
    if (list_of("-metrics", word, &all, &n, err) != 0)
        return -1;
    for (Tcl_Size i = 0; i < n; i++) {
        if (list_of("-metrics", all[i], &parts, &n_parts, err) != 0)
            return -1;
        if (n_parts < 1 || n_parts > 2)
            return th_error_set(err, "STUDY-0056",
                                "-metrics \"%.80s\": must be NAME or {NAME KIND}",
                                Tcl_GetString(all[i]));
        if (th_study_metric_add(s, Tcl_GetString(parts[0]),
                                n_parts == 2 ? Tcl_GetString(parts[1]) : NULL, err) != 0)
            return -1;
    }
    return 0;
}

/* A parameter must not take the place of something that Tcl keeps in a variable. */
static int check_variables(const th_study *s, th_error *err)
{
    Tcl_Interp *interp = th_point_interp(false, err);
    int failed = interp ? 0 : -1;
    for (int i = 0; i < s->n_parameters && !failed; i++) {
        Tcl_Obj *question = Tcl_ObjPrintf("info exists ::%s", s->parameters[i].name);
        int exists = 0;
        Tcl_IncrRefCount(question);
        if (Tcl_EvalObjEx(interp, question, TCL_EVAL_GLOBAL) != TCL_OK ||
            Tcl_GetBooleanFromObj(NULL, Tcl_GetObjResult(interp), &exists) != TCL_OK || exists)
            failed =
                th_error_set(err, "STUDY-0057",
                             "parameter \"%s\": is a variable of Tcl, and must have another name",
                             s->parameters[i].name);
        Tcl_DecrRefCount(question);
    }
    if (interp)
        Tcl_DeleteInterp(interp);
    return failed;
}

static int fill(th_study *s, const th_study_words *w, th_error *err)
{
    s->name = th_study_text(s, w->name);
    s->version = th_study_text(s, PACKAGE_VERSION);
    s->script = th_study_text(s, w->script);
    s->where = th_study_text(s, w->where ? w->where : "");
    s->seed = w->seed;
    if (!s->name || !s->version || !s->script || !s->where)
        return th_error_no_memory(err);
    if (w->name[0] == '\0')
        return th_error_set(err, "STUDY-0058", "the name of a study must not be empty");
    if (!Tcl_CommandComplete(w->script))
        return th_error_set(err, "STUDY-0059",
                            "-script: is not complete: a brace, bracket or quote is missing");
    if (add_parameters(s, w->parameters, err) != 0 || join_groups(s, w->zip, err) != 0 ||
        add_metrics(s, w->metrics, err) != 0 || th_study_check(s, err) != 0)
        return -1;
    return check_variables(s, err);
}

th_study *th_study_of_words(const th_study_words *w, th_error *err)
{
    th_study *s = th_study_new();
    if (!s)
        th_error_no_memory(err);
    else if (fill(s, w, err) == 0)
        return s;
    th_study_free(s);
    return NULL;
}

/* ---- -where ---- */

Tcl_Interp *th_study_where_interp(Tcl_Interp *parent, th_error *err)
{
    Tcl_Interp *interp = th_interp_new_for_expressions(parent);
    if (!interp)
        th_error_no_memory(err); /* its name is free: an expression cannot get here again */
    return interp;
}

static int holds(Tcl_Interp *interp, Tcl_Obj *expression, const th_study *s, int64_t cell,
                 bool *answer, th_error *err)
{
    int truth = 0;
    for (int i = 0; i < s->n_parameters; i++)
        Tcl_SetVar2Ex(interp, s->parameters[i].name, NULL,
                      Tcl_NewStringObj(th_study_value(s, cell, i), -1), TCL_GLOBAL_ONLY);
    if (Tcl_ExprBooleanObj(interp, expression, &truth) != TCL_OK)
        return th_error_set(err, "STUDY-0060", "-where {%.200s}: %.300s", s->where,
                            Tcl_GetStringResult(interp));
    *answer = truth != 0;
    return 0;
}

int th_study_cells(th_session *s, const th_study *study, int64_t **cells, int64_t *n, th_error *err)
{
    enum { CELLS_BETWEEN = 1024 }; /* polls of Ctrl-C */
    int64_t n_cells = th_study_n_cells(study);
    bool has_where = study->where[0] != '\0', is_in = true;
    Tcl_Interp *interp = th_study_where_interp(th_tcl_of(s)->interp, err);
    Tcl_Obj *expression = Tcl_NewStringObj(study->where, -1);
    int failed = 0;
    if (!interp)
        return -1;
    Tcl_IncrRefCount(expression);
    *n = 0;
    *cells = th_alloc_array((size_t)n_cells, sizeof **cells);
    if (!*cells)
        failed = th_error_no_memory(err);
    for (int64_t c = 0; c < n_cells && !failed; c++) {
        if (has_where)
            failed = holds(interp, expression, study, c, &is_in, err);
        if (!failed && is_in)
            (*cells)[(*n)++] = c;
        if ((failed || c % CELLS_BETWEEN == 0) && th_session_is_interrupted(s))
            failed = th_error_interrupted(err, "no study was made");
    }
    if (!failed && *n == 0)
        failed =
            th_error_set(err, "STUDY-0062", "-where {%.200s}: holds for none of the %lld points",
                         study->where, (long long)n_cells);
    Tcl_DecrRefCount(expression);
    Tcl_DeleteInterp(interp);
    return failed;
}
