/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_onnx.c - the bytes as an ONNX model. What can be read is fused, with the same
 * multiply-accumulates, but for those that a mask hides from the fused attention. */
#include <config.h>
#include "tests/fuzz/target.h"
#include "workloads/fuse/fuse.h"
#include "workloads/onnx/read.h"

static bool has_mask(const th_workload *w)
{
    bool has = false;
    for (int l = 0; l < w->n_layers; l++)
        has |= w->layers[l].causal_rows > 0 || w->layers[l].window > 0;
    return has;
}

static void run(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_onnx_dim dims[] = {{.name = "batch", .extent = 2}};
    const th_onnx_options o = {.precision = -1, .dims = dims, .n_dims = 1, .copies_unknown = true};
    const th_onnx_options closed = {.precision = -1};
    const char *path = fuzz_input_file(data, size);
    th_workload *w = th_workload_read_onnx(path, &o, NULL, &e);
    must_read_or_say(w, &e);
    if (!w) /* it may have no axis of that name */
        w = th_workload_read_onnx(path, &closed, NULL, &e);
    if (w) {
        th_workload *fused = th_workload_fuse(w, &e);
        must(fused != NULL);
        must(has_mask(w) ? th_workload_macs(fused) <= th_workload_macs(w)
                         : th_workload_macs(fused) == th_workload_macs(w));
        th_workload_free(fused);
    }
    th_workload_free(w);
}

const fuzz_target fuzz_onnx = {"onnx", run, NULL};
