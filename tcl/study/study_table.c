/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_table.c - see study_table.h.
 *   th_study_table: columns -> { row -> -where }* -> -pareto -> -columns */
#include <config.h>
#include "tcl/study/study_table.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "study/pareto.h"
#include "tcl/study/study_list.h"
#include "tcl/study/study_metric.h"

enum {
    POINT, /* then parameters, the rest of these, metrics, error, by */
    N_OTHERS = 6,
    ALL_COLUMNS_MAX = TH_STUDY_PARAMETERS_MAX + TH_STUDY_METRICS_MAX + N_OTHERS
};

typedef struct {
    const th_study *study;
    const th_study_selection *what;
    th_report *report;
    th_table *table;
    th_column columns[ALL_COLUMNS_MAX + 1];
    int n, first_parameter, status, first_metric, by; /* columns; by -1: none */
    int by_columns[TH_STUDY_PARAMETERS_MAX], n_by;
    th_kind kinds[TH_STUDY_PARAMETERS_MAX];
    Tcl_Interp *interp; /* for -where; NULL: not given */
    Tcl_Obj *where;
    th_error *err;
} making;

/* ---- columns ---- */

static bool are_all(const th_study_parameter *p, th_kind kind)
{
    for (int32_t i = 0; i < p->n_values; i++) {
        th_quantity q;
        if (th_quantity_parse(kind, p->values[i], &q, NULL) != 0)
            return false;
    }
    return true;
}

static bool are_whole(const th_study_parameter *p)
{
    for (int32_t i = 0; i < p->n_values; i++) {
        const char *text = p->values[i] + (p->values[i][0] == '-');
        if (text[0] == '\0' || strlen(text) > 15 || strspn(text, "0123456789") != strlen(text))
            return false;
    }
    return true;
}

static th_kind kind_of(const th_study_parameter *p)
{
    static const th_kind tried[] = {TH_KIND_NUMBER, TH_KIND_TIME, TH_KIND_BYTES, TH_KIND_BANDWIDTH};
    if (are_whole(p))
        return TH_KIND_COUNT;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (are_all(p, tried[i]))
            return tried[i];
    return TH_KIND_TEXT;
}

static void add_column(making *m, const char *name, bool is_shown, th_kind kind)
{
    const char *copy = th_report_printf(m->report, "%s", name);
    m->columns[m->n++] = (th_column){copy, is_shown ? copy : NULL, kind};
}

static void make_columns(making *m, bool all_are_done)
{
    const th_study *s = m->study;
    add_column(m, "point", true, TH_KIND_COUNT);
    m->first_parameter = m->n;
    for (int i = 0; i < s->n_parameters; i++) {
        m->kinds[i] = kind_of(&s->parameters[i]);
        add_column(m, s->parameters[i].name, true, m->kinds[i]);
    }
    if (th_study_parameter_named(s, "seed") < 0)
        add_column(m, "seed", false, TH_KIND_COUNT);
    m->status = m->n;
    add_column(m, "status", !all_are_done, TH_KIND_TEXT);
    m->first_metric = m->n;
    for (int i = 0; i < s->n_metrics; i++)
        add_column(m, s->metrics[i].name, true, th_study_kind(s->metrics[i].kind));
    add_column(m, "mapping", false, TH_KIND_TEXT);
    add_column(m, "error", false, TH_KIND_TEXT);
}

/* By its name, with or without the unit. -1 with near misses. */
static int find_column(const making *m, const char *option, const char *name)
{
    const char *names[ALL_COLUMNS_MAX + 1];
    for (int i = 0; i < m->n; i++) {
        if (strcmp(m->columns[i].name, name) == 0)
            return i;
        names[i] = m->columns[i].name;
    }
    for (int i = 0; i < m->study->n_metrics; i++)
        if (strcmp(m->study->metrics[i].column, name) == 0)
            return m->first_metric + i;
    names[m->n] = NULL;
    return th_error_unknown(m->err, "STUDY-0070", option, name, names);
}

/* Into columns[] of at most max; how many, or -1. */
static int find_list(const making *m, const char *option, Tcl_Obj *list, int *columns, int max)
{
    Tcl_Obj **words;
    Tcl_Size n = 0;
    if (!list)
        return 0;
    if (Tcl_ListObjGetElements(NULL, list, &n, &words) != TCL_OK || n < 1 || n > max)
        return th_error_set(m->err, "STUDY-0071", "%s \"%.80s\": must be a list of 1 to %d columns",
                            option, Tcl_GetString(list), max);
    for (Tcl_Size i = 0; i < n; i++)
        if ((columns[i] = find_column(m, option, Tcl_GetString(words[i]))) < 0)
            return -1;
    return (int)n;
}

