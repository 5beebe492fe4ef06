/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_script.c - see design_script.h.
 *   text: what the session's interpreter has in the namespace of designs, as two scripts
 *   check: does it have the procedure?
 *   answer: shard and parameters -> two dicts -> procedure, under a time limit -> its dict ->
 *     numbers
 * Each thread has one interpreter, made of the text, and made anew of another text and after
 * failures.
 *
 * The time limit is the one of Tcl interpreters: a catch in the procedure cannot hold it up. It is
 * set for a slice of the time, so that Ctrl-C is noticed after each. Tcl checks it between its
 * commands, so a single long command is not ended. */
#include <config.h>
#include "tcl/design_script.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "base/interrupt.h"
#include "tcl/safe_interp.h"
#include "tcl/tcl_session.h"

enum { MICROSECONDS = 1000000, PS_PER_MICROSECOND = 1000000, MESSAGE_MAX = 300, SLICE_US = 20000 };

/* A data file names what is called, so that it names nothing but procedures that were made for
 * designs: those of this namespace. */
#define NAMESPACE TH_DESIGN_NAMESPACE "::"

/* ---- the text of the procedures ---- */

/* A list of two scripts: the first loads the packages that the namespace's variable "packages"
 * names, the second makes the procedures. */
static const char describe[] =
    "apply {{space} {\n"
    "    set packages {}\n"
    "    foreach package [expr {[info exists ${space}::packages] ? [set ${space}::packages] : {}}] "
    "{\n"
    "        append packages [list package require {*}$package] \\n\n"
    "    }\n"
    "    if {$packages ne {}} {\n"
    "        catch {\n"
    "            set modules [list ::tcl::tm::path add {*}[lreverse [::tcl::tm::path list]]]\n"
    "            set packages [list set ::auto_path $::auto_path]\\n$modules\\n$packages\n"
    "        }\n"
    "    }\n"
    "    set spaces [list $space]\n"
    "    set procedures {}\n"
    "    while {$spaces ne {}} {\n"
    "        set spaces [lassign $spaces space]\n"
    "        lappend spaces {*}[lsort [namespace children $space]]\n"
    "        append procedures [list namespace eval $space {}] \\n\n"
    "        foreach name [lsort [info procs ${space}::*]] {\n"
    "            set formals {}\n"
    "            foreach formal [info args $name] {\n"
    "                if {[info default $name $formal value]} {lappend formal $value}\n"
    "                lappend formals $formal\n"
    "            }\n"
    "            append procedures [list proc $name $formals [info body $name]] \\n\n"
    "        }\n"
    "    }\n"
    "    list $packages $procedures\n"
    "}} " TH_DESIGN_NAMESPACE "\n";

static int take_text(void *session, th_script_memo *m, th_error *err)
{
    Tcl_Interp *interp = th_tcl_of(session)->interp;
    if (th_tcl_of(session)->thread != Tcl_GetCurrentThread())
        return 0; /* that thread has told them */
    Tcl_InterpState before = Tcl_SaveInterpState(interp, TCL_OK);
    atomic_store(&th_tcl_of(session)->has_stopped_scripts, false);
    int code = Tcl_EvalEx(interp, describe, -1, TCL_EVAL_GLOBAL);
    const char *text = Tcl_GetStringResult(interp);
    int failed =
        code != TCL_OK
            ? th_error_set(err, "TCL-2031", "the procedures of " TH_DESIGN_NAMESPACE ": %s", text)
        : Tcl_IsSafe(interp) && strncmp(text, "{} ", 3) != 0
            ? th_error_set(err, "TCL-2032",
                           "packages for designs: refused in a safe interpreter, which must not "
                           "set " TH_DESIGN_NAMESPACE "::packages")
            : th_script_memo_set_text(m, text, err);
    Tcl_RestoreInterpState(interp, before);
    return failed;
}

/* ---- the interpreter of a thread ---- */

static _Thread_local struct {
    bool is_used;  /* this thread has used Tcl for procedures */
    Tcl_Obj *text; /* that it was made of; NULL: there is none */
    Tcl_Interp *interp;
    th_tcl_session *session; /* of the present call; NULL: elsewhere */
    Tcl_Time until;          /* its time limit */
} own;

static void close_own(ClientData unused)
{
    (void)unused;
    if (!own.text)
        return;
    Tcl_DeleteInterp(own.interp);
    Tcl_DecrRefCount(own.text);
    own.text = NULL;
}

