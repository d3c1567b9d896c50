"""An iterative walk over IR, and the symbols in it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import count
from typing import TypeVar, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnregisteredOp
from xdsl.ir import Operation

# An iterative walk over IR: xDSL's own `walk` recurses, at the price of a frame per level for each
# op.


OpT = TypeVar("OpT", bound=Operation)


def walk(root: Operation) -> Iterator[Operation]:
    """Yield `root` and all ops nested in it in preorder; the IR must not change meanwhile."""
    yield root
    pending = first_ops(root)
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            yield op
            if op.regions:  # first the ops nested in it, then those after it
                if (rest := op.next_op) is not None:
                    pending.append(rest)
                pending += first_ops(op)
                break
            op = op.next_op


def ancestors(op: Operation | None) -> Iterator[Operation]:
    """Yield `op` and the ops around it, innermost first."""
    while op is not None:
        yield op
        op = op.parent_op()


def top_level_op(op: Operation) -> Operation:
    """Return the op directly in the module that is or holds `op`; for the module, the module."""
    while (parent := op.parent_op()) is not None and parent.parent is not None:
        op = parent
    return op


def ops_of(root: Operation, *classes: type[OpT]) -> list[OpT]:
    """Return `root` and the ops nested in it that are instances of one of `classes`, in preorder;
    the IR may change while the list is used.
    """
    # One `issubclass` for each class of ops: `isinstance` of an abstract class takes 0.3 us.
    known: dict[type[Operation], bool] = {}
    found: list[Operation] = []
    for op in walk(root):
        if (is_one := known.get(type(op))) is None:
            is_one = known[type(op)] = issubclass(type(op), classes)
        if is_one:
            found.append(op)
    return cast("list[OpT]", found)


def first_ops(op: Operation) -> list[Operation]:
    """Return the first op of each block directly in `op`, last block first."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [first for block in reversed(blocks) if (first := block.first_op) is not None]


# The names of operations: of their classes, and the symbols by which they are referenced; and the
# mark on functions that no pass is to change.


PRIVATE = StringAttr("private")
"""The visibility of a symbol that only its own module refers to."""


def name_of(op: Operation) -> str:
    """Return the name of an op, as `arith.addi`; of an unregistered op the name in the text."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def brief(value: object) -> str:
    """Return an object as a message names it: an op by its name and symbol, a class by its name,
    any other by its `repr`. The `repr` of an op would show all its neighbours.
    """
    if isinstance(value, Operation):
        symbol = symbol_of(value)
        return f"the op '{name_of(value)}'" + (f" @{symbol}" if symbol else "")
    return f"the class {value.__name__}" if isinstance(value, type) else repr(value)


def symbol_of(op: Operation) -> str:
    """Return the symbol name of `op`, empty if it has none."""
    # Not through the trait: unregistered ops have symbols, too, in their attributes.
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


def free_name(stem: str, taken: Container[str]) -> str:
    """Return `stem`, with a number behind it if `taken` has it."""
    names = (f"{stem}{number or ''}" for number in count())
    return next(name for name in names if name not in taken)


def is_skipped(func: Operation) -> bool:
    """Return whether a function has the attribute `passline.skip_optimization`, or TVM's
    `SkipOptimization`, unless that is 0.
    """
    if not (attributes := func.attributes):
        return False
    if "passline.skip_optimization" in attributes:
        return True
    mark = attributes.get("SkipOptimization")
    return mark is not None and not (isinstance(mark, IntegerAttr) and mark.value.data == 0)
