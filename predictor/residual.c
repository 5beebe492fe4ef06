/* SPDX-License-Identifier: GPL-3.0-or-later */
/* residual.c - trees and a perceptron, blended. */
#include <config.h>

#include "predictor/residual.h"

#include <math.h>

#include "base/alloc.h"

int th_lesson_init(th_lesson *l, size_t n, int n_features)
{
    *l = (th_lesson){.n = n, .n_features = n_features};
    l->x = th_alloc_array(n + 1, (size_t)n_features * sizeof *l->x);
    l->y = th_alloc_array(n + 1, sizeof *l->y);
    if (l->x && l->y)
        return 0;
    th_lesson_clear(l);
    return -1;
}

void th_lesson_clear(th_lesson *l)
{
    th_free(l->x);
    th_free(l->y);
    *l = (th_lesson){.n = 0};
}

int th_residual_train(th_residual *out, const th_lesson *l, const th_residual_options *o,
                      th_error *err)
{
    if (!th_boost_is_there())
        out->tree_share = 0;
    if (out->tree_share > 0 &&
        th_boost_train(l->x, l->y, l->n, l->n_features, &o->trees, &out->trees, err))
        return -1;
    if (out->mlp_share > 0 && th_mlp_train(l->x, l->y, l->n, l->n_features, &o->mlp, &out->mlp))
        return th_error_no_memory(err);
    return 0;
}

void th_residual_clear(th_residual *r)
{
    th_trees_clear(&r->trees);
    th_mlp_clear(&r->mlp);
    *r = (th_residual){.tree_share = 0};
}

double th_residual_run(const th_residual *r, const float *x)
{
    double sum = 0;
    if (r->tree_share > 0)
        sum += r->tree_share * th_trees_sum(&r->trees, x);
    if (r->mlp_share > 0)
        sum += r->mlp_share * th_mlp_run(&r->mlp, x);
    return sum;
}

void th_residual_judge(const th_residual *r, const th_lesson *l, th_verdict *out)
{
    for (size_t i = 0; i < l->n; i++) {
        const float *x = l->x + i * (size_t)l->n_features;
        out[i] = (th_verdict){th_trees_sum(&r->trees, x), th_mlp_run(&r->mlp, x), (double)l->y[i]};
    }
}

static double error_of(const th_verdict *v, size_t n, double trees, double mlp)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(exp(trees * v[i].trees + mlp * v[i].mlp - v[i].y) - 1);
    return sum;
}

void th_residual_weigh(th_residual *r, const th_verdict *v, size_t n)
{
    enum { STEPS = 4 };
    double best = INFINITY;
    bool has_trees = r->trees.n > 0, has_mlp = r->mlp.n_layers > 0;
    r->tree_share = r->mlp_share = 0;
    for (int t = 0; t <= (has_trees ? STEPS : 0); t++)
        for (int m = 0; m <= (has_mlp ? STEPS - t : 0); m++) {
            double trees = (double)t / STEPS, mlp = (double)m / STEPS,
                   error = error_of(v, n, trees, mlp);
            if (error < best) {
                best = error;
                r->tree_share = trees;
                r->mlp_share = mlp;
            }
        }
}
