/* SPDX-License-Identifier: GPL-3.0-or-later */
/* knapsack.c - a 0/1 knapsack whose values are the sizes.
 * Sums are reached item by item; each sum records the item that reached it first, so the items of
 * a sum are found by walking back. Time and memory are proportional to capacity times items. */
#include <config.h>

#include "mapper/lower/knapsack.h"

#include "base/alloc.h"
#include "base/units.h"

enum { NOT_REACHED = -1, NOTHING = -2 };

static void reach(const int64_t *size, int n, int64_t capacity, int32_t *last)
{
    for (int64_t sum = 0; sum <= capacity; sum++)
        last[sum] = NOT_REACHED;
    last[0] = NOTHING;
    for (int32_t i = 0; i < n; i++)
        for (int64_t sum = capacity; size[i] > 0 && sum >= size[i]; sum--)
            if (last[sum] == NOT_REACHED && last[sum - size[i]] != NOT_REACHED)
                last[sum] = i;
}

/* Those that fit all together need no search; things of size 0 always fit. */
int th_knapsack(const int64_t *size, int n, int64_t capacity, bool *is_in)
{
    int64_t all = 0;
    for (int i = 0; i < n; i++) {
        all = th_bytes_add(all, size[i]);
        is_in[i] = true;
    }
    if (all <= capacity)
        return 0;
    for (int i = 0; i < n; i++)
        is_in[i] = size[i] == 0;
    if (capacity <= 0)
        return 0;
    int32_t *last = th_alloc_array((size_t)capacity + 1, sizeof *last);
    if (!last)
        return -1;
    reach(size, n, capacity, last);
    int64_t sum = capacity;
    while (last[sum] == NOT_REACHED)
        sum--;
    for (; sum > 0; sum -= size[last[sum]])
        is_in[last[sum]] = true;
    th_free(last);
    return 0;
}
