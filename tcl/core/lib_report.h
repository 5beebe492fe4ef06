/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib_report.h - a report that a procedure of lib/ describes, a dict:
 *   name, title
 *   head     ?items {line KEY TEXT} and {field KEY KIND VALUE}?
 *   tables   each a dict: name, columns {{NAME HEADING KIND ?MEANING?} ...}, and rows, each a list
 *            of values, or query, a SELECT with as many columns;
 *            ?title, is_record, notes {{COLUMNS CLAUSE} ...}, total, wide_range, wraps, wraps_at?
 *            ?sums, {TITLE COLUMNS}: the last line has the sums of these?
 *            ?only_text, not in CSV and JSON; absent, what stands for a text that is not there?
 *            ?breaks_at, a column? ?limit, rows at most?
 *   own_head ?1: the head does not say what the session has?
 *   is_kept  ?1: for pages?     arranged  ?N: -sort_by and -limit apply to its N-th table?
 *   text_limit  ?rows of that table in text, without -limit?
 * Kinds are text, count, time (ps), bytes, bandwidth (bits per second), share, change, rate, mean,
 * number, energy (J), factor. An empty heading is shown in CSV and JSON alone; an empty value is
 * absent. */
#ifndef TH_TCL_CORE_LIB_REPORT_H
#define TH_TCL_CORE_LIB_REPORT_H
#include "tcl/report_call.h"

/* Prints, writes or returns it, as the options of the call say. 0 or -1. */
int th_lib_report(th_call *c, Tcl_Obj *description);
/* The report, before it is arranged; is_text: also with its tables that are for text alone. NULL:
 * the error is the call's. */
th_report *th_lib_make_report(th_call *c, Tcl_Obj *description, bool is_text);
/* Has the table the columns of the call's -sort_by and -fields? 0 or -1 with the call's error. */
int th_lib_check_columns(th_call *c, Tcl_Obj *table);
/* The elements of a list, of n of them where n >= 0. Returns how many; -1: it is none. */
int th_lib_elements(Tcl_Obj *list, int n, Tcl_Obj ***out);
/* Adds the head and the tables that a procedure of lib/ describes: "report_links {used 1}". 0 or
 * -1. */
int th_lib_tables(th_session *s, const char *call, th_report *r, th_error *err);
/* The result of a core command. Returns 0. */
int th_lib_give(th_call *c, Tcl_Obj *result);
void th_lib_append(Tcl_Obj *list, Tcl_Obj *element);
Tcl_Obj *th_lib_text(const char *text); /* NULL: an empty one */
/* A list of n numbers; frees a fresh one. 0, or -1: it is none. */
int th_lib_doubles(Tcl_Obj *list, int n, double *out);
Tcl_Obj *th_lib_list(const double *numbers, int64_t n);
/* A list of these values; a number, or the empty value where it is not there. */
#define TH_LIB_LIST(...)                                                                           \
    Tcl_NewListObj(sizeof((Tcl_Obj *[]){__VA_ARGS__}) / sizeof(Tcl_Obj *),                         \
                   (Tcl_Obj *[]){__VA_ARGS__})
#define TH_LIB_ADD(list, ...) th_lib_append(list, TH_LIB_LIST(__VA_ARGS__))
Tcl_Obj *th_lib_number_if(bool is_there, int64_t n);
/* A value of this kind. 0 or -1: it is none. */
int th_lib_quantity(th_kind kind, Tcl_Obj *value, th_quantity *out);
Tcl_Obj *th_lib_value(const th_quantity *q); /* exact; an absent value is empty */
/* The rows of a table; is_dict: each a dict by the names of columns. */
Tcl_Obj *th_lib_rows(const th_table *t, bool is_dict);
int th_lib_kind(Tcl_Obj *name); /* -1: unknown */

/* Core commands that make the run that is due, the second where the session has what it needs; and
 * one that does not make it. */
#define TH_CORE_ROW_OF_RUN(name_, words_, n, run_)                                                 \
    {                                                                                              \
        .name = name_, .words = words_, .min_words = n, .max_words = n, .run = run_                \
    }
#define TH_CORE_ROW_THAT_NEEDS(name_, words_, n, run_, ...)                                        \
    {                                                                                              \
        .name = name_, .words = words_, .min_words = n, .max_words = n, .run = run_, .needs = {    \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define TH_CORE_ROW(name_, words_, least, most, run_)                                              \
    {                                                                                              \
        .name = name_, .words = words_, .min_words = least, .max_words = most, .run = run_,        \
        .ignores_run = true                                                                        \
    }

/* lib_call.c: the result of a procedure of lib/ with these words stays in the interpreter; what it
 * opened is closed. 0, or -1 with the call's error. */
int th_lib_call(th_call *c, const char *procedure, int n, Tcl_Obj *const *words);
/* lib_call.c: the error that the interpreter holds becomes that of the call. Returns -1. */
int th_lib_take_error(th_call *c, int code);
/* An error of lib/ itself. Returns -1. */
int th_lib_fault(th_call *c, const char *what);
/* A procedure that makes of a foreign file the text of ours, and notes of what it left out. 0, or
 * -1 with the call's error. */
int th_lib_read(th_call *c, const char *procedure, int n, Tcl_Obj *const *words, th_strbuf *text,
                th_strbuf *notes);
/* The call that lib/ answers, for core commands; c itself, where a script calls one. */
const th_call *th_lib_caller(const th_call *c);

#endif
