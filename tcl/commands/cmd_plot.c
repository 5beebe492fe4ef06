/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_plot.c - write_plot: pictures of runs, of the search and of what happened in a run.
 *   parse -> the source's own picture, or its table -> columns -> th_plot_of_table ->
 * th_write_plot */
#include <config.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "report/plot/plots.h"
#include "tcl/write_plot.h"
#include "report/session/saved_run.h"
#include "tcl/report_call.h"
#include "report/sections/sections.h"
#include "tcl/study/study_list.h"
#include "tcl/study/study_table.h"

#define GROUP "output"

/* ---- sources ---- */

typedef int (*fill_table)(th_session *s, th_report *r, th_error *err);

static int links_table(th_session *s, th_report *r, th_error *err)
{
    return th_section_links(s, r, true, err);
}

typedef enum {
    RUNS,
    LAYERS,
    UTILIZATION,
    LINKS,
    LINK_TIME,
    TRAFFIC,
    CONVERGENCE,
    PARETO,
    STUDY,
    GRAPH,
    N_SOURCES
} plot_source;

/* Without named columns the source draws its own picture; with them, columns of its table are
 * drawn. */
static const struct {
    const char *name;
    th_plot *(*own)(th_session *s, th_error *err);
    th_plot_type own_type;
    fill_table table;
    th_plot_type type;
    const char *x, *y; /* NULL: the first two number columns after the name */
} sources[N_SOURCES] = {
    [RUNS] = {"runs", NULL, 0, NULL, TH_PLOT_BAR, "run", "latency"},
    [LAYERS] = {"layers", NULL, 0, th_section_layer_figures, TH_PLOT_BAR, "layer", "active"},
    [UTILIZATION] = {"utilization", th_plot_of_accels, TH_PLOT_STACKED, th_section_accels,
                     TH_PLOT_BAR, "accel", "utilization"},
    [LINKS] = {"links", th_plot_of_links, TH_PLOT_HEAT, links_table, TH_PLOT_BAR, "link", "load"},
    [LINK_TIME] = {"link_time", th_plot_of_link_time, TH_PLOT_HEAT, NULL, TH_PLOT_HEAT, NULL, NULL},
    [TRAFFIC] = {"traffic", th_plot_of_traffic, TH_PLOT_HEAT, NULL, TH_PLOT_HEAT, NULL, NULL},
    [CONVERGENCE] = {"convergence", th_plot_of_search, TH_PLOT_LINE, th_section_convergence,
                     TH_PLOT_LINE, "evaluation", NULL},
    [PARETO] = {"pareto", NULL, 0, th_section_front, TH_PLOT_SCATTER, NULL, NULL},
    [STUDY] = {"study", NULL, 0, NULL, TH_PLOT_BAR, NULL, NULL},
    [GRAPH] = {"graph", NULL, 0, NULL, TH_PLOT_BAR, NULL, NULL},
};

static const char *source_name(int i)
{
    return i < N_SOURCES ? sources[i].name : NULL;
}

/* What must exist to draw a source. */
static int need_source(th_session *s, plot_source source, th_error *err)
{
    switch (source) {
    case RUNS:
    case STUDY:
        return 0;
    case LAYERS:
        if (s->hand_built)
            return th_error_set(err, "TCL-0375",
                                "-of layers: the program \"%.100s\" is hand-built: only a mapped "
                                "workload has layers",
                                s->hand_built->name);
        return th_session_need_run(s, err);
    case UTILIZATION:
    case LINKS:
    case LINK_TIME:
    case TRAFFIC:
        return th_session_need_run(s, err);
    case CONVERGENCE:
        return th_session_need_mapping(s, err);
    case PARETO:
        return th_session_need_mapping(s, err) == 0 ? th_session_need_front(s, err) : -1;
    case GRAPH:
        return th_session_need_workload(s, err);
    case N_SOURCES:
        break;
    }
    return 0;
}

/* ---- options ---- */

