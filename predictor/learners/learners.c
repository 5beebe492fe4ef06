/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learners.c - the table of learners as an array. */
#include <config.h>

#include "predictor/learners/learners.h"

#define TH_LEARNER_ADDRESS(name) &th_learner_##name,
const th_learner_type *const th_learner_types[TH_N_LEARNERS] = {TH_LEARNERS(TH_LEARNER_ADDRESS)};
#undef TH_LEARNER_ADDRESS

th_learner_choice th_learner_choice_of(int i)
{
    static const th_learner_choice blends[] = {
        [TH_CHOICE_AUTO] = {"auto",
                            "the learner, or blend of learners, that cross-validation favours",
                            (1u << TH_N_LEARNERS) - 1},
        [TH_CHOICE_PHYSICS] = {"physics", "the time law, and what is learned over it",
                               1u << TH_LEARNER_law | 1u << TH_LEARNER_law_boosting |
                                   1u << TH_LEARNER_law_perceptron},
    };
    if (i < TH_CHOICE_SINGLE)
        return blends[i];
    const th_learner_type *type = th_learner_types[i - TH_CHOICE_SINGLE];
    return (th_learner_choice){type->name, type->help, 1u << (i - TH_CHOICE_SINGLE)};
}
