/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_workload.c - the bytes as a workload file. What can be read is fused, with the same
 * multiply-accumulates, and written so that it reads back with as many layers. */
#include <config.h>
#include "tests/fuzz/target.h"
#include "workloads/fuse/fuse.h"
#include "workloads/workload_read.h"
#include "workloads/workload_write.h"

static void check(const th_workload *w)
{
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    th_workload *fused = th_workload_fuse(w, &e);
    must(fused && th_workload_macs(fused) == th_workload_macs(w));
    must(th_workload_write(fused, &text, &e) == 0);
    th_workload *again = th_workload_read_text(text.text, "again", 0, &e);
    must(again && again->n_layers == fused->n_layers);
    th_workload_free(again);
    th_workload_free(fused);
    th_strbuf_clear(&text);
}

static void run(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_workload *w = th_workload_read(fuzz_input_file(data, size), 0, &e);
    must_read_or_say(w, &e);
    if (w)
        check(w);
    th_workload_free(w);
}

const fuzz_target fuzz_workload = {"workload", run, NULL};
