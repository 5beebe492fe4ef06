/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dynamic_programming.c - dynamic programming over the layers of a set.
 *
 *   solve: layers of the set -> choices of each -> from the last layer back, the least time of
 *     each choice and all its descendants -> from the first layer on, the choices that give it
 *     -> again with chunks, of the strategies that were close to these -> where they do not fit
 *     into memory by estimate, again with a price per resident byte
 *
 * Exact on the forest and the times of transition.c, of which few are computed: those that are not
 * known count with a lower bound, the choices of least time follow, and the transitions between
 * them are computed; again until all between the choices are known. What is not computed then could
 * only be slower. Ties go to the earlier choice, by bounds as by times. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/search/initial/initial_mapping_state.h"
#include "mapper/strategies.h"

static const th_time EXCLUDED = TH_TIME_MAX / 1024; /* a choice that is not to be chosen */

typedef struct {
    const th_choices *choices; /* NULL: not on this set, or it follows another */
    th_transition_matrix *matrix;
    th_initial_path path;
    int ancestor, chosen;
    th_time *own;   /* by own choice: its time, perturbed; or EXCLUDED */
    th_time *total; /* by own choice: its time, the price of its bytes, and all descendants */
    int *best;      /* by the ancestor's choice, one where there is none: the own choice then */
    th_time *least; /* by the same: the time of that choice and all descendants */
    int *order;     /* own choices by ascending total */
} cell;

typedef struct {
    th_initial_generator *generator;
    th_mapping *mapping;
    int set;
    th_jitter jitter;
    cell *cells;
    double price; /* of a resident byte of the first layer, in ps */
} dynamic_program;

static int prepare(dynamic_program *p, int l, th_error *err)
{
    th_initial_generator *g = p->generator;
    cell *c = &p->cells[l];
    const th_set *set = &p->mapping->sets[p->set];
    if (p->mapping->set_of[l] != p->set || !th_mapping_is_free(p->mapping, g->workload, l))
        return 0;
    c->path = th_initial_path_to(g, p->mapping, l);
    c->choices = th_initial_choices(g, set, l, err);
    if (!c->choices)
        return -1;
    if (c->choices->n == 0)
        return 1;
    c->matrix = th_transition_matrix_of(g, set, &c->path, l, err);
    if (!c->matrix)
        return -1;
    c->ancestor = c->path.ancestor;
    size_t rows = c->ancestor >= 0 ? (size_t)p->cells[c->ancestor].choices->n_states : 1;
    c->own = th_alloc_zero((size_t)c->choices->n_states, sizeof *c->own);
    c->total = th_alloc_zero((size_t)c->choices->n_states, sizeof *c->total);
    c->best = th_alloc_zero(rows, sizeof *c->best);
    c->least = th_alloc_zero(rows, sizeof *c->least);
    c->order = th_alloc_zero((size_t)c->choices->n_states, sizeof *c->order);
    if (!c->own || !c->total || !c->best || !c->least || !c->order)
        return th_error_no_memory(err);
    for (int i = 0; i < c->choices->n_states; i++)
        c->own[i] = i < c->choices->n
                        ? (th_time)((double)c->choices->time[i] * th_jitter_factor(p->jitter))
                        : EXCLUDED;
    return 0;
}

static void sort_by_total(cell *c)
{
    for (int j = 0; j < c->choices->n_states; j++) {
        int at = j;
        for (; at > 0 && c->total[c->order[at - 1]] > c->total[j]; at--)
            c->order[at] = c->order[at - 1];
        c->order[at] = j;
    }
}

/* Time of the transition to a choice, or a lower bound where it is not known. -1: error. */
static th_time least_transition(dynamic_program *p, const th_transition *t, int i, int j,
                                th_error *err)
{
    const th_cached_time *known = &th_transition_row(t->matrix, i)[j];
    th_time time = atomic_load_explicit(known, memory_order_relaxed);
    return time < 0 ? th_transition_bound(p->generator, t, i, j, err) : time;
}

static th_transition transition_to(const dynamic_program *p, int l)
{
    const cell *c = &p->cells[l];
    return (th_transition){&p->mapping->sets[p->set], &c->path, l, c->matrix};
}

/* The best choice after choice i of the ancestor and its time with all descendants; transitions
 * that are not known count with a lower bound. *second: the time of the next best. -1: error. */
