/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_workload.c - read_workload, create_workload, read_mapping, check_setup. The session's
 * workload and mapping are replaced only by complete ones. The list of create_workload is converted
 * to the text of a workload file with layer i in line i, and read as such: so both have the same
 * keys, and messages name the layer. */
#include <config.h>
#include "base/alloc.h"
#include "base/names.h"
#include "mapper/lower/capacity.h"
#include "mapper/mapping_read.h"
#include "session/capability.h"
#include "training/plan_file.h"
#include "tcl/design_script.h"
#include "tcl/files.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"
#include "workloads/fuse/fuse.h"
#include "workloads/models.h"
#include "workloads/onnx/read.h"
#include "tcl/core/lib_report.h"
#include "workloads/workload_read.h"
#include "base/files/config_write.h"
#include <string.h>
#include <ctype.h>

#define GROUP "build"

/* ---- read_workload ---- */

enum {
    WORKLOAD_BATCH,
    WORKLOAD_FORMAT,
    WORKLOAD_PRECISION,
    WORKLOAD_DIM,
    WORKLOAD_VALUE,
    WORKLOAD_UNKNOWN,
    WORKLOAD_FUSE,
    WORKLOAD_ADD,
    WORKLOAD_NAME,
    WORKLOAD_ARRIVAL,
    WORKLOAD_DEADLINE
};
enum { WORKLOAD_CFG, WORKLOAD_SCALESIM, WORKLOAD_ONNX };

static const char *const formats[] = {
    [WORKLOAD_CFG] = "cfg", [WORKLOAD_SCALESIM] = "scalesim", [WORKLOAD_ONNX] = "onnx", NULL};

enum { DIMS_MAX = 64 };

static const th_option read_workload_options[] = {
    [WORKLOAD_BATCH] = {"-batch", TH_OPTION_INTEGER, "N",
                        "Inputs per batch, instead of the number in the file.", 1, 1000000},
    [WORKLOAD_FORMAT] =
        {"-format", TH_OPTION_CHOICE, "FORMAT",
         "cfg; scalesim: a SCALE-Sim topology, whose layers are independent of each other; onnx: "
         "an ONNX model. Default: onnx or cfg, by the extension of FILE.",
         .names = formats},
    [WORKLOAD_PRECISION] =
        {"-precision", TH_OPTION_CHOICE, "PRECISION",
         "Precision of all tensors, instead of that of the file (-format scalesim: int8).",
         .names = th_precision_names},
    [WORKLOAD_DIM] =
        {"-dim", TH_OPTION_INTEGER, "LIST", .minimum = 0, .maximum = 1 << 28, .most = DIMS_MAX,
         .is_pairs = true,
         .help = "Lengths of the axes that an ONNX model leaves open: {NAME N ...}, by the "
                 "axis's name or as INPUT.AXIS. 0: tensors of that axis have no elements, as an "
                 "empty cache, and no layers."},
    [WORKLOAD_VALUE] = {"-value", TH_OPTION_TEXT, "LIST", .most = DIMS_MAX, .is_pairs = true,
                        .help = "Numbers of inputs of an ONNX model that are known: {NAME VALUE "
                                "...}, a number, true or false, or a list of these: what decides "
                                "an If, counts the rounds of a Loop, or gives a shape."},
    [WORKLOAD_UNKNOWN] =
        {"-unknown", TH_OPTION_CHOICE, "WHAT",
         "Operators of an ONNX model that have no rule: error, or copy: a pass over their inputs, "
         "with a warning. Default: error.",
         .names = TH_NAMES("error", "copy")},
    [WORKLOAD_FUSE] = {"-fuse", TH_OPTION_FLAG, NULL,
                       "Makes one layer of what one kernel computes: scores, softmax and context "
                       "of an attention; "
                       "norms, activations and rotary embeddings out of their passes; gates."},
    [WORKLOAD_ADD] = {"-add", TH_OPTION_FLAG, NULL,
                      "Shares the system with the models of the present workload."},
    [WORKLOAD_NAME] = {"-name", TH_OPTION_TEXT, "NAME",
                       "Name of the model, a prefix of its layers' names (that of the workload)."},
    [WORKLOAD_ARRIVAL] = {"-arrival", TH_OPTION_TIME, "TIME",
                          "When the model's first input arrives (0)."},
    [WORKLOAD_DEADLINE] = {"-deadline", TH_OPTION_TIME, "TIME",
                           "Every input of the model must be finished this long after its arrival; "
                           "report_bounds names deadlines that no mapping can meet.",
                           .minimum = 1},
    {.name = NULL},
};

