# sim/ - the machine that replays a program.
libtharsis_a_SOURCES += \
	sim/execution_trace/lower_trace.c sim/execution_trace/lower_trace.h \
	sim/execution_trace/program_trace.c sim/execution_trace/program_trace.h \
	sim/execution_trace/trace_groups.c sim/execution_trace/trace_groups.h \
	sim/execution_trace/trace_stuck.c sim/execution_trace/trace_stuck.h \
	sim/analysis/critical_path.c \
	sim/analysis/critical_path.h \
	sim/analysis/energy.c \
	sim/analysis/energy.h \
	sim/analysis/slack.c \
	sim/analysis/time_breakdown.c \
	sim/analysis/time_breakdown.h \
	sim/collective/algorithms.c \
	sim/collective/algorithms.h \
	sim/collective/axes.c \
	sim/collective/axes.h \
	sim/collective/binomial.c \
	sim/collective/bound.c \
	sim/collective/bound.h \
	sim/collective/bruck.c \
	sim/collective/cables.c \
	sim/collective/cables.h \
	sim/collective/collective.c \
	sim/collective/collective.h \
	sim/collective/direct.c \
	sim/collective/double_binary_tree.c \
	sim/collective/halving_doubling.c \
	sim/collective/hierarchical.c \
	sim/collective/in_switch.c \
	sim/collective/in_switch.h \
	sim/collective/in_switch_trees.c \
	sim/collective/ports.c \
	sim/collective/ports.h \
	sim/collective/ring.c \
	sim/collective/ring_order.c \
	sim/collective/ring_order.h \
	sim/collective/wavefront.c \
	sim/collective/wavefront.h \
	sim/collective/spanning_trees.c \
	sim/collective/trees.c \
	sim/collective/trees.h \
	sim/collective/schedule_read.c \
	sim/collective/schedule_read.h \
	sim/collective/user_schedule.c \
	sim/collective/user_schedule.h \
	sim/design/compute_cost.c \
	sim/design/compute_cost.h \
	sim/design/design.c \
	sim/design/design.h \
	sim/design/designs.c \
	sim/design/designs.h \
	sim/design/energy_keys.c \
	sim/design/gemv.c \
	sim/design/learned.c \
	sim/design/canonical.c \
	sim/design/clock.c \
	sim/design/clock.h \
	sim/design/finalists.c \
	sim/design/finalists.h \
	sim/design/roofline.c \
	sim/design/script.c \
	sim/design/script_memo.c \
	sim/design/script_memo.h \
	sim/design/serial_tiled.c \
	sim/design/systolic.c \
	sim/design/systolic.h \
	sim/design/systolic_plan.c \
	sim/design/systolic_tiles.c \
	sim/design/systolic_vec.c \
	sim/design/table.c \
	sim/design/table_read.c \
	sim/design/table_read.h \
	sim/design/tiled.c \
	sim/design/tiles.h \
	sim/design/tiling.c \
	sim/design/tiling.h \
	sim/design/tiling_array.h \
	sim/design/tiling_choice.c \
	sim/design/tiling_choice.h \
	sim/design/tiling_estimate.c \
	sim/design/vector.c \
	sim/design/winograd.c \
	sim/kernel/event.c \
	sim/kernel/double_double.h \
	sim/kernel/event.h \
	sim/kernel/fluid_time.h \
	sim/kernel/ready_queue.c \
	sim/kernel/ready_queue.h \
	sim/machine/accelerator.c \
	sim/machine/accelerator_history.c \
	sim/machine/accelerator_inspect.c \
	sim/machine/accelerator_state.h \
	sim/machine/dead_end.c \
	sim/machine/hosts.c \
	sim/machine/layers.c \
	sim/machine/machine.c \
	sim/machine/machine.h \
	sim/machine/machine_inspect.c \
	sim/machine/machine_state.h \
	sim/machine/properties.c \
	sim/machine/property_event.h \
	sim/machine/together.c \
	sim/machine/tuning.c \
	sim/reliability/failure_law.c \
	sim/reliability/failure_law.h \
	sim/reliability/training_run.c \
	sim/reliability/training_run.h \
	sim/network/astra/algorithm.c \
	sim/network/astra/astra.c \
	sim/network/astra/astra_message.c \
	sim/network/astra/astra_message.h \
	sim/network/astra/chunks.c \
	sim/network/astra/clock.c \
	sim/network/astra/pool.h \
	sim/network/astra/trace_replay.c \
	sim/network/astra/trace_replay.h \
	sim/network/astra/trace_replay_state.h \
	sim/network/astra/units.c \
	sim/network/astra/wire.c \
	sim/network/fluid/dram_contention.c \
	sim/network/fluid/fluid.c \
	sim/network/fluid/fluid.h \
	sim/network/fluid/fault_loss.c \
	sim/network/fluid/flows.c \
	sim/network/fluid/maxmin.c \
	sim/network/fluid/maxmin.h \
	sim/network/fluid/maxmin_fill.c \
	sim/network/fluid/maxmin_level.c \
	sim/network/fluid/maxmin_state.h \
	sim/network/fluid/reroute.c \
	sim/network/fluid/together.c \
	sim/network/fluid/uncontended.c \
	sim/network/fluid/virtual_time.c \
	sim/network/ideal.c \
	sim/network/models.c \
	sim/network/models.h \
	sim/network/network.h \
	sim/network/packet/deadlock_report.c \
	sim/network/packet/dram_links.c \
	sim/network/packet/index_set.c \
	sim/network/packet/index_set.h \
	sim/network/packet/packet.c \
	sim/network/packet/packet.h \
	sim/network/packet/packet_events.c \
	sim/network/packet/packet_events.h \
	sim/network/packet/packet_step.c \
	sim/network/packet/virtual_channels.c \
	sim/network/packet/virtual_channels.h \
	sim/network/detour.c \
	sim/network/detour.h \
	sim/network/routes.c \
	sim/network/stripes.c \
	sim/network/stripes.h \
	sim/network/routes.h \
	sim/observe/event_recorder.c \
	sim/observe/event_recorder.h \
	sim/observe/contention_probe.c \
	sim/observe/contention_probe.h \
	sim/observe/step_probe.c \
	sim/observe/step_probe.h \
	sim/pipeline/completion_cache.c \
	sim/pipeline/completion_cache.h \
	sim/pipeline/attention.c sim/pipeline/attention.h \
	sim/pipeline/pipeline.c \
	sim/pipeline/pipeline.h \
	sim/pipeline/pipeline_inspect.c \
	sim/pipeline/pipeline_requests.h \
	sim/pipeline/pipeline_skip.c \
	sim/pipeline/pipeline_skip.h \
	sim/pipeline/pipeline_state.h \
	sim/pipeline/pipeline_stats.c \
	sim/pipeline/port.c \
	sim/pipeline/port.h \
	sim/pipeline/schedule.c \
	sim/pipeline/schedule.h \
	sim/program/append.c \
	sim/program/append.h \
	sim/program/message.h \
	sim/program/observer.h \
	sim/program/program.c \
	sim/program/program.h \
	sim/program/result.c \
	sim/program/result.h \
	sim/program/traffic.c \
	sim/program/traffic.h \
	sim/replay/choices.c \
	sim/replay/choices.h \
	sim/replay/group_form.c \
	sim/replay/tuner.c \
	sim/replay/tuner.h \
	sim/replay/replay.c \
	sim/replay/replay.h \
	sim/replay/schedule_cache.c \
	sim/replay/schedule_cache.h \
	sim/trace/changes.c \
	sim/trace/chrome.c \
	sim/trace/csv.c \
	sim/trace/gtkw.c \
	sim/trace/lanes.c \
	sim/trace/notify.c \
	sim/trace/out.c \
	sim/trace/perfetto.c \
	sim/trace/signals.c \
	sim/trace/ticks.c \
	sim/trace/timeline.c \
	sim/trace/timeline.h \
	sim/trace/trace.c \
	sim/trace/trace.h \
	sim/trace/trace_state.h \
	sim/trace/vcd.c

