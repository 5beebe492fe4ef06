# render/ - a table as text, CSV and JSON; gnuplot's input; the JSON of a page.
libtharsis_a_SOURCES += \
	render/html/compare.c \
	render/html/encode.c \
	render/html/html.h \
	render/html/page.c \
	render/html/parts.h \
	render/html/run_page.c \
	render/html/study_page.c \
	render/html/table.c \
	render/html/timeline.c \
	render/html/topology.c \
	render/html/tracks.c \
	render/html/tracks.h \
	render/plot/gnuplot.c \
	render/plot/graph.c \
	render/plot/of_predictor.c \
	render/plot/of_search.c \
	render/plot/plot.c \
	render/plot/plot.h \
	render/plot/plots.h \
	render/plot/script.c \
	render/plot/text.c \
	render/text/layout.c \
	render/text/layout.h \
	render/text/render.c \
	render/text/report_data.c \
	render/text/report_scale.c \
	render/text/report_scale.h \
	render/text/report_text.c

# What a page carries, as C texts.
page_files = page/page.html page/page.css \
	page/page.js page/groups.js page/verdict.js page/layout.js page/topology.js page/document.js page/curve.js page/tables.js \
	page/spans.js page/paint.js page/usage.js page/timeline.js page/controls.js page/study.js page/start.js
EXTRA_DIST += render/html/embed.awk $(page_files)
nodist_libtharsis_a_SOURCES = render/html/assets.c
CLEANFILES += render/html/assets.c
render/html/assets.c: render/html/embed.awk $(page_files)
	$(AM_V_GEN)$(MKDIR_P) render/html && new='$(abs_builddir)/$@' && cd '$(srcdir)' && \
	$(AWK) -v header=render/html/parts.h -f render/html/embed.awk $(page_files) >"$$new.new" && mv "$$new.new" "$$new"

unit_tests += tests/unit/render/test_plot
tests_unit_render_test_plot_SOURCES = tests/unit/render/test_plot.c
