/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_schedule_cache.c - kept schedules of collectives: a cache that has been asked before answers
 * like a new one about a collective that differs in one thing. */
#include <config.h>
#include "sim/replay/schedule_cache.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/schedule_read.h"
#include "tests/unit/collective_shapes.h"

enum { RANKS_MAX = 8, STEPS_MAX = 4000 };

/* All that a replay reads: who takes part, and every message. */
static void add_schedule(th_strbuf *out, const th_collective_schedule *cs)
{
    const th_collective *c = cs->collective;
    th_collective_step step;
    int n = 0;
    th_strbuf_printf(out, "%s chunks %d delay %lld ranks", cs->algorithm->name, (int)c->chunks,
                     (long long)c->delay_ps);
    for (int32_t i = 0; i < cs->n_participants; i++)
        th_strbuf_printf(out, " %d", (int)cs->node[i]);
    for (int32_t i = 0; i < cs->n_participants; i++)
        for (int32_t t = 0; t < cs->n_threads; t++)
            for (int64_t s = 0; n < STEPS_MAX && cs->algorithm->get_step(cs, i, t, s, &step); s++) {
                th_strbuf_printf(out, "\n%d.%d waits %d %d", (int)i, (int)t, (int)step.wait_port,
                                 (int)step.wait_count);
                if (step.send_port >= 0)
                    th_strbuf_printf(out, " sends %d %d %d %lld %lld %d %lld", (int)step.send_port,
                                     (int)step.to, (int)step.to_port, (long long)step.bytes,
                                     (long long)step.first, (int)step.reduces,
                                     (long long)step.work_ps);
                n++;
            }
}

static bool answer(th_collective_schedule_cache *k, const th_collective *c, th_strbuf *out)
{
    th_error e = {"", ""};
    const th_collective_schedule *cs = th_collective_schedule_cache_get(k, c, &e);
    th_strbuf_clear(out);
    if (cs)
        add_schedule(out, cs);
    else
        th_strbuf_printf(out, "%s %s", e.id, e.text);
    return cs;
}

static th_collective_schedule_cache *cache_of(th_machine *m)
{
    const th_tuner_context t = th_machine_tuner_context(m);
    th_collective_schedule_cache *k = th_collective_schedule_cache_new(&t);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    return k;
}

/* --- collectives that differ in one thing --- */

typedef struct {
    th_collective c;
    int32_t nodes[RANKS_MAX];
    int64_t pairs[RANKS_MAX * RANKS_MAX];
} question;

/* The arrays that it refers to lie in it. */
static void settle(question *q)
{
    q->c.rank_node = q->nodes;
    if (q->c.pair_bytes)
        q->c.pair_bytes = q->pairs;
}

static const th_algorithm *any_algorithm(gsl_rng *r)
{
    int n = 0;
    while (th_algorithms[n])
        n++;
    return pick(r, 0, 2) ? th_algorithms[pick(r, 0, n - 1)] : NULL;
}

static void change_ranks(gsl_rng *r, question *q)
{
    int32_t *a = &q->nodes[pick(r, 0, q->c.n_ranks - 1)], *b = &q->nodes[pick(r, 0, RANKS_MAX - 1)],
            swap = *a;
    *a = *b; /* maybe with a node that is no rank */
    *b = swap;
}

/* Extents of a hierarchy, which only some algorithms look at. */
static void change_extents(gsl_rng *r, th_collective *c)
{
    static const int32_t extents[][2] = {{4, 2}, {2, 4}, {8, 1}};
    const bool is_one = c->n_dims > 0 && c->algorithm == &th_algorithm_hierarchical;
    c->n_dims = pick(r, 0, 4) ? 2 : 0;
    memcpy(c->dims, extents[pick(r, 0, 2)], sizeof *extents);
    if (is_one)
        return;
    c->kind = TH_ALL_REDUCE;
    c->algorithm = &th_algorithm_hierarchical;
    c->n_ranks = RANKS_MAX;
}

/* What the change made impossible goes. */
static void repair(th_collective *c)
{
    int32_t product = 1;
    for (int i = 0; i < c->n_dims; i++)
        product *= c->dims[i];
    if (c->algorithm && !(c->algorithm->kinds >> c->kind & 1u))
        c->algorithm = NULL;
    if (product != c->n_ranks)
        c->n_dims = 0;
    if (c->kind != TH_ALL_TO_ALL)
        c->pair_bytes = NULL;
    c->bytes = c->kind == TH_BARRIER ? 0 : c->bytes > 0 ? c->bytes : 4096;
    c->root = c->root < c->n_ranks ? c->root : 0;
}

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(th_collective) == 120, "one more of a collective: is it changed here?");
#endif

