/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_read.c - a mapping from a libconfig file.
 *   sets = ( { design = "NAME"; accelerators = [ "NAME", ... ]; shares = [ N, ... ]; }, ... );
 *   layers = ( { name = "LAYER"; set = N; split = { K = 2; H = 4; }; rotate = "C"; }, ... );
 * and of a layer chunks = { K = 2; } or copies = N.
 * The design "own" leaves each accelerator its own; shares may be left out. Every layer of the
 * workload stands in it exactly once, in any order. */
#include <config.h>

#include "mapper/mapping_read.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/fields.h"
#include "base/names.h"
#include "mapper/strategies.h"

typedef struct {
    const th_system *system;
    const th_workload *workload;
    th_mapping *mapping;
    bool *has_strategy; /* by layer, of a partial mapping; NULL: a whole one is read */
    th_error *err;
} reader;

typedef struct {
    char text[TH_ERROR_TEXT_MAX]; /* "FILE:LINE: " */
} line_text;

static line_text place_of(const th_config_node *g)
{
    line_text p;
    snprintf(p.text, sizeof p.text, "%s:%d: ", th_config_file(g), th_config_line(g));
    return p;
}

enum { NEAR_MAX = 300 }; /* characters of a near miss */

typedef struct near_miss {
    char text[NEAR_MAX];
} near_miss;

/* ", did you mean "NAME"?" with the most similar of n names, or "" if none is similar. */
static near_miss find_near_miss(const reader *r, const char *name,
                                const char *(*name_of)(const reader *, int), int n)
{
    near_miss out = {""};
    const char *near = NULL;
    int best = 2 + (int)strlen(name) / 4; /* further off is no near miss */
    for (int i = 0; i < n; i++) {
        int distance = th_name_distance(name, name_of(r, i));
        if (distance < best && distance < (int)strlen(name)) {
            best = distance;
            near = name_of(r, i);
        }
    }
    if (near)
        snprintf(out.text, sizeof out.text, ", did you mean \"%s\"?", near);
    return out;
}

static const char *design_name(const reader *r, int i)
{
    return r->system->designs[i].name;
}

static const char *accel_name(const reader *r, int i)
{
    return r->system->nodes[r->system->accel_node[i]].name;
}

static const char *layer_name(const reader *r, int i)
{
    return r->workload->layers[i].name;
}

static int read_accels(const reader *r, const th_config_node *list, th_set *set)
{
    for (int i = 0; i < set->n_accels; i++) {
        const th_config_node *item = th_config_at(list, i);
        const char *name;
        if (th_config_as_string(item, &name, r->err))
            return -1;
        int node = th_system_find_node(r->system, name);
        if (node < 0 || r->system->nodes[node].accel < 0)
            return th_error_set(r->err, "MAP-0013", "%s:%d: unknown accelerator \"%s\"%s",
                                th_config_file(item), th_config_line(item), name,
                                find_near_miss(r, name, accel_name, r->system->n_accels).text);
        set->accels[i] = r->system->nodes[node].accel;
    }
    return 0;
}

static int read_shares(const reader *r, const th_config_node *g, th_set *set)
{
    const th_config_node *list;
    if (th_config_child(g, "shares", false, TH_CONFIG_LIST, &list, r->err))
        return -1;
    if (!list)
        return 0;
    if (th_config_count(list) != set->n_accels)
        return th_error_set(r->err, "MAP-0089", "%s:%d: %d shares for %d accelerators",
                            th_config_file(list), th_config_line(list), th_config_count(list),
                            (int)set->n_accels);
    set->shares = th_alloc_zero((size_t)set->n_accels + 1, sizeof *set->shares);
    if (!set->shares)
        return th_error_no_memory(r->err);
    for (int i = 0; i < set->n_accels; i++) {
        int64_t share;
        if (th_config_as_int(th_config_at(list, i), 1, TH_SHARE_MAX, &share, r->err))
            return -1;
        set->shares[i] = (int32_t)share;
    }
    return 0;
}

static int read_design(const reader *r, const th_config_node *g, const char *design, th_set *set)
{
    set->design = TH_DESIGN_OWN;
    if (!design || strcmp(design, TH_DESIGN_OWN_NAME) == 0)
        return 0;
    set->design = th_system_find_design(r->system, design);
    if (set->design >= 0)
        return 0;
    return th_error_set(r->err, "MAP-0014", "%s:%d: unknown design \"%s\"%s", th_config_file(g),
                        th_config_line(g), design,
                        find_near_miss(r, design, design_name, r->system->n_designs).text);
}

