/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <lzma.h>
#include <zlib.h>
#include "base/alloc.h"
#include "base/map.h"
#include "predictor/data/measurements.h"
#include "predictor/data/decompress.h"
#include "tests/unit/predict_help.h"
#include "tests/unit/refused.h"

static th_gpus gpus;

static int read_text(th_measurements *m, const char *name, const char *text,
                     th_measurement_source s, th_error *e)
{
    auto_file f = write_text(name, text);
    s.path = f.path;
    return th_measurements_read(m, &s, &gpus, e);
}

/* What is wrong with a file, its path cut off. */
static void assert_refused(const char *name, const char *text, th_measurement_source s,
                           const char *id, const char *why)
{
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(read_text(m, name, text, s, &e), -1);
    const char *at = strstr(e.text, name);
    TAP_ASSERT_TEXT(e.id, id);
    TAP_ASSERT_TEXT(at ? at + strlen(name) : e.text, why);
    CU_ASSERT_EQUAL(m->n_rows, 0);
    CU_ASSERT_EQUAL(m->n_devices, 0);
}

static const th_measurement_source plain = {.format = "auto"};

TEST(reads_wide_tables_of_devices)
{
    static const char text[] =
        "row_id,batchsize,matsize,kernelsize,channels_in,channels_out,strides,padding,"
        "activation_fct,use_bias,time_median_small,time_min_small,time_median_large\n"
        "7,3,28,4,5,6,1,1,1,0,2.5,2.4,0.25\n"
        "9,1,28,3,5,6,2,0,0,1,,,0.125\n";
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(read_text(m, "convolution_2gpu.csv", text, plain, &e), 0);
    CU_ASSERT_EQUAL_FATAL(m->n_rows, 3);
    CU_ASSERT_EQUAL(m->n_devices, 2);
    const th_measurement *a = &m->row[0], *b = &m->row[1], *c = &m->row[2];
    CU_ASSERT(a->op.kind == TH_OP_CONV && a->phase == TH_PHASE_CALL && a->row_id == 7 &&
              b->row_id == 7);
    CU_ASSERT(a->ms == 2.5 && b->ms == 0.25 && c->ms == 0.125);
    CU_ASSERT(a->op.x[TH_OP_KERNEL_W] == 4 && a->op.x[TH_OP_PAD_H] == 3 &&
              a->op.x[TH_OP_ACTIVATION] == TH_ACT_RELU);
    CU_ASSERT(c->op.x[TH_OP_STRIDE_H] == 2 && c->op.x[TH_OP_PAD_W] == 0 &&
              c->op.x[TH_OP_BIAS] == 1);
    TAP_ASSERT_TEXT(m->device[b->device].name, "large");
    TAP_ASSERT_TEXT(m->device[c->device].name, "large");
}

TEST(names_of_files_tell_kind_and_device)
{
    static const char text[] =
        "row_id,batchsize,dim_input,dim_output,activation_fct,optimizer,gpu,timeUsed_median\n"
        "2,34,3332,2912,3,0,0,0.4178\n3,5,2765,365,1,5,0,0.39568\n";
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(read_text(m, "dense_Small.csv", text, plain, &e), 0);
    CU_ASSERT_EQUAL_FATAL(m->n_rows, 2);
    CU_ASSERT(m->row[0].op.kind == TH_OP_DENSE && m->row[0].phase == TH_PHASE_CALL);
    CU_ASSERT(m->row[1].phase == TH_PHASE_STEP &&
              m->row[1].op.x[TH_OP_OPTIMIZER] == TH_OPTIMIZER_ADAM);
    TAP_ASSERT_TEXT(m->device[0].name, "small");
}

TEST(reads_kernels_by_their_matrices)
{
    static const char text[] =
        "OPName,Device,latency_ms,B,M,N,K\nbmm,Acme Small 4GB,0.5,13,27,15,29\n"
        "linear,large,0.25,2,58,13,141\n";
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(read_text(m, "t.csv", text, plain, &e), 0);
    const int32_t *a = m->row[0].op.x, *b = m->row[1].op.x;
    CU_ASSERT(m->row[0].op.kind == TH_OP_MATMUL && m->row[0].phase == TH_PHASE_EXECUTION);
    CU_ASSERT(a[TH_OP_BATCH] == 13 && a[TH_OP_ROWS] == 27 && a[TH_OP_CHANNELS_IN] == 15 &&
              a[TH_OP_CHANNELS_OUT] == 29);
    CU_ASSERT(m->row[1].op.kind == TH_OP_DENSE && b[TH_OP_BATCH] == 116 &&
              b[TH_OP_CHANNELS_IN] == 13 && b[TH_OP_CHANNELS_OUT] == 141);
}

