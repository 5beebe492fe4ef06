/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h - one line on standard error, on a terminal only, twice a second.
 *   start -> (is_due -> show)* -> end. Wall-clock time never goes anywhere else. */
#ifndef TH_SESSION_PROGRESS_H
#define TH_SESSION_PROGRESS_H
#include <stdbool.h>

typedef struct th_progress {
    bool is_on, is_shown;
    double start_s, shown_s; /* monotonic clock */
} th_progress;

th_progress th_progress_start(bool is_quiet);
bool th_progress_is_due(const th_progress *p);
double th_progress_elapsed_s(const th_progress *p);
/* Replaces the line. */
void th_progress_show(th_progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void th_progress_end(th_progress *p); /* wipes the line */

#endif
