/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_read.c - see profile_read.h.
 *   sum up the kernels by the operator that launched them ("External id") -> a line for each
 *       operator
 * An operator that calls others has no kernels of its own, so that no kernel counts twice. */
#include <config.h>
#include "predictor/data/profile_read.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/notes.h"

enum { MOST_DIMS = 4 };

/* What is launched by one operator. */
typedef struct launch {
    json_int_t id, device;
    double us;
} launch;

typedef struct profile {
    const th_measurement_source *source;
    json_t *events, *devices;
    launch *launches; /* by id */
    size_t n_launches, capacity;
    int n_rows, n_other, n_unknown; /* operators that are read, and those that are left out */
    th_strbuf *out;
} profile;

bool th_profile_is(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return *text == '{' || *text == '[';
}

/* "cpu_op" and "kernel"; older versions write "Kernel". */
static bool is_of(const json_t *event, const char *category)
{
    const char *cat = json_string_value(json_object_get(event, "cat"));
    return cat && strcasecmp(cat, category) == 0;
}

static const json_t *id_of(const json_t *event)
{
    const json_t *args = json_object_get(event, "args"), *id = json_object_get(args, "External id");
    return id ? id : json_object_get(args, "external id");
}

/* ---- kernels ---- */

static int by_id(const void *a, const void *b)
{
    json_int_t x = ((const launch *)a)->id, y = ((const launch *)b)->id;
    return (x > y) - (x < y);
}

static int sum_launches(profile *p, th_error *err)
{
    size_t i, n = 0;
    json_t *event;
    json_array_foreach(p->events, i, event)
    {
        double us = json_number_value(json_object_get(event, "dur"));
        json_t *args = json_object_get(event, "args");
        if (!is_of(event, "kernel") || !json_is_integer(id_of(event)) || !(us > 0))
            continue;
        if (th_grow(&p->launches, &p->capacity, p->n_launches + 1, sizeof *p->launches))
            return th_error_no_memory(err);
        p->launches[p->n_launches++] =
            (launch){json_integer_value(id_of(event)),
                     json_integer_value(json_object_get(args, "device")), us};
    }
    if (p->n_launches > 0)
        qsort(p->launches, p->n_launches, sizeof *p->launches, by_id);
    for (i = 0; i < p->n_launches; i++)
        if (n > 0 && p->launches[n - 1].id == p->launches[i].id)
            p->launches[n - 1].us += p->launches[i].us;
        else
            p->launches[n++] = p->launches[i];
    p->n_launches = n;
    return 0;
}

/* ---- operators ---- */

/* The lengths of an operator's input; their number, 0: not known. */
static int dims_of(const json_t *args, size_t input, json_int_t dims[static MOST_DIMS])
{
    const json_t *list = json_array_get(json_object_get(args, "Input Dims"), input);
    size_t n = json_array_size(list);
    if (n > MOST_DIMS)
        return 0;
    for (size_t i = 0; i < n; i++)
        if ((dims[i] = json_integer_value(json_array_get(list, i))) < 1)
            return 0;
    return (int)n;
}

static const char *precision_of(const json_t *args)
{
    static const char *const names[][2] = {
        {"float", "fp32"}, {"c10::Half", "fp16"}, {"c10::BFloat16", "bf16"}};
    const char *type = json_string_value(json_array_get(json_object_get(args, "Input type"), 0));
    for (size_t i = 0; type && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], type) == 0)
            return names[i][1];
    return NULL;
}

/* An input that is no tensor; "": it is not known. */
static const char *concrete_of(const json_t *args, size_t input)
{
    const char *text =
        json_string_value(json_array_get(json_object_get(args, "Concrete Inputs"), input));
    return text ? text : "";
}

/* "[3, 2]": both axes. */
static bool pair_of(const json_t *args, size_t input, int out[static 2])
{
    return sscanf(concrete_of(args, input), "[%d, %d]", &out[0], &out[1]) == 2 && out[0] >= 0 &&
           out[1] >= 0;
}

/* kind,bias,batch,rows,channels_in,channels_out,in_h,in_w,kernel_h,kernel_w,stride_h,stride_w,
 * pad_h,pad_w. False: not what is known. */
static bool put_convolution(th_strbuf *out, const json_t *args)
{
    json_int_t x[MOST_DIMS], w[MOST_DIMS];
    int pad[2], stride[2], dilation[2];
    if (dims_of(args, 0, x) != 4 || dims_of(args, 1, w) != 4 || x[1] != w[1] ||
        !pair_of(args, 2, pad) || !pair_of(args, 3, stride) || !pair_of(args, 4, dilation) ||
        dilation[0] != 1 || dilation[1] != 1 || strcmp(concrete_of(args, 5), "1") != 0)
        return false;
    th_strbuf_printf(out, "conv,0,%lld,,%lld,%lld,%lld,%lld,%lld,%lld,%d,%d,%d,%d", x[0], x[1],
                     w[0], x[2], x[3], w[2], w[3], stride[0], stride[1], 2 * pad[0], 2 * pad[1]);
    return true;
}

