# topology/ - the systems that networks run on.
libtharsis_la_SOURCES += \
	topology/accel_read.c \
	topology/dram_read.c \
	topology/astra.h \
	topology/astra_network_read.c \
	topology/astra_read.c topology/astra_read.h \
	topology/astra_system_read.c \
	topology/connected.c topology/connected.h \
	topology/generate.c topology/generate.h topology/generate_parts.h \
	topology/generate_dims.c \
	topology/generate_dragonfly.c \
	topology/generate_hosts.c \
	topology/generate_read.c \
	topology/generate_tree.c \
	topology/link_read.c \
	topology/name_index.c topology/name_index.h \
	topology/neighbors.c topology/neighbors.h \
	topology/route.c topology/route.h topology/route_types.h \
	topology/route_dimension.c \
	topology/route_dragonfly.c \
	topology/route_ecmp.c \
	topology/route_explicit.c \
	topology/route_read.c \
	topology/route_search.c topology/route_search.h \
	topology/route_shortest.c \
	topology/route_up_down.c \
	topology/scalesim_read.c topology/scalesim_read.h \
	topology/system.c topology/system.h \
	topology/system_finish.c \
	topology/system_read.c topology/system_read.h \
	topology/system_reader.c topology/system_reader.h \
	topology/system_write.c topology/system_write.h

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
	tests/unit/test_astra_read \
	tests/unit/test_connected \
	tests/unit/test_generate \
	tests/unit/test_generate_dims \
	tests/unit/test_generate_dragonfly \
	tests/unit/test_generate_hosts \
	tests/unit/test_generate_tree \
	tests/unit/test_name_index \
	tests/unit/test_route \
	tests/unit/test_route_ecmp \
	tests/unit/test_route_explicit \
	tests/unit/test_route_read \
	tests/unit/test_system \
	tests/unit/test_system_read
EXTRA_DIST += tests/unit/astra_help.h tests/unit/topology_help.h
