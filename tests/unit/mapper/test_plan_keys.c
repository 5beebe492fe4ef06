/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plan_keys.c - what a plan depends on is in its key: plans that have been asked about a
 * layer, a set or a strategy before answer about the next one, which differs from it in one thing,
 * as plans do that have been asked nothing. */
#include <config.h>
#include <stddef.h>
#include "base/alloc.h"
#include "mapper/lower/plan.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

enum { BATCH = 2 };

/* --- answers as text --- */

static void add_box(th_strbuf *out, const int32_t *lo, const int32_t *hi, int n)
{
    for (int d = 0; d < n; d++)
        th_strbuf_printf(out, " %d-%d", (int)lo[d], (int)hi[d]);
}

/* Of costs all that a plan takes from them; their numbers depend on what was asked before. */
static void add_cost(th_strbuf *out, th_plans *p, int32_t number)
{
    const th_compute_cost *c = number < 0 ? NULL : th_compute_cost_get(th_plans_costs(p), number);
    th_strbuf_printf(out, " cost %lld design %d reads %lld", c ? (long long)c->collapsed_ps : -1,
                     c ? (int)c->design : 0, c ? (long long)c->total.input_bytes : 0);
    for (size_t i = 0; c && i < sizeof c->shard / sizeof(int32_t); i++)
        th_strbuf_printf(out, " %d", (int)((const int32_t *)&c->shard)[i]);
}

static void add_position(th_strbuf *out, th_plans *p, const th_layer_plan *plan, int r, int inputs)
{
    const th_position_plan *at = &plan->at[r];
    th_strbuf_printf(out, "\nat %lld %lld %lld ring %d %d", (long long)at->weight_bytes,
                     (long long)at->output_bytes, (long long)at->buffer_bytes, (int)at->ring_from,
                     (int)at->ring_to);
    add_box(out, at->held.lo, at->held.hi, TH_TENSOR_DIMS);
    add_box(out, at->loops.lo, at->loops.hi, TH_N_DIMS);
    for (int i = 0; i < inputs; i++)
        add_box(out, at->need[i].lo, at->need[i].hi, TH_TENSOR_DIMS);
    add_cost(out, p, at->reduce_cost);
    for (int i = 0; i < at->n_sends; i++)
        th_strbuf_printf(out, " send %d %lld", (int)plan->sends[at->first_send + i].to,
                         (long long)plan->sends[at->first_send + i].bytes);
    for (int i = r * plan->phases; i < (r + 1) * plan->phases; i++) {
        add_cost(out, p, plan->cost[i]);
        add_cost(out, p, plan->cost_adding[i]);
        th_strbuf_printf(out, " piece %lld", (long long)plan->piece_bytes[i]);
    }
}

static bool add_layer(th_strbuf *out, th_plans *p, const th_workload *w, const th_placed *at,
                      int batch)
{
    const th_layer_plan *plan = th_plans_layer(p, at, batch, NULL);
    th_error reason = {"", ""};
    th_strbuf_printf(out, "\nlayer alone %lld",
                     (long long)th_plans_time_alone(p, at, batch, NULL, &reason, NULL));
    if (!plan)
        return false;
    th_strbuf_printf(out, " %d %d %d %d time %lld bound %lld", (int)plan->n, (int)plan->n_accels,
                     (int)plan->phases, (int)plan->rotates_input,
                     (long long)th_plans_layer_time(p, at, plan, NULL, NULL),
                     (long long)th_plans_layer_bound(p, at, batch, NULL));
    for (int r = 0; r < plan->n; r++)
        add_position(out, p, plan, r, w->layers[at->layer].n_inputs);
    return true;
}

static void add_edge_plan(th_strbuf *out, const th_edge_plan *e, int n)
{
    for (int r = 0; r <= n; r++)
        th_strbuf_printf(out, " from %d %d %d", (int)e->first_of[r],
                         e->first_local_of ? (int)e->first_local_of[r] : -1,
                         e->first_reuse_of ? (int)e->first_reuse_of[r] : -1);
    for (int i = 0; i < e->n; i++) {
        const th_delivery *d = &e->deliveries[i];
        th_strbuf_printf(out, "\ndelivery %d %d %d %d %lld %d %lld", (int)d->from,
                         (int)d->from_node, (int)d->to_node, (int)d->to, (long long)d->bytes,
                         (int)d->after, (long long)d->sent_bytes);
        for (int b = d->first_box; e->boxes && b < d->first_box + d->n_boxes; b++)
            add_box(out, e->boxes[b].lo, e->boxes[b].hi, TH_TENSOR_DIMS);
    }
    for (int i = 0; i < e->n_reuses; i++)
        th_strbuf_printf(out, " reuse %d %d %d", (int)e->reuses[i].to, (int)e->reuses[i].edge,
                         (int)e->reuses[i].delivery);
    for (int i = 0; e->first_local_of && i < e->first_local_of[n]; i++)
        th_strbuf_printf(out, " local %d", (int)e->locals[i]);
}

