/* SPDX-License-Identifier: GPL-3.0-or-later */
/* virtual_table.c - a class of figures as a virtual table of SQLite. An equality with the id finds
 * its row at once, one with another column by a hash index, which is made when a statement asks for
 * the second time.
 *   connect -> best_index -> (open -> (filter -> (column | next)*)* -> close)* -> disconnect
 * https://www.sqlite.org/vtab.html. The tables are eponymous: nothing creates them, and nothing is
 * stored. A constraint that an index is used for is checked by SQLite again (omit is 0), so that an
 * index may return too many rows, and never too few. */
#include <config.h>
#include "session/query/query.h"
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "base/interrupt.h"

enum { SCAN = 0 }; /* idxNum: or 1 + the column of an equality */

/* A column, and its index: the rows of each value, in order. */
typedef struct column {
    th_kind kind;
    bool was_asked;
    th_map *first; /* by value; NULL: not made yet */
    int32_t *next; /* of the same value; -1: none */
} column;

typedef struct table {
    sqlite3_vtab base; /* first */
    const th_query_source *source;
    int n_keys, n_columns;
    column *columns;
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base; /* first */
    int32_t row, end;
    const int32_t *next;  /* NULL: rows follow each other */
    int32_t row_of_cells; /* -1: none */
    th_quantity cells[TH_FIGURES_MAX];
    th_strbuf texts; /* of these cells, which the session made */
} cursor;

static table *table_of(sqlite3_vtab_cursor *c)
{
    return (table *)c->pVtab;
}

/* ---- columns ---- */

static bool is_text(const table *t, int c)
{
    return t->columns[c].kind == TH_KIND_TEXT;
}

static th_quantity value_of(const table *t, int32_t row, int c)
{
    const th_figures *f = t->source->figures;
    int i = c - t->n_keys - 1;
    if (c == 0)
        return th_count(row);
    if (i >= 0 && f->row) {
        th_quantity cells[TH_FIGURES_MAX];
        f->row(t->source->session, row, cells);
        return cells[i];
    }
    const th_attribute *a = i < 0 ? &f->keys[c - 1] : &f->attributes[i];
    return a->get(t->source->session, row, a);
}

/* "CREATE TABLE x(id INTEGER, ...", and the columns. NULL: memory is out. */
static char *declare(table *t)
{
    th_strbuf sql = TH_STRBUF_INIT;
    char name[TH_FIGURE_NAME_MAX];
    size_t capacity = 0;
    th_attribute a;
    for (int c = 0; (a = th_figures_column(t->source->figures, c)).name; c++) {
        if (th_grow(&t->columns, &capacity, (size_t)c + 1, sizeof *t->columns) != 0)
            return th_strbuf_clear(&sql), NULL;
        t->columns[c] = (column){.kind = a.kind};
        t->n_columns = c + 1;
        th_strbuf_printf(&sql, "%s%s %s", c > 0 ? ", " : "CREATE TABLE x(",
                         th_query_column_name(&a, name),
                         a.kind == TH_KIND_TEXT    ? "TEXT"
                         : th_kind_is_real(a.kind) ? "REAL"
                                                   : "INTEGER");
    }
    th_strbuf_add(&sql, ")");
    return sql.failed ? (th_strbuf_clear(&sql), NULL) : sql.text;
}

/* ---- life of a table ---- */

static int disconnect(sqlite3_vtab *v)
{
    table *t = (table *)v;
    for (int c = 0; c < t->n_columns; c++) {
        th_map_free(t->columns[c].first);
        th_free(t->columns[c].next);
    }
    th_free(t->columns);
    th_free(t);
    return SQLITE_OK;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                   char **problem)
{
    (void)argc;
    (void)argv;
    (void)problem;
    table *t = th_alloc_zero(1, sizeof *t);
    if (!t)
        return SQLITE_NOMEM;
    t->source = aux;
    t->n_keys = th_figures_n_keys(t->source->figures);
    char *sql = declare(t);
    int code = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
    th_free(sql);
    if (code == SQLITE_OK)
        *out = &t->base;
    else
        disconnect(&t->base);
    return code;
}

