/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - from the words of a call to checked values, and from a th_error to a Tcl error.
 *   th_commands_create -> dispatch* (each: parse_words -> th_value_parse* -> what is needed ->
 *   th_value_resolve* -> the row's function -> fail) */
#include <config.h>
#include "tcl/command.h"
#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "base/files/open_file.h"
#include "base/units.h"
#include "base/interrupt.h"
#include "tcl/tcl_session.h"

const th_command *const th_command_families[] = {
    th_session_commands,
    th_system_commands,
    th_workload_commands,
    th_object_commands,
    th_examine_commands,
    th_map_commands,
    th_write_commands,
    th_program_commands,
    th_collective_commands,
    th_pipeline_commands,
    th_transformer_commands,
    th_parallel_commands,
    th_plan_search_commands,
    th_step_commands,
    th_network_commands,
    th_breakpoint_commands,
    th_predict_commands,
    th_predict_layer_commands,
    th_evaluate_commands,
    th_predict_network_commands,
    th_report_map_commands,
    th_report_commands,
    th_report_network_commands,
    th_compare_commands,
    th_sensitivity_commands,
    th_advice_commands,
    th_reliability_commands,
    th_survival_commands,
    th_query_commands,
    th_table_commands,
    th_output_commands,
    th_plot_commands,
    th_trace_commands,
    th_property_event_commands,
    th_checkpoint_commands,
    th_study_commands,
    NULL,
};

const th_command *const th_core_families[] = {
    th_core_session_commands,     th_core_table_commands,
    th_core_reliability_commands, th_core_what_if_commands,
    th_core_plot_commands,        th_core_query_commands,
    th_core_saved_commands,       th_core_run_commands,
    th_core_mapping_commands,     th_core_where_commands,
    th_core_parallel_commands,    th_core_study_commands,
    th_core_plan_commands,        th_core_link_law_commands,
    th_core_help_commands,        NULL,
};

/* What a Tcl command carries. */
typedef struct th_binding {
    th_session *session;
    const th_command *row;
} th_binding;

/* ---- helpers for the functions of commands ---- */

bool th_call_has(const th_call *c, int option)
{
    return c->option[option].word;
}

int64_t th_call_number(const th_call *c, int option, int64_t otherwise)
{
    return th_call_has(c, option) ? c->option[option].number : otherwise;
}

const char *th_call_text(const th_call *c, int option, const char *otherwise)
{
    return th_call_has(c, option) ? Tcl_GetString(c->option[option].word) : otherwise;
}

double th_call_real(const th_call *c, int option, double otherwise)
{
    return th_call_has(c, option) ? c->option[option].real : otherwise;
}

const char *th_call_word(const th_call *c, int i)
{
    return Tcl_GetString(c->words[i]);
}

void th_call_return_text(th_call *c, const char *text)
{
    Tcl_SetObjResult(c->interp, Tcl_NewStringObj(text, -1));
}

void th_call_return_time(th_call *c, int64_t ps)
{
    char text[64];
    th_call_return_text(c, th_format_time(ps, text, sizeof text));
}

int th_call_prefix_error(th_call *c, const char *what, const th_error *e)
{
    th_error cause = *e; /* e may be c->err itself */
    return th_error_set(&c->err, cause.id, "%s: %s", what, cause.text);
}

/* ---- parsing ---- */

void th_command_synopsis(const th_command *row, const char *separator, th_strbuf *out)
{
    th_strbuf_add(out, row->name);
    if (row->words[0] != '\0')
        th_strbuf_printf(out, "%s%s", separator, row->words);
    for (const th_option *o = row->options; o && o->name; o++)
        th_strbuf_printf(out, o->required && !o->unless ? "%s%s%s%s" : "%s?%s%s%s?", separator,
                         o->name, o->value ? " " : "", o->value ? o->value : "");
    if (row->is_report)
        th_strbuf_printf(out, "%s?> FILE?%s?>> FILE?", separator, separator);
}

static int usage(th_call *c, const char *problem)
{
    th_strbuf synopsis = TH_STRBUF_INIT;
    th_command_synopsis(c->command, " ", &synopsis);
    th_error_set(&c->err, "TCL-0001", "%s: should be \"%s\"", problem,
                 synopsis.text ? synopsis.text : "");
    th_strbuf_clear(&synopsis);
    return -1;
}

static int unknown_option(th_call *c, const char *text)
{
    if (th_removed_option(c, text) != 0)
        return -1;
    const char *names[TH_OPTIONS_MAX + 2];
    size_t n = 0;
    for (const th_option *o = c->command->options; o && o->name; o++)
        names[n++] = o->name;
    names[n++] = "-help";
    names[n] = NULL;
    th_error_unknown(&c->err, "TCL-0002", "option", text, names);
    return -1;
}

static int ambiguous_option(th_call *c, const char *text)
{
    th_strbuf names = TH_STRBUF_INIT;
    for (const th_option *o = c->command->options; o->name; o++)
        if (strncmp(o->name, text, strlen(text)) == 0)
            th_strbuf_printf(&names, "%s%s", names.length > 0 ? ", " : "", o->name);
    th_error_set(&c->err, "TCL-0740", "option \"%s\": is ambiguous: %s", text,
                 names.text ? names.text : "");
    th_strbuf_clear(&names);
    return -1;
}

/* The option of which a person typed the beginning at the prompt: its index, or -1 and c->err. In
 * scripts there is none, so that a later option breaks none of them. */
static int option_by_prefix(th_call *c, const char *text)
{
    const th_option *options = c->command->options;
    int found = -1, n = 0;
    if (!options || text[1] == '\0' || !th_session_is_typed(c->session))
        return unknown_option(c, text);
    for (int i = 0; options[i].name; i++)
        if (strncmp(options[i].name, text, strlen(text)) == 0) {
            found = i;
            n++;
        }
    if (n == 1)
        return found;
    return n == 0 ? unknown_option(c, text) : ambiguous_option(c, text);
}

/* The length of ">" or ">>" at the beginning of a word; 0: there is none. */
static size_t redirect_sign(const char *word)
{
    return word[0] != '>' ? 0 : word[1] == '>' ? 2 : 1;
}

/* Takes "> FILE" or ">FILE" off the end of a report's words. c->redirect has a reference. */
static int strip_redirect(th_call *c, int objc, Tcl_Obj *const objv[])
{
    if (!c->command->is_report || objc < 2)
        return objc;
    const char *last = Tcl_GetString(objv[objc - 1]), *sign = Tcl_GetString(objv[objc - 2]);
    size_t length = redirect_sign(last);
    bool is_joined = length > 0 && last[length] != '\0';
    if (is_joined)
        c->redirect = Tcl_NewStringObj(last + length, -1);
    else if (objc >= 3 && redirect_sign(sign) > 0 && sign[redirect_sign(sign)] == '\0')
        c->redirect = objv[objc - 1];
    else
        return objc;
    Tcl_IncrRefCount(c->redirect);
    c->append = redirect_sign(is_joined ? last : sign) == 2;
    return objc - (is_joined ? 1 : 2);
}

/* Parses the option at objv[*i] and its value; *i ends at the last word used. */
static int parse_option_at(th_call *c, int objc, Tcl_Obj *const objv[], int *i)
{
    const th_option *options = c->command->options;
    int k;
    if ((!options || Tcl_GetIndexFromObjStruct(NULL, objv[*i], options, sizeof *options, "option",
                                               TCL_EXACT, &k) != TCL_OK) &&
        (k = option_by_prefix(c, Tcl_GetString(objv[*i]))) < 0)
        return -1;
    if (th_call_has(c, k))
        return th_error_set(&c->err, "TCL-0006", "%s: given twice", options[k].name);
    Tcl_Obj *word = objv[*i];
    if (options[k].kind != TH_OPTION_FLAG) {
        if (++*i >= objc)
            return th_error_set(&c->err, "TCL-0007", "%s: needs a value, %s", options[k].name,
                                options[k].value);
        word = objv[*i];
    }
    return th_value_parse(c, &options[k], word, &c->option[k]);
}

/* "-1" is taken as a number, which the parser may refuse, not as an unknown option. */
static bool is_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0' && !(text[1] >= '0' && text[1] <= '9');
}

