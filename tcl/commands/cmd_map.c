/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_map.c - map_workload.
 *   options -> problem -> search, batch by batch, until done or interrupted -> the session */
#include <config.h>
#include "tcl/commands/map_call.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/units.h"
#include "mapper/evaluate/bounds.h"
#include "mapper/search/searches.h"
#include "base/interrupt.h"
#include "session/goal.h"
#include "tcl/files.h"
#include "tcl/goal_option.h"

#define GROUP "map"

/* ---- map_workload ---- */

enum { SECONDS_MAX = 366 * 24 * 3600 };

TH_CHOICE(algorithm_name, th_search_types[i] ? th_search_types[i]->name : NULL)

const th_option th_map_options[] = {
    [MAP_ALGORITHM] = {"-algorithm", TH_OPTION_CHOICE, "NAME",
                       "Search or baseline (portfolio; of Pareto fronts nsga2).",
                       .choice = algorithm_name},
    [MAP_OBJECTIVE] =
        {"-objective", TH_OPTION_TEXT, "WHAT", .most = TH_MANY,
         .help = "Minimised: latency (the default), throughput, energy or edp. Latency is the "
                 "makespan, throughput the time between batches, energy that of the whole run, edp "
                 "energy times latency. {latency 1 energy 0.5} is the weighted sum of these in s, "
                 "s, J and J s: a "
                 "weight says what one of them is worth. {pareto latency energy} is a Pareto "
                 "front: its first mapping is taken, select_mapping takes others.",
         .choice = th_objective_name},
    [MAP_SEED] = {"-seed", TH_OPTION_INTEGER, "N",
                  "Seed of the random numbers (1); baselines use none.", 0, INT64_MAX},
    [MAP_EVALUATIONS] = {"-evaluations", TH_OPTION_INTEGER, "N",
                         "Budget; each search has its own default; baselines end by themselves, "
                         "and warn if a budget ends them earlier.",
                         1, INT64_MAX},
    [MAP_SECONDS] =
        {"-seconds", TH_OPTION_NUMBER, "T", .low = 0.1, .high = SECONDS_MAX,
         .help = "Budget of wall time (0.1 or more), checked between batches. More time is "
                 "never worse. The result depends on the speed of the machine; report_search "
                 "prints the -evaluations that repeats it."},
    [MAP_SPACE] =
        {"-space", TH_OPTION_CHOICE, "SPACE",
         "Which mappings may be made: full, or basic (the default of exhaustive): no "
         "chunks or copies, accelerators of a set in the order of the system, in equal shares or "
         "in proportion to speed. report_search prints it; what is proven is proven in "
         "it.",
         .names = TH_NAMES("full", "basic")},
    [MAP_SETS] = {"-sets", TH_OPTION_CHOICE, "WHERE",
                  "Whether sets of accelerators may span the groups of the system.",
                  .names = TH_NAMES("free", "inside_groups")},
    [MAP_INITIAL] =
        {"-initial", TH_OPTION_CHOICE, "WHICH",
         "Initial mappings of a search: random ones, or those of heuristics; each search "
         "has its own default, baselines take none.",
         .names = TH_NAMES("random", "heuristic")},
    [MAP_STEPS] = {"-steps", TH_OPTION_INTEGER, "N", "h2h: the number of steps, out of four (4).",
                   1, 4},
    [MAP_THREADS] = {"-threads", TH_OPTION_INTEGER, "N",
                     "Number of threads, instead of that of set_threads; changes no result.", 1,
                     1024},
    [MAP_DEADLINE] = {"-deadline", TH_OPTION_TIME, "TIME",
                      "The run must end by this time, whatever the objective.", .minimum = 1},
    [MAP_KEEP_LATE] =
        {"-keep_late", TH_OPTION_FLAG, NULL,
         "Returns the least late mapping where none meets the deadline, not an error."},
    [MAP_START] = {"-start", TH_OPTION_FILE, "FILE", .file = &th_mapping_file,
                   .names = TH_NAMES("current"),
                   .help =
                       "A mapping to start from, as read_mapping takes it, or \"current\". It is "
                       "evaluated first, so the result is never worse. Not for baselines."},
    [MAP_CHECKPOINT] =
        {"-checkpoint", TH_OPTION_TEXT, "FILE",
         "File of the best mapping so far, as write_mapping writes it, replaced at each "
         "improvement "
         "and every 10 s. If it is there already, it is the mapping to start from, in the place of "
         "-start. Not for baselines."},
    [MAP_ALLOW] =
        {"-allow", TH_OPTION_TEXT, "{LAYERS ACCELERATORS ...}", .most = TH_MANY, .is_pairs = true,
         .help = "Layers, and the only accelerators that they may use, as glob patterns of names "
                 "(3, accel/3)."},
    [MAP_FORBID] = {"-forbid", TH_OPTION_TEXT, "{LAYERS ACCELERATORS ...}", .most = TH_MANY,
                    .is_pairs = true,
                    .help = "Layers, and accelerators that they must not use, even if allowed."},
    [MAP_COMPLETE] = {"-complete", TH_OPTION_FILE, "FILE", .file = &th_mapping_file,
                      .help =
                          "A partial mapping to complete: its sets keep their members, shares, and "
                          "design, if given; its layers keep their set, and split, if given."},
    [MAP_STOP_GAP] = {"-stop_gap", TH_OPTION_PERCENT, "PERCENT", .high = 10,
                      .help =
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
    [MAP_SURVIVE_LOSS] = {"-survive_loss", TH_OPTION_PERCENT, "PERCENT", .with = "-survive",
                          .help = "With -survive 1: and lose at most this by it, as 20% (any)."},
    [MAP_DESIGNS] = {"-designs", TH_OPTION_TEXT, "{NAME ...}", .least = 1, .most = TH_MANY,
                     .help = "The only designs that accelerators have; all can take each of them."},
    [MAP_NETWORK] = TH_NETWORK_OPTION,
    TH_STREAM_OPTIONS(MAP_STREAM),
    {.name = NULL},
};

static const th_search_type *algorithm_of(const th_call *c, const th_goal *goal)
{
    if (goal->n_front > 0 && !th_call_has(c, MAP_ALGORITHM))
        return &th_search_nsga2;
    return th_search_types[th_call_number(c, MAP_ALGORITHM, 0)];
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

/* The lower bound, for the gap that ends the search (exhaustive: at the bound) and for a deadline.
 * Else none is computed: that takes as long as hundreds of evaluations. */
static int use_bound(th_call *c, const th_problem *p, th_search_options *o)
{
    th_bounds bounds;
    const th_bounds_scope scope = {.cuts = th_map_cuts(p, o),
                                   .chunks = th_map_chunks(p, o),
                                   .is_interrupted = th_interrupt_is_pending};
    bool ends_there =
        th_call_has(c, MAP_STOP_GAP) || algorithm_of(c, &p->goal) == &th_search_exhaustive;
    if (th_call_has(c, MAP_STOP_GAP))
        o->stop_gap = c->option[MAP_STOP_GAP].real;
    if (!ends_there && (p->goal.deadline_ps == 0 || o->keep_late))
        return 0;
    if (th_bounds_find(p, &scope, &bounds, &c->err))
        return -1;
    if (ends_there)
        o->lower_bound = th_bounds_value(&bounds, p);
    int failed = check_deadline(c, &bounds, p->goal.deadline_ps);
    th_bounds_clear(&bounds);
    return failed;
}

/* Chunks that the space does not have are refused. */
static int check_space(th_call *c, const th_goal *goal, const th_search_options *o)
{
    th_space space = o->space == TH_SPACE_DEFAULT ? algorithm_of(c, goal)->space : o->space;
    if (space != TH_SPACE_BASIC || !th_call_has(c, MAP_CHUNKS) || o->chunks == 1)
        return 0;
    return th_error_set(&c->err, "TCL-1991",
                        "-chunks %d: must be 1 in space basic; -space full has chunks", o->chunks);
}

static int set_survival(th_call *c, const th_goal *goal, th_search_options *o)
{
    o->survives = th_call_number(c, MAP_SURVIVE, 0) == 1;
    o->most_loss = th_call_real(c, MAP_SURVIVE_LOSS, INFINITY);
    if (o->survives && goal->n_front > 0)
        return th_error_set(&c->err, "TCL-1133", "-survive: must have a single objective");
    if (th_call_has(c, MAP_SURVIVE_LOSS) && !o->survives)
        return th_error_set(&c->err, "TCL-1134", "-survive_loss: is for -survive 1");
    return 0;
}

static th_search_options search_options(const th_call *c)
{
    th_search_options o = th_search_defaults;
    o.seed = (uint64_t)th_call_number(c, MAP_SEED, 1);
    o.evaluations = th_call_number(c, MAP_EVALUATIONS, 0);
    o.pool = c->session->pool;
    o.seconds = th_call_real(c, MAP_SECONDS, 0);
    o.threads = (int)th_call_number(c, MAP_THREADS, c->session->threads);
    if (th_call_has(c, MAP_INITIAL))
        o.initial = (th_initial_kind)(TH_INITIAL_RANDOM + th_call_number(c, MAP_INITIAL, 0));
    if (th_call_has(c, MAP_SPACE))
        o.space = (th_space)(TH_SPACE_FULL + th_call_number(c, MAP_SPACE, 0));
    o.sets_inside_groups = th_call_number(c, MAP_SETS, 0) == 1;
    o.keep_late = th_call_has(c, MAP_KEEP_LATE);
    o.steps = (int)th_call_number(c, MAP_STEPS, 0);
    o.chunks = (int)th_call_number(c, MAP_CHUNKS, o.chunks);
    return o;
}

static int parse_goal(th_call *c, th_goal *out)
{
    *out = (th_goal){.deadline_ps = th_call_number(c, MAP_DEADLINE, 0)};
    return th_goal_parse(c, MAP_OBJECTIVE, out);
}

/* 0 when done, 1 when interrupted, -1 on failure. */
static int iterate(th_call *c, th_search *search)
{
    th_progress progress = th_progress_start(c->session->is_quiet);
    th_map_checkpoint checkpoint = {0};
    int failed = 0;
    for (int n = 0; !failed && !search->done; n++) {
        if (th_session_is_interrupted(c->session))
            failed = 1;
        else
            failed = th_search_iterate(search, &c->err) ||
                             th_map_checkpoint_write(c, search, &checkpoint) ||
                             (n == 0 && th_map_tell_candidates(c, search))
                         ? -1
                         : 0;
        if (th_progress_is_due(&progress))
            th_map_show_progress(&progress, search, search->options.lower_bound);
    }
    th_progress_end(&progress);
    return failed;
}

static int search_and_keep(th_call *c, const th_problem *problem, const th_search_options *options,
                           const th_run_options *run)
{
    const th_search_type *type = algorithm_of(c, &problem->goal);
    th_search *search = th_search_new(type, problem, options, &c->err);
    int failed = search ? iterate(c, search) : -1;
    if (failed < 0 && th_error_is_interrupted(&c->err)) /* in the procedure of a script design */
        failed = 1;
    if (!failed)
        th_map_warn_of_baseline(c, search);
    if (!failed)
        failed = th_map_keep_best(c, search, run, false);
    else if (failed == 1)
        failed = th_map_end_early(c, search, run);
    if (!failed)
        th_map_warn_of_design(c, c->session->mapping);
    th_search_free(search);
    return failed;
}

/* The file can be written, as far as its name tells. */
static int check_checkpoint(th_call *c, const th_search_type *type)
{
    const char *path = th_call_text(c, MAP_CHECKPOINT, "");
    if (!th_call_has(c, MAP_CHECKPOINT))
        return 0;
    if (path[0] == '\0')
        return th_error_set(&c->err, "TCL-0263", "-checkpoint \"\": must be the name of a file");
    if (type->is_baseline)
        return th_error_set(
            &c->err, "TCL-2130",
            "-checkpoint: must be given to a search: the baseline %s ends by itself", type->name);
    return th_session_make_folder_of(c->session, path, &c->err);
}

static int parse_run(th_call *c, th_run_options *run, th_goal *goal, th_search_options *out)
{
    run->network = th_network_types[th_call_number(c, MAP_NETWORK, 0)];
    th_session_use_network(c->session, run);
    if (th_stream_parse(c, MAP_STREAM, run) != 0 || parse_goal(c, goal) != 0)
        return -1;
    *out = search_options(c);
    if (set_survival(c, goal, out) != 0 || check_space(c, goal, out) != 0)
        return -1;
    if (check_checkpoint(c, algorithm_of(c, goal)) != 0)
        return -1;
    if (out->steps > 0 &&
        th_search_types[th_call_number(c, MAP_ALGORITHM, 0)] != th_search_find("h2h"))
        return th_error_set(&c->err, "TCL-0225", "-steps: needs -algorithm h2h");
    return 0;
}

static int run_map_workload(th_call *c)
{
    th_session *s = c->session;
    th_run_options run = {.stream = th_stream_single, .network = th_network_types[0]};
    th_goal goal;
    th_search_options options;
    th_map_given given;
    if (parse_run(c, &run, &goal, &options) != 0)
        return -1;
    int failed = th_map_given_read(c, &given);
    th_problem problem = th_session_problem(s, &given.system, &run);
    problem.goal = goal;
    problem.constraints = given.constraints;
    options.start = given.start;
    if (!failed)
        failed = use_bound(c, &problem, &options);
    if (failed && th_error_is_interrupted(&c->err))
        failed = th_map_end_early(c, NULL, &run);
    if (!failed)
        failed = search_and_keep(c, &problem, &options, &run);
    th_map_given_clear(&given);
    return failed;
}

const th_command th_map_commands[] = {
    {"map_workload", GROUP, "", 0, 0, th_map_options,
     "search for the best mapping, simulating every candidate",
     "Simulates every candidate, keeps the best mapping, and returns its value of the objective. "
     "The same seed and options give the same mapping on any number of threads. The stream options "
     "and the network also hold for run. Ctrl-C ends the search: the session keeps the best "
     "mapping so far, and a message gives the -evaluations that repeats it. -checkpoint writes the "
     "best mapping so far into a file. The same command, given again, starts from that mapping "
     "with a new budget and never ends worse, but a killed search does not continue to the same "
     "bytes. The file of another system or workload is refused.",
     .run = run_map_workload, .needs = {th_session_need_problem}, .not_while_running = true},
    {.name = NULL},
};
