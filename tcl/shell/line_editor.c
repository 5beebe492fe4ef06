/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line_editor.c - see line_editor.h. tclreadline provides GNU readline; its own loop is not used,
 * because it supports neither Ctrl-C nor the log. Ctrl-C while a line is typed: the thread that
 * waits for signals marks the handler, and Tcl calls empty_line in the interpreter's thread between
 * two events of the loop in which tclreadline reads. tclreadline has no command to empty the line,
 * so the functions of readline are looked up in the loaded library. */
#include <config.h>
#include "tcl/shell/line_editor.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tcl/shell/ctrl_c.h"
#include "tcl/tcl_session.h"

/* The session's state belongs to the terminal, of which a process has one. */
static struct {
    const char *first_prompt;
    bool is_at_end, is_dropped;
    void (*replace_line)(const char *text, int clears_undo);
    int (*set_prompt)(const char *prompt), (*new_line)(void), (*redisplay)(void);
} editor;

/* Between two events; the line is empty, on a new line of the terminal, and begins a new
 * command. */
static void empty_line(void)
{
    editor.is_dropped = true;
    if (!editor.replace_line || !editor.set_prompt || !editor.new_line || !editor.redisplay)
        return;
    editor.replace_line("", 0);
    fputs("^C\n", stdout);
    fflush(stdout);
    editor.set_prompt(editor.first_prompt);
    editor.new_line();
    editor.redisplay();
}

static int eof_reached(ClientData unused, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    (void)unused;
    (void)interp;
    (void)objc;
    (void)objv;
    editor.is_at_end = true;
    return TCL_OK;
}

/* The library of tclreadline depends on readline's, so its handle finds those functions.
 * Exclamation marks are Tcl's, not history's. */
static void find_functions(Tcl_Interp *interp)
{
    if (Tcl_Eval(interp, "lindex [lsearch -inline -glob [info loaded {}] *tclreadline*] 0") !=
        TCL_OK)
        return;
    void *library = dlopen(Tcl_GetStringResult(interp), RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return;
    *(void **)&editor.replace_line = dlsym(library, "rl_replace_line");
    *(void **)&editor.set_prompt = dlsym(library, "rl_set_prompt");
    *(void **)&editor.new_line = dlsym(library, "rl_on_new_line");
    *(void **)&editor.redisplay = dlsym(library, "rl_forced_update_display");
    char *expansion = dlsym(library, "history_expansion_char");
    if (expansion)
        *expansion = '\0';
}

static const char setup[] =
    "package require tclreadline\n"
    "if {[info exists ::env(HOME)]} {\n"
    "    set ::tharsis::history_file [file join $::env(HOME) .tharsis_history]\n"
    "} else {\n"
    "    set ::tharsis::history_file {}\n"
    "}\n"
    "::tclreadline::readline initialize $::tharsis::history_file\n"
    "::tclreadline::readline customcompleter ::tharsis::Complete\n"
    "set ::tclreadline::historyLength 1000\n"
    "::tclreadline::readline eofchar ::tharsis::EndOfInput\n";

/* After every line, since the program may end in many ways. */
static const char keep_history[] =
    "if {$::tharsis::history_file ne {}} {\n"
    "    catch {::tclreadline::readline write $::tharsis::history_file}\n"
    "}\n";

bool th_line_editor_open(Tcl_Interp *interp, const char *prompt)
{
    editor.first_prompt = prompt;
    Tcl_CreateObjCommand(interp, "::tharsis::EndOfInput", eof_reached, NULL, NULL);
    bool is_open = Tcl_EvalEx(interp, setup, -1, TCL_EVAL_GLOBAL) == TCL_OK;
    if (is_open)
        find_functions(interp);
    Tcl_ResetResult(interp);
    return is_open;
}

Tcl_Obj *th_line_editor_read(Tcl_Interp *interp, const char *prompt, bool *dropped)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::tclreadline::readline", -1),
                              Tcl_NewStringObj("read", -1), Tcl_NewStringObj(prompt, -1)};
    Tcl_Obj *line = NULL;
    editor.is_at_end = editor.is_dropped = false;
    th_ctrl_c_set_reader(empty_line);
    int code = th_eval_words(interp, 3, words);
    th_ctrl_c_set_reader(NULL);
    *dropped = editor.is_dropped;
    if (code == TCL_OK && !editor.is_at_end) {
        line = Tcl_GetObjResult(interp);
        Tcl_IncrRefCount(line);
        Tcl_EvalEx(interp, keep_history, -1, TCL_EVAL_GLOBAL);
    }
    Tcl_ResetResult(interp);
    return line;
}
