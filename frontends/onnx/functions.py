"""The attributes of a call, substituted in the body of a function."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import AttributeProto, NodeProto

__all__ = ["substitute"]


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
