/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log.c - reads the output of nccl-tests, and CSV files of the same measurements.
 *
 * A line of times is one that begins with two whole numbers: size, count, type, what the version
 * and the collective have of redop and root, then time, algbw, busbw, errors out of place, and
 * mostly the same in place. The head of the table ("#  size ... time") tells which field is which;
 * without it, the time is the eighth from the end. What is told twice must agree: algbw is size by
 * time, busbw follows from algbw and the number of ranks, to the digits printed. Lines "#  Rank"
 * tell the ranks, in order; what follows "on" is the host. A file may hold several logs: ranks and
 * the collective begin anew with rank 0, the collective also at "starting:". Lines of times that
 * have not all fields, as where a run was stopped, those of 0 bytes, of collectives without a kind
 * and with wrong results are left out, and counted. */
#include <config.h>

#include "predictor/data/nccl_log.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/csv.h"
#include "base/names.h"

enum { FIELDS_MAX = 20, FIELDS_LEAST = 11, FROM_END = 8, HOSTS_MAX = 4096 };

const char *const th_nccl_names[TH_NCCL_KINDS + 1] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", NULL};

/* Also by the name of its program ("all_reduce_perf"); -1: none. */
static int find_kind(const char *name)
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
    th_strbuf_clear(&log->notes);
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
    bool is_last;     /* line, without an end */
    int kind;         /* -1: unknown yet */
    int given_kind;   /* by the caller; -1: none */
    bool is_other;    /* a collective without a kind: its times are left out */
    bool is_started;  /* a line "starting:" tells the collective of the ranks to come */
    bool has_times;   /* of these ranks */
    bool is_cpu_time; /* by the head of the table */
    int time_at;      /* field of the time, by the head of the table; 0: none was there */
    bool has_wrong;   /* by that head */
    int n_fields;     /* of a line of times; 0: unknown yet */
    int ranks, nodes;
    th_lines cut, other, wrong; /* left out: see read_log */
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

static void begin_ranks(reading *r)
{
    r->ranks = r->nodes = 0;
    r->group = NULL;
    if (r->has_times && !r->is_started) {
        r->kind = r->given_kind;
        r->is_other = false;
    }
    r->has_times = false;
    r->n_fields = r->time_at = 0;
}

