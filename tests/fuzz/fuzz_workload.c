/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_workload.c - the bytes as a workload file. What can be read is fused, with the same
 * multiply-accumulates, and written so that it reads back with as many layers. */
#include <config.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "tests/fuzz/input_file.h"
#include "workloads/fuse/fuse.h"
#include "workloads/workload_read.h"
#include "workloads/workload_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = th_alloc_live();
    th_error e = {"", ""};
    th_workload *w = th_workload_read(fuzz_input_file(data, size), 0, &e);
    must(w || e.text[0]);
    if (w)
        check(w);
    th_workload_free(w);
    must(th_alloc_live() == live);
    return 0;
}
