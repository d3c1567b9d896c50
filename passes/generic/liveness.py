"""The values, parameters and results of functions that something needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from ...passmanager.fast.edit import read_step
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.ir.effects import OBSERVABLE, is_kept, own_effects, would_be_dead
from ...passmanager.ir.symbols import References
from ...passmanager.ir.walk import PRIVATE, is_skipped, walk
from .call_graph import CallGraph, is_opaque

# The values that a result or an effect of a function depends on, through branches and loops.


class Liveness:
    """The live operations and values nested in an operation (MLIR's `LivenessAnalysis`).

    An operation is live if it has an observable effect, or a result that is live; so are the
    operations around it. The results of an `scf.if`, and the values that an `scf.for` or
    `scf.while` carries, are live or dead one by one: of two results, one may be live, and what only
    the other one is computed from is dead. All operands of other live operations are live. The
    results and the carried values of the operations in `kept` are live, too.
    """

    def __init__(
        self,
        root: Operation,
        effects_of: Callable[[Operation], int] = own_effects,
        kept: Container[Operation] = (),
    ) -> None:
        self.ops: set[Operation] = set()
        self.values: set[SSAValue] = set()
        self._pending: list[SSAValue | Operation] = []
        for op in walk(root):
            if op in kept:
                self._pending += [*op.results, *_carried(op)]
            elif op is root or _has_effect(op, effects_of):
                self._pending.append(op)
        # Each value and operation is visited once: linear in the uses.
        while self._pending:
            found = self._pending.pop()
            if isinstance(found, Operation):
                if found not in self.ops:
                    self.ops.add(found)
                    self._visit_op(found)
            elif found not in self.values:
                self.values.add(found)
                self._pending += _sources(found)

    def _visit_op(self, op: Operation) -> None:
        """Add the values and operations that a live operation needs, whichever of its results are
        live."""
        # An operation is reached only if those around it run, with the operands that decide that.
        if (parent := op.parent_op()) is not None:
            self._pending.append(parent)
        match op:
            case IfOp():
                self._pending.append(op.cond)
            case ForOp():
                self._pending += (op.lb, op.ub, op.step)
            case WhileOp():
                self._pending.append(_condition(op).condition)
            case _:
                self._pending += op.operands
                blocks = [block for region in op.regions for block in region.blocks]
                self._pending += [end for block in blocks if (end := block.last_op) is not None]


def _has_effect(op: Operation, effects_of: Callable[[Operation], int]) -> bool:
    """Return whether `op` is live without live results; a terminator is not: it is as live as the
    operation around it."""
    if is_kept[type(op)]:
        return not op.has_trait(IsTerminator, value_if_unregistered=False)
    return bool(effects_of(op) & OBSERVABLE)


def _carried(op: Operation) -> Sequence[BlockArgument]:
    """Return the block arguments of an `scf.if` or loop; nothing for other operations."""
    if not isinstance(op, IfOp | ForOp | WhileOp):
        return ()
    return [arg for region in op.regions for block in region.blocks for arg in block.args]


def _condition(loop: WhileOp) -> ConditionOp:
    end = loop.before_region.block.last_op
    assert isinstance(end, ConditionOp)
    return end


def _sources(value: SSAValue) -> Sequence[SSAValue | Operation]:
    """Return what is live if `value` is: the operation that defines it, and the values that it may
    be equal to, which a loop or `scf.if` passes on."""
    if isinstance(value, OpResult):
        op, index = value.op, value.index
        match op:
            case IfOp():
                return [op, *(yielded(region.block)[index] for region in op.regions)]
            case ForOp():
                return [op, op.iter_args[index], yielded(op.body.block)[index]]
            case WhileOp():
                return [op, _condition(op).args[index]]
            case _:
                return [op]
    assert isinstance(value, BlockArgument)
    index = value.index
    match loop := value.block.parent_op():
        # With a carried value, its initial value is live, and the one for the next iteration. A sum
        # that only its own next value uses, `s = s + x`, stays dead: nothing else makes it live.
        case ForOp() if index > 0:
            return [loop.iter_args[index - 1], yielded(value.block)[index - 1]]
        case WhileOp() if value.block is loop.before_region.block:
            return [loop.arguments[index], yielded(loop.after_region.block)[index]]
        case WhileOp():
            return [_condition(loop).args[index]]
        case _:
            return []


def yielded(block: Block) -> Sequence[SSAValue]:
    """Return the operands of the terminator of `block`."""
    assert block.last_op is not None
    return tuple(block.last_op.operands)


# The parameters and results of functions that no caller and no operation needs.


def direct_calls(module: ModuleOp, graph: CallGraph | None = None) -> dict[FuncOp, list[CallOp]]:
    """Return the calls of each private function of `module` whose signature may change.

    It has a body and at least one call; calls are its only references; neither it nor a caller is
    excluded from optimization.
    """
    graph = graph or CallGraph(module)
    calls: dict[str, list[CallOp]] = {
        name: [] for name, op in graph.symbols.items() if _may_change(op)
    }
    if not calls:
        return {}
    references = References()
    for top in module.body.block.ops:
        fixed = is_opaque(top) or is_skipped(top)
        nested = 0  # in a module of its own, with symbols of its own
        for op in walk(top):
            nested += isinstance(op, ModuleOp)
            names = [*references.of(op)]
            if isinstance(op, CallOp) and not fixed and not nested:
                # Only the callee: another attribute of the call that names the function is a
                # reference like any other, and fixes its signature.
                names.remove(name := op.callee.string_value())
                if name in calls:
                    calls[name].append(op)
            for name in names:
                calls.pop(name, None)
    for name in references.of(module):
        calls.pop(name, None)
    found: dict[FuncOp, list[CallOp]] = {}
    for name, users in calls.items():
        func = graph.symbols[name]
        assert isinstance(func, FuncOp)
        if users and all(_fits(call, func) for call in users):
            found[func] = users
    return found


def _may_change(op: Operation) -> bool:
    return (
        isinstance(op, FuncOp)
        and op.sym_visibility == PRIVATE
        and not op.is_declaration
        and not is_opaque(op)
    )


def _fits(call: CallOp, func: FuncOp) -> bool:
    """Return whether `call` has as many operands and results as `func`."""
    types = func.function_type
    return (len(call.arguments), len(call.res)) == (len(types.inputs), len(types.outputs))


class SignatureLiveness:
    """The live values of a module, given the functions whose signatures may change.

    A value is live if an operation with effects, a terminator or an operation with regions uses it.
    For a function whose signature may change, an operand of a call is live only if the parameter
    is, and an operand of `func.return` only if the result of some call is, through recursion too.
    """

    def __init__(self, module: ModuleOp, calls: dict[FuncOp, list[CallOp]]) -> None:
        self.calls = calls
        self.returns: dict[FuncOp, list[ReturnOp]] = {func: [] for func in calls}
        self._callees: dict[Operation, FuncOp] = {
            call: func for func, users in calls.items() for call in users
        }
        self._entries = {func.body.blocks[0]: func for func in calls}
        self._live: set[SSAValue] = set()
        self._results: set[tuple[FuncOp, int]] = set()
        self._optional: set[Operation] = set()
        """The operations that are live only if one of their results is."""
        self._pending: list[SSAValue] = []
        if calls:
            self._find_roots(module)
            self._propagate()

    def dead_parameters(self, func: FuncOp) -> list[int]:
        """Return the indices of the parameters of `func` that are not live."""
        return [arg.index for arg in func.args if arg not in self._live]

    def dead_results(self, func: FuncOp) -> list[int]:
        """Return the indices of the results of `func` that are not live."""
        results = range(len(func.function_type.outputs))
        return [i for i in results if (func, i) not in self._results]

    def users(self, values: Collection[SSAValue]) -> set[Operation]:
        """Return the operations that need any of the dead `values`, directly or through others.

        They are dead, too; calls and returns that pass the values on are not among them.
        """
        found: set[Operation] = set()
        pending = [*values]
        while pending:
            uses = pending.pop().uses
            users = {u for use in uses if (u := use.operation) in self._optional and u not in found}
            found |= users
            pending += [result for user in users for result in user.results]
        return found

    def _find_roots(self, module: ModuleOp) -> None:
        for op in walk(module):
            # `_propagate` marks the operands of a call once the parameters are live.
            if op in self._callees:
                continue
            func = op.parent_op()
            if isinstance(op, ReturnOp) and isinstance(func, FuncOp) and func in self.returns:
                self.returns[func].append(op)
            # In a graph region values may depend on each other in a circle: there may be no order
            # in which the operations can be erased.
            elif not op.regions and _in_order(op) and would_be_dead(op):
                self._optional.add(op)
            else:
                self._mark(read_step(op)[0])

    def _mark(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            # Each value is visited once, so the time is linear in the uses, with recursion too: of
            # `f(x, n) = f(x, n - 1)`, `n` is live if a condition reads it, and `x` is not.
            if value not in self._live:
                self._live.add(value)
                self._pending.append(value)

    def _propagate(self) -> None:
        while self._pending:
            value = self._pending.pop()
            if isinstance(value, BlockArgument):
                if (func := self._entries.get(value.block)) is not None:
                    self._mark([call.operands[value.index] for call in self.calls[func]])
            elif isinstance(value, OpResult):
                if value.op in self._optional:
                    self._mark(read_step(value.op)[0])
                elif (func := self._callees.get(value.op)) is not None:
                    self._results.add((func, value.index))
                    self._mark([end.operands[value.index] for end in self.returns[func]])


def _in_order(op: Operation) -> bool:
    region = op.parent_region()
    return region is not None and not is_graph_region(region)
