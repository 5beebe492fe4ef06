/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_read.c - the links of a system file: cables, cliques, stars, and links of one direction.
 *   th_read_links (by system_read.c, when all nodes exist)
 * Segments and routes: route_read.c. */
#include <config.h>
#include "topology/files/system_reader.h"

#include "base/alloc.h"
#include "topology/files/system_fields.h"

/* An entry of the list. */
typedef struct entry {
    const th_config_node *n;
    th_cable cable;
} entry;

/* ---- properties ---- */

/* Is the key a list, one value for each direction? */
static bool is_list(const th_config_node *n, const char *key)
{
    const th_config_node *value = th_config_member(n, key);
    return value && th_config_kind_of(value) == TH_CONFIG_LIST;
}

/* One value for both directions, or one for each. */
static int read_pair(th_system_reader *r, const th_config_node *n, const char *key,
                     int (*as)(const th_config_node *n, int64_t *out, th_error *err),
                     int64_t pair[2])
{
    const th_config_node *value = th_config_member(n, key);
    const char *missing;
    if (!value)
        return th_config_string(n, key, true, &missing, &r->error);
    bool has_two = is_list(n, key);
    if ((has_two && th_reader_list(r, n, key, 2, 2, &value) < 0) ||
        as(has_two ? th_config_at(value, 0) : value, &pair[0], &r->error) < 0)
        return -1;
    pair[1] = pair[0];
    return has_two ? as(th_config_at(value, 1), &pair[1], &r->error) : 0;
}

/* Two values make sense where the directions can be told apart: between two nodes, or to and from a
 * center; and two bandwidths, where each direction has its own. */
static int check_directions(th_system_reader *r, const entry *e)
{
    const th_config_node *n = e->n;
    if (!is_list(n, "bandwidth") && !is_list(n, "latency"))
        return 0;
    if (!th_config_member(n, "between") && !th_config_member(n, "center"))
        return th_reader_error(r, n, "TOPO-0063",
                               "two values, one for each direction, are for links with between "
                               "or center");
    if (is_list(n, "bandwidth") && !e->cable.is_full_duplex)
        return th_reader_error(r, n, "TOPO-0064",
                               "a half-duplex cable has one bandwidth for both directions");
    return 0;
}

static int read_properties(th_system_reader *r, entry *e)
{
    if (th_fields_read(th_link_fields, e->n, &e->cable, &r->error) < 0 ||
        read_pair(r, e->n, "bandwidth", th_config_as_bandwidth, e->cable.bits_per_s) < 0 ||
        read_pair(r, e->n, "latency", th_config_as_time, e->cable.latency_ps) < 0)
        return -1;
    return check_directions(r, e);
}

/* ---- the forms ---- */

/* n: where it stands. */
static int connect(th_system_reader *r, const entry *e, const th_config_node *n, int a, int b)
{
    return th_system_add_cable(r->s, a, b, e->cable, &r->error) < 0 ? th_reader_at(r, n) : 0;
}

/* The nodes of a list of names, to be freed; NULL on failure. */
static int *nodes_named(th_system_reader *r, const th_config_node *list)
{
    int *nodes = th_alloc_array((size_t)th_config_count(list), sizeof *nodes);
    if (!nodes) {
        th_error_no_memory(&r->error);
        return NULL;
    }
    for (int i = 0; i < th_config_count(list); i++)
        if (th_reader_node(r, th_config_at(list, i), &nodes[i]) < 0) {
            th_free(nodes);
            return NULL;
        }
    return nodes;
}

/* A cable between any two of the list, of at least two names and at most `most` (0: any number). */
static int connect_all_pairs(th_system_reader *r, const entry *e, const char *key, int most)
{
    const th_config_node *list;
    if (th_reader_list(r, e->n, key, 2, most, &list) < 0)
        return -1;
    int status = 0, count = th_config_count(list);
    int *nodes = nodes_named(r, list);
    if (!nodes)
        return -1;
    for (int i = 0; i < count && status == 0; i++)
        for (int j = i + 1; j < count && status == 0; j++)
            status = connect(r, e, list, nodes[i], nodes[j]);
    th_free(nodes);
    return status;
}

static int read_between(th_system_reader *r, const entry *e)
{
    return connect_all_pairs(r, e, "between", 2);
}

static int read_all_pairs(th_system_reader *r, const entry *e)
{
    return connect_all_pairs(r, e, "all_pairs", 0);
}

static int read_star(th_system_reader *r, const entry *e)
{
    const th_config_node *leaves;
    int center, leaf;
    if (th_reader_node(r, th_config_member(e->n, "center"), &center) < 0 ||
        th_reader_list(r, e->n, "leaves", 1, 0, &leaves) < 0)
        return -1;
    for (int i = 0; i < th_config_count(leaves); i++)
        if (th_reader_node(r, th_config_at(leaves, i), &leaf) < 0 ||
            connect(r, e, leaves, leaf, center) < 0)
            return -1;
    return 0;
}

static int read_one_direction(th_system_reader *r, const entry *e)
{
    const th_config_node *to_name = th_config_member(e->n, "to");
    int from, to;
    if (!to_name || th_config_member(e->n, "duplex"))
        return th_reader_error(r, e->n, "TOPO-0065",
                               "a link of one direction has the keys from and to, and no duplex");
    if (th_reader_node(r, th_config_member(e->n, "from"), &from) < 0 ||
        th_reader_node(r, to_name, &to) < 0)
        return -1;
    int n_media = r->s->n_media;
    int medium = th_system_add_medium(r->s, e->cable.bits_per_s[0], &r->error);
    int link = medium < 0
                   ? -1
                   : th_system_add_link(r->s, from, to, medium, e->cable.latency_ps[0], &r->error);
    if (link < 0) {
        r->s->n_media = n_media;
        return th_reader_at(r, e->n);
    }
    r->s->media[medium].cost = e->cable.cost;
    r->s->media[medium].mtbf_us = e->cable.mtbf_us;
    r->s->links[link].is_dead = e->cable.is_dead;
    return 0;
}

/* ---- the list ---- */

typedef struct form {
    const char *key;     /* an entry of this form has it */
    const char *partner; /* a further key of this form alone, or NULL */
    int (*read)(th_system_reader *r, const entry *e);
} form;

static const form forms[] = {{"between", NULL, read_between},
                             {"all_pairs", NULL, read_all_pairs},
                             {"center", "leaves", read_star},
                             {"from", "to", read_one_direction}};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

/* The only form whose key the entry has, without the partner of another; NULL: none, or several. */
static const form *form_of(const th_config_node *n)
{
    const form *found = NULL;
    int n_found = 0, n_partners = 0;
    for (int i = 0; i < N_FORMS; i++) {
        if (th_config_member(n, forms[i].key)) {
            found = &forms[i];
            n_found++;
        }
        n_partners += forms[i].partner && th_config_member(n, forms[i].partner);
    }
    if (n_found != 1 || n_partners > !!found->partner)
        return NULL;
    return n_partners == 0 || th_config_member(n, found->partner) ? found : NULL;
}

static int read_link(th_system_reader *r, const th_config_node *n)
{
    entry e = {.n = n};
    if (th_reader_group(r, n, "a link") < 0 || read_properties(r, &e) < 0)
        return -1;
    const form *f = form_of(n);
    if (f)
        return f->read(r, &e);
    return th_reader_error(r, n, "TOPO-0042",
                           "a link has one of the keys between = [A, B], all_pairs = [...], "
                           "center = C with leaves = [...], from = A with to = B");
}

int th_read_links(th_system_reader *r)
{
    return th_reader_for_each(r, "links", read_link);
}
