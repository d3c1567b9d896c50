"""Random draws of sizes, shapes and flags."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from random import Random

from xdsl.dialects.builtin import (
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)

from passline.dialects.relax.types import Element
from passline.passmanager.releases.floats import PACKS_BF16

__all__ = ["ELEMENTS", "FLOATS", "INTEGERS", "MAX_ELEMENTS", "SIZES", "Choices"]

UNSIGNED = tuple(IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64))
FLOATS: tuple[Element, ...] = (f32, f32, f32, f16, bf16 if PACKS_BF16 else f16, f64)
INTEGERS: tuple[Element, ...] = (i32, i8, i16, i64, *UNSIGNED)
ELEMENTS: tuple[Element, ...] = (*[f32] * 12, *FLOATS, *INTEGERS, i32, i8, i1)
"""The element types to draw from; one listed n times is drawn n times as often."""

SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 31, 33)
MAX_ELEMENTS = 3000
"""The default of the largest size of a tensor, in elements."""


class Choices(Random):
    """A source of random numbers with the draws that networks need.

    All draws come from `source`, as integers: with one of hypothesis's, failures shrink.
    """

    def __init__(self, source: Random, max_elements: int = MAX_ELEMENTS) -> None:
        super().__init__(0)
        self.source, self.max_elements = source, max_elements

    def random(self) -> float:
        """Draw a number below 1; the first of hypothesis's choices is the largest.

        A network shrinks to what it does if `random() < p` is false.
        """
        return 1 - self.source.getrandbits(16) / (1 << 16) - 2**-17

    def getrandbits(self, k: int, /) -> int:
        return self.source.getrandbits(k)

    def coin(self) -> bool:
        """Draw True or False."""
        return self.random() < 0.5

    def shape(self, rank: int) -> tuple[int, ...]:
        """Draw a shape of at most `max_elements` elements; now and then a size is 0."""
        while True:
            sizes = (0, *SIZES) if self.random() < 0.03 else SIZES
            shape = tuple(self.choice(sizes) for _ in range(rank))
            if prod(shape) <= self.max_elements:
                return shape

    def broadcastable(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Draw a shape that broadcasts to `shape`."""
        match self.randrange(4):
            case 0:
                return tuple(shape)
            case 1:
                return ()
            case 2:
                shape = shape[self.randint(0, len(shape)) :]
            case _:
                pass
        return tuple(1 if self.random() < 0.4 else n for n in shape)

    def factors(self, number: int) -> list[int]:
        """Draw two factors of `number`; `[0]` if it is 0."""
        divisors = [d for d in range(1, number + 1) if number % d == 0]
        first = self.choice(divisors) if divisors else 0
        return [first, number // first] if first else [0]

    def window(self, sizes: Sequence[int]) -> list[int]:
        """Draw the extents of a window over dimensions of these sizes; it need not fit."""
        if self.random() < 0.3:
            return [1] * len(sizes)
        return [self.choice([1, 2, 3, 3, 3, 5]) for _ in sizes]