/* Sets of a partial mapping are found again by their members, in this order; what shares
 * accelerators with others must give its design. */
static int check_partial_set(const reader *r, const th_config_node *g, int number)
{
    const th_set *set = &r->mapping->sets[number];
    for (int i = 0; i < number; i++) {
        const th_set *other = &r->mapping->sets[i];
        const bool is_same =
            set->n_accels == other->n_accels &&
            memcmp(set->accels, other->accels, (size_t)set->n_accels * sizeof *set->accels) == 0;
        if (is_same)
            return th_error_set(r->err, "MAP-0585",
                                "%s:%d: set %d: has the accelerators of set %d: a partial mapping "
                                "must name them once",
                                th_config_file(g), th_config_line(g), number, i);
        if ((set->design == TH_DESIGN_ANY || other->design == TH_DESIGN_ANY) &&
            th_sets_overlap(set, other))
            return th_error_set(r->err, "MAP-0586",
                                "%s:%d: set %d: shares accelerators with set %d: both must give "
                                "their designs",
                                th_config_file(g), th_config_line(g), number, i);
    }
    return 0;
}

static int read_set(const reader *r, const th_config_node *g, int number)
{
    th_set *set = &r->mapping->sets[number];
    static const char *const keys[] = {"design", "accelerators", "shares", NULL};
    const char *design = NULL;
    const th_config_node *accels;
    if (th_config_check_keys(g, keys, r->err) ||
        th_config_string(g, "design", !r->has_strategy, &design, r->err) ||
        th_config_child(g, "accelerators", true, TH_CONFIG_LIST, &accels, r->err))
        return -1;
    if (read_design(r, g, design, set) || read_accels(r, accels, set) || read_shares(r, g, set))
        return -1;
    line_text at = place_of(g);
    if (th_mapping_check_set(r->mapping, number, r->system, at.text, r->err))
        return -1;
    if (!design)
        set->design = TH_DESIGN_ANY;
    return r->has_strategy ? check_partial_set(r, g, number) : 0;
}

/* A dimension and how many ways it is cut. */
static int read_cut(const reader *r, const th_config_node *item, int *dim, int32_t *n)
{
    const char *key = th_config_key(item);
    const char *letter = strlen(key) == 1 ? strchr(th_dim_letters, key[0]) : NULL;
    int64_t ways;
    if (!letter)
        return th_error_set(r->err, "MAP-0015",
                            "%s:%d: unknown dimension \"%s\", must be one of B, K, C, H, W, R, S",
                            th_config_file(item), th_config_line(item), key);
    if (th_config_as_int(item, 1, INT32_MAX, &ways, r->err))
        return -1;
    *dim = (int)(letter - th_dim_letters);
    *n = (int32_t)ways;
    return 0;
}

static int read_split(const reader *r, const th_config_node *g, th_strategy *s)
{
    int dim;
    int32_t n;
    for (int i = 0; i < th_config_count(g); i++) {
        if (read_cut(r, th_config_at(g, i), &dim, &n))
            return -1;
        s->split[dim] = n;
    }
    return 0;
}

static int read_chunks(const reader *r, const th_config_node *layer, th_strategy *s)
{
    const th_config_node *g;
    int dim;
    int32_t n;
    if (th_config_child(layer, "chunks", false, TH_CONFIG_GROUP, &g, r->err))
        return -1;
    if (!g)
        return 0;
    if (th_config_count(g) != 1)
        return th_error_set(r->err, "MAP-0128",
                            "%s:%d: chunks: must name one dimension, but names %d",
                            th_config_file(g), th_config_line(g), th_config_count(g));
    if (read_cut(r, th_config_at(g, 0), &dim, &n))
        return -1;
    th_strategy_set_chunks(s, n, dim);
    return 0;
}

static int read_rotation(const reader *r, const th_config_node *g, th_strategy *s)
{
    const char *text = NULL;
    if (th_config_string(g, "rotate", false, &text, r->err))
        return -1;
    if (!text)
        return 0;
    const char *letter = strlen(text) == 1 ? strchr(th_dim_letters, text[0]) : NULL;
    if (!letter)
        return th_error_set(r->err, "MAP-0016", "%s:%d: rotate \"%s\" must be one of B, K, C, H, W",
                            th_config_file(g), th_config_line(g), text);
    s->rotate = (int32_t)(letter - th_dim_letters);
    return 0;
}

