/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine_state.h - private to the machine: its state, and the part of it that runs accelerators
 * (accelerator.c). Plain data: indices only, but for the read-only inputs and the queues. */
#ifndef TH_SIM_MACHINE_MACHINE_STATE_H
#define TH_SIM_MACHINE_MACHINE_STATE_H
#include "base/random.h"
#include "sim/machine/property_event.h"
#include "sim/replay/replay.h"
#include "sim/pipeline/completion_cache.h"
#include "sim/kernel/ready_queue.h"
#include "sim/machine/machine.h"

typedef enum {
    TH_ACCEL_IDLE,
    TH_ACCEL_LOADING,   /* likewise without a task, but weights of the next one come in */
    TH_ACCEL_STARTING,  /* its task has started at this instant; settle decides how it runs */
    TH_ACCEL_COLLAPSED, /* one end event, computed by the memo */
    TH_ACCEL_EXPANDED,  /* flows demand on its DRAM as history tells; its end or a bound as event */
    TH_ACCEL_FAILED,    /* its task, if it had one, never ends */
    TH_ACCEL_STEPPED    /* event by event: contended DRAM, or expand_all */
} th_accel_mode;

typedef struct th_demand_history {
    th_demand_change *change;
    size_t n, capacity, n_applied; /* applied: those that the accelerator's pipeline has seen */
    uint64_t digest[2];            /* of the work and all changes */
} th_demand_history;

typedef struct th_accel_state {
    int32_t mode;      /* th_accel_mode */
    int32_t task;      /* that runs, -1: none */
    int32_t scaled;    /* the work of its task, in m->properties.scaled; -1: as the task says */
    int32_t last_task; /* that ended last, -1: none */
    th_time started;
    th_event_handle event; /* its end, a bound of it, or its next step */
    uint32_t event_kind;
    bool rates_are_old;        /* stepped and contended: the network is to be asked */
    bool was_contended;        /* its DRAM, since the task started: then no memo knows its end */
    th_pipeline pipeline;      /* stepped: its state; expanded: as far as history is applied */
    th_demand_history history; /* expanded */
    th_pipeline_stats at_end;  /* expanded, once its end is known: what it will have done */
    th_prefetch_state prefetched_at_end;
    /* Weights loaded ahead, see prefetch.c. */
    int32_t target; /* the task that they are for, -1: none */
    th_prefetch_state inherited,
        prefetched;  /* what the running task found; what is done for the target */
    bool is_watched; /* somebody waits for what happens inside its tasks: they are stepped */
    bool is_traced;  /* a trace shows what does */
    bool is_counted; /* the stepped task of a watched one counts as expanded */
    bool was_freed;  /* its task ended at this instant */
    int32_t next_weighted, end_weighted; /* its tasks with weights: m->prefetch.tasks */
    th_ready_queue ready;                /* compute tasks that wait for it */
    th_accel_result sum;                 /* of finished tasks */
} th_accel_state;

/* What is known of a layer, where results are to tell (per_layer). */
typedef struct th_layer_state {
    th_layer_result sum; /* of tasks that have ended; idle is left open */
    int32_t n_running;   /* tasks of any kind */
    th_time since;       /* when it became more than none */
} th_layer_state;

/* How a compute ran: from when on, which of m->kept.demands flows drew meanwhile. */
typedef struct th_kept_run {
    th_time started;
    size_t first, n;
} th_kept_run;

/* A host runs tasks one after the other. */
typedef struct th_host_state {
    int32_t task;      /* that runs, -1: none */
    int32_t last_task; /* that ended last, -1: none */
    th_ready_queue ready;
} th_host_state;

/* prefetch.c: the tasks whose weights may be prefetched, by accelerator, in program order. */
typedef struct th_prefetch_tasks {
    bool is_used; /* some accelerator prefetches */
    int32_t *tasks;
    size_t capacity;
} th_prefetch_tasks;

/* How each compute that has ended ran, by task, after th_machine_resume. */
typedef struct th_kept_runs {
    bool is_on;
    th_kept_run *runs;
    size_t capacity;
    th_demand_change *demands; /* the demand histories, one after another */
    size_t n_demands, demand_capacity;
} th_kept_runs;

/* property_event.c: the property events since load, and the values that they have left. */
typedef struct th_machine_properties {
    th_property_event *events;
    size_t n_events, capacity;
    double *medium_factor, *frequency_factor; /* NULL: all are 1 */
    th_compute_cost **scaled; /* compute costs at other frequencies; none is ever dropped */
    size_t n_scaled, scaled_capacity;
} th_machine_properties;

