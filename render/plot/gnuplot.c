/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot.c - gnuplot and dot as filters: a script in, a picture out, through files without a name.
 *   th_gnuplot_run, th_dot_run: files -> start -> wait -> read
 * gnuplot starts with default settings (-d), so nobody's ~/.gnuplot changes a picture. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "base/files/open_file.h"
#include "render/plot/plot.h"

extern char **environ;

enum { IN, OUT, ERRORS, N_STREAMS };

typedef struct {
    char *words[4];      /* the command, ended by NULL */
    const char *missing; /* what to do without it */
} filter;

/* Signals have their default actions, so that Ctrl-C ends it, whatever this process has blocked. */
static int start(const filter *f, FILE *const *streams, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    for (int i = 0; i < N_STREAMS; i++)
        posix_spawn_file_actions_adddup2(&actions, fileno(streams[i]), i);
    int failed = posix_spawnp(child, f->words[0], &actions, &attributes, f->words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

static int read_all(FILE *file, th_strbuf *out)
{
    char piece[16 * 1024];
    size_t n;
    rewind(file);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        th_strbuf_add_bytes(out, piece, n);
    return out->failed || ferror(file) ? -1 : 0;
}

/* The last line of its messages that is not empty, without the place in the script. */
static int failed_with(const filter *f, FILE *errors, th_error *err)
{
    th_strbuf said = TH_STRBUF_INIT;
    if (read_all(errors, &said) != 0 || !said.text)
        th_strbuf_add(&said, "it says nothing");
    char *line = said.text ? said.text : "";
    size_t n = strlen(line);
    while (n > 0 && line[n - 1] == '\n')
        line[--n] = '\0';
    char *last = strrchr(line, '\n');
    th_error_set(err, "TCL-0364", "%s: %.200s", f->words[0], last ? last + 1 : line);
    th_strbuf_clear(&said);
    return -1;
}

/* Neither program tells that its output was cut: every format has an end. */
static bool is_whole(const th_strbuf *picture)
{
    static const char *const ends[][2] = {
        {"\x89PNG", "IEND"}, {"%PDF", "%%EOF"}, {"<?xml", "</svg>"}};
    enum { TAIL = 32 }; /* bytes that the end is within */
    const char *last = picture->text + (picture->length > TAIL ? picture->length - TAIL : 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strncmp(picture->text, ends[i][0], strlen(ends[i][0])) == 0)
            return memmem(last, (size_t)(picture->text + picture->length - last), ends[i][1],
                          strlen(ends[i][1]));
    return true;
}

static int run(const filter *f, const char *script, FILE *const *streams, th_strbuf *out,
               th_error *err)
{
    pid_t child;
    int status = 0;
    if (fputs(script, streams[IN]) < 0 || fflush(streams[IN]) != 0)
        return th_error_set(err, "TCL-0365", "a temporary file cannot be written: %s",
                            strerror(errno));
    rewind(streams[IN]);
    int failed = start(f, streams, &child);
    if (failed != 0)
        return th_error_set(err, "TCL-0366", "%s draws pictures and cannot be started (%s): %s",
                            f->words[0], strerror(failed), f->missing);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return failed_with(f, streams[ERRORS], err);
    if (read_all(streams[OUT], out) != 0 || out->length == 0)
        return failed_with(f, streams[ERRORS], err);
    return is_whole(out)
               ? 0
               : th_error_set(err, "TCL-1340",
                              "%s could not write the whole picture: no space is left, or "
                              "the limit on the size of files",
                              f->words[0]);
}

static int run_filter(const filter *f, const char *script, th_strbuf *out, th_error *err)
{
    FILE *streams[N_STREAMS] = {NULL};
    int failed = 0;
    if (th_file_policy_now() && th_file_policy_now()->starts_no_programs)
        return th_error_set(err, "TCL-1240",
                            "%s draws this picture, and a safe session starts no programs: "
                            "must be bars, stacks or a heat map in .txt, or a .gp or .dot file",
                            f->words[0]);
    for (int i = 0; !failed && i < N_STREAMS; i++) {
        streams[i] = tmpfile();
        if (!streams[i])
            failed =
                th_error_set(err, "TCL-0367", "no temporary file can be made: %s", strerror(errno));
    }
    if (!failed)
        failed = run(f, script, streams, out, err);
    for (int i = 0; i < N_STREAMS; i++)
        if (streams[i])
            fclose(streams[i]);
    return failed;
}

int th_gnuplot_run(const char *script, th_strbuf *out, th_error *err)
{
    const filter gnuplot = {{"gnuplot", "-d", "-", NULL},
                            "install it (Debian: gnuplot-nox), or write a .gp file"};
    return run_filter(&gnuplot, script, out, err);
}

int th_dot_run(const char *format, const char *script, th_strbuf *out, th_error *err)
{
    char option[16];
    snprintf(option, sizeof option, "-T%.10s", format);
    const filter dot = {{"dot", option, NULL},
                        "install it (Debian: graphviz), or write a .dot file"};
    return run_filter(&dot, script, out, err);
}
