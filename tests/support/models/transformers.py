# pyright: reportUnknownMemberType=false
"""Transformers as ONNX models, written out in the ways in which exporters write them.

The weights are seeded. A `Style` chooses the forms of normalization, GELU, softmax, and of the
scale, the mask and the keys of attention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

__all__ = [
    "Graph",
    "Sizes",
    "Style",
    "decoder",
    "dynamic_encoder",
    "encoder",
    "inputs_of",
    "vision_encoder",
]

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Sizes:
    """The extents of a transformer."""

    layers: int = 1
    hidden: int = 16
    heads: int = 2
    length: int = 8
    batch: int = 1
    vocabulary: int = 50
    kv_heads: int = 0
    """The heads of keys and values; as many as of queries if 0."""
    past: int = 0
    """The length of the cached keys and values of a decoder."""

    @property
    def dim(self) -> int:
        return self.hidden // self.heads


@dataclass(frozen=True)
class Style:
    """The forms in which an exporter writes what ONNX has no operator for."""

    norm: Literal["pow", "mul", "rsqrt", "folded", "op", "rms", "rms_div"] = "pow"
    gelu: Literal["div", "mul", "half_first", "tanh", "tanh_mul", "sigmoid", "silu"] = "div"
    scale: Literal["div", "mul", "query", "both"] = "div"
    mask: Literal["add", "where", "where_finite", "none"] = "add"
    softmax: Literal["op", "written"] = "op"
    keys: Literal["twice", "once"] = "twice"
    """Transposed to heads and then to columns, or both at once."""
    qkv: Literal["three", "split"] = "three"
    rotary: Literal["none", "halves", "pairs"] = "none"
    """Rotated are elements half of the dimension apart, or neighbours."""


class Graph:
    """A builder of ONNX graphs: each method adds nodes and returns the name of a value."""

    def __init__(self, seed: int = 0, prefix: str = "") -> None:
        self.prefix = prefix
        """The start of the names of values: those of a subgraph differ from all others."""
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.random = np.random.default_rng(seed)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one result."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """Add a node with `count` results."""
        results = [f"{self.prefix}v{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, inputs, results, **attributes))
        return results

    def constant(self, array: Array) -> str:
        name = f"{self.prefix}c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape: int, mean: float = 0.0, scale: float | None = None) -> str:
        factor: float = shape[0] ** -0.5 if scale is None else scale
        weights = mean + factor * self.random.standard_normal(shape)
        return self.constant(weights.astype(np.float32))

    def input(self, name: str, shape: Sequence[int | str], type: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, type, shape))
        return name

    def output(
        self, name: str, value: str, shape: Sequence[int | str], type: int = TensorProto.FLOAT
    ) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, type, shape))

    def graph(self) -> onnx.GraphProto:
        return helper.make_graph(self.nodes, "graph", self.inputs, self.outputs, self.initializers)

    def model(self, opset: int = 17) -> onnx.ModelProto:
        imports = [helper.make_opsetid("", opset)]
        model = helper.make_model(self.graph(), opset_imports=imports, ir_version=9)
        onnx.checker.check_model(model)
        return model

    # Parts of transformers

    def dense(self, x: str, rows: int, columns: int, bias: bool = True) -> str:
        product = self.op("MatMul", x, self.weight(rows, columns))
        return self.op("Add", product, self.weight(columns, scale=0.1)) if bias else product

    def mean(self, x: str) -> str:
        return self.op("ReduceMean", x, axes=[-1], keepdims=1)

    def norm(self, x: str, size: int, form: str) -> str:
        gamma = self.weight(size, mean=1.0, scale=0.1)
        epsilon = self.number(1e-5)
        if form.startswith("rms"):
            squares = self.op("Pow", x, self.number(2.0))
            root = self.op("Sqrt", self.op("Add", self.mean(squares), epsilon))
            if form == "rms_div":
                return self.op("Mul", gamma, self.op("Div", x, root))
            inverse = self.op("Reciprocal", root)
            return self.op("Mul", self.op("Mul", x, inverse), gamma)
        beta = self.weight(size, scale=0.1)
        if form == "op":
            return self.op("LayerNormalization", x, gamma, beta, axis=-1, epsilon=1e-5)
        mean = self.mean(x)
        centered = self.op("Sub", x, mean)
        if form == "pow":
            squares = self.op("Pow", centered, self.number(2.0))
        else:
            squares = self.op("Mul", centered, centered)
        root = self.op("Sqrt", self.op("Add", self.mean(squares), epsilon))
        if form in ("pow", "mul"):
            normal = self.op("Div", centered, root)
            return self.op("Add", self.op("Mul", normal, gamma), beta)
        inverse = self.op("Reciprocal", root)
        if form == "rsqrt":
            normal = self.op("Mul", centered, inverse)
            return self.op("Add", self.op("Mul", normal, gamma), beta)
        factor = self.op("Mul", inverse, gamma)  # tf2onnx: x * factor + (beta - mean * factor)
        shift = self.op("Sub", beta, self.op("Mul", mean, factor))
        return self.op("Add", self.op("Mul", x, factor), shift)

    def gelu(self, x: str, form: str) -> str:
        half, one = self.number(0.5), self.number(1.0)
        if form == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if form == "sigmoid":
            return self.op("Mul", x, self.op("Sigmoid", self.op("Mul", x, self.number(1.702))))
        if form.startswith("tanh"):
            if form == "tanh":
                cube = self.op("Pow", x, self.number(3.0))
            else:
                cube = self.op("Mul", self.op("Mul", x, x), x)
            inner = self.op("Add", x, self.op("Mul", self.number(0.044715), cube))
            inner = self.op("Mul", self.number(sqrt(2 / pi)), inner)
            return self.op(
                "Mul",
                self.op("Mul", x, half),
                self.op("Add", one, self.op("Tanh", inner)),
            )
        if form == "div":
            scaled = self.op("Div", x, self.number(sqrt(2)))
        else:
            scaled = self.op("Mul", x, self.number(sqrt(0.5)))
        sum = self.op("Add", self.op("Erf", scaled), one)
        if form == "half_first":
            return self.op("Mul", self.op("Mul", x, half), sum)
        return self.op("Mul", self.op("Mul", x, sum), half)

    def softmax(self, x: str, form: str) -> str:
        if form == "op":
            return self.op("Softmax", x, axis=-1)
        powers = self.op("Exp", self.op("Sub", x, self.op("ReduceMax", x, axes=[-1], keepdims=1)))
        total = self.op("ReduceSum", powers, self.ints(-1), keepdims=1)
        return self.op("Div", powers, total)

    def heads(self, x: str, sizes: Sizes, heads: int) -> str:
        """Split the last dimension into heads: batch, length, heads, dim."""
        return self.op("Reshape", x, self.ints(sizes.batch, -1, heads, sizes.dim))

    def rotate(self, x: str, sizes: Sizes, length: int, form: str = "halves") -> str:
        """Return the rotary embedding of x, batch, heads, length, dim."""
        half = sizes.dim // 2
        angles = np.outer(np.arange(length) + sizes.past, 10000.0 ** -(np.arange(half) / half))
        whole = np.tile(angles, 2) if form == "halves" else np.repeat(angles, 2, axis=1)
        whole = whole[None, None].astype(np.float32)
        axes, end = self.ints(3), self.ints(2 * half)
        if form == "halves":
            low = self.op("Slice", x, self.ints(0), self.ints(half), axes)
            high = self.op("Slice", x, self.ints(half), end, axes)
            turned = self.op("Concat", self.op("Neg", high), low, axis=-1)
        else:
            even, odd = (self.op("Slice", x, self.ints(i), end, axes, self.ints(2)) for i in (0, 1))
            parts = [
                self.op("Unsqueeze", part, self.ints(4)) for part in (self.op("Neg", odd), even)
            ]
            turned = self.op("Concat", *parts, axis=-1)
            turned = self.op("Reshape", turned, self.ints(0, 0, 0, sizes.dim))
        straight = self.op("Mul", x, self.constant(np.cos(whole)))
        return self.op("Add", straight, self.op("Mul", turned, self.constant(np.sin(whole))))

    def scores(self, query: str, keys: str, sizes: Sizes, style: Style) -> str:
        """Return the scaled products of queries and keys (columns)."""
        root = sqrt(sizes.dim)
        if style.scale == "query":
            query = self.op("Div", query, self.number(root))
        if style.scale == "both":
            query = self.op("Mul", query, self.number(1 / sqrt(root)))
            keys = self.op("Mul", keys, self.number(1 / sqrt(root)))
        products = self.op("MatMul", query, keys)
        if style.scale == "div":
            return self.op("Div", products, self.number(root))
        return self.op("Mul", products, self.number(1 / root)) if style.scale == "mul" else products

    def masked(self, scores: str, mask: str, style: Style) -> str:
        if style.mask == "none":
            return scores
        if style.mask == "add":
            return self.op("Add", scores, mask)
        fill = self.number(-1e9 if style.mask == "where_finite" else -np.inf)
        return self.op("Where", mask, scores, fill)

    def attention(
        self, x: str, mask: str, sizes: Sizes, style: Style, past: Sequence[str] = ()
    ) -> tuple[str, Sequence[str]]:
        """Return self-attention with its output projection, and the keys and values of it."""
        h, kv = sizes.hidden, sizes.kv_heads or sizes.heads
        if style.qkv == "split":
            width = (sizes.heads + 2 * kv) * sizes.dim
            split = self.ints(h, kv * sizes.dim, kv * sizes.dim)
            query, key, value = self.ops("Split", 3, self.dense(x, h, width), split, axis=-1)
        else:
            query = self.dense(x, h, h)
            key, value = (self.dense(x, h, kv * sizes.dim) for _ in range(2))
        query, key, value = (
            self.heads(part, sizes, n) for part, n in ((query, sizes.heads), (key, kv), (value, kv))
        )
        query, value = (self.op("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
        if style.keys == "once" and not past and style.rotary == "none" and kv == sizes.heads:
            columns = self.op("Transpose", key, perm=[0, 2, 3, 1])
        else:
            key = self.op("Transpose", key, perm=[0, 2, 1, 3])
            if style.rotary != "none":
                query = self.rotate(query, sizes, sizes.length, style.rotary)
                key = self.rotate(key, sizes, sizes.length, style.rotary)
            if past:
                key = self.op("Concat", past[0], key, axis=2)
                value = self.op("Concat", past[1], value, axis=2)
            present = key, value
            if kv != sizes.heads:
                key, value = (self.repeated(part, sizes, kv) for part in (key, value))
            columns = self.op("Transpose", key, perm=[0, 1, 3, 2])
            past = present
        scores = self.masked(self.scores(query, columns, sizes, style), mask, style)
        result = self.op("MatMul", self.softmax(scores, style.softmax), value)
        result = self.op("Transpose", result, perm=[0, 2, 1, 3])
        result = self.op("Reshape", result, self.ints(sizes.batch, -1, h))
        return self.dense(result, h, h), past

    def repeated(self, x: str, sizes: Sizes, kv: int) -> str:
        """Repeat each head of keys or values for the heads of queries that share it."""
        group, length = sizes.heads // kv, sizes.past + sizes.length
        x = self.op("Unsqueeze", x, self.ints(2))
        x = self.op("Expand", x, self.ints(sizes.batch, kv, group, length, sizes.dim))
        return self.op("Reshape", x, self.ints(sizes.batch, sizes.heads, length, sizes.dim))


def embedding(g: Graph, sizes: Sizes) -> str:
    """Return the sum of the embeddings of tokens and of positions."""
    tokens = g.input("tokens", (sizes.batch, sizes.length), TensorProto.INT64)
    words = g.op("Gather", g.weight(sizes.vocabulary, sizes.hidden, scale=1.0), tokens)
    return g.op("Add", words, g.weight(1, sizes.length, sizes.hidden, scale=1.0))


def encoder(sizes: Sizes = Sizes(), style: Style = Style()) -> onnx.ModelProto:
    """Return a BERT: normalizations after the residuals, and a mask of the tokens."""
    g = Graph()
    h, f = sizes.hidden, 4 * sizes.hidden
    x = g.norm(embedding(g, sizes), h, style.norm)
    mask = ""
    if style.mask != "none":
        given = g.input("mask", (sizes.batch, sizes.length), TensorProto.INT64)
        mask = g.op("Unsqueeze", given, g.ints(1, 2))
        if style.mask == "add":
            mask = g.op("Sub", g.number(1.0), g.op("Cast", mask, to=TensorProto.FLOAT))
            mask = g.op("Mul", mask, g.number(-10000.0))
        else:
            mask = g.op("Cast", mask, to=TensorProto.BOOL)
            shape = g.ints(sizes.batch, 1, sizes.length, sizes.length)
            mask = g.op("Expand", mask, shape)
    for _ in range(sizes.layers):
        attended, _ = g.attention(x, mask, sizes, style)
        x = g.norm(g.op("Add", attended, x), h, style.norm)
        inner = g.gelu(g.dense(x, h, f), style.gelu)
        x = g.norm(g.op("Add", g.dense(inner, f, h), x), h, style.norm)
    g.output("hidden", x, (sizes.batch, sizes.length, h))
    return g.model()


def dynamic_encoder(sizes: Sizes = Sizes(), style: Style = Style()) -> onnx.ModelProto:
    """Return a BERT for any batch and for lengths up to `sizes.length`, with an additive mask."""
    g = Graph()
    h, f = sizes.hidden, 4 * sizes.hidden
    shape = ("batch", "length")
    tokens = g.input("tokens", shape, TensorProto.INT64)
    words = g.op("Gather", g.weight(sizes.vocabulary, h, scale=1.0), tokens)
    length = g.op("Gather", g.op("Shape", tokens), g.ints(1))
    positions = g.weight(1, sizes.length, h, scale=1.0)
    positions = g.op("Slice", positions, g.ints(0), length, g.ints(1))
    x = g.norm(g.op("Add", words, positions), h, style.norm)
    mask = g.op("Unsqueeze", g.input("mask", shape, TensorProto.INT64), g.ints(1, 2))
    mask = g.op("Sub", g.number(1.0), g.op("Cast", mask, to=TensorProto.FLOAT))
    mask = g.op("Mul", mask, g.number(-10000.0))
    sizes = replace(sizes, batch=0)  # a reshape keeps the batch
    for _ in range(sizes.layers):
        attended, _ = g.attention(x, mask, sizes, style)
        x = g.norm(g.op("Add", attended, x), h, style.norm)
        inner = g.gelu(g.dense(x, h, f), style.gelu)
        x = g.norm(g.op("Add", g.dense(inner, f, h), x), h, style.norm)
    g.output("hidden", x, (*shape, h))
    return g.model()


def vision_encoder(
    sizes: Sizes = Sizes(length=9), style: Style = Style(mask="none", qkv="split")
) -> onnx.ModelProto:
    """Return blocks of a ViT on embedded patches: normalizations before attention, no mask."""
    g = Graph()
    h, f = sizes.hidden, 4 * sizes.hidden
    x = g.input("patches", (sizes.batch, sizes.length, h))
    for _ in range(sizes.layers):
        attended, _ = g.attention(g.norm(x, h, style.norm), "", sizes, style)
        x = g.op("Add", x, attended)
        inner = g.gelu(g.dense(g.norm(x, h, style.norm), h, f), style.gelu)
        x = g.op("Add", x, g.dense(inner, f, h))
    g.output("hidden", g.norm(x, h, style.norm), (sizes.batch, sizes.length, h))
    return g.model()


def decoder(
    sizes: Sizes = Sizes(past=4),
    style: Style = Style(norm="rms", gelu="silu", rotary="halves", mask="where"),
) -> onnx.ModelProto:
    """Return a decoder with a causal mask, and with cached keys and values if `sizes.past`."""
    g = Graph()
    h, f, kv = sizes.hidden, 4 * sizes.hidden, sizes.kv_heads or sizes.heads
    x = embedding(g, sizes)
    whole = sizes.past + sizes.length
    seen = np.tril(np.ones((sizes.length, whole), bool), sizes.past)
    if style.mask == "add":
        mask = g.constant(np.where(seen, 0, np.finfo(np.float32).min).astype(np.float32))
    else:
        mask = g.constant(seen[None, None])
    for layer in range(sizes.layers):
        cache = (sizes.batch, kv, sizes.past, sizes.dim)
        names = (f"past_{layer}_key", f"past_{layer}_value") if sizes.past else ()
        past = [g.input(name, cache) for name in names]
        attended, present = g.attention(g.norm(x, h, style.norm), mask, sizes, style, past)
        x = g.op("Add", x, attended)
        inner = g.gelu(g.dense(g.norm(x, h, style.norm), h, f, bias=False), style.gelu)
        x = g.op("Add", x, g.dense(inner, f, h, bias=False))
        for name, value in zip(("key", "value"), present):
            g.output(f"present_{layer}_{name}", value, (sizes.batch, kv, whole, sizes.dim))
    g.output("hidden", g.norm(x, h, style.norm), (sizes.batch, sizes.length, h))
    return g.model()


def inputs_of(model: onnx.ModelProto, seed: int = 0) -> Mapping[str, Array]:
    """Return random inputs: tokens, a mask that ends with zeros, normal floats."""
    random = np.random.default_rng(seed)
    inputs: dict[str, Array] = {}
    for value in model.graph.input:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if value.name == "mask":
            mask = np.ones(shape, np.int64)
            mask[:, -max(1, shape[1] // 4) :] = 0
            inputs[value.name] = mask
        elif value.type.tensor_type.elem_type == TensorProto.INT64:
            inputs[value.name] = random.integers(0, 50, shape)
        else:
            inputs[value.name] = random.standard_normal(shape).astype(np.float32)
    return inputs
