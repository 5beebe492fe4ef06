/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_devices.c - kernels of transformers and training steps: how far predictions are from times
 * that were not in training, on devices of training and on each device when the others alone were
 * learned from.
 *   bench devices FOLDER [FILE [PHASE]]   FOLDER: of neusight/ or justus2018/; FILE:
 *                                         "train_linear", "dense"
 * LOO=1 in the environment: devices left out too; LOO=NAME: that one. */
#include <config.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/model/layer_model.h"
#include "tests/bench/bench.h"

/* One fifth of the operations, on whatever device. */
static bool is_held_out(const th_measurement *r)
{
    return th_hash(&r->op, sizeof r->op, 7) % 5 == 0;
}

static bool is_asked(const th_measurement *r, th_op_kind kind, th_phase phase, int device)
{
    return r->op.kind == kind && r->phase == phase && r->device == device;
}

/* Mean error on a device, in percent; those of the held-out fifth, or all. NAN: it has no rows. */
static double error_on(const th_layer_model *model, const th_measurements *m, int device,
                       bool of_all)
{
    double error = 0;
    int n = 0;
    for (size_t i = 0; i < m->n_rows; i++) {
        const th_measurement *r = &m->row[i];
        if (!is_asked(r, model->kind, model->phase, device) || !(of_all || is_held_out(r)))
            continue;
        error += fabs(th_layer_model_predict(model, &r->op, &m->device[device]) / r->ms - 1);
        n++;
    }
    return 100 * error / n;
}

/* Learns from all but a fifth of the operations, or but a device (or -1). 0, or -1 and says why. */
static int learn(th_layer_model *out, const th_measurements *m, th_op_kind kind, th_phase phase,
                 int held_out)
{
    th_error e = {"", ""};
    th_train_options o = th_train_defaults;
    size_t *rows = th_alloc_array(m->n_rows, sizeof *rows), n = 0;
    for (size_t i = 0; i < m->n_rows; i++)
        if (held_out < 0 ? !is_held_out(&m->row[i]) : m->row[i].device != held_out)
            rows[n++] = i;
    *out = (th_layer_model){.kind = kind, .phase = phase};
    int failed = th_layer_models_train(out, 1, &(th_measured_rows){m, rows, n}, &o, &e);
    if (failed)
        printf("%s %s\n", e.id, e.text);
    th_free(rows);
    return failed;
}

static void print_ensemble(const th_validated_ensemble *side)
{
    printf(" (");
    for (int i = 0; i < side->ensemble.n; i++)
        printf("%s%s %.2f", i > 0 ? ", " : "", side->ensemble.member[i].type->name,
               side->ensemble.member[i].share);
    printf(")\n");
    fflush(stdout);
}

static void seen(const th_measurements *m, th_op_kind kind, th_phase phase)
{
    th_layer_model model;
    double begun = th_bench_cpu_seconds(), sum = 0;
    int n = 0;
    if (learn(&model, m, kind, phase, -1))
        return;
    printf("%s %s: %.0f s; held out", th_op_kind_name(kind), th_phase_name(phase),
           th_bench_cpu_seconds() - begun);
    for (int d = 0; d < m->n_devices; d++) {
        double error = error_on(&model, m, d, false);
        if (isnan(error))
            continue;
        printf(" %s %.1f", m->device[d].name, error);
        sum += error;
        n++;
    }
    printf("  mean %.2f; law %.2f", sum / n, 100 * model.seen.scores.error[TH_LEARNER_law]);
    print_ensemble(&model.seen);
    th_layer_model_clear(&model);
}

static void held_out(const th_measurements *m, th_op_kind kind, th_phase phase)
{
    const char *wanted = getenv("LOO");
    double sum = 0;
    int n = 0;
    for (int d = 0; d < m->n_devices; d++) {
        th_layer_model model;
        bool is_there = false;
        if (strcmp(wanted, "1") != 0 && strcmp(wanted, m->device[d].name) != 0)
            continue;
        for (size_t i = 0; i < m->n_rows; i++)
            is_there |= is_asked(&m->row[i], kind, phase, d);
        if (!is_there || learn(&model, m, kind, phase, d))
            continue;
        double error = error_on(&model, m, d, true);
        printf("  without %s %.1f", m->device[d].name, error);
        print_ensemble(&model.unseen);
        sum += error;
        n++;
        th_layer_model_clear(&model);
    }
    printf("  mean of devices left out %.2f\n", sum / n);
}

/* Files "FILE*.csv.xz" of a folder; all but those of whole networks, if file is NULL. */
static int read_files(th_measurements *m, const char *folder, const char *file,
                      const th_gpus *known)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, alphasort), failed = n < 0 ? -1 : 0;
    for (int i = 0; i < n; i++) {
        char path[600];
        const char *name = entry[i]->d_name;
        th_error e = {"", ""};
        snprintf(path, sizeof path, "%s/%s", folder, name);
        bool is_wanted = strstr(name, ".csv.xz") && strncmp(name, "whole", 5) != 0 &&
                         (!file || strncmp(name, file, strlen(file)) == 0);
        th_measurement_source source = {.path = path};
        if (is_wanted && th_measurements_read(m, &source, known, &e)) {
            printf("%s %s\n", e.id, e.text);
            failed = -1;
        }
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    return failed;
}

int th_bench_devices(char **argv, int argc)
{
    th_gpus known = {.gpu = NULL};
    th_error e = {"", ""};
    if (argc < 1 || th_gpus_read(&known, "predictor/devices.csv", NULL, &e)) {
        printf("bench devices FOLDER [FILE [PHASE]] %s\n", e.text);
        return 2;
    }
    th_measurements *m = th_measurements_new();
    int failed = read_files(m, argv[0], argc > 1 ? argv[1] : NULL, &known);
    bool is_there[TH_N_OP_KINDS][TH_N_PHASES] = {{false}};
    for (size_t i = 0; i < m->n_rows; i++)
        is_there[m->row[i].op.kind][m->row[i].phase] = true;
    for (int k = 0; !failed && k < TH_N_OP_KINDS; k++)
        for (int p = 0; p < TH_N_PHASES; p++) {
            if (!is_there[k][p] || (argc > 2 && strcmp(argv[2], th_phase_name((th_phase)p)) != 0))
                continue;
            seen(m, (th_op_kind)k, (th_phase)p);
            if (getenv("LOO"))
                held_out(m, (th_op_kind)k, (th_phase)p);
        }
    th_measurements_free(m);
    th_gpus_clear(&known);
    return failed ? 1 : 0;
}
