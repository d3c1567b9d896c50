"""Lists of numbers in dense constants, `[[1, 2], [3, 4]]`, which JSON writes as MLIR does."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import NamedTuple, cast

from xdsl.utils.lexer import Position

__all__ = ["NumberList", "read_number_list"]


class NumberList(NamedTuple):
    """The numbers of a literal in row-major order."""

    values: list[int | float]
    shape: list[int]
    end: Position


_literal = re.compile(r"\[[-+0-9.eE,\[\] \t\n\r]*+").match
_too_deep = re.compile(r"(?:\[\s*+){100}").search  # json recurses in C
_exponent_without_point = re.compile(r"(?<![0-9.])[0-9]+[eE]").search  # a number in JSON only


def read_number_list(text: str, position: Position) -> NumberList | None:
    """Return the literal at a position if it is a list of decimal numbers, or of such lists of
    equal shapes; None for any other, also an invalid one.
    """
    if (match := _literal(text, position)) is None:
        return None
    literal = match[0].rstrip()
    if _exponent_without_point(literal) or _too_deep(literal):
        return None
    try:
        values = cast(list[object], json.loads(literal))
    except (ValueError, RecursionError):
        return None
    shape = [len(values)]
    while values and isinstance(values[0], list):
        lists = [cast(list[object], value) for value in values if isinstance(value, list)]
        shape.append(len(lists[0]))
        if len(lists) < len(values) or any(len(inner) != shape[-1] for inner in lists):
            return None
        values = [*chain.from_iterable(lists)]
    if not values or any(isinstance(value, list) for value in values):
        return None
    return NumberList(cast(list[int | float], values), shape, position + len(literal))
