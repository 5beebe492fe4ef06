/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.h - positions of the nodes of a system in a picture. */
#ifndef TH_REPORT_HTML_LAYOUT_H
#define TH_REPORT_HTML_LAYOUT_H
#include "topology/system.h"

typedef struct th_spot {
    double x, y; /* down; neighbours of a row are 1 apart */
} th_spot;

/* Fills at[n_nodes]; no two nodes are closer than TH_APART. The same system gives the same picture.
 * 0, or -1: memory is out. */
#define TH_APART 0.7
int th_layout(const th_system *s, th_spot *at);

#endif
