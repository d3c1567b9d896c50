"""The signatures of the operators of com.microsoft, as onnxruntime defines them, the limits of
their converters, and the reasons why others are not supported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from onnx import AttributeProto, helper
from onnx.defs import OpSchema

DOMAIN = "com.microsoft"

SIGNATURES = """
Attention input weights bias? mask_index? past? attention_bias? past_sequence_length? -> output present? | num_heads!int unidirectional=0 scale:float mask_filter_value:float do_rotary:int rotary_embedding_dim:int past_present_share_buffer:int qkv_hidden_sizes:ints
BiasAdd X bias skip -> Y
BiasDropout data bias residual? ratio? training_mode? -> output mask? | seed:int
BiasGelu A B -> C
BiasSoftmax data bias -> output | axis=1 is_inner_broadcast!int
BiasSplitGelu X bias -> Y
CDist A B -> C | metric="sqeuclidean"
ConvTransposeWithDynamicPads X W Pads? B? -> Y | auto_pad="NOTSET" dilations:ints group=1 kernel_shape:ints output_padding:ints strides:ints
CropAndResize X rois batch_indices crop_size -> Y | mode="bilinear" extrapolation_value=0.0
DequantizeLinear x x_scale x_zero_point? -> y | axis:int
DynamicQuantizeMatMul A B b_scale b_zero_point? bias? -> Y
EmbedLayerNormalization input_ids segment_ids? word_embedding position_embedding segment_embedding? gamma beta mask? position_ids? -> output mask_index? embedding_sum? | epsilon=1e-12 mask_index_type:int
ExpandDims X axis -> Y
FastGelu X bias? -> Y
FusedConv X W B? Z? -> Y | auto_pad="NOTSET" dilations:ints group=1 kernel_shape:ints pads:ints strides:ints activation:string activation_params:floats
FusedGemm A B C? -> Y | transA=0 transB=0 alpha=1.0 beta=1.0 activation:string activation_alpha:float activation_beta:float activation_gamma:float
FusedMatMul A B -> Y | alpha=1.0 transA=0 transB=0 transBatchA=0 transBatchB=0
FusedMatMulActivation A B -> Y | alpha=1.0 transA=0 transB=0 transBatchA=0 transBatchB=0 activation!string activation_alpha:float activation_beta:float activation_gamma:float activation_axis:int
GatherBlockQuantized data indices scales zero_points? -> output | bits=4 block_size=128 quantize_axis=1 gather_axis=0
GatherND data indices -> output
Gelu X -> Y
GemmFastGelu X W bias? -> Y
GridSample X Grid -> Y | mode="bilinear" padding_mode="zeros" align_corners=0
GroupNorm X gamma beta -> Y | epsilon=1e-05 groups!int activation!int channels_last=1
GroupQueryAttention query key? value? past_key? past_value? seqlens_k total_sequence_length cos_cache? sin_cache? position_ids? attention_bias? head_sink? k_scale? v_scale? q_norm_weight? k_norm_weight? query_seqlens? -> output present_key? present_value? output_qk? | num_heads!int kv_num_heads!int scale:float softcap:float local_window_size=-1 causal=1 do_rotary:int rotary_interleaved:int smooth_softmax=-1 qk_output=0 k_quant_type="NONE" v_quant_type="NONE" kv_cache_bit_width:int q_norm_epsilon:float k_norm_epsilon:float qk_norm_epsilon=1e-06 sliding_window_cache=0
Inverse X -> Y
IsAllFinite input* -> output | isinf_only=0 isnan_only=0
MatMulIntegerToFloat A B a_scale b_scale a_zero_point? b_zero_point? bias? -> Y
MatMulNBits A B scales zero_points? g_idx? bias? -> Y | K!int N!int bits=4 block_size!int accuracy_level=0 weight_prepacked=0
MultiHeadAttention query key? value? bias? key_padding_mask? attention_bias? past_key? past_value? past_sequence_length? cache_indirection? -> output present_key? present_value? qk? | num_heads!int scale:float mask_filter_value:float unidirectional=0
NGramRepeatBlock input_ids scores -> scores_out | ngram_size!int
NhwcConv X W B? -> Y | auto_pad="NOTSET" dilations:ints group=1 kernel_shape:ints pads:ints strides:ints
NhwcFusedConv X W B? Z? -> Y | auto_pad="NOTSET" dilations:ints group=1 kernel_shape:ints pads:ints strides:ints activation:string activation_params:floats
Pad data pads value? -> output | mode="constant"
QAttention input weight bias input_scale weight_scale mask_index? input_zero_point? weight_zero_point? past? -> output present? | num_heads!int unidirectional=0 scale:float mask_filter_value:float do_rotary:int past_present_share_buffer:int
QGemm A a_scale a_zero_point B b_scale b_zero_point C? y_scale? y_zero_point? -> Y | alpha=1.0 transA=0 transB=0
QLinearAdd A A_scale A_zero_point? B B_scale B_zero_point? C_scale C_zero_point? -> C
QLinearAveragePool X x_scale x_zero_point? y_scale y_zero_point? -> Y | auto_pad="NOTSET" ceil_mode=0 channels_last=0 count_include_pad=0 kernel_shape!ints pads:ints strides:ints
QLinearConcat Y_scale Y_zero_point inputs* -> Y | axis!int
QLinearConv x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B? -> y | auto_pad="NOTSET" channels_last=0 dilations:ints group=1 kernel_shape:ints pads:ints strides:ints
QLinearGlobalAveragePool X x_scale x_zero_point y_scale y_zero_point -> Y | channels_last=0
QLinearLeakyRelu X X_scale X_zero_point? Y_scale Y_zero_point? -> Y | alpha=0.01
QLinearMul A A_scale A_zero_point? B B_scale B_zero_point? C_scale C_zero_point? -> C
QLinearReduceMean data data_scale data_zero_point? reduced_scale reduced_zero_point? -> reduced | axes!ints keepdims!int
QLinearSigmoid X X_scale X_zero_point? Y_scale Y_zero_point? -> Y
QLinearSoftmax X X_scale x_zero_point? y_scale y_zero_point -> Y | axis=-1 opset!int
QLinearWhere condition X x_scale x_zero_point Y y_scale y_zero_point z_scale z_zero_point -> Z
QuantizeLinear x y_scale y_zero_point? -> y | axis:int
QuickGelu X -> Y | alpha=1.702
Range start limit delta? -> Y
RotaryEmbedding input position_ids cos_cache sin_cache -> output | scale:float interleaved:int rotary_embedding_dim:int num_heads:int is_packed_batching:int
SampleOp X -> Y
SkipGroupNorm X gamma beta skip bias? -> Y S? | epsilon=1e-05 groups!int activation!int channels_last=1
SkipLayerNormalization input skip gamma beta? bias? -> output mean? inv_std_var? input_skip_bias_sum? | epsilon=1e-12
SkipSimplifiedLayerNormalization input skip gamma bias? -> output mean? inv_std_var? input_skip_bias_sum? | epsilon=1e-12
TransposeMatMul A B -> Y | alpha=1.0 transA=0 transB=0
Trilu X k? -> Y | upper=1
UnfoldTensor input -> output | dim=-1 size!int step=1
Unique x -> y idx counts
"""  # noqa: E501
"""One operator a line: inputs and outputs (`?` is optional, `*` variadic), then attributes with a
default (`=`), without one (`:`), and required (`!`)."""

EARLY_SIGNATURES = """
LayerNormalization X Scale B? -> Y Mean? InvStdDev? | axis=-1 epsilon=1e-05 stash_type=1
SimplifiedLayerNormalization X scale -> Y inv_std_var? | axis=-1 epsilon=1e-05 stash_type=1
"""
"""Operators that onnxruntime defines in ONNX's own domain, in every opset."""

