/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_map.c - map_workload.
 *   options -> problem -> search, batch by batch, until done or interrupted -> the session */
#include <config.h>
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/units.h"
#include "mapper/evaluate/bounds.h"
#include "mapper/mapping_read.h"
#include "mapper/search/journal.h"
#include "mapper/search/searches.h"
#include "tcl/files.h"
#include "report/session/goal.h"
#include "tcl/goal_option.h"
#include "tcl/options.h"
#include "report/interrupt.h"
#include "report/session/progress.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"

#define GROUP "map"

/* ---- map_workload ---- */

enum {
    MAP_ALGORITHM,
    MAP_OBJECTIVE,
    MAP_SEED,
    MAP_EVALUATIONS,
    MAP_SECONDS,
    MAP_SETS,
    MAP_INITIAL,
    MAP_STEPS,
    MAP_THREADS,
    MAP_DEADLINE,
    MAP_KEEP_LATE,
    MAP_START,
    MAP_CHECKPOINT,
    MAP_ALLOW,
    MAP_FORBID,
    MAP_COMPLETE,
    MAP_STOP_GAP,
    MAP_CHUNKS,
    MAP_SURVIVE,
    MAP_SURVIVE_LOSS,
    MAP_NETWORK,
    MAP_STREAM = MAP_NETWORK + TH_N_NETWORK_OPTIONS
};

enum { SECONDS_MAX = 366 * 24 * 3600 };

static const char *algorithm_name(int i)
{
    return th_search_types[i] ? th_search_types[i]->name : NULL;
}

static const char *sets_name(int i)
{
    static const char *const names[] = {"free", "inside_groups", NULL};
    return names[i];
}

/* Names of th_initial_kind without the default. */
static const char *initial_name(int i)
{
    static const char *const names[] = {"random", "heuristic", NULL};
    return names[i];
}

