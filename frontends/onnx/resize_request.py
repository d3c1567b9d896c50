"""The attributes and inputs of ONNX Resize and Upsample."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import Unsupported
from .node import Node

__all__ = ["Resize"]


@dataclass
class Resize:
    """What a node says, in any version: the attributes, and which inputs are which."""

    node: Node
    axes: list[int]
    method: str
    coordinates: str
    rounding: str
    roi: int | None
    scales: int | None
    sizes: int | None
    policy: str = "stretch"

    def given(self, index: int | None) -> bool:
        """Whether an input is given and not empty."""
        if index is None or not self.node.has(index):
            return False
        return self.node.shape(index) != (0,)

    def floats(self, index: int | None, each: int = 1) -> list[float] | None:
        """The numbers in an input that is given and depends on constants alone, so many an axis."""
        if index is None or not self.given(index):
            return None
        if (array := self.node.constant(index)) is None:
            return None
        if array.size != each * len(self.axes):
            raise Unsupported(f"input {index} has {array.size} elements for {len(self.axes)} axes")
        return [float(number) for number in array.reshape(-1)]
