/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_reader.c - functions shared by the readers of a system file: positions in messages, lists,
 * groups, names. */
#include <config.h>
#include "topology/files/system_reader.h"

#include "base/alloc.h"
#include "base/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int th_reader_error(th_system_reader *r, const th_config_node *n, const char *id,
                    const char *format, ...)
{
    char text[TH_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return th_error_set(&r->error, id, "%s:%d: %s", th_config_file(n), th_config_line(n), text);
}

int th_reader_at(th_system_reader *r, const th_config_node *n)
{
    const th_error inner = r->error;
    return th_reader_error(r, n, inner.id, "%s", inner.text);
}

/* The names as far as they fit on a line that one wants to read. */
static void list_known(const th_valid_names *k, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < k->count; i++) {
        int more = snprintf(out + n, size - n, "%s%s", i > 0 ? ", " : "", k->names[i]);
        if (more < 0 || (size_t)more + sizeof ", ..." > size - n) {
            snprintf(out + n, size - n, "%s...", i > 0 ? ", " : "");
            return;
        }
        n += (size_t)more;
    }
}

int th_reader_unknown(th_system_reader *r, const char *id, const th_config_node *n,
                      const th_valid_names *k)
{
    enum { ENOUGH = 200 };
    const char *name = "", *near;
    char known[ENOUGH];
    if (th_config_as_string(n, &name, &r->error) < 0)
        return -1;
    near = th_name_nearest(name, k->names, k->count);
    list_known(k, known, sizeof known);
    return th_reader_error(r, n, id, "unknown %s \"%s\": %s%s%s", k->what, name,
                           near ? "did you mean \"" : "must be one of ", near ? near : known,
                           near ? "\"?" : "");
}

/* A list of at least min elements (and at most max, when that is not 0). */
int th_reader_list(th_system_reader *r, const th_config_node *g, const char *key, int min, int max,
                   const th_config_node **out)
{
    if (th_config_child(g, key, true, TH_CONFIG_LIST, out, &r->error) < 0)
        return -1;
    int count = th_config_count(*out);
    if (count >= min && (max == 0 || count <= max))
        return 0;
    return th_reader_error(r, *out, "TOPO-0032", "key \"%s\": has %d elements: %s %d expected", key,
                           count, max ? "exactly" : "at least", min);
}

/* Calls read for every element of the optional list key. */
int th_reader_for_each(th_system_reader *r, const char *key,
                       int (*read)(th_system_reader *r, const th_config_node *n))
{
    const th_config_node *list = NULL;
    if (th_config_child(r->root, key, false, TH_CONFIG_LIST, &list, &r->error) < 0)
        return -1;
    for (int i = 0; list && i < th_config_count(list); i++)
        if (read(r, th_config_at(list, i)) < 0)
            return -1;
    return 0;
}

int th_reader_group(th_system_reader *r, const th_config_node *n, const char *what)
{
    if (th_config_kind_of(n) == TH_CONFIG_GROUP)
        return 0;
    return th_reader_error(r, n, "TOPO-0035", "%s must be a group: { key = value; ... }", what);
}

int th_reader_look_up(th_system_reader *r, const char *id, const th_config_node *n,
                      const th_reader_names *k, int *out)
{
    const char *name;
    if (th_config_as_string(n, &name, &r->error) < 0)
        return -1;
    *out = k->find(r->s, name);
    if (*out >= 0)
        return 0;
    const char **names = th_alloc_array((size_t)k->n, sizeof *names);
    if (!names)
        return th_error_no_memory(&r->error);
    for (int i = 0; i < k->n; i++)
        names[i] = k->name(r->s, i);
    th_reader_unknown(r, id, n, &(th_valid_names){k->what, names, (size_t)k->n});
    th_free(names);
    return -1;
}

int th_reader_node(th_system_reader *r, const th_config_node *n, int *out)
{
    return th_reader_look_up(
        r, "TOPO-0030", n,
        &(th_reader_names){"node", r->s->n_nodes, th_system_find_node, th_system_node_name}, out);
}

static const char *link_name(const th_system *s, int link)
{
    return s->links[link].name;
}

int th_reader_link(th_system_reader *r, const th_config_node *n, int *out)
{
    return th_reader_look_up(
        r, "TOPO-0062", n,
        &(th_reader_names){"link or segment", r->s->n_links, th_system_find_link, link_name}, out);
}
