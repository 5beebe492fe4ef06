/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_law.c - fits latency, overhead per message and bandwidth to measured collectives. */
#include <config.h>

#include "predictor/law/link_law.h"

#include "predictor/law/nnls.h"

enum { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL }; /* the others send all bytes */
const char *const th_link_collectives[] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", NULL};

static const double unit[TH_LINK_TERMS] = {1, 1, 1, 1e6, 1e6}; /* of the columns, for the solver */

static double sent(const th_link_row *r)
{
    double n = r->ranks, per_node = n / r->nodes;
    switch (r->kind) {
    case ALL_REDUCE:
        return 2 * (n - 1) / n * r->bytes;
    case ALL_GATHER:
    case REDUCE_SCATTER:
        return (n - 1) / n * r->bytes;
    case ALL_TO_ALL:
        return r->nodes > 1 ? (n - per_node) / n * r->bytes * per_node : (n - 1) / n * r->bytes;
    }
    return r->bytes;
}

/* What each term is multiplied by, in its unit. */
static void columns_of(const th_link_row *r, double *column)
{
    double rounds = r->kind == ALL_REDUCE ? 2 : 1;
    double outside = r->nodes > 1 ? rounds * (r->nodes - 1) : 0;
    column[TH_LINK_LAUNCH] = 1;
    column[TH_LINK_INSIDE] = rounds * (r->ranks - 1) - outside;
    column[TH_LINK_OUTSIDE] = outside;
    column[TH_LINK_INSIDE_BYTE] = r->nodes > 1 ? 0 : sent(r) / unit[TH_LINK_INSIDE_BYTE];
    column[TH_LINK_OUTSIDE_BYTE] = r->nodes > 1 ? sent(r) / unit[TH_LINK_OUTSIDE_BYTE] : 0;
}

/* Takes out the overheads where all rows have the same steps: the launch has them, too. */
static void drop_equal_steps(const th_link_row *rows, size_t n, double *gram, double *moment)
{
    double first[TH_LINK_TERMS], column[TH_LINK_TERMS];
    columns_of(&rows[0], first);
    for (size_t i = 1; i < n; i++) {
        columns_of(&rows[i], column);
        if (column[TH_LINK_INSIDE] != first[TH_LINK_INSIDE] ||
            column[TH_LINK_OUTSIDE] != first[TH_LINK_OUTSIDE])
            return;
    }
    for (int a = TH_LINK_INSIDE; a <= TH_LINK_OUTSIDE; a++) {
        moment[a] = 0;
        for (int b = 0; b < TH_LINK_TERMS; b++)
            gram[a * TH_LINK_TERMS + b] = gram[b * TH_LINK_TERMS + a] = 0;
    }
}

int th_link_law_fit(th_link_law *law, const th_link_row *rows, size_t n, th_error *err)
{
    double gram[TH_LINK_TERMS * TH_LINK_TERMS] = {0}, moment[TH_LINK_TERMS] = {0};
    for (size_t i = 0; i < n; i++) {
        double column[TH_LINK_TERMS];
        columns_of(&rows[i], column);
        for (int a = 0; a < TH_LINK_TERMS; a++) {
            double scaled = column[a] / rows[i].us;
            moment[a] += scaled;
            for (int b = 0; b < TH_LINK_TERMS; b++)
                gram[a * TH_LINK_TERMS + b] += scaled * column[b] / rows[i].us;
        }
    }
    drop_equal_steps(rows, n, gram, moment);
    if (th_nnls_solve(gram, moment, TH_LINK_TERMS, law->term))
        return th_error_no_memory(err);
    for (int a = 0; a < TH_LINK_TERMS; a++)
        law->term[a] /= unit[a];
    return 0;
}

void th_link_law_parts(const th_link_law *law, const th_link_row *row, double part[TH_LINK_TERMS])
{
    columns_of(row, part);
    for (int a = 0; a < TH_LINK_TERMS; a++)
        part[a] = law->term[a] * part[a] * unit[a];
}
