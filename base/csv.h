/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - lines of comma-separated values, split in place.
 *   th_csv_open(text) -> th_csv_next -> field[0 .. n_fields) ... -> th_csv_clear
 * Blank lines are skipped, fields trimmed; a field may be in double quotes, with "" for a quote;
 * line breaks inside quotes are not supported. */
#ifndef TH_BASE_CSV_H
#define TH_BASE_CSV_H
#include <stddef.h>

typedef struct th_csv {
    char *rest;   /* what has not been read */
    int line;     /* of the fields, from 1 */
    char **field; /* in the text; until the next call */
    int n_fields;
    size_t capacity;
} th_csv;

th_csv th_csv_open(char *text); /* is changed while it is read; NULL reads as empty */
/* 1; 0 at the end; -1: memory is out. */
int th_csv_next(th_csv *c);
void th_csv_clear(th_csv *c);

#endif
