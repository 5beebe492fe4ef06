/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_report.c - report_* commands of the run.
 *   command -> th_report_of_call -> sections -> th_report_finish (-sort_by, -limit; output) */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "session/objects/objects.h"
#include "tcl/report_call.h"
#include "session/sections/sections.h"

#define GROUP "report"

static const th_option record_options[] = {RECORD_OPTIONS, {.name = NULL}};
/* ---- report_utilization ---- */

enum { USE_FROM = REPORT_N_OPTIONS, USE_TO, USE_WINDOWS, USE_WINDOW, USE_OF };
enum { WINDOWS_MAX = 100000 };

static const th_option utilization_options[] = {
    TABLE_OPTIONS,
    [USE_FROM] = {"-from", TH_OPTION_TIME, "TIME", "From this time (0)."},
    [USE_TO] = {"-to", TH_OPTION_TIME, "TIME", "Up to this time (now)."},
    [USE_WINDOWS] = {"-windows", TH_OPTION_INTEGER, "N",
                     "In N windows of equal length, with links.", 1, WINDOWS_MAX,
                     .without = "-window"},
    [USE_WINDOW] = {"-window", TH_OPTION_TIME, "TIME",
                    "In windows of this length, the last one shorter.", .minimum = 1},
    [USE_OF] = {"-of", TH_OPTION_OBJECT, "OBJECTS", "Only these accelerators and links.",
                .most = TH_MANY, .classes = TH_BIT(TH_CLASS_ACCEL) | TH_BIT(TH_CLASS_LINK)},
    {.name = NULL},
};

static int parse_windows(th_call *c, th_windows *x)
{
    th_time now = th_machine_elapsed(c->session->simulation->machine);
    x->from = th_call_number(c, USE_FROM, 0);
    x->to = th_call_number(c, USE_TO, now);
    x->n = th_call_number(c, USE_WINDOWS, 1);
    x->length = th_call_number(c, USE_WINDOW, 0);
    if (x->to > now)
        return th_error_set(&c->err, "TCL-0712", "-to \"%s\": the run has not reached this time",
                            th_call_text(c, USE_TO, ""));
    if (x->from >= x->to)
        return th_error_set(&c->err, "TCL-0713",
                            "-from: must be before -to, and before where the run stands");
    if (x->length > 0)
        x->n = (x->to - x->from - 1) / x->length + 1;
    if (x->n > WINDOWS_MAX || x->n > x->to - x->from)
        return th_error_set(&c->err, "TCL-0716",
                            "%lld windows: at most %d, of a picosecond or more", (long long)x->n,
                            (int)WINDOWS_MAX);
    return 0;
}

/* Accelerators and links out of -of; all without it. */
static void take_used(const th_call *c, bool *accels, bool *links)
{
    const th_value *of = &c->option[USE_OF];
    memset(accels, !of->word, (size_t)c->session->system->n_accels);
    memset(links, !of->word, (size_t)c->session->system->n_links);
    for (int i = 0; i < of->n; i++)
        (of->objects[i].class == TH_CLASS_ACCEL ? accels : links)[of->indices[i]] = true;
}

static int report_windows(th_call *c, th_windows *x)
{
    th_report *r = th_report_of_call(c, "utilization", "Utilization");
    if (!r)
        return -1;
    int failed = th_section_windows(c->session, r, x, &c->err);
    return th_report_finish(c, r, failed, r->first);
}

static int run_report_utilization(th_call *c)
{
    th_session *s = c->session;
    bool in_windows = false;
    for (int o = USE_FROM; o <= USE_OF; o++)
        in_windows |= th_call_has(c, o);
    if (!in_windows)
        return th_lib_run(c);
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    bool *accels = th_alloc_zero((size_t)s->system->n_accels + 1, sizeof *accels);
    bool *links = th_alloc_zero((size_t)s->system->n_links + 1, sizeof *links);
    th_windows x = {.accels = accels, .links = links, .used_links = !th_call_has(c, USE_OF)};
    int failed = accels && links ? 0 : th_error_no_memory(&c->err);
    if (!failed)
        take_used(c, accels, links);
    if (!failed)
        failed = parse_windows(c, &x) != 0 || report_windows(c, &x) != 0 ? -1 : 0;
    th_free(accels);
    th_free(links);
    return failed;
}

