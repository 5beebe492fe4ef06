/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/trace/trace.h"
#include "base/alloc.h"
#include "sim/machine/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "workloads/workload_read.h"
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
static th_program *program(th_compute_cost_cache *w)
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
                              .compute_cost = th_compute_cost_lookup(w, 1, 0, &shard, NULL)},
                   NULL);
    th_program_depend(p, 1, 0, NULL);
    th_program_depend(p, 2, 1, NULL);
    th_program_finish(p, NULL);
    return p;
}

static th_result run(const th_system *s, const th_compute_cost_cache *w, const th_program *p,
                     th_trace *t)
{
    th_result r;
    auto_machine *m = th_machine_new(s, w, NULL, NULL);
    th_machine_load(m, p, NULL);
    if (t)
        CU_ASSERT_EQUAL(th_machine_observe(m, th_trace_observer(t), NULL), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_result(m, &r, NULL), 0);
    th_machine_observe(m, NULL, NULL);
    return r;
}

/* The trace, and what GTKWave shows of it first. */
static void remove_trace(const char *path)
{
    char view[64];
    snprintf(view, sizeof view, "%s.gtkw", path);
    remove(path);
    remove(view);
}

static const char *read_back(const char *path)
{
    static char text[16384];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

TEST(csv_holds_starts_and_ends)
{
    char path[] = "test_trace_XXXXXX";
    close(mkstemp(path));
    auto_system *s = system_of(system_text);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_program *p = program(costs);
    auto_workload *w = th_workload_read_text(
        "name = \"one\"; batch = 1; element_bytes = 2; input = { channels = "
        "3; height = 4; width = 4; }; layers = ( { name = \"ac,t\"; type = \"relu\"; } );",
        "one", 0, NULL);
    th_error e = {"", ""};
    auto_result plain = run(s, costs, p, NULL);
    for (int named = 0; named < 2; named++) {
        th_trace *t = th_trace_open(path, th_trace_find("csv"), NULL, s, named ? w : NULL, &e);
        CU_ASSERT_PTR_NOT_NULL_FATAL(t);
        auto_result traced = run(s, costs, p, t);
        CU_ASSERT_EQUAL(th_trace_close(t, &e), 0);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_TRUE(traced.tasks[i].start_ps == plain.tasks[i].start_ps &&
                           traced.tasks[i].end_ps == plain.tasks[i].end_ps);
        CU_ASSERT_EQUAL(traced.elapsed_ps, plain.elapsed_ps);
        const char *layer = named && w ? "\"ac,t\"" : "";
        char expected[2000];
        snprintf(expected, sizeof expected,
                 "time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value\n"
                 "40000,start,0,host,,,,0,0,,,\n40000,end,0,host,,,,0,0,,,\n"
                 "40000,start,1,transfer,a,b,%s,0,3000,,,\n"
                 "40000,value,,,,,,,,accel/a,sending,1\n"
                 "40000,value,,,,,,,,accel/b,receiving,1\n"
                 "40000,value,,,,,,,,link/a_b,busy,1\n40000,value,,,,,,,,link/a_b,flows,1\n"
                 "3240000,end,1,transfer,a,b,%s,0,3000,,,\n"
                 "3240000,start,2,compute,b,,%s,1,0,,,\n"
                 "3240000,value,,,,,,,,link/a_b,busy,0\n3240000,value,,,,,,,,link/a_b,flows,0\n"
                 "3240000,value,,,,,,,,accel/a,sending,0\n"
                 "3240000,value,,,,,,,,accel/b,state,computing\n"
                 "3240000,value,,,,,,,,accel/b,task,2\n3240000,value,,,,,,,,accel/b,layer,%s\n"
                 "3240000,value,,,,,,,,accel/b,receiving,0\n3240000,value,,,,,,,,accel/b,busy,1\n"
                 "6065000,end,2,compute,b,,%s,1,0,,,\n"
                 "6065000,value,,,,,,,,accel/b,state,idle\n"
                 "6065000,value,,,,,,,,accel/b,task,-1\n6065000,value,,,,,,,,accel/b,layer,\n"
                 "6065000,value,,,,,,,,accel/b,busy,0\n",
                 layer, layer, layer, layer, layer);
        TAP_ASSERT_TEXT(read_back(path), expected);
    }
    CU_ASSERT_PTR_NOT_NULL(w);
    remove_trace(path);
}

/* Two tasks of a host, which runs one at a time: 50 ns for the layer, 70 ns for nothing that is
 * named. */
static const struct {
    const char *format, *expected;
} traces_of_hosts[] = {
    {"csv", "time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value\n"
            "0,start,0,host,h,,r,0,0,,,\n0,value,,,,,,,,node/h,task,0\n"
            "0,value,,,,,,,,node/h,layer,r\n0,value,,,,,,,,node/h,busy,1\n"
            "50000,end,0,host,h,,r,0,0,,,\n50000,start,1,host,h,,,0,0,,,\n"
            "50000,value,,,,,,,,node/h,task,1\n50000,value,,,,,,,,node/h,layer,\n"
            "120000,end,1,host,h,,,0,0,,,\n120000,value,,,,,,,,node/h,task,-1\n"
            "120000,value,,,,,,,,node/h,busy,0\n"},
    {"chrome",
     "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
     "{\"ph\":\"M\",\"pid\":8,\"name\":\"process_name\",\"args\":{\"name\":\"collectives\"}},\n"
     "{\"ph\":\"M\",\"pid\":3,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"node/"
     "h\"}},\n"
     "{\"ph\":\"M\",\"pid\":3,\"tid\":100,\"name\":\"thread_name\",\"args\":{\"name\":\"host\"}"
     "},\n"
     "{\"ph\":\"B\",\"pid\":3,\"tid\":100,\"ts\":0.000000,\"name\":\"r\",\"args\":{\"task\":0}}"
     ",\n"
     "{\"ph\":\"E\",\"pid\":3,\"tid\":100,\"ts\":0.050000},\n"
     "{\"ph\":\"B\",\"pid\":3,\"tid\":100,\"ts\":0.050000,\"name\":\"host\",\"args\":{\"task\":"
     "1}},\n"
     "{\"ph\":\"E\",\"pid\":3,\"tid\":100,\"ts\":0.120000}\n]}\n"},
};

TEST(tasks_of_hosts_are_shown_where_they_run)
{
    char path[] = "test_trace_XXXXXX", text[sizeof system_text + 200];
    close(mkstemp(path));
    snprintf(text, sizeof text,
             "%.*s, { between = [\"a\", \"h\"]; bandwidth = \"1GB/s\"; latency = \"1us\"; } ); "
             "hosts = ( \"h\" );",
             (int)(strlen(system_text) - strlen(" );\n")), system_text);
    auto_system *s = system_of(text);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_workload *w = th_workload_read_text(
        "name = \"one\"; batch = 1; element_bytes = 2; input = { channels = 3; height = 4; "
        "width = 4; }; layers = ( { name = \"r\"; type = \"relu\"; } );",
        "one", 0, NULL);
    int host = th_system_find_node(s, "h");
    auto_program *p = th_program_new(NULL);
    for (int i = 0; i < 2; i++)
        th_program_add(p,
                       &(th_task){.kind = TH_TASK_HOST,
                                  .node = host,
                                  .peer = -1,
                                  .delay_ps = i ? 70000 : 50000,
                                  .layer = i ? -1 : 0},
                       NULL);
    th_program_finish(p, NULL);
    for (size_t i = 0; i < sizeof traces_of_hosts / sizeof *traces_of_hosts; i++) {
        th_trace *t =
            th_trace_open(path, th_trace_find(traces_of_hosts[i].format), NULL, s, w, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(t);
        th_trace_add(t, TH_TRACED_NODE, host, th_signals_of(TH_TRACED_NODE, false));
        auto_result r = run(s, costs, p, t);
        CU_ASSERT_EQUAL(th_trace_close(t, NULL), 0);
        TAP_ASSERT_TEXT(read_back(path), traces_of_hosts[i].expected);
    }
    remove_trace(path);
}

TEST(a_path_that_cannot_be_opened_is_refused)
{
    th_error e = {"", ""};
    th_system *s = system_of(system_text);
    int64_t live = th_alloc_live();
    CU_ASSERT_PTR_NULL(
        th_trace_open("no/such/folder/t.csv", th_trace_find("csv"), NULL, s, NULL, &e));
    TAP_ASSERT_ERROR(
        e, "SIM-0007",
        "no/such/folder/t.csv: cannot be opened for writing: No such file or directory");
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    th_system_free(s);
}

/* A little, which fails at the end, and a lot, which fails on the way; another call may fail in
 * between. */
TEST(a_full_disk_is_told_at_the_end)
{
    auto_system *s = system_of(system_text);
    auto_program *p = th_program_new(NULL);
    th_program_add(
        p, &(th_task){.kind = TH_TASK_TRANSFER, .node = 0, .peer = 1, .bytes = 3000, .layer = -1},
        NULL);
    th_program_finish(p, NULL);
    for (int n = 1; n <= 5000; n += 4999) {
        th_error e = {"", ""};
        th_trace *t = th_trace_open("/dev/full", th_trace_find("csv"), NULL, s, NULL, &e);
        if (!t)
            continue; /* a system without it */
        th_observer *o = th_trace_observer(t);
        o->type->restart(o, p);
        for (int i = 0; i < n; i++)
            o->type->task_start(o, i, 0);
        CU_ASSERT_EQUAL(access("no/such/folder", R_OK), -1);
        CU_ASSERT_EQUAL(th_trace_close(t, &e), -1);
        TAP_ASSERT_ERROR(
            e, "SIM-0008",
            "/dev/full: not all of the trace could be written: No space left on device");
    }
    CU_ASSERT_EQUAL(th_trace_close(NULL, NULL), 0);
}

/* What is 1, 10 or 100 of a unit is a resolution, and nothing else. */
TEST(a_resolution_is_a_power_of_ten)
{
    th_error e = {"", ""};
    for (th_time r = 1; r <= TH_PS_PER_S; r *= 10)
        CU_ASSERT_EQUAL(th_trace_check_resolution(r, &e), 0);
    CU_ASSERT_EQUAL(th_trace_check_resolution(20, &e), -1);
    TAP_ASSERT_TEXT(e.id, "SIM-0220");
    CU_ASSERT_EQUAL(th_trace_check_resolution(0, NULL), -1);
    CU_ASSERT_EQUAL(th_trace_check_resolution(10 * TH_PS_PER_S, NULL), -1);
}

/* The relu is one tile, from 3240 ns on: 100 ns of latency and 16000 bytes at 16 GB/s in, 625 ns,
 * 100 ns and 16000 bytes out. A look inside changes nothing. */
TEST(vcd_looks_inside_tasks)
{
    char path[] = "test_trace_XXXXXX";
    close(mkstemp(path));
    auto_system *s = system_of(system_text);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_program *p = program(costs);
    auto_result plain = run(s, costs, p, NULL);
    th_trace_options o = {.resolution_ps = 1000, .since_ps = 4000000, .until_ps = 6100000};
    th_trace *t = th_trace_open(path, th_trace_find("vcd"), &o, s, NULL, NULL);
    th_trace_add(t, TH_TRACED_ACCEL, 1,
                 1u << TH_SIGNAL_STATE | 1u << TH_SIGNAL_STORE | 1u << TH_SIGNAL_ARRAY);
    th_observer *observer = th_trace_observer(t);
    CU_ASSERT_EQUAL(observer->type->tile_window(observer, 1).since, 4000000);
    CU_ASSERT_EQUAL(observer->type->tile_window(observer, 1).until, 6100999);
    CU_ASSERT(observer->type->tile_window(observer, 0).until < 0);
    auto_result traced = run(s, costs, p, t);
    CU_ASSERT_EQUAL(th_trace_close(t, NULL), 0);
    CU_ASSERT_EQUAL(traced.elapsed_ps, plain.elapsed_ps);
    CU_ASSERT_EQUAL(traced.n_events, plain.n_events);
    CU_ASSERT_EQUAL(traced.n_expanded, plain.n_expanded);
    CU_ASSERT_EQUAL(traced.accels[1].stats.busy_ps, plain.accels[1].stats.busy_ps);
    TAP_ASSERT_TEXT(read_back(path), "$version Tharsis " PACKAGE_VERSION " $end\n"
                                     "$timescale 1ns $end\n$scope module accel $end\n"
                                     "$scope module b $end\n$var string 1 ! state $end\n"
                                     "$var string 1 \" array $end\n$var wire 1 # store $end\n"
                                     "$upscope $end\n$upscope $end\n$enddefinitions $end\n"
                                     "#4000\n$dumpvars\nscomputing !\nsstalled_input \"\n0#\n$end\n"
                                     "#4340\nscomputing \"\n#4965\nsstalled_output \"\n"
                                     "#5065\n1#\n#6065\nsidle !\nsidle \"\n0#\n#6065\n");
    remove_trace(path);
}

TEST(the_table_is_in_order)
{
    for (int i = 0; th_trace_types[i]; i++)
        CU_ASSERT_PTR_EQUAL(th_trace_find(th_trace_type_name(th_trace_types[i])),
                            th_trace_types[i]);
    CU_ASSERT_PTR_NULL(th_trace_find("CSV"));
}

TAP_MAIN("trace")