enum {
    PLOT_OF,
    PLOT_TYPE,
    PLOT_X,
    PLOT_Y,
    PLOT_Z,
    PLOT_BY,
    PLOT_WHERE,
    PLOT_MAXIMIZE,
    PLOT_LOG,
    PLOT_TITLE
};

static const char *type_name(int i)
{
    static const char *const names[] = {"bar", "line", "scatter", "stacked", "heat", NULL};
    return names[i];
}

static const char *log_name(int i)
{
    static const char *const names[] = {"x", "y", "xy", NULL};
    return names[i];
}

static const th_option plot_options[] = {
    [PLOT_OF] =
        {"-of", TH_OPTION_CHOICE, "WHAT",
         "Saved runs (where RUNS are named), layers or utilization of the accelerators of "
         "the run, load of its links, flows on the most loaded links over time, traffic from "
         "node to node, convergence or Pareto "
         "front of the search; points of a study; graph: the layers of the workload.",
         .choice = source_name},
    [PLOT_TYPE] = {"-type", TH_OPTION_CHOICE, "TYPE",
                   "The kind of plot; by default utilization is stacked, links, link_time and "
                   "traffic are heat maps.",
                   .choice = type_name},
    [PLOT_X] = {"-x", TH_OPTION_TEXT, "COLUMN",
                "Column on the x axis; columns have the names of write_results and of -format csv "
                "of reports, without the unit (name: that of a run)."},
    [PLOT_Y] = {"-y", TH_OPTION_TEXT, "{COLUMN ...}",
                "Columns on the y axis; several of one kind side by side."},
    [PLOT_Z] = {"-z", TH_OPTION_TEXT, "COLUMN",
                "Column shown as colour in the heat map of a study; of several points in a cell "
                "the best."},
    [PLOT_BY] =
        {"-by", TH_OPTION_TEXT, "COLUMN",
         "A colour per value of this column; for a study, per combination of several columns."},
    [PLOT_WHERE] = {"-where", TH_OPTION_TEXT, "EXPRESSION",
                    "For a study: only points for which it holds, as in report_study."},
    [PLOT_MAXIMIZE] = {"-maximize", TH_OPTION_TEXT, "{COLUMN ...}",
                       "Columns of a study where more is better, for the front and for -z; for "
                       "values that the script returns, less is better by default."},
    [PLOT_LOG] = {"-log", TH_OPTION_CHOICE, "AXES", "Logarithmic axes.", .choice = log_name},
    [PLOT_TITLE] = {"-title", TH_OPTION_TEXT, "TEXT", "Title of the plot."},
    {.name = NULL},
};

/* ---- columns ---- */

/* "name" is the first column, whatever it is called. -1: c->err has the near misses. */
static int find_column(th_call *c, const th_table *t, int option, const char *name)
{
    const char *names[TH_COLUMNS_MAX + 2] = {"name"};
    char what[40];
    for (int i = 0; i < t->n_columns; i++) {
        if (strcmp(t->columns[i].name, name) == 0)
            return i;
        names[i + 1] = t->columns[i].name;
    }
    if (strcmp(name, "name") == 0)
        return 0;
    names[t->n_columns + 1] = NULL;
    snprintf(what, sizeof what, "%s: column", plot_options[option].name);
    return th_error_unknown(&c->err, "TCL-0384", what, name, names);
}

static int find_y(th_call *c, const th_table *t, const char *usual, th_plot_columns *out)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (!th_call_has(c, PLOT_Y)) {
        out->n_y = 1;
        out->y[0] = usual ? find_column(c, t, PLOT_Y, usual) : 2;
        return out->y[0] < 0 ? -1 : 0;
    }
    if (Tcl_ListObjGetElements(NULL, c->option[PLOT_Y].word, &n, &words) != TCL_OK || n < 1 ||
        n > TH_PLOT_Y_MAX)
        return th_error_set(&c->err, "TCL-0376", "-y \"%.60s\": must be a list of 1 to %d columns",
                            th_call_text(c, PLOT_Y, ""), TH_PLOT_Y_MAX);
    for (out->n_y = 0; out->n_y < n; out->n_y++)
        if ((out->y[out->n_y] = find_column(c, t, PLOT_Y, Tcl_GetString(words[out->n_y]))) < 0)
            return -1;
    return 0;
}

