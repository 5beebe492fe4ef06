/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choices.h - what the tuner has chosen, by all that a collective says: kind, size, nodes in order,
 * or the form of its group.
 *   new -> (key -> find, else add)* -> clear when the system changes -> ... -> free
 * A choice depends on its key alone, so what was asked before changes no result. One thread uses
 * it. */
#ifndef TH_SIM_REPLAY_CHOICES_H
#define TH_SIM_REPLAY_CHOICES_H
#include "sim/collective/collective.h"

typedef struct th_collective_choices th_collective_choices;

/* Called before each simulation of a candidate, and at the end of a choice with candidate NULL. */
typedef struct th_collective_choice_watch {
    void (*show)(void *own, const th_collective *candidate);
    void *own;
} th_collective_choice_watch;

th_collective_choices *th_collective_choices_new(void);    /* NULL: memory is out */
void th_collective_choices_free(th_collective_choices *x); /* accepts NULL */
void th_collective_choices_clear(th_collective_choices *x);
void th_collective_choices_watch(th_collective_choices *x, th_collective_choice_watch w);
void th_collective_choices_show(const th_collective_choices *x, const th_collective *candidate);

typedef struct th_collective_choice_key {
    uint64_t digest[2];
} th_collective_choice_key;

/* The key of *c under options of the network with this digest: of every member of *c. A schedule of
 * the user's has none. of_any: of every member but the nodes. */
th_collective_choice_key th_collective_choices_key(const th_collective *c, uint64_t options);
th_collective_choice_key th_collective_choices_key_of_any(const th_collective *c, uint64_t options);

/* group_form.c: the key of the form of *c. Two collectives of one form take the same time, step by
 * step, when each runs alone on the idle system: their routes have the same latencies and rates and
 * share the same media, between the same DRAMs, and nodes and media come in the same order, so that
 * ties are broken in the same way. That does not hold on networks that look at more of a system
 * (packet: its buffers and classes). 1; 0: it has none, its routes are too many; -1: memory is
 * out. */
int th_group_form(const th_collective *c, const th_system *s, uint64_t options,
                  th_collective_choice_key *form, th_error *err);

typedef struct th_collective_choice {
    const th_algorithm *algorithm;
    int32_t chunks;
} th_collective_choice;
bool th_collective_choices_find(const th_collective_choices *x, const th_collective_choice_key *key,
                                th_collective_choice *out);
int th_collective_choices_add(th_collective_choices *x, const th_collective_choice_key *key,
                              th_collective_choice choice, th_error *err); /* 0 or -1 */

#endif
