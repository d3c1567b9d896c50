"""RemoveDeadValues: remove the values that no effect and no result depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue, SSAValues

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.dataflow.edges import ControlFlow
from ...passmanager.fast.edit import erase
from ...passmanager.ir.branching import shorten_segments
from ...passmanager.ir.control_flow import branch_of, drop_operands, is_terminator, region_branch_of
from ...passmanager.ir.effects import own_effects
from ...passmanager.ir.walk import ancestors, is_skipped, walk
from .call_graph import is_opaque
from .liveness import Liveness
from .purity import Purity

T = TypeVar("T")


# Finding the dead values.


@dataclass
class DeadValues:
    """The values that can be removed: those that an operation with regions, a function or a branch
    passes on, by their positions."""

    operands: dict[Operation, set[int]] = field(default_factory=dict[Operation, set[int]])
    """Operands of branches, terminators, calls and operations with regions."""
    arguments: dict[Block, list[int]] = field(default_factory=dict[Block, list[int]])
    results: dict[Operation, list[int]] = field(default_factory=dict[Operation, list[int]])
    """Results of operations with regions and of calls."""
    functions: dict[FuncOp, list[int]] = field(default_factory=dict[FuncOp, list[int]])
    """The results of functions."""
    holders: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The operations that get shorter, in their order, with the number of their dead values."""

    def add(self, holder: Operation, block: Block, dead: list[int]) -> None:
        """Add dead arguments of `block`."""
        if dead:
            self.arguments[block] = dead
            self.holders[holder] = self.holders.get(holder, 0) + len(dead)

    def values(self) -> Iterator[SSAValue]:
        """Yield the dead arguments and results."""
        for block, indices in self.arguments.items():
            yield from (block.args[index] for index in indices)
        for op, indices in self.results.items():
            yield from (op.results[index] for index in indices)


class _Search:
    """The search for dead values of the operations in `root`."""

    def __init__(self, root: Operation, live: Liveness) -> None:
        self.live = live
        self.flow = live.flow
        self.found = DeadValues()
        for op in walk(root):
            if op.regions and op in live.ops:
                if region_branch_of(op) is not None:
                    self.visit_regions(op)
                elif isinstance(op, FuncOp) and op in self.flow.calls:
                    self.visit_function(op)
                for region in op.regions:
                    for block in [*region.blocks][1:]:
                        self.visit_block(op, block)

    def dead(self, values: Sequence[SSAValue]) -> list[int]:
        return [i for i, value in enumerate(values) if value not in self.live.states]

    def drop(self, op: Operation, indices: Iterable[int]) -> None:
        if dropped := {*indices}:
            self.found.operands.setdefault(op, set()).update(dropped)

    def visit_regions(self, op: Operation) -> None:
        """Visit the results of `op`, and the arguments of its regions."""
        inputs: set[SSAValue] = set()
        for point in self.flow.arriving(op):
            for edge in self.flow.edges(point) or ():
                target = edge.target
                if target is op or (isinstance(target, Block) and target.parent_op() is op):
                    dead = self.dead(edge.inputs)
                    inputs.update(edge.inputs[place] for place in dead)
                    self.drop(point, (edge.operands[place] for place in dead))
        if results := [i for i, value in enumerate(op.results) if value in inputs]:
            self.found.results[op] = results
            self.found.holders[op] = len(results)
        for region in op.regions:
            if (block := region.first_block) is not None:
                dead = [i for i, argument in enumerate(block.args) if argument in inputs]
                self.found.add(op, block, dead)

    def visit_function(self, func: FuncOp) -> None:
        """Visit the parameters and results of a function whose callers are known."""
        if func in self.flow.exposed:
            return
        calls, block = self.flow.calls[func], func.body.blocks[0]
        parameters = self.dead(block.args)
        self.found.add(func, block, parameters)
        unused = [set(self.dead(call.results)) for call in calls]
        results = [i for i in range(len(func.function_type.outputs)) if all(i in u for u in unused)]
        for call in calls:
            self.drop(call, parameters)
            if results:
                self.found.results[call] = results
        if results:
            self.found.functions[func] = results
            self.found.holders[func] = self.found.holders.get(func, 0) + len(results)
            for end in self.flow.ends_of(func):
                self.drop(end, results)
        elif parameters:
            self.found.functions[func] = results

    def visit_block(self, holder: Operation, block: Block) -> None:
        """Visit the arguments of a block that branches lead to."""
        branches = {use.operation: None for use in block.uses}
        if not block.args or not all(branch_of(branch) for branch in branches):
            return
        dead = self.dead(block.args)
        self.found.add(holder, block, dead)
        for branch in branches:
            for edge in self.flow.edges(branch) or ():
                if edge.target is block:
                    self.drop(branch, (edge.operands[place] for place in dead))


