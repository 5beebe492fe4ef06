/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.c - a report as data; report_text.c lays it out for people, report_data.c for programs. */
#include <config.h>
#include "session/table/report.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/arena.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "base/interrupt.h"

const char *th_format_name(int i)
{
    static const char *const names[] = {"text", "csv", "json", NULL};
    return names[i];
}

/* ---- building ---- */

th_report *th_report_new(const char *name, const char *title)
{
    th_report *r = th_alloc_zero(1, sizeof *r);
    if (!r || !(r->arena = th_arena_new())) {
        th_free(r);
        return NULL;
    }
    r->name = name;
    r->title = title;
    r->last = &r->first;
    return r;
}

void th_report_free(th_report *r)
{
    if (!r)
        return;
    for (th_table *t = r->first; t; t = t->next)
        th_free(t->cells);
    if (r->head_table)
        th_free(r->head_table->cells);
    th_arena_free(r->arena);
    th_free(r);
}

bool th_report_is_interrupted(th_report *r)
{
    enum { ROWS_BETWEEN = 512 }; /* a power of two; rows between polls of Ctrl-C */
    if ((r->n_polls++ & (ROWS_BETWEEN - 1)) == 0)
        r->was_interrupted |= th_interrupt_is_pending();
    return r->was_interrupted;
}

int th_report_state(const th_report *r, th_error *err)
{
    if (r->was_interrupted)
        return th_error_interrupted(err, "nothing was printed");
    return r->failed ? th_error_no_memory(err) : 0;
}

/* The cell with a text of its own. */
static th_quantity keep(th_report *r, th_quantity q)
{
    if (q.kind == TH_KIND_TEXT && !q.is_absent && !(q.text = th_arena_string(r->arena, q.text))) {
        r->failed = true;
        q.is_absent = true;
    }
    return q;
}

static void add_head(th_report *r, const char *key, th_quantity value, bool is_line)
{
    if (r->n_head < TH_HEAD_MAX)
        r->head[r->n_head++] = (th_head_item){key, keep(r, value), is_line};
}

