/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objects.c - see objects.h. */
#include <config.h>
#include "session/objects/objects.h"
#include "base/names.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "session/link_flows.h"
#include "topology/routing/route.h"

static const char *const class_names[TH_N_CLASSES + 1] = {"accel", "link", "node",
                                                          "layer", "task", NULL};

const char *th_class_name(th_class class)
{
    return class_names[class];
}

int th_class_need(th_session *s, th_class class, th_error *err)
{
    switch (class) {
    case TH_CLASS_ACCEL:
    case TH_CLASS_LINK:
    case TH_CLASS_NODE:
        return th_session_need_system(s, err);
    case TH_CLASS_LAYER:
        return th_session_need_workload(s, err);
    case TH_CLASS_TASK:
        if (s->hand_built)
            return 0;
        break;
    case TH_N_CLASSES:
        break;
    }
    return th_session_simulation(s, err) ? 0 : -1;
}

int32_t th_class_count(const th_session *s, th_class class)
{
    switch (class) {
    case TH_CLASS_ACCEL:
        return s->system->n_accels;
    case TH_CLASS_LINK:
        return s->system->n_links;
    case TH_CLASS_NODE:
        return s->system->n_nodes;
    case TH_CLASS_LAYER:
        return s->workload->n_layers;
    case TH_CLASS_TASK:
        return th_session_program(s)->n_tasks;
    case TH_N_CLASSES:
        break;
    }
    return 0;
}

/* ---- names ---- */

const char *th_object_stored_name(const th_session *s, th_object o)
{
    switch (o.class) {
    case TH_CLASS_ACCEL:
        return s->system->nodes[s->system->accel_node[o.index]].name;
    case TH_CLASS_LINK:
        return s->system->links[o.index].name;
    case TH_CLASS_NODE:
        return s->system->nodes[o.index].name;
    case TH_CLASS_LAYER:
        return s->workload->layers[o.index].name;
    case TH_CLASS_TASK:
    case TH_N_CLASSES:
        break;
    }
    return NULL;
}

const char *th_object_short_name(th_session *s, th_object o)
{
    if (o.class != TH_CLASS_TASK)
        return th_object_stored_name(s, o);
    th_strbuf_clear(&s->text.scratch);
    th_strbuf_printf(&s->text.scratch, "%d", (int)o.index);
    return s->text.scratch.text ? s->text.scratch.text : "";
}

/* "accel/3" -> ACCEL and "3". */
static int parse_class(const char *text, th_class *class, const char **rest, th_error *err)
{
    const char *slash = strchr(text, '/');
    for (int k = 0; slash && k < TH_N_CLASSES; k++)
        if (strlen(class_names[k]) == (size_t)(slash - text) &&
            strncmp(class_names[k], text, (size_t)(slash - text)) == 0) {
            *class = (th_class)k;
            *rest = slash + 1;
            return 0;
        }
    return th_error_set(
        err, "TCL-0040",
        "object \"%s\": must be accel/NAME, link/NAME, node/NAME, layer/NAME or task/N", text);
}

/* ---- by name ---- */

static int32_t find_layer(const th_workload *w, const char *name)
{
    for (int32_t i = 0; i < w->n_layers; i++)
        if (strcmp(w->layers[i].name, name) == 0)
            return i;
    return -1;
}

static int32_t find_task(const th_session *s, const char *number)
{
    char *end;
    long n = strtol(number, &end, 10);
    bool is_number = isdigit((unsigned char)*number) && *end == '\0';
    return is_number && n < th_class_count(s, TH_CLASS_TASK) ? (int32_t)n : -1;
}

int32_t th_object_find(const th_session *s, th_class class, const char *name)
{
    int32_t node;
    switch (class) {
    case TH_CLASS_ACCEL:
        node = th_system_find_node(s->system, name);
        return node >= 0 ? s->system->nodes[node].accel : -1;
    case TH_CLASS_LINK:
        return th_system_find_link(s->system, name);
    case TH_CLASS_NODE:
        return th_system_find_node(s->system, name);
    case TH_CLASS_LAYER:
        return find_layer(s->workload, name);
    case TH_CLASS_TASK:
        return find_task(s, name);
    case TH_N_CLASSES:
        break;
    }
    return -1;
}

int th_object_unknown(const th_session *s, th_class class, const char *name, th_error *err)
{
    int32_t n = th_class_count(s, class);
    if (strpbrk(name, "*?["))
        return th_error_set(
            err, "TCL-0723",
            "%s \"%.100s\": must be one name: [get_%ss {%.100s}] are all that match",
            class_names[class], name, class_names[class], name);
    const char **names = th_alloc_array((size_t)n + 1, sizeof *names);
    if (!names)
        return th_error_no_memory(err);
    for (int32_t i = 0; i < n; i++)
        names[i] = th_object_stored_name(s, (th_object){class, i});
    names[n] = NULL;
    th_error_unknown(err, "TCL-0041", class_names[class], name, names);
    th_free(names);
    return -1;
}

int th_object_parse_task(const th_session *s, const char *name, th_object *out, th_error *err)
{
    int32_t n = th_class_count(s, TH_CLASS_TASK), number = find_task(s, name);
    if (n == 0)
        return th_error_set(err, "TCL-0156", "task \"%s\": there are no tasks yet", name);
    if (number < 0)
        return th_error_set(err, "TCL-0042", "task \"%s\": must be a number from 0 to %d", name,
                            (int)n - 1);
    *out = (th_object){TH_CLASS_TASK, number};
    return 0;
}

