"""The import of an ONNX model as a module; its graph becomes `@main`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
)
from onnx.defs import OpSchema
from onnx.helper import make_tensor_value_info
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from ....dialects.relax.graph import TupleOp
from ....dialects.relax.interfaces import InfersType
from ....dialects.relax.types import Tensor, is_ranked, is_tensor, refine, static_shape, tensor_type
from ....dialects.signature import DIMENSIONS, with_dimension_names, with_name
from ....dialects.sizes import Size
from ....passmanager.errors import PasslineError
from ...analysis.symbolic_shapes import SymbolicShapes, name_results
from ...interpreters.shape_bindings import (
    Bindings,
    Dimension,
    ShapeBindingError,
    bind_shapes,
    bound_dimension,
)
from .builder import Builder, function_key, inlined_size, substitute
from .converters import CONVERTERS
from .errors import ModelError, Unsupported, UnsupportedModelError, UnsupportedNode
from .external_data import DataFiles
from .node import Node, outputs_of
from .schemas import (
    GraphTypes,
    Opsets,
    canonical,
    check_form,
    check_initializer,
    check_output,
    default_attributes,
    find_schema,
    function_body,
    has_body,
    inferred_outputs,
    opsets_of,
    unknown_operator,
)
from .types import dimensions_of, element_type, negative_dimensions, tensor_of, type_with
from .values import (
    GraphScope,
    Missing,
    check_name,
    hint_of,
    name_location,
    name_of,
    tensor_constant,
    undefined,
)

MAX_NODES = 1 << 20
"""The most nodes of a model whose functions are inlined; a larger one takes minutes."""


class Poisoned(Exception):
    """Raised for a node with an input that could not be converted; only the first such node is
    reported."""


class Importer(Builder):
    """A builder that converts one model."""

    def __init__(
        self,
        model: ModelProto,
        files: DataFiles,
        bindings: Bindings,
        sequences: Mapping[str, Sequence[Sequence[int]]],
        warn: Callable[[str], None],
    ) -> None:
        super().__init__(files, warn)
        self.model = model
        self.bindings = bindings
        self.sequences = sequences
        """The shapes of the elements of inputs that are sequences, by name."""
        self.functions = {function_key(function): function for function in model.functions}
        self.path: tuple[str, ...] = ()
        """The calls of functions that are being inlined."""
        self.opsets: Opsets = opsets_of(model.opset_import)
        self.bound: set[SSAValue] = set()
        """The values that have a name."""
        self.unsupported: dict[UnsupportedNode, None] = {}
        self.current: NodeProto | None = None
        """The node that is being converted."""

    @property
    def place(self) -> str:
        """The current node, for messages."""
        node = self.current
        return "" if node is None else f" at node '{name_of(node)}' ({node.op_type})"

    # The graph

    def run(self) -> ModuleOp:
        """Convert the model."""
        graph = self.model.graph
        self.check_size()
        initializers = {tensor.name for tensor in graph.initializer}
        given = [info for info in graph.input if info.name not in initializers]
        elements = elements_of_sequences(given, self.sequences)
        self.check_initializers(graph)
        inputs = [part for info in given for part in elements.get(info.name, [info])]
        declared = {info.name: dimensions_of(info.type) for info in inputs}
        bound = bind_shapes(declared, self.bindings)
        types = [
            self.input_type(info.name, info.type, bound.dimensions[info.name]) for info in inputs
        ]
        known = [type for type in types if type is not None]
        all_static = all(static_shape(type) is not None for type in known)
        scope = GraphScope(None, GraphTypes(graph, bound.sizes, outputs=all_static))
        block = self.block = Block(arg_types=known)
        arguments = iter(block.args)
        for info, type in zip(inputs, types, strict=True):
            value = Missing.UNKNOWN if type is None else next(arguments)
            scope.define(info.name, value)
            if isinstance(value, BlockArgument):
                value.name_hint = hint_of(info.name)
                value.location = name_location(info.name)
        for name, parts in elements.items():
            values = [self.value(part.name, scope) for part in parts]
            tensors = [value for value in values if isinstance(value, SSAValue)]
            known_all = len(tensors) == len(values)
            sequence = self.add(TupleOp(*tensors)).results[0] if known_all else Missing.UNKNOWN
            scope.define(name, sequence)
        self.define_initializers(graph, scope)
        outputs = self.convert_graph(graph, scope)
        if self.unsupported:
            raise UnsupportedModelError([*self.unsupported])
        values = [value for value in outputs if value is not None]
        assert len(values) == len(outputs)
        for info, value in zip(graph.output, values, strict=True):
            check_output(info.name, info.type, value.type, bound.sizes, self.warn)
        self.add(ReturnOp(*values))
        self.finish(block)
        return self.module(block, inputs, graph.output, bound.sizes)

    def check_size(self) -> None:
        """Raise ModelError if the model is too large once its functions are inlined. Functions that
        call each other more than once, as 30 in a row, may be of any size."""
        size = inlined_size(self.model.graph.node, self.functions) if self.functions else 0
        if size > MAX_NODES:
            raise ModelError(
                f"the model has {size} nodes once its {len(self.functions)} functions are inlined, "
                f"and the limit is {MAX_NODES}"
            )

    def check_initializers(self, graph: GraphProto) -> None:
        """Raise ModelError for an initializer that has another type than the input of its name."""
        declared = {info.name: info.type for info in graph.input}
        for tensor in graph.initializer:
            if tensor.name in declared:
                with suppress(Unsupported):  # reported where it is used
                    type = tensor_of(element_type(tensor.data_type), tuple(tensor.dims))
                    check_initializer(tensor.name, declared[tensor.name], type)

    def input_type(
        self, name: str, proto: TypeProto, dimensions: Sequence[Dimension] | None
    ) -> Tensor | None:
        """Return the type of an input of the model with these dimensions; report an unsupported
        one."""
        if (sizes := negative_dimensions(proto)) and dimensions is not None and None in dimensions:
            said = " and ".join(map(str, sizes))
            self.warn(f"input '{name}' has the dimension {said}, which is taken as unknown")
        try:
            return type_with(proto, dimensions)
        except Unsupported as error:
            self.report(name, "input", self.opsets.get("", 0), str(error))
            return None

    def module(
        self,
        block: Block,
        inputs: Iterable[ValueInfoProto],
        outputs: Iterable[ValueInfoProto],
        sizes: Mapping[str, int | Size],
    ) -> ModuleOp:
        """Return the module with the function whose body is `block`."""
        end = block.last_op
        assert end is not None
        type = FunctionType.from_lists(block.arg_types, end.operand_types)
        names = [
            ArrayAttr([_attributes(info, type, sizes, facts) for info, type in zip(infos, types)])
            for infos, types, facts in (
                (inputs, block.arg_types, True),
                (outputs, end.operand_types, False),
            )
        ]
        function = FuncOp("main", type, Region(block), arg_attrs=names[0], res_attrs=names[1])
        name = self.model.graph.name
        function.location = name_location(name)
        module = ModuleOp([function])
        if function.arg_attrs is not None and any(
            DIMENSIONS in attributes.data for attributes in function.arg_attrs
        ):
            name_results(function, SymbolicShapes.of_function(function))
        return module

    def define_initializers(self, graph: GraphProto, scope: GraphScope) -> None:
        """Define the initializers of a graph in its scope; used ones become constants."""
        for tensor in graph.initializer:
            scope.define(tensor.name, tensor)
        for sparse in graph.sparse_initializer:
            self.report(sparse.values.name, "sparse initializer", 11, "it is not supported")
            scope.define(sparse.values.name, Missing.UNKNOWN)

    def convert_graph(self, graph: GraphProto, scope: GraphScope) -> list[SSAValue | None]:
        """Convert the nodes of a graph whose inputs are defined; return its outputs, None for
        unknown ones."""
        self.convert_nodes(graph.node, scope)
        return [self.output_value(info.name, scope) for info in graph.output]

    def output_value(self, name: str, scope: GraphScope) -> SSAValue | None:
        """Return the value of an output, or None if it is unknown."""
        if scope.find(name) is None:
            raise ModelError(f"output '{name}' is not defined")
        value = self.value(name, scope)
        return value if isinstance(value, SSAValue) else None

    def convert_subgraph(
        self, graph: GraphProto, scope: GraphScope, inputs: Sequence[SSAValue] = ()
    ) -> list[SSAValue]:
        """Convert a nested graph at the end of the current block; Poisoned if an output is
        unknown."""
        inner = GraphScope(scope, {})
        if len(graph.input) != len(inputs):
            raise Unsupported(f"its graph has {len(graph.input)} inputs, but gets {len(inputs)}")
        for info, value in zip(graph.input, inputs, strict=True):
            inner.define(info.name, value)
            value.name_hint = value.name_hint or hint_of(info.name)
        self.define_initializers(graph, inner)
        outputs = self.convert_graph(graph, inner)
        values = [value for value in outputs if value is not None]
        if len(values) < len(outputs):
            raise Poisoned
        return values

    # Names

    def value(self, name: str, scope: GraphScope) -> SSAValue | Missing:
        """Return the value of a defined name; create the constant of an initializer on first
        use."""
        owner = scope.find(name)
        assert owner is not None
        match value := owner.values[name]:
            case TensorProto():
                value = owner.values[name] = self.initializer(value, owner)
            case UnsupportedNode():
                self.unsupported[value] = None
                value = owner.values[name] = Missing.UNKNOWN
            case _:
                pass
        return value

    def initializer(self, tensor: TensorProto, owner: GraphScope) -> SSAValue | Missing:
        """Return the constant of an initializer; report an unsupported one. Small equal
        initializers, such as shapes, share a constant."""
        name = tensor.name

        def make() -> Operation:
            op = tensor_constant(tensor, self.files)
            op.location = name_location(name)
            op.results[0].name_hint = hint_of(name)
            return op

        data = tensor.raw_data if tensor.data_type == TensorProto.INT64 else b""
        small = 0 < len(data) <= 64
        key = ("int64", data, tuple(tensor.dims)) if small else (name, id(owner))
        try:
            return self.add_constant(key, make)
        except Unsupported as error:
            self.report(name, "initializer", self.opsets.get("", 0), str(error))
            return Missing.UNKNOWN

    def inputs_of(
        self, node: NodeProto, scope: GraphScope, nodes: Sequence[NodeProto], index: int
    ) -> list[SSAValue | None]:
        """Return the inputs of a node, None for omitted ones; Poisoned if one is unknown."""
        values: list[SSAValue | None] = []
        for name in node.input:
            if isinstance(value := scope.values.get(name), OpResult | BlockArgument):
                values.append(value)
                continue
            if not name:
                values.append(None)
                continue
            if scope.find(name) is None:
                raise ModelError(undefined(name, node, nodes[index + 1 :]))
            if (value := self.value(name, scope)) is Missing.UNKNOWN:
                raise Poisoned
            values.append(None if value is Missing.NOT_GIVEN else value)
        return values

    # Nodes

    def convert_nodes(self, nodes: Sequence[NodeProto], scope: GraphScope) -> None:
        """Convert nodes in order; report those that cannot be converted."""
        for index, node in enumerate(nodes):
            self.current = node
            last = self.block.last_op
            inputs = None
            try:
                inputs = self.inputs_of(node, scope, nodes, index)
                values = self.convert(node, inputs, scope)
                self.bind(node, values, scope)
            except Poisoned:
                self.erase_after(last)
                self.check_exists(node, scope)
                self.poison(node, scope, inputs)
            except (Unsupported, VerifyException) as error:
                self.erase_after(last)
                self.report_node(node, str(error))
                self.poison(node, scope, inputs)

    def bind(self, node: NodeProto, values: Sequence[SSAValue | None], scope: GraphScope) -> None:
        """Bind the outputs of a node to values, with their names as hints."""
        for i, name in enumerate(node.output):
            if not name:
                continue
            if (value := values[i] if i < len(values) else None) is None:
                scope.define(name, self.named(node, f"its output {i} is not supported"))
                continue
            value = self.refined(value, name, scope)
            if value.name_hint is None:
                value.name_hint = hint_of(name)
            self.bound.add(value)
            scope.define(name, value)

    def refined(self, value: SSAValue, name: str, scope: GraphScope) -> SSAValue:
        """Return the value cast to the type that the model declares, if that is more precise."""
        if not is_tensor(value.type):
            return value  # a sequence
        type = tensor_type(value)
        if static_shape(type) is not None or (declared := scope.types.get(name)) is None:
            return value
        better = refine(type, declared)
        if better is None or better is type:
            return value
        if isinstance(value.owner, InfersType) and value not in self.bound:
            return Rewriter.replace_value_with_new_type(value, better)
        return self.add(CastOp.create(operands=[value], result_types=[better])).results[0]

    def convert(
        self, proto: NodeProto, inputs: Sequence[SSAValue | None], scope: GraphScope
    ) -> Sequence[SSAValue | None]:
        """Convert a node by its converter; without one, or if it fails, by ONNX's function body."""
        domain = canonical(proto.domain)
        if (function := self.local_function(proto)) is not None:
            return self.inline(proto, function, inputs, function.attribute_proto)
        schema = self.schema(proto)
        opset = self.opsets[domain]
        check_form(proto, schema)
        converter = CONVERTERS.get((domain, proto.op_type))
        location = name_location(name_of(proto))
        node = Node(self, scope, proto, schema, opset, inputs, location)
        if converter is None:
            return self.expand(node, schema)
        last = self.block.last_op
        try:
            return outputs_of(converter(node))
        except (Unsupported, VerifyException):
            if self.body(node, schema) is None:
                raise
            self.erase_after(last)
            return self.expand(node, schema)

    def schema(self, node: NodeProto) -> OpSchema:
        """Return the schema of the operator of a node; Unsupported if it is unknown."""
        domain = canonical(node.domain)
        if domain not in self.opsets:
            raise ModelError(
                f"node '{name_of(node)}' ({node.op_type}): the model does not import the operators "
                f"of '{domain}'"
            )
        check_name(node.op_type)
        if (schema := find_schema(domain, node.op_type, self.opsets[domain])) is None:
            raise Unsupported(unknown_operator(domain, node.op_type, self.opsets[domain]))
        return schema

    # Functions

    def local_function(self, node: NodeProto) -> FunctionProto | None:
        """Return the function of the model that a node calls, or None."""
        if not self.functions:
            return None
        return self.functions.get(function_key(node))

    def body(self, node: Node, schema: OpSchema) -> FunctionProto | None:
        """Return the function body by which ONNX defines a node, or None; None for a node on
        sequences too, whose length a body does not know."""
        if any(v is not None and not is_tensor(v.type) for v in node.inputs):
            return None
        types = [None if v is None else tensor_type(v) for v in node.inputs]
        return function_body(schema, self.opsets.get("", 0), node.proto, types)

    def expand(self, node: Node, schema: OpSchema) -> Sequence[SSAValue | None]:
        """Convert a node by its function body; failures in the body are reported for the node."""
        if (function := self.body(node, schema)) is None:
            raise Unsupported("this operator is not supported")
        outer, self.unsupported = self.unsupported, {}
        try:
            outputs = self.inline(node.proto, function, node.inputs, default_attributes(schema))
        except Poisoned:
            outputs = []
        finally:
            inner, self.unsupported = self.unsupported, outer
        if inner:
            reasons = dict.fromkeys(f"{node.op_type}: {node.reason}" for node in inner)
            raise Unsupported("it is defined by " + "; ".join(reasons))
        return outputs

    def inline(
        self,
        call: NodeProto,
        function: FunctionProto,
        inputs: Sequence[SSAValue | None],
        defaults: Sequence[AttributeProto],
    ) -> list[SSAValue | None]:
        """Convert the body of a function in place of a call; return its outputs."""
        name = f"{function.domain}.{function.name}"
        if name in self.path:
            raise ModelError(f"function '{function.name}' calls itself")
        scope = GraphScope(None, {})
        given = iter(inputs)
        for parameter in function.input:
            scope.values[parameter] = next(given, None) or Missing.NOT_GIVEN
        attributes = {a.name: a for a in (*defaults, *call.attribute)}
        nodes = [substitute(node, attributes) for node in function.node]
        opsets, path = self.opsets, self.path
        self.opsets, self.path = {**opsets, **opsets_of(function.opset_import)}, (*path, name)
        try:
            self.convert_nodes(nodes, scope)
            wanted = zip(function.output, call.output)  # others need not be defined
            outputs = [self.output_value(o, scope) if name else None for o, name in wanted]
        finally:
            self.opsets, self.path = opsets, path
        if any(name and value is None for name, value in zip(call.output, outputs)):
            raise Poisoned
        return outputs

    # What is not supported

    def report_node(self, node: NodeProto, reason: str) -> None:
        """Record an unsupported node."""
        self.unsupported[self.named(node, reason)] = None

    def named(self, node: NodeProto, reason: str) -> UnsupportedNode:
        """Return the report on an unsupported node."""
        domain = canonical(node.domain)
        op_type = f"{domain}.{node.op_type}" if domain else node.op_type
        return UnsupportedNode(name_of(node), op_type, self.opsets.get(domain, 0), reason)

    def report(self, name: str, op_type: str, opset: int, reason: str) -> None:
        """Record an unsupported operator."""
        self.unsupported[UnsupportedNode(name, op_type, opset, reason)] = None

    def poison(
        self, node: NodeProto, scope: GraphScope, inputs: Sequence[SSAValue | None] | None
    ) -> None:
        """Define the outputs of a node that could not be converted: as values of the types that
        ONNX infers, so that their users are still checked, or as unknown."""
        inferred = self.inferred(node, inputs)
        for name in filter(None, node.output):
            type = inferred.get(name) or scope.types.get(name)
            if type is None or static_shape(type) is None:
                scope.values[name] = Missing.UNKNOWN
            else:
                op = UnrealizedConversionCastOp.create(result_types=[type])
                scope.values[name] = self.add(op).results[0]

    def inferred(
        self, node: NodeProto, inputs: Sequence[SSAValue | None] | None
    ) -> Mapping[str, Tensor]:
        """Return the types that ONNX infers for the outputs of a node without converter, if its
        inputs are known. A node that has a converter may be invalid, and onnx's inference may
        crash on it."""
        if inputs is None or (canonical(node.domain), node.op_type) in CONVERTERS:
            return {}
        try:
            schema = self.schema(node)
            check_form(node, schema)
        except Unsupported:
            return {}
        if any(value is not None and not is_tensor(value.type) for value in inputs):
            return {}
        types = [None if value is None else tensor_type(value) for value in inputs]
        return inferred_outputs(node, schema, types, self.opsets)

    def check_exists(self, node: NodeProto, scope: GraphScope) -> None:
        """Report a node with an unknown operator."""
        try:
            if self.local_function(node) is not None:
                return
            schema = self.schema(node)
            check_form(node, schema)
            domain = canonical(node.domain)
            if (domain, node.op_type) not in CONVERTERS and not has_body(schema):
                raise Unsupported("this operator is not supported")
        except Unsupported as error:
            self.report_node(node, str(error))
        for attribute in node.attribute:
            for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                for inner in graph.node:
                    self.check_exists(inner, scope)


