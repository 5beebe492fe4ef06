/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment.c - the makespan of a mapping from segments that were replayed before.
 *
 *   new -> run* -> free
 *   inside: number the sets -> find the pieces -> check memory -> step from cut to cut, each step
 *   from the memo or by a replay of its layers alone
 *
 * A layer is a cut of the network when nothing that was made before it is read after it; a piece is
 * what lies behind one cut up to the next. Until the first of a cut's positions has ended its last
 * task, nothing of what follows has begun. At the latest instant up to then at which nothing moves on
 * the network, all that follows depends on what remains of the layers so far and on the layers to
 * come: the tasks that wait, what they wait for, and of the computes under way how long ago they
 * began and what flows have drawn from their DRAM meanwhile. That is the state at the cut, and time
 * starts anew there. If there is no such instant since the last cut, the step goes on over the next
 * ones, over 1, 2, 4, ... pieces, at last to the end of the network.
 *
 * A piece is known by the shapes of its layers, how they read each other, and their sets, designs
 * and strategies; a step by the state where it begins and its pieces. So equal blocks of a network
 * share them. Values are replays of the machine on a program that th_lower made, no estimates;
 * docs/models/segments.md says why the sum is the machine's own makespan.
 *
 * Invariant: between two runs the memos hold only what any later run may use; above their limit all of
 * it is dropped, which costs time and changes no result.
 * Not told by segments: streams, objectives that need more than the makespan, and machines that
 * cannot resume (th_machine_can_resume). */
#include <config.h>

#include "mapper/segment.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mapper/lower/emit.h"
#include "mapper/lower/footprint.h"
#include "mapper/segment_pieces.h"

enum { ENTRY_BYTES = 96 }; /* of a map for one entry, about */

/* Where a step ends, if not in a state. */
enum { AT_END = -1, AT_NO_CUT = -2, TOLD_BY_WHOLE = -3 };
enum { AT_START = 0 }; /* the state before the first piece */

/* What remains at a cut: where it stands in the arrays below. The draws are those of the tasks in
 * order. */
typedef struct {
    size_t task, wait, final, draw;
    int32_t n_tasks, n_waits, n_finals, n_draws;
} state;

typedef struct {
    th_time elapsed_ps;
    int32_t to; /* state, or one of the above */
} step;

struct th_segments {
    th_lower *lower;
    th_program *program;
    th_machine *machine;
    th_piece *pieces; /* of the network; the same for all mappings */
    int32_t n_pieces;
    /* memos */
    th_map *kinds, *states, *steps; /* of placed pieces: their numbers; likewise */
    th_footprint_part *parts;       /* by kind and accelerator */
    state *state;
    th_remaining *task; /* of states */
    th_waits *wait;
    int32_t *final;
    th_draw_change *draw;
    step *step;
    size_t n_kinds, n_states, n_tasks, n_waits, n_finals, n_draws, n_steps;
    size_t parts_room, state_room, task_room, wait_room, final_room, draw_room,
        step_room;
    size_t held_bytes, limit;
    /* the mapping at hand */
    const th_mapping *mapping;
    int32_t *key;  /* scratch: of a piece; a state and all pieces */
    int32_t *kind; /* by piece */
    th_footprint_part *sum; /* by accelerator; at_begin is not used */
    th_under_way *under_way; /* scratch, by task */
    int32_t *number; /* scratch, by task of the program: its number among what remains */
    char *state_key;
    size_t state_key_room, number_room;
    th_segment_counts counts;
};

/* --- the network ------------------------------------------------------------------------------ */

static const th_workload *workload_of(const th_segments *s)
{
    return s->lower->workload;
}

/* --- life ------------------------------------------------------------------------------------- */

bool th_segments_apply(const th_workload *w, const th_machine *m)
{
    return w->n_layers > 1 && th_machine_can_resume(m);
}

enum { PLACED_WORDS = 3 }; /* of a layer in the key of a piece: set, strategy */