enum { LAYERS_TOTALS = REPORT_N_OPTIONS };

static const th_option layers_options[] = {
    TABLE_OPTIONS,
    [LAYERS_TOTALS] = {"-totals", TH_OPTION_FLAG, NULL,
                       "Parameters, multiply-accumulates and activations of the workload by kind "
                       "of layer, instead; needs no run."},
    {.name = NULL},
};

/* ---- report_energy ---- */

enum { ENERGY_BY = REPORT_N_OPTIONS };

static const th_option energy_options[] = {
    TABLE_OPTIONS,
    [ENERGY_BY] = {"-by", TH_OPTION_CHOICE, "WHAT",
                   "Rows are layers (accelerators, for a hand-built program).",
                   .names = TH_NAMES("layer", "accel")},
    {.name = NULL},
};

/* ---- report_critical_path ---- */

enum { PATH_SLACK = REPORT_N_OPTIONS, PATH_BY };
enum { SLACKS_IN_TEXT = 20 }; /* rows without -limit */

static const th_option path_options[] = {
    TABLE_OPTIONS,
    [PATH_SLACK] = {"-slack", TH_OPTION_FLAG, NULL,
                    "All tasks that have ended, the least slack first, instead of the path; in "
                    "text 20, without -limit."},
    [PATH_BY] = {"-by", TH_OPTION_CHOICE, "WHAT",
                 "The time of the path by kind of task, or by layer and kind, instead of its "
                 "tasks.",
                 .names = TH_NAMES("kind", "layer"), .without = "-slack"},
    {.name = NULL},
};

/* Rows that are not shown are needed only for sorting. */
static int report_slack(th_call *c, th_report *r)
{
    bool is_text = th_report_format(c) == TH_FORMAT_TEXT, sorts = th_call_has(c, REPORT_SORT_BY);
    int64_t limit = th_call_number(c, REPORT_LIMIT, is_text ? SLACKS_IN_TEXT : INT64_MAX);
    int failed = th_section_slack(c->session, r, sorts ? INT64_MAX : limit, &c->err);
    if (!failed)
        failed = th_report_arrange(c, r->first);
    th_table_limit(r->first, limit);
    return th_report_finish(c, r, failed, NULL);
}

static int run_report_critical_path(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (th_call_has(c, PATH_BY))
        return th_lib_run(c);
    if (th_call_has(c, REPORT_SORT_BY) && !th_call_has(c, PATH_SLACK))
        return th_error_set(&c->err, "TCL-0700",
                            "-sort_by: is for -slack; the path is in order of time");
    th_report *r = th_report_of_call(c, "critical_path", "Critical path");
    if (!r)
        return -1;
    if (th_call_has(c, PATH_SLACK))
        return report_slack(c, r);
    int failed = th_section_path(s, r, th_call_number(c, REPORT_LIMIT, 0), &c->err);
    if (!failed && th_report_format(c) != TH_FORMAT_CSV)
        failed = th_section_path_parts(s, r, &c->err);
    if (!failed && th_report_format(c) != TH_FORMAT_CSV)
        failed = th_section_contention(s, r, th_call_number(c, REPORT_LIMIT, 0), &c->err);
    if (!failed)
        th_section_path_verdict(r);
    return th_report_finish(c, r, failed, NULL);
}

/* ---- report_memory ---- */

enum { MEMORY_OF = REPORT_N_OPTIONS };

static const th_option memory_options[] = {
    TABLE_OPTIONS,
    [MEMORY_OF] = {"-of", TH_OPTION_NODE, "ACCEL",
                   "The tensors of this accelerator instead of the fullest one.",
                   .classes = TH_BIT(TH_CLASS_ACCEL)},
    {.name = NULL},
};

