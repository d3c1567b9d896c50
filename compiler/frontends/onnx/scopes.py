"""The names of values in graphs and nested graphs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import cache
from typing import TypeAlias

from onnx import NodeProto, TensorProto
from xdsl.dialects.builtin import NameLoc, NoneAttr, StringAttr
from xdsl.ir import SSAValue

from ....dialects.relax.types import Tensor
from ....passmanager.fast.creation import make_attribute
from .errors import ModelError, UnsupportedNode

__all__ = [
    "GraphScope",
    "Missing",
    "Value",
    "check_name",
    "hint_of",
    "name_location",
    "name_of",
    "undefined",
]


class Missing(Enum):
    """The reason why a name has no value."""

    NOT_GIVEN = auto()
    """The name is an optional input of a function, left out in the call."""
    UNKNOWN = auto()
    """A node before is not supported."""


Value: TypeAlias = SSAValue | TensorProto | UnsupportedNode | Missing
"""The meaning of a name. A tensor becomes a constant, and an output of an unsupported node becomes
an error, only when the name is used."""


class GraphScope:
    """The names in a graph; names of the outer graphs are visible too."""

    def __init__(self, outer: GraphScope | None, types: Mapping[str, Tensor]) -> None:
        self.values: dict[str, Value] = {}
        self.outer = outer
        self.types = types
        """The types of values that the model declares, where they are needed."""

    def find(self, name: str) -> GraphScope | None:
        """Return the innermost scope that defines `name`, or None."""
        scope: GraphScope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.outer
        return scope

    def define(self, name: str, value: Value) -> None:
        """Bind a name to a value; ModelError if it is bound already."""
        if name in self.values:
            raise ModelError(f"the name '{name}' is defined twice")
        self.values[name] = value


def check_name(name: str | bytes) -> None:
    """Raise ModelError for a name that is not UTF-8, which protobuf leaves as bytes."""
    if isinstance(name, bytes):
        raise ModelError(f"the name {ascii(name)[1:]} is not UTF-8")


def name_of(node: NodeProto) -> str:
    """Return the name of a node, or else of its first output."""
    return node.name or next(filter(None, node.output), "")


@cache
def hint_of(name: str) -> str | None:
    """Return a name of the model as a name hint for MLIR, or None if no valid character is left.

    xDSL drops a number after an underscore, so a dot replaces the underscore.
    """
    check_name(name)
    name = re.sub(r"[^\w$.-]", "_", name, flags=re.ASCII).strip("_")
    if name[:1].isdigit():
        name = f"v{name}"
    return re.sub(r"_(\d+)$", r".\1", name) or None


def name_location(name: str) -> NameLoc:
    """Return the location for a name in the model."""
    check_name(name)
    return make_attribute(NameLoc, desc=make_attribute(StringAttr, data=name), location=_NOWHERE)


_NOWHERE = NoneAttr()


def undefined(name: str, node: NodeProto, following: Sequence[NodeProto]) -> str:
    """Return the message on a name that is used but not defined."""
    who = f"node '{name_of(node)}' ({node.op_type}) uses '{name}'"
    for later in following:
        if name in later.output:
            return f"{who}, which the later node '{name_of(later)}' ({later.op_type}) computes"
    if name in node.output:
        return f"{who}, which it computes itself"
    return f"{who}, which is not defined"
