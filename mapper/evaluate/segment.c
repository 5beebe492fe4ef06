/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment.c - the makespan of a mapping from segments that were replayed before.
 *
 *   new -> (share) -> run* -> free
 *   inside: number the sets -> find the pieces -> check memory -> step from cut to cut, each step
 *   from the memo or by a replay of its layers alone (segment_cut.c: the state that it comes to)
 *
 * A layer is a cut of the network when nothing that was made before it is read after it; a piece is
 * what lies behind one cut up to the next. Until the first of a cut's positions has ended its last
 * task, nothing of what follows has begun. At the latest instant up to then at which nothing moves
 * on the network, all that follows depends on what remains of the layers so far and on the layers
 * to come: the tasks that wait, what they wait for, and of the computes under way how long ago they
 * began and what flows have drawn from their DRAM meanwhile. That is the state at the cut, and time
 * starts anew there. If there is no such instant since the last cut, the step goes on over the next
 * ones, over 1, 2, 4, ... pieces, at last to the end of the network.
 *
 * A piece is known by the shapes of its layers, how they read each other, and their sets, designs
 * and strategies; a step by the state where it begins and its pieces. So equal blocks of a network
 * share them. Values are replays of the machine on a program that th_lower made, no estimates;
 * docs/models/segments.md says why the sum is the machine's own makespan.
 *
 * Several threads, each with a lowering and a machine of its own, may share what is known: it is
 * found without a lock, and what two have replayed at once is kept once. Invariants: the memos hold
 * only what any later run may use; above their limit all of it is dropped, between two runs and
 * while nobody else looks, which costs time and changes no result. Not told by segments: streams,
 * objectives that need more than the makespan, and machines that cannot resume
 * (th_machine_can_resume). */
#include <config.h>

#include "mapper/evaluate/segment.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/evaluate/segment_state.h"

static const th_segment_state at_start; /* number 0 */

static const th_workload *workload_of(const th_segments *s)
{
    return s->lower->workload;
}

/* --- life ------------------------------------------------------------------------------------- */

bool th_segments_supported(const th_workload *w, const th_machine *m)
{
    return w->n_layers > 1 && th_machine_can_resume(m);
}

enum { PLACED_WORDS = 1 + TH_STRATEGY_WORDS }; /* of a layer in the key of a piece: set, strategy */

/* With what is its own alone. NULL: memory is out. */
static th_segments *new_segments(th_lower *l, th_program *p, th_machine *m)
{
    size_t layers = (size_t)l->workload->n_layers, accels = (size_t)l->system->n_accels;
    th_segments *s = th_alloc_zero(1, sizeof *s);
    if (!s)
        return NULL;
    s->lower = l;
    s->program = p;
    s->machine = m;
    s->first = s;
    s->arena = th_arena_new();
    s->kind = th_alloc_zero(layers, sizeof *s->kind);
    s->key = th_alloc_zero(PLACED_WORDS * layers + 2, sizeof *s->key);
    s->sum = th_alloc_zero(accels, sizeof *s->sum);
    s->under_way = th_alloc_zero(accels, sizeof *s->under_way);
    if (s->arena && s->kind && s->key && s->sum && s->under_way)
        return s;
    th_segments_free(s);
    return NULL;
}

th_segments *th_segments_new(th_lower *l, th_program *p, th_machine *m, size_t limit)
{
    th_segments *s = new_segments(l, p, m);
    if (!s)
        return NULL;
    s->limit = limit;
    s->kinds = th_shared_map_new();
    s->states = th_shared_map_new();
    s->steps = th_shared_map_new();
    if (s->kinds && s->states && s->steps && th_pieces_find(l, &s->pieces, &s->n_pieces) == 0)
        return s;
    th_segments_free(s);
    return NULL;
}

