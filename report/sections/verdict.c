/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.c - see verdict.h.
 *   find: figures of the summary -> deadlines -> parts of the critical path -> classes of
 *         accelerators -> link
 *   sentence: clauses on a missed deadline; the path; the accelerators; the links */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "mapper/evaluate/deadline.h"
#include "report/sections/sections.h"
#include "report/sections/verdict.h"

/* Accelerators are balanced if the least busy does at least this part of the work of the busiest:
 * up to a fifth of an accelerator idles for the sake of the slowest. */
static const double BALANCED = 0.8;
/* Smaller parts of the path are not named. */
static const double NAMED_SHARE = 0.1;
/* Two runs are equally fast within the last digit that is printed. */
static const double EQUAL = 0.005;

/* In prose: "array", "own DRAM", "link bandwidth" ... */
static const char *part_name(int part)
{
    static const char *const names[TH_N_PATH_PARTS] = {
        [TH_PART_ARRAY] = "array",
        [TH_PART_MEMORY] = "own DRAM",
        [TH_PART_LATENCY] = "link latency",
        [TH_PART_LINK] = "link bandwidth",
        [TH_PART_CONTENTION] = "contention",
        [TH_PART_FAULTS] = "faults of links",
        [TH_PART_SLOWDOWN] = "slow accelerators",
        [TH_PART_HOST] = "host",
        [TH_PART_COLLECTIVE] = "collectives",
        [TH_PATH_WAIT] = "waiting for arrivals",
    };
    return names[part];
}

/* ---- figures ---- */

static bool same_class(const th_accel *a, const th_accel *b)
{
    if (a->dram_bits_per_s != b->dram_bits_per_s || a->dram_bytes != b->dram_bytes ||
        a->vector_hz != b->vector_hz || a->n_designs != b->n_designs)
        return false;
    return memcmp(a->designs, b->designs, (size_t)a->n_designs * sizeof *a->designs) == 0;
}

static double work_share(const th_result *x, int accel)
{
    const th_accel_result *f = &x->accels[accel];
    return x->elapsed_ps > 0 ? 1 - (double)f->idle_ps / (double)x->elapsed_ps : 0;
}

static void add_to_class(th_accel_class *c, double share)
{
    c->least = c->n == 0 ? share : fmin(c->least, share);
    c->most = c->n == 0 ? share : fmax(c->most, share);
    c->mean = (c->mean * c->n + share) / (c->n + 1);
    c->n++;
}

static void find_classes(const th_system *s, const th_result *x, th_verdict *v)
{
    int first[TH_VERDICT_CLASSES_MAX];
    for (int a = 0; a < x->n_accels; a++) {
        const th_accel *accel = &s->nodes[s->accel_node[a]].a;
        int k = 0;
        while (k < v->n_classes && k < TH_VERDICT_CLASSES_MAX - 1 &&
               !same_class(accel, &s->nodes[s->accel_node[first[k]]].a))
            k++;
        if (k == v->n_classes) {
            first[v->n_classes++] = a;
            snprintf(v->classes[k].name, sizeof v->classes[k].name, "%s",
                     accel->n_designs > 0 ? s->designs[accel->designs[0]].name : "accelerator");
        }
        add_to_class(&v->classes[k], work_share(x, a));
    }
}

static int find_link(th_session *s, const th_result *x, th_verdict *v, th_error *err)
{
    int worst = th_link_worst(s, err);
    if (worst < 0)
        return worst == -1 ? 0 : -1;
    double *loads = th_link_loads(s->system, x);
    if (!loads)
        return th_error_no_memory(err);
    snprintf(v->link, sizeof v->link, "%s", s->system->links[worst].name);
    v->link_load = loads[worst];
    th_free(loads);
    return 0;
}

static int find_missed(const th_session *s, const th_result *x, th_missed_deadline *missed,
                       th_error *err)
{
    const th_workload *w = s->workload;
    if (!th_deadline_exists(w))
        return 0;
    th_time *end = th_alloc_array((size_t)w->n_models * (size_t)x->n_inputs + 1, sizeof *end);
    if (!end)
        return th_error_no_memory(err);
    th_deadline_model_ends(w, s->simulation->program, x->tasks, end);
    for (int i = 0; i < w->n_models; i++) {
        th_model_timing timing =
            th_deadline_model_timing(w, &s->simulation->options.stream, i, end);
        if (!timing.is_complete || timing.lateness_ps == 0)
            continue;
        if (missed->n++ > 0 && timing.lateness_ps <= missed->lateness_ps)
            continue;
        snprintf(missed->name, sizeof missed->name, "%s", w->models[i].name);
        missed->deadline_ps = w->models[i].deadline_ps;
        missed->lateness_ps = timing.lateness_ps;
    }
    th_free(end);
    return 0;
}

