/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard.c - sharding geometry, exact for uneven cuts, halos, groups and partial sums.
 *
 * A position is a number in the mixed radix of the splits; who shares an operand with whom follows
 * from which digits the operand's index uses. No state, no memory: every function computes from its
 * arguments. */
#include <config.h>

#include "mapper/shard.h"

#include <string.h>

#include "sim/pipeline/schedule.h"

typedef struct {
    int32_t lo, hi;
} range;

/* Piece i of n of r; sizes differ by one at most. */
static range cut(range r, int i, int n)
{
    int64_t extent = r.hi - r.lo;
    return (range){r.lo + (int32_t)(i * extent / n), r.lo + (int32_t)((i + 1) * extent / n)};
}

static void coordinates(const th_strategy *s, int r, int *digit)
{
    if (s->copies > 0)
        r /= s->copies;
    for (int d = TH_N_DIMS - 1; d >= 0; d--) {
        digit[d] = 0;
        if (s->split[d] == 1) /* as most are: divisions take most of the time */
            continue;
        digit[d] = r % s->split[d];
        r /= s->split[d];
    }
}

static int position_of(const th_strategy *s, const int *digit, int copy)
{
    int r = 0;
    for (int d = 0; d < TH_N_DIMS; d++)
        r = r * s->split[d] + digit[d];
    return r * th_shard_copies(s) + copy;
}

static int32_t extent_of(const th_layer *l, int32_t batch, int d)
{
    return d == TH_DIM_B ? batch : l->dim[d];
}

/* --- which strategies a layer can run --- */

/* Dimensions that index an operand, as bits: positions that differ only in the others hold the
 * same. */
static unsigned index_of(const th_layer *l, th_operand operand)
{
    enum {
        B = 1 << TH_DIM_B,
        K = 1 << TH_DIM_K,
        C = 1 << TH_DIM_C,
        H = 1 << TH_DIM_H,
        W = 1 << TH_DIM_W,
        R = 1 << TH_DIM_R,
        S = 1 << TH_DIM_S
    };
    if (operand == TH_OPERAND_WEIGHT)
        return K | C | R | S;
    return l->groups == 1 ? B | C | H | W | R | S : B | K | C | H | W | R | S;
}

/* Has it groups of output channels that shards may contain, but not part? */
static bool keeps_groups(const th_layer *l)
{
    return l->groups > 1 && (l->kind == TH_LAYER_MATMUL || l->kind == TH_LAYER_SOFTMAX ||
                             l->kind == TH_LAYER_ATTENTION);
}

static int replicas(const th_layer *l, const th_strategy *s, th_operand operand)
{
    int n = 1;
    for (int d = 0; d < TH_N_DIMS; d++)
        if (!(index_of(l, operand) >> d & 1u))
            n *= s->split[d];
    return n;
}

/* A recurrent layer needs all of its weights in every time step, an attention all of its keys for
 * every query. */
static bool can_rotate(const th_layer *l)
{
    return th_layer_has_macs(l) && th_layer_gates(l->kind) == 0 && l->kind != TH_LAYER_ATTENTION;
}

/* Of a matmul of two inputs the first one alone can rotate: the second takes the place of weights,
 * but is made anew for every image. */
th_operand th_shard_rotating(const th_layer *l, const th_strategy *s)
{
    bool weights = th_layer_has_weights(l) && replicas(l, s, TH_OPERAND_WEIGHT) > 1,
         inputs = replicas(l, s, TH_OPERAND_INPUT) > 1;
    if (s->rotate == TH_NO_ROTATION || !can_rotate(l))
        return TH_OPERAND_NONE;
    switch ((th_dim)s->rotate) {
    case TH_DIM_K:
        return weights ? TH_OPERAND_WEIGHT : TH_OPERAND_NONE;
    case TH_DIM_C:
        if (l->groups != 1)
            return TH_OPERAND_NONE;
        return weights ? TH_OPERAND_WEIGHT : inputs ? TH_OPERAND_INPUT : TH_OPERAND_NONE;
    case TH_DIM_B:
    case TH_DIM_H:
    case TH_DIM_W:
        return inputs ? TH_OPERAND_INPUT : TH_OPERAND_NONE;
    case TH_DIM_R:
    case TH_DIM_S:
    case TH_N_DIMS:
        break;
    }
    return TH_OPERAND_NONE;
}

int th_shard_phases(const th_layer *l, const th_strategy *s)
{
    th_operand operand = th_shard_rotating(l, s);
    return operand == TH_OPERAND_NONE ? 1 : replicas(l, s, operand);
}

