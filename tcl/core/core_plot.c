/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_plot.c - core commands of lib/plot.tcl: tables as lists, and descriptions of plots as
 * pictures.
 *   plot_table -> lib/plot.tcl chooses columns -> draw_plot: description -> th_plot -> a file */
#include <config.h>
#include <ctype.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "session/objects/figures.h"
#include "render/plot/plots.h"
#include "session/sections/sections.h"
#include "session/link_flows.h"
#include "render/text/report_scale.h"
#include "tcl/core/lib_report.h"
#include "tcl/tcl_session.h"

/* ---- sources ---- */

static int links_table(th_session *s, th_report *r, th_error *err)
{
    return th_section_links(s, r, true, err);
}

static int need_front(th_session *s, th_error *err)
{
    return th_session_need_mapping(s, err) == 0 ? th_session_need_front(s, err) : -1;
}

typedef struct {
    const char *name;
    int (*need)(th_session *s, th_error *err); /* what must exist */
    int (*table)(th_session *s, th_report *r, th_error *err);
} source;

/* Beside runs; of a study lib/ makes the table. */
static const source sources[] = {
    {"layers", th_session_need_run, th_section_layer_figures},
    {"utilization", th_session_need_run, th_section_accels},
    {"links", th_session_need_run, links_table},
    {"convergence", th_session_need_mapping, th_section_convergence},
    {"pareto", need_front, th_section_front},
};

static const source *find_source(const char *name)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(sources[i].name, name) == 0)
            return &sources[i];
    return NULL;
}

/* ---- tables ---- */

static Tcl_Obj *columns_of(const th_table *t)
{
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < t->n_columns; i++) {
        const th_column *c = &t->columns[i];
        TH_LIB_ADD(list, th_lib_text(c->name), th_lib_text(c->title ? c->title : c->name),
                   th_lib_text(th_kind_name(c->kind)));
    }
    return list;
}

static int fill_from_runs(th_call *c, th_report *r)
{
    return th_call_find_runs(c, 1) || th_section_saved(c->session, r, &c->word[1].runs, &c->err)
               ? -1
               : 0;
}

static int fill(th_call *c, th_report *r)
{
    const char *name = th_call_word(c, 0);
    const source *s = find_source(name);
    if (strcmp(name, "runs") == 0)
        return fill_from_runs(c, r);
    if (!s)
        return th_lib_fault(c, "plot_table");
    return s->need(c->session, &c->err) == 0 ? s->table(c->session, r, &c->err) : -1;
}

/* plot_table SOURCE RUNS: {COLUMNS ROWS}. */
static int run_plot_table(th_call *c)
{
    th_report *r = th_report_new("plot", "Plot");
    int failed = r ? fill(c, r) : th_error_no_memory(&c->err);
    if (!failed && (failed = th_report_state(r, &c->err)) == 0)
        Tcl_SetObjResult(c->interp,
                         TH_LIB_LIST(columns_of(r->first), th_lib_rows(r->first, false)));
    th_report_free(r);
    return failed;
}

/* plot_unit KIND LARGEST: {UNIT DIVISOR}. */
static int run_plot_unit(th_call *c)
{
    double largest, divisor;
    int kind = th_lib_kind(c->words[0]);
    if (kind < 0 || Tcl_GetDoubleFromObj(NULL, c->words[1], &largest) != TCL_OK)
        return th_lib_fault(c, "plot_unit");
    const char *unit = th_kind_unit((th_kind)kind, largest, &divisor);
    return th_lib_give(c, TH_LIB_LIST(th_lib_text(unit), Tcl_NewDoubleObj(divisor)));
}

/* ---- descriptions ---- */

static const char *keep(th_plot *p, Tcl_Obj *text)
{
    return Tcl_GetCharLength(text) > 0 ? th_plot_text(p, "%s", Tcl_GetString(text)) : NULL;
}

