/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_write.c - write_system and write_workload: the system and the workload of the session as
 * files that read_system and read_workload accept. */
#include <config.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/open_file.h"
#include "sim/design/design.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "topology/files/system_write.h"
#include "workloads/workload_write.h"

#define GROUP "build"

/* Writes the text unless making it has failed, and clears it. */
static int write_text(th_call *c, th_strbuf *text, int failed)
{
    if (!failed)
        failed = th_session_write_file(c->session, th_call_word(c, 0), false, text, &c->err);
    if (!failed)
        th_call_return_text(c, th_call_word(c, 0));
    th_strbuf_clear(text);
    return failed;
}

/* ---- write_system ---- */

static Tcl_Obj *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? Tcl_NewStringObj(path, (int)(slash - path + 1)) : Tcl_NewStringObj("./", -1);
}

/* The full path of name in the folder of the file, if it exists there, also with the extension;
 * else NULL. Referenced. */
static Tcl_Obj *path_beside(const char *file, const char *name, const char *ending)
{
    Tcl_Obj *path = folder_of(file), *whole = NULL;
    Tcl_IncrRefCount(path);
    Tcl_AppendStringsToObj(path, name, ending, NULL);
    if (th_file_is_there(Tcl_GetString(path)))
        whole = Tcl_FSGetNormalizedPath(NULL, path);
    if (whole)
        Tcl_IncrRefCount(whole);
    Tcl_DecrRefCount(path);
    return whole;
}

/* Files that a design names are in the folder of its system file. The new file may be elsewhere, so
 * it names them by full path; files that come with Tharsis keep their short name. */
static const char *text_of(void *context, const th_design_block *d, const th_param *p)
{
    th_strbuf *scratch = context;
    const th_design_type *type = th_design_find(d->type);
    const th_design_key *key = type ? th_design_key_find(type, p->key) : NULL;
    if (!key || key->kind != TH_KEY_FILE || !d->file || p->text[0] == '/')
        return p->text;
    Tcl_Obj *path = path_beside(d->file, p->text, "");
    if (!path)
        path = path_beside(d->file, p->text, ".model");
    if (!path)
        return p->text;
    th_strbuf_clear(scratch);
    th_strbuf_add(scratch, Tcl_GetString(path));
    Tcl_DecrRefCount(path);
    return scratch->failed ? NULL : scratch->text;
}

static int run_write_system(th_call *c)
{
    th_strbuf text = TH_STRBUF_INIT, scratch = TH_STRBUF_INIT;
    if (th_session_need_system(c->session, &c->err) != 0)
        return -1;
    int failed = th_system_write(c->session->system, text_of, &scratch, &text, &c->err);
    th_strbuf_clear(&scratch);
    return write_text(c, &text, failed);
}

/* ---- write_workload ---- */

static int run_write_workload(th_call *c)
{
    th_strbuf text = TH_STRBUF_INIT;
    if (th_session_need_workload(c->session, &c->err) != 0)
        return -1;
    return write_text(c, &text, th_workload_write(c->session->workload, &text, &c->err));
}

const th_command th_write_commands[] = {
    {"write_system", GROUP, "FILE", 1, 1, NULL, "write the system to a file for read_system",
     "Contains the links one by one, or the options of the generator. Files of designs are named "
     "by full path. Changes by set_property and inject_fault are not written. Missing folders are "
     "created. Returns FILE.",
     .run = run_write_system},
    {"write_workload", GROUP, "FILE", 1, 1, NULL, "write the workload to a file for read_workload",
     "An attention layer is written as the layers that it consists of. Several models are refused: "
     "a file holds one network. Missing folders are created. Returns FILE.",
     .run = run_write_workload},
    {.name = NULL},
};