static const th_option map_options[] = {
    [MAP_ALGORITHM] = {"-algorithm", TH_OPTION_CHOICE, "NAME",
                       "The search (nsga2 for a Pareto front, else the first), or a baseline.",
                       .choice = algorithm_name},
    [MAP_OBJECTIVE] = {"-objective", TH_OPTION_TEXT, "WHAT",
                       "What is minimised: latency (the makespan), throughput (the time between "
                       "batches), energy (of the whole run) or edp (energy times latency). "
                       "{latency 1 energy 0.5} is the weighted sum of these in s, s, J and J s: a "
                       "weight says what one of them is worth. {pareto latency energy} is a Pareto "
                       "front: its first mapping is taken, select_mapping takes others.",
                       .choice = th_objective_name},
    [MAP_SEED] = {"-seed", TH_OPTION_INTEGER, "N",
                  "Seed of the random numbers (1); baselines use none.", 0, INT64_MAX},
    [MAP_EVALUATIONS] = {"-evaluations", TH_OPTION_INTEGER, "N",
                         "Budget; each search has its own default; baselines end by themselves, "
                         "and warn if a budget ends them earlier.",
                         1, INT64_MAX},
    [MAP_SECONDS] = {"-seconds", TH_OPTION_TEXT, "T",
                     "Budget of wall time (0.1 or more), checked between batches. More time is "
                     "never worse. The result depends on the speed of the machine; report_search "
                     "prints the -evaluations that repeats it."},
    [MAP_SETS] = {"-sets", TH_OPTION_CHOICE, "WHERE",
                  "Whether sets of accelerators may span the groups of the system.",
                  .choice = sets_name},
    [MAP_INITIAL] =
        {"-initial", TH_OPTION_CHOICE, "WHICH",
         "Initial mappings of a search: random ones, or those of heuristics; each search "
         "has its own default, baselines take none.",
         .choice = initial_name},
    [MAP_STEPS] = {"-steps", TH_OPTION_INTEGER, "N", "h2h: the number of steps, out of four (4).",
                   1, 4},
    [MAP_THREADS] = {"-threads", TH_OPTION_INTEGER, "N",
                     "Number of threads, instead of that of set_threads; changes no result.", 1,
                     1024},
    [MAP_DEADLINE] = {"-deadline", TH_OPTION_TIME, "TIME",
                      "The run must end by this time, whatever the objective."},
    [MAP_KEEP_LATE] =
        {"-keep_late", TH_OPTION_FLAG, NULL,
         "If no mapping meets the deadline, returns the least late one instead of an error."},
    [MAP_START] = {"-start", TH_OPTION_TEXT, "FILE",
                   "A mapping to start from, as read_mapping takes it, or \"current\". It is "
                   "evaluated first, so the result is never worse. Not for baselines."},
    [MAP_CHECKPOINT] =
        {"-checkpoint", TH_OPTION_TEXT, "FILE",
         "Log of the search, from which the same command continues after any interruption."},
    [MAP_ALLOW] = {"-allow", TH_OPTION_TEXT, "{LAYERS ACCELERATORS ...}",
                   "Layers, and the only accelerators that they may use, as glob patterns of names "
                   "(3, accel/3)."},
    [MAP_FORBID] = {"-forbid", TH_OPTION_TEXT, "{LAYERS ACCELERATORS ...}",
                    "Layers, and accelerators that they must not use, even if allowed."},
    [MAP_COMPLETE] = {"-complete", TH_OPTION_TEXT, "FILE",
                      "A partial mapping to complete: its sets keep their members, shares, and "
                      "design, if given; its layers keep their set, and split, if given."},
    [MAP_STOP_GAP] = {"-stop_gap", TH_OPTION_TEXT, "PERCENT",
                      "Stops as soon as the best mapping is this close to the lower bound of "
                      "report_bounds, as 5% (0%: when it is optimal)."},
    [MAP_CHUNKS] =
        {"-chunks", TH_OPTION_INTEGER, "N",
         "Most chunks that a shard is computed in (4), so that what is done travels while "
         "the rest is computed; 1: none.",
         1, TH_SHARD_CHUNKS_MAX},
    [MAP_SURVIVE] = {"-survive", TH_OPTION_INTEGER, "N",
                     "1: only mappings that can be repaired after the failure of any one "
                     "accelerator or link; report_survival tells what is lost then (0).",
                     0, 1},
    [MAP_SURVIVE_LOSS] = {"-survive_loss", TH_OPTION_TEXT, "PERCENT",
                          "With -survive 1: and lose at most this by it, as 20% (any)."},
    TH_NETWORK_OPTIONS(MAP_NETWORK),
    TH_STREAM_OPTIONS(MAP_STREAM),
    {.name = NULL},
};

static const th_search_type *algorithm_of(const th_call *c, const th_goal *goal)
{
    if (goal->n_front > 0 && !th_call_has(c, MAP_ALGORITHM))
        return &th_search_nsga2;
    return th_search_types[th_call_number(c, MAP_ALGORITHM, 0)];
}

/* What is known of mappings that a search may meet: those that are given may have shares. */
static th_cuts cuts_of(const th_problem *p, const th_search_options *o)
{
    return p->constraints || o->start ? TH_CUTS_ANY : TH_CUTS_OF_SEARCHES;
}

/* Likewise the most chunks. */
static int chunks_of(const th_problem *p, const th_search_options *o)
{
    return p->constraints || o->start ? TH_SHARD_CHUNKS_MAX : o->chunks;
}

static int parse_stop_gap(th_call *c, th_search_options *o)
{
    enum { PERCENT_MAX = 1000 };
    const char *text = th_call_text(c, MAP_STOP_GAP, "0%");
    double share;
    if (th_parse_percent(text, &share) != 0 || !(share >= 0 && share <= PERCENT_MAX / 100))
        return th_error_set(&c->err, "TCL-0220",
                            "-stop_gap \"%.40s\": must be a percentage as 5%%, 0%% to %d%%", text,
                            (int)PERCENT_MAX);
    if (th_call_has(c, MAP_STOP_GAP))
        o->stop_gap = share;
    return 0;
}

