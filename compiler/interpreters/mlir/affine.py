"""The semantics of affine, on Python integers and buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from operator import add, eq, ge, le, mod, mul
from typing import cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import AffineMapAttr, DenseIntElementsAttr, VectorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.utils.exceptions import InterpretationError

from ...releases import by_name
from ..tir.memory import check_indices, combine, identity_of
from ..tir.table import Array, Semantics
from ..tir.vector import window
from .control_flow import steps


def floor_div(lhs: int, rhs: int) -> int:
    """Return the quotient, rounded down."""
    return lhs // rhs


def ceil_div(lhs: int, rhs: int) -> int:
    """Return the quotient, rounded up."""
    return -(-lhs // rhs)


OPERATORS: dict[AffineBinaryOpKind, Callable[[int, int], int]] = {
    AffineBinaryOpKind.Add: add,
    AffineBinaryOpKind.Mul: mul,
    AffineBinaryOpKind.Mod: mod,
    AffineBinaryOpKind.FloorDiv: floor_div,
    AffineBinaryOpKind.CeilDiv: ceil_div,
}
"""The functions of the operators of affine expressions."""
DIVISIONS = frozenset(
    {AffineBinaryOpKind.Mod, AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv}
)
COMPARE: dict[AffineConstraintKind, Callable[[int, int], bool]] = {
    AffineConstraintKind.ge: ge,
    AffineConstraintKind.le: le,
    AffineConstraintKind.eq: eq,
}


def value_of(expr: AffineExpr, dims: Sequence[int], symbols: Sequence[int]) -> int:
    """Return the value of an affine expression; InterpretationError for a divisor that is not
    positive, which MLIR leaves undefined."""
    match expr:
        case AffineConstantExpr():
            return expr.value
        case AffineDimExpr():
            return dims[expr.position]
        case AffineSymExpr():
            return symbols[expr.position]
        case AffineBinaryOpExpr():
            lhs, rhs = value_of(expr.lhs, dims, symbols), value_of(expr.rhs, dims, symbols)
            if expr.kind in DIVISIONS and rhs <= 0:
                raise InterpretationError(f"the divisor of an affine map is positive, not {rhs}")
            return OPERATORS[expr.kind](lhs, rhs)
        case _:
            raise InterpretationError(f"the affine expression {expr} has no semantics")


def values_of(map: AffineMapAttr, operands: Sequence[int]) -> tuple[int, ...]:
    """Return the results of a map of dimensions, then symbols."""
    count = map.data.num_dims
    return tuple(value_of(e, operands[:count], operands[count:]) for e in map.data.results)


def accessed(op: affine.LoadOp | affine.StoreOp, indices: Sequence[int]) -> tuple[int, ...]:
    """Return the indices of the element that `op` reads or writes."""
    map = cast(AffineMapAttr | None, op.map)  # until xDSL 0.73 it is optional
    return tuple(indices) if map is None else values_of(map, indices)


def apply(op: affine.ApplyOp, *operands: int) -> int:
    """Return the only result of the map."""
    (value,) = values_of(op.map, operands)
    return value


def minimum(op: affine.MinOp, *operands: int) -> int:
    """Return the minimum of the results of the map."""
    return min(values_of(op.map, operands))


def load(op: affine.LoadOp, buffer: Array, *indices: int) -> object:
    """Load an element."""
    return buffer[check_indices(buffer, accessed(op, indices))]


def store(op: affine.StoreOp, value: object, buffer: Array, *indices: int) -> None:
    """Store an element."""
    buffer[check_indices(buffer, accessed(op, indices))] = value


def vector_load(op: Operation, buffer: Array, *indices: int) -> Array:
    """Load neighboring elements."""
    op, type = cast(affine.VectorLoadOp, op), op.results[0].type
    assert isinstance(type, VectorType)
    return window(buffer, values_of(op.map, indices), type.get_shape()).copy()


def vector_store(op: Operation, value: Array, buffer: Array, *indices: int) -> None:
    """Store neighboring elements."""
    map = cast(affine.VectorStoreOp, op).map
    window(buffer, values_of(map, indices), value.shape)[...] = value


AFFINE: Semantics = {
    affine.ApplyOp: apply,
    affine.LoadOp: load,
    affine.MinOp: minimum,
    affine.StoreOp: store,
    **by_name(
        affine.Affine,
        {"affine.vector_load": vector_load, "affine.vector_store": vector_store},
    ),
}
"""The semantics of the operations without regions."""


@register_impls
class AffineFunctions(InterpreterFunctions):
    """The functions of the operations with regions."""

    @impl(affine.ForOp)
    def run_affine_for(
        self, interpreter: Interpreter, op: affine.ForOp, args: PythonValues
    ) -> PythonValues:
        start = len(op.lowerBoundOperands)
        end = start + len(op.upperBoundOperands)
        lower = max(values_of(op.lowerBoundMap, args[:start]))
        upper = min(values_of(op.upperBoundMap, args[start:end]))
        values = args[end:]
        for i in steps(lower, upper, op.step.value.data):
            values = interpreter.run_ssacfg_region(op.body, (i, *values), "for")
        return values

    @impl(affine.IfOp)
    def run_affine_if(
        self, interpreter: Interpreter, op: affine.IfOp, args: PythonValues
    ) -> PythonValues:
        region = op.then_region if holds(op, args) else op.else_region
        return interpreter.run_ssacfg_region(region, (), "if")

    @impl(affine.ParallelOp)
    def run_affine_parallel(
        self, interpreter: Interpreter, op: affine.ParallelOp, args: PythonValues
    ) -> PythonValues:
        kinds = [kind.data for kind in op.reductions]
        pairs = [*zip(kinds, op.result_types, strict=True)]
        results = tuple(identity_of(kind, type) for kind, type in pairs)
        for indices in parallel_indices(op, args):
            values = interpreter.run_ssacfg_region(op.body, indices, "parallel")
            results = tuple(
                combine(kind, type, result, value)
                for (kind, type), result, value in zip(pairs, results, values, strict=True)
            )
        return results


def holds(op: affine.IfOp, operands: Sequence[int]) -> bool:
    """Return whether the operands are in the set of an `affine.if`."""
    count = op.condition.data.num_dims
    dims, symbols = operands[:count], operands[count:]
    return all(
        COMPARE[c.kind](value_of(c.lhs, dims, symbols), value_of(c.rhs, dims, symbols))
        for c in op.condition.data.constraints
    )


def parallel_indices(op: affine.ParallelOp, args: PythonValues) -> Iterator[tuple[int, ...]]:
    """Yield the indices of a parallel loop."""
    count = op.lowerBoundsMap.data.num_dims + op.lowerBoundsMap.data.num_symbols
    lower = grouped(values_of(op.lowerBoundsMap, args[:count]), op.lowerBoundsGroups)
    upper = grouped(values_of(op.upperBoundsMap, args[count:]), op.upperBoundsGroups)
    strides = [step.value.data for step in op.steps]
    bounds = zip(map(max, lower), map(min, upper), strides, strict=True)
    return product(*(steps(*bound) for bound in bounds))


def grouped(values: Sequence[int], groups: DenseIntElementsAttr) -> Iterator[Sequence[int]]:
    """Split `values` into groups of the given sizes."""
    start = 0
    for size in groups.get_values():
        yield values[start : start + size]
        start += size
