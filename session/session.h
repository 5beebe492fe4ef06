/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h - the state that commands work on: problem, mapping, run, saved runs. There are no
 * globals.
 *
 *   init -> (set_system -> (set_workload -> set_mapping | set_hand_built) -> simulation)* -> clear
 * Each setter takes ownership of its argument and drops the state that depends on the old one: a
 * new system or workload drops the mapping, a new mapping drops the run. A hand-built program
 * replaces workload and mapping: it drops both, and either of them drops it. Saved programs live as
 * long as the system. Saved runs contain results only and outlive all of it. */
#ifndef TH_SESSION_SESSION_H
#define TH_SESSION_SESSION_H
#include "mapper/evaluate/bounds.h"
#include "mapper/search/front.h"
#include "mapper/search/search.h"
#include "sim/observe/event_recorder.h"
#include "sim/trace/trace.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "session/hand_built.h"
#include "session/table/quantity.h"
#include "session/progress.h"
#include "session/simulation.h"

typedef struct th_session th_session;
struct th_report; /* session/table/report.h */

/* How the mapping was found; what report_search prints. */
typedef struct th_search_record {
    const th_search_type *type; /* NULL: the mapping was read from a file */
    th_goal goal;
    uint64_t seed;
    bool inside_groups;
    th_initial_kind initial; /* the mappings that the search started from */
    int64_t budget;          /* of evaluations; INT64_MAX: none */
    double seconds;          /* budget of wall time; 0: none */
    double elapsed_s;
    int64_t evaluations, infeasible, stopped_early;
    int64_t found_at; /* the evaluation that found the best mapping */
    th_segment_counts segments;
    th_fitness fitness;
    th_improvement *improvements; /* of the best value, in the order found; owned */
    size_t n_improvements;
    th_front *front;    /* of several objectives; NULL: there was one; owned */
    int selected;       /* the member of the front that is the session's mapping */
    th_run_options run; /* stream and network of the search */
    th_cuts cuts;       /* in the search space */
    int chunks;         /* of a shard, at most, there */
    const char *space;  /* what the search may make; a constant */
    int64_t nodes;      /* of an exhaustive search */
    bool is_proven;     /* no mapping of the search space is better */
    /* The bound of all mappings, once asked for; where it holds for some mappings alone, and where
     * procedures of script designs say how long layers take, it is not kept. */
    double bound;
    bool has_bound;
} th_search_record;

/* Models as bits by their place in th_model_errors (session/model_error.h): those that a run
 * used, and of these the ones outside of what their error was measured on. */
typedef struct th_models {
    uint32_t used, outside;
} th_models;

/* Of what a saved run keeps figures; its columns: session/objects/figures.h. */
typedef enum {
    TH_SAVED_RUNS,
    TH_SAVED_LAYERS,
    TH_SAVED_ACCELS,
    TH_SAVED_LINKS,
    TH_N_SAVED
} th_saved_class;

/* The figures of a finished run under a name. */
typedef struct th_saved_run {
    char *name;
    th_quantity *cells[TH_N_SAVED]; /* rows of each class, n x n_columns; of runs there is one */
    int32_t n[TH_N_SAVED], n_columns[TH_N_SAVED];
    th_models models;
    struct th_property_event_list *events; /* session/property_event_list.h; never NULL */
    char *page; /* what a page of two runs shows besides: render/html/html.h; NULL: none */
    struct th_arena *arena; /* of the texts */
} th_saved_run;

/* Saved runs and programs, and the property events that set_property and inject_fault applied to
 * the run. */
typedef struct th_saved_runs {
    th_saved_run **all;
    size_t n, capacity;
} th_saved_runs;

/* Programs kept by save_program, under different names. */
typedef struct th_saved_programs {
    th_hand_built **all;
    size_t n, capacity;
} th_saved_programs;

typedef struct th_applied_events {
    struct th_applied_event *all; /* session/property_events.h */
    size_t n, capacity;
    size_t n_kept; /* the first ones: faults that a run before had, of the session */
} th_applied_events;

/* Callbacks when objects are replaced that names and breakpoints refer to. */
typedef struct th_session_observer {
    int (*run_replaced)(th_session *s, th_error *err); /* s->simulation is a new one; 0 or -1 */
    void (*objects_dropped)(th_session *s,
                            bool of_system); /* false: only workload and program are */
    /* Adds the tables of a report that is Tcl: "report_links {used 1}". 0 or -1. */
    int (*tables)(th_session *s, const char *call, struct th_report *r, th_error *err);
} th_session_observer;

/* The language model that plans of parallelism are for. */
typedef struct th_session_model {
    char name[64]; /* "": there is none */
    th_transformer shape;
    int32_t sequence;
    th_train_precision precision;
    th_recompute recompute;
    double expert_skew;
} th_session_model;

/* Cache and buffer of session/objects/. */
typedef struct th_object_text {
    int32_t links_of_task; /* collective that task_links belongs to; -1: none */
    bool *task_links;
    th_strbuf scratch; /* text of the attribute read last */
} th_object_text;

/* Reports that take long to compute, which a page shows again. */
enum { TH_KEPT_REPORTS_MAX = 4 };

