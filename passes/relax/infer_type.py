"""InferType: types as precise as the operations that compute the values allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.types import refine, unify
from ...passmanager.analyses.call_graph import CallGraph
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext

__all__ = ["InferType", "infer_types"]

Report: TypeAlias = Callable[[Operation, str], object]


def infer_types(module: ModuleOp, report: Report, graph: CallGraph | None = None) -> int:
    """Retype results as precisely as can be inferred, never less; returns how many it retyped.

    Types flow through operations that infer them, `scf.if`, functions and calls. Parameters keep
    their declared type, and an operation that is none of these goes on to see the type that it saw
    before, through a `tensor.cast`. The result types of a recursive function start as declared, and
    are refined until nothing changes. A contradiction is reported, and its operation left as it is.
    """
    inference = Inference(report)
    graphs = [CallGraph(module) if graph is None else graph]
    while graphs:
        inner = graphs.pop()
        inference.infer_module(inner)
        graphs += [CallGraph(op) for op in inner.callees_first() if isinstance(op, ModuleOp)]
    return inference.retyped


class Inference:
    """The state of one inference."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.retyped = 0
        self.reported: set[tuple[Operation, str]] = set()
        self.functions: dict[str, FuncOp] = {}

    def error(self, op: Operation, message: str) -> None:
        """Report a contradiction, once if its function is inferred again."""
        if (op, message) not in self.reported:
            self.reported.add((op, message))
            self.report(op, message)

    def infer_module(self, graph: CallGraph) -> None:
        """Infer the types in each function after those it calls; again when these change later."""
        self.functions = {name: op for name, op in graph.symbols.items() if isinstance(op, FuncOp)}
        done: set[Operation] = set()
        pending = dict.fromkeys(reversed([*graph.callees_first()]))
        while pending:
            op, _ = pending.popitem()
            done.add(op)
            if not isinstance(op, ModuleOp) and self.infer_op(op):
                pending |= dict.fromkeys(c for c in graph.callers(op) if c in done)

    def infer_op(self, root: Operation) -> bool:
        """Infer the types in a top-level op; whether it is a function whose type changed."""
        before = root.properties.get("function_type")
        for op in _inner_first(root):
            match op:
                case InfersType():
                    self.infer_results(op)
                case CallOp():
                    self.infer_call(op)
                case IfOp():
                    self.infer_if(op)
                case FuncOp():
                    self.infer_function(op)
                case CastOp():
                    self.check_cast(op)
                case _:
                    pass
        return root.properties.get("function_type") is not before

    # The rules

    def infer_results(self, op: InfersType) -> None:
        """The results have the types that the operation infers."""
        try:
            types = op.infer_types()
        except VerifyException as error:
            self.error(op, str(error))
            return
        self.refine_results(op, types)

    def infer_call(self, op: CallOp) -> None:
        """The results have the types that the callee returns."""
        if (callee := self.functions.get(op.callee.string_value())) is not None:
            self.refine_results(op, callee.function_type.outputs.data)

    def infer_if(self, op: IfOp) -> None:
        """The results have the types that both branches yield."""
        yields = [region.block.last_op for region in op.regions if region.blocks]
        ends = [end for end in yields if isinstance(end, YieldOp)]
        if op.results and (types := self.unified(op, ends)) is not None:
            self.refine_results(op, types)
            self.convert_operands(ends, op.result_types)

    def infer_function(self, op: FuncOp) -> None:
        """The function returns the types that all its returns do, or more precise declared ones."""
        lasts = [block.last_op for block in op.body.blocks]
        ends = [last for last in lasts if isinstance(last, ReturnOp)]
        if (types := self.unified(op, ends)) is None:
            return
        declared = op.function_type.outputs.data
        refined = [self.refined(op, *pair) for pair in zip(declared, types, strict=True)]
        if any(new is not old for new, old in zip(refined, declared, strict=True)):
            inputs = op.function_type.inputs
            op.properties["function_type"] = FunctionType.from_lists(inputs.data, refined)
        self.convert_operands(ends, refined)

    def check_cast(self, op: CastOp) -> None:
        """A cast keeps its type, which must not contradict what is known of its operand by now."""
        if refine(op.dest.type, op.source.type) is None:
            self.error(op, f"casts {op.source.type} to {op.dest.type}")

    # What they have in common

    def unified(self, op: Operation, ends: Sequence[Operation]) -> Sequence[Attribute] | None:
        """The types of what control flow passes on at any of its ends; None if there are none."""
        types: list[Attribute] = []
        for column in zip(*(end.operand_types for end in ends), strict=True):
            if (type := _unify_all(column)) is None:
                self.error(op, f"gives values of types {' and '.join(map(str, column))}")
                return None
            types.append(type)
        return types if ends else None

    def refined(self, op: Operation, declared: Attribute, inferred: Attribute) -> Attribute:
        """The type of a value that has both types, or as declared if they contradict."""
        if (type := refine(declared, inferred)) is None:
            self.error(op, f"has result type {declared}, but {inferred} is inferred")
            return declared
        return type

    def refine_results(self, op: Operation, types: Sequence[Attribute]) -> None:
        """Retype the results for which more is known than declared."""
        for result, inferred in zip(op.results, types, strict=True):
            if inferred is not result.type:
                type = self.refined(op, result.type, inferred)
                if type is not result.type:
                    self.retype(result, type)

    def retype(self, value: SSAValue, type: Attribute) -> None:
        """Give a result a more precise type; users that cannot follow get the old one by a cast."""
        old, op = value.type, value.owner
        assert isinstance(op, Operation) and op.parent is not None
        self.retyped += 1
        value = Rewriter.replace_value_with_new_type(value, type)
        stuck = [use for use in value.uses if not _follows(use.operation)]
        if stuck:
            cast = _cast(value, old)
            op.parent.insert_op_after(cast, op)
            for use in stuck:
                use.operation.operands[use.index] = cast.dest

    def convert_operands(self, ends: Sequence[Operation], types: Sequence[Attribute]) -> None:
        """Pass on values of exactly these types at each end of control flow."""
        for end in ends:
            for i, (value, type) in enumerate(zip(end.operands, types, strict=True)):
                if value.type != type and refine(value.type, type) is not None:
                    cast = _cast(value, type)
                    assert end.parent is not None
                    end.parent.insert_op_before(cast, end)
                    end.operands[i] = cast.dest


