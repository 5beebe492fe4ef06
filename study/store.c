/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.c - a study's SQLite file (store.h). Values go to SQLite as parameters of prepared
 * statements, never as text of SQL; the only words of a study in its SQL are names of columns,
 * which study.c has checked to be plain names. */
#include <config.h>
#include "study/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sqlite3.h>
#include "base/alloc.h"
#include "base/open_file.h"
#include "base/file_lock.h"
#include "study/store_study.h"

enum {
    PATIENCE_MS = 20 * 1000, /* for another process that */
    APPLICATION = 0x54487374,
    FORMAT = 2, /* files of format 1 hold batches per second as throughput */
    TEXT_BYTES_MAX = 16 << 20,
    STEPS_BETWEEN = 10000, /* two looks at a query */
    STEPS_LEAST = 1000000, /* any query may take so many steps of SQLite, */
    STEPS_PER_BYTE = 64    /* and so many more for each byte of the file */
};

struct th_store {
    sqlite3 *db;
    sqlite3_stmt *next, *record;
    th_study *study;
    char *path;
    int lock;           /* descriptor; -1: not locked */
    int64_t steps_left; /* of the query */
    bool is_reading, was_interrupted;
    bool (*is_interrupted)(void); /* NULL: never */
};

const char *th_point_state_name(th_point_state state)
{
    static const char *const names[] = {"waiting", "done", "failed"};
    return names[state];
}

/* --- SQLite --- */

static int sqlite_failure(const th_store *t, const char *what, th_error *err)
{
    if (t->was_interrupted)
        return th_error_interrupted(err, "the study was not read");
    if (t->steps_left < 0)
        return th_error_set(err, "STUDY-0253",
                            "%s: is damaged: reading it takes more steps than its size explains",
                            t->path);
    return th_error_set(err, "STUDY-0020", "%s: cannot be %s: %s", t->path, what,
                        t->db ? sqlite3_errmsg(t->db) : strerror(errno));
}

/* SQLite follows pages that name each other in a circle, and has no end then. */
static int look_at_query(void *state)
{
    th_store *t = state;
    t->steps_left -= STEPS_BETWEEN;
    t->was_interrupted = t->is_reading && t->is_interrupted && t->is_interrupted();
    return t->was_interrupted || t->steps_left < 0;
}

/* Ctrl-C ends what only reads; what was computed is written first. */
static void begin_query(th_store *t, bool is_reading)
{
    struct stat s;
    int64_t bytes = th_file_stat(t->path, &s) == 0 ? (int64_t)s.st_size : 0;
    bool is_huge = bytes > (INT64_MAX - STEPS_LEAST) / STEPS_PER_BYTE;
    t->steps_left = is_huge ? INT64_MAX : STEPS_LEAST + STEPS_PER_BYTE * bytes;
    t->is_reading = is_reading;
    t->was_interrupted = false;
}