struct th_session {
    const th_session_observer *observer; /* NULL: none */
    int threads;
    const th_pool_type *pool;      /* of searches; NULL: threads */
    bool is_quiet;                 /* no progress lines */
    const char *units[TH_N_KINDS]; /* of reports in text, by th_kind; NULL: chosen by value */
    th_script_memo *scripts;       /* results of the procedures of script designs */
    th_system *system;
    th_workload *workload;
    th_mapping *mapping;
    th_search_record search; /* that found the mapping */
    th_session_model model;
    th_hand_built *hand_built; /* instead of workload and mapping; NULL: none */
    th_saved_programs programs;
    th_run_options defaults;        /* of the next run: those of map_workload */
    th_simulation *simulation;      /* NULL: no run yet, or it is due */
    th_network_options network;     /* of set_network: of all models */
    bool run_is_due;                /* properties of the run changed; it is made when looked at */
    th_collective_choices *choices; /* of the tuner, on the system */
    th_progress choosing;           /* its line */
    th_saved_runs saved;
    th_applied_events events; /* of the present run */
    th_trace *trace;          /* NULL: none is open */
    struct th_gpu_models *gpu_models;
    th_object_text text;
    struct th_report *kept[TH_KEPT_REPORTS_MAX]; /* of the mapping, from the first; NULL: none */
};

/* session_parts.c, as the setters and the functions of simulations below. */
int th_session_init(th_session *s,
                    const th_session_observer *observer); /* 0, or -1: memory is out */
void th_session_clear(th_session *s);                     /* the trace must be closed */

/* These take over their arguments. */
void th_session_set_system(th_session *s, th_system *system);
void th_session_set_workload(th_session *s, th_workload *workload);
void th_session_set_mapping(th_session *s, th_mapping *mapping, const th_search_record *how);
/* Makes a member of the front the mapping of the session; the front stays. 0, or -1: memory is
 * out. */
int th_session_select(th_session *s, int number, th_error *err);
void th_session_set_model(th_session *s, const th_session_model *model); /* copied */
void th_session_set_hand_built(th_session *s, th_hand_built *hand_built);
void th_session_drop_run(th_session *s);
/* Keeps a report until the mapping, the program or the options of the run change, in the place of
 * one of its name; takes it over. */
void th_session_keep_report(th_session *s, struct th_report *r);
/* NULL: none of that name is kept. */
struct th_report *th_session_kept_report(const th_session *s, const char *name);
/* Call before the hand-built program grows: refused once it has begun to run. 0 or -1. */
int th_session_open_hand_built(th_session *s, th_error *err);

/* 0, or -1: err names the command that provides what is missing. */
int th_session_need_problem(th_session *s, th_error *err); /* system and workload */
int th_session_need_system(th_session *s, th_error *err);
int th_session_need_workload(th_session *s, th_error *err);
int th_session_need_mapping(th_session *s, th_error *err);
/* A mapping, or a hand-built program with tasks. */
int th_session_need_program(th_session *s, th_error *err);
int th_session_need_front(th_session *s, th_error *err); /* of the search that found the mapping */
int th_session_need_run(th_session *s, th_error *err);   /* one that has begun */
int th_session_need_no_trace(th_session *s, th_error *err); /* it refers to system and workload */
/* No step of training of which one rank stands for others, on delays in place of messages. */
int th_session_need_every_rank(th_session *s, th_error *err);

/* A new run of the session, at time 0, which the session does not own yet. NULL on failure. */
th_simulation *th_session_new_simulation(th_session *s, const th_run_options *o, th_error *err);
/* Makes fresh the run of the session, replacing its present one, and attaches observers; -1: fresh
 * is freed, and the present one stays. */
int th_session_take_simulation(th_session *s, th_simulation *fresh, th_error *err);
/* The same for a run restored from a checkpoint. */
int th_session_keep_simulation(th_session *s, th_simulation *fresh, th_error *err);
/* Gives o what set_network says of the options of o's network model. */
void th_session_use_network(const th_session *s, th_run_options *o);
/* The other way: what a run has becomes what set_network says. */
void th_session_take_network(th_session *s, const th_run_options *o);
/* The present run, or a new one at time 0. NULL on failure. */
th_simulation *th_session_simulation(th_session *s, th_error *err);
/* Makes the run if it is due: to be called before anything looks at s->simulation. 0, or -1: memory
 * is out, or it was interrupted. A program that cannot run is no error before it runs. */
int th_session_make_due_run(th_session *s, th_error *err);

/* The workload under these options, on the session's system or a changed one. */
th_problem th_session_problem(const th_session *s, const th_system *system,
                              const th_run_options *o);
/* The step of training that the program is; NULL: none. */
const th_training_step *th_session_step(const th_session *s);

/* The tasks of the run, or of the hand-built program; NULL before a mapping is lowered. */
const th_program *th_session_program(const th_session *s);

/* The collective of this number in those tasks, expanded once it has run. */
const th_collective *th_session_collective(const th_session *s, int32_t number);

/* 16 hexadecimal digits over the text of the mapping or the hand-built program; "-" without
 * either. */
char *th_session_digest(const th_session *s, char *out, size_t size);
/* "fp16", "int8/int4" where tensors differ; of a step of training that of its plan; "" without
 * either. */
char *th_session_precision(const th_session *s, char *out, size_t size);

/* Digests of the contents of system and workload, 16 hexadecimal digits each, independent of the
 * files; "-" without a workload. 0, or -1: memory is out. */
int th_session_input_digests(const th_session *s, char *system, char *workload, size_t size);

#endif