static int check_rotation(const th_strategy *s, const th_layer *l, int32_t batch,
                          const char *prefix, th_error *err)
{
    if (s->rotate == TH_NO_ROTATION)
        return 0;
    if (th_shard_rotating(l, s) == TH_OPERAND_NONE)
        return th_error_set(
            err, "MAP-0001",
            "%slayer \"%s\" cannot rotate along %c: no operand that is cut along %c "
            "is the same on several accelerators",
            prefix, l->name, th_dim_letters[s->rotate], th_dim_letters[s->rotate]);
    int32_t shortest = extent_of(l, batch, s->rotate) / s->split[s->rotate];
    if (shortest < th_shard_phases(l, s))
        return th_error_set(
            err, "MAP-0002", "%slayer \"%s\" cannot rotate along %c: %d pieces of %d elements",
            prefix, l->name, th_dim_letters[s->rotate], th_shard_phases(l, s), (int)shortest);
    return 0;
}

/* Pieces that rotate through n positions, and partial sums that they send each other, are counted
 * in 32 bits. */
static int check_traffic(const th_strategy *s, const th_layer *l, int n, const char *prefix,
                         th_error *err)
{
    enum { ALWAYS_FEW = 46340 }; /* their square fits */
    if (n <= ALWAYS_FEW)
        return 0;
    int phases = th_shard_phases(l, s), partners = th_shard_partners(s, l, 0, NULL, NULL);
    bool is_rotation = phases > partners;
    int each = is_rotation ? phases : partners;
    if ((int64_t)n * each <= INT32_MAX)
        return 0;
    return th_error_set(
        err, "MAP-0120",
        "%slayer \"%s\": %d accelerators with %d %s each: must be %d at most in all", prefix,
        l->name, n, each, is_rotation ? "rotating pieces" : "partial sums", INT32_MAX);
}

int th_shard_chunks(const th_strategy *s)
{
    return s->chunks > 0 ? s->chunks : 1;
}

int th_shard_copies(const th_strategy *s)
{
    return s->copies > 0 ? s->copies : 1;
}

/* No cut along K parts a group of a softmax, or of a matmul that is split between its groups. */
static bool can_chunk(const th_strategy *s, const th_layer *l)
{
    th_dim d = (th_dim)s->chunk_dim;
    if (th_layer_is_reduction(l, d) || (d == TH_DIM_K && keeps_groups(l)))
        return false;
    return th_layer_can_split(l, d, s->chunks * s->split[d]);
}

static int check_chunks(const th_strategy *s, const th_layer *l, int32_t batch, const char *prefix,
                        th_error *err)
{
    if (s->chunks == 0)
        return 0;
    if (s->rotate != TH_NO_ROTATION)
        return th_error_set(
            err, "MAP-0123",
            "%slayer \"%s\" rotates along %c and has chunks: must be one of the two", prefix,
            l->name, th_dim_letters[s->rotate]);
    const int32_t shortest = extent_of(l, batch, s->chunk_dim) / s->split[s->chunk_dim];
    const char letter = th_dim_letters[s->chunk_dim];
    if (s->chunks < 2 || s->chunks > TH_SHARD_CHUNKS_MAX || s->chunks > shortest)
        return th_error_set(
            err, "MAP-0124",
            "%slayer \"%s\": %d chunks along %c: must be 2 .. %d, and %d at most for "
            "shards of %d",
            prefix, l->name, (int)s->chunks, letter, (int)TH_SHARD_CHUNKS_MAX, (int)shortest,
            (int)shortest);
    if (!can_chunk(s, l))
        return th_error_set(
            err, "MAP-0125",
            "%slayer \"%s\": %d shards of a %s%s layer cannot be cut into %d chunks "
            "along %c",
            prefix, l->name, (int)s->split[s->chunk_dim], l->groups > 1 ? "grouped " : "",
            th_layer_type_name(l), (int)s->chunks, letter);
    return 0;
}

/* INT64_MAX: that many, or more. */
static int64_t shards_of(const th_strategy *s)
{
    int64_t product = th_shard_copies(s);
    for (int d = 0; d < TH_N_DIMS; d++)
        product = product <= INT64_MAX / s->split[d] ? product * s->split[d] : INT64_MAX;
    return product;
}

