/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_interrupt.c - Ctrl-C at one look for it after the other, until a command gets through:
 * whichever part of its work sees it, what is said is what the command promises, catch does not
 * swallow it, and the promise is kept. */
#include <config.h>
#include "report/interrupt.h"
#include <stdio.h>
#include <string.h>
#include "base/strbuf.h"
#include "tcl/init.h"
#include "tcl/tcl_session.h"
#include "tests/unit/tap.h"

typedef struct interrupted {
    const char *setup, *script, *says;
    const char *or_says; /* a pattern: at later looks; NULL: the same */
    const char *probe;   /* the same before and after */
    int step;            /* looks from one Ctrl-C to the next, beyond the first ten */
} interrupted;

static Tcl_Interp *interp;

/* As the shell does; a script that begins forgets that the last one was cancelled. */
static int eval(const char *script)
{
    return Tcl_EvalObjEx(interp, Tcl_NewStringObj(script, -1), TCL_EVAL_GLOBAL);
}

static const char *text_of(const char *script)
{
    if (eval(script) != TCL_OK) {
        printf("# %s: %s\n", script, Tcl_GetStringResult(interp));
        CU_FAIL("a script fails");
    }
    return Tcl_GetStringResult(interp);
}

static void set_up(const char *script)
{
    interp = Tcl_CreateInterp();
    CU_ASSERT_EQUAL_FATAL(Tharsis_Init(interp), TCL_OK);
    th_session_of(interp)->is_quiet = true;
    text_of("namespace import ::tharsis::*; set_threads 2");
    text_of(script);
}

/* Ctrl-C at the n-th look. True: there were that many, and all that holds then holds. */
static bool is_interrupted_at(const interrupted *x, int n, const char *before)
{
    th_strbuf script = TH_STRBUF_INIT;
    th_strbuf_printf(&script, "if {[catch {%s} said]} {error $said}", x->script);
    th_interrupt_at_poll(n);
    int code = eval(script.text);
    th_strbuf_clear(&script);
    if (th_interrupt_at_poll(0) > 0) {
        TAP_ASSERT_TEXT(code == TCL_OK ? "" : Tcl_GetStringResult(interp), "");
        return false;
    }
    if (code == TCL_OK) { /* at the last look all was done */
        CU_ASSERT_TRUE(th_interrupt_take());
        return false;
    }
    const char *said = Tcl_GetStringResult(interp);
    bool is_other = x->or_says != NULL && Tcl_StringMatch(said, x->or_says);
    TAP_ASSERT_TEXT(said, is_other ? said : x->says);
    CU_ASSERT_FALSE(th_interrupt_take());
    Tcl_ResetResult(interp);
    TAP_ASSERT_TEXT(text_of(x->probe), before);
    return true;
}

static int count_interruptions(const interrupted *x)
{
    th_strbuf before = TH_STRBUF_INIT;
    int n = 1, times = 0;
    set_up(x->setup);
    th_strbuf_printf(&before, "%s", text_of(x->probe));
    while (is_interrupted_at(x, n, before.text)) {
        times++;
        n += n < 10 ? 1 : x->step * TAP_STRIDE;
    }
    th_strbuf_clear(&before);
    Tcl_DeleteInterp(interp);
    return times;
}

/* 16 ranks that talk for some time. */
#define EXCHANGE                                                                                   \
    "create_system -name s -topology torus -dims {4 4} -accel npu_v1 -link_bandwidth 100Gbps "     \
    "-link_latency 500ns;"                                                                         \
    "create_program p; add_collective all_to_all -bytes 16MB -algorithm direct;"
#define HALF_OF_IT EXCHANGE "run -network packet -for 600us;"
#define MAPPED     "read_system f1_16xlarge; read_workload alexnet; map_workload -algorithm single;"
#define OF_A_RUN   "list [now] [report_utilization -return_string] [report_links -return_string]"

