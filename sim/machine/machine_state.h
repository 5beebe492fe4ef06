/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine_state.h - private to the machine: its state, and the functions that its files share.
 * Plain data: indices only, except for the read-only inputs and the queues. */
#ifndef TH_SIM_MACHINE_MACHINE_STATE_H
#define TH_SIM_MACHINE_MACHINE_STATE_H
#include "base/memory.h"
#include "base/random.h"
#include "sim/machine/property_event.h"
#include "sim/replay/replay.h"
#include "sim/pipeline/completion_cache.h"
#include "sim/kernel/ready_queue.h"
#include "sim/machine/machine.h"

typedef enum {
    TH_ACCEL_IDLE,
    TH_ACCEL_STARTING,  /* its task starts at this time; settle decides how it runs */
    TH_ACCEL_COLLAPSED, /* one end event, at the collapsed time of its compute cost */
    TH_ACCEL_EXPANDED,  /* flows use its DRAM; the end follows from the demand history */
    TH_ACCEL_FAILED,    /* its task, if it had one, waits for a repair */
    TH_ACCEL_DELAYED,   /* its task would have ended; jitter or messages beside prolong it */
    TH_ACCEL_STEPPED    /* event by event: contended DRAM, or watched */
} th_accel_mode;

/* The demand of flows on the DRAM of an accelerator since the start of its task. */
typedef struct th_demand_history {
    th_demand_change *change;
    size_t n, capacity, n_applied; /* applied: to the accelerator's pipeline */
    uint64_t digest[2];            /* of the compute cost and all changes */
} th_demand_history;

/* Who observes the tiles of an accelerator. */
typedef struct th_accel_observers {
    bool is_watched; /* an observer waits for events inside tasks: they are stepped */
    bool is_counted; /* the stepped task of a watched accelerator counts as expanded */
} th_accel_observers;

typedef struct th_accel_state {
    int32_t mode;      /* th_accel_mode */
    int32_t task;      /* that runs, -1: none */
    int32_t scaled;    /* its compute cost in m->properties.scaled; -1: the one of the task */
    int32_t last_task; /* that ended last, -1: none */
    th_time started;
    th_event_handle event; /* its end, a lower bound of it, or its next step */
    uint32_t event_kind;
    bool rates_are_stale; /* stepped and contended: the network has new rates */
    bool was_contended;   /* since the task started: then its end depends on more than demand */
    double stretch;       /* jitter of its task: the share of its time that is added */
    /* messages beside its tasks: how many, and the sum of the shares of its rate that they take */
    int32_t n_beside;
    double slowdown;
    double owed_ps;  /* of its task, at the full rate: what such messages and jitter add to it */
    th_time owed_at; /* owed_ps is that of this time */
    /* stepped: its state; expanded: with the applied part of history. Of machine.pipelines, which
     * take no memory until they are written: most accelerators of large systems never need one */
    th_pipeline *pipeline;
    th_demand_history history;      /* expanded */
    th_pipeline_stats stats_at_end; /* expanded, once its end is known; delayed: without delay */
    th_accel_observers observed;
    th_ready_queue ready; /* compute tasks that wait for it */
    th_accel_result sum;  /* of finished tasks */
} th_accel_state;

/* A host runs its tasks one after the other. */
typedef struct th_host_state {
    int32_t task;      /* that runs, -1: none */
    int32_t last_task; /* that ended last, -1: none */
    th_ready_queue ready;
} th_host_state;

/* Progress of the tasks of the program. */
typedef struct th_machine_tasks {
    int32_t *waiting; /* by task: predecessors that have not ended */
    size_t waiting_capacity;
    th_task_result *times; /* by task */
    size_t times_capacity;
    th_time *fault_times; /* by task: see th_result.fault_ps */
    size_t fault_capacity;
    bool has_fault_times; /* there has been a property event since load */
    th_time *input_end;   /* by input of the stream */
    size_t input_capacity;
    th_ready_queue ready; /* tasks that became ready at this time */
} th_machine_tasks;

/* Work left for settle, at the end of a time step. */
typedef struct th_machine_settle {
    int32_t *started; /* accelerators whose task started at this time */
    size_t n_started;
    int32_t *stale; /* accelerators whose rates_are_stale */
    size_t n_stale;
    bool is_done; /* nothing has happened since the last settle */
} th_machine_settle;

typedef struct th_machine_counts {
    int64_t events; /* of the program: starts and ends of tasks and messages */
    int64_t tasks_done, expansions, moved_bytes;
} th_machine_counts;