unit_tests += \
	tests/unit/sim/execution_trace/test_program_trace \
	tests/unit/sim/collective/test_algorithms \
	tests/unit/sim/collective/test_multi_axis \
	tests/unit/sim/collective/test_bound \
	tests/unit/sim/collective/test_continuity \
	tests/unit/sim/replay/test_group_form \
	tests/unit/sim/replay/test_tuner \
	tests/unit/sim/design/test_closed_forms \
	tests/unit/sim/design/test_design_properties \
	tests/unit/sim/design/test_tiling \
	tests/unit/sim/replay/test_schedule_cache \
	tests/unit/sim/collective/test_collective \
	tests/unit/sim/collective/test_collective_bounds \
	tests/unit/sim/collective/test_collective_machine \
	tests/unit/sim/network/test_astra \
	tests/unit/sim/design/test_design \
	tests/unit/sim/analysis/test_energy \
	tests/unit/sim/kernel/test_double_double \
	tests/unit/sim/kernel/test_event \
	tests/unit/sim/analysis/test_explain \
	tests/unit/sim/design/test_gemv \
	tests/unit/sim/observe/test_contention_probe \
	tests/unit/sim/observe/test_step_probe \
	tests/unit/sim/design/test_limits \
	tests/unit/sim/machine/test_layers \
	tests/unit/sim/pipeline/test_completion_cache \
	tests/unit/sim/kernel/test_ready_queue \
	tests/unit/sim/machine/test_machine \
	tests/unit/sim/reliability/test_reliability \
	tests/unit/sim/network/test_maxmin \
	tests/unit/sim/network/test_dram_limits \
	tests/unit/sim/network/test_stripes \
	tests/unit/sim/network/test_network \
	tests/unit/sim/network/test_network_filling \
	tests/unit/sim/astra/test_trace_replay \
	tests/unit/sim/network/test_packet \
	tests/unit/sim/network/test_together \
	tests/unit/sim/network/test_packet_deadlock \
	tests/unit/sim/design/test_slices \
	tests/unit/sim/design/test_systolic_vec \
	tests/unit/sim/design/test_systolic \
	tests/unit/sim/pipeline/test_pipeline \
	tests/unit/sim/pipeline/test_port \
	tests/unit/sim/design/test_canonical \
	tests/unit/sim/design/test_clock \
	tests/unit/sim/pipeline/test_pipeline_rules \
	tests/unit/sim/program/test_program \
	tests/unit/sim/replay/test_replay \
	tests/unit/sim/replay/test_replay_long \
	tests/unit/sim/pipeline/test_attention \
	tests/unit/sim/design/test_roofline \
	tests/unit/sim/pipeline/test_schedule \
	tests/unit/sim/design/test_serial_tiled \
	tests/unit/sim/design/test_table \
	tests/unit/sim/design/test_script \
	tests/unit/sim/trace/test_trace \
	tests/unit/sim/trace/test_trace_tiles \
	tests/unit/sim/program/test_traffic \
	tests/unit/sim/collective/test_unroll \
	tests/unit/sim/collective/test_user_schedule \
	tests/unit/sim/design/test_vector \
	tests/unit/sim/design/test_winograd \
	tests/unit/sim/design/test_compute_cost

