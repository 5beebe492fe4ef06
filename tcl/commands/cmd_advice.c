/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_advice.c - report_advice: what to buy.
 *   options -> th_advice_list -> th_advice_run -> th_advice_rank -> a table, the best first */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "report/session/goal.h"
#include "report/what_if/advice.h"
#include "sim/analysis/time_breakdown.h"
#include "tcl/command.h"
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"

enum { EVALUATIONS = REPORT_N_OPTIONS, SEED, CHANGES, COSTS };
enum { DEFAULT_EVALUATIONS = 500 };

static const char *change_name(int i)
{
    return th_advice_names[i];
}

static const th_option advice_options[] = {
    TABLE_OPTIONS,
    [EVALUATIONS] = {"-evaluations", TH_OPTION_INTEGER, "N",
                     "Budget of the search on each system, the present one included (500).", 1,
                     INT32_MAX},
    [SEED] = {"-seed", TH_OPTION_INTEGER, "N",
              "Seed of these searches; default: that of the search that found the mapping.", 0,
              INT64_MAX},
    [CHANGES] = {"-changes", TH_OPTION_TEXT, "{CHANGE ...}",
                 "Which of accelerator bandwidth dram_bandwidth clock memory design topology; all "
                 "when left out.",
                 .choice = change_name},
    [COSTS] = {"-costs", TH_OPTION_TEXT, "{CHANGE COST ...}",
               "Costs of changes that the system file does not know, per accelerator: of "
               "dram_bandwidth, clock, memory, design (0 is allowed)."},
    {.name = NULL},
};

/* ---- options ---- */

static int parse_change(th_call *c, int option, Tcl_Obj *word, int *out)
{
    for (*out = 0; *out < TH_N_ADVICE; ++*out)
        if (strcmp(th_advice_names[*out], Tcl_GetString(word)) == 0)
            return 0;
    return th_error_unknown(&c->err, "TCL-0732", advice_options[option].name, Tcl_GetString(word),
                            th_advice_names);
}

static int parse_changes(th_call *c, th_advice_request *q)
{
    Tcl_Obj **words;
    Tcl_Size n;
    int kind;
    for (int k = 0; k < TH_N_ADVICE; k++)
        q->wants[k] = !th_call_has(c, CHANGES);
    if (!th_call_has(c, CHANGES))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[CHANGES].word, &n, &words) != TCL_OK || n < 1)
        return th_error_set(&c->err, "TCL-0733", "-changes \"%.100s\": must be a list of changes",
                            th_call_text(c, CHANGES, ""));
    for (Tcl_Size i = 0; i < n; i++) {
        if (parse_change(c, CHANGES, words[i], &kind) != 0)
            return -1;
        q->wants[kind] = true;
    }
    return 0;
}

/* What stands in the system file is not said twice. */
static bool is_priced_here(int kind)
{
    return kind == TH_ADVICE_DRAM_BANDWIDTH || kind == TH_ADVICE_CLOCK ||
           kind == TH_ADVICE_MEMORY || kind == TH_ADVICE_DESIGN;
}

static int parse_costs(th_call *c, th_advice_request *q)
{
    Tcl_Obj **words;
    Tcl_Size n;
    int kind;
    for (int k = 0; k < TH_N_ADVICE; k++)
        q->cost[k] = -1;
    if (!th_call_has(c, COSTS))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[COSTS].word, &n, &words) != TCL_OK || n % 2 != 0)
        return th_error_set(&c->err, "TCL-0734",
                            "-costs \"%.100s\": must be a list of changes and their costs",
                            th_call_text(c, COSTS, ""));
    for (Tcl_Size i = 0; i < n; i += 2) {
        if (parse_change(c, COSTS, words[i], &kind) != 0)
            return -1;
        if (!is_priced_here(kind))
            return th_error_set(&c->err, "TCL-0735",
                                "-costs %s: is the key cost of accelerators and links in the "
                                "system file",
                                th_advice_names[kind]);
        double *cost = &q->cost[kind];
        if (Tcl_GetDoubleFromObj(NULL, words[i + 1], cost) != TCL_OK || !(*cost >= 0) ||
            *cost > TH_COST_MAX)
            return th_error_set(&c->err, "TCL-0736", "-costs %s \"%.40s\": must be from 0 to %g",
                                th_advice_names[kind], Tcl_GetString(words[i + 1]), TH_COST_MAX);
    }
    return 0;
}

