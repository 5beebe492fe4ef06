/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_program.c - hand-built programs: create_program, add_transfer, add_compute, save_program,
 * add_job.
 *   create_program -> (add_transfer | add_compute)* -> run
 * All options of a task are checked before the task is added. */
#include <config.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include "report/objects/objects.h"
#include "report/session/jobs.h"
#include "tcl/program_options.h"

#define GROUP "program"

/* ---- create_program ---- */

static int check_name(th_call *c, const char *of, const char *name)
{
    enum { NAME_MAX_BYTES = 200 };
    if (name[0] != '\0' && strlen(name) <= NAME_MAX_BYTES && !strpbrk(name, "\r\n"))
        return 0;
    return th_error_set(&c->err, "TCL-0159",
                        "\"%.40s\": the name of %s must be one line of 1 to %d bytes", name, of,
                        NAME_MAX_BYTES);
}

static int run_create_program(th_call *c)
{
    th_session *s = c->session;
    const char *name = th_call_word(c, 0);
    if (th_session_need_system(s, &c->err) != 0 || th_session_need_no_trace(s, &c->err) != 0)
        return -1;
    if (check_name(c, "a program", name) != 0)
        return -1;
    th_hand_built *made = th_hand_built_new(name, &c->err);
    if (!made)
        return -1;
    th_session_set_hand_built(s, made);
    th_call_return_text(c, name);
    return 0;
}

/* ---- options of all tasks ---- */

static int parse_after(th_call *c, int option, th_timing *out)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (!th_call_has(c, option))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[option].word, &n, &words) != TCL_OK)
        return th_error_set(&c->err, "TCL-0160", "-after \"%.100s\": must be a list of tasks",
                            th_call_text(c, option, ""));
    out->after = th_alloc_array((size_t)n + 1, sizeof *out->after);
    if (!out->after)
        return th_error_no_memory(&c->err);
    for (; out->n_after < n; out->n_after++) {
        th_object o;
        if (th_object_parse(c->session, Tcl_GetString(words[out->n_after]), &o, &c->err) != 0)
            return th_call_prefix_error(c, "-after", &c->err);
        if (o.class != TH_CLASS_TASK)
            return th_error_set(&c->err, "TCL-0161", "-after \"%s\": must be a task",
                                Tcl_GetString(words[out->n_after]));
        out->after[out->n_after] = o.index;
    }
    return 0;
}

int th_timing_parse(th_call *c, int first, th_timing *out)
{
    *out = (th_timing){
        .at_ps = th_call_number(c, first + TH_TIMING_AT, 0),
        .delay_ps = th_call_number(c, first + TH_TIMING_DELAY, 0),
    };
    if (parse_after(c, first + TH_TIMING_AFTER, out) == 0)
        return 0;
    th_free(out->after);
    out->after = NULL;
    return -1;
}

int th_size_check(th_call *c, const char *option, int64_t bytes)
{
    if (bytes <= TH_HAND_BUILT_BYTES_MAX)
        return 0;
    char limit[64];
    return th_error_set(&c->err, "TCL-0162", "%s: must be at most %s", option,
                        th_format_bytes(TH_HAND_BUILT_BYTES_MAX, limit, sizeof limit));
}

int th_call_add_task(th_call *c, const th_hand_built_task *t)
{
    int32_t number = th_hand_built_add(c->session->hand_built, t, &c->err);
    if (number < 0)
        return -1;
    Tcl_SetObjResult(c->interp, th_object_name(c->session, (th_object){TH_CLASS_TASK, number}));
    return 0;
}

/* ---- add_transfer ---- */

enum { TRANSFER_FROM, TRANSFER_TO, TRANSFER_BYTES, TRANSFER_TIMING };

static const th_option transfer_options[] = {
    [TRANSFER_FROM] = {"-from", TH_OPTION_TEXT, "NODE", "The sender: 0, accel/0, node/host.",
                       .required = true},
    [TRANSFER_TO] = {"-to", TH_OPTION_TEXT, "NODE", "The receiver, another node.",
                     .required = true},
    [TRANSFER_BYTES] = {"-bytes", TH_OPTION_BYTES, "SIZE",
                        "Payload; 0 takes only the latencies of the route.", .required = true},
    TH_TIMING_OPTIONS(TRANSFER_TIMING),
    {.name = NULL},
};

