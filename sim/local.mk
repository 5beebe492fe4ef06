# sim/ - the machine that replays a program.
libtharsis_la_SOURCES += \
	sim/accelerator.c \
	sim/accelerator_history.c \
	sim/accelerator_look.c \
	sim/accelerator_state.h \
	sim/change.c \
	sim/change.h \
	sim/collective/algorithms.h \
	sim/collective/binomial.c \
	sim/collective/bound.c \
	sim/collective/bound.h \
	sim/collective/bruck.c \
	sim/collective/choose.c \
	sim/collective/choose.h \
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
	sim/collective/prepared.c \
	sim/collective/prepared.h \
	sim/collective/replay.c \
	sim/collective/replay.h \
	sim/collective/ring.c \
	sim/collective/schedule_read.c \
	sim/collective/schedule_read.h \
	sim/collective/user_schedule.c \
	sim/collective/user_schedule.h \
	sim/critical_path.c \
	sim/critical_path.h \
	sim/design/design.c \
	sim/design/design.h \
	sim/design/designs.h \
	sim/design/energy_keys.c \
	sim/design/gemv.c \
	sim/design/learned.c \
	sim/design/plain.c \
	sim/design/roofline.c \
	sim/design/serial_tiled.c \
	sim/design/table.c \
	sim/design/table_read.c sim/design/table_read.h \
	sim/design/script.c \
	sim/design/script_memo.c \
	sim/design/script_memo.h \
	sim/design/systolic.c \
	sim/design/systolic.h \
	sim/design/systolic_plan.c \
	sim/design/systolic_tiles.c \
	sim/design/systolic_vec.c \
	sim/design/tiled.c \
	sim/design/tiles.h \
	sim/design/tiling.c \
	sim/design/tiling.h \
	sim/design/tiling_choice.c \
	sim/design/tiling_choice.h \
	sim/design/tiling_estimate.c \
	sim/design/two_slot.c \
	sim/design/two_slot.h \
	sim/design/vector.c \
	sim/design/winograd.c \
	sim/energy.c \
	sim/event.c \
	sim/event.h \
	sim/fluid_time.h \
	sim/layers.c \
	sim/hosts.c \
	sim/known_ends.c \
	sim/known_ends.h \
	sim/least_first.c \
	sim/least_first.h \
	sim/machine.c \
	sim/machine_look.c \
	sim/machine.h \
	sim/machine_state.h \
	sim/network/astra.c \
	sim/network/astra_conveyor.c \
	sim/network/astra_conveyor.h \
	sim/network/astra_physics.c \
	sim/network/astra_physics.h \
	sim/network/deadlock.c \
	sim/network/deadlock.h \
	sim/network/fluid.c \
	sim/network/fluid.h \
	sim/network/fluid_clock.c \
	sim/network/fluid_alone.c \
	sim/network/fluid_couple.c \
	sim/network/ideal.c \
	sim/network/link_watch.c \
	sim/network/link_watch.h \
	sim/network/maxmin.c \
	sim/network/maxmin.h \
	sim/network/maxmin_fill.c \
	sim/network/maxmin_level.c \
	sim/network/maxmin_state.h \
	sim/network/models.h \
	sim/network/network.c \
	sim/network/network.h \
	sim/network/packet.c \
	sim/network/packet.h \
	sim/network/packet_link.c \
	sim/network/packet_stuck.c \
	sim/network/packet_time.c \
	sim/network/packet_time.h \
	sim/network/routes.c \
	sim/network/routes.h \
	sim/pipeline.c \
	sim/port.c \
	sim/port.h \
	sim/pipeline.h \
	sim/pipeline_look.c \
	sim/pipeline_requests.h \
	sim/pipeline_skip.c \
	sim/pipeline_stats.c \
	sim/pipeline_skip.h \
	sim/prefetch.c \
	sim/program.c \
	sim/program.h \
	sim/result.c \
	sim/result.h \
	sim/schedule.c \
	sim/schedule.h \
	sim/trace/changes.c \
	sim/trace/chrome.c \
	sim/trace/csv.c \
	sim/trace/lanes.c \
	sim/trace/out.c \
	sim/trace/perfetto.c \
	sim/trace/phrases.c sim/trace/phrases.h \
	sim/trace/signals.c \
	sim/trace/signals.h \
	sim/trace/stamps.c sim/trace/stamps.h \
	sim/trace/stretches.c sim/trace/stretches.h \
	sim/trace/tapes.c sim/trace/tapes.h \
	sim/trace/ticks.c \
	sim/trace/tile_records.c sim/trace/tile_records.h \
	sim/trace/tile_streams.c sim/trace/tile_streams.h \
	sim/trace/timeline.c \
	sim/trace/timeline.h \
	sim/trace/told.c \
	sim/trace/tournament.c sim/trace/tournament.h \
	sim/trace/trace.c \
	sim/trace/trace.h \
	sim/trace/vcd.c \
	sim/trace/writer.h \
	sim/slack.c \
	sim/task_parts.c \
	sim/task_parts.h \
	sim/traffic.c \
	sim/traffic.h \
	sim/watch.c \
	sim/watch.h \
	sim/work.c \
	sim/work.h

