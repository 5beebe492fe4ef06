/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_reliability.c - core commands for training runs with failures: sim/reliability, the failures
 * that files and systems state, and the time of checkpoints on the network.
 * A RUN is the list {DURATION INTERVAL STALL WRITE DETECTION RESTART REPAIR SPARES}, in seconds but
 * for the spares (training_run.h), KINDS a list of {NAME UNITS MTBF SHAPE TAKES_SPARE ?TIMES?}. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/elementary.h"
#include "base/notes.h"
#include "base/interrupt.h"
#include "session/objects/objects.h"
#include "sim/reliability/training_run.h"
#include "tcl/core/lib_report.h"
#include "tcl/reliability/failure_option.h"
#include "tcl/reliability/system_mtbf.h"
#include "tcl/warning.h"

/* ---- what files and systems state ---- */

/* seconds TEXT: of a duration, "30min", or of a time, "10us". */
static int run_seconds(th_call *c)
{
    double seconds;
    if (th_parse_seconds(th_call_word(c, 0), &seconds, &c->err) != 0)
        return -1;
    return th_lib_give(c, Tcl_NewDoubleObj(seconds));
}

/* failure_times FILE: seconds, ascending. */
static int run_failure_times(th_call *c)
{
    double *times;
    int64_t n;
    if (th_call_failure_times(th_lib_caller(c), c->words[0], &times, &n, &c->err) != 0)
        return -1;
    Tcl_SetObjResult(c->interp, th_lib_list(times, n));
    th_free(times);
    return 0;
}

static void add_mtbf(Tcl_Obj *list, const th_system *s, const char *class, th_object o,
                     const char *name)
{
    const double s_per_us = 1e-6;
    int64_t us = th_system_mtbf_us(s, o);
    Tcl_Obj *unit[] = {th_lib_text(class), th_lib_text(name),
                       Tcl_NewDoubleObj((double)us * s_per_us)};
    Tcl_Obj *row = Tcl_NewListObj(3, unit);
    if (us > 0)
        th_lib_append(list, row);
    else
        Tcl_DecrRefCount(row);
}

/* unit_mtbfs: {CLASS NAME SECONDS} of every accelerator, host, switch and cable of which the system
 * states a mean time between failures. Without a system: none. */
static int run_unit_mtbfs(th_call *c)
{
    static const char *const class[] = {
        [TH_NODE_ACCEL] = "accel", [TH_NODE_HOST] = "host", [TH_NODE_SWITCH] = "switch"};
    const th_system *s = c->session->system;
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    for (int kind = TH_NODE_ACCEL; s && kind <= TH_NODE_SWITCH; kind++)
        for (int i = 0; i < s->n_nodes; i++)
            if ((int)s->nodes[i].kind == kind)
                add_mtbf(
                    list, s, class [kind], (th_object) { TH_CLASS_NODE, i }, s->nodes[i].name);
    for (int l = 0; s && l < s->n_links; l += th_system_cable_links(s, l))
        add_mtbf(list, s, "link", (th_object){TH_CLASS_LINK, l}, s->links[l].name);
    return th_lib_give(c, list);
}

/* ---- transfers on the network of the system ---- */

/* A transfer of bytes from the first to the second node of every pair. 0 or -1. */
static int add_transfers(th_call *c, th_program *p, Tcl_Obj **node, int n, int64_t bytes)
{
    for (int i = 0; i + 1 < n; i += 2) {
        int from = th_node_parse(c->session, Tcl_GetString(node[i]), &c->err);
        int to = from < 0 ? -1 : th_node_parse(c->session, Tcl_GetString(node[i + 1]), &c->err);
        th_task t = {
            .kind = TH_TASK_TRANSFER, .node = from, .peer = to, .bytes = bytes, .layer = -1};
        if (to < 0 || th_program_add(p, &t, &c->err) < 0)
            return -1;
    }
    return th_program_finish(p, &c->err);
}

/* transfer_time BYTES {FROM TO ...}: seconds until all have arrived on the idle network. */
static int run_transfer_time(th_call *c)
{
    Tcl_WideInt bytes;
    Tcl_Obj **node;
    int n = th_lib_elements(c->words[1], -1, &node);
    if (Tcl_GetWideIntFromObj(NULL, c->words[0], &bytes) != TCL_OK || bytes < 0 || n < 0)
        return th_lib_fault(c, "transfer_time");
    th_program *p = th_program_new(&c->err);
    th_simulation *sim = NULL;
    int failed = p ? add_transfers(c, p, node, n, bytes) : -1;
    if (!failed)
        sim = th_simulation_of_finished(c->session->system, p, &c->session->defaults, &c->err);
    failed = !sim || th_machine_run_until(sim->machine, TH_TIME_MAX, &c->err) != TH_STOP_DONE;
    if (!failed)
        Tcl_SetObjResult(c->interp,
                         Tcl_NewDoubleObj((double)th_machine_elapsed(sim->machine) * 1e-12));
    th_simulation_free(sim);
    th_program_free(p);
    return failed ? -1 : 0;
}

