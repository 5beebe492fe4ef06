/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_tables.c - the bytes as a table of measured times. Of a table that can be read, every row is
 * found. */
#include <config.h>
#include "sim/design/table_read.h"
#include "tests/fuzz/target.h"

static void run_table(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    th_time_table *t = th_time_table_read(fuzz_input_file(data, size), &e);
    must_read_or_say(t != NULL, &e);
    for (size_t i = 0; t && i < t->n; i++)
        must(th_time_table_find(t, &t->rows[i].shape) == &t->rows[i] && t->rows[i].time_ps >= 0);
    th_time_table_free(t);
}

const fuzz_target fuzz_time_table = {"time_table", run_table, NULL};
