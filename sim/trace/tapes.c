/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tapes.c - see tapes.h. Blocks, marks and texts of all tapes stand one behind the other.
 *
 * Invariants: a block has at most TH_OUT_ROOM bytes, and its marks are in the order of their places and times;
 * SLACK bytes behind the last text may be read and written. */
#include <config.h>

#include "sim/trace/tapes.h"

#include "base/alloc.h"

enum { SLACK = 64, BLOCK_BYTES = TH_OUT_ROOM - TH_STEP_BYTES };

typedef struct {
    th_time after; /* of its marks, from the beginning of the tape */
    size_t first_mark, n_marks, first_byte, n_bytes;
} block;

struct th_tapes {
    block *blocks;
    size_t n_blocks, block_room;
    th_mark *marks;
    size_t n_marks, mark_room;
    char *text;
    size_t n_text, text_room;
    uint32_t after; /* of the step, from that of its block */
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
    th_free(k->marks);
    th_free(k->text);
    th_free(k);
}

size_t th_tapes_bytes(const th_tapes *k)
{
    return k->n_text + k->n_marks * sizeof *k->marks + k->n_blocks * sizeof *k->blocks;
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
    k->n_marks = k->blocks[k->n_blocks].first_mark;
    k->n_text = k->blocks[k->n_blocks].first_byte;
}

static bool has_room_for(const block *b, th_time after)
{
    return b->n_bytes <= BLOCK_BYTES && after - b->after <= UINT32_MAX;
}

int th_tapes_begin_step(th_tapes *k, th_tape *tape, th_time after)
{
    if (th_grow(&k->blocks, &k->block_room, k->n_blocks + 1, sizeof *k->blocks) ||
        th_grow(&k->marks, &k->mark_room, k->n_marks + TH_STAMPS_MAX + 1, sizeof *k->marks) ||
        th_grow(&k->text, &k->text_room, k->n_text + TH_STEP_BYTES + SLACK, 1))
        return -1;
    if (tape->n_blocks == 0 || !has_room_for(&k->blocks[k->n_blocks - 1], after)) {
        k->blocks[k->n_blocks++] = (block){.after = after, .first_mark = k->n_marks, .first_byte = k->n_text};
        tape->n_blocks++;
    }
    k->after = (uint32_t)(after - k->blocks[k->n_blocks - 1].after);
    return 0;
}

void th_tapes_add_text(th_tapes *k, const char *text, size_t n)
{
    memcpy(k->text + k->n_text, text, n);
    k->n_text += n;
    k->blocks[k->n_blocks - 1].n_bytes += n;
}

void th_tapes_add_stamp(th_tapes *k, const th_stamp *s)
{
    block *b = &k->blocks[k->n_blocks - 1];
    k->marks[k->n_marks++] = (th_mark){(uint32_t)b->n_bytes, k->after};
    b->n_marks++;
    th_stamp_copy(s, k->text + k->n_text);
    k->n_text += (size_t)s->n;
    b->n_bytes += (size_t)s->n;
}

void th_tape_put(const th_tapes *k, const th_tape *tape, th_trace *t, th_time from)
{
    for (const block *b = &k->blocks[tape->first_block], *end = b + tape->n_blocks; b < end; b++) {
        char *to = th_out_room(&t->out);
        memcpy(to, k->text + b->first_byte, b->n_bytes);
        th_stamps_put(t, to, k->text + b->first_byte, k->marks + b->first_mark, b->n_marks, from + b->after);
        t->out.n += b->n_bytes;
    }
}