int th_strategy_check(const th_strategy *s, const th_layer *l, int32_t batch, int n,
                      const char *prefix, th_error *err)
{
    for (int d = 0; d < TH_N_DIMS; d++) {
        if (s->split[d] < 1 || s->split[d] > extent_of(l, batch, d))
            return th_error_set(
                err, "MAP-0003", "%slayer \"%s\": %c is split %d ways, must be 1 .. %d", prefix,
                l->name, th_dim_letters[d], (int)s->split[d], (int)extent_of(l, batch, d));
        if (s->split[d] > 1 && !th_layer_can_split(l, (th_dim)d, s->split[d]))
            return th_error_set(err, "MAP-0004",
                                "%slayer \"%s\": a %s%s layer cannot be split %d ways along %c",
                                prefix, l->name, l->groups > 1 ? "grouped " : "",
                                th_layer_type_name(l), (int)s->split[d], th_dim_letters[d]);
    }
    if (shards_of(s) != n)
        return th_error_set(
            err, "MAP-0005",
            "%slayer \"%s\": the splits%s make %lld shards for a set of %d accelerators", prefix,
            l->name, s->copies > 0 ? " and copies" : "", (long long)shards_of(s), n);
    return check_rotation(s, l, batch, prefix, err) || check_chunks(s, l, batch, prefix, err) ||
                   check_traffic(s, l, n, prefix, err)
               ? -1
               : 0;
}

bool th_strategy_fits(const th_strategy *s, const th_layer *l, int32_t batch, int n)
{
    for (int d = 0; d < TH_N_DIMS; d++) {
        if (s->split[d] < 1 || s->split[d] > extent_of(l, batch, d) ||
            (s->split[d] > 1 && !th_layer_can_split(l, (th_dim)d, s->split[d])))
            return false;
    }
    return shards_of(s) == n && check_rotation(s, l, batch, "", NULL) == 0 &&
           check_chunks(s, l, batch, "", NULL) == 0 && check_traffic(s, l, n, "", NULL) == 0;
}

/* --- the parts --- */

static th_loop_box loops_of_batch(const th_layer *l, int32_t batch)
{
    th_loop_box box = th_layer_loops(l);
    box.hi[TH_DIM_B] = batch;
    return box;
}

static void cut_loops(th_loop_box *box, int d, int i, int n)
{
    range part = cut((range){box->lo[d], box->hi[d]}, i, n);
    box->lo[d] = part.lo;
    box->hi[d] = part.hi;
}

/* Elements along d that no cut may part: of a softmax, and of a matmul that is split between its
 * groups, a whole group. 0: only the even cuts are sure to part no group. */
static int32_t grain_of(const th_layer *l, int d, int n)
{
    if (d != TH_DIM_K || !keeps_groups(l))
        return 1;
    return l->groups % n == 0 ? l->dim[d] / l->groups : 0;
}

/* Shares of the positions by dimension d: those with one coordinate stand in blocks of `inner`, one
 * block every `stride`. */
typedef struct {
    const int32_t *shares;
    int n, inner, stride;
    int64_t all; /* their sum */
} weights;

static weights weigh(const th_strategy *s, const int32_t *shares, int d)
{
    const int copies = th_shard_copies(s); /* they stand next to each other */
    weights w = {.shares = shares, .n = copies, .inner = copies};
    for (int i = 0; i < TH_N_DIMS; i++) {
        w.n *= s->split[i];
        w.inner *= i > d ? s->split[i] : 1;
    }
    w.stride = w.inner * s->split[d];
    for (int r = 0; r < w.n; r++)
        w.all += shares[r];
    return w;
}

static int64_t weight_of(const weights *w, int coordinate)
{
    int64_t sum = 0;
    for (int block = coordinate * w->inner; block < w->n; block += w->stride)
        for (int i = 0; i < w->inner; i++)
            sum += w->shares[block + i];
    return sum;
}

/* extent * so_far / all, rounded down; so_far is part of all, and extent 31 bits long. */
static int64_t part_of(int64_t extent, int64_t so_far, int64_t all)
{
    enum { LOW = 1 << 16 };
    int64_t high = extent / LOW * so_far; /* extent * so_far may need 65 bits */
    return high / all * LOW + (high % all * LOW + extent % LOW * so_far) / all;
}

/* Elements of a piece: one for each of its phases or chunks. */
static int32_t least_of(const th_layer *l, const th_strategy *s, int d)
{
    if (d == s->rotate)
        return th_shard_phases(l, s);
    return d == s->chunk_dim ? th_shard_chunks(s) : 1;
}

