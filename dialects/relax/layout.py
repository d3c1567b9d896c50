"""Layouts of tensors as text: `NCHW4c` is batch, channel block, height, width, channel of 4."""

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

from .shapes import Shape, shape_text, times

__all__ = ["Layout", "Relayout"]

T = TypeVar("T")

_AXIS = re.compile(r"([A-Z])|([1-9][0-9]*)([a-z])")


@dataclass(frozen=True)
class Layout:
    """The dimensions of a tensor, each with the axis that it runs along (TVM's Layout).

    A capital letter is an axis; after it, at any place, may follow one number and small letter, the
    inner part of a split of that axis.
    """

    text: str
    axes: str
    """One letter per dimension."""
    factors: dict[str, int]
    """Small letter -> the size of that inner part."""

    @staticmethod
    @lru_cache(1024)
    def parse(text: str) -> Layout:
        """The layout written as `text`; VerifyException if it is none."""
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
                f'layout "{text}" splits {loose[0].upper()}, which is no axis of it'
            )
        return Layout(text, axes, factors)

    @staticmethod
    @lru_cache(1024)
    def of(text: str, axes: str) -> Layout:
        """The layout written as `text`; VerifyException unless these are its axes, in any order."""
        layout = Layout.parse(text)
        if layout.primal != "".join(sorted(axes)):
            raise VerifyException(f'layout "{text}" does not have the axes {", ".join(axes)}')
        return layout

    @cached_property
    def primal(self) -> str:
        """The axes, sorted."""
        return "".join(sorted(c for c in self.axes if c.isupper()))

    def dimensions(self, axis: str) -> tuple[int, ...]:
        """Those that run along an axis, the outer first, counted from the last one, -1."""
        return tuple(i - len(self.axes) for i, c in enumerate(self.axes) if c.upper() == axis)

    def extents(self, shape: Shape | None) -> dict[str, int]:
        """The size of each axis of a tensor of that shape in this layout, unknown if it is None."""
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
        return {c: times(sizes[c], self.factors.get(c.lower(), 1)) for c in self.primal}

    def shape(self, extents: dict[str, int]) -> Shape:
        """The shape in this layout of a tensor whose axes have these sizes."""
        return tuple(
            self.factors[c] if c.islower() else self._outer(c, extents[c]) for c in self.axes
        )

    def _outer(self, axis: str, extent: int) -> int:
        factor = self.factors.get(axis.lower(), 1)
        if extent == DYNAMIC_INDEX:
            return extent
        if extent % factor:
            raise VerifyException(
                f"axis {axis} of size {extent} does not split into blocks of {factor}, "
                f'as layout "{self.text}" says'
            )
        return extent // factor

    def transform(self, shape: Shape | None, to: Layout) -> Shape:
        """The shape in layout `to` of a tensor that has `shape` in this layout."""
        if self.primal != to.primal:
            raise VerifyException(
                f'layouts "{self.text}" and "{to.text}" do not have the same axes'
            )
        return to.shape(self.extents(shape))

    def renamed(self, names: Mapping[str, str]) -> Layout:
        """The layout with each axis, and its inner part, called by another letter."""
        axes = "".join(names.get(c) or names[c.upper()].lower() for c in self.axes)
        factors = {names[c.upper()].lower(): factor for c, factor in self.factors.items()}
        return _layout(axes, factors)


