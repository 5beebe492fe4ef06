/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_help.h - files of execution traces from rows of text, byte by byte: without the code that
 * Tharsis writes them with. */
#ifndef TH_TESTS_UNIT_TRACE_HELP_H
#define TH_TESTS_UNIT_TRACE_HELP_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/strbuf.h"
#include "workloads/trace/trace_read.h"

typedef struct trace_row {
    int rank;
    uint64_t id, type;
    const char *after;      /* "1 2" */
    const char *attributes; /* "comm_tag 7 comm_size 9"; us: the duration */
} trace_row;

enum { FIELD_VARINT = 0, FIELD_BYTES = 2 };

static inline void put_varint(th_strbuf *b, uint64_t n)
{
    for (; n > 127; n >>= 7)
        th_strbuf_add_bytes(b, &(char){(char)((n & 127) | 128)}, 1);
    th_strbuf_add_bytes(b, &(char){(char)n}, 1);
}

static inline void put_number(th_strbuf *b, int field, uint64_t n)
{
    put_varint(b, (uint64_t)field << 3 | FIELD_VARINT);
    put_varint(b, n);
}

static inline void put_bytes(th_strbuf *b, int field, const void *bytes, size_t n)
{
    put_varint(b, (uint64_t)field << 3 | FIELD_BYTES);
    put_varint(b, n);
    th_strbuf_add_bytes(b, bytes, n);
}

/* As uint64; pg_name and tharsis_algorithm are texts. */
static inline void put_attribute(th_strbuf *node, const char *name, const char *value)
{
    auto_strbuf a = TH_STRBUF_INIT;
    put_bytes(&a, 1, name, strlen(name));
    if (strcmp(name, "pg_name") == 0 || strcmp(name, "tharsis_algorithm") == 0)
        put_bytes(&a, 29, value, strlen(value));
    else
        put_number(&a, 13, strtoull(value, NULL, 10));
    put_bytes(node, 10, a.text, a.length);
}

static inline void put_record(th_strbuf *file, th_strbuf *record)
{
    put_varint(file, record->length);
    th_strbuf_add_bytes(file, record->text, record->length);
    th_strbuf_clear(record);
}

static inline void put_row(th_strbuf *file, const trace_row *row)
{
    th_strbuf node = TH_STRBUF_INIT;
    char name[64], value[64], *end;
    int n;
    put_number(&node, 1, row->id);
    put_bytes(&node, 2, "n", 1);
    put_number(&node, 3, row->type);
    for (const char *p = row->after; *p; p = end + strspn(end, " "))
        put_number(&node, 5, strtoull(p, &end, 10));
    for (const char *p = row->attributes; sscanf(p, " %63s %63s%n", name, value, &n) == 2; p += n)
        if (strcmp(name, "us") == 0)
            put_number(&node, 7, strtoull(value, NULL, 10));
        else
            put_attribute(&node, name, value);
    put_record(file, &node);
}

static inline void write_bytes(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
        printf("Bail out! %s\n", path);
        exit(1);
    }
}

/* PREFIX.0.et ... of n_ranks; a row's rank comes in ascending order. */
static inline void write_rows(const char *prefix, int n_ranks, const trace_row *rows, size_t n)
{
    char path[256];
    for (int rank = 0; rank < n_ranks; rank++) {
        th_strbuf file = TH_STRBUF_INIT, head = TH_STRBUF_INIT;
        put_bytes(&head, 1, "1", 1);
        put_record(&file, &head);
        for (size_t i = 0; i < n; i++)
            if (rows[i].rank == rank)
                put_row(&file, &rows[i]);
        snprintf(path, sizeof path, "%s.%d.et", prefix, rank);
        write_bytes(path, file.text, file.length);
        th_strbuf_clear(&file);
    }
}

static inline void remove_trace(const char *prefix, int n_ranks)
{
    char path[256];
    for (int rank = 0; rank < n_ranks; rank++) {
        snprintf(path, sizeof path, "%s.%d.et", prefix, rank);
        remove(path);
    }
    snprintf(path, sizeof path, "%s.groups.json", prefix);
    remove(path);
}

/* The trace of the rows; NULL, and *err says why. */
static inline th_trace *trace_of(int n_ranks, const trace_row *rows, size_t n, const char *groups,
                                 th_error *err)
{
    static const char prefix[] = "trace_help.tmp", groups_path[] = "trace_help.tmp.groups.json";
    write_rows(prefix, n_ranks, rows, n);
    if (groups)
        write_bytes(groups_path, groups, strlen(groups));
    th_trace_files files = {.prefix = prefix, .groups = groups ? groups_path : NULL};
    th_trace *t = th_trace_read(&files, err);
    remove_trace(prefix, n_ranks);
    return t;
}
#define TRACE_OF(N_RANKS, ROWS, GROUPS, ERR)                                                       \
    trace_of((N_RANKS), (ROWS), sizeof(ROWS) / sizeof *(ROWS), (GROUPS), (ERR))

#endif
