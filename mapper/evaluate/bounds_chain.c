/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_chain.c - what layers that read each other take one after the other, whatever their
 * strategies, sets and orders.
 *
 *   find_chain: options of all layers (bounds_options.c) -> main chain -> layer by layer { gaps
 *     after each input, by group of what is held and option -> times of each option } -> heads,
 *     ends, bound
 *
 * A dynamic program over (option of a layer, option of its reader). Of a layer with an option it
 * knows lower bounds of
 *   start   the first start of any of its tasks;
 *   first   the first time at which a position holds a piece of its output;
 *   F       the time at which all of its output is held: mix[N_MIXES - 1];
 *   G       the time at which the work of the main chain up to the layer is done: mix[0];
 *   mix[i]  weight[i] F + (1 - weight[i]) G.
 * The last piece held has readers: F' >= F + travel to the last of them + what they compute with
 * it. Accelerators do one task at a time: G' >= G + work / rate, and F >= G. An option
 * that is good for F is bad for G and the other way round (few accelerators; chunks), which only
 * the sums of both tell: the least of F and the least of G may be those of different mappings.
 * Assumed: each layer runs on any set, in any order of its members; sets need not be disjoint, and
 * change from layer to layer; an accelerator does one task at a time. A set may run a layer in any
 * number of copies. Proofs: docs/models/bounds.md. */
#include <config.h>

#include "base/min_max.h"
#include "mapper/evaluate/bounds_chain.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "mapper/evaluate/bounds_options.h"

enum { N_MIXES = 5 };
static const double weight[N_MIXES] = {0, 0.125, 0.25, 0.5, 1};

enum {
    GAPS_MAX = 3000000,       /* of one edge; where there are more, options are not told apart */
    GAPS_KEPT_MAX = 10000000, /* of all edges that are kept */
    EDGE_KINDS_MAX = 16
};

/* Edges between layers of equal options have equal gaps: from the last piece held to the end of
 * what reads it, at least; -INFINITY: a piece may have no reader. */
typedef struct {
    const th_options *from, *to;
    int input;
    double *gap; /* by option of the reader, then group; NULL: options are not told apart */
    size_t n;
    int64_t used; /* when last */
} edge_kind;

typedef struct {
    double start, first, mix[N_MIXES];
} option_times;

typedef struct {
    th_options *options; /* that of an equal layer, or its own */
    option_times *times; /* by option */
    int main_input;      /* -1: it reads the external input */
    double extra;        /* work off the chain that is done before it ends */
} chain_layer;

typedef struct {
    th_bound_finder *finder;
    th_travel travel;
    chain_layer *layer;
    edge_kind kinds[EDGE_KINDS_MAX];
    int n_kinds;
    int64_t now;
    size_t n_kept;
    double rate; /* accelerators together, of the fastest */
} chain;

/* --- gaps --- */

/* Bytes that may be one transfer of several: where transfers share no links, each of them has the
 * route alone. */
static double transfers_of(const chain *x, int from, const th_option *o)
{
    const th_workload *w = x->finder->workload;
    return th_bound_physics_of(x->finder->problem) == TH_BOUND_FREE_LINKS
               ? (double)o->chunks * (w->consumer_start[from + 1] - w->consumer_start[from]) *
                     TH_SHARD_CHUNKS_MAX
               : 1;
}

/* How a piece gets to its readers. */
typedef struct {
    int alike, copies;    /* positions that need the same; that hold the same */
    double element_bytes; /* in one transfer */
} delivery;

/* What the readers of any piece take from its end on. all: by axis, whether all of its readers
 * count, or only that which needs most of it. One of its copies serves as many as any other. */