int th_object_parse(th_session *s, const char *text, th_object *out, th_error *err)
{
    th_class class = TH_N_CLASSES;
    const char *name = NULL;
    if (parse_class(text, &class, &name, err) != 0 || th_class_need(s, class, err) != 0)
        return -1;
    if (class == TH_CLASS_TASK)
        return th_object_parse_task(s, name, out, err);
    int32_t index = th_object_find(s, class, name);
    if (index < 0)
        return th_object_unknown(s, class, name, err);
    *out = (th_object){class, index};
    return 0;
}

/* Any node by its bare name, an object by its path. */
int th_node_parse(th_session *s, const char *text, th_error *err)
{
    int32_t node = th_object_find(s, TH_CLASS_NODE, text);
    if (node < 0 && strchr(text, '/')) {
        th_object o;
        if (th_object_parse(s, text, &o, err) != 0)
            return -1;
        node = o.class == TH_CLASS_NODE    ? o.index
               : o.class == TH_CLASS_ACCEL ? s->system->accel_node[o.index]
                                           : -1;
        if (node < 0)
            return th_error_set(err, "TCL-0157", "\"%s\": must be a node or an accelerator", text);
    }
    return node >= 0 ? node : th_object_unknown(s, TH_CLASS_NODE, text, err);
}

/* ---- related objects ---- */

static bool task_is_at(const th_task *t, int node)
{
    return node >= 0 && (t->node == node || (t->kind == TH_TASK_TRANSFER && t->peer == node));
}

static bool is_in_group(const th_collective *c, int node)
{
    for (int32_t i = 0; i < c->n_ranks; i++)
        if (c->rank_node[i] == node)
            return true;
    return false;
}

/* The links of a collective are cached until another collective or program is asked about. */
static bool collective_takes_link(th_session *s, int32_t task, int link)
{
    const th_program *p = th_session_program(s);
    if (s->text.links_of_task != task) {
        th_free(s->text.task_links);
        s->text.links_of_task = -1;
        s->text.task_links =
            th_alloc_zero((size_t)s->system->n_links + 1, sizeof *s->text.task_links);
        if (!s->text.task_links ||
            th_collective_links(th_session_collective(s, p->tasks[task].collective), s->system,
                                s->text.task_links, NULL) != 0)
            return false;
        if (th_session_collective(s, p->tasks[task].collective)->algorithm)
            s->text.links_of_task = task;
    }
    return s->text.task_links[link];
}

static bool task_takes_link(th_session *s, int32_t task, int link)
{
    int links[TH_ROUTE_MAX];
    const th_task *t = &th_session_program(s)->tasks[task];
    if (t->kind == TH_TASK_COLLECTIVE)
        return collective_takes_link(s, task, link);
    if (t->kind != TH_TASK_TRANSFER)
        return false;
    int n = th_route(s->system, t->node, t->peer, links);
    for (int i = 0; i < n; i++)
        if (links[i] == link)
            return true;
    return false;
}

static bool layer_is_on(const th_session *s, int layer, int node)
{
    if (!s->mapping)
        return false;
    const th_set *set = &s->mapping->sets[s->mapping->set_of[layer]];
    for (int i = 0; i < set->n_accels; i++)
        if (s->system->accel_node[set->accels[i]] == node)
            return true;
    return false;
}

/* Does a transfer of the layer use the link? Read from the program, if there is one. */
static bool layer_takes_link(th_session *s, int layer, int link)
{
    if (!s->simulation)
        return false;
    const th_program *p = s->simulation->program;
    for (int32_t t = 0; t < p->n_tasks; t++)
        if (p->tasks[t].layer == layer && task_takes_link(s, t, link))
            return true;
    return false;
}

/* a comes before b in the order link, node, layer, task; accelerators are nodes here. */
static bool touch_in_order(th_session *s, th_object a, th_object b)
{
    const th_task *t = b.class == TH_CLASS_TASK ? &th_session_program(s)->tasks[b.index] : NULL;
    if (a.class == TH_CLASS_LINK && b.class == TH_CLASS_NODE)
        return s->system->links[a.index].from == b.index || s->system->links[a.index].to == b.index;
    if (a.class == TH_CLASS_LINK && b.class == TH_CLASS_LAYER)
        return layer_takes_link(s, b.index, a.index);
    if (a.class == TH_CLASS_LINK)
        return task_takes_link(s, b.index, a.index);
    if (a.class == TH_CLASS_NODE && b.class == TH_CLASS_LAYER)
        return layer_is_on(s, b.index, a.index);
    if (a.class == TH_CLASS_NODE)
        return t->kind == TH_TASK_COLLECTIVE
                   ? is_in_group(&th_session_program(s)->collectives[t->collective], a.index)
                   : task_is_at(t, a.index);
    return t->layer == a.index;
}

static th_object as_node(const th_session *s, th_object o)
{
    return o.class == TH_CLASS_ACCEL ? (th_object){TH_CLASS_NODE, s->system->accel_node[o.index]}
                                     : o;
}

bool th_objects_touch(th_session *s, th_object a, th_object b)
{
    a = as_node(s, a);
    b = as_node(s, b);
    if (a.class == b.class)
        return a.index == b.index;
    return a.class < b.class ? touch_in_order(s, a, b) : touch_in_order(s, b, a);
}
