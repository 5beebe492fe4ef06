/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.c - the errors of the learners of a predictor on rows they had not seen, and the
 * learners that predict, with their weights. */
#include <config.h>
#include <math.h>
#include "predictor/model/predictor.h"
#include "report/session/gpu_models.h"
#include "report/sections/sections.h"

static const th_column columns[] = {
    {"kind", "kind", TH_KIND_TEXT},       {"phase", "phase", TH_KIND_TEXT},
    {"devices", "devices", TH_KIND_TEXT}, {"learner", "learner", TH_KIND_TEXT},
    {"rows", "held out", TH_KIND_COUNT},  {"mean_error", "mean error", TH_KIND_SHARE},
    {"share", "share", TH_KIND_SHARE},    {NULL, NULL, TH_KIND_TEXT},
};

static double share_of(const th_ensemble *p, const th_learner_type *type)
{
    for (int i = 0; i < p->n; i++)
        if (p->member[i].type == type)
            return p->member[i].share;
    return 0;
}

static void add_row(th_table *t, const th_layer_model *m, const th_validated_ensemble *side,
                    const char *learner, double error, double share)
{
    th_table_row(t, (th_quantity[]){
                        th_text(th_op_kind_name(m->kind)),
                        th_text(th_phase_name(m->phase)),
                        th_text(side == &m->known ? "known" : "other"),
                        th_text(learner),
                        th_count((int64_t)side->scores.n),
                        isfinite(error) ? th_share(error) : th_absent(TH_KIND_SHARE),
                        th_share(share),
                    });
}

/* Those that were tried or answer, and all that answer together. */
static void add_side(th_table *t, const th_layer_model *m, const th_validated_ensemble *side)
{
    for (int l = 0; l < TH_N_LEARNERS; l++) {
        double share = share_of(&side->ensemble, th_learner_types[l]);
        if (isfinite(side->scores.error[l]) || share > 0)
            add_row(t, m, side, th_learner_types[l]->name, side->scores.error[l], share);
    }
    add_row(t, m, side, "chosen", side->scores.chosen, 1);
}

int th_section_learners(th_session *s, th_report *r, th_error *err)
{
    const th_predictor *p = s->gpu_models->predictor;
    th_table *t = th_report_table(r, "learners", "Learners, on held-out rows", columns);
    th_table_note(t, "devices: known to training, or other; share: weight in the ensemble; chosen: "
                     "the ensemble.");
    (void)err;
    for (int i = 0; i < p->n_models; i++) {
        add_side(t, &p->model[i], &p->model[i].known);
        add_side(t, &p->model[i], &p->model[i].other);
    }
    return 0;
}
