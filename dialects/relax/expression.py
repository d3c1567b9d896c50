"""Arithmetic on tensors with Python's operators, each of which inserts an operation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

from xdsl.ir import SSAValue

from . import Relax
from .attributes import PropertyValue
from .base import TensorOp
from .shapes import Shape
from .types import Element, is_element, tensor_type

__all__ = ["ExpressionBuilder", "Operand", "TensorExpression", "by_operation", "operations"]


class ExpressionBuilder(Protocol):
    """A builder of the operations and constants of expressions."""

    def op(self, name: str, *operands: SSAValue, **properties: PropertyValue) -> SSAValue:
        """Insert the operation `relax.<name>`; return its first result."""
        ...

    def full(self, value: float, element: Element, shape: Shape = ()) -> SSAValue:
        """Return a fill of a shape, by default a scalar."""
        ...

    def shape(self, value: SSAValue) -> Shape:
        """Return the shape of a value; raise an error if it is not known."""
        ...

    def rank(self, value: SSAValue) -> int:
        """Return the rank of a value; raise an error if it is not known."""
        ...


BuilderT = TypeVar("BuilderT", bound=ExpressionBuilder)


class TensorExpression(Generic[BuilderT]):
    """A tensor with arithmetic; operators on it insert operations. A number beside it is a scalar
    of its element type, and shapes broadcast."""

    def __init__(self, builder: BuilderT, value: SSAValue) -> None:
        self.builder = builder
        self.value = value

    # Operations

    def op(self, name: str, *others: Operand, **properties: PropertyValue) -> Self:
        """Insert the operation `relax.<name>` on this value and others."""
        operands = [self.value, *map(self.operand, others)]
        return self.of(self.builder.op(name, *operands, **properties))

    def of(self, value: SSAValue) -> Self:
        """Return another value as an expression of the same builder."""
        return type(self)(self.builder, value)

    def operand(self, other: Operand) -> SSAValue:
        """Return an operand as a value."""
        if isinstance(other, TensorExpression):
            return other.value
        if isinstance(other, SSAValue):
            return other
        return self.builder.full(other, self.element)

    def scalar(self, number: float) -> Self:
        """Return a scalar with the element type of this value."""
        return self.of(self.builder.full(number, self.element))

    def __add__(self, other: Operand) -> Self:
        return self.op("add", other)

    def __sub__(self, other: Operand) -> Self:
        return self.op("subtract", other)

    def __mul__(self, other: Operand) -> Self:
        return self.op("multiply", other)

    def __truediv__(self, other: Operand) -> Self:
        return self.op("divide", other)

    def __floordiv__(self, other: Operand) -> Self:
        return self.op("floor_divide", other)

    def __mod__(self, other: Operand) -> Self:
        return self.op("floor_mod", other)

    def __matmul__(self, other: Operand) -> Self:
        return self.op("matmul", other)

    def __radd__(self, number: float) -> Self:
        return self.scalar(number) + self

    def __rsub__(self, number: float) -> Self:
        return self.scalar(number) - self

    def __rmul__(self, number: float) -> Self:
        return self.scalar(number) * self

    def __rtruediv__(self, number: float) -> Self:
        return self.scalar(number) / self

    def __neg__(self) -> Self:
        return self.op("negative")

    def __lt__(self, other: Operand) -> Self:
        return self.op("less", other)

    def __le__(self, other: Operand) -> Self:
        return self.op("less_equal", other)

    def __gt__(self, other: Operand) -> Self:
        return self.op("greater", other)

    def __ge__(self, other: Operand) -> Self:
        return self.op("greater_equal", other)

    def equals(self, other: Operand) -> Self:
        """Compare element by element; `==` is identity, as expressions are hashable."""
        return self.op("equal", other)

    def __and__(self, other: Operand) -> Self:
        return self.op("logical_and", other)

    def __or__(self, other: Operand) -> Self:
        return self.op("logical_or", other)

    def __invert__(self) -> Self:
        return self.op("logical_not")

    def where(self, then: Operand, otherwise: Operand) -> Self:
        """Select elements by this condition; at least one of the operands is a value."""
        known = next(v for v in (then, otherwise) if not isinstance(v, int | float))
        like = self.of(self.operand(known))
        return self.op("where", like.operand(then), like.operand(otherwise))

    # Types and shapes

    @property
    def element(self) -> Element:
        element = tensor_type(self.value).element_type
        assert is_element(element)
        return element

    @property
    def shape(self) -> Shape:
        """The shape; an error of the builder if it is not known."""
        return self.builder.shape(self.value)

    @property
    def rank(self) -> int:
        return self.builder.rank(self.value)

    def cast(self, element: Element) -> Self:
        return self if self.element == element else self.op("astype", dtype=element)

    def reshape(self, *shape: int) -> Self:
        return self.op("reshape", newshape=shape)

    def transpose(self, *axes: int) -> Self:
        return self if axes == (*range(len(axes)),) else self.op("transpose", axes=axes)

    def broadcast(self, *shape: int) -> Self:
        return self if self.shape == shape else self.op("broadcast_to", shape=shape)

    def sum(self, *axes: int, keepdims: bool = False) -> Self:
        return self.op("sum", axis=axes, keepdims=keepdims) if axes else self


Operand: TypeAlias = "TensorExpression[Any] | SSAValue | float"


ValueT = TypeVar("ValueT")


def by_operation(table: Mapping[ValueT, str]) -> dict[str, ValueT]:
    """Return the values of a table by the operations that it lists for each, without `relax.`."""
    return {f"relax.{name}": value for value, names in table.items() for name in names.split()}


@cache
def operations() -> dict[str, type[TensorOp]]:
    """Return the tensor operations of relax by name."""
    ops = (op for op in Relax.operations if issubclass(op, TensorOp))
    return {op.name.removeprefix("relax."): op for op in ops}
