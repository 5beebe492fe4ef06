/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unrolled.c - Loop, Scan and SequenceMap: their body is read once for every round, of which there
 * are as many as constants say. What a round hands on is the next one's input, whatever its shape;
 * what it adds to a scan output is joined behind the last. */
#include <config.h>
#include "workloads/onnx/body.h"
#include "workloads/onnx/nodes.h"
#include "workloads/onnx/op.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

/* The rounds of one node. */
typedef struct {
    const ThOnnx__Graph *body;
    th_onnx_inner inner;
    th_onnx_value **in, **out; /* of the body, of the present round */
    size_t n_carried;
    size_t n_scans;          /* scan outputs, behind the carried ones */
    size_t first_out;        /* of the body's outputs those before: the condition of a Loop */
    th_onnx_pointers joined; /* what each round adds to each scan output; the reader has it */
    int64_t n;               /* rounds so far */
} rounds;

static th_onnx_value *new_number(th_onnx_reader *r, int64_t number, int32_t type)
{
    th_onnx_value *v = th_onnx_room(r, 1, sizeof *v);
    if (!v)
        return NULL;
    *v = (th_onnx_value){.type = type, .is_constant = true};
    v->ints = th_onnx_room(r, 1, sizeof *v->ints);
    if (!v->ints)
        return NULL;
    v->ints[0] = number;
    return v;
}

/* n_in, n_out: inputs and outputs of the body that are needed, of which these are carried. */
static int begin(th_onnx_reader *r, rounds *x, size_t n_in, size_t n_carried, size_t first_out)
{
    const th_onnx_attribute *a = th_onnx_attribute_of(r->node, "body");
    *x = (rounds){.body = a ? a->g : NULL, .n_carried = n_carried, .first_out = first_out};
    if (!x->body || x->body->n_input != n_in || x->body->n_output < first_out + n_carried)
        return th_onnx_expected(r, "a body with an input and an output for each of the node's");
    x->n_scans = x->body->n_output - first_out - n_carried;
    x->in = th_onnx_room(r, (int64_t)x->body->n_input, sizeof(*x->in));
    x->out = th_onnx_room(r, (int64_t)x->body->n_output, sizeof(*x->out));
    return x->in && x->out ? th_onnx_inner_of(r, x->body, &x->inner) : -1;
}

/* What a graph reads of those around it has a reader in every round. */
static void share(const th_onnx_reader *r, const ThOnnx__Graph *g)
{
    th_onnx_value *v;
    for (size_t i = 0; i < g->n_output; i++)
        if ((v = th_onnx_find(r, g->output[i]->name)))
            v->is_shared = true;
    for (size_t i = 0; i < g->n_node; i++) {
        const th_onnx_node *n = g->node[i];
        for (size_t k = 0; k < n->n_input; k++)
            if ((v = th_onnx_find(r, n->input[k])))
                v->is_shared = true;
        for (size_t k = 0; k < n->n_attribute; k++)
            if (n->attribute[k]->g)
                share(r, n->attribute[k]->g);
    }
}

/* Reads the body once more, at most this often; first_in: the place of the carried values among its
 * inputs. */
static int read_round(th_onnx_reader *r, rounds *x, size_t first_in, int64_t most)
{
    if (x->n == 0 && most > 1)
        share(r, x->body);
    if (th_onnx_count_read(r, 1) ||
        th_onnx_read_inner(r, &x->inner, (const th_onnx_value *const *)x->in, x->out))
        return -1;
    for (size_t i = 0; i < x->n_carried; i++)
        x->in[first_in + i] = x->out[x->first_out + i];
    if (th_grow(&x->joined.at, &x->joined.room, x->joined.n + x->n_scans, sizeof *x->joined.at))
        return th_error_no_memory(r->err);
    for (size_t i = 0; i < x->n_scans; i++)
        x->joined.at[x->joined.n++] = x->out[x->first_out + x->n_carried + i];
    x->n++;
    return 0;
}

/* ---- what is made of all rounds -------------------------------------------------------------- */

/* A scan output of no rounds, or that nothing reads: an axis of no length in front of what the
 * body's output is stated to be. */
static void bind_empty(th_onnx_body *b, const rounds *x, size_t scan, const char *name)
{
    const ThOnnx__Value *of = x->body->output[x->first_out + x->n_carried + scan];
    const ThOnnx__TensorType *t = of->type ? of->type->tensor_type : NULL;
    const ThOnnx__Shape *shape = t ? t->shape : NULL;
    th_onnx_value v = {.rank = 1, .type = t ? t->elem_type : 0, .is_constant = true};
    for (size_t i = 0; shape && i < shape->n_dim && v.rank < TH_ONNX_RANK_MAX; i++)
        v.dim[v.rank++] = shape->dim[i]->dim_value > 0 ? shape->dim[i]->dim_value : 0;
    th_onnx_body_bind(b, name, &v);
}

