/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_help.h - what tests of lower bounds share: a script design without an interpreter, a
 * problem on a network, and its bounds. */
#ifndef TH_TESTS_UNIT_MAPPER_BOUNDS_HELP_H
#define TH_TESTS_UNIT_MAPPER_BOUNDS_HELP_H
#include <math.h>
#include "mapper/evaluate/bounds.h"
#include "tests/unit/map_help.h"

/* Cycles that follow no rate: small shards are slow, and some sizes run twice as fast. */
typedef struct {
    int calls;
    bool fails;
} fake;

static inline int any_procedure(const char *text, const char *procedure, th_error *err)
{
    (void)text;
    (void)procedure;
    (void)err;
    return 0;
}

static inline int answer(void *context, const char *text, const th_script_question *q,
                         th_script_answer *out, th_error *err)
{
    fake *f = context;
    const th_shard *s = q->shard;
    double macs = (double)th_shard_macs(s);
    (void)text;
    f->calls++;
    if (f->fails)
        return th_error_set(err, "TCL-0137", "it fails");
    *out = (th_script_answer){.cannot = ""};
    out->has[TH_SCRIPT_CYCLES] = true;
    out->number[TH_SCRIPT_CYCLES] = ceil(macs / (s->dim[TH_DIM_K] % 3 == 0 ? 8 : 4)) + 20;
    return 0;
}

static inline th_bounds find(const th_problem *p, const th_bounds_scope *scope)
{
    th_bounds b;
    th_error e = {"", ""};
    if (th_bounds_find(p, scope, &b, &e))
        bail_out(&e);
    return b;
}

static inline th_problem problem_on(const th_system *s, const th_workload *w, const char *network)
{
    return (th_problem){.system = s,
                        .workload = w,
                        .stream = th_stream_single,
                        .network = th_network_find(network)};
}

#endif
