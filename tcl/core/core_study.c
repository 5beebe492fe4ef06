/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_study.c - core commands of studies: their file (session/store.h), figures of runs as values
 * of it, seeds and digests, Pareto fronts.
 * A value is a text; in and out of the file a zero character stands for a text that there is not,
 * and nothing for a number that there is not. */
#include <config.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "base/files/open_file.h"
#include "base/interrupt.h"
#include "session/objects/figures.h"
#include "session/store.h"
#include "tcl/core/lib_report.h"
#include "tcl/safe_interp.h"
#include "tcl/tcl_session.h"

static const char absent[] = "\xC0\x80"; /* a zero, as Tcl writes it */

/* ---- the file ---- */

/* store_open PATH ?create?: until the command that lib/ answers has ended. */
static int store_open(th_call *c)
{
    const char *path = th_call_word(c, 0);
    bool creates = c->n_words > 1;
    th_store **t = &th_tcl_of(c->session)->store;
    th_store_close(*t);
    *t = NULL;
    if (creates && th_session_make_folder_of(c->session, path, &c->err) != 0)
        return -1;
    *t = th_store_open(path, creates, th_interrupt_is_pending, &c->err);
    return *t ? 0 : -1;
}

/* store_is_there PATH: is a file there that is not empty? */
static int store_is_there(th_call *c)
{
    return th_lib_give(c, Tcl_NewBooleanObj(th_store_is_there(th_call_word(c, 0))));
}

static int store_lock(th_call *c)
{
    th_store *t = th_tcl_of(c->session)->store;
    return t ? th_store_lock(t, &c->err) : th_lib_fault(c, "no file");
}

/* Numbers as numbers, so that SQL can compare them, where their text does not change by it. */
static th_cell cell_of_word(const char *word)
{
    char again[64], *end;
    long long whole = strtoll(word, &end, 10);
    snprintf(again, sizeof again, "%lld", whole);
    if (strcmp(again, word) == 0)
        return (th_cell){.type = TH_CELL_INTEGER, .whole = whole};
    double real = strtod(word, &end);
    snprintf(again, sizeof again, "%.15g", real);
    if (strcmp(again, word) == 0 && strchr(word, '.') && !strchr(word, 'e'))
        return (th_cell){.type = TH_CELL_REAL, .real = real};
    return (th_cell){.type = TH_CELL_TEXT, .text = word};
}

/* By its letter: i an integer, r a real number, t a text, w a word of a parameter. */
static th_cell cell_of(char letter, Tcl_Obj *value)
{
    const char *text = Tcl_GetString(value);
    Tcl_WideInt whole;
    th_cell cell = {.type = TH_CELL_NULL};
    if (letter == 'w')
        return cell_of_word(text);
    if (letter == 't' && strcmp(text, absent) != 0)
        cell = (th_cell){.type = TH_CELL_TEXT, .text = text};
    else if (letter == 'i' && Tcl_GetWideIntFromObj(NULL, value, &whole) == TCL_OK)
        cell = (th_cell){.type = TH_CELL_INTEGER, .whole = whole};
    else if (letter == 'r' && Tcl_GetDoubleFromObj(NULL, value, &cell.real) == TCL_OK)
        cell.type = TH_CELL_REAL;
    return cell;
}

/* The statement of the first word, with values by the letters of the second, those of each row. */
static int run_with(th_call *c, int n_rows, Tcl_Obj *const *rows, th_store_row *row, void *state)
{
    const char *letters = th_call_word(c, 1);
    th_store *t = th_tcl_of(c->session)->store;
    size_t n = strlen(letters);
    th_cell *cells = th_alloc_array(n * (size_t)n_rows + 1, sizeof *cells);
    int failed = !t || n > TH_STORE_COLUMNS_MAX ? th_lib_fault(c, "no file, or too many letters")
                 : !cells                       ? th_error_no_memory(&c->err)
                                                : 0;
    for (int k = 0; k < n_rows && !failed; k++) {
        Tcl_Obj **value;
        failed = th_lib_elements(rows[k], (int)n, &value) < 0 ? th_lib_fault(c, "values") : 0;
        for (size_t i = 0; i < n && !failed; i++)
            cells[(size_t)k * n + i] = cell_of(letters[i], value[i]);
    }
    const th_store_values values = {cells, n, (size_t)n_rows};
    if (!failed)
        failed = th_store_run(t, th_call_word(c, 0), &values, row, state, &c->err);
    th_free(cells);
    return failed;
}

