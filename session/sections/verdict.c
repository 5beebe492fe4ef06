/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.c - see verdict.h. */
#include <config.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "mapper/evaluate/deadline.h"
#include "session/sections/sections.h"
#include "session/objects/figures.h"
#include "session/sections/verdict.h"
#include "session/step_times.h"

/* ---- classes of accelerators ---- */

typedef struct th_accel_class {
    int first, n;
    double least, mean, most;
} th_accel_class;

static bool same_class(const th_accel *a, const th_accel *b)
{
    if (a->dram_bits_per_s != b->dram_bits_per_s || a->dram_bytes != b->dram_bytes ||
        a->vector_hz != b->vector_hz || a->n_designs != b->n_designs)
        return false;
    return memcmp(a->designs, b->designs, (size_t)a->n_designs * sizeof *a->designs) == 0;
}

static void add_to_class(th_accel_class *c, double share)
{
    c->least = c->n == 0 ? share : fmin(c->least, share);
    c->most = c->n == 0 ? share : fmax(c->most, share);
    c->mean = (c->mean * c->n + share) / (c->n + 1);
    c->n++;
}

enum { CLASSES_MAX = 8 }; /* further classes count as the last one */

static int find_classes(const th_system *s, const th_result *x, th_accel_class *classes)
{
    int n = 0;
    for (int a = 0; a < x->n_accels; a++) {
        const th_accel *accel = &s->nodes[s->accel_node[a]].a;
        double idle = th_ratio((double)x->accels[a].idle_ps, (double)x->elapsed_ps);
        int k = 0;
        while (k < n && k < CLASSES_MAX - 1 &&
               !same_class(accel, &s->nodes[s->accel_node[classes[k].first]].a))
            k++;
        if (k == n)
            classes[n++] = (th_accel_class){.first = a};
        add_to_class(&classes[k], x->elapsed_ps > 0 ? 1 - idle : 0);
    }
    return n;
}

static void add_classes(const th_system *s, const th_result *x, th_strbuf *out)
{
    th_accel_class classes[CLASSES_MAX];
    int n = find_classes(s, x, classes);
    th_strbuf_add(out, ",\"classes\":[");
    for (int k = 0; k < n; k++) {
        const th_accel_class *c = &classes[k];
        const th_accel *accel = &s->nodes[s->accel_node[c->first]].a;
        th_strbuf_add(out, k > 0 ? ",[" : "[");
        th_strbuf_add_json(out, accel->n_designs > 0 ? s->designs[accel->designs[0]].name
                                                     : "accelerator");
        th_strbuf_printf(out, ",%d,%.12g,%.12g,%.12g]", c->n, c->least, c->mean, c->most);
    }
    th_strbuf_add(out, "]");
}

/* ---- deadlines, the path, links ---- */

static int add_missed(const th_session *s, const th_result *x, th_strbuf *out)
{
    const th_workload *w = s->workload;
    bool is_first = true;
    th_time *end = th_alloc_array((size_t)w->n_models * (size_t)x->n_inputs + 1, sizeof *end);
    if (!end)
        return -1;
    th_deadline_model_ends(w, s->simulation->program, x->tasks, end);
    for (int i = 0; i < w->n_models; i++) {
        th_model_timing timing =
            th_deadline_model_timing(w, &s->simulation->options.stream, i, end);
        if (!timing.is_complete || timing.lateness_ps == 0)
            continue;
        th_strbuf_add(out, is_first ? "[" : ",[");
        th_strbuf_add_json(out, w->models[i].name);
        th_strbuf_printf(out, ",%" PRId64 ",%" PRId64 "]", w->models[i].deadline_ps,
                         timing.lateness_ps);
        is_first = false;
    }
    th_free(end);
    return 0;
}

static int add_parts(th_session *s, th_strbuf *out, th_error *err)
{
    th_time part[TH_N_PATH_PARTS];
    if (th_path_breakdown(s, part, err) != 0)
        return -1;
    for (int p = 0; p < TH_N_PATH_PARTS; p++)
        th_strbuf_printf(out, "%s\"%s\":%" PRId64, p > 0 ? "," : "",
                         p == TH_PATH_WAIT ? "wait" : th_time_part_name(p), part[p]);
    return 0;
}

