# mapper/ - who computes which part, and the search for a good answer.
libtharsis_la_SOURCES += \
	mapper/evaluate.h \
	mapper/lower.h \
	mapper/mapping.h \
	mapper/mapping_read.h \
	mapper/pool.h \
	mapper/search.h \
	mapper/shard.h

unit_tests +=
