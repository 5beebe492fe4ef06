/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.c - several jobs on one network: when each ended, how long it would have taken alone, and
 * what it sent over which link. */
#include <config.h>
#include "base/alloc.h"
#include "report/sections/sections.h"
#include "report/session/jobs.h"
#include "report/session/link_flows.h"

/* Bytes of each job over each link, the caller's; NULL on failure. */
static int64_t *bytes_by_job(th_session *s, const th_result *x, th_error *err)
{
    size_t rows = (size_t)s->simulation->program->n_jobs + 1;
    int64_t *bytes = th_alloc_zero(rows * (size_t)s->system->n_links + 1, sizeof *bytes);
    if (!bytes) {
        th_error_no_memory(err);
        return NULL;
    }
    if (th_link_bytes_by_job(bytes, s->system, s->simulation, x, err) == 0)
        return bytes;
    th_free(bytes);
    return NULL;
}

/* ---- the jobs ---- */

static int64_t sum(const int64_t *bytes, int n)
{
    int64_t all = 0;
    for (int i = 0; i < n; i++)
        all += bytes[i];
    return all;
}

/* alone_ps: -1: unknown. */
static void add_job(th_table *t, const th_program_job *j, th_time end_ps, th_time alone_ps,
                    int64_t bytes)
{
    bool has_both = end_ps >= 0 && alone_ps >= 0;
    th_time time_ps = end_ps - j->start_ps, time_alone_ps = alone_ps - j->start_ps;
    th_table_row(t,
                 (th_quantity[]){th_text(j->name), th_text(j->program), th_count(j->n_accels),
                                 th_count(j->n_tasks), th_ps(j->start_ps), th_ps_or_absent(end_ps),
                                 end_ps >= 0 ? th_ps(time_ps) : th_absent(TH_KIND_TIME),
                                 alone_ps >= 0 ? th_ps(time_alone_ps) : th_absent(TH_KIND_TIME),
                                 has_both && time_alone_ps > 0
                                     ? th_mean((double)time_ps / (double)time_alone_ps)
                                     : th_absent(TH_KIND_MEAN),
                                 th_bytes(bytes)});
}

static int add_jobs(th_session *s, th_table *t, const th_result *x, const int64_t *bytes,
                    bool compares, th_error *err)
{
    const th_program *p = s->simulation->program;
    int n_links = s->system->n_links;
    for (int32_t j = 0; j < p->n_jobs; j++) {
        th_time alone_ps = -1;
        if (compares && th_job_end_alone(s, j, &alone_ps, err))
            return -1;
        add_job(t, &p->jobs[j], th_job_end(p, x, j), alone_ps,
                sum(bytes + (size_t)j * (size_t)n_links, n_links));
    }
    return 0;
}

int th_section_jobs(th_session *s, th_report *r, bool compares, th_error *err)
{
    static const th_column columns[] = {
        {"job", "job", TH_KIND_TEXT},
        {"program", "program", TH_KIND_TEXT},
        {"ranks", "ranks", TH_KIND_COUNT},
        {"tasks", NULL, TH_KIND_COUNT},
        {"start", "start", TH_KIND_TIME},
        {"end", "end", TH_KIND_TIME},
        {"time", "time", TH_KIND_TIME},
        {"alone", "alone", TH_KIND_TIME},
        {"slowdown", "slowdown", TH_KIND_MEAN},
        {"bytes", "over links", TH_KIND_BYTES},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    int64_t *bytes = x ? bytes_by_job(s, x, err) : NULL;
    if (!bytes)
        return -1;
    th_table *t = th_report_table(r, "jobs", "Jobs", columns);
    th_table_note(t, "time", "time: end - start");
    th_table_note(t, "alone",
                  "alone: the same without the other jobs, simulated on the same accelerators");
    th_table_note(t, "slowdown", "slowdown: time / alone");
    th_table_note(t, "bytes", "over links: summed over all links");
    int failed = add_jobs(s, t, x, bytes, compares, err);
    th_free(bytes);
    return failed;
}

/* ---- links by job ---- */

int th_section_links_by_job(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"link", "link", TH_KIND_TEXT},      {"job", "job", TH_KIND_TEXT},
        {"bytes", "carried", TH_KIND_BYTES}, {"share", "of the link", TH_KIND_SHARE},
        {"load", "load", TH_KIND_SHARE},     {NULL, NULL, TH_KIND_TEXT},
    };
    const th_system *system = s->system;
    const th_program *p = s->simulation->program;
    const th_result *x = th_simulation_result(s->simulation, err);
    int64_t *bytes = x ? bytes_by_job(s, x, err) : NULL;
    if (!bytes)
        return -1;
    th_table *t = th_report_table(r, "by_job", "Links by job", columns);
    th_table_note(t, "share", "of the link: of all bytes over it");
    th_table_note(t, "load", "load: carried / (bandwidth x elapsed time)");
    for (int l = 0; l < system->n_links; l++) {
        int64_t all = 0;
        for (int32_t j = 0; j <= p->n_jobs; j++)
            all += bytes[(size_t)j * (size_t)system->n_links + (size_t)l];
        for (int32_t j = 0; j <= p->n_jobs; j++) {
            int64_t own = bytes[(size_t)j * (size_t)system->n_links + (size_t)l];
            double bits = (double)system->media[system->links[l].medium].bits_per_s *
                          th_seconds(x->elapsed_ps);
            if (own > 0)
                th_table_row(t, (th_quantity[]){th_text(system->links[l].name),
                                                th_text(j < p->n_jobs ? p->jobs[j].name : NULL),
                                                th_bytes(own),
                                                th_share(th_ratio((double)own, (double)all)),
                                                th_share(th_ratio(8 * (double)own, bits))});
        }
    }
    th_free(bytes);
    return 0;
}
