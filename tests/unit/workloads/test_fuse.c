/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fusing layers: what it leaves of a workload, and memory that runs out. (Patterns are tested in
 * tests/tcl/workload/fuse.test.) */
#include <config.h>
#include "workloads/fuse/fuse.h"
#include "base/alloc.h"
#include "tests/unit/tap.h"
#include "workloads/workload_read.h"

#include <string.h>

/* An attention of 2 heads, with a scale that something else reads, too, and a gated pair. */
static const char text[] =
    "batch = 2; input = { channels = 8; height = 5; width = 1; };\n"
    "layers = (\n"
    "{ name = \"q\"; type = \"matmul\"; columns = 8; },\n"
    "{ name = \"k\"; type = \"matmul\"; inputs = \"input\"; columns = 8; },\n"
    "{ name = \"v\"; type = \"matmul\"; inputs = \"input\"; columns = 12; },\n"
    "{ name = \"qs\"; type = \"scale\"; inputs = \"q\"; },\n"
    "{ name = \"s\"; type = \"matmul\"; inputs = [\"qs\", \"k\"]; heads = 2; transposed = true; "
    "},\n"
    "{ name = \"p\"; type = \"softmax\"; heads = 2; },\n"
    "{ name = \"c\"; type = \"matmul\"; inputs = [\"p\", \"v\"]; heads = 2; },\n"
    "{ name = \"g\"; type = \"silu\"; },\n"
    "{ name = \"m\"; type = \"mul\"; inputs = [\"g\", \"v\"]; },\n"
    "{ name = \"t\"; type = \"tanh\"; inputs = \"qs\"; }\n"
    ");\n";

static th_workload *read_text(void)
{
    th_error e = {"", ""};
    th_workload *w = th_workload_read_text(text, "net", 0, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    return w;
}

TEST(what_something_else_reads_stays)
{
    static const char *const names[] = {"q", "k", "v", "qs", "c", "m", "t"};
    th_error e = {"", ""};
    th_workload *w = read_text(), *fused = th_workload_fuse(w, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fused);
    CU_ASSERT_EQUAL_FATAL(fused->n_layers, 7);
    for (int l = 0; l < fused->n_layers; l++)
        TAP_ASSERT_TEXT(fused->layers[l].name, names[l]);
    const th_layer *a = &fused->layers[4], *m = &fused->layers[5];
    CU_ASSERT_EQUAL(a->kind, TH_LAYER_ATTENTION);
    CU_ASSERT_EQUAL(a->inputs[0], 3); /* qs, for t reads it */
    CU_ASSERT_EQUAL(th_layer_macs(a), 2 * 5 * 5 * (8 + 12));
    CU_ASSERT_EQUAL(m->function, TH_FUNCTION_GATE);
    CU_ASSERT_EQUAL(m->inputs[0], 4);
    CU_ASSERT_EQUAL(m->inputs[1], 2);
    CU_ASSERT_EQUAL(th_workload_macs(fused), th_workload_macs(w));
    CU_ASSERT_EQUAL(fused->batch, 2);
    th_workload_free(fused);
    th_workload_free(w);
}

TEST(any_allocation_may_fail)
{
    th_workload *w = read_text(), *fused = NULL;
    int64_t live = th_alloc_live(), k = 1;
    for (; !fused && k < 1000; k++) {
        th_error e = {"", ""};
        th_alloc_fail_at(k);
        fused = th_workload_fuse(w, &e);
        if (!fused)
            CU_ASSERT_TRUE(th_error_is_no_memory(&e));
        CU_ASSERT_TRUE(fused || th_alloc_live() == live);
    }
    th_alloc_fail_at(0);
    CU_ASSERT(fused && k > 20);
    th_workload_free(fused);
    th_workload_free(w);
}

TAP_MAIN("fuse")
