/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path.c - the critical path of a run, the breakdown of its time, and the slack of tasks. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/sort_by_time.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/time_breakdown.h"
#include "session/sections/contention.h"
#include "base/interrupt.h"
#include "session/objects/objects.h"
#include "session/sections/sections.h"
#include "session/sections/verdict.h"

/* Columns of the path and of the list of slacks. */
enum {
    START,
    WAIT,
    DURATION,
    TASK,
    KIND,
    SLACK,
    CAUSE,
    AFTER,
    WHAT,
    BYTES,
    QUEUED,
    PARTS,
    N_COLUMNS = PARTS + TH_N_PARTS,
    CONTENDER = N_COLUMNS, /* of the path alone */
    N_PATH_COLUMNS = CONTENDER + TH_CONTENDER_CELLS
};

static const th_column path_columns[N_PATH_COLUMNS + 1] = {
    [START] = {"start", "start", TH_KIND_TIME},
    [WAIT] = {"wait", "wait", TH_KIND_TIME},
    [DURATION] = {"duration", "duration", TH_KIND_TIME},
    [TASK] = {"task", "task", TH_KIND_COUNT},
    [KIND] = {"kind", NULL, TH_KIND_TEXT},
    [SLACK] = {"slack", "slack", TH_KIND_TIME},
    [CAUSE] = {"cause", "cause", TH_KIND_TEXT},
    [AFTER] = {"after", "after", TH_KIND_COUNT},
    [WHAT] = {"what", "what", TH_KIND_TEXT},
    [BYTES] = {"bytes", NULL, TH_KIND_BYTES},
    [QUEUED] = {"queued", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_ARRAY] = {"array", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_MEMORY] = {"memory", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_LATENCY] = {"latency", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_LINK] = {"link", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_CONTENTION] = {"contention", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_FAULTS] = {"faults", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_SLOWDOWN] = {"slowdown", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_HOST] = {"host", NULL, TH_KIND_TIME},
    [PARTS + TH_PART_COLLECTIVE] = {"collective", NULL, TH_KIND_TIME},
    [CONTENDER] = {"contention_at", NULL, TH_KIND_TEXT},
    [CONTENDER + 1] = {"contention_by", NULL, TH_KIND_COUNT},
    [CONTENDER + 2] = {"contention_by_what", NULL, TH_KIND_TEXT},
    [CONTENDER + 3] = {"contention_overlap", NULL, TH_KIND_TIME},
    [CONTENDER + 4] = {"contention_others", NULL, TH_KIND_COUNT},
    [N_PATH_COLUMNS] = {NULL, NULL, TH_KIND_TEXT},
};

static void add_notes(th_table *t)
{
    th_table_note(
        t, "cause",
        "cause: what the task waited for last: data (a predecessor), engine (the task before it on "
        "its accelerator or host), arrival (of an input) or nothing (begin)");
    th_table_note(t, "after", "after: that task");
    th_table_note(t, "slack",
                  "slack: how much later it could have ended without moving the end of the run");
}

/* A run, its path, and the slacks of all tasks. */
typedef struct th_path_analysis {
    th_session *session;
    const th_result *result;
    th_path_entry *path;
    int n_path;
    const th_time *slack;      /* by task */
    th_contention *contention; /* NULL: not asked for, and the rows have no columns of it */
} th_path_analysis;

static void forget(th_path_analysis *x)
{
    th_contention_free(x->contention);
    th_free(x->path);
}

static int find_path(th_session *s, th_path_analysis *x, th_error *err)
{
    *x = (th_path_analysis){.session = s, .result = th_simulation_result(s->simulation, err)};
    x->n_path = x->result ? th_critical_path(x->result, &x->path, err) : -1;
    return x->n_path >= 0 ? 0 : -1;
}

static int explain(th_session *s, th_path_analysis *x, th_error *err)
{
    const th_time *slack = th_simulation_slacks(s->simulation, err);
    if (slack && th_interrupt_is_pending())
        return th_error_interrupted(err, "the path was not looked for");
    if (!slack || find_path(s, x, err) != 0)
        return -1;
    x->slack = slack;
    return 0;
}

/* ---- rows ---- */

/* Between the end of what a task waited for last and its start. */
static th_time wait_of(const th_result *r, int32_t task, th_cause cause)
{
    return r->tasks[task].start_ps - (cause.task >= 0 ? r->tasks[cause.task].end_ps : 0);
}

