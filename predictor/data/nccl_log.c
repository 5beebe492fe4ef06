/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log.c - reads the output of nccl-tests, and CSV files of the same measurements.
 *
 * A line of nccl-tests that is no comment: size, count, type, what the version and the collective
 * have of redop and root, then time, algbw, busbw, errors out of place, and mostly the same in
 * place. The head of the table ("#  size ... time") tells which field the time is; without it, it
 * is the eighth from the end. Lines "#  Rank" count the ranks; what follows "on" is the host. A
 * file may hold several logs: ranks begin anew after lines of times, the collective at "starting:".
 * Lines that end before busbw, as where a run was stopped, are left out. */
#include <config.h>

#include "predictor/data/nccl_log.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/csv.h"

enum { FIELDS_MAX = 20, FIELDS_LEAST = 11, FROM_END = 8, FROM_TIME = 3, HOSTS_MAX = 4096 };

const char *const th_nccl_names[TH_NCCL_KINDS + 1] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", NULL};

int th_nccl_find(const char *name)
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, "_perf") == 0)
        length -= 5;
    if (length == 8 && strncmp(name, "alltoall", 8) == 0)
        return TH_NCCL_ALL_TO_ALL;
    for (int i = 0; i < TH_NCCL_KINDS; i++)
        if (strlen(th_nccl_names[i]) == length && strncmp(th_nccl_names[i], name, length) == 0)
            return i;
    return -1;
}

void th_nccl_log_clear(th_nccl_log *log)
{
    th_free(log->rows);
    *log = (th_nccl_log){0};
}

static int add_row(th_nccl_log *log, const th_nccl_row *row, th_error *err)
{
    if (th_grow(&log->rows, &log->capacity, log->n + 1, sizeof *log->rows))
        return th_error_no_memory(err);
    log->rows[log->n++] = *row;
    return 0;
}

/* A positive number and nothing else; 0: it is none. */
static double positive(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end != text && *end == '\0' && value > 0 && value < 1e18 ? value : 0;
}

/* --- nccl-tests ------------------------------------------------------------------------------- */

typedef struct reading {
    const char *name;
    int line;
    int kind;       /* -1: unknown yet */
    bool is_other;  /* a collective without a kind: its times are left out */
    bool has_times; /* of these ranks */
    int time_at;    /* field of the time, by the head of the table; 0: none was there */
    int ranks, nodes;
    const char *host[HOSTS_MAX];
} reading;

static int split(char *line, char **field)
{
    int n = 0;
    for (char *at = strtok(line, " \t\r"); at && n < FIELDS_MAX; at = strtok(NULL, " \t\r"))
        field[n++] = at;
    return n;
}

static void read_rank(reading *r, char **field, int n)
{
    if (r->has_times)
        r->ranks = r->nodes = 0;
    r->has_times = false;
    r->ranks++;
    for (int i = 0; i + 1 < n; i++) {
        if (strcmp(field[i], "on") != 0)
            continue;
        for (int k = 0; k < r->nodes; k++)
            if (strcmp(r->host[k], field[i + 1]) == 0)
                return;
        if (r->nodes < HOSTS_MAX)
            r->host[r->nodes++] = field[i + 1];
        return;
    }
}

static void read_comment(reading *r, char **field, int n)
{
    if (n > 2 && strcmp(field[1], "Rank") == 0)
        read_rank(r, field, n);
    for (int i = n - 1; n > 2 && strcmp(field[1], "size") == 0 && i > 1; i--)
        if (strcmp(field[i], "time") == 0)
            r->time_at = i - 1; /* at last that of the first, out of place */
    for (int i = 0; i + 1 < n; i++) {
        if (strcmp(field[i], "starting:") != 0)
            continue;
        int kind = th_nccl_find(field[i + 1]);
        r->is_other = kind < 0;
        r->kind = kind < 0 ? r->kind : kind;
    }
}

static int read_line(th_nccl_log *log, reading *r, char **field, int n, th_error *err)
{
    th_nccl_row row = {.kind = (th_nccl_kind)r->kind, .nodes = r->nodes, .ranks = r->ranks};
    int least = r->time_at ? r->time_at + FROM_TIME : FIELDS_LEAST;
    if (n < least || strspn(field[0], "0123456789") != strlen(field[0]))
        return 0; /* other output */
    r->has_times = true;
    if (r->is_other)
        return 0;
    const char *time = field[r->time_at ? r->time_at : n - FROM_END];
    if (r->kind < 0)
        return th_error_set(err, "PRED-0170",
                            "%s:%d: which collective is not said: give -collective", r->name,
                            r->line);
    if (r->ranks < 2 || r->nodes < 1)
        return th_error_set(err, "PRED-0171",
                            "%s:%d: a line of times before two lines \"#  Rank ... on HOST\"",
                            r->name, r->line);
    row.bytes = positive(field[0]);
    row.us = positive(time);
    if (row.us == 0)
        return th_error_set(err, "PRED-0172",
                            "%s:%d: time \"%.40s\": must be a number of us above 0", r->name,
                            r->line, time);
    return row.bytes > 0 ? add_row(log, &row, err) : 0;
}

