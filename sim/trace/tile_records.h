/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tile_records.h - what tile pipelines show from a state on, kept for all that come into the same
 * state.
 *
 *   new -> (find or add -> (more | state)* -> release)* -> forget | free
 * A record is what a pipeline will show if nobody's draw from its DRAM changes any more. It is made
 * as far as somebody has asked. Equal tasks under equal draws share one, so a trace goes through
 * their tiles once. Times are relative to the start of the task. */
#ifndef TH_SIM_TRACE_TILE_RECORDS_H
#define TH_SIM_TRACE_TILE_RECORDS_H
#include "sim/pipeline/pipeline.h"

/* What a trace shows of tiles, in one word: fill, array and moving. 0: no task. */
typedef uint16_t th_tile_state;
enum {
    TH_TILE_FILL = 0xff,
    TH_TILE_ARRAY = 0xf00,
    TH_TILE_ARRAY_SHIFT = 8,
    TH_TILE_MOVING_SHIFT = 12
};
static inline th_tile_state th_tile_state_of(const th_tiles *t)
{
    return (th_tile_state)((uint32_t)t->fill | (uint32_t)t->array << TH_TILE_ARRAY_SHIFT |
                           t->moving << TH_TILE_MOVING_SHIFT);
}

typedef struct th_tile_event {
    th_time at;
    th_tile_state tiles; /* from then on */
} th_tile_event;

typedef struct th_tile_record {
    int64_t number;      /* of no other; another one when events are dropped */
    th_tile_state first; /* before the first event */
    int32_t n_users;     /* private */
    th_tile_event *event;
    size_t n;
    /* private */
    struct {
        th_time at;
        double bytes_per_s;
        struct th_tile_record *record;
        int64_t age;
    } after; /* the record that others' draw led to last, while none was forgotten */
    size_t room;
    bool is_kept;
    const th_schedule *schedule;
    const th_port *port;
    th_pipeline start, middle,
        last; /* before the first event, one of the last ones, and after all */
} th_tile_record;

typedef struct th_tile_records th_tile_records;

th_tile_records *th_tile_records_new(void);    /* NULL: memory is out */
void th_tile_records_free(th_tile_records *k); /* accepts NULL */
/* Nothing is kept any more; records in use go when they are released. */
void th_tile_records_forget(th_tile_records *k);

/* The record that begins in the state with this digest of two words, or NULL. To be released. */
th_tile_record *th_tile_records_find(th_tile_records *k, const uint64_t *digest);
/* The same, of the state of *r after others draw so much from `at` on. Quick where that led to it
 * last time, too. */
th_tile_record *th_tile_records_find_after(th_tile_records *k, th_tile_record *r, th_time at,
                                           double bytes_per_s, const uint64_t *digest);
/* One that begins in *p; s and port must stay. digest NULL: no other state is known to be equal.
 * NULL: memory is out. To be released. */
th_tile_record *th_tile_records_add(th_tile_records *k, const uint64_t *digest,
                                    const th_pipeline *p, const th_schedule *s,
                                    const th_port *port);
void th_tile_records_release(th_tile_record *r); /* accepts NULL */

/* More events for who has come to the end of *r, which may become another record then; *next is
 * where they begin. 1, 0 when there are none, or -1: memory is out. */
int th_tile_records_more(th_tile_records *k, th_tile_record **r, size_t *next);
/* The pipeline as it stands at a time that is not before the last event that the asker has come to,
 * what happens then included. */
void th_tile_record_state(const th_tile_record *r, th_time at, th_pipeline *p);

#endif
