/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_what_if.c - core commands that try changed systems, and what lib/ must know of the present
 * one to choose changes. A CHANGE is one of
 *   {property NAME BY OBJECTS}  by a factor of 1 + BY, a latency 1 - BY, of these links or
 *                               accelerators
 *   {more ACCEL}  {design DESIGN ACCELS}  {topology TYPE DIMS BITS_PER_S}  (trials.h)
 *   {pair CHANGE CHANGE}        the second on the system of the first
 * where links, accelerators and designs are numbers. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "mapper/search/survival.h"
#include "session/objects/objects.h"
#include "session/sections/sections.h"
#include "session/goal.h"
#include "session/what_if/trials.h"
#include "sim/analysis/time_breakdown.h"
#include "tcl/core/lib_report.h"

/* ---- values ---- */

static Tcl_Obj *number(int64_t n)
{
    return Tcl_NewWideIntObj(n);
}

/* ---- the present system ---- */

/* links: {NAME FIRST BANDWIDTH LATENCY COST HAS_HOST} of each; first: the first link of the same
 * medium; empty what cannot change. */
static int run_links(th_call *c)
{
    const th_system *s = c->session->system;
    int *first = th_alloc_array((size_t)s->n_media + 1, sizeof *first);
    if (!first)
        return th_error_no_memory(&c->err);
    for (int l = s->n_links - 1; l >= 0; l--)
        first[s->links[l].medium] = l;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int l = 0; l < s->n_links; l++) {
        const th_link *x = &s->links[l];
        const th_medium *m = &s->media[x->medium];
        bool has_host = (x->from >= 0 && s->nodes[x->from].kind == TH_NODE_HOST) ||
                        (x->to >= 0 && s->nodes[x->to].kind == TH_NODE_HOST);
        TH_LIB_ADD(all, th_lib_text(x->name), number(first[x->medium]),
                   th_lib_number_if(th_what_if_applies(s, TH_WHAT_IF_BANDWIDTH, l), m->bits_per_s),
                   th_lib_number_if(th_what_if_applies(s, TH_WHAT_IF_LATENCY, l), x->latency_ps),
                   Tcl_NewDoubleObj(m->cost), number(has_host));
    }
    th_free(first);
    return th_lib_give(c, all);
}

/* accels: {NAME DRAM_BANDWIDTH DRAM_LATENCY MEMORY VECTOR_HZ DESIGNS VECTOR_ELEMENTS COST} of each;
 * empty what cannot change. */
static int run_accels(th_call *c)
{
    const th_system *s = c->session->system;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < s->n_accels; i++) {
        const th_node *n = &s->nodes[s->accel_node[i]];
        const th_accel *a = &n->a;
        Tcl_Obj *designs = Tcl_NewListObj(0, NULL);
        for (int d = 0; d < a->n_designs; d++)
            th_lib_append(designs, number(a->designs[d]));
        TH_LIB_ADD(
            all, th_lib_text(n->name),
            th_lib_number_if(th_what_if_applies(s, TH_WHAT_IF_DRAM_BANDWIDTH, i),
                             a->dram_bits_per_s),
            th_lib_number_if(th_what_if_applies(s, TH_WHAT_IF_DRAM_LATENCY, i), a->dram_latency_ps),
            th_lib_number_if(th_what_if_applies(s, TH_WHAT_IF_MEMORY, i), a->dram_bytes),
            number(a->vector_hz), designs, number(a->vector_elements_per_cycle),
            Tcl_NewDoubleObj(a->cost));
    }
    return th_lib_give(c, all);
}

/* designs: {NAME TYPE} of each. */
static int run_designs(th_call *c)
{
    const th_system *s = c->session->system;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int d = 0; s && d < s->n_designs; d++)
        TH_LIB_ADD(all, th_lib_text(s->designs[d].name), th_lib_text(s->designs[d].type));
    return th_lib_give(c, all);
}

/* fabric: {CABLES BITS_PER_S CABLE_BITS_PER_S CABLE_COST GENERATOR DIMS} of th_fabric_of; nothing
 * where it cannot be replaced. */
