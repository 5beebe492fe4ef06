/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice_list.c - th_advice_list: which changes a system allows. A change whose system cannot be
 * made (a torus of a prime number, a design that lacks a key) is left out. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "report/what_if/advice.h"
#include "report/what_if/advice_system.h"
#include "report/what_if/what_if.h"

const char *const th_advice_names[TH_N_ADVICE + 1] = {
    [TH_ADVICE_ACCELERATOR] = "accelerator",
    [TH_ADVICE_BANDWIDTH] = "bandwidth",
    [TH_ADVICE_DRAM_BANDWIDTH] = "dram_bandwidth",
    [TH_ADVICE_CLOCK] = "clock",
    [TH_ADVICE_MEMORY] = "memory",
    [TH_ADVICE_DESIGN] = "design",
    [TH_ADVICE_TOPOLOGY] = "topology",
};

static const double twice = 1; /* th_what_ifs.by */

typedef struct lister {
    const th_system *system;
    th_advice *advice;
    int32_t *kind;    /* by accelerator: the first one with its properties */
    int32_t *members; /* accelerators or links of the present change */
    bool *taken;      /* links */
    th_error *err;
} lister;

static th_accel *accel_of(const lister *l, int32_t a)
{
    return &l->system->nodes[l->system->accel_node[a]].a;
}

static const char *name_of(const lister *l, int32_t a)
{
    return l->system->nodes[l->system->accel_node[a]].name;
}

/* Takes over system; what is copied. 0, or -1: memory is out. */
static int add_item(th_advice *a, th_advice_item item, const char *what, th_error *err)
{
    item.what = th_alloc_string(what);
    if (!item.what || th_grow(&a->all, &a->capacity, (size_t)a->n + 1, sizeof *a->all) != 0) {
        th_free(item.what);
        th_system_free(item.system);
        return th_error_no_memory(err);
    }
    a->all[a->n++] = item;
    return 0;
}

/* A system that cannot be made is left out; 0, or -1: memory is out. */
static int left_out(const lister *l, const th_error *why)
{
    return th_error_is_no_memory(why) ? th_error_no_memory(l->err) : 0;
}

/* ---- kinds of accelerators ---- */

static bool same_kind(const th_accel *a, const th_accel *b)
{
    bool same = a->dram_bits_per_s == b->dram_bits_per_s && a->dram_bytes == b->dram_bytes &&
                a->dram_latency_ps == b->dram_latency_ps && a->vector_hz == b->vector_hz &&
                a->vector_elements_per_cycle == b->vector_elements_per_cycle &&
                a->cost == b->cost && a->n_designs == b->n_designs;
    for (int d = 0; same && d < a->n_designs; d++)
        same = a->designs[d] == b->designs[d];
    return same;
}

static void find_kinds(lister *l)
{
    for (int32_t a = 0; a < l->system->n_accels; a++) {
        int32_t first = 0;
        while (!same_kind(accel_of(l, first), accel_of(l, a)))
            first++;
        l->kind[a] = first;
    }
}

static bool is_kind(const lister *l, int32_t a)
{
    return l->kind[a] == a;
}

/* Its accelerators in l->members; returns how many. */
static int members_of(lister *l, int32_t kind)
{
    int n = 0;
    for (int32_t a = 0; a < l->system->n_accels; a++)
        if (l->kind[a] == kind)
            l->members[n++] = a;
    return n;
}

/* "accel/3", "all 8 accels", "accel/0 +3". */
static void name_members(const lister *l, int n, char *out, size_t size)
{
    if (n == 1)
        snprintf(out, size, "accel/%s", name_of(l, l->members[0]));
    else if (n == l->system->n_accels)
        snprintf(out, size, "all %d accels", n);
    else
        snprintf(out, size, "accel/%s +%d", name_of(l, l->members[0]), n - 1);
}

static void price(const lister *l, th_advice_item *item, int n)
{
    double each = l->advice->request.cost[item->kind];
    item->has_cost = each >= 0;
    item->cost = item->has_cost ? each * n : 0;
}

/* ---- more accelerators ---- */

static int add_more_of(lister *l, int32_t last)
{
    char what[200];
    th_error why = {"", ""};
    th_system *made = th_system_with_more(l->system, last, &why);
    if (!made)
        return left_out(l, &why);
    int n = made->n_accels - l->system->n_accels;
    if (n == 1)
        snprintf(what, sizeof what, "accel/%s like accel/%s",
                 made->nodes[made->accel_node[made->n_accels - 1]].name, name_of(l, last));
    else
        snprintf(what, sizeof what, "%d more like accel/%s", n, name_of(l, last));
    th_advice_item item = {.kind = TH_ADVICE_ACCELERATOR,
                           .has_cost = accel_of(l, last)->cost > 0,
                           .cost = th_system_cost(made) - th_system_cost(l->system),
                           .system = made};
    return add_item(l->advice, item, what, l->err);
}

