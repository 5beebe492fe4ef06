/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups_read.c - see groups_read.h. */
#include <config.h>
#include "workloads/trace/groups_read.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/names.h"
#include "base/files/text_file.h"

enum { FILE_MAX = 64 << 20 };

/* The JSON object in a file. NULL on failure. */
static json_t *load(const char *path, th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    json_error_t problem;
    json_t *root = NULL;
    if (th_text_file_read(path, FILE_MAX, &text, err) == 0) {
        root = json_loadb(text.text, text.length, JSON_REJECT_DUPLICATES, &problem);
        if (!root)
            th_error_set(err, "WORK-0302", "%s:%d: not JSON: %s", path,
                         problem.line > 0 ? problem.line : 1, problem.text);
        else if (!json_is_object(root)) {
            th_error_set(err, "WORK-0303", "%s:1: must be one JSON object { ... }", path);
            json_decref(root);
            root = NULL;
        }
    }
    th_strbuf_clear(&text);
    return root;
}

/* ---- groups ---- */

/* seen: by rank, the last group that it was found in. False: no list of ranks, all different. */
static bool read_members(const th_trace *t, const json_t *list, int32_t *seen, int32_t mark,
                         th_trace_group *g)
{
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > (size_t)t->n_ranks)
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        json_int_t rank = json_integer_value(value);
        if (!json_is_integer(value) || rank < 0 || rank >= t->n_ranks || seen[rank] == mark)
            return false;
        seen[rank] = mark;
        g->members[g->n_members++] = (int32_t)rank;
    }
    return true;
}

static bool is_number(const char *text)
{
    size_t n = strlen(text);
    return n >= 1 && n <= 9 && strspn(text, "0123456789") == n;
}

typedef struct scratch {
    int32_t *members, *seen;
    int32_t mark;
} scratch;

static int make_scratch(const th_trace *t, scratch *s, th_error *err)
{
    size_t n = (size_t)t->n_ranks + 1;
    *s = (scratch){.members = th_alloc_array(n, sizeof *s->members),
                   .seen = th_alloc_zero(n, sizeof *s->seen)};
    if (s->members && s->seen)
        return 0;
    th_free(s->members);
    th_free(s->seen);
    return th_error_no_memory(err);
}

static void free_scratch(scratch *s)
{
    th_free(s->members);
    th_free(s->seen);
}

static int read_groups(th_trace *t, json_t *root, const char *path, scratch *s, th_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        th_trace_group g = {.members = s->members};
        if (!is_number(key) || atol(key) < 1)
            return th_error_set(err, "WORK-0304",
                                "%s: group \"%.40s\": its name must be a decimal number from 1 on",
                                path, key);
        g.number = g.tag_number = atol(key);
        if (!read_members(t, value, s->seen, ++s->mark, &g) || g.n_members == 0)
            return th_error_set(err, "WORK-0305",
                                "%s: group \"%s\": must be a list of ranks from 0 to %d, all "
                                "different",
                                path, key, (int)t->n_ranks - 1);
        if (th_trace_add_group(t, &g, err))
            return -1;
    }
    return 0;
}

int th_trace_read_groups(th_trace *t, const char *path, th_error *err)
{
    scratch s;
    json_t *root = load(path, err);
    if (!root)
        return -1;
    int status = make_scratch(t, &s, err);
    if (status == 0) {
        status = read_groups(t, root, path, &s, err);
        free_scratch(&s);
    }
    json_decref(root);
    return status;
}

/* ---- process groups inside a trace ---- */

static int add_process_group(th_trace *t, const json_t *item, scratch *s, th_error *err)
{
    const char *name = json_string_value(json_object_get(item, "pg_name"));
    const json_t *ranks = json_object_get(item, "ranks");
    th_trace_group g = {.members = s->members};
    if (!name || !is_number(name) || !read_members(t, ranks, s->seen, ++s->mark, &g))
        return 0;
    g.number = atol(name);
    g.tag_number = g.number + 1;
    for (; json_array_size(ranks) == 0 && g.n_members < t->n_ranks; g.n_members++)
        g.members[g.n_members] = g.n_members;
    return g.number > 0 ? th_trace_add_group(t, &g, err) : 0;
}

