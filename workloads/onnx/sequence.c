/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sequence.c - lists of tensors (Sequence...) and tensors that may be absent (Optional...): which
 * tensor is meant is known at reading time, so only splits and joins become layers; an index that
 * is not known is refused. */
#include <config.h>
#include "workloads/onnx/body.h"
#include "workloads/onnx/op.h"

#include <stdio.h>
#include <string.h>

enum { ITEMS_MAX = 4096 };

static int define_sequence(th_onnx_reader *r, th_onnx_value **items, int32_t n)
{
    const th_onnx_value v = {.is_sequence = true, .items = items, .n_items = n};
    return th_onnx_define_output(r, 0, &v);
}

/* A sequence that is an input of the node; NULL: refused. */
static const th_onnx_value *sequence_input(th_onnx_reader *r)
{
    const th_onnx_value *v = th_onnx_input(r, 0);
    if (v && !v->is_sequence) {
        th_onnx_expected(r, "a sequence");
        return NULL;
    }
    return v;
}

/* An index from -n to n - 1 that an input holds, last where there is none. -1: refused. */
static int32_t index_input(th_onnx_reader *r, int input, int32_t n, int64_t last)
{
    int64_t at = last;
    if (th_onnx_scalar(r, input, NULL, &at))
        return -1;
    at += at < 0 ? n : 0;
    if (at >= 0 && at < n)
        return (int32_t)at;
    return (int32_t)th_onnx_refuse_number(r, "an index", (double)at);
}

/* SequenceConstruct, SequenceEmpty. */
int th_onnx_replace_sequence(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value **items = th_onnx_room(r, (int64_t)r->node->n_input, sizeof(*items));
    (void)o;
    if (!items)
        return -1;
    for (size_t i = 0; i < r->node->n_input; i++)
        if (!(items[i] = th_onnx_input(r, i)))
            return -1;
    return define_sequence(r, items, (int32_t)r->node->n_input);
}

static int define_alias(th_onnx_reader *r, const th_onnx_value *v)
{
    th_onnx_value same = *v;
    same.is_shared = true;
    same.other_layout = NULL;
    return th_onnx_define_output(r, 0, &same);
}

int th_onnx_replace_sequence_at(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *v = sequence_input(r);
    int32_t at = v ? index_input(r, 1, v->n_items, 0) : -1;
    (void)o;
    return at < 0 ? -1 : define_alias(r, v->items[at]);
}

/* SequenceInsert; variant: SequenceErase. */
int th_onnx_replace_sequence_insert(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *v = sequence_input(r);
    th_onnx_value *more = v && !o->variant ? th_onnx_input(r, 1) : NULL;
    if (!v || (!o->variant && !more))
        return -1;
    int32_t places = v->n_items + (o->variant ? 0 : 1),
            at = index_input(r, o->variant ? 1 : 2, places, places - 1), n = 0;
    th_onnx_value **items = at < 0 ? NULL : th_onnx_room(r, v->n_items + 1, sizeof(*items));
    if (!items)
        return -1;
    for (int32_t i = 0; i < places; i++)
        if (i != at)
            items[n++] = v->items[i > at && !o->variant ? i - 1 : i];
        else if (!o->variant)
            items[n++] = more;
    return define_sequence(r, items, n);
}

static int define_number(th_onnx_reader *r, int64_t number, int32_t type)
{
    th_onnx_value v = {.type = type, .is_constant = true};
    v.ints = th_onnx_room(r, 1, sizeof *v.ints);
    if (!v.ints)
        return -1;
    v.ints[0] = number;
    return th_onnx_define_output(r, 0, &v);
}

int th_onnx_replace_sequence_length(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *v = sequence_input(r);
    (void)o;
    return v ? define_number(r, v->n_items, TH_ONNX_INT64) : -1;
}

/* The lengths of the parts along an axis: a list, one length for all but the last, or 1. Their
 * number; -1: refused. */
static int part_sizes(th_onnx_reader *r, int64_t extent, int64_t *sizes)
{
    const th_onnx_value *given = th_onnx_input_or_none(r, 1);
    int n = th_onnx_list(r, 1, NULL, sizes, ITEMS_MAX + 1);
    if (n == -2)
        return -1;
    if (n == -1 || given->rank == 0) {
        int64_t size = n > 0 ? sizes[0] : 1;
        if (size < 1)
            return (int)th_onnx_refuse_extent(r, size, 1, extent);
        for (n = 0; n <= ITEMS_MAX && n * size < extent; n++)
            sizes[n] = size < extent - n * size ? size : extent - n * size;
    }
    return n <= ITEMS_MAX ? n : th_onnx_expected(r, "at most 4096 parts");
}

/* A Split, whose parts lose the axis where each has one of it and keepdims is 0. */
int th_onnx_replace_split_to_sequence(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    int64_t *sizes = th_onnx_room(r, ITEMS_MAX + 1, sizeof *sizes);
    const th_onnx_value *in = sizes ? th_onnx_input(r, 0) : NULL;
    int32_t axis = in ? th_onnx_axis(r, th_onnx_int(r->node, "axis", 0), in->rank) : -1;
    int n = axis < 0 ? -1 : part_sizes(r, in->dim[axis], sizes);
    bool drops = !th_onnx_input_or_none(r, 1) && th_onnx_int(r->node, "keepdims", 1) == 0;
    (void)o;
    if (n < 0)
        return -1;
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, "in", 0);
    th_onnx_body_do(&b, "Split in > %s axis=%d split=%s", th_onnx_body_names(&b, "part", n),
                    (int)axis, th_onnx_body_list(&b, sizes, n));
    for (int i = 0; i < n && drops; i++)
        th_onnx_body_do(&b, "Squeeze part%d > item%d axes=%d,", i, i, (int)axis);
    th_onnx_body_do(&b, "SequenceConstruct %s > sequence",
                    th_onnx_body_names(&b, drops ? "item" : "part", n));
    return th_onnx_body_end(&b, "sequence");
}

/* A Concat, along a new axis where new_axis is 1. */
int th_onnx_replace_concat_from_sequence(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    const th_onnx_value *v = sequence_input(r);
    (void)o;
    if (!v)
        return -1;
    if (v->n_items < 1 || v->n_items > ITEMS_MAX)
        return th_onnx_expected(r, "a sequence of 1 to 4096 tensors");
    th_onnx_body_begin(&b, r);
    for (int32_t i = 0; i < v->n_items; i++) { /* which others may read, too */
        v->items[i]->is_shared = true;
        v->items[i]->other_layout = NULL;
    }
    th_onnx_body_join(&b, "joined", v->items, v->n_items, 1, th_onnx_int(r->node, "axis", 0),
                      th_onnx_int(r->node, "new_axis", 0) != 0);
    return th_onnx_body_end(&b, "joined");
}

/* Optional, OptionalGetElement; variant: OptionalHasElement. */
int th_onnx_replace_optional(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *v = th_onnx_input_or_none(r, 0);
    if (o->variant)
        return define_number(r, v ? 1 : 0, TH_ONNX_BOOL);
    if (v)
        return define_alias(r, v);
    return r->node->n_input == 0 || !r->node->input[0][0] ? 0 : th_onnx_input(r, 0) ? 0 : -1;
}
