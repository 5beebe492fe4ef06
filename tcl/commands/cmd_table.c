/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_table.c - read_table, and the same for lib/. */
#include <config.h>
#include <string.h>
#include "base/files/text_file.h"
#include "tcl/command.h"
#include "tcl/core/table_read.h"
#include "tcl/core/lib_report.h"
#include "tcl/files.h"
#include "tcl/tcl_session.h"

enum { TABLE_FORMAT, TABLE_LINES };
enum { LARGEST = 1 << 30 };

static const char *const format_names[] = {"csv", "json", "yaml", NULL};

static const th_option table_options[] = {
    [TABLE_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT",
                      "csv, json or yaml; by default the extension says it: .json, .yaml or .yml, "
                      "otherwise csv.",
                      .names = format_names},
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
    const th_table_format format = format_of(c);
    const bool has_lines = format == TH_TABLE_CSV && th_call_has(c, TABLE_LINES);
    Tcl_Obj *rows =
        th_table_read(Tcl_FSGetNativePath(path), format, has_lines, LARGEST, NULL, &c->err);
    Tcl_DecrRefCount(path);
    if (rows)
        Tcl_SetObjResult(c->interp, rows);
    return rows ? 0 : -1;
}

/* The path of the first word, and the number of bytes that the file may have. NULL: no number. */
static const char *path_of(const th_call *c, size_t *most)
{
    Tcl_WideInt n;
    const char *path = Tcl_FSGetNativePath(c->words[0]);
    if (Tcl_GetWideIntFromObj(NULL, c->words[1], &n) != TCL_OK)
        return NULL;
    *most = (size_t)n;
    return path ? path : th_call_word(c, 0);
}

/* table PATH BYTES FORMAT: a file as th_table_read tells it, and what it says about it before. */
static int run_table(th_call *c)
{
    size_t most;
    Tcl_Obj *about = NULL;
    int format = 0;
    const char *path = path_of(c, &most);
    while (format_names[format] && strcmp(format_names[format], th_call_word(c, 2)) != 0)
        format++;
    if (!format_names[format] || !path)
        return th_lib_fault(c, "table");
    Tcl_Obj *made = th_table_read(th_call_word(c, 0), (th_table_format)format, true, (size_t)most,
                                  &about, &c->err);
    if (made)
        Tcl_SetObjResult(c->interp, Tcl_NewListObj(2, (Tcl_Obj *[]){about, made}));
    return made ? 0 : -1;
}

/* columns PATH TEXT NAMES N: {LINE FIELD ...} of each row of a file's text, of the columns with
 * these names, of which the first N must be there; and notes of what was left out. */
static int run_columns(th_call *c)
{
    enum { COLUMNS_MAX = 100 };
    int n_required, n;
    Tcl_Obj **name;
    if ((n = th_lib_elements(c->words[2], -1, &name)) < 0 || n > COLUMNS_MAX ||
        Tcl_GetIntFromObj(NULL, c->words[3], &n_required) != TCL_OK)
        return th_lib_fault(c, "columns");
    const char *names[COLUMNS_MAX + 1];
    for (int i = 0; i < n; i++)
        names[i] = Tcl_GetString(name[i]);
    names[n] = NULL;
    th_strbuf text = TH_STRBUF_INIT, notes = TH_STRBUF_INIT;
    th_strbuf_add(&text, th_call_word(c, 1));
    Tcl_Obj *rows = text.failed ? NULL
                                : th_table_columns(th_call_word(c, 0), text.text, names, n_required,
                                                   &notes, &c->err);
    if (text.failed)
        th_error_no_memory(&c->err);
    if (rows)
        Tcl_SetObjResult(c->interp, TH_LIB_LIST(rows, Tcl_NewStringObj(notes.text, -1)));
    th_strbuf_clear(&text);
    th_strbuf_clear(&notes);
    return rows ? 0 : -1;
}

/* text PATH BYTES */
static int run_text(th_call *c)
{
    size_t most;
    th_strbuf text = TH_STRBUF_INIT;
    const char *path = path_of(c, &most);
    int failed = path ? th_text_file_read(path, most, &text, &c->err) : th_lib_fault(c, "text");
    if (!failed)
        th_call_return_text(c, text.text);
    th_strbuf_clear(&text);
    return failed;
}

const th_command th_core_table_commands[] = {
    TH_CORE_ROW("table", "PATH BYTES FORMAT", 3, 3, run_table),
    TH_CORE_ROW("columns", "PATH TEXT NAMES N", 4, 4, run_columns),
    TH_CORE_ROW("text", "PATH BYTES", 2, 2, run_text),
    {.name = NULL}};

const th_command th_table_commands[] = {
    {"read_table", "build", "FILE", 1, 1, table_options,
     "read a CSV, JSON or YAML file into Tcl lists and dicts",
     "A CSV file becomes a list of rows, each a list of fields, without blank lines, and without "
     "blanks and quotes around fields. In JSON and YAML, objects become dicts and arrays lists; "
     "true, false and null become 1, 0 and an empty text. A procedure of yours can turn the result "
     "into what create_workload, create_system and others take.",
     .run = run_read_table},
    {.name = NULL}};
