/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_predict.c - times of layers on GPUs, learned from measurements: read_measurements,
 * train_predictor, write_predictor, read_predictor, predict_layer. The rows held out of training
 * are kept with the predictor, for evaluate_predictor -held_out. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "predictor/law/law_power.h"
#include "predictor/model/nearest_device.h"
#include "predictor/model/operator_time.h"
#include "predictor/model/predictor.h"
#include "predictor/op/members.h"
#include "tcl/files.h"
#include "session/gpu_models.h"
#include "tcl/gpu_option.h"
#include "tcl/core/lib_report.h"
#include "tcl/report_call.h"
#include "tcl/warning.h"

#define GROUP "predict"

static const char default_set[] = "measurements";
static const double PS_PER_MS = 1e9;

/* ---- devices ---- */

/* The known devices, and those of the file (NULL: none), into *out, which the caller clears. 0 or
 * -1. */
static int read_gpus(th_call *c, int option, th_gpus *out)
{
    if (th_gpu_option_need_gpus(c->session, &c->err) != 0)
        return -1;
    if (th_gpus_copy(out, &c->session->gpu_models->gpus) != 0)
        return th_error_no_memory(&c->err);
    if (!th_call_has(c, option))
        return 0;
    th_strbuf notes = TH_STRBUF_INIT;
    int failed = th_gpus_read(out, c->option[option].path, &notes, &c->err);
    th_warn_notes(c, th_call_text(c, option, ""), failed, &notes);
    if (failed)
        th_gpus_clear(out);
    return failed;
}

/* ---- read_measurements ---- */

enum {
    READ_NAME,
    READ_FORMAT,
    READ_COLUMNS,
    READ_UNITS,
    READ_KIND,
    READ_DEVICE,
    READ_PHASE,
    READ_DEVICES
};

static const char *kind_name(int i)
{
    return i < TH_N_OP_KINDS ? th_op_kind_name((th_op_kind)i) : NULL;
}

static const char *phase_name(int i)
{
    return i < TH_N_PHASES ? th_phase_name((th_phase)i) : NULL;
}

static const th_option read_options[] = {
    [READ_NAME] = {"-name", TH_OPTION_TEXT, "NAME",
                   "The set that the rows are added to (measurements)."},
    [READ_FORMAT] = {"-format", TH_OPTION_CHOICE, "FORMAT",
                     "Names of the columns; auto (the default) detects them.",
                     .names = th_measurement_formats},
    [READ_COLUMNS] = {"-columns", TH_OPTION_TEXT, "{COLUMN MEANING ...}", .most = TH_MANY,
                      .is_pairs = true,
                      .help =
                          "Columns with other names, and their names in format tharsis (time_ms, "
                          "time_us, batch, channels_in ...); \"-\": not read."},
    [READ_UNITS] =
        {"-units", TH_OPTION_CHOICE, "UNIT",
         "Unit of times whose column does not name one (ms); never guessed for format tharsis.",
         .names = th_measurement_units},
    [READ_KIND] = {"-kind", TH_OPTION_CHOICE, "KIND", "For all rows.", .choice = kind_name},
    [READ_DEVICE] = {"-device", TH_OPTION_TEXT, "NAME", "For all rows."},
    [READ_PHASE] = {"-phase", TH_OPTION_CHOICE, "PHASE", "For all rows: the phase that was timed.",
                    .choice = phase_name},
    [READ_DEVICES] = {"-devices", TH_OPTION_FILE, "FILE", "File that describes further GPUs.",
                      .file = &th_devices_file},
    {.name = NULL},
};

/* Pairs into *out, freed by the caller; they are valid as long as the option's word. The number of
 * pairs, or -1. */
static int read_columns(th_call *c, const char ***out)
{
    const th_value *columns = &c->option[READ_COLUMNS];
    *out = th_alloc_array(2 * (size_t)columns->n + 1, sizeof **out);
    if (!*out)
        return th_error_no_memory(&c->err);
    for (int i = 0; i < 2 * columns->n; i++)
        (*out)[i] = Tcl_GetString(columns->words[i]);
    return columns->n;
}

/* What the file holds; of a table that lib/measured.tcl knows, its rows in format tharsis. 0 or -1.
 */
