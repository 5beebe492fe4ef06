/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_oracle.c - walks a program in order and keeps book of which element is where since which
 * task (lower_book.h).
 *   th_oracle_check: passes { release -> layers { deliveries -> chunks { phases -> sums } } ->
 *   outputs } -> replay
 * A position here is a chunk of an accelerator's part of a layer: number chunk * size of the set +
 * place in the set. */
#include <config.h>
#include "tests/unit/mapper/lower_oracle.h"
#include "base/alloc.h"
#include "tests/unit/mapper/lower_book.h"
#include "topology/routing/route.h"

/* The host with the widest way, then the shortest, then the first. */
static int host_of(const th_system *s, int accel)
{
    int best = -1;
    th_route_summary b = {0}, x;
    for (int h = 0; h < s->n_hosts; h++) {
        th_route_summarize(s, s->host_node[h], s->accel_node[accel], &x);
        if (best < 0 || x.bits_per_s > b.bits_per_s ||
            (x.bits_per_s == b.bits_per_s && x.n_links < b.n_links)) {
            best = s->host_node[h];
            b = x;
        }
    }
    return best;
}

/* All of need that is not at accel comes from sender q (-1: the host): one transfer. */
static void expect_delivery(book *k, int layer, int tensor, const elements *need, int r, int q,
                            int32_t *latest)
{
    int accel = accel_of(k, layer, r), from = q < 0 ? host_of(k->system, accel) : -1;
    int32_t *here = k->here[tensor + 1][accel];
    int64_t n = 0;
    for (int e = 0; e < need->size; e++)
        n += need->at[e] && here[e] == NOWHERE &&
             (q < 0 || is_copy(k, tensor, q, k->owner[tensor + 1][e]));
    if (n == 0)
        return;
    if (q >= 0)
        from = node_of(k, tensor, q);
    int32_t task = expect(k, TH_TASK_TRANSFER, layer, from, k->system->accel_node[accel],
                          bytes_of(n, shape_of_tensor(k->workload, tensor).precision));
    if (latest[r % set_size(k, layer)] >= 0)
        must_wait(k, task, latest[r % set_size(k, layer)], "an earlier chunk's");
    latest[r % set_size(k, layer)] = task;
    for (int e = 0; e < need->size; e++) {
        if (!need->at[e] || here[e] != NOWHERE ||
            (q >= 0 && !is_copy(k, tensor, q, k->owner[tensor + 1][e])))
            continue;
        if (q >= 0)
            must_wait(k, task, k->here[tensor + 1][accel_of(k, tensor, q)][e], "what it carries");
        else
            must_wait(k, task, k->release, "its release");
        here[e] = task;
    }
}

/* The copy of the tensor that position r receives from: that of its accelerator, else r in turn. */
static int copy_for(const book *k, int layer, int r, int tensor)
{
    const th_set *made = &k->mapping->sets[k->mapping->set_of[tensor]];
    int place = r % set_size(k, layer);
    for (int i = 0; i < made->n_accels; i++)
        if (made->accels[i] == accel_of(k, layer, r))
            place = i;
    return place % copies_of(&k->mapping->strategy[tensor]);
}

static void expect_deliveries(book *k, int layer, int input,
                              elements need[POSITIONS_MAX][RANDOM_INPUTS_MAX])
{
    int tensor = k->workload->layers[layer].inputs[input];
    int32_t latest[POSITIONS_MAX + 1][ACCELS_MAX]; /* by sender + 1 and accelerator */
    memset(latest, -1, sizeof latest);
    for (int r = 0; r < n_positions(k, layer); r++) {
        if (tensor < 0 && k->system->n_hosts > 0)
            expect_delivery(k, layer, tensor, &need[r][input], r, -1, latest[0]);
        for (int q = tensor < 0 ? 0 : copy_for(k, layer, r, tensor);
             tensor >= 0 && q < n_positions(k, tensor);
             q += copies_of(&k->mapping->strategy[tensor]))
            expect_delivery(k, layer, tensor, &need[r][input], r, q, latest[q + 1]);
    }
}

