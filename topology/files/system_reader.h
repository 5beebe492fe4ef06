/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_reader.h - the reader of one system file, shared by the *_read.c of this folder alone.
 * Functions return 0, or -1 with r->error filled. */
#ifndef TH_TOPOLOGY_FILES_SYSTEM_READER_H
#define TH_TOPOLOGY_FILES_SYSTEM_READER_H
#include "base/files/config_read.h"
#include "topology/system.h"

typedef struct th_system_reader {
    th_system *s;
    const th_config_node *root;
    bool is_generated; /* nodes and links come from a topology */
    int n_generated;   /* accelerators of that topology */
    int n_described;   /* accelerators that entries described so far */
    int max_links;     /* see th_system */
    th_error error;
} th_system_reader;

/* Puts FILE:LINE of n in front of what th_system_* reported. -1. */
int th_reader_at(th_system_reader *r, const th_config_node *n);
/* Reports an error at n: the message after FILE:LINE. -1. */
int th_reader_error(th_system_reader *r, const th_config_node *n, const char *id,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* What the text n might have been. */
typedef struct th_valid_names {
    const char *what;
    const char *const *names;
    size_t count;
} th_valid_names;

/* 'FILE:LINE: unknown WHAT "NAME": did you mean "NEAR"?', or, where none is near: 'must be one of'.
 * -1. */
int th_reader_unknown(th_system_reader *r, const char *id, const th_config_node *n,
                      const th_valid_names *k);
/* The list g.key of at least min elements and at most max elements (0: no limit). */
int th_reader_list(th_system_reader *r, const th_config_node *g, const char *key, int min, int max,
                   const th_config_node **out);
/* Calls read for every element of the list root.key, which may be absent. */
int th_reader_for_each(th_system_reader *r, const char *key,
                       int (*read)(th_system_reader *r, const th_config_node *n));
/* Those of one kind in a system, by their names. */
typedef struct th_reader_names {
    const char *what;
    int n;
    int (*find)(const th_system *s, const char *name); /* -1: none */
    const char *(*name)(const th_system *s, int i);
} th_reader_names;

/* The one, the node, the link whose name n is. */
int th_reader_look_up(th_system_reader *r, const char *id, const th_config_node *n,
                      const th_reader_names *k, int *out);
int th_reader_node(th_system_reader *r, const th_config_node *n, int *out);
int th_reader_link(th_system_reader *r, const th_config_node *n, int *out);
/* Is n a group? */
int th_reader_group(th_system_reader *r, const th_config_node *n, const char *what);

/* generate_read.c: the nodes and links of the group "topology", n. */
int th_read_topology(th_system_reader *r, const th_config_node *n);
/* astra_read.c: the group "astra", after the topology. */
int th_read_astra(th_system_reader *r);
/* accel_read.c: the lists "designs" and "accelerators". */
int th_read_designs(th_system_reader *r);
int th_read_accels(th_system_reader *r);
/* link_read.c: the list "links". */
int th_read_links(th_system_reader *r);
/* route_read.c: "segments", "dead_links", "routes" and "routing". */
int th_read_routes(th_system_reader *r);

#endif
