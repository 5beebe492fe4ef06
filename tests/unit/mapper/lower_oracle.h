/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_oracle.h - what a lowered program must be, computed by the rules of docs/models/sharding.md
 * element by element (element_model.h). */
#ifndef TH_TESTS_UNIT_MAPPER_LOWER_ORACLE_H
#define TH_TESTS_UNIT_MAPPER_LOWER_ORACLE_H
#include "tests/unit/random_net.h"

/* Says what every task must be: its kind, its ends, its bytes, and what it must wait for; what is
 * left over or missing is an error, so each byte that is lacked is sent once and nothing else is.
 * Then replays. lower: of program. Returns how much was wrong, the first of it printed. */
int th_oracle_check(const th_system *s, const th_workload *w, const th_mapping *m,
                    const th_stream *stream, const th_lower *lower, const th_program *program);

#endif