static int add_more(lister *l)
{
    for (int32_t kind = 0; kind < l->system->n_accels; kind++)
        if (is_kind(l, kind) && add_more_of(l, l->members[members_of(l, kind) - 1]) != 0)
            return -1;
    return 0;
}

/* ---- twice as much of a property ---- */

static int add_doubled(lister *l, th_advice_item item, th_what_if_property property, int n,
                       const char *what)
{
    th_error why = {"", ""};
    item.system = th_what_if_system(
        l->system, &(th_what_if){.what = (int32_t)property, .objects = l->members, .n = n}, twice,
        &why);
    return item.system ? add_item(l->advice, item, what, l->err) : left_out(l, &why);
}

static void value_text(const lister *l, th_what_if_property property, char *out, size_t size)
{
    const th_accel *a = accel_of(l, l->members[0]);
    char text[64];
    out[0] = '\0';
    if (property == TH_WHAT_IF_DRAM_BANDWIDTH)
        snprintf(out, size, ": %s", th_format_bandwidth(2 * a->dram_bits_per_s, text, sizeof text));
    else if (property == TH_WHAT_IF_MEMORY)
        snprintf(out, size, ": %s", th_format_bytes(2 * a->dram_bytes, text, sizeof text));
    else
        snprintf(out, size, ": x2");
}

static int add_of_accels(lister *l, th_advice_kind kind, th_what_if_property property, int n)
{
    char who[100], value[80], what[200];
    th_advice_item item = {.kind = kind};
    if (!th_what_if_applies(l->system, property, l->members[0]) ||
        (property == TH_WHAT_IF_CLOCK && !th_what_if_is_of_designs(l->system, l->members, n)))
        return 0;
    name_members(l, n, who, sizeof who);
    value_text(l, property, value, sizeof value);
    snprintf(what, sizeof what, "%s%s", who, value);
    price(l, &item, n);
    return add_doubled(l, item, property, n, what);
}

static int add_by_kind(lister *l, th_advice_kind kind, th_what_if_property property)
{
    for (int32_t a = 0; a < l->system->n_accels; a++)
        if (is_kind(l, a) && add_of_accels(l, kind, property, members_of(l, a)) != 0)
            return -1;
    return 0;
}

/* The clock of a design that several kinds share can only change for all of them. */
static int add_clocks(lister *l)
{
    int before = l->advice->n;
    if (add_by_kind(l, TH_ADVICE_CLOCK, TH_WHAT_IF_CLOCK) != 0)
        return -1;
    if (l->advice->n > before)
        return 0;
    for (int32_t a = 0; a < l->system->n_accels; a++)
        l->members[a] = a;
    return add_of_accels(l, TH_ADVICE_CLOCK, TH_WHAT_IF_CLOCK, l->system->n_accels);
}

/* ---- twice the bandwidth of links ---- */

static bool has_host(const th_system *s, const th_link *x)
{
    return (x->from >= 0 && s->nodes[x->from].kind == TH_NODE_HOST) ||
           (x->to >= 0 && s->nodes[x->to].kind == TH_NODE_HOST);
}

static bool same_links(const th_system *s, int a, int b)
{
    const th_link *x = &s->links[a], *y = &s->links[b];
    const th_medium *p = &s->media[x->medium], *q = &s->media[y->medium];
    return x->medium == y->medium ||
           (p->bits_per_s == q->bits_per_s && p->cost == q->cost &&
            x->latency_ps == y->latency_ps && has_host(s, x) == has_host(s, y));
}

/* Links like this one in l->members, which are taken then; *cost: of as many again, 0: unknown.
 * Returns how many. */
static int take_links_like(lister *l, int first, double *cost)
{
    const th_system *s = l->system;
    bool all_priced = true;
    int n = 0;
    *cost = 0;
    for (int k = first; k < s->n_links; k++) {
        if (l->taken[k] || !same_links(s, first, k) ||
            !th_what_if_applies(s, TH_WHAT_IF_BANDWIDTH, k))
            continue;
        l->taken[k] = true;
        bool is_new = true; /* a medium counts once */
        for (int i = n - 1; i >= 0 && is_new; i--)
            is_new = s->links[l->members[i]].medium != s->links[k].medium;
        double each = s->media[s->links[k].medium].cost;
        *cost += is_new ? each : 0;
        all_priced &= each > 0;
        l->members[n++] = k;
    }
    if (!all_priced)
        *cost = 0;
    return n;
}

