/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_finish.c - sorts and links a graph of layers. Its checks are workload_check.c.
 *   sort -> finish
 * Invariants after finish: those of workload.h; consumer_start has n_layers + 2 entries, the last
 * row of the table being the consumers of the external input.
 * finish = sort, check, link. A finish that fails leaves a workload that can only be freed. */
#include <config.h>
#include "workloads/workload_check.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <string.h>

/* ---- sorting: depth first, producers before their consumer, else as they were added ---- */

typedef enum { UNSEEN, OPEN, PLACED } visit_state;

typedef struct sorter {
    const th_workload *w;
    int32_t *block;    /* one allocation for the five arrays below */
    int32_t *state;    /* visit_state by layer */
    int32_t *cursor;   /* next input to look at, by layer */
    int32_t *stack;    /* open layers, each an input of the one below */
    int32_t *order;    /* layers placed so far */
    int32_t *position; /* where a placed layer stands in order */
    int depth, n_placed;
} sorter;

static int sorter_init(sorter *s, const th_workload *w, th_error *err)
{
    size_t n = (size_t)w->n_layers;
    int32_t *block = th_alloc_zero(5 * n, sizeof *block);
    if (!block)
        return th_error_no_memory(err);
    *s = (sorter){.w = w,
                  .block = block,
                  .state = block,
                  .cursor = block + n,
                  .stack = block + 2 * n,
                  .order = block + 3 * n,
                  .position = block + 4 * n};
    return 0;
}

/* The stack from layer on is the cycle: each of its members waits for the next one. */
static int report_cycle(const sorter *s, int layer, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    int from = s->depth - 1;
    while (s->stack[from] != layer)
        from--;
    for (int i = from; i < s->depth; i++)
        th_strbuf_printf(&text, "%s <- ", s->w->layers[s->stack[i]].name);
    th_strbuf_add(&text, s->w->layers[layer].name);
    if (text.failed)
        th_error_no_memory(err);
    else
        th_workload_layer_error(s->w, &s->w->layers[layer], err, "WORK-0004",
                                "the layers form a cycle: %s", text.text);
    th_strbuf_clear(&text);
    return -1;
}

static void sorter_open(sorter *s, int layer)
{
    s->state[layer] = OPEN;
    s->stack[s->depth++] = layer;
}

static void sorter_place(sorter *s, int layer)
{
    s->state[layer] = PLACED;
    s->position[layer] = s->n_placed;
    s->order[s->n_placed++] = layer;
    s->depth--;
}

/* The next producer of layer that is not placed yet, or -1. */
static int next_producer(sorter *s, int layer)
{
    const th_layer *l = &s->w->layers[layer];
    while (s->cursor[layer] < l->n_inputs) {
        int producer = l->inputs[s->cursor[layer]++];
        if (producer != TH_EXTERNAL_INPUT && s->state[producer] != PLACED)
            return producer;
    }
    return -1;
}

static int place_with_producers(sorter *s, int root, th_error *err)
{
    sorter_open(s, root);
    while (s->depth > 0) {
        int layer = s->stack[s->depth - 1];
        int producer = next_producer(s, layer);
        if (producer < 0)
            sorter_place(s, layer);
        else if (s->state[producer] == OPEN)
            return report_cycle(s, producer, err);
        else
            sorter_open(s, producer);
    }
    return 0;
}

/* Puts the layers into s->order and renumbers what they refer to. */
static int apply_order(th_workload *w, const sorter *s, th_error *err)
{
    th_layer *old = th_alloc_array((size_t)w->n_layers, sizeof *old);
    if (!old)
        return th_error_no_memory(err);
    memcpy(old, w->layers, (size_t)w->n_layers * sizeof *old);
    for (int i = 0; i < w->n_layers; i++) {
        th_layer *l = &w->layers[i];
        *l = old[s->order[i]];
        if (l->tied_to > 0)
            l->tied_to = 1 + s->position[l->tied_to - 1];
        for (int j = 0; j < l->n_inputs; j++)
            if (l->inputs[j] != TH_EXTERNAL_INPUT)
                l->inputs[j] = s->position[l->inputs[j]];
    }
    th_free(old);
    return 0;
}

int th_workload_sort(th_workload *w, th_error *err)
{
    sorter s = {0};
    if (th_workload_check_inputs(w, err) < 0 || sorter_init(&s, w, err) < 0)
        return -1;
    int status = 0;
    for (int l = 0; l < w->n_layers && status == 0; l++)
        if (s.state[l] == UNSEEN)
            status = place_with_producers(&s, l, err);
    if (status == 0)
        status = apply_order(w, &s, err);
    th_free(s.block);
    return status;
}

/* ---- linking: who consumes what ---- */

/* Calls for each (row, consumer) pair once, consumers ascending: counts into start[row + 1] when
 * list is NULL, else writes list[start[row]++]. last[row] remembers the latest consumer seen. */
static void walk_consumers(const th_workload *w, int32_t *last, int32_t *start, int32_t *list)
{
    for (int row = 0; row < w->n_layers; row++)
        last[row] = -1;
    for (int l = 0; l < w->n_layers; l++) {
        for (int i = 0; i < w->layers[l].n_inputs; i++) {
            int row = w->layers[l].inputs[i];
            if (row == TH_EXTERNAL_INPUT || last[row] == l)
                continue;
            last[row] = l;
            if (list)
                list[start[row]++] = l;
            else
                start[row + 1]++;
        }
    }
}

static int link_consumers(th_workload *w, th_error *err)
{
    int rows = w->n_layers;
    int32_t *last = th_alloc_array((size_t)rows, sizeof *last);
    w->consumer_start = th_alloc_zero((size_t)rows + 1, sizeof *w->consumer_start);
    if (!last || !w->consumer_start)
        goto no_memory;
    int32_t *start = w->consumer_start;
    walk_consumers(w, last, start, NULL);
    for (int row = 0; row < rows; row++)
        start[row + 1] += start[row];
    w->consumers = th_alloc_array((size_t)start[rows], sizeof *w->consumers);
    if (!w->consumers)
        goto no_memory;
    walk_consumers(w, last, start, w->consumers);
    memmove(start + 1, start, (size_t)rows * sizeof *start); /* each start had moved to its end */
    start[0] = 0;
    th_free(last);
    return 0;

no_memory:
    th_free(last);
    return th_error_no_memory(err);
}

static int link_outputs(th_workload *w, th_error *err)
{
    w->outputs = th_alloc_array((size_t)w->n_layers, sizeof *w->outputs);
    if (!w->outputs)
        return th_error_no_memory(err);
    for (int l = 0; l < w->n_layers; l++)
        if (w->consumer_start[l] == w->consumer_start[l + 1])
            w->outputs[w->n_outputs++] = l;
    return 0;
}

int th_workload_finish(th_workload *w, th_error *err)
{
    if (th_workload_check_names(w, err) < 0 || th_workload_sort(w, err) < 0 ||
        th_workload_check_shapes(w, err) < 0 || th_workload_check_totals(w, err) < 0)
        return -1;
    if (link_consumers(w, err) < 0)
        return -1;
    return link_outputs(w, err);
}
