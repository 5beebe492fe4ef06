/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.c - evaluates elementwise operators whose inputs are known constants; see op.h. Integers are
 * computed as integers and wrap around as in hardware. */
#include <config.h>
#include "workloads/onnx/op.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "workloads/onnx/shape/fold.h"

int th_onnx_fold_begin(th_onnx_reader *r, th_onnx_value *out)
{
    int64_t n = th_onnx_elements(out);
    if (n < 0 || n > TH_ONNX_NUMBERS_MAX || r->n_numbers + n > TH_ONNX_ALL_NUMBERS_MAX)
        return 0;
    r->n_numbers += n;
    if (th_onnx_is_real(out->type))
        out->reals = th_onnx_room(r, n, sizeof *out->reals);
    else
        out->ints = th_onnx_room(r, n, sizeof *out->ints);
    return out->reals || out->ints ? 1 : -1;
}

bool th_onnx_fold_can(const th_onnx_reader *r)
{
    for (size_t i = 0; i < r->node->n_input; i++)
        if (r->node->input[i][0] && !th_onnx_is_known(th_onnx_input_or_none(r, i)))
            return false;
    return true;
}

void th_onnx_fold_copy(th_onnx_value *out, int64_t to, const th_onnx_value *in, int64_t from)
{
    if (out->ints)
        out->ints[to] = th_onnx_number(in, from);
    else
        out->reals[to] = th_onnx_real_number(in, from);
}

/* ---- functions of one number ----------------------------------------------------------------- */

static double unary_real(int f, double x)
{
    switch (f) {
    case TH_ONNX_NEG:
        return -x;
    case TH_ONNX_ABS:
        return fabs(x);
    case TH_ONNX_FLOOR:
        return floor(x);
    case TH_ONNX_CEIL:
        return ceil(x);
    case TH_ONNX_ROUND:
        return rint(x);
    case TH_ONNX_SQRT:
        return sqrt(x);
    case TH_ONNX_RECIPROCAL:
        return 1 / x;
    case TH_ONNX_EXP:
        return th_exp(x);
    case TH_ONNX_LOG:
        return x < 0 ? NAN : isinf(x) ? x : th_log(x);
    case TH_ONNX_SIGN:
        return x > 0 ? 1 : x < 0 ? -1 : 0;
    case TH_ONNX_NOT:
        return x == 0;
    default:
        return x > 0 ? x : 0;
    }
}

static int64_t unary_int(int f, int64_t x)
{
    switch (f) {
    case TH_ONNX_NEG:
        return (int64_t)(0 - (uint64_t)x);
    case TH_ONNX_ABS:
        return x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
    case TH_ONNX_SIGN:
        return x > 0 ? 1 : x < 0 ? -1 : 0;
    case TH_ONNX_NOT:
        return x == 0;
    case TH_ONNX_RELU:
        return x > 0 ? x : 0;
    default:
        return x;
    }
}

int th_onnx_fold_unary(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++)
        if (out->reals)
            out->reals[i] = unary_real(o->variant, th_onnx_real_number(in, i));
        else
            out->ints[i] = unary_int(o->variant, th_onnx_number(in, i));
    return status;
}

/* ---- functions of two numbers ---------------------------------------------------------------- */

/* x^y as C's pow gives it, on th_pow, which takes positive bases. */
static double power_real(double x, double y)
{
    if (x > 0 || y == 0)
        return y == 0 ? 1 : th_pow(x, y);
    if (x == 0)
        return y > 0 ? 0 : INFINITY;
    if (y != floor(y))
        return NAN;
    return fmod(y, 2) == 0 ? th_pow(-x, y) : -th_pow(-x, y);
}

static double binary_real(int f, double x, double y)
{
    switch (f) {
    case TH_ONNX_ADD:
        return x + y;
    case TH_ONNX_SUB:
        return x - y;
    case TH_ONNX_MUL:
        return x * y;
    case TH_ONNX_DIV:
        return x / y;
    case TH_ONNX_MOD:
        return fmod(x, y);
    case TH_ONNX_POW:
        return power_real(x, y);
    case TH_ONNX_MIN:
        return x < y ? x : y;
    default:
        return x > y ? x : y;
    }
}

static int64_t power(int64_t x, int64_t y)
{
    uint64_t result = 1, factor = (uint64_t)x;
    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y > 0; y /= 2, factor *= factor)
        if (y % 2)
            result *= factor;
    return (int64_t)result;
}

