/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.h - what a group of nodes does together, and the table of algorithms that do it.
 *
 *   a th_collective (in a program) -> th_expansion_init -> (action of every participant and lane,
 *   step by step) -> th_expansion_clear
 *
 * An algorithm is a set of rules that says, for each participant, what it does in its step s; it
 * holds no list of messages. Participants are the ranks of the group in order, then (in-switch
 * algorithms) switches that reduce. Each has lanes: sequences of steps that go on side by side. A
 * step first waits until `wait_count` messages have come in at `wait_port` of this participant,
 * then posts at most one message. A port sends one message after the other: a step whose port is
 * still busy waits for it, and the lane with it. Lanes of a participant share its ports, so one
 * lane can wait for what another has received. The collective ends when every lane of every
 * participant is through and every message has arrived.
 *
 * So state is O(participants x (lanes + ports)), whatever the number of messages.
 *
 * Bytes of a collective: S is the largest buffer that any rank holds: all_reduce, broadcast,
 * reduce: the vector; all_gather: the gathered result; reduce_scatter: the vector before; gather,
 * scatter: the buffer of the root; all_to_all: what a rank sends, its own part included; send_recv:
 * the message. Pieces of S over n ranks are cut at floor(S i / n), so no remainder is dropped. A
 * piece without bytes is sent all the same, as a message that takes its latencies: what is counted
 * at a port never depends on sizes.
 *
 * What a message carries is told as a range of positions, so that an algorithm can be executed on
 * real data. Positions are those of S for all kinds but all_to_all, whose positions are those of
 * the matrix of all pairs, row by row (th_pair_first): what rank i sends to rank j.
 *
 * Counting at ports: wait_count is the number of messages since the beginning. Either one port
 * alone sends to a port (then the k-th message that comes in is the k-th that was sent), or who
 * waits there waits for all that have been sent to it so far in any order of events. */
#ifndef TH_SIM_COLLECTIVE_COLLECTIVE_H
#define TH_SIM_COLLECTIVE_COLLECTIVE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/units.h"
#include "topology/system.h"

typedef enum {
    TH_ALL_REDUCE,
    TH_ALL_GATHER,
    TH_REDUCE_SCATTER,
    TH_ALL_TO_ALL,
    TH_BROADCAST,
    TH_REDUCE,
    TH_GATHER,
    TH_SCATTER,
    TH_BARRIER,
    TH_SEND_RECV,     /* rank 0 to rank 1 */
    TH_USER_SCHEDULE, /* what a schedule file says */
    TH_N_COLLECTIVES
} th_collective_kind;

typedef struct th_algorithm th_algorithm;
typedef struct th_user_schedule th_user_schedule;

/* A table row of a program; the program owns copies of all that it points to but the schedule. */
typedef struct th_collective {
    int32_t kind;                  /* th_collective_kind */
    const th_algorithm *algorithm; /* NULL: auto, the quickest of those that can */
    int32_t *rank_node;            /* n_ranks nodes, all different */
    int32_t n_ranks;
    int64_t bytes;       /* S, see above */
    int64_t *pair_bytes; /* all_to_all of uneven sizes: n_ranks x n_ranks, from row to
                          * column; NULL: even */
    int32_t root;        /* rank, where the kind has one */
    int32_t chunks;      /* the pieces that go through the algorithm one behind the other;
                          * 0: auto, as many as are quickest (tuner.h) */
    int32_t dims[8];     /* hierarchical: extents, dimension 0 fastest; their product is
                          * n_ranks */
    int32_t n_dims;      /* 0: those of the system where the group is all of it */
    th_time delay_ps;    /* overhead of every message, before its first byte */
    const th_user_schedule *schedule; /* TH_USER_SCHEDULE; outlives the program */
} th_collective;

typedef struct th_action {
    int32_t wait_port; /* -1: nothing to wait for */
    int32_t wait_count;
    int32_t send_port;   /* -1: nothing to send */
    int32_t to, to_port; /* participant, and its port */
    int64_t bytes;       /* >= 0 */
    /* What they mean, for those who check: the range of positions that begins here, and whether the
     * receiver adds it to its own or takes it in its place. */
    int64_t first;
    bool reduces;
} th_action;

typedef struct th_range {
    int64_t first, bytes;
} th_range;

