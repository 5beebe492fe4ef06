/* SPDX-License-Identifier: GPL-3.0-or-later */
/* op_table.c - the operators of ONNX, one row each: ai.onnx up to version 26, and the fused ones of
 * com.microsoft. */
#include <config.h>
#include "workloads/onnx/op.h"

#include <stdlib.h>
#include <string.h>

#define PRODUCT    TH_ONNX_PRODUCT
#define PASS       TH_ONNX_PASS
#define VIEW       TH_ONNX_VIEW
#define SHAPE      TH_ONNX_SHAPE
#define REFUSED    TH_ONNX_REFUSED
#define RULE(name) th_onnx_shape_##name
#define READ(name) th_onnx_read_##name
#define FOLD(name) th_onnx_fold_##name

/* A function of every element, and such a one that may end the layer before it. */
#define UNARY(name, f)                                                                             \
    {                                                                                              \
        name, PASS, RULE(same), READ(unary), NULL, NULL, 0, TH_FUNCTION_##f, false                 \
    }
#define FOLDED(name, f, number)                                                                    \
    {                                                                                              \
        name, PASS, RULE(same), READ(unary), FOLD(unary), NULL, TH_ONNX_##number, TH_FUNCTION_##f, \
            false                                                                                  \
    }
#define ACTIVATION(name, f)                                                                        \
    {                                                                                              \
        name, PASS, RULE(same), READ(activation), NULL, NULL, 0, TH_FUNCTION_##f, false            \
    }
#define BINARY(name, rule, f, number)                                                              \
    {                                                                                              \
        name, PASS, RULE(rule), READ(binary), FOLD(binary), NULL, TH_ONNX_##number,                \
            TH_FUNCTION_##f, false                                                                 \
    }
/* Such ones of two tensors, and reductions, that are not evaluated. */
#define COMBINED(name, f)                                                                          \
    {                                                                                              \
        name, PASS, RULE(broadcast), READ(binary), NULL, NULL, 0, TH_FUNCTION_##f, false           \
    }
#define NORM(name)                                                                                 \
    {                                                                                              \
        name, PASS, RULE(reduce), READ(reduce), NULL, NULL, 0, TH_FUNCTION_REDUCE, false           \
    }
#define REDUCE(name, number)                                                                       \
    {                                                                                              \
        name, PASS, RULE(reduce), READ(reduce), FOLD(reduce), NULL, TH_ONNX_##number,              \
            TH_FUNCTION_REDUCE, false                                                              \
    }
#define ROW(name, class, rule, read, fold, variant)                                                \
    {                                                                                              \
        name, class, RULE(rule), read, fold, NULL, variant, TH_FUNCTION_COPY, false                \
    }
#define DATA(name)                                                                                 \
    {                                                                                              \
        name, REFUSED, RULE(data), NULL, NULL, NULL, 0, TH_FUNCTION_NONE, false                    \
    }
#define UNREAD(name)                                                                               \
    {                                                                                              \
        name, REFUSED, NULL, NULL, NULL, NULL, 0, TH_FUNCTION_NONE, false                          \
    }
/* One that is read without an input, which is added to what it makes (fused.c). */
#define WITH_SUM(name, rule, variant, is_microsoft)                                                \
    {                                                                                              \
        name, PRODUCT, RULE(rule), READ(rule), NULL, th_onnx_replace_sum, variant,                 \
            TH_FUNCTION_COPY, is_microsoft                                                         \
    }
#define MICROSOFT(name, class, rule, read, variant, f)                                             \
    {                                                                                              \
        name, class, RULE(rule), READ(read), NULL, NULL, variant, TH_FUNCTION_##f, true            \
    }

#define REPLACED(name, class, rule, what, is_microsoft)                                            \
    {                                                                                              \
        name, class, NULL, NULL, NULL, th_onnx_replace_##rule, what, TH_FUNCTION_NONE,             \
            is_microsoft                                                                           \
    }

/* One of com.microsoft in whose place the statements of a text are read (body.h). */
#define BODY(name, class, text)                                                                    \
    {                                                                                              \
        name, class, NULL, NULL, NULL, th_onnx_replace_body, 0, TH_FUNCTION_NONE, true, text       \
    }

