/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.c - lower bounds on the makespan, from what single layers take at least.
 *
 *   find: floors of all layers (bounds_layer.c) -> heads and tails (the graph) -> the four bounds
 *
 * head[l]: no task of layer l starts earlier after its pass is released. end[l]: no part of its
 * output is there earlier. tail[l]: the pass goes on for so long after any task of it. Work that is
 * done between the least head and the least tail by all accelerators together gives, over any set of
 * layers, makespan >= head + work / rate + tail (the bound of J. Carlier, "The one-machine sequencing
 * problem", EJOR 1982, for machines together); work is accelerator time, or bytes of DRAM. The proofs
 * are in docs/models/bounds.md. */
#include <config.h>

#include "mapper/bounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/bounds_layer.h"
#include "mapper/lower/plan_state.h"
#include "topology/route.h"

const char *th_limit_name(th_limit l)
{
    switch (l) {
    case TH_LIMIT_COMPUTE:
        return "compute";
    case TH_LIMIT_MEMORY:
        return "memory";
    case TH_LIMIT_CUT:
        return "cut";
    case TH_LIMIT_PATH:
        return "critical path";
    case TH_N_LIMITS:
        break;
    }
    return NULL;
}

typedef struct {
    const th_problem *problem;
    const th_workload *workload;
    const th_system *system;
    th_floors floors;
    double in_ps_per_byte; /* of the widest way from a host, also where that says nothing of a position */
    th_layer_floor *floor; /* by layer: the lesser of those of both sizes of micro-batch */
    double *work, *bytes;  /* by layer, of all passes */
    double *head, *end, *tail;
    int32_t *from;  /* by layer: the input that head follows; -1: the external one, or none */
    int32_t *order; /* layers by descending tail */
    th_bounds *out;
} finder;

/* Physics that the bounds on transfers hold for; those of ASTRA-sim follow no links. */
typedef enum { NO_LINKS, FREE_LINKS, SHARED_MEDIA, SHARED_LINKS } physics;

static physics physics_of(const th_problem *p)
{
    const char *name = (p->network ? p->network : th_network_types[0])->name;
    return strcmp(name, "fluid") == 0    ? SHARED_MEDIA
           : strcmp(name, "packet") == 0 ? SHARED_LINKS
           : strcmp(name, "ideal") == 0  ? FREE_LINKS
                                         : NO_LINKS;
}

/* Times are whole picoseconds; sums of doubles are exact but for their rounding. */
static th_time whole_ps(double ps)
{
    static const double SLACK = 1e-12;
    double least = ceil(ps * (1 - SLACK) - SLACK);
    return least <= 0 ? 0 : least < 0x1p62 ? (th_time)least : (th_time)1 << 62;
}

/* --- floors of the layers ---------------------------------------------------------------------- */

static void take_lesser(th_layer_floor *a, const th_layer_floor *b)
{
    for (int in = 0; in < 2; in++)
        for (int out = 0; out < 2; out++)
            a->shortest[in][out] = fmin(a->shortest[in][out], b->shortest[in][out]);
    a->arrival = fmin(a->arrival, b->arrival);
    a->reads_always &= b->reads_always;
    a->reads_any &= b->reads_any;
    a->is_known &= b->is_known;
}

static int find_floor(finder *f, int layer, th_error *err)
{
    const th_stream *s = &f->problem->stream;
    int32_t small = f->workload->batch / s->micro_batches,
            n_large = f->workload->batch % s->micro_batches;
    double n = s->n_inputs, n_small = s->micro_batches - n_large;
    th_layer_floor large = {.occupied = 0}, *least = &f->floor[layer];
    if (th_floors_layer(&f->floors, layer, small, least, err) ||
        (n_large > 0 && th_floors_layer(&f->floors, layer, small + 1, &large, err)))
        return -1;
    f->work[layer] = n * (n_small * least->occupied + n_large * large.occupied);
    f->bytes[layer] = n * (n_small * least->dram_bytes + n_large * large.dram_bytes);
    if (n_large > 0)
        take_lesser(least, &large);
    return 0;
}

static bool is_output(const th_workload *w, int layer)
{
    return w->consumer_start[layer] == w->consumer_start[layer + 1];
}

/* Does no host give it anything, nor take anything from it? Then its shape says it all. */
static bool is_inner(const th_workload *w, int layer)
{
    for (int i = 0; i < w->layers[layer].n_inputs; i++)
        if (w->layers[layer].inputs[i] == TH_EXTERNAL_INPUT)
            return false;
    return !is_output(w, layer);
}

/* The first inner layer of the same shape. */
static int first_alike(const th_plans *plans, const th_workload *w, int layer)
{
    int l = 0;
    while (l < layer && (th_plans_class(plans, l) != th_plans_class(plans, layer) ||
                         !is_inner(w, l) || !is_inner(w, layer)))
        l++;
    return l;
}

static int find_floors(finder *f, th_error *err)
{
    th_plans *plans = th_plans_new(f->system, f->workload, err);
    int failed = plans ? 0 : -1;
    for (int l = 0; !failed && l < f->workload->n_layers; l++) {
        int same = first_alike(plans, f->workload, l);
        if (same == l) {
            failed = find_floor(f, l, err);
        } else {
            f->floor[l] = f->floor[same];
            f->work[l] = f->work[same];
            f->bytes[l] = f->bytes[same];
        }
    }
    th_plans_free(plans);
    return failed;
}

/* --- what is read ------------------------------------------------------------------------------ */

/* Rows (dim H, kernel R) or columns (W, S) of input i that layer l reads at all: strides may leave some
 * out. -1: memory is out. */
static int64_t count_read(const th_layer *l, int i, th_dim dim, th_dim kernel, int32_t extent)
{
    int axis = dim == TH_DIM_H ? 2 : 3;
    bool *read = th_alloc_zero((size_t)extent + 1, sizeof *read);
    int64_t n = 0;
    if (!read)
        return -1;
    for (int32_t at = 0; at < l->dim[dim]; at++) {
        for (int32_t tap = 0; tap < l->dim[kernel]; tap++) {
            th_loop_box unit = th_layer_loops(l);
            unit.lo[dim] = at;
            unit.hi[dim] = at + 1;
            unit.lo[kernel] = tap;
            unit.hi[kernel] = tap + 1;
            th_box box = th_layer_input_of(l, i, &unit);
            for (int32_t x = box.lo[axis]; !th_box_is_empty(&box) && x < box.hi[axis]; x++)
                read[x] = true;
        }
    }
    for (int32_t x = 0; x < extent; x++)
        n += read[x];
    th_free(read);
    return n;
}

/* Elements of input i that layer l reads, of one image of all. -1: memory is out. */
static int64_t elements_read(const th_layer *l, int i)
{
    th_loop_box all = th_layer_loops(l);
    th_box box = th_layer_input_of(l, i, &all);
    bool has_gaps = l->stride_h > 1 || l->stride_w > 1 || l->dilation_h > 1 || l->dilation_w > 1 ||
                    l->up_h > 1 || l->up_w > 1;
    if (th_box_is_empty(&box) || !has_gaps)
        return th_box_elements(&box);
    int64_t rows = count_read(l, i, TH_DIM_H, TH_DIM_R, box.hi[2]),
            columns = count_read(l, i, TH_DIM_W, TH_DIM_S, box.hi[3]);
    if (rows < 0 || columns < 0)
        return -1;
    return (int64_t)(box.hi[0] - box.lo[0]) * (box.hi[1] - box.lo[1]) * rows * columns;
}

/* --- heads and tails --------------------------------------------------------------------------- */

/* When all parts of all inputs (least: of the one that is there first) may be there, of those that layers
 * make. */
static double head_of(const finder *f, int l, bool least, int32_t *from)
{
    const th_layer *x = &f->workload->layers[l];
    double head = least ? INFINITY : 0;
    *from = -1;
    for (int i = 0; i < x->n_inputs; i++) {
        int32_t input = x->inputs[i];
        double end = input < 0 ? 0 : f->end[input];
        if (least ? end < head : end > head) {
            head = end;
            *from = input;
        }
    }
    return head;
}

static void find_heads(finder *f)
{
    for (int l = 0; l < f->workload->n_layers; l++) {
        const th_layer_floor *x = &f->floor[l];
        double made = 0;
        f->from[l] = -1;
        if (x->reads_always || x->reads_any)
            made = head_of(f, l, !x->reads_always, &f->from[l]);
        f->head[l] = fmax(made, x->arrival);
        f->end[l] = fmax(made + x->shortest[0][0], x->shortest[1][0]);
        if (x->shortest[1][0] > made + x->shortest[0][0])
            f->from[l] = -1;
    }
}

/* Of a position of layer l, from its start to the end of its pass. */
static double rest_of(const finder *f, int l)
{
    const th_layer_floor *x = &f->floor[l];
    return is_output(f->workload, l) ? x->shortest[0][1] : x->shortest[0][0] + f->tail[l];
}

/* Whoever reads all of a layer comes after each task of it. 0, or -1: memory is out. */
static int find_tails(finder *f)
{
    const th_workload *w = f->workload;
    for (int l = w->n_layers - 1; l >= 0; l--) {
        f->tail[l] = is_output(w, l) && f->floors.out.exists ? f->floors.out.latency : 0;
        for (int32_t i = w->consumer_start[l]; i < w->consumer_start[l + 1]; i++) {
            const th_layer *c = &w->layers[w->consumers[i]];
            for (int j = 0; j < c->n_inputs; j++) {
                int64_t read = c->inputs[j] == l ? elements_read(c, j) : 0;
                if (read < 0)
                    return -1;
                if (read == th_layer_output_elements(&w->layers[l]))
                    f->tail[l] = fmax(f->tail[l], rest_of(f, w->consumers[i]));
            }
        }
    }
    return 0;
}

static void sort_by_tail(finder *f)
{
    for (int l = 0; l < f->workload->n_layers; l++) {
        int at = l;
        for (; at > 0 && f->tail[f->order[at - 1]] < f->tail[l]; at--)
            f->order[at] = f->order[at - 1];
        f->order[at] = l;
    }
}

/* --- compute, memory --------------------------------------------------------------------------- */

/* The most over all heads h and tails t of h + (what layers have to do that start no sooner than h and are
 * followed by t at least) / rate + t. *n: how many layers these are. */
static double rate_bound(const finder *f, const double *amount, double rate, bool with_heads, int *n)
{
    double most = 0;
    for (int first = 0; first < f->workload->n_layers; first++) {
        double head = with_heads ? f->head[first] : 0, sum = 0;
        int count = 0;
        for (int i = 0; i < f->workload->n_layers; i++) {
            int l = f->order[i];
            if (with_heads && f->head[l] < head)
                continue;
            sum += amount[l];
            count++;
            if (head + sum / rate + f->tail[l] > most) {
                most = head + sum / rate + f->tail[l];
                *n = count;
            }
        }
    }
    return most;
}

static void find_compute(finder *f)
{
    th_bounds *b = f->out;
    double rate = th_floors_speed(&f->floors);
    int n = 0, unknown = 0;
    for (int l = 0; l < f->workload->n_layers; l++)
        unknown += f->work[l] == 0;
    double ps = rate > 0 ? rate_bound(f, f->work, rate, true, &n) : 0;
    b->makespan_ps[TH_LIMIT_COMPUTE] = whole_ps(ps);
    snprintf(b->why[TH_LIMIT_COMPUTE], sizeof b->why[0],
             "%d of %d layers on %d accelerators", n, f->workload->n_layers,
             f->system->n_accels);
    if (unknown > 0 && strlen(b->why[TH_LIMIT_COMPUTE]) < sizeof b->why[0] / 2)
        snprintf(b->why[TH_LIMIT_COMPUTE] + strlen(b->why[TH_LIMIT_COMPUTE]), sizeof b->why[0] / 2,
                 "; %d unknown", unknown);
}

static void find_memory(finder *f)
{
    th_bounds *b = f->out;
    double bytes_per_ps = 0, sum = 0;
    bool prefetches = false;
    int n = 0;
    char text[40];
    for (int a = 0; a < f->system->n_accels; a++) {
        const th_accel *x = &f->system->nodes[f->system->accel_node[a]].a;
        prefetches |= x->prefetches;
        bytes_per_ps += x->dram_bits_per_s == TH_UNLIMITED
                            ? INFINITY
                            : (double)x->dram_bits_per_s / 8 / (double)TH_PS_PER_S;
    }
    for (int l = 0; l < f->workload->n_layers; l++)
        sum += f->bytes[l];
    double ps =
        isinf(bytes_per_ps) ? 0 : rate_bound(f, f->bytes, bytes_per_ps, !prefetches, &n);
    b->makespan_ps[TH_LIMIT_MEMORY] = whole_ps(ps);
    snprintf(b->why[TH_LIMIT_MEMORY], sizeof b->why[0], "%s through %d DRAMs",
             th_format_bytes((int64_t)fmin(ceil(sum), 0x1p62), text, sizeof text), f->system->n_accels);
}

/* --- the cut between hosts and accelerators ----------------------------------------------------- */

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

static void add_link(const finder *f, int link, cut *c)
{
    const th_link *x = &f->system->links[link];
    bool *counted = &c->counted[physics_of(f->problem) == SHARED_LINKS ? link : x->medium];
    if (*counted)
        return;
    int64_t bits = f->system->media[x->medium].bits_per_s;
    *counted = true;
    c->n++;
    c->bytes_per_ps += bits == TH_UNLIMITED ? INFINITY : (double)bits / 8 / (double)TH_PS_PER_S;
}

/* One link of the route of every accelerator to or from its host: all its bytes go over it. 0 or -1. */
static int add_routes(const finder *f, const th_plans *plans, bool inwards, place where, cut *c)
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

/* What must cross the cut, in bytes of all passes, the number of transfers of a pass that may share it,
 * and what comes before and after. */
typedef struct {
    double bytes, transfers, before, after;
} crossing;

static int external_bytes(const finder *f, crossing *in)
{
    const th_workload *w = f->workload;
    double most = 0, sum = 0;
    in->after = INFINITY;
    for (int l = 0; l < w->n_layers; l++) {
        double own = 0;
        for (int i = 0; i < w->layers[l].n_inputs; i++) {
            if (w->layers[l].inputs[i] != TH_EXTERNAL_INPUT)
                continue;
            int64_t n = elements_read(&w->layers[l], i);
            if (n < 0)
                return -1;
            own = fmax(own, (double)n);
            in->transfers += f->system->n_accels;
            in->after = fmin(in->after, rest_of(f, l));
        }
        sum += own;
        most = fmax(most, own);
    }
    in->bytes = (w->has_own_inputs ? sum : most) * th_precision_bits(w->precision) / 8;
    in->bytes *= f->problem->stream.n_inputs;
    in->before = in->bytes > 0 ? f->floors.in.latency : 0; /* all that is read may be padding */
    return 0;
}

static void output_bytes(const finder *f, crossing *out)
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
    /* each transfer of the cut may be a thousandth of a picosecond short (sim/fluid_time.h) */
    return x->before + fmax(bytes / bytes_per_ps - 1e-3 * x->transfers, 0) + x->after;
}

