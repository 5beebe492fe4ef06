/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.c - see query.h.
 *   open (tables, limits, then the authorizer) -> prepare -> bind -> step* -> close
 * The database is empty and in memory. What a statement may do is decided before it runs, by the
 * authorizer: https://www.sqlite.org/c3ref/set_authorizer.html. */
#include <config.h>
#include "session/query/query.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/interrupt.h"

enum {
    CLASSES_MAX = 32,
    STEPS_BETWEEN = 10000, /* of SQLite, between two polls of Ctrl-C */
    TEXT_BYTES_MAX = 16 << 20,
    CELLS_MAX = 20000000 /* of a result, 1 GB */
};

/* Of one query. */
typedef struct query {
    const char *sql;
    sqlite3 *db;
    sqlite3_stmt *statement;
    th_query_source sources[CLASSES_MAX];
    th_error failure;                /* of a table; its id is empty: none */
    char refused[100], function[64]; /* by the authorizer; "": nothing */
    bool was_interrupted;
    th_report *report;
    th_table *table;    /* that the rows go to */
    th_column *columns; /* of that table, if it is made for them; NULL: their kinds are given */
    int n_columns;
} query;

/* Those without side effects, clock, chance or a way out of the tables. */
const char *const th_query_functions[] = {
    /* of groups and windows */
    "avg", "count", "group_concat", "max", "min", "sum", "total", "row_number", "rank",
    "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
    "nth_value",
    /* of a row */
    "abs", "coalesce", "glob", "ifnull", "iif", "instr", "length", "like", "lower", "ltrim",
    "nullif", "printf", "replace", "round", "rtrim", "substr", "trim", "typeof", "upper", NULL};

/* ---- what a query may do ---- */

static bool is_allowed_function(const char *name)
{
    int i = 0;
    while (th_query_functions[i] && strcmp(th_query_functions[i], name) != 0)
        i++;
    return th_query_functions[i];
}

static const char *action_in_words(int action)
{
    switch (action) {
    case SQLITE_ATTACH:
        return "ATTACH";
    case SQLITE_DETACH:
        return "DETACH";
    case SQLITE_PRAGMA:
        return "PRAGMA";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return "a transaction";
    case SQLITE_UPDATE: /* of the schema: asked for before a table-valued function is read */
        return "another table";
    default:
        return "a statement that writes";
    }
}

/* A part of the statement itself (WITH c AS ...) has no name, or is asked for without columns. */
static bool may_read(const char *of, const char *column)
{
    bool is_of_sqlite = of && sqlite3_strnicmp(of, "sqlite_", 7) == 0;
    return !of || (column[0] == '\0' && !is_of_sqlite) || th_query_table_named(of);
}

static int authorize(void *state, int action, const char *a, const char *b, const char *database,
                     const char *inner)
{
    query *q = state;
    (void)database;
    (void)inner;
    if (action == SQLITE_SELECT || action == SQLITE_RECURSIVE ||
        (action == SQLITE_READ && may_read(a, b)) ||
        (action == SQLITE_FUNCTION && is_allowed_function(b)))
        return SQLITE_OK;
    if (action == SQLITE_FUNCTION)
        snprintf(q->function, sizeof q->function, "%s", b);
    else if (action == SQLITE_READ)
        snprintf(q->refused, sizeof q->refused, "table \"%.80s\"", a);
    else if (q->refused[0] == '\0') /* the first is what the user wrote */
        snprintf(q->refused, sizeof q->refused, "%s", action_in_words(action));
    return SQLITE_DENY;
}

static int poll_interrupt(void *state)
{
    query *q = state;
    q->was_interrupted |= th_interrupt_is_pending();
    return q->was_interrupted;
}

static void set_limits(sqlite3 *db)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX},
                                    {SQLITE_LIMIT_SQL_LENGTH, 100000},
                                    {SQLITE_LIMIT_COLUMN, 2000},
                                    {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                    {SQLITE_LIMIT_COMPOUND_SELECT, 20},
                                    {SQLITE_LIMIT_VDBE_OP, 100000},
                                    {SQLITE_LIMIT_FUNCTION_ARG, 16},
                                    {SQLITE_LIMIT_ATTACHED, 0},
                                    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
                                    {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
                                    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                    {SQLITE_LIMIT_WORKER_THREADS, 0}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i][0], limits[i][1]);
}

/* -1: what SQLite says, or what lies behind it. */
static int fail(query *q, int code, th_error *err)
{
    if (q->was_interrupted || code == SQLITE_INTERRUPT)
        return th_error_interrupted(err, "nothing was printed");
    if (code == SQLITE_NOMEM)
        return th_error_no_memory(err);
    if (q->failure.id[0] != '\0') {
        *err = q->failure;
        return -1;
    }
    if (q->function[0] != '\0')
        return th_query_unknown_function(q->function, err);
    if (q->refused[0] != '\0')
        return th_error_set(err, "TCL-2172",
                            "%s: refused: a query is one SELECT that reads tables of \"query "
                            "-tables\"",
                            q->refused);
    return th_query_explain(sqlite3_errmsg(q->db), q->sql, err);
}

