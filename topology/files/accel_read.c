/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accel_read.c - the designs and accelerators of a system file.
 *   th_read_designs -> th_read_accels (both called by system_read.c, a generator between them)
 * With a topology the entries describe accelerators that the generator has created; without one
 * they create them. Keys of designs are stored unchecked: sim/design/ knows which keys a type has.
 */
#include <config.h>
#include "topology/files/system_reader.h"

#include "base/alloc.h"
#include "topology/files/system_fields.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST_COUNT = 65536, LARGEST_GROUP = 1 << 20 };

/* ---- designs ---- */

/* A scalar key, typed, as the file has it. */
static int read_param(th_system_reader *r, int design, const th_config_node *n)
{
    th_param p = {.key = (char *)th_config_key(n), .line = th_config_line(n)};
    const char *text;
    bool flag;
    switch (th_config_kind_of(n)) {
    case TH_CONFIG_INT:
    case TH_CONFIG_FLOAT:
        p.kind = TH_PARAM_NUMBER;
        if (th_config_as_double(n, &p.number, &r->error) < 0)
            return -1;
        break;
    case TH_CONFIG_BOOL:
        p.kind = TH_PARAM_BOOL;
        if (th_config_as_bool(n, &flag, &r->error) < 0)
            return -1;
        p.number = flag ? 1 : 0;
        break;
    case TH_CONFIG_STRING:
        p.kind = TH_PARAM_TEXT;
        if (th_config_as_string(n, &text, &r->error) < 0)
            return -1;
        p.text = (char *)text;
        break;
    case TH_CONFIG_GROUP:
    case TH_CONFIG_LIST:
        return th_error_set(&r->error, "TOPO-0036",
                            "%s:%d: key \"%s\" of a design: must be a number, a text, "
                            "true or false",
                            th_config_file(n), p.line, p.key);
    }
    return th_system_add_param(r->s, design, &p, &r->error);
}

static int read_design(th_system_reader *r, const th_config_node *n)
{
    const char *name, *type;
    if (th_reader_group(r, n, "a design") < 0 ||
        th_config_string(n, "name", true, &name, &r->error) < 0 ||
        th_config_string(n, "type", true, &type, &r->error) < 0)
        return -1;
    int design =
        th_system_add_design(r->s, name, type, th_config_file(n), th_config_line(n), &r->error);
    if (design < 0)
        return th_reader_at(r, n);
    for (int i = 0; i < th_config_count(n); i++) {
        const th_config_node *member = th_config_at(n, i);
        const char *key = th_config_key(member);
        if (strcmp(key, "name") != 0 && strcmp(key, "type") != 0 &&
            read_param(r, design, member) < 0)
            return -1;
    }
    return 0;
}

int th_read_designs(th_system_reader *r)
{
    return th_reader_for_each(r, "designs", read_design);
}

/* ---- accelerators ---- */

static const char *design_name(const th_system *s, int design)
{
    return s->designs[design].name;
}

static int design_named(th_system_reader *r, const th_config_node *n, int *out)
{
    return th_reader_look_up(
        r, "TOPO-0031", n,
        &(th_reader_names){"design", r->s->n_designs, th_system_find_design, design_name}, out);
}

/* Fills a->designs, which the caller frees. */
static int read_design_names(th_system_reader *r, const th_config_node *g, th_accel *a)
{
    const th_config_node *list;
    if (th_reader_list(r, g, "designs", 1, 0, &list) < 0)
        return -1;
    a->n_designs = th_config_count(list);
    a->designs = th_alloc_array((size_t)a->n_designs, sizeof *a->designs);
    if (!a->designs)
        return th_error_no_memory(&r->error);
    for (int i = 0; i < a->n_designs; i++) {
        if (design_named(r, th_config_at(list, i), &a->designs[i]) < 0)
            return -1;
        for (int j = 0; j < i; j++)
            if (a->designs[j] == a->designs[i])
                return th_reader_error(r, list, "TOPO-0037", "design \"%s\" is listed twice",
                                       r->s->designs[a->designs[i]].name);
    }
    return 0;
}

typedef struct accel_entry {
    const th_config_node *n;
    th_accel accel;
    int64_t group, count;
    bool has_group, has_count;
} accel_entry;

