/* SPDX-License-Identifier: GPL-3.0-or-later */
/* serializer.h - messages of ranks, and digests, as bytes: little-endian, without padding, the same
 * on every machine.
 *
 *   writing:  TH_SERIALIZER_INIT -> th_serializer_* ... -> out, failed -> clear
 *   reading:  th_serializer_reader(bytes) -> th_serializer_* ... -> failed
 *
 * Systems and workloads travel as the texts of files. A mapping, of which a search sends many
 * thousand, is bytes.
 *
 * Each th_serializer_X(w, &x) works both ways: it appends x, or sets x from the next bytes. So each
 * structure has one function for both directions; who writes a constant structure hands over a
 * shallow copy, which writing only reads. Failure is sticky. Writing fails when memory is
 * out; reading fails when the bytes end too soon or a value is out of range, and then sets
 * everything to 0. */
#ifndef TH_MAPPER_SERIALIZER_H
#define TH_MAPPER_SERIALIZER_H
#include "base/strbuf.h"
#include "mapper/evaluate/evaluate.h"
#include "mapper/mapping.h"

typedef struct th_serializer {
    th_strbuf out;
    const unsigned char *at, *end; /* next byte to read, and the end; NULL: writing */
    bool failed;
} th_serializer;

#define TH_SERIALIZER_INIT                                                                         \
    {                                                                                              \
        .out = TH_STRBUF_INIT                                                                      \
    }
th_serializer th_serializer_reader(const void *bytes, size_t n);
void th_serializer_clear(th_serializer *w); /* accepts both kinds */
bool th_serializer_is_reading(const th_serializer *w);

void th_serializer_bytes(th_serializer *w, void *bytes, size_t n); /* as they are */
void th_serializer_byte(th_serializer *w, uint8_t *x);
void th_serializer_bool(th_serializer *w, bool *x);
void th_serializer_int(th_serializer *w, int *x); /* 32 bits */
void th_serializer_int64(th_serializer *w, int64_t *x);
void th_serializer_double(th_serializer *w, double *x); /* its bits */
/* A number >= 0 in as few bytes as it needs, 7 bits each; at most max. */
void th_serializer_count(th_serializer *w, int32_t *x, int32_t max);
/* NULL stays NULL. A text that is read points into the bytes being read. */
void th_serializer_text(th_serializer *w, const char **text);

/* 1 byte, and 40 for a mapping that fits. */
void th_serializer_fitness(th_serializer *w, th_fitness *f);

/* A mapping in few bytes: the distinct strategies once, then two small numbers per layer. What is
 * read has indices in range of a system and a workload of these sizes; th_mapping_check knows the
 * rest. */
void th_serializer_write_mapping(th_serializer *w, const th_mapping *m);
typedef struct th_serializer_limits {
    int32_t n_accels, n_designs, n_layers;
} th_serializer_limits;
/* NULL: out of memory, or w has failed. */
th_mapping *th_serializer_read_mapping(th_serializer *w, const th_serializer_limits *limits);

/* serializer_inputs.c: everything that fitness depends on, as bytes for digests. Tables that
 * designs read from files, and procedures of script designs, are represented by their names. */
void th_serializer_write_system(th_serializer *w, const th_system *s);
void th_serializer_write_workload(th_serializer *w, const th_workload *net);

/* serializer_problem.c: to and from a rank, as files; 0 or -1, NULL on failure. */
int th_serializer_send_system(th_serializer *w, const th_system *s, th_error *err);
int th_serializer_send_workload(th_serializer *w, const th_workload *net, th_error *err);
th_system *th_serializer_receive_system(th_serializer *w, th_error *err);
th_workload *th_serializer_receive_workload(th_serializer *w, th_error *err);
void th_serializer_stream(th_serializer *w, th_stream *s);
void th_serializer_network(th_serializer *w, const th_network_type **type, th_network_options *o);
void th_serializer_goal(th_serializer *w, th_goal *g);

#endif
