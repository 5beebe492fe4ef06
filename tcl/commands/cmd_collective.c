/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_collective.c - add_collective: a collective operation as one task of a hand-built program;
 * add_traffic: synthetic traffic among all accelerators, as transfers. Names become ranks and
 * contradictory options are refused here; th_collective_schedule_init then checks that the
 * algorithm supports it, so that a run does not fail on it later. */
#include <config.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/schedule_read.h"
#include "tcl/files.h"
#include "session/objects/objects.h"
#include "tcl/program_options.h"
#include "sim/program/traffic.h"
#include "base/interrupt.h"
#include <string.h>

enum {
    COLLECTIVE_BYTES,
    COLLECTIVE_ACCELS,
    COLLECTIVE_ALGORITHM,
    COLLECTIVE_ROOT,
    COLLECTIVE_CHUNKS,
    COLLECTIVE_DIMS,
    COLLECTIVE_SIZES,
    COLLECTIVE_SCHEDULE,
    COLLECTIVE_TIMING
};

static const char *algorithm_name(int i)
{
    if (i == 0)
        return "auto";
    return th_algorithms[i - 1] ? th_algorithms[i - 1]->name : NULL;
}

enum { DIMS_MAX = sizeof((th_collective *)0)->dims / sizeof((th_collective *)0)->dims[0] };

static const th_option collective_options[] = {
    [COLLECTIVE_BYTES] =
        {"-bytes", TH_OPTION_BYTES, "SIZE",
         "The largest buffer of any rank; all_to_all: what a rank sends, its own part included.",
         .maximum = TH_HAND_BUILT_BYTES_MAX, .without = "-sizes"},
    [COLLECTIVE_ACCELS] = {"-accels", TH_OPTION_NODE, "NODES",
                           "The group, rank by rank: accelerators, {0-7} by number, or hosts (all "
                           "accelerators).",
                           .most = TH_MANY},
    [COLLECTIVE_ALGORITHM] =
        {"-algorithm", TH_OPTION_CHOICE, "NAME",
         "The algorithm (auto: the fastest one: bounds and simulations tell which).",
         .choice = algorithm_name},
    [COLLECTIVE_ROOT] =
        {"-root", TH_OPTION_NODE, "NODE",
         "broadcast, reduce, gather, scatter: the root, a member of the group (the first)."},
    [COLLECTIVE_CHUNKS] = {"-chunks", TH_OPTION_INTEGER, "N",
                           "Number of pieces, pipelined through the algorithm; 0: the fastest "
                           "number, found as auto does (auto: 0; others: 1).",
                           0, TH_CHUNKS_MAX},
    [COLLECTIVE_DIMS] = {"-dims", TH_OPTION_INTEGER, "{N ...}",
                         "hierarchical, auto: extents of the group, the fastest first.", 1,
                         INT32_MAX, .least = 1, .most = DIMS_MAX},
    [COLLECTIVE_SIZES] = {"-sizes", TH_OPTION_TEXT, "MATRIX",
                          "all_to_all: for each rank a list of the bytes that it sends to each "
                          "rank, instead of -bytes.",
                          .most = TH_MANY},
    [COLLECTIVE_SCHEDULE] = {"-schedule", TH_OPTION_FILE, "FILE",
                             "schedule: what every rank sends and receives (docs/formats.md).",
                             .file = &th_schedule_file},
    TH_TIMING_OPTIONS(COLLECTIVE_TIMING),
    {.name = NULL},
};

/* ---- the group ---- */

static int take_group(th_call *c, th_collective *out)
{
    const th_value *group = &c->option[COLLECTIVE_ACCELS];
    const th_system *s = c->session->system;
    const int32_t *nodes = group->word ? group->indices : s->accel_node;
    int32_t n = group->word ? group->n : s->n_accels;
    out->rank_node = th_alloc_array((size_t)n + 1, sizeof *out->rank_node);
    if (!out->rank_node)
        return th_error_no_memory(&c->err);
    memcpy(out->rank_node, nodes, (size_t)n * sizeof *out->rank_node);
    out->n_ranks = n;
    return 0;
}

static bool has_root(int32_t kind)
{
    return kind == TH_BROADCAST || kind == TH_REDUCE || kind == TH_GATHER || kind == TH_SCATTER;
}

