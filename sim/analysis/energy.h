/* SPDX-License-Identifier: GPL-3.0-or-later */
/* energy.h - the energy of a run in joules, from its program and its result; see
 * docs/models/energy.md. */
#ifndef TH_SIM_ANALYSIS_ENERGY_H
#define TH_SIM_ANALYSIS_ENERGY_H
#include "sim/design/compute_cost.h"
#include "sim/program/program.h"
#include "sim/program/result.h"
#include "topology/system.h"

/* What a result is of. costs: NULL if nothing computes. */
typedef struct th_energy_source {
    const th_system *system;
    const th_compute_cost_cache *costs;
    const th_program *program;
} th_energy_source;

/* True if the system has energies. */
bool th_energy_is_known(const th_system *s, const th_compute_cost_cache *costs);
/* Fills the energies of a result that is otherwise complete, of its layers too if it has layers. 0,
 * or -1 and nothing but has_energy has changed. */
int th_energy_of_run(const th_energy_source *of, th_result *r, th_error *err);
/* A lower bound of the energy of any run of the program: *dynamic_j plus *static_w times the run
 * time. 0 or -1. */
int th_energy_least(const th_energy_source *of, double *dynamic_j, double *static_w, th_error *err);

#endif
