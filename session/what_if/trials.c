/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trials.c - see trials.h; what_if.c tells when a clock is changed in the machine. */
#include <config.h>
#include "session/what_if/trials.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "base/alloc.h"
#include "base/jobs.h"
#include "base/interrupt.h"
#include "session/progress.h"
#include "session/property_events.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/time_breakdown.h"

/* ---- changed systems ---- */

static th_system *with_topology(const th_system *s, const th_system_change *c, th_error *err)
{
    const th_fabric f = th_fabric_of(s);
    th_topology_options o = {.bits_per_s = {c->bits_per_s},
                             .latency_ps = {f.cable_latency_ps},
                             .n_dims = c->n_dims,
                             .n_bandwidths = 1,
                             .n_latencies = 1,
                             .with_host = f.has_host,
                             .host_bits_per_s = f.host_bits_per_s,
                             .host_latency_ps = f.host_latency_ps,
                             .cost = f.cable_cost,
                             .host_cost = f.host_cost};
    memcpy(o.dims, c->dims, sizeof o.dims);
    return th_system_with_topology(s, c->type, &o, err);
}

static th_system *change_once(const th_system *s, const th_system_change *c, th_error *err)
{
    switch (c->kind) {
    case TH_CHANGE_NOTHING:
        return th_what_if_rebuild(s, err);
    case TH_CHANGE_PROPERTY:
        return th_what_if_system(s, &c->what, err);
    case TH_CHANGE_MORE:
        return th_system_with_more(s, c->what.objects[0], err);
    case TH_CHANGE_DESIGN:
        return th_system_with_design(s, c->what.objects, c->what.n, c->design, err);
    case TH_CHANGE_TOPOLOGY:
        return with_topology(s, c, err);
    }
    return NULL;
}

/* A system that is generated anew numbers its links anew. */
static bool keeps_links(const th_system *s, const th_system_change *c)
{
    return c->kind != TH_CHANGE_TOPOLOGY && (c->kind != TH_CHANGE_MORE || !s->generator);
}

th_system *th_change_system(const th_system *s, const th_system_change *c, th_error *err)
{
    const th_system_change *also = c->also;
    if (also && also->kind == TH_CHANGE_PROPERTY && th_what_if_is_of_links(also->what.what) &&
        !keeps_links(s, c))
        return NULL;
    th_system *made = change_once(s, c, err);
    if (!made || !also)
        return made;
    th_system *both = th_change_system(made, also, err);
    th_system_free(made);
    return both;
}

/* A change in the machine at time 0; the system stays. */
static bool is_in_machine(const th_system *s, const th_system_change *c)
{
    return c->kind == TH_CHANGE_PROPERTY && c->what.what == TH_WHAT_IF_CLOCK &&
           !th_what_if_is_of_designs(s, c->what.objects, c->what.n);
}

/* ---- one run ---- */

/* Clocks from the start, and the faults of the session, on top of them. */
static int change_machine(const th_session *s, th_machine *m, const th_system_change *c,
                          th_error *err)
{
    const bool is_clock = is_in_machine(s->system, c);
    const th_what_if *w = &c->what;
    for (int i = 0; is_clock && i < w->n; i++)
        if (th_machine_add_property_event(m,
                                          &(th_property_event){.kind = TH_PROPERTY_FREQUENCY,
                                                               .object = w->objects[i],
                                                               .factor = 1 + w->by},
                                          err) != 0)
            return -1;
    for (size_t i = 0; i < s->events.n; i++) {
        th_property_event e = s->events.all[i].event;
        if (is_clock && e.kind == TH_PROPERTY_FREQUENCY &&
            th_what_if_has(w->objects, w->n, e.object))
            e.factor *= 1 + w->by;
        if (th_machine_add_property_event(m, &e, err) != 0)
            return -1;
    }
    return 0;
}

