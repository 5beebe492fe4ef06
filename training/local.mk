# training/ - training steps of language models: plans, their memory, and the programs that follow.
libtharsis_a_SOURCES += \
	training/collective_times.c training/collective_times.h \
	training/kernel_counts.c training/kernel_counts.h \
	training/layer_work.c training/layer_work.h \
	training/lower_exchanges.c training/lower_step.c training/lower_step.h training/lowering.h \
	training/parallel_plan.c training/parallel_plan.h \
	training/pipeline_check.c \
	training/pipeline_file.c \
	training/pipeline_program.c training/pipeline_program.h \
	training/pipeline_schedule.c training/pipeline_schedule.h \
	training/search/plan_bound.c training/search/plan_bound.h \
	training/plan_file.c training/plan_file.h \
	training/search/plan_genes.c \
	training/plan_memory.c training/plan_memory.h \
	training/search/plan_objective.c \
	training/search/plan_quick.c \
	training/search/plan_search.c training/search/plan_search.h training/search/plan_smallest.c training/search/plan_text.c \
	training/search/plan_space.c training/search/plan_space.h \
	training/plan_stages.c training/plan_stages.h \
	training/plan_step.c training/plan_step.h \
	training/step_precision.c training/step_precision.h \
	training/step_tasks.c training/step_tasks.h \
	training/training_device.c training/training_device.h \
	training/training_numbers.c training/training_numbers.h \
	training/work_context.h training/work_times.c training/work_times.h

unit_tests += \
	tests/unit/training/test_parallel_plan \
	tests/unit/training/test_plan_bound \
	tests/unit/training/test_plan_search \
	tests/unit/training/test_launches \
	tests/unit/training/test_overlap \
	tests/unit/training/test_shares \
	tests/unit/training/test_step_keys \
	tests/unit/training/test_step_precision \
	tests/unit/training/test_pipeline_schedule
EXTRA_DIST += tests/unit/training/plan_help.h
