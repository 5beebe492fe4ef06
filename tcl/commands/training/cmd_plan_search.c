/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_plan_search.c - search_plan: the best parallel plan of the language model on the system.
 *   options -> space -> search -> the best plan becomes the program -> its line */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "tcl/commands/training/plan_search_call.h"
#include "tcl/core/lib_report.h"

/* Of those that are searched; the one of pairs, for which there is no bound, is the last. */
TH_CHOICE(schedule_name, th_pipeline_types[i].has_pairs ? NULL : th_pipeline_types[i].name)

#define ONLY(NAME, VALUE, LOW, HIGH, HELP)                                                         \
    {                                                                                              \
        NAME, TH_OPTION_INTEGER, VALUE, HELP, LOW, HIGH, .least = 1, .most = TH_MANY               \
    }

static const th_option search_options[] = {
    [PLAN_TENSOR] = ONLY("-tensor", "{N ...}", 1, 1 << 16,
                         "Ranks that share products: only these numbers (all that divide)."),
    [PLAN_PIPELINE] = ONLY("-pipeline", "{N ...}", 1, 1 << 16, "Pipeline stages: only these."),
    [PLAN_VIRTUAL] = ONLY("-virtual", "{N ...}", 1, 1 << 16, "Chunks of a stage: only these."),
    [PLAN_CONTEXT] =
        ONLY("-context", "{N ...}", 1, 1 << 16, "Ranks that share sequences: only these."),
    [PLAN_EXPERT] = ONLY("-expert", "{N ...}", 1, 1 << 16, "Ranks that share experts: only these."),
    [PLAN_EXPERT_TENSOR] =
        ONLY("-expert_tensor", "{N ...}", 1, 1 << 16, "Ranks that share an expert: only these."),
    [PLAN_DATA] = ONLY("-data", "{N ...}", 1, 1 << 16, "Replicas: only these."),
    [PLAN_ZERO] = ONLY("-zero", "{N ...}", 0, 3, "ZeRO stages: only these."),
    [PLAN_SEQUENCE_PARALLEL] = ONLY("-sequence_parallel", "{0|1 ...}", 0, 1,
                                    "Only without (0) or with it (1), where ranks share products."),
    [PLAN_MICRO_BATCH] = ONLY("-micro_batch", "{N ...}", 1, 1 << 16, "Its sequences: only these."),
    [PLAN_RECOMPUTE] = {"-recompute", TH_OPTION_CHOICE, "{WHAT ...}",
                        .help = "What is computed again: only these (all).", .least = 1,
                        .most = TH_MANY, .names = th_plan_recompute_names},
    [PLAN_SCHEDULE] = {"-schedule", TH_OPTION_CHOICE, "{NAME ...}",
                       .help = "Only these pipeline schedules (all).", .least = 1, .most = TH_MANY,
                       .choice = schedule_name},
    TH_PLAN_SHARED_OPTIONS,
    [SEARCH_ZERO_GROUP] = ONLY("-zero_group", "{N ...}", 2, 1 << 16,
                               "Sharded over so many ranks (all that have the same weights)."),
    [SEARCH_OBJECTIVE] = {"-objective", TH_OPTION_CHOICE, "WHAT",
                          .help = "The time of a step (the default), tokens_per_joule or "
                                  "tokens_per_cost of the accelerators that the plan takes. {step "
                                  "tokens_per_joule} or {step tokens_per_cost}: all plans that no "
                                  "other beats in both (report_search -pareto).",
                          .names = th_plan_objective_names, .least = 1, .most = 2},
    [SEARCH_TOP] = {"-top", TH_OPTION_INTEGER, "N",
                    "So many plans are proven to be the best ones (1); report_search lists them.",
                    1, 1000},
    [SEARCH_MEMORY] = {"-memory", TH_OPTION_PERCENT, "PERCENT", .low = 0.01, .high = 2,
                       .help = "Of an accelerator's memory that a plan may take by the estimate "
                               "(109%: what parallel_plan takes, with a warning)."},
    [SEARCH_EVALUATIONS] = {"-evaluations", TH_OPTION_INTEGER, "N",
                            "Plans to simulate at most (until the best one is proven).", 1,
                            INT64_C(1000000000)},
    [SEARCH_SECONDS] = {"-seconds", TH_OPTION_NUMBER, "S",
                        "Ends after this wall time, with the best plan so far.", .low = 0,
                        .high = 1e9, .range = TH_ABOVE},
    [SEARCH_THREADS] = {"-threads", TH_OPTION_INTEGER, "N", "Threads (set_threads).", 1, 1024},
    [SEARCH_UNEQUAL] = {"-unequal", TH_OPTION_INTEGER, "N",
                        "Then a genetic search of plans whose stages have their own layers, "
                        "accelerators and recomputation (-stages of parallel_plan) and whose "
                        "replicas on unlike accelerators take shares (-shares), of at most so many "
                        "(0).",
                        0, INT64_C(1000000000)},
    [SEARCH_CHECKPOINT] = {"-checkpoint", TH_OPTION_TEXT, "FILE",
                           "File of the plans that were simulated, replaced every 10 s and at the "
                           "end. If it is there already, the search goes on from it."},
    {.name = NULL},
};

