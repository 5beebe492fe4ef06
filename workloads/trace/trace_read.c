/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_read.c - the files of a trace, through protobuf-c.
 *
 *   count the files -> groups, memory -> (for each rank: records -> nodes -> sort -> resolve)
 *       -> resolve what crosses ranks
 * A file is a sequence of records: a length as a base-128 varint of at most 5 bytes, then so many
 * bytes of a message. The first is the metadata. Reading is linear in the bytes but for one sort by
 * id, which is skipped where the file is in that order. */
#include <config.h>
#include "workloads/trace/trace_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/open_file.h"
#include "base/files/text_file.h"
#include "base/notes.h"
#include "workloads/trace/groups_read.h"
#include "workloads/trace/node_read.h"

enum { MAX_RANKS = 1 << 16, GAP_MAX = 256 };
static const size_t largest_file = (size_t)1 << 31;

/* A dependency as the file has it: of the node at this place in the file. */
typedef struct raw_dep {
    int32_t from;
    bool is_control;
    uint64_t id;
} raw_dep;

/* One rank, as far as it is read. */
typedef struct rank_reader {
    th_trace_reader is;
    const uint8_t *at, *end, *begin;
    th_trace_node *nodes;
    int64_t *groups; /* by node: the number that it names */
    raw_dep *deps;
    int64_t *far; /* pairs of rank and id */
    char *names;
    size_t n, n_deps, n_far, n_names;
    size_t capacity, group_capacity, dep_capacity, far_capacity, name_capacity;
} rank_reader;

static int file_error(const rank_reader *r, th_error *err, const char *expected)
{
    return th_error_set(err, "WORK-0308", "%s: at byte %lld: %s", r->is.path,
                        (long long)(r->at - r->begin), expected);
}

/* ---- records ---- */

/* The next record; false at the end of the file. *status: -1 on failure. */
static bool next_record(rank_reader *r, const uint8_t **record, size_t *n, int *status,
                        th_error *err)
{
    enum { VARINT_MAX = 5 };
    uint64_t length = 0;
    *status = 0;
    if (r->at == r->end)
        return false;
    for (int i = 0;; i++) {
        if (r->at + i == r->end || i == VARINT_MAX) {
            *status = file_error(r, err, "a record's length must have at most 5 bytes");
            return false;
        }
        length |= (uint64_t)(r->at[i] & 0x7f) << (7 * i);
        if (r->at[i] < 0x80) {
            *record = r->at + i + 1;
            break;
        }
    }
    if (length > (uint64_t)(r->end - *record)) {
        *status = file_error(r, err, "the file ends inside a record: is it truncated?");
        return false;
    }
    *n = (size_t)length;
    r->at = *record + *n;
    return true;
}

/* ---- nodes ---- */

static int add_deps(rank_reader *r, const uint64_t *ids, size_t n, bool is_control, th_error *err)
{
    if (th_grow(&r->deps, &r->dep_capacity, r->n_deps + n, sizeof *r->deps))
        return th_error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        r->deps[r->n_deps++] = (raw_dep){(int32_t)r->n, is_control, ids[i]};
    return 0;
}

/* What Tharsis writes: nodes of other ranks, as pairs of rank and id. */
static int add_far(rank_reader *r, const ThTraceMessage__Node *m, th_trace_node *node,
                   th_error *err)
{
    const ThTraceMessage__Attribute *a = th_trace_attribute(m, "tharsis_after");
    if (!a)
        return 0;
    bool is_list = a->value_case == TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_NUMBERS;
    size_t n = is_list ? a->as_numbers->n_values : 0;
    if (!is_list || n % 2 != 0)
        return th_trace_node_error(&r->is, m->id, err,
                                   "attribute tharsis_after: must be pairs of a rank and a node");
    if (th_grow(&r->far, &r->far_capacity, r->n_far + n, sizeof *r->far))
        return th_error_no_memory(err);
    node->first_far = (int32_t)(r->n_far / 2);
    node->n_far = (int32_t)(n / 2);
    if (n > 0)
        memcpy(&r->far[r->n_far], a->as_numbers->values, n * sizeof *r->far);
    r->n_far += n;
    return 0;
}

