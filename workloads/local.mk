# workloads/ - what is computed.
libtharsis_a_SOURCES += \
	workloads/layer.c workloads/layer.h \
	workloads/layer_boxes.c \
	workloads/layer_inputs_read.c workloads/layer_inputs_read.h \
	workloads/layer_keys_read.c workloads/layer_keys_read.h \
	workloads/layer_types_read.c workloads/layer_types_read.h \
	workloads/fuse/attention.c \
	workloads/fuse/fuse.c workloads/fuse/fuse.h \
	workloads/fuse/norm.c \
	workloads/fuse/passes.c \
	workloads/fuse/plan.c workloads/fuse/plan.h \
	workloads/models.c workloads/models.h \
	workloads/transformer/forward.c \
	workloads/transformer/presets.c \
	workloads/transformer/transformer.c workloads/transformer/transformer.h \
	workloads/onnx/emit.c \
	workloads/onnx/emit.h \
	workloads/onnx/experts.c \
	workloads/onnx/external.c \
	workloads/onnx/shape/fold.c \
	workloads/onnx/shape/fold.h \
	workloads/onnx/shape/fold_axes.c \
	workloads/onnx/given.c \
	workloads/onnx/graph.c \
	workloads/onnx/graph.h \
	workloads/onnx/inputs.c \
	workloads/onnx/inputs.h \
	workloads/onnx/layout.c \
	workloads/onnx/layout.h \
	workloads/onnx/attention.c \
	workloads/onnx/body.c \
	workloads/onnx/body.h \
	workloads/onnx/fused.c \
	workloads/onnx/nodes.c \
	workloads/onnx/nodes.h \
	workloads/onnx/op.h \
	workloads/onnx/op_table.c \
	workloads/onnx/options.h \
	workloads/onnx/order.c \
	workloads/onnx/order.h \
	workloads/onnx/product.c \
	workloads/onnx/product.h \
	workloads/onnx/read.c \
	workloads/onnx/read.h \
	workloads/onnx/read_pass.c \
	workloads/onnx/read_product.c \
	workloads/onnx/read_recurrent.c \
	workloads/onnx/read_view.c \
	workloads/onnx/read_window.c \
	workloads/onnx/sequence.c \
	workloads/onnx/shape/shape.c \
	workloads/onnx/shape/shape_axes.c \
	workloads/onnx/shape/shape_resize.c \
	workloads/onnx/shape/shape_window.c \
	workloads/onnx/stated.c \
	workloads/onnx/unrolled.c \
	workloads/onnx/shape/value.c \
	workloads/onnx/shape/value.h \
	workloads/trace/groups_read.c workloads/trace/groups_read.h \
	workloads/trace/node_read.c workloads/trace/node_read.h \
	workloads/trace/node_write.c workloads/trace/node_write.h \
	workloads/trace/trace.c workloads/trace/trace.h \
	workloads/trace/trace_custom.c workloads/trace/trace_custom.h \
	workloads/trace/trace_read.c workloads/trace/trace_read.h \
	workloads/trace/trace_write.c workloads/trace/trace_write.h \
	workloads/workload.c workloads/workload.h \
	workloads/workload_check.c workloads/workload_check.h \
	workloads/workload_finish.c \
	workloads/workload_fields.c workloads/workload_fields.h \
	workloads/workload_read.c workloads/workload_read.h \
	workloads/workload_write.c workloads/workload_write.h

# What protoc-c writes, whose warnings are its own.
nodist_libmessages_a_SOURCES = workloads/onnx/onnx.pb-c.c workloads/onnx/onnx.pb-c.h \
	workloads/trace/trace.pb-c.c workloads/trace/trace.pb-c.h
libmessages_a_CFLAGS = $(AM_CFLAGS) -w
BUILT_SOURCES += $(nodist_libmessages_a_SOURCES)
CLEANFILES += $(nodist_libmessages_a_SOURCES)
EXTRA_DIST += workloads/onnx/onnx.proto workloads/trace/trace.proto
workloads/onnx/onnx.pb-c.c: workloads/onnx/onnx.proto
	$(AM_V_GEN)$(MKDIR_P) workloads/onnx && $(PROTOC_C) --proto_path=$(srcdir)/workloads/onnx --c_out=workloads/onnx $(srcdir)/workloads/onnx/onnx.proto
