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
    t = th_store_open(path, &e);
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
    t = th_store_open(path, NULL);
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
    t = th_store_open(path, NULL);
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
    th_store *t = a_store(), *other = th_store_open(path, NULL);
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
    CU_ASSERT_PTR_NULL(th_store_open(path, &e));
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
    th_store *t = th_store_open(path, &e);
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
    th_store *t = th_store_open(path, &e);
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
        t = th_store_open(path, NULL);
        th_alloc_fail_at(0);
        was_made = t != NULL;
        th_store_close(t);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT_TRUE(was_made);
    unlink(path);
}

TAP_MAIN("store")
