/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - one report: a head, and tables that become text, CSV or JSON.
 *   new -> head* -> (table | record -> row* -> (sort | limit | total))* -> render -> free
 * Columns are typed, so text tables choose one unit per column and say it in the heading, while CSV
 * and JSON keep base units in the field names. Texts are copied. A lack of memory is sticky and
 * shows in render, and so is Ctrl-C: from then on rows are dropped. */
#ifndef TH_REPORT_TABLE_REPORT_H
#define TH_REPORT_TABLE_REPORT_H
#include "report/table/quantity.h"

typedef struct th_report th_report;
typedef struct th_table th_table;

typedef enum { TH_FORMAT_TEXT, TH_FORMAT_CSV, TH_FORMAT_JSON } th_format;
const char *th_format_name(int i); /* text csv json; NULL after the last */

enum { TH_COLUMNS_MAX = 64 }; /* of one table */

typedef struct th_column {
    const char
        *name; /* field in CSV and JSON, without the unit; what -sort_by takes; NULL ends a list */
    const char *title; /* heading in text, which -sort_by takes too; NULL: not shown there */
    th_kind kind;
} th_column;

th_report *th_report_new(const char *name, const char *title); /* NULL: memory is out */
void th_report_free(th_report *r);                             /* accepts NULL */
/* A line of the head, in text; the fields of the head, in CSV and JSON. */
void th_report_head_line(th_report *r, const char *key, const char *text);
void th_report_head_field(th_report *r, const char *key, th_quantity value);
/* A table of the head, at most one: in JSON behind its fields, in CSV a line for each row, in text
 * nowhere. */
th_table *th_report_head_table(th_report *r, const char *name, const th_column *columns);

/* Room for n columns and their end, for tables whose columns depend on the call. NULL: memory is
 * out. */
th_column *th_report_columns(th_report *r, int n);
/* A text that lives as long as the report, for the names of such columns; "" when memory is out. */
const char *th_report_printf(th_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *th_report_keep(th_report *r, const char *text); /* the same of a text of any length */
/* columns must outlive the report. A record is a table of one row, in text a list of its values. */
th_table *th_report_table(th_report *r, const char *name, const char *title,
                          const th_column *columns);
th_table *th_report_record(th_report *r, const char *name, const char *title,
                           const th_column *columns);
void th_report_drop_first(th_report *r);                    /* the table that is first */
void th_table_row(th_table *t, const th_quantity *cells);   /* one per column */
void th_table_total(th_table *t, const th_quantity *cells); /* the last line */
/* In text every time and size has its own unit: for values that lie orders of magnitude apart. */
void th_table_own_units(th_table *t);
/* In text the last column is not shortened: what does not fit goes on below, cut between words. */
void th_table_wrap(th_table *t);
/* What the headings mean, for those that do not say it themselves: printed below the table, in text
 * and HTML. The text must outlive the report. */
void th_table_note(th_table *t, const char *note);
/* In text a new block of lines begins at this column, which is shown there. */
void th_table_break(th_table *t, const char *column);
/* Numbers from large to small, texts in order; rows that are equal keep their order. */
void th_table_sort(th_table *t, int column);
void th_table_sort_up(th_table *t,
                      int column); /* numbers from small to large, those that are absent last */
void th_table_limit(th_table *t, int64_t n); /* keeps the first n rows */
void th_table_hide(th_table *t, int64_t n);  /* so many more rows there would be */
int th_table_column(const th_table *t, const char *name, th_error *err); /* -1: unknown */
const th_quantity *th_table_cell(const th_table *t, size_t row, int column);

/* What CSV and JSON write behind the name of a field: "_ps"; "" where the name says it already. */
const char *th_kind_suffix(th_kind kind, const char *name);

/* 0, or -1: memory is out, or Ctrl-C ended it, here or where rows were added. */
int th_report_render(th_report *r, th_format format, th_strbuf *out, th_error *err);
/* Asked at every row, by these functions too, and looks at some of them; true from the first Ctrl-C
 * on. */
bool th_report_is_interrupted(th_report *r);
/* 0, or -1: as render says it. */
int th_report_state(const th_report *r, th_error *err);

/* report_text.c */
void th_report_render_text(const th_report *r, th_strbuf *out);

/* private */
struct th_table {
    const char *name, *title;
    const th_column *columns;
    int n_columns;
    const char *breaks_at; /* NULL: where the width makes it */
    const char *note;      /* NULL: none */
    bool is_record, has_own_units, wraps;
    th_quantity *cells;      /* n_rows x n_columns */
    size_t n_rows, capacity; /* capacity in cells */
    th_quantity *total;      /* NULL: none */
    size_t n_hidden;         /* rows that limit took away */
    th_report *report;
    th_table *next;
};

/* For other renderers: the columns of a table that have a title, one unit for each, and every cell
 * as it is printed, in the report's memory. false: memory is out. */
typedef struct th_displayed_table {
    th_table table;
    const char *unit[TH_COLUMNS_MAX]; /* "" for none */
    char **texts;                     /* (n_rows + 1) x n_columns; the last row is the total */
} th_displayed_table;
bool th_table_display(const th_table *t, th_displayed_table *out);
void th_report_value(th_strbuf *out, const th_quantity *q); /* of a record, with its unit */

typedef struct th_head_item {
    const char *key;
    th_quantity value;
    bool is_line;
} th_head_item;

enum { TH_HEAD_MAX = 80 };

struct th_report {
    const char *name, *title;
    struct th_arena *arena;
    th_head_item head[TH_HEAD_MAX];
    int n_head;
    th_table *head_table; /* NULL: none */
    th_table *first, **last;
    const char *const
        *units; /* in which text is shown, by th_kind; an entry NULL, or units: what suits */
    bool failed, was_interrupted;
    unsigned n_looks;
};

#endif