static double gap_of(const chain *x, const th_option *o, const th_meeting *const *m, unsigned all,
                     const delivery *d)
{
    double bytes = d->element_bytes, chunk_bytes = d->element_bytes;
    int readers = d->alike, chunks = o->chunks;
    for (int a = 0; a < TH_TENSOR_DIMS; a++) {
        const bool each = all >> a & 1u;
        bytes *= each ? m[a]->each : m[a]->most;
        chunk_bytes *= each ? m[a]->each_chunk : m[a]->most_chunk;
        readers *= each ? m[a]->readers : 1;
        chunks = th_min(chunks, each ? m[a]->each_chunks : m[a]->most_chunks);
    }
    readers = (readers + d->copies - 1) / d->copies;
    const double computes = chunks == o->chunks ? o->least : chunks * o->task;
    return th_max(th_travel_send(&x->travel, readers, chunk_bytes) + computes,
                  th_travel_send(&x->travel, readers, bytes) + o->task);
}

/* The greatest of these, whichever readers of a piece count. */
static double greatest_gap(const chain *x, const th_option *o, bool is_product,
                           const th_meeting *const *m, const delivery *d)
{
    unsigned several = 0; /* axes along which a piece has several readers */
    double most = -INFINITY;
    bool is_read = is_product;
    for (int a = 0; a < TH_TENSOR_DIMS; a++) {
        is_read &= m[a]->readers > 0;
        several |= m[a]->readers > 1 ? 1u << a : 0;
    }
    for (unsigned all = several; is_read; all = (all - 1) & several) {
        most = th_max(most, gap_of(x, o, m, all, d));
        if (all == 0)
            break;
    }
    return most;
}

/* --- edges --- */

typedef struct {
    int from, to, input;
    const th_options *made, *reads;
} edge;

/* Meetings of all cuts along an axis, by cut that is needed, then that is held. */
static th_meeting *meet_all(const edge *e, int axis)
{
    const th_cut_list *held = &e->made->held[axis],
                      *needed = &e->reads->needed[e->input * TH_TENSOR_DIMS + axis];
    th_meeting *m = th_alloc_array(held->n * needed->n + 1, sizeof *m);
    for (size_t i = 0; m && i < held->n * needed->n; i++)
        m[i] = th_cut_meet(&held->item[i % held->n], &needed->item[i / held->n]);
    return m;
}

static void fill(const chain *x, const edge *e, th_meeting *const *axes, double *gap)
{
    const th_options *made = e->made, *reads = e->reads;
    const th_layer *l = &x->finder->workload->layers[e->from];
    const double bits = th_precision_bits(l->precision[TH_TENSOR_OUTPUT]);
    for (int k = 0; k < reads->n; k++) {
        const th_option *o = &reads->item[k];
        const th_option_need *need = &reads->need[k * reads->n_inputs + e->input];
        const double bytes = bits / 8 / transfers_of(x, e->from, o);
        for (int g = 0; g < made->n_groups; g++) {
            const th_meeting *m[TH_TENSOR_DIMS];
            for (int a = 0; a < TH_TENSOR_DIMS; a++)
                m[a] = &axes[a][(size_t)need->cut[a] * made->held[a].n +
                                (size_t)made->group[g].cut[a]];
            const delivery d = {need->copies, made->group[g].copies, bytes};
            gap[k * made->n_groups + g] = greatest_gap(x, o, need->is_product, m, &d);
        }
    }
}

/* Not found where there are too many. 0 or -1. */
static int find_gaps(chain *x, const edge *e, edge_kind *kind)
{
    th_meeting *axes[TH_TENSOR_DIMS] = {NULL};
    *kind = (edge_kind){.from = e->made, .to = e->reads, .input = e->input};
    const size_t n = (size_t)e->reads->n * (size_t)e->made->n_groups;
    if (!e->made->has_cuts || !e->reads->has_cuts || n > GAPS_MAX)
        return 0;
    int failed = 0;
    for (int a = 0; a < TH_TENSOR_DIMS; a++)
        if (!(axes[a] = meet_all(e, a)))
            failed = -1;
    kind->gap = failed ? NULL : th_alloc_array(n + 1, sizeof *kind->gap);
    if (kind->gap) {
        fill(x, e, axes, kind->gap);
        kind->n = n;
    }
    for (int a = 0; a < TH_TENSOR_DIMS; a++)
        th_free(axes[a]);
    return kind->gap ? 0 : -1;
}