static void must_have_inputs(const book *k, int32_t task, int layer, int r, const elements *need)
{
    const th_layer *l = &k->workload->layers[layer];
    for (int i = 0; i < l->n_inputs; i++)
        for (int e = 0; e < need[i].size; e++)
            if (need[i].at[e])
                must_wait(k, task, k->here[l->inputs[i] + 1][accel_of(k, layer, r)][e],
                          "an input element");
    must_wait(k, task, k->release, "the release");
}

/* The work of a compute task is the part of the layer that x says. reads: by input. */
static void must_compute(const book *k, int32_t task, const th_layer *l, const loops *x,
                         const elements *reads, bool adds)
{
    if (task >= 0 &&
        !is_shard_of(&th_compute_cost_get(k->costs, k->program->tasks[task].compute_cost)->shard, l,
                     x, reads, adds))
        wrong("task %d: not the shard of its part of layer \"%s\"", task, l->name);
}

typedef struct {
    int layer, n, n_accels, phases;
    bool rotates_input;
    int ring_from[POSITIONS_MAX], ring_to[POSITIONS_MAX];
    loops part[POSITIONS_MAX][PHASES_MAX];
    elements reads[POSITIONS_MAX][PHASES_MAX][RANDOM_INPUTS_MAX]; /* with the piece in hand */
    elements need[POSITIONS_MAX][RANDOM_INPUTS_MAX];              /* before the first phase */
    int32_t compute[POSITIONS_MAX][PHASES_MAX], arrival[POSITIONS_MAX][PHASES_MAX];
    int32_t
        kept[POSITIONS_MAX]; /* the last task of the pass before, where pieces of weights stay */
} execution;

static void prepare(const book *k, int layer, execution *x)
{
    const th_layer *l = &k->workload->layers[layer];
    const th_strategy *s = &k->mapping->strategy[layer];
    bool rotates = s->rotate != TH_NO_ROTATION;
    x->layer = layer;
    x->n = n_positions(k, layer);
    x->n_accels = set_size(k, layer);
    x->phases = 1;
    x->rotates_input = rotates && !rotates_weights(l, s);
    for (int r = 0; r < x->n; r++) {
        int member[ACCELS_MAX], rank = 0;
        loops whole = part_of(k, layer, r);
        if (rotates)
            x->phases = ring_of(l, s, x->n, r, member, &rank);
        /* weights stay where they came to last: each pass begins with the piece in hand */
        int began = x->rotates_input ? 0 : (x->phases - k->pass % x->phases) % x->phases;
        x->kept[r] = k->pass > 0 && rotates && !x->rotates_input ? k->final[layer][r] : -1;
        x->ring_from[r] = rotates ? member[(rank + 1) % x->phases] : -1;
        x->ring_to[r] = rotates ? member[(rank + x->phases - 1) % x->phases] : -1;
        for (int p = 0; p < x->phases; p++) {
            x->part[r][p] = whole;
            if (rotates)
                cut(&x->part[r][p], s->rotate, (rank + p + began) % x->phases, x->phases);
            for (int i = 0; i < l->n_inputs; i++)
                inputs_read(l, i, &x->part[r][p], &x->reads[r][p][i]);
        }
        for (int i = 0; i < l->n_inputs; i++)
            inputs_read(l, i, i == 0 && x->rotates_input ? &x->part[r][0] : &whole, &x->need[r][i]);
    }
}

static int64_t piece_bytes(const th_layer *l, const execution *x, int r, int p)
{
    if (x->rotates_input)
        return bytes_of(x->reads[r][p][0].n, l->precision[TH_TENSOR_INPUT]);
    return weight_bytes_of(l, &x->part[r][p]);
}

/* The piece of phase p comes to r from the next on its ring, who has it by then and for whom r made
 * room. */
static void expect_arrival(book *k, execution *x, int r, int p)
{
    const th_layer *l = &k->workload->layers[x->layer];
    int64_t bytes = piece_bytes(l, x, r, p);
    int from = x->ring_from[r];
    x->arrival[r][p] = -1;
    if (bytes == 0)
        return;
    int32_t t = x->arrival[r][p] = expect(k, TH_TASK_TRANSFER, x->layer, node_of(k, x->layer, from),
                                          node_of(k, x->layer, r), bytes);
    for (int i = 0; p == 1 && i < 3; i++) {
        int32_t kept = x->kept[i == 0 ? r : i == 1 ? from : x->ring_to[r]];
        if (kept >= 0)
            must_wait(k, t, kept, "the pass before");
    }
    if (p == 1 && x->rotates_input)
        must_have_inputs(k, t, x->layer, from, x->need[from]);
    if (p > 1) {
        must_wait(k, t, x->arrival[from][p - 1], "the piece it passes on");
        must_wait(k, t, x->compute[r][p - 2], "a free buffer");
        if (x->arrival[x->ring_to[r]][p - 1] >= 0) /* else it is empty */
            must_wait(k, t, x->arrival[x->ring_to[r]][p - 1], "the old piece to be passed on");
    }
}