int th_trace_read_process_groups(th_trace *t, const char *text, size_t n, th_error *err)
{
    enum { AROUND = 2 }; /* [" and "] */
    scratch s;
    json_t *list = n > AROUND + AROUND ? json_loadb(text + AROUND, n - AROUND - AROUND,
                                                    JSON_REJECT_DUPLICATES, NULL)
                                       : NULL;
    int status = 0;
    if (json_is_array(list) && (status = make_scratch(t, &s, err)) == 0) {
        for (size_t i = 0; status == 0 && i < json_array_size(list); i++)
            status = add_process_group(t, json_array_get(list, i), &s, err);
        free_scratch(&s);
    }
    json_decref(list);
    return status;
}

/* ---- memory ---- */

static const struct {
    const char *name;
    th_trace_memory_kind kind;
} memory_kinds[] = {{"NO_MEMORY_EXPANSION", TH_TRACE_NO_MEMORY},
                    {"PER_NPU_MEMORY_EXPANSION", TH_TRACE_MEMORY_PER_RANK},
                    {"MEMORY_POOL", TH_TRACE_MEMORY_POOL},
                    {"PER_NODE_MEMORY_EXPANSION", TH_TRACE_MEMORY_PER_NODE}};

static int read_count(const json_t *root, const char *path, const char *key, int64_t minimum,
                      int64_t *out, th_error *err)
{
    static const double largest = 1e9;
    const json_t *value = json_object_get(root, key);
    double number = json_is_number(value) ? json_number_value(value) : -1;
    if (!(number >= (double)minimum && number <= largest))
        return th_error_set(err, "WORK-0306", "%s: key \"%s\": must be a number from %d to %g",
                            path, key, (int)minimum, largest);
    *out = (int64_t)number; /* ASTRA-sim drops the fraction */
    return 0;
}

/* The number of nodes follows from the ranks. */
static int refuse_unknown_keys(json_t *root, const char *path, th_error *err)
{
    static const char *const known[] = {"memory-type", "remote-mem-latency", "remote-mem-bw",
                                        "num-nodes",   "num-npus-per-node",  NULL};
    const char *key;
    json_t *value;
    th_error e;
    json_object_foreach(root, key, value)
    {
        int i = 0;
        while (known[i] && strcmp(key, known[i]) != 0)
            i++;
        if (known[i])
            continue;
        th_error_unknown(&e, "WORK-0720", "key", key, known);
        return th_error_set(err, e.id, "%s: %s", path, e.text);
    }
    return 0;
}

static int read_memory(json_t *root, const char *path, th_trace_memory *out, th_error *err)
{
    const char *name = json_string_value(json_object_get(root, "memory-type"));
    size_t n = sizeof memory_kinds / sizeof *memory_kinds, i = 0;
    int64_t per_node = 1;
    while (name && i < n && strcmp(name, memory_kinds[i].name) != 0)
        i++;
    if (!name || i == n)
        return th_error_set(err, "WORK-0307",
                            "%s: key \"memory-type\": must be NO_MEMORY_EXPANSION, "
                            "PER_NPU_MEMORY_EXPANSION, PER_NODE_MEMORY_EXPANSION or MEMORY_POOL",
                            path);
    if (refuse_unknown_keys(root, path, err) != 0)
        return -1;
    out->kind = memory_kinds[i].kind;
    if (out->kind == TH_TRACE_NO_MEMORY)
        return 0;
    if (read_count(root, path, "remote-mem-latency", 0, &out->latency_ns, err) ||
        read_count(root, path, "remote-mem-bw", 1, &out->bytes_per_ns, err) ||
        (out->kind == TH_TRACE_MEMORY_PER_NODE &&
         read_count(root, path, "num-npus-per-node", 1, &per_node, err)))
        return -1;
    out->ranks_per_node = (int32_t)per_node;
    return 0;
}

int th_trace_read_memory(th_trace *t, const char *path, th_error *err)
{
    json_t *root = load(path, err);
    th_trace_memory read = {.kind = TH_TRACE_NO_MEMORY};
    int status = root ? read_memory(root, path, &read, err) : -1;
    if (status == 0)
        t->memory = read;
    json_decref(root);
    return status;
}
