/* SPDX-License-Identifier: GPL-3.0-or-later */
/* event_recorder.h - an observer that records events of selected kinds and stops the run after
 * each; the basis of breakpoints.
 *
 *   init -> (kinds = ...) -> th_machine_observe -> (the run stops -> record -> forget)*
 *   -> th_machine_observe(m, NULL) -> clear */
#ifndef TH_SIM_OBSERVE_EVENT_RECORDER_H
#define TH_SIM_OBSERVE_EVENT_RECORDER_H
#include "base/error.h"
#include "sim/program/observer.h"

typedef enum {
    TH_RECORD_TASK_START, /* object: the task */
    TH_RECORD_TASK_END,
    TH_RECORD_QUEUED,      /* object: the accelerator that one more task waits for */
    TH_RECORD_LINK,        /* object: the link on which the number of flows has changed */
    TH_RECORD_TILES,       /* object: the accelerator whose pipeline has changed */
    TH_RECORD_STALL,       /* object: the accelerator whose array starts to wait */
    TH_RECORD_BUFFER_FULL, /* object: the accelerator whose buffers have become full */
    TH_RECORD_HEALTH,      /* object: the accelerator that a fault or repair has changed */
    TH_N_RECORD_KINDS
} th_record_kind;

typedef struct th_event_record {
    int32_t kind, object; /* th_record_kind */
} th_event_record;

typedef struct th_event_recorder {
    th_observer observer; /* first: notify functions cast it */
    unsigned kinds;       /* bit k: record events of th_record_kind k */
    bool *links;          /* of TH_RECORD_LINK, the links to record; NULL: all. Not owned. */
    th_event_record *record;
    size_t n_records;
    /* private */
    size_t record_capacity;
    th_tiles *tiles; /* by accelerator, as last reported */
    size_t tile_capacity;
    bool is_out_of_memory;
} th_event_recorder;

void th_event_recorder_init(th_event_recorder *r);
void th_event_recorder_clear(th_event_recorder *r); /* frees the records; it may go on */
/* Empties the records. 0, or -1: memory was out, so some of them were missing. */
int th_event_recorder_forget(th_event_recorder *r, th_error *err);

#endif
