/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_gpus.c - tables of GPUs: their names and aliases, what is wrong, and the project's own. */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "base/files/text_file.h"
#include "tests/unit/refused.h"
#include "tests/unit/predict_help.h"

static th_gpus gpus;

TEST(gpus_are_found_by_name_or_alias)
{
    CU_ASSERT_PTR_EQUAL(th_gpus_find(&gpus, "SMALL"), &gpus.gpu[0]);
    CU_ASSERT_PTR_EQUAL(th_gpus_find(&gpus, "acme_small-4gb"), &gpus.gpu[0]);
    CU_ASSERT_PTR_EQUAL(th_gpus_find(&gpus, "tiny"), &gpus.gpu[0]);
    CU_ASSERT_PTR_NULL(th_gpus_find(&gpus, "smal"));
    CU_ASSERT_PTR_NULL(th_gpus_find(&gpus, ""));
    CU_ASSERT_EQUAL(gpus.gpu[1].x[TH_GPU_PEAK], 15360);
}

static int read_refused(const char *text, th_error *e)
{
    auto_file f = write_text("d.csv", text);
    int n = gpus.n, failed = th_gpus_read(&gpus, f.path, NULL, e);
    const char *at = strstr(e->text, "d.csv");
    if (at)
        memmove(e->text, at + strlen("d.csv"), strlen(at + strlen("d.csv")) + 1);
    CU_ASSERT_EQUAL(gpus.n, n);
    return failed;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"gpus", read_refused}, {NULL, NULL}};
    assert_refusals("predictor/gpus.refused", readers);
    th_error e = {"", ""};
    char *large = th_alloc_zero(1, (1 << 20) + 10);
    memset(large, 'x', (1 << 20) + 5);
    CU_ASSERT_EQUAL(read_refused(large, &e), -1);
    TAP_ASSERT_ERROR(e, "BASE-0326", ": must be 1048576 bytes at most");
    th_free(large);
}

#define HEAD "device,memory_bandwidth_GBps,sms,cores_per_sm,clock_MHz,fp32_GFLOPs,l2_MB,memory_GB\n"

static const char *path_of_table(char path[400])
{
    const char *top = getenv("srcdir");
    snprintf(path, 400, "%s/predictor/devices.csv", top ? top : ".");
    return path;
}

/* A file with a column of sources is refused where one is missing. Peaks are 2 operations of each
 * unit in a cycle. */
TEST(the_gpus_of_the_project_have_sources_and_peaks_that_follow)
{
    auto_gpus g = {.gpu = NULL};
    th_error e = {"", ""};
    auto_strbuf text = TH_STRBUF_INIT;
    char path[400];
    CU_ASSERT_EQUAL(th_text_file_read(path_of_table(path), 1 << 20, &text, &e), 0);
    char *end_of_names = strchr(text.text, '\n');
    *end_of_names = '\0';
    CU_ASSERT_PTR_NOT_NULL(strstr(text.text, ",source"));
    CU_ASSERT_EQUAL(th_gpus_read(&g, path, NULL, &e), 0);
    CU_ASSERT(g.n >= 32);
    for (int i = 0; i < g.n; i++) {
        const double *x = g.gpu[i].x;
        double peak = 2 * x[TH_GPU_SMS] * x[TH_GPU_CORES] * x[TH_GPU_CLOCK] / 1000;
        CU_ASSERT_DOUBLE_EQUAL(x[TH_GPU_PEAK] / peak, 1, 2e-3);
    }
}

static bool is_near(double x, double y)
{
    return fabs(x / y - 1) < 0.03;
}

/* A tensor core multiplies a power of two of numbers in a clock, within what the clock of a data
 * sheet's peak differs from the boost clock; half of that in TF32, twice in 8 bits, two or three
 * times as many in 4. Without tensor cores a peak of 16 bits is twice that of single precision. */
TEST(tensor_cores_have_peaks_that_their_generation_allows)
{
    static const char *const older[] = {"1080ti", "p1000", "p2000",   "p4000",   "p5000",
                                        "p6000",  "k40",   "k80",     "m40",     "m60",
                                        "p40",    "p4",    "gtx1070", "gtx1080", "titanxp"};
    auto_gpus g = {.gpu = NULL};
    th_error e = {"", ""};
    char path[400];
    CU_ASSERT_EQUAL_FATAL(th_gpus_read(&g, path_of_table(path), NULL, &e), 0);
    for (int i = 0; i < g.n; i++) {
        const th_gpu *gpu = &g.gpu[i];
        const double *x = gpu->extra;
        bool is_older = false, is_tpu = strncmp(gpu->name, "tpu", 3) == 0;
        for (size_t k = 0; k < sizeof older / sizeof *older; k++)
            is_older |= strcmp(gpu->name, older[k]) == 0;
        double half = is_tpu ? x[TH_GPU_BF16] : x[TH_GPU_FP16],
               clocks = gpu->x[TH_GPU_SMS] * gpu->x[TH_GPU_CLOCK] / 1e3;
        CU_ASSERT_EQUAL(half > 0, !is_older);
        if (is_older) {
            CU_ASSERT_EQUAL(x[TH_GPU_TENSOR_M], 0);
            continue;
        }
        double bits = log2(half / clocks);
        CU_ASSERT(fabs(bits - round(bits)) < log2(1.15));
        CU_ASSERT(x[TH_GPU_TENSOR_M] > 0 || is_near(half, 2 * gpu->x[TH_GPU_PEAK]));
        CU_ASSERT(half >= 1.9 * gpu->x[TH_GPU_PEAK] && half <= 32 * gpu->x[TH_GPU_PEAK]);
        CU_ASSERT(x[TH_GPU_TF32] == 0 || is_near(x[TH_GPU_TF32], half / 2));
        CU_ASSERT(x[TH_GPU_BF16] == 0 || x[TH_GPU_BF16] == half);
        CU_ASSERT(x[TH_GPU_FP8] == 0 || is_near(x[TH_GPU_FP8], 2 * half));
        CU_ASSERT(x[TH_GPU_FP4] == 0 || is_near(x[TH_GPU_FP4], 2 * x[TH_GPU_FP8]) ||
                  is_near(x[TH_GPU_FP4], 3 * x[TH_GPU_FP8]));
    }
}

TEST(a_gpu_told_again_is_replaced)
{
    auto_gpus g = two_gpus();
    th_error e = {"", ""};
    auto_file f = write_text("d.csv", HEAD "small,200,10,64,1000,1280,1,4\n");
    CU_ASSERT_EQUAL(th_gpus_read(&g, f.path, NULL, &e), 0);
    CU_ASSERT_EQUAL(g.n, 2);
    CU_ASSERT_EQUAL(g.gpu[0].x[TH_GPU_BANDWIDTH], 200);
    CU_ASSERT_PTR_EQUAL(th_gpus_find(&g, "tiny"), &g.gpu[0]);
    TAP_ASSERT_TEXT(th_gpu_number_column(TH_GPU_L2), "l2_MB");
}

static void make_all(void)
{
    gpus = two_gpus();
}

TAP_MAIN_WITH("gpus", make_all)
