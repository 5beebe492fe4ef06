/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/text_file.h"
#include "mapper/search/journal.h"
#include "mapper/search/search.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static char path[256];
static const th_journal_header plain = {.part = {1, 2, 3}, .evaluations = 50, .seconds = 0};
static const th_fitness some[] = {{TH_FIT, 12.5, {12, 13}},
                                  {.fit = TH_FIT_STOPPED, .value = INFINITY},
                                  {TH_FIT, 7, {7, 8}},
                                  {.fit = TH_FIT_INFEASIBLE, .value = INFINITY}};

static th_strbuf bytes_of_file(void)
{
    th_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL(th_file_bytes_read(path, FILE_BYTES_MAX, &text, NULL), 0);
    return text;
}

static void write_file(const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static th_journal *opened(const th_journal_header *h)
{
    th_error e = {"", ""};
    th_journal *j = th_journal_open(path, h, &e);
    if (!j)
        bail_out(&e);
    return j;
}

static void assert_refused(const th_journal_header *h, const char *id, const char *text)
{
    th_error e = {"", ""};
    th_strbuf before = bytes_of_file(), after;
    CU_ASSERT_PTR_NULL(th_journal_open(path, h, &e));
    TAP_ASSERT_TEXT(e.id, id);
    CU_ASSERT_PTR_NOT_NULL(strstr(e.text, text));
    after = bytes_of_file();
    CU_ASSERT_TRUE(before.length == after.length &&
                   memcmp(before.text, after.text, before.length) == 0);
    th_strbuf_clear(&before);
    th_strbuf_clear(&after);
}

/* Batches 100, 101, ...: batch i has i % 4 + 1 of some[]. */
static void append(th_journal *j, int from, int to)
{
    for (int i = from; i < to; i++)
        CU_ASSERT_EQUAL(th_journal_append(j, 100 + (uint64_t)i, i % 4 + 1, some, i, NULL), 0);
}

static int replayed(th_journal *j, int from, int to)
{
    th_fitness got[4];
    for (int i = from; i < to; i++) {
        int n = i % 4 + 1;
        if (th_journal_replay(j, 100 + (uint64_t)i, n, got, NULL) != 1)
            return i;
        for (int k = 0; k < n; k++)
            CU_ASSERT_TRUE(got[k].fit == some[k].fit && got[k].value == some[k].value &&
                           got[k].metrics.latency_ps == some[k].metrics.latency_ps);
        CU_ASSERT_EQUAL(th_journal_elapsed_s(j), i);
    }
    return to;
}

static void make_journal(int batches)
{
    unlink(path);
    th_journal *j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 1), 0);
    append(j, 0, batches);
    CU_ASSERT_EQUAL(th_journal_sync(j, NULL), 0);
    th_journal_free(j);
}

TEST(appended_records_are_replayed)
{
    make_journal(6);
    th_journal *j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 7), 6);
    CU_ASSERT_TRUE(th_journal_n_replayed(j) == 1 + 2 + 3 + 4 + 1 + 2 &&
                   th_journal_truncated_bytes(j) == 0);
    append(j, 6, 9);
    th_journal_free(j);
    j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 10), 9);
    th_journal_free(j);
}

/* Cut at every byte: the records before it are replayed, and going on gives the file again. */
TEST(a_file_cut_anywhere_goes_on)
{
    make_journal(3);
    th_strbuf whole = bytes_of_file();
    for (size_t n = 0; n <= whole.length; n++) {
        write_file(whole.text, n);
        th_journal *j = opened(&plain);
        int have = replayed(j, 0, 3);
        CU_ASSERT_TRUE(have == 3 || n < whole.length);
        if (have == 3)
            CU_ASSERT_EQUAL(replayed(j, 3, 4), 3);
        append(j, have, 3);
        CU_ASSERT_EQUAL((size_t)th_journal_truncated_bytes(j) <= n, 1);
        th_journal_free(j);
        th_strbuf again = bytes_of_file();
        CU_ASSERT_TRUE(again.length == whole.length &&
                       memcmp(again.text, whole.text, whole.length) == 0);
        th_strbuf_clear(&again);
    }
    th_strbuf_clear(&whole);
}

