/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_program.c - hand-built programs: create_program, add_transfer, add_compute, save_program,
 * add_job; programs of execution traces: read_program, write_program, report_ranks.
 *   create_program -> (add_transfer | add_compute)* -> run
 * All options of a task are checked before the task is added. */
#include <config.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/objects/object_name.h"
#include "session/objects/objects.h"
#include "session/jobs.h"
#include "tcl/program_options.h"
#include "sim/execution_trace/program_trace.h"
#include "tcl/report_call.h"
#include "tcl/warning.h"
#include "topology/files/astra.h"
#include "workloads/trace/trace_custom.h"
#include "workloads/trace/trace_read.h"
#include "workloads/trace/trace_write.h"
#include <math.h>
#include <string.h>

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
    if (check_name(c, "a program", name) != 0)
        return -1;
    th_hand_built *made = th_hand_built_new(name, &c->err);
    if (!made)
        return -1;
    th_session_set_hand_built(s, made);
    th_call_return_text(c, name);
    return 0;
}

/* ---- all tasks ---- */

int th_call_add_task(th_call *c, int first, th_hand_built_task *t)
{
    t->task.release_ps = th_call_number(c, first + TH_TIMING_AT, 0);
    t->after = c->option[first + TH_TIMING_AFTER].indices;
    t->n_after = c->option[first + TH_TIMING_AFTER].n;
    int32_t number = th_hand_built_add(c->session->hand_built, t, &c->err);
    if (number < 0)
        return -1;
    Tcl_SetObjResult(c->interp, th_object_name(c->session, (th_object){TH_CLASS_TASK, number}));
    return 0;
}

/* ---- add_transfer ---- */

enum { TRANSFER_FROM, TRANSFER_TO, TRANSFER_BYTES, TRANSFER_TIMING };

static const th_option transfer_options[] = {
    [TRANSFER_FROM] = {"-from", TH_OPTION_NODE, "NODE", "The sender: 0, accel/0, node/host.",
                       .required = true},
    [TRANSFER_TO] = {"-to", TH_OPTION_NODE, "NODE", "The receiver, another node.",
                     .required = true},
    [TRANSFER_BYTES] = {"-bytes", TH_OPTION_BYTES, "SIZE",
                        "Payload; 0 takes only the latencies of the route.", .required = true,
                        .maximum = TH_HAND_BUILT_BYTES_MAX},
    TH_TIMING_OPTIONS(TRANSFER_TIMING),
    {.name = NULL},
};

static int run_add_transfer(th_call *c)
{
    int from = (int)c->option[TRANSFER_FROM].number, to = (int)c->option[TRANSFER_TO].number;
    if (from == to)
        return th_error_set(&c->err, "TCL-0163",
                            "-from and -to are both \"%s\": nothing would cross a link",
                            c->session->system->nodes[from].name);
    th_hand_built_task t = {
        .task = {.kind = TH_TASK_TRANSFER,
                 .node = from,
                 .peer = to,
                 .compute_cost = -1,
                 .bytes = th_call_number(c, TRANSFER_BYTES, 0),
                 .delay_ps = th_call_number(c, TRANSFER_TIMING + TH_TIMING_DELAY, 0),
                 .layer = -1}};
    return th_call_add_task(c, TRANSFER_TIMING, &t);
}

/* ---- add_compute ---- */

enum { COMPUTE_ON, COMPUTE_DURATION, COMPUTE_OPERATIONS, COMPUTE_BYTES, COMPUTE_AT, COMPUTE_AFTER };

static const th_option compute_options[] = {
    [COMPUTE_ON] = {"-on", TH_OPTION_NODE, "ACCEL", "The accelerator: 3, accel/3.",
                    .required = true, .classes = TH_BIT(TH_CLASS_ACCEL)},
    [COMPUTE_DURATION] = {"-duration", TH_OPTION_TIME, "TIME", "How long it takes.", .minimum = 1,
                          .required = true, .unless = "-operations",
                          .without = "-operations -bytes"},
    [COMPUTE_OPERATIONS] = {"-operations", TH_OPTION_INTEGER, "N",
                            "Instead of -duration: operations (a multiply-accumulate is two) at "
                            "the accelerator's peak, with its first design, on 16-bit data.",
                            1, INT64_C(1) << 60},
    [COMPUTE_BYTES] = {"-bytes", TH_OPTION_BYTES, "SIZE",
                       "Bytes that these operations move to or from the accelerator's DRAM (0); "
                       "the longer of both times counts.",
                       .with = "-operations"},
    [COMPUTE_AT] = {"-at", TH_OPTION_TIME, "TIME", "Starts no earlier than this time (0)."},
    [COMPUTE_AFTER] = TH_AFTER_OPTION,
    {.name = NULL},
};

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
                            "-operations and -bytes: must take at most 13 days");
    w->duration_ps = (th_time)fmax(ps, 1);
    return 0;
}

