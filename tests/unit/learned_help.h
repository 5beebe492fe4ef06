/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learned_help.h - a predictor of two GPUs of round numbers, learned from times that follow a rule.
 *   learned_new -> ... -> th_predictor_free;  learned_file writes it into a file
 * Whether a bias is there makes no difference. Executions move input, weights and output once;
 * calls have besides CALL_MS of the host, and the output's way to it at 10 GB/s. */
#ifndef TH_TESTS_UNIT_LEARNED_HELP_H
#define TH_TESTS_UNIT_LEARNED_HELP_H
#include "base/alloc.h"
#include "base/random.h"
#include "predictor/model/predictor.h"
#include "tests/unit/predict_help.h"

enum { LEARNED_ROWS = 60 };
static const double CALL_MS = 0.25;

static inline double moves_ms(const th_op *op, const th_gpu *gpu)
{
    return (th_op_input_bytes(op) + th_op_weight_bytes(op) + th_op_output_bytes(op)) /
           (gpu->x[TH_GPU_BANDWIDTH] * 1e6);
}

static inline double call_ms(const th_op *op, const th_gpu *gpu)
{
    return CALL_MS + moves_ms(op, gpu) + th_op_output_bytes(op) / 1e7;
}

static inline int32_t drawn(gsl_rng *r, int most)
{
    return 1 + (int32_t)th_random_below(r, (uint32_t)most);
}

static inline th_op drawn_op(gsl_rng *r, th_op_kind kind)
{
    th_op op = {kind, {0}};
    op.x[TH_OP_BATCH] = drawn(r, 64);
    op.x[TH_OP_CHANNELS_IN] = drawn(r, 512);
    if (th_op_has(kind, TH_OP_CHANNELS_OUT))
        op.x[TH_OP_CHANNELS_OUT] = drawn(r, 512);
    if (kind == TH_OP_MATMUL)
        op.x[TH_OP_ROWS] = drawn(r, 200);
    if (th_op_has(kind, TH_OP_IN_H)) {
        op.x[TH_OP_KERNEL_H] = op.x[TH_OP_KERNEL_W] = drawn(r, 3);
        op.x[TH_OP_IN_H] = op.x[TH_OP_IN_W] = 3 + drawn(r, 30);
        op.x[TH_OP_STRIDE_H] = op.x[TH_OP_STRIDE_W] = 1;
    }
    return op;
}

static inline void add_rows(th_strbuf *text, const th_gpus *gpus, gsl_rng *r, th_op_kind kind,
                            th_phase phase)
{
    for (int i = 0; i < LEARNED_ROWS; i++) {
        th_op op = drawn_op(r, kind);
        for (int g = 0; g < gpus->n; g++) {
            const th_gpu *gpu = &gpus->gpu[g];
            th_strbuf_printf(text, "%s,%s,%s,%d", th_op_kind_name(kind), gpu->name,
                             th_phase_name(phase), i);
            for (int f = 0; f <= TH_OP_STRIDE_W; f++)
                th_strbuf_printf(text, ",%d", op.x[f]);
            th_strbuf_printf(text, ",%.9g\n",
                             phase == TH_PHASE_CALL ? call_ms(&op, gpu) : moves_ms(&op, gpu));
        }
    }
}

static inline th_measurements *measured(const th_gpus *gpus, const th_op_kind *kinds,
                                        const th_phase *phases, int n)
{
    auto_strbuf text = TH_STRBUF_INIT;
    auto_rng *r = th_random_stream(5, "learned", 0);
    th_error e = {"", ""};
    th_strbuf_printf(&text, "kind,device,phase,row_id");
    for (int f = 0; f <= TH_OP_STRIDE_W; f++)
        th_strbuf_printf(&text, ",%s", th_op_field_name((th_op_field)f));
    th_strbuf_printf(&text, ",time_ms\n");
    for (int i = 0; i < n; i++)
        add_rows(&text, gpus, r, kinds[i], phases[i]);
    auto_file f = write_text("some.csv", text.text);
    th_measurement_source source = {.path = f.path, .format = "tharsis"};
    th_measurements *m = th_measurements_new();
    if (!m || th_measurements_read(m, &source, gpus, &e)) {
        printf("# %s\n", e.text);
        abort();
    }
    return m;
}

/* Of n pairs of kind and phase. */
static inline th_predictor *learned_new(const th_op_kind *kinds, const th_phase *phases, int n)
{
    auto_gpus gpus = two_gpus();
    auto_measurements *m = measured(&gpus, kinds, phases, n);
    size_t *rows = th_alloc_array(m->n_rows, sizeof *rows);
    th_train_options o = th_train_defaults;
    th_error e = {"", ""};
    for (size_t i = 0; i < m->n_rows; i++)
        rows[i] = i;
    o.learner = TH_CHOICE_SINGLE + TH_LEARNER_law;
    th_predictor *p = th_predictor_train(m, rows, m->n_rows, &o, &e);
    if (!p) {
        printf("# %s\n", e.text);
        abort();
    }
    th_free(rows);
    return p;
}

/* Of conv and dense, calls of both and executions of dense. */
static inline th_predictor *learned_some(void)
{
    const th_op_kind kinds[] = {TH_OP_CONV, TH_OP_DENSE, TH_OP_DENSE, TH_OP_MATMUL};
    const th_phase phases[] = {TH_PHASE_CALL, TH_PHASE_CALL, TH_PHASE_EXECUTION,
                               TH_PHASE_EXECUTION};
    return learned_new(kinds, phases, 4);
}

static inline temporary_file learned_file(void)
{
    auto_strbuf text = TH_STRBUF_INIT;
    auto_predictor *p = learned_some();
    th_predictor_write(p, &text);
    return write_bytes("some.model", text.text, text.length);
}

#endif
