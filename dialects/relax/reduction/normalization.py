"""Normalizations: batch, layer, instance, group, RMS, L2 and local response normalization."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, float_prop, int_prop, ints_prop
from ..base import SameTypeOp
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


class NormOp(AlongAxes, Anchor, SameTypeOp, ABC):
    """A normalization of the data along some axes."""

    CHECK: ClassVar = check_float
    PARAMETERS: ClassVar[Sequence[str]] = ()
    """The names of the operands that run along the axes that the first name in AXES has."""

    data = operand_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        types = super().infer_types()
        data, axes = tensor_type(self.data), getattr(self, self.AXES[0])
        axes = [axes] if isinstance(axes, int) else axes
        if (shape := shape_of(data)) is not None:
            axes = normalize_axes(axes, len(shape))
        for name in self.PARAMETERS:
            check_parameter(name, getattr(self, name), data, axes)
        return types


class AffineNormOp(NormOp, ABC):
    """A normalization to mean 0 and variance 1, followed by an affine function.

    The result is multiplied by `gamma` if `scale`, then `beta` is added if `center`.
    """

    PARAMETERS: ClassVar = ("gamma", "beta")

    data = operand_def(TENSOR)
    gamma = operand_def(TENSOR)
    beta = operand_def(TENSOR)
    epsilon = float_prop(1e-5)
    center = bool_prop(True)
    scale = bool_prop(True)


@irdl_op_definition
class BatchNormOp(NormOp):
    """Batch normalization at inference (ONNX BatchNormalization).

    Channels, along `axis`, are normalized with the operands `moving_mean` and `moving_var`; `gamma`
    and `beta` are applied as in AffineNormOp.
    """

    name = "relax.nn.batch_norm"
    AXES: ClassVar = ("axis",)
    PARAMETERS: ClassVar = ("gamma", "beta", "moving_mean", "moving_var")

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


@irdl_op_definition
class LayerNormOp(AffineNormOp):
    """A normalization over `axes`, along which the parameters run (ONNX LayerNormalization)."""

    name = "relax.nn.layer_norm"
    AXES: ClassVar = ("axes",)

    axes = ints_prop((-1,))


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
        return super().infer_types()

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
        return super().infer_types()


@irdl_op_definition
class RMSNormOp(NormOp):
    """data / sqrt(mean(data ** 2) + epsilon) * weight (ONNX RMSNormalization).

    The mean is over `axes`, along which `weight` runs.
    """

    name = "relax.nn.rms_norm"
    AXES: ClassVar = ("axes",)
    PARAMETERS: ClassVar = ("weight",)

    data = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    axes = ints_prop((-1,))
    epsilon = float_prop(1e-5)


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


@irdl_op_definition
class LRNOp(AlongAxes, SameTypeOp):
    """Local response normalization: data / (bias + alpha / size * sum) ** beta (ONNX LRN).

    `sum` is the sum of the squares of `size` elements around an element along `axis`. If `size` is
    even, one more of them is after the element than before it.
    """

    name = "relax.nn.lrn"
    AXES: ClassVar = ("axis",)
    CHECK: ClassVar = check_float

    data = operand_def(TENSOR)
    size = int_prop(5)
    axis = int_prop(1)
    bias = float_prop(2.0)
    alpha = float_prop(1e-5)
    beta = float_prop(0.75)

    def infer_types(self) -> Sequence[Attribute]:
        if (size := self.size) < 1:
            raise VerifyException(f"size is {size}, expected at least 1")
        return super().infer_types()
