/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_read.c - a workload from a libconfig file: names first, then edges, then shapes.
 *   read_head -> add_layers -> resolve_inputs -> th_workload_sort -> infer_shapes -> finish
 * A layer may be written before its producers, so shapes are inferred in the order of the graph,
 * each layer from its inputs (layer_types_read.c). What the file states besides (in_channels,
 * height, width ...) is compared with what was inferred. An attention becomes several layers; its
 * name stands for the last of them where others read it. */
#include <config.h>
#include "workloads/workload_read.h"
#include "workloads/layer_types_read.h"
#include "workloads/workload_check.h"
#include "workloads/workload_fields.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/names.h"
#include "base/files/text_file.h"
#include "base/strbuf.h"

#include <string.h>

/* Where a layer comes from, by its number in the file. */
typedef struct entry {
    const th_config_node *n;
    const th_layer_type *type;
    int32_t first;        /* the first layer that this group of the file stands for */
    bool is_part, packed; /* of an attention; of one that reads queries, keys and values in one */
} entry;

typedef struct reader {
    th_workload *w;
    const th_config_node *layers;
    entry *entries;
    th_map *position; /* layer name -> number in the file */
    th_error *err;
} reader;

/* ---- names ---- */

/* A layer without shape and inputs yet: its name, kind and line. The entries grow as th_workload's
 * layers do: their capacity is the power of two >= n. */
static int add_entry(reader *r, const entry *e, const char *name)
{
    int n = r->w->n_layers;
    if ((n & (n - 1)) == 0) {
        entry *grown = th_realloc_array(r->entries, n ? 2 * (size_t)n : 1, sizeof *grown);
        if (!grown)
            return th_error_no_memory(r->err);
        r->entries = grown;
    }
    const th_precision p = r->w->precision;
    const th_layer l = {.name = (char *)name,
                        .kind = e->type->kind,
                        .line = th_config_line(e->n),
                        .dim[TH_DIM_B] = r->w->batch,
                        .function = e->type->function,
                        .precision = {p, p, p},
                        .density = {1, 1, 1},
                        .up_h = 1,
                        .up_w = 1,
                        .stride_h = 1,
                        .stride_w = 1,
                        .dilation_h = 1,
                        .dilation_w = 1,
                        .groups = 1,
                        .is_mean_pool = e->type->is_mean};
    r->entries[n] = *e;
    return th_workload_add_layer(r->w, &l, r->err) < 0 ? -1 : 0;
}

static int add_parts(reader *r, entry *e, const th_layer_type *parts, const char *name)
{
    th_strbuf text = TH_STRBUF_INIT;
    int status = 0;
    e->is_part = true;
    for (int i = 0; status == 0 && parts[i].name; i++) {
        th_strbuf_clear(&text);
        th_strbuf_printf(&text, "%s.%s", name, parts[i].name);
        e->type = &parts[i];
        status = text.failed ? th_error_no_memory(r->err) : add_entry(r, e, text.text);
    }
    th_strbuf_clear(&text);
    return status;
}

static int add_layer(reader *r, const th_config_node *n)
{
    const char *name;
    if (th_config_kind_of(n) != TH_CONFIG_GROUP)
        return th_error_set(r->err, "WORK-0025",
                            "%s:%d: a layer must be a group: { name = ...; type = ...; }",
                            th_config_file(n), th_config_line(n));
    entry e = {.n = n,
               .type = th_layer_type_of(n, r->err),
               .first = r->w->n_layers,
               .packed = th_attention_is_packed(n)};
    if (!e.type || th_config_string(n, "name", true, &name, r->err) < 0)
        return -1;
    if (strcmp(name, "input") == 0)
        return th_error_set(r->err, "WORK-0026",
                            "%s:%d: \"input\" is what layers call the workload's input; "
                            "no layer may have this name",
                            th_config_file(n), th_config_line(n));
    const th_layer_type *parts = th_attention_parts(e.type, e.packed);
    return parts ? add_parts(r, &e, parts, name) : add_entry(r, &e, name);
}

static const char *name_in_file(const entry *e)
{
    const char *name = "";
    th_config_string(e->n, "name", true, &name, NULL);
    return name;
}