/* Points {X Y LABEL ...}; an empty Y is absent. Bars and cells without a label get their value. */
static int add_points(th_plot *p, Tcl_Obj *list)
{
    Tcl_Obj **word;
    char text[40];
    int n = th_lib_elements(list, -1, &word);
    if (n < 0 || n % 3 != 0)
        return -1;
    for (int i = 0; i < n; i += 3) {
        double x, y = NAN;
        if (Tcl_GetDoubleFromObj(NULL, word[i], &x) != TCL_OK ||
            (Tcl_GetCharLength(word[i + 1]) > 0 &&
             Tcl_GetDoubleFromObj(NULL, word[i + 1], &y) != TCL_OK))
            return -1;
        const char *label = keep(p, word[i + 2]);
        if (!label && !isnan(y) && th_plot_is_text(p) && p->type != TH_PLOT_STACKED)
            label = th_plot_label(y, text, sizeof text);
        th_plot_point_add(p, x, y, label);
    }
    return 0;
}

/* {NAME JOIN IS_QUIET POINTS}, joined if JOIN is line */
static int add_series(th_plot *p, Tcl_Obj *list)
{
    Tcl_Obj **word;
    int is_quiet;
    if (th_lib_elements(list, 4, &word) < 0 ||
        Tcl_GetBooleanFromObj(NULL, word[2], &is_quiet) != TCL_OK)
        return -1;
    bool is_line = strcmp(Tcl_GetString(word[1]), "line") == 0;
    th_plot_series_begin(p, Tcl_GetString(word[0]), is_line ? TH_JOIN_LINE : TH_JOIN_NONE);
    if (!p->failed)
        p->series[p->n_series - 1].is_quiet = is_quiet;
    return add_points(p, word[3]);
}

/* {X_BETTER Y_BETTER POINTS}: -1 less, 1 more; without points there is none. Labels stand on the
 * better side, where nothing is. */
static int add_front(th_plot *p, Tcl_Obj *list)
{
    Tcl_Obj **word;
    int x, y;
    if (th_lib_elements(list, 3, &word) < 0 || Tcl_GetIntFromObj(NULL, word[0], &x) != TCL_OK ||
        Tcl_GetIntFromObj(NULL, word[1], &y) != TCL_OK)
        return -1;
    if (Tcl_GetCharLength(word[2]) == 0)
        return 0;
    th_plot_series_begin(p, "Pareto front", TH_JOIN_STEPS);
    if (!p->failed) {
        th_plot_series *front = &p->series[p->n_series - 1];
        front->is_front = true;
        front->x_side = x;
        front->y_side = y;
    }
    return add_points(p, word[2]);
}

/* A table's plots have a point of every series for every category. */
static bool is_rectangular(const th_plot *p)
{
    for (int s = 0; s < p->n_series; s++)
        if (p->series[s].n != (size_t)p->n_categories)
            return false;
    return p->n_series > 0;
}

/* {TYPE WHAT XLABEL YLABEL ZLABEL CATEGORIES SERIES FRONT}: 0 or -1. */
static int describe(th_plot *p, Tcl_Obj *const *word)
{
    Tcl_Obj **item;
    p->what = keep(p, word[1]);
    p->x.label = keep(p, word[2]);
    p->y.label = keep(p, word[3]);
    p->z.label = keep(p, word[4]);
    int n = th_lib_elements(word[5], -1, &item);
    for (int i = 0; i < n; i++)
        th_plot_category(p, Tcl_GetString(item[i]));
    int n_series = th_lib_elements(word[6], -1, &item), failed = n < 0 || n_series < 1;
    for (int i = 0; !failed && i < n_series; i++)
        failed = add_series(p, item[i]);
    failed = failed || add_front(p, word[7]);
    return failed || (!p->failed && th_plot_is_text(p) && !is_rectangular(p)) ? -1 : 0;
}

