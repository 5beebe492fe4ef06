/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c - see session.h. */
#include <config.h>
#include "report/session/gpu_models.h"
#include "report/session/session.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/map.h"
#include "mapper/pool/serializer.h"
#include "report/session/property_events.h"
#include "report/session/saved_run.h"

int th_session_init(th_session *s, const th_session_observer *observer)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *s = (th_session){.observer = observer,
                      .threads = processors > 0 ? (int)processors : 1,
                      .defaults = {.stream = th_stream_single, .network = th_network_types[0]},
                      .text = {.links_of_task = -1},
                      .gpu_models = th_gpu_models_new()};
    return s->gpu_models ? 0 : -1;
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
    th_workload_free(s->workload);
    th_script_memo_free(s->scripts);
    th_system_free(s->system);
    th_free(s->text.task_links);
    th_strbuf_clear(&s->text.scratch);
    th_gpu_models_free(s->gpu_models);
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

int th_session_keep_simulation(th_session *s, th_simulation *fresh, th_error *err)
{
    drop_simulation(s); /* but not the property events, which belong to the new run already */
    s->simulation = fresh;
    if (!s->observer || s->observer->run_replaced(s, err) == 0)
        return 0;
    th_session_drop_run(s);
    return -1;
}

int th_session_take_simulation(th_session *s, th_simulation *fresh, th_error *err)
{
    if (th_property_events_reapply(s, fresh, err) == 0)
        return th_session_keep_simulation(s, fresh, err);
    th_simulation_free(fresh);
    return -1;
}

void th_session_drop_run(th_session *s)
{
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
}

void th_session_set_system(th_session *s, th_system *system)
{
    drop_mapping(s);
    notify_dropped(s, true);
    th_property_events_clear(s);
    th_script_memo_clear(s->scripts);
    th_system_free(s->system);
    s->system = system;
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

int th_session_need_front(th_session *s, th_error *err)
{
    if (th_session_need_mapping(s, err) != 0)
        return -1;
    if (s->search.front)
        return 0;
    return th_error_set(
        err, "TCL-0256",
        "no Pareto front: map_workload -objective {pareto latency energy} finds one");
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
    if (!s->simulation)
        return 0;
    if (s->simulation->has_begun)
        return th_error_set(err, "TCL-0151", "the program \"%s\" has begun to run: restart first",
                            s->hand_built->name);
    s->defaults = s->simulation->options;
    th_session_drop_run(s);
    return 0;
}

int th_session_need_system(th_session *s, th_error *err)
{
    return s->system
               ? 0
               : th_error_set(err, "TCL-0020", "no system yet: read_system or create_system first");
}

int th_session_need_workload(th_session *s, th_error *err)
{
    if (s->workload)
        return 0;
    if (s->hand_built)
        return th_error_set(err, "TCL-0152",
                            "the program \"%s\" is hand-built and has neither workload nor "
                            "mapping: read_workload takes its place",
                            s->hand_built->name);
    return th_error_set(err, "TCL-0021", "no workload yet: read_workload first");
}

int th_session_need_problem(th_session *s, th_error *err)
{
    return th_session_need_system(s, err) != 0 ? -1 : th_session_need_workload(s, err);
}

int th_session_need_mapping(th_session *s, th_error *err)
{
    if (th_session_need_problem(s, err) != 0)
        return -1;
    return s->mapping ? 0
                      : th_error_set(err, "TCL-0022",
                                     "no mapping yet: map_workload or read_mapping first");
}

int th_session_need_program(th_session *s, th_error *err)
{
    if (!s->hand_built && s->system && !s->workload)
        return th_error_set(
            err, "TCL-0185",
            "nothing to run yet: read_workload and map_workload, or create_program first");
    if (!s->hand_built)
        return th_session_need_mapping(s, err);
    if (s->hand_built->program->n_tasks > 0)
        return 0;
    return th_error_set(err, "TCL-0153",
                        "the program \"%s\" has no tasks yet: add_transfer or add_collective first",
                        s->hand_built->name);
}

int th_session_need_run(th_session *s, th_error *err)
{
    if (th_session_need_program(s, err) != 0)
        return -1;
    if (s->simulation && s->simulation->has_begun)
        return 0;
    return th_error_set(err, "TCL-0023", "nothing has run yet: run or step first");
}

int th_session_need_no_trace(th_session *s, th_error *err)
{
    if (!s->trace)
        return 0;
    return th_error_set(err, "TCL-0024",
                        "a trace of what is simulated now is open: close_trace first");
}

th_simulation *th_session_new_simulation(th_session *s, const th_run_options *o, th_error *err)
{
    if (th_session_need_program(s, err) != 0)
        return NULL;
    if (s->hand_built)
        return th_simulation_of_program(s->system, s->hand_built->program, o, err);
    return th_simulation_new(s->system, s->workload, s->mapping, s->scripts, o, err);
}

th_simulation *th_session_simulation(th_session *s, th_error *err)
{
    if (s->simulation)
        return s->simulation;
    th_simulation *fresh = th_session_new_simulation(s, &s->defaults, err);
    return fresh && th_session_take_simulation(s, fresh, err) == 0 ? fresh : NULL;
}

const th_program *th_session_program(const th_session *s)
{
    if (s->hand_built)
        return s->hand_built->program;
    return s->simulation ? s->simulation->program : NULL;
}

const th_collective *th_session_collective(const th_session *s, int32_t number)
{
    return s->simulation ? th_simulation_collective(s->simulation, number)
                         : &s->hand_built->program->collectives[number];
}

char *th_session_digest(const th_session *s, char *out, size_t size)
{
    th_strbuf text = TH_STRBUF_INIT;
    snprintf(out, size, "-");
    if (s->hand_built)
        snprintf(out, size, "%016" PRIx64, th_hand_built_digest(s->hand_built));
    if (s->mapping) {
        th_mapping_write(s->mapping, s->system, s->workload, &text);
        if (text.text && !text.failed)
            snprintf(out, size, "%016" PRIx64, th_hash(text.text, text.length, 0));
    }
    th_strbuf_clear(&text);
    return out;
}

static int digest_of(th_serializer *w, char *out, size_t size)
{
    bool failed = w->failed || w->out.failed;
    snprintf(out, size, "%016" PRIx64, th_hash(w->out.text ? w->out.text : "", w->out.length, 0));
    th_serializer_clear(w);
    return failed ? -1 : 0;
}

/* As in journals of searches. */
int th_session_input_digests(const th_session *s, char *system, char *workload, size_t size)
{
    th_serializer a = {.skips_locations = true}, b = {.skips_locations = true};
    th_serializer_write_system(&a, s->system);
    int failed = digest_of(&a, system, size);
    snprintf(workload, size, "-");
    if (!s->workload)
        return failed;
    th_serializer_write_workload(&b, s->workload);
    return digest_of(&b, workload, size) != 0 ? -1 : failed;
}
