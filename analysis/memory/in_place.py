"""Buffers whose elements are computed one by one of those of another, which is not used after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.tir.ops import ForOp
from .buffers import constant_of
from .live_ranges import Numbers, Stored

__all__ = ["join_in_place"]

MAX_DEPTH = 50
"""So deep an index is looked into."""

Access = tuple[Operation, Block | None, tuple[SSAValue, ...], Attribute]
"""A step, the block in it that reads or writes elements, which ones, and the type of the value."""


def join_in_place(
    allocations: Sequence[Stored], kinds: Sequence[Hashable], numbers: Numbers
) -> list[int]:
    """For each allocation the first of those that are computed of each other in place.

    Two of one kind are, if the last step that uses the one is the first that uses the other, and
    does no more to them than `new[i] = f(old[i])`, once for each `i`. Source: TVM's
    `InplaceOpVerifier`, which does not ask whether an element is written twice.
    """
    first = list(range(len(allocations)))
    ending: dict[Hashable, list[int]] = defaultdict(list)
    for new in sorted(first, key=lambda index: numbers[allocations[index].steps[0]]):
        store = allocations[new].touches[0]
        key = kinds[new], _written_first(allocations[new], numbers)
        for old in ending[key] if key[1] is not None else ():
            if numbers[allocations[old].touches[-1]] < numbers[store]:
                ending[key].remove(old)
                first[new] = first[old]
                break
        if (access := _read_last(allocations[new])) is not None:
            ending[kinds[new], access].append(new)
    return first


def _written_first(stored: Stored, numbers: Numbers) -> Access | None:
    """What the first step stores, each element once; None if it does anything else."""
    step, store = stored.steps[0], stored.touches[0]
    if len(stored.steps) > 1 and stored.steps[1] is step:
        return None
    match store:
        case memref.StoreOp():
            buffer, value = store.memref, store.value
        case vector.StoreOp():
            buffer, value = store.base, store.vector
        case _:
            return None
    indices = tuple(store.indices)
    if buffer is not stored.op.memref or not _is_once(step, store, indices, value.type, numbers):
        return None
    return step, store.parent, indices, value.type


def _read_last(stored: Stored) -> Access | None:
    """What the last step loads, if it is one element; None if it does anything else."""
    accesses: set[Access] = set()
    step = stored.steps[-1]
    for touch, at in zip(reversed(stored.touches), reversed(stored.steps), strict=True):
        if at is not step:
            break
        match touch:
            case memref.LoadOp() if touch.memref is stored.op.memref:
                value = touch.res
            case vector.LoadOp() if touch.base is stored.op.memref:
                value = touch.result
            case _:
                return None
        accesses.add((step, touch.parent, tuple(touch.indices), value.type))
    return accesses.pop() if len(accesses) == 1 else None


def _is_once(
    step: Operation,
    op: Operation,
    indices: Sequence[SSAValue],
    type: Attribute,
    numbers: Numbers,
) -> bool:
    """Whether `op`, in `step`, is at other indices each time."""
    extents: dict[SSAValue, int | None] = {}
    at: Operation | None = op
    while at is not step:
        at = at.parent_op()
        if isinstance(at, ForOp):
            extents[at.variable] = constant_of(at.extent)
        elif not isinstance(at, scf.IfOp):
            return False
    factors = _Factors(extents, numbers[step], numbers)
    left = dict(extents)
    for index in indices:
        found = factors.of(index)
        if found is None:
            return False
        steps = [(abs(factor), left.pop(variable, None)) for variable, factor in found.items()]
        if isinstance(type, VectorType) and index is indices[-1]:
            if type.get_num_dims() != 1:
                return False
            steps.append((1, type.get_shape()[-1]))
        if not _is_injective(steps):
            return False
    return all(extent is not None and extent <= 1 for extent in left.values())


def _is_injective(steps: Iterable[tuple[int, int | None]]) -> bool:
    """Whether a sum of multiples of the factors, each multiple below the extent beside it, is
    another sum for other multiples.
    """
    reach: int | None = 0
    for factor, extent in sorted(steps, key=lambda step: step[0]):
        if reach is None or factor <= reach:
            return False
        reach = None if extent is None else reach + factor * (extent - 1)
    return True


class _Factors:
    """How often variables are in sums; `start` is the number of the operation that has them all in
    it, so that what is numbered before does not depend on them.
    """

    def __init__(self, variables: dict[SSAValue, int | None], start: int, numbers: Numbers) -> None:
        self._variables = variables
        self._start = start
        self._numbers = numbers
        self._found: dict[SSAValue, dict[SSAValue, int] | None] = {}

    def of(self, value: SSAValue, depth: int = 0) -> dict[SSAValue, int] | None:
        """The factor of each variable that is in the sum; None if it is not known to be one."""
        if value not in self._found:
            self._found[value] = self._factors(value, depth) if depth < MAX_DEPTH else None
        return self._found[value]

    def _factors(self, value: SSAValue, depth: int) -> dict[SSAValue, int] | None:
        if value in self._variables:
            return {value: 1}
        owner = value.owner
        definer = owner.parent_op() if isinstance(owner, Block) else owner
        if definer is None or self._numbers[definer] < self._start:
            return {}
        match owner:
            case arith.ConstantOp():
                return {}
            case arith.AddiOp():
                return self._sum(owner.lhs, owner.rhs, 1, depth)
            case arith.SubiOp():
                return self._sum(owner.lhs, owner.rhs, -1, depth)
            case arith.MuliOp():
                return self._product(owner.lhs, owner.rhs, depth)
            case _:
                return None

    def _sum(
        self, lhs: SSAValue, rhs: SSAValue, sign: int, depth: int
    ) -> dict[SSAValue, int] | None:
        left, right = self.of(lhs, depth + 1), self.of(rhs, depth + 1)
        if left is None or right is None:
            return None
        total = dict(left)
        for variable, factor in right.items():
            total[variable] = total.get(variable, 0) + sign * factor
        return {variable: factor for variable, factor in total.items() if factor}

    def _product(self, lhs: SSAValue, rhs: SSAValue, depth: int) -> dict[SSAValue, int] | None:
        for value, scale in ((lhs, constant_of(rhs)), (rhs, constant_of(lhs))):
            if scale:
                factors = self.of(value, depth + 1)
                return factors and {variable: n * scale for variable, n in factors.items()}
        return None
