/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dram_contention.c - where flows and the engines of an accelerator are to be solved together.
 *
 *   reset -> (arrives | departs)* -> couple -> (settle by fluid.c) -> ...
 *
 * A DRAM limits a flow only where flows and engines could together saturate it at a level below
 * what links leave the flow. With u the bandwidth of the links of the accelerator that flows are on
 * now, its flows have u at most, and the TH_N_ENGINES engines a level of (DRAM - u) / TH_N_ENGINES
 * at least. While that exceeds the bandwidth of its fastest link, every flow is fixed by a link,
 * and the engines get what flows leave: they need not be among the flows, and accelerators fold
 * their tasks (accelerator.c). So a DRAM that flows could saturate (is_shared) is coupled from the
 * instant on when enough of its links are in use, until no flow is on it. Of explicit routes, which
 * may bring more over segments, every flow couples. Invariant: used_bits is the sum over the
 * accelerator's links with flows_first or flows_last above 0. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "sim/network/fluid/fluid.h"
#include "sim/pipeline/schedule.h"

/* --- life ------------------------------------------------------------------------------------- */

static int64_t bits_of(const th_system *s, int32_t link)
{
    return s->media[s->links[link].medium].bits_per_s;
}

static int64_t fastest_link(const th_system *s, int node)
{
    int64_t fastest = 0;
    for (int i = s->out_start[node]; i < s->out_start[node + 1]; i++)
        fastest = bits_of(s, s->out_links[i]) > fastest ? bits_of(s, s->out_links[i]) : fastest;
    for (int i = s->in_start[node]; i < s->in_start[node + 1]; i++)
        fastest = bits_of(s, s->in_links[i]) > fastest ? bits_of(s, s->in_links[i]) : fastest;
    return fastest;
}

/* In use from which on the DRAM could limit a flow; 0: any flow couples. */
static int64_t most_bits(const th_system *s, int node)
{
    int64_t engines, most;
    if (s->explicit_routes || __builtin_mul_overflow(fastest_link(s, node), TH_N_ENGINES, &engines))
        return 0;
    most = s->nodes[node].a.dram_bits_per_s - engines;
    return most > 0 ? most : 0;
}

int th_fluid_couple_init(th_fluid *f, const th_system *s)
{
    size_t accels = (size_t)s->n_accels + 1, links = (size_t)s->n_links + 1;
    f->used_bits = th_alloc_zero(accels, sizeof *f->used_bits);
    f->most_bits = th_alloc_zero(accels, sizeof *f->most_bits);
    f->flows_first = th_alloc_zero(links, sizeof *f->flows_first);
    f->flows_last = th_alloc_zero(links, sizeof *f->flows_last);
    f->used_anew = th_alloc_zero(accels, sizeof *f->used_anew);
    f->is_used_anew = th_alloc_zero(accels, sizeof *f->is_used_anew);
    if (!f->used_bits || !f->most_bits || !f->flows_first || !f->flows_last || !f->used_anew ||
        !f->is_used_anew)
        return -1;
    for (int a = 0; a < s->n_accels; a++) {
        f->any_shared |= f->head.is_shared[a];
        f->most_bits[a] = f->head.is_shared[a] ? most_bits(s, s->accel_node[a]) : TH_NEVER_COUPLED;
    }
    return 0;
}

void th_fluid_couple_clear(th_fluid *f)
{
    th_free(f->used_bits);
    th_free(f->most_bits);
    th_free(f->flows_first);
    th_free(f->flows_last);
    th_free(f->used_anew);
    th_free(f->is_used_anew);
}

static void note(th_fluid *f, int32_t accel)
{
    if (f->is_used_anew[accel])
        return;
    f->is_used_anew[accel] = true;
    f->used_anew[f->n_used_anew++] = accel;
}

