/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stage_figures.c - the stages of a step of training as a class of figures: their memory and
 * layers, and, once the step is done, what they do and wait for (session/step_times.h). */
#include <config.h>
#include "base/min_max.h"
#include "session/objects/class_attributes.h"
#include "session/objects/figures.h"
#include "session/step_times.h"

#define TIME(name, member, help, title)                                                            \
    {                                                                                              \
        name, TH_KIND_TIME, help, .heading = title, TH_AT(th_stage_times, member)                  \
    }
#define EXPOSED(name, kind, help)                                                                  \
    TIME("exposed_" name, exposed_ps[kind], "waits for messages " help, name)
#define WORK(name, part, help) TIME("work_" name, work_ps[part], "kernels: " help, name)

static const th_attribute stage_attributes[] = {
    {"ranks", TH_KIND_COUNT, "tensor x context x data"},
    {"weights", TH_KIND_BYTES, "memory of a rank: weights"},
    {"gradients", TH_KIND_BYTES, "gradients"},
    {"states", TH_KIND_BYTES, "states of the optimizer"},
    {"activations", TH_KIND_BYTES, "activations"},
    {"buffers", TH_KIND_BYTES, "buffers"},
    {"memory", TH_KIND_BYTES, "of an accelerator, as report_memory has it by term"},
    {"memory_share", TH_KIND_SHARE, "memory / memory of the accelerator", .heading = "share"},
    {"layers", TH_KIND_TEXT, "first and last of each chunk"},
    {"accels", TH_KIND_TEXT, "numbers, in the order of the ranks", .heading = "accelerators"},
    TIME("end", end_ps, "of its rank that ends last, and of the messages behind it", NULL),
    TIME("compute", compute_ps, "time that it computes", "computation"),
    TIME("optimizer", optimizer_ps, "its update of weights", NULL),
    TIME("bubble", bubble_ps, "waits for what other stages compute: the sum of the next four",
         NULL),
    TIME("bubble_warm_up", warm_up_ps, "before it first computes backward", "warm-up"),
    TIME("bubble_drain", drain_ps, "after it last computes forward", "drain"),
    TIME("bubble_imbalance", imbalance_ps, "of the rest, what the busiest stage computes longer",
         "imbalance"),
    TIME("bubble_waiting", waiting_ps,
         "what remains: the order of operations, and messages between other stages", "waiting"),
    EXPOSED("tensor", TH_STEP_TENSOR, "of tensor ranks"),
    EXPOSED("context", TH_STEP_CONTEXT, "of context ranks"),
    EXPOSED("expert", TH_STEP_EXPERT, "of the ranks that share experts"),
    EXPOSED("data", TH_STEP_DATA, "of weights and gradients"),
    EXPOSED("pipeline", TH_STEP_PIPELINE, "between stages"),
    WORK("products", TH_WORK_PRODUCTS, "products"),
    WORK("attention", TH_WORK_ATTENTION, "scores and what they weigh"),
    WORK("norms", TH_WORK_NORMS, "norms and sums"),
    WORK("rotary", TH_WORK_ROTARY, "rotary embedding"),
    WORK("activations", TH_WORK_ACTIVATIONS, "activations of feed-forward networks"),
    WORK("tokens", TH_WORK_TOKENS, "copies of tokens for experts"),
    WORK("casts", TH_WORK_CASTS, "casts to 8 or 4 bits"),
    WORK("embedding", TH_WORK_EMBEDDING, "embedding"),
    WORK("logits", TH_WORK_LOGITS, "passes over logits"),
    WORK("optimizer", TH_WORK_OPTIMIZER, "optimizer"),
    WORK("overlap", TH_WORK_OVERLAP, "what they lose to messages beside them"),
    WORK("host", TH_WORK_HOST, "what they wait for the host that launches them"),
    {.name = NULL},
};

enum { LIST_MAX = 40 }; /* characters; what goes on is cut off */

/* "0-3, 8-11": numbers of accelerators of a stage, in the order of its ranks, while they fit. */
static void add_stage_accels(const th_training_step *x, int32_t stage, th_strbuf *out)
{
    int32_t n = th_plan_stage_ranks(&x->plan), last;
    for (int32_t first = 0; first < n; first = last + 1) {
        int32_t from = th_plan_accel(&x->plan, stage, first);
        last = first;
        while (last + 1 < n && th_plan_accel(&x->plan, stage, last + 1) == from + last + 1 - first)
            last++;
        if (out->length >= LIST_MAX) {
            th_strbuf_add(out, ", ...");
            return;
        }
        th_strbuf_printf(out, last == first ? "%s%d" : "%s%d-%d", out->length > 0 ? ", " : "",
                         (int)from, (int)(from + last - first));
    }
}

/* "0-7, 16-23": the layers of the chunks of a stage. */
static void add_stage_layers(const th_training_step *x, int32_t stage, th_strbuf *out)
{
    const th_parallel_plan *p = &x->plan;
    th_pipeline_schedule s = {.shape = {p->n.pipeline, p->n.chunks, 1},
                              .is_v = p->schedule && p->schedule->is_v};
    for (int32_t chunk = 0; chunk < p->n.chunks && out->length < LIST_MAX; chunk++) {
        th_layer_range r = th_plan_layers(p, &x->model, th_pipeline_step(&s, stage, chunk));
        if (r.n > 0)
            th_strbuf_printf(out, "%s%d-%d", out->length > 0 ? ", " : "", (int)r.first,
                             (int)(r.first + r.n - 1));
    }
    if (out->length == 0)
        th_strbuf_add(out, "none");
}

static int32_t count_stages(const th_session *s)
{
    return th_session_step(s) ? th_session_step(s)->plan.n.pipeline : 0;
}

enum { MEMORY = 1, LAYERS = 3 + TH_N_MEMORY_TERMS, TIMES = LAYERS + 2 };

static void stage_row(th_session *s, int32_t row, th_quantity *cells)
{
    const th_training_step *x = th_session_step(s);
    const int32_t n = th_plan_stage_ranks(&x->plan);
    const int64_t sum = th_plan_memory_sum(&x->memory[row]);
    int64_t room = INT64_MAX; /* of the accelerator that has least */
    for (int32_t i = 0; i < n; i++)
        room = th_min(
            room,
            s->system->nodes[s->system->accel_node[th_plan_accel(&x->plan, row, i)]].a.dram_bytes);
    cells[0] = th_count(n);
    for (int i = 0; i < TH_N_MEMORY_TERMS; i++)
        cells[MEMORY + i] = th_bytes(x->memory[row].of[i]);
    cells[LAYERS - 2] = th_bytes(sum);
    cells[LAYERS - 1] = th_share(th_ratio((double)sum, (double)room));
    th_strbuf layers = TH_STRBUF_INIT, accels = TH_STRBUF_INIT;
    add_stage_layers(x, row, &layers);
    add_stage_accels(x, row, &accels);
    th_put_texts(s, &layers, &accels, &cells[LAYERS]);
    const th_stage_times *times = th_session_stage_times(s, &s->text.scratch.failed);
    for (int i = TIMES; stage_attributes[i].name; i++)
        cells[i] = th_attribute_at(&stage_attributes[i], times ? &times[row] : NULL);
}

const th_figures th_figures_of_stages = {"stages", th_figures_need_tasks, count_stages,
                                         stage_attributes, .row = stage_row};
