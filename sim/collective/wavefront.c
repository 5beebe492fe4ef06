/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wavefront.c - see wavefront.h. In a slot, a thread goes through its phases in their order. */
#include <config.h>

#include "sim/collective/wavefront.h"

#include <assert.h>
#include <stddef.h>

void th_wavefront_begin(th_wavefront *w)
{
    assert(w->n_phases <= TH_PHASES_MAX);
    for (int32_t p = 0; p < w->n_phases; p++)
        w->phase[p].thread = p;
}

void th_wavefront_join(th_wavefront *w, int32_t a, int32_t b)
{
    int32_t from = w->phase[a].thread, to = w->phase[b].thread;
    for (int32_t p = 0; p < w->n_phases; p++)
        if (w->phase[p].thread == from)
            w->phase[p].thread = to;
}

/* Threads become 0, 1, 2 ... in the order of their first phases. */
static void number_threads(th_wavefront *w)
{
    int32_t number[TH_PHASES_MAX];
    for (int32_t p = 0; p < w->n_phases; p++) {
        int32_t q = 0;
        while (w->phase[q].thread != w->phase[p].thread)
            q++;
        number[p] = q < p ? number[q] : w->n_threads++;
    }
    for (int32_t p = 0; p < w->n_phases; p++)
        w->phase[p].thread = number[p];
}

/* A phase needs the data of all slots before; what the last one of its lane and thread has waited
 * for has arrived, and its first message waits for the slot just before. */
static void find_waits(th_wavefront *w)
{
    for (int32_t p = 0; p < w->n_phases; p++) {
        int32_t q = p - w->lanes;
        while (q >= 0 && w->phase[q].thread != w->phase[p].thread)
            q -= w->lanes;
        int32_t first = q >= 0 ? w->phase[q].slot : w->has_slot_before ? -1 : 0;
        w->phase[p].waits = w->phase[p].slot > first ? w->phase[p].slot - first - 1 : 0;
    }
}

static int32_t steps_of(const th_phase *p)
{
    return p->waits + p->rounds;
}

static bool is_busy(const th_wavefront *w, const th_phase *p, int32_t thread, int32_t slot)
{
    return p->thread == thread && slot >= p->slot && slot - p->slot < w->chunks;
}

int th_wavefront_init(th_wavefront *w, int32_t chunks, th_memory *memory, th_error *err)
{
    w->chunks = chunks;
    number_threads(w);
    find_waits(w);
    for (int32_t p = 0; p < w->n_phases; p++)
        if (w->phase[p].slot + chunks > w->n_slots)
            w->n_slots = w->phase[p].slot + chunks;
    size_t row = (size_t)w->n_slots + 1;
    w->first = th_memory_take(memory, (size_t)w->n_threads * row + 1, sizeof *w->first);
    if (!w->first)
        return th_error_no_memory(err);
    for (int32_t t = 0; t < w->n_threads; t++) {
        int64_t *first = w->first + (size_t)t * row;
        first[0] = 0;
        for (int32_t slot = 0; slot < w->n_slots; slot++) {
            first[slot + 1] = first[slot];
            for (int32_t p = 0; p < w->n_phases; p++)
                if (is_busy(w, &w->phase[p], t, slot))
                    first[slot + 1] += steps_of(&w->phase[p]);
        }
    }
    return 0;
}

bool th_wavefront_at(const th_wavefront *w, int32_t thread, int64_t step, th_wave *out)
{
    if (thread >= w->n_threads)
        return false;
    const int64_t *first = w->first + (size_t)thread * ((size_t)w->n_slots + 1);
    int32_t low = 0, high = w->n_slots; /* first[low] <= step < first[high] */
    if (step >= first[high])
        return false;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (first[middle] <= step)
            low = middle;
        else
            high = middle;
    }
    step -= first[low];
    int32_t p = 0;
    while (!is_busy(w, &w->phase[p], thread, low) || step >= steps_of(&w->phase[p])) {
        step -= is_busy(w, &w->phase[p], thread, low) ? steps_of(&w->phase[p]) : 0;
        p++;
    }
    *out = (th_wave){
        .phase = p, .chunk = low - w->phase[p].slot, .round = (int32_t)step - w->phase[p].waits};
    return true;
}