/* ---- training runs ---- */

typedef struct run {
    th_training_run r; /* kinds: those below */
    th_failure_kind kinds[TH_FAILURE_KINDS_MAX];
    double *times[TH_FAILURE_KINDS_MAX];
} run;

static void clear(run *x)
{
    for (int k = 0; k < TH_FAILURE_KINDS_MAX; k++)
        th_free(x->times[k]);
}

/* Ascending times. 0, or -1: they are none, or memory is out. */
static int read_times(run *x, int k, Tcl_Obj *list)
{
    Tcl_Obj **time;
    int n = th_lib_elements(list, -1, &time);
    double *all = x->times[k] = n > 0 ? th_alloc_array((size_t)n, sizeof *all) : NULL;
    if (!all || th_lib_doubles(list, n, all) != 0)
        return -1;
    for (int i = 0; i < n; i++)
        if (!(all[i] >= (i > 0 ? all[i - 1] : 0)))
            return -1;
    x->kinds[k].times_s = all;
    x->kinds[k].n_times = n;
    return 0;
}

static int read_kind(run *x, int k, Tcl_Obj *words)
{
    enum { UNITS, MTBF, SHAPE, SPARE, N_NUMBERS, TIMES = 1 + N_NUMBERS };
    Tcl_Obj **word;
    double number[N_NUMBERS];
    int n = th_lib_elements(words, -1, &word);
    bool has_times = n > TIMES;
    if (n < TIMES || th_lib_doubles(Tcl_NewListObj(N_NUMBERS, word + 1), N_NUMBERS, number) != 0 ||
        !(number[UNITS] >= 1 && number[UNITS] <= TH_FAILURE_UNITS_MAX && number[SHAPE] >= 0.1 &&
          number[SHAPE] <= 10 && (has_times || number[MTBF] > 0)))
        return -1;
    x->kinds[k] = (th_failure_kind){.name = Tcl_GetString(word[0]),
                                    .n_units = (int64_t)number[UNITS],
                                    .mtbf_s = number[MTBF],
                                    .shape = number[SHAPE],
                                    .takes_spare = number[SPARE] != 0};
    return has_times ? read_times(x, k, word[TIMES]) : 0;
}

/* The RUN and KINDS of a call. 0, or -1: they are none; clear all the same. */
static int read_run(th_call *c, run *x)
{
    enum { DURATION, INTERVAL, STALL, WRITE, DETECTION, RESTART, REPAIR, SPARES, N_NUMBERS };
    double r[N_NUMBERS] = {0};
    Tcl_Obj **kind;
    int n = th_lib_elements(c->words[1], -1, &kind);
    int failed = n < 0 || n > TH_FAILURE_KINDS_MAX || th_lib_doubles(c->words[0], N_NUMBERS, r);
    *x = (run){.r = {r[DURATION], r[INTERVAL], r[STALL], r[WRITE], r[DETECTION], r[RESTART],
                     r[REPAIR], (int64_t)r[SPARES], x->kinds, n, th_interrupt_is_pending}};
    for (int k = 0; !failed && k < n; k++)
        failed = read_kind(x, k, kind[k]);
    for (int i = 0; !failed && i < SPARES; i++)
        failed = !(r[i] >= 0);
    if (!failed && r[DURATION] > 0 && r[INTERVAL] > 0 && r[STALL] <= r[WRITE] &&
        r[WRITE] <= r[INTERVAL] + r[STALL])
        return 0;
    return th_lib_fault(c, "a training run");
}

enum { N_PARTS = 8 };

/* Sums over runs, of failures by kind, with all of them last. */
typedef struct sums {
    double parts[N_PARTS], least, most; /* least, most: share of the time that trains */
    double failures[TH_FAILURE_KINDS_MAX + 1], squares[TH_FAILURE_KINDS_MAX + 1];
    double lost[TH_FAILURE_KINDS_MAX];
} sums;

static void add_outcome(sums *s, const th_training_outcome *o, const th_training_run *r)
{
    const double share = o->trained_s / r->duration_s;
    const double parts[N_PARTS] = {o->trained_s, o->stalled_s, o->lost_s, o->detection_s,
                                   o->restart_s, o->waiting_s, share,     share * share};
    for (int i = 0; i < N_PARTS; i++)
        s->parts[i] += parts[i];
    s->least = fmin(s->least, share);
    s->most = fmax(s->most, share);
    for (int k = 0; k <= r->n_kinds; k++) {
        double n = (double)(k < r->n_kinds ? o->n_failures_of[k] : o->n_failures);
        s->failures[k] += n;
        s->squares[k] += n * n;
    }
    for (int k = 0; k < r->n_kinds; k++)
        s->lost[k] += o->lost_of[k];
}

