/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment.c - the makespan of a mapping as the sum of segment times, each replayed once.
 *
 *   new -> (share) -> run* -> free
 *   run: set ids -> look up the pieces -> check memory -> step from cut to cut; each step is looked
 *   up, or replayed (its layers alone), and segment_cut.c reads the state at its end
 *
 * A layer is a cut of the network when no tensor made before it is read after it; a piece is the
 * layers between two cuts. No task behind a cut starts before the first position of the cut layer
 * ends its last task. At the latest time up to then at which no transfer is in flight, the rest
 * of the run depends on the layers to come and on this state: the pending tasks, their
 * dependencies, and for each running compute its start and the DRAM demand of flows since then.
 * Time restarts at 0 there. Where no such time exists since the last cut, the step covers 1, 2,
 * 4, ... pieces, at last the rest of the network.
 *
 * Keys: a piece is identified by its layers' shapes, their inputs, and their sets, designs and
 * strategies; a step by the state where it starts and its pieces. Equal blocks of a network share
 * entries. Times come from the machine on programs of th_lower, never from an estimate;
 * docs/models/segments.md proves that the sum is the makespan of a full replay.
 *
 * Several threads may share the memo, each with its own lowering and machine: lookups take no
 * lock, and a step that two threads replay at once is kept once. Invariants: an entry never
 * changes; above its limit the memo is cleared between two runs, which changes no result. Not
 * covered (full replay instead): streams, objectives other than the makespan, and machines that
 * cannot resume (th_machine_can_resume). */
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

/* --- life --- */

bool th_segments_supported(const th_workload *w, const th_machine *m)
{
    return w->n_layers > 1 && th_machine_can_resume(m);
}

enum { PLACED_WORDS = 1 + TH_STRATEGY_WORDS }; /* of a layer in the key of a piece: set, strategy */

/* Without a memo. NULL: memory is out. */
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
    s->placed = th_alloc_zero(layers, sizeof *s->placed);
    s->key = th_alloc_zero(PLACED_WORDS * layers + 2, sizeof *s->key);
    s->memory_sum = th_alloc_zero(accels, sizeof *s->memory_sum);
    s->under_way = th_alloc_zero(accels, sizeof *s->under_way);
    if (s->arena && s->placed && s->key && s->memory_sum && s->under_way)
        return s;
    th_segments_free(s);
    return NULL;
}

static void free_memo(th_segment_memo *memo)
{
    if (!memo)
        return;
    th_shared_map_free(memo->placed_pieces);
    th_shared_map_free(memo->states);
    th_shared_map_free(memo->steps);
    th_free(memo->pieces);
    th_free(memo);
}

/* NULL: memory is out. */
static th_segment_memo *new_memo(const th_lower *l, size_t limit)
{
    th_segment_memo *memo = th_alloc_zero(1, sizeof *memo);
    if (!memo)
        return NULL;
    memo->limit = limit;
    memo->placed_pieces = th_shared_map_new();
    memo->states = th_shared_map_new();
    memo->steps = th_shared_map_new();
    if (memo->placed_pieces && memo->states && memo->steps &&
        th_pieces_find(l, &memo->pieces, &memo->n_pieces) == 0)
        return memo;
    free_memo(memo);
    return NULL;
}

th_segments *th_segments_new(th_lower *l, th_program *p, th_machine *m, size_t limit)
{
    th_segments *s = new_segments(l, p, m);
    if (s && (s->memo = new_memo(l, limit)))
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
    s->memo = first->memo;
    s->next = first->next;
    first->next = s;
    return s;
}

static void free_scratch(th_state_scratch *x)
{
    th_free(x->number);
    th_free(x->task);
    th_free(x->wait);
    th_free(x->final);
    th_free(x->demand);
    th_free(x->state_key);
}

void th_segments_free(th_segments *s)
{
    if (!s)
        return;
    for (th_segments *q = s->first; q; q = q->next)
        if (q->next == s)
            q->next = s->next;
    if (s->first == s)
        free_memo(s->memo);
    th_arena_free(s->arena);
    th_free(s->placed);
    th_free(s->key);
    th_free(s->memory_sum);
    th_free(s->under_way);
    free_scratch(&s->scratch);
    th_free(s);
}

bool th_segments_are_full(const th_segments *s)
{
    return s && atomic_load_explicit(&s->memo->held_bytes, memory_order_relaxed) > s->memo->limit;
}

void th_segments_trim(th_segments *s)
{
    if (!th_segments_are_full(s))
        return;
    th_shared_map_clear(s->memo->placed_pieces);
    th_shared_map_clear(s->memo->states);
    th_shared_map_clear(s->memo->steps);
    for (th_segments *q = s->first; q; q = q->next)
        th_arena_reset(q->arena);
    s->memo->held_bytes = 0;
    s->memo->n_placed_pieces = s->memo->n_states = 0;
}

void th_segment_counts_add(th_segment_counts *sum, const th_segment_counts *c)
{
    sum->evaluations += c->evaluations;
    sum->full_replays += c->full_replays;
    sum->lookups += c->lookups;
    sum->replayed += c->replayed;
}

