/* SPDX-License-Identifier: GPL-3.0-or-later */
/* survival.c - see survival.h.
 *   list the cases -> evaluate each: the best repair, or the run without the link */
#include <config.h>

#include "mapper/search/survival.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

struct th_survivor {
    th_evaluator *evaluator;
    th_initial_generator *generator;
    int last_failure; /* number of the case that the last check ended with, -1: none */
};

/* --- life --- */

th_survivor *th_survivor_new(const th_problem *p, th_error *err)
{
    th_survivor *s = th_alloc_zero(1, sizeof *s);
    if (!s) {
        th_error_no_memory(err);
        return NULL;
    }
    s->last_failure = -1;
    if ((s->evaluator = th_evaluator_new(p, err)) &&
        (s->generator = th_initial_new(s->evaluator, err)))
        return s;
    th_survivor_free(s);
    return NULL;
}

void th_survivor_free(th_survivor *s)
{
    if (!s)
        return;
    th_initial_free(s->generator);
    th_evaluator_free(s->evaluator);
    th_free(s);
}

static const th_problem *problem_of(const th_survivor *s)
{
    return th_evaluator_problem(s->evaluator);
}

/* --- the cases --- */

static th_failure_case new_case(bool is_link, int32_t object)
{
    return (th_failure_case){
        .is_link = is_link, .object = object, .repair = TH_REPAIR_UNUSED, .to = -1, .loss = 0};
}

/* A case per medium that a link with ends uses: unused where no link of it carried anything. */
static int add_links(const th_system *s, const bool *used, th_survival *out)
{
    int32_t *of_medium = th_alloc_array((size_t)s->n_media + 1, sizeof *of_medium);
    if (!of_medium)
        return -1;
    for (int m = 0; m < s->n_media; m++)
        of_medium[m] = -1;
    for (int l = 0; l < s->n_links; l++) {
        int32_t *at = &of_medium[s->links[l].medium];
        if (s->links[l].is_dead)
            continue;
        if (*at < 0) {
            *at = out->n;
            out->all[out->n++] = new_case(true, l);
        }
        if (used[l])
            out->all[*at].repair = TH_REPAIR_DETOUR;
    }
    th_free(of_medium);
    return 0;
}

/* Runs the mapping as it is. */
static int list_cases(th_survivor *v, const th_mapping *m, th_survival *out, th_error *err)
{
    th_evaluator *e = v->evaluator;
    const th_system *s = problem_of(v)->system;
    bool *used = th_alloc_zero((size_t)s->n_links + 1, sizeof *used);
    *out = (th_survival){.worst = -1, .has_links = th_evaluator_can_lose_links(e)};
    out->all = th_alloc_array((size_t)s->n_accels + (size_t)s->n_media + 1, sizeof *out->all);
    int failed = used && out->all ? 0 : th_error_no_memory(err);
    if (!failed)
        failed = th_evaluator_run_without_link(e, m, -1, &out->before, used, err);
    out->n_evaluations++;
    for (int a = 0; !failed && a < s->n_accels; a++)
        out->all[out->n++] = new_case(false, a);
    if (!failed && out->has_links && add_links(s, used, out))
        failed = th_error_no_memory(err);
    th_free(used);
    if (failed || out->before.fit == TH_FIT)
        return failed;
    th_error why = {"", ""};
    th_evaluator_explain(e, m, &why);
    return th_error_set(err, "MAP-0131", "the mapping does not run without failures: %s", why.text);
}

/* --- one of them --- */

static void set_loss(const th_survivor *s, const th_survival *all, th_failure_case *c)
{
    const th_goal *g = &problem_of(s)->goal;
    c->loss = c->repair == TH_REPAIR_NONE
                  ? INFINITY
                  : th_goal_value(g, &c->metrics) / th_goal_value(g, &all->before.metrics) - 1;
}

static int run_without_link(th_survivor *s, const th_mapping *m, th_failure_case *c,
                            th_survival *all, th_error *err)
{
    th_fitness fitness;
    if (c->repair == TH_REPAIR_UNUSED) {
        c->metrics = all->before.metrics;
        return 0;
    }
    all->n_evaluations++;
    if (th_evaluator_run_without_link(s->evaluator, m, c->object, &fitness, NULL, err))
        return -1;
    if (fitness.fit != TH_FIT)
        c->repair = TH_REPAIR_NONE;
    c->metrics = fitness.metrics;
    return 0;
}

