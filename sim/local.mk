# sim/ - the machine that replays a program.
libtharsis_la_SOURCES += \
	sim/accelerator.c \
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
	sim/collective/unroll.c \
	sim/collective/unroll.h \
	sim/collective/schedule_read.c \
	sim/collective/schedule_read.h \
	sim/collective/user_schedule.c \
	sim/collective/user_schedule.h \
	sim/critical_path.c \
	sim/critical_path.h \
	sim/design/design.c \
	sim/design/design.h \
	sim/design/designs.h \
	sim/design/roofline.c \
	sim/design/systolic_vec.c \
	sim/design/tiled.c \
	sim/design/tiles.h \
	sim/design/vector.c \
	sim/design/winograd.c \
	sim/event.c \
	sim/event.h \
	sim/fluid_time.h \
	sim/least_first.c \
	sim/least_first.h \
	sim/machine.c \
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
	sim/network/ideal.c \
	sim/network/link_watch.c \
	sim/network/link_watch.h \
	sim/network/maxmin.c \
	sim/network/maxmin.h \
	sim/network/maxmin_fill.c \
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
	sim/pipeline.h \
	sim/pipeline_skip.c \
	sim/pipeline_skip.h \
	sim/program.c \
	sim/program.h \
	sim/result.c \
	sim/result.h \
	sim/schedule.c \
	sim/schedule.h \
	sim/trace/csv.c \
	sim/trace/trace.c \
	sim/trace/trace.h \
	sim/trace/writer.h \
	sim/traffic.c \
	sim/traffic.h \
	sim/work.c \
	sim/work.h

unit_tests += \
	tests/unit/test_algorithms \
	tests/unit/test_bound \
	tests/unit/test_collective \
	tests/unit/test_collective_bounds \
	tests/unit/test_astra \
	tests/unit/test_design \
	tests/unit/test_event \
	tests/unit/test_link_watch \
	tests/unit/test_limits \
	tests/unit/test_least_first \
	tests/unit/test_machine \
	tests/unit/test_maxmin \
	tests/unit/test_network \
	tests/unit/test_packet \
	tests/unit/test_pipeline \
	tests/unit/test_program \
	tests/unit/test_replay \
	tests/unit/test_schedule \
	tests/unit/test_trace \
	tests/unit/test_traffic \
	tests/unit/test_unroll \
	tests/unit/test_user_schedule \
	tests/unit/test_work

EXTRA_DIST += tests/unit/collective_help.h tests/unit/mesh_load.h tests/unit/sim_help.h sim/design/README.md

# Schedules of collectives that users run and copy.
schedulesdir = $(pkgdatadir)/scripts/schedules
dist_schedules_DATA = scripts/schedules/all_reduce_4.cfg