static void drop_oldest(chain *x)
{
    int oldest = 0;
    for (int i = 1; i < x->n_kinds; i++)
        if (x->kinds[i].used < x->kinds[oldest].used)
            oldest = i;
    x->n_kept -= x->kinds[oldest].n;
    th_free(x->kinds[oldest].gap);
    x->kinds[oldest] = x->kinds[--x->n_kinds];
}

/* NULL: memory is out. */
static const edge_kind *kind_of(chain *x, const edge *e)
{
    int i = 0;
    while (i < x->n_kinds && (x->kinds[i].from != e->made || x->kinds[i].to != e->reads ||
                              x->kinds[i].input != e->input))
        i++;
    if (i == x->n_kinds) {
        while (x->n_kinds > 0 && (x->n_kinds == EDGE_KINDS_MAX || x->n_kept > GAPS_KEPT_MAX))
            drop_oldest(x);
        i = x->n_kinds;
        if (find_gaps(x, e, &x->kinds[i]))
            return NULL;
        x->n_kept += x->kinds[i].n;
        x->n_kinds++;
    }
    x->kinds[i].used = ++x->now;
    return &x->kinds[i];
}

/* --- times --- */

static double finish_of(const option_times *t)
{
    return t->mix[N_MIXES - 1];
}

static void least_of(option_times *a, const option_times *b)
{
    a->first = th_min(a->first, b->first);
    for (int i = 0; i < N_MIXES; i++)
        a->mix[i] = th_min(a->mix[i], b->mix[i]);
}

/* The least times of the options of each group; of all options in groups[0], where they are not
 * told apart. */
static void group_times(const chain_layer *l, bool apart, option_times *groups)
{
    const th_options *o = l->options;
    for (int g = 0; g < (apart ? o->n_groups : 1); g++) {
        groups[g].first = INFINITY;
        for (int i = 0; i < N_MIXES; i++)
            groups[g].mix[i] = INFINITY;
    }
    for (int k = 0; k < o->n; k++)
        least_of(&groups[apart ? o->item[k].group : 0], &l->times[k]);
}

/* What one input allows an option at the earliest. */
typedef struct {
    double start, finish, mix[N_MIXES];
} allowed;

static const allowed never = {
    INFINITY, INFINITY, {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}};

/* An edge, and how its reader depends on it. */
typedef struct {
    const chain_layer *layer;
    bool is_main;
    bool is_full; /* it reads the whole tensor */
} dependence;

/* After a group with its times t. */
static void allow(const chain *x, const dependence *d, const th_option *o, bool is_sure,
                  double after_last, const option_times *t, allowed *least)
{
    const double gap = d->is_full ? th_max(after_last, o->task) : after_last,
                 work = (o->work + d->layer->extra) / x->rate,
                 done = !d->is_main  ? 0.0
                        : d->is_full ? t->mix[0] + work
                                     : work;
    double end = th_max(finish_of(t) + gap, (is_sure ? t->first : 0) + o->most) + o->exchange;
    end = th_max(end, done);
    least->start = th_min(least->start, t->first);
    least->finish = th_min(least->finish, end);
    for (int i = 0; i < N_MIXES && d->is_main; i++) {
        double mixed = weight[i] * end + (1 - weight[i]) * done;
        if (d->is_full)
            mixed =
                th_max(mixed, t->mix[i] + weight[i] * (gap + o->exchange) + (1 - weight[i]) * work);
        least->mix[i] = th_min(least->mix[i], mixed);
    }
}

