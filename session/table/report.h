/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - one report: a head, and tables that become text, CSV or JSON.
 *   new -> head* -> (table | record -> row* -> (sort | limit | total))* -> render -> free
 * Columns are typed, so text tables choose one unit per column and say it in the heading, while CSV
 * and JSON keep base units in the field names. Texts are copied. A lack of memory is sticky and
 * shows in render, and so is Ctrl-C: from then on rows are dropped. */
#ifndef TH_SESSION_TABLE_REPORT_H
#define TH_SESSION_TABLE_REPORT_H
#include "session/table/quantity.h"

typedef struct th_report th_report;
typedef struct th_table th_table;

typedef enum { TH_FORMAT_TEXT, TH_FORMAT_CSV, TH_FORMAT_JSON } th_format;
const char *th_format_name(int i); /* text csv json; NULL after the last */

enum {
    TH_COLUMNS_MAX = 64, /* of one table */
    TH_TEXT_WIDTH = 80   /* columns of a line of text, unless the user asks for others */
};

/* How a report is shown as text; zeros: by default. */
typedef struct th_display {
    int width;       /* columns of a line; 0: TH_TEXT_WIDTH */
    int digits;      /* significant digits of the largest value of a column; 0: by its kind */
    bool has_legend; /* the meaning of every heading below its table */
} th_display;

typedef struct th_column {
    const char
        *name; /* field in CSV and JSON, without the unit; also for -sort_by; NULL ends a list */
    const char *title; /* heading in text, also for -sort_by; NULL: not shown in text */
    th_kind kind;
    const char *meaning; /* of a figure, for -legend; NULL: see legend.h */
} th_column;

th_report *th_report_new(const char *name, const char *title); /* NULL: memory is out */
void th_report_free(th_report *r);                             /* accepts NULL */
/* A line of the head in text; fields of the head in CSV and JSON. */
void th_report_head_line(th_report *r, const char *key, const char *text);
/* The text on one line, ends of lines and tabs as blanks, in the report's memory; NULL when that is
 * out. */
char *th_report_line(th_report *r, const char *text);
void th_report_head_field(th_report *r, const char *key, th_quantity value);
/* A table in the head, at most one: in JSON after its fields, in CSV a line per row, in text not
 * shown. */
th_table *th_report_head_table(th_report *r, const char *name, const th_column *columns);

/* Room for n columns and the end mark, for tables whose columns depend on the call. NULL: memory is
 * out. */
th_column *th_report_columns(th_report *r, int n);
/* A text that is freed with the report, for names of such columns; "" if memory is out. */
const char *th_report_printf(th_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *th_report_keep(th_report *r, const char *text); /* the same of a text of any length */
/* columns must outlive the report. A record is a table of one row, in text a list of its values. */
th_table *th_report_table(th_report *r, const char *name, const char *title,
                          const th_column *columns);
th_table *th_report_record(th_report *r, const char *name, const char *title,
                           const th_column *columns);
void th_table_row(th_table *t, const th_quantity *cells);   /* one per column */
void th_table_total(th_table *t, const th_quantity *cells); /* the last line */
/* Values of very different sizes: the unit of a column is chosen by its smallest one. */
void th_table_wide_range(th_table *t);
/* In text the last column is not shortened but continues on further lines, broken between words. */
void th_table_wrap(th_table *t);
/* Explains headings that need it, below the table in text and HTML; shown while one of these
 * columns is (names with blanks between; NULL: always). A clause without its full stop; copied. */
void th_table_note(th_table *t, const char *columns, const char *clause);
/* Where the lines of text are too short for the table, a new block begins at this column. */
void th_table_break(th_table *t, const char *column);
/* Sorts numbers from large to small, and texts in order; equal rows keep their order. */
void th_table_sort(th_table *t, int column);
void th_table_sort_up(th_table *t, int column); /* numbers from small to large, absent ones last */
void th_table_limit(th_table *t, int64_t n);    /* keeps the first n rows */
void th_table_hide(th_table *t, int64_t n);     /* counts rows that were not added */
/* The column of this name or heading. -1: unknown; option is what the user asked by. */
int th_table_column(const th_table *t, const char *option, const char *name, th_error *err);
/* Keeps these n columns, each once, in this order, in every format; each has a heading then. */
void th_table_select(th_table *t, const int *columns, int n);
const th_quantity *th_table_cell(const th_table *t, size_t row, int column);

/* A value as JSON has it, in the unit of that suffix. */
void th_quantity_add_json(th_strbuf *out, const th_quantity *q);

/* 0, or -1: memory is out, or Ctrl-C ended it, here or while rows were added. */
int th_report_render(th_report *r, th_format format, th_strbuf *out, th_error *err);
/* Call at every row, as these functions do; it polls at some of them. True from the first Ctrl-C
 * on. */
bool th_report_is_interrupted(th_report *r);
/* 0, or -1: as render says it. */
int th_report_state(const th_report *r, th_error *err);

/* report_text.c; report_data.c: in CSV the head is lines that start with #, and tables are
 * separated by an empty line and have names. */
void th_report_render_text(const th_report *r, th_strbuf *out);
void th_report_render_csv(const th_report *r, th_strbuf *out);
void th_report_render_json(const th_report *r, th_strbuf *out);

/* private */
struct th_table {
    const char *name, *title;
    const th_column *columns;
    int n_columns;
    const char *breaks_at; /* NULL: where the width requires it */
    struct th_note *first_note, **last_note;
    bool is_record, has_wide_range, wraps; /* the last column */
    const char *wraps_at;                  /* another one that wraps instead; NULL: none */
    bool keeps_empty;                      /* columns without a value but 0 are shown too */
    th_quantity *cells;                    /* n_rows x n_columns */
    size_t n_rows, capacity;               /* capacity in cells */
    th_quantity *total;                    /* NULL: none */
    size_t n_hidden;                       /* rows that limit took away */
    th_report *report;
    th_table *next;
};

/* The notes about columns that shown, a selection of t, has headings for; NULL: none. */
const char *th_table_notes(const th_table *t, const th_table *shown);
/* The table with these n columns alone; false: memory is out. */
bool th_table_project(const th_table *t, const int *columns, int n, th_table *out);
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
    const char *const *units; /* units of text by th_kind; NULL: chosen by value */
    th_display display;
    bool is_kept; /* the session keeps it, once it is printed, for pages */
    bool failed, was_interrupted;
    unsigned n_polls;
};

#endif