/* No mapping can be in time: told before the search, which could only find the least late. */
static int check_deadline(th_call *c, const th_bounds *b, th_time deadline)
{
    char least[64], limit[64];
    if (deadline == 0 || th_call_has(c, MAP_KEEP_LATE) || b->makespan_ps[b->largest] <= deadline)
        return 0;
    return th_error_set(&c->err, "TCL-1200",
                        "-deadline %s: must be at least %s, the lower bound of all mappings (%s); "
                        "-keep_late gives the least late one",
                        th_format_time(deadline, limit, sizeof limit),
                        th_format_time(b->makespan_ps[b->largest], least, sizeof least),
                        th_limit_name(b->largest));
}

/* The lower bound, for the gap that ends the search and for a deadline. Without them none is
 * computed: that takes as long as hundreds of evaluations. */
static int use_bound(th_call *c, const th_problem *p, th_search_options *o)
{
    th_bounds bounds;
    const th_bounds_scope scope = {.cuts = cuts_of(p, o),
                                   .chunks = chunks_of(p, o),
                                   .is_interrupted = th_interrupt_is_pending};
    if (parse_stop_gap(c, o) != 0)
        return -1;
    if (!th_call_has(c, MAP_STOP_GAP) && (p->goal.deadline_ps == 0 || o->keep_late))
        return 0;
    if (th_bounds_find(p, &scope, &bounds, &c->err))
        return -1;
    if (th_call_has(c, MAP_STOP_GAP))
        o->lower_bound = th_bounds_value(&bounds, p);
    int failed = check_deadline(c, &bounds, p->goal.deadline_ps);
    th_bounds_clear(&bounds);
    return failed;
}

static int set_survival(th_call *c, const th_goal *goal, th_search_options *o)
{
    const char *text = th_call_text(c, MAP_SURVIVE_LOSS, "");
    o->survives = th_call_number(c, MAP_SURVIVE, 0) == 1;
    o->most_loss = INFINITY;
    if (o->survives && goal->n_front > 0)
        return th_error_set(&c->err, "TCL-1133", "-survive: must have a single objective");
    if (!th_call_has(c, MAP_SURVIVE_LOSS))
        return 0;
    if (!o->survives)
        return th_error_set(&c->err, "TCL-1134", "-survive_loss: is for -survive 1");
    if (th_parse_percent(text, &o->most_loss) == 0 && o->most_loss >= 0)
        return 0;
    return th_error_set(&c->err, "TCL-1135",
                        "-survive_loss \"%.40s\": must be a percentage as 20%%, at least 0%%",
                        text);
}

/* Decimal fractions, as a first mapping may take less than a second. */
static int set_seconds(th_call *c, th_search_options *o)
{
    const double SECONDS_MIN = 0.1;
    const char *text = th_call_text(c, MAP_SECONDS, "0");
    char *end;
    o->seconds = strtod(text, &end);
    if (th_call_has(c, MAP_SECONDS) &&
        (end == text || *end != '\0' || !(o->seconds >= SECONDS_MIN && o->seconds <= SECONDS_MAX)))
        return th_error_set(&c->err, "TCL-0221", "-seconds \"%.40s\": must be %g to %d", text,
                            SECONDS_MIN, SECONDS_MAX);
    return 0;
}

