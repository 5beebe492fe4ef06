/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_checkpoint.c - the best mapping of a search in a file, for -checkpoint. The file is that of
 * write_mapping under two lines of comments: whose mapping it is, and how far the search was. */
#include <config.h>
#include "tcl/commands/map_call.h"
#include <stdio.h>
#include <string.h>
#include "base/files/open_file.h"
#include "base/files/text_file.h"
#include "mapper/mapping_read.h"
#include "session/goal.h"

/* The first line, with the formats of two digests. */
#define HEAD(digest) "# checkpoint of map_workload: system " digest ", workload " digest "\n"

enum { DIGEST_SIZE = 20, FILE_BYTES_MAX = 1 << 26 };
static const double WRITE_EVERY_S = 10;

static int digests(const th_call *c, char *system, char *workload, th_error *err)
{
    return th_session_input_digests(c->session, system, workload, DIGEST_SIZE) != 0
               ? th_error_no_memory(err)
               : 0;
}

/* --- reading --- */

/* Is it a checkpoint of the system and the workload of the session? */
static int check_head(th_call *c, const char *path, const char *text)
{
    char system[DIGEST_SIZE], workload[DIGEST_SIZE], a[DIGEST_SIZE] = "", b[DIGEST_SIZE] = "";
    if (sscanf(text, HEAD("%16[0-9a-f]"), a, b) != 2)
        return th_error_set(&c->err, "TCL-2131",
                            "checkpoint \"%s\": is not a checkpoint; it is left as it is", path);
    if (digests(c, system, workload, &c->err) != 0)
        return -1;
    const bool is_system = strcmp(a, system) == 0, is_workload = strcmp(b, workload) == 0;
    if (is_system && is_workload)
        return 0;
    return th_error_set(&c->err, "TCL-2132",
                        "checkpoint \"%s\": must be of this system and workload: it is of another "
                        "%s; -start takes a mapping of any that it fits",
                        path,
                        is_system     ? "workload"
                        : is_workload ? "system"
                                      : "system and another workload");
}

int th_map_checkpoint_read(th_call *c, const th_system *system, th_mapping **out)
{
    const char *path = th_call_text(c, MAP_CHECKPOINT, "");
    *out = NULL;
    if (!th_call_has(c, MAP_CHECKPOINT))
        return 0;
    const char *native = Tcl_FSGetNativePath(c->option[MAP_CHECKPOINT].word);
    if (!native || !th_file_is_there(native))
        return 0;
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_text_file_read(native, FILE_BYTES_MAX, &text, &c->err);
    if (!failed)
        failed = check_head(c, path, text.text ? text.text : "");
    if (!failed &&
        !(*out = th_mapping_read_text(text.text, path, system, c->session->workload, &c->err)))
        failed = -1;
    th_strbuf_clear(&text);
    return failed;
}

/* --- writing --- */

static int write_best(th_call *c, const th_search *s)
{
    char system[DIGEST_SIZE], workload[DIGEST_SIZE], value[160];
    if (digests(c, system, workload, &c->err) != 0)
        return -1;
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text, HEAD("%s"), system, workload);
    th_strbuf_printf(
        &text, "# %s: %s after %lld evaluations\n", s->type->name,
        th_goal_format(&s->problem.goal, &s->best_fitness.metrics, value, sizeof value),
        (long long)s->n_evaluations);
    th_mapping_write(s->best, s->problem.system, s->problem.workload, &text);
    int failed = th_session_write_file(c->session, th_call_text(c, MAP_CHECKPOINT, ""), false,
                                       &text, &c->err);
    th_strbuf_clear(&text);
    return failed;
}

int th_map_checkpoint_write(th_call *c, const th_search *s, th_map_checkpoint *last)
{
    if (!th_call_has(c, MAP_CHECKPOINT) || !s->best)
        return 0;
    const double now_s = th_search_elapsed_s(s);
    if (last->n_improvements == s->improvements.n && !s->done &&
        now_s - last->written_s < WRITE_EVERY_S)
        return 0;
    *last = (th_map_checkpoint){s->improvements.n, now_s};
    return write_best(c, s);
}