/* ---- options ---- */

/* A list, or numbers of choices, as the space has them. */
static void restrict_space(const th_call *c, th_plan_space *space)
{
    static const struct {
        int option;
        th_plan_choice choice;
    } of[] = {{PLAN_TENSOR, TH_CHOICE_TENSOR},
              {PLAN_PIPELINE, TH_CHOICE_PIPELINE},
              {PLAN_VIRTUAL, TH_CHOICE_VIRTUAL},
              {PLAN_CONTEXT, TH_CHOICE_CONTEXT},
              {PLAN_EXPERT, TH_CHOICE_EXPERT},
              {PLAN_EXPERT_TENSOR, TH_CHOICE_EXPERT_TENSOR},
              {PLAN_DATA, TH_CHOICE_DATA},
              {PLAN_ZERO, TH_CHOICE_ZERO},
              {SEARCH_ZERO_GROUP, TH_CHOICE_ZERO_GROUP},
              {PLAN_SEQUENCE_PARALLEL, TH_CHOICE_SEQUENCE_PARALLEL},
              {PLAN_MICRO_BATCH, TH_CHOICE_MICRO_BATCH},
              {PLAN_RECOMPUTE, TH_CHOICE_RECOMPUTE},
              {PLAN_SCHEDULE, TH_CHOICE_SCHEDULE}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        space->only[of[i].choice].of = c->option[of[i].option].numbers;
        space->only[of[i].choice].n = c->option[of[i].option].n;
    }
}

static int parse_objectives(th_call *c, th_plan_search_options *o)
{
    const th_value *of = &c->option[SEARCH_OBJECTIVE];
    o->n_objectives = of->n > 0 ? of->n : 1;
    for (int i = 0; i < of->n; i++)
        o->objectives[i] = (th_plan_objective)of->numbers[i];
    if (of->n < 2 || (o->objectives[0] == TH_PLAN_STEP && o->objectives[1] != TH_PLAN_STEP))
        return 0;
    return th_error_set(&c->err, "TCL-3122",
                        "-objective: two must be {step tokens_per_joule} or {step "
                        "tokens_per_cost}");
}

static th_plan_search_options parse_search(const th_call *c)
{
    return (th_plan_search_options){.evaluations = th_call_number(c, SEARCH_EVALUATIONS, 0),
                                    .seconds = th_call_real(c, SEARCH_SECONDS, 0),
                                    .threads =
                                        (int)th_call_number(c, SEARCH_THREADS, c->session->threads),
                                    .top = (int)th_call_number(c, SEARCH_TOP, 1),
                                    .fill = th_call_real(c, SEARCH_MEMORY, TH_PLAN_FILL_MAX),
                                    .is_interrupted = th_interrupt_is_pending};
}

/* ---- nothing fits ---- */

