/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_ranks.c - see study_ranks.h. */
#include <config.h>
#include "tcl/study/study_ranks.h"
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"

typedef struct {
    bool is_busy;
    int64_t number, cell;
} rank_state;

struct th_study_ranks {
    const th_mailbox *mailbox;
    const th_study *study;
    th_point_setting setting;
    char *auto_path; /* of it */
    int n, n_busy;
    rank_state *ranks; /* by rank; rank 0, which runs the script, does none */
    char *received;
    size_t capacity;
};

/* ---- messages ---- */

static void serialize_metric(th_serializer *w, th_study_metric *m)
{
    int type = (int)m->type;
    th_serializer_text(w, &m->name);
    th_serializer_text(w, &m->kind);
    th_serializer_text(w, &m->column);
    th_serializer_int(w, &type);
    th_serializer_bool(w, &m->is_own);
    m->type = type == TH_FIGURE_REAL   ? TH_FIGURE_REAL
              : type == TH_FIGURE_TEXT ? TH_FIGURE_TEXT
                                       : TH_FIGURE_INTEGER;
}

static void put_point(th_serializer *w, const th_study_ranks *r, int64_t number, int64_t cell)
{
    const th_study *s = r->study;
    int64_t seed = s->seed, seconds = r->setting.seconds;
    bool is_safe = r->setting.is_safe;
    int n_parameters = s->n_parameters, n_metrics = s->n_metrics;
    const char *script = s->script, *auto_path = r->auto_path;
    th_serializer_int64(w, &number);
    th_serializer_int64(w, &seed);
    th_serializer_int64(w, &seconds);
    th_serializer_text(w, &script);
    th_serializer_text(w, &auto_path);
    th_serializer_bool(w, &is_safe);
    th_serializer_int(w, &n_parameters);
    for (int i = 0; i < n_parameters; i++) {
        const char *name = s->parameters[i].name, *value = th_study_value(s, cell, i);
        th_serializer_text(w, &name);
        th_serializer_text(w, &value);
    }
    th_serializer_int(w, &n_metrics);
    for (int i = 0; i < n_metrics; i++) {
        th_study_metric m = s->metrics[i];
        serialize_metric(w, &m);
    }
}

/* A study of this point alone: its cell is 0. -1: memory is out. */
static int get_point(th_serializer *w, th_study *s, th_point_job *job, th_error *err)
{
    int n = 0;
    th_serializer_int64(w, &job->number);
    th_serializer_int64(w, &s->seed);
    th_serializer_int64(w, &job->setting.seconds);
    th_serializer_text(w, &s->script);
    th_serializer_text(w, &job->setting.auto_path);
    th_serializer_bool(w, &job->setting.is_safe);
    th_serializer_int(w, &n);
    for (int i = 0; i < n && !w->failed; i++) {
        const char *name = NULL, *value = NULL;
        th_serializer_text(w, &name);
        th_serializer_text(w, &value);
        if (!name || !value || th_study_add_parameter(s, name, &value, 1, err) != 0)
            return -1;
    }
    th_serializer_int(w, &n);
    for (int i = 0; i < n && !w->failed; i++) {
        th_study_metric m = {.name = NULL};
        serialize_metric(w, &m);
        if (!m.name || !m.kind || !m.column || th_study_add_metric(s, &m, err) != 0)
            return -1;
    }
    return w->failed || !s->script ? th_error_no_memory(err) : 0;
}

static void serialize_figure(th_serializer *w, th_figure *f)
{
    th_serializer_bool(w, &f->is_absent);
    th_serializer_int64(w, &f->whole);
    th_serializer_double(w, &f->real);
    th_serializer_text(w, &f->text);
}

/* Texts that are read point into the message. */
static void serialize_outcome(th_serializer *w, th_study_point *p, int n_metrics)
{
    bool has_failed = p->state == TH_POINT_FAILED;
    th_serializer_bool(w, &has_failed);
    th_serializer_text(w, &p->error);
    th_serializer_text(w, &p->mapping);
    for (int i = 0; i < n_metrics; i++)
        serialize_figure(w, &p->figures[i]);
    p->state = has_failed ? TH_POINT_FAILED : TH_POINT_DONE;
}

