/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "study/store.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>
#include "base/alloc.h"
#include "tests/unit/tap.h"

static char path[200];

/* A name that no file has. */
static const char *fresh(void)
{
    snprintf(path, sizeof path, "test_store.%d.db", (int)getpid());
    unlink(path);
    return path;
}

static th_study *a_study(void)
{
    th_study *s = th_study_new();
    th_study_add_parameter(s, "batch", (const char *const[]){"1", "16", "1e3"}, 3, NULL);
    th_study_add_parameter(s, "dims", (const char *const[]){"4 4", "it's; \"x\"", "0.5"}, 3, NULL);
    th_study_add_metric(
        s, &(th_study_metric){"latency", "time", "latency_ps", TH_FIGURE_INTEGER, false}, NULL);
    th_study_add_metric(
        s, &(th_study_metric){"share", "share", "share_percent", TH_FIGURE_REAL, true}, NULL);
    th_study_add_metric(s, &(th_study_metric){"note", "text", "note", TH_FIGURE_TEXT, true}, NULL);
    s->name = "s";
    s->version = "v";
    s->script = "'); DROP TABLE point; --\nsecond line";
    s->where = "$batch > 0";
    s->seed = INT64_MAX;
    return s;
}

/* Cells 1, 4 and 8 of nine. */
static th_store *a_store(void)
{
    static const int64_t cells[] = {1, 4, 8};
    th_study *s = a_study();
    th_error e = {"", ""};
    th_store *t = th_store_create(fresh(), s, cells, 3, &e);
    TAP_ASSERT_TEXT(e.text, "");
    th_study_free(s);
    return t;
}

static th_study_point result(int64_t number, int64_t latency)
{
    th_study_point p = {.number = number, .state = TH_POINT_DONE, .mapping = "0123"};
    p.figures[0].whole = latency;
    p.figures[1].real = 12.5;
    p.figures[2].text = "o'clock";
    return p;
}

static void record(th_store *t, const th_study_point *p, const char *id)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_store_begin(t, &e), 0);
    th_store_record(t, p, &e);
    TAP_ASSERT_TEXT(e.id, id);
    CU_ASSERT_EQUAL(th_store_commit(t, NULL), 0);
}

static int print(void *state, const th_study_point *p)
{
    th_strbuf *out = state;
    th_strbuf_printf(out, "%d %d %s", (int)p->number, (int)p->cell, th_point_state_name(p->state));
    if (!p->figures[0].is_absent)
        th_strbuf_printf(out, " %d %g %s", (int)p->figures[0].whole, p->figures[1].real,
                         p->figures[2].text);
    th_strbuf_printf(out, "%s%s\n", p->error != NULL ? " " : "", p->error != NULL ? p->error : "");
    return 0;
}

static void expect_rows(th_store *t, const char *rows)
{
    th_strbuf out = TH_STRBUF_INIT;
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_store_read(t, print, &out, &e), 0);
    TAP_ASSERT_TEXT(out.text, rows);
    TAP_ASSERT_TEXT(e.text, "");
    th_strbuf_clear(&out);
}