static void add_edge(th_strbuf *out, th_plans *p, const th_placed *from, const th_placed *to, int n,
                     int batch)
{
    const th_edge_plan *e = th_plans_edge(p, from, to, n, batch, NULL);
    th_strbuf_printf(out, "\nedge");
    if (!e)
        return;
    th_strbuf_printf(out, " %lld", (long long)th_plans_edge_time(p, e, NULL));
    add_edge_plan(out, e, th_plans_layer(p, &to[n - 1], batch, NULL)->n);
    if (n > 1)
        return;
    th_strbuf_printf(out, " transition %lld",
                     (long long)th_plans_transition_time(p, from, to, batch, TH_TIME_MAX, NULL));
    if (from)
        th_strbuf_printf(out, " bound %lld",
                         (long long)th_plans_transition_bound(p, from, to, batch, NULL));
}

/* --- questions --- */

/* Two layers, each as a set runs it: the second is asked about, the first is what it reads from,
 * writes to, and shares a tensor with. */
typedef struct {
    int layer[2], input;
    th_set set[2];
    th_strategy strategy[2];
    int batch;
} question;

static th_placed placed(th_plans *p, const question *q, int which)
{
    th_placed at;
    CU_ASSERT_EQUAL(
        th_plans_place(p, q->layer[which], &q->set[which], &q->strategy[which], &at, NULL), 0);
    return at;
}

/* Can it be planned? */
static bool answer(th_plans *p, const th_workload *w, const question *q, th_strbuf *out)
{
    const th_placed base = placed(p, q, 0);
    th_placed it = placed(p, q, 1), both[] = {base, it};
    th_strbuf_clear(out);
    if (!add_layer(out, p, w, &it, q->batch))
        return false;
    it.input = both[1].input = q->input;
    add_edge(out, p, NULL, &it, 1, q->batch);
    add_edge(out, p, &base, &it, 1, q->batch);
    add_edge(out, p, NULL, both, 2, q->batch);
    add_edge(out, p, &base, both, 2, q->batch);
    it.input = 0;
    add_edge(out, p, &it, &base, 1, q->batch);
    return true;
}

static th_plans *plans_of(const th_system *s, const th_workload *w)
{
    th_error e = {"", ""};
    th_plans *p = th_plans_new(s, w, &e);
    if (!p)
        bail_out(&e);
    return p;
}

/* Is the answer of plans that have been asked before that of fresh ones? */
static bool same_answer(th_plans *asked, const th_system *s, const th_workload *w,
                        const question *q, int *n_planned)
{
    auto_strbuf a = TH_STRBUF_INIT, b = TH_STRBUF_INIT;
    auto_plans *fresh = plans_of(s, w);
    bool plans = answer(asked, w, q, &a);
    bool same = plans == answer(fresh, w, q, &b) && strcmp(a.text, b.text) == 0;
    *n_planned += plans;
    return same;
}

/* --- layers --- */

static int32_t channels[][2] = {{4, 4}, {2, 6}}, shapes[][9] = {{8, 12, 1, 8, 12, 1, 8, 12, 1},
                                                                {8, 12, 1, 4, 12, 1, 4, 12, 1},
                                                                {8, 12, 1, 8, 6, 1, 8, 6, 1}};
static int32_t external[] = {-1, -1, -1};

static th_layer conv_layer(th_layer_kind kind)
{
    th_layer l = th_layer_over(kind, BATCH, 8, 12, 12, TH_FP16);
    l.inputs = external;
    l.n_inputs = 1;
    l.in_h = l.in_w = 40;
    l.dim[TH_DIM_R] = l.dim[TH_DIM_S] = 3;
    return l;
}

