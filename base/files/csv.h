/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - tables of comma-separated values, cut up in place.
 *   th_csv_open -> th_csv_first -> th_csv_place -> { th_csv_row -> field[place[i]] ... } -> clear
 * Blank lines and a byte-order mark are skipped, fields trimmed; a field may be in double quotes,
 * with "" for a quote, without line breaks. Lines of unlike length are read by th_csv_next. */
#ifndef TH_BASE_CSV_H
#define TH_BASE_CSV_H
#include <stddef.h>

#include "base/error.h"
#include "base/notes.h"

typedef struct th_csv {
    const char *path; /* for messages */
    char *rest;       /* what has not been read */
    int line;         /* of the fields, from 1 */
    char **field;     /* in the text; until the next call */
    int n_fields;
    int n_headings; /* fields of the line of headings; 0: not read yet */
    size_t capacity;
} th_csv;

/* The text is changed while it is read; NULL reads as empty. */
th_csv th_csv_open(const char *path, char *text);
/* The next line that is not blank. 1; 0 at the end; -1 on failure. */
int th_csv_next(th_csv *c, th_error *err);
/* The first line that is no comment (#), which must be there. 0 or -1. */
int th_csv_first(th_csv *c, th_error *err);
/* Finds headings, the fields of the present line: place[i] is the field of names[i] (NULL ends
 * them; "a;b": of either), -1: it is not there, which is an error for the first n_required. Case
 * and what is no letter or digit do not matter. A heading that comes twice is an error, one that is
 * no name goes into notes. 0 or -1. */
int th_csv_place(th_csv *c, const char *const *names, int n_required, int *place, th_strbuf *notes,
                 th_error *err);
/* Notes the headings whose fields are not among the n of place. */
void th_csv_note_others(const th_csv *c, const int *place, int n, th_strbuf *notes);
/* The next line that is no comment, with as many fields as there are headings. 1; 0: end; -1. */
int th_csv_row(th_csv *c, th_error *err);
/* After the last line: whether it lacks an end. */
void th_csv_note_cut(const th_csv *c, th_strbuf *notes);
void th_csv_clear(th_csv *c);

#endif
