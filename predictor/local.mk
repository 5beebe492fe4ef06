# predictor/ - times of layers on GPUs, learned from measurements.
libtharsis_a_SOURCES += \
	predictor/data/gpu.c predictor/data/gpu.h \
	predictor/data/gpu_read.c \
	predictor/data/measurements.c predictor/data/measurements.h \
	predictor/data/measurements_header.c \
	predictor/data/measurements_read.c \
	predictor/data/measurements_text.h \
	predictor/data/decompress.c predictor/data/decompress.h \
	predictor/law/law.c predictor/law/law.h \
	predictor/law/law_attention.c \
	predictor/law/law_conv.c \
	predictor/law/law_experts.c \
	predictor/law/law_fit.c \
	predictor/law/law_matrix.c \
	predictor/law/law_passes.c \
	predictor/law/law_pooling.c \
	predictor/law/law_power.c predictor/law/law_power.h \
	predictor/law/law_product.c \
	predictor/law/law_rows.c \
	predictor/law/link_law.c predictor/law/link_law.h \
	predictor/law/nnls.c predictor/law/nnls.h \
	predictor/learners/learners.c predictor/learners/learners.h \
	predictor/learners/ensemble.c predictor/learners/ensemble.h \
	predictor/model/backward.c \
	predictor/model/calibration.c predictor/model/calibration.h \
	predictor/model/calibration_sum.c predictor/model/calibration_sum.h \
	predictor/model/network_narrow.c \
	predictor/model/network_prediction.c predictor/model/network_prediction.h \
	predictor/model/families.c predictor/model/families.h \
	predictor/model/layer_model.c predictor/model/layer_model.h \
	predictor/model/layer_predict.c \
	predictor/model/layer_train.c \
	predictor/model/nearest_device.c predictor/model/nearest_device.h \
	predictor/model/operator_time.c predictor/model/operator_time.h \
	predictor/regress/parts_text.c \
	predictor/model/phases.c predictor/model/phases.h \
	predictor/model/predictor.c predictor/model/predictor.h \
	predictor/model/predictor_file.c \
	predictor/model/residual_quantiles.c predictor/model/residual_quantiles.h \
	predictor/model/training_set.c predictor/model/training_set.h \
	predictor/op/layer_op.c predictor/op/layer_op.h \
	predictor/op/make_op.h \
	predictor/op/members.c predictor/op/members.h \
	predictor/op/op.c predictor/op/op.h \
	predictor/regress/boost.c predictor/regress/boost.h \
	predictor/regress/features.c predictor/regress/features.h \
	predictor/regress/mlp.c predictor/regress/mlp.h \
	predictor/regress/mlp_train.c \
	predictor/regress/predictor_text.c predictor/regress/predictor_text.h \
	predictor/regress/trees.c predictor/regress/trees.h

predictordir = $(pkgdatadir)/predictor
dist_predictor_DATA = predictor/devices.csv
# Predictors that come with Tharsis; predictor/models/README.md says what they were trained on.
predictor_modelsdir = $(pkgdatadir)/predictor/models
dist_predictor_models_DATA = predictor/models/README.md predictor/models/default.model

unit_tests += \
	tests/unit/predictor/test_layer_op \
	tests/unit/predictor/test_learners \
	tests/unit/predictor/test_gpus \
	tests/unit/predictor/test_measurements \
	tests/unit/predictor/test_law \
	tests/unit/predictor/test_mlp \
	tests/unit/predictor/test_nnls \
	tests/unit/predictor/test_op \
	tests/unit/predictor/test_guards \
	tests/unit/predictor/test_operator_time \
	tests/unit/predictor/test_phases \
	tests/unit/predictor/test_predictor \
	tests/unit/predictor/test_predictor_text \
	tests/unit/predictor/test_trees \
	tests/unit/predictor/test_nearest_device

EXTRA_DIST += tests/unit/learned_help.h tests/unit/predict_help.h
tests_unit_predictor_test_measurements_LDADD = $(LDADD) $(LZMA_LIBS) $(ZLIB_LIBS)
