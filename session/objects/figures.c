/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figures.c - see figures.h: the columns of a class, and the classes. */
#include <config.h>
#include "session/objects/figures.h"
#include <stdio.h>
#include <string.h>
#include "session/objects/class_attributes.h"
#include "session/table/report.h"

/* ---- columns ---- */

int th_figures_n_keys(const th_figures *f)
{
    int n = 0;
    while (f->keys && f->keys[n].name)
        n++;
    return n;
}

th_attribute th_figures_column(const th_figures *f, int column)
{
    static const th_attribute id = {"id", TH_KIND_COUNT, "its number, from 0", .of = TH_OF_INPUT};
    int n_keys = th_figures_n_keys(f), i = column - n_keys - 1;
    if (i < 0)
        return column == 0 ? id : f->keys[column - 1];
    const th_attribute *a = f->attributes;
    for (; i > 0 && a->name; i--)
        a++;
    if (a->name || !f->saves)
        return *a;
    for (a = f->saves; a->name && (a->of != TH_OF_RUN || i-- > 0);)
        a++;
    return *a;
}

/* Shares are of 1 here, as with get_property -exact, so that their names do not say percent. */
static const char *suffix_of(th_kind kind, const char *name)
{
    const char *suffix = kind == TH_KIND_SHARE ? "" : th_kind_suffix(kind, name);
    size_t n = strlen(name), length = strlen(suffix);
    return n >= length && strcmp(name + n - length, suffix) == 0 ? "" : suffix;
}

const char *th_figures_name(const th_attribute *column, bool is_keyword,
                            char out[static TH_FIGURE_NAME_MAX])
{
    const char *suffix = suffix_of(column->kind, column->name);
    if (is_keyword && suffix[0] == '\0')
        suffix = column->kind == TH_KIND_TEXT ? "_name" : "_id";
    snprintf(out, TH_FIGURE_NAME_MAX, "%s%s", column->name, suffix);
    return out;
}

const char *th_figures_unit(th_kind kind)
{
    const char *suffix = th_kind_suffix(kind, "");
    return kind == TH_KIND_TEXT     ? "text"
           : kind == TH_KIND_SHARE  ? "of 1"
           : kind == TH_KIND_ENERGY ? "J"
           : suffix[0] != '\0'      ? suffix + 1
                                    : "number";
}

/* ---- classes of objects ---- */

#define CLASS_OF_OBJECTS(class, name)                                                              \
    static int need_##name(th_session *s, th_error *err)                                           \
    {                                                                                              \
        return th_class_need(s, class, err);                                                       \
    }                                                                                              \
    static int32_t count_##name(const th_session *s)                                               \
    {                                                                                              \
        return th_class_count(s, class);                                                           \
    }
CLASS_OF_OBJECTS(TH_CLASS_ACCEL, accels)
CLASS_OF_OBJECTS(TH_CLASS_LINK, links)
CLASS_OF_OBJECTS(TH_CLASS_NODE, nodes)
CLASS_OF_OBJECTS(TH_CLASS_LAYER, layers)
CLASS_OF_OBJECTS(TH_CLASS_TASK, tasks)

/* ---- numbers of other rows ---- */

static th_quantity number(int64_t n)
{
    return n >= 0 ? th_count(n) : th_absent(TH_KIND_COUNT);
}

static const th_task *task_of(const th_session *s, int task)
{
    return &th_session_program(s)->tasks[task];
}

TH_GETTER(accel_node, number(s->system->accel_node[index]))
TH_GETTER(accel_set, number(th_mapping_find(s->mapping, index).set))
TH_GETTER(link_source, number(s->system->links[index].from))
TH_GETTER(link_target, number(s->system->links[index].to))
TH_GETTER(node_accel, number(s->system->nodes[index].accel))
TH_GETTER(task_layer, number(task_of(s, index)->layer))
TH_GETTER(task_accel, number(task_of(s, index)->kind == TH_TASK_COMPUTE
                                 ? s->system->nodes[task_of(s, index)->node].accel
                                 : -1))
TH_GETTER(task_node, number(task_of(s, index)->node))
TH_GETTER(task_peer,
          number(task_of(s, index)->kind == TH_TASK_TRANSFER ? task_of(s, index)->peer : -1))
TH_GETTER(task_job, number(th_program_job_of(th_session_program(s), index)))

#define KEY(name, help, getter)                                                                    \
    {                                                                                              \
        name, TH_KIND_COUNT, help, .of = TH_OF_INPUT, .get = getter                                \
    }
static const th_attribute accel_keys[] = {KEY("node_id", "its node", accel_node),
                                          KEY("set_id", "its set in the mapping", accel_set),
                                          {.name = NULL}};
static const th_attribute link_keys[] = {KEY("source_id", "the node that it leaves", link_source),
                                         KEY("target_id", "the node that it reaches", link_target),
                                         {.name = NULL}};
static const th_attribute node_keys[] = {KEY("accel_id", "the accelerator that it is", node_accel),
                                         {.name = NULL}};
static const th_attribute task_keys[] = {
    KEY("layer_id", "its layer", task_layer),
    KEY("accel_id", "the accelerator that computes it", task_accel),
    KEY("node_id", "the node where it runs, or the sender", task_node),
    KEY("peer_id", "the node that receives a transfer", task_peer),
    KEY("job_id", "its job", task_job),
    {.name = NULL}};

/* ---- all classes ---- */

#define FIGURES_OF(object)                                                                         \
    .name = #object "s", .need = need_##object##s, .count = count_##object##s,                     \
    .attributes = th_##object##_attributes
static const th_figures of_accels = {FIGURES_OF(accel), .keys = accel_keys};
static const th_figures of_links = {FIGURES_OF(link), .keys = link_keys};
static const th_figures of_nodes = {FIGURES_OF(node), .keys = node_keys};
static const th_figures of_layers = {FIGURES_OF(layer)};
static const th_figures of_tasks = {FIGURES_OF(task), .keys = task_keys};

const th_figures *const th_figure_classes[] = {&of_accels,
                                               &of_links,
                                               &of_nodes,
                                               &of_layers,
                                               &of_tasks,
                                               &th_figures_of_messages,
                                               &th_figures_of_dependencies,
                                               &th_figures_of_sets,
                                               &th_figures_of_models,
                                               &th_figures_of_stages,
                                               &th_figures_of_ranks,
                                               &th_figures_of_jobs,
                                               &th_figures_of_search,
                                               &th_figures_of_run,
                                               &th_figures_of_saved[TH_SAVED_RUNS],
                                               &th_figures_of_saved_changes,
                                               &th_figures_of_saved[TH_SAVED_LAYERS],
                                               &th_figures_of_saved[TH_SAVED_ACCELS],
                                               &th_figures_of_saved[TH_SAVED_LINKS],
                                               NULL};

th_attribute th_figures_find(const char *class, const char *name)
{
    th_attribute a = {.name = NULL};
    for (int i = 0; th_figure_classes[i]; i++)
        if (strcmp(th_figure_classes[i]->name, class) == 0)
            for (int c = 0; (a = th_figures_column(th_figure_classes[i], c)).name; c++)
                if (strcmp(a.name, name) == 0)
                    return a;
    return a;
}
