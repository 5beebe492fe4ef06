/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_options.c - all strategies of a layer, in all chunks, as the chain of layers sees them.
 *   list: { strategy -> times of its tasks -> pieces held, pieces needed } of all -> clear
 *
 * A layer that is bounded by rates (bounds_rate.c), and one that no accelerator can run, has one
 * option that stands for all strategies: no position takes any time that is known. */
#include <config.h>

#include "base/min_max.h"
#include "mapper/evaluate/bounds_options.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"
#include "mapper/strategies.h"

typedef struct {
    th_bound_finder *finder;
    const th_travel *travel;
    const th_layer *layer;
    int32_t batch;
    th_options *out;
    /* of the strategy at hand */
    th_strategy s;
    int n, chunks, phases;
    th_box held[TH_CUT_PIECES_MAX], need[TH_CUT_PIECES_MAX];
} lister;

static th_loop_box loops_of(const lister *k, int r, int i)
{
    return k->phases > 1 ? th_shard_phase_loops(k->layer, k->batch, &k->s, NULL, r, i)
                         : th_shard_chunk_loops(k->layer, k->batch, &k->s, NULL, r, i);
}

/* The least time of a shard; INFINITY: no accelerator can run it. -1: memory is out. */
static int task_ps(lister *k, const th_shard *shard, double *ps)
{
    const int64_t number = th_floors_number(&k->finder->floors, shard);
    if (number < 0)
        return -1;
    *ps = k->finder->floors.tasks[number].occupied;
    return 0;
}

/* --- times --- */

/* Phases follow each other, and the last piece of a ring has passed all others. */
static int add_position(lister *k, int r, th_option *o)
{
    const bool of_input = th_shard_rotating(k->layer, &k->s) == TH_OPERAND_INPUT;
    double sum = 0, least = INFINITY, bytes = INFINITY;
    for (int i = 0; i < k->chunks * k->phases; i++) {
        const th_loop_box loops = loops_of(k, r, i);
        const th_shard shard = th_plan_shard(k->layer, &loops);
        double ps;
        if (task_ps(k, &shard, &ps))
            return -1;
        sum += ps;
        least = fmin(least, ps);
        if (k->phases > 1)
            bytes = fmin(bytes, (double)th_plan_piece_bytes(k->layer, of_input, &loops));
    }
    o->work += sum;
    if (k->phases > 1) {
        sum = fmax(sum, (k->phases - 1) * th_travel_send(k->travel, 2, bytes) + least);
        least = sum;
    }
    o->task = fmin(o->task, least);
    o->least = fmin(o->least, sum);
    o->most = fmax(o->most, sum);
    return 0;
}

static double bytes_of(const th_box *box, th_precision p)
{
    return (double)th_tensor_bytes(th_box_elements(box), p);
}

/* Partners send each other their pieces of a chunk, and sum what they get. */
static int add_exchange(lister *k, th_option *o)
{
    const int partners = th_shard_partners(&k->s, k->layer, 0, NULL, NULL);
    double bytes = INFINITY, sum = INFINITY;
    int empty = 0;
    for (int i = 0; i < k->n * k->chunks; i++) {
        const th_box *box = &k->held[i];
        double ps = 0;
        if (th_box_is_empty(box)) {
            empty++;
            continue;
        }
        const th_shard shard = th_plan_sum(k->layer, box, partners);
        if (k->finder->floors.n_classes == 1 && task_ps(k, &shard, &ps))
            return -1;
        ps = ps < INFINITY ? ps : 0;
        o->work += ps;
        sum = fmin(sum, ps);
        bytes = fmin(bytes, (double)th_plan_output_bytes(k->layer, box));
    }
    /* with empty pieces, some partners may have one piece to send, or none */
    const int receivers = empty == 0 ? partners : 1;
    o->exchange = th_travel_send(k->travel, receivers, bytes) + (sum < INFINITY ? sum : 0);
    o->first_exchange =
        th_travel_send(k->travel, receivers > 1 ? 2 : 1, bytes) + (sum < INFINITY ? sum : 0);
    return 0;
}

static void add_departure(const lister *k, th_option *o)
{
    const th_host_path *out = &k->finder->floors.out;
    double bytes = INFINITY;
    for (int i = 0; i < k->n * k->chunks; i++)
        if (!th_box_is_empty(&k->held[i]))
            bytes = fmin(bytes, bytes_of(&k->held[i], k->layer->precision[TH_TENSOR_OUTPUT]));
    if (out->exists && bytes < INFINITY)
        o->departure = out->latency + bytes * out->ps_per_byte;
}

/* --- pieces --- */

static void find_held(lister *k)
{
    for (int i = 0; i < k->n * k->chunks; i++)
        k->held[i] = th_shard_held(k->layer, k->batch, &k->s, NULL, i / k->chunks, i % k->chunks);
}

