/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_train.c - training of the models of several kinds of operations.
 *   train: { begin: select -> measure } of every model -> jobs { exam, law } -> choose -> jobs {
 * learn }
 *          -> end
 * An exam has the candidates learn from some rows and answer others: for known devices a fifth of
 * the operations is held out, for others every device in turn. By their errors there learners are
 * chosen, or blended, and then learn from all rows. Exams learn from samples, so that they cost
 * little. Jobs do not depend on each other, so the result does not depend on the number of threads.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/model/jobs.h"
#include "predictor/model/training_set.h"

#define PERCEPTRON(n_steps)                                                                        \
    {                                                                                              \
        .hidden = {64, 64}, .steps = (n_steps), .batch = 256, .rate = 2e-3, .slope = 0.15          \
    }
#define PERFNET                                                                                    \
    {                                                                                              \
        .hidden = {32, 64, 128, 256}, .steps = 6000, .batch = 128, .rate = 1e-3, .slope = 0        \
    }

const th_train_options th_train_defaults = {
    .known = {.trees = {.rounds = 150,
                        .depth = 8,
                        .rate = 0.12,
                        .slope = 0.15,
                        .least_weight = 10,
                        .row_share = 1,
                        .column_share = 0.5},
              .mlp = PERCEPTRON(5000),
              .perceptron = PERFNET},
    .other = {.trees = {.rounds = 150,
                        .depth = 6,
                        .rate = 0.08,
                        .slope = 0.15,
                        .least_weight = 40,
                        .row_share = 1,
                        .column_share = 0.5},
              .mlp = PERCEPTRON(2000),
              .perceptron = PERFNET},
    .seed = 1,
};

/* Rows to learn from (on known and on other devices), and to judge, in exams; and steps of the
 * large perceptron there. */
enum { SAMPLE = 16000, OTHER_SAMPLE = 8000, JUDGED = 8000, EXAM_STEPS = 800 };
enum { EPOCHS_MAX = 100 };

typedef struct {
    th_rows rows;
    const th_train_options *o;
    unsigned candidates;
    th_ballot *exam; /* 0: of known devices; 1 + i: of device i, left out */
    int n_exams;
} trainer;

typedef struct {
    trainer *trainer;
    enum { EXAM, LAW, LEARN } what;
    int number;    /* of the exam; of the law; of the member */
    bool is_known; /* that learns */
} job;

typedef struct {
    job *job;
    int n;
    size_t capacity;
} job_list;

static double *weights_of(const th_layer_model *m, int device)
{
    return m->weight + (size_t)device * (size_t)m->n_terms;
}

/* --- exams ------------------------------------------------------------------------------------ */

/* So many rows are seen so often at most. */
static void limit_steps(th_mlp_options *o, size_t n)
{
    size_t limit = EPOCHS_MAX * n / (size_t)o->batch + 1;
    if ((size_t)o->steps > limit)
        o->steps = (int)limit;
}

static th_effort effort_of(const trainer *t, bool is_known, bool is_exam, size_t n)
{
    th_effort e = is_known ? t->o->known : t->o->other;
    e.trees.seed = e.mlp.seed = e.perceptron.seed = t->o->seed;
    if (is_exam && e.perceptron.steps > EXAM_STEPS)
        e.perceptron.steps = EXAM_STEPS;
    limit_steps(&e.mlp, n);
    limit_steps(&e.perceptron, n);
    return e;
}

static bool is_candidate(const trainer *t, int learner)
{
    const th_learner_type *type = th_learner_types[learner];
    return (t->candidates >> learner & 1) && (!type->is_there || type->is_there());
}

static unsigned sights_of(const trainer *t)
{
    unsigned sees = 0;
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (is_candidate(t, l))
            sees |= th_learner_types[l]->sees;
    return sees;
}