static int parse_node(th_call *c, int option)
{
    int node = th_node_parse(c->session, th_call_text(c, option, ""), &c->err);
    return node >= 0 ? node : th_call_prefix_error(c, transfer_options[option].name, &c->err);
}

/* Checks all options of a transfer but those of its timing. */
static int parse_transfer(th_call *c, th_task *out)
{
    int from = parse_node(c, TRANSFER_FROM), to = from >= 0 ? parse_node(c, TRANSFER_TO) : -1;
    int64_t bytes = th_call_number(c, TRANSFER_BYTES, 0);
    if (from < 0 || to < 0 || th_size_check(c, "-bytes", bytes) != 0)
        return -1;
    if (from == to)
        return th_error_set(&c->err, "TCL-0163",
                            "-from and -to are both \"%s\": nothing would cross a link",
                            c->session->system->nodes[from].name);
    *out = (th_task){.kind = TH_TASK_TRANSFER,
                     .node = from,
                     .peer = to,
                     .compute_cost = -1,
                     .bytes = bytes,
                     .layer = -1};
    return 0;
}

static int run_add_transfer(th_call *c)
{
    th_hand_built_task t = {.collective = NULL};
    th_timing timing;
    if (th_session_open_hand_built(c->session, &c->err) != 0 || parse_transfer(c, &t.task) != 0 ||
        th_timing_parse(c, TRANSFER_TIMING, &timing) != 0)
        return -1;
    t.task.release_ps = timing.at_ps;
    t.task.delay_ps = timing.delay_ps;
    t.after = timing.after;
    t.n_after = timing.n_after;
    int failed = th_call_add_task(c, &t);
    th_free(timing.after);
    return failed;
}

/* ---- add_compute ---- */

enum { COMPUTE_ON, COMPUTE_DURATION, COMPUTE_OPERATIONS, COMPUTE_BYTES, COMPUTE_AT, COMPUTE_AFTER };

static const th_option compute_options[] = {
    [COMPUTE_ON] = {"-on", TH_OPTION_TEXT, "ACCEL", "The accelerator: 3, accel/3.",
                    .required = true},
    [COMPUTE_DURATION] = {"-duration", TH_OPTION_TIME, "TIME", "How long it takes."},
    [COMPUTE_OPERATIONS] = {"-operations", TH_OPTION_INTEGER, "N",
                            "Instead of -duration: operations (a multiply-accumulate is two) at "
                            "the accelerator's peak, with its first design, on 16-bit data.",
                            1, INT64_C(1) << 60},
    [COMPUTE_BYTES] = {"-bytes", TH_OPTION_BYTES, "SIZE",
                       "Bytes that these operations move to or from the accelerator's DRAM (0); "
                       "the longer of both times counts."},
    [COMPUTE_AT] = {"-at", TH_OPTION_TIME, "TIME", "Starts no earlier than this time (0)."},
    [COMPUTE_AFTER] = {"-after", TH_OPTION_TEXT, "TASKS",
                       "Starts when all of these have ended: {task/0 task/3}."},
    {.name = NULL},
};

static int parse_accel(th_call *c, int option)
{
    int node = th_node_parse(c->session, th_call_text(c, option, ""), &c->err);
    if (node < 0)
        return th_call_prefix_error(c, "-on", &c->err);
    if (c->session->system->nodes[node].kind != TH_NODE_ACCEL)
        return th_error_set(&c->err, "TCL-0805", "-on \"%s\": must be an accelerator",
                            th_call_text(c, option, ""));
    return node;
}

/* The time of the operations and bytes on the accelerator of a node. */
static int roofline(th_call *c, int node, th_fixed_work *w)
{
    const th_system *s = c->session->system;
    double operations_per_s, bytes_per_s;
    th_compute_cost_cache *costs = th_compute_cost_cache_new(s, &c->err);
    int status = costs ? th_compute_cost_roofline(costs, s->nodes[node].accel, &operations_per_s,
                                                  &bytes_per_s, &c->err)
                       : -1;
    th_compute_cost_cache_free(costs);
    if (status != 0)
        return -1;
    double s_of_work =
        fmax((double)w->operations / operations_per_s, (double)w->bytes / bytes_per_s);
    double ps = ceil(s_of_work * (double)TH_PS_PER_S);
    if (!(ps < 0x1p60))
        return th_error_set(&c->err, "TCL-0806",
                            "-operations and -bytes take longer than 13 days: less was expected");
    w->duration_ps = (th_time)fmax(ps, 1);
    return 0;
}

