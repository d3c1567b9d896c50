"""The verification of SSA dominance, which xDSL does not check."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, ErasedSSAValue, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ...errors import InvalidIRError
from ...fast.access import read_step
from ..location import file_location, place_of
from ..per_class import PerClass
from ..symbols import name_of, symbol_of
from ..walk import ancestors
from .dominance import DominanceInfo, is_graph_region
from .dominator_tree import DominatorTree

__all__ = ["invalid", "verify_dominance", "verify_scope"]


def invalid(op: Operation, message: str) -> InvalidIRError:
    """Return the error that `op` is invalid; the message is put after the name of the op. A note
    shows an op that has no location, as one that a pass made."""
    error = InvalidIRError(f"'{name_of(op)}' op {message}", op)
    if file_location(op.location) is None and not isinstance(op, ModuleOp):
        error.add_note(f"the operation has no location; it is{_in_function(op)}: {_text(op)}")
    return error


def _in_function(op: Operation) -> str:
    """Return ` in @f` for an op in a function or another symbol, else empty text."""
    around = (symbol_of(holder) for holder in ancestors(op) if holder is not op)
    return next((f" in @{name}" for name in around if name), "")


def _text(op: Operation) -> str:
    """Return an op with its operands and types, without its regions."""
    from ..text.printer import ExactPrinter, PrintStyle  # for invalid IR alone

    stream = StringIO()
    style = PrintStyle(generic=True, skip_regions=True, elide_elements=16)
    try:
        ExactPrinter(stream, style).print_op(op)
    except Exception:  # of a printer that assumes what is invalid
        return f"'{name_of(op)}'"
    return stream.getvalue()


DOMINANCE_NOTE = (
    "this check of SSA dominance, which xDSL does not make, is turned off alone by "
    "--no-verify-dominance, or PassContext(verify_dominance=False)"
)


def verify_dominance(op: Operation) -> None:
    """Raise InvalidIRError for the first use below `op` whose definition does not dominate it."""
    # Values do not pass the border of an isolated op, so each scope is checked alone.
    scopes = [op]
    for scope in scopes:
        scopes += verify_scope(scope)


def verify_scope(op: Operation) -> list[Operation]:
    """Verify dominance below `op`, but not inside of isolated ops, and return these.

    Errors: InvalidIRError for the first use that its definition does not dominate.
    """
    verifier = _DominanceVerifier(op)
    verifier.run()
    return verifier.isolated


_is_isolated = PerClass[Operation, bool](
    lambda op_class: op_class.has_trait(IsolatedFromAbove, value_if_unregistered=False)
)
"""Whether the regions of an op may use no values from outside."""


class _DominanceVerifier:
    """The check of all uses in one isolated scope, in one walk in the order of dominance.

    The walk goes down the dominator trees of the regions. The values defined on the way down are
    visible, and removed when the subtree of their block is done. So a use costs one look-up,
    however far away its definition is, and the walk is linear.
    """

    def __init__(self, root: Operation) -> None:
        self.isolated: list[Operation] = []
        self._root = root
        self._visible: set[int] = set()  # ids, as xDSL's hash of a value is slow
        self._trail: list[int] = []  # the visible values in the order of their definition
        # A stack of work items, as recursion would limit the depth of nesting. Block: enter it;
        # Operation: its regions are done, continue after it; Region: enter its unreachable blocks;
        # int: cut the trail to this length.
        self._pending: list[Block | Operation | Region | int] = []
        self._children: dict[Block, list[Block]] = {}
        self._unreachable: set[Block | None] = set()

    def run(self) -> None:
        """Check all uses; afterwards `isolated` has the isolated ops, which were not entered."""
        self._push_regions(self._root)
        while self._pending:
            match self._pending.pop():
                case int(length):
                    self._visible.difference_update(self._trail[length:])
                    del self._trail[length:]
                case Operation() as op:
                    self._define(op.results)
                    self._scan(op.next_op)
                case Block() as block:
                    self._enter(block)
                case region:
                    self._enter_unreachable(region)

    def _push_regions(self, op: Operation) -> None:
        for region in reversed(op.regions):
            if (entry := region.first_block) is None:
                continue
            if entry.next_block is not None:
                tree = DominatorTree(entry)
                self._children |= zip(tree.blocks, tree.children)
                self._unreachable |= {b for b in region.blocks if b not in tree.numbers}
                # Below the entry on the stack: unreachable blocks come last, when those that
                # dominate are done.
                self._pending.append(region)
            self._pending.append(entry)

    def _enter(self, block: Block) -> None:
        """Check a block; the blocks that it immediately dominates come next."""
        self._pending.append(len(self._trail))
        self._pending += reversed(self._children.get(block, ()))
        self._define(block.args)
        if block.parent is not None and is_graph_region(block.parent):
            for op in block.ops:
                self._define(op.results)
        self._scan(block.first_op)

    def _enter_unreachable(self, region: Region) -> None:
        """Enter the unreachable blocks of a region, with all values of the region visible.

        MLIR is stricter in one case: it refuses an op nested in an unreachable block that uses a
        later value of that block.
        """
        blocks = [block for block in region.blocks if block in self._unreachable]
        if not blocks:
            return
        self._pending.append(len(self._trail))
        self._pending += reversed(blocks)
        for block in region.blocks:
            self._define(block.args)
            for op in block.ops:
                self._define(op.results)

    def _define(self, values: Iterable[SSAValue]) -> None:
        # What was visible before stays so when the trail is cut: in a graph region the results are
        # defined at the start, and once more when the scan meets the op.
        ids = [id(value) for value in values if id(value) not in self._visible]
        self._visible.update(ids)
        self._trail += ids

    def _scan(self, op: Operation | None) -> None:
        """Check the operands of `op` and the ops after it, up to an op with regions to enter."""
        visible, trail = self._visible, self._trail
        while op is not None:
            operands, results, regions, next_op = read_step(op)
            for operand in operands:
                # The fast path ends here; everything that `_check_invisible` does is for a few
                # uses.
                if id(operand) not in visible:
                    self._check_invisible(op, operand)
            if regions:
                if not _is_isolated[type(op)]:
                    self._pending.append(op)
                    self._push_regions(op)
                    return
                self.isolated.append(op)
            for result in results:
                if (key := id(result)) not in visible:
                    visible.add(key)
                    trail.append(key)
            op = next_op

    def _check_invisible(self, op: Operation, operand: SSAValue) -> None:
        """Raise unless `operand` is defined above the root, or the use is unreachable."""
        if op.parent in self._unreachable and not self._is_outside(operand):
            return
        index = [*op.operands].index(operand)
        if isinstance(operand, ErasedSSAValue):
            raise invalid(op, f"operand #{index} is an erased value")
        if _stands_in_any_order(op, operand):
            return
        isolated = _is_isolated[type(self._root)]
        if not isolated and self._surroundings.properly_dominates(operand, self._root):
            return
        outside = self._is_outside(operand)
        problem = "is defined outside of the region" if outside else "does not dominate this use"
        error = invalid(op, f"operand #{index} {problem}: {_describe(operand)}")
        error.add_note(DOMINANCE_NOTE)
        raise error

    def _is_outside(self, operand: SSAValue) -> bool:
        """Return whether an operand is defined outside of the root, which is isolated."""
        return (
            _is_isolated[type(self._root)]
            and not isinstance(operand, ErasedSSAValue)
            and not _is_below(operand, self._root)
        )

    @cached_property
    def _surroundings(self) -> DominanceInfo:
        """The dominance in all IR around the root."""
        top = self._root
        while (parent := top.parent_op()) is not None:
            top = parent
        return DominanceInfo(top)


_CYCLIC_DIALECTS = ("eqsat", "equivalence")
"""xDSL's dialects of e-graphs: a class of equivalent values may contain what is computed of it."""


