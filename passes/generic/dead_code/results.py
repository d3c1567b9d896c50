"""Removal of the results of branches, and of the values that loops carry, that nothing needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar, cast

from xdsl.dialects.scf import ForOp, IfOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.fast.edit import erase, insert_before
from ....passmanager.ir.effects import own_effects
from ....passmanager.ir.walk import walk
from ..analysis.liveness import Liveness

__all__ = ["remove_dead_results", "without", "without_results"]

T = TypeVar("T")

Branching: TypeAlias = IfOp | ForOp | WhileOp
BRANCHING = frozenset((IfOp, ForOp, WhileOp))


class Dead(NamedTuple):
    """The dead values of a branch or loop, by their positions."""

    results: Sequence[int]
    carried: Sequence[int]
    """The values that a loop gets at first, and again from the end of its body. Those of `scf.for`
    are its results, too."""


def remove_dead_results(
    root: Operation,
    effects_of: Callable[[Operation], int] = own_effects,
    actions: Actions = SILENT,
) -> int:
    """Remove the dead results of the operations `scf.if`, `scf.for` and `scf.while` in `root`, and
    the dead values that these loops carry; return the number of changed operations.

    A value is dead if no effect and no result of a function depends on it (`Liveness`). The
    operations that use it are erased; those that computed it are left for a removal of dead code.
    An `scf.for` keeps a dead result whose value its iterations need.
    """
    branches = [cast("Branching", op) for op in walk(root) if type(op) in BRANCHING]
    if not branches:
        return 0
    live = Liveness(root, effects_of)
    found = _dead_values(branches, live)
    if refused := {op for op in found if not actions.allowed(op)}:
        # Again, as what may not be shortened needs all its values, which others may then have to
        # keep.
        live = Liveness(root, effects_of, refused)
        found = {op: dead for op, dead in _dead_values(branches, live).items() if op in found}
    # All terminators before the first erasure: a dead value may be yielded by another branch.
    for op, dead in found.items():
        _shorten_terminators(op, dead)
    # Users before the values that they use: operations nested in others and later ones first.
    for op, dead in reversed(found.items()):
        _erase_users([op.results[index] for index in dead.results], live.ops)
        # `new` is as live as `op` was: `_erase_users` stops at live operations.
        live.ops.add(new := _shorten(op, dead, live.ops))
        count = len(dead.results) or len(dead.carried)
        actions.passed(new, "RemovedValues", "nothing needs them", Values=count)
    if found:
        actions.count("shortened", len(found))
    return len(found)


def _dead_values(branches: Iterable[Branching], live: Liveness) -> dict[Branching, Dead]:
    """Return the live ones of `branches` that have dead values, in order."""
    found: dict[Branching, Dead] = {}
    for op in branches:
        if op in live.ops:
            dead = _dead_of(op, live.values)
            if dead.results or dead.carried:
                found[op] = dead
    return found


def _dead_of(op: Branching, live: Collection[SSAValue]) -> Dead:
    unused = [result not in live for result in op.results]
    match op:
        case IfOp():
            return Dead([i for i, dead in enumerate(unused) if dead], ())
        case ForOp():
            pairs = zip(unused, op.body.block.args[1:], strict=True)
            # `scf.for` gives a result for each carried value, `scf.while` for each that the
            # condition passes.
            both = [i for i, (dead, arg) in enumerate(pairs) if dead and arg not in live]
            return Dead(both, both)
        case WhileOp():
            passed = zip(unused, op.after_region.block.args, strict=True)
            arguments = enumerate(op.before_region.block.args)
            return Dead(
                [i for i, (dead, arg) in enumerate(passed) if dead and arg not in live],
                [i for i, arg in arguments if arg not in live],
            )


def _shorten_terminators(op: Branching, dead: Dead) -> None:
    """Drop the operands of terminators that are dead values of `op`."""
    match op:
        case IfOp():
            for region in op.regions:
                _drop_operands(region.block, dead.results)
        case ForOp():
            _drop_operands(op.body.block, dead.carried)
        case WhileOp():
            _drop_operands(op.before_region.block, dead.results, first=1)
            _drop_operands(op.after_region.block, dead.carried)


def _drop_operands(block: Block, dropped: Iterable[int], first: int = 0) -> None:
    end = block.last_op
    assert end is not None
    end.operands = without(end.operands, {first + index for index in dropped})


def _shorten(op: Branching, dead: Dead, live: Container[Operation]) -> Operation:
    """Replace `op` by an operation without its dead values, and return it; the dead results have no
    uses."""
    operands: Sequence[SSAValue] = op.operands
    match op:
        case IfOp():
            pass
        # Three operands (the bounds and the step) and one argument (the variable) come first.
        case ForOp():
            _drop_arguments(op.body.block, [index + 1 for index in dead.carried], live)
            operands = without(operands, [index + 3 for index in dead.carried])
        case WhileOp():
            _drop_arguments(op.before_region.block, dead.carried, live)
            _drop_arguments(op.after_region.block, dead.results, live)
            operands = without(operands, dead.carried)
    return without_results(op, dead.results, operands)


def without_results(
    op: Operation, indices: Container[int], operands: Sequence[SSAValue]
) -> Operation:
    """Replace `op` by an operation on `operands` that lacks the results at `indices`, which have no
    uses; return it."""
    kept = without(op.results, indices)
    new = type(op).create(
        operands=operands,
        result_types=[result.type for result in kept],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in list(op.regions)],
        location=op.location,
    )
    insert_before(op, new)
    for old, result in zip(kept, new.results, strict=True):
        old.replace_all_uses_with(result)
    erase(op)
    return new


def without(items: Sequence[T], indices: Container[int]) -> list[T]:
    """Return the items that are not at `indices`."""
    return [item for i, item in enumerate(items) if i not in indices]


def _drop_arguments(block: Block, dropped: Sequence[int], live: Container[Operation]) -> None:
    """Erase arguments of a block, and the operations that use them."""
    arguments = [block.args[index] for index in dropped]
    _erase_users(arguments, live)
    for argument in reversed(arguments):
        block.erase_arg(argument)


def _erase_users(values: Iterable[SSAValue], live: Container[Operation]) -> None:
    """Erase the operations that depend on `values`, which are not `live`: each with the outermost
    dead operation around it."""
    pending = [*values]
    while pending:
        # The value stays on the stack until its last use is gone: a user may be used itself.
        if (use := pending[-1].first_use) is None:
            pending.pop()
            continue
        op = use.operation
        # A user in a dead loop goes with the loop, of which other values may be the operands.
        while (holder := op.parent_op()) is not None and holder not in live:
            op = holder
        if used := [result for result in op.results if result.first_use is not None]:
            pending += used
        else:
            erase(op)
