/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_times.c - the bytes as times of failures, and as measured collectives (what nccl-tests
 * prints, or CSV). Times of failures ascend; the law that is fitted to measured collectives
 * predicts a finite time for each. */
#include <config.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "predictor/law/link_law.h"
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

static void fit(const th_nccl_log *log)
{
    th_error e = {"", ""};
    th_link_law law;
    must(log->n > 0);
    must(th_link_law_fit(&law, log, &e) == 0);
    for (int i = 0; i < TH_LINK_TERMS; i++)
        must(law.term[i] >= 0 && isfinite(law.term[i]));
    for (size_t i = 0; i < log->n; i++)
        must(isfinite(th_link_law_us(&law, &log->rows[i])));
}

static void run_log(const uint8_t *data, size_t size)
{
    for (int kind = -1; kind < 1; kind++) { /* unknown, then all_reduce */
        th_error e = {"", ""};
        th_nccl_log log = {.rows = NULL};
        char *text = calloc(size + 1, 1);
        must(text != NULL);
        if (size > 0)
            memcpy(text, data, size);
        int failed = th_nccl_log_read(&log, text, "log", kind, NULL, &e);
        must_read_or_say(!failed, &e);
        if (!failed)
            fit(&log);
        th_nccl_log_clear(&log);
        free(text);
    }
}

const fuzz_target fuzz_failure_times = {"failure_times", run_failures, NULL};
const fuzz_target fuzz_nccl_log = {"nccl_log", run_log, NULL};
