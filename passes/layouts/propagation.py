"""Layout propagation: hooks give operations new layouts, and the operations around them follow.

The shared algorithm of `convert-layout` and `alter-op-layout`, which differ in their hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.interfaces import Conversion, LayoutRule
from ...dialects.relax.layout import Relayout
from ...dialects.relax.shapes import Shape
from ...dialects.relax.tuples import TupleGetItemOp, TupleOp
from ...dialects.relax.types import is_ranked
from ...passmanager.diagnostics.actions import SILENT, Actions
from ...passmanager.fast.access import read_step
from ...passmanager.ir.ordering import in_order
from .rewriter import LayoutRewriter, with_unit_dimensions

__all__ = ["Hook", "change_layouts"]

Hook: TypeAlias = Callable[[Operation], Conversion | None]
"""Choose the layouts of an operation; None leaves the choice to the operations around it."""


def change_layouts(
    root: Operation,
    hooks: Mapping[str, Hook],
    *,
    hooks_ask: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Convert the operations in `root` to the layouts that `hooks` choose, by operation name, and
    let each `LayoutRule` follow the layouts of its operands.

    All other operations, and arguments and results of functions and regions, keep their layouts: a
    `relax.layout_transform` is inserted before the first user that needs a value in another layout,
    one for each value and layout, and a transform and its inverse cancel. Constants are transformed
    at compile time. An operation keeps its layout if a dimension does not split into the blocks of
    the new one, in a region with several blocks, and in a `relax.primitive` function.

    `actions` is asked about each conversion that a hook chooses, unless `hooks_ask`: then the hooks
    have asked, before they changed the IR themselves.
    """
    planner = LayoutPlanner(hooks, hooks_ask, actions)
    planner.visit_all(root)
    rewriter = LayoutRewriter(actions)
    for op, conversion in planner.steps:
        rewriter.apply(op, conversion)
    rewriter.erase_dead()