th_segments *th_segments_share(th_segments *of, th_lower *l, th_program *p, th_machine *m)
{
    th_segments *first = of->first, *s = new_segments(l, p, m);
    if (!s)
        return NULL;
    s->first = first;
    s->pieces = first->pieces;
    s->n_pieces = first->n_pieces;
    s->kinds = first->kinds;
    s->states = first->states;
    s->steps = first->steps;
    s->next = first->next;
    first->next = s;
    return s;
}

static void free_known(th_segments *s)
{
    th_shared_map_free(s->kinds);
    th_shared_map_free(s->states);
    th_shared_map_free(s->steps);
    th_free(s->pieces);
}

void th_segments_free(th_segments *s)
{
    if (!s)
        return;
    for (th_segments *q = s->first; q; q = q->next)
        if (q->next == s)
            q->next = s->next;
    if (s->first == s)
        free_known(s);
    th_arena_free(s->arena);
    th_free(s->kind);
    th_free(s->key);
    th_free(s->sum);
    th_free(s->under_way);
    th_free(s->number);
    th_free(s->task);
    th_free(s->wait);
    th_free(s->final);
    th_free(s->draw);
    th_free(s->state_key);
    th_free(s);
}

bool th_segments_are_full(const th_segments *s)
{
    return s && atomic_load_explicit(&s->first->held_bytes, memory_order_relaxed) > s->first->limit;
}

void th_segments_trim(th_segments *s)
{
    if (!th_segments_are_full(s))
        return;
    th_shared_map_clear(s->kinds);
    th_shared_map_clear(s->states);
    th_shared_map_clear(s->steps);
    for (th_segments *q = s->first; q; q = q->next)
        th_arena_reset(q->arena);
    s->first->held_bytes = 0;
    s->first->n_kinds = s->first->n_states = 0;
}

void th_segment_counts_add(th_segment_counts *sum, const th_segment_counts *c)
{
    sum->evaluations += c->evaluations;
    sum->whole += c->whole;
    sum->asked += c->asked;
    sum->replayed += c->replayed;
}

th_segment_counts th_segments_counts(const th_segments *s)
{
    th_segment_counts sum = {0};
    for (const th_segments *q = s ? s->first : NULL; q; q = q->next)
        th_segment_counts_add(&sum, &q->counts);
    return sum;
}

/* What was made of the key is there now for all, if it was the first. */
static const void *publish(th_segments *s, th_shared_map *m, size_t key_bytes, const void *made,
                           size_t bytes)
{
    const void *known = th_shared_map_add(m, s->key, key_bytes, made);
    if (known == made)
        atomic_fetch_add(&s->first->held_bytes, key_bytes + bytes + TH_SEGMENT_ENTRY_BYTES);
    return known;
}

/* --- pieces of a mapping ---------------------------------------------------------------------- */

static size_t kind_key(const th_segments *s, const th_piece *p, int32_t *key)
{
    size_t n = 0;
    key[n++] = p->shape;
    for (int l = p->first > 0 ? p->first - 1 : 0; l <= p->last; l++) {
        key[n++] = s->lower->planned.set_id[s->mapping->set_of[l]];
        memcpy(&key[n], &s->mapping->strategy[l], sizeof(th_strategy));
        n += TH_STRATEGY_WORDS;
    }
    return n * sizeof *key;
}

static int plan(th_segments *s, int32_t first_piece, int32_t last_piece, th_error *err)
{
    return th_lower_plan(s->lower, s->mapping, s->pieces[first_piece].first,
                         s->pieces[last_piece].last, workload_of(s)->batch, err);
}

