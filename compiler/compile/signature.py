"""The signature of a compiled function, as its C interface has it: names, element types, shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, IndexType, IntegerType, Signedness
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...dialects.dimension_names import dimension_names_in
from ...dialects.tir.ops import output_count
from ..interpreters.signature import Function, argument_names, is_buffer, result_names

__all__ = ["C_TYPES", "Signature", "TensorParameter", "identifier", "signature_of"]


@dataclass(frozen=True)
class TensorParameter:
    """A parameter or a result."""

    name: str
    """The name in the model."""
    identifier: str
    """The name in C."""
    type: str
    """The element type, as MLIR has it: `f32`."""
    shape: tuple[int, ...]
    """The sizes, -1 for those that are not known."""
    dimensions: tuple[str | None, ...] = ()
    """The names of the dimensions, None for those without one."""
    is_number: bool = False
    """Whether it is a number, which is passed by value."""
    is_changed: bool = False
    """Whether it is a parameter that the function writes to."""
    is_allocated: bool = False
    """Whether it is a result that the function allocates."""

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known."""
        return DYNAMIC_INDEX not in self.shape

    @property
    def is_array(self) -> bool:
        """Whether it is passed as a `passline_array`: with its sizes, or to be allocated."""
        return self.is_allocated or not self.is_static

    @property
    def elements(self) -> int:
        """The number of elements, if the shape is static."""
        return prod(self.shape)


C_TYPES = {
    "f64": "double",
    "f32": "float",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "i1": "uint8_t",
    "index": "int64_t",
    **{f"{sign}{bits}": f"int{bits}_t" for sign in ("i", "si") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}
"""The type of C for each element type; f16 and bf16 are their bits, and i1 is a byte, 0 or 1."""


@dataclass(frozen=True)
class Signature:
    """A function: its name, and its inputs and results."""

    name: str
    inputs: tuple[TensorParameter, ...]
    results: tuple[TensorParameter, ...]


def signature_of(function: Function) -> Signature:
    """Return the signature of a function on buffers, which `parameters_of` accepts."""
    types, returned = function.function_type.inputs.data, function.function_type.outputs.data
    outputs = output_count(function)
    count = len(types) - outputs
    attributes = [*(function.arg_attrs or [DictionaryAttr({})] * len(types))]
    names = result_names(function) if outputs or returned else []
    changed = not (outputs or returned)
    inputs = _tensors("in_", argument_names(function), types[:count], attributes, changed=changed)
    if isinstance(function, FuncOp) and returned:
        given = [*(function.res_attrs or [DictionaryAttr({})] * len(returned))]
        results = _tensors("out_", names, returned, given, allocated=True)
    else:
        results = _tensors("out_", names, types[count:], attributes[count:])
    return Signature(function.sym_name.data, inputs, results)


def _tensors(
    prefix: str,
    names: Sequence[str],
    types: Sequence[Attribute],
    attributes: Sequence[DictionaryAttr],
    *,
    changed: bool = False,
    allocated: bool = False,
) -> tuple[TensorParameter, ...]:
    """Return tensors with these names; `prefix` keeps identifiers from being keywords."""
    identifiers: list[str] = []
    for position, name in enumerate(names):
        new = prefix + identifier(name)
        while new in identifiers:
            new += f"_{position}"
        identifiers.append(new)
    return tuple(
        TensorParameter(
            name,
            new,
            _element_name(type.element_type if is_buffer(type) else type),
            shape := type.get_shape() if is_buffer(type) else (),
            dimension_names_in(given, len(shape)),
            is_number=not is_buffer(type),
            is_changed=changed and is_buffer(type),
            is_allocated=allocated,
        )
        for name, new, type, given in zip(names, identifiers, types, attributes)
    )


def _element_name(type: Attribute) -> str:
    match type:
        case IntegerType(signedness=sign, width=width):
            prefix = {Signedness.SIGNED: "si", Signedness.UNSIGNED: "ui"}.get(sign.data, "i")
            return f"{prefix}{width.data}"
        case IndexType():
            return "index"
        case _:
            return str(type)


def identifier(name: str) -> str:
    """Return `name` with `_` for what C identifiers cannot have; it may begin with a digit."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)
