/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log.c - reads the output of nccl-tests, and CSV files of the same measurements.
 *
 * A line of nccl-tests that is no comment: size, count, type, what the version and the collective
 * have of redop and root, then time, algbw, busbw, errors out of place, and mostly the same in
 * place. The head of the table ("#  size ... time") tells which field the time is; without it, it
 * is the eighth from the end. Lines "#  Rank" count the ranks; what follows "on" is the host. A
 * file may hold several logs: ranks begin anew with rank 0 and after lines of times, the collective
 * at "starting:". Lines that end before busbw, as where a run was stopped, those of 0 bytes and of
 * collectives without a kind are left out, and counted. */
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
    int kind;         /* -1: unknown yet */
    int given_kind;   /* by the caller; -1: none */
    bool is_other;    /* a collective without a kind: its times are left out */
    bool has_times;   /* of these ranks */
    bool is_cpu_time; /* by the head of the table */
    int time_at;      /* field of the time, by the head of the table; 0: none was there */
    int ranks, nodes;
    const char *host[HOSTS_MAX];
    const char *group; /* of the ranks; NULL: not said */
} reading;

static int split(char *line, char **field)
{
    int n = 0;
    for (char *at = strtok(line, " \t\r"); at && n < FIELDS_MAX; at = strtok(NULL, " \t\r"))
        field[n++] = at;
    return n;
}

static void add_host(reading *r, const char *host)
{
    for (int k = 0; k < r->nodes; k++)
        if (strcmp(r->host[k], host) == 0)
            return;
    if (r->nodes < HOSTS_MAX)
        r->host[r->nodes++] = host;
}

/* #  Rank  0 Group  0 Pid  7 on HOST device ... */
static int read_rank(reading *r, char **field, int n, th_error *err)
{
    if (r->has_times || strcmp(field[2], "0") == 0) {
        r->ranks = r->nodes = 0;
        r->group = NULL;
    }
    r->has_times = false;
    r->ranks++;
    for (int i = 3; i + 1 < n; i++) {
        if (strcmp(field[i], "on") == 0) {
            add_host(r, field[i + 1]);
            return 0;
        }
        if (strcmp(field[i], "Group") != 0)
            continue;
        if (r->group && strcmp(r->group, field[i + 1]) != 0)
            return th_error_set(err, "PRED-0183",
                                "%s:%d: ranks in several groups, whose collectives run at once: "
                                "one group was expected",
                                r->name, r->line);
        r->group = field[i + 1];
    }
    return 0;
}

static void read_head(reading *r, char **field, int n)
{
    for (int i = n - 1; i > 1; i--) {
        bool is_cpu_time = strcmp(field[i], "cputime") == 0;
        if (!is_cpu_time && strcmp(field[i], "time") != 0)
            continue;
        r->time_at = i - 1; /* at last that of the first, out of place */
        r->is_cpu_time = is_cpu_time;
    }
}

static int read_start(reading *r, const char *collective, th_error *err)
{
    int kind = th_nccl_find(collective);
    r->is_other = kind < 0;
    if (kind >= 0 && r->given_kind >= 0 && kind != r->given_kind)
        return th_error_set(err, "PRED-0182", "%s:%d: the log measures %s, and -collective says %s",
                            r->name, r->line, th_nccl_names[kind], th_nccl_names[r->given_kind]);
    r->kind = kind < 0 ? r->kind : kind;
    return 0;
}

static int read_comment(reading *r, char **field, int n, th_error *err)
{
    if (n > 2 && strcmp(field[1], "Rank") == 0)
        return read_rank(r, field, n, err);
    if (n > 2 && strcmp(field[1], "size") == 0)
        read_head(r, field, n);
    for (int i = 0; i + 1 < n; i++)
        if (strcmp(field[i], "starting:") == 0)
            return read_start(r, field[i + 1], err);
    return 0;
}

static int check_line(const reading *r, th_error *err)
{
    if (r->is_cpu_time)
        return th_error_set(err, "PRED-0184",
                            "%s:%d: times of the host (-C): times of collectives were expected",
                            r->name, r->line);
    if (r->kind < 0)
        return th_error_set(err, "PRED-0170",
                            "%s:%d: which collective is not said: give -collective", r->name,
                            r->line);
    if (r->ranks < 2 || r->nodes < 1)
        return th_error_set(err, "PRED-0171",
                            "%s:%d: a line of times before two lines \"#  Rank ... on HOST\"",
                            r->name, r->line);
    return 0;
}

static int read_line(th_nccl_log *log, reading *r, char **field, int n, th_error *err)
{
    int least = r->time_at ? r->time_at + FROM_TIME : FIELDS_LEAST;
    if (n == 0 || strspn(field[0], "0123456789") != strlen(field[0]))
        return 0; /* other output */
    if (n < least) {
        log->n_left_out += r->time_at > 0; /* after a head, else other output */
        return 0;
    }
    r->has_times = true;
    double bytes = positive(field[0]);
    if (r->is_other || bytes == 0) {
        log->n_left_out++;
        return 0;
    }
    if (check_line(r, err))
        return -1;
    const char *time = field[r->time_at ? r->time_at : n - FROM_END];
    double us = positive(time);
    if (us == 0)
        return th_error_set(err, "PRED-0172",
                            "%s:%d: time \"%.40s\": must be a number of us above 0", r->name,
                            r->line, time);
    return add_row(log, &(th_nccl_row){(th_nccl_kind)r->kind, r->nodes, r->ranks, bytes, us}, err);
}

static int read_log(th_nccl_log *log, char *text, const char *name, int kind, th_error *err)
{
    reading *r = th_alloc_zero(1, sizeof *r);
    int failed = !r ? th_error_no_memory(err) : 0;
    if (!failed)
        *r = (reading){.name = name, .kind = kind, .given_kind = kind};
    for (char *line = text, *next; !failed && line; line = next) {
        char *field[FIELDS_MAX];
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        int n = split(line, field);
        if (n > 0 && field[0][0] == '#')
            failed = read_comment(r, field, n, err);
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

/* Whether a field of the first line is the name of a column, and so the text CSV. */
static bool names_a_column(const char *text)
{
    const char *end = text + strcspn(text, "\r\n");
    if (!memchr(text, ',', (size_t)(end - text)))
        return false;
    for (const char *at = text; at < end;) {
        at += strspn(at, ", \t\"");
        size_t length = strcspn(at, ", \t\"\r\n");
        for (int i = 0; i < N_COLUMNS; i++)
            if (length == strlen(columns[i]) && strncmp(at, columns[i], length) == 0)
                return true;
        at += length;
    }
    return false;
}

static int find_columns(const th_csv *c, int *at, const char *name, th_error *err)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        at[i] = -1;
        for (int k = 0; k < c->n_fields; k++)
            if (strcmp(c->field[k], columns[i]) == 0)
                at[i] = k;
        if (at[i] < 0 && i != SYSTEM)
            return th_error_set(err, "PRED-0173",
                                "%s:%d: no column \"%s\": nodes, gpus, collective, bytes, time_us "
                                "were expected",
                                name, c->line, columns[i]);
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
    *log = (th_nccl_log){0};
    int failed = names_a_column(text) ? read_csv(log, text, name, system, err)
                                      : read_log(log, text, name, kind, err);
    if (!failed && log->n == 0)
        failed = th_error_set(err, "PRED-0177", "%s: no times of collectives", name);
    if (failed)
        th_nccl_log_clear(log);
    return failed;
}
