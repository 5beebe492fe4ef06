/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - see options.h. */
#include <config.h>
#include "tcl/options.h"
#include "tcl/tcl_session.h"
#include <stdio.h>

const char *th_network_name(int i)
{
    return th_network_types[i] ? th_network_types[i]->name : NULL;
}

/* ---- the stream ---- */

/* Stream options are refused for hand-built programs: only a mapping is lowered for a stream. */
static int refuse_stream(th_call *c, int first)
{
    for (int i = 0; i < TH_N_STREAM_OPTIONS; i++)
        if (th_call_has(c, first + i))
            return th_error_set(&c->err, "TCL-0155",
                                "%s: is for mappings, not for the program \"%s\"",
                                c->command->options[first + i].name, c->session->hand_built->name);
    return 0;
}

int th_stream_parse(th_call *c, int first, th_run_options *out)
{
    if (c->session->hand_built)
        return refuse_stream(c, first);
    int64_t parts = th_call_number(c, first + TH_STREAM_MICRO_BATCHES, out->stream.micro_batches);
    if (parts > c->session->workload->batch)
        return th_error_set(&c->err, "TCL-0054",
                            "-micro_batches \"%lld\": must be at most the batch, %d",
                            (long long)parts, (int)c->session->workload->batch);
    out->stream.n_inputs =
        (int32_t)th_call_number(c, first + TH_STREAM_INPUTS, out->stream.n_inputs);
    out->stream.interval_ps =
        th_call_number(c, first + TH_STREAM_INTERVAL, out->stream.interval_ps);
    out->stream.micro_batches = (int32_t)parts;
    return 0;
}
