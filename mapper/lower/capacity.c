/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capacity.c - see capacity.h.
 * Cuts into equal pieces are enough: no other cut into as many has a smaller largest piece. */
#include <config.h>

#include "mapper/lower/capacity.h"

#include "base/alloc.h"
#include "mapper/shard.h"
#include "mapper/strategies.h"

int64_t th_capacity_of_weights(const th_workload *w)
{
    int64_t sum = 0;
    for (int l = 0; l < w->n_layers; l++)
        if (w->layers[l].tied_to == 0)
            sum = th_bytes_add(sum,
                               th_shard_weight_bytes(&w->layers[l], &th_strategy_single, NULL, 0));
    return sum;
}

int64_t th_capacity_of_memories(const th_system *s)
{
    int64_t sum = 0;
    for (int a = 0; a < s->n_accels; a++)
        sum = th_bytes_add(sum, s->nodes[s->accel_node[a]].a.dram_bytes);
    return sum;
}

int64_t th_capacity_of_largest(const th_system *s)
{
    int64_t largest = 0;
    for (int a = 0; a < s->n_accels; a++) {
        int64_t bytes = s->nodes[s->accel_node[a]].a.dram_bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* Of the fullest of n members. */
static int64_t fullest(const th_layer *l, const th_strategy *s, int n)
{
    int64_t most = 0;
    for (int r = 0; r < n; r++) {
        int64_t bytes = th_shard_weight_bytes(l, s, NULL, r);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int64_t th_capacity_least_piece(const th_layer *l, int32_t batch, int n_accels, int64_t enough)
{
    int64_t least = th_shard_weight_bytes(l, &th_strategy_single, NULL, 0);
    int64_t too_few = enough > 0 ? (least - 1) / enough : 1; /* whose largest piece is more */
    for (int64_t at = too_few > 1 ? too_few + 1 : 2; at <= n_accels && least > enough; at++) {
        int n = (int)at;
        th_strategy *all = NULL;
        int n_all = th_strategies_list_all(l, batch, n, &all);
        for (int i = 0; i < n_all && least > enough; i++) {
            int64_t bytes = fullest(l, &all[i], n);
            least = bytes < least ? bytes : least;
        }
        th_free(all);
        if (n_all < 0)
            return -1;
    }
    return least;
}
