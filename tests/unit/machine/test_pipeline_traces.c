/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_pipeline_traces.c - a record shows what a pipeline shows that is stepped, to all who share
 * it.
 */
#include <config.h>
#include "base/alloc.h"
#include "sim/trace/pipeline_traces.h"
#include "tests/unit/pipeline_help.h"

enum { ROUNDS = 60, MANY = 40000 };

typedef struct stepped {
    th_pipeline *p;
    const th_schedule *s;
    const th_port *port;
} stepped;

/* Steps a pipeline and compares it with a record from event *next on. Returns how many of `most`
 * events differ. */
static int walk(th_pipeline_traces *k, th_pipeline_trace **r, size_t *next, const stepped *x,
                int64_t most)
{
    int wrong = 0;
    for (int64_t i = 0; i < most; i++) {
        th_time at = th_pipeline_next(x->p);
        bool has_more = *next < (*r)->n || th_pipeline_traces_more(k, r, next) > 0;
        if (!has_more || at == TH_TIME_MAX)
            return wrong + (has_more || at != TH_TIME_MAX);
        th_pipeline_advance(x->p, x->s, x->port, at);
        th_tiles tiles = th_pipeline_tiles(x->p, x->s);
        const th_pipeline_change *e = &(*r)->change[(*next)++];
        wrong += e->at != at || e->tiles != th_tile_state_of(&tiles);
    }
    return wrong;
}

/* The second comes when the first is on its way, and both see all of it. */
TEST(shows_what_a_pipeline_shows)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
    th_pipeline_traces *k = th_pipeline_traces_new();
    for (uint64_t round = 0; round < ROUNDS; round++) {
        th_schedule s = random_schedule(random);
        th_port port = random_port(random);
        const uint64_t digest[2] = {round, 7}, other[2] = {7, round};
        size_t next[2] = {0, 0};
        th_pipeline p;
        th_pipeline_start(&p, &s, &port, &(th_pipeline_options){0});
        th_pipeline q = p;
        th_pipeline_trace *a = th_pipeline_traces_add(k, digest, &p, &s, &port);
        CU_ASSERT_EQUAL(walk(k, &a, &next[0], &(stepped){&p, &s, &port}, pick(random, 0, 50)), 0);
        th_pipeline_trace *b = th_pipeline_traces_find(k, digest);
        CU_ASSERT_PTR_EQUAL(a, b);
        CU_ASSERT_TRUE(round == 7 || !th_pipeline_traces_find(k, other));
        CU_ASSERT_EQUAL(walk(k, &a, &next[0], &(stepped){&p, &s, &port}, INT64_MAX), 0);
        CU_ASSERT_EQUAL(walk(k, &b, &next[1], &(stepped){&q, &s, &port}, INT64_MAX), 0);
        CU_ASSERT_EQUAL(next[0], next[1]);
        th_pipeline_trace_release(a);
        th_pipeline_trace_release(b);
    }
    th_pipeline_traces_free(k);
    gsl_rng_free(random);
}

/* Wherever others begin to draw, the rest takes as long as that of a pipeline that was stepped
 * there. */
TEST(gives_the_state_at_a_time)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
    th_pipeline_traces *k = th_pipeline_traces_new();
    for (int round = 0; round < ROUNDS; round++) {
        th_schedule s = random_schedule(random);
        th_port port = random_port(random);
        size_t next = 0;
        th_pipeline p, q;
        th_pipeline_start(&p, &s, &port, &(th_pipeline_options){0});
        th_pipeline_trace *r = th_pipeline_traces_add(k, NULL, &p, &s, &port);
        walk(k, &r, &next, &(stepped){&p, &s, &port}, pick(random, 0, 300));
        th_time at = p.now + pick(random, 0, 1000000);
        th_pipeline_trace_state(r, at, &q);
        th_pipeline_advance(&p, &s, &port, at);
        th_pipeline_set_demand(&p, &port, (double)port.bits_per_s / 32);
        th_pipeline_set_demand(&q, &port, (double)port.bits_per_s / 32);
        CU_ASSERT_EQUAL(th_pipeline_next(&p), th_pipeline_next(&q));
        CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &port), th_pipeline_finish(&q, &s, &port));
        th_pipeline_trace_release(r);
    }
    th_pipeline_traces_free(k);
    gsl_rng_free(random);
}