static int add_accel(th_system_reader *r, const accel_entry *e, const char *name)
{
    int node = th_system_add_node(r->s, name, TH_NODE_ACCEL, (int)e->group, &r->error);
    if (node < 0 || th_system_set_accel(r->s, node, &e->accel, &r->error) < 0)
        return th_reader_at(r, e->n);
    r->n_described++;
    return 0;
}

/* names = [...], name = "...", or count = N (default 1): numbered on from those before. */
static int add_accels(th_system_reader *r, const accel_entry *e)
{
    const th_config_node *names = NULL;
    const char *name = NULL;
    if (th_config_child(e->n, "names", false, TH_CONFIG_LIST, &names, &r->error) < 0 ||
        th_config_string(e->n, "name", false, &name, &r->error) < 0)
        return -1;
    if (!!names + !!name + e->has_count > 1)
        return th_reader_error(r, e->n, "TOPO-0038",
                               "an accelerator entry has one of the keys name, names, count");
    if (name)
        return add_accel(r, e, name);
    int count = names ? th_config_count(names) : (int)e->count;
    for (int i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", r->n_described);
        name = number;
        if ((names && th_config_as_string(th_config_at(names, i), &name, &r->error) < 0) ||
            add_accel(r, e, name) < 0)
            return -1;
    }
    return 0;
}

/* The next count of the generated accelerators; all, when a single entry without a count describes
 * them. */
static int describe_generated(th_system_reader *r, const accel_entry *e)
{
    int n = r->n_generated;
    bool is_only_entry = th_config_count(th_config_member(r->root, "accelerators")) == 1;
    int64_t count = is_only_entry && !e->has_count ? n : e->count;
    if (th_config_member(e->n, "name") || th_config_member(e->n, "names"))
        return th_reader_error(r, e->n, "TOPO-0039",
                               "the topology names its accelerators; an entry has at most a count");
    if (r->n_described + count > n)
        return th_reader_error(r, e->n, "TOPO-0040",
                               "%lld accelerators described, but the topology has %d",
                               (long long)(r->n_described + count), n);
    for (int64_t i = 0; i < count; i++) {
        int node = r->n_described++;
        if (th_system_set_accel(r->s, node, &e->accel, &r->error) < 0)
            return -1;
        if (e->has_group)
            r->s->nodes[node].group = (int)e->group;
    }
    return 0;
}

static int read_accel_entry(th_system_reader *r, accel_entry *e)
{
    if (th_reader_group(r, e->n, "an accelerator") < 0 ||
        th_fields_read(th_accel_fields, e->n, &e->accel, &r->error) < 0 ||
        th_config_int(e->n, "count", false, (th_int_range){1, LARGEST_COUNT}, &e->count,
                      &r->error) < 0 ||
        th_config_int(e->n, "group", false, (th_int_range){0, LARGEST_GROUP}, &e->group,
                      &r->error) < 0 ||
        th_fields_read_group(th_dram_fields, e->n, "dram", true, &e->accel, &r->error) < 0 ||
        th_fields_read_group(th_vector_fields, e->n, "vector", true, &e->accel, &r->error) < 0)
        return -1;
    e->has_count = th_config_member(e->n, "count");
    e->has_group = th_config_member(e->n, "group");
    return read_design_names(r, e->n, &e->accel);
}

static int read_accel(th_system_reader *r, const th_config_node *n)
{
    accel_entry e = {.n = n, .count = 1};
    int status = read_accel_entry(r, &e);
    if (status == 0)
        status = r->is_generated ? describe_generated(r, &e) : add_accels(r, &e);
    th_free(e.accel.designs);
    return status;
}

/* Generators add their accelerators first. */
static int count_generated(const th_system *s)
{
    int n = 0;
    while (n < s->n_nodes && s->nodes[n].kind == TH_NODE_ACCEL)
        n++;
    return n;
}

int th_read_accels(th_system_reader *r)
{
    const th_config_node *list;
    r->n_generated = r->is_generated ? count_generated(r->s) : 0;
    if (th_reader_list(r, r->root, "accelerators", 1, 0, &list) < 0 ||
        th_reader_for_each(r, "accelerators", read_accel) < 0)
        return -1;
    if (!r->is_generated || r->n_described == r->n_generated)
        return 0;
    return th_reader_error(r, list, "TOPO-0041",
                           "%d accelerators described, but the topology has %d", r->n_described,
                           r->n_generated);
}