/* The group of the pieces in held; -1: memory is out. */
static int32_t group_of(lister *k, int32_t copies)
{
    th_options *o = k->out;
    th_held_group g = {.copies = copies};
    for (int a = 0; a < TH_TENSOR_DIMS; a++)
        if ((g.cut[a] = th_cut_add(&o->held[a], k->held, k->n, k->chunks, a)) < 0)
            return -1;
    for (int i = 0; i < o->n_groups; i++)
        if (memcmp(&o->group[i], &g, sizeof g) == 0)
            return i;
    if (th_grow(&o->group, &o->group_capacity, (size_t)o->n_groups + 1, sizeof *o->group))
        return -1;
    o->group[o->n_groups] = g;
    return o->n_groups++;
}

/* Input i of every chunk: of a rotating input, what a position starts with. */
static void find_needs(lister *k, int i)
{
    const bool starts = i == 0 && th_shard_rotating(k->layer, &k->s) == TH_OPERAND_INPUT;
    for (int at = 0; at < k->n * k->chunks; at++) {
        const int r = at / k->chunks;
        const th_loop_box loops =
            starts ? th_shard_phase_loops(k->layer, k->batch, &k->s, NULL, r, 0)
                   : th_shard_chunk_loops(k->layer, k->batch, &k->s, NULL, r, at % k->chunks);
        k->need[at] = th_layer_input_of(k->layer, i, &loops);
    }
}

static int count_different(const lister *k)
{
    const size_t size = (size_t)k->chunks * sizeof *k->need;
    int n = 0;
    for (int r = 0; r < k->n; r++) {
        int other = 0;
        while (memcmp(&k->need[other * k->chunks], &k->need[r * k->chunks], size) != 0)
            other++;
        n += other == r;
    }
    return n;
}

/* Of the boxes in need. 0 or -1. */
static int add_need(lister *k, int input, th_option_need *x)
{
    const int different = count_different(k);
    int64_t combinations = 1;
    *x = (th_option_need){.copies = k->n / different, .is_sure = true};
    for (int a = 0; a < TH_TENSOR_DIMS; a++) {
        th_cut_list *l = &k->out->needed[input * TH_TENSOR_DIMS + a];
        if ((x->cut[a] = th_cut_add(l, k->need, k->n, k->chunks, a)) < 0)
            return -1;
        combinations *= l->item[x->cut[a]].n;
    }
    x->is_product = combinations == different && k->n % different == 0;
    for (int i = 0; i < k->n * k->chunks; i++)
        x->is_sure &= !th_box_is_empty(&k->need[i]);
    return 0;
}

/* Bytes of what the chunks of a position need together. */
static double union_bytes(const lister *k, int r)
{
    double elements = 1;
    for (int a = 0; a < TH_TENSOR_DIMS; a++) {
        int32_t end = INT32_MIN, sum = 0;
        for (int i = r * k->chunks; i < (r + 1) * k->chunks; i++) {
            sum += th_max(k->need[i].hi[a] - th_max(k->need[i].lo[a], end), 0);
            end = th_max(end, k->need[i].hi[a]);
        }
        elements *= sum;
    }
    return elements * th_precision_bits(k->layer->precision[TH_TENSOR_INPUT]) / 8;
}

/* The boxes in need come from a host. */
static void add_arrival(const lister *k, th_option *o)
{
    const th_host_path *in = &k->finder->floors.in;
    const bool shares = th_bound_physics_of(k->finder->problem) != TH_BOUND_FREE_LINKS;
    double least = INFINITY, most = 0;
    for (int i = 0; i < k->n * k->chunks && in->exists; i++) {
        const double bytes = bytes_of(&k->need[i], k->layer->precision[TH_TENSOR_INPUT]);
        least = fmin(least, bytes > 0 ? in->latency + bytes * in->ps_per_byte : 0);
    }
    for (int r = 0; r < k->n && in->exists && shares; r++) {
        const double bytes = union_bytes(k, r);
        most = fmax(most, bytes > 0 ? in->latency + bytes * in->ps_per_byte : 0);
    }
    o->arrival = fmax(o->arrival, least < INFINITY ? least : 0);
    o->all_arrivals = fmax(o->all_arrivals, most);
}

/* --- all --- */

/* Room for one more option. 0 or -1. */
static int grow(th_options *all)
{
    const size_t n = (size_t)all->n + 1, inputs = (size_t)all->n_inputs;
    return th_grow(&all->need, &all->need_capacity, n * inputs, sizeof *all->need) ||
                   th_grow(&all->item, &all->item_capacity, n, sizeof *all->item)
               ? -1
               : 0;
}

