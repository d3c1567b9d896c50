"""Quantized tensors: an integer q stands for the number `(q - zero point) * scale`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..base import OneResultOp
from ..interfaces import Elementwise
from ..shapes import Shape, broadcast, shape_text
from ..types import (
    TENSOR,
    check_float,
    check_indices,
    is_integer,
    number_type,
    shape_of,
    tensor_type,
    with_element,
)

__all__ = ["DequantizeOp", "QuantizationOp", "QuantizeOp", "RequantizeOp"]

MAX_BITS = 16
"""The most bits of an integer that floats are quantized to: f32 holds such integers exactly."""


class QuantizationOp(Elementwise, OneResultOp, ABC):
    """A conversion between numbers and the integers that stand for them, given a scale and a zero
    point.

    Both broadcast to the shape of `data`: they are scalars, or for example `tensor<64x1x1xf32>` for
    the channels of an image (TVM's `axis`).
    """

    data = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    zero_point = operand_def(TENSOR)

    def check_broadcast(self) -> None:
        """Raise VerifyException unless scale and zero point broadcast to the shape of the data."""
        check_float(tensor_type(self.scale))
        check_indices("zero_point", tensor_type(self.zero_point))
        if (data := shape_of(tensor_type(self.data))) is None:
            return
        for name, value in (("scale", self.scale), ("zero_point", self.zero_point)):
            shape = shape_of(tensor_type(value))
            if shape is not None and not _broadcasts(shape, data):
                raise VerifyException(
                    f"{name} has shape {shape_text(shape)}, which does not broadcast to "
                    f"{shape_text(data)}, the shape of data"
                )


def _broadcasts(shape: Shape, data: Shape) -> bool:
    """Return whether `shape` may broadcast to `data`, whose unknown sizes may be any."""
    if len(shape) > len(data):
        return False
    try:
        joined = broadcast(shape, data)
    except VerifyException:
        return False
    return all(new == old or old < 0 for new, old in zip(joined, data, strict=True))


def _check_width(value: SSAValue) -> None:
    """Raise VerifyException unless floats can be quantized to the type of a zero point."""
    element = tensor_type(value).element_type
    if is_integer(element) and element.bitwidth > MAX_BITS:
        raise VerifyException(
            f"zero_point has element type {element}, expected at most {MAX_BITS} bits"
        )


@irdl_op_definition
class QuantizeOp(QuantizationOp):
    """round(`data` / `scale`) + `zero_point`, saturated to the element type of `zero_point`.

    Ties are rounded to even; NaN gives the minimum of the type. f16 and bf16 are computed in f32
    (ONNX QuantizeLinear, `relax.quantize`).
    """

    name = "relax.quantize"

    def infer_types(self) -> Sequence[Attribute]:
        check_float(type := tensor_type(self.data))
        self.check_broadcast()
        _check_width(self.zero_point)
        if (scale := tensor_type(self.scale).element_type) != type.element_type:
            raise VerifyException(f"scale has element type {scale}, data has {type.element_type}")
        return (with_element(type, tensor_type(self.zero_point).element_type),)


@irdl_op_definition
class DequantizeOp(QuantizationOp):
    """(`data` - `zero_point`) * `scale`, of the element type of `scale`.

    The difference is exact where it has at most 24 bits (ONNX DequantizeLinear,
    `relax.dequantize`).
    """

    name = "relax.dequantize"

    def infer_types(self) -> Sequence[Attribute]:
        check_indices("data", type := tensor_type(self.data))
        self.check_broadcast()
        if (zero := tensor_type(self.zero_point).element_type) != type.element_type:
            raise VerifyException(
                f"zero_point has element type {zero}, data has {type.element_type}"
            )
        return (with_element(type, tensor_type(self.scale).element_type),)


@irdl_op_definition
class RequantizeOp(QuantizationOp):
    """round(`data` * `scale`) + `zero_point`, saturated to the element type of `zero_point`.

    `data` are integers or floats, such as sums of products of integers less their zero points;
    `scale` is their scale divided by that of the result. Ties are rounded to even; NaN gives the
    minimum of the type. This is the last step of ONNX QLinearConv; `qnn.requantize` is the
    counterpart in TVM.
    """

    name = "relax.requantize"

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        self.check_broadcast()
        _check_width(self.zero_point)
        return (with_element(type, tensor_type(self.zero_point).element_type),)