_PACKED = "the lengths of its sequences are values, not shapes"
_SEARCH = "it runs a whole search over the graphs in its attributes"
_SHARED = "its past and present share a buffer, which it changes"
_SPARSE = "sparse tensors are not supported"
_DEVICE = "it exists for one kind of device alone"

LIMITS: Mapping[str, str] = {
    "Attention, MultiHeadAttention": (
        "no buffer that past and present share, no rotary embedding inside, no packed "
        "batches; masks of one, two and three dimensions."
    ),
    "GatherBlockQuantized": (
        "numbers in bytes, and their zero points, are constants; no floats of 4 and 8 bits."
    ),
    "GroupQueryAttention": (
        "caches that are not quantized; no `sliding_window_cache`, `qk_output`, "
        "`query_seqlens`, `q_norm_weight`. The cache is a new one; elements after the last "
        "are 0."
    ),
    "RotaryEmbedding": "no `scale`, which onnxruntime's kernels ignore, and no packed batches.",
    "ConvTransposeWithDynamicPads, CropAndResize, ExpandDims": (
        "the padding, size or axis is a constant."
    ),
    "BiasDropout": "at inference.",
}
"""What converters do not accept, by the names of operators, as docs/onnx.md says it."""

REFUSED: Mapping[str, str] = {
    "BeamSearch": _SEARCH,
    "BifurcationDetector": "it compares token lists of a search, of a length that is a value",
    "DecoderMaskedMultiHeadAttention": _SHARED,
    "DecoderMaskedSelfAttention": _SHARED,
    "DynamicQuantizeLSTM": "it quantizes its state anew in each step",
    "EPContext": "it is a program for one device, compiled",
    "GreedySearch": _SEARCH,
    "LongformerAttention": _DEVICE,
    "MaxpoolWithMask": "it is not defined beyond its kernel",
    "MoE": "it routes each row to experts that are values",
    "MurmurHash3": "hashes are not supported",
    "PackedAttention": _PACKED,
    "PackedMultiHeadAttention": _PACKED,
    "PagedAttention": _PACKED,
    "QEmbedLayerNormalization": "its tables are quantized in a form that no exporter writes",
    "RemovePadding": _PACKED,
    "RestorePadding": _PACKED,
    "Sampling": _SEARCH + ", at random",
    "Snpe": "it is a program for one device, compiled",
    "SparseAttention": _SPARSE,
    "SparseToDenseMatMul": _SPARSE,
    "Tokenizer": "strings are not supported",
    "WhisperBeamSearch": _SEARCH,
    "WordConvEmbedding": "strings are not supported",
}
"""Operators that are not supported, with the reason."""


