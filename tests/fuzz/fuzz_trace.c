/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_trace.c - the bytes as the file of each of two ranks of a trace. What can be read is
 * matched, and written so that it reads back with as many nodes. */
#include <config.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "mapper/lower/trace_groups.h"
#include "topology/system.h"
#include "workloads/trace/node_write.h"
#include "workloads/trace/trace_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void write_back(const th_trace *t)
{
    th_error e = {"", ""};
    th_strbuf bytes = TH_STRBUF_INIT;
    must(th_trace_pack_rank(t, 0, &bytes, &e) == 0);
    if (t->n_groups == 0) { /* groups are not in these bytes */
        th_trace *again = th_trace_read_bytes(bytes.text, bytes.length, t->n_ranks, &e);
        must(again && again->n_nodes == t->n_nodes);
        th_trace_free(again);
    }
    th_strbuf_clear(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { RANKS = 2 };
    int64_t live = th_alloc_live();
    th_error e = {"", ""};
    th_system *s = th_system_new("none", &e);
    th_trace *t = th_trace_read_bytes(data, size, RANKS, &e);
    th_trace_meetings m;
    must(s && (t || e.text[0]));
    if (t) {
        th_trace_meet(t, s, &m, &e);
        th_trace_meetings_clear(&m);
        write_back(t);
    }
    th_trace_free(t);
    th_system_free(s);
    must(th_alloc_live() == live);
    return 0;
}
