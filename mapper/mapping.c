/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping.c - mappings: sets, designs, and the set and strategy of each layer.
 *   new -> filled in by the caller -> check -> copy, write, free */
#include <config.h>

#include "mapper/mapping.h"

#include <string.h>

#include "base/alloc.h"
#include "base/files/config_write.h"
#include "base/min_max.h"

const char *const th_generator_names[TH_N_GENERATORS] = {
    [TH_GENERATOR_GIVEN] = "given",
    [TH_GENERATOR_DYNAMIC_PROGRAMMING] = "dynamic programming",
    [TH_GENERATOR_PERTURBED] = "perturbed dynamic programming",
    [TH_GENERATOR_UNIFORM] = "uniform split",
    [TH_GENERATOR_BASELINE] = "baseline",
    [TH_GENERATOR_RANDOM] = "random",
    [TH_GENERATOR_CROSSOVER] = "crossover",
    [TH_GENERATOR_MUTATION] = "mutation",
    [TH_GENERATOR_PARTITIONING] = "other partitioning",
    [TH_GENERATOR_OVER_TIME] = "sets over time",
    [TH_GENERATOR_LOCAL_MOVE] = "local move",
    [TH_GENERATOR_ENUMERATION] = "enumeration",
};

/* --- sets --- */

bool th_set_equal(const th_set *a, const th_set *b)
{
    size_t bytes = (size_t)a->n_accels * sizeof *a->accels;
    return a->design == b->design && a->n_accels == b->n_accels && !a->shares == !b->shares &&
           memcmp(a->accels, b->accels, bytes) == 0 &&
           (!a->shares || memcmp(a->shares, b->shares, bytes) == 0);
}

int32_t th_set_design(const th_set *set, int r, const th_system *s)
{
    return set->design == TH_DESIGN_OWN ? s->nodes[s->accel_node[set->accels[r]]].a.designs[0]
                                        : set->design;
}

int32_t th_set_place(const th_set *set, int32_t accel)
{
    for (int32_t r = 0; r < set->n_accels; r++)
        if (set->accels[r] == accel)
            return r;
    return -1;
}

const char *th_set_design_name(const th_set *set, const th_system *s)
{
    return set->design == TH_DESIGN_OWN ? TH_DESIGN_OWN_NAME : s->designs[set->design].name;
}

int th_set_share(th_set *set, const int32_t *shares)
{
    int32_t *copy = NULL;
    if (shares) {
        copy = th_alloc_array((size_t)set->n_accels + 1, sizeof *copy);
        if (!copy)
            return -1;
        memcpy(copy, shares, (size_t)set->n_accels * sizeof *copy);
    }
    th_free(set->shares);
    set->shares = copy;
    return 0;
}

/* --- life --- */

th_mapping *th_mapping_new(int n_sets, const int32_t *sizes, int n_layers)
{
    th_mapping *m = th_alloc_zero(1, sizeof *m);
    if (!m)
        return NULL;
    m->sets = th_alloc_zero((size_t)n_sets + 1, sizeof *m->sets);
    m->set_of = th_alloc_zero((size_t)n_layers + 1, sizeof *m->set_of);
    m->strategy = th_alloc_zero((size_t)n_layers + 1, sizeof *m->strategy);
    m->own = th_alloc_zero((size_t)n_layers + 1, sizeof *m->own);
    if (!m->sets || !m->set_of || !m->strategy || !m->own)
        goto fail;
    m->n_layers = n_layers;
    for (m->n_sets = 0; m->n_sets < n_sets; m->n_sets++) {
        th_set *set = &m->sets[m->n_sets];
        set->n_accels = sizes[m->n_sets];
        set->accels = th_alloc_zero((size_t)set->n_accels + 1, sizeof *set->accels);
        if (!set->accels)
            goto fail;
    }
    for (int l = 0; l < n_layers; l++)
        m->strategy[l] = th_strategy_single;
    return m;
fail:
    th_mapping_free(m);
    return NULL;
}

