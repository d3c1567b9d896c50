"""LambdaLift: turn lambdas into functions of the module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ...dialects.relax.graph import GraphOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.ordering import dependence_order
from ...passmanager.ir.walk import PRIVATE, ancestors, symbol_of, walk
from ..generic.call_graph import is_opaque


def lift_lambdas(module: ModuleOp, actions: Actions = SILENT) -> None:
    """Turn each `relax.lambda` in `module` into a private function after the one that contains it.

    The first parameters of the function are the values that the lambda captures. A `relax.invoke`
    of the lambda becomes a `func.call`; for any other use it becomes a `relax.make_closure`. The
    function is named `<outer function>_<name of the value>`; if that name is taken, the names of
    the enclosing lambdas are inserted, and then a number is appended.
    """
    LambdaLifter(actions).run(module)


class LambdaLifter:
    """Lifts lambdas, innermost first, and turns calls of known closures into direct calls."""

    def __init__(self, actions: Actions) -> None:
        self.actions = actions
        self.symbols: dict[Block, dict[str, Operation]] = {}
        """The symbols in the body of each module."""
        self.last: dict[Operation, Operation] = {}
        """The function lifted last out of each top-level function."""

    def run(self, module: ModuleOp) -> None:
        """Lift all lambdas; each after those that it contains or follows, and may thus invoke."""
        # Closures that the module has already: their calls can be direct as well.
        closures = [op for op in walk(module) if isinstance(op, MakeClosureOp)]
        # An inner lambda's captures become operands of a `make_closure`, which the outer one then
        # captures.
        lambdas = [*_innermost_first(module)]
        _order_graphs(closures + lambdas)
        for closure in closures:
            self.call_directly(closure, _top_level(closure))
        for op in lambdas:
            self.lift(op)

    def lift(self, op: LambdaOp) -> None:
        """Turn `op`, which contains no other lambda, into a function."""
        top = _top_level(op)
        if is_opaque(top) or not self.actions.allowed(op):
            return
        captured = op.captured()
        name = self.unused_name(op, top)
        # Always a closure first; `call_directly` removes it where all uses are calls.
        closure = MakeClosureOp(name, captured, op.result.type)
        closure.location = op.location
        insert_before(op, closure)
        op.result.replace_all_uses_with(closure.result)
        op.detach()
        func = _function_of(op, name, captured)
        self.symbols_beside(top)[name] = func
        if (module := top.parent) is not None:
            # After those lifted before, so that functions stand in the order of their lambdas.
            module.insert_op_after(func, self.last.get(top, top))
        self.last[top] = func
        self.actions.passed(func, "Lifted", "made a function", Captured=len(captured))
        self.actions.count("lifted")
        self.call_directly(closure, top)

    def call_directly(self, closure: MakeClosureOp, top: Operation) -> None:
        """Replace the calls of `closure` by calls of its function; erase it if no use is left.

        A call with less precise result types than the function's stays.
        """
        func = self.symbols_beside(top).get(closure.callee.string_value())
        if not isinstance(func, FuncOp) or is_opaque(top):
            return
        calls = [use.operation for use in closure.result.uses if use.index == 0]
        for invoke in calls:
            if not isinstance(invoke, InvokeOp) or invoke.callee is not closure.result:
                continue
            # A call must have the types of its function; the closure hides more precise ones.
            if invoke.res.types != func.function_type.outputs.data:
                continue
            arguments = (*closure.captured, *invoke.arguments)
            call = CallOp(closure.callee, arguments, invoke.res.types)
            call.attributes |= invoke.attributes
            call.location = invoke.location
            _replace(invoke, call)
        if calls and closure.result.first_use is None:
            erase(closure)

    def symbols_beside(self, top: Operation) -> dict[str, Operation]:
        """Return the symbols of the module that directly contains `top`."""
        block = top.parent
        if block is None:
            return {}
        if block not in self.symbols:
            named = ((symbol_of(op), op) for op in block.ops)
            self.symbols[block] = {name: op for name, op in named if name}
        return self.symbols[block]

    def unused_name(self, op: LambdaOp, top: Operation) -> str:
        """Return a name for the function of the lambda `op`, which is nested in `top`."""
        names = [_name(around) for around in ancestors(op) if isinstance(around, LambdaOp)]
        outer = [name] if (name := symbol_of(top)) else []
        path = "_".join([*outer, *reversed(names)])
        candidates = ("_".join([*outer, names[0]]), path)
        used = self.symbols_beside(top)
        numbered = (f"{path}_{n}" for n in count())
        return next(name for name in chain(candidates, numbered) if name not in used)


def _name(op: LambdaOp) -> str:
    return op.result.name_hint or "lambda"


def _innermost_first(root: Operation) -> Iterator[LambdaOp]:
    """Yield the lambdas nested in `root`, each after those nested in it and those before it."""
    around: list[LambdaOp] = []
    for op in walk(root):
        if isinstance(op, LambdaOp):
            while around and not around[-1].is_ancestor(op):
                yield around.pop()
            around.append(op)
    yield from reversed(around)


def _order_graphs(ops: list[MakeClosureOp | LambdaOp]) -> None:
    """Sort the graphs around `ops` in dependence order.

    The dependences of a graph, visited in text order, determine the order of its effects. Lifting
    changes dependences, so the current order is first made the text order.
    """
    graphs = (around for op in ops for around in ancestors(op) if isinstance(around, GraphOp))
    for graph in dict.fromkeys(graphs):
        block = graph.body.block
        if (order := dependence_order(block)) != [*block.ops]:
            for op in order:
                op.detach()
                block.add_op(op)


def _top_level(op: Operation) -> Operation:
    """Return `op` or the ancestor of `op` that is directly in a module."""
    while (parent := op.parent_op()) is not None and not isinstance(parent, ModuleOp):
        op = parent
    return op


def _function_of(op: LambdaOp, name: str, captured: Sequence[SSAValue]) -> FuncOp:
    """Make a private function with the body of `op`, whose first parameters are `captured`."""
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
    # Also in regions: a branch of the body uses captured values directly.
    for inner in walk(func) if inside else ():
        if not inside.keys().isdisjoint(inner.operands):
            inner.operands = [inside.get(operand, operand) for operand in inner.operands]
    return func


def _replace(old: Operation, new: Operation) -> None:
    """Replace `old` and its results by `new`."""
    insert_before(old, new)
    for before, after in zip(old.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    erase(old)


@dataclass(frozen=True)
class LambdaLift(ModulePass):
    """Turn lambdas into functions of the module.

    Primitive and composite functions are left as they are. Source: `relax.LambdaLift`.

    Before:

        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %f = relax.lambda(%z: tensor<4xf32>) -> tensor<4xf32> {
            %1 = relax.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
            relax.yield %1 : tensor<4xf32>
          }
          %0 = relax.invoke %f(%y) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }

    After:

        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @main_f(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func private @main_f(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """

    name = "lambda-lift"
    opt_level = 1
    before = ("inline",)
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        lift_lambdas(module, ctx.actions)
