# base/ - the floor that everything stands on.
libtharsis_a_SOURCES += \
	base/alloc.c base/alloc.h \
	base/arena.c base/arena.h \
	base/clock.c base/clock.h \
	base/files/config_guard.c base/files/config_guard.h \
	base/files/config_read.c base/files/config_read.h \
	base/files/config_write.c base/files/config_write.h \
	base/files/csv.c base/files/csv.h \
	base/notes.c base/notes.h \
	base/elementary.c base/elementary.h \
	base/error.c base/error.h \
	base/interrupt.c base/interrupt.h \
	base/files/fields.c base/files/fields.h \
	base/files/file_lock.c base/files/file_lock.h \
	base/heap.h \
	base/map.c base/map.h \
	base/memory.c base/memory.h \
	base/jobs.c base/jobs.h \
	base/integer.h \
	base/min_max.h \
	base/names.c base/names.h \
	base/random.c base/random.h \
	base/shared_map.c base/shared_map.h \
	base/strbuf.c base/strbuf.h \
	base/files/text_file.c base/files/text_file.h \
	base/sort_by_time.c base/sort_by_time.h \
	base/units.c base/units.h \
	base/files/write_file.c base/files/write_file.h

# They alone know where the sources and the installation keep what belongs to Tharsis.
noinst_LIBRARIES += libdatafile.a
libdatafile_a_SOURCES = base/files/data_file.c base/files/data_file.h base/files/open_file.c base/files/open_file.h
libdatafile_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTH_SOURCE_DIR='"$(source_data_dir)"' -DTH_DATA_DIR='"$(pkgdatadir)"'

unit_tests += \
	tests/unit/base/test_alloc \
	tests/unit/base/test_arena \
	tests/unit/base/test_config_read \
	tests/unit/base/test_csv \
	tests/unit/base/test_data_file \
	tests/unit/base/test_elementary \
	tests/unit/base/test_error \
	tests/unit/base/test_fields \
	tests/unit/base/test_map \
	tests/unit/base/test_memory \
	tests/unit/base/test_names \
	tests/unit/base/test_random \
	tests/unit/base/test_shared_map \
	tests/unit/base/test_strbuf \
	tests/unit/base/test_sort_by_time \
	tests/unit/base/test_units \
	tests/unit/base/test_write_file
