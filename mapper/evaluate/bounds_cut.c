/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_cut.c - lower bounds on the makespan from what must cross the links between hosts and
 * accelerators.
 *   find_cut: external inputs and outputs -> links at one place of all routes -> the best place */
#include <config.h>

#include "base/min_max.h"
#include "mapper/evaluate/bounds_state.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

typedef enum { AT_HOST, AT_ACCEL, NARROWEST, N_PLACES } place;

/* Which link of a route counts. */
static int link_of(const th_system *s, const int *links, int n, place where)
{
    int at = where == AT_ACCEL ? n - 1 : 0;
    for (int i = 0; where == NARROWEST && i < n; i++)
        if (s->media[s->links[links[i]].medium].bits_per_s <
            s->media[s->links[links[at]].medium].bits_per_s)
            at = i;
    return links[at];
}

typedef struct {
    bool *counted; /* by medium, or by link */
    double bytes_per_ps;
    int n;
} cut;

static void add_link(const th_bound_finder *f, int link, cut *c)
{
    const th_link *x = &f->system->links[link];
    bool by_link = th_bound_physics_of(f->problem) == TH_BOUND_SHARED_LINKS;
    bool *counted = &c->counted[by_link ? link : x->medium];
    if (*counted)
        return;
    int64_t bits = f->system->media[x->medium].bits_per_s;
    double part = f->floors.scope.bandwidth ? f->floors.scope.bandwidth[x->medium] : 1;
    *counted = true;
    c->n++;
    c->bytes_per_ps += bits == TH_UNLIMITED || th_has_stripes(f->system)
                           ? INFINITY
                           : part * (double)bits / 8 / (double)TH_PS_PER_S;
}

/* One link of the route between every accelerator and its host: all its bytes cross it. 0 or -1. */
static int add_routes(const th_bound_finder *f, const th_plans *plans, bool inwards, place where,
                      cut *c)
{
    int links[TH_ROUTE_MAX];
    for (int a = 0; a < f->system->n_accels; a++) {
        int host = th_plans_host_of(plans, a), node = f->system->accel_node[a];
        if (host < 0)
            continue;
        int n = th_route(f->system, inwards ? host : node, inwards ? node : host, links);
        if (n < 0)
            return -1;
        if (n > 0)
            add_link(f, link_of(f->system, links, n, where), c);
    }
    return 0;
}

/* What must cross the cut: bytes of all passes, the number of transfers of a pass that may share
 * it, and the least time before and after. */
typedef struct {
    double bytes, transfers, before, after;
} crossing;

static int external_bytes(const th_bound_finder *f, crossing *in)
{
    const th_workload *w = f->workload;
    double most = 0, sum = 0;
    in->after = INFINITY;
    for (int l = 0; l < w->n_layers; l++) {
        double own = 0;
        for (int i = 0; i < w->layers[l].n_inputs; i++) {
            if (w->layers[l].inputs[i] != TH_EXTERNAL_INPUT)
                continue;
            int64_t n = th_bound_elements_read(&w->layers[l], i);
            if (n < 0)
                return -1;
            const th_precision precision = w->layers[l].precision[TH_TENSOR_INPUT];
            own = fmax(own, (double)n * th_precision_bits(precision) / 8);
            in->transfers += f->system->n_accels;
            in->after = fmin(in->after, th_bound_remaining_ps(f, l));
        }
        sum += own;
        most = fmax(most, own);
    }
    in->bytes = w->has_own_inputs ? sum : most;
    in->bytes *= f->problem->stream.n_inputs;
    in->before = in->bytes > 0 ? f->floors.in.latency : 0; /* all that is read may be padding */
    return 0;
}

static void output_bytes(const th_bound_finder *f, crossing *out)
{
    const th_workload *w = f->workload;
    out->before = INFINITY;
    for (int i = 0; i < w->n_outputs; i++) {
        const th_layer *l = &w->layers[w->outputs[i]];
        out->bytes += (double)th_layer_output_elements(l) *
                      th_precision_bits(l->precision[TH_TENSOR_OUTPUT]) / 8;
        out->before = fmin(out->before, f->end[w->outputs[i]] + f->floors.out.latency);
    }
    out->bytes *= f->problem->stream.n_inputs;
    out->transfers = (double)w->n_outputs * f->system->n_accels;
}

static double crossing_ps(const crossing *x, double bytes, double bytes_per_ps)
{
    /* each transfer of the cut may be a thousandth of a picosecond short (sim/kernel/fluid_time.h)
     */
    return x->before + fmax(bytes / bytes_per_ps - 1e-3 * x->transfers, 0) + x->after;
}

