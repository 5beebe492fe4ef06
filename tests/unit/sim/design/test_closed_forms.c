/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed form of every design, against the pipeline on a memory faster than its ports: random
 * layers of all kinds, to the cycle. A design without one, or without a row in design_rows.h,
 * fails. */
#include <config.h>
#include "tests/unit/design_forms.h"
#include "tests/unit/design_rows.h"

enum { LAYERS = 1000, LAYERS_PER_CONFIG = 10 };

TEST(every_design_has_a_row)
{
    for (int i = 0; th_design_types[i]; i++) {
        const design_row *row = row_of(th_design_types[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(row);
        CU_ASSERT_TRUE(row->text && row->closed && has_closed_form(th_design_types[i]));
    }
}

static th_shard recurrent_layer(gsl_rng *r)
{
    th_shard s = conv_shard((int)pick(r, 1, 3), (int)pick(r, 1, 100), (int)pick(r, 1, 100),
                            (int)pick(r, 1, 20), 1, 1);
    static const int kinds[] = {TH_LAYER_LSTM, TH_LAYER_GRU, TH_LAYER_RNN};
    s.kind = kinds[pick(r, 0, 2)];
    return s;
}

/* A convolution in half of all cases; else an fc, a matmul of one or two inputs, a recurrent layer
 * where the design runs it as it is. */
static th_shard random_layer(gsl_rng *r, const th_design_type *t)
{
    th_shard s = random_shard(r);
    if (row_of(t)->layer)
        return row_of(t)->layer(r);
    int64_t kind = pick(r, 0, 5);
    if (kind == 0 && t->kinds >> TH_LAYER_LSTM & 1u)
        return recurrent_layer(r);
    if (kind == 1) {
        s.kind = TH_LAYER_FC;
        s.groups = s.dim[TH_DIM_H] = s.dim[TH_DIM_W] = s.stride_h = s.stride_w = 1;
        s.in_h = s.in_w = s.dim[TH_DIM_R];
    } else if (kind == 2) {
        s.kind = TH_LAYER_MATMUL;
        s.n_operands = (int32_t)pick(r, 1, 2);
        s.dim[TH_DIM_W] = s.dim[TH_DIM_R] = s.dim[TH_DIM_S] = s.stride_h = s.stride_w = s.in_w = 1;
        s.in_h = s.dim[TH_DIM_H];
    }
    return s;
}

/* Ports of whole elements and a clock that divides a second: the pipeline's ends, rounded up to a
 * picosecond per request, may differ by less than a cycle. */
static bool form_holds(const ready_design *d, const th_shard *shard)
{
    th_schedule s;
    th_pipeline p;
    th_error e = {"", ""};
    if (th_design_schedule(d->type, &d->config, shard, &fast_memory, &s, &e)) {
        printf("# %s: %s\n", d->type->name, e.text);
        return false;
    }
    th_pipeline_start(&p, &s, &fast_memory, &(th_pipeline_options){.skip = true});
    double cycles = (double)th_pipeline_finish(&p, &s, &fast_memory) * 1e-12 * (double)s.hz;
    double form = closed_form(d->type, &d->config, shard);
    if (!(fabs(cycles - form) < 1))
        printf("# %s: %.3f cycles, closed form %.3f\n", d->type->name, cycles, form);
    return fabs(cycles - form) < 1;
}

TEST(the_pipeline_agrees_with_every_closed_form)
{
    for (int i = 0; th_design_types[i]; i++) {
        const th_design_type *t = th_design_types[i];
        auto_rng *r = th_random_stream(41, t->name, 0);
        int wrong = 0;
        for (int round = 0; round < LAYERS / LAYERS_PER_CONFIG; round++) {
            char keys[KEYS_MAX];
            row_of(t)->closed(r, keys);
            ready_design d = ready_with(t->name, keys);
            for (int layer = 0; layer < LAYERS_PER_CONFIG; layer++) {
                th_shard shard = random_layer(r, t);
                wrong += !form_holds(&d, &shard);
            }
            free_ready(&d);
        }
        CU_ASSERT_EQUAL(wrong, 0);
    }
}

TAP_MAIN("closed_forms")
