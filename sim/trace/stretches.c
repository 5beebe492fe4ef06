/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stretches.c - see stretches.h. Stretches, their tapes, places and neighbours stand one behind the
 * other, as they were made; so what follows a stretch is mostly the one behind it. Else a table
 * knows the number of a digest: open addressing, linear probing.
 *
 * What never comes again is not worth keeping: when BYTES_MAX are kept, and few of the stretches
 * that were asked for were known, there are no more stretches until the trace begins anew.
 * Invariants: the number of slots is a power of two; at most half of them are taken; a slot is the
 * number of a stretch, from 1 on, or 0: free; phrases in tapes are as the table has them that has
 * forgotten `age` times. */
#include <config.h>

#include "sim/trace/stretches.h"

#include "base/alloc.h"
#include "base/map.h"
#include "sim/trace/tapes.h"

enum { FIRST_SLOTS = 256, BYTES_MAX = 64 << 20, WORTH = 4, STREAMS_MAX = 64, NEIGHBOURS_MAX = 16 };

/* Two changes that may meet at a tick, by the times after the beginning. */
typedef struct {
    th_time first, second;
    bool meet; /* as the tape says it */
} neighbours;

struct th_stretch {
    uint64_t digest[2];
    th_tape tape;
    th_time first, last; /* changes, after the beginning; none: first > last */
    size_t first_place, n_places, first_pair, n_pairs;
};

struct th_stretches {
    th_stretch *all;
    size_t n, room;
    uint32_t *slots;
    size_t n_slots; /* 0: none yet */
    size_t guess;   /* the stretch that follows what was said or made last */
    th_tapes *tapes;
    th_tile_place *places; /* of streams that have moved, at the ends of stretches */
    size_t n_places, place_room;
    neighbours *pairs;
    size_t n_pairs, pair_room;
    int64_t n_asked, n_said;
    int64_t age;
    bool is_off;
    th_stretch next; /* that was asked for last, and is made if noting */
    th_time from;    /* its beginning */
    th_time until;
    int64_t n_left; /* th_tile_streams_left, then */
    th_tile_place begin[STREAMS_MAX];
    size_t n_begin;
    bool is_noting;
};

th_stretches *th_stretches_new(void)
{
    th_stretches *k = th_alloc_zero(1, sizeof *k);
    if (!k || !(k->tapes = th_tapes_new())) {
        th_free(k);
        return NULL;
    }
    return k;
}

void th_stretches_free(th_stretches *k)
{
    if (!k)
        return;
    th_tapes_free(k->tapes);
    th_free(k->all);
    th_free(k->slots);
    th_free(k->places);
    th_free(k->pairs);
    th_free(k);
}

static void drop_all(th_stretches *k)
{
    if (k->n > 0)
        memset(k->slots, 0, k->n_slots * sizeof *k->slots);
    k->n = k->guess = k->n_places = k->n_pairs = 0;
    th_tapes_cut(k->tapes, &(th_tape){0});
    k->is_noting = false;
}

void th_stretches_forget(th_stretches *k)
{
    drop_all(k);
    k->is_off = false;
    k->n_asked = k->n_said = 0;
}

static bool has_digest(const th_stretch *s, const uint64_t digest[2])
{
    return s->digest[0] == digest[0] && s->digest[1] == digest[1];
}

/* Where its number is, or belongs. */
static uint32_t *slot_of(const th_stretches *k, const uint64_t digest[2])
{
    size_t i = digest[0] & (k->n_slots - 1);
    while (k->slots[i] != 0 && !has_digest(&k->all[k->slots[i] - 1], digest))
        i = (i + 1) & (k->n_slots - 1);
    return &k->slots[i];
}

static const th_stretch *find(th_stretches *k, const uint64_t digest[2])
{
    if (k->guess >= k->n || !has_digest(&k->all[k->guess], digest)) {
        uint32_t number = k->n_slots > 0 ? *slot_of(k, digest) : 0;
        if (number == 0)
            return NULL;
        k->guess = number - 1;
    }
    return &k->all[k->guess++];
}