static int add_bandwidths(lister *l)
{
    const th_system *s = l->system;
    char what[200], rate[64];
    for (int first = 0; first < s->n_links; first++) {
        double cost;
        int n = l->taken[first] ? 0 : take_links_like(l, first, &cost);
        if (n == 0)
            continue;
        th_format_bandwidth(2 * s->media[s->links[first].medium].bits_per_s, rate, sizeof rate);
        if (n == s->n_links)
            snprintf(what, sizeof what, "all %d links: %s", n, rate);
        else if (n == 1)
            snprintf(what, sizeof what, "link/%s: %s", s->links[first].name, rate);
        else
            snprintf(what, sizeof what, "link/%s +%d: %s", s->links[first].name, n - 1, rate);
        th_advice_item item = {.kind = TH_ADVICE_BANDWIDTH, .has_cost = cost > 0, .cost = cost};
        if (add_doubled(l, item, TH_WHAT_IF_BANDWIDTH, n, what) != 0)
            return -1;
    }
    return 0;
}

/* ---- other designs ---- */

/* A design that stands for a product (a GPU, measurements), not for a configuration. */
static bool is_product(const lister *l, int design)
{
    static const char *const types[] = {"learned", "roofline", "table"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (strcmp(l->system->designs[design].type, types[t]) == 0)
            return true;
    return false;
}

static bool may_have(const lister *l, int32_t kind, int design)
{
    const th_accel *a = accel_of(l, kind);
    for (int d = 0; d < a->n_designs; d++)
        if (a->designs[d] == design || is_product(l, a->designs[d]))
            return false;
    return !is_product(l, design);
}

static int add_design(lister *l, int32_t kind, int design)
{
    char who[100], what[200];
    th_error why = {"", ""};
    int n = members_of(l, kind);
    bool is_adaptive = accel_of(l, kind)->n_designs > 1;
    th_advice_item item = {.kind = TH_ADVICE_DESIGN};
    item.system = th_system_with_design(l->system, l->members, n, design, &why);
    if (!item.system)
        return left_out(l, &why);
    name_members(l, n, who, sizeof who);
    snprintf(what, sizeof what, "%s %s %s", who, is_adaptive ? "also" : "as",
             l->system->designs[design].name);
    price(l, &item, n);
    return add_item(l->advice, item, what, l->err);
}

static int add_designs(lister *l)
{
    for (int32_t a = 0; a < l->system->n_accels; a++)
        for (int d = 0; is_kind(l, a) && d < l->system->n_designs; d++)
            if (may_have(l, a, d) && add_design(l, a, d) != 0)
                return -1;
    return 0;
}

/* ---- other topologies ---- */

/* The sides of the squarest grid of n; false: n is prime, or too small. */
static bool grid_of(int n, int sides[2])
{
    sides[0] = 0;
    for (int side = 2; side * side <= n; side++)
        if (n % side == 0)
            sides[0] = side;
    sides[1] = sides[0] > 0 ? n / sides[0] : 0;
    return sides[0] > 0;
}

/* dims of a topology of n accelerators; false: there is none. */
static bool dims_of(const char *type, int n, th_topology_options *o)
{
    bool is_grid = strcmp(type, "mesh") == 0 || strcmp(type, "torus") == 0;
    o->n_dims = 1;
    o->dims[0] = n;
    if (is_grid) {
        o->n_dims = 2;
        return grid_of(n, o->dims) && (strcmp(type, "mesh") == 0 || o->dims[1] > 2);
    }
    if (strcmp(type, "hypercube") == 0)
        for (o->dims[0] = 0; 1 << o->dims[0] < n;)
            o->dims[0]++;
    return strcmp(type, "hypercube") != 0 || (1 << o->dims[0] == n && n > 4);
}

static bool is_present(const th_system *s, const th_topology_type *type,
                       const th_topology_options *o)
{
    const th_generator_spec *g = s->generator;
    bool same = g && g->type == type && g->options.n_dims == o->n_dims;
    for (int d = 0; same && d < o->n_dims; d++)
        same = g->options.dims[d] == o->dims[d];
    return same;
}

static int add_topology(lister *l, const th_fabric *f, const th_topology_type *type,
                        th_topology_options o)
{
    char what[200], rate[64], dims[60] = "";
    th_error why = {"", ""};
    th_system *made = th_system_with_topology(l->system, type, &o, &why);
    if (!made)
        return left_out(l, &why);
    th_fabric now = th_fabric_of(made);
    bool has_other_rate = o.bits_per_s[0] != f->cable_bits_per_s;
    for (int d = 0; d < o.n_dims; d++)
        snprintf(dims + strlen(dims), sizeof dims - strlen(dims), d > 0 ? "x%d" : " %d", o.dims[d]);
    snprintf(what, sizeof what, "%s%s: %d x %s", type->name, dims, now.n_cables,
             th_format_bandwidth(o.bits_per_s[0], rate, sizeof rate));
    th_advice_item item = {.kind = TH_ADVICE_TOPOLOGY, .system = made};
    item.has_cost = has_other_rate || now.n_cables == f->n_cables || f->cable_cost > 0;
    item.cost = has_other_rate ? 0 : (now.n_cables - f->n_cables) * f->cable_cost;
    return add_item(l->advice, item, what, l->err);
}

/* The number of cables that a topology takes; 0: it cannot be made. */
static int count_cables(const lister *l, const th_topology_type *type, const th_topology_options *o)
{
    th_error why = {"", ""};
    th_system *made = th_system_with_topology(l->system, type, o, &why);
    int n = made ? th_fabric_of(made).n_cables : 0;
    th_system_free(made);
    return n;
}

/* A rate from 1 Gbit/s on in whole Mbit/s, which reads better and is less than 0.1 % off. */
static int64_t whole_mbps(double bits_per_s)
{
    return bits_per_s < 1e9 ? (int64_t)bits_per_s : llround(bits_per_s / 1e6) * 1000000;
}

/* With the same cables, and with the same sum of bandwidths: the same cost, where a cable costs
 * what it carries. */
static int add_both(lister *l, const th_fabric *f, const char *name)
{
    const th_topology_type *type = th_topology_find(name);
    th_topology_options o = {.bits_per_s = {f->cable_bits_per_s},
                             .latency_ps = {f->cable_latency_ps},
                             .n_bandwidths = 1,
                             .n_latencies = 1,
                             .with_host = f->has_host,
                             .host_bits_per_s = f->host_bits_per_s,
                             .host_latency_ps = f->host_latency_ps,
                             .cost = f->cable_cost,
                             .host_cost = f->host_cost};
    if (!dims_of(name, l->system->n_accels, &o) || is_present(l->system, type, &o))
        return 0;
    int n = count_cables(l, type, &o);
    if (n == 0 || add_topology(l, f, type, o) != 0)
        return n == 0 ? 0 : -1;
    o.bits_per_s[0] = whole_mbps(f->bits_per_s / (2.0 * n));
    return o.bits_per_s[0] != f->cable_bits_per_s ? add_topology(l, f, type, o) : 0;
}

static int add_topologies(lister *l)
{
    static const char *const names[] = {"ring", "mesh", "torus", "hypercube", "fully_connected",
                                        "star"};
    const th_fabric f = th_fabric_of(l->system);
    for (size_t t = 0; f.is_plain && t < sizeof names / sizeof *names; t++)
        if (add_both(l, &f, names[t]) != 0)
            return -1;
    return 0;
}

/* ---- all of them ---- */

static int add_all(lister *l)
{
    const bool *wants = l->advice->request.wants;
    if ((wants[TH_ADVICE_ACCELERATOR] && add_more(l) != 0) ||
        (wants[TH_ADVICE_BANDWIDTH] && add_bandwidths(l) != 0) ||
        (wants[TH_ADVICE_DRAM_BANDWIDTH] &&
         add_by_kind(l, TH_ADVICE_DRAM_BANDWIDTH, TH_WHAT_IF_DRAM_BANDWIDTH) != 0) ||
        (wants[TH_ADVICE_CLOCK] && add_clocks(l) != 0) ||
        (wants[TH_ADVICE_MEMORY] && add_by_kind(l, TH_ADVICE_MEMORY, TH_WHAT_IF_MEMORY) != 0) ||
        (wants[TH_ADVICE_DESIGN] && add_designs(l) != 0) ||
        (wants[TH_ADVICE_TOPOLOGY] && add_topologies(l) != 0))
        return -1;
    return 0;
}

int th_advice_list(const th_session *s, th_advice *a, th_error *err)
{
    size_t most = (size_t)(s->system->n_links + s->system->n_accels) + 1;
    lister l = {.system = s->system,
                .advice = a,
                .kind = th_alloc_array(most, sizeof *l.kind),
                .members = th_alloc_array(most, sizeof *l.members),
                .taken = th_alloc_zero(most, sizeof *l.taken),
                .err = err};
    int failed = l.kind && l.members && l.taken ? 0 : th_error_no_memory(err);
    if (!failed)
        find_kinds(&l);
    if (!failed)
        failed = add_all(&l);
    th_free(l.kind);
    th_free(l.members);
    th_free(l.taken);
    return failed;
}
