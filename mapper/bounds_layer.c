/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_layer.c - what one layer takes at least: all ways to split it are looked at, and of each
 * the tasks that it leads to.
 *
 *   init -> layer: { strategy by strategy { position by position { task by task } } } -> clear
 *
 * Tasks: bounds_task.c. A script's procedure is not asked: its tasks take
 * nothing. Layers with more ways than WAYS_MAX (on large systems), and all where cuts need not be even
 * (sets with shares), are known by their operations at the peak of the array only (coarse). Proofs: docs/models/bounds.md.
 * Invariant: tasks[i] is what the shard with number i takes. */
#include <config.h>

#include "mapper/bounds_layer.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/bounds_task.h"
#include "mapper/lower/plan_state.h"
#include "mapper/search/strategies.h"
#include "topology/route.h"

enum { WAYS_MAX = 200000 }; /* tasks of all strategies of a layer that are looked at, a fraction of a second */

struct th_task_floor {
    double occupied, dram_bytes; /* INFINITY: nobody can run it */
};

/* --- tasks ------------------------------------------------------------------------------------ */

static const th_accel *accel_of(const th_floors *f, int class)
{
    return &f->system->nodes[f->system->accel_node[f->first_of[class]]].a;
}

/* On an accelerator of a class with one of its designs. A design that cannot run it says so. */
static struct th_task_floor floor_with(const th_floors *f, int class, int design,
                                       const th_shard *shard)
{
    th_schedule s;
    th_port port;
    th_error reason;
    bool loads_weights = !accel_of(f, class)->prefetches;
    if (strcmp(f->system->designs[design].type, "script") == 0 &&
        th_shard_macs(shard) > 0)
        return (struct th_task_floor){0, 0};
    if (th_works_schedule(f->works, f->first_of[class], design, shard, &s, &port, &reason))
        return (struct th_task_floor){INFINITY, INFINITY};
    return (struct th_task_floor){th_task_least_ps(&s, &port, loads_weights), th_task_least_bytes(&s, &port)};
}

static struct th_task_floor floor_on(const th_floors *f, int class, const th_shard *shard)
{
    struct th_task_floor least = {INFINITY, INFINITY};
    const th_accel *a = accel_of(f, class);
    for (int i = 0; i < a->n_designs; i++) {
        struct th_task_floor with = floor_with(f, class, a->designs[i], shard);
        least.occupied = fmin(least.occupied, with.occupied);
        least.dram_bytes = fmin(least.dram_bytes, with.dram_bytes);
    }
    return least;
}

/* How quick each class can be for this task, of the quickest. */
static void compare_speeds(th_floors *f, const double *occupied, double best)
{
    for (int c = 0; c < f->n_classes; c++)
        if (occupied[c] < INFINITY && occupied[c] > 0)
            f->speed[c] = fmax(f->speed[c], best / occupied[c]);
}

/* The number of the shard's floor; -1: memory is out. */
static int64_t intern(th_floors *f, const th_shard *shard, double *occupied)
{
    int64_t number;
    if (th_map_get(f->numbers, shard, sizeof *shard, &number))
        return number;
    struct th_task_floor best = {INFINITY, INFINITY};
    for (int c = 0; c < f->n_classes; c++) {
        struct th_task_floor on = floor_on(f, c, shard);
        occupied[c] = on.occupied;
        best.occupied = fmin(best.occupied, on.occupied);
        best.dram_bytes = fmin(best.dram_bytes, on.dram_bytes);
    }
    compare_speeds(f, occupied, best.occupied);
    if (th_grow(&f->tasks, &f->task_capacity, f->n_tasks + 1, sizeof *f->tasks) ||
        th_map_put(f->numbers, shard, sizeof *shard, (int64_t)f->n_tasks))
        return -1;
    f->tasks[f->n_tasks] = best;
    return (int64_t)f->n_tasks++;
}

/* --- life ------------------------------------------------------------------------------------- */

static bool same_designs(const th_accel *a, const th_accel *b)
{
    return a->n_designs == b->n_designs && a->prefetches == b->prefetches &&
           memcmp(a->designs, b->designs, (size_t)a->n_designs * sizeof *a->designs) == 0;
}

static void find_classes(th_floors *f)
{
    const th_system *s = f->system;
    for (int a = 0; a < s->n_accels; a++) {
        int c = 0;
        while (c < f->n_classes &&
               (th_works_memory_class(f->works, a) != th_works_memory_class(f->works, f->first_of[c]) ||
                !same_designs(&s->nodes[s->accel_node[a]].a, accel_of(f, c))))
            c++;
        if (c == f->n_classes)
            f->first_of[f->n_classes++] = a;
        f->class_of[a] = c;
    }
}