static size_t bytes_of(const th_stretches *k)
{
    return th_tapes_bytes(k->tapes) + k->n * sizeof *k->all + k->n_places * sizeof *k->places;
}

/* Phrases that were forgotten take the stretches with them, and so does want of room. */
static bool is_worth_it(th_trace *t)
{
    th_stretches *k = t->stretches;
    int64_t age = th_phrases_age(t->phrases);
    if (age != k->age)
        drop_all(k);
    k->age = age;
    if (k->is_off || bytes_of(k) < BYTES_MAX)
        return !k->is_off;
    k->is_off = k->n_said * WORTH < k->n_asked;
    k->n_asked = k->n_said = 0;
    drop_all(k);
    return !k->is_off;
}

const th_stretch *th_stretches_find(th_trace *t, th_time until, bool *may_begin)
{
    th_stretches *k = t->stretches;
    k->from = t->now;
    k->until = until;
    *may_begin = is_worth_it(t) &&
                 th_tile_streams_digest(t->streams, STREAMS_MAX, k->from, until, k->next.digest);
    if (!*may_begin)
        return NULL;
    k->n_asked++;
    return find(k, k->next.digest);
}

/* ---- saying it ------------------------------------------------------------------------------- */

static bool meet(const th_trace *t, th_time a, th_time b)
{
    return th_trace_tick_of(t, a) == th_trace_tick_of(t, b);
}

/* Are all times in it as long as the first, and at ticks that belong to nothing else? */
static bool fits(th_trace *t, const th_stretch *s, th_time from)
{
    const th_stretches *k = t->stretches;
    if (s->first > s->last)
        return true;
    if (from + s->first < t->next || meet(t, from + s->last, k->until))
        return false;
    for (size_t i = 0; i < s->n_pairs; i++) {
        const neighbours *p = &k->pairs[s->first_pair + i];
        if (meet(t, from + p->first, from + p->second) != p->meet)
            return false;
    }
    const th_stamp *first = th_trace_stamp(t, th_trace_tick_of(t, from + s->first));
    return th_stamp_is_as_long(t, first, from + s->last) && th_phrases_age(t->phrases) == k->age;
}

bool th_stretch_say(th_trace *t, const th_stretch *s)
{
    th_stretches *k = t->stretches;
    if (!fits(t, s, k->from))
        return false;
    k->n_said++;
    th_tape_put(k->tapes, &s->tape, t, k->from);
    for (size_t i = 0; i < s->n_places; i++) {
        const th_tile_place *p = &k->places[s->first_place + i];
        th_traced *o = &t->objects[t->system->accel_node[p->accel]];
        o->tiles = p->tiles;
        o->written = o->tiles & o->tile_bits;
        th_tile_streams_put(t->streams, p, k->from);
    }
    return true;
}

/* ---- making it ------------------------------------------------------------------------------- */

void th_stretches_begin(th_trace *t)
{
    th_stretches *k = t->stretches;
    k->is_noting = !th_tile_streams_are_past(t->streams, k->from);
    k->n_left = th_tile_streams_left(t->streams);
    k->n_begin = th_tile_streams_places(t->streams, k->from, k->begin);
    k->next.tape = th_tapes_begin(k->tapes);
    k->next.first = TH_TIME_MAX;
    k->next.last = -1;
    k->next.first_place = k->n_places;
    k->next.first_pair = k->n_pairs;
}

/* A change at `at` and one before it may meet at a tick. */
static int note_pair(th_trace *t, th_time before, th_time at)
{
    th_stretches *k = t->stretches;
    if (at - before >= t->options.resolution_ps)
        return 0;
    if (k->n_pairs - k->next.first_pair >= NEIGHBOURS_MAX ||
        th_grow(&k->pairs, &k->pair_room, k->n_pairs + 1, sizeof *k->pairs))
        return -1;
    k->pairs[k->n_pairs++] = (neighbours){before - k->from, at - k->from, meet(t, before, at)};
    return 0;
}

