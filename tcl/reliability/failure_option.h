/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failure_option.h - durations in options, and files of times of failures. */
#ifndef TH_TCL_RELIABILITY_FAILURE_OPTION_H
#define TH_TCL_RELIABILITY_FAILURE_OPTION_H
#include "base/strbuf.h"
#include "tcl/command.h"

/* A duration in seconds: "30min", "50000h", or a time with ps and ns. 0, or -1 (*e). */
int th_parse_seconds(const char *text, double *out, th_error *e);
/* The option's duration; otherwise where it was not given. 0 or -1. */
int th_call_seconds(th_call *c, int option, double otherwise, double *out);
/* The times of a file, one in a line, ascending; the caller's (th_free). notes (NULL: not wanted)
 * get a cut end. 0 or -1. */
int th_failure_times_read(const char *path, double **times, int64_t *n, th_strbuf *notes,
                          th_error *err);

#endif
