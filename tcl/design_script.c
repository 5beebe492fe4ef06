/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_script.c - see design_script.h.
 *   identify: does the procedure exist, and what is its text?
 *   answer: shard and parameters -> two dicts -> procedure, under a time limit -> its dict ->
 *     numbers
 *
 * The time limit is the one of Tcl interpreters: a catch in the procedure cannot hold it up, and an
 * earlier limit is set again afterwards. Tcl checks the limit between its commands, so a single
 * long command is not ended. Ctrl-C cancels the procedure as it does any script. */
#include <config.h>
#include "tcl/design_script.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "base/names.h"
#include "tcl/tcl_session.h"

enum { MICROSECONDS = 1000000, PS_PER_MICROSECOND = 1000000, MESSAGE_MAX = 300 };

/* A data file names what is called, so that it names nothing but procedures that were made for
 * designs: those of this namespace. */
#define NAMESPACE TH_DESIGN_NAMESPACE "::"

/* With a reference. */
static Tcl_Obj *whole_name(const char *procedure)
{
    Tcl_Obj *name = Tcl_ObjPrintf(NAMESPACE "%s", procedure);
    Tcl_IncrRefCount(name);
    return name;
}

/* ---- identify ---- */

static int info(Tcl_Interp *interp, const char *what, const char *of)
{
    Tcl_Obj *const words[] = {Tcl_NewStringObj("::info", -1), Tcl_NewStringObj(what, -1),
                              Tcl_NewStringObj(of, -1)};
    return th_eval_words(interp, 3, words);
}