/* A collective under an algorithm; read only once made, and shared by all its participants. */
typedef struct th_expansion {
    const th_collective *collective;
    const th_system *system;
    const th_algorithm *algorithm;
    int32_t *node;                            /* of each participant */
    int32_t n_participants, n_lanes, n_ports; /* the same for all; some may stay unused */
    void *data;                               /* the algorithm's own */
} th_expansion;

struct th_algorithm {
    const char *name;
    const char *synopsis; /* one line */
    unsigned kinds;       /* 1u << kind of each collective that it can do */
    /* Fills node .. data, or says why it cannot (a COLL-00xx). 0 or -1. */
    int (*prepare)(th_expansion *x, th_error *err);
    /* False: this lane has no step s. */
    bool (*action)(const th_expansion *x, int32_t participant, int32_t lane, int64_t step,
                   th_action *out);
    void (*release)(th_expansion *x); /* frees data; NULL: th_free will do, or there is none */
    /* Where messages carry more than one range: range i of what this step sends, false past the
     * last; their sizes add up to the action's bytes. NULL: the one range of the action. */
    bool (*range)(const th_expansion *x, int32_t participant, int32_t lane, int64_t step, int32_t i,
                  th_range *out);
};

extern const th_algorithm *const th_algorithms[]; /* ends in NULL; those of a kind in the order in
                                                   * which auto tries them */
const th_algorithm *th_algorithm_find(const char *name);            /* NULL: unknown */
extern const char *const th_collective_names[TH_N_COLLECTIVES + 1]; /* "all_reduce" ..., NULL */
enum { TH_CHUNKS_MAX = 1 << 16 };

/* What every algorithm relies on: known nodes, all different, root and sizes in range. 0 or -1. */
int th_collective_check(const th_collective *c, const th_system *s, th_error *err);
/* c->algorithm must not be NULL. c and s must outlive *x. 0, or -1 and nothing to clear. */
int th_expansion_init(th_expansion *x, const th_collective *c, const th_system *s, th_error *err);
void th_expansion_clear(th_expansion *x);

/* --- for algorithms --------------------------------------------------------------------------- */

/* The participants are the ranks, with so many lanes and ports each. 0 or -1. */
int th_expansion_of_ranks(th_expansion *x, int32_t n_lanes, int32_t n_ports, th_error *err);

static inline bool th_is_power_of_two(int32_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* i modulo n for -n <= i < 2 n: a rank's neighbours without a division. */
static inline int32_t th_wrap(int32_t i, int32_t n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* The piece i of n of bytes: [first, first + bytes). */
static inline int64_t th_piece_first(int64_t bytes, int64_t i, int64_t n)
{
    int64_t product;
    if (!__builtin_mul_overflow(bytes, i, &product))
        return product / n;
    return (int64_t)((__int128)bytes * i / n);
}
static inline int64_t th_piece_bytes(int64_t bytes, int64_t i, int64_t n)
{
    return th_piece_first(bytes, i + 1, n) - th_piece_first(bytes, i, n);
}
/* Pieces i .. j - 1 of n, i <= j <= n. */
static inline th_range th_pieces(int64_t bytes, int64_t i, int64_t j, int64_t n)
{
    int64_t first = th_piece_first(bytes, i, n);
    return (th_range){first, th_piece_first(bytes, j, n) - first};
}
/* Part i of n of a range. */
static inline th_range th_part(th_range r, int64_t i, int64_t n)
{
    int64_t first = th_piece_first(r.bytes, i, n);
    return (th_range){r.first + first, th_piece_first(r.bytes, i + 1, n) - first};
}

/* all_to_all: the bytes from a rank to another, and where they stand in the matrix of all pairs.
 * O(1) where sizes are even, O(n_ranks^2) where not (for checks and preparations). */
int64_t th_pair_bytes(const th_collective *c, int32_t from, int32_t to);
int64_t th_pair_first(const th_collective *c, int32_t from, int32_t to);

/* Adds what this step would send to *a. */
static inline void th_action_send(th_action *a, int32_t port, int32_t to, int32_t to_port,
                                  th_range what)
{
    a->send_port = port;
    a->to = to;
    a->to_port = to_port;
    a->first = what.first;
    a->bytes = what.bytes;
}
/* An action that does nothing yet. */
#define TH_ACTION_NONE ((th_action){.wait_port = -1, .send_port = -1})

#endif
