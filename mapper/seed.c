/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seed.c - a dynamic programme over the layers of a set: strategies per layer, redistribution
 * between them.
 *
 *   run: layers of the set -> choices of each -> from the last layer back, the least time of all
 *   that hangs on each choice -> from the first layer on, the choices that give it
 *
 * A layer that runs on the array hangs on its ancestor: the nearest such layer along first inputs on
 * the same set; those of the vector unit between them follow the ancestor. So the graph becomes a forest,
 * and the programme is exact on it. What it leaves out: the other inputs of adds, overlap,
 * contention, other sets - the simulation judges those. Where memory does not suffice by
 * estimate, a byte that stays has a price. Choices are the KEPT quickest strategies of
 * a layer by themselves, and every pure split besides. */
#include <config.h>

#include "mapper/seed.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mapper/strategies.h"

enum { KEPT = 16, PATH_MAX_LAYERS = 8 };

struct th_seeder {
    th_evaluator *evaluator;
    th_plans *plans;
    const th_workload *workload;
    const th_constraints *constraints;
    int32_t batch;
    th_map *choice_numbers, *matrix_numbers;
    th_choices **choices;
    size_t n_choices, choice_capacity;
    th_time **matrices; /* transition times, row-major by (ancestor's choice, own choice) */
    size_t n_matrices, matrix_capacity;
    th_error misfit; /* the first of a design; before there is one, the first of a split */
    bool misfit_is_of_design;
};

th_seeder *th_seeder_new(th_evaluator *e, th_error *err)
{
    const th_problem *p = th_evaluator_problem(e);
    th_seeder *s = th_alloc_zero(1, sizeof *s);
    if (s) {
        s->evaluator = e;
        s->plans = th_lower_plans(th_evaluator_lower(e));
        s->workload = p->workload;
        s->constraints = p->constraints;
        s->batch = p->workload->batch / p->stream.micro_batches;
        s->choice_numbers = th_map_new();
        s->matrix_numbers = th_map_new();
        if (s->choice_numbers && s->matrix_numbers)
            return s;
    }
    th_error_no_memory(err);
    th_seeder_free(s);
    return NULL;
}

static void free_choices(th_choices *c)
{
    if (!c)
        return;
    th_free(c->strategy);
    th_free(c->time);
    th_free(c);
}

void th_seeder_free(th_seeder *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_choices; i++)
        free_choices(s->choices[i]);
    for (size_t i = 0; i < s->n_matrices; i++)
        th_free(s->matrices[i]);
    th_free(s->choices);
    th_free(s->matrices);
    th_map_free(s->choice_numbers);
    th_map_free(s->matrix_numbers);
    th_free(s);
}

th_plans *th_seeder_plans(const th_seeder *s)
{
    return s->plans;
}

const th_error *th_seeder_misfit(const th_seeder *s)
{
    return &s->misfit;
}

/* --- choices ---------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const th_timed *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order - y->order;
}

/* A set of one needs no split, so it is a design that leaves a layer without a way. */
static void note_misfit(th_seeder *s, const th_error *reason, bool is_of_design)
{
    if (s->misfit.id[0] && s->misfit_is_of_design >= is_of_design)
        return;
    s->misfit = *reason;
    s->misfit_is_of_design = is_of_design;
}

/* TH_TIME_MAX: the design cannot run it so. */
static th_time own_time(th_seeder *s, const th_set *set, int layer, const th_strategy *strategy,
                        th_error *err)
{
    th_placed at;
    th_error reason;
    if (th_plans_place(s->plans, layer, set, strategy, &at, err))
        return -1;
    const th_layer_plan *plan = th_plans_layer(s->plans, &at, s->batch, &reason);
    if (plan)
        return th_plans_layer_time(s->plans, &at, plan, err);
    if (th_plans_is_fatal(&reason))
        return th_error_set(err, reason.id, "%s", reason.text);
    note_misfit(s, &reason, true);
    return TH_TIME_MAX;
}

