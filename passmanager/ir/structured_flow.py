"""The control flow of operations that xDSL defines: branches, and the regions of scf and affine.

Operations are told by name, so that no dialect is imported. Sources: MLIR's implementations of
`BranchOpInterface` and `RegionBranchOpInterface`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from .branching import (
    SEGMENTS,
    BranchTrait,
    Constants,
    RegionBranchTrait,
    drop_operands,
    segment_sizes,
    shorten_segments,
)

__all__ = ["BRANCH_MODELS", "REGION_MODELS", "ParallelFlow", "StructuredFlow"]


# Branches to blocks.


class Jump(BranchTrait):
    """A branch that passes all its operands to its only successor."""

    def successor_operands(self, op: Operation, index: int) -> range:
        return range(len(op.operands))


class CondBranch(BranchTrait):
    """A branch on a boolean, its first operand."""

    def successor_operands(self, op: Operation, index: int) -> range:
        _, first, second = segments(op)
        start = 1 if index == 0 else 1 + first
        return range(start, start + (first if index == 0 else second))

    def successor_for(self, op: Operation, constants: Constants) -> int | None:
        condition = integer_of(constants, 0)
        return None if condition is None else int(not condition)


class SwitchBranch(BranchTrait):
    """A branch on an integer: the first successor is the default, and each case has one."""

    def successor_operands(self, op: Operation, index: int) -> range:
        _, default, _ = segments(op)
        if index == 0:
            return range(1, 1 + default)
        sizes = self.case_sizes(op)
        start = 1 + default + sum(sizes[: index - 1])
        return range(start, start + sizes[index - 1])

    def successor_for(self, op: Operation, constants: Constants) -> int | None:
        if (flag := integer_of(constants, 0)) is None:
            return None
        cases = op.properties.get("case_values")
        if not isinstance(cases, DenseIntOrFPElementsAttr):
            return 0
        type = cast("IntegerType | IndexType", cases.get_element_type())
        mask = (1 << type.width.data) - 1 if isinstance(type, IntegerType) else -1
        values = [value & mask for value in cast("Sequence[int]", cases.get_values())]
        return 1 + values.index(flag & mask) if flag & mask in values else 0

    def drop_operands(self, op: Operation, indices: Collection[int]) -> None:
        cases = op.properties["case_operand_segments"]
        first = 1 + segments(op)[1]
        shorter = shorten_segments(cases, {index - first for index in indices if index >= first})
        op.properties["case_operand_segments"] = shorter
        drop_operands(op, indices)

    def case_sizes(self, op: Operation) -> Sequence[int]:
        """Return the number of operands of each case."""
        return segment_sizes(op.properties["case_operand_segments"])


def segments(op: Operation) -> Sequence[int]:
    """Return the numbers of operands of each kind that `op` has."""
    holder = op.properties if SEGMENTS in op.properties else op.attributes
    return segment_sizes(holder[SEGMENTS])


def integer_of(constants: Constants, index: int) -> int | None:
    """Return the value of constant `index`; None if it is not known, or no integer."""
    found = constants[index] if index < len(constants) else None
    return found.value.data if isinstance(found, IntegerAttr) else None


# Branches between regions.


@dataclass(frozen=True)
class StructuredFlow(RegionBranchTrait):
    """The flow through regions that are entered once, and left with the results: `scf.if`,
    `scf.execute_region`; those of loops derive from it.

    `ends` has the names of the terminators of the regions, with the index of their first forwarded
    operand.
    """

    ends: Mapping[str, int]

    def __hash__(self) -> int:
        return hash((type(self), *self.ends))

    def successor_regions(
        self, op: Operation, point: Operation | None, constants: Constants = ()
    ) -> Sequence[Region | None]:
        if point is None:
            return self.entries(op, constants)
        return self.exits(op, point, constants) if point.name in self.ends else ()

    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        if point is None:
            return self.initial(op)
        return range(self.ends[point.name], len(point.operands))

    def entries(self, op: Operation, constants: Constants) -> Sequence[Region | None]:
        """Return where control goes when `op` is entered: into one of its regions, past `op` in the
        place of one without blocks."""
        return [None if region.first_block is None else region for region in op.regions]

    def exits(self, op: Operation, end: Operation, constants: Constants) -> Sequence[Region | None]:
        """Return where control goes from `end`, whose operands are `constants`."""
        return (None,)

    def initial(self, op: Operation) -> range:
        """Return the operands of `op` that are forwarded when it is entered."""
        return range(0)


class IfFlow(StructuredFlow):
    """The flow of `scf.if`: one of two regions runs."""

    def entries(self, op: Operation, constants: Constants) -> Sequence[Region | None]:
        found = super().entries(op, constants)
        if (condition := integer_of(constants, 0)) is None:
            return found
        return found[:1] if condition else found[1:]


class IndexSwitchFlow(StructuredFlow):
    """The flow of `scf.index_switch`, whose first region is the default."""

    def entries(self, op: Operation, constants: Constants) -> Sequence[Region | None]:
        if (value := integer_of(constants, 0)) is None:
            return op.regions
        values = segment_sizes(op.properties["cases"])
        return [op.regions[1 + values.index(value) if value in values else 0]]


class WhileFlow(StructuredFlow):
    """The flow of `scf.while`: its first region decides whether the second one runs."""

    def entries(self, op: Operation, constants: Constants) -> Sequence[Region | None]:
        return op.regions[:1]

    def exits(self, op: Operation, end: Operation, constants: Constants) -> Sequence[Region | None]:
        before, after = op.regions
        if self.ends[end.name] == 0:
            return (before,)
        if (condition := integer_of(constants, 0)) is None:
            return (after, None)
        return (after,) if condition else (None,)

    def initial(self, op: Operation) -> range:
        return range(len(op.operands))


@dataclass(frozen=True)
class LoopFlow(StructuredFlow):
    """The flow of a loop with variables, its first arguments, and carried values.

    `first` returns the index of the first initial value. `trips` returns the number of iterations,
    None if it is not known.
    """

    first: Callable[[Operation], int]
    trips: Callable[[Operation, Constants], int | None]

    def __hash__(self) -> int:
        return super().__hash__()

    def entries(self, op: Operation, constants: Constants) -> Sequence[Region | None]:
        if (trips := self.trips(op, constants)) is None:
            return (op.regions[0], None)
        return (op.regions[0],) if trips > 0 else (None,)

    def exits(self, op: Operation, end: Operation, constants: Constants) -> Sequence[Region | None]:
        return (None,) if self.trips(op, ()) == 1 else (op.regions[0], None)

    def successor_inputs(self, op: Operation, successor: Region | None) -> Sequence[SSAValue]:
        found = super().successor_inputs(op, successor)
        return found if successor is None else found[len(found) - len(op.results) :]

    def initial(self, op: Operation) -> range:
        return range(self.first(op), len(op.operands))


class ParallelFlow(StructuredFlow):
    """The flow of loops that forward nothing, parallel ones among them: the body may run, again and
    again; what results are is not known."""

    def entries(self, op: Operation, constants: Constants) -> Sequence[Region | None]:
        return (*op.regions, None)

    def exits(self, op: Operation, end: Operation, constants: Constants) -> Sequence[Region | None]:
        return (*op.regions, None)

    def successor_inputs(self, op: Operation, successor: Region | None) -> Sequence[SSAValue]:
        return ()

    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        return range(0)


def _trips_scf(op: Operation, constants: Constants) -> int | None:
    lower, upper, step = (integer_of(constants, index) for index in range(3))
    if lower is None or upper is None or "unsignedCmp" in (op.properties | op.attributes):
        return None
    if step is None or step <= 0:
        return 0 if lower >= upper else None
    return max(0, -(-(upper - lower) // step))


def _trips_affine(op: Operation, constants: Constants) -> int | None:
    lower, upper = (_bound(op.properties.get(f"{end}BoundMap")) for end in ("lower", "upper"))
    step = op.properties.get("step")
    if lower is None or upper is None or not isinstance(step, IntegerAttr):
        return None
    return max(0, -(-(upper - lower) // step.value.data))


def _bound(bound: Attribute | None) -> int | None:
    if not isinstance(bound, AffineMapAttr) or len(results := bound.data.results) != 1:
        return None
    return results[0].value if isinstance(results[0], AffineConstantExpr) else None


def _first_affine(op: Operation) -> int:
    return sum(segments(op)[:2])


_SCF: Final = {"scf.yield": 0}
_AFFINE: Final = {"affine.yield": 0}

BRANCH_MODELS: Final[Mapping[str, BranchTrait]] = {
    "cf.br": Jump(),
    "cf.cond_br": CondBranch(),
    "cf.switch": SwitchBranch(),
    "llvm.br": Jump(),
    "llvm.cond_br": CondBranch(),
}
"""The branches to blocks, by the names of the operations."""

REGION_MODELS: Final[Mapping[str, RegionBranchTrait]] = {
    "scf.if": IfFlow(_SCF),
    "scf.for": LoopFlow(_SCF, lambda op: 3, _trips_scf),
    "scf.while": WhileFlow({"scf.yield": 0, "scf.condition": 1}),
    "scf.index_switch": IndexSwitchFlow(_SCF),
    "scf.execute_region": StructuredFlow(_SCF),
    "scf.parallel": ParallelFlow({"scf.reduce": 0}),
    "scf.forall": ParallelFlow({"scf.forall.in_parallel": 0}),
    "affine.for": LoopFlow(_AFFINE, _first_affine, _trips_affine),
    "affine.if": StructuredFlow(_AFFINE),
    "affine.parallel": ParallelFlow(_AFFINE),
    "memref.alloca_scope": StructuredFlow({"memref.alloca_scope.return": 0}),
}
"""The branches between regions, by the names of the operations."""