/* A byte changed: in the header it is refused; behind it what comes before is replayed, and it and
 * all behind it are cut off. */
TEST(a_changed_byte_ends_the_log)
{
    make_journal(2);
    th_strbuf whole = bytes_of_file();
    size_t header_bytes = 8 + 4 + 8 * (TH_JOURNAL_N_PARTS + 2) + 8;
    for (size_t n = 0; n < whole.length; n++) {
        whole.text[n] ^= 4;
        write_file(whole.text, whole.length);
        whole.text[n] ^= 4;
        if (n < header_bytes) {
            assert_refused(&plain, n >= 8 && n < 12 ? "MAP-0104" : "MAP-0105", "checkpoint");
            continue;
        }
        th_journal *j = opened(&plain);
        int have = replayed(j, 0, 2);
        CU_ASSERT_TRUE(have < 2 && th_journal_truncated_bytes(j) >= (int64_t)(whole.length - n));
        append(j, have, 2);
        th_journal_free(j);
        th_strbuf again = bytes_of_file();
        CU_ASSERT_TRUE(again.length == whole.length &&
                       memcmp(again.text, whole.text, whole.length) == 0);
        th_strbuf_clear(&again);
    }
    th_strbuf_clear(&whole);
}

TEST(another_header_is_refused_and_named)
{
    make_journal(2);
    th_journal_header h = plain;
    h.part[TH_JOURNAL_SEED]++;
    assert_refused(&h, "MAP-0103", "is of another search: it differs in seed");
    h.part[TH_JOURNAL_SYSTEM]++;
    assert_refused(&h, "MAP-0103", "differs in system, seed");
    write_file("sets = ();", 10);
    assert_refused(&plain, "MAP-0105", "is not a checkpoint; it is left as it is");
    char other[400] = "THARSISJ\1";
    write_file(other, sizeof other);
    assert_refused(&plain, "MAP-0104", "has format 1; this program writes and reads format 4");
}

TEST(another_batch_is_refused)
{
    make_journal(3);
    th_error e = {"", ""};
    th_fitness got[4];
    th_journal *j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 1), 1);
    CU_ASSERT_EQUAL(th_journal_replay(j, 999, 2, got, &e), -1);
    TAP_ASSERT_TEXT(e.id, "MAP-0107");
    CU_ASSERT_EQUAL(th_journal_replay(j, 101, 3, got, &e), -1);
    CU_ASSERT_EQUAL(replayed(j, 1, 3), 3);
    th_journal_free(j);
}

/* Under another budget a batch that differs ends what can be replayed. */
TEST(another_budget_goes_on)
{
    make_journal(4);
    th_journal_header more = plain;
    more.evaluations = 80;
    th_journal *j = opened(&more);
    CU_ASSERT_EQUAL(replayed(j, 0, 2), 2);
    th_journal_free(j); /* killed: batches of both budgets may stand there */
    j = opened(&more);
    CU_ASSERT_EQUAL(replayed(j, 0, 3), 3);
    th_fitness got[4];
    CU_ASSERT_EQUAL(th_journal_replay(j, 999, 4, got, NULL), 0);
    CU_ASSERT_TRUE(th_journal_truncated_bytes(j) > 0);
    CU_ASSERT_EQUAL(th_journal_append(j, 999, 2, some, 3, NULL), 0);
    th_journal_free(j);
    j = opened(&more); /* of one budget again: a difference counts */
    CU_ASSERT_EQUAL(replayed(j, 0, 3), 3);
    CU_ASSERT_EQUAL(th_journal_replay(j, 998, 2, got, NULL), -1);
    CU_ASSERT_EQUAL(th_journal_replay(j, 999, 2, got, NULL), 1);
    th_journal_free(j);
}

/* Under a smaller budget the last batch is cut short, and the log stays as it is, whatever is found
 * after it; the first budget then finds all of it. */
