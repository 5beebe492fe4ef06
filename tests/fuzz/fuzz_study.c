/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_study.c - the bytes as the database of a study. What can be opened is counted, read, and run
 * on as run_study does: the first point that waits is recorded. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/text_file.h"
#include "study/store.h"
#include "tests/fuzz/target.h"

static int look(void *state, const th_study_point *p)
{
    const th_study *s = state;
    must(p->number > 0 && p->state < TH_N_POINT_STATES);
    must(p->cell >= 0 && p->cell < th_study_n_cells(s));
    for (int k = 0; k < s->n_metrics; k++)
        must(s->metrics[k].type != TH_FIGURE_TEXT || p->figures[k].is_absent || p->figures[k].text);
    return 0;
}

static int record(th_store *t, th_error *e)
{
    int64_t number, cell;
    int found = th_store_next_waiting(t, 0, &number, &cell, e);
    if (found != 1)
        return found;
    th_study_point p = {.number = number, .cell = cell, .state = TH_POINT_FAILED, .error = "so"};
    if (th_store_begin(t, e) != 0)
        return -1;
    int failed = th_store_record(t, &p, e);
    return th_store_commit(t, failed ? NULL : e) != 0 || failed ? -1 : 0;
}

static void use(th_store *t)
{
    th_error e = {"", ""};
    const th_study *s = th_store_study(t);
    int64_t counts[TH_N_POINT_STATES];
    must(s->n_parameters <= TH_STUDY_PARAMETERS_MAX && s->n_metrics <= TH_STUDY_METRICS_MAX);
    must_read_or_say(th_store_counts(t, counts, &e) == 0, &e);
    must_read_or_say(th_store_read(t, look, (void *)s, &e) == 0, &e);
    must_read_or_say(
        th_store_lock(t, &e) == 0 && th_store_retry_failed(t, &e) == 0 && record(t, &e) == 0, &e);
}

/* What SQLite puts beside a database. */
static void remove_companions(const char *path)
{
    static const char *const ends[] = {"-journal", "-wal", "-shm"};
    char name[4200];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* A file that is refused stays as it is. */
static void must_be_unchanged(const char *path, const uint8_t *data, size_t size)
{
    th_strbuf now = TH_STRBUF_INIT;
    must(th_file_bytes_read(path, INT32_MAX, &now, NULL) == 0);
    must(now.length == size && (size == 0 || memcmp(now.text, data, size) == 0));
    th_strbuf_clear(&now);
}

void fuzz_study_read(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    const char *path = fuzz_input_file(data, size);
    bool is_there = th_store_exists(path);
    th_store *t = th_store_open(path, NULL, &e);
    must_read_or_say(t != NULL, &e);
    must(is_there || !t);
    if (t)
        use(t);
    else
        must_be_unchanged(path, data, size);
    th_store_close(t);
    remove_companions(path);
}

const fuzz_target fuzz_study = {"study", fuzz_study_read, NULL};
