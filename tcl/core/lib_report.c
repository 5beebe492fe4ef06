/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib_report.c - see lib_report.h. */
#include <config.h>
#include "tcl/core/lib_report.h"
#include <string.h>
#include "session/query/query.h"
#include "tcl/tcl_session.h"

/* ---- lists and dicts ---- */

/* NULL: it is no dict, or has no such key. */
static Tcl_Obj *get(Tcl_Obj *dict, const char *key)
{
    Tcl_Obj *value = NULL, *name = th_lib_text(key);
    if (Tcl_DictObjGet(NULL, dict, name, &value) != TCL_OK)
        value = NULL;
    Tcl_DecrRefCount(name);
    return value;
}

int th_lib_elements(Tcl_Obj *list, int n, Tcl_Obj ***out)
{
    Tcl_Size all = 0;
    if (!list || Tcl_ListObjGetElements(NULL, list, &all, out) != TCL_OK || (n >= 0 && all != n))
        return -1;
    return (int)all;
}

int th_lib_give(th_call *c, Tcl_Obj *result)
{
    Tcl_SetObjResult(c->interp, result);
    return 0;
}

void th_lib_append(Tcl_Obj *list, Tcl_Obj *element)
{
    Tcl_ListObjAppendElement(NULL, list, element);
}

Tcl_Obj *th_lib_text(const char *text)
{
    return Tcl_NewStringObj(text ? text : "", -1);
}

int th_lib_doubles(Tcl_Obj *list, int n, double *out)
{
    Tcl_Obj **number;
    Tcl_IncrRefCount(list);
    int failed = th_lib_elements(list, n, &number) < 0;
    for (int i = 0; !failed && i < n; i++)
        failed = Tcl_GetDoubleFromObj(NULL, number[i], &out[i]) != TCL_OK;
    Tcl_DecrRefCount(list);
    return failed ? -1 : 0;
}

Tcl_Obj *th_lib_list(const double *numbers, int64_t n)
{
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    for (int64_t i = 0; i < n; i++)
        th_lib_append(list, Tcl_NewDoubleObj(numbers[i]));
    return list;
}

Tcl_Obj *th_lib_number_if(bool is_there, int64_t n)
{
    return is_there ? Tcl_NewWideIntObj(n) : Tcl_NewObj();
}

static bool is_set(Tcl_Obj *dict, const char *key)
{
    int is_true = 0;
    Tcl_Obj *value = get(dict, key);
    return value && Tcl_GetBooleanFromObj(NULL, value, &is_true) == TCL_OK && is_true;
}

/* ---- values ---- */

int th_lib_kind(Tcl_Obj *name)
{
    int i = 0;
    while (i < TH_N_KINDS && strcmp(th_kind_name((th_kind)i), Tcl_GetString(name)) != 0)
        i++;
    return i < TH_N_KINDS ? i : -1;
}

int th_lib_quantity(th_kind kind, Tcl_Obj *value, th_quantity *out)
{
    Tcl_WideInt whole;
    *out = th_absent(kind);
    if (kind == TH_KIND_TEXT) {
        *out = th_text(Tcl_GetString(value));
        out->is_absent = out->text[0] == '\0';
        return 0;
    }
    if (th_kind_is_real(kind)
            ? Tcl_GetDoubleFromObj(NULL, value, &out->real) == TCL_OK
            : Tcl_GetWideIntFromObj(NULL, value, &whole) == TCL_OK && (out->whole = whole, true)) {
        out->is_absent = false;
        return 0;
    }
    return Tcl_GetCharLength(value) == 0 ? 0 : -1;
}

Tcl_Obj *th_lib_value(const th_quantity *q)
{
    if (q->is_absent)
        return Tcl_NewObj();
    return q->kind == TH_KIND_TEXT    ? th_lib_text(q->text)
           : th_kind_is_real(q->kind) ? Tcl_NewDoubleObj(q->real)
                                      : Tcl_NewWideIntObj(q->whole);
}