design_forms = tests/unit/design_forms.c tests/unit/design_forms.h tests/unit/design_question.h \
	tests/unit/nest_forms.c tests/unit/two_slot.c tests/unit/two_slot.h
tests_unit_sim_design_test_closed_forms_SOURCES = tests/unit/sim/design/test_closed_forms.c $(design_forms)
tests_unit_sim_design_test_systolic_SOURCES = tests/unit/sim/design/test_systolic.c $(design_forms)
tests_unit_sim_design_test_systolic_vec_SOURCES = tests/unit/sim/design/test_systolic_vec.c $(design_forms)
tests_unit_sim_design_test_gemv_SOURCES = tests/unit/sim/design/test_gemv.c $(design_forms)
tests_unit_sim_design_test_serial_tiled_SOURCES = tests/unit/sim/design/test_serial_tiled.c $(design_forms)
tests_unit_sim_design_test_winograd_SOURCES = tests/unit/sim/design/test_winograd.c $(design_forms)
tests_unit_sim_design_test_roofline_SOURCES = tests/unit/sim/design/test_roofline.c $(design_forms)
tests_unit_sim_collective_test_unroll_SOURCES = tests/unit/sim/collective/test_unroll.c \
	tests/unit/unroll.c tests/unit/unroll.h
tests_unit_sim_analysis_test_explain_SOURCES = tests/unit/sim/analysis/test_explain.c \
	tests/unit/random_program.c tests/unit/random_program.h
tests_unit_sim_trace_test_trace_tiles_SOURCES = tests/unit/sim/trace/test_trace_tiles.c \
	tests/unit/random_program.c tests/unit/random_program.h
tests_unit_sim_replay_test_replay_long_SOURCES = tests/unit/sim/replay/test_replay_long.c \
	tests/unit/replay_checks.c tests/unit/replay_checks.h \
	tests/unit/random_program.c tests/unit/random_program.h
tests_unit_sim_replay_test_replay_SOURCES = tests/unit/sim/replay/test_replay.c \
	tests/unit/replay_checks.c tests/unit/replay_checks.h \
	tests/unit/random_program.c tests/unit/random_program.h

EXTRA_DIST += tests/unit/collective_help.h tests/unit/collective_run.h tests/unit/collective_shapes.h tests/unit/collective_time.h tests/unit/generated.h tests/unit/mesh_load.h tests/unit/network_help.h tests/unit/packet_help.h tests/unit/bare_system.h tests/unit/design_help.h tests/unit/design_rows.h tests/unit/pipeline_help.h tests/unit/sim_help.h tests/unit/closed_form.h tests/unit/script_answers.h tests/unit/stepping.h sim/design/README.md

# Schedules of collectives that users run and copy.
schedulesdir = $(pkgdatadir)/scripts/schedules
dist_schedules_DATA = scripts/schedules/all_reduce_4.cfg
tests_unit_sim_execution_trace_test_program_trace_SOURCES = tests/unit/sim/execution_trace/test_program_trace.c \
	tests/unit/random_program.c tests/unit/random_program.h