static int run_fabric(th_call *c)
{
    const th_fabric f = th_fabric_of(c->session->system);
    const th_generator_spec *g = c->session->system->generator;
    Tcl_Obj *dims = Tcl_NewListObj(0, NULL);
    for (int d = 0; g && d < g->options.n_dims; d++)
        th_lib_append(dims, number(g->options.dims[d]));
    Tcl_Obj *all =
        TH_LIB_LIST(number(f.n_cables), Tcl_NewDoubleObj(f.bits_per_s), number(f.cable_bits_per_s),
                    Tcl_NewDoubleObj(f.cable_cost), th_lib_text(g ? g->type->name : ""), dims);
    if (f.is_plain)
        return th_lib_give(c, all);
    Tcl_DecrRefCount(all);
    return 0;
}

/* object NAME: {CLASS NUMBER}. */
static int run_object(th_call *c)
{
    th_object o;
    if (th_object_parse(c->session, th_call_word(c, 0), &o, &c->err) != 0)
        return -1;
    return th_lib_give(c, TH_LIB_LIST(th_lib_text(th_class_name(o.class)), number(o.index)));
}

/* next_run: {NETWORK IS_HAND_BUILT N_EVENTS DESCRIPTION}, of trials; the last of bounds. */
static int run_next_run(th_call *c)
{
    const th_session *s = c->session;
    const th_run_options *o = s->simulation ? &s->simulation->options : &s->defaults;
    char of_bounds[400];
    th_bounds_describe_run(s, of_bounds, sizeof of_bounds);
    return th_lib_give(c, TH_LIB_LIST(th_lib_text(o->network->name), number(s->hand_built ? 1 : 0),
                                      number((int64_t)s->events.n), th_lib_text(of_bounds)));
}

/* {DESCRIPTION COLUMN HAS_THROUGHPUT NEEDS_ENERGY} */
static Tcl_Obj *describe_goal(const th_goal *g)
{
    char description[160];
    const th_column column = th_goal_column(g);
    th_goal_describe(g, description, sizeof description);
    return TH_LIB_LIST(th_lib_text(description),
                       TH_LIB_LIST(th_lib_text(column.name), th_lib_text(column.title),
                                   th_lib_text(th_kind_name(column.kind))),
                       number(th_goal_has_throughput(g)), number(th_goal_needs_energy(g)));
}

/* goal: that of searches on changed systems. */
static int run_goal(th_call *c)
{
    const th_goal g = th_what_if_goal(c->session);
    return th_lib_give(c, describe_goal(&g));
}

static Tcl_Obj *value_of(const th_goal *g, const th_metrics *m)
{
    th_quantity q = th_goal_quantity(g, m);
    return th_lib_value(&q);
}

/* ---- changes ---- */

/* Numbers below most. The caller's; NULL: they are none, or memory is out. */
static int32_t *read_numbers(Tcl_Obj *list, int most, int *n)
{
    Tcl_Obj **word;
    *n = th_lib_elements(list, -1, &word);
    int32_t *out = *n >= 0 ? th_alloc_array((size_t)*n + 1, sizeof *out) : NULL;
    for (int i = 0; out && i < *n; i++) {
        int value;
        if (Tcl_GetIntFromObj(NULL, word[i], &value) != TCL_OK || value < 0 || value >= most) {
            th_free(out);
            return NULL;
        }
        out[i] = value;
    }
    return out;
}

static bool read_property(const th_system *s, Tcl_Obj **word, th_system_change *out)
{
    th_what_if *w = &out->what;
    int what;
    if (Tcl_GetIndexFromObj(NULL, word[1], th_what_if_names, "property", TCL_EXACT, &what) !=
            TCL_OK ||
        Tcl_GetDoubleFromObj(NULL, word[2], &w->by) != TCL_OK || !(w->by > -1 && w->by <= 1e6))
        return false;
    w->what = (th_what_if_property)what;
    bool is_of_links = th_what_if_is_of_links(w->what),
         is_latency = w->what == TH_WHAT_IF_LATENCY || w->what == TH_WHAT_IF_DRAM_LATENCY;
    w->objects = read_numbers(word[3], is_of_links ? s->n_links : s->n_accels, &w->n);
    bool applies = w->objects && w->n > 0 && (!is_latency || w->by <= 1);
    for (int i = 0; applies && i < w->n; i++)
        applies = th_what_if_applies(s, w->what, w->objects[i]);
    return applies;
}

