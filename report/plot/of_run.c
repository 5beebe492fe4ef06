/* SPDX-License-Identifier: GPL-3.0-or-later */
/* of_run.c - plots of the present run: the time of accelerators, and the traffic between nodes.
 * Heat maps have a row per sender and a column per receiver; nodes without traffic are left out. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include "base/alloc.h"
#include "report/session/contention_run.h"
#include "report/session/link_flows.h"
#include "report/plot/plots.h"
#include "report/table/report_scale.h"
#include "report/sections/sections.h"

enum { NODES_MAX = 256 }; /* cells of a heat map; smaller ones are invisible */

/* ---- accelerators ---- */

enum { BUSY, STALL_IN, STALL_OUT, IDLE, N_PARTS };

static double part_of(const th_accel_result *a, int part)
{
    switch (part) {
    case BUSY:
        return (double)a->stats.busy_ps;
    case STALL_IN:
        return (double)th_stats_stall_in(&a->stats);
    case STALL_OUT:
        return (double)a->stats.stall_ps[TH_ENGINE_OUTPUT];
    default:
        return (double)a->idle_ps;
    }
}

/* Of every accelerator and link, in a run of every rank. */
static const th_result *whole_result(th_session *s, th_error *err)
{
    return th_session_need_every_rank(s, err) ? NULL : th_simulation_result(s->simulation, err);
}

th_plot *th_plot_of_accels(th_session *s, th_error *err)
{
    static const char *const names[N_PARTS] = {"busy", "stalled on input", "stalled on output",
                                               "idle"};
    const th_result *x = whole_result(s, err);
    th_plot *p = x ? th_plot_new(TH_PLOT_STACKED) : NULL;
    if (!p) {
        if (x)
            th_error_no_memory(err);
        return NULL;
    }
    p->x.label = "accelerator";
    p->y.label = "share of the elapsed time [%]";
    p->what = "work of the accelerators";
    for (int a = 0; a < x->n_accels; a++)
        th_plot_category(p, s->system->nodes[s->system->accel_node[a]].name);
    for (int part = 0; part < N_PARTS; part++) {
        th_plot_series_begin(p, names[part], TH_JOIN_NONE);
        for (int a = 0; a < x->n_accels; a++)
            th_plot_point_add(
                p, a,
                x->elapsed_ps > 0 ? 100 * part_of(&x->accels[a], part) / (double)x->elapsed_ps : 0,
                NULL);
    }
    if (!p->failed)
        p->series[IDLE].is_quiet = true;
    return p;
}

/* ---- node by node ---- */

/* A value for each pair of nodes; NAN: none. */
typedef struct {
    double *value;
    int n;
} matrix;

static int matrix_init(matrix *m, const th_system *s, th_error *err)
{
    if (s->n_nodes > NODES_MAX)
        return th_error_set(err, "TCL-0368", "a heat map of %d nodes: must be %d at most",
                            s->n_nodes, NODES_MAX);
    m->n = s->n_nodes;
    m->value = th_alloc_array((size_t)m->n * (size_t)m->n + 1, sizeof *m->value);
    if (!m->value)
        return th_error_no_memory(err);
    for (int i = 0; i < m->n * m->n; i++)
        m->value[i] = NAN;
    return 0;
}

static bool is_used(const matrix *m, int node)
{
    for (int i = 0; i < m->n; i++)
        if (m->value[node * m->n + i] > 0 || m->value[i * m->n + node] > 0)
            return true;
    return false;
}

/* Whole numbers take three letters. */
static const char *cell_text(double value, char *out, size_t size)
{
    snprintf(out, size, fabs(value) >= 10 ? "%.0f" : "%.2g", value);
    return out;
}

static void add_row(th_plot *p, const th_system *s, const matrix *m, int from, double unit)
{
    char text[40];
    th_plot_series_begin(p, s->nodes[from].name, TH_JOIN_NONE);
    for (int to = 0; to < m->n; to++) {
        double value = m->value[from * m->n + to] / unit;
        if (is_used(m, to))
            th_plot_point_add(p, to, value,
                              isnan(value) ? NULL : cell_text(value, text, sizeof text));
    }
}

/* Takes over the values of m. */
static th_plot *heat_of(const th_system *s, matrix *m, double unit, th_error *err)
{
    th_plot *p = th_plot_new(TH_PLOT_HEAT);
    for (int i = 0; p && i < m->n; i++)
        if (is_used(m, i))
            th_plot_category(p, s->nodes[i].name);
    for (int i = 0; p && i < m->n; i++)
        if (is_used(m, i))
            add_row(p, s, m, i, unit);
    th_free(m->value);
    if (!p) {
        th_error_no_memory(err);
        return NULL;
    }
    p->x.label = "to";
    p->y.label = "from";
    if (p->n_categories > 0 || p->failed)
        return p;
    th_error_set(err, "TCL-0373", "there is nothing to draw: nothing went over the network");
    th_plot_free(p);
    return NULL;
}

