# report/ - the state of a session, and what is made of it: tables, comparisons, pages, pictures. It never knows
# Tcl.
libtharsis_la_SOURCES += \
	report/html/compare.c \
	report/html/encode.c \
	report/html/html.h \
	report/html/page.c \
	report/html/parts.h \
	report/html/run_page.c \
	report/html/study_page.c \
	report/html/table.c \
	report/html/timeline.c \
	report/html/topology.c \
	report/html/tracks.c \
	report/html/tracks.h \
	report/objects/accel_attributes.c \
	report/objects/attributes.c \
	report/objects/class_attributes.h \
	report/objects/figures.c \
	report/objects/figures.h \
	report/objects/program_figures.c \
	report/objects/run_figures.c \
	report/objects/saved_run_figures.c \
	report/objects/layer_attributes.c \
	report/objects/objects.c \
	report/objects/objects.h \
	report/objects/run_stop.c \
	report/objects/run_stop.h \
	report/objects/task_attributes.c \
	report/plot/plots.h \
	report/plot/gnuplot.c \
	report/plot/graph.c \
	report/plot/of_predictor.c \
	report/plot/of_search.c \
	report/plot/plot.c \
	report/plot/plot.h \
	report/plot/script.c \
	report/plot/text.c \
	report/query/query.c \
	report/query/query.h \
	report/query/query_names.c \
	report/query/virtual_table.c \
	report/sections/faults.c \
	report/sections/of_lib.c \
	report/session/fault_intervals.c \
	report/session/fault_intervals.h \
	report/session/contention_run.c \
	report/session/contention_run.h \
	report/session/jobs.c \
	report/session/jobs.h \
	report/sections/bounds.c \
	report/sections/contention.c \
	report/sections/contention.h \
	report/sections/learners.c \
	report/sections/map.c \
	report/sections/path.c \
	report/sections/path_contention.c \
	report/sections/training.c \
	report/sections/search.c \
	report/sections/sections.h \
	report/sections/verdict.c \
	report/sections/verdict.h \
	report/sections/windows.c \
	report/session/goal.c \
	report/session/goal.h \
	report/session/gpu_models.c \
	report/session/gpu_models.h \
	report/session/hand_built.c \
	report/session/hand_built.h \
	report/interrupt.c \
	report/interrupt.h \
	report/session/messages.c \
	report/session/messages.h \
	report/session/link_flows.c \
	report/session/model_error.c \
	report/session/model_error.h \
	report/session/link_flows.h \
	report/session/progress.c \
	report/session/progress.h \
	report/session/property_event_list.c \
	report/session/property_event_list.h \
	report/session/property_events.c \
	report/session/property_events.h \
	report/session/saved_run.c \
	report/session/saved_run.h \
	report/session/session.c \
	report/session/session.h \
	report/session/session_parts.c \
	report/session/simulation.c \
	report/session/simulation.h \
	report/table/layout.c \
	report/table/layout.h \
	report/table/legend.c \
	report/table/legend.h \
	report/table/quantity.c \
	report/table/quantity.h \
	report/table/report.c \
	report/table/report.h \
	report/table/report_scale.c \
	report/table/report_scale.h \
	report/table/report_data.c \
	report/table/report_text.c \
	report/what_if/reroute.c \
	report/what_if/reroute.h \
	report/what_if/advice_system.c \
	report/what_if/advice_system.h \
	report/what_if/trials.c \
	report/what_if/trials.h \
	report/what_if/what_if.c \
	report/what_if/what_if.h \
	report/what_if/what_if_map.c \
	report/what_if/what_if_map.h

# What a page carries, as C texts.
page_files = page/page.html page/page.css \
	page/page.js page/verdict.js page/layout.js page/topology.js page/document.js page/curve.js page/tables.js \
	page/groups.js page/spans.js page/paint.js page/usage.js page/timeline.js page/controls.js page/study.js page/start.js
EXTRA_DIST += report/html/embed.awk $(page_files)
nodist_libtharsis_la_SOURCES = report/html/assets.c
CLEANFILES += report/html/assets.c
report/html/assets.c: report/html/embed.awk $(page_files)
	$(AM_V_GEN)$(MKDIR_P) report/html && new='$(abs_builddir)/$@' && cd '$(srcdir)' && \
	$(AWK) -v header=report/html/parts.h -f report/html/embed.awk $(page_files) >"$$new.new" && mv "$$new.new" "$$new"

unit_tests += tests/unit/report/test_plot tests/unit/report/test_model_error tests/unit/report/test_program_digest
tests_unit_report_test_plot_SOURCES = tests/unit/report/test_plot.c
tests_unit_report_test_model_error_SOURCES = tests/unit/report/test_model_error.c