/* What a kind that is new holds, if its designs can run it: what cannot is not kept. 0 or -1. */
static int make_kind(th_segments *s, int32_t i, th_placed_piece **out, th_error *err)
{
    size_t accels = (size_t)s->lower->system->n_accels;
    th_error reason = {0};
    *out = NULL;
    if (plan(s, i, i, &reason)) {
        bool ends_search = th_script_is_needed(&reason) || th_plans_is_fatal(&reason);
        return ends_search ? th_error_set(err, reason.id, "%s", reason.text) : 0;
    }
    th_placed_piece *k = th_arena_alloc(s->arena, sizeof *k + accels * sizeof *k->part);
    if (!k || th_footprint_of_segment(s->lower, s->pieces[i].first, s->pieces[i].last, k->part))
        return th_error_no_memory(err);
    k->number = (int32_t)atomic_fetch_add(&s->first->n_kinds, 1);
    *out = k;
    return 0;
}

/* The i-th piece as the mapping has it, if that runs. 0 or -1. */
static int find_kind(th_segments *s, int32_t i, bool *runs, th_error *err)
{
    size_t bytes = kind_key(s, &s->pieces[i], s->key);
    th_placed_piece *made;
    *runs = true;
    s->kind[i] = th_shared_map_find(s->kinds, s->key, bytes);
    if (s->kind[i])
        return 0;
    if (make_kind(s, i, &made, err))
        return -1;
    *runs = made != NULL;
    if (!made)
        return 0;
    s->kind[i] =
        publish(s, s->kinds, bytes, made, (size_t)s->lower->system->n_accels * sizeof *made->part);
    return s->kind[i] ? 0 : th_error_no_memory(err);
}

/* In layer order, so that what is asked of scripts comes as in th_lower_program. */
static int find_kinds(th_segments *s, bool *fits, th_error *err)
{
    *fits = true;
    for (int32_t i = 0; *fits && i < s->n_pieces; i++)
        if (find_kind(s, i, fits, err))
            return -1;
    return 0;
}