def contrib_schema(name: str) -> OpSchema | None:
    """Return the schema of an operator of com.microsoft that is supported, or None."""
    return _schemas(SIGNATURES, DOMAIN).get(name)


def early_schema(name: str) -> OpSchema | None:
    """Return the schema of an operator that onnxruntime defines in ONNX's own domain."""
    return _schemas(EARLY_SIGNATURES, "").get(name)


def contrib_names() -> list[str]:
    """Return the names of the operators with a signature."""
    return [*_schemas(SIGNATURES, DOMAIN)]


@cache
def _schemas(text: str, domain: str) -> Mapping[str, OpSchema]:
    schemas = (_schema(line, domain) for line in text.strip().splitlines())
    return {schema.name: schema for schema in schemas}


def _schema(line: str, domain: str) -> OpSchema:
    """Parse a signature."""
    parameters, _, attributes = line.partition(" | ")
    inputs, _, outputs = parameters.partition(" -> ")
    name, *inputs = inputs.split()
    return OpSchema(
        name,
        domain,
        1,
        inputs=[_parameter(text) for text in inputs],
        outputs=[_parameter(text) for text in outputs.split()],
        attributes=[_attribute(text) for text in attributes.split()],
    )


_OPTIONS = {
    "?": OpSchema.FormalParameterOption.Optional,
    "*": OpSchema.FormalParameterOption.Variadic,
}


def _parameter(text: str) -> OpSchema.FormalParameter:
    """Return a parameter of any tensor type: converters check the types."""
    option = _OPTIONS.get(text[-1], OpSchema.FormalParameterOption.Single)
    return OpSchema.FormalParameter(
        text.rstrip("?*"), "tensor(float)", param_option=option, is_homogeneous=False
    )


_KINDS = {
    "float": OpSchema.AttrType.FLOAT,
    "floats": OpSchema.AttrType.FLOATS,
    "int": OpSchema.AttrType.INT,
    "ints": OpSchema.AttrType.INTS,
    "string": OpSchema.AttrType.STRING,
}


def _attribute(text: str) -> OpSchema.Attribute:
    for mark in "!:":
        name, found, kind = text.partition(mark)
        if found and "=" not in text:
            return OpSchema.Attribute(name, _KINDS[kind], "", required=mark == "!")
    name, _, value = text.partition("=")
    return OpSchema.Attribute(name, _default(name, value), "")


def _default(name: str, value: str) -> AttributeProto:
    if value.startswith('"'):
        return helper.make_attribute(name, value.strip('"'))
    return helper.make_attribute(name, float(value) if "." in value or "e" in value else int(value))
