"""The attributes and inputs of ONNX Resize and Upsample."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Unsupported
from ...node import Node

__all__ = ["Resize"]


@dataclass
class Resize:
    """The attributes of a node, in the form of the newest opset, and the indices of its inputs."""

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
        """Return whether an input is present and not empty."""
        if index is None or not self.node.has(index):
            return False
        return self.node.shape(index) != (0,)

    def floats(self, index: int | None, each: int = 1) -> list[float] | None:
        """Return the numbers of a constant input, `each` per axis; None if it is absent or not
        constant."""
        if index is None or not self.given(index):
            return None
        if (array := self.node.constant(index)) is None:
            return None
        if array.size != each * len(self.axes):
            raise Unsupported(f"input {index} has {array.size} elements for {len(self.axes)} axes")
        return [float(number) for number in array.reshape(-1)]
