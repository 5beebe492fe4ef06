# workloads/ - what is computed.
libtharsis_la_SOURCES += \
	workloads/layer.h \
	workloads/workload.h \
	workloads/workload_read.h

unit_tests +=
