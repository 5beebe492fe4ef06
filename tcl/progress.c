/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c - see progress.h. */
#include <config.h>
#include "tcl/progress.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double period_s = 0.5;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

th_progress th_progress_start(bool is_quiet)
{
    double now = now_s();
    return (th_progress){
        .is_on = !is_quiet && isatty(STDERR_FILENO), .start_s = now, .shown_s = now};
}

bool th_progress_is_due(const th_progress *p)
{
    return p->is_on && now_s() - p->shown_s >= period_s;
}

double th_progress_elapsed_s(const th_progress *p)
{
    return now_s() - p->start_s;
}

void th_progress_show(th_progress *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, args);
    fflush(stderr);
    va_end(args);
    p->is_shown = true;
    p->shown_s = now_s();
}

void th_progress_end(th_progress *p)
{
    if (p->is_shown)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    p->is_shown = false;
}
