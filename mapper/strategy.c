/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strategy.c - strategies as values: compared, written as text, with other chunks; see shard.h. */
#include <config.h>

#include "mapper/shard.h"

#include <stdio.h>
#include <string.h>

const th_strategy th_strategy_single = {{1, 1, 1, 1, 1, 1, 1}, TH_NO_ROTATION, 0, 0, 0};

void th_strategy_set_chunks(th_strategy *s, int32_t chunks, int32_t dim)
{
    s->chunks = chunks > 1 ? chunks : 0;
    s->chunk_dim = chunks > 1 ? dim : 0;
}

void th_strategy_set_copies(th_strategy *s, int32_t copies)
{
    s->copies = copies > 1 ? copies : 0;
}

void th_strategy_take_chunks(th_strategy *s, const th_strategy *from)
{
    if (s->rotate == TH_NO_ROTATION)
        th_strategy_set_chunks(s, from->chunks, from->chunk_dim);
}

bool th_strategy_equal(const th_strategy *a, const th_strategy *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

char *th_strategy_format(const th_strategy *s, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int d = 0; d < TH_N_DIMS && n < size; d++)
        if (s->split[d] > 1)
            n += (size_t)snprintf(out + n, size - n, "%s%c%d", n ? " " : "", th_dim_letters[d],
                                  (int)s->split[d]);
    if (s->rotate != TH_NO_ROTATION && n < size)
        n += (size_t)snprintf(out + n, size - n, "%srotate %c", n ? " " : "",
                              th_dim_letters[s->rotate]);
    if (s->chunks > 0 && n < size)
        n += (size_t)snprintf(out + n, size - n, "%schunks %c%d", n ? " " : "",
                              th_dim_letters[s->chunk_dim], (int)s->chunks);
    if (s->copies > 0 && n < size)
        n += (size_t)snprintf(out + n, size - n, "%scopies %d", n ? " " : "", (int)s->copies);
    if (n == 0)
        snprintf(out, size, "-");
    return out;
}
