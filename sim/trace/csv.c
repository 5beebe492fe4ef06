/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - one line per start and end of a task:
 * time_ps,event,task,kind,from,to,layer,input,bytes. */
#include <config.h>

#include <inttypes.h>

#include "sim/trace/writer.h"

static const char *const kind_names[] = {
    [TH_TASK_COMPUTE] = "compute",
    [TH_TASK_TRANSFER] = "transfer",
    [TH_TASK_HOST] = "host",
};

static void open_csv(th_trace *t)
{
    fputs("time_ps,event,task,kind,from,to,layer,input,bytes\n", t->file);
}

static const char *node_name(const th_trace *t, int32_t node)
{
    return node >= 0 ? t->system->nodes[node].name : "";
}

static void write_line(th_trace *t, const char *event, th_time now, int32_t number,
                       const th_task *task)
{
    bool moves = task->kind == TH_TASK_TRANSFER;
    const char *layer =
        t->workload && task->layer >= 0 ? t->workload->layers[task->layer].name : "";
    fprintf(t->file, "%" PRId64 ",%s,%" PRId32 ",%s,%s,%s,%s,%" PRId32 ",%" PRId64 "\n", now, event,
            number, kind_names[task->kind], node_name(t, task->node),
            moves ? node_name(t, task->peer) : "", layer, task->input, moves ? task->bytes : 0);
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
