/* SPDX-License-Identifier: GPL-3.0-or-later */
/* warning.h - what is worth saying and is no error: a line on standard error, "Warning ID: COMMAND:
 * text", unless the session was told to suppress it. Points of a study are not heard. */
#ifndef TH_TCL_WARNING_H
#define TH_TCL_WARNING_H
#include "tcl/tcl_session.h"

void th_warn(const th_call *c, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void th_warn_of(const th_call *c, const th_error *e);

/* Ids that only ever warn, and so can be suppressed. Position in the list; -1 with what is known.
 */
int th_warning_find(const char *id, th_error *err);
const char *th_warning_id(int i, char *out, size_t size); /* NULL after the last */

#endif