static void add_step(const th_training_step *step, const th_result *x, th_verdict *v)
{
    const th_batch *b = &step->plan.batch;
    if (step->is_merged)
        v->merged_ranks = th_plan_stage_ranks(&step->plan);
    if (x->is_done && x->elapsed_ps > 0)
        v->tokens_per_s =
            (double)b->global_batch * b->sequence * (double)TH_PS_PER_S / (double)x->elapsed_ps;
}

int th_verdict_find(th_session *s, th_verdict *v, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    *v = (th_verdict){.is_hand_built = s->hand_built, .bound_ps = TH_BOUND_NOT_COMPUTED};
    if (!x)
        return -1;
    if (s->hand_built && s->hand_built->step)
        add_step(s->hand_built->step, x, v);
    v->is_done = x->is_done;
    v->elapsed_ps = x->elapsed_ps;
    v->moved_bytes = x->moved_bytes;
    v->n_inputs = x->n_inputs;
    if (s->workload && !s->hand_built) {
        v->batch = s->workload->batch;
        v->latency_ps = th_simulation_latency(s->simulation, x);
        v->samples_per_s =
            x->is_done ? (double)th_workload_samples(s->workload) * th_result_throughput(x) : 0;
        if (find_missed(s, x, &v->missed, err) != 0)
            return -1;
    }
    find_classes(s->system, x, v);
    return th_path_breakdown(s, v->part_ps, err) != 0 ? -1 : find_link(s, x, v, err);
}

double th_verdict_share(const th_verdict *v, int part)
{
    th_time all = 0;
    for (int p = 0; p < TH_N_PATH_PARTS; p++)
        all += v->part_ps[p];
    return all > 0 ? (double)v->part_ps[part] / (double)all : 0;
}

/* The largest part that is smaller than this one, or equal and after it; -1: none, or it is 0. */
static int next_part(const th_verdict *v, int before)
{
    int next = -1;
    for (int p = 0; p < TH_N_PATH_PARTS; p++) {
        bool is_after = before < 0 || v->part_ps[p] < v->part_ps[before] ||
                        (v->part_ps[p] == v->part_ps[before] && p > before);
        if (is_after && v->part_ps[p] > 0 && (next < 0 || v->part_ps[p] > v->part_ps[next]))
            next = p;
    }
    return next;
}

int th_verdict_limit(const th_verdict *v)
{
    return next_part(v, -1);
}

/* ---- the sentence ---- */

static const char *percent(double share, char *out, size_t size)
{
    if (share > 0 && share < 0.01)
        snprintf(out, size, "less than 1 %%");
    else
        snprintf(out, size, "%.0f %%", 100 * share);
    return out;
}

/* "radar misses its deadline of 9.5ms by 2.64ms; ": the latest model. */
static void add_deadline_clause(const th_missed_deadline *missed, th_strbuf *out)
{
    char deadline[64], late[64];
    if (missed->n == 0)
        return;
    th_strbuf_printf(out, "%s misses its deadline of %s by %s", missed->name,
                     th_format_time(missed->deadline_ps, deadline, sizeof deadline),
                     th_format_time(missed->lateness_ps, late, sizeof late));
    if (missed->n > 1)
        th_strbuf_printf(out, ", and %d other model%s late", missed->n - 1,
                         missed->n == 2 ? " is" : "s are");
    th_strbuf_add(out, "; ");
}

const char *th_verdict_part_name(const th_verdict *v, int part)
{
    return part == TH_PART_HOST && v->merged_ranks > 0 ? "messages" : part_name(part);
}

/* "80 % array and 16 % own DRAM": those of NAMED_SHARE, at least the largest, at most three. */
static void add_path_clause(const th_verdict *v, th_strbuf *out)
{
    enum { NAMED_MAX = 3 };
    char text[24];
    int part[NAMED_MAX], n = 0;
    for (int p = th_verdict_limit(v); p >= 0 && n < NAMED_MAX; p = next_part(v, p))
        if (n == 0 || th_verdict_share(v, p) >= NAMED_SHARE)
            part[n++] = p;
    if (n == 0)
        th_strbuf_add(out, "Nothing has ended yet");
    else
        th_strbuf_add(out, v->missed.n > 0 ? "the critical path is " : "The critical path is ");
    for (int i = 0; i < n; i++)
        th_strbuf_printf(out, "%s%s %s",
                         i == 0       ? ""
                         : i == n - 1 ? " and "
                                      : ", ",
                         percent(th_verdict_share(v, part[i]), text, sizeof text),
                         th_verdict_part_name(v, part[i]));
}

