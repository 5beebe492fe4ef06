# tcl/ - the face: the shell `tharsis` and the loadable Tcl package, from the same sources.
face_sources = \
	tcl/attributes.c \
	tcl/breakpoint.c tcl/breakpoint.h \
	tcl/cmd_breakpoint.c \
	tcl/change_list.c tcl/change_list.h \
	tcl/changes.c tcl/changes.h \
	tcl/cmd_build.c \
	tcl/cmd_change.c \
	tcl/cmd_checkpoint.c \
	tcl/cmd_compare.c \
	tcl/cmd_collective.c \
	tcl/cmd_evaluate.c \
	tcl/cmd_forecast.c \
	tcl/cmd_layers.c \
	tcl/cmd_map.c \
	tcl/cmd_objects.c \
	tcl/cmd_output.c \
	tcl/cmd_plot.c \
	tcl/cmd_trace.c \
	tcl/watching.c \
	tcl/watching.h \
	tcl/cmd_predict.c \
	tcl/cmd_program.c tcl/program_options.h \
	tcl/cmd_property.c \
	tcl/cmd_shown.c \
	tcl/cmd_report.c tcl/cmd_report_map.c \
	tcl/cmd_run.c \
	tcl/cmd_sensitivity.c \
	tcl/cmd_session.c \
	tcl/cmd_traffic.c \
	tcl/cmd_write.c \
	tcl/command.c tcl/command.h \
	tcl/comparison.c tcl/comparison.h \
	tcl/condition.c tcl/condition.h \
	tcl/design_option.c tcl/design_option.h \
	tcl/design_script.c tcl/design_script.h \
	tcl/files.c tcl/files.h \
	tcl/goal.c tcl/goal.h \
	tcl/examples.c \
	tcl/help.c tcl/help_man.c tcl/help_markdown.c \
	tcl/html/html.h tcl/html/layout.h tcl/html/parts.h tcl/html/tracks.h \
	tcl/html/encode.c tcl/html/layout.c tcl/html/page.c tcl/html/table.c tcl/html/timeline.c tcl/html/topology.c \
	tcl/html/tracks.c \
	tcl/init.c tcl/init.h \
	tcl/interrupt.c tcl/interrupt.h \
	tcl/layer_attributes.c tcl/layer_attributes.h \
	tcl/made.c tcl/made.h \
	tcl/learned.c tcl/learned.h \
	tcl/log.c tcl/log.h \
	tcl/warning.c tcl/warning.h \
	tcl/link_flows.c tcl/link_flows.h \
	tcl/objects.c tcl/objects.h \
	tcl/options.c tcl/options.h \
	tcl/plot/figures.h tcl/plot/gnuplot.c tcl/plot/heat_of_table.c tcl/plot/of_predictor.c tcl/plot/of_run.c tcl/plot/of_search.c \
	tcl/plot/of_table.c tcl/plot/plot.c tcl/plot/plot.h tcl/plot/script.c tcl/plot/text.c tcl/plot/write.c tcl/plot/write.h \
	tcl/progress.c tcl/progress.h \
	tcl/quantity.c tcl/quantity.h \
	tcl/report.c tcl/report.h tcl/report_text.c \
	tcl/report_scale.c tcl/report_scale.h \
	tcl/report_call.c tcl/report_call.h \
	tcl/saved_figures.c tcl/saved_figures.h \
	tcl/saved_run.c tcl/saved_run.h \
	tcl/sections.h tcl/sections_alternatives.c tcl/sections_bounds.c tcl/sections_collectives.c tcl/sections_diff.c tcl/sections_energy.c tcl/held_up.h tcl/held_up.c tcl/sections_held_up.c tcl/sections_latency.c tcl/sections_layers.c tcl/sections_learners.c tcl/sections_links.c tcl/sections_map.c tcl/sections_memory.c tcl/sections_models.c tcl/sections_path.c tcl/sections_run.c tcl/sections_saved.c tcl/sections_search.c tcl/sections_windows.c \
	tcl/session.c tcl/session.h \
	tcl/cmd_study.c \
	tcl/study_crew.c tcl/study_crew.h \
	tcl/study_list.c tcl/study_list.h \
	tcl/study_metric.c tcl/study_metric.h \
	tcl/study_crash.c tcl/study_crash.h \
	tcl/study_point.c tcl/study_point.h \
	tcl/study_ranks.c tcl/study_ranks.h \
	tcl/study_run.c tcl/study_run.h \
	tcl/study_table.c tcl/study_table.h \
	tcl/simulation.c tcl/simulation.h \
	tcl/what_if.c tcl/what_if_map.h tcl/what_if_map.c tcl/what_if.h