th_simulation *th_what_if_load(const th_session *s, const th_system *system, const th_mapping *m,
                               const th_run_options *o, th_error *err)
{
    if (s->hand_built && s->hand_built->trace)
        return th_simulation_of_trace(
            &(th_lower_trace_options){.trace = s->hand_built->trace,
                                      .system = system,
                                      .roofline = s->hand_built->roofline},
            o, err);
    if (s->hand_built)
        return th_simulation_of_finished(system, s->hand_built->program, o, err);
    return th_simulation_new(system, s->workload, m, s->scripts, o, err);
}

/* The largest part of the critical path of a finished run. */
static int find_limit(const th_system *system, th_simulation *sim, const th_result *r, th_trial *t,
                      th_error *err)
{
    th_path_entry *path;
    th_time sum[TH_N_PARTS] = {0}, part[TH_N_PARTS], all = 0;
    int n = th_critical_path(r, &path, err), failed = n < 0;
    if (failed)
        return -1;
    for (int i = 0; i < n && !failed; i++) {
        failed =
            th_time_breakdown(&(th_run_view){system, th_simulation_costs(sim), sim->program, r},
                              path[i].task, part, err);
        for (int p = 0; p < TH_N_PARTS && !failed; p++)
            sum[p] += part[p];
        all += path[i].wait_ps + path[i].end_ps - path[i].start_ps;
    }
    th_free(path);
    for (int p = 0; p < TH_N_PARTS; p++)
        if (sum[p] > sum[t->limit])
            t->limit = p;
    t->limit_share = all > 0 ? (double)sum[t->limit] / (double)all : 0;
    return failed ? -1 : 0;
}

/* ---- all of them ---- */

typedef struct batch {
    th_session *session;
    th_trials *trials;
    th_run_options options;
    bool *used_links, *used_accels; /* by the first trial */
    th_progress progress;
    pthread_t own_thread; /* the interpreter's, which alone shows progress */
    atomic_int n_done;
} batch;

static void show_progress(batch *b)
{
    const int n = b->trials->n, n_done = atomic_fetch_add(&b->n_done, 1) + 1;
    if (pthread_equal(pthread_self(), b->own_thread) && th_progress_is_due(&b->progress))
        th_progress_show(&b->progress, "%s: %d of %d runs, %.0f s left",
                         b->trials->are_purchases ? "advice" : "what if", n_done, n,
                         th_progress_elapsed_s(&b->progress) / n_done * (n - n_done));
}

static void leave(void *state)
{
    th_script_memo_leave(((batch *)state)->session->scripts);
}

/* Of the unchanged run: links that carried bytes, accelerators that computed or moved data. */
static void note_used(const batch *b, const th_result *r)
{
    for (int l = 0; l < r->n_links; l++)
        b->used_links[l] = r->links[l].bytes > 0;
    for (int a = 0; a < r->n_accels; a++)
        b->used_accels[a] = r->accels[a].n_tasks > 0 || r->accels[a].sent_bytes > 0 ||
                            r->accels[a].received_bytes > 0;
}

static void mark_unused(const batch *b)
{
    for (int i = 0; i < b->trials->n; i++) {
        th_trial *t = &b->trials->all[i];
        const th_what_if *w = &t->change.what;
        const bool *used = th_what_if_is_of_links(w->what) ? b->used_links : b->used_accels;
        t->is_unused = t->change.kind == TH_CHANGE_PROPERTY;
        for (int o = 0; o < w->n && t->is_unused; o++)
            t->is_unused = !used[w->objects[o]];
    }
}

