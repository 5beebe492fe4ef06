/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h - the state that commands work on: problem, mapping, run, saved runs. There are no
 * globals.
 *
 *   init -> (set_system -> (set_workload -> set_mapping | set_made) -> simulation)* -> clear
 * Each setter takes what it is given and drops what no longer fits: a new system or workload drops
 * the mapping, a new mapping drops the run. A program made by hand stands in the place of workload
 * and mapping: it drops both, and either of them drops it. Saved runs are figures and outlive all
 * of it. */
#ifndef TH_REPORT_SESSION_SESSION_H
#define TH_REPORT_SESSION_SESSION_H
#include "mapper/evaluate/bounds.h"
#include "mapper/search/front.h"
#include "mapper/search/search.h"
#include "sim/observe/event_recorder.h"
#include "sim/trace/trace.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "report/session/hand_built.h"
#include "report/table/quantity.h"
#include "report/session/simulation.h"

typedef struct th_session th_session;

/* How the mapping came about; what report_search prints. */
typedef struct th_searched {
    const th_search_type *type; /* NULL: the mapping was read from a file */
    th_goal goal;
    uint64_t seed;
    bool inside_groups;
    th_initial_kind seeds;
    int64_t budget; /* of evaluations; INT64_MAX: none */
    double seconds; /* budget of wall time; 0: none */
    double elapsed_s;
    int64_t evaluations, infeasible, stopped, found_at;
    th_segment_counts segments;
    th_fitness fitness;
    th_improvement *found; /* every best so far; the session's */
    size_t n_found;
    th_front *front;    /* NULL: the objective was a single one; the session's */
    int selected;       /* of the front: the mapping at hand */
    th_run_options run; /* stream and network that fitness was found under */
    th_cuts cuts;       /* of mappings that the search could meet */
    int64_t nodes, pruned;
    bool is_proven; /* no mapping is better; of those that the search looks at */
} th_searched;

/* The figures of a finished run under a name. */
typedef struct th_saved_run {
    char *name, *system;
    char *workload;   /* NULL: a program made by hand */
    char *program;    /* its name; NULL: a workload under a mapping */
    char mapping[20]; /* digest of the mapping or the program */
    char algorithm[40];
    bool has_seed; /* it was searched for, not a baseline and not from a file */
    uint64_t seed;
    char network[TH_NETWORK_TEXT_MAX];
    int32_t batch, n_inputs;
    th_time latency_ps, makespan_ps;
    double throughput_per_s;       /* samples; of a program made by hand 0 */
    double batch_throughput_per_s; /* inputs of the stream */
    int64_t samples;               /* of one of them */
    double link_utilization, accel_utilization;
    int64_t network_bytes;
    bool has_energy; /* the system says what things cost */
    double energy_j;
    struct th_change_list *changes;   /* report/session/property_event_list.h; never NULL */
    struct th_saved_figures *figures; /* report/session/saved_figures.h; never NULL */
} th_saved_run;

/* Called when what names and breakpoints refer to is replaced. */
typedef struct th_session_observer {
    int (*run_replaced)(th_session *s, th_error *err); /* s->simulation is a new one; 0 or -1 */
    void (*objects_dropped)(th_session *s,
                            bool of_system); /* false: only of workload and program */
} th_session_observer;

/* What report/objects/ keeps between two questions. */
typedef struct th_object_text {
    int32_t links_of_task; /* the collective that task_links is about; -1: none */
    bool *task_links;
    th_strbuf scratch; /* text of the attribute asked for last */
} th_object_text;

struct th_session {
    const th_session_observer *observer; /* NULL: none */
    int threads;
    const th_pool_type *pool;      /* of searches; NULL: threads */
    bool is_quiet;                 /* no progress lines */
    const char *units[TH_N_KINDS]; /* of reports in text, by th_kind; NULL: whatever suits */
    th_script_memo *scripts;       /* what procedures of script designs of this system answered */
    th_system *system;
    th_workload *workload;
    th_mapping *mapping;
    th_searched searched;      /* while there is a mapping */
    th_made *made;             /* in the place of workload and mapping; NULL: none */
    th_run_options defaults;   /* of the next run: what map_workload was told */
    th_simulation *simulation; /* NULL: no run yet */
    th_saved_run **runs;
    size_t n_runs, run_capacity;
    th_trace *trace; /* NULL: none is open */
    struct th_made_alteration
        *changes; /* of the present run, see report/session/property_events.h */
    size_t n_changes, change_capacity;
    struct th_learned *learned; /* of GPUs */
    th_object_text text;
};

int th_session_init(th_session *s,
                    const th_session_observer *observer); /* 0, or -1: memory is out */
void th_session_clear(th_session *s);                     /* the trace must be closed */

/* All of these own what they get from then on. */
void th_session_set_system(th_session *s, th_system *system);
void th_session_set_workload(th_session *s, th_workload *workload);
void th_session_set_mapping(th_session *s, th_mapping *mapping, const th_searched *how);
/* The mapping becomes member number of the front, which stays; 0, or -1: memory is out. */
int th_session_select(th_session *s, int number, th_error *err);
void th_session_set_made(th_session *s, th_made *made);
void th_session_drop_run(th_session *s);
/* The made program is about to grow: refused once it has begun to run. 0 or -1. */
int th_session_open_made(th_session *s, th_error *err);

/* 0, or -1 with the command that would provide what is missing. */
int th_session_need_problem(th_session *s, th_error *err); /* system and workload */
int th_session_need_system(th_session *s, th_error *err);
int th_session_need_workload(th_session *s, th_error *err);
int th_session_need_mapping(th_session *s, th_error *err);
/* Something that can be simulated: a mapping, or a made program that has tasks. */
int th_session_need_program(th_session *s, th_error *err);
int th_session_need_front(th_session *s, th_error *err); /* of the search that found the mapping */
int th_session_need_run(th_session *s, th_error *err);   /* one that has begun */
int th_session_need_no_trace(th_session *s, th_error *err); /* it refers to system and workload */

/* A run at time 0 of what the session holds, not yet its own. NULL on failure. */
th_simulation *th_session_new_simulation(th_session *s, const th_run_options *o, th_error *err);
/* fresh becomes the session's run, in the place of another one, and is watched; -1: it is freed. */
int th_session_take_simulation(th_session *s, th_simulation *fresh, th_error *err);
/* The same for a run that has begun, as a checkpoint left it. */
int th_session_keep_simulation(th_session *s, th_simulation *fresh, th_error *err);
/* The present run, or one lowered now and still at time 0. NULL on failure. */
th_simulation *th_session_simulation(th_session *s, th_error *err);

/* The tasks that are or would be simulated, as far as they are known: NULL before a mapping is
 * lowered. */
const th_program *th_session_program(const th_session *s);

/* Collective number of those tasks: as it runs, once it has been expanded; else as the program has
 * it. */
const th_collective *th_session_collective(const th_session *s, int32_t number);

/* 16 hexadecimal digits over the mapping's text or the made program, "-" without either. */
char *th_session_digest(const th_session *s, char *out, size_t size);

/* 16 hexadecimal digits each over all that system and workload hold, wherever they were read from;
 * "-" for a workload that there is not. 0, or -1: memory is out. */
int th_session_input_digests(const th_session *s, char *system, char *workload, size_t size);

#endif
