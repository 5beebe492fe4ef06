/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help.c - the command table as help on the terminal. help_markdown.c makes pages of it, help_man.c
 * a manual page; examples are in examples.c. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"

enum { WIDTH = 80, INDENT = 4 };

/* ---- laying out words ---- */

/* Text wrapped into lines of at most WIDTH columns. */
typedef struct th_flow {
    th_strbuf *out;
    int indent;    /* indent of the lines after the first */
    int column;    /* column of the text */
    bool has_word; /* in this line */
} th_flow;

static void add_word(th_flow *f, const char *word, int length)
{
    if (f->has_word && f->column + 1 + length > WIDTH) {
        th_strbuf_printf(f->out, "\n%*s", f->indent, "");
        f->column = f->indent;
    } else if (f->has_word) {
        th_strbuf_add(f->out, " ");
        f->column++;
    }
    th_strbuf_add_bytes(f->out, word, (size_t)length);
    f->column += length;
    f->has_word = true;
}

/* Wraps the text at indent; the first line is already there. */
static void add_wrapped(th_strbuf *out, const char *text, int indent)
{
    th_flow f = {.out = out, .indent = indent, .column = indent};
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (length > 0)
            add_word(&f, text, length);
        text += length;
        text += strspn(text, " ");
    }
    th_strbuf_add(out, "\n");
}

/* ---- one command ---- */

void th_help_option_form(const th_option *o, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
}

/* The last words of a report. */
static const char *const redirections[] = {"?> FILE?", "?>> FILE?", NULL};

void th_help_synopsis(const th_command *row, th_strbuf *out)
{
    th_strbuf_add(out, row->name);
    if (row->words[0] != '\0')
        th_strbuf_printf(out, " %s", row->words);
    for (const th_option *o = row->options; o && o->name; o++) {
        char form[120];
        th_help_option_form(o, form, sizeof form);
        th_strbuf_printf(out, o->required ? " %s" : " ?%s?", form);
    }
    if (row->is_report)
        for (const char *const *form = redirections; *form; form++)
            th_strbuf_printf(out, " %s", *form);
}

void th_help_synopsis_lines(const th_command *row, th_strbuf *out)
{
    th_flow f = {.out = out, .indent = 2 * INDENT, .column = INDENT};
    th_strbuf_printf(out, "%*s", INDENT, "");
    add_word(&f, row->name, (int)strlen(row->name));
    if (row->words[0] != '\0')
        add_word(&f, row->words, (int)strlen(row->words));
    for (const th_option *o = row->options; o && o->name; o++) {
        char bare[120], form[124];
        th_help_option_form(o, bare, sizeof bare);
        snprintf(form, sizeof form, o->required ? "%s" : "?%s?", bare);
        add_word(&f, form, (int)strlen(form));
    }
    if (row->is_report)
        for (const char *const *form = redirections; *form; form++)
            add_word(&f, *form, (int)strlen(*form));
    th_strbuf_add(out, "\n");
}

/* "must be one of" for the help of an option with choices. */
void th_help_choices(th_strbuf *out, const th_option *o)
{
    if (o->kind != TH_OPTION_CHOICE)
        return;
    th_strbuf_add(out, " One of");
    const char *name;
    for (int i = 0; (name = th_option_choice(o, i)); i++)
        th_strbuf_printf(out, "%s %s", i > 0 ? "," : "", name);
    th_strbuf_add(out, ".");
}

const th_option th_options_of_reports[] = {TABLE_OPTIONS, {.name = NULL}};

bool th_help_is_of_reports(const th_option *o)
{
    for (const th_option *r = th_options_of_reports; r->name; r++)
        if (strcmp(r->name, o->name) == 0 && strcmp(r->help, o->help) == 0)
            return true;
    return false;
}

/* In a line, without those that are explained here. */
static void name_options_of_reports(th_strbuf *out, const th_option *options)
{
    th_flow f = {.out = out, .indent = INDENT, .column = INDENT};
    th_strbuf_printf(out, "%*s", INDENT, "");
    for (const th_option *o = options; o->name; o++)
        if (th_help_is_of_reports(o))
            add_word(&f, o->name, (int)strlen(o->name));
    add_word(&f, "(\"help -all\")", (int)strlen("(\"help -all\")"));
    th_strbuf_add(out, "\n");
}

/* of_reports: those that all reports have are explained, too. */
static void add_options(th_strbuf *out, const th_option *options, bool of_reports)
{
    int width = 0;
    char form[120];
    bool has_others = false;
    for (const th_option *o = options; o->name; o++) {
        if (!of_reports && th_help_is_of_reports(o)) {
            has_others = true;
            continue;
        }
        th_help_option_form(o, form, sizeof form);
        width = (int)strlen(form) > width ? (int)strlen(form) : width;
    }
    for (const th_option *o = options; o->name; o++) {
        if (!of_reports && th_help_is_of_reports(o))
            continue;
        th_strbuf text = TH_STRBUF_INIT;
        th_help_option_form(o, form, sizeof form);
        th_strbuf_add(&text, o->help);
        th_help_choices(&text, o);
        th_strbuf_printf(out, "%*s%-*s", INDENT, "", width + 2, form);
        out->failed |= text.failed;
        add_wrapped(out, text.failed ? "" : text.text, INDENT + width + 2);
        th_strbuf_clear(&text);
    }
    if (has_others)
        name_options_of_reports(out, options);
}

/* Tables, columns and meanings, three by three, that lib/ declares for a report. */
typedef struct declared_columns {
    Tcl_Obj *list, **x;
    Tcl_Size n;
} declared_columns;