static int find_columns(th_call *c, const th_table *t, plot_source source, const char *y,
                        th_plot_columns *out)
{
    const char *x = th_call_text(c, PLOT_X, sources[source].x);
    const char *by = source == STUDY ? TH_STUDY_BY : th_call_text(c, PLOT_BY, "");
    *out =
        (th_plot_columns){.type = (th_plot_type)th_call_number(c, PLOT_TYPE, sources[source].type)};
    out->x = x ? find_column(c, t, PLOT_X, x) : 1;
    out->by = th_call_has(c, PLOT_BY) ? find_column(c, t, PLOT_BY, by) : -1;
    if (out->x < 0 || (th_call_has(c, PLOT_BY) && out->by < 0))
        return -1;
    if (out->type == TH_PLOT_HEAT && source != STUDY)
        return th_error_set(&c->err, "TCL-0377",
                            "-type heat: is for links and traffic, without -x, -y and -by");
    if (out->by >= 0 && t->columns[out->by].kind != TH_KIND_TEXT)
        return th_error_set(&c->err, "TCL-0378", "-by %s: must be a column of texts",
                            t->columns[out->by].name);
    return find_y(c, t, y, out);
}

/* ---- the picture ---- */

static int study_table(th_call *c, th_store *store, th_report *r)
{
    const th_study_selection what = {.where = th_call_text(c, PLOT_WHERE, NULL),
                                     .interp = c->interp,
                                     .by = c->option[PLOT_BY].word};
    th_table *t;
    return th_study_table(r, store, &what, &t, &c->err);
}

/* Is it a value that the script returns? */
static bool is_own(const th_study *s, const char *name)
{
    for (int i = 0; i < s->n_metrics; i++)
        if (strcmp(s->metrics[i].name, name) == 0)
            return s->metrics[i].is_own;
    return false;
}

/* -1: less is better, 1: more is, 0: decided by the name; -2: error in c->err. */
static int better_in_study(th_call *c, const th_study *s, const th_table *t, int column)
{
    Tcl_Obj **words, *list = c->option[PLOT_MAXIMIZE].word;
    Tcl_Size n = 0;
    if (list && Tcl_ListObjGetElements(NULL, list, &n, &words) != TCL_OK) {
        th_error_set(&c->err, "STUDY-0086", "-maximize \"%.60s\": must be a list",
                     Tcl_GetString(list));
        return -2;
    }
    for (Tcl_Size i = 0; i < n; i++) {
        int more = find_column(c, t, PLOT_MAXIMIZE, Tcl_GetString(words[i]));
        if (more < 0 || more == column)
            return more < 0 ? -2 : 1;
    }
    return is_own(s, t->columns[column].name) ? -1 : 0;
}

static int find_in_study(th_call *c, const th_study *s, const th_table *t, th_plot_columns *out)
{
    bool is_heat = out->type == TH_PLOT_HEAT;
    if (is_heat != th_call_has(c, PLOT_Z))
        return th_error_set(&c->err, "STUDY-0087",
                            "-z: is for -type heat of a study, which needs it");
    out->z = is_heat ? find_column(c, t, PLOT_Z, th_call_text(c, PLOT_Z, "")) : out->y[0];
    if (out->z < 0)
        return -1;
    out->x_better = better_in_study(c, s, t, out->x);
    out->y_better = better_in_study(c, s, t, out->y[0]);
    out->z_better = better_in_study(c, s, t, out->z);
    return out->x_better < -1 || out->y_better < -1 || out->z_better < -1 ? -1 : 0;
}

static th_plot *draw_columns(const th_table *t, const th_plot_columns *columns, th_error *err)
{
    return columns->type == TH_PLOT_HEAT ? th_plot_heat_of_table(t, columns, err)
                                         : th_plot_of_table(t, columns, err);
}

