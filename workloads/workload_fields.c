/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_fields.c - see workload_fields.h. */
#include <config.h>
#include "workloads/workload_fields.h"

#include "base/alloc.h"
#include "base/files/config_write.h"

static const char *const shape_names[] = {"matched", "free", "own", NULL};
static const char *const model_shape_names[] = {"matched", "own", NULL};

#define INPUT_EXTENT(key, member, text)                                                            \
    {                                                                                              \
        key, TH_FIELD_AT(th_model, member), TH_FIELD_INT, TH_FIELD_REQUIRED, 1, TH_LARGEST_EXTENT, \
            .says = text                                                                           \
    }

const th_field th_workload_fields[] = {
    {"name", .says = "of the workload",
     .otherwise = "the file's name without folder and extension"},
    {"batch", TH_FIELD_AT(th_workload_head, batch), TH_FIELD_INT, TH_FIELD_ALWAYS, 1,
     TH_LARGEST_EXTENT, .absent = 1, .says = "inputs computed together"},
    {"element_bytes", .says = "1, 2 or 4, instead of `precision`: `int8`, `fp16`, `fp32`"},
    {"precision", TH_FIELD_AT(th_workload_head, precision), TH_FIELD_WORD, TH_FIELD_ALWAYS,
     .absent = TH_FP16, .words = th_precision_names,
     .says = "of the input, and of weights and outputs where a layer does not say"},
    {"input", .flags = TH_FIELD_REQUIRED, .says = "one input, see below"},
    {"models", .says = "the networks that it is made of, see below", .otherwise = "one"},
    {"shapes", TH_FIELD_AT(th_workload_head, shapes), TH_FIELD_WORD, .words = shape_names,
     .says = "`\"free\"`: the input shape of a layer may differ from the shapes of its producers "
             "([models/h2h.md](models/h2h.md)); `\"own\"`: every layer that reads the workload's "
             "input has an input of its own, with its `in_channels`, `in_height`, `in_width`"},
    {"layers", .flags = TH_FIELD_REQUIRED, .says = "list of layers, in any order"},
    {NULL}};

const th_field th_input_fields[] = {
    INPUT_EXTENT("channels", input_c, "of one input"),
    INPUT_EXTENT("height", input_h, "of one input; a text's or a sequence's length"),
    INPUT_EXTENT("width", input_w, "of one input"),
    {"density", TH_FIELD_AT(th_model, density), TH_FIELD_NUMBER, TH_FIELD_ABOVE, .max = 1,
     .absent = 1, .says = "the part of it that is not zero"},
    {NULL}};

static int read_name(const th_config_node *g, void *base, th_error *err)
{
    const char *name;
    th_model *m = base;
    if (th_config_string(g, "name", true, &name, err) < 0)
        return -1;
    m->name = th_alloc_string(name);
    return m->name ? 0 : th_error_no_memory(err);
}

static void put_name(th_strbuf *out, const void *base)
{
    th_config_put_text(out, ((const th_model *)base)->name);
}

const th_field th_model_fields[] = {
    {"name", .flags = TH_FIELD_REQUIRED, .read = read_name, .put = put_name,
     .says = "of the model; its layers are called `NAME/LAYER`"},
    {"layers", TH_FIELD_AT(th_model, n_layers), TH_FIELD_INT, TH_FIELD_REQUIRED, 1,
     TH_LARGEST_EXTENT,
     .says = "how many of the layers are its own, behind those of the model before"},
    {"input", .flags = TH_FIELD_REQUIRED, .says = "as that of the file"},
    {"precision", TH_FIELD_AT(th_model, precision), TH_FIELD_WORD, TH_FIELD_ALWAYS,
     .absent = TH_FP16, .words = th_precision_names, .says = "of its input"},
    {"shapes", TH_FIELD_AT(th_model, has_own_inputs), TH_FIELD_WORD, .words = model_shape_names,
     .says = "as that of the file"},
    {"arrival", TH_FIELD_AT(th_model, arrival_ps), TH_FIELD_TIME, .says = "of its first input"},
    {"deadline", TH_FIELD_AT(th_model, deadline_ps), TH_FIELD_TIME,
     .says = "of every input, after its arrival", .otherwise = "none"},
    {NULL}};
