dnl SPDX-License-Identifier: GPL-3.0-or-later
dnl tharsis.m4 - the two libraries that come without a pkg-config file.

dnl TH_PATH_TCL: Tcl 8.6 or 9, found through its tclConfig.sh. Sets TCL_CFLAGS, TCL_LIBS_SPEC (for the
dnl shell) and TCL_STUB_LIBS (for the loadable package). Debian's /usr/lib/tcl8.6/tclConfig.sh needs
dnl dpkg-dev, so the folder that the compiler names for this architecture is looked at first.
AC_DEFUN([TH_PATH_TCL], [
AC_ARG_WITH([tcl], [AS_HELP_STRING([--with-tcl=DIR], [folder that holds tclConfig.sh])],
  [th_tcl_dirs=$withval],
  [th_multiarch=`$CC -print-multiarch 2>/dev/null`
   th_tcl_dirs=
   for th_prefix in /usr/lib/$th_multiarch /usr/local/lib /usr/lib /usr/lib64 /opt/homebrew/opt/tcl-tk/lib
   do
     th_tcl_dirs="$th_tcl_dirs $th_prefix/tcl8.6 $th_prefix/tcl9.0 $th_prefix"
   done])
AC_MSG_CHECKING([for Tcl 8.6 or 9])
th_tcl_config=
for th_dir in $th_tcl_dirs
do
  if test -f "$th_dir/tclConfig.sh"; then
    . "$th_dir/tclConfig.sh"
    AS_CASE([$TCL_VERSION], [8.6|9.*], [th_tcl_config=$th_dir/tclConfig.sh; break])
  fi
done
AS_IF([test -z "$th_tcl_config"], [AC_MSG_RESULT([no])
  AC_MSG_ERROR([tclConfig.sh of Tcl 8.6 or 9 not found (Debian: tcl8.6-dev; else --with-tcl=DIR)])])
AC_MSG_RESULT([$TCL_VERSION])
AC_SUBST([TCL_VERSION])
AC_SUBST([TCL_CFLAGS], [$TCL_INCLUDE_SPEC])
AC_SUBST([TCL_LIBS_SPEC], [$TCL_LIB_SPEC])
AC_SUBST([TCL_STUB_LIBS], [$TCL_STUB_LIB_SPEC])
AC_PATH_PROGS([TCLSH], [tclsh$TCL_VERSION tclsh], [tclsh])
])

dnl TH_LIB_CUNIT: wanted for make check alone. Sets CUNIT_LIBS and the conditional HAVE_CUNIT.
AC_DEFUN([TH_LIB_CUNIT], [
th_have_cunit=no
AC_CHECK_HEADER([CUnit/CUnit.h], [
  AC_CHECK_LIB([cunit], [CU_initialize_registry], [th_have_cunit=yes; CUNIT_LIBS=-lcunit])])
AS_VAR_IF([th_have_cunit], [no],
  [AC_MSG_WARN([CUnit not found (Debian: libcunit1-dev): make check leaves out the unit tests])])
AC_SUBST([CUNIT_LIBS])
AM_CONDITIONAL([HAVE_CUNIT], [test "$th_have_cunit" = yes])
])
