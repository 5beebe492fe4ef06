/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_interrupt.c - Ctrl-C at one look for it after the other, until a command gets through: whichever part of
 * its work sees it, what is said is what the command promises, catch does not swallow it, and the promise is kept. */
#include <config.h>
#include "tcl/interrupt.h"
#include <stdio.h>
#include <string.h>
#include "base/strbuf.h"
#include "tcl/init.h"
#include "tcl/session.h"
#include "tests/unit/tap.h"

typedef struct interrupted {
    const char *setup, *script, *says;
    const char *or_says; /* a pattern: at later looks; NULL: the same */
    const char *probe; /* the same before and after */
    int step;          /* looks from one Ctrl-C to the next, beyond the first ten */
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
    th_interrupt_at_look(n);
    int code = eval(script.text);
    th_strbuf_clear(&script);
    if (th_interrupt_at_look(0) > 0) {
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
#define EXCHANGE \
    "create_system -name s -topology torus -dims {4 4} -accel npu_v1 -link_bandwidth 100Gbps -link_latency 500ns;" \
    "create_program p; add_collective all_to_all -bytes 16MB -algorithm direct;"
#define HALF_OF_IT EXCHANGE "run -network packet -for 600us;"
#define MAPPED "read_system f1_16xlarge; read_workload alexnet; map_workload -algorithm single;"
#define OF_A_RUN "list [now] [report_utilization -return_string] [report_links -return_string]"

static void what_does_the_run_again_leaves_it_as_it_was(void)
{
    static const interrupted all[] = {
        {.setup = HALF_OF_IT, .script = "report_links -over_time link/0_1 -return_string",
         .says = "report_links: interrupted; the run is as it was", .probe = OF_A_RUN, .step = 7},
        {.setup = HALF_OF_IT, .script = "report_utilization -windows 3 -return_string",
         .says = "report_utilization: interrupted; the run is as it was", .probe = OF_A_RUN, .step = 7},
        {.setup = HALF_OF_IT "save_checkpoint test_interrupt.ckpt; restart; run -network packet -for 10us",
         .script = "load_checkpoint test_interrupt.ckpt",
         .says = "load_checkpoint: interrupted; the run is as it was", .probe = OF_A_RUN, .step = 7},
        {.setup = EXCHANGE "run -for 10us", .script = "report_sensitivity -of {link/0_1 link/1_0} -return_string",
         .says = "report_sensitivity: interrupted; nothing was changed", .probe = OF_A_RUN, .step = 9},
        {.setup = MAPPED "run", .script = "report_sensitivity -remap 3 -properties bandwidth -group all -return_string",
         .says = "report_sensitivity: interrupted; nothing was changed", .probe = OF_A_RUN, .step = 9},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_TRUE(count_interruptions(&all[i]) >= 2);
    remove("test_interrupt.ckpt");
}

/* Lists and reports of some hundred tasks: nothing is printed or written of what is not whole. */
static void what_is_long_is_told_whole_or_not_at_all(void)
{
#define DONE MAPPED "run -inputs 40"
    static const interrupted all[] = {
        {.setup = DONE, .script = "get_tasks", .says = "get_tasks: interrupted; nothing was changed", .probe = "now",
         .step = 301},
        {.setup = DONE, .script = "report_critical_path -return_string",
         .says = "report_critical_path: interrupted; nothing was printed", .probe = OF_A_RUN, .step = 101},
        {.setup = DONE, .script = "report_critical_path -slack -format csv > test_interrupt.csv",
         .says = "report_critical_path: interrupted; nothing was printed", .probe = "file exists test_interrupt.csv",
         .step = 301},
        {.setup = DONE, .script = "report_links -return_string", .says = "report_links: interrupted; the run is as it was",
         .probe = OF_A_RUN, .step = 101},
        {.setup = DONE, .script = "write_report test_interrupt.html",
         .says = "write_report: interrupted; nothing was written", .probe = "file exists test_interrupt.html",
         .step = 301},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CU_ASSERT_TRUE(count_interruptions(&all[i]) >= 2);
    remove("test_interrupt.csv");
    remove("test_interrupt.html");
}

/* Also in the last slice of a run, which ends where it was to go. */
static void a_run_goes_on_to_where_it_was_to_go(void)
{
    static const interrupted x = {
        .setup = EXCHANGE,
        .script = "restart; run -network packet -until 300us",
        .says = "interrupted before it began; nothing has run",
        .or_says = "interrupted at *s; run goes on",
        .probe = "list [run -network packet -until 300us] [now] [report_links -return_string]",
        .step = 1,
    };
    CU_ASSERT_TRUE(count_interruptions(&x) >= 3);
}

/* So many collectives are not all remembered, and chosen once more: then the run stands where it stood. */
static void restart_gives_up_whole(void)
{
    static const interrupted x = {
        .setup = "create_system -name s -topology ring -dims 3 -accel npu_v1 -link_bandwidth "
                 "100Gbps -link_latency 500ns;"
                 "create_program p; for {set i 1} {$i <= 520} {incr i} {add_collective all_reduce "
                 "-bytes ${i}kB {*}[expr {$i > 6 ? {-algorithm ring -chunks 1} : {}}]};"
                 "inject_fault accel/0 -at 5us -clock x0.5; run -for 20us; set_property link/0_1 "
                 "bandwidth 1Gbps; run -for 20us",
        .script = "restart",
        .says = "restart: interrupted; the run is as it was",
        .probe = OF_A_RUN,
        .step = 5};
    CU_ASSERT_TRUE(count_interruptions(&x) >= 5);
}

static void what_has_not_begun_has_not(void)
{
    static const interrupted all[] = {
        {.setup = MAPPED,
         .script = "step",
         .says = "step: interrupted; nothing has run",
         .or_says = "interrupted at 0s; run goes on",
         .probe = "now",
         .step = 1},
        {.setup = MAPPED,
         .script = "run",
         .says = "interrupted before it began; nothing has run",
         .or_says = "interrupted at 0s; run goes on",
         .probe = "now",
         .step = 1},
        {.setup = MAPPED,
         .script = "get_tasks",
         .says = "get_tasks: interrupted; nothing was changed",
         .probe = "now",
         .step = 1},
        {.setup = EXCHANGE,
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
    static const tap_test tests[] = {
        TAP(what_does_the_run_again_leaves_it_as_it_was),
        TAP(what_is_long_is_told_whole_or_not_at_all),
        TAP(a_run_goes_on_to_where_it_was_to_go),
        TAP(restart_gives_up_whole),
        TAP(what_has_not_begun_has_not),
        TAP_END,
    };
    Tcl_FindExecutable(argv[0]);
    return tap_main("interrupt", tests, argc, argv);
}
