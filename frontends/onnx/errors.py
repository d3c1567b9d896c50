"""What is wrong with a model, or cannot be said in relax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...passmanager.errors import PasslineError

__all__ = ["ModelError", "Unsupported", "UnsupportedModelError", "UnsupportedNode"]


class ModelError(PasslineError):
    """A file that is no ONNX model, or a model that is not valid."""


class Unsupported(Exception):
    """Raised by the converter of a node: why it cannot be imported."""


@dataclass(frozen=True)
class UnsupportedNode:
    """A node that cannot be imported, and why."""

    name: str
    op_type: str
    opset: int
    reason: str

    def __str__(self) -> str:
        return f"node '{self.name}' ({self.op_type}, opset {self.opset}): {self.reason}"


class UnsupportedModelError(ModelError):
    """A model with nodes that cannot be imported; `nodes` are all of them, in order."""

    def __init__(self, nodes: Sequence[UnsupportedNode]) -> None:
        count = f"{len(nodes)} nodes" if len(nodes) > 1 else "a node"
        super().__init__(f"the model has {count} that cannot be imported:\n" + _lines(nodes))
        self.nodes = tuple(nodes)


def _lines(nodes: Sequence[UnsupportedNode]) -> str:
    return "\n".join(f"  {node}" for node in nodes)
