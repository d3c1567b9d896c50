"""The base class of the operations whose parameters are operands, and rules on parameters."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..attributes import PropertyValue
from ..base import TensorOp
from ..constant import constant_integers
from ..interfaces import OnHost
from ..shapes import (
    check_rank,
    num_elements,
    shape_text,
)
from ..types import (
    Tensor,
    check_indices,
    number_type,
    shape_of,
    tensor_type,
    with_shape,
)

__all__ = ["DynamicOp"]


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
        names = [name for name, _ in self.get_irdl_definition().operands]
        return {**self.properties, **dict(zip(names[self.INPUTS :], values, strict=True))}

    def infer_dynamic(self, type: Tensor, *lengths: int) -> Sequence[Attribute]:
        """Return the result types when some parameter values are unknown; by default those of an
        operation whose parameter is the shape.

        `type` is the type of the first operand, `lengths` the number of values of each parameter,
        DYNAMIC_INDEX if unknown.
        """
        return unknown_shape(type, *lengths)

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

    def host_operands(self) -> Sequence[int]:
        return range(self.INPUTS, len(self.operands))

    def known_values(self) -> Values | None:
        """Return the values of the parameters; None if they are not all constants."""
        parameters = self.operands[self.INPUTS :]
        values = [constant_integers(v) if parameter_length(v) else () for v in parameters]
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else None

    def infer_types(self) -> Sequence[Attribute]:
        types = [number_type(value) for value in self.operands[: self.INPUTS]]
        lengths = [parameter_length(value) for value in self.operands[self.INPUTS :]]
        if (values := self.known_values()) is not None:
            # Create it on arguments of a temporary block: otherwise it would remain among the
            # users of this operation's operands.
            static = self.static_op(Block(arg_types=types).args, values)
            if static is not None:
                return static.result_types
        return self.infer_dynamic(types[0], *lengths)


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


def rank_of(type: Tensor) -> int:
    """Return the rank of a tensor type; DYNAMIC_INDEX if it is unranked."""
    shape = shape_of(type)
    return DYNAMIC_INDEX if shape is None else len(shape)


def unknown_shape(type: Tensor, rank: int) -> Sequence[Attribute]:
    """Return a tensor type with `rank` unknown dimensions; unranked if that is DYNAMIC_INDEX.
    VerifyException for a rank that no tensor has."""
    check_rank(rank)
    return (with_shape(type, None if rank == DYNAMIC_INDEX else (DYNAMIC_INDEX,) * rank),)
