/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_session.c - core commands for all of lib/: what the session has, units, near misses,
 * columns. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "session/query/query.h"
#include "session/property_events.h"
#include "tcl/core/lib_report.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"

static int need_simulation(th_session *s, th_error *err)
{
    return th_session_simulation(s, err) ? 0 : -1;
}

/* need WHAT: an error where the session lacks it. */
static int run_need(th_call *c)
{
    static const struct {
        const char *name;
        int (*check)(th_session *s, th_error *err);
    } all[] = {{"simulation", need_simulation},           {"run", th_session_need_run},
               {"workload", th_session_need_workload},    {"system", th_session_need_system},
               {"mapping", th_session_need_mapping},      {"program", th_session_need_program},
               {"every_rank", th_session_need_every_rank}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, th_call_word(c, 0)) == 0)
            return all[i].check(c->session, &c->err);
    return th_lib_fault(c, "need");
}

/* fail_unknown ID WHAT TEXT NAMES: the error that a text is none of these names. */
static int run_fail_unknown(th_call *c)
{
    Tcl_Obj **word;
    int number, n = th_lib_elements(c->words[3], -1, &word);
    char id[TH_ERROR_ID_MAX], area[TH_ERROR_ID_MAX];
    if (n < 0 || sscanf(th_call_word(c, 0), "%6[A-Z]-%4d", area, &number) != 2)
        return th_lib_fault(c, "fail_unknown");
    const char **names = th_alloc_zero((size_t)n + 1, sizeof *names);
    for (int i = 0; names && i < n; i++)
        names[i] = Tcl_GetString(word[i]);
    snprintf(id, sizeof id, "%s", th_call_word(c, 0));
    if (names)
        th_error_unknown(&c->err, id, th_call_word(c, 1), th_call_word(c, 2), names);
    else
        th_error_no_memory(&c->err);
    th_free(names);
    return -1;
}

/* quantity KIND VALUE: as text, with its own unit. */
static int run_quantity(th_call *c)
{
    th_quantity q;
    th_strbuf text = TH_STRBUF_INIT;
    int kind = th_lib_kind(c->words[0]);
    if (kind < 0 || th_lib_quantity((th_kind)kind, c->words[1], &q) != 0)
        return th_lib_fault(c, "quantity");
    th_quantity_format(&q, &text);
    int failed = text.failed ? th_error_no_memory(&c->err) : 0;
    if (!failed)
        th_call_return_text(c, text.text);
    th_strbuf_clear(&text);
    return failed;
}

static void put(Tcl_Obj *dict, const char *key, int64_t n)
{
    Tcl_DictObjPut(NULL, dict, th_lib_text(key), Tcl_NewWideIntObj(n));
}

static void put_text(Tcl_Obj *dict, const char *key, const char *text)
{
    Tcl_DictObjPut(NULL, dict, th_lib_text(key), th_lib_text(text));
}

/* Has the program collectives of a trace for which system.json names no algorithm of ours? */
static bool chooses_algorithms(const th_session *s, const th_program *p)
{
    int32_t i = 0,
            n = s->hand_built && s->hand_built->trace && s->system->astra ? p->n_collectives : 0;
    while (i < n && p->collectives[i].algorithm)
        i++;
    return i < n;
}

/* The keys of its file: "tensor = 8; pipeline = 4; "; nothing of what is no step. */
static void put_plan(Tcl_Obj *dict, const th_session *s)
{
    th_strbuf plan = TH_STRBUF_INIT;
    if (s->hand_built && s->hand_built->plan)
        th_fields_write(th_plan_fields, s->hand_built->plan, (th_fields_form){"", "; ", false},
                        &plan);
    put_text(dict, "plan", plan.text);
    th_strbuf_clear(&plan);
}

/* The precision of a step, and what measured steps of it and of its accelerators there are, or that
 * there are none. */
static void put_provenance(Tcl_Obj *dict, const th_session *s)
{
    const th_training_step *x = th_session_step(s);
    char precision[60];
    th_session_precision(s, precision, sizeof precision);
    th_strbuf said = TH_STRBUF_INIT;
    th_hand_built_describe_unmeasured(s->hand_built, &said);
    const bool is_measured = x && !said.text;
    put(dict, "experts_on_node", x ? th_plan_experts_on_node(s->system, &x->plan) : 0);
    put_text(dict, "precision", precision);
    put_text(dict, "unmeasured", said.text);
    if (is_measured)
        th_generation_describe(x->device.generation, precision, &said);
    put_text(dict, "held_against", is_measured ? said.text : NULL);
    th_strbuf_clear(&said);
}

/* about: a dict: of what the session simulates: the name of a hand-built program, the samples of an
 * input, how many inputs, models and jobs it has; does it choose algorithms that a trace lacks. */