static bool read_topology(const th_system *s, Tcl_Obj **word, th_system_change *out)
{
    Tcl_WideInt bits;
    out->type = th_topology_find(Tcl_GetString(word[1]));
    int32_t *dims = read_numbers(word[2], s->n_accels + 1, &out->n_dims);
    bool is_read = out->type && dims && out->n_dims >= 1 && out->n_dims <= TH_MAX_DIMS &&
                   Tcl_GetWideIntFromObj(NULL, word[3], &bits) == TCL_OK && bits > 0 &&
                   th_fabric_of(s).is_plain;
    for (int d = 0; is_read && d < out->n_dims; d++)
        out->dims[d] = dims[d];
    if (is_read)
        out->bits_per_s = bits;
    th_free(dims);
    return is_read;
}

static bool read_more(const th_system *s, Tcl_Obj **word, th_system_change *out)
{
    out->what.objects = read_numbers(word[1], s->n_accels, &out->what.n);
    return out->what.objects && out->what.n == 1;
}

static bool read_design(const th_system *s, Tcl_Obj **word, th_system_change *out)
{
    out->what.objects = read_numbers(word[2], s->n_accels, &out->what.n);
    return out->what.objects && out->what.n > 0 &&
           Tcl_GetIntFromObj(NULL, word[1], &out->design) == TCL_OK && out->design >= 0 &&
           out->design < s->n_designs;
}

/* 0, or -1 with the call's error; clear all the same. */
static int read_change(th_call *c, Tcl_Obj *words, th_system_change *out)
{
    static const struct {
        const char *name;
        th_change_kind kind;
        int n;
        bool (*read)(const th_system *s, Tcl_Obj **word, th_system_change *out);
    } all[] = {{"property", TH_CHANGE_PROPERTY, 4, read_property},
               {"more", TH_CHANGE_MORE, 2, read_more},
               {"design", TH_CHANGE_DESIGN, 3, read_design},
               {"topology", TH_CHANGE_TOPOLOGY, 4, read_topology}};
    Tcl_Obj **word;
    int n = th_lib_elements(words, -1, &word);
    *out = (th_system_change){.kind = TH_CHANGE_NOTHING};
    if (n == 3 && strcmp("pair", Tcl_GetString(word[0])) == 0) {
        if (read_change(c, word[1], out) != 0)
            return -1;
        if (!(out->also = th_alloc_zero(1, sizeof *out->also)))
            return th_error_no_memory(&c->err);
        return read_change(c, word[2], out->also);
    }
    for (size_t i = 0; n > 0 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, Tcl_GetString(word[0])) == 0 && all[i].n == n) {
            out->kind = all[i].kind;
            return all[i].read(c->session->system, word, out) ? 0 : th_lib_fault(c, "a change");
        }
    return n == 0 ? 0 : th_lib_fault(c, "a change");
}

static void clear_change(th_system_change *x)
{
    if (x->also)
        clear_change(x->also);
    th_free(x->also);
    th_free((int32_t *)x->what.objects);
}

/* The changed system of the call's first word: *own is the caller's. 0, with NULL: it cannot be
 * made; or -1. */
static int make_system(th_call *c, th_system **own)
{
    th_system_change x;
    th_error why = {"", ""};
    *own = NULL;
    int failed = read_change(c, c->words[0], &x);
    if (!failed)
        *own = th_change_system(c->session->system, &x, &why);
    clear_change(&x);
    return failed || th_error_is_no_memory(&why) ? (failed ? -1 : th_error_no_memory(&c->err)) : 0;
}

/* changed CHANGE: {ACCELS COST LAST_ACCEL CABLES} of the changed system, whose cables are those of
 * th_fabric_of; nothing where it cannot be made. */
