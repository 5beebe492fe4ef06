/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_write.c - a predictor as text.
 *   th_predictor_write: head -> { layer: devices, ranges, weights, trees } -> digest in front
 * A line is a word and what follows. Numbers have as many digits as bring them back exactly. A tree is
 * its questions in the order yes, no: "12<0.5" asks feature 12, "=0.25" answers; a question all of whose
 * answers are one is that answer. docs/formats.md has the format. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "predictor/predictor.h"
#include "predictor/predictor_text.h"

/* The answer that all below `at` give; false: they differ. */
static bool agree(const th_trees *t, int tree, size_t at, int depth, float *answer)
{
    size_t questions = ((size_t)1 << t->depth) - 1;
    if (depth == t->depth) {
        *answer = t->leaf[(size_t)tree * (questions + 1) + at - questions];
        return true;
    }
    float yes, no;
    bool is_one = agree(t, tree, 2 * at + 1, depth + 1, &yes) &&
                  agree(t, tree, 2 * at + 2, depth + 1, &no) && memcmp(&yes, &no, sizeof yes) == 0;
    if (is_one)
        *answer = yes;
    return is_one;
}

static void write_node(const th_trees *t, int tree, size_t at, int depth, th_strbuf *out)
{
    size_t place = (size_t)tree * (((size_t)1 << t->depth) - 1) + at;
    float answer;
    if (agree(t, tree, at, depth, &answer)) {
        th_strbuf_printf(out, " =%.9g", (double)answer);
        return;
    }
    th_strbuf_printf(out, " %d<%.9g", t->feature[place], (double)t->threshold[place]);
    write_node(t, tree, 2 * at + 1, depth + 1, out);
    write_node(t, tree, 2 * at + 2, depth + 1, out);
}

static void write_floats(const char *word, const float *x, size_t n, th_strbuf *out)
{
    th_strbuf_add(out, word);
    for (size_t i = 0; i < n; i++)
        th_strbuf_printf(out, " %.9g", (double)x[i]);
    th_strbuf_add(out, "\n");
}

static void write_mlp(const th_mlp *m, th_strbuf *out)
{
    if (m->n_layers == 0)
        return;
    th_strbuf_add(out, "sizes");
    for (int l = 0; l <= m->n_layers; l++)
        th_strbuf_printf(out, " %d", m->size[l]);
    th_strbuf_add(out, "\n");
    write_floats("mean", m->mean, (size_t)m->size[0], out);
    write_floats("scale", m->scale, (size_t)m->size[0], out);
    for (int l = 0; l < m->n_layers; l++) {
        write_floats("weight", m->weight[l], (size_t)m->size[l] * (size_t)m->size[l + 1], out);
        write_floats("bias", m->bias[l], (size_t)m->size[l + 1], out);
    }
}

static void write_residual(const th_residual *r, const char *name, th_strbuf *out)
{
    th_strbuf_printf(out, "residual %s trees %d depth %d share %.9g perceptron %d share %.9g\n",
                     name, r->trees.n, r->trees.depth, r->tree_share, r->mlp.n_layers,
                     r->mlp_share);
    for (int i = 0; i < r->trees.n; i++) {
        th_strbuf_add(out, "tree");
        write_node(&r->trees, i, 0, 0, out);
        th_strbuf_add(out, "\n");
    }
    write_mlp(&r->mlp, out);
}

static void write_devices(const th_layer_model *m, th_strbuf *out)
{
    th_strbuf_printf(out, "devices %d # name", m->n_devices);
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        th_strbuf_printf(out, " %s", th_gpu_number_column((th_gpu_number)i));
    th_strbuf_add(out, "\n");
    for (int d = 0; d < m->n_devices; d++) {
        th_strbuf_printf(out, "device %s", m->device[d].name);
        for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
            th_strbuf_printf(out, " %.17g", m->device[d].x[i]);
        th_strbuf_add(out, "\n");
    }
}

/* The names of the law's terms, in their order. */
static void name_terms(const th_layer_model *m, char (*names)[TH_TERM_NAME_MAX])
{
    th_op op = {.kind = m->kind};
    th_terms terms;
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        op.x[f] = 1;
    th_law_terms(&op, m->phase, &m->device[0], names, &terms);
}

static void write_weights(const th_layer_model *m, th_strbuf *out)
{
    char names[TH_TERMS_MAX][TH_TERM_NAME_MAX];
    name_terms(m, names);
    th_strbuf_printf(out,
                     "terms %d # weights by device, then of any: 1 / efficiency; calls in ms\n",
                     m->n_terms);
    for (int i = 0; i < m->n_terms; i++) {
        th_strbuf_add(out, "term");
        for (int d = 0; d <= m->n_devices; d++)
            th_strbuf_printf(out, " %.17g", m->weight[(size_t)d * (size_t)m->n_terms + (size_t)i]);
        th_strbuf_printf(out, " # %s\n", names[i]);
    }
}

static void write_layer(const th_layer_model *m, th_strbuf *out)
{
    th_strbuf_printf(out, "layer %s %s features %d\n", th_op_kind_name(m->kind),
                     th_phase_name(m->phase), m->n_features);
    write_devices(m, out);
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        th_strbuf_printf(out, "range %s %d %d\n", th_op_field_name((th_op_field)f), m->least[f],
                         m->most[f]);
    write_weights(m, out);
    write_residual(&m->known, "known", out);
    write_residual(&m->other, "other", out);
}

void th_predictor_write(const th_predictor *p, th_strbuf *out)
{
    th_strbuf body = TH_STRBUF_INIT;
    th_strbuf_printf(&body, "trained %016" PRIx64 " rows %zu layers %d # times in ms\n", p->digest,
                     p->n_rows, p->n_models);
    for (int i = 0; i < p->n_models; i++)
        write_layer(&p->model[i], &body);
    if (body.failed) {
        out->failed = true;
    } else {
        th_strbuf_printf(out, PREDICTOR_MAGIC " %d digest %016" PRIx64 "\n", PREDICTOR_VERSION,
                         th_hash(body.text, body.length, 0));
        th_strbuf_add(out, body.text);
    }
    th_strbuf_clear(&body);
}
