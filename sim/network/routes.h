/* SPDX-License-Identifier: GPL-3.0-or-later */
/* routes.h - the links of the flows in the network, in blocks of integers that are reused.
 *
 *   init -> (take | give)* -> reset -> ... -> clear
 * The memory is proportional to the largest number of flows in the network at one time. */
#ifndef TH_SIM_NETWORK_ROUTES_H
#define TH_SIM_NETWORK_ROUTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "sim/network/network.h"

enum { TH_BLOCK_CLASSES = 31 };

/* Blocks of 1, 2, 4, ... integers in one array; a free block's first integer chains those of its
 * size. */
typedef struct th_blocks {
    int32_t *item;
    size_t n, room;
    int32_t free_block[TH_BLOCK_CLASSES]; /* by class, -1: none */
} th_blocks;

void th_blocks_init(th_blocks *b);
void th_blocks_reset(th_blocks *b); /* all blocks are free, memory is kept */
void th_blocks_clear(th_blocks *b);
/* Index in item of a block of at least n integers (for none: any index); -1: memory is out. */
int32_t th_blocks_take(th_blocks *b, int32_t n);
void th_blocks_give(th_blocks *b, int32_t first, int32_t n);

/* The route of one flow. */
typedef struct th_flow_route {
    int32_t first, n_links; /* in th_routes.links.item */
    th_time latency_ps;
    int64_t bits_per_s; /* of the narrowest link; INT64_MAX without links */
} th_flow_route;

typedef struct th_routes {
    th_blocks links;
    int *longest; /* scratch for the longest route */
} th_routes;

int th_routes_init(th_routes *r); /* 0 or -1; clear all the same */
void th_routes_reset(th_routes *r);
void th_routes_clear(th_routes *r);
/* The route from src to dst of that stripe (message.h), or the detour where it crosses an avoided
 * medium. 0, or -1: memory is out, or there is none (n->why). */
int th_routes_take(th_routes *r, th_network *n, int src, int dst, uint32_t stripe,
                   th_flow_route *out);
void th_routes_give(th_routes *r, const th_flow_route *route);

#endif
