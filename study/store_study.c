/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_study.c - the definition of a study in its file. It is checked like user input when read,
 * because files are not trusted, and its digest must match the stored one. */
#include <config.h>
#include "study/store_study.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

static const char *const tables[] = {
    "CREATE TABLE study (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE parameter (position INTEGER PRIMARY KEY, name TEXT NOT NULL, axis INTEGER NOT "
    "NULL)",
    "CREATE TABLE value (parameter INTEGER, position INTEGER, value TEXT NOT NULL,"
    " PRIMARY KEY (parameter, position)) WITHOUT ROWID",
    "CREATE TABLE metric (position INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,"
    " \"column\" TEXT NOT NULL, type INTEGER NOT NULL, own INTEGER NOT NULL)"};
enum { N_TABLES = sizeof tables / sizeof *tables };

static char *digest_text(const th_study *s, char out[20])
{
    snprintf(out, 20, "%016" PRIx64, th_study_digest(s));
    return out;
}

/* --- writing --- */

/* One row: each letter of kinds is i (int64_t) or t (const char *). A code of SQLite. */
static int insert(sqlite3 *db, const char *sql, const char *kinds, ...)
{
    sqlite3_stmt *s = NULL;
    va_list args;
    int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (code != SQLITE_OK)
        return code;
    va_start(args, kinds);
    for (int i = 0; kinds[i] != '\0'; i++) {
        if (kinds[i] == 'i')
            sqlite3_bind_int64(s, i + 1, va_arg(args, int64_t));
        else
            sqlite3_bind_text(s, i + 1, va_arg(args, const char *), -1, SQLITE_TRANSIENT);
    }
    va_end(args);
    sqlite3_step(s);
    return sqlite3_finalize(s);
}

static int write_words(sqlite3 *db, const th_study *s)
{
    char digest[20], seed[30];
    snprintf(seed, sizeof seed, "%" PRId64, s->seed);
    const char *const words[][2] = {{"name", s->name},     {"version", s->version},
                                    {"script", s->script}, {"where", s->where},
                                    {"seed", seed},        {"digest", digest_text(s, digest)}};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words && code == SQLITE_OK; i++)
        code = insert(db, "INSERT INTO study VALUES (?, ?)", "tt", words[i][0], words[i][1]);
    return code;
}

static int write_parameter(sqlite3 *db, const th_study_parameter *p, int64_t number)
{
    int code = insert(db, "INSERT INTO parameter VALUES (?, ?, ?)", "iti", number, p->name,
                      (int64_t)p->axis);
    for (int32_t i = 0; i < p->n_values && code == SQLITE_OK; i++)
        code = insert(db, "INSERT INTO value VALUES (?, ?, ?)", "iit", number, (int64_t)i,
                      p->values[i]);
    return code;
}

int th_store_write_study(sqlite3 *db, const th_study *s)
{
    int code = SQLITE_OK;
    for (int i = 0; i < N_TABLES && code == SQLITE_OK; i++)
        code = sqlite3_exec(db, tables[i], NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = write_words(db, s);
    for (int i = 0; i < s->n_parameters && code == SQLITE_OK; i++)
        code = write_parameter(db, &s->parameters[i], i);
    for (int i = 0; i < s->n_metrics && code == SQLITE_OK; i++) {
        const th_study_metric *m = &s->metrics[i];
        code = insert(db, "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)", "itttii", (int64_t)i,
                      m->name, m->kind, m->column, (int64_t)m->type, (int64_t)m->is_own);
    }
    return code;
}

/* --- reading --- */

typedef struct {
    sqlite3 *db;
    th_study *study;
    char digest[20];
    int n_tables;
    unsigned words; /* bit i: word i has been read */
    int64_t axis;   /* of the parameter whose values are read */
    th_error *err;
} reading;

const char *th_store_text(sqlite3_stmt *s, int column)
{
    bool is_text = sqlite3_column_type(s, column) == SQLITE_TEXT;
    const char *text = is_text ? (const char *)sqlite3_column_text(s, column) : NULL;
    bool is_whole = text && strlen(text) == (size_t)sqlite3_column_bytes(s, column);
    return is_whole ? text : NULL;
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = th_store_text(s, column);
    return text ? text : "";
}

/* Into *out. False: it is no whole number from low to high. */
static bool whole_at(sqlite3_stmt *s, int column, int64_t low, int64_t high, int64_t *out)
{
    *out = sqlite3_column_int64(s, column);
    return sqlite3_column_type(s, column) == SQLITE_INTEGER && *out >= low && *out <= high;
}

static int broken(const reading *r, const char *what)
{
    return th_error_set(r->err, "STUDY-0030", "the definition in the file is damaged: %s", what);
}

/* f for every row of a query. */
static int each_row(reading *r, const char *sql, int64_t number,
                    int (*f)(reading *, sqlite3_stmt *))
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
        return broken(r, sqlite3_errmsg(r->db));
    sqlite3_bind_int64(s, 1, number);
    int failed = 0, step = SQLITE_DONE;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = f(r, s);
    if (!failed && step != SQLITE_DONE)
        failed = broken(r, sqlite3_errmsg(r->db));
    sqlite3_finalize(s);
    return failed;
}

static int take_word(reading *r, sqlite3_stmt *s)
{
    th_study *study = r->study;
    const char *key = text_at(s, 0), *value = th_store_text(s, 1);
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"name", &study->name},
                 {"version", &study->version},
                 {"script", &study->script},
                 {"where", &study->where}};
    if (!value)
        return broken(r, "a word of the study");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(key, texts[i].key) != 0)
            continue;
        if (r->words & 1u << i)
            return broken(r, "a word that is there twice");
        r->words |= 1u << i;
        return (*texts[i].text = th_study_text(study, value)) ? 0 : th_error_no_memory(r->err);
    }
    if (strcmp(key, "seed") == 0)
        study->seed = strtoll(value, NULL, 10);
    if (strcmp(key, "digest") == 0)
        snprintf(r->digest, sizeof r->digest, "%s", value);
    return 0;
}