static th_search_options search_options(const th_call *c)
{
    th_search_options o = th_search_defaults;
    o.seed = (uint64_t)th_call_number(c, MAP_SEED, 1);
    o.evaluations = th_call_number(c, MAP_EVALUATIONS, 0);
    o.pool = c->session->pool;
    o.threads = (int)th_call_number(c, MAP_THREADS, c->session->threads);
    if (th_call_has(c, MAP_CHECKPOINT))
        o.checkpoint = Tcl_FSGetNativePath(c->option[MAP_CHECKPOINT].word);
    if (th_call_has(c, MAP_INITIAL))
        o.initial = (th_initial_kind)(TH_INITIAL_RANDOM + th_call_number(c, MAP_INITIAL, 0));
    o.sets_inside_groups = th_call_number(c, MAP_SETS, 0) == 1;
    o.keep_late = th_call_has(c, MAP_KEEP_LATE);
    o.steps = (int)th_call_number(c, MAP_STEPS, 0);
    o.chunks = (int)th_call_number(c, MAP_CHUNKS, o.chunks);
    return o;
}

/* ", bound 1.727ms, gap 40.9 %"; only times have a bound of their own unit. */
static void describe_gap(const th_search *s, double bound, char *out, size_t size)
{
    char least[64] = "", time[64];
    if (th_goal_column(&s->problem.goal).kind == TH_KIND_TIME)
        snprintf(least, sizeof least, ", bound %s",
                 th_format_time((th_time)bound, time, sizeof time));
    snprintf(out, size, "%s, gap %.1f %%", least, 100 * (s->best_fitness.value / bound - 1));
}

/* "1.678ms by annealing, bound 1.276ms, gap 31.5 %" */
static const char *describe_best(const th_search *s, double bound, char *out, size_t size)
{
    char best[160] = "-", gap[160] = "";
    const th_improvement *last = s->improvements.at + s->improvements.n - 1;
    if (!s->best) {
        snprintf(out, size, "%s", best);
        return out;
    }
    th_goal_format(&s->problem.goal, &s->best_fitness.metrics, best, sizeof best);
    if (bound > 0 && s->best_fitness.metrics.lateness_ps <= 0)
        describe_gap(s, bound, gap, sizeof gap);
    snprintf(out, size, "%s by %s%s", best, last->found_by->name, gap);
    return out;
}

static void show_progress(th_progress *p, const th_search *s, double bound)
{
    char best[400], left[64] = "";
    double elapsed = th_progress_elapsed_s(p), rate = (double)s->n_evaluations / elapsed;
    if (s->options.evaluations > s->n_evaluations && rate > 0)
        snprintf(left, sizeof left, ", %.0f s left",
                 (double)(s->options.evaluations - s->n_evaluations) / rate);
    th_progress_show(p, "map_workload: best %s, %lld evaluations, %.0f/s%s",
                     describe_best(s, bound, best, sizeof best), (long long)s->n_evaluations, rate,
                     left);
}

/* 0 when done, 1 when interrupted, -1 on failure. */
static int iterate(th_call *c, th_search *search)
{
    th_progress progress = th_progress_start(c->session->is_quiet);
    int failed = 0;
    while (!failed && !search->done) {
        if (th_session_is_interrupted(c->session))
            failed = 1;
        else
            failed = th_search_iterate(search, &c->err);
        if (th_progress_is_due(&progress))
            show_progress(&progress, search, search->options.lower_bound);
    }
    th_progress_end(&progress);
    return failed;
}

/* The last record of a journal was cut off, or belongs to another budget. */
static void warn_of_cut(const th_call *c, const th_search *search)
{
    if (!search || !search->journal.log || th_journal_truncated_bytes(search->journal.log) == 0)
        return;
    th_warn(c, "TCL-0240",
            "checkpoint \"%s\": continues after %lld evaluations; the %lld bytes after them are "
            "incomplete",
            th_call_text(c, MAP_CHECKPOINT, ""),
            (long long)th_journal_n_replayed(search->journal.log),
            (long long)th_journal_truncated_bytes(search->journal.log));
}