/* training_runs RUN KINDS N SEED: sums over N runs, {TRAINED STALLED LOST DETECTION RESTART WAITING
 * SHARE SHARE_SQUARED} {LEAST MOST} FAILURES SQUARES_OF_THEM LOST_OF: the share of the time that
 * trains, and its extremes; the last three by kind, of failures with all of them last. */
static int run_training_runs(th_call *c)
{
    run x;
    Tcl_WideInt n = 0, seed = 0;
    sums s = {.least = 1};
    int failed = read_run(c, &x), n_kinds = x.r.n_kinds;
    if (!failed && (Tcl_GetWideIntFromObj(NULL, c->words[2], &n) != TCL_OK ||
                    Tcl_GetWideIntFromObj(NULL, c->words[3], &seed) != TCL_OK))
        failed = th_lib_fault(c, "training_runs");
    for (Tcl_WideInt i = 0; !failed && i < n; i++) {
        th_training_outcome o;
        failed = th_training_run_simulate(&x.r, (uint64_t)seed, (uint64_t)i, &o, &c->err);
        if (!failed)
            add_outcome(&s, &o, &x.r);
    }
    clear(&x);
    if (failed)
        return -1;
    Tcl_Obj *all[] = {th_lib_list(s.parts, N_PARTS), th_lib_list((double[]){s.least, s.most}, 2),
                      th_lib_list(s.failures, n_kinds + 1), th_lib_list(s.squares, n_kinds + 1),
                      th_lib_list(s.lost, n_kinds)};
    return th_lib_give(c, Tcl_NewListObj(sizeof all / sizeof *all, all));
}

/* training_forms RUN KINDS: {DRAWS MTBF SHARE YOUNG DALY BEST AROUND}: the times of failures that a
 * run draws, the mean time between failures, the share that trains by the closed form; and for the
 * stop by a checkpoint the known intervals, and 17 round the best, each 2^(1/4) times the one
 * before. */
static int run_training_forms(th_call *c)
{
    enum { STEPS = 8, AROUND = 2 * STEPS + 1 };
    run x;
    double around[AROUND];
    int failed = read_run(c, &x);
    const th_training_run *r = &x.r;
    if (!failed) {
        const double m = th_training_run_mtbf(r), stop = r->stall_s > 0 ? r->stall_s : r->write_s;
        const double best = th_best_interval(stop, m);
        for (int i = 0; i < AROUND; i++)
            around[i] = best * th_exp((i - STEPS) * th_log(2) / 4);
        const double forms[] = {
            th_training_run_draws(r),
            m,
            th_expected_training_share(r->interval_s, r->stall_s, r->detection_s + r->restart_s, m),
            th_young_interval(stop, m),
            th_daly_interval(stop, m),
            best};
        Tcl_Obj *all = th_lib_list(forms, sizeof forms / sizeof *forms);
        th_lib_append(all, th_lib_list(around, AROUND));
        Tcl_SetObjResult(c->interp, all);
    }
    clear(&x);
    return failed;
}

/* step_time: that of the run that has ended, in seconds, 0 without a run; where it has not ended,
 * the time that it has reached, as a text after the word "at". */
static int run_step_time(th_call *c)
{
    const th_simulation *sim = c->session->simulation;
    char text[64];
    if (!sim || !sim->has_begun || th_machine_is_done(sim->machine)) {
        double ps = sim && sim->has_begun ? (double)th_machine_elapsed(sim->machine) : 0;
        Tcl_SetObjResult(c->interp, Tcl_NewDoubleObj(ps * 1e-12));
        return 0;
    }
    return th_lib_give(
        c, Tcl_ObjPrintf("at %s", th_format_time(th_machine_now(sim->machine), text, sizeof text)));
}

const th_command th_core_reliability_commands[] = {
    TH_CORE_ROW_OF_RUN("seconds", "TEXT", 1, run_seconds),
    TH_CORE_ROW_OF_RUN("failure_times", "FILE", 1, run_failure_times),
    TH_CORE_ROW_OF_RUN("unit_mtbfs", "", 0, run_unit_mtbfs),
    TH_CORE_ROW_THAT_NEEDS("transfer_time", "BYTES {FROM TO ...}", 2, run_transfer_time,
                           th_session_need_system),
    TH_CORE_ROW_OF_RUN("training_runs", "RUN KINDS N SEED", 4, run_training_runs),
    TH_CORE_ROW_OF_RUN("training_forms", "RUN KINDS", 2, run_training_forms),
    TH_CORE_ROW_OF_RUN("step_time", "", 0, run_step_time),
    {.name = NULL},
};