TEST(a_smaller_budget_leaves_the_log_alone)
{
    make_journal(4);
    th_journal_header less = plain;
    less.evaluations = 6;
    th_strbuf before = bytes_of_file();
    th_fitness got[4];
    th_journal *j = opened(&less);
    CU_ASSERT_EQUAL(replayed(j, 0, 2), 2);
    CU_ASSERT_EQUAL(th_journal_replay(j, 999, 1, got, NULL), 0); /* the log has three here */
    CU_ASSERT_EQUAL(th_journal_append(j, 999, 1, some, 3, NULL), 0);
    CU_ASSERT_EQUAL(th_journal_replay(j, 103, 1, got, NULL), 0);
    CU_ASSERT_EQUAL(th_journal_append(j, 103, 1, some, 4, NULL), 0);
    CU_ASSERT_EQUAL(th_journal_truncated_bytes(j), 0);
    th_journal_free(j);
    th_strbuf after = bytes_of_file();
    CU_ASSERT_EQUAL(after.length, before.length);
    th_strbuf_clear(&before);
    th_strbuf_clear(&after);
    j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 4), 4);
    th_journal_free(j);
}

/* A batch of another size in the midst of the log does not follow from another budget: nothing is
 * cut off. */
TEST(a_difference_in_the_midst_is_refused)
{
    make_journal(4);
    th_journal_header more = plain;
    more.evaluations = 80;
    th_error e = {"", ""};
    th_fitness got[4];
    th_journal *j = opened(&more);
    CU_ASSERT_EQUAL(replayed(j, 0, 1), 1);
    CU_ASSERT_EQUAL(th_journal_replay(j, 999, 4, got, &e), -1);
    TAP_ASSERT_TEXT(e.id, "MAP-0107");
    CU_ASSERT_EQUAL(replayed(j, 1, 4), 4);
    th_journal_free(j);
}

/* --- the world -------------------------------------------------------------------------------- */

static void assert_cannot_open(const char *where, const char *id)
{
    th_error e = {"", ""};
    int64_t live = th_alloc_live();
    CU_ASSERT_PTR_NULL(th_journal_open(where, &plain, &e));
    TAP_ASSERT_TEXT(e.id, id);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TEST(files_that_cannot_be_are_told)
{
    assert_cannot_open("/nowhere/at/all", "MAP-0102");
    assert_cannot_open("/dev/full", "MAP-0102");
    assert_cannot_open("/tmp", "MAP-0102");
}

TEST(another_search_is_kept_out)
{
    make_journal(1);
    th_journal *j = opened(&plain);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        th_error e = {"", ""};
        th_journal *other = th_journal_open(path, &plain, &e);
        _exit(other == NULL && strcmp(e.id, "MAP-0106") == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    assert_cannot_open(path, "MAP-0106"); /* by a thread of this process */
    assert_cannot_open(path, "MAP-0106"); /* nor once that has closed the file */
    th_journal_free(j);
}

/* A file that may not grow: the record is refused, and what is there stays whole. */
static int append_where_there_is_no_room(off_t size)
{
    th_error e = {"", ""};
    const struct rlimit room = {(rlim_t)size + 10, (rlim_t)size + 10};
    th_journal *j = opened(&plain);
    signal(SIGXFSZ, SIG_IGN);
    if (replayed(j, 0, 4) != 3 || setrlimit(RLIMIT_FSIZE, &room))
        return 1;
    if (th_journal_append(j, 103, 4, some, 3, &e) != -1 || strcmp(e.id, "MAP-0102") != 0)
        return 2;
    return strstr(e.text, "cannot be written: File too large") ? 0 : 3;
}

TEST(a_full_disk_is_reported_and_nothing_is_lost)
{
    make_journal(3);
    struct stat before, after;
    CU_ASSERT_EQUAL(stat(path, &before), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(append_where_there_is_no_room(before.st_size));
    int status = 1;
    waitpid(child, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    CU_ASSERT_EQUAL(stat(path, &after), 0);
    CU_ASSERT_EQUAL(after.st_size, before.st_size);
    th_journal *j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 4), 3);
    append(j, 3, 4);
    th_journal_free(j);
}

TEST(out_of_memory_leaks_nothing)
{
    make_journal(3);
    int64_t live = th_alloc_live();
    for (int64_t k = 1; k < 20; k++) {
        th_error e = {"", ""};
        th_alloc_fail_at(k);
        th_journal *j = th_journal_open(path, &plain, &e);
        th_alloc_fail_at(0);
        if (!j)
            TAP_ASSERT_TEXT(e.id, "BASE-0001");
        th_journal_free(j);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    th_journal *j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 4), 3);
    for (int64_t k = 1; k <= 2; k++) {
        th_alloc_fail_at(k);
        int failed = th_journal_append(j, 1, 1, some, 0, NULL);
        th_alloc_fail_at(0);
        CU_ASSERT_EQUAL(failed, -1);
    }
    append(j, 3, 4);
    th_journal_free(j);
    j = opened(&plain);
    CU_ASSERT_EQUAL(replayed(j, 0, 5), 4);
    th_journal_free(j);
}

/* --- searches --------------------------------------------------------------------------------- */

static th_system *ring;
static th_workload *net;

static th_strbuf result_of(const th_search *s)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_mapping_write(s->best, ring, net, &text);
    th_strbuf_printf(&text, "%a %lld %lld %lld %lld %d", s->best_fitness.value,
                     (long long)s->n_evaluations, (long long)s->counts.infeasible,
                     (long long)s->counts.stopped_early, (long long)s->best_found_at, s->n_batches);
    return text;
}

