# tests/ - everything prints TAP; automake's driver counts the lines.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .sh .tcl
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
TCL_LOG_DRIVER = $(LOG_DRIVER)
TCL_LOG_COMPILER = ./tharsis
AM_TCL_LOG_FLAGS = -no_init -exit

# What a test may ask for. Sanitizers end the program at the first finding, so that the driver sees it. Programs keep what
# they freed, as the shell does (tcl/shell/shell.c).
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_srcdir)'; export srcdir; \
	builddir='$(abs_builddir)'; export builddir; \
	CC='$(CC)'; export CC; \
	AWK='$(AWK)'; export AWK; \
	THARSIS_SANITIZERS='$(enable_sanitizers)'; export THARSIS_SANITIZERS; \
	COMPILE_FLAGS='$(DEFS) $(GSL_CFLAGS) $(LIBCONFIG_CFLAGS) $(YAML_CFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(TCL_CFLAGS) $(TH_CFLAGS)'; \
	export COMPILE_FLAGS; \
	THARSIS_REFERENCE="$${THARSIS_REFERENCE:-$(REFERENCE_DIR)}"; export THARSIS_REFERENCE; \
	ASAN_OPTIONS=$${ASAN_OPTIONS:-malloc_context_size=8}; export ASAN_OPTIONS; \
	UBSAN_OPTIONS=print_stacktrace=1; export UBSAN_OPTIONS; \
	MALLOC_TRIM_THRESHOLD_=67108864; export MALLOC_TRIM_THRESHOLD_; \
	MALLOC_MMAP_THRESHOLD_=4194304; export MALLOC_MMAP_THRESHOLD_;

check_scripts += \
	tests/check/accept.sh \
	tests/check/html.sh \
	tests/check/install.sh \
	tests/check/manual.sh \
	tests/check/mpi.sh

# What looks at sources alone: the same in every build, so not run again with sanitizers.
source_checks = \
	tests/check/calls.sh \
	tests/check/conversion.sh \
	tests/check/docs.sh \
	tests/check/format.sh \
	tests/check/generated.sh \
	tests/check/headers.sh \
	tests/check/includes.sh \
	tests/check/libm.sh \
	tests/check/messages.sh \
	tests/check/size.sh \
	tests/check/tcl_ids.sh

# What make check runs where the reference data are; see tests/check/accept.sh.
EXTRA_DIST += \
	tests/accept/astra.tcl \
	tests/accept/collectives.tcl \
	tests/accept/collectives_2026.tcl \
	tests/accept/mars.tcl \
	tests/accept/faults.tcl \
	tests/accept/h2h.tcl \
	tests/accept/lib/h2h_models.tcl \
	tests/accept/lib/measured_networks.tcl \
	tests/accept/lib/nccl_ways.tcl \
	tests/accept/lib/operators_2026.tcl \
	tests/accept/lib/training_rows.tcl \
	tests/accept/known_misses \
	tests/accept/model_configs.tcl \
	tests/accept/nccl.tcl \
	tests/accept/onnx.tcl \
	tests/accept/operators.tcl \
	tests/accept/operators_2026.tcl \
	tests/accept/pipeline.tcl \
	tests/accept/plans.tcl \
	tests/accept/plans_fitted \
	tests/accept/predictor.tcl \
	tests/accept/sailor.tcl \
	tests/accept/scalesim.tcl \
	tests/accept/simgrid.tcl \
	tests/accept/trace.tcl \
	tests/accept/training.tcl \
	tests/accept/training_folds
tests/check/accept.log: tharsis$(EXEEXT)
tests/check/mpi.log: $(bin_PROGRAMS)
tests/check/html.log: tharsis$(EXEEXT)
tests/check/install.log: $(bin_PROGRAMS) libtharsistcl.so pkgIndex.tcl
tests/check/manual.log: tharsis$(EXEEXT)
EXTRA_DIST += tests/check/manual.tcl
EXTRA_DIST += tests/check/deb.sh tests/check/html.tcl tests/check/html.js

check_PROGRAMS =
if HAVE_CUNIT
check_PROGRAMS += $(unit_tests)
check_LIBRARIES = tests/unit/libtap.a
endif
EXTRA_DIST += \
	tests/unit/base/config_read.refused tests/unit/base/units.refused \
	tests/unit/sim/collective/user_schedule.refused \
	tests/unit/sim/design/keys.refused tests/unit/sim/design/table.refused \
	tests/unit/mapper/mapping_read.refused tests/unit/topology/generate.refused \
	tests/unit/topology/route_read.refused tests/unit/topology/system_read.refused \
	tests/unit/predictor/gpus.refused tests/unit/predictor/measurements.refused \
	tests/unit/training/pipeline_file.refused tests/unit/training/plan_file.refused \
	tests/unit/workloads/layer_types_read.refused tests/unit/workloads/onnx.refused \
	tests/unit/workloads/trace_files.refused tests/unit/workloads/workload_read.refused
tests_unit_libtap_a_SOURCES = tests/unit/no_memory.c tests/unit/no_memory.h tests/unit/auto.h tests/unit/auto_network.h tests/unit/refused.c tests/unit/refused.h \
	tests/unit/tap.c tests/unit/tap.h

# For every program that does not say otherwise, and so for every unit test.
LDADD = tests/unit/libtap.a $(libraries) $(CUNIT_LIBS)

# Shapes of ONNX models as read_workload infers them, and, where its library is, as libonnx does (tests/tcl/workload/onnx.test).
check_PROGRAMS += tests/onnx/onnx_shapes
tests_onnx_onnx_shapes_SOURCES = tests/onnx/shapes.c
tests_onnx_onnx_shapes_LDADD = $(libraries)
EXTRA_DIST += tests/onnx/blocks.tcl tests/onnx/model.tcl tests/onnx/oracle.cpp
tests/onnx/onnx_oracle$(EXEEXT): $(srcdir)/tests/onnx/oracle.cpp
	$(AM_V_GEN)$(MKDIR_P) tests/onnx && $(PEER_CXX) -std=c++17 -O1 -DONNX_ML=1 -DONNX_NAMESPACE=onnx -o $@ \
		$(srcdir)/tests/onnx/oracle.cpp -lonnx -lonnx_proto -lprotobuf
CLEANFILES += tests/onnx/onnx_oracle$(EXEEXT)
onnx_tools = tests/onnx/onnx_shapes$(EXEEXT)
if HAVE_ONNX
onnx_tools += tests/onnx/onnx_oracle$(EXEEXT)
endif
tests/tcl/all.log: $(onnx_tools)

# The tables of commands and designs, for tests/tcl/policy.test.
check_PROGRAMS += tests/tcl/policy/tables
tests_tcl_policy_tables_SOURCES = tests/tcl/policy/tables.c
tests_tcl_policy_tables_CPPFLAGS = $(face_flags)
tests_tcl_policy_tables_LDADD = libface.a $(libraries) $(TCL_STUB_LIBS) $(TCL_LIBS_SPEC)
EXTRA_DIST += tests/tcl/policy/lacking.c tests/tcl/policy/watch.c
tests/tcl/all.log: tests/tcl/policy/tables$(EXEEXT)

# The commands, as scripts see them.
shell_scripts = tests/tcl/all.tcl
# The example scripts with small budgets, and how good what is found is: values alone, the same in every build, so not
# found again with sanitizers.
value_scripts = tests/golden/golden.tcl tests/golden/pages.tcl tests/bench/quality/quality.tcl
$(shell_scripts:.tcl=.log) $(value_scripts:.tcl=.log): tharsis$(EXEEXT) libtharsistcl.so pkgIndex.tcl
EXTRA_DIST += $(shell_scripts) $(value_scripts) \
	tests/tcl/common.tcl \
	tests/tcl/faults.tcl tests/tcl/write_faults.c \
	tests/tcl/hand.map \
	tests/tcl/accept.test \
	tests/tcl/astra.test \
	tests/tcl/infragraph.test \
	tests/tcl/profile.test \
	tests/tcl/workload/read_program.test \
	tests/tcl/report/advice.test \
	tests/tcl/report/alternatives.test \
	tests/tcl/report/bounds.test \
	tests/tcl/breakpoint.test \
	tests/tcl/build.test \
	tests/tcl/change.test \
	tests/tcl/checkpoint.test \
	tests/tcl/collective.test \
	tests/tcl/complete.test \
	tests/tcl/constraints.test \
	tests/tcl/designs.test \
	tests/tcl/report/diff.test \
	tests/tcl/query.test \
	tests/tcl/report/random_faults.test \
	tests/tcl/report/reliability.test \
	tests/tcl/report/survival.test \
	tests/tcl/workload/exports.test \
	tests/tcl/workload/onnx_fold.test tests/tcl/workload/onnx_shapes.test \
	tests/tcl/workload/fuse.test \
	tests/tcl/docs.test \
	tests/tcl/report/energy.test \
	tests/tcl/report/fault_cost.test \
	tests/tcl/report/figures.test \
	tests/tcl/files.test \
	tests/tcl/predict_network.test \
	tests/tcl/gpus.test \
	tests/tcl/idle.test \
	tests/tcl/help.test \
	tests/tcl/report/html.test \
	tests/tcl/infeasible.test \
	tests/tcl/copies.test \
	tests/tcl/over_time.test \
	tests/tcl/interrupt.test \
	tests/tcl/kinds.test \
	tests/tcl/report/layers.test \
	tests/tcl/lib.test \
	tests/tcl/map.test \
	tests/tcl/measure.test tests/tcl/measure/torch.py \
	tests/tcl/models.test \
	tests/tcl/names.test \
	tests/tcl/workload/model_config.test \
	tests/tcl/workload/networks.test \
	tests/tcl/objective.test \
	tests/tcl/objects.test \
	tests/tcl/options.test \
	tests/tcl/workload/onnx.test \
	tests/tcl/report/mtbf.test \
	tests/tcl/report/plot.test \
	tests/tcl/policy.test \
	tests/tcl/predict.test \
	tests/tcl/program.test \
	tests/tcl/program/calibrate_network.test tests/tcl/program/inject_fault.test \
	tests/tcl/program/plan_search.test \
	tests/tcl/program/training.test \
	tests/tcl/prompt.test \
	tests/tcl/published.test \
	tests/tcl/report/report.test \
	tests/tcl/run.test \
	tests/tcl/scalesim.test \
	tests/tcl/space.test \
	tests/tcl/script.test \
	tests/tcl/report/sensitivity.test \
	tests/tcl/shell.test \
	tests/tcl/step.test \
	tests/tcl/parallel.test \
	tests/tcl/study.test tests/tcl/study/studies.tcl tests/tcl/study/figures.test \
	tests/tcl/study/interrupted.test tests/tcl/study/keys.test \
	tests/tcl/report/shown.test \
	tests/tcl/report/text.test \
	tests/tcl/report/health.test \
	tests/tcl/report/jitter.test \
	tests/tcl/report/jobs.test \
	tests/tcl/report/why.test tests/tcl/report/what_if.test tests/tcl/report/verdict.test \
	tests/tcl/trace.test tests/tcl/trace/chrome.test \
	tests/tcl/traffic.test \
	tests/tcl/write.test \
	tests/tcl/writers.test \
	tests/golden/compare_all_reduce.txt \
	tests/golden/compare_collectives.txt \
	tests/golden/compare_mappers.txt \
	tests/golden/compare_topologies.txt \
	tests/golden/design_in_five_lines.txt \
	tests/golden/fair_topologies.txt \
	tests/golden/from_astra.txt \
	tests/golden/f1_alexnet.txt \
	tests/golden/map_and_report.txt \
	tests/golden/multi_model.txt \
	tests/golden/pareto_front.txt \
	tests/golden/pipeline_stream.txt \
	tests/golden/published_designs.txt \
	tests/golden/report_resnet34.txt \
	tests/golden/step_and_watch.txt \
	tests/golden/study_topologies.txt \
	tests/golden/systolic_array.txt \
	tests/golden/topology_choice.txt \
	tests/golden/unreliable_training.txt \
	tests/golden/what_to_buy.txt \
	tests/golden/own_design.txt

# Readers of files under arbitrary bytes; the corpus is replayed here (tests/fuzz/replay.c), tests/fuzz/run.sh fuzzes.
fuzz_tests = tests/fuzz/replay
check_PROGRAMS += $(fuzz_tests)
tests_fuzz_replay_SOURCES = \
	tests/fuzz/fuzz_checkpoint.c \
	tests/fuzz/fuzz_lib.c \
	tests/fuzz/fuzz_mapping.c \
	tests/fuzz/fuzz_onnx.c \
	tests/fuzz/fuzz_plan.c \
	tests/fuzz/fuzz_predictor.c \
	tests/fuzz/fuzz_schedule.c \
	tests/fuzz/fuzz_schema.c \
	tests/fuzz/fuzz_study.c \
	tests/fuzz/fuzz_system.c \
	tests/fuzz/fuzz_tables.c \
	tests/fuzz/fuzz_times.c \
	tests/fuzz/fuzz_trace.c \
	tests/fuzz/fuzz_workload.c \
	tests/fuzz/replay.c \
	tests/fuzz/target.c \
	tests/fuzz/target.h
tests_fuzz_replay_CPPFLAGS = $(face_flags)
tests_fuzz_replay_LDADD = libface.a $(libraries) $(TCL_STUB_LIBS) $(TCL_LIBS_SPEC) $(SQLITE_LIBS)
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/fuzzer.c tests/fuzz/all.sh tests/fuzz/run.sh tests/fuzz/README.md

# Commands under faults of the memory; a shell that can make an allocation fail.
check_PROGRAMS += tests/soak/probe
tests_soak_probe_SOURCES = tests/soak/probe.c
tests_soak_probe_CPPFLAGS = $(face_flags)
tests_soak_probe_LDADD = libface.a $(libraries) $(TCL_STUB_LIBS) $(TCL_LIBS_SPEC) $(SQLITE_LIBS)
soak_scripts = tests/soak/allocations.tcl tests/soak/commands.tcl tests/soak/growth.tcl tests/soak/history.tcl \
	tests/soak/interrupts.tcl tests/soak/invariants.tcl tests/soak/study_files.tcl \
	tests/soak/writes.tcl
$(soak_scripts:.tcl=.log): tharsis$(EXEEXT) tests/soak/probe$(EXEEXT)
EXTRA_DIST += $(soak_scripts) tests/soak/README.md tests/soak/builds.sh tests/soak/coverage.sh \
	tests/soak/fail_allocations.tcl tests/soak/probed.tcl tests/soak/random_case.tcl tests/soak/repeats.tcl tests/soak/results.tcl \
	tests/soak/session.tcl \
	tests/soak/valgrind.supp

# The longest first: what is left to run at the end is short, and no processor waits for it.
TESTS = $(shell_scripts) $(soak_scripts) $(check_scripts) $(fuzz_tests)
if !SANITIZERS
TESTS += $(value_scripts) $(source_checks)
endif
if HAVE_CUNIT
TESTS += $(unit_tests)
endif
EXTRA_DIST += $(check_scripts) $(source_checks) tests/check/sizes

# The whole counts of the tests that take a sample in make check (tests/soak/README.md), other builds, and, where there is
# clang, every reader fuzzed.
.PHONY: check-long
check-long:
	THARSIS_LONG=$${THARSIS_LONG:-120} THARSIS_ACCEPT=full FUZZ_MUTANTS=$${FUZZ_MUTANTS:-1000} $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(soak_scripts) $(fuzz_tests) tests/check/accept.sh tests/soak/builds.sh'
	! command -v clang >/dev/null || $(srcdir)/tests/fuzz/all.sh $${FUZZ_SECONDS:-300}

clean-local:
	rm -rf tests/tcl/tmp tests/golden/tmp tests/soak/tmp tests/soak/commands_tmp tests/soak/interrupts_tmp tests/soak/invariants_tmp \
		tests/soak/study_files_tmp tests/soak/writes_tmp docs/html