def elements_of_sequences(
    inputs: Iterable[ValueInfoProto], shapes: Mapping[str, Sequence[Sequence[int]]]
) -> dict[str, list[ValueInfoProto]]:
    """Return the elements of the inputs that are sequences of these shapes, by name: each is an
    input of its own, `x.0`, `x.1`, ..."""
    elements: dict[str, list[ValueInfoProto]] = {}
    infos = {info.name: info.type.sequence_type.elem_type for info in inputs}
    for name, given in shapes.items():
        if name not in infos or infos[name].WhichOneof("value") != "tensor_type":
            raise ShapeBindingError(f"there is no input '{name}' that is a sequence of tensors")
        type = infos[name].tensor_type.elem_type
        elements[name] = [
            make_tensor_value_info(f"{name}.{i}", type, shape) for i, shape in enumerate(given)
        ]
    return elements


def _attributes(
    info: ValueInfoProto, type: Attribute, sizes: Mapping[str, int | Size], facts: bool
) -> DictionaryAttr:
    """Return the attributes of a parameter or result: its name, and those of its unknown
    dimensions; with `facts` also of known ones from which a size of a name may follow."""
    attributes = with_name(DictionaryAttr({}), info.name)
    dimensions = dimensions_of(info.type)
    if dimensions is None or not is_ranked(type) or len(dimensions) != type.get_num_dims():
        return attributes
    return with_dimension_names(
        attributes,
        [
            d if isinstance(d, str) and (facts or n == DYNAMIC_INDEX) else None
            for d, n in zip(
                (bound_dimension(d, sizes) for d in dimensions), type.get_shape(), strict=True
            )
        ],
    )


def import_graph(
    model: ModelProto,
    files: DataFiles,
    bindings: Bindings,
    sequences: Mapping[str, Sequence[Sequence[int]]],
    warn: Callable[[str], None],
) -> ModuleOp:
    """Return the module of a model; `files` hold its external data, `warn` gets messages."""
    importer = Importer(model, files, bindings, sequences, warn)
    try:
        return importer.run()
    except (PasslineError, DiagnosticException, RecursionError, MemoryError):
        raise
    except Exception as error:  # what ONNX's checks let through, no converter expects
        said = f"{type(error).__name__}: {error}"
        raise ModelError(f"the model is invalid{importer.place}: {said}") from error