static int parse_work(th_call *c, int node, th_fixed_work *w)
{
    *w = (th_fixed_work){.duration_ps = th_call_number(c, COMPUTE_DURATION, 0),
                         .operations = th_call_number(c, COMPUTE_OPERATIONS, 0),
                         .bytes = th_call_number(c, COMPUTE_BYTES, 0)};
    return w->operations > 0 ? roofline(c, node, w) : 0;
}

static int run_add_compute(th_call *c)
{
    th_fixed_work work;
    int node = (int)c->option[COMPUTE_ON].number;
    if (parse_work(c, node, &work) != 0)
        return -1;
    th_hand_built_task t = {
        .task = {.kind = TH_TASK_COMPUTE, .node = node, .peer = -1, .layer = -1}, .work = &work};
    return th_call_add_task(c, COMPUTE_AT, &t);
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
    [JOB_RANKS] =
        {"-ranks", TH_OPTION_NODE, "ACCELS", .least = 1, .most = TH_MANY,
         .classes = TH_BIT(TH_CLASS_ACCEL), .is_distinct = true,
         .help = "The accelerators that take the place of those that the program uses, in the "
                 "order of their numbers: {8-15}, {0 2 accel/4} (these themselves)."},
    {.name = NULL},
};

static int run_add_job(th_call *c)
{
    th_session *s = c->session;
    th_job_request q = {.start_ps = th_call_number(c, JOB_START, 0)};
    if (!(q.program = th_saved_program_find(s, th_call_word(c, 0), &c->err)))
        return -1;
    q.name = th_call_text(c, JOB_NAME, q.program->name);
    if (check_name(c, "a job", q.name) != 0)
        return -1;
    q.nodes = c->option[JOB_RANKS].indices;
    q.n = c->option[JOB_RANKS].n;
    if (th_job_add(s, &q, &c->err) != 0)
        return -1;
    th_call_return_text(c, q.name);
    return 0;
}

/* ---- read_program ---- */

enum { READ_FORMAT, READ_GROUPS, READ_MEMORY, READ_ROOFLINE, READ_LENIENT };

static const th_option read_options[] = {
    [READ_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT",
                     "chakra: Chakra execution traces, as ASTRA-sim reads them.",
                     .names = TH_NAMES("chakra")},
    [READ_GROUPS] = {"-groups", TH_OPTION_TEXT, "FILE",
                     "The groups of ranks, by number: {\"1\": [0, 1], \"2\": [2, 3]}."},
    [READ_MEMORY] = {"-memory", TH_OPTION_TEXT, "FILE",
                     "The memory outside the accelerators that nodes load from and store to: "
                     "ASTRA-sim's memory.json."},
    [READ_ROOFLINE] = {"-roofline", TH_OPTION_CHOICE, "WHEN",
                       "Computations take what num_ops and tensor_size take at the accelerator's "
                       "peak and memory bandwidth (on), or what was measured (off); system (the "
                       "default): as system.json says, else off.",
                       .names = TH_NAMES([TH_ROOFLINE_OF_SYSTEM] = "system",
                                         [TH_ROOFLINE_OFF] = "off", [TH_ROOFLINE_ON] = "on")},
    [READ_LENIENT] = {"-lenient", TH_OPTION_FLAG, NULL,
                      "Leave out data dependencies on nodes that are not in the file, as control "
                      "dependencies always are, and let collectives without a known comm_type take "
                      "their measured duration."},
    {.name = NULL},
};

/* The native path of a file, from a word; NULL: none was given. */
static const char *path_of(Tcl_Obj *word)
{
    return word ? Tcl_FSGetNativePath(word) : NULL;
}

static int need_path(th_call *c, const char *path)
{
    return path ? 0
                : th_error_set(&c->err, "TCL-0802", "\"%s\": must be a path",
                               Tcl_GetString(c->words[0]));
}