static int make_by(making *m)
{
    m->by = -1;
    m->n_by = find_list(m, "-by", m->what->by, m->by_columns, TH_STUDY_PARAMETERS_MAX);
    if (m->n_by <= 0)
        return m->n_by;
    m->by = m->n;
    add_column(m, "by", false, TH_KIND_TEXT);
    return 0;
}

/* ---- rows ---- */

static th_quantity parameter_cell(const making *m, const th_study_point *p, int i)
{
    const char *text = th_study_value(m->study, p->cell, i);
    th_quantity q = th_text(text);
    if (m->kinds[i] == TH_KIND_COUNT)
        return th_count(strtoll(text, NULL, 10));
    if (m->kinds[i] != TH_KIND_TEXT)
        th_quantity_parse(m->kinds[i], text, &q, NULL);
    return q;
}

/* "ring, 16": parameters in the user's words. */
static void join_by(const making *m, const th_study_point *p, const th_quantity *cells,
                    th_strbuf *out)
{
    for (int i = 0; i < m->n_by; i++) {
        int parameter = m->by_columns[i] - m->first_parameter;
        th_strbuf_add(out, i > 0 ? ", " : "");
        if (parameter >= 0 && parameter < m->study->n_parameters)
            th_strbuf_add(out, th_study_value(m->study, p->cell, parameter));
        else
            th_quantity_format(&cells[m->by_columns[i]], out);
    }
}

static void fill_cells(const making *m, const th_study_point *p, th_quantity *cells)
{
    const th_study *s = m->study;
    int n = 0;
    cells[n++] = th_count(p->number);
    for (int i = 0; i < s->n_parameters; i++)
        cells[n++] = parameter_cell(m, p, i);
    if (n < m->status)
        cells[n++] = th_count(th_study_point_seed(s, p->cell));
    cells[n++] = th_text(th_point_state_name(p->state));
    for (int i = 0; i < s->n_metrics; i++)
        cells[n++] = th_study_quantity(&s->metrics[i], &p->figures[i]);
    cells[n++] = th_text(p->mapping);
    cells[n++] = th_text(p->error);
}

/* ---- -where ---- */

static void set_text(Tcl_Interp *interp, const char *name, const char *value)
{
    if (value)
        Tcl_SetVar2Ex(interp, name, NULL, Tcl_NewStringObj(value, -1), TCL_GLOBAL_ONLY);
    else
        Tcl_UnsetVar(interp, name, TCL_GLOBAL_ONLY);
}

static void set_figure(Tcl_Interp *interp, const th_study_metric *metric, const th_figure *f)
{
    if (f->is_absent || metric->type == TH_FIGURE_TEXT)
        set_text(interp, metric->column, f->is_absent ? NULL : f->text);
    else
        Tcl_SetVar2Ex(interp, metric->column, NULL,
                      metric->type == TH_FIGURE_INTEGER ? Tcl_NewWideIntObj(f->whole)
                                                        : Tcl_NewDoubleObj(f->real),
                      TCL_GLOBAL_ONLY);
}

/* A column without a value has no variable. */
static void set_variables(const making *m, const th_study_point *p)
{
    const th_study *s = m->study;
    Tcl_SetVar2Ex(m->interp, "point", NULL, Tcl_NewWideIntObj(p->number), TCL_GLOBAL_ONLY);
    if (th_study_parameter_named(s, "seed") < 0)
        Tcl_SetVar2Ex(m->interp, "seed", NULL, Tcl_NewWideIntObj(th_study_point_seed(s, p->cell)),
                      TCL_GLOBAL_ONLY);
    for (int i = 0; i < s->n_parameters; i++)
        set_text(m->interp, s->parameters[i].name, th_study_value(s, p->cell, i));
    set_text(m->interp, "status", th_point_state_name(p->state));
    set_text(m->interp, "error", p->error);
    set_text(m->interp, "mapping", p->mapping);
    for (int i = 0; i < s->n_metrics; i++)
        set_figure(m->interp, &s->metrics[i], &p->figures[i]);
}

/* The variable that the expression could not read, into out. False: another error. */
static bool take_missed(Tcl_Interp *interp, char *out, size_t size)
{
    static const char begin[] = "can't read \"";
    const char *said = Tcl_GetStringResult(interp);
    if (strncmp(said, begin, sizeof begin - 1) != 0)
        return false;
    said += sizeof begin - 1;
    size_t n = strcspn(said, "\"");
    th_print(out, size, "%.*s", (int)(n < size ? n : size - 1), said);
    return true;
}