/* The candidates learn from one lesson and answer the other. */
static int answer(const trainer *t, const th_lesson *learned, const th_lesson *judged,
                  th_ballot *out, th_error *err)
{
    th_effort effort = effort_of(t, learned->is_known, true, learned->sights.n);
    out->n = judged->sights.n;
    out->right = th_alloc_array(out->n + 1, sizeof *out->right);
    if (!out->right)
        return th_error_no_memory(err);
    for (size_t i = 0; i < out->n; i++)
        out->right[i] = log(judged->ms[i]);
    for (int l = 0; l < TH_N_LEARNERS; l++) {
        const th_learner_type *type = th_learner_types[l];
        void *state;
        if (!is_candidate(t, l))
            continue;
        out->said[l] = th_alloc_array(out->n + 1, sizeof *out->said[l]);
        if (!out->said[l])
            return th_error_no_memory(err);
        if (type->train(learned, &effort, &state, err))
            return -1;
        type->run(state, &judged->sights, out->said[l]);
        type->clear(state);
    }
    return 0;
}

/* Weights of the laws that an exam is taken with: by device and of all, of the rows it is learned
 * from. */
static int exam_laws(const trainer *t, int left_out, double *weight)
{
    const th_layer_model *m = t->rows.model;
    if (left_out != TH_ALL)
        return th_rows_fit_law(&t->rows, &(th_selection){TH_ALL, left_out, TH_ALL, false, SIZE_MAX},
                               weight);
    for (int d = 0; d < m->n_devices; d++)
        if (th_rows_fit_law(&t->rows, &(th_selection){d, TH_ALL, TH_HELD_OUT, true, SIZE_MAX},
                            weight + (size_t)d * (size_t)m->n_terms))
            return -1;
    return 0;
}

static int take_exam(const trainer *t, int number, th_error *err)
{
    const th_layer_model *m = t->rows.model;
    bool is_known = number == 0;
    int left_out = is_known ? TH_ALL : number - 1;
    th_selection learned = {TH_ALL, left_out, is_known ? TH_HELD_OUT : TH_ALL, true,
                            is_known ? SAMPLE : OTHER_SAMPLE},
                 judged = {left_out, TH_ALL, is_known ? TH_HELD_OUT : TH_ALL, false,
                           is_known ? JUDGED : JUDGED / (size_t)m->n_devices};
    double *weight =
        th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)m->n_terms + 1, sizeof *weight);
    th_lesson lesson = {.ms = NULL}, exam = {.ms = NULL};
    unsigned sees = sights_of(t);
    int failed = !weight || exam_laws(t, left_out, weight) ||
                         th_lesson_make(&lesson, &t->rows, &learned, is_known, weight, sees) ||
                         th_lesson_make(&exam, &t->rows, &judged, is_known, weight, sees)
                     ? th_error_no_memory(err)
                     : 0;
    if (!failed && lesson.sights.n > 0 && exam.sights.n > 0)
        failed = answer(t, &lesson, &exam, &t->exam[number], err);
    th_lesson_clear(&lesson);
    th_lesson_clear(&exam);
    th_free(weight);
    return failed;
}

/* --- choice ----------------------------------------------------------------------------------- */

/* What was said in the exams first .. last - 1, one behind the other. */
static int join(const trainer *t, int first, int last, th_ballot *out)
{
    size_t n = 0;
    for (int e = first; e < last; e++)
        n += t->exam[e].n;
    out->right = th_alloc_array(n + 1, sizeof *out->right);
    out->exam = th_alloc_array(n + 1, sizeof *out->exam);
    int failed = out->right && out->exam ? 0 : -1;
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (is_candidate(t, l)) {
            out->said[l] = th_alloc_array(n + 1, sizeof *out->said[l]);
            failed |= !out->said[l];
        }
    for (int e = first; !failed && e < last; e++) {
        const th_ballot *from = &t->exam[e];
        if (from->n == 0)
            continue;
        memcpy(out->right + out->n, from->right, from->n * sizeof *from->right);
        for (size_t i = 0; i < from->n; i++)
            out->exam[out->n + i] = e;
        for (int l = 0; l < TH_N_LEARNERS; l++)
            if (out->said[l])
                memcpy(out->said[l] + out->n, from->said[l], from->n * sizeof *from->said[l]);
        out->n += from->n;
    }
    return failed ? -1 : 0;
}

