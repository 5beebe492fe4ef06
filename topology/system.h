/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system.h - the hardware: nodes, links, designs; a plain table once finished.
 *
 *   new -> (add_medium | add_link | add_node | add_design | ...)* -> finish -> read only -> free
 *
 * Nodes are accelerators, hosts and switches. Every link is directed and uses a medium, which has
 * the bandwidth: a full-duplex cable is two links on two media, a half-duplex one (or a bus) two or
 * more links on one medium. Accelerators are numbered densely: accelerator a is node accel_node[a].
 * Topology does not depend on the simulator: a design is a block of typed keys here, which
 * sim/design/ interprets. */
#ifndef TH_TOPOLOGY_SYSTEM_H
#define TH_TOPOLOGY_SYSTEM_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/units.h"

typedef enum { TH_NODE_ACCEL, TH_NODE_HOST, TH_NODE_SWITCH } th_node_kind;

typedef enum { TH_PARAM_NUMBER, TH_PARAM_TEXT, TH_PARAM_BOOL } th_param_kind;

/* One key of a design block, as in the file: text may carry a unit ("200MHz"). */
typedef struct th_param {
    char *key;
    th_param_kind kind;
    double number; /* NUMBER, and 0 or 1 for BOOL */
    char *text;    /* TEXT, else NULL */
    int line;
} th_param;

typedef struct th_design_block {
    char *name; /* "superlip": the name in accelerators and mappings */
    char *type; /* "tiled": the row of the design table */
    th_param *params;
    int n_params;
    char *file; /* position in the file, for messages */
    int line;
} th_design_block;

enum { TH_DEFAULT_INTERLEAVE_BYTES = 256 }; /* of neighbouring channels of a DRAM */

/* The fraction of the DRAM bandwidth that contiguous runs reach: points of a curve, runs ascending;
 * n 0: the whole bandwidth. */
enum { TH_EFFICIENCY_POINTS_MAX = 8 };
typedef struct th_dram_efficiency {
    int32_t n;
    int64_t run_bytes[TH_EFFICIENCY_POINTS_MAX];
    double share[TH_EFFICIENCY_POINTS_MAX]; /* in 0 .. 1, more than 0 */
} th_dram_efficiency;

#define TH_COST_MAX 1e15 /* of an accelerator or a cable: sums stay exact */

/* The accelerator part of a node. */
typedef struct th_accel {
    int64_t dram_bytes;      /* usable capacity */
    int64_t dram_bits_per_s; /* TH_UNLIMITED: it never limits */
    th_time dram_latency_ps;
    int64_t dram_burst_bytes;      /* requests are rounded up to it; >= 1 */
    int32_t dram_channels;         /* that share the bandwidth; >= 1 */
    int64_t dram_interleave_bytes; /* of neighbouring channels */
    th_dram_efficiency dram_efficiency;
    int64_t vector_hz; /* clock of the vector unit */
    int64_t vector_elements_per_cycle;
    int64_t vector_exp_operations; /* of an exponential, a reciprocal or a root; 0: the standard */
    int64_t vector_buffer_bytes;   /* for rows that are read in several passes; 0: all rows fit */
    bool concat_is_free;           /* concat and slice move no data; otherwise they copy */
    double cost;                   /* of one, in whatever the file counts; 0: unknown */
    int64_t mtbf_us;               /* mean time between failures of one; 0: unknown */
    int *designs;                  /* indices into th_system.designs; more than one: adaptive */
    int n_designs;
} th_accel;

typedef struct th_node {
    const char *name; /* unique, "0" for accel/0; objects are accel/NAME, node/NAME */
    th_node_kind kind;
    int group;     /* island that the file or generator names; 0 by default */
    bool forwards; /* may routes pass through it (default true) */
    bool reduces;  /* switches: can add the data that it forwards */
    /* Of a switch that reduces: bits of all inputs together that it adds per second (0: as fast as
     * they arrive), and from the last of them to the first of the sum. */
    int64_t reduction_bits_per_s;
    th_time reduction_latency_ps;
    int64_t mtbf_us; /* hosts and switches: as of accelerators */
    int accel;       /* index among accelerators, -1 for others */
    /* Of generated trees; 0 elsewhere. Accelerators stand on level 0, switches at their height, and
     * below a switch are the accelerators leaf_first .. leaf_first + n_leaves - 1. */
    int32_t level, leaf_first, n_leaves;
    th_accel a; /* accelerators only */
} th_node;

typedef struct th_medium {
    int64_t bits_per_s;
    double cost;     /* half of that of a full-duplex cable; 0: unknown */
    int64_t mtbf_us; /* of the cable, as of accelerators */
} th_medium;