/* Is it a column of which this point has no value? */
static bool is_absent_column(const making *m, const char *name)
{
    if (strcmp(name, "error") == 0 || strcmp(name, "mapping") == 0)
        return true;
    for (int i = 0; i < m->study->n_metrics; i++)
        if (strcmp(m->study->metrics[i].column, name) == 0)
            return true;
    return false;
}

static int unknown_variable(const making *m, const char *name)
{
    const char *names[ALL_COLUMNS_MAX + 1];
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        int metric = i - m->first_metric;
        bool is_metric = metric >= 0 && metric < m->study->n_metrics;
        if (i != m->by)
            names[n++] = is_metric ? m->study->metrics[metric].column : m->columns[i].name;
    }
    names[n] = NULL;
    return th_error_unknown(m->err, "STUDY-0072", "-where: column", name, names);
}

/* 1, 0, or -1. */
static int is_wanted(const making *m, const th_study_point *p)
{
    char missed[100];
    int truth = 0;
    if (!m->interp)
        return 1;
    set_variables(m, p);
    if (Tcl_ExprBooleanObj(m->interp, m->where, &truth) == TCL_OK)
        return truth != 0;
    if (Tcl_Canceled(m->what->interp, 0) == TCL_ERROR)
        return th_error_interrupted(m->err, "nothing is reported");
    if (!take_missed(m->interp, missed, sizeof missed))
        return th_error_set(m->err, "STUDY-0073", "-where {%.200s}: %.300s", m->what->where,
                            Tcl_GetStringResult(m->interp));
    return is_absent_column(m, missed) ? 0 : unknown_variable(m, missed);
}

static int add_row(void *state, const th_study_point *p)
{
    making *m = state;
    th_quantity cells[ALL_COLUMNS_MAX];
    th_strbuf by = TH_STRBUF_INIT;
    int wanted = is_wanted(m, p);
    if (wanted <= 0)
        return wanted;
    fill_cells(m, p, cells);
    if (m->by >= 0) {
        join_by(m, p, cells, &by);
        cells[m->by] = th_text(by.text ? by.text : "");
    }
    th_table_row(m->table, cells);
    th_strbuf_clear(&by);
    return 0;
}

static int read_rows(making *m, th_store *t)
{
    if (m->what->where) {
        m->interp = th_study_where_interp(m->what->interp, m->err);
        if (!m->interp)
            return -1;
        m->where = Tcl_NewStringObj(m->what->where, -1);
        Tcl_IncrRefCount(m->where);
    }
    int failed = th_store_read(t, add_row, m, m->err);
    if (m->interp) {
        Tcl_DecrRefCount(m->where);
        Tcl_DeleteInterp(m->interp);
    }
    return failed;
}

/* ---- -pareto ---- */

typedef struct {
    int columns[TH_STUDY_METRICS_MAX], n;
    double sign[TH_STUDY_METRICS_MAX]; /* -1: more is better */
} objectives;

static int find_objectives(const making *m, objectives *o)
{
    int more[TH_STUDY_METRICS_MAX];
    int n_more = find_list(m, "-maximize", m->what->maximize, more, TH_STUDY_METRICS_MAX);
    o->n = find_list(m, "-pareto", m->what->pareto, o->columns, TH_STUDY_METRICS_MAX);
    if (n_more < 0 || o->n < 0)
        return -1;
    for (int i = 0; i < o->n; i++) {
        o->sign[i] = 1;
        if (m->columns[o->columns[i]].kind == TH_KIND_TEXT)
            return th_error_set(m->err, "STUDY-0074", "-pareto %s: must be a column of numbers",
                                m->columns[o->columns[i]].name);
    }
    for (int k = 0; k < n_more; k++) {
        bool is_there = false;
        for (int i = 0; i < o->n; i++)
            if (o->columns[i] == more[k]) {
                o->sign[i] = -1;
                is_there = true;
            }
        if (!is_there)
            return th_error_set(m->err, "STUDY-0075",
                                "-maximize %s: must be among those of -pareto",
                                m->columns[more[k]].name);
    }
    return 0;
}

/* Among complete rows, keeps those that are in[]. */
static void keep_rows(th_table *t, const bool *is_in)
{
    size_t n = (size_t)t->n_columns, kept = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        if (is_in[row])
            memmove(&t->cells[kept++ * n], &t->cells[row * n], n * sizeof *t->cells);
    t->n_rows = kept;
}