/* ---- tables ---- */

Tcl_Obj *th_lib_rows(const th_table *t, bool is_dict)
{
    Tcl_Obj *rows = Tcl_NewListObj(0, NULL);
    for (size_t i = 0; i < t->n_rows; i++) {
        Tcl_Obj *row = Tcl_NewListObj(0, NULL);
        for (int k = 0; k < t->n_columns; k++) {
            if (is_dict) /* names are unique */
                th_lib_append(row, th_lib_text(t->columns[k].name));
            th_lib_append(row, th_lib_value(th_table_cell(t, i, k)));
        }
        th_lib_append(rows, row);
    }
    return rows;
}

static th_column *read_columns(th_report *r, Tcl_Obj *list, int *n)
{
    Tcl_Obj **column, **word;
    *n = th_lib_elements(list, -1, &column);
    th_column *out = *n >= 1 && *n <= TH_COLUMNS_MAX ? th_report_columns(r, *n) : NULL;
    for (int i = 0; out && i < *n; i++) {
        int words = th_lib_elements(column[i], -1, &word);
        int kind = words == 3 || words == 4 ? th_lib_kind(word[2]) : -1;
        if (kind < 0)
            return NULL;
        out[i] = (th_column){
            th_report_keep(r, Tcl_GetString(word[0])),
            Tcl_GetCharLength(word[1]) > 0 ? th_report_keep(r, Tcl_GetString(word[1])) : NULL,
            (th_kind)kind, words == 4 ? th_report_keep(r, Tcl_GetString(word[3])) : NULL};
    }
    if (out)
        out[*n] = (th_column){.name = NULL};
    return out;
}

/* absent: what stands for a text that is not there; NULL: an empty one. */
static int add_row(th_table *t, Tcl_Obj *values, Tcl_Obj *absent, bool is_total)
{
    th_quantity cells[TH_COLUMNS_MAX];
    Tcl_Obj **value;
    if (th_lib_elements(values, t->n_columns, &value) < 0)
        return -1;
    for (int i = 0; i < t->n_columns; i++) {
        if (th_lib_quantity(t->columns[i].kind, value[i], &cells[i]) != 0)
            return -1;
        if (absent && cells[i].kind == TH_KIND_TEXT)
            cells[i].is_absent = strcmp(cells[i].text, Tcl_GetString(absent)) == 0;
    }
    if (is_total)
        th_table_total(t, cells);
    else
        th_table_row(t, cells);
    return 0;
}

static int add_notes(th_table *t, Tcl_Obj *list)
{
    Tcl_Obj **note, **word;
    int n = list ? th_lib_elements(list, -1, &note) : 0;
    for (int i = 0; i < n; i++) {
        if (th_lib_elements(note[i], 2, &word) < 0)
            return -1;
        bool is_of_table = Tcl_GetCharLength(word[0]) == 0;
        th_table_note(t, is_of_table ? NULL : th_report_keep(t->report, Tcl_GetString(word[0])),
                      Tcl_GetString(word[1]));
    }
    return n < 0 ? -1 : 0;
}

static void add_to_sum(th_quantity *sum, const th_quantity *value)
{
    if (value->is_absent)
        return;
    sum->is_absent = false;
    sum->whole = th_bytes_add(sum->whole, value->whole);
    sum->real += value->real;
}

/* The last line: the title in the first column, and the sums of the others that are named. */
static int add_sums(th_table *t, Tcl_Obj *words)
{
    th_quantity sums[TH_COLUMNS_MAX];
    Tcl_Obj **word, **name;
    int n = th_lib_elements(words, 2, &word) < 0 ? -1 : th_lib_elements(word[1], -1, &name);
    for (int c = 0; c < t->n_columns; c++)
        sums[c] = th_absent(t->columns[c].kind);
    for (int i = 0; i < n; i++) {
        int c = th_table_column(t, "sums", Tcl_GetString(name[i]), NULL);
        for (size_t row = 0; c >= 0 && row < t->n_rows; row++)
            add_to_sum(&sums[c], th_table_cell(t, row, c));
    }
    sums[0] = n < 0 ? sums[0] : th_text(Tcl_GetString(word[0]));
    th_table_total(t, sums);
    return n < 0 ? -1 : 0;
}

