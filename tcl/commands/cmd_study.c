/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_study.c - create_study, read_study, run_study, report_study: sweeps over a design space. */
#include <config.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/open_file.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "report/interrupt.h"
#include "tcl/report_call.h"
#include "tcl/study/study_list.h"
#include "tcl/study/study_metric.h"
#include "tcl/study/study_run.h"
#include "tcl/study/study_table.h"
#include "tcl/warning.h"

#define GROUP "sweep"

/* ---- create_study, read_study ---- */

enum {
    CREATE_FILE,
    CREATE_PARAMETERS,
    CREATE_SCRIPT,
    CREATE_METRICS,
    CREATE_ZIP,
    CREATE_WHERE,
    CREATE_SEED
};

static const th_option create_options[] = {
    [CREATE_FILE] = {"-file", TH_OPTION_TEXT, "FILE",
                     "SQLite file for the study and its results. Missing folders are created.",
                     .required = true},
    [CREATE_PARAMETERS] = {"-parameters", TH_OPTION_TEXT, "{NAME VALUES NAME VALUES ...}",
                           "Variables of the script, each with a list of its values. Every "
                           "combination is a point; the last parameter varies fastest.",
                           .required = true},
    [CREATE_SCRIPT] =
        {"-script", TH_OPTION_TEXT, "SCRIPT",
         "Script that is run for each point, in an interpreter of its own: it creates a system and "
         "runs something on it. $point is the number of the point, $seed its random seed.",
         .required = true},
    [CREATE_METRICS] =
        {"-metrics", TH_OPTION_TEXT, "{METRIC ...}",
         "Figures to record: latency, makespan, throughput (samples per second), batch_throughput, "
         "link_utilization, accel_utilization, moved, energy, model_error (the largest that is "
         "known of its models) of the run; {NAME KIND}: a value in "
         "the dictionary that the script returns, KIND being count, number, time, bytes, "
         "bandwidth, rate, share, energy or text.",
         .choice = th_study_metric_name, .required = true},
    [CREATE_ZIP] = {"-zip", TH_OPTION_TEXT, "{NAME NAME ...}",
                    "Parameters that advance together; a list of lists for several groups."},
    [CREATE_WHERE] = {"-where", TH_OPTION_TEXT, "EXPRESSION",
                      "Tcl expression of parameters ({$topology ne \"ring\" || $batch < 4}): only "
                      "points for which it holds."},
    [CREATE_SEED] = {"-seed", TH_OPTION_INTEGER, "N",
                     "Seed from which $seed of each point is derived (1).", 0, INT64_MAX},
    {.name = NULL},
};

/* The absolute path for the C library; the caller drops it. One that will be refused stays as it
 * is: the message does not tell where links lead. NULL: error in err. */
static Tcl_Obj *whole_path(th_call *c, Tcl_Obj *word)
{
    bool is_granted = th_file_may(Tcl_GetString(word), false);
    Tcl_Obj *path = is_granted ? Tcl_FSGetNormalizedPath(c->interp, word) : word;
    if (!path)
        th_error_set(&c->err, "STUDY-0080", "-file \"%.200s\": is no path", Tcl_GetString(word));
    else
        Tcl_IncrRefCount(path);
    return path;
}

static th_store *make_store(th_call *c, const th_study *study, const char *path)
{
    int64_t *cells = NULL, n = 0;
    th_store *t = NULL;
    if (th_study_cells(c->session, study, &cells, &n, &c->err) == 0 &&
        th_session_make_folder_of(c->session, path, &c->err) == 0)
        t = th_store_create(path, study, cells, n, &c->err);
    th_free(cells);
    return t;
}

/* An existing study is continued, if it is the same. */
static th_store *open_store(th_call *c, const th_study *study, const char *path)
{
    th_store *t = th_store_open(path, th_interrupt_is_pending, &c->err);
    if (!t || th_study_compare(th_store_study(t), study, &c->err) == 0)
        return t;
    th_store_close(t);
    return NULL;
}

static int create_study(th_call *c, const th_study *study, const char *path)
{
    th_store *t = th_store_exists(path) ? open_store(c, study, path) : make_store(c, study, path);
    if (!t)
        return -1;
    th_store_close(t);
    if (th_studies_add(c->session, study->name, path, true, &c->err) != 0)
        return -1;
    th_call_return_text(c, study->name);
    return 0;
}

static int run_create_study(th_call *c)
{
    const th_study_words words = {.name = th_call_word(c, 0),
                                  .parameters = c->option[CREATE_PARAMETERS].word,
                                  .zip = c->option[CREATE_ZIP].word,
                                  .metrics = c->option[CREATE_METRICS].word,
                                  .where = th_call_text(c, CREATE_WHERE, NULL),
                                  .script = th_call_text(c, CREATE_SCRIPT, ""),
                                  .seed = th_call_number(c, CREATE_SEED, 1)};
    th_study *study = th_study_of_words(&words, &c->err);
    Tcl_Obj *path = study ? whole_path(c, c->option[CREATE_FILE].word) : NULL;
    int failed = path ? create_study(c, study, Tcl_GetString(path)) : -1;
    if (path)
        Tcl_DecrRefCount(path);
    th_study_free(study);
    return failed;
}

