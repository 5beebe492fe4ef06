/* SPDX-License-Identifier: GPL-3.0-or-later */
/* two_slot.c - the end time of a two-slot pipeline as a product of max-plus matrices.
 *
 * With two slots for operands and for outputs, step j + 1 of loads t, u, computation c and, at the
 * end of tile i, store o, follows from step j by maxima and sums (docs/models/pipeline.md):
 *   input   = max(input, compute[j - 1]) + t        weight likewise, with u
 *   compute = max(input, weight, compute, store[i - 2] if the step starts tile i) + c
 *   store   = max(store, compute) + o               if the step ends a tile
 * This is x' = A x in the max-plus algebra, where + is the maximum and * the sum. A loop of n equal
 * iterations is a power of their matrix, so the nest is a product of about log n factors per loop.
 * The product is exact for any difference in first and last iterations, and needs no events. */
#include <config.h>
#include <math.h>
#include "tests/unit/two_slot.h"

/* The state of the pipeline: the time at which each engine last finished; _BEFORE: the time before
 * that. */
enum { INPUT, WEIGHT, COMPUTE, COMPUTE_BEFORE, STORE, STORE_BEFORE, N_STATES };

typedef struct {
    double at[N_STATES][N_STATES]; /* -INFINITY: does not depend on it */
} matrix;

static matrix identity(void)
{
    matrix m;
    for (int i = 0; i < N_STATES; i++)
        for (int j = 0; j < N_STATES; j++)
            m.at[i][j] = i == j ? 0 : -INFINITY;
    return m;
}

/* b is applied first, then a. */
static matrix product(const matrix *a, const matrix *b)
{
    matrix m;
    for (int i = 0; i < N_STATES; i++) {
        for (int j = 0; j < N_STATES; j++) {
            m.at[i][j] = -INFINITY;
            for (int k = 0; k < N_STATES; k++)
                m.at[i][j] = fmax(m.at[i][j], a->at[i][k] + b->at[k][j]);
        }
    }
    return m;
}

static matrix power(matrix base, int64_t n)
{
    matrix m = identity();
    for (; n > 0; n /= 2) {
        if (n % 2 == 1)
            m = product(&base, &m);
        base = product(&base, &base);
    }
    return m;
}

/* Row i of m becomes the maximum of itself and row j. */
static void depend(matrix *m, int i, int j)
{
    for (int k = 0; k < N_STATES; k++)
        m->at[i][k] = fmax(m->at[i][k], m->at[j][k]);
}

static void delay(matrix *m, int i, double cycles)
{
    for (int k = 0; k < N_STATES; k++)
        m->at[i][k] += cycles;
}

static void copy(matrix *m, int to, int from)
{
    for (int k = 0; k < N_STATES; k++)
        m->at[to][k] = m->at[from][k];
}

/* Row i is the time of state i after the part of the step handled so far, in terms of the state
 * before the step. */
static matrix step_matrix(const two_slot_step *s, bool opens, bool ends)
{
    matrix m = identity();
    depend(&m, INPUT, COMPUTE_BEFORE);
    delay(&m, INPUT, s->load_input);
    depend(&m, WEIGHT, COMPUTE_BEFORE);
    delay(&m, WEIGHT, s->load_weight);
    copy(&m, COMPUTE_BEFORE, COMPUTE);
    depend(&m, COMPUTE, INPUT);
    depend(&m, COMPUTE, WEIGHT);
    if (opens)
        depend(&m, COMPUTE, STORE_BEFORE);
    delay(&m, COMPUTE, s->compute);
    if (ends) {
        copy(&m, STORE_BEFORE, STORE);
        depend(&m, STORE, COMPUTE);
        delay(&m, STORE, s->store);
    }
    return m;
}

/* The matrix of the loops from index `place` inwards, in an iteration of the outer loops that first
 * and last describe. */
static matrix nest_matrix(const two_slot_nest *n, int place, unsigned first, unsigned last)
{
    unsigned bit = 1u << place, innermost = 1u << (TH_NEST_LOOPS - 1);
    if (place == TH_NEST_LOOPS) {
        two_slot_step s = n->step(n->context, first, last);
        return step_matrix(&s, first & innermost, last & innermost);
    }
    if (n->count[place] == 1)
        return nest_matrix(n, place + 1, first | bit, last | bit);
    matrix m = nest_matrix(n, place + 1, first | bit, last), inner;
    if (n->count[place] > 2) {
        inner = power(nest_matrix(n, place + 1, first, last), n->count[place] - 2);
        m = product(&inner, &m);
    }
    inner = nest_matrix(n, place + 1, first, last | bit);
    return product(&inner, &m);
}

double two_slot_cycles(const two_slot_nest *n)
{
    matrix m = nest_matrix(n, 0, 0, 0);
    double end = -INFINITY;
    for (int k = 0; k < N_STATES; k++) /* all times start at 0 */
        end = fmax(end, m.at[STORE][k]);
    return end;
}