/* A writer that tells the time tells it once at a tick: is it to be told now? */
static bool is_first_at_tick(const th_trace *t, th_time at)
{
    const th_stretches *k = t->stretches;
    return t->type->tells_time && (k->next.last < 0 || !meet(t, k->from + k->next.last, at));
}

/* The change before it, of any object, and that of the same object. */
static int note_pairs(th_trace *t, th_time at, th_time before)
{
    th_stretches *k = t->stretches;
    th_time last = k->from + k->next.last;
    if (t->type->tells_time && k->next.last >= 0 && last < at && note_pair(t, last, at))
        return -1;
    return before > k->from ? note_pair(t, before, at) : 0;
}

void th_stretches_note(th_trace *t, uint64_t key, th_time at, th_time before)
{
    th_stretches *k = t->stretches;
    th_phrase phrase;
    if (!k->is_noting)
        return;
    int32_t n_stamp = is_first_at_tick(t, at) ? th_trace_stamp(t, t->tick)->n : 0;
    k->is_noting = th_phrases_age(t->phrases) == k->age &&
                   th_phrases_find(t->phrases, key, &phrase) && note_pairs(t, at, before) == 0 &&
                   th_tapes_add(k->tapes, &k->next.tape, at - k->from, &phrase, n_stamp) == 0;
    if (k->next.last < 0)
        k->next.first = at - k->from;
    k->next.last = at - k->from;
}

void th_stretches_drop(th_trace *t)
{
    t->stretches->is_noting = false;
}

/* For one stretch more. */
static int make_room(th_stretches *k)
{
    if (th_grow(&k->all, &k->room, k->n + 1, sizeof *k->all) ||
        th_grow(&k->places, &k->place_room, k->n_places + STREAMS_MAX, sizeof *k->places))
        return -1;
    if (2 * (k->n + 1) <= k->n_slots)
        return 0;
    size_t n_slots = k->n_slots > 0 ? 2 * k->n_slots : FIRST_SLOTS;
    uint32_t *slots = th_alloc_zero(n_slots, sizeof *slots);
    if (!slots)
        return -1;
    th_free(k->slots);
    k->slots = slots;
    k->n_slots = n_slots;
    for (size_t i = 0; i < k->n; i++)
        *slot_of(k, k->all[i].digest) = (uint32_t)i + 1;
    return 0;
}

/* All that happens from its beginning to its end is in it, and streams have not left their records.
 */
static bool is_whole(const th_trace *t)
{
    const th_stretches *k = t->stretches;
    return th_phrases_age(t->phrases) == k->age && th_tile_streams_left(t->streams) == k->n_left &&
           th_tile_streams_next(t->streams) >= k->until;
}

/* Of streams that have moved. */
static void keep_places(th_trace *t)
{
    th_stretches *k = t->stretches;
    th_tile_place *place = &k->places[k->n_places];
    size_t n = th_tile_streams_places(t->streams, k->from, place);
    for (size_t i = 0; i < n; i++)
        if (place[i].next != k->begin[i].next)
            k->places[k->n_places++] = place[i];
}

/* Where memory is out, it is not kept: it can be made again. */
void th_stretches_end(th_trace *t)
{
    th_stretches *k = t->stretches;
    th_stretch *s = &k->next;
    bool is_kept = k->is_noting && is_whole(t) && make_room(k) == 0;
    k->is_noting = false;
    if (!is_kept) {
        th_tapes_cut(k->tapes, &s->tape);
        k->n_pairs = s->first_pair;
        return;
    }
    keep_places(t);
    s->n_places = k->n_places - s->first_place;
    s->n_pairs = k->n_pairs - s->first_pair;
    k->all[k->n++] = *s;
    *slot_of(k, s->digest) = (uint32_t)k->n;
    k->guess = k->n;
}