static int fail_unknown(Tcl_Interp *interp, const char *procedure, th_error *err)
{
    Tcl_Obj **names;
    Tcl_Size n = 0;
    const char *near = NULL, **texts = NULL;
    if (info(interp, "procs", NAMESPACE "*") == TCL_OK &&
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

/* A digest of the procedure's body and arguments. */
static uint64_t digest_of(Tcl_Interp *interp, const char *procedure)
{
    static const char *const parts[] = {"body", "args"};
    uint64_t digest = 0;
    for (int i = 0; i < 2; i++) {
        Tcl_Size n = 0;
        if (info(interp, parts[i], procedure) != TCL_OK)
            return 0;
        const char *text = Tcl_GetStringFromObj(Tcl_GetObjResult(interp), &n);
        digest = th_hash(text, (size_t)n, digest + 1);
    }
    return digest;
}

static bool takes_two_arguments(Tcl_Interp *interp, const char *procedure)
{
    Tcl_Size n = 0;
    return info(interp, "args", procedure) == TCL_OK &&
           Tcl_ListObjLength(NULL, Tcl_GetObjResult(interp), &n) == TCL_OK && n == 2;
}

static int identify(void *context, const char *procedure, uint64_t *digest, th_error *err)
{
    Tcl_Interp *interp = th_tcl_of(context)->interp;
    Tcl_InterpState before = Tcl_SaveInterpState(interp, TCL_OK);
    Tcl_Obj *name = whole_name(procedure);
    int failed = 0;
    if (!takes_two_arguments(interp, Tcl_GetString(name)))
        failed = fail_unknown(interp, procedure, err);
    else
        *digest = digest_of(interp, Tcl_GetString(name));
    Tcl_DecrRefCount(name);
    Tcl_RestoreInterpState(interp, before);
    return failed;
}

/* ---- arguments of the procedure ---- */

static void put(Tcl_Obj *dict, const char *key, Tcl_Obj *value)
{
    Tcl_DictObjPut(NULL, dict, Tcl_NewStringObj(key, -1), value);
}

static void put_whole(Tcl_Obj *dict, const char *key, int64_t value)
{
    put(dict, key, Tcl_NewWideIntObj(value));
}

static const char *kind_name(const th_shard *s)
{
    const th_layer layer = {.kind = (th_layer_kind)s->kind, .function = (th_function)s->function};
    return th_layer_type_name(&layer);
}

static void put_tensors(Tcl_Obj *dict, const th_shard *s)
{
    static const char *const names[TH_N_TENSORS] = {"input", "weight", "output"};
    char key[32];
    for (int t = 0; t < TH_N_TENSORS; t++) {
        snprintf(key, sizeof key, "%s_bits", names[t]);
        put_whole(dict, key, th_precision_bits((th_precision)s->precision[t]));
        snprintf(key, sizeof key, "%s_bytes", names[t]);
        put_whole(dict, key, th_script_tensor_bytes(s, (th_tensor)t));
        snprintf(key, sizeof key, "%s_density", names[t]);
        put(dict, key, Tcl_NewDoubleObj(s->density_ppm[t] / 1e6));
    }
}

static Tcl_Obj *dict_of_shard(const th_shard *s)
{
    static const char *const dims[TH_N_DIMS] = {"batch", "k", "c", "h", "w", "r", "s"};
    const struct {
        const char *key;
        int32_t value;
    } rest[] = {
        {"groups", s->groups},         {"in_h", s->in_h},           {"in_w", s->in_w},
        {"stride_h", s->stride_h},     {"stride_w", s->stride_w},   {"dilation_h", s->dilation_h},
        {"dilation_w", s->dilation_w}, {"operands", s->n_operands}, {"sparse_n", s->sparse_n},
        {"sparse_m", s->sparse_m},
    };
    Tcl_Obj *dict = Tcl_NewDictObj();
    put(dict, "kind", Tcl_NewStringObj(kind_name(s), -1));
    for (int d = 0; d < TH_N_DIMS; d++)
        put_whole(dict, dims[d], s->dim[d]);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        put_whole(dict, rest[i].key, rest[i].value);
    put_tensors(dict, s);
    put_whole(dict, "macs", th_shard_macs(s));
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
            put(dict, b->params[i].key, value_of(&b->params[i]));
    return dict;
}

/* ---- the call ---- */

/* The time limit that the interpreter had. */
typedef struct {
    bool was_set;
    Tcl_Time until;
    int granularity;
} time_limit;

static bool is_earlier(const Tcl_Time *a, const Tcl_Time *b)
{
    return a->sec < b->sec || (a->sec == b->sec && a->usec < b->usec);
}

/* Tcl checks the clock at every command. An earlier limit of the user is kept. */
static time_limit begin_limit(Tcl_Interp *interp, th_time limit_ps)
{
    time_limit before = {.was_set = Tcl_LimitTypeEnabled(interp, TCL_LIMIT_TIME),
                         .granularity = Tcl_LimitGetGranularity(interp, TCL_LIMIT_TIME)};
    int64_t microseconds = limit_ps / PS_PER_MICROSECOND;
    Tcl_Time until;
    Tcl_LimitGetTime(interp, &before.until);
    Tcl_GetTime(&until);
    microseconds += until.usec;
    until.sec += (long)(microseconds / MICROSECONDS);
    until.usec = (long)(microseconds % MICROSECONDS);
    if (before.was_set && is_earlier(&before.until, &until))
        return before;
    Tcl_LimitSetTime(interp, &until);
    Tcl_LimitTypeSet(interp, TCL_LIMIT_TIME);
    Tcl_LimitSetGranularity(interp, TCL_LIMIT_TIME, 1);
    return before;
}

/* Setting a time also clears the mark that it was exceeded. */
static void end_limit(Tcl_Interp *interp, const time_limit *before)
{
    Tcl_LimitSetTime(interp, (Tcl_Time *)&before->until);
    Tcl_LimitSetGranularity(interp, TCL_LIMIT_TIME, before->granularity);
    if (!before->was_set)
        Tcl_LimitTypeReset(interp, TCL_LIMIT_TIME);
}

/* The line of the procedure's body with the error, read from Tcl's errorInfo; 0: none. */
static int line_of_error(Tcl_Interp *interp, const char *procedure)
{
    int line = 0;
    Tcl_Obj *key = Tcl_NewStringObj("-errorinfo", -1), *trace = NULL;
    Tcl_Obj *options = Tcl_GetReturnOptions(interp, TCL_ERROR);
    Tcl_Obj *place = Tcl_ObjPrintf("(procedure \"" NAMESPACE "%s\" line ", procedure);
    Tcl_IncrRefCount(key);
    Tcl_IncrRefCount(options);
    Tcl_IncrRefCount(place);
    if (Tcl_DictObjGet(NULL, options, key, &trace) == TCL_OK && trace) {
        const char *at = strstr(Tcl_GetString(trace), Tcl_GetString(place));
        if (!at || sscanf(at + strlen(Tcl_GetString(place)), "%d", &line) != 1)
            line = 0;
    }
    Tcl_DecrRefCount(place);
    Tcl_DecrRefCount(options);
    Tcl_DecrRefCount(key);
    return line;
}

static int fail_error(Tcl_Interp *interp, const char *procedure, th_error *err)
{
    char line[32] = "";
    Tcl_Obj *message = Tcl_GetObjResult(interp);
    Tcl_IncrRefCount(message);
    int number = line_of_error(interp, procedure);
    if (number > 0)
        snprintf(line, sizeof line, " in line %d", number);
    th_error_set(err, "TCL-0137", "failed%s: %.*s", line, MESSAGE_MAX, Tcl_GetString(message));
    Tcl_DecrRefCount(message);
    return -1;
}

/* Why the procedure did not answer. */
static int fail_call(Tcl_Interp *interp, int code, const th_script_question *q, th_error *err)
{
    char limit[64];
    if (Tcl_Canceled(interp, 0) == TCL_ERROR)
        return th_error_interrupted(err, "the procedure did not answer");
    if (Tcl_LimitExceeded(interp))
        return th_error_set(err, "TCL-0135",
                            "still busy after %s: must answer within the design's time_limit",
                            th_format_time(q->limit_ps, limit, sizeof limit));
    if (code != TCL_ERROR)
        return th_error_set(err, "TCL-0136", "ended by return -code %d: must return a dict", code);
    return fail_error(interp, q->procedure, err);
}

static int call(th_session *s, const th_script_question *q, th_error *err)
{
    Tcl_Interp *interp = th_tcl_of(s)->interp;
    Tcl_Obj *const words[] = {whole_name(q->procedure), dict_of_shard(q->shard),
                              dict_of_parameters(q->block)};
    time_limit before = begin_limit(interp, q->limit_ps);
    th_tcl_of(s)->is_answering = true;
    int code = th_eval_words(interp, 3, words);
    Tcl_DecrRefCount(words[0]);
    th_tcl_of(s)->is_answering = false;
    int failed = code == TCL_OK ? 0 : fail_call(interp, code, q, err);
    end_limit(interp, &before);
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

static int answer(void *context, const th_script_question *q, th_script_answer *out, th_error *err)
{
    th_session *s = context;
    if (th_tcl_of(s)->is_answering)
        return th_error_set(err, "TCL-0142",
                            "asked for this while it answers: must not use commands that need the "
                            "run of the mapping");
    Tcl_InterpState before = Tcl_SaveInterpState(th_tcl_of(s)->interp, TCL_OK);
    int failed = call(s, q, err);
    if (!failed) {
        Tcl_Obj *dict = Tcl_GetObjResult(th_tcl_of(s)->interp);
        Tcl_IncrRefCount(dict);
        failed = read_answer(dict, out, err);
        Tcl_DecrRefCount(dict);
    }
    Tcl_RestoreInterpState(th_tcl_of(s)->interp, before);
    return failed;
}

/* ---- functions for the session ---- */

th_script_memo *th_design_scripts_new(th_session *s, th_error *err)
{
    const th_script_provider provider = {s, identify, answer};
    return th_script_memo_new(&provider, err);
}

int th_design_scripts_exist(th_session *s, th_error *err)
{
    th_compute_cost_cache *w = th_compute_cost_cache_new(s->system, err);
    int failed = w ? th_compute_cost_set_scripts(w, s->scripts, err) : -1;
    th_compute_cost_cache_free(w);
    return failed;
}