static int measured_text(th_call *c, const char *path, th_strbuf *text, th_strbuf *notes)
{
    th_strbuf own = TH_STRBUF_INIT;
    if (th_measurements_text(path, text, &c->err))
        return -1;
    const char *format = th_call_text(c, READ_FORMAT, "auto");
    if (strcmp(format, "auto") != 0 || *text->text == '{' || *text->text == '[')
        return 0;
    Tcl_Obj *words[] = {Tcl_NewStringObj(path, -1), Tcl_NewStringObj(text->text, -1),
                        Tcl_NewIntObj(th_call_has(c, READ_DEVICE))};
    int failed = th_lib_read(c, "measured::own", 3, words, &own, notes);
    if (failed || own.length == 0) {
        th_strbuf_clear(&own);
        return failed;
    }
    th_strbuf_clear(text);
    *text = own;
    return 0;
}

/* Reads rows of the file at path into the named set; these GPUs are known besides. 0 or -1. */
static int add_measurements(th_call *c, const char *path, const char *const *columns, int n_columns,
                            const th_gpus *gpus)
{
    th_strbuf notes = TH_STRBUF_INIT, text = TH_STRBUF_INIT;
    if (measured_text(c, path, &text, &notes)) {
        th_strbuf_clear(&text);
        th_strbuf_clear(&notes);
        return -1;
    }
    const th_measurement_source source = {
        .path = path,
        .text = &text,
        .format = th_call_text(c, READ_FORMAT, NULL),
        .kind = th_call_text(c, READ_KIND, NULL),
        .device = th_call_text(c, READ_DEVICE, NULL),
        .phase = th_call_text(c, READ_PHASE, NULL),
        .columns = columns,
        .n_columns = n_columns,
        .units = th_call_text(c, READ_UNITS, NULL),
        .notes = &notes,
    };
    th_measurements *m = th_gpu_models_measurements(
        c->session->gpu_models, th_call_text(c, READ_NAME, default_set), true, &c->err);
    int failed = m ? th_measurements_read(m, &source, gpus, &c->err) : -1;
    th_strbuf_clear(&text);
    th_warn_notes(c, path, failed, &notes);
    if (failed)
        return -1;
    Tcl_SetObjResult(c->interp, Tcl_NewWideIntObj((Tcl_WideInt)m->n_rows));
    return 0;
}

static const th_option measurements_words[] = {
    {"FILE", TH_OPTION_FILE, .file = &th_measurements_file}, {.name = NULL}};

/* Descriptions of devices are kept only if the rows are. */
static int run_read_measurements(th_call *c)
{
    const char **columns;
    th_gpus gpus;
    if (read_gpus(c, READ_DEVICES, &gpus) != 0)
        return -1;
    int n_columns = read_columns(c, &columns), failed = n_columns;
    if (failed >= 0)
        failed = add_measurements(c, c->word[0].path, columns, n_columns, &gpus);
    th_gpus dropped = gpus;
    if (!failed) {
        dropped = c->session->gpu_models->gpus;
        c->session->gpu_models->gpus = gpus;
    }
    th_gpus_clear(&dropped);
    th_free(columns);
    return failed;
}

static const th_measurements *need_set(th_call *c, int option)
{
    return th_gpu_models_measurements(c->session->gpu_models, th_call_text(c, option, default_set),
                                      false, &c->err);
}

/* ---- train_predictor ---- */

enum {
    TRAIN_ON,
    TRAIN_HELD_OUT,
    TRAIN_WITHOUT,
    TRAIN_SEED,
    TRAIN_LEARNER,
    TRAIN_THREADS,
    TRAIN_CALIBRATE
};

#define CALIBRATE_OPTION                                                                           \
    {                                                                                              \
        "-calibrate", TH_OPTION_TEXT, "NAME",                                                      \
            "Set of measurements, about twenty per kind and phase, on devices that training did "  \
            "not have, or had with another host."                                                  \
    }

static const char *learner_name(int i)
{
    return i < TH_N_LEARNER_CHOICES ? th_learner_choice_of(i).name : NULL;
}

