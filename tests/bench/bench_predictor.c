/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_predictor.c - how far predicted layer times are from measured ones that were not in
 * training, and how long training and predictions take.
 *   bench predictor FOLDER [conv|pooling|dense [LEARNER ...]]   FOLDER: of perfnet/; LEARNER: auto
 *   unless said
 * LOO=1 in the environment: also each device in turn, when the others alone were learned from. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/map.h"
#include "predictor/model/calibration.h"
#include "predictor/model/predictor.h"
#include "tests/bench/bench.h"

static double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

static void print_side(const char *name, const th_validated_ensemble *side)
{
    printf("  %s devices, cross-validated on %zu rows: %.2f (", name, side->scores.n,
           100 * side->scores.chosen);
    for (int i = 0; i < side->ensemble.n; i++)
        printf("%s%s %.3f", i > 0 ? ", " : "", side->ensemble.member[i].type->name,
               side->ensemble.member[i].share);
    printf("); learners");
    for (int l = 0; l < TH_N_LEARNERS; l++)
        if (isfinite(side->scores.error[l]))
            printf(" %s %.2f", th_learner_types[l]->name, 100 * side->scores.error[l]);
    printf("\n");
}

/* How many rows lie between a tenth and nine tenths of what is expected. */
static void print_coverage(const th_layer_model *model, const th_measurements *m, int device)
{
    size_t n = 0, inside = 0;
    for (size_t i = 0; i < m->n_rows; i++) {
        const th_measurement *r = &m->row[i];
        if (device < 0 ? !is_held_out(r) : r->device != device)
            continue;
        th_estimate e = th_layer_model_estimate(model, &r->op, &m->device[r->device]);
        inside += r->ms >= e.low_ms && r->ms <= e.high_ms;
        n++;
    }
    printf("  in their 10-90 %% intervals: %.1f %%\n", 100 * (double)inside / (double)n);
}

/* Mean and worst error on a device that training did not have, calibrated with some twenty rows of
 * it, over draws of them. */
static void print_calibrated(th_layer_model *model, const th_measurements *m, int device)
{
    enum { DRAWS = 10, FEW = 20 };
    th_error e = {"", ""};
    size_t there = 0;
    for (size_t i = 0; i < m->n_rows; i++)
        there += m->row[i].device == device;
    th_measurement *rows = th_alloc_array(there, sizeof *rows);
    double sum = 0, worst = 0;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        th_measurements few = *m;
        few.row = rows;
        few.n_rows = 0;
        for (size_t i = 0; i < m->n_rows && few.n_rows < FEW; i++)
            if (m->row[i].device == device &&
                th_hash_word(draw, (uint64_t)m->row[i].row_id) % (there / FEW / 2) == 0)
                rows[few.n_rows++] = m->row[i];
        if (th_layer_model_calibrate(model, &few, &e) < 0)
            printf("%s %s\n", e.id, e.text);
        double error = 0;
        size_t n = 0;
        for (size_t i = 0; i < m->n_rows; i += 3) {
            const th_measurement *r = &m->row[i];
            if (r->device != device)
                continue;
            error += fabs(th_layer_model_predict(model, &r->op, &m->device[device]) / r->ms - 1);
            n++;
        }
        sum += error / (double)n;
        worst = fmax(worst, error / (double)n);
    }
    printf("  calibrated with %d rows: %.2f, at worst %.2f\n", FEW, 100 * sum / DRAWS, 100 * worst);
    print_coverage(model, m, device);
    th_free(rows);
}

/* Microseconds of a prediction, least of some rounds. */
static void print_speed(const th_layer_model *model, const th_measurements *m)
{
    enum { ROUNDS = 200, ROWS = 4096 };
    double least = INFINITY, sum = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double begun = th_bench_cpu_seconds();
        for (size_t i = 0; i < ROWS; i++)
            sum += th_layer_model_predict(model, &m->row[i * (m->n_rows / ROWS)].op, &m->device[0]);
        least = fmin(least, th_bench_cpu_seconds() - begun);
    }
    printf("  a prediction: %.2f us (%g)\n", least / ROWS * 1e6, sum / ROUNDS);
}

