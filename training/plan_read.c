/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_read.c - a parallel plan from a libconfig file: plan = { global_batch = 8; ... };
 * numbers = { ... }. Keys are options of parallel_plan, and have their defaults. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/config_read.h"
#include "base/names.h"
#include "training/plan_file.h"

enum { DEGREE_MAX = 1 << 16, BATCH_MAX = 1 << 24 };

/* An integer member; 0 where it is absent. */
static int read_int(const th_config_node *g, const char *key, th_int_range range, int32_t *out,
                    th_error *err)
{
    int64_t x = 0;
    if (th_config_int(g, key, false, range, &x, err))
        return -1;
    *out = (int32_t)x;
    return 0;
}

/* The position of a text in a list that ends in NULL. */
static int position(const th_config_node *at, const char *key, const char *text,
                    const char *const *names, th_error *err)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    char what[100];
    snprintf(what, sizeof what, "%.60s:%d: %.20s", th_config_file(at), th_config_line(at), key);
    return th_error_unknown(err, "MAP-0441", what, text, names);
}

/* A text member, as its position; absent: the first. -1 on failure. */
static int read_choice(const th_config_node *g, const char *key, const char *const *names,
                       th_error *err)
{
    const char *text = NULL;
    if (th_config_string(g, key, false, &text, err))
        return -1;
    return text ? position(th_config_member(g, key), key, text, names, err) : 0;
}

static int read_degrees(const th_config_node *g, th_parallel_plan *p, th_error *err)
{
    const struct {
        const char *key;
        int32_t *out;
    } degrees[] = {{"tensor", &p->n.tensor},
                   {"pipeline", &p->n.pipeline},
                   {"virtual", &p->n.chunks},
                   {"context", &p->n.context},
                   {"expert", &p->n.expert},
                   {"expert_tensor", &p->n.expert_tensor},
                   {"data", &p->n.data},
                   {"zero_group", &p->n.zero_group},
                   {"micro_batch", &p->batch.micro_batch}};
    int64_t batch;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        if (read_int(g, degrees[i].key, (th_int_range){1, DEGREE_MAX}, degrees[i].out, err))
            return -1;
    if (th_config_int(g, "global_batch", true, (th_int_range){1, BATCH_MAX}, &batch, err))
        return -1;
    p->batch.global_batch = (int32_t)batch;
    return read_int(g, "zero", (th_int_range){0, 3}, &p->n.zero, err);
}

static int read_overlap(const th_config_node *g, th_parallel_plan *p, th_error *err)
{
    const th_config_node *list;
    if (th_config_child(g, "overlap", false, TH_CONFIG_LIST, &list, err))
        return -1;
    for (int i = 0; list && i < th_config_count(list); i++) {
        const char *word;
        int at = th_config_as_string(th_config_at(list, i), &word, err)
                     ? -1
                     : position(list, "overlap", word, th_plan_overlap_names, err);
        if (at < 0)
            return -1;
        p->overlaps_data |= at == 0;
        p->overlaps_tensor |= at == 1;
        p->overlaps_pipeline |= at == 2;
    }
    return 0;
}

static int read_order(const th_config_node *g, th_parallel_plan *p, th_error *err)
{
    const char *words[TH_N_AXES + 1];
    const th_config_node *list;
    if (th_config_child(g, "order", false, TH_CONFIG_LIST, &list, err))
        return -1;
    int n = list ? th_config_count(list) : 0;
    for (int i = 0; i < n && i <= TH_N_AXES; i++)
        if (th_config_as_string(th_config_at(list, i), &words[i], err))
            return -1;
    return th_plan_set_order(p, words, n, err);
}