static void keep_cut(finder *f, double ps, double in, double out, const cut *c)
{
    th_bounds *b = f->out;
    char ins[40], outs[40];
    th_time whole = whole_ps(ps);
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
static int cut_at(finder *f, const th_plans *plans, place where, const crossing *in,
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
        const crossing all = {.transfers = in->transfers + out->transfers,
                              .before = in->before};
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

/* Where links are not shared, a transfer has the widest way for itself; but one of those of a pass moves
 * its share at least. */
static void free_cut(finder *f, const crossing *in, const crossing *out)
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

/* 0, or -1: memory is out. */
static int find_cut(finder *f, th_error *err)
{
    crossing in = {0}, out = {0};
    physics how = physics_of(f->problem);
    snprintf(f->out->why[TH_LIMIT_CUT], sizeof f->out->why[0], "nothing must cross links");
    if (!f->floors.in.exists || how == NO_LINKS)
        return 0;
    if (external_bytes(f, &in))
        return th_error_no_memory(err);
    if (in.after == INFINITY)
        in.after = 0;
    output_bytes(f, &out);
    if (how == FREE_LINKS) {
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

/* --- the critical path -------------------------------------------------------------------------- */

static int path_length(const finder *f, int l, int *first)
{
    int n = 1;
    for (*first = l; f->from[*first] >= 0; n++)
        *first = f->from[*first];
    return n;
}

static void find_path(finder *f)
{
    const th_workload *w = f->workload;
    th_bounds *b = f->out;
    double most = 0;
    int last = w->outputs[0], first, n;
    for (int i = 0; i < w->n_outputs; i++) {
        int l = w->outputs[i];
        const th_layer_floor *x = &f->floor[l];
        double made = f->from[l] >= 0 ? f->end[f->from[l]] : 0;
        double ps = fmax(made + x->shortest[0][1], x->shortest[1][1]);
        if (ps > most) {
            most = ps;
            last = l;
        }
    }
    th_time since = (f->problem->stream.n_inputs - 1) * f->problem->stream.interval_ps;
    b->makespan_ps[TH_LIMIT_PATH] = since + whole_ps(most);
    n = path_length(f, last, &first);
    snprintf(b->why[TH_LIMIT_PATH], sizeof b->why[0], "%d layer%s, %.14s .. %.14s", n,
             n == 1 ? "" : "s", w->layers[first].name, w->layers[last].name);
}

/* --- all ---------------------------------------------------------------------------------------- */

static int allocate(finder *f, th_error *err)
{
    size_t n = (size_t)f->workload->n_layers + 1;
    f->floor = th_alloc_zero(n, sizeof *f->floor);
    f->work = th_alloc_zero(n, sizeof *f->work);
    f->bytes = th_alloc_zero(n, sizeof *f->bytes);
    f->head = th_alloc_zero(n, sizeof *f->head);
    f->end = th_alloc_zero(n, sizeof *f->end);
    f->tail = th_alloc_zero(n, sizeof *f->tail);
    f->from = th_alloc_zero(n, sizeof *f->from);
    f->order = th_alloc_zero(n, sizeof *f->order);
    return f->floor && f->work && f->bytes && f->head && f->end && f->tail && f->from && f->order
               ? 0
               : th_error_no_memory(err);
}

/* What the network does with transfers to and from hosts. */
static void set_ways(finder *f)
{
    physics how = physics_of(f->problem);
    f->floors.in.exists &= how != NO_LINKS;
    f->floors.out.exists &= how != NO_LINKS;
    f->in_ps_per_byte = f->floors.in.ps_per_byte;
    int readings = 0;
    for (int l = 0; l < f->workload->n_layers; l++)
        for (int i = 0; i < f->workload->layers[l].n_inputs; i++)
            readings += f->workload->layers[l].inputs[i] == TH_EXTERNAL_INPUT;
    if (how == FREE_LINKS && readings > 1) /* parts may come at once, for several readings */
        f->floors.in.ps_per_byte = 0;
}

static void finish(finder *f)
{
    th_bounds *b = f->out;
    for (int i = 0; i < TH_N_LIMITS; i++) {
        b->interval_ps[i] = b->makespan_ps[i] / f->problem->stream.n_inputs;
        if (b->makespan_ps[i] > b->makespan_ps[b->largest])
            b->largest = (th_limit)i;
    }
}

static int find(finder *f, th_error *err)
{
    set_ways(f);
    if (allocate(f, err) || find_floors(f, err))
        return -1;
    find_heads(f);
    if (find_tails(f))
        return th_error_no_memory(err);
    sort_by_tail(f);
    find_compute(f);
    find_memory(f);
    if (find_cut(f, err))
        return -1;
    find_path(f);
    finish(f);
    return 0;
}

th_cuts th_bounds_cuts_of(const th_mapping *m)
{
    for (int i = 0; i < m->n_sets; i++)
        if (m->sets[i].shares)
            return TH_CUTS_ANY;
    return TH_CUTS_EVEN;
}

static void clear(finder *f)
{
    th_floors_clear(&f->floors);
    th_free(f->floor);
    th_free(f->work);
    th_free(f->bytes);
    th_free(f->head);
    th_free(f->end);
    th_free(f->tail);
    th_free(f->from);
    th_free(f->order);
}

int th_bounds_find(const th_problem *p, th_cuts cuts, th_bounds *out, th_error *err)
{
    finder f = {.problem = p, .workload = p->workload, .system = p->system, .out = out};
    *out = (th_bounds){.largest = TH_LIMIT_COMPUTE};
    if (th_stream_check(&p->stream, p->workload, err))
        return -1;
    if (p->system->transfers_serially) {
        for (int i = 0; i < TH_N_LIMITS; i++)
            snprintf(out->why[i], sizeof out->why[i], "unknown: transfers are serial");
        return 0;
    }
    int failed = th_floors_init(&f.floors, p->system, p->workload, err);
    f.floors.any_cuts =
        cuts == TH_CUTS_ANY || (cuts == TH_CUTS_OF_SEARCHES && f.floors.n_classes > 1);
    if (!failed)
        failed = find(&f, err);
    clear(&f);
    return failed;
}

int th_bounds_tails(const th_problem *p, double *tail, th_error *err)
{
    finder f = {.problem = p, .workload = p->workload, .system = p->system};
    int failed = th_floors_init(&f.floors, p->system, p->workload, err) || allocate(&f, err) ? -1 : 0;
    if (!failed) {
        set_ways(&f);
        failed = find_floors(&f, err) ? -1 : find_tails(&f) ? th_error_no_memory(err) : 0;
    }
    for (int l = 0; !failed && l < p->workload->n_layers; l++)
        tail[l] = f.tail[l];
    clear(&f);
    return failed;
}

double th_bounds_value(const th_bounds *b, const th_problem *p)
{
    bool is_sole = p->stream.n_inputs == 1;
    if (p->goal.n_front > 0)
        return 0;
    switch (p->objective) {
    case TH_OBJECTIVE_LATENCY:
        return (double)b->makespan_ps[b->largest];
    case TH_OBJECTIVE_THROUGHPUT:
        return is_sole ? (double)b->makespan_ps[b->largest] : 0;
    case TH_OBJECTIVE_ENERGY:
    case TH_OBJECTIVE_EDP:
    case TH_OBJECTIVE_WEIGHTED:
        break;
    }
    return 0;
}

bool th_bounds_met(double value, double bound)
{
    static const double SLACK = 1e-9;
    return bound > 0 && value <= bound * (1 + SLACK);
}
