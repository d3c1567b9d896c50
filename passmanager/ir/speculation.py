"""Speculation: whether an operation may run where it did not run before."""

from __future__ import annotations

from typing import Final, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, MemRefType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import (
    AlwaysSpeculatable,
    ConditionallySpeculatable,
    ConstantLike,
    RecursivelySpeculatable,
)

from .external_models import Implementations
from .per_class import PerClass

__all__ = ["SPECULATION", "Speculation", "speculation"]


class Speculation:
    """What speculation of an operation depends on; plain integers."""

    NEVER: Final = 0
    """The operation may have undefined behavior, or may not end."""
    ALWAYS: Final = 1
    RECURSIVE: Final = 2
    """It may be speculated if all operations in its regions may."""


class _Nonzero(ConditionallySpeculatable):
    """A division: its divisor must be a constant that is not 0."""

    unsafe = frozenset({0})

    @classmethod
    def is_speculatable(cls, op: Operation) -> bool:
        values = _constants(op.operands[1])
        return values is not None and cls.unsafe.isdisjoint(values)


class _NonzeroSigned(_Nonzero):
    """A signed division: the quotient of the least value and -1 overflows."""

    unsafe = frozenset({0, -1})


class _UnitStep(ConditionallySpeculatable):
    """A loop that ends whatever its bounds are; only a step of 1 is known to."""

    @classmethod
    def is_speculatable(cls, op: Operation) -> bool:
        step = op.get_attr_or_prop("step")
        if isinstance(step, IntegerAttr):
            return step.value.data == 1
        return len(op.operands) > 2 and _constants(op.operands[2]) == [1]


class _KnownDimension(ConditionallySpeculatable):
    """The size of a dimension that the type is known to have."""

    @classmethod
    def is_speculatable(cls, op: Operation) -> bool:
        type = op.operands[0].type
        if not isinstance(type, MemRefType | TensorType):
            return False
        index = _constants(op.operands[1])
        return bool(index) and 0 <= index[0] < type.get_num_dims()


def _constants(value: SSAValue) -> list[int] | None:
    """Return the integers of a constant, one of a scalar; None if they are not known."""
    constant: Attribute | None = ConstantLike.get_constant_value(value)
    if constant is None and isinstance(owner := value.owner, Operation):
        # `llvm.mlir.constant` lacks the trait.
        constant = owner.get_attr_or_prop("value") if not owner.operands else None
    match constant:
        case IntegerAttr():
            return [constant.value.data]
        case DenseIntOrFPElementsAttr():
            return [int(cast("int", x)) for x in constant.get_values()]
        case _:
            return None


_ALWAYS = AlwaysSpeculatable()
_TOTAL = {
    "affine": "min",
    "arith": "extsi",
    "builtin": "unrealized_conversion_cast",
    "llvm": "add sub mul and or xor shl lshr ashr icmp sext zext trunc bitcast ptrtoint inttoptr "
    "getelementptr extractvalue insertvalue extractelement insertelement shufflevector sitofp "
    "fpext fptrunc mlir.addressof mlir.constant mlir.undef mlir.zero mlir.poison",
    "memref": "cast collapse_shape expand_shape extract_aligned_pointer_as_index "
    "extract_strided_metadata get_global memory_space_cast rank reinterpret_cast subview view",
    "tensor": "empty rank",
    "vector": "bitcast create_mask reduction shuffle transfer_read transfer_write",
}
"""Operations of xDSL's dialects that always may be speculated and do not say so."""


def _named(dialect: str, names: str) -> list[str]:
    return [f"{dialect}.{name}" for name in names.split()]


SPECULATION: Final = Implementations(
    ConditionallySpeculatable,
    {name: _ALWAYS for dialect, names in _TOTAL.items() for name in _named(dialect, names)}
    | {name: _Nonzero() for name in _named("arith", "ceildivui divui remui")}
    | {name: _NonzeroSigned() for name in _named("arith", "ceildivsi divsi floordivsi remsi")}
    | {name: _Nonzero() for name in _named("llvm", "udiv urem")}
    | {name: _NonzeroSigned() for name in _named("llvm", "sdiv srem")}
    | {"memref.dim": _KnownDimension(), "tensor.dim": _KnownDimension()}
    | {"scf.for": _UnitStep(), "affine.for": _UnitStep()}
    | {"affine.parallel": RecursivelySpeculatable()},
)
"""The implementations of xDSL's `ConditionallySpeculatable`, by class of operation.

In xDSL and MLIR a remainder is always speculatable; but processors trap on a divisor of 0, too.
xDSL's trait of a division knows constant scalars alone, and is not that of an exact division.
"""

_VARYING: Final = -1


def _of_class(cls: type[Operation]) -> int:
    trait = SPECULATION.models.get(cls.name) or SPECULATION[cls]
    if trait is None:
        return Speculation.NEVER
    if isinstance(trait, RecursivelySpeculatable):
        return Speculation.RECURSIVE
    return Speculation.ALWAYS if isinstance(trait, AlwaysSpeculatable) else _VARYING


_speculation = PerClass[Operation, int](_of_class)


def speculation(op: Operation) -> int:
    """Return whether `op` may run where it did not run before: a value of `Speculation`.

    An operation without the trait `ConditionallySpeculatable` is never speculated.
    """
    if (known := _speculation[type(op)]) != _VARYING:
        return known
    trait = SPECULATION.models.get(op.name) or SPECULATION[type(op)]
    assert trait is not None
    if not trait.is_speculatable(op):
        return Speculation.NEVER
    return Speculation.RECURSIVE if op.regions else Speculation.ALWAYS
