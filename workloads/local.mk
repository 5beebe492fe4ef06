# workloads/ - what is computed.
libtharsis_la_SOURCES += \
	workloads/layer.c workloads/layer.h \
	workloads/workload.c workloads/workload.h \
	workloads/workload_check.c workloads/workload_check.h \
	workloads/workload_read.h

unit_tests +=