static bool take_values(const th_table *t, size_t row, const objectives *o, double *out)
{
    for (int i = 0; i < o->n; i++) {
        out[i] = o->sign[i] * th_quantity_number(th_table_cell(t, row, o->columns[i]), NAN);
        if (isnan(out[i]))
            return false;
    }
    return true;
}

static int select_front(making *m)
{
    objectives o;
    th_table *t = m->table;
    if (!m->what->pareto)
        return !m->what->maximize ? 0
                                  : th_error_set(m->err, "STUDY-0076", "-maximize: is for -pareto");
    if (find_objectives(m, &o) != 0)
        return -1;
    double *values = th_alloc_array(t->n_rows * (size_t)o.n + 1, sizeof *values);
    bool *is_in = th_alloc_zero(t->n_rows + 1, sizeof *is_in);
    size_t n = 0;
    bool failed = !values || !is_in;
    for (size_t row = 0; row < t->n_rows && !failed; row++) {
        is_in[row] = take_values(t, row, &o, &values[n * (size_t)o.n]);
        n += is_in[row];
    }
    if (!failed) {
        keep_rows(t, is_in); /* rows that have all values */
        failed = th_pareto_front(values, n, o.n, is_in) != 0;
    }
    if (!failed)
        keep_rows(t, is_in);
    th_free(values);
    th_free(is_in);
    return failed ? th_error_no_memory(m->err) : 0;
}

/* ---- the table that is shown ---- */

/* Which columns, by number; how many, or -1. */
static int choose_columns(const making *m, int *wanted)
{
    int n = find_list(m, "-columns", m->what->columns, wanted, TH_COLUMNS_MAX);
    for (int i = 0; !m->what->columns && i < m->n; i++)
        wanted[n++] = i;
    return n;
}

static int show(making *m, th_report *r, th_table **out)
{
    int wanted[TH_COLUMNS_MAX], n = choose_columns(m, wanted);
    th_column *columns = n > 0 ? th_report_columns(r, n) : NULL;
    if (n < 0 || !columns)
        return n < 0 ? -1 : th_error_no_memory(m->err);
    for (int i = 0; i < n; i++) {
        const th_column *c = &m->columns[wanted[i]];
        const char *name = th_report_printf(r, "%s", c->name);
        bool is_shown = c->title || m->what->columns;
        columns[i] = (th_column){name, is_shown ? name : NULL, c->kind};
    }
    columns[n] = (th_column){NULL, NULL, TH_KIND_TEXT};
    *out = th_report_table(r, "points", NULL, columns);
    for (size_t row = 0; row < m->table->n_rows; row++) {
        th_quantity cells[TH_COLUMNS_MAX];
        for (int i = 0; i < n; i++)
            cells[i] = *th_table_cell(m->table, row, wanted[i]);
        th_table_row(*out, cells);
    }
    return 0;
}

static int make(making *m, th_store *t)
{
    int64_t counts[TH_N_POINT_STATES];
    if (th_store_counts(t, counts, m->err) != 0)
        return -1;
    make_columns(m, counts[TH_POINT_WAITING] + counts[TH_POINT_FAILED] == 0);
    if (make_by(m) != 0)
        return -1;
    m->columns[m->n] = (th_column){NULL, NULL, TH_KIND_TEXT};
    m->table = th_report_table(m->report, "all", NULL, m->columns);
    return read_rows(m, t) != 0 ? -1 : select_front(m);
}

int th_study_table(th_report *r, th_store *t, const th_study_selection *what, th_table **out,
                   th_error *err)
{
    making m = {
        .study = th_store_study(t), .what = what, .report = th_report_new("all", ""), .err = err};
    if (!m.report)
        return th_error_no_memory(err);
    int failed = make(&m, t) != 0 ? -1 : show(&m, r, out);
    if (!failed && m.report->failed)
        failed = th_error_no_memory(err);
    th_report_free(m.report);
    return failed;
}

/* ---- head and notes ---- */

static int add_failure(void *state, const th_study_point *p)
{
    th_table *t = state;
    if (p->state == TH_POINT_FAILED)
        th_table_row(t, (th_quantity[]){th_count(p->number), th_text(p->error)});
    return 0;
}