/* m: NULL for a hand-built program. */
static int run_to_end(const batch *b, const th_system *system, const th_mapping *m, th_trial *t,
                      th_error *err)
{
    const th_session *s = b->session;
    const th_result *r = NULL;
    th_simulation *sim = th_what_if_load(s, system, m, &b->options, err);
    int failed = sim ? 0 : -1;
    if (!failed && !b->trials->are_purchases)
        failed = change_machine(s, sim->machine, &t->change, err);
    th_stop stop = failed ? TH_STOP_ERROR : th_machine_run_until(sim->machine, TH_TIME_MAX, err);
    if (stop == TH_STOP_INTERRUPTED)
        th_error_interrupted(err, "the run is not at its end");
    if (stop == TH_STOP_DONE && (r = th_simulation_result(sim, err))) {
        t->end_ps = r->elapsed_ps;
        t->throughput_per_s =
            s->workload ? (double)th_workload_samples(s->workload) * th_result_throughput(r) : 0;
    }
    failed = !r || (b->trials->are_purchases && find_limit(system, sim, r, t, err) != 0) ? -1 : 0;
    if (!failed && t == b->trials->all)
        note_used(b, r);
    th_simulation_free(sim);
    return failed;
}

/* Maps anew, where it is asked to, and runs. */
static int try_system(const batch *b, const th_system *system, th_trial *t, th_error *err)
{
    th_session *s = b->session;
    if (s->hand_built || b->trials->remap.evaluations == 0)
        return run_to_end(b, system, s->hand_built ? NULL : s->mapping, t, err);
    th_mapping *m = th_what_if_map(s, system, &b->options, b->trials->remap, &t->metrics, err);
    int failed = m ? run_to_end(b, system, m, t, err) : -1;
    th_mapping_free(m);
    return failed;
}

/* Tables of the session are only read. */
static int run_piece(void *state, int i, th_error *err)
{
    batch *b = state;
    th_trial *t = &b->trials->all[i];
    const th_system *system = b->session->system;
    th_system *own = NULL;
    th_error *e = &t->failure;
    if (th_interrupt_is_pending())
        return th_error_interrupted(err, "not every run has begun");
    const bool is_changed =
        t->change.kind != TH_CHANGE_NOTHING && !is_in_machine(system, &t->change);
    if (is_changed && !(own = th_change_system(system, &t->change, e)) && !e->id[0])
        th_error_set(e, "TCL-1723", "the changed system cannot be made");
    int failed = is_changed && !own ? -1 : try_system(b, own ? own : system, t, e);
    th_system_free(own);
    show_progress(b);
    if (!failed)
        e->id[0] = '\0';
    /* A system on which nothing fits is an answer. */
    const bool is_answer = b->trials->are_purchases && i > 0 && !th_error_is_no_memory(e) &&
                           !th_error_is_interrupted(e);
    return !failed || is_answer ? 0 : th_error_set(err, e->id, "%s", e->text);
}

static int run_all(batch *b, th_error *err)
{
    th_session *s = b->session;
    b->used_links = th_alloc_zero((size_t)s->system->n_links + 1, sizeof *b->used_links);
    b->used_accels = th_alloc_zero((size_t)s->system->n_accels + 1, sizeof *b->used_accels);
    b->progress = th_progress_start(s->is_quiet);
    b->own_thread = pthread_self();
    int failed = b->used_links && b->used_accels
                     ? th_jobs_run(run_piece, leave, b, b->trials->n, s->threads, err)
                     : th_error_no_memory(err);
    th_progress_end(&b->progress);
    if (!failed)
        mark_unused(b);
    th_free(b->used_links);
    th_free(b->used_accels);
    return failed;
}

int th_trials_run(th_session *s, th_trials *t, th_error *err)
{
    batch b = {
        .session = s, .trials = t, .options = s->simulation ? s->simulation->options : s->defaults};
    for (size_t i = 0; i < s->events.n && !t->are_purchases; i++)
        if (!s->events.all[i].is_fault)
            return th_error_set(err, "TCL-0710",
                                "set_property has changed the present run: restart first, as "
                                "changes here apply from the start");
    if (s->hand_built && !s->simulation && th_program_finish(s->hand_built->program, err) != 0)
        return -1;
    return run_all(&b, err);
}
