/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - one line per start and end of a task:
 * time_ps,event,task,kind,from,to,layer,input,bytes. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "sim/trace/writer.h"

static const char *const kind_names[] = {
    [TH_TASK_COMPUTE] = "compute",
    [TH_TASK_TRANSFER] = "transfer",
    [TH_TASK_HOST] = "host",
    [TH_TASK_COLLECTIVE] = "collective",
};

static void open_csv(th_trace *t)
{
    fputs("time_ps,event,task,kind,from,to,layer,input,bytes\n", t->file);
}

static const char *node_name(const th_trace *t, int32_t node)
{
    return node >= 0 ? t->system->nodes[node].name : "";
}

/* Names may hold anything that is printed: quoted where CSV asks for it (RFC 4180). */
static void write_name(th_trace *t, const char *name)
{
    if (!strpbrk(name, ",\"\n\r")) {
        fputs(name, t->file);
        return;
    }
    fputc('"', t->file);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', t->file);
        fputc(*name, t->file);
    }
    fputc('"', t->file);
}

static void write_line(th_trace *t, const char *event, th_time now, int32_t number,
                       const th_task *task)
{
    bool moves = task->kind == TH_TASK_TRANSFER;
    const char *layer =
        t->workload && task->layer >= 0 ? t->workload->layers[task->layer].name : "";
    fprintf(t->file, "%" PRId64 ",%s,%" PRId32 ",%s,%s,%s,", now, event, number,
            kind_names[task->kind], node_name(t, task->node),
            moves ? node_name(t, task->peer) : "");
    write_name(t, layer);
    fprintf(t->file, ",%" PRId32 ",%" PRId64 "\n", task->input, moves ? task->bytes : 0);
}

static void start(th_trace *t, th_time now, int32_t number, const th_task *task)
{
    write_line(t, "start", now, number, task);
}

static void end(th_trace *t, th_time now, int32_t number, const th_task *task)
{
    write_line(t, "end", now, number, task);
}

const th_trace_type th_trace_csv = {"csv", open_csv, start, end};