static void improve_way(th_way *w, const th_route_summary *r)
{
    double ps_per_byte = 8 * (double)TH_PS_PER_S / (double)r->bits_per_s;
    if (!w->exists || (double)r->latency_ps < w->latency)
        w->latency = (double)r->latency_ps;
    if (!w->exists || ps_per_byte < w->ps_per_byte)
        w->ps_per_byte = ps_per_byte;
    w->exists = true;
}

/* The quickest between any accelerator and its host. 0 or -1. */
static int find_ways(th_floors *f, const th_plans *plans)
{
    const th_system *s = f->system;
    th_route_summary r;
    for (int a = 0; a < s->n_accels; a++) {
        int host = th_plans_host_of(plans, a);
        if (host < 0)
            continue;
        int there = th_route_summarize(s, host, s->accel_node[a], &r);
        if (there == 0)
            improve_way(&f->in, &r);
        int back = there == 0 ? th_route_summarize(s, s->accel_node[a], host, &r) : 0;
        if (back == 0)
            improve_way(&f->out, &r);
        if (there < 0 || back < 0)
            return -1;
    }
    return 0;
}

int th_floors_init(th_floors *f, const th_system *s, const th_workload *w, th_error *err)
{
    size_t n = (size_t)s->n_accels + 1;
    *f = (th_floors){.system = s, .workload = w};
    f->works = th_works_new(s, err);
    if (!f->works)
        return -1;
    f->class_of = th_alloc_zero(n, sizeof *f->class_of);
    f->first_of = th_alloc_zero(n, sizeof *f->first_of);
    f->speed = th_alloc_zero(n, sizeof *f->speed);
    f->numbers = th_map_new();
    if (!f->class_of || !f->first_of || !f->speed || !f->numbers)
        return th_error_no_memory(err);
    find_classes(f);
    th_plans *plans = th_plans_new(s, w, err);
    int failed = !plans ? -1 : find_ways(f, plans) ? th_error_no_memory(err) : 0;
    th_plans_free(plans);
    return failed;
}

void th_floors_clear(th_floors *f)
{
    th_works_free(f->works);
    th_free(f->class_of);
    th_free(f->first_of);
    th_free(f->speed);
    th_map_free(f->numbers);
    th_free(f->tasks);
}

double th_floors_speed(const th_floors *f)
{
    double sum = 0;
    for (int a = 0; a < f->system->n_accels; a++)
        sum += f->n_classes == 1 ? 1 : f->speed[f->class_of[a]];
    return sum;
}

/* --- layers ----------------------------------------------------------------------------------- */

/* What the tasks of a position follow from, where that is more than one position's. */
typedef struct {
    int32_t size[3]; /* along B, K, C */
    int32_t lo[4];   /* along H, W, R, S: what lies at a border reads less */
} place;

typedef struct {
    place at;
    double occupied, dram_bytes;
} seen;

typedef struct {
    th_floors *floors;
    const th_layer *layer;
    int32_t batch;
    bool is_output;
    bool are_alike;  /* positions of one place are, but for what comes from hosts and goes there */
    double *scratch; /* by class */
    seen *seen;      /* places of the strategy so far */
    int n_seen;
    th_layer_floor *out;
} maker;

static double bytes_of(const th_box *box, th_precision p)
{
    return (double)th_tensor_bytes(th_box_elements(box), p);
}

/* What brings position r the external input that it needs, at best; also whether it needs something of
 * every input. */
static double arrival_of(maker *k, const th_strategy *s, int r)
{
    const th_workload *w = k->floors->workload;
    th_loop_box whole = th_shard_loops(k->layer, k->batch, s, NULL, r),
                first = th_shard_phase_loops(k->layer, k->batch, s, NULL, r, 0);
    bool rotates = th_shard_rotating(k->layer, s) == TH_OPERAND_INPUT;
    const th_way *in = &k->floors->in;
    double most = 0;
    bool any = false;
    for (int i = 0; i < k->layer->n_inputs; i++) {
        th_box need = th_layer_input_of(k->layer, i, i == 0 && rotates ? &first : &whole);
        any |= !th_box_is_empty(&need);
        if (th_box_is_empty(&need))
            k->out->reads_always = false;
        else if (k->layer->inputs[i] == TH_EXTERNAL_INPUT && in->exists)
            most = fmax(most, in->latency + bytes_of(&need, w->precision) * in->ps_per_byte);
    }
    k->out->reads_any &= any;
    return most;
}

static double departure_of(const maker *k, const th_strategy *s, int r)
{
    const th_way *out = &k->floors->out;
    if (!k->is_output || !out->exists)
        return 0;
    th_box held = th_shard_held(k->layer, k->batch, s, NULL, r);
    double bytes = bytes_of(&held, k->layer->precision[TH_TENSOR_OUTPUT]);
    return bytes > 0 ? out->latency + bytes * out->ps_per_byte : 0;
}

