/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panel.h - one learner, or several whose answers are blended: ln(ms) = sum of share * ln(ms) of a
 * member. (choose -> train of every member) | read -> run ... -> clear */
#ifndef TH_PREDICTOR_LEARNERS_PANEL_H
#define TH_PREDICTOR_LEARNERS_PANEL_H
#include "predictor/learners/learners.h"

typedef struct th_member {
    const th_learner_type *type;
    void *state;
    double share;
} th_member;

typedef struct th_panel {
    th_member member[TH_N_LEARNERS];
    int n;
    unsigned sees; /* what some member looks at */
} th_panel;

/* What the candidates said of rows that they had not seen, and what was right: ln(ms). */
typedef struct th_ballot {
    double *said[TH_N_LEARNERS]; /* by row; NULL: no candidate */
    double *right;
    int *exam; /* by row; NULL: all of one */
    size_t n;
} th_ballot;

/* The mean |exp(said - right) - 1| of a learner; INFINITY: no candidate. */
double th_ballot_error(const th_ballot *b, int learner);
/* Sets members and shares: the best candidate, and others beside it where the blend is clearly
 * better. Its error, or -1: memory is out. No row: the law, or else the first candidate. */
double th_panel_choose(th_panel *out, const th_ballot *b);

/* What the panel would have said of the rows. */
void th_panel_blend(const th_panel *p, const th_ballot *b, double *ln_ms);

void th_panel_run(const th_panel *p, const th_sights *s, double *ln_ms);
void th_panel_write(const th_panel *p, const char *name, th_strbuf *out);
int th_panel_read(struct th_text_reader *r, const char *name, int n_devices, int n_features,
                  int n_plain, th_panel *out);
void th_panel_clear(th_panel *p);

#endif
