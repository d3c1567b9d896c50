"""Values of a vectorized loop: as vectors, lane by lane, and in the first lane."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.constant_evaluator import integer_constant
from ...compiler.analysis.vectorization_plan import VectorizationPlan
from ...dialects.tir.ops import LanewiseOp
from ...passmanager.fast.edit import insert_before
from ...passmanager.ir.effects import own_effects
from ..loops import BinaryOp, ConstantPool, clone_ops, create_or_fold


def insert_in_place_of(old: Operation, new: Operation) -> None:
    """Insert `new` before `old`, with the location and the names of results of `old`."""
    insert_before(old, new)
    new.location = old.location
    for result, before in zip(new.results, old.results, strict=True):
        result.name_hint = before.name_hint


class LaneValues:
    """A builder of the values of a loop in its lanes, on demand.

    New operations are inserted beside the old ones that they are made from, so that they dominate
    the same uses. A value that varies has a vector (`vectors`), a scalar for each lane (`parts`),
    or both; an index of constant stride also has a value in the first lane (`first_lane`). `masks`
    has the masks of accesses in a masked branch. `replaced` has the operations that already have a
    replacement.
    """

    def __init__(self, plan: VectorizationPlan, constants: ConstantPool) -> None:
        self.vectors: dict[SSAValue, SSAValue] = {}
        self.parts: dict[SSAValue, list[SSAValue]] = {}
        self.first_lane: dict[SSAValue, SSAValue] = {plan.loop.variable: plan.loop.min}
        self.masks: dict[Operation, SSAValue] = {}
        self.replaced: set[Operation] = set()
        self._plan = plan
        self._strides = plan.strides
        self._count = plan.count
        self._constants = constants

    # Vectors

    def vector(self, value: SSAValue) -> SSAValue:
        """Return the vector of `value` in all lanes, built where `value` is defined."""
        # A worklist instead of recursion: expressions may be deep.
        pending = [value]
        while pending:
            if self._is_built(top := pending[-1]):
                pending.pop()
            elif missing := [v for v in self._inputs(top) if not self._is_built(v)]:
                pending += missing
            else:
                self._build(pending.pop())
        if value not in self.vectors:
            self.vectors[value] = self._join(value)
        return self.vectors[value]

    def _is_built(self, value: SSAValue) -> bool:
        return value in self.vectors or value in self.parts

    def _inputs(self, value: SSAValue) -> Sequence[SSAValue]:
        """Return the values whose vectors or parts are needed to build those of `value`."""
        op = value.owner
        if isinstance(op, Block) or self._strides.stride(value) is not None:
            return ()
        # Lane by lane, an index of constant stride is computed for the lane (`_in_lane`), from no
        # vector.
        if op not in self._plan.wide:
            return [v for v in op.operands if self._strides.stride(v) is None]
        return [v for n, v in enumerate(op.operands) if not self._plan.stays_scalar(op, n)]

    def _build(self, value: SSAValue) -> None:
        """Build the vector of `value`, or its parts; its inputs are built."""
        match self._strides.stride(value), value.owner:
            # The cheapest form first: a broadcast, a ramp, a load, an operation on vectors, lanes.
            case 0, _:
                self.vectors[value] = self._splat(value)
            case int(stride), _:
                self.vectors[value] = self._ramp(value, stride)
            case _, memref.LoadOp() as op if (stride := self._plan.load_stride(op)) is not None:
                load = self._load(op) if stride == 1 else self._deinterleave(op, stride)
                self.vectors[value] = load
            case _, Operation() as op if op in self._plan.wide:
                self._build_wide(op)
            case _, owner:
                assert isinstance(owner, Operation)
                self._build_parts(owner)

    def _splat(self, value: SSAValue) -> SSAValue:
        """Return a uniform value as a vector."""
        type = self._plan.vector_type(value.type)
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr | FloatAttr):
            return self._constant_vector(value.type, [op.value.value.data] * self._count)
        new = vector.BroadcastOp(value, type)
        loop = self._plan.loop
        # A value from outside: once, before the loop.
        if not loop.is_ancestor(op):
            insert_before(loop, new)
        elif isinstance(op, Block):
            Rewriter.insert_op(new, InsertPoint.at_start(op))
        else:
            Rewriter.insert_op(new, InsertPoint.after(op))
        return new.vector

    def _constant_vector(self, type: Attribute, values: Sequence[int | float]) -> SSAValue:
        vector_type = cast(VectorType[IntegerType], self._plan.vector_type(type))
        numbers = cast(Sequence[int], values)
        return self._constants.get(DenseIntOrFPElementsAttr.from_list(vector_type, numbers))

    def _ramp(self, value: SSAValue, stride: int) -> SSAValue:
        """Return the vector of an index of constant stride: `first + [0, stride, ...]`."""
        steps = [stride * lane for lane in range(self._count)]
        first = self.first(value)
        if (start := integer_constant(first)) is not None:
            return self._constant_vector(IndexType(), [start + step for step in steps])
        before = self._plan.loop if isinstance(value.owner, Block) else value.owner
        start = vector.BroadcastOp(first, self._plan.vector_type(IndexType()))
        new = arith.AddiOp(start, self._constant_vector(IndexType(), steps))
        insert_before(before, start, new)
        return new.result

    def _load(self, op: memref.LoadOp) -> SSAValue:
        """Load neighboring elements; lanes whose mask is off get 0."""
        type = self._plan.vector_type(op.res.type)
        indices = [self.first(index) for index in op.indices]
        if (mask := self.masks.get(op)) is None:
            new = vector.LoadOp(op.memref, indices, type)
            new.properties |= op.properties
        else:
            zeros = self._constant_vector(op.res.type, [0] * self._count)
            new = vector.MaskedLoadOp(op.memref, indices, mask, zeros, type)
        insert_in_place_of(op, new)
        return new.result

    def _deinterleave(self, op: memref.LoadOp, stride: int) -> SSAValue:
        """Load elements at a distance of `stride`, as lanes of `stride` vectors.

        The last vector ends with the last element, so that nothing beyond it is read. With 4 lanes
        and stride 2, elements 0, 2, 4 and 6 are lanes 0 and 2 of elements 0 to 3, and lanes 1 and 3
        of elements 3 to 6.
        """
        count, type = self._count, self._plan.vector_type(op.res.type)
        places = [stride * lane for lane in range(count)]
        *leading, first = [self.first(index) for index in op.indices]
        result = self._load_at(op, [*leading, first])
        # With each part, `result` has the lanes whose elements were loaded so far.
        for part in range(1, stride):
            start = min(part * count, places[-1] - count + 1)
            index = self.arithmetic(arith.AddiOp, first, start, op)
            following = self._load_at(op, [*leading, index])
            # Lanes whose elements are in a later part get any element.
            mask = [
                (place if part == 1 else lane)
                if place < part * count
                else min(count + place - start, 2 * count - 1)
                for lane, place in enumerate(places)
            ]
            lanes = DenseArrayBase.from_list(i64, mask)
            insert_before(op, new := vector.ShuffleOp(result, following, lanes, result_type=type))
            result = new.result
        return result

    def _load_at(self, op: memref.LoadOp, indices: Sequence[SSAValue]) -> SSAValue:
        """Load neighboring elements from `indices` on, as a vector."""
        new = vector.LoadOp(op.memref, indices, self._plan.vector_type(op.res.type))
        new.properties |= op.properties
        new.location = op.location
        insert_before(op, new)
        return new.result

    def _build_wide(self, op: Operation) -> None:
        """Do `op` on vectors."""
        operands = [
            v if self._plan.stays_scalar(op, n) else self.vector(v)
            for n, v in enumerate(op.operands)
        ]
        types = [self._plan.vector_type(type) for type in op.result_types]
        if op in self._plan.lanewise:
            new = LanewiseOp(op, operands, *types)
        else:
            new = op.create(
                operands=operands,
                result_types=types,
                properties=op.properties.copy(),
                attributes=op.attributes.copy(),
            )
        insert_in_place_of(op, new)
        self.vectors.update(zip(op.results, new.results, strict=True))

    # Lanes

    def _build_parts(self, op: Operation) -> None:
        """Repeat `op` for each lane."""
        self.parts.update({result: [] for result in op.results})
        for lane in range(self._count):
            operands = {v: self._in_lane(v, lane, op) for v in op.operands}
            insert_before(op, new := op.clone_without_regions(operands))
            for old, result in zip(op.results, new.results, strict=True):
                self.parts[old].append(result)

    def _join(self, value: SSAValue) -> SSAValue:
        """Return the vector of the parts of `value`."""
        op = value.owner
        assert isinstance(op, Operation)
        whole = self._constant_vector(value.type, [0] * self._count)
        for lane, part in enumerate(self.parts[value]):
            insert_before(op, new := vector.InsertOp(part, whole, [lane]))
            whole = new.result
        return whole

    def _in_lane(self, value: SSAValue, lane: int, before: Operation) -> SSAValue:
        """Return the scalar of `value`, which is built, in one lane; insert new operations before
        `before`."""
        stride = self._strides.stride(value)
        if stride == 0:
            return value
        if stride is not None:
            return self.arithmetic(arith.AddiOp, self.first(value), stride * lane, before)
        # Parts before vectors: no extraction is needed.
        if value in self.parts:
            return self.parts[value][lane]
        insert_before(before, new := vector.ExtractOp(self.vectors[value], [lane], value.type))
        return new.result

    def first(self, value: SSAValue) -> SSAValue:
        """Return an index in the first lane, computed where `value` is.

        The pure operations from the loop variable to `value` are cloned, with `min` in place of the
        variable.
        """
        if not self._strides.varies(value):
            return value
        # Memoized in `first_lane`: each operation is cloned once, however many values need it.
        for op in self.recomputed([value], self.first_lane):
            for clone in clone_ops([op], self.first_lane, self._constants):
                insert_before(op, clone)
        return self.first_lane[value]

    # Recomputation

    def recomputed(
        self, values: Iterable[SSAValue], known: Mapping[SSAValue, SSAValue]
    ) -> list[Operation]:
        """Return the pure varying operations that compute `values`, operands before users.

        The search stops at the values in `known`.
        """
        found: dict[Operation, None] = {}
        pending = [op for v in values if (op := self.pure_owner(v)) is not None and v not in known]
        while pending:
            op = pending[-1]
            operands = [o for v in op.operands if (o := self.pure_owner(v)) and v not in known]
            if missing := [o for o in operands if o not in found]:
                pending += missing
            else:
                found[pending.pop()] = None
        return [*found]

    def pure_owner(self, value: SSAValue) -> Operation | None:
        """Return the pure operation that computes `value`, which varies; else None."""
        op = value.owner
        if not self._strides.varies(value) or isinstance(op, Block) or op.regions:
            return None
        # A branch that was replaced has lost its regions, and looks pure.
        return op if not own_effects(op) and op not in self.replaced else None

    def arithmetic(
        self, kind: BinaryOp, lhs: SSAValue, rhs: SSAValue | int, before: Operation
    ) -> SSAValue:
        """Return the result of an index operation, folded or inserted before `before`."""
        rhs = self._constants.index(rhs) if isinstance(rhs, int) else rhs
        return create_or_fold(kind, lhs, rhs, self._constants, partial(insert_before, before))