th_mapping *th_mapping_copy(const th_mapping *m)
{
    int32_t *sizes = th_alloc_array((size_t)m->n_sets + 1, sizeof *sizes);
    for (int i = 0; sizes && i < m->n_sets; i++)
        sizes[i] = m->sets[i].n_accels;
    th_mapping *copy = sizes ? th_mapping_new(m->n_sets, sizes, m->n_layers) : NULL;
    th_free(sizes);
    if (!copy)
        return NULL;
    for (int i = 0; i < m->n_sets; i++) {
        copy->sets[i].design = m->sets[i].design;
        memcpy(copy->sets[i].accels, m->sets[i].accels,
               (size_t)m->sets[i].n_accels * sizeof *m->sets[i].accels);
        if (th_set_share(&copy->sets[i], m->sets[i].shares)) {
            th_mapping_free(copy);
            return NULL;
        }
    }
    memcpy(copy->set_of, m->set_of, (size_t)m->n_layers * sizeof *m->set_of);
    memcpy(copy->strategy, m->strategy, (size_t)m->n_layers * sizeof *m->strategy);
    memcpy(copy->own, m->own, (size_t)m->n_layers * sizeof *m->own);
    if (m->order || m->weights) {
        if (th_mapping_add_queues(copy)) {
            th_mapping_free(copy);
            return NULL;
        }
        memcpy(copy->order, m->order, (size_t)m->n_layers * sizeof *m->order);
        memcpy(copy->weights, m->weights, (size_t)m->n_layers);
    }
    copy->activations_cross = m->activations_cross;
    copy->generator = m->generator;
    return copy;
}

void th_mapping_take_strategies(th_mapping *m, const th_mapping *from_other, int from, int to)
{
    for (int l = from; l < to; l++) {
        m->strategy[l] = from_other->strategy[l];
        m->own[l] = from_other->own[l];
    }
}

int th_mapping_add_queues(th_mapping *m)
{
    int32_t *order = th_alloc_array((size_t)m->n_layers + 1, sizeof *order);
    uint8_t *weights = th_alloc_zero((size_t)m->n_layers + 1, 1);
    if (!order || !weights) {
        th_free(order);
        th_free(weights);
        return -1;
    }
    for (int l = 0; l < m->n_layers; l++)
        order[l] = l;
    m->order = order;
    m->weights = weights;
    return 0;
}

void th_mapping_free(th_mapping *m)
{
    if (!m)
        return;
    for (int i = 0; m->sets && i <= m->n_sets; i++) { /* the one that new failed at, too */
        th_free(m->sets[i].accels);
        th_free(m->sets[i].shares);
    }
    th_free(m->sets);
    th_free(m->set_of);
    th_free(m->strategy);
    th_free(m->own);
    th_free(m->order);
    th_free(m->weights);
    th_free(m);
}

static bool same_queues(const th_mapping *a, const th_mapping *b)
{
    size_t n = (size_t)a->n_layers;
    if (a->activations_cross != b->activations_cross || !a->order != !b->order)
        return false;
    return !a->order || (memcmp(a->order, b->order, n * sizeof *a->order) == 0 &&
                         memcmp(a->weights, b->weights, n) == 0);
}

bool th_mapping_same_sets(const th_mapping *a, const th_mapping *b)
{
    if (a->n_sets != b->n_sets || a->n_layers != b->n_layers)
        return false;
    for (int i = 0; i < a->n_sets; i++)
        if (!th_set_equal(&a->sets[i], &b->sets[i]))
            return false;
    return memcmp(a->set_of, b->set_of, (size_t)a->n_layers * sizeof *a->set_of) == 0;
}

bool th_mapping_equal(const th_mapping *a, const th_mapping *b)
{
    if (!th_mapping_same_sets(a, b))
        return false;
    for (int l = 0; l < a->n_layers; l++)
        if (!th_strategy_equal(&a->strategy[l], &b->strategy[l]))
            return false;
    return same_queues(a, b);
}

/* --- checks --- */

static bool can_take_design(const th_accel *a, int32_t design)
{
    for (int i = 0; i < a->n_designs; i++)
        if (a->designs[i] == design)
            return true;
    return false;
}

bool th_set_supports_design(const th_system *s, const th_set *set, int32_t design)
{
    bool can = true;
    for (int i = 0; i < set->n_accels && design != TH_DESIGN_OWN; i++)
        can &= can_take_design(&s->nodes[s->accel_node[set->accels[i]]].a, design);
    return can;
}