static int allocate(th_segments *s)
{
    size_t layers = (size_t)workload_of(s)->n_layers, accels = (size_t)s->lower->system->n_accels;
    s->kind = th_alloc_zero(layers, sizeof *s->kind);
    s->key = th_alloc_zero(PLACED_WORDS * layers + 2, sizeof *s->key);
    s->sum = th_alloc_zero(accels, sizeof *s->sum);
    s->under_way = th_alloc_zero(accels, sizeof *s->under_way);
    s->kinds = th_map_new();
    s->states = th_map_new();
    s->steps = th_map_new();
    return s->kind && s->key && s->sum && s->under_way && s->kinds &&
                   s->states && s->steps
               ? 0
               : -1;
}

static int forget(th_segments *s)
{
    th_map_clear(s->kinds);
    th_map_clear(s->states);
    th_map_clear(s->steps);
    s->n_kinds = s->n_states = s->n_steps = s->held_bytes = 0;
    s->n_tasks = s->n_waits = s->n_finals = s->n_draws = 0;
    if (th_grow(&s->state, &s->state_room, 1, sizeof *s->state))
        return -1;
    s->state[s->n_states++] = (state){0}; /* AT_START */
    return 0;
}

th_segments *th_segments_new(th_lower *l, th_program *p, th_machine *m, size_t limit)
{
    th_segments *s = th_alloc_zero(1, sizeof *s);
    if (!s)
        return NULL;
    s->lower = l;
    s->program = p;
    s->machine = m;
    s->limit = limit;
    if (allocate(s) == 0 && forget(s) == 0 && th_pieces_find(l, &s->pieces, &s->n_pieces) == 0)
        return s;
    th_segments_free(s);
    return NULL;
}

void th_segments_free(th_segments *s)
{
    if (!s)
        return;
    th_map_free(s->kinds);
    th_map_free(s->states);
    th_map_free(s->steps);
    th_free(s->pieces);
    th_free(s->kind);
    th_free(s->key);
    th_free(s->sum);
    th_free(s->under_way);
    th_free(s->number);
    th_free(s->parts);
    th_free(s->state);
    th_free(s->task);
    th_free(s->wait);
    th_free(s->final);
    th_free(s->draw);
    th_free(s->step);
    th_free(s->state_key);
    th_free(s);
}

th_segment_counts th_segments_counts(const th_segments *s)
{
    return s ? s->counts : (th_segment_counts){0};
}

/* --- pieces of a mapping ---------------------------------------------------------------------- */

static size_t kind_key(const th_segments *s, const th_piece *p, int32_t *key)
{
    size_t n = 0;
    key[n++] = p->shape;
    for (int l = p->first > 0 ? p->first - 1 : 0; l <= p->last; l++) {
        key[n++] = s->lower->set_number[s->mapping->set_of[l]];
        memcpy(&key[n], &s->mapping->strategy[l], sizeof(th_strategy));
        n += sizeof(th_strategy) / sizeof *key;
    }
    return n * sizeof *key;
}
_Static_assert(sizeof(th_strategy) == (PLACED_WORDS - 1) * sizeof(int32_t),
               "strategies are compared by their bytes");

static int plan(th_segments *s, int32_t first_piece, int32_t last_piece, th_error *err)
{
    return th_lower_plan(s->lower, s->mapping, s->pieces[first_piece].first,
                         s->pieces[last_piece].last, workload_of(s)->batch, err);
}

/* What a kind that is new holds, if its designs can run it: what cannot is not kept. 0 or -1. */
static int make_kind(th_segments *s, int32_t i, bool *runs, th_error *err)
{
    size_t accels = (size_t)s->lower->system->n_accels;
    th_error reason = {0};
    *runs = plan(s, i, i, &reason) == 0;
    if (!*runs && (th_script_is_needed(&reason) || th_plans_is_fatal(&reason)))
        return th_error_set(err, reason.id, "%s", reason.text);
    if (!*runs)
        return 0;
    if (th_grow(&s->parts, &s->parts_room, (s->n_kinds + 1) * accels, sizeof *s->parts) ||
        th_footprint_of_segment(s->lower, s->pieces[i].first, s->pieces[i].last,
                                &s->parts[s->n_kinds * accels]))
        return th_error_no_memory(err);
    s->held_bytes += accels * sizeof *s->parts;
    return 0;
}

