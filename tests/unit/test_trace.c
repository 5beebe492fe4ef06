/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/trace/trace.h"
#include "base/alloc.h"
#include "sim/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "workloads/workload_read.h"
#include <string.h>
#include <unistd.h>

static const char system_text[] = "name = \"pair\"; designs = ( { name = \"d\"; type = "
                                  "\"roofline\"; clock = \"200MHz\"; macs_per_cycle = 64; } );\n"
                                  "accelerators = ( { names = [\"a\", \"b\"]; dram = { capacity = "
                                  "\"1GiB\"; bandwidth = \"16GB/s\"; latency = \"100ns\";"
                                  " burst = \"64B\"; }; vector = { clock = \"200MHz\"; "
                                  "elements_per_cycle = 64; }; designs = [\"d\"]; } );\n"
                                  "links = ( { between = [\"a\", \"b\"]; bandwidth = \"1GB/s\"; "
                                  "latency = \"200ns\"; duplex = \"full\"; } );\n";

/* A host's release at 40 ns, 3000 bytes a -> b (200 + 3000 ns), and a relu of input 1 on b: 16000
 * bytes in (1100 ns), 625 ns, 16000 bytes out (1100 ns). */
static th_program *program(th_works *w)
{
    th_shard shard = conv_shard(1, 1000, 1000, 1, 8, 1);
    shard.kind = TH_LAYER_ELEMENTWISE;
    th_program *p = th_program_new(NULL);
    th_program_add(
        p,
        &(th_task){.kind = TH_TASK_HOST, .node = -1, .peer = -1, .release_ps = 40000, .layer = -1},
        NULL);
    th_program_add(
        p, &(th_task){.kind = TH_TASK_TRANSFER, .node = 0, .peer = 1, .bytes = 3000, .layer = 0},
        NULL);
    th_program_add(p,
                   &(th_task){.kind = TH_TASK_COMPUTE,
                              .node = 1,
                              .peer = -1,
                              .layer = 0,
                              .input = 1,
                              .work = th_works_intern(w, 1, 0, &shard, NULL)},
                   NULL);
    th_program_depend(p, 1, 0, NULL);
    th_program_depend(p, 2, 1, NULL);
    th_program_finish(p, NULL);
    return p;
}

static th_result run(const th_system *s, const th_works *w, const th_program *p, th_trace *t)
{
    th_result r;
    th_machine *m = th_machine_new(s, w, NULL, NULL);
    th_machine_load(m, p, NULL);
    th_machine_set_trace(m, t);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_result(m, &r, NULL), 0);
    th_machine_free(m);
    return r;
}

static const char *read_back(const char *path)
{
    static char text[4096];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

static void csv_holds_starts_and_ends(void)
{
    char path[] = "test_trace_XXXXXX";
    close(mkstemp(path));
    th_system *s = system_of(system_text);
    th_works *works = th_works_new(s, NULL);
    th_program *p = program(works);
    th_workload *w = th_workload_read_text(
        "name = \"one\"; batch = 1; element_bytes = 2; input = { channels = "
        "3; height = 4; width = 4; }; layers = ( { name = \"ac,t\"; type = \"relu\"; } );",
        "one", 0, NULL);
    th_error e = {"", ""};
    th_result plain = run(s, works, p, NULL);
    for (int named = 0; named < 2; named++) {
        th_trace *t = th_trace_open(path, th_trace_find("csv"), s, named ? w : NULL, &e);
        CU_ASSERT_PTR_NOT_NULL_FATAL(t);
        th_result traced = run(s, works, p, t);
        CU_ASSERT_EQUAL(th_trace_close(t, &e), 0);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_TRUE(traced.tasks[i].start_ps == plain.tasks[i].start_ps &&
                           traced.tasks[i].end_ps == plain.tasks[i].end_ps);
        CU_ASSERT_EQUAL(traced.elapsed_ps, plain.elapsed_ps);
        const char *layer = named && w ? "\"ac,t\"" : "";
        char expected[1000];
        snprintf(expected, sizeof expected,
                 "time_ps,event,task,kind,from,to,layer,input,bytes\n"
                 "40000,start,0,host,,,,0,0\n40000,end,0,host,,,,0,0\n"
                 "40000,start,1,transfer,a,b,%s,0,3000\n3240000,end,1,transfer,a,b,%s,0,3000\n"
                 "3240000,start,2,compute,b,,%s,1,0\n6065000,end,2,compute,b,,%s,1,0\n",
                 layer, layer, layer, layer);
        TAP_ASSERT_TEXT(read_back(path), expected);
        th_result_clear(&traced);
    }
    CU_ASSERT_PTR_NOT_NULL(w);
    unlink(path);
    th_result_clear(&plain);
    th_workload_free(w);
    th_program_free(p);
    th_works_free(works);
    th_system_free(s);
}

static void a_path_that_cannot_be_opened_is_refused(void)
{
    th_error e = {"", ""};
    int64_t live = th_alloc_live();
    CU_ASSERT_PTR_NULL(th_trace_open("no/such/folder/t.csv", th_trace_find("csv"), NULL, NULL, &e));
    TAP_ASSERT_TEXT(e.id, "SIM-0007");
    TAP_ASSERT_TEXT(
        e.text, "no/such/folder/t.csv: cannot be opened for writing: No such file or directory");
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

/* A little, which fails at the end, and a lot, which fails on the way; another call may fail in
 * between. */
static void a_full_disk_is_told_at_the_end(void)
{
    th_system *s = system_of(system_text);
    const th_task task = {
        .kind = TH_TASK_TRANSFER, .node = 0, .peer = 1, .bytes = 3000, .layer = -1};
    for (int n = 1; n <= 5000; n += 4999) {
        th_error e = {"", ""};
        th_trace *t = th_trace_open("/dev/full", th_trace_find("csv"), s, NULL, &e);
        if (!t)
            continue; /* a system without it */
        for (int i = 0; i < n; i++)
            th_trace_start(t, i, i, &task);
        CU_ASSERT_EQUAL(access("no/such/folder", R_OK), -1);
        CU_ASSERT_EQUAL(th_trace_close(t, &e), -1);
        TAP_ASSERT_TEXT(e.id, "SIM-0008");
        TAP_ASSERT_TEXT(
            e.text, "/dev/full: not all of the trace could be written: No space left on device");
    }
    CU_ASSERT_EQUAL(th_trace_close(NULL, NULL), 0);
    th_system_free(s);
}

static void the_table_is_in_order(void)
{
    for (int i = 0; th_trace_types[i]; i++)
        CU_ASSERT_PTR_EQUAL(th_trace_find(th_trace_types[i]->name), th_trace_types[i]);
    CU_ASSERT_PTR_NULL(th_trace_find("CSV"));
}

static void any_allocation_may_fail(void)
{
    th_system *s = system_of(system_text);
    int64_t live = th_alloc_live();
    for (int64_t k = 1; k < 3; k++) {
        th_error e = {"", ""};
        th_alloc_fail_at(k);
        CU_ASSERT_PTR_NULL(th_trace_open("/dev/null", th_trace_find("csv"), s, NULL, &e));
        TAP_ASSERT_TEXT(e.id, "BASE-0001");
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    th_alloc_fail_at(0);
    th_system_free(s);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(csv_holds_starts_and_ends),      TAP(a_path_that_cannot_be_opened_is_refused),
        TAP(a_full_disk_is_told_at_the_end), TAP(the_table_is_in_order),
        TAP(any_allocation_may_fail),        TAP_END,
    };
    return tap_main("trace", tests, argc, argv);
}
