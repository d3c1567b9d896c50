# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""onnxruntime as a back end: operations become nodes of an ONNX model, which it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.contraction.convolution import Conv2dOp
from ....dialects.relax.contraction.linear_algebra import DenseOp
from ....dialects.relax.elementwise.activation import ReluOp
from ....dialects.relax.reduction.nn import SoftmaxOp
from ....dialects.relax.types import Element, is_ranked
from ....dialects.relax.windows import MaxPool2dOp
from ....passmanager.context import PassContext
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import place_of
from ....passmanager.limits import too_many_elements
from .codegen import Codegen, External

if TYPE_CHECKING:
    import onnx

    from ..arrays import Array


OPSET = 18

Node: TypeAlias = "Callable[[Operation], tuple[str, dict[str, object]] | None]"
"""From an operation to the type and the attributes of an ONNX node; None if there is none."""


def _plain(node: str) -> Node:
    """Return the rule of an operation that means an ONNX operator without attributes."""
    return lambda _: (node, {})


def _conv2d(op: Operation) -> tuple[str, dict[str, object]] | None:
    assert isinstance(op, Conv2dOp)
    layouts = [layout.text for layout in op.layouts()]
    if layouts != ["NCHW", "OIHW", "NCHW"] or op.out_dtype is not None:
        return None
    return "Conv", {
        "strides": [*op.strides],
        "pads": _pads(op.padding),
        "dilations": [*op.dilation],
        "group": op.groups,
    }


def _max_pool2d(op: Operation) -> tuple[str, dict[str, object]] | None:
    assert isinstance(op, MaxPool2dOp)
    if [layout.text for layout in op.layouts()] != ["NCHW", "NCHW"] or op.ceil_mode:
        return None
    return "MaxPool", {
        "kernel_shape": [*op.pool_size],
        "strides": [*op.strides],
        "pads": _pads(op.padding),
        "dilations": [*op.dilation],
    }


def _pads(padding: Sequence[int]) -> list[int]:
    """Return the padding before all dimensions, then that behind them."""
    return [*padding] if len(padding) == 4 else [*padding, *padding]


def _dense(op: Operation) -> tuple[str, dict[str, object]] | None:
    assert isinstance(op, DenseOp)
    if op.out_dtype is not None or not is_ranked(op.data.type) or op.data.type.get_num_dims() != 2:
        return None
    return "Gemm", {"transB": 1}


def _softmax(op: Operation) -> tuple[str, dict[str, object]] | None:
    assert isinstance(op, SoftmaxOp)
    return "Softmax", {"axis": op.axis}


NODES: Mapping[str, Node] = {
    "relax.abs": _plain("Abs"),
    "relax.add": _plain("Add"),
    "relax.divide": _plain("Div"),
    "relax.exp": _plain("Exp"),
    "relax.matmul": _plain("MatMul"),
    "relax.multiply": _plain("Mul"),
    "relax.negative": _plain("Neg"),
    "relax.nn.conv2d": _conv2d,
    "relax.nn.dense": _dense,
    "relax.nn.max_pool2d": _max_pool2d,
    ReluOp.name: _plain("Relu"),
    "relax.nn.softmax": _softmax,
    "relax.sigmoid": _plain("Sigmoid"),
    "relax.sqrt": _plain("Sqrt"),
    "relax.subtract": _plain("Sub"),
    "relax.tanh": _plain("Tanh"),
}
"""The operations that it computes, on tensors of f32."""


class OnnxRuntime(Codegen):
    """The back end `onnxruntime`: a function is an ONNX model, which a session computes."""

    PATTERNS: ClassVar = tuple(f"onnxruntime.{name.rpartition('.')[2]}={name}" for name in NODES)

    def accepts(self, ops: Sequence[Operation]) -> bool:
        return all(node_of(op) is not None for op in ops)

    def compile(self, func: FuncOp, functions: Mapping[str, FuncOp]) -> bytes:
        model = ModelBuilder(functions).model(func)
        from google.protobuf.message import EncodeError  # installed with onnx

        try:
            return model.SerializeToString()
        except (EncodeError, ValueError):
            raise VerifyException("its model exceeds 2 GB, the limit of ONNX") from None

    def load(self, external: bytes) -> External:
        import onnxruntime

        check_model(external)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            external, options, providers=["CPUExecutionProvider"]
        )
        names = [value.name for value in session.get_inputs()]

        def run(arguments: Sequence[Array]) -> Sequence[Array]:
            return cast("list[Array]", session.run(None, dict(zip(names, arguments, strict=True))))

        return run


def check_model(external: bytes) -> None:
    """Raise PasslineError unless the model is one that `compile` may have made: the text of a
    module is untrusted, and a model could name files, and operators of other libraries."""
    import onnx
    from google.protobuf.message import DecodeError

    model = onnx.ModelProto()
    try:
        model.ParseFromString(external)
    except DecodeError:
        raise PasslineError("what 'onnxruntime' is to run is not an ONNX model") from None
    graph = model.graph
    for node in graph.node:
        kinds = {attribute.type for attribute in node.attribute}
        if node.domain or node.op_type not in OPERATORS or not kinds <= PLAIN_ATTRIBUTES:
            raise PasslineError(
                f"the model for 'onnxruntime' has a node '{node.op_type}', which it did not compile"
            )
    external_data = any(tensor.data_location for tensor in graph.initializer)
    if external_data or graph.sparse_initializer or model.functions:
        raise PasslineError(
            "the model for 'onnxruntime' has parts that it did not compile: data outside of the "
            "model, or functions"
        )