static void clear_ballot(th_ballot *b)
{
    for (int l = 0; l < TH_N_LEARNERS; l++)
        th_free(b->said[l]);
    th_free(b->right);
    th_free(b->exam);
    *b = (th_ballot){.n = 0};
}

/* Of other devices few vouch for a learner: without the law it must be better by a third. */
static double choose_for_others(th_panel *out, const th_ballot *b)
{
    static const double ENOUGH = 2 / 3.0;
    const unsigned physics = th_learner_choice_of(TH_CHOICE_PHYSICS).candidates;
    th_ballot lawful = *b;
    bool has_law = b->said[TH_LEARNER_law] != NULL;
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (has_law && !(physics >> l & 1))
            lawful.said[l] = NULL;
    th_panel free;
    double error = th_panel_choose(out, &lawful), of_free = th_panel_choose(&free, b);
    if (error < 0 || of_free < 0)
        return -1;
    if (of_free >= ENOUGH * error)
        return error;
    *out = free;
    return of_free;
}

static int judge(const th_ballot *b, bool is_known, th_side *out)
{
    double *said = th_alloc_array(b->n + 1, sizeof *said);
    for (int l = 0; l < TH_N_LEARNERS; l++)
        out->scores.error[l] = th_ballot_error(b, l);
    out->scores.n = b->n;
    out->scores.chosen =
        is_known ? th_panel_choose(&out->panel, b) : choose_for_others(&out->panel, b);
    int failed = !said || out->scores.chosen < 0 ? -1 : 0;
    if (!failed) {
        th_panel_blend(&out->panel, b, said);
        failed = th_spread_fit(&out->spread, said, b->right, b->exam, b->n);
    }
    th_free(said);
    return failed;
}

static int choose_side(const trainer *t, int first, int last, th_side *out, th_error *err)
{
    th_ballot b = {.n = 0};
    int failed = join(t, first, last, &b) || judge(&b, first == 0, out) ? -1 : 0;
    clear_ballot(&b);
    return failed ? th_error_no_memory(err) : 0;
}

static int choose(const trainer *t, th_error *err)
{
    th_layer_model *m = t->rows.model;
    return choose_side(t, 0, 1, &m->known, err) || choose_side(t, 1, t->n_exams, &m->other, err)
               ? -1
               : 0;
}

/* --- jobs ------------------------------------------------------------------------------------- */

static int learn(const trainer *t, bool is_known, int member, th_error *err)
{
    th_layer_model *m = t->rows.model;
    th_member *who = is_known ? &m->known.panel.member[member] : &m->other.panel.member[member];
    th_lesson lesson = {.ms = NULL};
    int failed = th_lesson_make(&lesson, &t->rows, &th_all_rows, is_known,
                                is_known ? m->weight : weights_of(m, m->n_devices), who->type->sees)
                     ? th_error_no_memory(err)
                     : 0;
    th_effort effort = effort_of(t, is_known, false, lesson.sights.n);
    if (!failed)
        failed = who->type->train(&lesson, &effort, &who->state, err);
    th_lesson_clear(&lesson);
    return failed;
}

static int fit_law(const trainer *t, int device, th_error *err)
{
    const th_layer_model *m = t->rows.model;
    th_selection s = th_all_rows;
    s.device = device < m->n_devices ? device : TH_ALL;
    return th_rows_fit_law(&t->rows, &s, weights_of(m, device)) ? th_error_no_memory(err) : 0;
}

