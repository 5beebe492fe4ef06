/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_store.c - the file of a study, as others may have left it: what is read is what create_study
 * writes, and everything else is an error in one line. Commands of the shell read it, another
 * handle of SQLite changes it. */
#include <config.h>
#include "study/store.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sqlite3.h>
#include "base/alloc.h"
#include "report/interrupt.h"
#include "tcl/init.h"
#include "tcl/tcl_session.h"
#include "tests/unit/tap.h"

static char path[200];
static Tcl_Interp *interp;

/* A name that no file has. */
static const char *fresh(void)
{
    snprintf(path, sizeof path, "test_store.%d.db", (int)getpid());
    unlink(path);
    return path;
}

static int eval(const char *script)
{
    return Tcl_EvalEx(interp, script, -1, TCL_EVAL_GLOBAL);
}

/* The id of the error of a script; "": none. An error is one line. */
static void id_of(const char *script, char id[TH_ERROR_ID_MAX])
{
    id[0] = '\0';
    if (eval(script) == TCL_OK)
        return;
    const char *said = Tcl_GetStringResult(interp);
    if (sscanf(said, "Error %11[A-Z0-9-]", id) != 1 || strpbrk(said, "\n\r\t\x1b")) {
        CU_FAIL("not an error of Tharsis in one line");
        printf("# %s\n", said);
    }
}

static void expect_id(const char *script, const char *expected)
{
    char id[TH_ERROR_ID_MAX];
    id_of(script, id);
    TAP_ASSERT_TEXT(id, expected);
}

static void expect(const char *script, const char *result)
{
    eval(script);
    TAP_ASSERT_TEXT(Tcl_GetStringResult(interp), result);
}

/* Points 1 to 3 are cells 1, 4 and 8 of nine. */
static void make(void)
{
    fresh();
    Tcl_SetVar(interp, "path", path, TCL_GLOBAL_ONLY);
    eval(
        "create_study s -file $path -seed 9223372036854775807 -parameters {batch {1 16 1e3} dims "
        "{{4 4} {it's; \"x\"} 0.5}} -where {$batch != 1 ? $dims eq ($batch == 16 ? {it's; \"x\"} : "
        "0.5) : $dims eq {it's; \"x\"}} -metrics {{n count} {share share} {note text}} -script "
        "{dict create n 700 share 0.125 note \"o'clock\" ;# '); DROP TABLE point; --\n}");
    TAP_ASSERT_TEXT(Tcl_GetStringResult(interp), "s");
}

#define OPEN   "read_study $path"
#define REPORT OPEN "; report_study s -format csv -return_string"
#define RUN    OPEN "; suppress_message STUDY-0090; run_study s -threads 1"

/* An open file that another process has taken away; one that is not there. */
TEST(cannot_lock_what_is_gone)
{
    make();
    eval("::tharsis::core::store_open $path");
    unlink(path);
    expect_id("::tharsis::core::store_lock", "STUDY-0026");
    expect_id("::tharsis::core::store_open $path", "STUDY-0029");
}

TEST(lets_one_write)
{
    make();
    th_error e = {"", ""};
    th_store *other = th_store_open(path, false, NULL, &e);
    CU_ASSERT_EQUAL(th_store_lock(other, &e), 0);
    CU_ASSERT_EQUAL(th_store_lock(other, &e), 0);
    expect_id(RUN, "STUDY-0027");
    expect_id(REPORT, "");
    th_store_close(other);
    expect(RUN, "done");
    unlink(path);
}

/* Neither one that is done, nor one that failed: here somebody writes while a point is at work. */
TEST(refuses_a_second_result)
{
    fresh();
    Tcl_SetVar(interp, "path", path, TCL_GLOBAL_ONLY);
    eval("create_study s -file $path -parameters [list file [list $path] x {1 2}] -metrics {{n "
         "count}} -script {if {$x == 2} {::tharsis::core::store_open $file; "
         "::tharsis::core::store_run {UPDATE point SET status = 'done', n = 5 WHERE point = 2} {} "
         "{{}}}; dict create n 1}");
    expect_id("run_study s -threads 1", "STUDY-0028");
    expect("lindex [split [report_study s -columns {point status n} -format csv -return_string]] "
           "end-1",
           "2,done,5");
    unlink(path);
}

