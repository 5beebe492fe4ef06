/* SPDX-License-Identifier: GPL-3.0-or-later */
/* target.c - the table of fuzz targets, and what they share (target.h). */
#include <config.h>
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"

const fuzz_target *const fuzz_targets[] = {&fuzz_astra_network,
                                           &fuzz_astra_system,
                                           &fuzz_checkpoint,
                                           &fuzz_collective,
                                           &fuzz_config_json,
                                           &fuzz_devices,
                                           &fuzz_failure_times,
                                           &fuzz_infragraph,
                                           &fuzz_mapping,
                                           &fuzz_measurements,
                                           &fuzz_nccl_log,
                                           &fuzz_onnx,
                                           &fuzz_pipeline,
                                           &fuzz_plan,
                                           &fuzz_predictor,
                                           &fuzz_scalesim_config,
                                           &fuzz_scalesim_topology,
                                           &fuzz_schema,
                                           &fuzz_study,
                                           &fuzz_system,
                                           &fuzz_table,
                                           &fuzz_time_table,
                                           &fuzz_trace,
                                           &fuzz_trace_custom,
                                           &fuzz_trace_groups,
                                           &fuzz_trace_lenient,
                                           &fuzz_trace_memory,
                                           &fuzz_workload,
                                           NULL};

void fuzz_run(const fuzz_target *t, const uint8_t *data, size_t size)
{
    static const fuzz_target *begun;
    if (begun != t && t->begin)
        t->begin();
    begun = t;
    int64_t live = th_alloc_live();
    t->run(data, size);
    must(th_alloc_live() == live);
}

/* Read by the leak sanitizer: libconfig 1.5 does not free the text in quotes at which it finds a
 * syntax error. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:strbuf_append\nleak:libconfig_yylex\n";
}

void must(bool holds)
{
    if (!holds)
        abort();
}

void must_read_or_say(bool is_read, const th_error *e)
{
    if (is_read)
        return;
    must(e->id[0] && e->text[0]);
    must(!strpbrk(e->text, "\n\r\t\v\f"));
}

/* ---- files ---- */

static char input_path[4096];

static void remove_input(void)
{
    unlink(input_path);
}

/* One file is written over and over: file systems write a file that is truncated to nothing to the
 * disk when it is closed. */
static int open_input(void)
{
    const char *folder = getenv("TMPDIR");
    snprintf(input_path, sizeof input_path, "%s/tharsis_fuzz_XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(input_path);
    if (fd >= 0)
        atexit(remove_input);
    return fd;
}

const char *fuzz_input_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0)
        fd = open_input();
    if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size) != 0)
        abort();
    return input_path;
}

const char *fuzz_source_file(const char *name)
{
    static char path[4096];
    const char *top = getenv("srcdir");
    snprintf(path, sizeof path, "%s/%s", top ? top : ".", name);
    return path;
}