/* 1: layer l reads all of its input number i; 0; -1: memory is out. */
static int reads_all(const th_workload *w, int l, int i)
{
    const int64_t read = th_bound_elements_read(&w->layers[l], i);
    if (read < 0)
        return -1;
    return read == th_layer_output_elements(&w->layers[w->layers[l].inputs[i]]);
}

/* By option of the reader, after one input. 0 or -1. */
static int allow_after(chain *x, const edge *e, allowed *out)
{
    const th_options *reads = e->reads;
    const edge_kind *kind = kind_of(x, e);
    const int n = kind && kind->gap ? e->made->n_groups : 1,
              is_full = reads_all(x->finder->workload, e->to, e->input);
    option_times *groups = th_alloc_array((size_t)n, sizeof *groups);
    if (!kind || !groups || is_full < 0) {
        th_free(groups);
        return -1;
    }
    const dependence d = {&x->layer[e->to], x->layer[e->to].main_input == e->input, is_full == 1};
    group_times(&x->layer[e->from], kind->gap, groups);
    for (int k = 0; k < reads->n; k++) {
        const bool is_sure = reads->has_cuts && reads->need[k * reads->n_inputs + e->input].is_sure;
        out[k] = never;
        for (int g = 0; g < n; g++)
            allow(x, &d, &reads->item[k], is_sure, kind->gap ? kind->gap[k * n + g] : -INFINITY,
                  &groups[g], &out[k]);
    }
    th_free(groups);
    return 0;
}

/* From the release on, before any input of another layer is known. */
static option_times released(const chain *x, const chain_layer *l, const th_option *o)
{
    option_times t = {.start = o->arrival};
    const double end = th_max(t.start + o->most, o->all_arrivals + o->task) + o->exchange,
                 done = t.start + (o->work + l->extra) / x->rate;
    for (int i = 0; i < N_MIXES && l->main_input < 0; i++)
        t.mix[i] = done;
    t.mix[N_MIXES - 1] = th_max(end, t.mix[0]);
    return t;
}

/* Raises the times of all options by what an input allows; soonest: the least of what any allows
 * so far. */
static void raise_times(const chain_layer *l, int input, const allowed *after, double *soonest)
{
    const th_options *o = l->options;
    for (int k = 0; k < o->n; k++) {
        option_times *t = &l->times[k];
        soonest[k] = th_min(soonest[k], after[k].start);
        if (o->has_cuts && o->need[k * o->n_inputs + input].is_sure)
            t->start = th_max(t->start, after[k].start);
        t->mix[N_MIXES - 1] = th_max(t->mix[N_MIXES - 1], after[k].finish);
        for (int i = 0; i < N_MIXES && input == l->main_input; i++)
            t->mix[i] = th_max(t->mix[i], after[k].mix[i]);
    }
}

/* What follows from the others. */
static void complete_times(const chain_layer *l, const double *soonest)
{
    for (int k = 0; k < l->options->n; k++) {
        const th_option *o = &l->options->item[k];
        option_times *t = &l->times[k];
        if (o->reads && soonest[k] < INFINITY)
            t->start = th_max(t->start, soonest[k]);
        t->first = t->start + o->task + o->first_exchange;
        t->mix[N_MIXES - 1] = th_max(t->mix[N_MIXES - 1], t->start + o->most + o->exchange);
        for (int i = 1; i < N_MIXES; i++) {
            const double mixed = weight[i] * finish_of(t) + (1 - weight[i]) * t->mix[0];
            t->mix[i] = th_max(th_max(t->mix[i], mixed), t->mix[i - 1]);
        }
    }
}

