/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.h - what of a workload is fused, by one pattern.
 *   a pattern looks at every layer: region -> replace | stand_for
 *   then fuse.c makes the new workload
 * A region is the layers behind one layer whose outputs nothing outside reads. It grows from its
 * last layer backwards, the highest layer number first, so that all consumers of a layer have been
 * seen before it. */
#ifndef TH_WORKLOADS_FUSE_PLAN_H
#define TH_WORKLOADS_FUSE_PLAN_H
#include "workloads/workload.h"

enum { TH_REGION_MAX = 48 }; /* layers of a pattern, and tensors that it reads */

typedef struct th_fuse_plan {
    const th_workload *w;
    bool *is_fused;      /* by layer: belongs to a match */
    bool *is_gone;       /* by layer: not in the new workload */
    int32_t *stands_for; /* by layer: what its readers read in its place; itself */
    th_layer *made;      /* by layer: takes its place where name is not NULL */
    int n_matches;
    bool has_no_memory;
} th_fuse_plan;

/* A tensor that a region reads, with the extents in which it does: channels, height, width. */
typedef struct th_source {
    int32_t layer, shape[3];
} th_source;

typedef struct th_region {
    const th_fuse_plan *plan;
    int32_t last;
    int32_t members[TH_REGION_MAX]; /* descending; without last */
    th_source sources[TH_REGION_MAX];
    int n_members, n_sources;
    bool is_too_large;
} th_region;

th_source th_source_of(const th_layer *l, int input);
/* An empty region in front of a layer: its sources are the layer's inputs. */
void th_region_start(th_region *g, const th_fuse_plan *plan, int32_t last);
/* The source with the highest layer number, its index; -1: there is none but the external input. */
int th_region_highest(const th_region *g);
/* True if all consumers of this layer are in the region (or its last layer), and no other match has
 * it. */
bool th_region_owns(const th_region *g, int32_t layer);
void th_region_add_source(th_region *g, const th_source *s); /* unless it is there */
/* Makes a source a member: its inputs become sources. */
void th_region_take(th_region *g, int source);

const th_layer *th_fuse_layer(const th_fuse_plan *plan, int32_t layer); /* NULL: external input */
/* The only consumer of a layer; -1: there are several, or none. */
int32_t th_fuse_sole_consumer(const th_workload *w, int32_t layer);
/* True if it is a function of one tensor, pixel by pixel. */
bool th_fuse_is_unary(const th_layer *l, th_function f);

/* made takes the place of the region's last layer; the members are gone. False: nothing is done,
 * because made reads a member. */
bool th_fuse_replace(th_fuse_plan *plan, const th_region *g, const th_layer *made);
/* The readers of the region's last layer read this one; it and the members are gone. */
void th_fuse_remove(th_fuse_plan *plan, const th_region *g, int32_t stands_for);
/* True for a copy of one layer that nothing outside the region reads: its layout may be another. */
bool th_fuse_is_relayed(const th_region *g, int32_t layer);
/* Gives such a copy the extents in which the region reads it. */
void th_fuse_relay(th_fuse_plan *plan, const th_region *g, const th_source *s);
/* As long as made has few inputs: room for their numbers and extents. */
typedef struct th_made_inputs {
    int32_t inputs[TH_REGION_MAX], shapes[3 * TH_REGION_MAX];
    int n;
} th_made_inputs;
void th_made_add(th_made_inputs *m, const th_source *s);
/* Gives l these inputs; their extents too where has_shapes. */
void th_made_set(const th_made_inputs *m, th_layer *l, bool has_shapes);

/* The patterns: each looks at one layer as the last of a match. */
typedef void th_fuse_pattern(th_fuse_plan *plan, int32_t last);
th_fuse_pattern th_fuse_norm, th_fuse_activation, th_fuse_into_producer, th_fuse_gate,
    th_fuse_rotary, th_fuse_attention;

#endif
