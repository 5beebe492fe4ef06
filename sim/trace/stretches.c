/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stretches.c - see stretches.h. A table of digests: open addressing, linear probing; steps and places one behind
 * the other.
 *
 * What never comes again is not worth keeping: when STEPS_MAX are kept, and few of the stretches that were asked
 * for were known, there are no more stretches until the trace begins anew.
 * Invariants: the number of slots is a power of two; at most half of them are taken; a slot of digest {0, 0}
 * is free; phrases of steps are those of the table that has forgotten `age` times. */
#include <config.h>

#include "sim/trace/stretches.h"

#include "base/alloc.h"
#include "base/map.h"

enum { FIRST_SLOTS = 256, STEPS_MAX = 1 << 20, WORTH = 4, STREAMS_MAX = 64 };

/* A phrase, and when it is said. */
typedef struct {
    th_time after; /* from the tick at which the stretch begins */
    th_phrase phrase;
} step;

struct th_stretch {
    uint64_t digest[2];
    size_t first_step, n_steps, first_place, n_places;
};

struct th_stretches {
    th_stretch *slots;
    size_t n_slots, n; /* n_slots 0: none yet */
    step *steps;
    size_t n_steps, step_room;
    th_tile_place *places;
    size_t n_places, place_room;
    int64_t n_asked, n_found;
    int64_t age;
    bool is_off;
    th_stretch next; /* that was asked for last, and is made if noting */
    th_time from;    /* its first tick */
    int64_t n_left;  /* th_tile_streams_left, then */
    bool is_noting;
};

th_stretches *th_stretches_new(void)
{
    return th_alloc_zero(1, sizeof(th_stretches));
}

void th_stretches_free(th_stretches *k)
{
    if (!k)
        return;
    th_free(k->slots);
    th_free(k->steps);
    th_free(k->places);
    th_free(k);
}

static void drop_all(th_stretches *k)
{
    if (k->n > 0)
        memset(k->slots, 0, k->n_slots * sizeof *k->slots);
    k->n = k->n_steps = k->n_places = 0;
    k->is_noting = false;
}

void th_stretches_forget(th_stretches *k)
{
    drop_all(k);
    k->is_off = false;
    k->n_asked = k->n_found = 0;
}

static th_stretch *slot_of(const th_stretches *k, const uint64_t digest[2])
{
    for (size_t i = digest[0] & (k->n_slots - 1);; i = (i + 1) & (k->n_slots - 1)) {
        th_stretch *s = &k->slots[i];
        bool is_free = s->digest[0] == 0 && s->digest[1] == 0;
        if (is_free || (s->digest[0] == digest[0] && s->digest[1] == digest[1]))
            return s;
    }
}

/* Phrases that were forgotten take the stretches with them, and so does want of room. */
static bool is_worth_it(th_trace *t)
{
    th_stretches *k = t->stretches;
    int64_t age = th_phrases_age(t->phrases);
    if (age != k->age)
        drop_all(k);
    k->age = age;
    if (k->n_steps < STEPS_MAX && k->n_places < STEPS_MAX)
        return !k->is_off;
    k->is_off = k->n_found * WORTH < k->n_asked;
    k->n_asked = k->n_found = 0;
    drop_all(k);
    return !k->is_off;
}

const th_stretch *th_stretches_find(th_trace *t, th_time end, bool *may_begin)
{
    th_stretches *k = t->stretches;
    *may_begin = is_worth_it(t) &&
                 th_tile_streams_digest(t->streams, STREAMS_MAX, t->tick, end, k->next.digest);
    if (!*may_begin)
        return NULL;
    k->n_asked++;
    th_stretch *s = k->n_slots > 0 ? slot_of(k, k->next.digest) : NULL;
    if (!s || s->digest[0] != k->next.digest[0] || s->digest[1] != k->next.digest[1])
        return NULL;
    k->n_found++;
    return s;
}

/* ---- saying it ------------------------------------------------------------------------------- */