/* Of all options of a layer. 0 or -1. */
static int find_times(chain *x, int layer)
{
    const th_layer *w = &x->finder->workload->layers[layer];
    chain_layer *l = &x->layer[layer];
    const size_t n = (size_t)l->options->n;
    allowed *after = th_alloc_array(n, sizeof *after);
    double *soonest = th_alloc_array(n, sizeof *soonest);
    l->times = th_alloc_array(n, sizeof *l->times);
    int failed = after && soonest && l->times ? 0 : -1;
    for (size_t k = 0; !failed && k < n; k++) {
        l->times[k] = released(x, l, &l->options->item[k]);
        soonest[k] = INFINITY;
    }
    for (int i = 0; !failed && i < w->n_inputs; i++) {
        const int from = w->inputs[i];
        for (size_t k = 0; from < 0 && k < n; k++)
            soonest[k] = 0;
        if (from < 0)
            continue;
        const edge e = {from, layer, i, x->layer[from].options, l->options};
        failed = allow_after(x, &e, after);
        if (!failed)
            raise_times(l, i, after, soonest);
    }
    if (!failed)
        complete_times(l, soonest);
    th_free(after);
    th_free(soonest);
    return failed;
}

/* --- the main chain --- */

static double least_work(const th_options *o)
{
    double least = INFINITY;
    for (int k = 0; k < o->n; k++)
        least = th_min(least, o->item[k].work);
    return least;
}

/* Main inputs: those with most work before them. The output with most; depth: scratch. */
static int find_main_inputs(chain *x, double *depth)
{
    const th_workload *w = x->finder->workload;
    int last = w->outputs[0];
    for (int l = 0; l < w->n_layers; l++) {
        double before = 0;
        x->layer[l].main_input = -1;
        for (int i = 0; i < w->layers[l].n_inputs; i++) {
            const int from = w->layers[l].inputs[i];
            if (from >= 0 && (x->layer[l].main_input < 0 || depth[from] > before)) {
                before = depth[from];
                x->layer[l].main_input = i;
            }
        }
        depth[l] = before + least_work(x->layer[l].options);
    }
    for (int i = 1; i < w->n_outputs; i++)
        if (depth[w->outputs[i]] > depth[last])
            last = w->outputs[i];
    return last;
}

static int main_before(const chain *x, int l)
{
    const int i = x->layer[l].main_input;
    return i < 0 ? -1 : x->finder->workload->layers[l].inputs[i];
}

/* The first layer of the chain that waits for all of layer l; -1: none; -2: memory is out. */
static int find_join(const chain *x, int l, const bool *on, bool *reached)
{
    const th_workload *w = x->finder->workload;
    memset(reached, 0, (size_t)w->n_layers * sizeof *reached);
    reached[l] = true;
    for (int k = l + 1; k < w->n_layers; k++) {
        for (int i = 0; i < w->layers[k].n_inputs; i++) {
            const int from = w->layers[k].inputs[i];
            const int all = from >= 0 && reached[from] ? reads_all(w, k, i) : 0;
            if (all < 0)
                return -2;
            reached[k] |= all == 1;
        }
        if (reached[k] && on[k])
            return k;
    }
    return -1;
}

/* Layers off the chain count where it waits for them. 0 or -1. */
static int add_branches(chain *x, int last, bool *on, bool *reached)
{
    for (int l = last; l >= 0; l = main_before(x, l))
        on[l] = true;
    for (int l = 0; l < x->finder->workload->n_layers; l++) {
        const int join = on[l] ? -1 : find_join(x, l, on, reached);
        if (join == -2)
            return -1;
        if (join >= 0)
            x->layer[join].extra += least_work(x->layer[l].options);
    }
    return 0;
}

/* --- all --- */

static int list_options(chain *x)
{
    const th_bound_finder *f = x->finder;
    const int32_t batch = f->workload->batch / f->problem->stream.micro_batches;
    for (int l = 0; l < f->workload->n_layers; l++) {
        chain_layer *own = &x->layer[l];
        if (f->same[l] < l) {
            own->options = x->layer[f->same[l]].options;
            continue;
        }
        own->options = th_alloc_zero(1, sizeof *own->options);
        if (!own->options || th_options_list(own->options, x->finder, &x->travel, l, batch))
            return -1;
    }
    return 0;
}