th_place th_mapping_find(const th_mapping *m, int32_t accel)
{
    for (int32_t set = 0; m && set < m->n_sets; set++) {
        int32_t at = th_set_place(&m->sets[set], accel);
        if (at >= 0)
            return (th_place){set, at};
    }
    return (th_place){-1, 0};
}

/* Member i, with the earlier set that it is in (-1: none): it has the same design there. */
static int check_other_set(const th_mapping *m, int set, int i, int32_t before, const th_system *s,
                           const char *prefix, th_error *err)
{
    const th_node *node = &s->nodes[s->accel_node[m->sets[set].accels[i]]];
    if (before < 0 || node->a.n_designs == 0 || m->sets[before].design < TH_DESIGN_OWN)
        return 0;
    int32_t at = th_set_place(&m->sets[before], m->sets[set].accels[i]),
            own = th_set_design(&m->sets[set], i, s),
            other = th_set_design(&m->sets[before], at, s);
    if (own == other)
        return 0;
    return th_error_set(err, "MAP-0583",
                        "%sset %d: accel/%s has design \"%s\" there, but \"%s\" in set %d: must "
                        "have one design in all of its sets",
                        prefix, set, node->name, s->designs[own].name, s->designs[other].name,
                        (int)before);
}

/* in: by accelerator, the last set up to here that has it. */
static int check_member(const th_mapping *m, int set, int i, int32_t *in, const th_system *s,
                        const char *prefix, th_error *err)
{
    int32_t accel = m->sets[set].accels[i], design = m->sets[set].design;
    if (accel < 0 || accel >= s->n_accels)
        return th_error_set(err, "MAP-0006",
                            "%sset %d: accelerator %d does not exist, must be 0 .. %d", prefix, set,
                            (int)accel, s->n_accels - 1);
    const th_node *node = &s->nodes[s->accel_node[accel]];
    int32_t before = in[accel];
    in[accel] = set;
    if (before == set)
        return th_error_set(err, "MAP-0007", "%sset %d: accel/%s is twice in it", prefix, set,
                            node->name);
    if (design != TH_DESIGN_OWN && !can_take_design(&node->a, design))
        return th_error_set(err, "MAP-0008",
                            "%sset %d: accel/%s cannot be configured with design \"%s\"", prefix,
                            set, node->name, s->designs[design].name);
    return check_other_set(m, set, i, before, s, prefix, err);
}

/* All members of the set, those of the sets before it being right. */
static int check_members(const th_mapping *m, int set, const th_system *s, const char *prefix,
                         th_error *err)
{
    int32_t *in = th_alloc_array((size_t)s->n_accels + 1, sizeof *in);
    int failed = in ? 0 : th_error_no_memory(err);
    for (int a = 0; !failed && a < s->n_accels; a++)
        in[a] = -1;
    for (int before = 0; !failed && before < set; before++)
        for (int i = 0; i < m->sets[before].n_accels; i++)
            in[m->sets[before].accels[i]] = before;
    for (int i = 0; !failed && i < m->sets[set].n_accels; i++)
        failed = check_member(m, set, i, in, s, prefix, err);
    th_free(in);
    return failed;
}

static int check_design(const th_set *set, int number, const th_system *s, const char *prefix,
                        th_error *err)
{
    if (set->design == TH_DESIGN_OWN)
        return 0;
    if (set->design < 0 || set->design >= s->n_designs)
        return th_error_set(err, "MAP-0010", "%sset %d: design %d does not exist", prefix, number,
                            (int)set->design);
    if (strcmp(s->designs[set->design].name, TH_DESIGN_OWN_NAME) == 0)
        return th_error_set(err, "MAP-0087",
                            "%sset %d: a design that is called \"" TH_DESIGN_OWN_NAME
                            "\" cannot be asked for: the word stands for each accelerator's own",
                            prefix, number);
    return 0;
}

static int check_shares(const th_set *set, int number, const char *prefix, th_error *err)
{
    for (int i = 0; set->shares && i < set->n_accels; i++)
        if (set->shares[i] < 1 || set->shares[i] > TH_SHARE_MAX)
            return th_error_set(err, "MAP-0088", "%sset %d: share %d must be 1 .. %d", prefix,
                                number, (int)set->shares[i], TH_SHARE_MAX);
    return 0;
}

