/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention_run.h - the present run once more, with a probe on links and pairs of nodes. */
#ifndef TH_SESSION_CONTENTION_RUN_H
#define TH_SESSION_CONTENTION_RUN_H
#include "session/session.h"
#include "sim/observe/contention_probe.h"

/* Up to where the run stands, with the same property events; p is finished. 0 or -1. */
int th_probe_run_again(th_session *s, th_contention_probe *p, th_error *err);

#endif