/* Of several links between two nodes, the greatest load. */
th_plot *th_plot_of_links(th_session *s, th_error *err)
{
    const th_system *system = s->system;
    const th_result *x = whole_result(s, err);
    const double *load = x ? th_simulation_loads(s->simulation, err) : NULL;
    matrix m;
    if (!load || matrix_init(&m, system, err) != 0)
        return NULL;
    for (int l = 0; l < x->n_links; l++) {
        double *cell = &m.value[system->links[l].from * m.n + system->links[l].to];
        if (!(*cell >= load[l]))
            *cell = load[l];
    }
    th_plot *p = heat_of(system, &m, 0.01, err);
    if (p)
        p->z.label = p->what = "load of the link [%]";
    return p;
}

th_plot *th_plot_of_traffic(th_session *s, th_error *err)
{
    const th_system *system = s->system;
    const th_result *x = whole_result(s, err);
    matrix m;
    if (!x || matrix_init(&m, system, err) != 0)
        return NULL;
    int64_t *bytes = th_alloc_zero((size_t)m.n * (size_t)m.n + 1, sizeof *bytes), largest = 0;
    double unit;
    if (!bytes)
        th_error_no_memory(err);
    if (!bytes || th_traffic_collect(bytes, system, s->simulation, x, err) != 0) {
        th_free(bytes);
        th_free(m.value);
        return NULL;
    }
    for (int i = 0; i < m.n * m.n; i++) {
        largest = bytes[i] > largest ? bytes[i] : largest;
        if (bytes[i] > 0)
            m.value[i] = (double)bytes[i];
    }
    th_free(bytes);
    const char *name = th_kind_unit(TH_KIND_BYTES, (double)largest, &unit);
    th_plot *p = heat_of(system, &m, unit, err);
    if (p)
        p->z.label = p->what = th_plot_text(p, "bytes sent [%s]", name);
    return p;
}

/* ---- links over time ---- */

/* The links with the greatest load, in the order of the system: chosen[n]. */
static int choose_hot(const th_result *x, const double *load, int *chosen, int most)
{
    int n = 0;
    for (int l = 0; l < x->n_links; l++) {
        int worst = 0;
        if (x->links[l].bytes == 0 && x->links[l].busy_ps == 0)
            continue;
        if (n < most) {
            chosen[n++] = l;
            continue;
        }
        for (int i = 1; i < n; i++)
            if (load[chosen[i]] <= load[chosen[worst]])
                worst = i;
        if (load[l] <= load[chosen[worst]])
            continue;
        for (int i = worst; i < n - 1; i++)
            chosen[i] = chosen[i + 1];
        chosen[n - 1] = l;
    }
    return n;
}

static void add_link_row(th_plot *p, const th_system *s, const th_contention_probe *w, int row,
                         th_time end)
{
    char text[40];
    const th_probe_window *windows = th_contention_probe_windows(w, w->links[row].link);
    th_plot_series_begin(p, s->links[w->links[row].link].name, TH_JOIN_NONE);
    for (int i = 0; i < w->n_windows; i++) {
        th_time from = i * w->window_ps, to = from + w->window_ps;
        double flows = th_ratio(windows[i].flow_ps, (double)((to < end ? to : end) - from));
        th_plot_point_add(p, i, flows > 0 ? flows : NAN,
                          flows > 0 ? cell_text(flows, text, sizeof text) : NULL);
    }
}

/* A row per link, a column per window, named by its start. */
static th_plot *heat_over_time(const th_system *s, const th_contention_probe *w, th_time end)
{
    double divisor;
    char text[40];
    const char *unit = th_kind_unit(TH_KIND_TIME, (double)end, &divisor);
    th_plot *p = th_plot_new(TH_PLOT_HEAT);
    for (int i = 0; p && i < w->n_windows; i++)
        th_plot_category(p, cell_text((double)(i * w->window_ps) / divisor, text, sizeof text));
    for (size_t row = 0; p && row < w->n_links; row++)
        add_link_row(p, s, w, (int)row, end);
    if (p) {
        p->x.label = th_plot_text(p, "time from [%s]", unit);
        p->y.label = "link";
        p->z.label = p->what = "flows on the link (mean)";
    }
    return p;
}

th_plot *th_plot_of_link_time(th_session *s, th_error *err)
{
    enum { LINKS_MAX = 24, WINDOWS = 24 };
    const th_result *x = whole_result(s, err);
    const double *load = x ? th_simulation_loads(s->simulation, err) : NULL;
    int chosen[LINKS_MAX];
    if (!load)
        return NULL;
    th_time end = x->elapsed_ps;
    int n = choose_hot(x, load, chosen, LINKS_MAX);
    if (n == 0) {
        th_error_set(err, "TCL-0941", "there is nothing to draw: nothing went over the network");
        return NULL;
    }
    th_contention_probe w;
    th_plot *p = NULL;
    int failed = th_contention_probe_init(&w, s->system, NULL, end, WINDOWS);
    for (int i = 0; !failed && i < n; i++)
        failed = th_contention_probe_watch_link(&w, chosen[i]);
    if (failed)
        th_error_no_memory(err);
    else if (th_probe_run_again(s, &w, err) == 0 && !(p = heat_over_time(s->system, &w, end)))
        th_error_no_memory(err);
    th_contention_probe_clear(&w);
    return p;
}
