/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_train.c - training of the models of several kinds of operations.
 *   train: { begin } of every model -> jobs { validate a fold, fit a law } -> select
 *          -> jobs { train a member } -> end
 * Cross-validation: for seen devices a fifth of the operations is a fold, for unseen devices every
 * device is one. The candidate learners are trained without the fold, on a sample of the rows, and
 * predict it. From these out-of-fold predictions the members of the ensembles are selected, which
 * are then trained on all rows. Jobs do not depend on each other, so the result does not depend on
 * the number of threads. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/jobs.h"
#include "predictor/model/training_set.h"

#define PERCEPTRON(n_steps)                                                                        \
    {                                                                                              \
        .hidden = {64, 64}, .steps = (n_steps), .batch = 256, .learning_rate = 2e-3,               \
        .huber_slope = 0.15                                                                        \
    }

const th_train_options th_train_defaults = {
    .seen = {.trees = {.rounds = 150,
                       .depth = 8,
                       .learning_rate = 0.12,
                       .huber_slope = 0.15,
                       .min_child_weight = 10,
                       .subsample = 1,
                       .colsample = 0.5},
             .mlp = PERCEPTRON(5000)},
    .unseen = {.trees = {.rounds = 150,
                         .depth = 6,
                         .learning_rate = 0.08,
                         .huber_slope = 0.15,
                         .min_child_weight = 40,
                         .subsample = 1,
                         .colsample = 0.5},
               .mlp = PERCEPTRON(2000)},
    /* As near to the measurements as 150 of the trees above, in a third of the time. */
    .narrow_seen = {.trees = {.rounds = 48,
                              .depth = 8,
                              .learning_rate = 0.3,
                              .huber_slope = 0.15,
                              .min_child_weight = 3,
                              .subsample = 1,
                              .colsample = 0.8},
                    .mlp = PERCEPTRON(5000)},
    .seed = 1,
};

/* In cross-validation: rows to train on, for seen and for unseen devices, and rows to validate. */
enum { TRAINED = 16000, TRAINED_UNSEEN = 8000, VALIDATED = 8000 };
enum { EPOCHS_MAX = 100 };

typedef struct {
    th_training_rows rows;
    const th_train_options *o;
    unsigned candidates;
    th_fold_predictions *fold; /* 0: seen devices; 1 + i: unseen devices, with device i held out;
                                  then of seen devices with each group of families held out */
    int n_folds, first_group;  /* folds; the first of families */
} trainer;

