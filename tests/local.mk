# tests/ - everything prints TAP; automake's driver counts the lines.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)

# What a test may ask for. Sanitizers end the program at the first finding, so that the driver sees it.
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_srcdir)'; export srcdir; \
	builddir='$(abs_builddir)'; export builddir; \
	CC='$(CC)'; export CC; \
	AWK='$(AWK)'; export AWK; \
	COMPILE_FLAGS='$(DEFS) -I$(abs_builddir) -I$(abs_srcdir) $(GSL_CFLAGS) $(LIBCONFIG_CFLAGS) $(TCL_CFLAGS) $(TH_CFLAGS)'; \
	export COMPILE_FLAGS; \
	THARSIS_REFERENCE="$${THARSIS_REFERENCE:-$(REFERENCE_DIR)}"; export THARSIS_REFERENCE; \
	UBSAN_OPTIONS=print_stacktrace=1; export UBSAN_OPTIONS;

check_scripts += \
	tests/check/conversion.sh \
	tests/check/headers.sh \
	tests/check/includes.sh \
	tests/check/messages.sh

if HAVE_CUNIT
check_PROGRAMS = $(unit_tests)
check_LIBRARIES = tests/unit/libtap.a
endif
tests_unit_libtap_a_SOURCES = tests/unit/tap.c tests/unit/tap.h

# For every program that does not say otherwise, and so for every unit test.
LDADD = tests/unit/libtap.a libtharsis.la $(CUNIT_LIBS)

TESTS = $(check_PROGRAMS) $(check_scripts)
EXTRA_DIST += $(check_scripts)
