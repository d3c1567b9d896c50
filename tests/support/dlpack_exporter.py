"""An array of a library of our own, which shares its memory by DLPack."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

__all__ = ["CPU", "CUDA", "Exporter"]

CPU, CUDA = 1, 2
"""Devices."""
KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
"""DLPack's codes of types by numpy's."""
READ_ONLY = 1
"""The flag of memory that may not be written to."""


class Tensor(ctypes.Structure):
    """DLTensor"""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class Old(ctypes.Structure):
    """DLManagedTensor"""

    _fields_ = (("tensor", Tensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class New(ctypes.Structure):
    """DLManagedTensorVersioned"""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


_deleter_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))


_exported: list[Exporter] = []
"""All arrays that were shared, which live on: whoever has the memory may call the deleter."""


class Exporter:
    """An array whose memory other libraries can read, and which counts how often they ask for it
    and give it back. Memory that they refuse is not counted: its capsule has no destructor."""

    def __init__(
        self,
        array: NDArray[Any],
        *,
        code: int | None = None,
        device: tuple[int, int] = (CPU, 0),
        is_old: bool = False,
    ) -> None:
        """`code` replaces DLPack's code of the type; `is_old` is without versions and flags."""
        self.array = array
        self._code = KINDS[array.dtype.kind] if code is None else code
        self._device, self._is_old = device, is_old
        self._keeps: list[object] = []
        self.exported = self.deleted = 0
        self._deleter = _deleter_type(self._delete)

    def _delete(self, memory: int) -> None:
        self.deleted += 1

    @property
    def address(self) -> int:
        """The address of the first element."""
        return self.array.__array_interface__["data"][0]

    def __dlpack__(self, *, stream: None = None, **options: object) -> Any:
        self.exported += 1
        _exported.append(self)
        array, kept = self.array, self._numbers(self.array.shape)
        strides = self._numbers([stride // array.itemsize for stride in array.strides])
        deleter = ctypes.cast(self._deleter, ctypes.c_void_p)
        tensor = Tensor(
            self.address,
            *self._device,
            array.ndim,
            self._code,
            8 * array.itemsize,
            1,
            kept,
            strides,
        )
        if self._is_old or "max_version" not in options:
            managed, name = Old(tensor, None, deleter), b"dltensor"
        else:
            flags = 0 if array.flags.writeable else READ_ONLY
            managed, name = New(1, 0, None, deleter, flags, tensor), b"dltensor_versioned"
        self._keeps.append(managed)
        return _new_capsule(ctypes.addressof(managed), name, None)

    def _numbers(self, values: Sequence[int]) -> Any:
        self._keeps.append(numbers := (ctypes.c_int64 * len(values))(*values))
        return ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int64))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device
