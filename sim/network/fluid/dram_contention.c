/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dram_contention.c - which DRAMs flows and the engines of an accelerator contend for.
 *
 *   init -> reset -> (add_flow | remove_flow)* -> update -> (settle by fluid.c) -> ... -> clear
 *
 * A DRAM limits a flow only if flows and engines together could saturate it at a level below what
 * the links leave the flow. Let u be the bandwidth of the accelerator's links that flows use now.
 * Its flows get u at most, and each of its TH_N_ENGINES engines a level of (DRAM - u) /
 * TH_N_ENGINES at least. While that exceeds the bandwidth of its fastest link, a link limits every
 * flow, and the engines get what flows leave: the engines stay out of the solver, and the
 * accelerator collapses its tasks (accelerator.c). So a DRAM that flows could saturate (is_shared)
 * becomes contended when the links in use exceed that bandwidth, and stays so until no flow uses
 * it. Explicit routes may bring more over segments, so with them every flow makes it contended.
 * Invariant: used_bits is the sum over the accelerator's links with flows_first or flows_last above
 * 0. */
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

/* Bandwidth of links in use above which the DRAM could limit a flow; 0: any flow makes it
 * contended. */
static int64_t contended_from_bits(const th_system *s, int node)
{
    int64_t engines, most;
    if (s->explicit_routes || __builtin_mul_overflow(fastest_link(s, node), TH_N_ENGINES, &engines))
        return 0;
    most = s->nodes[node].a.dram_bits_per_s - engines;
    return most > 0 ? most : 0;
}

int th_dram_contention_init(th_fluid *f, const th_system *s)
{
    size_t accels = (size_t)s->n_accels + 1, links = (size_t)s->n_links + 1;
    f->used_bits = th_alloc_zero(accels, sizeof *f->used_bits);
    f->contended_from_bits = th_alloc_zero(accels, sizeof *f->contended_from_bits);
    f->flows_first = th_alloc_zero(links, sizeof *f->flows_first);
    f->flows_last = th_alloc_zero(links, sizeof *f->flows_last);
    f->used_changed = th_alloc_zero(accels, sizeof *f->used_changed);
    f->is_used_changed = th_alloc_zero(accels, sizeof *f->is_used_changed);
    if (!f->used_bits || !f->contended_from_bits || !f->flows_first || !f->flows_last ||
        !f->used_changed || !f->is_used_changed)
        return -1;
    for (int a = 0; a < s->n_accels; a++) {
        f->any_shared |= f->head.is_shared[a];
        f->contended_from_bits[a] =
            f->head.is_shared[a] ? contended_from_bits(s, s->accel_node[a]) : TH_NEVER_CONTENDED;
    }
    return 0;
}

void th_dram_contention_clear(th_fluid *f)
{
    th_free(f->used_bits);
    th_free(f->contended_from_bits);
    th_free(f->flows_first);
    th_free(f->flows_last);
    th_free(f->used_changed);
    th_free(f->is_used_changed);
}

static void note(th_fluid *f, int32_t accel)
{
    if (f->is_used_changed[accel])
        return;
    f->is_used_changed[accel] = true;
    f->used_changed[f->n_used_changed++] = accel;
}

void th_dram_contention_reset(th_fluid *f)
{
    const th_system *s = f->head.system;
    memset(f->used_bits, 0, (size_t)s->n_accels * sizeof *f->used_bits);
    memset(f->flows_first, 0, (size_t)s->n_links * sizeof *f->flows_first);
    memset(f->flows_last, 0, (size_t)s->n_links * sizeof *f->flows_last);
    memset(f->is_used_changed, 0, (size_t)s->n_accels * sizeof *f->is_used_changed);
    f->n_used_changed = 0;
    for (int32_t a = 0; a < s->n_accels; a++)
        if (f->head.is_contended[a]) /* as all that are shared, until couple is asked */
            note(f, a);
}

/* --- flows come and go ------------------------------------------------------------------------ */

static void use(th_fluid *f, int32_t accel, int32_t link, int32_t *flows, int by)
{
    if (accel < 0 || f->contended_from_bits[accel] == TH_NEVER_CONTENDED)
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

void th_dram_contention_add_flow(th_fluid *f, const th_fluid_flow *w)
{
    use_ends(f, w, 1);
}

void th_dram_contention_remove_flow(th_fluid *f, const th_fluid_flow *w)
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
        if (f->flows[slot].sharing == TH_FLUID_UNCONTENDED && th_fluid_enter_solver(f, slot))
            return -1;
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

static int turn(th_fluid *f, int32_t accel, th_time now)
{
    f->head.is_contended[accel] = !f->head.is_contended[accel];
    f->head.toggled[f->head.n_toggled++] = accel;
    if (f->head.is_contended[accel])
        return share_anew(f, accel, now);
    drop_engines(f, accel);
    return 0;
}

int th_dram_contention_update(th_network *n, th_time now)
{
    th_fluid *f = (th_fluid *)n;
    n->n_toggled = 0;
    if (f->out_of_memory) /* some flow is not where it should be */
        return -1;
    for (int32_t i = 0; i < f->n_used_changed; i++) {
        int32_t accel = f->used_changed[i];
        bool has_flows = f->used_bits[accel] > 0;
        bool is_wanted = has_flows && (n->is_contended[accel] ||
                                       f->used_bits[accel] >= f->contended_from_bits[accel]);
        f->is_used_changed[accel] = false;
        if (is_wanted != n->is_contended[accel] && turn(f, accel, now))
            return -1;
    }
    f->n_used_changed = 0;
    return 0;
}