static void keep_cut(th_bound_finder *f, double ps, double in, double out, const cut *c)
{
    th_bounds *b = f->out;
    char ins[40], outs[40];
    th_time whole = th_bound_round_up_ps(ps);
    if (whole <= b->makespan_ps[TH_LIMIT_CUT])
        return;
    b->makespan_ps[TH_LIMIT_CUT] = whole;
    th_format_bytes((int64_t)in, ins, sizeof ins);
    th_format_bytes((int64_t)out, outs, sizeof outs);
    snprintf(b->why[TH_LIMIT_CUT], sizeof b->why[0], "%s%s%s over %d link%s", in > 0 ? ins : outs,
             in > 0 ? " in" : " out", in > 0 && out > 0 ? " and out" : "", c->n,
             c->n == 1 ? "" : "s");
}

/* By the links at one place: in, out, and both where half-duplex links carry both. */
static int cut_at(th_bound_finder *f, const th_plans *plans, place where, const crossing *in,
                  const crossing *out)
{
    size_t n = (size_t)f->system->n_links + (size_t)f->system->n_media + 1;
    cut both = {.counted = th_alloc_zero(n, sizeof(bool))},
        to = {.counted = th_alloc_zero(n, sizeof(bool))},
        from = {.counted = th_alloc_zero(n, sizeof(bool))};
    int failed = both.counted && to.counted && from.counted ? 0 : -1;
    if (!failed)
        failed = add_routes(f, plans, true, where, &to) ||
                         add_routes(f, plans, false, where, &from) ||
                         add_routes(f, plans, true, where, &both) ||
                         add_routes(f, plans, false, where, &both)
                     ? -1
                     : 0;
    if (!failed) {
        const crossing all = {.transfers = in->transfers + out->transfers, .before = in->before};
        if (to.n > 0)
            keep_cut(f, crossing_ps(in, in->bytes, to.bytes_per_ps), in->bytes, 0, &to);
        if (from.n > 0)
            keep_cut(f, crossing_ps(out, out->bytes, from.bytes_per_ps), 0, out->bytes, &from);
        if (both.n > 0)
            keep_cut(f, crossing_ps(&all, in->bytes + out->bytes, both.bytes_per_ps), in->bytes,
                     out->bytes, &both);
    }
    th_free(both.counted);
    th_free(to.counted);
    th_free(from.counted);
    return failed;
}

/* Where transfers do not share links, each has the fastest route alone; but one of the transfers
 * of a pass moves at least the mean. */
static void free_cut(th_bound_finder *f, const crossing *in, const crossing *out)
{
    double passes = (double)f->problem->stream.n_inputs * f->problem->stream.micro_batches;
    const crossing *of[2] = {in, out};
    const double ps_per_byte[2] = {f->in_ps_per_byte, f->floors.out.ps_per_byte};
    const cut one = {.n = 1};
    for (int i = 0; i < 2; i++) {
        double share = of[i]->transfers > 0 ? of[i]->bytes / passes / of[i]->transfers : 0;
        keep_cut(f, of[i]->before + share * ps_per_byte[i] + of[i]->after, i ? 0 : share,
                 i ? share : 0, &one);
    }
}

int th_bound_find_cut(th_bound_finder *f, th_error *err)
{
    crossing in = {0}, out = {0};
    th_bound_physics how = th_bound_physics_of(f->problem);
    bool is_known = how != TH_BOUND_NO_LINKS && how != TH_BOUND_SERIAL;
    snprintf(f->out->why[TH_LIMIT_CUT], sizeof f->out->why[0],
             is_known ? "nothing must cross links" : "unknown");
    if (!f->floors.in.exists)
        return 0;
    if (external_bytes(f, &in))
        return th_error_no_memory(err);
    if (in.after == INFINITY)
        in.after = 0;
    output_bytes(f, &out);
    in.transfers *= th_max(f->floors.scope.chunks, 1);
    out.transfers *= th_max(f->floors.scope.chunks, 1);
    if (how == TH_BOUND_FREE_LINKS) {
        free_cut(f, &in, &out);
        return 0;
    }
    th_plans *plans = th_plans_new(f->system, f->workload, err);
    int failed = plans ? 0 : -1;
    for (int where = 0; !failed && where < N_PLACES; where++)
        failed = cut_at(f, plans, (place)where, &in, &out) ? th_error_no_memory(err) : 0;
    th_plans_free(plans);
    return failed;
}