/* Finds what delayed a task by contention. 0 or -1. */
static int find_contender(const th_path_analysis *x, int32_t task, th_time contention,
                          th_contender *h, th_error *err)
{
    h->task = -1;
    return x->contention && contention > 0 ? th_contention_find(x->contention, task, h, err) : 0;
}

/* The slack is not known before the run ends. */
static int add_task(const th_path_analysis *x, th_table *t, int32_t task, th_error *err)
{
    th_session *s = x->session;
    const th_simulation *sim = s->simulation;
    const th_task_result *f = &x->result->tasks[task];
    const th_task *what = &sim->program->tasks[task];
    th_cause cause = th_cause_of(x->result, task);
    th_quantity cells[N_PATH_COLUMNS];
    th_time part[TH_N_PARTS];
    th_contender h;
    th_strbuf text = TH_STRBUF_INIT, at = TH_STRBUF_INIT, by = TH_STRBUF_INIT;
    if (th_interrupt_is_pending())
        return th_error_interrupted(err, "not all tasks were printed");
    if (th_time_breakdown(
            &(th_run_view){s->system, th_simulation_costs(sim), sim->program, x->result}, task,
            part, err) != 0 ||
        find_contender(x, task, part[TH_PART_CONTENTION], &h, err) != 0)
        return -1;
    th_task_describe(s, what, &text);
    cells[START] = th_ps(f->start_ps);
    cells[WAIT] = th_ps(wait_of(x->result, task, cause));
    cells[DURATION] = th_ps(f->end_ps - f->start_ps);
    cells[TASK] = th_count(task);
    cells[KIND] = th_text(th_task_kind_name(what->kind));
    cells[SLACK] = x->result->is_done ? th_ps(x->slack[task]) : th_absent(TH_KIND_TIME);
    cells[CAUSE] = th_text(th_cause_name(cause.kind));
    cells[AFTER] = cause.task >= 0 ? th_count(cause.task) : th_absent(TH_KIND_COUNT);
    cells[WHAT] = th_text(text.text);
    cells[BYTES] =
        what->kind == TH_TASK_TRANSFER ? th_bytes(what->bytes) : th_absent(TH_KIND_BYTES);
    cells[QUEUED] = th_ps(f->start_ps - f->ready_ps);
    for (int p = 0; p < TH_N_PARTS; p++)
        cells[PARTS + p] = th_ps(part[p]);
    th_contender_cells(s, &h, &at, &by, cells + CONTENDER);
    th_table_row(t, cells);
    th_strbuf_clear(&text);
    th_strbuf_clear(&at);
    th_strbuf_clear(&by);
    return 0;
}

static void all_absent(th_quantity *cells)
{
    for (int c = 0; c < N_PATH_COLUMNS; c++)
        cells[c] = th_absent(path_columns[c].kind);
}

/* ---- the path ---- */

static th_time span_of(const th_path_entry *e)
{
    return e->wait_ps + e->end_ps - e->start_ps;
}

static int by_span(const void *a, const void *b)
{
    th_time x = *(const th_time *)a, y = *(const th_time *)b;
    return (x < y) - (x > y);
}

/* The least duration of the longest limit entries; -1: all entries. */
static th_time threshold(const th_path_entry *path, int n, int64_t limit)
{
    if (limit <= 0 || limit >= n)
        return -1;
    th_time *spans = th_alloc_array((size_t)n, sizeof *spans), result = -1;
    if (!spans)
        return -1;
    for (int i = 0; i < n; i++)
        spans[i] = span_of(&path[i]);
    qsort(spans, (size_t)n, sizeof *spans, by_span);
    result = spans[limit - 1];
    th_free(spans);
    return result;
}

/* Entries merged into one line. */
static void add_merged(th_table *t, const th_path_entry *path, int n)
{
    char what[60];
    th_quantity cells[N_PATH_COLUMNS];
    th_time wait = 0, duration = 0;
    for (int i = 0; i < n; i++) {
        wait += path[i].wait_ps;
        duration += path[i].end_ps - path[i].start_ps;
    }
    if (n == 0)
        return;
    snprintf(what, sizeof what, "(%d shorter task%s)", n, n == 1 ? "" : "s");
    all_absent(cells);
    cells[START] = th_ps(path[0].start_ps);
    cells[WAIT] = th_ps(wait);
    cells[DURATION] = th_ps(duration);
    cells[WHAT] = th_text(what);
    th_table_row(t, cells);
}

