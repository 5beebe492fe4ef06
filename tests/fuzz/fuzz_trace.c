/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_trace.c - the bytes as the file of each of two ranks of a trace, and as the files of groups
 * and of memory beside one; leniently; and as the algorithm of the collectives of a trace. A trace
 * that can be read is matched, and written so that it reads back with as many nodes. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/files/text_file.h"
#include "sim/execution_trace/trace_groups.h"
#include "tests/fuzz/target.h"
#include "topology/system.h"
#include "workloads/trace/groups_read.h"
#include "workloads/trace/node_write.h"
#include "workloads/trace/trace_custom.h"
#include "workloads/trace/trace_read.h"

static void write_back(const th_trace *t)
{
    th_error e = {"", ""};
    th_strbuf bytes = TH_STRBUF_INIT;
    must(th_trace_pack_rank(t, 0, &bytes, &e) == 0);
    if (t->n_groups == 0) { /* groups are not in these bytes */
        th_trace *again = th_trace_read_bytes(bytes.text, bytes.length, t->n_ranks, &e);
        must(again && again->n_nodes == t->n_nodes);
        th_trace_free(again);
    }
    th_strbuf_clear(&bytes);
}

static void run(const uint8_t *data, size_t size)
{
    enum { RANKS = 2 };
    th_error e = {"", ""};
    th_system *s = th_system_new("none", &e);
    th_trace *t = th_trace_read_bytes(data, size, RANKS, &e);
    th_trace_meetings m;
    must(s != NULL);
    must_read_or_say(t, &e);
    if (t) {
        th_trace_meet(t, s, &m, &e);
        th_trace_meetings_clear(&m);
        write_back(t);
    }
    th_trace_free(t);
    th_system_free(s);
}

const fuzz_target fuzz_trace = {"trace", run, NULL};

/* ---- files of ranks ---- */

enum { N_LINKS = 2 };
static char prefix[4096];

static const char *link_of(int rank)
{
    static char path[sizeof prefix + 16];
    snprintf(path, sizeof path, "%s.%d.et", prefix, rank);
    return path;
}

static void remove_links(void)
{
    for (int rank = 0; rank < N_LINKS; rank++)
        unlink(link_of(rank));
}

/* PREFIX.0.et and PREFIX.1.et have these bytes. */
static const char *rank_files(const uint8_t *data, size_t size)
{
    const char *path = fuzz_input_file(data, size);
    if (!prefix[0]) {
        snprintf(prefix, sizeof prefix, "%s", path);
        for (int rank = 0; rank < N_LINKS; rank++)
            must(symlink(path, link_of(rank)) == 0);
        atexit(remove_links);
    }
    return prefix;
}

static void run_lenient(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_trace_files f = {.prefix = rank_files(data, size), .is_lenient = true};
    th_trace *t = th_trace_read(&f, &e);
    th_strbuf notes = TH_STRBUF_INIT;
    must_read_or_say(t, &e);
    if (t) {
        th_trace_note(t, &notes);
        write_back(t);
    }
    th_strbuf_clear(&notes);
    th_trace_free(t);
}

const fuzz_target fuzz_trace_lenient = {"trace_lenient", run_lenient, NULL};

static void run_custom(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_trace_files f = {.prefix = fuzz_source_file("tests/fuzz/corpus/trace_custom/collective")};
    th_trace *t = th_trace_read(&f, &e);
    must(t != NULL);
    bool is_used = th_trace_use_custom(t, TH_TRACE_ALL_REDUCE, rank_files(data, size), &e) == 0;
    must_read_or_say(is_used, &e);
    if (is_used)
        write_back(t);
    th_trace_free(t);
}

const fuzz_target fuzz_trace_custom = {"trace_custom", run_custom, NULL};

/* ---- the files beside a trace ---- */

static void read_beside(int (*read)(th_trace *t, const char *path, th_error *err),
                        const uint8_t *data, size_t size)
{
    enum { RANKS = 4, BYTES_MAX = 1 << 16 };
    th_error e = {"", ""};
    th_strbuf bytes = TH_STRBUF_INIT;
    const char *file = fuzz_source_file("tests/fuzz/corpus/trace/compute.et");
    must(th_file_bytes_read(file, BYTES_MAX, &bytes, &e) == 0);
    th_trace *t = th_trace_read_bytes(bytes.text, bytes.length, RANKS, &e);
    must(t != NULL);
    must_read_or_say(read(t, fuzz_input_file(data, size), &e) == 0, &e);
    for (int32_t i = 0; i < t->n_groups; i++)
        for (int32_t k = 0; k < t->groups[i].n_members; k++)
            must(t->groups[i].members[k] >= 0 && t->groups[i].members[k] < RANKS);
    th_trace_free(t);
    th_strbuf_clear(&bytes);
}

static void run_groups(const uint8_t *data, size_t size)
{
    read_beside(th_trace_read_groups, data, size);
}

static void run_memory(const uint8_t *data, size_t size)
{
    read_beside(th_trace_read_memory, data, size);
}

const fuzz_target fuzz_trace_groups = {"trace_groups", run_groups, NULL};
const fuzz_target fuzz_trace_memory = {"trace_memory", run_memory, NULL};
