/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.c - the table of network models, and the code that they share: link statistics, slots of
 * flows. */
#include <config.h>

#include "sim/network/models.h"

#include <string.h>

#include "base/alloc.h"
#include "base/min_max.h"
#include "sim/pipeline/schedule.h"

const th_network_type *const th_network_types[] = {
    &th_network_fluid,       &th_network_ideal,         &th_network_packet,
    &th_network_astra_aware, &th_network_astra_unaware, NULL};

const th_network_type *th_network_find(const char *name)
{
    for (int i = 0; th_network_types[i]; i++)
        if (strcmp(th_network_types[i]->name, name) == 0)
            return th_network_types[i];
    return NULL;
}

void th_network_of_mappings(const th_system *s, const th_network_type **type, th_network_options *o)
{
    if (!s->transfers_serially)
        return;
    *type = &th_network_ideal;
    o->ignores_drams = true;
}

int th_network_failed(const th_network *n, th_error *err)
{
    if (!n->why.id[0])
        return th_error_no_memory(err);
    return th_error_set(err, n->why.id, "%s", n->why.text);
}

static void add_link(const th_system *s, int link, th_node_rates *sum)
{
    int64_t bits_per_s = s->media[s->links[link].medium].bits_per_s;
    sum->all = th_bytes_add(sum->all, bits_per_s);
    sum->fastest = th_max(sum->fastest, bits_per_s);
}

th_node_rates th_network_node_rates(const th_system *s, int node)
{
    th_node_rates sum = {0, 0};
    for (int i = s->adjacency.out_start[node]; i < s->adjacency.out_start[node + 1]; i++)
        add_link(s, s->adjacency.out_links[i], &sum);
    for (int i = s->adjacency.in_start[node]; i < s->adjacency.in_start[node + 1]; i++)
        add_link(s, s->adjacency.in_links[i], &sum);
    return sum;
}

/* A DRAM is shared when flows could be limited by it. They cannot when, even with all its links
 * full both ways, an equal share of the rest among the engines exceeds what any one link can bring:
 * then max-min fairness fixes every flow elsewhere, and the engines get what flows leave. */
bool th_network_dram_is_shared(const th_system *s, int node)
{
    const th_node_rates links = th_network_node_rates(s, node);
    double dram = (double)s->nodes[node].a.dram_bits_per_s;
    /* explicit routes may bring more, over segments */
    return s->routes.explicit || (dram - (double)links.all) / TH_N_ENGINES <= (double)links.fastest;
}

int th_network_head_init(th_network *n, const th_network_type *type, const th_system *s)
{
    size_t links = (size_t)s->n_links + 1, accels = (size_t)s->n_accels + 1;
    *n = (th_network){.type = type, .system = s};
    n->link_bytes = th_memory_take(&n->memory, links, sizeof *n->link_bytes);
    n->link_busy_ps = th_memory_take(&n->memory, links, sizeof *n->link_busy_ps);
    n->link_since = th_memory_take(&n->memory, links, sizeof *n->link_since);
    n->link_flows = th_memory_take(&n->memory, links, sizeof *n->link_flows);
    n->link_flow_ps = th_memory_take(&n->memory, links, sizeof *n->link_flow_ps);
    n->link_peak_flows = th_memory_take(&n->memory, links, sizeof *n->link_peak_flows);
    n->accel_dram_demand = th_memory_take(&n->memory, accels, sizeof *n->accel_dram_demand);
    n->engine_rate = th_memory_take(&n->memory, accels * TH_N_ENGINES, sizeof *n->engine_rate);
    n->is_shared = th_memory_take(&n->memory, accels, sizeof *n->is_shared);
    n->is_contended = th_memory_take(&n->memory, accels, sizeof *n->is_contended);
    n->toggled = th_memory_take(&n->memory, accels, sizeof *n->toggled);
    n->touched = th_memory_take(&n->memory, accels, sizeof *n->touched);
    if (n->memory.is_out)
        return -1;
    for (int a = 0; a < s->n_accels; a++)
        n->is_contended[a] = n->is_shared[a] =
            type->demand && th_network_dram_is_shared(s, s->accel_node[a]);
    return 0;
}

