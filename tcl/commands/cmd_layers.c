/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_layers.c - create_workload: a network from a Tcl list. The list is converted to the text of a
 * workload file with layer i in line i, and read as such: so both have the same keys, and messages
 * name the layer. */
#include <config.h>
#include <ctype.h>
#include <string.h>
#include "base/alloc.h"
#include "base/config_write.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "workloads/workload_read.h"

#define GROUP "build"

enum { LAYERS_NAME, LAYERS_INPUT, LAYERS_BATCH, LAYERS_PRECISION, LAYERS_LAYERS };

static const char *precision_name(int i)
{
    return i < TH_N_PRECISIONS ? th_precision_name((th_precision)i) : NULL;
}

static const th_option layers_options[] = {
    [LAYERS_NAME] = {"-name", TH_OPTION_TEXT, "NAME", "Name of the workload.", .required = true},
    [LAYERS_INPUT] = {"-input", TH_OPTION_TEXT, "{CHANNELS HEIGHT WIDTH}", "Size of one input.",
                      .least = 3, .most = 3, .required = true},
    [LAYERS_BATCH] = {"-batch", TH_OPTION_INTEGER, "N", "Inputs per batch (1).", 1, 1000000},
    [LAYERS_PRECISION] =
        {"-precision", TH_OPTION_CHOICE, "PRECISION",
         "Precision of the input, and of layers without a precision of their own (fp16).",
         .choice = precision_name},
    [LAYERS_LAYERS] = {"-layers", TH_OPTION_TEXT, "{LAYER ...}",
                       "In order; each is {NAME TYPE ?KEY VALUE ...?}.", .least = 1,
                       .most = TH_MANY, .required = true},
    {.name = NULL},
};

/* ---- values ---- */

static void put_scalar(th_strbuf *out, Tcl_Obj *word)
{
    double number;
    const char *text = Tcl_GetString(word);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        th_strbuf_add(out, text);
    else if (Tcl_GetDoubleFromObj(NULL, word, &number) == TCL_OK && number - number == 0)
        th_config_put_number(out, number);
    else
        th_config_put_text(out, text);
}

/* Several words are a list; so is the empty list. */
static void put_value(th_strbuf *out, Tcl_Obj *value)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, value, &n, &words) != TCL_OK || n == 1) {
        put_scalar(out, value);
        return;
    }
    th_strbuf_add(out, "(");
    for (Tcl_Size i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        put_scalar(out, words[i]);
    }
    th_strbuf_add(out, ")");
}

/* Names of layers may look like numbers. */
static void put_names(th_strbuf *out, Tcl_Obj *value)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, value, &n, &words) != TCL_OK) {
        th_config_put_text(out, Tcl_GetString(value));
        return;
    }
    th_strbuf_add(out, "(");
    for (Tcl_Size i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        th_config_put_text(out, Tcl_GetString(words[i]));
    }
    th_strbuf_add(out, ")");
}

/* ---- layers ---- */

static bool is_key(const char *text)
{
    if (!isalpha((unsigned char)*text))
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '\0';
}

static int put_layer(th_call *c, Tcl_Obj *layer, th_strbuf *out)
{
    Tcl_Obj **words;
    Tcl_Size n;
    if (Tcl_ListObjGetElements(NULL, layer, &n, &words) != TCL_OK || n < 2 || n % 2 != 0)
        return th_error_set(&c->err, "TCL-0600",
                            "-layers: layer \"%s\": must be {NAME TYPE ?KEY VALUE ...?}",
                            Tcl_GetString(layer));
    th_strbuf_add(out, "{ name = ");
    th_config_put_text(out, Tcl_GetString(words[0]));
    th_strbuf_add(out, "; type = ");
    th_config_put_text(out, Tcl_GetString(words[1]));
    th_strbuf_add(out, ";");
    for (Tcl_Size i = 2; i < n; i += 2) {
        const char *key = Tcl_GetString(words[i]);
        if (!is_key(key))
            return th_error_set(
                &c->err, "TCL-0601",
                "-layers: layer \"%s\": key \"%s\": must be a word of letters, digits and _",
                Tcl_GetString(words[0]), key);
        th_strbuf_printf(out, " %s = ", key);
        if (strcmp(key, "inputs") == 0)
            put_names(out, words[i + 1]);
        else
            put_value(out, words[i + 1]);
        th_strbuf_add(out, ";");
    }
    th_strbuf_add(out, " }");
    return 0;
}

static int put_layers(th_call *c, th_strbuf *out)
{
    const th_value *layers = &c->option[LAYERS_LAYERS];
    th_strbuf_add(out, " layers = (");
    for (int i = 0; i < layers->n; i++) {
        th_strbuf_add(out, i > 0 ? ",\n" : "");
        if (put_layer(c, layers->words[i], out) != 0)
            return -1;
    }
    th_strbuf_add(out, ");\n");
    return out->failed ? th_error_no_memory(&c->err) : 0;
}

/* ---- the head ---- */

static void put_head(const th_call *c, th_strbuf *out)
{
    static const char *const keys[] = {"channels", "height", "width"};
    th_strbuf_add(out, "name = ");
    th_config_put_text(out, th_call_text(c, LAYERS_NAME, ""));
    th_strbuf_printf(out, "; precision = \"%s\"; input = {",
                     precision_name((int)th_call_number(c, LAYERS_PRECISION, TH_FP16)));
    for (int i = 0; i < 3; i++) {
        th_strbuf_printf(out, " %s = ", keys[i]);
        put_scalar(out, c->option[LAYERS_INPUT].words[i]);
        th_strbuf_add(out, ";");
    }
    th_strbuf_add(out, " };");
}

static int run_create_workload(th_call *c)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_workload *w = NULL;
    put_head(c, &text);
    if (put_layers(c, &text) == 0)
        w = th_workload_read_text(text.text, th_call_text(c, LAYERS_NAME, ""),
                                  (int32_t)th_call_number(c, LAYERS_BATCH, 1), &c->err);
    th_strbuf_clear(&text);
    if (!w)
        return -1;
    th_session_set_workload(c->session, w);
    th_call_return_text(c, w->name);
    return 0;
}

const th_command th_layers_commands[] = {
    {"create_workload", GROUP, "", 0, 0, layers_options, "create a workload from a list of layers",
     "Types and keys are those of workload files (docs/formats.md): {stem conv outputs 16 kernel 3 "
     "norm true}; keys with several values take a list ({padding {0 1}}, {inputs {a b}}). A "
     "message about line N means layer N. write_workload writes it to a file. Returns the "
     "workload's name. The mapping and the run of the previous workload are dropped.",
     .run = run_create_workload, .needs = {th_session_need_no_trace}, .not_while_running = true},
    {.name = NULL},
};
