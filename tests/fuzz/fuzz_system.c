/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_system.c - the bytes as a system file. What can be read has designs that are accepted or
 * refused, and, written, reads back as the same system. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "mapper/serialize/serializer.h"
#include "sim/design/design.h"
#include "tests/fuzz/target.h"
#include "topology/files/system_read.h"
#include "topology/files/system_write.h"

static th_serializer bytes_of(const th_system *s)
{
    th_serializer w = TH_SERIALIZER_INIT;
    th_serializer_write_system(&w, s);
    must(!w.failed);
    return w;
}

static void must_be_same(const th_system *a, const th_system *b)
{
    th_serializer x = bytes_of(a), y = bytes_of(b);
    must(x.out.length == y.out.length && memcmp(x.out.text, y.out.text, x.out.length) == 0);
    th_serializer_clear(&x);
    th_serializer_clear(&y);
}

static void write_back(const th_system *s)
{
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_system_write(s, NULL, NULL, &text, &e);
    must_read_or_say(!failed, &e);
    if (!failed) {
        th_system *again = th_system_read_text(text.text, "again", &e);
        must(again != NULL);
        must_be_same(s, again);
        th_system_free(again);
    }
    th_strbuf_clear(&text);
}

static void check(th_system *s, const th_error *e)
{
    th_error refused = {"", ""};
    must_read_or_say(s != NULL, e);
    if (!s)
        return;
    must_read_or_say(th_design_check_system(s, &refused) == 0, &refused);
    write_back(s);
    th_system_free(s);
}

static void run_system(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    check(th_system_read(fuzz_input_file(data, size), &e), &e);
}

const fuzz_target fuzz_system = {"system", run_system, NULL};
