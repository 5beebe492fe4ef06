/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_write.c - see trace_write.h. */
#include <config.h>
#include "workloads/trace/trace_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/files/open_file.h"
#include "base/files/write_file.h"
#include "workloads/trace/node_write.h"

static int add_rank(const th_trace *t, const char *prefix, int32_t rank, th_new_files *files,
                    th_error *err)
{
    char path[TH_TRACE_PATH_BYTES];
    th_strbuf bytes = TH_STRBUF_INIT;
    th_trace_path(prefix, rank, path);
    int status = th_trace_pack_rank(t, rank, &bytes, err) ||
                         th_new_files_add(files, path, bytes.text, bytes.length, err)
                     ? -1
                     : 0;
    th_strbuf_clear(&bytes);
    return status;
}

static int add_groups(const th_trace *t, const char *prefix, th_new_files *files, th_error *err)
{
    char path[TH_TRACE_PATH_BYTES];
    th_strbuf text = TH_STRBUF_INIT;
    for (int32_t i = 0; i < t->n_groups; i++) {
        const th_trace_group *g = &t->groups[i];
        th_strbuf_printf(&text, "%s\"%" PRId64 "\": [", i == 0 ? "{" : ",\n ", g->number);
        for (int32_t k = 0; k < g->n_members; k++)
            th_strbuf_printf(&text, "%s%d", k > 0 ? ", " : "", (int)g->members[k]);
        th_strbuf_add(&text, "]");
    }
    th_strbuf_add(&text, "}\n");
    snprintf(path, sizeof path, "%s.groups.json", prefix);
    int status = text.failed ? th_error_no_memory(err)
                             : th_new_files_add(files, path, text.text, text.length, err);
    th_strbuf_clear(&text);
    return status;
}

/* Is there a file that would be read as the trace's next rank? */
static int check_prefix(const th_trace *t, const char *prefix, th_error *err)
{
    char path[TH_TRACE_PATH_BYTES];
    if (th_trace_check_prefix(prefix, err))
        return -1;
    th_trace_path(prefix, t->n_ranks, path);
    return !th_file_is_there(path)
               ? 0
               : th_error_set(err, "WORK-0313",
                              "%s: would be read with the trace of %d ranks: remove it, or choose "
                              "another prefix",
                              path, (int)t->n_ranks);
}

int th_trace_write(const th_trace *t, const char *prefix, th_error *err)
{
    if (check_prefix(t, prefix, err))
        return -1;
    th_new_files *files = th_new_files_new(err);
    int status = files ? 0 : -1;
    for (int32_t i = 0; status == 0 && i < t->n_ranks; i++)
        status = add_rank(t, prefix, i, files, err);
    if (status == 0 && t->n_groups > 0)
        status = add_groups(t, prefix, files, err);
    if (status == 0)
        status = th_new_files_keep(files, err);
    th_new_files_free(files);
    return status;
}
