/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.c - the table of trace writers, opening and closing.
 *   open -> (start | end)* -> close
 * Write errors are sticky in the stream and told at close. */
#include <config.h>

#include "sim/trace/trace.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/trace/writer.h"

const th_trace_type *const th_trace_types[] = {&th_trace_csv, NULL};

const th_trace_type *th_trace_find(const char *name)
{
    for (int i = 0; th_trace_types[i]; i++)
        if (strcmp(th_trace_types[i]->name, name) == 0)
            return th_trace_types[i];
    return NULL;
}

th_trace *th_trace_open(const char *path, const th_trace_type *type, const th_system *s,
                        const th_workload *w, th_error *err)
{
    th_trace *t = th_alloc_zero(1, sizeof *t);
    if (!t || !(t->path = th_alloc_string(path))) {
        th_free(t);
        th_error_no_memory(err);
        return NULL;
    }
    t->type = type;
    t->system = s;
    t->workload = w;
    t->file = fopen(path, "w");
    if (!t->file) {
        th_error_set(err, "SIM-0007", "%s: cannot be opened for writing: %s", path,
                     strerror(errno));
        th_free(t->path);
        th_free(t);
        return NULL;
    }
    type->open(t);
    return t;
}

int th_trace_close(th_trace *t, th_error *err)
{
    if (!t)
        return 0;
    int failed = ferror(t->file) != 0;
    failed |= fclose(t->file) != 0;
    if (failed)
        th_error_set(err, "SIM-0008", "%s: not all of the trace could be written: %s", t->path,
                     strerror(errno));
    th_free(t->path);
    th_free(t);
    return failed ? -1 : 0;
}

void th_trace_start(th_trace *t, th_time now, int32_t number, const th_task *task)
{
    t->type->start(t, now, number, task);
}

void th_trace_end(th_trace *t, th_time now, int32_t number, const th_task *task)
{
    t->type->end(t, now, number, task);
}