static th_time best_after(dynamic_program *p, int l, int i, th_time *second, th_error *err)
{
    cell *c = &p->cells[l];
    const th_transition transition = transition_to(p, l);
    th_time least = *second = TH_TIME_MAX;
    for (int k = 0; k < c->choices->n_states && c->total[c->order[k]] <= *second; k++) {
        int j = c->order[k];
        th_time time = least_transition(p, &transition, i, j, err);
        if (time < 0)
            return -1;
        time += c->total[j];
        if (time < least || (time == least && j < c->best[i])) {
            *second = least;
            least = time;
            c->best[i] = j;
        } else if (time < *second) {
            *second = time;
        }
    }
    return least;
}

/* Adds to each choice of the ancestor the least time of this layer and its descendants. 0 or -1. */
static int accumulate(dynamic_program *p, int l, th_error *err)
{
    cell *c = &p->cells[l];
    int rows = c->ancestor >= 0 ? p->cells[c->ancestor].choices->n_states : 1;
    th_time second;
    sort_by_total(c);
    for (int i = 0; i < rows; i++) {
        if (c->ancestor >= 0 && p->cells[c->ancestor].own[i] == EXCLUDED)
            continue;
        c->least[i] = best_after(p, l, i, &second, err);
        if (c->least[i] < 0)
            return -1;
        if (c->ancestor >= 0)
            p->cells[c->ancestor].total[i] += c->least[i];
    }
    return 0;
}

/* Computes transitions after the ancestor's choice until that to the best one is known: each as
 * far as it takes to tell that another is better, or twice as far as before. Other threads compute
 * some meanwhile. 1: the best one or its time is another than was accumulated; 0: as it was; -1.
 * *longer: by how much that time is; where it is more than `most`, the rest does not matter. */
static int compute_chosen(dynamic_program *p, int l, th_time most, th_time *longer, th_error *err)
{
    cell *c = &p->cells[l];
    const int i = c->ancestor >= 0 ? p->cells[c->ancestor].chosen : 0, before = c->chosen;
    const th_transition transition = transition_to(p, l);
    const th_cached_time *known = th_transition_row(c->matrix, i);
    for (;;) {
        th_time second, best = best_after(p, l, i, &second, err);
        const int j = c->best[i];
        if (best < 0)
            return -1;
        const th_time time = atomic_load_explicit(&known[j], memory_order_relaxed);
        *longer = best - c->least[i];
        if (*longer > most || (time >= 0 && time + c->total[j] == best))
            return j != before || *longer != 0;
        if (time >= 0)
            continue;
        if (th_initial_trim_plans(p->generator))
            return -1;
        const th_time twice = 2 * (best - c->total[j]), lost = second - c->total[j],
                      far = lost > twice ? lost : twice,
                      matters = best - c->total[j] + most - *longer;
        if (th_transition_time(p->generator, &transition, i, j, far < matters ? far : matters,
                               err) < 0)
            return -1;
    }
}

static void choose(dynamic_program *p, int l)
{
    cell *c = &p->cells[l];
    c->chosen = c->best[c->ancestor >= 0 ? p->cells[c->ancestor].chosen : 0];
    p->mapping->strategy[l] = c->choices->strategy[c->chosen];
}

static th_time sum_of_roots(const dynamic_program *p)
{
    th_time sum = 0;
    for (int l = 0; l < p->generator->workload->n_layers; l++)
        sum += p->cells[l].choices && p->cells[l].ancestor < 0 ? p->cells[l].least[0] : 0;
    return sum;
}

/* Twice as high for the last layer as for the first: with one price, layers of one shape would all
 * change their strategies at once, where some of them were enough. */
static double price_of(const dynamic_program *p, int l)
{
    return p->price * (1 + (double)l / p->mapping->n_layers);
}

/* Each choice's own time and the price of its bytes. */
static void begin(dynamic_program *p)
{
    for (int l = 0; l < p->generator->workload->n_layers; l++) {
        const th_choices *c = p->cells[l].choices;
        for (int i = 0; c && i < c->n_states; i++) {
            p->cells[l].total[i] = p->cells[l].own[i];
            if (p->price > 0)
                p->cells[l].total[i] += (th_time)(price_of(p, l) * (double)c->resident_bytes[i]);
        }
    }
}

/* How much longer than this estimate a mapping may be that is wanted; below 0: it is not. What is
 * estimated so far never falls; prices are no times. */
static th_time slack(const dynamic_program *p, th_time estimate)
{
    const bool is_limited = p->jitter.enough > 0 && p->price <= 0;
    return (is_limited ? p->jitter.enough : TH_TIME_MAX / 4) - estimate;
}

/* The choices of least time by what is known of transitions. 1: more is known now, maybe only so
 * much that these choices are too slow; 0: all that they need was, and they are the best; or -1. */
