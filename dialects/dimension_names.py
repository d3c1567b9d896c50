"""The names of unknown dimensions: an attribute of parameters and results.

    func.func @main(%x: tensor<?x3x?xf32> {onnx.dims = ["batch", unit, "2 * length"]})

Dimensions of one name have one size, and expressions (`sizes.py`) the size that they compute. Those
of parameters are known; those of results and operations only say what `infer-symbolic-shapes`
found, or the model declares. Source: `onnx.dim_params` of onnx-mlir.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from .argument_names import text_of

__all__ = [
    "DIMENSIONS",
    "annotate_results",
    "dimension_names_in",
    "rename_dimensions",
    "with_dimension_names",
]

DIMENSIONS = "onnx.dims"


def dimension_names_in(attributes: DictionaryAttr, rank: int) -> tuple[str | None, ...]:
    """Return the names of the dimensions of a parameter or result, None for those without one; an
    attribute with another number of entries than `rank` names none."""
    match attributes.data.get(DIMENSIONS):
        case ArrayAttr(data=names) if len(names) == rank:
            return tuple(map(text_of, names))
        case _:
            return (None,) * rank


def with_dimension_names(attributes: DictionaryAttr, names: Sequence[str | None]) -> DictionaryAttr:
    """Return the attributes of a parameter or result with these names of its dimensions; without
    the attribute if there is none."""
    data = {key: value for key, value in attributes.data.items() if key != DIMENSIONS}
    if any(name is not None for name in names):
        data[DIMENSIONS] = _entries(names)
    return DictionaryAttr(data)


def _entries(names: Sequence[str | None]) -> ArrayAttr[Attribute]:
    return ArrayAttr([UnitAttr() if name is None else StringAttr(name) for name in names])


def annotate_results(op: Operation, names: Sequence[Sequence[str | None]]) -> None:
    """Say the names of the dimensions of each result of an operation, in a list of lists; remove
    the attribute if there are none."""
    op.attributes.pop(DIMENSIONS, None)
    if any(name is not None for row in names for name in row):
        op.attributes[DIMENSIONS] = ArrayAttr([_entries(row) for row in names])


def rename_dimensions(op: Operation, rename: Callable[[str], str | None]) -> None:
    """Replace the names that an operation says of the dimensions of its results."""
    if not isinstance(rows := op.attributes.get(DIMENSIONS), ArrayAttr):
        return
    names: list[list[str | None]] = []
    for row in cast("ArrayAttr[Attribute]", rows):
        entries = cast("ArrayAttr[Attribute]", row) if isinstance(row, ArrayAttr) else ()
        names.append([name and rename(name) for name in map(text_of, entries)])
    annotate_results(op, names)
