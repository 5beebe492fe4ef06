/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.c - the bubble of every accelerator that computes: with cost the longest time, over
 * accelerators, from the first start to the last end of its compute tasks,
 *     bubble = (cost - busy) / cost
 * as arXiv 2401.10241 defines the bubble rate where all stages are equally busy. */
#include <config.h>
#include "base/alloc.h"
#include "report/sections/sections.h"

typedef struct stage_times {
    th_time start_ps, end_ps, busy_ps; /* start_ps -1: it computes nothing */
} stage_times;

static void add_task(stage_times *x, const th_task_result *t)
{
    if (x->start_ps < 0 || t->start_ps < x->start_ps)
        x->start_ps = t->start_ps;
    x->end_ps = t->end_ps > x->end_ps ? t->end_ps : x->end_ps;
    x->busy_ps += t->end_ps - t->start_ps;
}

/* Of every accelerator; the caller's (th_free). NULL: memory is out. */
static stage_times *find_times(const th_session *s)
{
    const th_program *p = s->simulation->program;
    const th_task_result *times = th_machine_times(s->simulation->machine);
    stage_times *all = th_alloc_array((size_t)s->system->n_accels, sizeof *all);
    for (int i = 0; all && i < s->system->n_accels; i++)
        all[i] = (stage_times){.start_ps = -1};
    for (int32_t t = 0; all && t < p->n_tasks; t++)
        if (p->tasks[t].kind == TH_TASK_COMPUTE && times[t].end_ps >= 0)
            add_task(&all[s->system->nodes[p->tasks[t].node].accel], &times[t]);
    return all;
}

int th_section_pipeline(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"accel", "accel", TH_KIND_TEXT},    {"start", "start", TH_KIND_TIME},
        {"end", "end", TH_KIND_TIME},        {"busy", "busy", TH_KIND_TIME},
        {"bubble", "bubble", TH_KIND_SHARE}, {NULL, NULL, TH_KIND_TEXT},
    };
    stage_times *all = find_times(s);
    if (!all)
        return th_error_no_memory(err);
    th_table *table = th_report_table(r, "pipeline", NULL, columns);
    th_time cost = 0, busy = 0;
    int n = 0;
    for (int i = 0; i < s->system->n_accels; i++)
        if (all[i].start_ps >= 0 && all[i].end_ps - all[i].start_ps > cost)
            cost = all[i].end_ps - all[i].start_ps;
    for (int i = 0; i < s->system->n_accels; i++) {
        if (all[i].start_ps < 0)
            continue;
        busy += all[i].busy_ps;
        n++;
        th_quantity cells[] = {th_text(s->system->nodes[s->system->accel_node[i]].name),
                               th_ps(all[i].start_ps), th_ps(all[i].end_ps), th_ps(all[i].busy_ps),
                               th_share(1 - th_ratio((double)all[i].busy_ps, (double)cost))};
        th_table_row(table, cells);
    }
    th_quantity total[] = {th_text("all"), th_absent(TH_KIND_TIME), th_absent(TH_KIND_TIME),
                           th_ps(busy), th_share(1 - th_ratio((double)busy, (double)cost * n))};
    if (n > 0)
        th_table_total(table, total);
    th_free(all);
    return 0;
}
