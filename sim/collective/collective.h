/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.h - collective operations of a group of nodes, and the table of their algorithms.
 *
 *   a th_collective (in a program) -> th_collective_schedule_init
 *       -> get_step (of every participant and thread, step by step) -> th_collective_schedule_clear
 *
 * An algorithm is a rule that gives step s of each participant; there is no list of messages.
 * Participants are the ranks of the group in order, then (in_switch) the switches that reduce. Each
 * runs threads in parallel, each a sequence of steps. A step first waits until `wait_count`
 * messages have arrived at `wait_port` of its participant, then sends at most one message. A port
 * sends one message at a time: a step whose port is busy waits for it, and its thread with it. The
 * threads of a participant share its ports, so one thread can wait for what another receives. The
 * collective ends when every thread of every participant has ended and every message has arrived.
 *
 * State is O(participants x (threads + ports)), whatever the number of messages.
 *
 * Bytes: S is the largest buffer that any rank holds. all_reduce, broadcast, reduce: the vector;
 * all_gather: the gathered result; reduce_scatter: the vector before; gather, scatter: the buffer
 * of the root; all_to_all: what a rank sends, its own part included; send_recv: the message. Piece
 * i of n is [floor(S i / n), floor(S (i + 1) / n)), so no remainder is dropped. An empty piece is
 * sent all the same: counts at ports never depend on sizes.
 *
 * Padding. Pieces of one division take the time of its largest, as in libraries, which align their
 * buffers: th_range_parts says how many bytes that are. So what the algorithm does at once stays at
 * once, and a byte more changes the time of a collective by as little: ranks whose messages
 * differed by a byte would drift apart, and which of their messages share links would be chance.
 * Links count the bytes without padding.
 *
 * The contents of a message are a range of positions, so that tests can execute an algorithm on
 * real data. Positions are offsets in S; in all_to_all, offsets in the matrix of all pairs, row by
 * row (th_pair_first): what rank i sends to rank j.
 *
 * Invariant of counts: wait_count counts messages since the beginning. Either a single port sends
 * to the port (so the k-th message to arrive is the k-th sent), or the step waits for all messages
 * sent to the port so far, whatever their order. */
#ifndef TH_SIM_COLLECTIVE_COLLECTIVE_H
#define TH_SIM_COLLECTIVE_COLLECTIVE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/memory.h"
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
    TH_USER_SCHEDULE, /* as a schedule file says */
    TH_N_COLLECTIVES
} th_collective_kind;

typedef struct th_algorithm th_algorithm;
typedef struct th_user_schedule th_user_schedule;

/* A collective of a program, which owns copies of the arrays. */
typedef struct th_collective {
    int32_t kind;                  /* th_collective_kind */
    const th_algorithm *algorithm; /* NULL: auto, the fastest (tuner.h) */
    int32_t *rank_node;            /* n_ranks nodes, all different */
    int32_t n_ranks;
    int64_t bytes;       /* S, see above */
    int64_t *pair_bytes; /* all_to_all of uneven sizes: n_ranks x n_ranks, from row to
                          * column; NULL: even */
    int32_t root;        /* rank, where the kind has one */
    int32_t chunks;      /* pieces that are pipelined through the algorithm; 0: auto (tuner.h) */
    int32_t dims[8];     /* hierarchical: extents, dimension 0 fastest; their product is
                          * n_ranks */
    int32_t n_dims;      /* 0: the system's, where the group is the whole system */
    th_time delay_ps;    /* overhead of every message, before its first byte */
    double slowdown;     /* share of its rate that each accelerator of a member loses meanwhile */
    const th_user_schedule *schedule; /* of TH_USER_SCHEDULE; outlives the program */
} th_collective;

typedef struct th_collective_step {
    int32_t wait_port; /* -1: nothing to wait for */
    int32_t wait_count;
    int32_t send_port;   /* -1: nothing to send */
    int32_t to, to_port; /* participant, and its port */
    int64_t bytes;       /* >= 0 */
    int64_t padded;      /* >= bytes: those whose time it takes */
    int64_t first;       /* position of the first byte, for checks of the data */
    bool reduces;        /* the receiver adds it to its data, instead of replacing them */
    /* Of a message within a node: how long it takes (0: no time), such as the sums of a switch. Its
     * port is busy until then. */
    th_time work_ps;
} th_collective_step;

typedef struct th_range {
    int64_t first, bytes;
    int64_t padded; /* below bytes: bytes */
} th_range;

/* What algorithms have found out about a group, for several schedules of it that differ in
 * algorithm and chunks alone: (all 0) -> init_again* -> clear. */
typedef struct th_collective_kept {
    int32_t *tour;  /* the order of a ring through it: n_ranks numbers; NULL: not known yet */
    int32_t *trees; /* th_trees.parent, of n_trees; NULL: not known yet */
    int32_t n_trees;
} th_collective_kept;
void th_collective_kept_clear(th_collective_kept *k);

