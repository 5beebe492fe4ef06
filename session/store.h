/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.h - a study's file, an SQLite database that may come from elsewhere: what may be done with
 * it, and for how long. lib/study.tcl knows its tables; docs/formats.md has them.
 *   open -> (run | lock)* -> close
 * A process that is killed at any time leaves exactly the transactions that it has committed. There
 * is one writer at a time (lock); others may read at the same time. */
#ifndef TH_SESSION_STORE_H
#define TH_SESSION_STORE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

typedef struct th_store th_store;

typedef enum {
    TH_CELL_NULL,
    TH_CELL_INTEGER,
    TH_CELL_REAL,
    TH_CELL_TEXT,
    TH_CELL_OTHER
} th_cell_type;

typedef struct th_cell {
    th_cell_type type; /* other: a blob, or a text that holds a zero */
    int64_t whole;
    double real;
    const char *text; /* not owned */
} th_cell;

enum { TH_STORE_COLUMNS_MAX = 100 };

/* Is there a file that is not empty? */
bool th_store_is_there(const char *path);
/* creates: the file may be missing. is_interrupted is polled in long reading, which then fails with
 * BASE-0008; NULL: never. NULL: err says why. */
th_store *th_store_open(const char *path, bool creates, bool (*is_interrupted)(void),
                        th_error *err);
void th_store_close(th_store *t); /* accepts NULL; undoes a transaction that is open */

typedef struct th_store_values {
    const th_cell *cells; /* n_rows times n */
    size_t n, n_rows;
} th_store_values;

/* One statement, with the bound values of each row, one row after the other. Calls row, which may
 * be NULL, for each row of the result, until it returns another number than 0; the texts live as
 * long as that call. No statement opens another file. Returns what row returned, or -1. */
typedef int th_store_row(void *state, const th_cell *cells, int n);
int th_store_run(th_store *t, const char *sql, const th_store_values *v, th_store_row *row,
                 void *state, th_error *err);
/* Makes this process the only writer until close; what it reads is then no longer interrupted, so
 * that what was computed is written first. -1: another one is. */
int th_store_lock(th_store *t, th_error *err);

#endif
