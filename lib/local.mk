# lib/ - what is Tcl over the commands. It is a text in the program and in the package, so that no file is opened for it,
# in safe interpreters neither.
lib_scripts = \
	lib/common.tcl \
	lib/advice.tcl \
	lib/astra.tcl \
	lib/critical_path.tcl \
	lib/infragraph.tcl \
	lib/measured.tcl \
	lib/nccl.tcl \
	lib/prompt.tcl \
	lib/help.tcl \
	lib/hub.tcl \
	lib/memory.tcl \
	lib/plan_search.tcl \
	lib/plot.tcl \
	lib/profile.tcl \
	lib/properties.tcl \
	lib/reliability.tcl \
	lib/reports.tcl \
	lib/saved.tcl \
	lib/scalesim.tcl \
	lib/study.tcl \
	lib/study_report.tcl \
	lib/study_run.tcl \
	lib/survival.tcl \
	lib/training.tcl \
	lib/what_if.tcl \
	lib/where.tcl
EXTRA_DIST += $(lib_scripts)
nodist_libface_a_SOURCES = lib/script.c
CLEANFILES += lib/script.c
lib/script.c: render/html/embed.awk $(lib_scripts)
	$(AM_V_GEN)$(MKDIR_P) lib && new='$(abs_builddir)/$@' && cd '$(srcdir)' && \
	$(AWK) -v header=tcl/command.h -f render/html/embed.awk $(lib_scripts) >"$$new.new" && mv "$$new.new" "$$new"