/* The number of the i-th piece as the mapping has it, if that runs. 0 or -1. */
static int find_kind(th_segments *s, int32_t i, bool *runs, th_error *err)
{
    size_t bytes = kind_key(s, &s->pieces[i], s->key);
    int64_t number = (int64_t)s->n_kinds;
    *runs = true;
    if (!th_map_get(s->kinds, s->key, bytes, &number)) {
        if (make_kind(s, i, runs, err))
            return -1;
        if (!*runs)
            return 0;
        if (th_map_put(s->kinds, s->key, bytes, number))
            return th_error_no_memory(err);
        s->n_kinds++;
        s->held_bytes += bytes + ENTRY_BYTES;
    }
    s->kind[i] = (int32_t)number;
    return 0;
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
        const th_footprint_part *part = &s->parts[(size_t)s->kind[i] * accels];
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

/* --- states ----------------------------------------------------------------------------------- */

/* The earliest end of a last task of the layer. */
static th_time first_end(const th_segments *s, int layer)
{
    const th_lower *l = s->lower;
    const th_task_result *times = th_machine_times(s->machine);
    th_time first = TH_TIME_MAX;
    for (int r = 0; r < l->layer_plan[layer]->n; r++) {
        th_time end = times[l->final[l->first_final[layer] + r]].end_ps;
        first = end < first ? end : first;
    }
    return first;
}

static bool is_under_way(const th_task_result *t, th_time at)
{
    return t->start_ps < at && t->end_ps >= at;
}

/* The latest instant up to t before whose events no transfer is under way; 0: none but the start. */
static th_time last_quiet(const th_segments *s, th_time t)
{
    const th_program *p = s->program;
    const th_task_result *times = th_machine_times(s->machine);
    for (th_time before = t;; t = before) {
        for (int32_t i = 0; i < p->n_tasks; i++)
            if (p->tasks[i].kind == TH_TASK_TRANSFER && is_under_way(&times[i], t) &&
                times[i].start_ps < before)
                before = times[i].start_ps;
        if (before == t)
            return t;
    }
}

/* Task, which has not ended at t, as the next of what remains. -1: memory is out. */
static int add_task(th_segments *s, state *x, int32_t task, th_time t)
{
    const th_works *works = th_lower_works(s->lower);
    const th_task *from = &s->program->tasks[task];
    const th_task_result *times = &th_machine_times(s->machine)[task];
    th_remaining to = {from->node, from->peer, from->work, 0, 1, from->bytes};
    if (is_under_way(times, t)) {
        th_under_way u = th_machine_was_under_way(s->machine, task, t);
        if (times->end_ps == t) /* that is all that counts, however it came about */
            u = (th_under_way){-th_works_get(works, from->work)->folded_ps, NULL, 0};
        if (th_grow(&s->draw, &s->draw_room, s->n_draws + u.n_draws, sizeof *s->draw))
            return -1;
        if (u.n_draws > 0)
            memcpy(&s->draw[s->n_draws], u.draws, u.n_draws * sizeof *u.draws);
        s->n_draws += u.n_draws;
        x->n_draws += (int32_t)u.n_draws;
        to.n_draws = (int32_t)u.n_draws;
        to.started_ps = u.started_ps;
    }
    if (th_grow(&s->task, &s->task_room, s->n_tasks + 1, sizeof *s->task))
        return -1;
    s->task[s->n_tasks++] = to;
    s->number[task] = x->n_tasks++;
    return 0;
}

/* Those under way, or those that wait, in program order. */
static int add_tasks(th_segments *s, state *x, th_time t, bool under_way)
{
    const th_task_result *times = th_machine_times(s->machine);
    for (int32_t i = 0; i < s->program->n_tasks; i++)
        if (times[i].end_ps >= t && is_under_way(&times[i], t) == under_way && add_task(s, x, i, t))
            return -1;
    return 0;
}

static int add_waits(th_segments *s, state *x, th_time t)
{
    const th_program *p = s->program;
    const th_task_result *times = th_machine_times(s->machine);
    for (int32_t i = 0; i < p->n_tasks; i++) {
        if (times[i].end_ps < t)
            continue;
        int32_t first = p->successor_start[i], n = p->successor_start[i + 1] - first;
        if (th_grow(&s->wait, &s->wait_room, s->n_waits + (size_t)n, sizeof *s->wait))
            return -1;
        for (int32_t k = 0; k < n; k++)
            s->wait[s->n_waits++] =
                (th_waits){s->number[p->successors[first + k]], s->number[i]};
        x->n_waits += n;
    }
    return 0;
}

static int add_finals(th_segments *s, state *x, int layer)
{
    const th_lower *l = s->lower;
    x->n_finals = l->layer_plan[layer]->n;
    if (th_grow(&s->final, &s->final_room, s->n_finals + (size_t)x->n_finals, sizeof *s->final))
        return -1;
    for (int r = 0; r < x->n_finals; r++)
        s->final[s->n_finals++] = s->number[l->final[l->first_final[layer] + r]];
    return 0;
}

static size_t add_to_key(char *key, size_t at, const void *bytes, size_t n)
{
    if (n > 0)
        memcpy(key + at, bytes, n);
    return at + n;
}

/* The bytes of a state, in s->state_key. 0: memory is out. */
static size_t key_of_state(th_segments *s, const state *x)
{
    const int32_t sizes[] = {x->n_tasks, x->n_waits, x->n_finals, x->n_draws};
    size_t tasks = (size_t)x->n_tasks * sizeof *s->task,
           waits = (size_t)x->n_waits * sizeof *s->wait,
           finals = (size_t)x->n_finals * sizeof *s->final,
           draws = (size_t)x->n_draws * sizeof *s->draw;
    if (th_grow(&s->state_key, &s->state_key_room, sizeof sizes + tasks + waits + finals + draws,
                1))
        return 0;
    size_t n = add_to_key(s->state_key, 0, sizes, sizeof sizes);
    n = add_to_key(s->state_key, n, s->task + x->task, tasks);
    n = add_to_key(s->state_key, n, s->wait + x->wait, waits);
    n = add_to_key(s->state_key, n, s->final + x->final, finals);
    return add_to_key(s->state_key, n, s->draw + x->draw, draws);
}

/* What stands last in the arrays goes. */
static void drop(th_segments *s, const state *x)
{
    s->n_tasks = x->task;
    s->n_waits = x->wait;
    s->n_finals = x->final;
    s->n_draws = x->draw;
}

/* The number of the state that stands last; it is dropped if it is known. -1: memory is out. */
static int32_t number_of_state(th_segments *s, const state *x)
{
    size_t bytes = key_of_state(s, x);
    int64_t number = (int64_t)s->n_states;
    if (bytes == 0 || th_grow(&s->state, &s->state_room, s->n_states + 1, sizeof *s->state))
        return -1;
    if (th_map_get(s->states, s->state_key, bytes, &number)) {
        drop(s, x);
        return (int32_t)number;
    }
    if (th_map_put(s->states, s->state_key, bytes, number))
        return -1;
    s->held_bytes += 2 * bytes + ENTRY_BYTES;
    s->state[s->n_states++] = *x;
    return (int32_t)number;
}

/* After a replay up to this layer: the state at its cut, if there is one. 0 or -1. */
static int read_state(th_segments *s, int layer, step *out)
{
    state x = {.task = s->n_tasks, .wait = s->n_waits, .final = s->n_finals, .draw = s->n_draws};
    th_time t = last_quiet(s, first_end(s, layer));
    *out = (step){t, AT_NO_CUT};
    if (t <= 0)
        return 0;
    if (th_grow(&s->number, &s->number_room, (size_t)s->program->n_tasks, sizeof *s->number))
        return -1;
    if (add_tasks(s, &x, t, true) || add_tasks(s, &x, t, false) || add_waits(s, &x, t) ||
        add_finals(s, &x, layer))
        out->to = -1;
    else
        out->to = number_of_state(s, &x);
    if (out->to < 0)
        drop(s, &x);
    return out->to < 0 ? -1 : 0;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The program of a segment; *n: how many of its tasks are under way, as s->under_way says. */
static int emit(th_segments *s, const state *from, int32_t first, int32_t last, int32_t *n,
                th_error *err)
{
    const th_remains x = {s->task + from->task, s->wait + from->wait, s->final + from->final,
                          from->n_tasks, from->n_waits};
    size_t draw = from->draw;
    for (*n = 0; *n < x.n_tasks && x.task[*n].started_ps <= 0; (*n)++) {
        size_t draws = (size_t)x.task[*n].n_draws;
        s->under_way[*n] =
            (th_under_way){x.task[*n].started_ps, draws > 0 ? s->draw + draw : NULL, draws};
        draw += draws;
    }
    th_program_clear(s->program);
    s->lower->program = s->program;
    return th_emit_segment(s->lower, first, last, &x, err) || th_program_finish(s->program, err)
               ? -1
               : 0;
}

/* What a replay of pieces i .. j from this state gives. 0 or -1. */
static int replay(th_segments *s, int32_t from, int32_t i, int32_t j, step *out, th_error *err)
{
    int32_t first = s->pieces[i].first, last = s->pieces[j].last;
    int32_t n;
    th_error reason = {0};
    *out = (step){0, TOLD_BY_WHOLE};
    if (plan(s, i, j, err) || emit(s, &s->state[from], first, last, &n, err))
        return -1;
    if (s->lower->is_loose)
        return 0;
    if (th_machine_resume(s->machine, s->program, s->under_way, n, &reason) ||
        th_machine_run_bounded(s->machine, TH_TIME_MAX, &reason) != TH_STOP_DONE)
        return th_error_is_no_memory(&reason) ? th_error_no_memory(err) : 0;
    *out = (step){th_machine_now(s->machine), AT_END};
    if (j < s->n_pieces - 1 && read_state(s, last, out))
        return th_error_no_memory(err);
    return 0;
}

/* From a state over pieces i .. j: known, or replayed and kept. 0 or -1. */
static int take_step(th_segments *s, int32_t from, int32_t i, int32_t j, step *out, th_error *err)
{
    size_t n = (size_t)(j - i) + 2, bytes = n * sizeof *s->key;
    int64_t number = (int64_t)s->n_steps;
    s->key[0] = from;
    memcpy(s->key + 1, s->kind + i, (n - 1) * sizeof *s->key);
    s->counts.asked++;
    if (th_map_get(s->steps, s->key, bytes, &number)) {
        *out = s->step[number];
        return 0;
    }
    s->counts.replayed++;
    if (replay(s, from, i, j, out, err))
        return -1;
    if (th_grow(&s->step, &s->step_room, s->n_steps + 1, sizeof *s->step) ||
        th_map_put(s->steps, s->key, bytes, number))
        return th_error_no_memory(err);
    s->step[s->n_steps++] = *out;
    s->held_bytes += bytes + sizeof *out + ENTRY_BYTES;
    return 0;
}

/* To the next cut from piece *i on, which is moved behind it. */
static int step_to_cut(th_segments *s, int32_t from, int32_t *i, step *out, th_error *err)
{
    for (int32_t n = 1;; n *= 2) {
        int32_t end = n < s->n_pieces - *i ? *i + n : s->n_pieces;
        if (take_step(s, from, *i, end - 1, out, err))
            return -1;
        if (out->to != AT_NO_CUT) {
            *i = end;
            return 0;
        }
    }
}

static int walk(th_segments *s, th_time limit, th_segments_outcome *outcome, th_time *makespan,
                th_error *err)
{
    int32_t at = AT_START, i = 0;
    *makespan = 0;
    while (at >= 0) {
        step x;
        if (step_to_cut(s, at, &i, &x, err))
            return -1;
        *makespan = th_time_add(*makespan, x.elapsed_ps);
        at = x.to;
        if (at == TOLD_BY_WHOLE || *makespan == TH_TIME_MAX) {
            *outcome = TH_SEGMENTS_WHOLE;
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

int th_segments_run(th_segments *s, const th_mapping *m, th_time limit, th_segments_outcome *outcome,
                    th_time *makespan, th_error *err)
{
    bool fits;
    s->counts.evaluations++;
    s->mapping = m;
    th_lower_begin(s->lower);
    if (s->held_bytes > s->limit && forget(s))
        return th_error_no_memory(err);
    if (th_lower_number_sets(s->lower, m, err) || find_kinds(s, &fits, err))
        return -1;
    *outcome = TH_SEGMENTS_MISFIT;
    return fits && fits_in_memory(s) ? walk(s, limit, outcome, makespan, err) : 0;
}
