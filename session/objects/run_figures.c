/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_figures.c - the figures of a whole run: those of report_summary, and what was run. */
#include <config.h>
#include <string.h>
#include "base/min_max.h"
#include "session/objects/class_attributes.h"
#include "session/objects/figures.h"
#include "session/model_error.h"

const th_attribute th_run_attributes[] = {
    {"system", TH_KIND_TEXT, "name of the system", .of = TH_OF_INPUT},
    {"workload", TH_KIND_TEXT, "name of the workload, or of the program", .of = TH_OF_INPUT},
    {"mapping", TH_KIND_TEXT, "digest of the mapping, or of the program", .of = TH_OF_INPUT},
    {"state", TH_KIND_TEXT, "done, or where the run stands", .of = TH_OF_MOMENT},
    {"makespan", TH_KIND_TIME, "time from the start to the end of the run", .is_detail = true},
    {"tasks", TH_KIND_COUNT, "compute tasks, transfers, collectives and host tasks of the program",
     .is_detail = true},
    {"tasks_done", TH_KIND_COUNT, "tasks that have ended", .of = TH_OF_MOMENT},
    {"events", TH_KIND_COUNT, "events that the simulator processed", .is_detail = true},
    {"link_utilization", TH_KIND_SHARE,
     "time with a flow / elapsed time, mean over the links that carried something",
     .heading = "used links busy"},
    {"moved", TH_KIND_BYTES, "bytes of all transfers over the network, each counted once",
     .heading = "moved over the network", .is_detail = true},
    {"energy", TH_KIND_ENERGY, "energy of the run, with the static power of all accelerators"},
    {"latency", TH_KIND_TIME, "mean time from the arrival of an input to its end"},
    {"throughput", TH_KIND_RATE, "samples per second in the steady state",
     .heading = "throughput, samples"},
    {"batch_throughput", TH_KIND_RATE, "batches in the steady state",
     .heading = "throughput, batches"},
    {"inputs_done", TH_KIND_COUNT, "inputs that have left the system", .is_detail = true},
    {"macs", TH_KIND_COUNT, "multiply-accumulates of the inputs that are done",
     .heading = "multiply-accumulates", .is_detail = true},
    {"achieved_macs", TH_KIND_RATE, "multiply-accumulates per second of makespan",
     .heading = "achieved, MACs", .is_detail = true},
    {"accel_utilization", TH_KIND_SHARE,
     "busy time of the arrays / elapsed time, mean over the accelerators",
     .heading = "accelerators busy"},
    {"dram", TH_KIND_BYTES, "bytes that accelerators read from and wrote to their DRAM",
     .heading = "moved to and from DRAM", .is_detail = true},
    {"expansions", TH_KIND_COUNT,
     "compute tasks simulated tile by tile, because transfers shared their DRAM",
     .is_detail = true},
    {"model_error", TH_KIND_SHARE, "of its models, the largest that is known", .is_detail = true},
    {"tokens", TH_KIND_RATE, "of a step of training, its tokens / its time",
     .heading = "tokens per s", .is_detail = true},
    {"accel_tokens", TH_KIND_RATE, "the same / ranks", .heading = "tokens per s and accelerator",
     .is_detail = true},
    {"tokens_per_joule", TH_KIND_NUMBER, "the same / the energy of the ranks in the step",
     .heading = "tokens per J", .is_detail = true},
    {"model_utilization", TH_KIND_SHARE,
     "operations of the model, attention causal / what the ranks' 16-bit peak does in a step",
     .is_detail = true},
    {"hardware_utilization", TH_KIND_SHARE, "the same, with the operations computed again",
     .is_detail = true},
    {"accel_memory", TH_KIND_BYTES,
     "of a step of training, what an accelerator of its fullest stage needs", .is_detail = true},
    TH_ENERGY_ATTRIBUTES(NULL),
    {.name = NULL},
};
enum {
    N = sizeof th_run_attributes / sizeof *th_run_attributes - 1,
    LATENCY = 11,
    N_OF_STEP = 6,
    OF_STEP = N - TH_N_ENERGY_ATTRIBUTES - N_OF_STEP,
    MODEL_ERROR = OF_STEP - 1 /* between LATENCY and it: of a workload alone */
};

const char *th_run_figure_name(int i)
{
    const th_attribute *a = th_run_attributes;
    while (a->name && (a->of != TH_OF_RUN || a->kind == TH_KIND_TEXT || i-- > 0))
        a++;
    return a->name;
}

static int64_t dram_bytes(const th_result *result)
{
    int64_t sum = 0;
    for (int a = 0; a < result->n_accels; a++)
        sum += th_stats_read(&result->accels[a].stats) +
               result->accels[a].stats.moved_bytes[TH_ENGINE_OUTPUT];
    return sum;
}

static int32_t inputs_done(const th_result *result)
{
    int32_t n = 0;
    for (int32_t i = 0; i < result->n_inputs; i++)
        n += result->input_end_ps[i] >= 0;
    return n;
}

