"""Regions between `relax.dequantize` and `relax.quantize`, and their integer arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from xdsl.dialects.builtin import IntegerType, i16, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...compiler.interpreters.arrays import bounds
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.contraction.convolution import ForwardConvolutionOp
from ...dialects.relax.contraction.linear_algebra import DenseOp, MatmulOp
from ...dialects.relax.elementwise.quantization import DequantizeOp, QuantizeOp
from ...dialects.relax.interfaces import Injective
from ...dialects.relax.types import is_integer, tensor_type
from ...passmanager.actions import SILENT, Actions
from ...passmanager.ir.walk import walk
from ..arrays import known
from ..generic.dead_code_elimination import remove_dead_operations
from .quantities import (
    Affine,
    NotQuantizable,
    Operand,
    Quantity,
    RegionBuilder,
    Table,
    full,
    minimum_rank,
    parameters,
)
from .quantization_rules import COMMUTING, RULES, quantized


def convert_regions(
    func: FuncOp,
    *,
    use_qat: bool = False,
    hard_fail: bool = False,
    unsigned: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Replace the regions of `func` that compute on dequantized integers and end in a
    `relax.quantize` by integer arithmetic.

    With `use_qat`, also replace convolutions and matrix products of dequantized integers whose
    results stay floats. With `hard_fail`, a region that cannot be replaced is an error. With
    `unsigned`, the data of products are unsigned bytes.
    """
    converted = 0
    convert = partial(convert_region, hard_fail=hard_fail, unsigned=unsigned, actions=actions)
    # From the ends back: a region is what one rounding to integers needs.
    for end in [op for op in walk(func) if isinstance(op, QuantizeOp)]:
        converted += convert(end, end.data, end)
    if use_qat:
        for op in [op for op in walk(func) if isinstance(op, _PRODUCTS) and reads_integers(op)]:
            converted += convert(op, op.results[0], None)
    if converted:
        remove_dead_operations(func)


_PRODUCTS = (DenseOp, ForwardConvolutionOp, MatmulOp)
"""The operations that are worth to be computed in integers by themselves."""


def reads_integers(op: Operation) -> bool:
    """Return whether all operands of an operation in floats are dequantized."""
    return all(isinstance(value.owner, DequantizeOp) for value in op.operands)


def convert_region(
    op: Operation,
    value: SSAValue,
    end: QuantizeOp | None,
    *,
    hard_fail: bool,
    unsigned: bool,
    actions: Actions,
) -> bool:
    """Replace the result of `op` by that of integer arithmetic; return whether that was done.

    `op` is the `relax.quantize` of `value`, `end`, or without an end what computes `value`.
    """
    if isinstance(value.owner, ConstantOp | FullOp):
        return False  # a constant that fold-constant quantizes
    builder: RegionBuilder | None = None
    try:
        # The cheapest reasons first, before anything is built.
        if end is not None:
            parameters(end.scale, end.zero_point)
        region = Region.of(op, value, end)
        if not actions.allowed(op):
            return False
        builder = RegionBuilder(op, end, region.commuting(), unsigned=unsigned)
        quantity = region.quantity(builder, value)
        new = dequantized(builder, quantity) if end is None else quantized(builder, quantity)
        if new.type != op.results[0].type:
            raise NotQuantizable("the type of the result is less precise than its operands allow")
    except NotQuantizable as refused:
        if builder is not None:
            builder.undo()
        if hard_fail:
            actions.error(op, f"stays float: {refused}")
        actions.missed(op, "Float", f"stays float: {refused}")
        return False
    actions.passed(op, "Integer", "is computed in integers", Operations=len(region.ops))
    actions.count("integer-regions")
    Rewriter.replace_op(op, [], [new])
    return True


def dequantized(b: RegionBuilder, x: Quantity) -> SSAValue:
    """Return the numbers of integers as floats."""
    if isinstance(x, Table) or not is_integer(x.element):
        raise NotQuantizable("a function of one number stays float")
    element = x.element
    scale = b.constant(x.scale, tensor_type(b.before.results[0]).element_type)  # pyright: ignore[reportArgumentType]
    return b.op("dequantize", x.value, scale, b.number(x.zero, element))