/* Rounds towards zero, as C and ONNX do; division by 0 gives 0. */
static int64_t divide(int64_t x, int64_t y)
{
    return y == 0 ? 0 : y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

/* The result has the sign of the divisor, for fmod that of the dividend. */
static int64_t modulo(int64_t x, int64_t y, bool is_fmod)
{
    int64_t rest = y == 0 || y == -1 ? 0 : x % y;
    return !is_fmod && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static int64_t binary_int(const th_onnx_reader *r, int f, int64_t x, int64_t y)
{
    switch (f) {
    case TH_ONNX_ADD:
        return (int64_t)((uint64_t)x + (uint64_t)y);
    case TH_ONNX_SUB:
        return (int64_t)((uint64_t)x - (uint64_t)y);
    case TH_ONNX_MUL:
        return (int64_t)((uint64_t)x * (uint64_t)y);
    case TH_ONNX_DIV:
        return divide(x, y);
    case TH_ONNX_MOD:
        return modulo(x, y, th_onnx_int(r->node, "fmod", 0) != 0);
    case TH_ONNX_POW:
        return power(x, y);
    case TH_ONNX_MIN:
        return x < y ? x : y;
    case TH_ONNX_MAX:
        return x > y ? x : y;
    case TH_ONNX_AND:
        return x && y;
    case TH_ONNX_OR:
        return x || y;
    case TH_ONNX_BIT_AND:
        return x & y;
    case TH_ONNX_BIT_OR:
        return x | y;
    case TH_ONNX_BIT_XOR:
        return x ^ y;
    default:
        return !x != !y;
    }
}

static bool compare(int f, double x, double y)
{
    switch (f) {
    case TH_ONNX_EQUAL:
        return x == y;
    case TH_ONNX_LESS:
        return x < y;
    case TH_ONNX_LESS_OR_EQUAL:
        return x <= y;
    case TH_ONNX_GREATER:
        return x > y;
    default:
        return x >= y;
    }
}

static bool compare_ints(int f, int64_t x, int64_t y)
{
    return compare(f, x < y ? -1 : x > y, 0);
}

int64_t th_onnx_fold_place(const th_onnx_value *out, const th_onnx_value *v, int64_t i)
{
    int64_t at = 0, stride = 1;
    for (int32_t k = 1; k <= out->rank; k++) {
        int64_t extent = out->dim[out->rank - k], here = i % extent;
        i /= extent;
        if (k > v->rank)
            break;
        if (v->dim[v->rank - k] > 1)
            at += here * stride;
        stride *= v->dim[v->rank - k];
    }
    return at;
}

/* One element of a value. */
typedef struct operand {
    const th_onnx_value *value;
    int64_t index;
} operand;

static int64_t integer(operand x)
{
    return th_onnx_number(x.value, x.index);
}

static double real(operand x)
{
    return th_onnx_real_number(x.value, x.index);
}

/* Sets element `to` of the node's first output to f(a, b). */
static void combine(const th_onnx_reader *r, int f, int64_t to, operand a, operand b)
{
    th_onnx_value *out = &r->out[0];
    if (f >= TH_ONNX_EQUAL && f <= TH_ONNX_GREATER_OR_EQUAL)
        out->ints[to] = a.value->ints && b.value->ints ? compare_ints(f, integer(a), integer(b))
                                                       : compare(f, real(a), real(b));
    else if (out->reals)
        out->reals[to] = binary_real(f, real(a), real(b));
    else if (f == TH_ONNX_POW && b.value->reals) /* the result has the type of the base */
        out->ints[to] = th_onnx_whole(power_real(real(a), real(b)));
    else
        out->ints[to] = binary_int(r, f, integer(a), integer(b));
}

/* Combines two or more inputs from left to right. */
int th_onnx_fold_binary(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *a = th_onnx_input_or_none(r, 0);
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = th_onnx_fold_place(out, a, i);
        if (r->node->n_input == 1)
            th_onnx_fold_copy(out, i, a, from);
        for (size_t k = 1; k < r->node->n_input; k++) {
            const th_onnx_value *b = th_onnx_input_or_none(r, k);
            combine(r, o->variant, i, k == 1 ? (operand){a, from} : (operand){out, i},
                    (operand){b, th_onnx_fold_place(out, b, i)});
        }
    }
    return status;
}

int th_onnx_fold_where(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *is_first = th_onnx_input_or_none(r, 0);
    (void)o;
    out->type = th_onnx_input_or_none(r, 1)->type;
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++) {
        bool x = th_onnx_number(is_first, th_onnx_fold_place(out, is_first, i)) != 0;
        const th_onnx_value *v = th_onnx_input_or_none(r, x ? 1 : 2);
        th_onnx_fold_copy(out, i, v, th_onnx_fold_place(out, v, i));
    }
    return status;
}

/* ---- copies, casts and filled tensors -------------------------------------------------------- */

int th_onnx_fold_same(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    (void)o;
    if (!th_onnx_is_known(in))
        return 0;
    r->out[0].ints = in->ints;
    r->out[0].reals = in->reals;
    return 1;
}

int th_onnx_fold_cast(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    (void)o;
    if (!th_onnx_is_known(in) || out->type == TH_ONNX_STRING)
        return 0;
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++) {
        th_onnx_fold_copy(out, i, in, i);
        if (out->type == TH_ONNX_BOOL)
            out->ints[i] = th_onnx_real_number(in, i) != 0;
    }
    return status;
}