def _stands_in_any_order(op: Operation, operand: SSAValue) -> bool:
    """Return whether nothing is known of the order of ops in the region of `operand`, which holds
    `op`: a region of xDSL's `test.op`, which stands for any op, or with an e-graph.

    Asked of uses that look invalid alone, as it looks at all ops of the region.
    """
    from xdsl.dialects.test import TestOp  # a hundredth of a second, for invalid IR alone

    block = operand.owner if isinstance(operand.owner, Block) else operand.owner.parent
    region = None if block is None else block.parent
    inside = op.parent
    if region is None or inside is None or region.find_ancestor_block_in_region(inside) is None:
        return False
    if type(region.parent) is TestOp:
        return True
    ops = (inner for inner_block in region.blocks for inner in inner_block.ops)
    return any(inner.dialect_name() in _CYCLIC_DIALECTS for inner in ops)


def _is_below(value: SSAValue, op: Operation) -> bool:
    return value.owner is not op and op.is_ancestor(value.owner)


def _describe(value: SSAValue) -> str:
    """Return text that identifies `value` in an error: its name hint, its index and its owner."""
    hint = "" if value.name_hint is None else f"%{value.name_hint}, "
    if isinstance(value, OpResult):
        return f"{hint}result #{value.index} of {_with_place(value.op)}"
    holder = value.owner.parent_op()
    of = "" if holder is None else f" of {_with_place(holder)}"
    return f"{hint}argument #{cast(BlockArgument, value).index} of a block{of}"


def _with_place(op: Operation) -> str:
    return f"'{name_of(op)}'{place_of(op)}"
