/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_checkpoint.c - the plans that a search has simulated, in a file, for -checkpoint: under a
 * line that says whose they are, a line "PS OPTIONS" for each. A search that knows them does the
 * same as one that was not interrupted. */
#include <config.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files/open_file.h"
#include "base/files/text_file.h"
#include "base/map.h"
#include "tcl/commands/training/plan_search_call.h"

#define HEAD "# checkpoint of search_plan: "

enum { DIGEST_SIZE = 20, FILE_BYTES_MAX = 1 << 26 };

/* Of system, model, and options that say what a step does. */
static int digest_of(const th_call *c, char out[static DIGEST_SIZE], th_error *err)
{
    const th_session_model *m = &c->session->model;
    char system[DIGEST_SIZE], workload[DIGEST_SIZE];
    if (th_session_input_digests(c->session, system, workload, sizeof system) != 0)
        return th_error_no_memory(err);
    uint64_t h = th_plan_model_digest(&m->shape, m->sequence, th_hash_text(system, 0));
    h = th_hash_text(th_step_precisions[m->precision].name, h);
    h = th_hash(&m->expert_skew, sizeof m->expert_skew, h);
    for (int i = PLAN_GLOBAL_BATCH; i < PLAN_N_SHARED; i++)
        h = th_hash_text(th_call_has(c, i) ? Tcl_GetString(c->option[i].word) : "-", h);
    snprintf(out, DIGEST_SIZE, "%016" PRIx64, h);
    return 0;
}

/* text: its lines are cut. */
static int read_lines(th_plan_search *x, char *text, th_error *err)
{
    for (char *line = strchr(text, '\n'); line && line[1];) {
        char *plan, *next = strchr(line + 1, '\n');
        if (next)
            *next = '\0';
        const long long ps = strtoll(line + 1, &plan, 10);
        if (ps > 0 && *plan == ' ' && th_plan_search_know(x, plan + 1, ps, err))
            return -1;
        line = next;
    }
    return 0;
}

static int check_head(th_call *c, const char *path, const char *text)
{
    char digest[DIGEST_SIZE];
    if (strncmp(text, HEAD, strlen(HEAD)) != 0)
        return th_error_set(&c->err, "TCL-3117",
                            "checkpoint \"%s\": is not one of search_plan; it is left as it is",
                            path);
    if (digest_of(c, digest, &c->err))
        return -1;
    if (strncmp(text + strlen(HEAD), digest, strlen(digest)) == 0)
        return 0;
    return th_error_set(&c->err, "TCL-3118",
                        "checkpoint \"%s\": is of another system, model, or options of the step: "
                        "must be those of this search",
                        path);
}

int th_plan_checkpoint_read(th_call *c, th_plan_search *x)
{
    const char *path = th_call_text(c, SEARCH_CHECKPOINT, "");
    if (!th_call_has(c, SEARCH_CHECKPOINT))
        return 0;
    if (path[0] == '\0')
        return th_error_set(&c->err, "TCL-3119", "-checkpoint \"\": must be the name of a file");
    if (th_session_make_folder_of(c->session, path, &c->err))
        return -1;
    const char *native = Tcl_FSGetNativePath(c->option[SEARCH_CHECKPOINT].word);
    if (!native || !th_file_is_there(native))
        return 0;
    th_strbuf text = TH_STRBUF_INIT;
    int failed = th_text_file_read(native, FILE_BYTES_MAX, &text, &c->err);
    if (!failed)
        failed =
            check_head(c, path, text.text ? text.text : "") || read_lines(x, text.text, &c->err);
    th_strbuf_clear(&text);
    return failed ? -1 : 0;
}

int th_plan_checkpoint_write(th_call *c, const th_plan_findings *f)
{
    char digest[DIGEST_SIZE];
    if (!th_call_has(c, SEARCH_CHECKPOINT))
        return 0;
    if (digest_of(c, digest, &c->err))
        return -1;
    th_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text, HEAD "%s\n", digest);
    for (int i = 0; i < f->n; i++) {
        th_strbuf_printf(&text, "%lld ", (long long)f->of[i].step_ps);
        th_plan_describe(&f->of[i].plan, &text);
        th_strbuf_add(&text, "\n");
    }
    int failed = th_session_write_file(c->session, th_call_text(c, SEARCH_CHECKPOINT, ""), false,
                                       &text, &c->err);
    th_strbuf_clear(&text);
    return failed;
}
