"""The names of unknown dimensions: an attribute of parameters and results.

    func.func @main(%x: tensor<?x3x?xf32> {onnx.dims = ["batch", unit, "length"]})

Dimensions of one name have one size. Source: `onnx.dim_params` of onnx-mlir.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BytesAttr, DictionaryAttr, StringAttr, UnitAttr

__all__ = ["dimension_names_in", "with_dimension_names"]

DIMENSIONS = "onnx.dims"


def dimension_names_in(attributes: DictionaryAttr, rank: int) -> tuple[str | None, ...]:
    """Return the names of the dimensions of a parameter or result, None for those without one; an
    attribute with another number of entries than `rank` names none."""
    match attributes.data.get(DIMENSIONS):
        case ArrayAttr(data=names) if len(names) == rank:
            return tuple(map(_text, names))
        case _:
            return (None,) * rank


def _text(name: object) -> str | None:
    match name:
        case StringAttr(data=text):
            return text
        case BytesAttr(data=text):  # xDSL reads text that is not ASCII as bytes
            return text.decode(errors="replace")
        case _:
            return None


def with_dimension_names(attributes: DictionaryAttr, names: Sequence[str | None]) -> DictionaryAttr:
    """Return the attributes of a parameter or result with these names of its dimensions; without
    the attribute if there is none."""
    data = {key: value for key, value in attributes.data.items() if key != DIMENSIONS}
    if any(name is not None for name in names):
        entries = [UnitAttr() if name is None else StringAttr(name) for name in names]
        data[DIMENSIONS] = ArrayAttr(entries)
    return DictionaryAttr(data)