/* *offset: where the text is in the names. */
static int add_text(rank_reader *r, const void *text, size_t n, int32_t *offset, th_error *err)
{
    if (r->n_names + n + 1 > INT32_MAX ||
        th_grow(&r->names, &r->name_capacity, r->n_names + n + 1, 1))
        return th_error_no_memory(err);
    *offset = (int32_t)r->n_names;
    if (n > 0)
        memcpy(r->names + r->n_names, text, n);
    r->n_names += n;
    r->names[r->n_names++] = '\0';
    return 0;
}

/* Of an attribute that Tharsis writes; absent: *offset stays. */
static int add_attribute(rank_reader *r, const ThTraceMessage__Node *m, const char *name,
                         int32_t *offset, th_error *err)
{
    const ThTraceMessage__Attribute *a = th_trace_attribute(m, name);
    if (!a)
        return 0;
    if (a->value_case != TH_TRACE_MESSAGE__ATTRIBUTE__VALUE_AS_TEXT)
        return th_trace_node_error(&r->is, m->id, err, "attribute %s: must be a text", name);
    return add_text(r, a->as_text, strlen(a->as_text), offset, err);
}

static int add_node(rank_reader *r, const ThTraceMessage__Node *m, th_error *err)
{
    int64_t group;
    if (r->is.trace->n_nodes + (int64_t)r->n >= INT32_MAX / 4 ||
        th_grow(&r->nodes, &r->capacity, r->n + 1, sizeof *r->nodes) ||
        th_grow(&r->groups, &r->group_capacity, r->n + 1, sizeof *r->groups))
        return th_error_no_memory(err);
    th_trace_node *node = &r->nodes[r->n];
    if (th_trace_read_node(&r->is, m, node, &group, err) ||
        add_text(r, m->name.data, m->name.len, &node->name, err) ||
        add_attribute(r, m, "tharsis_algorithm", &node->algorithm, err) ||
        add_attribute(r, m, "tharsis_node", &node->place, err) ||
        add_deps(r, m->control, m->n_control, true, err) ||
        add_deps(r, m->data, m->n_data, false, err) || add_far(r, m, node, err))
        return -1;
    if (node->kind == TH_TRACE_METADATA && m->inputs &&
        th_trace_read_process_groups(r->is.trace, (const char *)m->inputs->values.data,
                                     m->inputs->values.len, err))
        return -1;
    r->groups[r->n++] = group;
    return 0;
}

static int read_records(rank_reader *r, th_error *err)
{
    const uint8_t *record;
    size_t n;
    int status;
    if (!next_record(r, &record, &n, &status, err))
        return status ? -1 : file_error(r, err, "must begin with a record of metadata");
    ThTraceMessage__Metadata *head = th_trace_message__metadata__unpack(NULL, n, record);
    if (!head)
        return file_error(r, err, "the record before it is no metadata of a trace");
    th_trace_message__metadata__free_unpacked(head, NULL);
    while (next_record(r, &record, &n, &status, err)) {
        ThTraceMessage__Node *m = th_trace_message__node__unpack(NULL, n, record);
        if (!m)
            return file_error(r, err, "the record before it is no node of a trace");
        status = add_node(r, m, err);
        th_trace_message__node__free_unpacked(m, NULL);
        if (status)
            return -1;
    }
    return status;
}

/* ---- order and references ---- */

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const th_trace_node *)a)->id, y = ((const th_trace_node *)b)->id;
    return (x > y) - (x < y);
}

