"""Vectorization plans: which operations of a loop can be done on vectors, and which stay loops."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

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
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ...dialects.tir.lanewise import LANEWISE
from ...dialects.tir.ops import ForOp, LikelyOp
from ...passes.generic.arith_families import DIVISIONS, kind_of
from ...passes.generic.purity import Allocation
from ...passmanager.ir.effects import READS, own_effects
from ...passmanager.ir.per_class import PerClass
from ...passmanager.ir.walk import walk
from .constant_evaluator import integer_constant

# Lane strides: how values in a loop change from lane to lane when it becomes vectors.


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
        """Return the distance, in elements, between the accesses of `op` in two adjacent lanes;
        None if it is not a constant, or if vectors cannot access the buffer."""
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
            # Iterations are independent, so all lanes read the same from memory.
            return 0 if not own_effects(op) & ~READS or isinstance(op, Allocation) else None
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


MAX_LANES_BY_HAND = 16
"""Up to this number of lanes, an operation without a vector form is repeated for each lane."""

MAX_STRIDE = 4
"""Elements up to this far apart are loaded as whole vectors, one for each of the `stride` vectors
that they spread over, and then shuffled."""

SIGNED_LESS = 2
"""The predicate `slt` of arith.cmpi."""


class VectorizationPlan:
    """The plan to run the iterations of `loop` as `count` lanes of vectors.

    * `wide`: pure operations that take vectors; others are repeated for each lane
    * `lanewise`: those of `wide` that xDSL has on scalars only, and that become `tir.lanewise`
    * `without_vector`: values that vary but for which no vector can be made
    * `serial`: operations that run in a loop over the lanes
    * `serial_tail`: the first operation of a tail of a block that runs in one loop over the lanes:
      its result cannot be a vector, and its users read it as a scalar in that loop
    * `masked`: branches that run on all lanes under the mask `lhs < rhs`, with the two sides

    With `predicate` false there are no masked branches.
    """

    def __init__(self, loop: ForOp, count: int, predicate: bool) -> None:
        self.loop = loop
        self.count = count
        self.strides = LaneStrides(loop)
        self.without_vector: set[SSAValue] = set()
        self.serial: set[Operation] = set()
        self.serial_tail: dict[Block, Operation] = {}
        self.masked: dict[scf.IfOp, tuple[SSAValue, SSAValue]] = {}
        self.wide: set[Operation] = set()
        self.lanewise: set[Operation] = set()
        self._predicate = predicate
        self._plan_block(loop.body.block)

    def vector_type(self, type: Attribute) -> VectorType:
        """Return the type of a vector with one lane of scalar `type` for each iteration."""
        return _vector_type(type, self.count)

    def stays_scalar(self, op: Operation, number: int) -> bool:
        """Return whether operand `number` of `op` stays a scalar when `op` is done on vectors.

        This is the condition of a select that is the same for all lanes.
        """
        return number == 0 and isinstance(op, arith.SelectOp) and not self._varies(op.cond)

    def _varies(self, value: SSAValue) -> bool:
        return self.strides.varies(value)

    def _has_vector(self, value: SSAValue) -> bool:
        return is_scalar(value.type) and value not in self.without_vector

    def _plan_block(self, block: Block) -> bool:
        """Plan the operations of `block`; return whether no part of it is a serial tail."""
        for op in block.ops:
            if not self._plan(op):
                self.serial_tail[block] = op
                return False
        return True

    def _plan(self, op: Operation) -> bool:
        """Plan `op`; return False if its users have to run in a loop over the lanes."""
        match op:
            case _ if _is_terminator[type(op)]:
                return True
            case scf.IfOp():
                return self._plan_if(op)
            # All lanes run the same iterations. A serial tail within it stays within it.
            case ForOp() if not self._varies(op.min) and not self._varies(op.extent):
                self._plan_block(op.body.block)
                return True
            case memref.StoreOp() if self._is_vector_store(op):
                return True
            case memref.AllocOp() | memref.AllocaOp():
                return is_expandable(op, self.loop)
            case memref.LoadOp() if self._varies(op.res):
                return self.load_stride(op) is not None or self._can_gather(op)
            case _ if not op.regions and not own_effects(op):
                if any(map(self._varies, op.results)) and not self._is_lanewise(op):
                    self.without_vector.update(op.results)
                return True
            case _ if not op.regions and op.results and not any(map(self._varies, op.results)):
                return True  # a read of the same element in all lanes
            # Unknown effects and a result: users need it lane by lane.
            case _ if op.results:
                return False
            case _:
                self.serial.add(op)
                return True

    def load_stride(self, op: memref.LoadOp) -> int | None:
        """Return the distance of the elements in the lanes of `op` if vectors can load them."""
        stride = self.strides.element_stride(op)
        # Beyond half the lanes, a vector that is loaded gives fewer than two of the elements.
        if stride is None or not 1 <= stride <= min(MAX_STRIDE, self.count // 2):
            return None
        return stride

    def _is_vector_store(self, op: memref.StoreOp) -> bool:
        return self.strides.is_contiguous(op) and self._has_vector(op.value)

    def _can_gather(self, op: memref.LoadOp) -> bool:
        """Return whether the elements of the lanes can be loaded one by one."""
        return (
            self.count <= MAX_LANES_BY_HAND
            and not self._varies(op.memref)
            and is_scalar(op.res.type)
            and all(map(self._has_vector, op.indices))
        )

    def _is_lanewise(self, op: Operation) -> bool:
        """Return whether the pure `op` can be done on vectors, or repeated for each lane."""
        if not all(map(self._has_vector, op.operands)) or not all(map(is_scalar, op.result_types)):
            return False
        if self._has_vector_form(op):
            self.wide.add(op)
            return True
        if op.name in LANEWISE:
            self.wide.add(op)
            self.lanewise.add(op)
            return True
        # An index of constant stride is a vector without its operands being vectors.
        strided = any(isinstance(self.strides.stride(result), int) for result in op.results)
        return strided or self.count <= MAX_LANES_BY_HAND

    def _has_vector_form(self, op: Operation) -> bool:
        """Return whether `op` takes vectors; some comparisons and conversions of xDSL do not.

        No trait tells which: a copy on vectors is built and verified, once for each signature.
        """
        types = tuple(
            operand.type if self.stays_scalar(op, number) else self.vector_type(operand.type)
            for number, operand in enumerate(op.operands)
        )
        result_types = tuple(self.vector_type(result.type) for result in op.results)
        return _verifies(type(op), types, result_types, tuple(op.properties.items()))

    # Branches

    def _plan_if(self, op: scf.IfOp) -> bool:
        if not self._varies(op.cond):
            blocks = [block for region in op.regions for block in region.blocks]
            # A list, not a generator: both branches are planned, also if the first has a serial
            # tail.
            whole = all([self._plan_block(block) for block in blocks])
            return not op.results or (whole and self._yields_vectors(op))
        if op.results:
            return False
        sides = self._mask_bounds(op) if self._predicate else None
        if sides is not None and self._can_be_masked(op):
            self.masked[op] = sides
        else:
            self.serial.add(op)
        return True

    def _yields_vectors(self, op: scf.IfOp) -> bool:
        """Return whether both branches have vectors for the results that vary."""
        ends = [region.block.last_op for region in op.regions]
        return all(
            self._has_vector(end.operands[number])
            for end in ends
            if end is not None
            for number, result in enumerate(op.results)
            if self._varies(result)
        )

    def _mask_bounds(self, op: scf.IfOp) -> tuple[SSAValue, SSAValue] | None:
        """Return `lhs` and `rhs` if the condition is `lhs < rhs` with strides 1 and 0.

        Such a condition holds in the first `rhs - lhs` lanes, as `vector.create_mask` has it.
        """
        # The tail of a loop that was split by 8: `i*8 + lane < n`.
        condition = op.cond.owner
        if isinstance(condition, LikelyOp):
            condition = condition.condition.owner
        if not isinstance(condition, arith.CmpiOp):
            return None
        if condition.predicate.value.data != SIGNED_LESS:
            return None
        lhs, rhs = condition.operands
        is_ramp = isinstance(lhs.type, IndexType) and self.strides.stride(lhs) == 1
        return (lhs, rhs) if is_ramp and not self._varies(rhs) else None

    def _can_be_masked(self, op: scf.IfOp) -> bool:
        """Return whether a branch without else has only contiguous accesses and pure operations
        that cannot trap."""
        block = op.true_region.block
        if any(b.first_op is not b.last_op for b in op.false_region.blocks):
            return False
        # Masked lanes compute with whatever the registers have; only memory accesses have the mask.
        return self._plan_block(block) and all(map(self._is_maskable, block.ops))

    def _is_maskable(self, op: Operation) -> bool:
        match op:
            case memref.StoreOp():
                return self._is_vector_store(op)
            case memref.LoadOp():
                return self.strides.is_contiguous(op)
            case _:
                # A division would trap in a lane whose mask is off.
                is_pure = not op.regions and not own_effects(op)
                return is_pure and kind_of(op) not in DIVISIONS


def is_expandable(op: Allocation, loop: ForOp) -> bool:
    """Return whether a buffer of `loop` is only loaded and stored element by element, and its sizes
    are known before the loop.

    Each lane can then have a copy of its own, as the last dimension of one buffer.
    """
    type = op.memref.type
    return (
        isa(type, MemRefType)
        and not any(loop.is_ancestor(size.owner) for size in op.operands)
        and isinstance(type.layout, NoneAttr)
        and is_scalar(type.element_type)
        and all(
            isinstance(use.operation, ElementAccess) and use.operation.memref is op.memref
            for use in op.memref.uses
        )
    )


@lru_cache(maxsize=1024)
def _vector_type(element: Attribute, count: int) -> VectorType:
    return VectorType(element, [count])


@lru_cache(maxsize=1024)
def _verifies(
    op_class: type[Operation],
    operand_types: tuple[Attribute, ...],
    result_types: tuple[Attribute, ...],
    properties: tuple[tuple[str, Attribute], ...],
) -> bool:
    """Return whether an operation of a class may have these types: one is built and verified, as no
    trait tells it."""
    trial = op_class.create(
        operands=Block(arg_types=operand_types).args,
        result_types=result_types,
        properties=dict(properties),
    )
    try:
        trial.verify()
    except VerifyException:
        return False
    finally:
        trial.drop_all_references()
    return True


_is_terminator = PerClass[Operation, bool](
    lambda op_class: op_class.has_trait(IsTerminator, value_if_unregistered=False)
)