void th_network_head_reset(th_network *n)
{
    size_t links = (size_t)n->system->n_links, accels = (size_t)n->system->n_accels;
    memset(n->link_bytes, 0, links * sizeof *n->link_bytes);
    memset(n->link_busy_ps, 0, links * sizeof *n->link_busy_ps);
    memset(n->link_flows, 0, links * sizeof *n->link_flows);
    memset(n->link_flow_ps, 0, links * sizeof *n->link_flow_ps);
    memset(n->link_peak_flows, 0, links * sizeof *n->link_peak_flows);
    memset(n->accel_dram_demand, 0, accels * sizeof *n->accel_dram_demand);
    memset(n->engine_rate, 0, accels * TH_N_ENGINES * sizeof *n->engine_rate);
    memcpy(n->is_contended, n->is_shared, accels * sizeof *n->is_contended);
    n->n_touched = n->n_toggled = 0;
    th_detours_clear(&n->detours);
    if (n->n_stripes_left > 0)
        memset(n->stripes_left, 0, n->n_stripes_left);
    n->fault_ps = 0;
    n->has_failed = false;
    n->why = (th_error){"", ""};
}

void th_network_head_clear(th_network *n)
{
    th_memory_free(&n->memory);
    th_detours_clear(&n->detours);
    th_free(n->stripes_left);
}

int th_network_settle_nothing(th_network *n, th_events *q, th_time now)
{
    (void)q;
    (void)now;
    n->n_touched = 0;
    return n->has_failed ? -1 : 0;
}

/* ---- flows ---- */

void th_slots_reset(th_slots *x)
{
    x->n = 0;
    x->is_free = -1;
}

int32_t th_slots_take(th_slots *x, void *flows, size_t size)
{
    int32_t slot = x->is_free;
    if (slot >= 0) {
        const char *array;
        memcpy(&array, flows, sizeof array);
        memcpy(&x->is_free, array + (size_t)slot * size, sizeof x->is_free);
        return slot;
    }
    if (x->n >= TH_FLOWS_MAX || th_grow(flows, &x->room, x->n + 1, size))
        return -1;
    return (int32_t)x->n++;
}

void th_slots_give(th_slots *x, void *flow, int32_t slot)
{
    memcpy(flow, &x->is_free, sizeof x->is_free);
    x->is_free = slot;
}

static int fail_too_slow(int64_t bytes, const char *from, const char *to, th_error *err)
{
    return th_error_set(err, "NET-0037",
                        "%lld bytes from \"%s\" to \"%s\" take longer than any run: 106 days",
                        (long long)bytes, from, to);
}

bool th_network_is_too_slow(const th_error *err)
{
    th_error expected;
    fail_too_slow(0, "", "", &expected);
    return strcmp(err->id, expected.id) == 0;
}

th_time th_network_end(th_network *n, const th_message *m, th_time now, th_time duration_ps)
{
    th_time end = th_time_add(th_time_add(now, m->delay_ps), duration_ps);
    const th_node *nodes = n->system->nodes;
    return end < TH_TIME_MAX
               ? end
               : fail_too_slow(m->bytes, nodes[m->src].name, nodes[m->dst].name, &n->why);
}

static int64_t dram_bits(const th_node *n)
{
    return n->kind == TH_NODE_ACCEL ? n->a.dram_bits_per_s : TH_UNLIMITED;
}

int64_t th_network_dram_bits(const th_system *s, int src, int dst)
{
    int64_t a = dram_bits(&s->nodes[src]), b = dram_bits(&s->nodes[dst]);
    return a < b ? a : b;
}

/* ---- links ---- */

void th_network_link_enter(th_network *n, int link, th_time now)
{
    if (n->link_flows[link]++ == 0)
        n->link_since[link] = now;
    if (n->link_flows[link] > n->link_peak_flows[link])
        n->link_peak_flows[link] = n->link_flows[link];
    n->link_flow_ps[link] -= (uint64_t)now;
    TH_NOTIFY(n->observers, link, now, link, n->link_flows[link], 1);
}

void th_network_link_leave(th_network *n, int link, th_time now, int64_t bytes)
{
    n->link_bytes[link] = th_bytes_add(n->link_bytes[link], bytes);
    n->link_flow_ps[link] += (uint64_t)now;
    if (--n->link_flows[link] == 0)
        n->link_busy_ps[link] += now - n->link_since[link];
    TH_NOTIFY(n->observers, link, now, link, n->link_flows[link], -1);
}
