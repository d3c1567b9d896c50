"""Tensor layouts as text, and changes between layouts.

`NCHW4c` names five dimensions: batch, block of channels, height, width, and channel in a block
of 4.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from string import ascii_lowercase, ascii_uppercase
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from .shapes import Shape, computed_size, num_elements, shape_text

__all__ = ["Layout", "Relayout"]

T = TypeVar("T")

_AXIS = re.compile(r"([A-Z])|([1-9][0-9]*)([a-z])")


@dataclass(frozen=True)
class Layout:
    """A sequence of dimensions, each running along an axis (TVM Layout).

    A capital letter is an axis. An axis that is split into blocks has a second, inner dimension:
    its small letter, after the size of a block, at any position (`4c`).
    """

    text: str
    axes: str
    """The letters of the dimensions, without the numbers."""
    factors: dict[str, int]
    """Small letter -> the size of a block."""

    @staticmethod
    @lru_cache(1024)
    def parse(text: str) -> Layout:
        """Parse a layout; VerifyException if the text is malformed."""
        axes = ""
        factors: dict[str, int] = {}
        end = 0
        for axis in _AXIS.finditer(text):
            if axis.start() != end:
                break
            end = axis.end()
            axes += axis[1] or axis[3]
            if axis[3]:
                factors[axis[3]] = int(axis[2])
        if end != len(text) or len(set(axes)) != len(axes):
            raise VerifyException(
                f'layout "{text}" is not a sequence of axes such as NCHW or NCHW4c'
            )
        if loose := [c for c in factors if c.upper() not in axes]:
            raise VerifyException(
                f'layout "{text}" splits {loose[0].upper()}, which is not an axis of it'
            )
        return Layout(text, axes, factors)

    @staticmethod
    @lru_cache(1024)
    def of(text: str, axes: str) -> Layout:
        """Parse a layout; VerifyException unless it has exactly these `axes`, in any order."""
        layout = Layout.parse(text)
        if layout.primal != "".join(sorted(axes)):
            raise VerifyException(f'layout "{text}" does not have the axes {", ".join(axes)}')
        return layout

    @cached_property
    def primal(self) -> str:
        """The axes as capital letters, in alphabetical order."""
        return "".join(sorted(c for c in self.axes if c.isupper()))

    def dimensions(self, axis: str) -> tuple[int, ...]:
        """Return the dimensions that run along `axis`, outer first, counted from the last, -1."""
        return tuple(i - len(self.axes) for i, c in enumerate(self.axes) if c.upper() == axis)

    def extents(self, shape: Shape | None) -> dict[str, int]:
        """Return axis -> size for a tensor of that shape in this layout; unknown sizes for None."""
        if shape is None:
            return dict.fromkeys(self.primal, DYNAMIC_INDEX)
        if len(shape) != len(self.axes):
            raise VerifyException(
                f'layout "{self.text}" has {len(self.axes)} dimensions, shape {shape_text(shape)} '
                f"has {len(shape)}"
            )
        sizes = dict(zip(self.axes, shape, strict=True))
        for c, factor in self.factors.items():
            if sizes[c] not in (factor, DYNAMIC_INDEX):
                raise VerifyException(
                    f"dimension {self.axes.index(c)} is {sizes[c]}, "
                    f'but {factor} in layout "{self.text}"'
                )
        for c, factor in self.factors.items():
            sizes[c.upper()] = num_elements((sizes[c.upper()], factor))
        return {c: sizes[c] for c in self.primal}

    def shape(self, extents: dict[str, int]) -> Shape:
        """Return the shape in this layout of a tensor whose axes have these sizes.

        VerifyException if an axis does not split into whole blocks.
        """
        return tuple(
            self.factors[c] if c.islower() else self._outer(c, extents[c]) for c in self.axes
        )

    def _outer(self, axis: str, extent: int) -> int:
        if (factor := self.factors.get(axis.lower())) is None:
            return extent
        if extent != DYNAMIC_INDEX and extent % factor:
            raise VerifyException(
                f"axis {axis} of size {extent} does not split into blocks of {factor}, "
                f'as layout "{self.text}" requires'
            )
        return computed_size(lambda size: size // factor, extent)

    def transform(self, shape: Shape | None, to: Layout) -> Shape:
        """Return the shape in layout `to` of a tensor that has `shape` in this layout."""
        if self.primal != to.primal:
            raise VerifyException(
                f'layouts "{self.text}" and "{to.text}" do not have the same axes'
            )
        return to.shape(self.extents(shape))

    def renamed(self, names: Mapping[str, str]) -> Layout:
        """Return the layout with each axis, and its inner part, renamed to another letter."""
        axes = "".join(names.get(c) or names[c.upper()].lower() for c in self.axes)
        factors = {names[c.upper()].lower(): factor for c, factor in self.factors.items()}
        return _layout(axes, factors)


@dataclass(frozen=True)
class Relayout:
    """A change of a tensor from layout `src` to layout `dst`.

    Letters only relate the dimensions of the two layouts: NCHW to NHWC is the same change as ABCD
    to ACDB.
    """

    src: Layout
    dst: Layout

    @staticmethod
    @lru_cache(1024)
    def parse(src: str, dst: str) -> Relayout:
        """Parse two layouts; VerifyException if they do not have the same axes."""
        relayout = Relayout(Layout.parse(src), Layout.parse(dst))
        if relayout.src.primal != relayout.dst.primal:
            raise VerifyException(f'layouts "{src}" and "{dst}" do not have the same axes')
        return relayout

    @property
    def rank(self) -> int:
        """The number of dimensions in `src`."""
        return len(self.src.axes)

    @property
    def is_identity(self) -> bool:
        """Return whether the two layouts are the same."""
        return self.src.text == self.dst.text

    @property
    def block(self) -> int:
        """The number of elements in a block of `dst`; 1 if no axis is split."""
        return prod(self.dst.factors.values())

    @cached_property
    def key(self) -> tuple[str, str]:
        """The layouts with letters in alphabetical order: equal for equal changes."""
        axes = dict.fromkeys(self.src.axes.upper())
        names = dict(zip(axes, ascii_uppercase, strict=False))
        return self.src.renamed(names).text, self.dst.renamed(names).text

    def along(self, layout: Layout) -> Relayout:
        """Return the same change for a tensor in `layout`, which replaces `src`.

        VerifyException if `layout` does not split its axes in the same way as `src`.
        """
        names = dict(zip(self.src.axes.upper(), layout.axes.upper(), strict=False))
        same = len(layout.axes) == self.rank and len(set(names.values())) == len(names)
        if same and self.src.renamed(names).text == layout.text:
            return Relayout(layout, self.dst.renamed(names))
        raise VerifyException(
            f'layout "{layout.text}" does not split its axes in the same way as "{self.src.text}"'
        )

    def transform(self, shape: Shape | None) -> Shape:
        """Return the shape after the change.

        VerifyException if it splits an axis that is not, or not known to be, a multiple of the
        block.
        """
        return _transformed(self.src.text, self.dst.text, shape)

    # Mapping of dimensions from `src` to `dst`. A dimension of `src` that is only one part of a
    # split axis has no counterpart in `dst`: VerifyException.

    def axes(self, dimensions: Iterable[int]) -> list[str]:
        """Return the axes that dimensions of `src` run along."""
        axes = [self.src.axes[i] for i in dimensions]
        if split := [c for c in axes if c.lower() in self.src.axes or c.islower()]:
            raise self._split(split[0])
        return axes

    def dimensions(self, dimensions: Iterable[int]) -> list[int]:
        """Return the dimensions of `dst` for dimensions of `src`: two for an axis that is split."""
        parts = "".join(c + c.lower() for c in self.axes(dimensions))
        return [self.dst.axes.index(c) for c in parts if c in self.dst.axes]

    def dimension(self, dimension: int) -> int:
        """Return the dimension of `dst` for one of `src`; VerifyException if it is split."""
        (axis,) = self.axes([dimension])
        if axis.lower() in self.dst.axes:
            raise self._split(axis)
        return self.dst.axes.index(axis)

    def factor(self, dimension: int) -> int:
        """Return the size of the blocks that a dimension of `src` is split into; 1 if it is not."""
        (axis,) = self.axes([dimension])
        return self.dst.factors.get(axis.lower(), 1)

    def spread(self, values: Sequence[T], inner: T) -> list[T]:
        """Return the values of the dimensions of `src` in the order of the dimensions of `dst`.

        The inner part of a split axis gets the value `inner`.
        """
        of = dict(zip(self.axes(range(self.rank)), values, strict=True))
        return [of.get(c, inner) for c in self.dst.axes]

    def unsplit(self) -> Relayout:
        """Return this relayout; VerifyException if it splits an axis."""
        if self.dst.factors:
            raise self._split(next(iter(self.dst.factors)).upper())
        return self

    def _split(self, axis: str) -> VerifyException:
        """Return the error that an axis is split, and in which layout."""
        layout = self.src if axis.lower() in self.src.axes else self.dst
        return VerifyException(f'axis {axis.upper()} is split in layout "{layout.text}"')

    def without(self, dimensions: Iterable[int]) -> Relayout | None:
        """Return the relayout of a tensor without some dimensions of `src`; None if identity."""
        gone = self.axes(dimensions)
        src, dst = (
            _layout("".join(c for c in layout.axes if c.upper() not in gone), layout.factors)
            for layout in (self.src, self.dst)
        )
        return None if src.text == dst.text else Relayout(src, dst)

    def with_ones(self, ones: Collection[str]) -> Relayout:
        """Return the relayout of a tensor that has size 1 along the axes `ones`: their blocks
        have size 1."""
        if not (split := [c for c in ones if c.lower() in self.dst.factors]):
            return self
        factors = self.dst.factors | {c.lower(): 1 for c in split}
        return Relayout(self.src, _layout(self.dst.axes, factors))

    def with_new(self, dimensions: Sequence[int]) -> tuple[Relayout, list[int]]:
        """Return the relayout of a tensor with new dimensions, and their positions in `dst`.

        `dimensions` are their positions in the new `src`, ascending. A new dimension precedes the
        same dimension in `dst` as in `src`; at the end of `src`, it comes after the dimensions of
        `dst` but before inner parts at the end.
        """
        self.axes(range(self.rank))
        src, dst, added = self.src.axes, self.dst.axes, ""
        for i in dimensions:
            new = next(c for c in ascii_uppercase if c not in src)
            at = dst.index(src[i]) if i < len(src) else len(dst.rstrip(ascii_lowercase))
            src, dst, added = src[:i] + new + src[i:], dst[:at] + new + dst[at:], added + new
        grown = Relayout(_layout(src, self.src.factors), _layout(dst, self.dst.factors))
        return grown, [dst.index(c) for c in added]


@lru_cache(4096)  # a network has few different shapes
def _transformed(src: str, dst: str, shape: Shape | None) -> Shape:
    extents, layout = Layout.parse(src).extents(shape), Layout.parse(dst)
    for c in layout.factors:
        if extents[c.upper()] == DYNAMIC_INDEX:
            raise VerifyException(
                f"axis {c.upper()} of unknown size does not split into blocks, "
                f'as layout "{dst}" requires'
            )
    return layout.shape(extents)


def _layout(axes: str, factors: Mapping[str, int]) -> Layout:
    """Return the layout with these letters, and blocks of these sizes."""
    return Layout.parse("".join(f"{factors[c]}{c}" if c.islower() else c for c in axes))
