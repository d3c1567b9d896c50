"""Regions for other back ends: calls of composite functions become calls of one function."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation

from ....compiler.analysis.fusion.merge_groups import MergeGroups, dependences
from ....compiler.interpreters.codegens import CODEGEN
from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.ir.checks.dominance import is_graph_region
from ....passmanager.ir.effects import NESTED, is_kept
from ....passmanager.ir.walk import walk
from ...generic.analysis.purity import Purity
from .outliner import Outliner

__all__ = ["composite_codegen", "merge_composites"]


def composite_codegen(func: Operation | None) -> str:
    """Return the back end of a composite function, the part of its `relax.composite` before the
    first dot; empty for other functions."""
    name = None if func is None else func.attributes.get("relax.composite")
    if not isinstance(name, StringAttr) or "." not in name.data:
        return ""
    return name.data.partition(".")[0]


def merge_composites(
    func: Operation,
    outliner: Outliner,
    purity: Purity,
    *,
    merge: bool = True,
    actions: Actions = SILENT,
) -> None:
    """Outline the calls of composite functions in `func` into functions with `relax.codegen`.

    Calls of one back end that use each other's results become one function, in each block, unless
    one depends on another through an operation that stays outside. Without `merge` each call gets a
    function of its own.
    """
    merger = CompositeMerger(outliner, purity, actions)
    for block in _blocks(func):
        # Each block alone: a region of another back end is one call, which cannot span a branch.
        groups = MergeGroups(merger.codegen_of, merger.is_ordered)
        groups.add(block)
        found = groups.found()
        if not merge:
            found = [[call] for calls in found for call in calls]
        for ops in found:
            if actions.allowed(ops[-1]):
                merger.outline(ops)


class CompositeMerger:
    """Outlines groups of calls of composite functions."""

    def __init__(self, outliner: Outliner, purity: Purity, actions: Actions) -> None:
        self.outliner = outliner
        self.purity = purity
        self.actions = actions
        self.regions: set[Operation] = set()
        """The calls that took the place of groups: they are pure, but `purity` does not know their
        functions."""

    def codegen_of(self, op: Operation) -> str | None:
        """Return the back end of the composite function that `op` calls; None for other operations,
        and for calls with effects or without a used result."""
        if not isinstance(op, CallOp) or not any(result.first_use for result in op.results):
            return None
        codegen = composite_codegen(self.purity.callee(op))
        # A call with effects would have to keep its place among the others with effects.
        return codegen if codegen and self.purity.is_pure(op) else None

    def is_ordered(self, op: Operation) -> bool:
        """Return whether `op` must stay in the order of the operations with effects."""
        # Nested operations count: a branch that writes is ordered as a whole.
        return is_kept[type(op)] or any(
            inner not in self.regions
            and not is_kept[type(inner)]
            and self.purity.effects(inner) & ~NESTED
            for inner in walk(op)
        )

    def outline(self, ops: Sequence[Operation]) -> None:
        """Outline calls of composite functions of one back end, in the order of their block."""
        codegen = self.codegen_of(ops[-1])
        assert codegen is not None
        inside = {*ops}
        # The call takes the place of the last of `ops`, which all users have to follow.
        self.delay_users(ops, inside)
        results = [result for op in ops for result in op.results]
        call = self.outliner.outline(
            ops,
            {CODEGEN: StringAttr(codegen)},
            [r for r in results if any(use.operation not in inside for use in r.uses)],
            name=f"{codegen}_region",
        )
        self.regions.add(call)
        self.actions.count("regions")
        self.actions.passed(call, "Merged", "in one function", Codegen=codegen, Calls=len(ops))

    def delay_users(self, ops: Sequence[Operation], inside: Collection[Operation]) -> None:
        """Move the operations between `ops` that depend on one of them behind the last one."""
        block, last = ops[0].parent, ops[-1]
        assert block is not None
        span: list[Operation] = []
        op = ops[0]
        while op is not last:
            span.append(op)
            op = op.next_op
            assert op is not None
        if len(span) < len(ops):
            return  # there are no others
        users: dict[Operation, None] = {}
        #   a = f(x); u = user(a); b = g(x)     ->     a = f(x); b = g(x); u = user(a)
        # `u` cannot be needed by `b`, as the group would be a cycle then (`MergeGroups`).
        for op, needed in dependences(span, self.is_ordered):
            if op not in inside and any(p in inside or p in users for p in needed):
                users[op] = None
        # Each right behind `last`, so the last one is put there first.
        for op in reversed(users):
            op.detach()
            block.insert_op_after(op, last)


def _blocks(func: Operation) -> Iterator[Block]:
    """Yield the blocks nested in `func` whose operations stand in an order."""
    for op in [*walk(func)]:
        for region in op.regions:
            if not is_graph_region(region):
                yield from region.blocks
