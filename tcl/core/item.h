/* SPDX-License-Identifier: GPL-3.0-or-later */
/* item.h - one item of parallel_foreach, as is a point of a study: a script, in an interpreter and
 * a session of its own.
 *   begin_thread once per thread -> run*
 * An item leaves no state in the process, so no result depends on which items were run before it,
 * or where. Jobs and outcomes are lists of Tcl as texts, for threads and ranks alike:
 *   job      SCRIPT FINISH OF SECONDS IS_SAFE AUTO_PATH VARIABLES
 *            FINISH   words of a command, called with the result of the script; nothing: none
 *            OF       whose script it is, for what it may not do
 *            SECONDS  of wall time, after which it fails; 0: no limit
 *            VARIABLES  names and values
 *   outcome  STATE TEXT DIGEST
 *            STATE    done, failed or stopped, which is no result
 *            TEXT     what FINISH or else the script returned, or the error in one line
 *            DIGEST   of the mapping or program that the script leaves; nothing: there is none */
#ifndef TH_TCL_CORE_ITEM_H
#define TH_TCL_CORE_ITEM_H
#include <pthread.h>
#include "mapper/serialize/serializer.h"
#include "tcl/tcl_session.h"

enum {
    TH_JOB_SCRIPT,
    TH_JOB_FINISH,
    TH_JOB_OF,
    TH_JOB_SECONDS,
    TH_JOB_IS_SAFE,
    TH_JOB_AUTO_PATH,
    TH_JOB_VARIABLES,
    TH_JOB_WORDS
};

/* Others may cancel the interpreter of an item while it runs: under the lock *interp is it, or
 * NULL. */
typedef struct th_item_guard {
    pthread_mutex_t *lock;
    const bool *is_stopping;
    Tcl_Interp **interp;
} th_item_guard;

/* Discards what scripts print in this thread from here on. */
void th_items_begin_thread(void);
/* The outcome, which the caller frees; NULL: memory is out. threads: of searches of the script;
 * guard NULL: none. */
char *th_item_run(const char *job, int threads, const th_item_guard *guard);
/* In another process: as th_item_run, of a message. 0, or -1: memory is out. */
int th_item_serve(void *unused, const void *bytes, size_t n, th_serializer *answer);
/* An interpreter for an item, without exit and cd. NULL: err says why. */
Tcl_Interp *th_item_interp(bool is_safe, const char *of, th_error *err);

/* How bytes get to other processes, 1 .. n, and back (main_mpi.c). */
typedef struct th_mailbox {
    int (*n)(void);
    void (*send)(int to, const void *bytes, size_t n);
    /* The length of a message that has arrived, which *bytes grows to hold; -1: none, -2: memory is
     * out. */
    long (*receive)(int *from, char **bytes, size_t *capacity);
} th_mailbox;

#endif