class LayoutPlanner:
    """Decides which operations are computed in which layouts; leaves the IR as it is.

    A first pass of its own, because an operation can only follow once the layouts of all its
    operands are known, and rules read types and properties in the old layout.
    """

    def __init__(self, hooks: Mapping[str, Hook], hooks_ask: bool, actions: Actions) -> None:
        self.hooks = hooks
        self.hooks_ask = hooks_ask
        self.actions = actions
        self.relayouts: dict[SSAValue, Relayout] = {}
        """The values that will be in another layout."""
        self.unpacked: set[Operation] = set()
        """Tuples whose users only read single elements: the tuples need no layout."""
        self.steps: list[tuple[Operation, Conversion | None]] = []
        """The operations whose operands change, in order; None restores the layouts of operands."""

    def visit_all(self, root: Operation) -> None:
        """Visit the operations nested in `root` in order, each before those in its regions."""
        pending = _blocks_of(root, True)
        # A stack of iterators, not recursion: regions may be nested deeper than calls of Python.
        # The visit of a block resumes where it stopped, after the regions of the operation there.
        while pending:
            ops, free = pending.pop()
            for op in ops:
                operands, _, regions, _ = read_step(op)
                self.visit(op, operands, free)
                if regions:
                    pending.append((ops, free))
                    pending += _blocks_of(op, free)
                    break

    def visit(self, op: Operation, operands: Sequence[SSAValue], free: bool) -> None:
        """Plan the layouts of `op`; it keeps them unless it is `free` to change."""
        hook = self.hooks.get(op.name) if free else None
        if hook is not None and (conversion := self.ask(hook, op)) is not None:
            return self.add(op, conversion)
        # The usual case: nothing before it has changed.
        if self.relayouts.keys().isdisjoint(operands):
            if self.unpacked and isinstance(op, TupleGetItemOp):
                self.visit_item(op)
            return
        conversion = None
        # %t = tuple(%a, %b); tuple_get_item %t[1] becomes %b, in the layout of %b.
        if free and isinstance(op, TupleOp) and _is_only_unpacked(op):
            # A tuple of tensors in several layouts has none of its own: its elements are forwarded.
            self.unpacked.add(op)
            return
        if free and isinstance(op, LayoutRule):
            conversion = self.follow(op, [self.relayouts.get(operand) for operand in operands])
        self.add(op, conversion)

    def visit_item(self, op: TupleGetItemOp) -> None:
        """Give the element of an unpacked tuple the layout of the tuple's operand."""
        if op.tuple.owner in self.unpacked and (element := op.element()) is not None:
            if (relayout := self.relayouts.get(element)) is not None:
                self.relayouts[op.result] = relayout
            self.steps.append((op, None))

    def ask(self, hook: Hook, op: Operation) -> Conversion | None:
        """Return the conversion that `hook` chooses, if it is valid and allowed."""
        if (conversion := hook(op)) is None:
            return None
        try:
            check(op, conversion)
        except VerifyException as error:
            self.missed(op, error)
            return None
        # The hook wants the present layouts. That is no conversion to ask about; but `add` restores
        # operands that would come in another layout.
        if _is_identity(op, conversion):
            return conversion
        if not self.hooks_ask and not self.actions.allowed(op):
            return None
        self.actions.count("converted")
        self.actions.passed(op, "Converted", "converted to other layouts")
        return conversion

    def follow(self, op: LayoutRule, relayouts: Sequence[Relayout | None]) -> Conversion | None:
        """Return the conversion of `op` to the layouts of its operands, None if it has none."""
        try:
            conversion = op.convert_layouts(relayouts)
            check(op, conversion)
        except VerifyException as error:
            self.missed(op, error)
            return None
        self.actions.count("followed")
        return conversion

    def missed(self, op: Operation, error: VerifyException) -> None:
        """Report that `op` keeps its layout."""
        if self.actions.wants_remarks:
            self.actions.missed(op, "KeptLayout", f"stays in its layout: {error}")

    def add(self, op: Operation, conversion: Conversion | None) -> None:
        """Record the conversion of `op` and the layouts of its results."""
        if conversion is not None:
            for result, relayout in zip(op.results, conversion.results, strict=True):
                if relayout is not None and not relayout.is_identity:
                    self.relayouts[result] = relayout
            # Nothing comes or goes in another layout: no step, so that IR without a hook's choice
            # costs one look-up for each operand.
            if self.relayouts.keys().isdisjoint(op.operands) and _is_identity(op, conversion):
                return
        self.steps.append((op, conversion))


def check(op: Operation, conversion: Conversion) -> None:
    """Raise VerifyException unless the shapes of `op` allow the layouts of `conversion`."""
    operands = zip(op.operands, conversion.operands, strict=True)
    for i, (operand, relayout) in enumerate(operands):
        if relayout is not None and not relayout.is_identity:
            expanded = conversion.expanded.get(i, ())
            relayout.transform(with_unit_dimensions(_shape(operand.type), expanded))
    for result, relayout in zip(op.results, conversion.results, strict=True):
        if relayout is not None and not relayout.is_identity:
            relayout.transform(_shape(result.type))


def _shape(type: Attribute) -> Shape:
    if not is_ranked(type):
        raise VerifyException(f"the rank of {type} is not known")
    return type.get_shape()


def _is_identity(op: Operation, conversion: Conversion) -> bool:
    relayouts = (*conversion.operands, *conversion.results)
    return conversion.op is None and all(r is None or r.is_identity for r in relayouts)


def _is_only_unpacked(op: TupleOp) -> bool:
    users = [use.operation for use in op.results[0].uses]
    return all(isinstance(user, TupleGetItemOp) and user.element() is not None for user in users)


def _blocks_of(op: Operation, free: bool) -> list[tuple[Iterator[Operation], bool]]:
    """Return the operations of each block directly in `op`, last block first, and whether they are
    free to change."""
    if "relax.primitive" in op.attributes:
        free = False
    return [
        # With several blocks, the order in the text need not be one of dominance: the layout of an
        # operand may be chosen after its user was visited.
        (in_order(block), free and len(region.blocks) == 1)
        for region in reversed(op.regions)
        for block in reversed(region.blocks)
    ]