TEST(own_format_has_units_words_and_other_names)
{
    static const char text[] = "kind,gpu,what,batch,channels_in,function,microseconds,note\n"
                               "elementwise,tiny,execution,12,34,pow_number,2500,x\n"
                               "softmax,large,execution,12,34,,1,\n";
    static const char *const names[] = {"gpu",   "device",       "what",
                                        "phase", "microseconds", "time_us"};
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    th_measurement_source s = {.format = "tharsis", .columns = names, .n_columns = 3};
    CU_ASSERT_EQUAL_FATAL(read_text(m, "mine.csv", text, s, &e), 0);
    CU_ASSERT(m->row[0].op.x[TH_OP_FUNCTION] == TH_EW_POW_NUMBER && m->row[0].ms == 2.5);
    CU_ASSERT(m->row[1].op.kind == TH_OP_SOFTMAX && m->row[1].phase == TH_PHASE_EXECUTION);
}

TEST(sums_groups_by_network_and_batch)
{
    static const char text[] =
        "device,network,operation,batchsize,matsize,kernelsize,channels_in,channels_out,strides,"
        "padding,activation_fct,use_bias,poolsize,time_median\n"
        "small,net,Conv2D,4,27,5,96,256,1,1,0,1,,0.5\n"
        "small,net,MaxPooling2D,4,27,,256,,2,0,,,3,0.25\n"
        "small,net,Dense,4,1,,9216,4096,,,1,,,0.125\n"
        "small,net,Dense,8,1,,9216,4096,,,1,,,0.125\n";
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(read_text(m, "n.csv", text, plain, &e), 0);
    CU_ASSERT_EQUAL_FATAL(m->n_groups, 2);
    TAP_ASSERT_TEXT(m->group[0], "net, batch 4");
    CU_ASSERT(m->row[2].group == 0 && m->row[3].group == 1);
    CU_ASSERT(m->row[1].op.kind == TH_OP_POOLING && m->row[1].op.x[TH_OP_KERNEL_H] == 3);
}

#define DENSE "kind,device,batch,channels_in,channels_out,time_ms\n"

/* Precision is a word of every operation; attention has numbers of its own. */
TEST(reads_operators_of_language_models)
{
    static const char *const text =
        "kind,precision,function,batch,rows,channels_in,channels_out,heads,kv_heads,keys,causal,"
        "device,time_us\n"
        "attention,fp16,,2,3,64,32,8,2,100,1,tensor,5\n"
        "elementwise,fp16,rotary,7,,512,,,,,,tensor,6\n";
    auto_measurements *m = th_measurements_new();
    auto_gpus g = {.gpu = NULL};
    th_error e = {"", ""};
    auto_file devices = write_text(
        "gpus.csv", "device,memory_bandwidth_GBps,sms,cores_per_sm,clock_MHz,fp32_GFLOPs,l2_MB,"
                    "memory_GB,fp16_GFLOPs,bf16_GFLOPs\ntensor,1,2,3,4,5,6,7,80,\n");
    temporary_file f = write_text("ops.csv", text);
    CU_ASSERT_EQUAL_FATAL(th_gpus_read(&g, devices.path, NULL, &e), 0);
    CU_ASSERT(th_gpu_peak(&g.gpu[0], TH_PRECISION_FP16) == 80 &&
              th_gpu_peak(&g.gpu[0], TH_PRECISION_BF16) == 0 &&
              th_gpu_nearest_precision(&g.gpu[0], TH_PRECISION_FP4) == TH_PRECISION_FP16);
    CU_ASSERT_EQUAL_FATAL(th_measurements_read(m, &(th_measurement_source){.path = f.path}, &g, &e),
                          0);
    CU_ASSERT(m->row[0].op.kind == TH_OP_ATTENTION && m->row[0].op.x[TH_OP_KV_HEADS] == 2 &&
              m->row[0].op.x[TH_OP_KEYS] == 100 && m->row[0].ms == 5e-3);
    CU_ASSERT(m->row[1].op.x[TH_OP_FUNCTION] == TH_EW_ROTARY &&
              m->row[1].op.x[TH_OP_PRECISION] == TH_PRECISION_FP16);
    remove_file(&f);
    f = write_text("ops.csv", "kind,precision,device,batch,channels_in,time_ms\n"
                              "norm,bf16,tensor,1,2,3\n");
    CU_ASSERT_EQUAL(th_measurements_read(m, &(th_measurement_source){.path = f.path}, &g, &e), -1);
    TAP_ASSERT_TEXT(strstr(e.text, ":2:"),
                    ":2: precision bf16: tensor has fp32, fp16; choose one of these, or "
                    "describe its peak (bf16_GFLOPs)");
    remove_file(&f);
    remove_file(&devices);
    devices =
        write_text("gpus.csv", "device,memory_bandwidth_GBps,sms,cores_per_sm,clock_MHz,"
                               "fp32_GFLOPs,l2_MB,memory_GB,fp8_GFLOPs\nx,1,2,3,4,5,6,7,-8\n");
    CU_ASSERT_EQUAL(th_gpus_read(&g, devices.path, NULL, &e), -1);
    TAP_ASSERT_TEXT(e.id, "PRED-0013");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(e.text, ":2: fp8_GFLOPs \"-8\": must be a number above 0, or empty"));
}