/* ---- the plan ---- */

/* The column of the i-th constraint if an index can answer it, else n_columns. Reals are not looked
 * up: equal ones can differ in their bytes. */
static int indexed_column(const table *t, sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *x = &info->aConstraint[i];
    int c = x->iColumn < 0 ? 0 : x->iColumn; /* the rowid is the id */
    bool is_binary = !is_text(t, c) || strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
    return x->usable && x->op == SQLITE_INDEX_CONSTRAINT_EQ && is_binary &&
                   !th_kind_is_real(t->columns[c].kind)
               ? c
               : t->n_columns;
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
    const table *t = (const table *)v;
    static const double rows = 1e6, values_of_key = 64; /* assumed: the plan depends on SQL alone */
    int best = -1, c = t->n_columns;
    for (int i = 0; i < info->nConstraint; i++)
        if (indexed_column(t, info, i) < c) { /* the id first, then keys */
            best = i;
            c = indexed_column(t, info, i);
        }
    info->idxNum = best < 0 ? SCAN : 1 + c;
    info->estimatedRows = (sqlite3_int64)(best < 0 ? rows : c == 0 ? 1 : rows / values_of_key);
    info->estimatedCost = 2 + (double)info->estimatedRows;
    if (best >= 0)
        info->aConstraintUsage[best].argvIndex = 1;
    if (c == 0)
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
}

/* ---- indexes ---- */

/* The bytes of a value as a key; n 0: it is absent. */
static const void *key_of(const th_quantity *q, size_t *n)
{
    *n = q->is_absent ? 0 : q->kind == TH_KIND_TEXT ? strlen(q->text) + 1 : sizeof q->whole;
    return q->kind == TH_KIND_TEXT ? (const void *)q->text : &q->whole;
}

/* From the last row to the first, so that every list is in order. A code of SQLite. */
static int fill_index(const table *t, int c, column *x)
{
    enum { ROWS_BETWEEN = 1 << 16 }; /* two polls of Ctrl-C; a power of two */
    th_session *s = t->source->session;
    for (int32_t row = t->source->figures->count(s) - 1; row >= 0; row--) {
        size_t n;
        int64_t first = -1;
        th_quantity q = value_of(t, row, c);
        const void *key = key_of(&q, &n);
        if ((row & (ROWS_BETWEEN - 1)) == 0 && th_interrupt_is_pending())
            return SQLITE_INTERRUPT;
        if (n > 0)
            (void)th_map_get(x->first, key, n, &first);
        if (s->text.scratch.failed)
            return th_strbuf_clear(&s->text.scratch), SQLITE_NOMEM;
        if (n > 0 && th_map_put(x->first, key, n, row) != 0)
            return SQLITE_NOMEM;
        x->next[row] = (int32_t)first;
    }
    return SQLITE_OK;
}

static int make_index(table *t, int c)
{
    column *x = &t->columns[c];
    size_t n = (size_t)t->source->figures->count(t->source->session);
    x->first = th_map_new();
    x->next = th_alloc_array(n + 1, sizeof *x->next);
    int code = x->first && x->next ? fill_index(t, c, x) : SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        th_map_free(x->first);
        x->first = NULL;
    }
    return code;
}

