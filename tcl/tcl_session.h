/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tcl_session.h - a session and all that needs the interpreter: breakpoints, output, the log,
 * studies.
 *   new -> commands -> free
 * The first member is the state that session/ knows; th_tcl_of finds the whole from it. */
#ifndef TH_TCL_TCL_SESSION_H
#define TH_TCL_TCL_SESSION_H
#include <stdatomic.h>
#include <tcl.h>
#include "session/session.h"
#include "sim/observe/event_recorder.h"
#include "session/objects/run_stop.h"

typedef struct th_breakpoint th_breakpoint; /* tcl/objects/breakpoint.h */

enum { TH_WARNINGS_MAX = 32 }; /* kinds of them, see warning.c */

typedef struct th_tcl_session {
    th_session state; /* first, see th_tcl_of */
    Tcl_Interp *interp;
    Tcl_ThreadId thread;             /* of the interpreter */
    atomic_bool has_stopped_scripts; /* procedures of designs that run now are to end */
    const struct th_mailbox
        *mailbox; /* to ranks that do items (core/item.h); NULL: there are none */
    bool is_suppressed[TH_WARNINGS_MAX]; /* warnings, by their place in warning.c */
    struct th_log *log;                  /* NULL: none is open */
    th_breakpoint **breakpoints;
    size_t n_breakpoints, breakpoint_capacity;
    int64_t breakpoints_made;
    th_event_recorder recorder; /* of what breakpoints are about */
    bool *watched_links;        /* that conditions of breakpoints name */
    size_t watched_links_capacity;
    th_step_probe *probe;   /* of the present step; NULL: none */
    th_run_stop stop;       /* of the present run */
    struct th_store *store; /* the file that a procedure of lib/ has open; NULL: none */
    bool is_item;           /* of parallel_foreach or a study: others look after Ctrl-C */
    bool was_stopped;       /* the command that lib/ answers ends by Ctrl-C */
    bool is_running;        /* inside run or step: their scripts may not start another */
    bool stop_asked;
    const struct th_file_policy
        *files;                     /* of its commands (base/files/open_file.h); NULL: any file */
    const struct th_call *lib_call; /* that a procedure of lib/ answers; NULL: none */
    bool is_typed;                  /* the shell runs what a person typed at its prompt */
} th_tcl_session;

/* commands/tcl_session_parts.c */
th_session *th_session_new(Tcl_Interp *interp); /* NULL: memory is out */
void th_session_free(th_session *s); /* close_trace and end_log tell what was lost; accepts NULL */

static inline th_tcl_session *th_tcl_of(const th_session *s)
{
    return (th_tcl_session *)s;
}

/* Evaluates a command of n words, fresh objects or referenced ones, at the global level. Returns a
 * Tcl code; the result stays in the interpreter. */
int th_eval_words(Tcl_Interp *interp, int n, Tcl_Obj *const *words);

/* Writes text to the interpreter's standard output. 0 or -1. */
int th_session_print(th_session *s, const char *text, th_error *err);
/* The bytes become the whole of the file (base/files/write_file.h), or are added to its end;
 * folders that are missing on the way are made. 0, or -1: the file is as it was. */
int th_session_write_file(th_session *s, const char *path, bool append, const th_strbuf *bytes,
                          th_error *err);
struct th_plot;
/* core/core_plot.c: the same with a picture of p, which it frees; NULL: err says why. */
int th_write_plot(th_session *s, struct th_plot *p, const char *path, th_error *err);
/* A safe interpreter: its commands open only files that come with Tharsis, from here on. */
void th_session_refuse_files(th_session *s);
int th_session_make_folder_of(th_session *s, const char *path, th_error *err);

/* commands/tcl_session_parts.c: close the trace or the log, if open, when a session ends. 0, or
 * -1: it is closed, but not all of it could be written. */
int th_session_close_trace(th_session *s, th_error *err);
int th_session_end_log(th_session *s, th_error *err);

/* Was the present command typed at the prompt, outside procedures and files? Only then do
 * beginnings of names stand for commands and options. */
bool th_session_is_typed(const th_session *s);

/* True once after Ctrl-C, or while the interpreter is being cancelled. Loops poll it. */
bool th_session_is_interrupted(th_session *s);

#endif
