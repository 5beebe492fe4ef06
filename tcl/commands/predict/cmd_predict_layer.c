/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_predict_layer.c - predict_layer: the time of one layer on a GPU, with its interval, what it
 * rests on, or the power of the board. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/names.h"
#include "predictor/law/law_power.h"
#include "predictor/model/nearest_device.h"
#include "predictor/model/operator_time.h"
#include "predictor/model/predictor.h"
#include "predictor/op/members.h"
#include "session/gpu_models.h"
#include "tcl/command.h"
#include "tcl/gpu_option.h"
#include "tcl/tcl_session.h"
#include "tcl/warning.h"

static const double PS_PER_MS = 1e9;

enum {
    PREDICT_DEVICE,
    PREDICT_PHASE,
    PREDICT_INTERVAL,
    PREDICT_MEMBERS,
    PREDICT_ATTENTION,
    PREDICT_POWER,
    PREDICT_ORIGIN
};

TH_CHOICE(attention_name, th_op_word(TH_OP_KERNEL, i))

static const th_option predict_options[] = {
    [PREDICT_DEVICE] = {"-device", TH_OPTION_TEXT, "NAME", "The GPU.", .required = true},
    [PREDICT_PHASE] = {"-phase", TH_OPTION_CHOICE, "PHASE", "The phase to predict (call).",
                       .choice = th_gpu_option_phase},
    [PREDICT_INTERVAL] = {"-interval", TH_OPTION_FLAG, NULL,
                          "Returns three times: the prediction, and the 10th and 90th percentile "
                          "of measurements, estimated from rows held out in training."},
    [PREDICT_MEMBERS] = {"-members", TH_OPTION_INTEGER, "{N ...}", .maximum = INT32_MAX / 2,
                         .least = 1, .most = TH_MANY,
                         .help =
                             "Members of unequal size, in place of batch: of a matmul the rows of "
                             "each (experts of a mixture; 0: none), of attention the keys of each "
                             "sequence."},
    [PREDICT_ATTENTION] = {"-attention", TH_OPTION_CHOICE, "KERNEL",
                           "Kernel of an attention (the field of that name): best, the default, is "
                           "the newest that the vendor has for the GPU.",
                           .choice = attention_name},
    [PREDICT_POWER] = {"-power", TH_OPTION_FLAG, NULL,
                       "Returns the mean power of the board while the layer runs, of phase "
                       "execution or call: by the data sheet (docs/models/energy.md)."},
    [PREDICT_ORIGIN] = {"-origin", TH_OPTION_FLAG, NULL,
                        "Returns behind the time also what it rests on: measured device, device by "
                        "its data sheet (it was not measured), or outside the measured range."},
    {.name = NULL},
};

/* Fields that set both axes at once. */
static const struct {
    const char *name;
    th_op_field h, w;
} both[] = {
    {"in_size", TH_OP_IN_H, TH_OP_IN_W},
    {"kernel", TH_OP_KERNEL_H, TH_OP_KERNEL_W},
    {"stride", TH_OP_STRIDE_H, TH_OP_STRIDE_W},
    {"padding", TH_OP_PAD_H, TH_OP_PAD_W}, /* on each side */
};

static int unknown_field(th_call *c, const th_op *op, const char *name)
{
    const char *names[TH_N_OP_FIELDS + 5];
    int n = 0;
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (th_op_has(op->kind, (th_op_field)f))
            names[n++] = th_op_field_name((th_op_field)f);
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++)
        if (th_op_has(op->kind, both[i].h))
            names[n++] = both[i].name;
    names[n] = NULL;
    return th_error_unknown(&c->err, "TCL-0324", "field", name, names);
}

static int set_field(th_call *c, th_op *op, const char *name, const char *text)
{
    int h = -1, w = -1;
    for (int f = 0; f < TH_N_OP_FIELDS; f++)
        if (th_op_has(op->kind, (th_op_field)f) &&
            strcmp(th_op_field_name((th_op_field)f), name) == 0)
            h = w = f;
    for (size_t i = 0; h < 0 && i < sizeof both / sizeof both[0]; i++)
        if (th_op_has(op->kind, both[i].h) && strcmp(both[i].name, name) == 0) {
            h = (int)both[i].h;
            w = (int)both[i].w;
        }
    if (h < 0)
        return unknown_field(c, op, name);
    int32_t value = th_op_value((th_op_field)h, text);
    if (value < 0 || value > INT32_MAX / 2)
        return th_error_set(&c->err, "TCL-0325",
                            "%s \"%.40s\": must be a whole number, 0 or more, or one of its names",
                            name, text);
    op->x[h] = op->x[w] = strcmp(name, "padding") == 0 ? 2 * value : value;
    return 0;
}