typedef struct th_link {
    /* "FROM_TO", "FROM_TO.1" for parallel ones; object link/NAME; NULL until
     * th_system_name_links. */
    const char *name;
    int from, to; /* nodes; both -1 for a segment, which only explicit routes take */
    int medium;
    th_time latency_ps;
    bool is_dead; /* no route takes it; set before finish */
} th_link;

/* Two links between a and b: [0] from a to b, [1] back. */
typedef struct th_cable {
    int64_t bits_per_s[2]; /* half duplex: the first is that of both */
    th_time latency_ps[2];
    bool is_full_duplex;
    double cost; /* 0: unknown */
    int64_t mtbf_us;
    bool is_dead;
} th_cable;

static inline th_cable th_cable_symmetric(int64_t bits_per_s, th_time latency_ps,
                                          bool is_full_duplex)
{
    return (th_cable){
        {bits_per_s, bits_per_s}, {latency_ps, latency_ps}, is_full_duplex, 0, 0, false};
}

/* How the nodes along one dimension are connected: each to the next one; also the last to the
 * first; all pairs; all to a switch of the row. */
typedef enum {
    TH_TOPOLOGY_DIM_LINE,
    TH_TOPOLOGY_DIM_RING,
    TH_TOPOLOGY_DIM_FULL,
    TH_TOPOLOGY_DIM_SWITCH
} th_topology_dim_kind;

typedef struct th_shape_dim {
    int32_t kind; /* th_topology_dim_kind */
    int32_t size; /* nodes along it */
} th_shape_dim;

enum { TH_MAX_DIMS = 16 };

struct th_routing_type; /* route.h */
struct th_next_hops;
struct th_astra; /* astra.h */
struct th_explicit_routes;
struct th_generator_spec; /* generate.h */

/* Links out of and into each node, ascending: out_links[out_start[i] .. out_start[i + 1]).
 * out_port, by link: which of the media that lead out of its node it uses, 0, 1, ... in the order
 * of links; 0 of a link that no node lists. */
typedef struct th_adjacency {
    int32_t *out_start, *out_links, *in_start, *in_links, *out_port;
} th_adjacency;

/* Nodes and links by name. */
typedef struct th_system_names {
    struct th_arena *text;
    th_map *nodes, *links; /* index by name */
    int n_links;           /* the first n_links links have names, and are in links */
} th_system_names;

typedef struct th_system th_system;

typedef struct th_system_routes {
    void *data;                          /* private to the system's routing; in memory */
    struct th_next_hops *next_hops;      /* private to routing/shortest.c, under every routing */
    struct th_next_hops *multipath;      /* private to routing/ecmp.c */
    int32_t *neighbors;                  /* private to routing/neighbors.c; in memory */
    int32_t *parallel;                   /* private to routing/parallel.c; NULL: none */
    bool has_stripes;                    /* some message could take several links (stripe.h) */
    struct th_explicit_routes *explicit; /* private to routing/explicit.c; NULL: none */
    /* Frees all of these; called by th_system_free. NULL: there is nothing to free. */
    void (*release)(th_system *s);
} th_system_routes;

typedef struct th_link_energy {
    double j_per_byte; /* of a byte on every link that it crosses; 0: unknown */
    char *source;      /* of that number; NULL: unknown */
} th_link_energy;

struct th_system {
    char *name;
    th_node *nodes;
    int n_nodes;
    th_medium *media;
    int n_media;
    th_link *links;
    int n_links, max_links;
    th_design_block *designs;
    int n_designs;
    int *accel_node; /* filled by finish, like host_node and adjacency */
    int n_accels;
    int *host_node;
    int n_hosts;
    /* Shape of a system that is made of dimensions; n_dims 0 otherwise. The nodes with coordinates
     * are the first of the system, dims[0] fastest; the switches of SWITCH dimensions follow. */
    th_shape_dim dims[TH_MAX_DIMS];
    int n_dims;
    th_adjacency adjacency;
    /* NULL: finish chooses dimension_order for a system of dimensions, up_down for a tree,
     * dragonfly for a dragonfly, shortest for others and where links are dead. */
    const struct th_routing_type *routing;
    th_system_routes routes;
    th_system_names names;
    th_memory memory;       /* of all that finish makes */
    struct th_astra *astra; /* the group "astra" of its file, as of ASTRA-sim's files, else NULL */
    th_link_energy link_energy;
    /* If true, transfers are not flows on links: an accelerator transfers its inputs and outputs
     * itself, one after the other, at the bandwidth of its route to the host, and does not compute
     * meanwhile. The fraction weight_memory of its memory holds weights from the start. The cost
     * model of H2H: docs/models/h2h.md. */
    bool transfers_serially;
    double weight_memory; /* 0 unless transfers_serially */
    /* What the software of a collective takes before the first byte of each rank that begins. */
    th_time collective_start_ps;
    int64_t stripes_from; /* messages of so many bytes are striped (stripe.h); 0: none is */
    struct th_generator_spec *generator; /* the generator and its options; NULL: none */
};