/* store_run SQL LETTERS ROWS: the statement with the values of each row. */
static int store_run(th_call *c)
{
    Tcl_Obj **row;
    int n = th_lib_elements(c->words[2], -1, &row);
    return n < 0 ? th_lib_fault(c, "rows") : run_with(c, n, row, NULL, NULL);
}

typedef struct {
    const char *letters;
    Tcl_Obj *rows;
} reading;

/* NULL: it is not of the type of the letter; large ones may be absent. */
static Tcl_Obj *value_of(const th_cell *cell, char letter)
{
    if (cell->type == TH_CELL_NULL && strchr("IRT", letter))
        return th_lib_text(letter == 'T' ? absent : "");
    if (cell->type == TH_CELL_INTEGER && strchr("iI", letter))
        return Tcl_NewWideIntObj(cell->whole);
    if (cell->type == TH_CELL_REAL && strchr("rR", letter))
        return Tcl_NewDoubleObj(cell->real);
    if (cell->type == TH_CELL_TEXT && strchr("tT", letter))
        return th_lib_text(cell->text);
    return NULL;
}

/* A row that holds something else than the letters say is its first value alone. */
static int take_row(void *state, const th_cell *cells, int n)
{
    reading *r = state;
    Tcl_Obj *row = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < n && r->letters[i] != '\0'; i++) {
        Tcl_Obj *value = value_of(&cells[i], r->letters[i]);
        if (!value) {
            Tcl_DecrRefCount(row);
            row = Tcl_NewListObj(0, NULL);
            th_lib_append(row, Tcl_NewWideIntObj(cells[0].whole));
            break;
        }
        th_lib_append(row, value);
    }
    th_lib_append(r->rows, row);
    return 0;
}

/* store_rows SQL LETTERS VALUES TYPES: the rows of a result, by the letters of their columns. */
static int store_rows(th_call *c)
{
    reading r = {th_call_word(c, 3), Tcl_NewListObj(0, NULL)};
    if (run_with(c, 1, &c->words[2], take_row, &r) != 0) {
        Tcl_DecrRefCount(r.rows);
        return -1;
    }
    return th_lib_give(c, r.rows);
}

/* path TEXT: the absolute path for the C library. One that will be refused stays as it is: no
 * message tells where links lead. */
static int run_path(th_call *c)
{
    bool is_granted = th_file_may(th_call_word(c, 0), false);
    Tcl_Obj *path = is_granted ? Tcl_FSGetNormalizedPath(c->interp, c->words[0]) : c->words[0];
    if (!path)
        return th_error_set(&c->err, "STUDY-0080", "-file \"%.200s\": is no path",
                            th_call_word(c, 0));
    return th_lib_give(c, path);
}

/* ---- digests ---- */

/* hash ITEMS: of w NUMBER and t TEXT, one after the other, as 16 digits. */
static int run_hash(th_call *c)
{
    Tcl_Obj **word;
    char text[20];
    uint64_t h = 0;
    int n = th_lib_elements(c->words[0], -1, &word);
    for (int i = 0; i + 1 < n; i += 2) {
        Tcl_WideInt number;
        if (Tcl_GetString(word[i])[0] == 't')
            h = th_hash_text(Tcl_GetString(word[i + 1]), h);
        else if (Tcl_GetWideIntFromObj(NULL, word[i + 1], &number) == TCL_OK)
            h = th_hash_word(h, (uint64_t)number);
        else
            return th_lib_fault(c, "hash");
    }
    snprintf(text, sizeof text, "%016" PRIx64, h);
    th_call_return_text(c, text);
    return n < 0 ? th_lib_fault(c, "hash") : 0;
}

