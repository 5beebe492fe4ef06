# mapper/ - from a mapping to a program, and the search for a good one.
libtharsis_a_SOURCES += \
	mapper/constraints.c mapper/constraints.h \
	mapper/generator.h \
	mapper/mapping.c mapper/mapping.h \
	mapper/mapping_read.c mapper/mapping_read.h mapper/mapping_sets.c \
	mapper/shard.c mapper/shard.h mapper/strategy.c \
	mapper/strategies.c mapper/strategies.h \
	mapper/evaluate/bounds.c mapper/evaluate/bounds.h \
	mapper/evaluate/bounds_cut.c \
	mapper/evaluate/bounds_layer.c mapper/evaluate/bounds_layer.h \
	mapper/evaluate/bounds_price.c \
	mapper/evaluate/bounds_rate.c \
	mapper/evaluate/bounds_chain.c mapper/evaluate/bounds_chain.h \
	mapper/evaluate/bounds_cuts.c mapper/evaluate/bounds_cuts.h \
	mapper/evaluate/bounds_options.c mapper/evaluate/bounds_options.h \
	mapper/evaluate/bounds_travel.c mapper/evaluate/bounds_travel.h \
	mapper/evaluate/bounds_shard.c \
	mapper/evaluate/bounds_state.c mapper/evaluate/bounds_state.h \
	mapper/evaluate/bounds_task.c mapper/evaluate/bounds_task.h \
	mapper/evaluate/bounds_unknown.c \
	mapper/evaluate/deadline.c mapper/evaluate/deadline.h \
	mapper/evaluate/evaluate.c mapper/evaluate/evaluate.h \
	mapper/evaluate/objective.c mapper/evaluate/objective.h \
	mapper/search/repair.c mapper/search/repair.h \
	mapper/search/survival.c mapper/search/survival.h \
	mapper/evaluate/segment.c mapper/evaluate/segment.h \
	mapper/evaluate/segment_cut.c \
	mapper/evaluate/segment_pieces.c mapper/evaluate/segment_pieces.h \
	mapper/evaluate/segment_state.h \
	mapper/lower/capacity.c mapper/lower/capacity.h \
	mapper/lower/emit.c mapper/lower/emit.h \
	mapper/lower/footprint.c mapper/lower/footprint.h \
	mapper/lower/knapsack.c mapper/lower/knapsack.h \
	mapper/lower/lower.c mapper/lower/lower.h \
	mapper/lower/lower_plan.c \
	mapper/lower/lower_serial.c mapper/lower/lower_serial.h \
	mapper/lower/lower_state.h \
	mapper/lower/plan.c mapper/lower/plan.h \
	mapper/lower/plan_edge.c \
	mapper/lower/plan_layer.c \
	mapper/lower/plan_lookup.c \
	mapper/lower/plan_serial.c \
	mapper/lower/plan_state.h \
	mapper/lower/plan_time.c mapper/lower/plan_route.c mapper/lower/plan_bound.c \
	mapper/lower/plan_transition.c \
	mapper/lower/stream.c mapper/lower/stream.h \
	mapper/pool/pool.c mapper/pool/pool.h \
	mapper/pool/pool_threads.c \
	mapper/pool/worker.c mapper/pool/worker.h \
	mapper/search/alternatives.c mapper/search/alternatives.h \
	mapper/search/enumeration.c mapper/search/enumeration.h \
	mapper/search/front.c mapper/search/front.h \
	mapper/search/search.c mapper/search/search.h \
	mapper/search/search_options.h \
	mapper/search/search_types.c \
	mapper/search/searches.h \
	mapper/search/space.c mapper/search/space.h \
	mapper/search/algorithms/annealing.c \
	mapper/search/algorithms/dp.c \
	mapper/search/algorithms/exhaustive.c \
	mapper/search/algorithms/nsga2.c \
	mapper/search/algorithms/polish.c \
	mapper/search/algorithms/polish_moves.c mapper/search/algorithms/polish_moves.h \
	mapper/search/algorithms/portfolio.c \
	mapper/search/algorithms/random_search.c \
	mapper/search/algorithms/two_level.c \
	mapper/search/baselines/baseline.c mapper/search/baselines/baseline.h \
	mapper/search/baselines/baseline_greedy.c \
	mapper/search/baselines/baseline_pipeline.c \
	mapper/search/baselines/baseline_single.c \
	mapper/search/baselines/baseline_uniform.c \
	mapper/search/baselines/computation_prioritized.c \
	mapper/search/baselines/h2h.c \
	mapper/search/initial/choices.c \
	mapper/search/initial/dynamic_programming.c \
	mapper/search/initial/initial_mapping.c mapper/search/initial/initial_mapping.h \
	mapper/search/initial/initial_mapping_state.h \
	mapper/search/initial/ranking.c \
	mapper/search/initial/transition.c \
	mapper/search/partition/heterogeneous_sets.c \
	mapper/search/partition/candidates.c \
	mapper/search/partition/capability.c \
	mapper/search/partition/design_vectors.c \
	mapper/search/partition/layer_assignment.c \
	mapper/search/partition/partition.c mapper/search/partition/partition.h \
	mapper/search/partition/partition_state.h \
	mapper/search/partition/sets.c mapper/search/partition/sets.h \
	mapper/search/variation/initial_batch.c \
	mapper/search/variation/members.c mapper/search/variation/members.h \
	mapper/search/variation/over_time.c mapper/search/variation/over_time.h \
	mapper/search/variation/offspring.c \
	mapper/search/variation/variation.c mapper/search/variation/variation.h \
	mapper/search/variation/wide.c mapper/search/variation/wide.h \
	mapper/serialize/serializer.c mapper/serialize/serializer.h \
	mapper/serialize/serializer_inputs.c \
	mapper/serialize/serializer_problem.c

