/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_report_network.c - report_links, report_latency, report_collectives. */
#include <config.h>
#include <string.h>
#include "session/objects/objects.h"
#include "session/sections/sections.h"
#include "session/what_if/reroute.h"
#include "sim/observe/contention_probe.h"
#include "tcl/report_call.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"

#define GROUP "report"

/* ---- report_links ---- */

enum { LINKS_USED = REPORT_N_OPTIONS, LINKS_FLOWS, LINKS_OVER_TIME, LINKS_BY, LINKS_WHY };
enum { WHY_LINKS = 3, WHY_FLOWS = 3 }; /* rows without -limit */

static const th_option links_options[] = {
    TABLE_OPTIONS,
    [LINKS_USED] = {"-used", TH_OPTION_FLAG, NULL, "Only links that carried something."},
    [LINKS_FLOWS] = {"-flows", TH_OPTION_TEXT, "LINK",
                     "The flows over this link instead of those over the most loaded one."},
    [LINKS_OVER_TIME] =
        {"-over_time", TH_OPTION_TEXT, "LINK",
         "Only the number of flows on this link over time, in -limit windows (20, at "
         "most 64); the run is simulated once more for it."},
    [LINKS_BY] = {"-by", TH_OPTION_CHOICE, "WHAT",
                  "Only what each job sent over each link; the most bytes first.",
                  .names = TH_NAMES("job")},
    [LINKS_WHY] = {"-why", TH_OPTION_FLAG, NULL,
                   "Why the three most loaded links (or that of -flows) were slow: when flows "
                   "shared them, the -limit (3) pairs of nodes whose flows lost most by it, and "
                   "when the run would end if these took another route. The run, which must be at "
                   "its end, is simulated once more, and once for each new route."},
    {.name = NULL},
};

static int report_why(th_call *c)
{
    th_session *s = c->session;
    th_why w = {
        .link = -1, .n_links = WHY_LINKS, .n_flows = th_call_number(c, REPORT_LIMIT, WHY_FLOWS)};
    if (!th_machine_is_done(s->simulation->machine))
        return th_error_set(&c->err, "TCL-0940", "-why: the run is not at its end: run first");
    if (th_call_has(c, LINKS_FLOWS) &&
        (w.link = th_call_parse_link(c, "-flows", th_call_text(c, LINKS_FLOWS, ""))) < 0)
        return -1;
    th_report *r = th_report_of_call(c, "links", "Links");
    if (!r)
        return -1;
    int failed = th_section_why(s, r, &w, &c->err);
    if (!failed && th_call_has(c, REPORT_SORT_BY))
        failed = th_report_arrange(c, r->first);
    return th_report_finish(c, r, failed, NULL);
}

static int run_report_links(th_call *c)
{
    if (!th_call_has(c, LINKS_WHY) || th_call_has(c, LINKS_BY))
        return th_lib_run(c);
    return th_session_need_run(c->session, &c->err) == 0 ? report_why(c) : -1;
}

/* ---- report_latency ---- */

enum { LATENCY_SINCE = RECORD_N_OPTIONS, LATENCY_UNTIL };

static const th_option latency_options[] = {
    RECORD_OPTIONS,
    [LATENCY_SINCE] = {"-since", TH_OPTION_TIME, "TIME",
                       "Transfers that started at this time or later (0)."},
    [LATENCY_UNTIL] = {"-until", TH_OPTION_TIME, "TIME", "... and before this one."},
    {.name = NULL},
};

const th_command th_report_network_commands[] = {
    {"report_links", GROUP, "", 0, 0, links_options,
     "print the traffic of links, and the flows over one",
     "Load: bytes over the link's medium / (bandwidth x elapsed time). Busy: time with at least "
     "one flow. Flows (packets, on a packet network): their mean number while busy; peak flows: "
     "the largest number at once; queue: mean number of flows beyond the first, over the elapsed "
     "time. Rows are sorted by load unless -sort_by says otherwise. Below the table: the flows "
     "over the most loaded link, transfers one by one and collectives by pair of nodes; in text "
     "the ten largest, without -limit; in csv only with -flows. On an ideal network, which has no "
     "contention, load may exceed 100 %.",
     .run = run_report_links, .is_report = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS,
     .needs_every_rank = true},
    {"report_latency", GROUP, "", 0, 0, latency_options,
     "print statistics of the durations of transfers",
     "Counts the transfers that started between -since and -until, so that warm-up and drain can "
     "be left out. Percentiles are by nearest rank. The delivered bandwidth is the bytes of the "
     "transfers that ended in that window, over its length. Of several models, also when each "
     "ends, against its deadline.",
     .run = th_lib_run, .is_report = true, .needs_every_rank = true},
    {"report_jobs", GROUP, "", 0, 0, th_table_options,
     "print when each job ended, and its slowdown",
     "For a program of add_job. Every job is simulated once more alone, on the same accelerators "
     "and network, from the same start, with the same faults and changes. The slowdown is its time "
     "in the run over its time alone.",
     .run = th_lib_run, .is_report = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS},
    {"report_collectives", GROUP, "", 0, 0, th_table_options,
     "print the time and bandwidths of each collective",
     "algbw: the algorithm bandwidth, size / time. busbw: algbw times the share of the size that "
     "each rank sends at least: 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter, "
     "all_to_all, gather and scatter, 1 for broadcast, reduce and send_recv. over bound: time / "
     "lower bound - 1, where the bound holds for any algorithm on these links without other "
     "traffic; csv and json have the bound too. An ideal network has no bound.",
     .run = th_lib_run, .is_report = true, .needs_every_rank = true},
    {.name = NULL},
};
