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
static void write_question(uint32_t question, th_strbuf *out)
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

static int read_tree(th_text_io *io, int n_features, th_trees *t, int tree, double *most)
{
    tree_reader r = {t, tree, n_features, io->at, 0};
    if (read_node(&r, 0, 0))
        return th_text_fail(io);
    io->at = r.at;
    *most += r.most;
    return 0;
}

static int read_trees(const th_text_io *io, int n_features, int n, int depth, th_trees *t)
{
    if (depth < 0 || depth > DEPTH_MAX || n < 0 || n > TREES_MAX ||
        n_features > TH_TREES_FEATURES_MAX)
        return th_text_fail(io);
    return th_trees_init(t, n, depth) ? th_error_no_memory(io->err) : 0;
}

int th_trees_text(th_text_io *io, int n_features, th_trees *t)
{
    int n = t->n, depth = t->depth;
    double unit = TH_TREES_UNIT, most = 0;
    if (th_text_line(io, "trees %d depth %d unit %f", &n, &depth, &unit) ||
        th_text_check(io, unit == TH_TREES_UNIT) ||
        (!io->out && read_trees(io, n_features, n, depth, t)))
        return -1;
    for (int i = 0; i < n; i++) {
        if (th_text_open(io, "tree"))
            return -1;
        if (io->out)
            write_node(t, i, 0, 0, io->out);
        else if (read_tree(io, n_features, t, i, &most))
            return -1;
        if (th_text_close(io, NULL))
            return -1;
    }
    return th_text_check(io, most <= INT32_MAX); /* or sums would not be whole numbers */
}

/* --- perceptrons ------------------------------------------------------------------------------ */

static int floats(th_text_io *io, const char *word, float *x, size_t n)
{
    int failed = th_text_open(io, word);
    for (size_t i = 0; !failed && i < n; i++)
        failed = th_text_more(io, " %g", &x[i]);
    return failed || th_text_close(io, NULL) ? -1 : 0;
}

/* Of n layers; those of an empty perceptron are read. */
static int sizes(th_text_io *io, int n, int n_features, th_mlp *m)
{
    int size[TH_MLP_LAYERS_MAX + 1];
    memcpy(size, m->size, sizeof size);
    int failed = th_text_open(io, "sizes");
    for (int l = 0; !failed && l <= n; l++)
        failed = th_text_more(io, " %d", &size[l]) ||
                 th_text_check(io, size[l] >= 1 && size[l] <= TH_MLP_WIDTH_MAX);
    if (failed || th_text_close(io, NULL) ||
        th_text_check(io, size[0] == n_features && size[n] == 1))
        return -1;
    return !io->out && th_mlp_init(m, size, n) ? th_error_no_memory(io->err) : 0;
}

int th_mlp_text(th_text_io *io, int n_features, th_mlp *m)
{
    int n = m->n_layers;
    if (th_text_line(io, "perceptron %d", &n) ||
        th_text_check(io, n >= 1 && n <= TH_MLP_LAYERS_MAX) || sizes(io, n, n_features, m))
        return -1;
    if (floats(io, "mean", m->mean, (size_t)m->size[0]) ||
        floats(io, "scale", m->scale, (size_t)m->size[0]))
        return -1;
    for (int l = 0; l < n; l++) {
        size_t width = (size_t)m->size[l + 1];
        if (floats(io, "weight", m->weight[l], (size_t)m->size[l] * width) ||
            floats(io, "bias", m->bias[l], width))
            return -1;
    }
    return 0;
}
