/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session_parts.c - makes, replaces and frees the parts of a session, see session.h.
 * A setter drops what depends on the part that it replaces. */
#include <config.h>
#include "session/gpu_models.h"
#include "session/session.h"
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/interrupt.h"
#include "session/jobs.h"
#include "session/property_events.h"
#include "session/saved_run.h"
#include "session/table/report.h"

/* The line of progress of the tuner: what it simulates; it ends with candidate NULL. */
static void show_choice(void *own, const th_collective *candidate)
{
    th_session *s = own;
    if (!candidate)
        th_progress_end(&s->choosing);
    else if (th_progress_is_due(&s->choosing))
        th_progress_show(&s->choosing, "auto: %s of %d ranks: simulates %s in %d chunk%s",
                         th_collective_names[candidate->kind], candidate->n_ranks,
                         candidate->algorithm->name, candidate->chunks,
                         candidate->chunks > 1 ? "s" : "");
}

int th_session_init(th_session *s, const th_session_observer *observer)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *s = (th_session){.observer = observer,
                      .threads = processors > 0 ? (int)processors : 1,
                      .defaults = {.stream = th_stream_single, .network = th_network_types[0]},
                      .text = {.links_of_task = -1},
                      .gpu_models = th_gpu_models_new(),
                      .choices = th_collective_choices_new()};
    if (s->choices)
        th_collective_choices_watch(s->choices, (th_collective_choice_watch){show_choice, s});
    return s->gpu_models && s->choices ? 0 : -1;
}

void th_session_clear(th_session *s)
{
    th_session_drop_run(s);
    th_property_events_clear(s);
    th_saved_runs_clear(s);
    th_mapping_free(s->mapping);
    th_free(s->search.improvements);
    th_front_free(s->search.front);
    th_hand_built_free(s->hand_built);
    th_saved_programs_clear(s);
    th_workload_free(s->workload);
    th_script_memo_free(s->scripts);
    th_system_free(s->system);
    th_free(s->text.task_links);
    th_strbuf_clear(&s->text.scratch);
    th_gpu_models_free(s->gpu_models);
    th_collective_choices_free(s->choices);
}

/* ---- kept reports ---- */

void th_session_keep_report(th_session *s, th_report *r)
{
    int i = 0;
    while (i < TH_KEPT_REPORTS_MAX - 1 && s->kept[i] && strcmp(s->kept[i]->name, r->name) != 0)
        i++;
    th_report_free(s->kept[i]);
    s->kept[i] = r;
}

th_report *th_session_kept_report(const th_session *s, const char *name)
{
    for (int i = 0; i < TH_KEPT_REPORTS_MAX; i++)
        if (s->kept[i] && strcmp(s->kept[i]->name, name) == 0)
            return s->kept[i];
    return NULL;
}

static void drop_reports(th_session *s)
{
    for (int i = 0; i < TH_KEPT_REPORTS_MAX; i++) {
        th_report_free(s->kept[i]);
        s->kept[i] = NULL;
    }
}

/* ---- setters ---- */

static void drop_simulation(th_session *s)
{
    if (s->simulation && s->trace)
        th_trace_leave(s->trace);
    th_simulation_free(s->simulation);
    s->simulation = NULL;
    s->text.links_of_task = -1;
}

/* In the place of a run that nobody can observe. -1. */
static int put_back(th_session *s, th_simulation *old)
{
    th_simulation_free(s->simulation);
    s->simulation = old;
    if (old && s->observer->run_replaced(s, NULL) != 0)
        drop_simulation(s);
    return -1;
}

int th_session_keep_simulation(th_session *s, th_simulation *fresh, th_error *err)
{
    th_simulation *old = s->simulation;
    if (old && s->trace)
        th_trace_leave(s->trace);
    s->simulation = fresh; /* the property events belong to it already */
    if (s->observer && s->observer->run_replaced(s, err) != 0)
        return put_back(s, old);
    s->text.links_of_task = -1;
    if (old && !th_run_options_equal(&old->options, &fresh->options))
        drop_reports(s);
    th_simulation_free(old);
    return 0;
}

int th_session_take_simulation(th_session *s, th_simulation *fresh, th_error *err)
{
    if (th_property_events_reapply(s, fresh, err) != 0) {
        th_simulation_free(fresh);
        return -1;
    }
    if (th_session_keep_simulation(s, fresh, err) != 0)
        return -1;
    if (!s->run_is_due)
        th_property_events_discard(s);
    s->run_is_due = false;
    return 0;
}

void th_session_drop_run(th_session *s)
{
    drop_reports(s);
    drop_simulation(s);
    th_property_events_discard(s);
}

static void clear_search(th_search_record *f)
{
    th_free(f->improvements);
    th_front_free(f->front);
    *f = (th_search_record){0};
}

static void notify_dropped(th_session *s, bool of_system)
{
    if (s->observer)
        s->observer->objects_dropped(s, of_system);
}