struct th_machine {
    const th_system *system;
    const th_compute_cost_cache *costs;
    const th_program *program;
    th_machine_options options;
    uint32_t n_acts; /* modulo 2^32; when to ask whether to go on */
    th_network *network;
    th_replay *replay; /* collectives */
    th_events *events;
    th_observer *observers; /* NULL: none */
    gsl_rng *random;        /* for expand_seed, else NULL */
    th_time now, last_end;
    int32_t *waiting;      /* per task: predecessors that have not ended */
    th_task_result *times; /* per task */
    size_t waiting_capacity, times_capacity;
    th_time *input_end;
    size_t input_capacity;
    th_ready_queue ready;     /* tasks that became ready at this instant */
    th_ready_queue startable; /* accelerators that may start something at this instant */
    th_accel_state *accels;
    th_host_state *hosts;           /* as the system's */
    th_ready_queue startable_hosts; /* that may start something at this instant */
    th_layer_state *layers;         /* per_layer: of the program, else none */
    int32_t n_layers;
    size_t layers_capacity;
    int32_t *fresh; /* accelerators whose task started at this instant */
    size_t n_fresh;
    int32_t *stale; /* accelerators whose rates_are_old */
    size_t n_stale;
    bool any_shared;                  /* some DRAM can be contended (network.is_shared) */
    th_completion_cache *completions; /* by digest of a history */
    int64_t n_events, n_done, n_expanded, moved_bytes;
    bool settled; /* nothing has happened since the last settle */
    th_prefetch_tasks prefetch;
    th_kept_runs kept;
    th_machine_properties properties;
};

/* What events of priority COMPUTE_END mean (th_event.argument); the object is the accelerator. */
enum { TH_COMPUTE_ENDS, TH_COMPUTE_MAY_END, TH_PIPELINE_STEPS };

/* accelerator.c */
int th_accelerator_start(th_machine *m, int accel, th_error *err); /* 0 or -1 */
/* Its clock stands still from now on. 0 or -1. */
int th_accelerator_fail(th_machine *m, int accel, th_error *err);
static inline bool th_accelerator_is_free(const th_accel_state *a)
{
    return a->mode == TH_ACCEL_IDLE || a->mode == TH_ACCEL_LOADING;
}
/* The accelerator's task is under way when time begins. 0 or -1. */
int th_accelerator_resume(th_machine *m, int32_t task, const th_in_flight *u, th_error *err);
int th_accelerator_event(th_machine *m, const th_event *e, th_error *err);
int th_accelerator_settle(th_machine *m, th_error *err);
/* From now on its tasks, the running one too, are stepped, or no longer. 0 or -1. */
int th_accelerator_watch(th_machine *m, int accel, bool is_watched, th_error *err);
/* From now on observers follow the pipelines of its tasks, or no longer. */
void th_accelerator_trace(th_machine *m, int accel, bool is_traced);
/* What the running task has done so far, all 0 without one. */
th_pipeline_stats th_accelerator_running(const th_machine *m, int accel);
th_tiles th_accelerator_tiles(const th_machine *m, int accel);

/* property_event.c. happens: 0 or -1. work: number in m->properties.scaled of a work at another
 * clock, -1: memory is out. */
int th_property_event_apply(th_machine *m, int32_t number, th_error *err);
void th_property_events_reset(th_machine *m);
void th_property_events_free(th_machine *m);
int32_t th_frequency_scaled_cost(th_machine *m, int32_t work, double factor);

/* layers.c: what each layer took. load: 0, or -1 when memory is out; starts and ends: any task of a
 * layer, now; computed: a compute task that ends now. */
int th_layers_load(th_machine *m);
void th_layers_start(th_machine *m, int32_t task);
void th_layers_end(th_machine *m, int32_t task);
void th_layers_computed(th_machine *m, int32_t task, const th_pipeline_stats *did);
/* The figures now, but for what running tasks have done; then that of one (-1: none), and idle
 * times last. */
void th_layers_copy(const th_machine *m, th_layer_result *out);
void th_layers_add_running(const th_machine *m, int32_t task, const th_pipeline_stats *did,
                           th_layer_result *out);
void th_layers_finish(th_layer_result *layers, int32_t n);

/* energy.c: the energies of a result that is complete but for them. 0, or -1 when memory is out:
 * then r is cleared. */
int th_energy_account(const th_machine *m, th_result *r);

/* prefetch.c: accelerators that load weights ahead. load: 0, or -1 when memory is out. */
bool th_prefetch_is_on(const th_machine *m, int accel);
int th_prefetch_load(th_machine *m);
void th_prefetch_task_starts(th_machine *m, th_accel_state *a);
/* Into *b: the weights that a pipeline of the accelerator starts with, and those that it loads
 * ahead. Where the accelerator loads none ahead, *b stays as it is. */
void th_prefetch_set_options(const th_machine *m, const th_accel_state *a, th_pipeline_options *b);
void th_prefetch_digest(const th_machine *m, th_accel_state *a);
bool th_prefetch_is_incomplete(const th_machine *m, th_accel_state *a);

/* hosts.c: tasks on hosts. add: it is ready now; start: the next one of a host, if it is free;
 * ended. 0, or -1 when memory is out. */
int th_hosts_new(th_machine *m);
void th_hosts_free(th_machine *m);
void th_hosts_reset(th_machine *m);
int th_hosts_add(th_machine *m, int32_t task);
int th_hosts_start(th_machine *m, int32_t host);
int th_hosts_ended(th_machine *m, int32_t task);

/* machine.c: a task starts or ends now. */
void th_machine_task_starts(th_machine *m, int32_t task, int32_t cause);
int th_machine_task_ends(th_machine *m, int32_t task, th_error *err);

#endif
