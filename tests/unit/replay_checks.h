/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_checks.h - what two results of one program differ in, and what holds for every result. */
#ifndef TH_TESTS_UNIT_REPLAY_CHECKS_H
#define TH_TESTS_UNIT_REPLAY_CHECKS_H
#include "sim/machine/machine.h"
#include "tests/unit/random_program.h"

/* Of a run so far, with its energies. */
th_result result_of(const world *w, const th_machine *m);

/* Everything but the number of expansions; 0: none. */
int differences(const th_result *a, const th_result *b);

/* How often each of these is broken; 0: it holds. What was done adds up, and bytes over links are
 * those of the transfers on their routes; */
int breaches(const world *w, const th_result *r);
/* waits and durations of the critical path add up to the makespan; */
int path_breaches(const th_result *r);
/* tasks start when ready or later, an accelerator or host runs one at a time, an idle one does not
 * wait. */
int order_breaches(const world *w, const th_result *r);

#endif