/* layers.c: results of each layer so far, if options.per_layer. */
typedef struct th_layer_state {
    th_layer_result sum; /* of tasks that have ended, without idle_ps */
    int32_t n_running;   /* tasks of any kind */
    th_time since;       /* when n_running became positive */
} th_layer_state;
typedef struct th_machine_layers {
    th_layer_state *states;
    int32_t n; /* 0: not wanted */
    size_t capacity;
} th_machine_layers;

/* After th_machine_resume: start and demand history of each compute that has ended, by task. */
typedef struct th_logged_run {
    th_time started;
    size_t first, n; /* in demands */
} th_logged_run;
typedef struct th_run_log {
    bool is_on;
    th_logged_run *runs;
    size_t capacity;
    th_demand_change *demands;
    size_t n_demands, demand_capacity;
} th_run_log;

/* Of the compute cost cost.number, for accelerators of a class. */
typedef struct th_scaled_cost {
    th_compute_cost cost;
    int32_t class;
    double factor;
} th_scaled_cost;

typedef struct th_jitter {
    double share; /* mean of what is added, of the time of a task; 0: none */
    uint64_t seed;
} th_jitter;

/* Of one property of a medium or an accelerator: numbers of events; -1: none. */
typedef struct th_property_state {
    int32_t set_by; /* the last one that set it */
    int32_t fault;  /* the last one of the faults that last; the others by next_fault */
} th_property_state;

/* properties.c: the property events since load, and the present values. */
typedef struct th_machine_properties {
    th_property_event *events;
    int32_t *next_fault; /* by event: of the same state */
    size_t n_events, capacity, next_capacity;
    th_property_state *states[TH_PROPERTY_KINDS]; /* by medium or accelerator; NULL: no event yet */
    double *medium_factor, *frequency_factor;     /* NULL: all are 1 */
    th_jitter *jitter;                            /* by accelerator; NULL: none has any */
    int32_t *first_link, *next_link; /* of a medium; after a link on its medium; -1: none */
    struct th_scaled_cost **scaled;  /* compute costs at other clocks; none is ever dropped */
    size_t n_scaled, scaled_capacity;
} th_machine_properties;

/* tuning.c: the simulation of the candidate that the tuner has chosen since load, as it ended. */
typedef struct th_tuned_run {
    th_machine *machine; /* NULL: there is none */
    th_collective_choice_key of;
} th_tuned_run;

struct th_machine {
    th_memory memory; /* of arrays by accelerator, host, link and medium */
    const th_system *system;
    const th_compute_cost_cache *costs;
    const th_program *program;
    th_machine_options options;
    th_network *network;
    th_replay *replay;              /* of collectives */
    th_collective_choices *choices; /* NULL: those of the options */
    th_tuned_run tuned;
    th_events *events;
    th_observer *observers; /* NULL: none */
    th_time watches_change; /* th_machine_watch again before the run passes this time */
    uint32_t n_polls;       /* of options.is_interrupted, modulo 2^32 */
    th_time now, last_end;
    th_machine_tasks tasks;
    th_accel_state *accels;
    th_pipeline *pipelines;          /* by accelerator */
    th_host_state *hosts;            /* numbered as in the system */
    th_ready_queue startable_accels; /* that may be able to start a task at this time */
    th_ready_queue startable_hosts;
    th_machine_settle settle;
    bool any_shared;                  /* some DRAM can be contended (network.is_shared) */
    th_completion_cache *completions; /* by digest of a demand history */
    th_machine_counts counts;
    th_machine_layers layers;
    th_run_log run_log;
    th_machine_properties properties;
};

/* Kinds of events of priority COMPUTE_END (th_event.argument); the object is the accelerator. */
enum { TH_COMPUTE_ENDS, TH_COMPUTE_MAY_END, TH_PIPELINE_STEPS };

/* machine_inspect.c: from now on, steps the tasks of all accelerators whose tiles an observer wants
 * at a time, before which nothing else happens. 0 or -1. */
int th_machine_watch(th_machine *m, th_time at, th_error *err);

/* accelerator.c */
int th_accelerator_start(th_machine *m, int accel, th_error *err); /* 0 or -1 */
/* fail: it computes no more, and what it has done of its task is lost. repair: it begins its task
 * again, or the next one. 0 or -1. */
