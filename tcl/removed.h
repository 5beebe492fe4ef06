/* SPDX-License-Identifier: GPL-3.0-or-later */
/* removed.h - names of commands and options that are gone, and the line that does the same now. */
#ifndef TH_TCL_REMOVED_H
#define TH_TCL_REMOVED_H
#include "tcl/command.h"

/* Rows that answer with that line. They are in ::tharsis, not exported, and in no help. */
extern const th_command th_removed_commands[];
/* Sets c->err where the row once had this option: -1; 0: it never had. */
int th_removed_option(th_call *c, const char *option);

#endif
