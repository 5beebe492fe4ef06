# study/ - studies: the grid of their points, and the file of SQLite that keeps them.
libtharsis_la_SOURCES += \
	study/pareto.c study/pareto.h \
	study/store.c study/store.h \
	study/store_study.c study/store_study.h \
	study/study.c study/study.h

unit_tests += \
	tests/unit/study/test_pareto \
	tests/unit/study/test_store \
	tests/unit/study/test_study