static th_plot *plot_of(th_call *c, Tcl_Obj *description)
{
    static const char *const types[] = {"bar", "line", "scatter", "stacked", "heat", NULL};
    Tcl_Obj **word;
    int type;
    th_plot *p = NULL;
    bool is_sound = th_lib_elements(description, 8, &word) > 0 &&
                    Tcl_GetIndexFromObj(NULL, word[0], types, "type", TCL_EXACT, &type) == TCL_OK;
    if (is_sound && !(p = th_plot_new((th_plot_type)type)))
        th_error_no_memory(&c->err);
    else if (!is_sound || describe(p, word) != 0)
        th_lib_fault(c, "draw_plot");
    else
        return p;
    th_plot_free(p);
    return NULL;
}

/* ---- titles ---- */

/* What the plot is of: "resnet101, batch 16, on ring"; NULL: of runs that differ, or of nothing. */
static const char *subject_of(th_call *c, th_plot *p, const th_runs *runs)
{
    const th_session *s = c->session;
    th_quantity workload = th_absent(TH_KIND_TEXT), batch = workload, x;
    for (int i = 0; i < runs->n; i++) {
        x = th_saved_run_figure(runs->all[i], "workload");
        if (i > 0 && (!x.text || th_quantity_compare(&x, &workload) != 0 ||
                      th_saved_run_figure(runs->all[i], "batch").whole != batch.whole))
            return NULL;
        workload = x;
        batch = th_saved_run_figure(runs->all[i], "batch");
    }
    if (strcmp(th_call_word(c, 0), "study") == 0)
        return th_plot_text(p, "study %s", th_call_word(c, 1));
    if (runs->n > 0)
        return workload.text ? th_plot_text(p, "%s, batch %d", workload.text, (int)batch.whole)
                             : NULL;
    if (!s->system || (!s->hand_built && !s->workload))
        return NULL;
    if (s->hand_built)
        return th_plot_text(p, "%s, on %s", s->hand_built->name, s->system->name);
    return th_plot_text(p, "%s, batch %d, on %s", s->workload->name, (int)s->workload->batch,
                        s->system->name);
}

/* "Latency [ms] by run: resnet101, batch 16". */
static const char *usual_title(th_call *c, th_plot *p, const th_runs *runs)
{
    const char *subject = subject_of(c, p, runs), *what = p->what;
    if (!what)
        return subject;
    int first = isascii((unsigned char)*what) ? toupper((unsigned char)*what) : *what;
    return th_plot_text(p, "%c%s%s%s", first, what + 1, subject ? ": " : "",
                        subject ? subject : "");
}

int th_write_plot(th_session *s, th_plot *p, const char *path, th_error *err)
{
    th_strbuf bytes = TH_STRBUF_INIT;
    int picture = p ? th_picture_find(path, err) : -1;
    int failed = picture < 0 ? -1 : th_plot_draw(p, (th_picture)picture, &bytes, err);
    if (!failed)
        failed = th_session_write_file(s, path, false, &bytes, err);
    th_strbuf_clear(&bytes);
    th_plot_free(p);
    return failed;
}

static bool has_positive(const th_plot *p, bool is_y)
{
    for (int s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++)
            if ((is_y ? p->series[s].point[i].y : p->series[s].point[i].x) > 0)
                return true;
    return false;
}

/* Axes of x and y; places of names have no logarithm. */
static int set_log(th_plot *p, const char *axes, th_error *err)
{
    if (*axes == '\0')
        return 0;
    p->x.is_log = strchr(axes, 'x') && p->n_categories == 0;
    p->y.is_log = strchr(axes, 'y') && p->type != TH_PLOT_HEAT;
    for (int is_y = 0; is_y < 2; is_y++)
        if ((is_y ? p->y.is_log : p->x.is_log) && !has_positive(p, is_y))
            return th_error_set(err, "TCL-2343", "-log %c: no value is above 0", "xy"[is_y]);
    return 0;
}

/* The plot of the description; of convergence without one, that of the search. NULL: error in
 * c->err. */
