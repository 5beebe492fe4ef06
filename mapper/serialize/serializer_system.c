/* SPDX-License-Identifier: GPL-3.0-or-later */
/* serializer_system.c - systems as bytes: everything that was added to a system, in order. Reading
 * ends with th_system_finish, which derives numbers, link names and routes as before. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/serialize/serializer.h"
#include "topology/files/astra.h"
#include "topology/routing/route.h"

enum { MOST = INT32_MAX };

/* An index below n, or at least low. */
static void index_of(th_serializer *w, int *x, int low, int n)
{
    th_serializer_int(w, x);
    if (th_serializer_is_reading(w) && (*x < low || *x >= n)) {
        w->failed = true;
        *x = 0;
    }
}

static void kind(th_serializer *w, uint8_t *x, int n)
{
    th_serializer_byte(w, x);
    if (*x >= n) {
        w->failed = true;
        *x = 0;
    }
}

/* The number of things that follow; each has a byte at least, so there cannot be more than bytes.
 */
static void number_of(th_serializer *w, int *n)
{
    int32_t max = MOST;
    if (th_serializer_is_reading(w) && w->end - w->at < MOST)
        max = (int32_t)(w->end - w->at);
    th_serializer_count(w, n, max);
}

static void place(th_serializer *w, const char **file, int *line)
{
    if (w->skips_locations)
        return;
    if (file)
        th_serializer_text(w, file);
    th_serializer_int(w, line);
}

/* --- designs --- */

static void param(th_serializer *w, th_param *p)
{
    uint8_t k = (uint8_t)p->kind;
    th_serializer_text(w, (const char **)&p->key);
    kind(w, &k, TH_PARAM_BOOL + 1);
    p->kind = (th_param_kind)k;
    th_serializer_double(w, &p->number);
    th_serializer_text(w, (const char **)&p->text);
    place(w, NULL, &p->line);
    w->failed |= !p->key || (p->kind == TH_PARAM_TEXT && !p->text);
}

static void design(th_serializer *w, th_design_block *d)
{
    th_serializer_text(w, (const char **)&d->name);
    th_serializer_text(w, (const char **)&d->type);
    place(w, (const char **)&d->file, &d->line);
    number_of(w, &d->n_params);
    w->failed |= !d->name || !d->type;
}

static void write_designs(th_serializer *w, const th_system *s)
{
    int n = s->n_designs;
    number_of(w, &n);
    for (int i = 0; i < n; i++) {
        th_design_block d = s->designs[i];
        design(w, &d);
        for (int j = 0; j < d.n_params; j++) {
            th_param p = s->designs[i].params[j];
            param(w, &p);
        }
    }
}