/* ---- ONNX ---- */

/* What was read of a model otherwise than its file says. */
static void warn_of_notes(th_call *c, const th_onnx_notes *notes)
{
    enum { NEWEST = 26 }; /* version of ai.onnx that the rules are of */
    th_strbuf kinds = TH_STRBUF_INIT;
    int rest = notes->n_copied;
    for (int i = 0; i < TH_ONNX_KINDS_MAX && notes->copied[i].n > 0; i++) {
        th_strbuf_printf(&kinds, "%s%d %s", i ? ", " : "", notes->copied[i].n,
                         notes->copied[i].first);
        rest -= notes->copied[i].n;
    }
    if (rest > 0)
        th_strbuf_printf(&kinds, ", %d others", rest);
    if (notes->guessed.n > 0)
        th_strbuf_printf(&kinds, "; of %d outputs the file states no shape: it is an input's",
                         notes->guessed.n);
    if (notes->n_copied > 0)
        th_warn(c, "TCL-0276", "%d nodes are read as copies, without operations: %s",
                notes->n_copied, kinds.failed ? "" : kinds.text);
    th_strbuf_clear(&kinds);
    if (notes->contradicted.n > 0)
        th_warn(c, "TCL-1480", "the file states %d shapes that are not so: %s",
                notes->contradicted.n, notes->contradicted.first);
    if (notes->left_out.n > 0)
        th_warn(c, "TCL-1481", "%d inputs of nodes are read by no layer, among them %s",
                notes->left_out.n, notes->left_out.first);
    if (notes->empty.n > 0)
        th_warn(c, "TCL-2504",
                "%d nodes have no layer, as what they make has no elements, the first %s",
                notes->empty.n, notes->empty.first);
    if (notes->opset > NEWEST)
        th_warn(c, "TCL-1482", "the model imports version %lld of ai.onnx: rules are of version %d",
                (long long)notes->opset, NEWEST);
}

static th_workload *read_onnx(th_call *c, const char *path, int32_t batch)
{
    th_onnx_dim dims[DIMS_MAX];
    th_onnx_setting values[DIMS_MAX];
    th_onnx_notes notes;
    const th_value *given = &c->option[WORKLOAD_DIM], *numbers = &c->option[WORKLOAD_VALUE];
    th_onnx_options o = {.batch = batch,
                         .precision = (int)th_call_number(c, WORKLOAD_PRECISION, -1),
                         .dims = dims,
                         .n_dims = given->n,
                         .values = values,
                         .n_values = numbers->n,
                         .copies_unknown = th_call_number(c, WORKLOAD_UNKNOWN, 0) == 1};
    for (int i = 0; i < given->n; i++)
        dims[i] =
            (th_onnx_dim){.name = Tcl_GetString(given->words[2 * i]), .extent = given->numbers[i]};
    for (int i = 0; i < numbers->n; i++)
        values[i] = (th_onnx_setting){Tcl_GetString(numbers->words[2 * i]),
                                      Tcl_GetString(numbers->words[2 * i + 1])};
    th_workload *w = th_workload_read_onnx(path, &o, &notes, &c->err);
    if (w)
        warn_of_notes(c, &notes);
    return w;
}

/* Takes over w, which may be NULL. */
static th_workload *fuse(th_call *c, th_workload *w)
{
    if (!w || !th_call_has(c, WORKLOAD_FUSE))
        return w;
    th_workload *fused = th_workload_fuse(w, &c->err);
    th_workload_free(w);
    return fused;
}

/* The workload in a file that was found. */
static th_workload *read_workload(th_call *c, const char *path, int64_t format)
{
    int32_t batch = (int32_t)th_call_number(c, WORKLOAD_BATCH, 0);
    if (format == WORKLOAD_CFG) {
        th_workload *w = th_workload_read(path, batch, &c->err);
        int64_t p = th_call_number(c, WORKLOAD_PRECISION, -1);
        if (w && p >= 0)
            th_workload_set_precision(w, (th_precision)p);
        return w;
    }
    if (format == WORKLOAD_ONNX)
        return read_onnx(c, path, batch);
    th_precision p = (th_precision)th_call_number(c, WORKLOAD_PRECISION, TH_INT8);
    th_strbuf text = TH_STRBUF_INIT, notes = TH_STRBUF_INIT;
    Tcl_Obj *words[] = {Tcl_NewStringObj(path, -1), Tcl_NewIntObj(batch > 0 ? batch : 1),
                        Tcl_NewStringObj(th_precision_name(p), -1)};
    th_workload *w = th_lib_read(c, "scalesim::topology", 3, words, &text, &notes) == 0
                         ? th_workload_read_text(text.text, path, 0, &c->err)
                         : NULL;
    th_warn_notes(c, path, !w, &notes);
    th_strbuf_clear(&text);
    return w;
}

