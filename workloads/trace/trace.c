/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.c - see trace.h. */
#include <config.h>
#include "workloads/trace/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static const char *const collective_names[] = {
    [TH_TRACE_ALL_REDUCE] = "all_reduce",         [TH_TRACE_ALL_GATHER] = "all_gather",
    [TH_TRACE_BROADCAST] = "broadcast",           [TH_TRACE_ALL_TO_ALL] = "all_to_all",
    [TH_TRACE_REDUCE_SCATTER] = "reduce_scatter",
};

const char *th_trace_collective_name(uint64_t number)
{
    return number < sizeof collective_names / sizeof *collective_names ? collective_names[number]
                                                                       : NULL;
}

void th_trace_path(const char *prefix, int32_t rank, char out[static TH_TRACE_PATH_BYTES])
{
    snprintf(out, TH_TRACE_PATH_BYTES, "%s.%d.et", prefix, (int)rank);
}

int th_trace_check_prefix(const char *prefix, th_error *err)
{
    enum { MOST = TH_TRACE_PATH_BYTES / 2 };
    if (strlen(prefix) <= MOST)
        return 0;
    return th_error_set(err, "WORK-0311", "%.60s...: must be a path of at most %d bytes", prefix,
                        MOST);
}

static void clear_rank(th_trace_rank *r)
{
    th_free(r->nodes);
    th_free(r->deps);
    th_free(r->far);
    th_free(r->names);
}

void th_trace_free(th_trace *t)
{
    if (!t)
        return;
    for (int32_t i = 0; t->ranks && i < t->n_ranks; i++)
        clear_rank(&t->ranks[i]);
    for (int32_t i = 0; i < t->n_groups; i++)
        th_free(t->groups[i].members);
    th_free(t->ranks);
    th_free(t->groups);
    th_free(t->prefix);
    th_free(t);
}

int32_t th_trace_find_group(const th_trace *t, int64_t number)
{
    for (int32_t i = 0; i < t->n_groups; i++)
        if (t->groups[i].number == number)
            return i;
    return -1;
}

int th_trace_add_group(th_trace *t, const th_trace_group *g, th_error *err)
{
    int32_t at = th_trace_find_group(t, g->number);
    th_trace_group copy = *g;
    copy.members = th_alloc_array((size_t)g->n_members + 1, sizeof *copy.members);
    if (!copy.members ||
        th_grow(&t->groups, &t->group_capacity, (size_t)t->n_groups + 1, sizeof *t->groups)) {
        th_free(copy.members);
        return th_error_no_memory(err);
    }
    memcpy(copy.members, g->members, (size_t)g->n_members * sizeof *copy.members);
    if (at < 0)
        at = t->n_groups++;
    else
        th_free(t->groups[at].members);
    t->groups[at] = copy;
    return 0;
}