/* Needs of all inputs. 0 or -1. */
static int add_needs(lister *k, th_option *o)
{
    th_options *all = k->out;
    bool reads[TH_CUT_PIECES_MAX] = {false};
    for (int i = 0; i < all->n_inputs; i++) {
        find_needs(k, i);
        if (add_need(k, i, &all->need[all->n * all->n_inputs + i]))
            return -1;
        if (k->layer->inputs[i] == TH_EXTERNAL_INPUT)
            add_arrival(k, o);
        for (int at = 0; at < k->n * k->chunks; at++)
            reads[at] |= !th_box_is_empty(&k->need[at]);
    }
    o->reads = true;
    for (int at = 0; at < k->n * k->chunks; at++)
        o->reads &= reads[at];
    return 0;
}

/* Further copies of the last option: their work adds up, and its pieces are held by more. 0 or -1.
 */
static int add_copies(lister *k)
{
    th_options *all = k->out;
    const int once = all->n - 1, inputs = all->n_inputs;
    for (int32_t copies = 2; copies * k->n <= k->finder->system->n_accels; copies++) {
        const int32_t group = group_of(k, copies);
        if (group < 0 || grow(all))
            return -1;
        th_option o = all->item[once];
        o.group = group;
        o.work *= copies;
        memcpy(&all->need[all->n * inputs], &all->need[once * inputs],
               (size_t)inputs * sizeof *all->need);
        all->item[all->n++] = o;
    }
    return 0;
}

/* One strategy. 0 or -1. */
static int add_option(lister *k, const th_strategy *s, int n)
{
    th_options *all = k->out;
    th_option o = {.task = INFINITY, .least = INFINITY};
    k->s = *s;
    k->n = n;
    k->chunks = o.chunks = th_shard_chunks(s);
    k->phases = th_shard_phases(k->layer, s);
    assert(n * k->chunks <= TH_CUT_PIECES_MAX);
    for (int r = 0; r < n; r++)
        if (add_position(k, r, &o))
            return -1;
    if (o.work == INFINITY)
        return 0;
    find_held(k);
    if ((o.group = group_of(k, 1)) < 0 || grow(all) || add_needs(k, &o) ||
        (th_shard_partners(s, k->layer, 0, NULL, NULL) > 1 && add_exchange(k, &o)))
        return -1;
    add_departure(k, &o);
    all->item[all->n++] = o;
    return add_copies(k);
}

static int add_chunked(lister *k, th_strategy s, int n)
{
    for (int d = 0; s.rotate == TH_NO_ROTATION && d < TH_N_DIMS; d++)
        for (int chunks = 2; chunks <= k->finder->floors.scope.chunks; chunks++) {
            th_strategy_set_chunks(&s, chunks, d);
            if (th_strategy_fits(&s, k->layer, k->batch, n) && add_option(k, &s, n))
                return -1;
        }
    return 0;
}

static int add_sets_of(lister *k, int n)
{
    th_strategy *list = NULL;
    const int count = th_strategies_list_all(k->layer, k->batch, n, &list);
    int failed = count < 0 ? -1 : 0;
    for (int i = 0; !failed && i < count; i++)
        failed = add_option(k, &list[i], n) || add_chunked(k, list[i], n) ? -1 : 0;
    th_free(list);
    return failed;
}

/* Stands for all strategies. 0 or -1. */
static int add_unknown(th_options *o, double work)
{
    if (th_grow(&o->item, &o->item_capacity, 1, sizeof *o->item))
        return -1;
    o->item[0] = (th_option){.chunks = 1, .work = work};
    o->n = 1;
    return 0;
}

int th_options_list(th_options *o, th_bound_finder *f, const th_travel *t, int layer, int32_t batch)
{
    lister k = {
        .finder = f, .travel = t, .layer = &f->workload->layers[layer], .batch = batch, .out = o};
    const th_layer_floor *floor = &f->floor[layer];
    *o = (th_options){.n_inputs = k.layer->n_inputs};
    o->needed = th_alloc_zero((size_t)(o->n_inputs * TH_TENSOR_DIMS) + 1, sizeof *o->needed);
    if (!o->needed)
        return -1;
    o->has_cuts = !floor->is_by_rate && floor->unknown != TH_UNKNOWN_NO_ACCELERATOR &&
                  f->system->n_accels <= TH_TRAVEL_ACCELS_MAX;
    for (int n = 1; o->has_cuts && n <= f->system->n_accels; n++)
        if (add_sets_of(&k, n))
            return -1;
    if (o->n > 0)
        return 0;
    o->has_cuts = false;
    return add_unknown(o, floor->occupied);
}

void th_options_clear(th_options *o)
{
    for (int i = 0; o->needed && i < o->n_inputs * TH_TENSOR_DIMS; i++)
        th_cut_clear(&o->needed[i]);
    for (int a = 0; a < TH_TENSOR_DIMS; a++)
        th_cut_clear(&o->held[a]);
    th_free(o->item);
    th_free(o->need);
    th_free(o->group);
    th_free(o->needed);
    *o = (th_options){.n = 0};
}
