/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tapes.c - see tapes.h. Steps of all tapes stand one behind the other, in blocks of what goes out
 * at once.
 *
 * A step is eight bytes, and the few hundred phrases that steps refer to stay near the processor:
 * copies of the text would be read from far away, for a trace writes more than caches hold between
 * two times that it says a tape. Invariant: a block has at most TH_OUT_ROOM bytes, those that are
 * copied behind its last phrase among them. */
#include <config.h>

#include "sim/trace/tapes.h"

#include "base/alloc.h"

/* Bits of a step's phrase: where it stands, and whether the time stands before it. */
static const uint32_t has_time = (uint32_t)1 << 31;

typedef struct {
    uint32_t after; /* ps, from its block */
    uint32_t phrase;
} step;

typedef struct {
    th_time after; /* from the beginning of the tape */
    size_t first_step, n_steps, n_bytes;
} block;

struct th_tapes {
    block *blocks;
    size_t n_blocks, block_room;
    step *steps;
    size_t n_steps, step_room;
};

th_tapes *th_tapes_new(void)
{
    return th_alloc_zero(1, sizeof(th_tapes));
}

void th_tapes_free(th_tapes *k)
{
    if (!k)
        return;
    th_free(k->blocks);
    th_free(k->steps);
    th_free(k);
}

size_t th_tapes_bytes(const th_tapes *k)
{
    return k->n_steps * sizeof *k->steps + k->n_blocks * sizeof *k->blocks;
}

th_tape th_tapes_begin(const th_tapes *k)
{
    return (th_tape){.first_block = k->n_blocks};
}

void th_tapes_cut(th_tapes *k, const th_tape *from)
{
    if (from->first_block >= k->n_blocks)
        return;
    k->n_blocks = from->first_block;
    k->n_steps = k->blocks[k->n_blocks].first_step;
}

static bool has_room_for(const block *b, th_time after, size_t n)
{
    return b->n_bytes + n + TH_PHRASE_ROUND <= TH_OUT_ROOM && after - b->after <= UINT32_MAX;
}

int th_tapes_add(th_tapes *k, th_tape *tape, th_time after, const th_phrase *phrase,
                 int32_t n_stamp)
{
    size_t n = phrase->length + (size_t)n_stamp;
    if (th_grow(&k->blocks, &k->block_room, k->n_blocks + 1, sizeof *k->blocks) ||
        th_grow(&k->steps, &k->step_room, k->n_steps + 1, sizeof *k->steps))
        return -1;
    if (tape->n_blocks == 0 || !has_room_for(&k->blocks[k->n_blocks - 1], after, n)) {
        k->blocks[k->n_blocks++] = (block){.after = after, .first_step = k->n_steps};
        tape->n_blocks++;
    }
    block *b = &k->blocks[k->n_blocks - 1];
    k->steps[k->n_steps++] =
        (step){(uint32_t)(after - b->after), phrase->at | (n_stamp > 0 ? has_time : 0)};
    b->n_steps++;
    b->n_bytes += n;
    return 0;
}

/* ---- saying it ------------------------------------------------------------------------------- */

/* How times become stamps. */
typedef struct {
    th_time unit, resolution; /* that stamps count; of ticks */
    bool is_varint;
    char before, behind;
} stamping;

/* The stamp of a time that belongs to a tick, as long as *s, which is that of the one before or
 * becomes it. */
TH_INLINE th_stamp_words words_at(th_stamp *s, stamping how, th_time at)
{
    th_time tick = how.resolution == how.unit ? at : at - at % how.resolution;
    int64_t number = tick / how.unit;
    if (how.is_varint)
        return th_varint_words((uint64_t)number, s->n);
    if ((uint64_t)(number - s->from) >= TH_STAMP_LOW)
        th_stamp_number(s, how.before, number, how.behind);
    return th_decimal_words(s->high, s->n_high, (uint32_t)(number - s->from), how.behind);
}

/* A loop of its own for each way of stamping that is usual, with what it needs known to the
 * compiler. */
TH_INLINE char *put_steps(const char *phrases, const step *x, size_t n, th_stamp *s, stamping how,
                          th_time from, char *to)
{
    int32_t n_stamp = s->n;
    for (const step *end = x + n; x < end; x++) {
        th_stamp_words words = words_at(s, how, from + x->after);
        if (x->phrase & has_time) {
            th_stamp_put_words(words, n_stamp, s->text, to);
            to += n_stamp;
        }
        to = th_phrase_put(phrases + (x->phrase & ~has_time), words, n_stamp, s->text, to);
    }
    return to;
}

/* Where stamps are too short or too long for two words. */
static char *put_slowly(const th_trace *t, const step *x, size_t n, th_stamp *s, th_time from,
                        char *to)
{
    for (const step *end = x + n; x < end; x++) {
        th_stamp_set(t, s, th_trace_tick_of(t, from + x->after));
        if (x->phrase & has_time) {
            th_stamp_put(s, to);
            to += s->n;
        }
        to = th_phrase_put(th_phrases_texts(t->phrases) + (x->phrase & ~has_time), s->words, s->n,
                           s->text, to);
    }
    return to;
}

static char *put_block(const th_trace *t, const step *x, size_t n, th_time from, char *to)
{
    th_stamp s = t->stamp;
    const th_stamp_form *form = &t->type->stamp;
    const char *phrases = th_phrases_texts(t->phrases);
    stamping how = {th_trace_stamp_unit(t), t->options.resolution_ps, form->is_varint, form->before,
                    form->behind};
    if (how.is_varint ? s.n < 4 || s.n > 8 : s.from == 0)
        return put_slowly(t, x, n, &s, from, to);
    if (how.is_varint && how.unit == 1000 && how.resolution == 1000)
        return put_steps(phrases, x, n, &s, (stamping){1000, 1000, true, 0, 0}, from, to);
    if (how.is_varint || how.unit != 1 || how.resolution != 1)
        return put_steps(phrases, x, n, &s, how, from, to);
    if (how.behind == '.')
        return put_steps(phrases, x, n, &s, (stamping){1, 1, false, how.before, '.'}, from, to);
    if (how.behind == 0)
        return put_steps(phrases, x, n, &s, (stamping){1, 1, false, how.before, 0}, from, to);
    return put_steps(phrases, x, n, &s, (stamping){1, 1, false, how.before, '\n'}, from, to);
}

void th_tape_put(const th_tapes *k, const th_tape *tape, th_trace *t, th_time from)
{
    for (const block *b = &k->blocks[tape->first_block], *end = b + tape->n_blocks; b < end; b++) {
        char *to = th_out_room(&t->out);
        const step *first = &k->steps[b->first_step];
        t->out.n += (size_t)(put_block(t, first, b->n_steps, from + b->after, to) - to);
    }
}