/* KIND FIELD VALUE ...: missing fields are 1 where they must be positive, else 0. */
static int parse_op(th_call *c, th_op *op)
{
    static const th_op_field ones[] = {TH_OP_BATCH,    TH_OP_STRIDE_H, TH_OP_STRIDE_W, TH_OP_HEADS,
                                       TH_OP_KV_HEADS, TH_OP_TOP_K,    TH_OP_RANKS};
    if (c->n_words % 2 == 0)
        return th_error_set(&c->err, "TCL-0327", "\"%.40s\": needs a value",
                            th_call_word(c, c->n_words - 1));
    *op = (th_op){.kind = (th_op_kind)c->word[0].number};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++)
        if (th_op_has(op->kind, ones[i]))
            op->x[ones[i]] = 1;
    for (int i = 1; i < c->n_words; i += 2)
        if (set_field(c, op, th_call_word(c, i), th_call_word(c, i + 1)) != 0)
            return -1;
    return 0;
}

/* A list: the time, the ends of its interval and its origin, where they were asked for. */
static void return_more(th_call *c, const th_operator_time *e)
{
    const double ms[] = {e->ms, e->low_ms, e->high_ms};
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    for (size_t i = 0; i < (th_call_has(c, PREDICT_INTERVAL) ? 3 : 1); i++) {
        char text[64];
        th_format_time(llround(ms[i] * PS_PER_MS), text, sizeof text);
        Tcl_ListObjAppendElement(NULL, list, Tcl_NewStringObj(text, -1));
    }
    if (th_call_has(c, PREDICT_ORIGIN))
        Tcl_ListObjAppendElement(NULL, list, Tcl_NewStringObj(th_origin_name(e->origin), -1));
    Tcl_SetObjResult(c->interp, list);
}

/* Names the measured device that is most similar, where one is of its generation. */
static void warn_of_guess(th_call *c, const th_layer_model *m, const th_gpu *gpu)
{
    double share;
    int nearest = th_nearest_device_find(m->device, m->n_devices, gpu, &share);
    bool is_near = nearest >= 0 && share > 0;
    th_warn(c, "TCL-1206", "the interval is a guess: %s was not measured%s%s", gpu->name,
            is_near ? "; the nearest that was: " : "", is_near ? m->device[nearest].name : "");
}

/* Once for a kind, width and GPU: a script asks for hundreds. */
static void warn_of_range(th_call *c, const th_op *op, th_phase phase, const th_gpu *gpu,
                          const th_layer_model *m)
{
    char why[200];
    th_gpu_models *models = c->session->gpu_models;
    uint32_t *warned = &models->warned[th_op_is_narrow(op)], bit = 1u << op->kind;
    if (!m) {
        th_gpu_option_warn_of_sheet(c, op, phase);
        return;
    }
    if (strcmp(models->warned_of, gpu->name) != 0)
        memset(models->warned, 0, sizeof models->warned);
    snprintf(models->warned_of, sizeof models->warned_of, "%s", gpu->name);
    bool is_outside = th_layer_model_is_outside(m, op, gpu, why, sizeof why),
         is_guess = th_call_has(c, PREDICT_INTERVAL) && !th_layer_model_has_measured(m, gpu);
    if (is_outside && !(*warned & bit))
        th_warn(c, "TCL-0330", "outside the measured range: %s", why);
    if (is_guess && !(*warned & bit))
        warn_of_guess(c, m, gpu);
    if (is_outside || is_guess)
        *warned |= bit;
}

/* Says where fewer images are predicted to take longer. */
static void warn_of_fewer(th_call *c, const th_op *op, th_phase phase, const th_gpu *gpu, double ms)
{
    th_operator fewer = {*op, phase, NULL};
    th_operator_time e;
    th_error ignored;
    double longest = 0;
    int32_t batch = th_op_has(op->kind, TH_OP_BATCH) ? op->x[TH_OP_BATCH] : 0, at = 0;
    for (int32_t n = 1; n < batch; n *= 2) {
        fewer.op.x[TH_OP_BATCH] = n;
        if (th_operator_predict(&e, c->session->gpu_models->predictor, &fewer, gpu, &ignored) ||
            e.ms <= longest)
            continue;
        longest = e.ms;
        at = n;
    }
    th_gpu_option_warn_of_fewer(c, at, llround(longest * PS_PER_MS), batch,
                                llround(ms * PS_PER_MS));
}

