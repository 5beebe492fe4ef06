/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auto.h - what a test makes goes at the end of the block that declares it, the last first:
 *
 *     auto_system *s = system_of(text);      th_system_free(s) at the end
 *     auto_strbuf text = TH_STRBUF_INIT;     th_strbuf_clear(&text)
 * A variable that is given away, or that lives until something is asked of what is left, is freed
 * by hand. The functions are declared again, so that a test includes the headers that it tests and
 * no others. */
#ifndef TH_TESTS_UNIT_AUTO_H
#define TH_TESTS_UNIT_AUTO_H
#include <gsl/gsl_rng.h>

#define AUTO(type) __attribute__((cleanup(end_of_##type))) type
#define AUTO_POINTER(type, release)                                                                \
    typedef struct type type;                                                                      \
    void release(type *it);                                                                        \
    static inline void end_of_##type(type **it)                                                    \
    {                                                                                              \
        release(*it);                                                                              \
    }
#define AUTO_VALUE(type, release)                                                                  \
    typedef struct type type;                                                                      \
    void release(type *it);                                                                        \
    static inline void end_of_##type(type *it)                                                     \
    {                                                                                              \
        release(it);                                                                               \
    }

static inline void end_of_gsl_rng(gsl_rng **it)
{
    gsl_rng_free(*it);
}
#define auto_rng AUTO(gsl_rng)

AUTO_VALUE(th_bounds, th_bounds_clear)
#define auto_bounds AUTO(th_bounds)
AUTO_POINTER(th_channels, th_channels_free)
#define auto_channels AUTO(th_channels)
AUTO_VALUE(th_collective_schedule, th_collective_schedule_clear)
#define auto_collective_schedule AUTO(th_collective_schedule)
AUTO_POINTER(th_completion_cache, th_completion_cache_free)
#define auto_completion_cache AUTO(th_completion_cache)
AUTO_POINTER(th_compute_cost_cache, th_compute_cost_cache_free)
#define auto_costs AUTO(th_compute_cost_cache)
AUTO_POINTER(th_config, th_config_close)
#define auto_config AUTO(th_config)
AUTO_POINTER(th_constraints, th_constraints_free)
#define auto_constraints AUTO(th_constraints)
AUTO_VALUE(th_csv, th_csv_clear)
#define auto_csv AUTO(th_csv)
AUTO_POINTER(th_evaluator, th_evaluator_free)
#define auto_evaluator AUTO(th_evaluator)
AUTO_POINTER(th_events, th_events_free)
#define auto_events AUTO(th_events)
AUTO_POINTER(th_front, th_front_free)
#define auto_front AUTO(th_front)
AUTO_VALUE(th_gpus, th_gpus_clear)
#define auto_gpus AUTO(th_gpus)
AUTO_POINTER(th_initial_generator, th_initial_free)
#define auto_initial_generator AUTO(th_initial_generator)
AUTO_POINTER(th_lower, th_lower_free)
#define auto_lower AUTO(th_lower)
AUTO_POINTER(th_machine, th_machine_free)
#define auto_machine AUTO(th_machine)
AUTO_POINTER(th_map, th_map_free)
#define auto_map AUTO(th_map)
AUTO_POINTER(th_mapping, th_mapping_free)
#define auto_mapping AUTO(th_mapping)
AUTO_POINTER(th_maxmin, th_maxmin_free)
#define auto_maxmin AUTO(th_maxmin)
AUTO_POINTER(th_measurements, th_measurements_free)
#define auto_measurements AUTO(th_measurements)
AUTO_VALUE(th_mlp, th_mlp_clear)
#define auto_mlp AUTO(th_mlp)
AUTO_POINTER(th_plans, th_plans_free)
#define auto_plans AUTO(th_plans)
AUTO_POINTER(th_pool, th_pool_free)
#define auto_pool AUTO(th_pool)
AUTO_POINTER(th_predictor, th_predictor_free)
#define auto_predictor AUTO(th_predictor)
AUTO_POINTER(th_program, th_program_free)
#define auto_program AUTO(th_program)
AUTO_VALUE(th_result, th_result_clear)
#define auto_result AUTO(th_result)
AUTO_POINTER(th_script_memo, th_script_memo_free)
#define auto_script_memo AUTO(th_script_memo)
AUTO_POINTER(th_search, th_search_free)
#define auto_search AUTO(th_search)
AUTO_VALUE(th_serializer, th_serializer_clear)
#define auto_serializer AUTO(th_serializer)
AUTO_VALUE(th_set_tree, th_set_tree_clear)
#define auto_set_tree AUTO(th_set_tree)
AUTO_POINTER(th_shared_map, th_shared_map_free)
#define auto_shared_map AUTO(th_shared_map)
AUTO_VALUE(th_strbuf, th_strbuf_clear)
#define auto_strbuf AUTO(th_strbuf)
AUTO_POINTER(th_system, th_system_free)
#define auto_system AUTO(th_system)
AUTO_POINTER(th_time_table, th_time_table_free)
#define auto_time_table AUTO(th_time_table)
AUTO_POINTER(th_trace, th_trace_free)
#define auto_trace AUTO(th_trace)
AUTO_VALUE(th_trees, th_trees_clear)
#define auto_trees AUTO(th_trees)
AUTO_POINTER(th_user_schedule, th_user_schedule_free)
#define auto_user_schedule AUTO(th_user_schedule)
AUTO_POINTER(th_worker, th_worker_free)
#define auto_worker AUTO(th_worker)
AUTO_POINTER(th_workload, th_workload_free)
#define auto_workload AUTO(th_workload)

#endif