static int choose_all(dynamic_program *p, th_time *estimate, th_error *err)
{
    const int n = p->generator->workload->n_layers;
    int more = 0;
    th_time longer, all_longer = 0;
    begin(p);
    for (int l = n - 1; l >= 0; l--)
        if (p->cells[l].choices && accumulate(p, l, err))
            return -1;
    *estimate = sum_of_roots(p);
    for (int l = 0; l < n && slack(p, *estimate + all_longer) >= 0; l++) {
        if (!p->cells[l].choices)
            continue;
        choose(p, l);
        int status = compute_chosen(p, l, slack(p, *estimate + all_longer), &longer, err);
        if (status < 0)
            return -1;
        all_longer += longer;
        more |= status;
    }
    return more;
}

/* The strategies of least time and price. 0; 1: a layer of the vector unit cannot follow, or the
 * mapping is not wanted; -1: error. */
static int solve(dynamic_program *p, th_time *estimate, th_error *err)
{
    int more;
    do
        more = choose_all(p, estimate, err);
    while (more > 0 && slack(p, *estimate) >= 0);
    if (more < 0)
        return -1;
    if (slack(p, *estimate) < 0)
        return 1;
    return th_mapping_follow(p->mapping, p->generator->workload, p->generator->batch) ? 0 : 1;
}

/* --- chunks --- */

/* With chunks, from the strategies of least time without any: of each choice that costs little more
 * than the best one after that of the ancestor. They save some of the transfers at most. As solve.
 */
static int solve_chunked(dynamic_program *p, th_time *estimate, th_error *err)
{
    const double LITTLE = 0.25; /* of the layer and the transition to it */
    for (int l = 0; l < p->mapping->n_layers; l++) {
        cell *c = &p->cells[l];
        const th_transition t = transition_to(p, l);
        const int i = c->choices && c->ancestor >= 0 ? p->cells[c->ancestor].chosen : 0,
                  n = c->choices ? c->choices->n_states : 0;
        for (int k = n > 0 ? c->choices->n : 0; k < n; k++) {
            const int j = c->choices->plain[k];
            const th_time to = least_transition(p, &t, i, j, err),
                          best = c->least[i] - c->total[c->chosen] + c->own[c->chosen];
            if (to < 0)
                return -1;
            if ((double)(to + c->total[j] - c->least[i]) <= LITTLE * (double)best)
                c->own[k] = c->choices->time[k];
        }
    }
    return solve(p, estimate, err);
}

/* --- memory --- */

static int64_t chosen_bytes(const cell *c)
{
    return c->choices ? c->choices->resident_bytes[c->chosen] : 0;
}

static int64_t weights_of_all(const dynamic_program *p)
{
    int64_t sum = 0;
    for (int l = 0; l < p->mapping->n_layers; l++)
        sum += chosen_bytes(&p->cells[l]);
    return sum;
}

/* Bytes of tensors that position r needs while the layer runs. */
static int64_t tensor_bytes(const dynamic_program *p, int l, const th_layer_plan *plan, int r)
{
    const th_workload *w = p->generator->workload;
    int64_t sum = plan->at[r].output_bytes + plan->at[r].buffer_bytes;
    for (int i = 0; i < w->layers[l].n_inputs; i++)
        sum += th_tensor_bytes(th_box_elements(&plan->at[r].need[i]), w->precision);
    return sum;
}

/* An estimate of the peak bytes of tensors per pass: of the layer that needs most, plus half of
 * that for tensors that skip it. -1: error. */
static int64_t estimate_tensors(const dynamic_program *p, th_error *err)
{
    const th_set *set = &p->mapping->sets[p->set];
    int64_t most = 0;
    for (int l = 0; l < p->mapping->n_layers; l++) {
        th_placed at;
        th_error reason;
        if (p->mapping->set_of[l] != p->set)
            continue;
        if (th_plans_place(p->generator->plans, l, set, &p->mapping->strategy[l], &at, err))
            return -1;
        const th_layer_plan *plan =
            th_plans_layer(p->generator->plans, &at, p->generator->batch, &reason);
        if (!plan && th_plans_is_fatal(&reason))
            return th_error_set(err, reason.id, "%s", reason.text);
        for (int r = 0; plan && r < plan->n; r++) {
            int64_t bytes = tensor_bytes(p, l, plan, r);
            most = bytes > most ? bytes : most;
        }
    }
    return most + most / 2;
}

/* Weights that an accelerator keeps for layers of its other sets; of a layer that has no strategy
 * yet, an equal share. */