static int parse_words(th_call *c, int objc, Tcl_Obj *const objv[])
{
    bool only_words = !c->command->group;
    objc = strip_redirect(c, objc, objv);
    for (int i = 1; i < objc; i++) {
        const char *text = Tcl_GetString(objv[i]);
        if (!only_words && strcmp(text, "--") == 0)
            only_words = true;
        else if (only_words || !is_option(text))
            c->words[c->n_words++] = objv[i];
        else if (parse_option_at(c, objc, objv, &i) != 0)
            return -1;
    }
    if (c->n_words < c->command->min_words)
        return usage(c, "too few words");
    if (c->command->max_words >= 0 && c->n_words > c->command->max_words)
        return usage(c, "too many words");
    const th_option *kinds = c->command->kinds;
    for (int i = 0; kinds && kinds[i].name && i < c->n_words; i++)
        if (th_value_parse(c, &kinds[i], c->words[i], &c->word[i]) != 0)
            return -1;
    return th_options_check_together(c);
}

/* What the row needs of the session, then what its values name there. */
static int resolve(th_call *c)
{
    const th_command *row = c->command;
    for (int i = 0; i < TH_NEEDS_MAX && row->needs[i]; i++)
        if (row->needs[i](c->session, &c->err) != 0)
            return -1;
    for (int i = 0; row->options && row->options[i].name; i++)
        if (th_value_resolve(c, &row->options[i], &c->option[i]) != 0)
            return -1;
    for (int i = 0; row->kinds && row->kinds[i].name; i++)
        if (th_value_resolve(c, &row->kinds[i], &c->word[i]) != 0)
            return -1;
    return 0;
}

