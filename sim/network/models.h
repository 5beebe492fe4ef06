/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.h - the rows of the network table, one per file, and what they share. */
#ifndef TH_SIM_NETWORK_MODELS_H
#define TH_SIM_NETWORK_MODELS_H
#include "sim/network/network.h"

extern const th_network_type th_network_fluid;
extern const th_network_type th_network_ideal;

/* What events of a network mean (th_event.argument). */
enum { TH_FLOW_ENTERS, TH_FLOW_ENDS };

/* Where transfers from src to dst go, computed at first use. */
typedef struct th_path {
    int32_t n_links; /* -1: not yet computed */
    int32_t first;   /* in th_paths.links */
    th_time latency_ps;
    int64_t bits_per_s; /* smallest on the way */
} th_path;

typedef struct th_paths {
    th_path *of_pair; /* n_nodes x n_nodes */
    int32_t *links;
    size_t n_links, capacity;
} th_paths;

int th_paths_init(th_paths *p, const th_system *s);
void th_paths_clear(th_paths *p);
/* NULL when memory is out. Valid until the next call. */
const th_path *th_paths_get(th_paths *p, const th_system *s, int src, int dst);

/* The common head: arrays by link and accelerator, no flows. 0 or -1 (call clear all the same). */
int th_network_head_init(th_network *n, const th_network_type *type, const th_system *s);
void th_network_head_reset(th_network *n);
void th_network_head_clear(th_network *n);

/* A flow of bytes goes onto a link, and leaves it with all its bytes carried. */
void th_network_link_enter(th_network *n, int link, th_time now);
void th_network_link_leave(th_network *n, int link, th_time now, int64_t bytes);

#endif