/* ---- figures ---- */

/* As the file has it, and CSV and JSON: shares are percent; what there is not is absent. */
static Tcl_Obj *figure(const th_quantity *q)
{
    bool is_percent = q->kind == TH_KIND_SHARE || q->kind == TH_KIND_CHANGE;
    if (q->is_absent || (th_kind_is_real(q->kind) && isnan(q->real)))
        return th_lib_text(q->kind == TH_KIND_TEXT ? absent : "");
    return is_percent ? Tcl_NewDoubleObj(q->real * 100) : th_lib_value(q);
}

/* study_figure KIND TEXT: what a user wrote of that kind, "1.5us". */
static int run_figure(th_call *c)
{
    th_quantity q;
    int kind = th_lib_kind(c->words[0]);
    if (kind < 0)
        return th_lib_fault(c, "figure");
    if (th_quantity_parse((th_kind)kind, th_call_word(c, 1), &q, &c->err) != 0)
        return -1;
    return th_lib_give(c, figure(&q));
}

/* suffix KIND NAME: "_ps". */
static int run_suffix(th_call *c)
{
    int kind = th_lib_kind(c->words[0]);
    if (kind < 0)
        return th_lib_fault(c, "suffix");
    th_call_return_text(c, th_kind_suffix((th_kind)kind, th_call_word(c, 1)));
    return 0;
}

/* run_figures: NAME VALUE ..., of the finished run. */
static int run_run_figures(th_call *c)
{
    th_session *s = c->session;
    th_quantity cells[TH_FIGURES_MAX];
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (!th_machine_is_done(s->simulation->machine))
        return th_error_set(&c->err, "STUDY-0043", "the run is not done: run first");
    th_figures_of_run.row(s, 0, cells);
    if (s->text.scratch.failed) {
        th_strbuf_clear(&s->text.scratch);
        return th_error_no_memory(&c->err);
    }
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    for (int a = 0; th_run_attributes[a].name; a++) {
        th_lib_append(list, th_lib_text(th_run_attributes[a].name));
        th_lib_append(list, figure(&cells[a]));
    }
    return th_lib_give(c, list);
}

/* where_interp: the command of a safe interpreter for expressions, a child of this one, so that
 * cancelling it ends an expression. It is gone when the command that lib/ answers has ended. */
static int run_where_interp(th_call *c)
{
    if (!th_interp_new_for_expressions(c->interp))
        return th_error_no_memory(&c->err);
    th_call_return_text(c, TH_WHERE_INTERP);
    return 0;
}

const th_command th_core_study_commands[] = {
    TH_CORE_ROW("store_open", "PATH ?create?", 1, 2, store_open),
    TH_CORE_ROW("store_is_there", "PATH", 1, 1, store_is_there),
    TH_CORE_ROW("store_lock", "", 0, 0, store_lock),
    TH_CORE_ROW("store_run", "SQL LETTERS ROWS", 3, 3, store_run),
    TH_CORE_ROW("store_rows", "SQL LETTERS VALUES TYPES", 4, 4, store_rows),
    TH_CORE_ROW("path", "TEXT", 1, 1, run_path),
    TH_CORE_ROW("hash", "ITEMS", 1, 1, run_hash),
    TH_CORE_ROW("study_figure", "KIND TEXT", 2, 2, run_figure),
    TH_CORE_ROW("suffix", "KIND NAME", 2, 2, run_suffix),
    TH_CORE_ROW("run_figures", "", 0, 0, run_run_figures),
    TH_CORE_ROW("where_interp", "", 0, 0, run_where_interp),
    {.name = NULL},
};