static th_layer of_kind(th_layer_kind kind)
{
    if (kind == TH_LAYER_CONV || kind == TH_LAYER_POOL)
        return conv_layer(kind);
    th_layer l = th_layer_over(kind, BATCH, 8, 12, 1, TH_FP16);
    l.inputs = external;
    l.n_inputs = kind == TH_LAYER_MATMUL || kind == TH_LAYER_CONCAT ? 2 : 1;
    if (kind == TH_LAYER_CONCAT)
        l.input_channels = channels[0];
    if (kind == TH_LAYER_EMBEDDING)
        l.vocabulary = 100;
    if (kind == TH_LAYER_MATMUL)
        l.dim[TH_DIM_K] = 12;
    if (kind == TH_LAYER_SLICE)
        l.dim[TH_DIM_K] = 4;
    if (kind == TH_LAYER_ATTENTION) {
        l.n_inputs = 3;
        l.groups = 2;
        l.dim[TH_DIM_R] = 12;
        l.causal_rows = 6;
        l.input_shapes = shapes[0];
    }
    return l;
}

/* A number of a layer, changed. What stands in no row: names, lines and inputs, which plans do not
 * read; the batch, which is asked for; is_mean_pool, which takes as long; tied_to, of which the
 * footprint of a mapping knows. */
typedef struct {
    size_t at, size; /* of a bool 1, of a double 8 */
} field;
#define FIELD(NAME)                                                                                \
    {                                                                                              \
        offsetof(th_layer, NAME), sizeof(((th_layer *)0)->NAME)                                    \
    }
static const field fields[] = {
    FIELD(dim[1]),       FIELD(dim[2]),       FIELD(dim[3]),       FIELD(dim[4]),
    FIELD(dim[5]),       FIELD(dim[6]),       FIELD(in_h),         FIELD(in_w),
    FIELD(stride_h),     FIELD(stride_w),     FIELD(pad_top),      FIELD(pad_left),
    FIELD(dilation_h),   FIELD(dilation_w),   FIELD(up_h),         FIELD(up_w),
    FIELD(groups),       FIELD(function),     FIELD(has_bias),     FIELD(has_norm),
    FIELD(causal_rows),  FIELD(window),       FIELD(vocabulary),   FIELD(first_channel),
    FIELD(precision[0]), FIELD(precision[1]), FIELD(precision[2]), FIELD(density[0]),
    FIELD(density[1]),   FIELD(density[2]),   FIELD(is_transposed)};
enum { FIELDS = sizeof fields / sizeof *fields, OTHERS = 3 };
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_layer) == 192, "a number more of a layer: has it a row?");
#endif

/* Doubled, so that what is a multiple of something stays one. */
static void change(th_layer *l, int i)
{
    char *at = (char *)l + fields[i].at;
    if (fields[i].size == sizeof(bool))
        *(bool *)at = !*(bool *)at;
    else if (fields[i].size == sizeof(double))
        *(double *)at /= 2;
    else
        *(int32_t *)at = *(int32_t *)at > 0 ? 2 * *(int32_t *)at : 1;
}

/* What is no number: inputs of other channels or shapes, a structure of zeros. */
static void change_more(th_layer *l, int i)
{
    if (i == 0) {
        l->sparse_n = 2;
        l->sparse_m = 4;
    } else if (i == 1 && l->input_channels) {
        l->input_channels = channels[1];
    } else if (l->input_shapes) {
        l->input_shapes = shapes[i];
        l->dim[TH_DIM_R] = l->input_shapes[4];
    }
}

/* Of one kind: the layer itself, and with each thing changed once. */
static th_workload *neighbours_of(th_layer_kind kind, th_layer *l, th_workload *w)
{
    enum { N = 1 + FIELDS + OTHERS };
    for (int i = 0; i < N; i++) {
        l[i] = of_kind(kind);
        if (i > FIELDS)
            change_more(&l[i], i - FIELDS - 1);
        else if (i > 0)
            change(&l[i], i - 1);
    }
    *w = (th_workload){.name = "n", .batch = BATCH, .layers = l, .n_layers = N};
    return w;
}

/* Can be planned at all: its boxes lie in what it reads. */
static bool is_sound(const th_layer *l)
{
    const int32_t *shape = l->input_shapes;
    return !shape ||
           (l->dim[TH_DIM_K] == 8 && l->dim[TH_DIM_C] == shape[0] && l->dim[TH_DIM_R] == shape[4]);
}