/* Sizes that pieces divide, and that they do not; user-written schedules over the same ranks. */
static void change(gsl_rng *r, th_user_schedule *const *u, question *q)
{
    th_collective *c = &q->c;
    switch (pick(r, 0, 12)) {
    case 0:
        c->kind = (int32_t)pick(r, 0, TH_SEND_RECV - 1);
        break;
    case 1:
        c->algorithm = any_algorithm(r);
        break;
    case 2:
        change_ranks(r, q);
        break;
    case 3:
        c->n_ranks = (int32_t)pick(r, 2, RANKS_MAX);
        break;
    case 4:
        c->bytes = 4096 * pick(r, 1, 3) + pick(r, 0, 1);
        break;
    case 5:
        c->pair_bytes = c->pair_bytes ? NULL : q->pairs;
        break;
    case 6:
        q->pairs[pick(r, 0, RANKS_MAX * RANKS_MAX - 1)] = pick(r, 0, 999);
        break;
    case 7:
        c->root = (int32_t)pick(r, 0, c->n_ranks - 1);
        break;
    case 8:
        c->chunks = (int32_t)pick(r, 0, 3);
        break;
    case 9:
    case 10:
    case 11:
        change_extents(r, c);
        break;
    default:
        c->delay_ps = pick(r, 0, 3);
    }
    if (pick(r, 0, 30) == 0) {
        c->kind = TH_USER_SCHEDULE;
        c->algorithm = &th_algorithm_schedule;
        c->schedule = u[pick(r, 0, 1)];
        c->n_ranks = 4;
        c->pair_bytes = NULL;
    } else if (c->kind == TH_USER_SCHEDULE && pick(r, 0, 1)) {
        c->kind = TH_ALL_TO_ALL;
        c->schedule = NULL;
    }
}

static th_user_schedule *schedule_of(const char *text)
{
    th_error e = {"", ""};
    th_user_schedule *u = th_user_schedule_read_text(text, "s.cfg", &e);
    if (!u)
        printf("Bail out! %s %s\n", e.id, e.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    return u;
}

static int walk(const th_system *s, int n_steps, th_user_schedule *const *u)
{
    auto_rng *r = th_random_stream(41, s->name, (uint64_t)s->n_nodes);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_machine *m = th_machine_new(s, costs, NULL, NULL);
    th_collective_schedule_cache *asked = cache_of(m);
    auto_strbuf a = TH_STRBUF_INIT, b = TH_STRBUF_INIT;
    question q = {.c = {.kind = TH_ALL_TO_ALL, .n_ranks = 4, .bytes = 4096, .chunks = 1}};
    int n_prepared = 0, n_wrong = 0;
    for (int i = 0; i < RANKS_MAX; i++)
        q.nodes[i] = s->accel_node[i];
    for (int i = 0; i < n_steps; i++) {
        th_machine *alone = th_machine_new(s, costs, NULL, NULL); /* has chosen nothing yet */
        th_collective_schedule_cache *fresh = cache_of(alone);
        settle(&q);
        n_prepared += answer(asked, &q.c, &a);
        answer(fresh, &q.c, &b);
        if (strcmp(a.text, b.text) != 0 && n_wrong++ == 0)
            printf("# step %d, %s\n# %.70s\n# alone: %.70s\n", i, th_collective_names[q.c.kind],
                   a.text, b.text);
        th_collective_schedule_cache_free(fresh);
        th_machine_free(alone);
        change(r, u, &q);
        repair(&q.c);
    }
    printf("# %d of %d can be done\n", n_prepared, n_steps);
    CU_ASSERT_TRUE(2 * n_prepared > n_steps);
    th_collective_schedule_cache_free(asked);
    return n_wrong;
}

/* Rank 0 passes so much on to rank 1. */
#define PASS(SIZE)                                                                                 \
    "ranks = ( { threads = ( ( { send = 1; size = \"" SIZE                                         \
    "\"; } ) ); }, { threads = ( ( { recv = 0; size = \"" SIZE                                     \
    "\"; } ) ); }, { threads = ( ); }, { threads = ( ); } );"

TEST(every_thing_of_a_collective_is_in_the_key)
{
    th_system *systems[] = {generated("torus", (int[]){4, 2}, 2),
                            generated("islands", (int[]){2, 4}, 2), of_size("star", 8)};
    th_user_schedule *u[] = {schedule_of(PASS("10B")), schedule_of(PASS("20B"))};
    systems[2]->nodes[systems[2]->n_nodes - 1].reduces = true;
    int n_wrong = 0;
    for (int i = 0; i < 3; i++) {
        n_wrong += walk(systems[i], TAP_REPEATS(400), u);
        th_system_free(systems[i]);
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
    th_user_schedule_free(u[0]);
    th_user_schedule_free(u[1]);
}

TAP_MAIN("schedule_cache")