TEST(what_does_the_run_again_leaves_it_as_it_was)
{
    static const interrupted all[] = {
        {.setup = HALF_OF_IT,
         .script = "report_links -over_time link/0_1 -return_string",
         .says = "report_links: interrupted; the run is as it was",
         .probe = OF_A_RUN,
         .step = 7},
        {.setup = HALF_OF_IT,
         .script = "report_utilization -windows 3 -return_string",
         .says = "report_utilization: interrupted; the run is as it was",
         .probe = OF_A_RUN,
         .step = 7},
        {.setup = HALF_OF_IT
         "save_checkpoint test_interrupt.ckpt; restart; run -network packet -for 10us",
         .script = "load_checkpoint test_interrupt.ckpt",
         .says = "load_checkpoint: interrupted; the run is as it was",
         .probe = OF_A_RUN,
         .step = 7},
        {.setup = EXCHANGE "run -for 10us",
         .script = "report_sensitivity -of {link/0_1 link/1_0} -return_string",
         .says = "report_sensitivity: interrupted; nothing was changed",
         .probe = OF_A_RUN,
         .step = 9},
        {.setup = MAPPED "run",
         .script = "report_sensitivity -remap 3 -properties bandwidth -group all -return_string",
         .says = "report_sensitivity: interrupted; nothing was changed",
         .probe = OF_A_RUN,
         .step = 9},
        {.setup = MAPPED "run",
         .script = "report_reliability -duration 9d -checkpoint_time 5s -runs 4 -failures "
                   "{{x 3 9h} {y 1 3d}} -return_string",
         .says = "report_reliability: interrupted; nothing was printed",
         .probe = OF_A_RUN,
         .step = 60},
        {.setup = MAPPED "run",
         .script = "report_bounds -what_if -return_string",
         .says = "report_bounds: interrupted; nothing was printed",
         .probe = OF_A_RUN,
         .step = 60},
        {.setup = MAPPED "run",
         .script = "report_advice -evaluations 3 -changes {memory clock} -return_string",
         .says = "report_advice: interrupted; nothing was changed",
         .probe = OF_A_RUN,
         .step = 9},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_TRUE(count_interruptions(&all[i]) >= 2);
    remove("test_interrupt.ckpt");
}

/* Lists and reports of some hundred tasks: nothing is printed or written of what is not whole. */
TEST(what_is_long_is_told_whole_or_not_at_all)
{
#define DONE MAPPED "run -inputs 40"
    static const interrupted all[] = {
        {.setup = DONE,
         .script = "get_tasks",
         .says = "get_tasks: interrupted; nothing was changed",
         .probe = "now",
         .step = 301},
        {.setup = DONE,
         .script = "report_critical_path -return_string",
         .says = "report_critical_path: interrupted; nothing was printed",
         .probe = OF_A_RUN,
         .step = 101},
        {.setup = DONE,
         .script = "report_critical_path -slack -format csv > test_interrupt.csv",
         .says = "report_critical_path: interrupted; nothing was printed",
         .probe = "file exists test_interrupt.csv",
         .step = 301},
        {.setup = DONE,
         .script = "report_links -return_string",
         .says = "report_links: interrupted; the run is as it was",
         .probe = OF_A_RUN,
         .step = 101},
        {.setup = DONE,
         .script = "write_report test_interrupt.html",
         .says = "write_report: interrupted; nothing was written",
         .probe = "file exists test_interrupt.html",
         .step = 301},
        {.setup = "", /* one run of some 40,000 failures, with 22 intervals */
         .script = "report_reliability -duration 40000s -failures {{gpu 1000 1000s}} -runs 1 "
                   "-checkpoint_time 1s > test_interrupt.csv",
         .says = "report_reliability: interrupted; nothing was printed",
         .probe = "file exists test_interrupt.csv",
         .step = 41},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_TRUE(count_interruptions(&all[i]) >= 2);
    remove("test_interrupt.csv");
    remove("test_interrupt.html");
}

/* Also in the last slice of a run, which ends where it was to go. */
TEST(a_run_goes_on_to_where_it_was_to_go)
{
    static const interrupted x = {
        .setup = EXCHANGE,
        .script = "restart; run -network packet -until 300us",
        .says = "interrupted while its tasks were prepared; nothing has run",
        .or_says = "interrupted at *s; `run` continues",
        .probe = "list [run -network packet -until 300us] [now] [report_links -return_string]",
        .step = 1,
    };
    CU_ASSERT_TRUE(count_interruptions(&x) >= 3);
}

/* What was chosen for collectives is remembered, so a restart looks seldom; the run then stands
 * where it stood. */
TEST(restart_gives_up_whole)
{
    static const interrupted x = {
        .setup = "create_system -name s -topology ring -dims 3 -accel npu_v1 -link_bandwidth "
                 "100Gbps -link_latency 500ns;"
                 "create_program p; for {set i 1} {$i <= 600} {incr i} {add_collective all_reduce "
                 "-bytes ${i}kB};"
                 "inject_fault accel/0 -at 5us -clock x0.5; run -for 20us; set_property link/0_1 "
                 "bandwidth 1Gbps; run -for 20us",
        .script = "restart",
        .says = "restart: interrupted; the run is as it was",
        .probe = OF_A_RUN,
        .step = 2};
    CU_ASSERT_TRUE(count_interruptions(&x) >= 1);
}

/* The mapping, how it was found, and the mappings that select_mapping would take. */
#define OF_A_SEARCH                                                                                \
    "list [report_mapping -return_string] [report_search -return_string -format json] "            \
    "[catch {report_search -pareto -return_string -format json} front] $front"

/* Ctrl-C at the n-th look of a search. False: there are fewer looks. Else it gives the mapping that
 * its message says, or, before it has found one, leaves the one before. */
static bool is_kept_at(const char *command, int n, int *kept)
{
    static const char AGAIN[] = "gives it again";
    th_strbuf script = TH_STRBUF_INIT, found = TH_STRBUF_INIT;
    long long evaluations = 0;
    text_of("map_workload -algorithm single");
    th_strbuf_printf(&found, "%s", text_of("report_mapping -return_string"));
    th_strbuf_printf(&script, "if {[catch {%s -evaluations 1000000} said]} {error $said}", command);
    th_interrupt_at_poll(n);
    int code = eval(script.text);
    bool is_over = th_interrupt_at_poll(0) > 0 || (code == TCL_OK && th_interrupt_take());
    if (!is_over) {
        const char *said = Tcl_GetStringResult(interp), *budget = strstr(said, "-evaluations ");
        CU_ASSERT_TRUE(Tcl_StringMatch(said, "map_workload: interrupted*"));
        if (budget != NULL && strstr(said, AGAIN) != NULL)
            sscanf(budget, "-evaluations %lld", &evaluations);
        else
            TAP_ASSERT_TEXT(
                said,
                "map_workload: interrupted before it found a mapping that fits and is in time; "
                "the mapping is the one before");
    }
    if (!is_over && evaluations == 0)
        TAP_ASSERT_TEXT(text_of("report_mapping -return_string"), found.text);
    if (!is_over && evaluations > 0) {
        ++*kept;
        th_strbuf_clear(&found);
        th_strbuf_clear(&script);
        th_strbuf_printf(&found, "%s", text_of(OF_A_SEARCH));
        th_strbuf_printf(&script, "%s -evaluations %lld", command, evaluations);
        text_of(script.text);
        TAP_ASSERT_TEXT(text_of(OF_A_SEARCH), found.text);
    }
    th_strbuf_clear(&script);
    th_strbuf_clear(&found);
    return !is_over;
}

TEST(a_search_keeps_the_best_it_has_found)
{
    static const char *const of[] = {
        "portfolio", "two_level", "nsga2",  "nsga2 -objective {pareto latency throughput}",
        "dp",        "annealing", "polish", "random",
        "h2h",       "uniform"};
    set_up("read_system f1_16xlarge; read_workload lenet; suppress_message TCL-0300 TCL-0301");
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        for (int threads = 1; threads <= 2; threads++) {
            if ((i + (size_t)threads) % TAP_STRIDE != 0)
                continue;
            char command[160];
            int kept = 0;
            snprintf(command, sizeof command, "map_workload -seed 3 -threads %d -algorithm %s",
                     threads, of[i]);
            for (int n = 1; n <= 8 && is_kept_at(command, n, &kept); n += n + threads)
                ;
            if (kept == 0)
                printf("# %s: nothing is kept\n", command);
            CU_ASSERT_TRUE(kept >= 1);
        }
    }
    Tcl_DeleteInterp(interp);
}

/* A deadline that nothing meets: the least late mapping is no result, unless it is asked for. */
TEST(a_search_that_is_late_keeps_nothing)
{
    int kept = 0;
    set_up("read_system f1_16xlarge; read_workload alexnet");
    CU_ASSERT_TRUE(is_kept_at("map_workload -algorithm random -deadline 1ns", 5, &kept));
    CU_ASSERT_EQUAL(kept, 0);
    CU_ASSERT_TRUE(is_kept_at("map_workload -algorithm random -deadline 1ns -keep_late", 5, &kept));
    CU_ASSERT_EQUAL(kept, 1);
    Tcl_DeleteInterp(interp);
}

TEST(what_has_not_begun_has_not)
{
    static const interrupted all[] = {
        {.setup = MAPPED,
         .script = "step",
         .says = "step: interrupted; nothing has run",
         .or_says = "interrupted at 0s; `run` continues",
         .probe = "now",
         .step = 1},
        {.setup = MAPPED,
         .script = "run",
         .says = "interrupted while its tasks were prepared; nothing has run",
         .or_says = "interrupted at 0s; `run` continues",
         .probe = "now",
         .step = 1},
        {.setup = MAPPED,
         .script = "get_tasks",
         .says = "get_tasks: interrupted; nothing was changed",
         .probe = "now",
         .step = 1},
        {.setup = MAPPED,
         .script = "set_property accel/0 clock x0.5",
         .says = "set_property: interrupted; nothing was changed",
         .probe = "list [now] [get_property accel/0 clock]",
         .step = 1},
        {.setup = EXCHANGE,
         .script = "add_traffic -pattern uniform -rate 100Gbps -message_bytes 100B -duration 100us",
         .says = "add_traffic: interrupted; the program is as it was",
         .probe = "get_tasks",
         .step = 9},
        {.setup = "",
         .script = "create_study s -file test_interrupt.db -parameters {a {1 2}} -metrics latency "
                   "-where {$a > 0} -script {}",
         .says = "create_study: interrupted; no study was made",
         .probe = "file exists test_interrupt.db",
         .step = 1},
    };
    remove("test_interrupt.db");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_TRUE(count_interruptions(&all[i]) >= 1);
    remove("test_interrupt.db");
}

int main(int argc, char **argv)
{
    Tcl_FindExecutable(argv[0]);
    return tap_run("interrupt", argc, argv);
}