static int read_words(const th_config_node *g, th_plan_file *f, th_error *err)
{
    th_parallel_plan *p = &f->plan;
    const char *schedule = NULL;
    int layout = read_choice(g, "layout", th_plan_layout_names, err);
    int kernels = layout < 0 ? -1 : read_choice(g, "kernels", th_plan_kernel_names, err);
    int attention = kernels < 0 ? -1 : read_choice(g, "attention", th_plan_attention_names, err);
    int gradients = attention < 0 ? -1 : read_choice(g, "gradients", th_plan_gradient_names, err);
    int exchange =
        gradients < 0 ? -1 : read_choice(g, "expert_exchange", th_plan_exchange_names, err);
    if (exchange < 0 || th_config_string(g, "schedule", false, &schedule, err) ||
        th_config_bool(g, "sequence_parallel", false, &p->sequence_parallel, err) ||
        th_config_bool(g, "frozen", false, &p->frozen_weights, err) ||
        th_config_bool(g, "ignore_memory", false, &f->ignores_memory, err) ||
        th_config_bool(g, "merge", false, &f->merges, err))
        return -1;
    p->exchanges_by_node = exchange == 1;
    p->layout = (th_plan_layout)layout;
    p->has_fused_kernels = kernels == 0;
    p->attention = (th_attention)attention;
    p->gradient_bytes = gradients == 0 ? 4 : 2;
    return schedule ? th_plan_file_set_schedule(f, schedule, err) : 0;
}

static int read_numbers(const th_config_node *root, th_training_numbers *out, th_error *err)
{
    const char *names[TH_N_NUMBERS + 1] = {NULL};
    const th_config_node *g;
    *out = th_training_numbers_shipped();
    for (int i = 0; i < TH_N_NUMBERS; i++)
        names[i] = th_number_meanings[i].name;
    if (th_config_child(root, "numbers", false, TH_CONFIG_GROUP, &g, err))
        return -1;
    if (!g)
        return 0;
    if (th_config_check_keys(g, names, err))
        return -1;
    for (int i = 0; i < TH_N_NUMBERS; i++) {
        if (th_config_double(g, names[i], false, &out->of[i], err))
            return -1;
        if (!(out->of[i] >= 0 && out->of[i] <= TH_NUMBER_MAX))
            return th_error_set(err, "MAP-0442", "%s:%d: %s: a number from 0 to %d was expected",
                                th_config_file(g), th_config_line(g), names[i], TH_NUMBER_MAX);
    }
    return 0;
}

static int read_all(const th_config_node *root, th_plan_file *f, th_error *err)
{
    static const char *const groups[] = {"plan", "numbers", NULL};
    static const char *const keys[] = {
        "tensor",     "pipeline",     "virtual",         "context",   "expert",
        "data",       "zero",         "layout",          "frozen",    "expert_tensor",
        "zero_group", "micro_batch",  "overlap",         "order",     "sequence_parallel",
        "kernels",    "global_batch", "attention",       "gradients", "ignore_memory",
        "merge",      "schedule",     "expert_exchange", NULL};
    const th_config_node *g;
    if (th_config_check_keys(root, groups, err) ||
        th_config_child(root, "plan", true, TH_CONFIG_GROUP, &g, err) ||
        th_config_check_keys(g, keys, err))
        return -1;
    f->schedule_file = NULL;
    f->plan.schedule = NULL;
    f->merges = true;
    return read_degrees(g, &f->plan, err) || read_overlap(g, &f->plan, err) ||
                   read_order(g, &f->plan, err) || read_words(g, f, err) ||
                   read_numbers(root, &f->numbers, err)
               ? -1
               : 0;
}

static int read_config(th_config *c, th_plan_file *f, th_error *err)
{
    int failed = c ? read_all(th_config_root(c), f, err) : -1;
    if (c)
        th_config_close(c);
    if (c && failed)
        th_plan_file_clear(f);
    return failed;
}

int th_plan_file_read(const char *path, th_plan_file *f, th_error *err)
{
    return read_config(th_config_open(path, err), f, err);
}

int th_plan_file_read_text(const char *text, const char *name, th_plan_file *f, th_error *err)
{
    return read_config(th_config_open_text(text, name, err), f, err);
}

bool th_plan_file_is(const char *path)
{
    th_error err;
    th_config *c = th_config_open(path, &err);
    bool is_plan = c && th_config_member(th_config_root(c), "plan");
    th_config_close(c);
    return is_plan;
}