static const th_option train_options[] = {
    [TRAIN_ON] = {"-on", TH_OPTION_TEXT, "NAME", "Set of measurements (measurements)."},
    [TRAIN_HELD_OUT] = {"-held_out", TH_OPTION_INTEGER, "PERCENT",
                        "Share of rows held out of training, for evaluate_predictor -held_out.", 0,
                        90},
    [TRAIN_WITHOUT] =
        {"-without", TH_OPTION_TEXT, "{DEVICE ...}", .most = TH_MANY,
         .help = "Devices whose rows are all held out, to test predictions for new devices."},
    [TRAIN_SEED] = {"-seed", TH_OPTION_INTEGER, "N",
                    "Seed of the choice of held-out rows, and of training.", 0, INT64_MAX},
    [TRAIN_LEARNER] = {"-learner", TH_OPTION_CHOICE, "LEARNER",
                       "auto (the default): the learner, or the ensemble of them, with the least "
                       "error in cross-validation; or one by name.",
                       .choice = learner_name},
    [TRAIN_THREADS] =
        {"-threads", TH_OPTION_INTEGER, "N",
         "Number of threads (the number of processors); the result does not depend on it.", 1, 64},
    [TRAIN_CALIBRATE] = CALIBRATE_OPTION,
    {.name = NULL},
};

static void return_models(th_call *c, const th_predictor *p)
{
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < p->n_models; i++) {
        Tcl_Obj *names[] = {Tcl_NewStringObj(th_layer_model_name(&p->model[i]), -1),
                            Tcl_NewStringObj(th_phase_name(p->model[i].phase), -1)};
        Tcl_ListObjAppendElement(NULL, list, Tcl_NewListObj(2, names));
    }
    Tcl_SetObjResult(c->interp, list);
}

/* Adds the measurements that the option names, if it is given. Returns p, or NULL after freeing
 * p. */
static th_predictor *calibrated(th_call *c, int option, th_predictor *p)
{
    if (!p || !th_call_has(c, option))
        return p;
    const th_measurements *few = need_set(c, option);
    if (few && th_predictor_calibrate(p, few, &c->err) == 0)
        return p;
    th_predictor_free(p);
    return NULL;
}

/* Adds the device that the word names to *devices. 0 or -1. */
static int add_without(th_call *c, const th_measurements *m, const char *word, th_strbuf *devices)
{
    const th_gpu *gpu = th_gpus_find(&c->session->gpu_models->gpus, word);
    const char *names[m->n_devices + 1];
    for (int32_t i = 0; i < m->n_devices; i++)
        names[i] = m->device[i].name;
    names[m->n_devices] = NULL;
    for (int32_t i = 0; gpu && i < m->n_devices; i++)
        if (strcmp(names[i], gpu->name) == 0) {
            th_strbuf_printf(devices, "%s%s\n", devices->length == 0 ? "\n" : "", names[i]);
            return devices->failed ? th_error_no_memory(&c->err) : 0;
        }
    return th_error_unknown(&c->err, "TCL-0360", "-without: device", word, names);
}

/* The devices, freed by the caller; NULL: none. 0 or -1. */
static int parse_without(th_call *c, const th_measurements *m, char **out)
{
    th_strbuf devices = TH_STRBUF_INIT;
    int failed = 0;
    *out = NULL;
    for (int i = 0; !failed && i < c->option[TRAIN_WITHOUT].n; i++)
        failed = add_without(c, m, Tcl_GetString(c->option[TRAIN_WITHOUT].words[i]), &devices);
    if (!failed)
        *out = devices.text;
    else
        th_strbuf_clear(&devices);
    return failed;
}

static int run_train(th_call *c)
{
    const th_measurements *m = need_set(c, TRAIN_ON);
    th_train_options o = th_train_defaults;
    th_held_out without = {.percent = th_call_number(c, TRAIN_HELD_OUT, 0)};
    size_t n;
    if (!m || parse_without(c, m, &without.devices) != 0)
        return -1;
    without.seed = o.seed = (uint64_t)th_call_number(c, TRAIN_SEED, 1);
    o.learner = (int)th_call_number(c, TRAIN_LEARNER, TH_CHOICE_AUTO);
    o.threads = (int)th_call_number(c, TRAIN_THREADS, 0);
    size_t *rows = th_held_out_rows(&without, m, false, &n);
    th_predictor *p = rows ? th_predictor_train(m, rows, n, &o, &c->err) : NULL;
    if (!rows)
        th_error_no_memory(&c->err);
    th_free(rows);
    p = calibrated(c, TRAIN_CALIBRATE, p);
    if (!p) {
        th_free(without.devices);
        return -1;
    }
    th_gpu_models_set_predictor(c->session->gpu_models, p, without);
    return_models(c, p);
    return 0;
}

