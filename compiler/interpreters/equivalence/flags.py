"""The flags of operations that promise something, such as `nsw`, and those that a pass added."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import cast, get_args

from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from ....passmanager.ir.location import file_location, place_of
from ....passmanager.ir.symbols import name_of, symbol_of
from ....passmanager.ir.walk import ancestors, walk
from ....passmanager.registration.rounding import Rounding
from .inputs import Numbers

__all__ = ["added_flag", "free_numbers"]

_SETS = ("overflowFlags", "fastmath", "fastmathFlags")
"""The properties that are sets of flags."""
_UNITS = ("isExact", "isDisjoint", "nonNeg")
"""The properties that are flags."""
_ROUNDING = frozenset(
    {
        *(FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT),
        *(FastMathFlag.ALLOW_RECIP, FastMathFlag.APPROX_FUNC),
    }
)
"""The flags that allow to round in another place, and nothing else."""


def added_flag(
    before: Iterable[Operation],
    after: Iterable[Operation],
    counterparts: Mapping[Operation, Operation],
    rounding: Rounding | None,
) -> tuple[str, str] | None:
    """Return the function, and in words which flag an operation of `after` has that its counterpart
    in `before` has not, or None.

    The counterpart of an operation is that in `counterparts`, else those of its class with its
    location or name. One without a counterpart is not compared. A pass with a `rounding` may allow
    to round.
    """
    ops = {op: flags for op in after if (flags := _flags_of(op))}
    if not ops:
        return None
    known: defaultdict[object, list[Operation]] = defaultdict(list)
    for op in before:
        for key in _keys(op):
            known[key].append(op)
    for op, flags in ops.items():
        olds = [counterparts[op]] if op in counterparts else _first(known, op)
        had = {flag for old in olds for flag in _flags_of(old)}
        if olds and (added := flags - had - _allowed(rounding)):
            names = ", ".join(sorted(getattr(flag, "value", str(flag)) for flag in added))
            reason = f"'{name_of(op)}'{place_of(op)} has the flag {names}, which it had not before"
            function = next((name for a in ancestors(op) if (name := symbol_of(a))), "")
            return function, reason
    return None


def free_numbers(functions: Iterable[Operation]) -> Collection[Numbers]:
    """Return the kinds of inputs for which the flags of a function, and of those that it calls,
    leave its results open: all with `reassoc`, special ones with `nnan` and `ninf`."""
    flags = {flag for top in functions for op in walk(top) for flag in _flags_of(op)}
    if FastMathFlag.REASSOC in flags:
        return get_args(Numbers)
    special = flags & {FastMathFlag.NO_NANS, FastMathFlag.NO_INFS}
    return ("special", "edge", "large") if special else ()


def _flags_of(op: Operation) -> set[object]:
    """Return the flags of an operation."""
    found: set[object] = set()
    for name in _SETS:
        if (attribute := op.properties.get(name)) is not None:
            found.update(cast("Iterable[object]", getattr(attribute, "data", ())))
    return found.union(n for n in _UNITS if isinstance(op.properties.get(n), UnitAttr))


def _allowed(rounding: Rounding | None) -> set[object]:
    """Return the flags that a pass may add."""
    if rounding is None:
        return set()
    signs = "sign of zero may change" in rounding.changes
    return {*_ROUNDING, *([FastMathFlag.NO_SIGNED_ZEROS] if signs else [])}


def _keys(op: Operation) -> Iterable[object]:
    """Yield what tells an operation of a class from others: its location and its name."""
    if (place := file_location(op.location)) is not None:
        yield type(op), place
    if op.results and (hint := op.results[0].name_hint) is not None:
        yield type(op), hint


def _first(known: Mapping[object, list[Operation]], op: Operation) -> list[Operation]:
    """Return the operations with the first key of `op` that one has."""
    for key in _keys(op):
        if key in known:
            return known[key]
    return []