/* Of one chunk, here and below: the positions from first on. */
static void expect_phases(book *k, execution *x, int first)
{
    const th_layer *l = &k->workload->layers[x->layer];
    int8_t rotate = k->mapping->strategy[x->layer].rotate;
    for (int p = 0; p < x->phases; p++) {
        for (int r = first; p > 0 && r < first + x->n_accels; r++)
            expect_arrival(k, x, r, p);
        for (int r = first; r < first + x->n_accels; r++) {
            int32_t t = expect(k, TH_TASK_COMPUTE, x->layer, node_of(k, x->layer, r), -1, 0);
            x->compute[r][p] = k->final[x->layer][r] = t;
            must_compute(k, t, l, &x->part[r][p], x->reads[r][p], p > 0 && rotate == TH_DIM_C);
            if (t >= 0 &&
                th_compute_cost_get(k->costs, k->program->tasks[t].compute_cost)->design !=
                    design_of(k, x->layer, r))
                wrong("task %d: not the design of its accelerator", t);
            if (p == 0 && x->kept[r] >= 0)
                must_wait(k, t, x->kept[r], "the pass before");
            if (p == 0)
                must_have_inputs(k, t, x->layer, r, x->need[r]);
            else
                must_wait(k, t, x->compute[r][p - 1], "its phase before");
            if (p > 0 && x->arrival[r][p] >= 0)
                must_wait(k, t, x->arrival[r][p], "its piece");
        }
    }
}

/* Partial sums go to the partner that holds the piece; it adds them up. */
static void expect_reduction(book *k, execution *x, int first)
{
    const th_layer *l = &k->workload->layers[x->layer];
    const th_strategy *s = &k->mapping->strategy[x->layer];
    int32_t came[ACCELS_MAX][ACCELS_MAX];
    elements piece;
    for (int r = first; r < first + x->n_accels; r++) {
        int member[ACCELS_MAX], rank = 0, n = partners_of(s, x->n_accels, r - first, member, &rank);
        loops whole = part_of(k, x->layer, r);
        for (int i = 0; i < n; i++) {
            outputs_held(l, &whole, i, n, &piece);
            if (i == rank || piece.n == 0)
                continue;
            int32_t t = came[member[i]][rank] =
                expect(k, TH_TASK_TRANSFER, x->layer, node_of(k, x->layer, r),
                       node_of(k, x->layer, first + member[i]),
                       bytes_of(piece.n, l->precision[TH_TENSOR_OUTPUT]));
            must_wait(k, t, x->compute[r][x->phases - 1], "its partial sums");
        }
    }
    for (int r = first; r < first + x->n_accels; r++) {
        int member[ACCELS_MAX], rank = 0, n = partners_of(s, x->n_accels, r - first, member, &rank);
        loops whole = part_of(k, x->layer, r);
        outputs_held(l, &whole, rank, n, &piece);
        if (n == 1 || piece.n == 0)
            continue;
        int32_t t = expect(k, TH_TASK_COMPUTE, x->layer, node_of(k, x->layer, r), -1, 0);
        must_wait(k, t, x->compute[r][x->phases - 1], "its own partial sums");
        for (int i = 0; i < n; i++)
            if (i != rank)
                must_wait(k, t, came[r - first][i], "a partner's partial sums");
        k->final[x->layer][r] = t;
        if (t < 0)
            continue;
        const th_shard *sum =
            &th_compute_cost_get(k->costs, k->program->tasks[t].compute_cost)->shard;
        int64_t outputs = (int64_t)sum->dim[TH_DIM_B] * sum->dim[TH_DIM_K] * sum->dim[TH_DIM_H] *
                          sum->dim[TH_DIM_W];
        if (sum->kind != TH_LAYER_ELEMENTWISE || sum->function != TH_FUNCTION_ADD ||
            sum->precision[TH_TENSOR_INPUT] != (int)l->precision[TH_TENSOR_OUTPUT] ||
            sum->n_operands != n || outputs != piece.n)
            wrong("task %d: adds %d operands of %lld elements", t, sum->n_operands,
                  (long long)outputs);
    }
}