typedef struct {
    trainer *trainer;
    enum { VALIDATE, FIT_LAW, TRAIN } kind;
    int number;   /* of the fold; of the device; of the member */
    bool is_seen; /* of the member */
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

/* --- cross-validation ------------------------------------------------------------------------- */

/* Training passes over n rows at most EPOCHS_MAX times. */
static void limit_steps(th_mlp_options *o, size_t n)
{
    size_t limit = EPOCHS_MAX * n / (size_t)o->batch + 1;
    if ((size_t)o->steps > limit)
        o->steps = (int)limit;
}

static th_hyper_parameters hyper_parameters_of(const trainer *t, bool is_seen, size_t n)
{
    const th_hyper_parameters *of_seen =
        t->rows.model->is_narrow ? &t->o->narrow_seen : &t->o->seen;
    th_hyper_parameters h = is_seen ? *of_seen : t->o->unseen;
    h.trees.seed = h.mlp.seed = t->o->seed;
    limit_steps(&h.mlp, n);
    return h;
}

static bool is_candidate(const trainer *t, int learner)
{
    const th_learner_type *type = th_learner_types[learner];
    return (t->candidates >> learner & 1) && (!type->is_available || type->is_available());
}

static bool uses_features(const trainer *t)
{
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (is_candidate(t, l) && th_learner_types[l]->uses_features)
            return true;
    return false;
}

/* Trains the candidates on one set and predicts the other. */
static int predict_fold(const trainer *t, bool is_seen, const th_training_set *trained,
                        const th_training_set *fold, th_fold_predictions *out, th_error *err)
{
    th_hyper_parameters h = hyper_parameters_of(t, is_seen, trained->samples.n);
    out->n = fold->samples.n;
    out->measured = th_alloc_array(out->n + 1, sizeof *out->measured);
    if (!out->measured)
        return th_error_no_memory(err);
    for (size_t i = 0; i < out->n; i++)
        out->measured[i] = log(fold->ms[i]);
    for (int l = 0; l < TH_N_LEARNERS; l++) {
        const th_learner_type *type = th_learner_types[l];
        void *state;
        if (!is_candidate(t, l))
            continue;
        out->predicted[l] = th_alloc_array(out->n + 1, sizeof *out->predicted[l]);
        if (!out->predicted[l])
            return th_error_no_memory(err);
        if (th_learner_train(type, trained, &h, &state, err))
            return -1;
        th_learner_run(type, state, &fold->samples, out->predicted[l]);
        th_learner_clear(type, state);
    }
    return 0;
}

/* What is trained on, and what is held out. */
typedef struct {
    bool is_seen; /* the devices that are held out */
    th_row_filter rest, held_out;
} split;

static split split_of(const trainer *t, int number)
{
    const th_layer_model *m = t->rows.model;
    split s = {number == 0 || number >= t->first_group, th_all_rows, th_all_rows};
    s.rest.n_max = s.is_seen ? TRAINED : TRAINED_UNSEEN;
    s.held_out.n_max = VALIDATED;
    if (number == 0) {
        s.rest.fold = s.held_out.fold = TH_HELD_OUT_FOLD;
        s.rest.without_fold = true;
    } else if (s.is_seen) {
        s.rest.group = s.held_out.group = 1 + number - t->first_group;
        s.rest.without_group = true;
        s.held_out.n_max /= (size_t)t->rows.n_groups;
    } else {
        s.rest.held_out_device = s.held_out.device = number - 1;
        s.held_out.n_max /= (size_t)m->n_devices;
    }
    return s;
}

/* Weights of the laws by all rows outside the fold: by device, or of all. */
static int fold_laws(const trainer *t, const split *s, double *weight)
{
    const th_layer_model *m = t->rows.model;
    th_row_filter rest = s->rest;
    rest.n_max = SIZE_MAX;
    if (!s->is_seen)
        return th_training_rows_fit_law(&t->rows, &rest, weight);
    for (rest.device = 0; rest.device < m->n_devices; rest.device++)
        if (th_training_rows_fit_law(&t->rows, &rest,
                                     weight + (size_t)rest.device * (size_t)m->n_terms))
            return -1;
    return 0;
}

static int validate(const trainer *t, int number, th_error *err)
{
    const th_layer_model *m = t->rows.model;
    split s = split_of(t, number);
    double *weight =
        th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)m->n_terms + 1, sizeof *weight);
    th_training_set trained = {.ms = NULL}, fold = {.ms = NULL};
    const th_sampling sampling = {s.is_seen, weight, uses_features(t)};
    int failed = !weight || fold_laws(t, &s, weight) ||
                         th_training_set_make(&trained, &t->rows, &s.rest, &sampling) ||
                         th_training_set_make(&fold, &t->rows, &s.held_out, &sampling)
                     ? th_error_no_memory(err)
                     : 0;
    if (!failed && trained.samples.n > 0 && fold.samples.n > 0)
        failed = predict_fold(t, s.is_seen, &trained, &fold, &t->fold[number], err);
    th_training_set_clear(&trained);
    th_training_set_clear(&fold);
    th_free(weight);
    return failed;
}

/* --- selection -------------------------------------------------------------------------------- */

/* The predictions of the folds first .. last - 1, one after the other. */
static int join(const trainer *t, int first, int last, th_fold_predictions *out)
{
    size_t n = 0;
    for (int e = first; e < last; e++)
        n += t->fold[e].n;
    out->measured = th_alloc_array(n + 1, sizeof *out->measured);
    int failed = out->measured ? 0 : -1;
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (is_candidate(t, l)) {
            out->predicted[l] = th_alloc_array(n + 1, sizeof *out->predicted[l]);
            failed |= !out->predicted[l];
        }
    for (int e = first; !failed && e < last; e++) {
        const th_fold_predictions *from = &t->fold[e];
        if (from->n == 0)
            continue;
        memcpy(out->measured + out->n, from->measured, from->n * sizeof *from->measured);
        for (int l = 0; l < TH_N_LEARNERS; l++)
            if (out->predicted[l])
                memcpy(out->predicted[l] + out->n, from->predicted[l],
                       from->n * sizeof *from->predicted[l]);
        out->n += from->n;
    }
    return failed ? -1 : 0;
}

static void clear_predictions(th_fold_predictions *b)
{
    for (int l = 0; l < TH_N_LEARNERS; l++)
        th_free(b->predicted[l]);
    th_free(b->measured);
    *b = (th_fold_predictions){.n = 0};
}

/* The residuals of the ensemble on these rows: of devices left out those of all devices together,
 * for a further one is like any of them. */