workloads/onnx/onnx.pb-c.h: workloads/onnx/onnx.pb-c.c
	@test -f $@ || { rm -f workloads/onnx/onnx.pb-c.c; $(MAKE) $(AM_MAKEFLAGS) workloads/onnx/onnx.pb-c.c; }
workloads/trace/trace.pb-c.c: workloads/trace/trace.proto
	$(AM_V_GEN)$(MKDIR_P) workloads/trace && $(PROTOC_C) --proto_path=$(srcdir)/workloads/trace --c_out=workloads/trace $(srcdir)/workloads/trace/trace.proto
workloads/trace/trace.pb-c.h: workloads/trace/trace.pb-c.c
	@test -f $@ || { rm -f workloads/trace/trace.pb-c.c; $(MAKE) $(AM_MAKEFLAGS) workloads/trace/trace.pb-c.c; }
# Of a tree that is not built yet, make TARGET makes these too: BUILT_SOURCES is for all, check and install alone.
$(libtharsis_a_OBJECTS) tests/unit/workloads/test_onnx_read.$(OBJEXT) tests/unit/workloads/test_onnx_random.$(OBJEXT) \
tests/unit/workloads/test_onnx_unrolled.$(OBJEXT) \
tests/unit/workloads/test_onnx_refuse.$(OBJEXT): | workloads/onnx/onnx.pb-c.h workloads/trace/trace.pb-c.h

dist_models_DATA = \
	workloads/models/decoder_block.onnx \
	workloads/models/alexnet.cfg \
	workloads/models/alexnet_2012.cfg \
	workloads/models/alexnet_2012_fp32.cfg \
	workloads/models/alexnet_one.cfg \
	workloads/models/bert_base.cfg \
	workloads/models/bert_large.cfg \
	workloads/models/bert_large_pretraining.cfg \
	workloads/models/casia_surf.cfg \
	workloads/models/convnext_tiny.cfg \
	workloads/models/densenet121.cfg \
	workloads/models/dlrm.cfg \
	workloads/models/efficientnet_b0.cfg \
	workloads/models/facebagnet.cfg \
	workloads/models/gpt2.cfg \
	workloads/models/gpt2_block.cfg \
	workloads/models/gpt2_large.cfg \
	workloads/models/gpt2_med.cfg \
	workloads/models/gpt3_27.cfg \
	workloads/models/gpt3_xl.cfg \
	workloads/models/inception_v3.cfg \
	workloads/models/lenet.cfg \
	workloads/models/lstm_lm.cfg \
	workloads/models/mobilenet_v2.cfg \
	workloads/models/mobilenet_v3_large.cfg \
	workloads/models/mobilenet_v3_small.cfg \
	workloads/models/opt_13.cfg \
	workloads/models/resnet101.cfg \
	workloads/models/resnet152.cfg \
	workloads/models/resnet18.cfg \
	workloads/models/resnet34.cfg \
	workloads/models/resnet50.cfg \
	workloads/models/unet.cfg \
	workloads/models/vgg16.cfg \
	workloads/models/vgg16_conv.cfg \
	workloads/models/vgg19.cfg \
	workloads/models/vit_b_16.cfg \
	workloads/models/wrn50_2.cfg

EXTRA_DIST += scripts/classic_networks.tcl scripts/networks.tcl scripts/transformers.tcl

unit_tests += \
	tests/unit/workloads/test_layer \
	tests/unit/workloads/test_layer_counts \
	tests/unit/workloads/test_layer_kinds \
	tests/unit/workloads/test_layer_types_read \
	tests/unit/workloads/test_models \
	tests/unit/workloads/test_fuse \
	tests/unit/workloads/test_onnx_random \
	tests/unit/workloads/test_onnx_read \
	tests/unit/workloads/test_onnx_refuse \
	tests/unit/workloads/test_onnx_unrolled \
	tests/unit/workloads/test_round_trip \
	tests/unit/workloads/test_trace_files \
	tests/unit/workloads/test_trace_read \
	tests/unit/workloads/test_transformer \
	tests/unit/workloads/test_workload \
	tests/unit/workloads/test_workload_read

EXTRA_DIST += tests/unit/draw.h tests/unit/onnx_model.h tests/unit/trace_help.h tests/unit/workload_help.h