static int run_read_study(th_call *c)
{
    Tcl_Obj *path = whole_path(c, c->words[0]);
    if (!path)
        return -1;
    th_store *t = th_store_open(Tcl_GetString(path), th_interrupt_is_pending, &c->err);
    int failed =
        t ? th_studies_add(c->session, th_store_study(t)->name, Tcl_GetString(path), false, &c->err)
          : -1;
    if (!failed)
        th_call_return_text(c, th_store_study(t)->name);
    th_store_close(t);
    Tcl_DecrRefCount(path);
    return failed;
}

/* ---- run_study ---- */

enum { RUN_THREADS, RUN_LIMIT, RUN_SECONDS, RUN_RETRY, RUN_TRUST };
enum { SECONDS_MAX = 366 * 24 * 3600 };

static const th_option run_options[] = {
    [RUN_THREADS] = {"-threads", TH_OPTION_INTEGER, "N",
                     "Points to run at the same time (that of set_threads; with tharsis-mpi, 1 "
                     "besides one on every other rank).",
                     1, 1024},
    [RUN_LIMIT] = {"-limit", TH_OPTION_INTEGER, "N", "Maximum number of points to run.", 1,
                   INT64_MAX},
    [RUN_SECONDS] = {"-seconds", TH_OPTION_INTEGER, "N",
                     "Limit of wall time per point: one that takes longer is recorded as failed, "
                     "which depends on the speed of the machine. Default: no limit.",
                     1, SECONDS_MAX},
    [RUN_RETRY] = {"-retry", TH_OPTION_FLAG, NULL, "Runs failed points again."},
    [RUN_TRUST] = {"-trust", TH_OPTION_FLAG, NULL,
                   "The script of a study that read_study opened may do all that Tcl can, and open "
                   "files; without it, it runs in safe interpreters."},
    {.name = NULL},
};

typedef struct {
    int64_t point;
    char error[TH_ERROR_TEXT_MAX]; /* cut */
} first_failure;

static int keep_failure(void *state, const th_study_point *p)
{
    first_failure *f = state;
    if (p->state != TH_POINT_FAILED)
        return 0;
    f->point = p->number;
    snprintf(f->error, sizeof f->error, "%s", p->error);
    return 1;
}

/* Failed points print nothing during the run, so they are reported at its end, with those of
 * earlier calls. */
static int report_outcome(th_call *c, th_store *t, const th_study_options *o, th_study_end end)
{
    int64_t n[TH_N_POINT_STATES];
    first_failure first = {.point = 0};
    if (th_store_counts(t, n, &c->err) != 0 ||
        (n[TH_POINT_FAILED] > 0 && th_store_read(t, keep_failure, &first, &c->err) < 0))
        return -1;
    if (n[TH_POINT_FAILED] > 0)
        th_warn(c, "STUDY-0090",
                "%lld of %lld points failed, the first of them point %lld: %s; report_study lists "
                "them, -retry runs them again%s",
                (long long)n[TH_POINT_FAILED],
                (long long)(n[TH_POINT_WAITING] + n[TH_POINT_DONE] + n[TH_POINT_FAILED]),
                (long long)first.point, first.error,
                o->is_safe ? ", -trust lets the script of this file use exec, open and files" : "");
    if (end == TH_STUDY_LIMIT)
        th_call_return_text(c, "limit");
    else if (n[TH_POINT_FAILED] > 0)
        Tcl_SetObjResult(c->interp, Tcl_ObjPrintf("failed %" TCL_LL_MODIFIER "d",
                                                  (Tcl_WideInt)n[TH_POINT_FAILED]));
    else
        th_call_return_text(c, "done");
    return 0;
}

static int run_run_study(th_call *c)
{
    int usual = th_tcl_of(c->session)->mailbox ? 1 : c->session->threads;
    const th_study_options o = {.threads = (int)th_call_number(c, RUN_THREADS, usual),
                                .limit = th_call_number(c, RUN_LIMIT, INT64_MAX),
                                .seconds = th_call_number(c, RUN_SECONDS, 0),
                                .retries = th_call_has(c, RUN_RETRY),
                                .is_safe = !th_call_has(c, RUN_TRUST) &&
                                           !th_studies_is_own(c->session, th_call_word(c, 0))};
    th_study_end end = TH_STUDY_DONE;
    if (th_tcl_of(c->session)->is_in_study)
        return th_error_set(&c->err, "STUDY-0081", "refused in the script of a study");
    th_store *t = th_studies_open(c->session, th_call_word(c, 0), &c->err);
    int failed = t ? th_study_run(c->session, t, &o, &end, &c->err) : -1;
    if (!failed && end != TH_STUDY_INTERRUPTED)
        failed = report_outcome(c, t, &o, end);
    th_store_close(t);
    if (failed)
        return -1;
    return end == TH_STUDY_INTERRUPTED ? th_call_cancel(c, "interrupted; run_study goes on") : 0;
}