static int train(const th_measured_rows *rows, th_op_kind kind, int learner, const char *held_out,
                 th_layer_model *out)
{
    *out = (th_layer_model){.kind = kind, .phase = TH_PHASE_CALL};
    th_train_options o = th_train_defaults;
    th_error e = {"", ""};
    o.learner = learner;
    double cpu = th_bench_cpu_seconds(), wall = wall_seconds();
    if (th_layer_models_train(out, 1, rows, &o, &e)) {
        printf("%s %s\n", e.id, e.text);
        return -1;
    }
    printf("%s, %s: %zu rows, %d terms, %d features, %.1f CPU s, %.1f s\n  %s",
           th_op_kind_name(out->kind), th_learner_choice_of(learner).name, rows->n, out->n_terms,
           out->n_features, th_bench_cpu_seconds() - cpu, wall_seconds() - wall, held_out);
    return 0;
}

static int run_learner(const th_measurements *m, size_t *rows, th_op_kind kind, int learner)
{
    th_layer_model model;
    size_t n = 0;
    for (size_t i = 0; i < m->n_rows; i++)
        if (!is_held_out(&m->row[i]))
            rows[n++] = i;
    if (train(&(th_measured_rows){m, rows, n}, kind, learner, "held out", &model))
        return -1;
    report(&model, m, false);
    print_side("known", &model.seen);
    print_side("other", &model.unseen);
    print_coverage(&model, m, -1);
    print_speed(&model, m);
    th_layer_model_clear(&model);
    for (int d = 0; getenv("LOO") && d < m->n_devices; d++) {
        n = 0;
        for (size_t i = 0; i < m->n_rows; i++)
            if (m->row[i].device != d)
                rows[n++] = i;
        if (train(&(th_measured_rows){m, rows, n}, kind, learner, "without", &model))
            return -1;
        printf(" %s", m->device[d].name);
        report(&model, m, true);
        print_side("other", &model.unseen);
        print_coverage(&model, m, d);
        print_calibrated(&model, m, d);
        th_layer_model_clear(&model);
    }
    return 0;
}

static int run_kind(const char *folder, const char *file, th_op_kind kind, const th_gpus *known,
                    char **learners, int n_learners)
{
    char path[500];
    th_error e = {"", ""};
    snprintf(path, sizeof path, "%s/%s_5gpu.csv.xz", folder, file);
    th_measurement_source source = {.path = path};
    th_measurements *m = th_measurements_new();
    int failed = !m || th_measurements_read(m, &source, known, &e);
    size_t *rows = failed ? NULL : th_alloc_array(m->n_rows, sizeof *rows);
    if (failed)
        printf("%s %s\n", e.id, e.text);
    for (int l = 0; rows && !failed && l < TH_N_LEARNER_CHOICES; l++) {
        bool asked = n_learners == 0 && l == TH_CHOICE_AUTO;
        for (int i = 0; i < n_learners; i++)
            asked |= strcmp(learners[i], th_learner_choice_of(l).name) == 0;
        if (asked)
            failed = run_learner(m, rows, kind, l);
    }
    th_free(rows);
    th_measurements_free(m);
    return failed;
}

int th_bench_predictor(char **argv, int argc)
{
    static const char *const files[] = {"convolution", "pooling", "dense"};
    static const th_op_kind kinds[] = {TH_OP_CONV, TH_OP_POOLING, TH_OP_DENSE};
    th_gpus known = {.gpu = NULL};
    th_error e = {"", ""};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 1 || th_gpus_read(&known, "predictor/devices.csv", NULL, &e)) {
        printf("bench predictor FOLDER: %s\n", e.text);
        return 2;
    }
    int failed = 0;
    for (int i = 0; !failed && i < 3; i++)
        if (argc < 2 || strcmp(argv[1], th_op_kind_name(kinds[i])) == 0)
            failed =
                run_kind(argv[0], files[i], kinds[i], &known, argv + 2, argc > 2 ? argc - 2 : 0);
    th_gpus_clear(&known);
    return failed;
}
