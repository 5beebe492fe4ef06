# sim/ - the machine that replays a program.
libtharsis_la_SOURCES += \
	sim/critical_path.h \
	sim/design/design.h \
	sim/event.h \
	sim/machine.h \
	sim/network/network.h \
	sim/pipeline.h \
	sim/program.h \
	sim/result.h \
	sim/schedule.h \
	sim/trace/trace.h \
	sim/work.h

unit_tests +=
