"""Conversion of the types of values, functions and other symbols."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.rewriter import Rewriter

from .walk import walk

__all__ = ["convert_types"]


def convert_types(root: Operation, convert: Callable[[Attribute], Attribute]) -> None:
    """Convert the types of all results and block arguments in `root`, and the types that are
    properties, as those of functions and globals are.

    `convert` gets no function types, but the types in them.
    """

    def converted(type: Attribute) -> Attribute:
        if not isinstance(type, FunctionType):
            return convert(type)
        inputs, outputs = map(convert, type.inputs), map(convert, type.outputs)
        return FunctionType.from_lists([*inputs], [*outputs])

    for op in walk(root):
        for name, attribute in op.properties.items():
            if isinstance(attribute, TypeAttribute) and (new := converted(attribute)) != attribute:
                op.properties[name] = new
        args = (arg for region in op.regions for block in region.blocks for arg in block.args)
        for value in (*op.results, *args):
            if (type := converted(value.type)) != value.type:
                _set_type(value, type)


def _set_type(value: SSAValue, type: Attribute) -> None:
    new = Rewriter.replace_value_with_new_type(value, type)
    if isinstance(value, BlockArgument) and isinstance(new, BlockArgument):
        new.location = value.location