static int parse_root(th_call *c, th_collective *out)
{
    if (!th_call_has(c, COLLECTIVE_ROOT))
        return 0;
    const char *text = th_call_text(c, COLLECTIVE_ROOT, "");
    if (!has_root(out->kind))
        return th_error_set(&c->err, "TCL-0165",
                            "-root: is for broadcast, reduce, gather, scatter");
    while (out->root < out->n_ranks &&
           out->rank_node[out->root] != c->option[COLLECTIVE_ROOT].number)
        out->root++;
    if (out->root == out->n_ranks)
        return th_error_set(&c->err, "TCL-0166", "-root \"%s\": is not in the group", text);
    return 0;
}

/* ---- sizes ---- */

/* A row of the matrix; *sum becomes the bytes that this rank sends. */
static int parse_row(th_call *c, Tcl_Obj *row, int32_t n, int64_t *out, int64_t *sum)
{
    Tcl_Obj **words;
    Tcl_Size n_words;
    char limit[64];
    th_error e;
    if (Tcl_ListObjGetElements(NULL, row, &n_words, &words) != TCL_OK || n_words != n)
        return th_error_set(&c->err, "TCL-0167",
                            "-sizes: \"%.60s\": every row must be a list of %d sizes, one per rank",
                            Tcl_GetString(row), (int)n);
    *sum = 0;
    for (int32_t i = 0; i < n; i++) {
        if (th_parse_bytes(Tcl_GetString(words[i]), &out[i], &e) != 0)
            return th_call_prefix_error(c, "-sizes", &e);
        if (out[i] > TH_HAND_BUILT_BYTES_MAX)
            return th_error_set(&c->err, "TCL-0162", "-sizes \"%.40s\": must be at most %s",
                                Tcl_GetString(words[i]),
                                th_format_bytes(TH_HAND_BUILT_BYTES_MAX, limit, sizeof limit));
        *sum += out[i];
    }
    return 0;
}

static int parse_matrix(th_call *c, th_collective *out)
{
    const th_value *rows = &c->option[COLLECTIVE_SIZES];
    size_t n = (size_t)out->n_ranks;
    if (rows->n != out->n_ranks)
        return th_error_set(&c->err, "TCL-0168",
                            "-sizes: %d rows: must be a square matrix of the %d ranks", rows->n,
                            (int)out->n_ranks);
    out->pair_bytes = th_alloc_array(n * n, sizeof *out->pair_bytes);
    if (!out->pair_bytes)
        return th_error_no_memory(&c->err);
    for (size_t i = 0; i < n; i++) {
        int64_t sum = 0;
        if (parse_row(c, rows->words[i], out->n_ranks, &out->pair_bytes[i * n], &sum) != 0)
            return -1;
        out->bytes = sum > out->bytes ? sum : out->bytes;
    }
    return 0;
}

static int parse_sizes(th_call *c, th_collective *out)
{
    bool has_bytes = th_call_has(c, COLLECTIVE_BYTES), has_sizes = th_call_has(c, COLLECTIVE_SIZES);
    if (has_sizes && out->kind != TH_ALL_TO_ALL)
        return th_error_set(&c->err, "TCL-0170", "-sizes: is for all_to_all");
    if (has_sizes)
        return parse_matrix(c, out);
    if (!has_bytes && out->kind != TH_BARRIER)
        return th_error_set(&c->err, "TCL-0171", "-bytes SIZE: is required for %s",
                            th_collective_names[out->kind]);
    if (has_bytes && out->kind == TH_BARRIER)
        return th_error_set(&c->err, "TCL-0172", "-bytes: a barrier has none");
    out->bytes = th_call_number(c, COLLECTIVE_BYTES, 0);
    return 0;
}

static int parse_dims(th_call *c, th_collective *out)
{
    const th_value *dims = &c->option[COLLECTIVE_DIMS];
    if (!dims->word)
        return 0;
    if (out->algorithm && out->algorithm != &th_algorithm_hierarchical)
        return th_error_set(&c->err, "TCL-0184", "-dims: is for hierarchical and auto, not for %s",
                            out->algorithm->name);
    for (; out->n_dims < dims->n; out->n_dims++)
        out->dims[out->n_dims] = (int)dims->numbers[out->n_dims];
    return 0;
}

/* ---- the command ---- */

static const th_option collective_words[] = {
    {"KIND", TH_OPTION_CHOICE, .names = th_collective_names}, {.name = NULL}};