static int32_t find(const th_trace_node *nodes, int32_t n, uint64_t id)
{
    int32_t low = 0, high = n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (nodes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && nodes[low].id == id ? low : -1;
}

/* Sorts by id; place: by place in the file, the index. */
static int sort_nodes(rank_reader *r, int32_t *place, uint64_t *ids, th_error *err)
{
    bool is_sorted = true;
    for (size_t i = 0; i < r->n; i++) {
        ids[i] = r->nodes[i].id;
        is_sorted &= i == 0 || ids[i - 1] < ids[i];
    }
    if (!is_sorted)
        qsort(r->nodes, r->n, sizeof *r->nodes, by_id);
    for (size_t i = 1; i < r->n; i++)
        if (r->nodes[i - 1].id == r->nodes[i].id)
            return th_trace_node_error(&r->is, r->nodes[i].id, err,
                                       "stands twice in the file: ids must be unique");
    for (size_t i = 0; i < r->n; i++)
        place[i] = is_sorted ? (int32_t)i : find(r->nodes, (int32_t)r->n, ids[i]);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A dependency on a node that is not in the file. PyTorch's traces have control dependencies on
 * what was not recorded, and ASTRA-sim waits for none. 0 or -1. */
static int drop(const rank_reader *r, const raw_dep *dep, const th_trace_node *node, th_error *err)
{
    th_trace *t = r->is.trace;
    if (!dep->is_control && !t->is_lenient)
        return th_trace_node_error(&r->is, node->id, err,
                                   "depends on node %" PRIu64
                                   ", which is not in the file (-lenient leaves that out)",
                                   dep->id);
    *(dep->is_control ? &t->n_control : &t->n_data) += 1;
    return 0;
}

/* Each node's dependencies as indices, sorted, once each. */
static int resolve_deps(rank_reader *r, const int32_t *place, int32_t *out, th_error *err)
{
    int32_t n = (int32_t)r->n, first = 0;
    size_t i = 0;
    for (int32_t from = 0; from < n; from++) {
        th_trace_node *node = &r->nodes[place[from]];
        int32_t end = first;
        for (; i < r->n_deps && r->deps[i].from == from; i++) {
            int32_t at = find(r->nodes, n, r->deps[i].id);
            if (at >= 0)
                out[end++] = at;
            else if (drop(r, &r->deps[i], node, err))
                return -1;
        }
        qsort(out + first, (size_t)(end - first), sizeof *out, by_number);
        node->first_dep = first;
        for (int32_t k = first; k < end; k++)
            if (k == first || out[k] != out[first + node->n_deps - 1])
                out[first + node->n_deps++] = out[k];
        first += node->n_deps;
    }
    return 0;
}

static bool is_member(const th_trace_group *g, int32_t rank)
{
    for (int32_t i = 0; i < g->n_members; i++)
        if (g->members[i] == rank)
            return true;
    return false;
}

/* known: by group, whether the rank is a member of it. */
static int resolve_group(rank_reader *r, th_trace_node *node, int64_t number, bool *known,
                         th_error *err)
{
    const th_trace *t = r->is.trace;
    node->group = th_trace_find_group(t, number);
    if (node->group < 0)
        return th_trace_node_error(
            &r->is, node->id, err,
            "group %" PRId64 " is unknown: name the file of groups with -groups", number);
    known[node->group] = known[node->group] || is_member(&t->groups[node->group], r->is.rank);
    if (!known[node->group])
        return th_trace_node_error(&r->is, node->id, err,
                                   "group %" PRId64 " does not have rank %d as a member", number,
                                   (int)r->is.rank);
    return 0;
}

static int resolve_groups(rank_reader *r, const int32_t *place, th_error *err)
{
    bool *known = th_alloc_zero((size_t)r->is.trace->n_groups + 1, sizeof *known);
    int status = known ? 0 : th_error_no_memory(err);
    for (size_t i = 0; status == 0 && i < r->n; i++)
        if (r->groups[i] != 0)
            status = resolve_group(r, &r->nodes[place[i]], r->groups[i], known, err);
    th_free(known);
    return status;
}

/* Moves what was read into the trace, which owns it from then on. */
static int keep(rank_reader *r, th_error *err)
{
    th_trace_rank *out = &r->is.trace->ranks[r->is.rank];
    int32_t *place = th_alloc_array(r->n + 1, sizeof *place);
    uint64_t *ids = th_alloc_array(r->n + 1, sizeof *ids);
    out->deps = th_alloc_array(r->n_deps + 1, sizeof *out->deps);
    out->far = th_alloc_zero(r->n_far / 2 + 1, sizeof *out->far);
    int status = -1;
    if (!place || !ids || !out->deps || !out->far)
        th_error_no_memory(err);
    else if (sort_nodes(r, place, ids, err) == 0 && resolve_deps(r, place, out->deps, err) == 0)
        status = resolve_groups(r, place, err);
    th_free(place);
    th_free(ids);
    if (status)
        return -1;
    out->nodes = r->nodes;
    out->n_nodes = (int32_t)r->n;
    out->names = r->names;
    out->first = (int32_t)r->is.trace->n_nodes;
    r->is.trace->n_nodes += out->n_nodes;
    r->nodes = NULL;
    r->names = NULL;
    return 0;
}

/* ---- files ---- */

static void clear(rank_reader *r)
{
    th_free(r->nodes);
    th_free(r->groups);
    th_free(r->deps);
    th_free(r->far);
    th_free(r->names);
}

/* *far: pairs of rank and id, of the file's order of nodes; the caller's to free. */
static int read_bytes(const th_trace_reader *is, const void *bytes, size_t n, int64_t **far,
                      th_error *err)
{
    rank_reader r = {.is = *is, .begin = bytes, .at = bytes, .end = (const uint8_t *)bytes + n};
    int status = read_records(&r, err) || keep(&r, err) ? -1 : 0;
    *far = r.far;
    r.far = NULL;
    clear(&r);
    return status;
}

static int read_rank(th_trace *t, int32_t rank, int64_t **far, th_error *err)
{
    char path[TH_TRACE_PATH_BYTES];
    th_strbuf bytes = TH_STRBUF_INIT;
    th_trace_path(t->prefix, rank, path);
    int status = th_file_bytes_read(path, largest_file, &bytes, err);
    if (status == 0)
        status = read_bytes(&(th_trace_reader){t, rank, path}, bytes.text, bytes.length, far, err);
    th_strbuf_clear(&bytes);
    return status;
}

/* The nodes of other ranks. */
static int resolve_far(th_trace *t, int32_t rank, const int64_t *far, th_error *err)
{
    th_trace_rank *r = &t->ranks[rank];
    for (int32_t i = 0; i < r->n_nodes; i++)
        for (int32_t k = r->nodes[i].first_far; k < r->nodes[i].first_far + r->nodes[i].n_far;
             k++) {
            int64_t other = far[2 * k];
            int32_t at =
                other >= 0 && other < t->n_ranks && other != rank
                    ? find(t->ranks[other].nodes, t->ranks[other].n_nodes, (uint64_t)far[2 * k + 1])
                    : -1;
            if (at < 0)
                return th_error_set(err, "WORK-0310",
                                    "%s: rank %d: node %" PRIu64
                                    ": attribute tharsis_after names node %" PRId64
                                    " of rank %" PRId64 ", which is not there",
                                    t->prefix, (int)rank, r->nodes[i].id, far[2 * k + 1], other);
            r->far[k] = (th_trace_far){(int32_t)other, at};
        }
    return 0;
}

/* Files from rank 0 on, without a gap. Of a folder, its rank.0.et ... */
static int count_ranks(th_trace *t, const char *prefix, th_error *err)
{
    char path[TH_TRACE_PATH_BYTES];
    if (th_trace_check_prefix(prefix, err))
        return -1;
    const char *endings[] = {"", "/rank"};
    for (int i = 0; i < 2 && t->n_ranks == 0; i++) {
        snprintf(path, sizeof path, "%s%s", prefix, endings[i]);
        th_free(t->prefix);
        if (!(t->prefix = th_alloc_string(path)))
            return th_error_no_memory(err);
        while (t->n_ranks < MAX_RANKS &&
               (th_trace_path(t->prefix, t->n_ranks, path), th_file_is_there(path)))
            t->n_ranks++;
    }
    struct stat is;
    if (t->n_ranks == 0)
        return th_error_set(err, "WORK-0312",
                            th_file_stat(prefix, &is) ? "%s.0.et: is not there: a trace has a file "
                                                        "PREFIX.RANK.et for every rank from 0 on"
                            : S_ISDIR(is.st_mode)
                                ? "%s: the folder has no rank.0.et"
                                : "%s: is a file: must be the PREFIX of files PREFIX.RANK.et "
                                  "(read_measurements reads a trace of PyTorch's profiler)",
                            prefix);
    for (int32_t i = 1; i <= t->n_ranks + GAP_MAX; i++) {
        th_trace_path(t->prefix, t->n_ranks + i, path);
        if (th_file_is_there(path))
            return th_error_set(err, "WORK-0687", "%s: is there, but that of rank %d is not", path,
                                (int)t->n_ranks);
    }
    return 0;
}

static int make_ranks(th_trace *t, int32_t n, th_error *err)
{
    t->n_ranks = n;
    t->ranks = th_alloc_zero((size_t)n, sizeof *t->ranks);
    return t->ranks ? 0 : th_error_no_memory(err);
}

/* f NULL: all ranks have these bytes. */
static int read_ranks(th_trace *t, const th_trace_files *f, const void *bytes, size_t n,
                      int64_t **far, th_error *err)
{
    int status = 0;
    for (int32_t i = 0; status == 0 && i < t->n_ranks; i++)
        status = f ? read_rank(t, i, &far[i], err)
                   : read_bytes(&(th_trace_reader){t, i, t->prefix}, bytes, n, &far[i], err);
    for (int32_t i = 0; status == 0 && i < t->n_ranks; i++)
        status = resolve_far(t, i, far[i], err);
    return status;
}

static int read_all(th_trace *t, const th_trace_files *f, const void *bytes, size_t n,
                    th_error *err)
{
    int64_t **far = th_alloc_zero((size_t)t->n_ranks, sizeof *far);
    int status = far ? read_ranks(t, f, bytes, n, far, err) : th_error_no_memory(err);
    for (int32_t i = 0; far && i < t->n_ranks; i++)
        th_free(far[i]);
    th_free(far);
    return status;
}

static th_trace *new_trace(th_error *err)
{
    th_trace *t = th_alloc_zero(1, sizeof *t);
    if (!t)
        th_error_no_memory(err);
    return t;
}

static th_trace *free_if(int status, th_trace *t)
{
    if (status == 0)
        return t;
    th_trace_free(t);
    return NULL;
}

void th_trace_note(const th_trace *t, th_strbuf *notes)
{
    const struct {
        int64_t n;
        const char *what;
    } all[] = {
        {t->n_host, "messages or collectives of hosts: run as computations of the host"},
        {t->n_measured, "collectives without a known comm_type: take their measured duration"},
        {t->n_custom, "nodes of collectives: run as the traces that system.json names, whose "
                      "messages have bytes of their own, whatever comm_size says"},
        {t->n_control, "control dependencies on nodes that are not in the file: left out"},
        {t->n_data, "data dependencies on nodes that are not in the file: left out"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].n > 0)
            th_note(notes, "%" PRId64 " %s", all[i].n, all[i].what);
}

th_trace *th_trace_read(const th_trace_files *f, th_error *err)
{
    th_trace *t = new_trace(err);
    if (t)
        t->is_lenient = f->is_lenient;
    int status = !t || count_ranks(t, f->prefix, err) || make_ranks(t, t->n_ranks, err) ||
                         (f->groups && th_trace_read_groups(t, f->groups, err)) ||
                         (f->memory && th_trace_read_memory(t, f->memory, err)) ||
                         read_all(t, f, NULL, 0, err)
                     ? -1
                     : 0;
    return free_if(status, t);
}

th_trace *th_trace_read_bytes(const void *bytes, size_t n, int32_t n_ranks, th_error *err)
{
    th_trace *t = new_trace(err);
    int status = t && (t->prefix = th_alloc_string("trace")) ? 0 : th_error_no_memory(err);
    if (status == 0 && (make_ranks(t, n_ranks, err) || read_all(t, NULL, bytes, n, err)))
        status = -1;
    return free_if(status, t);
}