/* Two readings of one tensor of the file (in the rounds of a loop) are one constant. */
static int set_source(th_onnx_reader *r, th_onnx_value *v, const th_onnx_tensor *t)
{
    if (th_map_get(r->sources, &t, sizeof t, &v->source))
        return 0;
    v->source = (int64_t)r->values.n + 1; /* which no other value has */
    return th_map_put(r->sources, &t, sizeof t, v->source) ? th_error_no_memory(r->err) : 0;
}

int th_onnx_fold_tensor(th_onnx_reader *r, th_onnx_value *out, const th_onnx_tensor *t)
{
    int64_t n = th_onnx_elements(out);
    out->unread = t;
    if (set_source(r, out, t))
        return -1;
    bool is_external = !t->has_raw_data && th_onnx_external(t, "location");
    if (n < 0 || n > TH_ONNX_NUMBERS_MAX ||
        (n > 0 && !t->has_raw_data && !t->n_float_data && !t->n_int32_data && !t->n_int64_data &&
         !t->n_double_data && !t->n_uint64_data && !is_external))
        return 0;
    int status = th_onnx_fold_begin(r, out);
    int64_t found = 0;
    if (status > 0 && is_external && n > 0)
        found = th_onnx_external_numbers(r, t, n, out->ints, out->reals);
    else if (status > 0)
        found = th_onnx_tensor_numbers(t, TH_ONNX_NUMBERS_MAX, out->ints, out->reals);
    if (found < 0) {
        out->ints = NULL;
        out->reals = NULL;
        status = 0;
    }
    return status;
}

int th_onnx_fold_constant(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_attribute *a = r->node->attribute[0];
    (void)o;
    if (a->t)
        return th_onnx_fold_tensor(r, out, a->t);
    if (a->sparse_tensor || a->has_s)
        return 0;
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++)
        if (out->reals)
            out->reals[i] = (double)(a->n_floats ? a->floats[i] : a->f);
        else
            out->ints[i] = a->n_ints ? a->ints[i] : a->i;
    return status;
}

/* ConstantOfShape: its value, of one element, or 0. */
int th_onnx_fold_filled(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_attribute *a = th_onnx_attribute_of(r->node, "value");
    int64_t whole = 0;
    double real = 0;
    (void)o;
    if (a && a->t && th_onnx_tensor_numbers(a->t, 1, &whole, &real) != 1)
        return 0;
    int status = th_onnx_fold_begin(r, out);
    int64_t n = status > 0 ? th_onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++)
        if (out->reals)
            out->reals[i] = real;
        else
            out->ints[i] = whole;
    return status;
}

int th_onnx_fold_eye(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    int64_t shift = th_onnx_int(r->node, "k", 0);
    (void)o;
    int status = out->rank == 2 ? th_onnx_fold_begin(r, out) : 0;
    for (int64_t i = 0; status > 0 && i < out->dim[0]; i++)
        for (int64_t k = 0; k < out->dim[1]; k++)
            if (out->reals)
                out->reals[i * out->dim[1] + k] = k - i == shift;
            else
                out->ints[i * out->dim[1] + k] = k - i == shift;
    return status;
}

/* ---- numbers of shapes ----------------------------------------------------------------------- */

int th_onnx_fold_shape(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *in = th_onnx_input_or_none(r, 0);
    int64_t start = th_onnx_int(r->node, "start", 0);
    (void)o;
    start += start < 0 ? in->rank : 0;
    int status = th_onnx_fold_begin(r, out);
    for (int64_t i = 0; status > 0 && i < out->dim[0]; i++)
        out->ints[i] = in->dim[(start > 0 ? start : 0) + i];
    return status;
}

int th_onnx_fold_size(th_onnx_reader *r, const th_onnx_operator *o)
{
    (void)o;
    int status = th_onnx_fold_begin(r, &r->out[0]);
    if (status > 0)
        r->out[0].ints[0] = th_onnx_elements(th_onnx_input_or_none(r, 0));
    return status;
}

int th_onnx_fold_range(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *out = &r->out[0];
    const th_onnx_value *start = th_onnx_input_or_none(r, 0), *step = th_onnx_input_or_none(r, 2);
    (void)o;
    int status = th_onnx_fold_begin(r, out);
    for (int64_t i = 0; status > 0 && i < out->dim[0]; i++)
        if (out->reals)
            out->reals[i] =
                th_onnx_real_number(start, 0) + (double)i * th_onnx_real_number(step, 0);
        else
            out->ints[i] = binary_int(r, TH_ONNX_ADD, th_onnx_number(start, 0),
                                      binary_int(r, TH_ONNX_MUL, i, th_onnx_number(step, 0)));
    return status;
}