/* NULL on failure. */
static th_trace *read_trace(const th_session *s, const th_trace_files *files, th_error *err)
{
    static const th_trace_collective kinds[TH_ASTRA_N_COLLECTIVES] = {
        [TH_ASTRA_ALL_REDUCE] = TH_TRACE_ALL_REDUCE,
        [TH_ASTRA_REDUCE_SCATTER] = TH_TRACE_REDUCE_SCATTER,
        [TH_ASTRA_ALL_GATHER] = TH_TRACE_ALL_GATHER,
        [TH_ASTRA_ALL_TO_ALL] = TH_TRACE_ALL_TO_ALL};
    const th_astra *a = s->system->astra;
    th_trace *t = th_trace_read(files, err);
    for (int i = 0; t && a && !a->is_replay_only && i < TH_ASTRA_N_COLLECTIVES; i++)
        if (a->custom[i][0] && th_trace_use_custom(t, kinds[i], a->custom[i], err) != 0) {
            th_trace_free(t);
            t = NULL;
        }
    return t;
}

static int run_read_program(th_call *c)
{
    th_session *s = c->session;
    th_trace_files files = {
        .prefix = path_of(c->words[0]),
        .groups = path_of(c->option[READ_GROUPS].word),
        .memory = path_of(c->option[READ_MEMORY].word),
        .is_lenient = th_call_has(c, READ_LENIENT),
    };
    th_strbuf notes = TH_STRBUF_INIT;
    if (need_path(c, files.prefix))
        return -1;
    th_trace *t = read_trace(s, &files, &c->err);
    if (t)
        th_trace_note(t, &notes);
    th_hand_built *made = t ? th_hand_built_of_trace(t, s->system,
                                                     (th_roofline_choice)th_call_number(
                                                         c, READ_ROOFLINE, TH_ROOFLINE_OF_SYSTEM),
                                                     &c->err)
                            : NULL;
    th_warn_notes(c, files.prefix, !made, &notes);
    if (!made)
        return -1;
    th_session_set_hand_built(s, made);
    th_call_return_text(c, made->name);
    return 0;
}

/* ---- write_program ---- */

static const th_option write_options[] = {
    {"-format", TH_OPTION_CHOICE, "FORMAT",
     "chakra: Chakra execution traces, as ASTRA-sim reads them.", .names = TH_NAMES("chakra")},
    {.name = NULL},
};

/* The program with what is known of its run. 0 or -1. */
static int describe_program(th_call *c, th_program_trace_options *o)
{
    th_session *s = c->session;
    bool has_run = s->simulation && th_machine_is_done(s->simulation->machine);
    if (th_session_need_program(s, &c->err) != 0)
        return -1;
    if ((!s->hand_built || s->hand_built->program->n_placed > 0) && !has_run)
        return th_error_set(&c->err, "TCL-0809",
                            "computations of a mapping take what they took in a run: run it to its "
                            "end first");
    o->system = s->system;
    o->workload = s->workload;
    if (has_run) {
        o->times = th_machine_times(s->simulation->machine);
        o->costs = th_simulation_costs(s->simulation);
    }
    o->program = s->hand_built ? s->hand_built->program : s->simulation->program;
    return s->hand_built ? th_program_finish(s->hand_built->program, &c->err) : 0;
}

static int write_made(th_call *c, const char *prefix)
{
    th_program_trace_options o = {.prefix = prefix};
    int64_t n_unordered;
    if (describe_program(c, &o))
        return -1;
    th_trace *t = th_trace_of_program(&o, &n_unordered, &c->err);
    int status = t ? th_trace_write(t, prefix, &c->err) : -1;
    th_trace_free(t);
    if (status == 0 && n_unordered > 0)
        th_warn(c, "TCL-0810",
                "%lld waits for a task of another rank have no message: ASTRA-sim does not know "
                "them",
                (long long)n_unordered);
    return status;
}

static int run_write_program(th_call *c)
{
    th_session *s = c->session;
    const char *prefix = path_of(c->words[0]);
    if (need_path(c, prefix) || th_session_make_folder_of(s, th_call_word(c, 0), &c->err))
        return -1;
    int status = s->hand_built && s->hand_built->trace
                     ? th_trace_write(s->hand_built->trace, prefix, &c->err)
                     : write_made(c, prefix);
    if (status == 0)
        th_call_return_text(c, th_call_word(c, 0));
    return status;
}

