# tcl/ - the face: the shell `tharsis` and the loadable Tcl package, from the same sources.
face_sources = \
	tcl/command.c \
	tcl/command.h \
	tcl/commands/cmd_breakpoint.c \
	tcl/commands/cmd_checkpoint.c \
	tcl/commands/cmd_collective.c \
	tcl/commands/cmd_compare.c \
	tcl/commands/predict/cmd_evaluate.c \
	tcl/commands/predict/cmd_predict_network.c \
	tcl/commands/cmd_examine.c \
	tcl/commands/cmd_map.c \
	tcl/commands/map_call.h tcl/commands/map_checkpoint.c tcl/commands/map_given.c \
	tcl/commands/map_result.c \
	tcl/commands/cmd_objects.c \
	tcl/commands/cmd_output.c \
	tcl/commands/cmd_plot.c \
	tcl/commands/predict/cmd_predict.c \
	tcl/commands/predict/cmd_predict_layer.c \
	tcl/commands/cmd_program.c \
	tcl/commands/cmd_property_events.c \
	tcl/commands/cmd_query.c \
	tcl/commands/cmd_network.c \
	tcl/commands/cmd_report.c \
	tcl/commands/cmd_report_map.c \
	tcl/commands/cmd_report_network.c \
	tcl/commands/cmd_advice.c \
	tcl/commands/cmd_sensitivity.c \
	tcl/commands/cmd_session.c \
	tcl/commands/cmd_step.c \
	tcl/commands/cmd_study.c \
	tcl/commands/cmd_reliability.c \
	tcl/commands/cmd_survival.c \
	tcl/reliability/failure_option.c \
	tcl/reliability/failure_option.h \
	tcl/reliability/fault_times.c \
	tcl/reliability/fault_times.h \
	tcl/reliability/system_mtbf.c \
	tcl/reliability/system_mtbf.h \
	tcl/commands/cmd_system.c \
	tcl/commands/cmd_table.c \
	tcl/core/table_read.c tcl/core/table_read.h \
	tcl/commands/cmd_trace.c \
	tcl/commands/training/cmd_parallel.c \
	tcl/commands/training/cmd_plan_search.c \
	tcl/commands/training/plan_checkpoint.c \
	tcl/commands/training/plan_options.h \
	tcl/commands/training/plan_search_call.h \
	tcl/core/core_plan.c \
	tcl/commands/training/cmd_pipeline.c \
	tcl/commands/training/cmd_transformer.c \
	tcl/commands/cmd_workload.c \
	tcl/commands/cmd_write.c \
	tcl/core/tcl_session_parts.c \
	tcl/core/core_parallel.c tcl/core/core_study.c tcl/core/item.c tcl/core/item.h \
	tcl/core/core_help.c tcl/core/core_link_law.c tcl/core/core_mapping.c tcl/core/core_plot.c \
	tcl/core/core_reliability.c \
	tcl/core/core_run.c tcl/core/core_saved.c tcl/core/core_session.c \
	tcl/core/core_what_if.c tcl/core/core_where.c \
	tcl/core/lib_call.c \
	tcl/core/lib_report.c tcl/core/lib_report.h \
	tcl/safe_interp.c tcl/safe_interp.h \
	tcl/stack_guard.c tcl/stack_guard.h \
	tcl/commands/run_call.c \
	tcl/commands/run_call.h \
	tcl/design_option.c \
	tcl/design_option.h \
	tcl/design_script.c \
	tcl/design_script.h \
	tcl/examples.c \
	tcl/files.c \
	tcl/files.h \
	tcl/goal_option.c \
	tcl/goal_option.h \
	tcl/gpu_option.c \
	tcl/gpu_option.h \
	tcl/init.c \
	tcl/init.h \
	tcl/log.c \
	tcl/log.h \
	tcl/objects/breakpoint.c \
	tcl/objects/breakpoint.h \
	tcl/objects/comparison.c \
	tcl/objects/comparison.h \
	tcl/objects/condition.c \
	tcl/objects/condition.h \
	tcl/objects/object_name.c \
	tcl/objects/object_name.h \
	tcl/option_value.c \
	tcl/options.c \
	tcl/options.h \
	tcl/program_options.h \
	tcl/removed.c \
	tcl/report_call.c \
	tcl/report_call.h \
	tcl/tcl_session.c \
	tcl/tcl_session.h \
	tcl/warning.c \
	tcl/warning.h

# Where read_system and its like look: the sources that this was built from, then the installation.
face_flags = $(AM_CPPFLAGS) $(TCL_CFLAGS) \
	-DTH_SOURCE_DIR='"$(source_data_dir)"' -DTH_DATA_DIR='"$(pkgdatadir)"'

# The face is compiled once, for the package and for the programs alike: it finds Tcl through the table of functions that
# Tharsis_Init asks for.
noinst_LIBRARIES += libface.a
libface_a_SOURCES = $(face_sources)
libface_a_CPPFLAGS = $(face_flags) -DUSE_TCL_STUBS