/* Warns of options that have no effect, and of a baseline that did not finish. */
static void warn_of_baseline(const th_call *c, const th_search *search)
{
    static const int idle[] = {MAP_SEED, MAP_INITIAL};
    for (size_t i = 0; search->type->is_baseline && i < sizeof idle / sizeof *idle; i++) {
        if (!th_call_has(c, idle[i]))
            continue;
        th_warn(c, "TCL-0300", "%s: has no effect: %s is a baseline, which uses no random numbers",
                map_options[idle[i]].name, search->type->name);
    }
    if (!search->type->is_baseline || !search->is_out_of_budget)
        return;
    th_warn(c, "TCL-0301",
            "%s: the budget ended this baseline after %lld evaluations, before it had tried all of "
            "its mappings",
            search->type->name, (long long)search->n_evaluations);
}

/* The results that outlive a search; th_free(found), th_front_free(front). */
static int copy_findings(const th_search *search, th_search_record *how, th_error *err)
{
    how->improvements = th_alloc_array(search->improvements.n + 1, sizeof *how->improvements);
    if (!how->improvements)
        return th_error_no_memory(err);
    memcpy(how->improvements, search->improvements.at,
           search->improvements.n * sizeof *how->improvements);
    how->n_improvements = search->improvements.n;
    if (search->problem.goal.n_front == 0)
        return 0;
    how->front = th_nsga2_front(search, err);
    return how->front ? 0 : -1;
}

/* Hands the best mapping and the record of the search to the session. An interrupted search counts
 * as if -evaluations had ended it there. */
static int keep_best(th_call *c, const th_search *search, const th_run_options *run,
                     bool is_interrupted)
{
    char value[160];
    assert(search->best); /* the search fails where no mapping fits */
    th_search_record how = {
        .type = search->type,
        .goal = search->problem.goal,
        .seed = search->options.seed,
        .inside_groups = search->options.sets_inside_groups,
        .initial = search->options.initial,
        .budget = is_interrupted ? search->n_evaluations : search->budget,
        .seconds = is_interrupted ? 0 : search->options.seconds,
        .elapsed_s = th_search_elapsed_s(search),
        .evaluations = search->n_evaluations,
        .infeasible = search->counts.infeasible,
        .stopped_early = search->counts.stopped_early,
        .found_at = search->best_found_at,
        .segments = th_pool_segments(search->pool),
        .fitness = search->best_fitness,
        .run = *run,
        .cuts = cuts_of(&search->problem, &search->options),
        .chunks = chunks_of(&search->problem, &search->options),
        .is_proven = search->is_proven,
        .nodes = search->counts.nodes,
        .pruned = search->counts.pruned,
    };
    th_mapping *best = NULL;
    int failed = copy_findings(search, &how, &c->err);
    if (!failed && !(best = th_mapping_copy(search->best)))
        failed = th_error_no_memory(&c->err);
    if (failed) {
        th_free(how.improvements);
        th_front_free(how.front);
        return failed;
    }
    th_session_set_mapping(c->session, best, &how);
    c->session->defaults = *run;
    th_call_return_text(c, th_goal_format(&how.goal, &how.fitness.metrics, value, sizeof value));
    return 0;
}

/* After Ctrl-C; search: NULL if it was not created. Returns -1. */
static int end_early(th_call *c, const th_search *search, const th_run_options *run)
{
    char text[300], value[160];
    const char *after =
        search && search->journal.log ? "; the same command goes on from its checkpoint" : "";
    if (!search || !th_search_has_result(search)) {
        snprintf(text, sizeof text,
                 "map_workload: interrupted before it found a mapping that fits and is in time; "
                 "the mapping is the one before%s",
                 after);
        return th_call_cancel(c, text);
    }
    if (keep_best(c, search, run, true) != 0)
        return -1;
    snprintf(
        text, sizeof text,
        "map_workload: interrupted; the mapping is the best found, %s; -evaluations %lld gives it "
        "again%s",
        th_goal_format(&search->problem.goal, &search->best_fitness.metrics, value, sizeof value),
        (long long)search->n_evaluations, after);
    return th_call_cancel(c, text);
}