/* The schedule stays with the hand-built program even if the collective is refused later. */
static int parse_schedule(th_call *c, th_collective *out)
{
    bool is_schedule = out->kind == TH_USER_SCHEDULE;
    if (th_call_has(c, COLLECTIVE_SCHEDULE) != is_schedule)
        return th_error_set(&c->err, "TCL-0195", "-schedule FILE: %s",
                            is_schedule ? "is required for schedule" : "is for schedule");
    if (!is_schedule)
        return 0;
    th_user_schedule *u = th_user_schedule_read(c->option[COLLECTIVE_SCHEDULE].path, &c->err);
    if (!u || th_hand_built_keep_schedule(c->session->hand_built, u, &c->err) != 0) {
        th_user_schedule_free(u);
        return -1;
    }
    out->schedule = u;
    if (!out->algorithm)
        out->algorithm = &th_algorithm_schedule;
    return 0;
}

/* Checks the collective and its algorithm. An algorithm that is left open is chosen when it
 * runs. */
static int try_algorithm(th_call *c, const th_collective *collective)
{
    th_collective_schedule trial;
    th_collective one = *collective;
    one.chunks = collective->chunks > 0 ? collective->chunks : 1;
    if (!one.algorithm)
        return th_collective_check(&one, c->session->system, &c->err);
    if (th_collective_schedule_init(&trial, &one, c->session->system, &c->err) != 0)
        return -1;
    th_collective_schedule_clear(&trial);
    return 0;
}

static int parse_collective(th_call *c, th_collective *out)
{
    int64_t algorithm = th_call_number(c, COLLECTIVE_ALGORITHM, 0);
    *out = (th_collective){
        .kind = (int32_t)c->word[0].number,
        .algorithm = algorithm > 0 ? th_algorithms[algorithm - 1] : NULL,
        .chunks = (int32_t)th_call_number(c, COLLECTIVE_CHUNKS, 1),
    };
    if (take_group(c, out) != 0 || parse_root(c, out) != 0 || parse_sizes(c, out) != 0 ||
        parse_dims(c, out) != 0 || parse_schedule(c, out) != 0)
        return -1;
    if (!th_call_has(c, COLLECTIVE_CHUNKS) && !out->algorithm)
        out->chunks = 0;
    return try_algorithm(c, out);
}

static int run_add_collective(th_call *c)
{
    th_collective collective = {.rank_node = NULL};
    int failed = parse_collective(c, &collective);
    collective.delay_ps = th_call_number(c, COLLECTIVE_TIMING + TH_TIMING_DELAY, 0);
    th_hand_built_task t = {
        .task = {.kind = TH_TASK_COLLECTIVE,
                 .node = -1,
                 .peer = -1,
                 .bytes = collective.bytes,
                 .layer = -1},
        .collective = &collective,
    };
    if (!failed)
        failed = th_call_add_task(c, COLLECTIVE_TIMING, &t);
    th_free(collective.rank_node);
    th_free(collective.pair_bytes);
    return failed;
}

enum {
    TRAFFIC_PATTERN,
    TRAFFIC_RATE,
    TRAFFIC_MESSAGE,
    TRAFFIC_DURATION,
    TRAFFIC_START,
    TRAFFIC_PROCESS,
    TRAFFIC_CYCLE,
    TRAFFIC_HOTSPOT,
    TRAFFIC_SHARE,
    TRAFFIC_DELAY,
    TRAFFIC_SEED
};

TH_CHOICE(pattern_name, th_traffic_patterns[i] ? th_traffic_patterns[i]->name : NULL)

static const th_option traffic_options[] = {
    [TRAFFIC_PATTERN] = {"-pattern", TH_OPTION_CHOICE, "PATTERN", "Who sends to whom.",
                         .choice = pattern_name, .required = true},
    [TRAFFIC_RATE] = {"-rate", TH_OPTION_BANDWIDTH, "RATE",
                      "Mean rate at which every accelerator sends.", .required = true},
    [TRAFFIC_MESSAGE] = {"-message_bytes", TH_OPTION_BYTES, "SIZE", "Size of every message.", 1,
                         TH_HAND_BUILT_BYTES_MAX, .required = true},
    [TRAFFIC_DURATION] = {"-duration", TH_OPTION_TIME, "TIME",
                          "Length of the time in which messages begin.", .minimum = 1,
                          .required = true},
    [TRAFFIC_START] = {"-start", TH_OPTION_TIME, "TIME", "Start of that time (0)."},
    [TRAFFIC_PROCESS] = {"-process", TH_OPTION_CHOICE, "PROCESS",
                         "Times between messages: bernoulli starts one in each cycle with the same "
                         "probability; poisson draws exponential times.",
                         .names =
                             TH_NAMES([TH_TRAFFIC_BERNOULLI] = "bernoulli", [TH_TRAFFIC_POISSON] =
                                                                                "poisson")},
    [TRAFFIC_CYCLE] = {"-cycle", TH_OPTION_TIME, "TIME", "bernoulli: length of a cycle."},
    [TRAFFIC_HOTSPOT] = {"-hotspot", TH_OPTION_NODE, "ACCEL", .classes = TH_BIT(TH_CLASS_ACCEL),
                         .help =
                             "hotspot: the accelerator that receives more messages (the first)."},
    [TRAFFIC_SHARE] =
        {"-hotspot_share", TH_OPTION_NUMBER, "SHARE", .high = 1, .range = TH_ABOVE,
         .help = "hotspot: the share of messages that go there, above 0, at most 1 (0.1)."},
    [TRAFFIC_DELAY] = {"-delay", TH_OPTION_TIME, "TIME",
                       "Overhead of every message, before its first byte goes (0)."},
    [TRAFFIC_SEED] = {"-seed", TH_OPTION_INTEGER, "N", "Seed of the random numbers (1).", 0,
                      INT64_MAX},
    {.name = NULL},
};

