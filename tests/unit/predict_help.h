/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predict_help.h - files that last as long as a test, and two GPUs of round numbers. */
#ifndef TH_TESTS_UNIT_PREDICT_HELP_H
#define TH_TESTS_UNIT_PREDICT_HELP_H
#include <unistd.h>

#include "predictor/data/gpu.h"
#include "tests/unit/tap.h"

/* A folder under /tmp with one file in it. */
typedef struct {
    char folder[64], path[128];
} temporary_file;

static inline temporary_file write_bytes(const char *name, const void *bytes, size_t n)
{
    temporary_file f;
    snprintf(f.folder, sizeof f.folder, "/tmp/tharsis_test_XXXXXX");
    if (!mkdtemp(f.folder))
        abort();
    snprintf(f.path, sizeof f.path, "%s/%s", f.folder, name);
    FILE *file = fopen(f.path, "wb");
    if (!file || fwrite(bytes, 1, n, file) != n)
        abort();
    fclose(file);
    return f;
}

static inline temporary_file write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

static inline void remove_file(const temporary_file *f)
{
    unlink(f->path);
    rmdir(f->folder);
}
#define auto_file __attribute__((cleanup(remove_file))) temporary_file

#define TWO_GPUS                                                                                   \
    "device,memory_bandwidth_GBps,sms,cores_per_sm,clock_MHz,fp32_GFLOPs,l2_MB,memory_GB,"         \
    "aliases\n"                                                                                    \
    "small,100,10,64,1000,1280,1,4,Acme Small 4GB;tiny\n"                                          \
    "large,1000,80,64,1500,15360,6,32,\n"

static inline th_gpus two_gpus(void)
{
    th_gpus g = {.gpu = NULL};
    th_error e = {"", ""};
    auto_file f = write_text("devices.csv", TWO_GPUS);
    if (th_gpus_read(&g, f.path, NULL, &e))
        abort();
    return g;
}

#endif
