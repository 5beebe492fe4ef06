/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_law.h - the time of a collective by latency, overhead per message and bandwidth per kind of
 * link, fitted to measured times.
 *
 *   us = launch + steps inside nodes * inside + steps between nodes * outside + bytes / bandwidth
 *
 * Steps are those of a ring of all ranks, N nodes of it (2 (n - 1) of an all_reduce, n - 1 of the
 * others; 2 (N - 1) and N - 1 of them leave a node). Bytes are those that leave a rank (rows of one
 * node), or a node: 2 (n - 1)/n S, (n - 1)/n S, S; of all_to_all between nodes, what goes to other
 * nodes. Non-negative least squares of the relative error (nnls.h). */
#ifndef TH_PREDICTOR_LAW_LINK_LAW_H
#define TH_PREDICTOR_LAW_LINK_LAW_H
#include <stddef.h>
#include "base/error.h"

extern const char *const th_link_collectives[]; /* "all_reduce" ..., NULL */

/* A measured collective. */
typedef struct th_link_row {
    int kind;            /* of th_link_collectives */
    double nodes, ranks; /* whole, 1 <= nodes <= ranks, 2 <= ranks */
    double bytes, us;    /* > 0 */
} th_link_row;

enum {
    TH_LINK_LAUNCH,       /* us */
    TH_LINK_INSIDE,       /* us per message inside a node */
    TH_LINK_OUTSIDE,      /* us per message between nodes */
    TH_LINK_INSIDE_BYTE,  /* us per byte that leaves a rank */
    TH_LINK_OUTSIDE_BYTE, /* us per byte that leaves a node */
    TH_LINK_TERMS
};

typedef struct th_link_law {
    double term[TH_LINK_TERMS];
} th_link_law;

/* 0, or -1: memory is out. Terms that the rows cannot tell apart are 0. */
int th_link_law_fit(th_link_law *law, const th_link_row *rows, size_t n, th_error *err);
/* The us that each term adds to the time of a collective. */
void th_link_law_parts(const th_link_law *law, const th_link_row *row, double part[TH_LINK_TERMS]);

#endif
