/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_forms.h - the cycles of a layer on every design by equations, without a pipeline: with two
 * slots, and on a memory faster than the ports. */
#ifndef TH_TESTS_UNIT_DESIGN_FORMS_H
#define TH_TESTS_UNIT_DESIGN_FORMS_H
#include "sim/design/design.h"

/* A new design adds its equation to the table in design_forms.c. */
bool has_closed_form(const th_design_type *type);
/* Cycles; NAN where the form does not hold for this configuration or shard. A script's answers are
 * those of script_answers.h. */
double closed_form(const th_design_type *type, const th_design_config *config,
                   const th_shard *shard);
/* The same, of a design of these keys. */
double closed_form_of(const char *keys, const th_shard *shard);

#endif
