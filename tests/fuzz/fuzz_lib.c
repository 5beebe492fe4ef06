/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_lib.c - the bytes as files that lib/ reads: SCALE-Sim's configuration and topology, either
 * of the two files of ASTRA-sim (the other one is valid), InfraGraphs, which become the texts of
 * ours; the options that a model's config.json says; measured collectives, to which a law is
 * fitted; and tables of read_table, whose format the first byte says. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <tcl.h>
#include "tcl/init.h"
#include "tests/fuzz/target.h"
#include "topology/files/system_read.h"
#include "workloads/workload_read.h"

static Tcl_Interp *interp;

static void begin(void)
{
    interp = Tcl_CreateInterp();
    must(Tharsis_Init(interp) == TCL_OK);
    must(Tcl_Eval(interp, "catch {::tharsis::read_table nowhere}") == TCL_OK);
}

/* The first element of the answer; NULL: it was refused, in one line and not by a fault of lib/. */
static const char *answer(const char *format, const char *path)
{
    char script[1000];
    snprintf(script, sizeof script, format, path);
    if (Tcl_EvalEx(interp, script, -1, TCL_EVAL_GLOBAL) == TCL_OK) {
        Tcl_Obj *first = NULL;
        must(Tcl_ListObjIndex(interp, Tcl_GetObjResult(interp), 0, &first) == TCL_OK);
        return first ? Tcl_GetString(first) : "";
    }
    const char *code = Tcl_GetVar(interp, "::errorCode", TCL_GLOBAL_ONLY);
    if (!code || strncmp(code, "THARSIS ", 8) != 0) { /* a fault of lib/ */
        fprintf(stderr, "%s\n", Tcl_GetVar(interp, "::errorInfo", TCL_GLOBAL_ONLY));
        must(false);
    }
    must(!strchr(Tcl_GetStringResult(interp), '\n'));
    return NULL;
}

/* A system's text that a script makes of the bytes. */
static void run_system(const char *script, const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    const char *text = answer(script, fuzz_input_file(data, size));
    th_system *s = text ? th_system_read_text(text, "made", &e) : NULL;
    must_read_or_say(!text || s, &e);
    th_system_free(s);
    Tcl_ResetResult(interp);
}

static void run_configuration(const uint8_t *data, size_t size)
{
    run_system("::tharsis::lib::scalesim::configuration {%s}", data, size);
}

static void run_astra_network(const uint8_t *data, size_t size)
{
    char script[500];
    snprintf(script, sizeof script, "::tharsis::lib::astra::system {%%s} {%s}",
             fuzz_source_file("tests/fuzz/corpus/astra_system/plain.json"));
    run_system(script, data, size);
}

static void run_astra_system(const uint8_t *data, size_t size)
{
    char script[500];
    snprintf(script, sizeof script, "::tharsis::lib::astra::system {%s} {%%s}",
             fuzz_source_file("tests/fuzz/corpus/astra_network/plain.yml"));
    run_system(script, data, size);
}

static void run_topology(const uint8_t *data, size_t size)
{
    th_error e = {"", ""};
    const char *text =
        answer("::tharsis::lib::scalesim::topology {%s} 1 int8", fuzz_input_file(data, size));
    th_workload *w = text ? th_workload_read_text(text, "net", 0, &e) : NULL;
    must_read_or_say(!text || w, &e);
    must(!w || th_workload_macs(w) >= 0);
    th_workload_free(w);
    Tcl_ResetResult(interp);
}

static void run_infragraph(const uint8_t *data, size_t size)
{
    run_system("::tharsis::lib::infragraph::system {%s} 100Gbps {}", data, size);
}

static void run_config_json(const uint8_t *data, size_t size)
{
    answer("::tharsis::lib::hub::model {%s}", fuzz_input_file(data, size));
    Tcl_ResetResult(interp);
}

static void run_table(const uint8_t *data, size_t size)
{
    static const char *const scripts[] = {
        "list [llength [::tharsis::read_table {%s} -format csv -lines]]",
        "list [llength [list [::tharsis::read_table {%s} -format json]]]",
        "list [llength [list [::tharsis::read_table {%s} -format yaml]]]"};
    if (size > 0)
        answer(scripts[data[0] % 3], fuzz_input_file(data + 1, size - 1));
    Tcl_ResetResult(interp);
}

/* The law predicts a finite time of each, from parts that are not negative. */
static void run_collectives(const uint8_t *data, size_t size)
{
    static const char *const scripts[] = {
        "lindex [::tharsis::lib::nccl::measured {%s} {}] 0",
        "lindex [::tharsis::lib::nccl::measured {%s} all_reduce] 0"};
    for (int i = 0; i < 2; i++) {
        const char *path = fuzz_input_file(data, size);
        if (!answer(scripts[i], path))
            continue;
        Tcl_SetVar2Ex(interp, "rows", NULL, Tcl_GetObjResult(interp), TCL_GLOBAL_ONLY);
        must(Tcl_Eval(interp,
                      "lassign [::tharsis::core::link_law $rows] - parts\n"
                      "foreach x [concat {*}$parts] {if {!($x >= 0 && $x < Inf)} {error $x}}"
                      "\nif {[llength $parts] != [llength $rows]} {error rows}") == TCL_OK);
    }
    Tcl_UnsetVar(interp, "rows", TCL_GLOBAL_ONLY);
    Tcl_ResetResult(interp);
}

const fuzz_target fuzz_nccl_log = {"nccl_log", run_collectives, begin};
const fuzz_target fuzz_astra_network = {"astra_network", run_astra_network, begin};
const fuzz_target fuzz_astra_system = {"astra_system", run_astra_system, begin};
const fuzz_target fuzz_config_json = {"config_json", run_config_json, begin};
const fuzz_target fuzz_infragraph = {"infragraph", run_infragraph, begin};
const fuzz_target fuzz_scalesim_config = {"scalesim_config", run_configuration, begin};
const fuzz_target fuzz_scalesim_topology = {"scalesim_topology", run_topology, begin};
const fuzz_target fuzz_table = {"table", run_table, begin};
