/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.c - see interrupt.h. */
#include <config.h>
#include "report/session/interrupt.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    atomic_bool is_pending, is_dropped;
    atomic_int looks_left; /* until one finds Ctrl-C, see at_look; 0: nobody counts */
    _Atomic(const char *) prompt;
    void (*reader)(void); /* of the interpreter's thread alone */
    Tcl_AsyncHandler handler;
    Tcl_Interp *interp;
} state;

static _Thread_local double limit_s; /* by the monotonic clock; 0: none */

static void interrupt_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
}

void th_interrupt_block(void)
{
    sigset_t set;
    interrupt_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void show_prompt(const char *prompt)
{
    if (write(STDOUT_FILENO, "\n", 1) < 0 || write(STDOUT_FILENO, prompt, strlen(prompt)) < 0)
        return; /* nobody is looking */
}

static void *wait_for_signals(void *unused)
{
    sigset_t set;
    int number;
    (void)unused;
    interrupt_set(&set);
    while (sigwait(&set, &number) == 0) {
        const char *prompt = atomic_load(&state.prompt);
        if (prompt != NULL) {
            atomic_store(&state.is_dropped, true);
            show_prompt(prompt);
            continue;
        }
        atomic_store(&state.is_pending, true);
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
    if (state.reader != NULL)
        state.reader();
    else
        Tcl_CancelEval(state.interp, Tcl_NewStringObj("interrupted", -1), NULL, TCL_CANCEL_UNWIND);
    return code;
}

int th_interrupt_start(Tcl_Interp *interp)
{
    pthread_t thread;
    state.interp = interp;
    state.handler = Tcl_AsyncCreate(cancel_script, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, NULL) != 0)
        return -1;
    pthread_detach(thread);
    return 0;
}

static void count_look(void)
{
    int left = atomic_load(&state.looks_left);
    while (left > 0 && !atomic_compare_exchange_weak(&state.looks_left, &left, left - 1))
        ;
    if (left == 1)
        atomic_store(&state.is_pending, true);
}

int th_interrupt_at_look(int n)
{
    return atomic_exchange(&state.looks_left, n);
}

bool th_interrupt_take(void)
{
    count_look();
    return atomic_exchange(&state.is_pending, false);
}

bool th_interrupt_is_pending(void)
{
    count_look();
    return atomic_load(&state.is_pending) || th_interrupt_is_late();
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void th_interrupt_set_limit(double seconds)
{
    limit_s = seconds > 0 ? now_s() + seconds : 0;
}

bool th_interrupt_is_late(void)
{
    return limit_s > 0 && now_s() >= limit_s;
}

void th_interrupt_set_prompt(const char *prompt)
{
    atomic_store(&state.prompt, prompt);
}

bool th_interrupt_take_dropped(void)
{
    return atomic_exchange(&state.is_dropped, false);
}

void th_interrupt_set_reader(void (*is_told)(void))
{
    state.reader = is_told;
}
