# docs/ - the manual. What the command table and the sources say already is made from them: the page of all commands, and the
# list of messages.
dist_man_MANS = docs/tharsis.1 docs/tharsis-mpi.1
nodist_man_MANS = docs/tharsis-commands.7
dist_doc_DATA = NEWS COPYING
nodist_doc_DATA = docs/messages.md
CLEANFILES += docs/tharsis-commands.7 docs/messages.md

docs/tharsis-commands.7: tharsis$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) docs && echo 'help -man' >$@.tcl && \
		./tharsis -no_init -exit $@.tcl >$@.new && rm $@.tcl && mv $@.new $@
docs/messages.md: $(srcdir)/tests/check/messages.sh $(libtharsis_a_SOURCES) $(libface_a_SOURCES)
	$(AM_V_GEN)$(MKDIR_P) docs && AWK='$(AWK)' srcdir='$(srcdir)' $(SHELL) $(srcdir)/tests/check/messages.sh --list >$@.new && \
		mv $@.new $@

# The manual in HTML, where cmark-gfm is.
EXTRA_DIST += scripts/manual.sh scripts/pictures.tcl
if HAVE_CMARK
all-local: docs/html/index.html
docs/html/index.html: docs/messages.md $(srcdir)/scripts/manual.sh $(srcdir)/README.md $(srcdir)/docs/*.md \
		$(srcdir)/docs/*/*.md $(srcdir)/docs/pictures/*.svg
	$(AM_V_GEN)AWK='$(AWK)' $(SHELL) $(srcdir)/scripts/manual.sh $(srcdir) docs docs/html
install-data-local: docs/html/index.html
	for folder in . commands models pictures; do \
		$(MKDIR_P) '$(DESTDIR)$(docdir)/html/'$$folder && \
		for file in docs/html/$$folder/*.*; do \
			$(INSTALL_DATA) $$file '$(DESTDIR)$(docdir)/html/'$$folder || exit 1; \
		done; \
	done
uninstall-local:
	rm -rf '$(DESTDIR)$(docdir)/html'
endif
