/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_stop.c - see run_stop.h. run keeps no record of events, so the last one is found among the
 * times of the tasks. */
#include <config.h>
#include "session/objects/run_stop.h"

static const char *const unit_names[] = {
    [TH_STEP_EVENT] = "event", [TH_STEP_LAYER] = "layer", [TH_STEP_TILE] = "tile"};

/* The latest start or end of a task; among equals the end of the highest number. */
static th_happened latest(const th_simulation *sim)
{
    const th_task_result *times = th_machine_times(sim->machine);
    th_happened last = {.at = -1, .kind = TH_HAPPENED_NOTHING};
    for (int32_t t = 0; t < sim->program->n_tasks; t++) {
        bool has_ended = times[t].end_ps >= 0;
        th_time at = has_ended ? times[t].end_ps : times[t].start_ps;
        if (at < 0 || at < last.at)
            continue;
        last = (th_happened){.at = at,
                             .kind = has_ended ? TH_HAPPENED_TASK_END : TH_HAPPENED_TASK_START,
                             .object = t};
    }
    return last;
}

static void add_task(th_session *s, int32_t task, th_strbuf *out)
{
    th_strbuf_printf(out, "task/%d (", (int)task);
    th_task_describe(s, &s->simulation->program->tasks[task], out);
    th_strbuf_add(out, ")");
}

static void add_message(th_session *s, const th_happened *h, th_strbuf *out)
{
    char bytes[64];
    th_strbuf_printf(out, "message %s -> %s, %s, %s", s->system->nodes[h->message.src].name,
                     s->system->nodes[h->message.dst].name,
                     th_format_bytes(h->message.bytes, bytes, sizeof bytes),
                     h->kind == TH_HAPPENED_MESSAGE_START ? "starts" : "arrives");
}

static void add_tile(th_session *s, const th_happened *h, th_strbuf *out)
{
    const th_simulation *sim = s->simulation;
    int32_t task = th_machine_running(sim->machine, h->object);
    th_strbuf_printf(out, "tile %lld", (long long)h->tile);
    if (task >= 0) {
        int32_t cost = sim->program->tasks[task].compute_cost;
        int64_t n = th_compute_cost_get(th_simulation_costs(sim), cost)->total.n_steps;
        th_strbuf_printf(out, " of %lld of ", (long long)n);
        add_task(s, task, out);
    } else {
        th_strbuf_printf(out, " on accel/%s",
                         s->system->nodes[s->system->accel_node[h->object]].name);
    }
    th_strbuf_add(out, " is computed");
}

static void add_happened(th_session *s, const th_happened *h, th_strbuf *out)
{
    switch ((th_happened_kind)h->kind) {
    case TH_HAPPENED_NOTHING:
        th_strbuf_add(out, "nothing has begun");
        break;
    case TH_HAPPENED_TASK_START:
    case TH_HAPPENED_TASK_END:
        add_task(s, h->object, out);
        th_strbuf_add(out, h->kind == TH_HAPPENED_TASK_START ? " starts" : " ends");
        break;
    case TH_HAPPENED_MESSAGE_START:
    case TH_HAPPENED_MESSAGE_END:
        add_message(s, h, out);
        break;
    case TH_HAPPENED_TILE:
        add_tile(s, h, out);
        break;
    }
}

static void add_breakpoint(th_session *s, const th_stopped_by *by, th_strbuf *out)
{
    th_strbuf_printf(out, "breakpoint %s: %s", by->name, by->why);
    if (!by->has_object)
        return;
    if (by->object.class == TH_CLASS_TASK) {
        th_strbuf_add(out, " of ");
        add_task(s, by->object.index, out);
    } else {
        th_strbuf_printf(out, " (%s/%s)", th_class_name(by->object.class),
                         th_object_stored_name(s, by->object));
    }
}

static void add_reason(th_session *s, const th_run_stop *stop, th_strbuf *out)
{
    switch (stop->end) {
    case TH_END_DONE:
        th_strbuf_add(out, "done");
        break;
    case TH_END_UNTIL:
        if (stop->steps > 0)
            th_strbuf_printf(out, "after %lld %s%s", (long long)stop->steps, unit_names[stop->unit],
                             stop->steps > 1 ? "s" : "");
        else
            th_strbuf_add(out, "until");
        break;
    case TH_END_BREAKPOINT:
        add_breakpoint(s, &stop->by, out);
        break;
    case TH_END_STOPPED:
    case TH_END_INTERRUPTED:
    case TH_END_FAILED:
        th_strbuf_add(out, stop->end == TH_END_FAILED ? "failed" : "interrupted");
        break;
    }
}

void th_run_stop_describe(th_session *s, const th_run_stop *stop, th_strbuf *out)
{
    char text[64];
    th_time now = th_machine_now(s->simulation->machine);
    bool is_step = stop->last.kind != TH_HAPPENED_NOTHING;
    th_happened last = is_step ? stop->last : latest(s->simulation);
    th_strbuf_printf(out, "%s: ", th_format_time(now, text, sizeof text));
    add_reason(s, stop, out);
    if (stop->end == TH_END_BREAKPOINT && stop->by.has_object &&
        stop->by.object.class == TH_CLASS_TASK)
        return;
    th_strbuf_add(out, is_step && last.at == now ? ": " : "; last ");
    add_happened(s, &last, out);
    if (last.at >= 0 && last.at != now)
        th_strbuf_printf(out, " at %s", th_format_time(last.at, text, sizeof text));
}