/* The element of a list attribute; 0: there is none. */
static int64_t element_of(const th_onnx_reader *r, const char *attribute, size_t i)
{
    const th_onnx_attribute *a = th_onnx_attribute_of(r->node, attribute);
    return a && i < a->n_ints ? a->ints[i] : 0;
}

/* Defines the outputs of the node: the carried values, which are inputs of the body from first_in
 * on, and the scan outputs, joined along a new axis. */
static int end(th_onnx_reader *r, rounds *x, size_t first_in)
{
    th_onnx_body b;
    char name[32];
    if (x->n == 0 && th_onnx_count_graph(r, x->body, -1))
        return -1;
    th_onnx_body_begin(&b, r);
    for (size_t i = 0; i < x->n_carried; i++) {
        snprintf(name, sizeof name, "out%zu", i);
        th_onnx_body_bind(&b, name, x->in[first_in + i]);
    }
    for (size_t i = 0; i < x->n_scans; i++) {
        bool is_backward = element_of(r, "scan_output_directions", i) != 0;
        int64_t first = is_backward ? x->n - 1 : 0, step = (int64_t)x->n_scans;
        th_onnx_value *const *items = (th_onnx_value *const *)x->joined.at + i;
        snprintf(name, sizeof name, "out%zu", x->n_carried + i);
        if (x->n == 0 || !th_onnx_is_used(r, x->n_carried + i))
            bind_empty(&b, x, i, name);
        else
            th_onnx_body_join(&b, name, items + first * step, x->n, is_backward ? -step : step,
                              element_of(r, "scan_output_axes", i), true);
    }
    return th_onnx_body_end(&b,
                            th_onnx_body_names(&b, "out", (int64_t)(x->n_carried + x->n_scans)));
}

/* ---- operators ------------------------------------------------------------------------------- */

/* One number that is an input, or the other one where it is not given. -1: it is not known. */
static int number_of(th_onnx_reader *r, const th_onnx_value *v, const char *what, int64_t *out)
{
    if (!v)
        return 0;
    if (th_onnx_elements(v) != 1)
        return th_onnx_expected(r, "a count and a condition of one number each");
    if (!th_onnx_is_known(v))
        return th_onnx_refuse(r, "WORK-0946", "its %s is not known%s", what,
                              th_onnx_why(r, v).text);
    *out = th_onnx_number(v, 0);
    return 0;
}

/* Inputs: the count, the condition, then what is carried; the body has the number of the round in
 * the place of the count. */
int th_onnx_replace_loop(th_onnx_reader *r, const th_onnx_operator *o)
{
    enum { CARRIED = 2 };
    rounds x;
    int64_t most = INT64_MAX, goes_on = 1;
    size_t n = r->node->n_input;
    (void)o;
    if (begin(r, &x, n > CARRIED ? n : CARRIED, n > CARRIED ? n - CARRIED : 0, 1) ||
        number_of(r, th_onnx_input_or_none(r, 0), "count of rounds", &most) ||
        number_of(r, th_onnx_input_or_none(r, 1), "condition", &goes_on))
        return -1;
    int status = 0;
    for (size_t i = CARRIED; i < n && status == 0; i++)
        status = (x.in[i] = th_onnx_given(r, i)) ? 0 : -1;
    while (status == 0 && x.n < most && goes_on) {
        x.in[0] = new_number(r, x.n, TH_ONNX_INT64);
        x.in[1] = new_number(r, 1, TH_ONNX_BOOL);
        status = x.in[0] && x.in[1] ? read_round(r, &x, CARRIED, most) : -1;
        if (status == 0 && x.n < most)
            status = number_of(r, x.out[0], "condition after a round", &goes_on);
    }
    if (status == 0)
        status = end(r, &x, CARRIED);
    th_free(x.joined.at);
    return status;
}