static void check_kind(const th_system *s, th_layer_kind kind, int *n_asked, int *n_planned)
{
    static const char *const strategies[] = {"", "K2", "H2", "B2", "C2", "H2 rK", "K2 xH2"};
    th_layer l[1 + FIELDS + OTHERS];
    th_workload w;
    neighbours_of(kind, l, &w);
    int32_t accels[] = {1, 2}, others[] = {2, 3};
    for (int k = 0; k < 7; k++) {
        const int n = strategies[k][0] ? 2 : 1;
        auto_plans *asked = plans_of(s, &w);
        question q = {.set = {{0, n, others}, {0, n, accels}}, .batch = BATCH};
        q.strategy[0] = q.strategy[1] = strategy_of(strategies[k]);
        for (int i = 0; i < w.n_layers; i++) {
            q.layer[1] = i;
            q.input = l[i].n_inputs - 1;
            if (!is_sound(&l[i]) || !th_strategy_fits(&q.strategy[1], &l[0], BATCH, n) ||
                !th_strategy_fits(&q.strategy[1], &l[i], BATCH, n))
                continue;
            ++*n_asked;
            if (!same_answer(asked, s, &w, &q, n_planned)) {
                printf("# kind %d, strategy %s, change %d\n", (int)kind, strategies[k], i - 1);
                CU_FAIL("another answer");
            }
        }
    }
}

static const char ring[] =
    "name = \"t\"; designs = ( { name = \"d\"; type = \"systolic\"; rows = 16; cols = 16; dataflow "
    "= \"ws\"; input_buffer = \"64KiB\"; weight_buffer = \"64KiB\"; output_buffer = \"64KiB\"; "
    "clock = "
    "\"1GHz\"; }, { name = \"e\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 7; } );"
    "accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = \"100GB/s\"; }; vector = { clock "
    "= \"1GHz\"; elements_per_cycle = 3; }; designs = [\"d\", \"e\"]; } );"
    "topology = { type = \"ring\"; dims = [6]; bandwidth = \"8Gbps\"; latency = \"100ns\"; host = {"
    " bandwidth = \"2Gbps\"; latency = \"300ns\"; }; };";

TEST(every_number_of_a_layer_is_in_the_key)
{
    static const th_layer_kind kinds[] = {
        TH_LAYER_CONV, TH_LAYER_POOL,      TH_LAYER_FC,       TH_LAYER_MATMUL, TH_LAYER_ELEMENTWISE,
        TH_LAYER_NORM, TH_LAYER_SOFTMAX,   TH_LAYER_CONCAT,   TH_LAYER_SLICE,  TH_LAYER_LSTM,
        TH_LAYER_GRU,  TH_LAYER_EMBEDDING, TH_LAYER_ATTENTION};
    auto_system *s = system_of(ring);
    int n_asked = 0, n_planned = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_kind(s, kinds[i], &n_asked, &n_planned);
    printf("# %d questions, %d can be planned\n", n_asked, n_planned);
    CU_ASSERT_TRUE(n_planned > 1000);
}

/* --- sets, strategies --- */

enum { SETS = 8, LAYERS = 5 };

/* Sets that differ in one thing: a member, their order, shares, the design, the size. */
static void list_sets(th_set *sets)
{
    static int32_t accels[SETS][3] = {{1, 2}, {2, 1}, {1, 3}, {1, 2},
                                      {1, 2}, {1, 2}, {1},    {1, 2, 4}};
    static int32_t shares[2][2] = {{1, 3}, {3, 1}};
    for (int i = 0; i < SETS; i++)
        sets[i] = (th_set){.n_accels = i < 6 ? 2 : i == 6 ? 1 : 3, .accels = accels[i]};
    sets[3].design = 1;
    sets[4].shares = shares[0];
    sets[5].shares = shares[1];
}

/* Two of one shape, and such that read several tensors, of which each input needs another part. */
static void list_layers(th_layer *l, th_workload *w)
{
    l[0] = l[1] = of_kind(TH_LAYER_CONV);
    l[2] = of_kind(TH_LAYER_CONCAT);
    l[3] = of_kind(TH_LAYER_MATMUL);
    l[4] = of_kind(TH_LAYER_ATTENTION);
    *w = (th_workload){.name = "n", .batch = BATCH, .layers = l, .n_layers = LAYERS};
}

