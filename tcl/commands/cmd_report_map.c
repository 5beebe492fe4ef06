/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_report_map.c - report_mapping, report_search, report_bounds: the mapping, its search, and
 * lower bounds. */
#include <config.h>
#include "tcl/report_call.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "session/sections/sections.h"

#define GROUP "map"

/* ---- report_search ---- */

enum { SEARCH_CONVERGENCE = REPORT_N_OPTIONS, SEARCH_PARETO, SEARCH_TIMING };

static const th_option search_report_options[] = {
    TABLE_OPTIONS,
    [SEARCH_CONVERGENCE] =
        {"-convergence", TH_OPTION_FLAG, NULL,
         "Every improvement of the best value, and the evaluation that found it.",
         .without = "-pareto -timing"},
    [SEARCH_PARETO] = {"-pareto", TH_OPTION_FLAG, NULL,
                       "The Pareto front that was found, by its first objective.",
                       .without = "-timing"},
    [SEARCH_TIMING] =
        {"-timing", TH_OPTION_FLAG, NULL,
         "How long the search took, its evaluations per second, and the hit rate of the segment "
         "cache from which makespans are composed: differs from run to run."},
    {.name = NULL},
};

/* Checks that there is something to show for -convergence and -pareto. */
static int check_search_report(th_call *c)
{
    const th_session *s = c->session;
    bool is_table = th_call_has(c, SEARCH_CONVERGENCE) || th_call_has(c, SEARCH_PARETO);
    if (th_call_has(c, SEARCH_PARETO) && th_session_need_front(c->session, &c->err) != 0)
        return -1;
    if (th_call_has(c, SEARCH_CONVERGENCE) && !s->search.type)
        return th_error_set(&c->err, "TCL-0259", "-convergence: the mapping was read from a file");
    if (!is_table && (th_call_has(c, REPORT_LIMIT) || th_call_has(c, REPORT_SORT_BY)))
        return th_error_set(&c->err, "TCL-0260",
                            "-limit, -sort_by: are for -convergence and -pareto");
    return 0;
}

static int run_report_search(th_call *c)
{
    th_session *s = c->session;
    if (s->hand_built && s->hand_built->search)
        return th_lib_run(c);
    if (th_session_need_mapping(s, &c->err) != 0 || check_search_report(c) != 0)
        return -1;
    th_report *r = th_report_of_call(c, "search", "Search");
    if (!r)
        return -1;
    int failed = th_call_has(c, SEARCH_CONVERGENCE) ? th_section_convergence(s, r, &c->err)
                 : th_call_has(c, SEARCH_PARETO)    ? th_section_front(s, r, &c->err)
                 : th_call_has(c, SEARCH_TIMING)    ? th_section_search_timing(s, r, &c->err)
                                                    : th_section_search(s, r, &c->err);
    return th_report_finish(c, r, failed, r->first);
}

/* ---- report_mapping ---- */

static const th_option mapping_options[] = {
    TABLE_OPTIONS,
    {"-alternatives", TH_OPTION_FLAG, NULL,
     "Alternatives of each layer on the array, instead of the layers."},
    {.name = NULL},
};

/* ---- report_bounds ---- */

enum { BOUNDS_WHAT_IF = REPORT_N_OPTIONS };

static const th_option bounds_options[] = {
    TABLE_OPTIONS,
    [BOUNDS_WHAT_IF] = {"-what_if", TH_OPTION_FLAG, NULL,
                        "The largest bound after each of some changes of the system."},
    {.name = NULL},
};

static int run_report_bounds(th_call *c)
{
    const th_hand_built *m = c->session->hand_built;
    if (m && m->step && m->plan->plan.schedule && !th_call_has(c, BOUNDS_WHAT_IF))
        return th_lib_run(c);
    if (th_session_need_problem(c->session, &c->err) != 0)
        return -1;
    if (th_call_has(c, BOUNDS_WHAT_IF))
        return th_lib_run(c);
    th_report *r = th_report_of_call(c, "bounds", "Lower bounds");
    if (!r)
        return -1;
    int failed = th_section_bounds(c->session, r, th_report_format(c) == TH_FORMAT_TEXT, &c->err);
    return th_report_finish(c, r, failed, r->first);
}

const th_command th_report_map_commands[] = {
    {"report_mapping", GROUP, "", 0, 0, mapping_options,
     "print sets, designs, and how each layer is cut",
     "In text, neighbouring layers with the same set, strategy and extents of the output share a "
     "row. The shard is the largest that one accelerator has (over the layers of a row: the "
     "largest of each extent); extents of 1 are left out. With -alternatives, for each layer that "
     "runs on the array: its time alone on its set with this mapping and with the fastest "
     "strategy of each possible design; and the best exclusive shards (ES), which rotate nothing: "
     "for a layer that rotates, those that make the whole run shortest. Rotates and per phase are "
     "what it rotates and the largest piece sent per phase; run with ES is the change of the "
     "makespan with exclusive shards instead. Times alone are the estimates that initial mappings "
     "are chosen by; runs are simulated.",
     .run = th_lib_run, .is_report = true},
    {"report_search", GROUP, "", 0, 0, search_report_options,
     "print the algorithm, budget and result of the search",
     "All figures hold for the network and stream of map_workload; if the run has others, the line "
     "\"searched under\" names those of the search. After search_plan: the plans that it "
     "simulated, "
     "the best first. Stopped early counts the simulations that ended as soon as they could not "
     "beat the best mapping; nodes, the mappings of an exhaustive search.",
     .run = run_report_search, .is_report = true},
    {"report_bounds", GROUP, "", 0, 0, bounds_options,
     "print lower bounds on the makespan, and the gap to them",
     "Lower bounds on the makespan of any mapping of the workload on the system: all accelerators "
     "busy, each task where it is fastest (compute); the bytes of all tasks through all DRAMs "
     "(memory); input and output over the links of the hosts (cut); dependent layers one after "
     "another, with what travels between them, in the strategies that take least together "
     "(critical path). For a stream, also the time per input in the long run. Stream, network and "
     "clocks are those of the run, and gap is makespan / bound - 1; before a run, those of the "
     "next run, and the gap of the mapping. A second table names the layers that a bound does not "
     "cover, or not for all mappings, and why. Where models have deadlines, a third one says "
     "whether each can be met: the least latency is the largest bound of the model with the "
     "system for itself; a deadline below it cannot be met by any mapping. With "
     "-what_if, one table instead: the largest bound as it is, and on systems that each differ in "
     "one thing: links of twice the bandwidth, or without latency; twice the bandwidth of DRAMs; "
     "twice the clock; one accelerator more, or as many as the topology needs. The change that "
     "lowers the bound is one that makes a shorter makespan possible. Of a step of training under "
     "a "
     "parallel plan: the bounds that search_plan uses, of that plan.",
     .run = run_report_bounds, .is_report = true},
    {.name = NULL},
};
