/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_mapping.c - core commands about a mapping, and the breakpoints of the session. */
#include <config.h>
#include <stdio.h>
#include "mapper/search/alternatives.h"
#include "tcl/core/lib_report.h"
#include "tcl/objects/breakpoint.h"

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

static Tcl_Obj *alternative(const th_session *s, const th_alternative *x)
{
    char split[48], exclusive[48], rotation[24];
    th_strategy own = s->mapping->strategy[x->layer];
    const char *what = format_rotation(x, &own, rotation, sizeof rotation);
    bool is_fit = x->is_simulated && x->instead.fit == TH_FIT;
    Tcl_Obj *by_design = Tcl_NewListObj(0, NULL);
    for (int d = 0; d < s->system->n_designs; d++)
        th_lib_append(by_design, th_lib_number_if(x->by_design[d] >= 0, x->by_design[d]));
    own.rotate = TH_NO_ROTATION;
    th_strategy_format(&own, split, sizeof split);
    th_strategy_format(&x->exclusive, exclusive, sizeof exclusive);
    return TH_LIB_LIST(Tcl_NewIntObj(x->layer), Tcl_NewWideIntObj(x->alone_ps), by_design,
                       th_lib_text(split), th_lib_text(what),
                       th_lib_number_if(what, x->phase_bytes),
                       th_lib_text(x->has_exclusive ? exclusive : NULL),
                       th_lib_number_if(x->has_exclusive, x->exclusive_ps),
                       th_lib_number_if(is_fit, x->instead.metrics.latency_ps),
                       th_lib_text(x->is_simulated && !is_fit ? x->why.text : NULL));
}

/* alternatives: the makespan of the mapping, then of each layer on the array {LAYER ALONE BY_DESIGN
 * SPLIT ROTATES PHASE EXCLUSIVE EXCLUSIVE_ALONE MAKESPAN WHY} (mapper/search/alternatives.h). */
static int run_alternatives(th_call *c)
{
    th_session *s = c->session;
    const th_problem problem = th_session_problem(s, s->system, &s->defaults);
    th_alternatives a;
    int failed = th_alternatives_find(&a, &problem, s->mapping, &c->err);
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    if (!failed)
        th_lib_append(all, Tcl_NewWideIntObj(a.whole.metrics.latency_ps));
    for (int i = 0; !failed && i < a.n; i++)
        th_lib_append(all, alternative(s, &a.at[i]));
    th_alternatives_clear(&a);
    Tcl_SetObjResult(c->interp, all);
    return failed;
}

/* breakpoints: {NAME AT ON WHEN OBJECTS IS_DISABLED HITS IS_ONCE GOES_ON SCRIPT} of each. */
static int run_breakpoints(th_call *c)
{
    const th_tcl_session *t = th_tcl_of(c->session);
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (size_t i = 0; i < t->n_breakpoints; i++) {
        const th_breakpoint *b = t->breakpoints[i];
        Tcl_Obj *words =
            TH_LIB_LIST(th_lib_text(b->name), th_lib_number_if(b->at_ps >= 0, b->at_ps),
                        th_lib_text(b->on >= 0 ? th_on_name(b->on) : NULL), th_lib_text(b->text),
                        th_lib_number_if(b->n_of > 0, b->n_of), Tcl_NewBooleanObj(b->is_disabled),
                        Tcl_NewWideIntObj(b->hits), Tcl_NewBooleanObj(b->is_once),
                        Tcl_NewBooleanObj(b->goes_on), th_lib_text(b->script));
        th_lib_append(all, words);
    }
    return th_lib_give(c, all);
}

/* ---- memory ---- */

/* accel OPTION TEXT: the number of an accelerator; nothing for another node. */
static int run_accel(th_call *c)
{
    th_session *s = c->session;
    if (th_session_need_system(s, &c->err) != 0)
        return -1;
    int node = th_node_parse(s, th_call_word(c, 1), &c->err);
    if (node < 0)
        return th_call_prefix_error(c, th_call_word(c, 0), &c->err), -1;
    int accel = s->system->nodes[node].accel;
    return th_lib_give(c, th_lib_number_if(accel >= 0, accel));
}

/* held ACCEL: {LAYER WHAT BYTES} of what is in its memory at its peak. */
static int run_held(th_call *c)
{
    int accel;
    th_peak_place place;
    th_memory_peak p;
    th_session *s = c->session;
    if (th_session_need_mapping(s, &c->err) != 0 || !th_session_simulation(s, &c->err))
        return -1;
    if (Tcl_GetIntFromObj(NULL, c->words[0], &accel) != TCL_OK || accel < 0 ||
        accel >= s->system->n_accels)
        return th_lib_fault(c, "held");
    const th_simulation *sim = s->simulation;
    if (!th_lower_peak_of(sim->lower, accel, &place))
        return 0;
    if (th_lower_held(sim->lower, s->mapping, &sim->options.stream, accel, &p, &c->err) != 0)
        return -1;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (size_t i = 0; i < p.n; i++)
        TH_LIB_ADD(all, th_lib_text(s->workload->layers[p.held[i].layer].name),
                   th_lib_text(th_held_name(p.held[i].kind)), Tcl_NewWideIntObj(p.held[i].bytes));
    th_memory_peak_clear(&p);
    return th_lib_give(c, all);
}

const th_command th_core_mapping_commands[] = {
    TH_CORE_ROW_THAT_NEEDS("alternatives", "", 0, run_alternatives, th_session_need_mapping),
    TH_CORE_ROW_OF_RUN("breakpoints", "", 0, run_breakpoints),
    TH_CORE_ROW("accel", "OPTION TEXT", 2, 2, run_accel),
    TH_CORE_ROW("held", "ACCEL", 1, 1, run_held),
    {.name = NULL},
};
