/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_session.c - help, version, set_threads, set_units, the log, suppress_message. */
#include <config.h>
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "tcl/log.h"
#include "render/text/report_scale.h"
#include "tcl/warning.h"
#include <string.h>

#define GROUP "session"

/* ---- help ---- */

enum { HELP_ALL, HELP_MAN, HELP_MARKDOWN };

static const th_option help_options[] = {
    [HELP_ALL] = {"-all", TH_OPTION_FLAG, NULL,
                  "Lists all commands, by groups; with a command, explains all of its options."},
    [HELP_MAN] = {"-man", TH_OPTION_FLAG, NULL, "Prints the whole reference as a manual page."},
    [HELP_MARKDOWN] = {"-markdown", TH_OPTION_TEXT, "FOLDER",
                       "Writes the whole reference as Markdown: FOLDER/commands.md, and "
                       "FOLDER/commands/NAME.md for each command."},
    {.name = NULL},
};

static int run_version(th_call *c)
{
    th_call_return_text(c, PACKAGE_VERSION);
    return 0;
}

/* ---- set_threads ---- */

static const th_option threads_words[] = {{"N", TH_OPTION_INTEGER, .minimum = 1, .maximum = 1024},
                                          {.name = NULL}};

static int run_set_threads(th_call *c)
{
    if (c->n_words > 0)
        c->session->threads = (int)c->word[0].number;
    Tcl_SetObjResult(c->interp, Tcl_NewIntObj(c->session->threads));
    return 0;
}

/* ---- set_units ---- */

enum { UNITS_TIME, UNITS_SIZE, UNITS_BANDWIDTH, UNITS_ENERGY, N_UNITS };

static const th_kind unit_kinds[N_UNITS] = {TH_KIND_TIME, TH_KIND_BYTES, TH_KIND_BANDWIDTH,
                                            TH_KIND_ENERGY};

/* Choice 0 is auto. */
static const char *unit_choice(th_kind kind, int i)
{
    return i == 0 ? "auto" : th_kind_unit_name(kind, i - 1);
}

TH_CHOICE(time_choice, unit_choice(TH_KIND_TIME, i))
TH_CHOICE(size_choice, unit_choice(TH_KIND_BYTES, i))
TH_CHOICE(bandwidth_choice, unit_choice(TH_KIND_BANDWIDTH, i))
TH_CHOICE(energy_choice, unit_choice(TH_KIND_ENERGY, i))

static const th_option units_options[] = {
    [UNITS_TIME] = {"-time", TH_OPTION_CHOICE, "UNIT", "Unit of times.", .choice = time_choice},
    [UNITS_SIZE] = {"-size", TH_OPTION_CHOICE, "UNIT", "Unit of sizes in bytes.",
                    .choice = size_choice},
    [UNITS_BANDWIDTH] = {"-bandwidth", TH_OPTION_CHOICE, "UNIT",
                         "Unit of bandwidths; auto: bits per second for links, bytes for DRAM.",
                         .choice = bandwidth_choice},
    [UNITS_ENERGY] = {"-energy", TH_OPTION_CHOICE, "UNIT", "Unit of energies.",
                      .choice = energy_choice},
    {.name = NULL},
};

static int run_set_units(th_call *c)
{
    const char **units = c->session->units;
    Tcl_Obj *now = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < N_UNITS; i++) {
        if (th_call_has(c, i))
            units[unit_kinds[i]] = c->option[i].number == 0
                                       ? NULL
                                       : unit_choice(unit_kinds[i], (int)c->option[i].number);
        units[TH_KIND_BYTE_RATE] = units[TH_KIND_BANDWIDTH];
        const char *unit = units[unit_kinds[i]];
        Tcl_ListObjAppendElement(NULL, now, Tcl_NewStringObj(units_options[i].name + 1, -1));
        Tcl_ListObjAppendElement(NULL, now, Tcl_NewStringObj(unit ? unit : "auto", -1));
    }
    Tcl_SetObjResult(c->interp, now);
    return 0;
}

/* ---- log_begin, log_end ---- */

enum { LOG_APPEND };

