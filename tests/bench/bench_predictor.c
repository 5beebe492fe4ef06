/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_predictor.c - how far predicted layer times are from measured ones that were not in training.
 *   bench predictor FOLDER [conv|pooling|dense]   FOLDER: of perfnet/
 * LOO=1 in the environment: also each device in turn, when the others alone were learned from. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/layer_model.h"
#include "tests/bench/bench.h"

static bool is_held_out(const th_measurement *r)
{
    return th_hash(&r->row_id, sizeof r->row_id, 7) % 5 == 0;
}

static void report(const th_layer_model *model, const th_measurements *m, bool of_all)
{
    double sum = 0;
    for (int d = 0; d < m->n_devices; d++) {
        double error = 0;
        int n = 0;
        for (size_t i = 0; i < m->n_rows; i++) {
            const th_measurement *r = &m->row[i];
            if (r->device != d || !(of_all || is_held_out(r)))
                continue;
            error += fabs(th_layer_model_predict(model, &r->op, &m->device[d]) / r->ms - 1);
            n++;
        }
        printf(" %s %.2f", m->device[d].name, 100 * error / n);
        sum += 100 * error / n;
    }
    printf("  mean %.2f\n", sum / m->n_devices);
}

static int run_kind(const char *folder, const char *file, th_op_kind kind, const th_gpus *known)
{
    char path[500];
    th_error e = {"", ""};
    snprintf(path, sizeof path, "%s/%s_5gpu.csv.xz", folder, file);
    th_measurement_source source = {.path = path};
    th_measurements *m = th_measurements_new();
    th_layer_model model;
    if (th_measurements_read(m, &source, known, &e)) {
        printf("%s %s\n", e.id, e.text);
        return 1;
    }
    size_t *rows = th_alloc_array(m->n_rows, sizeof *rows), n = 0;
    for (size_t i = 0; i < m->n_rows; i++)
        if (!is_held_out(&m->row[i]))
            rows[n++] = i;
    double begun = th_bench_cpu_seconds();
    th_train_options o = th_train_defaults;
    if (th_layer_model_train(&model, m, rows, n, kind, TH_PHASE_CALL, &o, &e)) {
        printf("%s %s\n", e.id, e.text);
        return 1;
    }
    printf("%s: %zu rows, %d terms, %d features, %.1f s\n  held out", file, n, model.n_terms,
           model.n_features, th_bench_cpu_seconds() - begun);
    report(&model, m, false);
    printf("  shares: trees %.2f, perceptron %.2f; of other devices %.2f, %.2f\n",
           model.known.tree_share, model.known.mlp_share, model.other.tree_share,
           model.other.mlp_share);
    model.known.tree_share = model.known.mlp_share = 0;
    printf("  law alone");
    report(&model, m, false);
    th_layer_model_clear(&model);
    for (int d = 0; getenv("LOO") && d < m->n_devices; d++) {
        n = 0;
        for (size_t i = 0; i < m->n_rows; i++)
            if (m->row[i].device != d)
                rows[n++] = i;
        o.known.trees.rounds = 1;
        if (th_layer_model_train(&model, m, rows, n, kind, TH_PHASE_CALL, &o, &e))
            return 1;
        printf("  without %s", m->device[d].name);
        report(&model, m, true);
        model.other.tree_share = model.other.mlp_share = 0;
        printf("       law");
        report(&model, m, true);
        th_layer_model_clear(&model);
    }
    th_free(rows);
    th_measurements_free(m);
    return 0;
}

int th_bench_predictor(char **argv, int argc)
{
    static const char *const files[] = {"convolution", "pooling", "dense"};
    static const th_op_kind kinds[] = {TH_OP_CONV, TH_OP_POOLING, TH_OP_DENSE};
    th_gpus known = {.gpu = NULL};
    th_error e = {"", ""};
    if (argc < 1 || th_gpus_read(&known, "predictor/devices.csv", &e)) {
        printf("bench predictor FOLDER: %s\n", e.text);
        return 2;
    }
    int failed = 0;
    for (int i = 0; !failed && i < 3; i++)
        if (argc < 2 || strcmp(argv[1], th_op_kind_name(kinds[i])) == 0)
            failed = run_kind(argv[0], files[i], kinds[i], &known);
    th_gpus_clear(&known);
    return failed;
}