static th_plot *make_plot(th_call *c)
{
    th_session *s = c->session;
    if (Tcl_GetCharLength(c->words[3]) > 0 || strcmp(th_call_word(c, 0), "convergence") != 0)
        return plot_of(c, c->words[3]);
    return th_session_need_mapping(s, &c->err) == 0 ? th_plot_of_search(s, &c->err) : NULL;
}

static int set_looks(th_call *c, th_plot *p)
{
    if (strcmp(th_call_word(c, 0), "runs") == 0 && th_call_find_runs(c, 1) != 0)
        return -1;
    p->is_titled = c->n_words > 5;
    p->title = p->is_titled ? th_plot_text(p, "%s", th_call_word(c, 5))
                            : usual_title(c, p, &c->word[1].runs);
    return set_log(p, th_call_word(c, 4), &c->err);
}

/* draw_plot SOURCE RUNS|STUDY FILE DESCRIPTION AXES ?TITLE?: AXES of x and y that are logarithmic;
 * without a description, the convergence of the search. */
static int run_draw_plot(th_call *c)
{
    const char *file = th_call_word(c, 2);
    th_plot *p = th_picture_find(file, &c->err) < 0 ? NULL : make_plot(c);
    if (p && set_looks(c, p) != 0) {
        th_plot_free(p);
        p = NULL;
    }
    int failed = th_write_plot(c->session, p, file, &c->err);
    if (!failed)
        th_call_return_text(c, file);
    return failed;
}

/* check_picture FILE: an error unless its extension is that of a picture. */
static int run_check_picture(th_call *c)
{
    return th_picture_find(th_call_word(c, 0), &c->err) < 0 ? -1 : 0;
}

/* traffic: {FROM TO BYTES} of each pair of nodes, that started tasks send. */
static int run_traffic(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_run(s, &c->err) != 0)
        return -1;
    size_t n = (size_t)s->system->n_nodes;
    const th_result *x = th_simulation_result(s->simulation, &c->err);
    int64_t *bytes = x ? th_alloc_zero(n * n + 1, sizeof *bytes) : NULL;
    int failed = bytes ? th_traffic_collect(bytes, s->system, s->simulation, x, &c->err)
                 : x   ? th_error_no_memory(&c->err)
                       : -1;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (size_t i = 0; !failed && i < n * n; i++)
        if (bytes[i] > 0)
            TH_LIB_ADD(all, Tcl_NewWideIntObj((int64_t)(i / n)),
                       Tcl_NewWideIntObj((int64_t)(i % n)), Tcl_NewWideIntObj(bytes[i]));
    th_free(bytes);
    Tcl_SetObjResult(c->interp, all);
    return failed;
}

/* draw_graph FILE: the graph of the workload, which Graphviz draws. */
static int run_draw_graph(th_call *c)
{
    const char *path = th_call_word(c, 0);
    th_strbuf bytes = TH_STRBUF_INIT;
    int failed = th_session_need_workload(c->session, &c->err) ||
                 th_graph_draw(c->session->workload, path, &bytes, &c->err) ||
                 th_session_write_file(c->session, path, false, &bytes, &c->err);
    th_strbuf_clear(&bytes);
    if (!failed)
        th_call_return_text(c, path);
    return failed ? -1 : 0;
}

const th_command th_core_plot_commands[] = {
    TH_CORE_ROW_OF_RUN("plot_table", "SOURCE RUNS", 2, run_plot_table),
    TH_CORE_ROW_OF_RUN("plot_unit", "KIND LARGEST", 2, run_plot_unit),
    {.name = "draw_plot",
     .words = "SOURCE RUNS|STUDY FILE DESCRIPTION AXES ?TITLE?",
     .min_words = 5,
     .max_words = 6,
     .run = run_draw_plot},
    TH_CORE_ROW("check_picture", "FILE", 1, 1, run_check_picture),
    TH_CORE_ROW("traffic", "", 0, 0, run_traffic),
    TH_CORE_ROW_OF_RUN("draw_graph", "FILE", 1, run_draw_graph),
    {.name = NULL},
};