/* An attention's name stands for its last part. */
static int put_attention(const reader *r, int layer)
{
    const entry *e = &r->entries[layer];
    const char *name = name_in_file(e);
    int64_t taken;
    if (!e->is_part || e->type->is_inner)
        return 0;
    if (th_map_get(r->position, name, strlen(name), &taken))
        return th_workload_layer_error(r->w, &r->w->layers[taken], r->err, "WORK-0045",
                                       "the name is taken by the attention of line %d; names must "
                                       "be unique",
                                       th_config_line(e->n));
    if (th_map_put(r->position, name, strlen(name), layer) < 0)
        return th_error_no_memory(r->err);
    return 0;
}

static int add_layers(reader *r)
{
    for (int i = 0; i < th_config_count(r->layers); i++)
        if (add_layer(r, th_config_at(r->layers, i)) < 0)
            return -1;
    if (th_workload_check_names(r->w, r->err) < 0)
        return -1;
    for (int i = 0; i < r->w->n_layers; i++) {
        const char *name = r->w->layers[i].name;
        if (th_map_put(r->position, name, strlen(name), i) < 0)
            return th_error_no_memory(r->err);
    }
    for (int i = 0; i < r->w->n_layers; i++)
        if (put_attention(r, i) < 0)
            return -1;
    return 0;
}

/* ---- edges ---- */

static int report_unknown_input(const reader *r, const th_layer *l, const char *name)
{
    size_t n = (size_t)r->w->n_layers;
    char near[TH_ERROR_TEXT_MAX] = "";
    const char **names = th_alloc_array(2 * n, sizeof *names);
    if (names) {
        for (size_t i = 0; i < n; i++) {
            names[2 * i] = r->w->layers[i].name;
            names[2 * i + 1] = name_in_file(&r->entries[i]);
        }
        th_read_hint(th_name_nearest(name, names, 2 * n), near, sizeof near);
    }
    th_free(names);
    return th_workload_layer_error(r->w, l, r->err, "WORK-0027",
                                   "input \"%s\" is neither a layer nor \"input\"%s", name, near);
}

static int resolve_input(const reader *r, const th_layer *l, const th_config_node *n, int32_t *out)
{
    const char *name;
    int64_t position;
    if (th_config_as_string(n, &name, r->err) < 0)
        return -1;
    if (strcmp(name, "input") == 0)
        position = TH_EXTERNAL_INPUT;
    else if (!th_map_get(r->position, name, strlen(name), &position))
        return report_unknown_input(r, l, name);
    *out = (int32_t)position;
    return 0;
}

/* inputs = "a"; or ("a", "b"); absent: the layer written before this one, the workload's input at
 * first. *out is to be freed. Returns how many, or -1. */
static int resolve_given(const reader *r, int layer, int32_t **out)
{
    const entry *e = &r->entries[layer];
    const th_config_node *n = th_config_member(e->n, "inputs");
    bool is_list = n && th_config_kind_of(n) == TH_CONFIG_LIST;
    int count = is_list ? th_config_count(n) : 1;
    *out = th_alloc_array((size_t)count, sizeof **out);
    if (!*out)
        return th_error_no_memory(r->err);
    if (!n)
        (*out)[0] = e->first - 1; /* TH_EXTERNAL_INPUT for the first */
    for (int i = 0; n && i < count; i++)
        if (resolve_input(r, &r->w->layers[layer], is_list ? th_config_at(n, i) : n, &(*out)[i]) <
            0)
            return -1;
    return count;
}

/* weights_of = "NAME"; absent: weights of its own. */
static int resolve_weights(const reader *r, int layer)
{
    const char *name = NULL;
    int64_t position = -1;
    if (th_config_string(r->entries[layer].n, "weights_of", false, &name, r->err) < 0)
        return -1;
    if (name && !th_map_get(r->position, name, strlen(name), &position))
        return th_workload_layer_error(r->w, &r->w->layers[layer], r->err, "WORK-0649",
                                       "weights_of \"%s\": must be a layer", name);
    r->w->layers[layer].tied_to = 1 + (int32_t)position;
    return 0;
}