static int add_rows(th_call *c, th_table *t, Tcl_Obj *dict)
{
    Tcl_Obj **row, *query = get(dict, "query");
    if (query)
        return th_query_fill(c->session, Tcl_GetString(query), t, &c->err);
    int n = th_lib_elements(get(dict, "rows"), -1, &row), failed = n < 0 ? -1 : 0;
    for (int i = 0; !failed && i < n; i++)
        failed = add_row(t, row[i], get(dict, "absent"), false);
    return failed;
}

/* What is not said about rows. */
static int set_form(th_table *t, Tcl_Obj *dict)
{
    Tcl_WideInt n;
    Tcl_Obj *column = get(dict, "breaks_at"), *limit = get(dict, "limit"),
            *wraps_at = get(dict, "wraps_at");
    if (is_set(dict, "wide_range"))
        th_table_wide_range(t);
    if (is_set(dict, "wraps"))
        th_table_wrap(t);
    if (wraps_at)
        t->wraps_at = th_report_keep(t->report, Tcl_GetString(wraps_at));
    if (column)
        th_table_break(t, th_report_keep(t->report, Tcl_GetString(column)));
    if (limit && Tcl_GetWideIntFromObj(NULL, limit, &n) != TCL_OK)
        return -1;
    if (limit)
        th_table_limit(t, n);
    return add_notes(t, get(dict, "notes"));
}

static int add_table(th_call *c, th_report *r, Tcl_Obj *dict)
{
    int n_columns;
    Tcl_Obj *name = get(dict, "name"), *title = get(dict, "title"), *total = get(dict, "total"),
            *sums = get(dict, "sums");
    const th_column *columns = name ? read_columns(r, get(dict, "columns"), &n_columns) : NULL;
    if (!columns)
        return -1;
    th_table *t = (is_set(dict, "is_record") ? th_report_record : th_report_table)(
        r, th_report_keep(r, Tcl_GetString(name)),
        title ? th_report_keep(r, Tcl_GetString(title)) : NULL, columns);
    if (!t)
        return 0; /* the report says so */
    if (add_rows(c, t, dict) != 0 || (total && add_row(t, total, NULL, true) != 0) ||
        (sums && add_sums(t, sums) != 0))
        return -1;
    return set_form(t, dict);
}

/* ---- the head ---- */

static int add_head(th_report *r, Tcl_Obj *list)
{
    Tcl_Obj **item, **word;
    int n = list ? th_lib_elements(list, -1, &item) : 0;
    for (int i = 0; i < n; i++) {
        th_quantity q;
        int words = th_lib_elements(item[i], -1, &word);
        if (words == 3) {
            th_report_head_line(r, th_report_keep(r, Tcl_GetString(word[1])),
                                Tcl_GetString(word[2]));
            continue;
        }
        int kind = words == 4 ? th_lib_kind(word[2]) : -1;
        if (kind < 0 || th_lib_quantity((th_kind)kind, word[3], &q) != 0)
            return -1;
        th_report_head_field(r, th_report_keep(r, Tcl_GetString(word[1])), q);
    }
    return n < 0 ? -1 : 0;
}

/* ---- the report ---- */

/* The first rows alone, of text without -limit. 0 or -1. */
static int limit_text(th_call *c, th_report *r, Tcl_Obj *limit, th_table **arranged)
{
    int n;
    if (!limit || !r->first || th_call_has(c, REPORT_LIMIT) ||
        th_report_format(c) != TH_FORMAT_TEXT)
        return 0;
    if (Tcl_GetIntFromObj(NULL, limit, &n) != TCL_OK)
        return th_lib_fault(c, "text_limit");
    if (th_report_arrange(c, r->first) != 0)
        return -1;
    th_table_limit(r->first, n);
    *arranged = NULL;
    return 0;
}

