"""Types declared in a model, and types inferred by ONNX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from onnx import GraphProto, NodeProto, helper, shape_inference
from onnx.defs import OpSchema

from ...dialects.relax.types import Tensor
from .errors import Unsupported
from .types import type_of, type_proto

__all__ = ["GraphTypes", "inferred_outputs"]


class GraphTypes(Mapping[str, Tensor]):
    """The types that a graph declares for its values, with sizes for symbolic dimensions.

    Those of its outputs count only with `outputs`: exporters of models with an unknown batch leave
    there the size of an example (onnxmltools the label of a LightGBM classifier as `int64[1]`).
    """

    def __init__(self, graph: GraphProto, sizes: Mapping[str, int], *, outputs: bool) -> None:
        self._sizes = sizes
        infos = (*graph.value_info, *graph.output) if outputs else graph.value_info
        self._infos = {info.name: info for info in infos}

    def __getitem__(self, name: str) -> Tensor:
        try:
            return type_of(self._infos[name].type, self._sizes)
        except Unsupported:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)


def inferred_outputs(
    node: NodeProto, schema: OpSchema, inputs: Sequence[Tensor | None], opsets: Mapping[str, int]
) -> dict[str, Tensor]:
    """The types that ONNX infers for the outputs of a node with inputs of these types.

    Not of a node with graphs inside, of which onnx's inference does not survive all that are wrong.
    """
    if any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
        return {}
    pairs = zip(node.input, inputs, strict=True)
    types = {name: type_proto(type) for name, type in pairs if name and type is not None}
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    try:
        outputs = shape_inference.infer_node_outputs(schema, node, types, opset_imports=imports)
    except Exception:  # what ONNX cannot infer is not known
        return {}
    found: dict[str, Tensor] = {}
    for name, proto in outputs.items():
        with suppress(Unsupported):
            found[name] = type_of(proto)
    return found
