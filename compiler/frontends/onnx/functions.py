"""The functions of a model: the attributes of their calls, and their size when inlined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from onnx import AttributeProto, FunctionProto, NodeProto

__all__ = ["Functions", "function_key", "inlined_size", "substitute"]

Functions: TypeAlias = Mapping[tuple[str, str, str], FunctionProto]
"""The functions of a model by domain, name and overload."""


def function_key(item: FunctionProto | NodeProto) -> tuple[str, str, str]:
    """Return the key of a function, or of the function that a node calls."""
    name = item.op_type if isinstance(item, NodeProto) else item.name
    return item.domain, name, getattr(item, "overload", "")


def inlined_size(nodes: Iterable[NodeProto], functions: Functions) -> int:
    """Return the number of nodes, those of graphs in attributes included, once all calls of
    `functions` are inlined; a recursive call counts as one node."""
    sizes: dict[tuple[str, str, str], int] = {}

    def size_of(node: NodeProto) -> int:
        key = function_key(node)
        if (size := sizes.get(key)) is not None:
            return size
        if (function := functions.get(key)) is None:
            return 1 + sum(map(size_of, _inner_nodes(node)))
        sizes[key] = 1
        sizes[key] = sum(map(size_of, function.node))
        return sizes[key]

    return sum(map(size_of, nodes))


def _inner_nodes(node: NodeProto) -> Iterator[NodeProto]:
    """Yield the nodes of the graphs in the attributes of a node."""
    for attribute in node.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            yield from graph.node


def substitute(node: NodeProto, attributes: Mapping[str, AttributeProto]) -> NodeProto:
    """Return a copy of a node of a function body with references replaced by attributes of the
    call."""
    if not any(a.ref_attr_name or a.HasField("g") for a in node.attribute):
        return node
    copy = NodeProto()
    copy.CopyFrom(node)
    substitute_in(copy, attributes)
    return copy


def substitute_in(node: NodeProto, attributes: Mapping[str, AttributeProto]) -> None:
    """Replace references in a node by attributes of the call, in nested graphs too."""
    own = list(node.attribute)
    del node.attribute[:]
    for attribute in own:
        if attribute.ref_attr_name:
            if (given := attributes.get(attribute.ref_attr_name)) is not None:
                copy = node.attribute.add()
                copy.CopyFrom(given)
                copy.name = attribute.name
            continue
        for inner in attribute.g.node if attribute.HasField("g") else ():
            substitute_in(inner, attributes)
        node.attribute.append(attribute)