const th_command th_report_commands[] = {
    {"report_summary", GROUP, "", 0, 0, record_options,
     "print latency, throughput, MACs and traffic",
     "The makespan is the time to the end of the run. The latency is the mean time from the "
     "arrival of an input, which is a whole batch, to its end. The throughput is that of the "
     "steady state: (N - N/2) / (t_N - t_N/2) batches per second, times the batch (where several "
     "networks share the system, times the sum of their batches). Text has batches per second only "
     "where a batch has more than one sample; csv and json have it always. Latency and "
     "multiply-accumulates count finished inputs only.",
     .run = th_lib_run, .is_report = true},
    {"report_utilization", GROUP, "", 0, 0, utilization_options,
     "print the busy, stall and idle time of each accelerator",
     "Busy, stall in, stall out and idle add up to the elapsed time; csv and json split the stalls "
     "on input by operand. -from, -to, -windows, -window and -of print the same for windows of "
     "time, to the picosecond, and also the busy time, idle time and mean number of flows of "
     "links. For windows the run is simulated once more; the present run stays as it is. Without "
     "-of, a window lists only the links that were busy in it.",
     .run = run_report_utilization, .is_report = true, .after_interrupt = TH_RUN_IS_AS_IT_WAS,
     .needs_every_rank = true},
    {"report_layers", GROUP, "", 0, 0, layers_options,
     "print the time of each layer, and what limits it",
     "A layer is active while any of its tasks runs, transfers of its inputs included. Busy, the "
     "stalls on input, weight, partial sums and output, and idle are summed over its accelerators: "
     "together they are active times accels. Text shows stalls on partial sums where there are "
     "any, and then idle only where it is not 0. Of peak: MACs, as a share of those that the "
     "arrays could have done while the layer was active. MACs count as dense and direct, so of "
     "peak may exceed 100 % and x roofline stay below 1 where zeros are skipped or Winograd saves "
     "MACs. Bound: what took longest (compute, DRAM bandwidth, a port, or waiting). x roofline: "
     "active / max(MACs / peak, DRAM bytes / bandwidth), both shared evenly among its "
     "accelerators. csv and json add cycles, traffic of each operand and accesses to on-chip "
     "buffers.",
     .run = th_lib_run, .is_report = true},
    {"report_energy", GROUP, "", 0, 0, energy_options, "print the energy of the run, by component",
     "The components are multiply-accumulates, operations of the vector unit, bytes of on-chip "
     "buffers, bytes of DRAM (those of transfers included), static power, and bytes on links. A "
     "layer has the energy of its tasks, and the static power while they ran. The row (rest) has "
     "the energy that belongs to no layer: idle accelerators, tasks that failures cut short, "
     "collectives. Needs a system file with energy costs.",
     .run = th_lib_run, .is_report = true, .needs_every_rank = true},
    {"report_memory", GROUP, "", 0, 0, memory_options,
     "print the peak use of memory, and what it holds",
     "Weights are resident from the start; an input is held from the end of its producer to its "
     "last reader, an output until its last reader is done; each for all inputs in flight. Peak "
     "at, in layer: when and in which layer the peak is reached (when the layer's first task on "
     "the accelerator began, in the first pass with that many inputs in flight). Below: the "
     "tensors held at the peak by the fullest accelerator, the largest first; in text the ten "
     "largest, without -limit, and all weights in one line; in csv only with -of. Of a step of "
     "training: what an accelerator of each stage needs, by term.",
     .run = th_lib_run, .is_report = true},
    {"report_critical_path", GROUP, "", 0, 0, path_options,
     "print the critical path, or the slacks of all tasks",
     "The path leads from the task that ended last back through the task that each waited for "
     "last. Cause is what delayed a task: data (its predecessor), engine (an earlier task on the "
     "same accelerator or host), arrival (of an input) or begin (nothing); after is that task. "
     "Wait: from the end of that task to the start; waits and durations add up to the makespan, to "
     "the picosecond. Slack: how much later a task could have ended without moving the end of the "
     "run, with all durations and the order on accelerators and hosts unchanged; 0 on the path. "
     "Below: the time breakdown of the path, in which contention is the time beyond that of a task "
     "alone, less what faults of links cost it (faults), and the tasks that contended with those "
     "of the path. csv and json have the breakdown "
     "and the contention of every task, and the time between ready and start (queued). With -limit "
     "the N longest tasks have a row each and the others are merged into one row per gap.",
     .run = run_report_critical_path, .is_report = true},
    {"report_breakpoints", GROUP, "", 0, 0, th_table_options, "print all breakpoints", NULL,
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