/* Who holds what when the layer is through: every element of the output, once in each copy. */
static void note_outputs(book *k, const execution *x)
{
    const th_layer *l = &k->workload->layers[x->layer];
    const th_strategy *s = &k->mapping->strategy[x->layer];
    int64_t held = 0;
    elements piece;
    for (int r = 0; r < x->n; r++) {
        int member[ACCELS_MAX], rank = 0,
                                n = partners_of(s, x->n_accels, r % x->n_accels, member, &rank);
        loops whole = part_of(k, x->layer, r);
        outputs_held(l, &whole, rank, n, &piece);
        held += piece.n;
        for (int e = 0; e < piece.size; e++) {
            if (!piece.at[e])
                continue;
            if (r % copies_of(s) > 0 ? !is_copy(k, x->layer, r, k->owner[x->layer + 1][e])
                                     : k->owner[x->layer + 1][e] != -1)
                wrong("layer %d: element %d is held twice", x->layer, e);
            k->owner[x->layer + 1][e] = r - r % copies_of(s);
            k->here[x->layer + 1][accel_of(k, x->layer, r)][e] = k->final[x->layer][r];
        }
    }
    if (held != copies_of(s) * th_layer_output_elements(l) / k->workload->batch * k->batch)
        wrong("layer %d: %lld outputs are held", x->layer, (long long)held);
}

static void must_cover(const book *k, const execution *x)
{
    const th_layer *l = &k->workload->layers[x->layer];
    const int copies = copies_of(&k->mapping->strategy[x->layer]);
    int64_t n = steps_of(l, k->batch), once = 0, macs = 0;
    bool has_macs = th_layer_has_macs(l), is_attention = l->kind == TH_LAYER_ATTENTION;
    uint8_t *count = th_alloc_zero((size_t)n, 1);
    for (int r = 0; r < x->n; r++) {
        for (int p = 0; p < x->phases; p++) {
            count_steps(l, &x->part[r][p], count);
            if (x->compute[r][p] < 0)
                continue;
            const th_shard *s =
                &th_compute_cost_get(k->costs, k->program->tasks[x->compute[r][p]].compute_cost)
                     ->shard;
            macs += is_attention ? th_shard_macs(s)
                                 : (int64_t)s->dim[TH_DIM_B] * s->dim[TH_DIM_K] * s->dim[TH_DIM_H] *
                                       s->dim[TH_DIM_W] * s->dim[TH_DIM_R] * s->dim[TH_DIM_S] *
                                       (s->dim[TH_DIM_C] / s->groups);
        }
    }
    for (int64_t i = 0; i < n; i++)
        once += count[i] == copies;
    th_free(count);
    if (once != n)
        wrong("layer %d: %lld of %lld steps are done once in each copy", x->layer, (long long)once,
              (long long)n);
    int64_t expected = n * (l->groups > 1 ? l->dim[TH_DIM_C] / l->groups : 1);
    if (is_attention)
        expected = k->batch * (l->dim[TH_DIM_C] + l->dim[TH_DIM_K]) *
                   scores_of(l, &(loops){.hi[TH_DIM_H] = l->dim[TH_DIM_H]});
    if (has_macs && macs != copies * expected)
        wrong("layer %d: %lld multiply-accumulates", x->layer, (long long)macs);
}

/* Bytes of what position r has of tensor t to read, as whichever inputs, while the layer runs. */
static int64_t held_of(const book *k, const execution *x, int r, int t)
{
    const th_layer *l = &k->workload->layers[x->layer];
    int64_t n = 0;
    bool has[ELEMENTS_MAX] = {false};
    for (int i = 0; i < l->n_inputs; i++) {
        const elements *need = &x->need[r][i];
        for (int e = 0; l->inputs[i] == t && e < need->size; e++) {
            n += need->at[e] && !has[e];
            has[e] |= need->at[e];
        }
    }
    return bytes_of(n, shape_of_tensor(k->workload, t).precision);
}

