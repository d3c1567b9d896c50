"""Inline: replace calls by the bodies of the functions that they call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, UnregisteredOp
from xdsl.ir import Operation, Region
from xdsl.traits import CallableOpInterface, IsolatedFromAbove, IsTerminator

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.clone import clone
from ...passmanager.fast.edit import erase
from ...passmanager.ir.calls import CALLABLES, CALLS, callable_of, callable_region
from ...passmanager.ir.symbols import References, SymbolTables
from ...passmanager.ir.walk import PRIVATE, first_ops, name_of, symbol_of, walk
from .call_graph import is_opaque
from .inline_call import mismatch, replace_by_body

NO_LIMIT = -1


@dataclass(frozen=True)
class InlineCost:
    """The limits on what is inlined."""

    max_ops: int = 1000
    """A callable with more operations is inlined only at its last reference."""
    threshold: int = NO_LIMIT
    """The greatest ratio of the operations of the callable to those of the caller, in percent."""


def inline_calls(
    root: Operation, cost: InlineCost = InlineCost(), actions: Actions = SILENT
) -> bool:
    """Replace the calls in `root` (`CallOpInterface`) by the bodies of what they call
    (`CallableOpInterface`), and erase private callables without references; return whether any call
    was replaced.

    Callables are visited before their callers, so that a body is final when it is copied. Not
    inlined are recursive callables, opaque ones (`is_opaque`), calls and callables with the
    attribute `no_inline`, and bodies with unregistered operations.
    """
    return _Inliner(root, cost, actions).run()


class _Node:
    """A callable operation with a body, and what is known about it."""

    def __init__(self, op: Operation, region: Region) -> None:
        self.op = op
        self.region = region
        self.calls: list[tuple[Operation, _Node]] = []
        """The calls in it, but not in callables nested in it, with what they call."""
        self.size = 0
        self.has_unregistered = False
        self.is_recursive = False
        self.needs: dict[_Node, None] = {}
        """The callables that it calls or contains."""
        self.place: int | None = None
        self.references = 0
        self.planned = 0
        """The number of calls that are going to be inlined."""
        self.discardable = symbol_of(op) != "" and op.get_attr_or_prop("sym_visibility") == PRIVATE


class _Inliner:
    def __init__(self, root: Operation, cost: InlineCost, actions: Actions) -> None:
        self.cost = cost
        self.actions = actions
        self.symbols = SymbolTables()
        self.references = References()
        self.nodes: dict[Operation, _Node] = {}
        for op in walk(root):
            if (region := callable_region(op)) is not None:
                self.nodes[op] = _Node(op, region)
        self.roots: list[tuple[Operation, _Node]] = []
        """The calls outside of all callables."""
        self.scan(root)

    def scan(self, root: Operation) -> None:
        """Count the references in `root` and note its calls."""
        for op, around in _with_callables(root, self.nodes):
            node = self.nodes.get(op, around)
            if node is not None:
                if around not in (None, node):
                    around.needs[node] = None
                node.size += op is not node.op
                node.has_unregistered |= isinstance(op, UnregisteredOp)
            self.count(op, 1)
            if CALLS[type(op)] is None:
                continue
            called = callable_of(op, self.symbols)
            if called is None:
                self.explain_unresolved(op)
            elif (target := self.nodes.get(called)) is not None:
                (node.calls if node else self.roots).append((op, target))
                if node is not None:
                    node.needs[target] = None

    def count(self, op: Operation, times: int) -> None:
        """Add the references that `op` itself has to callables."""
        for reference in self.references.references(op):
            found = self.symbols.lookup(op, reference)
            if found is not None and (node := self.nodes.get(found)) is not None:
                node.references += times

    def run(self) -> bool:
        """Inline, and erase the callables that nothing refers to."""
        order = _callees_first(self.nodes.values())
        inlined = False
        for node in order:
            inlined |= self.inline_into(node.calls, node)
        inlined |= self.inline_into(self.roots, None)
        for node in reversed(order):
            if node.discardable and not node.references and self.actions.allowed(node.op):
                self.discard(node)
        return inlined

    def inline_into(self, calls: list[tuple[Operation, _Node]], caller: _Node | None) -> bool:
        """Inline the calls in a callable."""
        chosen = [(call, node) for call, node in calls if self.may_inline(call, node, caller)]
        # Backwards: a body of several blocks splits the block of the call, and what is behind it
        # has been split off by then. A body of one block does not care.
        for call, node in reversed(chosen):
            self.inline(call, node, caller)
        return bool(chosen)

    def may_inline(self, call: Operation, node: _Node, caller: _Node | None) -> bool:
        """Return whether `call` is to be inlined; a remark says why not."""
        if node.op.parent is None:
            return False
        reason = self.reason_against(call, node, caller)
        if reason:
            self.actions.missed(call, "NotInlined", reason, Callee=symbol_of(node.op))
            return False
        if not self.actions.allowed(call):
            return False
        if caller is not None:
            caller.size += node.size - 1
        node.planned += 1
        return True

    def reason_against(self, call: Operation, node: _Node, caller: _Node | None) -> str:
        """Return why `call` is not inlined, or an empty text if it is."""
        if _has(call, "no_inline") or _has(node.op, "no_inline"):
            return "no_inline"
        if is_opaque(node.op):
            return "the function is primitive, composite or excluded from optimization"
        if caller is not None and is_opaque(caller.op):
            return "the caller is primitive, composite or excluded from optimization"
        if call.has_trait(IsTerminator, value_if_unregistered=False):
            return "the call is a terminator"
        if node.is_recursive:
            return "the function is recursive"
        if node.has_unregistered:
            return "the function has unregistered operations"
        if reason := mismatch(call, node.region):
            return reason
        many = not node.discardable or node.references - node.planned > 1
        if many and node.size > self.cost.max_ops:
            return "the function is large, and called more than once"
        if self.cost.threshold != NO_LIMIT:
            size = 0 if caller is None else caller.size
            if not self.cost.threshold or (size and node.size * 100 // size > self.cost.threshold):
                return "the function is large in comparison with the caller"
        return ""

    def inline(self, call: Operation, node: _Node, caller: _Node | None) -> None:
        """Replace a call by the body of a callable, a copy unless nothing else refers to it."""
        self.actions.passed(
            call, "Inlined", "replaced by the function's body", Callee=symbol_of(node.op)
        )
        self.actions.count("inlined")
        self.count(call, -1)
        node.planned -= 1
        if node.discardable and not node.references and node.op.parent is not None:
            self.count(node.op, -1)
            replace_by_body(call, node.region)
            erase(node.op)
            return
        copy = clone(node.op)
        # The copy is nowhere in the module yet, and its references mean what those of the original
        # mean.
        for op in walk(node.op):
            if op is not node.op:
                self.count(op, 1)
        region = callable_region(copy)
        assert region is not None
        replace_by_body(call, region)

    def discard(self, node: _Node) -> None:
        """Erase a callable without references."""
        if node.op.parent is None:
            return
        for op in walk(node.op):
            self.count(op, -1)
        self.actions.passed(node.op, "Discarded", "private, and nothing refers to it")
        self.actions.count("discarded")
        erase(node.op)

    def explain_unresolved(self, call: Operation) -> None:
        """Say that a callee lacks the interface."""
        interface = CALLS[type(call)]
        assert interface is not None
        callee = interface.get_callee(call)
        if self.actions.wants_remarks and isinstance(callee, SymbolRefAttr):
            found = self.symbols.lookup(call, callee)
            if found is not None and CALLABLES[type(found)] is None:
                reason = f"'{name_of(found)}' does not implement {CallableOpInterface.__name__}"
                self.actions.missed(call, "NotInlined", reason, Callee=symbol_of(found))


def _has(op: Operation, attribute: str) -> bool:
    return attribute in op.attributes or attribute in op.properties


def _with_callables(
    root: Operation, nodes: dict[Operation, _Node]
) -> Iterator[tuple[Operation, _Node | None]]:
    """Yield the operations in `root`, itself included, in preorder, each with the innermost
    callable around it."""
    pending: list[tuple[Operation, _Node | None]] = [(root, None)]
    while pending:
        op, around = pending.pop()
        current: Operation | None = op
        while current is not None:
            yield current, around
            following = None if current is root else current.next_op
            if current.regions:
                if following is not None:
                    pending.append((following, around))
                inner = nodes.get(current, around)
                pending += [(first, inner) for first in first_ops(current)]
                break
            current = following


def _callees_first(nodes: Iterable[_Node]) -> list[_Node]:
    """Return the callables, each after those that it calls or contains, except in a recursion; mark
    the recursive ones.

    Strongly connected components by Tarjan's algorithm.
    """
    order: list[_Node] = []
    index: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    component: list[_Node] = []
    for root in nodes:
        path = [] if root in index else [(root, iter(root.needs))]
        while path:
            node, rest = path[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                component.append(node)
            if (needed := next(rest, None)) is not None:
                if needed not in index:
                    path.append((needed, iter(needed.needs)))
                elif needed.place is None:  # on the stack
                    low[node] = min(low[node], index[needed])
                continue
            path.pop()
            if path:
                low[path[-1][0]] = min(low[path[-1][0]], low[node])
            if low[node] == index[node]:
                members = [component.pop()]
                while members[-1] is not node:
                    members.append(component.pop())
                for member in reversed(members):
                    member.place = len(order)
                    member.is_recursive = len(members) > 1 or member in member.needs
                    order.append(member)
    return order


@dataclass(frozen=True)
class Inline(ModulePass):
    """Replace calls by the bodies of the functions that they call.

    Calls and functions are operations with the interfaces of calls and callables. Private functions
    without calls left are removed. Source: MLIR's pass of this name.

    Before:

        func.func private @double(%x: f32) -> f32 {
          %0 = arith.addf %x, %x : f32
          func.return %0 : f32
        }
        func.func @main(%y: f32) -> f32 {
          %0 = func.call @double(%y) : (f32) -> f32
          func.return %0 : f32
        }

    After:

        func.func @main(%y: f32) -> f32 {
          %0 = arith.addf %y, %y : f32
          func.return %0 : f32
        }
    """

    name = "inline"
    opt_level = 1
    preserves = ("infer-type",)

    max_ops: int = field(default=1000, metadata={"minimum": 0})
    """Inline a function with several references only if it has no more operations than this."""
    default_pipeline: str = "canonicalize"
    """The passes that run on each function before and after; empty for none."""
    op_pipelines: tuple[str, ...] = ()
    """Other passes for the functions of some names, as `func.func(canonicalize,cse)`."""
    max_iterations: int = field(default=4, metadata={"minimum": 1})
    """How often to inline at most, while that makes further calls known."""
    inlining_threshold: int = field(default=NO_LIMIT, metadata={"minimum": NO_LIMIT})
    """The greatest size of the function in percent of the caller's; -1: no limit."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        cost = InlineCost(self.max_ops, self.inlining_threshold)
        for _ in range(self.max_iterations):
            self.simplify(module, ctx)
            if not inline_calls(module, cost, ctx.actions):
                break

    def simplify(self, module: ModuleOp, ctx: PassContext) -> None:
        """Run the pipelines on the functions."""
        if not self.default_pipeline and not self.op_pipelines:
            return
        from ...passmanager.pipeline import parse_pipeline
        from ...passmanager.registry import installed
        from .canonicalize.canonicalize import Canonicalize
        from .cse import CommonSubexpressionElimination

        # The registry has xDSL's passes of these names, which do not end on cycles of branches.
        available = installed().passes | {
            "canonicalize": lambda: Canonicalize,
            "cse": lambda: CommonSubexpressionElimination,
        }
        own = {text.partition("(")[0].strip(): text for text in _top_level(self.op_pipelines)}
        names = dict.fromkeys(op.name for op in walk(module) if _is_isolated_callable(type(op)))
        for name in names:
            text = own.get(name) or f"{name}({self.default_pipeline})"
            if name in own or self.default_pipeline:
                parse_pipeline(text, available).apply(ctx.ir_context, module)


def _is_isolated_callable(cls: type[Operation]) -> bool:
    isolated = cls.has_trait(IsolatedFromAbove, value_if_unregistered=False)
    return isolated and CALLABLES[cls] is not None


def _top_level(parts: Iterable[str]) -> list[str]:
    """Return the texts of a list that was split at the commas in parentheses, too."""
    found: list[str] = []
    for part in parts:
        if found and found[-1].count("(") > found[-1].count(")"):
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found
