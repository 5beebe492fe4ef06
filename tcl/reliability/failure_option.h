/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failure_option.h - the kinds of failures of a call, -failures LIST.
 *   parse -> read only -> clear */
#ifndef TH_TCL_RELIABILITY_FAILURE_OPTION_H
#define TH_TCL_RELIABILITY_FAILURE_OPTION_H
#include "base/strbuf.h"
#include "sim/reliability/failure_law.h"
#include "sim/reliability/training_run.h"
#include "tcl/command.h"

typedef struct th_failure_kinds {
    th_failure_kind all[TH_FAILURE_KINDS_MAX]; /* names: of the words of the call, or names */
    double *times[TH_FAILURE_KINDS_MAX];       /* of traces, else NULL */
    char *names[TH_FAILURE_KINDS_MAX];         /* of kinds of the system, else NULL */
    int n;
} th_failure_kinds;

/* The option's duration; otherwise where it was not given. 0 or -1. */
int th_call_seconds(th_call *c, int option, double otherwise, double *out);
/* The times of a file, one in a line, ascending; the caller's (th_free). notes (NULL: not wanted)
 * get a cut end. 0 or -1. */
int th_failure_times_read(const char *path, double **times, int64_t *n, th_strbuf *notes,
                          th_error *err);
/* LIST of {NAME UNITS MTBF ?KEY VALUE ...?} and {NAME times FILE ?KEY VALUE ...?}. 0 or -1; clear
 * all the same. */
int th_failure_kinds_parse(th_call *c, int option, th_failure_kinds *out);
void th_failure_kinds_clear(th_failure_kinds *k);

#endif