def _fixed(flow: ControlFlow, root: Operation) -> Iterator[Operation]:
    """Yield the operations whose values must all stay: of functions that are not to be changed, and
    of operations of which it is not known which operand becomes which value."""
    for func, calls in flow.calls.items():
        if not may_change_signature(func, calls):
            yield func
    for op in walk(root):
        if op.regions and is_skipped(op):
            yield from walk(op)
        elif op.regions and region_branch_of(op) is not None:
            edges = (edge for point in flow.arriving(op) for edge in flow.edges(point) or ())
            if any(len(edge.operands) != len(edge.inputs) for edge in edges):
                yield op


def may_change_signature(func: Operation, calls: Iterable[Operation]) -> TypeGuard[FuncOp]:
    """Return whether the parameters and results of `func` may change with `calls`, all its calls:
    nothing excludes them from optimization."""
    changes = isinstance(func, FuncOp) and not is_opaque(func) and not func.is_declaration
    return changes and all(_fits(call, func) for call in calls)


def _fits(call: Operation, func: Operation) -> bool:
    """Return whether the parameters and results of `func` may be removed for `call`."""
    if not isinstance(func, FuncOp) or not isinstance(call, CallOp):
        return False
    types = func.function_type
    return ((len(call.arguments), len(call.res)) == (len(types.inputs), len(types.outputs))) and (
        not any(is_opaque(op) for op in ancestors(call))
    )


# Removal.


def remove_dead_values(
    root: Operation,
    effects_of: Callable[[Operation], int] = own_effects,
    actions: Actions = SILENT,
    *,
    signatures: bool = False,
    operations: bool = False,
) -> int:
    """Remove the dead values that branches, loops and blocks in `root` pass on; return the number
    of operations that were changed or erased.

    A value is dead if no effect and no result of a function depends on it (`Liveness`). The
    operations that use it are erased; those that computed it are left for a removal of dead code,
    unless `operations` is true. An `scf.for` keeps a dead result whose value its iterations need.
    With `signatures`, the parameters and results of private functions are removed, too. Without
    both, dead operations must have been removed before.
    """
    if not (signatures or operations or _has_unused_values(root)):
        return 0
    flow = ControlFlow(root, actions, interprocedural=signatures)
    kept = dict.fromkeys(_fixed(flow, root))
    asked: set[Operation] = set()
    while True:
        live = Liveness(root, effects_of, kept, flow=flow)
        found = _Search(root, live).found
        dead = _dead_operations(root, live) if operations else []
        # What may not be changed needs all its values, which others may then have to keep.
        changed = [op for op in (*found.holders, *dead) if op not in asked]
        asked.update(changed)
        refused = [op for op in changed if not actions.allowed(op)]
        if not refused:
            break
        kept |= dict.fromkeys(refused)
    _drop_operands(found)
    if operations:
        for op in reversed(dead):
            for inner in reversed([*walk(op)]):
                erase(inner)
    else:
        _erase_users(found.values(), live.ops)
    for op, indices in found.results.items():
        _drop_results(op, indices)
    for block, indices in found.arguments.items():
        for index in reversed(indices):
            block.erase_arg(block.args[index])
    for func, results in found.functions.items():
        _change_signature(func, found.arguments.get(func.body.blocks[0], ()), results, actions)
    for op, count in found.holders.items():
        if op not in found.functions:
            actions.passed(op, "RemovedValues", "nothing needs them", Values=count)
    if shortened := len(found.holders) - len(found.functions):
        actions.count("shortened", shortened)
    if dead:
        actions.count("removed", len(dead))
    return len(found.holders) + len(dead)