static declared_columns find_declared(Tcl_Interp *interp, const char *report)
{
    declared_columns d = {.n = 0};
    Tcl_Obj *words[] = {Tcl_NewStringObj("::tharsis::lib::meanings", -1),
                        Tcl_NewStringObj(report, -1)};
    (void)th_eval_words(interp, 2, words);
    d.list = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(d.list);
    if (Tcl_ListObjGetElements(NULL, d.list, &d.n, &d.x) != TCL_OK || d.n % 3 != 0)
        d.n = 0;
    Tcl_ResetResult(interp);
    return d;
}

static bool is_declared(const declared_columns *d, const th_legend *l)
{
    for (Tcl_Size i = 0; i < d->n; i += 3)
        if (strcmp(Tcl_GetString(d->x[i + 1]), l->column) == 0 &&
            (!l->table || strcmp(Tcl_GetString(d->x[i]), l->table) == 0))
            return true;
    return false;
}

/* Those that are attributes of objects, then those that have legends alone. */
void th_help_each_column(Tcl_Interp *interp, const th_command *row, th_strbuf *out,
                         void (*begin)(th_strbuf *out, const char *table),
                         void (*add)(th_strbuf *out, const th_legend *l))
{
    const char *report;
    for (int i = 0; (report = th_legend_report(row->name, i)); i++) {
        declared_columns d = find_declared(interp, report);
        const char *table = "";
        for (Tcl_Size k = 0; k < d.n; k += 3) {
            const char *of = Tcl_GetString(d.x[k]), *column = Tcl_GetString(d.x[k + 1]);
            const char *meaning = th_legend_meaning(report, of, column);
            if (strcmp(of, table) != 0)
                begin(out, of);
            table = of;
            add(out, &(th_legend){.column = column,
                                  .meaning = meaning ? meaning : Tcl_GetString(d.x[k + 2])});
        }
        for (const th_legend *l = th_legends; l->column; l++) {
            if (strcmp(l->report, report) != 0 || is_declared(&d, l))
                continue;
            if (l->table != table)
                begin(out, l->table ? l->table : report);
            table = l->table;
            add(out, l);
        }
        Tcl_DecrRefCount(d.list);
    }
}

static void begin_columns(th_strbuf *out, const char *table)
{
    th_strbuf_printf(out, "\nColumns of %s:\n", table);
}

static void add_column(th_strbuf *out, const th_legend *l)
{
    enum { WIDTH_OF_NAMES = 20 };
    th_strbuf_printf(out, "%*s%-*s  ", INDENT, "", WIDTH_OF_NAMES, l->column);
    add_wrapped(out, l->meaning, INDENT + WIDTH_OF_NAMES + 2);
}

static void add_indented(th_strbuf *out, const char *lines)
{
    while (*lines != '\0') {
        int length = (int)strcspn(lines, "\n");
        th_strbuf_printf(out, "%*s%.*s\n", INDENT, "", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

void th_help_command(Tcl_Interp *interp, const th_command *row, th_strbuf *out)
{
    th_strbuf_printf(out, "%s - %s\n\n", row->name, row->summary);
    th_help_synopsis_lines(row, out);
    if (row->options) {
        th_strbuf_add(out, "\n");
        add_options(out, row->options, false);
    }
    if (row->help) {
        th_strbuf_add(out, "\n");
        add_wrapped(out, row->help, 0);
    }
    th_help_each_column(interp, row, out, begin_columns, add_column);
    const char *example = th_example_of(row->name);
    if (example) {
        th_strbuf_add(out, "\nExample:\n");
        add_indented(out, example);
    }
}

/* ---- all commands ---- */

/* Has a row that comes earlier in the table the same group? */
static bool is_known_group(const th_command *row)
{
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *earlier = th_command_families[f]; earlier->name; earlier++) {
            if (earlier == row)
                return false;
            if (strcmp(earlier->group, row->group) == 0)
                return true;
        }
    return false;
}

static void each_of_group(th_strbuf *out, const char *group,
                          void (*add)(th_strbuf *out, const th_command *row))
{
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            if (strcmp(row->group, group) == 0)
                add(out, row);
}

void th_help_each_group(th_strbuf *out, void (*begin)(th_strbuf *out, const char *group),
                        void (*add)(th_strbuf *out, const th_command *row))
{
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            if (!is_known_group(row)) {
                begin(out, row->group);
                each_of_group(out, row->group, add);
            }
}

void th_help_line(th_strbuf *out, const th_command *row)
{
    if (row->alias_of)
        th_strbuf_printf(out, "    %-20s short for %s\n", row->name, row->alias_of);
    else
        th_strbuf_printf(out, "    %-20s %s\n", row->name, row->summary);
}

static void begin_group(th_strbuf *out, const char *group)
{
    th_strbuf_printf(out, "%s%s\n", out->length > 0 ? "\n" : "", group);
}

void th_help_first(th_strbuf *out)
{
    static const char *const first[] = {
        "read_system",   "create_system", "read_workload",      "map_workload",
        "run",           "step",          "add_breakpoint",     "report_summary",
        "report_layers", "report_links",  "report_utilization", "report_critical_path",
        "report_advice", "query",         "get_property",       "write_plot",
        "write_report",  "save_run",      "report_compare",     "create_study",
    };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        th_help_line(out, th_command_find(first[i]));
    th_strbuf_add(out, "\n\"help -all\" lists all commands, \"help WORD\" finds some;\n"
                       "\"help COMMAND\" or \"COMMAND -help\" tells more.\n");
}

void th_help_all(th_strbuf *out)
{
    th_help_each_group(out, begin_group, th_help_line);
    th_strbuf_add(out, "\nOptions of reports:\n");
    add_options(out, th_options_of_reports, true);
    th_strbuf_add(
        out, "\n\"help COMMAND\" or \"COMMAND -help\" tells more, \"help WORD\" finds commands.\n");
}
