/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.h - positions of the nodes of a system in a picture. */
#ifndef TH_REPORT_HTML_LAYOUT_H
#define TH_REPORT_HTML_LAYOUT_H
#include "topology/system.h"

typedef struct th_html_position {
    double x, y; /* down; neighbours of a row are 1 apart */
} th_html_position;

/* Fills at[n_nodes]; no two nodes are closer than TH_HTML_NODE_DISTANCE_MIN. The same system gives
 * the same picture. 0, or -1: memory is out. */
#define TH_HTML_NODE_DISTANCE_MIN 0.7
int th_html_layout(const th_system *s, th_html_position *at);

#endif