TEST(tells_what_it_leaves_out)
{
    auto_measurements *m = th_measurements_new();
    auto_strbuf notes = TH_STRBUF_INIT;
    auto_gpus g = {.gpu = NULL};
    th_error e = {"", ""};
    const char *const pairs[] = {"who", "-"};
    th_measurement_source s = {.columns = pairs, .n_columns = 1, .notes = &notes};
    CU_ASSERT_EQUAL(read_text(m, "a.csv",
                              "kind,device,batch,channels_in,time_ms,stride_hh,who,biass\n"
                              "# norm,small,1,2,1,5,me,7\n"
                              "norm,small,1,2,,5,me,7\nnorm,small,1,2,1,5,me,7\n",
                              s, &e),
                    0);
    CU_ASSERT_EQUAL(m->n_rows, 1);
    TAP_ASSERT_TEXT(notes.text, "columns are not read: \"stride_hh\" \"biass\"; 1 line, without a "
                                "time: left out, the first is line 3");
    th_strbuf_clear(&notes);
    auto_file f = write_text(
        "d.csv", "price,device,memory_bandwidth_GBps,sms,cores_per_sm,clock_MHz,fp32_GFLOPs,l2_MB,"
                 "memory_GB\n9,x,1,100,128,1700,43.52,6,7\n");
    CU_ASSERT_EQUAL(th_gpus_read(&g, f.path, &notes, &e), 0);
    TAP_ASSERT_TEXT(notes.text, "columns are not read: \"price\"");
}

/* Members tell their number and their mean, rounded up; a row without them has its own numbers. */
TEST(reads_unequal_members)
{
    static const char text[] =
        "kind,device,phase,batch,rows,keys,channels_in,channels_out,heads,kv_heads,causal,members,"
        "time_ms\n"
        "matmul,small,execution,,,,64,32,,,,\"5 0  9\",2\n"
        "matmul,small,execution,4,5,,64,32,,,,,3\n"
        "attention,small,execution,2,3,,64,64,8,2,1,3 1000,4\n";
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(read_text(m, "a.csv", text, plain, &e), 0);
    CU_ASSERT_EQUAL_FATAL(m->n_rows, 3);
    const th_measurement *a = &m->row[0], *b = &m->row[1], *c = &m->row[2];
    CU_ASSERT(a->op.x[TH_OP_BATCH] == 3 && a->op.x[TH_OP_ROWS] == 5 && a->n_members == 3);
    CU_ASSERT(m->member[a->first_member] == 5 && m->member[a->first_member + 1] == 0 &&
              m->member[a->first_member + 2] == 9);
    CU_ASSERT(b->n_members == 0 && b->op.x[TH_OP_BATCH] == 4);
    CU_ASSERT(c->op.x[TH_OP_KEYS] == 502 && c->n_members == 2 && c->first_member == 3 &&
              m->member[4] == 1000);
    uint64_t digest = m->digest;
    th_measurements_free(m);
    m = th_measurements_new();
    char other[sizeof text];
    memcpy(other, text, sizeof text);
    memcpy(strstr(other, "5 0  9"), "5 1  8", 6); /* of the same mean */
    CU_ASSERT_EQUAL_FATAL(read_text(m, "a.csv", other, plain, &e), 0);
    CU_ASSERT(m->digest != digest);
}

