"""Operations with the shapes of their operands, to compare their gradients with differences.

Each text is an operation without types; `{0}`, `{1}` are its operands. The range is that of the
elements of floating-point operands; integers are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["CASES", "Case"]


@dataclass(frozen=True)
class Case:
    """An operation on f64 operands of these shapes, or on constants of integers."""

    op: str
    shapes: Sequence[str]
    properties: str = ""
    range: tuple[float, float] = (-2.0, 2.0)
    constants: dict[int, str] = field(default_factory=dict[int, str])
    """Operands that are constants: operand -> dense elements."""
    results: int = 1

    def __str__(self) -> str:
        return f"{self.op} {{{self.properties}}}"


POSITIVE, UNIT = (0.5, 2.0), (-0.9, 0.9)


def unary(*names: str, range: tuple[float, float] = (-2.0, 2.0)) -> list[Case]:
    return [Case(f"relax.{name}", ["3x4"], range=range) for name in names]


def binary(*names: str, range: tuple[float, float] = (-2.0, 2.0)) -> list[Case]:
    """Return cases without and with broadcasting."""
    shapes = [("3x4", "3x4"), ("3x4", "4"), ("3x1", "2x1x4"), ("", "2x3")]
    return [Case(f"relax.{name}", pair, range=range) for name in names for pair in shapes]


ELEMENTWISE = [
    *unary("abs", "negative", "sign", "square", "ceil", "floor", "round", "trunc"),
    *unary("sqrt", "rsqrt", "log", "log2", "log1p", range=POSITIVE),
    *unary("exp", "expm1", "sin", "cos", "sinh", "cosh", "tanh", "asinh", "atan", "erf", "sigmoid"),
    *unary("tan", "asin", "acos", "atanh", range=UNIT),
    *unary("acosh", range=(1.5, 3.0)),
    *unary("nn.relu", "nn.leaky_relu", "nn.gelu", "nn.gelu_tanh", "nn.silu", "nn.softplus"),
    *binary("add", "subtract", "multiply", "maximum", "minimum", "log_add_exp"),
    *binary("divide", "power", "atan2", "mod", "floor_mod", range=POSITIVE),
    *binary("floor_divide", range=(1.1, 1.9)),
    Case("relax.nn.leaky_relu", ["3x4"], "alpha = 0.3"),
    Case("relax.nn.prelu", ["2x3x4", "3"], "axis = 1"),
    Case("relax.nn.softplus", ["3x4"], "beta = 2.0, threshold = 1.0"),
    Case("relax.clip", ["3x4"], "min = -0.5, max = 0.5"),
    Case("relax.astype", ["3x4"], "dtype = f64"),
    Case("relax.where", ["3x1", "4", "2x1x4"], constants={0: "[[true], [false], [true]]"}),
    Case("relax.on_device", ["3"], "device = #relax.device<cpu>"),
    Case("relax.device_copy", ["3"], "src = #relax.device<cpu>, dst = #relax.device<cuda>"),
]

LINEAR_ALGEBRA = [
    Case("relax.matmul", ["3x4", "4x2"]),
    Case("relax.matmul", ["4", "4"]),
    Case("relax.matmul", ["4", "2x4x3"]),
    Case("relax.matmul", ["2x3x4", "4"]),
    Case("relax.matmul", ["2x1x3x4", "5x4x2"]),
    Case("relax.matmul", ["3x4", "2x4x2"]),
    Case("relax.nn.dense", ["2x3", "4x3"]),
    Case("relax.nn.dense", ["2x5x3", "4x3"]),
    Case("relax.nn.dense", ["3", "4x3"]),
    Case("relax.nn.batch_matmul", ["2x3x4", "2x5x4"]),
    Case("relax.nn.batch_matmul", ["1x4x3", "2x4x5"], "transpose_a = true, transpose_b = false"),
    Case("relax.nn.batch_matmul", ["2x1x4x3", "5x4"], "transpose_a = true"),
    Case("relax.einsum", ["2x3", "3x4"], 'subscripts = "ij,jk->ik"'),
    Case("relax.einsum", ["2x3", "3x4"], 'subscripts = "ij,jk->k"'),
    Case("relax.einsum", ["2x3", "4"], 'subscripts = "ij,k->"'),
    Case("relax.einsum", ["2x3", "1x3"], 'subscripts = "ij,ij->ij"'),
    Case("relax.einsum", ["5x2x3", "1x3x4"], 'subscripts = "...ij,...jk->...ik"'),
    Case("relax.einsum", ["2x3"], 'subscripts = "ij->ji"'),
    Case("relax.einsum", ["2x3", "3x2", "2"], 'subscripts = "ij,jk,k->i"'),
]


def conv(properties: str = "", data: str = "2x4x6x5", weight: str = "4x4x3x2") -> Case:
    return Case("relax.nn.conv2d", [data, weight], properties)


def transposed(properties: str, data: str = "2x4x3x3", weight: str = "4x2x3x2") -> Case:
    return Case("relax.nn.conv2d_transpose", [data, weight], properties)


CONVOLUTION = [
    conv(),
    conv("strides = [2, 3], padding = [1, 0, 2, 1], dilation = [1, 2]"),
    conv("strides = [3, 2], padding = [0, 1], dilation = [2, 1]", data="1x4x10x6"),
    conv("groups = 2, padding = [1, 1]", weight="6x2x3x2"),
    conv("groups = 4, strides = [2, 2], padding = [1, 1]", weight="8x1x3x2"),
    conv('data_layout = "NHWC", kernel_layout = "HWIO"', "2x6x5x4", "3x2x4x2"),
    conv('data_layout = "NCHW2c", kernel_layout = "OIHW2i2o"', "2x2x6x5x2", "1x2x3x2x2x2"),
    Case("relax.nn.conv1d", ["2x3x7", "4x3x3"], "strides = [2], padding = [1]"),
    Case("relax.nn.conv3d", ["1x2x4x3x4", "3x2x2x2x3"], "padding = [1, 0, 1]"),
    transposed(""),
    transposed("strides = [2, 2], padding = [1, 0, 1, 1], output_padding = [1, 0]"),
    transposed("strides = [3, 3], padding = [0, 1], output_padding = [2, 2]"),
    transposed("strides = [2, 3], dilation = [2, 1], groups = 2"),
    Case("relax.nn.conv1d_transpose", ["2x3x5", "3x2x3"], "strides = [2]"),
    Case("relax.nn.conv3d_transpose", ["1x2x2x3x2", "2x3x2x2x2"], "padding = [1, 0, 1]"),
]

DATA_MOVEMENT = [
    Case("relax.reshape", ["2x6"], "newshape = [3, -1]"),
    Case("relax.flatten", ["2x3"]),
    Case("relax.nn.batch_flatten", ["2x3x4"]),
    Case("relax.squeeze", ["2x1x3"], "axis = [1]"),
    Case("relax.expand_dims", ["2x3"], "axis = [0, 2]"),
    Case("relax.transpose", ["2x3x4"], "axes = [1, 2, 0]"),
    Case("relax.transpose", ["2x3x4"]),
    Case("relax.layout_transform", ["1x4x2x2"], 'src_layout = "NCHW", dst_layout = "NHWC2c"'),
    Case("relax.flip", ["2x3"], "axis = [0]"),
    Case("relax.reverse_sequence", ["3x4", "3"], "seq_axis = 1", constants={1: "[2, 4, 1]"}),
    Case("relax.trilu", ["3x4", ""], "upper = false", constants={1: "1"}),
    Case("relax.broadcast_to", ["3x1"], "shape = [2, 3, 4]"),
    Case("relax.tile", ["2x3"], "reps = [2, 1, 3]"),
    Case("relax.repeat", ["2x3"], "repeats = 2, axis = 1"),
    Case("relax.repeat", ["2x3"], "repeats = 3"),
    Case("relax.concatenate", ["2x3", "2x1", "2x2"], "axis = -1"),
    Case("relax.stack", ["2x3", "2x3"], "axis = 1"),
    Case("relax.split", ["2x5"], "indices = [2, 3], axis = 1", results=3),
    Case("relax.split", ["5"], "indices = [3, 1]", results=3),
    Case("relax.split", ["2x5"], "sections = 2, axis = -1", results=2),
    Case("relax.strided_slice", ["5x4"], "begin = [1], end = [3]"),
    Case("relax.strided_slice", ["7x4"], "begin = [1, 0], end = [7, 3], strides = [2, 2]"),
    Case("relax.strided_slice", ["7"], "begin = [-1], end = [0], strides = [-3]"),
    Case("relax.strided_slice", ["7x2"], "begin = [3], end = [3]"),
    Case("relax.nn.pad", ["3x4"], "pad_width = [1, 2, 0, 1], pad_value = 2.0"),
    Case("relax.nn.pad", ["3x4"], "pad_width = [-1, 2, 1, -2]"),
    Case("relax.nn.pad", ["3x4"], 'pad_width = [1, 2, 0, 3], pad_mode = "reflect"'),
    Case("relax.nn.pad", ["3x4"], 'pad_width = [1, 2, -1, 3], pad_mode = "edge"'),
    Case("relax.nn.pad", ["3x4"], 'pad_width = [1, 2, 5, 3], pad_mode = "circular"'),
    Case("relax.nn.space_to_depth", ["1x2x4x6"], "block_size = 2"),
    Case("relax.nn.depth_to_space", ["1x8x2x3"], "block_size = 2"),
    Case("relax.nn.depth_to_space", ["1x2x3x8"], 'block_size = 2, mode = "CRD", layout = "NHWC"'),
]

INDICES = {1: "[[0, 2], [1, 2]]"}
INDEXING = [
    Case("relax.take", ["4x3", "3"], "axis = 0", constants={1: "[2, 2, 9]"}),
    Case("relax.take", ["2x4x3", "2x2"], "axis = 1", constants={1: "[[0, -3], [2, 1]]"}),
    Case("relax.take", ["4x3", "3"], 'axis = -1, mode = "wrap"', constants={1: "[2, 4, -1]"}),
    Case("relax.take", ["4x3", "2"], 'axis = 1, mode = "raise"', constants={1: "[-1, 0]"}),
    Case("relax.take", ["4x3", ""], constants={1: "5"}),
    Case("relax.gather", ["3x3", "2x2"], "axis = 1", constants=INDICES),
    Case("relax.gather_nd", ["3x3x2", "2x2"], constants=INDICES),
    Case("relax.gather_nd", ["2x3x3", "2x2"], "batch_dims = 1", constants=INDICES),
    Case("relax.scatter_elements", ["3x3", "2x2", "2x2"], "axis = 1", constants=INDICES),
    Case(
        "relax.scatter_elements",
        ["3x3", "2x2", "2x2"],
        'reduction = "add"',
        constants={1: "[[0, 0], [0, 2]]"},
    ),
    Case("relax.scatter_nd", ["3x3x2", "2x2", "2x2"], constants=INDICES),
    Case(
        "relax.scatter_nd", ["4x2", "2x1", "2x2"], 'reduction = "add"', constants={1: "[[3], [3]]"}
    ),
    Case("relax.sort", ["3x4"], "axis = 0, descending = true"),
    Case("relax.topk", ["3x5"], "k = 2, largest = false", results=2),
]

REDUCTION = [
    Case(f"relax.{name}", ["2x3x4"], properties)
    for name in ("sum", "mean", "max", "min", "prod")
    for properties in ("", "axis = [0, -1]", "axis = [1], keepdims = true", "axis = []")
] + [
    Case(f"relax.{name}", ["2x4"], properties)
    for name in ("cumsum", "cumprod")
    for properties in (
        "",
        "axis = 0",
        "axis = 1, exclusive = true",
        "axis = -1, reverse = true",
        "axis = 0, exclusive = true, reverse = true",
    )
]


def pool(kind: str, dims: int, shape: str, properties: str) -> Case:
    return Case(f"relax.nn.{kind}_pool{dims}d", [shape], properties)


POOLING = [
    case
    for kind in ("max", "avg")
    for case in (
        pool(kind, 1, "2x3x7", "pool_size = [3], strides = [2], padding = [1]"),
        pool(kind, 2, "1x2x6x5", "pool_size = [3, 2], strides = [2, 2], padding = [1, 0, 1, 1]"),
        pool(kind, 2, "1x2x6x5", "pool_size = [2, 2], dilation = [2, 1]"),
        pool(kind, 2, "1x2x6x6", "pool_size = [3, 3], strides = [2, 2], ceil_mode = true"),
        pool(kind, 2, "1x6x5x2", 'pool_size = [2, 2], layout = "NHWC", out_layout = "NCHW"'),
        pool(kind, 3, "1x2x3x4x3", "pool_size = [2, 2, 2], padding = [1, 0, 1]"),
        pool("adaptive_" + kind, 1, "2x3x7", "output_size = [3]"),
        pool("adaptive_" + kind, 2, "1x2x5x6", "output_size = [2, 4]"),
        pool("adaptive_" + kind, 3, "1x2x3x4x3", "output_size = [2, 2, 3]"),
        pool("global_" + kind, 2, "2x3x4x5", ""),
    )
] + [
    pool("avg", 2, "1x2x6x5", "pool_size = [3, 2], padding = [1, 1], count_include_pad = true"),
    pool(
        "avg",
        1,
        "1x1x6",
        "pool_size = [3], strides = [2], padding = [1, 0], count_include_pad = true, "
        "ceil_mode = true",
    ),
    Case("relax.image.resize1d", ["1x2x4"], "size = [7]"),
    Case("relax.image.resize2d", ["1x2x4x3"], 'size = [7, 6], method = "nearest_neighbor"'),
    Case(
        "relax.image.resize2d",
        ["1x4x3x2"],
        'size = [3, 5], method = "cubic", layout = "NHWC", '
        'coordinate_transformation_mode = "align_corners"',
    ),
    Case(
        "relax.image.resize2d",
        ["1x1x4x4"],
        'size = [3, 3], coordinate_transformation_mode = "tf_crop_and_resize", '
        "roi = [-0.5, 0.1, 0.8, 0.9], extrapolation_value = 3.0",
    ),
    Case("relax.image.resize3d", ["1x1x2x3x2"], "size = [3, 3, 4]"),
    Case("relax.nn.upsampling", ["1x2x3x3"], "scale_h = 2.0, scale_w = 2.0"),
]

NN = [
    Case("relax.nn.softmax", ["3x4"]),
    Case("relax.nn.softmax", ["2x3x4"], "axis = 1"),
    Case("relax.nn.log_softmax", ["3x4"], "axis = 0"),
    Case("relax.nn.bias_add", ["2x3x4", "3"]),
    Case("relax.nn.dropout", ["2x3"]),
    Case("relax.nn.batch_norm", ["2x3x4", "3", "3", "3", "3"], range=POSITIVE),
    Case(
        "relax.nn.batch_norm",
        ["2x3", "3", "3", "3", "3"],
        "center = false, scale = false, epsilon = 0.01",
        range=POSITIVE,
    ),
    Case("relax.nn.layer_norm", ["2x3x4", "3x4", "3x4"], "axes = [1, 2]"),
    Case("relax.nn.instance_norm", ["2x3x4", "3", "3"]),
    Case("relax.nn.group_norm", ["2x4x3x2", "4", "4"], "num_groups = 2"),
    Case("relax.nn.rms_norm", ["2x5", "5"]),
    Case("relax.nn.l2_normalize", ["2x5"], "eps = 0.01, axis = [1]"),
    Case("relax.nn.lrn", ["2x7x2"], "size = 4, alpha = 0.5"),
]

CASES = [
    *ELEMENTWISE,
    *LINEAR_ALGEBRA,
    *CONVOLUTION,
    *DATA_MOVEMENT,
    *INDEXING,
    *REDUCTION,
    *POOLING,
    *NN,
]