# What makes a program of it.
noinst_LIBRARIES += libshell.a
libshell_a_SOURCES = \
	tcl/shell/confine.c \
	tcl/shell/confine.h \
	tcl/shell/ctrl_c.c \
	tcl/shell/ctrl_c.h \
	tcl/shell/error_text.c \
	tcl/shell/error_text.h \
	tcl/shell/line_editor.c \
	tcl/shell/line_editor.h \
	tcl/shell/shell.c \
	tcl/shell/shell.h \
	tcl/shell/source.c \
	tcl/shell/source.h
libshell_a_CPPFLAGS = $(face_flags) $(READLINE_CFLAGS) $(SECCOMP_CFLAGS)
shell_libraries = libshell.a libface.a $(libraries) $(READLINE_LIBS) $(SECCOMP_LIBS) $(TCL_STUB_LIBS) $(TCL_LIBS_SPEC)

# Some of the readers are in lib/.
unit_tests += tests/unit/training/test_table_readers
tests_unit_training_test_table_readers_SOURCES = tests/unit/training/test_table_readers.c
tests_unit_training_test_table_readers_CPPFLAGS = $(face_flags)
tests_unit_training_test_table_readers_LDADD = tests/unit/libtap.a libface.a $(libraries) $(TCL_STUB_LIBS) $(TCL_LIBS_SPEC) $(CUNIT_LIBS)

bin_PROGRAMS += tharsis
tharsis_SOURCES = tcl/shell/main.c
tharsis_LDADD = $(shell_libraries)

# The same on the ranks of MPI: the one program that is linked with it. configure adds it where MPI is.
mpi_sources = tcl/shell/main_mpi.c mapper/pool/pool_mpi.c mapper/pool/pool_mpi.h
if HAVE_MPI
bin_PROGRAMS += tharsis-mpi
tharsis_mpi_SOURCES = $(mpi_sources)
tharsis_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(TCL_CFLAGS) $(MPI_CFLAGS)
tharsis_mpi_LDADD = $(shell_libraries) $(MPI_LIBS)
endif
EXTRA_DIST += $(mpi_sources)

# "package require tharsis", with $(pkglibdir) (or the build folder) in auto_path.
# Automake keeps pkglib for libraries of libtool.
packagedir = $(pkglibdir)
package_PROGRAMS = libtharsistcl.so
package_DATA = pkgIndex.tcl
libtharsistcl_so_SOURCES =
libtharsistcl_so_LDFLAGS = $(AM_LDFLAGS) -shared -Wl,-u,Tharsis_Init
libtharsistcl_so_LDADD = libface.a $(libraries) $(TCL_STUB_LIBS)
CLEANFILES += pkgIndex.tcl
EXTRA_DIST += tcl/pkgIndex.tcl.in

pkgIndex.tcl: tcl/pkgIndex.tcl.in Makefile
	$(AM_V_GEN)sed 's/[@]VERSION[@]/$(PACKAGE_VERSION)/' $(srcdir)/tcl/pkgIndex.tcl.in >$@

# What users run and copy.
dist_experiments_DATA = \
	scripts/experiments/compare_all_reduce.tcl \
	scripts/experiments/compare_collectives.tcl \
	scripts/experiments/compare_mappers.tcl \
	scripts/experiments/compare_topologies.tcl \
	scripts/experiments/design_in_five_lines.tcl \
	scripts/experiments/f1_resnet34.tcl \
	scripts/experiments/fair_topologies.tcl \
	scripts/experiments/from_astra.tcl \
	scripts/experiments/gpt2_tp8.map \
	scripts/experiments/map_and_report.tcl \
	scripts/experiments/multi_model.tcl \
	scripts/experiments/pareto_front.tcl \
	scripts/experiments/pipeline_stream.tcl \
	scripts/experiments/published_designs.tcl \
	scripts/experiments/report_resnet34.tcl \
	scripts/experiments/step_and_watch.tcl \
	scripts/experiments/study_topologies.tcl \
	scripts/experiments/own_design.cfg \
	scripts/experiments/own_design.csv \
	scripts/experiments/own_design.tcl \
	scripts/experiments/fpgas_and_gpu.cfg \
	scripts/experiments/topology_choice.tcl \
	scripts/experiments/train_gpt3.tcl \
	scripts/experiments/train_mixed.tcl \
	scripts/experiments/unreliable_training.tcl \
	scripts/experiments/what_to_buy.tcl \
	scripts/experiments/systolic_array.tcl

# What measures a GPU for read_measurements.
measuredir = $(pkgdatadir)/scripts/measure
dist_measure_SCRIPTS = scripts/measure/measure_gpu.py
dist_measure_DATA = scripts/measure/measure_layers.py