static int find_layer(const reader *r, const th_config_node *g, const char *name)
{
    int l = th_workload_find(r->workload, name);
    if (l < 0)
        return th_error_set(r->err, "MAP-0017", "%s:%d: workload \"%s\" has no layer \"%s\"%s",
                            th_config_file(g), th_config_line(g), r->workload->name, name,
                            find_near_miss(r, name, layer_name, r->workload->n_layers).text);
    if (r->mapping->set_of[l] >= 0)
        return th_error_set(r->err, "MAP-0018", "%s:%d: layer \"%s\" is mapped twice",
                            th_config_file(g), th_config_line(g), name);
    return l;
}

static int check_layer(const reader *r, const th_config_node *g, int l, int64_t set,
                       const th_strategy *s)
{
    line_text at = place_of(g);
    return th_strategy_check(s, &r->workload->layers[l], r->workload->batch,
                             r->mapping->sets[set].n_accels, at.text, r->err);
}

/* Allocates the fields of systems with serial transfers. */
static int need_queues(const reader *r)
{
    if (r->mapping->order || th_mapping_add_queues(r->mapping) == 0)
        return 0;
    return th_error_no_memory(r->err);
}

static int read_weights(const reader *r, const th_config_node *g, int l)
{
    int place = 0;
    if (th_config_word(g, "weights", th_weights_place_names, &place, r->err))
        return -1;
    if (!th_config_member(g, "weights"))
        return 0;
    if (need_queues(r))
        return -1;
    r->mapping->weights[l] = (uint8_t)place;
    return 0;
}

static int read_layer(const reader *r, const th_config_node *g)
{
    static const char *const keys[] = {"name",   "set",    "split",   "rotate",
                                       "chunks", "copies", "weights", NULL};
    const char *name;
    const th_config_node *split;
    int64_t set, copies = 1;
    th_strategy s = th_strategy_single;
    if (th_config_check_keys(g, keys, r->err) || th_config_string(g, "name", true, &name, r->err) ||
        th_config_int(g, "set", true, (th_int_range){0, r->mapping->n_sets - 1}, &set, r->err) ||
        th_config_child(g, "split", false, TH_CONFIG_GROUP, &split, r->err) ||
        th_config_int(g, "copies", false, (th_int_range){1, INT32_MAX}, &copies, r->err))
        return -1;
    th_strategy_set_copies(&s, (int32_t)copies);
    int l = find_layer(r, g, name);
    if (l < 0 || (split && read_split(r, split, &s)) || read_rotation(r, g, &s) ||
        read_chunks(r, g, &s) || read_weights(r, g, l))
        return -1;
    bool is_open =
        r->has_strategy && !split && s.rotate == TH_NO_ROTATION && s.chunks == 0 && s.copies == 0;
    if (!is_open && check_layer(r, g, l, set, &s))
        return -1;
    if (r->has_strategy)
        r->has_strategy[l] = !is_open;
    r->mapping->set_of[l] = (int32_t)set;
    r->mapping->strategy[l] = s;
    return 0;
}

static th_mapping *new_mapping(const reader *r, const th_config_node *sets)
{
    int n = th_config_count(sets);
    int32_t *sizes = th_alloc_zero((size_t)n + 1, sizeof *sizes);
    for (int i = 0; sizes && i < n; i++) {
        const th_config_node *accels = th_config_kind_of(th_config_at(sets, i)) == TH_CONFIG_GROUP
                                           ? th_config_member(th_config_at(sets, i), "accelerators")
                                           : NULL;
        sizes[i] = accels ? th_config_count(accels) : 0;
    }
    th_mapping *m = sizes ? th_mapping_new(n, sizes, r->workload->n_layers) : NULL;
    th_free(sizes);
    for (int l = 0; m && l < m->n_layers; l++)
        m->set_of[l] = -1;
    if (!m)
        th_error_no_memory(r->err);
    return m;
}

static int read_order(const reader *r, const th_config_node *list)
{
    const char *name;
    if (th_config_count(list) != r->workload->n_layers)
        return th_error_set(r->err, "MAP-0081",
                            "%s:%d: order: has %d layers, workload \"%s\" has %d",
                            th_config_file(list), th_config_line(list), th_config_count(list),
                            r->workload->name, r->workload->n_layers);
    if (need_queues(r))
        return -1;
    for (int i = 0; i < r->workload->n_layers; i++) {
        const th_config_node *item = th_config_at(list, i);
        if (th_config_as_string(item, &name, r->err))
            return -1;
        r->mapping->order[i] = th_workload_find(r->workload, name);
        if (r->mapping->order[i] < 0)
            return th_error_set(r->err, "MAP-0082", "%s:%d: order: unknown layer \"%s\"%s",
                                th_config_file(item), th_config_line(item), name,
                                find_near_miss(r, name, layer_name, r->workload->n_layers).text);
    }
    return 0;
}

