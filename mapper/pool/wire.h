/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.h - data as bytes that mean the same on every machine: little-endian, no padding.
 *
 *   writing:  TH_WIRE_INIT -> th_wire_* ... -> out, failed -> clear
 *   reading:  th_wire_open(bytes) -> th_wire_* ... -> failed
 * Every th_wire_X(w, &x) does both: it adds x, or fills x with what comes next. So a struct has one
 * function for both ways, and they cannot disagree. Failure is sticky: out of memory when writing;
 * when reading, bytes that end too soon or are out of range, after which everything reads as 0. */
#ifndef TH_MAPPER_WIRE_H
#define TH_MAPPER_WIRE_H
#include "base/strbuf.h"
#include "mapper/evaluate/evaluate.h"
#include "mapper/mapping.h"

typedef struct th_wire {
    th_strbuf out;
    const unsigned char *at, *end; /* of what is read; NULL: writing */
    bool failed;
    bool skips_places; /* leave out files and lines, which only messages tell: for digests */
} th_wire;

#define TH_WIRE_INIT                                                                               \
    {                                                                                              \
        .out = TH_STRBUF_INIT                                                                      \
    }
th_wire th_wire_open(const void *bytes, size_t n);
void th_wire_clear(th_wire *w); /* accepts both kinds */
bool th_wire_reads(const th_wire *w);

void th_wire_bytes(th_wire *w, void *bytes, size_t n); /* as they are */
void th_wire_byte(th_wire *w, uint8_t *x);
void th_wire_bool(th_wire *w, bool *x);
void th_wire_int(th_wire *w, int *x); /* 32 bits */
void th_wire_int64(th_wire *w, int64_t *x);
void th_wire_hash(th_wire *w, uint64_t *x);
void th_wire_double(th_wire *w, double *x); /* its bits */
/* A number >= 0 in as few bytes as it needs, 7 bits each; at most max. */
void th_wire_count(th_wire *w, int32_t *x, int32_t max);
/* NULL stays NULL. What is read lies in the bytes that are read. */
void th_wire_text(th_wire *w, const char **text);

/* 1 byte, and 40 for a mapping that fits. */
void th_wire_fitness(th_wire *w, th_fitness *f);

/* A mapping in few bytes: the distinct strategies once, then two small numbers per layer. What is
 * read has indices in range of a system and a workload of these sizes; th_mapping_check knows the
 * rest. */
void th_wire_put_mapping(th_wire *w, const th_mapping *m);
typedef struct th_wire_limits {
    int32_t n_accels, n_designs, n_layers;
} th_wire_limits;
/* NULL: memory is out, or w has failed. */
th_mapping *th_wire_get_mapping(th_wire *w, const th_wire_limits *limits);

/* wire_system.c, wire_problem.c: all that fitness depends on. Tables that designs read from files,
 * and procedures of script designs, do not travel: they are named. */
void th_wire_put_system(th_wire *w, const th_system *s);
void th_wire_put_workload(th_wire *w, const th_workload *net);
th_system *th_wire_get_system(th_wire *w, th_error *err);
th_workload *th_wire_get_workload(th_wire *w, th_error *err);
void th_wire_stream(th_wire *w, th_stream *s);
void th_wire_network(th_wire *w, const th_network_type **type, th_network_options *o);
void th_wire_goal(th_wire *w, th_goal *g);

#endif
