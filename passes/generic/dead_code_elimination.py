"""DeadCodeElimination: remove unused operations, dead loops and blocks, unreachable symbols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp, IfOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.transforms.dead_code_elimination import result_only_effects
from xdsl.utils.exceptions import PassFailedException

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before, read_step
from ...passmanager.ir.effects import (
    NESTED,
    OBSERVABLE,
    VARYING,
    class_effects,
    is_kept,
    own_effects,
    would_be_dead,
)
from ...passmanager.ir.walk import PRIVATE, walk
from ...passmanager.names import did_you_mean
from .call_graph import CallGraph, symbols_of
from .liveness import Liveness
from .purity import Purity, is_call

# Removal of the results of branches, and of the values that loops carry, that nothing needs.


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


# Removal of dead operations: operations without used results and observable effects.


def remove_dead_code(root: Operation, purity: Purity, actions: Actions = SILENT) -> int:
    """Erase the dead operations nested in `root`, and remove the dead values that branches and
    loops return and carry; return the number of operations that were erased or changed."""
    remover = DeadCodeRemover(actions, purity)
    removed = remover.run(root)
    if remover.has_branches and (shortened := remove_dead_results(root, purity.effects, actions)):
        removed += shortened + remove_dead_operations(root, actions, purity)
    return removed


def remove_dead_operations(
    root: Operation, actions: Actions = SILENT, purity: Purity | None = None
) -> int:
    """Erase the dead operations nested in `root`, and return the number of them.

    Reading memory does not count as an effect; `scf.if` and similar operations have the effects of
    the operations in their regions; unknown effects keep an operation alive. Calls have the effects
    that `purity` finds, and unknown ones without it. Dead cycles, which only graph regions can
    contain, are not removed.
    """
    return DeadCodeRemover(actions, purity).run(root)


def is_used(values: Iterable[SSAValue]) -> bool:
    """Return whether any of `values` has a use."""
    for value in values:
        if value.first_use is not None:
            return True
    return False


class DeadCodeRemover:
    """Sweeps blocks backwards and erases dead operations.

    Users come before the operations that they use, so one sweep erases a whole chain.
    """

    def __init__(self, actions: Actions, purity: Purity | None) -> None:
        self.actions = actions
        self.effects_of = own_effects if purity is None else purity.effects
        self.removed = 0
        self.has_branches = False
        """Whether a branch or loop was met that may have dead results."""
        self.unused: list[SSAValue] = []
        """Values that lost their last use. The sweep reaches their operations later, except in
        graph regions, where an operation may stand after its users."""

    def run(self, root: Operation) -> int:
        """Visit the operations nested in `root` backwards, those in the regions of an operation
        before the operation itself.

        `regions_have_no_effects` has an entry for each open operation with regions, so that the
        effects of nested operations are known when it is left; nothing recurses.
        """
        pending = _last_ops(root)
        regions_have_no_effects = [True]
        while pending:
            op, entered = pending.pop()
            while op is not None:
                _, results, regions, _ = read_step(op)
                # `op` itself comes once more, below its regions on the stack.
                if regions and not entered:
                    self.has_branches |= isinstance(op, WhileOp) or (
                        isinstance(op, IfOp | ForOp) and bool(results)
                    )
                    pending.append((op, True))
                    pending += _last_ops(op)
                    regions_have_no_effects.append(True)
                    break
                previous = op.prev_op
                inner = regions_have_no_effects.pop() if regions else True
                # What has an effect keeps the operations around it alive, one level at a time.
                if not self.has_no_effects(op, inner):
                    regions_have_no_effects[-1] = False
                elif not is_kept[type(op)] and not is_used(results):
                    self.remove(op)
                op, entered = previous, False
        self.remove_unused_owners()
        if self.removed:
            self.actions.count("removed", self.removed)
        return self.removed

    def has_no_effects(self, op: Operation, regions_have_none: bool) -> bool:
        """Return whether `op`, with the operations nested in it, has no observable effect."""
        cls = type(op)
        effects = self.effects_of(op) if is_call[cls] else class_effects[cls]
        if effects & VARYING:
            # xDSL's own answer, which walks the regions: rare, as nearly all classes have fixed
            # effects.
            return result_only_effects(op)
        return not effects & OBSERVABLE and (regions_have_none or not effects & NESTED)

    def remove(self, op: Operation) -> None:
        """Erase a dead operation if that is allowed."""
        if not self.actions.allowed(op):
            return
        if self.actions.wants_remarks:
            self.actions.passed(op, "Removed", "has no effects, and its results are unused")
        # Before the erasure, which drops the operands.
        operands = _captured_values(op) if op.regions else read_step(op)[0]
        erase(op)
        self.removed += 1
        self.unused += [operand for operand in operands if operand.first_use is None]

    def remove_unused_owners(self) -> None:
        """Erase operations whose users stood before them, in graph regions and loops of blocks."""
        while self.unused:
            op = self.unused.pop().owner
            if isinstance(op, Operation) and op.parent is not None:
                if not is_used(op.results) and would_be_dead(op, self.effects_of):
                    self.remove(op)


def _last_ops(op: Operation) -> list[tuple[Operation | None, bool]]:
    """Return the last operation of each block directly in `op`, in the form of `pending`."""
    return [(block.last_op, False) for region in op.regions for block in region.blocks]


def _captured_values(op: Operation) -> list[SSAValue]:
    """Return the values defined outside of `op` that it, or an operation nested in it, uses."""
    operands = {inner: read_step(inner)[0] for inner in walk(op)}
    # Block arguments of `op` are among them; they have no operation, and `remove_unused_owners`
    # skips them.
    return [v for values in operands.values() for v in values if v.owner not in operands]


# Removal of functions and other symbols that nothing reaches (MLIR: `symbol-dce`).


def remove_unreachable_symbols(
    module: ModuleOp,
    entries: Iterable[str] = (),
    graph: CallGraph | None = None,
    *,
    functions: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Erase the private functions and other private symbols of `module` that nothing reaches.

    The roots are the symbols named in `entries`, the public symbols, and the operations that are
    not symbols. With `functions`, only functions are erased, public ones too. If a reachable
    operation refers to a symbol that `module` does not define, nothing is erased. A symbol that
    `actions` does not allow to be erased stays, with all that it reaches.
    Errors: PassFailedException for an entry that is not in the module.
    """
    symbols = symbols_of(module) if graph is None else graph.symbols
    entries = set(entries)
    for name in sorted(entries - symbols.keys()):
        raise PassFailedException(
            f"entry function @{name} is not in the module{did_you_mean(name, symbols)}"
        )
    removable = {  # in the order of the module
        op: None
        for name, op in symbols.items()
        if name not in entries and (_is_function(op) if functions else _is_private(op))
    }
    if not removable:
        return
    graph = CallGraph(module) if graph is None else graph
    reached = graph.reachable(op for op in module.ops if op not in removable)
    # The definition of an unresolved name may refer back to a symbol here that seems unreachable.
    if any(graph.unresolved(op) for op in reached):
        return
    unreached = [op for op in removable if op not in reached]
    # Erasing what such a symbol refers to would leave it with a dangling reference.
    kept = graph.reachable([op for op in unreached if not actions.allowed(op)])
    reason = "nothing reaches it" if functions else "private, and nothing reaches it"
    for op in unreached:
        if op not in kept:
            actions.passed(op, "RemovedSymbol", reason)
            actions.count("removed-symbols")
            erase(op)


def _is_private(op: Operation) -> bool:
    return op.get_attr_or_prop("sym_visibility") == PRIVATE


def _is_function(op: Operation) -> bool:
    return op.get_attr_or_prop("function_type") is not None


# DeadCodeElimination: remove unused operations and unreachable private symbols.


@dataclass(frozen=True)
class DeadCodeElimination(ModulePass):
    """Remove unused operations and unreachable private symbols, such as functions.

    An unused call is removed if its callee has no effects (`Purity`). Unused results of `scf.if`
    and unused loop-carried values of `scf.for` and `scf.while` are removed, too. Source:
    `relax.DeadCodeElimination`.

    Before:

        func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
          func.return %x : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
          %2 = relax.abs %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }

    After:

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.abs %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """

    name = "dead-code-elimination"
    opt_level = 1
    preserves = ("infer-type",)

    entry_functions: tuple[str, ...] = ()
    """Private functions to keep, with all functions that they reach."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        remove_unreachable_symbols(module, self.entry_functions, actions=ctx.actions)
        if remove_dead_code(module, ctx.analyses.get(Purity, module), ctx.actions):
            # Once more: the erased operations may have held the last reference to a function.
            remove_unreachable_symbols(module, self.entry_functions, actions=ctx.actions)