static int fit_residuals(const th_ensemble *e, const th_fold_predictions *b,
                         th_residual_quantiles *out)
{
    double *predicted = th_alloc_array(b->n + 1, sizeof *predicted);
    if (!predicted)
        return -1;
    th_ensemble_combine(e, b, predicted);
    int failed = th_residual_quantiles_fit(out, predicted, b->measured, b->n);
    th_free(predicted);
    return failed;
}

static int select_members(const th_fold_predictions *b, th_validated_ensemble *out)
{
    for (int l = 0; l < TH_N_LEARNERS; l++)
        out->scores.error[l] = th_fold_predictions_error(b, l);
    out->scores.n = b->n;
    out->scores.chosen = th_ensemble_select(&out->ensemble, b);
    return out->scores.chosen < 0 ? -1 : fit_residuals(&out->ensemble, b, &out->quantiles);
}

static int choose_ensemble(const trainer *t, int first, int last, th_validated_ensemble *out,
                           th_error *err)
{
    th_fold_predictions b = {.n = 0};
    int failed = join(t, first, last, &b) || select_members(&b, out) ? -1 : 0;
    clear_predictions(&b);
    return failed ? th_error_no_memory(err) : 0;
}

/* Residuals of an ensemble on the rows of seen devices that tell most of other networks: families
 * that were held out, or, where there are none, operations. */
static int fit_seen(const trainer *t, const th_ensemble *e, th_residual_quantiles *out,
                    th_error *err)
{
    bool has_groups = t->n_folds > t->first_group;
    th_fold_predictions b = {.n = 0};
    int failed = join(t, has_groups ? t->first_group : 0, has_groups ? t->n_folds : 1, &b) ||
                 fit_residuals(e, &b, out);
    clear_predictions(&b);
    return failed ? th_error_no_memory(err) : 0;
}

static int fit_other_families(const trainer *t, th_error *err)
{
    th_layer_model *m = t->rows.model;
    return t->n_folds == t->first_group ? 0
                                        : fit_seen(t, &m->seen.ensemble, &m->other_families, err);
}

/* One device cannot tell how devices differ. What the law of one is off on another is what it is
 * off on rows of its own and, independent of that, what kernels differ from device to device: the
 * root mean square, over pairs of devices and kinds of kernels, of the median of ln(measured / law
 * of the other device). In single precision of NeuSight's kernels on five devices; at less, of
 * products and attention on four (ai-dynamo), and of NeuSight's memory-bound kernels on three with
 * tensor cores (docs/models/learned.md). */
static int fit_alone(const trainer *t, th_error *err)
{
    static const double SPREAD = 0.29, NARROW_SPREAD = 0.08, TAIL_SIGMAS = 1.2816;
    th_layer_model *m = t->rows.model;
    th_residual_quantiles *q = &m->unseen.quantiles;
    double spread = TAIL_SIGMAS * (m->is_narrow ? NARROW_SPREAD : SPREAD);
    if (m->n_devices > 1)
        return 0;
    if (fit_seen(t, &m->unseen.ensemble, q, err))
        return -1;
    for (int i = 0; i < q->n_bins; i++) {
        q->bin[i].low = -hypot(q->bin[i].low, spread);
        q->bin[i].high = hypot(q->bin[i].high, spread);
    }
    return 0;
}

static int choose(const trainer *t, th_error *err)
{
    th_layer_model *m = t->rows.model;
    return choose_ensemble(t, 0, 1, &m->seen, err) ||
                   choose_ensemble(t, 1, t->first_group, &m->unseen, err) ||
                   fit_other_families(t, err) || fit_alone(t, err)
               ? -1
               : 0;
}

/* --- jobs ------------------------------------------------------------------------------------- */

static int train_member(const trainer *t, bool is_seen, int member, th_error *err)
{
    th_layer_model *m = t->rows.model;
    th_ensemble_member *who =
        is_seen ? &m->seen.ensemble.member[member] : &m->unseen.ensemble.member[member];
    th_training_set set = {.ms = NULL};
    const th_sampling sampling = {is_seen, is_seen ? m->weight : weights_of(m, m->n_devices),
                                  who->type->uses_features};
    int failed =
        th_training_set_make(&set, &t->rows, &th_all_rows, &sampling) ? th_error_no_memory(err) : 0;
    th_hyper_parameters h = hyper_parameters_of(t, is_seen, set.samples.n);
    if (!failed)
        failed = th_learner_train(who->type, &set, &h, &who->state, err);
    th_training_set_clear(&set);
    return failed;
}