static int open_own(const char *text, th_error *err)
{
    if (own.text && strcmp(Tcl_GetString(own.text), text) == 0)
        return 0;
    close_own(NULL);
    if (!own.is_used)
        Tcl_CreateThreadExitHandler(close_own, NULL);
    own.is_used = true;
    own.text = Tcl_NewStringObj(text, -1);
    Tcl_IncrRefCount(own.text);
    if (th_interp_new_for_procedures(text, &own.interp) == TCL_OK)
        return 0;
    th_error_set(err, "TCL-2033", "the procedures of " TH_DESIGN_NAMESPACE ": %s",
                 Tcl_GetStringResult(own.interp));
    close_own(NULL);
    return -1;
}

static void leave(void)
{
    if (own.is_used)
        Tcl_FinalizeThread();
}

static int fail_unknown(Tcl_Interp *interp, const char *procedure, th_error *err)
{
    Tcl_Obj **names;
    Tcl_Size n = 0;
    const char *near = NULL, **texts = NULL;
    if (Tcl_Eval(interp, "info procs " NAMESPACE "*") == TCL_OK &&
        Tcl_ListObjGetElements(NULL, Tcl_GetObjResult(interp), &n, &names) == TCL_OK &&
        (texts = th_alloc_array((size_t)n + 1, sizeof *texts))) {
        for (Tcl_Size i = 0; i < n; i++)
            texts[i] = Tcl_GetString(names[i]) + strlen(NAMESPACE);
        near = th_name_nearest(procedure, texts, (size_t)n);
        if (near && strcmp(near, procedure) == 0)
            near = NULL; /* it takes other arguments */
    }
    th_error_set(err, "TCL-0133",
                 "procedure \"%.100s\": is no Tcl procedure ::tharsis::design::NAME of two "
                 "arguments, shard and parameters%s%s%s",
                 procedure, near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
    th_free(texts);
    return -1;
}

static int check(const char *text, const char *procedure, th_error *err)
{
    Tcl_Size n = 0;
    if (open_own(text, err))
        return -1;
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::info", -1), Tcl_NewStringObj("args", -1),
                              Tcl_ObjPrintf(NAMESPACE "%s", procedure)};
    bool takes_two = th_eval_words(own.interp, 3, words) == TCL_OK &&
                     Tcl_ListObjLength(NULL, Tcl_GetObjResult(own.interp), &n) == TCL_OK && n == 2;
    return takes_two ? 0 : fail_unknown(own.interp, procedure, err);
}

/* ---- arguments of the procedure ---- */

static void add_tensors(Tcl_Obj *dict, const th_shard *s)
{
    static const char *const names[TH_N_TENSORS] = {"input", "weight", "output"};
    for (int t = 0; t < TH_N_TENSORS; t++) {
        char density[TCL_DOUBLE_SPACE];
        Tcl_PrintDouble(NULL, s->density_ppm[t] / 1e6, density);
        Tcl_AppendPrintfToObj(dict, " %s_bits %d %s_bytes %ld %s_density %s", names[t],
                              th_precision_bits((th_precision)s->precision[t]), names[t],
                              (long)th_script_tensor_bytes(s, (th_tensor)t), names[t], density);
    }
}

static Tcl_Obj *dict_of_shard(const th_shard *s)
{
    const th_layer layer = {.kind = (th_layer_kind)s->kind, .function = (th_function)s->function};
    const int32_t *d = s->dim;
    Tcl_Obj *dict = Tcl_ObjPrintf(
        "kind %s batch %d k %d c %d h %d w %d r %d s %d groups %d in_h %d in_w %d stride_h %d "
        "stride_w %d dilation_h %d dilation_w %d operands %d sparse_n %d sparse_m %d",
        th_layer_type_name(&layer), d[TH_DIM_B], d[TH_DIM_K], d[TH_DIM_C], d[TH_DIM_H], d[TH_DIM_W],
        d[TH_DIM_R], d[TH_DIM_S], s->groups, s->in_h, s->in_w, s->stride_h, s->stride_w,
        s->dilation_h, s->dilation_w, s->n_operands, s->sparse_n, s->sparse_m);
    add_tensors(dict, s);
    Tcl_AppendPrintfToObj(dict, " macs %ld", (long)th_shard_macs(s));
    return dict;
}

static Tcl_Obj *value_of(const th_param *p)
{
    const double exact = 0x1p53; /* below, every whole number is a double */
    switch (p->kind) {
    case TH_PARAM_NUMBER:
        if (p->number > -exact && p->number < exact && p->number == (double)(int64_t)p->number)
            return Tcl_NewWideIntObj((int64_t)p->number);
        return Tcl_NewDoubleObj(p->number);
    case TH_PARAM_TEXT:
        return Tcl_NewStringObj(p->text, -1);
    case TH_PARAM_BOOL:
        return Tcl_NewBooleanObj(p->number != 0);
    }
    return Tcl_NewObj();
}

