/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_study.c - the bytes as the database of a study, which the commands of the shell read. What
 * can be opened is reported, and its first point that waits is run, in a safe interpreter as the
 * script of any file is. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/files/text_file.h"
#include "tcl/init.h"
#include "tcl/tcl_session.h"
#include "tests/fuzz/target.h"

static Tcl_Interp *interp;

/* Its result, or an error of Tharsis in one line that is none of lib/ itself. */
static bool eval(const char *script)
{
    if (Tcl_EvalEx(interp, script, -1, TCL_EVAL_GLOBAL) == TCL_OK)
        return true;
    const char *said = Tcl_GetStringResult(interp);
    must(strncmp(said, "Error ", 6) == 0 && !strstr(said, "TCL-1722"));
    must(!strpbrk(said, "\n\r\t\v\f"));
    return false;
}

static void use(void)
{
    eval("report_study $name -format json -return_string");
    eval("report_study $name -return_string -where {$point > 1}");
    eval("run_study $name -limit 1 -threads 1 -seconds 2");
}

/* What SQLite puts beside a database. */
static void remove_companions(const char *path)
{
    static const char *const ends[] = {"-journal", "-wal", "-shm"};
    char name[4200];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* A file that is refused stays as it is. */
static void must_be_unchanged(const char *path, const uint8_t *data, size_t size)
{
    th_strbuf now = TH_STRBUF_INIT;
    must(th_file_bytes_read(path, INT32_MAX, &now, NULL) == 0);
    must(now.length == size && (size == 0 || memcmp(now.text, data, size) == 0));
    th_strbuf_clear(&now);
}

void fuzz_study_begin(void)
{
    if (interp)
        return;
    interp = Tcl_CreateInterp();
    must(Tharsis_Init(interp) == TCL_OK);
    th_session_of(interp)->is_quiet = true;
    must(eval("namespace import ::tharsis::*; suppress_message STUDY-0090"));
}

bool fuzz_study_create(const char *path, const char *script)
{
    Tcl_SetVar(interp, "path", path, TCL_GLOBAL_ONLY);
    return eval(script);
}

void fuzz_study_read(const uint8_t *data, size_t size)
{
    const char *path = fuzz_input_file(data, size);
    Tcl_SetVar(interp, "path", path, TCL_GLOBAL_ONLY);
    Tcl_SetVar(interp, "::tharsis::lib::study::all", "", TCL_GLOBAL_ONLY);
    if (eval("set name [read_study $path]"))
        use();
    else
        must_be_unchanged(path, data, size);
    remove_companions(path);
}

const fuzz_target fuzz_study = {"study", fuzz_study_read, fuzz_study_begin};