static bool is_pure(const th_strategy *s)
{
    int n = 0;
    for (int d = 0; d < TH_N_DIMS; d++)
        n += s->split[d] > 1;
    return n <= 1 && s->rotate == TH_NO_ROTATION;
}

static th_choices *keep_best(const th_timed *all, int n)
{
    th_choices *c = th_alloc_zero(1, sizeof *c);
    if (!c)
        return NULL;
    c->strategy = th_alloc_array((size_t)n + 1, sizeof *c->strategy);
    c->time = th_alloc_array((size_t)n + 1, sizeof *c->time);
    if (!c->strategy || !c->time) {
        free_choices(c);
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (i >= KEPT && !is_pure(&all[i].strategy))
            continue;
        c->strategy[c->n] = all[i].strategy;
        c->time[c->n++] = all[i].time;
    }
    return c;
}

/* Strategies that the set's design can run, with their times, into all; their number, or -1. */
static int time_all(th_seeder *s, const th_set *set, int layer, const th_strategy *list, int n,
                    th_timed *all, th_error *err)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        all[kept] = (th_timed){list[i], own_time(s, set, layer, &list[i], err), i};
        if (all[kept].time < 0)
            return -1;
        kept += all[kept].time < TH_TIME_MAX;
    }
    return kept;
}

/* A list of it alone, or of nothing where it does not fit. Returns the length; -1: memory is out. */
static int only(const th_strategy *given, const th_layer *l, int32_t batch, int n, th_strategy **list)
{
    if (!th_strategy_fits(given, l, batch, n))
        return 0;
    *list = th_alloc_array(1, sizeof **list);
    if (!*list)
        return -1;
    **list = *given;
    return 1;
}

/* Layers of one shape have the same choices, but for those whose strategy is given. */
static int32_t given_key(const th_seeder *s, int layer)
{
    return layer >= 0 && th_constraints_strategy(s->constraints, layer) ? layer : -1;
}

int th_seeder_times(th_seeder *s, const th_set *set, int layer, th_timed **out, th_error *err)
{
    const th_layer *l = &s->workload->layers[layer];
    th_error none;
    th_plans_trim(s->plans, TH_PLANS_LIMIT);
    th_strategy *list = NULL;
    const th_strategy *given = th_constraints_strategy(s->constraints, layer);
    int n = given ? only(given, l, s->batch, set->n_accels, &list)
                  : th_strategies_list(l, s->batch, set->n_accels, &list);
    th_timed *all = n < 0 ? NULL : th_alloc_array((size_t)n + 1, sizeof *all);
    int kept = all ? time_all(s, set, layer, list, n, all, err) : th_error_no_memory(err);
    if (n == 0) {
        th_error_set(&none, "MAP-0040", "layer \"%s\" cannot be split %sover %d accelerator%s", l->name,
                     given ? "as the partial mapping gives it " : "", (int)set->n_accels,
                     set->n_accels == 1 ? "" : "s");
        note_misfit(s, &none, false);
    }
    th_free(list);
    if (kept < 0) {
        th_free(all);
        return -1;
    }
    qsort(all, (size_t)kept, sizeof *all, by_time);
    *out = all;
    return kept;
}

static th_choices *make_choices(th_seeder *s, const th_set *set, int layer, th_error *err)
{
    th_timed *all;
    int n = th_seeder_times(s, set, layer, &all, err);
    if (n < 0)
        return NULL;
    th_choices *c = keep_best(all, n);
    if (!c)
        th_error_no_memory(err);
    th_free(all);
    return c;
}

const th_choices *th_seeder_choices(th_seeder *s, const th_set *set, int layer, th_error *err)
{
    th_placed at;
    int64_t number;
    if (th_plans_place(s->plans, layer, set, &th_strategy_single, &at, err))
        return NULL;
    const int32_t key[] = {at.set_number, th_plans_class(s->plans, layer), given_key(s, layer)};
    if (th_map_get(s->choice_numbers, key, sizeof key, &number))
        return s->choices[number];
    th_choices *c = make_choices(s, set, layer, err);
    if (!c)
        return NULL;
    if (th_grow(&s->choices, &s->choice_capacity, s->n_choices + 1, sizeof *s->choices) ||
        th_map_put(s->choice_numbers, key, sizeof key, (int64_t)s->n_choices)) {
        free_choices(c);
        th_error_no_memory(err);
        return NULL;
    }
    s->choices[s->n_choices++] = c;
    return c;
}