/* ---- the connection ---- */

/* Makes SQLite know the columns of a table: it would ask the authorizer for that, too. */
static int connect_table(sqlite3 *db, const char *name)
{
    char sql[100];
    sqlite3_stmt *statement = NULL;
    snprintf(sql, sizeof sql, "SELECT 1 FROM %s", name);
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    sqlite3_finalize(statement);
    return code;
}

static int add_tables(query *q, th_session *s)
{
    int code = SQLITE_OK;
    for (int i = 0; th_figure_classes[i] && i < CLASSES_MAX && code == SQLITE_OK; i++) {
        const th_figures *f = th_figure_classes[i];
        q->sources[i] = (th_query_source){f, s, &q->failure};
        if (th_query_mentions(q->sql, f->name) &&
            (code = th_query_add_table(q->db, &q->sources[i])) == SQLITE_OK)
            code = connect_table(q->db, f->name);
    }
    return code;
}

/* A code of SQLite. Sorting is in memory, too: a query writes no file. */
static int open_query(query *q, th_session *s)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(":memory:", &q->db, flags, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(q->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
#ifdef SQLITE_DBCONFIG_DQS_DML /* "strat" is an unknown column then, and no text */
    if (code == SQLITE_OK)
        code = sqlite3_db_config(q->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
#endif
    if (code == SQLITE_OK)
        code = add_tables(q, s);
    if (code != SQLITE_OK)
        return code;
    set_limits(q->db);
    sqlite3_progress_handler(q->db, STEPS_BETWEEN, poll_interrupt, q);
    return sqlite3_set_authorizer(q->db, authorize, q);
}

/* Is there nothing behind the statement but blanks, semicolons and comments? */
static bool is_all(sqlite3 *db, const char *tail)
{
    sqlite3_stmt *more = NULL;
    bool is_end = sqlite3_prepare_v2(db, tail, -1, &more, &tail) == SQLITE_OK && !more;
    sqlite3_finalize(more);
    return is_end && tail[strspn(tail, " \t\r\n;")] == '\0';
}

static int prepare(query *q, th_error *err)
{
    const char *tail = "";
    int code = sqlite3_prepare_v2(q->db, q->sql, -1, &q->statement, &tail);
    if (code != SQLITE_OK)
        return fail(q, code, err);
    if (q->statement && (q->n_columns = sqlite3_column_count(q->statement)) > 0 &&
        is_all(q->db, tail))
        return 0;
    return th_error_set(err, "TCL-2173", "\"%.100s\": must be one statement, a SELECT", q->sql);
}

static int bind(query *q, th_query_parameter parameter, void *state, th_error *err)
{
    for (int i = 1; i <= sqlite3_bind_parameter_count(q->statement); i++) {
        const char *name = sqlite3_bind_parameter_name(q->statement, i);
        th_quantity value;
        if (!name || (name[0] != '$' && name[0] != ':'))
            return th_error_set(err, "TCL-2174", "parameter \"%s\": must be $NAME or :NAME",
                                name ? name : "?");
        if (parameter(state, name, &value, err) != 0)
            return -1;
        if (value.kind == TH_KIND_TEXT)
            sqlite3_bind_text(q->statement, i, value.text, -1, SQLITE_TRANSIENT);
        else if (th_kind_is_real(value.kind))
            sqlite3_bind_double(q->statement, i, value.real);
        else
            sqlite3_bind_int64(q->statement, i, value.whole);
    }
    return 0;
}

/* ---- the result ---- */

/* On one line; "id_2" where there is an "id" before it. */
static const char *name_of(query *q, int column)
{
    const char *wanted = sqlite3_column_name(q->statement, column);
    char *name = th_report_line(q->report, wanted ? wanted : "");
    int count = 1;
    for (int c = 0; name && c < column; c++)
        if (strcmp(q->columns[c].name, name) == 0) {
            name = (char *)th_report_printf(q->report, "%.300s_%d", wanted, ++count);
            c = -1;
        }
    return name ? name : "";
}

static int add_columns(query *q, th_error *err)
{
    if (q->n_columns > TH_COLUMNS_MAX)
        return th_error_set(err, "TCL-2179", "%d columns: must be %d at most", q->n_columns,
                            (int)TH_COLUMNS_MAX);
    q->columns = th_report_columns(q->report, q->n_columns);
    if (!q->columns)
        return th_error_no_memory(err);
    for (int c = 0; c < q->n_columns; c++) {
        const char *name = name_of(q, c);
        q->columns[c] = (th_column){name, name, TH_KIND_COUNT};
    }
    q->columns[q->n_columns] = (th_column){NULL, NULL, TH_KIND_TEXT};
    q->table = th_report_table(q->report, "rows", NULL, q->columns);
    if (q->table)
        q->table->keeps_empty = true;
    return th_report_state(q->report, err);
}

/* A column becomes of the widest kind of its values: counts, numbers, texts. */
static th_quantity cell_of(query *q, int column)
{
    th_kind *kind = &q->columns[column].kind;
    double real;
    switch (sqlite3_column_type(q->statement, column)) {
    case SQLITE_INTEGER:
        return th_count(sqlite3_column_int64(q->statement, column));
    case SQLITE_FLOAT:
        *kind = *kind == TH_KIND_TEXT ? TH_KIND_TEXT : TH_KIND_NUMBER;
        real = sqlite3_column_double(q->statement, column);
        return isfinite(real) ? th_number(real) : th_absent(TH_KIND_NUMBER); /* JSON has no Inf */
    case SQLITE_NULL:
        return th_absent(TH_KIND_COUNT);
    default:
        *kind = TH_KIND_TEXT;
        return th_text((const char *)sqlite3_column_text(q->statement, column));
    }
}

/* A value of the kind that its column has. */
static th_quantity typed_cell(query *q, int column)
{
    th_quantity out = th_absent(q->table->columns[column].kind);
    if (sqlite3_column_type(q->statement, column) == SQLITE_NULL)
        return out;
    out.is_absent = false;
    if (out.kind == TH_KIND_TEXT)
        out.text = (const char *)sqlite3_column_text(q->statement, column);
    else if (th_kind_is_real(out.kind))
        out.real = sqlite3_column_double(q->statement, column);
    else
        out.whole = sqlite3_column_int64(q->statement, column);
    return out;
}

static int add_rows(query *q, th_error *err)
{
    th_quantity cells[TH_COLUMNS_MAX];
    int code;
    for (int64_t n = 0; (code = sqlite3_step(q->statement)) == SQLITE_ROW; n += q->n_columns) {
        if (n > CELLS_MAX)
            return th_error_set(err, "TCL-2180",
                                "more than %d values: must be fewer rows (GROUP BY, WHERE, LIMIT)",
                                (int)CELLS_MAX);
        for (int c = 0; c < q->n_columns; c++)
            cells[c] = q->columns ? cell_of(q, c) : typed_cell(q, c);
        th_table_row(q->table, cells);
        if (th_report_state(q->report, err) != 0)
            return -1;
    }
    return code == SQLITE_DONE ? 0 : fail(q, code, err);
}

/* parameter NULL: the statement has none, and its rows go to q->table. */
static int run(query *q, th_session *s, th_query_parameter parameter, void *state, th_error *err)
{
    int code = open_query(q, s);
    int failed = code != SQLITE_OK ? fail(q, code, err) : prepare(q, err);
    if (!failed && parameter)
        failed = bind(q, parameter, state, err) || add_columns(q, err);
    if (!failed && q->n_columns != q->table->n_columns)
        failed = th_error_set(err, "TCL-2270", "SQL: %d columns: must be %d", q->n_columns,
                              q->table->n_columns);
    if (!failed)
        failed = add_rows(q, err);
    sqlite3_finalize(q->statement);
    sqlite3_close(q->db);
    return failed ? -1 : 0;
}

int th_query_run(th_session *s, const char *sql, th_query_parameter parameter, void *state,
                 th_report *r, th_error *err)
{
    query q = {.sql = sql, .report = r};
    return run(&q, s, parameter, state, err);
}

int th_query_fill(th_session *s, const char *sql, th_table *t, th_error *err)
{
    query q = {.sql = sql, .report = t->report, .table = t};
    return run(&q, s, NULL, NULL, err);
}

/* ---- the list of tables ---- */

int th_query_list_tables(th_report *r, const char *only, th_error *err)
{
    static const th_column columns[] = {
        {"table", "table", TH_KIND_TEXT}, {"column", "column", TH_KIND_TEXT},
        {"unit", "unit", TH_KIND_TEXT},   {"meaning", "meaning", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    if (only && !th_query_table_named(only))
        return th_query_unknown_table(only, err);
    th_table *t = th_report_table(r, "tables", NULL, columns);
    th_table_wrap(t);
    for (int i = 0; th_figure_classes[i]; i++) {
        const th_figures *f = th_figure_classes[i];
        th_attribute a;
        char name[TH_FIGURE_NAME_MAX];
        for (int c = 0;
             (!only || th_query_table_named(only) == f) && (a = th_figures_column(f, c)).name; c++)
            th_table_row(t,
                         (th_quantity[]){th_text(f->name), th_text(th_query_column_name(&a, name)),
                                         th_text(th_figures_unit(a.kind)), th_text(a.help)});
    }
    return 0;
}
