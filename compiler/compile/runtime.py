"""Functions in libraries of `passline-compile`, called with numpy arrays.

    >>> from passline.compiler.compile.runtime import Library
    >>> library = Library("squeezenet.so")
    >>> (scores,) = library["main"](image)

This file needs numpy and nothing else of Passline: it may be copied beside a library.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Function", "Library", "LibraryError", "RuntimeTensor"]

Array: TypeAlias = NDArray[Any]
Argument: TypeAlias = "Array | np.generic | float | Shareable"


class Shareable(Protocol):
    """An array of another library, such as PyTorch, that shares its memory by DLPack."""

    def __dlpack__(self, *, stream: None = None) -> Any: ...


INTERFACE = 1
"""The version of the C interface that this file knows."""
SYMBOL = "passline_this_library"
"""The variable with the address of a library's description."""
NUMBER, ALLOCATED, CHANGED = 1, 2, 4
"""The flags of a tensor."""

DTYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "index": np.int64,
    **{
        f"{sign}{bits}": np.dtype(f"i{bits // 8}")
        for sign in ("i", "si")
        for bits in (8, 16, 32, 64)
    },
    **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
}
"""The dtype for each element type but bf16, which numpy does not have: its arrays are float32."""


class LibraryError(Exception):
    """An unusable library, an argument that does not fit, or a failed assertion of a model."""


# The structs of the C interface, which the header of each library declares


class CFailure(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("message", "location", "call")]


class CArray(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("memory", ctypes.c_void_p),
    ]


class CTensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_char_p),
        ("rank", ctypes.c_int64),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("dimensions", ctypes.POINTER(ctypes.c_char_p)),
        ("flags", ctypes.c_int64),
    ]


Call = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(CArray), ctypes.POINTER(CArray), ctypes.POINTER(CFailure)
)


class CFunction(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("symbol", ctypes.c_char_p),
        ("input_count", ctypes.c_int64),
        ("inputs", ctypes.POINTER(CTensor)),
        ("result_count", ctypes.c_int64),
        ("results", ctypes.POINTER(CTensor)),
        ("call", Call),
    ]


class CLibrary(ctypes.Structure):
    _fields_ = [
        ("interface", ctypes.c_int64),
        *((name, ctypes.c_char_p) for name in ("name", "compiler", "triple", "cpu", "features")),
        ("function_count", ctypes.c_int64),
        ("functions", ctypes.POINTER(CFunction)),
    ]


