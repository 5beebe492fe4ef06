/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.c - a study's SQLite file (store.h).
 *   open: policy of files -> SQLite -> limits, progress handler
 *   run: statement -> { values -> rows }* */
#include <config.h>
#include "session/store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <sqlite3.h>
#include "base/alloc.h"
#include "base/files/file_lock.h"
#include "base/files/open_file.h"

enum {
    PATIENCE_MS = 20 * 1000, /* for another process */
    TEXT_BYTES_MAX = 16 << 20,
    STEPS_BETWEEN = 10000, /* two looks at a query */
    STEPS_LEAST = 1000000, /* any query may take so many steps of SQLite, */
    STEPS_PER_BYTE = 64    /* and so many more for each byte of the file */
};

struct th_store {
    sqlite3 *db;
    char *path;
    int lock;           /* descriptor; -1: not locked */
    int64_t steps_left; /* of the query */
    bool was_interrupted;
    bool (*is_interrupted)(void); /* NULL: never */
};

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
    t->was_interrupted = t->lock < 0 && t->is_interrupted && t->is_interrupted();
    return t->was_interrupted || t->steps_left < 0;
}

static void begin_query(th_store *t)
{
    struct stat s;
    int64_t bytes = th_file_stat(t->path, &s) == 0 ? (int64_t)s.st_size : 0;
    bool is_huge = bytes > (INT64_MAX - STEPS_LEAST) / STEPS_PER_BYTE;
    t->steps_left = is_huge ? INT64_MAX : STEPS_LEAST + STEPS_PER_BYTE * bytes;
    t->was_interrupted = false;
}

/* --- opening and closing --- */

void th_store_close(th_store *t)
{
    if (!t)
        return;
    sqlite3_close(t->db);
    if (t->lock >= 0)
        close(t->lock); /* behind SQLite: closing a descriptor drops its locks of that file */
    th_free(t->path);
    th_free(t);
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
    begin_query(t);
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
    if (t) {
        t->lock = -1;
        t->path = th_alloc_string(path);
    }
    if (!t || !t->path) {
        th_error_no_memory(err);
    } else if (!th_file_may(path, true)) { /* SQLite opens it by itself */
        cannot_open(path, errno, err);
    } else if (sqlite3_open_v2(path, &t->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
               sqlite3_busy_timeout(t->db, PATIENCE_MS) != SQLITE_OK || !defend(t)) {
        sqlite_failure(t, "opened", err);
    } else {
        return t;
    }
    th_store_close(t);
    return NULL;
}

bool th_store_is_there(const char *path)
{
    struct stat s;
    return th_file_stat(path, &s) == 0 && s.st_size > 0;
}

th_store *th_store_open(const char *path, bool creates, bool (*is_interrupted)(void), th_error *err)
{
    struct stat s;
    bool is_there = th_file_stat(path, &s) == 0;
    if (is_there ? S_ISDIR(s.st_mode) : !creates) {
        cannot_open(path, is_there ? EISDIR : errno, err);
        return NULL;
    }
    th_store *t = open_file(path, SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0), err);
    if (t)
        t->is_interrupted = is_interrupted;
    return t;
}

/* --- statements --- */

static void bind(sqlite3_stmt *s, int place, const th_cell *v)
{
    if (v->type == TH_CELL_INTEGER)
        sqlite3_bind_int64(s, place, v->whole);
    else if (v->type == TH_CELL_REAL)
        sqlite3_bind_double(s, place, v->real);
    else if (v->type == TH_CELL_TEXT)
        sqlite3_bind_text(s, place, v->text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(s, place);
}

static th_cell cell_at(sqlite3_stmt *s, int column)
{
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_NULL:
        return (th_cell){.type = TH_CELL_NULL};
    case SQLITE_INTEGER:
        return (th_cell){.type = TH_CELL_INTEGER, .whole = sqlite3_column_int64(s, column)};
    case SQLITE_FLOAT:
        return (th_cell){.type = TH_CELL_REAL, .real = sqlite3_column_double(s, column)};
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(s, column);
        if (text && strlen(text) == (size_t)sqlite3_column_bytes(s, column))
            return (th_cell){.type = TH_CELL_TEXT, .text = text};
    }
    }
    return (th_cell){.type = TH_CELL_OTHER};
}

static int take_rows(th_store *t, sqlite3_stmt *s, th_store_row *row, void *state, th_error *err)
{
    th_cell cells[TH_STORE_COLUMNS_MAX];
    int n = sqlite3_column_count(s), status = 0, step = SQLITE_DONE;
    while (status == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        for (int i = 0; row && i < n; i++)
            cells[i] = cell_at(s, i);
        status = row ? row(state, cells, n) : 0;
    }
    if (status == 0 && step != SQLITE_DONE)
        return sqlite_failure(t, sqlite3_stmt_readonly(s) ? "read" : "written", err);
    return status;
}

int th_store_run(th_store *t, const char *sql, const th_store_values *v, th_store_row *row,
                 void *state, th_error *err)
{
    sqlite3_stmt *s = NULL;
    int status = 0;
    begin_query(t);
    if (sqlite3_prepare_v2(t->db, sql, -1, &s, NULL) != SQLITE_OK || !s)
        return sqlite_failure(t, "read", err);
    for (size_t k = 0; k < v->n_rows && status == 0; k++) {
        for (size_t i = 0; i < v->n; i++)
            bind(s, (int)i + 1, &v->cells[k * v->n + i]);
        begin_query(t);
        status = take_rows(t, s, row, state, err);
        sqlite3_reset(s);
        sqlite3_clear_bindings(s);
    }
    sqlite3_finalize(s);
    return status;
}

/* --- the writer --- */

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
