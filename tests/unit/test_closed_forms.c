/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every design that has a closed form, against the pipeline on a memory faster than its ports: random
 * layers, to the cycle. A design without a row in design_rows.h fails. */
#include <config.h>
#include "sim/pipeline.h"
#include "tests/unit/design_rows.h"
#include <math.h>

enum { LAYERS = 1000, LAYERS_PER_CONFIG = 10 };

static void every_design_has_a_row(void)
{
    for (int i = 0; th_design_types[i]; i++) {
        const design_row *row = row_of(th_design_types[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(row);
        CU_ASSERT_TRUE(row->text || row->why_not);
        CU_ASSERT_EQUAL(!th_design_types[i]->closed_form, !row->closed);
    }
}

/* Ports of whole elements and a clock that divides a second: the pipeline's ends, rounded up to a
 * picosecond per request, may differ by less than a cycle. */
static bool form_holds(const ready_design *d, const th_shard *shard)
{
    th_schedule s;
    th_pipeline p;
    th_error e = {"", ""};
    if (d->type->schedule(&d->config, shard, &fast_memory, &s, &e))
        return false;
    th_pipeline_start(&p, &s, &fast_memory, 0, true);
    double cycles = (double)th_pipeline_finish(&p, &s, &fast_memory) * 1e-12 * (double)s.hz;
    double form = d->type->closed_form(&d->config, shard);
    if (!(fabs(cycles - form) < 1))
        printf("# %s: %.3f cycles, closed form %.3f\n", d->type->name, cycles, form);
    return fabs(cycles - form) < 1;
}

static void the_pipeline_agrees_with_every_closed_form(void)
{
    for (int i = 0; th_design_types[i]; i++) {
        const th_design_type *t = th_design_types[i];
        if (!t->closed_form)
            continue;
        gsl_rng *r = th_random_stream(41, t->name, 0);
        int wrong = 0;
        for (int round = 0; round < LAYERS / LAYERS_PER_CONFIG; round++) {
            char keys[KEYS_MAX];
            row_of(t)->closed(r, keys);
            ready_design d = ready_with(t->name, keys);
            for (int layer = 0; layer < LAYERS_PER_CONFIG; layer++) {
                th_shard shard = random_shard(r);
                wrong += !form_holds(&d, &shard);
            }
            free_ready(&d);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        gsl_rng_free(r);
    }
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(every_design_has_a_row),
        TAP(the_pipeline_agrees_with_every_closed_form),
        TAP_END,
    };
    return tap_main("closed_forms", tests, argc, argv);
}