/* Piece "digit" of dimension d, from 0 to its extent in the box. */
static void cut_by_shares(const th_layer *l, const th_strategy *s, const int32_t *shares, int d,
                          int digit, th_loop_box *box)
{
    int32_t n = s->split[d], grain = grain_of(l, d, n), least = least_of(l, s, d);
    int64_t extent = grain > 0 ? box->hi[d] / grain : 0, so_far = 0, at = 0;
    if (extent < (int64_t)n * least) {
        cut_loops(box, d, digit, n);
        return;
    }
    const weights w = weigh(s, shares, d);
    for (int i = 0; i <= digit; i++) {
        box->lo[d] = (int32_t)at * grain;
        so_far += weight_of(&w, i);
        int64_t cut_at = part_of(extent, so_far, w.all),
                room = extent - (int64_t)(n - i - 1) * least;
        at = cut_at > at + least ? cut_at : at + least;
        at = at < room ? at : room;
    }
    box->hi[d] = (int32_t)at * grain;
}

th_loop_box th_shard_loops(const th_layer *l, int32_t batch, const th_strategy *s,
                           const int32_t *shares, int r)
{
    th_loop_box box = loops_of_batch(l, batch);
    int digit[TH_N_DIMS];
    coordinates(s, r, digit);
    for (int d = 0; d < TH_N_DIMS; d++) {
        if (s->split[d] > 1 && shares)
            cut_by_shares(l, s, shares, d, digit[d], &box);
        else if (s->split[d] > 1)
            cut_loops(&box, d, digit[d], s->split[d]);
    }
    return box;
}

th_loop_box th_shard_phase_loops(const th_layer *l, int32_t batch, const th_strategy *s,
                                 const int32_t *shares, int r, int phase)
{
    th_loop_box box = th_shard_loops(l, batch, s, shares, r);
    int n = th_shard_phases(l, s), rank = 0;
    if (n == 1)
        return box;
    th_shard_ring(l, s, r, NULL, &rank);
    cut_loops(&box, s->rotate, (rank + phase) % n, n);
    return box;
}

th_loop_box th_shard_chunk_loops(const th_layer *l, int32_t batch, const th_strategy *s,
                                 const int32_t *shares, int r, int chunk)
{
    th_loop_box box = th_shard_loops(l, batch, s, shares, r);
    if (s->chunks > 0)
        cut_loops(&box, s->chunk_dim, chunk, s->chunks);
    return box;
}

/* Positions that differ from r only in the digits of free, ascending. */
typedef struct {
    const th_strategy *strategy;
    unsigned free;
    int digit[TH_N_DIMS], copy; /* of r */
    int n, rank;                /* their number, r's place among them */
} relatives;

static relatives relatives_of(const th_strategy *s, unsigned free, int r)
{
    relatives x = {.strategy = s, .free = free, .copy = r % th_shard_copies(s), .n = 1};
    coordinates(s, r, x.digit);
    for (int d = 0; d < TH_N_DIMS; d++) {
        if (free >> d & 1u) {
            x.n *= s->split[d];
            x.rank = x.rank * s->split[d] + x.digit[d];
        }
    }
    return x;
}

static int relative(const relatives *x, int i)
{
    int digit[TH_N_DIMS];
    memcpy(digit, x->digit, sizeof digit);
    for (int d = TH_N_DIMS - 1; d >= 0; d--) {
        if (!(x->free >> d & 1u) || x->strategy->split[d] == 1)
            continue;
        digit[d] = i % x->strategy->split[d];
        i /= x->strategy->split[d];
    }
    return position_of(x->strategy, digit, x->copy);
}

static int list_relatives(const relatives *x, int *members, int *rank)
{
    for (int i = 0; members && i < x->n; i++)
        members[i] = relative(x, i);
    if (rank)
        *rank = x->rank;
    return x->n;
}

static unsigned free_along_ring(const th_layer *l, const th_strategy *s)
{
    th_operand operand = th_shard_rotating(l, s);
    unsigned all = (1u << TH_N_DIMS) - 1;
    return operand == TH_OPERAND_NONE ? 0 : all & ~index_of(l, operand);
}

int th_shard_ring(const th_layer *l, const th_strategy *s, int r, int *members, int *rank)
{
    const relatives ring = relatives_of(s, free_along_ring(l, s), r);
    return list_relatives(&ring, members, rank);
}

int th_shard_ring_member(const th_layer *l, const th_strategy *s, int r, int ahead)
{
    const relatives ring = relatives_of(s, free_along_ring(l, s), r);
    return relative(&ring, (ring.rank + ahead) % ring.n);
}

static unsigned reductions_of(const th_layer *l)
{
    unsigned free = 0;
    for (int d = 0; d < TH_N_DIMS; d++)
        if (th_layer_is_reduction(l, (th_dim)d))
            free |= 1u << d;
    return free;
}

