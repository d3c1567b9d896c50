"""Lane strides: how values in a loop change from lane to lane when it becomes vectors."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import MemoryEffectKind
from xdsl.utils.hints import isa

from ....dialects.tir.ops import ForOp
from ....passes.generic.analysis.buffers import Allocation
from ....passmanager.ir.walk import walk
from ...releases.effects import only_has_effect
from ..constants import integer_constant

__all__ = ["ElementAccess", "LaneStrides", "find_shared_store", "is_scalar"]

ElementAccess: TypeAlias = memref.LoadOp | memref.StoreOp


def is_scalar(type: Attribute) -> bool:
    """Return whether `type` can be the element type of a vector."""
    return isinstance(type, IntegerType | IndexType) or AnyFloatConstr.verifies(type)


class LaneStrides:
    """The difference of each value of a loop between neighboring iterations (lanes).

    A value is uniform (the same in all lanes), has a constant stride, or varies in another way.
    Only values that vary are stored; all others, including those from outside the loop, are
    uniform.
    """

    def __init__(self, loop: ForOp) -> None:
        self.loop = loop
        self._strides: dict[SSAValue, int | None] = {loop.variable: 1}
        self._visit(loop.body.block)

    def varies(self, value: SSAValue) -> bool:
        """Return whether `value` may differ between lanes."""
        return value in self._strides

    def stride(self, value: SSAValue) -> int | None:
        """Return by how much `value` grows from lane to lane: 0 if uniform, None if unknown."""
        return self._strides.get(value, 0)

    def is_contiguous(self, op: ElementAccess) -> bool:
        """Return whether the lanes of `op` access neighboring elements, as a vector access does."""
        return self.element_stride(op) == 1

    def element_stride(self, op: ElementAccess) -> int | None:
        """Return the number of elements from the element that one lane of `op` accesses to that of
        the next lane; None if it is not a constant, or if vectors cannot access the buffer."""
        type = op.memref.type
        if not isa(type, MemRefType) or not op.indices or self.varies(op.memref):
            return None
        *leading, last = op.indices
        # Lanes along another dimension are rows apart, which no vector access can be.
        if any(map(self.varies, leading)):
            return None
        is_accessible = _has_whole_bytes(type.element_type) and _has_unit_stride(type)
        return self.stride(last) if is_accessible else None

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            for region in op.regions:
                for inner in region.blocks:
                    # An inner loop that all lanes start at the same value has a uniform variable;
                    # its extent may differ, which the plan checks.
                    if not isinstance(op, ForOp) or self.varies(op.min):
                        self._strides.update(dict.fromkeys(inner.args))
                    self._visit(inner)
            for result in op.results:
                if (stride := self._compute(op, result)) != 0:
                    self._strides[result] = stride

    def _compute(self, op: Operation, result: SSAValue) -> int | None:
        """Return the stride of a result of `op`, from the strides of its operands and regions."""
        if op.regions:
            # The result of a uniform `scf.if` is uniform if both branches yield uniform values.
            uniform = isinstance(op, scf.IfOp) and not self.varies(op.cond)
            ends = [b.last_op for r in op.regions for b in r.blocks if b.last_op is not None]
            index = op.results.index(result)
            return (
                0 if uniform and not any(self.varies(end.operands[index]) for end in ends) else None
            )
        if not any(map(self.varies, op.operands)):
            # Iterations are independent, so all lanes read the same from memory. `arith.remui` has
            # no effects, which xDSL, at least until 0.74, does not say.
            same = only_has_effect(op, MemoryEffectKind.READ)
            return 0 if same or isinstance(op, arith.RemUIOp | Allocation) else None
        # An `iN` may wrap between two lanes, an index does not.
        if not isinstance(result.type, IndexType) or len(op.operands) != 2:
            return None
        lhs, rhs = map(self.stride, op.operands)
        if lhs is None or rhs is None:
            return None
        match op:
            case arith.AddiOp():
                return lhs + rhs
            case arith.SubiOp():
                return lhs - rhs
            # A factor that is uniform, but not a constant, gives a stride that is not a number.
            case arith.MuliOp() if (factor := integer_constant(op.rhs)) is not None:
                return lhs * factor
            case arith.MuliOp() if (factor := integer_constant(op.lhs)) is not None:
                return factor * rhs
            case _:
                return None


def find_shared_store(loop: ForOp) -> memref.StoreOp | None:
    """Return a store in `loop` that may write the same element in two lanes, or None.

    A buffer that is allocated in the loop is private to a lane. An index with a constant stride
    other than 0 differs between all lanes; one with an unknown stride may be equal in two.
    """
    strides = LaneStrides(loop)
    for op in walk(loop):
        if isinstance(op, memref.StoreOp) and not (
            strides.varies(op.memref)
            or loop.is_ancestor(op.memref.owner)
            or any(map(strides.stride, op.indices))
        ):
            return op
    return None


def _has_whole_bytes(type: Attribute) -> bool:
    """Return whether a vector of `type` has the same bytes in memory as its elements.

    An i1 takes a byte, but a vector of 8 i1 takes one byte too.
    """
    if isa(type, IntegerType):
        return type.width.data % 8 == 0
    return is_scalar(type)


def _has_unit_stride(type: MemRefType) -> bool:
    """Return whether neighboring elements of the last dimension are neighbors in memory."""
    match type.layout:
        case NoneAttr():
            return True
        case StridedLayoutAttr(strides=strides):
            return not isinstance(stride := strides.data[-1], NoneAttr) and stride.data == 1
        case _:
            return False
