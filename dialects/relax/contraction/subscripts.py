"""The subscripts of an Einstein summation such as `bij,bjk->bik`, and its result shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from ..shapes import Shape, broadcast, broadcast_dimension, shape_text

__all__ = ["Subscripts"]

_TERM = r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*"
_TEXT = re.compile(rf"({_TERM}(?:,{_TERM})*)(?:->({_TERM}))?")
_ELLIPSIS = "."


@dataclass(frozen=True)
class Subscripts:
    """The terms of an einsum: one letter for each dimension, a dot for an ellipsis."""

    terms: tuple[str, ...]
    output: str

    @classmethod
    @cache
    def parse(cls, text: str) -> Self:
        """Parse subscripts.

        Without `->` the output is the ellipsis, then the letters that occur once, in alphabetical
        order. VerifyException if the text is malformed.
        """
        if (match := _TEXT.fullmatch(text.replace(" ", ""))) is None:
            raise VerifyException(f'subscripts "{text}" are not of the form "ij,jk->ik"')
        inputs, output = (part and part.replace("...", _ELLIPSIS) for part in match.groups())
        if output is None:
            once = [letter for letter in sorted(set(inputs)) if inputs.count(letter) == 1]
            output = "".join(letter for letter in once if letter.isalpha())
            output = _ELLIPSIS * (_ELLIPSIS in inputs) + output
        for letter in output:
            if output.count(letter) > 1 or letter not in inputs:
                what = "occurs twice" if letter in inputs else "occurs in no operand"
                raise VerifyException(f'subscripts "{text}": {_name(letter)} of the output {what}')
        if _ELLIPSIS in inputs and _ELLIPSIS not in output:
            raise VerifyException(f'subscripts "{text}": the output lacks the ellipsis')
        return cls(tuple(inputs.split(",")), output)

    def infer(self, shapes: Sequence[Shape | None]) -> Shape | None:
        """Return the shape of the result; None if its rank is unknown.

        `shapes` are those of the operands, None for an unknown rank. VerifyException if they do not
        match the terms or each other. Dimensions with the same letter broadcast between operands,
        as in numpy, but must be equal within one operand.
        """
        if len(shapes) != len(self.terms):
            raise VerifyException(
                f"subscripts of {len(self.terms)} operands, but there are {len(shapes)}"
            )
        sizes: dict[str, int] = {}
        rest: Shape | None = ()  # the dimensions of the ellipsis, None if their number is unknown
        for term, shape in zip(self.terms, shapes, strict=True):
            if shape is None:
                rest = None if _ELLIPSIS in term else rest
                term = term.replace(_ELLIPSIS, "")
                shape = (DYNAMIC_INDEX,) * len(term)
            own: dict[str, int] = {}
            for letter, part in _parts(term, shape):
                if letter != _ELLIPSIS:
                    _note(own, letter, part[0], _same)
                elif rest is not None:
                    rest = broadcast(rest, part)
            for letter, size in own.items():
                _note(sizes, letter, size, broadcast_dimension)
        if rest is None and _ELLIPSIS in self.output:
            return None
        known = {letter: (size,) for letter, size in sizes.items()} | {_ELLIPSIS: rest or ()}
        return tuple(size for letter in self.output for size in known[letter])

    @staticmethod
    def dimensions(term: str, rank: int) -> list[str]:
        """Return a name for each dimension of a tensor of that rank with that term.

        A dimension of an ellipsis is named by its position counted from the last one, so that
        names match between operands of different rank: `.1`, `.0`. The names are fewer or more than
        `rank` if the term does not fit.
        """
        names: list[str] = []
        for letter in term:
            if letter == _ELLIPSIS:
                names += [f".{i}" for i in reversed(range(_ellipsis_rank(term, rank)))]
            else:
                names.append(letter)
        return names


def _parts(term: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield each letter of a term with the dimensions that it stands for; VerifyException if the
    term does not fit the shape."""
    ellipsis = _ellipsis_rank(term, len(shape))
    if ellipsis < 0 or (ellipsis != 1 and _ELLIPSIS not in term):
        text = term.replace(_ELLIPSIS, "...")
        raise VerifyException(f'subscripts "{text}" do not fit shape {shape_text(shape)}')
    start = 0
    for letter in term:
        end = start + (ellipsis if letter == _ELLIPSIS else 1)
        yield letter, shape[start:end]
        start = end


def _ellipsis_rank(term: str, rank: int) -> int:
    """Return how many dimensions of a tensor of that rank the ellipsis of a term stands for."""
    return rank - (len(term) - 1)


def _note(
    sizes: dict[str, int], letter: str, size: int, rule: Callable[[int, int], int | None]
) -> None:
    """Record the size of an index; `rule` combines it with the size recorded before.

    VerifyException if the rule returns None: the sizes are incompatible.
    """
    if (combined := rule(sizes.get(letter, size), size)) is None:
        raise VerifyException(f"index {letter} has size {sizes[letter]} and {size}")
    sizes[letter] = combined


def _same(a: int, b: int) -> int | None:
    """Return the size of two dimensions that must be equal; None if they are not."""
    # DYNAMIC_INDEX is below 0: the greater one is the known one.
    return max(a, b) if a == b or DYNAMIC_INDEX in (a, b) else None


def _name(letter: str) -> str:
    return "the ellipsis" if letter == _ELLIPSIS else letter
