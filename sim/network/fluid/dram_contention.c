/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dram_contention.c - which DRAMs flows and the engines of an accelerator contend for.
 *
 *   init -> reset -> use* -> update -> (settle by fluid.c) -> ...
 *
 * A DRAM limits a flow only if flows and engines together could saturate it at a level below what
 * the links leave the flow. Let u be the bandwidth of the accelerator's links that flows use now.
 * Its flows get u at most, and each of its TH_N_ENGINES engines a level of (DRAM - u) /
 * TH_N_ENGINES at least. While that exceeds the bandwidth of its fastest link, a link limits every
 * flow, and the engines get what flows leave: the engines stay out of the solver, and the
 * accelerator collapses its tasks (accelerator.c). So a DRAM that flows could saturate (is_shared)
 * becomes contended when the links in use exceed that bandwidth, and stays so until no flow uses
 * it. Explicit routes may bring more over segments, so with them every flow makes it contended.
 * With weights this holds as no engine weighs less than a flow at its DRAM (fluid.c).
 * Invariant: used_bits is the sum over the accelerator's links with flows_first or flows_last above
 * 0. */
#include <config.h>

#include <string.h>

#include "sim/network/fluid/fluid.h"
#include "sim/pipeline/schedule.h"

/* --- life ------------------------------------------------------------------------------------- */

static int64_t bits_of(const th_system *s, int32_t link)
{
    return s->media[s->links[link].medium].bits_per_s;
}

/* Bandwidth of links in use above which the DRAM could limit a flow; 0: any flow makes it
 * contended. */
static int64_t contended_from_bits(const th_system *s, int node)
{
    int64_t engines, most;
    if (s->routes.explicit ||
        __builtin_mul_overflow(th_network_node_rates(s, node).fastest, TH_N_ENGINES, &engines))
        return 0;
    most = s->nodes[node].a.dram_bits_per_s - engines;
    return most > 0 ? most : 0;
}

int th_dram_contention_init(th_fluid *f, const th_system *s)
{
    size_t accels = (size_t)s->n_accels + 1, links = (size_t)s->n_links + 1;
    f->dram.used_bits = th_memory_take(&f->head.memory, accels, sizeof *f->dram.used_bits);
    f->dram.contended_from_bits =
        th_memory_take(&f->head.memory, accels, sizeof *f->dram.contended_from_bits);
    f->dram.flows_first = th_memory_take(&f->head.memory, links, sizeof *f->dram.flows_first);
    f->dram.flows_last = th_memory_take(&f->head.memory, links, sizeof *f->dram.flows_last);
    f->dram.changed = th_memory_take(&f->head.memory, accels, sizeof *f->dram.changed);
    f->dram.is_changed = th_memory_take(&f->head.memory, accels, sizeof *f->dram.is_changed);
    if (f->head.memory.is_out)
        return -1;
    for (int a = 0; a < s->n_accels; a++) {
        f->dram.any_shared |= f->head.is_shared[a];
        f->dram.contended_from_bits[a] =
            f->head.is_shared[a] ? contended_from_bits(s, s->accel_node[a]) : TH_NEVER_CONTENDED;
    }
    return 0;
}

static void mark_changed(th_fluid *f, int32_t accel)
{
    if (f->dram.is_changed[accel])
        return;
    f->dram.is_changed[accel] = true;
    f->dram.changed[f->dram.n_changed++] = accel;
}

void th_dram_contention_reset(th_fluid *f)
{
    const th_system *s = f->head.system;
    memset(f->dram.used_bits, 0, (size_t)s->n_accels * sizeof *f->dram.used_bits);
    memset(f->dram.flows_first, 0, (size_t)s->n_links * sizeof *f->dram.flows_first);
    memset(f->dram.flows_last, 0, (size_t)s->n_links * sizeof *f->dram.flows_last);
    memset(f->dram.is_changed, 0, (size_t)s->n_accels * sizeof *f->dram.is_changed);
    f->dram.n_changed = 0;
    for (int32_t a = 0; a < s->n_accels; a++)
        if (f->head.is_contended[a]) /* as all that are shared, until the first update */
            mark_changed(f, a);
}

/* --- flows enter and leave -------------------------------------------------------------------- */

static void use(th_fluid *f, int32_t accel, int32_t link, int32_t *flows, int by)
{
    if (accel < 0 || f->dram.contended_from_bits[accel] == TH_NEVER_CONTENDED)
        return;
    bool was_used = *flows > 0;
    *flows += by;
    if (was_used == (*flows > 0))
        return;
    f->dram.used_bits[accel] += by * bits_of(f->head.system, link);
    mark_changed(f, accel);
}

void th_dram_contention_use(th_fluid *f, const th_fluid_flow *w, int by)
{
    if (!f->dram.any_shared)
        return;
    const int32_t *link = &f->routes.links.item[w->route.first];
    int32_t first = link[0], last = link[w->route.n_links - 1];
    use(f, w->accel[0], first, &f->dram.flows_first[first], by);
    use(f, w->accel[1], last, &f->dram.flows_last[last], by);
}

/* --- contention ------------------------------------------------------------------------------- */

/* Its flows get the DRAM as one more medium. Those outside the solver enter it first, with the
 * media on which they are alone. */
static int reenter_flows(th_fluid *f, int32_t accel, th_time now)
{
    const th_fluid_list *there = &f->demand.at_accel[accel];
    for (size_t i = 0; i < there->n; i++) {
        int32_t slot = there->item[i] >> 1;
        if (f->flows[slot].sharing == TH_FLUID_UNCONTENDED && th_fluid_enter_solver(f, slot))
            return -1;
    }
    f->head.is_contended[accel] = true;
    for (size_t i = 0; i < there->n; i++) {
        int32_t slot = there->item[i] >> 1;
        th_maxmin_remove(f->shares, slot);
        th_virtual_time_remove(f, slot, now);
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
        th_virtual_time_remove(f, slot, 0); /* it never ends, so no time counts */
    }
}

static int toggle(th_fluid *f, int32_t accel, th_time now)
{
    f->head.toggled[f->head.n_toggled++] = accel;
    if (!f->head.is_contended[accel])
        return reenter_flows(f, accel, now);
    f->head.is_contended[accel] = false;
    drop_engines(f, accel);
    return 0;
}

int th_dram_contention_update(th_network *n, th_time now)
{
    th_fluid *f = (th_fluid *)n;
    n->n_toggled = 0;
    if (n->has_failed) /* some flow is missing from the solver */
        return -1;
    for (int32_t i = 0; i < f->dram.n_changed; i++) {
        int32_t accel = f->dram.changed[i];
        bool has_flows = f->dram.used_bits[accel] > 0;
        bool is_wanted =
            has_flows && (n->is_contended[accel] ||
                          f->dram.used_bits[accel] >= f->dram.contended_from_bits[accel]);
        f->dram.is_changed[accel] = false;
        if (is_wanted != n->is_contended[accel] && toggle(f, accel, now))
            return -1;
    }
    f->dram.n_changed = 0;
    return 0;
}
