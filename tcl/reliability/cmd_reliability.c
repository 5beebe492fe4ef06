/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_reliability.c - report_reliability: a training run of days or months with checkpoints and
 * failures. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "report/objects/objects.h"
#include "report/sections/reliability.h"
#include "tcl/reliability/system_mtbf.h"
#include "tcl/report_call.h"

enum {
    RELIABILITY_DURATION = RECORD_N_OPTIONS,
    RELIABILITY_FAILURES,
    RELIABILITY_STEP,
    RELIABILITY_INTERVAL,
    RELIABILITY_WRITE,
    RELIABILITY_BYTES,
    RELIABILITY_STORAGE,
    RELIABILITY_STALL,
    RELIABILITY_DETECTION,
    RELIABILITY_RESTART,
    RELIABILITY_SPARES,
    RELIABILITY_REPAIR,
    RELIABILITY_RUNS,
    RELIABILITY_SEED
};

static const th_option options[] = {
    RECORD_OPTIONS,
    [RELIABILITY_DURATION] = {"-duration", TH_OPTION_TEXT, "TIME",
                              "Length of the training run: 54d, 2000h.", .required = true},
    [RELIABILITY_FAILURES] =
        {"-failures", TH_OPTION_TEXT, "LIST",
         "Kinds of failures, each {NAME UNITS MTBF ?shape K? ?spare 0|1?}: so many units, each of "
         "which fails every MTBF in the mean, under an exponential or (shape) Weibull law; or "
         "{NAME times FILE}: a file with a time in each line. spare 0: no unit is replaced (of "
         "software). Without it: accelerators, hosts, switches and cables with the mtbf that the "
         "system file states; where it states none, nothing fails."},
    [RELIABILITY_STEP] = {"-step_time", TH_OPTION_TEXT, "TIME",
                          "Time of a step; intervals are whole steps (that of the run, if there is "
                          "one, which must be at its end)."},
    [RELIABILITY_INTERVAL] = {"-checkpoint_interval", TH_OPTION_TEXT, "TIME",
                              "Training between two checkpoints: a time, or young, daly, best: the "
                              "formulas (daly)."},
    [RELIABILITY_WRITE] = {"-checkpoint_time", TH_OPTION_TEXT, "TIME",
                           "From the start of a checkpoint until it is complete."},
    [RELIABILITY_BYTES] = {"-checkpoint_bytes", TH_OPTION_BYTES, "SIZE",
                           "Instead of it: what every accelerator writes; the time is simulated on "
                           "the network of the system. A restart then also reads it."},
    [RELIABILITY_STORAGE] = {"-storage", TH_OPTION_TEXT, "NODES",
                             "Nodes that checkpoints are written to, in turn (all hosts)."},
    [RELIABILITY_STALL] = {"-checkpoint_stall", TH_OPTION_TEXT, "TIME",
                           "How long training stops for a checkpoint (until it is complete)."},
    [RELIABILITY_DETECTION] = {"-detection_time", TH_OPTION_TEXT, "TIME",
                               "From a failure until it is noticed (0)."},
    [RELIABILITY_RESTART] = {"-restart_time", TH_OPTION_TEXT, "TIME",
                             "From there until training continues, without waiting for spares and "
                             "reading over the network (0)."},
    [RELIABILITY_SPARES] = {"-spares", TH_OPTION_INTEGER, "N",
                            "Spare units at the start (any number).", 0, INT64_MAX},
    [RELIABILITY_REPAIR] = {"-repair_time", TH_OPTION_TEXT, "TIME",
                            "After it a failed unit is a spare one (never)."},
    [RELIABILITY_RUNS] = {"-runs", TH_OPTION_INTEGER, "N",
                          "Simulated runs (100). Failures of all of them together: at most some "
                          "100 million.",
                          1, 1000000},
    [RELIABILITY_SEED] = {"-seed", TH_OPTION_INTEGER, "N", "Of the failures (1).", 0, INT64_MAX},
    {.name = NULL},
};

/* ---- checkpoints over the network ---- */

typedef struct storage {
    int32_t *node;
    int n;
} storage;

