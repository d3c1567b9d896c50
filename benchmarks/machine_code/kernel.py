"""A kernel to be timed: a few ONNX nodes on static shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod, sqrt
from typing import Any, TypeAlias

import numpy as np
import onnx
from machine_code.timing import Array
from onnx import helper, numpy_helper

__all__ = ["Kernel", "KernelModel", "Node", "Operand", "Weight", "kernel"]

PRODUCTS = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
"""Operations whose work is counted in floating-point operations."""
POSITIVE_OPERANDS = {"Sqrt", "Log", "Pow"}
"""Operations whose inputs are made positive, as the results would be NaN otherwise."""
PARTIAL_READS = {"Gather", "Slice"}
"""Operations that read as many elements as they write, however large their operand is."""


@dataclass(frozen=True)
class Weight:
    """A constant f32 tensor with random elements."""

    shape: tuple[int, ...]


Operand: TypeAlias = (
    "tuple[int, ...] | Weight | list[int] | list[float] | float | str | Array | None"
)
"""A tuple: the shape of a random f32 input; a Weight, list or number: a constant; a string: the
result of an earlier node (`y0` is that of the first one); an array: an input; None: no operand."""


@dataclass(frozen=True)
class Node:
    """An ONNX node with one result."""

    op: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Kernel:
    """Nodes of a known model; the first operand of each is the result of the one before."""

    source: str
    nodes: tuple[Node, ...]

    @property
    def name(self) -> str:
        """The operation with its shapes and attributes, and the operations after it."""
        first, *rest = self.nodes
        comma = " * " if first.op in PRODUCTS else ", "
        words = [first.op, comma.join(filter(None, map(operand_text, first.operands)))]
        words += [
            attribute_text(key, first.attributes[key]) for key in SHOWN if key in first.attributes
        ]
        return " ".join(filter(None, [*words, *(f"+ {node.op}" for node in rest)]))


def operand_text(operand: Operand) -> str:
    """Return an operand as text; the vectors of parameters, such as a bias, are left out."""
    match operand:
        case Weight() if len(operand.shape) == 1:
            return ""
        case Weight() | np.ndarray():
            return operand_text(operand.shape)
        case tuple():
            return "x".join(map(str, operand))
        case list():
            return f"[{','.join(f'{x:g}' for x in operand)}]"
        case float():
            return f"{operand:g}"
        case _:
            return ""


SHOWN = {
    "kernel_shape": "",
    "strides": "stride",
    "pads": "pad",
    "dilations": "dilation",
    "group": "group",
    "axis": "axis",
    "perm": "to",
    "transA": "transA",
    "mode": "",
    "approximate": "",
}
"""The attributes that are in the name of a kernel, with the word that precedes their value."""
DEFAULTS: tuple[object, ...] = (("strides", 1), ("dilations", 1), ("pads", 0), ("group", 1))
"""The default values of attributes, or of each number in them: names leave these out."""


def attribute_text(name: str, value: Any) -> str:
    """Return an attribute as text, which is empty for the default value."""
    numbers: list[Any] = [*value] if isinstance(value, list) else [value]
    if all((name, number) in DEFAULTS for number in numbers):
        return ""
    if name != "kernel_shape" and len({*numbers}) == 1:
        numbers = numbers[:1]
    separator = "x" if name == "kernel_shape" else ","
    return f"{SHOWN[name]} {separator.join(map(str, numbers))}".strip()


def kernel(
    source: str, op: str, *operands: Operand, then: tuple[Node, ...] = (), **attributes: Any
) -> Kernel:
    """Return a kernel of one node, and of the nodes `then` after it."""
    return Kernel(source, (Node(op, operands, attributes), *then))


class KernelModel:
    """The ONNX model of a kernel, with random weights and inputs.

    Constants (`Weight`, lists, numbers) are initializers, so Passline and its peer may both pack
    them ahead of time.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.inputs: dict[str, Array] = {}
        self._constants: dict[str, Array] = {}
        self._rng = np.random.default_rng(0)
        nodes: list[onnx.NodeProto] = []
        for i, node in enumerate(kernel.nodes):
            names = [f"y{i - 1}"] if i else []
            names += [self._operand(node.op, operand) for operand in node.operands]
            nodes.append(helper.make_node(node.op, names, [f"y{i}"], **node.attributes))
        self._first = kernel.nodes[0]
        self._first_operands = [*nodes[0].input]
        tensors = [numpy_helper.from_array(array, name) for name, array in self._constants.items()]
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for name, a in self.inputs.items()
        ]
        result = onnx.ValueInfoProto(name=nodes[-1].output[0])
        graph = helper.make_graph(nodes, "kernel", inputs, [result], tensors)
        opset = helper.make_opsetid("", 21)
        model = helper.make_model(graph, ir_version=10, opset_imports=[opset])
        self.proto = onnx.shape_inference.infer_shapes(model)

    def _operand(self, op: str, operand: Operand) -> str:
        """Make the array of an operand, and return its name in the model, empty if it is absent."""
        name = f"x{len(self.inputs) + len(self._constants)}"
        match operand:
            case None:
                return ""
            case str():
                return operand
            case tuple():
                data = self._rng.standard_normal(operand, np.float32)
                self.inputs[name] = np.abs(data) if op in POSITIVE_OPERANDS else data
            case np.ndarray():
                self.inputs[name] = operand
            case Weight():
                self._constants[name] = self._weight(operand.shape)
            case _:
                array = np.array(operand)
                is_float = array.dtype.kind == "f"
                self._constants[name] = array.astype(np.float32 if is_float else np.int64)
        return name

    def _weight(self, shape: tuple[int, ...]) -> Array:
        if len(shape) < 2:  # a variance has to be positive
            return self._rng.uniform(0.5, 1.5, shape).astype(np.float32)
        return self._rng.standard_normal(shape, np.float32) / np.float32(sqrt(prod(shape[1:])))

    def flops(self, result: Array) -> int | None:
        """Return the floating-point operations of a product or a convolution; None for others.

        A product and its sum are two; those of the nodes after the first one are not counted.
        """
        if self._first.op not in PRODUCTS:
            return None
        arrays = self.inputs | self._constants
        lhs, rhs = (arrays[name] for name in self._first_operands[:2])
        match self._first.op:
            case "Conv":
                return 2 * result.size * prod(rhs.shape[1:])
            case "ConvTranspose":
                return 2 * lhs.size * prod(rhs.shape[1:])
            case _:
                axis = 0 if self._first.attributes.get("transA") else -1
                return 2 * result.size * lhs.shape[axis]

    def traffic(self, result: Array) -> int:
        """Return the bytes that the kernel reads and writes: of inputs, constants and result."""
        if self._first.op in PARTIAL_READS:
            return 2 * result.nbytes
        arrays = [*self.inputs.values(), *self._constants.values()]
        return result.nbytes + sum(array.nbytes for array in arrays)