/* ---- files ---- */

static int text_of_predictor(th_call *c, th_strbuf *out)
{
    const th_predictor *p = th_gpu_models_predictor(c->session->gpu_models, &c->err);
    if (!p)
        return -1;
    th_predictor_write(p, out);
    return 0;
}

static const th_option predictor_words[] = {{"FILE", TH_OPTION_FILE, .file = &th_predictor_file},
                                            {.name = NULL}};

enum { READ_CALIBRATE };

static const th_option read_predictor_options[] = {
    [READ_CALIBRATE] = CALIBRATE_OPTION,
    {.name = NULL},
};

static int run_read(th_call *c)
{
    th_predictor *p = th_predictor_read(c->word[0].path, &c->err);
    p = calibrated(c, READ_CALIBRATE, p);
    if (!p)
        return -1;
    th_gpu_models_set_predictor(c->session->gpu_models, p, (th_held_out){.percent = 0});
    return_models(c, p);
    return 0;
}

/* ---- predict_layer ---- */

enum {
    PREDICT_DEVICE,
    PREDICT_PHASE,
    PREDICT_INTERVAL,
    PREDICT_MEMBERS,
    PREDICT_ATTENTION,
    PREDICT_POWER,
    PREDICT_ORIGIN
};

static const char *attention_name(int i)
{
    return th_op_word(TH_OP_KERNEL, i);
}

static const th_option predict_options[] = {
    [PREDICT_DEVICE] = {"-device", TH_OPTION_TEXT, "NAME", "The GPU.", .required = true},
    [PREDICT_PHASE] = {"-phase", TH_OPTION_CHOICE, "PHASE", "The phase to predict (call).",
                       .choice = phase_name},
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
                            "-power: %s: its power is not known: board_W and idle_W of -devices "
                            "were expected",
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

static const th_option layer_words[] = {{"KIND", TH_OPTION_CHOICE, .choice = kind_name},
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

const th_command th_predict_commands[] = {
    {"read_measurements", GROUP, "FILE", 1, 1, read_options,
     "read measured times of layers on GPUs",
     "Adds the rows of a file of comma-separated values, or the operators of a trace of PyTorch's "
     "profiler (Chrome's JSON, with shapes) whose kind is known, with the time of their kernels; "
     "plain or packed by xz or gzip; or a table of operators of aiconfigurator (gemm, attention, "
     "latent_attention, moe, power), or of attention with unequal lengths of Frontier. Returns how "
     "many "
     "rows there are then; evaluate_predictor "
     "-groups then tells the operators' times and their predictions. A device is known by its name "
     "or by other names of it; "
     "further ones are described by -devices.",
     .run = run_read_measurements, .kinds = measurements_words},
    {"train_predictor", GROUP, "", 0, 0, train_options, "learn layer times from measurements",
     "Each kind of layer and phase among the measurements gets a model: an additive time law, with "
     "boosted trees and a perceptron on its residuals. Cross-validation selects one ensemble for "
     "seen devices and one for unseen ones. Returns the kinds and phases; evaluate_predictor "
     "-learners shows the members.",
     .run = run_train, .not_while_running = true},
    {"write_predictor", GROUP, "FILE", 1, 1, NULL, "write the predictor to a file", NULL,
     .text = text_of_predictor},
    {"read_predictor", GROUP, "FILE", 1, 1, read_predictor_options, "read a predictor from a file",
     "A file of another version, or one that was edited by hand, is refused. Returns the kinds and "
     "phases.",
     .run = run_read, .kinds = predictor_words},
    {"predict_layer", GROUP, "KIND ?FIELD VALUE ...?", 1, -1, predict_options,
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