static void add_sum(th_table *t, const th_path_analysis *x)
{
    char makespan[100], time[64];
    th_quantity cells[N_PATH_COLUMNS];
    th_time wait = 0, duration = 0;
    for (int i = 0; i < x->n_path; i++) {
        wait += x->path[i].wait_ps;
        duration += x->path[i].end_ps - x->path[i].start_ps;
    }
    snprintf(makespan, sizeof makespan, "makespan %s",
             th_format_time(wait + duration, time, sizeof time));
    all_absent(cells);
    cells[WAIT] = th_ps(wait);
    cells[DURATION] = th_ps(duration);
    cells[CAUSE] = th_text("sum");
    cells[WHAT] = th_text(makespan);
    th_table_total(t, cells);
}

static int add_path(const th_path_analysis *x, th_table *t, int64_t limit, th_error *err)
{
    const th_path_entry *path = x->path;
    th_time least = threshold(path, x->n_path, limit);
    int merged = 0;
    int64_t shown = 0;
    for (int i = 0; i < x->n_path; i++) {
        if (least >= 0 && (span_of(&path[i]) < least || shown == limit)) {
            merged++;
            continue;
        }
        add_merged(t, &path[i - merged], merged);
        if (add_task(x, t, path[i].task, err) != 0)
            return -1;
        merged = 0;
        shown++;
    }
    add_merged(t, &path[x->n_path - merged], merged);
    add_sum(t, x);
    return 0;
}

static th_table *critical_path_table(th_report *r)
{
    th_table *t = th_report_table(r, "critical_path", "Critical path", path_columns);
    add_notes(t);
    return t;
}

int th_section_path(th_session *s, th_report *r, int64_t limit, th_error *err)
{
    th_path_analysis x;
    if (explain(s, &x, err) != 0)
        return -1;
    x.contention = th_contention_new(s, x.result, err);
    int failed = x.contention ? 0 : -1;
    if (!failed)
        failed = add_path(&x, critical_path_table(r), limit, err);
    forget(&x);
    return failed;
}

/* ---- time breakdown of the path ---- */

static int add_up(const th_path_analysis *x, th_time *sum, th_error *err)
{
    const th_simulation *sim = x->session->simulation;
    th_time part[TH_N_PARTS];
    for (int i = 0; i < x->n_path; i++) {
        if (th_time_breakdown(&(th_run_view){x->session->system, th_simulation_costs(sim),
                                             sim->program, x->result},
                              x->path[i].task, part, err) != 0)
            return -1;
        for (int p = 0; p < TH_N_PARTS; p++)
            sum[p] += part[p];
        sum[TH_PATH_WAIT] += x->path[i].wait_ps;
    }
    return 0;
}

int th_path_breakdown(th_session *s, th_time part[TH_N_PATH_PARTS], th_error *err)
{
    th_path_analysis x;
    memset(part, 0, TH_N_PATH_PARTS * sizeof *part);
    if (find_path(s, &x, err) != 0)
        return -1;
    int failed = add_up(&x, part, err);
    forget(&x);
    return failed;
}

static void add_part(th_table *t, const char *name, th_time ps, th_time all, const char *what)
{
    if (ps > 0)
        th_table_row(t, (th_quantity[]){th_text(name), th_ps(ps),
                                        th_share((double)ps / (double)all), th_text(what)});
}

int th_section_path_parts(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"part", "part", TH_KIND_TEXT},    {"time", "time", TH_KIND_TIME},
        {"share", "share", TH_KIND_SHARE}, {"what", "what", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    static const char *const what[TH_N_PARTS] = {
        [TH_PART_ARRAY] = "arrays and vector units at work",
        [TH_PART_MEMORY] = "waiting for the DRAM and ports of their accelerator",
        [TH_PART_LATENCY] = "latency of links, overheads of transfers",
        [TH_PART_LINK] = "bytes at the bandwidth of the slowest link",
        [TH_PART_CONTENTION] = "other tasks on the same links or DRAM",
        [TH_PART_FAULTS] = "links that are down or degraded, detours",
        [TH_PART_SLOWDOWN] = "lower clocks and jitter of accelerators",
        [TH_PART_HOST] = "work of hosts",
        [TH_PART_COLLECTIVE] = "collective operations",
    };
    th_time sum[TH_N_PATH_PARTS], all = 0;
    if (th_path_breakdown(s, sum, err) != 0)
        return -1;
    for (int p = 0; p < TH_N_PATH_PARTS; p++)
        all += sum[p];
    bool is_merged = s->hand_built && s->hand_built->step && s->hand_built->step->is_merged;
    th_table *t = th_report_table(r, "path_parts", "Time breakdown of the critical path", columns);
    for (int p = 0; p < TH_N_PARTS; p++)
        add_part(t, th_time_part_name(p), sum[p], all,
                 p == TH_PART_HOST && is_merged ? "messages, as the plan timed them" : what[p]);
    add_part(t, "wait", sum[TH_PATH_WAIT], all, "for an arrival");
    th_table_total(t, (th_quantity[]){th_text("makespan"), th_ps(all), th_share(all > 0 ? 1 : 0),
                                      th_absent(TH_KIND_TEXT)});
    return 0;
}