/* The rows of the scan inputs, those of one after those of another; *n rounds. NULL: refused. */
static th_onnx_value **rows_of(th_onnx_reader *r, size_t first, int64_t *n)
{
    th_onnx_body b;
    th_strbuf words = TH_STRBUF_INIT;
    size_t n_scans = r->node->n_input - first, n_rows;
    th_onnx_body_begin(&b, r);
    for (size_t i = 0; i < n_scans && b.status == 0; i++) {
        char name[32];
        snprintf(name, sizeof name, "row%zu_", i);
        r->scope = b.outer;
        const th_onnx_value *v = th_onnx_input(r, first + i);
        int32_t axis = v ? th_onnx_axis(r, element_of(r, "scan_input_axes", i), v->rank) : -1;
        if (axis >= 0 && i > 0 && v->dim[axis] != *n)
            axis = th_onnx_refuse_extent(r, v->dim[axis], *n, *n);
        r->scope = &b.scope;
        *n = axis >= 0 && i == 0 ? v->dim[axis] : *n;
        if (axis < 0 || th_onnx_count_read(r, *n))
            b.status = -1;
        char all[24];
        snprintf(all, sizeof all, "all%zu", i);
        th_onnx_body_give(&b, all, first + i);
        bool is_backward = element_of(r, "scan_input_directions", i) != 0;
        for (int64_t k = 0; k < *n && b.status == 0; k++)
            th_onnx_body_do(
                &b,
                "Constant > at%zu_%lld value_int=%lld;Gather all%zu at%zu_%lld > %s%lld axis=%d", i,
                (long long)k, (long long)(is_backward ? *n - 1 - k : k), i, i, (long long)k, name,
                (long long)k, (int)axis);
        th_strbuf_printf(&words, "%s", th_onnx_body_names(&b, name, *n));
    }
    if (words.failed)
        b.status = th_error_no_memory(r->err);
    th_onnx_value **rows = th_onnx_body_values(&b, words.text ? words.text : "-", &n_rows);
    th_strbuf_clear(&words);
    return rows;
}

/* Since version 9; before, a Scan had a batch and lengths. */
int th_onnx_replace_scan(th_onnx_reader *r, const th_onnx_operator *o)
{
    rounds x;
    int64_t n_scans = th_onnx_int(r->node, "num_scan_inputs", 0), n = 0;
    size_t n_in = r->node->n_input;
    (void)o;
    if (r->opset > 0 && r->opset < 9)
        return th_onnx_expected(r, "version 9 or a newer one: older ones are not read");
    if (n_scans < 1 || n_scans > (int64_t)n_in || n_scans > TH_ONNX_FACTORS_MAX)
        return th_onnx_expected(r, "1 to 24 scan inputs (num_scan_inputs) among its inputs");
    size_t n_carried = n_in - (size_t)n_scans;
    if (begin(r, &x, n_in, n_carried, 0))
        return -1;
    th_onnx_value **rows = rows_of(r, n_carried, &n);
    int status = rows ? 0 : -1;
    for (size_t i = 0; i < n_carried && status == 0; i++)
        status = (x.in[i] = th_onnx_given(r, i)) ? 0 : -1;
    while (status == 0 && x.n < n) {
        for (size_t i = 0; i < (size_t)n_scans; i++)
            x.in[n_carried + i] = rows[(int64_t)i * n + x.n];
        status = read_round(r, &x, 0, n);
    }
    if (status == 0)
        status = end(r, &x, 0);
    th_free(x.joined.at);
    return status;
}

/* The body once for each item; further inputs are sequences, too, or the same in every round. */
int th_onnx_replace_sequence_map(th_onnx_reader *r, const th_onnx_operator *o)
{
    rounds x;
    const th_onnx_value *items = th_onnx_input(r, 0);
    (void)o;
    if (!items || !items->is_sequence)
        return items ? th_onnx_expected(r, "a sequence") : -1;
    if (begin(r, &x, r->node->n_input, 0, 0))
        return -1;
    int status = 0;
    while (status == 0 && x.n < items->n_items) {
        for (size_t i = 0; i < r->node->n_input && status == 0; i++) {
            const th_onnx_value *v = th_onnx_input(r, i);
            if (v && v->is_sequence && x.n < v->n_items)
                x.in[i] = v->items[x.n];
            else if (v && !v->is_sequence)
                status = (x.in[i] = th_onnx_given(r, i)) ? 0 : -1;
            else
                status = v ? th_onnx_expected(r, "sequences of equal lengths") : -1;
        }
        status = status ? status : read_round(r, &x, 0, items->n_items);
    }
    for (size_t i = 0; i < x.n_scans && i < r->node->n_output && status == 0; i++) {
        th_onnx_value v = {.is_sequence = true, .n_items = (int32_t)x.n};
        v.items = th_onnx_room(r, x.n, sizeof(*v.items));
        for (int64_t k = 0; v.items && k < x.n; k++)
            v.items[k] = x.joined.at[k * (int64_t)x.n_scans + (int64_t)i];
        status = v.items ? th_onnx_define_output(r, i, &v) : -1;
    }
    th_free(x.joined.at);
    return status;
}
