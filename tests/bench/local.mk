# tests/bench/ - figures of docs/benchmarks.md. `make bench`; of these, `make check` runs quality/quality.tcl alone.
EXTRA_PROGRAMS = tests/bench/bench
tests_bench_bench_SOURCES = \
	tests/bench/bench.c \
	tests/bench/bench.h \
	tests/bench/bench_events.c \
	tests/bench/bench_lookup.c \
	tests/bench/bench_network.c \
	tests/bench/bench_operators.c \
	tests/bench/bench_packet.c \
	tests/bench/bench_routes.c \
	tests/bench/bench_systolic.c \
	tests/bench/bench_threads.c \
	tests/bench/bench_tiling.c
tests_bench_bench_LDADD = $(libraries)
CLEANFILES += $(EXTRA_PROGRAMS) tests/bench/simgrid_flows$(EXEEXT)

# The same flows under SimGrid, where its library is.
EXTRA_DIST += \
	tests/bench/quality/heterogeneous.cfg \
	tests/bench/quality/set_annealing.tcl \
	tests/bench/quality/best.csv \
	tests/bench/quality/runs.csv \
	tests/bench/quality/mappings/alexnet_f1.map \
	tests/bench/quality/mappings/vgg16_f1.map \
	tests/bench/quality/mappings/resnet34_f1.map \
	tests/bench/quality/mappings/resnet101_f1.map \
	tests/bench/quality/mappings/wrn50_2_f1.map \
	tests/bench/quality/mappings/wrn50_2_small.map \
	tests/bench/quality/mappings/resnet34_balanced.map \
	tests/bench/quality/mappings/resnet18_heterogeneous.map \
	tests/bench/quality/mappings/casia_surf_f1.map \
	tests/bench/quality/mappings/facebagnet_f1.map \
	tests/bench/quality/mappings/unet_f1.map \
	tests/bench/quality/mappings/mobilenet_v2_f1.map \
	tests/bench/quality/mappings/two_deadlines.map \
	tests/bench/quality/mappings/resnet18_stream.map \
	tests/bench/quality/mappings/resnet18_edp.map \
	tests/bench/quality/mappings/bert_torus.map \
	tests/bench/quality/mappings/h2h_casia_surf_0.125.map \
	tests/bench/quality/mappings/h2h_casia_surf_0.5.map \
	tests/bench/quality/mappings/h2h_facebag_0.125.map \
	tests/bench/quality/mappings/h2h_facebag_0.5.map \
	tests/bench/quality/mappings/h2h_vfs_0.125.map \
	tests/bench/quality/mappings/h2h_vfs_0.5.map \
	tests/bench/quality/mappings/h2h_cnn_lstm_0.125.map \
	tests/bench/quality/mappings/h2h_cnn_lstm_0.5.map \
	tests/bench/quality/mappings/resnet101_fattree.map
EXTRA_DIST += tests/bench/auto.tcl tests/bench/auto_large.tcl tests/bench/collectives.tcl tests/bench/cost.tcl tests/bench/growth.tcl tests/bench/large.tcl tests/bench/large_searches.tcl tests/bench/networks.tcl tests/bench/operators.tcl tests/bench/predictor.tcl tests/bench/profiler.tcl tests/bench/query.tcl tests/bench/reports.tcl tests/bench/scale.tcl tests/bench/searches.tcl tests/bench/shared_links.tcl tests/bench/speedup.tcl tests/bench/stand.tcl tests/bench/traces.tcl tests/bench/simgrid_flows.cpp tests/bench/ranks.sh tests/bench/studies.sh
tests/bench/simgrid_flows$(EXEEXT): $(srcdir)/tests/bench/simgrid_flows.cpp
	test '$(with_simgrid)' != no && $(PEER_CXX) -O2 -o $@ $(srcdir)/tests/bench/simgrid_flows.cpp -lsimgrid

# Benchmarks are not run by make check, but they must compile.
check-local: tests/bench/bench$(EXEEXT)

.PHONY: bench
bench: tests/bench/bench$(EXEEXT)
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' fitness
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' segments
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' systolic
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' events
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' tiling
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' lookup
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' operators
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' routes
	cd '$(srcdir)' && '$(abs_builddir)/tests/bench/bench' packet
	-$(MAKE) tests/bench/simgrid_flows$(EXEEXT)
	cd '$(srcdir)' && SIMGRID_FLOWS='$(abs_builddir)/tests/bench/simgrid_flows$(EXEEXT)' \
		'$(abs_builddir)/tests/bench/bench' network peer