/* --- transitions ------------------------------------------------------------------------------ */

/* From an ancestor to a layer, over the layers of the vector unit between them. */
typedef struct {
    int ancestor; /* -1: the external input, or another set */
    bool is_external;
    int n;
    int between[PATH_MAX_LAYERS]; /* in order of computation */
} path;

static path path_to(const th_seeder *s, const th_mapping *m, int layer)
{
    path p = {-1, false, 0, {0}};
    int at = s->workload->layers[layer].inputs[0], reversed[PATH_MAX_LAYERS];
    while (at >= 0 && m->set_of[at] == m->set_of[layer] &&
           !th_layer_has_macs(&s->workload->layers[at])) {
        if (p.n == PATH_MAX_LAYERS)
            return p;
        reversed[p.n++] = at;
        at = s->workload->layers[at].inputs[0];
    }
    for (int i = 0; i < p.n; i++)
        p.between[i] = reversed[p.n - 1 - i];
    p.is_external = at == TH_EXTERNAL_INPUT;
    p.ancestor = at >= 0 && m->set_of[at] == m->set_of[layer] ? at : -1;
    return p;
}

static th_time edge_time(th_seeder *s, const th_placed *from, const th_placed *to, th_error *err)
{
    const th_edge_plan *e = th_plans_edge(s->plans, from, to, 1, s->batch, err);
    return e ? th_plans_edge_time(s->plans, e, err) : -1;
}

/* Time of one row: the ancestor's strategy given (NULL: external), through what follows it, to each
 * choice. */
static int fill_row(th_seeder *s, const th_set *set, const path *p, const th_strategy *from,
                    int layer, const th_choices *to, th_time *row, th_error *err)
{
    th_placed at, next;
    th_time sum = 0;
    const th_strategy *strategy = from;
    th_strategy follows;
    if (from && th_plans_place(s->plans, p->ancestor, set, from, &at, err))
        return -1;
    for (int i = 0; i < p->n; i++) {
        const th_layer *l = &s->workload->layers[p->between[i]];
        if (!th_strategy_follow(&follows, l, s->batch, set->n_accels, strategy))
            return 1;
        if (th_plans_place(s->plans, p->between[i], set, &follows, &next, err))
            return -1;
        th_time own = own_time(s, set, p->between[i], &follows, err);
        if (own == TH_TIME_MAX)
            return 1;
        th_time edge = edge_time(s, strategy ? &at : NULL, &next, err);
        if (edge < 0 || own < 0)
            return -1;
        sum += edge + own;
        at = next;
        strategy = &follows;
    }
    for (int i = 0; i < to->n; i++) {
        if (th_plans_place(s->plans, layer, set, &to->strategy[i], &next, err))
            return -1;
        th_time edge = edge_time(s, strategy ? &at : NULL, &next, err);
        if (edge < 0)
            return -1;
        row[i] = sum + edge;
    }
    return 0;
}

static th_time *make_matrix(th_seeder *s, const th_set *set, const path *p, int layer,
                            th_error *err)
{
    const th_choices *to = th_seeder_choices(s, set, layer, err);
    const th_choices *from = p->ancestor < 0 ? NULL : th_seeder_choices(s, set, p->ancestor, err);
    if (!to || (p->ancestor >= 0 && !from))
        return NULL;
    int rows = from ? from->n : 1;
    th_plans_trim(s->plans, TH_PLANS_LIMIT);
    th_time *matrix = th_alloc_zero((size_t)rows * (size_t)to->n + 1, sizeof *matrix);
    if (!matrix) {
        th_error_no_memory(err);
        return NULL;
    }
    for (int i = 0; i < rows && (from || p->is_external); i++) {
        int failed = fill_row(s, set, p, from ? &from->strategy[i] : NULL, layer, to,
                              matrix + i * to->n, err);
        if (failed < 0) {
            th_free(matrix);
            return NULL;
        }
        for (int j = 0; failed && j < to->n; j++)
            matrix[i * to->n + j] = TH_TIME_MAX / 1024; /* this ancestor's choice leads nowhere */
    }
    return matrix;
}

