"""The signature of a compiled function in its C interface, and the checks of sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, DictionaryAttr, IndexType, IntegerType, Signedness
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...dialects.signature import dimension_names_in
from ...dialects.sizes import Size, Symbol, TooComplex, size_of_text
from ...dialects.tir.ops import output_count
from ..interpreters.signature import Function, argument_names, is_buffer, result_names
from ..native.codegen import Body

# The signature of a compiled function, as its C interface has it: names, element types, shapes.


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
    """Return tensors with these names; `prefix` keeps identifiers from being keywords or macros."""
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


# The checks of sizes in the C interface: those of arrays are what the types and the names of the
# dimensions say, on which passes rely.


Refuse = Callable[[str, str], None]
"""A function that writes code: it returns from the function of the interface, with the message that
is the second argument, unless the condition that is the first one holds."""


def check_sizes(body: Body, tensor: TensorParameter, sizes: Sequence[str], refuse: Refuse) -> None:
    """Compare the sizes of an array with its type."""
    for axis, (size, given) in enumerate(zip(tensor.shape, sizes, strict=True)):
        operator, number = ("eq", size) if size >= 0 else ("sge", 0)
        fits = body.value(f"icmp {operator} i64 {given}, {number}")
        expected = size if size >= 0 else "0 or more"
        refuse(fits, f"dimension {axis} of '{tensor.name}' is wrong: expected {expected}")


def check_names(
    body: Body, arrays: Sequence[tuple[TensorParameter, Sequence[str]]], refuse: Refuse
) -> None:
    """Compare the sizes of dimensions of one name, and those that are expressions.

    A name has the size of the first dimension that is that name alone; else that which solves the
    first expression in which it is the only one that is not known.
    """
    dimensions = [
        (f"dimension {axis} of '{tensor.name}'", name, size_of(name), sizes[axis])
        for tensor, sizes in arrays
        for axis, name in enumerate(tensor.dimensions)
        if name is not None and tensor.shape[axis] < 0
    ]
    dimensions.sort(key=lambda each: each[2].lone_symbol is None)
    known: dict[str, str] = {}
    texts: dict[str, str] = {}
    for place, name, size, given in dimensions:
        unknown = {symbol.name for symbol in size.symbols() if symbol.name not in known}
        wrong = f"{place} is '{name}': other sizes say another one"
        if not unknown:
            said = value_of(body, size, known)
        elif len(unknown) == 1 and (line := line_of(size)) is not None:
            slope, offset = line
            rest = body.value(f"sub i64 {given}, {offset}")
            known[unknown.pop()] = quotient = body.value(f"sdiv i64 {rest}, {slope}")
            said = body.value(f"add i64 {body.value(f'mul i64 {quotient}, {slope}')}, {offset}")
            if slope == 1:
                continue
            wrong = f"{place} is not '{name}' for any size"
        else:
            said = texts.setdefault(name, given)
        refuse(body.value(f"icmp eq i64 {given}, {said}"), wrong)


def size_of(name: str) -> Size:
    """Return the size that a text says; a text that is too complex is a name."""
    try:
        return size_of_text(name)
    except TooComplex:
        return Size.symbol(name)


def line_of(size: Size) -> tuple[int, int] | None:
    """Return a and b of a size a * n + b with one unknown, a positive; None for another one."""
    match size.terms:
        case (((Symbol(),), slope),) if slope > 0:
            return slope, 0
        case (((), offset), ((Symbol(),), slope)) if slope > 0:
            return slope, offset
        case _:
            return None


def value_of(body: Body, size: Size, known: dict[str, str]) -> str:
    """Return the value of a size whose names are all known."""
    total = "0"
    for product, factor in size.terms:
        value = str(factor)
        for atom in product:
            if isinstance(atom, Symbol):
                other = known[atom.name]
            else:
                other = floor_division(body, value_of(body, atom.dividend, known), atom.divisor)
            value = body.value(f"mul i64 {value}, {other}")
        total = body.value(f"add i64 {total}, {value}")
    return total


def floor_division(body: Body, dividend: str, divisor: int) -> str:
    """Return a quotient, rounded down; the divisor is positive."""
    quotient = body.value(f"sdiv i64 {dividend}, {divisor}")
    rest = body.value(f"srem i64 {dividend}, {divisor}")
    less = body.value(f"lshr i64 {rest}, 63")  # 1 where the rest is negative
    return body.value(f"sub i64 {quotient}, {less}")