TEST(keeps_the_study_word_by_word)
{
    th_store *t = a_store();
    th_store_close(t);
    CU_ASSERT_TRUE(th_store_exists(path));
    th_error e = {"", ""};
    th_study *s = a_study();
    t = th_store_open(path, NULL, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_EQUAL(th_study_compare(th_store_study(t), s, &e), 0);
    CU_ASSERT_EQUAL(th_study_digest(th_store_study(t)), th_study_digest(s));
    TAP_ASSERT_TEXT(th_store_study(t)->script, s->script);
    TAP_ASSERT_TEXT(th_study_value(th_store_study(t), 1, 1), "it's; \"x\"");
    th_store_close(t);
    th_study_free(s);
    unlink(path);
}

TEST(keeps_results)
{
    th_store *t = a_store();
    th_study_point done = result(3, 700),
                   bad = {.number = 1, .state = TH_POINT_FAILED, .error = "it's out"};
    for (int i = 0; i < TH_STUDY_METRICS_MAX; i++)
        bad.figures[i].is_absent = true;
    record(t, &done, "");
    record(t, &bad, "");
    th_store_close(t);
    t = th_store_open(path, NULL, NULL);
    expect_rows(t, "1 1 failed it's out\n2 4 waiting\n3 8 done 700 12.5 o'clock\n");
    int64_t counts[TH_N_POINT_STATES];
    CU_ASSERT_EQUAL(th_store_counts(t, counts, NULL), 0);
    CU_ASSERT_TRUE(counts[0] == 1 && counts[1] == 1 && counts[2] == 1);
    th_store_close(t);
    unlink(path);
}

/* Neither one that is done, nor one that failed, nor one that there is not. */
TEST(refuses_a_second_result)
{
    th_store *t = a_store();
    th_study_point first = result(2, 700), second = result(2, 800), nowhere = result(4, 1);
    record(t, &first, "");
    record(t, &second, "STUDY-0028");
    record(t, &nowhere, "STUDY-0028");
    expect_rows(t, "1 1 waiting\n2 4 done 700 12.5 o'clock\n3 8 waiting\n");
    th_store_close(t);
    unlink(path);
}

TEST(hands_out_what_waits)
{
    th_store *t = a_store();
    th_study_point p = result(2, 5), bad = {.number = 3, .state = TH_POINT_FAILED, .error = "x"};
    int64_t number = 0, cell = 0;
    CU_ASSERT_EQUAL(th_store_next_waiting(t, 0, &number, &cell, NULL), 1);
    CU_ASSERT_TRUE(number == 1 && cell == 1);
    record(t, &p, "");
    CU_ASSERT_EQUAL(th_store_next_waiting(t, 1, &number, &cell, NULL), 1);
    CU_ASSERT_TRUE(number == 3 && cell == 8);
    record(t, &bad, "");
    CU_ASSERT_EQUAL(th_store_next_waiting(t, 1, &number, &cell, NULL), 0);
    CU_ASSERT_EQUAL(th_store_retry_failed(t, NULL), 0);
    CU_ASSERT_EQUAL(th_store_next_waiting(t, 1, &number, &cell, NULL), 1);
    CU_ASSERT_EQUAL(number, 3);
    th_store_close(t);
    unlink(path);
}

/* What was not committed is gone when the store is closed, as when the process is killed. */
TEST(forgets_what_is_not_committed)
{
    th_store *t = a_store();
    th_study_point p = result(2, 5);
    CU_ASSERT_EQUAL(th_store_begin(t, NULL), 0);
    CU_ASSERT_EQUAL(th_store_record(t, &p, NULL), 0);
    th_store_close(t);
    t = th_store_open(path, NULL, NULL);
    expect_rows(t, "1 1 waiting\n2 4 waiting\n3 8 waiting\n");
    th_store_close(t);
    unlink(path);
}

/* Between opening and locking somebody took it away. */
TEST(cannot_lock_what_is_gone)
{
    th_store *t = a_store();
    th_error e = {"", ""};
    char text[256];
    unlink(path);
    CU_ASSERT_EQUAL(th_store_lock(t, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0026");
    snprintf(text, sizeof text, "%s: cannot be opened: No such file or directory", path);
    TAP_ASSERT_TEXT(e.text, text);
    th_store_close(t);
}

TEST(lets_one_write)
{
    th_store *t = a_store(), *other = th_store_open(path, NULL, NULL);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_store_lock(t, &e), 0);
    CU_ASSERT_EQUAL(th_store_lock(t, &e), 0);
    CU_ASSERT_EQUAL(th_store_lock(other, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0027");
    expect_rows(other, "1 1 waiting\n2 4 waiting\n3 8 waiting\n");
    th_store_close(t);
    CU_ASSERT_EQUAL(th_store_lock(other, &e), 0);
    th_store_close(other);
    unlink(path);
}

static void expect_refusal(const char *id)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_store_open(path, NULL, &e));
    TAP_ASSERT_TEXT(e.id, id);
}

static void write_file(const char *text)
{
    FILE *f = fopen(fresh(), "w");
    fputs(text, f);
    fclose(f);
}

TEST(refuses_other_files)
{
    fresh();
    expect_refusal("STUDY-0029"); /* none */
    write_file("");
    CU_ASSERT_FALSE(th_store_exists(path));
    expect_refusal("STUDY-0023");
    write_file("a text that is longer than the sixteen bytes that SQLite looks at, and than its "
               "header of a "
               "hundred bytes\n");
    expect_refusal("STUDY-0020");
    unlink(path);
}

static void tamper(const char *sql)
{
    sqlite3 *db;
    th_store_close(a_store());
    CU_ASSERT_EQUAL(sqlite3_open(path, &db), SQLITE_OK);
    CU_ASSERT_EQUAL(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Whatever somebody has changed in the definition is told, and nothing of it gets into SQL. */
TEST(refuses_what_was_tampered_with)
{
    static const struct {
        const char *sql, *id;
    } cases[] = {
        {"PRAGMA application_id = 5", "STUDY-0021"},
        {"PRAGMA user_version = 1", "STUDY-0022"},
        {"UPDATE value SET value = '3' WHERE value = '16'", "STUDY-0030"},
        {"UPDATE study SET value = 'puts' WHERE key = 'script'", "STUDY-0030"},
        {"DELETE FROM study", "STUDY-0030"},
        {"DELETE FROM value WHERE position = 1", "STUDY-0030"},
        {"DELETE FROM value WHERE parameter = 0", "STUDY-0030"},
        {"UPDATE parameter SET axis = 7 WHERE position = 1", "STUDY-0030"},
        {"UPDATE parameter SET axis = -1 WHERE position = 0", "STUDY-0030"},
        {"UPDATE metric SET type = 9 WHERE position = 0", "STUDY-0030"},
        {"UPDATE metric SET \"column\" = 'x\" FROM point; --' WHERE position = 0", "STUDY-0001"},
        {"UPDATE parameter SET name = 'status' WHERE position = 0", "STUDY-0008"},
        {"DROP TABLE metric", "STUDY-0030"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamper(cases[i].sql);
        expect_refusal(cases[i].id);
    }
    unlink(path);
}

static int ignore(void *state, const th_study_point *p)
{
    (void)state;
    (void)p;
    return 0;
}

TEST(refuses_points_outside_the_grid)
{
    th_error e = {"", ""};
    tamper("UPDATE point SET cell = 9 WHERE point = 1");
    th_store *t = th_store_open(path, NULL, &e);
    int64_t number, cell;
    CU_ASSERT_EQUAL(th_store_read(t, ignore, NULL, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0025");
    CU_ASSERT_EQUAL(th_store_next_waiting(t, 0, &number, &cell, &e), -1);
    th_store_close(t);
    unlink(path);
}

TEST(refuses_points_before_the_first)
{
    th_error e = {"", ""};
    tamper("UPDATE point SET point = -3 WHERE point = 1");
    th_store *t = th_store_open(path, NULL, &e);
    CU_ASSERT_EQUAL(th_store_read(t, ignore, NULL, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0092");
    th_store_close(t);
    unlink(path);
}

/* A study never takes the place of another one. */
TEST(makes_nothing_over_a_study)
{
    static const int64_t cells[] = {0};
    th_store *t = a_store();
    th_study_point p = result(2, 5);
    record(t, &p, "");
    th_study *s = a_study();
    th_error e;
    CU_ASSERT_PTR_NULL(th_store_create(path, s, cells, 1, &e));
    TAP_ASSERT_TEXT(e.id, "STUDY-0024");
    expect_rows(t, "1 1 waiting\n2 4 done 5 12.5 o'clock\n3 8 waiting\n");
    th_study_free(s);
    th_store_close(t);
    unlink(path);
}

/* Each allocation of ours in turn. */
TEST(survives_a_lack_of_memory)
{
    th_store *t = a_store();
    th_store_close(t);
    int64_t live = th_alloc_live();
    bool was_made = false;
    for (int k = 1; !was_made && k < 200; k++) {
        th_alloc_fail_at(k);
        t = th_store_open(path, NULL, NULL);
        th_alloc_fail_at(0);
        was_made = t != NULL;
        th_store_close(t);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT_TRUE(was_made);
    unlink(path);
}

/* --- a schema and cells that create_study does not make --- */

/* The same study each time, without waiting for the disk. */
static void put_study(void)
{
    static unsigned char bytes[1 << 16];
    static size_t n;
    if (n == 0) {
        th_store_close(a_store());
        FILE *made = fopen(path, "rb");
        n = fread(bytes, 1, sizeof bytes, made);
        fclose(made);
    }
    FILE *f = fopen(fresh(), "wb");
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static bool is_changed(const char *sql)
{
    sqlite3 *db;
    put_study();
    bool is_done = sqlite3_open(path, &db) == SQLITE_OK &&
                   sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL) == SQLITE_OK &&
                   sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return is_done;
}

/* Read to the end, or refused in one line. The id, "" where all was read. */
static void read_whole(char id[TH_ERROR_ID_MAX])
{
    th_error e = {"", ""};
    int64_t counts[TH_N_POINT_STATES];
    th_store *t = th_store_open(path, NULL, &e);
    if (t && th_store_counts(t, counts, &e) == 0)
        th_store_read(t, ignore, NULL, &e);
    CU_ASSERT_TRUE((e.id[0] == '\0') == (e.text[0] == '\0') && !strpbrk(e.text, "\n\r\t\x1b"));
    CU_ASSERT_TRUE(t != NULL || e.id[0] != '\0');
    th_store_close(t);
    memcpy(id, e.id, TH_ERROR_ID_MAX);
}

/* Views without an end, triggers, other types; every table dropped, renamed or made anew. */
TEST(refuses_another_schema)
{
    static const char *const tables[] = {"study", "parameter", "value", "metric", "point"};
    static const char *const changes[] = {
        "DROP TABLE %1$s",
        "ALTER TABLE %1$s RENAME TO \"o%1$s\"",
        "ALTER TABLE %1$s ADD COLUMN z DEFAULT 7",
        "CREATE TRIGGER g AFTER UPDATE ON %1$s BEGIN DELETE FROM %1$s; END",
        "CREATE VIEW v AS SELECT * FROM %1$s",
        "CREATE INDEX i ON %1$s (1)",
        "CREATE TABLE other AS SELECT * FROM %1$s; DROP TABLE %1$s; ALTER TABLE other RENAME TO "
        "%1$s",
        "ALTER TABLE %1$s RENAME TO o; CREATE VIEW %1$s AS SELECT * FROM o",
        "DROP TABLE %1$s; CREATE VIEW %1$s AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT "
        "x + 1 FROM c) SELECT 'script' AS key, hex(zeroblob(5000000)) AS value FROM c",
        "DROP TABLE %1$s; CREATE VIRTUAL TABLE %1$s USING fts5(key, value)",
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
            char sql[500], id[TH_ERROR_ID_MAX];
            snprintf(sql, sizeof sql, changes[k], tables[i]);
            if (!is_changed(sql)) /* there is no such column for the index */
                continue;
            read_whole(id);
            CU_ASSERT_TRUE(id[0] != '\0');
            if (id[0] == '\0')
                printf("# %s: was read\n", sql);
        }
    unlink(path);
}

/* The definition with columns of any type, in which more rows stand than are counted. */
TEST(refuses_untyped_definitions)
{
    static const char *const all[] = {
        "INSERT INTO v VALUES (0, NULL, 'x'), (0, NULL, 'y'), (0, NULL, 'z')",
        "INSERT INTO v VALUES (0, 3, 'x'), (0, -1, 'y')",
        "UPDATE v SET position = NULL",
        "UPDATE v SET value = NULL",
        "UPDATE v SET value = zeroblob(1000000)",
        "UPDATE v SET position = 'a'",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char sql[500], id[TH_ERROR_ID_MAX];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE v (parameter, position, value); INSERT INTO v SELECT * FROM value;"
                 "DROP TABLE value; %s; ALTER TABLE v RENAME TO value",
                 all[i]);
        CU_ASSERT_TRUE(is_changed(sql));
        read_whole(id);
        TAP_ASSERT_TEXT(id, "STUDY-0252");
        /* The same rows under the name of the table that is expected. */
        snprintf(sql, sizeof sql,
                 "CREATE TABLE v (parameter, position, value); INSERT INTO v SELECT * FROM value;"
                 "%s; PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = (SELECT sql FROM "
                 "sqlite_master WHERE name = 'value'), name = 'value', tbl_name = 'value' WHERE "
                 "name = 'v'; DELETE FROM sqlite_master WHERE rowid = (SELECT min(rowid) FROM "
                 "sqlite_master WHERE name = 'value')",
                 all[i]);
        if (is_changed(sql)) {
            read_whole(id);
            CU_ASSERT_TRUE(id[0] != '\0');
        }
    }
    unlink(path);
}

/* Cells that no study has, wherever a column allows them. */
TEST(survives_any_cell)
{
    static const char *const places[] = {
        "study value",        "study key",       "parameter name",    "parameter axis",
        "parameter position", "value parameter", "value value",       "value position",
        "metric name",        "metric kind",     "metric \"column\"", "metric type",
        "metric own",         "point point",     "point cell",        "point status",
        "point error",        "point mapping",   "point latency_ps",  "point share_percent",
        "point note"};
    static const char *const cells[] = {"NULL",
                                        "x'00'",
                                        "x'1b5b324a'",
                                        "zeroblob(1000000)",
                                        "''",
                                        "-1",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775807",
                                        "1e308",
                                        "'a' || char(0) || 'b'",
                                        "char(27) || '[2J'",
                                        "hex(zeroblob(9000000))"};
    int n_changed = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            char table[20], column[20], sql[300], id[TH_ERROR_ID_MAX];
            sscanf(places[i], "%19s %19s", table, column);
            snprintf(
                sql, sizeof sql,
                "UPDATE \"%s\" SET %s = %s WHERE %s = (SELECT min(%s) FROM \"%s\") OR %s IS NULL",
                table, column, cells[k], column, column, table, column);
            if (!is_changed(sql))
                continue;
            n_changed++;
            read_whole(id);
        }
    CU_ASSERT_TRUE(n_changed > 100);
    unlink(path);
}

/* A figure of another type is told; it is not 0, and no state is another one. */
TEST(refuses_results_of_other_types)
{
    static const char *const all[] = {
        "UPDATE point SET latency_ps = 'slow' WHERE point = 2",
        "UPDATE point SET latency_ps = 1.5 WHERE point = 2",
        "UPDATE point SET share_percent = x'00' WHERE point = 2",
        "UPDATE point SET note = x'6100' WHERE point = 2",
        "UPDATE point SET status = 'dome' WHERE point = 2",
        "UPDATE point SET cell = 'four' WHERE point = 2",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char id[TH_ERROR_ID_MAX];
        CU_ASSERT_TRUE(is_changed(all[i]));
        read_whole(id);
        TAP_ASSERT_TEXT(id, "STUDY-0255");
    }
    unlink(path);
}

TEST(refuses_points_of_another_study)
{
    char id[TH_ERROR_ID_MAX];
    CU_ASSERT_TRUE(is_changed("ALTER TABLE point RENAME COLUMN note TO word"));
    read_whole(id);
    TAP_ASSERT_TEXT(id, "STUDY-0254");
    unlink(path);
}

static bool always(void)
{
    return true;
}

/* A study of n points with one parameter, in small pages. */
static void make_large(int n)
{
    const char **values = th_alloc_array((size_t)n, sizeof *values);
    int64_t *cells = th_alloc_array((size_t)n, sizeof *cells);
    th_study *s = th_study_new();
    sqlite3 *db;
    for (int i = 0; i < n; i++) {
        values[i] = "a";
        cells[i] = i;
    }
    th_study_add_parameter(s, "x", values, n, NULL);
    th_study_add_metric(s, &(th_study_metric){"n", "count", "n", TH_FIGURE_INTEGER, true}, NULL);
    sqlite3_open(fresh(), &db);
    sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM; PRAGMA user_version = 0", NULL, NULL, NULL);
    sqlite3_close(db);
    th_store_close(th_store_create(path, s, cells, n, NULL));
    th_study_free(s);
    th_free(values);
    th_free(cells);
}

/* Each inner page of the points leads, with all of its children, to the next one: as many rows as
 * it has children, to the power of the number of pages. */
TEST(ends_where_pages_are_shared)
{
    enum { PAGE = 512, HEAD = 12, INNER = 5, PAGES_MAX = 64 };
    long inner[PAGES_MAX];
    unsigned char page[PAGE];
    int n = 0;
    make_large(6000);
    FILE *f = fopen(path, "r+b");
    for (long at = 0; n < PAGES_MAX && fread(page, 1, PAGE, f) == PAGE; at += PAGE)
        if (page[0] == INNER)
            inner[n++] = at;
    CU_ASSERT_TRUE(n > 3);
    for (int i = 0; i + 1 < n; i++) {
        long to = inner[i + 1] / PAGE + 1;
        const unsigned char number[4] = {0, 0, (unsigned char)(to >> 8), (unsigned char)to};
        fseek(f, inner[i], SEEK_SET);
        CU_ASSERT_EQUAL(fread(page, 1, PAGE, f), (size_t)PAGE);
        memcpy(page + 8, number, sizeof number); /* the last child */
        for (int k = 0; k < page[3] * 256 + page[4]; k++)
            memcpy(page + page[HEAD + 2 * k] * 256 + page[HEAD + 2 * k + 1], number, sizeof number);
        fseek(f, inner[i], SEEK_SET);
        fwrite(page, 1, PAGE, f);
    }
    fclose(f);
    char id[TH_ERROR_ID_MAX];
    read_whole(id);
    TAP_ASSERT_TEXT(id, "STUDY-0253");
    unlink(path);
}

/* Ctrl-C ends reading, and only that. */
TEST(stops_reading_at_ctrl_c)
{
    th_error e = {"", ""};
    make_large(20000);
    CU_ASSERT_PTR_NULL(th_store_open(path, always, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0008");
    unlink(path);
}

TAP_MAIN("store")
