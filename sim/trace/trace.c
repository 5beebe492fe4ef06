/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.c - the table of trace writers; opening and closing a trace.
 *   open -> notify.c -> close
 * The first write that fails is reported by close. */
#include <config.h>

#include "sim/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/open_file.h"
#include "sim/trace/trace_state.h"

const th_trace_type *const th_trace_types[] = {&th_trace_csv, &th_trace_vcd, &th_trace_perfetto,
                                               &th_trace_chrome, NULL};

const th_trace_type *th_trace_find(const char *name)
{
    for (int i = 0; th_trace_types[i]; i++)
        if (strcmp(th_trace_types[i]->name, name) == 0)
            return th_trace_types[i];
    return NULL;
}

const char *th_trace_type_name(const th_trace_type *type)
{
    return type->name;
}

int th_trace_check_resolution(th_time resolution_ps, th_error *err)
{
    char text[64];
    th_time power = 1;
    while (power < resolution_ps && power < TH_PS_PER_S)
        power *= 10;
    if (resolution_ps > 0 && power == resolution_ps)
        return 0;
    return th_error_set(err, "SIM-0220",
                        "resolution %s: must be 1, 10 or 100 of ps, ns, us or ms, or 1s",
                        th_format_time(resolution_ps, text, sizeof text));
}

static void free_trace(th_trace *t)
{
    th_free(t->path);
    th_free(t->objects);
    th_free(t->variables);
    th_free(t->changed);
    th_lanes_free(t->lanes);
    th_free(t->writer_data);
    th_free(t);
}

static int allocate(th_trace *t, const char *path)
{
    size_t n = (size_t)t->n_objects + 1;
    t->path = th_alloc_string(path);
    t->objects = th_alloc_zero(n, sizeof *t->objects);
    t->changed = th_alloc_array(n, sizeof *t->changed);
    t->lanes = t->type->span_begin ? th_lanes_new(t->n_objects) : NULL;
    bool has_lanes = t->lanes || !t->type->span_begin;
    return t->path && t->objects && t->changed && has_lanes ? 0 : -1;
}

static const th_trace_options whole_run = {.until_ps = TH_TIME_MAX};

th_trace *th_trace_open(const char *path, const th_trace_type *type, const th_trace_options *o,
                        const th_system *s, const th_workload *w, th_error *err)
{
    th_trace *t = th_alloc_zero(1, sizeof *t);
    if (!t) {
        th_error_no_memory(err);
        return NULL;
    }
    t->observer.type = &th_trace_observer_type;
    t->type = type;
    t->system = s;
    t->workload = w;
    t->options = o ? *o : whole_run;
    if (t->options.resolution_ps < type->finest_ps)
        t->options.resolution_ps = type->finest_ps;
    t->options.since_ps -= t->options.since_ps % t->options.resolution_ps;
    t->n_nodes = s->n_nodes;
    t->n_objects = s->n_nodes + s->n_links;
    if (allocate(t, path)) {
        th_error_no_memory(err);
        free_trace(t);
        return NULL;
    }
    t->out.file = th_file_open(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (t->out.file < 0) {
        th_error_set(err, "SIM-0007", "%s: cannot be opened for writing: %s", path,
                     th_file_problem(errno));
        free_trace(t);
        return NULL;
    }
    th_trace_reset(t);
    return t;
}

bool th_trace_has_begun(const th_trace *t)
{
    return t->is.has_events;
}

th_observer *th_trace_observer(th_trace *t)
{
    return &t->observer;
}

void th_trace_restart(th_trace *t, const th_program *p)
{
    t->program = p;
    if (t->is.has_events) { /* a pipe keeps what was written */
        t->out.n = 0;
        if (ftruncate(t->out.file, 0) == 0 && lseek(t->out.file, 0, SEEK_SET) == 0)
            t->out.error = 0;
    }
    th_free(t->writer_data);
    t->writer_data = NULL;
    th_trace_reset(t);
}

int th_trace_close(th_trace *t, th_error *err)
{
    if (!t)
        return 0;
    th_trace_finish(t);
    th_out_flush(&t->out);
    int failed = t->type->write_beside ? t->type->write_beside(t, err) : 0;
    if (close(t->out.file) != 0 && t->out.error == 0)
        t->out.error = errno;
    if (t->out.error != 0)
        failed = th_error_set(err, "SIM-0008", "%s: not all of the trace could be written: %s",
                              t->path, strerror(t->out.error));
    else if (t->is.is_out_of_memory)
        failed = th_error_no_memory(err);
    free_trace(t);
    return failed ? -1 : 0;
}