static const th_time *matrix_of(th_seeder *s, const th_set *set, const path *p, int layer,
                                th_error *err)
{
    int32_t key[PATH_MAX_LAYERS + 5] = {0};
    int64_t number;
    th_placed at;
    if (th_plans_place(s->plans, layer, set, &th_strategy_single, &at, err))
        return NULL;
    key[0] = at.set_number;
    key[1] = p->ancestor >= 0 ? th_plans_class(s->plans, p->ancestor) : p->is_external ? -1 : -2;
    key[2] = th_plans_class(s->plans, layer);
    key[PATH_MAX_LAYERS + 3] = given_key(s, layer);
    key[PATH_MAX_LAYERS + 4] = given_key(s, p->ancestor);
    for (int i = 0; i < PATH_MAX_LAYERS; i++)
        key[3 + i] = i < p->n ? th_plans_class(s->plans, p->between[i]) : -1;
    if (th_map_get(s->matrix_numbers, key, sizeof key, &number))
        return s->matrices[number];
    th_time *matrix = make_matrix(s, set, p, layer, err);
    if (!matrix)
        return NULL;
    if (th_grow(&s->matrices, &s->matrix_capacity, s->n_matrices + 1, sizeof *s->matrices) ||
        th_map_put(s->matrix_numbers, key, sizeof key, (int64_t)s->n_matrices)) {
        th_free(matrix);
        th_error_no_memory(err);
        return NULL;
    }
    s->matrices[s->n_matrices++] = matrix;
    return matrix;
}

/* --- the programme ---------------------------------------------------------------------------- */

typedef struct {
    const th_choices *choices; /* NULL: not on this set, or of the vector unit */
    const th_time *matrix;
    int ancestor, chosen;
    th_time *own;   /* by own choice: its time, blurred */
    th_time *total; /* by own choice: its time, the price of its bytes, and all that hangs on it */
    int *best;      /* by the ancestor's choice: the own choice then */
} cell;

typedef struct {
    th_seeder *seeder;
    th_mapping *mapping;
    int set;
    double jitter;
    gsl_rng *random;
    cell *cells;
    double price; /* of a resident byte of the first layer, in ps */
} programme;

static int prepare(programme *p, int l, th_error *err)
{
    th_seeder *s = p->seeder;
    cell *c = &p->cells[l];
    const th_set *set = &p->mapping->sets[p->set];
    if (p->mapping->set_of[l] != p->set || !th_layer_has_macs(&s->workload->layers[l]))
        return 0;
    path way = path_to(s, p->mapping, l);
    c->choices = th_seeder_choices(s, set, l, err);
    if (!c->choices)
        return -1;
    if (c->choices->n == 0)
        return 1;
    c->matrix = matrix_of(s, set, &way, l, err);
    if (!c->matrix)
        return -1;
    c->ancestor = way.ancestor;
    size_t rows = way.ancestor >= 0 ? (size_t)p->cells[way.ancestor].choices->n : 1;
    c->own = th_alloc_zero((size_t)c->choices->n, sizeof *c->own);
    c->total = th_alloc_zero((size_t)c->choices->n, sizeof *c->total);
    c->best = th_alloc_zero(rows, sizeof *c->best);
    if (!c->own || !c->total || !c->best)
        return th_error_no_memory(err);
    for (int i = 0; i < c->choices->n; i++) {
        double blur = p->jitter > 0 ? 1 + p->jitter * th_random_unit(p->random) : 1;
        c->own[i] = (th_time)((double)c->choices->time[i] * blur);
    }
    return 0;
}