static int parse_goal(th_call *c, th_goal *out)
{
    *out = (th_goal){.deadline_ps = th_call_number(c, MAP_DEADLINE, 0)};
    if (th_call_has(c, MAP_DEADLINE) && out->deadline_ps == 0)
        return th_error_set(&c->err, "TCL-0254", "-deadline \"%s\": must be more than 0",
                            th_call_text(c, MAP_DEADLINE, ""));
    return th_goal_parse(c, MAP_OBJECTIVE, out);
}

/* Searches keep the chunks of a mapping that they start from. */
static int check_chunks(th_call *c, const th_mapping *start)
{
    const int64_t most = th_call_number(c, MAP_CHUNKS, TH_SHARD_CHUNKS_MAX);
    for (int l = 0; l < start->n_layers; l++)
        if (th_shard_chunks(&start->strategy[l]) > most)
            return th_error_set(&c->err, "TCL-1201",
                                "-start: layer \"%.60s\" is computed in %d chunks: must have at "
                                "most the %d of -chunks",
                                c->session->workload->layers[l].name,
                                (int)th_shard_chunks(&start->strategy[l]), (int)most);
    return 0;
}

/* The mapping to start from, for the caller to free; *out is NULL where there is none. */
static int read_start(th_call *c, th_mapping **out)
{
    th_session *s = c->session;
    bool is_current = strcmp(th_call_text(c, MAP_START, ""), "current") == 0;
    *out = NULL;
    if (!th_call_has(c, MAP_START))
        return 0;
    if (is_current) {
        if (th_session_need_mapping(s, &c->err) != 0)
            return -1;
        *out = th_mapping_copy(s->mapping);
        return *out ? 0 : th_error_no_memory(&c->err);
    }
    Tcl_Obj *path = th_file_find(s, &th_mapping_file, c->option[MAP_START].word, &c->err);
    if (!path)
        return -1;
    *out = th_mapping_read(Tcl_FSGetNativePath(path), s->system, s->workload, &c->err);
    Tcl_DecrRefCount(path);
    return *out ? 0 : -1;
}

typedef int restrict_layers(th_constraints *c, const th_system *s, const th_workload *w,
                            const char *layers, const char *accels, th_error *err);

/* Pairs of patterns. */
static int read_pairs(th_call *c, int option, restrict_layers *restrict_to, th_constraints *to)
{
    const th_session *s = c->session;
    Tcl_Obj **words;
    int n;
    th_error e;
    if (!th_call_has(c, option))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[option].word, &n, &words) != TCL_OK || n % 2 != 0)
        return th_error_set(&c->err, "TCL-0230",
                            "%s \"%s\": must be a list of layers and accelerators in turn",
                            map_options[option].name, th_call_text(c, option, ""));
    for (int i = 0; i < n; i += 2)
        if (restrict_to(to, s->system, s->workload, Tcl_GetString(words[i]),
                        Tcl_GetString(words[i + 1]), &e) != 0)
            return th_call_prefix_error(c, map_options[option].name, &e);
    return 0;
}

static int read_partial(th_call *c, th_constraints *to)
{
    th_session *s = c->session;
    if (!th_call_has(c, MAP_COMPLETE))
        return 0;
    Tcl_Obj *path = th_file_find(s, &th_mapping_file, c->option[MAP_COMPLETE].word, &c->err);
    if (!path)
        return -1;
    int failed =
        th_mapping_read_partial(Tcl_FSGetNativePath(path), s->system, s->workload, to, &c->err);
    Tcl_DecrRefCount(path);
    return failed;
}

/* For the caller to free; *out is NULL where there are none. */
static int read_constraints(th_call *c, th_constraints **out)
{
    const th_session *s = c->session;
    *out = NULL;
    if (!th_call_has(c, MAP_ALLOW) && !th_call_has(c, MAP_FORBID) && !th_call_has(c, MAP_COMPLETE))
        return 0;
    *out = th_constraints_new(s->system, s->workload);
    if (!*out)
        return th_error_no_memory(&c->err);
    if (read_pairs(c, MAP_ALLOW, th_constraints_allow, *out) == 0 &&
        read_pairs(c, MAP_FORBID, th_constraints_forbid, *out) == 0 && read_partial(c, *out) == 0 &&
        th_constraints_validate(*out, s->system, s->workload, &c->err) == 0)
        return 0;
    th_constraints_free(*out);
    *out = NULL;
    return -1;
}

