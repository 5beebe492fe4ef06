# mapper/ - from a mapping to a program, and the search for a good one.
libtharsis_la_SOURCES += \
	mapper/alternatives.c \
	mapper/alternatives.h \
	mapper/annealing.c \
	mapper/baseline.c \
	mapper/baseline.h \
	mapper/baseline_greedy.c \
	mapper/baseline_herald.c \
	mapper/baseline_pipeline.c \
	mapper/baseline_single.c \
	mapper/baseline_uniform.c \
	mapper/bounds.c \
	mapper/bounds.h \
	mapper/bounds_layer.c \
	mapper/bounds_layer.h \
	mapper/breed.c \
	mapper/breed.h \
	mapper/checkpoint.c \
	mapper/checkpoint.h \
	mapper/constraints.c \
	mapper/constraints.h \
	mapper/due.c \
	mapper/due.h \
	mapper/breed_seed.c \
	mapper/dp.c \
	mapper/emit.c \
	mapper/emit.h \
	mapper/evaluate.c \
	mapper/evaluate.h \
	mapper/exhaustive.c \
	mapper/footprint.c \
	mapper/footprint.h \
	mapper/front.c \
	mapper/front.h \
	mapper/journal.c \
	mapper/journal.h \
	mapper/h2h.c \
	mapper/knapsack.c \
	mapper/ga.c \
	mapper/level1.c \
	mapper/level1.h \
	mapper/level1_ability.c \
	mapper/level1_kinds.c \
	mapper/level1_layers.c \
	mapper/level1_state.h \
	mapper/lower.c \
	mapper/lower.h \
	mapper/lower_serial.c \
	mapper/lower_serial.h \
	mapper/lower_state.h \
	mapper/mapping.c \
	mapper/mapping.h \
	mapper/mapping_read.c \
	mapper/mapping_read.h \
	mapper/nsga2.c \
	mapper/objective.c \
	mapper/objective.h \
	mapper/plan.c \
	mapper/plan.h \
	mapper/plan_edge.c \
	mapper/plan_layer.c \
	mapper/plan_serial.c \
	mapper/plan_state.h \
	mapper/plan_time.c \
	mapper/pool.c \
	mapper/polish.c \
	mapper/pool.h \
	mapper/pool_threads.c \
	mapper/portfolio.c \
	mapper/prefix.c \
	mapper/prefix.h \
	mapper/random_search.c \
	mapper/remember.c \
	mapper/remember.h \
	mapper/search.c \
	mapper/search.h \
	mapper/searches.h \
	mapper/seed.c \
	mapper/seed.h \
	mapper/seed_programme.c \
	mapper/seed_state.h \
	mapper/segment.c \
	mapper/segment.h \
	mapper/segment_pieces.c \
	mapper/segment_pieces.h \
	mapper/sets.c \
	mapper/sets.h \
	mapper/shard.c \
	mapper/shard.h \
	mapper/strategies.c \
	mapper/strategies.h \
	mapper/two_level.c \
	mapper/wire.c \
	mapper/wire.h \
	mapper/wire_problem.c \
	mapper/wire_system.c \
	mapper/worker.c \
	mapper/worker.h

unit_tests += \
	tests/unit/test_alternatives \
	tests/unit/test_baseline \
	tests/unit/test_constraints \
	tests/unit/test_bounds \
	tests/unit/test_evaluate \
	tests/unit/test_front \
	tests/unit/test_h2h \
	tests/unit/test_exhaustive \
	tests/unit/test_infeasible \
	tests/unit/test_journal \
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
	tests/unit/test_search_random \
	tests/unit/test_segment \
	tests/unit/test_sets \
	tests/unit/test_shard \
	tests/unit/test_shard_kinds \
	tests/unit/test_strategies \
	tests/unit/test_wire \
	tests/unit/test_worker

tests_unit_test_segment_SOURCES = tests/unit/test_segment.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_test_bounds_SOURCES = tests/unit/test_bounds.c \
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

EXTRA_DIST += tests/unit/map_help.h