static int parse_work(th_call *c, int node, th_fixed_work *w)
{
    bool has_duration = th_call_has(c, COMPUTE_DURATION);
    *w = (th_fixed_work){.duration_ps = th_call_number(c, COMPUTE_DURATION, 0),
                         .operations = th_call_number(c, COMPUTE_OPERATIONS, 0),
                         .bytes = th_call_number(c, COMPUTE_BYTES, 0)};
    if (has_duration == th_call_has(c, COMPUTE_OPERATIONS) ||
        (has_duration && th_call_has(c, COMPUTE_BYTES)))
        return th_error_set(
            &c->err, "TCL-0807",
            "either -duration, or -operations with or without -bytes, was expected");
    if (!has_duration)
        return roofline(c, node, w);
    return w->duration_ps > 0
               ? 0
               : th_error_set(&c->err, "TCL-0808", "-duration: must be greater than zero");
}

static int run_add_compute(th_call *c)
{
    th_fixed_work work;
    th_timing timing = {.n_after = 0};
    if (th_session_open_hand_built(c->session, &c->err) != 0)
        return -1;
    int node = parse_accel(c, COMPUTE_ON);
    if (node < 0 || parse_work(c, node, &work) != 0 ||
        parse_after(c, COMPUTE_AFTER, &timing) != 0) {
        th_free(timing.after);
        return -1;
    }
    th_hand_built_task t = {.task = {.kind = TH_TASK_COMPUTE,
                                     .node = node,
                                     .peer = -1,
                                     .release_ps = th_call_number(c, COMPUTE_AT, 0),
                                     .layer = -1},
                            .work = &work,
                            .after = timing.after,
                            .n_after = timing.n_after};
    int failed = th_call_add_task(c, &t);
    th_free(timing.after);
    return failed;
}

/* ---- save_program ---- */

static int run_save_program(th_call *c)
{
    const char *name = th_call_word(c, 0);
    if (check_name(c, "a program", name) != 0 ||
        th_saved_program_add(c->session, name, &c->err) != 0)
        return -1;
    th_call_return_text(c, name);
    return 0;
}

/* ---- add_job ---- */

enum { JOB_NAME, JOB_START, JOB_RANKS };

static const th_option job_options[] = {
    [JOB_NAME] = {"-name", TH_OPTION_TEXT, "NAME", "Its name in reports (that of the program)."},
    [JOB_START] = {"-start", TH_OPTION_TIME, "TIME", "Its tasks start no earlier (0)."},
    [JOB_RANKS] = {"-ranks", TH_OPTION_TEXT, "ACCELS",
                   "The accelerators that take the place of those that the program uses, in the "
                   "order of their numbers: {8-15}, {0 2 accel/4} (these themselves)."},
    {.name = NULL},
};

static int add_rank(th_call *c, th_job_request *q, int32_t *nodes, int32_t node)
{
    for (int32_t i = 0; i < q->n; i++)
        if (nodes[i] == node)
            return th_error_set(&c->err, "TCL-0936", "-ranks: accel/%s is there twice",
                                c->session->system->nodes[node].name);
    nodes[q->n++] = node;
    return 0;
}

/* "8-15": accelerators by number. */
static bool is_range(const char *text, int64_t *first, int64_t *last)
{
    enum { DIGITS_MAX = 9 };
    size_t n = strspn(text, "0123456789"),
           m = text[n] == '-' ? strspn(text + n + 1, "0123456789") : 0;
    if (n == 0 || n > DIGITS_MAX || m == 0 || m > DIGITS_MAX || text[n + 1 + m] != '\0')
        return false;
    *first = strtoll(text, NULL, 10);
    *last = strtoll(text + n + 1, NULL, 10);
    return true;
}

