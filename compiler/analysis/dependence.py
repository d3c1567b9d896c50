"""The dependences between iterations of a loop: whether the iterations can run in parallel.

Iterations are independent if each writes elements of its own, which no other one accesses. The test
looks for a dimension of each buffer that is written, in which iteration `i` accesses the indices

    c * i + s + r        with the same c and s in all accesses, and r in a range shorter than c

A buffer that is written in another way may be scratch memory: each iteration writes the same
elements, and reads none of them before it has written them all. Then each thread can have a copy of
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from xdsl.dialects import cf, memref, scf, vector
from xdsl.dialects.builtin import MemRefType, NoneAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects.tir.ops import AssumeOp, ForKind, ForOp, PrefetchOp, YieldOp
from ...passes.generic.purity import Allocation, View
from ...passmanager.ir.effects import own_effects
from ...passmanager.ir.walk import ancestors, walk
from .arith.analyzer import Analyzer
from .arith.linear_form import Atom, AtomKind, LinearForm, Terms, depends_on, varies_in
from .arith.scoped_walk import scoped_blocks
from .memory.buffers import uses_of


@dataclass(frozen=True)
class Dependence:
    """Whether iterations of a loop depend on each other."""

    reason: str = ""
    """The reason why iterations may depend on each other; empty if they do not."""
    private: Sequence[Operation] = ()
    """The allocations outside of the loop that are scratch memory of the iterations, and the
    operations before the loop that write there, in order."""

    @property
    def is_none(self) -> bool:
        """Whether the iterations can run in parallel, each thread with copies of `private`."""
        return not self.reason


class Slice(NamedTuple):
    """The indices of an access along a dimension: `factor * i + fixed + r`, with `r` from `low` to
    `high`."""

    factor: int
    fixed: Terms
    low: int
    high: int


Footprint: TypeAlias = tuple[tuple[int, tuple[tuple[int, int, int], ...]], ...]
"""The elements that loops access: for each dimension the first index, and for each loop that it
depends on the step, the iterations, and the number of the loop. Equal footprints are equal sets."""


@dataclass(frozen=True)
class Access:
    """An access to a buffer from outside of the loop."""

    op: Operation
    memref: SSAValue
    is_store: bool
    slices: Sequence[Slice | None]
    """The indices by dimension; None where they are of another form."""
    footprint: Footprint | None
    """The elements that are accessed in an iteration."""


def dependence_of(loop: ForOp, analyzer: Analyzer) -> Dependence:
    """Return whether the iterations of `loop` depend on each other. `analyzer` knows the loops
    around it; buffers do not overlap."""
    test = DependenceTest(loop, analyzer)
    with analyzer.inside(loop):
        return test.result()


class _Unknown(Exception):
    """The exception for an operation whose accesses are not known."""


@dataclass
class DependenceTest:
    """The test of one loop."""

    loop: ForOp
    analyzer: Analyzer
    accesses: dict[SSAValue, list[Access]] = field(default_factory=dict[SSAValue, list[Access]])
    """The accesses by buffer."""

    def result(self) -> Dependence:
        if self.loop.for_kind is not ForKind.SERIAL or self.loop.attributes:
            return Dependence("the loop has a kind or attributes of its own")
        variable = self.analyzer.linear(self.loop.variable).atom
        # An extent of 1: the variable is a constant form.
        if variable is None:
            return Dependence("the loop has one iteration")
        self.variable = variable
        try:
            self.visit(self.loop.body.block)
        except _Unknown as error:
            return Dependence(str(error))
        private: list[Operation] = []
        for buffer, accesses in self.accesses.items():
            if not any(a.is_store for a in accesses) or self.is_divided(buffer, accesses):
                continue
            if (moved := scratch_ops(self.loop, buffer, accesses)) is None:
                return Dependence("two iterations may access the same element of a buffer")
            private += moved
        if not private:
            return Dependence()
        if not is_closed(private, self.loop):
            return Dependence("memory that iterations share is filled together with other memory")
        assert self.loop.parent is not None
        return Dependence(private=[op for op in self.loop.parent.ops if op in {*private}])

    # Accesses

    def visit(self, block: Block) -> None:
        """Collect the accesses of a block; raise _Unknown for an operation of unknown effect."""
        for op in block.ops:
            match op:
                # The iterations of a loop in the loop may run in any order or at once: only the set
                # of the elements that they access matters.
                case ForOp() | scf.IfOp() | scf.ForOp() if not (
                    isinstance(op, ForOp) and op.for_kind is ForKind.THREAD_BINDING
                ):
                    for inner, scope in scoped_blocks(op):
                        with scope(self.analyzer):
                            self.visit(inner)
                case memref.LoadOp():
                    self.add(op, op.memref, op.indices, 1, is_store=False)
                case memref.StoreOp():
                    self.add(op, op.memref, op.indices, 1, is_store=True)
                case vector.LoadOp():
                    self.add(op, op.base, op.indices, lanes_of(op.result), is_store=False)
                case vector.StoreOp():
                    self.add(op, op.base, op.indices, lanes_of(op.vector), is_store=True)
                # An assertion may fail in another order, but it ends the program in each.
                case cf.AssertOp() | AssumeOp() | PrefetchOp():
                    pass
                case memref.DimOp() | memref.GetGlobalOp():
                    pass
                case YieldOp() | scf.YieldOp():
                    pass
                case _ if isinstance(op, Allocation | View):
                    pass
                case _:
                    buffers = any(isinstance(v.type, MemRefType) for v in op.operands)
                    if buffers or op.regions or not is_pure(op):
                        raise _Unknown(f"it is not known what '{op.name}' accesses")

    def add(
        self,
        op: Operation,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        lanes: int,
        *,
        is_store: bool,
    ) -> None:
        # Accesses through views are collected under the buffer, so that two views are not taken for
        # two buffers; `is_divided` refuses them.
        base = base_of(buffer)
        if self.loop.is_ancestor(base.owner):
            return  # each iteration has its own
        slices: list[Slice | None] = [self.slice_of(index, 1) for index in indices[:-1]]
        if indices:
            slices.append(self.slice_of(indices[-1], lanes))
        footprint = self.footprint(indices, lanes)
        access = Access(op, buffer, is_store, slices, footprint)
        self.accesses.setdefault(base, []).append(access)

    def footprint(self, indices: Sequence[SSAValue], lanes: int) -> Footprint | None:
        """Return the elements at `indices`, and the following `lanes` along the last dimension,
        that are accessed in one iteration. None if not all of them are known, or if they differ
        between iterations."""
        numbers: dict[Atom, int] = {}
        dimensions: list[tuple[int, tuple[tuple[int, int, int], ...]]] = []
        for index in indices:
            form = self.analyzer.linear(index)
            first, steps = form.constant, list[tuple[int, int, int]]()
            # The variable of the loop itself must not occur: a footprint is the same in all
            # iterations.
            for atom, factor in form.terms:
                bounds = self.analyzer.bounds(LinearForm.of(atom))
                if atom is self.variable or atom.kind is not AtomKind.LOOP:
                    return None
                if bounds.low is None or bounds.high is None or not varies_in(self.loop, atom):
                    return None
                if any(bound.terms for bound in atom.operands):
                    return None
                # Numbered by occurrence, so that `%i, %j` in one nest and `%k, %l` in another are
                # equal footprints, but `%i, %i`, the diagonal, is not.
                number = numbers.setdefault(atom, len(numbers))
                first += factor * bounds.low
                steps.append((factor, bounds.high - bounds.low + 1, number))
            dimensions.append((first, (*sorted(steps),)))
        # A vector is a loop over its lanes.
        if lanes > 1:
            first, steps = dimensions[-1]
            dimensions[-1] = first, (*sorted((*steps, (1, lanes, len(numbers)))),)
        return (*dimensions,)

    def slice_of(self, index: SSAValue, lanes: int) -> Slice | None:
        """Return the indices of an access that begins at `index`, along one dimension."""
        form = self.analyzer.linear(index)
        # For `4*i + j + n` with `0 <= j <= 3`: the factor 4, `n` fixed, and r from 0 to 3.
        # Iteration i accesses 4 elements of its own.
        rest = form.without(self.variable)
        if depends_on(rest, self.variable):
            return None
        inside = tuple(term for term in rest.terms if varies_in(self.loop, term[0]))
        fixed = tuple(term for term in rest.terms if not varies_in(self.loop, term[0]))
        bounds = self.analyzer.bounds(LinearForm(inside, rest.constant))
        if bounds.low is None or bounds.high is None:
            return None
        factor = form.coefficient(self.variable)
        return Slice(factor, fixed, bounds.low, bounds.high + lanes - 1)

    def is_divided(self, buffer: SSAValue, accesses: Sequence[Access]) -> bool:
        """Return whether each iteration accesses elements of its own."""
        # Through one view only: indices of two views of a buffer cannot be compared.
        memrefs = {a.memref for a in accesses}
        view = accesses[0].memref
        if len(memrefs) > 1 or self.loop.is_ancestor(view.owner):
            return False
        if not isa(view.type, MemRefType) or not isinstance(view.type.layout, NoneAttr):
            return False
        return any(
            are_disjoint([slice for slice in slices if slice is not None])
            # One dimension is enough: elements that differ in one index are different.
            for slices in zip(*(a.slices for a in accesses), strict=True)
            if None not in slices
        )


def are_disjoint(slices: Sequence[Slice]) -> bool:
    """Return whether the slices of an iteration never overlap those of another one."""
    (factor, fixed, low, high), *others = slices
    for other in others:
        if (other.factor, other.fixed) != (factor, fixed):
            return False
        low, high = min(low, other.low), max(high, other.high)
    # If factors and fixed parts are equal, the slices of iterations i and k are `factor * (i - k)`
    # apart, at least `abs(factor)`. A gcd or Banerjee test would also allow different factors,
    # which do not occur in the loops of kernels.
    return high - low < abs(factor)


def is_pure(op: Operation) -> bool:
    """Return whether `op` accesses no memory; a division counts as pure, unlike in xDSL."""
    return op.dialect_name() in ("arith", "math") or not own_effects(op)


def lanes_of(value: SSAValue) -> int:
    """Return the number of elements of a vector of one dimension.

    Raises _Unknown for any other value.
    """
    if not isa(value.type, VectorType) or len(value.type.get_shape()) != 1:
        raise _Unknown("a vector of several dimensions is accessed")
    return value.type.get_shape()[0]


def base_of(buffer: SSAValue) -> SSAValue:
    """Return the buffer that `buffer` is a view of."""
    while isinstance(buffer.owner, View):
        buffer = buffer.owner.operands[0]
    return buffer


# Scratch memory


def scratch_ops(
    loop: ForOp, buffer: SSAValue, accesses: Sequence[Access]
) -> list[Operation] | None:
    """Return the allocation of `buffer` and the operations before `loop` that write there, if each
    iteration writes the same elements before it reads any; None otherwise."""
    allocation = buffer.owner
    # The allocation moves into the loop, which must not cross another loop on the way.
    if not isinstance(allocation, Allocation) or allocation.parent is not loop.parent:
        return None
    block = innermost_block([a.op for a in accesses], loop)
    places = {op: number for number, op in enumerate(block.ops)}
    # All accesses are in `block`. A store before the first load in `block` has run when the load
    # runs, with all iterations of the loops around it in `block`.
    loads = [places[ancestor_in(block, a.op)] for a in accesses if not a.is_store]
    first_load = min(loads, default=len(places))
    variables = {*loop_variables(block, loop)}
    early: list[Access] = []
    late: list[Access] = []
    for access in accesses:
        if access.is_store:
            is_early = places[ancestor_in(block, access.op)] < first_load
            (early if is_early else late).append(access)
    if any(depends(access.op, variables, loop) for access in early):
        return None
    covered = {a.footprint for a in early if a.memref is buffer and is_unconditional(a.op, loop)}
    covered.discard(None)
    # A store after a load, as in `buf[i] += x`, has to be to elements that an early store has
    # initialized. Loads need no check: other elements are written before the loop, or in the same
    # way in each iteration.
    if any(a.footprint not in covered or a.memref is not buffer for a in late):
        return None
    moved = list[Operation]([allocation])
    for use in uses_of(buffer):
        op = use.operation
        outer = ancestor_in(loop.parent, op) if loop.parent is not None else op
        if outer is not loop and outer not in moved:
            if not outer.is_before_in_block(loop):
                return None
            moved.append(outer)
    return moved


def innermost_block(ops: Sequence[Operation], loop: ForOp) -> Block:
    """Return the innermost block in `loop` that all `ops` are in."""
    block = ops[0].parent
    assert block is not None
    while any(block.find_ancestor_op_in_block(op) is None for op in ops):
        parent = block.parent_op()
        assert parent is not None and parent.parent is not None and parent is not loop
        block = parent.parent
    return block


def ancestor_in(block: Block, op: Operation) -> Operation:
    """Return the operation of `block` that is `op`, or that `op` is in."""
    found = block.find_ancestor_op_in_block(op)
    assert found is not None
    return found


def loop_variables(block: Block, loop: ForOp) -> Iterator[SSAValue]:
    """Yield the arguments of `block` and of all blocks around it up to the body of `loop`: the
    variables of the loops."""
    while True:
        yield from block.args
        parent = block.parent_op()
        assert parent is not None
        if parent is loop:
            return
        assert parent.parent is not None
        block = parent.parent


def depends(op: Operation, variables: set[SSAValue], loop: ForOp) -> bool:
    """Return whether the elements that `op` accesses in `loop`, or whether it runs, may depend on
    `variables` or on memory."""
    pending: list[SSAValue] = []
    if isinstance(op, memref.StoreOp | vector.StoreOp):
        pending += op.indices
    for parent in takewhile(lambda around: around is not loop, ancestors(op.parent_op())):
        match parent:
            case ForOp():
                pending += (parent.min, parent.extent)
            case scf.IfOp():
                pending.append(parent.cond)
            case _:
                return True
    seen: set[SSAValue] = set()
    while pending:
        value = pending.pop()
        if value in variables:
            return True
        if value in seen or not loop.is_ancestor(value.owner):
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Operation):
            if owner.regions or not is_pure(owner):
                return True
            pending += owner.operands
    return False


def is_unconditional(op: Operation, loop: ForOp) -> bool:
    """Return whether `op` runs in each iteration of `loop`, for all iterations of loops in it."""
    for parent in ancestors(op.parent_op()):
        if parent is loop or not isinstance(parent, ForOp):
            return parent is loop
    return False


def is_closed(private: Sequence[Operation], loop: ForOp) -> bool:
    """Return whether the operations in `private` can be moved into `loop`. They may only access the
    allocations among them, and only they and operations in `loop` may use their results."""
    own = {op.results[0] for op in private if isinstance(op, Allocation)}
    for op in (inner for outer in private for inner in walk(outer)):
        if isinstance(op, memref.StoreOp | memref.LoadOp):
            if base_of(op.memref) not in own:
                return False
        elif not isinstance(op, KNOWN) and not is_pure(op):
            return False
    return all(
        loop.is_ancestor(use.operation) or any(op.is_ancestor(use.operation) for op in private)
        for outer in private
        for result in outer.results
        for use in result.uses
    )


KNOWN = ForOp | scf.IfOp | Allocation | View | YieldOp | scf.YieldOp
"""The operations whose effects xDSL does not know, but that may be among those that fill scratch
memory."""
