# tcl/ - the face: the shell `tharsis` and the loadable Tcl package.
# Once there are sources, this is the place for both:
#   bin_PROGRAMS += tharsis
#   tharsis_SOURCES = tcl/shell.c ...
#   tharsis_CPPFLAGS = $(AM_CPPFLAGS) $(TCL_CFLAGS)
#   tharsis_LDADD = libtharsis.la $(TCL_LIBS_SPEC)
#   pkglib_LTLIBRARIES += libtharsistcl.la
#   libtharsistcl_la_CPPFLAGS = $(AM_CPPFLAGS) $(TCL_CFLAGS) -DUSE_TCL_STUBS
#   libtharsistcl_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version
#   libtharsistcl_la_LIBADD = libtharsis.la $(TCL_STUB_LIBS)
