"""The names of operations: of their classes, and the symbols by which they are referenced; and the
mark on functions that no pass is to change."""

from __future__ import annotations

from collections.abc import Container
from itertools import count

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnregisteredOp
from xdsl.ir import Operation

__all__ = ["PRIVATE", "brief", "free_name", "is_skipped", "name_of", "symbol_of"]

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