/* #  Rank  0 Group  0 Pid  7 on HOST device ... */
static int read_rank(reading *r, char **field, int n, th_error *err)
{
    char *end;
    if (strcmp(field[2], "0") == 0)
        begin_ranks(r);
    if (strtol(field[2], &end, 10) != r->ranks || *end != '\0' || r->has_times)
        return th_error_set(err, "PRED-0466",
                            "%s:%d: rank \"%.20s\": rank %d was expected: are lines of ranks "
                            "missing?",
                            r->name, r->line, field[2], r->has_times ? 0 : r->ranks);
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

/* #  size count type redop root time algbw busbw #wrong time algbw busbw #wrong */
static int read_head(reading *r, char **field, int n, th_error *err)
{
    static const char known[] = "size;count;type;redop;root;time;cputime;algbw;busbw;#wrong;error";
    int unknown = strcmp(field[1], "size") != 0, time = 0;
    for (int i = n - 1; i > 0; i--) {
        unknown = th_name_is_among(known, field[i]) ? unknown : i;
        time = strcmp(field[i], "algbw") == 0 ? i - 1 : time; /* at last the first: out of place */
    }
    r->is_cpu_time = strcmp(field[time], "cputime") == 0;
    if (unknown || time < 2 || time + 2 >= n || !strstr(field[time], "time") ||
        strcmp(field[time + 2], "busbw") != 0)
        return th_error_set(err, "PRED-0467",
                            "%s:%d: the table's head%s%.20s: must be size, count, type, redop, "
                            "root, time, algbw, busbw, #wrong",
                            r->name, r->line, unknown ? ": " : "", unknown ? field[unknown] : "");
    r->time_at = time - 1;
    r->has_wrong = time + 3 < n && th_name_is_among("#wrong;error", field[time + 3]);
    r->n_fields = n - 1;
    return 0;
}

static int read_start(reading *r, const char *collective, th_error *err)
{
    int kind = find_kind(collective);
    r->is_other = kind < 0;
    r->is_started = true;
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
    for (int i = 1; i < n; i++)
        if (th_name_is_among("algbw;busbw", field[i]))
            return read_head(r, field, n, err);
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

/* How much a number may have been rounded by. */
static double half_digit(const char *text)
{
    const char *point = strchr(text, '.');
    return 0.51 * pow(10, point ? -(double)strlen(point + 1) : 0);
}

/* Do time (three digits at least), algbw and busbw fit the size and the ranks? */
static int check_bandwidths(const reading *r, const th_nccl_row *row, char **time, th_error *err)
{
    static const double OF_TIME = 5e-3, MB_PER_GB = 1e3;
    double real = row->bytes / row->us / MB_PER_GB, others = (row->ranks - 1.0) / row->ranks;
    double factor = row->kind == TH_NCCL_ALL_REDUCE ? 2 * others
                    : row->kind < TH_NCCL_BROADCAST ? others
                                                    : 1; /* as nccl-tests has it */
    double algbw = strtod(time[1], NULL), busbw = strtod(time[2], NULL);
    if (fabs(algbw - real) <= half_digit(time[1]) + OF_TIME * real &&
        fabs(busbw - factor * algbw) <= half_digit(time[2]) + factor * half_digit(time[1]))
        return 0;
    return th_error_set(
        err, "PRED-0469",
        "%s:%d: algbw \"%.20s\", busbw \"%.20s\": %s of %g bytes over %d ranks in %g "
        "us has %.2f and %.2f: are lines of ranks missing?",
        r->name, r->line, time[1], time[2], th_nccl_names[row->kind], row->bytes, row->ranks,
        row->us, real, factor * real);
}

static bool is_whole(const char *text)
{
    return strspn(text, "0123456789") == strlen(text);
}

/* Without a head: the first line of times tells how many fields all have, at least FIELDS_LEAST.
 * Behind those of the head may be other output. */
static bool has_all_fields(reading *r, int n)
{
    if (r->n_fields == 0 && n >= FIELDS_LEAST)
        r->n_fields = n;
    return r->time_at ? n >= r->n_fields : n == r->n_fields;
}

static int read_line(th_nccl_log *log, reading *r, char **field, int n, th_error *err)
{
    if (n == 0 || !is_whole(field[0]) || (n > 1 ? !is_whole(field[1]) : !r->is_last))
        return 0; /* other output */
    r->has_times = true;
    r->is_started = false;
    if (!has_all_fields(r, n)) {
        th_lines_count(&r->cut, r->line);
        return 0;
    }
    double bytes = positive(field[0]);
    if (r->is_other || bytes == 0) {
        th_lines_count(&r->other, r->line);
        return 0;
    }
    if (check_line(r, err))
        return -1;
    char **time = &field[r->time_at ? r->time_at : n - FROM_END];
    bool is_checked = !r->time_at || r->has_wrong;
    if (is_checked && positive(time[3]) > 0) { /* else 0, or N/A where nothing was checked */
        th_lines_count(&r->wrong, r->line);
        return 0;
    }
    double us = positive(*time);
    if (us == 0)
        return th_error_set(err, "PRED-0172",
                            "%s:%d: time \"%.40s\": must be a number of us above 0", r->name,
                            r->line, *time);
    th_nccl_row row = {(th_nccl_kind)r->kind, r->nodes, r->ranks, bytes, us};
    return check_bandwidths(r, &row, time, err) ? -1 : add_row(log, &row, err);
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
        r->is_last = !next;
        if (next)
            *next++ = '\0';
        r->line++;
        int n = split(line, field);
        if (n > 0 && field[0][0] == '#')
            failed = read_comment(r, field, n, err);
        else
            failed = read_line(log, r, field, n, err);
    }
    if (!failed) {
        log->n_left_out = (size_t)(r->cut.n + r->other.n + r->wrong.n);
        th_note_lines(&log->notes, &r->cut, "without all fields");
        th_note_lines(&log->notes, &r->other, "of 0 bytes or of other collectives");
        th_note_lines(&log->notes, &r->wrong, "with wrong results");
    }
    th_free(r);
    return failed;
}

/* --- CSV -------------------------------------------------------------------------------------- */

enum { NODES, GPUS, COLLECTIVE, BYTES, TIME, SYSTEM, N_COLUMNS };
static const char *const columns[N_COLUMNS + 1] = {"nodes",   "gpus",   "collective", "bytes",
                                                   "time_us", "system", NULL};

/* The first line of CSV names columns. */
static bool is_csv(const char *text)
{
    size_t n = strcspn(text, "\r\n");
    return memchr(text, ',', n) &&
           (memmem(text, n, "collective", 10) || memmem(text, n, "time_us", 7));
}

static int read_fields(th_nccl_log *log, const th_csv *c, const int *at, const char *name,
                       th_error *err)
{
    for (int i = 0; i < SYSTEM; i++)
        if (i != COLLECTIVE && positive(c->field[at[i]]) == 0)
            return th_error_set(err, "PRED-0174", "%s:%d: %s: must be a number above 0", name,
                                c->line, columns[i]);
    int kind = find_kind(c->field[at[COLLECTIVE]]);
    if (kind < 0)
        return th_error_set(err, "PRED-0175",
                            "%s:%d: collective \"%.40s\": must be one of all_reduce, all_gather, "
                            "reduce_scatter, all_to_all, broadcast, reduce",
                            name, c->line, c->field[at[COLLECTIVE]]);
    double nodes = positive(c->field[at[NODES]]), ranks = positive(c->field[at[GPUS]]);
    if (ranks < 2 || nodes > ranks || ranks > 1e6 || nodes != floor(nodes) || ranks != floor(ranks))
        return th_error_set(err, "PRED-0176",
                            "%s:%d: gpus: must be whole, at least 2, and at least as many as nodes",
                            name, c->line);
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
    int at[N_COLUMNS];
    th_csv c = th_csv_open(name, text);
    int status = th_csv_first(&c, err);
    if (status == 0)
        status = th_csv_place(&c, columns, system ? N_COLUMNS : SYSTEM, at, &log->notes, err);
    while (status == 0 && (status = th_csv_row(&c, err)) > 0) {
        bool is_wanted = !system || strcmp(c.field[at[SYSTEM]], system) == 0;
        log->n_left_out += !is_wanted;
        status = is_wanted ? read_fields(log, &c, at, name, err) : 0;
    }
    th_csv_note_cut(&c, &log->notes);
    th_csv_clear(&c);
    return status;
}

int th_nccl_log_read(th_nccl_log *log, char *text, const char *name, int kind, const char *system,
                     th_error *err)
{
    *log = (th_nccl_log){0};
    int failed = is_csv(text) ? read_csv(log, text, name, system, err)
                              : read_log(log, text, name, kind, err);
    if (!failed && log->n == 0)
        failed =
            th_error_set(err, "PRED-0177",
                         "%s: no times: no line begins with a size and a count, untagged", name);
    if (failed)
        th_nccl_log_clear(log);
    return failed;
}