@dataclass
class Region:
    """The operations from `relax.dequantize`s and constants to an end, operands first."""

    ops: Sequence[Operation]
    end: QuantizeOp | None

    @staticmethod
    def of(op: Operation, value: SSAValue, end: QuantizeOp | None) -> Region:
        """Collect the operations that compute `value`; Refused if one of them has no rule, or if
        a value in between is used as a float elsewhere."""
        found: dict[Operation, None] = {}
        pending = [value]
        while pending:
            owner = pending.pop().owner
            if not isinstance(owner, Operation):
                raise NotQuantizable("an operand is a float argument")
            if is_leaf(owner) or owner in found:
                continue
            if owner.parent is not op.parent:
                raise NotQuantizable(f"'{owner.name}' is in another block")
            if owner.name not in RULES:
                raise NotQuantizable(f"'{owner.name}' has no rule for integers")
            found[owner] = None
            pending += [v for v in owner.operands if not is_index(v)]
        ends = {op} if end is not None else set[Operation]()
        for inner in found:
            check_uses(inner, found, ends, op)
        return Region(in_order(found), end)

    def commuting(self) -> set[Operation]:
        """Return the operations that may be computed after rounding to the scale of the end: their
        results only move, or are compared, until the end."""
        # Users first, so that the answers of all users of an operation are known.
        commuting: set[Operation] = set()
        for op in reversed(self.ops):
            users = [use.operation for result in op.results for use in result.uses]
            if RULES[op.name] in COMMUTING and all(
                isinstance(user, QuantizeOp) or user in commuting for user in users
            ):
                commuting.add(op)
        return commuting

    def quantity(self, builder: RegionBuilder, value: SSAValue) -> Quantity:
        """Apply the rules; return what `value` becomes."""
        values: dict[SSAValue, Quantity] = {}

        def operand(value: SSAValue) -> Operand:
            if value in values:
                return values[value]
            if isinstance(leaf := value.owner, DequantizeOp):
                values[value] = integers(builder, leaf)
                return values[value]
            return value

        for op in self.ops:
            results = RULES[op.name](builder, op, *map(operand, op.operands))
            results = results if isinstance(results, Sequence) else [results]
            values |= zip(op.results, results, strict=True)
        found = operand(value)
        if isinstance(found, SSAValue):
            raise NotQuantizable("an operand is no dequantized tensor")
        return found


def is_leaf(op: Operation) -> bool:
    """Return whether a region begins after `op`."""
    return isinstance(op, DequantizeOp | ConstantOp | FullOp)


def is_index(value: SSAValue) -> bool:
    """Return whether a value has integer elements, such as the indices of `relax.take`."""
    return is_integer(tensor_type(value).element_type)


def check_uses(
    op: Operation, region: Iterable[Operation], ends: set[Operation], last: Operation
) -> None:
    """Raise Refused if a result of `op` has a use outside of the region. Movements of elements may
    have other quantized users: there they are computed in integers too."""
    if op is last:
        return
    for result in op.results:
        for use in result.uses:
            user = use.operation
            if user in ends or user in region:
                continue
            # A second copy of a movement costs little; a convolution would be computed twice.
            if isinstance(op, Injective) and isinstance(user, QuantizeOp):
                continue
            raise NotQuantizable(f"the result of '{op.name}' is also used by '{user.name}'")


def in_order(ops: Iterable[Operation]) -> list[Operation]:
    """Return operations of one block with operands before users."""
    left = dict.fromkeys(ops)
    ordered: list[Operation] = []
    pending = [*left]
    while pending:
        # Depth first: an operation stays on the stack until its operands are in order.
        op = pending[-1]
        missing = [v.owner for v in op.operands if isinstance(v.owner, Operation)]
        if missing := [owner for owner in missing if owner in left and owner is not op]:
            pending += missing
            continue
        pending.pop()
        if op in left:
            del left[op]
            ordered.append(op)
    return ordered


def integers(b: RegionBuilder, op: DequantizeOp) -> Affine:
    """Return the integers that `op` dequantizes. Constants get the zero point 0; their zero points
    may differ from channel to channel."""
    data, elements = op.data, known(op.data)
    if elements is None:
        scale, zero, element = parameters(op.scale, op.zero_point)
        low, high = bounds(element)
        return Affine(data, scale, zero, int(max(high - zero, zero - low)), 0.0)
    points, scales = known(op.zero_point), known(op.scale)
    if points is None:
        raise NotQuantizable("the zero point is not a constant")
    if scales is None:
        raise NotQuantizable("the scale is not a constant")
    parameters(op.scale, b.number(0, i32))
    element = tensor_type(data).element_type
    assert isinstance(element, IntegerType)
    if points.array.any():
        # A weight less its zero point has one bit more; as a constant it costs memory, but no time.
        wide = i16 if element.bitwidth <= 8 else i32
        array = full(elements).astype(np.int64) - full(points)
        if np.abs(array).max(initial=0) >= 1 << wide.bitwidth - 1:
            raise NotQuantizable("a constant less its zero point exceeds an i32")
        data = b.constant(array, wide)
    else:
        array = full(elements).astype(np.int64)
    return Affine(data, minimum_rank(full(scales)), 0, int(np.abs(array).max(initial=0)), 0.0)
