/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_query.c - query: SQL over the figures of the session (session/query/query.h), as a report or
 * as a Tcl list. */
#include <config.h>
#include "session/query/query.h"
#include "tcl/command.h"
#include "tcl/core/lib_report.h"

enum { QUERY_AS = RECORD_N_OPTIONS, QUERY_TABLES };
enum { AS_LIST, AS_DICT };

static const th_option query_options[] = {
    RECORD_OPTIONS,
    [QUERY_AS] = {"-as", TH_OPTION_CHOICE, "KIND",
                  "Returns the rows, each a list of its values or a dict by the names of the "
                  "columns, and prints nothing; NULL is the empty string.",
                  .names = TH_NAMES("list", "dict")},
    [QUERY_TABLES] = {"-tables", TH_OPTION_FLAG, NULL,
                      "The tables and their columns, with units and meanings; of one table, if it "
                      "is named in the place of SQL."},
    {.name = NULL},
};

/* A value of a variable of the caller: "$layer" or ":layer" in the statement. */
static int parameter_of(void *state, const char *name, th_quantity *out, th_error *err)
{
    th_call *c = state;
    Tcl_WideInt whole;
    double real;
    Tcl_Obj *value =
        name[0] == '$' || name[0] == ':' ? Tcl_GetVar2Ex(c->interp, name + 1, NULL, 0) : NULL;
    if (!value)
        return th_error_set(err, "TCL-2181",
                            "parameter \"%.100s\": must be a variable that has a value", name);
    if (Tcl_GetWideIntFromObj(NULL, value, &whole) == TCL_OK)
        *out = th_count(whole);
    else if (Tcl_GetDoubleFromObj(NULL, value, &real) == TCL_OK)
        *out = th_number(real);
    else
        *out = th_text(Tcl_GetString(value));
    return 0;
}

/* ---- the command ---- */

static int run_query(th_call *c)
{
    bool lists = th_call_has(c, QUERY_TABLES);
    const char *word = c->n_words > 0 ? th_call_word(c, 0) : NULL;
    if (!lists && !word)
        return th_error_set(&c->err, "TCL-2183", "SQL: is missing: a SELECT, or -tables");
    if (th_call_has(c, QUERY_AS) && (lists || c->redirect || th_call_has(c, REPORT_FORMAT)))
        return th_error_set(&c->err, "TCL-2182",
                            "-as: returns values: without -tables, -format and > FILE");
    th_report *r = th_report_new("query", lists ? "Tables" : "Query");
    if (!r)
        return th_error_no_memory(&c->err);
    int failed = lists ? th_query_list_tables(r, word, &c->err)
                       : th_query_run(c->session, word, parameter_of, c, r, &c->err);
    if (!failed && !th_call_has(c, QUERY_AS))
        return th_report_finish(c, r, 0, NULL);
    if (!failed)
        Tcl_SetObjResult(c->interp, th_lib_rows(r->first, c->option[QUERY_AS].number == AS_DICT));
    th_report_free(r);
    return failed;
}

const th_command th_query_commands[] = {
    {"query", "report", "?SQL?", 0, 1, query_options, "query all figures of the session by SQL",
     "The classes of figures are tables of SQLite: accels, links, nodes, layers, tasks, messages, "
     "dependencies, sets, stages, ranks, jobs, search, and run, which has one row. A row has a "
     "number, id, and the numbers of the rows that it belongs to (layer_id, accel_id); the other "
     "columns are the attributes of get_property, with its values: times are whole picoseconds, "
     "and what is not known is NULL. While a run is stopped, a query reads the values of that "
     "time. $NAME and :NAME in the statement are variables. A query is one SELECT, and only "
     "reads.",
     .run = run_query, .is_report = true},
    {.name = NULL},
};

/* rows SQL: for lib/, the rows of a query. */
static int run_rows(th_call *c)
{
    th_report *r = th_report_new("rows", "Rows");
    if (!r)
        return th_error_no_memory(&c->err);
    int failed = th_query_run(c->session, th_call_word(c, 0), parameter_of, c, r, &c->err);
    if (!failed)
        Tcl_SetObjResult(c->interp, th_lib_rows(r->first, false));
    th_report_free(r);
    return failed;
}

const th_command th_core_query_commands[] = {
    {.name = "rows", .words = "SQL", .min_words = 1, .max_words = 1, .run = run_rows},
    {.name = NULL},
};
