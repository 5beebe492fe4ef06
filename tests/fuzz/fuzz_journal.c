/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_journal.c - the bytes as the journal of a search, whose checksums and identity are made
 * right first. A journal that is opened is replayed to its end, appended to, and opened again with
 * what was appended; one that is refused keeps its bytes. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "base/map.h"
#include "base/text_file.h"
#include "mapper/search/journal.h"
#include "tests/fuzz/target.h"

enum {
    MAGIC_BYTES = 8,
    PART_BYTES = 8 * TH_JOURNAL_N_PARTS,
    HEAD_BYTES = MAGIC_BYTES + 4 + PART_BYTES + 16,
    RECORD_HEAD_BYTES = 24,
    SUM_BYTES = 8,
    BATCH_MAX = 4096,
    FILE_BYTES_MAX = 1 << 24
};
static const th_journal_header expected = {.part = {1, 2, 3}, .evaluations = 50};

static uint64_t number_at(const uint8_t *at, int n)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++)
        x |= (uint64_t)at[i] << (8 * i);
    return x;
}

static void put_number(uint8_t *at, uint64_t x)
{
    for (int i = 0; i < 8; i++)
        at[i] = (uint8_t)(x >> (8 * i));
}

/* Makes the sums of the header and of all whole records right. */
static void make_right(uint8_t *data, size_t size)
{
    if (size < HEAD_BYTES + SUM_BYTES)
        return;
    for (int i = 0; i < TH_JOURNAL_N_PARTS; i++)
        put_number(data + MAGIC_BYTES + 4 + 8 * i, expected.part[i]);
    put_number(data + HEAD_BYTES, th_hash(data, HEAD_BYTES, 0));
    uint64_t sum = 0;
    size_t at = HEAD_BYTES + SUM_BYTES;
    while (size - at >= RECORD_HEAD_BYTES + SUM_BYTES) {
        size_t n = RECORD_HEAD_BYTES + (size_t)number_at(data + at, 4);
        if (n > size - at - SUM_BYTES)
            return;
        sum = th_hash(data + at, n, sum);
        put_number(data + at + n, sum);
        at += n + SUM_BYTES;
    }
}

/* The batches that its records say they are of. The number of those replayed. */
static int replay(th_journal *j, const uint8_t *data, size_t size)
{
    static th_fitness fitness[BATCH_MAX];
    th_error e = {"", ""};
    size_t at = HEAD_BYTES + SUM_BYTES;
    int records = 0, got = 1;
    while (got == 1) {
        bool is_there = at < size && size - at >= RECORD_HEAD_BYTES;
        uint64_t n = is_there ? number_at(data + at + 4, 4) : 1;
        uint64_t digest = is_there ? number_at(data + at + 8, 8) : 0;
        got = th_journal_replay(j, digest, n > 0 && n < BATCH_MAX ? (int)n : 1, fitness, &e);
        must_read_or_say(got >= 0, &e);
        records += got == 1;
        if (is_there)
            at += RECORD_HEAD_BYTES + (size_t)number_at(data + at, 4) + SUM_BYTES;
    }
    return got < 0 ? -1 : records;
}

static void append(th_journal *j)
{
    static const th_fitness some[] = {{TH_FIT, 12.5, {.latency_ps = 12}},
                                      {.fit = TH_FIT_INFEASIBLE}};
    th_error e = {"", ""};
    must(th_journal_append(j, 7, 2, some, 1, &e) == 0 && th_journal_sync(j, &e) == 0);
}

/* Opened once more: all that was replayed is there, and what was appended where it was. */
static void open_again(const char *path, int records)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    th_error e = {"", ""};
    must(th_file_bytes_read(path, FILE_BYTES_MAX, &bytes, &e) == 0);
    th_journal *j = th_journal_open(path, &expected, &e);
    must(j != NULL);
    must(replay(j, (const uint8_t *)bytes.text, bytes.length) >= records);
    th_journal_free(j);
    th_strbuf_clear(&bytes);
}

static void run(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    uint8_t *right = malloc(size + 1);
    must(right != NULL);
    if (size > 0)
        memcpy(right, data, size);
    make_right(right, size);
    const char *path = fuzz_input_file(right, size);
    th_journal *j = th_journal_open(path, &expected, &e);
    must_read_or_say(j != NULL, &e);
    int records = j ? replay(j, right, size) : -1;
    if (records >= 0)
        append(j);
    th_journal_free(j);
    if (records >= 0)
        open_again(path, records);
    free(right);
}

const fuzz_target fuzz_journal = {"journal", run, NULL};
