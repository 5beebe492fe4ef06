# study/ - studies: the file of SQLite that keeps one.
libtharsis_la_SOURCES += study/store.c study/store.h