/* Are all times in it as long as the first? */
static bool fits(th_trace *t, const th_stretch *s, th_time from)
{
    const step *first = &t->stretches->steps[s->first_step];
    th_stamp last = {.at = -1};
    if (s->n_steps == 0)
        return true;
    const th_stamp *now = th_trace_stamp(t, from + first->after);
    t->type->stamp(t, &last, from + first[s->n_steps - 1].after);
    return last.n == now->n && th_phrases_age(t->phrases) == t->stretches->age;
}

bool th_stretch_say(th_trace *t, const th_stretch *s)
{
    const th_stretches *k = t->stretches;
    th_time from = t->tick, told = t->type->tells_time ? from : TH_TIME_MAX;
    if (!fits(t, s, from))
        return false;
    for (const step *x = &k->steps[s->first_step], *end = x + s->n_steps; x < end; x++) {
        th_time now = from + x->after;
        const th_stamp *stamp = th_trace_stamp(t, now);
        if (told < now)
            th_out_stamp(&t->out, stamp);
        if (told < now)
            told = now;
        th_phrases_put(t->phrases, &t->out, stamp, x->phrase);
    }
    for (size_t i = 0; i < s->n_places; i++) {
        const th_tile_place *p = &k->places[s->first_place + i];
        th_traced *o = &t->objects[t->system->accel_node[p->accel]];
        o->tiles = th_tile_streams_put(t->streams, p);
        o->written = o->tiles & o->tile_bits;
    }
    return true;
}

/* ---- making it ------------------------------------------------------------------------------- */

void th_stretches_begin(th_trace *t)
{
    th_stretches *k = t->stretches;
    k->is_noting = true;
    k->from = t->tick;
    k->n_left = th_tile_streams_left(t->streams);
    k->next.first_step = k->n_steps;
    k->next.first_place = k->n_places;
}

void th_stretches_note(th_trace *t, uint64_t key)
{
    th_stretches *k = t->stretches;
    th_phrase phrase;
    if (!k->is_noting)
        return;
    k->is_noting = th_phrases_age(t->phrases) == k->age && th_phrases_find(t->phrases, key, &phrase) &&
                   th_grow(&k->steps, &k->step_room, k->n_steps + 1, sizeof *k->steps) == 0;
    if (k->is_noting)
        k->steps[k->n_steps++] = (step){t->tick - k->from, phrase};
}

static int make_slots(th_stretches *k)
{
    th_stretches bigger = {.n_slots = k->n_slots > 0 ? 2 * k->n_slots : FIRST_SLOTS};
    bigger.slots = th_alloc_zero(bigger.n_slots, sizeof *bigger.slots);
    if (!bigger.slots)
        return -1;
    for (size_t i = 0; i < k->n_slots; i++)
        if (k->slots[i].digest[0] != 0 || k->slots[i].digest[1] != 0)
            *slot_of(&bigger, k->slots[i].digest) = k->slots[i];
    th_free(k->slots);
    k->slots = bigger.slots;
    k->n_slots = bigger.n_slots;
    return 0;
}

/* Where memory is out, it is not kept: it can be made again. */
void th_stretches_end(th_trace *t)
{
    th_stretches *k = t->stretches;
    th_stretch *s = &k->next;
    bool is_kept = k->is_noting && th_phrases_age(t->phrases) == k->age &&
                   th_tile_streams_left(t->streams) == k->n_left &&
                   th_grow(&k->places, &k->place_room, k->n_places + STREAMS_MAX, sizeof *k->places) == 0 &&
                   (2 * (k->n + 1) <= k->n_slots || make_slots(k) == 0);
    if (!is_kept) {
        k->n_steps = s->first_step;
        k->is_noting = false;
        return;
    }
    k->is_noting = false;
    k->n_places += th_tile_streams_places(t->streams, &k->places[k->n_places]);
    s->n_steps = k->n_steps - s->first_step;
    s->n_places = k->n_places - s->first_place;
    *slot_of(k, s->digest) = *s;
    k->n++;
}
