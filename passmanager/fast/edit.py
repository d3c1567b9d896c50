# pyright: reportPrivateUsage=false
"""Edits of the IR: of lists of operations, and of uses.

The private fields of uses and operands are written here, the same ones as in xDSL's
`OpOperands.__setitem__`, which makes three tuples and two views for each use.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue, SSAValues

from .acceleration import choose
from .interface import Editor

__all__ = ["erase", "insert_before", "replace_all_uses", "replace_operands"]


def erase(op: Operation) -> None:
    """Detach `op`, whose results have no uses left, and drop its operands.

    Cheaper than `Operation.erase`, which looks at the uses of all results once more.
    """
    op.detach()
    op.drop_all_references()


def insert_before(op: Operation, *new: Operation) -> None:
    """Insert operations before `op`, which is in a block."""
    assert op.parent is not None
    op.parent.insert_ops_before(new, op)


class _OurEditor:
    def replace_operands(self, op: Operation, operands: SSAValues) -> None:
        for old, new, use in zip(op._operands, operands, op._operand_uses, strict=True):
            # Uses that stay keep their place in the list of uses: a pass that visits users in that
            # order is not disturbed.
            if new is not old:
                old.remove_use(use)
                new.add_use(use)
        op._operands = operands

    def replace_all_uses(self, old: SSAValue, new: SSAValue) -> None:
        if new is old:
            return
        use = old.first_use
        while use is not None:
            # Read first: `add_use` links the use into the list of `new`.
            following = use._next_use
            operands = list(use._operation._operands)
            operands[use._index] = new
            use._operation._operands = SSAValues(operands)
            new.add_use(use)
            use = following
        old.first_use = None
        if new._name is None:
            new._name = old._name


class _EditorOfXDSL:
    def replace_operands(self, op: Operation, operands: SSAValues) -> None:
        op.operands = operands

    def replace_all_uses(self, old: SSAValue, new: SSAValue) -> None:
        old.replace_all_uses_with(new)


_editor: Editor = choose("editing", _OurEditor, _EditorOfXDSL)
replace_operands = _editor.replace_operands
replace_all_uses = _editor.replace_all_uses
