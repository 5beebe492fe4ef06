/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts_text.c - trees and perceptrons as text. A tree is written as its splits, the true branch
 * first: "12<0.5" tests feature 12, "=4096" is a leaf value, in units; a split whose leaves are all
 * equal is written as that leaf. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predictor/regress/predictor_text.h"

enum { TREES_MAX = 100000, DEPTH_MAX = 12 };

/* --- trees ------------------------------------------------------------------------------------ */

/* The answer that all below `at` give; false: they differ. */
static bool agree(const th_trees *t, int tree, size_t at, int depth, int32_t *answer)
{
    size_t questions = ((size_t)1 << t->depth) - 1;
    if (depth == t->depth) {
        *answer = t->leaf[(size_t)tree * (questions + 1) + at - questions];
        return true;
    }
    int32_t no;
    return agree(t, tree, 2 * at + 1, depth + 1, answer) &&
           agree(t, tree, 2 * at + 2, depth + 1, &no) && *answer == no;
}

/* With as few digits as ask the same. */
static void write_question(int32_t question, th_strbuf *out)
{
    enum { DIGITS_MAX = 9 };
    unsigned feature = th_trees_feature(question);
    double threshold = (double)th_trees_threshold(question);
    char text[40];
    for (int digits = 3; digits <= DIGITS_MAX; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, threshold);
        if (th_trees_split(feature, strtof(text, NULL)) == question)
            break;
    }
    th_strbuf_printf(out, " %u<%s", feature, text);
}

static void write_node(const th_trees *t, int tree, size_t at, int depth, th_strbuf *out)
{
    int32_t answer;
    if (agree(t, tree, at, depth, &answer)) {
        th_strbuf_printf(out, " =%" PRId32, answer);
        return;
    }
    write_question(t->split[(size_t)tree * (((size_t)1 << t->depth) - 1) + at], out);
    write_node(t, tree, 2 * at + 1, depth + 1, out);
    write_node(t, tree, 2 * at + 2, depth + 1, out);
}

void th_trees_write(const th_trees *t, th_strbuf *out)
{
    th_strbuf_printf(out, "trees %d depth %d unit %.17g\n", t->n, t->depth, TH_TREES_UNIT);
    for (int i = 0; i < t->n; i++) {
        th_strbuf_add(out, "tree");
        write_node(t, i, 0, 0, out);
        th_strbuf_add(out, "\n");
    }
}

typedef struct {
    th_trees *trees;
    int tree, n_features;
    char *at;    /* what is left of the line */
    double most; /* of its answers, without their signs */
} tree_reader;

static void fill(tree_reader *t, size_t at, int depth, int32_t answer)
{
    size_t questions = ((size_t)1 << t->trees->depth) - 1;
    if (depth == t->trees->depth) {
        t->trees->leaf[(size_t)t->tree * (questions + 1) + at - questions] = answer;
        return;
    }
    fill(t, 2 * at + 1, depth + 1, answer);
    fill(t, 2 * at + 2, depth + 1, answer);
}

static int read_answer(tree_reader *t, size_t at, int depth)
{
    char *end;
    errno = 0;
    long answer = strtol(t->at + 1, &end, 10);
    if (end == t->at + 1 || errno != 0 || answer < -INT32_MAX || answer > INT32_MAX)
        return -1;
    t->at = end;
    t->most = fmax(t->most, fabs((double)answer));
    fill(t, at, depth, (int32_t)answer);
    return 0;
}

static int read_node(tree_reader *t, size_t at, int depth)
{
    t->at += strspn(t->at, " ");
    if (*t->at == '=')
        return read_answer(t, at, depth);
    char *end;
    long feature = strtol(t->at, &end, 10);
    if (end == t->at || *end != '<' || feature < 0 || feature >= t->n_features ||
        depth == t->trees->depth)
        return -1;
    t->at = end + 1;
    float threshold = strtof(t->at, &end);
    if (end == t->at || !isfinite(threshold))
        return -1;
    t->at = end;
    size_t place = (size_t)t->tree * (((size_t)1 << t->trees->depth) - 1) + at;
    t->trees->split[place] = th_trees_split((unsigned)feature, threshold);
    return read_node(t, 2 * at + 1, depth + 1) || read_node(t, 2 * at + 2, depth + 1) ? -1 : 0;
}

int th_trees_read(th_text_reader *r, int n_features, th_trees *out)
{
    int n, depth;
    double unit, most = 0;
    if (th_text_scan(r, 3, "trees %d depth %d unit %lf", &n, &depth, &unit))
        return -1;
    if (depth < 0 || depth > DEPTH_MAX || n < 0 || n > TREES_MAX || unit != TH_TREES_UNIT ||
        n_features > TH_TREES_FEATURES_MAX)
        return th_text_fail(r);
    if (th_trees_init(out, n, depth))
        return th_error_no_memory(r->err);
    for (int i = 0; i < n; i++) {
        tree_reader t = {out, i, n_features, th_text_skip(r, "tree"), 0};
        if (!t.at || read_node(&t, 0, 0) || t.at[strspn(t.at, " ")] != '\0')
            return th_text_fail(r);
        most += t.most;
    }
    return most <= INT32_MAX ? 0 : th_text_fail(r); /* or sums would not be whole numbers */
}

/* --- perceptrons ------------------------------------------------------------------------------ */

void th_mlp_write(const th_mlp *m, th_strbuf *out)
{
    th_strbuf_printf(out, "perceptron %d\nsizes", m->n_layers);
    for (int l = 0; l <= m->n_layers; l++)
        th_strbuf_printf(out, " %d", m->size[l]);
    th_strbuf_add(out, "\n");
    th_text_add_floats("mean", m->mean, (size_t)m->size[0], out);
    th_text_add_floats("scale", m->scale, (size_t)m->size[0], out);
    for (int l = 0; l < m->n_layers; l++) {
        th_text_add_floats("weight", m->weight[l], (size_t)m->size[l] * (size_t)m->size[l + 1],
                           out);
        th_text_add_floats("bias", m->bias[l], (size_t)m->size[l + 1], out);
    }
}

static int read_sizes(th_text_reader *r, int n_layers, int n_features, int *sizes)
{
    char *at = th_text_skip(r, "sizes");
    for (int l = 0; l <= n_layers; l++) {
        double size;
        if (!at || th_text_number(&at, &size) || !(size >= 1 && size <= TH_MLP_WIDTH_MAX))
            return th_text_fail(r);
        sizes[l] = (int)size;
    }
    return sizes[0] == n_features && sizes[n_layers] == 1 ? 0 : th_text_fail(r);
}

int th_mlp_read(th_text_reader *r, int n_features, th_mlp *m)
{
    int sizes[TH_MLP_LAYERS_MAX + 1], n_layers;
    if (th_text_scan(r, 1, "perceptron %d", &n_layers))
        return -1;
    if (n_layers < 1 || n_layers > TH_MLP_LAYERS_MAX)
        return th_text_fail(r);
    if (read_sizes(r, n_layers, n_features, sizes))
        return -1;
    if (th_mlp_init(m, sizes, n_layers))
        return th_error_no_memory(r->err);
    if (th_text_floats(r, "mean", m->mean, (size_t)sizes[0]) ||
        th_text_floats(r, "scale", m->scale, (size_t)sizes[0]))
        return -1;
    for (int l = 0; l < n_layers; l++)
        if (th_text_floats(r, "weight", m->weight[l], (size_t)sizes[l] * (size_t)sizes[l + 1]) ||
            th_text_floats(r, "bias", m->bias[l], (size_t)sizes[l + 1]))
            return -1;
    return 0;
}