static int64_t format_of(const th_call *c)
{
    const char *dot = strrchr(Tcl_GetString(c->words[0]), '.');
    return th_call_number(c, WORKLOAD_FORMAT,
                          dot && strcmp(dot, ".onnx") == 0 ? WORKLOAD_ONNX : WORKLOAD_CFG);
}

/* What only ONNX models have. */
static int check_format_options(th_call *c, int64_t format)
{
    static const int of_onnx[] = {WORKLOAD_DIM, WORKLOAD_VALUE, WORKLOAD_UNKNOWN};
    for (size_t i = 0; format != WORKLOAD_ONNX && i < sizeof of_onnx / sizeof *of_onnx; i++)
        if (th_call_has(c, of_onnx[i]))
            return th_error_set(&c->err, "TCL-0277",
                                "%s: a file of the format %s has no open axes and no inputs or "
                                "operators that an option tells of: only ONNX models do",
                                read_workload_options[of_onnx[i]].name, formats[format]);
    return 0;
}

static bool is_model(const th_call *c)
{
    return th_call_has(c, WORKLOAD_ADD) || th_call_has(c, WORKLOAD_NAME) ||
           th_call_has(c, WORKLOAD_ARRIVAL) || th_call_has(c, WORKLOAD_DEADLINE);
}

/* Takes over w, as the only model or one of several, as the options say. NULL on failure. */
static th_workload *make_model(th_call *c, th_workload *w)
{
    if (!w || !is_model(c))
        return w;
    th_model_options o = {
        .name = th_call_text(c, WORKLOAD_NAME, NULL),
        .arrival_ps = th_call_number(c, WORKLOAD_ARRIVAL, 0),
        .deadline_ps = th_call_number(c, WORKLOAD_DEADLINE, 0),
    };
    const th_workload *base = th_call_has(c, WORKLOAD_ADD) ? c->session->workload : NULL;
    th_workload *joined = th_models_join(base, w, &o, &c->err);
    th_workload_free(w);
    return joined;
}

static int run_read_workload(th_call *c)
{
    static const th_file_kind *const kinds[] = {
        [WORKLOAD_CFG] = &th_workload_file,
        [WORKLOAD_SCALESIM] = &th_scalesim_workload_file,
        [WORKLOAD_ONNX] = &th_onnx_workload_file,
    };
    int64_t format = format_of(c);
    if ((th_call_has(c, WORKLOAD_ADD) && th_session_need_workload(c->session, &c->err) != 0) ||
        check_format_options(c, format) != 0)
        return -1;
    Tcl_Obj *path = th_file_find(c->session, kinds[format], c->words[0], &c->err);
    if (!path)
        return -1;
    th_workload *workload =
        make_model(c, fuse(c, read_workload(c, Tcl_FSGetNativePath(path), format)));
    Tcl_DecrRefCount(path);
    if (!workload)
        return -1;
    th_session_set_workload(c->session, workload);
    th_call_return_text(c, workload->name);
    return 0;
}

/* ---- read_mapping ---- */

static int take_mapping(th_call *c, const char *path)
{
    th_session *s = c->session;
    if (th_plan_file_is(path))
        return th_call_read_plan(c, path);
    th_mapping *mapping = th_session_need_problem(s, &c->err) == 0
                              ? th_mapping_read(path, s->system, s->workload, &c->err)
                              : NULL;
    if (mapping)
        th_session_set_mapping(s, mapping, &(th_search_record){.type = NULL});
    return mapping ? 0 : -1;
}

static const th_option mapping_words[] = {{"FILE", TH_OPTION_FILE, .file = &th_mapping_file},
                                          {.name = NULL}};
static const th_option workload_words[] = {{"FILE", TH_OPTION_TEXT, .file = &th_workload_file},
                                           {.name = NULL}};

static int run_read_mapping(th_call *c)
{
    th_session *s = c->session;
    char digest[20];
    if (!s->model.name[0] && th_session_need_problem(s, &c->err) != 0)
        return -1;
    int failed = take_mapping(c, c->word[0].path);
    if (!failed)
        th_call_return_text(c, th_session_digest(s, digest, sizeof digest));
    return failed;
}

