/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_write.c - write_system, write_workload and write_mapping: files that read_system,
 * read_workload and read_mapping accept; select_mapping. */
#include <config.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/files/open_file.h"
#include "sim/design/design.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"
#include "topology/files/system_write.h"
#include "workloads/workload_write.h"

#define GROUP "build"

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

static int text_of_system(th_call *c, th_strbuf *out)
{
    th_strbuf scratch = TH_STRBUF_INIT;
    int failed = th_system_write(c->session->system, text_of, &scratch, out, &c->err);
    th_strbuf_clear(&scratch);
    return failed;
}

static int text_of_workload(th_call *c, th_strbuf *out)
{
    return th_workload_write(c->session->workload, out, &c->err);
}

/* ---- select_mapping, write_mapping ---- */

static const th_option front_words[] = {{"N", TH_OPTION_INTEGER, .maximum = INT64_MAX},
                                        {.name = NULL}};

static int run_select_mapping(th_call *c)
{
    th_session *s = c->session;
    char digest[20];
    int64_t number = c->word[0].number;
    if (number >= s->search.front->n)
        return th_error_set(&c->err, "TCL-0257",
                            "mapping \"%.40s\": must be an integer from 0 to %d",
                            th_call_word(c, 0), s->search.front->n - 1);
    if (th_session_select(s, (int)number, &c->err) != 0)
        return -1;
    th_call_return_text(c, th_session_digest(s, digest, sizeof digest));
    return 0;
}

static int text_of_mapping(th_call *c, th_strbuf *out)
{
    const th_session *s = c->session;
    const th_plan_file *plan = s->hand_built ? s->hand_built->plan : NULL;
    if (plan)
        th_plan_file_write(plan, out);
    else if (th_session_need_mapping(c->session, &c->err) != 0)
        return -1;
    else
        th_mapping_write(s->mapping, s->system, s->workload, out);
    return 0;
}

const th_command th_write_commands[] = {
    {"write_system", GROUP, "FILE", 1, 1, NULL, "write the system to a file for read_system",
     "The file lists the links one by one, or has the options of the generator. It names files of "
     "designs by full path. Changes by set_property and inject_fault are not written. Missing "
     "folders are created. Returns FILE.",
     .text = text_of_system, .needs = {th_session_need_system}},
    {"write_workload", GROUP, "FILE", 1, 1, NULL, "write the workload to a file for read_workload",
     "An attention layer is written as the layers that it consists of. A file holds one network, "
     "so a workload of several networks is refused. Missing folders are created. Returns FILE.",
     .text = text_of_workload, .needs = {th_session_need_workload}},
    {"select_mapping", "map", "N", 1, 1, NULL, "take another mapping of the Pareto front",
     "N is the number that report_search -pareto prints, from 0. The front is kept, and the run is "
     "dropped. Returns the mapping's digest.",
     .run = run_select_mapping, .kinds = front_words, .needs = {th_session_need_front},
     .not_while_running = true},
    {"write_mapping", "map", "FILE", 1, 1, NULL, "write the mapping, or the plan, to a file",
     "After parallel_plan, the file holds the plan with all its numbers. Missing folders are "
     "created. Returns FILE.",
     .text = text_of_mapping},
    {.name = "write_plan", .group = "training", .alias_of = "write_mapping"},
    {.name = NULL},
};