/* Drops the mapping or the hand-built program, and breakpoints on its layers and tasks. */
static void drop_mapping(th_session *s)
{
    th_session_drop_run(s);
    notify_dropped(s, false);
    th_mapping_free(s->mapping);
    th_hand_built_free(s->hand_built);
    s->mapping = NULL;
    s->hand_built = NULL;
    clear_search(&s->search);
    s->defaults = (th_run_options){.stream = th_stream_single, .network = th_network_types[0]};
    th_session_use_network(s, &s->defaults);
}

void th_session_set_system(th_session *s, th_system *system)
{
    drop_mapping(s);
    th_saved_programs_clear(s);
    notify_dropped(s, true);
    th_property_events_clear(s);
    th_script_memo_clear(s->scripts);
    th_collective_choices_clear(s->choices);
    th_system_free(s->system);
    s->system = system;
}

void th_session_set_model(th_session *s, const th_session_model *model)
{
    s->model = *model;
    s->model.shape.name = s->model.name;
}

void th_session_set_workload(th_session *s, th_workload *workload)
{
    drop_mapping(s);
    th_workload_free(s->workload);
    s->workload = workload;
}

void th_session_set_mapping(th_session *s, th_mapping *mapping, const th_search_record *how)
{
    drop_mapping(s);
    s->mapping = mapping;
    s->search = *how;
}

int th_session_select(th_session *s, int number, th_error *err)
{
    const th_front *f = s->search.front;
    th_mapping *m = th_mapping_copy(f->mapping[number]);
    if (!m)
        return th_error_no_memory(err);
    th_session_drop_run(s);
    th_mapping_free(s->mapping);
    s->mapping = m;
    s->search.selected = number;
    s->search.fitness.metrics = f->metrics[number];
    s->search.fitness.value = th_goal_fitness(&s->search.goal, &f->metrics[number]);
    return 0;
}

void th_session_set_hand_built(th_session *s, th_hand_built *hand_built)
{
    th_session_set_workload(s, NULL);
    s->hand_built = hand_built;
}

/* The options of a run that has not begun are kept for the next one. */
int th_session_open_hand_built(th_session *s, th_error *err)
{
    if (!s->hand_built)
        return th_error_set(err, "TCL-0150", "no program yet: create_program first");
    if (s->hand_built->trace)
        return th_error_set(err, "TCL-0801",
                            "the program \"%s\" is a trace, to which nothing can be added: "
                            "create_program first",
                            s->hand_built->name);
    if (s->run_is_due)
        th_property_events_discard(s);
    if (!s->simulation)
        return 0;
    if (s->simulation->has_begun)
        return th_error_set(err, "TCL-0151", "the program \"%s\" has begun to run: restart first",
                            s->hand_built->name);
    s->defaults = s->simulation->options;
    th_session_drop_run(s);
    return 0;
}

static th_simulation *new_simulation(th_session *s, const th_run_options *o, th_error *err)
{
    if (s->hand_built && s->hand_built->trace)
        return th_simulation_of_trace(
            &(th_lower_trace_options){.trace = s->hand_built->trace,
                                      .system = s->system,
                                      .roofline = s->hand_built->roofline,
                                      .is_interrupted = th_interrupt_is_pending},
            o, err);
    if (s->hand_built) {
        th_simulation *of = th_simulation_of_program(s->system, s->hand_built->program, o, err);
        if (of)
            of->step = s->hand_built->step;
        return of;
    }
    return th_simulation_new(s->system, s->workload, s->mapping, s->scripts, o, err);
}

th_simulation *th_session_new_simulation(th_session *s, const th_run_options *o, th_error *err)
{
    th_run_options own = *o;
    if (th_session_need_program(s, err) != 0)
        return NULL;
    own.choices = s->choices;
    s->choosing = th_progress_start(s->is_quiet);
    th_simulation *made = new_simulation(s, &own, err);
    th_progress_end(&s->choosing);
    return made;
}

void th_session_use_network(const th_session *s, th_run_options *o)
{
    bool is_packet = o->network == th_network_find("packet");
    o->network_options = is_packet ? s->network : (th_network_options){.packet_bytes = 0};
    o->network_options.weigh_by_latency =
        s->network.weigh_by_latency && o->network == th_network_find("fluid");
}

void th_session_take_network(th_session *s, const th_run_options *o)
{
    bool weighs = s->network.weigh_by_latency;
    if (o->network == th_network_find("packet")) {
        s->network = o->network_options;
        s->network.weigh_by_latency = weighs;
    } else if (o->network == th_network_find("fluid"))
        s->network.weigh_by_latency = o->network_options.weigh_by_latency;
}

th_simulation *th_session_simulation(th_session *s, th_error *err)
{
    if (s->simulation)
        return s->simulation;
    th_session_use_network(s, &s->defaults);
    th_simulation *fresh = th_session_new_simulation(s, &s->defaults, err);
    return fresh && th_session_take_simulation(s, fresh, err) == 0 ? fresh : NULL;
}

int th_session_make_due_run(th_session *s, th_error *err)
{
    th_error why = {"", ""};
    if (!s->run_is_due || th_session_simulation(s, &why) ||
        !(th_error_is_no_memory(&why) || th_error_is_interrupted(&why)))
        return 0;
    *err = why;
    return -1;
}
