/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_trace_program.c - execution traces as programs: read_program, report_ranks. */
#include <config.h>
#include "report/sections/sections.h"
#include "tcl/command.h"
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"
#include "workloads/trace/trace_read.h"

/* ---- read_program ---- */

enum { READ_FORMAT, READ_GROUPS, READ_MEMORY, READ_ROOFLINE };

static const char *format_name(int i)
{
    return i == 0 ? "chakra" : NULL;
}

static const char *roofline_name(int i)
{
    static const char *const names[] = {[TH_ROOFLINE_OF_SYSTEM] = "system",
                                        [TH_ROOFLINE_OFF] = "off",
                                        [TH_ROOFLINE_ON] = "on",
                                        NULL};
    return names[i];
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
                       .choice = roofline_name},
    {.name = NULL},
};

/* The native path of a file, from a word; NULL: none was given. */
static const char *path_of(Tcl_Obj *word)
{
    return word ? Tcl_FSGetNativePath(word) : NULL;
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
    if (!files.prefix)
        return th_error_set(&c->err, "TCL-0802", "\"%s\": must be a path",
                            Tcl_GetString(c->words[0]));
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
     "a collective begins when the last of its ranks is there. The previous workload, mapping and "
     "run are dropped. Returns the prefix.",
     .run = run_read_program, .not_while_running = true},
    {"report_ranks", "report", "", 0, 0, table_options, "print when each rank of a trace finished",
     "Exposed: the time of the finish less what the accelerator computed. Of a rank that has not "
     "finished, and of messages that nobody receives: which node waits for what.",
     .run = run_report_ranks, .is_report = true},
    {.name = NULL},
};