static void clear_values(th_call *c)
{
    for (int i = 0; c->command->options && c->command->options[i].name; i++)
        th_value_clear(&c->option[i]);
    for (int i = 0; i < TH_WORDS_MAX; i++)
        th_value_clear(&c->word[i]);
}

/* ---- the call ---- */

static bool wants_help(int objc, Tcl_Obj *const objv[])
{
    return objc == 2 && strcmp(Tcl_GetString(objv[1]), "-help") == 0;
}

int th_call_cancel(th_call *c, const char *message)
{
    (void)th_session_is_interrupted(c->session); /* the cancellation ends here */
    if (Tcl_Canceled(c->interp, 0) != TCL_ERROR)
        Tcl_CancelEval(c->interp, Tcl_NewStringObj(message, -1), NULL, TCL_CANCEL_UNWIND);
    Tcl_SetObjResult(c->interp, Tcl_NewStringObj(message, -1));
    c->err.id[0] = '\0';
    return -1;
}

/* The error that arrives was written by the part of the work that saw Ctrl-C. Only the command
 * knows what state the session is in afterwards, so the text is replaced. */
static int cancel(th_call *c)
{
    char message[TH_ERROR_TEXT_MAX + 64];
    const char *holds = c->command->after_interrupt;
    if (!holds)
        holds = c->command->is_report ? "nothing was printed" : "nothing was changed";
    th_error_interrupted(&c->err, holds);
    snprintf(message, sizeof message, "%s: %s", c->command->name, c->err.text);
    th_call_cancel(c, message);
    return TCL_ERROR;
}

/* Leaves c->err in the interpreter; if it is empty, the interpreter already holds a Tcl error. */
static int fail(th_call *c)
{
    if (c->err.id[0] == '\0')
        return TCL_ERROR;
    if (th_error_is_interrupted(&c->err)) {
        if (c->command->group || !th_tcl_of(c->session)->lib_call)
            return cancel(c);
        (void)th_session_is_interrupted(c->session); /* the command that lib/ answers cancels */
    }
    int number = 0;
    char area[TH_ERROR_ID_MAX] = "";
    sscanf(c->err.id, "%11[A-Z]-%d", area, &number);
    Tcl_SetObjResult(c->interp,
                     Tcl_ObjPrintf("Error %s: %s: %s", c->err.id, c->command->name, c->err.text));
    Tcl_Obj *code[] = {Tcl_NewStringObj("THARSIS", -1), Tcl_NewStringObj(area, -1),
                       Tcl_NewIntObj(number), Tcl_NewStringObj(c->err.text, -1)};
    Tcl_SetObjErrorCode(c->interp, Tcl_NewListObj(4, code));
    return TCL_ERROR;
}

static int print_help(th_call *c)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::tharsis::help", -1),
                              Tcl_NewStringObj(c->command->name, -1)};
    return th_eval_words(c->interp, 2, words) == TCL_OK ? 0 : -1;
}

static int write_text(th_call *c)
{
    th_strbuf text = TH_STRBUF_INIT;
    int failed = c->command->text(c, &text);
    if (!failed && text.failed)
        failed = th_error_no_memory(&c->err);
    if (!failed)
        failed = th_session_write_file(c->session, th_call_word(c, 0), false, &text, &c->err);
    if (!failed)
        Tcl_SetObjResult(c->interp, c->words[0]);
    th_strbuf_clear(&text);
    return failed ? -1 : 0;
}