/* The rows of a damaged file need not be as many as were counted. */
static int take_value(reading *r, sqlite3_stmt *s)
{
    th_study_parameter *p = &r->study->parameters[r->study->n_parameters - 1];
    const char *text = th_store_text(s, 0);
    int64_t position;
    if (!text || r->axis >= p->n_values || !whole_at(s, 1, r->axis, r->axis, &position))
        return broken(r, "values of a parameter");
    p->values[r->axis] = th_study_text(r->study, text);
    return p->values[r->axis++] ? 0 : th_error_no_memory(r->err);
}

static int take_parameter(reading *r, sqlite3_stmt *s)
{
    enum { VALUES_MAX = TH_STUDY_CELLS_MAX };
    th_study *study = r->study;
    int64_t n, axis, number;
    if (!whole_at(s, 3, 1, VALUES_MAX, &n))
        return broken(r, "values of a parameter");
    if (!whole_at(s, 0, 0, TH_STUDY_PARAMETERS_MAX - 1, &number) ||
        !whole_at(s, 2, 0, TH_STUDY_PARAMETERS_MAX - 1, &axis))
        return broken(r, "axis of a parameter");
    const char **blank = th_alloc_array((size_t)n, sizeof *blank);
    if (!blank)
        return th_error_no_memory(r->err);
    for (int64_t i = 0; i < n; i++)
        blank[i] = "";
    int failed = th_study_add_parameter(study, text_at(s, 1), blank, (int32_t)n, r->err);
    th_free(blank);
    if (failed)
        return -1;
    r->axis = 0;
    study->parameters[study->n_parameters - 1].axis = (int)axis;
    failed = each_row(r, "SELECT value, position FROM value WHERE parameter = ? ORDER BY position",
                      number, take_value);
    return failed || r->axis == n ? failed : broken(r, "values of a parameter");
}

static int take_metric(reading *r, sqlite3_stmt *s)
{
    int64_t type, own;
    if (!whole_at(s, 3, TH_FIGURE_INTEGER, TH_FIGURE_TEXT, &type) || !whole_at(s, 4, 0, 1, &own))
        return broken(r, "type of a metric");
    return th_study_add_metric(r->study,
                               &(th_study_metric){.name = text_at(s, 0),
                                                  .kind = text_at(s, 1),
                                                  .column = text_at(s, 2),
                                                  .type = (th_figure_type)type,
                                                  .is_own = own != 0},
                               r->err);
}

/* Axes are numbered by their first parameters, and their parameters are equally long. */
static int check_axes(const reading *r)
{
    th_study *s = r->study;
    s->n_axes = 0;
    for (int i = 0; i < s->n_parameters; i++) {
        int axis = s->parameters[i].axis;
        if (axis < 0 || axis > s->n_axes)
            return broken(r, "axis of a parameter");
        s->n_axes += axis == s->n_axes;
        for (int k = 0; k < i; k++)
            if (s->parameters[k].axis == axis &&
                s->parameters[k].n_values != s->parameters[i].n_values)
                return broken(r, "axis of a parameter");
    }
    return 0;
}

/* Views, triggers, indices, other columns and types would make SQLite run what they say. */
static int check_table(reading *r, sqlite3_stmt *s)
{
    static const char points[] =
        "CREATE TABLE point (point INTEGER PRIMARY KEY, cell INTEGER NOT NULL, ";
    const char *sql = text_at(s, 2);
    bool is_ours = strncmp(sql, points, sizeof points - 1) == 0; /* store.c compares the rest */
    for (int i = 0; i < N_TABLES && !is_ours; i++)
        is_ours = strcmp(sql, tables[i]) == 0;
    r->n_tables++;
    if (is_ours && strcmp(text_at(s, 0), "table") == 0)
        return 0;
    return th_error_set(
        r->err, "STUDY-0252",
        "the %.20s \"%.80s\" in the file is none that create_study makes: must be its "
        "tables, unchanged, and nothing else",
        text_at(s, 0), text_at(s, 1));
}

static int read_all(reading *r)
{
    char digest[20];
    if (each_row(r, "SELECT type, name, sql FROM sqlite_master", 0, check_table) ||
        (r->n_tables != N_TABLES + 1 && broken(r, "a table is missing")) ||
        each_row(r, "SELECT key, value FROM study", 0, take_word) ||
        each_row(r,
                 "SELECT p.position, p.name, p.axis, count(v.position) FROM parameter p "
                 "LEFT JOIN value v ON v.parameter = p.position GROUP BY p.position "
                 "ORDER BY p.position",
                 0, take_parameter) ||
        each_row(r, "SELECT name, kind, \"column\", type, own FROM metric ORDER BY position", 0,
                 take_metric) ||
        check_axes(r) || th_study_check(r->study, r->err))
        return -1;
    return strcmp(r->digest, digest_text(r->study, digest)) == 0 ? 0 : broken(r, "its digest");
}

th_study *th_store_read_study(sqlite3 *db, th_error *err)
{
    reading r = {.db = db, .study = th_study_new(), .err = err};
    if (!r.study)
        th_error_no_memory(err);
    else if (read_all(&r) == 0)
        return r.study;
    th_study_free(r.study);
    return NULL;
}