static int add_link(th_session *s, const th_result *x, th_strbuf *out, th_error *err)
{
    const double *loads = th_simulation_loads(s->simulation, err);
    int worst = -1; /* the first of equals */
    for (int l = 0; loads && l < x->n_links; l++)
        if (x->links[l].bytes > 0 && loads[l] > (worst < 0 ? 0 : loads[worst]))
            worst = l;
    if (worst < 0)
        return loads ? 0 : -1;
    th_strbuf_add(out, ",\"link\":[");
    th_strbuf_add_json(out, s->system->links[worst].name);
    th_strbuf_printf(out, ",%.12g]", loads[worst]);
    return 0;
}

/* ---- all of it ---- */

/* A row of a class as an object: its numbers by name, shares of 1, ps. */
static void add_row(th_session *s, const th_figures *class, int32_t row, const char *key,
                    th_strbuf *out)
{
    th_quantity cells[TH_FIGURES_MAX];
    class->row(s, row, cells);
    th_strbuf_printf(out, ",\"%s\":{\"row\":%d", key, (int)row);
    for (int c = 0; class->attributes[c].name; c++)
        if (!cells[c].is_absent && cells[c].kind != TH_KIND_TEXT)
            th_strbuf_printf(out, ",\"%s\":%.15g", class->attributes[c].name,
                             th_quantity_number(&cells[c], 0));
    th_strbuf_add(out, "}");
}

/* The line of that name that lib/ puts over the report of a step. */
static int add_sentence(th_session *s, th_strbuf *out, th_error *err)
{
    th_report *r = th_report_new("training", "");
    int failed = r ? th_section_training(s, r, err) : th_error_no_memory(err);
    for (int i = 0; !failed && i < r->n_head; i++)
        if (strcmp(r->head[i].key, "verdict") == 0) {
            th_strbuf_add(out, ",\"sentence\":");
            th_strbuf_add_json(out, r->head[i].value.text);
        }
    th_report_free(r);
    return failed;
}

static int add_step(th_session *s, const th_result *x, th_strbuf *out, th_error *err)
{
    const th_training_step *step = s->hand_built->step;
    bool has_failed = false;
    const th_batch *b = &step->plan.batch;
    double tokens = (double)b->global_batch * b->sequence * (double)TH_PS_PER_S;
    th_strbuf_printf(out, ",\"mergedRanks\":%d,\"tokensPerS\":%.12g",
                     step->is_merged ? (int)th_plan_stage_ranks(&step->plan) : 0,
                     x->is_done ? th_ratio(tokens, (double)x->elapsed_ps) : 0);
    if (!x->is_done)
        return 0;
    const th_stage_times *times = th_session_stage_times(s, &has_failed);
    if (!times)
        return th_error_no_memory(err);
    int32_t last = 0; /* the first of equals */
    for (int32_t i = 1; i < step->plan.n.pipeline; i++)
        last = times[i].end_ps > times[last].end_ps ? i : last;
    add_row(s, &th_figures_of_run, 0, "step", out);
    add_row(s, &th_figures_of_stages, last, "stage", out);
    return add_sentence(s, out, err);
}

static void add_inputs(const th_session *s, const th_result *x, th_strbuf *out)
{
    double samples = (double)th_workload_samples(s->workload) * th_result_throughput(x);
    th_strbuf_printf(out,
                     ",\"batch\":%d,\"inputs\":%d,\"latency\":%" PRId64 ",\"samplesPerS\":%.12g",
                     (int)s->workload->batch, (int)x->n_inputs,
                     th_simulation_latency(s->simulation, x), x->is_done ? samples : 0);
}

int th_verdict_add(th_session *s, th_strbuf *out, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    th_strbuf_printf(out,
                     ",\"verdict\":{\"isDone\":%s,\"isHandBuilt\":%s,\"elapsed\":%" PRId64
                     ",\"moved\":%" PRId64,
                     x->is_done ? "true" : "false", s->hand_built ? "true" : "false", x->elapsed_ps,
                     x->moved_bytes);
    if (s->hand_built && s->hand_built->step && add_step(s, x, out, err) != 0)
        return -1;
    if (!s->hand_built)
        add_inputs(s, x, out);
    th_strbuf_add(out, ",\"missed\":[");
    if (!s->hand_built && th_deadline_exists(s->workload) && add_missed(s, x, out) != 0)
        return th_error_no_memory(err);
    th_strbuf_add(out, "],\"parts\":{");
    if (add_parts(s, out, err) != 0)
        return -1;
    th_strbuf_add(out, "}");
    add_classes(s->system, x, out);
    if (add_link(s, x, out, err) != 0)
        return -1;
    th_strbuf_add(out, "}");
    return 0;
}
