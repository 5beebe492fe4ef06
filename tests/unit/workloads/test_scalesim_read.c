/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SCALE-Sim's files: what they become, and what is said about bad ones. */
#include <config.h>
#include "sim/design/design.h"
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"
#include "topology/files/scalesim_read.h"
#include "workloads/scalesim_read.h"

#include <unistd.h>

static const char path[] = "test_scalesim_read.tmp";

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

/* --- systems ---------------------------------------------------------------------------------- */

#define HEAD "[general]\nrun_name = small_ws\n"
#define ARRAY                                                                                      \
    "[architecture_presets]\nArrayHeight: 12\nArrayWidth : 14\nIfmapSramSzkB = 108\n"              \
    "filtersramszkb = 64\nOfmapSramSzkB: 8\nIfmapOffset: 0\nDataflow: WS\n"
#define USER "[run_presets]\nInterfaceBandwidth: USER\n"

static const th_param *param(const th_system *s, const char *key)
{
    for (int i = 0; i < s->designs[0].n_params; i++)
        if (strcmp(s->designs[0].params[i].key, key) == 0)
            return &s->designs[0].params[i];
    return NULL;
}

static double number(const th_system *s, const char *key)
{
    const th_param *p = param(s, key);
    return p ? p->number : -1;
}

TEST(a_configuration_becomes_an_array)
{
    th_error e = {"", ""};
    write_text("# comment\n; and another\n" HEAD "\r\n" ARRAY
               "MemoryBanks: 2\n[layout]\nIfmapCustomLayout: maybe\n" USER);
    auto_system *s = th_system_read_scalesim(path, NULL, &e);
    TAP_ASSERT_TEXT(
        e.text,
        "test_scalesim_read.tmp: key \"Bandwidth\" of [architecture_presets] is missing; not "
        "read are \"IfmapCustomLayout\"");
    CU_ASSERT_PTR_NULL(s);
    write_text(HEAD ARRAY "Bandwidth: 10\n" USER);
    s = th_system_read_scalesim(path, NULL, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    TAP_ASSERT_TEXT(s->name, "small_ws");
    CU_ASSERT_TRUE(s->n_accels == 1 && s->n_hosts == 0 && s->n_designs == 1);
    CU_ASSERT_EQUAL(s->nodes[s->accel_node[0]].a.dram_bits_per_s, TH_UNLIMITED);
    CU_ASSERT_TRUE(number(s, "rows") == 12 && number(s, "cols") == 14 &&
                   number(s, "weight_port") == 10);
    TAP_ASSERT_TEXT(param(s, "input_buffer")->text, "110592B");
    TAP_ASSERT_TEXT(param(s, "weight_buffer")->text, "65536B");
    TAP_ASSERT_TEXT(param(s, "output_buffer")->text, "8192B");
    TAP_ASSERT_TEXT(param(s, "dataflow")->text, "ws");
    CU_ASSERT_EQUAL(th_design_check_system(s, &e), 0);
}

/* Without run_name the file's, without USER no ports; three bandwidths are those of the operands.
 */
TEST(bandwidth_is_that_of_ports)
{
    th_error e = {"", ""};
    write_text(ARRAY "Bandwidth = 10, 20,30\n[run_presets]\nInterfaceBandwidth = calc\n");
    auto_system *s = th_system_read_scalesim(path, NULL, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    TAP_ASSERT_TEXT(s->name, "test_scalesim_read");
    CU_ASSERT_PTR_NULL(param(s, "input_port"));
    th_system_free(s);
    write_text(ARRAY "Bandwidth = 10, 20,30\n" USER);
    s = th_system_read_scalesim(path, NULL, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    CU_ASSERT_TRUE(number(s, "input_port") == 10 && number(s, "weight_port") == 20 &&
                   number(s, "output_port") == 30);
}

static int read_refused_system(const char *text, th_error *e)
{
    write_text(text);
    th_system *s = th_system_read_scalesim(path, NULL, e);
    th_system_free(s);
    return s ? 0 : -1;
}

TEST(tells_of_keys_that_are_not_read)
{
    th_error e = {"", ""};
    auto_strbuf notes = TH_STRBUF_INIT;
    write_text(HEAD "version = 2\n" ARRAY "OnChipMemoryBanks: 1\nMemoryBanks: 1\n[sparsity]\n"
                    "SparsitySupport: true\n[run_preset]\nInterfaceBandwidth: USER");
    auto_system *s = th_system_read_scalesim(path, &notes, &e);
    TAP_ASSERT_TEXT(e.text, "");
    TAP_ASSERT_TEXT(notes.text,
                    "keys are not read: \"version\" \"OnChipMemoryBanks\" "
                    "\"SparsitySupport\" \"InterfaceBandwidth\"; its last line has no end: the "
                    "file may be cut short");
}

TEST(refuses_files_that_are_too_large)
{
    static char text[TH_SCALESIM_TOPOLOGY_MAX + 2];
    th_error e = {"", ""};
    memset(text, '\n', sizeof text - 1);
    write_text(text);
    CU_ASSERT_PTR_NULL(th_system_read_scalesim(path, NULL, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0326");
    CU_ASSERT_PTR_NULL(th_workload_read_scalesim(path, 1, TH_INT8, NULL, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0326");
    FILE *f = fopen(path, "w");
    CU_ASSERT_FATAL(f && fwrite("L,M,N,K\na,1,2,3\n\0b,1,2,3\n", 1, 26, f) == 26 && !fclose(f));
    CU_ASSERT_PTR_NULL(th_workload_read_scalesim(path, 1, TH_INT8, NULL, &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0327");
    CU_ASSERT_PTR_NULL(th_system_read_scalesim("no/such.cfg", NULL, &e));
    CU_ASSERT_PTR_NULL(th_workload_read_scalesim("no/such.csv", 1, TH_INT8, NULL, &e));
}

/* --- workloads -------------------------------------------------------------------------------- */

#define CONVOLUTIONS                                                                               \
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "   \
    "Strides,\n"

static void assert_dims(const th_layer *l, const int32_t *dim)
{
    CU_ASSERT_EQUAL(memcmp(l->dim, dim, sizeof l->dim), 0);
}

/* 30 x 20, 7 x 5, strides 2: ceil(23/2) + 1 = 13, ceil(15/2) + 1 = 9; strides 3 and 4: ceil(23/3) +
 * 1 = 9, ceil(15/4) + 1 = 5. Layers do not fit each other, names have blanks or are taken. */
TEST(convolutions_stand_side_by_side)
{
    static const int32_t first[] = {2, 12, 3, 13, 9, 7, 5}, second[] = {2, 12, 3, 9, 5, 7, 5},
                         third[] = {2, 10, 64, 1, 1, 1, 1};
    th_error e = {"", ""};
    write_text(CONVOLUTIONS "first one, 30, 20, 7, 5, 3, 12, 2,\r\n\n"
                            "first one, 30, 20, 7, 5, 3, 12, 3, 4\n fc ,1,1,1,1,64,10,1,2:4,\n");
    auto_workload *w = th_workload_read_scalesim(path, 2, TH_FP16, NULL, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    TAP_ASSERT_TEXT(w->name, "test_scalesim_read");
    CU_ASSERT_TRUE(w->n_layers == 3 && w->has_own_inputs && w->n_outputs == 3 && w->batch == 2);
    assert_dims(&w->layers[0], first);
    assert_dims(&w->layers[1], second);
    assert_dims(&w->layers[2], third);
    TAP_ASSERT_TEXT(w->layers[0].name, "first_one");
    TAP_ASSERT_TEXT(w->layers[1].name, "first_one.4");
    CU_ASSERT_TRUE(w->layers[1].stride_h == 3 && w->layers[1].stride_w == 4 &&
                   w->layers[1].in_h == 30);
    CU_ASSERT_TRUE(w->layers[2].sparse_n == 2 && w->layers[2].sparse_m == 4 &&
                   w->layers[2].line == 5);
    CU_ASSERT_EQUAL(w->layers[0].precision[TH_TENSOR_WEIGHT], TH_FP16);
}

TEST(products_are_matmuls)
{
    static const int32_t dim[] = {1, 7, 90, 40, 1, 1, 1};
    th_error e = {"", ""};
    write_text("Layer,m,N,K,\nqkv,40,7,90,\nout,40,7,90,4:4\n");
    auto_workload *w = th_workload_read_scalesim(path, 1, TH_INT8, NULL, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    assert_dims(&w->layers[0], dim);
    CU_ASSERT_TRUE(w->layers[0].kind == TH_LAYER_MATMUL && w->layers[1].sparse_m == 0);
    CU_ASSERT_EQUAL(th_workload_macs(w), 2 * 40 * 7 * 90);
}

static int read_refused_workload(const char *text, th_error *e)
{
    write_text(text);
    th_workload *w = th_workload_read_scalesim(path, 1, TH_INT8, NULL, e);
    th_workload_free(w);
    return w ? 0 : -1;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {
        {"configuration", read_refused_system}, {"topology", read_refused_workload}, {NULL, NULL}};
    assert_refusals("workloads/scalesim_read.refused", readers);
}

static th_workload *read_noted(const char *text, const char *expected)
{
    th_error e = {"", ""};
    auto_strbuf notes = TH_STRBUF_INIT;
    write_text(text);
    th_workload *w = th_workload_read_scalesim(path, 1, TH_INT8, &notes, &e);
    TAP_ASSERT_TEXT(e.text, "");
    TAP_ASSERT_TEXT(notes.text ? notes.text : "", expected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    return w;
}

/* What SCALE-Sim reads, too: titles, comments behind the last comma, columns of notes; what is left
 * out is told. */
TEST(what_is_no_layer_is_told)
{
    static const int32_t dim[] = {1, 8, 3, 20, 20, 3, 3};
    auto_workload *w =
        read_noted(CONVOLUTIONS "\nNet one,\na,40,40,3,3,3,8,2,\nb,20,20,3,3,1,1,1,#dw\n"
                                "c,20,20,3,3,1,1,1,2,# other",
                   "1 line, no layer but one value: left out, the first is line 3; 2 "
                   "lines, values behind the columns: left out, the first is "
                   "line 5; its last line has no end: the file may be cut short");
    CU_ASSERT_TRUE(w->n_layers == 3 && w->layers[2].stride_w == 2);
    assert_dims(&w->layers[0], dim);
    th_workload_free(w);
    w = read_noted(
        "Eh, Num Filters, Layer, Channels, Stride Height, Stride Width, IFMAP Width, Filter "
        "Height,,IFMAP Height, Filter Width, Sparsity\n19,8,a,3,2,2,40,3,,40,3,2:4,\n",
        "columns are not read: \"Eh\"");
    assert_dims(&w->layers[0], dim);
    CU_ASSERT_TRUE(w->layers[0].sparse_m == 4);
}

/* A product per channel: 5 filters on each of 16. */
TEST(dp_in_a_name_is_depthwise)
{
    static const int32_t dim[] = {1, 80, 16, 32, 32, 3, 3};
    th_workload *w = read_noted(CONVOLUTIONS "DP_a, 34, 34, 3, 3, 16, 5, 1,\n", "");
    assert_dims(&w->layers[0], dim);
    CU_ASSERT_EQUAL(w->layers[0].groups, 16);
    CU_ASSERT_EQUAL(th_workload_macs(w), 80 * 9 * 32 * 32);
    th_workload_free(w);
    th_error e = {"", ""};
    write_text(CONVOLUTIONS "DP_a, 34, 34, 3, 3, 268435456, 268435456, 1,\n");
    CU_ASSERT_PTR_NULL(th_workload_read_scalesim(path, 1, TH_INT8, NULL, &e));
    CU_ASSERT_NOT_EQUAL(e.text[0], '\0');
}

int main(int argc, char **argv)
{
    int status = tap_run("scalesim_read", argc, argv);
    unlink(path);
    return status;
}
