"""Inline: calls of private functions are replaced by what these do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, ModuleOp, UnknownLoc
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...analysis.call_graph import CallGraph, References
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ...passmanager.remarks import Remarks
from ..generic.dead_code_elimination import PRIVATE

__all__ = ["Inline", "inline_functions"]

LEFT_ALONE = ("relax.primitive", "relax.composite", "passline.skip_optimization")
"""Attributes of functions that are units: kernels, what another compiler takes, what nobody is to
touch. Neither are they inlined, nor is anything into them."""


def inline_functions(
    module: ModuleOp,
    max_ops: int = 1000,
    graph: CallGraph | None = None,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> int:
    """Replace calls in `module` by the body of the function that is called; returns how many.

    That is private, has one block, and calls itself neither directly nor through others; if it has
    more than `max_ops` operations, only one call refers to it. Functions that are primitive,
    composite or not to be optimized stay as they are. The location of an inlined operation is its
    own at that of the call. A function that nothing refers to any more goes.
    `gate`, if given, is asked before each, and may keep the call.
    """
    return Inlining(module, max_ops, graph or CallGraph(module), gate, remarks).run()


class Inlining:
    """The state of one run."""

    def __init__(
        self,
        module: ModuleOp,
        max_ops: int,
        graph: CallGraph,
        gate: Callable[[], bool] | None,
        remarks: Remarks | None,
    ) -> None:
        self.module = module
        self.max_ops = max_ops
        self.graph = graph
        self.gate = gate
        self.remarks = remarks or None
        self.inlined = 0
        self.names = References()
        self.references: Counter[str] = Counter()
        """How many operations refer to each symbol."""
        self.sizes: dict[FuncOp, int] = {}
        self.reasons: dict[FuncOp, str] = {}
        """Why a function stays, empty if it does not."""

    def run(self) -> int:
        """Visit the functions, those that are called first: what is inlined is inlined into."""
        if not any(
            isinstance(op, FuncOp) and _is_private(op) for op in self.graph.symbols.values()
        ):
            return 0
        self.count_references(self.module)
        for op in [*self.graph.callees_first()]:
            if isinstance(op, FuncOp) and not _is_left_alone(op):
                for call in [inner for inner in walk(op) if isinstance(inner, CallOp)]:
                    self.visit(call)
        return self.inlined

    def visit(self, call: CallOp) -> None:
        """Inline a call, if its function is one to inline."""
        name = call.callee.string_value()
        func = self.graph.symbols.get(name)
        if not isinstance(func, FuncOp) or not _is_private(func):
            return
        if not _is_in(call, self.module):
            return
        if reason := self.reason_to_stay(func) or _mismatch(call, func):
            if self.remarks is not None:
                self.remarks.missed(call, "NotInlined", reason, Callee=name)
            return
        if self.gate is not None and not self.gate():
            return
        if self.remarks is not None:
            self.remarks.passed(call, "Inlined", "replaced by the function's body", Callee=name)
        self.references[name] -= 1
        if self.references[name]:
            copy = func.clone()
            self.count_references(copy)
            replace_by_body(call, copy.body.block)
        else:
            replace_by_body(call, func.body.block)
            _erase(func)
        self.inlined += 1

    def count_references(self, root: Operation) -> None:
        """Count what `root` and the operations in it refer to."""
        for op in walk(root):
            self.references.update(self.names.of(op))

    def reason_to_stay(self, func: FuncOp) -> str:
        """Why a function is not inlined; empty if it is."""
        if func not in self.reasons:
            if _is_left_alone(func):
                self.reasons[func] = "the function is a unit of its own"
            elif len(func.body.blocks) > 1:
                self.reasons[func] = "the function has more than one block"
            elif func in self.graph.reachable(self.graph.callees(func)):
                self.reasons[func] = "the function is recursive"
            else:
                self.sizes[func] = sum(1 for _ in walk(func))
                self.reasons[func] = ""
        many = self.references[func.sym_name.data] > 1
        if many and self.sizes.get(func, 0) > self.max_ops:
            return "the function is large, and called more than once"
        return self.reasons[func]


def replace_by_body(call: CallOp, body: Block) -> None:
    """Put the operations of a function's body, which is used up, where the call is."""
    parent, end = call.parent, body.last_op
    assert parent is not None and end is not None
    for parameter, argument in zip(body.args, call.arguments, strict=True):
        parameter.replace_all_uses_with(argument)
    results: tuple[SSAValue, ...] = tuple(end.operands)
    ops = [op for op in body.ops if op is not end]
    for op in ops:
        op.detach()
        for inner in walk(op):
            inner.location = called_from(inner.location, call.location)
    parent.insert_ops_before(ops, call)
    for old, new in zip(call.results, results, strict=True):
        old.replace_all_uses_with(new)
    _erase(end)
    _erase(call)


def called_from(callee: LocationAttr, caller: LocationAttr) -> LocationAttr:
    """The location of an operation that was at `callee` and is called at `caller`."""
    if isinstance(callee, UnknownLoc):
        return caller
    return callee if isinstance(caller, UnknownLoc) else CallSiteLoc(callee, caller)


def _mismatch(call: CallOp, func: FuncOp) -> str:
    """Why a call does not fit its function; empty if it does."""
    end = func.body.block.last_op
    if not isinstance(end, ReturnOp):
        return "the function does not end with a return"
    given = (call.operand_types, call.result_types)
    if given != (func.body.block.arg_types, end.operand_types):
        return "the call has other types than the function"
    return ""


def _is_left_alone(func: FuncOp) -> bool:
    return any(name in func.attributes for name in LEFT_ALONE)


def _is_private(func: FuncOp) -> bool:
    """Whether it is a private function with a body."""
    return func.sym_visibility == PRIVATE and bool(func.body.blocks)


def _is_in(op: Operation, module: ModuleOp) -> bool:
    """Whether the symbols that an operation names are those of the module, not of one in it."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    return parent is module


def _erase(op: Operation) -> None:
    op.detach()
    op.drop_all_references()


@dataclass(frozen=True)
class Inline(ModulePass):
    """Replace calls of private functions by what these do; source: `relay.Inline`, which asks for
    an attribute."""

    name = "inline"
    opt_level = 1
    preserves = ("infer-type",)

    max_ops: int = 1000
    """The most operations of a function that is called more than once."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        inlined = inline_functions(module, self.max_ops, graph, ctx.gate(self.name), ctx.remarks)
        ctx.count("inlined", inlined)
