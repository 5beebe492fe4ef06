/* SPDX-License-Identifier: GPL-3.0-or-later */
/* links.c - the bytes that each link carried, and the flows that shared one of them. The load of a
 * link is the bytes over its medium as a fraction of what the medium could have carried in the
 * elapsed time. (Busy time says less: a single flow that another link slows down keeps a link
 * busy.) Flows over time are not recorded during a run: the run is repeated with a probe on the
 * link. */
#include <config.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/min_max.h"
#include "report/session/contention_run.h"
#include "report/session/link_flows.h"
#include "report/session/property_events.h"
#include "report/objects/objects.h"
#include "report/sections/sections.h"

/* Bytes over each medium; NULL when memory is out. */
static int64_t *medium_bytes(const th_system *s, const th_result *x)
{
    int64_t *bytes = th_alloc_zero((size_t)s->n_media + 1, sizeof *bytes);
    for (int l = 0; bytes && l < x->n_links; l++)
        bytes[s->links[l].medium] += x->links[l].bytes;
    return bytes;
}

static double load_of(const th_medium *m, int64_t bytes, th_time elapsed_ps)
{
    double bits = (double)m->bits_per_s * (double)elapsed_ps / (double)TH_PS_PER_S;
    return th_ratio(8 * (double)bytes, bits);
}

double *th_link_loads(const th_system *s, const th_result *x)
{
    int64_t *bytes = medium_bytes(s, x);
    double *loads = th_alloc_array((size_t)s->n_links + 1, sizeof *loads);
    for (int l = 0; bytes && loads && l < s->n_links; l++)
        loads[l] = load_of(&s->media[s->links[l].medium], bytes[s->links[l].medium], x->elapsed_ps);
    if (!bytes) {
        th_free(loads);
        loads = NULL;
    }
    th_free(bytes);
    return loads;
}

/* ---- the worst link ---- */

int th_link_worst(th_session *s, th_error *err)
{
    const th_system *system = s->system;
    const th_result *x = th_simulation_result(s->simulation, err);
    int64_t *bytes = x ? medium_bytes(system, x) : NULL;
    if (!bytes) {
        if (x)
            th_error_no_memory(err);
        return -2;
    }
    int worst = -1;
    double greatest = 0;
    for (int l = 0; l < x->n_links; l++) {
        int medium = system->links[l].medium;
        double load = load_of(&system->media[medium], bytes[medium], x->elapsed_ps);
        if (x->links[l].bytes > 0 && load > greatest) {
            greatest = load;
            worst = l;
        }
    }
    th_free(bytes);
    return worst;
}

/* ---- the flows of a link ---- */

static void add_flow(th_session *s, const th_result *x, th_table *t, const th_link_flow *f)
{
    const th_task *task = &s->simulation->program->tasks[f->task];
    const th_node *nodes = s->system->nodes;
    const th_task_result *when = &x->tasks[f->task];
    const char *what =
        task->kind == TH_TASK_COLLECTIVE
            ? th_collective_names[s->simulation->program->collectives[task->collective].kind]
        : task->layer >= 0 ? s->workload->layers[task->layer].name
                           : th_task_kind_name(task->kind);
    int32_t job = th_program_job_of(s->simulation->program, f->task);
    if (job >= 0)
        what =
            th_report_printf(t->report, "%.100s: %s", s->simulation->program->jobs[job].name, what);
    th_table_row(t, (th_quantity[]){th_count(f->task), th_text(what), th_text(nodes[f->from].name),
                                    th_text(nodes[f->to].name), th_count(f->messages),
                                    th_bytes(f->bytes), th_ps_or_absent(when->start_ps),
                                    th_ps_or_absent(when->end_ps)});
}

int th_section_link_flows(th_session *s, th_report *r, int link, bool is_worst, th_error *err)
{
    static const th_column columns[] = {
        {"task", "task", TH_KIND_COUNT},
        {"what", "what", TH_KIND_TEXT},
        {"from", "from", TH_KIND_TEXT},
        {"to", "to", TH_KIND_TEXT},
        {"messages", "messages", TH_KIND_COUNT},
        {"bytes", "carried", TH_KIND_BYTES},
        {"start", "start", TH_KIND_TIME},
        {"end", "end", TH_KIND_TIME},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    th_link_flows f;
    if (!x || th_link_flows_collect(&f, s->system, s->simulation, x, link, err) != 0)
        return -1;
    const char *name = s->system->links[link].name;
    th_table *t = th_report_table(
        r, "flows",
        th_report_printf(
            r, is_worst ? "Flows over link/%.60s, the most loaded one" : "Flows over link/%.60s",
            name),
        columns);
    if (!x->is_done)
        th_table_note(t, "messages bytes",
                      "messages, carried: of whole tasks, though the run has not ended");
    if (th_property_events_reroute(s))
        th_table_note(t, NULL,
                      "by the routes of the system, without detours round links that are down");
    for (size_t i = 0; i < f.n; i++)
        add_flow(s, x, t, &f.flows[i]);
    th_link_flows_clear(&f);
    enum { BYTES = 5 };
    th_table_sort(t, BYTES);
    return 0;
}

/* ---- one link over time ---- */

static void add_window(th_table *t, const th_probe_window *w, th_time from, th_time to)
{
    th_table_row(t, (th_quantity[]){th_ps(from), th_ps(to),
                                    th_mean(th_ratio(w->flow_ps, (double)(to - from))),
                                    th_count(w->peak_flows),
                                    th_count(w->peak_flows > 0 ? w->peak_flows - 1 : 0)});
}

int th_section_link_time(th_session *s, th_report *r, int link, int32_t n_windows, th_error *err)
{
    static const th_column columns[] = {
        {"start", "start", TH_KIND_TIME},           {"end", "end", TH_KIND_TIME},
        {"mean_flows", "flows", TH_KIND_MEAN},      {"max_flows", "peak flows", TH_KIND_COUNT},
        {"max_queue", "peak queue", TH_KIND_COUNT}, {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    th_contention_probe w;
    if (!x)
        return -1;
    th_time end = x->elapsed_ps;
    int failed = th_contention_probe_init(&w, s->system, NULL, end, n_windows) ||
                         th_contention_probe_watch_link(&w, link)
                     ? th_error_no_memory(err)
                     : th_probe_run_again(s, &w, err);
    if (failed) {
        th_contention_probe_clear(&w);
        return failed;
    }
    th_table *t = th_report_table(
        r, "over_time",
        th_report_printf(r, "Flows on link/%.60s over time", s->system->links[link].name), columns);
    th_table_note(t, "mean_flows", "flows: their mean over the window");
    th_table_note(t, "max_queue", "queue: flows beyond the first");
    for (int32_t i = 0; i < w.n_windows; i++)
        add_window(t, &th_contention_probe_windows(&w, link)[i], i * w.window_ps,
                   th_min((i + 1) * w.window_ps, end));
    th_contention_probe_clear(&w);
    return 0;
}
