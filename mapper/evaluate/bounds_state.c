/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_state.c - what all bounds use: which links a network model shares, what a layer reads of
 * its inputs, rounding. */
#include <config.h>

#include "mapper/evaluate/bounds_state.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

th_bound_physics th_bound_physics_of(const th_problem *p)
{
    const char *name = (p->network ? p->network : th_network_types[0])->name;
    if (p->system->transfers_serially)
        return TH_BOUND_SERIAL;
    return strcmp(name, "fluid") == 0    ? TH_BOUND_SHARED_MEDIA
           : strcmp(name, "packet") == 0 ? TH_BOUND_SHARED_LINKS
           : strcmp(name, "ideal") == 0  ? TH_BOUND_FREE_LINKS
                                         : TH_BOUND_NO_LINKS;
}

th_time th_bound_round_up_ps(double ps)
{
    static const double SLACK = 1e-12;
    double least = ceil(ps * (1 - SLACK) - SLACK);
    return least <= 0 ? 0 : least < 0x1p62 ? (th_time)least : (th_time)1 << 62;
}

bool th_bound_is_output(const th_workload *w, int layer)
{
    return w->consumer_start[layer] == w->consumer_start[layer + 1];
}

double th_bound_remaining_ps(const th_bound_finder *f, int l)
{
    const th_layer_floor *x = &f->floor[l];
    return th_bound_is_output(f->workload, l) ? x->shortest[1] : x->shortest[0] + f->tail[l];
}

/* --- elements read --- */

/* Rows (dim H, kernel R) or columns (W, S) of input i that layer l reads at all: strides may leave
 * some out. -1: memory is out. */
static int64_t count_read(const th_layer *l, int i, th_dim dim, th_dim kernel, int32_t extent)
{
    int axis = dim == TH_DIM_H ? 2 : 3;
    bool *read = th_alloc_zero((size_t)extent + 1, sizeof *read);
    int64_t n = 0;
    if (!read)
        return -1;
    for (int32_t at = 0; at < l->dim[dim]; at++) {
        for (int32_t tap = 0; tap < l->dim[kernel]; tap++) {
            th_loop_box unit = th_layer_loops(l);
            unit.lo[dim] = at;
            unit.hi[dim] = at + 1;
            unit.lo[kernel] = tap;
            unit.hi[kernel] = tap + 1;
            th_box box = th_layer_input_of(l, i, &unit);
            for (int32_t x = box.lo[axis]; !th_box_is_empty(&box) && x < box.hi[axis]; x++)
                read[x] = true;
        }
    }
    for (int32_t x = 0; x < extent; x++)
        n += read[x];
    th_free(read);
    return n;
}

int64_t th_bound_elements_read(const th_layer *l, int i)
{
    th_loop_box all = th_layer_loops(l);
    th_box box = th_layer_input_of(l, i, &all);
    bool has_gaps = l->stride_h > 1 || l->stride_w > 1 || l->dilation_h > 1 || l->dilation_w > 1 ||
                    l->up_h > 1 || l->up_w > 1;
    if (th_box_is_empty(&box) || !has_gaps)
        return th_box_elements(&box);
    int64_t rows = count_read(l, i, TH_DIM_H, TH_DIM_R, box.hi[2]),
            columns = count_read(l, i, TH_DIM_W, TH_DIM_S, box.hi[3]);
    if (rows < 0 || columns < 0)
        return -1;
    return (int64_t)(box.hi[0] - box.lo[0]) * (box.hi[1] - box.lo[1]) * rows * columns;
}
