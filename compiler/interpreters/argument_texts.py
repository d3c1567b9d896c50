"""The arguments of a call as a user writes them: numbers, and nested lists of numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from math import inf, nan, prod
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, Signedness, i64
from xdsl.ir import Attribute

from ...dialects.relax.shapes import merge
from ...dialects.relax.types import Element, is_element
from ...passmanager.errors import PasslineError
from ...passmanager.options.text import shortened
from .arguments import is_shaped
from .signature import Function, argument_names, input_types

if TYPE_CHECKING:
    from .arrays import Array

__all__ = ["split_values", "written_arguments"]

Number: TypeAlias = int | float
Nested: TypeAlias = "Number | list[Nested]"

WORDS: dict[str, Number] = {"inf": inf, "nan": nan, "true": True, "false": False}


def split_values(text: str) -> list[str]:
    """Return the values in a text that separates them by commas, as `4, [1.0, 2.0]`; PasslineError
    if it is not of this form."""
    try:
        match _parse(f"[{text}\n]"):
            case ast.List(values):
                return [ast.unparse(value) for value in values]
            case _:  # the text closes the list
                pass
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise PasslineError(f"expected values as 4, [1.0, 2.0], got '{shortened(text)}'")


def written_arguments(func: Function, texts: Sequence[str]) -> dict[str, Array]:
    """Return the arguments for `func` by parameter name, from the text of each; the types of the
    parameters are those of the arrays.

    PasslineError if their number is another, or if one is no value of its type.
    """
    names, types = argument_names(func), input_types(func)
    function = f"@{func.sym_name.data}"
    if len(texts) != len(types):
        noun = "argument" if len(types) == 1 else "arguments"
        of = f" ({', '.join(map(str, types))})" if types else ""
        raise PasslineError(f"{function} takes {len(types)} {noun}{of}, {len(texts)} given")
    arrays: dict[str, Array] = {}
    for i, (name, type, text) in enumerate(zip(names, types, texts), 1):
        try:
            arrays[name] = _array(text, type)
        except ValueError as error:
            where = f"argument {i} of {function}, '{name}', is {type}"
            raise PasslineError(f"{where}: {error}") from None
    return arrays


def _array(text: str, type: Attribute) -> Array:
    """Return the value of a type in `text`; ValueError if there is none."""
    element = type.element_type if is_shaped(type) else type
    element = i64 if isinstance(element, IndexType) else element
    if not is_element(element):
        raise ValueError("a value of this type cannot be written as text: give it with --inputs")
    shape = type.get_shape() if is_shaped(type) else ()
    value = _value(text)
    found = _shape(value)
    if prod(found) == 0 and 0 in shape and DYNAMIC_INDEX not in shape:
        found = shape  # an empty list stands for any empty tensor
    if merge(shape, found) is None:
        raise ValueError(f"expected {_described(shape)}, got {_described(found)}")
    return _fitted([*_numbers(value)], element).reshape(found)


def _described(shape: Sequence[int]) -> str:
    """Return what a value of a shape is."""
    sizes = "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in shape)
    return f"a list of {sizes} numbers" if sizes else "a number"


def _value(text: str) -> Nested:
    """Return the number or the nested list in a text; ValueError if it is none."""
    try:
        return _nested(_parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        expected = "a number, or a list as [1.0, 2.0]"
        raise ValueError(f"expected {expected}, got '{shortened(text)}'") from None


def _parse(text: str) -> ast.expr:
    """Return the expression in a text."""
    return ast.parse(text.strip(), mode="eval").body


def _nested(node: ast.expr) -> Nested:
    """Return the value of an expression; ValueError for one that is neither a number nor a list."""
    match node:
        case ast.List(elements) | ast.Tuple(elements):
            return [_nested(element) for element in elements]
        case ast.Constant(bool() | int() | float() as number):
            return number
        case ast.Name(name) if name.lower() in WORDS:
            return WORDS[name.lower()]
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            number = _nested(operand)
            if isinstance(number, list):
                raise ValueError
            return -number if isinstance(sign, ast.USub) else number
        case _:
            raise ValueError


def _shape(value: Nested) -> tuple[int, ...]:
    """Return the shape of nested lists; ValueError if lists beside each other differ in theirs."""
    if not isinstance(value, list):
        return ()
    shapes = {_shape(element) for element in value}
    if len(shapes) > 1:
        raise ValueError("expected lists of one length in each dimension")
    return (len(value), *(shapes.pop() if shapes else ()))


def _numbers(value: Nested) -> Iterator[Number]:
    """Yield the numbers in nested lists."""
    if isinstance(value, list):
        for element in value:
            yield from _numbers(element)
    else:
        yield value


def _fitted(numbers: Sequence[Number], element: Element) -> Array:
    """Return an array of numbers of a type; ValueError for one that the type does not have."""
    import numpy as np

    from .arrays import fit

    if isinstance(element, IntegerType):
        array = np.array([_wrapped(number, element) for number in numbers], _words_of(element))
        return fit(array, element)
    try:
        array = np.array(numbers, np.float64)
    except OverflowError:
        raise ValueError("a number is out of range") from None
    with np.errstate(over="ignore"):
        fitted = fit(array, element)
    if lost := [n for n, new in zip(numbers, fitted) if np.isinf(new) and abs(n) != inf]:
        raise ValueError(f"{lost[0]} is out of range")
    return fitted


def _words_of(type: IntegerType) -> str:
    """Return the dtype that holds every number of a type of at most 64 bits."""
    return "u8" if type.signedness.data is Signedness.UNSIGNED else "i8"


def _wrapped(number: Number, type: IntegerType) -> int:
    """Return an integer of a type: a signless one may be written with or without a sign."""
    if not isinstance(number, int):
        raise ValueError(f"expected an integer, got {number}")
    half, signedness = 1 << type.bitwidth - 1, type.signedness.data
    minimum = 0 if signedness is Signedness.UNSIGNED else -half
    if not minimum <= number < (half if signedness is Signedness.SIGNED else 2 * half):
        raise ValueError(f"{number} is out of range")
    if signedness is Signedness.UNSIGNED:
        return number
    return (number + half) % (2 * half) - half