# What the HTML report carries, as C texts.
html_assets = tcl/html/report.html tcl/html/report.css \
	tcl/html/page.js tcl/html/curve.js tcl/html/tables.js \
	tcl/html/spans.js tcl/html/paint.js tcl/html/timeline.js tcl/html/controls.js tcl/html/start.js
EXTRA_DIST += tcl/html/embed.awk $(html_assets)
CLEANFILES += tcl/html/assets.c
tcl/html/assets.c: tcl/html/embed.awk $(html_assets)
	$(AM_V_GEN)$(MKDIR_P) tcl/html && cd $(srcdir) && \
	$(AWK) -f tcl/html/embed.awk $(html_assets) >$(abs_builddir)/$@.new && mv $(abs_builddir)/$@.new $(abs_builddir)/$@

# Where read_system and its like look: the sources that this was built from, then the installation.
face_flags = $(AM_CPPFLAGS) $(TCL_CFLAGS) \
	-DTH_SOURCE_DIR='"$(source_data_dir)"' -DTH_DATA_DIR='"$(pkgdatadir)"'

# The face is compiled once, for the package and for the programs alike: it finds Tcl through the table of functions that
# Tharsis_Init asks for.
noinst_LTLIBRARIES += libface.la
libface_la_SOURCES = $(face_sources)
nodist_libface_la_SOURCES = tcl/html/assets.c
libface_la_CPPFLAGS = $(face_flags) -DUSE_TCL_STUBS

# What makes a program of it.
noinst_LTLIBRARIES += libshell.la
libshell_la_SOURCES = tcl/complete.c tcl/complete.h tcl/line_editor.c tcl/line_editor.h tcl/shell.c tcl/shell.h tcl/unknown.c tcl/unknown.h
libshell_la_CPPFLAGS = $(face_flags)
shell_libraries = libshell.la libface.la libtharsis.la $(TCL_STUB_LIBS) $(TCL_LIBS_SPEC)

# Ctrl-C at each look for it; the programs wait for signals, this test does not.
unit_tests += tests/unit/test_interrupt
tests_unit_test_interrupt_SOURCES = tests/unit/test_interrupt.c
tests_unit_test_interrupt_CPPFLAGS = $(face_flags)
tests_unit_test_interrupt_LDADD = tests/unit/libtap.a libface.la libtharsis.la $(TCL_STUB_LIBS) $(TCL_LIBS_SPEC) $(CUNIT_LIBS)

bin_PROGRAMS += tharsis
tharsis_SOURCES = tcl/main.c
tharsis_LDADD = $(shell_libraries)

# The same on the ranks of MPI: the one program that is linked with it. configure adds it where MPI is.
mpi_sources = tcl/main_mpi.c mapper/pool/pool_mpi.c mapper/pool/pool_mpi.h
if HAVE_MPI
bin_PROGRAMS += tharsis-mpi
tharsis_mpi_SOURCES = $(mpi_sources)
tharsis_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(TCL_CFLAGS) $(MPI_CFLAGS)
tharsis_mpi_LDADD = $(shell_libraries) $(MPI_LIBS)
endif
EXTRA_DIST += $(mpi_sources)

# "package require tharsis", with $(pkglibdir) (or the build folder) in auto_path.
pkglib_LTLIBRARIES += libtharsistcl.la
libtharsistcl_la_SOURCES =
libtharsistcl_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
libtharsistcl_la_LIBADD = libface.la libtharsis.la $(TCL_STUB_LIBS)

# Beside the module; automake keeps pkglib for libraries.
packagedir = $(pkglibdir)
package_DATA = pkgIndex.tcl
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
	scripts/experiments/gpt2_tp8.map \
	scripts/experiments/map_and_report.tcl \
	scripts/experiments/multi_model.tcl \
	scripts/experiments/pareto_front.tcl \
	scripts/experiments/pipeline_stream.tcl \
	scripts/experiments/published_designs.tcl \
	scripts/experiments/report_resnet34.tcl \
	scripts/experiments/step_and_watch.tcl \
	scripts/experiments/study_topologies.tcl \
	scripts/experiments/systolic_array.tcl

# What measures a GPU for read_measurements.
measuredir = $(pkgdatadir)/scripts/measure
dist_measure_SCRIPTS = scripts/measure/measure_gpu.py
