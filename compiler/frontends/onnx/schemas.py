"""The schemas of ONNX operators, and the types that a model declares or that ONNX infers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple, Protocol, TypeAlias, cast

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    OperatorSetIdProto,
    TypeProto,
    defs,
    helper,
    shape_inference,
)
from onnx.defs import OpSchema
from xdsl.ir import Attribute

from ....dialects.relax.types import Tensor, is_tensor, refine
from ....dialects.sizes import Size
from ....passmanager.names import did_you_mean
from ...interpreters.shape_bindings import bound_dimension
from .contrib.signatures import DOMAIN, REFUSED, contrib_names, contrib_schema, early_schema
from .errors import ModelError, Unsupported
from .types import dimensions_of, type_of, type_proto, type_with
from .values import check_name

# The schemas of ONNX operators.


OLDEST_OPSET = 6

Opsets: TypeAlias = Mapping[str, int]
"""The version of each domain of operators."""


class _Functions(Protocol):
    """The members of OpSchema that its type stubs leave out."""

    has_function: bool
    function_opset_versions: Sequence[int]
    has_context_dependent_function: bool
    context_dependent_function_opset_versions: Sequence[int]

    def get_function_with_opset_version(self, opset: int, /) -> bytes: ...

    def get_context_dependent_function_with_opset_version(
        self, opset: int, node: bytes, types: Sequence[bytes], /
    ) -> bytes: ...


class _Enumerated(Protocol):
    """The members of OpSchema.AttrType that its type stubs leave out."""

    value: AttributeProto.AttributeType


class _Attribute(NamedTuple):
    type: AttributeProto.AttributeType
    default: AttributeProto | None


# Domains


def canonical(domain: str) -> str:
    """Return the canonical name of a domain; ONNX's own has two."""
    return "" if domain == "ai.onnx" else domain


def opsets_of(imports: Iterable[OperatorSetIdProto]) -> Opsets:
    """Return the opset versions that a model or function imports; ModelError for an unknown
    domain."""
    opsets = {canonical(entry.domain): entry.version for entry in imports}
    for domain, version in opsets.items():
        check_name(domain)
        if not 0 <= version < 1 << 31:
            raise ModelError(f"opset {version} of '{domain or 'ai.onnx'}' is unknown")
    newest = defs.onnx_opset_version()
    if (version := opsets.get("", newest)) > newest:
        raise ModelError(f"opset {version} is unknown: the installed onnx supports up to {newest}")
    return opsets


# Operators


@cache
def find_schema(domain: str, op_type: str, version: int) -> OpSchema | None:
    """Return the schema of an operator in an opset version, or None."""
    if domain == DOMAIN:
        return contrib_schema(op_type)
    try:
        return defs.get_schema(op_type, version, domain)
    except defs.SchemaError:
        return None if domain else early_schema(op_type)


def unknown_operator(domain: str, op_type: str, version: int) -> str:
    """Return the message on an operator that an opset version does not have."""
    if domain == DOMAIN:
        if op_type in REFUSED:
            return f"this operator is not supported: {REFUSED[op_type]}"
        near = did_you_mean(op_type, contrib_names())
        return f"no operator of '{domain}' that is supported has this name{near}"
    known = {schema.name: schema for schema in defs.get_all_schemas() if schema.domain == domain}
    if op_type in known:
        versions = [s for s in defs.get_all_schemas_with_history() if s.name == op_type]
        first = min(s.since_version for s in versions if s.domain == domain)
        return f"this operator was added in opset {first}"
    where = f"domain '{domain}'" if domain else "ONNX"
    return f"no operator of {where} has this name{did_you_mean(op_type, known)}"


def check_form(node: NodeProto, schema: OpSchema) -> None:
    """Raise Unsupported if a node does not match the inputs and attributes of its schema, or has
    an unsupported old form."""
    form = _form(schema)
    if form.is_ancient:
        raise Unsupported(
            f"its version is older than opset {OLDEST_OPSET}; "
            "onnx.version_converter can update the model"
        )
    given = len(node.input)
    if not form.min_input <= given <= form.max_input:
        minimum, maximum = form.min_input, form.max_input
        expected = f"{minimum} to {maximum}" if maximum > minimum else str(minimum)
        raise Unsupported(f"has {given} inputs, expected {expected}")
    known = form.attributes
    for attribute in node.attribute:
        if (definition := known.get(attribute.name)) is None:
            names = ", ".join(known) or "none"
            raise Unsupported(f"has no attribute '{attribute.name}'; its attributes are {names}")
        if attribute.type != definition.type:
            kind = AttributeProto.AttributeType.Name
            raise Unsupported(
                f"attribute '{attribute.name}' is of type {kind(attribute.type)}, "
                f"expected {kind(definition.type)}"
            )
    for name in form.required:
        if all(attribute.name != name for attribute in node.attribute):
            raise Unsupported(f"attribute '{name}' is missing")


