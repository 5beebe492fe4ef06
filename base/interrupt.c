/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interrupt.c - see interrupt.h. */
#include <config.h>
#include "base/interrupt.h"
#include "base/clock.h"
#include <stdatomic.h>

static struct {
    atomic_bool is_pending, is_held;
    atomic_int polls_left; /* until one finds Ctrl-C, see at_look; 0: not counted */
} state;

static _Thread_local double limit_s; /* by the monotonic clock; 0: none */

static void count_look(void)
{
    int left = atomic_load(&state.polls_left);
    while (left > 0 && !atomic_compare_exchange_weak(&state.polls_left, &left, left - 1))
        ;
    if (left == 1)
        atomic_store(&state.is_pending, true);
}

int th_interrupt_at_poll(int n)
{
    return atomic_exchange(&state.polls_left, n);
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

void th_interrupt_set_limit(double seconds)
{
    limit_s = seconds > 0 ? th_clock_s() + seconds : 0;
}

double th_interrupt_tighten_limit(double seconds)
{
    double before = limit_s, until = th_clock_s() + (seconds > 0 ? seconds : 0);
    if (before == 0 || until < before)
        limit_s = until;
    return before;
}

void th_interrupt_restore_limit(double before)
{
    limit_s = before;
}

bool th_interrupt_is_late(void)
{
    return limit_s > 0 && th_clock_s() >= limit_s;
}

void th_interrupt_raise(void)
{
    atomic_store(&state.is_pending, true);
}

void th_interrupt_hold(bool is_held)
{
    atomic_store(&state.is_held, is_held);
}

bool th_interrupt_is_held(void)
{
    return atomic_load(&state.is_held);
}
