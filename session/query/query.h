/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.h - SQL over the figures of a session (session/objects/figures.h), by SQLite. A query reads
 * only: it is one SELECT over the tables of figures, with the functions of th_query_functions.
 * Ctrl-C and the time limit of the thread end it. Nothing is kept between two queries. */
#ifndef TH_SESSION_QUERY_QUERY_H
#define TH_SESSION_QUERY_QUERY_H
#include <sqlite3.h>
#include "session/objects/figures.h"
#include "session/table/report.h"

/* The value of "$layer" or ":layer" in a statement, valid until the next call. 0 or -1. */
typedef int (*th_query_parameter)(void *state, const char *name, th_quantity *out, th_error *err);

/* Adds the rows to the report, as its table "rows": integers are counts, reals numbers, and NULL is
 * absent. 0, or -1. */
int th_query_run(th_session *s, const char *sql, th_query_parameter parameter, void *state,
                 th_report *r, th_error *err);
/* The same as rows of a table that has as many columns, of their kinds. Without parameters. */
int th_query_fill(th_session *s, const char *sql, th_table *t, th_error *err);
/* The tables, column by column, with unit and meaning; only: of this one; NULL: of all. 0, or -1:
 * there is no such table. */
int th_query_list_tables(th_report *r, const char *only, th_error *err);

/* Functions that a query may call; ends in NULL. */
extern const char *const th_query_functions[];

/* The name of a column in SQL. */
const char *th_query_column_name(const th_attribute *column, char out[static TH_FIGURE_NAME_MAX]);

/* ---- private ---- */

/* virtual_table.c: a class of figures as a virtual table of SQLite. */
/* What a table reads; it must outlive the connection. */
typedef struct th_query_source {
    const th_figures *figures;
    th_session *session;
    th_error *failure; /* why a table could not be read; its id is empty before */
} th_query_source;

/* Makes the class known as a table of its name. A code of SQLite. */
int th_query_add_table(sqlite3 *db, th_query_source *source);

/* query_names.c: the class of this name; NULL: none. */
const th_figures *th_query_table_named(const char *name);
bool th_query_mentions(const char *sql, const char *word);
/* Errors with the names that are near. -1. */
int th_query_unknown_table(const char *name, th_error *err);
int th_query_unknown_function(const char *name, th_error *err);
int th_query_explain(const char *said, const char *sql, th_error *err); /* what SQLite says */

#endif
