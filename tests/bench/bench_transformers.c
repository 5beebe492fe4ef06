/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_transformers.c - whole transformers, predicted as the sum of their operators' kernels,
 * against measured runs (PyTorch, single precision, one operator at a time).
 *   bench transformers FOLDER   FOLDER: of neusight/
 *   learn from train_*.csv.xz -> { operators of a run -> sum } of whole_models.csv.xz -> errors per
 *   GPU
 * A run has embeddings and layers, but no head over the vocabulary: with one, predictions are 4 to
 * 9 % longer, and nearly all of them too long. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "predictor/model/predictor.h"
#include "predictor/data/decompress.h"
#include "tests/bench/bench.h"

typedef struct {
    const char *name;
    int hidden, heads, layers, inner;
    th_op_function activation;
    bool is_split;    /* queries, keys and values by three products, else by one */
    bool is_composed; /* the activation is computed by eight kernels: gelu by tanh and powers */
} transformer;

static const transformer transformers[] = {
    {"bert_large", 1024, 16, 24, 4096, TH_EW_GELU, true, false},
    {"gpt2_large", 1280, 20, 36, 5120, TH_EW_GELU, false, true},
    {"gpt3_xl", 3072, 24, 24, 12288, TH_EW_GELU, false, true},
    {"gpt3_27", 2560, 32, 32, 10240, TH_EW_GELU, false, true},
    {"opt_13", 2048, 32, 24, 8192, TH_EW_RELU, true, false},
};
enum { N_TRANSFORMERS = sizeof transformers / sizeof transformers[0] };

/* What a run is summed up in. */
typedef struct {
    const th_predictor *predictor;
    const th_gpu *gpu;
    double ms;
} run;

static void add(run *r, double times, const th_op *op)
{
    const th_layer_model *m = th_predictor_find(r->predictor, op->kind, TH_PHASE_EXECUTION);
    r->ms += times * th_layer_model_predict(m, op, r->gpu);
}

static void dense(run *r, double times, int rows, int in, int out)
{
    add(r, times,
        &(th_op){TH_OP_DENSE,
                 {[TH_OP_BATCH] = rows, [TH_OP_CHANNELS_IN] = in, [TH_OP_CHANNELS_OUT] = out}});
}

static void matmul(run *r, double times, int batch, int rows, int in, int out)
{
    add(r, times,
        &(th_op){TH_OP_MATMUL,
                 {[TH_OP_BATCH] = batch,
                  [TH_OP_ROWS] = rows,
                  [TH_OP_CHANNELS_IN] = in,
                  [TH_OP_CHANNELS_OUT] = out}});
}

static void rows_of(run *r, double times, th_op_kind kind, th_op_function function, int rows,
                    int columns)
{
    add(r, times,
        &(th_op){kind,
                 {[TH_OP_BATCH] = rows,
                  [TH_OP_CHANNELS_IN] = columns,
                  [TH_OP_FUNCTION] = (int32_t)function}});
}

static void each(run *r, double times, th_op_function function, int rows, int columns)
{
    rows_of(r, times, TH_OP_ELEMENTWISE, function, rows, columns);
}

/* Of one layer, batch x sequence tokens. */
static void forward(run *r, const transformer *t, int batch, int sequence, bool trains)
{
    int tokens = batch * sequence, h = t->hidden, lines = batch * t->heads * sequence;
    dense(r, t->is_split ? 3 : 1, tokens, h, t->is_split ? h : 3 * h);
    each(r, 4, TH_EW_ADD_NUMBER, tokens, h); /* heads apart and together again: copies */
    matmul(r, 1, batch * t->heads, sequence, h / t->heads, sequence);
    each(r, 1, TH_EW_DIV_NUMBER, lines, sequence);
    each(r, 1, TH_EW_ADD, lines, sequence); /* the mask */
    rows_of(r, 1, TH_OP_SOFTMAX, 0, lines, sequence);
    matmul(r, 1, batch * t->heads, sequence, sequence, h / t->heads);
    dense(r, 1, tokens, h, h);
    dense(r, 1, tokens, h, t->inner);
    each(r, 1, t->is_composed ? TH_EW_TANH : t->activation, tokens, t->inner);
    if (t->is_composed) {
        each(r, 1, TH_EW_POW_NUMBER, tokens, t->inner);
        each(r, 3, TH_EW_MUL_NUMBER, tokens, t->inner);
        each(r, 1, TH_EW_ADD_NUMBER, tokens, t->inner);
        each(r, 1, TH_EW_ADD, tokens, t->inner);
        each(r, 1, TH_EW_MUL, tokens, t->inner);
    }
    dense(r, 1, tokens, t->inner, h);
    each(r, 2, TH_EW_ADD, tokens, h);
    rows_of(r, 2, TH_OP_NORM, 0, tokens, h);
    if (trains) { /* dropout: of attention, and of both branches */
        each(r, 1, TH_EW_MUL_NUMBER, lines, sequence);
        each(r, 2, TH_EW_MUL_NUMBER, tokens, h);
    }
}

/* Gradients of the input and of the weights. */
static void dense_back(run *r, double times, int rows, int in, int out)
{
    dense(r, times, rows, out, in);
    dense(r, times, in, rows, out);
    each(r, times, TH_EW_ADD_NUMBER, rows, out); /* of the bias: a sum over rows */
}