static int64_t weights_elsewhere(const dynamic_program *p, int32_t accel)
{
    const th_workload *w = p->generator->workload;
    const th_mapping *m = p->mapping;
    int64_t sum = 0;
    for (int l = 0; m->n_sets > 1 && l < m->n_layers; l++) {
        const th_set *set = &m->sets[m->set_of[l]];
        const int32_t at = m->set_of[l] == p->set ? -1 : th_set_place(set, accel);
        const bool is_known = at >= 0 && th_strategy_fits(&m->strategy[l], &w->layers[l],
                                                          p->generator->batch, set->n_accels);
        if (is_known)
            sum += th_shard_weight_bytes(&w->layers[l], &m->strategy[l], set->shares, at);
        else if (at >= 0)
            sum +=
                th_shard_weight_bytes(&w->layers[l], &th_strategy_single, NULL, 0) / set->n_accels;
    }
    return sum;
}

static int64_t least_capacity(const dynamic_program *p)
{
    const th_system *s = th_evaluator_problem(p->generator->evaluator)->system;
    const th_set *set = &p->mapping->sets[p->set];
    int64_t least = INT64_MAX;
    for (int i = 0; i < set->n_accels; i++) {
        int64_t bytes = s->nodes[s->accel_node[set->accels[i]]].a.dram_bytes -
                        weights_elsewhere(p, set->accels[i]);
        least = bytes < least ? bytes : least;
    }
    return least;
}

/* Do weights and tensors fit, by estimate? 1, 0, or -1: error. */
static int fits(const dynamic_program *p, th_error *err)
{
    const th_stream *stream = &th_evaluator_problem(p->generator->evaluator)->stream;
    int64_t capacity = least_capacity(p), weights = weights_of_all(p);
    int64_t passes = (int64_t)stream->n_inputs * stream->micro_batches;
    int64_t in_flight = stream->in_flight > 0
                            ? stream->in_flight
                            : th_mapping_sets_at_once(p->mapping, 0, p->mapping->n_layers);
    if (in_flight < 0)
        return th_error_no_memory(err);
    if (weights > capacity)
        return 0;
    int64_t tensors = estimate_tensors(p, err);
    if (tensors < 0)
        return -1;
    return (double)weights + (double)tensors * (double)(passes < in_flight ? passes : in_flight) <=
           (double)capacity;
}

/* Finds the lowest price per resident byte (a Lagrange multiplier) at which the mapping fits:
 * doubled until it fits, then bisected. Where no price suffices, the highest stays. */
static int fit_memory(dynamic_program *p, th_time *estimate, th_error *err)
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
        failed = solve(p, estimate, err);
        fit = failed < 0 ? -1 : failed ? 0 : fits(p, err);
        high = fit == 0 ? high * 2 : high;
    }
    for (int i = 0; i < HALVINGS && fit > 0; i++) {
        p->price = (low + high) / 2;
        int status = solve(p, estimate, err), now = status > 0 ? 0 : status < 0 ? -1 : fits(p, err);
        if (now < 0)
            return -1;
        *(now ? &high : &low) = p->price;
    }
    if (fit < 0)
        return -1;
    p->price = high;
    failed = solve(p, estimate, err);
    for (int l = 0; l < p->mapping->n_layers; l++)
        *estimate -= (th_time)(price_of(p, l) * (double)chosen_bytes(&p->cells[l]));
    return failed;
}

int th_initial_solve(th_initial_generator *g, th_mapping *m, int set, th_jitter jitter,
                     th_time *estimate, th_error *err)
{
    int n = g->workload->n_layers, failed = 0;
    dynamic_program p = {g, m, set, jitter, th_alloc_zero((size_t)n, sizeof *p.cells), 0};
    if (!p.cells)
        return th_error_no_memory(err);
    g->chunks =
        m->sets[set].n_accels < TH_INITIAL_LARGE_SET && jitter.chunks > 1 ? jitter.chunks : 0;
    for (int l = 0; l < n; l++)
        m->own[l] &= m->set_of[l] != set;
    for (int l = 0; !failed && l < n; l++)
        failed = prepare(&p, l, err);
    if (!failed)
        failed = solve(&p, estimate, err);
    if (!failed && g->chunks > 0)
        failed = solve_chunked(&p, estimate, err);
    if (!failed)
        failed = fit_memory(&p, estimate, err);
    for (int l = 0; l < n; l++) {
        th_free(p.cells[l].own);
        th_free(p.cells[l].total);
        th_free(p.cells[l].best);
        th_free(p.cells[l].least);
        th_free(p.cells[l].order);
    }
    th_free(p.cells);
    g->chunks = jitter.chunks > 1 ? jitter.chunks : 0;
    return failed;
}
