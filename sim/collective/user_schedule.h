/* SPDX-License-Identifier: GPL-3.0-or-later */
/* user_schedule.h - a user-written collective: per rank, threads of sends and receives.
 *
 *   new -> add_rank, add_thread, add_step (to the last rank, thread) ... -> finish -> read only
 *       -> free
 *
 * A send completes as soon as its port is free; a receive waits for its message. Messages from one
 * rank to another on one channel are matched in order: one thread holds all their sends, and one
 * thread all their receives. */
#ifndef TH_SIM_COLLECTIVE_USER_SCHEDULE_H
#define TH_SIM_COLLECTIVE_USER_SCHEDULE_H
#include <stdbool.h>
#include "sim/collective/collective.h"

/* bytes >= 0, or a / b of S where b > 0. */
typedef struct th_user_schedule_size {
    int64_t bytes;
    int32_t a, b;
} th_user_schedule_size;

typedef struct th_user_schedule_step {
    bool sends;
    bool reduces; /* receives: adds what comes to its own */
    int32_t peer; /* rank */
    int32_t channel;
    th_user_schedule_size size;
    th_user_schedule_size at; /* sends: its offset in S, for checks of the data */
    int line;                 /* of the file, for messages */
    /* private: set by finish */
    int32_t port, peer_port; /* of this rank, and of the peer */
    int32_t number;          /* among the steps of its connection, from 0 */
    int32_t match;           /* the matching step of the peer */
} th_user_schedule_step;

struct th_user_schedule {
    char *file; /* for messages */
    int32_t n_ranks, n_threads, n_steps;
    int32_t *rank_thread; /* threads of rank r: rank_thread[r] .. rank_thread[r + 1] - 1 */
    int32_t *thread_step; /* likewise steps of a thread */
    th_user_schedule_step *steps;
    int32_t max_rank_threads; /* largest number of threads of a rank */
    int32_t max_rank_ports;   /* largest number of connections of a rank in one direction */
    size_t rank_capacity, thread_capacity, step_capacity;
};

th_user_schedule *th_user_schedule_new(const char *file, th_error *err);
int th_user_schedule_add_rank(th_user_schedule *u, th_error *err);
int th_user_schedule_add_thread(th_user_schedule *u, th_error *err);
int th_user_schedule_add_step(th_user_schedule *u, const th_user_schedule_step *step,
                              th_error *err);
/* Matches sends and receives, and executes the schedule once to find deadlocks. 0, or -1 with file
 * and line of both ends of what cannot work. */
int th_user_schedule_finish(th_user_schedule *u, th_error *err);
void th_user_schedule_free(th_user_schedule *u); /* accepts NULL */

#endif