static int run_changed(th_call *c)
{
    th_system *s;
    if (make_system(c, &s) != 0)
        return -1;
    if (s)
        th_lib_give(c, TH_LIB_LIST(number(s->n_accels), Tcl_NewDoubleObj(th_system_cost(s)),
                                   th_lib_text(s->n_accels > 0
                                                   ? s->nodes[s->accel_node[s->n_accels - 1]].name
                                                   : ""),
                                   number(th_fabric_of(s).n_cables)));
    th_system_free(s);
    return 0;
}

/* bound CHANGE: {MAKESPAN LIMIT} of the largest lower bound on the changed system; nothing where it
 * cannot be made. */
static int run_bound(th_call *c)
{
    th_system *s;
    th_bounds b;
    if (make_system(c, &s) != 0)
        return -1;
    int failed = s ? th_bounds_of_session(c->session, s, &b, &c->err) : 0;
    if (s && !failed) {
        th_lib_give(c, TH_LIB_LIST(number(b.makespan_ps[b.largest]),
                                   th_lib_text(th_limit_name(b.largest))));
        th_bounds_clear(&b);
    }
    th_system_free(s);
    return failed;
}

/* own_clock ACCELS: 1 where no other accelerator has the designs of these (what_if.h). */
static int run_own_clock(th_call *c)
{
    int n;
    const th_system *s = c->session->system;
    int32_t *accels = read_numbers(c->words[0], s->n_accels, &n);
    if (!accels)
        return th_lib_fault(c, "own_clock");
    th_lib_give(c, number(th_what_if_is_of_designs(s, accels, n)));
    th_free(accels);
    return 0;
}

/* ---- trials ---- */

static Tcl_Obj *result_of(const th_goal *g, const th_trial *t)
{
    return TH_LIB_LIST(th_lib_text(t->failure.id[0] ? t->failure.text : ""), number(t->end_ps),
                       Tcl_NewDoubleObj(t->throughput_per_s), number(t->is_unused),
                       value_of(g, &t->metrics), Tcl_NewDoubleObj(th_goal_value(g, &t->metrics)),
                       number(t->metrics.latency_ps), number(t->metrics.lateness_ps),
                       th_lib_text(th_time_part_name(t->limit)), Tcl_NewDoubleObj(t->limit_share));
}

static int run_trials(th_call *c, th_trials *t)
{
    const th_goal g = th_what_if_goal(c->session);
    if (th_trials_run(c->session, t, &c->err) != 0)
        return -1;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < t->n; i++)
        th_lib_append(all, result_of(&g, &t->all[i]));
    return th_lib_give(c, all);
}

static int check_session(th_call *c, bool are_purchases)
{
    th_session *s = c->session;
    return are_purchases
               ? th_session_need_mapping(s, &c->err)
               : th_session_need_program(s, &c->err) || th_session_need_every_rank(s, &c->err);
}

/* try runs|purchases CHANGES EVALUATIONS SEED: without a change, and with each, {PROBLEM END
 * THROUGHPUT IS_UNUSED OBJECTIVE VALUE LATENCY LATENESS LIMIT LIMIT_SHARE} (trials.h); the
 * objective is that of goal, the value what the search minimises. EVALUATIONS 0: not mapped anew;
 * SEED empty: that of the present mapping. */
static int run_try(th_call *c)
{
    Tcl_Obj **change;
    Tcl_WideInt evaluations, seed = 0;
    int n = th_lib_elements(c->words[1], -1, &change);
    const bool has_seed = Tcl_GetCharLength(c->words[3]) > 0;
    th_trials t = {.are_purchases = strcmp(th_call_word(c, 0), "purchases") == 0};
    if (check_session(c, t.are_purchases) != 0)
        return -1;
    if (n < 0 || Tcl_GetWideIntFromObj(NULL, c->words[2], &evaluations) != TCL_OK ||
        (has_seed && Tcl_GetWideIntFromObj(NULL, c->words[3], &seed) != TCL_OK))
        return th_lib_fault(c, "try");
    t.remap = (th_remap){evaluations, has_seed, (uint64_t)seed};
    if (!(t.all = th_alloc_zero((size_t)n + 1, sizeof *t.all)))
        return th_error_no_memory(&c->err);
    int failed = 0;
    for (t.n = 1; !failed && t.n <= n; t.n++)
        failed = read_change(c, change[t.n - 1], &t.all[t.n].change);
    if (!failed)
        failed = run_trials(c, &t);
    for (int i = 0; i < t.n; i++)
        clear_change(&t.all[i].change);
    th_free(t.all);
    return failed;
}