/* The -storage nodes, or all hosts; out->node is the caller's, on failure too. 0 or -1. */
static int parse_storage(th_call *c, storage *out)
{
    const th_system *s = c->session->system;
    Tcl_Obj **words = NULL;
    Tcl_Size n = s->n_hosts;
    bool is_given = th_call_has(c, RELIABILITY_STORAGE);
    if (is_given && Tcl_ListObjGetElements(NULL, c->option[RELIABILITY_STORAGE].word, &n, &words))
        return th_error_set(&c->err, "TCL-1110", "-storage \"%.100s\": must be a list of nodes",
                            th_call_text(c, RELIABILITY_STORAGE, ""));
    if (n < 1)
        return th_error_set(&c->err, "TCL-1111",
                            "-storage: the system has no host: name the nodes that checkpoints "
                            "are written to");
    out->node = th_alloc_array((size_t)n, sizeof *out->node);
    if (!out->node)
        return th_error_no_memory(&c->err);
    for (; out->n < (int)n; out->n++) {
        out->node[out->n] = is_given
                                ? th_node_parse(c->session, Tcl_GetString(words[out->n]), &c->err)
                                : s->host_node[out->n];
        if (out->node[out->n] < 0)
            return th_call_prefix_error(c, "-storage", &c->err);
    }
    return 0;
}

/* A transfer of bytes between every accelerator and its storage node. 0 or -1. */
static int add_transfers(th_program *p, const th_system *s, const storage *to, int64_t bytes,
                         bool is_read, th_error *err)
{
    for (int a = 0; a < s->n_accels; a++) {
        int32_t accel = s->accel_node[a], other = to->node[a % to->n];
        th_task t = {.kind = TH_TASK_TRANSFER,
                     .node = is_read ? other : accel,
                     .peer = is_read ? accel : other,
                     .bytes = bytes,
                     .layer = -1};
        if (th_program_add(p, &t, err) < 0)
            return -1;
    }
    return th_program_finish(p, err);
}

/* The time of these transfers on an otherwise idle network, in seconds. 0 or -1. */
static int simulate_transfers(th_call *c, const storage *to, bool is_read, double *seconds)
{
    const th_session *s = c->session;
    th_program *p = th_program_new(&c->err);
    th_simulation *sim = NULL;
    int failed = !p || add_transfers(p, s->system, to, th_call_number(c, RELIABILITY_BYTES, 0),
                                     is_read, &c->err) != 0;
    if (!failed)
        sim = th_simulation_of_finished(s->system, p, &s->defaults, &c->err);
    failed = !sim || th_machine_run_until(sim->machine, TH_TIME_MAX, &c->err) != TH_STOP_DONE;
    if (!failed)
        *seconds = (double)th_machine_elapsed(sim->machine) * 1e-12;
    th_simulation_free(sim);
    th_program_free(p);
    return failed ? -1 : 0;
}

static int simulate_checkpoint(th_call *c, double *write_s, double *read_s)
{
    storage to = {.node = NULL};
    int failed = th_session_need_system(c->session, &c->err);
    if (!failed)
        failed = parse_storage(c, &to);
    if (!failed)
        failed =
            simulate_transfers(c, &to, false, write_s) || simulate_transfers(c, &to, true, read_s);
    th_free(to.node);
    return failed ? -1 : 0;
}

/* ---- the call ---- */

static int parse_checkpoint(th_call *c, th_training_run *r)
{
    double read_s = 0;
    bool has_time = th_call_has(c, RELIABILITY_WRITE),
         has_bytes = th_call_has(c, RELIABILITY_BYTES);
    if (has_time == has_bytes)
        return th_error_set(&c->err, "TCL-1112",
                            "-checkpoint_time TIME or -checkpoint_bytes SIZE: one of them is "
                            "required");
    if (th_call_has(c, RELIABILITY_STORAGE) && !has_bytes)
        return th_error_set(&c->err, "TCL-1113", "-storage: is for -checkpoint_bytes");
    if (has_bytes ? simulate_checkpoint(c, &r->write_s, &read_s)
                  : th_call_seconds(c, RELIABILITY_WRITE, 0, &r->write_s))
        return -1;
    if (th_call_seconds(c, RELIABILITY_STALL, r->write_s, &r->stall_s) != 0 ||
        th_call_seconds(c, RELIABILITY_RESTART, 0, &r->restart_s) != 0)
        return -1;
    r->restart_s += read_s;
    if (r->stall_s <= r->write_s)
        return 0;
    return th_error_set(&c->err, "TCL-1114",
                        "-checkpoint_stall \"%s\": must be at most the time of a checkpoint, %.6gs",
                        th_call_text(c, RELIABILITY_STALL, ""), r->write_s);
}