/* -members: of a matmul, rows of each; of attention, keys of each. *out is freed by the caller;
 * NULL: all are equal. Sets the batch, and the mean. 0 or -1. */
static int take_members(th_call *c, th_op *op, int32_t **out)
{
    const th_value *members = &c->option[PREDICT_MEMBERS];
    *out = NULL;
    if (!members->word)
        return 0;
    *out = th_alloc_array((size_t)members->n, sizeof **out);
    if (!*out)
        return th_error_no_memory(&c->err);
    for (int i = 0; i < members->n; i++)
        (*out)[i] = (int32_t)members->numbers[i];
    for (int i = 0; i < members->n; i++)
        if ((*out)[i] < th_op_member_min(op->kind))
            return th_error_set(&c->err, "TCL-0333", "-members \"%d\": must be %d or more",
                                (int)(*out)[i], (int)th_op_member_min(op->kind));
    return th_op_set_members(op, *out, members->n, &c->err);
}

static int return_power(th_call *c, const th_op *op, th_phase phase, const th_gpu *gpu, double ms)
{
    bool is_forward = phase == TH_PHASE_EXECUTION || phase == TH_PHASE_CALL;
    double watts = is_forward ? th_law_power_w(op, gpu, ms) : 0;
    if (!is_forward)
        return th_error_set(&c->err, "TCL-0334", "-power: phase %s: must be one of execution, call",
                            th_phase_name(phase));
    if (watts == 0)
        return th_error_set(&c->err, "TCL-0335",
                            "-power: %s: its power is not known: needs board_W and idle_W of "
                            "-devices",
                            gpu->name);
    Tcl_SetObjResult(c->interp, Tcl_ObjPrintf("%.1fW", watts));
    return 0;
}

static int predict(th_call *c, const th_op *op, const int32_t *members)
{
    const th_predictor *p = c->session->gpu_models->predictor;
    th_phase phase = (th_phase)th_call_number(c, PREDICT_PHASE, TH_PHASE_CALL);
    const th_gpu *gpu =
        th_gpu_option_find(c->session, "-device", th_call_text(c, PREDICT_DEVICE, ""), &c->err);
    th_operator_time e;
    if (!gpu || th_operator_predict(&e, p, &(th_operator){*op, phase, members}, gpu, &c->err) != 0)
        return -1;
    warn_of_range(c, op, phase, gpu, e.model);
    if (!members && e.model)
        warn_of_fewer(c, op, phase, gpu, e.ms);
    if (th_call_has(c, PREDICT_POWER))
        return return_power(c, op, phase, gpu, e.ms);
    if (th_call_has(c, PREDICT_INTERVAL) || th_call_has(c, PREDICT_ORIGIN))
        return_more(c, &e);
    else
        th_call_return_time(c, llround(e.ms * PS_PER_MS));
    return 0;
}

static const th_option layer_words[] = {{"KIND", TH_OPTION_CHOICE, .choice = th_gpu_option_kind},
                                        {.name = NULL}};

static int run_predict_layer(th_call *c)
{
    th_op op;
    int32_t *members = NULL;
    int failed = -1;
    if (!th_gpu_models_predictor(c->session->gpu_models, &c->err) || parse_op(c, &op) != 0)
        return -1;
    if (op.kind == TH_OP_ATTENTION && th_call_has(c, PREDICT_ATTENTION))
        op.x[TH_OP_KERNEL] = (int32_t)th_call_number(c, PREDICT_ATTENTION, 0);
    if (take_members(c, &op, &members) == 0 && th_op_check(&op, &c->err) == 0)
        failed = predict(c, &op, members);
    th_free(members);
    return failed;
}

const th_command th_predict_layer_commands[] = {
    {"predict_layer", "predict", "KIND ?FIELD VALUE ...?", 1, -1, predict_options,
     "predict the time of one layer on a GPU",
     "Fields are those of format tharsis (batch, rows, in_h, in_w, channels_in, channels_out, "
     "kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, bias, activation, function, "
     "optimizer, precision, heads, kv_heads, keys, causal, window, unsplit, attention, "
     "kv_precision, paged, latent, n_experts, top_k, ranks, skew), and in_size, kernel, stride, "
     "padding for both axes. Numbers "
     "outside those of "
     "training give a warning, one for each kind and GPU; so does, with -interval, a GPU that was "
     "not measured, and a batch for which a smaller one is predicted to take longer.",
     .run = run_predict_layer, .kinds = layer_words},
    {.name = NULL},
};