int th_accelerator_fail(th_machine *m, int accel, th_error *err);
int th_accelerator_repair(th_machine *m, int accel, th_error *err);
static inline bool th_accelerator_is_free(const th_accel_state *a)
{
    return a->mode == TH_ACCEL_IDLE;
}
/* The task of an accelerator is in flight at time 0. 0 or -1. */
int th_accelerator_resume(th_machine *m, int32_t task, const th_in_flight *f, th_error *err);
int th_accelerator_event(th_machine *m, const th_event *e, th_error *err);
/* A message begins beside the tasks of an accelerator, which takes a share of its rate, or ends
 * (sign -1). */
void th_accelerator_slow(th_machine *m, int accel, double share, int sign);
/* All accelerators, at the end of a time step. begin_contended: before the network settles; the
 * tasks with a contended DRAM; changed: the network has updated which DRAMs are contended. settle:
 * afterwards. 0 or -1. */
int th_accelerators_begin_contended(th_machine *m, bool changed, th_error *err);
int th_accelerators_settle(th_machine *m, th_error *err);
/* Starts or ends stepping its tasks, the running one included. 0 or -1. */
int th_accelerator_watch(th_machine *m, int accel, bool is_watched, th_error *err);
/* Reports its tiles, if it is watched, to the observers that need the state of a run. */
void th_accelerator_report_state(const th_machine *m, int accel);
/* What the running task has done so far, all 0 without one. */
th_pipeline_stats th_accelerator_running(const th_machine *m, int accel);
th_tiles th_accelerator_tiles(const th_machine *m, int accel);

/* properties.c. apply: the event takes place, 0 or -1. scaled_cost: index in
 * m->properties.scaled of a compute cost of an accelerator at another clock, or -1. */
int th_property_event_apply(th_machine *m, int32_t number, th_error *err);
/* The beginning of the first fault, of those that make the object fail now. */
th_time th_property_fails_since(const th_machine *m, th_property_kind kind, int object);
void th_property_events_reset(th_machine *m);
void th_property_events_free(th_machine *m);
/* Reports to an observer that joins the run that there are property events, and what is not as in
 * the system. */
void th_health_report(const th_machine *m, th_observer *o);
/* The share of its time that jitter adds to a task that starts now. */
double th_jitter_stretch(const th_machine *m, int accel, int32_t task);
int32_t th_clock_scaled_cost(th_machine *m, int accel, int32_t cost, double factor, th_error *err);

/* layers.c: results of each layer. load: 0, or -1 when memory is out; start, end: any task of a
 * layer, now; computed: a compute task that ends now; lost: what it had done before a failure. */
int th_layers_load(th_machine *m);
void th_layers_start(th_machine *m, int32_t task);
void th_layers_end(th_machine *m, int32_t task);
void th_layers_computed(th_machine *m, int32_t task, const th_pipeline_stats *stats);
void th_layers_lost(th_machine *m, int32_t task, const th_pipeline_stats *stats);
/* copy: the results so far, without those of running tasks; add_running: of a running task (-1:
 * none); finish: the idle times. */
void th_layers_copy(const th_machine *m, th_layer_result *out);
void th_layers_add_running(const th_machine *m, int32_t task, const th_pipeline_stats *stats,
                           th_layer_result *out);
void th_layers_finish(th_layer_result *layers, int32_t n);

/* hosts.c. add: a task that is ready now; start: the next task of a free host; ended: a task. 0, or
 * -1 when memory is out. */
void th_hosts_free(th_machine *m);
void th_hosts_reset(th_machine *m);
int th_hosts_add(th_machine *m, int32_t task);
int th_hosts_start(th_machine *m, int32_t host, th_error *err);
int th_hosts_ended(th_machine *m, int32_t task);

/* tuning.c: drops m->tuned; is it the run of this collective? */
void th_machine_drop_tuned(th_machine *m);
bool th_machine_is_tuned(const th_machine *m, const th_collective *c);

/* dead_end.c. report_dead_end: why nothing is left to do before the run is done; always ERROR.
 * report_time_limit: of a task that would end after TH_TIME_MAX; -1, or 0 if there is none. */
th_stop th_machine_report_dead_end(const th_machine *m, th_error *err);
int th_machine_report_time_limit(const th_machine *m, th_error *err);

/* machine.c: what a message that has arrived adds to the sums of the run; a task starts or ends
 * now. */
void th_machine_count_bytes(th_machine *m, const th_message *sent);
void th_machine_task_starts(th_machine *m, int32_t task, int32_t cause);
int th_machine_task_ends(th_machine *m, int32_t task, th_error *err);

#endif