static int read_log(th_nccl_log *log, char *text, const char *name, int kind, th_error *err)
{
    reading *r = th_alloc_zero(1, sizeof *r);
    int failed = !r ? th_error_no_memory(err) : 0;
    if (!failed)
        *r = (reading){.name = name, .kind = kind};
    for (char *line = text, *next; !failed && line; line = next) {
        char *field[FIELDS_MAX];
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        int n = split(line, field);
        if (n > 0 && field[0][0] == '#')
            read_comment(r, field, n);
        else
            failed = read_line(log, r, field, n, err);
    }
    th_free(r);
    return failed;
}

/* --- CSV -------------------------------------------------------------------------------------- */

enum { NODES, GPUS, COLLECTIVE, BYTES, TIME, SYSTEM, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"nodes", "gpus",    "collective",
                                               "bytes", "time_us", "system"};

static int find_columns(const th_csv *c, int *at, const char *name, th_error *err)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        at[i] = -1;
        for (int k = 0; k < c->n_fields; k++)
            if (strcmp(c->field[k], columns[i]) == 0)
                at[i] = k;
        if (at[i] < 0 && i != SYSTEM)
            return th_error_set(err, "PRED-0173", "%s:%d: no column \"%s\"", name, c->line,
                                columns[i]);
    }
    return 0;
}

static int read_fields(th_nccl_log *log, const th_csv *c, const int *at, const char *name,
                       th_error *err)
{
    for (int i = 0; i < SYSTEM; i++)
        if (at[i] >= c->n_fields || (i != COLLECTIVE && positive(c->field[at[i]]) == 0))
            return th_error_set(err, "PRED-0174", "%s:%d: %s: must be a number above 0", name,
                                c->line, columns[i]);
    int kind = th_nccl_find(c->field[at[COLLECTIVE]]);
    if (kind < 0)
        return th_error_set(err, "PRED-0175",
                            "%s:%d: collective \"%.40s\": must be one of all_reduce, all_gather, "
                            "reduce_scatter, all_to_all, broadcast, reduce",
                            name, c->line, c->field[at[COLLECTIVE]]);
    double nodes = positive(c->field[at[NODES]]), ranks = positive(c->field[at[GPUS]]);
    if (ranks < 2 || nodes > ranks || ranks > 1e6)
        return th_error_set(err, "PRED-0176",
                            "%s:%d: gpus: must be at least 2, and at least as many as nodes", name,
                            c->line);
    th_nccl_row row = {.kind = (th_nccl_kind)kind,
                       .nodes = (int)nodes,
                       .ranks = (int)ranks,
                       .bytes = positive(c->field[at[BYTES]]),
                       .us = positive(c->field[at[TIME]])};
    return add_row(log, &row, err);
}

static int read_csv(th_nccl_log *log, char *text, const char *name, const char *system,
                    th_error *err)
{
    int at[N_COLUMNS], more, failed = 0;
    th_csv c = th_csv_open(text);
    more = th_csv_next(&c);
    if (more > 0)
        failed = find_columns(&c, at, name, err);
    while (!failed && more > 0 && (more = th_csv_next(&c)) > 0)
        if (!system || (at[SYSTEM] >= 0 && at[SYSTEM] < c.n_fields &&
                        strcmp(c.field[at[SYSTEM]], system) == 0))
            failed = read_fields(log, &c, at, name, err);
    if (!failed && more < 0)
        failed = th_error_no_memory(err);
    th_csv_clear(&c);
    return failed;
}

int th_nccl_log_read(th_nccl_log *log, char *text, const char *name, int kind, const char *system,
                     th_error *err)
{
    size_t first = strcspn(text, "\n");
    bool is_csv = text[0] != '#' && memchr(text, ',', first) && strstr(text, "time_us");
    *log = (th_nccl_log){0};
    int failed =
        is_csv ? read_csv(log, text, name, system, err) : read_log(log, text, name, kind, err);
    if (!failed && log->n == 0)
        failed = th_error_set(err, "PRED-0177", "%s: no times of collectives", name);
    if (failed)
        th_nccl_log_clear(log);
    return failed;
}