int th_shard_partners(const th_strategy *s, const th_layer *l, int r, int *members, int *rank)
{
    const relatives partners = relatives_of(s, reductions_of(l), r);
    return list_relatives(&partners, members, rank);
}

int th_shard_partner(const th_strategy *s, const th_layer *l, int r, int i)
{
    const relatives partners = relatives_of(s, reductions_of(l), r);
    return relative(&partners, i);
}

static int longest_dimension(const th_box *b)
{
    int longest = 0;
    for (int d = 1; d < TH_TENSOR_DIMS; d++)
        if (b->hi[d] - b->lo[d] > b->hi[longest] - b->lo[longest])
            longest = d;
    return longest;
}

th_box th_shard_held(const th_layer *l, int32_t batch, const th_strategy *s, const int32_t *shares,
                     int r, int chunk)
{
    const th_loop_box loops = th_shard_chunk_loops(l, batch, s, shares, r, chunk);
    return th_shard_held_of(l, s, r, &loops);
}

th_box th_shard_held_of(const th_layer *l, const th_strategy *s, int r, const th_loop_box *loops)
{
    th_box box = th_layer_output_of(l, loops);
    int rank = 0, n = th_shard_partners(s, l, r, NULL, &rank);
    if (n == 1)
        return box;
    int d = longest_dimension(&box);
    range part = cut((range){box.lo[d], box.hi[d]}, rank, n);
    box.lo[d] = part.lo;
    box.hi[d] = part.hi;
    return part.lo < part.hi ? box : (th_box){{0}, {0}};
}

/* --- weights --- */

static int32_t extent(const th_loop_box *loops, int d)
{
    return loops->hi[d] - loops->lo[d];
}

int32_t th_density_ppm(double density)
{
    return (int32_t)(density * 1e6 + 0.5);
}

int64_t th_shard_weight_box_bytes(const th_layer *l, const th_box *box)
{
    const th_shard s = {
        .precision = {[TH_TENSOR_WEIGHT] = (int32_t)l->precision[TH_TENSOR_WEIGHT]},
        .density_ppm = {[TH_TENSOR_WEIGHT] = th_density_ppm(l->density[TH_TENSOR_WEIGHT])},
        .sparse_n = l->sparse_n,
        .sparse_m = l->sparse_m};
    return th_shard_bytes(&s, TH_TENSOR_WEIGHT, th_box_elements(box));
}

int64_t th_shard_weight_piece_bytes(const th_layer *l, const th_loop_box *loops)
{
    th_box box = th_layer_weight_box(l, loops);
    return th_shard_weight_box_bytes(l, &box);
}

/* Biases, and scales and shifts; a norm that is folded into a convolution leaves a bias. */
static int64_t parameters_per_channel(const th_layer *l)
{
    if (l->has_norm)
        return 1;
    int64_t owned = l->tied_to > 0 ? 0 : th_layer_weights(l);
    return (th_layer_parameters(l) - owned) / l->dim[TH_DIM_K];
}

int64_t th_shard_weight_bytes(const th_layer *l, const th_strategy *s, const int32_t *shares, int r)
{
    th_loop_box loops = th_shard_loops(l, 1, s, shares, r), piece = loops;
    if (th_shard_rotating(l, s) == TH_OPERAND_WEIGHT) {
        int n = th_shard_phases(l, s);
        piece.hi[s->rotate] = piece.lo[s->rotate] + (extent(&loops, s->rotate) + n - 1) / n;
    }
    return th_shard_weight_piece_bytes(l, &piece) +
           th_tensor_bytes(parameters_per_channel(l) * extent(&loops, TH_DIM_K),
                           l->precision[TH_TENSOR_WEIGHT]);
}

int th_box_subtract(const th_box *a, const th_box *b, th_box *out)
{
    th_box common = th_box_intersect(a, b), rest = *a;
    int n = 0;
    if (th_box_is_empty(a))
        return 0;
    if (th_box_is_empty(&common)) {
        out[0] = *a;
        return 1;
    }
    for (int d = 0; d < TH_TENSOR_DIMS;
         d++) { /* slice off what lies below and above, then narrow */
        if (rest.lo[d] < common.lo[d]) {
            out[n] = rest;
            out[n++].hi[d] = common.lo[d];
        }
        if (rest.hi[d] > common.hi[d]) {
            out[n] = rest;
            out[n++].lo[d] = common.hi[d];
        }
        rest.lo[d] = common.lo[d];
        rest.hi[d] = common.hi[d];
    }
    return n;
}