static void put_work(const th_session *s, const th_result *x, th_quantity *cells)
{
    int64_t samples = th_workload_samples(s->workload);
    int32_t done = inputs_done(x);
    int64_t macs = th_workload_macs(s->workload) * done;
    bool has_time = x->elapsed_ps > 0 && done > 0;
    double batches = th_result_throughput(x);
    const th_quantity all[MODEL_ERROR - LATENCY - 1] = {
        x->is_done ? th_rate((double)samples * batches) : th_absent(TH_KIND_RATE),
        x->is_done ? th_rate(batches) : th_absent(TH_KIND_RATE),
        th_count(done),
        th_count(macs),
        has_time ? th_rate((double)macs * (double)TH_PS_PER_S / (double)x->elapsed_ps)
                 : th_absent(TH_KIND_RATE),
        th_share(th_result_accel_utilization(x)),
        th_bytes(dram_bytes(x)),
        th_count(x->n_expanded),
    };
    memcpy(cells, all, sizeof all);
}

/* Known where the accelerators have a static power, as search_plan needs it. */
static th_quantity tokens_per_joule(const th_session *s, double tokens, double seconds)
{
    double joules = s->simulation->step ? th_simulation_step_j(s->simulation, seconds) : 0;
    return joules > 0 && s->simulation->result.energy.static_j > 0 ? th_number(tokens / joules)
                                                                   : th_absent(TH_KIND_NUMBER);
}

static void put_step(const th_session *session, const th_training_step *x, const th_result *r,
                     th_quantity *cells)
{
    const th_batch *b = &x->plan.batch;
    double s = th_seconds(r->elapsed_ps), tokens = (double)b->global_batch * b->sequence;
    double peak = x->device.operations_per_s * x->n_ranks * s;
    double model = tokens * th_transformer_operations(&x->model, b->sequence, !x->model.is_encoder);
    double again = x->plan.recompute >= TH_RECOMPUTE_NEEDED ? 4.0 / 3 : 1;
    int64_t memory = 0;
    for (int32_t i = 0; i < x->plan.n.pipeline; i++)
        memory = th_max(memory, th_plan_memory_sum(&x->memory[i]));
    const th_quantity all[N_OF_STEP] = {th_rate(th_ratio(tokens, s)),
                                        th_rate(th_ratio(tokens, s * x->n_ranks)),
                                        tokens_per_joule(session, tokens, s),
                                        th_share(th_ratio(model, peak)),
                                        th_share(th_ratio(model * again, peak)),
                                        th_bytes(memory)};
    memcpy(cells, all, sizeof all);
}

static void run_row(th_session *s, int32_t row, th_quantity *cells)
{
    char digest[20];
    const th_result *x = th_run_result(s);
    (void)row;
    for (int i = 0; i < N; i++)
        cells[i] = th_absent(th_run_attributes[i].kind);
    if (!x)
        return;
    /* where one rank of a step stands for others, its messages are on no link */
    const th_training_step *step = th_session_step(s);
    bool is_merged = step && step->is_merged;
    th_strbuf_clear(&s->text.scratch);
    th_strbuf_add(&s->text.scratch, th_session_digest(s, digest, sizeof digest));
    double error = th_models_error(th_models_of(s, x));
    const th_quantity all[LATENCY + 1] = {
        th_text(s->system->name),
        th_text(s->hand_built ? s->hand_built->name : s->workload->name),
        th_text(s->text.scratch.text),
        th_text(x->is_done ? "done" : "stopped"),
        th_ps(x->elapsed_ps),
        th_count(x->n_tasks),
        th_count(th_machine_tasks_done(s->simulation->machine)),
        th_count(x->n_events),
        is_merged ? th_absent(TH_KIND_SHARE) : th_share(th_result_link_utilization(x)),
        is_merged ? th_absent(TH_KIND_BYTES) : th_bytes(x->moved_bytes),
        x->has_energy ? th_joules(th_result_energy_j(x)) : th_absent(TH_KIND_ENERGY),
        inputs_done(x) > 0 ? th_ps(th_simulation_latency(s->simulation, x))
                           : th_absent(TH_KIND_TIME),
    };
    memcpy(cells, all, sizeof all);
    cells[MODEL_ERROR] = error > 0 ? th_share(error / 100) : th_absent(TH_KIND_SHARE);
    for (int i = 0; i < TH_N_ENERGY_ATTRIBUTES; i++)
        cells[N - TH_N_ENERGY_ATTRIBUTES + i] = th_energy_part(x, &x->energy, i);
    if (!s->hand_built)
        put_work(s, x, &cells[LATENCY + 1]);
    if (step && x->is_done)
        put_step(s, step, x, &cells[OF_STEP]);
}

static int32_t count_runs(const th_session *s)
{
    (void)s;
    return 1;
}

const th_figures th_figures_of_run = {"run", th_session_need_run, count_runs, th_run_attributes,
                                      .row = run_row};