static int find_all_times(chain *x, th_error *err)
{
    const th_bound_finder *f = x->finder;
    for (int l = 0; l < f->workload->n_layers; l++) {
        if (f->floors.scope.is_interrupted && f->floors.scope.is_interrupted())
            return th_error_interrupted(err, "no bound is known");
        if (find_times(x, l))
            return th_error_no_memory(err);
        const chain_layer *own = &x->layer[l];
        f->head[l] = f->end[l] = INFINITY;
        for (int k = 0; k < own->options->n; k++) {
            f->head[l] = th_min(f->head[l], own->times[k].start);
            f->end[l] = th_min(f->end[l], own->times[k].first);
        }
    }
    return 0;
}

/* The layers before an output, for the report. */
static void describe(const chain *x, int last)
{
    const th_workload *w = x->finder->workload;
    char *why = x->finder->out->why[TH_LIMIT_PATH];
    int first = last, n = 1;
    for (; main_before(x, first) >= 0; n++)
        first = main_before(x, first);
    th_print(why, sizeof x->finder->out->why[0], "%d layer%s, %.14s .. %.14s", n, n == 1 ? "" : "s",
             w->layers[first].name, w->layers[last].name);
}

static void bound_path(const chain *x)
{
    const th_bound_finder *f = x->finder;
    const th_stream *stream = &f->problem->stream;
    const th_time since = (stream->n_inputs - 1) * stream->interval_ps;
    double most = 0;
    int last = f->workload->outputs[0];
    for (int i = 0; i < f->workload->n_outputs; i++) {
        const int l = f->workload->outputs[i];
        const chain_layer *own = &x->layer[l];
        double least = INFINITY;
        for (int k = 0; k < own->options->n; k++)
            least = th_min(least, finish_of(&own->times[k]) + own->options->item[k].departure);
        last = least > most ? l : last;
        most = th_max(most, least);
    }
    f->out->makespan_ps[TH_LIMIT_PATH] = since + th_bound_round_up_ps(most);
    if (most > 0)
        describe(x, last);
    else
        th_print(f->out->why[TH_LIMIT_PATH], sizeof f->out->why[0],
                 "no layer is known to take time");
}

static void clear(chain *x)
{
    for (int l = 0; x->layer && l < x->finder->workload->n_layers; l++) {
        if (x->finder->same[l] == l && x->layer[l].options) {
            th_options_clear(x->layer[l].options);
            th_free(x->layer[l].options);
        }
        th_free(x->layer[l].times);
    }
    for (int i = 0; i < x->n_kinds; i++)
        th_free(x->kinds[i].gap);
    th_free(x->layer);
}

static int find(chain *x, th_error *err)
{
    const size_t n = (size_t)x->finder->workload->n_layers;
    x->layer = th_alloc_zero(n, sizeof *x->layer);
    double *depth = th_alloc_zero(n, sizeof *depth);
    bool *on = th_alloc_zero(2 * n, sizeof *on);
    int failed = x->layer && depth && on && !th_travel_init(&x->travel, x->finder) &&
                         !list_options(x) &&
                         !add_branches(x, find_main_inputs(x, depth), on, on + n)
                     ? 0
                     : th_error_no_memory(err);
    th_free(depth);
    th_free(on);
    const double rate = th_floors_speed(&x->finder->floors);
    x->rate = rate > 0 ? rate : INFINITY; /* no work is known to take time */
    if (failed || find_all_times(x, err))
        return -1;
    bound_path(x);
    return 0;
}

int th_bound_find_chain(th_bound_finder *f, th_error *err)
{
    chain *x = th_alloc_zero(1, sizeof *x);
    if (!x)
        return th_error_no_memory(err);
    x->finder = f;
    const int failed = find(x, err);
    clear(x);
    th_free(x);
    return failed;
}