/* The best repair, the first among equals. */
static int repair(th_survivor *s, const th_mapping *m, th_failure_case *c, th_survival *all,
                  th_error *err)
{
    const th_goal *g = &problem_of(s)->goal;
    th_repairs r;
    th_repair_kind kind;
    int32_t to;
    bool failed;
    double best = INFINITY;
    c->metrics = all->before.metrics;
    if (!th_repairs_start(&r, s->evaluator, s->generator, m, c->object))
        return 0;
    c->repair = TH_REPAIR_NONE;
    for (th_mapping *next; (next = th_repairs_next(&r, &kind, &to, &failed, err));) {
        th_fitness fitness;
        failed = th_evaluator_run(s->evaluator, next, INFINITY, &fitness, err) != 0;
        th_mapping_free(next);
        all->n_evaluations++;
        if (failed)
            break;
        double value = fitness.fit == TH_FIT ? th_goal_value(g, &fitness.metrics) : INFINITY;
        if (value >= best)
            continue;
        best = value;
        c->repair = (int32_t)kind;
        c->to = to;
        c->metrics = fitness.metrics;
    }
    return failed ? -1 : 0;
}

static int run_case(th_survivor *s, const th_mapping *m, int number, th_survival *all,
                    th_error *err)
{
    th_failure_case *c = &all->all[number];
    if ((c->is_link ? run_without_link : repair)(s, m, c, all, err))
        return -1;
    if (th_evaluator_is_full(s->evaluator))
        th_evaluator_trim(s->evaluator);
    set_loss(s, all, c);
    return 0;
}

/* --- all of them --- */

static void sum_up(th_survival *s)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        bool is_lost = s->all[i].repair == TH_REPAIR_NONE;
        s->n_lost += is_lost;
        sum += is_lost ? 0 : s->all[i].loss;
        if (s->worst < 0 || s->all[i].loss > s->all[s->worst].loss)
            s->worst = i;
    }
    s->mean_loss = s->n > s->n_lost ? sum / (s->n - s->n_lost) : 0;
}

int th_survival_find(th_survivor *s, const th_mapping *m, th_survival *out, th_error *err)
{
    int failed = list_cases(s, m, out, err);
    for (int i = 0; !failed && i < out->n; i++)
        failed = run_case(s, m, i, out, err);
    if (failed)
        th_survival_clear(out);
    else
        sum_up(out);
    return failed ? -1 : 0;
}

void th_survival_clear(th_survival *x)
{
    th_free(x->all);
    *x = (th_survival){.worst = -1};
}

static void explain(const th_system *s, const th_failure_case *c, double most_loss,
                    th_error *reason)
{
    const char *name =
        c->is_link ? s->links[c->object].name : s->nodes[s->accel_node[c->object]].name;
    if (c->repair == TH_REPAIR_NONE)
        th_error_set(reason, "MAP-0132", "it does not survive the failure of %s/%s",
                     c->is_link ? "link" : "accel", name);
    else
        th_error_set(reason, "MAP-0133",
                     "without %s/%s it takes %.4g %% more: must be at most %.4g %%",
                     c->is_link ? "link" : "accel", name, 100 * c->loss, 100 * most_loss);
}

int th_survival_check(th_survivor *s, const th_mapping *m, double most_loss, th_error *reason,
                      th_error *err)
{
    th_survival all;
    int failed = list_cases(s, m, &all, err),
        first = s->last_failure < all.n ? s->last_failure : -1;
    bool survives = true;
    for (int i = first >= 0 ? -1 : 0; !failed && survives && i < all.n; i++) {
        int number = i < 0 ? first : i;
        const th_failure_case *c = &all.all[number];
        if (i >= 0 && i == first)
            continue;
        failed = run_case(s, m, number, &all, err);
        survives = !failed && c->repair != TH_REPAIR_NONE && c->loss <= most_loss;
        if (failed || survives)
            continue;
        s->last_failure = number;
        explain(problem_of(s)->system, c, most_loss, reason);
    }
    th_survival_clear(&all);
    return failed ? -1 : survives;
}
