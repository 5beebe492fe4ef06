/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_plan.c - the bytes as a parallel plan: read by itself, and filled up for a machine of 16
 * accelerators; what can be read is written so that it reads back as the same plan. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "training/plan_file.h"
#include "tests/fuzz/target.h"

enum { N_ACCELS = 16 };

/* All that a file has no key for stays 0 in both. */
static void write_back(const th_plan_file *f)
{
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT, again_text = TH_STRBUF_INIT;
    th_plan_file again = {.merges = false};
    th_plan_file_write(f, &text);
    must(!text.failed);
    must(th_plan_file_read_text(text.text, "again", &again, &e) == 0);
    th_plan_file_write(&again, &again_text);
    must(!again_text.failed && strcmp(text.text, again_text.text) == 0);
    th_plan_file_clear(&again);
    th_strbuf_clear(&text);
    th_strbuf_clear(&again_text);
}

static void run(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_plan_file f = {.merges = false};
    const char *path = fuzz_input_file(data, size);
    bool is_plan = th_plan_file_is(path);
    int failed = th_plan_file_read(path, &f, &e);
    must_read_or_say(!failed, &e);
    must(failed || is_plan);
    if (failed)
        return;
    must(th_plan_file_fill(&f, N_ACCELS, &e) == 0);
    write_back(&f);
    th_plan_file_clear(&f);
}

const fuzz_target fuzz_plan = {"plan", run, NULL};