/* The maximum number of links: TH_LINKS_DEFAULT_MAX, unless max_links is another number up to
 * TH_LINKS_MAX. A short file can ask for the links between all pairs of thousands of nodes; those
 * of 4,000 are 16 million and take 1.3 GB. TH_LINKS_DEFAULT_MAX is enough for 65,536 accelerators
 * with 16 cables each. */
enum { TH_LINKS_DEFAULT_MAX = 1 << 21, TH_LINKS_MAX = 1 << 24 };

th_system *th_system_new(const char *name, th_error *err);

/* Each returns the new index, or -1 (system unchanged). Strings are copied. */
int th_system_add_node(th_system *s, const char *name, th_node_kind kind, int group, th_error *err);
int th_system_add_medium(th_system *s, int64_t bits_per_s, th_error *err);
int th_system_add_link(th_system *s, int from, int to, int medium, th_time latency_ps,
                       th_error *err);
/* A segment has no end nodes; only explicit routes use it. Its name must not be used by a link (the
 * links so far get their names here). */
int th_system_add_segment(th_system *s, const char *name, int medium, th_time latency_ps,
                          th_error *err);
/* A cable between two nodes: two links, on two media if full duplex, otherwise on one. Returns the
 * first. */
int th_system_add_cable(th_system *s, int a, int b, th_cable cable, th_error *err);
/* How many links of one cable begin with this one, in the order in which th_system_add_cable adds
 * them: 2, or 1 for one direction and segments. */
int th_system_cable_links(const th_system *s, int link);
int th_system_add_design(th_system *s, const char *name, const char *type, const char *file,
                         int line, th_error *err);
int th_system_add_param(th_system *s, int design, const th_param *param, th_error *err);
/* The index here of a design block like d, added when there is none of its name. */
int th_system_copy_design(th_system *s, const th_design_block *d, th_error *err);
/* Replaces the value of a key that the design has. */
int th_system_set_param(th_system *s, int design, const th_param *param, th_error *err);
/* Makes node an accelerator with these properties; a->designs is copied. 0 or -1 (memory). */
int th_system_set_accel(th_system *s, int node, const th_accel *a, th_error *err);
/* Copies the accelerator properties of accelerator accel of another (finished) system, and the
 * design blocks that it lists, to node of this one. Designs already here under the same name are
 * shared. 0 or -1. */
int th_system_copy_accel(th_system *s, int node, const th_system *from, int accel, th_error *err);

enum { TH_ROUTE_MAX = 4096 }; /* links of a route: a ring of 8,192, a line of 4,097 */

/* Sets the links of transfers from one node to another, instead of the routing's route. Links with
 * ends must lead from the one to the other, over nodes that forward; segments may be anywhere. No
 * node and no segment twice, at most one route per pair. 0 or -1. */
int th_system_add_route(th_system *s, int from, int to, const int *links, int n, th_error *err);
/* The i-th explicit route, in the order of addition; false: there are no more. */
typedef struct th_explicit_route {
    int32_t from, to, n_links;
    const int32_t *links;
} th_explicit_route;
bool th_system_explicit_route(const th_system *s, int i, th_explicit_route *out);

/* Names the links added so far, in the order in which they were added: after it they can be found
 * by name. finish calls it; call it before to find links earlier. 0 or -1 (memory). */
int th_system_name_links(th_system *s, th_error *err);
/* Numbers accelerators and hosts, prepares the routes, checks: at least one accelerator, every
 * accelerator has a design and memory, every pair of accelerators (and accelerator and host) is
 * connected - else TOPO-00xx naming the pair. After it the system is read only and may be shared
 * between threads. */
int th_system_finish(th_system *s, th_error *err);
void th_system_free(th_system *s); /* accepts NULL */

/* Index by name, or -1. In constant time for nodes and links. */
int th_system_find_node(const th_system *s, const char *name);
int th_system_find_design(const th_system *s, const char *name);
int th_system_find_link(const th_system *s, const char *name);

/* The name of a node, or "" for -1: what a segment has at its ends. */
const char *th_system_node_name(const th_system *s, int node);

#endif