static int add_ranks(th_call *c, th_job_request *q, int32_t *nodes, const char *text)
{
    const th_system *s = c->session->system;
    int64_t first, last;
    if (is_range(text, &first, &last)) {
        if (first > last || last >= s->n_accels)
            return th_error_set(&c->err, "TCL-0937",
                                "-ranks \"%.40s\": must be a range within the accelerators, 0-%d",
                                text, s->n_accels - 1);
        for (; first <= last; first++)
            if (add_rank(c, q, nodes, s->accel_node[first]))
                return -1;
        return 0;
    }
    int node = th_node_parse(c->session, text, &c->err);
    if (node < 0)
        return th_call_prefix_error(c, "-ranks", &c->err);
    if (s->nodes[node].kind != TH_NODE_ACCEL)
        return th_error_set(&c->err, "TCL-0938", "-ranks \"%.40s\": must be an accelerator", text);
    return add_rank(c, q, nodes, node);
}

static int parse_ranks(th_call *c, th_job_request *q, int32_t *nodes)
{
    Tcl_Obj **words;
    Tcl_Size n;
    q->nodes = nodes;
    if (!th_call_has(c, JOB_RANKS))
        return 0;
    if (Tcl_ListObjGetElements(NULL, c->option[JOB_RANKS].word, &n, &words) != TCL_OK || n == 0)
        return th_error_set(&c->err, "TCL-0939",
                            "-ranks \"%.100s\": must be a list of accelerators",
                            th_call_text(c, JOB_RANKS, ""));
    for (Tcl_Size i = 0; i < n; i++)
        if (add_ranks(c, q, nodes, Tcl_GetString(words[i])))
            return -1;
    return 0;
}

static int run_add_job(th_call *c)
{
    th_session *s = c->session;
    th_job_request q = {.start_ps = th_call_number(c, JOB_START, 0)};
    if (th_session_open_hand_built(s, &c->err) != 0 ||
        !(q.program = th_saved_program_find(s, th_call_word(c, 0), &c->err)))
        return -1;
    q.name = th_call_text(c, JOB_NAME, q.program->name);
    if (check_name(c, "a job", q.name) != 0)
        return -1;
    int32_t *nodes = th_alloc_array((size_t)s->system->n_accels + 1, sizeof *nodes);
    int failed = !nodes                           ? th_error_no_memory(&c->err)
                 : parse_ranks(c, &q, nodes) != 0 ? -1
                                                  : th_job_add(s, &q, &c->err);
    th_free(nodes);
    if (!failed)
        th_call_return_text(c, q.name);
    return failed;
}

const th_command th_program_commands[] = {
    {"create_program", GROUP, "NAME", 1, 1, NULL,
     "begin a hand-built program, in place of a mapping",
     "Needs only a system. add_transfer, add_compute and add_collective fill it; run and the "
     "reports take it as "
     "they take a mapping. The previous workload, mapping and run are dropped; a new system or "
     "workload drops the program. Returns NAME.",
     .run = run_create_program, .not_while_running = true},
    {"add_transfer", GROUP, "", 0, 0, transfer_options, "add a transfer to the program",
     "Returns task/N. Refused once the program has begun to run, until restart.",
     .run = run_add_transfer, .ignores_run = true, .not_while_running = true},
    {"add_compute", GROUP, "", 0, 0, compute_options, "add a computation to the program",
     "An accelerator runs one computation at a time, of those that are ready the one that was "
     "added "
     "first. Its time is fixed: it does not share the DRAM with transfers. Returns task/N. Refused "
     "once the program has begun to run, until restart.",
     .run = run_add_compute, .ignores_run = true, .not_while_running = true},
    {"save_program", GROUP, "NAME", 1, 1, NULL, "keep a copy of what is simulated now, for add_job",
     "Of a hand-built program, a parallel plan, an execution trace (as traffic of its own) or a "
     "mapping (under the options of the present run, without its layers' names). A program of the "
     "same name is replaced. Programs are kept until another system is read. Returns NAME.",
     .run = run_save_program, .not_while_running = true},
    {"add_job", GROUP, "PROGRAM", 1, 1, job_options,
     "add a saved program to the program, as a job of its own",
     "A job has a name, a start and accelerators. Jobs share the links. They may share "
     "accelerators, too: one runs one computation at a time, of those that are ready that of the "
     "job that was added first. A mapping's task needs an accelerator with its design. Hosts stay "
     "the hosts that they are. report_jobs compares each with itself alone; report_links -by job "
     "tells what each sent. Returns the job's name. Refused once the program has begun to run, "
     "until restart.",
     .run = run_add_job, .ignores_run = true, .not_while_running = true},
    {.name = NULL},
};