/* Accelerators of one class. */
static void add_balance(const th_accel_class *c, th_strbuf *out)
{
    char least[24], most[24];
    percent(c->least, least, sizeof least);
    percent(c->most, most, sizeof most);
    if (c->n == 1)
        th_strbuf_printf(out, "; the accelerator works %s of the time", most);
    else if (c->least >= BALANCED * c->most)
        th_strbuf_printf(out, "; the %d accelerators are balanced, at work %s%s%s of the time",
                         c->n, least, strcmp(least, most) == 0 ? "" : " to ",
                         strcmp(least, most) == 0 ? "" : most);
    else
        th_strbuf_printf(out,
                         "; the %d accelerators are not balanced, at work %s to %s of the time",
                         c->n, least, most);
}

/* The most and the least busy class. */
static void add_classes(const th_verdict *v, const th_accel_class *least,
                        const th_accel_class *most, th_strbuf *out)
{
    char a[24], b[24];
    bool is_balanced = least->mean >= BALANCED * most->mean;
    percent(most->mean, a, sizeof a);
    percent(least->mean, b, sizeof b);
    if (v->n_classes == 2)
        th_strbuf_printf(out, "; %s and %s are %sbalanced, at work %s and %s of the time",
                         most->name, least->name, is_balanced ? "" : "not ", a, b);
    else
        th_strbuf_printf(out,
                         "; the %d kinds of accelerators are %sbalanced, from %s at work %s of the "
                         "time to %s at work %s",
                         v->n_classes, is_balanced ? "" : "not ", most->name, a, least->name, b);
}

static void add_accel_clause(const th_verdict *v, th_strbuf *out)
{
    const th_accel_class *least = &v->classes[0], *most = &v->classes[0];
    for (int k = 1; k < v->n_classes; k++) {
        least = v->classes[k].mean < least->mean ? &v->classes[k] : least;
        most = v->classes[k].mean > most->mean ? &v->classes[k] : most;
    }
    if (v->merged_ranks > 0)
        th_strbuf_printf(out, "; one accelerator stands for the %d of its stage",
                         (int)v->merged_ranks);
    if (v->n_classes == 0 || most->most <= 0 || v->merged_ranks > 0)
        return;
    if (v->n_classes == 1)
        add_balance(most, out);
    else
        add_classes(v, least, least == most ? &v->classes[1] : most, out);
}

void th_verdict_sentence(const th_verdict *v, th_strbuf *out)
{
    char text[24];
    add_deadline_clause(&v->missed, out);
    add_path_clause(v, out);
    add_accel_clause(v, out);
    if (v->link[0] != '\0')
        th_strbuf_printf(out, "; the link %s is the busiest at %s", v->link,
                         percent(v->link_load, text, sizeof text));
    th_strbuf_add(out, ".");
}

/* ---- two runs ---- */

/* The part whose time differs most. */
static int largest_difference(const th_verdict *slow, const th_verdict *fast)
{
    int largest = 0;
    for (int p = 1; p < TH_N_PATH_PARTS; p++)
        if (slow->part_ps[p] - fast->part_ps[p] > slow->part_ps[largest] - fast->part_ps[largest])
            largest = p;
    return largest;
}

void th_verdict_compare(const th_verdict *a, const char *a_name, const th_verdict *b,
                        const char *b_name, th_strbuf *out)
{
    bool is_first = a->elapsed_ps <= b->elapsed_ps;
    const th_verdict *fast = is_first ? a : b, *slow = is_first ? b : a;
    th_time saved = slow->elapsed_ps - fast->elapsed_ps;
    double ratio = fast->elapsed_ps > 0 ? (double)slow->elapsed_ps / (double)fast->elapsed_ps : 1;
    int part = largest_difference(slow, fast);
    th_time of_part = slow->part_ps[part] - fast->part_ps[part];
    char text[64];
    if (ratio < 1 + EQUAL) {
        th_strbuf_printf(out, "%s and %s take the same time to half a percent.", a_name, b_name);
        return;
    }
    th_strbuf_printf(out, "%s is %.3g times as fast as %s", is_first ? a_name : b_name, ratio,
                     is_first ? b_name : a_name);
    if (of_part > 0)
        th_strbuf_printf(out, ": it saves %s, most of all in %s (%.0f %%)",
                         th_format_time(saved, text, sizeof text), part_name(part),
                         100 * (double)of_part / (double)saved);
    th_strbuf_add(out, ".");
}