/* More events than a record keeps: each goes on in one of its own. */
TEST(goes_on_past_what_is_kept)
{
    th_schedule s = {.hz = HZ, .count = {1, 80, 80, 20, 1}, .slots_in = 2, .slots_out = 2};
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++) {
        s.step[m] = (th_step){640, 1280, 10};
        s.output_bytes[m & 7u] = 320;
    }
    const uint64_t digest[2] = {1, 2};
    const th_port port = {160000000000, 100000, 64, 1, 0, {0}};
    int64_t live = th_alloc_live();
    th_pipeline_traces *k = th_pipeline_traces_new();
    th_pipeline_trace *r[2];
    size_t next[2] = {0, 0};
    th_pipeline p[2];
    th_pipeline_start(&p[0], &s, &port, &(th_pipeline_options){0});
    p[1] = p[0];
    r[0] = th_pipeline_traces_add(k, digest, &p[0], &s, &port);
    r[1] = th_pipeline_traces_find(k, digest);
    for (int part = 0; part < 2; part++) /* in turns */
        for (int i = 0; i < 2; i++)
            CU_ASSERT_EQUAL(
                walk(k, &r[i], &next[i], &(stepped){&p[i], &s, &port}, part ? INT64_MAX : 300000),
                0);
    CU_ASSERT_TRUE(p[0].done && p[1].done && p[0].steps_done == 128000);
    CU_ASSERT_TRUE(r[0] != r[1] && r[0]->n < 10000 && r[1]->n < 10000);
    th_pipeline_trace_release(r[0]);
    th_pipeline_trace_release(r[1]);
    th_pipeline_traces_forget(k);
    CU_ASSERT_PTR_NULL(th_pipeline_traces_find(k, digest));
    th_pipeline_traces_free(k);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

/* What is in use stays, and what is kept is bounded. */
TEST(forgets)
{
    th_schedule s = {.hz = HZ, .count = {1, 40, 1, 1, 1}, .slots_in = 2, .slots_out = 2};
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++) {
        s.step[m] = (th_step){640, 0, 10};
        s.output_bytes[m & 7u] = 320;
    }
    th_pipeline_traces *k = th_pipeline_traces_new();
    th_pipeline p;
    size_t next = 0;
    th_pipeline_start(&p, &s, &ideal, &(th_pipeline_options){0});
    const uint64_t first[2] = {0, 0};
    th_pipeline_trace *used = th_pipeline_traces_add(k, first, &p, &s, &ideal);
    int64_t live = th_alloc_live(), most = 0;
    for (uint64_t i = 1; i < MANY; i++) {
        const uint64_t digest[2] = {i, i};
        th_pipeline_trace_release(th_pipeline_traces_add(k, digest, &p, &s, &ideal));
        most = th_alloc_live() - live > most ? th_alloc_live() - live : most;
    }
    CU_ASSERT_PTR_NULL(th_pipeline_traces_find(k, first));
    CU_ASSERT_TRUE(most > MANY / 4 && most < MANY);
    CU_ASSERT_EQUAL(walk(k, &used, &next, &(stepped){&p, &s, &ideal}, INT64_MAX), 0);
    CU_ASSERT_TRUE(next > 40);
    th_pipeline_trace_release(used);
    th_pipeline_traces_free(k);
}

/* Whichever allocation fails, nothing is lost. */
TEST(memory_may_run_out)
{
    th_schedule s = {.hz = HZ, .count = {1, 9, 9, 1, 1}, .slots_in = 2, .slots_out = 2};
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++) {
        s.step[m] = (th_step){640, 64, 10};
        s.output_bytes[m & 7u] = 320;
    }
    const uint64_t digest[2] = {1, 1};
    int64_t live = th_alloc_live();
    int n_failed = 0;
    for (int64_t fails = 0, i = 1; fails == i - 1; i++) {
        th_pipeline p;
        size_t next = 0;
        int more = 0;
        th_pipeline_start(&p, &s, &ideal, &(th_pipeline_options){0});
        th_alloc_fail_at(i);
        th_pipeline_traces *k = th_pipeline_traces_new();
        th_pipeline_trace *r = k ? th_pipeline_traces_add(k, digest, &p, &s, &ideal) : NULL;
        while (r && (more = th_pipeline_traces_more(k, &r, &next)) > 0)
            next = r->n;
        fails += !r || more < 0;
        n_failed = (int)fails;
        th_pipeline_trace_release(r);
        th_pipeline_traces_free(k);
        th_alloc_fail_at(0);
        CU_ASSERT_EQUAL(th_alloc_live(), live);
    }
    CU_ASSERT_TRUE(n_failed > 5);
}

TAP_MAIN("pipeline_traces")
