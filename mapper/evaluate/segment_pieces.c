/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment_pieces.c - where a network can be cut: behind layers such that nothing that was made
 * before them is read after them. In a chain all are; in a residual network the first layer and the
 * sums. */
#include <config.h>

#include "mapper/evaluate/segment_pieces.h"

#include "base/alloc.h"
#include "base/map.h"

/* What a piece depends on besides its placement. Inputs are numbered from its first layer on: the
 * layer before it is -1, and so is the external input, which only the piece at the start reads; it
 * alone has no class of a layer before its own, but an input in that place. */
static size_t shape_key(const th_lower *l, const th_piece *p, int32_t *key)
{
    const th_workload *w = l->workload;
    size_t n = 0;
    key[n++] = p->last == w->n_layers - 1;
    for (int layer = p->first > 0 ? p->first - 1 : 0; layer <= p->last; layer++) {
        key[n++] = th_plans_shape_class(l->plans, layer);
        for (int i = 0; layer >= p->first && i < w->layers[layer].n_inputs; i++)
            key[n++] = w->layers[layer].inputs[i] - p->first;
    }
    return n * sizeof *key;
}

static size_t longest_shape(const th_workload *w)
{
    size_t n = 1;
    for (int layer = 0; layer < w->n_layers; layer++)
        n += 2 + (size_t)w->layers[layer].n_inputs;
    return n;
}

static int find_shapes(const th_lower *l, th_piece *piece, int32_t n)
{
    th_map *shapes = th_map_new();
    int32_t *key = th_alloc_array(longest_shape(l->workload), sizeof *key);
    int failed = shapes && key ? 0 : -1;
    for (int32_t i = 0; !failed && i < n; i++) {
        int64_t number = i;
        size_t bytes = shape_key(l, &piece[i], key);
        if (!th_map_get(shapes, key, bytes, &number))
            failed = th_map_put(shapes, key, bytes, number);
        piece[i].shape = (int32_t)number;
    }
    th_map_free(shapes);
    th_free(key);
    return failed;
}

int th_pieces_find(const th_lower *l, th_piece **out, int32_t *n)
{
    int n_layers = l->workload->n_layers, first = 0;
    int32_t last_use = 0; /* of all that was made before layer */
    th_piece *piece = th_alloc_zero((size_t)n_layers, sizeof *piece);
    *n = 0;
    *out = piece;
    if (!piece)
        return -1;
    for (int layer = 0; layer < n_layers; layer++) {
        last_use = l->graph.last_use[layer] > last_use ? l->graph.last_use[layer] : last_use;
        if (layer < n_layers - 1 && last_use > layer)
            continue;
        piece[(*n)++] = (th_piece){first, layer, -1};
        first = layer + 1;
    }
    return find_shapes(l, piece, *n);
}