static int execute(th_store *t, const char *sql, th_error *err)
{
    begin_query(t, false);
    return sqlite3_exec(t->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : sqlite_failure(t, "written", err);
}

static sqlite3_stmt *prepare(th_store *t, const char *sql, th_error *err)
{
    sqlite3_stmt *s = NULL;
    if (!sql)
        th_error_no_memory(err);
    else if (sqlite3_prepare_v2(t->db, sql, -1, &s, NULL) != SQLITE_OK)
        sqlite_failure(t, "read", err);
    return s;
}

static int ask_number(th_store *t, const char *sql, int64_t *out, th_error *err)
{
    sqlite3_stmt *s = prepare(t, sql, err);
    if (!s)
        return -1;
    int failed = sqlite3_step(s) == SQLITE_ROW ? 0 : sqlite_failure(t, "read", err);
    if (!failed)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return failed;
}

static void bind_text(sqlite3_stmt *s, int place, const char *text)
{
    if (text)
        sqlite3_bind_text(s, place, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(s, place);
}

/* --- opening and closing --- */

void th_store_close(th_store *t)
{
    if (!t)
        return;
    sqlite3_finalize(t->next);
    sqlite3_finalize(t->record);
    sqlite3_close(t->db);
    if (t->lock >= 0)
        close(t->lock); /* behind SQLite: closing a descriptor drops its locks of that file */
    th_study_free(t->study);
    th_free(t->path);
    th_free(t);
}

/* Avoids ":memory:" and "", which SQLite treats specially. */
static char *plain_path(const char *path)
{
    size_t n = strlen(path) + 3;
    char *out = th_alloc(n);
    if (out)
        snprintf(out, n, "%s%s", path[0] == '/' ? "" : "./", path);
    return out;
}

/* A file from elsewhere is an attacker's: https://www.sqlite.org/security.html. */
static bool defend(th_store *t)
{
    static const int settings[][2] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX},
                                    {SQLITE_LIMIT_SQL_LENGTH, 100000},
                                    {SQLITE_LIMIT_COLUMN, 100},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 20},
                                    {SQLITE_LIMIT_COMPOUND_SELECT, 3},
                                    {SQLITE_LIMIT_VDBE_OP, 25000},
                                    {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 1}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (sqlite3_db_config(t->db, settings[i][0], settings[i][1], NULL) != SQLITE_OK)
            return false;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(t->db, limits[i][0], limits[i][1]);
    begin_query(t, true);
    sqlite3_progress_handler(t->db, STEPS_BETWEEN, look_at_query, t);
    return sqlite3_exec(t->db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL) == SQLITE_OK;
}

static void cannot_open(const char *path, int error, th_error *err)
{
    th_error_set(err, "STUDY-0029", "%s: cannot be opened: %s", path, th_file_problem(error));
}

