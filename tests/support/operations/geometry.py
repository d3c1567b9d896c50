"""Windows of all shapes over small tensors, for tests of convolution and pooling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from hypothesis import assume
from hypothesis import strategies as st


@dataclass(frozen=True)
class Geometry:
    """Windows over a padded tensor; each field has a number for each spatial dimension."""

    extents: list[int]
    sizes: list[int]
    strides: list[int]
    dilation: list[int]
    before: list[int]
    after: list[int]

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def padding(self) -> list[int]:
        return self.before + self.after

    @property
    def spans(self) -> list[int]:
        return [(n - 1) * d + 1 for n, d in zip(self.sizes, self.dilation, strict=True)]

    def places(self, window: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield each index inside of a window, with the index of the tensor element that it reads.

        `window` is the index of the window. An element index may lie in the padding.
        """
        for tap in product(*map(range, self.sizes)):
            columns = zip(window, self.strides, tap, self.dilation, self.before, strict=True)
            yield tap, tuple(i * s + t * d - b for i, s, t, d, b in columns)

    def inside(self, place: tuple[int, ...]) -> bool:
        return all(0 <= i < n for i, n in zip(place, self.extents, strict=True))


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Draw windows over one to three dimensions, at least one of which fits into the padded
    tensor."""
    rank = draw(st.integers(1, 3))

    def numbers(least: int, greatest: int) -> list[int]:
        return draw(st.lists(st.integers(least, greatest), min_size=rank, max_size=rank))

    geometry = Geometry(
        numbers(1, 5), numbers(1, 3), numbers(1, 3), numbers(1, 2), numbers(0, 2), numbers(0, 2)
    )
    room = zip(geometry.extents, geometry.before, geometry.after, geometry.spans, strict=True)
    assume(all(n + before + after >= span for n, before, after, span in room))
    return geometry