/* As th_footprint_check has it, for one pass. */
static bool fits_in_memory(th_segments *s)
{
    const th_system *system = s->lower->system;
    size_t accels = (size_t)system->n_accels;
    memset(s->sum, 0, accels * sizeof *s->sum);
    for (int32_t i = 0; i < s->n_pieces; i++) {
        const th_footprint_part *part = s->kind[i]->part;
        for (size_t a = 0; a < accels; a++) {
            th_footprint_part *sum = &s->sum[a];
            int64_t between = sum->at_end + part[a].at_begin;
            int64_t most = between > part[a].inside ? between : part[a].inside;
            sum->weights += part[a].weights;
            sum->inside = most > sum->inside ? most : sum->inside;
            sum->at_end = part[a].at_end;
        }
    }
    for (size_t a = 0; a < accels; a++) {
        const th_footprint_part *sum = &s->sum[a];
        int64_t peak = sum->at_end > sum->inside ? sum->at_end : sum->inside;
        if (sum->weights + peak > system->nodes[system->accel_node[a]].a.dram_bytes)
            return false;
    }
    return true;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The program of a segment; *n: how many of its tasks are under way, as s->under_way says. */
static int emit(th_segments *s, const th_segment_state *from, int32_t first, int32_t last,
                int32_t *n, th_error *err)
{
    const th_pending_tasks x = {from->task, from->wait, from->final, from->n_tasks, from->n_waits};
    const th_demand_change *draw = from->draw;
    for (*n = 0; *n < x.n_tasks && x.task[*n].started_ps <= 0; (*n)++) {
        size_t draws = (size_t)x.task[*n].n_draws;
        s->under_way[*n] = (th_under_way){x.task[*n].started_ps, draws > 0 ? draw : NULL, draws};
        draw = draws > 0 ? draw + draws : draw;
    }
    th_program_clear(s->program);
    s->lower->emission.program = s->program;
    return th_emit_segment(s->lower, first, last, &x, err) || th_program_finish(s->program, err)
               ? -1
               : 0;
}

/* What a replay of pieces i .. j from this state gives. 0 or -1. */
static int replay(th_segments *s, const th_segment_state *from, int32_t i, int32_t j,
                  th_segment_step *out, th_error *err)
{
    int32_t first = s->pieces[i].first, last = s->pieces[j].last;
    int32_t n;
    th_error reason = {0};
    *out = (th_segment_step){0, TH_STEP_FULL_REPLAY, NULL};
    if (plan(s, i, j, err) || emit(s, from, first, last, &n, err))
        return -1;
    if (s->lower->emission.starts_unreleased)
        return 0;
    if (th_machine_resume(s->machine, s->program, s->under_way, n, &reason) ||
        th_machine_run_bounded(s->machine, TH_TIME_MAX, &reason) != TH_STOP_DONE)
        return th_error_is_no_memory(&reason) ? th_error_no_memory(err) : 0;
    *out = (th_segment_step){th_machine_now(s->machine), TH_STEP_TO_END, NULL};
    if (j < s->n_pieces - 1 && th_segment_cut(s, last, out))
        return th_error_no_memory(err);
    return 0;
}

/* From a state over pieces i .. j: known, or replayed and kept. NULL: err says why. */
static const th_segment_step *take_step(th_segments *s, const th_segment_state *from, int32_t i,
                                        int32_t j, th_error *err)
{
    size_t n = 0;
    s->key[n++] = from->number;
    for (int32_t k = i; k <= j; k++)
        s->key[n++] = s->kind[k]->number;
    s->counts.asked++;
    const th_segment_step *known = th_shared_map_find(s->steps, s->key, n * sizeof *s->key);
    if (known)
        return known;
    th_segment_step *made = th_arena_alloc(s->arena, sizeof *made);
    if (!made) {
        th_error_no_memory(err);
        return NULL;
    }
    if (replay(s, from, i, j, made, err))
        return NULL;
    known = publish(s, s->steps, n * sizeof *s->key, made, sizeof *made);
    s->counts.replayed += known == made;
    if (!known)
        th_error_no_memory(err);
    return known;
}

/* To the next cut from piece *i on, which is moved behind it. NULL: err says why. */
static const th_segment_step *step_to_cut(th_segments *s, const th_segment_state *from, int32_t *i,
                                          th_error *err)
{
    for (int32_t n = 1;; n *= 2) {
        int32_t end = n < s->n_pieces - *i ? *i + n : s->n_pieces;
        const th_segment_step *x = take_step(s, from, *i, end - 1, err);
        if (x && x->end == TH_STEP_NO_CUT)
            continue;
        *i = end;
        return x;
    }
}

static int walk(th_segments *s, th_time limit, th_segments_outcome *outcome, th_time *makespan,
                th_error *err)
{
    const th_segment_step *x;
    int32_t i = 0;
    *makespan = 0;
    for (const th_segment_state *at = &at_start; at; at = x->to) {
        x = step_to_cut(s, at, &i, err);
        if (!x)
            return -1;
        *makespan = th_time_add(*makespan, x->elapsed_ps);
        if (x->end == TH_STEP_FULL_REPLAY || *makespan == TH_TIME_MAX) {
            *outcome = TH_SEGMENTS_FULL_REPLAY;
            s->counts.whole++;
            return 0;
        }
        if (*makespan > limit) {
            *outcome = TH_SEGMENTS_STOPPED;
            return 0;
        }
    }
    *outcome = TH_SEGMENTS_DONE;
    return 0;
}

int th_segments_run(th_segments *s, const th_mapping *m, th_time limit,
                    th_segments_outcome *outcome, th_time *makespan, th_error *err)
{
    bool fits;
    s->counts.evaluations++;
    s->mapping = m;
    th_lower_begin(s->lower);
    if (s->first->next == NULL) /* else others may be looking: their owner sees to it */
        th_segments_trim(s);
    if (th_lower_number_sets(s->lower, m, err) || find_kinds(s, &fits, err))
        return -1;
    *outcome = TH_SEGMENTS_INFEASIBLE;
    return fits && fits_in_memory(s) ? walk(s, limit, outcome, makespan, err) : 0;
}