int th_mapping_check_set(const th_mapping *m, int set, const th_system *s, const char *prefix,
                         th_error *err)
{
    if (m->sets[set].n_accels < 1)
        return th_error_set(err, "MAP-0009", "%sset %d has no accelerators", prefix, set);
    if (check_design(&m->sets[set], set, s, prefix, err) ||
        check_shares(&m->sets[set], set, prefix, err))
        return -1;
    return check_members(m, set, s, prefix, err);
}

/* Every layer once, after its producers. */
static int check_order(const th_mapping *m, const th_workload *w, th_error *err)
{
    int32_t *place = th_alloc_array((size_t)w->n_layers + 1, sizeof *place);
    int failed = place ? 0 : th_error_no_memory(err);
    for (int l = 0; !failed && l < w->n_layers; l++)
        place[l] = -1;
    for (int i = 0; !failed && i < w->n_layers; i++) {
        int32_t l = m->order[i];
        if (l < 0 || l >= w->n_layers || place[l] >= 0)
            failed = th_error_set(err, "MAP-0077", "order: must name every layer once");
        else
            place[l] = i;
    }
    for (int l = 0; !failed && l < w->n_layers; l++)
        for (int i = 0; !failed && i < w->layers[l].n_inputs; i++) {
            int32_t from = w->layers[l].inputs[i];
            if (from >= 0 && place[from] > place[l])
                failed = th_error_set(err, "MAP-0078",
                                      "order: layer \"%s\" must stand after \"%s\", which it reads",
                                      w->layers[l].name, w->layers[from].name);
        }
    th_free(place);
    return failed;
}

static int check_queues(const th_mapping *m, const th_system *s, const th_workload *w,
                        th_error *err)
{
    if (!s->transfers_serially && (m->order || m->activations_cross))
        return th_error_set(err, "MAP-0079",
                            "order, weights and activations: must be left out where the system's "
                            "transfers are not serial");
    return m->order ? check_order(m, w, err) : 0;
}

int th_mapping_check(const th_mapping *m, const th_system *s, const th_workload *w, th_error *err)
{
    for (int i = 0; i < m->n_sets; i++)
        if (th_mapping_check_set(m, i, s, "", err))
            return -1;
    if (m->n_layers != w->n_layers)
        return th_error_set(err, "MAP-0011", "the mapping has %d layers, workload \"%s\" has %d",
                            m->n_layers, w->name, w->n_layers);
    if (m->n_sets > m->n_layers && th_mapping_sets_overlap(m))
        return th_error_set(err, "MAP-0584",
                            "the mapping has %d sets for %d layers: sets that share accelerators "
                            "must be no more than layers",
                            (int)m->n_sets, (int)m->n_layers);
    for (int l = 0; l < m->n_layers; l++) {
        if (m->set_of[l] < 0 || m->set_of[l] >= m->n_sets)
            return th_error_set(err, "MAP-0012", "layer \"%s\" is on no set", w->layers[l].name);
        if (th_strategy_check(&m->strategy[l], &w->layers[l], w->batch,
                              m->sets[m->set_of[l]].n_accels, "", err))
            return -1;
    }
    return check_queues(m, s, w, err);
}

/* --- text --- */

/* Weights that stay at a position: none where pieces of them rotate. */
static th_box kept_weights(const th_mapping *m, const th_layer *l, int layer, int r)
{
    const th_strategy *s = &m->strategy[layer];
    th_loop_box loops = th_shard_loops(l, 1, s, m->sets[m->set_of[layer]].shares, r);
    bool rotates = th_shard_rotating(l, s) == TH_OPERAND_WEIGHT;
    return rotates ? (th_box){{0}, {0}} : th_layer_weight_box(l, &loops);
}

int64_t th_mapping_common_weight_bytes(const th_mapping *m, const th_workload *w, int a, int b,
                                       int r)
{
    const int32_t there = th_set_place(&m->sets[m->set_of[b]], m->sets[m->set_of[a]].accels[r]);
    if (there < 0)
        return 0;
    const th_box of_a = kept_weights(m, &w->layers[a], a, r),
                 of_b = kept_weights(m, &w->layers[b], b, there),
                 common = th_box_intersect(&of_a, &of_b);
    return th_shard_weight_box_bytes(&w->layers[a], &common);
}

