/* SPDX-License-Identifier: GPL-3.0-or-later */
/* route_read.c - the routing, segments, dead links and explicit routes of a system file.
 *   th_read_routes (by system_read.c, when all nodes and links exist) */
#include <config.h>
#include "topology/files/system_reader.h"

#include "base/alloc.h"
#include "base/names.h"
#include "topology/routing/route.h"

static int read_segment(th_system_reader *r, const th_config_node *n)
{
    static const char *const keys[] = {"name", "bandwidth", "latency", NULL};
    const char *name;
    int64_t bits_per_s;
    th_time latency_ps;
    if (th_reader_group(r, n, "a segment") < 0 || th_config_check_keys(n, keys, &r->error) < 0 ||
        th_config_string(n, "name", true, &name, &r->error) < 0 ||
        th_config_bandwidth(n, "bandwidth", true, &bits_per_s, &r->error) < 0 ||
        th_config_time(n, "latency", true, &latency_ps, &r->error) < 0)
        return -1;
    int medium = th_system_add_medium(r->s, bits_per_s, &r->error);
    if (medium < 0 || th_system_add_segment(r->s, name, medium, latency_ps, &r->error) < 0)
        return th_reader_at(r, n);
    return 0;
}

static int read_dead_link(th_system_reader *r, const th_config_node *n)
{
    int link;
    if (th_reader_link(r, n, &link) < 0)
        return -1;
    r->s->links[link].is_dead = true;
    return 0;
}

/* ---- explicit routes ---- */

static int add_route(th_system_reader *r, const th_config_node *n, const int *links, int n_links)
{
    int from, to;
    if (th_reader_node(r, th_config_member(n, "from"), &from) < 0 ||
        th_reader_node(r, th_config_member(n, "to"), &to) < 0)
        return -1;
    if (th_system_add_route(r->s, from, to, links, n_links, &r->error) < 0)
        return th_reader_at(r, n);
    return 0;
}

static int read_route(th_system_reader *r, const th_config_node *n)
{
    static const char *const keys[] = {"from", "to", "links", NULL};
    const char *ignored;
    const th_config_node *list;
    if (th_reader_group(r, n, "a route") < 0 || th_config_check_keys(n, keys, &r->error) < 0 ||
        th_config_string(n, "from", true, &ignored, &r->error) < 0 ||
        th_config_string(n, "to", true, &ignored, &r->error) < 0 ||
        th_reader_list(r, n, "links", 1, 0, &list) < 0)
        return -1;
    int count = th_config_count(list), status = 0;
    int *links = th_alloc_array((size_t)count, sizeof *links);
    if (!links)
        return th_error_no_memory(&r->error);
    for (int i = 0; i < count && status == 0; i++)
        status = th_reader_link(r, th_config_at(list, i), &links[i]);
    if (status == 0)
        status = add_route(r, n, links, count);
    th_free(links);
    return status;
}

/* ---- the routing ---- */

static int read_routing(th_system_reader *r)
{
    enum { MAX_NAMES = 16 };
    const char *name = NULL, *names[MAX_NAMES];
    size_t count = 0;
    if (th_config_string(r->root, "routing", false, &name, &r->error) < 0)
        return -1;
    if (!name)
        return 0;
    r->s->routing = th_routing_find(name);
    if (r->s->routing)
        return 0;
    for (; th_routing_types[count] && count < MAX_NAMES; count++)
        names[count] = th_routing_types[count]->name;
    return th_reader_unknown(r, "TOPO-0066", th_config_member(r->root, "routing"),
                             &(th_valid_names){"routing", names, count});
}

/* Links need their names before routes can take them. */
int th_read_routes(th_system_reader *r)
{
    if (th_reader_for_each(r, "segments", read_segment) < 0 ||
        th_system_name_links(r->s, &r->error) < 0 ||
        th_reader_for_each(r, "dead_links", read_dead_link) < 0 ||
        th_reader_for_each(r, "routes", read_route) < 0)
        return -1;
    return read_routing(r);
}