@dataclass(frozen=True)
class RuntimeTensor:
    """An input or a result of a function."""

    name: str
    """The name in the model."""
    type: str
    """The element type, as MLIR calls it: `f32`, `bf16`, `i1`, `ui8`."""
    shape: tuple[int | None, ...]
    """The sizes, None for those that are not known."""
    dimensions: tuple[str | None, ...]
    """The names of the dimensions, None for those without one."""
    flags: int

    @staticmethod
    def of(described: Any) -> RuntimeTensor:
        """Return the tensor of a CTensor."""
        sizes = [described.shape[i] for i in range(described.rank)]
        names = [described.dimensions[i] for i in range(described.rank)]
        return RuntimeTensor(
            described.name.decode(),
            described.type.decode(),
            tuple(None if size < 0 else size for size in sizes),
            tuple(None if name is None else name.decode() for name in names),
            described.flags,
        )

    def __str__(self) -> str:
        pairs = zip(self.shape, self.dimensions, strict=True)
        sizes = [name or "?" if size is None else str(size) for size, name in pairs]
        return f"{self.name}: {'x'.join([*sizes, self.type])}"

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its arrays."""
        return np.dtype(DTYPES.get(self.type, np.float32))

    @cached_property
    def stored(self) -> np.dtype[Any]:
        """The dtype of its elements in memory: that of the bits for bf16."""
        return np.dtype(np.uint16) if self.type == "bf16" else self.dtype

    def in_memory(self, value: Argument) -> Array:
        """Return an argument as the function reads it; LibraryError if it does not fit."""
        if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
            value = self.shared(value)
        is_array = isinstance(value, np.ndarray | np.generic)
        array = np.asarray(value, None if is_array or self.shape else self.dtype)
        if self.type == "bf16" and array.dtype.name == "bfloat16":  # of ml_dtypes
            array = array.view(np.uint16)
        elif array.dtype != self.dtype:
            raise LibraryError(f"input '{self.name}' is {array.dtype}: expected {self.dtype}")
        elif self.type == "bf16":
            array = rounded_to_bf16(array)
        fits = [size in (None, given) for size, given in zip(self.shape, array.shape)]
        if array.ndim != len(self.shape) or not all(fits):
            given = "x".join(map(str, array.shape)) or "a scalar"
            raise LibraryError(f"input '{self.name}' is {given}: expected {self}")
        usable = array.flags.c_contiguous and array.flags.aligned
        if self.flags & CHANGED:
            if array is not value or not usable or not array.flags.writeable:
                raise LibraryError(
                    f"input '{self.name}' is changed: expected an array of {self.stored} that is "
                    "writable and contiguous"
                )
            return array
        return array if usable else np.array(array, order="C")

    def shared(self, value: Any) -> Array:
        """Return an array of another library as a numpy array on its memory; LibraryError if it is
        not shared."""
        try:
            return np.from_dlpack(value)
        except Exception as error:  # numpy's, or any of the library
            device = f" on {value.device}" if hasattr(value, "device") else ""
            raise LibraryError(f"input '{self.name}'{device} cannot be read: {error}") from error

    def from_memory(self, array: Array) -> Array:
        """Return the elements of a result for the caller."""
        if self.type != "bf16":
            return array
        return (array.astype(np.uint32) << 16).view(np.float32)


def rounded_to_bf16(array: Array) -> Array:
    """Return the bits of float32 numbers rounded to bf16, ties to even."""
    bits = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)


class Function:
    """A function of a library, called with its inputs in order; the results are a tuple of new
    arrays. LibraryError for arguments that do not fit, and where an assertion of the model fails.
    Several threads may call it at once.
    """

    def __init__(self, described: Any, keeps: object) -> None:
        self.name: str = described.name.decode()
        self.inputs = [RuntimeTensor.of(described.inputs[i]) for i in range(described.input_count)]
        count = described.result_count
        self.results = [RuntimeTensor.of(described.results[i]) for i in range(count)]
        self._call = described.call
        self._keeps = keeps

    def __repr__(self) -> str:
        inputs, results = (", ".join(map(str, each)) for each in (self.inputs, self.results))
        return f"{self.name}({inputs}) -> ({results})"

    def __call__(self, *arguments: Argument) -> tuple[Array, ...]:
        if len(arguments) != (count := len(self.inputs)):
            takes = f"{self.name} takes {count} argument{'s' * (count != 1)}"
            raise LibraryError(f"{takes}, not {len(arguments)}: {self!r}")
        given = [t.in_memory(value) for t, value in zip(self.inputs, arguments, strict=True)]
        self._check_dimensions(given)
        made = [new(tensor) for tensor in self.results]
        inputs = (CArray * len(given))(*map(passed, given))
        pairs = zip(self.results, made, strict=True)
        results = (CArray * len(made))(*(space(t) if a is None else passed(a) for t, a in pairs))
        if self._call(inputs, results, failure := CFailure()):
            raise LibraryError(message_of(failure))
        zipped = zip(self.results, made, results, strict=True)
        return tuple(t.from_memory(taken(t, c) if a is None else a) for t, a, c in zipped)

    def _check_dimensions(self, given: Sequence[Array]) -> None:
        """Raise LibraryError if dimensions of one name have several sizes."""
        sizes: dict[str, tuple[int, str]] = {}
        for tensor, array in zip(self.inputs, given, strict=True):
            for axis, (name, size) in enumerate(zip(tensor.dimensions, array.shape, strict=True)):
                place = f"dimension {axis} of '{tensor.name}'"
                if name is not None and (first := sizes.setdefault(name, (size, place)))[0] != size:
                    raise LibraryError(
                        f"{place} is '{name}', which is {first[0]} by {first[1]}, not {size}"
                    )


def new(tensor: RuntimeTensor) -> Array | None:
    """Return an array for a result, None for one that the function allocates."""
    if tensor.flags & ALLOCATED:
        return None
    return np.empty([size for size in tensor.shape if size is not None], tensor.stored)


def passed(array: Array) -> CArray:
    """Return an array as the function takes it."""
    return CArray(array.ctypes.data, (ctypes.c_int64 * array.ndim)(*array.shape), None)


def space(tensor: RuntimeTensor) -> CArray:
    """Return room for the description of a result that the function allocates."""
    return CArray(None, (ctypes.c_int64 * len(tensor.shape))(), None)


def taken(tensor: RuntimeTensor, result: CArray) -> Array:
    """Return a copy of a result that the function allocated, and free the memory of it."""
    try:
        shape = [result.shape[i] for i in range(len(tensor.shape))]
        size = prod(shape) * tensor.stored.itemsize
        data = ctypes.string_at(result.data, size) if size else b""
        return np.frombuffer(bytearray(data), tensor.stored).reshape(shape)
    finally:
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(result.memory)


def message_of(failure: CFailure) -> str:
    """Return the error message for a call that failed."""
    message, location, call = (
        None if text is None else text.decode(errors="replace")
        for text in (failure.message, failure.location, failure.call)
    )
    if location is None:
        return message or "the function failed"
    called = f" (called at {call})" if call else ""
    return f"assertion failed at {location}: {message}{called}"


class Library(Mapping[str, Function]):
    """The functions of a library by name.

    LibraryError for a file that `passline-compile` did not make, and for one that is for another
    machine; OSError for one that cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        file = Path(path)
        check_machine(file)
        try:
            loaded = ctypes.CDLL(str(file.absolute()))
        except OSError as error:
            raise LibraryError(f"'{file}' cannot be loaded: {error}") from None
        try:
            address = ctypes.c_void_p.in_dll(loaded, SYMBOL).value
        except ValueError:
            raise LibraryError(f"'{file}' is not a library of passline-compile") from None
        described = CLibrary.from_address(address or 0)
        if described.interface != INTERFACE:
            raise LibraryError(
                f"'{file}' has version {described.interface} of the interface: expected {INTERFACE}"
            )
        self.name: str = described.name.decode()
        self.compiler: str = described.compiler.decode()
        self.triple: str = described.triple.decode()
        self.cpu: str = described.cpu.decode()
        self.features: str = described.features.decode()
        """The features of the processor that the code needs, as LLVM calls them."""
        if missing := missing_features(self.features, own_flags()):
            raise LibraryError(
                f"'{file}' is for {self.cpu}; this processor lacks {', '.join(missing)}"
            )
        functions = [described.functions[i] for i in range(described.function_count)]
        self._functions = {f.name.decode(): Function(f, loaded) for f in functions}

    def __getitem__(self, name: str) -> Function:
        if name not in self._functions:
            known = ", ".join(self._functions)
            raise LibraryError(f"the library has no function '{name}': it has {known}")
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


