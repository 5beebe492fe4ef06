/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_read.h - guards in front of libconfig: size, depth, types, near misses.
 *
 * The only way in for configuration files. Before libconfig sees a byte, the file is checked: size
 * (at most 4 MiB), nesting depth (at most 32), token length (at most 4096), members of a group (at
 * most 256: libconfig takes quadratic time; a list may be as long as it likes), no NUL bytes, no
 * @include, integers that do not fit 32 bits and lack the L suffix (libconfig 1.5 would wrap them
 * silently).
 *   open -> root -> (check_keys | member | int | string | child | at | as_...)* -> close
 * Every error names file and line: 'FILE:LINE: key "x": must be ...'. */
#ifndef TH_BASE_CONFIG_READ_H
#define TH_BASE_CONFIG_READ_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/units.h"

typedef struct th_config th_config; /* one open file */
typedef struct th_config_node th_config_node;

/* Both ends are allowed. */
typedef struct th_int_range {
    int64_t min, max;
} th_int_range; /* a group, list, array or scalar in it */

typedef enum {
    TH_CONFIG_GROUP,
    TH_CONFIG_LIST,
    TH_CONFIG_INT,
    TH_CONFIG_FLOAT,
    TH_CONFIG_BOOL,
    TH_CONFIG_STRING
} th_config_kind; /* arrays and lists are both LIST */

th_config *th_config_open(const char *path, th_error *err);
/* The same for text in memory; name stands for the file in messages. */
th_config *th_config_open_text(const char *text, const char *name, th_error *err);
void th_config_close(th_config *c); /* accepts NULL */
const th_config_node *th_config_root(const th_config *c);

th_config_kind th_config_kind_of(const th_config_node *n);
const char *th_config_key(const th_config_node *n); /* NULL for list elements and the root */
const char *th_config_file(const th_config_node *n);
int th_config_line(const th_config_node *n);
int th_config_count(const th_config_node *n); /* members or elements; 0 for scalars */
const th_config_node *th_config_at(const th_config_node *n, int i);               /* i-th child */
const th_config_node *th_config_member(const th_config_node *n, const char *key); /* NULL: absent */

/* Typed values of a scalar node; -1 with err naming file, line, key and what was expected. */
int th_config_as_int(const th_config_node *n, int64_t min, int64_t max, int64_t *out,
                     th_error *err);
int th_config_as_double(const th_config_node *n, double *out, th_error *err); /* ints convert */
int th_config_as_bool(const th_config_node *n, bool *out, th_error *err);
int th_config_as_string(const th_config_node *n, const char **out, th_error *err); /* owned by c */
int th_config_as_time(const th_config_node *n, th_time *out, th_error *err);
int th_config_as_bytes(const th_config_node *n, int64_t *out, th_error *err);
int th_config_as_bandwidth(const th_config_node *n, int64_t *out, th_error *err);
int th_config_as_frequency(const th_config_node *n, int64_t *out, th_error *err);
int th_config_as_energy(const th_config_node *n, int64_t *out, th_error *err);   /* aJ */
int th_config_as_duration(const th_config_node *n, int64_t *out, th_error *err); /* us */

/* Members of a group by key. required = false: an absent key returns 0 and leaves *out as it
 * was. */
int th_config_int(const th_config_node *g, const char *key, bool required, th_int_range range,
                  int64_t *out, th_error *err);
int th_config_double(const th_config_node *g, const char *key, bool required, double *out,
                     th_error *err);
int th_config_bool(const th_config_node *g, const char *key, bool required, bool *out,
                   th_error *err);
int th_config_string(const th_config_node *g, const char *key, bool required, const char **out,
                     th_error *err);
int th_config_time(const th_config_node *g, const char *key, bool required, th_time *out,
                   th_error *err);
int th_config_bandwidth(const th_config_node *g, const char *key, bool required, int64_t *out,
                        th_error *err);
int th_config_energy(const th_config_node *g, const char *key, bool required, int64_t *out,
                     th_error *err);
/* A group or list member of the given kind; NULL and 0 when absent and not required. */
int th_config_child(const th_config_node *g, const char *key, bool required, th_config_kind kind,
                    const th_config_node **out, th_error *err);

/* 0 if every key of group g is in allowed (NULL-terminated), else -1: 'FILE:LINE: unknown key
 * "bandwith" in ...: did you mean "bandwidth"? (one of ...)'. */
int th_config_check_keys(const th_config_node *g, const char *const *allowed, th_error *err);

#endif
