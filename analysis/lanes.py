"""What values and operations are when the iterations of a loop are lanes of vectors."""

from __future__ import annotations

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, MemoryEffectKind, is_side_effect_free, only_has_effect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ..dialects.tir.ops import ForOp, LikelyOp
from ..passmanager.ir.walk import walk
from .constants import integer_constant

__all__ = ["ALLOCATIONS", "Lanes", "is_expandable"]

Access = memref.LoadOp | memref.StoreOp
ALLOCATIONS = (memref.AllocOp, memref.AllocaOp)
"""What makes a buffer."""

MOST_BY_HAND = 16
"""The most lanes of which operations are done one by one that have no form on vectors."""

TRAPS = (
    *(arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp),
    *(arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp),
)
"""What may not be computed where it is not asked for."""


def is_number(type: Attribute) -> bool:
    """Whether vectors may be made of values of the type."""
    return isinstance(type, IntegerType | IndexType) or AnyFloatConstr.verifies(type)


class Lanes:
    """How what is in a loop depends on its variable, and which of it can be done on vectors.

    `strides` has what varies, by how much from lane to lane where that is a constant; `alone` the
    values that vary and of which there is no vector; `wide` the operations that take vectors in the
    place of numbers, others being done lane by lane; `serial` the operations that are done lane
    after lane, and `rest` the first of a block that have to be done so up to its end, as a result
    is used there; `masked` the branches that are done on all lanes under a mask, and of their
    conditions the two sides.
    """

    def __init__(self, loop: ForOp, count: int, predicate: bool) -> None:
        self.loop = loop
        self.count = count
        self.predicate = predicate
        self.strides: dict[SSAValue, int | None] = {loop.variable: 1}
        self.alone: set[SSAValue] = set()
        self.serial: set[Operation] = set()
        self.rest: dict[Block, Operation] = {}
        self.masked: dict[scf.IfOp, tuple[SSAValue, SSAValue]] = {}
        self.wide: set[Operation] = set()
        self._forms: dict[tuple[object, ...], bool] = {}
        self._types: dict[Attribute, VectorType] = {}
        self._find_strides(loop.body.block)

    def plan(self) -> None:
        """Find what can be done on vectors."""
        self._plan_block(self.loop.body.block)

    # How values vary

    def varies(self, value: SSAValue) -> bool:
        """Whether a value is not the same in all lanes."""
        return value in self.strides

    def stride(self, value: SSAValue) -> int | None:
        """By how much an index grows from lane to lane; None if that is not known."""
        return self.strides.get(value, 0)

    def _find_strides(self, block: Block) -> None:
        for op in block.ops:
            for region in op.regions:
                for inner in region.blocks:
                    self._find_arguments(op, inner)
                    self._find_strides(inner)
            for result in op.results:
                if (stride := self._stride_of(op, result)) != 0:
                    self.strides[result] = stride

    def _find_arguments(self, op: Operation, block: Block) -> None:
        if not isinstance(op, ForOp) or self.varies(op.min):
            self.strides.update(dict.fromkeys(block.args))

    def _stride_of(self, op: Operation, result: SSAValue) -> int | None:
        if op.regions:
            known = isinstance(op, scf.IfOp) and not self.varies(op.cond)
            ends = [b.last_op for r in op.regions for b in r.blocks if b.last_op is not None]
            index = op.results.index(result)
            return (
                0 if known and not any(self.varies(end.operands[index]) for end in ends) else None
            )
        if not any(map(self.varies, op.operands)):
            same = is_side_effect_free(op) or only_has_effect(op, MemoryEffectKind.READ)
            return 0 if same or isinstance(op, ALLOCATIONS) else None
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
            case arith.MuliOp() if (factor := integer_constant(op.rhs)) is not None:
                return lhs * factor
            case arith.MuliOp() if (factor := integer_constant(op.lhs)) is not None:
                return factor * rhs
            case _:
                return None

    # What can be done

    def has_vector(self, value: SSAValue) -> bool:
        """Whether there can be a vector of what a value is in the lanes."""
        return is_number(value.type) and value not in self.alone

    def is_contiguous(self, op: Access) -> bool:
        """Whether the lanes access neighboring elements, which can be had as a vector."""
        type = op.memref.type
        if not isa(type, MemRefType) or not op.indices or self.varies(op.memref):
            return False
        *leading, last = op.indices
        return (
            self.stride(last) == 1
            and not any(map(self.varies, leading))
            and _has_whole_bytes(type.element_type)
            and _is_dense(type)
        )

    def shared_store(self) -> memref.StoreOp | None:
        """A store that may write the same element in two lanes."""
        for op in walk(self.loop):
            if isinstance(op, memref.StoreOp) and not (
                self.varies(op.memref)
                or self._is_inside(op.memref.owner)
                or any(map(self.stride, op.indices))
            ):
                return op
        return None

    def _is_inside(self, owner: Operation | Block) -> bool:
        return self.loop.is_ancestor(owner)

    def _plan_block(self, block: Block) -> bool:
        """Whether no operation of the block has a result that is needed and cannot be had on
        vectors.
        """
        for op in block.ops:
            if not self._plan(op):
                self.rest[block] = op
                return False
        return True

    def _plan(self, op: Operation) -> bool:
        """Whether what uses the results of an operation need not be done lane after lane."""
        match op:
            case _ if op.has_trait(IsTerminator):
                return True
            case scf.IfOp():
                return self._plan_if(op)
            case ForOp() if not self.varies(op.min) and not self.varies(op.extent):
                self._plan_block(op.body.block)
                return True
            case memref.StoreOp() if self.is_contiguous(op) and self.has_vector(op.value):
                return True
            case memref.AllocOp() | memref.AllocaOp():
                return not any(map(self.varies, op.operands)) and is_expandable(op)
            case memref.LoadOp() if self.varies(op.res):
                return self.is_contiguous(op) or self._is_gathered(op)
            case _ if not op.regions and is_side_effect_free(op):
                if any(map(self.varies, op.results)) and not self._is_lanewise(op):
                    self.alone.update(op.results)
                return True
            case _ if not op.regions and op.results and not any(map(self.varies, op.results)):
                return True  # it reads the same in all lanes
            case _ if op.results:
                return False
            case _:
                self.serial.add(op)
                return True

    def _is_gathered(self, op: memref.LoadOp) -> bool:
        return (
            self.count <= MOST_BY_HAND
            and not self.varies(op.memref)
            and is_number(op.res.type)
            and all(map(self.has_vector, op.indices))
        )

    def _is_lanewise(self, op: Operation) -> bool:
        """Whether an operation without effects can be done on vectors, or lane by lane."""
        if not all(map(self.has_vector, op.operands)) or not all(map(is_number, op.result_types)):
            return False
        if self._has_vector_form(op):
            self.wide.add(op)
            return True
        steady = any(isinstance(self.stride(result), int) for result in op.results)
        return steady or self.count <= MOST_BY_HAND

    def _has_vector_form(self, op: Operation) -> bool:
        """Whether an operation takes vectors. xDSL's comparisons and conversions do not."""
        narrow = [self.is_kept(op, number) for number in range(len(op.operands))]
        key = (type(op), *op.operand_types, *op.result_types, *narrow)
        if (known := self._forms.get(key)) is None:
            operands = [
                type if keep else self.vector_type(type)
                for type, keep in zip(op.operand_types, narrow, strict=True)
            ]
            trial = op.create(
                operands=Block(arg_types=operands).args,
                result_types=list(map(self.vector_type, op.result_types)),
                properties=op.properties.copy(),
            )
            known = self._forms[key] = _verifies(trial)
            trial.drop_all_references()
        return known

    def is_kept(self, op: Operation, number: int) -> bool:
        """Whether an operand of an operation on vectors is none: a condition that is the same for
        all lanes.
        """
        return number == 0 and isinstance(op, arith.SelectOp) and not self.varies(op.cond)

    def vector_type(self, type: Attribute) -> VectorType:
        """The type of what a value of the type is in all lanes."""
        if (known := self._types.get(type)) is None:
            known = self._types[type] = VectorType(type, [self.count])
        return known

    # Branches

    def _plan_if(self, op: scf.IfOp) -> bool:
        if not self.varies(op.cond):
            blocks = [block for region in op.regions for block in region.blocks]
            whole = all([self._plan_block(block) for block in blocks])
            return not op.results or (whole and self._gives_vectors(op))
        if op.results:
            return False
        if self.predicate and (sides := self._bounds(op)) is not None and self._can_be_masked(op):
            self.masked[op] = sides
        else:
            self.serial.add(op)
        return True

    def _gives_vectors(self, op: scf.IfOp) -> bool:
        """Whether there are vectors of the results that vary."""
        ends = [region.block.last_op for region in op.regions]
        return all(
            self.has_vector(end.operands[number])
            for end in ends
            if end is not None
            for number, result in enumerate(op.results)
            if self.varies(result)
        )

    def _bounds(self, op: scf.IfOp) -> tuple[SSAValue, SSAValue] | None:
        """The sides of the condition if it says that an index that grows by 1 is less than what is
        the same for all lanes.
        """
        condition = op.cond.owner
        if isinstance(condition, LikelyOp):
            condition = condition.condition.owner
        if not isinstance(condition, arith.CmpiOp) or condition.predicate.value.data != LESS:
            return None
        lhs, rhs = condition.operands
        is_ramp = isinstance(lhs.type, IndexType) and self.stride(lhs) == 1
        return (lhs, rhs) if is_ramp and not self.varies(rhs) else None

    def _can_be_masked(self, op: scf.IfOp) -> bool:
        """Whether a branch has nothing but accesses to neighboring elements, and what can be
        computed of all elements.
        """
        block = op.true_region.block
        if any(b.first_op is not b.last_op for b in op.false_region.blocks):
            return False
        return self._plan_block(block) and all(map(self._is_maskable, block.ops))

    def _is_maskable(self, op: Operation) -> bool:
        match op:
            case memref.StoreOp():
                return self.is_contiguous(op) and self.has_vector(op.value)
            case memref.LoadOp():
                return self.is_contiguous(op)
            case _:
                return not op.regions and is_side_effect_free(op) and not isinstance(op, TRAPS)


LESS = 2
"""`slt` as arith.cmpi has it."""


def is_expandable(op: memref.AllocOp | memref.AllocaOp) -> bool:
    """Whether a buffer of numbers is only read and written, element by element."""
    type = op.memref.type
    return (
        isa(type, MemRefType)
        and isinstance(type.layout, NoneAttr)
        and is_number(type.element_type)
        and all(
            isinstance(use.operation, Access) and use.operation.memref is op.memref
            for use in op.memref.uses
        )
    )


def _has_whole_bytes(type: Attribute) -> bool:
    """Whether vectors of the type lie in memory as its elements do: i1 is a byte, but 8 are one."""
    if isa(type, IntegerType):
        return type.width.data % 8 == 0
    return is_number(type)


def _is_dense(type: MemRefType) -> bool:
    """Whether the elements of a row are neighbors."""
    match type.layout:
        case NoneAttr():
            return True
        case StridedLayoutAttr(strides=strides):
            return not isinstance(stride := strides.data[-1], NoneAttr) and stride.data == 1
        case _:
            return False


def _verifies(op: Operation) -> bool:
    try:
        op.verify()
    except VerifyException:
        return False
    return True
