/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrl_c.c - see ctrl_c.h. */
#include <config.h>
#include "tcl/shell/ctrl_c.h"
#include <pthread.h>
#include <signal.h>
#include "report/interrupt.h"

static struct {
    void (*reader)(void); /* of the interpreter's thread alone */
    Tcl_AsyncHandler handler;
    Tcl_Interp *interp;
} state;

static void interrupt_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
}

/* In a new process: a mask outlives exec, and Ctrl-C is to end programs that a script starts. */
static void unblock(void)
{
    sigset_t set;
    interrupt_set(&set);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void th_ctrl_c_block(void)
{
    sigset_t set;
    interrupt_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_atfork(NULL, NULL, unblock);
}

static void *wait_for_signals(void *unused)
{
    sigset_t set;
    int number;
    (void)unused;
    interrupt_set(&set);
    while (sigwait(&set, &number) == 0) {
        th_interrupt_raise();
        Tcl_AsyncMark(state.handler);
    }
    return NULL;
}

/* Tcl calls this between two commands, in the interpreter's thread. */
static int cancel_script(ClientData unused, Tcl_Interp *interp, int code)
{
    (void)unused;
    (void)interp;
    if (!th_interrupt_take())
        return code;
    if (state.reader)
        state.reader();
    else
        Tcl_CancelEval(state.interp, Tcl_NewStringObj("interrupted", -1), NULL, TCL_CANCEL_UNWIND);
    return code;
}

int th_ctrl_c_start(Tcl_Interp *interp)
{
    pthread_t thread;
    state.interp = interp;
    state.handler = Tcl_AsyncCreate(cancel_script, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, NULL) != 0)
        return -1;
    pthread_detach(thread);
    return 0;
}

void th_ctrl_c_set_reader(void (*on_ctrl_c)(void))
{
    state.reader = on_ctrl_c;
}
