"""DeadCodeElimination: remove unused operations, dead loops and blocks, unreachable symbols."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.transforms.dead_code_elimination import result_only_effects
from xdsl.utils.exceptions import PassFailedException

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, read_step
from ...passmanager.ir.control_flow import region_branch_of
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
from .purity import Purity, is_call

# Removal of dead operations: operations without used results and observable effects.


def remove_dead_code(root: Operation, purity: Purity, actions: Actions = SILENT) -> int:
    """Erase the dead operations nested in `root`, and remove the dead values that branches and
    loops return and carry; return the number of operations that were erased or changed."""
    remover = DeadCodeRemover(actions, purity)
    removed = remover.run(root)
    if remover.has_branches:
        from .remove_dead_values import remove_dead_values  # with the analysis that it needs

        if shortened := remove_dead_values(root, purity.effects, actions):
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
        """Whether an operation was met that passes values on, some of which may be dead."""
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
                    self.has_branches |= (
                        region_branch_of(op) is not None or len(op.regions[0].blocks) > 1
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