_NAMES = "Abs Add Conv Div Exp Gemm Identity MatMul MaxPool Mul Neg Relu Sigmoid Softmax Sqrt Sub"
OPERATORS = frozenset([*_NAMES.split(), "Tanh"])
"""The operators of the nodes of `NODES`, and of results."""
PLAIN_ATTRIBUTES = frozenset({2, 7})
"""The types of their attributes: an integer and a list of integers, in `AttributeProto`."""


def node_of(op: Operation) -> tuple[str, dict[str, object]] | None:
    """Return the ONNX node for an operation on tensors of f32; None if there is none."""
    if op.name not in NODES or not all(map(_is_f32, (*op.operand_types, *op.result_types))):
        return None
    return NODES[op.name](op)


def _is_f32(type: Attribute) -> bool:
    return is_ranked(type) and isinstance(type.element_type, Float32Type)


class ModelBuilder:
    """Builds the ONNX model of a function; the functions that it calls are inlined."""

    def __init__(self, functions: Mapping[str, FuncOp]) -> None:
        self.functions = functions
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.count = 0

    def model(self, func: FuncOp) -> onnx.ModelProto:
        """Return the model of `func`."""
        from onnx import helper

        block = func.body.block
        names: dict[SSAValue, str] = {arg: f"arg{arg.index}" for arg in block.args}
        inputs = [_value_info(names[arg], arg.type) for arg in block.args]
        results = self.block(block, names)
        outputs: list[onnx.ValueInfoProto] = []
        for i, (name, type) in enumerate(
            zip(results, func.function_type.outputs.data, strict=True)
        ):
            # An output of its own name: the same value may be returned twice, or be a parameter.
            self.nodes.append(helper.make_node("Identity", [name], [f"result{i}"]))
            outputs.append(_value_info(f"result{i}", type))
        graph = helper.make_graph(
            self.nodes, func.sym_name.data, inputs, outputs, self.initializers
        )
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def block(self, block: Block, names: dict[SSAValue, str]) -> list[str]:
        """Add the operations of a block; return the names of what its function returns."""
        for op in block.ops:
            match op:
                case ReturnOp():
                    return [names[value] for value in op.operands]
                case CallOp():
                    callee = self.callee(op)
                    inner = callee.body.block
                    given = (names[value] for value in op.operands)
                    results = self.block(inner, dict(zip(inner.args, given, strict=True)))
                    names |= dict(zip(op.results, results, strict=True))
                case ConstantOp() | FullOp():
                    names[op.results[0]] = self.constant(op)
                case _:
                    names[op.results[0]] = self.node(op, [names[v] for v in op.operands])
        raise VerifyException("a function that ends without func.return cannot be compiled")

    def callee(self, call: CallOp) -> FuncOp:
        symbol: SymbolRefAttr = call.callee
        callee = self.functions.get(symbol.string_value())
        if callee is None or callee.is_declaration:
            raise VerifyException(
                f"'{call.name}'{place_of(call)} calls {symbol}, which has no body to compile"
            )
        return callee

    def node(self, op: Operation, operands: Sequence[str]) -> str:
        """Add the node of an operation; return the name of its result."""
        from onnx import helper

        if (node := node_of(op)) is None:
            raise VerifyException(
                f"onnxruntime does not compute '{op.name}'{place_of(op)} with these types and "
                "properties"
            )
        name = self.new_name()
        added = helper.make_node(node[0], operands, [name])
        added.attribute.extend(helper.make_attribute(key, value) for key, value in node[1].items())
        self.nodes.append(added)
        return name

    def constant(self, op: ConstantOp | FullOp) -> str:
        """Add a constant; return its name."""
        import numpy as np
        from onnx import numpy_helper

        from ..arrays import array_of, dtype_of

        type = op.results[0].type
        if isinstance(op, ConstantOp):
            array = array_of(op.value)
        else:
            assert is_ranked(type)
            limit = PassContext.current().max_elements
            if (reason := too_many_elements(type.get_shape(), limit)) is not None:
                raise VerifyException(f"'{op.name}'{place_of(op)}: {reason}")
            array = np.full(type.get_shape(), op.value.value.data, dtype_of(_element(type)))
        name = self.new_name()
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def new_name(self) -> str:
        self.count += 1
        return f"value{self.count}"


def _element(type: Attribute) -> Element:
    from ..arrays import element_of

    assert is_ranked(type)
    return element_of(type)


def _value_info(name: str, type: Attribute) -> onnx.ValueInfoProto:
    """Return the declaration of an input or output; unknown sizes stay unknown."""
    from onnx import helper

    from ..arrays import dtype_of

    if not is_ranked(type):
        raise VerifyException(f"onnxruntime does not compute with {type}")
    sizes = [None if size == DYNAMIC_INDEX else size for size in type.get_shape()]
    element = helper.np_dtype_to_tensor_dtype(dtype_of(_element(type)))
    return helper.make_tensor_value_info(name, element, sizes)
