# docs/ - the manual. tharsis-commands.7 is written by `help -man`; a test holds it to the command table.
dist_man_MANS = docs/tharsis.1 docs/tharsis-mpi.1 docs/tharsis-commands.7
dist_doc_DATA = NEWS COPYING

# The manual in HTML, where cmark-gfm is.
EXTRA_DIST += scripts/manual.sh scripts/pictures.tcl
if HAVE_CMARK
all-local: docs/html/index.html
docs/html/index.html: $(srcdir)/scripts/manual.sh $(srcdir)/README.md $(srcdir)/docs/*.md \
		$(srcdir)/docs/*/*.md $(srcdir)/docs/pictures/*.svg
	$(AM_V_GEN)AWK='$(AWK)' $(SHELL) $(srcdir)/scripts/manual.sh $(srcdir) docs/html
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