/* ---- check_setup ---- */

static int warn(th_call *c, const th_error *e)
{
    th_warn_of(c, e);
    return 1;
}

/* Parameters too large for all accelerators together. */
static int check_capacity(th_call *c)
{
    char needed[64], present[64];
    int64_t bytes = th_capacity_of_weights(c->session->workload),
            sum = th_capacity_of_memories(c->session->system);
    if (bytes <= sum)
        return 0;
    th_error e;
    th_error_set(&e, "TCL-0072", "the parameters need %s, all accelerators together have %s",
                 th_format_bytes(bytes, needed, sizeof needed),
                 th_format_bytes(sum, present, sizeof present));
    return warn(c, &e);
}

/* The first layer that cannot be split into pieces that fit. */
static int check_layers(th_call *c)
{
    const th_session *s = c->session;
    const th_workload *w = s->workload;
    char needed[64], present[64];
    int64_t largest = th_capacity_of_largest(s->system), least = 0;
    int l = -1;
    th_error e;
    while (least <= largest && ++l < w->n_layers) {
        least = th_capacity_least_piece(&w->layers[l], w->batch, s->system->n_accels, largest);
        if (least < 0) {
            th_error_no_memory(&e);
            return warn(c, &e);
        }
    }
    if (l == w->n_layers)
        return 0;
    th_error_set(&e, "TCL-0078",
                 "layer \"%s\": however it is split, an accelerator must hold %s of its "
                 "parameters, and none has more than %s",
                 w->layers[l].name, th_format_bytes(least, needed, sizeof needed),
                 th_format_bytes(largest, present, sizeof present));
    return warn(c, &e);
}

/* Accelerators that move their data themselves stream the weights that they cannot hold. */
static int check_memory(th_call *c)
{
    if (c->session->system->transfers_serially)
        return 0;
    int warnings = check_capacity(c);
    return warnings > 0 ? warnings : check_layers(c);
}

/* A mapping, if there is one, must also fit. */
static int check_mapping(th_call *c)
{
    th_error e = {"", ""};
    if (!c->session->mapping || th_session_simulation(c->session, &e))
        return 0;
    return warn(c, &e);
}

enum { INCAPABLE_MAX = 64 }; /* of further ones only the number is told */

typedef struct incapable_call {
    th_call *call;
    int warnings, n;
} incapable_call;

static void warn_incapable(void *state, const th_incapable *i)
{
    incapable_call *k = state;
    const th_system *s = k->call->session->system;
    const th_layer *l = &k->call->session->workload->layers[i->layer];
    const char *kind = th_layer_type_name(l);
    char more[32] = "", layers[32] = "";
    th_error e;
    k->warnings += i->is_of_none;
    if (++k->n > INCAPABLE_MAX)
        return;
    if (i->n_accels > 1)
        snprintf(more, sizeof more, " and %d like it", i->n_accels - 1);
    if (i->n_layers > 1)
        snprintf(layers, sizeof layers, ", and %d more", i->n_layers - 1);
    if (i->is_of_none)
        th_error_set(&e, "TCL-3140", "no accelerator runs every %s: accel/%s%s: %s%s", kind,
                     s->nodes[s->accel_node[i->accel]].name, more, i->why.text, layers);
    else
        th_error_set(&e, "TCL-3141", "accel/%s%s cannot run every %s, others can: %s%s",
                     s->nodes[s->accel_node[i->accel]].name, more, kind, i->why.text, layers);
    th_warn_of(k->call, &e);
}

static int check_designs(th_call *c)
{
    incapable_call k = {.call = c};
    th_error e = {"", ""};
    if (th_capability_check(c->session, warn_incapable, &k, &e) != 0)
        return warn(c, &e);
    if (k.n > INCAPABLE_MAX)
        th_warn(c, "TCL-3142", "and %d more kind%s of layers and accelerators", k.n - INCAPABLE_MAX,
                k.n == INCAPABLE_MAX + 1 ? "" : "s");
    return k.warnings;
}

static int run_check_setup(th_call *c)
{
    th_session *s = c->session;
    th_error e = {"", ""};
    int warnings = 0;
    if (th_session_need_system(s, &e) != 0)
        warnings += warn(c, &e);
    if (s->hand_built ? th_session_need_program(s, &e) != 0 : th_session_need_workload(s, &e) != 0)
        warnings += warn(c, &e);
    if (warnings == 0 && th_design_scripts_exist(s, &e) != 0)
        warnings += warn(c, &e);
    if (warnings == 0 && !s->hand_built)
        warnings += check_memory(c) + check_designs(c) + check_mapping(c);
    Tcl_SetObjResult(c->interp, Tcl_NewIntObj(warnings == 0));
    return 0;
}

