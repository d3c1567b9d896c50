"""LambdaLift: functions that are values become functions of the module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ...dialects.relax.graph import GraphOp
from ...dialects.relax.ordering import dependence_order
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.walk import walk
from ...passmanager.remarks import Remarks
from .inline import LEFT_ALONE

__all__ = ["LambdaLift", "lift_lambdas"]


def lift_lambdas(
    module: ModuleOp,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> int:
    """Make each `relax.lambda` in `module` a private function beside the one that it is in; returns
    how many.

    What a lambda captures are the first parameters of its function. A `relax.invoke` of it becomes
    a `func.call`; for any other use it becomes a `relax.make_closure`. The function is called
    `<outer>_<name of the value>`, or, if there is one, with the names of the lambdas around it, or
    a number. `gate`, if given, is asked before each lambda, and may keep it as it is.
    """
    return Lifting(gate, remarks).run(module)


class Lifting:
    """The state of one lifting."""

    def __init__(self, gate: Callable[[], bool] | None, remarks: Remarks | None) -> None:
        self.gate = gate
        self.remarks = remarks or None
        self.lifted = 0
        self.symbols: dict[Block, dict[str, Operation]] = {}
        """The functions in the body of each module."""
        self.last: dict[Operation, Operation] = {}
        """The last function made of a lambda in an op."""

    def run(self, module: ModuleOp) -> int:
        """Call what is known to be called; then lift each lambda after those that it may call."""
        closures = [op for op in walk(module) if isinstance(op, MakeClosureOp)]
        lambdas = [*_innermost_first(module)]
        _order_graphs(closures + lambdas)
        for closure in closures:
            self.call_directly(closure, _top_level(closure))
        for op in lambdas:
            self.lift(op)
        return self.lifted

    def lift(self, op: LambdaOp) -> None:
        """Make a lambda, in which no other is left, a function."""
        top = _top_level(op)
        if any(name in top.attributes for name in LEFT_ALONE):
            return
        if self.gate is not None and not self.gate():
            return
        captured = op.captured()
        name = self.unused_name(op, top)
        closure = MakeClosureOp(name, captured, op.result.type)
        closure.location = op.location
        block = op.parent
        assert block is not None
        block.insert_op_before(closure, op)
        op.result.replace_all_uses_with(closure.result)
        op.detach()
        func = _function_of(op, name, captured)
        self.symbols_beside(top)[name] = func
        if (module := top.parent) is not None:
            module.insert_op_after(func, self.last.get(top, top))
        self.last[top] = func
        self.lifted += 1
        if self.remarks is not None:
            self.remarks.passed(func, "Lifted", "made a function", Captured=len(captured))
        self.call_directly(closure, top)

    def call_directly(self, closure: MakeClosureOp, top: Operation) -> None:
        """Make each call of a closure one of its function, and erase it if there is no other use;
        calls by a less precise type stay."""
        func = self.symbols_beside(top).get(closure.callee.string_value())
        if not isinstance(func, FuncOp) or any(name in top.attributes for name in LEFT_ALONE):
            return
        calls = [use.operation for use in closure.result.uses if use.index == 0]
        for invoke in calls:
            if not isinstance(invoke, InvokeOp) or invoke.callee is not closure.result:
                continue
            if invoke.res.types != func.function_type.outputs.data:
                continue
            arguments = (*closure.captured, *invoke.arguments)
            call = CallOp(closure.callee, arguments, invoke.res.types)
            call.attributes |= invoke.attributes
            call.location = invoke.location
            _replace(invoke, call)
        if calls and closure.result.first_use is None:
            closure.detach()
            closure.drop_all_references()

    def symbols_beside(self, top: Operation) -> dict[str, Operation]:
        """The symbols of the module that an op is directly in."""
        block = top.parent
        if block is None:
            return {}
        if block not in self.symbols:
            named = ((symbol_of(op), op) for op in block.ops)
            self.symbols[block] = {name: op for name, op in named if name}
        return self.symbols[block]

    def unused_name(self, op: LambdaOp, top: Operation) -> str:
        """The name of the function that a lambda becomes."""
        names = [_name(op)]
        around = op.parent_op()
        while around is not None:
            if isinstance(around, LambdaOp):
                names.append(_name(around))
            around = around.parent_op()
        outer = [name] if (name := symbol_of(top)) else []
        path = "_".join([*outer, *reversed(names)])
        candidates = ("_".join([*outer, names[0]]), path)
        used = self.symbols_beside(top)
        numbered = (f"{path}_{n}" for n in count())
        return next(name for name in chain(candidates, numbered) if name not in used)


def _name(op: LambdaOp) -> str:
    return op.result.name_hint or "lambda"


def _innermost_first(root: Operation) -> Iterator[LambdaOp]:
    """The lambdas in `root`, each after those in it and those before it."""
    around: list[LambdaOp] = []
    for op in walk(root):
        if isinstance(op, LambdaOp):
            while around and not around[-1].is_ancestor(op):
                yield around.pop()
            around.append(op)
    yield from reversed(around)


def _order_graphs(ops: list[MakeClosureOp | LambdaOp]) -> None:
    """Put the graphs around these in order: what is computed for a function to be called would
    otherwise not be computed when the function is."""
    graphs: dict[GraphOp, None] = {}
    for op in ops:
        around = op.parent_op()
        while around is not None and around not in graphs:
            if isinstance(around, GraphOp):
                graphs[around] = None
            around = around.parent_op()
    for graph in graphs:
        block = graph.body.block
        if (order := dependence_order(block)) != [*block.ops]:
            for op in order:
                op.detach()
                block.add_op(op)


def _top_level(op: Operation) -> Operation:
    """The op around `op`, or itself, that is directly in a module."""
    while (parent := op.parent_op()) is not None and not isinstance(parent, ModuleOp):
        op = parent
    return op


def _function_of(op: LambdaOp, name: str, captured: Sequence[SSAValue]) -> FuncOp:
    """A private function with the body of a lambda; its parameters are first what that captures."""
    body = op.detach_region(op.body)
    block = body.block
    for index, value in enumerate(captured):
        argument = block.insert_arg(value.type, index)
        argument.name_hint = value.name_hint
    inside = dict(zip(captured, block.args))
    end = block.last_op
    assert end is not None
    _replace(end, ret := ReturnOp(*end.operands))
    ret.location = end.location
    func = FuncOp(name, (block.arg_types, op.result.type.outputs.data), body, PRIVATE)
    func.attributes |= op.attributes
    func.location = op.location
    for inner in walk(func) if inside else ():
        if not inside.keys().isdisjoint(inner.operands):
            inner.operands = [inside.get(operand, operand) for operand in inner.operands]
    return func


PRIVATE = StringAttr("private")


def _replace(old: Operation, new: Operation) -> None:
    """Put an op in the place of another."""
    block = old.parent
    assert block is not None
    block.insert_op_before(new, old)
    for before, after in zip(old.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    old.detach()
    old.drop_all_references()


@dataclass(frozen=True)
class LambdaLift(ModulePass):
    """Make functions that are values functions of the module; source: `relax.LambdaLift`.

    Primitive and composite functions are left as they are.
    """

    name = "lambda-lift"
    opt_level = 1
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("lifted", lift_lambdas(module, ctx.gate(self.name), ctx.remarks))