/* What is missing, and how many accelerators would do. */
static int tell_smallest(th_call *c, const th_plan_space *space, const th_work_context *work,
                         double fill)
{
    enum { MOST_ACCELS = 1 << 16 };
    th_smallest_plans s;
    th_strbuf least = TH_STRBUF_INIT;
    char fewest[120] = "no number of them up to 65536 would do";
    if (th_plan_smallest(space, work, fill, MOST_ACCELS, &s, &c->err))
        return -1;
    if (isinf(s.least_bytes))
        return th_error_set(&c->err, "TCL-3116",
                            "no plan divides the model and -global_batch %d: needs fewer "
                            "restrictions (-tensor, -data ...) or another batch",
                            (int)space->base.batch.global_batch);
    if (s.ranks > space->n_accels)
        snprintf(fewest, sizeof fewest, "the smallest system of them that would do has %lld",
                 (long long)s.ranks);
    else if (s.ranks > 0)
        snprintf(fewest, sizeof fewest, "one of the schedules and variants allowed fits none");
    th_plan_describe(&s.least, &least);
    th_error_set(&c->err, "TCL-3115",
                 "no plan fits into the memory of %d accelerators: the one that needs least, %s, "
                 "takes %.1f of %.1f GB; %s",
                 (int)space->n_accels, least.text ? least.text : "", s.least_bytes / 1e9,
                 fill * (double)work->device.memory_bytes / 1e9, fewest);
    th_strbuf_clear(&least);
    return -1;
}

/* ---- the result ---- */

/* parallel_plan with the options of the call that it shares, and those of the plan. */
static Tcl_Obj *line_of(const th_call *c, const th_parallel_plan *p)
{
    th_strbuf chosen = TH_STRBUF_INIT;
    th_plan_describe(p, &chosen);
    Tcl_Obj *line = Tcl_NewStringObj("parallel_plan", -1);
    Tcl_AppendPrintfToObj(line, " %s", chosen.text ? chosen.text : "");
    th_strbuf_clear(&chosen);
    for (int i = PLAN_GLOBAL_BATCH; i < PLAN_N_SHARED; i++) {
        if (!th_call_has(c, i) || (i == PLAN_ORDER && p->n_shares > 0))
            continue;
        Tcl_ListObjAppendElement(NULL, line, Tcl_NewStringObj(search_options[i].name, -1));
        if (search_options[i].kind != TH_OPTION_FLAG)
            Tcl_ListObjAppendElement(NULL, line, c->option[i].word);
    }
    return line;
}

/* The best plan becomes the program, with what was found. */
static int keep_best(th_call *c, const th_plan_findings *f, const th_plan_file *base)
{
    th_plan_file best = *base;
    best.plan = f->of[0].plan;
    th_plan_findings *kept = th_plan_findings_copy(f);
    if (!kept)
        return th_error_no_memory(&c->err);
    if (th_call_make_plan(c, &best)) {
        th_plan_findings_free(kept);
        return -1;
    }
    c->session->hand_built->search = kept;
    Tcl_SetObjResult(c->interp, line_of(c, &f->of[0].plan));
    return 0;
}

/* What report_search says of the memory of the best plan, which is kept; empty: it fits for sure,
 * or another Ctrl-C ended the question. The result of the call is another one then. */
static Tcl_Obj *memory_of_best(th_call *c)
{
    (void)th_session_is_interrupted(c->session); /* the present one is answered by the message */
    if (th_lib_call(c, "search_memory", 0, NULL) == 0)
        return Tcl_GetObjResult(c->interp);
    c->err.id[0] = '\0';
    return Tcl_NewObj();
}

static int end_early(th_call *c, const th_plan_findings *f, const th_plan_file *base)
{
    char text[700], name[80], time[40], again[60];
    const char *after =
        th_call_has(c, SEARCH_CHECKPOINT) ? "; the same command goes on from its checkpoint" : "";
    if (f->n == 0) {
        snprintf(text, sizeof text,
                 "search_plan: interrupted before a plan was simulated; the program is the one "
                 "before%s",
                 after);
        return th_call_cancel(c, text);
    }
    if (th_plan_checkpoint_write(c, f) || keep_best(c, f, base))
        return -1;
    th_plan_short_name(&f->of[0].plan, name, sizeof name);
    snprintf(again, sizeof again, "-evaluations %lld gives it again", (long long)f->evaluations);
    Tcl_Obj *memory = memory_of_best(c);
    Tcl_IncrRefCount(memory);
    snprintf(text, sizeof text,
             "search_plan: interrupted; the program is the best plan found, %s, %s; %s%.300s%s",
             name, th_format_time(f->of[0].step_ps, time, sizeof time), Tcl_GetString(memory),
             f->of[0].plan.n_own > 0 ? "report_search has its options" : again, after);
    Tcl_DecrRefCount(memory);
    return th_call_cancel(c, text);
}

/* ---- the search ---- */

