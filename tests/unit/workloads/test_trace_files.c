/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_trace_files.c - the files of groups and of memory beside an execution trace. */
#include <config.h>
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"
#include "tests/unit/trace_help.h"

enum { COMPUTE = 4, COLLECTIVE = 7 };

/* One rank that computes, and a file beside it: of groups, or of memory. */
static int read_refused(const char *text, bool is_memory, th_error *e)
{
    static const char prefix[] = "trace_file.tmp", path[] = "trace_file.tmp.json";
    static const trace_row rows[] = {{0, 1, COMPUTE, "", "us 1"}};
    write_rows(prefix, 1, rows, 1);
    write_bytes(path, text, strlen(text));
    th_trace_files files = {
        .prefix = prefix, .groups = is_memory ? NULL : path, .memory = is_memory ? path : NULL};
    th_trace *t = th_trace_read(&files, e);
    th_trace_free(t);
    remove(path);
    remove_trace(prefix, 1);
    return t ? 0 : -1;
}

static int read_groups(const char *text, th_error *e)
{
    return read_refused(text, false, e);
}

static int read_memory(const char *text, th_error *e)
{
    return read_refused(text, true, e);
}

TEST(a_rank_in_between_is_missing)
{
    static const trace_row rows[] = {{0, 1, COMPUTE, "", "us 1"}};
    th_error e = {"", ""};
    write_rows("trace_file.tmp", 4, rows, 1);
    remove("trace_file.tmp.2.et");
    CU_ASSERT_PTR_NULL(th_trace_read(&(th_trace_files){.prefix = "trace_file.tmp"}, &e));
    TAP_ASSERT_ERROR(e, "WORK-0687", "trace_file.tmp.3.et: is there, but that of rank 2 is not");
    remove_trace("trace_file.tmp", 4);
}

#define MEMORY(KIND, REST) "{\"memory-type\": \"" KIND "\"" REST "}"

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {
        {"groups", read_groups}, {"memory", read_memory}, {NULL, NULL}};
    assert_refusals("workloads/trace_files.refused", readers);
}

TEST(memory_outside_the_accelerators)
{
    static const char prefix[] = "trace_file.tmp", path[] = "trace_file.tmp.json";
    static const trace_row rows[] = {{0, 1, COMPUTE, "", "us 1"}};
    static const char text[] =
        MEMORY("PER_NODE_MEMORY_EXPANSION",
               ", \"remote-mem-latency\": 5.9, \"remote-mem-bw\": 2, \"num-npus-per-node\": 4, "
               "\"num-nodes\": 1");
    th_error e = {"", ""};
    write_rows(prefix, 1, rows, 1);
    write_bytes(path, text, strlen(text));
    auto_trace *t = th_trace_read(&(th_trace_files){.prefix = prefix, .memory = path}, &e);
    remove(path);
    remove_trace(prefix, 1);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_FATAL(t != NULL);
    CU_ASSERT_TRUE(t->memory.kind == TH_TRACE_MEMORY_PER_NODE && t->memory.latency_ns == 5 &&
                   t->memory.bytes_per_ns == 2 && t->memory.ranks_per_node == 4);
}

TEST(collectives_that_are_refused)
{
    static const trace_row rows[][1] = {
        {{0, 1, COLLECTIVE, "", "comm_type 3 comm_size 1"}},
        {{0, 1, COLLECTIVE, "", "comm_type 0 comm_size 1 tharsis_root 2"}}};
    static const char *const says[] = {
        "trace_help.tmp.0.et: node 1: comm_type 3: must be 0 (all_reduce), 2 (all_gather), 5 "
        "(broadcast), 6 (all_to_all) or 7 (reduce_scatter)",
        "trace_help.tmp.0.et: node 1: attribute tharsis_root: must be an integer from 0 to 1"};
    for (int i = 0; i < 2; i++) {
        th_error e = {"", ""};
        CU_ASSERT_PTR_NULL(TRACE_OF(2, rows[i], NULL, &e));
        TAP_ASSERT_TEXT(e.text, says[i]);
    }
}

TAP_MAIN("trace_files")
