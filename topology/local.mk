# topology/ - the systems that networks run on.
libtharsis_a_SOURCES += \
	topology/files/accel_read.c \
	topology/files/astra.h \
	topology/files/astra_read.c \
	topology/routing/connected.c topology/routing/connected.h \
	topology/generate/generate.c topology/generate/generate.h \
	topology/generate/parts.c topology/generate/parts.h \
	topology/generate/dims.c \
	topology/generate/dragonfly.c \
	topology/generate/hosts.c \
	topology/generate/rails.c \
	topology/generate/pods.c topology/generate/pods.h \
	topology/files/generate_read.c \
	topology/generate/tree.c \
	topology/files/link_read.c \
	topology/routing/neighbors.c topology/routing/neighbors.h \
	topology/routing/route.c topology/routing/route.h \
	topology/routing/types.c topology/routing/types.h \
	topology/routing/dimension_order.c \
	topology/routing/dragonfly.c \
	topology/routing/ecmp.c \
	topology/routing/explicit.c topology/routing/explicit.h \
	topology/files/route_read.c \
	topology/routing/graph_search.c topology/routing/graph_search.h \
	topology/routing/parallel.c \
	topology/routing/stripe.c \
	topology/routing/stripe.h \
	topology/routing/rails.c \
	topology/routing/shortest.c \
	topology/routing/up_down.c \
	topology/routing/system_finish.c \
	topology/system.c topology/system.h \
	topology/files/system_copy.c topology/files/system_copy.h \
	topology/files/system_fields.c topology/files/system_fields.h \
	topology/files/system_read.c topology/files/system_read.h \
	topology/files/system_reader.c topology/files/system_reader.h \
	topology/files/system_write.c topology/files/system_write.h

dist_systems_DATA = \
	topology/systems/dgx_a100.cfg \
	topology/systems/f1_16xlarge.cfg \
	topology/systems/f1_16xlarge_balanced.cfg \
	topology/systems/f1_16xlarge_energy.cfg \
	topology/systems/f1_16xlarge_small.cfg \
	topology/systems/gpu_1080ti.cfg \
	topology/systems/gpu_a100.cfg \
	topology/systems/gpu_k80.cfg \
	topology/systems/gpu_p100.cfg \
	topology/systems/gpu_t4.cfg \
	topology/systems/gpu_v100.cfg \
	topology/systems/islands_4x8.cfg \
	topology/systems/measured_example.cfg \
	topology/systems/measured_example.csv \
	topology/systems/a100_80.cfg \
	topology/systems/a100_40.cfg \
	topology/systems/h100_sxm.cfg \
	topology/systems/h100_96.cfg \
	topology/systems/h200_sxm.cfg \
	topology/systems/b200_sxm.cfg \
	topology/systems/gb200.cfg \
	topology/systems/gb300.cfg \
	topology/systems/b300_sxm.cfg \
	topology/systems/tpu_v5e.cfg \
	topology/systems/tpu_v5p.cfg \
	topology/systems/mi300x.cfg \
	topology/systems/mi355x.cfg \
	topology/systems/npu_v1.cfg \
	topology/systems/ring8.cfg \
	topology/systems/script_4.cfg \
	topology/systems/vc707_fpga15.cfg \
	topology/systems/ws128.cfg \
	topology/systems/zcu102_fccm17.cfg

# An array and a network in SCALE-Sim's formats, for users to run and copy.
scalesimdir = $(pkgdatadir)/scripts/scalesim
dist_scalesim_DATA = scripts/scalesim/edge_array.cfg scripts/scalesim/edge_net.csv

unit_tests += \
	tests/unit/topology/test_astra_read \
	tests/unit/topology/test_connected \
	tests/unit/topology/test_generate \
	tests/unit/topology/test_generate_dims \
	tests/unit/topology/test_generate_dragonfly \
	tests/unit/topology/test_generate_hosts \
	tests/unit/topology/test_generate_tree \
	tests/unit/topology/test_route \
	tests/unit/topology/test_route_ecmp \
	tests/unit/topology/test_route_explicit \
	tests/unit/topology/test_route_parallel \
	tests/unit/topology/test_route_read \
	tests/unit/topology/test_system \
	tests/unit/topology/test_system_read
EXTRA_DIST += tests/unit/astra_help.h tests/unit/topology_help.h