static int parse(th_call *c, th_advice_request *q)
{
    q->remap = (th_remap){.evaluations = th_call_number(c, EVALUATIONS, DEFAULT_EVALUATIONS),
                          .has_seed = th_call_has(c, SEED),
                          .seed = (uint64_t)th_call_number(c, SEED, 0)};
    return parse_changes(c, q) != 0 || parse_costs(c, q) != 0 ? -1 : 0;
}

/* ---- the table ---- */

/* What only adds is no slower under the best mapping: the search found a worse one. Another
 * topology or design may really be slower, and energy may really rise. */
static bool is_noise(const th_advice *a, const th_advice_item *item)
{
    bool only_adds = item->kind == TH_ADVICE_BANDWIDTH || item->kind == TH_ADVICE_DRAM_BANDWIDTH ||
                     item->kind == TH_ADVICE_CLOCK || item->kind == TH_ADVICE_MEMORY;
    return only_adds && !th_goal_needs_energy(&a->goal) && !item->failure.id[0] && item->gain < 0;
}

static void add_row(th_table *t, const th_advice *a, const th_advice_item *item, bool is_baseline)
{
    bool has = !item->failure.id[0];
    th_quantity best = th_goal_quantity(&a->goal, &item->metrics);
    th_quantity cells[] = {
        th_text(is_baseline ? "baseline" : th_advice_names[item->kind]),
        is_baseline ? th_absent(TH_KIND_TEXT) : th_text(item->what),
        item->has_cost ? th_number(item->cost) : th_absent(TH_KIND_NUMBER),
        has ? best : th_absent(best.kind),
        has && item->throughput_per_s > 0 ? th_rate(item->throughput_per_s)
                                          : th_absent(TH_KIND_RATE),
        has ? th_ps(item->metrics.lateness_ps) : th_absent(TH_KIND_TIME),
        has && !is_baseline ? th_change(item->gain) : th_absent(TH_KIND_CHANGE),
        !is_baseline && th_advice_has_gain_per_cost(item) ? th_number(100 * item->gain / item->cost)
                                                          : th_absent(TH_KIND_NUMBER),
        has ? th_text(th_time_part_name(item->limit)) : th_text("no mapping"),
        has ? th_share(item->limit_share) : th_absent(TH_KIND_SHARE),
        !is_baseline && is_noise(a, item) ? th_text("of the search") : th_absent(TH_KIND_TEXT),
        has ? th_absent(TH_KIND_TEXT) : th_text(item->failure.text),
    };
    if (is_baseline)
        th_table_total(t, cells);
    else
        th_table_row(t, cells);
}

static bool any_is_late(const th_advice *a)
{
    bool any = a->baseline.metrics.lateness_ps > 0;
    for (int i = 0; i < a->n; i++)
        any |= a->all[i].metrics.lateness_ps > 0;
    return any;
}

static bool any_noise(const th_advice *a)
{
    bool any = false;
    for (int i = 0; i < a->n; i++)
        any |= is_noise(a, &a->all[i]);
    return any;
}

static bool any_costs(const th_advice *a)
{
    bool any = false;
    for (int i = 0; i < a->n; i++)
        any |= a->all[i].has_cost && a->all[i].cost != 0;
    return any;
}

