/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_trace_program.c - execution traces as programs: read_program, write_program,
 * report_ranks. */
#include <config.h>
#include "sim/execution_trace/program_trace.h"
#include "report/sections/sections.h"
#include "tcl/command.h"
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"
#include "workloads/trace/trace_read.h"
#include "workloads/trace/trace_write.h"

/* ---- read_program ---- */

enum { READ_FORMAT, READ_GROUPS, READ_MEMORY, READ_ROOFLINE };

static const char *format_name(int i)
{
    return i == 0 ? "chakra" : NULL;
}

static const th_option read_options[] = {
    [READ_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT",
                     "chakra: Chakra execution traces, as ASTRA-sim reads them.",
                     .choice = format_name},
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

static int run_read_program(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_system(s, &c->err) != 0 || th_session_need_no_trace(s, &c->err) != 0)
        return -1;
    th_trace_files files = {
        .prefix = path_of(c->words[0]),
        .groups = path_of(c->option[READ_GROUPS].word),
        .memory = path_of(c->option[READ_MEMORY].word),
    };
    if (need_path(c, files.prefix))
        return -1;
    th_trace *t = th_trace_read(&files, &c->err);
    th_hand_built *made = t ? th_hand_built_of_trace(t, s->system,
                                                     (th_roofline_choice)th_call_number(
                                                         c, READ_ROOFLINE, TH_ROOFLINE_OF_SYSTEM),
                                                     &c->err)
                            : NULL;
    if (!made)
        return -1;
    th_session_set_hand_built(s, made);
    th_call_return_text(c, made->name);
    return 0;
}

/* ---- write_program ---- */

static const th_option write_options[] = {
    {"-format", TH_OPTION_CHOICE, "FORMAT",
     "chakra: Chakra execution traces, as ASTRA-sim reads them.", .choice = format_name},
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
    if (need_path(c, prefix) || th_session_need_system(s, &c->err) ||
        th_session_make_folder_of(s, th_call_word(c, 0), &c->err))
        return -1;
    int status = s->hand_built && s->hand_built->trace
                     ? th_trace_write(s->hand_built->trace, prefix, &c->err)
                     : write_made(c, prefix);
    if (status == 0)
        th_call_return_text(c, th_call_word(c, 0));
    return status;
}

/* ---- report_ranks ---- */

static const th_option table_options[] = {TABLE_OPTIONS, {.name = NULL}};

static int run_report_ranks(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    if (!s->hand_built || !s->hand_built->trace)
        return th_error_set(&c->err, "TCL-0803",
                            "what ran is no execution trace: read_program reads one");
    return th_report_run(c, "ranks", "Ranks", th_section_ranks, true);
}

const th_command th_trace_program_commands[] = {
    {"read_program", "program", "PREFIX", 1, 1, read_options,
     "read execution traces, in place of a mapping",
     "Reads PREFIX.0.et, PREFIX.1.et ..., one file for each rank; of a folder, its rank.0.et, "
     "rank.1.et ... Rank N runs on accel/N, and task/N is the N-th node of all ranks, rank by rank "
     "and by id. Under run -network astra_aware and astra_unaware every node starts and ends when "
     "it does in ASTRA-sim; under the other networks messages and collectives share the links, and "
     "a collective begins when the last of its ranks is there, by the algorithm of system.json "
     "where that has one dimension, else by the fastest; report_collectives names it. The previous "
     "workload, mapping and "
     "run are dropped. Returns the prefix.",
     .run = run_read_program, .not_while_running = true},
    {"write_program", "program", "PREFIX", 1, 1, write_options,
     "write the program as execution traces",
     "Writes PREFIX.0.et, PREFIX.1.et ..., one file for each accelerator, and PREFIX.groups.json "
     "where collectives have groups: all of them, or none. A program that read_program read is "
     "written as it was read. Of any other, each node has the number of its task as its id; "
     "computations take what they took in the run, which a mapping needs first; transfers and "
     "collectives are simulated again where the trace is read. What a trace cannot express is an "
     "error that names the task. Changes by set_property and inject_fault are not written. Missing "
     "folders are created. Returns PREFIX.",
     .run = run_write_program, .not_while_running = true},
    {"report_ranks", "report", "", 0, 0, table_options, "print when each rank of a trace finished",
     "Exposed: the time of the finish less what the accelerator computed. Of a rank that has not "
     "finished, and of messages that nobody receives: which node waits for what.",
     .run = run_report_ranks, .is_report = true},
    {.name = NULL},
};
