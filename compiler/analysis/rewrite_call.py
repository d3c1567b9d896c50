"""Rewriting the operations that match a dataflow pattern, by a Python function.

    x = wildcard()
    rewrite_call(is_op("relax.add")(x, x), lambda op, match: MultiplyOp(match[x], two), func)

Source: `tvm.relax.dpl.rewrite_call`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from xdsl.ir import Operation, SSAValue

from ...dialects.relax.block_builder import insert_with_operands
from ...passmanager.fast.edit import erase, insert_before, replace_all_uses
from ...passmanager.ir.effects import all_effects
from ...passmanager.ir.walk import walk
from .dataflow_pattern import Match, Pattern

__all__ = ["Rewrite", "rewrite_call"]

Rewrite: TypeAlias = Callable[[Operation, Match], "Operation | SSAValue | None"]
"""A function that is called with an operation and its match, and returns what takes its place."""

Root = TypeVar("Root", bound=Operation)


def rewrite_call(pattern: Pattern, rewrite: Rewrite, root: Root) -> Root:
    """Replace each operation in `root` whose first result matches, by what `rewrite` returns, and
    return `root`, which is edited in place.

    `rewrite` returns a value; an operation, which is inserted with those of its operands that are
    in no block yet; or None to leave the operation alone. What it returns is not matched again.
    Operations of the match without effects that are no longer used are removed. Errors: TypeError
    for a value of another type.
    """
    for op in [op for op in walk(root) if op is not root and op.results]:
        if op.parent is None or (match := pattern.match(op)) is None:
            continue
        made = rewrite(op, match)
        if made is None or made is op:
            continue
        if isinstance(made, Operation):
            insert_with_operands(made, lambda new, op=op: insert_before(op, new))
        _replace(op, [made] if isinstance(made, SSAValue) else [*made.results])
        for each in (op, *reversed(match.ops)):
            is_used = any(result.first_use for result in each.results)
            if each.parent is not None and not is_used and not all_effects(each):
                erase(each)
    return root


def _replace(op: Operation, new: list[SSAValue]) -> None:
    """Let the users of an operation use other values."""
    types, given = [result.type for result in op.results], [value.type for value in new]
    if types != given:
        old, found = (", ".join(map(str, each)) or "no result" for each in (types, given))
        raise TypeError(f"'{op.name}' of {old} is replaced by {found}")
    for result, value in zip(op.results, new, strict=True):
        if result.name_hint is not None and value.name_hint is None:
            value.name_hint = result.name_hint
        replace_all_uses(result, value)