th_segment_counts th_segments_counts(const th_segments *s)
{
    th_segment_counts sum = {0};
    for (const th_segments *q = s ? s->first : NULL; q; q = q->next)
        th_segment_counts_add(&sum, &q->counts);
    return sum;
}

/* Publishes the entry made for s->key; returns the one that was published first. NULL: memory is
 * out. */
static const void *publish(th_segments *s, th_shared_map *m, size_t key_bytes, const void *made,
                           size_t bytes)
{
    const void *known = th_shared_map_add(m, s->key, key_bytes, made);
    if (known == made)
        atomic_fetch_add(&s->memo->held_bytes, key_bytes + bytes + TH_SEGMENT_ENTRY_BYTES);
    return known;
}

/* --- pieces of a mapping --- */

static size_t key_of_placed_piece(const th_segments *s, const th_piece *p, int32_t *key)
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
    return th_lower_plan(s->lower, s->mapping, s->memo->pieces[first_piece].first,
                         s->memo->pieces[last_piece].last, workload_of(s)->batch, err);
}

/* *out: the entry, or NULL where a design cannot run the piece (not kept). 0 or -1. */
static int make_placed_piece(th_segments *s, int32_t i, th_placed_piece **out, th_error *err)
{
    size_t accels = (size_t)s->lower->system->n_accels;
    th_error reason = {0};
    *out = NULL;
    if (plan(s, i, i, &reason)) {
        return th_plans_is_fatal(&reason) ? th_error_set(err, reason.id, "%s", reason.text) : 0;
    }
    th_placed_piece *k = th_arena_alloc(s->arena, sizeof *k + accels * sizeof *k->part);
    if (!k || th_footprint_of_segment(s->lower, s->memo->pieces[i].first, s->memo->pieces[i].last,
                                      k->part))
        return th_error_no_memory(err);
    k->number = (int32_t)atomic_fetch_add(&s->memo->n_placed_pieces, 1);
    *out = k;
    return 0;
}

/* Looks up or makes the entry of piece i; *runs: its designs can run it. 0 or -1. */
static int find_placed_piece(th_segments *s, int32_t i, bool *runs, th_error *err)
{
    size_t bytes = key_of_placed_piece(s, &s->memo->pieces[i], s->key);
    th_placed_piece *made;
    *runs = true;
    s->placed[i] = th_shared_map_find(s->memo->placed_pieces, s->key, bytes);
    if (s->placed[i])
        return 0;
    if (make_placed_piece(s, i, &made, err))
        return -1;
    *runs = made;
    if (!made)
        return 0;
    s->placed[i] = publish(s, s->memo->placed_pieces, bytes, made,
                           (size_t)s->lower->system->n_accels * sizeof *made->part);
    return s->placed[i] ? 0 : th_error_no_memory(err);
}

/* In layer order, so that script designs are called in the order of th_lower_program. */
static int find_placed_pieces(th_segments *s, bool *fits, th_error *err)
{
    *fits = true;
    for (int32_t i = 0; *fits && i < s->memo->n_pieces; i++)
        if (find_placed_piece(s, i, fits, err))
            return -1;
    return 0;
}

/* The check of th_footprint_check, for one pass. */
static bool fits_in_memory(th_segments *s)
{
    const th_system *system = s->lower->system;
    size_t accels = (size_t)system->n_accels;
    memset(s->memory_sum, 0, accels * sizeof *s->memory_sum);
    for (int32_t i = 0; i < s->memo->n_pieces; i++) {
        const th_footprint_part *part = s->placed[i]->part;
        for (size_t a = 0; a < accels; a++) {
            th_footprint_part *sum = &s->memory_sum[a];
            int64_t between = sum->at_end + part[a].at_begin;
            int64_t most = between > part[a].inside ? between : part[a].inside;
            sum->weights += part[a].weights;
            sum->inside = most > sum->inside ? most : sum->inside;
            sum->at_end = part[a].at_end;
        }
    }
    for (int l = 0; l < s->mapping->n_layers; l++) /* parts count those of tied layers for each */
        for (int r = 0; r < s->mapping->sets[s->mapping->set_of[l]].n_accels; r++)
            s->memory_sum[s->mapping->sets[s->mapping->set_of[l]].accels[r]].weights -=
                th_mapping_kept_weight_bytes(s->mapping, workload_of(s), l, r);
    for (size_t a = 0; a < accels; a++) {
        const th_footprint_part *sum = &s->memory_sum[a];
        int64_t peak = sum->at_end > sum->inside ? sum->at_end : sum->inside;
        if (sum->weights + peak > system->nodes[system->accel_node[a]].a.dram_bytes)
            return false;
    }
    return true;
}

/* --- steps --- */