static int search_and_keep(th_call *c, const th_problem *problem, const th_search_options *options,
                           const th_run_options *run)
{
    const th_search_type *type = algorithm_of(c, &problem->goal);
    th_search *search = th_search_new(type, problem, options, &c->err);
    int failed = search ? iterate(c, search) : -1;
    warn_of_cut(c, search);
    if (failed < 0 && th_error_is_interrupted(&c->err)) /* in the procedure of a script design */
        failed = 1;
    if (!failed)
        warn_of_baseline(c, search);
    if (!failed)
        failed = keep_best(c, search, run, false);
    else if (failed == 1)
        failed = end_early(c, search, run);
    th_search_free(search);
    return failed;
}

static int run_map_workload(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_problem(s, &c->err) != 0)
        return -1;
    th_run_options run = {.stream = th_stream_single, .network = th_network_types[0]};
    th_goal goal;
    if (th_network_parse(c, MAP_NETWORK, &run) != 0 || th_stream_parse(c, MAP_STREAM, &run) != 0 ||
        parse_goal(c, &goal) != 0)
        return -1;
    th_problem problem = {
        .system = s->system,
        .workload = s->workload,
        .stream = run.stream,
        .goal = goal,
        .network = run.network,
        .network_options = run.network_options,
        .scripts = s->scripts,
    };
    th_search_options options = search_options(c);
    if (set_seconds(c, &options) != 0 || set_survival(c, &goal, &options) != 0)
        return -1;
    if (th_call_has(c, MAP_CHECKPOINT) && (!options.checkpoint || options.checkpoint[0] == '\0'))
        return th_error_set(&c->err, "TCL-0263",
                            "-checkpoint \"%.80s\": must be the name of a file",
                            th_call_text(c, MAP_CHECKPOINT, ""));
    if (options.checkpoint &&
        th_session_make_folder_of(s, th_call_text(c, MAP_CHECKPOINT, ""), &c->err) != 0)
        return -1;
    if (options.steps > 0 &&
        th_search_types[th_call_number(c, MAP_ALGORITHM, 0)] != th_search_find("h2h"))
        return th_error_set(&c->err, "TCL-0225", "-steps: needs -algorithm h2h");
    th_mapping *start;
    if (read_start(c, &start) != 0)
        return -1;
    options.start = start;
    th_constraints *constraints;
    int failed = start ? check_chunks(c, start) : 0;
    constraints = NULL;
    if (!failed)
        failed = read_constraints(c, &constraints);
    problem.constraints = constraints;
    if (!failed)
        failed = use_bound(c, &problem, &options);
    if (failed && th_error_is_interrupted(&c->err))
        failed = end_early(c, NULL, &run);
    if (!failed)
        failed = search_and_keep(c, &problem, &options, &run);
    th_constraints_free(constraints);
    th_mapping_free(start);
    return failed;
}

const th_command th_map_commands[] = {
    {"map_workload", GROUP, "", 0, 0, map_options,
     "search for a good mapping of the workload on the system",
     "Returns the value of the objective for the best mapping, simulated like any run, and keeps "
     "the mapping. The same seed and options give the same mapping on any number of threads. The "
     "stream options and the network also apply to run. Ctrl-C ends the search: the session keeps "
     "the best mapping so far, and a message gives the -evaluations that repeats it. With "
     "-checkpoint, a search that was interrupted for any reason, killed or out of disk, continues "
     "when the same command is given again, to the same result; the number of evaluations or "
     "threads may differ then.",
     .run = run_map_workload, .not_while_running = true},
    {.name = NULL},
};
