"""Buffers in global memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from .tile_values import Array, device_size, is_exact_element, tile_dtype

__all__ = ["DeviceBuffer"]


@dataclass(eq=False)
class DeviceBuffer:
    """An allocation."""

    name: str
    element: Attribute
    data: Array
    """All elements, flat."""
    base: int
    """The address of the first one."""
    is_new: bool = False
    """Whether its elements have no value until they are written."""

    def typed(self, element: Attribute) -> Array:
        """Return the buffer as elements of a type."""
        if element == self.element:
            return self.data
        if (is_exact_element(element) and is_exact_element(self.element)) or (
            device_size(element) == device_size(self.element) == 1
            and tile_dtype(element).itemsize == self.data.itemsize
        ):
            return self.data.view(tile_dtype(element))
        raise InterpretationError(f"{self.name} of {self.element} is accessed as {element}")

    def elements(self, addresses: Array, element: Attribute) -> Array:
        """Return the indices of elements at addresses."""
        return (addresses - self.base) // device_size(element)
