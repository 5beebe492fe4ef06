/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c - see progress.h. */
#include <config.h>
#include "session/progress.h"
#include "base/clock.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double period_s = 0.5;

th_progress th_progress_start(bool is_quiet)
{
    double now = th_clock_s();
    return (th_progress){
        .is_on = !is_quiet && isatty(STDERR_FILENO), .start_s = now, .shown_s = now};
}

bool th_progress_is_due(const th_progress *p)
{
    return p->is_on && th_clock_s() - p->shown_s >= period_s;
}

double th_progress_elapsed_s(const th_progress *p)
{
    return th_clock_s() - p->start_s;
}

/* Characters that stay on one line of the terminal: a line that wraps is not erased whole. */
static int width_of_line(void)
{
    struct winsize size;
    int columns = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        columns = size.ws_col;
    return columns - 1;
}

void th_progress_show(th_progress *p, const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "\r\033[K%.*s", width_of_line(), line);
    fflush(stderr);
    p->is_shown = true;
    p->shown_s = th_clock_s();
}

void th_progress_end(th_progress *p)
{
    if (p->is_shown)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    p->is_shown = false;
}
