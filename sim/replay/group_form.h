/* SPDX-License-Identifier: GPL-3.0-or-later */
/* group_form.h - what groups of nodes that are alike have in common.
 *
 * Two collectives of one form take the same time, step by step, when each runs alone on the idle
 * system: their routes have the same latencies and rates and share the same media, between the same
 * DRAMs, and nodes and media come in the same order, so that ties are broken in the same way. That
 * does not hold on networks that look at more of a system (packet: its buffers and classes). */
#ifndef TH_SIM_REPLAY_GROUP_FORM_H
#define TH_SIM_REPLAY_GROUP_FORM_H
#include "sim/replay/choices.h"

/* Sets *form to the key of the form of *c under options. 1, or 0: it has none (its routes are too
 * many, or it is all nodes of the system's shape), or -1: memory is out. */
int th_group_form(const th_collective *c, const th_system *s, uint64_t options,
                  th_collective_choice_key *form, th_error *err);

#endif
