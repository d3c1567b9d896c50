"""Operations of which operands say what in the static ones properties do (Relay's `dyn`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i1
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def, var_result_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .attributes import PropertyValue, bool_prop, int_prop, opt_int_prop
from .base import TensorOp
from .constant import FullOp, Number, constant_elements, constant_integers, number_attr
from .creation import OneHotOp, check_scalar
from .indexing import StridedSliceOp
from .interfaces import OnHost
from .manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    ReshapeOp,
    SplitOp,
    SqueezeOp,
    TileOp,
    check_indices,
    check_results,
    count,
    number_type,
    replaced,
)
from .shapes import Shape, broadcast, is_static, normalize_axes, normalize_axis, shape_text
from .types import TENSOR, Tensor, shape_of, static_shape, tensor_type, with_shape

__all__ = [
    "DynamicBroadcastToOp",
    "DynamicCompressOp",
    "DynamicExpandDimsOp",
    "DynamicExpandOp",
    "DynamicFullOp",
    "DynamicOneHotOp",
    "DynamicOp",
    "DynamicReshapeOp",
    "DynamicSplitOp",
    "DynamicSqueezeOp",
    "DynamicStridedSliceOp",
    "DynamicTileOp",
]

Values: TypeAlias = Sequence[Sequence[int]]


class DynamicOp(OnHost, TensorOp, ABC):
    """An operation that is another one, the static one, once its last operands are known.

    These parameters are lists of integers, or a scalar where one integer is meant. To fusion it is
    opaque, as in TVM: the shape of its result depends on data.
    """

    INPUTS: ClassVar[int] = 1
    """How many operands, the first ones, are no parameters."""
    STATIC: ClassVar[type[TensorOp]]
    """The class of the static operation, which has the properties that this one has."""

    def arguments(self, *values: Sequence[int]) -> dict[str, PropertyValue]:
        """The properties of the static operation for these values of the parameters."""
        names = [name for name, _ in self.get_irdl_definition().operands]
        return dict(zip(names[self.INPUTS :], values, strict=True))

    @abstractmethod
    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        """The result types if not all parameters are known, from the type of the first operand and
        the number of values of each parameter, DYNAMIC_INDEX if that is not known."""

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        """The static operation on these inputs, for these values of the parameters; None if there
        is none. The result types are inferred if they are not given."""
        properties = {**self.properties, **self.arguments(*values)}
        return self.STATIC(*inputs, result_types=result_types, location=None, **properties)

    def host_operands(self) -> Sequence[int]:
        return range(self.INPUTS, len(self.operands))

    def known_values(self) -> Values | None:
        """The values of the parameters; None if they are not all known."""
        parameters = self.operands[self.INPUTS :]
        values = [constant_integers(v) if parameter_length(v) else () for v in parameters]
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else None

    def infer_types(self) -> Sequence[Attribute]:
        types = [number_type(value) for value in self.operands[: self.INPUTS]]
        lengths = [parameter_length(value) for value in self.operands[self.INPUTS :]]
        if (values := self.known_values()) is not None:
            # On values of its own: an operation on those of this one would be one of their users.
            static = self.static_op(Block(arg_types=types).args, values)
            if static is not None:
                return static.result_types
        return self.infer_dynamic(types[0], *lengths)


def parameter_length(value: SSAValue) -> int:
    """The number of integers in a parameter; DYNAMIC_INDEX if it is not known."""
    type = tensor_type(value)
    check_indices("parameter", type)
    shape = shape_of(type)
    if shape is not None and len(shape) > 1:
        raise VerifyException(f"parameter of shape {shape_text(shape)} is no list")
    return DYNAMIC_INDEX if shape is None else count(shape)


def one_of(values: Sequence[int]) -> int:
    """The integer of a parameter that is one; VerifyException if it is a list of others."""
    if len(values) != 1:
        raise VerifyException(f"expected one integer, got {[*values]}")
    return values[0]


def rank_of(type: Tensor) -> int:
    """The rank; DYNAMIC_INDEX if it is not known."""
    shape = shape_of(type)
    return DYNAMIC_INDEX if shape is None else len(shape)


def of_rank(type: Tensor, rank: int) -> Sequence[Attribute]:
    """A tensor type with that many unknown dimensions, or unranked if that is not known either."""
    return (with_shape(type, None if rank == DYNAMIC_INDEX else (DYNAMIC_INDEX,) * rank),)


@irdl_op_definition
class DynamicReshapeOp(DynamicOp):
    """`relax.reshape`, to a shape that is computed."""

    name = "relax.dyn.reshape"
    STATIC: ClassVar[type[TensorOp]] = ReshapeOp

    data = operand_def(TENSOR)
    newshape = operand_def(TENSOR)
    allowzero = bool_prop(False)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return of_rank(type, *lengths)


@irdl_op_definition
class DynamicBroadcastToOp(DynamicOp):
    """`relax.broadcast_to`, to a shape that is computed."""

    name = "relax.dyn.broadcast_to"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return of_rank(type, *lengths)


@irdl_op_definition
class DynamicExpandOp(DynamicOp):
    """A tensor broadcast with a shape that is computed, which may also be the one that has a
    dimension of 1 where the other has more (ONNX Expand)."""

    name = "relax.dyn.expand"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    data = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        shape = expanded(tensor_type(inputs[0]), values[0])
        if shape is None or not is_static(shape):
            return None
        return BroadcastToOp(*inputs, shape=shape, result_types=result_types)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        target = constant_integers(self.shape)
        if target is None and DYNAMIC_INDEX not in lengths:
            target = (DYNAMIC_INDEX,) * lengths[0]
        return (with_shape(type, None if target is None else expanded(type, target)),)


def expanded(type: Tensor, target: Sequence[int]) -> Shape | None:
    """The shape of `relax.dyn.expand`; None if the rank is not known."""
    shape = shape_of(type)
    return None if shape is None else broadcast(shape, (*target,))


@irdl_op_definition
class DynamicTileOp(DynamicOp):
    """`relax.tile`, as often as is computed."""

    name = "relax.dyn.tile"
    STATIC: ClassVar[type[TensorOp]] = TileOp

    data = operand_def(TENSOR)
    reps = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        ranks = (rank_of(type), *lengths)
        return of_rank(type, DYNAMIC_INDEX if DYNAMIC_INDEX in ranks else max(ranks))


@irdl_op_definition
class DynamicFullOp(DynamicOp, HasFolderInterface):
    """A scalar as often as fills a shape that is computed (`relay.dyn.full`, ONNX
    ConstantOfShape)."""

    name = "relax.dyn.full"
    STATIC: ClassVar[type[TensorOp]] = BroadcastToOp

    fill_value = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def infer_types(self) -> Sequence[Attribute]:
        check_scalar(self.fill_value, tensor_type(self.fill_value).element_type)
        return super().infer_types()

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return of_rank(type, *lengths)

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


def constant_number(value: SSAValue) -> Number | None:
    """The number in a scalar; None if it is not known."""
    numbers, element = constant_elements(value), tensor_type(value).element_type
    return number_attr(numbers[0], is_bits=False, type=element) if numbers else None


@irdl_op_definition
class DynamicStridedSliceOp(DynamicOp):
    """`relax.strided_slice`, between bounds that are computed."""

    name = "relax.dyn.strided_slice"
    STATIC: ClassVar[type[TensorOp]] = StridedSliceOp

    data = operand_def(TENSOR)
    begin = operand_def(TENSOR)
    end = operand_def(TENSOR)
    axes = operand_def(TENSOR)
    strides = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        if len({length for length in lengths if length != DYNAMIC_INDEX}) > 1:
            raise VerifyException("begin, end, axes and strides are not equally long")
        if (shape := shape_of(type)) is None:
            return (type,)
        axes = constant_integers(self.axes)
        sliced = range(len(shape)) if axes is None else normalize_axes(axes, len(shape))
        result = (DYNAMIC_INDEX if i in sliced else d for i, d in enumerate(shape))
        return (with_shape(type, tuple(result)),)


@irdl_op_definition
class DynamicSqueezeOp(DynamicOp):
    """`relax.squeeze`, of axes that are computed."""

    name = "relax.dyn.squeeze"
    STATIC: ClassVar[type[TensorOp]] = SqueezeOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        (length,), rank = lengths, rank_of(type)
        if DYNAMIC_INDEX in (rank, length):
            return of_rank(type, DYNAMIC_INDEX)
        if length > rank:
            raise VerifyException(f"{type} has no {length} dimensions to squeeze")
        return of_rank(type, rank - length)


@irdl_op_definition
class DynamicExpandDimsOp(DynamicOp):
    """`relax.expand_dims`, at axes that are computed."""

    name = "relax.dyn.expand_dims"
    STATIC: ClassVar[type[TensorOp]] = ExpandDimsOp

    data = operand_def(TENSOR)
    axis = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        ranks = (rank_of(type), *lengths)
        return of_rank(type, DYNAMIC_INDEX if DYNAMIC_INDEX in ranks else sum(ranks))


@irdl_op_definition
class DynamicOneHotOp(DynamicOp):
    """`relax.one_hot`, of a depth that is computed."""

    name = "relax.dyn.one_hot"
    INPUTS: ClassVar[int] = 3
    STATIC: ClassVar[type[TensorOp]] = OneHotOp

    indices = operand_def(TENSOR)
    on_value = operand_def(TENSOR)
    off_value = operand_def(TENSOR)
    depth = operand_def(TENSOR)
    axis = int_prop(-1)
    result = result_def(TENSOR)

    def arguments(self, *values: Sequence[int]) -> dict[str, PropertyValue]:
        return {"depth": one_of(*values)}

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        with_depth = OneHotOp(
            *Block(arg_types=self.operand_types).args[:3], depth=0, axis=self.axis
        ).result.type
        shape = shape_of(type)
        if shape is None:
            return (with_depth,)
        axis = normalize_axis(self.axis, len(shape) + 1)
        return (with_shape(with_depth, (*shape[:axis], DYNAMIC_INDEX, *shape[axis:])),)


@irdl_op_definition
class DynamicSplitOp(DynamicOp):
    """The parts of a tensor along `axis`, of sizes that are computed (ONNX Split)."""

    name = "relax.dyn.split"
    STATIC: ClassVar[type[TensorOp]] = SplitOp

    data = operand_def(TENSOR)
    sizes = operand_def(TENSOR)
    axis = int_prop(0)
    parts = var_result_def(TENSOR)

    def arguments(self, *values: Sequence[int]) -> dict[str, PropertyValue]:
        (sizes,) = values
        return {"indices": [*accumulate(sizes[:-1])]}

    def infer_types(self) -> Sequence[Attribute]:
        type, number = number_type(self.data), parameter_length(self.sizes)
        sizes, shape = constant_integers(self.sizes), shape_of(type)
        axis = 0 if shape is None else normalize_axis(self.axis, len(shape))
        if sizes is not None and shape is not None:
            check_sizes(sizes, shape[axis])
        number = len(self.results) if number == DYNAMIC_INDEX else number
        if number == 0:
            raise VerifyException("the number of results is not known, or none")
        check_results(self, number)
        sizes = (DYNAMIC_INDEX,) * number if sizes is None else sizes
        return [with_shape(type, shape and replaced(shape, axis, size)) for size in sizes]

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        return self.infer_types()

    def static_op(
        self,
        inputs: Sequence[SSAValue],
        values: Values,
        result_types: Sequence[Attribute] | None = None,
    ) -> Operation | None:
        if shape := shape_of(tensor_type(inputs[0])):
            check_sizes(values[0], shape[normalize_axis(self.axis, len(shape))])
        return super().static_op(inputs, values, result_types)


def check_sizes(sizes: Sequence[int], size: int) -> None:
    """VerifyException unless the sizes are those of the parts of a dimension."""
    if min(sizes, default=0) < 0 or size not in (sum(sizes), DYNAMIC_INDEX):
        raise VerifyException(f"dimension of size {size} does not split into {[*sizes]}")


@irdl_op_definition
class DynamicCompressOp(TensorOp):
    """The slices along `axis` at which the condition is true; without one, elements of the data
    flattened (`numpy.compress`, ONNX Compress)."""

    name = "relax.dyn.compress"

    data = operand_def(TENSOR)
    condition = operand_def(TENSOR)
    axis = opt_int_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type, condition = number_type(self.data), tensor_type(self.condition)
        length = shape_of(condition)
        if condition.element_type != i1 or length is not None and len(length) != 1:
            raise VerifyException(f"condition is {condition}, expected a list of i1")
        chosen = constant_integers(self.condition)
        number = DYNAMIC_INDEX if chosen is None else sum(map(bool, chosen))
        if self.axis is None:
            return (with_shape(type, (number,)),)
        if (shape := shape_of(type)) is None:
            return (type,)
        axis = normalize_axis(self.axis, len(shape))
        return (with_shape(type, replaced(shape, axis, number)),)
