"""Errors of the import: invalid models, and models that relax cannot represent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....passmanager.errors import PasslineError


class ModelError(PasslineError):
    """A file that is not an ONNX model, or an invalid model."""


class Unsupported(Exception):
    """The reason why a node cannot be imported; raised by its converter."""


@dataclass(frozen=True)
class UnsupportedNode:
    """A node that cannot be imported, and the reason."""

    name: str
    op_type: str
    opset: int
    reason: str

    def __str__(self) -> str:
        return f"node '{self.name}' ({self.op_type}, opset {self.opset}): {self.reason}"


class UnsupportedModelError(ModelError):
    """A model with nodes that cannot be imported; `nodes` lists all of them, in order."""

    def __init__(self, nodes: Sequence[UnsupportedNode]) -> None:
        count = f"{len(nodes)} nodes" if len(nodes) > 1 else "a node"
        super().__init__(f"the model has {count} that cannot be imported:\n" + _lines(nodes))
        self.nodes = tuple(nodes)


def _lines(nodes: Sequence[UnsupportedNode]) -> str:
    return "\n".join(f"  {node}" for node in nodes)
