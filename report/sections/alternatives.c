/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alternatives.c - alternatives for each layer: other designs, and strategies without rotation. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "mapper/search/alternatives.h"
#include "report/sections/sections.h"

/* ---- designs ---- */

/* layer, set, design, alone; then one column per design; the fastest. NULL: memory is out. */
static th_column *design_columns(th_session *s, th_report *r)
{
    static const th_column first[] = {
        {"layer", "layer", TH_KIND_TEXT},
        {"set", "set", TH_KIND_COUNT},
        {"design", "design", TH_KIND_TEXT},
        {"alone", "this mapping", TH_KIND_TIME},
    };
    enum { N_FIRST = sizeof first / sizeof *first };
    int n = s->system->n_designs;
    if (n > TH_COLUMNS_MAX - N_FIRST)
        n = TH_COLUMNS_MAX - N_FIRST;
    th_column *all = th_report_columns(r, N_FIRST + n);
    if (!all)
        return NULL;
    memcpy(all, first, sizeof first);
    all[N_FIRST + n] = (th_column){NULL, NULL, TH_KIND_TEXT};
    for (int d = 0; d < n; d++) {
        const char *name = th_report_printf(r, "%s", s->system->designs[d].name);
        all[N_FIRST + d] = (th_column){name, name, TH_KIND_TIME};
    }
    return all;
}

static int add_designs(th_session *s, th_report *r, const th_alternatives *a, th_error *err)
{
    th_quantity cells[TH_COLUMNS_MAX];
    const th_column *columns = design_columns(s, r);
    if (!columns)
        return th_error_no_memory(err);
    th_table *t =
        th_report_table(r, "designs", "Each layer alone, by its fastest strategy", columns);
    th_table_note(t, "alone",
                  "this mapping: with its present design and strategy; then each design with the "
                  "strategy that is fastest on it");
    for (int i = 0; i < a->n; i++) {
        const th_alternative *x = &a->at[i];
        int set = s->mapping->set_of[x->layer], n = 0;
        cells[n++] = th_text(s->workload->layers[x->layer].name);
        cells[n++] = th_count(set);
        cells[n++] = th_text(th_set_design_name(&s->mapping->sets[set], s->system));
        cells[n++] = th_ps(x->alone_ps);
        for (int d = 0; d < s->system->n_designs && columns[n].name; d++)
            cells[n++] = th_ps_or_absent(x->by_design[d]);
        th_table_row(t, cells);
    }
    return 0;
}

/* ---- shards ---- */

static const char *operand_name(th_operand o)
{
    switch (o) {
    case TH_OPERAND_NONE:
        return NULL;
    case TH_OPERAND_INPUT:
        return "input";
    case TH_OPERAND_WEIGHT:
        return "weights";
    }
    return NULL;
}

/* "input H": what, and along which dimension. NULL: nothing. */
static const char *format_rotation(const th_alternative *x, const th_strategy *s, char *out,
                                   size_t size)
{
    if (x->rotating == TH_OPERAND_NONE)
        return NULL;
    snprintf(out, size, "%s %c", operand_name(x->rotating), th_dim_letters[s->rotate]);
    return out;
}

static void add_shard_row(th_session *s, th_table *t, const th_alternatives *a,
                          const th_alternative *x)
{
    char split[48], exclusive[48], rotation[24];
    th_strategy own = s->mapping->strategy[x->layer];
    const char *what = format_rotation(x, &own, rotation, sizeof rotation);
    bool is_fit = x->is_simulated && x->instead.fit == TH_FIT;
    double before = (double)a->whole.metrics.latency_ps,
           after = (double)x->instead.metrics.latency_ps;
    own.rotate = TH_NO_ROTATION;
    th_strategy_format(&own, split, sizeof split);
    th_strategy_format(&x->exclusive, exclusive, sizeof exclusive);
    th_table_row(t, (th_quantity[]){
                        th_text(s->workload->layers[x->layer].name),
                        th_text(split),
                        th_ps(x->alone_ps),
                        th_text(what),
                        what ? th_bytes(x->phase_bytes) : th_absent(TH_KIND_BYTES),
                        th_text(x->has_exclusive ? exclusive : NULL),
                        x->has_exclusive ? th_ps(x->exclusive_ps) : th_absent(TH_KIND_TIME),
                        is_fit ? th_ps(x->instead.metrics.latency_ps) : th_absent(TH_KIND_TIME),
                        is_fit ? th_change(after / before - 1) : th_absent(TH_KIND_CHANGE),
                        th_text(x->is_simulated && !is_fit ? x->why.text : NULL),
                    });
}

static th_table *add_shards(th_session *s, th_report *r, const th_alternatives *a)
{
    static const th_column columns[] = {
        {"layer", "layer", TH_KIND_TEXT},
        {"split", "split", TH_KIND_TEXT},
        {"alone", "alone", TH_KIND_TIME},
        {"rotates", "rotates", TH_KIND_TEXT},
        {"phase", "per phase", TH_KIND_BYTES},
        {"exclusive", "best ES", TH_KIND_TEXT},
        {"exclusive_alone", "ES alone", TH_KIND_TIME},
        {"run_exclusive", NULL, TH_KIND_TIME},
        {"change", "run with ES", TH_KIND_CHANGE},
        {"infeasibility", NULL, TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_table *t = th_report_table(r, "shards", "Exclusive shards instead", columns);
    th_table_note(t, "alone", "alone: the layer by itself");
    th_table_note(
        t, "rotates phase",
        "rotates, per phase: what its accelerators pass on, and how much of it in a phase");
    th_table_note(t, "exclusive exclusive_alone change",
                  "ES: exclusive shards, a strategy without rotation");
    th_table_note(t, "change", "run with ES: change of the makespan if this layer alone took it");
    for (int i = 0; i < a->n; i++)
        add_shard_row(s, t, a, &a->at[i]);
    return t;
}

/* Text alone: reasons are long. */
static void add_infeasible(th_session *s, th_report *r, const th_alternatives *a)
{
    static const th_column columns[] = {
        {"layer", "layer", TH_KIND_TEXT},
        {"infeasibility", "why its best ES does not fit", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_table *t = NULL;
    for (int i = 0; i < a->n; i++) {
        const th_alternative *x = &a->at[i];
        if (!x->is_simulated || x->instead.fit == TH_FIT)
            continue;
        const char *end = strstr(x->why.text, ": ");
        end = end ? strstr(end + 1, ": ") : NULL;
        int length = end ? (int)(end - x->why.text) : (int)strlen(x->why.text);
        if (!t)
            t = th_report_table(r, "infeasible", "Where the best exclusive shards do not fit",
                                columns);
        th_table_row(t, (th_quantity[]){th_text(s->workload->layers[x->layer].name),
                                        th_text(th_report_printf(r, "%.*s", length, x->why.text))});
    }
}

int th_section_alternatives(th_session *s, th_report *r, bool is_text, th_error *err)
{
    const th_problem problem = {
        .system = s->system,
        .workload = s->workload,
        .stream = s->defaults.stream,
        .network = s->defaults.network,
        .network_options = s->defaults.network_options,
        .scripts = s->scripts,
    };
    th_alternatives a;
    int failed = th_alternatives_find(&a, &problem, s->mapping, err);
    if (!failed)
        failed = add_designs(s, r, &a, err);
    if (!failed) {
        add_shards(s, r, &a);
        if (is_text)
            add_infeasible(s, r, &a);
    }
    th_alternatives_clear(&a);
    return failed;
}
