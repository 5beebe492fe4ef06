/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failure_option.h - files of times of failures. */
#ifndef TH_TCL_RELIABILITY_FAILURE_OPTION_H
#define TH_TCL_RELIABILITY_FAILURE_OPTION_H
#include "base/strbuf.h"
#include "base/units.h"
#include "tcl/command.h"

/* The times of a file, one in a line, ascending; the caller's (th_free). notes (NULL: not wanted)
 * get a cut end. 0 or -1. */
int th_failure_times_read(const char *path, double **times, int64_t *n, th_strbuf *notes,
                          th_error *err);
/* Those of the file that a word names, with warnings of c for the notes. 0 or -1. */
int th_call_failure_times(const th_call *c, Tcl_Obj *word, double **times, int64_t *n,
                          th_error *err);

#endif
