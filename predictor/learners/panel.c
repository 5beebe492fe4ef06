/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panel.c - learners that answer together.
 *   choose: the best candidate -> { the candidate that, with one vote more, lowers the error most }
 * x VOTES Source: Caruana, Niculescu-Mizil, Crew, Ksikes, Ensemble selection from libraries of
 * models (ICML 2004): greedy, with replacement. A learner that is not in yet must pay for its
 * place: every one costs time and text. */
#include <config.h>

#include "predictor/learners/panel.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/regress/predictor_text.h"

enum { VOTES = 8, BLOCK = 256 };
static const double PRICE = 0.005; /* by which part a newcomer must lower the error */

/* --- choice ----------------------------------------------------------------------------------- */

double th_ballot_error(const th_ballot *b, int learner)
{
    const double *said = b->said[learner];
    double sum = 0;
    if (!said || b->n == 0)
        return INFINITY;
    for (size_t i = 0; i < b->n; i++)
        sum += fabs(exp(said[i] - b->right[i]) - 1);
    return sum / (double)b->n;
}

/* Of sum / votes with one vote for a learner more. */
static double error_with(const th_ballot *b, const double *sum, int votes, int learner)
{
    double error = 0;
    for (size_t i = 0; i < b->n; i++)
        error += fabs(exp((sum[i] + b->said[learner][i]) / (votes + 1) - b->right[i]) - 1);
    return error / (double)b->n;
}

/* Votes of the candidates, the first to one that no simpler one comes near to; they sum up to VOTES
 * or are those with which the error was least. */
static double vote(const th_ballot *b, double *sum, int *votes)
{
    double best = INFINITY;
    int given = 0;
    while (given < VOTES) {
        int chosen = -1;
        double least = INFINITY;
        for (int l = 0; l < TH_N_LEARNERS; l++) {
            if (!b->said[l])
                continue;
            double error = error_with(b, sum, given, l) * (votes[l] == 0 ? 1 + PRICE : 1);
            if (error < least * (given == 0 ? 1 - PRICE : 1)) {
                least = error;
                chosen = l;
            }
        }
        if (chosen < 0 || (given > 0 && least >= best))
            break;
        best = error_with(b, sum, given, chosen);
        votes[chosen]++;
        given++;
        for (size_t i = 0; i < b->n; i++)
            sum[i] += b->said[chosen][i];
    }
    return best;
}

static void seat(th_panel *p, int learner, double share)
{
    const th_learner_type *type = th_learner_types[learner];
    p->member[p->n++] = (th_member){type, NULL, share};
    p->sees |= type->sees;
}

static int first_candidate(const th_ballot *b)
{
    if (b->said[TH_LEARNER_law])
        return TH_LEARNER_law;
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (b->said[l])
            return l;
    return TH_LEARNER_law;
}

double th_panel_choose(th_panel *out, const th_ballot *b)
{
    int votes[TH_N_LEARNERS] = {0}, all = 0;
    double *sum = th_alloc_zero(b->n + 1, sizeof *sum), error = -1;
    *out = (th_panel){.n = 0};
    if (sum && b->n > 0)
        error = vote(b, sum, votes);
    else if (sum) {
        votes[first_candidate(b)] = 1;
        error = INFINITY;
    }
    th_free(sum);
    for (int l = 0; l < TH_N_LEARNERS; l++)
        all += votes[l];
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (votes[l] > 0)
            seat(out, l, (double)votes[l] / all);
    return error;
}

void th_panel_blend(const th_panel *p, const th_ballot *b, double *ln_ms)
{
    for (size_t i = 0; i < b->n; i++)
        ln_ms[i] = 0;
    for (int m = 0; m < p->n; m++)
        for (int l = 0; l < TH_N_LEARNERS; l++)
            for (size_t i = 0; th_learner_types[l] == p->member[m].type && i < b->n; i++)
                ln_ms[i] += p->member[m].share * b->said[l][i];
}

/* --- use -------------------------------------------------------------------------------------- */

/* Rows from..to of s. */
static th_sights part_of(const th_sights *s, size_t from, size_t to)
{
    th_sights part = *s;
    part.n = to - from;
    part.row += from;
    part.x = s->x ? s->x + from * (size_t)s->n_features : NULL;
    part.plain = s->plain ? s->plain + from * (size_t)s->n_plain : NULL;
    return part;
}

void th_panel_run(const th_panel *p, const th_sights *s, double *ln_ms)
{
    for (size_t from = 0; from < s->n; from += BLOCK) {
        double said[BLOCK];
        size_t to = from + BLOCK < s->n ? from + BLOCK : s->n;
        th_sights part = part_of(s, from, to);
        for (size_t i = from; i < to; i++)
            ln_ms[i] = 0;
        for (int m = 0; m < p->n; m++) {
            p->member[m].type->run(p->member[m].state, &part, said);
            for (size_t i = from; i < to; i++)
                ln_ms[i] += p->member[m].share * said[i - from];
        }
    }
}

void th_panel_clear(th_panel *p)
{
    for (int m = 0; m < p->n; m++)
        p->member[m].type->clear(p->member[m].state);
    *p = (th_panel){.n = 0};
}

/* --- text ------------------------------------------------------------------------------------- */

void th_panel_write(const th_panel *p, const char *name, th_strbuf *out)
{
    th_strbuf_printf(out, "panel %s members %d\n", name, p->n);
    for (int m = 0; m < p->n; m++) {
        th_strbuf_printf(out, "member %s share %.17g\n", p->member[m].type->name,
                         p->member[m].share);
        p->member[m].type->write(p->member[m].state, out);
    }
}

static int learner_of(const char *name)
{
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (strcmp(th_learner_types[l]->name, name) == 0)
            return l;
    return -1;
}

int th_panel_read(struct th_text_reader *r, const char *name, int n_devices, int n_features,
                  int n_plain, th_panel *out)
{
    char word[TH_TERM_NAME_MAX];
    int n;
    if (th_text_scan(r, 2, "panel %31s members %d", word, &n))
        return -1;
    if (strcmp(word, name) != 0 || n < 1 || n > TH_N_LEARNERS)
        return th_text_fail(r);
    for (int m = 0; m < n; m++) {
        double share;
        if (th_text_scan(r, 2, "member %31s share %lf", word, &share))
            return -1;
        int l = learner_of(word);
        if (l < 0 || !isfinite(share))
            return th_text_fail(r);
        seat(out, l, share);
        if (th_learner_types[l]->read(r, n_devices, n_features, n_plain, &out->member[m].state))
            return -1;
    }
    return 0;
}