static Tcl_Obj *dict_of_parameters(const th_design_block *b)
{
    Tcl_Obj *dict = Tcl_NewDictObj();
    for (int i = 0; i < b->n_params; i++)
        if (!th_script_is_own_key(b->params[i].key))
            Tcl_DictObjPut(NULL, dict, Tcl_NewStringObj(b->params[i].key, -1),
                           value_of(&b->params[i]));
    return dict;
}

/* ---- the call ---- */

static bool is_earlier(const Tcl_Time *a, const Tcl_Time *b)
{
    return a->sec < b->sec || (a->sec == b->sec && a->usec < b->usec);
}

static Tcl_Time later(int64_t microseconds)
{
    Tcl_Time t;
    Tcl_GetTime(&t);
    microseconds += t.usec;
    t.sec += (long)(microseconds / MICROSECONDS);
    t.usec = (long)(microseconds % MICROSECONDS);
    return t;
}

/* Who notices Ctrl-C tells the other threads: it takes the flag away. */
static bool is_interrupted(void)
{
    th_tcl_session *s = own.session;
    if (!s)
        return th_interrupt_is_pending();
    if (th_interrupt_is_pending() ||
        (s->thread == Tcl_GetCurrentThread() && Tcl_Canceled(s->interp, 0) == TCL_ERROR))
        atomic_store(&s->has_stopped_scripts, true);
    return atomic_load(&s->has_stopped_scripts);
}

static void set_slice(Tcl_Interp *interp)
{
    Tcl_Time slice = later(SLICE_US);
    Tcl_LimitSetTime(interp, is_earlier(&slice, &own.until) ? &slice : &own.until);
}

/* Tcl calls this at the end of a slice, and goes on if there is another. */
static void end_slice(ClientData unused, Tcl_Interp *interp)
{
    Tcl_Time now;
    (void)unused;
    Tcl_GetTime(&now);
    if (is_earlier(&now, &own.until) && !is_interrupted())
        set_slice(interp);
}

/* The line of the procedure's body with the error; 0: none. */
static int line_of_error(Tcl_Interp *interp, const char *procedure)
{
    static const char place[] = "(procedure \"" NAMESPACE "%s\" line ";
    int line = 0;
    const char *trace = Tcl_GetVar(interp, "errorInfo", TCL_GLOBAL_ONLY);
    Tcl_Obj *text = Tcl_ObjPrintf(place, procedure);
    Tcl_IncrRefCount(text);
    const char *at = trace ? strstr(trace, Tcl_GetString(text)) : NULL;
    if (!at || sscanf(at + strlen(Tcl_GetString(text)), "%d", &line) != 1)
        line = 0;
    Tcl_DecrRefCount(text);
    return line;
}

/* Did it look for a command or a variable that is not there? */
static bool is_missing(Tcl_Interp *interp)
{
    const char *code = Tcl_GetVar(interp, "errorCode", TCL_GLOBAL_ONLY);
    return code && (strncmp(code, "TCL LOOKUP", 10) == 0 || strncmp(code, "TCL READ", 8) == 0);
}

static int fail_error(const char *procedure, th_error *err)
{
    static const char hint[] =
        " (a design's procedure finds its arguments, and the procedures of " TH_DESIGN_NAMESPACE
        ")";
    char line[32] = "";
    int number = line_of_error(own.interp, procedure);
    if (number > 0)
        snprintf(line, sizeof line, " in line %d", number);
    return th_error_set(err, "TCL-0137", "failed%s: %.*s%s", line, MESSAGE_MAX,
                        Tcl_GetStringResult(own.interp), is_missing(own.interp) ? hint : "");
}

/* Why the procedure did not answer. */
static int fail_call(const th_script_question *q, th_error *err)
{
    char limit[64];
    if (is_interrupted())
        return th_error_interrupted(err, "the procedure did not answer");
    if (Tcl_LimitExceeded(own.interp))
        return th_error_set(err, "TCL-0135",
                            "still busy after %s: must answer within the design's time_limit",
                            th_format_time(q->limit_ps, limit, sizeof limit));
    return fail_error(q->procedure, err);
}

static int call(const th_script_question *q, th_error *err)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::tharsis::answer", -1),
                              Tcl_ObjPrintf(NAMESPACE "%s", q->procedure), dict_of_shard(q->shard),
                              dict_of_parameters(q->block)};
    own.until = later(q->limit_ps / PS_PER_MICROSECOND);
    Tcl_LimitAddHandler(own.interp, TCL_LIMIT_TIME, end_slice, NULL, NULL);
    set_slice(own.interp);
    Tcl_LimitTypeSet(own.interp, TCL_LIMIT_TIME);
    Tcl_LimitSetGranularity(own.interp, TCL_LIMIT_TIME, 1);
    int failed = th_eval_words(own.interp, 4, words) == TCL_OK ? 0 : fail_call(q, err);
    Tcl_LimitTypeReset(own.interp, TCL_LIMIT_TIME);
    Tcl_LimitRemoveHandler(own.interp, TCL_LIMIT_TIME, end_slice, NULL);
    return failed;
}

