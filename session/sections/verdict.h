/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.h - what a run comes to: what page/verdict.js makes the first screen of a page from. */
#ifndef TH_SESSION_SECTIONS_VERDICT_H
#define TH_SESSION_SECTIONS_VERDICT_H
#include "session/session.h"
#include "sim/analysis/time_breakdown.h"

/* The parts of the critical path: th_time_part, then waiting for the arrival of an input. They add
 * up to its end. */
enum { TH_PATH_WAIT = TH_N_PARTS, TH_N_PATH_PARTS };

/* path.c: the parts of the critical path of the session's run. 0 or -1. */
int th_path_breakdown(th_session *s, th_time part[TH_N_PATH_PARTS], th_error *err);

/* Adds a member of a JSON object, "verdict", of the session's run, which must have begun: isDone,
 * isHandBuilt; elapsed and latency in ps (the mean over inputs; 0: unknown); batch, inputs and
 * samplesPerS (0: unknown) of a workload; moved, the bytes over the network; of a step of training
 * mergedRanks, those that one accelerator stands for (0: none), tokensPerS,
 * and, once it is done, step and stage, the figures of the run and of the stage that ends last, by
 * name, and sentence, the verdict of report_training; missed: of every
 * model that is late, whose inputs have all ended, its name, deadline and lateness in ps; parts, in
 * ps, by name; classes: of accelerators with the same designs and memory the name of their first
 * design, their number, the least, mean and greatest share of the time at work (computing, or
 * stalled within a task); link: of the greatest load, its name and load, where anything was
 * carried. 0 or -1. */
int th_verdict_add(th_session *s, th_strbuf *out, th_error *err);

#endif