/* ---- failures ---- */

static Tcl_Obj *case_of(const th_system *s, const th_goal *g, const th_failure_case *x)
{
    const int32_t *node = s->accel_node;
    return TH_LIB_LIST(x->is_link ? Tcl_ObjPrintf("link/%s", s->links[x->object].name)
                                  : Tcl_ObjPrintf("accel/%s", s->nodes[node[x->object]].name),
                       th_lib_text(th_repair_kind_names[x->repair]),
                       x->repair == TH_REPAIR_SPARE ? th_lib_text(s->nodes[node[x->to]].name)
                                                    : number(x->to),
                       x->repair == TH_REPAIR_NONE ? th_lib_text("") : value_of(g, &x->metrics),
                       isfinite(x->loss) ? Tcl_NewDoubleObj(x->loss) : th_lib_text(""));
}

/* survival: {GOAL HAS_LINKS BEFORE WORST MEAN_LOSS RUNS CASES}, of the mapping, by the goal of the
 * search that found it, without deadlines, or by latency; WORST: a number; a case: {OBJECT REPAIR
 * TO VALUE LOSS}, empty where it is not survived (mapper/search/survival.h). */
static int run_survival(th_call *c)
{
    th_session *s = c->session;
    th_problem problem = th_session_problem(s, s->system, &s->defaults);
    th_survival x;
    if (s->search.type)
        problem.goal = th_what_if_goal(s);
    problem.goal.deadline_ps = 0;
    th_survivor *v = th_survivor_new(&problem, &c->err);
    int failed = v ? th_survival_find(v, s->mapping, &x, &c->err) : -1;
    th_survivor_free(v);
    if (failed)
        return -1;
    Tcl_Obj *cases = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < x.n; i++)
        th_lib_append(cases, case_of(s->system, &problem.goal, &x.all[i]));
    th_lib_give(c,
                TH_LIB_LIST(describe_goal(&problem.goal), number(x.has_links),
                            value_of(&problem.goal, &x.before.metrics), number(x.worst),
                            isfinite(x.mean_loss) ? Tcl_NewDoubleObj(x.mean_loss) : th_lib_text(""),
                            number(x.n_evaluations), cases));
    th_survival_clear(&x);
    return 0;
}

const th_command th_core_what_if_commands[] = {
    TH_CORE_ROW_THAT_NEEDS("links", "", 0, run_links, th_session_need_system),
    TH_CORE_ROW_THAT_NEEDS("accels", "", 0, run_accels, th_session_need_system),
    TH_CORE_ROW_OF_RUN("designs", "", 0, run_designs),
    TH_CORE_ROW_THAT_NEEDS("fabric", "", 0, run_fabric, th_session_need_system),
    TH_CORE_ROW_THAT_NEEDS("object", "NAME", 1, run_object, th_session_need_system),
    TH_CORE_ROW_OF_RUN("next_run", "", 0, run_next_run),
    TH_CORE_ROW_OF_RUN("goal", "", 0, run_goal),
    TH_CORE_ROW_THAT_NEEDS("changed", "CHANGE", 1, run_changed, th_session_need_system),
    TH_CORE_ROW_THAT_NEEDS("bound", "CHANGE", 1, run_bound, th_session_need_problem),
    TH_CORE_ROW_THAT_NEEDS("own_clock", "ACCELS", 1, run_own_clock, th_session_need_system),
    {.name = "try",
     .words = "runs|purchases CHANGES EVALUATIONS SEED",
     .min_words = 4,
     .max_words = 4,
     .run = run_try,
     .not_while_running = true},
    TH_CORE_ROW_THAT_NEEDS("survival", "", 0, run_survival, th_session_need_mapping),
    {.name = NULL},
};