/* ---- report_ranks ---- */

const th_command th_program_commands[] = {
    {"create_program", GROUP, "NAME", 1, 1, NULL,
     "begin a hand-built program of tasks and transfers",
     "The program takes the place of a workload and its mapping; it needs a system alone. "
     "add_transfer, add_compute and add_collective fill it; run and the reports treat it like a "
     "mapping. The previous workload, mapping and run are dropped; a new system or workload drops "
     "the program. Returns NAME.",
     .run = run_create_program, .needs = {th_session_need_system, th_session_need_no_trace},
     .not_while_running = true},
    {"add_transfer", GROUP, "", 0, 0, transfer_options, "add a transfer to the program",
     "Returns task/N. Refused once the program has begun to run, until restart.",
     .run = run_add_transfer, .needs = {th_session_open_hand_built}, .ignores_run = true,
     .not_while_running = true},
    {"add_compute", GROUP, "", 0, 0, compute_options, "add a computation to the program",
     "An accelerator runs one computation at a time; of several that are ready, the one that was "
     "added first. Its duration is fixed: it does not share the DRAM with transfers. Returns "
     "task/N. Refused once the program has begun to run, until restart.",
     .run = run_add_compute, .needs = {th_session_open_hand_built}, .ignores_run = true,
     .not_while_running = true},
    {"save_program", GROUP, "NAME", 1, 1, NULL, "keep a copy of the present program, for add_job",
     "Keeps a hand-built program, a parallel plan, an execution trace (as traffic of its own), or "
     "a mapping (with the options of the present run, without the names of its layers). A program "
     "of the same name is replaced. Programs are kept until another system is read. Returns NAME.",
     .run = run_save_program, .not_while_running = true},
    {"add_job", GROUP, "PROGRAM", 1, 1, job_options, "add a saved program as a job of its own",
     "A job has a name, a start and accelerators. Jobs share the links, and may share "
     "accelerators: an accelerator runs one computation at a time; of several that are ready, that "
     "of the job that was added first. A task of a mapping needs an accelerator with its design. "
     "Hosts are not exchanged. report_jobs compares each job with the same job alone; report_links "
     "-by job says what each sent. Returns the job's name. Refused once the program has begun to "
     "run, until restart.",
     .run = run_add_job, .needs = {th_session_open_hand_built}, .ignores_run = true,
     .not_while_running = true},
    {"read_program", "program", "PREFIX", 1, 1, read_options,
     "read execution traces as the program",
     "Reads PREFIX.0.et, PREFIX.1.et ..., one file for each rank; of a folder, its rank.0.et, "
     "rank.1.et ... Rank N runs on accel/N, and task/N is the N-th node of all ranks, rank by rank "
     "and by id. Under run -network astra_aware and astra_unaware every node starts and ends when "
     "it does in ASTRA-sim; under the other networks messages and collectives share the links, and "
     "a collective begins when the last of its ranks is there, by the algorithm of system.json "
     "where that has one dimension, else by the fastest; report_collectives names it. The previous "
     "workload, mapping and "
     "run are dropped. Returns the prefix.",
     .run = run_read_program, .needs = {th_session_need_system, th_session_need_no_trace},
     .not_while_running = true},
    {"write_program", "program", "PREFIX", 1, 1, write_options,
     "write the program as execution traces",
     "Writes PREFIX.0.et, PREFIX.1.et ..., one file for each accelerator, and PREFIX.groups.json "
     "where collectives have groups: all of them, or none. A program that read_program read is "
     "written as it was read. Of any other, each node has the number of its task as its id; "
     "computations take what they took in the run, which a mapping needs first; transfers and "
     "collectives are simulated again where the trace is read. What a trace cannot express is an "
     "error that names the task. Changes by set_property and inject_fault are not written. Missing "
     "folders are created. Returns PREFIX.",
     .run = run_write_program, .needs = {th_session_need_system}, .not_while_running = true},
    {"report_ranks", "report", "", 0, 0, th_table_options,
     "print when each rank finished, and what it waited for",
     "Exposed is the time of the finish less the time that the accelerator computed. For a rank "
     "that has not finished, and for messages that nobody receives, the report says which node "
     "waits for what.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
