"""The checks of sizes in the C interface against types and names of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects.sizes import Size, Symbol, TooComplex, size_of_text
from ..native.llvm_text import Body
from .signature import TensorParameter

__all__ = ["Refuse", "check_names", "check_sizes"]

Refuse = Callable[[str, str], None]
"""A function that returns with a message, its second argument, unless its first one holds."""


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
