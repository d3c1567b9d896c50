"""The sizes of the parameters of a function, with the names of their unknown dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from ....dialects.argument_names import name_in
from ....dialects.dimension_names import dimension_names_in
from ....dialects.sizes import Size, size_of_text
from ...sizes.size_values import FunctionSizes
from .buffer_values import is_buffer

__all__ = ["ParameterSizes"]


class CheckEqual(Protocol):
    """A function that asserts that two sizes are equal."""

    def __call__(self, left: Size, right: Size, message: str, op: Operation | None) -> None: ...


class NamedDimension(NamedTuple):
    """An unknown dimension of a parameter, with the name or expression that it is given."""

    buffer: BlockArgument
    axis: int
    text: str | None
    place: str
    """The dimension, for messages."""


class ParameterSizes:
    """Reads the sizes of parameters at the start of a function.

    In a public function, dimensions of one name, or of one expression of names, are one size: that
    it is is asserted. The callers of a private function need not keep to the names.
    """

    def __init__(self, sizes: FunctionSizes, check_equal: CheckEqual) -> None:
        self.sizes = sizes
        self.check_equal = check_equal
        self.known: dict[str, tuple[Size, str]] = {}
        """The sizes of names and expressions, and where they come from."""
        self.places: dict[str, str] = {}
        """The dimensions that define symbols."""

    def of(
        self,
        arguments: Sequence[BlockArgument],
        attributes: Iterable[DictionaryAttr] | None,
        hints: Sequence[str],
        *,
        is_public: bool,
    ) -> dict[SSAValue, tuple[Size, ...]]:
        """Return the sizes of the unknown dimensions of each buffer; `hints` are the names of the
        first of `arguments` in the text."""
        found: dict[SSAValue, tuple[Size, ...]] = {}
        rows = [*dimensions_of(arguments, ArrayAttr(attributes or ()).data, hints)]
        bare = [d for d in rows if is_public and d.text and size_of_text(d.text).lone_symbol]
        first = {d.text: d for d in reversed(bare)}
        for dimension in bare:
            if first[dimension.text] is dimension:
                self.define(dimension)
        for dimension in rows:
            text = dimension.text if is_public else None
            size = self.named(dimension, text) if text else self.read(dimension)
            found[dimension.buffer] = (*found.get(dimension.buffer, ()), size)
        return found

    def read(self, dimension: NamedDimension, name: str | None = None) -> Size:
        """Return the size of a dimension."""
        return self.sizes.dimension(dimension.buffer, dimension.axis, name, None)

    def define(self, dimension: NamedDimension) -> Size:
        """Let the size of a dimension be what its name stands for."""
        assert dimension.text is not None
        symbol = size_of_text(dimension.text).lone_symbol
        name = symbol.name if symbol else f"?= {dimension.text}"
        size = self.read(dimension, name)
        self.known[dimension.text] = size, dimension.place
        self.places[name] = dimension.place
        return size

    def named(self, dimension: NamedDimension, text: str) -> Size:
        """Return the size that a name or expression stands for, and assert that the dimension has
        it."""
        if text not in self.known:
            size = size_of_text(text)
            names = dict.fromkeys(symbol.name for symbol in size.symbols())
            if not names.keys() <= self.places.keys():
                return self.define(dimension)
            self.known[text] = size, " and ".join(self.places[name] for name in names)
        size, source = self.known[text]
        if source != dimension.place:
            message = f"{dimension.place} is '{text}': expected the size by {source}"
            self.check_equal(self.read(dimension), size, message, None)
        return size


def dimensions_of(
    arguments: Sequence[BlockArgument],
    attributes: Sequence[DictionaryAttr],
    hints: Sequence[str],
) -> Iterator[NamedDimension]:
    """Yield the unknown dimensions of all buffers."""
    for number, argument in enumerate(arguments):
        if not is_buffer(type := argument.type):
            continue
        given = attributes[number] if number < len(attributes) else DictionaryAttr({})
        hint = hints[number] if number < len(hints) else None
        name = name_in(given) or hint or f"arg{number}"
        texts = dimension_names_in(given, len(type.get_shape()))
        for axis, size in enumerate(type.get_shape()):
            if size == DYNAMIC_INDEX:
                place = f"dimension {axis} of parameter '{name}'"
                yield NamedDimension(argument, axis, texts[axis], place)
