# mapper/ - from a mapping to a program, and the search for a good one.
libtharsis_la_SOURCES += \
	mapper/bounds.c \
	mapper/bounds.h \
	mapper/bounds_cut.c \
	mapper/bounds_layer.c \
	mapper/bounds_layer.h \
	mapper/bounds_price.c \
	mapper/bounds_rate.c \
	mapper/bounds_state.h \
	mapper/bounds_task.c \
	mapper/bounds_task.h \
	mapper/bounds_unknown.c \
	mapper/due.c \
	mapper/due.h \
	mapper/evaluate.c \
	mapper/evaluate.h \
	mapper/lower/emit.c \
	mapper/lower/emit.h \
	mapper/lower/capacity.c \
	mapper/lower/capacity.h \
	mapper/lower/footprint.c \
	mapper/lower/footprint.h \
	mapper/lower/lower.c \
	mapper/lower/lower.h \
	mapper/lower/lower_serial.c \
	mapper/lower/lower_serial.h \
	mapper/lower/lower_state.h \
	mapper/lower/plan.c \
	mapper/lower/plan.h \
	mapper/lower/plan_edge.c \
	mapper/lower/plan_layer.c \
	mapper/lower/plan_serial.c \
	mapper/lower/plan_state.h \
	mapper/lower/plan_alike.c \
	mapper/lower/plan_time.c \
	mapper/lower/shard.c \
	mapper/lower/shard.h \
	mapper/mapping.c \
	mapper/mapping.h \
	mapper/mapping_read.c \
	mapper/mapping_read.h \
	mapper/objective.c \
	mapper/objective.h \
	mapper/pool/pool.c \
	mapper/pool/pool.h \
	mapper/pool/pool_threads.c \
	mapper/pool/wire.c \
	mapper/pool/wire.h \
	mapper/pool/wire_problem.c \
	mapper/pool/wire_system.c \
	mapper/pool/worker.c \
	mapper/pool/worker.h \
	mapper/search/alternatives.c \
	mapper/search/alternatives.h \
	mapper/search/annealing.c \
	mapper/search/baseline.c \
	mapper/search/baseline.h \
	mapper/search/baseline_greedy.c \
	mapper/search/baseline_herald.c \
	mapper/search/baseline_pipeline.c \
	mapper/search/baseline_single.c \
	mapper/search/baseline_uniform.c \
	mapper/search/breed.c \
	mapper/search/breed.h \
	mapper/search/breed_seed.c \
	mapper/search/brood.c \
	mapper/search/checkpoint.c \
	mapper/search/checkpoint.h \
	mapper/search/constraints.c \
	mapper/search/constraints.h \
	mapper/search/dp.c \
	mapper/search/exhaustive.c \
	mapper/search/front.c \
	mapper/search/front.h \
	mapper/search/ga.c \
	mapper/search/h2h.c \
	mapper/search/journal.c \
	mapper/search/journal.h \
	mapper/search/knapsack.c \
	mapper/search/level1.c \
	mapper/search/level1.h \
	mapper/search/level1_ability.c \
	mapper/search/level1_kinds.c \
	mapper/search/level1_layers.c \
	mapper/search/level1_state.h \
	mapper/search/nsga2.c \
	mapper/search/polish.c \
	mapper/search/portfolio.c \
	mapper/search/prefix.c \
	mapper/search/prefix.h \
	mapper/search/prefix_path.c \
	mapper/search/prefix_path.h \
	mapper/search/prefix_rest.c \
	mapper/search/prefix_rest.h \
	mapper/search/random_search.c \
	mapper/search/remember.c \
	mapper/search/remember.h \
	mapper/search/search.c \
	mapper/search/search.h \
	mapper/search/searches.h \
	mapper/search/seed.c \
	mapper/search/seed.h \
	mapper/search/seed_programme.c \
	mapper/search/seed_state.h \
	mapper/search/seed_transition.c \
	mapper/search/seed_warm.c \
	mapper/search/sets.c \
	mapper/search/sets.h \
	mapper/search/strategies.c \
	mapper/search/strategies.h \
	mapper/search/two_level.c \
	mapper/segment.c \
	mapper/segment.h \
	mapper/segment_cut.c \
	mapper/segment_pieces.c \
	mapper/segment_pieces.h \
	mapper/segment_state.h

unit_tests += \
	tests/unit/test_alternatives \
	tests/unit/test_baseline \
	tests/unit/test_bounds \
	tests/unit/test_bounds_unlike \
	tests/unit/test_brood \
	tests/unit/test_constraints \
	tests/unit/test_evaluate \
	tests/unit/test_exhaustive \
	tests/unit/test_front \
	tests/unit/test_h2h \
	tests/unit/test_infeasible \
	tests/unit/test_journal \
	tests/unit/test_large_sets \
	tests/unit/test_level1 \
	tests/unit/test_lower \
	tests/unit/test_lower_random \
	tests/unit/test_mapping \
	tests/unit/test_mapping_read \
	tests/unit/test_multi_model \
	tests/unit/test_objective \
	tests/unit/test_plan \
	tests/unit/test_plan_kinds \
	tests/unit/test_pool \
	tests/unit/test_search \
	tests/unit/test_search_candidates \
	tests/unit/test_search_random \
	tests/unit/test_segment \
	tests/unit/test_sets \
	tests/unit/test_shard \
	tests/unit/test_shard_kinds \
	tests/unit/test_strategies \
	tests/unit/test_wire \
	tests/unit/test_worker \
	tests/unit/test_write

tests_unit_test_segment_SOURCES = tests/unit/test_segment.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_test_bounds_SOURCES = tests/unit/test_bounds.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_test_bounds_unlike_SOURCES = tests/unit/test_bounds_unlike.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_test_exhaustive_SOURCES = tests/unit/test_exhaustive.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_test_lower_random_SOURCES = tests/unit/test_lower_random.c \
	tests/unit/lower_oracle.c tests/unit/lower_oracle.h \
	tests/unit/element_model.c tests/unit/element_model.h \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_test_constraints_SOURCES = tests/unit/test_constraints.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_test_search_random_SOURCES = tests/unit/test_search_random.c \
	tests/unit/random_net.c tests/unit/random_net.h

EXTRA_DIST += tests/unit/map_help.h tests/unit/search_help.h tests/unit/search_main.h tests/unit/pool_help.h