/* The row with the longest time but for that one; -1: none has any. */
static int64_t longest_part(const th_table *t, int64_t but)
{
    enum { TIME = 1 };
    int64_t longest = -1, most = 0;
    for (int64_t i = 0; i < (int64_t)t->n_rows; i++) {
        int64_t ps = th_table_cell(t, (size_t)i, TIME)->whole;
        if (i != but && ps > most) {
            most = ps;
            longest = i;
        }
    }
    return longest;
}

void th_section_path_verdict(th_report *r)
{
    enum { PART, TIME, SHARE, MEANING };
    const th_table *t = r->first;
    char time[64], all[64];
    while (t && strcmp(t->name, "path_parts") != 0)
        t = t->next;
    int64_t first = t ? longest_part(t, -1) : -1, next = t ? longest_part(t, first) : -1;
    if (first < 0)
        return;
    const th_quantity *a = th_table_cell(t, (size_t)first, 0);
    const char *text =
        th_report_printf(r, "%s takes %.2f %% of the critical path, %s of %s: %s", a[PART].text,
                         100 * a[SHARE].real, th_format_time(a[TIME].whole, time, sizeof time),
                         th_format_time(t->total[TIME].whole, all, sizeof all), a[MEANING].text);
    if (text && next >= 0) {
        const th_quantity *b = th_table_cell(t, (size_t)next, 0);
        text = th_report_printf(r, "%s; then %s, %.2f %%", text, b[PART].text, 100 * b[SHARE].real);
    }
    if (text)
        th_report_head_line(r, "verdict", text);
}

/* ---- all tasks by slack ---- */

/* Finished tasks, the least slack first, equal ones by number; returns how many. */
static int32_t order_by_slack(const th_path_analysis *x, th_timed *order, th_timed *scratch)
{
    int32_t n = 0;
    for (int32_t t = 0; t < x->result->n_tasks; t++)
        if (x->slack[t] >= 0)
            order[n++] = (th_timed){x->slack[t], t};
    th_sort_by_time(order, (size_t)n, scratch);
    return n;
}

/* Those of the path, without what delayed them by contention: finding that for all tasks takes too
 * long. */
static const th_column *slack_columns(th_report *r)
{
    th_column *c = th_report_columns(r, N_COLUMNS);
    for (int i = 0; c && i < N_COLUMNS; i++)
        c[i] = path_columns[i];
    if (c)
        c[N_COLUMNS] = path_columns[N_PATH_COLUMNS]; /* the end */
    return c;
}

static int add_by_slack(const th_path_analysis *x, th_table *t, int64_t limit, th_error *err)
{
    size_t tasks = (size_t)x->result->n_tasks + 1;
    th_timed *order = th_alloc_array(tasks, sizeof *order),
             *scratch = th_alloc_array(tasks, sizeof *scratch);
    int failed = order && scratch ? 0 : th_error_no_memory(err);
    int32_t n = failed ? 0 : order_by_slack(x, order, scratch);
    for (int32_t i = 0; !failed && i < n && i < limit; i++)
        failed = add_task(x, t, order[i].number, err);
    th_table_hide(t, n > limit ? n - limit : 0);
    th_free(order);
    th_free(scratch);
    return failed;
}

static th_table *slack_table(th_report *r, const th_column *columns)
{
    th_table *t = th_report_table(r, "slack", "Slack", columns);
    add_notes(t);
    return t;
}

int th_section_slack(th_session *s, th_report *r, int64_t limit, th_error *err)
{
    th_path_analysis x;
    if (explain(s, &x, err) != 0)
        return -1;
    const th_column *columns = slack_columns(r);
    int failed =
        !columns ? th_error_no_memory(err) : add_by_slack(&x, slack_table(r, columns), limit, err);
    forget(&x);
    return failed;
}
