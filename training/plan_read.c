/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_read.c - a parallel plan from a libconfig file: plan = { global_batch = 8; ... };
 * numbers = { ... }. Keys are options of parallel_plan, and have their defaults. */
#include <config.h>
#include "base/files/config_read.h"
#include "training/plan_file.h"

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
            return th_error_set(err, "MAP-0442", "%s:%d: %s: must be a number from 0 to %d",
                                th_config_file(g), th_config_line(g), names[i], TH_NUMBER_MAX);
    }
    return 0;
}

static int read_all(const th_config_node *root, th_plan_file *f, th_error *err)
{
    static const char *const groups[] = {"plan", "numbers", NULL};
    f->schedule_file = NULL;
    f->plan.schedule = NULL;
    f->plan.gradient_bytes = 4;
    return th_config_check_keys(root, groups, err) || th_plan_set_order(&f->plan, NULL, 0, err) ||
                   th_fields_read_group(th_plan_fields, root, "plan", true, f, err) ||
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
