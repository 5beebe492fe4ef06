/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.c - the errors of the learners of a predictor on rows they had not seen, and the
 * learners that predict, with their weights. */
#include <config.h>
#include <math.h>
#include "predictor/model/predictor.h"
#include "session/gpu_models.h"
#include "session/sections/sections.h"

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

static void add_row(th_table *t, const th_layer_model *m, const th_validated_ensemble *ensemble,
                    const char *learner, double error, double share)
{
    th_table_row(t, (th_quantity[]){
                        th_text(th_layer_model_name(m)),
                        th_text(th_phase_name(m->phase)),
                        th_text(ensemble == &m->seen ? "seen" : "unseen"),
                        th_text(learner),
                        th_count((int64_t)ensemble->scores.n),
                        isfinite(error) ? th_share(error) : th_absent(TH_KIND_SHARE),
                        th_share(share),
                    });
}

/* The candidates, the members, and the ensemble. */
static void add_ensemble(th_table *t, const th_layer_model *m,
                         const th_validated_ensemble *ensemble)
{
    for (int l = 0; l < TH_N_LEARNERS; l++) {
        double share = share_of(&ensemble->ensemble, th_learner_types[l]);
        if (isfinite(ensemble->scores.error[l]) || share > 0)
            add_row(t, m, ensemble, th_learner_types[l]->name, ensemble->scores.error[l], share);
    }
    add_row(t, m, ensemble, "chosen", ensemble->scores.chosen, 1);
}

int th_section_learners(th_session *s, th_report *r, th_error *err)
{
    const th_predictor *p = s->gpu_models->predictor;
    th_table *t = th_report_table(r, "learners", "Learners, on held-out rows", columns);
    th_table_note(t, "devices", "devices: seen or unseen in training");
    th_table_note(t, "share", "share: weight in the ensemble");
    th_table_note(t, "learner", "chosen: the ensemble");
    (void)err;
    for (int i = 0; i < p->n_models; i++) {
        add_ensemble(t, &p->model[i], &p->model[i].seen);
        add_ensemble(t, &p->model[i], &p->model[i].unseen);
    }
    return 0;
}