/* Puts the cursor at the first row that may have this value. */
static int find_rows(table *t, int c, sqlite3_value *v, cursor *at)
{
    column *x = &t->columns[c];
    th_quantity q = is_text(t, c) ? th_text((const char *)sqlite3_value_text(v))
                                  : th_count(sqlite3_value_int64(v));
    if (sqlite3_value_type(v) != (is_text(t, c) ? SQLITE_TEXT : SQLITE_INTEGER))
        return SQLITE_OK; /* scan: SQLite compares */
    if (c == 0) {
        at->row = q.whole >= 0 && q.whole < at->end ? (int32_t)q.whole : at->end;
        at->end = at->row < at->end ? at->row + 1 : at->end;
        return SQLITE_OK;
    }
    int code = x->first || !x->was_asked ? SQLITE_OK : make_index(t, c);
    x->was_asked = true;
    if (!x->first)
        return code;
    size_t n;
    int64_t first = at->end;
    const void *key = key_of(&q, &n);
    (void)th_map_get(x->first, key, n, &first);
    at->next = x->next;
    at->row = (int32_t)first;
    return SQLITE_OK;
}

/* ---- a cursor ---- */

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
    const table *t = (const table *)v;
    if (t->source->figures->need(t->source->session, t->source->failure) != 0)
        return SQLITE_ERROR;
    cursor *c = th_alloc_zero(1, sizeof *c);
    *out = c ? &c->base : NULL;
    return c ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
    th_strbuf_clear(&((cursor *)c)->texts);
    th_free(c);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *v, int plan, const char *text, int argc,
                  sqlite3_value **argv)
{
    cursor *c = (cursor *)v;
    table *t = table_of(v);
    (void)text;
    c->row = 0;
    c->row_of_cells = -1;
    c->end = t->source->figures->count(t->source->session);
    c->next = NULL;
    return plan == SCAN || argc < 1 ? SQLITE_OK : find_rows(t, plan - 1, argv[0], c);
}

static int next(sqlite3_vtab_cursor *v)
{
    cursor *c = (cursor *)v;
    int32_t row = c->next ? c->next[c->row] : c->row + 1;
    c->row = row >= 0 ? row : c->end;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *v)
{
    const cursor *c = (const cursor *)v;
    return c->row >= c->end;
}

/* A class that gives its rows whole is asked once for each. */
static th_quantity cell_of(cursor *c, int i)
{
    const table *t = table_of(&c->base);
    th_strbuf *scratch = &t->source->session->text.scratch;
    if (i <= t->n_keys || !t->source->figures->row)
        return value_of(t, c->row, i);
    if (c->row_of_cells != c->row) {
        th_strbuf_clear(scratch);
        th_strbuf_clear(&c->texts);
        t->source->figures->row(t->source->session, c->row, c->cells);
        if (!scratch->failed) { /* else memory is out, as the caller will see */
            c->texts = *scratch;
            *scratch = (th_strbuf)TH_STRBUF_INIT;
        }
        c->row_of_cells = c->row;
    }
    return c->cells[i - t->n_keys - 1];
}

static int read_column(sqlite3_vtab_cursor *v, sqlite3_context *out, int i)
{
    th_session *s = table_of(v)->source->session;
    th_quantity q = cell_of((cursor *)v, i);
    if (s->text.scratch.failed) {
        th_strbuf_clear(&s->text.scratch);
        return SQLITE_NOMEM;
    }
    if (q.is_absent)
        sqlite3_result_null(out);
    else if (q.kind == TH_KIND_TEXT) /* other texts live as long as what they are the names of */
        sqlite3_result_text(out, q.text, -1,
                            s->text.scratch.length + ((cursor *)v)->texts.length > 0
                                ? SQLITE_TRANSIENT
                                : SQLITE_STATIC);
    else if (th_kind_is_real(q.kind))
        sqlite3_result_double(out, q.real);
    else
        sqlite3_result_int64(out, q.whole);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *v, sqlite3_int64 *out)
{
    *out = ((const cursor *)v)->row;
    return SQLITE_OK;
}

int th_query_add_table(sqlite3 *db, th_query_source *source)
{
    static const sqlite3_module module = {
        .xConnect = connect,
        .xBestIndex = best_index,
        .xDisconnect = disconnect,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = is_at_end,
        .xColumn = read_column,
        .xRowid = rowid,
    };
    return sqlite3_create_module_v2(db, source->figures->name, &module, source, NULL);
}