/* In place: from what the attention reads to what this part of it reads. */
static int resolve_part(const reader *r, int layer, int n_given)
{
    th_layer *l = &r->w->layers[layer];
    const entry *e = &r->entries[layer];
    int32_t given[3] = {0}, inputs[2];
    if (n_given != (e->packed ? 1 : 3))
        return th_workload_layer_error(r->w, l, r->err, "WORK-0046",
                                       "%d inputs: an attention takes queries, keys and values, or "
                                       "one input that holds all three",
                                       n_given);
    memcpy(given, l->inputs, (size_t)n_given * sizeof *given);
    int n = th_attention_inputs(e->type, e->packed, given, e->first, inputs);
    int32_t *grown = th_realloc_array(l->inputs, (size_t)n, sizeof *grown);
    if (!grown)
        return th_error_no_memory(r->err);
    l->inputs = grown;
    l->n_inputs = n;
    memcpy(l->inputs, inputs, (size_t)n * sizeof *inputs);
    return 0;
}

static int resolve_inputs(const reader *r)
{
    for (int i = 0; i < r->w->n_layers; i++) {
        int count = resolve_given(r, i, &r->w->layers[i].inputs);
        if (count < 0 || resolve_weights(r, i) < 0)
            return -1;
        r->w->layers[i].n_inputs = count;
        if (r->entries[i].is_part && resolve_part(r, i, count) < 0)
            return -1;
    }
    return 0;
}

/* ---- shapes, in the order of the graph ---- */

static int infer_shapes(const reader *r)
{
    for (int i = 0; i < r->w->n_layers; i++) {
        th_layer *l = &r->w->layers[i];
        int64_t position = 0;
        th_map_get(r->position, l->name, strlen(l->name), &position);
        const entry *e = &r->entries[position];
        const th_layer_source source = {r->w, l, e->n, r->err};
        if (th_layer_type_infer(&source, e->type) < 0)
            return -1;
    }
    return 0;
}

/* ---- the file ---- */

/* "models/vgg16.cfg" names a workload "vgg16". */
static char *name_of_file(const char *path)
{
    int length;
    char *name = th_alloc_string(th_file_stem(path, &length));
    if (name)
        name[length] = '\0';
    return name;
}

/* Names stand in the heads of reports and of files that are read again: one line, and not nothing.
 */
static int check_title(reader *r, const th_config_node *root, const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            name = "";
    if (name[0] != '\0' && strlen(name) <= TH_NAME_BYTES_MAX)
        return 0;
    return th_error_set(r->err, "WORK-0028",
                        "%s:%d: a workload's name must be one line of text, at most %d bytes",
                        th_config_file(root), th_config_line(root), (int)TH_NAME_BYTES_MAX);
}

/* element_bytes = 1, 2, 4 for int8, fp16, fp32, in place of the precision. */
static int read_element_bytes(const reader *r, const th_config_node *root, int32_t *precision)
{
    const th_config_node *n = th_config_member(root, "element_bytes");
    int64_t bytes = 2;
    if (!n)
        return 0;
    if (th_config_int(root, "element_bytes", false, (th_int_range){1, 4}, &bytes, r->err) < 0)
        return -1;
    if (bytes == 3)
        return th_error_set(r->err, "WORK-0029",
                            "%s:%d: key \"element_bytes\": must be 1, 2 or 4, not 3",
                            th_config_file(n), th_config_line(n));
    const th_config_node *both = th_config_member(root, "precision");
    if (both)
        return th_error_set(
            r->err, "WORK-0047",
            "%s:%d: key \"precision\": must not be given beside element_bytes, which "
            "stands in its place",
            th_config_file(both), th_config_line(both));
    *precision = bytes == 1 ? TH_INT8 : bytes == 2 ? TH_FP16 : TH_FP32;
    return 0;
}

static int read_model(const reader *r, const th_config_node *n, th_model *m)
{
    if (th_config_kind_of(n) != TH_CONFIG_GROUP)
        return th_error_set(r->err, "WORK-0820",
                            "%s:%d: a model must be a group: { name = ...; layers = ...; }",
                            th_config_file(n), th_config_line(n));
    return th_fields_read(th_model_fields, n, m, r->err) < 0
               ? -1
               : th_fields_read_group(th_input_fields, n, "input", true, m, r->err);
}

