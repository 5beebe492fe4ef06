/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phrases.c - see phrases.h. A table of keys: open addressing, linear probing; texts one behind the
 * other.
 *
 * Invariants: the number of slots is a power of two; at most half of them are taken, so every probe
 * ends; key 0 is a free slot; ROUND bytes behind the last text may be read. */
#include <config.h>

#include "sim/trace/phrases.h"

#include "base/alloc.h"

enum { FIRST_BITS = 8, MOST_BITS = 20, TEXT_MAX = 1024, TEXTS_MAX = 64 << 20 };

typedef struct {
    uint64_t key;
    th_phrase phrase;
} slot;

struct th_phrases {
    slot *slots;
    int bits; /* of their number; 0: none yet */
    size_t n;
    char *texts;
    size_t n_texts, text_room;
    int64_t age;
};

th_phrases *th_phrases_new(void)
{
    return th_alloc_zero(1, sizeof(th_phrases));
}

void th_phrases_free(th_phrases *p)
{
    if (!p)
        return;
    th_free(p->slots);
    th_free(p->texts);
    th_free(p);
}

void th_phrases_forget(th_phrases *p)
{
    if (p->n > 0)
        memset(p->slots, 0, sizeof *p->slots << p->bits);
    p->n = p->n_texts = 0;
    p->age++;
}

int64_t th_phrases_age(const th_phrases *p)
{
    return p->age;
}

/* Where a key is, or belongs: high bits of its product with 2^64 / golden ratio. */
static inline slot *slot_of(const th_phrases *p, uint64_t key)
{
    size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> (64 - p->bits)),
           last = ((size_t)1 << p->bits) - 1;
    while (p->slots[i].key != key && p->slots[i].key != 0)
        i = (i + 1) & last;
    return &p->slots[i];
}

const char *th_phrases_texts(const th_phrases *p)
{
    return p->texts;
}

bool th_phrases_find(const th_phrases *p, uint64_t key, th_phrase *out)
{
    const slot *s = p->bits > 0 ? slot_of(p, key) : NULL;
    if (!s || s->key == 0)
        return false;
    *out = s->phrase;
    return true;
}

bool th_phrases_say(const th_phrases *p, th_out *o, const th_stamp *stamp, uint64_t key)
{
    th_phrase x;
    bool is_known = th_phrases_find(p, key, &x);
    if (!is_known)
        return false;
    th_phrase_put(p->texts + x.at, stamp->words, stamp->n, stamp->text, th_out_room(o));
    o->n += x.length;
    return true;
}

/* ---- learning -------------------------------------------------------------------------------- */

void th_phrases_listen(th_out *o)
{
    o->is_heard = true;
    o->heard_from = o->n;
    o->n_stamps = 0;
}

static int make_slots(th_phrases *p)
{
    int bits = p->bits > 0 ? p->bits + 1 : FIRST_BITS;
    th_phrases bigger = {.slots = th_alloc_zero((size_t)1 << bits, sizeof(slot)), .bits = bits};
    if (!bigger.slots)
        return -1;
    for (size_t i = 0; p->bits > 0 && i < (size_t)1 << p->bits; i++)
        if (p->slots[i].key != 0)
            *slot_of(&bigger, p->slots[i].key) = p->slots[i];
    th_free(p->slots);
    p->slots = bigger.slots;
    p->bits = bits;
    return 0;
}

static int make_room(th_phrases *p, size_t bytes)
{
    if (p->n_texts > TEXTS_MAX || p->n > (size_t)1 << (MOST_BITS - 1))
        th_phrases_forget(p);
    if (p->bits == 0 || (2 * (p->n + 1)) >> p->bits > 0)
        if (make_slots(p))
            return -1;
    return th_grow(&p->texts, &p->text_room, p->n_texts + bytes + TH_PHRASE_ROUND, 1);
}

static void add_text(th_phrases *p, const void *text, size_t n)
{
    memcpy(p->texts + p->n_texts, text, n);
    p->n_texts += n;
}

static void add_number(th_phrases *p, size_t number)
{
    uint16_t short_number = (uint16_t)number;
    add_text(p, &short_number, sizeof short_number);
}

void th_phrases_learn(th_phrases *p, th_out *o, uint64_t key)
{
    size_t n_stamps = (size_t)o->n_stamps, from = o->heard_from, length = o->n - from;
    bool is_heard = o->is_heard;
    o->is_heard = false;
    if (!is_heard || key == 0 || length > TEXT_MAX ||
        make_room(p, length + (n_stamps + 2) * sizeof(uint16_t)))
        return;
    *slot_of(p, key) = (slot){key, {(uint32_t)p->n_texts, (uint32_t)length}};
    p->n++;
    add_number(p, length);
    add_number(p, n_stamps);
    for (size_t i = 0; i < n_stamps; i++)
        add_number(p, o->stamp[i] - from);
    add_text(p, o->text + from, length);
}
