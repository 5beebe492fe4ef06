/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_crash.c - see study_crash.h.
 *
 * What a signal handler needs is static, as signals are the whole process's: the name of the file,
 * and a place for each thread that is at a point. A thread that crashes at a point notes that one;
 * one that is at none (a thread of a search, say) notes all that are at work. The handler calls
 * nothing but open, write and close, puts back what was there before it, and raises the signal
 * again. */
#include <config.h>
#include "tcl/study/study_crash.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"

enum { PLACES = 1024, DIGITS_MAX = 20 };

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_SIGNALS = sizeof crash_signals / sizeof *crash_signals };

static char path[PATH_MAX];
static struct sigaction before[N_SIGNALS];
static _Atomic int64_t at_work[PLACES]; /* 0: free */
static _Thread_local int own = -1;      /* this thread's place; -1: none */

static const char *crashes_path(const char *study_path, char *out, size_t size)
{
    int n = snprintf(out, size, "%s-crashes", study_path);
    return n > 0 && (size_t)n < size ? out : "";
}

/* ---- the handler ---- */

static void note(int file, int64_t number)
{
    char line[DIGITS_MAX + 2], *at = line + sizeof line;
    *--at = '\n';
    for (; number > 0 && at > line; number /= 10)
        *--at = (char)('0' + number % 10);
    ssize_t written = write(file, at, (size_t)(line + sizeof line - at));
    (void)written; /* nothing can be done */
}

static void note_points(void)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    for (int i = 0; i < PLACES; i++) {
        int64_t number = atomic_load(&at_work[i]);
        if (number > 0 && (own < 0 || own == i))
            note(file, number);
    }
    close(file);
}

static void on_crash(int signal)
{
    note_points();
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(crash_signals[i], &before[i], NULL);
    raise(signal);
}

/* ---- who is guarded ---- */

void th_crash_guard(const char *study_path)
{
    struct sigaction a = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    if (path[0] != '\0' || crashes_path(study_path, path, sizeof path)[0] == '\0')
        return;
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(crash_signals[i], &a, &before[i]);
}

void th_crash_unguard(void)
{
    for (int i = 0; path[0] != '\0' && i < N_SIGNALS; i++)
        sigaction(crash_signals[i], &before[i], NULL);
    path[0] = '\0';
}

void th_crash_enter(int64_t number)
{
    for (int i = 0; own < 0 && i < PLACES; i++) {
        int64_t nobody = 0;
        if (atomic_compare_exchange_strong(&at_work[i], &nobody, number))
            own = i;
    }
}

void th_crash_leave(void)
{
    if (own >= 0)
        atomic_store(&at_work[own], 0);
    own = -1;
}

/* ---- afterwards ---- */

int th_crashes_read(th_crashes *c, const char *study_path, th_error *err)
{
    char name[PATH_MAX], line[DIGITS_MAX + 3];
    *c = (th_crashes){.n = 0};
    FILE *file = fopen(crashes_path(study_path, name, sizeof name), "r");
    int failed = 0;
    while (!failed && file && fgets(line, sizeof line, file)) {
        if (th_grow(&c->points, &c->capacity, c->n + 1, sizeof *c->points) != 0)
            failed = th_error_no_memory(err);
        else
            c->points[c->n++] = strtoll(line, NULL, 10);
    }
    if (file)
        fclose(file);
    if (failed)
        th_crashes_clear(c);
    return failed;
}

int th_crashes_count(const th_crashes *c, int64_t number)
{
    int n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->points[i] == number;
    return n;
}

void th_crashes_clear(th_crashes *c)
{
    th_free(c->points);
    *c = (th_crashes){.n = 0};
}

void th_crashes_forget(const char *study_path)
{
    char name[PATH_MAX];
    unlink(crashes_path(study_path, name, sizeof name));
}