/* Unless columns are named, the first parameter and the first metric. */
static th_plot *plot_of_study(th_call *c, th_store *store, th_report *r)
{
    th_plot_columns columns;
    const th_study *s = th_store_study(store);
    if (study_table(c, store, r) != 0 ||
        find_columns(c, r->first, STUDY, s->metrics[0].name, &columns) != 0 ||
        find_in_study(c, s, r->first, &columns) != 0)
        return NULL;
    return draw_columns(r->first, &columns, &c->err);
}

static th_plot *plot_of_figures(th_call *c, plot_source source, const th_runs *runs, th_report *r)
{
    th_plot_columns columns;
    int failed = source == RUNS ? th_section_saved(r, runs->all, runs->n, &c->err)
                                : sources[source].table(c->session, r, &c->err);
    if (failed || find_columns(c, r->first, source, sources[source].y, &columns) != 0)
        return NULL;
    return draw_columns(r->first, &columns, &c->err);
}

static th_plot *plot_of_table(th_call *c, plot_source source, const th_runs *runs)
{
    th_plot *p = NULL;
    th_report *r = th_report_new("plot", "Plot");
    th_store *store = NULL;
    if (!r)
        th_error_no_memory(&c->err);
    else if (source != STUDY)
        p = plot_of_figures(c, source, runs, r);
    else if ((store = th_studies_open(c->session, th_call_word(c, 0), &c->err)))
        p = plot_of_study(c, store, r);
    th_store_close(store);
    th_report_free(r);
    return p;
}

static th_plot *make_plot(th_call *c, plot_source source, const th_runs *runs)
{
    bool has_columns = th_call_has(c, PLOT_X) || th_call_has(c, PLOT_Y) || th_call_has(c, PLOT_BY);
    bool is_own =
        sources[source].own && !has_columns &&
        th_call_number(c, PLOT_TYPE, sources[source].own_type) == (int64_t)sources[source].own_type;
    if (!is_own && source != RUNS && source != STUDY && !sources[source].table) {
        th_error_set(&c->err, "TCL-0383", "-of %s: is a heat map: no other -type, -x, -y or -by",
                     sources[source].name);
        return NULL;
    }
    return is_own ? sources[source].own(c->session, &c->err) : plot_of_table(c, source, runs);
}

/* What the plot is of: "resnet101, batch 16, on ring"; NULL: of runs that differ. */
static const char *subject_of(th_call *c, plot_source source, th_plot *p, const th_runs *runs)
{
    const th_session *s = c->session;
    const th_saved_run *first = runs->n > 0 ? runs->all[0] : NULL;
    for (int i = 1; i < runs->n; i++)
        if (!first->workload || !runs->all[i]->workload ||
            strcmp(first->workload, runs->all[i]->workload) != 0 ||
            first->batch != runs->all[i]->batch)
            return NULL;
    if (source == STUDY)
        return th_plot_text(p, "study %s", th_call_word(c, 0));
    if (first)
        return first->workload ? th_plot_text(p, "%s, batch %d", first->workload, (int)first->batch)
                               : NULL;
    if (s->hand_built)
        return th_plot_text(p, "%s, on %s", s->hand_built->name, s->system->name);
    return th_plot_text(p, "%s, batch %d, on %s", s->workload->name, (int)s->workload->batch,
                        s->system->name);
}

/* "Latency [ms] by run: resnet101, batch 16". */
static const char *usual_title(th_call *c, plot_source source, th_plot *p, const th_runs *runs)
{
    const char *subject = subject_of(c, source, p, runs);
    const char *what = p->what ? p->what : "";
    int first = isascii((unsigned char)*what) ? toupper((unsigned char)*what) : *what;
    if (*what == '\0')
        return subject;
    return th_plot_text(p, "%c%s%s%s", first, what + 1, subject ? ": " : "",
                        subject ? subject : "");
}