/* Emits the program of a segment; *n: its running tasks, listed in s->under_way. */
static int emit(th_segments *s, const th_segment_state *from, int32_t first, int32_t last,
                int32_t *n, th_error *err)
{
    const th_pending_tasks x = {from->task, from->wait, from->final, from->n_tasks, from->n_waits};
    const th_demand_change *demand = from->demand;
    for (*n = 0; *n < x.n_tasks && x.task[*n].started_ps <= 0; (*n)++) {
        size_t n_demands = (size_t)x.task[*n].n_demands;
        s->under_way[*n] =
            (th_in_flight){x.task[*n].started_ps, n_demands > 0 ? demand : NULL, n_demands};
        demand = n_demands > 0 ? demand + n_demands : demand;
    }
    th_program_clear(s->program);
    s->lower->emission.program = s->program;
    return th_emit_segment(s->lower, first, last, &x, err) || th_program_finish(s->program, err)
               ? -1
               : 0;
}

/* Replays pieces i .. j from a state into *out. 0 or -1. */
static int replay(th_segments *s, const th_segment_state *from, int32_t i, int32_t j,
                  th_segment_step *out, th_error *err)
{
    int32_t first = s->memo->pieces[i].first, last = s->memo->pieces[j].last;
    int32_t n;
    th_error reason = {0};
    *out = (th_segment_step){0, TH_STEP_FULL_REPLAY, NULL, 0};
    if (plan(s, i, j, err) || emit(s, from, first, last, &n, err))
        return -1;
    if (s->lower->emission.starts_unreleased)
        return 0;
    if (th_machine_resume(s->machine, s->program, s->under_way, n, &reason) ||
        th_machine_run_bounded(s->machine, TH_TIME_MAX, &reason) != TH_STOP_DONE)
        return th_error_is_no_memory(&reason) ? th_error_no_memory(err) : 0;
    *out = (th_segment_step){th_machine_now(s->machine), TH_STEP_TO_END, NULL,
                             s->program->n_tasks + th_machine_events(s->machine)};
    if (j < s->memo->n_pieces - 1 && th_segment_cut(s, last, out))
        return th_error_no_memory(err);
    return 0;
}

/* The step from a state over pieces i .. j: looked up, or replayed and kept. NULL: err is set. */
static const th_segment_step *take_step(th_segments *s, const th_segment_state *from, int32_t i,
                                        int32_t j, th_error *err)
{
    size_t n = 0;
    s->key[n++] = from->number;
    for (int32_t k = i; k <= j; k++)
        s->key[n++] = s->placed[k]->number;
    s->counts.lookups++;
    const th_segment_step *known = th_shared_map_find(s->memo->steps, s->key, n * sizeof *s->key);
    if (known)
        return known;
    th_segment_step *made = th_arena_alloc(s->arena, sizeof *made);
    if (!made) {
        th_error_no_memory(err);
        return NULL;
    }
    if (replay(s, from, i, j, made, err))
        return NULL;
    known = publish(s, s->memo->steps, n * sizeof *s->key, made, sizeof *made);
    s->counts.replayed += known == made;
    if (!known)
        th_error_no_memory(err);
    return known;
}

/* The step from piece *i to the next cut; *i moves behind it. NULL: err is set. *work grows. */
static const th_segment_step *step_to_cut(th_segments *s, const th_segment_state *from, int32_t *i,
                                          int64_t *work, th_error *err)
{
    for (int32_t n = 1;; n *= 2) {
        int32_t end = n < s->memo->n_pieces - *i ? *i + n : s->memo->n_pieces;
        const th_segment_step *x = take_step(s, from, *i, end - 1, err);
        *work += x ? x->work : 0;
        if (x && x->end == TH_STEP_NO_CUT)
            continue;
        *i = end;
        return x;
    }
}

static int walk(th_segments *s, th_time limit, th_segments_result *out, th_error *err)
{
    const th_segment_step *x;
    int32_t i = 0;
    for (const th_segment_state *at = &at_start; at; at = x->to) {
        x = step_to_cut(s, at, &i, &out->work, err);
        if (!x)
            return -1;
        out->makespan = th_time_add(out->makespan, x->elapsed_ps);
        if (x->end == TH_STEP_FULL_REPLAY || out->makespan == TH_TIME_MAX) {
            out->outcome = TH_SEGMENTS_FULL_REPLAY;
            s->counts.full_replays++;
            return 0;
        }
        if (out->makespan > limit) {
            out->outcome = TH_SEGMENTS_STOPPED;
            return 0;
        }
    }
    out->outcome = TH_SEGMENTS_DONE;
    return 0;
}

int th_segments_run(th_segments *s, const th_mapping *m, th_time limit, th_segments_result *out,
                    th_error *err)
{
    bool fits;
    s->counts.evaluations++;
    s->mapping = m;
    *out = (th_segments_result){.outcome = TH_SEGMENTS_INFEASIBLE};
    th_lower_begin(s->lower);
    if (!s->first->next) /* a shared memo is trimmed by its owner, between batches */
        th_segments_trim(s);
    if (th_lower_number_sets(s->lower, m, err) || find_placed_pieces(s, &fits, err))
        return -1;
    return fits && fits_in_memory(s) ? walk(s, limit, out, err) : 0;
}