static int do_job(void *state, int i, th_error *err)
{
    const job *j = &((const job_list *)state)->job[i];
    switch (j->what) {
    case EXAM:
        return take_exam(j->trainer, j->number, err);
    case LAW:
        return fit_law(j->trainer, j->number, err);
    case LEARN:
        return learn(j->trainer, j->is_known, j->number, err);
    }
    return 0;
}

static int add_job(job_list *l, job j)
{
    if (th_grow(&l->job, &l->capacity, (size_t)l->n + 1, sizeof *l->job))
        return -1;
    l->job[l->n++] = j;
    return 0;
}

static int add_exams(job_list *l, trainer *t)
{
    int failed = 0;
    for (int e = 0; e < t->n_exams; e++)
        failed |= add_job(l, (job){t, EXAM, e, false});
    for (int d = t->rows.model->n_devices; d >= 0; d--)
        failed |= add_job(l, (job){t, LAW, d, false});
    return failed;
}

static int add_lessons(job_list *l, trainer *t)
{
    const th_layer_model *m = t->rows.model;
    int failed = 0;
    for (int i = 0; i < m->known.panel.n; i++)
        failed |= add_job(l, (job){t, LEARN, i, true});
    for (int i = 0; i < m->other.panel.n; i++)
        failed |= add_job(l, (job){t, LEARN, i, false});
    return failed;
}

/* --- training --------------------------------------------------------------------------------- */

static int begin(trainer *t, th_error *err)
{
    th_layer_model *m = t->rows.model;
    m->weight =
        th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)m->n_terms + 1, sizeof *m->weight);
    t->n_exams = m->n_devices > 1 ? 1 + m->n_devices : 1; /* one alone cannot be left out */
    t->exam = th_alloc_zero((size_t)t->n_exams, sizeof *t->exam);
    return m->weight && t->exam ? 0 : th_error_no_memory(err);
}

static void end(trainer *t)
{
    for (int e = 0; t->exam && e < t->n_exams; e++)
        clear_ballot(&t->exam[e]);
    th_free(t->exam);
    th_rows_clear(&t->rows);
}

static int train(trainer *t, int n, const th_train_options *o, th_error *err)
{
    job_list exams = {.n = 0}, lessons = {.n = 0};
    int failed = 0;
    for (int i = 0; !failed && i < n; i++)
        failed = add_exams(&exams, &t[i]) ? th_error_no_memory(err) : 0;
    if (!failed)
        failed = th_jobs_run(do_job, &exams, exams.n, o->threads, err);
    for (int i = 0; !failed && i < n; i++) {
        failed = choose(&t[i], err);
        if (!failed && add_lessons(&lessons, &t[i]))
            failed = th_error_no_memory(err);
    }
    if (!failed)
        failed = th_jobs_run(do_job, &lessons, lessons.n, o->threads, err);
    th_free(exams.job);
    th_free(lessons.job);
    return failed;
}

int th_layer_models_train(th_layer_model *out, int n_models, const th_measurements *m,
                          const size_t *rows, size_t n, const th_train_options *o, th_error *err)
{
    trainer *t = th_alloc_zero((size_t)n_models + 1, sizeof *t);
    int failed = t ? 0 : th_error_no_memory(err), begun = 0;
    for (int i = 0; i < n_models; i++)
        out[i] = (th_layer_model){.kind = out[i].kind, .phase = out[i].phase};
    for (; !failed && begun < n_models; begun++) {
        t[begun].o = o;
        t[begun].candidates = th_learner_choice_of(o->learner).candidates;
        failed = th_rows_begin(&t[begun].rows, &out[begun], m, rows, n, o->seed, err) ||
                         begin(&t[begun], err)
                     ? -1
                     : 0;
    }
    if (!failed)
        failed = train(t, n_models, o, err);
    for (int i = 0; i < begun; i++)
        end(&t[i]);
    for (int i = 0; failed && i < n_models; i++)
        th_layer_model_clear(&out[i]);
    th_free(t);
    return failed;
}
