"""Normalizations: batch, layer, instance, group, RMS, L2 and local response normalization."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, float_prop, int_prop, ints_prop
from ..base import TensorOp
from ..interfaces import AlongAxes, Anchor, Conversion
from ..layout import Relayout
from ..shapes import normalize_axes, normalize_axis
from ..types import TENSOR, check_float, check_parameter, shape_of, tensor_type

__all__ = [
    "BatchNormOp",
    "GroupNormOp",
    "InstanceNormOp",
    "L2NormalizeOp",
    "LRNOp",
    "LayerNormOp",
    "RMSNormOp",
]


class NormOp(AlongAxes, Anchor, TensorOp, ABC):
    """A normalization of the data along some axes."""

    data = operand_def(TENSOR)

    def infer_along(self, axes: Sequence[int], *parameters: str) -> Sequence[Attribute]:
        """Return the type of the data, after checking that it has `axes`, along which the operands
        named `parameters` run."""
        check_float(type := tensor_type(self.data))
        if (shape := shape_of(type)) is not None:
            axes = normalize_axes(axes, len(shape))
        for name in parameters:
            check_parameter(name, getattr(self, name), type, axes)
        return (type,)


class AffineNormOp(NormOp, ABC):
    """A normalization to mean 0 and variance 1, followed by an affine function.

    The result is multiplied by `gamma` if `scale`, then `beta` is added if `center`.
    """

    data = operand_def(TENSOR)
    gamma = operand_def(TENSOR)
    beta = operand_def(TENSOR)
    epsilon = float_prop(1e-5)
    center = bool_prop(True)
    scale = bool_prop(True)
    result = result_def(TENSOR)


@irdl_op_definition
class BatchNormOp(NormOp):
    """Batch normalization at inference (ONNX BatchNormalization).

    Channels, along `axis`, are normalized with the operands `moving_mean` and `moving_var`; `gamma`
    and `beta` are applied as in AffineNormOp.
    """

    name = "relax.nn.batch_norm"
    AXES: ClassVar = ("axis",)

    data = operand_def(TENSOR)
    gamma = operand_def(TENSOR)
    beta = operand_def(TENSOR)
    moving_mean = operand_def(TENSOR)
    moving_var = operand_def(TENSOR)
    axis = int_prop(1)
    epsilon = float_prop(1e-5)
    center = bool_prop(True)
    scale = bool_prop(True)
    momentum = float_prop(0.1)
    """The weight of a new mean in training; without effect at inference."""
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return self.infer_along([self.axis], "gamma", "beta", "moving_mean", "moving_var")


@irdl_op_definition
class LayerNormOp(AffineNormOp):
    """A normalization over `axes`, along which the parameters run (ONNX LayerNormalization)."""

    name = "relax.nn.layer_norm"
    AXES: ClassVar = ("axes",)

    axes = ints_prop((-1,))

    def infer_types(self) -> Sequence[Attribute]:
        return self.infer_along(self.axes, "gamma", "beta")


@irdl_op_definition
class InstanceNormOp(AffineNormOp):
    """A normalization over all dimensions but the batch and the channels.

    The batch is dimension 0, the channels are `axis` (ONNX InstanceNormalization).
    """

    name = "relax.nn.instance_norm"
    AXES: ClassVar = ("axis",)

    axis = int_prop(1)

    def infer_types(self) -> Sequence[Attribute]:
        shape = shape_of(tensor_type(self.data))
        if shape is not None and normalize_axis(self.axis, len(shape)) == 0:
            raise VerifyException("axis 0 is the batch, not the channels")
        return self.infer_along([self.axis], "gamma", "beta")

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        if (relayout := relayouts[0]) is not None and relayout.dimension(0) != 0:
            raise VerifyException("the batch is not the first dimension")
        return super().convert_layouts(relayouts)


@irdl_op_definition
class GroupNormOp(AffineNormOp):
    """A normalization over `axes` and the channels of one group (ONNX GroupNormalization).

    The channels, along `channel_axis`, are split into `num_groups` groups.
    """

    name = "relax.nn.group_norm"
    AXES: ClassVar = ("channel_axis", "axes")

    num_groups = int_prop()
    channel_axis = int_prop(1)
    axes = ints_prop((2, 3))

    def infer_types(self) -> Sequence[Attribute]:
        if (groups := self.num_groups) < 1:
            raise VerifyException(f"num_groups is {groups}, expected at least 1")
        if (shape := shape_of(tensor_type(self.data))) is not None:
            axis, *_ = normalize_axes([self.channel_axis, *self.axes], len(shape))
            if shape[axis] != DYNAMIC_INDEX and shape[axis] % groups:
                raise VerifyException(f"{shape[axis]} channels do not split into {groups} groups")
        return self.infer_along([self.channel_axis], "gamma", "beta")


@irdl_op_definition
class RMSNormOp(NormOp):
    """data / sqrt(mean(data ** 2) + epsilon) * weight (ONNX RMSNormalization).

    The mean is over `axes`, along which `weight` runs.
    """

    name = "relax.nn.rms_norm"
    AXES: ClassVar = ("axes",)

    data = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    axes = ints_prop((-1,))
    epsilon = float_prop(1e-5)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return self.infer_along(self.axes, "weight")


@irdl_op_definition
class L2NormalizeOp(NormOp):
    """data / sqrt(max(sum(data ** 2), eps)), the sum over the axes `axis` (ONNX LpNormalization).

    The counterpart of Relay nn.l2_normalize.
    """

    name = "relax.nn.l2_normalize"
    AXES: ClassVar = ("axis",)
    SPLITS: ClassVar = True

    data = operand_def(TENSOR)
    eps = float_prop()
    axis = ints_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return self.infer_along(self.axis)


@irdl_op_definition
class LRNOp(AlongAxes, TensorOp):
    """Local response normalization: data / (bias + alpha / size * sum) ** beta (ONNX LRN).

    `sum` is the sum of the squares of `size` elements around an element along `axis`. If `size` is
    even, one more of them is after the element than before it.
    """

    name = "relax.nn.lrn"
    AXES: ClassVar = ("axis",)

    data = operand_def(TENSOR)
    size = int_prop(5)
    axis = int_prop(1)
    bias = float_prop(2.0)
    alpha = float_prop(1e-5)
    beta = float_prop(0.75)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_float(type := tensor_type(self.data))
        if (size := self.size) < 1:
            raise VerifyException(f"size is {size}, expected at least 1")
        if (shape := shape_of(type)) is not None:
            normalize_axis(self.axis, len(shape))
        return (type,)
