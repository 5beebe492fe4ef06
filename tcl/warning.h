/* SPDX-License-Identifier: GPL-3.0-or-later */
/* warning.h - warnings: a line on standard error, "Warning ID: COMMAND: text", unless the session
 * suppresses it. Points of a study print none. */
#ifndef TH_TCL_WARNING_H
#define TH_TCL_WARNING_H
#include "base/notes.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"

void th_warn(const th_call *c, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void th_warn_of(const th_call *c, const th_error *e);

/* What the reader of a file left out (base/notes.h), unless it failed; clears the notes. */
void th_warn_notes(const th_call *c, const char *file, bool has_failed, th_strbuf *notes);

/* The ids of all warnings, which suppress_message can turn off. Index in the list; -1 with the
 * known ids. */
int th_warning_find(const char *id, th_error *err);
const char *th_warning_id(int i, char *out, size_t size); /* NULL after the last */

#endif
