# topology/ - the systems that networks run on.
libtharsis_la_SOURCES += \
	topology/generate.c topology/generate.h \
	topology/route.c topology/route.h \
	topology/system.c topology/system.h \
	topology/system_read.h

unit_tests +=
