/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - see options.h. */
#include <config.h>
#include "tcl/options.h"

const char *th_network_name(int i)
{
    return th_network_types[i] != NULL ? th_network_types[i]->name : NULL;
}

const char *th_objective_name(int i)
{
    static const char *const names[] = {"latency", "throughput", NULL};
    return names[i];
}

int th_stream_parse(th_call *c, int first, th_run_options *out)
{
    int64_t parts = th_call_number(c, first + 3, out->stream.micro_batches);
    if (parts > c->session->workload->batch)
        return th_error_set(&c->err, "TCL-0054",
                            "-micro_batches \"%lld\": must be at most the batch, %d",
                            (long long)parts, (int)c->session->workload->batch);
    if (th_call_has(c, first))
        out->network = th_network_types[th_call_number(c, first, 0)];
    out->stream.n_inputs = (int32_t)th_call_number(c, first + 1, out->stream.n_inputs);
    out->stream.interval_ps = th_call_number(c, first + 2, out->stream.interval_ps);
    out->stream.micro_batches = (int32_t)parts;
    return 0;
}
