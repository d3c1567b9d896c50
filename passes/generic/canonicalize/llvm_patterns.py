"""Folds and patterns of `llvm`, for `canonicalize`. Source: LLVMDialect.cpp of MLIR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....passmanager.ir.text.printer import is_dense
from .by_dialect import Fold, Folded
from .constants import is_integer, numbers_of, truncated_integer, uniform_attribute
from .scalar_values import width_of, wrap
from .shapes import static_list

_EQUAL, _NOT_EQUAL = 0, 1
_UNDEFINED: Final = ("llvm.mlir.poison", "llvm.mlir.undef")
_DYNAMIC_INDEX: Final = -(1 << 31)
"""The index of `llvm.getelementptr` that stands for an operand."""


def _number(value: SSAValue) -> int | None:
    """Return the integer that a constant of `llvm` or `arith` is, as an unsigned number."""
    owner = value.owner
    if not isinstance(owner, llvm.ConstantOp | arith.ConstantOp):
        return None
    number, type = owner.properties["value"], value.type
    if not isinstance(number, IntegerAttr) or not is_integer(type):
        return None
    return number.value.data % (1 << width_of(type))


def _fold_icmp(op: Operation) -> Folded | None:
    """Fold the comparison of a value with itself."""
    assert isinstance(op, llvm.ICmpOp)
    predicate = op.predicate.value.data
    if op.lhs is not op.rhs or predicate not in (_EQUAL, _NOT_EQUAL):
        return None
    return uniform_attribute(int(predicate == _EQUAL), op.res.type)


def _fold_extract_value(op: Operation) -> Folded | None:
    """Fold a part of what was inserted; take it out of what a value was inserted elsewhere into, or
    out of what the container itself is a part of."""
    assert isinstance(op, llvm.ExtractValueOp)
    inner, position = op.container.owner, static_list(op.position)
    if isinstance(inner, llvm.ExtractValueOp):
        both = static_list(inner.position) + position
        op.properties["position"] = DenseArrayBase.from_list(i64, both)
        op.operands[0] = inner.container
        return op.res
    value, is_changed, is_inside = op.container, False, False
    while isinstance(made := value.owner, llvm.InsertValueOp):
        place = static_list(made.position)
        if place == position:
            return made.value
        shared = min(len(place), len(position))
        if place[:shared] != position[:shared]:
            value = made.container
            if not is_inside:
                op.operands[0] = value
                is_changed = True
        elif shared == len(place):
            value, position, is_inside = made.value, position[shared:], True
        else:
            return op.res if is_changed else None
    constant = made.properties["value"] if isinstance(made, llvm.ConstantOp) else None
    if constant is not None and is_dense(constant) and len(position) == 1:
        if len(constant.type.get_shape()) == 1 and 0 <= position[0] < len(constant):
            if (numbers := numbers_of(constant)) is not None:
                return uniform_attribute(numbers[position[0]], op.res.type)
    return op.res if is_changed else None


def _fold_shuffle(op: Operation) -> Folded | None:
    """Fold the first of one element."""
    first = op.operands[0]
    is_one = first.type == op.results[0].type and static_list(op.properties["mask"]) == [0]
    return first if is_one else None


def _fold_zext(op: Operation) -> Folded | None:
    number, type = _number(op.operands[0]), op.results[0].type
    if number is None or not is_integer(type):
        return None
    return truncated_integer(number, type)


def _fold_shl(op: Operation) -> Folded | None:
    number, amount, type = *map(_number, op.operands), op.results[0].type
    if number is None or amount is None or not is_integer(type):
        return None
    # More is poison.
    return truncated_integer(number << amount, type) if amount < width_of(type) else None


def _fold_or(op: Operation) -> Folded | None:
    lhs, rhs, type = *map(_number, op.operands), op.results[0].type
    if lhs is None or rhs is None or not is_integer(type):
        return None
    return truncated_integer(lhs | rhs, type)


def _fold_bitcast(op: Operation) -> Folded | None:
    """Fold a bitcast to the same type; make one of two."""
    source, to = op.operands[0], op.results[0]
    if source.type == to.type:
        return source
    if not isinstance(inner := source.owner, llvm.BitcastOp):
        return None
    if inner.arg.type == to.type:
        return inner.arg
    op.operands[0] = inner.arg
    return to


def _fold_element_pointer(op: Operation) -> Folded | None:
    """Fold the pointer itself; write constant indices into the property."""
    assert isinstance(op, llvm.GEPOp)
    indices, dynamic = static_list(op.rawConstantIndices), iter(op.ssa_indices)
    mixed = [next(dynamic) if index == _DYNAMIC_INDEX else index for index in indices]
    new = [index if isinstance(index, int) else _index(index) for index in mixed]
    if new == [0] and op.ptr.type == op.result.type:
        return op.ptr
    if all(a is b for a, b in zip(mixed, new, strict=True)):
        return None
    op.properties["rawConstantIndices"] = DenseArrayBase.from_list(
        i32, [index if isinstance(index, int) else _DYNAMIC_INDEX for index in new]
    )
    op.operands = [op.ptr, *(index for index in new if isinstance(index, SSAValue))]
    return op.result


def _index(value: SSAValue) -> SSAValue | int:
    """Return the number that an index is, if it has a place in the property; else the value."""
    number = _number(value)
    if number is None:
        return value
    signed = wrap(number, width_of(value.type))
    return signed if _DYNAMIC_INDEX < signed < -_DYNAMIC_INDEX else value


FOLDS: Final[Mapping[str, Fold]] = {
    "llvm.bitcast": _fold_bitcast,
    "llvm.extractvalue": _fold_extract_value,
    "llvm.getelementptr": _fold_element_pointer,
    "llvm.icmp": _fold_icmp,
    "llvm.or": _fold_or,
    "llvm.shl": _fold_shl,
    "llvm.shufflevector": _fold_shuffle,
    "llvm.zext": _fold_zext,
}


class PartOfUndefined(RewritePattern):
    """Make undefined, or poison, the part of such a value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: llvm.ExtractValueOp, rewriter: PatternRewriter, /) -> None:
        made = op.container.owner
        if isinstance(made, Operation) and made.name in _UNDEFINED:
            rewriter.replace(op, type(made).create(result_types=[op.res.type]))


PATTERNS: Final[tuple[RewritePattern, ...]] = (PartOfUndefined(),)