/* Sorted by name within a domain, ai.onnx first. */
static const th_onnx_operator operators[] = {
    FOLDED("Abs", SCALE, ABS),
    UNARY("Acos", POWER),
    UNARY("Acosh", POWER),
    BINARY("Add", broadcast, ADD, ADD),
    ROW("AffineGrid", PASS, affine_grid, READ(copy), NULL, 0),
    BINARY("And", boolean, MUL, AND),
    ROW("ArgMax", PASS, arg, READ(reduce), NULL, TH_ONNX_MAX),
    ROW("ArgMin", PASS, arg, READ(reduce), NULL, TH_ONNX_MIN),
    UNARY("Asin", POWER),
    UNARY("Asinh", POWER),
    UNARY("Atan", POWER),
    UNARY("Atanh", POWER),
    REPLACED("Attention", PRODUCT, own_attention, 0, false),
    ROW("AveragePool", PASS, pool, READ(pool), NULL, true),
    {"BatchNormalization", PASS, RULE(batch_norm), READ(batch_norm), NULL, NULL, 0,
     TH_FUNCTION_BATCH_NORM, false},
    UNARY("Bernoulli", COPY),
    ROW("BitCast", VIEW, cast, READ(same), NULL, 0),
    COMBINED("BitShift", MUL),
    BINARY("BitwiseAnd", broadcast, MUL, BIT_AND),
    UNARY("BitwiseNot", SCALE),
    BINARY("BitwiseOr", broadcast, ADD, BIT_OR),
    BINARY("BitwiseXor", broadcast, ADD, BIT_XOR),
    ROW("BlackmanWindow", SHAPE, window_function, READ(copy), NULL, 0),
    ROW("Cast", VIEW, cast, READ(same), FOLD(cast), 0),
    ROW("CastLike", VIEW, cast, READ(same), FOLD(cast), 1),
    FOLDED("Ceil", SCALE, CEIL),
    ACTIVATION("Celu", RELU),
    ROW("CenterCropPad", PASS, center_crop_pad, READ(copy), NULL, 0),
    ACTIVATION("Clip", RELU),
    ROW("Col2Im", PASS, col2im, READ(copy), NULL, 0),
    DATA("Compress"),
    ROW("Concat", PASS, concat, READ(concat), FOLD(concat), 0),
    REPLACED("ConcatFromSequence", PASS, concat_from_sequence, 0, false),
    ROW("Constant", SHAPE, constant, NULL, FOLD(constant), 0),
    ROW("ConstantFill", SHAPE, filled, NULL, NULL, 0),
    ROW("ConstantOfShape", SHAPE, filled, READ(copy), FOLD(filled), 0),
    ROW("Conv", PRODUCT, conv, READ(conv), NULL, 1),
    ROW("ConvInteger", PRODUCT, conv, READ(conv), NULL, 1),
    ROW("ConvTranspose", PRODUCT, conv_transpose, READ(conv_transpose), NULL, 1),
    UNARY("Cos", POWER),
    UNARY("Cosh", POWER),
    UNARY("CumProd", COPY),
    {"CumSum", PASS, RULE(same), READ(unary), FOLD(cumsum), NULL, 0, TH_FUNCTION_COPY, false},
    ROW("DFT", PRODUCT, dft, READ(copy), NULL, 0),
    ROW("DeformConv", PRODUCT, conv, READ(conv), NULL, 1),
    ROW("DepthToSpace", PASS, depth_to_space, READ(copy), NULL, 0),
    UNARY("DequantizeLinear", SCALE),
    ROW("Det", PRODUCT, det, READ(copy), NULL, 0),
    BINARY("Div", broadcast, MUL, DIV),
    ROW("Dropout", VIEW, same, READ(same), FOLD(same), 0),
    ROW("DynamicQuantizeLinear", PASS, quantize, READ(unary), NULL, 0),
    {"Einsum", PRODUCT, RULE(einsum), READ(einsum), NULL, th_onnx_replace_einsum, 0,
     TH_FUNCTION_COPY, false},
    ACTIVATION("Elu", RELU),
    BINARY("Equal", boolean, ADD, EQUAL),
    UNARY("Erf", POWER),
    FOLDED("Exp", POWER, EXP),
    ROW("Expand", PASS, expand, READ(expand), FOLD(expand), 0),
    ROW("EyeLike", SHAPE, filled, READ(copy), FOLD(eye), 1),
    ROW("Flatten", VIEW, flatten, READ(reshaped), FOLD(same), 0),
    FOLDED("Floor", SCALE, FLOOR),
    ROW("GRU", PRODUCT, recurrent, READ(recurrent), NULL, TH_LAYER_GRU),
    ROW("Gather", PASS, gather, READ(gather), FOLD(gather), 0),
    ROW("GatherElements", PASS, gather_elements, READ(copy), NULL, 0),
    ROW("GatherND", PASS, gather_nd, READ(copy), NULL, 0),
    ACTIVATION("Gelu", GELU),
    WITH_SUM("Gemm", gemm, 0, false),
    ROW("GlobalAveragePool", PASS, global_pool, READ(global_pool), NULL, true),
    ROW("GlobalLpPool", PASS, global_pool, READ(global_pool), NULL, true),
    ROW("GlobalMaxPool", PASS, global_pool, READ(global_pool), NULL, false),
    BINARY("Greater", boolean, ADD, GREATER),
    BINARY("GreaterOrEqual", boolean, ADD, GREATER_OR_EQUAL),
    ROW("GridSample", PASS, grid, READ(copy), NULL, 0),
    {"GroupNormalization", PASS, RULE(same), READ(image_norm), NULL, NULL, 0,
     TH_FUNCTION_LAYER_NORM, false},
    ROW("HammingWindow", SHAPE, window_function, READ(copy), NULL, 0),
    ROW("HannWindow", SHAPE, window_function, READ(copy), NULL, 0),
    ACTIVATION("HardSigmoid", SIGMOID),
    ACTIVATION("HardSwish", SILU),
    UNARY("Hardmax", COPY),
    ROW("Identity", VIEW, same, READ(same), FOLD(same), 0),
    DATA("ImageDecoder"),
    {"InstanceNormalization", PASS, RULE(same), READ(image_norm), NULL, NULL, 0,
     TH_FUNCTION_BATCH_NORM, false},
    {"IsInf", PASS, RULE(boolean), READ(unary), NULL, NULL, 0, TH_FUNCTION_SCALE, false},
    {"IsNaN", PASS, RULE(boolean), READ(unary), NULL, NULL, 0, TH_FUNCTION_SCALE, false},
    UNARY("LRN", POWER),
    ROW("LSTM", PRODUCT, recurrent, READ(recurrent), NULL, TH_LAYER_LSTM),
    {"LayerNormalization", PASS, RULE(norm), READ(norm), NULL, NULL, 0, TH_FUNCTION_LAYER_NORM,
     false},
    ACTIVATION("LeakyRelu", RELU),
    BINARY("Less", boolean, ADD, LESS),
    BINARY("LessOrEqual", boolean, ADD, LESS_OR_EQUAL),
    FOLDED("Log", POWER, LOG),
    ROW("LogSoftmax", PASS, same, READ(softmax), NULL, 0),
    REPLACED("Loop", VIEW, loop, 0, false),
    UNARY("LpNormalization", POWER),
    ROW("LpPool", PASS, pool, READ(pool), NULL, true),
    ROW("MatMul", PRODUCT, matmul, READ(matmul), NULL, 0),
    ROW("MatMulInteger", PRODUCT, matmul, READ(matmul), NULL, 0),
    BINARY("Max", broadcast, ADD, MAX),
    ROW("MaxPool", PASS, pool, READ(pool), NULL, false),
    ROW("MaxRoiPool", PASS, roi, READ(copy), NULL, 1),
    ROW("MaxUnpool", PASS, unpool, READ(copy), NULL, 0),
    COMBINED("Mean", ADD),
    UNARY("MeanVarianceNormalization", POWER),
    ROW("MelWeightMatrix", SHAPE, window_function, READ(copy), NULL, 1),
    BINARY("Min", broadcast, ADD, MIN),
    ACTIVATION("Mish", SILU),
    BINARY("Mod", broadcast, MUL, MOD),
    BINARY("Mul", broadcast, MUL, MUL),
    ROW("Multinomial", PASS, multinomial, READ(copy), NULL, 0),
    FOLDED("Neg", SCALE, NEG),
    ROW("NegativeLogLikelihoodLoss", PASS, loss, READ(copy), NULL, 1),
    DATA("NonMaxSuppression"),
    ROW("NonZero", SHAPE, data, NULL, FOLD(nonzero), 0),
    {"Not", PASS, RULE(same), READ(unary), FOLD(unary), NULL, TH_ONNX_NOT, TH_FUNCTION_SCALE,
     false},
    ROW("OneHot", PASS, one_hot, READ(copy), NULL, 0),
    REPLACED("Optional", VIEW, optional, 0, false),
    REPLACED("OptionalGetElement", VIEW, optional, 0, false),
    REPLACED("OptionalHasElement", SHAPE, optional, 1, false),
    BINARY("Or", boolean, ADD, OR),
    ACTIVATION("PRelu", RELU),
    ROW("Pad", PASS, pad, READ(copy), NULL, 0),
    BINARY("Pow", broadcast, POWER, POW),
    ROW("QLinearConv", PRODUCT, conv, READ(conv), NULL, 3),
    ROW("QLinearMatMul", PRODUCT, matmul, READ(matmul), NULL, 3),
    UNARY("QuantizeLinear", SCALE),
    {"RMSNormalization", PASS, RULE(norm), READ(norm), NULL, NULL, 0, TH_FUNCTION_RMS_NORM, false},
    ROW("RNN", PRODUCT, recurrent, READ(recurrent), NULL, TH_LAYER_RNN),
    ROW("RandomNormal", SHAPE, filled, READ(copy), NULL, 0),
    ROW("RandomNormalLike", SHAPE, filled, READ(copy), NULL, 1),
    ROW("RandomUniform", SHAPE, filled, READ(copy), NULL, 0),
    ROW("RandomUniformLike", SHAPE, filled, READ(copy), NULL, 1),
    ROW("Range", SHAPE, range, READ(copy), FOLD(range), 0),
    FOLDED("Reciprocal", POWER, RECIPROCAL),
    NORM("ReduceL1"),
    NORM("ReduceL2"),
    NORM("ReduceLogSum"),
    NORM("ReduceLogSumExp"),
    REDUCE("ReduceMax", MAX),
    REDUCE("ReduceMean", MEAN),
    REDUCE("ReduceMin", MIN),
    REDUCE("ReduceProd", PROD),
    REDUCE("ReduceSum", SUM),
    NORM("ReduceSumSquare"),
    {"RegexFullMatch", PASS, RULE(boolean), READ(unary), NULL, NULL, 0, TH_FUNCTION_COPY, false},
    {"Relu", PASS, RULE(same), READ(activation), FOLD(unary), NULL, TH_ONNX_RELU, TH_FUNCTION_RELU,
     false},
    ROW("Reshape", VIEW, reshape, READ(reshaped), FOLD(same), 0),
    ROW("Resize", PASS, resize, READ(copy), NULL, 0),
    UNARY("ReverseSequence", COPY),
    ROW("RoiAlign", PASS, roi, READ(copy), NULL, 0),
    {"RotaryEmbedding", PASS, RULE(same), READ(unary), NULL, NULL, 0, TH_FUNCTION_SCALE, false},
    FOLDED("Round", SCALE, ROUND),
    ROW("STFT", PRODUCT, stft, READ(copy), NULL, 0),
    REPLACED("Scan", VIEW, scan, 0, false),
    ROW("Scatter", PASS, same, READ(copy), NULL, 0),
    ROW("ScatterElements", PASS, same, READ(copy), NULL, 0),
    ROW("ScatterND", PASS, same, READ(copy), FOLD(scatter_nd), 0),
    ACTIVATION("Selu", RELU),
    REPLACED("SequenceAt", VIEW, sequence_at, 0, false),
    REPLACED("SequenceConstruct", VIEW, sequence, 0, false),
    REPLACED("SequenceEmpty", VIEW, sequence, 0, false),
    REPLACED("SequenceErase", VIEW, sequence_insert, 1, false),
    REPLACED("SequenceInsert", VIEW, sequence_insert, 0, false),
    REPLACED("SequenceLength", SHAPE, sequence_length, 0, false),
    REPLACED("SequenceMap", VIEW, sequence_map, 0, false),
    ROW("Shape", SHAPE, shape, NULL, FOLD(shape), 0),
    UNARY("Shrink", SCALE),
    ACTIVATION("Sigmoid", SIGMOID),
    FOLDED("Sign", SCALE, SIGN),
    UNARY("Sin", POWER),
    UNARY("Sinh", POWER),
    ROW("Size", SHAPE, scalar, NULL, FOLD(size), TH_ONNX_INT64),
    ROW("Slice", PASS, slice, READ(part), FOLD(slice), 0),
    ROW("Softmax", PASS, same, READ(softmax), NULL, 0),
    ROW("SoftmaxCrossEntropyLoss", PASS, loss, READ(copy), NULL, 0),
    UNARY("Softplus", POWER),
    UNARY("Softsign", POWER),
    ROW("SpaceToDepth", PASS, space_to_depth, READ(copy), NULL, 0),
    ROW("Split", PASS, split, READ(part), FOLD(split), 0),
    REPLACED("SplitToSequence", PASS, split_to_sequence, 0, false),
    FOLDED("Sqrt", POWER, SQRT),
    ROW("Squeeze", VIEW, squeeze, READ(reshaped), FOLD(same), 0),
    UNARY("StringConcat", COPY),
    DATA("StringNormalizer"),
    DATA("StringSplit"),
    BINARY("Sub", broadcast, ADD, SUB),
    BINARY("Sum", broadcast, ADD, ADD),
    ACTIVATION("Swish", SILU),
    UNARY("Tan", POWER),
    ACTIVATION("Tanh", TANH),
    ROW("TensorScatter", PASS, same, READ(copy), NULL, 0),
    UNREAD("TfIdfVectorizer"),
    ACTIVATION("ThresholdedRelu", RELU),
    ROW("Tile", PASS, tile, READ(copy), FOLD(tile), 0),
    ROW("TopK", PASS, top_k, READ(copy), NULL, 0),
    ROW("Transpose", VIEW, transpose, READ(transpose), FOLD(transpose), 0),
    UNARY("Trilu", SCALE),
    DATA("Unique"),
    ROW("Unsqueeze", VIEW, unsqueeze, READ(reshaped), FOLD(same), 0),
    ROW("Upsample", PASS, resize, READ(copy), NULL, 1),
    {"Where", PASS, RULE(broadcast), READ(binary), FOLD(where), NULL, 0, TH_FUNCTION_MUL, false},
    BINARY("Xor", boolean, ADD, XOR),
    /* com.microsoft */
    REPLACED("Attention", PRODUCT, attention, 4, true),
    MICROSOFT("BiasAdd", PASS, broadcast, binary, 0, ADD),
    BODY("BiasDropout", PASS, "Sum in0 in1 ?in2 > ."),
    MICROSOFT("BiasGelu", PASS, same, activation, 0, GELU),
    MICROSOFT("BiasSoftmax", PASS, same, softmax, 1, COPY),
    BODY("BiasSplitGelu", PASS,
         "Add in0 in1 > sum;Split sum > x gate axis=-1 num_outputs=2;Gelu gate > g;Mul x g > ."),
    BODY("BitmaskBiasDropout", PASS, "Sum in0 in1 ?in2 > ."),
    BODY("BitmaskDropout", VIEW, "Identity in0 > ."),
    BODY("CDist", PRODUCT, "Transpose in1 > turned perm=1,0;MatMul in0 turned > ."),
    MICROSOFT("ComplexMul", PASS, broadcast, binary, 0, MUL),
    MICROSOFT("ComplexMulConj", PASS, broadcast, binary, 0, MUL),
    BODY("DecoderMaskedMultiHeadAttention", PRODUCT,
         "MultiHeadAttention in0 ?in1 ?in2 - - - ?in5 ?in6 ?in7 > . k v qk *"),
    BODY("DecoderMaskedSelfAttention", PRODUCT,
         "Attention in0 in1 ?in2 - ?in4 - ?in6 > . kv past_present_share_buffer=1 *"),
    MICROSOFT("DequantizeWithOrder", PASS, same, unary, 0, SCALE),
    BODY("DynamicQuantizeLSTM", PRODUCT,
         "Transpose in1 > w perm=0,2,1;Transpose in2 > r perm=0,2,1;LSTM in0 w r ?in3 > . h c *"),
    BODY("DynamicQuantizeMatMul", PRODUCT, "MatMul in0 in1 > ."),
    REPLACED("EmbedLayerNormalization", PASS, embed_layer_norm, 0, true),
    BODY("ExpandDims", VIEW, "Unsqueeze in0 in1 > ."),
    MICROSOFT("FastGelu", PASS, same, activation, 0, GELU),
    WITH_SUM("FusedConv", conv, 1, true),
    WITH_SUM("FusedGemm", gemm, 0, true),
    MICROSOFT("FusedMatMul", PRODUCT, matmul, matmul, 0, COPY),
    BODY("FusedMatMulActivation", PRODUCT, "FusedMatMul in0 in1 > . *"),
    MICROSOFT("Gelu", PASS, same, activation, 0, GELU),
    BODY("GemmFastGelu", PRODUCT, "MatMul in0 in1 > product;BiasGelu product ?in2 > ."),
    BODY("GemmFloat8", PRODUCT, "Gemm in0 in1 ?in2 > . *"),
    REPLACED("GroupNorm", PASS, group_norm, 0, true),
    REPLACED("GroupQueryAttention", PRODUCT, group_query_attention, 0, true),
    MICROSOFT("Inverse", PRODUCT, same, copy, 0, COPY),
    MICROSOFT("MatMulBnb4", PRODUCT, matmul, matmul, 0, COPY),
    BODY("MatMulInteger16", PRODUCT, "MatMul in0 in1 > ."),
    BODY("MatMulIntegerToFloat", PRODUCT, "MatMul in0 in1 > ."),
    MICROSOFT("MatMulNBits", PRODUCT, matmul, matmul, 0, COPY),
    BODY("MaxpoolWithMask", PASS, "MaxPool in0 > . *"),
    REPLACED("MoE", PRODUCT, experts, 0, true),
    BODY("MulInteger", PASS, "Mul in0 in2 > ."),
    REPLACED("MultiHeadAttention", PRODUCT, multi_head_attention, 0, true),
    MICROSOFT("MurmurHash3", PASS, same, unary, 0, COPY),
    REPLACED("NhwcConv", PRODUCT, channels_last, 0, true),
    REPLACED("NhwcFusedConv", PRODUCT, channels_last, 0, true),
    REPLACED("NhwcMaxPool", PASS, channels_last, 0, true),
    REPLACED("PackedAttention", PRODUCT, packed_attention, 0, true),
    REPLACED("PackedMultiHeadAttention", PRODUCT, packed_attention, 1, true),
    REPLACED("QAttention", PRODUCT, attention, 8, true),
    REPLACED("QEmbedLayerNormalization", PASS, embed_layer_norm, 0, true),
    BODY("QGemm", PRODUCT, "Gemm in0 in3 ?in6 > . *"),
    BODY("QLinearAdd", PASS, "Add in0 in3 > ."),
    BODY("QLinearAveragePool", PASS, "AveragePool in0 > . *"),
    REPLACED("QLinearConcat", PASS, quantized_concat, 0, true),
    BODY("QLinearGlobalAveragePool", PASS, "GlobalAveragePool in0 > ."),
    BODY("QLinearLeakyRelu", PASS, "LeakyRelu in0 > ."),
    BODY("QLinearMul", PASS, "Mul in0 in3 > ."),
    BODY("QLinearReduceMean", PASS, "ReduceMean in0 > . *"),
    BODY("QLinearSigmoid", PASS, "Sigmoid in0 > ."),
    BODY("QLinearSoftmax", PASS, "Softmax in0 > . *"),
    BODY("QLinearWhere", PASS, "Where in0 in1 in4 > ."),
    REPLACED("QMoE", PRODUCT, experts, 1, true),
    BODY("QOrderedGelu", PASS, "Gelu in0 > ."),
    BODY("QOrderedLayerNormalization", PASS, "LayerNormalization in0 in2 ?in3 > . *"),
    BODY("QOrderedMatMul", PRODUCT, "MatMul in0 in2 > ."),
    MICROSOFT("QuantizeWithOrder", PASS, same, unary, 0, SCALE),
    MICROSOFT("QuickGelu", PASS, same, activation, 0, SILU),
    MICROSOFT("RMSNormalization", PASS, norm, norm, 0, RMS_NORM),
    BODY("ReduceSumInteger", PASS, "ReduceSum in0 > . *"),
    MICROSOFT("RotaryEmbedding", PASS, same, unary, 0, SCALE),
    MICROSOFT("SimplifiedLayerNormalization", PASS, norm, norm, 0, RMS_NORM),
    REPLACED("SkipGroupNorm", PASS, group_norm, 1, true),
    MICROSOFT("SkipLayerNormalization", PASS, norm, norm, 1, LAYER_NORM),
    MICROSOFT("SkipSimplifiedLayerNormalization", PASS, norm, norm, 1, RMS_NORM),
    BODY("TorchEmbedding", PASS, "Gather in0 in1 > ."),
    MICROSOFT("TransposeMatMul", PRODUCT, matmul, matmul, 0, COPY),
};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

typedef struct {
    const char *name;
    bool is_microsoft;
} key;

static int compare(const void *a, const void *b)
{
    const key *k = a;
    const th_onnx_operator *o = b;
    if (k->is_microsoft != o->is_microsoft)
        return k->is_microsoft ? 1 : -1;
    return strcmp(k->name, o->name);
}

const th_onnx_operator *th_onnx_operator_find(const char *name, bool is_microsoft)
{
    const key k = {name, is_microsoft};
    return bsearch(&k, operators, N_OPERATORS, sizeof *operators, compare);
}

const th_onnx_operator *th_onnx_operator_at(int i)
{
    return i < N_OPERATORS ? &operators[i] : NULL;
}