static th_search *search_of(const th_search_type *type, const char *checkpoint, int evaluations)
{
    th_error e = {"", ""};
    const th_problem p = {.system = ring, .workload = net, .stream = th_stream_single};
    const th_search_options o = {
        .seed = 4, .evaluations = evaluations, .threads = 1, .checkpoint = checkpoint};
    th_search *s = th_search_new(type, &p, &o, &e);
    if (!s)
        bail_out(&e);
    return s;
}

static th_strbuf finished(th_search *s)
{
    th_error e = {"", ""};
    while (!s->done)
        if (th_search_iterate(s, &e))
            bail_out(&e);
    th_strbuf result = result_of(s);
    th_search_free(s);
    return result;
}

static void assert_finishes_as(th_search *s, const char *expected)
{
    th_strbuf result = finished(s);
    TAP_ASSERT_TEXT(result.text, expected);
    th_strbuf_clear(&result);
}

/* Every search of the table: left after some batches, and the file cut besides. */
TEST(searches_go_on_to_the_same)
{
    enum { BUDGET = 90, OTHER = 130 };
    for (int i = 0; th_search_types[i]; i++) {
        th_strbuf expected = finished(search_of(th_search_types[i], NULL, BUDGET));
        th_strbuf other = finished(search_of(th_search_types[i], NULL, OTHER));
        for (int batches = 0; batches < 3; batches++) {
            unlink(path);
            th_search *s = search_of(th_search_types[i], path, BUDGET);
            for (int b = 0; b < batches && !s->done; b++)
                CU_ASSERT_EQUAL(th_search_iterate(s, NULL), 0);
            th_search_free(s);
            if (batches == 2) {
                struct stat status;
                CU_ASSERT_EQUAL(stat(path, &status), 0);
                CU_ASSERT_EQUAL(truncate(path, status.st_size - 9), 0);
            }
            assert_finishes_as(search_of(th_search_types[i], path, BUDGET), expected.text);
        }
        assert_finishes_as(search_of(th_search_types[i], path, BUDGET), expected.text);
        assert_finishes_as(search_of(th_search_types[i], path, OTHER), other.text);
        assert_finishes_as(search_of(th_search_types[i], path, BUDGET), expected.text);
        th_strbuf_clear(&expected);
        th_strbuf_clear(&other);
    }
}

int main(int argc, char **argv)
{
    snprintf(path, sizeof path, "%s/tharsis_journal.%ld",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    ring = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "1GiB") "topology = { type = \"ring\"; dims = "
                "[4]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };");
    net = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 6; height = 10; width = 10; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"s\"; type = \"add\"; inputs = [\"a\", \"b\"]; } );");
    int status = tap_run("journal", argc, argv);
    unlink(path);
    th_workload_free(net);
    th_system_free(ring);
    return status;
}