enum { LAYERS_NAME, LAYERS_INPUT, LAYERS_BATCH, LAYERS_PRECISION, LAYERS_LAYERS };

static const th_option layers_options[] = {
    [LAYERS_NAME] = {"-name", TH_OPTION_TEXT, "NAME", "Name of the workload.", .required = true},
    [LAYERS_INPUT] = {"-input", TH_OPTION_TEXT, "{CHANNELS HEIGHT WIDTH}", "Size of one input.",
                      .least = 3, .most = 3, .required = true},
    [LAYERS_BATCH] = {"-batch", TH_OPTION_INTEGER, "N", "Inputs per batch (1).", 1, 1000000},
    [LAYERS_PRECISION] =
        {"-precision", TH_OPTION_CHOICE, "PRECISION",
         "Precision of the input, and of layers without a precision of their own (fp16).",
         .names = th_precision_names},
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

/* Several words are a list; so is the empty list. are_names: those of layers, which may look like
 * numbers, are always a list. */
static void put_value(th_strbuf *out, Tcl_Obj *value, bool are_names)
{
    Tcl_Obj **words;
    Tcl_Size n;
    bool is_list = Tcl_ListObjGetElements(NULL, value, &n, &words) == TCL_OK;
    if (!is_list && are_names)
        th_config_put_text(out, Tcl_GetString(value));
    if (!are_names && (!is_list || n == 1))
        put_scalar(out, value);
    if (!is_list || (n == 1 && !are_names))
        return;
    th_strbuf_add(out, "(");
    for (Tcl_Size i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        if (are_names)
            th_config_put_text(out, Tcl_GetString(words[i]));
        else
            put_scalar(out, words[i]);
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
        put_value(out, words[i + 1], strcmp(key, "inputs") == 0);
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
                     th_precision_name((th_precision)th_call_number(c, LAYERS_PRECISION, TH_FP16)));
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

const th_command th_workload_commands[] = {
    {"read_workload", GROUP, "FILE", 1, 1, read_workload_options,
     "read a workload: the layers of a neural network",
     "FILE is a path, or the name of a file in a folder of $THARSIS_PATH or in workloads/models, "
     "with or without .cfg. Returns the workload's name. The mapping and the run of the previous "
     "workload are dropped. To let several networks share the system, read the first, and each "
     "other one with -add. Their layers are then called NAME/LAYER, and all have the same batch; "
     "where two networks wait for one accelerator, the one that was read first has priority.",
     .run = run_read_workload, .kinds = workload_words, .needs = {th_session_need_no_trace},
     .not_while_running = true},
    {"read_mapping", "map", "FILE", 1, 1, NULL, "read a mapping of the workload on the system",
     "FILE is a path, or the name of a file in a folder of $THARSIS_PATH or in scripts, with or "
     "without .map. Returns the mapping's digest. The previous run is dropped. A file that "
     "write_mapping wrote of a parallel_plan holds the plan; it is read for the model of "
     "create_transformer.",
     .run = run_read_mapping, .kinds = mapping_words, .needs = {th_session_need_system},
     .not_while_running = true},
    {.name = "read_plan", .group = "training", .alias_of = "read_mapping"},
    {"check_setup", GROUP, "", 0, 0, NULL, "check the inputs; return 1 if all is well",
     "Warnings go to standard error. With a mapping, checks that it fits into the memories; "
     "without one, that the parameters could. Tells the kinds of layers that an accelerator cannot "
     "run, and why: a line for each kind and for each of unlike accelerators, 64 at most and the "
     "number of the others. Where others can run all of them, this is told too, but 1 is returned. "
     "Deadlines that no mapping can meet are left to report_bounds: its bounds take seconds.",
     .run = run_check_setup},
    {"create_workload", GROUP, "", 0, 0, layers_options, "create a workload from a list of layers",
     "Types and keys are those of workload files (docs/formats.md): {stem conv outputs 16 kernel 3 "
     "norm true}; keys with several values take a list ({padding {0 1}}, {inputs {a b}}). A "
     "message about line N means layer N. write_workload writes it to a file. Returns the "
     "workload's name. The mapping and the run of the previous workload are dropped.",
     .run = run_create_workload, .needs = {th_session_need_no_trace}, .not_while_running = true},
    {.name = NULL},
};