static int section(th_report *r, const th_advice *a, th_error *err)
{
    bool has_costs = any_costs(a);
    const th_column all[] = {
        {"change", "change", TH_KIND_TEXT},
        {"what", "what", TH_KIND_TEXT},
        {"cost", has_costs ? "cost" : NULL, TH_KIND_NUMBER},
        th_goal_column(&a->goal),
        {"throughput", th_goal_has_throughput(&a->goal) ? "throughput, samples" : NULL,
         TH_KIND_RATE},
        {"late", any_is_late(a) ? "late" : NULL, TH_KIND_TIME},
        {"gain", "gain", TH_KIND_CHANGE},
        {"gain_per_cost", has_costs ? "gain per cost" : NULL, TH_KIND_NUMBER},
        {"limit", "limited by", TH_KIND_TEXT},
        {"share", "share", TH_KIND_SHARE},
        {"noise", any_noise(a) ? "noise" : NULL, TH_KIND_TEXT},
        {"error", NULL, TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    enum { N = sizeof all / sizeof *all - 1 };
    th_column *columns = th_report_columns(r, N);
    if (!columns)
        return th_error_no_memory(err);
    memcpy(columns, all, sizeof all);
    th_table *t = th_report_table(r, "advice", NULL, columns);
    th_table_note(t, "gain",
                  "gain: of the baseline's objective (of its lateness, where it is late), every "
                  "system mapped anew");
    th_table_note(t, "gain_per_cost", "gain per cost: percent of it for a cost of 1");
    th_table_note(t, "limit share",
                  "limited by: the largest part of the critical path then, and its share");
    th_table_note(t, "what", "link/A +3: link/A and 3 links like it");
    th_table_note(t, NULL,
                  has_costs
                      ? "order: what costs nothing, by gain; by gain per cost; without a "
                        "cost, by gain; without a gain"
                      : "order: what gains and costs nothing (as much bandwidth in all, other "
                        "links), by gain; the rest, by gain");
    th_table_note(t, "noise",
                  "noise: more bandwidth, clock or memory makes no mapping worse; with so few "
                  "-evaluations the search found a worse one");
    for (int i = 0; i < a->n; i++)
        add_row(t, a, &a->all[i], false);
    add_row(t, a, &a->baseline, true);
    return 0;
}

static int report(th_call *c, const th_advice *a)
{
    char objective[120];
    const th_remap *how = &a->request.remap;
    th_report *r = th_report_of_call(c, "advice", "Advice");
    if (!r)
        return -1;
    th_report_head_line(r, "objective", th_goal_describe(&a->goal, objective, sizeof objective));
    th_report_head_line(r, "mapped",
                        th_report_printf(r, "anew for each of %d systems, by %lld evaluations",
                                         a->n + 1, (long long)how->evaluations));
    th_report_head_field(r, "objective", th_text(objective));
    th_report_head_field(r, "evaluations", th_count(how->evaluations));
    th_report_head_field(r, "baseline", th_goal_quantity(&a->goal, &a->baseline.metrics));
    th_report_head_field(r, "baseline_lateness", th_ps(a->baseline.metrics.lateness_ps));
    if (how->has_seed)
        th_report_head_field(r, "search_seed", th_count((int64_t)how->seed));
    int failed = section(r, a, &c->err);
    r->is_kept = !failed;
    return th_report_finish(c, r, failed, r->first);
}

/* ---- the command ---- */

static int advise(th_call *c, th_advice *a)
{
    if (th_advice_list(c->session, a, &c->err) != 0)
        return -1;
    if (a->n == 0)
        return th_error_set(&c->err, "TCL-0737",
                            "-changes: none of them can be made in this system");
    th_report *trial = th_report_new("advice", "Advice");
    if (!trial)
        return th_error_no_memory(&c->err);
    if (th_report_check_columns(c, trial, section(trial, a, &c->err)) != 0 ||
        th_advice_run(c->session, a, &c->err) != 0)
        return -1;
    th_advice_rank(a);
    return report(c, a);
}

static int run_report_advice(th_call *c)
{
    th_advice a = {.n = 0};
    if (th_session_need_mapping(c->session, &c->err) != 0 || parse(c, &a.request) != 0)
        return -1;
    int failed = advise(c, &a);
    th_advice_clear(&a);
    return failed;
}

const th_command th_advice_commands[] = {
    {"report_advice", "report", "", 0, 0, advice_options, "print what is worth buying",
     "Systems with one thing more or another one are each mapped anew by a search of -evaluations "
     "that starts from the mapping, with the algorithm and objective that found it, and simulated: "
     "one more accelerator of each kind (with copies of the links of the last of its kind and a "
     "link to it; of a topology, what its next larger size has), twice the bandwidth of links with "
     "equal properties, twice the bandwidth and capacity of DRAM and twice the clock of each kind, "
     "another design of the system for accelerators of a kind, and another topology with the same "
     "cables or with the same bandwidth in all cables together. The present system is mapped anew "
     "as well: it is the baseline. Costs are those of the system file (twice the bandwidth of a "
     "cable costs another one); clock, memory and designs cost what -costs says. First stands "
     "what gains and costs nothing, then the most gain per cost, then gains of unknown cost, then "
     "what gains nothing. Injected faults do not happen. Works on as many threads as set_threads "
     "says; no result depends on their number.",
     .run = run_report_advice, .is_report = true, .not_while_running = true,
     .after_interrupt = "nothing was changed"},
    {.name = NULL},
};