unit_tests += \
	tests/unit/mapper/search/test_alternatives \
	tests/unit/mapper/search/test_baseline \
	tests/unit/mapper/test_bounds \
	tests/unit/mapper/test_bounds_chain \
	tests/unit/mapper/test_bounds_heterogeneous \
	tests/unit/mapper/test_bounds_random \
	tests/unit/mapper/test_serial_times \
	tests/unit/mapper/search/test_members \
	tests/unit/mapper/search/test_offspring \
	tests/unit/mapper/search/test_over_time \
	tests/unit/mapper/search/test_wide \
	tests/unit/mapper/test_constraints \
	tests/unit/mapper/test_copies \
	tests/unit/mapper/test_estimate_keys \
	tests/unit/mapper/test_evaluate \
	tests/unit/mapper/search/test_exhaustive \
	tests/unit/mapper/search/test_front \
	tests/unit/mapper/search/test_h2h \
	tests/unit/mapper/search/test_chunked_initial \
	tests/unit/mapper/search/test_infeasible \
	tests/unit/mapper/search/test_large_sets \
	tests/unit/mapper/search/test_partition \
	tests/unit/mapper/test_lower \
	tests/unit/mapper/test_lower_random \
	tests/unit/mapper/test_mapping \
	tests/unit/mapper/test_mapping_keys \
	tests/unit/mapper/test_mapping_read \
	tests/unit/mapper/search/test_multi_model \
	tests/unit/mapper/evaluate/test_objective \
	tests/unit/mapper/test_plan \
	tests/unit/mapper/test_plan_keys \
	tests/unit/mapper/test_pool \
	tests/unit/mapper/search/test_search \
	tests/unit/mapper/search/test_search_candidates \
	tests/unit/mapper/search/test_search_random \
	tests/unit/mapper/test_segment \
	tests/unit/mapper/test_sets \
	tests/unit/mapper/test_shard \
	tests/unit/mapper/test_shard_kinds \
	tests/unit/mapper/search/test_space \
	tests/unit/mapper/search/test_strategies \
	tests/unit/mapper/test_serializer \
	tests/unit/mapper/test_tied \
	tests/unit/mapper/test_worker

tests_unit_mapper_test_mapping_keys_SOURCES = tests/unit/mapper/test_mapping_keys.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_copies_SOURCES = tests/unit/mapper/test_copies.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_segment_SOURCES = tests/unit/mapper/test_segment.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_bounds_SOURCES = tests/unit/mapper/test_bounds.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_bounds_chain_SOURCES = tests/unit/mapper/test_bounds_chain.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_bounds_heterogeneous_SOURCES = tests/unit/mapper/test_bounds_heterogeneous.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_serial_times_SOURCES = tests/unit/mapper/test_serial_times.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_bounds_random_SOURCES = tests/unit/mapper/test_bounds_random.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_search_test_exhaustive_SOURCES = tests/unit/mapper/search/test_exhaustive.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_lower_random_SOURCES = tests/unit/mapper/test_lower_random.c \
	tests/unit/mapper/lower_oracle.c tests/unit/mapper/lower_oracle.h tests/unit/mapper/lower_book.h \
	tests/unit/mapper/element_model.c tests/unit/mapper/element_model.h \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_test_constraints_SOURCES = tests/unit/mapper/test_constraints.c \
	tests/unit/random_net.c tests/unit/random_net.h
tests_unit_mapper_search_test_search_random_SOURCES = tests/unit/mapper/search/test_search_random.c \
	tests/unit/random_net.c tests/unit/random_net.h

EXTRA_DIST += tests/unit/mapper/serial_times.txt tests/unit/mapper/bounds_help.h tests/unit/map_help.h tests/unit/search_help.h tests/unit/search_main.h tests/unit/space_case.h tests/unit/pool_help.h \
	tests/unit/shard_help.h
