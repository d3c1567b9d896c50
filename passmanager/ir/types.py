"""Conversion of the types of values, functions and other symbols."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.rewriter import Rewriter

from .walk import walk


def convert_types(root: Operation, convert: Callable[[Attribute], Attribute]) -> None:
    """Convert the types of all results and block arguments in `root`, and the types that are
    properties, as those of functions and globals are.

    `convert` gets no function types, but the types in them.
    """
    conversion = _Conversion(convert)
    for op in walk(root):
        # Replacing the value of an existing key does not disturb the iteration over a dict.
        for name, attribute in op.properties.items():
            if (new := conversion.of(attribute)) is not attribute:
                op.properties[name] = new
        for value in op.results:
            if (type := conversion.of(value.type)) is not value.type:
                _set_type(value, type)
        for region in op.regions:
            for block in region.blocks:
                for value in block.args:
                    if (type := conversion.of(value.type)) is not value.type:
                        _set_type(value, type)


class _Conversion:
    """A conversion that remembers each type object: values share them, and comparing types takes
    longer than all else here."""

    def __init__(self, convert: Callable[[Attribute], Attribute]) -> None:
        self._convert = convert
        self._known: dict[int, Attribute] = {}
        self._kept: list[Attribute] = []  # so that no `id` is reused

    def of(self, attribute: Attribute) -> Attribute:
        """Convert an attribute; return the same object if it is not a type, or does not change."""
        if (found := self._known.get(id(attribute))) is None:
            found = attribute
            if isinstance(attribute, TypeAttribute) and (
                (new := self._converted(attribute)) != attribute
            ):
                found = new
            self._known[id(attribute)] = found
            self._kept.append(attribute)
        return found

    def _converted(self, type: Attribute) -> Attribute:
        if not isinstance(type, FunctionType):
            return self._convert(type)
        inputs, outputs = map(self._convert, type.inputs), map(self._convert, type.outputs)
        return FunctionType.from_lists([*inputs], [*outputs])


def _set_type(value: SSAValue, type: Attribute) -> None:
    # A new value, as xDSL's values have a fixed type; its uses are replaced.
    new = Rewriter.replace_value_with_new_type(value, type)
    if isinstance(value, BlockArgument) and isinstance(new, BlockArgument):
        new.location = value.location
