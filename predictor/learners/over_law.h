/* SPDX-License-Identifier: GPL-3.0-or-later */
/* over_law.h - private to learners: what those over the law share with those on their own. */
#ifndef TH_PREDICTOR_LEARNERS_OVER_LAW_H
#define TH_PREDICTOR_LEARNERS_OVER_LAW_H
#include "predictor/learners/learners.h"

/* ln(ms), or ln(ms / law), of a lesson; NULL: memory is out. */
float *th_new_targets(const th_lesson *l, bool over_law);
void th_add_law(const th_sights *s, double *ln_ms); /* ln_ms += ln(law) */

/* boosting.c: *state is a th_trees on rows of `width` numbers. */
int th_boosting_train(const float *x, int width, const th_lesson *l, bool over_law,
                      const th_boost_options *o, void **state, th_error *err);
void th_boosting_write(const void *state, th_strbuf *out);
int th_boosting_read(struct th_text_reader *r, int width, void **state);
void th_boosting_clear(void *state);

#endif