static void set_looks(th_call *c, plot_source source, th_plot *p, const th_runs *runs)
{
    p->title = usual_title(c, source, p, runs);
    int64_t log = th_call_number(c, PLOT_LOG, -1);
    if (log >= 0) {
        p->x.is_log = log != 1;
        p->y.is_log = log != 0;
    }
    p->is_titled = th_call_has(c, PLOT_TITLE);
    if (p->is_titled)
        p->title = th_plot_text(p, "%s", th_call_text(c, PLOT_TITLE, ""));
}

static int draw(th_call *c, plot_source source, const th_runs *runs)
{
    const char *path = th_call_word(c, c->n_words - 1);
    if (th_picture_find(path, &c->err) < 0 || need_source(c->session, source, &c->err) != 0)
        return -1;
    th_plot *p = make_plot(c, source, runs);
    if (!p)
        return -1;
    set_looks(c, source, p, runs);
    if (th_write_plot(c->session, p, path, &c->err) != 0)
        return -1;
    th_call_return_text(c, path);
    return 0;
}

/* The graph of the workload, which Graphviz draws. */
static int draw_graph(th_call *c)
{
    const char *path = th_call_word(c, c->n_words - 1);
    th_strbuf bytes = TH_STRBUF_INIT;
    for (int o = PLOT_TYPE; o <= PLOT_TITLE; o++)
        if (th_call_has(c, o))
            return th_error_set(&c->err, "TCL-0621", "%s: is not for -of graph",
                                plot_options[o].name);
    int failed = need_source(c->session, GRAPH, &c->err) ||
                 th_graph_draw(c->session->workload, path, &bytes, &c->err) ||
                 th_session_write_file(c->session, path, false, &bytes, &c->err);
    th_strbuf_clear(&bytes);
    if (!failed)
        th_call_return_text(c, path);
    return failed ? -1 : 0;
}

static int run_write_plot(th_call *c)
{
    th_runs runs = {NULL, 0};
    bool has_first = c->n_words == 2;
    int64_t source = th_call_number(c, PLOT_OF, has_first ? RUNS : -1);
    bool has_runs = has_first && source != STUDY;
    if (source < 0)
        return th_error_set(&c->err, "TCL-0381", "needs RUNS, or -of, to draw");
    if (source == STUDY && !has_first)
        return th_error_set(&c->err, "STUDY-0088",
                            "-of study: must have the name of a study before FILE");
    if (source != STUDY &&
        (th_call_has(c, PLOT_Z) || th_call_has(c, PLOT_WHERE) || th_call_has(c, PLOT_MAXIMIZE)))
        return th_error_set(&c->err, "STUDY-0089", "-z, -where and -maximize: are for -of study");
    if (has_runs != (source == RUNS))
        return th_error_set(&c->err, "TCL-0382", "-of %s: %s", sources[source].name,
                            has_runs ? "is of the present run or search: must have no RUNS"
                                     : "must have RUNS, as save_run returns them");
    if (source == GRAPH)
        return draw_graph(c);
    int failed = has_runs ? th_saved_runs_parse(c->session, c->words[0], &runs, &c->err) : 0;
    if (!failed)
        failed = draw(c, (plot_source)source, &runs);
    th_free(runs.all);
    return failed;
}

const th_command th_plot_commands[] = {
    {"write_plot", GROUP, "?RUNS|STUDY? FILE", 1, 2, plot_options,
     "plot saved runs, the present run, a search or a study",
     "RUNS are names that save_run returned; with -of study a STUDY is named; everything else is "
     "of the present run or search. FILE ends in .svg, .png or .pdf, which gnuplot draws; in .txt, "
     "a plot for terminals of 80 columns; or in .gp, the gnuplot script, for changes by hand. With "
     "-of graph Graphviz draws it: .svg, .png, .pdf, or .dot (its text, which needs no Graphviz). "
     "Bars and lines over a column of texts keep the order of the rows. A scatter plot of figures "
     "to be minimised or maximised (latency, energy, throughput ...) shows the Pareto front, whose "
     "points are labelled (#N: point N of a study). The same numbers give the same file. Missing "
     "folders are created. Returns FILE.",
     .run = run_write_plot},
    {.name = NULL},
};
