/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_saved.c - core commands about saved runs, which are numbers of saved_runs (query). */
#include <config.h>
#include "base/alloc.h"
#include "session/model_error.h"
#include "session/property_event_list.h"
#include "session/saved_run.h"
#include "tcl/core/lib_report.h"

/* saved_ids NAMES: their numbers. */
static int run_saved_ids(th_call *c)
{
    Tcl_Obj *ids = Tcl_NewListObj(0, NULL);
    int failed = th_call_find_runs(c, 0);
    const th_runs runs = c->word[0].runs;
    for (int i = 0; !failed && i < runs.n; i++)
        th_lib_append(ids, Tcl_NewIntObj(th_saved_run_number(c->session, runs.all[i])));
    Tcl_SetObjResult(c->interp, ids);
    return failed;
}

/* The run of a number. NULL with c->err. */
static const th_saved_run *run_of(th_call *c, Tcl_Obj *number)
{
    int i;
    if (Tcl_GetIntFromObj(NULL, number, &i) == TCL_OK && i >= 0 && (size_t)i < c->session->saved.n)
        return c->session->saved.all[i];
    th_lib_fault(c, "a saved run");
    return NULL;
}

/* model_errors IDS: {TEXT PERCENT}, of the models of all; 0: none is known. */
static int run_model_errors(th_call *c)
{
    Tcl_Obj **id;
    th_models models = {0, 0};
    th_strbuf text = TH_STRBUF_INIT;
    int n = th_lib_elements(c->words[0], -1, &id);
    for (int i = 0; i < n; i++) {
        const th_saved_run *run = run_of(c, id[i]);
        if (!run)
            return -1;
        models = th_models_union(models, run->models);
    }
    th_models_describe(models, &text);
    Tcl_SetObjResult(
        c->interp, TH_LIB_LIST(th_lib_text(text.text), Tcl_NewDoubleObj(th_models_error(models))));
    int failed = text.failed ? th_error_no_memory(&c->err) : 0;
    th_strbuf_clear(&text);
    return failed;
}

/* saved_changes ID WIDTH: its property events in a line. */
static int run_saved_changes(th_call *c)
{
    int width;
    th_strbuf line = TH_STRBUF_INIT;
    const th_saved_run *run = run_of(c, c->words[0]);
    if (!run || Tcl_GetIntFromObj(NULL, c->words[1], &width) != TCL_OK)
        return run ? th_lib_fault(c, "saved_changes") : -1;
    th_property_event_list_add_line(run->events, width, &line);
    th_call_return_text(c, line.text ? line.text : "");
    int failed = line.failed ? th_error_no_memory(&c->err) : 0;
    th_strbuf_clear(&line);
    return failed;
}

const th_command th_core_saved_commands[] = {
    TH_CORE_ROW_OF_RUN("saved_ids", "NAMES", 1, run_saved_ids),
    TH_CORE_ROW_OF_RUN("model_errors", "IDS", 1, run_model_errors),
    TH_CORE_ROW_OF_RUN("saved_changes", "ID WIDTH", 2, run_saved_changes),
    {.name = NULL},
};