/* models = ( ... ): they take the layers in turn. */
static int read_models(reader *r, const th_config_node *root)
{
    const th_config_node *list = NULL;
    if (th_config_child(root, "models", false, TH_CONFIG_LIST, &list, r->err) < 0)
        return -1;
    int n = list ? th_config_count(list) : 0;
    if (n > 0 && !(r->w->models = th_alloc_zero((size_t)n, sizeof *r->w->models)))
        return th_error_no_memory(r->err);
    for (int i = 0; i < n; i++) {
        th_model *m = &r->w->models[r->w->n_models++];
        if (i > 0)
            m->first_layer = m[-1].first_layer + m[-1].n_layers;
        if (read_model(r, th_config_at(list, i), m) < 0)
            return -1;
    }
    return 0;
}

/* Every layer belongs to one model, and reads no tensors or weights of others. */
static int check_models(const reader *r)
{
    const th_workload *w = r->w;
    const th_model *last = w->n_models > 0 ? &w->models[w->n_models - 1] : NULL;
    if (last && last->first_layer + last->n_layers != w->n_layers)
        return th_error_set(r->err, "WORK-0821", "%s: models of %d layers, but there are %d",
                            w->file, (int)(last->first_layer + last->n_layers), w->n_layers);
    for (int l = 0, part = 0; last && l < w->n_layers; l++) {
        const th_layer *layer = &w->layers[l];
        part = th_workload_part_of(w, l, part);
        for (int i = 0; i <= layer->n_inputs; i++) {
            int read = i < layer->n_inputs ? layer->inputs[i] : layer->tied_to - 1;
            if (read >= 0 && th_workload_part_of(w, read, part) != part)
                return th_workload_layer_error(w, layer, r->err, "WORK-0822",
                                               "reads from layer \"%s\", which is of another model",
                                               w->layers[read].name);
        }
    }
    return 0;
}

static int make_workload(reader *r, const th_config_node *root, const char *name,
                         const th_workload_input *input)
{
    const char *file = th_config_file(root);
    char *default_name = name_of_file(file);
    if (!default_name)
        return th_error_no_memory(r->err);
    r->w = th_workload_new(name ? name : default_name, file, input, r->err);
    th_free(default_name);
    return r->w ? read_models(r, root) : -1;
}

static int read_head(reader *r, const th_config_node *root, int32_t batch)
{
    const char *name = NULL;
    th_workload_head h;
    th_model m = {0};
    if (th_fields_read(th_workload_fields, root, &h, r->err) < 0 ||
        th_config_string(root, "name", false, &name, r->err) < 0 ||
        (name && check_title(r, root, name) < 0) || read_element_bytes(r, root, &h.precision) < 0 ||
        th_fields_read_group(th_input_fields, root, "input", true, &m, r->err) < 0 ||
        th_config_child(root, "layers", true, TH_CONFIG_LIST, &r->layers, r->err) < 0 ||
        make_workload(r, root, name,
                      &(th_workload_input){batch > 0 ? batch : h.batch, m.input_c, m.input_h,
                                           m.input_w, (th_precision)h.precision}) < 0)
        return -1;
    r->w->density = m.density;
    r->w->has_free_shapes = h.shapes == TH_SHAPES_FREE;
    r->w->has_own_inputs = h.shapes == TH_SHAPES_OWN;
    return 0;
}

/* Closes c in any case. */
static th_workload *read_config(th_config *c, int32_t batch, th_error *err)
{
    if (!c)
        return NULL;
    reader r = {.position = th_map_new(), .err = err};
    int status = r.position ? 0 : th_error_no_memory(err);
    if (status == 0 &&
        (read_head(&r, th_config_root(c), batch) < 0 || add_layers(&r) < 0 ||
         resolve_inputs(&r) < 0 || th_workload_sort(r.w, err) < 0 || check_models(&r) < 0 ||
         infer_shapes(&r) < 0 || th_workload_finish(r.w, err) < 0))
        status = -1;
    if (status < 0) {
        th_workload_free(r.w);
        r.w = NULL;
    }
    th_free(r.entries);
    th_map_free(r.position);
    th_config_close(c);
    return r.w;
}

th_workload *th_workload_read(const char *path, int32_t batch, th_error *err)
{
    return read_config(th_config_open(path, err), batch, err);
}

th_workload *th_workload_read_text(const char *text, const char *name, int32_t batch, th_error *err)
{
    return read_config(th_config_open_text(text, name, err), batch, err);
}