static int read_designs(th_serializer *w, th_system *s, th_error *err)
{
    int n = 0;
    number_of(w, &n);
    for (int i = 0; i < n; i++) {
        th_design_block d = {0};
        design(w, &d);
        if (w->failed || th_system_add_design(s, d.name, d.type, d.file, d.line, err) < 0)
            return -1;
        for (int j = 0; j < d.n_params; j++) {
            th_param p = {0};
            param(w, &p);
            if (w->failed || th_system_add_param(s, i, &p, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* Digests, which nobody reads back, have only those that are known. */
static void cost(th_serializer *w, double *x)
{
    if (!w->skips_locations || *x != 0)
        th_serializer_double(w, x);
}

static void if_known(th_serializer *w, int64_t *x)
{
    if (!w->skips_locations || *x != 0)
        th_serializer_int64(w, x);
}

/* --- nodes --- */

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_accel) == 256 && sizeof(th_node) == 320, "see accel() and node()");
#endif

static void accel(th_serializer *w, th_accel *a)
{
    th_serializer_int64(w, &a->dram_bytes);
    th_serializer_int64(w, &a->dram_bits_per_s);
    th_serializer_int64(w, &a->dram_latency_ps);
    th_serializer_int64(w, &a->dram_burst_bytes);
    th_serializer_int(w, &a->dram_channels);
    th_serializer_int64(w, &a->dram_interleave_bytes);
    th_serializer_count(w, &a->dram_efficiency.n, TH_EFFICIENCY_POINTS_MAX);
    for (int i = 0; i < a->dram_efficiency.n; i++) {
        th_serializer_int64(w, &a->dram_efficiency.run_bytes[i]);
        th_serializer_double(w, &a->dram_efficiency.share[i]);
    }
    th_serializer_int64(w, &a->vector_hz);
    th_serializer_int64(w, &a->vector_elements_per_cycle);
    th_serializer_int64(w, &a->vector_exp_operations);
    th_serializer_int64(w, &a->vector_buffer_bytes);
    th_serializer_bool(w, &a->concat_is_free);
    cost(w, &a->cost);
    if_known(w, &a->mtbf_us);
    number_of(w, &a->n_designs);
}

static void node(th_serializer *w, th_node *n)
{
    uint8_t k = (uint8_t)n->kind;
    th_serializer_text(w, &n->name);
    kind(w, &k, TH_NODE_SWITCH + 1);
    n->kind = (th_node_kind)k;
    th_serializer_int(w, &n->group);
    th_serializer_bool(w, &n->forwards);
    th_serializer_bool(w, &n->reduces);
    if_known(w, &n->reduction_bits_per_s);
    if_known(w, &n->reduction_latency_ps);
    if_known(w, &n->mtbf_us);
    th_serializer_int(w, &n->level);
    th_serializer_int(w, &n->leaf_first);
    th_serializer_int(w, &n->n_leaves);
    w->failed |= !n->name;
    if (n->kind == TH_NODE_ACCEL)
        accel(w, &n->a);
}

static void write_nodes(th_serializer *w, const th_system *s)
{
    int n = s->n_nodes;
    number_of(w, &n);
    for (int i = 0; i < n; i++) {
        th_node copy = s->nodes[i];
        node(w, &copy);
        for (int j = 0; copy.kind == TH_NODE_ACCEL && j < copy.a.n_designs; j++) {
            int d = copy.a.designs[j];
            th_serializer_int(w, &d);
        }
    }
}

static int read_accel(th_serializer *w, th_system *s, int i, th_node *read, th_error *err)
{
    read->a.designs = th_alloc_array((size_t)read->a.n_designs + 1, sizeof *read->a.designs);
    if (!read->a.designs)
        return th_error_no_memory(err);
    for (int j = 0; j < read->a.n_designs; j++)
        index_of(w, &read->a.designs[j], 0, s->n_designs);
    int failed = w->failed ? -1 : th_system_set_accel(s, i, &read->a, err);
    th_free(read->a.designs);
    return failed;
}

static int read_nodes(th_serializer *w, th_system *s, th_error *err)
{
    int n = 0;
    number_of(w, &n);
    for (int i = 0; i < n; i++) {
        th_node read = {0};
        node(w, &read);
        if (w->failed || th_system_add_node(s, read.name, read.kind, read.group, err) < 0)
            return -1;
        th_node *made = &s->nodes[i];
        made->forwards = read.forwards;
        made->reduces = read.reduces;
        made->reduction_bits_per_s = read.reduction_bits_per_s;
        made->reduction_latency_ps = read.reduction_latency_ps;
        made->mtbf_us = read.mtbf_us;
        made->level = read.level;
        made->leaf_first = read.leaf_first;
        made->n_leaves = read.n_leaves;
        if (read.kind == TH_NODE_ACCEL && read_accel(w, s, i, &read, err))
            return -1;
    }
    return 0;
}

/* --- links --- */

static void medium(th_serializer *w, th_medium *m)
{
    th_serializer_int64(w, &m->bits_per_s);
    cost(w, &m->cost);
    if_known(w, &m->mtbf_us);
}

static void link_of(th_serializer *w, th_link *l, const th_system *s)
{
    const char *segment = l->from < 0 ? l->name : NULL; /* th_system_finish names the others */
    index_of(w, &l->from, -1, s->n_nodes);
    index_of(w, &l->to, -1, s->n_nodes);
    index_of(w, &l->medium, 0, s->n_media);
    th_serializer_int64(w, &l->latency_ps);
    th_serializer_bool(w, &l->is_dead);
    th_serializer_text(w, &segment);
    w->failed |= (l->from < 0) == !segment || (l->from < 0) != (l->to < 0);
    l->name = segment;
}

static void write_links(th_serializer *w, const th_system *s)
{
    int n_media = s->n_media, n_links = s->n_links;
    number_of(w, &n_media);
    for (int i = 0; i < n_media; i++) {
        th_medium m = s->media[i];
        medium(w, &m);
    }
    number_of(w, &n_links);
    for (int i = 0; i < n_links; i++) {
        th_link l = s->links[i];
        link_of(w, &l, s);
    }
}

static int add_link(th_system *s, const th_link *l, th_error *err)
{
    int i = l->from < 0 ? th_system_add_segment(s, l->name, l->medium, l->latency_ps, err)
                        : th_system_add_link(s, l->from, l->to, l->medium, l->latency_ps, err);
    if (i >= 0)
        s->links[i].is_dead = l->is_dead;
    return i < 0 ? -1 : 0;
}

static int read_links(th_serializer *w, th_system *s, th_error *err)
{
    int n = 0;
    number_of(w, &n);
    for (int i = 0; i < n; i++) {
        th_medium m = {0};
        medium(w, &m);
        if (w->failed || th_system_add_medium(s, m.bits_per_s, err) < 0)
            return -1;
        s->media[i].cost = m.cost;
        s->media[i].mtbf_us = m.mtbf_us;
    }
    number_of(w, &n);
    for (int i = 0; i < n; i++) {
        th_link l = {0};
        link_of(w, &l, s);
        if (w->failed || add_link(s, &l, err))
            return -1;
    }
    return 0;
}

/* --- routes --- */

static void write_routes(th_serializer *w, const th_system *s)
{
    th_explicit_route r;
    int n = 0;
    while (th_system_explicit_route(s, n, &r))
        n++;
    number_of(w, &n);
    for (int i = 0; th_system_explicit_route(s, i, &r); i++) {
        th_serializer_int(w, &r.from);
        th_serializer_int(w, &r.to);
        number_of(w, &r.n_links);
        for (int j = 0; j < r.n_links; j++) {
            int l = r.links[j];
            th_serializer_int(w, &l);
        }
    }
}

static int read_route(th_serializer *w, th_system *s, th_error *err)
{
    int links[TH_ROUTE_MAX], from = 0, to = 0, n = 0;
    index_of(w, &from, 0, s->n_nodes);
    index_of(w, &to, 0, s->n_nodes);
    th_serializer_count(w, &n, TH_ROUTE_MAX);
    for (int j = 0; j < n; j++)
        index_of(w, &links[j], 0, s->n_links);
    return w->failed ? -1 : th_system_add_route(s, from, to, links, n, err);
}

static int read_routes(th_serializer *w, th_system *s, th_error *err)
{
    int n = 0;
    number_of(w, &n);
    for (int i = 0; i < n; i++)
        if (read_route(w, s, err))
            return -1;
    return 0;
}

/* --- the rest --- */

static void shape(th_serializer *w, th_system *s)
{
    th_serializer_count(w, &s->n_dims, TH_MAX_DIMS);
    for (int i = 0; i < s->n_dims; i++) {
        th_serializer_int(w, &s->dims[i].kind);
        th_serializer_int(w, &s->dims[i].size);
    }
    th_serializer_double(w, &s->link_energy.j_per_byte);
    th_serializer_bool(w, &s->transfers_serially);
    th_serializer_double(w, &s->weight_memory);
    th_serializer_int64(w, &s->collective_start_ps);
}

static void astra(th_serializer *w, th_astra *a)
{
    th_serializer_count(w, &a->n_dims, TH_MAX_DIMS);
    for (int i = 0; i < a->n_dims; i++) {
        uint8_t k = (uint8_t)a->dims[i].kind;
        kind(w, &k, TH_TOPOLOGY_DIM_SWITCH + 1);
        a->dims[i].kind = (th_topology_dim_kind)k;
        th_serializer_int(w, &a->dims[i].size);
        th_serializer_double(w, &a->dims[i].gib_per_s);
        th_serializer_double(w, &a->dims[i].latency_ns);
    }
    th_serializer_int64(w, &a->endpoint_delay_ns);
    th_serializer_int64(w, &a->splits);
    th_serializer_int64(w, &a->active_chunks);
    th_serializer_double(w, &a->local_mem_gb_per_s);
    th_serializer_bool(w, &a->is_local_bw_aware);
    th_serializer_bytes(w, a->implementation, sizeof a->implementation);
}

void th_serializer_write_system(th_serializer *w, const th_system *s)
{
    th_system copy = *s; /* shallow, to be read from */
    const char *name = s->name, *routing = s->routing->name, *source = s->link_energy.source;
    bool has_astra = s->astra;
    th_serializer_text(w, &name);
    th_serializer_text(w, &routing);
    th_serializer_text(w, &source);
    shape(w, &copy);
    write_designs(w, s);
    write_nodes(w, s);
    write_links(w, s);
    write_routes(w, s);
    th_serializer_bool(w, &has_astra);
    if (has_astra) {
        th_astra a = *s->astra;
        astra(w, &a);
    }
}

static int read_astra(th_serializer *w, th_system *s, th_error *err)
{
    bool has_astra = false;
    th_serializer_bool(w, &has_astra);
    if (!has_astra)
        return w->failed ? -1 : 0;
    s->astra = th_alloc_zero(1, sizeof *s->astra);
    if (!s->astra)
        return th_error_no_memory(err);
    astra(w, s->astra);
    return w->failed ? -1 : 0;
}

static int read_rest(th_serializer *w, th_system *s, const char *routing, const char *source,
                     th_error *err)
{
    shape(w, s);
    s->routing = routing ? th_routing_find(routing) : NULL;
    if (source && !(s->link_energy.source = th_alloc_string(source)))
        return th_error_no_memory(err);
    if (read_designs(w, s, err) || read_nodes(w, s, err) || read_links(w, s, err) ||
        read_routes(w, s, err) || read_astra(w, s, err))
        return -1;
    return 0;
}

th_system *th_serializer_read_unfinished(th_serializer *w, th_error *err)
{
    const char *name = NULL, *routing = NULL, *source = NULL;
    th_error reason = {"", ""};
    th_serializer_text(w, &name);
    th_serializer_text(w, &routing);
    th_serializer_text(w, &source);
    th_system *s = name && !w->failed ? th_system_new(name, &reason) : NULL;
    if (s)
        s->max_links = TH_LINKS_MAX; /* the writer has applied the limit */
    if (s && read_rest(w, s, routing, source, &reason) == 0 && !w->failed)
        return s;
    th_system_free(s);
    if (reason.id[0])
        th_error_set(err, reason.id, "%s", reason.text);
    else
        th_error_set(err, "MAP-0100", "serialised system: truncated or damaged");
    return NULL;
}

th_system *th_serializer_read_system(th_serializer *w, th_error *err)
{
    th_system *s = th_serializer_read_unfinished(w, err);
    if (!s || th_system_finish(s, err) == 0)
        return s;
    th_system_free(s);
    return NULL;
}