char *th_report_line(th_report *r, const char *text)
{
    char *line = th_arena_string(r->arena, text);
    for (char *c = line; c && *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    r->failed |= !line;
    return line;
}

void th_report_head_line(th_report *r, const char *key, const char *text)
{
    const char *line = th_report_line(r, text);
    add_head(r, key, th_text(line ? line : ""), true);
}

void th_report_head_field(th_report *r, const char *key, th_quantity value)
{
    add_head(r, key, value, false);
}

th_column *th_report_columns(th_report *r, int n)
{
    th_column *columns = th_arena_alloc(r->arena, (size_t)(n + 1) * sizeof *columns);
    r->failed |= !columns;
    return columns;
}

const char *th_report_keep(th_report *r, const char *text)
{
    const char *copy = th_arena_string(r->arena, text);
    if (!copy)
        r->failed = true;
    return copy ? copy : "";
}

const char *th_report_printf(th_report *r, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    th_print_list(text, sizeof text, format, args);
    va_end(args);
    return th_report_keep(r, text);
}

static th_table *new_table(th_report *r, const char *name, const char *title,
                           const th_column *columns, bool is_record)
{
    th_table *t = th_arena_alloc(r->arena, sizeof *t);
    if (!t) {
        r->failed = true;
        return NULL;
    }
    *t = (th_table){
        .name = name, .title = title, .columns = columns, .is_record = is_record, .report = r};
    t->last_note = &t->first_note;
    while (columns[t->n_columns].name)
        t->n_columns++;
    return t;
}

static th_table *add_table(th_report *r, const char *name, const char *title,
                           const th_column *columns, bool is_record)
{
    th_table *t = new_table(r, name, title, columns, is_record);
    if (!t)
        return NULL;
    *r->last = t;
    r->last = &t->next;
    return t;
}

th_table *th_report_head_table(th_report *r, const char *name, const th_column *columns)
{
    return r->head_table = new_table(r, name, NULL, columns, false);
}

th_table *th_report_table(th_report *r, const char *name, const char *title,
                          const th_column *columns)
{
    return add_table(r, name, title, columns, false);
}

th_table *th_report_record(th_report *r, const char *name, const char *title,
                           const th_column *columns)
{
    return add_table(r, name, title, columns, true);
}

const th_quantity *th_table_cell(const th_table *t, size_t row, int column)
{
    return &t->cells[row * (size_t)t->n_columns + (size_t)column];
}

void th_table_row(th_table *t, const th_quantity *cells)
{
    if (!t)
        return;
    size_t n = (size_t)t->n_columns;
    if (th_report_is_interrupted(t->report))
        return;
    if (th_grow(&t->cells, &t->capacity, (t->n_rows + 1) * n, sizeof *t->cells) != 0) {
        t->report->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        t->cells[t->n_rows * n + i] = keep(t->report, cells[i]);
    t->n_rows++;
}

void th_table_total(th_table *t, const th_quantity *cells)
{
    if (!t)
        return;
    size_t n = (size_t)t->n_columns;
    t->total = th_arena_alloc(t->report->arena, n * sizeof *cells);
    if (!t->total)
        t->report->failed = true;
    for (size_t i = 0; t->total && i < n; i++)
        t->total[i] = keep(t->report, cells[i]);
}

void th_table_wide_range(th_table *t)
{
    if (t)
        t->has_wide_range = true;
}

/* ---- notes ---- */

typedef struct th_note {
    const char *columns; /* names with blanks between; NULL: about the whole table */
    const char *clause;
    struct th_note *next;
} th_note;

/* Of the columns named, those that the table has, or has a heading for. */
static int count_columns(const th_table *t, const char *names, bool with_heading)
{
    int count = 0;
    size_t n;
    for (const char *at = names; *at != '\0'; at += n + strspn(at + n, " ")) {
        n = strcspn(at, " ");
        for (int c = 0; c < t->n_columns; c++)
            count += strlen(t->columns[c].name) == n && memcmp(t->columns[c].name, at, n) == 0 &&
                     (t->columns[c].title || !with_heading);
    }
    return count;
}

void th_table_note(th_table *t, const char *columns, const char *clause)
{
    th_note *note = t ? th_arena_alloc(t->report->arena, sizeof *note) : NULL;
    if (!note) {
        if (t)
            t->report->failed = true;
        return;
    }
    assert(!columns || count_columns(t, columns, false) > 0);
    *note = (th_note){columns, th_report_keep(t->report, clause), NULL};
    *t->last_note = note;
    t->last_note = &note->next;
}

const char *th_table_notes(const th_table *t, const th_table *shown)
{
    th_strbuf text = TH_STRBUF_INIT;
    for (const th_note *x = t->first_note; x; x = x->next)
        if (!x->columns || count_columns(shown, x->columns, true) > 0)
            th_strbuf_printf(&text, "%s%s", text.length > 0 ? "; " : "", x->clause);
    if (text.length > 0)
        th_strbuf_add(&text, ".");
    const char *out = text.length > 0 ? th_report_keep(t->report, text.text) : NULL;
    t->report->failed |= text.failed;
    th_strbuf_clear(&text);
    return out;
}

void th_table_break(th_table *t, const char *column)
{
    if (t)
        t->breaks_at = column;
}

/* ---- order ---- */

static bool comes_before(const th_quantity *a, const th_quantity *b, bool is_up)
{
    int order = th_quantity_compare(a, b);
    if (is_up && a->is_absent != b->is_absent)
        return b->is_absent;
    return a->kind == TH_KIND_TEXT || is_up ? order < 0 : order > 0;
}

/* A merge sort of row numbers by one column. */
typedef struct row_sort {
    const th_table *table;
    int column;
    bool is_up;
    size_t *order, *scratch;
} row_sort;

static const th_quantity *key_of(const row_sort *s, size_t i)
{
    return th_table_cell(s->table, s->order[i], s->column);
}

/* Merges the sorted halves [lo, mid) and [mid, hi) of the order. */
static void merge(const row_sort *s, size_t lo, size_t mid, size_t hi)
{
    size_t i = lo, j = mid;
    for (size_t k = lo; k < hi; k++) {
        bool take_right =
            i == mid || (j < hi && comes_before(key_of(s, j), key_of(s, i), s->is_up));
        s->scratch[k] = s->order[take_right ? j++ : i++];
    }
    memcpy(&s->order[lo], &s->scratch[lo], (hi - lo) * sizeof *s->order);
}

static void sort(th_table *t, int column, bool is_up)
{
    if (!t || t->n_rows < 2)
        return;
    size_t rows = t->n_rows, n = (size_t)t->n_columns;
    size_t *order = th_alloc_array(2 * rows, sizeof *order);
    th_quantity *cells = th_alloc_array(rows * n, sizeof *cells);
    if (!order || !cells) {
        t->report->failed = true;
    } else {
        row_sort s = {t, column, is_up, order, order + rows};
        for (size_t i = 0; i < rows; i++)
            order[i] = i;
        for (size_t width = 1; width < rows; width *= 2)
            for (size_t lo = 0; lo + width < rows && !th_report_is_interrupted(t->report);
                 lo += 2 * width)
                merge(&s, lo, lo + width, lo + 2 * width < rows ? lo + 2 * width : rows);
        for (size_t i = 0; i < rows; i++)
            memcpy(&cells[i * n], &t->cells[order[i] * n], n * sizeof *cells);
        memcpy(t->cells, cells, rows * n * sizeof *cells);
    }
    th_free(cells);
    th_free(order);
}

void th_table_sort(th_table *t, int column)
{
    sort(t, column, false);
}

void th_table_sort_up(th_table *t, int column)
{
    sort(t, column, true);
}

void th_table_limit(th_table *t, int64_t n)
{
    if (!t || (uint64_t)n >= t->n_rows)
        return;
    t->n_hidden += t->n_rows - (size_t)n;
    t->n_rows = (size_t)n;
}

void th_table_wrap(th_table *t)
{
    if (t)
        t->wraps = true;
}

void th_table_hide(th_table *t, int64_t n)
{
    if (t)
        t->n_hidden += (size_t)n;
}

/* By its heading in text; -1: none. */
static int column_of_title(const th_table *t, const char *title)
{
    for (int i = 0; i < TH_COLUMNS_MAX && t->columns[i].name; i++)
        if (t->columns[i].title && strcmp(t->columns[i].title, title) == 0)
            return i;
    return -1;
}

int th_table_column(const th_table *t, const char *option, const char *name, th_error *err)
{
    const char *names[TH_COLUMNS_MAX + 1];
    int n = 0;
    for (; n < TH_COLUMNS_MAX && t->columns[n].name; n++) {
        if (strcmp(t->columns[n].name, name) == 0)
            return n;
        names[n] = t->columns[n].name;
    }
    names[n] = NULL;
    int titled = column_of_title(t, name);
    if (titled >= 0)
        return titled;
    return th_error_unknown(err, "TCL-0050", option, name, names);
}

/* ---- choice of columns ---- */

bool th_table_project(const th_table *t, const int *columns, int n, th_table *out)
{
    size_t lines = t->n_rows + (t->total ? 1 : 0), width = (size_t)n;
    th_column *chosen = th_report_columns(t->report, n);
    th_quantity *cells = th_arena_alloc(t->report->arena, (lines * width + 1) * sizeof *cells);
    if (!chosen || !cells) {
        t->report->failed = true;
        return false;
    }
    for (int c = 0; c < n; c++)
        chosen[c] = t->columns[columns[c]];
    chosen[n] = (th_column){.name = NULL};
    for (size_t row = 0; row < lines; row++)
        for (int c = 0; c < n; c++)
            cells[row * width + (size_t)c] =
                row < t->n_rows ? *th_table_cell(t, row, columns[c]) : t->total[columns[c]];
    *out = *t;
    out->columns = chosen;
    out->n_columns = n;
    out->cells = cells;
    out->total = t->total ? &cells[t->n_rows * width] : NULL;
    return true;
}

void th_table_select(th_table *t, const int *columns, int n)
{
    th_table selected;
    th_column *titled = t ? th_report_columns(t->report, n) : NULL;
    if (!titled || !th_table_project(t, columns, n, &selected))
        return;
    for (int c = 0; c <= n; c++) {
        titled[c] = selected.columns[c];
        if (!titled[c].title)
            titled[c].title = titled[c].name;
    }
    /* No column is chosen twice, so the cells fit where they were. */
    if (selected.n_rows > 0)
        memcpy(t->cells, selected.cells, selected.n_rows * (size_t)n * sizeof *t->cells);
    t->columns = titled;
    t->n_columns = n;
    t->total = selected.total;
    t->keeps_empty = true;
}