def _has_unused_values(root: Operation) -> bool:
    """Return whether there may be dead values, if no dead operation is left: the last of a chain of
    them has no use then, except among the arguments of blocks."""
    for op in walk(root):
        if op.regions and (trait := region_branch_of(op)) is not None:
            for successor in (None, *op.regions):
                for value in trait.successor_inputs(op, successor):
                    if value.first_use is None:
                        return True
        for region in op.regions:
            if region.first_block is not region.last_block:
                if any(block.args for block in [*region.blocks][1:]):
                    return True
    return False


def _dead_operations(root: Operation, live: Liveness) -> list[Operation]:
    """Return the outermost dead operations."""
    dead = [op for op in walk(root) if op not in live.ops and op.parent_op() in live.ops]
    return [op for op in dead if op.next_op is not None or not is_terminator[type(op)]]


def _drop_operands(found: DeadValues) -> None:
    for op, indices in found.operands.items():
        if (branch := branch_of(op)) is not None:
            branch.drop_operands(op, indices)
        else:
            drop_operands(op, indices)


def _erase_users(values: Iterable[SSAValue], live: Container[Operation]) -> None:
    """Erase the operations that depend on `values`, which are not `live`: each with the outermost
    dead operation around it."""
    users: dict[Operation, None] = {}
    pending = [*values]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            while (holder := op.parent_op()) is not None and holder not in live:
                op = holder
            if op not in users:
                users[op] = None
                pending += op.results
    for op in users:
        erase(op)


def _drop_results(op: Operation, indices: Collection[int]) -> None:
    """Remove the results of `op` at `indices`, which have no uses.

    In place: an operation that is made anew is put into a block in time that grows with the depth.
    """
    if (sizes := op.properties.get("resultSegmentSizes")) is not None:
        op.properties["resultSegmentSizes"] = shorten_segments(sizes, indices)
    op.results = SSAValues(without(op.results, indices))
    for index, result in enumerate(op.results):
        result.index = index


def without(items: Sequence[T], indices: Container[int]) -> list[T]:
    """Return the items that are not at `indices`."""
    return [item for i, item in enumerate(items) if i not in indices]


def _change_signature(
    func: FuncOp, parameters: Collection[int], results: Collection[int], actions: Actions
) -> None:
    """Remove the types and attributes of parameters, whose arguments are gone, and of results."""
    types = func.function_type
    func.function_type = type(types).from_lists(
        without(types.inputs.data, parameters), without(types.outputs.data, results)
    )
    func.arg_attrs = _attributes(func.arg_attrs, parameters)
    func.res_attrs = _attributes(func.res_attrs, results)
    actions.passed(
        func,
        "RemovedUnused",
        "parameters or results that nothing needs",
        Parameters=len(parameters),
        Results=len(results),
    )
    actions.count("removed-parameters", len(parameters))
    actions.count("removed-results", len(results))


def _attributes(
    attributes: ArrayAttr[DictionaryAttr] | None, indices: Collection[int]
) -> ArrayAttr[DictionaryAttr] | None:
    # None where nothing is left: an empty array is not in the custom form.
    kept = without(attributes.data, indices) if attributes else ()
    return ArrayAttr(kept) if kept else None


@dataclass(frozen=True)
class RemoveDeadValues(ModulePass):
    """Remove the values that no effect and no result of a public function depends on, on any
    dialect: operations, parameters and results of private functions, results of operations with
    regions, arguments of blocks and regions.

    An operation takes part by the interfaces of control flow (`RegionBranchTrait`, `BranchTrait`)
    and of calls; the values of others stay. Source: MLIR's `remove-dead-values`.

    Before:

        func.func private @f(%x: i32, %y: i32) -> (i32, i32) {
          %0 = arith.muli %y, %y : i32
          func.return %x, %0 : i32, i32
        }
        func.func @main(%x: i32, %y: i32) -> i32 {
          %0, %1 = func.call @f(%x, %y) : (i32, i32) -> (i32, i32)
          func.return %0 : i32
        }

    After:

        func.func private @f(%x: i32) -> i32 {
          func.return %x : i32
        }
        func.func @main(%x: i32, %y: i32) -> i32 {
          %0 = func.call @f(%x) : (i32) -> i32
          func.return %0 : i32
        }
    """

    name = "remove-dead-values"
    opt_level = 1
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        purity = ctx.analyses.get(Purity, module)
        remove_dead_values(module, purity.effects, ctx.actions, signatures=True, operations=True)