/* What the layer works with is in memory while it works: a bound of the peak from below. */
static void must_be_in_memory(const book *k, const execution *x, const int64_t *peak,
                              const int64_t *weights)
{
    const th_layer *l = &k->workload->layers[x->layer];
    for (int r = 0; r < x->n; r++) {
        int a = accel_of(k, x->layer, r);
        loops whole = part_of(k, x->layer, r);
        elements out;
        outputs_held(l, &whole, 0, 1, &out);
        int64_t bytes = bytes_of(out.n, l->precision[TH_TENSOR_OUTPUT]);
        for (int i = 0; i < l->n_inputs; i++) {
            bool again = l->inputs[i] < 0 && k->system->n_hosts == 0;
            for (int j = 0; j < i; j++)
                again |= l->inputs[j] == l->inputs[i];
            bytes += again ? 0 : held_of(k, x, r, l->inputs[i]);
        }
        if (peak[a] - weights[a] < bytes)
            wrong("layer %d: accelerator %d holds %lld bytes, at most %lld computed", x->layer, a,
                  (long long)bytes, (long long)(peak[a] - weights[a]));
    }
}

static execution ex;

static void expect_layer(book *k, int layer, const th_lower *lower)
{
    const th_layer *l = &k->workload->layers[layer];
    prepare(k, layer, &ex);
    for (int i = 0; i < l->n_inputs; i++)
        expect_deliveries(k, layer, i, ex.need);
    for (int first = 0; first < ex.n; first += ex.n_accels) {
        expect_phases(k, &ex, first);
        expect_reduction(k, &ex, first);
    }
    note_outputs(k, &ex);
    must_cover(k, &ex);
    must_be_in_memory(k, &ex, th_lower_peak_bytes(lower), th_lower_weight_bytes(lower));
}

static void expect_outputs(book *k, int pass)
{
    const th_workload *w = k->workload;
    k->n_outputs[pass] = 0;
    for (int i = 0; i < w->n_outputs; i++) {
        int layer = w->outputs[i];
        for (int r = 0; r < n_positions(k, layer); r++) {
            int64_t n = 0;
            int32_t last = k->final[layer][r], host = host_of(k->system, accel_of(k, layer, r));
            const int copies = copies_of(&k->mapping->strategy[layer]),
                      place = r % set_size(k, layer);
            for (int e = 0; e < size_of(k, layer); e++)
                n += is_copy(k, layer, r, k->owner[layer + 1][e]);
            if (place % copies != place / copies % copies) /* another one of them leaves */
                n = 0;
            if (host >= 0 && n > 0) {
                last = expect(k, TH_TASK_TRANSFER, layer, node_of(k, layer, r), host,
                              bytes_of(n, w->layers[layer].precision[TH_TENSOR_OUTPUT]));
                must_wait(k, last, k->final[layer][r], "its output");
            }
            k->outputs[pass][k->n_outputs[pass]++] = last;
        }
    }
}

static void begin_pass(book *k, const th_stream *s, int pass, int in_flight)
{
    k->pass = pass;
    k->input = pass / s->micro_batches;
    int32_t i = pass % s->micro_batches, n = s->micro_batches, b = k->workload->batch;
    k->batch = (i + 1) * b / n - i * b / n;
    k->release = expect(k, TH_TASK_HOST, -1, -1, -1, 0);
    if (k->release >= 0 && k->program->tasks[k->release].release_ps != k->input * s->interval_ps)
        wrong("pass %d is released at the wrong time", pass);
    for (int o = 0; pass >= in_flight && o < k->n_outputs[pass - in_flight]; o++)
        must_wait(k, k->release, k->outputs[pass - in_flight][o], "the pass that makes room");
    for (int t = -1; t < k->workload->n_layers; t++) {
        bool is_here = t < 0 && k->system->n_hosts == 0;
        for (int e = 0; e < size_of(k, t); e++) {
            k->owner[t + 1][e] = -1;
            for (int a = 0; a < k->system->n_accels; a++)
                k->here[t + 1][a][e] = is_here ? FROM_THE_START : NOWHERE;
        }
    }
}