static const th_option log_options[] = {
    [LOG_APPEND] = {"-append", TH_OPTION_FLAG, NULL,
                    "Appends to the file instead of replacing it."},
    {.name = NULL},
};

static int run_log_begin(th_call *c)
{
    const char *path = th_call_word(c, 0);
    if (th_tcl_of(c->session)->log)
        return th_error_set(&c->err, "TCL-0613", "a log is open: log_end first");
    if (th_session_make_folder_of(c->session, path, &c->err) != 0)
        return -1;
    th_tcl_of(c->session)->log = th_log_begin(c->interp, path, th_call_has(c, LOG_APPEND), &c->err);
    if (!th_tcl_of(c->session)->log)
        return -1;
    th_call_return_text(c, path);
    return 0;
}

static int run_log_end(th_call *c)
{
    if (!th_tcl_of(c->session)->log)
        return th_error_set(&c->err, "TCL-0614", "no log is open: log_begin first");
    return th_session_end_log(c->session, &c->err);
}

/* ---- suppress_message ---- */

enum { SUPPRESS_OFF };

static const th_option suppress_options[] = {
    [SUPPRESS_OFF] = {"-off", TH_OPTION_FLAG, NULL,
                      "Prints these warnings again; without ID, all of them."},
    {.name = NULL},
};

static void return_suppressed(th_call *c)
{
    char id[16];
    Tcl_Obj *ids = Tcl_NewListObj(0, NULL);
    for (int i = 0; th_warning_id(i, id, sizeof id); i++)
        if (th_tcl_of(c->session)->is_suppressed[i])
            Tcl_ListObjAppendElement(NULL, ids, Tcl_NewStringObj(id, -1));
    Tcl_SetObjResult(c->interp, ids);
}

static int run_suppress_message(th_call *c)
{
    bool is_off = th_call_has(c, SUPPRESS_OFF), chosen[TH_WARNINGS_MAX] = {false};
    for (int i = 0; i < c->n_words; i++) {
        int number = th_warning_find(th_call_word(c, i), &c->err);
        if (number < 0)
            return -1;
        chosen[number] = true;
    }
    for (int i = 0; i < TH_WARNINGS_MAX; i++)
        if (chosen[i] || (is_off && c->n_words == 0))
            th_tcl_of(c->session)->is_suppressed[i] = !is_off;
    return_suppressed(c);
    return 0;
}

const th_command th_session_commands[] = {
    {"help", GROUP, "?WORD?", 0, 1, help_options,
     "list commands, find those about a word, or explain one",
     "WORD is a command (\"COMMAND -help\" prints the same), or any other word: help then lists "
     "the commands whose name, summary or options have the word, and those whose help mentions it. "
     "Endings do not matter: stepping finds step. Options, values, properties, files and designs "
     "with the word in their names are listed too. A misspelt word finds the nearest one.",
     .run = th_lib_run_help, .ignores_run = true},
    {"version", GROUP, "", 0, 0, NULL, "return the version of Tharsis", NULL, .run = run_version},
    {"set_threads", GROUP, "?N?", 0, 1, NULL, "set the number of threads, and return it",
     "Searches, studies and what-if runs use these threads. Results do not depend on their number. "
     "The default is the number of processors.",
     .run = run_set_threads, .kinds = threads_words},
    {"set_units", GROUP, "", 0, 0, units_options, "choose the units of reports",
     "The units hold for tables in text; auto, the default, chooses one for each column. Units of "
     "csv and json, and of times that commands return, do not change. Returns all units.",
     .run = run_set_units},
    {"log_begin", GROUP, "FILE", 1, 1, log_options, "copy commands and their output to a file",
     "The log has the top-level commands, each after \"% \", and everything written to standard "
     "output and standard error, until log_end or the end of the program. Missing folders are "
     "created. Returns FILE.",
     .run = run_log_begin},
    {"log_end", GROUP, "", 0, 0, NULL, "end the log", NULL, .run = run_log_end},
    {"suppress_message", GROUP, "?ID ...?", 0, -1, suppress_options,
     "silence warnings by their ids",
     "Errors cannot be suppressed. Returns the ids of all suppressed warnings.",
     .run = run_suppress_message},
    {.name = NULL},
};
