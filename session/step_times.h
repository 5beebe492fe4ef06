/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_times.h - what the stages of a step of training do and wait for.
 *
 * A gap before a computation belongs to the messages that it waited for, each while it was under
 * way, back along what they waited for in turn: exposed communication of their kinds; so does the
 * gather of weights behind their update. The part in which other stages compute is the bubble:
 * until a stage first computes backward (warm-up) and after it last computes forward (drain); as
 * much of the rest as the busiest stage computes longer (imbalance); and what remains. Computation,
 * optimizer, exposed messages and bubble add up to the step. */
#ifndef TH_SESSION_STEP_TIMES_H
#define TH_SESSION_STEP_TIMES_H
#include "session/session.h"

/* Of the accelerator of a stage that ends last: its computations, or a message behind them. */
typedef struct th_stage_times {
    th_time end_ps, compute_ps, optimizer_ps;
    th_time bubble_ps, warm_up_ps, drain_ps, imbalance_ps, waiting_ps; /* the sum of the others */
    th_time exposed_ps[TH_N_STEP_TASKS];
    th_time work_ps[TH_N_WORK_PARTS]; /* of computations and the optimizer */
    bool has_turned;                  /* private: has it computed backward? */
} th_stage_times;

/* Of each stage of the session's step, which is done; valid until the machine moves. NULL: there is
 * no such run, or memory is out (has_failed). */
const th_stage_times *th_session_stage_times(th_session *s, bool *has_failed);

#endif