/* ---- the result ---- */

static int fail_key(const char *key, th_error *err)
{
    const char *names[TH_SCRIPT_N_NUMBERS + 3];
    for (int i = 0; i < TH_SCRIPT_N_NUMBERS; i++)
        names[i] = th_script_fields[i].name;
    names[TH_SCRIPT_N_NUMBERS] = "variant";
    names[TH_SCRIPT_N_NUMBERS + 1] = "cannot";
    names[TH_SCRIPT_N_NUMBERS + 2] = NULL;
    return th_error_unknown(err, "TCL-0138", "key of its answer", key, names);
}

static int read_text(const char *name, Tcl_Obj *value, size_t size, char *out, th_error *err)
{
    Tcl_Size n;
    const char *text = Tcl_GetStringFromObj(value, &n);
    if (n == 0 || (size_t)n >= size || strlen(text) != (size_t)n || strpbrk(text, "\n\r\t"))
        return th_error_set(err, "TCL-0139", "%s is \"%.60s\": must be one line of 1 to %d bytes",
                            name, text, (int)size - 1);
    memcpy(out, text, (size_t)n + 1);
    return 0;
}

static int read_pair(Tcl_Obj *key, Tcl_Obj *value, th_script_answer *out, th_error *err)
{
    const char *name = Tcl_GetString(key);
    if (strcmp(name, "variant") == 0)
        return read_text(name, value, sizeof out->variant, out->variant, err);
    if (strcmp(name, "cannot") == 0)
        return read_text(name, value, sizeof out->cannot, out->cannot, err);
    for (int i = 0; i < TH_SCRIPT_N_NUMBERS; i++) {
        if (strcmp(name, th_script_fields[i].name) != 0)
            continue;
        if (Tcl_GetDoubleFromObj(NULL, value, &out->number[i]) != TCL_OK)
            return th_error_set(err, "TCL-0140", "%s is \"%.60s\": must be a %snumber", name,
                                Tcl_GetString(value), th_script_fields[i].is_whole ? "whole " : "");
        out->has[i] = true;
        return 0;
    }
    return fail_key(name, err);
}

static int read_answer(Tcl_Obj *dict, th_script_answer *out, th_error *err)
{
    Tcl_DictSearch search;
    Tcl_Obj *key, *value;
    int done, failed = 0;
    if (Tcl_DictObjFirst(NULL, dict, &search, &key, &value, &done) != TCL_OK)
        return th_error_set(err, "TCL-0141",
                            "its answer is \"%.60s\": must be a dict such as {cycles 1000}",
                            Tcl_GetString(dict));
    for (; !failed && !done; Tcl_DictObjNext(&search, &key, &value, &done))
        failed = read_pair(key, value, out, err);
    Tcl_DictObjDone(&search);
    return failed;
}

static int answer(void *session, const char *text, const th_script_question *q,
                  th_script_answer *out, th_error *err)
{
    if (open_own(text, err))
        return -1;
    own.session = session ? th_tcl_of(session) : NULL;
    int failed = call(q, err);
    if (!failed) {
        Tcl_Obj *dict = Tcl_GetObjResult(own.interp);
        Tcl_IncrRefCount(dict);
        failed = read_answer(dict, out, err);
        Tcl_DecrRefCount(dict);
    }
    if (failed)
        close_own(NULL);
    return failed;
}

/* ---- functions for the session ---- */

const th_script_provider th_design_scripts = {NULL, NULL, check, answer, leave};

th_script_memo *th_design_scripts_new(th_session *s, th_error *err)
{
    const th_script_provider provider = {s, take_text, check, answer, leave};
    Tcl_Interp *interp = th_tcl_of(s)->interp;
    if (!Tcl_FindNamespace(interp, TH_DESIGN_NAMESPACE, NULL, TCL_GLOBAL_ONLY))
        Tcl_CreateNamespace(interp, TH_DESIGN_NAMESPACE, NULL, NULL);
    return th_script_memo_new(&provider, err);
}

int th_design_scripts_exist(th_session *s, th_error *err)
{
    th_compute_cost_cache *w = th_compute_cost_cache_new(s->system, err);
    int failed = w ? th_compute_cost_set_scripts(w, s->scripts, err) : -1;
    th_compute_cost_cache_free(w);
    return failed;
}