static void show(void *own, const th_plan_search *x)
{
    th_progress *p = own;
    if (!th_progress_is_due(p))
        return;
    char time[40];
    const th_plan_findings f = th_plan_search_found(x);
    if (f.n == 0)
        th_progress_show(p, "search_plan: bounds the plans from below");
    else if (f.bound > 0)
        th_progress_show(p, "search_plan: best %s, %lld plans simulated, gap to the bound %.2f %%",
                         th_format_time(f.of[0].step_ps, time, sizeof time),
                         (long long)f.evaluations, 100 * fmax(0, f.of[0].values[0] / f.bound - 1));
    else
        th_progress_show(p, "search_plan: best %s, %lld plans simulated, stages of their own",
                         th_format_time(f.of[0].step_ps, time, sizeof time),
                         (long long)f.evaluations);
}

/* 0, 1 when interrupted, -1. */
static int iterate(th_call *c, th_plan_search *x, const th_work_context *work,
                   const th_plan_space *space)
{
    static const double WRITE_EVERY_S = 10;
    enum { SEED = 1 };
    double written_s = th_clock_s();
    const int64_t unequal = th_call_number(c, SEARCH_UNEQUAL, 0);
    int failed = 0;
    while (!failed && !th_plan_search_is_done(x)) {
        failed = th_session_is_interrupted(c->session) ? 1 : th_plan_search_iterate(x, &c->err);
        const th_plan_findings f = th_plan_search_found(x);
        if (!failed && (th_plan_search_is_done(x) || th_clock_s() - written_s > WRITE_EVERY_S)) {
            failed = th_plan_checkpoint_write(c, &f);
            written_s = th_clock_s();
        }
    }
    if (!failed && unequal > 0) {
        failed = th_plan_evolve(x, work, space, unequal, SEED, &c->err);
        const th_plan_findings f = th_plan_search_found(x);
        if (!failed)
            failed = th_plan_checkpoint_write(c, &f);
    }
    return failed < 0 && th_error_is_interrupted(&c->err) ? 1 : failed;
}

static int search(th_call *c, const th_plan_space *space, const th_plan_file *base)
{
    th_work_context work;
    th_plan_search_options options = parse_search(c);
    th_progress progress = th_progress_start(c->session->is_quiet);
    options.watch = show;
    options.own = &progress;
    if (parse_objectives(c, &options) || th_call_plan_work(c, base, &work))
        return -1;
    th_plan_search *x = th_plan_search_new(c->session->system, &work, space, &options, &c->err);
    int failed = !x || th_plan_checkpoint_read(c, x) ? -1 : iterate(c, x, &work, space);
    th_progress_end(&progress);
    const th_plan_findings f = x ? th_plan_search_found(x) : (th_plan_findings){.of = NULL};
    if (failed == 1)
        failed = end_early(c, &f, base);
    else if (!failed && f.n == 0 && !f.is_done)
        failed = th_error_set(&c->err, "TCL-3120",
                              "-seconds %g: ended before a plan was simulated: must be greater",
                              options.seconds);
    else if (!failed)
        failed = f.n == 0 ? tell_smallest(c, space, &work, options.fill) : keep_best(c, &f, base);
    th_plan_search_free(x);
    return failed;
}

static int run_search_plan(th_call *c)
{
    th_plan_file f = {.schedule_file = NULL};
    th_plan_space space = {.t = &c->session->model.shape, .n_accels = c->session->system->n_accels};
    if (th_call_need_model(c) || th_call_parse_plan(c, &f))
        return -1;
    space.base = f.plan;
    space.keeps_order = th_call_has(c, PLAN_ORDER);
    restrict_space(c, &space);
    return search(c, &space, &f);
}

const th_command th_plan_search_commands[] = {
    {"search_plan", "training", "", 0, 0, search_options,
     "search for the best parallel plan of the language model",
     "Needs a system and create_transformer. Tries all degrees, micro-batches, schedules, chunks, "
     "ZeRO stages and recomputations that divide and fit. Plans are bounded from below and "
     "simulated in the order of their bounds, until no plan that is left can be better. Returns "
     "the best plan as a parallel_plan command, and makes it the program: run, report_training and "
     "write_mapping follow. report_search lists the plans that were simulated. Options such as "
     "-tensor restrict what is tried; the other ones are those of parallel_plan. The result does "
     "not depend on the threads. Ctrl-C ends the search and keeps the best plan.",
     .run = run_search_plan, .needs = {th_session_need_system, th_session_need_no_trace},
     .not_while_running = true},
    {.name = NULL},
};
