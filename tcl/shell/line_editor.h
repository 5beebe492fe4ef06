/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line_editor.h - reads lines at the prompt with editing, history and completion, by GNU readline.
 *   open -> read* */
#ifndef TH_TCL_SHELL_LINE_EDITOR_H
#define TH_TCL_SHELL_LINE_EDITOR_H
#include <stdbool.h>
#include <tcl.h>

/* prompt: of a new command, kept. */
void th_line_editor_open(Tcl_Interp *interp, const char *prompt);
/* The line without its end, kept in ~/.tharsis_history, for the caller to drop; NULL at the end of
 * the input. Ctrl-C empties the line, and *dropped is set: what was typed before of the same
 * command is to be forgotten. */
Tcl_Obj *th_line_editor_read(Tcl_Interp *interp, const char *prompt, bool *dropped);

#endif
