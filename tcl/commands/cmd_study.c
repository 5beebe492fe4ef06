/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_study.c - create_study, read_study, run_study, report_study: sweeps over a design space, and
 * parallel_foreach. What they do is in lib/study*.tcl. */
#include <config.h>
#include "session/objects/figures.h"
#include "tcl/command.h"
#include "tcl/report_call.h"
#include "tcl/tcl_session.h"

#define GROUP "sweep"

/* ---- create_study, read_study ---- */

static const th_option create_options[] = {
    {"-file", TH_OPTION_TEXT, "FILE",
     "SQLite file for the study and its results. Missing folders are created.", .required = true},
    {"-parameters", TH_OPTION_TEXT, "{NAME VALUES NAME VALUES ...}",
     "Variables of the script, each with a list of its values. Every "
     "combination is a point; the last parameter varies fastest.",
     .required = true},
    {"-script", TH_OPTION_TEXT, "SCRIPT",
     "Script that is run for each point, in an interpreter of its own: it creates a system and "
     "runs something on it. $point is the number of the point, $seed its random seed.",
     .required = true},
    {"-metrics", TH_OPTION_TEXT, "{METRIC ...}",
     "Figures to record: latency, makespan, throughput (samples per second), batch_throughput, "
     "link_utilization, accel_utilization, moved, energy, model_error (the largest that is known "
     "of its models) and other numbers of the run (query run -tables); {NAME KIND}: a value in the "
     "dictionary that the script returns, KIND being count, number, time, bytes, bandwidth, rate, "
     "share, energy or text.",
     .choice = th_run_figure_name, .required = true},
    {"-zip", TH_OPTION_TEXT, "{NAME NAME ...}",
     "Parameters that advance together; a list of lists for several groups."},
    {"-where", TH_OPTION_TEXT, "EXPRESSION",
     "Tcl expression of parameters ({$topology ne \"ring\" || $batch < 4}): only "
     "points for which it holds."},
    {"-seed", TH_OPTION_INTEGER, "N", "Seed from which $seed of each point is derived (1).", 0,
     INT64_MAX},
    {.name = NULL},
};

/* ---- run_study ---- */

enum { SECONDS_MAX = 366 * 24 * 3600 };

static const th_option run_options[] = {
    {"-threads", TH_OPTION_INTEGER, "N",
     "Points to run at the same time (that of set_threads; with tharsis-mpi, 1 "
     "besides one on every other rank).",
     1, 1024},
    {"-limit", TH_OPTION_INTEGER, "N", "Maximum number of points to run.", 1, INT64_MAX},
    {"-seconds", TH_OPTION_INTEGER, "N",
     "Limit of wall time per point: one that takes longer is recorded as failed, "
     "which depends on the speed of the machine. Default: no limit.",
     1, SECONDS_MAX},
    {"-retry", TH_OPTION_FLAG, NULL, "Runs failed points again."},
    {"-pages", TH_OPTION_TEXT, "FOLDER",
     "Writes a page of each run, to which points of write_report FOLDER.html -study STUDY lead."},
    {"-trust", TH_OPTION_FLAG, NULL,
     "The script of a study that read_study opened may do all that Tcl can, and open "
     "files; without it, it runs in safe interpreters."},
    {.name = NULL},
};

static const th_option foreach_options[] = {
    {"-threads", TH_OPTION_INTEGER, "N",
     "Elements to work on at the same time (that of set_threads; with tharsis-mpi, 1 besides one "
     "on every other rank).",
     1, 1024},
    {"-set", TH_OPTION_TEXT, "{NAME VALUE ...}",
     "Variables that the script has besides; it knows no others of the session.", .most = TH_MANY,
     .is_pairs = true},
    {.name = NULL},
};

/* ---- report_study ---- */

static const th_option report_options[] = {
    TABLE_OPTIONS,
    {"-where", TH_OPTION_TEXT, "EXPRESSION",
     "Tcl expression of parameters, as written in create_study, and metrics, with "
     "their units ({$batch > 1 && $latency_ps < 2e9}): only points for which it "
     "holds; it does not hold if a value is missing."},
    {"-pareto", TH_OPTION_TEXT, "{COLUMN ...}",
     "Only the Pareto front: points that none dominates in these columns, where less is better.",
     .least = 1, .most = 24},
    {"-maximize", TH_OPTION_TEXT, "{COLUMN ...}", "Columns of -pareto where more is better.",
     .with = "-pareto", .least = 1, .most = 24},
    {"-columns", TH_OPTION_TEXT, "{COLUMN ...}", "Only these columns, in this order.", .least = 1,
     .most = 64},
    {.name = NULL},
};

const th_command th_study_commands[] = {
    {"create_study", GROUP, "NAME", 1, 1, create_options,
     "define a sweep over parameters, kept in a file",
     "Nothing runs yet; run_study runs the points. If FILE already holds a study, it must have the "
     "same options and the same version of Tharsis; its results are kept, and run_study continues "
     "it. Returns NAME.",
     .run = th_lib_run, .after_interrupt = "no study was made"},
    {"read_study", GROUP, "FILE", 1, 1, NULL, "open a study from its file",
     "The file holds the parameters, the script, the metrics and the results. run_study runs that "
     "script in safe interpreters, without exec, open, source or files of its choice, unless it is "
     "told to trust the script. Returns the study's name.",
     .run = th_lib_run},
    {"run_study", GROUP, "STUDY", 1, 1, run_options,
     "run the points of a study that have no result yet",
     "Returns why it ended: done (all points succeeded), failed N (all points ended, N of them "
     "failed) or limit. Each result is in the file at most 50 ms after its point has ended, so "
     "after any interruption, even kill -9, run_study continues with the waiting points. A failed "
     "point is recorded with its message, and the others continue; a warning at the end gives the "
     "number of failed points, and the first error. No result depends on -threads or on the order "
     "in which points end. Output and warnings of scripts are discarded; scripts must not call "
     "exit or cd. Ctrl-C stops the running points, which wait again.",
     .run = th_lib_run, .not_while_running = true},
    {"parallel_foreach", GROUP, "NAMES LIST SCRIPT", 3, 3, foreach_options,
     "run a script for each element of a list, in parallel",
     "As foreach, NAMES are one variable or a list of them, which take as many elements at a time. "
     "Each time the script runs in an interpreter and a session of its own, which know nothing of "
     "this session and of other elements; it must read or define the systems and procedures that "
     "it needs. Returns what the script returned each time, in the order of LIST, whatever "
     "-threads is. The first element whose script fails ends the command with its error, and no "
     "more are begun. Output and warnings of the scripts are discarded; they must not call exit or "
     "cd. With tharsis-mpi, other ranks work on elements too.",
     .run = th_lib_run, .not_while_running = true},
    {"report_study", GROUP, "STUDY", 1, 1, report_options,
     "print the points of a study, or its Pareto front",
     "The precision of the workloads stands in the head, or, where points differ, in a column. "
     "Other processes may run the study at the same time.",
     .run = th_lib_run, .is_report = true},
    {.name = NULL},
};