/* From the last layer back: what each choice of the ancestor costs at best from here on. */
static void look_back(programme *p, int l)
{
    cell *c = &p->cells[l];
    int rows = c->ancestor >= 0 ? p->cells[c->ancestor].choices->n : 1;
    for (int i = 0; i < rows; i++) {
        th_time least = TH_TIME_MAX;
        for (int j = 0; j < c->choices->n; j++) {
            th_time t = c->matrix[i * c->choices->n + j] + c->total[j];
            if (t < least) {
                least = t;
                c->best[i] = j;
            }
        }
        if (c->ancestor >= 0)
            p->cells[c->ancestor].total[i] += least;
    }
}

static th_time choose(programme *p, int l)
{
    cell *c = &p->cells[l];
    c->chosen = c->best[c->ancestor >= 0 ? p->cells[c->ancestor].chosen : 0];
    p->mapping->strategy[l] = c->choices->strategy[c->chosen];
    return c->ancestor >= 0 ? 0 : c->matrix[c->chosen] + c->total[c->chosen];
}

/* Of the fullest position. */
static int64_t resident_bytes(const programme *p, int l, const th_strategy *s)
{
    const th_set *set = &p->mapping->sets[p->set];
    int64_t most = 0;
    for (int r = 0; r < set->n_accels; r++) {
        int64_t bytes = th_shard_weight_bytes(&p->seeder->workload->layers[l], s, set->shares, r);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Twice as high for the last layer as for the first: with one price, layers of one shape would all change
 * their strategies at once, where some of them were enough. */
static double price_of(const programme *p, int l)
{
    return p->price * (1 + (double)l / p->mapping->n_layers);
}

/* The strategies of least time and price. 0, or 1: what follows them cannot. */
static int solve(programme *p, th_time *estimate)
{
    int n = p->seeder->workload->n_layers;
    for (int l = 0; l < n; l++) {
        const th_choices *c = p->cells[l].choices;
        for (int i = 0; c && i < c->n; i++) {
            p->cells[l].total[i] = p->cells[l].own[i];
            if (p->price > 0)
                p->cells[l].total[i] +=
                    (th_time)(price_of(p, l) * (double)resident_bytes(p, l, &c->strategy[i]));
        }
    }
    for (int l = n - 1; l >= 0; l--)
        if (p->cells[l].choices)
            look_back(p, l);
    *estimate = 0;
    for (int l = 0; l < n; l++)
        if (p->cells[l].choices)
            *estimate += choose(p, l);
    return th_mapping_follow(p->mapping, p->seeder->workload, p->seeder->batch) ? 0 : 1;
}

/* --- memory ----------------------------------------------------------------------------------- */

static int64_t weights_of_all(const programme *p)
{
    int64_t sum = 0;
    for (int l = 0; l < p->mapping->n_layers; l++)
        if (p->cells[l].choices)
            sum += resident_bytes(p, l, &p->mapping->strategy[l]);
    return sum;
}

/* What position r needs of tensors while the layer runs. */
static int64_t tensor_bytes(const programme *p, int l, const th_layer_plan *plan, int r)
{
    const th_workload *w = p->seeder->workload;
    int64_t sum = plan->at[r].output_bytes + plan->at[r].buffer_bytes;
    for (int i = 0; i < w->layers[l].n_inputs; i++)
        sum += th_tensor_bytes(th_box_elements(&plan->at[r].need[i]), w->precision);
    return sum;
}

/* About what tensors take at most, per pass: those of the greediest layer, and as much as half of that
 * for what skips it. -1: error. */
static int64_t tensors_at_most(const programme *p, th_error *err)
{
    const th_set *set = &p->mapping->sets[p->set];
    int64_t most = 0;
    for (int l = 0; l < p->mapping->n_layers; l++) {
        th_placed at;
        th_error reason;
        if (p->mapping->set_of[l] != p->set)
            continue;
        if (th_plans_place(p->seeder->plans, l, set, &p->mapping->strategy[l], &at, err))
            return -1;
        const th_layer_plan *plan =
            th_plans_layer(p->seeder->plans, &at, p->seeder->batch, &reason);
        if (!plan && th_plans_is_fatal(&reason))
            return th_error_set(err, reason.id, "%s", reason.text);
        for (int r = 0; plan && r < plan->n; r++) {
            int64_t bytes = tensor_bytes(p, l, plan, r);
            most = bytes > most ? bytes : most;
        }
    }
    return most + most / 2;
}

static int64_t least_capacity(const programme *p)
{
    const th_system *s = th_evaluator_problem(p->seeder->evaluator)->system;
    const th_set *set = &p->mapping->sets[p->set];
    int64_t least = INT64_MAX;
    for (int i = 0; i < set->n_accels; i++) {
        int64_t bytes = s->nodes[s->accel_node[set->accels[i]]].a.dram_bytes;
        least = bytes < least ? bytes : least;
    }
    return least;
}

/* Do weights and tensors fit, by estimate? 1, 0, or -1: error. */
static int fits(const programme *p, th_error *err)
{
    const th_stream *stream = &th_evaluator_problem(p->seeder->evaluator)->stream;
    int64_t capacity = least_capacity(p), weights = weights_of_all(p);
    int64_t passes = (int64_t)stream->n_inputs * stream->micro_batches;
    int64_t in_flight = stream->in_flight > 0 ? stream->in_flight : p->mapping->n_sets;
    if (weights > capacity)
        return 0;
    int64_t tensors = tensors_at_most(p, err);
    if (tensors < 0)
        return -1;
    return (double)weights + (double)tensors * (double)(passes < in_flight ? passes : in_flight) <=
           (double)capacity;
}

/* A price per resident byte (the multiplier of a Lagrangian), as low as makes it fit: raised until it
 * does, then halved in. Where no price does, the highest stays: that is as near as it gets. */
static int fit_memory(programme *p, th_time *estimate, th_error *err)
{
    enum { RAISES = 16, HALVINGS = 8 };
    const double FIRST = 0.01; /* of the mean time per byte */
    int64_t weights = weights_of_all(p);
    double low = 0, high = FIRST * (double)*estimate / (double)(weights > 0 ? weights : 1);
    int fit = weights > 0 ? fits(p, err) : 1, failed = 0;
    if (fit != 0)
        return fit < 0 ? -1 : 0;
    for (int i = 0; i < RAISES && fit == 0; i++) {
        low = p->price;
        p->price = high;
        failed = solve(p, estimate);
        fit = failed ? 0 : fits(p, err);
        high = fit == 0 ? high * 2 : high;
    }
    for (int i = 0; i < HALVINGS && fit > 0; i++) {
        p->price = (low + high) / 2;
        int now = solve(p, estimate) ? 0 : fits(p, err);
        if (now < 0)
            return -1;
        *(now ? &high : &low) = p->price;
    }
    if (fit < 0)
        return -1;
    p->price = high;
    failed = solve(p, estimate);
    for (int l = 0; l < p->mapping->n_layers; l++)
        if (p->cells[l].choices)
            *estimate -= (th_time)(price_of(p, l) *
                                   (double)resident_bytes(p, l, &p->mapping->strategy[l]));
    return failed;
}

int th_seeder_run(th_seeder *s, th_mapping *m, int set, double jitter, gsl_rng *r,
                  th_time *estimate, th_error *err)
{
    int n = s->workload->n_layers, failed = 0;
    programme p = {s, m, set, jitter, r, th_alloc_zero((size_t)n, sizeof *p.cells), 0};
    if (!p.cells)
        return th_error_no_memory(err);
    for (int l = 0; !failed && l < n; l++)
        failed = prepare(&p, l, err);
    if (!failed)
        failed = solve(&p, estimate);
    if (!failed)
        failed = fit_memory(&p, estimate, err);
    for (int l = 0; l < n; l++) {
        th_free(p.cells[l].own);
        th_free(p.cells[l].total);
        th_free(p.cells[l].best);
    }
    th_free(p.cells);
    return failed;
}
