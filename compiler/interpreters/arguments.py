"""The arguments of a call: by name, at random, as text, in files."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from math import inf, nan, prod
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloatConstr,
    DictionaryAttr,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    i64,
)
from xdsl.ir import Attribute

from ...dialects.relax.shapes import merge
from ...dialects.relax.types import Element, is_element
from ...dialects.signature import dimension_names_in
from ...dialects.sizes import size_of_text
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.limits import too_many_elements
from ...passmanager.names import did_you_mean
from ...passmanager.options import shortened
from ...passmanager.output.files import replacing
from .shape_bindings import Bindings, Dimension, bind_shapes, bound_dimension
from .signature import Function, Value, argument_names, input_types

if TYPE_CHECKING:
    from .arrays import Array

__all__ = [
    "check_arguments",
    "check_array",
    "has_related_sizes",
    "is_scalar",
    "is_shaped",
    "load_arrays",
    "named_arguments",
    "random_arguments",
    "save_arrays",
    "split_values",
    "unknown_dimensions",
    "written_arguments",
]


# The arguments of a call: by name, at random, and checked against the parameter types.


Shaped: TypeAlias = TensorType[Attribute] | MemRefType[Attribute]

MAX_RANDOM_BITS = 12
"""Up to this power of 2 a size is tried for unknown dimensions of random arguments."""


def named_arguments(func: Function, arrays: Mapping[str, Array]) -> list[Array]:
    """Return the arguments for `func` from arrays by parameter name.

    `arr_0`, `arr_1`, ..., the names that `numpy.savez` gives to unnamed arrays, are positions.
    PasslineError if a parameter has no array, or a name is not that of a parameter.
    """
    names = argument_names(func)
    by_position = {f"arr_{i}": name for i, name in enumerate(names)}
    given: dict[str, Array] = {}
    for name, array in arrays.items():
        parameter = name if name in names else by_position.get(name, name)
        if parameter in given:
            raise PasslineError(f"parameter '{parameter}' is given twice, by name and by position")
        given[parameter] = array
    for name in given:
        if name not in names:
            has = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
            raise PasslineError(
                f"@{func.sym_name.data} has no parameter '{name}'"
                f"{did_you_mean(name, names) or f': {has}'}"
            )
    if missing := [name for name in names if name not in given]:
        raise PasslineError(f"no value is given for parameter {', '.join(missing)}")
    return [given[name] for name in names]


def random_arguments(
    func: Function, seed: int, ranges: Mapping[str, tuple[int, int]] = MappingProxyType({})
) -> list[Array]:
    """Return random arguments for `func`.

    Floats are normally distributed (mean 0, variance 1), integers uniform from 0 to 9. `ranges`
    gives parameters, by name, that are used as indices: they are uniform integers from the minimum
    to the maximum. Unknown dimensions have the sizes of `unknown_dimensions`. PasslineError if a
    parameter is not a number, or a tensor or buffer of numbers of known rank, or is too large for
    the memory; for a negative seed.
    """
    import numpy as np

    from .arrays import fit

    if seed < 0:
        raise PasslineError(f"the seed of random arguments is 0 or more, not {seed}")
    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    chosen = _random_sizes(func)
    rows = zip(argument_names(func), input_types(func), _dimensions(func), strict=True)
    for name, type, dimensions in rows:
        element = type.element_type if is_shaped(type) else type
        element = i64 if isinstance(type, IndexType) else element
        if not is_element(element):
            raise PasslineError(
                f"cannot generate random values for parameter '{name}' of type {type}: pass its "
                "value, at the shell with --inputs"
            )
        shape = [_size(d, chosen) for d in dimensions or ()]
        try:
            if name in ranges or isinstance(element, IntegerType):
                low, high = ranges.get(name, (0, 9))
                array = rng.integers(low, high, shape, endpoint=True)
            else:
                array = rng.standard_normal(shape)
        except (MemoryError, ValueError) as error:
            raise PasslineError(
                f"cannot generate random values for parameter '{name}' of type {type}: {error}"
            ) from None
        arrays.append(fit(np.asarray(array), element))
    return arrays


def unknown_dimensions(func: Function) -> dict[str, int]:
    """Return the unknown dimensions of the parameters of `func` with the sizes that they have in
    random arguments: `batch` for those of a name, `dimension 1 of x` for others.

    The size is 1; if an expression such as `h // 2` is 0 then, names have the smallest power of 2
    for which it is not.
    """
    found: dict[str, int] = {}
    chosen = _random_sizes(func)
    for name, dimensions in zip(argument_names(func), _dimensions(func), strict=True):
        for i, dimension in enumerate(dimensions or ()):
            if isinstance(dimension, str):
                names = [symbol.name for symbol in size_of_text(dimension).symbols()]
                found |= {each: chosen[each] for each in names}
            elif dimension is None:
                found[f"dimension {i} of {name}"] = 1
    return found


def _dimensions(func: Function) -> list[tuple[Dimension, ...] | None]:
    """Return the dimensions of each parameter; None for one that is not shaped."""
    found: list[tuple[Dimension, ...] | None] = []
    attributes = func.arg_attrs or [DictionaryAttr({})] * len(func.args)
    for type, given in zip(input_types(func), attributes):  # results of a buffer function are last
        if not is_shaped(type):
            found.append(None)
            continue
        shape = type.get_shape()
        names = dimension_names_in(given, len(shape))
        pairs = zip(shape, names, strict=True)
        found.append(tuple(name if d == DYNAMIC_INDEX else d for d, name in pairs))
    return found


def _random_sizes(func: Function) -> dict[str, int]:
    """Return sizes of the names of dimensions for which no dimension is empty, if there are."""
    texts = {d for dims in _dimensions(func) for d in dims or () if isinstance(d, str)}
    names = {symbol.name for text in texts for symbol in size_of_text(text).symbols()}
    for size in (1 << i for i in range(MAX_RANDOM_BITS)):
        chosen = dict.fromkeys(names, size)
        if all(_size(text, chosen) > 0 for text in texts):
            return chosen
    return dict.fromkeys(names, 1)


def _size(dimension: Dimension, chosen: Mapping[str, int]) -> int:
    """Return the size of a dimension of a random argument."""
    bound = bound_dimension(dimension, chosen)
    return max(bound, 0) if isinstance(bound, int) else 1


def check_arguments(
    func: Function, arguments: Sequence[Value], *, keep_bits: bool = False
) -> tuple[object, ...]:
    """Return the arguments in the form that the interpreter takes.

    Tensors and buffers become arrays, scalars become Python numbers, other values stay as they are.
    Arrays of bf16 and of the floats of 8 bits become f32; with `keep_bits`, unsigned integers of
    the same memory. PasslineError if the number of arguments or the type of one does not match, or
    if dimensions of one name differ.
    """
    names, types = argument_names(func), input_types(func)
    if (given := len(arguments)) != (count := len(types)):
        takes = f"@{func.sym_name.data} takes {count} argument{'s' * (count != 1)}"
        raise PasslineError(f"{takes}, {given} {'is' if given == 1 else 'are'} given")
    checked = tuple(map(_check_argument, names, types, arguments, repeat(keep_bits)))
    if func.arg_attrs is not None:
        _check_names(func, names, checked)
    return checked


def _check_names(func: Function, names: Sequence[str], arguments: Sequence[object]) -> None:
    """Raise ShapeBindingError if dimensions of one name, or of an expression, have other sizes than
    the names say: passes rely on these."""
    attributes = func.arg_attrs or [DictionaryAttr({})] * len(func.args)
    rows = zip(names, _dimensions(func), arguments, attributes, strict=False)
    declared: dict[str, tuple[Dimension, ...]] = {}
    shapes: dict[str, Sequence[int]] = {}
    known: dict[str, Sequence[str | None]] = {}
    for name, dimensions, argument, given in rows:
        said = dimension_names_in(given, len(dimensions or ()))
        if dimensions is not None and any(each is not None for each in said):
            declared[name], known[name] = dimensions, said
            shapes[name] = getattr(argument, "shape", ())
    if declared:
        bind_shapes(declared, Bindings(shapes, {}), known)


def has_related_sizes(func: Function) -> bool:
    """Return whether the sizes of arguments have to agree: a name is that of several dimensions, or
    of an expression."""
    names = [d for dims in _dimensions(func) for d in dims or () if isinstance(d, str)]
    return len({*names}) < len(names) or not all(map(str.isidentifier, names))


def _check_argument(name: str, type: Attribute, value: Value, keep_bits: bool) -> object:
    if is_shaped(type):
        return check_array(f"parameter '{name}'", type, value, keep_bits=keep_bits)
    return _check_scalar(name, type, value) if is_scalar(type) else value


def _check_scalar(name: str, type: Attribute, value: Value) -> object:
    import numpy as np

    integer = isinstance(type, IndexType | IntegerType)
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in ("biu" if integer else "biuf"):
        got = f"an array of {array.ndim} dimensions" if array.ndim else array.dtype
        expected = "an integer" if integer else "a number"
        raise PasslineError(f"parameter '{name}' is {type}: expected {expected}, got {got}")
    number = array.item()
    bits = type.bitwidth if isinstance(type, IntegerType) else 64
    # Signless integers: both the signed and the unsigned range are accepted.
    if integer and not -(1 << bits - 1) <= number < 1 << bits:
        raise PasslineError(f"parameter '{name}' is {type}: {number} is out of range")
    return number


def check_array(name: str, type: Shaped, value: Value, *, keep_bits: bool) -> Array:
    """Return a value that has a type as an array, as `check_arguments`; `name` begins the text of
    the PasslineError."""
    import numpy as np

    from .arrays import NarrowFloat, dtype_of, numbers_of

    array = np.asarray(value)
    element, shape = type.element_type, type.get_shape()
    element = i64 if isinstance(element, IndexType) else element
    dtype = dtype_of(element) if is_element(element) else array.dtype
    fits = merge(shape, array.shape) is not None
    if fits and array.dtype == dtype:
        return array
    from .dlpack import bits_of, dtype_text, holds

    if fits and isinstance(element, NarrowFloat) and holds(array.dtype, element):
        bits = bits_of(array)
        return bits if keep_bits else numbers_of(bits, element)
    expected = dtype if fits else f"{dtype} of {_sizes(shape)}"
    raise PasslineError(
        f"{name} is {type}: expected {expected}, "
        f"got {dtype_text(array.dtype)} of {_sizes(array.shape)}"
    )


def _sizes(shape: Sequence[int]) -> str:
    """Return a shape for a message."""
    return "x".join("?" if n == DYNAMIC_INDEX else str(n) for n in shape) or "no dimensions"


def is_shaped(type: Attribute) -> TypeIs[Shaped]:
    """Return whether `type` is the type of a ranked tensor or buffer."""
    return isinstance(type, TensorType | MemRefType)


def is_scalar(type: Attribute) -> bool:
    """Return whether `type` is the type of a number."""
    return isinstance(type, IndexType | IntegerType) or AnyFloatConstr.verifies(type)


# The arguments of a call as a user writes them: numbers, and nested lists of numbers.


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


# Files of arrays in the format of `numpy.savez`.


def load_arrays(file: str) -> dict[str, Array]:
    """Return the arrays in a file written by `numpy.savez`; PasslineError for any other file."""
    import numpy as np

    try:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():  # compressed zeros may be any number
                limit = PassContext.current().max_elements
                if (reason := too_many_elements([member.file_size // 8], limit)) is not None:
                    raise PasslineError(f"'{file}': {member.filename} of 8 bytes each: {reason}")
        arrays: object = np.load(file, allow_pickle=False)  # a pickle may run code
        if isinstance(arrays, np.lib.npyio.NpzFile):
            with arrays:
                return {name: arrays[name] for name in arrays.files}
    except (PasslineError, OSError):
        raise
    except Exception:  # zipfile, numpy and the tokenizer of the header raise any; or no memory
        pass
    raise PasslineError(f"'{file}' is not a file of arrays (.npz)")


def save_arrays(file: str, arrays: Mapping[str, Array]) -> None:
    """Write arrays in the format of `numpy.savez`, in pieces; the file is replaced at the end."""
    import numpy as np

    # Not numpy.savez: it takes names as keywords beside its own.
    with replacing(Path(file)) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
