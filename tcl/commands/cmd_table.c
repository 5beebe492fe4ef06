/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_table.c - read_table, and the same for lib/. */
#include <config.h>
#include <string.h>
#include "tcl/command.h"
#include "tcl/core/table_read.h"
#include "tcl/core/lib_report.h"
#include "tcl/files.h"
#include "tcl/tcl_session.h"

enum { TABLE_FORMAT, TABLE_LINES };
enum { LARGEST = 1 << 30 };

static const char *format_name(int i)
{
    static const char *const names[] = {"csv", "json", "yaml", NULL};
    return names[i];
}

static const th_option table_options[] = {
    [TABLE_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT",
                      "csv, json or yaml; by default the extension says it: .json, .yaml or .yml, "
                      "otherwise csv.",
                      .choice = format_name},
    [TABLE_LINES] = {"-lines", TH_OPTION_FLAG, NULL,
                     "Of CSV: every row begins with the number of its line."},
    {.name = NULL},
};

static th_table_format format_of(const th_call *c)
{
    const char *dot = strrchr(th_call_word(c, 0), '.');
    bool is_json = dot && strcmp(dot, ".json") == 0;
    bool is_yaml = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    return (th_table_format)th_call_number(c, TABLE_FORMAT,
                                           is_json   ? TH_TABLE_JSON
                                           : is_yaml ? TH_TABLE_YAML
                                                     : TH_TABLE_CSV);
}

static int run_read_table(th_call *c)
{
    static const char *const nowhere[] = {NULL};
    static const th_file_kind kind = {"table", ".csv", nowhere};
    Tcl_Obj *path = th_file_find(c->session, &kind, c->words[0], &c->err);
    if (!path)
        return -1;
    Tcl_Obj *rows = th_table_read(Tcl_FSGetNativePath(path), format_of(c),
                                  th_call_has(c, TABLE_LINES), LARGEST, NULL, &c->err);
    Tcl_DecrRefCount(path);
    if (rows)
        Tcl_SetObjResult(c->interp, rows);
    return rows ? 0 : -1;
}

/* table PATH BYTES FORMAT: a file as th_table_read tells it, and what it says about it before. */
static int run_table(th_call *c)
{
    Tcl_WideInt most;
    Tcl_Obj *about = NULL;
    int format = 0;
    while (format_name(format) && strcmp(format_name(format), th_call_word(c, 2)) != 0)
        format++;
    if (!format_name(format) || Tcl_GetWideIntFromObj(NULL, c->words[1], &most) != TCL_OK)
        return th_lib_fault(c, "table");
    Tcl_Obj *made = th_table_read(th_call_word(c, 0), (th_table_format)format, true, (size_t)most,
                                  &about, &c->err);
    if (made)
        Tcl_SetObjResult(c->interp, Tcl_NewListObj(2, (Tcl_Obj *[]){about, made}));
    return made ? 0 : -1;
}

const th_command th_core_table_commands[] = {{.name = "table",
                                              .words = "PATH BYTES FORMAT",
                                              .min_words = 3,
                                              .max_words = 3,
                                              .run = run_table},
                                             {.name = NULL}};

const th_command th_table_commands[] = {
    {"read_table", "build", "FILE", 1, 1, table_options,
     "read a table: CSV, JSON or YAML as Tcl lists and dicts",
     "Returns of CSV a list of rows, each a list of fields: blank lines are left out, and so are "
     "blanks and quotes around fields. Of JSON and YAML objects are dicts, arrays are lists, true, "
     "false and null are 1, 0 and an empty text. A procedure makes of it what create_workload, "
     "create_system and others take.",
     .run = run_read_table},
    {.name = NULL}};