def _cast(value: SSAValue, type: Attribute) -> CastOp:
    owner = value.owner
    location = owner.location if isinstance(owner, Operation) else None
    return CastOp.create(operands=[value], result_types=[type], location=location)


def _unify_all(types: Sequence[Attribute]) -> Attribute | None:
    unified: Attribute | None = types[0]
    for type in types[1:]:
        unified = unified and unify(unified, type)
    return unified


def _follows(user: Operation) -> bool:
    """Whether an operation takes operands of more precise types, or is given a rule for them."""
    if isinstance(user, YieldOp):
        return isinstance(user.parent_op(), IfOp)
    return isinstance(user, InfersType | ReturnOp | CastOp)


# Order


def _inner_first(root: Operation) -> Iterator[Operation]:
    """`root` and the ops nested in it, each after those nested in it; nested modules are left out.

    The IR may change up to the op that was given last. Nothing recurses, so any depth will do.
    """
    pending = [(root, False)]
    while pending:
        op, entered = pending.pop()
        if op.regions and not entered and not isinstance(op, ModuleOp):
            pending.append((op, True))
            blocks = [block for region in op.regions for block in region.blocks]
            pending += [(first, False) for block in reversed(blocks) if (first := block.first_op)]
            continue
        yield op
        if op is not root and (following := op.next_op) is not None:
            pending.append((following, False))


class InferType(ModulePass):
    """Make types as precise as can be inferred, and check them; source: `relay.InferType`."""

    name = "infer-type"
    preserves = (CallGraph,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        ctx.count("retyped", infer_types(module, ctx.diagnostics.error, graph))
