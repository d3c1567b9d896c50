"""Arrays in device memory: arguments of other libraries, and results as theirs, by DLPack."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...passmanager.errors import PasslineError
from ..interpreters.dlpack import CODES, HOST, NARROW, is_foreign
from .device import Device

if TYPE_CHECKING:
    from ..interpreters.dlpack import SupportsDLPack

__all__ = ["DeviceArray", "is_on_device", "read_device_array"]


class DLDevice(ctypes.Structure):
    """DLPack's description of a device."""

    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class DLTensor(ctypes.Structure):
    """DLPack's description of an array."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    """An array that crosses, with the function that frees it."""

    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


NAME = b"dltensor"
KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}
"""DLPack's codes of types by numpy's kinds."""
DTYPES = {code: kind for kind, code in KINDS.items()}

_api = ctypes.pythonapi
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR)(
    ("PyCapsule_New", _api)
)
# A capsule that is being destroyed is no object that Python may refer to: these take its address.
_is_unused = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)
_unused = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)

_crossed: dict[int, tuple[object, ...]] = {}
"""What arrays that have crossed to other libraries need, by the addresses of their descriptions."""


@DELETER
def _delete(address: int) -> None:
    _crossed.pop(address, None)


@_DESTRUCTOR
def _destroy(capsule: int) -> None:
    if _is_unused(capsule, NAME):
        _delete(_unused(capsule, NAME))


class DeviceArray:
    """A contiguous array in device memory; other libraries use it where it is.

    `array.numpy()` copies it.
    """

    def __init__(
        self,
        device: Device,
        address: int,
        shape: Sequence[int],
        dtype: np.dtype[Any],
        keeps: object,
        code: int | None = None,
    ) -> None:
        """`keeps` owns the memory; `code` is DLPack's code of floats that numpy lacks."""
        self._device, self._keeps = device, keeps
        self.address, self.shape, self.dtype = address, tuple(shape), dtype
        self.code = KINDS[dtype.kind] if code is None else code
        """DLPack's code of the type of the elements."""

    def numpy(self) -> np.ndarray[Any, np.dtype[Any]]:
        """Return a copy in the memory of the processor."""
        array = np.empty(self.shape, self.dtype)
        self._device.download(array, self.address)
        return array

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device.dlpack

    def __dlpack__(self, *, stream: int | None = None, **_: object) -> object:
        # Without a stream, DLPack means CUDA's default one, which waits for ours by itself; -1 is
        # of a consumer that needs no wait.
        if stream not in (None, -1, self._device.stream):
            self._device.wait_in(stream)
        sizes = (ctypes.c_int64 * len(self.shape))(*self.shape)
        managed = DLManagedTensor()
        tensor = managed.tensor
        tensor.data, tensor.device = self.address, DLDevice(*self._device.dlpack)
        tensor.ndim, tensor.shape = len(self.shape), sizes
        tensor.code, tensor.bits, tensor.lanes = self.code, 8 * self.dtype.itemsize, 1
        managed.deleter = _delete
        _crossed[ctypes.addressof(managed)] = managed, sizes, self._keeps
        return _new_capsule(ctypes.addressof(managed), NAME, _destroy)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        typestr, data = self.dtype.str, (self.address, False)
        rest: dict[str, object] = {"stream": self._device.stream or None, "strides": None}
        return {"shape": self.shape, "typestr": typestr, "data": data, "version": 3, **rest}

    def __repr__(self) -> str:
        return f"<DeviceArray {'x'.join(map(str, self.shape))} {self.dtype} on {self._device.name}>"


def is_on_device(value: object) -> bool:
    """Return whether a value is an array in the memory of a device."""
    if isinstance(value, np.ndarray | np.generic | int | float):
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    if not is_foreign(value):
        return False
    try:
        return value.__dlpack_device__()[0] not in HOST
    except Exception:  # it is on no device of DLPack
        return False


def read_device_array(name: str, value: object, device: Device) -> DeviceArray:
    """Return an array of another library as a DeviceArray on the same memory, after the work that
    computes it.

    PasslineError, which names it, if it is on another device, or has gaps.
    """
    if isinstance(value, DeviceArray):
        return value
    if is_foreign(value):
        return _by_dlpack(name, value, device)
    interface: dict[str, Any] = cast("Any", value).__cuda_array_interface__
    shape, dtype = interface["shape"], np.dtype(interface["typestr"])
    if not is_contiguous(shape, [s // dtype.itemsize for s in interface.get("strides") or ()]):
        raise _gaps(name)
    return DeviceArray(device, interface["data"][0], shape, dtype, value)


def _by_dlpack(name: str, value: SupportsDLPack, device: Device) -> DeviceArray:
    place = tuple(map(int, value.__dlpack_device__()))
    if place != device.dlpack:
        raise PasslineError(
            f"argument '{name}' is on device {place[1]} of DLPack's kind {place[0]}: expected "
            f"{device.name}, which is device {device.dlpack[1]} of kind {device.dlpack[0]}"
        )
    share = cast("Callable[..., object]", value.__dlpack__)
    try:
        capsule = share(stream=device.stream)
    except Exception as error:  # any of the other library
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise PasslineError(f"argument '{name}' cannot be read: {reason}") from error
    tensor = DLManagedTensor.from_address(cast("int", _pointer(capsule, NAME))).tensor
    shape = tensor.shape[: tensor.ndim]
    if not is_contiguous(shape, tensor.strides[: tensor.ndim] if tensor.strides else ()):
        raise _gaps(name)
    kind = DTYPES.get(tensor.code)
    dtype = np.dtype(f"{kind or 'u'}{tensor.bits // 8}")
    narrow = None if kind else tensor.code
    if kind is None and tensor.code not in NARROW:
        raise PasslineError(f"argument '{name}' has elements of DLPack's type {tensor.code}")
    address = (tensor.data or 0) + tensor.byte_offset
    return DeviceArray(device, address, shape, dtype, (value, capsule), narrow)


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return whether elements with these strides are in row-major order without gaps; no strides
    mean that they are."""
    if not strides or 0 in shape:
        return True
    expected = [prod(shape[i + 1 :]) for i in range(len(shape))]
    return all(n == 1 or s == e for n, s, e in zip(shape, strides, expected, strict=True))


def _gaps(name: str) -> PasslineError:
    return PasslineError(f"argument '{name}' has gaps: expected contiguous elements")


def code_of(element: object) -> int | None:
    """Return DLPack's code of an element type that numpy lacks; None of any other."""
    return CODES.get(str(element))
