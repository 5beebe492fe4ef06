/* SPDX-License-Identifier: GPL-3.0-or-later */
/* knapsack.h - a 0/1 knapsack whose values are the sizes. */
#ifndef TH_MAPPER_LOWER_KNAPSACK_H
#define TH_MAPPER_LOWER_KNAPSACK_H
#include <stdbool.h>
#include <stdint.h>

/* Solves a knapsack: of n things of these sizes chooses those (is_in[i]) whose sum is largest and
 * at most capacity; among equal sums the one that earlier things reach. 0, or -1: memory is out. */
int th_knapsack(const int64_t *size, int n, int64_t capacity, bool *is_in);

#endif
