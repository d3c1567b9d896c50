"""In-place updates: buffers computed element by element from another that is dead afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.tir.ops import ForOp
from ..arith.analyzer import Analyzer
from ..arith.linear_form import varies_in
from ..constant_evaluator import integer_constant
from .live_ranges import AllocationUses, OpNumbers

ElementAccess: TypeAlias = tuple[Operation, Block | None, tuple[SSAValue, ...], Attribute]
"""A load or store: its statement, its block, its indices, and the type of its value."""


def find_in_place_updates(
    allocations: Sequence[AllocationUses], kinds: Sequence[Hashable], numbers: OpNumbers
) -> list[int]:
    """Return for each allocation the index of the one whose memory it can take over, or its own.

    `new` can take the memory of `old` if both are of one kind, and one statement is the last that
    uses `old` and the first that uses `new`. It computes `new[i] = f(old[i])` once for each `i`:

        tir.for %i = %c0 extent %c64 {
          %0 = memref.load %old[%i] : memref<64xf32>
          %1 = math.exp %0 : f32
          memref.store %1, %new[%i] : memref<64xf32>
        }

    In a chain of updates all allocations get the index of the first.
    Source: TVM's `InplaceOpVerifier`, which does not check that no element is written twice.
    """
    # No pairs are compared: a new allocation looks up the loads of the element that it stores.
    analyzer = Analyzer()
    first = list(range(len(allocations)))
    # Allocations whose last statement reads one element, by kind and that access.
    ending: dict[Hashable, list[int]] = defaultdict(list)
    for new in sorted(first, key=lambda index: numbers[allocations[index].statements[0]]):
        store = allocations[new].accesses[0]
        key = kinds[new], _first_write(allocations[new], analyzer)
        for old in ending[key] if key[1] is not None else ():
            # The last load comes before the store, in the same block: as no element is stored
            # twice, none is read after it was overwritten.
            if numbers[allocations[old].accesses[-1]] < numbers[store]:
                ending[key].remove(old)
                first[new] = first[old]
                break
        if (access := _last_read(allocations[new])) is not None:
            ending[kinds[new], access].append(new)
    return first


def _first_write(uses: AllocationUses, analyzer: Analyzer) -> ElementAccess | None:
    """Return the store of the first statement; None unless it writes each element at most once.

    None also if the statement accesses the buffer in another way.
    """
    statement, store = uses.statements[0], uses.accesses[0]
    # A second access in the statement may read the buffer, or write it twice.
    if len(uses.statements) > 1 and uses.statements[1] is statement:
        return None
    match store:
        case memref.StoreOp():
            buffer, value = store.memref, store.value
        case vector.StoreOp():
            buffer, value = store.base, store.vector
        case _:
            return None
    indices = tuple(store.indices)
    if buffer is not uses.op.memref:
        return None
    if not is_injective_access(statement, store, indices, value.type, analyzer):
        return None
    return statement, store.parent, indices, value.type


def _last_read(uses: AllocationUses) -> ElementAccess | None:
    """Return the load of the last statement; None if it accesses the buffer in another way."""
    accesses: set[ElementAccess] = set()
    last = uses.statements[-1]
    for access, statement in zip(reversed(uses.accesses), reversed(uses.statements), strict=True):
        if statement is not last:
            break
        match access:
            case memref.LoadOp() if access.memref is uses.op.memref:
                value = access.res
            case vector.LoadOp() if access.base is uses.op.memref:
                value = access.result
            case _:
                return None
        accesses.add((last, access.parent, tuple(access.indices), value.type))
    # Several loads are fine if all read the same element in each iteration.
    return accesses.pop() if len(accesses) == 1 else None


def is_injective_access(
    statement: Operation,
    op: Operation,
    indices: Sequence[SSAValue],
    type: Attribute,
    analyzer: Analyzer,
) -> bool:
    """Return whether `op` accesses different elements in different iterations of `statement`.

    `type` is the type of the value that is loaded or stored: the last index of a vector access runs
    over the lanes too.
    """
    extents: dict[SSAValue, int | None] = {}
    ancestor: Operation | None = op
    while ancestor is not statement:
        ancestor = ancestor.parent_op()
        if isinstance(ancestor, ForOp):
            extents[ancestor.variable] = integer_constant(ancestor.extent)
        # A branch only leaves iterations out; other loops have ranges that are not known here.
        elif not isinstance(ancestor, scf.IfOp):
            return False
    unused = dict(extents)
    for index in indices:
        terms: list[tuple[int, int | None]] = []
        for atom, factor in analyzer.linear(index).terms:
            if (variable := atom.value) is not None and variable in extents:
                terms.append((abs(factor), unused.pop(variable, None)))
            # What is the same in all iterations changes no distance.
            elif varies_in(statement, atom):
                return False
        if isinstance(type, VectorType) and index is indices[-1]:
            if type.get_num_dims() != 1:
                return False
            terms.append((1, type.get_shape()[-1]))
        if not _is_injective_sum(terms):
            return False
    # A loop whose variable is in no index writes the same elements in each iteration.
    return all(extent is not None and extent <= 1 for extent in unused.values())


def _is_injective_sum(terms: Iterable[tuple[int, int | None]]) -> bool:
    """Return whether `sum(factor * n)`, with `0 <= n < extent`, determines each `n`.

    `terms` are pairs of a factor and an extent, None if unknown. Like digits of a number, each
    factor has to exceed the largest sum of the smaller ones: `8*i + j` with `j < 8`.
    """
    largest: int | None = 0
    for factor, extent in sorted(terms, key=lambda term: term[0]):
        if largest is None or factor <= largest:
            return False
        largest = None if extent is None else largest + factor * (extent - 1)
    return True