/* Adds the tasks of position r. 0; 1: nobody can run one of them; -1: memory is out. */
static int add_tasks(maker *k, const th_strategy *s, int r, double *occupied, double *dram_bytes)
{
    int phases = th_shard_phases(k->layer, s);
    for (int phase = 0; phase < phases; phase++) {
        th_loop_box loops = th_shard_phase_loops(k->layer, k->batch, s, NULL, r, phase);
        th_shard shard = th_plan_shard(k->layer, &loops);
        int64_t number = intern(k->floors, &shard, k->scratch);
        if (number < 0)
            return -1;
        const struct th_task_floor *t = &k->floors->tasks[number];
        if (t->occupied == INFINITY)
            return 1;
        *occupied += t->occupied;
        *dram_bytes += t->dram_bytes;
    }
    return 0;
}

/* Takes the shorter of what is known so far and of a position. */
static void shorten(th_layer_floor *f, double arrival, double occupied, double departure)
{
    for (int in = 0; in < 2; in++)
        for (int out = 0; out < 2; out++)
            f->shortest[in][out] = fmin(f->shortest[in][out], (in ? arrival : 0) + occupied +
                                                                  (out ? departure : 0));
    f->arrival = fmin(f->arrival, arrival);
}

static place place_of(const maker *k, const th_strategy *s, int r)
{
    static const th_dim sizes[] = {TH_DIM_B, TH_DIM_K, TH_DIM_C},
                        los[] = {TH_DIM_H, TH_DIM_W, TH_DIM_R, TH_DIM_S};
    th_loop_box loops = th_shard_loops(k->layer, k->batch, s, NULL, r);
    place p;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        p.size[i] = loops.hi[sizes[i]] - loops.lo[sizes[i]];
    for (size_t i = 0; i < sizeof los / sizeof *los; i++)
        p.lo[i] = loops.lo[los[i]];
    return p;
}

/* The tasks of position r; those of a place that was met before are known, but where the input rotates and
 * each begins with another piece of it. As add_tasks; *arrival: of external inputs. */
static int add_position(maker *k, const th_strategy *s, int r, double *occupied, double *dram_bytes,
                        double *arrival)
{
    seen now = {.occupied = 0};
    *arrival = 0;
    bool is_alike = k->are_alike && th_shard_rotating(k->layer, s) != TH_OPERAND_INPUT;
    if (is_alike) {
        now.at = place_of(k, s, r);
        for (int i = 0; i < k->n_seen; i++) {
            if (memcmp(&k->seen[i].at, &now.at, sizeof now.at) != 0)
                continue;
            *occupied = k->seen[i].occupied;
            *dram_bytes = k->seen[i].dram_bytes;
            return 0;
        }
    }
    int status = add_tasks(k, s, r, &now.occupied, &now.dram_bytes);
    if (status != 0)
        return status;
    *arrival = arrival_of(k, s, r);
    *occupied = now.occupied;
    *dram_bytes = now.dram_bytes;
    if (is_alike)
        k->seen[k->n_seen++] = now;
    return 0;
}

/* One way to split the layer. 0; 1: nobody can run it; -1: memory is out. */
static int add_strategy(maker *k, const th_strategy *s, int n)
{
    th_layer_floor found = *k->out;
    double sum = 0, bytes = 0;
    k->n_seen = 0;
    for (int r = 0; r < n; r++) {
        double occupied, moved, arrival;
        int status = add_position(k, s, r, &occupied, &moved, &arrival);
        if (status != 0)
            return status;
        sum += occupied;
        bytes += moved;
        shorten(&found, arrival, occupied, departure_of(k, s, r));
    }
    found.reads_always = k->out->reads_always;
    found.reads_any = k->out->reads_any;
    found.occupied = fmin(found.occupied, sum);
    found.dram_bytes = fmin(found.dram_bytes, bytes);
    *k->out = found;
    return 0;
}

/* Tasks of all strategies of sets of n, added to *ways. 0 or -1. */
static int count_ways(const maker *k, int n, int64_t *ways)
{
    th_strategy *list = NULL;
    int count = th_strategies_list_all(k->layer, k->batch, n, &list);
    for (int i = 0; i < count; i++)
        *ways += n * th_shard_phases(k->layer, &list[i]);
    th_free(list);
    return count < 0 ? -1 : 0;
}

/* All strategies of sets of n. 0 or -1. */
static int add_sets_of(maker *k, int n)
{
    th_strategy *list = NULL;
    int count = th_strategies_list_all(k->layer, k->batch, n, &list), status = count < 0 ? -1 : 0;
    for (int i = 0; status >= 0 && i < count; i++)
        status = add_strategy(k, &list[i], n);
    th_free(list);
    return status < 0 ? -1 : 0;
}

