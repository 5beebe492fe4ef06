/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line_editor.c - see line_editor.h. GNU readline, through its interface for programs with an event
 * loop of their own: Tcl calls characters_ready when something is typed, and in between serves
 * timers and Ctrl-C. Ctrl-C while a line is typed: the thread that waits for signals marks the
 * handler, and Tcl calls empty_line in the interpreter's thread between two events.
 *
 * readline keeps the state of its one terminal in variables of its own, so what its functions must
 * know is a variable here too. */
#include <config.h>
#include "tcl/shell/line_editor.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <readline/readline.h>
#include <readline/history.h>
#include "base/strbuf.h"
#include "tcl/command.h"
#include "tcl/shell/ctrl_c.h"
#include "tcl/tcl_session.h"

enum { HISTORY_LINES = 1000 };

static struct {
    Tcl_Interp *interp;
    const char *first_prompt;
    char *history_file; /* NULL: none */
    Tcl_Obj *line;      /* referenced; NULL: not yet, or the end of the input */
    bool is_over, is_dropped;
} editor;

/* ---- a line ---- */

/* readline calls this when a line is whole, with NULL at the end of the input. */
static void take_line(char *text)
{
    editor.is_over = true;
    rl_callback_handler_remove();
    if (!text)
        return;
    editor.line = Tcl_NewStringObj(text, -1);
    Tcl_IncrRefCount(editor.line);
    if (text[strspn(text, " \t")] != '\0') {
        add_history(text);
        if (editor.history_file) /* after every line, since the program may end in many ways */
            write_history(editor.history_file);
    }
    free(text);
}

static void characters_ready(ClientData unused, int mask)
{
    (void)unused, (void)mask;
    rl_callback_read_char();
}

/* Between two events; the line is empty, on a new line of the terminal, and begins a new
 * command. */
static void empty_line(void)
{
    editor.is_dropped = true;
    rl_callback_sigcleanup(); /* leaves a search, a macro, an argument */
    rl_replace_line("", 0);
    fputs("^C\n", stdout);
    fflush(stdout);
    rl_set_prompt(editor.first_prompt);
    rl_on_new_line();
    rl_forced_update_display();
}

Tcl_Obj *th_line_editor_read(Tcl_Interp *interp, const char *prompt, bool *dropped)
{
    (void)interp;
    editor.line = NULL;
    editor.is_over = editor.is_dropped = false;
    th_ctrl_c_set_reader(empty_line);
    rl_callback_handler_install(prompt, take_line);
    Tcl_CreateFileHandler(STDIN_FILENO, TCL_READABLE, characters_ready, NULL);
    while (!editor.is_over)
        Tcl_DoOneEvent(TCL_ALL_EVENTS);
    Tcl_DeleteFileHandler(STDIN_FILENO);
    th_ctrl_c_set_reader(NULL);
    *dropped = editor.is_dropped;
    return editor.line;
}

/* ---- completion ---- */

/* "::tharsis::Complete WORD START END LINE": its list, for the interpreter to hold. 0 or -1. */
static int complete(const char *word, int start, int end, Tcl_Obj ***out, Tcl_Size *n)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::tharsis::Complete", -1),
                              Tcl_NewStringObj(word, -1), Tcl_NewIntObj(start), Tcl_NewIntObj(end),
                              Tcl_NewStringObj(rl_line_buffer, -1)};
    if (th_eval_words(editor.interp, 5, words) != TCL_OK)
        return -1;
    return Tcl_ListObjGetElements(NULL, Tcl_GetObjResult(editor.interp), n, out) == TCL_OK ? 0 : -1;
}

/* The matches in the form that readline wants: their common beginning, then all if they are
 * several, then NULL; it frees them. NULL: there are none, and it offers files. */
static char **attempt(const char *word, int start, int end)
{
    Tcl_Obj **found;
    Tcl_Size n = 0;
    Tcl_InterpState saved = Tcl_SaveInterpState(editor.interp, TCL_OK);
    char **matches = NULL;
    if (complete(word, start, end, &found, &n) == 0 && n > 0 &&
        (matches = calloc((size_t)n + 1, sizeof *matches)))
        for (Tcl_Size i = 0; i < n; i++)
            matches[i] = strdup(Tcl_GetString(found[i]));
    Tcl_RestoreInterpState(editor.interp, saved);
    return matches;
}

/* ---- opening ---- */

static void read_old_lines(void)
{
    const char *home = getenv("HOME");
    th_strbuf path = TH_STRBUF_INIT;
    if (!home)
        return;
    th_strbuf_printf(&path, "%s/.tharsis_history", home);
    stifle_history(HISTORY_LINES);
    editor.history_file = path.text;
    if (editor.history_file)
        read_history(editor.history_file);
}

void th_line_editor_open(Tcl_Interp *interp, const char *prompt)
{
    editor.interp = interp;
    editor.first_prompt = prompt;
    rl_readline_name = "tharsis";
    rl_catch_signals = 0; /* ctrl_c.c waits for them */
    rl_attempted_completion_function = attempt;
    rl_basic_word_break_characters = " \t\n\"\\;{}[]";
    rl_completer_word_break_characters = rl_basic_word_break_characters;
    using_history();
    read_old_lines();
}
