/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_times.c - the bytes as times of failures, which ascend. */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "tcl/reliability/failure_option.h"
#include "tests/fuzz/target.h"

static void run_failures(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    double *times;
    int64_t n;
    int failed = th_failure_times_read(fuzz_input_file(data, size), &times, &n, NULL, &e);
    must_read_or_say(!failed, &e);
    must(failed ? times == NULL : n > 0);
    for (int64_t i = 0; !failed && i < n; i++)
        must(times[i] >= (i > 0 ? times[i - 1] : 0) && isfinite(times[i]));
    th_free(times);
}

const fuzz_target fuzz_failure_times = {"failure_times", run_failures, NULL};