/* Refuses options that the chosen pattern ignores, and missing ones. */
static int check_together(th_call *c, const th_traffic_options *o)
{
    bool is_hotspot = o->pattern == th_traffic_find_pattern("hotspot");
    if (!is_hotspot && (th_call_has(c, TRAFFIC_HOTSPOT) || th_call_has(c, TRAFFIC_SHARE)))
        return th_error_set(&c->err, "TCL-0176",
                            "-hotspot and -hotspot_share: are for -pattern hotspot, not for %s",
                            o->pattern->name);
    if ((o->process == TH_TRAFFIC_BERNOULLI) != th_call_has(c, TRAFFIC_CYCLE))
        return th_error_set(&c->err, "TCL-0177", "-cycle TIME: belongs to -process bernoulli");
    return 0;
}

static int run_add_traffic(th_call *c)
{
    enum { BITS_PER_BYTE = 8 };
    th_traffic_options o = {
        .pattern = th_traffic_patterns[th_call_number(c, TRAFFIC_PATTERN, 0)],
        .process = (th_traffic_process)th_call_number(c, TRAFFIC_PROCESS, TH_TRAFFIC_POISSON),
        .bytes_per_s = (double)th_call_number(c, TRAFFIC_RATE, 0) / BITS_PER_BYTE,
        .message_bytes = th_call_number(c, TRAFFIC_MESSAGE, 0),
        .cycle_ps = th_call_number(c, TRAFFIC_CYCLE, 0),
        .start_ps = th_call_number(c, TRAFFIC_START, 0),
        .duration_ps = th_call_number(c, TRAFFIC_DURATION, 0),
        .delay_ps = th_call_number(c, TRAFFIC_DELAY, 0),
        .hotspot_share = th_call_real(c, TRAFFIC_SHARE, 0.1),
        .seed = (uint64_t)th_call_number(c, TRAFFIC_SEED, 1),
        .is_interrupted = th_interrupt_is_pending,
    };
    th_session *s = c->session;
    if (check_together(c, &o) != 0)
        return -1;
    if (th_call_has(c, TRAFFIC_HOTSPOT))
        o.hotspot = s->system->nodes[c->option[TRAFFIC_HOTSPOT].number].accel;
    int64_t n = th_traffic_add(s->hand_built->program, s->system, &o, &c->err);
    if (n < 0)
        return -1;
    Tcl_SetObjResult(c->interp, Tcl_NewWideIntObj(n));
    return 0;
}

const th_command th_collective_commands[] = {
    {"add_collective", "program", "KIND", 1, 1, collective_options,
     "add a collective operation to the program",
     "KIND is all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, "
     "scatter, barrier, send_recv (from the first to the second of the group) or schedule (read "
     "from a file). It is one task; its messages follow from the algorithm during the run. Returns "
     "task/N. Refused once the program has begun to run, until restart.",
     .run = run_add_collective, .kinds = collective_words, .needs = {th_session_open_hand_built},
     .ignores_run = true, .not_while_running = true},
    {"add_traffic", "program", "", 0, 0, traffic_options,
     "add synthetic traffic among all accelerators",
     "Every message is a transfer of its own. The same options and seed give the same messages. "
     "Returns their number; report_latency prints their latencies. Refused once the program has "
     "begun to run, until restart.",
     .run = run_add_traffic, .needs = {th_session_open_hand_built}, .ignores_run = true,
     .not_while_running = true, .after_interrupt = TH_PROGRAM_IS_AS_IT_WAS},
    {.name = NULL},
};
