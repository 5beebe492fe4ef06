/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objective.h - the value that a search minimises, computed from the metrics of a replay. */
#ifndef TH_MAPPER_EVALUATE_OBJECTIVE_H
#define TH_MAPPER_EVALUATE_OBJECTIVE_H
#include <stdbool.h>
#include "base/units.h"

typedef enum {
    TH_OBJECTIVE_LATENCY,
    TH_OBJECTIVE_THROUGHPUT,
    TH_OBJECTIVE_ENERGY,
    TH_OBJECTIVE_EDP,     /* energy times latency */
    TH_OBJECTIVE_WEIGHTED /* a sum of the others */
} th_objective;
enum { TH_N_TERMS = TH_OBJECTIVE_WEIGHTED }; /* objectives that a weighted sum can have */
enum { TH_FRONT_MAX = TH_N_TERMS };          /* objectives of a Pareto front */

/* What a replay measures. */
typedef struct th_metrics {
    th_time latency_ps;  /* the makespan */
    th_time interval_ps; /* mean time between batches, in the steady state; one: the makespan */
    th_time lateness_ps; /* past the deadlines, summed; 0: in time, or there is none */
    double energy_j;     /* of the whole run; 0 if the objective does not need it */
} th_metrics;

/* One objective, or the first of a front. */
typedef struct th_goal {
    th_objective objective;
    double weight[TH_N_TERMS]; /* of a weighted sum: per s, s, J and J s */
    int n_front;               /* 0: a single objective; else 2 .. TH_FRONT_MAX of them, no sum */
    th_objective front[TH_FRONT_MAX];
    th_time deadline_ps; /* of the whole run; 0: none */
} th_goal;

/* "latency" "throughput" "energy" "edp"; NULL after the last. */
const char *th_objective_name(int i);
bool th_goal_needs_energy(const th_goal *g);

/* Less is better. Latency and throughput in ps, energy in J, EDP in J s; a weighted sum in the
 * unit that its weights give it. Deadlines do not count. */
double th_goal_value(const th_goal *g, const th_metrics *m);
double th_objective_value(th_objective o, const th_metrics *m); /* of a term */

/* A mapping that misses a deadline is worse than any that misses none, and the worse the later:
 * its value is this many times the ps that it is late. */
#define TH_LATE_VALUE 0x1p80
double th_goal_fitness(const th_goal *g, const th_metrics *m);

/* A lower bound on energy: a constant part, and static power. */
typedef struct th_energy_floor {
    double dynamic_j, static_w;
} th_energy_floor;

/* A makespan beyond which no run has a fitness of bound or less. is_sole_input: the stream has one
 * input. floor is read if th_goal_needs_energy. */
th_time th_goal_stop(const th_goal *g, double bound, bool is_sole_input,
                     const th_energy_floor *floor);

#endif
