"""Arrays of other libraries: arguments as numpy arrays on the same memory, and results as theirs.

The protocol is DLPack (`__dlpack__`), by which PyTorch, JAX, TVM and others share memory. Numpy
reads it, but lacks the floats of 8 bits and bf16: these cross as unsigned integers of as many bits.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Protocol, TypeAlias, cast, get_args

import numpy as np
from typing_extensions import TypeIs
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from ...passmanager.errors import PasslineError
from .arrays import Array, NarrowFloat, codes_of, numbers_of
from .signature import Function, Value, argument_names

__all__ = [
    "FromDLPack",
    "SupportsDLPack",
    "array_for",
    "as_numpy",
    "bits_of",
    "borrowed",
    "dtype_text",
    "holds",
    "is_foreign",
    "library_of",
    "returned",
]


class SupportsDLPack(Protocol):
    """An array that other libraries can read where it is."""

    def __dlpack__(self, *, stream: None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


FromDLPack: TypeAlias = Callable[[SupportsDLPack], object]
"""The function of a library that makes an array of it on the memory of another array."""
UNSIGNED = 1
"""DLPack's code of unsigned integers."""
NARROW = {
    4: "bf16",
    10: "f8E4M3FN",
    11: "f8E4M3FNUZ",
    12: "f8E5M2",
    13: "f8E5M2FNUZ",
    14: "f8E8M0FNU",
}
"""The floats that numpy lacks, as MLIR names them, by DLPack's codes."""
NARROW_CLASSES = frozenset(get_args(NarrowFloat))
CODES = {name: code for code, name in NARROW.items()}
HOST = frozenset({1, 3, 11, 13})
"""DLPack's codes of memory that a processor can read: its own, that pinned for CUDA and ROCm, and
memory that CUDA manages."""
DEVICES = {
    2: "cuda",
    4: "opencl",
    7: "vulkan",
    8: "metal",
    9: "vpi",
    10: "rocm",
    12: "ext_dev",
    14: "oneapi",
    15: "webgpu",
    16: "hexagon",
    17: "maia",
    18: "trn",
}
"""The names of other devices by DLPack's codes."""


# Arguments


def is_foreign(value: object) -> TypeIs[SupportsDLPack]:
    """Return whether a value is an array of another library than numpy."""
    return hasattr(type(value), "__dlpack__") and not isinstance(value, np.ndarray)


def borrowed(function: Function, arguments: Sequence[object]) -> tuple[Any, ...]:
    """Return the arguments of a call with numpy arrays on the memory of arrays of other libraries.

    PasslineError, which names the parameter, for an array that is on a device, and for one that its
    library refuses to share, as PyTorch does with a tensor that requires a gradient.
    """
    given: list[object] = []
    for i, argument in enumerate(arguments):
        try:
            given.append(as_numpy(argument))
        except ValueError as error:
            name = dict(enumerate(argument_names(function))).get(i, i)
            raise PasslineError(f"argument '{name}' {error}") from error
    return tuple(given)


def array_for(name: str, value: object) -> Array:
    """Return a value as a numpy array, on the memory of an array of another library; PasslineError,
    whose text begins with `name`, if it cannot be read."""
    try:
        return np.asarray(as_numpy(value))
    except ValueError as error:
        raise PasslineError(f"{name} {error}") from error


def as_numpy(value: object) -> object:
    """Return an array of another library as a numpy array on the same memory, which the array keeps
    alive; other values as they are, and tuples of both.

    An array that its library does not share but copies (`__array__`) is copied. The elements of
    narrow floats are in fields of numpy's structures, named like the type, as `holds` tells.
    ValueError, whose text continues the name of the array, if it cannot be read.
    """
    if isinstance(value, tuple):
        return tuple(map(as_numpy, cast("tuple[object, ...]", value)))
    if not is_foreign(value):
        return value
    try:
        return np.from_dlpack(value)
    except Exception as error:  # numpy's, or any of the other library
        return _as_numpy_otherwise(value, error)


def _as_numpy_otherwise(value: SupportsDLPack, error: Exception) -> Array:
    """Return an array that numpy cannot read by itself, which raised `error`."""
    try:
        device, number = value.__dlpack_device__()
    except Exception:  # it is on no device of DLPack
        raise _unreadable(error) from error
    if device not in HOST:
        name = DEVICES.get(device, f"device {int(device)}")
        raise ValueError(f"is on {name}:{number}: expected an array in the memory of the processor")
    readers = [_bits, np.asarray] if hasattr(type(value), "__array__") else [_bits]
    for read in readers:
        try:
            return read(cast("Array", value))
        except Exception as another:
            error = another
    raise _unreadable(error) from error