int th_study_failures(th_report *r, th_store *t, th_error *err)
{
    static const th_column columns[] = {{"point", "point", TH_KIND_COUNT},
                                        {"error", "error", TH_KIND_TEXT},
                                        {NULL, NULL, TH_KIND_TEXT}};
    int64_t counts[TH_N_POINT_STATES];
    if (th_store_counts(t, counts, err) != 0)
        return -1;
    if (counts[TH_POINT_FAILED] == 0)
        return 0;
    th_table *failures = th_report_table(r, "failures", "Points that failed", columns);
    th_table_wrap(failures);
    return th_store_read(t, add_failure, failures, err);
}

static void add_points_line(th_report *r, const int64_t *counts)
{
    char text[200];
    int n =
        snprintf(text, sizeof text, "%lld: %lld done",
                 (long long)(counts[0] + counts[1] + counts[2]), (long long)counts[TH_POINT_DONE]);
    if (counts[TH_POINT_FAILED] > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %lld failed",
                      (long long)counts[TH_POINT_FAILED]);
    if (counts[TH_POINT_WAITING] > 0)
        snprintf(text + n, sizeof text - (size_t)n, ", %lld waiting",
                 (long long)counts[TH_POINT_WAITING]);
    th_report_head_line(r, "points", text);
}

static void add_pareto_line(th_report *r, const th_study_selection *what, const th_table *table)
{
    char text[300];
    if (!what->pareto)
        return;
    int n = snprintf(text, sizeof text, "%zu %s that none beats in %.120s", table->n_rows,
                     table->n_rows == 1 ? "point" : "points", Tcl_GetString(what->pareto));
    if (what->maximize)
        snprintf(text + n, sizeof text - (size_t)n, "; maximized: %.80s",
                 Tcl_GetString(what->maximize));
    th_report_head_line(r, "Pareto", text);
}

static int column_named(const th_table *t, const char *name)
{
    for (int c = 0; c < t->n_columns; c++)
        if (strcmp(t->columns[c].name, name) == 0)
            return c;
    return -1;
}

/* The row of the least latency; -1: none has one. */
static int64_t best_row(const th_table *t, int latency)
{
    int64_t best = -1;
    for (size_t i = 0; i < t->n_rows; i++) {
        const th_quantity *q = th_table_cell(t, i, latency);
        if (!q->is_absent &&
            (best < 0 || q->whole < th_table_cell(t, (size_t)best, latency)->whole))
            best = (int64_t)i;
    }
    return best;
}

/* Of points that recorded model_error: which differences of latency it covers. */
static void add_error_line(th_report *r, const th_table *t)
{
    int error = column_named(t, "model_error"), latency = column_named(t, "latency");
    int64_t best = error >= 0 && latency >= 0 ? best_row(t, latency) : -1;
    double largest = 0;
    int n = 0;
    for (size_t i = 0; best >= 0 && i < t->n_rows; i++)
        largest = fmax(largest, th_quantity_number(th_table_cell(t, i, error), 0));
    for (size_t i = 0; best >= 0 && i < t->n_rows; i++) {
        const th_quantity *q = th_table_cell(t, i, latency);
        double least = (double)th_table_cell(t, (size_t)best, latency)->whole;
        n += !q->is_absent && (int64_t)i != best && (double)q->whole < least * (1 + largest);
    }
    if (largest > 0)
        th_report_head_line(r, "model error",
                            th_report_printf(r,
                                             "%.3g %% at most; latencies that differ from the "
                                             "least by less: %d",
                                             100 * largest, n));
}

int th_study_head(th_report *r, th_store *t, const th_study_selection *what, const th_table *table,
                  th_error *err)
{
    const th_study *s = th_store_study(t);
    int64_t counts[TH_N_POINT_STATES];
    char digest[20], text[200];
    if (th_store_counts(t, counts, err) != 0)
        return -1;
    snprintf(digest, sizeof digest, "%016" PRIx64, th_study_digest(s));
    th_print(text, sizeof text, "%.100s, %s, seed %" PRId64, s->name, digest, s->seed);
    th_report_head_line(r, "study", text);
    th_report_head_field(r, "study", th_text(s->name));
    th_report_head_field(r, "digest", th_text(digest));
    th_report_head_field(r, "study_seed", th_count(s->seed));
    add_points_line(r, counts);
    for (int i = 0; i < TH_N_POINT_STATES; i++)
        th_report_head_field(r, th_point_state_name((th_point_state)i), th_count(counts[i]));
    if (what->where)
        th_report_head_line(r, "where", what->where);
    add_pareto_line(r, what, table);
    add_error_line(r, table);
    th_report_head_line(r, "version", th_report_printf(r, "tharsis %s", s->version));
    th_report_head_field(r, "version", th_text(s->version));
    return 0;
}