static th_table *arranged_of(const th_report *r, Tcl_Obj *number)
{
    int n;
    if (!number || Tcl_GetIntFromObj(NULL, number, &n) != TCL_OK)
        return NULL;
    th_table *t = r->first;
    while (t && --n > 0)
        t = t->next;
    return t;
}

/* 0, or -1 with the error of a query, or of the description. */
static int add_all(th_call *c, th_report *r, Tcl_Obj *description, bool is_text)
{
    Tcl_Obj **table;
    int n = th_lib_elements(get(description, "tables"), -1, &table);
    Tcl_Obj *head = get(description, "head");
    int failed = n < (head ? 0 : 1) || add_head(r, head) != 0 ? -1 : 0;
    for (int i = 0; !failed && i < n; i++)
        if (is_text || !is_set(table[i], "only_text"))
            failed = add_table(c, r, table[i]);
    if (!failed || c->err.id[0] != '\0')
        return failed;
    return th_report_state(r, &c->err) != 0 ? -1 : th_lib_fault(c, r->name);
}

int th_lib_tables(th_session *s, const char *call, th_report *r, th_error *err)
{
    static const th_command command = {.name = "tables"};
    th_tcl_session *t = th_tcl_of(s);
    const th_call *outer = t->lib_call;
    th_call c = {.session = s, .interp = t->interp, .command = &command};
    Tcl_Obj *script = Tcl_ObjPrintf("::tharsis::lib::%s", call);
    Tcl_IncrRefCount(script);
    t->lib_call = &c;
    int code = Tcl_EvalObjEx(t->interp, script, TCL_EVAL_GLOBAL);
    t->lib_call = outer;
    Tcl_DecrRefCount(script);
    Tcl_Obj *description = Tcl_GetObjResult(t->interp);
    Tcl_IncrRefCount(description);
    int failed = code == TCL_OK ? add_all(&c, r, description, true) : th_lib_take_error(&c, code);
    Tcl_DecrRefCount(description);
    Tcl_ResetResult(t->interp);
    *err = c.err;
    return failed;
}

th_report *th_lib_make_report(th_call *c, Tcl_Obj *description, bool is_text)
{
    Tcl_Obj *name = get(description, "name"), *title = get(description, "title");
    if (!name || !title) {
        th_lib_fault(c, "a report without name or title");
        return NULL;
    }
    th_report *r =
        is_set(description, "own_head") ? th_report_new("", "") : th_report_of_call(c, "", "");
    if (!r) {
        th_error_no_memory(&c->err);
        return NULL;
    }
    r->name = th_report_keep(r, Tcl_GetString(name));
    r->title = th_report_keep(r, Tcl_GetString(title));
    r->is_kept = is_set(description, "is_kept");
    if (add_all(c, r, description, is_text) == 0)
        return r;
    th_report_free(r);
    return NULL;
}

static int print(th_call *c, Tcl_Obj *description)
{
    th_report *r = th_lib_make_report(c, description, th_report_format(c) == TH_FORMAT_TEXT);
    if (!r)
        return -1;
    th_table *arranged = arranged_of(r, get(description, "arranged"));
    int failed = limit_text(c, r, get(description, "text_limit"), &arranged);
    return th_report_finish(c, r, failed, arranged);
}

int th_lib_report(th_call *c, Tcl_Obj *description)
{
    Tcl_IncrRefCount(description); /* the result of the interpreter, which is no result of c */
    Tcl_ResetResult(c->interp);
    int failed = print(c, description);
    Tcl_DecrRefCount(description);
    return failed;
}

int th_lib_check_columns(th_call *c, Tcl_Obj *table)
{
    th_report *r = th_report_new("", "");
    if (!r)
        return th_error_no_memory(&c->err);
    if (add_table(c, r, table) == 0)
        return th_report_check_columns(c, r, 0);
    th_report_free(r);
    return th_lib_fault(c, "check_columns");
}