static int read_refused(const char *text, th_error *e)
{
    auto_measurements *m = th_measurements_new();
    int failed = read_text(m, "a.csv", text, plain, e);
    const char *at = strstr(e->text, "a.csv");
    if (at)
        memmove(e->text, at + strlen("a.csv"), strlen(at + strlen("a.csv")) + 1);
    CU_ASSERT_TRUE(m->n_rows == 0 && m->n_devices == 0);
    return failed;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"measurements", read_refused}, {NULL, NULL}};
    assert_refusals("predictor/measurements.refused", readers);
}

TEST(columns_that_mean_the_same)
{
    static const char *const names[] = {"n", "batch"};
    th_measurement_source s = {.columns = names, .n_columns = 1};
    char many[2000] = "kind,device,time_ms";
    assert_refused("a.csv", "kind,device,batch,n,time_ms\n", s, "PRED-0034",
                   ":1: columns \"batch\" and \"n\": mean the same");
    for (int i = 0; i < 130; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",c%d", i);
    assert_refused("a.csv", many, plain, "PRED-0035", ":1: must have 128 columns at most");
}

TEST(columns_that_are_missing_or_unknown)
{
    static const char *const absent[] = {"took", "time_us"}, *const odd[] = {"took", "time_m"};
    th_measurement_source s = {.columns = absent, .n_columns = 1};
    assert_refused("a.csv", DENSE, s, "PRED-0156", ":1: -columns: there is no column \"took\"");
    s.columns = odd;
    assert_refused("a.csv", "kind,device,batch,channels_in,took\n", s, "PRED-0157",
                   "-columns: \"time_m\": must be \"-\" or a column of format tharsis");
}

TEST(mixed_units)
{
    th_strbuf notes = TH_STRBUF_INIT;
    static const char *const left_out[] = {"latency_us", "-"};
    th_measurement_source us = {.units = "us"},
                          one = {.columns = left_out, .n_columns = 1, .notes = &notes};
    static const char text[] = "OPName,Device,latency_ms,latency_us,B,H\nln,small,0.5,499,7,8\n";
    assert_refused(
        "a.csv", "row_id,batchsize,dim_input,dim_output,time_median_small,time_median_tiny\n",
        (th_measurement_source){.kind = "dense"}, "PRED-0032",
        ":1: columns \"time_median_small\" and \"time_median_tiny\": are both times; -columns "
        "{\"time_median_tiny\" -} leaves one out");
    assert_refused("a.csv", DENSE, us, "PRED-0153", ":1: -units us: column \"time_ms\" is in ms");
    auto_measurements *m = th_measurements_new();
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(read_text(m, "a.csv", text, one, &e), 0);
    CU_ASSERT_EQUAL(notes.length, 0);
    CU_ASSERT_EQUAL(read_text(m, "dense_small.csv",
                              "row_id,batchsize,dim_input,dim_output,time_median\n1,2,3,4,750\n",
                              us, &e),
                    0);
    CU_ASSERT(m->n_rows == 2 && m->row[0].ms == 0.5 && m->row[1].ms == 0.75);
}

TEST(marks_at_both_ends)
{
    th_measurements *m = th_measurements_new();
    th_strbuf notes = TH_STRBUF_INIT;
    const th_measurement_source noting = {.format = "auto", .notes = &notes};
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(
        read_text(m, "a.csv", "\xEF\xBB\xBF" DENSE "dense,small,1,2,3,1\r\n", noting, &e), 0);
    CU_ASSERT(m->n_rows == 1 && notes.length == 0);
    CU_ASSERT_EQUAL(read_text(m, "a.csv", DENSE "dense,small,1,2,3,1.5", noting, &e), 0);
    CU_ASSERT_EQUAL(m->n_rows, 2);
    TAP_ASSERT_TEXT(notes.text, "its last line has no end: the file may be cut short");
    th_strbuf_clear(&notes);
    th_measurements_free(m);
    auto_strbuf text = TH_STRBUF_INIT;
    auto_file f = write_bytes("a.csv", (const unsigned char *)"a,b\0c,d\n", 9);
    CU_ASSERT_EQUAL(th_decompress_file(f.path, 100, &text, &e), -1);
    TAP_ASSERT_TEXT(e.id, "PRED-0158");
    CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "a.csv: must be text, has a zero byte"));
}

