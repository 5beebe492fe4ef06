/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctrl_c.c - see ctrl_c.h. */
#include <config.h>
#include "tcl/shell/ctrl_c.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include "base/files/write_file.h"
#include "base/interrupt.h"

static struct {
    void (*reader)(void); /* of the interpreter's thread alone */
    Tcl_AsyncHandler handler;
    Tcl_Interp *interp;
    pthread_t waiter;
    atomic_int ending; /* the signal that ends the process; 0: none yet */
    void (*say_last)(void);
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

static void wake(int number)
{
    atomic_store(&state.ending, number);
    pthread_kill(state.waiter, SIGINT);
}

static void end_by(int number)
{
    th_new_files_end();
    if (number == SIGTERM && state.say_last)
        state.say_last();
    signal(number, SIG_DFL);
    raise(number);
}

static void *wait_for_signals(void *unused)
{
    sigset_t set;
    int number;
    (void)unused;
    interrupt_set(&set);
    while (sigwait(&set, &number) == 0) {
        if (atomic_load(&state.ending))
            end_by(atomic_load(&state.ending));
        if (!state.interp)
            continue;
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
    if (th_interrupt_is_held() || !th_interrupt_take())
        return code;
    if (state.reader)
        state.reader();
    else
        Tcl_CancelEval(state.interp, Tcl_NewStringObj("interrupted", -1), NULL, TCL_CANCEL_UNWIND);
    return code;
}

static void handle(int number)
{
    struct sigaction now, action = {.sa_handler = wake, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

int th_ctrl_c_start(Tcl_Interp *interp)
{
    state.interp = interp;
    state.handler = Tcl_AsyncCreate(cancel_script, NULL);
    if (pthread_create(&state.waiter, NULL, wait_for_signals, NULL) != 0)
        return -1;
    pthread_detach(state.waiter);
    handle(SIGTERM);
    handle(SIGHUP);
    return 0;
}

void th_ctrl_c_set_last_words(void (*say)(void))
{
    state.say_last = say;
}

void th_ctrl_c_set_reader(void (*on_ctrl_c)(void))
{
    state.reader = on_ctrl_c;
}