static int run_parsed(th_call *c, int objc, Tcl_Obj *const objv[])
{
    if (c->command->group && wants_help(objc, objv))
        return print_help(c);
    if (parse_words(c, objc, objv) != 0)
        return -1;
    if (c->command->not_while_running && th_tcl_of(c->session)->is_running)
        return th_error_set(&c->err, "TCL-0009",
                            "refused while a run is under way (in the script of a breakpoint)");
    if (c->command->needs_every_rank && th_session_need_every_rank(c->session, &c->err) != 0)
        return -1;
    if (!c->command->ignores_run && th_session_make_due_run(c->session, &c->err) != 0)
        return -1;
    if (resolve(c) != 0)
        return -1;
    return c->command->text ? write_text(c) : c->command->run(c);
}

/* Of the time limits ("interp limit") of the interpreter and of those that it is a child of, which
 * Tcl asks about between its commands alone. */
static double seconds_left(Tcl_Interp *interp)
{
    double left = 1e12; /* for ever */
    Tcl_Time until, now;
    Tcl_GetTime(&now);
    for (; interp; interp = Tcl_GetMaster(interp))
        if (Tcl_LimitTypeEnabled(interp, TCL_LIMIT_TIME)) {
            Tcl_LimitGetTime(interp, &until);
            left =
                fmin(left, (double)(until.sec - now.sec) + 1e-6 * (double)(until.usec - now.usec));
        }
    return left;
}

static int dispatch(ClientData data, Tcl_Interp *interp, int objc, Tcl_Obj *const objv[])
{
    const th_binding *b = data;
    th_call c = {.session = b->session, .interp = interp, .command = b->row};
    Tcl_ResetResult(interp);
    c.words = th_alloc_array((size_t)objc, sizeof *c.words);
    const th_file_policy *files = th_file_policy_set(th_tcl_of(b->session)->files);
    double limit = th_interrupt_tighten_limit(seconds_left(interp));
    int failed = c.words ? run_parsed(&c, objc, objv) : th_error_no_memory(&c.err);
    th_interrupt_restore_limit(limit);
    th_file_policy_set(files);
    clear_values(&c);
    th_free(c.words);
    if (c.redirect)
        Tcl_DecrRefCount(c.redirect);
    return failed ? fail(&c) : TCL_OK;
}

/* ---- registration ---- */

const th_command *th_command_find(const char *name)
{
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++)
            if (strcmp(row->name, name) == 0)
                return row->alias_of ? th_command_find(row->alias_of) : row;
    return NULL;
}

size_t th_command_names(const char *names[TH_COMMANDS_MAX + 1])
{
    size_t n = 0;
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name && n < TH_COMMANDS_MAX;
             row++)
            names[n++] = row->name;
    names[n] = NULL;
    return n;
}

static void free_binding(ClientData data)
{
    ckfree(data);
}

static void create(Tcl_Interp *interp, const char *space, th_session *s, const th_command *row)
{
    int n_options = 0;
    while (row->options && row->options[n_options].name)
        n_options++;
    assert(n_options <= TH_OPTIONS_MAX);
    th_binding *b = (th_binding *)ckalloc(sizeof *b);
    *b = (th_binding){.session = s, .row = row->alias_of ? th_command_find(row->alias_of) : row};
    Tcl_Obj *name = Tcl_ObjPrintf("%s::%s", space, row->name);
    Tcl_IncrRefCount(name);
    Tcl_CreateObjCommand(interp, Tcl_GetString(name), dispatch, b, free_binding);
    Tcl_DecrRefCount(name);
}

static Tcl_Namespace *find_or_make(Tcl_Interp *interp, const char *space)
{
    Tcl_Namespace *ns = Tcl_FindNamespace(interp, space, NULL, TCL_GLOBAL_ONLY);
    return ns ? ns : Tcl_CreateNamespace(interp, space, NULL, NULL);
}

void th_commands_create(Tcl_Interp *interp, th_session *s)
{
    static const char all[] = "::tharsis", core[] = "::tharsis::core";
    Tcl_Namespace *ns = find_or_make(interp, all);
    for (int f = 0; th_command_families[f]; f++)
        for (const th_command *row = th_command_families[f]; row->name; row++) {
            create(interp, all, s, row);
            Tcl_Export(interp, ns, row->name, 0);
        }
    for (const th_command *row = th_removed_commands; row->name; row++)
        create(interp, all, s, row);
    find_or_make(interp, core);
    for (int f = 0; th_core_families[f]; f++)
        for (const th_command *row = th_core_families[f]; row->name; row++)
            create(interp, core, s, row);
}