/* order = [ "LAYER", ... ]; activations = "local" or "network"; of systems with serial transfers.
 */
static int read_queues(const reader *r, const th_config_node *root)
{
    static const char *const places[] = {"local", "network", NULL};
    const th_config_node *order;
    int place = 0;
    if (th_config_child(root, "order", false, TH_CONFIG_LIST, &order, r->err) ||
        th_config_word(root, "activations", places, &place, r->err) ||
        (order && read_order(r, order)))
        return -1;
    r->mapping->activations_cross = place == 1;
    return 0;
}

static int expect_group(const reader *r, const th_config_node *g, const char *what)
{
    if (th_config_kind_of(g) == TH_CONFIG_GROUP)
        return 0;
    return th_error_set(r->err, "MAP-0019", "%s:%d: %s must be a group { ... }", th_config_file(g),
                        th_config_line(g), what);
}

static int read_all(reader *r, const th_config_node *root)
{
    static const char *const keys[] = {"sets", "layers", "order", "activations", NULL};
    const th_config_node *sets, *layers;
    if (th_config_check_keys(root, keys, r->err) ||
        th_config_child(root, "sets", true, TH_CONFIG_LIST, &sets, r->err) ||
        th_config_child(root, "layers", true, TH_CONFIG_LIST, &layers, r->err) ||
        !(r->mapping = new_mapping(r, sets)))
        return -1;
    for (int i = 0; i < th_config_count(sets); i++)
        if (expect_group(r, th_config_at(sets, i), "a set") ||
            read_set(r, th_config_at(sets, i), i))
            return -1;
    for (int i = 0; i < th_config_count(layers); i++)
        if (expect_group(r, th_config_at(layers, i), "a layer") ||
            read_layer(r, th_config_at(layers, i)))
            return -1;
    for (int l = 0; !r->has_strategy && l < r->mapping->n_layers; l++)
        if (r->mapping->set_of[l] < 0)
            return th_error_set(
                r->err, "MAP-0020", "%s: layer \"%s\" of workload \"%s\" is left out",
                th_config_file(root), r->workload->layers[l].name, r->workload->name);
    if (read_queues(r, root))
        return -1;
    if (r->has_strategy) /* a part of a mapping */
        return 0;
    if (th_mapping_check(r->mapping, r->system, r->workload, r->err))
        return -1;
    th_mapping_find_own(r->mapping, r->workload, r->workload->batch);
    return 0;
}

static th_mapping *read_config(th_config *c, const th_system *s, const th_workload *w,
                               th_error *err)
{
    reader r = {s, w, NULL, NULL, err};
    if (!c)
        return NULL;
    int failed = read_all(&r, th_config_root(c)); /* checks every set and layer as it comes */
    th_config_close(c);
    if (!failed)
        return r.mapping;
    th_mapping_free(r.mapping);
    return NULL;
}

th_mapping *th_mapping_read(const char *path, const th_system *s, const th_workload *w,
                            th_error *err)
{
    return read_config(th_config_open(path, err), s, w, err);
}

th_mapping *th_mapping_read_text(const char *text, const char *name, const th_system *s,
                                 const th_workload *w, th_error *err)
{
    return read_config(th_config_open_text(text, name, err), s, w, err);
}

static int read_partial(th_config *file, const th_system *s, const th_workload *w,
                        th_constraints *c, th_error *err)
{
    size_t layers = (size_t)w->n_layers + 1;
    reader r = {s, w, NULL, th_alloc_zero(layers, sizeof *r.has_strategy), err};
    int failed = file && r.has_strategy ? 0 : -1;
    if (file && !r.has_strategy)
        th_error_no_memory(err);
    if (!failed)
        failed = read_all(&r, th_config_root(file));
    if (file)
        th_config_close(file);
    if (failed) {
        th_mapping_free(r.mapping);
        th_free(r.has_strategy);
        return -1;
    }
    th_mapping_free(c->partial);
    th_free(c->has_strategy);
    c->partial = r.mapping;
    c->has_strategy = r.has_strategy;
    return 0;
}

int th_mapping_read_partial(const char *path, const th_system *s, const th_workload *w,
                            th_constraints *c, th_error *err)
{
    return read_partial(th_config_open(path, err), s, w, c, err);
}

int th_mapping_read_partial_text(const char *text, const char *name, const th_system *s,
                                 const th_workload *w, th_constraints *c, th_error *err)
{
    return read_partial(th_config_open_text(text, name, err), s, w, c, err);
}