/* ---- report_study ---- */

enum {
    STUDY_WHERE = REPORT_N_OPTIONS,
    STUDY_PARETO,
    STUDY_MAXIMIZE,
    STUDY_COLUMNS,
    STUDY_INCREASING
};

static const th_option report_options[] = {
    TABLE_OPTIONS,
    [STUDY_WHERE] = {"-where", TH_OPTION_TEXT, "EXPRESSION",
                     "Tcl expression of parameters, as written in create_study, and metrics, with "
                     "their units ({$batch > 1 && $latency_ps < 2e9}): only points for which it "
                     "holds; it does not hold if a value is missing."},
    [STUDY_PARETO] = {"-pareto", TH_OPTION_TEXT, "{COLUMN ...}",
                      "Only the Pareto front: points that no other dominates in these columns, "
                      "where less is better."},
    [STUDY_MAXIMIZE] = {"-maximize", TH_OPTION_TEXT, "{COLUMN ...}",
                        "Columns of -pareto where more is better."},
    [STUDY_COLUMNS] = {"-columns", TH_OPTION_TEXT, "{COLUMN ...}",
                       "Only these columns, in this order."},
    [STUDY_INCREASING] = {"-increasing", TH_OPTION_FLAG, NULL,
                          "-sort_by: numbers from small to large instead."},
    {.name = NULL},
};

static int arrange(th_call *c, th_table *t)
{
    if (!th_call_has(c, STUDY_INCREASING))
        return th_report_arrange(c, t);
    if (!th_call_has(c, REPORT_SORT_BY))
        return th_error_set(&c->err, "STUDY-0082", "-increasing: is for -sort_by");
    int column = th_table_column(t, "-sort_by", th_call_text(c, REPORT_SORT_BY, ""), &c->err);
    if (column < 0)
        return -1;
    th_table_sort_up(t, column);
    th_table_limit(t, th_call_number(c, REPORT_LIMIT, INT64_MAX));
    return 0;
}

static int fill_report(th_call *c, th_report *r, th_store *store)
{
    const th_study_selection what = {.where = th_call_text(c, STUDY_WHERE, NULL),
                                     .interp = c->interp,
                                     .columns = c->option[STUDY_COLUMNS].word,
                                     .pareto = c->option[STUDY_PARETO].word,
                                     .maximize = c->option[STUDY_MAXIMIZE].word};
    th_table *t;
    if (th_study_table(r, store, &what, &t, &c->err) != 0 ||
        th_study_head(r, store, &what, t, &c->err) != 0 || arrange(c, t) != 0)
        return -1;
    return th_report_format(c) == TH_FORMAT_TEXT ? th_study_failures(r, store, &c->err) : 0;
}

static int run_report_study(th_call *c)
{
    th_store *store = th_studies_open(c->session, th_call_word(c, 0), &c->err);
    if (!store)
        return -1;
    th_report *r = th_report_new("study", "Study");
    int failed = r ? fill_report(c, r, store) : th_error_no_memory(&c->err);
    th_store_close(store);
    return r ? th_report_finish(c, r, failed, NULL) : -1;
}

const th_command th_study_commands[] = {
    {"create_study", GROUP, "NAME", 1, 1, create_options,
     "define a sweep over parameters, in a file",
     "Returns NAME. If FILE already holds a study, it must have the same options and version of "
     "Tharsis; its results are kept, and run_study continues it. Nothing is run yet.",
     .run = run_create_study, .after_interrupt = "no study was made"},
    {"read_study", GROUP, "FILE", 1, 1, NULL, "open the study in an SQLite file",
     "Returns its name. The file contains parameters, script, metrics and results. run_study runs "
     "that script in safe interpreters, without exec, open, source or files of its choice, unless "
     "it is told to trust it.",
     .run = run_read_study},
    {"run_study", GROUP, "STUDY", 1, 1, run_options, "run the waiting points of a study",
     "Returns why it ended: done (all points succeeded), failed N (all points ended, N of them "
     "failed) or limit. Each result is in the file at most 50 ms after its point has ended, so "
     "after any interruption, even kill -9, run_study continues with the waiting points. A failed "
     "point is recorded with its message, and the others continue; a warning at the end gives the "
     "number of failed points, and the first error. No result depends on -threads or on the order "
     "in which points end. Output and warnings of scripts are discarded; scripts must not call "
     "exit or cd. Ctrl-C stops the running points, which wait again.",
     .run = run_run_study, .not_while_running = true},
    {"report_study", GROUP, "STUDY", 1, 1, report_options,
     "print the points of a study, or its Pareto front",
     "Other processes may run the study meanwhile.", .run = run_report_study, .is_report = true},
    {.name = NULL},
};