def _unreadable(error: Exception) -> ValueError:
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    return ValueError(f"cannot be read: {reason}")


def _bits(value: SupportsDLPack) -> Array:
    """Return an array of narrow floats, each in a field that is named like the type."""
    shared = _Retyped(value, UNSIGNED)
    array = np.from_dlpack(shared)
    element = NARROW.get(shared.replaced)
    if element is None:
        raise ValueError(f"numpy has no elements of DLPack's type {shared.replaced}")
    return array.view([(element, array.dtype)])


# Narrow floats


def holds(dtype: np.dtype[Any], element: NarrowFloat) -> bool:
    """Return whether arrays of a dtype hold the bits of a narrow float: a structure of `as_numpy`,
    or a dtype of ml_dtypes, as `bfloat16`."""
    name = dtype_text(dtype).replace("float", "f").replace("_", "")
    return name.lower() == str(element).lower()


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype for a message."""
    return ",".join(dtype.names) if dtype.names else str(dtype)


def bits_of(array: Array) -> Array:
    """Return the bits of narrow floats as unsigned integers."""
    return array.view(f"u{array.dtype.itemsize}")


# Results


def library_of(values: Iterable[object]) -> FromDLPack | None:
    """Return how the library of the first array that is not numpy's makes arrays of others; None if
    all arrays are numpy's.

    If the library does not do that, results stay numpy's.
    """
    for value in values:
        if isinstance(value, tuple):
            if (found := library_of(cast("tuple[object, ...]", value))) is not None:
                return found
        elif is_foreign(value):
            return _from_dlpack(value)
    return None


def _from_dlpack(value: SupportsDLPack) -> FromDLPack:
    """Return `from_dlpack` of the library of an array: its `__array_namespace__`, as the standard
    of arrays has it, or the package that defines its class."""
    if not hasattr(type(value), "__array_namespace__"):
        return _from_dlpack_of(type(value))
    namespace = cast("Array", value).__array_namespace__()
    return getattr(namespace, "from_dlpack", _stay)


@lru_cache(64)
def _from_dlpack_of(cls: type[object]) -> FromDLPack:
    """Return `from_dlpack` of the package that defines a class, or one from which it derives."""
    packages = [base.__module__.partition(".")[0] for base in cls.__mro__]
    functions = (getattr(sys.modules.get(name), "from_dlpack", None) for name in packages)
    return next(filter(None, functions), _stay)


def _stay(array: SupportsDLPack) -> object:
    return array


def returned(
    results: Sequence[Value], types: Sequence[Attribute], library: FromDLPack
) -> tuple[Any, ...]:
    """Return results of these types as arrays of a library, on the same memory.

    Narrow floats, which are f32 or bits here, have their own type there. Memory that is read-only
    is copied: most libraries do not know of that.
    """
    return tuple(map(_returned, results, types, repeat(library)))


def _returned(value: Value, type: Attribute, library: FromDLPack) -> object:
    if isinstance(value, tuple):
        assert isinstance(type, TupleType)
        return returned(cast("tuple[Value, ...]", value), type.types.data, library)
    if callable(value):
        return value
    element: Attribute = getattr(type, "element_type", type)
    if element.__class__ in NARROW_CLASSES:
        element = cast("NarrowFloat", element)
        bits = codes_of(value, element) if value.dtype == np.float32 else bits_of(value)
        if (code := CODES.get(str(element))) is not None and library is not _stay:
            return library(_Retyped(bits, code))
        value = numbers_of(bits, element)
    return library(value if value.flags.writeable else value.copy())


# The type of the elements of an array that crosses


class DataType(ctypes.Structure):
    """DLPack's description of the type of elements."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


PLACES = {b"dltensor": 20, b"dltensor_versioned": 52}
"""The offset of the type of elements in the memory of a capsule, by the name of the capsule."""

_memory_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)


class _Retyped:
    """An array whose elements cross as those of another type of as many bits."""

    def __init__(self, array: SupportsDLPack, code: int) -> None:
        self._array, self._code = array, code
        self.replaced = code
        """DLPack's code of the type of the array, when it has crossed."""

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._array.__dlpack__(**options)
        for name, offset in PLACES.items():
            if _is_valid(capsule, name):
                # The memory was made for this crossing alone, and belongs to the capsule.
                type = DataType.from_address(cast("int", _memory_of(capsule, name)) + offset)
                self.replaced, type.code = type.code, self._code
                return capsule
        raise BufferError("its capsule is none of DLPack")

    def __dlpack_device__(self) -> tuple[Any, Any]:
        return self._array.__dlpack_device__()