unit_tests += \
	tests/unit/test_algorithms \
	tests/unit/test_bound \
	tests/unit/test_choose \
	tests/unit/test_closed_forms \
	tests/unit/test_design_properties \
	tests/unit/test_tile_records \
	tests/unit/test_tiling \
	tests/unit/test_collective \
	tests/unit/test_collective_bounds \
	tests/unit/test_collective_machine \
	tests/unit/test_astra \
	tests/unit/test_design \
	tests/unit/test_energy \
	tests/unit/test_event \
	tests/unit/test_explain \
	tests/unit/test_gemv \
	tests/unit/test_link_watch \
	tests/unit/test_limits \
	tests/unit/test_layers \
	tests/unit/test_known_ends \
	tests/unit/test_least_first \
	tests/unit/test_machine \
	tests/unit/test_maxmin \
	tests/unit/test_network \
	tests/unit/test_network_filling \
	tests/unit/test_packet \
	tests/unit/test_packet_deadlock \
	tests/unit/test_slices \
	tests/unit/test_systolic_vec \
	tests/unit/test_systolic \
	tests/unit/test_pipeline \
	tests/unit/test_port \
	tests/unit/test_phrases \
	tests/unit/test_plain \
	tests/unit/test_prefetch \
	tests/unit/test_pipeline_rules \
	tests/unit/test_program \
	tests/unit/test_replay \
	tests/unit/test_replay_long \
	tests/unit/test_roofline \
	tests/unit/test_schedule \
	tests/unit/test_serial_tiled \
	tests/unit/test_table \
	tests/unit/test_script \
	tests/unit/test_tournament \
	tests/unit/test_trace \
	tests/unit/test_trace_tiles \
	tests/unit/test_traffic \
	tests/unit/test_unroll \
	tests/unit/test_user_schedule \
	tests/unit/test_vector \
	tests/unit/test_winograd \
	tests/unit/test_work

tests_unit_test_unroll_SOURCES = tests/unit/test_unroll.c \
	tests/unit/unroll.c tests/unit/unroll.h
tests_unit_test_explain_SOURCES = tests/unit/test_explain.c \
	tests/unit/random_program.c tests/unit/random_program.h
tests_unit_test_trace_tiles_SOURCES = tests/unit/test_trace_tiles.c \
	tests/unit/random_program.c tests/unit/random_program.h
tests_unit_test_replay_long_SOURCES = tests/unit/test_replay_long.c \
	tests/unit/replay_checks.c tests/unit/replay_checks.h \
	tests/unit/random_program.c tests/unit/random_program.h
tests_unit_test_replay_SOURCES = tests/unit/test_replay.c \
	tests/unit/replay_checks.c tests/unit/replay_checks.h \
	tests/unit/random_program.c tests/unit/random_program.h

EXTRA_DIST += tests/unit/collective_help.h tests/unit/collective_run.h tests/unit/collective_shapes.h tests/unit/collective_time.h tests/unit/generated.h tests/unit/mesh_load.h tests/unit/network_help.h tests/unit/packet_help.h tests/unit/bare_system.h tests/unit/design_help.h tests/unit/design_rows.h tests/unit/pipeline_help.h tests/unit/sim_help.h sim/design/README.md

# Schedules of collectives that users run and copy.
schedulesdir = $(pkgdatadir)/scripts/schedules
dist_schedules_DATA = scripts/schedules/all_reduce_4.cfg