/* has_bias: it is the first input. */
static bool put_product(th_strbuf *out, const json_t *args, bool has_bias, int n)
{
    json_int_t a[MOST_DIMS], b[MOST_DIMS];
    if (dims_of(args, has_bias, a) != n || dims_of(args, has_bias + 1u, b) != n ||
        a[n - 1] != b[n - 2])
        return false;
    if (n == 2)
        th_strbuf_printf(out, "dense,%d,%lld,,%lld,%lld,,,,,,,,", has_bias, a[0], a[1], b[1]);
    else
        th_strbuf_printf(out, "matmul,,%lld,%lld,%lld,%lld,,,,,,,,", a[0], a[1], a[2], b[2]);
    return true;
}

/* What is read; n 0: a convolution, else of a product the axes of its factors. */
static const struct {
    const char *name;
    int n;
    bool has_bias;
} known[] = {{"aten::cudnn_convolution", 0, false},
             {"aten::addmm", 2, true},
             {"aten::mm", 2, false},
             {"aten::bmm", 3, false}};
enum { N_KNOWN = sizeof known / sizeof *known };

static const char *device_of(const profile *p, json_int_t id)
{
    size_t i;
    json_t *device;
    json_array_foreach(p->devices, i, device)
    {
        if (json_integer_value(json_object_get(device, "id")) == id)
            return json_string_value(json_object_get(device, "name"));
    }
    return NULL;
}

static void put_row(profile *p, const json_t *event, const launch *l)
{
    const json_t *args = json_object_get(event, "args");
    const char *name = json_string_value(json_object_get(event, "name"));
    const char *precision = precision_of(args), *device = device_of(p, l->device);
    int k = 0;
    while (k < N_KNOWN && (!name || strcmp(name, known[k].name) != 0))
        k++;
    p->n_other += k == N_KNOWN;
    if (k == N_KNOWN)
        return;
    if (!precision || !(known[k].n > 0 ? put_product(p->out, args, known[k].has_bias, known[k].n)
                                       : put_convolution(p->out, args))) {
        p->n_unknown++;
        return;
    }
    th_strbuf_printf(p->out, ",%s,execution,%.9g,%s", precision, l->us, name);
    json_int_t w[MOST_DIMS];
    int n = dims_of(args, known[k].has_bias + 1u, w);
    for (int i = 0; i < n; i++)
        th_strbuf_printf(p->out, "%c%lld", i == 0 ? ' ' : 'x', w[i]);
    if (!p->source->device)
        th_strbuf_printf(p->out, ",\"%.100s\"", device && !strchr(device, '"') ? device : "");
    th_strbuf_add(p->out, "\n");
    p->n_rows++;
}

static int put_rows(profile *p, th_error *err)
{
    size_t i;
    json_t *event;
    th_strbuf_printf(p->out,
                     "kind,bias,batch,rows,channels_in,channels_out,in_h,in_w,kernel_h,kernel_w,"
                     "stride_h,stride_w,pad_h,pad_w,precision,phase,time_us,group%s\n",
                     p->source->device ? "" : ",device");
    json_array_foreach(p->events, i, event)
    {
        launch key = {.id = json_integer_value(id_of(event))};
        const launch *l = p->n_launches > 0 && is_of(event, "cpu_op")
                              ? bsearch(&key, p->launches, p->n_launches, sizeof key, by_id)
                              : NULL;
        if (l)
            put_row(p, event, l);
    }
    if (p->n_rows == 0)
        th_note(p->source->notes, "no operator with kernels that is read");
    if (p->n_other > 0)
        th_note(p->source->notes, "%d operators of kinds that are not read: left out", p->n_other);
    if (p->n_unknown > 0)
        th_note(p->source->notes,
                "%d operators without shapes, of another precision, dilated or in groups: left out",
                p->n_unknown);
    return p->out->failed ? th_error_no_memory(err) : 0;
}

int th_profile_rows(const th_measurement_source *s, th_strbuf *text, th_error *err)
{
    json_error_t problem;
    th_strbuf rows = TH_STRBUF_INIT;
    json_t *root = json_loadb(text->text, text->length, 0, &problem);
    json_t *list = json_is_array(root) ? root : json_object_get(root, "traceEvents");
    profile p = {.source = s,
                 .events = list,
                 .devices = json_object_get(root, "deviceProperties"),
                 .out = &rows};
    int status = !root ? th_error_set(err, "PRED-0609", "%s:%d: not JSON: %s", s->path,
                                      problem.line > 0 ? problem.line : 1, problem.text)
                 : !json_is_array(list)
                     ? th_error_set(err, "PRED-0610",
                                    "%s: must have the list \"traceEvents\" of a profiler", s->path)
                     : 0;
    if (status == 0 && (sum_launches(&p, err) != 0 || put_rows(&p, err) != 0))
        status = -1;
    th_free(p.launches);
    json_decref(root);
    th_strbuf_clear(text);
    *text = rows;
    return status;
}
