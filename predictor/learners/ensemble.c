/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ensemble.c - greedy ensemble selection with replacement.
 *   select: the best candidate -> { add the one that lowers the ensemble's error most } x ADDED
 * Source: Caruana, Niculescu-Mizil, Crew, Ksikes, Ensemble selection from libraries of models (ICML
 * 2004). A candidate that is not yet a member must lower the error by PRICE, because every member
 * adds time and text. */
#include <config.h>

#include "predictor/learners/ensemble.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/regress/predictor_text.h"

enum { ADDED = 8 };
static const double PRICE = 0.005; /* the part by which a new member must lower the error */

/* --- selection -------------------------------------------------------------------------------- */

double th_fold_predictions_error(const th_fold_predictions *b, int learner)
{
    const double *predicted = b->predicted[learner];
    double sum = 0;
    if (!predicted || b->n == 0)
        return INFINITY;
    for (size_t i = 0; i < b->n; i++)
        sum += fabs(exp(predicted[i] - b->measured[i]) - 1);
    return sum / (double)b->n;
}

/* The error of the ensemble of n additions, whose predictions add up to sum, with one more. */
static double error_with(const th_fold_predictions *b, const double *sum, int n, int learner)
{
    double error = 0;
    for (size_t i = 0; i < b->n; i++)
        error += fabs(exp((sum[i] + b->predicted[learner][i]) / (n + 1) - b->measured[i]) - 1);
    return error / (double)b->n;
}

/* How often each candidate is added, ADDED times at most. The first is the simplest one that no
 * later one undercuts by PRICE; the last is the one after which no addition lowers the error. */
static double add_candidates(const th_fold_predictions *b, double *sum, int *count)
{
    double best = INFINITY;
    int n = 0;
    while (n < ADDED) {
        int chosen = -1;
        double least = INFINITY;
        for (int l = 0; l < TH_N_LEARNERS; l++) {
            if (!b->predicted[l])
                continue;
            double error = error_with(b, sum, n, l) * (count[l] == 0 ? 1 + PRICE : 1);
            if (error < least * (n == 0 ? 1 - PRICE : 1)) {
                least = error;
                chosen = l;
            }
        }
        if (chosen < 0 || (n > 0 && least >= best))
            break;
        best = error_with(b, sum, n, chosen);
        count[chosen]++;
        n++;
        for (size_t i = 0; i < b->n; i++)
            sum[i] += b->predicted[chosen][i];
    }
    return best;
}

static void add_member(th_ensemble *p, int learner, double share)
{
    const th_learner_type *type = th_learner_types[learner];
    p->member[p->n++] = (th_ensemble_member){type, NULL, share};
    p->uses_features |= type->uses_features;
}

static int first_candidate(const th_fold_predictions *b)
{
    if (b->predicted[TH_LEARNER_law])
        return TH_LEARNER_law;
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (b->predicted[l])
            return l;
    return TH_LEARNER_law;
}

double th_ensemble_select(th_ensemble *out, const th_fold_predictions *b)
{
    int count[TH_N_LEARNERS] = {0}, all = 0;
    double *sum = th_alloc_zero(b->n + 1, sizeof *sum), error = -1;
    *out = (th_ensemble){.n = 0};
    if (sum && b->n > 0)
        error = add_candidates(b, sum, count);
    else if (sum) {
        count[first_candidate(b)] = 1;
        error = INFINITY;
    }
    th_free(sum);
    for (int l = 0; l < TH_N_LEARNERS; l++)
        all += count[l];
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (count[l] > 0)
            add_member(out, l, (double)count[l] / all);
    return error;
}

void th_ensemble_combine(const th_ensemble *p, const th_fold_predictions *b, double *ln_ms)
{
    for (size_t i = 0; i < b->n; i++)
        ln_ms[i] = 0;
    for (int m = 0; m < p->n; m++)
        for (int l = 0; l < TH_N_LEARNERS; l++)
            for (size_t i = 0; th_learner_types[l] == p->member[m].type && i < b->n; i++)
                ln_ms[i] += p->member[m].share * b->predicted[l][i];
}

/* --- use -------------------------------------------------------------------------------------- */

void th_ensemble_predict(const th_ensemble *p, const th_samples *s, double *ln_ms)
{
    double member[TH_ENSEMBLE_ROWS_MAX];
    for (size_t i = 0; i < s->n; i++)
        ln_ms[i] = 0;
    for (int m = 0; m < p->n; m++) {
        th_learner_run(p->member[m].type, p->member[m].state, s, member);
        for (size_t i = 0; i < s->n; i++)
            ln_ms[i] += p->member[m].share * member[i];
    }
}

void th_ensemble_clear(th_ensemble *p)
{
    for (int m = 0; m < p->n; m++)
        th_learner_clear(p->member[m].type, p->member[m].state);
    *p = (th_ensemble){.n = 0};
}

/* --- text ------------------------------------------------------------------------------------- */

static int learner_of(const char *name)
{
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (strcmp(th_learner_types[l]->name, name) == 0)
            return l;
    return -1;
}

/* The learner and the share of a member, which is added where it is read. */
static int member_text(th_text_io *io, th_ensemble *p, int m)
{
    char name[TH_TEXT_WORD_MAX] = "";
    double share = 0;
    if (io->out) {
        snprintf(name, sizeof name, "%s", p->member[m].type->name);
        share = p->member[m].share;
    }
    if (th_text_line(io, "member %s share %f", name, &share))
        return -1;
    int l = learner_of(name);
    if (l < 0)
        return th_text_fail(io);
    if (!io->out)
        add_member(p, l, share);
    return 0;
}

int th_ensemble_text(th_text_io *io, const char *name, int n_features, th_ensemble *p)
{
    int n = p->n;
    if (th_text_open(io, "ensemble ") || th_text_more(io, name) ||
        th_text_more(io, " members %d", &n) || th_text_close(io, NULL) ||
        th_text_check(io, n >= 1 && n <= TH_N_LEARNERS))
        return -1;
    for (int m = 0; m < n; m++)
        if (member_text(io, p, m) ||
            th_learner_text(p->member[m].type, io, n_features, &p->member[m].state))
            return -1;
    return 0;
}