/* --- layers of large systems ------------------------------------------------------------------ */

/* Designs whose arrays never do more than macs_per_cycle, whatever the shard. */
static bool keeps_to_peak(const char *type)
{
    static const char *const types[] = {"tiled", "systolic", "systolic_vec", "roofline", "gemv"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], type) == 0)
            return true;
    return false;
}

static bool is_dense(const th_shard *s)
{
    enum { ALL = 1000000 };
    return s->sparse_m == 0 && s->density_ppm[TH_TENSOR_INPUT] == ALL &&
           s->density_ppm[TH_TENSOR_WEIGHT] == ALL;
}

/* Of all of the layer, at the peak of the best design of a class; 0: not known. */
static double peak_ps(const th_floors *f, int class, const th_shard *shard)
{
    const th_accel *a = accel_of(f, class);
    double least = INFINITY, macs = (double)th_shard_macs(shard) * (double)TH_PS_PER_S;
    th_schedule s;
    th_port port;
    th_error reason;
    for (int i = 0; i < a->n_designs; i++)
        if (th_works_run_all(f->works, a->designs[i]))
            return 0;
    if (macs == 0 && shard->kind != TH_LAYER_EMBEDDING)
        return (double)th_vector_operations(a, shard) * (double)TH_PS_PER_S /
               ((double)a->vector_elements_per_cycle * (double)a->vector_hz);
    for (int i = 0; i < a->n_designs; i++) {
        bool is_known = keeps_to_peak(f->system->designs[a->designs[i]].type) && is_dense(shard) &&
                        th_works_schedule(f->works, f->first_of[class], a->designs[i], shard, &s,
                                          &port, &reason) == 0 &&
                        s.macs_per_cycle > 0;
        least = is_known ? fmin(least, macs / (s.macs_per_cycle * (double)s.hz)) : 0;
    }
    return least;
}

/* What is true of any way to split it: nothing but operations counts. */
static void set_coarse(maker *k)
{
    th_floors *f = k->floors;
    th_loop_box loops = th_layer_loops(k->layer);
    loops.hi[TH_DIM_B] = k->batch;
    th_shard whole = th_plan_shard(k->layer, &loops);
    double best = INFINITY;
    for (int c = 0; c < f->n_classes; c++) {
        k->scratch[c] = peak_ps(f, c, &whole);
        best = fmin(best, k->scratch[c]);
    }
    compare_speeds(f, k->scratch, best);
    *k->out = (th_layer_floor){.occupied = best};
}

static bool is_output(const th_workload *w, int layer)
{
    for (int i = 0; i < w->n_outputs; i++)
        if (w->outputs[i] == layer)
            return true;
    return false;
}

/* Are positions whose pieces of B, K and C are as large, at the same place of H, W, R and S, all the same to
 * the layer? Not where hosts give or take, or where it depends on the channel what is read. */
static bool has_alike_positions(const maker *k)
{
    const th_layer *l = k->layer;
    return l->n_inputs == 1 && l->inputs[0] != TH_EXTERNAL_INPUT && !k->is_output && l->groups == 1 &&
           l->kind == TH_LAYER_CONV;
}

int th_floors_layer(th_floors *f, int layer, int32_t batch, th_layer_floor *out, th_error *err)
{
    double *scratch = th_alloc_zero((size_t)f->n_classes + 1, sizeof *scratch);
    maker k = {.floors = f,
               .layer = &f->workload->layers[layer],
               .batch = batch,
               .is_output = is_output(f->workload, layer),
               .scratch = scratch,
               .out = out};
    int64_t ways = f->any_cuts ? WAYS_MAX + 1 : 0;
    k.are_alike = has_alike_positions(&k);
    k.seen = th_alloc_zero((size_t)f->system->n_accels + 1, sizeof *k.seen);
    int failed = scratch && k.seen ? 0 : -1;
    *out = (th_layer_floor){INFINITY, INFINITY, {{INFINITY, INFINITY}, {INFINITY, INFINITY}},
                            INFINITY, true,     true, true};
    for (int n = 1; !failed && ways <= WAYS_MAX && n <= f->system->n_accels; n++)
        failed = count_ways(&k, n, &ways);
    for (int n = 1; !failed && ways <= WAYS_MAX && n <= f->system->n_accels; n++)
        failed = add_sets_of(&k, n);
    if (!failed && ways > WAYS_MAX)
        set_coarse(&k);
    else if (out->occupied == INFINITY) /* nobody can run it */
        *out = (th_layer_floor){.is_known = true};
    th_free(scratch);
    th_free(k.seen);
    return failed ? th_error_no_memory(err) : 0;
}
