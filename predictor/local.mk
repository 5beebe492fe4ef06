# predictor/ - times of layers on GPUs, learned from measurements.
libtharsis_la_SOURCES += \
	predictor/algebra.c predictor/algebra.h \
	predictor/backward.c \
	predictor/boost.c predictor/boost.h \
	predictor/calibration.c predictor/calibration.h \
	predictor/calibration_sum.c predictor/calibration_sum.h \
	predictor/features.c predictor/features.h \
	predictor/forecast.c predictor/forecast.h \
	predictor/gpu.h predictor/gpu_read.c \
	predictor/jobs.c predictor/jobs.h \
	predictor/law.c predictor/law.h \
	predictor/law_conv.c \
	predictor/law_fit.c \
	predictor/law_matrix.c \
	predictor/law_pooling.c \
	predictor/law_rows.c \
	predictor/layer_op.c predictor/layer_op.h \
	predictor/layer_model.c predictor/layer_model.h predictor/layer_train.c \
	predictor/learners/boosting.c \
	predictor/learners/law.c \
	predictor/learners/law_boosting.c \
	predictor/learners/law_perceptron.c \
	predictor/learners/learner.h \
	predictor/learners/learners.c predictor/learners/learners.h \
	predictor/learners/log_linear.c \
	predictor/learners/over_law.h \
	predictor/learners/panel.c predictor/learners/panel.h \
	predictor/learners/perceptron.c \
	predictor/learners/plain.c predictor/learners/plain.h \
	predictor/learners/roofline.c \
	predictor/lesson.c predictor/lesson.h \
	predictor/measurements.c predictor/measurements.h \
	predictor/measurements_read.c predictor/measurements_header.c predictor/measurements_text.h \
	predictor/mlp.c predictor/mlp.h predictor/mlp_train.c \
	predictor/nnls.c predictor/nnls.h \
	predictor/op.c predictor/op.h \
	predictor/phases.c predictor/phases.h \
	predictor/predictor.c predictor/predictor.h \
	predictor/parts_text.c \
	predictor/predictor_read.c predictor/predictor_text.c predictor/predictor_text.h \
	predictor/predictor_write.c \
	predictor/spread.c predictor/spread.h \
	predictor/trees.c predictor/trees.h predictor/trees_vector.c \
	predictor/twin.c predictor/twin.h \
	predictor/unpack.c predictor/unpack.h

predictordir = $(pkgdatadir)/predictor
dist_predictor_DATA = predictor/devices.csv
# Predictors that come with Tharsis; predictor/models/README.md says what they were trained on.
predictor_modelsdir = $(pkgdatadir)/predictor/models
dist_predictor_models_DATA = predictor/models/README.md predictor/models/default.model

unit_tests += \
	tests/unit/test_layer_op \
	tests/unit/test_learners \
	tests/unit/test_measurements \
	tests/unit/test_law \
	tests/unit/test_mlp \
	tests/unit/test_nnls \
	tests/unit/test_op \
	tests/unit/test_phases \
	tests/unit/test_predictor \
	tests/unit/test_trees \
	tests/unit/test_twin

EXTRA_DIST += tests/unit/learned_help.h tests/unit/predict_help.h
tests_unit_test_measurements_LDADD = $(LDADD) $(LZMA_LIBS) $(ZLIB_LIBS)
