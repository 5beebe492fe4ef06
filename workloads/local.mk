# workloads/ - what is computed.
libtharsis_la_SOURCES += \
	workloads/layer.c workloads/layer.h \
	workloads/layer_boxes.c \
	workloads/layer_inputs_read.c workloads/layer_inputs_read.h \
	workloads/layer_keys_read.c workloads/layer_keys_read.h \
	workloads/layer_types_read.c workloads/layer_types_read.h \
	workloads/models.c workloads/models.h \
	workloads/onnx_graph.c workloads/onnx_graph.h \
	workloads/onnx_operators.c \
	workloads/onnx_read.c workloads/onnx_read.h \
	workloads/onnx_values.c workloads/onnx_values.h \
	workloads/onnx_views.c \
	workloads/scalesim_read.c workloads/scalesim_read.h \
	workloads/workload.c workloads/workload.h \
	workloads/workload_check.c workloads/workload_check.h \
	workloads/workload_finish.c \
	workloads/workload_read.c workloads/workload_read.h \
	workloads/workload_write.c workloads/workload_write.h

# What protoc-c writes, whose warnings are its own.
nodist_libmessages_la_SOURCES = workloads/onnx.pb-c.c workloads/onnx.pb-c.h
libmessages_la_CFLAGS = -w
BUILT_SOURCES += $(nodist_libmessages_la_SOURCES)
CLEANFILES += $(nodist_libmessages_la_SOURCES)
EXTRA_DIST += workloads/onnx.proto
workloads/onnx.pb-c.c: workloads/onnx.proto
	$(AM_V_GEN)$(MKDIR_P) workloads && $(PROTOC_C) --proto_path=$(srcdir)/workloads --c_out=workloads $(srcdir)/workloads/onnx.proto
workloads/onnx.pb-c.h: workloads/onnx.pb-c.c
	@test -f $@ || { rm -f workloads/onnx.pb-c.c; $(MAKE) $(AM_MAKEFLAGS) workloads/onnx.pb-c.c; }
# Of a tree that is not built yet, make TARGET makes it too: BUILT_SOURCES is for all, check and install alone.
workloads/onnx_graph.lo workloads/onnx_operators.lo workloads/onnx_read.lo workloads/onnx_values.lo \
workloads/onnx_views.lo tests/unit/workloads/test_onnx_read.$(OBJEXT): workloads/onnx.pb-c.h

dist_models_DATA = \
	workloads/models/alexnet.cfg \
	workloads/models/alexnet_2012.cfg \
	workloads/models/alexnet_2012_fp32.cfg \
	workloads/models/alexnet_one.cfg \
	workloads/models/bert_base.cfg \
	workloads/models/bert_large.cfg \
	workloads/models/bert_large_pretraining.cfg \
	workloads/models/gpt2_block.cfg \
	workloads/models/gpt2_large.cfg \
	workloads/models/gpt2_med.cfg \
	workloads/models/gpt3_27.cfg \
	workloads/models/gpt3_xl.cfg \
	workloads/models/lenet.cfg \
	workloads/models/lstm_lm.cfg \
	workloads/models/mobilenet_v2.cfg \
	workloads/models/opt_13.cfg \
	workloads/models/resnet101.cfg \
	workloads/models/resnet18.cfg \
	workloads/models/resnet34.cfg \
	workloads/models/unet.cfg \
	workloads/models/vgg16.cfg \
	workloads/models/vgg16_conv.cfg \
	workloads/models/wrn50_2.cfg

EXTRA_DIST += scripts/transformers.tcl

unit_tests += \
	tests/unit/workloads/test_layer \
	tests/unit/workloads/test_layer_kinds \
	tests/unit/workloads/test_layer_types_read \
	tests/unit/workloads/test_models \
	tests/unit/workloads/test_onnx_read \
	tests/unit/workloads/test_scalesim_read \
	tests/unit/workloads/test_workload \
	tests/unit/workloads/test_workload_read