static int run_about(th_call *c)
{
    const th_session *s = c->session;
    const th_program *p = th_session_program(s);
    Tcl_Obj *dict = Tcl_NewDictObj();
    put_text(dict, "hand_built", s->hand_built ? s->hand_built->name : NULL);
    put_text(dict, "version", PACKAGE_VERSION);
    put(dict, "samples", s->workload ? th_workload_samples(s->workload) : 0);
    put(dict, "models", s->workload ? s->workload->n_models : 0);
    put(dict, "inputs", s->simulation ? s->simulation->options.stream.n_inputs : 0);
    put(dict, "jobs", p ? p->n_jobs : 0);
    put(dict, "reroutes", th_property_events_reroute(s));
    put(dict, "is_step", th_session_step(s) ? 1 : 0);
    put_plan(dict, s);
    put_provenance(dict, s);
    put(dict, "chooses", p && chooses_algorithms(s, p));
    return th_lib_give(c, dict);
}

/* {KIND HEADING SQL MEANING USE} of an attribute; the use of what is not of the run is empty. */
static Tcl_Obj *describe(const th_attribute *a)
{
    char heading[TH_FIGURE_NAME_MAX], sql[TH_FIGURE_NAME_MAX];
    snprintf(heading, sizeof heading, "%s", a->heading ? a->heading : a->name);
    for (char *at = heading; !a->heading && *at != '\0'; at++)
        *at = *at == '_' ? ' ' : *at;
    const char *use = a->of != TH_OF_RUN ? "" : a->is_detail ? "detail" : "figure";
    Tcl_Obj *words[] = {th_lib_text(th_kind_name(a->kind)), th_lib_text(heading),
                        th_lib_text(th_query_column_name(a, sql)), th_lib_text(a->help),
                        th_lib_text(use)};
    return Tcl_NewListObj(5, words);
}

/* figure CLASS NAME: {KIND HEADING SQL MEANING USE} of an attribute of a class. */
static int run_figure(th_call *c)
{
    th_attribute a = th_figures_find(th_call_word(c, 0), th_call_word(c, 1));
    if (!a.name)
        return th_lib_fault(c, th_call_word(c, 1));
    return th_lib_give(c, describe(&a));
}

/* A dict of the attributes of the class, as figure has them: all, or what saved runs keep beside
 * names. */
static int give_figures(th_call *c, bool kept_only)
{
    Tcl_Obj *dict = Tcl_NewDictObj();
    th_attribute a;
    for (int i = 0; th_figure_classes[i]; i++)
        for (int k = 0; strcmp(th_figure_classes[i]->name, th_call_word(c, 0)) == 0 &&
                        (a = th_figures_column(th_figure_classes[i], k)).name;
             k++)
            if (!kept_only || (a.of == TH_OF_RUN && strcmp(a.name, "name") != 0))
                Tcl_DictObjPut(NULL, dict, th_lib_text(a.name), describe(&a));
    return th_lib_give(c, dict);
}

/* figures CLASS */
static int run_figures(th_call *c)
{
    return give_figures(c, false);
}

/* kept CLASS */
static int run_kept(th_call *c)
{
    return give_figures(c, true);
}

/* check_columns TABLE: before long work, are the columns known that the command was asked for? */
static int run_check_columns(th_call *c)
{
    th_call caller = *th_lib_caller(c);
    if (!caller.command->is_report)
        return th_lib_fault(c, "check_columns");
    caller.err = (th_error){.id = ""};
    int failed = th_lib_check_columns(&caller, c->words[0]);
    c->err = caller.err;
    return failed;
}

/* warn ID TEXT: a warning of the command that lib/ answers. */
static int run_warn(th_call *c)
{
    if (th_warning_find(th_call_word(c, 0), &c->err) < 0)
        return -1;
    th_warn(th_lib_caller(c), th_call_word(c, 0), "%s", th_call_word(c, 1));
    return 0;
}

/* note FILE NOTES: what was left out of a file, if anything. */
static int run_note(th_call *c)
{
    th_strbuf notes = TH_STRBUF_INIT;
    th_strbuf_add(&notes, th_call_word(c, 1));
    th_warn_notes(th_lib_caller(c), th_call_word(c, 0), false, &notes);
    return 0;
}

/* poll: an error after Ctrl-C. */
static int run_poll(th_call *c)
{
    return th_session_is_interrupted(c->session) ? th_error_interrupted(&c->err, "") : 0;
}

const th_command th_core_session_commands[] = {
    TH_CORE_ROW("warn", "ID TEXT", 2, 2, run_warn),
    TH_CORE_ROW("note", "FILE NOTES", 2, 2, run_note),
    TH_CORE_ROW("poll", "", 0, 0, run_poll),
    TH_CORE_ROW_OF_RUN("need", "WHAT", 1, run_need),
    TH_CORE_ROW("fail_unknown", "ID WHAT TEXT NAMES", 4, 4, run_fail_unknown),
    TH_CORE_ROW("quantity", "KIND VALUE", 2, 2, run_quantity),
    TH_CORE_ROW("check_columns", "TABLE", 1, 1, run_check_columns),
    TH_CORE_ROW_OF_RUN("about", "", 0, run_about),
    TH_CORE_ROW_OF_RUN("figure", "CLASS NAME", 2, run_figure),
    TH_CORE_ROW("figures", "CLASS", 1, 1, run_figures),
    TH_CORE_ROW("kept", "CLASS", 1, 1, run_kept),
    {.name = NULL},
};
