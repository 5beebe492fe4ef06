/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuner.h - chooses the algorithm and the number of chunks of a collective that does not specify
 * them: simulates the candidates that lower bounds leave. */
#ifndef TH_SIM_REPLAY_TUNER_H
#define TH_SIM_REPLAY_TUNER_H
#include "sim/collective/collective.h"
#include "sim/program/program.h"
#include "sim/replay/choices.h"

/* Simulates a program for the tuner; the machine, which is above this folder, provides it. */
typedef struct th_simulator {
    /* setup: th_tuner_context.setup. NULL on failure. */
    void *(*create)(void *setup, th_error *err);
    /* The end time of program p, or TH_TIME_MAX where that lies behind bound. 0 or -1. */
    int (*run)(void *simulation, const th_program *p, th_time bound, th_time *end, th_error *err);
    void (*destroy)(void *simulation);
} th_simulator;

/* What candidates are simulated on: the system and options of the machine that will run the
 * collective. All outlive the choice. */
typedef struct th_tuner_context {
    const th_system *system;
    const th_simulator *simulator;
    void *setup;                    /* the simulator's */
    th_collective_choices *choices; /* what has been chosen; NULL: nothing is remembered */
    th_collective_kept *kept;       /* of the group of the next choice; NULL: by the tuner */
    uint64_t options;               /* a digest of the network and its options, for choices */
    bool has_no_sharing;            /* messages do not share links (the network ideal) */
    bool has_forms;                 /* groups of one form are alike to it (choices.h) */
    bool (*is_interrupted)(void);   /* polled; NULL: never */
} th_tuner_context;

/* True if *c leaves the algorithm or the number of chunks (0) open. */
static inline bool th_tuner_is_needed(const th_collective *c)
{
    return !c->algorithm || c->chunks == 0;
}

/* Sets *algorithm and *chunks: those with which the collective ends first when it runs alone; among
 * equal times the first in the table with the fewest chunks. Depends on its arguments only, not on
 * what t->choices remembers. 0, or -1 with the reason if no algorithm can run *c. */
int th_tuner_choose(const th_tuner_context *t, const th_collective *c,
                    const th_algorithm **algorithm, int32_t *chunks, th_error *err);

#endif