/* --- packed files ----------------------------------------------------------------------------- */

static const char packed_text[] = DENSE "dense,small,1,2,3,1\ndense,small,4,5,6,0.5\n";

static size_t pack_xz(unsigned char *out, size_t size)
{
    size_t n = 0;
    CU_ASSERT_EQUAL(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *)packed_text,
                                            strlen(packed_text), out, &n, size),
                    LZMA_OK);
    return n;
}

static size_t pack_gzip(unsigned char *out, size_t size)
{
    z_stream s = {.next_in = (unsigned char *)(uintptr_t)packed_text,
                  .avail_in = (uInt)strlen(packed_text),
                  .next_out = out,
                  .avail_out = (uInt)size};
    CU_ASSERT_EQUAL(deflateInit2(&s, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    CU_ASSERT_EQUAL(deflate(&s, Z_FINISH), Z_STREAM_END);
    deflateEnd(&s);
    return size - s.avail_out;
}

static void assert_unpacks(const char *name, const unsigned char *bytes, size_t n, const char *tool)
{
    th_error e = {"", ""};
    for (size_t cut = 8; cut <= n; cut = cut + n / 5 < n || cut == n ? cut + n / 5 : n) {
        auto_strbuf text = TH_STRBUF_INIT;
        auto_file f = write_bytes(name, bytes, cut < n ? cut : n);
        int status = th_decompress_file(f.path, 1 << 20, &text, &e);
        CU_ASSERT_EQUAL(status, cut < n ? -1 : 0);
        if (status == 0)
            TAP_ASSERT_TEXT(text.text, packed_text);
        bool is_told = strcmp(e.id, "PRED-0021") == 0 && strstr(e.text, tool);
        CU_ASSERT(status == 0 || is_told);
        th_strbuf_clear(&text);
        CU_ASSERT_EQUAL(th_decompress_file(f.path, 40, &text, &e), -1);
    }
}

TEST(packed_files_are_whole_or_refused)
{
    unsigned char bytes[1000];
    assert_unpacks("t.csv.xz", bytes, pack_xz(bytes, sizeof bytes), "xz");
    assert_unpacks("t.csv.gz", bytes, pack_gzip(bytes, sizeof bytes), "gzip");
    size_t n = pack_gzip(bytes, sizeof bytes), twice = n + pack_gzip(bytes + n, sizeof bytes - n);
    auto_strbuf text = TH_STRBUF_INIT;
    th_error e = {"", ""};
    auto_file f = write_bytes("two.gz", bytes, twice);
    CU_ASSERT_EQUAL(th_decompress_file(f.path, 1 << 20, &text, &e), 0);
    CU_ASSERT_EQUAL(text.length, 2 * strlen(packed_text));
    th_strbuf_clear(&text);
    CU_ASSERT_EQUAL(th_decompress_file(f.path, twice, &text, &e), -1);
    TAP_ASSERT_TEXT(e.id, "PRED-0020");
}

/* 25 MiB of line ends in less than 5 KiB. */
TEST(a_small_file_does_not_fill_the_memory)
{
    enum { UNPACKED = 25 << 20, PACKED = 1 << 16 };
    uint8_t *bytes = th_alloc(UNPACKED), *packed = th_alloc(PACKED);
    size_t n = 0;
    auto_strbuf text = TH_STRBUF_INIT;
    th_error e = {"", ""};
    memset(bytes, '\n', UNPACKED);
    CU_ASSERT_EQUAL(
        lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, bytes, UNPACKED, packed, &n, PACKED),
        LZMA_OK);
    auto_file f = write_bytes("lines.xz", packed, n);
    CU_ASSERT_EQUAL(th_decompress_file(f.path, 1 << 28, &text, &e), -1);
    TAP_ASSERT_TEXT(e.id, "PRED-0165");
    th_free(bytes);
    th_free(packed);
}

static void make_all(void)
{
    gpus = two_gpus();
}

TAP_MAIN_WITH("measurements", make_all)