static void find_ancestors(book *k)
{
    const th_program *p = k->program;
    k->words = (size_t)p->n_tasks / 64 + 1;
    k->ancestors = th_alloc_zero((size_t)p->n_tasks * k->words, sizeof *k->ancestors);
    for (int32_t t = 0; t < p->n_tasks; t++) {
        for (int32_t i = p->successor_start[t]; i < p->successor_start[t + 1]; i++) {
            int32_t s = p->successors[i];
            if (s <= t)
                wrong("task %d waits for the later task %d", s, t);
            uint64_t *to = &k->ancestors[(size_t)s * k->words];
            for (size_t x = 0; x < k->words; x++)
                to[x] |= k->ancestors[(size_t)t * k->words + x];
            to[t / 64] |= (uint64_t)1 << (t % 64);
        }
    }
}

/* --- replay ----------------------------------------------------------------------------------- */

static void must_replay(const book *k)
{
    th_error e = {"", ""};
    th_machine *m = th_machine_new(k->system, k->costs, NULL, &e);
    th_result r = {0};
    if (!m || th_machine_load(m, k->program, &e) ||
        th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE || th_machine_result(m, &r, &e)) {
        wrong("does not replay: %s %s", e.id, e.text);
        th_machine_free(m);
        return;
    }
    for (int a = 0; a < r.n_accels; a++) {
        const th_accel_result *x = &r.accels[a];
        if (x->sent_bytes != k->sent[a] || x->received_bytes != k->received[a])
            wrong("accelerator %d: %lld bytes sent, %lld received, must be %lld, %lld", a,
                  (long long)x->sent_bytes, (long long)x->received_bytes, (long long)k->sent[a],
                  (long long)k->received[a]);
        if (x->stats.busy_ps + th_stats_stall_in(&x->stats) + x->stats.stall_ps[TH_ENGINE_OUTPUT] +
                x->idle_ps !=
            r.elapsed_ps)
            wrong("accelerator %d: times do not add up", a);
    }
    th_result_clear(&r);
    th_machine_free(m);
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool has_layers(const th_mapping *m, int set)
{
    bool has = false;
    for (int l = 0; l < m->n_layers; l++)
        has |= m->set_of[l] == set;
    return has;
}

/* Sets with layers, the smallest first, that share no accelerator with one before. */
static int32_t sets_at_once(const book *k)
{
    uint64_t taken = 0;
    int32_t n = 0;
    for (int size = 1; size <= k->system->n_accels; size++)
        for (int i = 0; i < k->mapping->n_sets; i++) {
            uint64_t members = 0;
            for (int r = 0; r < k->mapping->sets[i].n_accels; r++)
                members |= (uint64_t)1 << k->mapping->sets[i].accels[r];
            if (k->mapping->sets[i].n_accels != size || !has_layers(k->mapping, i) ||
                (members & taken))
                continue;
            taken |= members;
            n++;
        }
    return n;
}

static void check_program(book *k, const th_lower *lower, const th_stream *stream)
{
    int32_t sets = sets_at_once(k), passes = stream->n_inputs * stream->micro_batches;
    find_ancestors(k);
    for (int pass = 0; pass < passes && n_wrong == 0; pass++) {
        begin_pass(k, stream, pass, stream->in_flight > 0 ? stream->in_flight : sets);
        for (int layer = 0; layer < k->workload->n_layers && n_wrong == 0; layer++)
            expect_layer(k, layer, lower);
        if (n_wrong == 0)
            expect_outputs(k, pass);
    }
    if (n_wrong == 0 && k->next != k->program->n_tasks)
        wrong("%d tasks too many", k->program->n_tasks - k->next);
    if (n_wrong == 0)
        must_replay(k);
    th_free(k->ancestors);
}

int th_oracle_check(const th_system *s, const th_workload *w, const th_mapping *m,
                    const th_stream *stream, const th_lower *lower, const th_program *program)
{
    static book k;
    memset(&k, 0, sizeof k);
    k.system = s;
    k.workload = w;
    k.mapping = m;
    k.costs = th_lower_costs(lower);
    k.program = program;
    n_wrong = 0;
    check_program(&k, lower, stream);
    return n_wrong;
}