/* A study never takes the place of another one: here it appears while cells are counted. */
TEST(makes_nothing_over_a_study)
{
    make();
    expect(RUN, "done");
    eval("file rename $path $path.kept; rename ::tharsis::lib::cells_of kept;"
         "proc ::tharsis::lib::cells_of s {file rename $::path.kept $::path; binary format w 0}");
    expect_id("create_study other -file $path -parameters {x 1} -metrics {{n count}} -script {}",
              "STUDY-0024");
    eval("rename ::tharsis::lib::cells_of {}; rename kept ::tharsis::lib::cells_of");
    expect("lindex [split [report_study s -format csv -return_string -columns {point n note}] \n] "
           "end-1",
           "3,700,o'clock");
    unlink(path);
}

static void write_file(const char *text)
{
    FILE *f = fopen(fresh(), "w");
    fputs(text, f);
    fclose(f);
}

TEST(refuses_other_files)
{
    make();
    fresh();
    expect_id(OPEN, "STUDY-0029"); /* none */
    write_file("");
    expect_id(OPEN, "STUDY-0023");
    write_file("a text that is longer than the sixteen bytes that SQLite looks at, and than its "
               "header of a "
               "hundred bytes\n");
    expect_id(OPEN, "STUDY-0020");
    unlink(path);
}

/* The statements of a script reach no other file. */
TEST(refuses_statements_of_other_files)
{
    static const char *const all[] = {"ATTACH 'test_store_other.db' AS o",
                                      "VACUUM INTO 'test_store_other.db'",
                                      "SELECT load_extension('x')"};
    make();
    eval("::tharsis::core::store_open $path");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        Tcl_SetVar(interp, "sql", all[i], TCL_GLOBAL_ONLY);
        expect_id("::tharsis::core::store_run $sql {} {{}}", "STUDY-0020");
    }
    CU_ASSERT_EQUAL(access("test_store_other.db", F_OK), -1);
    unlink(path);
}

static void tamper(const char *sql)
{
    sqlite3 *db;
    make();
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
        expect_id(OPEN, cases[i].id);
    }
    unlink(path);
}

TEST(refuses_points_outside_the_grid)
{
    tamper("UPDATE point SET cell = 9 WHERE point = 1");
    expect_id(REPORT, "STUDY-0025");
    expect_id(RUN, "STUDY-0025");
    unlink(path);
}

TEST(refuses_points_before_the_first)
{
    tamper("UPDATE point SET point = -3 WHERE point = 1");
    expect_id(REPORT, "STUDY-0092");
    unlink(path);
}

/* Each allocation of ours in turn. */
TEST(survives_a_lack_of_memory)
{
    make();
    int64_t live = th_alloc_live();
    bool was_made = false;
    for (int k = 1; !was_made && k < 200; k++) {
        th_alloc_fail_at(k);
        th_store *t = th_store_open(path, false, NULL, NULL);
        was_made = t && th_store_run(t, "SELECT count(*) FROM point",
                                     &(th_store_values){NULL, 0, 1}, NULL, NULL, NULL) == 0;
        th_alloc_fail_at(0);
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
        make();
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
    id_of(REPORT, id);
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
    static const char *const places[] = {"study value",    "study key",           "parameter name",
                                         "parameter axis", "parameter position",  "value parameter",
                                         "value value",    "value position",      "metric name",
                                         "metric kind",    "metric \"column\"",   "metric type",
                                         "metric own",     "point point",         "point cell",
                                         "point status",   "point error",         "point mapping",
                                         "point n",        "point share_percent", "point note"};
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
        "UPDATE point SET n = 'slow' WHERE point = 2",
        "UPDATE point SET n = 1.5 WHERE point = 2",
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

/* A study of n points with one parameter, in small pages. */
static void make_large(int n)
{
    char script[300];
    sqlite3 *db;
    sqlite3_open(fresh(), &db);
    sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM; PRAGMA user_version = 0", NULL, NULL, NULL);
    sqlite3_close(db);
    Tcl_SetVar(interp, "path", path, TCL_GLOBAL_ONLY);
    snprintf(script, sizeof script,
             "create_study s -file $path -parameters [list x [lrepeat %d a]] -metrics {{n count}} "
             "-script {}",
             n);
    CU_ASSERT_EQUAL(eval(script), TCL_OK);
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
    make_large(20000);
    th_interrupt_raise();
    eval("catch {read_study $path}");
    TAP_ASSERT_TEXT(Tcl_GetStringResult(interp), "read_study: interrupted; nothing was changed");
    th_interrupt_take();
    unlink(path);
}

int main(int argc, char **argv)
{
    Tcl_FindExecutable(argv[0]);
    interp = Tcl_CreateInterp();
    if (Tharsis_Init(interp) != TCL_OK)
        return 1;
    th_session_of(interp)->is_quiet = true;
    eval("namespace import ::tharsis::*");
    int status = tap_run("store", argc, argv);
    Tcl_DeleteInterp(interp);
    return status;
}
