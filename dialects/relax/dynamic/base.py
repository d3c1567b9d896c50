"""The base class of the operations whose parameters are operands, and rules on parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..attributes import PropertyValue
from ..base import TensorOp
from ..constant import constant_integers
from ..interfaces import OnHost
from ..shapes import (
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
    return DYNAMIC_INDEX if shape is None else num_elements(shape)


def single_integer(values: Sequence[int]) -> int:
    """The integer of a parameter that is one; VerifyException if it is a list of others."""
    if len(values) != 1:
        raise VerifyException(f"expected one integer, got {[*values]}")
    return values[0]


def rank_of(type: Tensor) -> int:
    """The rank; DYNAMIC_INDEX if it is not known."""
    shape = shape_of(type)
    return DYNAMIC_INDEX if shape is None else len(shape)


def unknown_shape(type: Tensor, rank: int) -> Sequence[Attribute]:
    """A tensor type with that many unknown dimensions, or unranked if that is not known either."""
    return (with_shape(type, None if rank == DYNAMIC_INDEX else (DYNAMIC_INDEX,) * rank),)
