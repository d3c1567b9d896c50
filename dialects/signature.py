"""The names of arguments and dimensions in the signature of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DictionaryAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

__all__ = [
    "DIMENSIONS",
    "TRANSFORM_PARAMS",
    "annotate_results",
    "dimension_names_in",
    "name_in",
    "of_function_type",
    "of_signature",
    "rename_dimensions",
    "text_of",
    "transformation_of",
    "with_dimension_names",
    "with_name",
]


# The promises of methods about what they look at: in the operation, or in its text.


Method = TypeVar("Method", bound=Callable[..., object])


def of_signature(method: Method) -> Method:
    """Mark a `print` or `verify_` that depends on class, properties, attributes and types alone; a
    `verify_` may look at the arguments of the first block of a region, whether it is the only one,
    and at the class of its last op and the types of its operands. A `print` may look at the same
    but these types, and whether the last op has attributes or is the only one.

    One op then stands for all of the same: the others are printed from its text, with their own
    names of values, and are taken as valid. So the method must not look at owners and uses of
    values, at constants behind operands, at the surroundings or at the location.
    """
    setattr(method, "of_signature", True)
    return method


def of_function_type(method: Method) -> Method:
    """Mark a `parse` of a text that ends with the type of a function from operands to results.

    Nothing else may depend on this type: with another one, the same text before it must give the
    same operation but for these types.
    """
    setattr(method, "of_function_type", True)
    return method


# The names that a model gives to its inputs and outputs: an attribute of parameters and results.
#
#     func.func @main(%data.0: tensor<4xf32> {onnx.name = "gpu_0/data_0"})
#
# A value name of MLIR can have few characters, and no printer has to keep it. Source: onnx-mlir.


NAME = "onnx.name"


def name_in(attributes: DictionaryAttr) -> str | None:
    """Return the name in the attributes of a parameter or result, or None."""
    return text_of(attributes.data.get(NAME))


def text_of(attribute: object) -> str | None:
    """Return the text that an attribute is, or None."""
    match attribute:
        case StringAttr(data=text):
            return text
        case BytesAttr(data=text):  # xDSL reads text that is not ASCII as bytes
            return text.decode(errors="replace")
        case _:
            return None


def with_name(attributes: DictionaryAttr, name: str) -> DictionaryAttr:
    """Return the attributes of a parameter or result with the name `name`."""
    return DictionaryAttr({**attributes.data, NAME: StringAttr(name)})


# The names of unknown dimensions: an attribute of parameters and results.
#
#     func.func @main(%x: tensor<?x3x?xf32> {onnx.dims = ["batch", unit, "2 * length"]})
#
# Dimensions of one name have one size, and expressions (`sizes.py`) the size that they compute.
# Those of parameters are known; those of results and operations only say what
# `infer-symbolic-shapes` found, or the model declares. Source: `onnx.dim_params` of onnx-mlir.


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


# The attribute of a function whose last parameters another function computes from the weights.
#
#   func.func @main(%x: ..., %w: ...) attributes {relax.transform_params = @main_transform_params}
#
# `lift-transform-params` sets it.


TRANSFORM_PARAMS = "relax.transform_params"


def transformation_of(func: Operation) -> str:
    """Return the name of the function that computes the last parameters of `func`, or ""."""
    name = func.attributes.get(TRANSFORM_PARAMS)
    return name.root_reference.data if isinstance(name, SymbolRefAttr) else ""