static th_store *open_file(const char *path, int flags, th_error *err)
{
    th_store *t = th_alloc_zero(1, sizeof *t);
    char *plain = plain_path(path);
    if (t) {
        t->lock = -1;
        t->path = th_alloc_string(path);
    }
    if (!t || !plain || !t->path) {
        th_error_no_memory(err);
    } else if (!th_file_may(plain, true)) { /* SQLite opens it by itself */
        cannot_open(path, errno, err);
    } else if (sqlite3_open_v2(plain, &t->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
               sqlite3_busy_timeout(t->db, PATIENCE_MS) != SQLITE_OK || !defend(t)) {
        sqlite_failure(t, "opened", err);
    } else {
        th_free(plain);
        return t;
    }
    th_free(plain);
    th_store_close(t);
    return NULL;
}

/* 1: a study of this format; 0: nothing at all; -1: something else. */
static int what_is_there(th_store *t, th_error *err)
{
    int64_t application, format, n_tables;
    if (ask_number(t, "PRAGMA application_id", &application, err) ||
        ask_number(t, "PRAGMA user_version", &format, err) ||
        ask_number(t, "SELECT count(*) FROM sqlite_master", &n_tables, err))
        return -1;
    if (n_tables == 0 && application == 0)
        return 0;
    if (application != APPLICATION)
        return th_error_set(err, "STUDY-0021", "%s: is a database of something else than a study",
                            t->path);
    if (format == FORMAT)
        return 1;
    return th_error_set(err, "STUDY-0022", "%s: is a study of format %lld: must be %d", t->path,
                        (long long)format, (int)FORMAT);
}

static th_study *read_study(th_store *t, th_error *err)
{
    th_study *s = th_store_read_study(t->db, err);
    if (!s && (t->was_interrupted || t->steps_left < 0))
        sqlite_failure(t, "read", err); /* the reason, which the reader does not know */
    return s;
}

bool th_store_exists(const char *path)
{
    struct stat s;
    if (th_file_stat(path, &s) != 0 || s.st_size == 0)
        return false;
    th_store *t = open_file(path, SQLITE_OPEN_READWRITE, NULL);
    bool is_empty = t && what_is_there(t, NULL) == 0;
    th_store_close(t);
    return !is_empty;
}

/* The columns of the table of points. */
static char *sql_of_points(const th_study *s)
{
    static const char *const types[] = {"INTEGER", "REAL", "TEXT"};
    th_strbuf sql = TH_STRBUF_INIT;
    th_strbuf_add(&sql, "CREATE TABLE point (point INTEGER PRIMARY KEY, cell INTEGER NOT NULL");
    for (int i = 0; i < s->n_parameters; i++)
        th_strbuf_printf(&sql, ", \"%s\"", s->parameters[i].name);
    if (th_study_parameter_named(s, "seed") < 0)
        th_strbuf_add(&sql, ", seed INTEGER NOT NULL");
    th_strbuf_add(&sql, ", status TEXT NOT NULL, error TEXT, mapping TEXT");
    for (int i = 0; i < s->n_metrics; i++)
        th_strbuf_printf(&sql, ", \"%s\" %s", s->metrics[i].column, types[s->metrics[i].type]);
    th_strbuf_add(&sql, ")");
    return sql.failed ? (th_strbuf_clear(&sql), NULL) : sql.text;
}

/* The table of points is the one that this study has. */
static int check_points(th_store *t, th_error *err)
{
    char *expected = sql_of_points(t->study);
    sqlite3_stmt *s =
        expected ? prepare(t, "SELECT sql FROM sqlite_master WHERE name = 'point'", err) : NULL;
    int failed = expected ? 0 : th_error_no_memory(err);
    const char *sql = s && sqlite3_step(s) == SQLITE_ROW ? th_store_text(s, 0) : NULL;
    if (!failed && s && (!sql || strcmp(sql, expected) != 0))
        failed = th_error_set(err, "STUDY-0254",
                              "%s: its table of points is not that of its parameters and metrics",
                              t->path);
    sqlite3_finalize(s);
    th_free(expected);
    return s ? failed : -1;
}

th_store *th_store_open(const char *path, bool (*is_interrupted)(void), th_error *err)
{
    struct stat s;
    bool is_there = th_file_stat(path, &s) == 0;
    if (!is_there || S_ISDIR(s.st_mode)) {
        cannot_open(path, is_there ? EISDIR : errno, err);
        return NULL;
    }
    th_store *t = open_file(path, SQLITE_OPEN_READWRITE, err);
    if (t)
        t->is_interrupted = is_interrupted;
    int there = t ? what_is_there(t, err) : -1;
    if (there == 0)
        th_error_set(err, "STUDY-0023", "%s: is empty: create_study makes a study", path);
    if (there == 1 && (t->study = read_study(t, err)) && check_points(t, err) == 0)
        return t;
    th_store_close(t);
    return NULL;
}

const th_study *th_store_study(const th_store *t)
{
    return t->study;
}

/* --- a new file --- */

static char *sql_of_insertion(const th_study *s)
{
    th_strbuf sql = TH_STRBUF_INIT;
    bool has_seed = th_study_parameter_named(s, "seed") < 0;
    th_strbuf_add(&sql, "INSERT INTO point (point, cell, status");
    for (int i = 0; i < s->n_parameters; i++)
        th_strbuf_printf(&sql, ", \"%s\"", s->parameters[i].name);
    th_strbuf_printf(&sql, "%s) VALUES (?, ?, 'waiting'", has_seed ? ", seed" : "");
    for (int i = 0; i < s->n_parameters + has_seed; i++)
        th_strbuf_add(&sql, ", ?");
    th_strbuf_add(&sql, ")");
    return sql.failed ? (th_strbuf_clear(&sql), NULL) : sql.text;
}

/* Stores numbers as numbers, so that SQL can compare them, where their text does not change by
 * it. */
static void bind_word(sqlite3_stmt *s, int place, const char *word)
{
    char again[64], *end;
    long long whole = strtoll(word, &end, 10);
    snprintf(again, sizeof again, "%lld", whole);
    if (strcmp(again, word) == 0) {
        sqlite3_bind_int64(s, place, whole);
        return;
    }
    double real = strtod(word, &end);
    snprintf(again, sizeof again, "%.15g", real);
    if (strcmp(again, word) == 0 && strchr(word, '.') && !strchr(word, 'e'))
        sqlite3_bind_double(s, place, real);
    else
        bind_text(s, place, word);
}

static int insert_points(th_store *t, const th_study *s, const int64_t *cells, int64_t n,
                         th_error *err)
{
    char *sql = sql_of_insertion(s);
    sqlite3_stmt *insert = prepare(t, sql, err);
    bool has_seed = th_study_parameter_named(s, "seed") < 0;
    int failed = insert ? 0 : -1;
    for (int64_t i = 0; i < n && !failed; i++) {
        int place = 1;
        t->steps_left = STEPS_LEAST; /* for each */
        sqlite3_bind_int64(insert, place++, i + 1);
        sqlite3_bind_int64(insert, place++, cells[i]);
        for (int k = 0; k < s->n_parameters; k++)
            bind_word(insert, place++, th_study_value(s, cells[i], k));
        if (has_seed)
            sqlite3_bind_int64(insert, place, th_study_point_seed(s, cells[i]));
        if (sqlite3_step(insert) != SQLITE_DONE)
            failed = sqlite_failure(t, "written", err);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    th_free(sql);
    return failed;
}

static int fill(th_store *t, const th_study *s, const int64_t *cells, int64_t n, th_error *err)
{
    char pragmas[100];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             (int)APPLICATION, (int)FORMAT);
    int there = what_is_there(t, err);
    if (there > 0)
        th_error_set(err, "STUDY-0024", "%s: another process created a study in this file",
                     t->path);
    if (there || execute(t, pragmas, err) != 0 || th_store_write_study(t->db, s) != SQLITE_OK)
        return there ? -1 : sqlite_failure(t, "written", err);
    char *sql = sql_of_points(s);
    int failed = !sql ? th_error_no_memory(err) : execute(t, sql, err);
    th_free(sql);
    return failed ? -1 : insert_points(t, s, cells, n, err);
}

th_store *th_store_create(const char *path, const th_study *s, const int64_t *cells, int64_t n,
                          th_error *err)
{
    th_store *t = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (t && th_store_begin(t, err) == 0) {
        if (fill(t, s, cells, n, err))
            sqlite3_exec(t->db, "ROLLBACK", NULL, NULL, NULL);
        else if (th_store_commit(t, err) == 0 && (t->study = read_study(t, err)))
            return t;
    }
    th_store_close(t);
    return NULL;
}

/* --- reading --- */

int th_store_counts(th_store *t, int64_t counts[TH_N_POINT_STATES], th_error *err)
{
    sqlite3_stmt *s = prepare(t, "SELECT count(*) FROM point WHERE status = ?", err);
    int failed = s ? 0 : -1;
    for (int i = 0; i < TH_N_POINT_STATES && !failed; i++) {
        begin_query(t, true);
        bind_text(s, 1, th_point_state_name((th_point_state)i));
        failed = sqlite3_step(s) == SQLITE_ROW ? 0 : sqlite_failure(t, "read", err);
        counts[i] = !failed ? sqlite3_column_int64(s, 0) : 0;
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return failed;
}

/* Metrics follow the first five columns. */
static char *sql_of_reading(const th_study *s)
{
    th_strbuf sql = TH_STRBUF_INIT;
    th_strbuf_add(&sql, "SELECT point, cell, status, error, mapping");
    for (int i = 0; i < s->n_metrics; i++)
        th_strbuf_printf(&sql, ", \"%s\"", s->metrics[i].column);
    th_strbuf_add(&sql, " FROM point ORDER BY point");
    return sql.failed ? (th_strbuf_clear(&sql), NULL) : sql.text;
}

/* A text that there may be. False: something else is there. */
static bool take_text(sqlite3_stmt *s, int column, const char **out)
{
    *out = th_store_text(s, column);
    return *out || sqlite3_column_type(s, column) == SQLITE_NULL;
}

static bool take_figure(sqlite3_stmt *s, int column, th_figure_type type, th_figure *f)
{
    static const int types[] = {SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT};
    int there = sqlite3_column_type(s, column);
    *f = (th_figure){.is_absent = there == SQLITE_NULL};
    if (there == types[type] && type == TH_FIGURE_INTEGER)
        f->whole = sqlite3_column_int64(s, column);
    if (there == types[type] && type == TH_FIGURE_REAL)
        f->real = sqlite3_column_double(s, column);
    if (there == types[type] && type == TH_FIGURE_TEXT)
        f->text = th_store_text(s, column);
    return f->is_absent || (there == types[type] && (type != TH_FIGURE_TEXT || f->text));
}

/* False: a cell holds what was never written there. */
static bool take_row(const th_study *study, sqlite3_stmt *s, th_study_point *p)
{
    const char *status = th_store_text(s, 2);
    int state = 0;
    *p = (th_study_point){.number = sqlite3_column_int64(s, 0), .cell = sqlite3_column_int64(s, 1)};
    while (status && state < TH_N_POINT_STATES &&
           strcmp(status, th_point_state_name((th_point_state)state)) != 0)
        state++;
    if (!status || state == TH_N_POINT_STATES || sqlite3_column_type(s, 1) != SQLITE_INTEGER)
        return false;
    p->state = (th_point_state)state;
    bool is_good = take_text(s, 3, &p->error) && take_text(s, 4, &p->mapping);
    for (int i = 0; i < study->n_metrics && is_good; i++)
        is_good = take_figure(s, 5 + i, study->metrics[i].type, &p->figures[i]);
    return is_good;
}

/* A file from elsewhere may hold anything. */
static int check_row(const th_store *t, const th_study_point *p, th_error *err)
{
    if (p->number < 1)
        return th_error_set(err, "STUDY-0092", "%s: point %lld: points are numbered from 1",
                            t->path, (long long)p->number);
    if (p->cell >= 0 && p->cell < th_study_n_cells(t->study))
        return 0;
    return th_error_set(err, "STUDY-0025", "%s: point %lld is in no cell of the study", t->path,
                        (long long)p->number);
}

int th_store_read(th_store *t, int (*f)(void *state, const th_study_point *p), void *state,
                  th_error *err)
{
    char *sql = sql_of_reading(t->study);
    sqlite3_stmt *s = prepare(t, sql, err);
    int status = s ? 0 : -1, step = SQLITE_DONE;
    int64_t last = INT64_MIN;
    begin_query(t, true);
    while (status == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        th_study_point p;
        bool is_good = take_row(t->study, s, &p) && p.number > last;
        last = p.number;
        if (!is_good)
            status = th_error_set(err, "STUDY-0255", "%s: point %lld: its row is damaged", t->path,
                                  (long long)p.number);
        else
            status = check_row(t, &p, err) ? -1 : f(state, &p);
    }
    if (status == 0 && step != SQLITE_DONE)
        status = sqlite_failure(t, "read", err);
    sqlite3_finalize(s);
    th_free(sql);
    return status;
}

/* --- writing --- */

/* Locks a byte far behind those that SQLite locks; the kernel releases it when the process ends,
 * in whatever way. */
int th_store_lock(th_store *t, th_error *err)
{
    if (t->lock >= 0)
        return 0;
    t->lock = th_file_open(t->path, O_RDWR);
    if (t->lock < 0)
        return th_error_set(err, "STUDY-0026", "%s: cannot be opened: %s", t->path,
                            strerror(errno));
    int taken = th_file_lock(t->lock, INT64_MAX - 1, 1);
    if (taken == 0)
        return 0;
    th_error_set(err, "STUDY-0027", "%s: %s", t->path,
                 taken > 0 ? "the study is being run by another process" : strerror(errno));
    close(t->lock);
    t->lock = -1;
    return -1;
}

int th_store_retry_failed(th_store *t, th_error *err)
{
    return execute(t, "UPDATE point SET status = 'waiting', error = NULL WHERE status = 'failed'",
                   err);
}

int th_store_next_waiting(th_store *t, int64_t after, int64_t *number, int64_t *cell, th_error *err)
{
    if (!t->next)
        t->next = prepare(t,
                          "SELECT point, cell FROM point WHERE point > ? AND status = 'waiting' "
                          "ORDER BY point LIMIT 1",
                          err);
    if (!t->next)
        return -1;
    begin_query(t, false);
    sqlite3_bind_int64(t->next, 1, after);
    int step = sqlite3_step(t->next);
    th_study_point p = {.number = sqlite3_column_int64(t->next, 0),
                        .cell = sqlite3_column_int64(t->next, 1)};
    int status = step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : sqlite_failure(t, "read", err);
    sqlite3_reset(t->next);
    if (status <= 0 || check_row(t, &p, err))
        return status <= 0 ? status : -1;
    *number = p.number;
    *cell = p.cell;
    return 1;
}

int th_store_begin(th_store *t, th_error *err)
{
    return execute(t, "BEGIN IMMEDIATE", err);
}

int th_store_commit(th_store *t, th_error *err)
{
    if (execute(t, "COMMIT", err) == 0)
        return 0;
    sqlite3_exec(t->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

static char *sql_of_record(const th_study *s)
{
    th_strbuf sql = TH_STRBUF_INIT;
    th_strbuf_add(&sql, "UPDATE point SET status = ?, error = ?, mapping = ?");
    for (int i = 0; i < s->n_metrics; i++)
        th_strbuf_printf(&sql, ", \"%s\" = ?", s->metrics[i].column);
    th_strbuf_add(&sql, " WHERE point = ? AND status = 'waiting'");
    return sql.failed ? (th_strbuf_clear(&sql), NULL) : sql.text;
}

static void bind_figure(sqlite3_stmt *s, int place, const th_figure *f, th_figure_type type)
{
    if (f->is_absent || type == TH_FIGURE_TEXT)
        bind_text(s, place, f->is_absent ? NULL : f->text);
    else if (type == TH_FIGURE_INTEGER)
        sqlite3_bind_int64(s, place, f->whole);
    else
        sqlite3_bind_double(s, place, f->real);
}

int th_store_record(th_store *t, const th_study_point *p, th_error *err)
{
    int place = 1;
    char *sql = t->record ? NULL : sql_of_record(t->study);
    if (!t->record)
        t->record = prepare(t, sql, err);
    th_free(sql);
    if (!t->record)
        return -1;
    t->steps_left = STEPS_LEAST;
    bind_text(t->record, place++, th_point_state_name(p->state));
    bind_text(t->record, place++, p->error);
    bind_text(t->record, place++, p->mapping);
    for (int i = 0; i < t->study->n_metrics; i++)
        bind_figure(t->record, place++, &p->figures[i], t->study->metrics[i].type);
    sqlite3_bind_int64(t->record, place, p->number);
    int failed = sqlite3_step(t->record) == SQLITE_DONE ? 0 : sqlite_failure(t, "written", err);
    sqlite3_reset(t->record);
    sqlite3_clear_bindings(t->record);
    if (failed || sqlite3_changes(t->db) == 1)
        return failed;
    return th_error_set(err, "STUDY-0028", "%s: point %lld does not wait for a result", t->path,
                        (long long)p->number);
}