static void backward(run *r, const transformer *t, int batch, int sequence)
{
    int tokens = batch * sequence, h = t->hidden, lines = batch * t->heads * sequence,
        depth = h / t->heads;
    dense_back(r, t->is_split ? 3 : 1, tokens, h, t->is_split ? h : 3 * h);
    dense_back(r, 1, tokens, h, h);
    dense_back(r, 1, tokens, h, t->inner);
    dense_back(r, 1, tokens, t->inner, h);
    matmul(r, 3, batch * t->heads, sequence, sequence, depth);
    matmul(r, 1, batch * t->heads, sequence, depth, sequence);
    each(r, 2, TH_EW_MUL, lines, sequence); /* softmax, dropout */
    each(r, 1, TH_EW_DIV_NUMBER, lines, sequence);
    each(r, 4, TH_EW_ADD_NUMBER, tokens, h);
    each(r, t->is_composed ? 5 : 1, TH_EW_MUL, tokens, t->inner);
    each(r, t->is_composed ? 4 : 0, TH_EW_MUL_NUMBER, tokens, t->inner);
    each(r, t->is_composed ? 2 : 0, TH_EW_ADD, tokens, t->inner);
    each(r, 2, TH_EW_MUL, tokens, h);        /* dropout */
    each(r, 2, TH_EW_ADD, tokens, h);        /* branches meet */
    rows_of(r, 4, TH_OP_NORM, 0, tokens, h); /* two sums and a pass each */
}

/* ms of a run: forward, and backward if it trains. */
static double predicted(const th_predictor *p, const transformer *t, const th_gpu *gpu, int batch,
                        int sequence, bool trains)
{
    run layer = {p, gpu, 0}, once = {p, gpu, 0};
    forward(&layer, t, batch, sequence, trains);
    if (trains)
        backward(&layer, t, batch, sequence);
    each(&once, trains ? 4 : 2, TH_EW_ADD, batch * sequence, t->hidden); /* embeddings */
    rows_of(&once, trains ? 3 : 1, TH_OP_NORM, 0, batch * sequence, t->hidden);
    return t->layers * layer.ms + once.ms;
}

typedef struct {
    double sum;
    int n;
} mean;

/* batch,device,mode,model,option,seqlen,bwall_latency,e2e_latency,fw_latency,num_layer */
static void compare(const th_predictor *p, const th_gpus *known, char *line, mean (*error)[2])
{
    enum { BATCH, DEVICE, MODE, MODEL, OPTION, SEQUENCE, BACKWARD, WHOLE, FIELDS = 10 };
    char *field[FIELDS] = {line};
    for (int i = 1; i < FIELDS; i++) {
        char *comma = strchr(field[i - 1], ',');
        if (!comma)
            return;
        *comma = '\0';
        field[i] = comma + 1;
    }
    const th_gpu *gpu = th_gpus_find(known, field[DEVICE]);
    bool trains = strcmp(field[MODE], "train") == 0;
    for (int i = 0; gpu && field[OPTION][0] == '\0' && i < N_TRANSFORMERS; i++) {
        if (strcmp(transformers[i].name, field[MODEL]) != 0)
            continue;
        double ms = predicted(p, &transformers[i], gpu, atoi(field[BATCH]), atoi(field[SEQUENCE]),
                              trains),
               measured = atof(field[WHOLE]);
        printf("%-9s %-5s %-10s batch %2s sequence %4s  measured %7.1f ms, predicted %7.1f  "
               "%+5.1f %%\n",
               gpu->name, field[MODE], field[MODEL], field[BATCH], field[SEQUENCE], measured, ms,
               100 * (ms / measured - 1));
        mean *m = &error[gpu - known->gpu][trains];
        m->sum += fabs(ms / measured - 1);
        m->n++;
    }
}

static th_predictor *learn(const char *folder, const th_gpus *known, th_error *e)
{
    static const char *const files[] = {"linear", "bmm", "elem", "ln", "softmax"};
    th_measurements *m = th_measurements_new();
    int failed = 0;
    for (int i = 0; !failed && i < 5; i++) {
        char path[500];
        snprintf(path, sizeof path, "%s/train_%s.csv.xz", folder, files[i]);
        failed = th_measurements_read(m, &(th_measurement_source){.path = path}, known, e);
    }
    size_t *rows = th_alloc_array(m->n_rows + 1, sizeof *rows);
    for (size_t i = 0; i < m->n_rows; i++)
        rows[i] = i;
    th_predictor *p = failed ? NULL : th_predictor_train(m, rows, m->n_rows, &th_train_defaults, e);
    th_free(rows);
    th_measurements_free(m);
    return p;
}

int th_bench_transformers(char **argv, int argc)
{
    th_gpus known = {.gpu = NULL};
    th_error e = {"", ""};
    th_strbuf text = TH_STRBUF_INIT;
    char path[500];
    snprintf(path, sizeof path, "%s/whole_models.csv.xz", argc > 0 ? argv[0] : ".");
    th_predictor *p = NULL;
    if (argc < 1 || th_gpus_read(&known, "predictor/devices.csv", NULL, &e) ||
        th_decompress_file(path, 1 << 20, &text, &e) || !(p = learn(argv[0], &known, &e))) {
        printf("bench transformers FOLDER %s\n", e.text);
        return 2;
    }
    mean(*error)[2] = th_alloc_zero((size_t)known.n, sizeof *error);
    for (char *line = strtok(text.text, "\r\n"); line; line = strtok(NULL, "\r\n"))
        compare(p, &known, line, error);
    for (int i = 0; i < known.n; i++)
        for (int trains = 0; trains < 2; trains++)
            if (error[i][trains].n > 0)
                printf("%s %s: mean %.1f %% of %d\n", known.gpu[i].name,
                       trains ? "training" : "inference",
                       100 * error[i][trains].sum / error[i][trains].n, error[i][trains].n);
    th_free(error);
    th_strbuf_clear(&text);
    th_predictor_free(p);
    th_gpus_clear(&known);
    return 0;
}