static int parse_interval(th_call *c, th_reliability *x)
{
    static const char *const rules[] = {
        [TH_INTERVAL_YOUNG] = "young", [TH_INTERVAL_DALY] = "daly", [TH_INTERVAL_BEST] = "best"};
    const char *text = th_call_text(c, RELIABILITY_INTERVAL, "daly");
    for (int i = TH_INTERVAL_YOUNG; i <= TH_INTERVAL_BEST; i++)
        if (strcmp(text, rules[i]) == 0) {
            x->rule = (th_interval_rule)i;
            return 0;
        }
    x->rule = TH_INTERVAL_GIVEN;
    if (th_call_seconds(c, RELIABILITY_INTERVAL, 0, &x->run.interval_s) != 0)
        return -1;
    if (x->run.interval_s > 0)
        return 0;
    return th_error_set(&c->err, "TCL-1115",
                        "-checkpoint_interval \"%.60s\": must be a time above 0, young, daly or "
                        "best",
                        text);
}

/* That of the call, or of the finished run; 0: any. */
static int parse_step(th_call *c, double *step_s)
{
    const th_simulation *sim = c->session->simulation;
    char now[32];
    bool has_run = sim && sim->has_begun, is_done = has_run && th_machine_is_done(sim->machine);
    if (has_run && !is_done && !th_call_has(c, RELIABILITY_STEP))
        return th_error_set(&c->err, "TCL-1173",
                            "the run has failed or has stopped, at %s, so the time of a step is "
                            "not known: must be at its end, or -step_time TIME",
                            th_format_time(th_machine_now(sim->machine), now, sizeof now));
    double of_run = is_done ? (double)th_machine_elapsed(sim->machine) * 1e-12 : 0;
    return th_call_seconds(c, RELIABILITY_STEP, of_run, step_s);
}

static int parse_run(th_call *c, th_reliability *x)
{
    th_training_run *r = &x->run;
    if (th_call_seconds(c, RELIABILITY_DURATION, 0, &r->duration_s) != 0 ||
        parse_checkpoint(c, r) != 0 ||
        th_call_seconds(c, RELIABILITY_DETECTION, 0, &r->detection_s) != 0 ||
        th_call_seconds(c, RELIABILITY_REPAIR, INFINITY, &r->repair_s) != 0 ||
        parse_step(c, &x->step_s) != 0 || parse_interval(c, x) != 0)
        return -1;
    r->n_spares = th_call_number(c, RELIABILITY_SPARES, -1);
    x->n_runs = th_call_number(c, RELIABILITY_RUNS, 100);
    x->seed = (uint64_t)th_call_number(c, RELIABILITY_SEED, 1);
    if (th_call_has(c, RELIABILITY_REPAIR) && r->n_spares < 0)
        return th_error_set(&c->err, "TCL-1116", "-repair_time: is for -spares");
    if (r->duration_s > 0)
        return 0;
    return th_error_set(&c->err, "TCL-1117", "-duration \"%s\": must be more than 0",
                        th_call_text(c, RELIABILITY_DURATION, ""));
}

/* What the run was about, for the head. */
static void add_head(th_call *c, th_report *r, const th_reliability *x)
{
    th_report_head_line(r, "duration", th_call_text(c, RELIABILITY_DURATION, ""));
    th_report_head_field(r, "failure_seed", th_count((int64_t)x->seed));
    th_report_head_field(r, "detection_s", th_number(x->run.detection_s));
    th_report_head_field(r, "step_s", th_number(x->step_s));
}

static int run_report_reliability(th_call *c)
{
    th_failure_kinds kinds;
    th_reliability x = {.rule = TH_INTERVAL_DALY};
    int failed = th_failure_kinds_parse(c, RELIABILITY_FAILURES, &kinds);
    if (!failed && !th_call_has(c, RELIABILITY_FAILURES) && c->session->system)
        failed = th_failure_kinds_of_system(c->session->system, &kinds, &c->err);
    x.run.kinds = kinds.all;
    x.run.n_kinds = kinds.n;
    if (!failed)
        failed = parse_run(c, &x);
    th_report *r = failed ? NULL : th_report_of_call(c, "reliability", "Reliability");
    if (r) {
        add_head(c, r, &x);
        failed = th_section_reliability(&x, r, &c->err);
        failed = th_report_finish(c, r, failed, NULL);
    }
    th_failure_kinds_clear(&kinds);
    return r ? failed : -1;
}

const th_command th_reliability_commands[] = {
    {"report_reliability", "report", "", 0, 0, options,
     "print the effective training time under failures",
     "A training run of -duration with checkpoints is simulated -runs times from failure to "
     "failure. A failure loses what was trained since the last complete checkpoint began; it is "
     "noticed, a spare unit is taken or waited for, and the run restarts. The report says which "
     "share of the time trains, where the rest goes, how often the run is interrupted, and which "
     "interval between checkpoints is the best, beside the formulas of Young and Daly. Results "
     "depend on the seed alone. See docs/models/reliability.md.",
     .run = run_report_reliability, .is_report = true},
    {.name = NULL},
};
