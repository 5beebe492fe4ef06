/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_read.h - files of rows as Tcl values: CSV, JSON, YAML. */
#ifndef TH_TCL_TABLE_READ_H
#define TH_TCL_TABLE_READ_H
#include <tcl.h>
#include "base/error.h"
#include "base/strbuf.h"

typedef enum { TH_TABLE_CSV, TH_TABLE_JSON, TH_TABLE_YAML } th_table_format;

/* CSV: a list of rows, each a list of its number of line (if is_told) and its fields. JSON and
 * YAML: objects are dicts, arrays lists, true 1, false 0, null empty; if is_told, each value is a
 * list of its kind (object, list, text, number, truth, null; scalar of YAML) and itself. *about
 * (may be NULL): of CSV, whether the last line has no end, of others the text. NULL on failure,
 * FILE:LINE in err. */
Tcl_Obj *th_table_read(const char *path, th_table_format format, bool is_told, size_t size_max,
                       Tcl_Obj **about, th_error *err);
/* The same of JSON in a text. only: of objects these members, ";NAME:KIND;NAME:list KIND", of
 * which the last one of a name counts; one of another kind is left out, and the member "" says what
 * is wrong with the last of these. A list as the root is the first member. NULL: all, once each. */
Tcl_Obj *th_table_json(const char *path, const th_strbuf *text, const char *only, bool is_told,
                       th_error *err);
/* CSV with a line of headings, in text, which is changed: the rows, each the number of its line and
 * the fields that these names head (th_csv_place: the first n_required must be there; of others the
 * fields are empty); lines of comments are skipped. notes: of what was left out. path: for
 * messages. NULL on failure. */
Tcl_Obj *th_table_columns(const char *path, char *text, const char *const *names, int n_required,
                          th_strbuf *notes, th_error *err);

#endif