class _Form(NamedTuple):
    """The part of a schema that a node has to match; each field of a schema is a call into C++."""

    is_ancient: bool
    min_input: int
    max_input: int
    attributes: Mapping[str, _Attribute]
    required: Sequence[str]


@cache
def _form(schema: OpSchema) -> _Form:
    return _Form(
        schema.domain == "" and _is_ancient(schema),
        schema.min_input,
        schema.max_input,
        _attributes(schema),
        [name for name, attribute in schema.attributes.items() if attribute.required],
    )


def _is_ancient(schema: OpSchema) -> bool:
    """Return whether an operator changed before the oldest supported opset."""
    if schema.since_version >= OLDEST_OPSET:
        return False
    current = find_schema("", schema.name, OLDEST_OPSET)
    return current is None or current.since_version != schema.since_version


@cache
def _attributes(schema: OpSchema) -> Mapping[str, _Attribute]:
    """Return the attributes of an operator."""
    return {
        name: _Attribute(
            cast(_Enumerated, attribute.type).value,
            attribute.default_value if attribute.default_value.type else None,
        )
        for name, attribute in schema.attributes.items()
    }


def default_attributes(schema: OpSchema) -> list[AttributeProto]:
    """Return the attributes of an operator with a default value, set to it."""
    return [a.default for a in _attributes(schema).values() if a.default is not None]


def default_attribute(schema: OpSchema, name: str) -> AttributeProto | None:
    """Return the default of an attribute, or None."""
    attribute = _attributes(schema).get(name)
    return None if attribute is None else attribute.default


# Definitions of operators by others


def has_body(schema: OpSchema) -> bool:
    """Return whether ONNX may define an operator by a function body."""
    functions = cast(_Functions, schema)
    return functions.has_function or functions.has_context_dependent_function


def function_body(
    schema: OpSchema, opset: int, node: NodeProto, types: Sequence[Tensor | None]
) -> FunctionProto | None:
    """Return the function body of a node for these input types, or None."""
    functions = cast(_Functions, schema)
    if functions.has_function:
        version = _usable(functions.function_opset_versions, opset)
        return _static_body(schema, version)
    if functions.has_context_dependent_function:
        version = _usable(functions.context_dependent_function_opset_versions, opset)
        protos = [b"" if t is None else type_proto(t).SerializeToString() for t in types]
        try:
            data = functions.get_context_dependent_function_with_opset_version(
                version, node.SerializeToString(), protos
            )
        except Exception as error:  # whatever onnx finds wrong with the node
            raise Unsupported(f"onnx does not define it: {error}") from None
        return FunctionProto.FromString(data) if data else None
    return None


def _usable(versions: Sequence[int], opset: int) -> int:
    """Return the newest version of a body that an opset can use; the oldest if all are newer."""
    return max((v for v in versions if v <= opset), default=min(versions))


@cache
def _static_body(schema: OpSchema, version: int) -> FunctionProto:
    data = cast(_Functions, schema).get_function_with_opset_version(version)
    return FunctionProto.FromString(data)


# Types declared in a model, and types inferred by ONNX.


class GraphTypes(Mapping[str, Tensor]):
    """The types that a graph declares for its values, with sizes for symbolic dimensions.

    Those of its outputs count only with `outputs`: exporters of models with an unknown batch leave
    there the size of an example (onnxmltools the label of a LightGBM classifier as `int64[1]`).
    """

    def __init__(
        self, graph: GraphProto, sizes: Mapping[str, int | Size], *, outputs: bool
    ) -> None:
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
    sizes: Mapping[str, int | Size],
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


def _declared(proto: TypeProto, sizes: Mapping[str, int | Size]) -> Tensor | None:
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