static int fit_law(const trainer *t, int device, th_error *err)
{
    const th_layer_model *m = t->rows.model;
    th_row_filter s = th_all_rows;
    s.device = device < m->n_devices ? device : TH_UNFILTERED;
    return th_training_rows_fit_law(&t->rows, &s, weights_of(m, device)) ? th_error_no_memory(err)
                                                                         : 0;
}

static int do_job(void *state, int i, th_error *err)
{
    const job *j = &((const job_list *)state)->job[i];
    switch (j->kind) {
    case VALIDATE:
        return validate(j->trainer, j->number, err);
    case FIT_LAW:
        return fit_law(j->trainer, j->number, err);
    case TRAIN:
        return train_member(j->trainer, j->is_seen, j->number, err);
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

static int add_folds(job_list *l, trainer *t)
{
    int failed = 0;
    for (int e = 0; e < t->n_folds; e++)
        failed |= add_job(l, (job){t, VALIDATE, e, false});
    for (int d = t->rows.model->n_devices; d >= 0; d--)
        failed |= add_job(l, (job){t, FIT_LAW, d, false});
    return failed;
}

static int add_members(job_list *l, trainer *t)
{
    const th_layer_model *m = t->rows.model;
    int failed = 0;
    for (int i = 0; i < m->seen.ensemble.n; i++)
        failed |= add_job(l, (job){t, TRAIN, i, true});
    for (int i = 0; i < m->unseen.ensemble.n; i++)
        failed |= add_job(l, (job){t, TRAIN, i, false});
    return failed;
}

/* --- training --------------------------------------------------------------------------------- */

static int begin(trainer *t, th_error *err)
{
    th_layer_model *m = t->rows.model;
    m->weight =
        th_alloc_zero((size_t)(m->n_devices + 1) * (size_t)m->n_terms + 1, sizeof *m->weight);
    t->first_group = m->n_devices > 1 ? 1 + m->n_devices : 1; /* one alone cannot be held out */
    t->n_folds = t->first_group + t->rows.n_groups;
    t->fold = th_alloc_zero((size_t)t->n_folds, sizeof *t->fold);
    return m->weight && t->fold ? 0 : th_error_no_memory(err);
}

static void end(trainer *t)
{
    for (int e = 0; t->fold && e < t->n_folds; e++)
        clear_predictions(&t->fold[e]);
    th_free(t->fold);
    th_training_rows_clear(&t->rows);
}

/* Of what runs at less than single precision, the law is close enough for boosting alone: a
 * perceptron beside it lowered no error by a twentieth, and takes ten times as long to ask. */
static unsigned candidates_of(const th_layer_model *m, const th_train_options *o)
{
    unsigned all = th_learner_choice_of(o->learner).candidates;
    bool is_auto = o->learner == TH_CHOICE_AUTO;
    return m->is_narrow && is_auto ? all & ~(1u << TH_LEARNER_law_perceptron) : all;
}

static int train(trainer *t, int n, const th_train_options *o, th_error *err)
{
    job_list validations = {.n = 0}, members = {.n = 0};
    int failed = 0;
    for (int i = 0; !failed && i < n; i++)
        failed = add_folds(&validations, &t[i]) ? th_error_no_memory(err) : 0;
    if (!failed)
        failed = th_jobs_run(do_job, NULL, &validations, validations.n, o->threads, err);
    for (int i = 0; !failed && i < n; i++) {
        failed = choose(&t[i], err);
        if (!failed && add_members(&members, &t[i]))
            failed = th_error_no_memory(err);
    }
    if (!failed)
        failed = th_jobs_run(do_job, NULL, &members, members.n, o->threads, err);
    th_free(validations.job);
    th_free(members.job);
    return failed;
}

int th_layer_models_train(th_layer_model *out, int n_models, const th_measured_rows *rows,
                          const th_train_options *o, th_error *err)
{
    trainer *t = th_alloc_zero((size_t)n_models + 1, sizeof *t);
    int failed = t ? 0 : th_error_no_memory(err), begun = 0;
    for (int i = 0; i < n_models; i++)
        out[i] = (th_layer_model){
            .kind = out[i].kind, .phase = out[i].phase, .is_narrow = out[i].is_narrow};
    for (; !failed && begun < n_models; begun++) {
        t[begun].o = o;
        t[begun].candidates = candidates_of(&out[begun], o);
        failed = th_training_rows_begin(&t[begun].rows, &out[begun], rows, o->seed, err) ||
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
