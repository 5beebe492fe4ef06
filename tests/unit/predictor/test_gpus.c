/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_gpus.c - tables of GPUs: their names and aliases, what is wrong, and the project's own. */
#include <config.h>
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

/* A file with a column of sources is refused where one is missing. Peaks are 2 operations of each
 * unit in a cycle. */
TEST(the_gpus_of_the_project_have_sources_and_peaks_that_follow)
{
    auto_gpus g = {.gpu = NULL};
    th_error e = {"", ""};
    auto_strbuf text = TH_STRBUF_INIT;
    char path[400];
    const char *top = getenv("srcdir");
    snprintf(path, sizeof path, "%s/predictor/devices.csv", top ? top : ".");
    CU_ASSERT_EQUAL(th_text_file_read(path, 1 << 20, &text, &e), 0);
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
