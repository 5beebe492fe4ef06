/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index_set.c - see index_set.h. */
#include <config.h>

#include "sim/network/packet/index_set.h"

#include <string.h>

#include "base/alloc.h"

int th_index_set_init(th_index_set *s, size_t n)
{
    *s = (th_index_set){0};
    do {
        n = (n + 63) / 64;
        n = n > 0 ? n : 1;
        s->n_words[s->n_levels] = n;
        s->level[s->n_levels] = th_alloc_zero(n, sizeof *s->level[0]);
        if (!s->level[s->n_levels++])
            return -1;
    } while (n > 1);
    return 0;
}

void th_index_set_reset(th_index_set *s)
{
    for (int l = 0; l < s->n_levels; l++)
        memset(s->level[l], 0, s->n_words[l] * sizeof *s->level[l]);
}

void th_index_set_clear(th_index_set *s)
{
    for (int l = 0; l < s->n_levels; l++)
        th_free(s->level[l]);
}
