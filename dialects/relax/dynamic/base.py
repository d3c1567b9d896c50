"""The base class of the operations whose parameters are operands, and rules on parameters."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...numbers import positive
from ..attributes import Int, PropertyValue, kinds_of
from ..base import TensorOp
from ..constant import constant_elements, constant_integers
from ..dimensions import Dimensions, Facts, TypeFacts, known_shape, numbers_of
from ..interfaces import OnHost
from ..interfaces.computing import SIGNATURES
from ..shapes import Shape, num_elements, shape_text
from ..types import (
    Tensor,
    check_indices,
    make_tensor_type,
    number_type,
    shape_of,
    tensor_type,
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
        return [None if given is None else [*map(positive, given)]]

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
