/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_guard.c - see stack_guard.h. The handler runs on a stack of its own (sigaltstack), and
 * calls only what a signal handler may. */
#include <config.h>
#include "tcl/stack_guard.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* A fault so far from the lowest address of the stack is one of the stack. Linux leaves a gap of
 * 1 MiB below it. */
enum { BELOW = 1 << 20, ABOVE = 1 << 18, HANDLER_STACK = 1 << 15 };

#ifdef __SANITIZE_ADDRESS__ /* it says more */
enum { IS_OF_SANITIZER = 1 };
#else
enum { IS_OF_SANITIZER = 0 };
#endif

static _Thread_local uintptr_t lowest; /* of the stack; 0: unknown */
static _Thread_local char handler_stack[HANDLER_STACK];

static void end_at_the_end_of_the_stack(int number, siginfo_t *fault, void *unused)
{
    static const char text[] = "tharsis: nested too deeply: the stack is used up\n";
    uintptr_t at = (uintptr_t)fault->si_addr;
    (void)unused;
    if (lowest > BELOW && at >= lowest - BELOW && at < lowest + ABOVE) {
        ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
        _exit(n < 0 ? EXIT_FAILURE + 1 : EXIT_FAILURE);
    }
    signal(number, SIG_DFL); /* it comes again */
}

void th_stack_guard_install(void)
{
    struct sigaction action = {.sa_sigaction = end_at_the_end_of_the_stack,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!IS_OF_SANITIZER)
        sigaction(SIGSEGV, &action, NULL);
    th_stack_guard_thread();
}

void th_stack_guard_thread(void)
{
    const stack_t own = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    stack_t now;
    pthread_attr_t all;
    void *low = NULL;
    size_t size = 0;
    if (sigaltstack(NULL, &now) != 0 || /* a sanitizer's stays */
        ((now.ss_flags & SS_DISABLE) && sigaltstack(&own, NULL) != 0) ||
        pthread_getattr_np(pthread_self(), &all) != 0)
        return;
    pthread_attr_getstack(&all, &low, &size);
    pthread_attr_destroy(&all);
    lowest = (uintptr_t)low;
}
