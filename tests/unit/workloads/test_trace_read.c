/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_trace_read.c - files of execution traces, byte by byte: what is read, what is refused. */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/tap.h"
#include "tests/unit/trace_help.h"
#include "workloads/trace/trace_custom.h"
#include "workloads/trace/trace_read.h"
#include "workloads/trace/trace_write.h"

enum { METADATA = 1, COMPUTE = 4, SEND = 5, RECEIVE = 6, COLLECTIVE = 7 };

/* ---- what is read ---- */

TEST(nodes_are_sorted_and_their_dependencies_are_indices)
{
    static const trace_row rows[] = {{0, 9, COMPUTE, "3 7 3", "us 5 num_ops 11 tensor_size 13"},
                                     {0, 3, COMPUTE, "", "us 2 is_cpu_op 1"},
                                     {0, 7, COMPUTE, "3", ""}};
    th_error e = {"", ""};
    auto_trace *t = TRACE_OF(1, rows, NULL, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_FATAL(t && t->n_nodes == 3);
    const th_trace_rank *r = &t->ranks[0];
    const th_trace_node *last = &r->nodes[2];
    CU_ASSERT_EQUAL(r->nodes[0].id, 3);
    CU_ASSERT_TRUE(r->nodes[0].is_on_host);
    CU_ASSERT_EQUAL(r->nodes[1].id, 7);
    CU_ASSERT_EQUAL(last->id, 9);
    CU_ASSERT_EQUAL(last->n_deps, 2);
    CU_ASSERT_EQUAL(r->deps[last->first_dep], 0);
    CU_ASSERT_EQUAL(r->deps[last->first_dep + 1], 1);
    CU_ASSERT_EQUAL(last->duration_us, 5);
    CU_ASSERT_EQUAL(last->operations, 11);
    CU_ASSERT_EQUAL(last->bytes, 13);
    CU_ASSERT_EQUAL(last->duration_ps, -1);
    TAP_ASSERT_TEXT(th_trace_node_name(r, last), "n");
}

/* A file of one node, id 1, of this type, whose other fields are these bytes. */
static th_trace *one_node(uint64_t type, th_strbuf *fields, th_error *e)
{
    th_strbuf file = TH_STRBUF_INIT, head = TH_STRBUF_INIT, node = TH_STRBUF_INIT;
    put_bytes(&head, 1, "1", 1);
    put_record(&file, &head);
    put_number(&node, 1, 1);
    put_number(&node, 3, type);
    th_strbuf_add_bytes(&node, fields->text, fields->length);
    put_record(&file, &node);
    th_trace *t = th_trace_read_bytes(file.text, file.length, 2, e);
    th_strbuf_clear(&file);
    th_strbuf_clear(fields);
    return t;
}

/* 21 as each kind of integer: the field of the attribute's value, its wire type and bytes. */
TEST(any_integer_serves)
{
    static const struct {
        uint64_t key;
        const char *bytes;
        size_t n;
    } kinds[] = {{7 << 3, "\x15", 1},
                 {9 << 3, "\x15", 1},
                 {11 << 3, "\x15", 1},
                 {13 << 3, "\x15", 1},
                 {15 << 3, "\x2a", 1},
                 {17 << 3, "\x2a", 1},
                 {19 << 3 | 5, "\x15\0\0\0", 4},
                 {21 << 3 | 1, "\x15\0\0\0\0\0\0\0", 8},
                 {23 << 3 | 5, "\x15\0\0\0", 4},
                 {25 << 3 | 1, "\x15\0\0\0\0\0\0\0", 8}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        th_error e = {"", ""};
        th_strbuf a = TH_STRBUF_INIT, fields = TH_STRBUF_INIT;
        put_bytes(&a, 1, "num_ops", 7);
        put_varint(&a, kinds[i].key);
        th_strbuf_add_bytes(&a, kinds[i].bytes, kinds[i].n);
        put_bytes(&fields, 10, a.text, a.length);
        th_strbuf_clear(&a);
        auto_trace *t = one_node(COMPUTE, &fields, &e);
        TAP_ASSERT_TEXT(e.text, "");
        CU_ASSERT_TRUE(t && t->ranks[0].nodes[0].operations == 21);
    }
}

TEST(a_text_is_no_integer)
{
    th_error e = {"", ""};
    th_strbuf a = TH_STRBUF_INIT, fields = TH_STRBUF_INIT;
    put_bytes(&a, 1, "num_ops", 7);
    put_bytes(&a, 29, "21", 2);
    put_bytes(&fields, 10, a.text, a.length);
    th_strbuf_clear(&a);
    CU_ASSERT_PTR_NULL(one_node(COMPUTE, &fields, &e));
    TAP_ASSERT_TEXT(e.text, "trace: node 1: attribute num_ops: must be an integer from 0 to "
                            "9223372036854775807");
}

/* Dependencies 2 and 1 in one packed field; fields that no rule names are passed over. */
TEST(packed_dependencies_and_unknown_fields)
{
    th_error e = {"", ""};
    th_strbuf fields = TH_STRBUF_INIT;
    put_bytes(&fields, 4, "\1\1", 2);
    put_number(&fields, 6, 77);
    put_bytes(&fields, 99, "?", 1);
    auto_trace *t = one_node(COMPUTE, &fields, &e);
    CU_ASSERT_FATAL(t != NULL);
    CU_ASSERT_EQUAL(t->ranks[1].nodes[0].n_deps, 1);
    CU_ASSERT_EQUAL(t->ranks[1].deps[0], 0);
}

TEST(groups_keep_their_order)
{
    static const trace_row rows[] = {{0, 1, COLLECTIVE, "", "comm_type 2 comm_size 8 pg_name 4"},
                                     {1, 1, COLLECTIVE, "", "comm_type 0 comm_size 8 pg_name 0"}};
    th_error e = {"", ""};
    auto_trace *t = TRACE_OF(2, rows, "{\"9\": [1], \"4\": [1, 0]}", &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_FATAL(t && t->n_groups == 2);
    const th_trace_group *g = &t->groups[t->ranks[0].nodes[0].group];
    CU_ASSERT_EQUAL(g->number, 4);
    CU_ASSERT_EQUAL(g->n_members, 2);
    CU_ASSERT_EQUAL(g->members[0], 1);
    CU_ASSERT_EQUAL(t->ranks[1].nodes[0].group, TH_TRACE_ALL_RANKS);
}

/* Two ranks; each has a node of metadata with these process groups, as frameworks write them, and
 * collectives of the groups "0", "3" and, where there is a third, of that. */
static th_trace *with_process_groups(const char *list, const char *third, th_error *e)
{
    th_strbuf file = TH_STRBUF_INIT, head = TH_STRBUF_INIT, node = TH_STRBUF_INIT;
    auto_strbuf values = TH_STRBUF_INIT, inputs = TH_STRBUF_INIT;
    char attributes[80];
    put_bytes(&head, 1, "1", 1);
    put_record(&file, &head);
    th_strbuf_printf(&values, "['%s']", list);
    put_bytes(&inputs, 1, values.text, values.length);
    put_number(&node, 1, 1);
    put_number(&node, 3, METADATA);
    put_bytes(&node, 8, inputs.text, inputs.length);
    put_record(&file, &node);
    put_row(&file, &(trace_row){0, 2, COLLECTIVE, "", "comm_type 0 comm_size 8 pg_name 0"});
    put_row(&file, &(trace_row){0, 3, COLLECTIVE, "", "comm_type 0 comm_size 8 pg_name 3"});
    snprintf(attributes, sizeof attributes, "comm_type 0 comm_size 8 pg_name %s", third);
    put_row(&file, &(trace_row){0, 4, COLLECTIVE, "", attributes});
    th_trace *t = th_trace_read_bytes(file.text, file.length, 2, e);
    th_strbuf_clear(&file);
    return t;
}

/* Without ranks a group has all. What is no group is passed over: without a number as its name,
 * with a rank twice or one that there is not. */
TEST(process_groups_of_a_trace)
{
    th_error e = {"", ""};
    auto_trace *t = with_process_groups(
        "[{\"pg_name\": \"3\", \"ranks\": [1, 0]}, {\"pg_name\": \"5\", \"ranks\": []},"
        " {\"pg_name\": \"tensor\", \"ranks\": [0]}, {\"pg_name\": 6, \"ranks\": [0]},"
        " {\"pg_name\": \"7\", \"ranks\": [0, 0]}, {\"pg_name\": \"8\", \"ranks\": [2]},"
        " {\"pg_name\": \"9\", \"ranks\": [0, 1, 0]}, {\"pg_name\": \"0\", \"ranks\": [0]}, 4]",
        "5", &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_FATAL(t && t->n_groups == 2);
    for (int rank = 0; rank < 2; rank++) {
        const th_trace_node *nodes = t->ranks[rank].nodes;
        CU_ASSERT_EQUAL(nodes[0].kind, TH_TRACE_METADATA);
        CU_ASSERT_EQUAL(nodes[1].group, TH_TRACE_ALL_RANKS);
        CU_ASSERT_EQUAL(t->groups[nodes[2].group].number, 3);
        CU_ASSERT_EQUAL(t->groups[nodes[3].group].number, 5);
    }
    CU_ASSERT_EQUAL(t->groups[0].tag_number, 4);
    CU_ASSERT_EQUAL(t->groups[0].n_members, 2);
    CU_ASSERT_EQUAL(t->groups[0].members[0], 1);
    CU_ASSERT_EQUAL(t->groups[1].n_members, 2);
    CU_ASSERT_EQUAL(t->groups[1].members[1], 1);
}

TEST(metadata_without_process_groups)
{
    static const char *const lists[] = {"", "[", "{}", "[{]"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        th_error e = {"", ""};
        CU_ASSERT_PTR_NULL(with_process_groups(lists[i], "0", &e));
        TAP_ASSERT_TEXT(e.text,
                        "trace: node 3: group 3 is unknown: name the file of groups with -groups");
    }
}

/* The second of three dimensions, and none that is named: all. */
TEST(dimensions_of_a_collective_are_written_and_read)
{
    static const trace_row rows[] = {{0, 1, COLLECTIVE, "", "comm_type 0 comm_size 8"},
                                     {0, 2, COLLECTIVE, "", "comm_type 0 comm_size 8"}};
    static const char prefix[] = "trace_dims.tmp";
    th_error e = {"", ""};
    auto_trace *t = TRACE_OF(1, rows, NULL, &e);
    CU_ASSERT_FATAL(t != NULL);
    t->ranks[0].nodes[1].n_dims = 3;
    t->ranks[0].nodes[1].dims = 1 << 1;
    CU_ASSERT_EQUAL(th_trace_write(t, prefix, &e), 0);
    th_trace_free(t);
    t = th_trace_read(&(th_trace_files){.prefix = prefix}, &e);
    remove_trace(prefix, 1);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_FATAL(t && t->n_nodes == 2);
    CU_ASSERT_EQUAL(t->ranks[0].nodes[0].n_dims, TH_TRACE_ALL_DIMS);
    CU_ASSERT_EQUAL(t->ranks[0].nodes[1].n_dims, 3);
    CU_ASSERT_EQUAL(t->ranks[0].nodes[1].dims, 2);
}

TEST(messages)
{
    static const trace_row rows[] = {
        {0, 1, SEND, "", "comm_dst 1 comm_tag 4294967295 comm_size 9 tharsis_bytes 0"},
        {1, 1, RECEIVE, "", "comm_src 0 comm_tag 7 comm_size 9 tharsis_delay_ps 3"}};
    th_error e = {"", ""};
    auto_trace *t = TRACE_OF(2, rows, NULL, &e);
    CU_ASSERT_FATAL(t != NULL);
    const th_trace_node *send = t->ranks[0].nodes, *receive = t->ranks[1].nodes;
    CU_ASSERT_EQUAL(send->peer, 1);
    CU_ASSERT_EQUAL(send->tag, UINT32_MAX);
    CU_ASSERT_EQUAL(send->exact_bytes, 0);
    CU_ASSERT_EQUAL(receive->peer, 0);
    CU_ASSERT_EQUAL(receive->exact_bytes, -1);
    CU_ASSERT_EQUAL(receive->delay_ps, 3);
}

/* Each waits for the two before it. Arrays grow by doubling: few allocations. */
TEST(a_hundred_thousand_nodes)
{
    enum { N = 100000 };
    th_error e = {"", ""};
    th_strbuf file = TH_STRBUF_INIT, head = TH_STRBUF_INIT;
    put_bytes(&head, 1, "1", 1);
    put_record(&file, &head);
    for (uint64_t i = N; i > 0; i--) { /* from the last to the first */
        char after[48] = "";
        if (i > 2)
            snprintf(after, sizeof after, "%d %d", (int)i - 1, (int)i - 2);
        trace_row row = {0, i, COMPUTE, after, "us 1 num_ops 5 tensor_size 7"};
        put_row(&file, &row);
    }
    int64_t before = th_alloc_calls();
    th_trace *t = th_trace_read_bytes(file.text, file.length, 1, &e);
    int64_t made = th_alloc_calls() - before;
    CU_ASSERT_TRUE(t && t->n_nodes == N);
    printf("# %lld allocations\n", (long long)made);
    CU_ASSERT_TRUE(made < 1000);
    th_trace_free(t);
    th_strbuf_clear(&file);
}

/* ---- what is refused ---- */

static void assert_refused(const trace_row *rows, size_t n, const char *groups,
                           const char *expected)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(trace_of(2, rows, n, groups, &e));
    TAP_ASSERT_TEXT(e.text, expected);
}
#define REFUSED(GROUPS, EXPECTED, ...)                                                             \
    assert_refused((const trace_row[]){__VA_ARGS__},                                               \
                   sizeof((const trace_row[]){__VA_ARGS__}) / sizeof(trace_row), (GROUPS),         \
                   (EXPECTED))
#define FILE0 "trace_help.tmp.0.et: "

TEST(nodes_that_are_refused)
{
    REFUSED(NULL, FILE0 "node 2: stands twice in the file: ids must be unique",
            {0, 2, COMPUTE, "", ""}, {0, 1, COMPUTE, "", ""}, {0, 2, COMPUTE, "", ""});
    REFUSED(NULL,
            FILE0 "node 1: depends on node 8, which is not in the file (-lenient leaves that out)",
            {0, 1, COMPUTE, "8", ""});
    REFUSED(NULL, FILE0 "node 1: type 8: must be 0 to 7", {0, 1, 8, "", ""});
    REFUSED(NULL, FILE0 "node 1: attribute comm_tag is missing",
            {0, 1, SEND, "", "comm_dst 1 comm_size 4"});
    REFUSED(NULL, FILE0 "node 1: attribute comm_dst: must be an integer from 0 to 1",
            {0, 1, SEND, "", "comm_dst 2 comm_size 4 comm_tag 1"});
    REFUSED(NULL, FILE0 "node 1: a message from rank 0 to itself: must be to another rank",
            {0, 1, SEND, "", "comm_dst 0 comm_size 4 comm_tag 1"});
    REFUSED(NULL,
            FILE0 "node 1: attribute comm_size: must be an integer from 1 to "
                  "4503599627370496",
            {0, 1, COLLECTIVE, "", "comm_type 0 comm_size 0"});
    REFUSED("{\"4\": [1]}", FILE0 "node 1: group 4 does not have rank 0 as a member",
            {0, 1, COLLECTIVE, "", "comm_type 0 comm_size 1 pg_name 4"});
    REFUSED(NULL,
            FILE0 "node 1: attribute pg_name: must be the decimal number of a group, as a "
                  "text of at most 9 digits",
            {0, 1, COLLECTIVE, "", "comm_type 0 comm_size 1 pg_name tensor"});
}

/* ---- a trace as the algorithm of a collective ---- */

static int attempt_custom(const void *context, th_error *e)
{
    th_trace *t = th_trace_read(&(th_trace_files){.prefix = "trace_of.tmp"}, e);
    int status = t ? th_trace_use_custom(t, TH_TRACE_ALL_REDUCE, context, e) : -1;
    if (status == 0) {
        const th_trace_rank *r = &t->ranks[0];
        CU_ASSERT_EQUAL(t->n_nodes, 7);
        CU_ASSERT_EQUAL(r->nodes[3].id, 8);
        CU_ASSERT_EQUAL(r->deps[r->nodes[1].first_dep], 4); /* the second of the algorithm */
        CU_ASSERT_EQUAL(r->deps[r->nodes[2].first_dep], 1);
        CU_ASSERT_EQUAL(r->deps[r->nodes[3].first_dep], 0);
        CU_ASSERT_EQUAL(t->ranks[1].first, 5);
    }
    th_trace_free(t);
    return status;
}

TEST(custom_collectives_without_memory)
{
    static const trace_row parts[] = {{0, 1, COMPUTE, "", ""},
                                      {0, 2, SEND, "1", "comm_dst 1 comm_tag 1 comm_size 4"},
                                      {1, 3, RECEIVE, "", "comm_src 0 comm_tag 1 comm_size 4"}};
    static const trace_row rows[] = {{0, 1, COMPUTE, "", "us 3"},
                                     {0, 5, COLLECTIVE, "1", "comm_type 0 comm_size 8"},
                                     {0, 7, COMPUTE, "5", "us 3"},
                                     {1, 4, COLLECTIVE, "", "comm_type 0 comm_size 8"}};
    write_rows("trace_of.tmp", 2, rows, sizeof rows / sizeof *rows);
    write_rows("trace_custom.tmp", 2, parts, sizeof parts / sizeof *parts);
    CU_ASSERT_TRUE(fail_each_allocation(attempt_custom, "trace_custom.tmp") > 5);
    remove_trace("trace_custom.tmp", 2);
    remove_trace("trace_of.tmp", 2);
}

static void assert_bytes_refused(const void *bytes, size_t n, const char *expected)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_trace_read_bytes(bytes, n, 1, &e));
    TAP_ASSERT_TEXT(e.text, expected);
}

TEST(files_that_are_refused)
{
    assert_bytes_refused("", 0, "trace: at byte 0: must begin with a record of metadata");
    assert_bytes_refused("\0\5\x08", 3,
                         "trace: at byte 1: the file ends inside a record: is it truncated?");
    assert_bytes_refused("\0\xff\xff\xff\xff\xff\1", 7,
                         "trace: at byte 1: a record's length must have at most 5 bytes");
    assert_bytes_refused("\0\2\x08\x80", 4,
                         "trace: at byte 4: the record before it is no node of a trace");
}

TAP_MAIN("trace_read")