/* Any strategy of a layer on a set; false: there is none. */
static bool draw_strategy(gsl_rng *r, const th_layer *l, const question *q, bool is_serial,
                          th_strategy *out)
{
    th_strategy *list;
    int n = th_strategies_list_all(l, q->batch, q->set[1].n_accels, &list);
    if (n > 0)
        *out = list[pick(r, 0, n - 1)];
    th_free(list);
    if (n > 0 && !is_serial && pick(r, 0, 2) == 0 && out->rotate == TH_NO_ROTATION)
        th_strategy_set_chunks(out, (int32_t)pick(r, 2, 4), pick(r, 0, 1) ? TH_DIM_H : TH_DIM_K);
    return n > 0 && (!is_serial || out->rotate == TH_NO_ROTATION) &&
           th_strategy_fits(out, l, q->batch, q->set[1].n_accels);
}

/* Another question that differs from q in one thing of what is asked about. */
static question next_question(gsl_rng *r, const question *q, const th_layer *l, bool is_serial)
{
    th_set sets[SETS];
    list_sets(sets);
    for (;;) {
        question next = *q;
        const int thing = (int)pick(r, 0, 5), way = (int)pick(r, 0, 1);
        if (thing == 0)
            next.layer[1] = (int)pick(r, 0, LAYERS - 1);
        else if (thing == 1)
            next.set[1] = sets[pick(r, 0, SETS - 1)];
        else if (thing == 2)
            next.batch = (int)pick(r, 1, BATCH);
        else if (thing == 3)
            next.input = (int)pick(r, 0, 2);
        else if (thing == 4 && way == 0) /* the second becomes the first, where its place is free */
            next = (question){{q->layer[1], q->layer[1]},
                              0,
                              {q->set[1], q->set[1]},
                              {q->strategy[1], q->strategy[1]},
                              q->batch};
        const th_layer *at = &l[next.layer[1]];
        if (thing == 5 && !draw_strategy(r, at, &next, is_serial, &next.strategy[1]))
            continue;
        if (next.input < at->n_inputs &&
            th_strategy_fits(&next.strategy[0], &l[next.layer[0]], next.batch,
                             next.set[0].n_accels) &&
            th_strategy_fits(&next.strategy[1], at, next.batch, next.set[1].n_accels))
            return next;
    }
}

static void walk(const th_system *s, const char *name)
{
    enum { STEPS = TAP_REPEATS(700) };
    auto_rng *r = th_random_stream(21, name, 0);
    th_layer l[LAYERS];
    th_set sets[SETS];
    th_workload w;
    list_layers(l, &w);
    list_sets(sets);
    auto_plans *asked = plans_of(s, &w);
    question q = {.set = {sets[0], sets[0]}, .batch = BATCH};
    q.strategy[0] = q.strategy[1] = strategy_of("H2");
    int n_planned = 0, n_wrong = 0;
    for (int i = 0; i < STEPS; i++) {
        if (!same_answer(asked, s, &w, &q, &n_planned) && n_wrong++ == 0)
            printf("# step %d: layer %d, set of %d from %d, batch %d, input %d\n", i, q.layer[1],
                   (int)q.set[1].n_accels, (int)q.set[1].accels[0], q.batch, q.input);
        q = next_question(r, &q, l, s->transfers_serially);
    }
    printf("# %d of %d can be planned\n", n_planned, STEPS);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(2 * n_planned > STEPS);
}

TEST(every_thing_of_a_placement_is_in_the_key)
{
    auto_system *s = system_of(ring);
    walk(s, "ring");
    s->transfers_serially = true;
    walk(s, "serial");
}

/* --- networks --- */

/* Two networks of equal layers, two of each read the input: those of the first read one tensor,
 * those of the second have inputs of their own. */
TEST(whose_input_it_is_is_in_the_key)
{
    auto_system *s = system_of(ring);
    th_layer l[4];
    th_model models[] = {{.name = "a", .n_layers = 2},
                         {.name = "b", .first_layer = 2, .n_layers = 2, .has_own_inputs = true}};
    th_workload w = {.name = "n", .batch = BATCH, .layers = l, .n_layers = 4, .models = models};
    w.n_models = 2;
    int32_t accels[] = {1, 2};
    question q = {.set = {{0, 2, accels}, {0, 2, accels}}, .batch = BATCH};
    q.strategy[0] = q.strategy[1] = strategy_of("H2");
    for (int i = 0; i < 4; i++)
        l[i] = of_kind(TH_LAYER_CONV);
    auto_plans *asked = plans_of(s, &w);
    for (int part = 0; part < 2; part++) {
        int n_planned = 0;
        q.layer[0] = 2 * part;
        q.layer[1] = 2 * part + 1;
        CU_ASSERT_TRUE(same_answer(asked, s, &w, &q, &n_planned) && n_planned == 1);
    }
}

TAP_MAIN("plan_keys")
