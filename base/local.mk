# base/ - the floor that everything stands on.
libtharsis_la_SOURCES += \
	base/alloc.c base/alloc.h \
	base/arena.h \
	base/config_read.h \
	base/error.c base/error.h \
	base/map.h \
	base/names.h \
	base/random.h \
	base/strbuf.h \
	base/units.h

unit_tests += \
	tests/unit/test_alloc \
	tests/unit/test_error
