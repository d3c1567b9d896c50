"""Inline: replace calls of private functions by their bodies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, ModuleOp, UnknownLoc
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.clone import clone
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.symbols import References
from ...passmanager.ir.walk import PRIVATE, ancestors, walk
from ..generic.call_graph import CallGraph, is_opaque


def inline_functions(
    module: ModuleOp,
    max_ops: int = 1000,
    graph: CallGraph | None = None,
    actions: Actions = SILENT,
) -> None:
    """Replace each call in `module` of a private function by the function's body.

    The function has one block and is not recursive, directly or through others. If it has more
    than `max_ops` operations, it is inlined only if the call is its only reference. Nothing is
    inlined out of or into opaque functions (`is_opaque`). The location of an inlined operation is
    a call site location (`callsite(callee at caller)`). A function whose last reference is inlined
    is erased.
    """
    Inliner(module, max_ops, graph or CallGraph(module), actions).run()


class Inliner:
    """Inlines functions bottom-up in the call graph, so that a body is final when it is copied."""

    def __init__(self, module: ModuleOp, max_ops: int, graph: CallGraph, actions: Actions) -> None:
        self.module = module
        self.max_ops = max_ops
        self.graph = graph
        self.actions = actions
        self.names = References()
        self.references: Counter[str] = Counter()
        """The number of references to each symbol."""
        self.sizes: dict[FuncOp, int] = {}
        self.reasons: dict[FuncOp, str] = {}
        """The reason why a function is never inlined, empty if there is none."""

    def run(self) -> None:
        """Visit the calls of each function, callees before callers."""
        if not any(
            isinstance(op, FuncOp) and _is_private(op) for op in self.graph.symbols.values()
        ):
            return
        # By count, and not by asking the call graph again: inlining moves references and adds new
        # ones.
        self.count_references(self.module)
        for op in [*self.graph.callees_first()]:
            if isinstance(op, FuncOp) and not is_opaque(op):
                for call in [inner for inner in walk(op) if isinstance(inner, CallOp)]:
                    self.visit(call)

    def visit(self, call: CallOp) -> None:
        """Inline `call` if its function can be inlined."""
        name = call.callee.string_value()
        func = self.graph.symbols.get(name)
        if not isinstance(func, FuncOp) or not _is_private(func):
            return
        # A call in a nested module means a function of that one.
        if not _resolves_symbols_in(call, self.module):
            return
        if reason := self.reason_against(func) or _mismatch(call, func):
            self.actions.missed(call, "NotInlined", reason, Callee=name)
            return
        if not self.actions.allowed(call):
            return
        self.actions.passed(call, "Inlined", "replaced by the function's body", Callee=name)
        self.actions.count("inlined")
        self.references[name] -= 1
        # The last reference takes the body itself: no copy is made, and the function is gone.
        if self.references[name]:
            copy = clone(func)
            self.count_references(copy)
            replace_by_body(call, copy.body.block)
        else:
            replace_by_body(call, func.body.block)
            erase(func)

    def count_references(self, root: Operation) -> None:
        """Count the references in `root` and the operations nested in it."""
        for op in walk(root):
            self.references.update(self.names.of(op))

    def reason_against(self, func: FuncOp) -> str:
        """Return why `func` is not inlined, or an empty text if it can be."""
        if func not in self.reasons:
            if is_opaque(func):
                self.reasons[func] = (
                    "the function is primitive, composite or excluded from optimization"
                )
            elif len(func.body.blocks) > 1:
                self.reasons[func] = "the function has more than one block"
            # Asked once for each function, and only of those that are called: O(functions) each.
            elif func in self.graph.reachable(self.graph.callees(func)):
                self.reasons[func] = "the function is recursive"
            else:
                self.sizes[func] = sum(1 for _ in walk(func))
                self.reasons[func] = ""
        # Not cached: a large function may come down to its last call.
        many = self.references[func.sym_name.data] > 1
        if many and self.sizes.get(func, 0) > self.max_ops:
            return "the function is large, and called more than once"
        return self.reasons[func]


def replace_by_body(call: CallOp, body: Block) -> None:
    """Replace `call` by the operations of `body`, which are moved out of it."""
    end = body.last_op
    assert end is not None
    # Uses are moved before operations, so that nothing of the body refers to it.
    for parameter, argument in zip(body.args, call.arguments, strict=True):
        parameter.replace_all_uses_with(argument)
    results: tuple[SSAValue, ...] = tuple(end.operands)
    ops = [op for op in body.ops if op is not end]
    for op in ops:
        op.detach()
        for inner in walk(op):
            inner.location = called_from(inner.location, call.location)
    insert_before(call, *ops)
    for old, new in zip(call.results, results, strict=True):
        old.replace_all_uses_with(new)
    erase(end)
    erase(call)


def called_from(callee: LocationAttr, caller: LocationAttr) -> LocationAttr:
    """Return the location of an operation at `callee` that is inlined into a call at `caller`."""
    if isinstance(callee, UnknownLoc):
        return caller
    return callee if isinstance(caller, UnknownLoc) else CallSiteLoc(callee, caller)


def _mismatch(call: CallOp, func: FuncOp) -> str:
    """Return why `call` does not fit `func`, or an empty text if it does."""
    end = func.body.block.last_op
    if not isinstance(end, ReturnOp):
        return "the function does not end with a return"
    given = (call.operand_types, call.result_types)
    if given != (func.body.block.arg_types, end.operand_types):
        return "the call has other types than the function"
    return ""


def _is_private(func: FuncOp) -> bool:
    """Return whether `func` is a private function with a body."""
    return func.sym_visibility == PRIVATE and bool(func.body.blocks)


def _resolves_symbols_in(op: Operation, module: ModuleOp) -> bool:
    """Return whether `module` is the nearest module around `op`, the scope of its symbols."""
    return next((a for a in ancestors(op) if isinstance(a, ModuleOp)), None) is module


@dataclass(frozen=True)
class Inline(ModulePass):
    """Replace calls of private functions by their bodies.

    Source: `relay.Inline`, which inlines only functions with the attribute `Inline`.

    Before:

        func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func @main(%y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @double(%y) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }

    After:

        func.func @main(%y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.add %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """

    name = "inline"
    opt_level = 1
    preserves = ("infer-type",)
    acts_on = (CallOp,)

    max_ops: int = field(default=1000, metadata={"minimum": 0})
    """Inline a function with several references only if it has no more operations than this."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        inline_functions(module, self.max_ops, graph, ctx.actions)
