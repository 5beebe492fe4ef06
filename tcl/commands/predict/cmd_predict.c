/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_predict.c - times of layers on GPUs, learned from measurements: read_measurements,
 * train_predictor, write_predictor, read_predictor. The rows held out of training are kept with the
 * predictor, for evaluate_predictor -held_out. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "base/names.h"
#include "predictor/model/predictor.h"
#include "tcl/files.h"
#include "session/gpu_models.h"
#include "tcl/gpu_option.h"
#include "tcl/core/lib_report.h"
#include "tcl/core/table_read.h"
#include "tcl/report_call.h"
#include "tcl/warning.h"

#define GROUP "predict"

static const char default_set[] = "measurements";

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
    [READ_KIND] = {"-kind", TH_OPTION_CHOICE, "KIND", "For all rows.",
                   .choice = th_gpu_option_kind},
    [READ_DEVICE] = {"-device", TH_OPTION_TEXT, "NAME", "For all rows."},
    [READ_PHASE] = {"-phase", TH_OPTION_CHOICE, "PHASE", "For all rows: the phase that was timed.",
                    .choice = th_gpu_option_phase},
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

/* What lib/profile.tcl reads of a trace: a few of its members, for traces are large. */
static const char trace_members[] =
    ";traceEvents:list object;deviceProperties:list object;cat:text;name:text;dur:number;"
    "args:object;External id:number;external id:number;device:number;id:number;"
    "Input Dims:list list;Input type:list text;Concrete Inputs:list text";

/* What the file holds; of a table that lib/measured.tcl knows, and of a trace, its rows in format
 * tharsis. 0 or -1. */
static int measured_text(th_call *c, const char *path, th_strbuf *text, th_strbuf *notes)
{
    th_strbuf own = TH_STRBUF_INIT;
    if (th_measurements_text(path, text, &c->err))
        return -1;
    char first = text->text[strspn(text->text, " \t\r\n")];
    bool is_trace = first == '{' || first == '[';
    if (!is_trace && strcmp(th_call_text(c, READ_FORMAT, "auto"), "auto") != 0)
        return 0;
    Tcl_Obj *what = is_trace ? th_table_json(path, text, trace_members, false, &c->err)
                             : Tcl_NewStringObj(text->text, -1);
    if (!what)
        return -1;
    Tcl_Obj *words[] = {Tcl_NewStringObj(path, -1), what,
                        Tcl_NewIntObj(th_call_has(c, READ_DEVICE))};
    int failed = th_lib_read(c, is_trace ? "profile::own" : "measured::own", 3, words, &own, notes);
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
            "Measurements on devices that training did not have, or had with another host, about " \
            "twenty per kind and phase: the name of their set."                                    \
    }

TH_CHOICE(learner_name, i < TH_N_LEARNER_CHOICES ? th_learner_choice_of(i).name : NULL)

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
    {.name = NULL},
};