@dataclass(frozen=True)
class Relayout:
    """How a tensor that was in layout `src` is in layout `dst`.

    The letters do not matter, but which dimensions run along the same axis.
    """

    src: Layout
    dst: Layout

    @staticmethod
    @lru_cache(1024)
    def parse(src: str, dst: str) -> Relayout:
        """That between layouts as text; VerifyException if they do not have the same axes."""
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
        """Whether the tensor is as it was."""
        return self.src.text == self.dst.text

    @property
    def block(self) -> int:
        """The number of elements in the innermost blocks of `dst`; 1 if no axis is split."""
        return prod(self.dst.factors.values())

    @cached_property
    def key(self) -> tuple[str, str]:
        """The layouts with letters in the order of the alphabet: the same for the same change."""
        axes = dict.fromkeys(self.src.axes.upper())
        names = dict(zip(axes, ascii_uppercase, strict=False))
        return self.src.renamed(names).text, self.dst.renamed(names).text

    def along(self, layout: Layout) -> Relayout:
        """The same change of a tensor in `layout`; VerifyException if its axes are split in another
        way than those of `src`."""
        names = dict(zip(self.src.axes.upper(), layout.axes.upper(), strict=False))
        same = len(layout.axes) == self.rank and len(set(names.values())) == len(names)
        if same and self.src.renamed(names).text == layout.text:
            return Relayout(layout, self.dst.renamed(names))
        raise VerifyException(
            f'layout "{layout.text}" does not have its dimensions along axes as '
            f'"{self.src.text}" has'
        )

    def transform(self, shape: Shape | None) -> Shape:
        """The shape after the change; VerifyException if it splits an axis that is not known to be
        a multiple of the block."""
        return _transformed(self.src.text, self.dst.text, shape)

    # What becomes of dimensions. Those of `src` that are parts of an axis are not told apart.

    def axes(self, dimensions: Iterable[int]) -> list[str]:
        """The axes that dimensions of `src` run along; VerifyException if one is part of one."""
        axes = [self.src.axes[i] for i in dimensions]
        if split := [c for c in axes if c.lower() in self.src.axes or c.islower()]:
            raise self._split(split[0])
        return axes

    def dimensions(self, dimensions: Iterable[int]) -> list[int]:
        """Where dimensions of `src` are in `dst`, both parts of those that are split."""
        parts = "".join(c + c.lower() for c in self.axes(dimensions))
        return [self.dst.axes.index(c) for c in parts if c in self.dst.axes]

    def dimension(self, dimension: int) -> int:
        """Where a dimension of `src` is in `dst`; VerifyException if it is split."""
        (axis,) = self.axes([dimension])
        if axis.lower() in self.dst.axes:
            raise self._split(axis)
        return self.dst.axes.index(axis)

    def factor(self, dimension: int) -> int:
        """The size of the blocks that a dimension of `src` is split into; 1 if it is not."""
        (axis,) = self.axes([dimension])
        return self.dst.factors.get(axis.lower(), 1)

    def spread(self, values: Sequence[T], inner: T) -> list[T]:
        """What belongs to the dimensions of `src`, in the order of `dst`; `inner` of inner ones."""
        of = dict(zip(self.axes(range(self.rank)), values, strict=True))
        return [of.get(c, inner) for c in self.dst.axes]

    def unsplit(self) -> Relayout:
        """This change; VerifyException if it splits an axis."""
        if self.dst.factors:
            raise self._split(next(iter(self.dst.factors)).upper())
        return self

    def _split(self, axis: str) -> VerifyException:
        layout = self.src if axis.lower() in self.src.axes else self.dst
        return VerifyException(f'axis {axis.upper()} is split in layout "{layout.text}"')

    def without(self, dimensions: Iterable[int]) -> Relayout | None:
        """That of a tensor without some dimensions of `src`; None if it is as it was."""
        gone = self.axes(dimensions)
        src, dst = (
            _layout("".join(c for c in layout.axes if c.upper() not in gone), layout.factors)
            for layout in (self.src, self.dst)
        )
        return None if src.text == dst.text else Relayout(src, dst)

    def with_ones(self, ones: Collection[str]) -> Relayout:
        """That of a tensor whose size along some axes is 1: their blocks are of 1."""
        if not (split := [c for c in ones if c.lower() in self.dst.factors]):
            return self
        factors = self.dst.factors | {c.lower(): 1 for c in split}
        return Relayout(self.src, _layout(self.dst.axes, factors))

    def with_new(self, dimensions: Sequence[int]) -> tuple[Relayout, list[int]]:
        """That of a tensor with new dimensions, in order the i-th of the result, and where they are
        in `dst`: before what they were before, the last ones before inner parts."""
        self.axes(range(self.rank))
        src, dst, added = self.src.axes, self.dst.axes, ""
        for i in dimensions:
            new = next(c for c in ascii_uppercase if c not in src)
            at = dst.index(src[i]) if i < len(src) else len(dst.rstrip(ascii_lowercase))
            src, dst, added = src[:i] + new + src[i:], dst[:at] + new + dst[at:], added + new
        grown = Relayout(_layout(src, self.src.factors), _layout(dst, self.dst.factors))
        return grown, [dst.index(c) for c in added]


@lru_cache(4096)  # a network has few shapes
def _transformed(src: str, dst: str, shape: Shape | None) -> Shape:
    extents, layout = Layout.parse(src).extents(shape), Layout.parse(dst)
    for c in layout.factors:
        if extents[c.upper()] == DYNAMIC_INDEX:
            raise VerifyException(
                f"axis {c.upper()} of unknown size does not split into blocks, "
                f'as layout "{dst}" says'
            )
    return layout.shape(extents)


def _layout(axes: str, factors: Mapping[str, int]) -> Layout:
    """The layout with these letters, inner parts of these sizes."""
    return Layout.parse("".join(f"{factors[c]}{c}" if c.islower() else c for c in axes))
