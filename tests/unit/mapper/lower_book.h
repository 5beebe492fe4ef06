/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_book.h - the book that lower_oracle.c keeps: which element is where since which task, and
 * what the next task of the program must be. */
#ifndef TH_TESTS_UNIT_MAPPER_LOWER_BOOK_H
#define TH_TESTS_UNIT_MAPPER_LOWER_BOOK_H
#include <stdio.h>
#include <stdarg.h>
#include "tests/unit/mapper/element_model.h"

enum {
    LAYERS_MAX = RANDOM_LAYERS_MAX,
    ACCELS_MAX = RANDOM_ACCELS_MAX,
    PHASES_MAX = ACCELS_MAX,
    POSITIONS_MAX = 4 * ACCELS_MAX, /* of chunks */
    NOWHERE = -1,
    FROM_THE_START = -2
};

static int n_wrong;

static void wrong(const char *format, ...)
{
    va_list arguments;
    if (n_wrong++ >= 10)
        return;
    va_start(arguments, format);
    printf("# ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

/* --- the book -------------------------------------------------------------------------------- */

typedef struct {
    const th_system *system;
    const th_workload *workload;
    const th_mapping *mapping;
    const th_compute_cost_cache *costs;
    const th_program *program;
    uint64_t *ancestors; /* n_tasks x words */
    size_t words;
    int32_t next, pass, input, batch, release;
    /* tensor t is at t + 1, the external input at 0 */
    int32_t owner[LAYERS_MAX + 1][ELEMENTS_MAX]; /* position of its layer; -1: not made yet */
    int32_t here[LAYERS_MAX + 1][ACCELS_MAX][ELEMENTS_MAX]; /* task that made it be here */
    int32_t final[LAYERS_MAX][POSITIONS_MAX];
    int64_t sent[ACCELS_MAX], received[ACCELS_MAX];
    int32_t outputs[64][LAYERS_MAX * POSITIONS_MAX], n_outputs[64]; /* last tasks by pass */
} book;

static int set_size(const book *k, int layer)
{
    return k->mapping->sets[k->mapping->set_of[layer]].n_accels;
}

static int n_chunks(const book *k, int layer)
{
    int n = k->mapping->strategy[layer].chunks;
    return n > 0 ? n : 1;
}

static int n_positions(const book *k, int layer)
{
    return set_size(k, layer) * n_chunks(k, layer);
}

/* Of several copies of a part the first stands for all in owner. */
static bool is_copy(const book *k, int layer, int r, int32_t owner)
{
    const int copies = copies_of(&k->mapping->strategy[layer]);
    return owner >= 0 && r - r % copies == owner - owner % copies;
}

static int accel_of(const book *k, int layer, int r)
{
    return k->mapping->sets[k->mapping->set_of[layer]].accels[r % set_size(k, layer)];
}

static int node_of(const book *k, int layer, int r)
{
    return k->system->accel_node[accel_of(k, layer, r)];
}

static const int32_t *shares_of(const book *k, int layer)
{
    return k->mapping->sets[k->mapping->set_of[layer]].shares;
}

static loops part_of(const book *k, int layer, int r)
{
    const th_strategy *s = &k->mapping->strategy[layer];
    int n = set_size(k, layer);
    loops x = loops_of(&k->workload->layers[layer], k->batch, s, shares_of(k, layer), r % n);
    if (s->chunks > 0)
        cut(&x, s->chunk_dim, r / n, s->chunks);
    return x;
}

/* The design that position r runs its part with; the vector unit has none. */
static int32_t design_of(const book *k, int layer, int r)
{
    int32_t design = k->mapping->sets[k->mapping->set_of[layer]].design;
    if (!th_layer_has_macs(&k->workload->layers[layer]))
        return -1;
    return design >= 0 ? design : k->system->nodes[node_of(k, layer, r)].a.designs[0];
}

/* Elements of a tensor. */
static int32_t size_of(const book *k, int tensor)
{
    random_shape s = shape_of_tensor(k->workload, tensor);
    return k->workload->batch * s.c * s.h * s.w;
}

static bool waits_for(const book *k, int32_t task, int32_t before)
{
    if (before == FROM_THE_START)
        return true;
    return k->ancestors[(size_t)task * k->words + (size_t)before / 64] >> (before % 64) & 1;
}

static void must_wait(const book *k, int32_t task, int32_t before, const char *what)
{
    if (before == NOWHERE)
        wrong("task %d: %s that nobody has", task, what);
    else if (task >= 0 && !waits_for(k, task, before))
        wrong("task %d does not wait for %d: %s", task, before, what);
}

/* The next task of the program, which must be this one. */
static int32_t expect(book *k, th_task_kind kind, int layer, int node, int peer, int64_t bytes)
{
    if (k->next >= k->program->n_tasks) {
        wrong("the program ends early, in layer %d", layer);
        return -1;
    }
    const th_task *t = &k->program->tasks[k->next];
    if (t->kind != (int)kind || t->layer != layer || t->node != node || t->peer != peer ||
        t->bytes != bytes || t->input != k->input)
        wrong("task %d: kind %d layer %d %d -> %d %lld bytes input %d, must be kind %d layer %d "
              "%d -> %d %lld bytes input %d",
              k->next, t->kind, t->layer, t->node, t->peer, (long long)t->bytes, t->input, kind,
              layer, node, peer, (long long)bytes, k->input);
    if (kind == TH_TASK_TRANSFER) {
        int from = k->system->nodes[node].accel, to = k->system->nodes[peer].accel;
        if (from >= 0)
            k->sent[from] += bytes;
        if (to >= 0)
            k->received[to] += bytes;
    }
    return k->next++;
}

#endif
