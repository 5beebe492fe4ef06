/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.h - data as bytes that mean the same on every machine: little-endian, no padding.
 *
 *   writing:  TH_CODEC_INIT -> th_wire_* ... -> out, failed -> clear
 *   reading:  th_codec_reader(bytes) -> th_wire_* ... -> failed
 * Every th_wire_X(w, &x) does both: it adds x, or fills x with what comes next. So a struct has one
 * function for both ways, and they cannot disagree. Failure is sticky: out of memory when writing;
 * when reading, bytes that end too soon or are out of range, after which everything reads as 0. */
#ifndef TH_MAPPER_CODEC_H
#define TH_MAPPER_CODEC_H
#include "base/strbuf.h"
#include "mapper/evaluate/evaluate.h"
#include "mapper/mapping.h"

typedef struct th_codec {
    th_strbuf out;
    const unsigned char *at, *end; /* of what is read; NULL: writing */
    bool failed;
    bool skips_locations; /* leave out files and lines, which only messages tell: for digests */
} th_codec;

#define TH_CODEC_INIT                                                                              \
    {                                                                                              \
        .out = TH_STRBUF_INIT                                                                      \
    }
th_codec th_codec_reader(const void *bytes, size_t n);
void th_codec_clear(th_codec *w); /* accepts both kinds */
bool th_codec_is_reading(const th_codec *w);

void th_codec_bytes(th_codec *w, void *bytes, size_t n); /* as they are */
void th_codec_byte(th_codec *w, uint8_t *x);
void th_codec_bool(th_codec *w, bool *x);
void th_codec_int(th_codec *w, int *x); /* 32 bits */
void th_codec_int64(th_codec *w, int64_t *x);
void th_codec_hash(th_codec *w, uint64_t *x);
void th_codec_double(th_codec *w, double *x); /* its bits */
/* A number >= 0 in as few bytes as it needs, 7 bits each; at most max. */
void th_codec_count(th_codec *w, int32_t *x, int32_t max);
/* NULL stays NULL. What is read lies in the bytes that are read. */
void th_codec_text(th_codec *w, const char **text);

/* 1 byte, and 40 for a mapping that fits. */
void th_codec_fitness(th_codec *w, th_fitness *f);

/* A mapping in few bytes: the distinct strategies once, then two small numbers per layer. What is
 * read has indices in range of a system and a workload of these sizes; th_mapping_check knows the
 * rest. */
void th_codec_write_mapping(th_codec *w, const th_mapping *m);
typedef struct th_codec_limits {
    int32_t n_accels, n_designs, n_layers;
} th_codec_limits;
/* NULL: out of memory, or w has failed. */
th_mapping *th_codec_read_mapping(th_codec *w, const th_codec_limits *limits);

/* wire_system.c, wire_problem.c: all that fitness depends on. Tables that designs read from files,
 * and procedures of script designs, do not travel: they are named. */
void th_codec_write_system(th_codec *w, const th_system *s);
void th_codec_write_workload(th_codec *w, const th_workload *net);
th_system *th_codec_read_system(th_codec *w, th_error *err);
th_workload *th_codec_read_workload(th_codec *w, th_error *err);
void th_codec_stream(th_codec *w, th_stream *s);
void th_codec_network(th_codec *w, const th_network_type **type, th_network_options *o);
void th_codec_goal(th_codec *w, th_goal *g);

#endif