int64_t th_mapping_kept_weight_bytes(const th_mapping *m, const th_workload *w, int layer, int r)
{
    const th_layer *l = w->layers;
    if (l[layer].tied_to == 0)
        return 0;
    int64_t own = th_mapping_common_weight_bytes(m, w, layer, layer, r), most = 0;
    for (int i = layer; i >= 0 && most < own; i--) {
        int other = i == layer ? l[layer].tied_to - 1 : i;
        if (i == layer || l[i].tied_to == l[layer].tied_to)
            most = th_max(most, th_mapping_common_weight_bytes(m, w, layer, other, r));
    }
    return most;
}

static void write_set(const th_mapping *m, int i, const th_system *s, th_strbuf *out)
{
    const th_set *set = &m->sets[i];
    th_strbuf_add(out, "  { design = ");
    th_config_put_text(out, th_set_design_name(set, s));
    for (int a = 0; a < set->n_accels; a++) {
        th_strbuf_add(out, a ? ", " : "; accelerators = [ ");
        th_config_put_text(out, s->nodes[s->accel_node[set->accels[a]]].name);
    }
    th_strbuf_printf(out, " ]; ");
    for (int a = 0; set->shares && a < set->n_accels; a++)
        th_strbuf_printf(out, "%s%d", a ? ", " : "shares = [ ", (int)set->shares[a]);
    th_strbuf_printf(out, "%s}%s\n", set->shares ? " ]; " : "", i + 1 < m->n_sets ? "," : "");
}

const char *const th_weights_place_names[] = {"auto", "pinned", "streamed", NULL};

static void write_queues(const th_mapping *m, const th_workload *w, th_strbuf *out)
{
    if (m->activations_cross)
        th_strbuf_printf(out, "activations = \"network\";\n");
    if (!m->order)
        return;
    th_strbuf_printf(out, "order = [");
    for (int i = 0; i < m->n_layers; i++) {
        th_strbuf_add(out, i ? ", " : "");
        th_config_put_text(out, w->layers[m->order[i]].name);
    }
    th_strbuf_printf(out, "];\n");
}

static void write_layer(const th_mapping *m, int l, const th_workload *w, th_strbuf *out)
{
    const th_strategy *s = &m->strategy[l];
    const char *separator = "";
    th_strbuf_add(out, "  { name = ");
    th_config_put_text(out, w->layers[l].name);
    th_strbuf_printf(out, "; set = %d; split = { ", (int)m->set_of[l]);
    for (int d = 0; d < TH_N_DIMS; d++) {
        if (s->split[d] > 1) {
            th_strbuf_printf(out, "%s%c = %d;", separator, th_dim_letters[d], (int)s->split[d]);
            separator = " ";
        }
    }
    th_strbuf_printf(out, " }; ");
    if (m->weights && m->weights[l] != TH_WEIGHTS_AUTO)
        th_strbuf_printf(out, "weights = \"%s\"; ", th_weights_place_names[m->weights[l]]);
    if (s->rotate != TH_NO_ROTATION)
        th_strbuf_printf(out, "rotate = \"%c\"; ", th_dim_letters[s->rotate]);
    if (s->chunks > 0)
        th_strbuf_printf(out, "chunks = { %c = %d; }; ", th_dim_letters[s->chunk_dim],
                         (int)s->chunks);
    if (s->copies > 0)
        th_strbuf_printf(out, "copies = %d; ", (int)s->copies);
    th_strbuf_printf(out, "}%s\n", l + 1 < m->n_layers ? "," : "");
}

void th_mapping_write(const th_mapping *m, const th_system *s, const th_workload *w, th_strbuf *out)
{
    th_strbuf_printf(out, "# mapping of %s (batch %d) onto %s\n", w->name, (int)w->batch, s->name);
    th_strbuf_printf(out, "sets = (\n");
    for (int i = 0; i < m->n_sets; i++)
        write_set(m, i, s, out);
    th_strbuf_printf(out, ");\nlayers = (\n");
    for (int l = 0; l < m->n_layers; l++)
        write_layer(m, l, w, out);
    th_strbuf_printf(out, ");\n");
    write_queues(m, w, out);
}