/* A collective with its algorithm and the tables that this needs; read only after init. */
typedef struct th_collective_schedule {
    const th_collective *collective;
    const th_system *system;
    const th_algorithm *algorithm;
    int32_t *node;                              /* of each participant */
    int32_t n_participants, n_threads, n_ports; /* threads and ports: of each participant */
    th_memory memory;                           /* of node, data and all that they need */
    void *data;                                 /* the algorithm's own */
    th_collective_kept *kept;                   /* NULL: nothing is kept */
} th_collective_schedule;

struct th_algorithm {
    const char *name;
    const char *synopsis; /* one line */
    unsigned kinds;       /* 1u << kind of each collective that it can do */
    /* Fills node .. data. 0, or -1 with the reason why it cannot (COLL-00xx). */
    int (*prepare)(th_collective_schedule *cs, th_error *err);
    /* False: the thread has no such step. */
    bool (*get_step)(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out);
    /* For messages of more than one range: range i of what the step sends, false past the last;
     * the sizes add up to the step's bytes. NULL: every message is one range. */
    bool (*range)(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                  int64_t step, int32_t i, th_range *out);
};

/* algorithms.c: the table, which ends in NULL; auto tries the algorithms in this order. find: NULL:
 * unknown. */
extern const th_algorithm *const th_algorithms[];
const th_algorithm *th_algorithm_find(const char *name);
extern const char *const th_collective_names[TH_N_COLLECTIVES + 1]; /* "all_reduce" ..., NULL */
enum { TH_CHUNKS_MAX = 1 << 16 };

/* Checks what every algorithm relies on: nodes known and distinct, root and sizes in range. 0 or
 * -1. */
int th_collective_check(const th_collective *c, const th_system *s, th_error *err);
/* c->algorithm must not be NULL. c and s must outlive *cs. 0, or -1 and nothing to clear. */
int th_collective_schedule_init(th_collective_schedule *cs, const th_collective *c,
                                const th_system *s, th_error *err);
/* The same; *kept is of this group, and may outlive *cs. */
int th_collective_schedule_init_again(th_collective_schedule *cs, const th_collective *c,
                                      const th_system *s, th_collective_kept *kept, th_error *err);
void th_collective_schedule_clear(th_collective_schedule *cs);

/* --- for algorithms --------------------------------------------------------------------------- */

/* Makes the ranks the participants, with n_threads threads and n_ports ports each. 0 or -1. */
int th_collective_schedule_set_ranks(th_collective_schedule *cs, int32_t n_threads, int32_t n_ports,
                                     th_error *err);

static inline bool th_is_power_of_two(int32_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* i modulo n, for -n <= i < 2 n. */
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
/* The most bytes of i neighbouring pieces of n. */
static inline int64_t th_piece_most(int64_t bytes, int64_t i, int64_t n)
{
    int64_t product;
    if (!__builtin_mul_overflow(bytes, i, &product))
        return product / n + (product % n > 0);
    return (int64_t)(((__int128)bytes * i + n - 1) / n);
}
/* Parts i .. j - 1 of n of a range, i <= j <= n. */
static inline th_range th_range_parts(th_range r, int64_t i, int64_t j, int64_t n)
{
    int64_t first = th_piece_first(r.bytes, i, n);
    int64_t padded = r.padded > r.bytes ? r.padded : r.bytes;
    return (th_range){r.first + first, th_piece_first(r.bytes, j, n) - first,
                      th_piece_most(padded, j - i, n)};
}
static inline th_range th_range_part(th_range r, int64_t i, int64_t n)
{
    return th_range_parts(r, i, i + 1, n);
}
/* Pieces i .. j - 1 of n. */
static inline th_range th_range_pieces(int64_t bytes, int64_t i, int64_t j, int64_t n)
{
    return th_range_parts((th_range){0, bytes}, i, j, n);
}

/* Adds a range to those of a message, which is where the first of them is. */
static inline void th_range_add(th_range *sum, th_range r)
{
    sum->first = sum->padded == 0 && sum->bytes == 0 ? r.first : sum->first;
    sum->bytes += r.bytes;
    sum->padded += r.padded > r.bytes ? r.padded : r.bytes;
}

/* all_to_all: what a rank sends to another; the bytes of that, and their position in the matrix of
 * all pairs: O(1) with even sizes, else O(n_ranks^2) (for checks and preparations). */
int64_t th_pair_bytes(const th_collective *c, int32_t from, int32_t to);
int64_t th_pair_first(const th_collective *c, int32_t from, int32_t to);
th_range th_pair_range(const th_collective *c, int32_t from, int32_t to);
/* The same without the position: O(1). */
th_range th_pair_size(const th_collective *c, int32_t from, int32_t to);

/* Lets step *a send range `what`. */
static inline void th_collective_step_send(th_collective_step *a, int32_t port, int32_t to,
                                           int32_t to_port, th_range what)
{
    a->send_port = port;
    a->to = to;
    a->to_port = to_port;
    a->first = what.first;
    a->bytes = what.bytes;
    a->padded = what.padded > what.bytes ? what.padded : what.bytes;
}
/* A step that neither waits nor sends. */
#define TH_COLLECTIVE_STEP_NONE ((th_collective_step){.wait_port = -1, .send_port = -1})

#endif