# The machine

MACHINES = {62: "x86_64", 183: "aarch64"}
"""The architectures by their numbers in ELF."""

FLAGS = {
    "avx512bf16": "avx512_bf16",
    "avx512bitalg": "avx512_bitalg",
    "avx512fp16": "avx512_fp16",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512vnni": "avx512_vnni",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "avxvnni": "avx_vnni",
    "bmi": "bmi1",
    "fullfp16": "asimdhp",
    "dotprod": "asimddp",
    "lzcnt": "abm",
    "neon": "asimd",
    "sahf": "lahf_lm",
    "sse3": "pni",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    **{
        name: name
        for name in (
            "adx avx avx2 avx512bw avx512cd avx512dq avx512f avx512ifma avx512vbmi avx512vl bf16 "
            "bmi2 cx16 f16c fma gfni i8mm movbe popcnt sse sse2 ssse3 sve sve2 vaes vpclmulqdq"
        ).split()
    },
}
"""The features that code for tensors may use: LLVM's name, and that in /proc/cpuinfo."""


def check_machine(file: Path) -> None:
    """Raise LibraryError if a file is no shared library in ELF, is for another architecture, or is
    cut off, with which the dynamic linker would end the process."""
    with file.open("rb") as stream:
        start = stream.read(64)
    if not start.startswith(b"\x7fELF") or len(start) < 64:
        raise LibraryError(f"'{file}' is not a shared library for Linux")
    (number,) = struct.unpack("<H" if start[5] == 1 else ">H", start[18:20])
    own = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower())
    own = own or platform.machine()
    arch = MACHINES.get(number, f"machine {number}")
    if arch != own or sys.platform != "linux":
        raise LibraryError(f"'{file}' is for {arch} with Linux: this is {own}, {sys.platform}")
    (table,) = struct.unpack_from("<Q", start, 40)  # of sections, which is at the end
    size, count = struct.unpack_from("<HH", start, 58)
    if file.stat().st_size < table + size * count:
        raise LibraryError(f"'{file}' is not complete")


def own_flags() -> frozenset[str] | None:
    """Return the features of this processor, as Linux calls them; None if it does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    return None if found is None else frozenset(found[1].split())


def missing_features(features: str, flags: frozenset[str] | None) -> list[str]:
    """Return those of `features`, which are LLVM's text, that `flags` do not have."""
    wanted = [name[1:] for name in features.split(",") if name.startswith("+")]
    if flags is None:
        return []
    return [name for name in wanted if name in FLAGS and FLAGS[name] not in flags]
