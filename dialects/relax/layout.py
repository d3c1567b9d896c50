"""Layouts of tensors as text: `NCHW4c` is batch, channel block, height, width, channel of 4."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from .shapes import Shape, shape_text, times

__all__ = ["Layout"]

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