void th_fluid_couple_reset(th_fluid *f)
{
    const th_system *s = f->head.system;
    memset(f->used_bits, 0, (size_t)s->n_accels * sizeof *f->used_bits);
    memset(f->flows_first, 0, (size_t)s->n_links * sizeof *f->flows_first);
    memset(f->flows_last, 0, (size_t)s->n_links * sizeof *f->flows_last);
    memset(f->is_used_anew, 0, (size_t)s->n_accels * sizeof *f->is_used_anew);
    f->n_used_anew = 0;
    for (int32_t a = 0; a < s->n_accels; a++)
        if (f->head.is_coupled[a]) /* as all that are shared, until couple is asked */
            note(f, a);
}

/* --- flows come and go ------------------------------------------------------------------------ */

static void use(th_fluid *f, int32_t accel, int32_t link, int32_t *flows, int by)
{
    if (accel < 0 || f->most_bits[accel] == TH_NEVER_COUPLED)
        return;
    bool was_used = *flows > 0;
    *flows += by;
    if (was_used == (*flows > 0))
        return;
    f->used_bits[accel] += by * bits_of(f->head.system, link);
    note(f, accel);
}

static void use_ends(th_fluid *f, const th_fluid_flow *w, int by)
{
    if (!f->any_shared)
        return;
    const int32_t *link = &f->routes.links.item[w->route.first];
    int32_t first = link[0], last = link[w->route.n_links - 1];
    use(f, w->accel[0], first, &f->flows_first[first], by);
    use(f, w->accel[1], last, &f->flows_last[last], by);
}

void th_fluid_arrives(th_fluid *f, const th_fluid_flow *w)
{
    use_ends(f, w, 1);
}

void th_fluid_departs(th_fluid *f, const th_fluid_flow *w)
{
    use_ends(f, w, -1);
}

/* --- coupling --------------------------------------------------------------------------------- */

static int share_anew(th_fluid *f, int32_t accel, th_time now)
{
    const th_fluid_list *there = &f->at_accel[accel];
    for (size_t i = 0; i < there->n; i++) {
        int32_t slot = there->item[i] >> 1;
        if (f->flows[slot].sharing == TH_FLUID_ENTERED)
            continue;
        if (f->flows[slot].sharing == TH_FLUID_ALONE && th_fluid_mingle(f, slot))
            return -1;
        th_maxmin_remove(f->shares, slot);
        th_fluid_quit(f, slot, now);
        if (th_fluid_share(f, slot))
            return -1;
    }
    return 0;
}

static void drop_engines(th_fluid *f, int32_t accel)
{
    for (int32_t slot = accel * TH_N_ENGINES; slot < (accel + 1) * TH_N_ENGINES; slot++) {
        f->head.engine_rate[slot] = 0;
        if (f->flows[slot].sharing == TH_FLUID_OUTSIDE)
            continue;
        f->flows[slot].sharing = TH_FLUID_OUTSIDE;
        th_maxmin_remove(f->shares, slot);
        th_fluid_quit(f, slot, 0); /* it never ends, so no time counts */
    }
}

static int turn(th_fluid *f, int32_t accel, th_time now)
{
    f->head.is_coupled[accel] = !f->head.is_coupled[accel];
    f->head.turned[f->head.n_turned++] = accel;
    if (f->head.is_coupled[accel])
        return share_anew(f, accel, now);
    drop_engines(f, accel);
    return 0;
}

int th_fluid_couple(th_network *n, th_time now)
{
    th_fluid *f = (th_fluid *)n;
    n->n_turned = 0;
    if (f->out_of_memory) /* some flow is not where it should be */
        return -1;
    for (int32_t i = 0; i < f->n_used_anew; i++) {
        int32_t accel = f->used_anew[i];
        bool has_flows = f->used_bits[accel] > 0;
        bool is_wanted =
            has_flows && (n->is_coupled[accel] || f->used_bits[accel] >= f->most_bits[accel]);
        f->is_used_anew[accel] = false;
        if (is_wanted != n->is_coupled[accel] && turn(f, accel, now))
            return -1;
    }
    f->n_used_anew = 0;
    return 0;
}
