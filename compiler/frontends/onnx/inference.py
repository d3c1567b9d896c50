"""Types declared in a model, and types inferred by ONNX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from onnx import GraphProto, NodeProto, TypeProto, helper, shape_inference
from onnx.defs import OpSchema
from xdsl.ir import Attribute

from ....dialects.relax.types import Tensor, is_tensor, refine
from ...interpreters.shape_bindings import bound_dimension
from .errors import ModelError, Unsupported
from .types import dimensions_of, type_of, type_proto, type_with

__all__ = ["GraphTypes", "check_initializer", "check_output", "inferred_outputs"]


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


def check_output(
    name: str,
    proto: TypeProto,
    type: Attribute,
    sizes: Mapping[str, int],
    warn: Callable[[str], None],
) -> None:
    """Compare the type of an output as it is computed with the one that it is declared with, where
    symbolic dimensions are `sizes`: of another shape `warn` gets a message, as onnxruntime warns.

    Errors: ModelError if the elements are of another type.
    """
    declared = _declared(proto, sizes)
    if declared is None or refine(type, declared) is not None:
        return
    message = f"output '{name}' is declared as {declared}, but the model computes {type}"
    if not is_tensor(type) or type.element_type != declared.element_type:
        raise ModelError(message)
    warn(message)


def check_initializer(name: str, proto: TypeProto, type: Attribute) -> None:
    """Raise ModelError if an input, whose initializer is of `type`, is declared with another."""
    declared = _declared(proto, {})
    if declared is not None and refine(type, declared) is None:
        raise ModelError(f"input '{name}' is declared as {declared}, but its initializer is {type}")


def _declared(proto: TypeProto, sizes: Mapping[str, int]) -> Tensor | None:
    """Return a declared type; None if it is missing or not of a tensor that relax has."""
    dimensions = dimensions_of(proto)
    if dimensions is not None:
        dimensions = tuple(bound_dimension(dimension, sizes) for dimension in dimensions)
    try:
        return type_with(proto, dimensions)
    except Unsupported:
        return None


def inferred_outputs(
    node: NodeProto, schema: OpSchema, inputs: Sequence[Tensor | None], opsets: Mapping[str, int]
) -> dict[str, Tensor]:
    """The types that ONNX infers for the outputs of a node with inputs of these types.

    A node with graphs inside is left out: onnx's inference may crash on invalid ones.
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
