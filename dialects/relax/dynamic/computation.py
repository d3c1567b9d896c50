"""Fills, one_hot, padding, resizing, reductions, scans and topk, with parameters as operands."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i64
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ...numbers import Condition, Number, Symbolic, equal, less, minimum, non_negative, select
from ..attributes import (
    Int,
    PropertyValue,
    bool_prop,
    check_choice,
    int_prop,
    kinds_of,
    string_prop,
)
from ..base import OneResultOp, TensorOp
from ..constant import FullOp, constant_elements, constant_integers, constant_number
from ..data.creation import OneHotOp, check_scalar
from ..data.manipulation import BroadcastToOp
from ..data.sorting import TopkOp
from ..dimensions import (
    Dimensions,
    Facts,
    TypeFacts,
    along_axes,
    axes_of,
    dimensions_of,
    is_axis,
    kept,
    known_shape,
    number_in,
    number_of,
    numbers_of,
    sizes_of,
)
from ..images import ResampleOp, Resize1dOp, Resize2dOp, Resize3dOp, ResizeOp
from ..interfaces import OnHost
from ..interfaces.computing import SIGNATURES
from ..layout import Layout
from ..reduction.nn import PadOp
from ..reduction.reduction import MaxOp, MeanOp, MinOp, ProdOp, ReductionOp, SumOp
from ..reduction.scan import CumprodOp, CumsumOp
from ..shapes import Shape, normalize_axes, normalize_axis, num_elements, scaled, shape_text
from ..types import (
    TENSOR,
    Tensor,
    check_indices,
    make_tensor_type,
    number_type,
    shape_of,
    static_shape,
    tensor_type,
)

__all__ = [
    "DynamicCumprodOp",
    "DynamicCumsumOp",
    "DynamicFullOp",
    "DynamicOneHotOp",
    "DynamicOp",
    "DynamicPadOp",
    "DynamicReduceOp",
    "DynamicResizeOp",
    "DynamicScanOp",
    "DynamicTopkOp",
]


# The base class of the operations whose parameters are operands, and rules on parameters.


Properties: TypeAlias = Mapping[str, PropertyValue]
Values: TypeAlias = Sequence[Sequence[int]]


class DynamicOp(OnHost, TensorOp, ABC):
    """An operation whose last operands are parameters: properties of its static operation.

    Parameters are integer vectors, or scalars for a single integer. When they are constants,
    `dynamic-to-static` replaces the operation by the static one. It is opaque to fusion, as in TVM:
    its result shape depends on data.
    """

    FROM_SIGNATURE: ClassVar[bool] = False
    INPUTS: ClassVar[int] = 1
    """The number of operands that are not parameters; they come first."""
    STATIC: ClassVar[type[TensorOp]]
    """The class of the static operation, which has all properties of this operation."""

    def static_class(self, *values: Sequence[int]) -> type[TensorOp]:
        """Return the class of the static operation for these values of the parameters."""
        return self.STATIC

    def static_properties(self, type: Tensor, *values: Sequence[int]) -> Properties | None:
        """Return the properties of the static operation for these values of the parameters.

        `type` is the type of the first operand. None if no static operation is equivalent.
        """
        names = [name for name, _ in self.get_irdl_definition().operands[self.INPUTS :]]
        kinds = kinds_of(self.STATIC)
        given = {
            name: single_integer(row) if kinds.get(name) is Int else row
            for name, row in zip(names, values, strict=True)
        }
        return {**self.properties, **given}

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        """Return the dimensions of each result, from what is known of the operands; by default
        those of an operation whose parameter is the shape.

        Sizes that would be negative are 0: the kernels assert that the parameters are valid.
        VerifyException if known ones are not.
        """
        given = numbers_of(facts, self.operands[self.INPUTS])
        return [None if given is None else [*map(non_negative, given)]]

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        """Return the static operation on `inputs` for these values of the parameters.

        None if no static operation is equivalent. Result types that are not given are inferred.
        """
        properties = self.static_properties(tensor_type(inputs[0]), *values)
        if properties is None:
            return None
        cls = self.static_class(*values)
        return cls(*inputs, result_types=result_types, location=None, **properties)

    def static_for(self, shapes: Sequence[Shape], values: Values) -> Operation | None:
        """Return the static operation on inputs of these shapes, as `static_op`."""
        pairs = zip(self.operands[: self.INPUTS], shapes)
        types = [TensorType(tensor_type(value).element_type, shape) for value, shape in pairs]
        return self.static_op(Block(arg_types=types).args, values)

    def host_operands(self) -> Sequence[int]:
        return range(self.INPUTS, len(self.operands))

    def known_values(self) -> Values | None:
        """Return the values of the parameters; None if they are not all constants."""
        parameters = self.operands[self.INPUTS :]
        values = [constant_integers(v) if parameter_length(v) else () for v in parameters]
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else None

    def inferred_types(self) -> Sequence[Attribute]:
        # Parameters that are not constant say no more than their types.
        if any(constant_elements(value) for value in self.operands[self.INPUTS :]):
            return self.infer_types()
        return SIGNATURES.types_of(self, self.infer_types)

    def infer_types(self) -> Sequence[Attribute]:
        types = [number_type(value) for value in self.operands[: self.INPUTS]]
        for value in self.operands[self.INPUTS :]:
            parameter_length(value)
        if (values := self.known_values()) is not None:
            # Create it on arguments of a temporary block: otherwise it would remain among the
            # users of this operation's operands.
            static = self.static_op(Block(arg_types=types).args, values)
            if static is not None:
                return static.result_types
        return self.infer_dynamic()

    def infer_dynamic(self) -> Sequence[Attribute]:
        """Return the result types when some parameter values are unknown."""
        rows = self.infer_dimensions(TypeFacts())
        return [
            make_tensor_type(self.element_of(i), known_shape(row)) for i, row in enumerate(rows)
        ]

    def element_of(self, index: int) -> Attribute:
        """Return the element type of a result; by default that of the first operand."""
        return number_type(self.operands[0]).element_type


def parameter_length(value: SSAValue) -> int:
    """Return the number of integers in a parameter; DYNAMIC_INDEX if it is unknown."""
    type = tensor_type(value)
    check_indices("parameter", type)
    shape = shape_of(type)
    if shape is not None and len(shape) > 1:
        raise VerifyException(f"parameter has shape {shape_text(shape)}, expected a vector")
    return DYNAMIC_INDEX if shape is None else num_elements(shape)


def single_integer(values: Sequence[int]) -> int:
    """Return the only integer of a parameter; VerifyException if there are more or none."""
    if len(values) != 1:
        raise VerifyException(f"expected one integer, got {[*values]}")
    return values[0]


@irdl_op_definition
class DynamicFullOp(DynamicOp, OneResultOp, HasFolderInterface):
    """A tensor filled with a scalar; its shape is an operand, known at run time only.

    The counterpart of `relay.dyn.full` and ONNX ConstantOfShape.
    """

    name = "relax.dyn.full"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    fill_value = operand_def(TENSOR)
    shape = operand_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_scalar(self.fill_value, tensor_type(self.fill_value).element_type)
        return super().infer_types()

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        value = constant_number(inputs[0])
        if value is not None:
            type = TensorType(value.type, values[0])
            if result_types is None or [*result_types] == [type]:
                return FullOp(value, type)
        return super().static_op(inputs, values, result_types)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        values, value = self.known_values(), constant_number(self.fill_value)
        if values is None or value is None or static_shape(self.result.type) != (*values[0],):
            return None
        return (value,)


@irdl_op_definition
class DynamicOneHotOp(DynamicOp, OneResultOp):
    """`relax.one_hot` with a depth that is an operand."""

    name = "relax.dyn.one_hot"
    INPUTS: ClassVar[int] = 3
    STATIC: ClassVar[type[TensorOp]] = OneHotOp

    indices = operand_def(TENSOR)
    on_value = operand_def(TENSOR)
    off_value = operand_def(TENSOR)
    depth = operand_def(TENSOR)
    axis = int_prop(-1)

    def element_of(self, index: int) -> Attribute:
        inputs = Block(arg_types=self.operand_types).args[:3]
        return tensor_type(OneHotOp(*inputs, depth=0, axis=self.axis).result).element_type

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        if (shape := dimensions_of(facts, self.indices)) is None:
            return [None]
        axis = normalize_axis(self.axis, len(shape) + 1)
        return [[*shape[:axis], non_negative(number_of(facts, self.depth)), *shape[axis:]]]


@irdl_op_definition
class DynamicPadOp(DynamicOp, OneResultOp):
    """`relax.nn.pad` along `axes` with widths that are operands (ONNX Pad).

    `pad_width` has the widths before each of the axes, then the widths after each.
    """

    name = "relax.dyn.pad"
    STATIC: ClassVar[type[TensorOp]] = PadOp

    data = operand_def(TENSOR)
    pad_width = operand_def(TENSOR)
    pad_value = operand_def(TENSOR)
    axes = operand_def(TENSOR)
    pad_mode = string_prop("constant")

    def known_values(self) -> Values | None:
        return self.values_with(constant_elements(self.pad_value))

    def values_with(self, pad_value: Sequence[float] | None) -> Values | None:
        """Return the parameters with this padding; None if not all are constants."""
        widths, axes = constant_integers(self.pad_width), constant_integers(self.axes)
        if widths is None or axes is None or pad_value is None:
            return None
        return widths, cast(Sequence[int], pad_value), axes

    def static_properties(self, type: Tensor, *values: Sequence[int]) -> Properties | None:
        if (shape := shape_of(type)) is None:
            return None
        widths, (value,), axes = values
        width = pad_width_of(widths, axes, len(shape))
        return {"pad_width": width, "pad_value": float(value), "pad_mode": self.pad_mode}

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        check_scalar(self.pad_value, type.element_type)
        for value in (self.pad_width, self.axes):
            parameter_length(value)
        if (values := self.values_with([0])) is not None:  # types do not depend on it
            static = self.static_op(Block(arg_types=[type]).args, values)
            if static is not None:
                return static.result_types
        return self.infer_dynamic()

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        widths = numbers_of(facts, self.pad_width)
        if (shape := dimensions_of(facts, self.data)) is None:
            return [None]
        axes = axes_of(facts, self.axes, len(shape))
        if widths is None or axes is None:
            return [[None] * len(shape)]
        check_widths(len(widths), len(axes))
        pairs = [before + after for before, after in zip(widths, widths[len(axes) :], strict=False)]

        def padded(axis: int, size: Number) -> Number:
            for place, width in zip(axes, pairs, strict=True):
                size = size + select(is_axis(place, axis, len(shape)), width, 0)
            return non_negative(size)

        return [[padded(axis, size) for axis, size in enumerate(shape)]]


def check_widths(widths: int, axes: int) -> None:
    """Raise VerifyException unless there are two widths for each axis."""
    if widths != 2 * axes:
        raise VerifyException(f"expected two widths for each of {axes} axes, got {widths}")


def pad_width_of(widths: Sequence[int], axes: Sequence[int], rank: int) -> Sequence[int]:
    """Return the property `pad_width` of `relax.nn.pad`: two widths for each dimension."""
    check_widths(len(widths), len(axes))
    result = [0] * 2 * rank
    for i, axis in enumerate(normalize_axes(axes, rank)):
        result[2 * axis], result[2 * axis + 1] = widths[i], widths[i + len(axes)]
    return result


@irdl_op_definition
class DynamicResizeOp(ResampleOp, DynamicOp):
    """`relax.image.resize1d`, `resize2d` or `resize3d` to sizes that are an operand.

    The number of sizes is the number of spatial dimensions. Without `layout`, channels come first
    (`relay.dyn.image.resize2d`).
    """

    name = "relax.dyn.resize"
    STATIC: ClassVar[type[TensorOp]] = ResizeOp
    STATIC_BY_RANK: ClassVar[Sequence[type[ResizeOp]]] = (Resize1dOp, Resize2dOp, Resize3dOp)

    data = operand_def(TENSOR)  # again: the operands of a class come before those of its bases
    size = operand_def(TENSOR)
    layout = string_prop("")

    def resize_class(self, spatial: int) -> type[ResizeOp]:
        """Return the operation class that resizes that number of spatial dimensions."""
        if not 1 <= spatial <= 3:
            raise VerifyException(f"size has {spatial} dimensions, expected 1 to 3")
        return self.STATIC_BY_RANK[spatial - 1]

    def spatial(self) -> str:
        """Return the axes that are resized; VerifyException if their number is not known."""
        return self.resize_class(parameter_length(self.size)).SPATIAL

    def data_layout(self) -> Layout:
        """Return the layout of the data; VerifyException if the number of axes is not known."""
        plain = "NC" + self.spatial()
        return Layout.of(self.layout or plain, plain)

    def static_class(self, *values: Sequence[int]) -> type[TensorOp]:
        return self.resize_class(*map(len, values))

    def static_properties(self, type: Tensor, *values: Sequence[int]) -> Properties:
        (size,) = values
        return {"size": size, **self.properties, "layout": self.layout or None}

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        """The sizes that are given, or for -1 the products of scales and sizes."""
        shape, given = dimensions_of(facts, self.data), numbers_of(facts, self.size)
        if given is None:
            return [shape and [None] * len(shape)]
        self.check_sampling(len(given))
        layout, spatial = self.data_layout(), self.resize_class(len(given)).SPATIAL
        extents = layout.extents(None if shape is None else sizes_of(shape))
        for axis, size, scale in zip(spatial, given, self.scales or (None,) * len(given)):
            if scale is not None and (old := number_in(extents[axis])) is not None:
                size = select(equal(size, -1), scaled(old, scale), size)
            (extents[axis],) = sizes_of([non_negative(size)])
        return [[*map(number_in, layout.shape(extents))]]


@irdl_op_definition
class DynamicReduceOp(DynamicOp, OneResultOp):
    """`relax.sum`, `mean`, `max`, `min` or `prod` along axes that are an operand.

    An empty list of axes means all axes, or none with `noop_with_empty_axes` (ONNX ReduceSum and
    others).
    """

    name = "relax.dyn.reduce"
    STATIC: ClassVar[type[TensorOp]] = ReductionOp
    REDUCTIONS: ClassVar[dict[str, type[ReductionOp]]] = {
        cls.name.removeprefix("relax."): cls for cls in (SumOp, MeanOp, MaxOp, MinOp, ProdOp)
    }

    data = operand_def(TENSOR)
    axes = operand_def(TENSOR)
    reduction = string_prop("sum")
    keepdims = bool_prop(True)
    noop_with_empty_axes = bool_prop(False)

    def static_class(self, *values: Sequence[int]) -> type[TensorOp]:
        return self.REDUCTIONS[self.reduction]

    def static_properties(self, type: Tensor, *values: Sequence[int]) -> Properties:
        (axes,) = values
        all_axes = not axes and not self.noop_with_empty_axes
        return {"axis": None if all_axes else axes, "keepdims": self.keepdims}

    def infer_types(self) -> Sequence[Attribute]:
        check_choice("reduction", self.reduction, [*self.REDUCTIONS])
        return super().infer_types()

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        if (shape := dimensions_of(facts, self.data)) is None:
            return [None]
        if (axes := axes_of(facts, self.axes, len(shape))) is None:
            return [[n if n == 1 else None for n in shape] if self.keepdims else None]
        gone: list[Condition] = [True] * len(shape)
        if axes or self.noop_with_empty_axes:
            gone = along_axes(axes, len(shape))
        if self.keepdims:
            return [[select(is_gone, 1, size) for size, is_gone in zip(shape, gone, strict=True)]]
        return [kept(shape, gone, len(axes))]


class DynamicScanOp(DynamicOp, OneResultOp, ABC):
    """A scan along an axis that is an operand."""

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    exclusive = bool_prop(False)
    reverse = bool_prop(False)

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        return [dimensions_of(facts, self.data)]


@irdl_op_definition
class DynamicCumsumOp(DynamicScanOp):
    """`relax.cumsum` along an axis that is an operand (ONNX CumSum)."""

    name = "relax.dyn.cumsum"
    STATIC: ClassVar[type[TensorOp]] = CumsumOp


@irdl_op_definition
class DynamicCumprodOp(DynamicScanOp):
    """`relax.cumprod` along an axis that is an operand."""

    name = "relax.dyn.cumprod"
    STATIC: ClassVar[type[TensorOp]] = CumprodOp


@irdl_op_definition
class DynamicTopkOp(DynamicOp):
    """`relax.topk` with a number of elements that is an operand (ONNX TopK)."""

    name = "relax.dyn.topk"
    STATIC: ClassVar[type[TensorOp]] = TopkOp

    data = operand_def(TENSOR)
    k = operand_def(TENSOR)
    axis = int_prop(-1)
    largest = bool_prop(True)
    sorted = bool_prop(True)
    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def element_of(self, index: int) -> Attribute:
        return i64 if index else super().element_of(index)

    def infer_dimensions(self, facts: Facts) -> Sequence[Dimensions]:
        """The number of elements that are selected: all if that is less than 1."""
        if (shape := dimensions_of(facts, self.data)) is None:
            return [None, None]
        axis, number = normalize_axis(self.axis, len(shape)), number_of(facts, self.k)
        # The kernel asserts that there are as many.
        selected = number if isinstance(number, int | Symbolic) else minimum(number, shape[axis])
        size = select(less(number, 1), shape[axis], selected)
        return [[*shape[:axis], size, *shape[axis + 1 :]]] * 2