/* ---- in the process that does the point ---- */

int th_study_ranks_serve(void *unused, const void *bytes, size_t n, th_serializer *answer)
{
    (void)unused;
    th_serializer w = th_serializer_reader(bytes, n);
    th_study *s = th_study_new();
    th_outcome out = {.was_stopped = false};
    th_point_job job = {.study = s, .threads = 1};
    th_error err;
    if (!s || get_point(&w, s, &job, &err) != 0) {
        th_study_free(s);
        return -1;
    }
    th_point_evaluate(&job, &out);
    serialize_outcome(answer, &out.point, s->n_metrics);
    th_outcome_clear(&out);
    th_study_free(s);
    return answer->failed ? -1 : 0;
}

/* ---- in the process that gives points out ---- */

th_study_ranks *th_study_ranks_new(const th_mailbox *mailbox, const th_study *study,
                                   const th_point_setting *setting)
{
    th_study_ranks *r = th_alloc_zero(1, sizeof *r);
    if (!r)
        return NULL;
    r->mailbox = mailbox;
    r->study = study;
    r->setting = *setting;
    r->n = mailbox ? mailbox->n() : 0;
    r->ranks = th_alloc_zero((size_t)r->n + 1, sizeof *r->ranks);
    r->auto_path = setting->auto_path ? th_alloc_string(setting->auto_path) : NULL;
    r->setting.auto_path = r->auto_path;
    if (r->ranks && (!setting->auto_path || r->auto_path))
        return r;
    th_study_ranks_free(r);
    return NULL;
}

void th_study_ranks_free(th_study_ranks *r)
{
    if (!r)
        return;
    th_free(r->ranks);
    th_free(r->received);
    th_free(r->auto_path);
    th_free(r);
}

int th_study_ranks_n(const th_study_ranks *r)
{
    return r->n;
}

int th_study_ranks_busy(const th_study_ranks *r)
{
    return r->n_busy;
}

int th_study_ranks_submit(th_study_ranks *r, int64_t number, int64_t cell)
{
    int to = 1;
    while (to <= r->n && r->ranks[to].is_busy)
        to++;
    if (to > r->n)
        return 0;
    th_serializer w = TH_SERIALIZER_INIT;
    put_point(&w, r, number, cell);
    bool failed = w.failed;
    if (!failed) {
        r->mailbox->send(to, w.out.text, w.out.length);
        r->ranks[to] = (rank_state){true, number, cell};
        r->n_busy++;
    }
    th_serializer_clear(&w);
    return failed ? -1 : 1;
}

/* Copies the texts. -1: memory is out. */
static int keep_texts(th_outcome *out, int n_metrics)
{
    th_study_point *p = &out->point;
    bool failed = false;
    if (p->error)
        failed |= !(p->error = out->error = th_alloc_string(p->error));
    if (p->mapping) {
        snprintf(out->mapping, sizeof out->mapping, "%s", p->mapping);
        p->mapping = out->mapping; /* as th_point_evaluate has it */
    }
    for (int i = 0; i < n_metrics; i++)
        if (p->figures[i].text)
            failed |= !(p->figures[i].text = out->texts[i] = th_alloc_string(p->figures[i].text));
    return failed ? -1 : 0;
}

int th_study_ranks_take(th_study_ranks *r, th_outcome *out)
{
    int from = 0;
    if (r->n_busy == 0)
        return 0;
    long n = r->mailbox->receive(&from, &r->received, &r->capacity);
    if (n < 0)
        return n == -1 ? 0 : -1;
    rank_state *rank = &r->ranks[from];
    th_serializer w = th_serializer_reader(r->received, (size_t)n);
    *out = (th_outcome){.point = {.number = rank->number, .cell = rank->cell}};
    serialize_outcome(&w, &out->point, r->study->n_metrics);
    rank->is_busy = false;
    r->n_busy--;
    if (keep_texts(out, r->study->n_metrics) == 0 && !w.failed)
        return 1;
    th_outcome_clear(out);
    return -1;
}
